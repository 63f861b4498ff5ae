# ruff: noqa: E501  (netlists in a line read best)
"""Bushings, contacts, further joints and sensors of bodies against closed forms, in space and in the plane."""

import numpy as np
import pytest

import netsim
from conftest import sampled


def bodies(text, *signals, **options):
    return sampled(netsim.load("use spatial\nuse planar\nuse couplings\nuse signal\n" + text + "\n"), tuple(signals), **options)


def vector(samples, name, n=3):
    return np.stack([samples.series(f"{name}.{c}") for c in "xyz"[:n]], axis=-1)


NO_GRAVITY = "world gravity = [0, 0, 0] m/s2\n"


# ------------------------------------------------------------------------------------------------ bushings


@pytest.mark.parametrize(("axis", "m"), [(0, 1e-6), (1, 1.0), (2, 1e6)])
def test_bushing_has_a_frequency_for_each_component(axis, m):
    """sqrt(c/m) along and sqrt(ct/I) about each axis, for small amplitudes; damping ratio d/(2 sqrt(c m))."""
    c, ct = m * np.array([100.0, 400.0, 900.0]), m * np.array([250.0, 500.0, 640.0])
    d, dt = 0.02 * np.sqrt(c * m), 0.02 * np.sqrt(ct * m)
    text = (
        NO_GRAVITY
        + f"b body (p) m = {m} kg, I = diag({m}, {m}, {m}) kg.m2\nk bushing (ground, p) at = [0, 0, 0] m, c = {c.tolist()} N/m, ct = {ct.tolist()} N.m/rad, d = {d.tolist()} N.s/m, dt = {dt.tolist()} N.m.s/rad\n"
    )
    start = f"start p.r.{'xyz'[axis]} = 1 um\nrun transient(stop = 1 s, rtol = 1e-9)"
    samples = bodies(text + start, f"p.r.{'xyz'[axis]}")
    w, zeta = np.sqrt(c[axis] / m), 0.01
    t = samples.time
    wd = w * np.sqrt(1 - zeta**2)
    wanted = 1e-6 * np.exp(-zeta * w * t) * (np.cos(wd * t) + zeta * w / wd * np.sin(wd * t))
    assert samples.series(f"p.r.{'xyz'[axis]}") == pytest.approx(wanted, abs=1e-11)
    samples = bodies(text + f"start p.w.{'xyz'[axis]} = 1e-3 rad/s\nrun transient(stop = 1 s, rtol = 1e-9)", f"p.w.{'xyz'[axis]}")
    w = np.sqrt(ct[axis] / m)
    t = samples.time
    wd = w * np.sqrt(1 - zeta**2)
    wanted = 1e-3 * np.exp(-zeta * w * t) * (np.cos(wd * t) - zeta * w / wd * np.sin(wd * t))
    assert samples.series(f"p.w.{'xyz'[axis]}") == pytest.approx(wanted, abs=1e-8)


def test_bushing_answers_large_turns_and_keeps_energy():
    """The moment about z is ct sin(q); a body thrown through large turns about all axes keeps energy, and a free pair its momentum."""
    text = (
        NO_GRAVITY
        + "b body (p) m = 2 kg, I = diag(0.1, 0.2, 0.25) kg.m2\na body (q) m = 1 kg, I = diag(0.1, 0.1, 0.1) kg.m2\nk bushing (q, p) at = [0.1, 0, 0] m, c = [100, 200, 300] N/m, ct = [1, 2, 3] N.m/rad\nstart p.w = [5, -4, 3] rad/s\nstart p.v = [1, 2, 0] m/s\nrun transient(stop = 3 s, rtol = 1e-9)"
    )
    samples = bodies(text, "b.kinetic", "b.angular.x", "b.angular.y", "b.angular.z", "a.angular.x", "a.angular.y", "a.angular.z", "p.v.x", "q.v.x")
    spin = vector(samples, "b.angular") + vector(samples, "a.angular")
    assert spin == pytest.approx(spin[0] + 0 * spin, abs=2e-6) and 2 * samples.series("p.v.x") + samples.series("q.v.x") == pytest.approx(
        2.0, abs=1e-7
    )
    turned = (
        NO_GRAVITY
        + "b body (p) m = 1 kg, I = diag(1, 1, 1) kg.m2\nh revolute (ground, p) at = [0, 0, 0] m\nk bushing (ground, p) at = [0, 0, 0] m, c = [1, 1, 1] N/m, ct = [3, 5, 7] N.m/rad\nm hinge_angle (ground, p) q = 1 rad/s*time\nrun transient(stop = 3 s)"
    )
    samples = bodies(turned, "m.T", "k.moment.z")
    assert samples.series("m.T") == pytest.approx(7 * np.sin(samples.time), abs=1e-5) and samples.series("k.moment.z") == pytest.approx(
        -7 * np.sin(samples.time), abs=1e-5
    )


