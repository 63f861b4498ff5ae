"""What the same motion costs where the inputs are shared at every instant on its own.

The least norm of the inputs at an instant looks no further than the instant. Where the followed signals fix the whole
movement, it is the least integral of the inputs' squares. Where movement is left, every interval in turn takes the
least of its own and hands its end to the next one, and the motion may run away (J. Hollerbach and K. Suh, Redundancy
resolution of manipulators through torque optimization, IEEE J. Robotics and Automation 3, 1987).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from netsim.analyses.optimal.guess import sizes, whole_guess
from netsim.analyses.optimal.program.blocks import values_of
from netsim.analyses.optimal.program.radau import even
from netsim.analyses.optimal.program.solve import Solution, solved
from netsim.analyses.optimal.program.transcription import Ends, transcribed
from netsim.analyses.optimal.wishes import Wishes

Array = np.ndarray
ITERATIONS = 50
"""IPOPT's iterations in an interval: a motion that needs more runs away."""
NONE = np.zeros(0, np.int64)


def pointwise(solution: Solution, g: Array, inputs: Sequence[int]) -> float:
    """The objective of the motion with the same begin whose `inputs` (unknowns of the network) have the least norm (in
    SI units) at every instant. Limits and ends do not count. NaN if that motion does not come to its end."""
    program, stop = solution.program, solution.stop
    setting, mesh = program.setting, program.mesh
    point, one = setting.point, even(1, mesh.degree)
    still = np.stack([point.first[list(inputs)], np.ones(len(inputs))])
    alone = replace(setting, wishes=Wishes(), end=Ends(NONE, np.zeros(0)), still=still)
    optimal = program.matrix(solution.x)
    z, part = optimal.copy(), None
    size = sizes(point, optimal, stop)
    for low, span, numbers in zip(mesh.ends, mesh.spans * stop, mesh.numbers):
        here = Ends(point.state_places, z[point.state_places, numbers[0]], fixed=True)
        window = replace(alone, early=setting.early + low * stop, stop=(span, span), begin=here)
        z[:, numbers[1:]] = z[:, numbers[:1]]
        part_of = transcribed(window, one, window.known(one.fractions, span, g))
        x = whole_guess(window, one, z[:, numbers], span)
        part = solved(part_of, x, np.append(np.tile(size, len(numbers)), span), ITERATIONS, like=part)
        if not part.solved:
            return float("nan")
        z[:, numbers[1:]] = part.program.matrix(part.x)[:, 1:]
    whole = whole_guess(setting, mesh, z, stop)
    return float(values_of(program.blocks, whole, len(program.highest))[0])
