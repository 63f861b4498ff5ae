"""The units in which a problem's own numbers are of size 1.

Nominal sizes are those of ordinary machines. A problem of other sizes is one in other units of length, mass, time,
current, temperature ...: the factors 10^u_k of the base units k for which the stop, conditions and parameters, each a
value |v| of dimension d, come nearest to 1 (least squares of log10 |v| - d u). A limit counts where sizes contradict
it: 1e6 N that nothing comes near to say nothing. Problems within a few orders of magnitude keep the usual units.
"""

from collections.abc import Iterator

import numpy as np

from netsim.analyses.optimal.options import OptimalOptions
from netsim.analyses.optimal.wishes import Wishes
from netsim.equations.machine import Machine
from netsim.library.component import SECOND
from netsim.simulate.setup.kinds import kinds_of
from netsim.text.units import NO_DIMENSION, Dimension

Array = np.ndarray
USUAL = 2.5
"""Base units that differ by fewer decades stay as they are."""
SLACK = 0.1
"""The weight of u = 0 beside one number of the problem."""
ROUNDS = 10
"""So often it is asked anew which limits the units contradict."""


def own_units(machine: Machine, options: OptimalOptions, wishes: Wishes) -> Array:
    """The decades u of the base units."""
    found = [(abs(v), d.exponents, side) for v, d, side in _numbers(machine, options, wishes) if 0.0 < abs(v) < 1e100]
    found = [each for each in found if any(each[1])]
    sizes = np.log10([value for value, _, _ in found])
    matrix = np.array([exponents for _, exponents, _ in found], float).reshape(len(found), len(NO_DIMENSION.exponents))
    side = np.array([side for _, _, side in found])
    counts, decades = side == 0, np.zeros(matrix.shape[1])
    for _ in range(ROUNDS):
        weight = np.vstack([matrix[counts], np.sqrt(SLACK) * np.eye(len(decades))])
        decades = np.linalg.lstsq(weight, np.append(sizes[counts], 0.0 * decades))[0]
        counts = (side == 0) | (side * (sizes - matrix @ decades) < 0.0)
    return decades if np.abs(decades).max() > USUAL else 0.0 * decades


def scale_of(machine: Machine, decades: Array) -> Array | None:
    """The sizes of positions and of unknowns in these units (2, unknowns), None in the usual ones."""
    if not decades.any():
        return None
    found = np.tile(dimensions(machine) @ decades, (2, 1))
    found[0, : machine.system.layout.nk] += np.array(SECOND.exponents, float) @ decades
    return 10.0**found


def dimensions(machine: Machine) -> Array:
    """The exponents of the base units of all unknowns, of a position's rate (unknowns, base units)."""
    layout = machine.system.layout
    kinds = kinds_of(machine.system, np.zeros(layout.nd), np.zeros(0, np.int64))
    own = {
        number: next((d for d in key if isinstance(d, Dimension)), NO_DIMENSION)
        for key, number in kinds.numbers.items()
    }
    found = [own[kind].exponents for kind in kinds.of[layout.nk :].tolist()]
    return np.array(found, float).reshape(layout.n, len(NO_DIMENSION.exponents))


def _numbers(machine: Machine, options: OptimalOptions, wishes: Wishes) -> Iterator[tuple[float, Dimension, int]]:
    """What the problem says in numbers: the stop, bounds, parameters that are written (defaults may be 1e30); with 0
    for a size, 1 where sizes are at most this, -1 where they are at least this."""
    for bound, dimension in _bounds(options, wishes):
        for value, inward in zip(bound, (-1, 1)):
            yield value, dimension, 0 if bound[0] == bound[1] else inward * (1 if value > 0.0 else -1)
    for instance in machine.system.network.instances:
        known = machine.values.parameters(instance)
        for typed in (known[b.name] for b in instance.text.bindings if b.name in known):
            for value in np.ravel(typed.value):
                yield float(value), typed.dimension or NO_DIMENSION, 0


def _bounds(options: OptimalOptions, wishes: Wishes) -> Iterator[tuple[tuple[float, float], Dimension]]:
    """The least and the largest value of the stop and of everything that is bounded."""
    yield options.stop, SECOND
    for bound in (*wishes.limits, *wishes.begin, *wishes.end):
        yield (bound.low, bound.high), wishes.dimensions[bound.watch]
