"""What the columns of a run over frequency are, told by what stands behind the signals' names: responses to one of
several inputs (` per src.v`), at a sideband (` at f + 1/T`), of one member of a family (` at r1.R = 1000 Ohm`)."""

import re
from collections.abc import Sequence

WORDS = re.compile(r"(.*?)((?: per | at ).*|)", re.DOTALL)


def members(names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Columns by the signals' own names, for each words behind them; only of those without, where there are any."""
    found: dict[str, dict[str, int]] = {}
    for column, name in enumerate(names):
        own, words = WORDS.fullmatch(name).groups()  # type: ignore[union-attr]
        found.setdefault(words, {})[own] = column
    return {"": found[""]} if "" in found else found
