"""Inverse analysis: the inputs (forces, torques, voltages) that make chosen signals follow given motions.

One pass solves the network with the actuators' inputs as unknowns and one row `signal = motion` for each of them (netsim.tracking). Two passes are
the procedure of Fedoruk et al. 2013: the first records the actuators' coordinates, the second imposes these and records the inputs. More actuators
than motions leave the choice open: as the motion is imposed, inputs are affine in the spare ones, and runs with these at zero and at one give
the distribution of least weighted norm at every instant. The result is verified by a run forward in time under the inputs that were found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.authority import authority, derivatives
from netsim.analyses.inverse_options import InverseOptions
from netsim.analyses.stepping import Progress
from netsim.analyses.transient import transient
from netsim.batches import form_of
from netsim.component import dimension
from netsim.errors import InputError, Problem, SimulationError
from netsim.language.show_terms import show_expression
from netsim.language.syntax import Call, Expr, Name, Part
from netsim.network import Network
from netsim.samples import Samples
from netsim.solvers.history import refuse_delays
from netsim.solvers.initial import Structure
from netsim.solvers.machine import build_machine
from netsim.system import System
from netsim.tracking import APPLIED, FOLLOW, Actuator, Motion, actuators_of, motions_of, rewired
from netsim.units import format_dimension, parse_unit
from netsim.values import Values

Array = np.ndarray
Prepared = tuple[Values, System, Structure]
Earlier = Callable[[Any, str], Any]
Series = Callable[[str], Any]

FOUND, FIRST = "the inputs that were found", "the first pass"
"""Runs that tables of the rewired networks read."""

ORDINALS = ("", "first", "second", "third", "fourth")
WATT, SECOND = parse_unit("W").dimension, parse_unit("s").dimension
FAR = 0.1
UNIQUE = 1e-6
"""How well inputs must be affine in the spare ones (relative to their peaks), as they are where the motions fix the whole movement."""


@dataclass(frozen=True, eq=False)
class _Task:
    """What every run of the analysis shares. Actuators (with their weights and coordinates) stand in the order of need: spare ones last."""

    network: Network
    prepare: Callable[[Network], Prepared]
    options: InverseOptions
    motions: tuple[Motion, ...]
    actuators: tuple[Actuator, ...]
    earlier: Earlier
    progress: Progress | None

    @property
    def spare(self) -> int:
        return len(self.actuators) - len(self.motions)

    @property
    def inputs(self) -> list[str]:
        """The unknowns that stand for the actuators' inputs."""
        return [f"{a.element(self.network)}.u" for a in self.actuators]

    def wired(self, applied: bool = False) -> Prepared:
        """The network with the motions imposed, or with all inputs applied, ready to be run."""
        kinds = [APPLIED if applied or k >= len(self.motions) else FOLLOW for k in range(len(self.actuators))]
        try:
            return self.prepare(rewired(self.network, kinds, self.motions, self.actuators, FOUND))
        except InputError as error:
            raise InputError([_renamed(p, self) for p in error.problems]) from None


def inverse(
    network: Network,
    values: Values,
    prepare: Callable[[Network], Prepared],
    options: InverseOptions,
    saves: Sequence[Expr] = (),
    plots: Sequence[Expr] = (),
    progress: Progress | None = None,
    earlier: Earlier = lambda call, run: None,
    beside: Sequence[Name] = (),
) -> Samples:
    """The inputs of the actuators that make the signals follow their motions, with all that is saved of the motion itself.

    Raises `InputError` where the actuators cannot do it or a motion is not smooth enough, `SimulationError` where no start exists.
    """
    named = actuators_of(network, options.actuators)
    task = _Task(network, prepare, options, tuple(motions_of(network, values, options.track)), tuple(named), earlier, progress)
    refuse_delays(task.wired(applied=True)[1], "inverse()", "an input would have to know what comes later")
    order = authority(task.wired(applied=True), task.motions, named, options.transient)
    task = replace(task, actuators=tuple(named[k] for k in order))
    imposed = task.wired()
    counts = derivatives(imposed, task.motions, task.actuators)
    orders = {n: ", ".join(m.name for m, k in zip(task.motions, counts) if k == n) for n in sorted(set(counts)) if n}
    notes = [f"the inputs contain the {ORDINALS[n]} derivative of {names}" for n, names in orders.items()]
    series: dict[str, Series] = {}
    if options.passes == 2:
        second, series = _first_pass(task, imposed)
        imposed = second.wired()
    if task.spare:
        series |= _shared(task, imposed, series)
        norm = "least weighted norm" if options.weights else "least norm (in SI units)"
        notes.append(f"{len(named)} actuators share {len(task.motions)} motions: {norm} at every instant")
    hidden = [signal_name(n) for n in task.inputs]
    samples = _run(task, imposed, series, saves, plots, beside=(*beside, *hidden))
    notes += _verified(task, samples) if samples.finished else []
    attributes = {**samples.attributes, "analysis": "inverse", "passes": options.passes, "notes": "; ".join(notes)}
    return replace(samples, attributes=attributes)


