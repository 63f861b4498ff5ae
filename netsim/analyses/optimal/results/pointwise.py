"""The motion in which the inputs are shared at every instant on its own: a price to compare with, and a guess.

The least norm of the inputs at an instant looks no further than the instant. Where the followed signals fix the whole
movement, it is the least integral of the inputs' squares. Where movement is left, every interval in turn takes the
least of its own and hands its end to the next one, and the motion may run away (J. Hollerbach and K. Suh, Redundancy
resolution of manipulators through torque optimization, IEEE J. Robotics and Automation 3, 1987). What an interval gains
by looking to its end falls with its length, so prices on a mesh and on its halves give the one of instants.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from netsim.analyses.optimal.guess import sizes, whole_guess
from netsim.analyses.optimal.program.radau import Mesh, even
from netsim.analyses.optimal.program.refinement import moved
from netsim.analyses.optimal.program.solve import Solution, solved
from netsim.analyses.optimal.program.transcription import Ends, Motion, Setting, transcribed
from netsim.analyses.optimal.wishes import Wishes

ITERATIONS = 25
"""IPOPT's iterations in an interval: a motion that needs more runs away."""


def pointwise(setting: Setting, first: Motion, inputs: Sequence[int], near: bool = False) -> Motion | None:
    """The motion whose states begin as in `first` and whose `inputs` (unknowns of the network) have the least norm (in
    SI units) at every instant; `first` gives sizes too, and is a guess where it is `near`. Limits and ends do not
    count. None if that motion does not come to its end."""
    point, mesh, one = setting.point, first.mesh, even(1, first.mesh.degree)
    still = np.stack([point.first[list(inputs)], np.ones(len(inputs))])
    alone = replace(setting, wishes=Wishes(), end=Ends(), still=still)
    z, part, size = first.z.copy(), None, sizes(point, first.z, first.stop)
    for low, span, numbers in zip(mesh.ends, mesh.spans * first.stop, mesh.numbers):
        here = Ends(point.state_places, z[point.state_places, numbers[0]], fixed=True)
        window = replace(alone, early=setting.early + low * first.stop, stop=(span, span), begin=here)
        if not near:
            z[:, numbers[1:]] = z[:, numbers[:1]]
        guess = Motion(one, z[:, numbers], span)
        program, own = transcribed(window, guess, part.program if part else None), np.tile(size, len(numbers))
        like = part if part and part.program.ways is program.ways else None
        part = solved(program, whole_guess(window, guess)[0], np.append(own, span), ITERATIONS, like=like)
        if not part.solved:
            return None
        kept = numbers if not numbers[0] else numbers[1:]
        z[:, kept] = part.motion.z[:, -len(kept) :]
    return replace(first, z=z)


def price(solution: Solution, inputs: Sequence[int], fixed: bool) -> tuple[float, Motion | None]:
    """The objective of the pointwise motion from the begin of a solution and over its span, NaN where that runs away,
    and the motion on the mesh of the solution; `fixed`, the followed signals leave no movement."""
    setting, mesh = solution.program.setting, solution.program.mesh
    found = pointwise(setting, solution.motion, inputs, near=fixed)
    if found is None:
        return float("nan"), None
    cost = _objective(setting, found)
    if fixed:
        return cost, found
    ends = np.union1d(mesh.ends, 0.5 * (mesh.ends[1:] + mesh.ends[:-1]))
    finer = pointwise(setting, moved(solution, Mesh(ends, mesh.degree)), inputs)
    return float("nan") if finer is None else 2.0 * _objective(setting, finer) - cost, found


def _objective(setting: Setting, motion: Motion) -> float:
    """The objective of a motion."""
    terms = whole_guess(setting, motion)[0][motion.z.size + 1 :]
    return float(setting.wishes.objective(terms, motion.stop))
