"""Explicit Runge-Kutta methods with an error test: x' = v, v' = a, q' from the equations solved for the rates;
coefficients in tableaux.py.

Every stage takes a consistent point (netsim.core.consistent): linear in accelerations, forces and rates, with
velocities on their constraints. So the vector field is one for all positions and velocities near the constraints of a
mechanism, and a method keeps its order on them; what a step's error leaves of the positions' constraints is closed at
its end, by the least change in the mass metric (E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2006,
sec. IV.4 and VII.2). Cheap where nothing is stiff. The first stage of a step is the last one of the step before.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.consistent import make_consistent
from netsim.core.contract import ACCEPTED, ITERATIONS, PERSISTING, error_norm, interpolate_linearly, proposed, set_time
from netsim.core.method import Method, Orders, Setting
from netsim.core.methods.kinks import KINK, combine, kink_weights, remember
from netsim.core.methods.tableaux import Tableau, dormand_prince_5, dormand_prince_8, verner_6
from netsim.core.newton import CONVERGED, NOT_FINITE
from netsim.core.problem import HISTORY, NK, NQ, NY, A, V, X, Y
from netsim.core.readings import keep_estimate
from netsim.core.scales import widen_scales
from netsim.core.states import copy, follow, load

Array = np.ndarray

RADAU = (0.0, (4 - 6**0.5) / 10, (4 + 6**0.5) / 10, 1.0)
"""Nodes of a quadrature of order 5, the weight of 0 being none."""
LOBATTO_6 = (0.0, 0.5 - 0.05**0.5, 0.5 + 0.05**0.5, 1.0)
LOBATTO_8 = (0.0, 0.5 - (3 / 28) ** 0.5, 0.5, 0.5 + (3 / 28) ** 0.5, 1.0)
"""The same of order 6 and 8."""

CAUTION = 0.5
"""Of Method.caution: no matrix damps the errors of steps, and over a knee of a force the embedded formula sees a part
of them."""

EACH, LATELY, FAINT = 4, 0.1, 1e-4
"""The part of the error that persists is looked for in every so many steps; the share of a step in the mean squares of
errors; mean squares smaller than this beside the largest one are of no weight."""

BEGIN, INSIDE = range(2)
"""Positions in Explicit.memory: the instant where the step begins; whether the rates inside it are there."""


class Explicit(NamedTuple):
    """A tableau's arrays; rates [x' | v' | q'] of the stages, the plan of consistent points, that of positions, errors
    of x, v and values, a state beside the step's own; a copy of errors, the mean of their squares lately (in
    tolerances), and a state as far beside the end as the error goes on in a step; what netsim.core.methods.kinks
    remembers."""

    order: Array
    nodes: Array
    weights: Array
    errors: Array
    dense: Array
    rates: Array
    plan: Struct
    closing: Struct
    error: Array
    beside: Array
    memory: Array
    known: Array
    lately: Array
    onward: Array
    kinks: Array
    combined: Array
    met: Array
    sudden: Array


def prepare(tableau: Tableau, setting: Setting) -> Struct:
    """The arrays of one run."""
    rates = np.zeros((tableau.stages, 2 * setting.nk + setting.nq))
    parts = np.array([tableau.order]), tableau.nodes, tableau.weights, tableau.errors
    size, length = setting.n + setting.nk, setting.length
    room = np.zeros(size), np.zeros(length), np.zeros(2), np.zeros(size), np.zeros(size), np.zeros(length)
    plans = struct_of(setting.plan), struct_of(setting.closing)
    width = rates.shape[1]
    kinks = kink_weights(tableau), np.zeros((4, width)), np.zeros(4), np.zeros(width)
    return struct_of(Explicit(*parts, np.ascontiguousarray(tableau.dense), rates, *plans, *room, *kinks))


@inner
def _point(method, problem, trial, state, t):
    """Make a state consistent and read it back, in the charts it is in; the status."""
    g = trial.g
    status = set_time(problem, trial, t)
    if status != CONVERGED:
        return status
    load(problem, g, state)
    trial.counters[ITERATIONS] += 1
    if not make_consistent(method.plan, g):
        return NOT_FINITE
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    copy(g, problem.sizes[V], state, nk, nk)
    copy(g, problem.sizes[A], state, 2 * nk, nk)
    copy(g, problem.sizes[Y], state, 3 * nk, ny)
    copy(g, problem.sizes[HISTORY], state, 3 * nk + ny + nq, nq)
    return CONVERGED


@inner
def _close(method, problem, trial, state, t):
    """Positions onto their constraints; the status."""
    status = set_time(problem, trial, t)
    if status != CONVERGED or not method.closing.sizes.shape[0]:
        return status
    load(problem, trial.g, state)
    if not make_consistent(method.closing, trial.g):
        return NOT_FINITE
    copy(trial.g, problem.sizes[X], state, 0, problem.sizes[NK])
    return CONVERGED


@inner
def _advanced(method, problem, trial, weights, count, h, state):
    """x, v and q of the beginning plus h times weighted rates of the first `count` stages."""
    nk, nq, at, s = problem.sizes[NK], problem.sizes[NQ], 3 * problem.sizes[NK] + problem.sizes[NY], trial.start
    for i in range(2 * nk):
        total = 0.0
        for j in range(count):
            total += weights[j] * method.rates[j, i]
        state[i] = s[i] + h * total
    for k in range(nq):
        total = 0.0
        for j in range(count):
            total += weights[j] * method.rates[j, 2 * nk + k]
        state[at + k] = s[at + k] + h * total


@inner
def _keep_rates(method, problem, state, stage):
    nk, nq, at = problem.sizes[NK], problem.sizes[NQ], 3 * problem.sizes[NK] + problem.sizes[NY]
    copy(state, nk, method.rates[stage], 0, 2 * nk)
    copy(state, at + nq, method.rates[stage], 2 * nk, nq)


@inner
def step(method, problem, factor, trial, t, h, last):
    """The stages of a step. Error: the difference e from the embedded formula; of two such formulas e5^2/sqrt(e5^2 +
    e3^2/100); or what a kink leaves, where that is more."""
    end, count = trial.end, method.errors.shape[1]
    copy(trial.start, 0, end, 0, end.shape[0])
    method.memory[BEGIN], method.memory[INSIDE] = t, 0.0
    _keep_rates(method, problem, end, 0)
    for stage in range(1, count):
        _advanced(method, problem, trial, method.weights[stage], stage, h, end)
        instant = last if method.nodes[stage] == 1.0 else t + method.nodes[stage] * h
        status = _close(method, problem, trial, end, instant) if stage == count - 1 else CONVERGED
        if status == CONVERGED:
            status = _point(method, problem, trial, end, instant)
        if status != CONVERGED:
            return status, 0.25
        _keep_rates(method, problem, end, stage)
    widen_scales(problem, trial, end, True)
    error = _estimate(method, problem, trial, h, last)
    over_kink = _over_kink(method, problem, trial, h, last, error)
    if over_kink > error:
        error = over_kink
        _keep(method, problem, trial, 1.0)
    if 0.0 < error <= 1.0 and trial.counters[ACCEPTED] % EACH == 0:
        trial.tolerances[PERSISTING] = _persisting(method, problem, trial, h, last)
    return CONVERGED, error


@inner
def _estimate(method, problem, trial, h, last):
    two = method.errors.shape[0] > 1
    second = _difference(method, problem, trial, method.errors[1], h, last) if two else 0.0
    first, share = _difference(method, problem, trial, method.errors[0], h, last), 1.0
    if 0.0 < first < np.inf and second < np.inf:
        share = 1.0 / np.sqrt(1.0 + 0.01 * (second / first) ** 2)
    _keep(method, problem, trial, share)
    return first * share


@inner
def _keep(method, problem, trial, share):
    """Keep a share of the difference that was taken last as the step's error, for what is read of its end."""
    nk, e = problem.sizes[NK], method.error
    keep_estimate(problem, trial, e[:nk], e[nk : 2 * nk], e[2 * nk :], share)


