"""What a file format is: a record that its file (or a file of its folder) in `netsim/formats/` holds. The folder is the
registry; a file's suffix finds the record.

A format of networks has `program`, one of results `write` and `read`. A data set of results is an `xarray.Dataset` over
one of `AXES`: a variable per signal with its attribute `units`, and the energy account. What a run has just computed is
a `Table`, which has the same attributes and does not import xarray; `as_xarray` makes it a data set.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from netsim.text.syntax import Program

AXES = {
    "time": {"units": "s", "long_name": "time"},
    "mode": {"units": "1", "long_name": "number of the mode, slowest first"},
    "frequency": {"units": "Hz", "long_name": "frequency"},
    "pole": {"units": "1", "long_name": "number of the pole or zero"},
    "point": {"units": "1", "long_name": "number of the point along a curve"},
    "row": {"units": "1", "long_name": "number of the row"},
    "case": {"units": "1", "long_name": "number of the case"},
    "harmonic": {"units": "1", "long_name": "number of the harmonic, 0 the mean"},
    "multiplier": {"units": "1", "long_name": "number of the multiplier, largest first"},
}
ENERGIES = ("energy.stored", "energy.supplied", "energy.dissipated")
KINETIC = "energy.kinetic"


@dataclass(frozen=True)
class Variable:
    """A variable of a data set: its dimensions, its values, its attributes."""

    dims: tuple[str, ...]
    values: np.ndarray
    attrs: Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """A data set over one axis: its name and values, the other variables by name, the attributes. `pieces`: all rows,
    some at a time, of a table that memory does not take, and their number. `coordinates`: those of all axes, where
    there are several (the cases of a sweep)."""

    axis: str
    points: np.ndarray
    data_vars: Mapping[str, Variable]
    attrs: dict[str, Any]
    pieces: "Callable[[], Iterator[Table]] | None" = None
    count: int = 0
    coordinates: Mapping[str, Variable] = field(default_factory=dict)

    @property
    def dims(self) -> tuple[str, ...]:
        """The axes, that of the table first."""
        return tuple(dict.fromkeys((self.axis, *(dim for each in self.coords.values() for dim in each.dims))))

    @property
    def coords(self) -> Mapping[str, Variable]:
        """The values along its axes."""
        return self.coordinates or {self.axis: Variable((self.axis,), self.points, AXES[self.axis])}

    def __getitem__(self, name: str) -> Variable:
        return self.coords[name] if name in self.coords else self.data_vars[name]


def as_xarray(data: Any) -> Any:
    """A data set, or a table, as an `xarray.Dataset`."""
    if not isinstance(data, Table):
        return data
    import xarray

    columns, coordinates = (
        {name: (each.dims, each.values, each.attrs) for name, each in group.items()}
        for group in (data.data_vars, data.coords)
    )
    return xarray.Dataset(columns, coords=coordinates, attrs=data.attrs)


def pieces_of(data: Any) -> Iterator[Any]:
    """A data set or table, or the pieces of one that memory does not take."""
    yield from data.pieces() if isinstance(data, Table) and data.pieces else (data,)


Types = Callable[[str], Collection[str]]
"""The names of the types that `use LIBRARY` brings in, by the name of the library."""


@dataclass(frozen=True)
class Format:
    """A kind of file.

    program(path, alone, types): the syntax tree of a network, for `netsim.load` (`alone`) or for `use "FILE"`, which
    wants definitions only; raises `InputError` with every mistake. write(runs, path): data sets or tables by name, one
    if not `several`; raises `OSError`. read(path): a data set, or several by name; raises `ValueError` where it is no
    result. needs: packages that writing takes."""

    name: str
    suffixes: tuple[str, ...]
    program: Callable[[Path, bool, Types], Program] | None = None
    write: Callable[[Mapping[str, Any], Path], None] | None = None
    read: Callable[[Path], Any] | None = None
    several: bool = False
    needs: tuple[str, ...] = ()
