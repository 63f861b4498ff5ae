"""What unknowns, rows and null vectors mean, in the words of the network: nodes, elements, their equations."""

import re
from collections.abc import Iterable, Iterator

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.numbering import across_scalars
from netsim.equations.system import System
from netsim.library.component import is_kinematic
from netsim.network.network import GROUND, Instance
from netsim.text.errors import Span
from netsim.text.syntax import DomainDef

Array = np.ndarray
SHOWN = 4
LARGE = 0.1
"""Entries of a null vector below this part of the largest are not named."""


def advice(sentence: str, hint: str) -> tuple[str, str]:
    """An author's 'what is wrong: what to do' as (mark, hint); `hint` where the author gives none."""
    wrong, colon, remedy = sentence.partition(": ")
    return wrong, remedy if colon else hint


def quoted(names: Iterable[str]) -> str:
    """'a'; 'a' and 'b'; 'a', 'b' and 3 more."""
    found = [f"'{name}'" for name in names]
    if len(found) > SHOWN + 1:
        found = [*found[:SHOWN], f"{len(found) - SHOWN} more"]
    return found[0] if len(found) == 1 else ", ".join(found[:-1]) + " and " + found[-1]


def node_of(system: System, unknown: int) -> tuple[int, int] | None:
    """The node whose across this is and which of its scalars; None for what elements own."""
    first = system.numbering.first
    if not len(first):
        return None
    order = np.argsort(first)
    at = int(order[max(0, int(np.searchsorted(first[order], unknown, side="right")) - 1)])
    component = unknown - int(first[at])
    return (at, component) if 0 <= component < len(across_scalars(system.network.nodes[at].domain)) else None


def position_name(system: System, unknown: int) -> str:
    """`b.x`, `hub.phi`, the rotation of a node: the position an unknown stands for, or its own name."""
    place = node_of(system, unknown)
    if place is None or unknown >= system.layout.nk:
        return system.names[unknown]
    node = system.network.nodes[place[0]]
    quantity, suffix = across_scalars(node.domain)[place[1]]
    names = {q.name: i.name for q, i in zip(node.domain.across, node.domain.integral)}
    return f"{node.name}.{names.get(quantity.name, quantity.name)}{suffix}"


def owner_of(system: System, unknown: int) -> tuple[Instance, str] | None:
    """The element that owns an unknown, and what it calls it; None where nobody does."""
    for batch in system.batches:
        for i, own in enumerate(batch.form.own):
            at = np.flatnonzero(batch.columns(("own", i)) == unknown)
            if len(at) and batch.instances:
                return batch.instances[int(at[0])], own
    return None


def undetermined(system: System, null: Array) -> str:
    """A sentence on a null vector, a direction that no equation resists: `nothing resists rotation of 'shaft2'`."""
    named = _large(null)
    kinds: dict[str, list[str]] = {}
    for unknown in named:
        place = node_of(system, unknown)
        if place is not None:
            node = system.network.nodes[place[0]]
            names = kinds.setdefault(_kind(node.domain, place[1]), [])
            if node.name not in names:
                names.append(node.name)
    if kinds:
        return "nothing " + ", nothing ".join(f"{kind} of {quoted(names)}" for kind, names in kinds.items())
    owners = _owners(system, named)
    return repeated(system, owners) if owners else f"nothing determines {quoted([system.names[u] for u in named])}"


def _kind(domain: DomainDef, component: int) -> str:
    quantity, suffix = across_scalars(domain)[component]
    if not is_kinematic(domain):
        return f"determines the {re.split(' above | of | [(]', quantity.doc)[0] or quantity.name}"
    motion = "rotation" if quantity.unit == "rad/s" else "motion"
    if not suffix:
        return f"resists {motion}"
    return f"resists {motion} {'along' if motion == 'motion' else 'about'} {suffix.removeprefix('.')}"


def repeated(system: System, owners: list[Instance]) -> str:
    """A sentence on elements that fix the same quantity: `'A' and 'B' both fix the distance between 'P' and 'Q'`."""
    ends = [
        [system.network.nodes[n].name if n != GROUND else "ground" for n in instance.nodes[:2]] for instance in owners
    ]
    what = "rotation" if "rotation" in map(_fixed, owners) else _fixed(owners[0])
    where = f"between {quoted(ends[0])}" if len(ends[0]) > 1 else f"of {quoted(ends[0])}"
    names = [instance.name for instance in owners]
    if len(owners) == 1:
        return f"'{names[0]}' fixes the {what} {where}, which is already fixed"
    if all(set(pair) == set(ends[0]) for pair in ends):
        return f"{quoted(names)} {'both' if len(names) == 2 else 'all'} fix the {what} {where}"
    return f"{quoted(names)} fix the same {what} more than once"


def fixed_twice(system: System, rows: Array) -> tuple[str, Span | None] | None:
    """Elements behind these rows that fix what another one fixes at the same nodes: the sentence and the second one's
    place; None where there are none. Those that fix the same kind of motion come first."""
    unit = np.zeros(system.n)
    unit[[int(e) for e in rows if e < system.n]] = 1.0
    owners = [owner for owner in _owners(system, _large(unit)) if len(owner.nodes) in (1, 2)]
    locking = [instance for instance in system.network.instances if instance.component.definition.singular]
    for others in (owners, locking):
        for one in owners:
            alike = [i for i in others if i is not one and set(i.nodes) == set(one.nodes)]
            if pair := min(alike, key=lambda i: _fixed(i) != _fixed(one), default=None):
                sources = others is locking and (one.component.is_source or pair.component.is_source)
                if sources or (others is owners and _fixed(pair) == _fixed(one)):
                    first, second = sorted((one, pair), key=lambda i: (i.span.line, i.span.column))
                    return repeated(system, [first, second]), second.span
    return None


