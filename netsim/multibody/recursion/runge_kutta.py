"""Explicit Runge-Kutta methods for trees: mixed dynamics in every stage, steps chosen by an error test.

q' are the rates of the coordinates (of a quaternion: q o (w, 0)/2), v' the accelerations of the articulated recursion;
what is prescribed is set, not integrated. Steps end at time events of what drives the tree, samples are taken inside
them by the methods' own polynomials. Undamped vibrations of flexible links are what such methods are for: order 8 needs
a tenth of the steps of an implicit one. Source: E. Hairer, S. Norsett, G. Wanner, Solving Ordinary Differential
Equations I, 1993, sec. II.5, II.6; coefficients in netsim.core.methods.tableaux.
"""

import time as clock
from typing import Any, NamedTuple

import numpy as np

from netsim.core.compiled.function import compiled, inlined, inner
from netsim.core.methods.tableaux import Tableau, dormand_prince_5, dormand_prince_8, verner_6
from netsim.multibody.recursion.given import GivenMotion, set_given
from netsim.multibody.recursion.pushes import add_push_wrenches
from netsim.multibody.recursion.sources import POSITION
from netsim.multibody.tree import model
from netsim.multibody.tree.algorithms.forward import Articulated, make_articulated, mixed_into
from netsim.multibody.tree.algorithms.inverse import friction
from netsim.multibody.tree.algorithms.superelements import condensed_into
from netsim.multibody.tree.kinematics import Motion, make_motion

Array = np.ndarray
TABLEAUX = {"rk45": dormand_prince_5, "rk6": verner_6, "rk8": dormand_prince_8}
FINISHED, TOO_SMALL, SINGULAR = range(3)


class Stages(NamedTuple):
    """A tableau's nodes (s), weights (s, s), errors (1 or 2, end + 1), dense (s, degree); rates (s, nq + nv) of the
    stages, the state of one."""

    nodes: Array
    weights: Array
    errors: Array
    dense: Array
    rates: Array
    trial: Array


class Workspace(NamedTuple):
    """What a rate is computed in: known (nv), wrenches (n, 6), frames in the ground's axes (n, 12), Motion,
    Articulated; accelerations and forces (nv)."""

    known: Array
    wrenches: Array
    world: Array
    motion: Motion
    articulated: Articulated
    a: Array
    tau: Array


def runge_kutta(
    flat: Any,
    given: GivenMotion,
    problem: Any,
    g: Array,
    q: Array,
    v: Array,
    time_events: Array,
    times: Array,
    method: str,
    rtol: float,
    nominal: Array,
    longest: float,
) -> Any:
    """Integrate from q and v at times[0] to times[-1] in steps of at most `longest`, ending steps at every one of
    `time_events`.

    Absolute tolerances are rtol `nominal` (nq + nv). Samples q (n, nq), v (n, nv) at the times, how it ended, how many
    of them there are, at what time it did, steps, rejected steps; and the CPU time of the compiled loop.
    """
    tableau: Tableau = TABLEAUX[method]()
    size, dense = len(q) + len(v), np.ascontiguousarray(tableau.dense)
    stages = Stages(
        tableau.nodes, tableau.weights, tableau.errors, dense, np.zeros((tableau.stages, size)), np.zeros(size)
    )
    samples = np.zeros((len(times), len(q))), np.zeros((len(times), len(v)))
    stops = np.unique(np.append(time_events[(time_events > times[0]) & (time_events < times[-1])], times[-1]))
    arguments = (
        flat,
        given,
        problem,
        g,
        np.concatenate([q, v]),
        len(q),
        stops,
        times,
        rtol,
        nominal,
        longest,
        tableau.order,
        stages,
        *samples,
    )
    code = _integrate.ready(*arguments)
    began = clock.thread_time()
    found = code(*arguments)
    return *samples, *found, clock.thread_time() - began


