# ruff: noqa: E501  (netlists in a line read best)
"""Mechanical examples of the Modelica Standard Library as a user writes them, against closed forms, conservation laws and independent integrations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import netsim

G = 9.80665
SPACE = "use spatial\nworld gravity = [0, -9.80665, 0] m/s2\n"


def run(text, **options):
    (samples,) = netsim.load(text).samples(options)
    assert samples.finished, samples.message
    return samples


def vector(samples, name, size=3):
    return np.array([samples.series(f"{name}.{c}") for c in "xyz"[:size]])


def refused(text):
    with pytest.raises(netsim.NetsimError) as caught:
        netsim.load(text).samples()
    return str(caught.value)


# ------------------------------------------------------------------------------------------------ springs and lines


def test_massless_nodes_hang_between_springs_only():
    """In the plane and in space, two of them in a row; everywhere the forces at a knot balance, and energy stays."""
    springs = [("ground", "k1", (0, 0), 100), ("ground", "k1", (-0.3, 0), 100), ("ground", "k2", (1, 0), 100), ("ground", "k2", (1.3, 0), 100)]
    drawn = {"k1": (0, -0.5), "k2": (1, -0.5), "b": (0.5, -1)}
    springs += [("k1", "k2", drawn["k1"], 50), ("k1", "b", drawn["k1"], 80), ("k2", "b", drawn["k2"], 80)]
    courses = []
    for prefix, size, body in (
        ("planar_", 2, "planar_body (b) m = 1 kg, I = 0.01 kg.m2"),
        ("", 3, "body (b) m = 1 kg, I = diag(0.01, 0.01, 0.01) kg.m2"),
    ):

        def at(point, size=size):
            return f"[{', '.join(map(str, [*point, 0][:size]))}] m"

        text = f"use {'planar' if prefix else 'spatial'}\nworld gravity = [0, -9.81, 0] m/s2\nhung {body}, at = {at(drawn['b'])}\n"
        text += "".join(f"{k}_ {prefix}knot ({k}) at = {at(drawn[k])}\n" for k in ("k1", "k2"))
        for i, (a, b, end, c) in enumerate(springs):
            text += f"s{i} {prefix}line_spring ({a}, {b}) at1 = {at(end)}, at2 = {at(drawn[b])}, c = {c} N/m, l0 = 0.1 m\n"
        samples = run(text + "start b.v.x = 1 m/s\nrun transient(stop = 1 s, sample = 0.1 s)\nsave b.r, k1.r, k2.r\n", rtol=1e-8)
        assert np.ptp(samples.energy[:, 0]) < 1e-6 * abs(samples.energy[0, 0])
        points = {"k1": vector(samples, "k1.r", 2), "k2": vector(samples, "k2.r", 2), "b": vector(samples, "b.r", 2)}
        for knot in ("k1", "k2"):
            pull = np.zeros_like(points["b"])
            for a, b, end, c in springs:
                if knot in (a, b):
                    other = points[a if b == knot else b] if "ground" not in (a, b) else np.array(end)[:, None]
                    gap = points[knot] - other
                    length = np.linalg.norm(gap, axis=0)
                    pull += c * (length - 0.1) * gap / length
            assert np.abs(pull).max() < 1e-6
        courses.append(points)
    for name in drawn:
        assert courses[1][name] == pytest.approx(courses[0][name], abs=1e-6)


def test_a_massless_node_is_no_part_of_a_tree():
    text = SPACE + "ball particle (b) m = 1 kg, at = [0, -2, 0] m\nmiddle knot (k) at = [0, -1, 0] m\n"
    text += "s1 line_spring (ground, k) at1 = [0, 0, 0] m, at2 = [0, -1, 0] m, c = 100 N/m\ns2 line_spring (k, b) at1 = [0, -1, 0] m, at2 = [0, -2, 0] m, c = 100 N/m\n"
    message = refused(text + "run transient(stop = 0.1 s, formulation = tree)\n")
    assert "E439" in message and "springs at a massless node" in message


def test_spring_with_mass():
    """Elementary.SpringWithMass: the mass in the spring's middle moves half as fast as its end."""
    text = (
        SPACE
        + "hung particle (b) m = 1 kg, at = [0, -0.3, 0] m\nspring line_spring (ground, b) at1 = [0, 0, 0] m, at2 = [0, -0.3, 0] m, c = 40 N/m, l0 = 0.2 m\n"
    )
    samples = run(text + "coil line_mass (ground, b) at1 = [0, 0, 0] m, at2 = [0, -0.3, 0] m, m = 0.5 kg\nrun transient(stop = 2 s)\nsave b.r.y\n")
    rest = -0.2 - 1.25 * G / 40
    assert samples.series("b.r.y") == pytest.approx(rest + (-0.3 - rest) * np.cos(np.sqrt(40 / 1.125) * samples.time), abs=1e-5)


