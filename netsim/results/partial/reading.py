"""The rows of a folder RESULT.part as data sets: what a run that was killed had written."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from netsim.formats.format import AXES, ENERGIES, KINETIC
from netsim.results.partial.recording import LEADING, TRAILING, part_of
from netsim.results.partial.rows import Rows

SUFFIX = part_of(Path("a")).suffix
"""How such a folder's name ends."""


def read_part(folder: Path) -> Any:
    """The data set of a run, or a dict of them by number where the netlist has several: sampled signals and the energy
    account. Raises `ValueError` where nothing was written yet."""
    found = {path.stem: _run(path) for path in sorted(folder.glob("*.about"))}
    if not found:
        raise ValueError("no run had written anything")
    return found if len(found) > 1 else next(iter(found.values()))


def _run(path: Path) -> Any:
    import xarray

    about = json.loads(path.read_text(encoding="utf-8"))
    rows = Rows(path.with_suffix(".rows"), LEADING + len(about["columns"]) + TRAILING)
    numbers = rows.read(0, rows.count)
    shown = about["columns"][: about["shown"]] or about["columns"]
    columns = {
        name: ("time", numbers[:, LEADING + j], _attributes(unit, doc)) for j, (name, unit, doc) in enumerate(shown)
    }
    for j, name in enumerate((*ENERGIES, KINETIC)):
        columns[name] = ("time", numbers[:, numbers.shape[1] - TRAILING + j], _attributes("J", ""))
    last = f"{numbers[-1, 0]:g} s" if len(numbers) else "the start"
    attributes = {"finished": False, "message": f"written up to t = {last}", "netsim": about["netsim"]}
    return xarray.Dataset(columns, coords={"time": ("time", np.array(numbers[:, 0]), AXES["time"])}, attrs=attributes)


def _attributes(unit: str, doc: str) -> dict[str, str]:
    return {"units": unit or "1"} | ({"long_name": doc} if doc else {})
