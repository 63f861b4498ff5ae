"""What users hold of a run that is stepped from Python: time, signals, inputs, events, states and copies."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import isfinite

import numpy as np

from netsim.core.loop.control import ROW
from netsim.simulate.events.event_log import Event
from netsim.simulate.snapshots import RunSnapshot
from netsim.simulate.stepped.stepped_run import SteppedRun, fork_run, jump, put_back_run, reach, run_snapshot, stop
from netsim.text.errors import InputError, Problem, SimulationError, nearest
from netsim.text.expressions.from_python import number_given, refused

Array = np.ndarray


@dataclass(frozen=True)
class Clock:
    """The present instant and the one before; the instant since which steps are equal, their size, and their number."""

    time: float = 0.0
    before: float = 0.0
    base: float = 0.0
    dt: float = 0.0
    count: int = 0


@dataclass(frozen=True, eq=False)
class State:
    """A simulator at an instant, to be given back to it: `simulator.state = state`."""

    of: object
    kept: RunSnapshot
    ahead: RunSnapshot | None
    row: int
    bounded: bool
    values: Array
    applied: bytes
    clock: Clock


class Simulator:
    """A run that is stepped: see `Model.simulator`. `values`: signals at the present instant, then inputs, by index;
    inputs are set there."""

    def __init__(self, going: SteppedRun, signals: Sequence[str], computed: Collection[str]):
        self._going, self._count, self._computed = going, len(signals), frozenset(computed)
        self._index = {name: i for i, name in enumerate((*signals, *going.inputs.names))}
        self._hold(np.concatenate([going.run.sampler.values[0], going.inputs.present]))
        self._applied = self._given.tobytes()
        self._base = self._dt = self._before = self.time = 0.0
        self._steps = 0

    def _hold(self, values: Array) -> None:
        self.values, self._given = values, values[self._count :]

    # -------------------------------------------------------------------------------------------- stepping

    def step(self, dt: float) -> None:
        """Go on by dt (s). Raises `InputError` where dt is not positive or an input is out of bounds, and
        `SimulationError` where a step fails: the simulator then stands at the last instant that was reached."""
        if not isinstance(dt, float) or dt != self._dt:
            dt = number_given("dt", dt)
            if not (dt > 0.0 and isfinite(dt)):
                raise _wrong(f"a step must be positive and finite, not {dt:g} s", "step(1e-3) goes on by 1 ms")
            self._base, self._dt, self._steps = self.time, float(dt), 0
        self._go_to(self._base + (self._steps + 1) * self._dt)

    def advance(self, time: float) -> None:
        """Go on to an instant (s); raises as `step`, and `InputError` for an instant that has passed."""
        if not isinstance(time, float) or time != self._base + (self._steps + 1) * self._dt:
            time = number_given("time", time)
            if not (time >= self.time and isfinite(time)):
                hint = "keep `simulator.state` and set it again to go back"
                raise _wrong(f"the simulator is at {self.time:.9g} s and cannot go back to {time:.9g} s", hint)
            if time == self.time:
                return
            self._base, self._dt, self._steps = self.time, float(time) - self.time, 0
        self._go_to(float(time))

    def _go_to(self, time: float) -> None:
        going = self._going
        if not time > self.time:
            hint = "take a longer step"
            raise _wrong(f"a step of {self._dt:g} s is lost in the rounding of {self.time:.9g} s", hint)
        if self._given.tobytes() != self._applied:
            self._set_inputs()
        else:
            going.bounded = False
        run = going.run
        shown = going.row < run.control.places[ROW] and run.sampler.times[going.row] == time
        if not shown and (problem := reach(going, time, self._base, self._dt, self._steps + 1)):
            self._stop(problem)
        self.values[: self._count] = run.sampler.values[going.row]
        going.row += 1
        self._steps += 1
        self._before, self.time = self.time, time

    def _set_inputs(self) -> None:
        """Inputs have changed."""
        wanted = self._given.copy()
        try:
            self._going.inputs.check(wanted)
        except InputError:
            self._given[:] = np.frombuffer(self._applied)
            raise
        if problem := jump(self._going, self.time, wanted):
            self._given[:] = np.frombuffer(self._applied)
            self._stop(problem)
        self._applied = wanted.tobytes()

    def _stop(self, problem: Problem) -> None:
        """Stand at the last instant that was reached, and say why the run goes no further."""
        going = self._going
        reached = stop(going, self.time)
        if reached > self.time:
            self.values[: self._count] = going.run.sampler.values[going.row - 1]
        self._before, self.time = self.time, reached
        self._base, self._dt, self._steps = reached, 0.0, 0
        raise SimulationError(problem)

    @property
    def events(self) -> list[Event]:
        """What happened within the last step, in order: time, element, condition, changes."""
        log = self._going.run.events.log if self._going.run.events else []
        first, last = (bisect_right(log, t, key=lambda event: event.time) for t in (self._before, self.time))
        return log[first:last]

    # ------------------------------------------------------------------------------------ signals and inputs

    def index(self, name: str) -> int:
        """Where a signal or an input stands in `values`; raises `InputError` for what is neither."""
        if not isinstance(name, str) or name not in self._index:
            raise self._unknown(name)
        return self._index[name]

    def __getitem__(self, name: str) -> float:
        return float(self.values[self.index(name)])

    def __setitem__(self, name: str, value: float | str) -> None:
        at = self.index(name)
        if at < self._count:
            hint = f"the inputs are {', '.join(self.inputs)}" if self.inputs else "name parameters in `inputs`"
            raise _wrong(f"'{name}' is a signal, and only inputs can be set", hint)
        self.values[at] = self._going.inputs.number(name, value)

    @property
    def signals(self) -> tuple[str, ...]:
        """The names of the signals, in the order of `values`."""
        return tuple(self._index)[: self._count]

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs, which stand behind the signals in `values`."""
        return self._going.inputs.names

    def __repr__(self) -> str:
        inputs = f", inputs {', '.join(self.inputs)}" if self.inputs else ""
        return f"<Simulator at {self.time:.9g} s: {self._count} signals{inputs}>"

    def _unknown(self, name: str) -> InputError:
        if not isinstance(name, str):
            return refused("signal", "the name of a signal or an input", name)
        if name in self._computed:
            hint = "read the signals in it, and compute it in Python"
            return _wrong(f"'{name}' is computed of signals behind a run, not at an instant", hint)
        hint = nearest(name, self._index) or "name it in `save`, or in `inputs` where it is to be set"
        return _wrong(f"the simulator has no signal or input '{name}'", hint)

    # ---------------------------------------------------------------------------------------- state and copies

    @property
    def state(self) -> State:
        """All that the next steps depend on. Where it is set again, the simulator goes on with the same bits."""
        clock = Clock(self.time, self._before, self._base, self._dt, self._steps)
        going = self._going
        values = self.values.copy()
        return State(going, run_snapshot(going), going.ahead, going.row, going.bounded, values, self._applied, clock)

    @state.setter
    def state(self, state: State) -> None:
        going = self._going
        if not isinstance(state, State) or state.of is not going:
            raise _wrong("this is no state of this simulator", "use fork() to go on from an instant twice")
        clock = state.clock
        put_back_run(going, state.kept)
        going.inputs.set(np.frombuffer(state.applied))
        going.ahead, going.row, going.bounded = state.ahead, state.row, state.bounded
        self.values[:], self._applied = state.values, state.applied
        self.time, self._before, self._base, self._dt = clock.time, clock.before, clock.base, clock.dt
        self._steps = clock.count

    def fork(self) -> "Simulator":
        """Another simulator at the same instant, which goes on by itself, with the same bits as this one would."""
        found = object.__new__(Simulator)
        found.__dict__.update(self.__dict__)
        found._going = fork_run(self._going)
        found._hold(self.values.copy())
        return found

    def __deepcopy__(self, known: object) -> "Simulator":
        return self.fork()


def _wrong(message: str, hint: str) -> InputError:
    return InputError(Problem("E429", message, hint=hint))
