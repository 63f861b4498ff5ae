"""Every method has the order that theory gives it, at every index where it has one: two-sided, for each kind of variable apart.

Theory: Hairer and Wanner, Solving Ordinary Differential Equations II, IV.5 and VII.4 to VII.7 (Radau IIA with three stages: 5 for ODEs and index 1, 5
and 3 at index 2, 5, 3 and 2 for positions, velocities and multipliers of index 3); Brenan, Campbell, Petzold, Numerical Solution of Initial-Value
Problems in DAEs, 3.2 (backward differences: p for all variables of index 1, 2 and 3, at index 3 after p + 1 equal steps); Arnold and Bruels 2007
(generalized-alpha: 2 for all, multipliers included). `bare` runs show what a method does by itself; users get projected velocities and
recovered forces, which have the order of positions.
"""

import numpy as np
import pytest

import netsim
from netsim.core.contract import RESTARTED, RTOL
from netsim.core.loop.control import NOW, STEP
from netsim.core.methods import bdf
from netsim.initial.flat_plan import compiled_plan
from netsim.library.files import models_folder
from netsim.results.selection import reader_of, select
from netsim.simulate import adaptive
from netsim.simulate.methods import METHODS
from netsim.simulate.options import TransientOptions
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.text.parse import parse
from problems import CIRCUIT, EVERY, LOOP, OSCILLATOR, PENDULUM

COARSE, FINE = (10, 20, 40), (160, 320, 640)


def ends(known, method, counts, forces="method", stop=1.0):
    """Errors at `stop`: a row per number of equal steps, a column per signal."""
    model, found = netsim.load(known.text), []
    for n in counts:
        result = model.transient(stop=stop, step=stop / n, method=method, forces=forces, save=list(known.signals))
        found.append([abs(float(result[name][-1]) - exact(stop)) for name, (_, exact) in known.signals.items()])
    return np.array(found)


def assert_orders(found, counts, wanted):
    seen = np.log(found[-2] / found[-1]) / np.log(counts[-1] / counts[-2])
    assert np.all(np.abs(seen - wanted) < 0.15), f"orders {np.round(seen, 2)}, wanted {wanted}; errors {found}"


@pytest.fixture
def bare(monkeypatch):
    """Steps as the method gives them: without the projection that ends them in every run of a user."""
    monkeypatch.setattr(adaptive, "consistent_plan", lambda *_: (compiled_plan(None), None))


@pytest.mark.parametrize(
    ("known", "method", "counts", "wanted"),
    [
        (OSCILLATOR, "radau", COARSE, (5, 5)), (OSCILLATOR, "rk45", COARSE, (5, 5)), (OSCILLATOR, "trbdf2", FINE, (2, 2)),
        (CIRCUIT, "rk6", (4, 6, 8), (6, 6)),
        (OSCILLATOR, "generalized_alpha", FINE, (2, 2)), (OSCILLATOR, "euler", FINE, (1, 1)),
        (CIRCUIT, "radau", (4, 8, 16), (5, 5)), (CIRCUIT, "trbdf2", FINE, (2, 2)),
        (CIRCUIT, "generalized_alpha", FINE, (2, 2)), (CIRCUIT, "euler", FINE, (1, 1)),
    ],
    ids=lambda value: {id(p): name for name, p in EVERY.items()}.get(id(value), str(value)),
)  # fmt: skip
def test_index_0_and_1(known, method, counts, wanted):
    """Positions and velocities; charges' values and algebraic ones."""
    assert_orders(ends(known, method, counts), counts, wanted)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("method", "counts"),
    [("radau", (5, 10, 20)), ("trbdf2", FINE), ("generalized_alpha", FINE), ("euler", FINE)],
)
def test_index_2_bare(method, counts):
    """A differential value, and an algebraic one that depends on a differentiated constraint, have the orders that the method states."""
    assert_orders(ends(LOOP, method, counts), counts, METHODS[method].orders[:2])


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(("method", "counts"), [("radau", (20, 30, 45)), ("generalized_alpha", FINE), ("euler", FINE)])
def test_index_3_bare(method, counts):
    """Positions, velocities and multipliers have the orders that the method states."""
    assert_orders(ends(PENDULUM, method, counts), counts, METHODS[method].orders)