@pytest.mark.parametrize("angle", [0.0, 30.0])
def test_planar_bushing(angle):
    """A static load: c along each of its axes, turned by an angle, and ct about the normal."""
    text = f"world gravity = [0, 0, 0] m/s2\nb planar_body (p) m = 1 kg, I = 1 kg.m2\nk planar_bushing (ground, p) at = [0, 0] m, c = [100, 400] N/m, ct = 50 N.m/rad, angle = {angle} deg, d = [1, 1] N.s/m, dt = 1 N.m.s/rad\nf planar_force (p) F = [3, 8] N, at = [0, 0] m\nm planar_moment (p) M = 2 N.m\nrun static()\nsave p.r.x, p.r.y, p.phi, k.force.x, k.moment\n"
    (samples,) = netsim.load("use planar\n" + text).samples()
    a = np.radians(angle)
    S = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    wanted = S @ (S.T @ [3, 8] / [100, 400])
    assert [samples.series(s)[0] for s in ("p.r.x", "p.r.y", "p.phi", "k.force.x", "k.moment")] == pytest.approx([*wanted, 2 / 50, -3, -2], rel=1e-6)


# ------------------------------------------------------------------------------------------------ contacts

SPACE = "use spatial\nworld gravity = [0, 0, -9.81] m/s2\n"
PLANE = "use planar\nworld gravity = [0, -9.81, 0] m/s2\n"


@pytest.mark.parametrize("m, r", [(1e-6, 1e-3), (1.0, 0.1), (1e6, 1.0)])
@pytest.mark.parametrize("dimension", [2, 3])
def test_ball_on_a_plane_bounces_and_rests(m, r, dimension):
    """Dropped without damping it returns to its height; its deepest penetration solves c d^2/2 = m g (h + d)."""
    c, h = m * 9.81 / (1e-3 * r), 0.5 * r
    if dimension == 3:
        text = (
            SPACE
            + f"b body (p) m = {m} kg, I = diag(1, 1, 1) kg.m2\nk plane_contact (ground, p) at = [0, 0, 0] m, r = {r} m, c = {c} N/m\nstart p.r.z = {r + h} m\n"
        )
        height = "p.r.z"
    else:
        text = (
            PLANE
            + f"b planar_body (p) m = {m} kg, I = 1 kg.m2\nk planar_line_contact (ground, p) at = [0, 0] m, r = {r} m, c = {c} N/m\nstart p.r.y = {r + h} m\n"
        )
        height = "p.r.y"
    T = np.sqrt(2 * h / 9.81)
    samples = bodies(text + f"run transient(stop = {2.5 * T} s, rtol = 1e-9)", height, "k.normal")
    z = samples.series(height)
    d0 = 1e-3 * r
    deep = d0 + np.sqrt(d0**2 + 2 * d0 * h)
    assert max(samples.series("k.normal")) == pytest.approx(c * deep, rel=1e-3)
    late = samples.time > 1.2 * T
    assert max(z[late]) == pytest.approx(r + h, rel=1e-4)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("mu, v", [(0.3, 2.0), (0.1, 0.5)])