@inner
def _over_kink(method, problem, trial, h, last, error):
    """The norm of what a kink leaves (netsim.core.methods.kinks), positions of rotations left out: their chart is
    another one in each step. Not looked for where the error is too large anyway."""
    nk, ny, other = problem.sizes[NK], problem.sizes[NY], method.beside
    found = combine(method, problem, trial, h)
    method.met[KINK] = 0.0 if error <= 1.0 else error
    if found == 0 or not error <= 1.0:
        return 0.0
    copy(trial.end, 0, other, 0, other.shape[0])
    for i in range(method.sudden.shape[0]):
        other[i if i < 2 * nk else nk + ny + i] += method.sudden[i]
    for f in range(problem.rotations.shape[0]):
        copy(trial.end, problem.rotations[f], other, problem.rotations[f], 3)
    method.met[KINK] = _distance(method, problem, trial, h, last, found == 2)
    return method.met[KINK]


@inner
def _difference(method, problem, trial, weights, h, last):
    """The norm of h times weighted rates, and of the change of values at a point made consistent with it."""
    _embedded(method, problem, trial, weights, h)
    differential = False
    for i in range(problem.sizes[NY]):
        differential = differential or trial.exponent[2 * problem.sizes[NK] + i] == 0
    return _distance(method, problem, trial, h, last, differential)


