"""`scale(v)`: how large quantities have been so far."""

from types import SimpleNamespace

import numpy as np
import pytest

import netsim
from conftest import sampled
from netsim.core.scales import SO_FAR
from netsim.simulate.events import magnitudes
from netsim.text.errors import InputError

BALL = """
use translational
component floor (p : translational) "a floor that sends back what falls on it, and tells how fast all has been"
  branch p -> ground : x, v, f
  discrete hits : 1 = 0
  when x < 0 and v < 0 : reinit v = -0.5*pre(v); hits = pre(hits) + 1
  f = 0
  out  most : m/s = scale(v)
  out  far : m = scale(x)
end
m mass (a) m = 1 kg
w force (a) F = {g} N*(-1)
b floor (a)
start a.x = {h} m
"""


def read(text, save, **options):
    return sampled(netsim.load(text), save, **options)


@pytest.mark.parametrize("k", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("method", ["radau", "bdf", "rk45"])
def test_it_is_the_largest_value_so_far_and_grows_at_events(k, method):
    """A ball falls from h: it hits the floor with sqrt(2 g h), which nothing exceeds later; a force that pushed all the
    time would bring it to g T."""
    text = BALL.format(g=9.81 * k, h=2 * k) + "run transient(stop = 1.5 s)\n"
    samples = read(text, ("b.most", "b.hits", "b.far"), method=method, rtol=1e-8)
    hits, most = samples.series("b.hits"), samples.series("b.most") / k
    fastest = np.sqrt(2 * 9.81 * 2)
    assert (most[hits > 0] >= fastest * (1 - 1e-6)).all() and (most <= 9.81 * 1.5 * (1 + 1e-6)).all()
    assert len(np.unique(most)) <= 1 + hits[-1] and (np.diff(most) >= 0).all()
    far = samples.series("b.far") / k
    assert (far >= 2.0 * (1 - 1e-6)).all() and (far <= 9.81 * 1.5**2 * (1 + 1e-6)).all()


def test_steps_of_the_formula_alone_know_it_too():
    text = BALL.format(g=9.81, h=2) + "run transient(stop = 1.5 s, method = euler, step = 1 ms)\n"
    samples = read(text, ("b.most", "b.hits"))
    most = samples.series("b.most")[samples.series("b.hits") > 0]
    assert (most > 6.2).all() and (most < 15).all()


def written(known, rounded, monkeypatch, before=0.0, least=0.0, now=(0.0, 0.0), steps=(1.0,)):
    """scale(v) of one kind, which two velocities are of, behind steps of these sizes; rounding leaves `rounded`/h of a
    second kind that is connected with it."""
    monkeypatch.setattr(magnitudes, "rounding_of", lambda machine, trial, h, t: np.array([0.0, rounded / h]))
    sizes = np.zeros((4, 2))
    sizes[SO_FAR] = known, 50.0
    trial = SimpleNamespace(g=np.array([before, 0.0]), sizes=sizes, kind=np.zeros(2, int), nominal=np.array([1.0, 100.0]))
    layout = SimpleNamespace(nk=0, discretes=0, befores=1, state=lambda _: np.array(now))
    machine = SimpleNamespace(system=SimpleNamespace(layout=layout))
    none, first = np.zeros(0, np.int64), np.zeros(1, np.int64)
    own = (none, none) if least else (first, first)
    found = magnitudes.Magnitudes(first, np.array([least]), own, (none, none) if least else (first, first + 1))
    for h in steps:
        magnitudes.write_magnitudes(found, machine, trial, 0.0, h)
        assert trial.g[0] == trial.g[1]
    return trial.g[0]


def test_what_rounding_leaves_is_no_motion(monkeypatch):
    """A millionth of scale(v) is at least what rounding leaves in the shortest step of what is connected with it."""
    assert written(2.0, 0.0, monkeypatch) == 2.0
    assert written(2.0, 1e-3, monkeypatch) == pytest.approx(1e3, rel=1e-15)
    assert written(2.0, 1e-3, monkeypatch, steps=[1.0, 0.25, 1.0]) == pytest.approx(4e3, rel=1e-15)


def test_where_all_rests_the_nominal_size_counts(monkeypatch):
    assert written(0.0, 0.0, monkeypatch) == pytest.approx(1e-12 * 100, rel=1e-15)


def test_it_never_falls(monkeypatch):
    assert written(2.0, 0.0, monkeypatch, before=3.0) == 3.0


def test_what_stands_there_counts(monkeypatch):
    assert written(2.0, 0.0, monkeypatch, now=[-5.0, 1.0]) == 5.0


def test_without_unknowns_of_the_dimension_it_is_one(monkeypatch):
    assert written(2.0, 0.0, monkeypatch, least=1.0) == 1.0


def test_before_a_run_there_is_a_size():
    """The direction of a friction that rests is 0/0 where rest is 0."""
    text = """
use planar
b planar_body (a) m = 2 kg, I = 1 kg.m2
j planar_glide_friction (ground, a) F = 10 N
world gravity = [0, 0, 0] m/s2
run transient(stop = 1 s)
"""
    samples = read(text, ("a.r.x", "j.mode", "j.rate"))
    assert np.isfinite(samples.series("j.rate")).all()
    assert samples.series("a.r.x") == pytest.approx(0.0, abs=0.0)


@pytest.mark.parametrize("call", ["scale(3)", "scale()", "scale(2*v)", "scale(d)", "scale(v, v)", "scale(n)"])
def test_what_is_no_quantity_of_the_network_is_refused(call):
    text = f"""
use translational
component damped (p, n : translational)
  param  d : N.s/m > 0 = 1
  branch p -> n : v, f
  discrete n1 : 1 = 0
  f = d*v
  n1 = v > 1e-6*{call}
end
x damped (a, ground)
run transient(stop = 1 s)
"""
    with pytest.raises(InputError) as caught:
        netsim.load(text).transient()
    problem = caught.value.problems[0]
    assert problem.code == "E207" and problem.span.line == 8


def test_a_fork_goes_on_with_the_same_bits():
    """What has been is part of the state."""
    text = """
use translational
m1 mass (a) m = 1 kg
r1 coulomb_friction (a, ground) F = 1e-9 N
f1 force (a) F = 1.2e-9 N*sin(time*1 s^-1)
run transient(stop = 6 s)
"""
    sim = netsim.load(text).simulator(["a.x", "a.v", "r1.mode"])
    sim.advance(2.0)
    state = sim.state
    ways = []
    for _ in range(2):
        sim.state = state
        found = []
        for t in np.linspace(2.0, 6.0, 41)[1:]:
            sim.advance(t)
            found.append((sim["a.x"], sim["a.v"], sim["r1.mode"]))
        ways.append(found)
    assert ways[0] == ways[1]
    assert ways[0][-1][0] != 0.0
