"""Loads that make a mechanism follow a motion, by virtual work: an oracle that knows no joints, no constraints and no multipliers.

With the poses of all bodies as explicit functions of coordinates q, and w = sum W_k q'_k the angular velocity of a body with rotation R,

    Q_k = sum over bodies of  m (r'' - g) . dr/dq_k  +  (R J R' w)' . W_k.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np


@dataclass(frozen=True)
class Moving:
    """A body: mass (kg), inertia about its centre in its reference axes (kg m2), centre and rotation as expressions of q."""

    m: float
    J: Any
    r: Any
    R: Any


def about_z(angle: Any) -> Any:
    """The rotation by an angle in the plane."""
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))


def loads(n: int, bodies: Callable[[Any], Sequence[Moving]], gravity: Sequence[float]) -> Callable[..., np.ndarray]:
    """A function of (q, q', q'') that gives the n generalized forces."""
    q, qd, qdd = (ca.SX.sym(name, n) for name in ("q", "qd", "qdd"))
    total = ca.SX.zeros(n)
    for body in bodies(q):
        r, R = ca.vertcat(body.r), body.R
        Jr = ca.jacobian(r, q)
        turns = []
        for k in range(n):
            S = ca.jtimes(R, q, ca.DM.eye(n)[:, k]) @ R.T
            turns.append(ca.vertcat(S[2, 1], S[0, 2], S[1, 0]))
        W = ca.horzcat(*turns)
        spin = R @ ca.DM(body.J) @ R.T @ W @ qd
        rate = ca.jtimes(spin, q, qd) + ca.jtimes(spin, qd, qdd)
        a = ca.jtimes(Jr @ qd, q, qd) + Jr @ qdd
        total += body.m * Jr.T @ (a - ca.DM(list(gravity))) + W.T @ rate
    function = ca.Function("loads", [q, qd, qdd], [total])
    return lambda *motion: np.array(function(*motion)).ravel()


def motion_of(law: Callable[[Any], Any], times: np.ndarray) -> np.ndarray:
    """(value, rate, second rate) of a law of time at instants: rows by time."""
    t = ca.SX.sym("t")
    x = ca.vertcat(law(t))
    rate = ca.jtimes(x, t, 1)
    f = ca.Function("motion", [t], [x, rate, ca.jtimes(rate, t, 1)])
    return np.array([[np.array(v).ravel() for v in f(time)] for time in times])
