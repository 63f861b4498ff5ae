"""A method from outside, in one file that a call registers; and every method on a body that turns, with what it remembers of it."""

from dataclasses import replace
from functools import cache

import bdf2
import numpy as np
import pytest

import netsim
from netsim.core.contract import KNOWN
from netsim.results.selection import Selection, reader_of
from netsim.simulate.adaptive import begin_adaptive, integrate_adaptive
from netsim.simulate.methods import METHODS
from netsim.simulate.options import TransientOptions
from netsim.simulate.setup.start_of_run import start_of_run
from problems import EVERY

TUMBLING = """
use spatial
world gravity = [0, 0, 0] m/s2
b1 body        (p)         m = 1 kg, I = diag(1, 2, 3) kg.m2
s1 line_spring (ground, p) at1 = [0, 0, -1] m, at2 = [0.3, 0.2, 0.1] m, c = 20 N/m
p1 world_force (p)         F = [0 N, {force}, 0 N], at = [0.1, 0, 0.4] m
start p.w = [0.4, 2.5, 0.3] rad/s
start p.v = [0, 0.2, 0.1] m/s
run   transient(stop = 2 s)
"""
"""A body that turns by more than half a turn about its middle axis, and is pulled by a spring beside its centre."""
SAVED = ["p.r", "p.v", "p.w", "p.R"]
COUNTS = {1: (400, 800), 2: (100, 200), 5: (40, 80), 6: (20, 40), 8: (8, 12)}


@pytest.fixture(autouse=True)
def registered():
    """The method is there for one test."""
    netsim.register(bdf2.METHOD)
    yield
    del METHODS["bdf2"]


@cache
def loaded(text):
    return netsim.load(text)


@cache
def last(text, **options):
    """Position, velocity, angular velocity and rotation at the end."""
    result = loaded(text).transient(stop=2.0, save=SAVED, **options)
    return np.array([float(result[name][-1]) for name in result.data_vars if name.startswith("p.")])


def orders(text, method, counts, formulation):
    """The order of the largest error at the end, and that error."""
    exact = last(text, rtol=1e-11, formulation=formulation)
    errors = [np.abs(last(text, step=2.0 / n, method=method, formulation=formulation) - exact).max() for n in counts]
    return np.log(errors[0] / errors[1]) / np.log(counts[1] / counts[0]), errors[1]


@pytest.mark.parametrize("name", EVERY)
def test_its_order_at_every_index(name):
    """Of all signals but those that are exact."""
    model, signals, errors = netsim.load(EVERY[name].text), EVERY[name].signals, []
    for n in (80, 160):
        result = model.transient(stop=1.0, step=1.0 / n, method="bdf2", save=list(signals))
        errors.append([abs(float(result[signal][-1]) - exact(1.0)) for signal, (_, exact) in signals.items()])
    rough = np.array(errors[1]) > 1e-10
    assert rough[0] and np.abs(np.log2(np.array(errors[0])[rough] / np.array(errors[1])[rough]) - 2).max() < 0.15


@pytest.mark.parametrize("formulation", ["absolute", "tree"])
@pytest.mark.parametrize("method", [*(name for name, method in METHODS.items() if not method.variable), "bdf2"])
def test_every_method_has_its_order_on_a_tumbling_body(method, formulation):
    wanted = METHODS[method].order
    found, error = orders(TUMBLING.format(force="1 N"), method, COUNTS[wanted], formulation)
    assert abs(found - wanted) < (0.15 if wanted <= 5 else 0.5) and error < 0.05


@pytest.mark.parametrize("formulation", ["absolute", "tree"])
@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.variable])
def test_a_method_of_variable_order_follows_a_tumbling_body(method, formulation):
    text = TUMBLING.format(force="1 N")
    exact = last(text, rtol=1e-11, formulation=formulation)
    assert np.abs(last(text, rtol=1e-7, method=method, formulation=formulation) - exact).max() < 1e-5


def test_nothing_of_before_an_event_is_used():
    """A force that begins in the middle of a step cuts it: the method begins anew there, and its steps are of unequal length."""
    text = TUMBLING.format(force="8 N*step(time - 0.71 s)")
    assert abs(orders(text, "bdf2", (100, 300), "absolute")[0] - 2) < 0.15


def test_earlier_states_are_in_the_chart_of_the_present_one():
    """A body that turns about z at constant w and drifts: k steps ago psi = -2 tan(k w h/2), psi' = w (1 + psi^2/4), x = -k h v."""
    h, w, v, name = 0.1, 2.0, 0.5, "remembering"
    text = f"""
    use spatial
    world gravity = [0, 0, 0] m/s2
    b1 body (p) m = 1 kg, I = diag(1, 2, 3) kg.m2
    start p.w = [0, 0, {w}] rad/s
    start p.v = [{v}, 0, 0] m/s
    """
    METHODS[name] = replace(METHODS["radau"], name=name, earlier=3)
    try:
        model = netsim.load(text)
        machine, structure, g, _ = start_of_run(model.machine, model.structure)
        run = begin_adaptive(machine, structure, TransientOptions(stop=7 * h, step=h, method=name), g, reader_of(machine, Selection()), np.zeros(0))
        assert integrate_adaptive(run, None) is None
    finally:
        del METHODS[name]
    nk, (turn,) = machine.system.layout.nk, machine.problem.rotations
    ago = np.arange(1, 4)
    psi, start, earlier = -2 * np.tan(ago * w * h / 2), run.trial.start, run.trial.earlier
    moved = np.flatnonzero(np.isclose(start[nk : 2 * nk], v))
    assert np.allclose(run.trial.spans, h) and run.counters[KNOWN] == 3
    assert np.allclose(earlier[:, turn + 2], psi, rtol=1e-6) and np.allclose(earlier[:, nk + turn + 2], w * (1 + psi**2 / 4), rtol=1e-6)
    assert np.allclose(earlier[:, moved[0]], start[moved[0]] - ago * h * v)


def test_given_steps_only():
    """A method without an estimate of its error says that it needs `step`."""
    with pytest.raises(netsim.InputError, match=r"E422 bdf2 has no error estimate, so that nothing selects its steps"):
        netsim.load(TUMBLING.format(force="0 N")).transient(stop=1.0, method="bdf2")


def test_the_names_of_netsim_stay():
    with pytest.raises(ValueError, match="netsim itself provides 'radau'"):
        netsim.register(replace(bdf2.METHOD, name="radau"))


def test_a_function_takes_what_the_loop_passes():
    with pytest.raises(ValueError, match=r"on_accept of odd must take \(method, problem, trial, h, error\), not \(method, problem, factor"):
        replace(bdf2.METHOD, name="odd", on_accept=bdf2.step)
