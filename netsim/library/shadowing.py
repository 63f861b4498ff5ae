"""Types of a program that have the name of a library's type: they stand in its place where nothing else of the
libraries needs it."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from netsim.text.errors import Problem
from netsim.text.syntax import ComponentDef, Instance, ModelDef

Type = ComponentDef | ModelDef


def own_and_library(first: Type, second: Type, folder: Path) -> tuple[Type, Type] | None:
    """(the program's own, the library's) of two types with one name; None where both are of one kind."""
    shipped = [Path(each.span.file).is_relative_to(folder) for each in (first, second)]
    if shipped[0] == shipped[1]:
        return None
    return (second, first) if shipped[0] else (first, second)


def shadowing_problems(shadows: Iterable[tuple[Type, Type]], types: Iterable[Type], folder: Path) -> Iterator[Problem]:
    """What to say of each pair (own, library's): a note (N221), or E221 where other types of the libraries are made of
    the library's."""
    others = [each for each in types if Path(each.span.file).is_relative_to(folder)]
    for own, library in shadows:
        home = Path(library.span.file).relative_to(folder).parts[0].removesuffix(".lib")
        users = [each.name for each in others if own.name in _made_of(each)]
        if users:
            message = f"'{own.name}' is a type of the library {home}, of which '{users[0]}' is made"
            hint = "give your own another name"
            yield Problem("E221", message, own.span, hint=hint, also=((library.span, "the library's"),))
        else:
            kind = "component" if isinstance(own, ComponentDef) else "model"
            message = f"your {kind} '{own.name}' stands in the place of the type of that name of the library {home}"
            yield Problem("N221", message, own.span)


def _made_of(each: Type) -> set[str]:
    """Names of the types that a type extends, contains or brings with it."""
    if isinstance(each, ModelDef):
        inside = {statement.type for statement in each.body if isinstance(statement, Instance)}
    else:
        inside = {one.instance.type for one in each.company}
    return inside | {base.parts[0].text for base in each.bases}
