"""Beams in space: closed forms, the 45 degree bend of Bathe and Bolourchi against a Kirchhoff rod, and the plane as a special case."""

import math
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from test_beams import elastica, pluck_of, rotating, slowest_rate

import netsim

CANTILEVER = """
use spatial
world gravity = [0, 0, 0] m/s2
count n = 1
hold   spatial_weld  (ground, a)
beam1  {kind}        (a, b)  at1 = [0, 0, 0] m, at2 = [2, 0, 0] m, elements = n, {section}
{more}
run static()
save b.r, b.R
"""
NUMBERS = "line = 3 kg/m, EIy = 50 N.m2, EIz = 80 N.m2"
TIP = "tip spatial_frame (b) at = [2, 0, 0] m"
PUSH = "push world_force (b) F = [0, {0}, {1}] N, at = [2, 0, 0] m\n"
KINDS = {"spatial_flexible_link": (NUMBERS, "", 0.01), "spatial_beam": (NUMBERS + ", EA = 1e9 N, GJ = 40 N.m2", TIP, 1e-5)}
"""Section, what else is there, and the force: a beam of large displacements has the closed form in the limit of small ones."""


@pytest.mark.parametrize("kind", KINDS)
def test_tip_of_a_cantilever_in_both_planes(kind):
    """F L^3/(3 EI) and F L^2/(2 EI) by one element."""
    section, tip, force = KINDS[kind]
    result = netsim.load(CANTILEVER.format(kind=kind, section=section, more=PUSH.format(force, 2 * force) + tip)).static()
    assert abs(result["b.r.y"].item() / (force * 8 / 150) - 1) < 1e-12
    assert abs(result["b.r.z"].item() / (2 * force * 8 / 240) - 1) < 1e-12
    if kind == "spatial_beam":
        assert abs(result["b.R[2,1]"].item() / (force * 4 / 100) - 1) < 1e-12


@pytest.mark.parametrize("elements, coefficient", [(1, 16 / 15), (8, 36 / 35)])
def test_what_a_tip_keeps_back_is_of_second_order(elements, coefficient):
    """The elastica's w = (F L^3/3EI) (1 - 36/35 (w/L)^2 + ...); one element has 16/15 in its place."""
    section, tip, _ = KINDS["spatial_beam"]
    text = CANTILEVER.format(kind="spatial_beam", section=section, more=PUSH.format(0.1, 0) + tip)
    found = netsim.load(text, counts={"n": elements}).static()["b.r.y"].item()
    linear = 0.1 * 8 / 150
    assert (1 - found / linear) / (linear / 2) ** 2 == pytest.approx(coefficient, rel=1e-4 if elements == 1 else 1e-3)


def test_torsion_of_a_beam():
    section, tip, _ = KINDS["spatial_beam"]
    result = netsim.load(CANTILEVER.format(kind="spatial_beam", section=section, more="turn world_moment (b) M = [0.1, 0, 0] N.m\n" + tip)).static()
    assert abs(np.arctan2(result["b.R[3,2]"].item(), result["b.R[2,2]"].item()) - 0.1 * 2 / 40) < 1e-12


def test_sections_by_their_shape():
    """Tubes and rectangles against the formulas of their moments; torsion of a square by 0.1406 a^4 (Roark)."""
    tube = "E = 200 GPa, rho = 7800 kg/m3, r = 10 mm, ri = 8 mm"
    found = netsim.load(CANTILEVER.format(kind="spatial_flexible_link", section=tube, more=PUSH.format(0.01, 0.02))).static()
    assert abs(found["b.r.y"].item() / (0.01 * 8 / (3 * 200e9 * np.pi / 4 * (0.01**4 - 0.008**4))) - 1) < 1e-9
    bar = "E = 200 GPa, rho = 7800 kg/m3, width = 12 mm, height = 6 mm"
    found = netsim.load(CANTILEVER.format(kind="spatial_beam", section=bar, more=PUSH.format(0.01, 0.02) + TIP)).static()
    assert abs(found["b.r.y"].item() / (0.01 * 8 / (3 * 200e9 * 0.012 * 0.006**3 / 12)) - 1) < 1e-5
    assert abs(found["b.r.z"].item() / (0.02 * 8 / (3 * 200e9 * 0.006 * 0.012**3 / 12)) - 1) < 1e-5
    square = "E = 200 GPa, poisson = 0.25, rho = 7800 kg/m3, width = 6 mm, height = 6 mm"
    found = netsim.load(CANTILEVER.format(kind="spatial_beam", section=square, more="turn world_moment (b) M = [0.1, 0, 0] N.m\n" + TIP)).static()
    turn = np.arctan2(found["b.R[3,2]"].item(), found["b.R[2,2]"].item())
    assert abs(turn * 80e9 * 0.1406 * 0.006**4 / (0.1 * 2) - 1) < 2e-3


