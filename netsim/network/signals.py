"""What a signal's name refers to: a quantity of a node, or of an instance."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from netsim.library.component import dimension, is_kinematic, is_rotation, pick, scalar_count, sizes_of
from netsim.network.network import GROUND, Frame, Instance, Network, name_text
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.sizes import flatten, shaped
from netsim.text.expressions.typed import Typed
from netsim.text.syntax import DomainDef, Name
from netsim.text.units import Dimension


@dataclass(frozen=True)
class NodeSignal:
    """`a.x`, `out.v`, `y`: a node's quantity at an order (0 integral or value, 1 across of kinematic nodes)."""

    node: int
    domain: DomainDef
    order: int
    components: tuple[int, ...]
    role: str
    position: int
    sizes: tuple[int, ...]
    dimension: Dimension
    name: Name
    used: int

    @property
    def turns(self) -> bool:
        """Whether it is a rotation or an angular velocity, which a chart's coordinates only represent."""
        return is_rotation(self.domain, self.position)

    @property
    def key(self) -> tuple:
        return (
            "node",
            self.domain.name,
            self.role,
            self.order,
            self.components,
            *_picks(self),
        )

    @property
    def own(self) -> int:
        """The first part whose indices pick a component: those of a node belong to its name, and a signal node is its
        quantity."""
        return self.used if self.domain.name == "signal" else self.used - 1


@dataclass(frozen=True)
class Reading:
    """`s1.f`: a named quantity of an instance."""

    instance: int
    type: tuple
    reading: str
    name: Name
    used: int

    @property
    def key(self) -> tuple:
        return ("reading", self.type, self.reading, *_picks(self))

    @property
    def own(self) -> int:
        """As that of a node's signal."""
        return self.used - 1


def _picks(signal: NodeSignal | Reading) -> tuple[tuple, tuple]:
    """What a name picks of its quantity: the words behind it, and all indices from it on."""
    parts = signal.name.parts
    return tuple(p.text for p in parts[signal.used :]), tuple(i for p in parts[signal.own :] for i in p.indices)


def component_of(value: Typed, signal: NodeSignal | Reading) -> Typed:
    """`link[3].r.x`, `bar[3].R[1, 2]`: the component of a quantity's value that a signal's name picks."""
    return pick(value, Name(signal.name.parts[signal.own :], span=signal.name.span), signal.used - signal.own)


def find_signal(
    name: Name,
    frame: Frame,
    network: Network,
    nodes: Mapping[str, int],
    instances: Mapping[str, int],
    form_of: Callable,
) -> NodeSignal | Reading | None:
    """The longest prefix of the name that is a node or an instance decides; None where nothing of it is known."""
    for used in range(len(name.parts), 0, -1):
        path = name_text(Name(name.parts[:used]), frame)
        node = frame.nodes.get(path, nodes.get(frame.prefix + path))
        if node is not None:
            return _node_signal(name, used, node, network)
        number = instances.get(frame.prefix + path)
        if number is not None:
            return _reading(name, used, number, network, form_of)
    return None


def node_quantities(domain: DomainDef) -> dict[str, tuple[str, int]]:
    """Readable quantity -> (role, position): acrosses and integrals."""
    found = {q.name: ("across", i) for i, q in enumerate(domain.across)}
    return found | {q.name: ("integral", i) for i, q in enumerate(domain.integral)}


def _node_signal(name: Name, used: int, node: int, network: Network) -> NodeSignal:
    domain = network.nodes[node].domain
    if domain.name == "signal":
        return NodeSignal(node, domain, 0, (0,), "across", 0, (), dimension(None), name, used)
    known = node_quantities(domain)
    if used == len(name.parts) or name.parts[used].text not in known:
        shown = (
            name_text(Name(name.parts[:used]), Frame(""))
            if not any(p.indices for p in name.parts[:used])
            else name.parts[0].text
        )
        wrong = (
            f"node '{shown}' has no '{name.parts[used].text}'"
            if used < len(name.parts)
            else f"'{shown}' is a node: say which of its quantities"
        )
        hint = f"a node of domain '{domain.name}' has {', '.join(known)}"
        raise InputError(Problem("E206", wrong, name.span, hint=hint))
    role, position = known[name.parts[used].text]
    quantity = getattr(domain, role)[position]
    sizes = sizes_of(quantity.size, {})
    first = sum(scalar_count(sizes_of(q.size, {})) for q in domain.across[:position])
    order = 1 if role == "across" and is_kinematic(domain) else 0
    components = tuple(range(first, first + scalar_count(sizes_of(domain.across[position].size, {}))))
    return NodeSignal(node, domain, order, components, role, position, sizes, dimension(quantity.unit), name, used + 1)


def _of_its_node(instance: Instance, asked: str, network: Network) -> str:
    """Where the word is a quantity of a node that the element meets: under which name it is found."""
    first = asked.partition(".")[0]
    met = [network.nodes[n] for n in dict.fromkeys(instance.nodes) if n != GROUND]
    known = [f"{node.name}.{first}" for node in met if first in node_quantities(node.domain)]
    return f"'{first}' is a quantity of nodes: {' or '.join(known)}" if known else ""


def _reading(name: Name, used: int, number: int, network: Network, form_of: Callable) -> Reading:
    instance = network.instances[number]
    readings: Mapping[str, Any] = form_of(instance).form.readable
    for length in (2, 1):
        reading = ".".join(p.text for p in name.parts[used : used + length])
        if len(name.parts) >= used + length and reading in readings:
            return Reading(number, (id(instance.component.definition), instance.counts), reading, name, used + length)
    asked = ".".join(p.text for p in name.parts[used:]) or "..."
    hint = (
        _of_its_node(instance, asked, network)
        or nearest(asked, readings)
        or f"it has {', '.join(r for r in readings if '.' not in r) or 'nothing to read'}"
    )
    if used == len(name.parts):
        raise InputError(
            Problem(
                "E206",
                f"'{instance.name}' is a {instance.component.name}: say which of its quantities",
                name.span,
                hint=hint,
            )
        )
    raise InputError(
        Problem("E206", f"{instance.component.name} '{instance.name}' has no '{asked}'", name.span, hint=hint)
    )


def picked(found: NodeSignal | Reading, sizes: tuple[int, ...]) -> list[int]:
    """Indices of the scalars that a name with .x, [k] or [i, j] picks of a quantity of these sizes."""
    numbers = range(prod(sizes))
    if found.used == len(found.name.parts) and not found.name.parts[-1].indices:
        return list(numbers)
    value = shaped([float(i) for i in numbers], sizes)
    return [int(x) for x in flatten(component_of(Typed(value), found).value)]
