"""`run periodic_ac(from = 10 Hz, to = 10 kHz, input = aim)`: the response of a periodic state to a small sinusoid at an
input, at its frequency f and, with `sidebands = 2`, at f + k/T up to k = 2 of both signs.

The state is found as by `periodic`; the response goes through every event, with the instants that the sinusoid moves.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.option_values import NAMES, NUMBER, SECOND, WORD, Kind, whole_numbers
from netsim.analyses.over_time.verdicts import verdicts
from netsim.analyses.periodic.forced import forcing_of, responses
from netsim.analyses.periodic.orbit import PeriodicOptions, claims_along, find_orbit
from netsim.analyses.periodic.periodic import PASSED_ON, PAST
from netsim.analyses.periodic.periodic import check as check_state
from netsim.analyses.periodic.stability import error_verdict, floquet, orbit_attributes
from netsim.analyses.signals.ac import chosen_inputs, per_input
from netsim.analyses.signals.inputs import source_inputs
from netsim.analyses.signals.linearised import shown_signals
from netsim.analyses.signals.options import GRID, frequency_grid, point_options
from netsim.equations.history import refuse_delays
from netsim.results.samples import PERIOD, Samples, Signal
from netsim.text.errors import InputError, Problem, nearest

Array = np.ndarray
OF_STATE = tuple(word for word in (*PASSED_ON, "period", "warm_up") if word != "from")
OPTIONS: dict[str, Kind] = {
    **GRID,
    **dict.fromkeys(("input", "inputs"), NAMES),
    **dict.fromkeys(("period", "step", "max_step"), SECOND),
    **dict.fromkeys(("rtol", "atol", "warm_up", "sidebands"), NUMBER),
    "method": WORD,
}


@dataclass(frozen=True, eq=False)
class PeriodicAcOptions:
    """Frequencies, names of inputs, how many sidebands of either sign; how the periodic state is found."""

    frequencies: Array
    inputs: tuple[str, ...]
    sidebands: int
    state: PeriodicOptions


def check(options: Mapping[str, Any], line: OptionSource) -> PeriodicAcOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    if wrong := list(whole_numbers(options, {"sidebands": 0}, line.spans)):
        raise InputError(wrong)
    inputs = point_options(options, line).inputs
    state = check_state({name: value for name, value in options.items() if name in OF_STATE}, line)
    return PeriodicAcOptions(
        frequency_grid("periodic_ac", options, line).frequencies, inputs, int(options.get("sidebands", 0)), state
    )


def run(task: Task, options: PeriodicAcOptions) -> Samples:
    """Complex responses over frequency (Hz)."""
    system = task.machine.system
    refuse_delays(system, "periodic_ac()", PAST)
    sources, names = source_inputs(system), chosen_inputs(system, options.inputs)
    for name in names:
        if name not in sources:
            hint = nearest(name, sources) or f"inputs are {', '.join([*sources][:6])}"
            raise InputError(
                Problem("E429", f"'{name}' is no input of a source or a component", options.state.span, hint=hint)
            )
    found = find_orbit(task, options.state)
    sidebands = range(-options.sidebands, options.sidebands + 1)
    inputs = [forcing_of(found, *sources[name][1:]) for name in names]
    values = responses(found, inputs, options.frequencies, sidebands, options.state.run)
    shown = shown_signals(found.orbit.start.machine, found.selection)[2]
    attributes = {
        "inputs": ", ".join(sources[name][0].name for name in names),
        PERIOD: found.orbit.period,
        "orbit": "\n".join(orbit_attributes(floquet(found.orbit, found.free), found.orbit, found.count)),
    }
    signals = tuple(_signals(shown, [sources[name][0] for name in names], sidebands))
    table = values.reshape(len(values), -1)
    warnings, broken = verdicts(found.orbit.found.run)
    doubts = filter(None, (*found.doubts, error_verdict(found.orbit, found.free, options.state.run)))
    return Samples(
        "", options.frequencies, signals, table, attributes=attributes, origin=found.orbit.start.g,
        axis="frequency", about=(claims_along(found, found.orbit),), warnings=(*warnings, *doubts), broken=broken,
    )  # fmt: skip


def _signals(shown: Sequence[Signal], inputs: Sequence[Signal], sidebands: range) -> Iterator[Signal]:
    """Sidebands of outputs per input."""
    for k in sidebands:
        aside = f" at f {'+' if k > 0 else '-'} {abs(k)}/T" if k else ""
        for s in shown:
            for i in inputs:
                found = per_input(s, i, len(inputs) == 1)
                yield replace(found, name=found.name + aside)


ANALYSIS = Analysis(
    "periodic_ac",
    OPTIONS,
    check,
    run,
    refuse=lambda task, options: refuse_delays(task.machine.system, "periodic_ac()", PAST),
)
