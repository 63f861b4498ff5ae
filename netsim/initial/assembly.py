"""Putting a mechanism together: joint coordinates solved with the positions, loops that nearly close, and what cannot
be closed.

Written starts are equations. Where those of positions over-determine a mechanism and miss it by little, as rounded or
measured figures do, the constraints are kept and the starts met in the sense of least squares; whatever then differs
from the text is told. A larger miss is an error.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.machine import Machine
from netsim.equations.numbering import across_scalars
from netsim.equations.starts.rows import RotationDeviation, StartRow
from netsim.equations.system import System
from netsim.initial.charts import recharted, turn_between
from netsim.initial.conflicts import minimal_conflict
from netsim.initial.consistent.newton import solve_stage
from netsim.initial.fixed import stage_of
from netsim.initial.stages import Stages, stage_equations, stage_residuals
from netsim.library.component import is_kinematic, is_rotation
from netsim.network.network import GROUND
from netsim.structure.orders import Offsets, Signature, offsets
from netsim.text.errors import InputError, Problem, SimulationError, Span

Array = np.ndarray
NEARLY = 0.1
"""A start is closed where it misses by no more than this angle (rad), or this part of the machine's size."""
FAR = 2.0


@dataclass(frozen=True)
class Sizes:
    """Kinematic unknowns of bodies that are angles, those that are lengths, and the machine's size (m); a shaft that
    only turns is no body."""

    angles: Array
    lengths: Array
    size: float


def sizes_of_machine(machine: Machine) -> Sizes:
    """What is an angle, what a length, and how far reference positions and attachment points spread (1 m where nothing
    does)."""
    system = machine.system
    angles: list[int] = []
    lengths: list[int] = []
    for node, first in zip(system.network.nodes, system.numbering.first):
        if is_kinematic(node.domain):
            units = [quantity.unit for quantity, _ in across_scalars(node.domain)]
            angles += [int(first) + i for i, unit in enumerate(units) if unit == "rad/s" and "m/s" in units]
            lengths += [int(first) + i for i, unit in enumerate(units) if unit == "m/s" and "rad/s" in units]
    points = [points for _, _, points in attachments(machine)]
    spread = max((float(np.max(np.ptp(np.concatenate([p, [0.0 * p[0]]]), axis=0))) for p in points), default=0.0)
    places = machine.g[system.layout.place(np.array(lengths, np.int64))] if lengths else np.zeros(1)
    return Sizes(
        np.array(angles, np.int64),
        np.array(lengths, np.int64),
        max(spread, float(np.ptp(np.append(places, 0.0)))) or 1.0,
    )


def attachments(machine: Machine) -> Iterator[tuple[Batch, str, Array]]:
    """Points `at`, `at1`, `at2` of elements between bodies, in the reference placement: (elements, 2 or 3) for each
    batch and name."""
    for batch in machine.system.batches:
        first = 0
        for name, count in batch.form.parameters.items():
            if name in ("at", "at1", "at2") and count in (2, 3) and batch.instances:
                yield batch, name, machine.parameters[id(batch)][first : first + count].T
            first += count


class OpenJoint(NamedTuple):
    """A joint's name, how far apart its points are (m), its place in the text and its nodes."""

    name: str
    distance: float
    span: Span
    nodes: tuple[int, ...]


# ------------------------------------------------------------------------------------------------ joint coordinates


def lift(found: Signature, o: Offsets, chosen: Array, variables: Array, system: System) -> Offsets:
    """Offsets with which those of `variables` that follow from positions (a hinge's angle, the far side of a weld that
    a damper holds) are solved together with them."""
    least, asked = np.array(o.d), variables[variables < system.n]
    least[asked] = np.maximum(least, _depths(found, o, chosen, system.layout.nk))[asked]
    return o if np.array_equal(least, o.d) else offsets(found, least, chosen, o.match)


def _depths(found: Signature, o: Offsets, chosen: Array, nk: int) -> Array:
    """How often what determines each variable can be differentiated before accelerations enter: 2 for positions, 1 for
    velocities, else 0.

    A balance in which differentiated quantities rest (the heat that a brake gives to a capacity) determines no state:
    it holds only while nothing moves."""
    kept = found.matched(o.match)
    variable, order, taken = found.variable[kept], found.order[kept], chosen[kept]
    determined = o.match[found.equation[kept]]
    own = variable == determined
    depths = np.full(len(o.d), 3)  # none of its own
    np.minimum.at(depths, determined[~own & taken], 2 - order[~own & taken])
    depths[determined[(own & taken & (order > 0)) | (~own & (variable >= nk))]] = 0
    return np.where(depths < 3, np.maximum(depths, 0), 0)


