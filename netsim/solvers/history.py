"""What a run remembers for its delays: for each, pieces of polynomials over the steps so far, as far back as the longest delay reaches.

A delayed value is a function of time to the equations, known before a step begins because no step is longer than the shortest delay. Jumps come
out of it one delay later (netsim.integrators.remembering).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from netsim.batches import Batch
from netsim.errors import InputError, Problem
from netsim.kernels.bundle import Bundle, bundled
from netsim.kernels.call import compiled
from netsim.kernels.form import UNIFORMS, Delay
from netsim.kernels.kernel import make_kernel
from netsim.kernels.reference import evaluate
from netsim.layout import DRIVE_LEVELS
from netsim.network import GROUND, Instance
from netsim.system import System

Array = np.ndarray

TIME, PAST = (1 + UNIFORMS.index(name) for name in ("time", "past"))
PIECES, ARRIVALS, WATCHING, CAREFUL, BEGINS_LOW = range(5)
"""Positions in Past.numbers: how many pieces and arrivals there are, whether steps end at arrivals, whether values within a step have to be made
consistent before they are read, whether the method begins with a straight line."""
BEGIN, END = range(2)
"""Columns of Past.spans."""
POINTS = 8
"""Values by which a piece is known: more than any method's polynomial within a step needs."""
WITHIN = 0.98
"""The share of the shortest delay that a step may have: what it looks back at is there."""
HINT = "pade_delay is a delay of signals as a rational transfer function, coils and capacitors in a ladder are a line"
ROOM, MOST_ARRIVALS = 256, 4096
BESIDE = 3 * 2.220446049250313e-16
"""A joint of pieces this near, as a share of the time, is behind: steps that end at a corner look 8 units before it."""


class Past(NamedTuple):
    """Of every delay: its length (s), what is remembered (its place behind the motion in a state, -1: ground, and in g), the drive it is, what it was
    before the start, and what is given as that (NaN: nothing). `wanted`: places without repetition; `spans` of pieces in time, the oldest first, and
    their polynomials in 2 (t - begin)/(end - begin) - 1, constants first, delay by delay; `arrivals`: instants at which jumps come out;
    `nodes` from 0 to 1, `basis` from values there to coefficients, room for these values."""

    length: Array
    place: Array
    slot: Array
    drive: Array
    before: Array
    given: Array
    wanted: Array
    spans: Array
    pieces: Array
    arrivals: Array
    numbers: Array
    nodes: Array
    basis: Array
    room: Array


def past_of(system: System, parameters: Mapping[int, Array], uniforms: Array) -> Bundle:
    """An empty past of a system's delays with these parameters; raises `InputError` for a delay that is not positive."""
    length, before, unknown, drive = (np.zeros(0) for _ in range(4))
    problems: list[Problem] = []
    for batch in system.batches:
        for k, delay in enumerate(batch.form.delays):
            given = [(("length",), delay.by)] + ([] if delay.before is None else [(("before",), delay.before)])
            values = evaluate(make_kernel(batch.form.symbols, given).program, np.zeros((0, batch.n)), uniforms, parameters[id(batch)])
            problems += [_too_short(batch, int(i), values[0, i]) for i in np.flatnonzero(~((values[0] > 0.0) & np.isfinite(values[0])))]
            length, before = np.append(length, values[0]), np.append(before, values[1] if len(values) > 1 else np.full(batch.n, np.nan))
            unknown, drive = np.append(unknown, batch.unknowns["resting", k]), np.append(drive, batch.drives["delayed", k])
    if problems:
        raise InputError(problems)
    nodes = 0.5 - 0.5 * np.cos(np.pi * np.arange(POINTS) / (POINTS - 1))
    basis = np.ascontiguousarray(np.linalg.inv(np.vander(2.0 * nodes - 1.0, increasing=True)))
    n, unknown = len(length), unknown.astype(np.int64)
    place = np.where(unknown == GROUND, GROUND, unknown - system.layout.nk)
    slot, wanted = system.layout.unknown(unknown, 0).astype(np.int64), np.unique(place[place >= 0])
    spans, pieces, arrivals = np.zeros((ROOM, 2)), np.zeros((ROOM, n * POINTS)), np.zeros(MOST_ARRIVALS)
    known = length, place, slot, drive.astype(np.int64), np.zeros(n), before, wanted
    return bundled(Past(*known, spans, pieces, arrivals, np.zeros(5, np.int64), nodes, basis, np.zeros((n, POINTS))))


