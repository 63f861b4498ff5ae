"""`run ac(from = 1 Hz, to = 1 MHz, inputs = [src])`: the response of every saved signal to unit inputs, over frequency.

One signal for one input keeps its name; of several inputs the responses are called `out.v per src.v`. With `amplitudes`
(and `phases`, in rad) all inputs act together and there is one response, as in SPICE. Where no spacing is given,
frequencies are added until the curve between two of them is plain, beginning at the poles' own. With `family = [r1.R =
[1 kOhm, 2 kOhm]]` there are responses for each value, at the same frequencies.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.option_values import EXPRESSION, Kind
from netsim.analyses.signals.families import Member, family_of, tasks
from netsim.analyses.signals.inputs import Inputs, inputs_of, source_inputs
from netsim.analyses.signals.linearised import Linearised
from netsim.analyses.signals.options import (
    GRID,
    WHERE,
    FrequencyGrid,
    PointOptions,
    frequency_grid,
    numbers,
    point_options,
)
from netsim.analyses.signals.points import linearised_at
from netsim.analyses.signals.response import response
from netsim.analyses.signals.states.growth import growth_note
from netsim.analyses.signals.states.reduction import poles_of
from netsim.equations.machine import Machine
from netsim.equations.system import System
from netsim.results.measures import frequencies_measured
from netsim.results.over_frequency.densities import ASKED, beside, is_rounding
from netsim.results.samples import Samples, Signal
from netsim.text.errors import InputError, Problem
from netsim.text.units import NO_DIMENSION, format_dimension, parse_unit

Array = np.ndarray
Finder = Callable[..., Array]
"""Responses at frequencies, which are found with inputs of a `size` (1)."""
OPTIONS: dict[str, Kind] = {**WHERE, **GRID, "amplitudes": EXPRESSION, "phases": EXPRESSION, "family": EXPRESSION}
BEND, TURN = 0.01, 0.02
"""Change of log(gain), and of the phase in rad, by which the middle of an interval may depart from the line through its
ends."""
ROUNDS, DENSE = 40, 400
"""How often intervals are halved; unknowns up to which the poles' frequencies are looked at."""
LOOKS, SAME = 6, 1e-9
"""How often measures look again where they were found; shares of a frequency within which a curve is straight."""
STEADY = "there is no steady state with this response"
AROUND = np.array([-4.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0])
"""Frequencies around a resonance, in half widths."""


@dataclass(frozen=True, eq=False)
class AcOptions:
    """Frequencies, inputs, the point, the complex amplitudes of inputs that act together, and parameters that vary."""

    grid: FrequencyGrid
    where: PointOptions
    amplitudes: Array | None
    family: tuple[Member, ...] = ()


def check(options: Mapping[str, Any], line: OptionSource) -> AcOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    found, place = frequency_grid("ac", options, line), point_options(options, line)
    family = family_of(options.get("family"), line, inputs=False)
    if len(place.at) > 1:
        raise InputError(Problem("E423", "ac() takes one instant", line.spans.get("at")))
    if "amplitudes" not in options:
        return AcOptions(found, place, None, family)
    sizes = np.array(numbers(options["amplitudes"], line))
    phases = np.array(numbers(options.get("phases", [0.0] * len(sizes)), line))
    if not len(sizes) == len(phases) == len(place.inputs):
        message = f"there are {len(place.inputs)} inputs, {len(sizes)} amplitudes and {len(phases)} phases"
        raise InputError(Problem("E423", message, line.spans.get("amplitudes")))
    return AcOptions(found, place, sizes * np.exp(1j * phases), family)


def run(task: Task, options: AcOptions) -> Samples:
    """Complex responses over frequency (Hz)."""
    given = options.grid
    signals, columns, finders, about = list[Signal](), list[Array](), list[Finder](), list[Any]()
    doubts = list[str]()
    for words, each in tasks(task, options.family):
        ((lin, selection, point),) = linearised_at(each, options.where.at, measured=True)
        inputs = inputs_of(lin, each, selection, chosen_inputs(lin.machine.system, options.where.inputs))
        frequencies, found = sweep_frequencies(lin, inputs, given, options.amplitudes)
        signals += [replace(s, name=s.name + words) for s in response_signals(lin, inputs, options)]
        columns.append(found.reshape(len(frequencies), -1))
        finders.append(finder_of(lin, inputs, options.amplitudes))
        about.append(point.about(words))
        doubts.append(growth_note(lin, STEADY, words))
        given = FrequencyGrid(frequencies, False)
    attributes = {
        "inputs": ", ".join(signal.name for signal in inputs.signals),
        "unknowns": lin.n,
        "at": point.time if options.where.at else "static",
        "notes": "; ".join(filter(None, doubts)),
    }
    samples = Samples(
        "", frequencies, tuple(signals), np.hstack(columns), attributes=attributes, origin=point.g,
        axis="frequency", about=tuple(about),
    )  # fmt: skip

    def at(frequencies: Array) -> Array:
        return np.hstack([find(frequencies).reshape(len(frequencies), -1) for find in finders])

    return measured_exactly(lin.machine, samples, at) if options.grid.adaptive else samples


def measured_exactly(machine: Machine, samples: Samples, at: Finder) -> Samples:
    """With the frequencies at which the network's measures find their numbers, where the response is exact: a number
    between two frequencies has the error of a spline."""
    for _ in range(LOOKS):
        known = samples.time
        looked = np.unique(np.clip(frequencies_measured(machine, samples), known[0], known[-1]))
        beside = np.clip(np.searchsorted(known, looked), 1, len(known) - 1)
        nearest = np.minimum(np.abs(known[beside] - looked), np.abs(known[beside - 1] - looked))
        more = looked[nearest > SAME * looked]
        if not len(more):
            break
        order = np.argsort(np.append(known, more))
        values = np.concatenate([samples.values, at(more)])[order]
        samples = replace(samples, time=np.append(known, more)[order], values=values)
    return samples


