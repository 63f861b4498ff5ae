"""A page per type of the library, in a folder per domain: equations, parameters, an example, the text."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from pathlib import Path

from mathematics import equation, inline, line, markup, symbol
from networks import alone, drawn
from pages import Page, code, plain, sentence, table
from shown_netlists import example, users

from netsim.library.catalogue import Definition, component_tables, definitions, whole_library
from netsim.library.files import library_folder
from netsim.text.show import show_statement
from netsim.text.syntax import Branch, ComponentDef, DomainDef, FunctionDef, ModelDef, Name, Part, Quantity, When

LIBRARY = whole_library()
SEVERAL = "couplings"
"""The folder of types that join domains."""
HEADS = {
    "terminals": ("terminal", "domain"),
    "parameters": ("parameter", "unit", "bounds", "default", "meaning"),
    "inputs": ("input", "unit", "meaning"),
    "outputs": ("output", "unit", "meaning"),
}


def pages() -> Iterator[Page]:
    """The overview, then each domain's index with the pages of its types."""
    yield Page("components/index.md", overview(), "Overview")
    for folder, found in folders().items():
        yield Page(f"components/{folder}/index.md", index(folder), folder)
        yield from (Page(f"components/{folder}/{d.name}.md", component_page(d), d.name) for d in found)
    yield Page("components/functions.md", functions_page(), "Functions")


@cache
def folders() -> dict[str, list[Definition]]:
    """Types by the folder of their page: the domain of their terminals, or `couplings`."""
    found: dict[str, list[Definition]] = {name: [] for name in (*LIBRARY.domains, SEVERAL)}
    for d in definitions(LIBRARY):
        found[folder_of(d)].append(d)
    return {name: types for name, types in found.items() if types}


def folder_of(d: Definition) -> str:
    """A type whose terminals are of one domain, signals aside, stands under that domain."""
    domains = {t.domain for t in d.terminals}
    physical = domains - {"signal"} or domains
    return next(iter(physical)) if len(physical) == 1 else SEVERAL


# ---------------------------------------------------------------------------------------------------- indices


def overview() -> str:
    """All domains with their quantities."""
    rows = []
    for folder, found in folders().items():
        domain = LIBRARY.domains.get(folder)
        words = domain.doc if domain else "types that join domains: motors, heated parts, pumps, screws"
        rows.append((f"[{folder}]({folder}/index.md)", _quantities(domain) if domain else "", str(len(found)), words))
    head = ("domain", "quantities", "types", "")
    return "\n\n".join(
        [
            "# Components",
            f"The library has {len(definitions(LIBRARY))} types. `use NAME` in a netlist loads a folder of it, and "
            "`netsim list WORD` searches it on the command line. Each page has the equations of a type, its parameters "
            "and an example that runs.",
            table(head, rows),
        ]
    )


def quantities(domain: DomainDef) -> tuple[Quantity, ...]:
    """Across, through and integral quantities."""
    return (*domain.across, *domain.through, *domain.integral)


def _quantities(domain: DomainDef) -> str:
    return ", ".join(f"{q.name} [{q.unit}]" for q in (*domain.across, *domain.through))


def index(folder: str) -> str:
    """A domain: its quantities, and its types with their sentences, in the order of the library's files."""
    parts = [f"# {folder}"]
    if domain := LIBRARY.domains.get(folder):
        roles = [
            (role, f"`{q.name}`", q.unit, q.doc)
            for role in ("across", "through", "integral")
            for q in getattr(domain, role)
        ]
        parts += [sentence(domain.doc)] if domain.doc else []
        parts += [table(("role", "quantity", "unit", "meaning"), roles)]
        parts += (
            [f"Power into a type through one terminal: {inline(domain.power)}."] if domain.power is not None else []
        )
    else:
        parts += ["Types with terminals in several domains."]
    for file, found in by_file(folders()[folder]).items():
        rows = [(f"[{d.name}]({d.name}.md)", ", ".join(t.name for t in d.terminals), plain(d.doc)) for d in found]
        parts += [f"## {file.removesuffix('.lib').replace('_', ' ')}", table(("type", "terminals", ""), rows)]
    return "\n\n".join(parts)


def by_file(found: Sequence[Definition]) -> dict[str, list[Definition]]:
    """Types by the name of their file."""
    files: dict[str, list[Definition]] = {}
    for d in found:
        files.setdefault(Path(d.span.file).name, []).append(d)
    return files


def functions_page() -> str:
    """The functions that the library defines."""
    return "\n\n".join(["# Functions of the library", *map(_function, LIBRARY.functions.definitions.values())])


def _function(function: FunctionDef) -> str:
    formals = ", ".join(f"{p.name} [{p.unit}]" for p in function.parameters)
    head = Name(tuple([Part(function.name)]))
    shown = equation(head, function.value, {p.name for p in function.parameters if p.size})
    words = f"{sentence(function.doc)} Of {formals}."
    return "\n\n".join([f"## {function.name}", words, equations([shown]), code(show_statement(function), "component")])


# ------------------------------------------------------------------------------------------------------ a type


def component_page(d: Definition) -> str:
    """The page of one component or model."""
    parts = [f"# {d.name}", *([sentence(d.doc)] if d.doc else []), _origin(d)]
    parts += [f"<!-- picture of {d.name} -->"]
    shown = "" if isinstance(d, ModelDef) else mathematics(d)
    parts += ["## Equations", shown] if shown else []
    for title, rows in component_tables(d):
        if rows:
            cells = [tuple(f"`{cell}`" if k == 0 else cell for k, cell in enumerate(row)) for row in rows]
            parts += [f"## {title.capitalize()}", table(HEADS[title], cells)]
    parts += _example(d.name)
    parts += ["## Text", code(show_statement(d), "component")]
    return "\n\n".join(parts)


