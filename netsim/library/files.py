"""Reading library texts: `use translational` finds `library/translational.lib` or all of `library/translational/`, or
a library of your own (netsim.library.places), `use "robot.urdf"` a robot."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain
from pathlib import Path

from netsim.library.checks import check
from netsim.library.component import SIGNAL, Component
from netsim.library.components import Components
from netsim.library.domains import check_domain
from netsim.library.extension import extended, extended_models
from netsim.library.formats import format_of
from netsim.library.functions import Functions, check_functions
from netsim.library.places import exists, is_file, names_in, own_folders, own_roots, roots_of, texts_in
from netsim.library.places import library_folder as library_folder
from netsim.library.places import models_folder as models_folder
from netsim.library.shadowing import Type, own_and_library, shadowing_problems
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.kept.parsed_texts import parsed
from netsim.text.limits import check_limit
from netsim.text.roots import check_inside, present_roots, within
from netsim.text.syntax import ComponentDef, DomainDef, FunctionDef, Include, ModelDef, Program, Statement, Use

DEFINITIONS = ComponentDef | DomainDef | FunctionDef | ModelDef


@dataclass(frozen=True, repr=False)
class Library:
    """Domains, components and subnetwork models by name, as seen by one program."""

    domains: Mapping[str, DomainDef] = field(default_factory=dict)
    components: Components = field(default_factory=lambda: Components({}, Functions({}), {}))
    models: Mapping[str, ModelDef] = field(default_factory=dict)
    notes: tuple[Problem, ...] = ()
    functions: Functions = field(default_factory=lambda: Functions({}))
    partials: Mapping[str, ComponentDef] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Library of {len(self.types())} types in {len(self.domains)} domains>"

    def types(self) -> list[str]:
        return [*self.components, *self.models]


def find_netlist(name: str) -> Path:
    """The file of that name or, where there is none, the shipped model: `two_masses`, `models/two_masses.net`,
    `tripod/stage4`."""
    path = Path(name)
    if not exists(path) and not path.is_absolute():
        below = path.parts[1:] if path.parts[:1] == ("models",) else path.parts
        shipped = models_folder().joinpath(*below).with_suffix(".net")
        if below and is_file(shipped):
            return shipped
    return path


def shipped_models() -> list[str]:
    """The example netlists by the names that `find_netlist` takes."""
    folder = models_folder()
    found = (path.relative_to(folder).with_suffix("") for path in sorted(folder.rglob("*.net")))
    return [path.as_posix() for path in found if path.parts[0] != "broken"]


def shown_path(file: str | Path) -> str:
    """A file as it is named to the user: a shipped model as `models/two_masses.net`, wherever it lies."""
    path, folder = Path(file), models_folder()
    if path.is_absolute() and path.is_relative_to(folder):
        return f"models/{path.relative_to(folder).as_posix()}"
    return str(file)


def library_names() -> list[str]:
    """Everything `use` can name."""
    folders = [folder for folder in (library_folder(), *own_folders()) if folder.is_dir()]
    return sorted({name for folder in folders for name in _names(folder, folder.stat().st_mtime_ns)})


@lru_cache(maxsize=64)
def _names(folder: Path, stamp: int) -> frozenset[str]:
    """The names in a folder as long as nothing is added to it: a text may have 1e5 wrong `use` lines."""
    return frozenset(names_in(folder))


def homes(name: str) -> str:
    """A hint such as "add the line: use couplings" for a name that a shipped library defines, or an empty string."""
    told = re.compile(rf"^(?:(?:partial\s+)?component|model|domain)\s+{re.escape(name)}\b", re.MULTILINE)
    found = [
        home
        for home in library_names()
        if any(told.search(f.read_text(encoding="utf-8")) for f in library_files(Use(home, False)))
    ]
    return "add the line: " + " or ".join(f"use {home}" for home in found) if found else ""


def library_files(use: Use) -> list[Path]:
    """The files behind one `use`, or the complaint that there are none."""
    if use.is_path:
        path = Path(use.span.file).parent / use.target
        check_inside(path, use.target, use.span, roots_of(use.span.file))
        if not is_file(path):
            raise InputError(Problem("E220", f"cannot read '{use.target}'", use.span, hint=f"looked for {path}"))
        return [path]
    for folder in chain([library_folder()], own_folders()):
        if files := texts_in(folder, use.target):
            return files
    names = library_names()
    hint = nearest(use.target, names) or f"there are {', '.join(names)}"
    raise InputError(Problem("E220", f"no library '{use.target}'", use.span, hint=hint))


@lru_cache(maxsize=256)
def _read(path: str, stamp: int) -> Program:
    if (found := format_of(Path(path))) and found.program:
        return found.program(Path(path), False, library_types)
    return parsed(Path(path))


@lru_cache(maxsize=8)
def library_types(name: str) -> frozenset[str]:
    """Names of types that `use NAME` brings in: what is defined beside it needs others."""
    found = collect(Program((Use(name, False),)))
    return frozenset(found.types())


def read_program(path: Path) -> Program:
    """The parsed text of a file; parsed again only when the file has changed."""
    return _read(str(path), path.stat().st_mtime_ns)


def collect(program: Program) -> Library:
    """The definitions of a program and of all it uses; a name defined twice shows both places.

    What programs without definitions use is collected once, as long as its files stay as they are."""
    own = [s for s in program.statements if isinstance(s, DEFINITIONS)]
    if own:
        library = _collected(program)
        for statement in own:  # a mistake in what is written here is told, also where nothing uses it
            library.components.get(statement.name)
        return library
    try:
        files = tuple(_used(program.statements, set()))
    except InputError:  # told with all other mistakes
        return _collected(program)
    files = (*files, *((name, id(statements)) for name, statements in given.items()))
    if files not in _libraries:
        if len(_libraries) == MOST_LIBRARIES:
            _libraries.clear()
        _libraries[files] = _collected(program)
    return _libraries[files]


GIVEN = "<component>"
given: dict[str, tuple[Statement, ...]] = {}
"""Definitions from Python by the name that they define, each with the `use` lines before it; every program has them."""


def define(text: str) -> list[str]:
    """Components, models, functions or domains from a text, for all netlists that are loaded in this process from now
    on; their names come back. What was given under such a name before is replaced.

    Raises `InputError` with every mistake in the text."""
    if not isinstance(text, str):
        message = f"a component is given as its text, not as {type(text).__name__}"
        raise InputError(Problem("E237", message, hint="netsim.component('component ... end')"))
    from netsim.text.parse import parse

    program = parse(text if text.endswith("\n") else f"{text}\n", GIVEN)
    uses = tuple(s for s in program.statements if isinstance(s, Use))
    made = {s.name: (*uses, s) for s in program.statements if isinstance(s, DEFINITIONS)}
    before = dict(given)
    given.update(made)
    try:
        library = collect(Program(()))
        if wrong := check_library(library, [name for name in made if name in library.components]):
            raise InputError(wrong)
    except InputError:
        given.clear()
        given.update(before)
        raise
    return list(made)


def _used(statements: Iterable[object], seen: set[Path]) -> Iterator[tuple[str, int]]:
    """The files that statements use, and when they were written."""
    for use in (s for s in statements if isinstance(s, Use)):
        for file in library_files(use):
            if file not in seen:
                seen.add(file)
                yield str(file), file.stat().st_mtime_ns
                yield from _used(read_program(file).statements, seen)


_libraries: dict[tuple[tuple[str, int], ...], Library] = {}
MOST_LIBRARIES = 64
"""Sets of files whose definitions are kept."""


def _collected(program: Program) -> Library:  # noqa: C901  (one case per kind of definition)
    domains: dict[str, DomainDef] = {"signal": SIGNAL}
    components: dict[str, ComponentDef] = {}
    models: dict[str, ModelDef] = {}
    functions: dict[str, FunctionDef] = {}
    problems: list[Problem] = []
    notes: list[Problem] = []
    seen: set[str] = set()
    shadows: list[tuple[Type, Type]] = []

    def visit(statements: Iterable[object]) -> None:
        for statement in statements:
            match statement:
                case Use():
                    try:
                        files = [f for f in library_files(statement) if str(f) not in seen]
                    except InputError as error:
                        problems.extend(error.problems)
                        continue
                    for file in files:
                        seen.add(str(file))
                        read = read_program(file)
                        notes.extend(read.notes)
                        visit(read.statements)
                case DomainDef():
                    _define(domains, statement, "domain", problems)
                    problems.extend(check_domain(statement))
                case ComponentDef():
                    _define_type(components, models, statement, problems, shadows)
                case ModelDef():
                    _define_type(models, components, statement, problems, shadows)
                case FunctionDef():
                    _define(functions, statement, "function", problems)

    visit(program.statements)
    with within(own_roots(GIVEN)):
        visit(statement for each in given.values() for statement in each)
    for problem in shadowing_problems(shadows, (*components.values(), *models.values()), library_folder()):
        (notes if problem.is_note else problems).append(problem)
    known = Functions(functions)
    whole = extended(components, problems, models, homes)
    models = extended_models(models, whole, problems, homes)
    problems += check_functions(known)
    if problems:
        raise InputError(problems)
    return Library(
        domains,
        Components({name: c for name, c in whole.items() if not c.is_partial}, known, domains),
        {name: known.written_out(model) for name, model in models.items()},
        tuple(notes),
        known,
        {name: c for name, c in whole.items() if c.is_partial},
    )


def _define(table: dict, item: DomainDef | FunctionDef | Type, word: str, problems: list[Problem]) -> None:
    if (before := table.setdefault(item.name, item)) is not item:
        also = ((before.span, "the first one"),)
        problems.append(Problem("E221", f"{word} '{item.name}' is defined twice", item.span, also=also))


def _define_type(
    table: dict, other: dict, item: Type, problems: list[Problem], shadows: list[tuple[Type, Type]]
) -> None:
    before = table.get(item.name) or other.get(item.name)
    pair = own_and_library(before, item, library_folder()) if before is not None else None
    if pair is None:
        _define(table if before is None or item.name in table else other, item, "type", problems)
        return
    shadows.append(pair)
    if pair[0] is item:
        other.pop(item.name, None)
        table[item.name] = item


def check_library(library: Library, names: Iterable[str] | None = None) -> list[Problem]:
    """The mistakes in the named components (all of them by default); what extends a component with mistakes has one
    itself."""
    found: dict[str, list[Problem]] = {}

    def of(name: str) -> list[Problem]:
        if name not in found:
            component = library.components[name]
            bases = [base for base in component.definition.bases if base.parts[0].text in library.components]
            wrong = [(base, problems) for base in bases if (problems := of(base.parts[0].text))]
            found[name] = [problem for _, problems in wrong for problem in problems] or _checked(component)
            for base, _ in wrong:
                message = f"component '{name}' extends '{base.parts[0].text}', which has mistakes of its own"
                found[name].append(Problem("E257", message, base.span, hint="mend that component first"))
        return found[name]

    return list(
        dict.fromkeys(problem for name in (library.components if names is None else names) for problem in of(name))
    )


def _checked(component: Component) -> list[Problem]:
    """The mistakes in a component, looked for once."""
    kept = vars(component)
    if "mistakes" not in kept:
        kept["mistakes"] = check(component)
    return list(kept["mistakes"])


def included(program: Program, above: tuple[Path, ...] = ()) -> Iterator[Statement]:
    """The statements of a program with those of the files it includes in their places; raises `InputError` (E220) for a
    file that is not there, or that includes itself, and E262 for one that lies elsewhere. `above`: the files that
    include this one."""
    above = (*above, Path(program.file).resolve())
    roots = present_roots() or own_roots(above[0])
    for statement in program.statements:
        if not isinstance(statement, Include):
            yield statement
            continue
        path = check_inside(Path(program.file).parent / statement.path, statement.path, statement.span, roots)
        if not is_file(path):
            raise InputError(
                Problem("E220", f"cannot read '{statement.path}'", statement.span, hint=f"looked for {path}")
            )
        if path.resolve() in above:
            message = f"'{statement.path}' includes itself: {' -> '.join(each.name for each in (*above, path))}"
            raise InputError(Problem("E220", message, statement.span))
        check_limit("files", len(above), f"{len(above)} files include one another", statement.span)
        yield from included(read_program(path), above)
