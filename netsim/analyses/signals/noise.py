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

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.option_values import EXPRESSION, Kind
from netsim.analyses.signals.ac import Finder, refine_frequencies
from netsim.analyses.signals.corners import listed
from netsim.analyses.signals.families import Member, family_of, tasks
from netsim.analyses.signals.inputs import inputs_of
from netsim.analyses.signals.linearised import Linearised
from netsim.analyses.signals.options import GRID, WHERE, FrequencyGrid, PointOptions, frequency_grid, point_options
from netsim.analyses.signals.points import linearised_at
from netsim.analyses.signals.response import AT_ONCE, Spectral, delays_of, without_differentiated
from netsim.analyses.signals.states.growth import growth_note
from netsim.equations.forms.noise import noise_form
from netsim.equations.kernels.reference import evaluate
from netsim.equations.parameters import instance_parameters
from netsim.library.extension import LOSS
from netsim.results.measures import measured_noise
from netsim.results.over_frequency.densities import Noise, integrals
from netsim.results.samples import Figure, Samples, Signal
from netsim.structure.orders import all_equation_numbers
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.from_python import expression_given
from netsim.text.syntax import Expr
from netsim.text.units import parse_unit

Array = np.ndarray
OPTIONS: dict[str, Kind] = {**WHERE, **GRID, "output": EXPRESSION, "family": EXPRESSION}
SHARE = 0.1
"""Sources that make so much of the noise at some frequency tell where more frequencies are needed."""
UNSTEADY = "there is no steady noise, whose effective values these could be"


@dataclass(frozen=True, eq=False)
class NoiseOptions:
    """Frequencies, the point and the input, the output, and parameters that vary."""

    grid: FrequencyGrid
    where: PointOptions
    output: Expr
    family: tuple[Member, ...] = ()


@dataclass(frozen=True, eq=False)
class Sources:
    """Independent noises: their names, densities at all frequencies or (`flicker`) at 1 Hz, and what a unit of each
    adds to equations and definitions: (size, sources)."""

    names: tuple[str, ...]
    densities: Array
    flicker: Array
    columns: Any


def check(options: Mapping[str, Any], line: OptionSource) -> NoiseOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    found, place, output = frequency_grid("noise", options, line), point_options(options, line), options.get("output")
    if output is None:
        raise InputError(Problem("E422", "noise() needs 'output'", line.spans.get(""), hint="noise(output = out.v)"))
    if len(place.inputs) > 1 or len(place.at) > 1:
        raise InputError(Problem("E423", "noise() takes one input and one instant", line.spans.get("inputs")))
    family = family_of(options.get("family"), line, inputs=False)
    return NoiseOptions(found, place, expression_given("output", output), family)


def run(task: Task, options: NoiseOptions) -> Samples:
    """Root densities over frequency; totals and what the network measures of them as figures."""
    spectra, given = list[Samples](), options.grid
    for words, each in tasks(task, options.family):
        spectra.append(_spectrum(each, options, given, words))
        given = FrequencyGrid(spectra[-1].time, False)
    notes = dict.fromkeys(filter(None, (each.attributes["notes"] for each in spectra)))
    return replace(
        spectra[0], signals=tuple(signal for each in spectra for signal in each.signals),
        values=np.hstack([each.values for each in spectra]),
        attributes={**spectra[0].attributes, "notes": "; ".join(notes)},
        about=tuple(point for each in spectra for point in each.about),
        figures=tuple(figure for each in spectra for figure in each.figures),
        broken=tuple(problem for each in spectra for problem in each.broken),
    )  # fmt: skip


def _spectrum(task: Task, options: NoiseOptions, grid: FrequencyGrid, words: str) -> Samples:
    """That of one member of a family, with these words behind its names."""
    asked = replace(task, saves=[options.output], plots=[])
    ((lin, selection, point),) = linearised_at(asked, options.where.at)
    if len(lin.signals) != 1:
        raise InputError(Problem("E423", "the output of noise() is one number", hint="take a component of it"))
    sources = sources_of(lin)
    names = options.where.inputs
    inputs = inputs_of(lin, task, selection, names) if names else None
    output, unit, source = lin.signals[0], lin.signals[0].unit, inputs.signals[0] if inputs else None
    signals = [Signal("output", _root(unit), f"noise of {output.name}")]
    signals += [Signal("input", _root(source.unit), f"the same noise at {source.name}")] if source else []
    signals += [Signal(name, _root(unit), "its part at the output") for name in sources.names]

    def responses(wanted: Array, size: float = 1.0) -> Array:
        return np.hstack(_spectra(lin, sources, inputs, 2j * np.pi * wanted, size))

    def densities(wanted: Array, size: float = 1.0) -> Array:
        return _densities(sources, wanted, responses(wanted, size))

    frequencies, found = _finely(lin, sources, grid.frequencies, responses)
    whole = np.arange(len(signals)) * (np.arange(len(signals)) < len(signals) - len(sources.names))
    totals = integrals(frequencies, found, densities, whole)
    lost = _lost_note(source.name, words) if source and np.isnan(totals[1]) else ""
    if lost:
        found[:, 1] = np.nan

    def noise(signal: Signal, k: int) -> Noise:
        return Noise(parse_unit(signal.unit).dimension, lambda *wanted: densities(*wanted)[:, k], frequencies)

    noises = {output.name: noise(output, 0), **({source.name: noise(source, 1)} if source else {})}
    measured, broken = measured_noise(lin.machine, frequencies[frequencies > 0.0], noises)
    if not grid.adaptive:
        rows = np.searchsorted(frequencies, grid.frequencies)
        frequencies, found = frequencies[rows], found[rows]
    figures = [
        Figure(signal.name, float(np.sqrt(total)), signal.unit.removesuffix("/Hz^0.5"), "effective")
        for signal, total in zip(signals, totals)
    ]
    attributes = {
        "output": output.name,
        "input": source.name if source else "",
        "unknowns": lin.n,
        "notes": "; ".join(filter(None, (growth_note(lin, UNSTEADY, words), _silent_note(lin), lost))),
    }
    return Samples(
        "", frequencies, tuple(replace(s, name=s.name + words) for s in signals), np.sqrt(found),
        attributes=attributes, origin=point.g, axis="frequency", about=(point.about(words),),
        figures=tuple(replace(f, name=f.name + words) for f in (*figures, *measured)),
        broken=tuple(replace(problem, message=problem.message + words) for problem in broken),
    )  # fmt: skip


