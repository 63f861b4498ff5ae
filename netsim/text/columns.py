"""Plain text in columns, as the command line prints it."""

from collections.abc import Iterable, Sequence

MOST_LINES = 200


def counted(number: int, word: str) -> str:
    """`1 node`, `3 nodes`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def columns(rows: Iterable[Sequence[str]], most: int = MOST_LINES) -> list[str]:
    """Rows as aligned columns, indented by two; what goes beyond `most` lines is only counted."""
    rows = list(rows)
    widths = [
        max((len(row[j]) for row in rows if j < len(row)), default=0) for j in range(max(map(len, rows), default=0))
    ]
    shown = ["  " + "  ".join(f"{cell:{width}s}" for cell, width in zip(row, widths)).rstrip() for row in rows]
    return shown if len(shown) <= most else [*shown[:most], f"  ... and {len(shown) - most} more"]
