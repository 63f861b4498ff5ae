"""Radau IIA of order 5: three implicit stages, stiffly accurate, for ODEs and DAEs up to index 3.

In a stage x, y and the differentiated quantities are unknown or follow; rates are those of the collocation polynomial,
with W = A^-1 and z_i = x_i - x_0:

    v_i = (1/h) sum_j W_ij z_j,   a_i = (1/h) sum_j W_ij (v_j - v_0),   q'_i = (1/h) sum_j W_ij (q_j - q_0)

Simplified Newton splits by the eigenvalues of W into one real and one complex system whose matrices are K + l D + l^2 M
(with A + l B for differentiated quantities) at l = eigenvalue/h. Entries are quadratic in l, so three evaluations of
the kernels give them for every l, and a new step size needs none. Order: 5 for ODEs and index 1; 5 and 3 for
differential and algebraic variables of index 2; 5, 3 and 2 for positions, velocities and multipliers of index 3. Error
estimate: one Newton step of the implicit formula of order 3 with the real eigenvalue, from the solution of order 5.
Source: Hairer, Wanner, Solving Ordinary Differential Equations II (1996), sec. IV.8 and VII.7; the text of the method
is this program's own.
"""

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.compiled.struct import Struct
from netsim.core.contract import ACCEPTED, FACTOR_ALPHA, JUDGED, REFUSED, RESTARTED, set_time, solve
from netsim.core.method import CoupledStages, Method, Orders
from netsim.core.newton import CONVERGED, NOT_CONVERGED
from netsim.core.problem import ALPHA, DIFFERENTIATED, ENTRIES, HISTORY, KV, KX, NK, NQ, NY, PRESCRIBED, A, V, X, Y
from netsim.core.radau.along_constraints import error_along_constraints
from netsim.core.radau.arrays import (
    COUNT,
    FACTOR_H,
    FAINT,
    FIRST_SLOPE,
    HAVE,
    LAST_ERROR,
    LAST_H,
    SHRINK,
    SOLVED,
    STAYED,
    THETA,
    C,
    prepare,
    renewed,
)
from netsim.core.radau.coupled import step_together
from netsim.core.radau.matrix import derivatives, factorise
from netsim.core.radau.stages import (
    ITERATIONS_MOST,
    newton,
    place_stage,
    stage_differentiated,
    start_stages,
    velocities,
)
from netsim.core.readings import kept_norm
from netsim.core.scales import widen_scales
from netsim.core.states import copy, follow, load

HIGH = 9
"""Above index 3 come inverse problems through motors and springs, where consistent points carry what the stages no
longer can."""
LOST, DOUBTFUL = 0.25, 1e4
"""What is left of a step whose values an exponential threw far away; no convergence is believed before it was seen
beyond a knee, where corrections are small because slopes are large."""
SLOW = 0.01
"""A slower contraction than this asks for new derivatives in the next step."""


@inner
def _finish(method, problem, trial, h):
    """The end of the step from the stages: the last stage, with its rates."""
    nk, ny, nq, g = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ], trial.g
    velocities(method, problem, h)
    stage_differentiated(method, problem, trial, h)
    place_stage(method, problem, trial, h, 2)
    copy(g, problem.sizes[X], trial.end, 0, 3 * nk)
    copy(g, problem.sizes[Y], trial.end, 3 * nk, ny)
    copy(method.q[2], 0, trial.end, 3 * nk + ny, nq)
    copy(method.rate[2], 0, trial.end, 3 * nk + ny + nq, nq)
    first = 3 * nk + ny + 2 * nq
    copy(trial.start, first, trial.end, first, trial.start.shape[0] - first)


@inner
def _error(method, problem, factor, trial, h):
    """One Newton step of x' = l (x - c) with l = g/h from the end of the step, c such that the formula has order 3."""
    nk, ny, nq, g, out = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ], trial.g, trial.out
    v, a, history, at = problem.sizes[V], problem.sizes[A], problem.sizes[HISTORY], 3 * nk + ny
    differentiated = problem.sizes[DIFFERENTIATED]
    slope, rate = method.slope, method.eigenvalues[0] / h
    dx, dv = method.error[0], method.error[1]
    g[KX], g[KV] = 1.0, rate
    for k in range(nk):
        v0 = trial.start[nk + k]
        dx[k] = v0 - (slope[0] * method.z[0, k] + slope[1] * method.z[1, k] + slope[2] * method.z[2, k]) / h
        dv[k] = (
            trial.start[2 * nk + k]
            - (slope[0] * (method.v[0, k] - v0) + slope[1] * (method.v[1, k] - v0) + slope[2] * (method.v[2, k] - v0))
            / h
        )
        g[v + k] -= dx[k]
        g[a + k] -= dv[k] + rate * dx[k]
    if nq and nk:  # differentiated quantities of velocities follow the velocities' shift
        for c in range(nq):
            out[differentiated + c] = 0.0
        run_table(method.differentiated, g, out)
        copy(out, differentiated, method.q[3], 0, nq)
    for c in range(nq):
        q0 = trial.start[at + c]
        bend = slope[0] * (method.q[0, c] - q0) + slope[1] * (method.q[1, c] - q0) + slope[2] * (method.q[2, c] - q0)
        shift = rate * (method.q[3, c] - method.q[2, c]) if nk else 0.0
        g[history + c] = method.rate[2, c] - (trial.start[at + nq + c] - bend / h) + shift
    for k in range(problem.sizes[ENTRIES]):
        out[k] = 0.0
    run_table(method.rates, g, out)
    e = method.error[2]
    solve(factor, trial, out[: e.shape[0]], e)
    widen_scales(problem, trial, trial.end, True)
    for k in range(nk):
        dv[k] = rate * e[k] + dx[k]
    norm = kept_norm(problem, trial, e, dv, e[nk:], h)
    return max(norm, error_along_constraints(method, problem, factor, trial, h))


