"""What a file format is: a record that its file (or a file of its folder) in `netsim/formats/` holds. The folder is the
registry; a file's suffix finds the record.

A format of networks has `program`, one of results `write` and `read`. A data set of results is an `xarray.Dataset` over
one of `AXES`: a variable per signal with its attribute `units`, and the energy account.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from netsim.text.syntax import Program

AXES = {
    "time": {"units": "s", "long_name": "time"},
    "mode": {"units": "1", "long_name": "number of the mode, slowest first"},
}
ENERGIES = ("energy.stored", "energy.supplied", "energy.dissipated")
KINETIC = "energy.kinetic"

Types = Callable[[str], Collection[str]]
"""The names of the types that `use LIBRARY` brings in, by the name of the library."""


@dataclass(frozen=True)
class Format:
    """A kind of file.

    program(path, alone, types): the syntax tree of a network, for `netsim.load` (`alone`) or for `use "FILE"`, which
    wants definitions only; raises `InputError` with every mistake. write(runs, path): data sets by name, one if not
    `several`; raises `OSError`. read(path): a data set, or several by name; raises `ValueError` where it is no result.
    needs: packages that writing takes."""

    name: str
    suffixes: tuple[str, ...]
    program: Callable[[Path, bool, Types], Program] | None = None
    write: Callable[[Mapping[str, Any], Path], None] | None = None
    read: Callable[[Path], Any] | None = None
    several: bool = False
    needs: tuple[str, ...] = ()
