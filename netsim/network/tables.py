"""Tables over one argument as piecewise polynomials: CSV files, or an earlier run's signal with its derivatives.

Coefficients are data: the kernels read value and three derivatives from the global vector, so a table's content (and
length) can change without a recompilation.
"""

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from netsim.library.places import is_file
from netsim.text.errors import SAVE_IT, InputError, Problem, Span, nearest
from netsim.text.roots import check_inside, roots_beside
from netsim.text.units import Dimension, UnknownUnit, parse_unit

KINDS = ("cubic", "linear", "hold")
OUTSIDE = ("error", "hold", "linear")
QUOTED = (".csv", ".tsv", ".dat")
"""Files whose cells messages may show: any other may be no table at all."""
LEAST = 1e-30
"""Rows that are closer than this part of a table's length stand at one place: powers of the distance overflow."""
DEGREE = 5
RINGING, FAINT = 0.25, 0.01
"""The overshoot of a spline, of the range of the samples around it, above which it says more about itself than about
them; and of the range of all, below which it is let pass: beside a dwell splines ring a little."""
SMOOTHNESS = {"cubic": 2, "linear": 0, "hold": -1, "quintic": 2}


@dataclass(frozen=True)
class Column:
    """Samples of one quantity over an argument, both SI."""

    argument: np.ndarray
    values: np.ndarray
    argument_dimension: Dimension
    dimension: Dimension


@dataclass(frozen=True)
class Polynomials:
    """value(t) = sum_k coefficients[k, i] (t - breaks[i])^k on piece i; `outside` as in OUTSIDE."""

    breaks: np.ndarray
    coefficients: np.ndarray
    outside: int


def readable(name: str, span: Span, roots: Sequence[Path]) -> str:
    """The path of a file named in a text that may read `roots` (and where it was written in Python or on the command
    line, the working directory); raises `InputError` (E262) where it may not read that."""
    beside = () if is_file(Path(span.file)) else roots_beside(span.file)
    return str(check_inside(Path(span.file).parent / name, name, span, (*roots, *beside)))


def read_column(path: Path, column: str | int | None, span: Span) -> Column:
    """A column of a CSV file by header name or number (1 = the argument); headers read `name [unit]`."""
    if not is_file(path):
        raise InputError(Problem("E240", f"cannot read table '{path.name}'", span, hint=f"looked for {path}"))
    try:
        with path.open(newline="", encoding="utf-8") as stream:
            found = csv.reader(stream)
            numbered = [(found.line_num, row) for row in found if row and not row[0].lstrip().startswith("#")]
    except UnicodeDecodeError:
        raise InputError(Problem("E240", f"table '{path.name}' is not UTF-8 text", span, hint=SAVE_IT)) from None
    except (OSError, csv.Error):
        raise InputError(Problem("E240", f"cannot read table '{path.name}'", span, hint=f"looked for {path}")) from None
    lines, rows = [line for line, _ in numbered], [row for _, row in numbered]
    if len(rows) < 3:
        raise InputError(Problem("E240", f"table '{path.name}' needs a header and at least two rows", span))
    if len(rows[0]) < 2:
        other = next((sign for sign in (";", "\t", "|", " ") if sign in rows[0][0]), "")
        hint = "separate the columns by commas" + (f", not by '{other}'" if other.strip() else "")
        raise InputError(Problem("E240", f"table '{path.name}' has one column", span, hint=hint))
    names, units = zip(*(_header(cell, path, span) for cell in rows[0]))
    number = _column_number(column, names, path, span)
    numbers = np.array([_numbers(row, number, names, path, line, span) for line, row in zip(lines[1:], rows[1:])])
    argument = numbers[:, 0] * units[0].factor + units[0].offset
    stands = np.diff(argument) <= np.ptp(LEAST * argument)
    if np.any(stands):
        row = lines[int(np.argmax(stands)) + 2]
        raise InputError(
            Problem("E241", f"the first column of '{path.name}' must increase; it does not at line {row}", span)
        )
    return Column(
        argument,
        numbers[:, 1] * units[number].factor + units[number].offset,
        units[0].dimension,
        units[number].dimension,
    )


