"""How a command ends, and what it says beside its result: on stderr."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from netsim.text.errors import SHOWN, Problem, coloured, hidden_problems_note, render

FINE, FAILED, MISTAKE = 0, 1, 2
"""Exit statuses; that of an interrupted command is the signal's (netsim.commands.interruption)."""


def say(text: str) -> None:
    """Print a line on stderr."""
    print(text, file=sys.stderr)


def complain(problems: Sequence[Problem]) -> None:
    """Print problems with their places and hints, coloured on a terminal."""
    for problem in map(_on_command_line, problems[:SHOWN]):
        say(coloured(render(problem)) if sys.stderr.isatty() and "NO_COLOR" not in os.environ else render(problem))
    for line in hidden_problems_note(problems):
        say(line)


def _on_command_line(problem: Problem) -> Problem:
    """A mistake in an option is shown with the option, not with a line of a file that does not exist."""
    if problem.span is None or not problem.span.file.startswith("-"):
        return problem
    return replace(problem, message=f"{problem.message} (in '{problem.span.file}')", span=None)