def bent(points: int) -> str:
    """An arc of 45 degrees and radius 100 in straight elements, square section 1 x 1, E = 1e7, no contraction; 600 across its plane at the tip."""
    angles = np.linspace(0, np.pi / 4, points + 1)
    at = [f"[{100 * (1 - math.cos(a))}, {100 * math.sin(a)}, 0] m" for a in map(float, angles)]
    section = "side = [0, 0, 1], line = 1 kg/m, spin = 0.1 kg.m, EA = 1e7 N, " + ", ".join(f"{n} = {1e7 / 12} N.m2" for n in ("GJ", "EIy", "EIz"))
    lines = ["use spatial", "world gravity = [0, 0, 0] m/s2", "hold spatial_weld (ground, p0)"]
    lines += [f"f{k} spatial_frame (p{k}) at = {at[k]}" for k in range(points + 1)]
    lines += [f"e{k} spatial_beam_element (p{k}, p{k + 1}) at1 = {at[k]}, at2 = {at[k + 1]}, {section}" for k in range(points)]
    lines += [f"push world_force (p{points}) F = [0, 0, 600] N, at = {at[points]}", "run static()", f"save p{points}.r"]
    return "\n".join(lines)


@cache
def rod(force: float) -> np.ndarray:
    """The tip of the same arc as an unshearable rod: r' = (1 + N/EA) t, R' = R [k]x, k = k0 + R' m/stiffness, m' = -r' x F; by collocation."""
    length, EA, stiffness = 100 * np.pi / 4, 1e7, 1e7 / 12

    def slope(s, y, f):
        found = np.empty_like(y)
        e = y[3:12].reshape(3, 3, -1)  # rows: tangent, towards the centre, across the plane
        push = np.array([0.0, 0.0, f])
        k = np.einsum("ijn,jn->in", e, y[12:]) / stiffness + np.array([0.0, 0.0, -0.01])[:, None]
        spin = np.einsum("in,ijn->jn", k, e)
        found[:3] = (1 + push @ e[0] / EA) * e[0]
        found[3:12] = np.array([np.cross(spin.T, e[i].T).T for i in range(3)]).reshape(9, -1)
        found[12:] = -np.cross(found[:3].T, push).T
        return found

    frame = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    s = np.linspace(0, length, 30)
    a = s / 100
    e = np.array([[np.sin(a), np.cos(a), 0 * a], [-np.cos(a), np.sin(a), 0 * a], [0 * a, 0 * a, 1 + 0 * a]])
    y = np.vstack([100 * (1 - np.cos(a)), 100 * np.sin(a), 0 * a, e.reshape(9, -1), np.zeros((3, len(s)))])
    for f in (force / 4, force / 2, force):
        found = solve_bvp(lambda s, y, f=f: slope(s, y, f), lambda u, v: np.concatenate([u[:3], u[3:12] - frame.ravel(), v[12:]]), s, y, tol=1e-7)
        assert found.success
        s, y = found.x, found.y
    return y[:3, -1]


def tip(n: int, force: float) -> np.ndarray:
    result = netsim.load(bent(n).replace("600] N", f"{force}] N")).static()
    return np.array([result[f"p{n}.r.{c}"].item() for c in "xyz"])


def test_bend_of_45_degrees():
    """Bathe and Bolourchi 1979: the polygon converges to the rod with second order; a load that lifts the tip by 18 % of the radius."""
    assert np.allclose(rod(600.0), (15.79, 47.23, 53.37), atol=0.15)  # Simo and Vu-Quoc 1986, with shear
    errors = [np.linalg.norm(tip(n, 10.0) - rod(10.0)) for n in (8, 16)]
    assert abs(np.log2(errors[0] / errors[1]) - 2) < 0.2
    assert np.linalg.norm(tip(8, 100.0) - rod(100.0)) < 2.5e-2


