"""What somebody asks elements for is right to the tolerance or told, also where it is a small difference of large unknowns."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from closed_forms import Form
from test_closed_forms import SCALES, ran

import netsim
from netsim.core import readings
from netsim.core.compiled.function import Compiled
from netsim.core.problem import NK, NY, V, X, Y
from netsim.core.readings import LARGEST, MISSED
from netsim.core.scales import ROUNDED, SO_FAR
from netsim.results.selection import Named
from netsim.simulate.judgement import reading_verdict
from netsim.simulate.options import TransientOptions

METHODS = ["radau", "bdf", "trbdf2"]


def shaft(S, T, turning=10.0):
    """A torque on one of two rotors that an elastic shaft joins: it twists by 4e-6 of what the rotors turn by, and
    swings between nothing and the whole torque."""
    w = 2 * np.pi / T
    c, torque = w**2 / 2, 1e-3 * S * w**2 / turning  # J = 1
    text = f"use rotational\ni1 inertia (a) J = 1 kg.m2\ni2 inertia (b) J = 1 kg.m2\nt1 torque (a) T = {torque!r} N.m\n"
    text += f"s1 torsion_spring (a, b) c = {c!r} N.m/rad\n"
    text += "".join(f"start {n}.phi = 0\nstart {n}.w = {turning * S / T!r} rad/s\n" for n in "ab")
    return Form(text, 5 * T, {"s1.t": (lambda t: torque / 2 * (1 - np.cos(w * t)), torque)})


def dashpot(S, T):
    """A stiff damper between two masses, one of which is pushed: its ends' speeds differ by a millionth."""
    F, d = S / T, 1e6 / T
    text = "use translational\nm1 mass (a) m = 1 kg, start x = 0, start v = 0\nm2 mass (b) m = 1 kg, start x = 0, start v = 0\n"
    text += f"d1 damper (a, b) d = {d!r} N.s/m\nf1 force (a) F = {F!r} N\n"
    return Form(text, 2 * T, {"d1.f": (lambda t: F / 2 * (1 - np.exp(-2 * d * t)), F / 2)})


def wire(S, T):
    """Two charged capacitors that a thin wire joins: 1e-4 of their voltage makes its current."""
    R, V = 1e-3, 10.0 * S
    C, i = 2 * T / R, 1e-4 * V / R
    text = f"use electrical\nc1 capacitor (a, ground) C = {C!r} F, start v = {V + 1e-4 * V!r} V\n"
    text += f"c2 capacitor (b, ground) C = {C!r} F, start v = {V!r} V\nr1 resistor (a, b) R = {R!r} Ohm\n"
    text += f"k1 current (ground, a) I = {V * C / T!r} A\nk2 current (ground, b) I = {V * C / T!r} A\n"
    return Form(text, 5 * T, {"r1.i": (lambda t: i * np.exp(-t / T), i)})


@pytest.mark.parametrize(("build", "name"), [(shaft, "s1.t"), (dashpot, "d1.f"), (wire, "r1.i")])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
@pytest.mark.parametrize(("size", "period"), SCALES)
@pytest.mark.parametrize("method", METHODS)
def test_small_differences_of_large_unknowns_are_told_and_right_where_the_hint_is_followed(build, name, method, size, period, rtol):
    """They were up to 2e5 rtol off in silence."""
    form = build(size, period)
    samples, wrong, codes = ran(form, method=method, rtol=rtol)
    assert samples.finished and (codes == ["W520"] or wrong < 20.0)
    for problem in samples.warnings:
        assert problem.message.startswith(f"'{name}' may be off by ")
        asked = re.match(r"`(nominal .*)` in the netlist", problem.hint).group(1)
        _, wrong, codes = ran(form._replace(text=form.text + asked + "\n"), method=method, rtol=rtol)
        assert codes == [] and wrong < 100.0


