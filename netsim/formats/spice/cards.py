"""SPICE text -> cards: comments dropped, `+` lines joined, files included, every character with its place in the file.

The first line of the main file is a title and says nothing. `*` begins a comment line, `;`, `//` and ` $ ` the rest of
a line. Of a `.control` script the plain analyses are taken. Case does not matter: words come out in small letters.
Brackets and commas separate words and mean nothing, but for the braces and quotes around an expression.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from netsim.text.errors import CONTROL, InputError, Problem, Span, nearest, remember_source
from netsim.text.roots import check_inside, present_roots, roots_beside

_COMMENT = re.compile(r"(?:;|//|(?<=\s)\$(?=\s|$)).*")
_TOKEN = re.compile(
    r"(?P<expression>\{(?:[^{}]|\{[^{}]*\})*\}|'[^']*')|(?P<text>\"[^\"]*\")|(?P<equal>=)"
    r"|(?P<blank>[\s(),]+)|(?P<word>[^\s(),={}'\"]+)"
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


_NAMED = re.compile(r"'[^']*'")


def one_per_kind(problems: list[Problem]) -> list[Problem]:
    """Problems in the order of their lines. What is not supported (E130) and what is left out (N130) are told once for
    each kind, with the lines of all."""
    kinds: dict[tuple[str, str], list[Problem]] = {}
    for problem in sorted(problems, key=lambda p: (p.span.line, p.span.column) if p.span else (0, 0)):
        same = problem.code in ("E130", "N130")
        alike = _NAMED.sub("", problem.message) if same else f"{problem.message} {problem.span}"
        kinds.setdefault((problem.code, alike), []).append(problem)
    return [_with_lines(*each) for each in kinds.values()]


def _with_lines(first: Problem, *others: Problem) -> Problem:
    home = first.span
    spans = [p.span for p in others if p.span and home and p.span.line != home.line]
    if not spans or not home:
        return first
    places = {f"{at.line}" if at.file == home.file else f"{Path(at.file).name}:{at.line}" for at in spans}
    lines = sorted(places, key=lambda text: (":" in text, len(text), text))
    return replace(first, message=f"{first.message} (also line{'s' * (len(lines) > 1)} {', '.join(lines)})")


@dataclass(frozen=True)
class Token:
    """A word (small letters), an expression without its braces or quotes, or `=`; its place in the card's text."""

    kind: str
    text: str
    start: int
    end: int


INCLUDES = (".include", ".inc", ".incl", ".lib")
SAME = {".macro": ".subckt", ".eom": ".ends", ".fourier": ".four", ".para": ".param", ".params": ".param"}
"""Other names of lines."""


@dataclass(frozen=True)
class Card:
    """One statement: its text on one line, and where the pieces of that come from: (offset in the text, line,
    column)."""

    file: str
    text: str
    pieces: tuple[tuple[int, int, int], ...]
    scripted: bool = False

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
        return SAME.get(self.tokens[0].text, self.tokens[0].text)

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


_COMMANDS = frozenset(["tran", "op", "dc", "ac", "tf", "noise", "pz", "sens", "disto", "sp"])
_ENDS = frozenset(["while", "dowhile", "repeat", "foreach", "if", "alter", "altermod", "alterparam", "source", "reset",
    "quit", "load", "circbyline"])  # fmt: skip


def _analyses(lines: list[tuple[int, str]]) -> Iterator[tuple[int, int, str]]:
    """(line, column, card) of what a `.control` script asks for at once: it is read up to the first loop, condition or
    change of the circuit. What it prints and computes is ngspice's own."""
    for number, line in lines:
        words = line.split()
        if not words:
            continue
        word = words[0].lower()
        if word in _ENDS:
            return
        if word in _COMMANDS and "$" not in line:
            yield number, len(line) - len(line.lstrip()) + 1, f".{' '.join(words)}"


def read_cards(path: Path, report: Report) -> list[Card]:
    """The cards of a circuit with all it includes, up to `.end`."""
    cards = list(_included(path, _text(path, None), 1, report, ((path.resolve(), ""),)))
    stated = any(card.word in _ANALYSES and not card.scripted for card in cards)
    return [card for card in cards if not (stated and card.scripted)]


_ANALYSES = frozenset(f".{word}" for word in _COMMANDS)