def _too_short(batch: Batch, position: int, length: float) -> Problem:
    instance = batch.instances[position]
    return Problem("E254", f"the delay of '{instance.name}' is {length:g} s, and must be positive", instance.span)


def delays_in(system: System) -> list[tuple[Instance, Delay]]:
    """Every delay with the instance in whose text it stands, in the order of `past_of`."""
    return [(instance, delay) for batch in system.batches for delay in batch.form.delays for instance in batch.instances]


def check_step(system: System, past: Bundle, step: float) -> None:
    """Raises `InputError` where steps of given size look back at what is not there yet."""
    for (instance, _), length in zip(delays_in(system), past.length):
        if step > WITHIN * length:
            hint = f"a step below {WITHIN * length:.4g} s, or none: the error test then chooses"
            raise InputError(
                Problem("E427", f"a step of {step:g} s is too long for '{instance.name}', which delays by {length:g} s", instance.span, hint=hint)
            )


def refuse_delays(system: System, analysis: str, why: str) -> None:
    """Raises `InputError` at the first delay of a network, for an analysis that knows none."""
    for instance, _ in delays_in(system):
        raise InputError(Problem("E428", f"{analysis} knows no delays, and '{instance.name}' has one: {why}", instance.span, hint=HINT))


def begin_past(past: Bundle, g: Array, at_rest: bool) -> None:
    """The run begins at what g holds: so it was before, or (`at_rest`) zero, where nothing else is given; from now on there is a past."""
    past.before[:] = np.where(np.isnan(past.given), 0.0 if at_rest else g[past.slot], past.given)
    g[PAST] = 1.0


def more_pieces(past: Bundle) -> None:
    """Room for twice as many pieces."""
    past.exchange(spans=np.vstack([past.spans, np.zeros_like(past.spans)]), pieces=np.vstack([past.pieces, np.zeros_like(past.pieces)]))


@compiled
def recall(past, g, first, count):
    """The delayed values at the time in g and their rates, into their places among `count` drives that begin at `first`."""
    t = g[TIME]
    for k in range(past.length.shape[0]):
        at, when = first + past.drive[k], t - past.length[k]
        i = piece_at(past, when + BESIDE * abs(t))
        if i < 0:
            g[at] = past.before[k]
            continue
        scale = 2.0 / (past.spans[i, END] - past.spans[i, BEGIN])
        x = min(scale * (when - past.spans[i, BEGIN]) - 1.0, 1.0)
        for level in range(DRIVE_LEVELS):
            g[at + level * count] = slope(past, i, k, x, level) * scale**level


@compiled
def recalled(past, k, t):
    """The value of delay k at an instant."""
    when = t - past.length[k]
    i = piece_at(past, when + BESIDE * abs(t))
    if i < 0:
        return past.before[k]
    return slope(past, i, k, min(2.0 * (when - past.spans[i, BEGIN]) / (past.spans[i, END] - past.spans[i, BEGIN]) - 1.0, 1.0), 0)


@compiled
def piece_at(past, when):
    """The piece at an instant, the last one behind them all; -1 before the start."""
    low, high = -1, past.numbers[PIECES]
    while high - low > 1:
        middle = (low + high) // 2
        if past.spans[middle, BEGIN] <= when:
            low = middle
        else:
            high = middle
    return low


@compiled
def slope(past, i, k, x, level):
    """A derivative of piece i of delay k at x."""
    found = 0.0
    for m in range(POINTS - 1, level - 1, -1):
        factor = 1.0
        for j in range(level):
            factor *= m - j
        found = found * x + factor * past.pieces[i, POINTS * k + m]
    return found
