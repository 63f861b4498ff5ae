"""`run sweep_static(over = src.v, from = 0 V, to = 5 V, points = 51)`: operating points along a source or a parameter.

The equations of rest F(u, l) = 0 are followed as a curve: along its tangent to a guess, then back to it by Newton's
method at right angles to the tangent (pseudo-arc-length continuation; H. Keller, Applications of Bifurcation Theory,
1977). So it goes round folds, where l turns back. Rows are the points of the curve, those at equal steps of l exactly.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import block_array, csc_array
from scipy.sparse.linalg import splu

from netsim.analyses.analysis import Analysis, Line, Task
from netsim.analyses.given import EXPRESSION, NAMES, NUMBER, Kind
from netsim.analyses.signals.inputs import parameter, source_inputs
from netsim.analyses.signals.linearised import read, shown_signals
from netsim.analyses.signals.options import checked, numbers
from netsim.analyses.signals.points import points, selected
from netsim.equations.machine import Machine, build_machine
from netsim.equations.system import build_system
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.charts import recharted
from netsim.initial.initial import set_differentiated
from netsim.initial.static.rest import Rest, at_rest
from netsim.network.values import Values, parameter_names
from netsim.results.progress import Stopwatch
from netsim.results.samples import Samples, Signal
from netsim.results.selection import reader_of
from netsim.text.errors import InputError, Problem, SimulationError, nearest
from netsim.text.units import parse_unit

Array = np.ndarray
OPTIONS: dict[str, Kind] = {"over": NAMES, "from": EXPRESSION, "to": EXPRESSION, "points": NUMBER}
MOST, ITERATIONS, TOLERANCE = 20_000, 10, 1e-10
"""Points of a curve, Newton iterations of one, and the correction (relative to sizes) that ends them."""
LONGEST, SHORTEST, GROWTH, EASY = 0.1, 1e-10, 1.5, 4
"""Steps along the curve, in ordinary sizes of the unknowns and in the range of l; a step of at most EASY iterations
lets the next one grow."""
BEYOND = 10.0
"""Ranges of l by which a curve that has turned round may leave the range at its beginning, before it is given up."""
SMALL = 1e-3
"""The share of its ordinary size below which an unknown is not looked at."""


@dataclass(frozen=True)
class SweepOptions:
    """The input or parameter, its range (SI), and how many equal steps."""

    over: str
    first: float
    last: float
    points: int


def check(options: Mapping[str, Any], line: Line) -> SweepOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    checked("sweep_static", OPTIONS, options, line)
    over, count = "".join(options.get("over", ())), float(options.get("points", 51))
    network, span = line.network, line.spans.get("over") or line.spans.get("")
    sources = source_inputs(build_system(network))
    known = parameter_names(network)
    if over not in sources and over not in known:
        hint = nearest(over, [*sources, *known]) or "sweep_static(over = src.v, from = 0 V, to = 5 V)"
        raise InputError(Problem("E429", f"'{over}' is no input and no parameter", span, hint=hint))
    signal = sources[over][0] if over in sources else parameter(Values(network), over)[0]
    unit = parse_unit(signal.unit).dimension
    ends = [numbers(options[word], line, unit) for word in ("from", "to") if word in options]
    if len(ends) != 2 or any(len(e) != 1 for e in ends) or ends[0] == ends[1] or count < 2 or count % 1:
        hint = "sweep_static(over = src.v, from = 0 V, to = 5 V, points = 51)"
        raise InputError(
            Problem("E422", "sweep_static() needs 'from' and 'to', which differ, and points", span, hint=hint)
        )
    return SweepOptions(over, ends[0][0], ends[1][0], int(count))


@dataclass(eq=False)
class Curve:
    """F(u, l) = 0 from a point on it: the rest problem, g, l, how l is set, and the sizes of u and l."""

    rest: Rest
    g: Array
    value: float
    slot: int
    make: Any
    sizes: Array
    tangent: Array = field(default_factory=lambda: np.zeros(0))

    def set(self, value: float) -> None:
        """l, in g or in the machine's parameters."""
        self.value = value
        if self.slot >= 0:
            self.g[self.slot] = value
        else:
            self.rest = replace(self.rest, machine=self.make(value))

    def residual(self, value: float) -> Array:
        """F at another l."""
        before = self.value
        self.set(value)
        found = self.rest.residual(self.g)
        self.set(before)
        return found

    def equations(self) -> tuple[Array, Any, Array]:
        """F, dF/du and dF/dl here; all scaled unknowns."""
        residual, matrix = self.rest.evaluate(self.g)
        h = 1e-5 * self.sizes[-1]
        by_value = (self.residual(self.value + h) - self.residual(self.value - h)) / (2 * h)
        return residual, csc_array(matrix) @ _diagonal(self.sizes[:-1]), by_value * self.sizes[-1]

    def solved(self, row: Array, miss: float = 1.0, tangent: bool = False) -> Array | None:
        """The step of [F' F_l; row] x = [-F or 0; miss], in sizes; None where it does not exist."""
        residual, matrix, by_value = self.equations()
        bordered = block_array([[matrix, by_value[:, None]], [row[None, :-1], row[-1:][None]]], format="csc")
        try:
            found = splu(bordered).solve(np.append(0.0 * residual if tangent else -residual, miss))
        except RuntimeError:
            return None
        return found if np.isfinite(found).all() else None

    def move(self, step: Array) -> None:
        """u and l by a step in sizes."""
        self.g[self.rest.places] += step[:-1] * self.sizes[:-1]
        self.set(self.value + step[-1] * self.sizes[-1])

    def corrected(self, row: Array) -> int:
        """Newton's method at right angles to `row`; its iterations, 0 where it does not converge."""
        for iteration in range(1, ITERATIONS + 1):
            step = self.solved(row, 0.0)
            if step is None:
                return 0
            self.move(step)
            u = np.append(self.g[self.rest.places], self.value) / self.sizes
            if np.max(np.abs(step) / np.maximum(np.abs(u), SMALL)) < TOLERANCE:
                recharted(self.rest.machine.system, self.g, all_of_them=True)
                return iteration
        return 0