def test_ball_that_slides_begins_to_roll(dimension, mu, v):
    """Started without spin at v it slides for 2 v/(7 mu g) (a disc: v/(3 mu g)) and then rolls at 5/7 v (a disc: 2/3 v)."""
    m, r = 2.0, 0.1
    c = m * 9.81 / 1e-5
    share = 0.4 if dimension == 3 else 0.5
    t1 = v / ((1 + 1 / share) * mu * 9.81)
    if dimension == 3:
        text = (
            SPACE
            + f"b body (p) m = {m} kg, I = {share * m * r * r} kg.m2*diag(1, 1, 1)\nk plane_contact (ground, p) at = [0, 0, 0] m, r = {r} m, c = {c} N/m, mu = {mu}, lambda = 5 s/m, vs = 0.1 mm/s\nstart p.r.z = {r - 1e-5} m\nstart p.v.x = {v} m/s\n"
        )
        speed, spin = "p.v.x", ("p.w.y", 1)
    else:
        text = (
            PLANE
            + f"b planar_body (p) m = {m} kg, I = {share * m * r * r} kg.m2\nk planar_line_contact (ground, p) at = [0, 0] m, r = {r} m, c = {c} N/m, mu = {mu}, lambda = 5 s/m, vs = 0.1 mm/s\nstart p.r.y = {r - 1e-5} m\nstart p.v.x = {v} m/s\n"
        )
        speed, spin = "p.v.x", ("p.w", -1)
    samples = bodies(text + f"run transient(stop = {2 * t1} s)", speed, spin[0])
    t, found = samples.time, samples.series(speed)
    slides = t < 0.95 * t1
    assert found[slides] == pytest.approx((v - mu * 9.81 * t)[slides], rel=1e-3)
    assert found[-1] == pytest.approx(v / (1 + share), rel=1e-3) and spin[1] * samples.series(spin[0])[-1] * r == pytest.approx(found[-1], rel=1e-3)


@pytest.mark.parametrize("e", [1.0, 1.5])
@pytest.mark.parametrize("dimension", [2, 3])
def test_two_balls_exchange_their_velocities(e, dimension):
    """A central impact of equal balls without damping; the longest contact force from the energy: c d^(e+1)/(e+1) = m v^2/4."""
    c, v = 1e7, 1.0
    if dimension == 3:
        text = (
            NO_GRAVITY
            + f"a body (p) m = 1 kg, I = diag(1, 1, 1) kg.m2\nb body (q) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [1, 0, 0] m\nk ball_contact (p, q) at1 = [0, 0, 0] m, at2 = [1, 0, 0] m, r1 = 0.3 m, r2 = 0.5 m, c = {c} N/m, e = {e}\nstart p.v = [{v}, 0, 0] m/s\n"
        )
    else:
        text = (
            NO_GRAVITY
            + f"a planar_body (p) m = 1 kg, I = 1 kg.m2\nb planar_body (q) m = 1 kg, I = 1 kg.m2, at = [1, 0] m\nk planar_disc_contact (p, q) at1 = [0, 0] m, at2 = [1, 0] m, r1 = 0.3 m, r2 = 0.5 m, c = {c} N/m, e = {e}\nstart p.v = [{v}, 0] m/s\n"
        )
    samples = bodies(text + "run transient(stop = 0.4 s, rtol = 1e-8)", "p.v.x", "q.v.x", "k.normal")
    assert [samples.series("p.v.x")[-1], samples.series("q.v.x")[-1]] == pytest.approx([0.0, v], abs=1e-5)
    deep = ((e + 1) * 0.25 * v**2 / c) ** (1 / (e + 1))
    assert max(samples.series("k.normal")) == pytest.approx(c * deep**e, rel=0.02)


@pytest.mark.parametrize("lam", [0.0, 0.2, 1.0])
def test_contact_loses_energy_by_its_damping_and_never_pulls(lam):
    """Hunt and Crossley: the impact is softer than elastic; for small lambda*v the restitution is 1 - 2/3 lambda v (e = 1)."""
    text = (
        NO_GRAVITY
        + f"b body (p) m = 1 kg, I = diag(1, 1, 1) kg.m2\nk plane_contact (ground, p) at = [0, 0, 0] m, c = 1e6 N/m, lambda = {lam} s/m\nstart p.r.z = 1 mm\nstart p.v.z = -0.1 m/s\nrun transient(stop = 50 ms, rtol = 1e-9)"
    )
    samples = bodies(text, "p.v.z", "k.normal")
    assert samples.series("p.v.z")[-1] == pytest.approx(0.1 * (1 - 2 / 3 * lam * 0.1), abs=0.1 * (lam * 0.1) ** 2 + 1e-6)
    assert min(samples.series("k.normal")) >= 0


