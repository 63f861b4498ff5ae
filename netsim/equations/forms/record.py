"""A form as data: what a run asks of a component type, without its expressions."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from netsim.equations.forms.build import build_form
from netsim.equations.forms.facts import Facts, facts_of, tuples
from netsim.equations.forms.form import Events, Expressions, Form, Readable, Relation, Reset, WhenClause
from netsim.library.component import Component
from netsim.text.errors import Span
from netsim.text.kept.parsed_texts import CLASSES
from netsim.text.kept.trees import packed, unpacked
from netsim.text.units import Dimension


def known_form(component: Component, counts: Mapping[str, int], exact: bool, signals: tuple[str, ...]) -> Form:
    """The form of a component (see `build_form`), without its expressions where it was built before; raises
    `InputError` for what only shapes can show."""
    definition = component.definition
    domains = {t.domain: component.domains[t.domain] for t in definition.terminals}
    places = _places(definition) if definition.discretes or definition.whens else ()
    files = tuple(dict.fromkeys(span.file for span in places))
    kind = sorted(counts.items()), exact, sorted(signals), [_place(span, files) for span in places]
    facts = facts_of(repr(definition), repr(domains), repr(kind))

    def build() -> Form:
        return build_form(component, counts, exact, signals, facts)

    return facts.recall(
        ("form",),
        build,
        lambda form: _packed(form, files),
        lambda data: _unpacked(tuples(data), facts, lambda: build().expressions, files),
    )


def _packed(form: Form, files: tuple[str, ...]) -> tuple[Any, ...]:
    e = form.events
    return (
        form.name,
        form.rows,
        form.read,
        [*form.parameters.items()],
        form.n_differentiated,
        [(name, each.sizes, _exponents(each.dimension)) for name, each in form.readable.items()],
        form.own,
        form.own_nominal,
        form.own_units,
        form.terminals,
        form.places,
        form.standing.tolist(),
        (
            e.names,
            [
                (r.text, _place(r.span, files), r.strict, r.timed, r.sampled, r.unit, r.at_events, r.combinational)
                for r in e.relations
            ],
            [(w.text, _place(w.span, files)) for w in e.whens],
            [(r.number, r.when, r.text, _place(r.span, files)) for r in e.resets],
            [(number, _exponents(of)) for number, of in e.scales],
        ),
        form.relative,
        [(i, packed(quantity).decode(), rate) for i, (quantity, rate) in form.coordinates.items()],
        form.delayed,
    )


def _unpacked(data: Any, facts: Facts, make: Callable[[], Expressions], files: tuple[str, ...]) -> Form:
    name, rows, read, parameters, n, readable, own, nominal, units, terminals, places, standing, *rest = data
    (names, relations, whens, resets, scales), relative, coordinates, delayed = rest
    events = Events(
        names,
        tuple(Relation(text, _span(span, files), *kinds) for text, span, *kinds in relations),
        tuple(WhenClause(text, _span(span, files)) for text, span in whens),
        tuple(Reset(number, when, text, _span(span, files)) for number, when, text, span in resets),
        tuple((number, _dimension(exponents)) for number, exponents in scales),  # type: ignore[misc]
    )
    return Form(
        name, rows, read, dict(parameters), n,
        {each: Readable(sizes, _dimension(exponents)) for each, sizes, exponents in readable}, facts, make,
        own, nominal, units, terminals, places, np.array(standing, bool), events, relative,
        {i: (unpacked(quantity.encode(), CLASSES), rate) for i, quantity, rate in coordinates}, delayed,
    )  # fmt: skip


def _exponents(dimension: Dimension | None) -> tuple[Any, ...] | None:
    if dimension is None:
        return None
    return dimension.is_angle, *(str(e) if isinstance(e, Fraction) else e for e in dimension.exponents)


@cache
def _dimension(found: tuple[Any, ...] | None) -> Dimension | None:
    if found is None:
        return None
    return Dimension(tuple(Fraction(e) if isinstance(e, str) else e for e in found[1:]), found[0])


def _place(span: Span, files: tuple[str, ...]) -> tuple[int, ...]:
    """A span with the number of its file, which other installations have elsewhere."""
    return files.index(span.file), span.line, span.column, span.end_line, span.end_column


def _span(place: tuple[int, int, int, int, int], files: tuple[str, ...]) -> Span:
    return Span(files[place[0]], *place[1:])


def _places(tree: Any) -> tuple[Span, ...]:
    """The spans in a syntax tree, in order."""
    if isinstance(tree, Span):
        return (tree,)
    parts = tree if isinstance(tree, tuple) else ()
    if is_dataclass(tree):
        parts = tuple(getattr(tree, each.name) for each in fields(tree))
    return tuple(span for part in parts for span in _places(part))