def _text(path: Path, span: Span | None) -> str:
    try:
        if path.exists() and not path.is_file():
            raise OSError(0, "it is no file")
        text = _decoded(path.read_bytes()).replace("\r\n", "\n").replace("\r", "\n")
        text = CONTROL.sub(" ", text)
    except OSError as wrong:
        near = nearest(path.name, [p.name for p in path.parent.glob("*")]) if path.parent.is_dir() else ""
        raise InputError(Problem("E220", f"cannot read '{path}': {wrong.strerror}", span, hint=near)) from None
    remember_source(str(path), text)
    return text


def _decoded(raw: bytes) -> str:
    """UTF-8, else what LTspice writes: UTF-16 or Windows' Latin letters."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", errors="replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252", errors="replace")


def _found(folder: Path, name: str) -> Path:
    """The file of an include: by its path, else (the path is of another machine) by its name beside the circuit."""
    path = folder / name.replace("\\", "/")
    alone = re.split(r"[/\\]", name)[-1]
    return path if path.exists() or not (folder / alone).is_file() else folder / alone


Section = tuple[Path, str]
"""A file and the section of it that is read, "" for all of it."""


def _included(path: Path, text: str, skipped: int, report: Report, above: tuple[Section, ...]) -> Iterator[Card]:
    for card in _joined(str(path), text.split("\n"), skipped):
        if not card.tokens:
            report.wrong("E131", "a line of brackets and commas alone is no card", card.span(), "take it out")
            continue
        if card.word == ".end":
            return
        if card.word not in INCLUDES or len(card.tokens) < 2:
            if card.word != ".endl":  # the end of a section that was read whole
                yield card
            continue
        where = card.tokens[1]
        name = card.text[where.start : where.end]
        target = _found(path.parent, name)
        try:
            check_inside(target, name, card.at(where), present_roots() or roots_beside(above[0][0]))
            section = target.resolve(), card.tokens[2].text.lower() if len(card.tokens) > 2 else ""
            if section in above:
                raise InputError(Problem("E220", f"'{target.name}' includes itself", card.at(where)))
            inner = _text(target, card.at(where))
            if len(card.tokens) > 2:
                inner = _section(inner, section[1], card.at(card.tokens[2]))
            yield from _included(target, inner, 0, report, (*above, section))
        except InputError as error:
            report.problems += error.problems


def _section(text: str, name: str, span: Span) -> str:
    """The lines of a library between `.lib name` and `.endl`, the others blank: lines keep their numbers. Raises
    `InputError` where there is no such section."""
    inside, kept, names = False, list[str](), list[str]()
    for line in text.split("\n"):
        words = line.lower().split()
        if len(words) == 2 and words[0] == ".lib" and not inside:
            names.append(words[1].strip("'\""))
            inside, line = names[-1] == name, ""
        elif words[:1] == [".endl"]:
            inside = False
        kept.append(line if inside else "")
    if name not in names:
        raise InputError(Problem("E220", f"the library has no section '{name}'", span, hint=nearest(name, names)))
    return "\n".join(kept)


def _joined(file: str, lines: list[str], skipped: int) -> Iterator[Card]:
    """Cards from lines; a script between `.control` and `.endc` is the card `.control` and those of its analyses."""
    text = ""
    script: list[tuple[int, str]] | None = None
    pieces: list[tuple[int, int, int]] = []
    for number, raw in enumerate(lines[skipped:], skipped + 1):
        line = _COMMENT.sub("", raw).rstrip()
        stripped = line.lstrip()
        word = stripped.lower().partition(" ")[0]
        if not stripped or stripped.startswith("*"):
            continue
        if script is not None:
            if word == ".endc":
                for at, column, card in _analyses(script):
                    yield Card(file, card, ((0, at, column - 1),), scripted=True)
                script = None
            else:
                script.append((number, line))
            continue
        if stripped.startswith("+") and pieces:
            pieces.append((len(text) + 1, number, len(line) - len(stripped) + 2))
            text += " " + stripped[1:]
            continue
        if pieces:
            yield Card(file, text, tuple(pieces))
        text, pieces = stripped, [(0, number, len(line) - len(stripped) + 1)]
        if word == ".control":
            yield Card(file, text, tuple(pieces))
            script, pieces = [], []
    if pieces:
        yield Card(file, text, tuple(pieces))
