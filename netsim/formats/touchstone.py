"""Touchstone files, version 1 (.s1p, .s2p ...): S, Y or Z parameters of ports over frequency.

`# Hz S RI R 50`, then a line for each frequency: S11 S21 S12 S22 of two ports; of more, a line for each row of the
matrix, four numbers a line at most (EIA/IBIS, Touchstone File Format Specification, 2002). Y and Z are divided by the
conductance and by the resistance of reference.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from netsim.formats.format import AXES, Format

Array = np.ndarray
MOST_PORTS = 9
A_LINE = 4
"""Complex numbers in a line at most."""
_QUADRATURE = " (quadrature)"
_UNITS = {"hz": 1.0, "khz": 1e3, "mhz": 1e6, "ghz": 1e9}
SUFFIXES = tuple(f".s{n}p" for n in range(1, MOST_PORTS + 1))


def write(runs: Mapping[str, Any], path: Path) -> None:
    """One data set of `run ports(...)`; raises `OSError` for another one, or where the file's suffix says another
    number of ports or the ports have several resistances."""
    data = next(iter(runs.values()))
    if data.attrs.get("analysis") != "ports":
        raise OSError(0, "a Touchstone file has the result of run ports(...) alone")
    names, kind = str(data.attrs["ports"]).split(", "), str(data.attrs["parameters"])
    resistances = {float(each) for each in str(data.attrs["resistances"]).split(", ")}
    if path.suffix.lower() != f".s{len(names)}p":
        raise OSError(0, f"{len(names)} ports go into a .s{len(names)}p file")
    if len(resistances) > 1:
        raise OSError(0, "version 1 of Touchstone has one resistance of reference: give all ports the same Z0")
    (resistance,) = resistances
    values = np.array([[_complex(data, f"{kind}({i},{j})") for j in names] for i in names])
    values *= {"S": 1.0, "Y": resistance, "Z": 1.0 / resistance}[kind]
    with path.open("w", encoding="utf-8") as stream:
        for number, name in enumerate(names, 1):
            stream.write(f"! port {number}: {name}\n")
        stream.write(f"# Hz {kind} RI R {resistance!r}\n")
        for k, frequency in enumerate(data["frequency"].values.tolist()):
            stream.write("\n".join(_lines(frequency, values[:, :, k])) + "\n")


def _complex(data: Any, name: str) -> Array:
    if f"{name}{_QUADRATURE}" in data.data_vars:
        return np.asarray(data[name].values + 1j * data[f"{name}{_QUADRATURE}"].values)
    return np.asarray(data[name].values, complex)


def _lines(frequency: float, matrix: Array) -> Iterator[str]:
    n = len(matrix)
    rows = [matrix.T.ravel()] if n <= 2 else list(matrix)
    first = repr(frequency)
    for row in rows:
        for at in range(0, len(row), A_LINE):
            yield " ".join([first, *(f"{x.real!r} {x.imag!r}" for x in row[at : at + A_LINE].tolist())])
            first = ""


def read(path: Path) -> Any:
    """The data set of a file; raises `ValueError` where it is none."""
    import xarray

    match = re.fullmatch(r"\.s(\d)p", path.suffix.lower())
    n = int(match[1]) if match else 0
    text = path.read_text(encoding="utf-8")
    names = re.findall(r"^! port \d+: (\S+)$", text, re.MULTILINE)
    names = names if len(names) == n else [f"p{k}" for k in range(1, n + 1)]
    lines = [line.partition("!")[0].strip() for line in text.splitlines()]
    heads = [line[1:].lower().split() for line in lines if line.startswith("#")]
    if not heads:
        raise ValueError("it has no line that begins with #")
    unit, kind, form, resistance = _head(heads[0])
    figures = np.array([float(each) for line in lines if line and line[0] not in "#[" for each in line.split()])
    if not len(figures) or len(figures) % (1 + 2 * n * n):
        raise ValueError(f"its numbers are not those of {n} ports")
    table = figures.reshape(-1, 1 + 2 * n * n)
    first, second = table[:, 1::2], table[:, 2::2]
    if form == "ri":
        values = first + 1j * second
    else:
        values = (10 ** (first / 20) if form == "db" else first) * np.exp(1j * np.radians(second))
    values = values.reshape(-1, n, n)
    values = values.transpose(0, 2, 1) if n == 2 else values
    values *= {"s": 1.0, "y": 1.0 / resistance, "z": resistance}[kind]
    units = {"s": "1", "y": "S", "z": "Ohm"}[kind]
    columns = {
        f"{kind.upper()}({names[i]},{names[j]})": ("frequency", values[:, i, j], {"units": units})
        for i in range(n)
        for j in range(n)
    }
    about: dict[str, Any] = {"analysis": "ports", "parameters": kind.upper(), "ports": ", ".join(names)}
    about |= {"resistances": ", ".join([repr(resistance)] * n), "finished": True, "message": ""}
    return xarray.Dataset(columns, {"frequency": ("frequency", table[:, 0] * unit, AXES["frequency"])}, about)


def _head(words: list[str]) -> tuple[float, str, str, float]:
    """Unit of the frequency, kind and form of the numbers, resistance: `# GHz S MA R 50` unless said otherwise."""
    unit = next((_UNITS[word] for word in words if word in _UNITS), 1e9)
    kind = next((word for word in words if word in ("s", "y", "z")), "s")
    form = next((word for word in words if word in ("ri", "ma", "db")), "ma")
    resistance = float(words[words.index("r") + 1]) if "r" in words else 50.0
    return unit, kind, form, resistance


FORMAT = Format("touchstone", SUFFIXES, write=write, read=read)