def turn_to_starts(machine: Machine, g: Array, rows: Sequence[StartRow]) -> None:
    """Bodies written nearly half a turn or more from where they are drawn begin where they are written: there Newton's
    way is not unique."""
    for row in rows:
        if isinstance(row.source, RotationDeviation) and row.source.component == 0:
            first = machine.system.layout.charts + 9 * row.source.frame
            if turn_between(g[first : first + 9].reshape(3, 3), row.source.wanted) > FAR:
                g[first : first + 9] = row.source.wanted.ravel()


def near_guesses(stages: Stages, g: Array, starts: Sequence[StartRow], guesses: Sequence[StartRow]) -> None:
    """Put a mechanism together near the guesses of positions and joint coordinates, in place, so that they choose the
    branch on which it closes.

    Where the constraints and the starts leave room for them the guesses hold. Else the joints come apart as little as
    they can while guesses and starts hold, and close from there with the guesses met in the sense of least squares, or
    without them."""
    o, positions = stages.offsets, -int(stages.offsets.d.max(initial=0))
    for k in range(positions, -1):
        wanted = [row for row in guesses if not row.orders.any() and o.d[row.variables].max() == -k]
        if not wanted:
            continue
        fixed, equations = (
            [row for row in starts if speaks_of_positions(row) and stage_of(row, o) == k],
            stage_equations(o, k),
        )
        spoken = np.concatenate([row.variables for row in (*fixed, *wanted)])
        # what defines a spoken coordinate must hold
        joints = ~np.isin(o.match[equations], spoken[spoken >= stages.machine.system.layout.nk])
        rows, none, one = (*fixed, *wanted), np.zeros, np.ones
        closing, opening = (rows, ()), (rows, [*joints.astype(float), *none(len(rows))])
        nearing = rows, [*none(len(equations) + len(fixed)), *one(len(wanted))]
        for ways in ((opening, closing), (closing,), (opening, nearing), (opening, (fixed, ()))):
            point = g.copy()
            try:
                for some, soft in ways:
                    solve_stage(stages, point, k, some, soft=soft)
            except SimulationError:
                continue
            g[:] = point
            break


# ------------------------------------------------------------------------------------------------ closing


def speaks_of_positions(row: StartRow) -> bool:
    """Whether a start says where something stands, not how fast it moves."""
    return row.word == "start" and not np.any(row.orders)


def close_stage(stages: Stages, g: Array, k: int, rows: Sequence[StartRow], sizes: Sizes) -> list[StartRow]:
    """Stage k solved, in place, with the starts in `rows` met as nearly as the constraints allow: the rows with the
    values they got.

    Raises `InputError` where they are missed by more than `NEARLY`, naming those that are."""
    equations = stage_equations(stages.offsets, k)
    scales = np.array([sizes.size if row.unit == "m" else 1.0 for row in rows])
    point = g.copy()
    try:
        solve_stage(stages, point, k, rows, soft=[*np.zeros(len(equations)), *scales])
    except SimulationError:
        raise _apart(stages, g, k, rows, sizes) from None
    missed = np.array([row.linearise(stages.machine, point)[0] for row in rows])
    if np.max(np.abs(missed) / scales) > NEARLY:
        raise _apart(stages, g, k, rows, sizes)
    g[:] = point
    return [_as_taken(stages.machine, row, miss, g) for row, miss in zip(rows, missed)]


def _nearly(stages: Stages, g: Array, k: int, rows: Sequence[StartRow], sizes: Sizes) -> bool:
    """Whether the constraints allow these starts, nearly."""
    point = g.copy()
    try:
        solve_stage(stages, point, k, rows)
        return True
    except SimulationError:
        point[:] = g
    scales = np.array([sizes.size if row.unit == "m" else 1.0 for row in rows])
    try:
        solve_stage(stages, point, k, rows, soft=[*np.zeros(len(stage_equations(stages.offsets, k))), *scales])
    except SimulationError:
        return False
    missed = [row.linearise(stages.machine, point)[0] for row in rows]
    return bool(np.max(np.abs(missed) / scales, initial=0.0) <= NEARLY)


def _as_taken(machine: Machine, row: StartRow, missed: float, g: Array) -> StartRow:
    """The row with the value it got as its target."""
    if not isinstance(row.source, RotationDeviation):
        return replace(row, target=row.target + missed)
    first = machine.system.layout.charts + 9 * row.source.frame
    return replace(row, source=replace(row.source, wanted=g[first : first + 9].reshape(3, 3).copy()))


