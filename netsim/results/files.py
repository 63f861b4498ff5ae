"""Samples -> tables or xarray data sets -> files and back, by the formats of netsim.formats.

A file is written beside its place under a temporary name and then renamed: nobody ever finds half a result under the
real name. A result that ends early says so, in the data set's attributes and in the file.
"""

import importlib.util
import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from netsim.formats.format import AXES, ENERGIES, KINETIC, Table, Variable, as_xarray
from netsim.library.formats import format_of, result_suffixes
from netsim.results.partial.reading import SUFFIX, read_part
from netsim.results.partial.recording import DISK_FULL, DiskFull
from netsim.results.samples import PARAMETER_VALUES, PERIOD, Figure, Samples, Signal
from netsim.text.errors import InputError, Problem, SimulationError, nearest
from netsim.text.expressions.from_python import path_given, refused

QUADRATURE = " (quadrature)"
OF_CASES = {"failed", "holds"}
"""Variables that the cases of a sweep have."""
completed: list[Callable[[Path], Any]] = []
"""Who is told of every file that is complete."""
_DOCS = ("energy stored in the network", "energy supplied since the start", "energy dissipated since the start")


def dataset(samples: Samples, aloud: bool = False) -> Any:
    """The table of the samples as an `xarray.Dataset`; `aloud`: a `RuntimeWarning` for each of its warnings as well."""
    found = table(samples)
    for line in found.attrs["warnings"].splitlines() if aloud else ():
        warnings.warn(line, RuntimeWarning, stacklevel=4)
    attributes = {name: int(value) if isinstance(value, bool) else value for name, value in found.attrs.items()}
    return as_xarray(replace(found, attrs=attributes))  # `to_netcdf` takes no truth values


def dataset_or_raise(samples: Samples) -> Any:
    """The samples as a data set, with a warning for each of theirs; raises `SimulationError`, with the samples, where
    the analysis failed or an assertion does not hold."""
    if "failure" in samples.attributes or samples.broken:
        error = SimulationError(samples.broken or samples.attributes["failure"])
        error.samples = samples  # type: ignore[attr-defined]
        raise error
    return dataset(samples, aloud=True)


def table(samples: Samples) -> Table:
    """The samples over `time`, or over another axis: a variable per signal (attributes `units`, `long_name`), the
    energy account (J, `energy.stored` ...) and, as attributes, netlist, options, statistics, `finished`, `message`,
    `energy_balance` (J), what was measured (`measure.NAME` in the SI unit `measure.NAME.units`), what assertions said
    (`broken`) and why the result may be less right than the run was asked for (`warnings`, one a line)."""
    axis = samples.axis
    columns = {s.name: _variable(samples.values[:, j], s.unit, s.doc, axis) for j, s in enumerate(samples.signals)}
    account = list(zip(ENERGIES, samples.energy.T, _DOCS)) if axis == "time" and len(samples.energy) else []
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
        ": ".join(filter(None, [f"{problem.code} {problem.message}", problem.hint])) for problem in samples.warnings
    )
    if samples.broken:
        attributes["broken"] = "; ".join(problem.message for problem in samples.broken)
    if samples.table is not None:
        return replace(samples.table, attrs=attributes)
    if samples.beside:
        coordinates = {n: each for n, each in samples.beside.items() if each.dims == (n,)}
        columns |= {n: each for n, each in samples.beside.items() if n not in coordinates}
        own = Variable((axis,), samples.time, AXES[axis])
        return Table(axis, samples.time, columns, attributes, coordinates={axis: own, **coordinates})
    if samples.pieces is None:
        return Table(axis, samples.time, columns, attributes)
    pieces = samples.pieces
    return Table(axis, samples.time, columns, attributes, lambda: map(table, pieces()), samples.count)


def energy_balance(energy: np.ndarray) -> float:
    """What the account (nt, 3) misses at its end, in J: what was supplied less what was dissipated and what is stored
    more than at the start."""
    if not len(energy):
        return 0.0
    stored, supplied, dissipated = energy[-1] - energy[0]
    return float(supplied - dissipated - stored)


