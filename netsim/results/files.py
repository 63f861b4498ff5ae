"""Samples -> xarray.Dataset -> files (.csv, .nc) and back.

A file is written beside its place under a temporary name and then renamed: nobody ever finds half a result under the
real name. A result that ends early says so, in the data set's attributes and in the file.
"""

from __future__ import annotations

import csv
import importlib.util
import os
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from netsim.results.samples import Samples
from netsim.text.errors import InputError, Problem, nearest

FORMATS = (".csv", ".nc")
ENERGIES = ("energy.stored", "energy.supplied", "energy.dissipated")
KINETIC = "energy.kinetic"
_DOCS = ("energy stored in the network", "energy supplied since the start", "energy dissipated since the start")
_AXES = {
    "time": {"units": "s", "long_name": "time"},
    "mode": {"units": "1", "long_name": "number of the mode, slowest first"},
}
_PARTIAL, _EVENT, _WARNING = "# partial result: ", "# event: ", "# warning: "
_SLASH = "\u2215"  # NetCDF reads '/' in a name as a group: files carry the division slash instead


def dataset(samples: Samples, aloud: bool = False) -> Any:
    """The samples as an `xarray.Dataset` over `time`: a variable per signal (attributes `units`, `long_name`), the
    energy account (J, `energy.stored` ...) and, as attributes, netlist, options, statistics, `finished`, `message`,
    `energy_balance` (J), what was measured (`measure.NAME` in the SI unit `measure.NAME.units`), what assertions said
    (`broken`) and why the result may be less right than the run was asked for (`warnings`, one a line; `aloud`: a
    `RuntimeWarning` each as well)."""
    import xarray

    axis = samples.axis
    columns = {s.name: _variable(samples.values[:, j], s.unit, s.doc, axis) for j, s in enumerate(samples.signals)}
    account = list(zip(ENERGIES, samples.energy.T, _DOCS)) if axis == "time" else []
    if samples.kinetic is not None:
        account.append((KINETIC, samples.kinetic, "kinetic part of the energy stored"))
    for name, series, doc in account:
        columns[name if name not in columns else f"{name} (network)"] = _variable(series, "J", doc)
    attributes = {name: _plain(value) for name, value in samples.attributes.items()}
    attributes |= {
        "name": samples.name,
        "finished": samples.finished,
        "message": samples.message,
        "energy_balance": energy_balance(samples.energy),
    }
    for figure in samples.figures:
        attributes |= {f"measure.{figure.name}": figure.value, f"measure.{figure.name}.units": figure.unit or "1"}
    attributes["warnings"] = "\n".join(
        f"{problem.code} {problem.message}: {problem.hint}" for problem in samples.warnings
    )
    for line in attributes["warnings"].splitlines() if aloud else ():
        warnings.warn(line, RuntimeWarning, stacklevel=3)
    if samples.broken:
        attributes["broken"] = "; ".join(problem.message for problem in samples.broken)
    return xarray.Dataset(columns, coords={axis: (axis, samples.time, _AXES[axis])}, attrs=attributes)


def energy_balance(energy: np.ndarray) -> float:
    """What the account (nt, 3) misses at its end, in J: what was supplied less what was dissipated and what is stored
    more than at the start."""
    if not len(energy):
        return 0.0
    stored, supplied, dissipated = energy[-1] - energy[0]
    return float(supplied - dissipated - stored)


def _variable(series: np.ndarray, unit: str, doc: str, axis: str = "time") -> tuple[str, np.ndarray, dict[str, str]]:
    return axis, series, {"units": unit or "1"} | ({"long_name": doc} if doc else {})


def _plain(value: Any) -> Any:
    """What a NetCDF attribute can hold: numbers and texts; a problem becomes its sentence."""
    if isinstance(value, Problem):
        return f"{value.code} {value.message}"
    if isinstance(value, np.generic):
        return value.item()
    return value if isinstance(value, str | int | float) else str(value)


# -------------------------------------------------------------------------------------------------- writing