def test_what_nobody_asks_for_is_not_told_and_no_step_changes():
    text = shaft(1.0, 1.0).text
    runs = [netsim.load(text + more).samples() for more in ("run transient(stop = 5 s)\n" + line for line in ("", "save a.w\n", "save s1.t\n"))]
    assert [[problem.code for problem in run.warnings] for (run,) in runs] == [[], [], ["W520"]]
    assert np.array_equal(runs[1][0].time, runs[2][0].time)


@pytest.mark.parametrize("asked", ["plot s1.t\n", "measure most = max(s1.t)\n", "save s1.t*2\n", "save s1.*\n"])
def test_plots_measures_and_expressions_ask_too(asked):
    (run,) = netsim.load(shaft(1.0, 1.0).text + "run transient(stop = 5 s)\n" + asked).samples()
    assert [problem.code for problem in run.warnings] == ["W520"]


SUMS = [
    ("s1.t*2", "s1.t"), ("b.phi - a.phi", "b.phi - a.phi"), ("abs(a.phi - b.phi)", "a.phi - b.phi"), ("twist^2", "twist"),
    ("integral(a.w - b.w)", "a.w - b.w"), ("abs(a.phi - b.phi)*(time/(1 s))", "a.phi - b.phi"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "told"), SUMS)
@pytest.mark.parametrize("by", ["save", "plot", "measure most = max({})"])
def test_sums_of_signals_in_expressions_are_told(asked, told, by):
    """With the lines of the hint they are right to 20 rtol."""
    text = shaft(1.0, 1.0).text + "param k = 3\nlet twist = a.phi - b.phi\n"
    line = by.format(asked) if "{}" in by else f"{by} {asked}"
    (run,) = netsim.load(text + f"run transient(stop = 5 s)\n{line}\n").samples()
    (problem,) = run.warnings
    assert problem.code == "W520" and re.match(rf"'(max\()?{re.escape(told)}\)?' may be off by ", problem.message)
    hint = "\n".join(re.findall(r"`(nominal [^`]*)`", problem.hint))
    (run,) = netsim.load(text + f"run transient(stop = 5 s)\n{line}\n{hint}\n").samples()
    assert run.finished and run.warnings == ()


@pytest.mark.parametrize(
    "measure", ["at(a.phi - b.phi, 2 s)", "when(a.phi - b.phi < -1e-4 rad)", "period(b.phi - a.phi)", "first + max(a.phi - b.phi)"]
)
def test_sums_in_functions_of_measures_are_told(measure):
    text = shaft(1.0, 1.0).text + f"run transient(stop = 5 s)\nmeasure first = min(a.phi)\nmeasure second = {measure}\n"
    (run,) = netsim.load(text).samples()
    (problem,) = run.warnings
    assert problem.code == "W520" and " - " in problem.message.split("may be off")[0]


def test_sums_have_the_weights_of_their_run():
    """Of a run that is begun anew for other parameters, too: a small difference at k = 1 is told, with k = 2 it is none."""
    model = netsim.load(wire(1.0, 1.0).text + "param k = 1\nrun transient(stop = 5 s)\nsave k*a.v - b.v\n")
    for k, codes in ((1, ["W520"]), (2, []), (1, ["W520"])):
        (run,) = model.with_params(k=k).samples()
        assert [problem.code for problem in run.warnings] == codes


def test_a_sum_with_something_large_is_measured_by_that():
    (run,) = netsim.load(shaft(1.0, 1.0).text + "run transient(stop = 5 s)\nsave (a.phi - b.phi)/2 + 3 rad\n").samples()
    assert run.warnings == ()


def test_given_steps_and_verified_runs_tell_otherwise():
    for options in ("step = 1 ms", "verify = yes"):
        (run,) = netsim.load(shaft(1.0, 1.0).text + f"run transient(stop = 1 s, {options})\nsave s1.t\n").samples()
        assert "W520" not in [problem.code for problem in run.warnings]


