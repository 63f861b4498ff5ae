"""The time loop, compiled: steps in blocks, samples on the way. Python sees blocks only.

A run's variable part is one flat vector, state = [x | v | a | y | q | q' | quaternions of rotating nodes], so that a
run can be copied, resumed and repeated; neither the system nor the method holds any of it. Times come from integers:
t_i = i h, the last one is `stop` itself.
"""

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import compiled
from netsim.core.consistent import make_consistent
from netsim.core.loop.turnover import balanced, flowed, met
from netsim.core.methods import euler, generalized_alpha
from netsim.core.minimum_norm import least_reactions
from netsim.core.newton import CONVERGED, TOLERANCE, UNRECOVERED, newton, set_time
from netsim.core.problem import ALPHA, DIFFERENTIATED, HISTORY, KINEMATIC_ORDERS, NK, NQ, NY, VALUE_ORDERS, A, V, X, Y
from netsim.core.rotation import angular_acceleration
from netsim.core.states import DISSIPATED, KINETIC, STORED, SUPPLIED, copy, energies, keep, move_charts, place, sample

ITERATIONS, FACTORISATIONS, FRESH = range(3)
"""Positions in the integer counters of a run."""

EULER = euler.NUMBER
"""First entry of a method's array; its coefficients follow."""


@compiled
def accept(problem, g, out, state):
    """Copy what Newton found (in g and out) into the state."""
    keep(problem, g, out, state)
    move_charts(problem, state)


@compiled
def step(problem, factor, method, counters, g, out, state, extra, history, u, work, t, h):
    """One step of size h to t: state and `extra` (what the method remembers) move only where Newton converges."""
    status = set_time(problem, g, t)
    if status != CONVERGED:
        return status
    if method[0] == EULER:
        euler.begin(problem, g, state, history, h)
        euler.guess(problem, state, u)
    else:
        generalized_alpha.begin(problem, method[1:], g, state, extra, history, h)
        generalized_alpha.guess(problem, state, u)
    status, iterations, factorisations, fresh = newton(
        problem, factor, counters[FRESH] == 1, g, history, out, u, work, TOLERANCE
    )
    counters[ITERATIONS] += iterations
    counters[FACTORISATIONS] += factorisations
    counters[FRESH] = 1 if fresh else 0
    if status == CONVERGED:
        _differentiated_at(problem, g, out)
        if method[0] != EULER:
            _remember(problem, method[1:], g, out, state, extra)
        accept(problem, g, out, state)
        place(problem, g, state)
    return status


@compiled
def _remember(problem, coefficients, g, out, state, extra):
    """Algorithmic accelerations and rates of generalized-alpha, rotations' ones in the chart that the step will end
    in."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    x, v, a, history, differentiated = (
        problem.sizes[X],
        problem.sizes[V],
        problem.sizes[A],
        problem.sizes[HISTORY],
        problem.sizes[DIFFERENTIATED],
    )
    for i in range(nk):
        extra[i] = generalized_alpha.averaged(coefficients, state[2 * nk + i], g[a + i], extra[i])
    first = 3 * nk + ny + nq
    for k in range(nq):
        rate = g[ALPHA] * out[differentiated + k] + g[history + k]
        extra[nk + k] = generalized_alpha.averaged(coefficients, state[first + k], rate, extra[nk + k])
    for f in range(problem.rotations.shape[0]):
        i = problem.rotations[f]
        copy(angular_acceleration(g[x + i : x + i + 3], g[v + i : v + i + 3], extra[i : i + 3]), 0, extra, i, 3)


@compiled
def recovered(problem, plan, g, state, point, spare):
    """The consistent point near a state as it stands in g: in `spare` as a state, in `point` as g would hold it. False
    where it is not found."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    x, y, history = problem.sizes[X], problem.sizes[Y], problem.sizes[HISTORY]
    differentiated, at = history + nq + (KINEMATIC_ORDERS - 3) * nk + (VALUE_ORDERS - 1) * ny, 3 * nk + ny
    copy(g, 0, point, 0, g.shape[0])
    copy(state, at, point, differentiated, nq)
    if not make_consistent(plan, point):
        return False
    copy(point, x, spare, 0, 3 * nk)
    copy(point, y, spare, 3 * nk, ny)
    copy(point, differentiated, spare, at, nq)
    copy(point, history, spare, at + nq, nq)
    copy(state, at + 2 * nq, spare, at + 2 * nq, spare.shape[0] - at - 2 * nq)
    move_charts(problem, spare)
    place(problem, point, spare)
    return True