def test_line_force_with_two_masses():
    """Elementary.LineForceWithTwoMasses: a cylinder of two bodies on joints beside a line with two masses."""
    text = """use spatial
use translational
world gravity = [0, -9.80665, 0] m/s2
let   u = [0.7, 1.2, 0]/sqrt(0.7^2 + 1.2^2)
rock1 box_body  (b1)  rho = 7700 kg/m3, l = [0.7, 0.07, 0.07] m, at = [0.35, 0.3, 0] m
turn1 revolute  (ground, b1)  at = [0, 0.3, 0] m, axis = [0, 0, 1]
half1 particle  (p1)  m = 1 kg, at = [0, -0.9, 0] m + 0.2 m*u, size = 1 mm
half2 particle  (p2)  m = 1 kg, at = [0.7, 0.3, 0] m - 0.2 m*u, size = 1 mm
foot  universal (ground, p1)  at = [0, -0.9, 0] m, axis1 = [0, 0, 1], axis2 = [-u.y, u.x, 0]
slide prismatic (p1, p2)  at = [0, -0.9, 0] m, axis = u, d = 3 N.s/m
head  spherical (p2, b1)  at = [0.7, 0.3, 0] m
rock2 box_body  (b2)  rho = 7700 kg/m3, l = [0.7, 0.07, 0.07] m, at = [0.35, 0.3, 0.3] m
turn2 revolute  (ground, b2)  at = [0, 0.3, 0.3] m, axis = [0, 0, 1]
line  line_driven (ground, b2, s)  at1 = [0, -0.9, 0.3] m, at2 = [0.7, 0.3, 0.3] m
damp  damper    (s, ground)  d = 3 N.s/m
ma    line_mass (ground, b2)  at1 = [0, -0.9, 0.3] m, at2 = [0.7, 0.3, 0.3] m, m = 1 kg, share = 0, beyond = 0.2 m
mb    line_mass (ground, b2)  at1 = [0, -0.9, 0.3] m, at2 = [0.7, 0.3, 0.3] m, m = 1 kg, share = 1, beyond = -0.2 m
run   transient(stop = 1 s, sample = 50 ms)
save  turn1.q, turn2.q, turn1.force, turn2.force
"""
    samples = run(text)
    assert samples.series("turn1.q") == pytest.approx(samples.series("turn2.q"), abs=1e-6) and np.ptp(samples.series("turn1.q")) > 0.5
    assert vector(samples, "turn1.force") == pytest.approx(vector(samples, "turn2.force"), rel=1e-4, abs=1e-2)


def test_heat_losses_of_multibody():
    """Elementary.HeatLosses: dampers on lines, beside a spring and behind one; all that motion loses flows into the air."""
    text = "use spatial\nuse translational\nuse thermal\nuse couplings\nworld gravity = [0, -9.80665, 0] m/s2\n"
    for i, x in enumerate((0.3, 0.6, 0.9), 1):
        text += f"body{i} body (b{i}) m = 1 kg, I = diag(0.1, 0.1, 0.1) kg.m2, at = [{x}, -0.4, 0] m\nstart b{i}.w = [0, 0, 2] deg/s\n"
        text += f"line{i} line_driven (ground, b{i}, s{i}) at1 = [{x}, 0, 0] m, at2 = [{x}, -0.2, 0] m\n"
        text += f"c{i} spring (s{i}, ground) c = 30 N/m, l = {0.2 if i == 3 else 0.1} m\n"
    text += "d1 heated_damper (s1, ground, wall) d = 2 N.s/m\nd2 heated_damper (s2, ground, wall) d = 2 N.s/m\n"
    text += "c4 spring (s3, between) c = 30 N/m, l = 0.1 m\nd3 heated_damper (between, ground, wall) d = 2 N.s/m\n"
    text += "air forced_convection (wall, room) G = 20 W/K\noutside temperature (room) T = 25 degC\nrun transient(stop = 2 s, sample = 2 ms)\n"
    samples = run(text + "save b1.r, b2.r, b3.r, s3.v, between.v, air.q, c4.f\n")
    assert vector(samples, "b1.r")[1:] == pytest.approx(vector(samples, "b2.r")[1:], abs=1e-6)
    assert samples.series("c4.f") == pytest.approx(2 * samples.series("between.v"), abs=1e-6)
    lost = samples.energy[0, 0] - samples.energy[-1, 0]
    assert np.trapezoid(samples.series("air.q"), samples.time) == pytest.approx(lost, rel=1e-4) and lost > 1


def test_spring_constant_of_a_given_rest():
    """Elementary.InitSpringConstant: half the weight on an elongation of 0.1 m."""
    text = "use spatial\nworld gravity = [0, -9.81, 0] m/s2\nbar body (b) m = 1 kg, I = diag(0.001, 0.001, 0.001) kg.m2, at = [0.5, 0, 0] m\n"
    text += "turn revolute (ground, b) at = [0, 0, 0] m, axis = [0, 0, 1], d = 0.1 N.m.s/rad\n"
    text += "pull line_force (ground, b) at1 = [1, 0.2, 0] m, at2 = [1, 0, 0] m, F = 0 N\nlet c = -pull.F/(pull.l - 0.1 m)\n"
    samples = run(text + "run inverse(track = [turn.q = 0], actuators = [pull.F], stop = 0.2 s, step = 0.1 s)\nsave c\n")
    assert samples.series("c") == pytest.approx(49.05, rel=1e-9)