def _diagonal(sizes: Array) -> Any:
    from scipy.sparse import diags_array

    return diags_array(sizes, format="csc")


def along(curve: Curve, first: float, last: float, steps: Array, sense: float = 1.0) -> Iterator[float]:
    """Points of the curve from l = first, towards `last` at first (away from it with `sense` -1), until l passes
    `last`, those of `steps` among them; raises `SimulationError` (E441) where it cannot be followed."""
    low, high = min(first, last), max(first, last)
    only = np.zeros(len(curve.sizes))
    only[-1] = 1.0
    size, known = LONGEST / 4, sense * np.sign(last - first) * only
    yield curve.value
    for _ in range(MOST):
        tangent = curve.solved(known, tangent=True)
        if tangent is None:
            break
        tangent /= np.linalg.norm(tangent)
        here, place = curve.value, curve.g.copy()
        while True:
            aim = here + size * tangent[-1] * curve.sizes[-1]
            between = steps[(steps - here) * np.sign(aim - here) > 1e-9 * curve.sizes[-1]]
            wanted = between[np.argmin(np.abs(between - here))] if len(between) else aim
            hits = len(between) > 0 and abs(wanted - here) <= abs(aim - here)
            curve.move(tangent * (size * (abs(wanted - here) / abs(aim - here)) if hits else size))
            if hits:
                curve.set(float(wanted))
            taken = curve.corrected(only if hits else tangent)
            if taken:
                break
            curve.g[:] = place
            curve.set(here)
            size *= 0.5
            if size < SHORTEST:
                message = f"the operating points cannot be followed beyond {here:.6g}"
                raise SimulationError(Problem("E441", message, hint="a law with a jump there has no curve: smooth it"))
        size = min(size * GROWTH, LONGEST) if taken <= EASY else size
        known = tangent
        further = (curve.value - last) * np.sign(last - first) / (high - low)
        if further > 1e-9 or further < -1.0 - BEYOND:
            return
        yield curve.value
        if abs(curve.value - last) <= 1e-12 * (high - low):
            return


def run(task: Task, options: SweepOptions) -> Samples:
    """A row per point of the curve: the swept quantity, then the saved signals."""
    watch = Stopwatch()
    (point,) = points(task, ())
    curve, signal = _curve(task, point.machine, point.g, options)
    selection = selected(curve.rest.machine, task)
    values_of, _, signals = shown_signals(curve.rest.machine, selection)
    here, value = curve.g.copy(), curve.value
    for sense in (1.0, -1.0) if value != options.first else ():  # from between two folds the curve leads to one end
        curve.g[:] = here
        curve.set(value)
        for _ in along(curve, value, options.first, np.array([options.first]), sense):
            pass
        if abs(curve.value - options.first) <= 1e-9 * abs(options.last - options.first):
            break
    if abs(curve.value - options.first) > 1e-9 * abs(options.last - options.first):
        message = f"the operating points from the present value do not reach {options.over} = {options.first:g}"
        raise SimulationError(Problem("E441", message, hint="begin where the network has its operating point"))
    rows = []
    for value in along(curve, options.first, options.last, np.linspace(options.first, options.last, options.points)):
        g, machine = curve.g.copy(), curve.rest.machine
        set_differentiated(machine, g)
        rows.append([value, *values_of(read(reader_of(machine, selection), g))])
    attributes = {
        "analysis": "sweep_static",
        "over": options.over,
        **watch.read,
        "netlist": task.network.text,
    }
    values = np.array(rows)
    count = np.arange(1.0, len(values) + 1)
    return Samples("", count, (signal, *signals), values, np.zeros((0, 3)), attributes, axis="point")


def _curve(task: Task, machine: Machine, g: Array, options: SweepOptions) -> tuple[Curve, Signal]:
    system, sources = machine.system, source_inputs(machine.system)
    g = g.copy()
    rest = at_rest(machine, g, sizes_of_machine(machine).size)
    sizes = np.append(rest.weight, abs(options.last - options.first))
    if options.over in sources:
        signal, number, row = sources[options.over]
        if row >= 0:
            raise InputError(Problem("E429", f"'{options.over}' follows other signals and cannot be swept"))
        slot = int(system.layout.prescribed(np.array([number]), 0)[0])
        return Curve(rest, g, float(g[slot]), slot, None, sizes), signal
    signal, value = parameter(task.values, options.over)

    def make(to: float) -> Machine:
        return build_machine(system, task.under({options.over: to}).values, machine.earlier)

    return Curve(rest, g, value, -1, make, sizes), signal


ANALYSIS = Analysis("sweep_static", OPTIONS, check, run)
