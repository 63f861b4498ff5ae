"""`run sweep_static(over = src.v, from = 0 V, to = 5 V, points = 51)`: operating points along a source or a parameter.

The equations of rest are followed as a curve (netsim.analyses.operating.curve), which goes round folds, where the swept
quantity turns back. With `folds = jump` there is one point for each of the equal steps, or of `values = [...]`, each
found from the one before.
`family = [gate.v = [1 V, 2 V]]` gives a curve for each value of further inputs and parameters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.operating.at_values import solve_at_values
from netsim.analyses.operating.continuation import Features
from netsim.analyses.operating.curve import Curve
from netsim.analyses.operating.switching import follow_through_switching, operating_point_at
from netsim.analyses.option_values import EXPRESSION, NAMES, NUMBER, WORD, Kind
from netsim.analyses.signals.families import Member, combinations, family_of, find_member, slot_of, under
from netsim.analyses.signals.inputs import parameter
from netsim.analyses.signals.linearised import read, shown_signals
from netsim.analyses.signals.options import equal_steps, numbers
from netsim.analyses.signals.points import points, selected
from netsim.equations.machine import Machine, build_machine
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.initial import Structure, set_differentiated
from netsim.initial.static.rest import at_rest
from netsim.results.over_frequency.curves import reading
from netsim.results.samples import Samples, Signal
from netsim.results.selection import add_unseen, reader_of
from netsim.simulate.setup.kinds import kinds_of
from netsim.text.errors import InputError, Problem, SimulationError
from netsim.text.units import parse_unit

Array = np.ndarray
OPTIONS: dict[str, Kind] = {
    "over": NAMES, "from": EXPRESSION, "to": EXPRESSION, "points": NUMBER, "values": EXPRESSION,
    "folds": WORD, "family": EXPRESSION,
}  # fmt: skip
FOLDS = ("follow", "jump")
KEPT = 8
"""Machines of a swept parameter that are kept: those of a point, beside it, and of the point before."""
NOTHING = 1e-12
"""Values below this share of the range are told as 0."""
EXAMPLE = "sweep_static(over = src.v, from = 0 V, to = 5 V, points = 51)"


@dataclass(frozen=True, eq=False)
class SweepOptions:
    """The input or parameter, its values (SI), whether folds between them are followed, and what else varies."""

    over: Signal
    steps: Array
    follow: bool
    family: tuple[Member, ...]

    @property
    def first(self) -> float:
        """Where the curve begins."""
        return float(self.steps[0])

    @property
    def last(self) -> float:
        """Where it ends."""
        return float(self.steps[-1])


def check(options: Mapping[str, Any], line: OptionSource) -> SweepOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    over, count = "".join(options.get("over", ())), float(options.get("points", 51))
    span = line.spans.get("over") or line.spans.get("")
    signal = find_member(over, line.network, span, EXAMPLE)
    steps = _steps(options, line, parse_unit(signal.unit).dimension, count)
    if (folds := options.get("folds", "jump" if "values" in options else "follow")) not in FOLDS:
        message = f"folds must be one of {', '.join(FOLDS)}, not '{folds}'"
        raise InputError(Problem("E424", message, line.spans.get("folds")))
    family = family_of(options.get("family"), line)
    if signal.name in [member.name for member in family]:
        raise InputError(Problem("E423", f"'{over}' is listed twice", line.spans.get("family")))
    return SweepOptions(signal, steps, folds == "follow", family)


def _steps(options: Mapping[str, Any], line: OptionSource, unit: Any, count: float) -> Array:
    """The values of a list, or equal steps of a range; raises `InputError`."""
    if "values" in options:
        listed = numbers(options["values"], line, unit)
        if not listed or {"from", "to", "points"} & set(options) or options.get("folds", "jump") != "jump":
            message = "'values' stands without from, to and points, and folds = jump"
            raise InputError(Problem("E423", message, line.spans.get("values")))
        return np.array(listed)
    return equal_steps("sweep_static", options, line, unit, count, EXAMPLE)


def run(task: Task, options: SweepOptions) -> Samples:
    """A row per point: the swept quantity, the family's values, then the saved signals; curve after curve."""
    (point,) = points(task, ())
    selection = selected(point.machine, task)
    _check_bounds(task, options)
    unseen, entries = add_unseen(point.machine, selection, task.beside), list(selection.entries)
    values_of, _, signals = shown_signals(point.machine, selection)
    rows, every, g, told = list[list[float]](), list[Array](), point.g.copy(), list[str]()
    turned, crossed = list[float](), list[float]()
    for values in combinations(options.family):
        here, machine = under(task, point.machine, g, values)
        curve = curve_of(here, machine, g, options, values)
        further, begun, features = [values[member.name] for member in options.family], False, Features()
        followed = _followed(curve, point.structure, options, features)
        for value in followed if options.follow else solve_at_values(curve, point.structure, options.steps):
            at = curve.g.copy()
            if not begun:  # the next curve begins where this one did
                g, begun = at.copy(), True
            set_differentiated(curve.rest.machine, at)
            every.append(read(reader_of(curve.rest.machine, selection), at))
            rows.append([value, *further, *values_of(every[-1])])
        told += _told(options, rows[-1][0], features)
        turned += features.folds
        crossed += features.crossings
    attributes = {
        "over": options.over.name,
        "family": ", ".join(member.name for member in options.family),
        "orbit": "\n".join(told),
        "folds": ", ".join(repr(float(fold)) for fold in turned),
        "bifurcations": ", ".join(repr(float(value)) for value in crossed),
    }
    count = np.arange(1.0, len(rows) + 1)
    shown = (options.over, *(member.signal for member in options.family), *signals)
    columns = dict(zip(entries, np.array(every).T))
    beside = {name: columns[name] for name in unseen}
    return Samples("", count, shown, np.array(rows), attributes=attributes, axis="point", unseen=beside)


