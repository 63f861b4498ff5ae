"""`run noise(output = out.v, input = src, from = 1 Hz, to = 1 MHz)`: spectral densities of a signal's noise, in all and
by element, in the unit of the signal per Hz^0.5; what it is at the input; and its effective values over the band.

Every component states its noises (`noise i : A2/Hz = ...`, `flicker ...`); they are independent. One solution with the
transposed matrix, P(s)^T x = C(s)^T, gives the response of the output to all of them: y = -x^T W(s) w
(Rohrer, Nagel, Meyer and Weber, IEEE J. Solid-State Circuits 6, 1971).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from netsim.analyses.analysis import Analysis, Line, Task
from netsim.analyses.given import EXPRESSION, Kind
from netsim.analyses.signals.inputs import inputs_of
from netsim.analyses.signals.linearised import Linearised
from netsim.analyses.signals.options import GRID, WHERE, Grid, Where, checked, grid, where
from netsim.analyses.signals.points import linearised_at
from netsim.analyses.signals.response import AT_ONCE, Spectral, delays_of, without_differentiated
from netsim.equations.forms.noise import noise_form
from netsim.equations.kernels.reference import evaluate
from netsim.equations.parameters import instance_parameters
from netsim.results.progress import Stopwatch
from netsim.results.samples import Figure, Samples, Signal
from netsim.structure.orders import all_equation_numbers
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.from_python import expression_given
from netsim.text.syntax import Expr

Array = np.ndarray
OPTIONS: dict[str, Kind] = {**WHERE, **GRID, "output": EXPRESSION}
LEAST_EXPONENT = 1e-6
"""Below this an exponent of -1 + x integrates to a logarithm."""


@dataclass(frozen=True, eq=False)
class NoiseOptions:
    """Frequencies, the point and the input, the output."""

    grid: Grid
    where: Where
    output: Expr


@dataclass(frozen=True, eq=False)
class Sources:
    """Independent noises: their names, densities at all frequencies or (`flicker`) at 1 Hz, and what a unit of each
    adds to equations and definitions: (size, sources)."""

    names: tuple[str, ...]
    densities: Array
    flicker: Array
    columns: Any


def check(options: Mapping[str, Any], line: Line) -> NoiseOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    checked("noise", OPTIONS, options, line)
    found, place, output = grid("noise", options, line), where(options, line), options.get("output")
    if output is None:
        raise InputError(Problem("E422", "noise() needs 'output'", line.spans.get(""), hint="noise(output = out.v)"))
    if len(place.inputs) > 1 or len(place.at) > 1:
        raise InputError(Problem("E423", "noise() takes one input and one instant", line.spans.get("inputs")))
    return NoiseOptions(found, place, expression_given("output", output))


def run(task: Task, options: NoiseOptions) -> Samples:
    """Root densities over frequency; totals as figures."""
    watch = Stopwatch()
    asked = replace(task, saves=[options.output], plots=[])
    ((lin, selection, point),) = linearised_at(asked, options.where.at)
    if len(lin.signals) != 1:
        raise InputError(Problem("E423", "the output of noise() is one number", hint="take a component of it"))
    sources = sources_of(lin)
    names = options.where.inputs
    inputs = inputs_of(lin, task, selection, names) if names else None
    frequencies = options.grid.frequencies
    powers, gain = _spectra(lin, sources, inputs, 2j * np.pi * frequencies)
    powers *= np.where(sources.flicker, sources.densities / frequencies[:, None], sources.densities)
    output, unit = lin.signals[0], lin.signals[0].unit
    total = powers.sum(axis=1)
    columns = [(Signal("output", _root(unit), f"noise of {output.name}"), total)]
    if inputs is not None:
        source = inputs.signals[0]
        doc = f"the same noise at {source.name}"
        columns.append((Signal("input", _root(source.unit), doc), total / np.abs(gain[:, 0]) ** 2))
    columns += [
        (Signal(name, _root(unit), "its part at the output"), powers[:, k]) for k, name in enumerate(sources.names)
    ]
    figures = [
        Figure(
            signal.name,
            float(np.sqrt(integral(frequencies, density))),
            signal.unit.removesuffix("/Hz^0.5"),
            "effective",
        )
        for signal, density in columns
    ]
    attributes = {
        "analysis": "noise",
        "output": output.name,
        "input": ", ".join(names),
        "unknowns": lin.n,
        **watch.read,
        "netlist": lin.machine.system.network.text,
    }
    values = np.sqrt(np.column_stack([density for _, density in columns]))
    signals = tuple(signal for signal, _ in columns)
    return Samples(
        "", frequencies, signals, values, np.zeros((0, 3)), attributes, origin=point.g, axis="frequency",
        figures=tuple(figures),
    )  # fmt: skip


def _root(unit: str) -> str:
    return f"{unit or '1'}/Hz^0.5"


def sources_of(lin: Linearised) -> Sources:
    """Every noise of the network at the point."""
    names, densities, flicker = list[str](), list[float](), list[bool]()
    parts = [(np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for noise in _noises(lin):
        column = len(names) + np.arange(len(noise.labels))
        names += noise.labels
        densities += noise.density.tolist()
        flicker += [noise.flicker] * len(column)
        for row, value in noise.entries:
            kept = (row >= 0) & (value != 0.0)
            parts.append((value[kept], row[kept], column[kept]))
    values, rows, columns = (np.concatenate(part) for part in zip(*parts))
    matrix = csr_array((values, (rows, columns)), shape=(lin.size, len(names)))
    return Sources(tuple(names), np.array(densities), np.array(flicker, bool), matrix)


@dataclass(frozen=True, eq=False)
class _Noise:
    """One noise of a component type: labels and densities of the instances, and (rows, values) of its entries."""

    labels: list[str]
    flicker: bool
    density: Array
    entries: list[tuple[Array, Array]]


def _noises(lin: Linearised) -> Iterator[_Noise]:
    system, g = lin.machine.system, lin.g
    for batch in system.batches:
        if batch.shapes or not batch.instances:
            continue
        form = noise_form(batch.instances[0].component, batch.instances[0].counts)
        if form is None:
            continue
        gathered, uniforms = g[system.gather(batch, form.kernel)], g[system.layout.uniforms]
        values = [instance_parameters(form.form, instance, lin.machine.values) for instance in batch.instances]
        found = evaluate(form.kernel.program, gathered, uniforms, np.array(values).T.reshape(-1, batch.n))
        numbers, count = all_equation_numbers(system, batch), len(form.noises)
        partials = list(zip(form.kernel.scatter[count:], found[count:]))
        for k, noise in enumerate(form.noises):
            word = "flicker " if noise.flicker else ""
            labels = [f"{word}{label}.{noise.name}" if count > 1 else label for label in batch.labels]
            entries = [(numbers[place[1]], value) for place, value in partials if place[2] == k]
            yield _Noise(labels, noise.flicker, np.maximum(found[k], 0.0), entries)


def _spectra(lin: Linearised, sources: Sources, inputs: Any, s: Array) -> tuple[Array, Array]:
    """|y/w|^2 (frequencies, sources) and y/w of the input (frequencies, 1)."""
    spectral, none = Spectral(lin), csr_array((len(lin.signals), len(sources.names)))
    w, d = without_differentiated(lin, (sources.columns,), (none,))
    into, direct = without_differentiated(lin, inputs.equations, inputs.outputs) if inputs else ((), ())
    c, late = [power[:, : lin.n].toarray() for power in lin.reduced[1]], list(delays_of(lin, lin.reduced[1]))
    found, gain = np.zeros((len(s), len(sources.names))), np.zeros((len(s), 1), complex)
    chunk = 1 if late else max(1, AT_ONCE // max(1, lin.n + len(sources.names)))
    for first in range(0, len(s), chunk):
        some, sides = s[first : first + chunk], np.array(c, complex)
        for _, column, value, length, k in late:
            np.add.at(sides[0, 0], column.astype(np.int64), value * some[0] ** k * np.exp(-some[0] * length))
        x = spectral.solve(some, sides, transposed=True)[:, 0]
        y = sum(some[:, None] ** k * ((power.T @ -x.T).T) for k, power in enumerate(w))
        y = y + sum(some[:, None] ** k * power.toarray() for k, power in enumerate(d))
        found[first : first + chunk] = np.abs(y) ** 2
        if inputs:
            h = sum(some[:, None] ** k * ((power.T @ -x.T).T) for k, power in enumerate(into))
            gain[first : first + chunk] = h + sum(some[:, None] ** k * p.toarray() for k, p in enumerate(direct))
    return found, gain


def integral(frequencies: Array, density: Array) -> float:
    """The integral of a density that goes with a power of the frequency between two of its points."""
    if len(frequencies) < 2:
        return 0.0
    f0, f1, s0, s1 = frequencies[:-1], frequencies[1:], density[:-1], density[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.log(s1 / s0) / np.log(f1 / f0) + 1.0
        power = np.where(np.abs(n) > LEAST_EXPONENT, (s1 * f1 - s0 * f0) / n, s0 * f0 * np.log(f1 / f0))
    straight = (s0 + s1) / 2 * (f1 - f0)
    return float(np.where((s0 > 0.0) & (s1 > 0.0), power, straight).sum())


ANALYSIS = Analysis("noise", OPTIONS, check, run)
