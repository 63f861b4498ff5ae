"""Results as NetCDF: a data set with its attributes, several as groups.

The C library crashes where its writing fails, so that it does not write to the disk: what it writes goes through
`_Disk`, which keeps an error for afterwards and takes the rest without doing anything.
"""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from netsim.formats.format import Format, pieces_of

_SLASH = "\u2215"  # NetCDF reads '/' in a name as a group: files carry the division slash instead
DAMAGED = (OSError, LookupError, RuntimeError, ValueError, TypeError, AttributeError, AssertionError)
"""What the library raises where the bytes of a file are not what it wrote."""
_CHUNK = 65536
"""Rows of a table that memory does not take are kept in pieces of so many."""


class _Disk(io.RawIOBase):
    """A file that never tells an error: `wrong` is the first one, and what comes behind it goes to memory."""

    def __init__(self, path: Path):
        super().__init__()
        self.file: io.RawIOBase | io.BytesIO = path.open("w+b", buffering=0)
        self.wrong: OSError | None = None

    def _instead(self, wrong: OSError, at: int) -> None:
        """Go on in memory: the library reads what it has written."""
        self.wrong, spare = wrong, io.BytesIO()
        self.file.close()
        spare.seek(at)
        self.file = spare

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self.file.seek(offset, whence))

    def tell(self) -> int:
        return int(self.file.tell())

    def readinto(self, buffer: Any) -> int:
        return int(self.file.readinto(buffer) or 0)

    def write(self, block: Any) -> int:
        data, done = memoryview(block).cast("B"), 0
        while done < len(data):
            at = self.file.tell()
            try:
                done += self.file.write(data[done:]) or 0
            except OSError as wrong:
                self._instead(wrong, at)
        return len(data)

    def truncate(self, size: int | None = None) -> int:
        try:
            return int(self.file.truncate(size))
        except OSError as wrong:
            self._instead(wrong, self.file.tell())
            return int(self.file.truncate(size))

    def close(self) -> None:
        self.file.close()
        super().close()


def write(runs: Mapping[str, Any], path: Path) -> None:
    """Data sets, several as groups."""
    import h5netcdf

    disk = _Disk(path)
    try:
        with h5netcdf.File(disk, "w") as file:
            for name, data in runs.items():
                _write_one(file.create_group(name) if len(runs) > 1 else file, data, disk)
    except (OSError, RuntimeError, ValueError):
        if disk.wrong is None:
            raise
    finally:
        disk.close()
    if disk.wrong is not None:
        raise disk.wrong


def _write_one(group: Any, data: Any, disk: _Disk) -> None:
    """A data set: its axes, variables and attributes. A table in pieces grows."""
    (axis, *_), pieces = data.dims, getattr(data, "pieces", None)
    names = [*(str(name) for name in data.coords), *(name for name in data.data_vars)]
    for name in names:
        for dim, size in zip(data[name].dims, np.shape(data[name].values)):
            if dim not in group.dimensions:
                group.dimensions[dim] = data.count if pieces else size
    for name in names:
        each = data[name]
        more = {"chunks": (min(_CHUNK, data.count),)} if pieces else {"data": np.asarray(each.values)}
        kind = np.asarray(each.values).dtype
        fill = np.nan if kind.kind == "f" and name not in data.coords else None
        made = group.create_variable(name.replace("/", _SLASH), each.dims, _stored(kind), fillvalue=fill, **more)
        about = {**each.attrs, "dtype": "bool"} if kind.kind == "b" else each.attrs  # as xarray marks truth values
        made.attrs.update({key: _storable(value) for key, value in about.items()})
    first = 0
    for piece in pieces_of(data) if pieces else ():
        size = len(piece[axis].values)
        for name in names:
            group.variables[name.replace("/", _SLASH)][first : first + size] = piece[name].values
        first += size
        if disk.wrong is not None:
            return
    beside = [name.replace("/", _SLASH) for name in names if name in data.coords and name not in data.dims]
    if beside and not any(" " in name for name in beside):
        group.attrs["coordinates"] = " ".join(beside)
    group.attrs.update({key: _storable(value) for key, value in data.attrs.items()})


def _stored(kind: np.dtype[Any]) -> Any:
    """NetCDF knows no truth values, and texts have no length."""
    import h5py

    return h5py.string_dtype() if kind.kind in "OU" else np.dtype("i1") if kind.kind == "b" else kind


def _storable(value: Any) -> Any:
    """NetCDF knows no truth values."""
    return int(value) if isinstance(value, bool | np.bool_) else value


def read(path: Path) -> Any:
    """One data set, or several by name; raises `ValueError` for a file that is damaged, or something else."""
    try:
        return _read(path)
    except DAMAGED as wrong:
        raise ValueError(f"it is damaged, or no NetCDF file ({str(wrong).splitlines()[0] or 'no words'})") from None


def _read(path: Path) -> Any:
    import h5netcdf
    import h5py
    import xarray

    class Looked(h5netcdf.File):  # type: ignore[misc]
        _writable = False  # what it closes where it could not be opened asks for this

    with h5py.File(path, "r") as stored, Looked(stored, "r") as file:
        groups = list(file.groups)
    found = {}
    for group in groups or [None]:
        with xarray.open_dataset(path, engine="h5netcdf", group=group, decode_times=False) as opened:
            data = opened.load()
        data = data.rename({name: str(name).replace(_SLASH, "/") for name in data.data_vars if _SLASH in str(name)})
        data.attrs = {k: v.item() if isinstance(v, np.generic) else v for k, v in data.attrs.items()}
        if "finished" in data.attrs:
            data.attrs["finished"] = bool(data.attrs["finished"])
        found[group or ""] = data
    return found if groups else found[""]


FORMAT = Format("netcdf", (".nc",), write=write, read=read, several=True, needs=("h5py",))
