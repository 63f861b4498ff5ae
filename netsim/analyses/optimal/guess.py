"""First guesses: the start held for the whole span, or a straight way to a point that meets what is asked for at the
end."""

import numpy as np

from netsim.analyses.optimal.options import Limits
from netsim.analyses.optimal.program.blocks import NOWHERE, Block, Formula, Scaled
from netsim.analyses.optimal.program.points import Point
from netsim.analyses.optimal.program.radau import even
from netsim.analyses.optimal.program.transcription import Ends, Motion, Setting
from netsim.analyses.optimal.wishes import FINAL, INTEGRAL
from netsim.equations.kernels.symbolic import ca

Array = np.ndarray


def first_guess(setting: Setting, limits: Limits, end: Array) -> Motion:
    """On even intervals, split at instants that the objective reads: states on straight lines from the start to an end
    point, rates that go with them."""
    instants = [term.share for term in setting.wishes.terms if term.kind == FINAL]
    mesh, stop = even(limits.intervals, limits.points, instants), float(np.sqrt(setting.stop[0] * setting.stop[1]))
    point, start = setting.point, setting.point.start
    z = start[:, None] + (end - start)[:, None] * mesh.fractions
    moving = np.flatnonzero(point.d > 0)
    rate = (end - start)[point.first[moving]] / stop
    z[point.first[moving] + 1, 1:] += rate[:, None]
    return Motion(mesh, z, stop, np.zeros(len(setting.tuned.names)))


def whole_guess(setting: Setting, motion: Motion) -> tuple[Array, Array]:
    """All variables of a program, its integrals and extremes as those of a motion; and their sizes: an integral is as
    large as its integrand over the span."""
    mesh, z, stop, found, large = motion.mesh, motion.z, motion.stop, list[float](), list[float]()
    own = sizes(setting.point, z, stop)
    for term in setting.wishes.terms:
        places = setting.wishes.places[list(term.watches)]
        if term.kind == INTEGRAL:
            found.append(float(stop * mesh.quadrature @ z[places[0], 1:]))
        else:
            extreme = (np.array(term.signs)[:, None] * z[places]).max()
            found.append(float(z[places[0], mesh.point_at(term.share)] if term.kind == FINAL else extreme))
        large.append(float(own[places].max() * (stop if term.kind == INTEGRAL else 1.0)))
    size = np.concatenate([np.tile(own, z.shape[1]), [stop], large, setting.tuned.high - setting.tuned.low])
    return np.concatenate([z.T.ravel(), [stop], found, motion.tuned]), size


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


def nearest_end(point: Point, ends: Ends, watched: Array) -> Array:
    """The point nearest to the start, in parts of nominal sizes, whose states meet the constraints and what is asked
    for at the end; the start itself where none is found."""
    z = point.start
    if not len(ends.places) and not ends.bounds:
        return z
    size, count = sizes(point, z[:, None], 1.0), point.size
    rows = np.where(np.arange(point.rows) < point.equations[-1], 1 + np.arange(point.rows), NOWHERE)
    blocks = list(point.blocks(point.g[:, None], np.zeros(1, np.int64), rows[:, None]))
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
