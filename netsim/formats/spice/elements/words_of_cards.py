"""What every element asks of its line."""

from collections.abc import Iterable

from netsim.formats.spice.cards import Card, Report, Token
from netsim.text.errors import InputError, Problem, nearest


def require_words(card: Card, count: int, shape: str) -> tuple[Token, ...]:
    """The words behind the name, at least `count` of them. Raises `InputError` showing how the element is written."""
    if len(card.plain) < count:
        raise InputError(Problem("E131", f"'{card.word}' is written {shape}", card.span()))
    return card.plain


def words_beyond_values(card: Card, rest: Iterable[Token]) -> list[Token]:
    """Those of the words that are no further values of `ic=` or `tc=`."""
    starts = min((card.given[name].start for name in ("ic", "tc") if name in card.given), default=len(card.text))
    return [token for token in rest if token.start < starts]


def report_ignored(card: Card, report: Report, rest: Iterable[Token]) -> None:
    """Tell words behind what an element is written with, which mean nothing."""
    for token in words_beyond_values(card, rest):
        report.note(f"'{token.text}' means nothing behind '{card.word}' and is ignored", card.at(token))


def unknown_parameter(card: Card, token: Token, name: str, known: Iterable[str]) -> InputError:
    """A parameter that the element does not have."""
    known = tuple(known)
    hint = nearest(name, known) or f"it has {', '.join(known)}"
    return InputError(Problem("E227", f"'{card.word}' has no parameter '{name}'", card.at(token), hint=hint))
