"""Explicit Runge-Kutta method of order 8 for trees: mixed dynamics in every stage, steps chosen by an error test.

q' are the rates of the coordinates (of a quaternion: q o (w, 0)/2), v' the accelerations of the articulated recursion; what is prescribed is
set, not integrated. Steps end at every sample and at every corner of what drives the tree. Undamped vibrations of flexible links are what such a
method is for: it needs a tenth of the steps of an implicit one. Source: E. Hairer, S. Norsett, G. Wanner, Solving Ordinary Differential Equations
I, 1993, sec. II.5 (DOP853; coefficients of scipy.integrate.DOP853).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from netsim.integrators.tableaux import dormand_prince_8
from netsim.kernels.call import compiled
from netsim.recursion.sources import POSITION, SPEED
from netsim.solvers.newton import set_time
from netsim.tree.forward import make_articulated, mixed_into
from netsim.tree.inverse import friction
from netsim.tree.kinematics import make_motion
from netsim.tree.model import DOFS, ELASTIC, ELASTIC_Q, ELASTIC_V, FLEXIBLE, FREE, JOINT_Q, JOINT_V, KIND, POINT, SPHERICAL
from netsim.tree.superelements import Cut, condensed_into

Array = np.ndarray
STAGES = 12
FINISHED, TOO_SMALL, SINGULAR = range(3)


class Given(NamedTuple):
    """The tree's superelements, and what is known of coordinates: motion (nv) marks, place in q (nv); for each source its coordinate, its drive's
    slots (value, rate, second rate),
    its sign, and what that is of the coordinate. Truncated: the equations M v' + dV/dq = tau."""

    motion: Array
    places: Array
    coordinate: Array
    slots: Array
    sign: Array
    what: Array
    cut: Cut
    truncated: bool


def coefficients() -> tuple[Array, ...]:
    """A (12, 12), B and C (12), the error weights of orders 5 and 3 (13)."""
    known = dormand_prince_8()
    weights, end = known.weights, known.end
    return tuple(np.ascontiguousarray(x) for x in (weights[:end, :end], weights[end, :end], known.nodes[:end], *known.errors))


def runge_kutta(flat: Any, given: Given, problem: Any, g: Array, q: Array, v: Array, times: Array, keep: Array, rtol: float, nominal: Array) -> Any:
    """Integrate from q and v at times[0], ending steps at every one of `times`; samples at those that are in `keep` (marks).

    Absolute tolerances are rtol `nominal` (nq + nv). Samples q (n, nq), v, a, tau (n, nv), how it ended, at what time, and steps, rejected steps.
    """
    count = int(keep.sum())
    samples = [np.zeros((count, len(q))), *(np.zeros((count, len(v))) for _ in range(3))]
    found = _integrate(flat, given, problem, g, np.concatenate([q, v]), len(q), times, keep, rtol, nominal, coefficients(), *samples)
    return *samples, *found


@compiled
def set_given(given, problem, g, t, q, v, known):  # type: ignore[no-untyped-def]
    """Prescribed motions into q, v and known accelerations; forces into known."""
    set_time(problem, g, t)
    for k in range(len(known)):
        known[k] = 0.0
    for s in range(len(given.coordinate)):
        k = given.coordinate[s]
        if given.what[s] == POSITION:
            q[given.places[k]] = given.sign[s] * g[given.slots[s, 0]]
            v[k] = given.sign[s] * g[given.slots[s, 1]]
            known[k] = given.sign[s] * g[given.slots[s, 2]]
        elif given.what[s] == SPEED:
            v[k] = given.sign[s] * g[given.slots[s, 0]]
            known[k] = given.sign[s] * g[given.slots[s, 1]]
        elif not given.motion[k]:
            known[k] += given.sign[s] * g[given.slots[s, 0]]