@compiled
def settle(account, row, power, before, span):
    """The energy account of a recovered sample: stored energy, work since the sample before by the trapezoid."""
    account[row, 0], account[row, 3] = power[STORED], power[KINETIC]
    account[row, 1] = account[row - 1, 1] + 0.5 * span * (before[SUPPLIED] + power[SUPPLIED])
    account[row, 2] = account[row - 1, 2] + 0.5 * span * (before[DISSIPATED] + power[DISSIPATED])
    copy(power, 0, before, 0, 4)


@compiled
def book(account, turnover, power, before, size, old):
    """Work of a step by its rule (`old` = 0: rectangle, 1/2: trapezoid) into the totals behind the last row of the
    account."""
    supplied = size * (old * before[SUPPLIED] + (1.0 - old) * power[SUPPLIED])
    dissipated = size * (old * before[DISSIPATED] + (1.0 - old) * power[DISSIPATED])
    account[-1, 1] += supplied
    account[-1, 2] += dissipated
    copy(power, 0, before, 0, 4)
    met(turnover, power)
    flowed(turnover, supplied, dissipated)
    balanced(turnover, power[STORED], account[-1, 1], account[-1, 2])


@compiled
def add_sums(summed, sums, g, size, show):
    """The integrals that are summed after a step, by the trapezoid of their rates in g; into g where they are shown.
    summed (3, n): places of integrals and rates in g; sums (2, n): integrals and their rates at the step before."""
    for j in range(summed.shape[1]):
        rate = g[summed[1, j]]
        sums[0, j] += 0.5 * size * (sums[1, j] + rate)
        sums[1, j] = rate
        if show:
            g[summed[0, j]] = sums[0, j]


@compiled
def write(account, row, power):
    """The energy account of a sample."""
    account[row, 0], account[row, 3] = power[STORED], power[KINETIC]
    account[row, 1] = account[-1, 1]
    account[row, 2] = account[-1, 2]


@compiled
def advance(
    problem,
    factor,
    method,
    counters,
    g,
    out,
    state,
    extra,
    history,
    u,
    work,
    times,
    h,
    first,
    last,
    every,
    readings,
    selection,
    minimum_norm,
    found,
    values,
    account,
    power,
    recovering,
    plan,
    point,
    spare,
    before,
    turnover,
    summed,
    sums,
):
    """Steps first+1 .. last. Samples go to values[i // every] and account (stored, supplied, dissipated, kinetic);
    returns (status, last good step).

    With `recovering` samples show the consistent point near the step, found here (1) or by the caller (2). UNRECOVERED:
    it is the caller's turn, step i stands but is in no account and has no sample yet.
    """
    steps = times.shape[0] - 1
    old = 0.0 if method[0] == EULER and recovering == 0 else 0.5  # work by the rule that goes with the method
    for i in range(first + 1, last + 1):
        size = times[i] - times[i - 1] if i == steps else h
        if size != h:
            counters[FRESH] = 0
        status = step(problem, factor, method, counters, g, out, state, extra, history, u, work, times[i], size)
        if size != h:
            counters[FRESH] = 0
        if status != CONVERGED:
            return status, i - 1
        sampled, row = i % every == 0 or i == steps, (i + every - 1) // every
        if recovering > 0 and sampled:
            if recovering > 1 or not recovered(problem, plan, g, state, point, spare):
                return UNRECOVERED, i
            energies(problem, point, power)
            book(account, turnover, power, before, size, old)
            write(account, row, power)
            add_sums(summed, sums, point, size, True)
            least_reactions(minimum_norm, point)
            sample(readings, selection, point, found, values[row])
            continue
        energies(problem, g, power)
        book(account, turnover, power, before, size, old)
        add_sums(summed, sums, g, size, False)
        if sampled:
            write(account, row, power)
            least_reactions(minimum_norm, g)
            sample(readings, selection, g, found, values[row])
    return CONVERGED, last


@compiled
def _differentiated_at(problem, g, out):
    """Differentiated quantities at the converged unknowns (Newton's last residual was one correction earlier)."""
    if problem.sizes[NQ]:
        for i in range(problem.sizes[DIFFERENTIATED] + problem.sizes[NQ]):
            out[i] = 0.0
        run_table(problem.residual, g, out)


def step_count(stop: float, step: float) -> int:
    """The number of steps to `stop`."""
    count = round(stop / step)
    return int(np.ceil(stop / step - 1e-9)) if abs(count * step - stop) > 1e-9 * stop else count


def instants(stop: float, step: float, first: int = 0, number: int | None = None) -> np.ndarray:
    """0, h, 2h, ... stop: a last shorter step where stop is no multiple of h. Of these the ones from `first` on, so
    many."""
    count = step_count(stop, step)
    last = count if number is None else first + number - 1
    times = np.arange(first, last + 1) * step
    if last == count:
        times[-1] = stop
    return times