def _variable(series: np.ndarray, unit: str, doc: str, axis: str = "time") -> Variable:
    return Variable((axis,), series, {"units": unit or "1"} | ({"long_name": doc} if doc else {}))


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
    path = path_given("path", path)
    found = format_of(path)
    if found is None or not found.write:
        known = result_suffixes()
        hint = nearest(path.suffix, known) or f"the formats are {', '.join(known)}"
        unknown = f"the format '{path.suffix}' of '{path}' is unknown"
        what = unknown if path.suffix else f"the format of '{path}' is unknown: it has no extension"
        raise InputError(Problem("E430", what, hint=hint))
    for package in (name for name in found.needs if importlib.util.find_spec(name) is None):
        hint = f"install it (pip install {package}), or write a .csv file"
        raise InputError(Problem("E435", f"writing '{path}' needs the package {package}", hint=hint))
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
    """Write samples or data sets, one or several, and return the files: one that holds them all where the format can
    (`.nc`), else a file NAME-RUN.csv each.

    Raises `InputError` for an unknown format or a place that cannot be written.
    """
    path = check_target(path)
    runs = named_runs(results)
    found = format_of(path)
    assert found and found.write
    if len(runs) == 1 or found.several:
        files = {path: runs}
    else:
        files = {path.with_name(f"{path.stem}-{name}{path.suffix}"): {name: data} for name, data in runs.items()}
    for file, data in files.items():
        write_atomically(file, partial(found.write, {name: real_parts(each) for name, each in data.items()}))
    return list(files)


def real_parts(data: Any) -> Any:
    """Complex variables as two, `x` and `x (quadrature)`: files have real numbers."""
    if not any(np.iscomplexobj(each.values) for each in data.data_vars.values()):
        return data
    columns: dict[str, Variable] = {}
    for name, each in data.data_vars.items():
        columns[str(name)] = Variable(tuple(each.dims), np.real(each.values), each.attrs)
        if np.iscomplexobj(each.values):
            columns[f"{name}{QUADRATURE}"] = Variable(tuple(each.dims), np.imag(each.values), each.attrs)
    (axis,) = data.dims
    return Table(axis, data[axis].values, columns, dict(data.attrs))


def complex_again(data: Any) -> Any:
    """A data set over frequency that was read, its pairs of variables put together."""
    for name in [str(n) for n in data.data_vars if str(n).endswith(QUADRATURE)] if "frequency" in data.dims else []:
        own = name.removesuffix(QUADRATURE)
        data[own] = (data[own].dims, data[own].values + 1j * data[name].values, data[own].attrs)
        data = data.drop_vars(name)
    return data


def named_runs(results: Any) -> dict[str, Any]:
    """Data sets by the name of their run; 'run1', 'run2' ... where it has none, and a number behind names that are
    taken."""
    given = list(results) if isinstance(results, list | tuple) else [results]
    for each in given:
        if not isinstance(each, Samples) and not hasattr(each, "data_vars"):
            raise refused("results", "data sets, or the samples of runs", each)
    found: dict[str, Any] = {}
    for i, each in enumerate(given):
        data = table(each) if isinstance(each, Samples) else each
        name = data.attrs.get("name") or f"run{i + 1}"
        found[name if name not in found else f"{name}-{i + 1}"] = data
    return found


def write_atomically(path: Path, write_to: Callable[[Path], Any]) -> Path:
    """Let `write_to` fill a temporary file of the same extension, then give it its name; nothing is left behind on
    failure. Raises `InputError` for a place that cannot be written, `DiskFull` where the disk takes no more."""
    temporary = path.with_name(f".{path.stem}-{os.urandom(6).hex()}{path.suffix}")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))  # no link that somebody laid there
        write_to(temporary)
        os.replace(temporary, path)
        for told in completed:
            told(path)
    except OSError as wrong:
        problem = Problem("E431", f"'{path}' cannot be written: {wrong.strerror or wrong}")
        raise (DiskFull if wrong.errno in DISK_FULL else InputError)(problem) from None
    finally:
        temporary.unlink(missing_ok=True)
    return path


