"""The solution of an optimisation on a mesh that is fine enough: guess, solve, look between the points, split."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.optimal.guess import sizes, whole_guess
from netsim.analyses.optimal.parameters import Tuned
from netsim.analyses.optimal.program.radau import Mesh, even
from netsim.analyses.optimal.program.refinement import errors, moved, refined
from netsim.analyses.optimal.program.solve import Solution, solved
from netsim.analyses.optimal.program.transcription import Setting, rates_of, transcribed
from netsim.analyses.optimal.wishes import FINAL

Array = np.ndarray
ANEW = 5
"""So often a program is solved on a mesh, with the ways and the sizes that its last solution has."""


@dataclass(frozen=True)
class Limits:
    """The first mesh, how fine it must become, how often it is refined, and IPOPT's iterations."""

    intervals: int
    points: int
    rtol: float
    refinements: int
    iterations: int


@dataclass(frozen=True, eq=False)
class Refined:
    """The solution on the last mesh, the mesh's error, how often it was refined; seconds of building and of solving on
    all meshes."""

    solution: Solution
    error: float
    rounds: int
    building: float
    solving: float

    @property
    def told(self) -> dict[str, Any]:
        """How it went, as attributes of a result."""
        spent = {"building_seconds": self.building, "solving_seconds": self.solving}
        return {**self.solution.told, **spent, "mesh_error": self.error, "refinements": self.rounds}

    @property
    def text(self) -> str:
        """How it went, in words."""
        mesh, last = self.solution.program.mesh, self.solution
        ended = last.status.replace("_", " ").lower()
        return (
            f"IPOPT: {ended} after {last.iterations} iterations on {mesh.intervals} intervals of {mesh.degree} points; "
            f"the conditions of optimality hold to {last.optimality:.2g}, "
            f"an interval errs by {self.error:.2g} of the sizes at most"
        )


def first_mesh(setting: Setting, limits: Limits) -> tuple[Mesh, float]:
    """Even intervals, split at instants that the objective reads; the span of a first guess (s)."""
    instants = [term.share for term in setting.wishes.terms if term.kind == FINAL]
    return even(limits.intervals, limits.points, instants), float(np.sqrt(setting.stop[0] * setting.stop[1]))


def on_fine_mesh(
    setting: Setting, limits: Limits, g: Array, mesh: Mesh, z: Array, stop: float, calm: bool = False
) -> Refined:
    """The solution on a mesh that is fine enough, its error, how often the mesh was refined, from a guess z (variables,
    points) on a first mesh; `calm`, from the calmest motion near it."""
    tuned = np.zeros(len(setting.tuned.names))
    first = _calmest(setting, limits, g, mesh, z, stop) if calm else None
    solution = first or _settled(setting, limits, g, mesh, z, stop, tuned)
    if not solution.solved and not calm:
        solution = _calmest(setting, limits, g, mesh, z, stop) or solution
    building, solving = solution.building, solution.solving
    for rounds in range(limits.refinements + 1):
        found = np.abs(solution.program.matrix(solution.x))
        error = errors(with_values(solution), g, sizes(setting.point, found, solution.stop))
        if not solution.solved or error.max() <= limits.rtol or rounds == limits.refinements:
            break
        mesh = refined(solution.program.mesh, error, limits.rtol)
        finer = _settled(setting, limits, g, mesh, moved(solution, mesh), solution.stop, solution.tuned, True)
        building, solving = building + finer.building, solving + finer.solving
        if not finer.solved:
            break
        solution = finer
    return Refined(solution, float(error.max(initial=0.0)), rounds, building, solving)


def _calmest(setting: Setting, limits: Limits, g: Array, mesh: Mesh, z: Array, stop: float) -> Solution | None:
    """The solution from the calmest motion that does what is asked for, with the sizes that this has; None without."""
    point, none = setting.point, np.zeros(len(setting.tuned.names))
    calm = replace(setting, wishes=replace(setting.wishes, objective=None, terms=[]), still=rates_of(point))
    first = _settled(calm, limits, g, mesh, z, stop, none)
    if not first.solved:
        return None
    found = _settled(setting, limits, g, mesh, first.program.matrix(first.x), first.stop, first.tuned)
    return found if found.solved else None


def with_values(solution: Solution) -> Solution:
    """The solution with a machine under the values of the free parameters that it found."""
    setting = solution.program.setting
    if setting.tuned.build is None:
        return solution
    machine = setting.tuned.build(setting.tuned.named(solution.tuned))
    fixed = replace(setting, point=replace(setting.point, machine=machine), tuned=Tuned())
    return replace(solution, program=replace(solution.program, setting=fixed))


def _settled(
    setting: Setting, limits: Limits, g: Array, mesh: Mesh, z: Array, stop: float, tuned: Array, warm: bool = False
) -> Solution:
    """The solution on a mesh, found anew from itself where its ways or its sizes are others than those of the guess."""
    found: Solution | None = None
    for _ in range(ANEW):
        known, others = setting.known(mesh.fractions, stop, g), setting.others(mesh.fractions, stop, g)
        program = transcribed(setting, mesh, known, z, others, found.program if found else None)
        if found and program.ways is found.program.ways and not (setting.wishes.objective and found.ill_scaled):
            break
        x = np.append(whole_guess(setting, mesh, z, stop), tuned)
        terms = np.maximum(1.0, np.abs(x[program.span + 1 : len(x) - len(tuned)]))
        own = np.tile(sizes(setting.point, z, stop), program.points)
        size = np.concatenate([own, [stop], terms, setting.tuned.high - setting.tuned.low])
        found = solved(program, x, size, limits.iterations, warm)
        if not found.solved:
            break
        z, stop, tuned = program.matrix(found.x), found.stop, found.tuned
    assert found is not None
    return found
