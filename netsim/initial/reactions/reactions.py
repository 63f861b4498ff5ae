"""Reactions of redundant constraints: which of them have no unique value, and in what units they are compared.

The balances B lam = f of bodies in a closed loop leave some reactions free where constraints repeat one another.
Samples show those of least norm (`netsim.core.minimum_norm`), with forces F and moments M of the joints (sources keep
theirs) weighed by a length L: the root mean square of the arms with which these forces act about the nodes of their
bodies, as the mechanism is drawn.
"""

from dataclasses import dataclass, replace

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.equations.layout import FOLLOWING
from netsim.equations.machine import Machine
from netsim.equations.numbering import across_scalars
from netsim.equations.system import System
from netsim.initial.consistent.derivatives import partial_values
from netsim.library.component import dimension, is_kinematic
from netsim.network.network import GROUND
from netsim.structure.orders import Signature, signature

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Reactions:
    """The loops' reactions: the length L, their `places` in g, their weights (1 for forces, 1/L for moments), and the
    entries of B: which derivatives by order they are (`picks`), their values as the mechanism is drawn, rows and
    columns."""

    length: float
    places: Array
    weights: Array
    picks: Array
    drawn: Array
    rows: Array
    columns: Array
    shape: tuple[int, int]


def constraint_owners(system: System) -> tuple[Array, Array]:
    """Unknowns (and rows) of elements between bodies in space or in the plane, and those of sources among them."""
    joints, sources = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for batch in system.batches:
        if not batch.instances or batch.shapes:
            continue
        component = batch.instances[0].component
        if any(
            is_kinematic(d) and any(q.size for q in d.across)
            for d in (component.domain(t) for t in component.terminals)
        ):
            own = [u for key, u in batch.unknowns.items() if key[0] == "own"]
            joints += own
            sources += own if component.is_source else []
    return np.concatenate(joints), np.concatenate(sources)


def multipliers_of(machine: Machine, found: Signature, owned: Array, values: Array) -> Array:
    """Unknowns among `owned` that are loads only: they enter balances of bodies and no row of their own element, as a
    coordinate would."""
    system = machine.system
    live = found.kept & (values != 0) & is_force(system, found.variable)
    pinned = system.redundant.rows if system.redundant else np.zeros(0, np.int64)
    balances = is_balance(system, found.equation)
    in_balances = live & balances & (found.order == 0)
    if machine.element is not None:  # the force of a prescribed motion stands where its coordinate's balance would
        pinned = np.append(pinned, np.flatnonzero(machine.element.partials.balances))
    in_rows = found.kept & ~balances & ~np.isin(found.equation, pinned)
    return np.setdiff1d(np.intersect1d(found.variable[in_balances], owned), found.variable[in_rows])


def is_balance(system: System, equations: Array) -> Array:
    """Which equations are balances: those of kinematic unknowns, and of bodies that follow."""
    return (equations < system.layout.nk) | (equations >= system.n + system.layout.nq)


def is_force(system: System, variables: Array) -> Array:
    """Which unknowns are neither positions nor differentiated quantities."""
    return ((variables >= system.layout.nk) & (variables < system.n)) | (variables >= system.n + system.layout.nq)


def loads(machine: Machine) -> tuple[Signature, Array]:
    """The signature of what elements do to one another, and its values as the mechanism is drawn.

    In joint coordinates bodies and joints' multipliers follow, and kernels still say what the ones do to the others:
    their numbers come behind those of differentiated quantities."""
    system, plain, g = machine.system, replace(machine, element=None), machine.g.copy()
    if machine.element is not None:
        run_table(machine.element.observed, g, np.zeros(1))
    values = partial_values(plain, g)
    if machine.element is None:
        return signature(system), values
    equations, variables, orders = [], [], []
    for batch in system.batches:
        for _, row, key, order in batch.kernels.partials.scatter:
            at = batch.form.rows[row] if row < len(batch.form.rows) else ("differentiated", row - len(batch.form.rows))
            known = np.full(batch.n, GROUND) if at[0] == "own" and np.any(batch.columns(at) < 0) else batch.columns(at)
            equations.append(
                system.n + batch.differentiated(at[1]) if at[0] == "differentiated" else behind(system, known)
            )
            variables.append(
                system.n + batch.differentiated(key[1])
                if key[0] == "differentiated"
                else behind(system, batch.columns(key))
            )
            orders.append(np.full(batch.n, order))
    size = system.n + system.layout.nq + 6 * system.layout.nf + system.layout.nm
    equation, variable, order = map(np.concatenate, (equations, variables, orders))
    return Signature(equation, variable, order, size, np.zeros(len(equation), bool)), values


def behind(system: System, numbers: Array) -> Array:
    """Numbers of what follows, behind those of unknowns and differentiated quantities; others stay."""
    return np.where(numbers < GROUND, numbers - FOLLOWING + system.n + system.layout.nq, numbers)