@compiled
def rates_into(t, q, v, dq):
    """dq = q' of velocities v."""
    for i in range(1, len(t.node)):
        kind, at, k = t.node[i, model.KIND], t.node[i, model.JOINT_Q], t.node[i, model.JOINT_V]
        if kind == model.POINT:
            continue
        if kind == model.SPHERICAL:
            _turning(q, at, v, k, dq)
        elif kind == model.FREE:
            _turning(q, at + 3, v, k + 3, dq)
            x, y, z, w = q[at + 3], q[at + 4], q[at + 5], q[at + 6]
            s0, s1, s2 = y * v[k + 2] - z * v[k + 1], z * v[k] - x * v[k + 2], x * v[k + 1] - y * v[k]
            dq[at] = v[k] + 2 * (w * s0 + y * s2 - z * s1)
            dq[at + 1] = v[k + 1] + 2 * (w * s1 + z * s0 - x * s2)
            dq[at + 2] = v[k + 2] + 2 * (w * s2 + x * s1 - y * s0)
        elif t.node[i, model.DOFS] == 1:
            dq[at] = v[k]
        for e in range(t.node[i, model.ELASTIC]):
            dq[t.node[i, model.ELASTIC_Q] + e] = v[t.node[i, model.ELASTIC_V] + e]


@compiled
def subtract_resistance(t, v, motion, lost, known):
    """known -= what friction of joints and damping of beams take at velocities v, where forces are known; `lost` is
    room."""
    for k in range(len(v)):
        lost[k] = 0.0
    friction(t, v, 1.0, lost)
    for i in range(1, len(t.node)):
        at, f = t.node[i, model.ELASTIC_V], t.node[i, model.FLEXIBLE]
        for k in range(t.node[i, model.ELASTIC] if t.node[i, model.KIND] != model.POINT else 0):
            for j in range(t.node[i, model.ELASTIC]):
                lost[at + k] += t.beams.strain[f, 1, k, j] * v[at + j]
    for k in range(len(v)):
        if not motion[k]:
            known[k] -= lost[k]


@compiled
def _turning(q, at, v, k, dq):
    x, y, z, w = q[at], q[at + 1], q[at + 2], q[at + 3]
    a, b, c = v[k] / 2, v[k + 1] / 2, v[k + 2] / 2
    dq[at] = w * a + y * c - z * b
    dq[at + 1] = w * b + z * a - x * c
    dq[at + 2] = w * c + x * b - y * a
    dq[at + 3] = -x * a - y * b - z * c


@compiled
def normalise(t, q):
    """Quaternions to unit length."""
    for i in range(1, len(t.node)):
        kind = t.node[i, model.KIND]
        if kind in (model.SPHERICAL, model.FREE):
            at = t.node[i, model.JOINT_Q] + (3 if kind == model.FREE else 0)
            size = np.sqrt(q[at] ** 2 + q[at + 1] ** 2 + q[at + 2] ** 2 + q[at + 3] ** 2)
            for c in range(4):
                q[at + c] /= size


@compiled(forceinline=True)
def _rate(t, given, problem, g, time, y, nq, room, dy):
    """dy = y' at a time; prescribed coordinates are set in y, and do not change. False where a coordinate has no
    inertia."""
    q, v = y[:nq], y[nq:]
    set_given(given, problem, g, time, q, v, room.known)
    if len(given.pushes.nodes) > 0:
        add_push_wrenches(t, q, given.pushes, g, room.articulated.zero, room.motion, room.world, room.wrenches)
    moving = v
    if given.truncated:
        subtract_resistance(t, v, given.motion, room.tau, room.known)
        moving = room.articulated.zero
    if given.cut.most == 1:
        good = mixed_into(
            t, q, moving, room.known, given.motion, room.wrenches, room.motion, room.articulated, room.a, room.tau
        )
    else:
        good = condensed_into(
            t,
            q,
            moving,
            room.known,
            given.motion,
            room.wrenches,
            given.cut,
            room.motion,
            room.articulated,
            room.a,
            room.tau,
        )
    if not good:
        return False
    rates_into(t, q, v, dy)
    for k in range(len(v)):
        dy[nq + k] = 0.0 if given.motion[k] else room.a[k]
    for s in range(len(given.coordinate)):
        if given.what[s] == POSITION:
            dy[given.places[given.coordinate[s]]] = 0.0
    return True


@compiled
def _take(t, given, problem, g, now, step, before, y, nq, room, stages, first, last):
    """Stages `first` .. `last` of a step from y, the last one's state in stages.trial; false where a coordinate has no
    inertia. No stage looks beyond `before`."""
    for s in range(first, last + 1):
        _advance(y, step, stages.weights[s], stages.rates, s, stages.trial)
        if not _rate(
            t, given, problem, g, min(now + stages.nodes[s] * step, before), stages.trial, nq, room, stages.rates[s]
        ):
            return False
    return True