def test_double_pendulum_begins_with_its_tip():
    """Elementary.DoublePendulumInitTip: two bars of 0.5 m whose end is where the start says."""
    text = SPACE + "b1 box_body (a) rho = 7700 kg/m3, l = [0.5, 0.06, 0.06] m, at = [0.25, 0, 0] m\n"
    text += "b2 box_body (b) rho = 7700 kg/m3, l = [0.5, 0.06, 0.06] m, at = [0.75, 0, 0] m\nj1 revolute (ground, a) at = [0, 0, 0] m\nj2 revolute (a, b) at = [0.5, 0, 0] m\n"
    text += "tip marker (b) at = [1, 0, 0] m\nstart tip.r.x = 0.7 m\nstart tip.r.y = 0.3 m\nguess j2.q = -90 deg\nrun transient(stop = 0.2 s)\nsave j1.q, j2.q, tip.r\n"
    samples = run(text)
    bend = np.arccos((0.58 - 0.5) / 0.5)
    assert abs(samples.series("j2.q")[0]) == pytest.approx(bend, abs=1e-7)
    assert samples.series("j1.q")[0] + samples.series("j2.q")[0] / 2 == pytest.approx(np.arctan2(0.3, 0.7), abs=1e-7)


def test_two_slides_in_a_row():
    """Constraints.PrismaticConstraint: a body that moves along two axes, without turning, on a spring without length: two oscillators."""
    text = SPACE + "let X = [[1, 0, 0], [0, cos(10 deg), -sin(10 deg)], [0, sin(10 deg), cos(10 deg)]]\n"
    text += "let Y = [[cos(55 deg), 0, sin(55 deg)], [0, 1, 0], [-sin(55 deg), 0, cos(55 deg)]]\nlet R = X*Y\nlet o = [0.2, -0.3, 0.2] m\n"
    text += "px prismatic (ground, slide) at = o, axis = R*[1, 0, 0]\nmiddle link_frame (slide) at = o\npy prismatic (slide, b) at = o, axis = R*[0, 1, 0]\n"
    text += "part body (b) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = o + R*[0.2, 0, 0] m, axes = R\n"
    text += "s line_spring (ground, b) at1 = [0.8, 0, 0.3] m, at2 = o + R*[0.4, 0, 0] m, c = 20 N/m, l0 = 0 m\nrun transient(stop = 3 s)\nsave px.q, py.q\n"
    samples = run(text)
    a, b = np.radians([10, 55])
    turn = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]]) @ [
        [np.cos(b), 0, np.sin(b)],
        [0, 1, 0],
        [-np.sin(b), 0, np.cos(b)],
    ]
    away = np.array([0.8, 0, 0.3]) - [0.2, -0.3, 0.2] - turn @ [0.4, 0, 0] + [0, -G / 20, 0]
    for name, axis in (("px.q", 0), ("py.q", 1)):
        assert samples.series(name) == pytest.approx(turn[:, axis] @ away * (1 - np.cos(np.sqrt(20) * samples.time)), abs=1e-5)


# ------------------------------------------------------------------------------------------------ loops


def test_planar_loops():
    """Loops.PlanarLoops_analytic: three four-bars of hinges in a row, closed by circles' intersections; the drive gives what is stored."""
    across, up, bars = np.array([0.5, 0]), np.array([0, 0.5]), [np.array(p) for p in ([0.1, 0.5], [0.1, 0.6], [0, 0.55])]
    text = SPACE + "drive hinge_angle (ground, k) q = 0.7 rad*sin(2*pi*1 Hz*time)\nturn revolute (ground, k) at = [0, 0, 0] m\ncrank link_frame (k)\n"
    before, node = up, "k"

    def at(point):
        return f"[{point[0]}, {point[1]}, 0] m"

    for i, bar in enumerate(bars, 1):
        foot = i * across
        text += f"b{i} particle (c{i}) m = 1 kg, at = {at((before + foot + bar) / 2)}\na{i} revolute ({node}, c{i}) at = {at(before)}\n"
        text += f"m{i} revolute (c{i}, d{i}) at = {at(foot + bar)}\ne{i} link_frame (d{i}) at = {at(foot)}\ng{i} revolute (ground, d{i}) at = {at(foot)}\n"
        before, node = foot + bar, f"d{i}"
    samples = run(text + "run transient(stop = 1 s, sample = 50 ms)\nsave turn.q, g1.q, g2.q, g3.q\n")
    energy = samples.energy
    assert np.abs(energy[:, 0] - energy[0, 0] - energy[:, 1]).max() < 1e-5 * np.ptp(energy[:, 0])
    angle, bar, foot = samples.series("turn.q"), up, np.zeros(2)
    for i, next_bar in enumerate(bars, 1):
        length = np.linalg.norm(foot + bar - i * across - next_bar)

        def end(q, v):
            return np.array([np.cos(q) * v[0] - np.sin(q) * v[1], np.sin(q) * v[0] + np.cos(q) * v[1]])

        found = samples.series(f"g{i}.q")
        gap = foot[:, None] + end(angle, bar) - (i * across)[:, None] - end(found, next_bar)
        assert np.linalg.norm(gap, axis=0) == pytest.approx(length, abs=1e-8)
        angle, bar, foot = found, next_bar, i * across


