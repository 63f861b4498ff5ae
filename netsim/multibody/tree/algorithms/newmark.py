"""Newmark's method (G22 eq. 6) on a tree: joints driven by given motions or given forces, elastic coordinates free.

    x_1 = x_0 + h v_0 + h^2 ((1/2 - beta) a_0 + beta a_1),      v_1 = v_0 + h ((1 - gamma) a_0 + gamma a_1)

beta = 0 is explicit: the mixed recursion at x_1 and v_0 + h a_0 gives a_1, nothing is iterated. It is conditionally
stable for gamma = 1/2 and, without damping, unstable at every step for gamma = 0, the member G22 calls explicit: an
oscillation grows as exp(w^2 h t/4). With beta > 0 Newton's method finds a_1 where rnea gives the forces; its matrix is
one of

    exact     dtau/da + gamma h dtau/dv + beta h^2 dtau/dq, dense, all terms
    reduced   the mass matrix, with gamma h D + beta h^2 K on elastic blocks and gamma h times friction's slope on
    joints: G22 fig. 4 as we read it mass      the mass matrix alone

The last two have the structure of a tree and are solved by the articulated recursion: no matrix is formed. Steps are
taken in the coordinates of the velocities (charts.py), so rotations need no special care.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from netsim.core.compiled.function import compiled, inner
from netsim.core.linear.elimination import solve_dense
from netsim.multibody.tree import model
from netsim.multibody.tree.algorithms.derivatives import derivatives_into, make_derivatives
from netsim.multibody.tree.algorithms.forward import accelerate, condense, mixed_into, velocities
from netsim.multibody.tree.algorithms.inverse import rnea_into
from netsim.multibody.tree.charts import move_into, turn_columns
from netsim.multibody.tree.model import Array, Tree
from netsim.multibody.tree.spatial import put, row

VARIANTS = ("explicit", "exact", "reduced", "mass")


@dataclass(frozen=True)
class Drive:
    """What is known of the coordinates: chi of G17 (24), sampled before the run.

    `motion` (nv,) marks coordinates of prescribed motion (of joints with one degree of freedom, or elastic), which
    `moves(times)` gives as positions, velocities and accelerations, (n, nv) each; `forces(times)` (n, nv) are the
    forces on the others, zero where it is None. Of the coordinates marked in `speeds` only velocities and accelerations
    are prescribed: their positions follow by the method.
    """

    motion: Array
    moves: Callable[[Array], tuple[Array, Array, Array]] | None = None
    forces: Callable[[Array], Array] | None = None
    speeds: Array | None = None


@dataclass(frozen=True)
class Trajectory:
    """Samples at every step: times (n,), q (n, nq), v, a and tau (n, nv), and what they cost.

    `finished` is false where Newton's method or the method itself diverged: the samples end there. `iterations` counts
    matrices (of an explicit run: recursions), `seconds` is the CPU time of the compiled loop.
    """

    times: Array
    q: Array = field(repr=False)
    v: Array = field(repr=False)
    a: Array = field(repr=False)
    tau: Array = field(repr=False)
    finished: bool
    iterations: int
    seconds: float


def newmark(
    tree: Tree,
    q: Array,
    v: Array,
    drive: Drive,
    stop: float,
    step: float,
    beta: float = 0.25,
    gamma: float = 0.5,
    matrix: str = "exact",
    tolerance: float = 1e-9,
) -> Trajectory:
    """Integrate from q (nq,) and v (nv,) at t = 0 to `stop` in steps of `step` [s]; see the module for beta, gamma and
    `matrix`.

    Newton's method ends when the largest change of an acceleration is below `tolerance` (1 + largest acceleration).
    Raises ValueError for constants outside 0 <= beta <= 1/2, 0 <= gamma <= 1, an unknown matrix, a step that does not
    divide the time, or a prescribed motion of a joint with several degrees of freedom.
    """
    steps = _check(stop, step, beta, gamma, matrix)
    times = np.arange(steps + 1) * step
    motion = np.asarray(drive.motion, np.bool_)
    places = _places(tree, motion)
    if drive.speeds is not None:
        places[drive.speeds] = -1
    zero = np.zeros((steps + 1, tree.nv))
    moves = [np.ascontiguousarray(m, float) for m in drive.moves(times)] if drive.moves and motion.any() else [zero] * 3
    forces = np.ascontiguousarray(drive.forces(times), float) if drive.forces else zero
    variant = 0 if beta == 0 else VARIANTS.index(matrix)
    results = (
        np.empty((steps + 1, tree.nq)),
        np.empty((steps + 1, tree.nv)),
        np.empty((steps + 1, tree.nv)),
        np.empty((steps + 1, tree.nv)),
    )
    results[0][0], results[1][0] = q, v
    arguments = (tree.flat, motion, places, *moves, forces, step, beta, gamma, variant, tolerance, *results)
    code = _run.ready(*arguments)
    began = time.thread_time()
    done, iterations = code(*arguments)
    seconds = time.thread_time() - began
    qs, vs, accelerations, taus = (r[:done] for r in results)
    return Trajectory(times[:done], qs, vs, accelerations, taus, done == steps + 1, iterations, seconds)


def _check(stop: float, step: float, beta: float, gamma: float, matrix: str) -> int:
    if not (0 <= beta <= 0.5 and 0 <= gamma <= 1):
        raise ValueError(f"Newmark's constants are 0 <= beta <= 1/2 and 0 <= gamma <= 1, not {beta} and {gamma}")
    if matrix not in VARIANTS[1:]:
        raise ValueError(f"no iteration matrix called '{matrix}': there are {', '.join(VARIANTS[1:])}")
    steps = round(stop / step) if step > 0 else 0
    if steps < 1 or abs(steps * step - stop) > 1e-9 * stop:
        raise ValueError(f"the step {step} does not divide the time {stop}")
    return steps


def _places(tree: Tree, motion: Array) -> Array:
    """The place in q of each coordinate whose motion is prescribed."""
    places = model.places_in_q(tree)
    if (places[motion] < 0).any():
        raise ValueError("only joints with one degree of freedom can have a prescribed motion")
    return places


@compiled
def _run(t, motion, places, pq, pv, pa, forces, h, beta, gamma, variant, tolerance, qs, vs, accelerations, taus):
    """Fill the samples; how many, and the number of iterations."""
    nv = len(t.coordinate)
    room = make_derivatives(t), np.zeros((3, nv, nv))
    m, w = room[0].motion, room[0].articulated
    wrenches, step = np.zeros((len(t.node), 6)), np.zeros(nv)
    known, residual = np.zeros(nv), np.zeros(nv)
    q, v, a, tau = qs[0].copy(), vs[0].copy(), np.zeros(nv), np.zeros(nv)
    _prescribe(0, motion, places, pq, pv, pa, q, v, a)
    qs[0], vs[0] = q, v
    _known(0, motion, pa, forces, known)
    if not mixed_into(t, q, v, known, motion, wrenches, m, w, a, tau):
        return 0, 0
    accelerations[0], taus[0] = a, tau
    total = 0
    for n in range(1, len(qs)):
        _known(n, motion, pa, forces, known)
        before = qs[n - 1], vs[n - 1], accelerations[n - 1]
        used = 1
        if variant == 0:
            _advance(t, before, before[2], h, beta, 1.0, step, q, v)
            _prescribe(n, motion, places, pq, pv, pa, q, v, a)
            good = mixed_into(t, q, v, known, motion, wrenches, m, w, a, tau)
        else:
            given = motion, places, pq, pv, pa
            good, used = _iterate(
                t,
                n,
                before,
                given,
                known,
                wrenches,
                (h, beta, gamma),
                variant,
                tolerance,
                room,
                q,
                v,
                a,
                step,
                residual,
                tau,
            )
        total += used
        _advance(t, before, a, h, beta, gamma, step, q, v)
        _prescribe(n, motion, places, pq, pv, pa, q, v, a)
        if good and variant != 0:
            rnea_into(t, q, v, a, wrenches, m, tau)
        if not (good and np.isfinite(np.sum(a))):
            return n, total
        qs[n], vs[n], accelerations[n], taus[n] = q, v, a, tau
    return len(qs), total


@compiled
def _iterate(t, n, before, given, known, wrenches, constants, variant, tolerance, room, q, v, a, step, residual, tau):
    """Newton's method for a at the end of step n: whether it converged, and in how many iterations."""
    motion, places, pq, pv, pa = given
    h, beta, gamma = constants
    for used in range(1, _MOST + 1):
        _advance(t, before, a, h, beta, gamma, step, q, v)
        _prescribe(n, motion, places, pq, pv, pa, q, v, a)
        if not _correct(t, q, v, a, known, motion, wrenches, h, beta, gamma, variant, step, room, residual, tau):
            return False, used
        change, size = 0.0, 0.0
        for k in range(len(a)):
            change, size = max(change, abs(residual[k])), max(size, abs(a[k]))
            a[k] -= residual[k]
        if not np.isfinite(change):
            return False, used
        if change <= tolerance * (1 + size):
            return True, used
    return False, _MOST