# -------------------------------------------------------------------------------------------------------- two passes


def _first_pass(task: _Task, imposed: Prepared) -> tuple[_Task, dict[str, Series]]:
    """The task with the coordinates of the needed actuators as motions, and the series these come from, with exact rates where there are any."""
    coordinates = [_coordinate(task, a) for a in task.actuators[: len(task.motions)]]
    rest = {FOUND: lambda name: _constant(0.0, task)}
    run = _complete(_run(task, imposed, rest, coordinates, rated=coordinates), "the first pass")
    pairs = [(c, Call("table", (Name((Part(FIRST),)), c), (), span=c.span)) for c in coordinates]

    def read(name: str) -> Any:
        return (run.time, run.series(name), *run.rates[name]) if name in run.rates else _spline(run.time, run.series(name))

    return replace(task, motions=tuple(motions_of(task.network, imposed[0], pairs))), {FIRST: read}


def _coordinate(task: _Task, actuator: Actuator) -> Name:
    """The coordinate on which an actuator's input does work: the input times its rate is a power."""
    for wanted, named in zip(task.options.coordinates, actuators_of(task.network, task.options.actuators)):
        if named == actuator:
            assert isinstance(wanted, Name)
            return wanted
    instance = task.network.instances[actuator.instance]
    unit = WATT * SECOND / actuator.dimension
    found = [o.name for o in instance.component.definition.outputs if dimension(o.unit) == unit and o.name in form_of(instance).form.readings]
    if len(found) != 1:
        none = f"has no output in {format_dimension(unit)} that could be it"
        what = f"has several outputs that could be it: {', '.join(found)}" if found else none
        message = f"the coordinate of '{actuator.name}' is not known: {instance.component.name} {what}"
        raise InputError(Problem("E433", message, actuator.expr.span, hint="say coordinates = [...], one for each actuator, or passes = 1"))
    return Name((*actuator.expr.parts[:-1], Part(found[0])), span=actuator.expr.span)


# -------------------------------------------------------------------------------------------------- spare actuators


def _shared(task: _Task, imposed: Prepared, series: Mapping[str, Series]) -> dict[str, Series]:
    """Series of the spare inputs such that all of them together have the least weighted norm at every instant."""
    signals, needed = [signal_name(n) for n in task.inputs], len(task.motions)
    spare = task.inputs[needed:]

    def response(given: Mapping[str, float] | Series) -> Samples:
        read = given if callable(given) else (lambda name: _constant(given[name], task))
        return _complete(_run(task, imposed, {**series, FOUND: read}, signals), "a run with a spare actuator")

    rest = response(dict.fromkeys(spare, 0.0))
    units = [response({n: float(n == one) for n in spare}) for one in spare]
    b = rest.values[:, :needed]
    s = np.stack([u.values[:, :needed] - b for u in units], axis=2)
    weights = dict(zip((a.name for a in actuators_of(task.network, task.options.actuators)), task.options.weights))
    found = least_norm(b, s, np.array([weights.get(a.name, 1.0) for a in task.actuators]))
    shares = {FOUND: lambda name: _spline(rest.time, found[:, spare.index(name)])}
    _check_unique(task, response(shares[FOUND]).values[:, :needed], b + np.einsum("tns,ts->tn", s, found))
    return shares