def response_signals(lin: Linearised, inputs: Inputs, options: AcOptions) -> Iterator[Signal]:
    """Outputs per input."""
    together = options.amplitudes is not None
    alone = together or len(inputs.signals) == 1
    for s in lin.signals:
        for i in [Signal("all", "")] if together else inputs.signals:
            yield per_input(s, i, alone)


def per_input(output: Signal, input_: Signal, alone: bool) -> Signal:
    """The response of an output; where it is not `alone` its name says to which input."""
    name = output.name if alone else f"{output.name} per {input_.name}"
    return Signal(name, _ratio(output.unit, input_.unit), output.doc)


def chosen_inputs(system: System, names: tuple[str, ...]) -> tuple[str, ...]:
    """The given inputs, or the only one there is; raises `InputError` (E422)."""
    if names:
        return names
    found = [name for name, (signal, *_) in source_inputs(system).items() if name == signal.name]
    if len(found) != 1:
        known = f"the inputs are {', '.join(found[:8])}" if found else "any parameter can be one: inputs = [r1.R]"
        raise InputError(Problem("E422", "which input is to be varied?", hint=f"inputs = [...]; {known}"))
    return (found[0],)


def _ratio(output: str, input_: str) -> str:
    """The unit of an output per unit of the input."""
    if not input_ or input_ == "1":
        return output
    ratio = parse_unit(output).dimension / parse_unit(input_).dimension
    return "" if ratio == NO_DIMENSION else format_dimension(ratio)


def sweep_frequencies(
    lin: Linearised, inputs: Inputs, given: FrequencyGrid, amplitudes: Array | None = None
) -> tuple[Array, Array]:
    """(frequencies, responses (frequencies, p, m)); all inputs together (m = 1) with complex `amplitudes`."""

    at = finder_of(lin, inputs, amplitudes)
    if not given.adaptive:
        return given.frequencies, at(given.frequencies)
    return refine_frequencies(lin, given.frequencies, at, lambda found: found.reshape(len(found), -1))


def finder_of(lin: Linearised, inputs: Inputs, amplitudes: Array | None) -> Finder:
    """What finds the responses of `sweep_frequencies` at frequencies."""

    def at(frequencies: Array, size: float = 1.0) -> Array:
        found = response(lin, inputs.equations, inputs.outputs, 2j * np.pi * frequencies, size)
        return found if amplitudes is None else (found @ amplitudes)[:, :, None]

    return at


def refine_frequencies(
    lin: Linearised, frequencies: Array, at: Finder, curves: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """(frequencies, what `at` finds there), with more frequencies until the `curves` of that, complex (frequencies,
    any), are plain between two of them."""
    frequencies = _near_poles(lin, frequencies)
    found = at(frequencies)
    rounding = np.zeros_like(curves(found), bool)
    for turn in range(1, ROUNDS + 1):
        middles = np.sqrt(frequencies[1:] * frequencies[:-1])[_bent(frequencies, curves(found), rounding)]
        middles = np.setdiff1d(middles, frequencies)
        if not len(middles):
            break
        between = at(middles)
        nothing = is_rounding(curves(between), curves(at(*beside(middles)))) if turn % ASKED == 0 else False
        rounding = np.concatenate([rounding, np.broadcast_to(nothing, (len(middles), rounding.shape[1]))])
        frequencies = np.append(frequencies, middles)
        order = np.argsort(frequencies)
        frequencies, rounding = frequencies[order], rounding[order]
        rounding[1:-1] |= rounding[:-2] | rounding[2:]  # what is beside rounding is no curve either
        found = np.concatenate([found, between])[order]
    return frequencies, found


def _near_poles(lin: Linearised, frequencies: Array) -> Array:
    """With frequencies around each resonance."""
    found = poles_of(lin.dense) if lin.size <= DENSE and not len(lin.length) else None
    rates = np.zeros(0, complex) if found is None else found.rates
    s = rates[rates.imag > np.abs(rates.real)]
    around = ((np.abs(s.imag)[:, None] + np.abs(s.real)[:, None] * AROUND) / (2 * np.pi)).ravel()
    inside = around[(around > frequencies[0]) & (around < frequencies[-1])]
    return np.unique(np.concatenate([frequencies, inside]))


def _bent(frequencies: Array, curve: Array, rounding: Array) -> Array:
    """Intervals whose neighbour says that the curve is not straight there (log gain and phase over log frequency), but
    for what is rounding."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = np.log(curve)
        logarithm.imag = np.unwrap(logarithm.imag, axis=0)
        logarithm.real[rounding] = np.nan
    x = np.log(frequencies)[:, None]
    slope = np.diff(logarithm, axis=0) / np.diff(x, axis=0)
    change = np.diff(slope, axis=0)
    bent = np.zeros(len(frequencies) - 1, bool)
    for side in (slice(None, -1), slice(1, None)):
        width = np.diff(x, axis=0)[side]
        off = (np.abs(change.real) * width > BEND) | (np.abs(change.imag) * width > TURN)
        bent[side] |= (off & np.isfinite(change)).any(axis=1)
    return bent


ANALYSIS = Analysis("ac", OPTIONS, check, run)
