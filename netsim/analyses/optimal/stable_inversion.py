"""Stable inversion: inputs for which signals follow motions exactly while input and internal motion stay bounded.

Where zero dynamics are unstable, the inverse run forward in time runs away. The bounded solution follows from a
boundary value problem: its unstable part is determined by what comes, so that it moves before the signals do (pre-
actuation), and its stable part by what was (S. Devasia, D. Chen, B. Paden, Nonlinear inversion-based output tracking,
IEEE Trans. Automatic Control 41, 1996). On a span from -lead to stop + tail it is the solution whose rates have the
least integral of squares: any other one contains a part that grows towards one of the ends. What is left of the
internal motion there is told.
"""

from dataclasses import replace

import numpy as np

from netsim.analyses.analysis import Prepared
from netsim.analyses.analysis import Task as Asked
from netsim.analyses.inverse.authority import Started
from netsim.analyses.inverse.runs import FOUND, Task, constant, machine_of
from netsim.analyses.optimal.guess import first_guess
from netsim.analyses.optimal.meshes import on_fine_mesh
from netsim.analyses.optimal.options import Limits
from netsim.analyses.optimal.program.points import point_of, present, unknowns_of
from netsim.analyses.optimal.program.solve import Solution
from netsim.analyses.optimal.program.transcription import Ends, Setting, rates_of, silent
from netsim.analyses.optimal.results.answer import sampled
from netsim.analyses.optimal.results.failing import explained
from netsim.analyses.optimal.results.verification import doubtful, verified
from netsim.analyses.optimal.wishes import Wishes
from netsim.results.samples import Samples
from netsim.simulate.setup.start_of_run import start_at_origin, start_attributes
from netsim.text.errors import InputError, Problem

POINTS, REFINEMENTS, ITERATIONS = 3, 8, 200
NONE = np.zeros(0, np.int64)
LEFT = 1e-3
"""A share of the largest velocity that is left at an end and above which a longer lead or tail is asked for."""


def bounded_inverse(task: Task, asked: Asked, imposed: Prepared, applied: Prepared, started: Started) -> Samples:
    """The bounded inverse, with what is `asked` to be saved, as samples from -lead to stop + tail;
    `imposed` is the network whose signals follow their motions, `applied` that under given inputs, which has `started`:
    there the search begins. Raises `InputError` (E461) with more actuators than motions."""
    options = task.options
    if task.spare:
        message = "a bounded inverse has as many actuators as motions"
        hint = "with more actuators, take optimize(track = [...], inputs = [...], minimize = ...)"
        raise InputError(Problem("E461", message, task.actuators[-1].expr.span, hint=hint))
    machine = machine_of(task, imposed, {FOUND: lambda name: constant(0.0, task)})
    machine, structure, g = start_at_origin(machine, imposed[2], started[2])
    point = point_of(machine, present(machine, structure), (), g)
    span = options.lead + options.transient.stop + options.tail
    setting = Setting(point, Wishes(), (span, span), NONE, Ends(), Ends(), -options.lead, rates_of(point))
    followed = np.array(unknowns_of(machine, task.actuators, task.network), np.int64)
    setting = replace(setting, progress=task.progress or silent, followed=followed)
    limits = Limits(options.intervals, POINTS, options.transient.rtol, REFINEMENTS, ITERATIONS)
    solution = on_fine_mesh(setting, limits, first_guess(setting, limits, point.start))
    if not solution.solved:
        raise explained(solution)
    check = verified(task, applied, solution, task.actuators, limits.rtol)
    notes = [solution.text, *_left(solution, options.lead, options.tail), check.text]
    attributes = {
        **start_attributes(started[3]),
        **solution.told,
        "deviation": check.deviation,
        "notes": "; ".join(notes),
    }
    between = options.transient.sample or options.transient.step * options.transient.every
    found = sampled(solution, between, asked.saves, asked.plots, asked.beside, attributes)
    return replace(found, warnings=tuple(doubtful(check, limits.rtol)))


def _left(solution: Solution, lead: float, tail: float) -> list[str]:
    """What is left of the internal motion at both ends: velocities in parts of the largest one."""
    point = solution.program.setting.point
    moving = np.flatnonzero(point.d > 0)
    rates = np.abs(solution.motion.z[point.first[moving] + 1])
    most = rates.max(axis=1, keepdims=True, initial=1e-300)
    share = np.where(most > most.max() * LEFT, rates / most, 0.0)
    found = []
    for k, name, span in ((0, "lead", lead), (-1, "tail", tail)):
        left = float(share[:, k].max(initial=0.0))
        asked = f": take a longer {name} than {span:g} s" if left > LEFT else ""
        end = "begin" if k == 0 else "end"
        found.append(f"at the {end} {left:.2g} of the largest rate of the internal motion is left{asked}")
    return found
