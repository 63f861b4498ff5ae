"""Forces of a machine whose movement is known, by Newton and Euler's equations for every body: dense, and with nothing of the package.

Movements are CasADi expressions of the time, so accelerations are exact; unknown forces and moments act along given directions.
"""

from dataclasses import dataclass

import casadi as ca
import numpy as np

TIME = ca.SX.sym("t")
GROUND = None


@dataclass(frozen=True)
class Body:
    """Mass, inertia about the centre in the axes of the reference placement, and where centre and rotation are."""

    m: float
    inertia: np.ndarray
    centre: ca.SX
    rotation: ca.SX


@dataclass(frozen=True)
class Wrench:
    """An unknown force along `direction` at `point`, or (point None) a moment about it: on b, and the opposite on a."""

    name: str
    a: int | None
    b: int | None
    direction: ca.SX
    point: ca.SX | None = None


def rate(x):
    return ca.jacobian(ca.vec(x), TIME).reshape(x.shape)


def solve(bodies, wrenches, gravity, times, weights=None, rows=range(6)):
    """name -> series. With fewer equations than unknowns, the named `weights` w say which |w u| is least."""
    right, left = [], []
    for i, body in enumerate(bodies):
        spin = rate(body.rotation) @ body.rotation.T
        w = ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0])
        momentum = body.rotation @ ca.DM(body.inertia) @ body.rotation.T @ w
        right.append(ca.vertcat(body.m * (rate(rate(body.centre)) - ca.DM(gravity)), rate(momentum)))
        columns = []
        for wrench in wrenches:
            sign = (wrench.b == i) - (wrench.a == i)
            force = ca.SX.zeros(3) if wrench.point is None else wrench.direction
            arm = wrench.direction if wrench.point is None else ca.cross(wrench.point - body.centre, wrench.direction)
            columns.append(sign * ca.vertcat(force, arm))
        left.append(ca.horzcat(*columns))
    keep = [6 * i + r for i in range(len(bodies)) for r in rows]
    function = ca.Function("newton_euler", [TIME], [ca.vertcat(*left)[keep, :], ca.vertcat(*right)[keep]])
    found = []
    for t in times:
        a, b = (np.array(x) for x in function(t))
        found.append(_least(a, b[:, 0], np.array([(weights or {}).get(w.name, 0.0) for w in wrenches])))
    return {w.name: np.array(found)[:, k] for k, w in enumerate(wrenches)}


def _least(a, b, weights):
    if not weights.any():
        x, _, rank, _ = np.linalg.lstsq(a, b, rcond=1e-12)
        assert rank == a.shape[1] == len(b), "the oracle's equations do not determine the forces"
        return x
    n, m = a.shape[1], len(b)
    matrix = np.block([[np.diag(weights**2), a.T], [a, np.zeros((m, m))]])
    return np.linalg.solve(matrix, np.concatenate([np.zeros(n), b]))[:n]


def bell(at, width):
    return ca.exp(-(((TIME - at) / width) ** 2))


def vector(*scalars):
    return ca.vertcat(*scalars)


def unit(x):
    return x / ca.sqrt(ca.dot(x, x))


def turned(angle):
    """Rotation about z."""
    return ca.vertcat(ca.horzcat(ca.cos(angle), -ca.sin(angle), 0), ca.horzcat(ca.sin(angle), ca.cos(angle), 0), ca.horzcat(0, 0, 1))