def test_methods_state_their_orders():
    """As theory has them, for positions, velocities and multipliers (see the head of this file)."""
    wanted = {"radau": (5, 3, 2), "bdf": (5, 5, 5), "trbdf2": (2, 2, 0), "generalized_alpha": (2, 2, 2), "euler": (1, 1, 1)}
    assert {name: tuple(METHODS[name].orders) for name in METHODS} == wanted | {"rk45": (5,) * 3, "rk6": (6,) * 3, "rk8": (8,) * 3}


@pytest.mark.parametrize(
    ("known", "method", "counts", "stop", "order"),
    [(LOOP, "rk45", (32, 64), 6.0, 5), (LOOP, "rk6", (48, 64), 6.0, 6), (LOOP, "rk8", (10, 12), 6.0, 8), (CIRCUIT, "rk8", (5, 7), 2.0, 8)],
)
def test_charges_by_explicit_methods(known, method, counts, stop, order):
    """Charges follow their rates with the method's order; the current of a capacitor at a source is C s' at every step."""
    found = ends(known, method, counts, stop=stop)
    assert_orders(found[:, :1], counts, (order,))
    assert found[:, 1].max() < 1e-12 or known is CIRCUIT


@pytest.mark.parametrize(
    ("method", "counts", "order"),
    [("radau", (20, 30, 45), 5), ("generalized_alpha", FINE, 2), ("euler", FINE, 1), ("rk6", (20, 30, 45), 6), ("rk8", (5, 8), 8)],
)
def test_index_3_as_users_run_it(method, counts, order):
    """Velocities of every step (of every sample, where the step is the plain one) are projected, forces recovered: all have the full order."""
    found = ends(PENDULUM, method, counts, "recovered")
    assert_orders(found[:, :2], counts, (order,) * 2)
    assert np.all(found[:, 2] <= 3 * found[:, :2].max(axis=1))


@pytest.mark.parametrize("method", ["radau", "trbdf2", "generalized_alpha", "bdf"])
def test_index_2_recovered(method):
    """The current of a capacitor at a source is C s', whatever the step."""
    assert ends(LOOP, method, (10,), "recovered")[0, 1] < 1e-12


# ------------------------------------------------------------------------------------------ backward differences, order by order


def started(known, options):
    """A run of the accept/reject loop that has not yet begun to step, and the columns of its signals."""
    model = netsim.load(known.text)
    machine, structure, g, _ = start_of_run(model.machine, model.structure, "", None)
    selection = select(machine, [parse(f"save {name}").statements[0].signals[0] for name in known.signals])
    return adaptive.begin_adaptive(machine, structure, options, g, reader_of(machine, selection), np.zeros(0)), list(selection.entries)


def history(known, h, count):
    """[x | v | y | q] and states at 0, h, ... count h, by Radau IIA with steps of h/16."""
    found = []
    for k in range(count + 1):
        options = TransientOptions(stop=max(k, 1) * h, step=h / 16, method="radau", forces="recovered")
        run, _ = started(known, options)
        if k:
            assert adaptive.integrate_adaptive(run, None) is None
        found.append(run.trial.start.copy())
    return found


def with_order(known, order, n):
    """Root of the mean squared error behind t = 0.4 s of n equal steps of the formula of one order, from exact starting values."""
    h = 1.0 / n
    states = history(known, h, order)
    run, names = started(known, TransientOptions(stop=1.0, step=h, method="bdf"))
    layout = run.machine.system.layout
    kept = np.r_[0 : 2 * layout.nk, 3 * layout.nk : 3 * layout.nk + layout.ny + layout.nq]
    points = np.array([state[kept] for state in states[::-1]])
    for k in range(order + 1):
        run.arrays.differences[k] = np.diff(points[: k + 1][::-1], n=k, axis=0)[0]
    run.arrays.memory[[bdf.ORDER_NOW, bdf.EQUAL, bdf.STEP, bdf.LIMIT]] = order, -1e9, h, order
    run.trial.start[:] = states[-1]
    run.trial.counters[RESTARTED] = 0
    run.trial.tolerances[RTOL] = 1e-13  # Newton's method leaves less than order 5 does
    run.control.numbers[NOW], run.control.places[STEP] = order * h, order
    assert adaptive.integrate_adaptive(run, None) is None
    times, values, _ = run.sampled
    late = times > 0.4
    return [np.sqrt(np.mean((values[late, names.index(name)] - exact(times[late])) ** 2)) for name, (_, exact) in known.signals.items()]