V6 = """
use spatial
use rotational
use translational
use signal
world gravity = [0, -9.80665, 0] m/s2

component gas_force (p : translational) "pressure above a piston; p.x from the top of the stroke down"
  param  L : m > 0
  branch p -> ground : s, v, f
  let    x = 1 - s/L
  let    press = (if v < 0 then (if x < 0.987 then 177.4132*x^4 - 287.2189*x^3 + 151.8252*x^2 - 24.9973*x + 2.4
                  else 2836360*x^4 - 10569296*x^3 + 14761814*x^2 - 9158505*x + 2129670)
                 else (if x > 0.93 then -3929704*x^4 + 14748765*x^3 - 20747000*x^2 + 12964477*x - 3036495
                  else 145.930*x^4 - 131.707*x^3 + 17.3438*x^2 + 17.9272*x + 2.4))
  f = -1e5 Pa*press*pi*(0.1 m)^2/4
  source
end

model engine_cylinder (shaft : spatial) "crank throw, rod and piston"
  param x : m
  param offset : rad "of the crank"
  param tilt : rad   "of the cylinder"
  param rho : kg/m3 = 7700 kg/m3
  let   e = [0, cos(offset), sin(offset)]
  let   u = [0, cos(tilt), sin(tilt)]
  let   middle = [x + 0.15 m, 0 m, 0 m]
  let   reach = sqrt((0.2 m)^2 - (0.1 m)^2*(1 - dot(e, u)^2)) + 0.1 m*dot(e, u)
  let   pin = middle + 0.1 m*e
  let   wrist = middle + reach*u
  let   w = (wrist - pin)/norm(wrist - pin)
  let   crank = transpose([[1, 0, 0], e, [0, -sin(offset), cos(offset)]])
  c1    cylinder_body   (k1)  rho = rho, r = 25 mm, l = 0.12 m, at = [x + 0.05 m, 0 m, 0 m], axis = [1, 0, 0]
  c2    box_body        (k2)  rho = rho, l = [0.02, 0.1, 0.05] m, at = [x + 0.1 m, 0 m, 0 m] + 0.05 m*e, axes = crank
  c3    cylinder_body   (k3)  rho = rho, r = 15 mm, l = 0.12 m, at = pin, axis = [1, 0, 0]
  c4    box_body        (k4)  rho = rho, l = [0.02, 0.1, 0.05] m, at = [x + 0.2 m, 0 m, 0 m] + 0.05 m*e, axes = crank
  w1    spatial_weld    (shaft, k1)
  w2    spatial_weld    (k1, k2)
  w3    spatial_weld    (k2, k3)
  w4    spatial_weld    (k3, k4)
  big   point_on_line   (k3, rod)  at = pin, axis = [1, 0, 0]
  rod_  box_body        (rod)  rho = rho, l = [0.02, 0.2, 0.06] m, at = (pin + wrist)/2, axes = transpose([[1, 0, 0], w, [0, -w.z, w.y]])
  small revolute        (piston, rod)  at = wrist, axis = [1, 0, 0]
  head  cylinder_body   (piston)  rho = rho, r = 50 mm, l = 0.1 m, at = wrist + 0.05 m*u, axis = u
  slide prismatic_driven (ground, piston, below)  at = wrist, axis = -u
  gas   gas_force       (top)  L = 0.22 m
  start_ weld           (top, below)  l = 0.32 m - reach
end

crank   link_frame      (s)
bearing revolute_driven (ground, s, shaft)  at = [0, 0, 0] m, axis = [1, 0, 0]
z1      engine_cylinder (s)  x = 0 m, offset = -30 deg, tilt = -30 deg
z2      engine_cylinder (s)  x = 0.2 m, offset = 90 deg, tilt = 30 deg
z3      engine_cylinder (s)  x = 0.4 m, offset = 210 deg, tilt = -30 deg
z4      engine_cylinder (s)  x = 0.6 m, offset = 210 deg, tilt = 30 deg
z5      engine_cylinder (s)  x = 0.8 m, offset = 90 deg, tilt = -30 deg
z6      engine_cylinder (s)  x = 1 m, offset = -30 deg, tilt = 30 deg
meter   torque_sensor   (shaft, wheel, torque)
load    inertia         (wheel)  J = 1 kg.m2
drag    quadratic_load  (wheel)  T = -100 N.m, w = 200 rad/s
smooth  critical_damping (torque, filtered)  n = 2, f = 5 Hz
start   wheel.w = 10 rad/s
run     transient(stop = 0.1 s, sample = 1 ms)
save    wheel.w, wheel.phi, torque
"""


def pressure(x, v):
    if v < 0:
        return np.polyval([177.4132, -287.2189, 151.8252, -24.9973, 2.4] if x < 0.987 else [2836360, -10569296, 14761814, -9158505, 2129670], x)
    return np.polyval([-3929704, 14748765, -20747000, 12964477, -3036495] if x > 0.93 else [145.930, -131.707, 17.3438, 17.9272, 2.4], x)