@inlined
def _advance(y, step, weights, rates, count, result):
    """result = y + step sum of weighted rates"""
    for i in range(len(y)):
        result[i] = y[i]
    for j in range(count):
        factor = step * weights[j]
        if factor != 0.0:
            for i in range(len(y)):
                result[i] += factor * rates[j, i]


@inner
def _error(y, step, stages, rtol, nominal):
    """The scaled error of a step, |e|; of two such errors (of order 8) |e5|^2/sqrt(|e5|^2 + |e3|^2/100)."""
    first = second = 0.0
    for i in range(len(y)):
        scale = rtol * (nominal[i] + max(abs(y[i]), abs(stages.trial[i])))
        one = two = 0.0
        for j in range(stages.errors.shape[1]):
            one += stages.errors[0, j] * stages.rates[j, i]
            two += stages.errors[-1, j] * stages.rates[j, i]
        first += (one / scale) ** 2
        second += (two / scale) ** 2
    if len(stages.errors) == 1:
        return step * np.sqrt(first / len(y))
    return 0.0 if first == 0.0 else step * first / np.sqrt((first + 0.01 * second) * len(y))


@inner
def _proposed(good, error, order):
    """The factor for the next step, and whether this one is accepted."""
    if not (good and np.isfinite(error)):
        return 0.25, False
    factor = 5.0 if error == 0.0 else min(5.0, max(0.2, 0.9 * error ** (-1.0 / order)))
    return (factor, True) if error <= 1.0 else (min(factor, 1.0), False)


@inner
def _inside(stages, theta, step, y, result):
    """The state at a part theta of a step from y, all stages being there."""
    for i in range(len(y)):
        result[i] = y[i]
    for j in range(len(stages.dense)):
        weight = 0.0
        for m in range(stages.dense.shape[1] - 1, -1, -1):
            weight = weight * theta + stages.dense[j, m]
        for i in range(len(y)):
            result[i] += step * theta * weight * stages.rates[j, i]


@compiled
def _integrate(t, given, problem, g, y, nq, stops, times, rtol, nominal, longest, order, stages, qs, vs):
    nv, end, all_stages = len(y) - nq, stages.errors.shape[1] - 1, len(stages.nodes)
    n = len(t.node)
    room = Workspace(
        np.zeros(nv),
        np.zeros((n, 6)),
        np.zeros((n, 12)),
        make_motion(t),
        make_articulated(t),
        np.zeros(nv),
        np.zeros(nv),
    )
    sample = np.zeros(len(y))
    steps = rejected = row = 0
    now, h = times[0], min(longest, 1e-3 * (times[-1] - times[0]))
    set_given(given, problem, g, now, y[:nq], y[nq:], room.known)
    qs[0], vs[0], row = y[:nq], y[nq:], 1
    for stop in stops:
        before = stop * (1 - 2.3e-16)  # what jumps at the stop has not jumped yet
        if not _take(t, given, problem, g, now, 0.0, np.inf, y, nq, room, stages, 0, 0):
            return SINGULAR, row, now, steps, rejected
        while now < stop:
            if h < 1e-14 * times[-1]:
                return TOO_SMALL, row, now, steps, rejected
            last = now + 1.0001 * h >= stop
            step, then = (stop - now, stop) if last else (h, now + h)
            good = _take(t, given, problem, g, now, step, before, y, nq, room, stages, 1, end)
            factor, accepted = _proposed(good, _error(y, step, stages, rtol, nominal), order)
            if not accepted:
                h, rejected = step * factor, rejected + 1
                continue
            # a step cut short by a stop says nothing against longer ones
            if not last or factor < 1.0 or step * factor > h:
                h = min(longest, step * factor)
            sample[:] = stages.trial
            if row < len(times) and times[row] < then:
                _take(t, given, problem, g, now, step, before, y, nq, room, stages, end + 1, all_stages - 1)
            while row < len(times) and times[row] <= then:
                if times[row] < then:
                    _inside(stages, (times[row] - now) / step, step, y, stages.trial)
                else:
                    stages.trial[:] = sample
                set_given(given, problem, g, times[row], stages.trial[:nq], stages.trial[nq:], room.known)
                normalise(t, stages.trial)
                qs[row], vs[row] = stages.trial[:nq], stages.trial[nq:]
                row += 1
            now, steps = then, steps + 1
            y[:] = sample
            normalise(t, y)
            stages.rates[0] = stages.rates[end]
    return FINISHED, row, now, steps, rejected