@compiled
def rates_into(t, q, v, dq):  # type: ignore[no-untyped-def]
    """dq = q' of velocities v."""
    for i in range(1, len(t.node)):
        kind, at, k = t.node[i, KIND], t.node[i, JOINT_Q], t.node[i, JOINT_V]
        if kind == POINT:
            continue
        if kind == SPHERICAL:
            _turning(q, at, v, k, dq)
        elif kind == FREE:
            _turning(q, at + 3, v, k + 3, dq)
            x, y, z, w = q[at + 3], q[at + 4], q[at + 5], q[at + 6]
            s0, s1, s2 = y * v[k + 2] - z * v[k + 1], z * v[k] - x * v[k + 2], x * v[k + 1] - y * v[k]
            dq[at] = v[k] + 2 * (w * s0 + y * s2 - z * s1)
            dq[at + 1] = v[k + 1] + 2 * (w * s1 + z * s0 - x * s2)
            dq[at + 2] = v[k + 2] + 2 * (w * s2 + x * s1 - y * s0)
        elif t.node[i, DOFS] == 1:
            dq[at] = v[k]
        for e in range(t.node[i, ELASTIC]):
            dq[t.node[i, ELASTIC_Q] + e] = v[t.node[i, ELASTIC_V] + e]


@compiled
def resist(t, v, motion, lost, known):  # type: ignore[no-untyped-def]
    """known -= what friction of joints and damping of beams take at velocities v, where forces are known; `lost` is room."""
    for k in range(len(v)):
        lost[k] = 0.0
    friction(t, v, 1.0, lost)
    for i in range(1, len(t.node)):
        at, f = t.node[i, ELASTIC_V], t.node[i, FLEXIBLE]
        for k in range(t.node[i, ELASTIC] if t.node[i, KIND] != POINT else 0):
            for j in range(t.node[i, ELASTIC]):
                lost[at + k] += t.beams.strain[f, 1, k, j] * v[at + j]
    for k in range(len(v)):
        if not motion[k]:
            known[k] -= lost[k]


@compiled
def _turning(q, at, v, k, dq):  # type: ignore[no-untyped-def]
    x, y, z, w = q[at], q[at + 1], q[at + 2], q[at + 3]
    a, b, c = v[k] / 2, v[k + 1] / 2, v[k + 2] / 2
    dq[at] = w * a + y * c - z * b
    dq[at + 1] = w * b + z * a - x * c
    dq[at + 2] = w * c + x * b - y * a
    dq[at + 3] = -x * a - y * b - z * c


@compiled
def normalise(t, q):  # type: ignore[no-untyped-def]
    """Quaternions to unit length."""
    for i in range(1, len(t.node)):
        kind = t.node[i, KIND]
        if kind in (SPHERICAL, FREE):
            at = t.node[i, JOINT_Q] + (3 if kind == FREE else 0)
            size = np.sqrt(q[at] ** 2 + q[at + 1] ** 2 + q[at + 2] ** 2 + q[at + 3] ** 2)
            for c in range(4):
                q[at + c] /= size


@compiled
def _rate(t, given, problem, g, time, y, nq, known, wrenches, m, w, a, tau, dy):  # type: ignore[no-untyped-def]
    """dy = y' at a time; prescribed coordinates are set in y, and do not change. False where a coordinate has no inertia."""
    q, v = y[:nq], y[nq:]
    set_given(given, problem, g, time, q, v, known)
    moving = v
    if given.truncated:
        resist(t, v, given.motion, tau, known)
        moving = w.zero
    if given.cut.most == 1:
        good = mixed_into(t, q, moving, known, given.motion, wrenches, m, w, a, tau)
    else:
        good = condensed_into(t, q, moving, known, given.motion, wrenches, given.cut, m, w, a, tau)
    if not good:
        return False
    rates_into(t, q, v, dy)
    for k in range(len(v)):
        dy[nq + k] = a[k]
        if given.motion[k]:
            dy[nq + k] = 0.0
    for s in range(len(given.coordinate)):
        if given.what[s] == POSITION:
            dy[given.places[given.coordinate[s]]] = 0.0
    return True


@compiled
def _step(t, given, problem, g, now, step, before, then, y, nq, tableau, room, k, trial, end):  # type: ignore[no-untyped-def]
    """Stages of a step and its end; false where a coordinate has no inertia. No stage looks beyond `before`."""
    a_, b_, c_, _, _ = tableau
    known, wrenches, m, w, a, tau = room
    for s in range(1, STAGES):
        _combine(y, step, a_[s], k, s, trial)
        if not _rate(t, given, problem, g, min(now + c_[s] * step, before), trial, nq, known, wrenches, m, w, a, tau, k[s]):
            return False
    _combine(y, step, b_, k, STAGES, end)
    return _rate(t, given, problem, g, min(then, before), end, nq, known, wrenches, m, w, a, tau, k[STAGES])