def in_loops(items: Array, coordinates: Array, values: Array, groups: Array) -> Array:
    """Items (rows of a sparse matrix, given by its entries) that may depend on one another.

    Where all items that touch a group (a body) are independent on its coordinates alone, none of them takes part in any
    dependence; without them the next body may be free. Trees are eaten up from their leaves, in linear time, and what
    remains are loops.
    """
    order = np.argsort(groups, kind="stable")
    cuts = np.flatnonzero(np.diff(groups[order])) + 1
    entries_of = {int(groups[part[0]]): part for part in np.split(order, cuts) if len(part)}
    groups_of: dict[int, set[int]] = {}
    for item, group in zip(items.tolist(), groups.tolist()):
        groups_of.setdefault(item, set()).add(group)
    waiting = list(entries_of)
    while waiting:
        part = np.array([e for e in entries_of[waiting.pop()] if int(items[e]) in groups_of], dtype=np.int64)
        here, i = np.unique(items[part], return_inverse=True)
        across, j = np.unique(coordinates[part], return_inverse=True)
        if not len(here) or len(here) > len(across):
            continue
        block = np.zeros((len(here), len(across)))
        np.add.at(block, (i, j), values[part])
        block /= np.maximum(np.abs(block).max(axis=1, keepdims=True), 1e-300)
        if np.linalg.matrix_rank(block, tol=1e-6) == len(here):
            for item in here.tolist():
                waiting += groups_of.pop(item)
    return np.array(sorted(groups_of), dtype=np.int64)


def bodies_of(system: System, unknowns: Array) -> Array:
    """A number per unknown that kinematic unknowns of one node share; every other unknown is by itself."""
    firsts = np.unique(behind(system, system.numbering.first))
    if system.layout.nf:  # of a tree, coordinates are by themselves too
        home = firsts[np.searchsorted(firsts, unknowns, side="right") - 1]
        return np.where(unknowns >= system.n + system.layout.nq, home, unknowns)
    firsts = firsts[firsts < system.layout.nk]
    return np.where(
        unknowns < system.layout.nk, np.searchsorted(firsts, unknowns, side="right"), len(firsts) + 1 + unknowns
    )


def find_reactions(machine: Machine) -> Reactions | None:
    """Where the reactions in loops are, if some of them have no unique value; None if all have one."""
    system = machine.system
    if system.redundant is None:
        return None
    found, values = loads(machine)
    multipliers = multipliers_of(machine, found, behind(system, np.setdiff1d(*constraint_owners(system))), values)
    at = np.flatnonzero(
        found.kept & (found.order == 0) & is_balance(system, found.equation) & np.isin(found.variable, multipliers)
    )
    core = in_loops(found.variable[at], found.equation[at], values[at], bodies_of(system, found.equation[at]))
    at = at[np.isin(found.variable[at], core)]
    if not len(at):
        return None
    rows = np.unique(found.equation[at])
    moments = _is_moment(system, core)
    length = _arm(system, found.variable[at], found.equation[at], values[at], core[~moments])
    return Reactions(
        length, system.layout.unknown(_ahead(system, core), 0), np.where(moments, 1 / length, 1.0), at, values[at],
        np.searchsorted(rows, found.equation[at]), np.searchsorted(core, found.variable[at]), (len(rows), len(core)),
    )  # fmt: skip


def _ahead(system: System, numbers: Array) -> Array:
    """`behind` undone."""
    first = system.n + system.layout.nq
    return np.where(numbers >= first, numbers - first + FOLLOWING, numbers)


def _is_moment(system: System, unknowns: Array) -> Array:
    """Which of these unknowns of joints are moments (N.m); the others are forces."""
    found = np.zeros(system.n + system.layout.nq + 6 * system.layout.nf + system.layout.nm, bool)
    moment = dimension("N.m")
    for batch in system.batches:
        if not batch.instances:
            continue
        units = {v.name: v.unit for v in batch.instances[0].component.definition.variables}
        for i, name in enumerate(batch.form.own):
            unit = units.get(name.split(".")[0].split("[")[0])
            if unit is not None and dimension(unit) == moment:
                found[behind(system, batch.unknowns["own", i])] = True
    return found[unknowns]


def _arm(system: System, variables: Array, equations: Array, values: Array, forces: Array) -> float:
    """The root mean square arm of these forces about the nodes they act on; 1 m where they all act at the nodes."""
    turning = np.zeros(system.n + system.layout.nq + 6 * system.layout.nf, bool)
    for node, first in zip(system.network.nodes, behind(system, system.numbering.first)):
        if is_kinematic(node.domain):
            for i, (quantity, _) in enumerate(across_scalars(node.domain)):
                turning[first + i] = dimension(quantity.unit) == dimension("rad/s")
    acts, turns = np.isin(variables, forces), turning[equations]
    pushes, moments = float(np.sum(values[acts & ~turns] ** 2)), float(np.sum(values[acts & turns] ** 2))
    return float(np.sqrt(moments / pushes)) if moments > 1e-24 * pushes > 0 else 1.0
