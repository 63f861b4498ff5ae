"""The smallest set of written starts that cannot hold together: a deletion filter over the lines of the text.

One line after the other is left out; where the rest still cannot hold, it is no part of the conflict and stays out.
What remains contradicts itself, and any of its lines left out lets the others hold (Chinneck, Feasibility and
Infeasibility in Optimization, 2008, section 6.2).
"""

from collections.abc import Callable, Sequence

from netsim.equations.starts.rows import StartRow

MOST = 40
"""Lines up to which the filter runs: it solves once for each."""


def minimal_conflict(rows: Sequence[StartRow], holds: Callable[[list[StartRow]], bool]) -> list[StartRow]:
    """Those of `rows` that belong to one smallest contradiction. `holds` tells whether rows can be met together;
    defaults and others stay in."""
    lines = list(dict.fromkeys(_line(row) for row in rows if row.word == "start"))
    if not 1 < len(lines) <= MOST:
        return list(rows)
    kept = list(rows)
    for line in lines:
        fewer = [row for row in kept if _line(row) != line]
        if not holds(fewer):
            kept = fewer
    return kept


def _line(row: StartRow) -> object:
    """Rows of one written start: the components of a vector, or of a rotation."""
    return row.span or row.path