@compiled
def _combine(y, step, weights, k, count, result):  # type: ignore[no-untyped-def]
    """result = y + step sum of weights k"""
    for i in range(len(y)):
        total = 0.0
        for j in range(count):
            total += weights[j] * k[j, i]
        result[i] = y[i] + step * total


@compiled
def _error(y, end, step, k, tableau, rtol, nominal):  # type: ignore[no-untyped-def]
    """The scaled error of a step: that of order 5, reduced where that of order 3 is larger still."""
    _, _, _, e5, e3 = tableau
    fifth = third = 0.0
    for i in range(len(y)):
        scale = rtol * (nominal[i] + max(abs(y[i]), abs(end[i])))
        five = three = 0.0
        for j in range(STAGES + 1):
            five += e5[j] * k[j, i]
            three += e3[j] * k[j, i]
        fifth += (five / scale) ** 2
        third += (three / scale) ** 2
    return 0.0 if fifth == 0.0 else step * fifth / np.sqrt((fifth + 0.01 * third) * len(y))


@compiled
def _proposed(good, error):  # type: ignore[no-untyped-def]
    """The factor for the next step, and whether this one is accepted."""
    if not (good and np.isfinite(error)):
        return 0.25, False
    factor = 5.0 if error == 0.0 else min(5.0, max(0.2, 0.9 * error**-0.125))
    return (factor, True) if error <= 1.0 else (min(factor, 1.0), False)


@compiled
def _integrate(t, given, problem, g, y, nq, times, keep, rtol, nominal, tableau, qs, vs, accelerations, taus):  # type: ignore[no-untyped-def]
    size, nv = len(y), len(y) - nq
    a, tau = np.zeros(nv), np.zeros(nv)
    room = np.zeros(nv), np.zeros((len(t.node), 6)), make_motion(t), make_articulated(t), a, tau
    k, trial, end = np.zeros((STAGES + 1, size)), np.zeros(size), np.zeros(size)
    steps = rejected = row = 0
    now, h = times[0], 1e-3 * (times[-1] - times[0])
    for stop in range(len(times)):
        before = times[stop] * (1 - 2.3e-16)  # what jumps at the stop has not jumped yet
        while now < times[stop]:
            if h < 1e-14 * times[-1]:
                return TOO_SMALL, now, row, steps, rejected
            last = now + 1.0001 * h >= times[stop]
            step, then = (times[stop] - now, times[stop]) if last else (h, now + h)
            good = _step(t, given, problem, g, now, step, before, then, y, nq, tableau, room, k, trial, end)
            factor, accepted = _proposed(good, _error(y, end, step, k, tableau, rtol, nominal))
            if not accepted:
                h, rejected = step * factor, rejected + 1
                continue
            if not last or factor < 1.0 or step * factor > h:  # a step cut short by a stop says nothing against longer ones
                h = step * factor
            now, steps = then, steps + 1
            y[:] = end
            normalise(t, y[:nq])
            k[0] = k[STAGES]
        if not _rate(t, given, problem, g, now, y, nq, room[0], room[1], room[2], room[3], a, tau, k[0]):
            return SINGULAR, now, row, steps, rejected
        if keep[stop]:
            qs[row], vs[row], accelerations[row], taus[row] = y[:nq], y[nq:], a, tau
            row += 1
    return FINISHED, now, row, steps, rejected


def given_of(motion: Array, places: Array, sources: Any, layout: Any, cut: Cut, truncated: bool = False) -> Given:
    """The arrays of what is known."""
    drives = np.array([s.drive for s in sources], np.int64)
    slots = np.stack([layout.drive(drives, level) for level in range(3)], axis=1).astype(np.int64).reshape(-1, 3)
    return Given(
        motion,
        places,
        np.array([s.coordinate for s in sources], np.int64),
        slots,
        np.array([s.sign for s in sources], float),
        np.array([s.what for s in sources], np.int64),
        cut,
        truncated,
    )
