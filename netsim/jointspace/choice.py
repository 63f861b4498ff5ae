"""Which coordinates a run has: those of all bodies (`absolute`), those of joints (`tree`), or those of joints wherever they serve (`auto`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netsim.errors import InputError, Problem
from netsim.selection import Sampler
from netsim.solvers.initial import Structure
from netsim.solvers.machine import Machine
from netsim.solvers.recovery import plan_recovery

if TYPE_CHECKING:
    from netsim.jointspace.recovery import Completion

Array = np.ndarray


def in_tree(machine: Machine, formulation: str, plain: bool) -> bool:
    """Whether the run has joint coordinates; raises `InputError` where it should and cannot. `plain`: its steps are of given size."""
    from netsim.jointspace.spanning import is_spatial

    network, redundant = machine.system.network, machine.system.redundant
    if formulation == "absolute":
        return False
    if formulation == "tree" and redundant is not None:
        message = "formulation = tree has no answer to constraints that repeat one another, which a loop of this network has"
        raise InputError(Problem("E439", message, hint="say formulation = absolute, or replace a joint of the loop by one with more freedom"))
    if formulation == "tree" and not plain:
        message = "formulation = tree goes in steps of given size"
        raise InputError(Problem("E439", message, hint="transient(stop = 1 s, step = 1 ms, method = generalized_alpha, formulation = tree)"))
    return plain and redundant is None and any(is_spatial(network, i) for i in range(len(network.nodes)))


def joint_coordinates(machine: Machine, g: Array) -> tuple[Machine, Array]:
    """The machine in joint coordinates and the same consistent point."""
    from netsim.jointspace.element import joint_machine
    from netsim.jointspace.start import in_joint_coordinates

    tree = joint_machine(machine.system.network, machine.values, machine.earlier)
    return tree, in_joint_coordinates(machine, g, tree)


def recovery_of(machine: Machine, g: Array, structure: Structure, absolute: Machine, point: Array) -> Completion:
    """How a machine's samples are completed; `structure` and a consistent `point` are those of the absolute formulation."""
    from netsim.jointspace.recovery import detour, direct

    if machine.element is None:
        return plan_recovery(machine, structure, g)
    return direct(machine, g) or detour(machine, plan_recovery(absolute, structure, point))


def observing(machine: Machine, reader: Sampler) -> Sampler:
    """The reader that first completes a point with what follows from the joints' coordinates."""
    if machine.element is None:
        return reader
    return replace(reader, table=np.concatenate([machine.element.observed, reader.table]))