def _fixed(instance: Instance) -> str:
    domain = instance.component.domain(next(iter(instance.component.terminals)))
    if not is_kinematic(domain):
        return domain.across[0].doc.partition(" ")[0] or domain.across[0].name
    turning = [q.unit == "rad/s" for q in domain.across]
    if len(turning) == 1:
        return "angle" if turning[0] else "distance"
    if {"at1", "at2"} <= {p.name for p in instance.component.definition.params}:
        return "distance"  # of two points
    moments = {q.name for q, turns in zip(domain.through, turning) if turns}
    acts = {name.partition(".")[2] for name in instance.component.explicit if "." in name}
    return "rotation" if acts and acts <= moments else "motion"


def _owners(system: System, unknowns: list[int]) -> list[Instance]:
    """The elements with terminals that own unknowns, by their places in the text."""
    found: dict[str, Instance] = {}
    for unknown in unknowns:
        owner = owner_of(system, unknown)
        if owner is not None and owner[0].nodes:
            found.setdefault(owner[0].name, owner[0])
    return sorted(found.values(), key=lambda i: (i.span.line, i.span.column))


def _large(vector: Array) -> list[int]:
    size = np.abs(np.asarray(vector))
    return [int(i) for i in np.argsort(-size, kind="stable") if size[i] > LARGE * size.max(initial=0.0)]


def span_of(system: System, vector: Array) -> Span | None:
    """The line of the node or element behind the largest entry."""
    for unknown in _large(vector):
        place, owner = node_of(system, unknown), owner_of(system, unknown)
        if place is not None or owner is not None:
            return system.network.nodes[place[0]].span if place is not None else owner[0].span  # type: ignore[index]
    return None


# ---------------------------------------------------------------------------------------------------------------- rows


def describe_row(system: System, row: int) -> str:
    """An equation: `the forces at 'a' (m1, c1)`, `'s1' (prescribed relative position)`."""
    place = node_of(system, row)
    if place is not None:
        node = system.network.nodes[place[0]]
        touching = list(dict.fromkeys(i.name for i in _touching(system, place[0])))
        through = node.domain.through
        what = _through_word(node.domain, place[1]) if through else "the equation"
        more = f" and {len(touching) - SHOWN} more" if len(touching) > SHOWN else ""
        by = f" ({', '.join(touching[:SHOWN])}{more})" if touching else ""
        return f"{what} at '{node.name}'{by}"
    owner = owner_of(system, row)
    if owner is None:
        return system.names[row]
    doc = re.split("[;,:]", owner[0].component.definition.doc)[0]
    return f"'{owner[0].name}' ({doc})" if doc else f"'{owner[0].name}'"


def unmet(system: System, stage: int, equations: Iterable[int]) -> str:
    """The unsatisfied equations of a stage: `accelerations and forces do not satisfy the force balance at 'k' (s1,
    s2)`."""
    moving = "accelerations and forces" if system.layout.nk else "currents, potentials and other values"
    what = {0: moving, -1: "velocities and differentiated quantities", -2: "positions"}.get(stage, "starting values")
    where = list(dict.fromkeys(describe_row(system, int(e)) for e in equations if e < system.n))[:SHOWN]
    return f"{what} do not satisfy {', '.join(where) or 'the constraints'}"


def start_advice(system: System, equations: Iterable[int]) -> str:
    """What helps where these equations have no start. A domain that asserts something of its nodes (an absolute
    pressure above zero) has a bound there, and an unwritten start is at it."""
    places = [node_of(system, int(e)) for e in equations if e < system.n]
    nodes = [system.network.nodes[i] for i in dict.fromkeys(place[0] for place in places if place)]
    paths = [f"`start {node.name}.{q.name} = ...`" for node in nodes if node.domain.asserts for q in node.domain.across]
    if paths:
        return f"write where they begin: {' and '.join(paths[: 2 * SHOWN])}"
    return "two constraints may contradict each other, or Newton's method needs a `guess`"


def _through_word(domain: DomainDef, component: int) -> str:
    scalars = [q for q in domain.through for _ in range(len(across_scalars(domain)) // max(1, len(domain.through)))]
    quantity = scalars[component] if component < len(scalars) else domain.through[0]
    word = quantity.doc.partition(" ")[0].rstrip(",") or quantity.name
    return f"the {word} balance"


def _touching(system: System, node: int) -> Iterator[Instance]:
    return (instance for instance in system.network.instances if node in instance.nodes)


def sentences(system: System, vector: Array) -> list[str]:
    """What the authors of the elements involved say of a singular network."""
    involved = set(_large(vector))
    found: list[str] = []
    for batch in system.batches:
        sentence = batch.instances[0].component.definition.singular if batch.instances else ""
        if sentence and sentence not in found and _touches(batch, involved):
            found.append(sentence)
    return found


def _touches(batch: Batch, involved: set[int]) -> bool:
    return any(involved & set(map(int, u[u != GROUND])) for key, u in batch.unknowns.items() if key[0] == "own")


def nodes_word(names: list[str]) -> str:
    """Nodes with their word: node 'a', nodes 'a' and 'b'."""
    return f"{'node' if len(names) == 1 else 'nodes'} {quoted(names)}"


def floating(domain: DomainDef, names: list[str]) -> tuple[str, str]:
    """The domain's `floating` sentence as (mark, hint)."""
    sentence = domain.floating or "nothing determines {nodes}: tie one of them to ground"
    return advice(sentence.replace("{nodes}", quoted(names)), "tie one of them to ground")


def quantity(domain: DomainDef) -> str:
    """What the across of a domain is called: potential, temperature, velocity."""
    return domain.across[0].doc.partition(" ")[0] or domain.across[0].name