def check_target(path: Path | str) -> Path:
    """The path, if results can be written there; raises `InputError` for an unknown format or a place that cannot be
    written.

    Worth asking before a long calculation, not after it.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        hint = nearest(path.suffix, FORMATS) or f"the formats are {', '.join(FORMATS)}"
        unknown = f"the format '{path.suffix}' of '{path}' is unknown"
        what = unknown if path.suffix else f"the format of '{path}' is unknown: it has no extension"
        raise InputError(Problem("E430", what, hint=hint))
    if path.suffix == ".nc" and importlib.util.find_spec("h5py") is None:
        hint = "install it (pip install h5py), or write a .csv file"
        raise InputError(Problem("E435", f"writing '{path}' needs the package h5py", hint=hint))
    return writable(path)


def writable(path: Path) -> Path:
    """The path, its folder made if need be; raises `InputError` where no file can be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as wrong:
        raise InputError(Problem("E431", f"the folder '{path.parent}' cannot be created: {wrong.strerror}")) from None
    if path.is_dir() or not os.access(path.parent, os.W_OK | os.X_OK):
        reason = "it is a folder" if path.is_dir() else f"'{path.parent}' is read-only"
        raise InputError(Problem("E431", f"'{path}' cannot be written: {reason}"))
    return path


def write(results: Any, path: Path | str) -> list[Path]:
    """Write samples or data sets, one or several, and return the files: `.nc` holds several as groups, `.csv` makes one
    file NAME-RUN.csv each.

    Raises `InputError` for an unknown format or a place that cannot be written.
    """
    path = check_target(path)
    runs = named_runs(results)
    if path.suffix == ".nc":
        written(path, lambda place: _write_netcdf(runs, place))
        return [path]
    files = [path if len(runs) == 1 else path.with_name(f"{path.stem}-{name}{path.suffix}") for name in runs]
    for file, data in zip(files, runs.values()):
        written(file, lambda place, data=data: _write_csv(data, place))  # type: ignore[misc]
    return files


def named_runs(results: Any) -> dict[str, Any]:
    """Data sets by the name of their run; 'run1', 'run2' ... where it has none, and a number behind names that are
    taken."""
    given = list(results) if isinstance(results, Sequence) else [results]
    found: dict[str, Any] = {}
    for i, each in enumerate(given):
        data = dataset(each) if isinstance(each, Samples) else each
        name = data.attrs.get("name") or f"run{i + 1}"
        found[name if name not in found else f"{name}-{i + 1}"] = data
    return found


def written(path: Path, write_to: Callable[[Path], Any]) -> Path:
    """Let `write_to` fill a temporary file of the same extension, then give it its name; nothing is left behind on
    failure."""
    temporary = path.with_name(f".{path.stem}-{os.getpid()}{path.suffix}")
    try:
        write_to(temporary)
        os.replace(temporary, path)
    except OSError as wrong:
        raise InputError(Problem("E431", f"'{path}' cannot be written: {wrong.strerror or wrong}")) from None
    finally:
        temporary.unlink(missing_ok=True)
    return path


def _write_csv(data: Any, path: Path) -> None:
    (axis,) = data.dims
    names = [name for name in data.data_vars if data[name].dims == (axis,) and not _is_energy(name)]
    header = [f"{axis} [{_AXES[axis]['units']}]", *(f"{name} [{data[name].attrs.get('units', '1')}]" for name in names)]
    columns = np.column_stack([data[axis].values, *(data[name].values for name in names)])
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerow(header)
        for row in columns:
            stream.write(",".join(map(repr, row.tolist())) + "\n")
        for line in str(data.attrs.get("event_log", "")).splitlines():
            stream.write(f"{_EVENT}{line}\n")
        for line in str(data.attrs.get("warnings", "")).splitlines():
            stream.write(f"{_WARNING}{line}\n")
        if not data.attrs.get("finished", True):
            stream.write(
                _PARTIAL + (str(data.attrs.get("message", "")).replace("\n", " ") or "the run did not finish") + "\n"
            )


def _is_energy(name: str) -> bool:
    return name.removesuffix(" (network)") in (*ENERGIES, KINETIC)