@inner
def _filtered(method, problem, factor, trial, h):
    """The norm of (1 - h/l J)^-1 e, e the estimate: without what decays within the step.

    A state that the last step left beside what fast parts allow goes back there at once, whatever the step: no shorter
    one makes that smaller (Hairer and Wanner II, sec. IV.8, eq. 8.20, in its linear form)."""
    e, r, rate = method.error[2], method.error[1], method.eigenvalues[0] / h
    for i in range(e.shape[0]):
        r[i] = 0.0
    for j in range(e.shape[0]):
        for p in range(problem.indptr[j], problem.indptr[j + 1]):
            r[problem.indices[p]] += rate * method.powers[1, p] * e[j]
    solve(factor, trial, r, e)
    return kept_norm(problem, trial, e[:0], e[:0], e, h)


@inner
def _with_given_stages(method, problem, factor, trial, h):
    """The step whose stages netsim.core.radau.coupled found; its error by the derivatives at its end, unlike those
    at its beginning."""
    method.memory[SOLVED], method.memory[HAVE], method.memory[THETA] = 0.0, 0.0, 1.0
    _finish(method, problem, trial, h)
    derivatives(method, problem, trial, trial.end, h)
    status = factorise(method, problem, factor, trial, h)
    if status != CONVERGED:
        return NOT_CONVERGED, 0.0
    trial.g[ALPHA] = 0.0
    return CONVERGED, _error(method, problem, factor, trial, h)


@inner
def _prescribed(method, problem, trial, t, h, last):
    """Prescribed inputs and tables at the stages; the status."""
    count = method.prescribed_inputs.shape[1] - 1
    for i in range(3):
        status = set_time(problem, trial, last if i == 2 else t + C[i] * h)
        if status != CONVERGED:
            return status
        copy(trial.g, problem.sizes[PRESCRIBED], method.prescribed_inputs[i], 0, count)
        method.prescribed_inputs[i, count] = trial.g[1]
    return CONVERGED


def forget_derivatives(method: Struct) -> None:
    """The derivatives of before serve no more."""
    method.memory[HAVE] = 0.0


@inner
def step(method, problem, factor, trial, t, h, last):
    """One step; derivatives are taken anew after slow convergence only."""
    memory = method.memory
    status = _prescribed(method, problem, trial, t, h, last)
    if status != CONVERGED:
        return status, 0.0
    if memory[SOLVED] == h:
        return _with_given_stages(method, problem, factor, trial, h)
    for _ in range(2):
        load(problem, trial.g, trial.start)
        start_stages(method, problem, trial, h)
        if memory[HAVE] == 0.0:
            set_time(problem, trial, t + 1e-3 * h)
            derivatives(method, problem, trial, trial.start, h)
            memory[HAVE], memory[FACTOR_H] = 2.0, 0.0
        if memory[FACTOR_H] != h or trial.tolerances[FACTOR_ALPHA] == 0.0:
            status = factorise(method, problem, factor, trial, h)
            if status != CONVERGED:
                return status, 0.0
        status, memory[COUNT] = newton(method, problem, factor, trial, h, False)
        if status == CONVERGED:
            return CONVERGED, _judged(method, problem, factor, trial, h)
        memory[FAINT] = 1.0
        if memory[HAVE] == 2.0:  # the derivatives are this step's own
            break
        memory[HAVE] = 0.0
    if problem.sizes[NK] and memory[STAYED] == 0.0:  # only a smaller step helps
        return status, memory[SHRINK]
    return _beyond_the_knee(method, problem, factor, trial, h, status)


@inner
def _judged(method, problem, factor, trial, h):
    """The end of the step and its error."""
    _finish(method, problem, trial, h)
    error = _error(method, problem, factor, trial, h)
    again = trial.counters[REFUSED] > 0 or trial.counters[ACCEPTED] == 0
    if error > 1.0 and again and problem.sizes[NK] == 0:
        error = _filtered(method, problem, factor, trial, h)
    return error


