"""Operating points at given values of an input or a parameter, each found from the one before: what a slow sweep shows.

Where the branch ends at a fold the next point lies on another one, as a Schmitt trigger switches; discrete variables
(a switch with hysteresis) keep their values until the point says otherwise.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from netsim.analyses.operating.curve import Curve
from netsim.analyses.operating.switching import operating_point_at
from netsim.initial.initial import Structure
from netsim.text.errors import SimulationError

Array = np.ndarray


def solve_at_values(curve: Curve, structure: Structure, values: Array) -> Iterator[float]:
    """The values in their order; the curve then stands at the operating point of each.

    Raises as `operating_point_at`."""
    for value in values.tolist():
        curve.set(value)
        try:
            operating_point_at(curve, structure)
        except SimulationError as none:
            first, *others = none.problems
            first = replace(first, message=f"{first.message}, where the swept quantity is {value:.6g}")
            raise SimulationError([first, *others]) from None
        yield value
