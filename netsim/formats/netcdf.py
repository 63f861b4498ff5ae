"""Results as NetCDF: a data set with its attributes, several as groups."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from netsim.formats.format import Format, as_xarray

_SLASH = "\u2215"  # NetCDF reads '/' in a name as a group: files carry the division slash instead


def write(runs: Mapping[str, Any], path: Path) -> None:
    """Data sets, several as groups."""
    for i, (name, data) in enumerate(runs.items()):
        group = name if len(runs) > 1 else None
        _storable(as_xarray(data)).to_netcdf(path, mode="a" if i else "w", group=group, engine="h5netcdf")


def _storable(data: Any) -> Any:
    """NetCDF knows no truth values, and no '/' in names."""
    stored = data.rename({name: name.replace("/", _SLASH) for name in data.data_vars if "/" in name})
    return stored.assign_attrs({k: int(v) if isinstance(v, bool | np.bool_) else v for k, v in data.attrs.items()})


def read(path: Path) -> Any:
    """One data set, or several by name."""
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


FORMAT = Format("netcdf", (".nc",), write=write, read=read, several=True, needs=("h5py",))