@pytest.mark.parametrize(
    ("missed", "largest", "other", "told"),
    [
        (3e-5, 2.0, 0.0, False),
        (5e-5, 2.0, 0.0, True),
        (1e-9, 0.0, 0.0, False),
        (3e-5, 0.0, 3.0, True),
        (1e-5, 0.0, 3.0, False),
        (3e-8, 0.0, 1e-3, True),
    ],
)
def test_errors_of_readings_are_told_beyond_twenty_rtol(missed, largest, other, told):
    """Of what is largest, or of the nominal size, here 1, where others of the unit are that large."""
    rows, named = np.zeros((3, 2)), [Named(name, "", ((name, ""),), (0,)) for name in ("a.f", "b.f")]
    rows[MISSED, 1], rows[LARGEST] = missed, [other, largest]
    problem = reading_verdict(TransientOptions(stop=1.0, rtol=1e-6), SimpleNamespace(nodes=[]), named, rows)
    assert (problem is not None) == told
    assert not told or (problem.code == "W520" and problem.message.startswith("'b.f' may be off by "))


# ------------------------------------------------------------------------------------------------------- its rule


@pytest.fixture
def plain(monkeypatch):
    """The compiled functions as Python, and what is read: y of the state."""
    for name, value in list(vars(readings).items()):
        if isinstance(value, Compiled):
            monkeypatch.setattr(readings, name, value.py_func)
    monkeypatch.setattr(readings, "error_norm", lambda *_: 0.25)
    monkeypatch.setattr(readings, "place", lambda problem, g, end: g.__setitem__(slice(1, 2), end))
    monkeypatch.setattr(readings, "run_table", lambda table, g, out: out.__setitem__(slice(0, len(table)), table * g[1]))


def one_value(value):
    """Problem and trial of one value y that is read."""
    numbers, rows = np.zeros(32, np.int64), np.zeros((2, 3, 1))
    numbers[[NK, NY, X, V, Y]] = 0, 1, 1, 1, 1
    read = readings.Readings(
        np.ones(1),
        np.zeros(0),
        np.array([0, 1]),
        np.full(1, 2),
        np.ones(1),
        np.zeros(1),
        np.zeros(2),
        np.zeros(1),
        *rows,
        np.zeros(1),
        np.ones(1, int),
    )
    trial = SimpleNamespace(
        readings=read, g=np.zeros(2), end=np.array([value]), exponent=np.zeros(1, int), kind=np.zeros(1, int), sizes=np.zeros((4, 1))
    )
    return SimpleNamespace(sizes=numbers), trial


def step(problem, trial, error, now=1.0):
    nothing = np.zeros(0)
    assert readings.kept_norm(problem, trial, nothing, nothing, np.array([error]), 1.0) == 0.25
    readings.read_errors(problem, trial, now)
    return trial.readings.sizes[:, 0].tolist()


def test_the_largest_error_and_the_largest_value_are_kept(plain):
    problem, trial = one_value(2.0)
    assert step(problem, trial, 1e-3) == [2.0, pytest.approx(1e-3), 1.0]
    trial.end[0] = -3.0
    assert step(problem, trial, -2e-3, 2.0) == [3.0, pytest.approx(2e-3), 2.0]
    trial.end[0] = 1.0
    assert step(problem, trial, 1e-3, 3.0) == step(problem, trial, np.inf, 4.0) == [3.0, pytest.approx(2e-3), 2.0]


def test_what_derivatives_of_constraints_determine_has_no_part(plain):
    problem, trial = one_value(2.0)
    trial.exponent[0] = 1
    assert step(problem, trial, 1e-3) == [2.0, 0.0, 0.0]


def test_what_rounding_makes_is_no_error(plain):
    problem, trial = one_value(0.0)
    trial.sizes[SO_FAR] = 1.0
    rounds = (2 * 0.6180339887498949 - 1) * 4 * np.finfo(float).eps
    assert step(problem, trial, 0.5 * rounds)[1] == 0.0
    assert step(problem, trial, 3 * rounds)[1] == pytest.approx(2 * rounds, rel=1e-9)
    trial.sizes[ROUNDED] = 1e-9
    assert step(problem, trial, 1e-10)[1] == pytest.approx(2 * rounds, rel=1e-9)