def _numbers(
    row: list[str], number: int, names: tuple[str, ...], path: Path, line: int, span: Span
) -> tuple[float, float]:
    """The argument and a column of a row: finite numbers. Raises `InputError` (E240) with line and column, also for a
    row that is longer than the header."""
    if any(cell.strip() for cell in row[len(names) :]):
        message = f"line {line} of table '{path.name}' has {len(row)} columns, and its header {len(names)}"
        raise InputError(Problem("E240", message, span))
    return _cell(row, 0, names[0], path, line, span), _cell(row, number, names[number], path, line, span)


def _cell(row: list[str], column: int, name: str, path: Path, line: int, span: Span) -> float:
    """A finite number in a row; raises `InputError` (E240) with its line and column."""
    where, called = f"line {line} of table '{path.name}'", f"column {column + 1}" + _shown(f" ('{name}')", path, "")
    if column >= len(row):
        raise InputError(Problem("E240", f"{where} has no {called}: it has {len(row)}", span))
    try:
        value = float(row[column])
    except ValueError:
        message = f"{_quoted(row[column], path, 'what stands')} in {called} of {where} is no number"
        raise InputError(Problem("E240", message, span)) from None
    if not np.isfinite(value):
        raise InputError(Problem("E240", f"{called} of {where} is not finite: {row[column].strip()}", span))
    return value


def _header(cell: str, path: Path, span: Span):
    name, bracket, rest = cell.strip().partition("[")
    if not bracket:
        try:
            float(name)
        except ValueError:
            return name.strip(), parse_unit("s") if name.strip() in ("time", "t") else parse_unit("1")
        raise InputError(
            Problem(
                "E240",
                f"table '{path.name}' has no header line",
                span,
                hint="the first line names the columns: time [s], x [mm]",
            )
        )
    try:
        return name.strip(), parse_unit(rest.rstrip().rstrip("]").strip() or "1")
    except UnknownUnit as unknown:
        what = f"column {_quoted(name, path, '')} of '{path.name}': " + _shown(str(unknown), path, "unknown unit")
        raise InputError(Problem("E240", what, span)) from None


def _shown(text: str, path: Path, otherwise: str) -> str:
    """A text of a table's file, where the file is a table by its name."""
    return text if Path(os.path.realpath(path)).suffix.lower() in QUOTED else otherwise


def _quoted(cell: str, path: Path, otherwise: str) -> str:
    return _shown(f"'{cell.strip()}'", path, otherwise)


def _column_number(column: str | int | None, names: tuple[str, ...], path: Path, span: Span) -> int:
    if column is None:
        if len(names) == 2:
            return 1
        raise InputError(
            Problem(
                "E242",
                f"'{path.name}' has several columns: name one" + _shown(f" of {', '.join(names[1:])}", path, ""),
                span,
            )
        )
    if isinstance(column, int):
        if not 2 <= column <= len(names):
            raise InputError(
                Problem("E242", f"'{path.name}' has columns 1 .. {len(names)}, the first is the argument", span)
            )
        return column - 1
    if column not in names[1:]:
        raise InputError(
            Problem(
                "E242",
                f"'{path.name}' has no column '{column}'",
                span,
                hint=_shown(nearest(column, names[1:]) or f"it has {', '.join(names[1:])}", path, ""),
            )
        )
    return names.index(column, 1)


