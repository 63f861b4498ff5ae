"""What had to give way to the constraints of a start: written starts that were closed, and what has moved, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netsim.equations.machine import Machine
from netsim.equations.numbering import across_scalars
from netsim.equations.starts.rows import RotationDeviation, StartRow
from netsim.initial.assembly import Sizes, length
from netsim.initial.charts import turn_between
from netsim.library.component import is_kinematic
from netsim.network.network import GROUND

Array = np.ndarray


@dataclass(frozen=True)
class Change:
    """A default, or a written start, that had to give way: in words, and how far in SI. `kind` is position, velocity or
    start; far for what begins far from its operating point (see netsim.initial.diagnosis.operating_point); hard of a
    start that the homotopy ladder found (see netsim.simulate.setup.start_of_run)."""

    text: str
    size: float
    kind: str


def changes(
    machine: Machine,
    before: Array,
    after: Array,
    written: Sequence[StartRow],
    taken: Sequence[StartRow],
    sizes: Sizes,
    drawn: Array | None = None,
) -> list[Change]:
    """Written starts that were closed, bodies that left their reference placement, positions and velocities that left
    zero.

    Where `before` is an equilibrium, what a start puts back to where it is `drawn` has not moved, and bodies are told
    by their way from there."""
    found = [_closed_start(old, new) for old, new in zip(written, taken) if old is not new]
    system, layout = machine.system, machine.system.layout
    fixed = {(int(v), int(row.orders[0])) for row in taken for v in row.variables if row.placed != GROUND}
    for node, first in zip(system.network.nodes, system.numbering.first):
        if not is_kinematic(node.domain):
            continue
        scalars = across_scalars(node.domain)
        units = [quantity.unit for quantity, _ in scalars]
        unknowns = int(first) + np.arange(len(scalars))
        body = "rad/s" in units and "m/s" in units
        if body:
            moved = _moved(machine, node.name, before, after, unknowns, np.array(units), fixed, sizes)
            found += (
                moved
                if drawn is None or not moved
                else _moved(machine, node.name, drawn, after, unknowns, np.array(units), fixed, sizes)
            )
        for order in (1,) if body else (0, 1):
            for u, (quantity, suffix) in zip(unknowns, scalars):
                slot = int(layout.unknown(np.array([u]), order)[0])
                left = [g[slot] for g in (before, drawn) if g is not None]
                if (int(u), order) not in fixed and all(abs(after[slot] - x) > 1e-12 * max(1.0, abs(x)) for x in left):
                    which = node.domain.integral[0].name + suffix if order == 0 else quantity.name + suffix
                    kind = "velocity" if order else "position"
                    found.append(
                        Change(
                            f"{node.name}.{which}: {before[slot]:g} -> {after[slot]:g}",
                            abs(after[slot] - before[slot]),
                            kind,
                        )
                    )
    return [change for change in found if change.size > 0]


def _closed_start(written: StartRow, taken: StartRow) -> Change:
    miss = abs(taken.target - written.target)
    if isinstance(written.source, RotationDeviation) and isinstance(taken.source, RotationDeviation):
        miss = turn_between(written.source.wanted, taken.source.wanted) if written.source.component == 0 else 0.0
        text = f"start {written.path} was turned by {np.degrees(miss):.3g} deg"
        return Change(text, miss if miss > 1e-9 else 0.0, "start")
    text = (
        f"start {written.path} = {_value(written.target, written.unit)} was changed to "
        f"{_value(taken.target, written.unit)}"
    )
    return Change(text, miss if miss > 1e-9 else 0.0, "start")


def _value(value: float, unit: str) -> str:
    if unit == "rad":
        return f"{np.degrees(value):.6g} deg"
    return f"{value * 1e3:.6g} mm" if unit == "m" else f"{value:.6g} {unit}".removesuffix(" 1")


def _moved(
    machine: Machine, name: str, before: Array, after: Array, unknowns: Array, units: Array, fixed: set, sizes: Sizes
) -> list[Change]:
    """`rod moved 12 mm and turned 5 deg`: a body's way from its reference placement, without what was written."""
    layout, numbering = machine.system.layout, machine.system.numbering
    free = np.array([(int(u), 0) not in fixed for u in unknowns])
    slots = layout.unknown(unknowns, 0)
    way = after[slots] - before[slots]
    far = float(np.linalg.norm(way[free & (units == "m/s")]))
    turned = float(np.abs(way[free & (units == "rad/s")]).sum())
    frames = np.flatnonzero(np.isin(numbering.rotations, unknowns))
    if len(frames):
        first = layout.charts + 9 * int(frames[0])
        matrices = [g[first : first + 9].reshape(3, 3) for g in (after, before)]
        turned = turn_between(*matrices) if free[units == "rad/s"].all() else 0.0
    words = [f"moved {length(far)}"] if far > 1e-9 * sizes.size else []
    words += [f"turned {np.degrees(turned):.3g} deg"] if turned > 1e-9 else []
    return [Change(f"{name} {' and '.join(words)}", max(far / sizes.size, turned), "position")] if words else []
