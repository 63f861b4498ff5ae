"""Whether the static solution, where most starts begin, determines every potential (E302)."""

from pathlib import Path

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.messages import nodes_word, quantity, quoted
from netsim.equations.starts.rows import StartRow
from netsim.equations.starts.written import start_rows
from netsim.equations.system import System
from netsim.library.component import is_kinematic, plain_name
from netsim.library.formats import format_of
from netsim.network.network import Instance, Network
from netsim.network.values import Values
from netsim.structure.causes import GENERIC_RATE, SEEDS, Picture
from netsim.structure.nullspace import null_basis, supports
from netsim.structure.pencil import matrices
from netsim.structure.roles import CONDUCTS, islands
from netsim.text.errors import InputError, Problem
from netsim.text.syntax import DomainDef

Array = np.ndarray


def resting(picture: Picture, explained: frozenset[int]) -> list[Problem]:
    """`unsettled` for the runs that the netlist asks for."""
    network = picture.system.network
    return (
        unsettled(picture, explained, any(run.analysis == "static" for run in network.runs))
        if begins_static(network)
        else []
    )


def unsettled(picture: Picture, explained: frozenset[int], for_static: bool) -> list[Problem]:
    """Nodes with nothing but capacitors: their potential needs a written start, which static() (`for_static`) does not
    use."""
    rows = [] if for_static else _written(picture.system)
    if rows is None:
        return []
    found = []
    for unknowns in _open_at_rest(picture, rows):
        problem = None if unknowns & explained else _problem(picture, unknowns, for_static)
        if problem is not None:
            found.append(problem)
    return found


def begins_static(network: Network) -> bool:
    """Some run starts from the static solution, as one would that is not written yet (`from = rest` in every run starts
    from zero, and an inverse run looks at the network with its motions imposed)."""
    starts = [
        {b.name: plain_name(b.value) for b in run.options}.get("from", "static")
        for run in network.runs
        if run.analysis != "inverse"
    ]
    return not network.runs or any(start != "rest" for start in starts)


def _written(system: System) -> list[StartRow] | None:
    """The written starts as rows; None where one of them cannot be read (which is another problem)."""
    try:
        return [row for row in start_rows(system, Values(system.network)) if row.word == "start"]
    except InputError:
        return None


def _static_rate(batch: Batch) -> float:
    """Differentiated quantities rest; states of signal blocks start at zero and count as known to the rest, so their
    rates stay generic."""
    blocks = bool(batch.shapes) or any(
        batch.instances[0].component.is_signal(t) for t in batch.instances[0].component.terminals
    )
    return GENERIC_RATE if blocks else 0.0


def _open_at_rest(picture: Picture, rows: list[StartRow]) -> list[frozenset[int]]:
    found: list[frozenset[int]] = []
    for seed in SEEDS:
        basis, scale = null_basis(matrices(picture.point(seed), GENERIC_RATE, _static_rate)[0])
        sets = supports(_unstarted(basis, scale, rows, picture.system.n))
        if not sets:
            return []
        found = sets if seed == SEEDS[0] or len(sets) < len(found) else found
    return found


def _unstarted(basis: Array, scale: Array, rows: list[StartRow], n: int) -> Array:
    """What of the null space no written start determines."""
    if not rows or not basis.shape[1]:
        return basis
    rng = np.random.default_rng(3)
    started = np.zeros((len(rows), n))
    for r, row in enumerate(rows):
        for variable in row.variables:
            if variable < n:  # a start of the rate of a differentiated quantity says nothing about the state at rest
                started[r, variable] += rng.uniform(0.5, 2)
    _, sizes, right = np.linalg.svd(started * scale @ basis)
    rank = int((sizes > 1e-9 * max(1.0, sizes.max(initial=0.0))).sum())
    return basis @ right[rank:].T


def _has_static_state(domain: DomainDef) -> bool:
    """Motions start at their reference, and nodes without power (integrators written as circuits) at zero like
    signals."""
    return bool(domain.through) and domain.power is not None and not is_kinematic(domain)


def _problem(picture: Picture, unknowns: frozenset[int], for_static: bool) -> Problem | None:
    system, cause = picture.system, picture.cause(unknowns)
    nodes = system.network.nodes
    resting_nodes = {i for i in cause.nodes if _has_static_state(nodes[i].domain)}
    untied = next(
        (island & resting_nodes for island in islands(system, picture.edges, (CONDUCTS,)) if island & resting_nodes),
        None,
    )
    members = sorted(untied or ())
    if not members:
        return None
    domain, names = nodes[members[0]].domain, [nodes[i].name for i in members]
    types = dict.fromkeys(i.component.name for node in members for i in picture.touching[node])
    instances = list(dict.fromkeys(i.name for node in members for i in picture.touching[node]))
    message = f"{nodes_word(names)} {'has' if len(names) == 1 else 'have'} no path to ground ({domain.name})"
    touching = f"only {quoted(instances)} ({', '.join(types)}) {'is' if len(instances) == 1 else 'are'} connected to"
    mark = (
        f"{touching} {'it' if len(names) == 1 else 'them'}, so the static solution does not determine the "
        f"{quantity(domain)}"
    )
    held = next((i for i in members if any(_stores(system, each) for each in picture.touching[i])), members[0])
    hint = f"connect {quoted([nodes[held].name])} to ground through an element that conducts"
    if for_static:
        hint += ": static() uses no start values"
    elif format_of(Path(system.network.file)):
        hint += f", write the {quantity(domain)} at which it begins (.ic), or start from zero (uic)"
    else:
        start = f"start {nodes[held].name}.{domain.across[0].name} = ..."
        hint += f", write its start ({start}), or start from zero (from = rest)"
    return Problem("E302", message, nodes[members[0]].span, mark, hint)


def _stores(system: System, instance: Instance) -> bool:
    """Whether an element has a charge, a flux or the like, which a start of its node can set."""
    return system.home[instance.name][0].n_differentiated > 0
