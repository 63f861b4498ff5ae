"""From the instant at which the loop stopped to the state behind it: discretes settled, the energy account kept, the next known instant found."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np

from netsim.analyses.event_log import crowded
from netsim.analyses.events import BESIDE, due, plan_for, settle
from netsim.analyses.run_arrays import first_factor
from netsim.errors import Problem, SimulationError
from netsim.integrators.adaptive import first_size
from netsim.integrators.contract import FRESH, RESTARTED, set_scales
from netsim.integrators.control import DUE, EVERY, NOW, ROW, SIZE
from netsim.integrators.readout import longer, take
from netsim.integrators.settling import leave
from netsim.integrators.states import STORED, energies, load, place
from netsim.solvers.newton import set_time

IDLE = 20
"""So often an instant may be found at which nothing changes."""
MODES = 200
"""So many sets of switching discretes have their matrices kept."""
AHEAD = 1e-9
"""The share of a run that is looked ahead to see which way indicators at zero go."""


def pass_event(run: Any) -> None:
    """Settle the discretes at the present instant and begin anew behind it.

    Energy that an impulse takes counts as dissipated. `run` is the `Running` of the loop.
    Raises `SimulationError` where discretes never agree, or conditions switch without end."""
    s, trial, control, layout = run.events, run.trial, run.control, run.machine.system.layout
    assert s is not None
    problem, power, t = run.machine.bundle, run.readout.power, float(control.numbers[NOW])
    load(problem, trial.g, trial.start)
    set_time(problem, trial.g, t + BESIDE * abs(t))
    energies(problem, trial.g, power)
    stored = power[STORED]
    known = len(s.log)
    settled = settle(s, trial.g, t)
    run.idle = 0 if settled or t > run.last else run.idle + 1
    run.last = t
    if run.idle > IDLE:
        message = f"at t = {t:.9g} s conditions hold and do not hold, to rounding"
        raise SimulationError(Problem("E509", message, hint="a gap between thresholds (hysteresis) ends it"))
    if settled:
        if wrong := crowded(s.log[known:], s.recent, run.options.stop):
            raise SimulationError(wrong)
        found = layout.state(trial.g)
        trial.start[: len(found)] = found
        place(problem, trial.g, trial.start)
        energies(problem, trial.g, power)
        run.readout.totals[:, 1] += stored - power[STORED]
        trial.counters[RESTARTED] = 2
        trial.middle[:] = trial.start
        if control.places[ROW] and control.places[EVERY]:
            if control.places[ROW] + 4 > len(run.readout.times):
                run.readout = longer(run.readout)
            row = int(control.places[ROW])
            behind = np.nextafter(max(t, run.readout.times[row - 1]), np.inf)
            take(problem, run.bundle("trial"), run.bundle("readout"), row, float(behind))
            control.places[ROW] += 1
        set_scales(problem, run.bundle("trial"))
        _forget(run)
        leave(problem, s.looking, trial.g, AHEAD * run.options.stop)
        control.numbers[SIZE] = run.options.step or min(
            control.numbers[SIZE], first_size(problem, run.bundle("trial"), run.options.stop, run.method.estimate)
        )
    _exchange(run, t)
    control.numbers[DUE] = due(s, trial.g, t, run.options.stop)


def _exchange(run: Any, t: float) -> None:
    """Plan, pivots and arrays that serve the discretes behind an event, kept by what switches: those of before may serve badly where switches lie
    decades apart."""
    s, key = run.events, run.events.mode(run.trial.g)
    if len(run.served) > MODES:
        run.served.clear()
        s.plans.clear()
    plan, _ = plan_for(s, run.trial.g, t)
    if key not in run.served or run.served[key][0] is not plan:
        factor, arrays = run.factor, run.arrays
        with suppress(SimulationError):
            factor = first_factor(run.machine, run.trial, float(run.control.numbers[SIZE]), run.now)
            arrays = run.method.with_factor(arrays, factor)
        if run.method.explicit and len(plan.sizes):
            arrays, alive = run.method.prepare(run.machine, factor, plan, run.closing)
            run.alive.append(alive)
        run.served[key] = plan, factor, arrays
    plan, run.factor, run.arrays = run.served[key]
    if len(plan.sizes):
        run.plan = plan


def _forget(run: Any) -> None:
    """Matrices of before the event serve no more."""
    run.trial.counters[FRESH] = 0
    if run.method.name == "radau":
        from netsim.integrators.radau_arrays import HAVE

        run.arrays.memory[HAVE] = 0.0
