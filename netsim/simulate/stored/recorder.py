"""How a run writes itself down between blocks of steps, and goes on from what was written."""

from hashlib import sha256

import numpy as np

from netsim.core.loop.control import GRID, ROW, TRACED
from netsim.equations.machine import Machine
from netsim.network.network import Instance
from netsim.results.partial.recording import Log
from netsim.simulate.options import TransientOptions
from netsim.simulate.retreat import Retreat
from netsim.simulate.running import Running
from netsim.simulate.setup.instants import fill_window
from netsim.simulate.stored.run_state import Differs, NotStorable, restored, stored
from netsim.text.errors import InputError

Array = np.ndarray
FULL = 0.5
"""The share of the room for rows behind which they go to the disk, where a run may have more than memory takes."""


def identity_of(
    machine: Machine, options: TransientOptions, g: Array, names: list[str], version: str
) -> dict[str, str]:
    """What tells a run apart from others, part by part (recording.WITH): a state serves the same run alone."""
    problem, network = machine.problem, machine.system.network
    programs = [call.program.digest for calls in machine.calls.values() for call in calls]
    parameters = [np.ascontiguousarray(array).tobytes() for array in machine.parameters.values()]
    tables = [problem.table_breaks.tobytes(), problem.table_coefficients.tobytes(), problem.table_outside.tobytes()]
    return {
        "version": version,
        "netlist": _digest([network.text.encode()]),
        "network": _digest([problem.sizes.tobytes(), "".join(programs).encode(), *map(_placed, network.instances)]),
        "parameters": _digest([*parameters, *tables, problem.buffer.length.tobytes(), g.tobytes()]),
        "options": repr(options),
        "signals": _digest([repr(names).encode()]),
    }


def _placed(instance: Instance) -> bytes:
    """An element and its nodes."""
    return repr((instance.name, instance.component.name, instance.nodes)).encode()


def _digest(parts: list[bytes]) -> str:
    found = sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little") + part)
    return found.hexdigest()


class Recorder:
    """Writes a run into its log."""

    def __init__(self, log: Log):
        self.log = log

    def begun(self, run: Running) -> Retreat:
        """The run as it was when its state was written, if there is one; the copies it may go back to."""
        if self.log.tree is None:
            return Retreat()
        try:
            retreat = restored(run, self.log.tree)
        except (Differs, KeyError, TypeError) as wrong:
            raise self._misfit(wrong) from None
        self._read_back(run)
        return retreat

    def between(self, run: Running, retreat: Retreat) -> None:
        """What is due between two blocks of steps. Raises `SimulationError` where the disk takes no more."""
        sampler, row = run.sampler, int(run.control.places[ROW])
        if run.options.window and row > FULL * len(sampler.times) and len(sampler.times) >= run.options.window:
            self._flush(run)
        if self.log.is_due():
            self.write(run, retreat)

    def write(self, run: Running, retreat: Retreat | None = None) -> None:
        """Rows as far as the run is, and its state, if it can be stored now (else the former one stays)."""
        self._append(run)
        try:
            self.log.save(stored(run, retreat or Retreat()))
        except NotStorable:
            self.log.later()

    def ended(self, run: Running) -> None:
        """The state of a run at its end, where there was one before: later runs may be interrupted, too."""
        if self.log.is_begun:
            self.write(run)

    def rewound(self, run: Running) -> None:
        """The run went back: rows behind where it is now will be written again."""
        self._read_back(run)
        total, traced = run.flushed + int(run.control.places[ROW]), int(run.control.places[TRACED])
        if self.log.rows.count > total:
            self.log.rows.shorten(total)
        if self.log.trace.count > traced:
            self.log.trace.shorten(traced)

    def _append(self, run: Running) -> None:
        sampler, row, traced = run.sampler, int(run.control.places[ROW]), int(run.control.places[TRACED])
        first = self.log.rows.count - run.flushed
        rows = np.column_stack([sampler.times[first:row], sampler.values[first:row], sampler.account[first:row]])
        self.log.add(rows, sampler.trace[self.log.trace.count : traced] if self.log.traces else None)

    def _flush(self, run: Running) -> None:
        """Rows to the disk: memory keeps the last one, and requested instants from here on."""
        self._append(run)
        sampler, places = run.sampler, run.control.places
        last = int(places[ROW]) - 1
        for array in (sampler.times, sampler.values, sampler.account):
            array[0] = array[last]
        places[ROW], run.flushed = 1, run.flushed + last
        if run.options.sample:
            run.requested += int(places[GRID])
            places[GRID] = 0
            fill_window(run.options, run.control.grid, run.requested)

    def _read_back(self, run: Running) -> None:
        """Rows in memory from those on the disk, as far as these go."""
        sampler, row, traced = run.sampler, int(run.control.places[ROW]), int(run.control.places[TRACED])
        rows = self.log.rows.read(run.flushed, min(run.flushed + row, self.log.rows.count))
        n = len(rows)
        sampler.times[:n], sampler.values[:n], sampler.account[:n] = rows[:, 0], rows[:, 1:-4], rows[:, -4:]
        if self.log.traces:
            trace = self.log.trace.read(0, min(traced, self.log.trace.count))
            sampler.trace[: len(trace)] = trace

    def _misfit(self, wrong: Exception) -> InputError:
        return self.log.refusal(f"the state of the run does not fit the network: {wrong}")
