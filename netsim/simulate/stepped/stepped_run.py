"""A run that goes on to an instant, shows its signals there, and waits.

The loop of a run (netsim.core.loop.adaptive) takes samples at requested instants by the polynomial of the step that
passes them, and its steps do not depend on them (but for rounding: consistent points of a high index begin with what
the last one found). So a stepped run has the bits of a run with samples at the same instants. What is asked for next is
guessed (the same time again), and one step may answer many calls. Where something else is asked for within that step,
or an input is set there, the run goes back to before it.

An input acts from the instant at which it is set. A step ends there, and the run begins anew as behind a time event:
positions, velocities and differentiated quantities stay, all else follows. While inputs are set at every instant, steps
end there without going back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from netsim.core.contract import RESTARTED
from netsim.core.loop.adaptive import DONE
from netsim.core.loop.control import (
    EDGE,
    FAILURES,
    FEATURE,
    FIXED,
    GRID,
    LONGEST,
    NOW,
    ROW,
    SIZE,
    STEP,
    STOP,
    TIME_EVENT,
    target_of,
)
from netsim.equations.batches import indeterminacy_of
from netsim.equations.machine import Machine
from netsim.simulate.adaptive import answer_status, attempts, pass_events
from netsim.simulate.events.passing import pass_jump
from netsim.simulate.failed_steps import keep_last_step
from netsim.simulate.running import Running
from netsim.simulate.setup.features import ends_of
from netsim.simulate.snapshots import RunSnapshot, duplicate, restore_snapshot, snapshot
from netsim.simulate.stepped.inputs import Inputs
from netsim.structure.time_events import time_events_of
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
AHEAD, GROWTH = 128, 8.0
"""Instants that are asked for at once, at most, and by how much a step may be longer than the one before."""
ROWS = AHEAD + 16
"""Rows of samples, with some to spare."""
REST = 1e-6
"""Behind a failure steps begin anew with this share of the run, at least."""
LOGGED = 256
"""Events that are remembered, besides those ahead of what was read."""


@dataclass(eq=False)
class SteppedRun:
    """A run between two instants that were asked for: `ahead`, the run before its last step where that has passed what
    was asked for; `row`, the next row of samples to be read; `bounded`, whether inputs jumped at the present instant,
    so that steps end at the next one, too; `coefficients`: see `_lend`. `absolute`: the machine in the coordinates of
    all bodies, whose texts tell time events."""

    run: Running
    absolute: Machine
    inputs: Inputs
    ahead: RunSnapshot | None = None
    row: int = 1
    bounded: bool = False
    coefficients: Array = field(default_factory=lambda: np.zeros(0))


def begin_stepping(run: Running, absolute: Machine, inputs: Inputs) -> SteppedRun:
    """A run at its start, with room for what it is asked for."""
    control, sampler = run.control, run.sampler
    run.control = control._replace(
        time_events=np.append(0.0, control.time_events),
        features=np.append(0.0, control.features),
        grid=np.full(AHEAD + 1, np.inf),
    )
    run.control.places[[TIME_EVENT, FEATURE]] += 1
    room = sampler.values.shape[1]
    rows: dict[str, Any] = {"times": np.zeros(ROWS), "values": np.zeros((ROWS, room)), "account": np.zeros((ROWS, 4))}
    for name, row in rows.items():
        row[0] = getattr(sampler, name)[0]
    run.sampler = sampler._replace(**rows)
    inputs.bind(run.machine)
    return SteppedRun(run, absolute, inputs)


def reach(going: SteppedRun, time: float, base: float, dt: float, number: int) -> Problem | None:
    """Go on until row `going.row` of the samples shows an instant, step `number` of equal ones of size dt since `base`,
    and perhaps further steps; the problem where the run stops before.

    There is no such row where an instant is lost in the rounding of the present one: the last row shows it."""
    _lend(going)
    run = going.run
    if time <= run.now * (1.0 + EDGE):
        if going.ahead is None:
            going.row -= 1
            return None
        put_back_run(going, going.ahead)
    else:
        going.ahead = None
    numbers, places = run.control.numbers, run.control.places
    longest = numbers[FIXED] if numbers[FIXED] > 0.0 else GROWTH * numbers[SIZE]
    count = 1 if going.bounded else min(AHEAD, 1 + int(longest / dt))
    _request(going, time, base + dt * np.arange(number + 1, number + count) if count > 1 else ())
    if going.bounded and numbers[FIXED] == 0.0 and time < run.control.features[places[FEATURE]]:
        places[FEATURE] -= 1
        run.control.features[places[FEATURE]] = time
    while places[ROW] == 1:
        if problem := _attempted(going, time):
            return problem
    _take_back(going)
    return None


def jump(going: SteppedRun, time: float, values: Array) -> Problem | None:
    """Inputs have other values from the present instant on; the problem where nothing consistent follows, and inputs
    are as before."""
    _lend(going)
    if problem := _stand(going, time):
        return problem
    run, former = going.run, going.inputs.present
    going.inputs.set(values)
    try:
        if run.events:
            pass_events(run, jumped=True)
        else:
            pass_jump(run)
    except SimulationError as error:
        going.inputs.set(former)
        return error.problems[0]
    _bind(going)
    if going.inputs.bends:
        _look_ahead(going, float(run.control.numbers[STOP]))
    going.ahead, going.bounded = None, True
    _take_back(going)
    return None


def stop(going: SteppedRun, time: float) -> float:
    """Make the last step that was taken a row of samples, and let steps begin anew behind it; its instant, at least
    `time`."""
    run = going.run
    if run.now > time:
        run.sampler.times[0], run.control.places[ROW] = time, 1
        keep_last_step(run)
    going.row, going.ahead = int(run.control.places[ROW]), None
    run.control.places[FAILURES] = 0
    run.control.numbers[SIZE] = run.options.step or max(run.control.numbers[SIZE], REST * run.options.stop)
    run.counters[RESTARTED] = max(1, run.counters[RESTARTED])
    _take_back(going)
    return max(time, run.now)


def put_back_run(going: SteppedRun, kept: RunSnapshot) -> None:
    """The run as it was kept."""
    restore_snapshot(going.run, kept)
    _bind(going)


def fork_run(going: SteppedRun) -> SteppedRun:
    """Another one, with arrays and inputs of its own."""
    inputs = going.inputs.copied()
    run, ahead = duplicate((going.run, going.ahead), inputs.values)
    inputs.bind(run.machine)
    absolute = replace(going.absolute, values=inputs.values)
    return SteppedRun(run, absolute, inputs, ahead, going.row, going.bounded, going.coefficients.copy())


def run_snapshot(going: SteppedRun) -> RunSnapshot:
    """The run as it is now."""
    _lend(going)
    return snapshot(going.run)


# ------------------------------------------------------------------------------------------------ on the way


def _request(going: SteppedRun, time: float, further: Sequence[float] | Array = ()) -> None:
    """Rows begin anew, for an instant and further ones."""
    sampler, control = going.run.sampler, going.run.control
    sampler.times[0] = sampler.times[going.row - 1]
    going.row = control.places[ROW] = 1
    control.places[GRID] = 0
    control.grid[0], control.grid[1 : 1 + len(further)], control.grid[1 + len(further)] = time, further, np.inf


def _attempted(going: SteppedRun, time: float, keeping: bool = True) -> Problem | None:
    """Some attempts on the way to an instant, which only the last of them may pass; before one that may, the run is
    kept. The problem where the run stops."""
    run, numbers = going.run, going.run.control.numbers
    now = numbers[NOW]
    count = int(0.98 * (time - now) / numbers[LONGEST]) - 1
    if keeping and count < 1 and going.ahead is None:
        target = target_of(run.struct("control"), now)[0]
        if target > time * (1.0 + EDGE):
            going.ahead = snapshot(run)
    status = attempts(run, max(1, count))
    if status == DONE:
        _extend(going)
        return None
    problem = answer_status(run, status)
    _bind(going)
    if going.ahead is not None and numbers[NOW] > now and run.control.places[ROW] == 1:
        going.ahead = None  # a shorter step was taken
    return problem


def _stand(going: SteppedRun, time: float) -> Problem | None:
    """The run stands at the present instant: where it has gone further, it goes there again, from before."""
    run = going.run
    if run.now <= time * (1.0 + EDGE):
        return None
    assert going.ahead is not None
    put_back_run(going, going.ahead)
    going.ahead = None
    _request(going, np.inf)
    control = run.control
    fixed = control.numbers[FIXED] > 0.0
    instants, pointer = (control.time_events, TIME_EVENT) if fixed else (control.features, FEATURE)
    if time < instants[control.places[pointer]]:
        control.places[pointer] -= 1
        instants[control.places[pointer]] = time
    while control.numbers[NOW] * (1.0 + EDGE) < time:
        if problem := _attempted(going, time, keeping=False):
            return problem
    return None


def _extend(going: SteppedRun) -> None:
    """The run goes on beyond its `stop`: functions of time are looked at as far again."""
    numbers, places = going.run.control.numbers, going.run.control.places
    if numbers[NOW] < places[STEP] * numbers[FIXED] * (1.0 - 1e-9):  # `stop` has cut the last step
        places[STEP] -= 1
    _look_ahead(going, 2.0 * float(numbers[STOP]))


def _look_ahead(going: SteppedRun, stop: float) -> None:
    """Time events and features from now on to `stop`."""
    run = going.run
    control, now, method = run.control, run.now, run.method
    events = time_events_of(going.absolute, stop) if _cuts(run) else np.zeros(0)
    features = np.zeros(0) if run.options.step else ends_of(run.machine, stop, events, method.work, run.options.rtol)
    inside = [np.concatenate([[0.0], each[(each > now * (1.0 + EDGE)) & (each <= stop)], [np.inf]])
              for each in (events, features)]  # fmt: skip
    run.structs.pop(id(control), None)
    run.control = control._replace(time_events=inside[0], features=inside[1])
    run.control.places[[TIME_EVENT, FEATURE]] = 1
    run.control.numbers[STOP] = stop


def _cuts(run: Running) -> bool:
    """Whether steps end at time events (given steps of order 1 do not)."""
    return not run.options.step or run.method.order > 1


def _bind(going: SteppedRun) -> None:
    """Inputs are those of the machine that runs."""
    if going.run.machine is not going.inputs.machine:
        going.inputs.bind(going.run.machine)


def _lend(going: SteppedRun) -> None:
    """Combinations of forces (netsim.initial.reactions.indeterminacy) are this run's: forks share their places."""
    if going.coefficients.size:
        shares = indeterminacy_of(going.run.machine.system.batches)
        if shares is not None and shares.coefficients.shape == going.coefficients.shape:
            shares.coefficients[...] = going.coefficients


def _take_back(going: SteppedRun) -> None:
    shares = indeterminacy_of(going.run.machine.system.batches)
    if shares is not None:
        going.coefficients = shares.coefficients.copy()
    events = going.run.events
    if events and len(events.log) > 2 * LOGGED:
        first = next((k for k, event in enumerate(events.log) if event.time > going.run.sampler.times[0]), LOGGED)
        del events.log[: min(LOGGED, first)]
