"""Netlist and library -> network: hierarchy and repetition expanded, nodes and instances named, domains agreed.

Expressions are kept with the `Frame` they were written in, and get their values later (`netsim.network.values`), so
that a parameter can change without expanding anything again. Counts shape the network and are fixed here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isfinite, prod
from pathlib import Path

from netsim.library.component import CONSTANTS, Component, plain_name
from netsim.library.files import Library
from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.expressions.operations import apply
from netsim.text.expressions.sizes import describe
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.limits import check_limit
from netsim.text.syntax import (
    Assert,
    Count,
    DomainDef,
    Expr,
    Let,
    Measure,
    Name,
    Param,
    Part,
    Place,
    Plot,
    Range,
    Run,
    Save,
    Table,
    World,
)
from netsim.text.syntax import Instance as InstanceText

GROUND = -1


@dataclass(frozen=True)
class Definition:
    """A name with a value in a frame: a param or let, its expression and the frame that expression is written in."""

    statement: Param | Let
    value: Expr | None
    frame: "Frame"


@dataclass(frozen=True, eq=False)
class Frame:
    """One lexical scope: the top level, or the inside of one model instance, whose line stands at `place`."""

    prefix: str
    definitions: dict[str, Definition] = field(default_factory=dict)
    integers: dict[str, int] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    members: dict[str, Span] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    terms: dict[str, tuple[int, int]] = field(default_factory=dict)
    place: Span | None = None

    def with_integers(self, values: Mapping[str, int]) -> "Frame":
        """The same scope with loop variables set."""
        return replace(self, integers={**self.integers, **values})


@dataclass(frozen=True, slots=True)
class Node:
    """A node with its domain, and where its name first stands."""

    name: str
    domain: DomainDef
    span: Span


@dataclass(frozen=True, slots=True)
class Instance:
    """One element: its component, counts, node numbers (GROUND for the reference) and what its line binds."""

    name: str
    component: Component
    counts: tuple[tuple[str, int], ...]
    nodes: tuple[int, ...]
    text: InstanceText
    frame: Frame

    @property
    def span(self) -> Span:
        return self.text.span


@dataclass(frozen=True, slots=True)
class Beginning:
    """A written start, guess or nominal size: `path` is the full dotted name it speaks of."""

    word: str
    path: str
    value: Expr
    frame: Frame
    span: Span


@dataclass(frozen=True, repr=False)
class Network:
    """Nodes, instances and what the netlist asks to be done with them."""

    file: str
    nodes: tuple[Node, ...]
    instances: tuple[Instance, ...]
    beginnings: tuple[Beginning, ...]
    top: Frame
    library: Library
    world: tuple[World, ...] = ()
    runs: tuple[Run, ...] = ()
    saves: tuple[Save, ...] = ()
    plots: tuple[Plot, ...] = ()
    measures: tuple[Measure, ...] = ()
    asserts: tuple[Assert, ...] = ()
    text: str = ""
    notes: tuple[Problem, ...] = ()
    nominals: tuple[Beginning, ...] = ()
    roots: tuple[Path, ...] = ()
    """The folders that its texts may read (netsim.text.roots)."""

    def __repr__(self) -> str:
        return f"<Network {self.file}: {len(self.instances)} elements, {len(self.nodes)} nodes>"

    @cached_property
    def node_numbers(self) -> Mapping[str, int]:
        """Where each node stands, by its name."""
        return {node.name: i for i, node in enumerate(self.nodes)}

    @cached_property
    def instance_numbers(self) -> Mapping[str, int]:
        """Where each element stands, by its name."""
        return {instance.name: i for i, instance in enumerate(self.instances)}

    @cached_property
    def placements(self) -> dict[int, tuple[Instance, Place]]:
        """Node -> the first instance that says where it is drawn, and how."""
        found: dict[int, tuple[Instance, Place]] = {}
        for instance in self.instances:
            for place in instance.component.definition.places:
                found.setdefault(
                    instance.nodes[list(instance.component.terminals).index(place.terminal)], (instance, place)
                )
        return found


def integer(expr: Expr, frame: Frame) -> int:
    """A count, index or range bound: known from counts and loop variables alone."""

    def resolve(name: Name) -> Typed:
        text = plain_name(name)
        if text in frame.integers:
            return Typed(float(frame.integers[text]))
        if text in CONSTANTS and text not in frame.definitions:
            return Typed(CONSTANTS[text])
        what = (
            "is a param: only counts and loop variables shape the network"
            if text in frame.definitions
            else "is no count or loop variable"
        )
        hint = nearest(str(text), {**frame.integers, **CONSTANTS}) or "declare it with `count`"
        raise InputError(Problem("E208", f"'{text}' {what}", name.span, hint=hint))

    value = evaluate(expr, Scope(resolve)).value
    if isinstance(value, tuple) or not isfinite(value) or abs(value - round(value)) > 1e-9:
        said = describe(value) if isinstance(value, tuple) else f"{value:g}"
        raise InputError(Problem("E208", f"a whole number is wanted, this is {said}", expr.span))
    return round(value)


def spans_of(ranges: Sequence[Range], frame: Frame, before: int, span: Span) -> list[range]:
    """The values of every loop variable; raises `InputError` where they are more, beside what was there before, than a
    network may have."""
    found = [range(integer(r.first, frame), integer(r.last, frame) + 1) for r in ranges]
    wanted = before + prod(max(0, each.stop - each.start) for each in found)
    check_limit("elements", wanted, f"{wanted:.6g} of these with the elements before", span)
    return found


def check_count(count: Count, value: int, frame: Frame, span: Span) -> int:
    """The value of a count; raises `InputError` where it breaks its declared bounds, or is larger than any network."""
    check_limit("elements", value, f"'{count.name}' is {value:.6g}", span)
    for bound in count.bounds:
        limit = integer(bound.value, frame)
        if not apply(bound.op, value, limit):
            raise InputError(Problem("E234", f"'{count.name}' is {value}, but must be {bound.op} {limit}", span))
    return value


def _number(part: Part, frame: Frame) -> str:
    return "" if part.number is None else str(integer(part.number, frame))


def name_text(name: Name, frame: Frame) -> str:
    """`leg[k].top` with its indices evaluated: 'leg[1].top'."""
    if len(name.parts) == 1 and not name.parts[0].indices and name.parts[0].number is None:
        return name.parts[0].text
    return ".".join(
        p.text + _number(p, frame) + "".join(f"[{integer(i, frame)}]" for i in p.indices) for p in name.parts
    )


def parameter_names(network: Network) -> list[str]:
    """The full dotted names of all parameters: of the top level, of subnetworks, of instances."""
    frames = {id(frame): frame for frame in (network.top, *(i.frame for i in network.instances))}.values()
    written = [
        frame.prefix + name
        for frame in frames
        for name, d in frame.definitions.items()
        if isinstance(d.statement, Param)
    ]
    return [
        *dict.fromkeys(written),
        *(f"{i.name}.{p.name}" for i in network.instances for p in i.component.definition.params),
    ]