def interpolate(column: Column, kind: str, outside: str) -> Polynomials:
    """Piecewise polynomials through samples: a cubic spline (not a knot, twice differentiable), linear, or hold (the
    value before).

    A spline that rings is replaced by quintics as smooth as it is, see `_bounded`."""
    t, y = column.argument, column.values
    pieces = len(t) - 1
    coefficients = np.zeros((DEGREE + 1, pieces))
    if kind == "cubic" and pieces > 1:
        from scipy.interpolate import CubicSpline

        spline = CubicSpline(t, y)
        if _rings(t, y, spline):
            return _bounded(t, y, outside)
        coefficients[:4] = spline.c[::-1]
    elif kind == "cubic":
        coefficients[:2] = np.vstack([y[:1], np.diff(y) / np.diff(t)])
    else:
        coefficients[0] = y[:-1]
        if kind == "linear":
            coefficients[1] = np.diff(y) / np.diff(t)
    if kind == "hold":  # the last sample holds from its instant on
        t, coefficients = (
            np.append(t, t[-1] + (t[-1] - t[-2])),
            np.column_stack([coefficients, [y[-1], *[0.0] * DEGREE]]),
        )
        outside = "hold" if outside == "error" else outside
    return Polynomials(np.ascontiguousarray(t), np.ascontiguousarray(coefficients), OUTSIDE.index(outside))


def _rings(t: np.ndarray, y: np.ndarray, spline: Any) -> bool:
    """Whether a spline leaves the two samples beside it by more than RINGING of the range of the four around it, and
    FAINT of that of all."""
    inside = t[:-1] + np.array([[0.25], [0.5], [0.75]]) * np.diff(t)
    ends = np.sort([y[:-1], y[1:]], axis=0)
    beyond = np.maximum(ends[0] - spline(inside), spline(inside) - ends[1]).max(axis=0)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(y, 1, mode="edge"), 4)
    return bool(np.any(beyond > np.maximum(RINGING * np.ptp(around, axis=1), FAINT * np.ptp(y))))


def _bounded(t: np.ndarray, y: np.ndarray, outside: str) -> Polynomials:
    """Quintics with the slopes of monotone cubics (Fritsch and Butland 1984) and no bend at the samples: twice
    differentiable, and beyond their data by at most 1.4 % of a step of these."""
    from scipy.interpolate import PchipInterpolator

    return hermite(t, y, PchipInterpolator(t, y)(t, 1), np.zeros(len(t)), outside)


def hermite(t: np.ndarray, x: np.ndarray, v: np.ndarray, a: np.ndarray, outside: str) -> Polynomials:
    """The quintic through position, velocity and acceleration at every sample: nothing of an earlier run is lost."""
    h = np.diff(t)
    x0, v0, a0, x1, v1, a1 = x[:-1], v[:-1] * h, a[:-1] * h**2, x[1:], v[1:] * h, a[1:] * h**2
    rise = x1 - x0
    c = np.array([
        x0, v0, a0 / 2,
        10 * rise - 6 * v0 - 4 * v1 - 1.5 * a0 + 0.5 * a1,
        -15 * rise + 8 * v0 + 7 * v1 + 1.5 * a0 - a1,
        6 * rise - 3 * v0 - 3 * v1 - 0.5 * a0 + 0.5 * a1,
    ])  # fmt: skip
    return Polynomials(
        np.ascontiguousarray(t), np.ascontiguousarray(c / h ** np.arange(6)[:, None]), OUTSIDE.index(outside)
    )


def pack(tables: list[Polynomials]) -> Mapping[str, np.ndarray]:
    """All tables in flat arrays for the compiled evaluation: starts, breaks, coefficients, outside."""
    if not tables:
        return {
            "first": np.zeros(1, np.int64),
            "breaks": np.zeros(0),
            "coefficients": np.zeros((DEGREE + 1, 0)),
            "outside": np.zeros(0, np.int64),
        }
    sizes = [len(p.breaks) for p in tables]
    padded = [np.column_stack([p.coefficients, np.zeros(DEGREE + 1)]) for p in tables]
    return {
        "first": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        "breaks": np.concatenate([p.breaks for p in tables]),
        "coefficients": np.ascontiguousarray(np.concatenate(padded, axis=1)),
        "outside": np.array([p.outside for p in tables], np.int64),
    }
