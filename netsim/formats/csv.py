"""Results as comma-separated values: a column per signal, headed `name [unit]`; remarks (`#`) for events, warnings, an
early end, and texts of the cases of a sweep."""

import csv
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from netsim.formats.format import AXES, ENERGIES, KINETIC, Format, Table, Variable, pieces_of
from netsim.text.columns import counted

_PARTIAL, _EVENT, _WARNING, _CASE = "# partial result: ", "# event: ", "# warning: ", "# case "


def write(runs: Mapping[str, Any], path: Path) -> None:
    """One data set; a result that ends early says so in its last line."""
    whole = next(iter(runs.values()))
    data = rows_of(whole)
    axis = next(iter(data.dims))
    names = [name for name in data.data_vars if data[name].dims == (axis,) and not _is_energy(name)]
    header = [f"{axis} [{AXES[axis]['units']}]", *(f"{name} [{data[name].attrs.get('units', '1')}]" for name in names)]
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerow(header)
        for piece in pieces_of(data):
            columns = np.column_stack([piece[axis].values, *(piece[name].values for name in names)])
            for row in columns:
                stream.write(",".join(map(repr, row.tolist())) + "\n")
        for line in str(data.attrs.get("event_log", "")).splitlines():
            stream.write(f"{_EVENT}{line}\n")
        for line in str(data.attrs.get("warnings", "")).splitlines():
            stream.write(f"{_WARNING}{line}\n")
        for line in _texts_of(whole):
            stream.write(f"{_CASE}{line}\n")
        if not data.attrs.get("finished", True):
            stream.write(
                _PARTIAL + (str(data.attrs.get("message", "")).replace("\n", " ") or "the run did not finish") + "\n"
            )


def rows_of(data: Any) -> Any:
    """A data set of cases as rows, one each: values of what varies, measures, last values of signals."""
    beyond = [dim for dim in data.dims if dim != "time"]
    if "case" not in beyond and all(dim in AXES for dim in beyond):
        return data
    sizes = {dim: len(np.asarray(data[dim].values)) for dim in beyond}
    count = int(np.prod([*sizes.values()]))
    columns = dict[str, Variable]()
    for name in (str(n) for n in [*data.coords, *data.data_vars] if n not in ("case", "time")):
        each, values = data[name], np.asarray(data[name].values)
        if values.dtype.kind in "OU":
            continue
        shown, left = name, tuple(dim for dim in each.dims if dim != "time")
        if "time" in each.dims:
            shown, values = f"final({name})", values[..., -1]
        shape = tuple(sizes[dim] if dim in left else 1 for dim in beyond)
        rows = np.broadcast_to(values.reshape(shape), tuple(sizes.values())).reshape(count)
        columns[shown] = Variable(("case",), rows, each.attrs)
    return Table("case", np.arange(1.0, count + 1), columns, dict(data.attrs))


def _texts_of(data: Any) -> list[str]:
    """What is said of cases, behind the numbers of their rows."""
    texts = [np.ravel(each.values) for each in data.data_vars.values() if np.asarray(each.values).dtype.kind in "OU"]
    rows = ((i, line) for i, row in enumerate(zip(*texts), 1) for text in row for line in str(text).splitlines())
    return [f"{i}: {line}" for i, line in rows]


def _is_energy(name: str) -> bool:
    return name.removesuffix(" (network)") in (*ENERGIES, KINETIC)


def read(path: Path) -> Any:
    """The data set of a file."""
    import xarray

    with path.open(encoding="utf-8", newline="") as stream:
        lines = stream.read().splitlines()
    remarks = [line for line in lines if line.startswith("#")]
    rows = csv.reader(line for line in lines if not line.startswith("#"))
    headings = [_heading(text) for text in next(rows)] or [("", "1")]
    numbers = [_numbers(row, k, len(headings)) for k, row in enumerate(rows, 1) if row]
    axis = headings[0][0]
    if headings[0] not in [(name, attributes["units"]) for name, attributes in AXES.items()]:
        raise ValueError("its first column is not 'time [s]'")
    values = np.array(numbers, dtype=float).reshape(-1, len(headings))
    columns = {name: (axis, values[:, j], {"units": unit}) for j, (name, unit) in enumerate(headings) if j}
    events = [line.removeprefix(_EVENT) for line in remarks if line.startswith(_EVENT)]
    warned = [line.removeprefix(_WARNING) for line in remarks if line.startswith(_WARNING)]
    broken = [line.removeprefix(_PARTIAL) for line in remarks if not line.startswith((_EVENT, _WARNING, _CASE))]
    attributes = {"finished": not broken, "message": broken[-1] if broken else ""}
    attributes |= {name: "\n".join(lines) for name, lines in (("event_log", events), ("warnings", warned)) if lines}
    return xarray.Dataset(columns, coords={axis: (axis, values[:, 0], AXES[axis])}, attrs=attributes)


def _numbers(row: list[str], k: int, width: int) -> list[float]:
    """The numbers of row k below the head; raises `ValueError`."""
    if len(row) != width:
        raise ValueError(f"row {k} below its head has {counted(len(row), 'cell')}, the head has {width}")
    found = list[float]()
    for j, text in enumerate(row, 1):
        try:
            found.append(float(text))
        except ValueError:
            raise ValueError(f"'{text[:40]}' in row {k} below its head, column {j}, is no number") from None
    return found


def _heading(text: str) -> tuple[str, str]:
    match = re.fullmatch(r"(.*) \[([^\[\]]*)\]", text)
    return (match[1], match[2]) if match else (text, "1")


FORMAT = Format("csv", (".csv",), write=write, read=read)
