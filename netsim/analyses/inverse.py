"""Inverse analysis: the inputs (forces, torques, voltages) that make chosen signals follow given motions.

One pass solves the network with the actuators' inputs as unknowns and one row `signal = motion` for each of them (netsim.tracking). Two passes are the
procedure of Fedoruk et al. 2013: the first records the actuators' coordinates, the second imposes these and records the inputs. More actuators than
motions leave the choice open: as the motion is imposed, inputs are affine in the superfluous ones, and runs with these at zero and at one give the
distribution of least weighted norm at every instant. The result is verified by a run forward in time under the inputs that were found.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.authority import authority
from netsim.analyses.inverse_options import InverseOptions
from netsim.analyses.stepping import Progress
from netsim.analyses.transient import transient
from netsim.batches import form_of
from netsim.component import dimension
from netsim.errors import InputError, Problem, SimulationError
from netsim.language.syntax import Call, Expr, Name, Part
from netsim.network import Network
from netsim.samples import Samples
from netsim.solvers.initial import Structure
from netsim.solvers.machine import build_machine
from netsim.system import System
from netsim.tracking import APPLIED, FOLLOW, Actuator, Motion, actuators_of, motions_of, rewired
from netsim.units import parse_unit
from netsim.values import Values

Array = np.ndarray
Prepare = Callable[[Network], tuple[Values, System, Structure]]
Earlier = Callable[[Any, str], Any]

FOUND, FIRST = "the inputs that were found", "the first pass"
"""Runs that tables of the rewired networks read."""

WATT, SECOND = parse_unit("W").dimension, parse_unit("s").dimension


@dataclass(frozen=True, eq=False)
class _Task:
    """What every run of the analysis shares."""

    network: Network
    prepare: Prepare
    options: InverseOptions
    earlier: Earlier
    saves: tuple[Expr, ...]
    plots: tuple[Expr, ...]
    progress: Progress | None
    beside: tuple[Name, ...]


def inverse(
    network: Network,
    values: Values,
    prepare: Prepare,
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
    motions, actuators = motions_of(network, values, options.track), actuators_of(network, options.actuators)
    task = _Task(network, prepare, options, earlier, tuple(saves), tuple(plots), progress, tuple(beside))
    power = authority(prepare(rewired(network, [APPLIED] * len(actuators), motions, actuators, FOUND)), motions, actuators, options.transient)
    ordered = [actuators[k] for k in (*power.base, *power.spare)]
    notes = [f"{m.name} must have {n} continuous derivative{'s' if n != 1 else ''}" for m, n in zip(motions, power.derivatives)]
    first: Samples | None = None
    if options.passes == 2:
        first, motions = _first_pass(task, motions, ordered)
    samples, shared = _solved(task, motions, ordered, first)
    notes += shared
    if samples.finished:
        deviations = _verified(task, motions, ordered, first, samples)
        notes += deviations
    attributes = {**samples.attributes, "analysis": "inverse", "passes": options.passes, "notes": "; ".join(notes)}
    return replace(samples, attributes=attributes)


def _solved(task: _Task, motions: Sequence[Motion], actuators: Sequence[Actuator], first: Samples | None) -> tuple[Samples, list[str]]:
    """The run with the motions imposed; superfluous actuators (those behind the motions) take the share of least norm."""
    spare = len(actuators) - len(motions)
    kinds = [FOLLOW] * len(motions) + [APPLIED] * spare
    prepared = task.prepare(rewired(task.network, kinds, motions, actuators, FOUND))
    names = [f"{a.element(task.network)}.u" for a in actuators]
    if not spare:
        return _run(task, prepared, {FIRST: _reads(first)}), []
    trial = replace(task, saves=tuple(_signal(n) for n in names), plots=(), beside=())
    responses = []
    for k in range(spare + 1):
        given = {name: float(j == k - 1) for j, name in enumerate(names[len(motions) :])}
        run = _run(trial, prepared, {FIRST: _reads(first), FOUND: lambda name, given=given: _constant(given[name], task.options.transient.stop)})
        if not run.finished:
            return run, []
        responses.append(run)
    weights = np.array(task.options.weights or [1.0] * len(actuators))
    shares = least_norm(*(np.array([[r.series(n) for n in names[: len(motions)]] for r in responses[s]]) for s in (slice(1), slice(1, None))), weights)
    time = responses[0].time
    samples = _run(task, prepared, {FIRST: _reads(first), FOUND: lambda name: _spline(time, shares[names.index(name) - len(motions)])})
    norm = "least weighted norm" if task.options.weights else "least norm (in SI units)"
    return samples, [f"{len(actuators)} actuators share {len(motions)} motion{'s' if len(motions) > 1 else ''}: {norm} at every instant"]


def least_norm(base: Array, unit: Array, weights: Array) -> Array:
    """The spare inputs s (spare, times) of least |w u|, with u = [b + S s | s]: base (1, n, times) is b, unit (spare, n, times) is b + S's columns."""
    b, s = base[0], np.moveaxis(unit - base, 0, 1)  # (n, times), (n, spare, times)
    n, spare, times = s.shape
    w = weights**2
    normal = np.einsum("nit,n,njt->tij", s, w[:n], s) + np.diag(w[n:])
    right = -np.einsum("nit,n,nt->ti", s, w[:n], b)
    return np.linalg.solve(normal, right[:, :, None])[:, :, 0].T if times else np.zeros((spare, 0))