@inner
def _embedded(method, problem, trial, weights, h):
    """The solution of another formula into method.beside: the end less h times weighted rates."""
    nk, nq, count = problem.sizes[NK], problem.sizes[NQ], method.errors.shape[1]
    other, at = method.beside, 3 * nk + problem.sizes[NY]
    copy(trial.end, 0, other, 0, other.shape[0])
    for i in range(2 * nk + nq):
        total = 0.0
        for j in range(count):
            total += weights[j] * method.rates[j, i]
        other[i if i < 2 * nk else at + i - 2 * nk] -= h * total


@inner
def _distance(method, problem, trial, h, last, consistent):
    """The norm of method.beside less the end, where it is made consistent that of its values too."""
    nk, ny, e, other = problem.sizes[NK], problem.sizes[NY], method.error, method.beside
    for i in range(2 * nk):
        e[i] = other[i] - trial.end[i]
    if consistent and _point(method, problem, trial, other, last) != CONVERGED:
        return np.inf
    for i in range(ny):
        e[2 * nk + i] = other[3 * nk + i] - trial.end[3 * nk + i]
    return error_norm(problem, trial, e[:nk], e[nk : 2 * nk], e[2 * nk :], h)


@inner
def _persisting(method, problem, trial, h, last):
    """The share of the step's error e that the motion takes along: |e - m h J e|/|e| with the m that makes it least.

    J are the derivatives of the rates, J e their difference at the embedded solution. What decays at a rate l has
    h J e = -l h e and leaves nothing, with m = -1/(l h); in an oscillation J e stands at right angles to e, and all
    persists, where x and v, or currents and voltages, are measured by what their errors lately were."""
    nk, nq, at = problem.sizes[NK], problem.sizes[NQ], 3 * problem.sizes[NK] + problem.sizes[NY]
    other, end, e, lately, onward = method.beside, trial.end, method.known, method.lately, method.error
    _embedded(method, problem, trial, method.errors[0], h)
    whole = _distance(method, problem, trial, h, last, True)
    if not 0.0 < whole < np.inf:
        return 1.0
    copy(method.error, 0, e, 0, e.shape[0])
    copy(end, 0, method.onward, 0, end.shape[0])
    for i in range(2 * nk + nq):
        k = i if i < 2 * nk else at + i - 2 * nk
        rate = k + (nk if i < 2 * nk else nq)
        method.onward[k] += h * (other[rate] - end[rate])
    copy(method.onward, 0, other, 0, end.shape[0])
    if not _distance(method, problem, trial, h, last, True) < np.inf:
        return 1.0
    along, square, largest = 0.0, 0.0, 0.0
    for i in range(e.shape[0]):
        square_of = (e[i] / trial.scale[i]) ** 2 if trial.exponent[i] == 0 else 0.0
        lately[i] += (LATELY if lately[i] > 0.0 else 1.0) * (square_of - lately[i])
        largest = max(largest, lately[i])
    if largest == 0.0:
        return 1.0
    for i in range(e.shape[0]):
        if trial.exponent[i] == 0:
            weight = 1.0 / (trial.scale[i] ** 2 * max(lately[i], FAINT * largest))
            along += weight * e[i] * onward[i]
            square += weight * onward[i] ** 2
    if not along < 0.0:
        return 1.0
    for i in range(e.shape[0]):
        e[i] -= along / square * onward[i]
    return min(1.0, error_norm(problem, trial, e[:nk], e[nk : 2 * nk], e[2 * nk :], h) / whole)