def test_engine_v6():
    """Loops.EngineV6: 96 elements, six loops, one freedom; against its own equation M(q) q'' + M'(q) q'^2/2 = Q(q, q')."""
    samples = run(V6)
    offsets, tilts = np.radians([-30, 90, 210, 210, 90, -30]), np.radians([-30, 30, -30, 30, -30, 30])
    rho = 7700
    shaft, web, pin = (rho * v for v in (np.pi * 0.025**2 * 0.12, 0.02 * 0.1 * 0.05, np.pi * 0.015**2 * 0.12))
    rod, head = rho * 0.02 * 0.2 * 0.06, rho * np.pi * 0.05**2 * 0.1
    whole = shaft * 0.025**2 / 2 + 2 * web * ((0.1**2 + 0.05**2) / 12 + 0.05**2) + pin * (0.015**2 / 2 + 0.1**2)

    def parts(q):
        """Of every cylinder: reach of the piston, its rate by q, M, and energy in the field of gravity."""
        a = q + offsets - tilts
        root = np.sqrt(0.04 - (0.1 * np.sin(a)) ** 2)
        reach, rate = 0.1 * np.cos(a) + root, -0.1 * np.sin(a) - 0.01 * np.sin(a) * np.cos(a) / root
        middle = np.array([0.05 * np.cos(a) + reach / 2, 0.05 * np.sin(a)])  # of the rod, along the cylinder and across
        speed = np.array([-0.05 * np.sin(a) + rate / 2, 0.05 * np.cos(a)])
        turn = 0.1 * np.cos(a) / root  # of the rod's lean
        mass = whole + head * rate**2 + rod * (speed**2).sum(axis=0) + rod * (0.2**2 + 0.06**2) / 12 * turn**2
        crank = (2 * web * 0.05 + pin * 0.1) * np.cos(q + offsets)
        height = crank + head * (reach + 0.05) * np.cos(tilts) + rod * (middle[0] * np.cos(tilts) - middle[1] * np.sin(tilts))
        return reach, rate, 1 + mass.sum(), G * height.sum()

    def rates(t, state):
        q, w = state
        reach, rate, mass, _ = parts(q)
        (_, _, m1, v1), (_, _, m2, v2) = parts(q - 1e-5), parts(q + 1e-5)
        gas = sum(1e5 * pressure(1 - (0.32 - r) / 0.22, -d * w) * np.pi * 0.01 / 4 * -d for r, d in zip(reach, rate))
        return [w, (gas - 100 * w * abs(w) / 200**2 - (v2 - v1) / 2e-5 - (m2 - m1) / 4e-5 * w**2) / mass]

    found = solve_ivp(rates, (0, 0.1), [0, 10], t_eval=samples.time, rtol=1e-8, atol=1e-8, max_step=1e-3).y
    assert samples.series("wheel.w") == pytest.approx(found[1], rel=1e-4)
    assert samples.series("wheel.phi") == pytest.approx(found[0], abs=1e-4)
    assert np.ptp(samples.series("wheel.w")) > 50


# ------------------------------------------------------------------------------------------------ shafts in bodies


def test_moving_drive():
    """Rotational3DEffects.MovingActuatedDrive: a disc on a hinge of a turning frame, and a rotor in one, with all reactions."""
    text = "use spatial\nuse rotational\nworld gravity = [0, 0, 0] m/s2\n"
    for i in (1, 2):
        text += f"h{i} hinge_angle (ground, a{i}) axis = [0, 1, 0], q = 2 rad*sin(2*pi*1 Hz*time)\nr{i} revolute (ground, a{i}) at = [0, 0, 0] m, axis = [0, 1, 0]\nl{i} link_frame (a{i})\n"
    text += "rv revolute (a1, c) at = [0, 0, 0] m, axis = [1, 0, 0]\ncy link (c) m = 0 kg, I = diag(2, 0, 0) kg.m2\n"
    text += "t1 hinge_torque (a1, c) axis = [1, 0, 0], T = sine(time, 1 N.m, 1 Hz)\nro rotor (a2, s) J = 2 kg.m2, axis = [1, 0, 0]\nt2 torque (s) T = sine(time, 1 N.m, 1 Hz)\n"
    samples = run(text + "run transient(stop = 1.1 s, sample = 20 ms)\nsave rv.q, s.phi, r1.moment, r2.moment\n")
    w = 2 * np.pi
    wanted = 0.5 / w * (samples.time - np.sin(w * samples.time) / w)
    assert samples.series("rv.q") == pytest.approx(wanted, abs=1e-6) and samples.series("s.phi") == pytest.approx(wanted, abs=1e-6)
    assert vector(samples, "r1.moment") == pytest.approx(vector(samples, "r2.moment"), abs=1e-4)


