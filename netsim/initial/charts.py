"""Charts of rotating nodes in a global vector: moved to the present rotation, so that psi = 0, psi' = w and psi'' = w'
(see netsim.core.rotation)."""

import numpy as np

from netsim.core.rotation import move_chart, quaternion_matrix, quaternion_of
from netsim.equations.system import System

Array = np.ndarray
NEAR = 0.1
"""A chart this near (rad) to its rotation stays where it is while an iteration goes on."""


def recharted(system: System, g: Array, all_of_them: bool = False) -> None:
    """Move, in place, the charts whose rotation has left them: or all of them."""
    layout = system.layout
    for f, i in enumerate(system.numbering.rotations):
        x, v, a = (g[first + i : first + i + 3] for first in (layout.x, layout.v, layout.a))
        if np.any(x != 0.0) and (all_of_them or np.max(np.abs(x)) > NEAR):
            quaternion = quaternions(system, g, [f])[0]
            move_chart(x, v, a, quaternion)
            quaternion_matrix(quaternion, g[layout.charts + 9 * f : layout.charts + 9 * f + 9])


def quaternions(system: System, g: Array, frames: list[int] | None = None) -> Array:
    """The charts of frames (all by default) as unit quaternions w, x, y, z: (frames, 4)."""
    layout = system.layout
    charts = g[layout.charts : layout.places].reshape(-1, 3, 3)
    chosen = charts if frames is None else charts[frames]
    return np.array([quaternion_of(chart) for chart in chosen]).reshape(-1, 4)


def way_between(system: System, before: Array, after: Array) -> Array:
    """How positions differ between two global vectors, by place in u: rotations in space by the coordinates of the
    second one in the chart of the first, 2 tan(angle/2) times the axis."""
    layout, points = system.layout, (before.copy(), after.copy())
    way = after[layout.x : layout.v] - before[layout.x : layout.v]
    for point in points:
        recharted(system, point, all_of_them=True)
    q, p = (quaternions(system, point) for point in points)
    turned = q[:, :1] * p[:, 1:] - p[:, :1] * q[:, 1:] - np.cross(p[:, 1:], q[:, 1:])
    cosine = (p * q).sum(axis=1)
    for f, i in enumerate(system.numbering.rotations):
        way[i : i + 3] = 2.0 * turned[f] / (cosine[f] or 1e-16)
    return way


def turn_between(a: Array, b: Array) -> float:
    """The angle (rad) of the rotation from one matrix to another."""
    left = a @ b.T
    return float(
        np.arctan2(
            np.linalg.norm([left[2, 1] - left[1, 2], left[0, 2] - left[2, 0], left[1, 0] - left[0, 1]]),
            np.trace(left) - 1,
        )
    )
