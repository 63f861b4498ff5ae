"""`run transfer(input = src.v, output = out.v)`: small-signal gain at rest, and the resistances that the network has at
the input's source and at the output.

The gain is dy/dw. The input's resistance is -dv/di of the branch that has the source, as w changes. The output's is
dy/di, where the current i enters at the output's first node and leaves at its second; of an output that is the current
of a source it is -dv/di of that source. An output that is neither has none (not a number).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.option_values import EXPRESSION, NAMES, Kind
from netsim.analyses.signals.families import Member, combinations, family_of
from netsim.analyses.signals.inputs import inputs_of, source_inputs
from netsim.analyses.signals.linearised import Linearised, at_zero
from netsim.analyses.signals.points import Point, linearised_at
from netsim.analyses.signals.response import response
from netsim.network.network import Network
from netsim.results.over_frequency.curves import reading
from netsim.results.samples import Samples, Signal
from netsim.results.series import unit_of
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.from_python import expression_given, parse_expression
from netsim.text.expressions.show import show_expression
from netsim.text.syntax import Expr, Name
from netsim.text.units import NO_DIMENSION, Dimension, parse_unit

OPTIONS: dict[str, Kind] = {"input": NAMES, "output": EXPRESSION, "family": EXPRESSION}
EXAMPLE = "transfer(input = src.v, output = out.v)"


@dataclass(frozen=True, eq=False)
class TransferOptions:
    """The input by name, the output, and what else varies."""

    input: str
    output: Expr
    family: tuple[Member, ...]


def check(options: Mapping[str, Any], line: OptionSource) -> TransferOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    if "input" not in options or "output" not in options:
        raise InputError(Problem("E422", "transfer() needs 'input' and 'output'", line.spans.get(""), hint=EXAMPLE))
    output = expression_given("output", options["output"])
    return TransferOptions("".join(options["input"]), output, family_of(options.get("family"), line, inputs=False))


def run(task: Task, options: TransferOptions) -> Samples:
    """One row, or one for each value of a family: its values, the gain, the two resistances."""
    rows, units, about = list[list[float]](), tuple[str, ...](), list[Any]()
    for values in combinations(options.family):
        found, units, point = _transfer(task.under(values) if values else task, options)
        of_family = (f" at {m.name} = {reading(values[m.name], m.signal.unit)}" for m in options.family)
        about.append(point.about("".join(of_family)))
        rows.append([*(values[member.name] for member in options.family), *found])
    names = ("gain", "input_resistance", "output_resistance")
    signals = (*(member.signal for member in options.family), *map(Signal, names, units))
    output = show_expression(options.output)
    attributes = {"input": options.input, "output": output}
    count = np.arange(1.0, len(rows) + 1)
    return Samples("", count, signals, np.array(rows), attributes=attributes, axis="row", about=tuple(about))


Found = tuple[tuple[float, ...], tuple[str, ...], Point]


def _transfer(task: Task, options: TransferOptions) -> Found:
    """Gain and resistances, their units, and the point."""
    system = task.machine.system
    sources = source_inputs(system)
    into = sources[options.input][0].name if options.input in sources else options.input
    back = _source_of(options.output, sources)
    sides = [_branch(system.network, name) for name in (into, back)]
    asked = replace(task, saves=[options.output, *sides[0], *sides[1]], plots=[])
    ((lin, selection, point),) = linearised_at(asked, ())
    lin = at_zero(lin)
    known = {signal.name: k for k, signal in enumerate(lin.signals)}
    if show_expression(options.output) not in known:
        raise InputError(Problem("E423", "the output of transfer() is one number", hint="take a component of it"))
    inputs = inputs_of(lin, task, selection, [into, *([back] if back else [])])
    pushed, through = _pushed(lin, known[show_expression(options.output)])
    equations = (hstack([inputs.equations[0], pushed], format="csr"), *(_wider(p) for p in inputs.equations[1:]))
    y = response(lin, equations, tuple(map(_wider, inputs.outputs)), np.zeros(1, complex))[0].real
    units = [parse_unit(signal.unit).dimension for signal in lin.signals]
    gain, output = y[known[show_expression(options.output)]], units[known[show_expression(options.output)]]
    found = [(float(gain[0]), output / parse_unit(inputs.signals[0].unit).dimension)]
    for k, side in zip((0, 1), sides):
        rows = [known[show_expression(name)] for name in side]
        if rows:
            across, through_ = float(y[rows[0], k]), float(y[rows[1], k])
            found.append((-across / through_ if through_ else float("inf"), units[rows[0]] / units[rows[1]]))
        elif k and through is not None:
            found.append((float(gain[-1]), output / through))
        else:
            found.append((float("nan"), NO_DIMENSION))
    return tuple(value for value, _ in found), tuple(unit_of(unit) for _, unit in found), point


def _wider(power: Any) -> Any:
    """With a column of zeros for the current that is pushed through."""
    return hstack([power, csr_array((power.shape[0], 1))], format="csr")


def _source_of(output: Expr, sources: Mapping[str, Any]) -> str:
    """The input of the source whose current the output is, '' for other outputs."""
    name = show_expression(output) if isinstance(output, Name) else ""
    found = sources.get(name.rpartition(".")[0])
    return str(found[0].name) if found else ""


def _branch(network: Network, name: str) -> list[Expr]:
    """The first quantity and the through of the branch of the element that reads this input; none for parameters."""
    element = next((i for i in network.instances if i.name == name.rpartition(".")[0]), None)
    inputs = {q.name for q in element.component.definition.inputs} if element else set()
    if element is None or name.rpartition(".")[2] not in inputs or len(element.component.definition.branches) != 1:
        return []
    (branch,) = element.component.definition.branches
    return [
        parse_expression(f"{element.name}.{quantity}", "transfer") for quantity in (branch.names[0], branch.names[-1])
    ]


def _pushed(lin: Linearised, row: int) -> tuple[Any, Dimension | None]:
    """The column of what enters at an output's nodes, where the output is made of potentials, and its dimension: the
    balance of a node has the number of its potential."""
    system = lin.machine.system
    weights = lin.outputs[0][[row], : lin.size].toarray()[0]
    owners = {
        first + k: node.domain.through[0]
        for node, first in system.numbering.with_unknowns(system.network)
        for k in range(len(node.domain.through))
    }
    places = np.flatnonzero(weights)
    if not len(places) or any(abs(weights[place]) != 1.0 or int(place) not in owners for place in places):
        return csr_array((lin.size, 1)), None
    return csr_array(-weights[:, None]), parse_unit(owners[int(places[0])].unit or "").dimension


ANALYSIS = Analysis("transfer", OPTIONS, check, run)
