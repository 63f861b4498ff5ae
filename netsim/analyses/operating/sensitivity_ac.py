"""`run sensitivity_ac(of = out.v, by = [r1.R, c1.C], from = 1 Hz, to = 1 MHz)`: a response over frequency, and what it
changes by with parameters (`by` none: all of them), as in SPICE's `.sens v(out) ac ...`.

With P(s, u, p) x = W at the operating point u(p) it is the whole derivative dy/dp: of the equations, and of the
operating point that a parameter moves. It is a difference of fourth order of responses at moved parameters, each about
its own operating point.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.option_values import EXPRESSION, NAMES, Kind, items_of
from netsim.analyses.signals import ac
from netsim.analyses.signals.ac import AcOptions, chosen_inputs, finder_of, response_signals, sweep_frequencies
from netsim.analyses.signals.inputs import STEP, by_differences, derivative_signal, inputs_of, parameter
from netsim.analyses.signals.points import linearised_at
from netsim.analyses.signals.states.growth import growth_note
from netsim.network.network import parameter_names
from netsim.results.samples import Samples, Signal
from netsim.text.errors import InputError, Problem, SimulationError, nearest
from netsim.text.expressions.from_python import expressions_given
from netsim.text.syntax import Expr

Array = np.ndarray
OPTIONS: dict[str, Kind] = {name: kind for name, kind in ac.OPTIONS.items() if name != "family"} | {
    "of": EXPRESSION, "by": NAMES
}  # fmt: skip
SHORTER = 8
"""How often the step of a parameter that is 0 is made shorter."""
EXAMPLE = "sensitivity_ac(of = out.v, by = [r1.R], from = 1 Hz, to = 1 MHz)"


@dataclass(frozen=True, eq=False)
class SensitivityAcOptions:
    """Frequencies, inputs and the point; signals; parameters by name (none: all)."""

    response: AcOptions
    of: tuple[Expr, ...]
    by: tuple[str, ...]


def check(options: Mapping[str, Any], line: OptionSource) -> SensitivityAcOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    response = ac.check({name: value for name, value in options.items() if name in ac.OPTIONS}, line)
    given, by = options.get("of"), options.get("by", ())
    by, known = (by,) if isinstance(by, str) else tuple(by), parameter_names(line.network)
    for name in by:
        if name not in known:
            span, hint = line.spans.get("by") or line.spans.get(""), nearest(name, known) or EXAMPLE
            raise InputError(Problem("E429", f"'{name}' is no parameter", span, hint=hint))
    of = items_of(expressions_given("of", given)) if given is not None else ()
    return SensitivityAcOptions(response, of, by)


def run(task: Task, options: SensitivityAcOptions) -> Samples:
    """The responses, and the derivative `d(out.v)/d(r1.R)` of each by each parameter, complex, over frequency (Hz)."""
    response = options.response
    ((lin, selection, point),) = linearised_at(_asked(task, options), response.where.at)
    if not lin.signals:
        raise InputError(Problem("E422", "sensitivity_ac() needs signals", hint=EXAMPLE))
    inputs = inputs_of(lin, task, selection, chosen_inputs(lin.machine.system, response.where.inputs))
    frequencies, found = sweep_frequencies(lin, inputs, response.grid, response.amplitudes)
    of = list(response_signals(lin, inputs, response))
    signals, columns = list(of), [found.reshape(len(frequencies), -1)]
    for signal, derivatives in _derivatives(task, options, frequencies):
        columns.append(derivatives)
        signals += [derivative_signal(each, signal) for each in of]
    attributes = {
        "inputs": ", ".join(signal.name for signal in inputs.signals),
        "unknowns": lin.n,
        "notes": growth_note(lin, ac.STEADY),
    }
    return Samples(
        "", frequencies, tuple(signals), np.hstack(columns), attributes=attributes, origin=point.g,
        axis="frequency", about=(point.about(),),
    )  # fmt: skip


def _derivatives(task: Task, options: SensitivityAcOptions, frequencies: Array) -> Iterator[tuple[Signal, Array]]:
    """Of each parameter its name and unit, and the derivatives (frequencies, responses); what is no number or cannot be
    moved is left out, unless it is asked for: then it raises `InputError`."""
    for name in options.by or parameter_names(task.network):
        try:
            signal, value = parameter(task.values, name)
            yield signal, _derivative(task, options, frequencies, name, value)
        except InputError:
            if options.by:
                raise


def _derivative(task: Task, options: SensitivityAcOptions, frequencies: Array, name: str, value: float) -> Array:
    step = STEP * abs(value) or _step_from_zero(task, options, frequencies, name)

    def changed(values: Array, weights: Array) -> Array:
        moved = [task.under({name: float(each)}) for each in values]
        return np.asarray(sum(w * _responses(each, options, frequencies) for w, each in zip(weights, moved)))

    return by_differences(value, step, changed)


def _step_from_zero(task: Task, options: SensitivityAcOptions, frequencies: Array, name: str) -> float:
    """A step of a parameter that is 0, whose size nothing tells: one by which responses change by no more than STEP of
    themselves."""
    here, step = _responses(task, options, frequencies), 1.0
    largest = float(np.abs(here).max(initial=0.0)) or 1.0
    for _ in range(SHORTER):
        try:
            change = float(np.abs(_responses(task.under({name: step}), options, frequencies) - here).max()) / largest
        except (InputError, SimulationError):
            return STEP * step  # the other side tells
        if change <= STEP:
            break
        step *= STEP / min(change, 1.0)
    return step


def _responses(task: Task, options: SensitivityAcOptions, frequencies: Array) -> Array:
    """(frequencies, responses) at the frequencies."""
    where = options.response.where
    ((lin, selection, _),) = linearised_at(_asked(task, options), where.at)
    inputs = inputs_of(lin, task, selection, chosen_inputs(lin.machine.system, where.inputs))
    return finder_of(lin, inputs, options.response.amplitudes)(frequencies).reshape(len(frequencies), -1)


def _asked(task: Task, options: SensitivityAcOptions) -> Task:
    """The task whose signals are those that the derivatives are of."""
    return replace(task, saves=options.of, plots=[]) if options.of else task


ANALYSIS = Analysis("sensitivity_ac", OPTIONS, check, run)
