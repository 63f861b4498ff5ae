"""Torques that lead a shaft behind a cardan joint along a motion, from micrometres to kilometres."""

import numpy as np
import pytest

import netsim

BEND = 0.6
SHAFTS = """use spatial
b1 body          (s1)          m = {m!r} kg, I = {J!r}*diag(1, 0.8, 0.8) kg.m2, at = {first} m
b2 body          (s2)          m = {m!r} kg, I = {J!r}*diag(1, 0.8, 0.8) kg.m2, at = {second} m, axes = transpose([{b}, {q}, [0, 0, 1]])
j1 revolute      (ground, s1)  at = {first} m, axis = [1, 0, 0]
j2 revolute      (ground, s2)  at = {second} m, axis = {b}, d = {d!r} N.m.s/rad
u  universal     (s1, s2)      at = [0, 0, 0] m, axis1 = [0, 0, 1], axis2 = {q}
m1 hinge_torque  (ground, s1)  axis = [1, 0, 0], T = 0 N.m
save j1.q, j2.q, m1.T
"""


def shafts(size: float) -> tuple[str, float, float]:
    along, across = np.array([np.cos(BEND), np.sin(BEND), 0]), np.array([-np.sin(BEND), np.cos(BEND), 0])
    inertia, damping = 1e-2 * size**5, 3e-3 * size**5
    text = SHAFTS.format(
        m=size**3,
        J=inertia,
        d=damping,
        first=[-0.5 * size, 0, 0],
        second=(0.5 * size * along).tolist(),
        b=along.tolist(),
        q=across.tolist(),
    )
    return text, inertia, damping


@pytest.mark.parametrize("size", [1e-6, 1e-4, 1e-2, 1.0, 100.0, 1e3])
def test_torque_before_a_cardan_joint(size):
    """With q1 = atan2(sin(q2), cos(bend) cos(q2)), g = dq1/dq2 and shafts that stay where they are: T = J q1'' + (J q2'' + d q2')/g."""
    text, inertia, damping = shafts(size)
    motion = {"j2.q": "3 rad*time/(1 s) + 0.5 rad*sin(2*time/(1 s))"}
    result = netsim.load(text).inverse(track=motion, actuators=["m1.T"], stop=3.0, rtol=1e-6, sample=0.02)
    t = result["time"].values
    q2, rate, acceleration = 3 * t + 0.5 * np.sin(2 * t), 3 + np.cos(2 * t), -2 * np.sin(2 * t)
    bend = np.cos(BEND)
    under = bend**2 * np.cos(q2) ** 2 + np.sin(q2) ** 2
    g, slope = bend / under, -bend / under**2 * np.sin(2 * q2) * (1 - bend**2)
    torque = inertia * (g * acceleration + slope * rate**2) + (inertia * acceleration + damping * rate) / g
    np.testing.assert_allclose(result["j1.q"], np.unwrap(np.arctan2(np.sin(q2), bend * np.cos(q2))), atol=1e-5)
    np.testing.assert_allclose(result["m1.T"], torque, atol=1e-5 * np.abs(torque).max())
