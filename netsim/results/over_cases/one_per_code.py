"""What many runs tell, told once per kind: how many of them tell it, which ones first, and the words of the first."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from netsim.text.columns import counted
from netsim.text.errors import Problem

NAMED = 6
"""Runs that are named at most."""


def one_per_code(
    found: Iterable[tuple[int, Sequence[Problem]]], count: int, word: str, values: Callable[[int], str]
) -> tuple[Problem, ...]:
    """A problem for each code among those of `count` runs (number from 0, its problems), in the order of their first
    runs. `word`: what a run is called; `values`: what distinguishes one from the others, by its number."""
    runs, first = dict[str, dict[int, None]](), dict[str, Problem]()
    for number, problems in found:
        for problem in problems:
            first.setdefault(problem.code, problem)
            runs.setdefault(problem.code, {})[number] = None
    return tuple(_told(first[code], list(numbers), counted(count, word), values) for code, numbers in runs.items())


def _told(first: Problem, numbers: Sequence[int], of: str, values: Callable[[int], str]) -> Problem:
    names = [str(number + 1) for number in numbers[:NAMED]]
    names += [f"{len(numbers) - NAMED} more"] if len(numbers) > NAMED else []
    listed = " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
    where = f"{listed}{'; the first' if len(numbers) > 1 else ''}: {values(numbers[0])}"
    return replace(first, message=f"in {len(numbers)} of {of} ({where}): {first.message}")


def problem_lines(problems: Iterable[Problem]) -> str:
    """Codes and sentences, one a line."""
    return "\n".join(f"{problem.code} {problem.message}" for problem in problems)
