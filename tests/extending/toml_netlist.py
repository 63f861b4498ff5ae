"""Networks written in TOML, and a table of results that other programs plot (`.toml`, read; `.dat`, written and read). Written from CONTRIBUTING.md.

use = ["electrical"]
run = "transient(stop = 1 ms)"
[elements.r1]
type = "resistor"
nodes = ["a", "ground"]
R = "1 kOhm"
"""

import tomllib

import numpy as np

from netsim.formats.format import AXES, Format
from netsim.text.errors import InputError, Problem, Span
from netsim.text.parse import parse


def program(path, alone, types):
    """The network as a netlist; for `use` it defines nothing."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as wrong:
        raise _wrong(path, f"'{path.name}' is not TOML: {wrong}", "") from None
    lines = [f"use {name}" for name in found.get("use", [])]
    for name, element in found.get("elements", {}).items():
        if missing := {"type", "nodes"} - set(element):
            raise _wrong(path, f"the element '{name}' has no '{min(missing)}'", f"elements.{name}]")
        bindings = ", ".join(f"{key} = {value}" for key, value in element.items() if key not in ("type", "nodes"))
        lines.append(f"{name} {element['type']} ({', '.join(element['nodes'])}) {bindings}")
    lines += [f"run {found['run']}"] if "run" in found else []
    return parse("\n".join([*(lines if alone else []), ""]), str(path))


def _wrong(path, message, text):
    """A problem at the first line with a text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    line = next((k for k, each in enumerate(lines, 1) if text in each), 1)
    return InputError(Problem("E100", message, Span(str(path), line, 1, line, len(lines[line - 1]) + 1)))


def write(runs, path):
    """One data set as columns between blanks, headed by `# name[unit]`."""
    (data,) = runs.values()
    (axis,) = data.dims
    names = [axis, *data.data_vars]
    heads = [f"{name.replace(' ', '_')}[{data[name].attrs.get('units', '1')}]" for name in names]
    np.savetxt(path, np.column_stack([data[name].values for name in names]), header=" ".join(heads))


def read(path):
    """The data set of a file."""
    import xarray

    with path.open(encoding="utf-8") as stream:
        heads = [head.rstrip("]").split("[") for head in stream.readline().removeprefix("# ").split()]
    (axis, _), *signals = heads
    values = np.loadtxt(path, ndmin=2)
    columns = {name: (axis, values[:, j], {"units": unit}) for j, (name, unit) in enumerate(signals, 1)}
    return xarray.Dataset(columns, coords={axis: (axis, values[:, 0], AXES[axis])})


NETLIST = Format("toml", (".toml",), program=program)
TABLE = Format("dat", (".dat",), write=write, read=read)