def least_norm(b: Array, s: Array, weights: Array) -> Array:
    """The spare inputs z (times, spare) that make |w [b + s z, z]| least at every instant; b (times, n), s (times, n, spare), w (n + spare,)."""
    base, spare = np.split(weights**2, [b.shape[1]])
    normal = np.einsum("tni,n,tnj->tij", s, base, s) + np.diag(spare)
    return np.linalg.solve(normal, -np.einsum("tni,n,tn->ti", s, base, b)[:, :, None])[:, :, 0]


def _check_unique(task: _Task, got: Array, wanted: Array) -> None:
    """Sharing at every instant for itself makes sense only where the motions leave nothing else free to move."""
    if np.abs(got - wanted).max() <= UNIQUE * np.abs(wanted).max():
        return
    message = "there are spare actuators, but the motions leave something free to move: what they push now changes what is needed later"
    raise InputError(Problem("E436", message, task.actuators[-1].expr.span, hint="follow more signals, or name fewer actuators"))


# ----------------------------------------------------------------------------------------------------- verification


def _verified(task: _Task, samples: Samples) -> list[str]:
    """How far a free run from the same start, under the inputs that were found, strays from the motions."""
    pairs = [(f"{a.element(task.network)}.x", f"{a.element(task.network)}.motion") for a in task.actuators[: len(task.motions)]]
    read = {FOUND: lambda name: _spline(samples.time, samples.unseen[name])}
    run = _run(task, task.wired(applied=True), read, [signal_name(n) for pair in pairs for n in pair], origin=samples.origin)
    if not run.finished:
        return [f"run forward under the inputs that were found: failed, {run.message}"]
    found, far = [], False
    for motion, (x, wanted) in zip(task.motions, pairs):
        off, size = np.abs(run.series(x) - run.series(wanted)).max(), np.ptp(run.series(wanted))
        unit = "" if motion.dimension.is_none else f"{format_dimension(motion.dimension)} "
        share = f" ({off / size:.2g} of its range)" if size > 0 else ""
        found.append(f"run forward, {motion.name} strays by {off:.3g} {unit}at most{share}")
        far |= bool(off > FAR * size > 0)
    return [*found, "so far astray: either the movement is unstable, or the step is too long"] if far else found


# -------------------------------------------------------------------------------------------------------------- runs


def _run(
    task: _Task,
    prepared: Prepared,
    series: Mapping[str, Series],
    saves: Sequence[Expr],
    plots: Sequence[Expr] = (),
    rated: Sequence[Name] = (),
    beside: Sequence[Name] = (),
    origin: Array | None = None,
) -> Samples:
    """One transient run; `series` gives what tables over the analysis' own runs read: their signals by name, for each run."""
    values, system, structure = prepared

    def earlier(call: Any, run: str) -> Any:
        if run not in (FOUND, FIRST):
            return task.earlier(call, run)
        return series[run](show_expression(call.signal)) if run in series else None

    machine = build_machine(system, values, earlier)
    return transient(machine, structure, task.options.transient, saves, plots, task.progress, rated, beside, origin)


def _complete(run: Samples, what: str) -> Samples:
    """The run, if it came to its end."""
    if run.finished:
        return run
    raise SimulationError(run.attributes.get("failure") or Problem("E502", f"{what} did not end: {run.message}"))


def signal_name(text: str) -> Name:
    """`legA.motor F.u` as a name: elements that were added have a blank in theirs."""
    return Name(tuple(Part(part) for part in text.split(".")))


def _constant(value: float, task: _Task) -> tuple[Array, ...]:
    return np.array([0.0, task.options.transient.stop]), np.full(2, value), np.zeros(2), np.zeros(2)


def _spline(time: Array, x: Array) -> tuple[Array, ...]:
    """A series with the rates of the cubic spline through it."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(time, x)
    return time, x, spline(time, 1), spline(time, 2)


def _renamed(problem: Problem, task: _Task) -> Problem:
    """What is wrong with an element that was added, in words of the signal or the actuator it stands for."""
    message = problem.message
    for k, actuator in enumerate(task.actuators):
        element = actuator.element(task.network)
        if k < len(task.motions):
            message = message.replace(f"the motion of '{element}'", f"the motion of {task.motions[k].name}")
        message = message.replace(f"'{element}'", f"'{actuator.name}'")
    return replace(problem, message=message)
