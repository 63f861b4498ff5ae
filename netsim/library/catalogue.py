"""The component library described: domains, components and models of a domain, and one of them."""

from collections.abc import Sequence
from typing import Any

from netsim.library.files import Library, collect, library_names
from netsim.library.places import own_roots
from netsim.library.search import Definition, definitions, search
from netsim.text.columns import columns, counted
from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.expressions.show import show_expression
from netsim.text.roots import roots_beside, within
from netsim.text.show import show_statement
from netsim.text.syntax import Count, ModelDef, Param, Program, Use


def whole_library(files: Sequence[str] = ()) -> Library:
    """Everything that `use` can name, and what these files define. Raises `InputError` for a file that is not there."""
    own = (Use(file, True, span=Span("--use", 1, 1, 1, 1)) for file in files)
    with within((*own_roots("library"), *(folder for file in files for folder in roots_beside(file)))):
        return collect(Program((*(Use(name, False) for name in library_names()), *own), "library"))


SEE_ALSO = 12
"""Most names that a component's description refers to."""


def describe(library: Library, name: str = "") -> str:
    """What `netsim list [NAME]` prints: all domains, one domain or component, or what a search for the words finds.
    Raises `InputError` where it finds nothing."""
    if not name:
        return show_domains(library)
    if name in library.domains:
        return show_domain(library, name)
    found = search(name, library)
    if name in library.types() or name in library.partials:
        others = [d.name for d in found if d.name != name]
        see = f"see also  {', '.join(others[:SEE_ALSO])}\n" if others else ""
        return show_component(library, name) + see
    if name in library.functions.definitions:
        return f"{show_statement(library.functions.definitions[name])}\n"
    if found:
        rows = [(d.name, _terminals(d), d.doc) for d in found]
        return "\n".join([f"{counted(len(found), 'component')} for '{name}'", *columns(rows)]) + "\n"
    hint = (
        nearest(name, [*library.domains, *library.types(), *library.partials])
        or f"the domains are {', '.join(library.domains)}"
    )
    raise InputError(Problem("E440", f"there is no domain or component '{name}'", hint=hint))


def show_domains(library: Library) -> str:
    """Every domain with its across and through, and its components with their sentences."""
    parts = []
    for name, domain in library.domains.items():
        quantities = [
            f"{role} {q.name} [{q.unit}]" for role in ("across", "through", "integral") for q in getattr(domain, role)
        ]
        own = [(d.name, _terminals(d), d.doc) for d in definitions_of(library, name)]
        parts.append("\n".join([f"{name}: {', '.join(quantities)}", *columns(own)]))
    return "\n\n".join(parts) + "\n"


def show_domain(library: Library, name: str) -> str:
    """A domain: its quantities with units, and its components with their sentences."""
    domain = library.domains[name]
    roles = [(role, q.name, q.unit, q.doc) for role in ("across", "through", "integral") for q in getattr(domain, role)]
    power = [("power", show_expression(domain.power), "W", "")] if domain.power is not None else []
    own = [(d.name, _terminals(d), d.doc) for d in definitions_of(library, name)]
    return (
        "\n".join(
            [
                f"{name}: {domain.doc}" if domain.doc else name,
                *columns([*roles, *power]),
                "",
                counted(len(own), "component"),
                *columns(own),
            ]
        )
        + "\n"
    )


def definitions_of(library: Library, domain: str) -> list[Definition]:
    """Components and models with a terminal of a domain; blocks are what has signal terminals alone."""
    found = []
    for definition in definitions(library):
        if domain in _domains(definition) and (domain != "signal" or _domains(definition) == {"signal"}):
            found.append(definition)
    return found


def _terminals(d: Definition) -> str:
    return f"({', '.join(t.name for t in d.terminals)})"


def show_component(library: Library, name: str) -> str:
    """A component or model: its text, then its parameters, inputs and outputs with units, bounds, defaults and
    sentences."""
    d = next(
        definition for definition in [*definitions(library), *library.partials.values()] if definition.name == name
    )
    tables = ((title, table) for title, table in component_tables(d) if table)
    parts = [f"{name}: {d.doc}" if d.doc else name]
    for title, table in tables:
        parts += ["", title, *columns(table)]
    return "\n".join([*parts, "", "text", *(f"  {line}" for line in show_statement(d).splitlines())]) + "\n"


def component_tables(d: Definition) -> list[tuple[str, Sequence[Sequence[str]]]]:
    """What a user may write about a component or model, or read from it, as (title, rows)."""
    terminals = [(t.name, f"{t.direction} {t.domain}".strip()) for t in d.terminals]
    own = d.body if isinstance(d, ModelDef) else (*d.params, *d.counts)
    params = [
        (
            p.name + _size(p.size),
            p.unit or "1",
            " ".join(f"{b.op} {show_expression(b.value)}" for b in p.bounds),
            _given(p.default),
            p.doc,
        )
        for p in own
        if isinstance(p, Param)
    ]
    counts = [
        (c.name, "count", " ".join(f"{b.op} {show_expression(b.value)}" for b in c.bounds), _given(c.default), c.doc)
        for c in own
        if isinstance(c, Count)
    ]
    if isinstance(d, ModelDef):
        return [("terminals", terminals), ("parameters", params + counts)]
    inputs = [(q.name + _size(q.size), q.unit, q.doc) for q in d.inputs]
    outputs = [(o.name + _size(o.size), o.unit, o.doc) for o in d.outputs]
    return [("terminals", terminals), ("parameters", params + counts), ("inputs", inputs), ("outputs", outputs)]


def _given(default: Any) -> str:
    return "must be given" if default is None else f"default {show_expression(default)}"


def _size(size: Sequence[Any]) -> str:
    return f"[{', '.join(map(show_expression, size))}]" if size else ""


def _domains(d: Definition) -> set[str]:
    return {t.domain for t in d.terminals}
