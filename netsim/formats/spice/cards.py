"""SPICE text -> cards: comments dropped, `+` lines joined, files included, every character with its place in the file.

The first line of the main file is a title and says nothing. `*` begins a comment line, `;`, `//` and ` $ ` the rest of
a line. Case does not matter: words come out in small letters. Brackets and commas separate words and mean nothing, but
for the braces and quotes around an expression.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from netsim.text.errors import CONTROL, InputError, Problem, Span, nearest, remember_source
from netsim.text.roots import check_inside, present_roots, roots_beside

_COMMENT = re.compile(r"(?:;|//|(?<=\s)\$(?=\s|$)).*")
_TOKEN = re.compile(
    r"(?P<expression>\{[^{}]*\}|'[^']*')|(?P<text>\"[^\"]*\")|(?P<equal>=)|(?P<blank>[\s(),]+)|(?P<word>[^\s(),={}'\"]+)"
)


@dataclass
class Report:
    """What is wrong (`problems`) and what is left out (`notes`), found while a circuit is read."""

    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)

    def wrong(self, code: str, message: str, span: Span, hint: str = "") -> None:
        """A mistake; reading goes on."""
        self.problems.append(Problem(code, message, span, hint=hint))

    def note(self, message: str, span: Span, hint: str = "") -> None:
        """Something that is left out."""
        self.notes.append(Problem("N130", message, span, hint=hint))


@dataclass(frozen=True)
class Token:
    """A word (small letters), an expression without its braces or quotes, or `=`; its place in the card's text."""

    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Card:
    """One statement: its text on one line, and where the pieces of that come from: (offset in the text, line,
    column)."""

    file: str
    text: str
    pieces: tuple[tuple[int, int, int], ...]

    def span(self, start: int = 0, end: int | None = None) -> Span:
        """The place of a stretch of the text; one that goes over several lines is cut at the first line's end."""
        offset, line, column = next(piece for piece in reversed(self.pieces) if piece[0] <= start)
        until = min((piece[0] for piece in self.pieces if piece[0] > start), default=len(self.text))
        stop = min(len(self.text) if end is None else end, until)
        return Span(self.file, line, column + start - offset, line, column + max(stop, start + 1) - offset)

    def at(self, token: Token) -> Span:
        """The place of a token."""
        return self.span(token.start, token.end)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        return tuple(self._tokens())

    def _tokens(self) -> Iterator[Token]:
        for match in _TOKEN.finditer(self.text):
            kind = match.lastgroup or ""
            if kind == "expression":
                yield Token(kind, match[0][1:-1], match.start() + 1, match.end() - 1)
            elif kind == "text":
                yield Token("text", match[0][1:-1], match.start() + 1, match.end() - 1)
            elif kind != "blank":
                yield Token(kind, match[0].lower(), match.start(), match.end())

    @property
    def word(self) -> str:
        """The first word: an element's name, or what a dotted line says."""
        return self.tokens[0].text

    @cached_property
    def plain(self) -> tuple[Token, ...]:
        """The tokens behind the first one that belong to no `name = value`."""
        tokens = self.tokens
        equals = {i for i, token in enumerate(tokens) if token.kind == "equal"}
        taken = equals | {i - 1 for i in equals} | {i + 1 for i in equals}
        return tuple(token for i, token in enumerate(tokens) if i and i not in taken)

    @cached_property
    def given(self) -> dict[str, Token]:
        """name -> value of every `name = value`."""
        tokens = self.tokens
        pairs = ((i, token) for i, token in enumerate(tokens) if token.kind == "equal" and 0 < i < len(tokens) - 1)
        return {tokens[i - 1].text: tokens[i + 1] for i, _ in pairs}

    def behind(self, name: str) -> tuple[str, int] | None:
        """All text behind `name =` and its offset, for an expression without braces."""
        match = re.search(rf"\b{name}\s*=\s*", self.text, re.IGNORECASE)
        return None if match is None else (self.text[match.end() :], match.end())


def read_cards(path: Path, report: Report) -> list[Card]:
    """The cards of a circuit with all it includes, up to `.end`."""
    return list(_included(path, _text(path, None), 1, report, (path.resolve(),)))


def _text(path: Path, span: Span | None) -> str:
    try:
        if path.exists() and not path.is_file():
            raise OSError(0, "it is no file")
        text = path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
        text = CONTROL.sub(" ", text)
    except OSError as wrong:
        near = nearest(path.name, [p.name for p in path.parent.glob("*")]) if path.parent.is_dir() else ""
        raise InputError(Problem("E220", f"cannot read '{path}': {wrong.strerror}", span, hint=near)) from None
    remember_source(str(path), text)
    return text


def _included(path: Path, text: str, skipped: int, report: Report, above: tuple[Path, ...]) -> Iterator[Card]:
    for card in _joined(str(path), text.split("\n"), skipped):
        if not card.tokens:
            report.wrong("E131", "a line of brackets and commas alone is no card", card.span(), "take it out")
            continue
        if card.word == ".end":
            return
        if card.word not in (".include", ".inc", ".lib") or len(card.tokens) < 2:
            yield card
            continue
        where = card.tokens[1]
        name = card.text[where.start : where.end]
        target = path.parent / name
        try:
            check_inside(target, name, card.at(where), present_roots() or roots_beside(above[0]))
            if target.resolve() in above:
                raise InputError(Problem("E220", f"'{target.name}' includes itself", card.at(where)))
            inner = _text(target, card.at(where))
            if len(card.tokens) > 2:
                inner = _section(inner, card.tokens[2].text)
            yield from _included(target, inner, 0, report, (*above, target.resolve()))
        except InputError as error:
            report.problems += error.problems


def _section(text: str, name: str) -> str:
    """The lines of a library between `.lib name` and `.endl`, the others blank: lines keep their numbers."""
    inside, kept = False, []
    for line in text.split("\n"):
        words = line.lower().split()
        if words[:2] == [".lib", name]:
            inside, line = True, ""
        elif words[:1] == [".endl"]:
            inside = False
        kept.append(line if inside else "")
    return "\n".join(kept)


def _joined(file: str, lines: list[str], skipped: int) -> Iterator[Card]:
    """Cards from lines; what stands between `.control` and `.endc` stays together as the card `.control`."""
    text, control = "", False
    pieces: list[tuple[int, int, int]] = []
    for number, raw in enumerate(lines[skipped:], skipped + 1):
        line = _COMMENT.sub("", raw).rstrip()
        stripped = line.lstrip()
        word = stripped.lower().partition(" ")[0]
        if control or not stripped or stripped.startswith("*"):
            control = control and word != ".endc"
            continue
        if stripped.startswith("+") and pieces:
            pieces.append((len(text) + 1, number, len(line) - len(stripped) + 2))
            text += " " + stripped[1:]
            continue
        if pieces:
            yield Card(file, text, tuple(pieces))
        text, pieces = stripped, [(0, number, len(line) - len(stripped) + 1)]
        control = word == ".control"
    if pieces:
        yield Card(file, text, tuple(pieces))
