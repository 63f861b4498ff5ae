"""Constraints that repeat what others already say: closed loops of joints have them (a planar four-bar of revolutes in
space has three).

Where they repeat is seen at a position: the mechanism as it is drawn, where it is singular by structure, and as it is
assembled. Redundant rows are dropped and as many multipliers held at zero
(`netsim.equations.system.without_redundant`); the motion is that of the other rows. Where these come to depend on one
another along the way, others are chosen. Samples show the reactions of least norm among the many that balance
(`netsim.initial.reactions.reactions`).
"""

from dataclasses import replace

import numpy as np

from netsim.core.linear.graphs import connected
from netsim.core.linear.symbolic import pivots
from netsim.equations.machine import Machine, build_machine, with_history, with_system
from netsim.equations.system import Redundant, System, with_redundant, without_redundant
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.consistent.derivatives import partial_values
from netsim.initial.initial import Structure, explain_structure, structure_of
from netsim.initial.reactions.reactions import bodies_of, constraint_owners, in_loops, multipliers_of
from netsim.initial.stages import signature_of
from netsim.network.network import GROUND
from netsim.network.values import Values
from netsim.structure.orders import Signature, StructurallySingular
from netsim.text.errors import InputError

Array = np.ndarray
WORN = 0.1
"""Others are left out where the smallest pivot of what is kept falls below this part of the best choice's."""
ROUNDING = 1e-13
"""Of the machine's size and of 1: rows of constraints that are no larger are what rounding leaves of a motion that a
joint does not feel (in joint coordinates: its points lie on the axis of another)."""
RANK_TOLERANCE = 1e-9
"""Singular values (relative, equilibrated) below this count as zero: assembly closes loops to about 1e-12."""


def solvable(system: System, values: Values, constant: Array | None = None) -> tuple[System, Structure]:
    """The system and its orders, without constraints that repeat one another where the mechanism is drawn, if it is
    singular by structure.

    Raises `InputError` where that is not the reason."""
    try:
        return system, structure_of(system, constant)
    except StructurallySingular as singular:
        drawn = build_machine(system, values)
        found = dependent_constraints(drawn, drawn.g)
        if found is None:
            raise InputError(explain_structure(system, singular)) from None
        reduced = without_redundant(system, found)
        try:
            return reduced, structure_of(reduced, _with_pins(reduced, constant))
        except StructurallySingular as still:
            raise InputError(explain_structure(reduced, still)) from None


def _with_pins(reduced: System, constant: Array | None) -> Array | None:
    """The marks of constant differentiated quantities for the reduced system, whose last batch holds multipliers."""
    return None if constant is None else np.append(constant, np.zeros(reduced.batches[-1].n, bool))


def union(before: Redundant | None, found: Redundant) -> Redundant:
    """Two findings as one."""
    if before is None:
        return found
    return Redundant(np.concatenate([before.rows, found.rows]), np.concatenate([before.multipliers, found.multipliers]))


def dependent_constraints(machine: Machine, g: Array) -> Redundant | None:
    """Constraints that depend on one another at the position in g, and as many multipliers whose forces do; None where
    there are none.

    The rank of the position constraints' Jacobian decides, by QR with pivots; rows of sources come first, so that it is
    joints that give way.
    """
    rows, multipliers = loops(machine, g)
    dropped = np.concatenate([np.zeros(0, np.int64), *(_dependent(*part) for part in rows)])
    if not len(dropped):
        return None
    held = np.concatenate([np.zeros(0, np.int64), *(_dependent(*part) for part in multipliers)])
    return Redundant(dropped, held) if len(dropped) == len(held) else None


def mobility(machine: Machine, g: Array) -> list[int]:
    """In how many ways each closed chain of joints can move at the position in g, whatever drives it."""
    _, sources = constraint_owners(machine.system)
    found = []
    for rows, matrix in loops(machine, g)[0]:
        joints = matrix[~np.isin(rows, sources)]
        sizes = pivots(joints)[0] if joints.size and np.isfinite(joints).all() else np.zeros(0)
        found.append(matrix.shape[1] - int((sizes > RANK_TOLERANCE * sizes.max(initial=0.0)).sum()))
    return found


Parts = list[tuple[Array, Array]]


def loops(machine: Machine, g: Array) -> tuple[Parts, Parts]:
    """The loops' constraints at the position in g: their rows (numbers, matrix of derivatives), and their multipliers
    (numbers, matrix of forces)."""
    system = machine.system
    found = signature_of(machine)
    values = partial_values(machine, g)
    joints, sources = constraint_owners(system)
    live = (values != 0) | (machine.element is not None)  # in joint coordinates a row of a loop may say nothing at all
    kept = found.kept & (found.order == 0) & live
    moving = found.kept & ((found.order > 0) | (found.variable >= system.n))
    candidates = np.setdiff1d(joints, found.equation[moving])
    position = kept & np.isin(found.equation, candidates) & (found.variable < system.n)
    multipliers = multipliers_of(machine, found, joints, live)
    balances = kept & np.isin(found.variable, multipliers) & (found.equation < system.layout.nk)
    rows = np.setdiff1d(np.unique(found.equation[position]), _mentioning(found, position, multipliers))
    if not len(rows) or not len(multipliers) or not np.isfinite(values[position | balances]).all():
        return [], []  # where derivatives have no value, the start says so
    at, least = position & np.isin(found.equation, rows), ROUNDING * min(1.0, sizes_of_machine(machine).size)
    return (
        _matrices(system, found.equation[at], found.variable[at], values[at], sources, least),
        _matrices(system, found.variable[balances], found.equation[balances], values[balances], sources, least),
    )


