"""Lets that move: those of signals or of the time name a series of a result, and stand for their expression where an
input is bound to them."""

from __future__ import annotations

from collections.abc import Container, Iterator

from netsim.library.component import CONSTANTS, WORLD, names_in, plain_name
from netsim.network.network import Frame
from netsim.text.errors import InputError, Problem
from netsim.text.syntax import Expr, Let, Name


def derived_from(expr: Expr, frame: Frame, path: tuple[str, ...] = ()) -> Expr | None:
    """The expression behind `let work = integral(A.power)`: a let that speaks of signals or of the time, by other lets
    too. `path`: the lets it is asked for by."""
    head = (plain_name(expr) or "") if isinstance(expr, Name) else ""
    definition = frame.definitions.get(head)
    if definition is None or not isinstance(definition.statement, Let):
        return None
    if head in path:
        raise InputError(Problem("E233", f"'{head}' depends on itself", definition.statement.span))
    value, path = definition.statement.value, (*path, head)
    inside = [
        derived_from(name, frame, path) is not None or plain_name(name) == "time" or _is_signal(name, frame)
        for name in names_in(value)
    ]
    return value if any(inside) else None


def _is_signal(name: Name, frame: Frame) -> bool:
    """Neither the time, a param, count or let, a world value nor a constant."""
    head = name.parts[0].text
    if head in ("time", *frame.definitions, *frame.integers):
        return False
    return head in frame.members or not (head in WORLD or plain_name(name) in CONSTANTS)


def signals_in(expr: Expr, frame: Frame, besides: Container[str] = ()) -> Iterator[Name]:
    """The signals an expression reads, by lets too: not the time, params, counts, world values, constants, nor names in
    `besides`."""
    for name in names_in(expr):
        if (derived := derived_from(name, frame)) is not None:
            yield from signals_in(derived, frame, besides)
        elif _is_signal(name, frame) and not (len(name.parts) == 1 and name.parts[0].text in besides):
            yield name
