"""Lets that move: those of signals or of the time name a series of a result, and stand for their expression where an
input is bound to them. The order of params and lets that stand on one another, and circles of them."""

from collections.abc import Container, Hashable, Iterator

from netsim.library.component import CONSTANTS, WORLD, names_in, plain_name
from netsim.network.network import Definition, Frame
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


def circle(path: str, definition: Definition) -> Problem:
    """What is said of a param or let that stands on itself: all members of the shortest circle, in their order."""
    before: dict[str, tuple[str, Definition]] = {}
    waiting = [(path, definition)]
    for where, each in waiting:
        for below, other in _stands_on(each):
            if below == path:
                round_ = [(where, each)]
                while round_[-1][0] != path:
                    round_.append(before[round_[-1][0]])
                names = ", then ".join(f"'{name}'" for name, _ in reversed(round_[:-1]))
                through = f": it needs {names}, which needs '{path}'" if names else ""
                words = f"'{path}' depends on itself{through}"
                also = tuple((other.statement.span, f"'{name}'") for name, other in reversed(round_[:-1]))
                return Problem("E233", words, definition.statement.span, also=also[:5])
            if below not in before:
                before[below] = where, each
                waiting.append((below, other))
    return Problem("E233", f"'{path}' depends on itself", definition.statement.span)


def deepest_first(path: str, definition: Definition, known: Container[Hashable]) -> Iterator[tuple[str, Definition]]:
    """Params and lets that this one stands on and that are not `known` yet, in any depth, each behind what it stands on
    itself; nothing where it stands on known ones alone."""
    waiting, seen = [(path, definition, False)], set[tuple[int, str]]()
    while waiting:
        where, each, ready = waiting.pop()
        if ready:
            yield where, each
            continue
        seen.add((id(each.statement), where))
        inside = list[tuple[str, Definition, bool]]()
        for under, below in _stands_on(each):
            key = (id(below.statement), under)
            if key not in seen and key not in known:
                inside.append((under, below, False))
        if where != path or each is not definition:
            waiting.append((where, each, True))
        waiting += inside


def _stands_on(definition: Definition) -> Iterator[tuple[str, Definition]]:
    """The params and lets of its own frame that one names, with their paths."""
    frame = definition.frame
    for name in names_in(definition.value) if definition.value is not None else ():
        head = plain_name(name) or ""
        if head in frame.definitions and head not in frame.integers:
            yield frame.prefix + head, frame.definitions[head]