# -------------------------------------------------------------------------------------------------- reading


def read(path: Path | str) -> Any:
    """A written result: one data set, or a dict of them by name where a `.nc` holds several runs; also what a run that
    was killed has left (RESULT.part).

    Raises `InputError` where the file is missing, of an unknown format or not a result.
    """
    path = path_given("path", path)
    if path.suffix == SUFFIX and path.is_dir():
        try:
            return read_part(path)
        except (OSError, ValueError, KeyError) as wrong:
            raise InputError(Problem("E432", f"'{path}' cannot be read: {wrong}")) from None
    found = format_of(path)
    if found is None or not found.read:
        message = f"the format '{path.suffix}' of '{path}' is unknown"
        raise InputError(Problem("E430", message, hint=f"the formats are {', '.join(result_suffixes())}"))
    if not path.is_file():
        near = nearest(path.name, [p.name for p in path.parent.glob(f"*{path.suffix}")]) if path.parent.is_dir() else ""
        raise InputError(Problem("E432", f"there is no file '{path}'", hint=near))
    try:
        data = found.read(path)
        return {n: complex_again(each) for n, each in data.items()} if isinstance(data, dict) else complex_again(data)
    except (OSError, ValueError, StopIteration) as wrong:
        why = "it is not UTF-8 text" if isinstance(wrong, UnicodeDecodeError) else str(wrong) or "it is empty"
        raise InputError(Problem("E432", f"'{path}' is not a result file: {why}")) from None


def samples_of(path: Path | str) -> list[Samples]:
    """The runs over time and the sweeps of a written result, to be drawn; raises `InputError` as `read` does, and where
    there are none (E432)."""
    if not (runs := samples_in(read(path))):
        raise InputError(Problem("E432", f"'{path}' has no run over time and no sweep"))
    return runs


def samples_in(found: Any) -> list[Samples]:
    """The runs over time and the sweeps in a data set, or in a dict of them by name."""
    runs = list(found.items()) if isinstance(found, dict) else [("", found)]
    for _, data in runs:
        if not hasattr(data, "data_vars"):
            raise refused("result", "an xarray.Dataset of a run, or a dict of them", data)
    return [
        _sweep_in(name, data) if set(data.data_vars) >= OF_CASES else _run_in(name, data)
        for name, data in runs
        if data.data_vars and ("time" in data.coords or set(data.data_vars) >= OF_CASES)
    ]


def _run_in(name: str, data: Any) -> Samples:
    attributes = {key: data.attrs[key] for key in ("parameters", PARAMETER_VALUES, PERIOD) if key in data.attrs}
    series = {str(n): v for n, v in data.data_vars.items() if v.dims == ("time",)}
    return Samples(
        name,
        data["time"].values,
        tuple(Signal(n, _si(v.attrs.get("units", ""))) for n, v in series.items()),
        np.column_stack([v.values for v in series.values()]),
        np.zeros((0, 3)),
        attributes if {PARAMETER_VALUES, PERIOD} & set(attributes) else {},
        finished=bool(data.attrs.get("finished", True)),
        message=str(data.attrs.get("message", "")),
        figures=_figures_in(data),
        beside={
            str(n): Variable(v.dims, v.values, v.attrs) for n, v in data.data_vars.items() if v.dims == ("harmonic",)
        },
    )


def _figures_in(data: Any) -> tuple[Figure, ...]:
    """What was measured."""
    told = {key.removeprefix("measure."): data.attrs[key] for key in map(str, data.attrs) if key.startswith("measure.")}
    return tuple(Figure(key, float(value)) for key, value in told.items() if not key.endswith(".units"))


def _sweep_in(name: str, data: Any) -> Samples:
    """The cases of a sweep that a .nc file holds, or of which a .csv file has the rows."""
    return Samples(
        name, np.zeros(0), (), np.zeros((0, 0)), np.zeros((0, 3)), axis="case", table=data, figures=_figures_in(data),
        finished=bool(data.attrs.get("finished", True)), message=str(data.attrs.get("message", "")),
    )  # fmt: skip


def _si(unit: str) -> str:
    return "" if unit == "1" else unit
