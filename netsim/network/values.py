"""The values of parameters: expressions evaluated in the frames they were written in, bounds and assertions checked.

Nothing here touches the structure. Of everything that is evaluated it is kept which parameters it has read, so that
other values of some of them (`Values.under`) cost what depends on these.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from threading import get_ident
from typing import Any, TypeVar

import numpy as np

from netsim.library.component import WORLD, Component, dimension, resolve_name, sizes_of
from netsim.network.lets import circle, deepest_first
from netsim.network.network import Definition, Frame, Instance, Network, parameter_names
from netsim.network.placement import placed
from netsim.network.repetition import AlikeElements
from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.expressions.literals import is_bare
from netsim.text.expressions.operations import apply
from netsim.text.expressions.sizes import describe_sizes, flatten, shape
from netsim.text.expressions.typed import Scope, Typed, evaluate, number_of, quantity_of, span_of
from netsim.text.syntax import Expr, Let, Number, Param
from netsim.text.units import NO_DIMENSION, Dimension, format_dimension

Array = np.ndarray
To = TypeVar("To")
ANY = "."
"""What may depend on any parameter with a dotted name: it shares the evaluation of a copy in another frame."""


@dataclass
class Values:
    """Memoised values of one network under one set of overrides (full dotted parameter name -> expression). `inputs`:
    those of them that Python sets while a run goes on. `reads`: paths of params, names of instances and ANY that each
    of `known` and `of_instances` depends on, `readers` the same by what is read, which variants share; `reading`: what
    a thread has read for what it is evaluating, the innermost last. `begun`: keys of `known`, and those under way."""

    network: Network
    overrides: Mapping[str, Expr] = field(default_factory=dict)
    known: dict[tuple[int, str], Typed] = field(default_factory=dict)
    begun: set[tuple[int, str]] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    notes: dict[str, list[Problem]] = field(default_factory=dict)
    literal_defaults: dict[int, Typed] = field(default_factory=dict)
    of_instances: dict[str, dict[str, Typed]] = field(default_factory=dict)
    of_batches: dict[tuple[int, int], tuple[Any, frozenset[str], Array]] = field(default_factory=dict)
    made: dict[Hashable, tuple[object, ...]] = field(default_factory=dict)
    of_texts: dict[Hashable, tuple[dict[str, Typed], frozenset[str], Instance]] = field(default_factory=dict)
    placing: set[str] = field(default_factory=set)
    reads: dict[Hashable, frozenset[str]] = field(default_factory=dict)
    readers: dict[str, set[Hashable]] = field(default_factory=dict)
    reading: dict[int, list[set[str]]] = field(default_factory=lambda: defaultdict(list))
    inputs: frozenset[str] = frozenset()

    @cached_property
    def alike(self) -> AlikeElements:
        """What elements are by their text."""
        return AlikeElements(self.network)

    def changed(self, others: Mapping[str, Expr], network: Network | None = None) -> "Values":
        """These with other values of some parameters, or in a network with other starts."""
        return self.under({**self.overrides, **others}, network)

    def under(self, overrides: Mapping[str, Expr], network: Network | None = None) -> "Values":
        """These under other overrides: what depends on none that differs stays."""
        differ = {n for n in {**self.overrides, **overrides} if self.overrides.get(n) is not overrides.get(n)}
        network = network or self.network
        if not differ and network is self.network:
            return self
        gone = differ | {name.rpartition(".")[0] for name in differ} | {ANY for name in differ if "." in name}
        found = replace(
            self, network=network, overrides=overrides, known=dict(self.known), of_instances=dict(self.of_instances),
            used=set(self.used), notes=dict(self.notes), of_batches=dict(self.of_batches), reads=dict(self.reads),
            made={}, of_texts={}, placing=set(), reading=defaultdict(list),
        )  # fmt: skip
        left = set[Hashable]().union(*(self.readers.get(name, ()) for name in gone))
        memos: list[dict[Any, Any]] = [found.known, found.of_instances, found.notes, found.reads]
        for memo, key in product(memos, left):
            memo.pop(key, None)
        found.of_batches = {key: each for key, each in found.of_batches.items() if each[1].isdisjoint(left)}
        found.begun = set(found.known)
        return found

    def _noted(self, own: str, find: Callable[[], To]) -> tuple[To, frozenset[str]]:
        """What `find` finds, and what it reads; `own` is a name for it."""
        stack = self.reading[get_ident()]
        stack.append({own})
        try:
            return find(), frozenset(stack[-1])
        finally:
            stack.pop()

    def _note(self, key: Hashable, read: frozenset[str]) -> None:
        """Keep what something depends on."""
        self.reads[key] = read
        for name in read:
            self.readers.setdefault(name, set()).add(key)

    def _read(self, key: Hashable) -> None:
        """What is being evaluated depends on this."""
        if stack := self.reading[get_ident()]:
            stack[-1] |= self.reads.get(key, frozenset())

    def forget(self) -> None:
        """Overrides have changed: everything is evaluated anew when it is asked for."""
        memos: list[Any] = [self.known, self.begun, self.used, self.of_instances, self.of_batches, self.of_texts]
        for memo in (*memos, self.made, self.reads):
            memo.clear()

    def scope(self, frame: Frame) -> Scope:
        """Names of a frame: params, lets, counts, loop variables, world values."""
        names = {**frame.definitions, **frame.integers}

        def whole(text: str) -> Typed | None:
            if text in frame.integers:
                return Typed(float(frame.integers[text]))
            if text in frame.definitions:
                return self.defined(frame.prefix + text, frame.definitions[text])
            return self.world(text) if text in WORLD else None

        return Scope(
            lambda name: resolve_name(name, whole, names, frame.integers), placed(self.network, frame, self.inside)
        )

    def defined(self, path: str, definition: Definition) -> Typed:
        """The value of a param or let, its bounds checked."""
        key = (id(definition.statement), path)
        if key not in self.known:
            if key in self.begun:
                raise InputError(circle(path, definition))
            self.begun.add(key)
            for before in deepest_first(path, definition, self.begun):
                with suppress(InputError):  # told when it is asked for
                    self.defined(*before)
            try:
                found, read = self._noted(path, lambda: self._evaluate(path, definition))
            except InputError:
                self.begun.discard(key)  # asked again, it fails in the same words
                raise
            self._note(key, read)
            self.known[key] = found
        self._read(key)
        return self.known[key]

    def _evaluate(self, path: str, definition: Definition) -> Typed:
        statement, value = definition.statement, definition.value
        if isinstance(statement, Let):
            return evaluate(statement.value, self.scope(definition.frame))
        if path in self.overrides:
            self.used.add(path)
            wanted = dimension(statement.unit) if statement.unit else self._own_dimension(definition)
            result = quantity_of(self.overrides[path], self.scope(self.network.top), wanted)
        elif value is None:
            raise InputError(Problem("E229", f"parameter '{path}' has no value", statement.span))
        elif statement.unit:
            result = quantity_of(value, self.scope(definition.frame), dimension(statement.unit))
        else:
            result = evaluate(value, self.scope(definition.frame))
        source = self.overrides.get(path, value)
        place = span_of(source) if source is not None else statement.span
        also: tuple[tuple[Span, str], ...] = ()
        if source is statement.default and definition.frame.place and type(source) is not Number:  # a formula
            also = ((place, f"what '{statement.name}' is unless it is given"),)
            place = definition.frame.place
        check_bounds(path, result, statement, self.scope(definition.frame), place, also)
        return result

    def _own_dimension(self, definition: Definition) -> Dimension:
        found = (
            evaluate(definition.value, self.scope(definition.frame)).dimension if definition.value is not None else None
        )
        return found if found is not None else dimension(None)

    def world(self, name: str) -> Typed:
        """A world value: written in a `world` line, else its default."""
        unit, sizes, default = WORLD[name]
        for statement in self.network.world:
            for binding in statement.bindings:
                if binding.name == name:
                    result = quantity_of(binding.value, self.scope(self.network.top), dimension(unit))
                    if shape(result.value) != sizes:
                        what = "a vector of 3" if sizes else "a number"
                        hint = "write all three components; the plane takes the first two" if sizes else ""
                        raise InputError(Problem("E204", f"{name} is {what}", binding.span, hint=hint))
                    return result
        return Typed(default, dimension(unit))

    # ---------------------------------------------------------------------------------------- instances

    def parameters(self, instance: Instance) -> dict[str, Typed]:
        """Every parameter of an instance by name; defaults may use the other parameters."""
        name = instance.name
        if name not in self.of_instances:
            key = None if any("." in path for path in self.overrides) else self.alike.of(instance)
            alike = self.of_texts.get(key) if key is not None else None
            if alike:
                known, read, other = alike
                read = read - {other.name} | {name} | ({ANY} if other.frame is not instance.frame else set())
            else:
                known, read = self._noted(name, lambda: self._parameters(instance))
                if key is not None and name not in self.notes:
                    self.of_texts[key] = known, read, instance
            self._note(name, read)
            self.of_instances[name] = known
        self._read(name)
        return self.of_instances[name]

    def _parameters(self, instance: Instance) -> dict[str, Typed]:
        given = {b.name: b.value for b in instance.text.bindings}
        counts = dict(instance.counts)
        found: dict[str, Typed] = {}
        component = instance.component
        inner = self._scope_within(instance, lambda p: value(p))

        def value(p: Param) -> Typed:
            if p.name not in found:
                found[p.name] = Typed(math.nan, None)
                found[p.name] = self._parameter(p, instance, given.get(p.name), inner, counts)
            return found[p.name]

        for p in component.definition.params:
            value(p)
        for claim in component.definition.asserts:
            if claim in component.claims:
                continue
            holds = evaluate(claim.condition, inner).value
            if not (holds.all() if isinstance(holds, np.ndarray) else holds):  # in every lane
                place, own = instance.frame.place, instance.span
                also = ((own, "this element of it"),) if place else ()
                message = f"{component.name} '{instance.name}': {claim.sentence}"
                raise InputError(Problem("E235", message, place or own, also=also))
        return found

    def _scope_within(self, instance: Instance, value: Callable[[Param], Typed]) -> Scope:
        """Names inside of an instance: counts, params (by `value`), world values, lets."""
        component, counts = instance.component, dict(instance.counts)
        declared = {p.name: p for p in component.definition.params}

        def whole(text: str) -> Typed | None:
            if text in counts:
                return Typed(float(counts[text]))
            if text in declared:
                return value(declared[text])
            if text in WORLD:
                return self.world(text)
            if text not in lets:
                lets[text] = self._let(component, text, inner)
            return lets[text]

        lets: dict[str, Typed | None] = {}
        inner = Scope(lambda name: resolve_name(name, whole, declared))
        return inner

    def inside(self, instance: Instance) -> Scope:
        """The scope within an instance whose parameters are known; raises `InputError` where they depend on
        themselves."""
        if instance.name in self.placing:
            raise InputError(Problem("E233", f"the placement of '{instance.name}' depends on itself", instance.span))
        self.placing.add(instance.name)
        try:
            known = self.parameters(instance)
        finally:
            self.placing.discard(instance.name)
        return self._scope_within(instance, lambda p: known[p.name])

    def _let(self, component: Component, text: str, inner: Scope) -> Typed | None:
        let = next((item for item in component.definition.lets if item.name == text), None)
        return evaluate(let.value, inner) if let else None

    def _parameter(
        self, p: Param, instance: Instance, given: Expr | None, inner: Scope, counts: Mapping[str, int]
    ) -> Typed:
        path = f"{instance.name}.{p.name}"
        wanted = dimension(p.unit)
        if path in self.overrides:
            self.used.add(path)
            source, scope = self.overrides[path], self.scope(self.network.top)
        elif given is not None:
            source, scope = given, self.scope(instance.frame)
        elif id(p) in self.literal_defaults:
            return self.literal_defaults[id(p)]
        else:
            source, scope = p.default, inner  # type: ignore[assignment]
        if type(source) is Number and not p.bounds and not p.size and source.unit == (p.unit or ""):
            return Typed(quantity_of(source, scope, wanted).value, wanted)
        result = quantity_of(source, scope, wanted)
        if given is not None and is_bare(source) and wanted != NO_DIMENSION:
            self.notes.setdefault(instance.name, []).append(
                Problem("N101", f"'{p.name}' has no unit here: taken in {format_dimension(wanted)}", span_of(source))
            )
        sizes = sizes_of(p.size, counts)
        if shape(result.value) != sizes:
            have, place = describe_sizes(shape(result.value)), span_of(source)
            hint = f"the counts of '{instance.name}' leave no room for it" if sizes == (0,) else ""
            message = f"'{p.name}' is {describe_sizes(sizes)}, and this is {have}"
            if source is p.default:  # a count was given, and not what goes with it
                message = f"'{path}' is {describe_sizes(sizes)}, and what it is unless it is given is {have}"
                place, hint = instance.span, f"give {p.name} = [...]"
            raise InputError(Problem("E204", message, place, hint=hint))
        if source is p.default and not _is_literal(p):  # a formula of what the instance was given
            check_bounds(
                path, result, p, inner, instance.span, ((span_of(source), f"what '{p.name}' is unless it is given"),)
            )
            return result
        check_bounds(path, result, p, inner, span_of(source))
        if source is p.default:
            self.literal_defaults[id(p)] = result
        return result

    def unknown_overrides(self) -> list[Problem]:
        """Overrides that named nothing. Params that only starts, runs or other netlists read are evaluated here: their
        units count."""
        for path, definition in self.network.top.definitions.items():
            if path in self.overrides and isinstance(definition.statement, Param):
                self.defined(path, definition)
        names = [path for path in self.overrides if path not in self.used]
        known = parameter_names(self.network) if names else ()
        return [Problem("E236", f"no parameter is called '{name}'", hint=nearest(name, known)) for name in names]


def _is_literal(p: Param) -> bool:
    """A scalar whose default and bounds are plain numbers: every instance that binds nothing has the same value,
    checked once."""
    return not p.size and type(p.default) is Number and all(type(bound.value) is Number for bound in p.bounds)


def check_bounds(
    path: str, result: Typed, statement: Param, scope: Scope, span: Span, also: tuple[tuple[Span, str], ...] = ()
) -> None:
    """Raise where a value breaks its declared bounds or is no number, in any lane where it has several."""
    scalars = flatten(result.value)
    if not all(np.isfinite(x).all() if isinstance(x, np.ndarray) else math.isfinite(x) for x in scalars):
        raise InputError(Problem("E234", f"'{path}' is not a finite number", span, also=also))
    for bound in statement.bounds:
        limit = number_of(bound.value, scope, result.dimension or dimension(None))
        met = (apply(bound.op, x, limit) for x in scalars)
        if not all(x.all() if isinstance(x, np.ndarray) else x for x in met):
            unit = format_dimension(result.dimension or dimension(None))
            shown = f"{bound.op} {limit:g} {'' if unit == '1' else unit}".rstrip()
            got = ", ".join(f"{x:g}" for s in scalars for x in np.ravel(s))
            raise InputError(Problem("E234", f"'{path}' is {got}, but must be {shown}", span, also=also))
