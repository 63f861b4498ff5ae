"""First guesses: the start held for the whole span, or a straight way to a point that meets what is asked for at the
end."""

import numpy as np

from netsim.analyses.optimal.program.blocks import NOWHERE, Block, Formula, Scaled
from netsim.analyses.optimal.program.points import Point
from netsim.analyses.optimal.program.radau import Mesh
from netsim.analyses.optimal.program.transcription import Ends, Setting
from netsim.equations.kernels.symbolic import ca

Array = np.ndarray


def first_guess(setting: Setting, mesh: Mesh, start: Array, end: Array, stop: float) -> Array:
    """Variables at all points (variables, points): states on straight lines between two points, rates that go with
    them."""
    point = setting.point
    share = mesh.fractions
    z = start[:, None] + (end - start)[:, None] * share
    moving = np.flatnonzero(point.d > 0)
    rate = (end - start)[point.first[moving]] / stop
    z[point.first[moving] + 1, 1:] += rate[:, None]
    return z


def whole_guess(setting: Setting, mesh: Mesh, z: Array, stop: float) -> Array:
    """All variables of a program from those at its points: integrals and extremes as these say."""
    span = np.array([stop])
    found = []
    for term in setting.wishes.terms:
        every = z[setting.watched[list(term.watches)]]
        series = every[0]
        if term.kind == "integral":
            weights = (mesh.spans[:, None] * mesh.weights).ravel()
            found.append(float(stop * weights @ series[1:]))
        else:
            found.append(
                {"max": every.max(), "min": every.min(), "final": series[mesh.point_at(term.share)]}.get(
                    term.kind, abs(every).max()
                )
            )
    return np.concatenate([z.T.ravel(), span, found])


def sizes(point: Point, z: Array, stop: float) -> Array:
    """Typical sizes of a point's variables: nominal ones, or as large as they are in z; rates by the span."""
    found = np.ones(point.size)
    largest = np.abs(z).max(axis=1)
    nominal = point.size_of
    for order in range(int(point.d.max(initial=0)) + 1):
        of = np.flatnonzero(point.d >= order)
        kinematic = of < point.machine.system.layout.nk
        below = found[point.first[of] + order - 1] / stop if order else 0.0
        own = nominal[0, of] if order == 0 else np.where(kinematic & (order == 1), nominal[1, of], below)
        found[point.first[of] + order] = np.maximum(own, largest[point.first[of] + order])
    return found


def nearest_end(point: Point, ends: Ends, watched: Array, g: Array, z: Array) -> Array:
    """The point nearest to z, in parts of nominal sizes, whose states meet the constraints and what is asked for at the
    end; z itself where none is found."""
    if not len(ends.places) and not ends.bounds:
        return z
    size, count = sizes(point, z[:, None], 1.0), point.size
    rows = np.full(point.rows, NOWHERE)
    rows[: point.equations[-1]] = 1 + np.arange(point.equations[-1])
    blocks = list(point.blocks(g[:, None], np.zeros(1, np.int64), rows[:, None]))
    x, start = ca.SX.sym("x"), ca.SX.sym("start", 2)
    near = Formula(x, start, 0.5 * ((x - start[0]) * start[1]) ** 2)
    places = np.arange(count)[None]
    blocks.append(Block(near, places, np.stack([z, 1.0 / size]), np.zeros((1, count), np.int64)))
    low, high = np.full(count, -np.inf), np.full(count, np.inf)
    for bound in ends.bounds:
        low[watched[bound.watch]], high[watched[bound.watch]] = bound.low, bound.high
    low[ends.places] = high[ends.places] = ends.values
    scaled = Scaled(blocks, size, np.ones(1 + point.equations[-1]), {"max_iter": 200})
    found, stats = scaled.solved(x0=z / size, lbx=low / size, ubx=high / size, lbg=0.0, ubg=0.0)
    return np.asarray(found["x"]).ravel() * size if stats["success"] else z
