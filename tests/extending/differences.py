"""`run differences(parameters = [c, d], stop = 1 s)`: saved signals over time, and their derivatives with respect to parameters.

A derivative is the central difference of two runs at p (1 +- 1e-4); its signal is called `d SIGNAL/d PARAMETER`. Written from CONTRIBUTING.md.
"""

from dataclasses import dataclass, replace

import numpy as np

from netsim.analyses.analysis import Analysis
from netsim.analyses.option_values import NAMES
from netsim.analyses.over_time.run import transient
from netsim.analyses.transient import OPTIONS, transient_options
from netsim.network.network import parameter_names
from netsim.results.samples import Signal
from netsim.simulate.options import TransientOptions
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.from_python import parse_expression
from netsim.text.expressions.typed import evaluate
from netsim.text.units import format_dimension, parse_unit

STEP, SAMPLES = 1e-4, 100


@dataclass(frozen=True)
class Sensitivity:
    """Parameters of the top level, and the options of the runs."""

    parameters: tuple[str, ...]
    transient: TransientOptions


def check(options, line):
    """The options, checked."""
    if "parameters" not in options:
        hint = "run differences(parameters = [R], stop = 1 s)"
        raise InputError(Problem("E422", "differences() needs 'parameters'", line.spans[""], hint=hint))
    known = parameter_names(line.network)
    for name in options["parameters"]:
        if name not in known:
            raise InputError(Problem("E424", f"there is no parameter '{name}'", line.spans.get("parameters"), hint=nearest(name, known)))
    chosen = transient_options({n: v for n, v in options.items() if n != "parameters"}, line, "differences")
    return Sensitivity(options["parameters"], replace(chosen, sample=chosen.sample or chosen.stop / SAMPLES))


def run(task, options):
    """Three runs for one parameter, two more for each further one."""
    found = _transient(task, options)
    signals, columns = list(found.signals), [found.values]
    for name in options.parameters:
        value = evaluate(parse_expression(name, "parameters"), task.values.scope(task.network.top))
        low, high = (_transient(task.under({name: value.value * (1 + sign * STEP)}), options) for sign in (-1, 1))
        columns.append((high.values - low.values) / (2 * STEP * value.value))
        for signal in found.signals:
            unit = format_dimension(parse_unit(signal.unit or "1").dimension / value.dimension)
            signals.append(Signal(f"d {signal.name}/d {name}", unit, f"sensitivity of {signal.name} to {name}"))
    return replace(found, signals=tuple(signals), values=np.hstack(columns))


def _transient(task, options):
    return transient(task.machine, task.structure, options.transient, task.saves, progress=task.progress)


ANALYSIS = Analysis("differences", {**OPTIONS, "parameters": NAMES}, check, run)
