"""The solution of an optimisation on a mesh that is fine enough: guess, solve, look between the points, split."""

from dataclasses import replace

from netsim.analyses.optimal.guess import sizes, whole_guess
from netsim.analyses.optimal.options import Limits
from netsim.analyses.optimal.parameters import Tuned
from netsim.analyses.optimal.program.refinement import errors, moved, refined
from netsim.analyses.optimal.program.solve import Solution, solved
from netsim.analyses.optimal.program.transcription import Motion, Setting, rates_of, transcribed

ANEW = 5
"""So often a program is solved on a mesh, with the ways and the sizes that its last solution has."""


def on_fine_mesh(setting: Setting, limits: Limits, guess: Motion, calm: bool = False) -> Solution:
    """The solution on a mesh that is fine enough, with the seconds of all meshes, from a guess on a first mesh; `calm`,
    from the calmest motion near it."""
    first = _calmest(setting, limits, guess) if calm else None
    solution = first or _settled(setting, limits, guess)
    if not solution.solved and not calm:
        solution = _calmest(setting, limits, guess) or solution
    for rounds in range(limits.refinements + 1):
        error = errors(with_values(solution), sizes(setting.point, solution.motion.z, solution.stop))
        solution = replace(solution, error=float(error.max(initial=0.0)), refinements=rounds)
        if not solution.solved or solution.error <= limits.rtol or rounds == limits.refinements:
            break
        mesh = refined(solution.program.mesh, error, limits.rtol)
        finer = _settled(setting, limits, moved(solution, mesh), True)
        building, solving = solution.building + finer.building, solution.solving + finer.solving
        solution = replace(finer if finer.solved else solution, building=building, solving=solving)
        if not finer.solved:
            break
    return solution


def _calmest(setting: Setting, limits: Limits, guess: Motion) -> Solution | None:
    """The solution from the calmest motion that does what is asked for, with the sizes that this has; None without."""
    still = replace(setting, wishes=replace(setting.wishes, objective=None, terms=[]), still=rates_of(setting.point))
    first = _settled(still, limits, guess)
    found = _settled(setting, limits, first.motion) if first.solved else first
    return found if found.solved else None


def with_values(solution: Solution) -> Solution:
    """The solution with a machine under the values of the free parameters that it found."""
    setting = solution.program.setting
    if setting.tuned.build is None:
        return solution
    machine = setting.tuned.build(setting.tuned.named(solution.motion.tuned))
    fixed = replace(setting, point=replace(setting.point, machine=machine), tuned=Tuned())
    return replace(solution, program=replace(solution.program, setting=fixed))


def _settled(setting: Setting, limits: Limits, guess: Motion, warm: bool = False) -> Solution:
    """The solution on a mesh, found anew from itself where its ways or its sizes are others than those of the guess,
    until that changes nothing."""
    found: Solution | None = None
    for _ in range(ANEW):
        program = transcribed(setting, guess, found.program if found else None)
        if found and program.ways is found.program.ways and not (setting.wishes.objective and found.ill_scaled):
            break
        again = found is not None
        found = solved(program, *whole_guess(setting, guess), limits.iterations, warm)
        if not found.solved or (again and not found.iterations):
            break
        guess = found.motion
    assert found is not None
    return found
