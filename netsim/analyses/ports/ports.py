"""`run ports(from = 1 MHz, to = 1 GHz, per_decade = 20)`: S, Y or Z parameters of a network at its elements `port`.

Port k is a source v_k behind its reference resistance Z_k. With one source at a time, u_i the voltage of port i,
S_ij = 2 u_i/v_j sqrt(Z_j/Z_i) - delta_ij; Y = G (1 - S)(1 + S)^-1 G and Z = R (1 + S)(1 - S)^-1 R with the diagonals
G = Z_k^-1/2 and R = Z_k^1/2 (D. Pozar, Microwave Engineering, 2012, chapter 4). `netsim run x.net -o x.s2p` writes
Touchstone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.option_values import NAMES, WORD, Kind
from netsim.analyses.signals.ac import STEADY, sweep_frequencies
from netsim.analyses.signals.inputs import inputs_of, parameter
from netsim.analyses.signals.options import GRID, WHERE, FrequencyGrid, PointOptions, frequency_grid, point_options
from netsim.analyses.signals.points import linearised_at
from netsim.analyses.signals.states.growth import growth_note
from netsim.network.network import Network
from netsim.results.samples import Samples, Signal
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.from_python import parse_expression

Array = np.ndarray
OPTIONS: dict[str, Kind] = {"at": WHERE["at"], **GRID, "ports": NAMES, "parameters": WORD}
UNITS = {"S": "", "Y": "S", "Z": "Ohm"}
COMPONENT = "port"


@dataclass(frozen=True, eq=False)
class PortsOptions:
    """Frequencies, the point, the ports in their order, and which parameters."""

    grid: FrequencyGrid
    where: PointOptions
    ports: tuple[str, ...]
    kind: str


def check(options: Mapping[str, Any], line: OptionSource) -> PortsOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    found, place, kind = (
        frequency_grid("ports", options, line),
        point_options(options, line),
        options.get("parameters", "S"),
    )
    if kind not in UNITS:
        message = f"parameters must be one of {', '.join(UNITS)}, not '{kind}'"
        raise InputError(Problem("E424", message, line.spans.get("parameters")))
    if len(place.at) > 1:
        raise InputError(Problem("E423", "ports() takes one instant", line.spans.get("at")))
    known, span = _ports_in(line.network), line.spans.get("ports") or line.spans.get("")
    given = options.get("ports", known)
    chosen = (given,) if isinstance(given, str) else tuple(given)
    if not chosen:
        hint = "write p1 port (a, ground) Z0 = 50 Ohm, v = 0 V"
        raise InputError(Problem("E422", "the network has no port", span, hint=hint))
    for name in chosen:
        if name not in known:
            hint = nearest(name, known) or f"the ports are {', '.join(known)}"
            raise InputError(Problem("E429", f"no port is called '{name}'", span, hint=hint))
    return PortsOptions(found, place, chosen, kind)


def _ports_in(network: Network) -> list[str]:
    return [instance.name for instance in network.instances if instance.component.name == COMPONENT]


def run(task: Task, options: PortsOptions) -> Samples:
    """The parameters over frequency (Hz), `S(p1,p2)`: what leaves p1 of what enters at p2."""
    names = options.ports
    voltages = [parse_expression(f"{name}.u", "ports") for name in names]
    asked = replace(task, saves=voltages, plots=[])
    ((lin, selection, point),) = linearised_at(asked, options.where.at)
    inputs = inputs_of(lin, asked, selection, [f"{name}.v" for name in names])
    frequencies, u = sweep_frequencies(lin, inputs, options.grid)
    z = np.array([parameter(task.values, f"{name}.Z0")[1] for name in names])
    scattering = 2.0 * u[:, : len(names)] * np.sqrt(z[None, :] / z[:, None]) - np.eye(len(names))
    values = converted(scattering, z, options.kind)
    signals = tuple(Signal(f"{options.kind}({i},{j})", UNITS[options.kind]) for i in names for j in names)
    attributes = {
        "parameters": options.kind,
        "ports": ", ".join(names),
        "notes": growth_note(lin, STEADY),
        "resistances": ", ".join(repr(float(each)) for each in z),
    }
    table = values.reshape(len(frequencies), -1)
    return Samples(
        "", frequencies, signals, table, attributes=attributes, origin=point.g, axis="frequency",
        about=(point.about(),), warnings=tuple(_missing(options.kind, frequencies, table)),
    )  # fmt: skip


def _missing(kind: str, frequencies: Array, table: Array) -> Iterator[Problem]:
    """W504 where the parameters do not exist."""
    missing = ~np.isfinite(table).all(axis=1)
    if missing.any():
        where = (
            f"at {np.count_nonzero(missing)} of {len(missing)} frequencies, the first {frequencies[missing][0]:.6g} Hz"
        )
        hint = "its S parameters always exist: ports joined by a wire alone have no Z, ports that are shorted no Y"
        yield Problem("W504", f"the network has no {kind} parameters {where}", hint=hint)


def converted(s: Array, z: Array, kind: str) -> Array:
    """S (frequencies, n, n) as it is, or as Y or Z; not a number where these do not exist."""
    if kind == "S":
        return s
    one, root = np.eye(len(z)), np.sqrt(z)
    above, below, scale = (one - s, one + s, 1.0 / root) if kind == "Y" else (one + s, one - s, root)
    found = np.full(s.shape, np.nan, complex)
    with np.errstate(all="ignore"):
        exists = np.linalg.cond(below) < 1.0 / np.finfo(float).eps
    found[exists] = np.linalg.solve(below[exists], above[exists])  # both are functions of S and commute
    return scale[:, None] * found * scale[None, :]


ANALYSIS = Analysis("ports", OPTIONS, check, run)
