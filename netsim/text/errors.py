"""What a user reads when something is wrong: problems with a place, a code, a sentence and a hint.

Every mistake is a `Problem`; several are raised together as one `NetsimError`. `InputError` is a mistake in the
text (exit status 2), `SimulationError` a calculation that failed (exit status 1).

Codes: E1xx syntax, E2xx names, units and library, E3xx structure of the network, E4xx starts, runs and results,
E5xx numerical failure, W5xx doubts about the accuracy of a result; N1xx about the text, N3xx about the structure,
N4xx about the start are notes: nothing is wrong, but the reader may want to know.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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

    @property
    def is_note(self) -> bool:
        return self.code.startswith("N")


class NetsimError(Exception):
    """One or more problems that end the work; `str()` of it is what the command line prints."""

    exit_status = 2

    def __init__(self, problems: Problem | Iterable[Problem]):
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join([*map(render, self.problems[:SHOWN]), *more(self.problems)])


class InputError(NetsimError):
    """A mistake in what the user wrote."""


class SimulationError(NetsimError):
    """The text is fine, the calculation failed."""

    exit_status = 1


SHOWN = 50
"""Problems that are shown; of the others it is told how many there are."""
WIDE, AROUND = 160, 60
"""The longest word and line that are shown whole; of a longer line so much on both sides of the caret's ends."""


def more(problems: Sequence[Problem]) -> list[str]:
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
    return "\n".join(lines)


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint such as "did you mean 'spring'?" or an empty string where nothing is close."""
    close = difflib.get_close_matches(name, list(dict.fromkeys(known)), n=2, cutoff=0.6)
    return "did you mean " + " or ".join(f"'{word}'" for word in close) + "?" if close else ""


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


def remember_source(file: str, text: str) -> None:
    """Keep the lines of a text that has no file (a string given from Python), so that problems can show them."""
    _texts[file] = text.splitlines()


def source_line(file: str, line: int) -> str | None:
    """A line of a file or remembered text; None where there is none."""
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
