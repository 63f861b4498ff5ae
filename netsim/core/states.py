"""The state of a run, [x | v | a | y | q | q' | quaternions of rotating nodes], and the global vector g: one into the
other, samples, energies."""

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.consistent import make_consistent
from netsim.core.contract import ASTRAY, KNOWN, dense_output, earlier, projected
from netsim.core.problem import (
    ALPHA,
    CHARTS,
    DIFFERENTIATED,
    HISTORY,
    KINEMATIC_ORDERS,
    NK,
    NQ,
    NY,
    VALUE_ORDERS,
    A,
    V,
    X,
    Y,
)
from netsim.core.rotation import chart_rates, in_chart, move_chart, quaternion_matrix

SUPPLIED, DISSIPATED, STORED, KINETIC, TYPES = range(5)
"""Positions among the powers and energies of an account; from TYPES on stored and kinetic energy of each component
type."""
ROUNDING = 2.0 * 2.220446049250313e-16
"""What rounding leaves of the sum of two positions' sizes in their difference."""
MOTION, VALUES = KINEMATIC_ORDERS - 3, VALUE_ORDERS - 1
"""Higher orders of motion and of values in g, before its differentiated quantities."""


@inner
def copy(source, first, target, at, count):
    """Entry by entry: for an assignment of slices numba compiles checks and messages that take seconds."""
    for i in range(count):
        target[at + i] = source[first + i]


@inner
def move_charts(problem, state):
    """Every rotation's chart to its present rotation: then psi = 0, psi' = w, psi'' = w'."""
    nk, at = problem.sizes[NK], 3 * problem.sizes[NK] + problem.sizes[NY] + 2 * problem.sizes[NQ]
    for f in range(problem.rotations.shape[0]):
        i = problem.rotations[f]
        move_chart(
            state[i : i + 3],
            state[nk + i : nk + i + 3],
            state[2 * nk + i : 2 * nk + i + 3],
            state[at + 4 * f : at + 4 * f + 4],
        )


@inner
def keep(problem, g, out, state):
    """What a method found (x, v, a, y in g, differentiated quantities in out) into a state, in the charts that g is
    in."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    copy(g, problem.sizes[X], state, 0, nk)
    copy(g, problem.sizes[V], state, nk, nk)
    copy(g, problem.sizes[A], state, 2 * nk, nk)
    copy(g, problem.sizes[Y], state, 3 * nk, ny)
    differentiated, history, at = problem.sizes[DIFFERENTIATED], problem.sizes[HISTORY], 3 * nk + ny
    for k in range(nq):
        state[at + k] = out[differentiated + k]
        state[at + nq + k] = g[ALPHA] * out[differentiated + k] + g[history + k]


@inner
def place(problem, g, state):
    """Write a state into g as it stands: kernels of readings and energy then see x, v, a, y and q' themselves."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    x, y, history = problem.sizes[X], problem.sizes[Y], problem.sizes[HISTORY]
    copy(state, 0, g, x, 3 * nk)
    copy(state, 3 * nk, g, y, ny)
    copy(state, 3 * nk + ny + nq, g, history, nq)
    g[ALPHA] = 0.0
    at, charts = 3 * nk + ny + 2 * nq, problem.sizes[CHARTS]
    for f in range(problem.rotations.shape[0]):
        quaternion_matrix(state[at + 4 * f : at + 4 * f + 4], g[charts + 9 * f : charts + 9 * f + 9])


@inner
def energies(problem, g, power):
    """Supplied power, dissipated power, stored energy and its kinetic part at what g holds, in all and by type: a row
    for each account."""
    for a in range(power.shape[0]):
        for k in range(power.shape[1]):
            power[a, k] = 0.0
    run_table(problem.energy, g, power)
    for a in range(power.shape[0]):
        for k in range(TYPES, power.shape[1], 2):
            power[a, STORED] += power[a, k]
            power[a, KINETIC] += power[a, k + 1]


@inner
def in_all(power, place_):
    """A power or energy of all accounts together."""
    found = power[0, place_]
    for a in range(1, power.shape[0]):
        found += power[a, place_]
    return found


@inner
def sample(readings, selection, g, found, row):
    """Saved signals: places in g, or (behind its end) in the readings' own vector."""
    found[:] = 0.0
    run_table(readings, g, found)
    for j in range(selection.shape[0]):
        place_ = selection[j]
        row[j] = g[place_] if place_ < g.shape[0] else found[place_ - g.shape[0]]


@inner
def load(problem, g, state):
    """A state into g, differentiated quantities included (as starts and recovered points read them)."""
    place(problem, g, state)
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    copy(state, 3 * nk + ny, g, problem.sizes[HISTORY] + nq + MOTION * nk + VALUES * ny, nq)


