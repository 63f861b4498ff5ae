"""What a user reads when something is wrong: problems with a place, a code, a sentence and a hint.

Every mistake is a `Problem`; several are raised together as one `NetsimError`. `InputError` is a mistake in the
text (exit status 2), `SimulationError` a calculation that failed (exit status 1).

Codes: E1xx syntax, E2xx names, units and library, E3xx structure of the network, E4xx starts, runs and results,
E5xx numerical failure, W5xx doubts about the accuracy of a result; N1xx about the text, N3xx about the structure,
N4xx about the start are notes: nothing is wrong, but the reader may want to know.
"""

import difflib
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path


@dataclass(frozen=True)
class Span:
    """A piece of text: file, first line and column, last line and the column after it (all counted from 1)."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Problem:
    """One finding: `message` after the place, `mark` under the caret, `hint` below; `also` shows further places."""

    code: str
    message: str
    span: Span | None = None
    mark: str = ""
    hint: str = ""
    also: tuple[tuple[Span, str], ...] = ()

    def __post_init__(self) -> None:
        if self.span is not None and not is_shown(self.span.file):
            span = Span(self.span.file, self.span.line, 1, self.span.line, 1)
            for name, value in (("message", UNSHOWN[0]), ("mark", ""), ("hint", UNSHOWN[1]), ("span", span)):
                object.__setattr__(self, name, value)

    @property
    def is_note(self) -> bool:
        return self.code.startswith("N")


SAVE_IT = "save it as UTF-8 in the editor that wrote it"


class NetsimError(Exception):
    """One or more problems that end the work; `str()` of it is what the command line prints."""

    exit_status = 2

    def __init__(self, problems: Problem | Iterable[Problem]):
        self.problems = _once((problems,) if isinstance(problems, Problem) else tuple(problems))
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join([*map(render, self.problems[:SHOWN]), *hidden_problems_note(self.problems)])


class InputError(NetsimError):
    """A mistake in what the user wrote."""


class SimulationError(NetsimError):
    """The text is fine, the calculation failed."""

    exit_status = 1


def _once(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Equal problems once (a value that several elements of a model take), and of the problems of a file that is not
    shown the first alone: even their places would tell what it holds."""
    problems = tuple(dict.fromkeys(problems))
    unshown: dict[str, Problem] = {}
    for problem in problems:
        if problem.span is not None and problem.message == UNSHOWN[0]:
            unshown.setdefault(problem.span.file, problem)
    first = set(map(id, unshown.values()))
    return tuple(each for each in problems if each.message != UNSHOWN[0] or id(each) in first)


SHOWN = 50
"""Problems that are shown; of the others it is told how many there are."""
SUFFIXES = frozenset(
    [".net", ".lib", ".inc", ".cir", ".ckt", ".sp", ".spice", ".spi", ".mod", ".mdl", ".sub", ".subckt", ".urdf"]
)
"""Files whose lines messages may show: netlists and libraries, SPICE's, robots."""
UNSHOWN = ("this is not what is read here", "its text is not shown: the name of a netlist ends in .net, .inc or .lib")
"""What is said, and the hint, of a mistake in any other file."""
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that command a terminal, end a line, or turn the direction of a text."""
WIDE, AROUND = 160, 60
"""The longest word and line that are shown whole; of a longer line so much on both sides of the caret's ends."""