_MOST = 60
"""Iterations in a step, after which it counts as diverged."""


@inner
def _advance(t, before, a_1, h, beta, gamma, step, q, v):
    """G22 (6): q and v at the end of the step from those before, and the step itself."""
    q_0, v_0, a_0 = before
    for k in range(len(v)):
        step[k] = h * v_0[k] + h * h * ((0.5 - beta) * a_0[k] + beta * a_1[k])
        v[k] = v_0[k] + h * ((1 - gamma) * a_0[k] + gamma * a_1[k])
    for k in range(len(q)):
        q[k] = q_0[k]
    move_into(t, step, q)


@inner
def _prescribe(n, motion, places, pq, pv, pa, q, v, a):
    for k in range(len(v)):
        if motion[k]:
            v[k], a[k] = pv[n, k], pa[n, k]
            if places[k] >= 0:
                q[places[k]] = pq[n, k]


@inner
def _known(n, motion, pa, forces, known):
    for k in range(len(known)):
        known[k] = pa[n, k] if motion[k] else forces[n, k]


@compiled
def _correct(t, q, v, a, known, motion, wrenches, h, beta, gamma, variant, step, room, residual, tau):
    """residual = the change of a by one Newton iteration; false where its matrix is singular."""
    m, w = room[0].motion, room[0].articulated
    if variant == 1:
        return _exact_change(t, q, v, a, known, motion, wrenches, h, beta, gamma, step, room, residual, tau)
    rnea_into(t, q, v, a, wrenches, m, tau)
    for k in range(len(v)):
        residual[k] = 0.0 if motion[k] else tau[k] - known[k]
    rate, stiff = (gamma * h, beta * h * h) if variant == 2 else (0.0, 0.0)
    return solve_articulated(t, q, v, motion, rate, stiff, wrenches, m, w, residual)


