"""`LAPLACE {v(a)} = {1/(1 + s*1u)}`: a source by a transfer function.

The expression of s becomes a quotient of polynomials b(s)/a(s), with a dead time where a factor is exp(-s*T). Their
coefficients are expressions of parameters. s is counted in the mean magnitude of the poles, so that no coefficient is
far from 1. Other functions of s have no finite state and are refused.
"""

import re
from dataclasses import dataclass

from netsim.formats.spice.cards import Card
from netsim.formats.spice.expressions import expression
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem, Span
from netsim.text.syntax import Binary, Call, Expr, Name, Number, Part, Unary, Vector

S = Name((Part("s"),))
_PIECE = re.compile(r"\s*=?\s*(\{(?:[^{}]|\{[^{}]*\})*\}|'[^']*'|\"[^\"]*\")")
ZERO, ONE = Number(0.0), Number(1.0)
Polynomial = tuple[Expr, ...]
"""Coefficients from the constant up."""


@dataclass(frozen=True)
class _Quotient:
    """b(s)/a(s) exp(-delay s)."""

    b: Polynomial
    a: Polynomial = (ONE,)
    delay: Expr = ZERO


def transferred(card: Card, scope: Scope, start: int) -> tuple[str, dict[str, Expr]]:
    """What stands behind LAPLACE at `start` of a card: the kind of source (`transfer`, or `plain` for a constant) and
    what it is given. Raises `InputError`."""
    first = _PIECE.match(card.text, start)
    second = _PIECE.match(card.text, first.end()) if first else None
    if first is None or second is None:
        shape = "a transfer function is written LAPLACE {v(node)} = {1/(1+s*1u)}"
        raise InputError(Problem("E131", shape, card.span(start)))
    reads = expression(card, first[1][1:-1], first.start(1) + 1, scope)
    law = expression(card, second[1][1:-1], second.start(1) + 1, scope, {"s": S})
    return transfer_of(reads, law, scope, card.span(second.start(1), second.end(1)))


def transfer_of(reads: Expr, law: Expr, scope: Scope, span: Span) -> tuple[str, dict[str, Expr]]:
    """The same of what is read and an expression of s. Raises `InputError`."""
    found = _quotient(law, span)
    if len(found.b) > len(found.a):
        message = "this transfer function grows without end with frequency: its numerator has the higher degree"
        raise InputError(Problem("E132", message, span, hint="add a pole beyond the frequencies of interest"))
    if found.delay != ZERO:
        reads = scope.block_output("delay", reads, {"T": _fold("*", found.delay, Number(1.0, "s"))}, {})
    order, leading = len(found.a) - 1, found.a[-1]
    if order == 0:
        return "plain", {"u": _fold("*", _fold("/", found.b[0], leading), reads)}
    pace = _pace(found.a)
    a = [_fold("/", _fold("/", x, leading), _power(pace, order - k)) for k, x in enumerate(found.a[:-1])]
    b = [_fold("/", _fold("/", x, leading), _power(pace, order - k)) for k, x in enumerate(found.b)]
    b += [ZERO] * (order + 1 - len(b))
    direct = b.pop()
    b = [_fold("-", x, _fold("*", direct, y)) for x, y in zip(b, a)]
    return "transfer", {
        "u": reads, "order": Number(float(order)), "a": Vector(tuple(a)), "b": Vector(tuple(b)), "d": direct,
        "pace": _fold("*", pace, Number(1.0, "1/s")),
    }  # fmt: skip


def _pace(a: Polynomial) -> Expr:
    """The mean magnitude of the poles that are not 0."""
    order = len(a) - 1
    low = next(k for k, x in enumerate(a) if x != ZERO)
    if low == order:
        return ONE
    return _power(Call("abs", (_fold("/", a[low], a[-1]),)), 1.0 / (order - low))


def _power(base: Expr, exponent: float) -> Expr:
    match base:
        case Number(x, ""):
            return Number(x**exponent)
        case Call("abs", (Number(x, ""),)):
            return Number(abs(x) ** exponent)
        case Call("abs", (Unary("-", Number(x, "")),)):
            return Number(abs(x) ** exponent)
    return ONE if exponent == 0 else Binary("^", base, Number(exponent), span=base.span)


