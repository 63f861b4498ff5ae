"""What holds at the begin and at the end: conditions on a point that do not repeat what its equations already say."""

from collections.abc import Sequence

import numpy as np

from netsim.analyses.optimal.guess import sizes
from netsim.analyses.optimal.options import OptimalOptions, word
from netsim.analyses.optimal.program.points import Point
from netsim.analyses.optimal.program.transcription import Ends
from netsim.analyses.optimal.wishes import Bounded, Wishes
from netsim.text.syntax import Expr

Array = np.ndarray
DEPENDENT = 1e-7
"""A condition whose part that the equations leave open is smaller than this says nothing new."""


def begin_of(point: Point, options: OptimalOptions, wishes: Wishes, z: Array) -> Ends:
    """The begin: without the option, or with `rest` alone, every state is that of the start."""
    if options.starts:
        values = z[point.state_places].copy()
        if options.begin:
            values[_velocities(point)[point.state_places]] = 0.0
        return Ends(point.state_places, values, [b for b in wishes.begin if not b.exact], fixed=True)
    return _conditions(point, options.begin or (), wishes.begin, wishes.places, z)


def end_of(point: Point, options: OptimalOptions, wishes: Wishes, z: Array) -> Ends:
    """The end: what is listed; `begin` makes the motion periodic."""
    found = _conditions(point, options.end, wishes.end, wishes.places, z)
    if any(word(item) == "begin" for item in options.end):
        places = independent(point, point.state_places, z)
        return Ends(found.places, found.values, found.bounds, places)
    return found


def _conditions(point: Point, items: Sequence[Expr], bounds: Sequence[Bounded], watched: Array, z: Array) -> Ends:
    exact = [b for b in bounds if b.exact]
    places = [int(watched[b.watch]) for b in exact]
    values = [b.low for b in exact]
    if any(word(item) == "rest" for item in items):
        still = np.flatnonzero(_velocities(point))
        places += still.tolist()
        values += [0.0] * len(still)
    wanted = np.array(places, np.int64)
    kept = np.isin(wanted, independent(point, wanted, z))
    return Ends(wanted[kept], np.array(values)[kept], [b for b in bounds if not b.exact])


def _velocities(point: Point) -> Array:
    """Which variables of a point are velocities."""
    found = np.zeros(point.size, bool)
    found[point.first[: point.machine.system.layout.nk] + 1] = True
    return found


def independent(point: Point, places: Array, z: Array) -> Array:
    """Those places whose values the equations of the point and the places before them leave open, at z."""
    from scipy.linalg import null_space, qr

    if not len(places):
        return places
    matrix = point.slopes(point.g[:, None], z[:, None]).toarray()[: point.equations[-1]]
    matrix *= sizes(point, z[:, None], 1.0)
    matrix /= np.maximum(np.abs(matrix).max(axis=1, keepdims=True), 1e-300)
    free = null_space(matrix)
    if not free.shape[1]:
        return places[:0]
    open_ = free[places]
    _, upper, order = qr(open_.T, mode="economic", pivoting=True)
    left = np.abs(np.diag(upper))
    count = int((left > DEPENDENT * max(1.0, left.max(initial=0.0))).sum())
    return places[np.sort(order[:count])]