# ------------------------------------------------------------------------------------------------ joints


@pytest.mark.parametrize("lead", [0.01, -0.5, 6.0])
def test_screw_joint_falls_as_its_inertias_say(lead):
    """A body on a vertical screw: m g = (m + I (2 pi/lead)^2) a."""
    text = (
        SPACE
        + f"b body (p) m = 2 kg, I = diag(1, 1, 0.05) kg.m2, at = [0, 0, 1] m\nk screw_joint (ground, p) at = [0, 0, 0] m, lead = {lead} m\nrun transient(stop = 0.5 s, rtol = 1e-9)"
    )
    samples = bodies(text, "p.r.z", "p.w.z", "k.s", "k.q")
    a = 2 * 9.81 / (2 + 0.05 * (2 * np.pi / lead) ** 2)
    t = samples.time
    assert samples.series("p.r.z") == pytest.approx(1 - a * t**2 / 2, abs=1e-6) and samples.series("k.s") == pytest.approx(-a * t**2 / 2, abs=1e-6)
    assert samples.series("p.w.z") == pytest.approx(-a * t * 2 * np.pi / lead, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("bend", [0.0, 20.0, 60.0])
def test_constant_velocity_joint_turns_evenly(bend):
    """Two shafts in bearings under an angle: equal speeds and equal torques at every instant; a cardan joint varies by 1/cos(bend)."""
    a = np.radians(bend)
    out = [0, np.sin(a), np.cos(a)]

    def shafts(joint):
        # drawn in line; the start bends the second shaft, whose bearing stands along `out`
        return (
            "use spatial\nworld gravity = [0, 0, 0] m/s2\nb1 body (p) m = 1 kg, I = diag(1, 1, 0.1) kg.m2, at = [0, 0, -1] m\nb2 body (q) m = 1 kg, I = diag(1, 1, 0.1) kg.m2, at = [0, 0, 1] m\n"
            f"h1 revolute (ground, p) at = [0, 0, 0] m\ndrive hinge_speed (ground, p) w = 2 rad/s\n{joint}\n"
            f"cradle body (f) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [0, 0, 2] m\nh2 revolute (f, q) at = [0, 0, 2] m\ntilt revolute (ground, f) at = [0, 0, 0] m, axis = [1, 0, 0]\nset hinge_angle (ground, f) q = {-a} rad, axis = [1, 0, 0]\nbrake hinge_torque (f, q) T = -3 N.m\n"
            f"start tilt.q = {-a} rad\nrun transient(stop = 1.6 s, rtol = 1e-8)\n"
        )

    samples = bodies(shafts("k constant_velocity_joint (p, q) at = [0, 0, 0] m"), "h1.rate", "h2.rate", "drive.T", "k.bend", "p.r.x")
    assert samples.series("h2.rate") == pytest.approx(2.0, abs=1e-5) and samples.series("h1.rate") == pytest.approx(2.0, abs=1e-9)
    assert samples.series("drive.T") == pytest.approx(3.0, abs=1e-4) and samples.series("k.bend") == pytest.approx(a, abs=1e-6)
    assert out[2] == pytest.approx(np.cos(samples.series("k.bend")[0]))
    if bend:
        cardan = bodies(shafts("k universal (p, q) at = [0, 0, 0] m, axis1 = [1, 0, 0], axis2 = [0, 1, 0]"), "h2.rate")
        assert max(cardan.series("h2.rate")) == pytest.approx(2 / np.cos(a), rel=2e-3)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("dimension", [2, 3])
def test_stops_inside_joints(kind, dimension):
    """Free between the stops; beyond them a half-wave of sqrt(cs/m): the coordinate's extreme is upper + v/sqrt(cs/m), and it comes back as fast."""
    law = "lower = -0.1 {u}, upper = 0.2 {u}, cs = 1e4 {k}".format(**({"u": "rad", "k": "N.m/rad"} if kind == "revolute" else {"u": "m", "k": "N/m"}))
    if dimension == 3:
        at = "at = [0, 0, 0] m, axis = [1, 0, 0]"
        text = NO_GRAVITY + f"b body (p) m = 1 kg, I = diag(1, 1, 1) kg.m2\nj limited_{kind} (ground, p) {at}, {law}\nstart j.rate = 1\n"
    else:
        text = NO_GRAVITY + f"b planar_body (p) m = 1 kg, I = 1 kg.m2\nj planar_limited_{kind} (ground, p) at = [0, 0] m, {law}\nstart j.rate = 1\n"
    samples = bodies(text + "run transient(stop = 0.8 s, rtol = 1e-8)", "j.q", "j.rate", "j.stop")
    t, q = samples.time, samples.series("j.q")
    wanted = np.piecewise(
        t, [t < 0.2, (t >= 0.2) & (t < 0.2 + np.pi / 100), (t >= 0.2 + np.pi / 100) & (t < 0.5 + np.pi / 100), (t >= 0.5 + np.pi / 100) & (t < 0.5 + np.pi / 50)],
        [lambda t: t, lambda t: 0.2 + 0.01 * np.sin(100 * (t - 0.2)), lambda t: 0.2 - (t - 0.2 - np.pi / 100), lambda t: -0.1 - 0.01 * np.sin(100 * (t - 0.5 - np.pi / 100)), lambda t: -0.1 + (t - 0.5 - np.pi / 50)],
    )  # fmt: skip
    assert q == pytest.approx(wanted, abs=1e-5) and samples.series("j.rate")[-1] == pytest.approx(1.0, rel=1e-4)
    assert min(samples.series("j.stop")) == pytest.approx(-100, rel=1e-2)


# ------------------------------------------------------------------------------------------------ sensors


@pytest.mark.parametrize("w", [0.1, 10.0])
def test_accelerometer_on_a_turning_arm(w):
    """A body that turns at w about z under gravity: -w^2 r along the arm, and 9.81 upwards; a free body reads nothing."""
    text = (
        SPACE
        + f"use signal\nb body (p) m = 1 kg, I = diag(1, 1, 1) kg.m2\nh revolute (ground, p) at = [0, 0, 0] m\nd hinge_speed (ground, p) w = {w} rad/s\ns accelerometer (p, x, y, z) at = [0.5, 0, 0] m\ng gyroscope (p, gx, gy, gz)\nf body (q) m = 1 kg, I = diag(1, 2, 3) kg.m2\nk accelerometer (q, u, v, o)\nrun transient(stop = {3 / w} s)"
    )
    samples = bodies(text, "x", "y", "z", "gz", "u", "v", "o")
    assert samples.series("x") == pytest.approx(-0.5 * w * w, rel=1e-6, abs=1e-7) and samples.series("y") == pytest.approx(0, abs=1e-6)
    assert samples.series("z") == pytest.approx(9.81) and samples.series("gz") == pytest.approx(w, rel=1e-9)
    assert np.abs([samples.series(s) for s in "uvo"]).max() < 1e-9


def test_planar_accelerometer_on_a_pendulum():
    """At rest at an angle q it reads g in the world's direction; released, its tangential part at the centre of mass is what the pin does not give."""
    q = 0.5
    text = (
        PLANE
        + f"use signal\nb planar_body (p) m = 2 kg, I = 0.1 kg.m2, at = [1, 0] m\nj planar_revolute (ground, p) at = [0, 0] m\ns planar_accelerometer (p, x, y) at = [1, 0] m\nstart j.q = {-q} rad\nrun transient(stop = 1 ms)"
    )
    samples = bodies(text, "x", "y")
    alpha = -2 * 9.81 * np.cos(q) / (0.1 + 2)
    assert [samples.series("x")[0], samples.series("y")[0]] == pytest.approx([-9.81 * np.sin(q), alpha + 9.81 * np.cos(q)], rel=1e-6)


@pytest.mark.parametrize("m", [1e-6, 5.0, 1e6])
def test_force_torque_sensor_weighs_what_hangs_on_it(m):
    """A cantilever of mass m with its centre at x = 2: m g along z and the moment m g 2 about y, in the sensor's axes turned with the base."""
    text = (
        SPACE
        + f"use signal\nb body (p) m = {m} kg, I = diag(1, 1, 1) kg.m2, at = [2, 0, 0] m\ns force_torque_sensor (ground, p, fx, fy, fz, tx, ty, tz) at = [0, 0, 0] m\nrun transient(stop = 1 ms)"
    )
    samples = bodies(text, "fx", "fy", "fz", "tx", "ty", "tz")
    assert [samples.series(s)[0] for s in ("fx", "fy", "fz", "tx", "ty", "tz")] == pytest.approx(
        [0, 0, m * 9.81, 0, -2 * m * 9.81, 0], abs=1e-9 * m + 1e-12
    )
    flat = (
        PLANE
        + f"use signal\nb planar_body (p) m = {m} kg, I = 1 kg.m2, at = [2, 0] m\ns planar_force_torque_sensor (ground, p, fx, fy, t) at = [0, 0] m\nrun transient(stop = 1 ms)"
    )
    samples = bodies(flat, "fx", "fy", "t")
    assert [samples.series(s)[0] for s in ("fx", "fy", "t")] == pytest.approx([0, m * 9.81, 2 * m * 9.81], abs=1e-9 * m)


# ------------------------------------------------------------------------------------------------ energy

THROWN = "b body (p) m = 2 kg, I = diag(0.1, 0.2, 0.25) kg.m2, at = [0, 0, 0.3] m\nstart p.v = [1, 0.5, 0] m/s\nstart p.w = [2, -3, 1] rad/s\n"
FLAT = "b planar_body (p) m = 2 kg, I = 0.1 kg.m2, at = [0, 0.3] m\nstart p.v = [1, 0] m/s\nstart p.w = -3 rad/s\n"
LOSSES = {
    "bushing": THROWN + "k bushing (ground, p) at = [0, 0, 0.3] m, c = [500, 100, 300] N/m, ct = [5, 3, 4] N.m/rad, d = [3, 2, 1] N.s/m, dt = [0.1, 0.2, 0.3] N.m.s/rad",
    "plane_contact": THROWN + "k plane_contact (ground, p) at = [0.05, 0, 0.3] m, r = 0.1 m, c = 1e4 N/m, e = 1.5, lambda = 0.5 s/m, mu = 0.3, vs = 10 mm/s",
    "ball_contact": THROWN + "k ball_contact (ground, p) at1 = [0.1, 0, 0] m, at2 = [0, 0, 0.3] m, r1 = 0.15 m, r2 = 0.1 m, c = 1e5 N/m, lambda = 0.5 s/m, mu = 0.3, vs = 10 mm/s",
    "screw_joint": "b body (p) m = 2 kg, I = diag(0.1, 0.2, 0.25) kg.m2, at = [0, 0, 0.3] m\nk screw_joint (ground, p) at = [0, 0, 0] m, lead = 0.2 m, d = 0.5 N.m.s/rad",
    "limited_revolute": "b body (p) m = 2 kg, I = diag(0.1, 0.2, 0.25) kg.m2, at = [0.3, 0, 0] m\nk limited_revolute (ground, p) at = [0, 0, 0] m, axis = [0, 1, 0], lower = -0.5 rad, upper = 0.4 rad, cs = 1e4 N.m/rad, lambda = 0.3 s/rad, c = 2 N.m/rad, d = 0.05 N.m.s/rad",
    "limited_prismatic": "b body (p) m = 2 kg, I = diag(0.1, 0.2, 0.25) kg.m2\nk limited_prismatic (ground, p) at = [0, 0, 0] m, lower = -0.5 m, upper = 0.4 m, cs = 1e4 N/m, lambda = 0.3 s/m, c = 2 N/m, d = 0.05 N.s/m",
    "planar_bushing": FLAT + "k planar_bushing (ground, p) at = [0, 0.3] m, c = [500, 100] N/m, ct = 5 N.m/rad, d = [3, 2] N.s/m, dt = 0.1 N.m.s/rad, angle = 0.3 rad",
    "planar_line_contact": FLAT + "k planar_line_contact (ground, p) at = [0.05, 0.3] m, r = 0.1 m, c = 1e4 N/m, e = 1.5, lambda = 0.5 s/m, mu = 0.3, vs = 10 mm/s",
    "planar_disc_contact": FLAT + "k planar_disc_contact (ground, p) at1 = [0.1, 0] m, at2 = [0, 0.3] m, r1 = 0.15 m, r2 = 0.1 m, c = 1e5 N/m, lambda = 0.5 s/m, mu = 0.3, vs = 10 mm/s",
    "planar_limited_revolute": "b planar_body (p) m = 2 kg, I = 0.1 kg.m2, at = [0.3, 0] m\nk planar_limited_revolute (ground, p) at = [0, 0] m, lower = -0.5 rad, upper = 0.4 rad, cs = 1e4 N.m/rad, lambda = 0.3 s/rad, c = 2 N.m/rad, d = 0.05 N.m.s/rad",
    "planar_limited_prismatic": "b planar_body (p) m = 2 kg, I = 0.1 kg.m2\nk planar_limited_prismatic (ground, p) axis = [0, 1], lower = -0.5 m, upper = 0.4 m, cs = 1e4 N/m, lambda = 0.3 s/m, c = 2 N/m, d = 0.05 N.s/m",
}  # fmt: skip
"""A body under gravity on each part that loses energy."""


@pytest.mark.parametrize("name", LOSSES)
def test_energy_that_parts_lose_is_accounted_for(name):
    """Stored energy falls by what is dissipated, which never shrinks; the moving body's own energies say how much that is."""
    world = "use planar\nworld gravity = [0, -9.81, 0] m/s2\n" if "planar" in name else SPACE
    samples = sampled(netsim.load(world + LOSSES[name] + "\nrun transient(stop = 0.6 s, rtol = 1e-8)\n"), ("b.kinetic", "b.potential", "p.v.x"))
    stored, supplied, dissipated = samples.energy.T[:3]
    size = np.ptp(samples.series("b.kinetic")) + np.ptp(samples.series("b.potential"))
    assert stored - supplied + dissipated == pytest.approx(stored[0], abs=2e-5 * size)
    assert min(np.diff(dissipated)) > -1e-6 * size and dissipated[-1] > 1e-3 * size


# ------------------------------------------------------------------------------------------------ default results


def test_forces_of_rods_and_sources_are_default_results():
    """Without a save line: the tension of a rod that carries 2 kg, and the force or torque that a prescribed motion takes, from a lift of 3 m/s2."""
    text = (
        SPACE
        + "b body (p) m = 2 kg, I = diag(1, 1, 1) kg.m2\ns prismatic (ground, p)\nd slide_displacement (ground, p) s = 1.5 m/s2*time^2\nh point_mass (q) m = 2 kg, at = [3, 0, -1] m\nf body (q) m = 1 mg, I = diag(1, 1, 1) kg.mm2, at = [3, 0, -1] m\nr rod (ground, q) at1 = [3, 0, 0] m, at2 = [3, 0, -1] m\nrun transient(stop = 10 ms)"
    )
    (samples,) = netsim.load(text + "\n").samples()
    assert samples.series("d.F")[-1] == pytest.approx(2 * (9.81 + 3)) and samples.series("r.tension")[0] == pytest.approx(2 * 9.81, rel=1e-5)
    flat = (
        PLANE
        + "b planar_body (p) m = 2 kg, I = 3 kg.m2, at = [1, 0] m\nj planar_revolute (ground, p) at = [1, 0] m\nd planar_hinge_angle (ground, p) q = 2 rad/s2*time^2\nf planar_particle (q) m = 2 kg, at = [3, -1] m\nr planar_rod (ground, q) at1 = [3, 0] m, at2 = [3, -1] m\nrun transient(stop = 10 ms)"
    )
    (samples,) = netsim.load(flat + "\n").samples()
    assert samples.series("d.T")[-1] == pytest.approx(12.0) and samples.series("r.tension")[0] == pytest.approx(2 * 9.81, rel=1e-9)
    assert not any(s.name.startswith("j.lam") for s in samples.signals)