def _apart(stages: Stages, g: Array, k: int, rows: Sequence[StartRow], sizes: Sizes) -> InputError:
    """Starts that contradict the constraints: E411 at a joint of placed bodies, otherwise E410 at the conflicting
    starts."""
    conflicting = minimal_conflict(rows, lambda some: _nearly(stages, g, k, some, sizes))
    spans = list(dict.fromkeys(row.span for row in conflicting if row.span))
    names = ", ".join(dict.fromkeys(row.path for row in conflicting))
    joint = open_joint(stages, g, k, rows, sizes)
    if joint is not None and set(joint.nodes) <= {GROUND, *(row.placed for row in rows)}:
        message = f"the written starts place the points of '{joint.name}' {length(joint.distance)} apart"
        hint = f"check units and values of {names}, or place fewer bodies: joints determine the others; "
        hint += f"the size of the mechanism is {length(sizes.size)}"
        return InputError(
            Problem(
                "E411",
                message,
                joint.span,
                also=tuple((s, "placed here") for s in dict.fromkeys(row.span for row in rows if row.span))[:5],
                hint=hint,
            )
        )
    hint = "remove one of them: the joints determine it" if len(spans) > 1 else "the joints do not allow this start"
    hint += f"; the points of '{joint.name}' stay {length(joint.distance)} apart" if joint else ""
    message = f"the written starts contradict one another or the network: {names}"
    return InputError(
        Problem(
            "E410", message, spans[0] if spans else None, also=tuple((s, "and this") for s in spans[1:6]), hint=hint
        )
    )


def open_joint(stages: Stages, g: Array, k: int, rows: Sequence[StartRow], sizes: Sizes) -> OpenJoint | None:
    """The joint that stays open farthest where the starts hold and the joints only as well as they can."""
    equations = stage_equations(stages.offsets, k)
    if stages.machine.system.layout.nr == 0 and not len(sizes.lengths):
        return None
    point = g.copy()
    try:
        solve_stage(stages, point, k, rows, soft=[*np.ones(len(equations)), *np.zeros(len(rows))])
    except SimulationError:
        return None
    recharted(stages.machine.system, point, all_of_them=True)
    left = np.zeros(stages.signature.size)
    left[equations] = stage_residuals(stages, point, k, equations, ())
    best: OpenJoint | None = None
    for batch, name, points in attachments(stages.machine):
        own = [u for key, u in batch.unknowns.items() if key[0] == "own"]
        if name != "at" or len(batch.instances[0].nodes) < 2 or not own:
            continue
        residual = np.linalg.norm(left[np.array(own)], axis=0)
        for j in np.flatnonzero(residual > 1e-6 * sizes.size):
            ends = [world_point(stages.machine, point, node, points[j]) for node in batch.instances[j].nodes[:2]]
            gap = min(float(residual[j]), float(np.linalg.norm(ends[0] - ends[1])))
            if gap > max(1e-6 * sizes.size, best.distance if best else 0.0):
                best = OpenJoint(batch.labels[j], gap, batch.instances[j].span, batch.instances[j].nodes[:2])
    return best


def world_point(machine: Machine, g: Array, node: int, point: Array) -> Array:
    """Where a point given in the reference placement stands when it travels with a node (GROUND: it stays)."""
    if node == GROUND:
        return point
    system, first = machine.system, int(machine.system.numbering.first[node])
    lengths = first + np.arange(len(point))
    place, now = g[system.layout.place(lengths)], g[system.layout.unknown(lengths, 0)]
    frame, domain = int(system.numbering.frame[node]), system.network.nodes[node].domain
    if frame >= 0 and any(is_rotation(domain, i) for i in range(len(domain.across))):
        return now + g[system.layout.charts + 9 * frame :][:9].reshape(3, 3) @ (point - place)
    if len(point) == 2 and len(across_scalars(domain)) == 3:
        angle = float(g[system.layout.unknown(np.array([first + 2]), 0)[0]])
        return now + np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ (point - place)
    return now + point - place


def length(value: float) -> str:
    """`12.3 mm`, for people."""
    for factor, unit in ((1.0, "m"), (1e3, "mm"), (1e6, "um"), (1e9, "nm")):
        if value * factor >= 0.5:
            return f"{value * factor:.3g} {unit}"
    return f"{value:.3g} m"
