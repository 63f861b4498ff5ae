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
from netsim.analyses.optimal.program.transcription import Ends, Setting, transcribed
from netsim.analyses.optimal.wishes import Wishes

Array = np.ndarray
ITERATIONS = 25
"""IPOPT's iterations in an interval: a motion that needs more runs away."""


def pointwise(
    setting: Setting, mesh: Mesh, first: Array, stop: float, g: Array, inputs: Sequence[int], near: bool = False
) -> Array | None:
    """All variables (variables, points) of the motion whose states begin as in `first` (variables, points) and whose
    `inputs` (unknowns of the network) have the least norm (in SI units) at every instant; `first` gives sizes too, and
    is a guess where it is `near`. Limits and ends do not count. None if that motion does not come to its end."""
    point, one = setting.point, even(1, mesh.degree)
    still = np.stack([point.first[list(inputs)], np.ones(len(inputs))])
    alone = replace(setting, wishes=Wishes(), end=Ends(), still=still)
    z, part = first.copy(), None
    size = sizes(point, first, stop)
    for low, span, numbers in zip(mesh.ends, mesh.spans * stop, mesh.numbers):
        here = Ends(point.state_places, z[point.state_places, numbers[0]], fixed=True)
        window = replace(alone, early=setting.early + low * stop, stop=(span, span), begin=here)
        if not near:
            z[:, numbers[1:]] = z[:, numbers[:1]]
        part_of = transcribed(
            window, one, window.known(one.fractions, span, g), z[:, numbers], like=part.program if part else None
        )
        x = whole_guess(window, one, z[:, numbers], span)
        part = solved(
            part_of,
            x,
            np.append(np.tile(size, len(numbers)), span),
            ITERATIONS,
            like=part if part and part.program.ways is part_of.ways else None,
        )
        if not part.solved:
            return None
        found = part.program.matrix(part.x)
        z[:, numbers[1:]] = found[:, 1:]
        if not numbers[0]:
            z[:, 0] = found[:, 0]
    return z


def price(solution: Solution, g: Array, inputs: Sequence[int], fixed: bool) -> tuple[float, Array | None]:
    """The objective of the pointwise motion from the begin of a solution and over its span, NaN where that runs away,
    and the motion on the mesh of the solution; `fixed`, the followed signals leave no movement."""
    setting, mesh, stop = solution.program.setting, solution.program.mesh, solution.stop
    first = solution.program.matrix(solution.x)
    z = pointwise(setting, mesh, first, stop, g, inputs, near=fixed)
    if z is None:
        return float("nan"), None
    cost = _objective(setting, mesh, z, stop)
    if fixed:
        return cost, z
    ends = np.union1d(mesh.ends, 0.5 * (mesh.ends[1:] + mesh.ends[:-1]))
    halves = Mesh(ends, mesh.degree)
    finer = pointwise(setting, halves, moved(solution, halves), stop, g, inputs)
    return (float("nan"), z) if finer is None else (2.0 * _objective(setting, halves, finer, stop) - cost, z)


def _objective(setting: Setting, mesh: Mesh, z: Array, stop: float) -> float:
    """The objective of a motion (variables, points)."""
    terms = whole_guess(setting, mesh, z, stop)[z.size + 1 :]
    return float(setting.wishes.objective(terms, stop))