@inner
def store_in_state(problem, g, state):
    """What a consistent point holds (x, v, a, y, differentiated quantities and their rates) into a state: `load`
    undone, but for rotations."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    copy(g, problem.sizes[X], state, 0, 3 * nk)
    copy(g, problem.sizes[Y], state, 3 * nk, ny)
    copy(g, problem.sizes[HISTORY] + nq + MOTION * nk + VALUES * ny, state, 3 * nk + ny, nq)
    copy(g, problem.sizes[HISTORY], state, 3 * nk + ny + nq, nq)


@inner
def state_at(method, problem, trial, theta, h):
    """The state at t + theta h into trial.middle: the end of the step, or what its polynomials say."""
    if theta == 1.0:
        copy(trial.end, 0, trial.middle, 0, trial.end.shape[0])
    else:
        motion_between(problem, trial.start, trial.end, theta, h, trial.middle)
        dense_output(method, problem, trial, theta, h, trial.middle, trial.whole)


@inner
def project(problem, plan, g, state):
    """Velocities onto their constraints, accelerations, forces and rates consistent with positions and differentiated
    quantities; False where that fails.

    Time and prescribed inputs are those in g. Charts are moved first: at psi = 0 the mass matrix of rotations is that
    of energy."""
    move_charts(problem, state)
    load(problem, g, state)
    if not make_consistent(plan, g):
        return False
    store_in_state(problem, g, state)
    return True


@inner
def project_end(problem, plan, trial):
    """The same for the end of a step, which stays in the charts of its beginning."""
    copy(trial.end, 0, trial.middle, 0, trial.end.shape[0])
    if not projected(problem, plan, trial, trial.middle):
        trial.counters[ASTRAY] += 1
        return
    nk, quaternions = problem.sizes[NK], 3 * problem.sizes[NK] + problem.sizes[NY] + 2 * problem.sizes[NQ]
    m, e = trial.middle, trial.end
    for f in range(problem.rotations.shape[0]):
        i = problem.rotations[f]
        v, a = nk + i, 2 * nk + i
        rate, second = chart_rates(e[i : i + 3], (m[v], m[v + 1], m[v + 2]), (m[a], m[a + 1], m[a + 2]))
        m[i], m[i + 1], m[i + 2] = e[i], e[i + 1], e[i + 2]
        m[v], m[v + 1], m[v + 2] = rate[0], rate[1], rate[2]
        m[a], m[a + 1], m[a + 2] = second[0], second[1], second[2]
    copy(m, 0, e, 0, quaternions)


@inner
def follow(problem, trial, h):
    """The step's end becomes the next one's beginning, in charts of its own; the earlier states that the method asked
    for go along, each rotation exactly into the new chart."""
    before, s = trial.earlier, trial.start
    count = min(earlier(trial) + 1, before.shape[0])
    for k in range(count - 1, -1, -1):
        copy(before[k - 1] if k else s, 0, before[k], 0, s.shape[0])
        trial.spans[k] = trial.spans[k - 1] if k else h
    trial.counters[KNOWN] = count
    copy(trial.end, 0, s, 0, s.shape[0])
    nk, quaternions = problem.sizes[NK], 3 * problem.sizes[NK] + problem.sizes[NY] + 2 * problem.sizes[NQ]
    for k in range(count):
        for f in range(problem.rotations.shape[0]):
            i = problem.rotations[f]
            _into_chart(before[k], i, nk, (s[i], s[i + 1], s[i + 2]))
    move_charts(problem, s)
    for k in range(count):
        copy(s, quaternions, before[k], quaternions, s.shape[0] - quaternions)


@inner
def _into_chart(state, i, nk, centre):
    """The rotation at place i of a state, with its rates, in the chart at `centre`."""
    v, a = nk + i, 2 * nk + i
    psi, rate, second = in_chart(
        centre,
        (state[i], state[i + 1], state[i + 2]),
        (state[v], state[v + 1], state[v + 2]),
        (state[a], state[a + 1], state[a + 2]),
    )
    for k in range(3):
        state[i + k], state[v + k], state[a + k] = psi[k], rate[k], second[k]


@inner
def motion_between(problem, start, end, theta, h, state):
    """x, v and a at theta by the quintic through x, v and a of both ends (in the charts of the beginning), with the
    charts' quaternions.

    With s = theta and c = x1 - x0 - h (v0 + v1)/2 - h^2 (a0 - a1)/12 it is the cubic v(s) through v and a of both ends,
    integrated, and c s^3 (10 - 15 s + 6 s^2). Where c is rounding of x it is left out: over h it would be noise in v.
    Where it is more than the accelerations are worth, the ends do not belong to one motion of this order (a method of
    many steps behind a restart), and v and a are those of the cubic alone."""
    nk = problem.sizes[NK]
    s = theta
    for i in range(nk):
        x0, v0, a0 = start[i], h * start[nk + i], h * h * start[2 * nk + i]
        x1, v1, a1 = end[i], h * end[nk + i], h * h * end[2 * nk + i]
        c = x1 - x0 - 0.5 * (v0 + v1) - (a0 - a1) / 12.0
        if abs(c) <= ROUNDING * (abs(x0) + abs(x1)):
            c = 0.0
        b2, b3 = 3.0 * (v1 - v0) - 2.0 * a0 - a1, 2.0 * (v0 - v1) + a0 + a1
        bent = c * s**3 * (10.0 + s * (6.0 * s - 15.0))
        state[i] = x0 + s * (v0 + s * (0.5 * a0 + s * (b2 / 3.0 + s * 0.25 * b3))) + bent
        if abs(c) > abs(a0 - a1) / 12.0:
            c = 0.0
        state[nk + i] = (v0 + s * (a0 + s * (b2 + s * b3)) + 30.0 * c * (s * (1.0 - s)) ** 2) / h
        state[2 * nk + i] = (a0 + s * (2.0 * b2 + s * 3.0 * b3) + 60.0 * c * s * (1.0 - s) * (1.0 - 2.0 * s)) / (h * h)
    first = 3 * nk + problem.sizes[NY] + 2 * problem.sizes[NQ]
    copy(start, first, state, first, start.shape[0] - first)