@compiled
def _exact_change(t, q, v, a, known, motion, wrenches, h, beta, gamma, step, room, residual, tau):
    nv, dq, dv, matrix = len(v), room[1][0], room[1][1], room[1][2]
    derivatives_into(t, q, v, a, wrenches, room[0], tau, dq, dv, matrix)
    turn_columns(t, step, dq)
    free = np.empty(nv, np.int64)
    count = 0
    for k in range(nv):
        residual[k] = 0.0
        if not motion[k]:
            free[count] = k
            count += 1
    if count == 0:
        return True
    small, right = np.empty((count, count)), np.empty((count, 1))
    for r in range(count):
        right[r, 0] = tau[free[r]] - known[free[r]]
        for c in range(count):
            i, j = free[r], free[c]
            small[r, c] = matrix[i, j] + gamma * h * dv[i, j] + beta * h * h * dq[i, j]
    if not np.isfinite(np.sum(small)):
        return False
    if not solve_dense(small, right):
        return False
    for r in range(count):
        residual[free[r]] = right[r, 0]
    return True


@inner
def solve_articulated(t, q, v, motion, rate, stiff, wrenches, m, w, x):
    """x <- (M + rate D + stiff K)^-1 x over the coordinates without prescribed motion, zero on the others: by the
    articulated recursion, O(n).

    D and K are the elastic blocks' damping and stiffness; D has the slopes of friction on joints.
    """
    velocities(t, q, v, wrenches, m, w)
    w.bias[:] = 0.0
    w.drift[:] = 0.0
    w.force[:] = 0.0
    for k in range(len(x)):
        share = np.tanh(v[k] / t.coordinate[k, model.WIDTH])
        w.extra[k] = rate * (
            t.coordinate[k, model.VISCOUS]
            + t.coordinate[k, model.COULOMB] * (1 - share * share) / t.coordinate[k, model.WIDTH]
        )
    for i in range(1, len(t.node)):
        if t.node[i, model.KIND] != model.POINT:
            f, at = t.node[i, model.FLEXIBLE], t.node[i, model.ELASTIC_V]
            for k in range(t.node[i, model.ELASTIC]):
                for j in range(t.node[i, model.ELASTIC]):
                    w.block[at + k, j] += rate * t.beams.strain[f, 1, k, j] + stiff * t.beams.strain[f, 0, k, j]
    ground = row(m.rate, 0)
    put(m.rate, 0, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    solved = condense(t, q, x, motion, w.zero, m, w)
    if solved:
        accelerate(t, q, x, motion, m, w, w.solution, w.offset)
        for k in range(len(x)):
            x[k] = w.solution[k]
    put(m.rate, 0, ground)
    w.extra[:] = 0.0
    return solved