def test_bevel_gear():
    """Rotational3DEffects.BevelGear1D: two rotors in a body, geared; free in space, the whole keeps its angular momentum and turns as its parts must."""
    text = "use spatial\nuse rotational\nworld gravity = [0, 0, 0] m/s2\nhousing body (b) m = 7 kg, I = diag(2, 3, 4) kg.m2\nr1 rotor (b, s1) J = 1.1 kg.m2, axis = [1, 0, 0]\n"
    text += "r2 rotor (b, s2) J = 18.2 kg.m2, axis = [0, 1, 0]\nbevel gear (s1, s2) ratio = 10\ndrive torque (s1) T = sine(time, 140 N.m, 2 Hz)\n"
    samples = run(text + "run transient(stop = 1 s, sample = 20 ms)\nsave b.w, b.R, housing.spin, s1.w, s2.w\n")
    x, y = (np.array([samples.series(f"b.R[{i},{k}]") for i in (1, 2, 3)]) for k in (1, 2))
    w = vector(samples, "b.w")
    whole = (
        vector(samples, "housing.spin") + 1.1 * (samples.series("s1.w") + (w * x).sum(0)) * x + 18.2 * (samples.series("s2.w") + (w * y).sum(0)) * y
    )
    assert np.abs(whole).max() < 1e-5 * 18.2 * np.abs(samples.series("s2.w")).max() and np.abs(w).max() > 0.1
    assert samples.series("s1.w") == pytest.approx(10 * samples.series("s2.w"), rel=1e-9, abs=1e-9)


# ------------------------------------------------------------------------------------------------ shafts


def test_gear_whose_driving_side_is_not_obvious():
    """Rotational.LossyGearDemo3: the second rotor drives the first through losses, 2 N.m at the first, until both rest."""
    text = "use rotational\nj1 inertia (a) J = 1e-3 kg.m2\nmesh lossy_gear (a, b) eta1 = 0.25, T1 = 0.625 N.m, T2 = 2.5 N.m\nj2 inertia (b) J = 1e-3 kg.m2\n"
    samples = run(
        text + "late torque (b) T = 1 N.m*step(time - 0.5 s)\nstart b.w = 10 rad/s\nrun transient(stop = 1 s, sample = 0.5 ms)\nsave a.w, mesh.mode\n"
    )
    assert samples.series("a.w") == pytest.approx(np.maximum(10 - 2000 * samples.time, 0), abs=1e-6) and samples.series("mesh.mode")[-1] == 0


def test_gear_and_bearing_that_stick():
    """Rotational.LossyGearDemo2: neither gear nor bearing gives energy back, and both stick for a time and slide in either direction."""
    text = "use rotational\ndrive torque (i) T = sine(time, 10 N.m, 1 Hz)\nbearing dry_bearing (i, ground) T = 0 N.m, speeds = [0, 1] rad/s, torques = [0.5, 1] N.m\n"
    text += "j1 inertia (i) J = 1 kg.m2\nmesh lossy_gear (i, o) ratio = 2, eta1 = 0.5\nj2 inertia (o) J = 1.5 kg.m2\nload torque (o) T = -10 N.m + 2.5 N.m/s*time\n"
    samples = run(text + "run transient(stop = 0.5 s, sample = 1 ms)\nsave i.w, mesh.mode, bearing.mode\n")
    assert (
        np.diff(samples.energy[:, 2]).min() > -1e-9
        and {-1, 0, 1} <= set(samples.series("mesh.mode"))
        and {-1, 0, 1} <= set(samples.series("bearing.mode"))
    )


@pytest.mark.parametrize("kind", ["clutch", "heated_clutch"])
def test_gear_shift(kind):
    """Rotational.SimpleGearShift: the brake holds the ring, 1 to 2.5; the clutch joins sun and ring, 1 to 1. Torques of the closed forms."""
    text = "use rotational\nlet engaged = 1\ndrive torque (e) T = 20 N.m*step(time, at = 0.5 s)\nengine inertia (e) J = 1 kg.m2\nplanets planetary_gear (e, l, r) ratio = 1.5\n"
    text += "load inertia (l) J = 10 kg.m2\nair quadratic_load (l) T = -20 N.m, w = 100 rpm\n"
    text += "cl clutch (e, r) N = 1 kN/s*(ramp(time, at = 2 s) - ramp(time, at = 2.1 s)), r = 2 m\n"
    text += "br clutch (r, ground) N = 100 N - 1 kN/s*(ramp(time, at = 2 s) - ramp(time, at = 2.1 s)), r = 2 m\n"
    if kind == "heated_clutch":
        text = text.replace(" clutch (e, r)", " heated_clutch (e, r, oil)").replace(" clutch (r, ground)", " heated_clutch (r, ground, oil)")
        text = "use thermal\nuse couplings\n" + text + "sump temperature (oil) T = 80 degC\n"
    samples = run(text.replace("let engaged = 1\n", "") + "run transient(stop = 4 s, sample = 10 ms)\nsave e.w, l.w, r.w\n")
    t, e, load = samples.time, samples.series("e.w"), samples.series("l.w")
    first, second = (t > 0.51) & (t < 2), t > 3
    assert e[first] == pytest.approx(2.5 * load[first], abs=1e-6) and e[second] == pytest.approx(load[second], abs=1e-6)

    def rates(t, w):
        return (50 - 20 * (w / (100 * np.pi / 30)) ** 2) / (10 + 2.5**2)

    found = solve_ivp(rates, (0.5, 2), [0.0], t_eval=t[first], rtol=1e-9, atol=1e-12).y[0]
    assert load[first] == pytest.approx(found, abs=1e-5)


