"""Optimal motion: inputs, starts and parameters over a whole span such that the network's equations hold and an
objective is least, by collocation and IPOPT.

The equations at the points of a mesh and the objective (`posing`) are one nonlinear program (`transcription`), whose
solution is sampled like a run.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, Task
from netsim.analyses.inverse.tracking import actuators_of, motions_of
from netsim.analyses.optimal.guess import first_guess
from netsim.analyses.optimal.meshes import on_fine_mesh, with_values
from netsim.analyses.optimal.options import KINDS, Limits, OptimalOptions, optimal_options
from netsim.analyses.optimal.posing import Posed, posed, refuse_events
from netsim.analyses.optimal.program.points import nominal_sizes
from netsim.analyses.optimal.program.rounded import rounded_system
from netsim.analyses.optimal.program.solve import Solution
from netsim.analyses.optimal.program.transcription import Motion
from netsim.analyses.optimal.results.answer import sampled
from netsim.analyses.optimal.results.costates import with_costates
from netsim.analyses.optimal.results.failing import explained, refuse_unmet
from netsim.analyses.optimal.results.pointwise import pointwise, price
from netsim.analyses.optimal.results.verification import doubtful, unresolved, verified
from netsim.analyses.optimal.simulated import Series, saved, simulated, standing, with_series
from netsim.analyses.optimal.wishes import wishes_of
from netsim.analyses.refusals import check_size
from netsim.results.samples import Samples
from netsim.results.selection import select
from netsim.simulate.events.iteration import has_events

WIDE = 1.0
"""The first rounding of what switches, in parts of sizes."""
NEARER = 0.1
"""Every rounding beside the one before: a motion that is solved with one is a guess for the next."""


def optimize(task: Task, options: OptimalOptions) -> Samples:
    """The optimal motion as samples; raises `InputError` for what cannot be optimised."""
    check_size(options.stop[1], options.sample, len(select(task.machine, task.saves, task.plots).entries))
    options = options if has_events(task.machine) else replace(options, smooth=0.0)
    near, building, solving = None, 0.0, 0.0
    for smooth in roundings(options.smooth):
        problem, fine, beside = _found(task, options, smooth, near)
        near = fine.motion if fine.solved else None
        building, solving = building + fine.building, solving + fine.solving
    fine = replace(fine, building=building, solving=solving)
    setting, sign = problem.setting, options.sign
    if not fine.solved:
        raise explained(fine)
    refuse_unmet(fine)
    values, solution = setting.tuned.named(fine.motion.tuned), with_values(fine)
    applied = task.under(values).prepare(problem.applied[1].network) if values else problem.applied
    check = verified(task, applied, solution, problem.inputs, options.mesh.rtol)
    free = {a.name: int(unknown) for a, unknown in zip(problem.chosen, setting.free)}
    told = _told(fine, values, None if beside is None else sign * beside, options)
    attributes = {
        **told,
        **{f"costate.{name}": sign * float(solution.gradient[place]) for name, place in problem.places.items()},
        "deviation": check.deviation,
        "notes": f"{told['notes']}; {check.text}",
    }
    found = sampled(solution, options.sample, task.saves, task.plots, task.beside, attributes)
    if options.costates:
        found = with_costates(found, solution, problem.states, sign)
    return replace(found, warnings=(*doubtful(check, options.mesh.rtol, options.smooth), *unresolved(solution, free)))


def roundings(smooth: float) -> list[float]:
    """By how much what switches is rounded, one after the other: from WIDE on down to `smooth`; 0 alone for 0."""
    steps = np.log(smooth / WIDE) / np.log(NEARER) if smooth else 0.0
    return [*(WIDE * NEARER**k for k in range(int(np.ceil(steps - 1e-9)))), smooth]


def _found(
    task: Task, options: OptimalOptions, smooth: float, near: Motion | None
) -> tuple[Posed, Solution, float | None]:
    """The problem with what switches rounded by `smooth`, its optimum from a motion `near` it or a first guess, and
    what the pointwise motion costs."""
    problem = posed(task, options, smooth)
    setting = problem.setting
    straight = first_guess(setting, options.mesh, problem.end)
    guess = near or _guess(task, options, problem, straight)
    calm = bool(problem.motions) and guess is None and not options.guess
    away = calm and setting.begin.fixed and not options.is_free  # the guess has seen the pointwise motion run away
    fine = on_fine_mesh(setting, options.mesh, guess or straight, calm)
    return problem, *_below_pointwise(fine, options.mesh, problem, away)


def _told(
    solution: Solution, values: Mapping[str, float], beside: float | None, options: OptimalOptions
) -> dict[str, Any]:
    """How it went, as attributes: the objective (`beside`, that of the pointwise share), the stop, parameters."""
    objective, unit = options.sign * solution.objective, solution.program.setting.wishes.unit
    words = f"objective = {objective:.9g} {unit}".rstrip() + f", stop = {solution.stop:.9g} s"
    words += "" if beside is None else f", {_beside(beside, objective)}"
    words += f"; what switches is rounded by {options.smooth:g} of sizes" if options.smooth else ""
    return {
        "objective": objective,
        **({} if beside is None else {"pointwise": beside}),
        "stop": solution.stop,
        **solution.told,
        **{f"parameter.{name}": value for name, value in values.items()},
        "notes": "; ".join([*(f"{name} = {value:.9g}" for name, value in values.items()), words, solution.text]),
    }


def _beside(shared: float, objective: float) -> str:
    """The objective where inputs have the least norm at every instant, in words."""
    aside = "with the least norm of the inputs at every instant (limits and ends aside)"
    if not np.isfinite(shared):
        return f"the motion {aside} does not reach the end"
    more = f" ({shared / objective - 1.0:+.3g} of it)" if objective else ""
    return f"{aside} {shared:.9g}{more}"


def _below_pointwise(solution: Solution, limits: Limits, problem: Posed, away: bool) -> tuple[Solution, float | None]:
    """The optimum, and what the motion with the least norm of the inputs at every instant costs: NaN where that does
    not reach the end (as it is known to where it runs `away`), None where nothing is shared. Where it costs less, the
    optimum found is that of another valley, and the search goes on from the pointwise motion."""
    if not problem.shared or not solution.solved or solution.program.setting.wishes.objective is None:
        return solution, None
    if away:
        return solution, float("nan")
    cost, motion = price(solution, problem.shared, problem.fixed)
    if motion is not None and cost < solution.objective - limits.rtol * abs(solution.objective):
        other = on_fine_mesh(solution.program.setting, limits, motion)
        if other.solved and other.objective < solution.objective:
            return other, cost
    return solution, cost


def _guess(task: Task, options: OptimalOptions, problem: Posed, straight: Motion) -> Motion | None:
    """A first guess from an earlier run or the equilibrium, from the movement where followed signals fix it, from a
    transient run where nothing is asked for at the end, from the pointwise motion; None without any of these."""
    setting = problem.setting
    own = {a.name: int(setting.point.first[u]) for a, u in zip(problem.chosen, setting.free)}
    series = _series(task, options, problem, own)
    if series:
        return with_series(setting.point, straight, series, {**problem.places, **own})
    if problem.shared and not options.guess and setting.begin.fixed:
        return pointwise(setting, straight, problem.shared)
    return None


def _series(task: Task, options: OptimalOptions, problem: Posed, own: Mapping[str, int]) -> Series:
    """Series of states and of `own` inputs for a first guess, none without a run that gives them."""
    if options.guess == "static":
        return standing(task, (*problem.places, *own), options.stop[1])
    if options.guess not in ("", "transient", "begin"):
        return saved(task, options.guess, problem.places, own)
    moving: Series = {}
    if problem.fixed:
        moving = simulated(problem.setting.point.machine, problem.structure, problem.places, options.stop[1])
    if options.guess == "transient" or not (moving or options.guess or options.end or options.begin or options.track):
        span = float(np.sqrt(options.stop[0] * options.stop[1]))
        return simulated(task.machine, task.structure, problem.places, span)
    return moving


def _refuse(task: Task, options: OptimalOptions) -> None:
    """What can be refused before anything is solved."""
    actuators_of(task.network, options.inputs)
    motions_of(task.network, task.values, options.track)
    wishes_of(task.network, task.values, options)
    if options.smooth:
        rounded_system(task.machine, options.smooth, nominal_sizes(task.machine, None), options.stop[1])
    else:
        refuse_events(task.machine)


ANALYSIS = Analysis("optimize", KINDS, optimal_options, optimize, _refuse)