STEPS = {1: (160, 320), 2: (160, 320), 3: (80, 160), 4: (80, 120), 5: (80, 100)}


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("order", STEPS)
@pytest.mark.parametrize("name", EVERY)
def test_backward_differences_of_every_order(name, order):
    """All variables of index 0 to 3, multipliers too."""
    counts = STEPS[order]
    found = np.array([with_order(EVERY[name], order, n) for n in counts])
    assert_orders(found, counts, (order,) * found.shape[1])


# ------------------------------------------------------------------------------------------------------ between steps, and refusals


@pytest.mark.parametrize(
    ("known", "method", "counts", "least"),
    [
        (OSCILLATOR, "radau", COARSE, 5), (OSCILLATOR, "rk45", COARSE, 5), (OSCILLATOR, "trbdf2", FINE, 2),
        (OSCILLATOR, "rk6", COARSE, 6), (OSCILLATOR, "rk8", (1, 3), 8), (CIRCUIT, "rk6", (8, 12, 16), 6), (CIRCUIT, "rk8", (4, 6), 8),
        (PENDULUM, "rk6", COARSE, 6), (PENDULUM, "rk8", (4, 5), 8),
        (OSCILLATOR, "generalized_alpha", FINE, 2), (OSCILLATOR, "euler", FINE, 1),
        (CIRCUIT, "radau", COARSE, 4), (CIRCUIT, "rk45", COARSE, 5), (CIRCUIT, "trbdf2", FINE, 2),
        (CIRCUIT, "generalized_alpha", FINE, 2), (CIRCUIT, "euler", FINE, 1),
        (PENDULUM, "radau", COARSE, 5), (PENDULUM, "generalized_alpha", FINE, 2),
    ],
    ids=lambda value: {id(p): name for name, p in EVERY.items()}.get(id(value), str(value)),
)  # fmt: skip
def test_samples_between_steps(known, method, counts, least):
    """Largest error over samples at 0.37 steps and its multiples: positions by the quintic of both ends, charges by a cubic (rk45: its own)."""
    model, found = netsim.load(known.text), []
    for n in counts:
        result = model.transient(stop=1.0, step=1.0 / n, sample=0.37 / n, method=method, save=list(known.signals))
        found.append([max(np.abs(result[name].values - exact(result.time.values)).max() for name, (_, exact) in known.signals.items())])
    assert_orders(np.array(found), counts, (least,))


@pytest.mark.parametrize(("method", "known"), [("trbdf2", PENDULUM)])
def test_refused_where_there_is_no_order(method, known):
    with pytest.raises(netsim.InputError, match=f"E426 {method} needs an index of at most"):
        netsim.load(known.text).transient(stop=1.0, method=method)


@pytest.mark.parametrize("method", ["bdf", "euler", "generalized_alpha", "trbdf2", "rk45", "rk6", "rk8"])
def test_refused_at_index_4(method):
    """The voltage that turns a motor as prescribed: the third derivative of the angle, through the inductance."""
    model = netsim.load(models_folder() / "motor_angle.net")
    with pytest.raises(netsim.InputError, match="E426") as refused:
        model.inverse({"shaft.phi": "2 rad*bell(time, at = 1 s, width = 0.2 s)"}, ["src.v"], stop=2.0, rtol=1e-4, method=method)
    assert "index" in str(refused.value) and "default serves every index" in str(refused.value)