def is_ill_chosen(whole: Machine, present: Redundant, g: Array) -> bool:
    """Whether the constraints that are kept come close to depending on one another at the position in g, where others
    would not: their smallest pivot beside the smallest of the best choice. `whole` is the machine of all
    constraints."""
    for which, matrix in loops(whole, g)[0]:
        kept = ~np.isin(which, present.rows)
        if not kept.all() and kept.any() and pivots(matrix[kept])[0][-1] < WORN * pivots(matrix)[0][kept.sum() - 1]:
            return True
    return False


def reselect(machine: Machine, whole: Machine, g: Array) -> tuple[Machine, Structure] | None:
    """The machine with those constraints of the `whole` left out that depend on the others at the point in g, where
    these are not the ones it leaves out already.

    A closed chain that moves although its constraints outnumber its freedoms has one or more too many everywhere, but
    which of them may be left out changes along the way: where the others come to depend on one another, a new choice is
    due."""
    present = machine.system.redundant
    found = dependent_constraints(whole, g)
    if (
        present is None
        or found is None
        or (set(found.rows) == set(present.rows) and set(found.multipliers) == set(present.multipliers))
    ):
        return None
    reduced = without_constraints(whole, found)
    return reduced, structure_of(reduced.system, found=signature_of(reduced))


def without_constraints(machine: Machine, found: Redundant | None) -> Machine:
    """The machine without the constraints in `found` (None: with every constraint)."""
    if machine.element is not None:
        return replace(
            with_history(machine.element.without(machine, found), machine.problem.buffer), parts=machine.parts
        )
    system = with_redundant(machine.system) if found is None else without_redundant(machine.system, found)
    return with_system(machine, system)


def _mentioning(found: Signature, position: Array, multipliers: Array) -> Array:
    return found.equation[position & np.isin(found.variable, multipliers)]


def _matrices(system: System, items: Array, columns: Array, values: Array, first: Array, least: float) -> Parts:
    """Rows of a sparse matrix, given by its entries, loop by loop (only these are searched): what is one row's scale is
    the other's; those in `first` weigh more than any other, and rows without an entry above `least` are 0."""
    bodies = bodies_of(system, columns)
    left = np.isin(items, in_loops(items, columns, values, bodies))
    found = []
    for part in _separate(items[left], bodies[left]):
        at = np.flatnonzero(left)[part]
        which, i = np.unique(items[at], return_inverse=True)
        across, j = np.unique(columns[at], return_inverse=True)
        matrix = np.zeros((len(which), len(across)))
        np.add.at(matrix, (i, j), values[at])
        matrix[np.abs(matrix).max(axis=1) < least] = 0.0
        matrix /= np.maximum(np.abs(matrix).max(axis=0), 1e-300)
        matrix /= np.maximum(np.linalg.norm(matrix, axis=1, keepdims=True), 1e-300)
        matrix[np.isin(which, first)] *= 1e3
        found.append((which, matrix))
    return found


def _dependent(which: Array, matrix: Array) -> Array:
    """Rows that depend on the others; heavy ones are taken as independent before any other. None do where an entry is
    not finite, which is told where the start is looked for."""
    if not np.isfinite(matrix).all():
        return which[:0]
    sizes, order = pivots(matrix)
    return which[order[int((sizes > RANK_TOLERANCE * max(1.0, sizes.max(initial=0.0))).sum()) :]]


def _separate(items: Array, bodies: Array) -> list[Array]:
    """Positions of entries by connected component of the graph that joins items to the bodies they touch."""
    if not len(items):
        return []
    _, i = np.unique(items, return_inverse=True)
    _, j = np.unique(bodies, return_inverse=True)
    size = int(i.max()) + 1
    label = connected(size + int(j.max()) + 1, i, size + j)
    return [np.flatnonzero(label[i] == k) for k in np.unique(label[i])]


def describe(system: System) -> str:
    """The redundant constraints by instance: '3 redundant constraints at j1, j4'."""
    if system.redundant is None:
        return ""
    owners: dict[str, int] = {}
    for batch in system.batches:
        for key, unknowns in batch.unknowns.items():
            if key[0] == "own" and batch.instances:
                for k in np.flatnonzero(np.isin(unknowns, system.redundant.rows) & (unknowns != GROUND)):
                    owners[batch.labels[k]] = owners.get(batch.labels[k], 0) + 1
    count = len(system.redundant.rows)
    return f"{count} redundant constraint{'s' if count > 1 else ''} at {', '.join(owners)}"
