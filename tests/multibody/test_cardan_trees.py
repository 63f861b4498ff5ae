"""Two shafts on hinges, joined by a cardan joint: its constraints are six, and the shafts turn; which are left out must not
depend on rounding."""

import numpy as np
import pytest

import netsim

TEXT = """use spatial
b1 body       (s1)          m = {mass!r} kg, I = {inertia!r}*diag(1, 0.8, 0.8) kg.m2, at = {first} m, axes = transpose([{a}, {p}, {z}])
b2 body       (s2)          m = {mass!r} kg, I = {inertia!r}*diag(1, 0.8, 0.8) kg.m2, at = {second} m, axes = transpose([{b}, {q}, {z}])
j1 revolute   (ground, s1)  at = {first} m, axis = {a}
j2 revolute   (ground, s2)  at = {second} m, axis = {b}
u  universal  (s1, s2)      at = [0, 0, 0] m, axis1 = {z}, axis2 = {q}
m1 hinge_angle (ground, s1) axis = {a}, q = 3 rad*time/(1 s), across = {z}
save j1.q, j2.q, u.q1, u.q2
"""


def shafts(size: float, turn: np.ndarray) -> str:
    bend = 0.6

    def shown(v):
        return "[" + ", ".join(repr(float(x)) for x in turn @ np.array(v)) + "]"

    along = np.array([np.cos(bend), np.sin(bend), 0.0])
    across = np.array([-np.sin(bend), np.cos(bend), 0.0])
    vectors = {"a": [1, 0, 0], "p": [0, 1, 0], "z": [0, 0, 1], "b": along, "q": across}
    places = {"first": [-0.5 * size, 0, 0], "second": 0.5 * size * along}
    return TEXT.format(mass=size**3, inertia=0.01 * size**5, **{name: shown(v) for name, v in (vectors | places).items()})


@pytest.mark.parametrize("formulation", ["absolute", "tree"])
@pytest.mark.parametrize("size", [1e-5, 1e-4, 1e-2, 1.0, 100.0])
def test_shafts_turn_by_the_law_of_the_cardan_joint(size, formulation):
    """tan(q1) = tan(q2)/cos(bend), for an angle q2 = 0 where the pin of the first shaft is orthogonal to both shafts."""
    random = np.random.default_rng(5)
    for _ in range(4):
        turn = np.linalg.qr(random.standard_normal((3, 3)))[0]
        turn = turn * np.sign(np.linalg.det(turn))
        result = netsim.load(shafts(size, turn)).transient(stop=2.0, sample=0.05, formulation=formulation)
        first = 3 * result["time"].values
        second = np.unwrap(np.arctan2(np.cos(0.6) * np.sin(first), np.cos(first)))
        np.testing.assert_allclose(result["j2.q"], second, atol=1e-5)
