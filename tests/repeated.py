"""Runs of equal lines that stand in two places."""

from collections import defaultdict
from itertools import combinations

RUN = 6
"""Equal lines in a row that count as written twice."""


def repeated(texts, passed_over=lambda line: not line):
    """Pairs of places (name, line) at which the same run of lines begins, without those inside a longer run; blanks within lines count as one."""
    places = defaultdict(list)
    for name, text in texts.items():
        lines = [(k, " ".join(line.split())) for k, line in enumerate(text.splitlines(), 1)]
        lines = [(k, line) for k, line in lines if not passed_over(line)]
        for i in range(len(lines) - RUN + 1):
            before = lines[i - 1][1] if i else ""
            places[tuple(line for _, line in lines[i : i + RUN])].append((before, (name, lines[i][0])))
    return [(a, b) for run in places.values() for (x, a), (y, b) in combinations(run, 2) if x != y or not x]