@inner
def _beyond_the_knee(method, problem, factor, trial, h, status):
    """What `step` answers where a diode begins to conduct, or small corrections stay: Newton's method goes on from
    where it got to, with the derivatives of there."""
    memory = method.memory
    if status != NOT_CONVERGED or not (memory[THETA] < 1.0 or memory[STAYED] == 1.0):
        return status, LOST
    place_stage(method, problem, trial, h, 2)
    derivatives(method, problem, trial, trial.start, h)
    memory[FAINT] = DOUBTFUL
    if factorise(method, problem, factor, trial, h) == CONVERGED:
        status, memory[COUNT] = newton(method, problem, factor, trial, h, True)
        if status == CONVERGED:
            return CONVERGED, _judged(method, problem, factor, trial, h)
    memory[HAVE], memory[FAINT] = 0.0, 1.0
    return NOT_CONVERGED, memory[SHRINK] if memory[THETA] < 1.0 else LOST


@inner
def on_accept(method, problem, trial, h, error):
    """Keep y along the step for the next first values; step-size rule of Gustafsson with Newton's effort in the safety
    factor."""
    memory, nk = method.memory, problem.sizes[NK]
    for i in range(3):
        copy(method.z[i], nk, method.previous[i], 0, problem.sizes[NY])
    safety = 0.9 * (2 * ITERATIONS_MOST + 1) / (2 * ITERATIONS_MOST + memory[COUNT])
    small = max(error, 1e-8)
    factor = safety * small**-0.25
    if trial.counters[ACCEPTED] > 0 and memory[LAST_H] > 0.0 and trial.counters[RESTARTED] == 0:
        predicted = safety * h / memory[LAST_H] * (memory[LAST_ERROR] / (small * small)) ** 0.25
        factor = min(factor, predicted)
    stays = h < 0.9 * memory[LAST_H] and error > max(0.1, 0.5 * memory[LAST_ERROR])
    memory[LAST_ERROR], memory[LAST_H] = max(1e-2, error), h
    follow(problem, trial, h)
    memory[HAVE] = 0.0 if memory[THETA] > SLOW or stays else 1.0
    memory[FAINT] = (
        1.0 if stays else memory[FAINT]
    )  # a knee between: corrections of old derivatives are too small, and tell nothing
    factor = min(8.0, max(0.2, factor))
    return 1.0 if memory[HAVE] == 1.0 and 1.0 <= factor < 1.2 else factor


@inner
def dense_output(method, problem, trial, theta, h, state, wanted):
    """Values, differentiated quantities and their rates on the cubics through the beginning and the stages; values and
    rates behind an inconsistent time event on those of the stages alone.

    So sums of currents are zero in between as at the nodes. The slopes of the differentiated quantities are an order
    less exact, and agree with their rates at the stages only."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    first, stages = 3 * nk, trial.counters[RESTARTED] == 1
    share, rate = method.share, method.share_rate
    _shares(share, rate, theta, False)
    begin = 1.0 - share[0] - share[1] - share[2]
    beside = 0.0 if stages or trial.counters[JUDGED] == 1 else begin
    for m in range(wanted.shape[0]):
        k = wanted[m] - ny
        if k >= 0:
            at = first + ny + k
            q0 = trial.start[at]
            d0, d1, d2 = method.q[0, k] - q0, method.q[1, k] - q0, method.q[2, k] - q0
            state[at] = q0 + share[0] * d0 + share[1] * d1 + share[2] * d2
            slope = (FIRST_SLOPE[0] * d0 + FIRST_SLOPE[1] * d1 + FIRST_SLOPE[2] * d2) / h
            state[at + nq] = (rate[0] * d0 + rate[1] * d1 + rate[2] * d2) / h + beside * (trial.start[at + nq] - slope)
    if stages:
        _shares(share, rate, theta, True)
        begin = 0.0
    for m in range(wanted.shape[0]):
        k = wanted[m]
        if k < ny:
            z = method.z
            state[first + k] = (
                begin * trial.start[first + k]
                + share[0] * z[0, nk + k]
                + share[1] * z[1, nk + k]
                + share[2] * z[2, nk + k]
            )


@inner
def _shares(share, rate, s, stages):
    """The stages' Lagrange polynomials at s and their rates; with the beginning as a fourth node unless `stages` stand
    alone."""
    for i in range(3):
        a, b = C[(i + 1) % 3], C[(i + 2) % 3]
        size = (C[i] - a) * (C[i] - b)
        value, slope = (s - a) * (s - b) / size, (2.0 * s - a - b) / size
        share[i], rate[i] = (value, slope) if stages else (value * s / C[i], (slope * s + value) / C[i])


def _size_that_failed(method: Struct, size: float) -> float:
    return float(method.memory[FACTOR_H]) or 2.0 * size


METHOD = Method(
    "radau", Orders(5, 3, 2), prepare, step, on_accept, dense_output, estimate=4, work=(0.0, *C.tolist()),
    highest_index=HIGH, leaves=0.7,
    needs_rates=False, single=False, renewed=renewed, forget=forget_derivatives,
    together=CoupledStages(step_together, _size_that_failed),
)  # fmt: skip