def _write_netcdf(runs: Mapping[str, Any], path: Path) -> None:
    if len(runs) == 1:
        (data,) = runs.values()
        _storable(data).to_netcdf(path, engine="h5netcdf")
        return
    for i, (name, data) in enumerate(runs.items()):
        _storable(data).to_netcdf(path, mode="a" if i else "w", group=name, engine="h5netcdf")


def _storable(data: Any) -> Any:
    """NetCDF knows no truth values, and no '/' in names."""
    stored = data.rename({name: name.replace("/", _SLASH) for name in data.data_vars if "/" in name})
    return stored.assign_attrs({k: int(v) if isinstance(v, bool | np.bool_) else v for k, v in data.attrs.items()})


# -------------------------------------------------------------------------------------------------- reading


def read(path: Path | str) -> Any:
    """A written result: one data set, or a dict of them by name where a `.nc` holds several runs.

    Raises `InputError` where the file is missing, of an unknown format or not a result.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        message = f"the format '{path.suffix}' of '{path}' is unknown"
        raise InputError(Problem("E430", message, hint=f"the formats are {', '.join(FORMATS)}"))
    if not path.is_file():
        near = nearest(path.name, [p.name for p in path.parent.glob(f"*{path.suffix}")]) if path.parent.is_dir() else ""
        raise InputError(Problem("E432", f"there is no file '{path}'", hint=near))
    try:
        return _read_csv(path) if path.suffix == ".csv" else _read_netcdf(path)
    except (OSError, ValueError, StopIteration) as wrong:
        raise InputError(Problem("E432", f"'{path}' is not a result file: {wrong}")) from None


def _read_csv(path: Path) -> Any:
    import xarray

    with path.open(encoding="utf-8", newline="") as stream:
        lines = stream.read().splitlines()
    remarks = [line for line in lines if line.startswith("#")]
    rows = csv.reader(line for line in lines if not line.startswith("#"))
    headings = [_heading(text) for text in next(rows)]
    numbers = [[float(text) for text in row] for row in rows if row]
    axis = headings[0][0]
    if headings[0] not in [(name, attributes["units"]) for name, attributes in _AXES.items()]:
        raise ValueError("its first column is not 'time [s]'")
    values = np.array(numbers, dtype=float).reshape(-1, len(headings))
    columns = {name: (axis, values[:, j], {"units": unit}) for j, (name, unit) in enumerate(headings) if j}
    events = [line.removeprefix(_EVENT) for line in remarks if line.startswith(_EVENT)]
    warned = [line.removeprefix(_WARNING) for line in remarks if line.startswith(_WARNING)]
    broken = [line.removeprefix(_PARTIAL) for line in remarks if not line.startswith((_EVENT, _WARNING))]
    attributes = {"finished": not broken, "message": broken[-1] if broken else ""}
    attributes |= {name: "\n".join(lines) for name, lines in (("event_log", events), ("warnings", warned)) if lines}
    return xarray.Dataset(columns, coords={axis: (axis, values[:, 0], _AXES[axis])}, attrs=attributes)


def _heading(text: str) -> tuple[str, str]:
    match = re.fullmatch(r"(.*) \[([^\[\]]*)\]", text)
    return (match[1], match[2]) if match else (text, "1")


def _read_netcdf(path: Path) -> Any:
    import h5netcdf
    import xarray

    with h5netcdf.File(path, "r") as file:
        groups = list(file.groups)
    found = {}
    for group in groups or [None]:
        with xarray.open_dataset(path, engine="h5netcdf", group=group, decode_times=False) as stored:
            data = stored.load()
        data = data.rename({name: str(name).replace(_SLASH, "/") for name in data.data_vars if _SLASH in str(name)})
        data.attrs = {k: v.item() if isinstance(v, np.generic) else v for k, v in data.attrs.items()}
        if "finished" in data.attrs:
            data.attrs["finished"] = bool(data.attrs["finished"])
        found[group or ""] = data
    return found if groups else found[""]
