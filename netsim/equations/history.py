"""The delays of a network: their lengths, what is given before the start, and what refuses them. netsim.core.history
remembers them."""

from collections.abc import Mapping

import numpy as np

from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.history import POINTS, HistoryBuffer
from netsim.equations.batches import Batch
from netsim.equations.kernels.kernel import delay_kernel
from netsim.equations.kernels.reference import evaluate
from netsim.equations.system import System
from netsim.network.network import GROUND, Instance
from netsim.text.errors import InputError, Problem
from netsim.text.limits import check_limit

Array = np.ndarray

WITHIN = 0.98
"""The share of the shortest delay that a step may have: what it looks back at is there."""
LEAST = 1e-60
"""The shortest delay, in s: its square is a number."""
HINT = "replace it by pade_delay (a rational transfer function), or a line by a ladder of coils and capacitors"
ROOM, MOST_ARRIVALS = 256, 4096


def history_of(system: System, parameters: Mapping[int, Array], uniforms: Array) -> Struct:
    """The empty history buffer of a system's delays with these parameters; raises `InputError` for a delay that is not
    positive."""
    length, before, unknown, prescribed = (np.zeros(0) for _ in range(4))
    problems: list[Problem] = []
    for batch in system.batches:
        for k in range(len(batch.form.delayed)):
            program = delay_kernel(batch.form, k).program
            values = evaluate(program, np.zeros((0, batch.n)), uniforms, parameters[id(batch)])
            problems += [
                _too_short(batch, int(i), values[0, i])
                for i in np.flatnonzero(~((values[0] >= LEAST) & np.isfinite(values[0])))
            ]
            length, before = (
                np.append(length, values[0]),
                np.append(before, values[1] if len(values) > 1 else np.full(batch.n, np.nan)),
            )
            unknown, prescribed = (
                np.append(unknown, batch.unknowns["resting", k]),
                np.append(prescribed, batch.prescribed_inputs["delayed", k]),
            )
    if problems:
        raise InputError(problems)
    nodes = 0.5 - 0.5 * np.cos(np.pi * np.arange(POINTS) / (POINTS - 1))
    basis = np.ascontiguousarray(np.linalg.inv(np.vander(2.0 * nodes - 1.0, increasing=True)))
    n, unknown = len(length), unknown.astype(np.int64)
    place = np.where(unknown == GROUND, GROUND, unknown - system.layout.nk)
    slot, wanted = system.layout.unknown(unknown, 0).astype(np.int64), np.unique(place[place >= 0])
    spans, segments, arrivals = np.zeros((ROOM, 2)), np.zeros((ROOM, n * POINTS)), np.zeros(MOST_ARRIVALS)
    known = length, place, slot, prescribed.astype(np.int64), np.zeros(n), before, wanted
    return struct_of(
        HistoryBuffer(*known, spans, segments, arrivals, np.zeros(5, np.int64), nodes, basis, np.zeros((n, POINTS)))
    )


def _too_short(batch: Batch, position: int, length: float) -> Problem:
    instance = batch.instances[position]
    wanted = f"at least {LEAST:g} s" if length > 0.0 else "positive"
    return Problem("E254", f"the delay of '{instance.name}' must be {wanted}, not {length:g} s", instance.span)


def delays_in(system: System) -> list[Instance]:
    """The instance in whose text each delay stands, in the order of `history_of`."""
    return [instance for batch in system.batches for _ in batch.form.delayed for instance in batch.instances]


def check_step(system: System, buffer: Struct, step: float, stop: float) -> None:
    """Raises `InputError` where a given step is longer than a delay allows (E427), and where steps no longer than the
    delay are too many (E260)."""
    for instance, length in zip(delays_in(system), buffer.length):
        what = f"a delay of {length:g} s takes {stop / length:.3g} steps"
        check_limit("steps", stop / length, what, instance.span)
        if step > WITHIN * length:
            hint = (
                f"use a step of at most {WITHIN * length:.4g} s, or omit `step`, so that the error test selects the "
                "steps"
            )
            message = f"a step of {step:g} s is too long for '{instance.name}', which delays by {length:g} s"
            raise InputError(Problem("E427", message, instance.span, hint=hint))


def refuse_delays(system: System, analysis: str, why: str) -> None:
    """Raises `InputError` (E428) at the first delay of a network, for an analysis without delays."""
    for instance in delays_in(system):
        message = f"{analysis} does not support delays, and '{instance.name}' has one: {why}"
        raise InputError(Problem("E428", message, instance.span, hint=HINT))
