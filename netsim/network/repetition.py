"""`let u{k} = ... for k in 1..n`, and `save`, `plot`, `measure`, `assert` likewise: one statement written out for every
value of its loop variables.

Numbers in braces become part of the name: u{3} is u3. Loop variables are replaced by their values, so that what is
written out needs no frame of its own.

Elements that are copies of a line in copies of a model have the same parameters. What a line binds is evaluated in a
frame, and a frame is what its names stand for: expressions of the text, each in its own frame. Where the expressions
are the same ones all the way up, so are the values: a subcircuit used a thousand times is evaluated once
(`AlikeElements`).
"""

import itertools
from collections.abc import Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from netsim.library.component import is_kinematic
from netsim.network.network import Definition, Frame, Instance, Network, integer, spans_of
from netsim.text.errors import InputError
from netsim.text.syntax import Expr, Let, Measure, Name, Number, Part, Repeated, Statement


def unroll(statement: Repeated, frame: Frame) -> Iterator[Statement]:
    """The statements it stands for; raises `InputError` where a range or a number in braces is no whole number known
    from counts."""
    for values in itertools.product(*spans_of(statement.ranges, frame, 0, statement.span)):
        yield substituted(statement.statement, {r.variable: v for r, v in zip(statement.ranges, values)}, frame)


def substituted(tree: Any, values: Mapping[str, int], frame: Frame) -> Any:
    """A piece of syntax with loop variables replaced and braces resolved."""
    if isinstance(tree, Name) and len(tree.parts) == 1 and not tree.parts[0].indices and tree.parts[0].text in values:
        return Number(float(values[tree.parts[0].text]), "", span=tree.span)
    if isinstance(tree, Part) and tree.number is not None:
        number = integer(tree.number, frame.with_integers(values))
        return Part(f"{tree.text}{number}", substituted(tree.indices, values, frame))
    if isinstance(tree, Let | Measure) and tree.number is not None:
        tree = replace(tree, name=f"{tree.name}{integer(tree.number, frame.with_integers(values))}", number=None)
    if is_dataclass(tree):
        inner = {f.name: substituted(getattr(tree, f.name), values, frame) for f in fields(tree) if f.name != "span"}
        return replace(tree, **inner)  # type: ignore[type-var]
    if isinstance(tree, tuple):
        return tuple(substituted(item, values, frame) for item in tree)
    return tree


def resolve_indices(tree: Any, frame: Frame) -> Any:
    """A piece of syntax with the indices that counts give as numbers: `hook[n + 1].v` -> `hook[7].v`."""
    if isinstance(tree, Part) and tree.indices:
        with suppress(InputError):  # told where the name is looked up
            indices = tuple(Number(float(integer(i, frame)), "", span=i.span) for i in tree.indices)
            return replace(tree, indices=indices)
    if is_dataclass(tree):
        inner = {f.name: resolve_indices(getattr(tree, f.name), frame) for f in fields(tree) if f.name != "span"}
        return replace(tree, **inner)  # type: ignore[type-var]
    if isinstance(tree, tuple):
        return tuple(resolve_indices(item, frame) for item in tree)
    return tree


@dataclass(eq=False)
class AlikeElements:
    """What elements of a network are by their text; `frames` are those that were looked at."""

    network: Network
    frames: dict[int, Hashable] = field(default_factory=dict)
    placed: bool | None = None

    def of(self, instance: Instance) -> Hashable | None:
        """Equal for elements with equal parameters; None where places in space may count."""
        if self.placed is None:
            self.placed = any(is_kinematic(node.domain) for node in self.network.nodes)
        if self.placed:
            return None
        bound = tuple((binding.name, _written(binding.value)) for binding in instance.text.bindings)
        return id(instance.component), instance.counts, bound, self._frame(instance.frame)

    def _frame(self, frame: Frame) -> Hashable:
        if id(frame) not in self.frames:
            self.frames[id(frame)] = id(frame)  # a name that stands in its own frame says nothing more
            if frame.prefix:
                names = tuple((name, *self._definition(each, frame)) for name, each in frame.definitions.items())
                self.frames[id(frame)] = names, tuple(frame.integers.items())
        return self.frames[id(frame)]

    def _definition(self, each: Definition, frame: Frame) -> tuple[Hashable, ...]:
        value = None if each.value is None else _written(each.value)
        return id(each.statement), value, each.frame is frame or self._frame(each.frame)


def _written(value: Expr) -> Hashable:
    """An expression by its place in the text, a number by itself."""
    return (value.value, value.unit) if type(value) is Number else id(value)
