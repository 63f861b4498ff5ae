"""Inverse analysis: the inputs (forces, torques, voltages) that make chosen signals follow given motions.

One pass solves the network with the actuators' inputs as unknowns and one row `signal = motion` for each of them
(netsim.analyses.inverse.tracking). Two passes are the procedure of Fedoruk et al. 2013: the first records the
actuators' coordinates, the second imposes these and records the inputs. More actuators than motions leave the choice
open: as the motion is imposed, inputs are affine in the spare ones, and runs with these at zero and at one give the
distribution of least weighted norm at every instant. The poles of what the motions leave free are judged before
(netsim.analyses.inverse.growth), and a run forward in time under the inputs that were found verifies the result
(netsim.analyses.inverse.check).
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis
from netsim.analyses.analysis import Task as Asked
from netsim.analyses.inverse.authority import authority, derivatives
from netsim.analyses.inverse.check import reference, states_of, verified
from netsim.analyses.inverse.growth import cut_at_growth, refuse_unstable, scales
from netsim.analyses.inverse.options import NAMES, InverseOptions, inverse_options
from netsim.analyses.inverse.runs import (
    FIRST,
    FOUND,
    Array,
    Prepared,
    Series,
    Task,
    constant,
    in_words_of_user,
    machine_of,
    require_finished,
    run,
    signal_name,
    spline,
    with_even_samples,
)
from netsim.analyses.inverse.tracking import Actuator, actuators_of, motions_of
from netsim.analyses.optimal.stable_inversion import bounded_inverse
from netsim.equations.batches import form_of
from netsim.equations.history import refuse_delays
from netsim.library.component import dimension
from netsim.results.samples import Samples
from netsim.simulate.setup.start_of_run import start_attributes, start_of_run
from netsim.text.errors import InputError, Problem, SimulationError
from netsim.text.syntax import Call, Name, Part
from netsim.text.units import format_dimension, parse_unit

ORDINALS = ("", "first", "second", "third", "fourth")
WATT, SECOND = parse_unit("W").dimension, parse_unit("s").dimension
UNIQUE = 1e-6
"""How well inputs must be affine in the spare ones (relative to their peaks), as they are where the motions fix the
whole movement."""


def inverse(asked: Asked, options: InverseOptions) -> Samples:
    """The inputs of the actuators that make the signals follow their motions, with all that is saved of the motion
    itself.

    Raises `InputError` if the actuators cannot make the motions, a motion is not smooth enough or the zero dynamics are
    unstable, `SimulationError` if no start exists. An input beyond the machine's scale ends the samples with a failure.
    """
    network, named = asked.network, actuators_of(asked.network, options.actuators)
    motions = tuple(motions_of(network, asked.values, options.track))
    task = Task(network, asked.prepare, options, motions, tuple(named), asked.earlier, asked.progress)
    applied = task.wired(applied=True)
    refuse_delays(applied[1], "inverse()", "an input would depend on later values")
    order, started = authority(applied, task.motions, named, options.transient)
    task = replace(task, actuators=tuple(named[k] for k in order))
    imposed = task.wired()
    counts = derivatives(imposed, task.motions, task.actuators, options.transient.stop)
    orders = {n: ", ".join(m.name for m, k in zip(task.motions, counts) if k == n) for n in sorted(set(counts)) if n}
    if options.bounded:
        return bounded_inverse(task, asked, imposed, applied, started)
    notes = [f"the inputs contain the {ORDINALS[n]} derivative of {names}" for n, names in orders.items()]
    rest = {FOUND: lambda name: constant(0.0, task)}
    try:
        machine, structure, g, moved = start_of_run(
            machine_of(task, imposed, rest), imposed[2], options.transient.start
        )
    except SimulationError as error:
        raise in_words_of_user(error, task) from None
    task = replace(task, origin=g)
    notes += refuse_unstable(task, machine, structure, g)
    largest, (names, states) = scales(task, machine, g), states_of(machine, structure)
    series: dict[str, Series] = {}
    if options.passes == 2:
        second, series = _first_pass(task, imposed)
        imposed = second.wired()
    if task.spare:
        series |= _shared(task, imposed, series)
        norm = "minimum weighted norm" if options.weights else "minimum norm (in SI units)"
        notes.append(f"{len(named)} actuators for {len(task.motions)} motions: {norm} of the inputs at every instant")
    watched = [*(signal_name(n) for n in task.inputs), *names]
    samples = run(task, imposed, series, asked.saves, asked.plots, beside=(*asked.beside, *watched))
    samples = cut_at_growth(
        task, samples, largest, [state.name for state in states if state.kind.startswith("position")]
    )
    if samples.finished:
        notes += verified(task, states, names, reference(task, imposed, machine, series, samples, watched))
    own = {**start_attributes(moved), "passes": options.passes, "notes": "; ".join(notes)}
    return replace(samples, attributes={**samples.attributes, **own})


# -------------------------------------------------------------------------------------------------------- two passes


def _first_pass(task: Task, imposed: Prepared) -> tuple[Task, dict[str, Series]]:
    """The task with the coordinates of the needed actuators as motions, and the series these come from, with exact
    rates where there are any."""
    coordinates = [_coordinate(task, a) for a in task.actuators[: len(task.motions)]]
    rest = {FOUND: lambda name: constant(0.0, task)}
    found = require_finished(
        run(with_even_samples(task), imposed, rest, coordinates, rated=coordinates), "the first pass"
    )
    pairs = [(c, Call("table", (Name((Part(FIRST),)), c), (), span=c.span)) for c in coordinates]

    def read(name: str) -> Any:
        return (
            (found.time, found.series(name), *found.rates[name])
            if name in found.rates
            else spline(found.time, found.series(name))
        )

    return replace(task, motions=tuple(motions_of(task.network, imposed[0], pairs))), {FIRST: read}


def _coordinate(task: Task, actuator: Actuator) -> Name:
    """The coordinate on which an actuator's input does work: the input times its rate is a power."""
    for wanted, named in zip(task.options.coordinates, actuators_of(task.network, task.options.actuators)):
        if named == actuator:
            assert isinstance(wanted, Name)
            return wanted
    instance = task.network.instances[actuator.instance]
    unit = WATT * SECOND / actuator.dimension
    found = [
        o.name
        for o in instance.component.definition.outputs
        if dimension(o.unit) == unit and o.name in form_of(instance).form.readable
    ]
    if len(found) != 1:
        several = f"has several outputs in {format_dimension(unit)}: {', '.join(found)}"
        what = several if found else f"has no output in {format_dimension(unit)}"
        message = f"the coordinate of '{actuator.name}' is unknown: {instance.component.name} {what}"
        hint = "write coordinates = [...], one for each actuator, or passes = 1"
        raise InputError(Problem("E433", message, actuator.expr.span, hint=hint))
    return Name((*actuator.expr.parts[:-1], Part(found[0])), span=actuator.expr.span)