def _lost_note(name: str, words: str) -> str:
    return f"'{name}' does not act on the output{words}, but for rounding: no noise there would be that of the output"


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


def _silent_note(lin: Linearised) -> str:
    """A sentence about elements that dissipate and state no noise; '' where there are none."""
    batches = [batch for batch in lin.machine.system.batches if batch.instances and not batch.shapes]
    definitions = [batch.instances[0].component.definition for batch in batches]
    loses = [any(output.name == LOSS for output in d.outputs) and not d.noises for d in definitions]
    names = [label for batch, silent in zip(batches, loses) if silent for label in batch.labels]
    return f"without noise, though they have losses: {listed(names)}" if names else ""


def _finely(lin: Linearised, sources: Sources, frequencies: Array, responses: Finder) -> tuple[Array, Array]:
    """(frequencies, densities) with more frequencies, until the responses to what makes much of the noise and to the
    input are plain between two of them."""
    frequencies = np.unique(frequencies)
    first, zero = frequencies[frequencies > 0.0], frequencies[frequencies == 0.0]
    if not len(first):
        return zero, _densities(sources, zero, responses(zero))
    parts = _densities(sources, first, responses(first))
    much = np.flatnonzero((parts[:, parts.shape[1] - len(sources.names) :] >= SHARE * parts[:, :1]).any(axis=0))
    kept = np.append(much, np.arange(len(sources.names), parts.shape[1] - 1))
    fine, found = refine_frequencies(lin, first, responses, lambda found: found[:, kept])
    found = _densities(sources, fine, found)
    return np.append(zero, fine), np.vstack([_densities(sources, zero, responses(zero)), found]) if len(zero) else found


def _densities(sources: Sources, frequencies: Array, found: Array) -> Array:
    """Of the output, of the input where there is one, and of every source's part, from the responses to all sources
    and to the input: (frequencies, signals)."""
    count = len(sources.names)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.abs(found[:, :count]) ** 2 * sources.densities
        parts[:, sources.flicker] /= frequencies[:, None]
        total = parts.sum(axis=1, keepdims=True)
        return np.hstack([total, total / np.abs(found[:, count:]) ** 2, parts])


def _spectra(lin: Linearised, sources: Sources, inputs: Any, s: Array, size: float) -> tuple[Array, Array]:
    """y/w of all sources (frequencies, sources) and of the input (frequencies, 1), which has no column without one."""
    spectral, none = Spectral(lin), csr_array((len(lin.signals), len(sources.names)))
    w, d = without_differentiated(lin, (sources.columns,), (none,))
    into, direct = without_differentiated(lin, inputs.equations, inputs.outputs) if inputs else ((), ())
    c, late = [power[:, : lin.n].toarray() for power in lin.reduced[1]], list(delays_of(lin, lin.reduced[1]))
    found, gain = np.zeros((len(s), len(sources.names)), complex), np.zeros((len(s), 1 if inputs else 0), complex)
    chunk = 1 if late else max(1, AT_ONCE // max(1, lin.n + len(sources.names)))
    for first in range(0, len(s), chunk):
        some, sides = s[first : first + chunk], np.array(c, complex)
        for _, column, value, length, k in late:
            np.add.at(sides[0, 0], column.astype(np.int64), value * some[0] ** k * np.exp(-some[0] * length))
        x = spectral.solve(some, size * sides, transposed=True)[:, 0] / size
        y = sum(some[:, None] ** k * ((power.T @ -x.T).T) for k, power in enumerate(w))
        y = y + sum(some[:, None] ** k * power.toarray() for k, power in enumerate(d))
        found[first : first + chunk] = y
        if inputs:
            h = sum(some[:, None] ** k * ((power.T @ -x.T).T) for k, power in enumerate(into))
            gain[first : first + chunk] = h + sum(some[:, None] ** k * p.toarray() for k, p in enumerate(direct))
    return found, gain


ANALYSIS = Analysis("noise", OPTIONS, check, run)
