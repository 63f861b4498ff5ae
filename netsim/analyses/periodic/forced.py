"""What a small sinusoid at an input does to a periodic state: the response of a network whose linearisation repeats
after a period T (conversion, or sidebands, of a linear periodically time-varying system).

With an input w = e^(j s t) changes along the orbit obey the variational equations, forced by w. Those of the states
over a period are d(T) = M d(0) + f, and small signals have come to rest where d(T) = e^(j s T) d(0). In coordinates c
of the basis B of the changes that constraints allow, d(0) = p + B c with a particular p that meets the input at t = 0:

    (M - e^(j s T)) c = B' (e^(j s T) p - f).

Then d(t) e^(-j s t) repeats, and a signal y answers at s + 2 pi k/T with its Fourier component

    H_k = 1/T integral_0^T dy e^(-j (s + 2 pi k/T) t) dt + 1/T sum_e dt_e (y- - y+) e^(-j (s + 2 pi k/T) t_e):

an event that moves by dt_e moves what jumps there from y- to y+. (L. A. Zadeh, Frequency analysis of variable networks,
Proc. IRE 38, 1950; M. Okumura, T. Sugawara, H. Tanimoto, An efficient small signal frequency analysis method of
nonlinear circuits with two frequency excitations, IEEE Trans. CAD 9, 1990.)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from netsim.analyses.periodic.orbit import Orbit
from netsim.analyses.periodic.shooting import NOTHING
from netsim.analyses.periodic.states import changed_by_waves
from netsim.analyses.sensitivity.forward import Forward, follow, traced_run
from netsim.analyses.sensitivity.variations import Wave
from netsim.analyses.sensitivity.varied import direction
from netsim.analyses.signals.linearised import linearised, shown_signals
from netsim.core.radau.arrays import A_MATRIX
from netsim.results.selection import Selection
from netsim.simulate.events.iteration import event_iteration
from netsim.simulate.options import TransientOptions
from netsim.structure.time_events import time_events_of
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
PER_CYCLE = 80
"""Steps in a cycle of the highest frequency: Radau IIA leaves (2 pi/80)^5/7200 of a sinusoid, 4e-10."""
AT_ONCE = 10_000_000
"""Numbers of changes of signals that are held at once."""
SINGULAR = 1e-12
"""A multiplier counts as e^(j s T) where the matrix is singular to this share."""


@dataclass(frozen=True, eq=False)
class Forcing:
    """A number among the prescribed inputs, or (-1) the row of the equation that gives the input, and what this changes
    by with it."""

    number: int
    row: int
    slope: float


def forcing_of(found: Orbit, number: int, row: int) -> Forcing:
    """An input (netsim.analyses.signals.inputs.source_inputs) of an orbit."""
    start = found.orbit.start
    slope = -float(linearised(start.machine, start.g, Selection()).equations[0][row, row]) if row >= 0 else 0.0
    return Forcing(number, row, slope)


def responses(
    found: Orbit, inputs: Sequence[Forcing], frequencies: Array, sidebands: Sequence[int], options: TransientOptions
) -> Array:
    """H (frequencies, sidebands, signals, inputs); raises `SimulationError` (E443) at a frequency of which a multiplier
    is e^(j s T)."""
    period, parts = found.orbit.period, list[Array]()
    ahead = np.abs(np.asarray(sidebands)).max(initial=0) / period
    begin = 0
    while begin < len(frequencies):  # as many as there is room for
        width = len(found.orbit.states.places) + 2 * len(inputs)
        rows = 3.0 * (len(found.orbit.found.time) + PER_CYCLE * period * (frequencies[begin] + ahead))
        room = AT_ONCE / (rows * max(1, len(found.selection.entries))) - width
        end = begin + max(1, int(room / (2 * len(inputs))))
        parts.append(_some(found, inputs, frequencies[begin:end], sidebands, options))
        begin = end
    return np.concatenate(parts)


def _some(
    found: Orbit, inputs: Sequence[Forcing], frequencies: Array, sidebands: Sequence[int], options: TransientOptions
) -> Array:
    """The responses at frequencies that are followed together."""
    here, orbit = found.orbit.start, found.orbit
    machine, g, period = here.machine, here.g, orbit.period
    waves = [
        Wave(2.0 * np.pi * f, phase, each.number, each.row, each.slope)
        for f in frequencies
        for each in inputs
        for phase in (0.0, -np.pi / 2.0)
    ]
    highest = float(np.max(np.abs(frequencies[:, None] + np.asarray(sidebands) / period)))
    longest = 1.0 / (PER_CYCLE * max(highest, 1.0 / period))
    options = replace(options, stop=period, resumed=True, max_step=min(options.max_step or np.inf, longest))
    events, iteration = time_events_of(machine, period), event_iteration(machine, here.structure)
    mode = iteration.mode(g) if iteration else b""
    starts = changed_by_waves(machine, here.structure, g, mode, orbit.states, waves)
    run = traced_run(machine, here.structure, g.copy(), options, events, found.selection, NOTHING)
    varied = [direction(machine, g, events, each) for each in (*orbit.along.whole.T, *starts)]
    forward = follow(run, g, varied, events, found.selection, waves, inside=True)
    basis, places = orbit.along.basis, (orbit.states.places, orbit.states.sizes)
    count = basis.shape[1]
    ends = forward.last[:-1, places[0]] / places[1] @ basis
    matrix, begun = ends[:count].T, _complex(starts[:, places[0]] / places[1] @ basis)
    turned = np.exp(2j * np.pi * np.repeat(frequencies, len(inputs)) * period)
    sides = turned[:, None] * begun - _complex(ends[count:])
    weights = np.array([_solved(matrix, z, side, f) for z, side, f in zip(
        turned, sides, np.repeat(frequencies, len(inputs)))]).reshape(len(turned), count)  # fmt: skip
    return _components(found, forward, weights, frequencies, sidebands)


def _complex(rows: Array) -> Array:
    """Of changes by cos(s t) and sin(s t), one after the other, those by e^(j s t)."""
    return np.asarray(rows[0::2] + 1j * rows[1::2])


def _solved(matrix: Array, turned: complex, side: Array, frequency: float) -> Array:
    """c of (M - turned) c = side."""
    whole = matrix - turned * np.eye(len(matrix))
    sizes = np.linalg.svd(whole, compute_uv=False)
    if len(sizes) and not sizes[-1] > SINGULAR * sizes[0]:
        message = f"a disturbance of {frequency:.6g} Hz neither decays nor grows: the response has no bound there"
        hint = "leave this frequency out, or add the small resistance or damping that the real system has"
        raise SimulationError(Problem("E443", message, hint=hint))
    return np.linalg.solve(whole, side)


def _components(found: Orbit, forward: Forward, weights: Array, frequencies: Array, sidebands: Sequence[int]) -> Array:
    """Fourier components of signals: (frequencies, sidebands, signals, inputs)."""
    period, count = found.orbit.period, weights.shape[1]
    shown, jacobian, signals = shown_signals(found.orbit.start.machine, found.selection)
    changes, begins = forward.changes, forward.begins
    if found.selection.expressions:
        changes = np.array([each @ jacobian(values).T for each, values in zip(changes, forward.values)])
    else:
        changes = changes @ jacobian(forward.values[0]).T
    whole = np.einsum("tjp,wj->wtp", changes[:, :count], weights) + _complex(np.moveaxis(changes[:, count:], 1, 0))
    shifts = weights @ forward.shifts[:, :count].T + _complex(forward.shifts[:, count:].T)
    before = forward.values[begins - 1]  # of the first one the end of the period
    jumps = np.array([shown(one) - shown(two) for one, two in zip(before, forward.values[begins])])
    jumps = jumps.reshape(len(begins), len(signals))
    spent = _spans(forward)
    rates = 2.0 * np.pi * (frequencies[:, None] + np.asarray(sidebands) / period)
    inputs = len(weights) // len(frequencies)
    answer = np.zeros((len(frequencies), len(sidebands), len(signals), inputs), complex)
    for k, (own, moved) in enumerate(zip(whole, shifts)):
        f, j = divmod(k, inputs)
        waves = np.exp(-1j * np.outer(rates[f], forward.time))
        at_events = np.exp(-1j * np.outer(rates[f], forward.time[begins]))
        answer[f, :, :, j] = ((waves * spent) @ own + (at_events * moved) @ jumps) / period
    return answer


def _spans(forward: Forward) -> Array:
    """The weights of an integral over all instants: those of Radau's stages, none at the beginning of a part."""
    spent = np.zeros(len(forward.time))
    for first, end in zip(forward.begins, np.append(forward.begins[1:], len(spent))):
        h = np.diff(forward.time[first:end:3])
        spent[first + 1 : end] = np.outer(h, A_MATRIX[2]).ravel()
    return spent