def test_elastica_out_of_the_plane():
    """The tip of a straight cantilever under a dead load across it, towards both sides at once: the plane's elastica, turned."""
    load = "push world_force (b) F = [0, 2.4, 3.2] N, at = [1, 0, 0] m\ntip spatial_frame (b) at = [1, 0, 0] m"
    section = "line = 1 kg/m, EIy = 1 N.m2, EIz = 1 N.m2, EA = 1e6 N, GJ = 1 N.m2"
    text = CANTILEVER.format(kind="spatial_beam", section=section, more=load).replace("[2, 0, 0]", "[1, 0, 0]")
    result = netsim.load(text, counts={"n": 8}).static()
    x, y = elastica(4.0)
    found = [result[f"b.r.{c}"].item() for c in "xyz"]
    assert np.allclose(found, (x, 0.6 * y, 0.8 * y), rtol=0, atol=1e-4)


BLADE = """
use spatial
world gravity = [0, 0, 0] m/s2
hub    revolute               (ground, a)  at = [0, 0, 0] m, axis = [0, 0, 1]
drive  hinge_speed            (ground, a)  w = 6 rad/s, axis = [0, 0, 1]
blade  spatial_shortened_link (a, b)       at1 = [0, 0, 0] m, at2 = [1, 0, 0] m, line = 1 kg/m, EIy = 1 N.m2, elements = {n}
{pluck}
run    recursion(stop = 4 s, rtol = 1e-9, from = rest, sample = 10 ms)
save   blade.q[{n}].u
"""


def test_a_blade_stiffens_in_both_planes():
    """Plucked across the plane of rotation its rate is that of D. Hodges and M. Rutkowski 1981 (7.3604 at W = 6), in the plane w^2 = flap^2 - W^2;
    shortenings vary linearly along an element: order 2."""
    lag = rotating(6.0)
    flap = np.hypot(lag, 6.0)
    assert abs(flap[0] - 7.3604) < 1e-4
    errors = []
    for n in (2, 4):
        pluck = pluck_of(n, "start blade.q[{k}].u = [{u}, {u}] m\nstart blade.q[{k}].s = [{s}, {s}]")
        found = netsim.load(BLADE.format(n=n, pluck=pluck)).samples()[0]
        ends = [found.series(f"blade.q[{n}].u.{c}") for c in "xy"]
        errors.append([slowest_rate(found.time, seen, known) / known[0] - 1 for seen, known in zip(ends, (lag, flap))])
    assert np.abs(errors[1]).max() < 0.011
    assert np.abs(np.log2(np.divide(*errors)) - 2).max() < 0.25


PENDULUM = """
use spatial
world gravity = [4, -9, 3] m/s2
hold  universal (ground, a) at = [0, 0, 0] m, axis1 = [0, 0, 1], axis2 = [0, 1, 0]
link  {kind}    (a, b)      at1 = [0, 0, 0] m, at2 = [1, 0, 0] m, side = [0, 1, 0], line = 5 kg/m, EIy = 60 N.m2, EIz = 80 N.m2, {more}
end_  marker    (b)    at = [1, 0, 0] m
run   {run}(stop = 0.3 s, rtol = {rtol}, from = rest, sample = 0.1 s)
save  end_.r
"""


def test_links_that_draw_back_come_near_the_corotational_beam():
    """Directions of the chord of a soft pendulum in space: the floating frame's links keep their length, those that draw back do not, and are at
    least three times nearer to the beam for large displacements."""

    def chord(kind: str, more: str, run: str = "recursion", rtol: str = "1e-8") -> np.ndarray:
        found = netsim.load(PENDULUM.format(kind=kind, more=more, run=run, rtol=rtol)).samples()[0]
        r = np.array([found.series(f"end_.r.{c}") for c in "xyz"])
        return r / np.linalg.norm(r, axis=0)

    large = chord("spatial_beam", "GJ = 100 N.m2, EA = 1e6 N, elements = 6", "transient", "1e-6")
    kept, back = (np.abs(chord(kind, "elements = 3") - large).max() for kind in ("spatial_flexible_link", "spatial_shortened_link"))
    assert back < kept / 3 and back < 2e-3, (kept, back)
