"""Turns of joint coordinates at a start. Equations know an angle up to whole turns; where several elements speak of the
angle of the same two bodies about one axis, they count its turns alike.

What is written counts first, then what a source prescribes, then the flange of a joint.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.forms.form import Form
from netsim.equations.forms.symbols import Key
from netsim.equations.forms.turns import TURN, turning
from netsim.equations.kernels.kernel import Kernel, linear_kernel
from netsim.equations.machine import Machine
from netsim.equations.starts.rows import kernel_scalars
from netsim.equations.starts.written import kernel_row, start_rows

Array = np.ndarray
ALIKE = 1e-6
"""Angles (rad) and their directions this near are the same but for turns."""
WRITTEN, PRESCRIBED, FLANGE, FREE = range(4)


@lru_cache(maxsize=512)
def _kernels(form: Form) -> tuple[tuple[Key, Kernel, Kernel], ...]:
    """The angles of a form: key, kernel of the equation that knows it up to turns, kernel of its value."""
    return tuple((key, _equation(form, r), _unknown(form, key)) for key, r in turning(form))


def _equation(form: Form, r: int) -> Kernel:
    return linear_kernel(form, ("residual", r), lambda: form.residuals[r])


def _unknown(form: Form, key: Key) -> Kernel:
    return linear_kernel(form, ("unknown", key), lambda: form.symbols.at(key, 0))


@dataclass(frozen=True, eq=False)
class Angle:
    """An angle that an element speaks of, at a point: unknown -1 is prescribed."""

    machine: Machine
    g: Array
    batch: Batch
    position: int
    key: Key
    equation: Kernel
    itself: Kernel

    @property
    def unknown(self) -> int:
        return int(self.batch.columns(self.key)[self.position])

    @property
    def bodies(self) -> tuple[int, ...]:
        """The unknowns of nodes that its equation reads, in order."""
        keys = {key for key, order in self.equation.gather if order == 0 and key[0] == "node" and key != self.key}
        return tuple(sorted(int(self.batch.columns(key)[self.position]) for key in keys))

    @cached_property
    def value(self) -> float:
        return kernel_scalars(self.machine, self.itself, self.batch, self.position, self.g)[0]

    @cached_property
    def turned_by(self) -> Array:
        """Its derivatives by the bodies' unknowns: the equation's, whose slope by the angle itself is -1."""
        row = kernel_row(self.machine.system, self.batch, self.position, self.equation, "", "start", 0.0, None)
        found = dict(zip(row.variables.tolist(), row.linearise(self.machine, self.g)[1]))
        return np.array([found.get(unknown, 0.0) for unknown in self.bodies])

    def rank(self, written: Collection[int]) -> int:
        """How much its turns count."""
        if self.unknown in written:
            return WRITTEN
        return {"own": FREE, "node": FLANGE}.get(self.key[0], PRESCRIBED)


def counted_turns(machine: Machine, g: Array) -> Array | None:
    """The machine's point with the coordinates that count other turns than what is written or prescribed at the start
    g, None where there are none."""
    moved, found = machine.g.copy(), False
    for members in _together(machine, g):
        written = _written(machine)
        known = sorted((a for a in members if a.rank(written) < FREE), key=lambda a: a.rank(written))
        for angle in (a for a in members if a.rank(written) == FREE):
            value = next((s * other.value for other in known if (s := _sense(angle, other))), angle.value)
            turns = round((value - angle.value) / TURN)
            if turns and abs(value - angle.value - turns * TURN) < ALIKE:
                slot = machine.system.layout.unknown(np.array([angle.unknown]), 0)[0]
                moved[slot], found = angle.value + turns * TURN, True
    return moved if found else None


def _together(machine: Machine, g: Array) -> list[list[Angle]]:
    """Angles between the same bodies, where there are several."""
    groups: dict[tuple[int, ...], list[Angle]] = {}
    for batch in machine.system.batches:
        for kernels in _kernels(batch.form):
            for position in range(batch.n):
                angle = Angle(machine, g, batch, position, *kernels)
                groups.setdefault(angle.bodies, []).append(angle)
    return [members for members in groups.values() if len(members) > 1]


def begun_at_written_turns(machine: Machine) -> Machine:
    """The machine whose angles begin at the whole turns that are written for them: the search for a start goes half a
    turn at most."""
    written = _written(machine)
    angles = {
        int(unknown)
        for batch in machine.system.batches
        for key, *_ in _kernels(batch.form)
        for unknown in batch.columns(key)
    }
    g, layout = machine.g.copy(), machine.system.layout
    for unknown in angles & written.keys():
        slot = layout.unknown(np.array([unknown]), 0)[0]
        g[slot] += TURN * round((written[unknown] - g[slot]) / TURN)
    return machine if np.array_equal(g, machine.g) else replace(machine, g=g)


def _written(machine: Machine) -> dict[int, float]:
    """Unknowns whose values are written, with these."""
    rows = start_rows(machine.system, machine.values)
    alone = (row for row in rows if row.word == "start" and len(row.variables) == 1 and row.orders[0] == 0)
    return {int(row.variables[0]): row.target for row in alone}


def _sense(angle: Angle, other: Angle) -> int:
    """1 or -1 where the same motion turns both, forwards or backwards; else 0."""
    apart = {sign: np.max(np.abs(angle.turned_by - sign * other.turned_by), initial=0.0) for sign in (1, -1)}
    return next((sign for sign, distance in apart.items() if distance < ALIKE), 0)
