"""Axes of joints that keep a closed chain from moving: one that is tilted by a tenth of a degree locks a four-bar of
hinges as well as one that points across.

Constraints alone cannot tell which joint is wrong: without any of them the chain would move. The axis of one joint
after the other is given the direction of another one in the chain, or of a coordinate axis; where the constraints then
lose rank, which is a freedom won, that axis is named. The smallest turns are named alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.machine import Machine, build_machine
from netsim.equations.system import System, with_redundant
from netsim.initial.reactions.reactions import constraint_owners
from netsim.initial.reactions.redundancy import loops, mobility, without_constraints
from netsim.network.network import Instance
from netsim.network.values import Values
from netsim.text.errors import InputError, Problem

Array = np.ndarray
LOCKED = ("E320", "E412", "E414", "E501", "E502", "E505", "E506", "E507", "E519")
"""Problems of which an axis may be the cause."""
SAME = 1e-10
"""Directions whose cross product is shorter are one."""
SLIGHT = 0.1
"""The sine of angles up to which an axis counts as meant to be parallel."""
MOST = 40
"""Axes in closed chains up to which they are turned one by one."""
NAMED = 3


@dataclass(frozen=True, eq=False)
class Axis:
    """The axis of a joint: places of its three numbers in the parameters of its batch, and the member."""

    batch: Batch
    places: slice
    member: int
    direction: Array

    @property
    def owner(self) -> Instance:
        return self.batch.instances[self.member]


def with_axis(problem: Problem, system: System, values: Values) -> Problem:
    """The problem of a mechanism that cannot move, told as that of the axis that locks it, if there is one."""
    if problem.code not in LOCKED or not system.layout.nk:
        return problem
    try:
        machine = build_machine(with_redundant(system) if system.redundant else system, values)
    except InputError:
        return problem
    axes = axes_of_loops(machine, machine.g)
    found = locking(machine, machine.g, axes)
    if found is not None:
        first, message, remedy = found.axes[0], found.message, found.remedy
    elif (odd := tilted(axes)) is not None:
        first, angle, other = odd
        message = f"the axis of '{first.owner.name}' is tilted by {np.degrees(angle):.3g} deg against the others of "
        message += "its closed chain"
        remedy = f"make it parallel to that of '{other.owner.name}', or take a joint with more freedom"
    else:
        return problem
    also = tuple((axis.owner.span, "or this axis") for axis in (found.axes[1:] if found else ()))
    hint = f"{remedy}; as it stands: {problem.message}"
    return replace(problem, message=message, span=first.owner.span, also=also, mark="", hint=hint)


@dataclass(frozen=True, eq=False)
class Locking:
    """Axes one of which must turn by an angle (rad), and what the first is parallel to then."""

    axes: list[Axis]
    angle: float
    other: str

    @property
    def message(self) -> str:
        names = " or ".join(f"'{axis.owner.name}'" for axis in self.axes)
        turned = f"turned by {np.degrees(self.angle):.3g} deg"
        return f"the axis of {names} locks a closed chain, which could move with it {turned}"

    @property
    def remedy(self) -> str:
        return f"make it parallel to {self.other}, or take a joint with more freedom"


def locked_chains(machine: Machine, g: Array) -> list[Problem]:
    """N403 where a closed chain of a machine with redundant constraints cannot move from the position in g, whatever
    drives it, and could if an axis were turned. A chain that no axis frees is a structure that is meant."""
    whole = without_constraints(machine, None) if machine.system.redundant else None
    found = locking(whole, g, axes_of_loops(whole, g)) if whole else None
    if found is None:
        return []
    also = tuple((axis.owner.span, "or this axis") for axis in found.axes[1:])
    return [Problem("N403", found.message, found.axes[0].owner.span, also=also, hint=found.remedy)]


def locking(machine: Machine, g: Array, axes: list[Axis]) -> Locking | None:
    """The axes one of which locks a closed chain at the position in g; None where no few axes are at fault."""
    if not 1 < len(axes) <= MOST:
        return None
    before = mobility(machine, g)
    if 0 not in before:
        return None
    free = [
        (angle, k, name) for k, angle, name, turned in _turned(machine, axes) if sum(mobility(turned, g)) > sum(before)
    ]
    if not free:
        return None
    least, _, name = min(free)
    alike = dict.fromkeys(k for angle, k, _ in sorted(free) if angle < 1.001 * least)
    return Locking([axes[k] for k in alike], least, name) if len(alike) <= NAMED else None


def tilted(axes: list[Axis]) -> tuple[Axis, float, Axis] | None:
    """The only axis that is hardly parallel to several others, which are parallel; its angle (rad); one of those."""
    if len(axes) < 3:
        return None
    across = np.array([[np.linalg.norm(np.cross(a.direction, b.direction)) for b in axes] for a in axes])
    slight = (across > SAME) & (across < SLIGHT)
    odd = np.flatnonzero(slight.sum(axis=1) > 1)
    if len(odd) != 1:
        return None
    k, other = int(odd[0]), int(np.flatnonzero(slight[odd[0]])[0])
    return axes[k], float(np.arcsin(across[k, other])), axes[other]


def axes_of_loops(machine: Machine, g: Array) -> list[Axis]:
    """The axes of the joints of all closed chains at the position in g."""
    parts, (_, sources) = loops(machine, g)[0], constraint_owners(machine.system)
    rows = np.concatenate([np.zeros(0, np.int64), *(rows for rows, _ in parts)])
    return list(_axes(machine, np.setdiff1d(rows, sources)))


def _axes(machine: Machine, rows: Array) -> Iterator[Axis]:
    """Axes of elements that have rows in the chains."""
    for batch in machine.system.batches:
        if not batch.instances or batch.shapes:
            continue
        own = [np.isin(u, rows) for key, u in batch.unknowns.items() if key[0] == "own"]
        first = 0
        for name, count in batch.form.parameters.items():
            if name.startswith("axis") and count == 3 and own:
                for k in np.flatnonzero(np.any(own, axis=0)):
                    places = slice(first, first + 3)
                    direction = machine.parameters[id(batch)][places, k]
                    yield Axis(batch, places, int(k), direction / np.linalg.norm(direction))
            first += count


def _turned(machine: Machine, axes: list[Axis]) -> Iterator[tuple[int, float, str, Machine]]:
    """Every axis turned to every other direction: its number, the angle, what it is parallel to, the machine."""
    others = [(f"that of '{axis.owner.name}'", axis.direction) for axis in axes]
    others += [(f"the {name} axis", direction) for name, direction in zip("xyz", np.eye(3))]
    for k, axis in enumerate(axes):
        tried: list[Array] = [axis.direction]
        for name, direction in others:
            if any(np.linalg.norm(np.cross(direction, each)) < SAME for each in tried):
                continue
            tried.append(direction)
            angle = float(np.arccos(min(1.0, abs(direction @ axis.direction))))
            parameters = machine.parameters[id(axis.batch)].copy()
            parameters[axis.places, axis.member] = direction
            yield k, angle, name, replace(machine, parameters={**machine.parameters, id(axis.batch): parameters})