@pytest.mark.parametrize("held", ["clutch (a, ground) N = 10 N", "dry_bearing (a, ground) T = 5 N.m", "heated_clutch (a, ground, oil) N = 10 N"])
def test_a_blow_against_the_load_frees_what_friction_holds(held):
    """3 rad/s against a load of 2 N.m and a friction of 5 N.m: 2 kg.m2 rest again after 6/7 s."""
    text = 'use rotational\nuse thermal\nuse couplings\ncomponent blow (p : rotational) "sets the speed"\n  branch p -> ground : w, t\n  when time > 0.5 s : reinit w = 3 rad/s\n  t = 0\nend\n'
    text += f"j inertia (a) J = 2 kg.m2\nc {held}\nload torque (a) T = -2 N.m\nk blow (a)\nsump temperature (oil) T = 80 degC\nrun transient(stop = 2 s)\nsave a.w, c.mode, c.t\n"
    samples = run(text if "oil" in held else text.replace("sump temperature (oil) T = 80 degC\n", ""))
    held = float(samples.attributes["event_log"].splitlines()[-1].split("\t")[0])
    assert held == pytest.approx(0.5 + 6 / 7, rel=1e-8) and samples.series("c.mode")[-1] == 0 and samples.series("c.t")[-1] == pytest.approx(-2)


def test_heat_losses_of_a_drive():
    """Rotational.HeatLosses: every loss of a drive with play, bearing, lossy gear, clutch, freewheel and brake flows into the air, through 85 events."""
    text = """use rotational
use thermal
drive torque (i1) T = sine(time, 20 N.m, 5 Hz)
j1 inertia (i1) J = 2 kg.m2
d1 torsion_damper (i1, ground) d = 10 N.m.s/rad
s1 torsion_spring_damper (i1, i2) c = 1e4 N.m/rad, d = 20 N.m.s/rad
j2 inertia (i2) J = 2 kg.m2
eb damped_backlash (i2, i3) c = 1e5 N.m/rad, d = 100 N.m.s/rad, play = 0.001
j3 inertia (i3) J = 2 kg.m2
be dry_bearing (i3, ground) T = 1 N.m
s3 torsion_spring (i3, i4) c = 1e4 N.m/rad
j4 inertia (i4) J = 2 kg.m2
lg lossy_gear (i4, m) ratio = 2, k = 2, speeds = [0, 1] rad/s, etas1 = [0.8, 0.7], etas2 = [0.8, 0.7], T1s = [1, 2] N.m, T2s = [1, 2] N.m
cl clutch (m, i5) N = 10 N*sin(2*pi*0.2 Hz*time), mu = 0.5
j5 inertia (i5) J = 2 kg.m2
ow braked_freewheel (i5, i6) N = 1 N*sin(2*pi*0.2 Hz*time), mu = 0.5
j6 inertia (i6) J = 2 kg.m2
br clutch (i6, ground) N = 2 N*sin(2*pi*0.2 Hz*time), mu = 0.5
loss heat_flow (w) Q = 10 N.m.s/rad*i1.w^2 + s1.loss + eb.loss + be.loss + lg.loss + cl.loss + ow.loss + br.loss
air forced_convection (w, room) G = 20 W/K
amb temperature (room) T = 25 degC
run transient(stop = 1 s, sample = 1 ms)
save i1.w, air.q, cl.mode, br.mode
"""
    samples = run(text, rtol=1e-4)
    _, supplied, lost = samples.energy[-1]
    assert np.trapezoid(samples.series("air.q"), samples.time) == pytest.approx(lost, rel=1e-3) and supplied == pytest.approx(0.35109, rel=1e-3)
    assert samples.series("i1.w")[-1] == pytest.approx(-0.00185, abs=5e-5) and samples.series("cl.mode")[-1] == samples.series("br.mode")[-1] == 0


def test_clutch_and_brake():
    """Rotational.Friction: the brake's 800 N.m stop the load at once; the clutch holds what its 80 N.m can."""
    text = "use rotational\ndrive torque (c) T = 200 N.m*sin(100 rad/s*time)*(1 - step(time, at = 0.5 s))\nj3 inertia (c) J = 1 kg.m2, start w = 100 rad/s\n"
    text += "cl clutch (c, b) N = 160 N\nj2 inertia (b) J = 0.05 kg.m2, start w = 90 rad/s\nshaft torsion_spring_damper (b, a) c = 160 N.m/rad, d = 1 N.m.s/rad\n"
    text += "br clutch (a, ground) N = 1600 N*step(time, at = 0.5 s)\nj1 inertia (a) J = 1 kg.m2, start w = 90 rad/s\nrun transient(stop = 0.8 s, sample = 1 ms)\nsave a.w, b.w, c.w, cl.t\n"
    samples = run(text)
    t, a = samples.time, samples.series("a.w")
    assert np.abs(samples.series("cl.t")).max() < 80 * (1 + 1e-6) and np.abs(a[t > 0.7]).max() < 1e-6
    sliding = (t > 0.501) & (t < 0.55)
    slope = np.gradient(a, t)[sliding]
    assert np.all(slope < -500) and np.diff(samples.energy[:, 2]).min() > -1e-6


