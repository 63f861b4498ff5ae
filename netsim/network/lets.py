"""Lets that move: those of signals or of the time name a series of a result, and stand for their expression where an
input is bound to them."""

from collections.abc import Container, Iterator

from netsim.library.component import CONSTANTS, WORLD, names_in, plain_name
from netsim.network.network import Frame
from netsim.text.errors import InputError, Problem
from netsim.text.limits import check_limit
from netsim.text.syntax import Expr, Let, Name


def derived_from(expr: Expr, frame: Frame) -> Expr | None:
    """The expression behind `let work = integral(A.power)`: a let that speaks of signals or of the time, by other lets
    too."""
    head = (plain_name(expr) or "") if isinstance(expr, Name) else ""
    let = _let(head, frame)
    return let.value if let is not None and _terms(head, frame)[0] else None


def _let(head: str, frame: Frame) -> Let | None:
    definition = frame.definitions.get(head)
    return definition.statement if definition is not None and isinstance(definition.statement, Let) else None


def _terms(head: str, frame: Frame) -> tuple[int, int]:
    """The terms of a let's expression where the lets in it are written out, and how many of these stand on one another;
    0 if it reads neither signals nor the time. What was found is kept in the frame."""
    known, waiting, open_ = frame.terms, [head], set[str]()
    while waiting:
        head = waiting[-1]
        let = _let(head, frame)
        assert let is not None
        names = [] if head in known else list(names_in(let.value))
        heads = [plain_name(name) or "" for name in names]
        if again := open_.intersection(heads):
            on = min(again)
            span = _let(on, frame).span  # type: ignore[union-attr]
            raise InputError(Problem("E233", f"'{on}' depends on itself", span))
        inside = [each for each in heads if each not in known and _let(each, frame) is not None]
        if inside:
            open_.add(head)
            waiting += inside
            continue
        waiting.pop()
        open_.discard(head)
        if head not in known:
            found = [
                known[each] if each in known else (int(each == "time" or _is_signal(name, frame)), 0)
                for name, each in zip(names, heads)
            ]
            moves = any(terms for terms, _ in found)
            terms = sum(terms or 1 for terms, _ in found) if moves else 0
            depth = 1 + max(depth for _, depth in found) if moves else 0
            check_limit("terms", terms, f"'{head}' stands for {terms:.3g} terms, with its lets written out", let.span)
            check_limit("depth", depth, f"'{head}' stands on {depth} lets of signals", let.span)
            known[head] = terms, depth
    return known[head]


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