@inner
def on_accept(method, problem, trial, h, error):
    """The elementary rule."""
    remember(method, trial, h)
    follow(problem, trial, h)
    return proposed(error, float(method.order[0]))


@inner
def dense_output(method, problem, trial, theta, h, state, wanted):
    """Differentiated quantities, and with rates taken inside the step positions and velocities too, by the formula for
    the step's inside; values on the line (they are recovered, where samples are)."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    at, degree = 3 * nk + ny, method.dense.shape[1]
    interpolate_linearly(problem, trial, theta, h, state, wanted)
    first = 2 * nk
    if method.dense.shape[0] > method.errors.shape[1]:
        first = 0
        if method.memory[INSIDE] == 0.0:
            _look_inside(method, problem, trial, h)
    for i in range(first, 2 * nk + nq):
        rise, rate = 0.0, 0.0
        for j in range(method.dense.shape[0]):
            value, slope = 0.0, 0.0
            for m in range(degree - 1, -1, -1):
                value = value * theta + method.dense[j, m]
                slope = slope * theta + (m + 1) * method.dense[j, m]
            rise += value * method.rates[j, i]
            rate += slope * method.rates[j, i]
        if i < 2 * nk:
            state[i] = trial.start[i] + h * theta * rise
        else:
            state[at + i - 2 * nk] = trial.start[at + i - 2 * nk] + h * theta * rise
            state[at + nq + i - 2 * nk] = rate


@inner
def _look_inside(method, problem, trial, h):
    """The rates of the stages behind the step's end."""
    other, t = method.beside, method.memory[BEGIN]
    copy(trial.start, 0, other, 0, other.shape[0])
    for stage in range(method.errors.shape[1], method.nodes.shape[0]):
        _advanced(method, problem, trial, method.weights[stage], stage, h, other)
        if _point(method, problem, trial, other, t + method.nodes[stage] * h) == CONVERGED:
            _keep_rates(method, problem, other, stage)
    method.memory[INSIDE] = 1.0


def _method(
    name: str, order: int, tableau: Callable[[], Tableau], work: tuple[float, ...], gap: float, leaves: float
) -> Method:
    return Method(
        name, Orders(order, order, order), lambda setting: prepare(tableau(), setting), step, on_accept, dense_output,
        estimate=order, work=work, explicit=True, settles=False, single=False, caution=CAUTION, gap=gap, leaves=leaves,
        reason="an explicit method cannot prescribe accelerations",
    )  # fmt: skip


RK45 = _method("rk45", 5, dormand_prince_5, RADAU, 0.5, 1.65)
RK6 = _method("rk6", 6, verner_6, LOBATTO_6, 0.4, 0.14)
RK8 = _method("rk8", 8, dormand_prince_8, LOBATTO_8, 0.27, 1.0)