def test_freewheel_of_a_swinging_speed():
    """Rotational.DemoFreeWheel: driven while the drive is ahead and the load resists, then slowing down by itself, 5 times in a second."""
    text = "use rotational\ndrive speed (a, ground) w = sine(time, 5 rad/s, 5 Hz)\nj1 inertia (a) J = 1 kg.m2\nfree one_way_clutch (a, b)\nj2 inertia (b) J = 1 kg.m2\n"
    samples = run(text + "load linear_load (b) T = -5 N.m, w = 1 rad/s\nrun transient(stop = 0.38 s, sample = 1 ms)\nsave b.w, free.locked\n")
    t, w = samples.time, 10 * np.pi
    leaves = np.arctan(-w / 5) / w + 0.1  # the drive slows down faster than the load: tan(w t) = -w/5
    assert samples.series("b.w")[t < leaves - 1e-3] == pytest.approx(5 * np.sin(w * t[t < leaves - 1e-3]), abs=1e-5)
    alone = (t > leaves + 1e-3) & (t < 0.2)
    assert samples.series("b.w")[alone] == pytest.approx(5 * np.sin(w * leaves) * np.exp(-5 * (t[alone] - leaves)), rel=1e-4)
    assert set(samples.series("free.locked")) == {0, 1}


def test_backlash():
    """Rotational.Backlash: beside a plain elastic shaft, one with 45 degrees of play whose damper never pulls."""
    text = "use rotational\nj1 inertia (a) J = 5 kg.m2\ns1 torsion_spring_damper (a, ground) c = 20 kN.m/rad, d = 50 N.m.s/rad\nj2 inertia (b) J = 5 kg.m2\n"
    text += "s2 damped_backlash (b, ground) c = 20 kN.m/rad, d = 50 N.m.s/rad, play = 45 deg\nstart a.phi = 90 deg\nstart b.phi = 90 deg\n"
    samples = run(text + "run transient(stop = 0.3 s, rtol = 1e-7)\nsave a.phi, b.phi\n")
    half = np.pi / 8

    def rates(t, s):
        over = np.sign(s[2]) * max(abs(s[2]) - half, 0)
        damping = np.clip(50 * s[3], -2e4 * abs(over), 2e4 * abs(over))
        return [s[1], -(2e4 * s[0] + 50 * s[1]) / 5, s[3], -(2e4 * over + damping) / 5]

    found = solve_ivp(rates, (0, 0.3), [np.pi / 2, 0, np.pi / 2, 0], t_eval=samples.time, rtol=1e-9, atol=1e-10, max_step=1e-4).y
    assert samples.series("a.phi") == pytest.approx(found[0], abs=1e-5) and samples.series("b.phi") == pytest.approx(found[2], abs=1e-4)


def test_freewheel_that_is_caught_up_again():
    """Rotational.OneWayClutchDisengaged: caught where both speeds meet, left where it would have to pull; one motion in between."""
    text = "use rotational\nj1 inertia (a) J = 1 kg.m2, start w = -0.5 rad/s\nj2 inertia (b) J = 1 kg.m2\nf one_way_clutch (a, b)\n"
    text += "d torque (a) T = 0.3 N.m + 10 N.m*sin(4*pi*time/(1 s))\nl torque (b) T = -0.3 N.m\nrun transient(stop = 0.5 s)\nsave a.w, b.w\n"
    samples = run(text, rtol=1e-8)
    caught, left = (float(line.split("\t")[0]) for line in samples.attributes["event_log"].splitlines())
    assert -0.5 + 0.6 * caught + 10 / (4 * np.pi) * (1 - np.cos(4 * np.pi * caught)) == pytest.approx(0, abs=2e-6)
    assert left == pytest.approx((np.pi + np.arcsin(0.06)) / (4 * np.pi), abs=1e-8)
    held = -0.3 * caught + 5 / (4 * np.pi) * (np.cos(4 * np.pi * caught) - np.cos(4 * np.pi * left))
    assert samples.series("b.w")[-1] == pytest.approx(held - 0.3 * (0.5 - left), abs=2e-6)


def test_brake_along_a_line():
    """Translational.Brake: 1 m/s and 1 N on 1 kg from 0.1 s on; at rest after 1.1 s and 0.6 m."""
    text = "use translational\nm mass (a) m = 1 kg\nstart a.v = 1 m/s\nstart a.x = 0 m\nb linear_brake (a, ground) N = 2 N*step(time, at = 0.1 s), mu = 0.5\n"
    samples = run(text + "run transient(stop = 2 s)\nsave a.v, a.x\n")
    assert samples.series("a.x")[-1] == pytest.approx(0.6, abs=1e-9) and samples.series("a.v")[-1] == 0
    assert float(samples.attributes["event_log"].splitlines()[-1].split("\t")[0]) == pytest.approx(1.1, abs=1e-9)