def _quotient(law: Expr, span: Span) -> _Quotient:
    match law:
        case Name((Part("s"),)):
            return _Quotient((ZERO, ONE))
        case Unary("-", inner):
            of = _quotient(inner, span)
            return _Quotient(tuple(_fold("-", ZERO, x) for x in of.b), of.a, of.delay)
        case Binary("+" | "-" | "*" | "/" as op, left, right):
            return _combined(op, _quotient(left, span), _quotient(right, span), span)
        case Binary("^", base, Number(exponent, "")):
            return _powered(_quotient(base, span), exponent, span)
        case Binary("^", base, Unary("-", Number(exponent, ""))):
            return _powered(_quotient(base, span), -exponent, span)
        case Call("exp", (exponent,)):
            return _delayed(_quotient(exponent, span), span)
    if _mentions_s(law):
        raise _refused(span)
    return _Quotient((law,))


def _combined(op: str, p: _Quotient, q: _Quotient, span: Span) -> _Quotient:
    if op == "*":
        return _times(p, q)
    if (op == "/" and q.delay != ZERO) or (op in "+-" and p.delay != q.delay):
        raise _refused(span)
    if op == "/":
        return _Quotient(_product(p.b, q.a), _product(p.a, q.b), p.delay)
    return _Quotient(_sum(op, _product(p.b, q.a), _product(q.b, p.a)), _product(p.a, q.a), p.delay)


def _delayed(of: _Quotient, span: Span) -> _Quotient:
    """exp of -T s."""
    if len(of.a) > 1 or len(of.b) != 2 or of.b[0] != ZERO:
        raise _refused(span)
    return _Quotient((ONE,), delay=_fold("-", ZERO, _fold("/", of.b[1], of.a[0])))


def _mentions_s(law: Expr) -> bool:
    match law:
        case Name(parts):
            return parts == S.parts
        case Unary(_, inner):
            return _mentions_s(inner)
        case Binary(_, left, right):
            return _mentions_s(left) or _mentions_s(right)
        case Call(_, arguments, _):
            return any(map(_mentions_s, arguments))
    return False


def _times(p: _Quotient, q: _Quotient) -> _Quotient:
    return _Quotient(_product(p.b, q.b), _product(p.a, q.a), _fold("+", p.delay, q.delay))


def _powered(of: _Quotient, exponent: float, span: Span) -> _Quotient:
    if exponent != int(exponent):
        raise _refused(span)
    found = _Quotient((ONE,))
    for _ in range(abs(int(exponent))):
        found = _times(found, of)
    return found if exponent >= 0 else _Quotient(found.a, found.b)


def _product(p: Polynomial, q: Polynomial) -> Polynomial:
    found: list[Expr] = [ZERO] * (len(p) + len(q) - 1)
    for i, x in enumerate(p):
        for k, y in enumerate(q):
            found[i + k] = _fold("+", found[i + k], _fold("*", x, y))
    return _trimmed(found)


def _sum(op: str, p: Polynomial, q: Polynomial) -> Polynomial:
    n = max(len(p), len(q))
    return _trimmed([_fold(op, x, y) for x, y in zip((*p, *[ZERO] * (n - len(p))), (*q, *[ZERO] * (n - len(q))))])


def _trimmed(found: list[Expr]) -> Polynomial:
    while len(found) > 1 and found[-1] == ZERO:
        found.pop()
    return tuple(found)


def _fold(op: str, left: Expr, right: Expr) -> Expr:
    """left op right, a number where both are."""
    x, y = _plain(left), _plain(right)
    if x is not None and y is not None and not (op == "/" and y == 0):
        value = {"+": x + y, "-": x - y, "*": x * y}.get(op, x / y if op == "/" else 0.0)
        return Unary("-", Number(-value)) if value < 0 else Number(value)
    if op in "+-" and y == 0:
        return left
    if (op == "*" and 0 in (x, y)) or (op == "/" and x == 0):
        return ZERO
    if op == "+" and x == 0:
        return right
    if (op == "*" and y == 1) or (op == "/" and y == 1):
        return left
    return right if op == "*" and x == 1 else Binary(op, left, right, span=left.span)


def _plain(value: Expr) -> float | None:
    match value:
        case Number(x, ""):
            return x
        case Unary("-", Number(x, "")):
            return -x
    return None


def _refused(span: Span) -> InputError:
    hint = "quotients of polynomials of s are, with a dead time as the factor exp(-s*T)"
    return InputError(Problem("E132", "this function of s is not known", span, hint=hint))