def _first_pass(task: _Task, motions: list[Motion], actuators: Sequence[Actuator]) -> tuple[Samples, list[Motion]]:
    """Record the coordinates of the actuators that are needed, and the motions of these for the second pass."""
    needed = actuators[: len(motions)]
    coordinates = [_coordinate(task, a) for a in needed]
    kinds = [FOLLOW] * len(motions) + [APPLIED] * (len(actuators) - len(motions))
    prepared = task.prepare(rewired(task.network, kinds, motions, actuators, FOUND))
    pairs = [(c, Call("table", (Name((Part(FIRST),)), c), (), span=c.span)) for c in coordinates]
    run = _run(replace(task, saves=tuple(coordinates), plots=(), beside=()), prepared, {FOUND: lambda name: _constant(0.0, task.options.transient.stop)}, coordinates)
    if not run.finished:
        raise SimulationError(run.attributes.get("failure") or Problem("E502", f"the first pass did not end: {run.message}"))
    return run, motions_of(task.network, prepared[0], pairs)


def _coordinate(task: _Task, actuator: Actuator) -> Name:
    """The coordinate on which an actuator's input does work: input times its rate is a power."""
    if task.options.coordinates:
        wanted = task.options.coordinates[[a.expr for a in actuators_of(task.network, task.options.actuators)].index(actuator.expr)]
        assert isinstance(wanted, Name)
        return wanted
    instance = task.network.instances[actuator.instance]
    readings = form_of(instance).form.readings
    unit = WATT * SECOND / actuator.dimension
    found = [o.name for o in instance.component.definition.outputs if dimension(o.unit) == unit and o.name in readings]
    if len(found) != 1:
        what = f"has no output that could be its coordinate ({unit})" if not found else f"has several outputs that could be it: {', '.join(found)}"
        hint = "say coordinates = [...], one for each actuator, or passes = 1"
        raise InputError(Problem("E433", f"the coordinate of actuator '{actuator.name}' is not known: {instance.component.name} {what}", actuator.expr.span, hint=hint))
    return Name((*actuator.expr.parts[:-1], Part(found[0])), span=actuator.expr.span)


def _verified(task: _Task, motions: Sequence[Motion], actuators: Sequence[Actuator], first: Samples | None, samples: Samples) -> list[str]:
    """How far a free run under the inputs that were found strays from the motions."""
    prepared = task.prepare(rewired(task.network, [APPLIED] * len(actuators), motions, actuators, FOUND))
    pairs = [(f"{a.element(task.network)}.x", f"{a.element(task.network)}.motion") for a in actuators[: len(motions)]]
    signals = tuple(_signal(n) for pair in pairs for n in pair)
    given = samples.unseen
    run = _run(
        replace(task, saves=signals, plots=(), beside=()), prepared,
        {FIRST: _reads(first), FOUND: lambda name: _spline(samples.time, given[name])}, origin=samples.origin,
    )  # fmt: skip
    if not run.finished:
        return [f"the forward run under the inputs that were found failed: {run.message}"]
    found = []
    for motion, (x, wanted) in zip(motions, pairs):
        off, size = np.abs(run.series(x) - run.series(wanted)).max(), np.ptp(run.series(wanted))
        found.append(f"run forward, {motion.name} strays by {off:.3g} {run_unit(run, x)} at most" + (f" ({off / size:.2g} of its range)" if size > 0 else ""))
    return found


def run_unit(run: Samples, name: str) -> str:
    """The SI unit of a saved signal."""
    return next(s.unit or "1" for s in run.signals if s.name == name)


def _run(
    task: _Task,
    prepared: tuple[Values, System, Structure],
    series: Mapping[str, Callable[[str], Any] | None],
    rated: Sequence[Name] = (),
    origin: Array | None = None,
) -> Samples:
    """One transient run; `series` gives what tables over the analysis' own runs read, by the name of the run and of the signal."""
    from netsim.language.show import show_expression

    values, system, structure = prepared

    def earlier(call: Any, name: str) -> Any:
        own = series.get(name)
        return own(show_expression(call.signal)) if own else None if name in (FOUND, FIRST) else task.earlier(call, name)

    machine = build_machine(system, values, earlier)
    beside = [_signal(f"{name}.u") for name in _elements(system.network)]
    return transient(machine, structure, task.options.transient, task.saves, task.plots, task.progress, rated, (*task.beside, *beside), origin)


def _elements(network: Network) -> list[str]:
    return [i.name for i in network.instances if i.component.name in (FOLLOW, APPLIED) and i.component.definition.span.file == "<actuator>"]


def _signal(name: str) -> Name:
    head, _, own = name.rpartition(".")
    return Name((*(Part(text) for text in head.split(".")), Part(own)))


def _constant(value: float, stop: float) -> tuple[Array, ...]:
    return np.array([0.0, stop]), np.full(2, value), np.zeros(2), np.zeros(2)


def _spline(time: Array, x: Array) -> tuple[Array, ...]:
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(time, x)
    return time, x, spline(time, 1), spline(time, 2)


def _reads(first: Samples | None) -> Callable[[str], Any] | None:
    """Series of the first pass with their exact rates where these were sampled."""
    if first is None:
        return None
    return lambda name: (first.time, first.series(name), *first.rates[name]) if name in first.rates else _spline(first.time, first.series(name))