def _check_bounds(task: Task, options: SweepOptions) -> None:
    """Raises `InputError` (E234) where a parameter may not have a value at an end of its range."""
    if slot_of(task.machine.system, options.over.name) < 0:
        for value in (options.first, options.last):
            task.under({options.over.name: value})


def _told(options: SweepOptions, value: float, features: Features) -> Iterator[str]:
    """Where a curve turns back, is crossed or jumps, and that it does not come to the end of the range."""
    name, unit, size = options.over.name, options.over.unit, abs(options.last - options.first)

    def at(value: float) -> str:
        return f"at {name} = {reading(value if abs(value) > NOTHING * size else 0.0, unit)}"

    yield from (f"fold {at(fold)}" for fold in features.folds)
    yield from (
        f"bifurcation {at(each)}, where another curve of operating points crosses" for each in features.crossings
    )
    yield from (f"jump {at(jump)}, where something switches" for jump in features.jumps)
    if features.closed:
        yield f"the curve is closed: it does not come to {name} = {reading(options.last, unit)}"
    elif abs(value - options.last) > 1e-9 * abs(options.last - options.first):
        yield f"the curve does not come to {name} = {reading(options.last, unit)}: it goes to {reading(value, unit)}"


def _followed(curve: Curve, structure: Structure, options: SweepOptions, features: Features) -> Iterator[float]:
    """The curve from the first value to the last one, with its features; from between two folds it leads to one
    end."""
    if options.family:  # the point is that of other values
        operating_point_at(curve, structure)
    here, value, first, last = curve.g.copy(), curve.value, options.first, options.last
    for sense in (1.0, -1.0) if value != first else ():
        curve.g[:] = here
        curve.set(value)
        curve.measure_over(first - value)
        for _ in follow_through_switching(curve, structure, first, np.array([first]), sense):
            pass
        if abs(curve.value - first) <= 1e-9 * max(abs(last - first), abs(value - first)):
            break
    if abs(curve.value - first) > 1e-9 * max(abs(last - first), abs(value - first)):
        message = f"the operating points from the present value do not reach {options.over.name} = {first:g}"
        raise SimulationError(Problem("E441", message, hint="begin where the network has its operating point"))
    curve.measure_over(last - first)
    yield from follow_through_switching(curve, structure, last, options.steps, features=features)


def curve_of(task: Task, machine: Machine, g: Array, options: SweepOptions, values: Mapping[str, float]) -> Curve:
    """The curve of a network through the point g, where further inputs have these values."""
    system, g, over = machine.system, g.copy(), options.over.name
    rest = at_rest(machine, g, sizes_of_machine(machine).size)
    sizes, nk = np.append(rest.weight, float(np.ptp(options.steps))), system.layout.nk
    kind = kinds_of(system, np.zeros(system.layout.one - system.layout.prescribed_inputs), np.zeros(0, np.int64)).of
    known: Any = {"kind": np.append(kind[:nk], kind[2 * nk :]), "ahead": float(options.last - options.first)}
    if (slot := slot_of(system, over)) >= 0:
        return Curve(rest, g, float(g[slot]), slot, None, sizes, **known)

    @lru_cache(KEPT)
    def make(to: float) -> Machine:
        return build_machine(system, task.under({over: to}).values, machine.earlier)

    held = {slot: value for name, value in values.items() if (slot := slot_of(system, name)) >= 0}
    return Curve(rest, g, parameter(task.values, over)[1], -1, make, sizes, held, **known)


ANALYSIS = Analysis("sweep_static", OPTIONS, check, run)