def hidden_problems_note(problems: Sequence[Problem]) -> list[str]:
    """What is said of problems that are not shown."""
    return [f"and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []


def render(problem: Problem) -> str:
    """The problem as text: place, code and message, the line itself with a caret, the hint."""
    head = _shortened(f"{problem.code} {problem.message}")
    lines = (
        [head] if problem.span is None else [f"{_place(problem.span)}: {head}", *_excerpt(problem.span, problem.mark)]
    )
    for span, words in problem.also:
        lines += [f"  {_place(span)}: {words}", *_excerpt(span, "")]
    if problem.hint:
        lines.append(_shortened(f"      = hint: {problem.hint}"))
    return "\n".join(visible(line) for line in lines)


def visible(text: str) -> str:
    """A text with characters that command a terminal replaced by a sign."""
    return CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def is_shown(file: str) -> bool:
    """Whether messages may show lines of a file: texts that have none, files that the user named, and netlists. What a
    netlist includes may be anything; it is judged by its real name."""
    if file in _named or not os.path.isfile(file):
        return True
    return os.path.splitext(os.path.realpath(file))[1].lower() in SUFFIXES


def show_lines_of(file: str) -> None:
    """The user named this file: its lines may be shown."""
    _named.add(file)


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint such as "did you mean 'spring'?" or an empty string where nothing is close."""
    return did_you_mean(_close(name, tuple(dict.fromkeys(known))))


def did_you_mean(words: Sequence[str]) -> str:
    """The hint "did you mean 'a' or 'b'?", or an empty string for no words."""
    return "did you mean " + " or ".join(f"'{word}'" for word in words) + "?" if words else ""


@lru_cache(maxsize=256)
def _close(name: str, known: tuple[str, ...]) -> list[str]:
    """At most two words that are close to a name; a mistake that is made on every line is compared once."""
    words = [word for word in known if word]
    same = [word for word in words if word.lower() == name.lower()]
    return same[:2] or difflib.get_close_matches(name, words, n=2, cutoff=0.6)


def one_per_cause(problems: Iterable[Problem]) -> list[Problem]:
    """Of problems that differ by the instance alone (code, place and words are the same, but for dotted or indexed
    names) the first, with how many instances more have it: a mistake inside a model is one mistake."""
    groups: dict[tuple, list[Problem]] = {}
    for problem in problems:
        words = re.sub(r"'[^']*[.\[][^']*'", "", problem.message)
        groups.setdefault((problem.code, problem.span, words), []).append(problem)
    found = []
    for first, *others in groups.values():
        more = f"the same holds for {len(others)} more of these" if others and first.span else ""
        found.append(replace(first, hint="; ".join(filter(None, [first.hint, more]))))
    return found


def _place(span: Span) -> str:
    return f"{span.file}:{span.line}:{span.column}"


def _excerpt(span: Span, mark: str) -> list[str]:
    text = source_line(span.file, span.line)
    if text is None:
        return [f"      | {mark}"] if mark else []
    end = span.end_column if span.end_line == span.line else len(text) + 1
    first, last, before, after = span.column - 1, max(span.column, end - 1), "", ""
    if len(text) > WIDE:
        last = min(last, first + AROUND)
        cut = max(0, first - AROUND)
        before, after = "..." * (cut > 0), "..." * (last + AROUND < len(text))
        text, first, last = text[cut : last + AROUND], first - cut, last - cut
    gap = " " * len(before) + "".join("\t" if letter == "\t" else " " for letter in text[:first])
    caret = f"      | {gap}{'^' * (last - first)} {mark}".rstrip()
    return [f"{span.line:5d} | {before}{text}{after}", caret]


def _shortened(text: str) -> str:
    """A sentence with words of more than WIDE letters cut."""
    return re.sub(rf"\S{{{WIDE},}}", lambda word: f"{word[0][: WIDE // 2]}... ({len(word[0])} letters)", text)


_texts: dict[str, list[str]] = {}
_named: set[str] = set()


def remember_source(file: str, text: str) -> None:
    """Keep the lines of a text that has no file (a string given from Python), so that problems can show them."""
    _texts[file] = text.splitlines()


def source_line(file: str, line: int) -> str | None:
    """A line of a file or remembered text; None where there is none, or where it is not to be shown."""
    if not is_shown(file):
        return None
    if file not in _texts:
        try:
            _texts[file] = Path(file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return None
    lines = _texts[file]
    return lines[line - 1] if 0 < line <= len(lines) else None


def coloured(text: str) -> str:
    """A rendered problem for a terminal: the code and the caret in red (a note's in blue), the hint in green."""
    text = re.sub(r"(?m)(^|: )(E\d{3}) ", "\\1\x1b[1;31m\\2\x1b[0m ", text, count=1)
    text = re.sub(r"(?m)(^|: )([NW]\d{3}) ", "\\1\x1b[1;34m\\2\x1b[0m ", text, count=1)
    text = re.sub(r"(?m)^(      \| \s*)(\^+.*)$", "\\1\x1b[31m\\2\x1b[0m", text)
    return re.sub(r"(?m)^(      = )(hint:)", "\\1\x1b[32m\\2\x1b[0m", text)
