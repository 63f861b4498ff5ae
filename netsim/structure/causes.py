"""Messages about undetermined unknowns, in terms of nodes and elements (E301, E303, E304, E305, E309)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from netsim.equations.batches import Batch
from netsim.equations.messages import advice, floating, nodes_word, quantity, quoted
from netsim.equations.numbering import across_scalars
from netsim.equations.system import System
from netsim.library.component import is_kinematic
from netsim.network.network import Instance
from netsim.structure.nullspace import null_basis, supports
from netsim.structure.pencil import Point, generic_point, matrices
from netsim.structure.roles import FEEDS, Edge, domain_of_own, edges, islands
from netsim.text.errors import Problem
from netsim.text.syntax import DomainDef

GENERIC_RATE = 0.83
SEEDS = (1, 2)


Owners = tuple[tuple[Instance, DomainDef | None], ...]
"""Elements of which something takes part, each with the domain of the through that does, or None."""


@dataclass(frozen=True)
class Cause:
    """Unknowns that stay undetermined together: node numbers, and the elements that own the others."""

    nodes: tuple[int, ...]
    owners: Owners


@dataclass(frozen=True, eq=False)
class Picture:
    """A system as the diagnosis sees it: links between nodes, islands, and whose each unknown is."""

    system: System
    points: dict[int, Point] = field(default_factory=dict)

    def point(self, seed: int) -> Point:
        """The generic point of a seed, found once."""
        if seed not in self.points:
            self.points[seed] = generic_point(self.system, seed)
        return self.points[seed]

    @cached_property
    def edges(self) -> list[Edge]:
        return edges(self.system.network)

    @cached_property
    def islands(self) -> list[frozenset[int]]:
        return islands(self.system, self.edges)

    @cached_property
    def touching(self) -> dict[int, list[Instance]]:
        """The instances with a conserving terminal at each node, in the order of the text."""
        found: dict[int, list[Instance]] = {}
        for instance in self.system.network.instances:
            for node in dict.fromkeys(instance.nodes):
                found.setdefault(node, []).append(instance)
        return found

    @cached_property
    def dependent(self) -> list[frozenset[int]]:
        """Sets of equations that depend on one another, by the numbers of their rows."""
        return undetermined(self, of_equations=True)

    @cached_property
    def node_of(self) -> dict[int, int]:
        starts = [int(f) for f in self.system.numbering.first]
        ends = {}
        for i, node in enumerate(self.system.network.nodes):
            ends.update({starts[i] + c: i for c in range(len(across_scalars(node.domain)))})
        return ends

    @cached_property
    def owner_of(self) -> dict[int, tuple[Batch, int, int]]:
        return {
            int(u): (b, k, i)
            for b in self.system.batches
            for i in range(len(b.form.own))
            for k, u in enumerate(b.unknowns["own", i])
        }

    def cause(self, unknowns: frozenset[int]) -> Cause:
        nodes = tuple(sorted({self.node_of[u] for u in unknowns if u in self.node_of}))
        owners: dict[str, tuple[Instance, DomainDef | None]] = {}
        for u in sorted(unknowns):
            if u in self.owner_of:
                batch, k, i = self.owner_of[u]
                owner = batch.instances[k]
                domain = None if batch.shapes else domain_of_own(owner.component, i)
                if owner.name not in owners or domain is not None:
                    owners[owner.name] = (owner, domain)
        return Cause(nodes, tuple(sorted(owners.values(), key=lambda o: (o[0].span.line, o[0].span.column))))


def undetermined(picture: Picture, of_equations: bool = False) -> list[frozenset[int]]:
    """Sets of unknowns the equations leave open at almost every state and parameter value, one set per cause; with
    `of_equations`, sets of equations (by the numbers of their rows) that depend on one another."""
    found: list[frozenset[int]] = []
    for seed in SEEDS:
        matrix = matrices(picture.point(seed), GENERIC_RATE)[0]
        sets = supports(null_basis(matrix.T if of_equations else matrix)[0])
        if not sets:
            return []
        found = sets if seed == SEEDS[0] or len(sets) < len(found) else found
    return found


def singular(picture: Picture) -> list[tuple[Problem, frozenset[int]]]:
    """A problem for each cause, with the unknowns it explains."""
    found = []
    for unknowns in undetermined(picture):
        problem = _problem(picture, picture.cause(unknowns))
        if problem is not None:
            found.append((problem, unknowns))
    return found


def _problem(picture: Picture, cause: Cause) -> Problem | None:
    nodes = picture.system.network.nodes
    afloat = next((island for island in picture.islands if island & set(cause.nodes)), None)
    if afloat is not None:
        members = sorted(afloat & set(cause.nodes))
        return _starved(picture, members) or _floating(picture, members)
    looping = _repeating(picture, cause)
    conserving = [i for i in cause.nodes if nodes[i].domain.through]
    if looping and all(domain for _, domain in looping):
        return _loop(looping, [nodes[i].name for i in conserving])
    if not conserving and cause.owners and all(domain for _, domain in cause.owners):
        return _loop(cause.owners, [])
    return _unexplained(picture, cause)


def _repeating(picture: Picture, cause: Cause) -> Owners:
    """Those elements of a cause whose own equations repeat one another, without those that merely follow; empty where
    balances of nodes take part."""
    owned = {instance.name: (instance, domain) for instance, domain in cause.owners}
    for rows in picture.dependent:
        names = {owner.name for owner, _ in picture.cause(rows).owners}
        if names <= owned.keys() and not rows & picture.node_of.keys():
            return tuple(owned[name] for name in owned if name in names)
    return ()


def _floating(picture: Picture, members: list[int]) -> Problem:
    nodes = picture.system.network.nodes
    names, domain = [nodes[i].name for i in members], nodes[members[0]].domain
    mark, hint = floating(domain, names)
    verb = "is" if len(names) == 1 else "are"
    return Problem(
        "E301",
        f"{nodes_word(names)} {verb} not connected with ground ({domain.name})",
        nodes[members[0]].span,
        mark,
        hint,
    )


def _starved(picture: Picture, members: list[int]) -> Problem | None:
    """A node or island whose only connections with the rest are sources of through."""
    inside = set(members)
    feeders = [e for e in picture.edges if e.role == FEEDS and (e.start in inside) != (e.end in inside)]
    if not feeders:
        return None
    nodes = picture.system.network.nodes
    names, domain = [nodes[i].name for i in members], nodes[members[0]].domain
    sources = list(dict.fromkeys(picture.system.network.instances[e.instance].name for e in feeders))
    through = domain.through[0].doc or domain.through[0].name
    message = f"nothing balances the {through} of {quoted(sources)} at {nodes_word(names)} ({domain.name})"
    mark, hint = floating(domain, names)
    return Problem("E305", message, nodes[members[0]].span, mark, hint)


def _loop(owners: Owners, left_open: list[str]) -> Problem | None:
    """Throughs that may circulate freely: the acrosses around a loop are all prescribed. `left_open` names the nodes
    whose potential follows these throughs."""
    domains = {domain.name: domain for _, domain in owners if domain is not None}
    if any(len(domain.across) > 1 or domain.across[0].size for domain in domains.values()):
        return None  # redundant constraints of closed mechanisms are the solver's to share out
    instances = [instance for instance, _ in owners]
    names, last = [i.name for i in instances], instances[-1]
    kinematic = all(is_kinematic(domain) for domain in domains.values())
    code, what = ("E304", "motion") if kinematic else ("E303", quantity(next(iter(domains.values()))))
    where = ", ".join(domains)
    if len(instances) == 1 and len(set(last.nodes)) < len(last.nodes):
        message = f"'{names[0]}' prescribes the {what} between a node and itself ({where})"
    elif len(instances) == 1:
        message = f"'{names[0]}' prescribes a {what} that is already prescribed ({where})"
    else:
        message = f"{quoted(names)} prescribe the same {what} more than once ({where})"
    if left_open:
        message += f", which leaves {nodes_word(left_open)} open"
    author = next((i.component.definition.singular for i in reversed(instances) if i.component.definition.singular), "")
    remedy = "remove one of them, or put a compliant element (a spring, a resistor) between them"
    mark, hint = advice(author or "they form a closed loop", remedy)
    return Problem(code, message, last.span, mark, hint, tuple((i.span, f"and '{i.name}'") for i in instances[:-1]))


def _unexplained(picture: Picture, cause: Cause) -> Problem | None:
    """The remaining causes: an amplifier without feedback, a gear that is held twice, a signal that depends on
    itself."""
    nodes = picture.system.network.nodes
    instances = list(_involved(picture, cause))
    speaker = next((i for i in instances if i.component.definition.singular), instances[0] if instances else None)
    open_nodes = [nodes[i].name for i in cause.nodes]
    subject = nodes_word(open_nodes) if open_nodes else quoted(i.name for i in instances)
    if speaker is None:
        return None
    span = speaker.span if speaker.component.definition.singular or not cause.nodes else nodes[cause.nodes[0]].span
    author = speaker.component.definition.singular
    wrong = author or "these equations hold for every common value of their unknowns"
    mark, hint = advice(wrong, "look for a missing connection or a loop of signals")
    return Problem("E309", f"the equations do not determine {subject}", span, mark, hint)


def _involved(picture: Picture, cause: Cause) -> Iterator[Instance]:
    yield from (instance for instance, _ in cause.owners)
    for node in cause.nodes:
        yield from picture.touching.get(node, [])