# -------------------------------------------------------------------------------------------------- spare actuators


def _shared(task: Task, imposed: Prepared, series: Mapping[str, Series]) -> dict[str, Series]:
    """Series of the spare inputs such that all of them together have the least weighted norm at every instant."""
    signals, needed = [signal_name(n) for n in task.inputs], len(task.motions)
    spare = task.inputs[needed:]

    def response(given: Mapping[str, float] | Series) -> Samples:
        read = given if callable(given) else (lambda name: constant(given[name], task))
        return require_finished(
            run(with_even_samples(task), imposed, {**series, FOUND: read}, signals), "a run with a spare actuator"
        )

    rest = response(dict.fromkeys(spare, 0.0))
    units = [response({n: float(n == one) for n in spare}) for one in spare]
    b = rest.values[:, :needed]
    s = np.stack([u.values[:, :needed] - b for u in units], axis=2)
    weights = dict(zip((a.name for a in actuators_of(task.network, task.options.actuators)), task.options.weights))
    found = least_norm(b, s, np.array([weights.get(a.name, 1.0) for a in task.actuators]))
    shares = {FOUND: lambda name: spline(rest.time, found[:, spare.index(name)])}
    _check_unique(task, response(shares[FOUND]).values[:, :needed], b + np.einsum("tns,ts->tn", s, found))
    return shares


def least_norm(b: Array, s: Array, weights: Array) -> Array:
    """The spare inputs z (times, spare) that make |w [b + s z, z]| least at every instant; b (times, n), s (times, n,
    spare), w (n + spare,)."""
    base, spare = np.split(weights**2, [b.shape[1]])
    normal = np.einsum("tni,n,tnj->tij", s, base, s) + np.diag(spare)
    return np.linalg.solve(normal, -np.einsum("tni,n,tn->ti", s, base, b)[:, :, None])[:, :, 0]


def _check_unique(task: Task, got: Array, wanted: Array) -> None:
    """Raises E436 if the network can still move with all motions prescribed: instants are then not independent."""
    if np.abs(got - wanted).max() <= UNIQUE * np.abs(wanted).max():
        return
    message = "there are more actuators than motions, but the motions do not determine the whole movement"
    hint = "follow more signals, or name fewer actuators: their inputs are chosen at each instant independently"
    raise InputError(Problem("E436", message, task.actuators[-1].expr.span, hint=hint))


ANALYSIS = Analysis("inverse", NAMES, inverse_options, inverse)