def with_picture(text: str) -> str:
    """A page with its picture in place of the comment that asks for it; pictures are made for pages that are built."""
    return re.sub(r"<!-- picture of (\w+) -->", lambda match: picture(match[1]), text)


def picture(name: str) -> str:
    """The network of a type's example; the type alone where there is none that a reader could take in."""
    found = example(name)
    if shown := drawn(found.text, name) if found else "":
        return shown
    d = next(d for d in definitions(LIBRARY) if d.name == name)
    return alone(name, [(t.name, t.domain) for t in d.terminals])


def _origin(d: Definition) -> str:
    file = Path(d.span.file).relative_to(library_folder()).as_posix()
    home = file.partition("/")[0].removesuffix(".lib")
    target = f"../../source/library/{file}.html#__codelineno-0-{d.span.line}"
    return f'`use {home}` · <a href="{target}">library/{file}, line {d.span.line}</a>'


def _example(name: str) -> list[str]:
    found, models = example(name), users().get(name, ())
    parts = []
    if found:
        parts += ["## Example", *([found.sentence] if found.sentence else []), code(found.text, "netlist")]
    links = ", ".join(f"[{model}](../../gallery/{model}.md)" for model in models[:8])
    inside = [m for m in LIBRARY.models.values() if any(getattr(s, "type", "") == name for s in m.body)]
    parts += [f"Models that use it: {links}."] if links else []
    parts += [f"Part of {', '.join(f'[{m.name}](../{folder_of(m)}/{m.name}.md)' for m in inside)}."] if inside else []
    return parts


# ------------------------------------------------------------------------------------------------- mathematics


def mathematics(d: ComponentDef) -> str:
    """Everything that a component states, as formulas with a heading for each kind."""
    vectors = {
        each.name for kind in (d.params, d.inputs, d.variables, d.outputs, d.discretes) for each in kind if each.size
    }
    vectors |= {
        f"{t.name}.{q.name}"
        for t in d.terminals
        if t.domain != "signal"
        for q in quantities(LIBRARY.domains[t.domain])
        if q.size
    }
    kinds = [
        ("", [branch_line(branch, d) for branch in d.branches]),
        ("", [equation(e.left, e.right, vectors) for e in d.equations]),
        (
            "kinetic and potential energy, of which the forces are derivatives",
            _energies(d, ("kinetic", "potential"), vectors),
        ),
        ("where", [line(symbol(let.name, vectors), _equals(), markup(let.value, vectors)) for let in d.lets]),
        ("at events", [_when(when, vectors) for when in d.whens]),
        ("stored energy and lost power", _energies(d, ("stores", "dissipates"), vectors)),
        ("outputs", [line(symbol(o.name, vectors), _equals(), markup(o.value, vectors)) for o in d.outputs]),
    ]
    return "\n\n".join((f"{words}:\n\n" if words else "") + equations(lines) for words, lines in kinds if lines)


SYMBOLS = {"kinetic": "T", "potential": "V", "stores": "E", "dissipates": "P"}


def _energies(d: ComponentDef, words: Sequence[str], vectors: set[str]) -> list[str]:
    found = ((word, getattr(d, word)) for word in words)
    return [
        line(f"<mi mathvariant='script'>{SYMBOLS[word]}</mi>", _equals(), markup(energy, vectors))
        for word, energy in found
        if energy is not None
    ]


def branch_line(branch: Branch, d: ComponentDef) -> str:
    """`v = v_p - v_n`, and which through flows from p to n."""
    ends = {t.name: t.domain for t in d.terminals}
    domain = LIBRARY.domains[ends[branch.start] if branch.start != "ground" else ends[branch.end]]
    roles = (domain.across,) if len(branch.names) == 2 else (domain.integral, domain.across)
    shown = []
    for name, (quantity, *_) in zip(branch.names, roles):
        at = [
            f"<msub>{symbol(quantity.name)}<mi mathvariant='normal'>{escape(end)}</mi></msub>"
            for end in (branch.start, branch.end)
            if end != "ground"
        ]
        minus = "<mo form='prefix'>−</mo>" if branch.start == "ground" else ""
        shown.append(f"{symbol(name)}{_equals()}{minus}{'<mo>−</mo>'.join(at)}")
    flow = f"<mtext>{branch.start}</mtext><mo stretchy='false'>→</mo><mtext>{branch.end}</mtext>"
    gap = "<mo>,</mo><mspace width='1.5em'/>"
    return line(
        gap.join(
            [
                *shown,
                f"{symbol(branch.names[-1])}<mspace width='0.4em'/><mtext>from</mtext><mspace width='0.4em'/>{flow}",
            ]
        )
    )


def _when(when: When, vectors: set[str]) -> str:
    actions = "<mo>,</mo><mspace width='0.6em'/>".join(
        f"{markup(a.target, vectors)}<mo>{':=' if a.reinit else '='}</mo>{markup(a.value, vectors)}"
        for a in when.actions
    )
    words = "<mtext>when</mtext><mspace width='0.4em'/>"
    return line(f"{words}{markup(when.condition, vectors)}<mtext>:</mtext><mspace width='0.6em'/>{actions}")


def _equals() -> str:
    return '<mo form="infix">=</mo>'


def equations(lines: Sequence[str]) -> str:
    """Formulas below each other."""
    return '<div class="equations">\n' + "\n".join(lines) + "\n</div>"
