"""Which coordinates a run has: those of all bodies (`absolute`), those of joints (`tree`), or those of joints wherever
they serve (`auto`)."""

from dataclasses import replace

import numpy as np

from netsim.equations.machine import Machine
from netsim.initial.initial import Structure, structure_of
from netsim.initial.reactions.redundancy import dependent_constraints, without_constraints
from netsim.initial.recovery import plan_recovery, recover_point
from netsim.library.component import is_body
from netsim.results.selection import Reader
from netsim.structure.orders import StructurallySingular
from netsim.text.columns import counted
from netsim.text.errors import InputError, Problem

Array = np.ndarray


def formulated(
    machine: Machine, structure: Structure, g: Array, formulation: str
) -> tuple[Machine, Structure, Array, str]:
    """The machine that is run, its structure, its consistent point, from those of the absolute formulation; and what
    was chosen, in words.

    Raises `InputError` where `tree` is asked for and cannot serve; `auto` then stays with the coordinates of all
    bodies."""
    if formulation == "absolute":
        return machine, structure, g, ""
    try:
        tree, structure, point = _in_joint_coordinates(machine, g)
    except InputError as refused:
        if formulation == "tree":
            raise
        return machine, structure, g, f"absolute coordinates: {refused.problems[0].message}"
    return (
        tree,
        structure,
        point,
        f"joint coordinates: {counted(tree.system.n, 'unknown')} instead of {machine.system.n}",
    )


def _in_joint_coordinates(machine: Machine, g: Array) -> tuple[Machine, Structure, Array]:
    from netsim.multibody.jointspace.element import joint_machine
    from netsim.multibody.jointspace.start import in_joint_coordinates

    network = machine.system.network
    if not any(is_body(node.domain) for node in network.nodes):
        message = "formulation = tree needs bodies in space or in the plane, and this network has none"
        raise InputError(Problem("E439", message, hint="omit `formulation`"))
    tree = joint_machine(network, machine.values, machine.earlier)
    tree.problem.buffer.before[:] = machine.problem.buffer.before
    point = in_joint_coordinates(machine, g, tree)
    repeats = dependent_constraints(tree, point) if machine.system.redundant is not None else None
    if repeats is not None:
        tree = without_constraints(tree, repeats)
    partials = tree.element.partials
    try:
        structure = structure_of(tree.system, found=partials.signature)
    except StructurallySingular:
        message = "formulation = tree cannot solve this network for its joint coordinates"
        raise InputError(Problem("E439", message, hint="use formulation = absolute")) from None
    partials.check(structure.dynamic)
    bent = any(batch.form.coordinates for batch in tree.system.batches)
    # other reactions are held at zero than in absolute coordinates, which know no accelerations of bending
    if repeats is not None or bent:
        point = recover_point(plan_recovery(tree, structure, point), point, tree.system.layout.state(point), 0.0)
    return tree, structure, point


def observing(machine: Machine, reader: Reader) -> Reader:
    """The reader that first completes a point with what follows from the joints' coordinates."""
    if machine.element is None:
        return reader
    return replace(reader, table=np.concatenate([machine.element.observed, reader.table]))
