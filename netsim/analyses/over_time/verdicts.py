"""What is to be said of a run that has ended, whatever reads it: samples, cases of a sweep, derivatives."""

from collections.abc import Sequence

import numpy as np

from netsim.core.contract import ACCEPTED
from netsim.core.newton import set_time
from netsim.core.states import place
from netsim.initial.reactions.left_out import come_apart_problem, unmet_constraints
from netsim.simulate.judgement import (
    accumulated_errors,
    added_up_verdict,
    energy_verdict,
    only_heat_rests,
    reading_verdict,
    step_verdicts,
)
from netsim.simulate.running import Running
from netsim.simulate.setup.sizes import energy_exchanged, energy_of_rounding
from netsim.text.errors import Problem

Verdicts = tuple[Sequence[Problem], Sequence[Problem]]


def verdicts(run: Running, finished: bool = True) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """What makes the result of a run doubtful (W501 to W503, W506, W520), and what makes it wrong (E515, E519)."""
    found, broken = verdicts_of_steps(run, finished)
    found += [each] if (each := added_up_verdict(run.options, errors_added_up(run))) else []
    network, read = run.machine.system.network, run.trial.readings.sizes
    found += [each] if (each := reading_verdict(run.options, network, run.named, read)) else []
    energy = _energy_verdict(run) if finished else None
    if energy:
        (broken if energy.code.startswith("E") else found).append(energy)
    return tuple(found), tuple(broken)


def verdicts_of_steps(run: Running, finished: bool = True) -> tuple[list[Problem], list[Problem]]:
    """What steps were passed without, and joints that do not hold."""
    found = step_verdicts(run.options, run.counters, run.control.numbers, run.passed)
    asked = finished and run.machine.system.redundant is not None and not run.pace.parted
    open_ = unmet_constraints(run.machine, _stands(run), run.now) if asked else None
    if run.pace.parted:
        open_ = come_apart_problem(run.machine, int(run.pace.parted[0]), run.pace.parted[1])
    return found, [open_] if open_ else []


def errors_added_up(run: Running) -> float:
    """What the errors of its steps may have added up to, in units of rtol."""
    system = run.machine.system
    free = run.free if system.layout.nk or not only_heat_rests(system.network) else 0
    return float(accumulated_errors(run.options, run.turnover, free, system.layout.nq))


def _energy_verdict(run: Running) -> Problem | None:
    def rounding(most: float) -> float:
        h = run.now / max(int(run.counters[ACCEPTED]), 1)
        return energy_of_rounding(run.machine, run.trial, h, run.now, most)

    def exchanged() -> float:
        return energy_exchanged(run.machine, run.trial, run.now)

    return energy_verdict(run.options, run.machine.system.network, run.turnover, rounding, exchanged)


def _stands(run: Running) -> np.ndarray:
    """The global vector where the run has come to."""
    g, state, problem = run.trial.g.copy(), run.trial.start, run.machine.struct
    set_time(problem, g, run.now)
    place(problem, g, state)
    return g
