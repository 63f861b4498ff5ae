# ruff: noqa: E501  (netlists in a line read best)
"""Mechanical components at the ends of their laws: prescribed rotations of any angle, friction without force, bounds that are told."""

import numpy as np
import pytest
from hosts import netlist

import netsim
from conftest import sampled

BODY = "use spatial\nb body (x) m = 1 kg, I = diag(1, 2, 3) kg.m2\n"


def turned(phi):
    """The product of rotations about x, the turned y and the turned z."""
    (a, b, c), one = np.radians(phi), np.eye(3)
    found = one
    for axis, angle in zip(one, (a, b, c)):
        x, y, z = axis
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        found = found @ (one + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K)
    return found


def rotation(samples, row=-1):
    """The saved rotation at a sample, as a matrix."""
    return samples.values[row, :9].reshape(3, 3)


# ------------------------------------------------------------------------------------------------ prescribed rotations


@pytest.mark.parametrize(
    "phi",
    [
        (30, 0, 0),
        (170, 0, 0),
        (180, 0, 0),
        (0, 180, 0),
        (0, 0, -180),
        (270, 0, 0),
        (100, 80, 120),
        (200, 0, 150),
        (0, 0, 119.9),
        (0, 120.1, 0),
        (720, 45, 0),
        (-190, 179, 181),
    ],
)
def test_orientation_is_the_prescribed_one_at_any_angle(phi):
    given = ", ".join(f"{angle} deg" for angle in phi)
    samples = sampled(netsim.load(f"{BODY}o orientation (ground, x) phi = [{given}]\nrun transient(stop = 0.1 s)\n"), ("x.R",))
    assert rotation(samples) == pytest.approx(turned(phi), abs=1e-9)


@pytest.mark.parametrize("axis, inertia", [(0, 1.0), (1, 2.0), (2, 3.0)])
def test_orientation_follows_several_turns(axis, inertia):
    """40 rad about one axis with 10 rad/s2: the moment is I times that throughout, half turns included."""
    phi = ["0", "0", "0"]
    phi[axis] = "5 rad/s2*time^2"
    samples = sampled(
        netsim.load(f"{BODY}o orientation (ground, x) phi = [{', '.join(phi)}]\nrun transient(stop = 3 s)\n"), ("x.R", f"o.M[{axis + 1}]")
    )
    wanted = np.zeros(3)
    wanted[axis] = np.degrees(45.0)
    assert rotation(samples) == pytest.approx(turned(wanted), abs=1e-5)
    assert samples.values[:, -1] == pytest.approx(10 * inertia, rel=1e-5)


# ------------------------------------------------------------------------------------------------ friction without force

GLIDE = f"{BODY}g planar_joint (ground, x)\nstart g.ratex = 1 m/s\nrun transient(stop = 1 s)\n"


@pytest.mark.parametrize("force", ["0 N", "-2 N", "-1 N*time/(1 s)"])
def test_glide_without_force_is_free(force):
    samples = sampled(netsim.load(f"{GLIDE}f glide_friction (ground, x) F = {force}\n"), ("g.x", "f.loss"))
    assert samples.series("g.x") == pytest.approx(samples.time, abs=1e-9) and np.abs(samples.series("f.loss")).max() == 0.0


def test_glide_ends_to_rub_where_its_force_ends():
    """F = m (0.5 - t): the speed falls by t/2 - t^2/2 until 0.5 s, and stays."""
    samples = sampled(netsim.load(f"{GLIDE}f glide_friction (ground, x) F = 1 N*(0.5 - time/(1 s))\n"), ("g.ratex",))
    t = np.minimum(samples.time, 0.5)
    assert samples.series("g.ratex") == pytest.approx(1 - t / 2 + t**2 / 2, abs=1e-6)


def test_friction_of_zero_is_none():
    """`friction = 0`, a bound of the joints, runs: a glide keeps its speed."""
    samples = sampled(netsim.load(GLIDE.replace("g planar_joint (ground, x)", "g planar_joint (ground, x) friction = 0 N")), ("g.x",))
    assert samples.series("g.x") == pytest.approx(samples.time, abs=1e-9)


def test_ball_joint_of_zero_friction_keeps_its_spin():
    ball = f"{BODY}g spherical (ground, x) at = [0, 0, 0] m, friction = 0 N.m\nstart x.w = [0, 0, 2] rad/s\nrun transient(stop = 1 s)\n"
    samples = sampled(netsim.load("world gravity = [0, 0, 0] m/s2\n" + ball), ("x.w.z",))
    assert samples.series("x.w.z") == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("force", ["0 N", "-2 N"])
def test_planar_glide_without_force_is_free(force):
    text = f"use planar\nb planar_body (x) m = 1 kg, I = 1 kg.m2\nf planar_glide_friction (ground, x) F = {force}\nstart x.v = [1, 0] m/s\nrun transient(stop = 1 s)\n"
    samples = sampled(netsim.load(text), ("x.r.x",))
    assert samples.series("x.r.x") == pytest.approx(samples.time, abs=1e-9)


# ------------------------------------------------------------------------------------------------ messages


def test_a_bound_of_a_plain_number_has_no_unit():
    text = "use gas\nn gas_nozzle (a, ground) opening = 1, A = 1 cm2, k = 1\nv gas_volume (a) V = 1 m3\nrun transient(stop = 1 s)\n"
    with pytest.raises(netsim.InputError, match=r"'n.k' is 1, but must be > 1\n"):
        netsim.load(text).samples()


# ------------------------------------------------------------------------------------------------ contacts that end to damp


@pytest.mark.parametrize(
    "line, start",
    [
        ("use translational\nm mass (a) m = 1 kg\nk elasto_gap (a, ground) c = 1e4 N/m, d = 50 N.s/m", "start a.x = 10 mm\nstart a.v = -1 m/s"),
        (
            "use translational\nm mass (a) m = 1 kg\nk elasto_gap (a, ground) c = 1e4 N/m, d = 200 N.s/m, e = 2",
            "start a.x = 10 mm\nstart a.v = -1 m/s",
        ),
        (
            "use rotational\nm inertia (a) J = 1 kg.m2\nk damped_backlash (a, ground) c = 1e4 N.m/rad, d = 50 N.m.s/rad, play = 0.1 rad",
            "start a.phi = 0.1 rad\nstart a.w = -10 rad/s",
        ),
    ],
)
def test_energy_account_closes_where_a_damper_gives_all_it_may(line, start):
    """The damper's limits are events: what is stored and what is lost make up the energy at the start."""
    samples = sampled(netsim.load(f"{line}\n{start}\nrun transient(stop = 0.5 s)\n"), ("k.loss",), rtol=1e-9)
    stored, supplied, lost = samples.energy.T
    turned_over = lost[-1] + np.ptp(stored)
    assert np.abs(supplied - lost - stored + stored[0]).max() < 1e-6 * turned_over and lost[-1] > 0.1 * stored[0]


@pytest.mark.parametrize(
    "lines",
    [
        "use planar\nb planar_body (x) m = 1 kg, I = 1 kg.m2, at = [0, 1] m\nk planar_line_contact (ground, x) at = [0.2, 0.9] m, r = 0.1 m, c = 1e4 N/m, lambda = 4 s/m, mu = {}\nstart x.v = [1, -3] m/s",
        "use spatial\nb body (x) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [0, 0, 1] m\nk plane_contact (ground, x) at = [0.2, 0, 0.9] m, r = 0.1 m, c = 1e4 N/m, lambda = 4 s/m, mu = {}\nstart x.v = [1, 0, -3] m/s",
    ],
    ids=["plane", "space"],
)
@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_energy_account_closes_where_a_contact_parts_faster_than_it_pushes(lines, mu):
    """The body turns away from the plane beyond 1/lambda: what is left in the spring is lost, and that it ends is an event."""
    samples = sampled(
        netsim.load(f"world gravity = [0, 0, 0] m/s2\n{lines.format(mu)}\nrun transient(stop = 1 s)\n"), ("k.normal", "k.distance"), rtol=1e-8
    )
    stored, supplied, lost = samples.energy.T
    assert np.abs(supplied - lost - stored + stored[0]).max() < 1e-7 * stored[0]
    assert np.any((samples.series("k.normal") == 0) & (samples.series("k.distance") < -1e-5)) and lost[-1] > 0.5 * stored[0]


PULLED = "start a.x = 5 mm\nstart a.v = -3 m/s\nm mass (a) m = 2 kg\nw force (a) F = 3 kN*smooth_step((time - 10 ms)/(1 ms), 2)\nrun transient(stop = 0.05 s)\n"
STOPS = {
    "bumper": f"use translational\nk bumper (a, ground) c = 3e4 N/m, lambda = 3 s/m\n{PULLED}",
    "stop": f"use translational\nk stop (a, ground) c = 3e4 N/m, lambda = 3 s/m, lower = 0 m, upper = 20 m\n{PULLED}",
    "single_acting_cylinder": f"use couplings\nk single_acting_cylinder (p, a, ground) A = 1 cm2, stroke = 1 m, lambda = 3 s/m, cs = 3e4 N/m\nr pipe (p, ground) R = 1e8 Pa.s/m3\n{PULLED}",
    "limited_revolute": "use spatial\nb body (x) m = 1 kg, I = diag(1, 1, 1) kg.m2\nk limited_revolute (ground, x) at = [0, 0, 0] m, lower = -0.2 rad, upper = 0.3 rad, cs = 5e3 N.m/rad, lambda = 3 s/rad\nm world_moment (x) M = [0, 0, -2e3 N.m*smooth_step((time - 80 ms)/(1 ms), 2)]\nstart x.w = [0, 0, 4] rad/s\nrun transient(stop = 0.11 s)\n",
    "planar_limited_prismatic": "use planar\nb planar_body (x) m = 1 kg, I = 1 kg.m2\nk planar_limited_prismatic (ground, x) lower = -0.2 m, upper = 0.3 m, cs = 5e3 N/m, lambda = 3 s/m\nf planar_force (x) F = [-2e3 N*smooth_step((time - 80 ms)/(1 ms), 2), 0]\nstart x.v = [4, 0] m/s\nrun transient(stop = 0.11 s)\n",
}


@pytest.mark.parametrize("name", STOPS)
def test_energy_account_closes_where_a_stop_is_left_faster_than_it_pushes(name):
    """Pulled away from the stop: it ends to push at the speed 1/lambda, what its spring still holds is lost."""
    samples = sampled(netsim.load(STOPS[name]), ("k.spent",), rtol=1e-9)
    stored, supplied, lost = samples.energy.T
    assert np.abs(supplied - lost - stored + stored[0]).max() < 1e-8 * lost[-1] and samples.series("k.spent").max() == 1.0


def test_contact_follows_its_closed_form():
    """Twice the spring's force until it exceeds the damper's, then both, then none from where they are alike: 1 kg, 1 m/s."""
    samples = sampled(
        netsim.load(
            "use translational\nm mass (a) m = 1 kg\nk elasto_gap (a, ground) c = 1e4 N/m, d = 50 N.s/m\nstart a.v = -1 m/s\nrun transient(stop = 0.1 s)\n"
        ),
        ("a.x", "a.v"),
        rtol=1e-9,
    )
    w = np.sqrt(2e4)
    t1 = np.arctan(50 * w / 1e4) / w  # c depth = d speed: 1e4 sin(w t)/w = 50 cos(w t)
    x1, v1 = -np.sin(w * t1) / w, -np.cos(w * t1)
    s, W = 25.0, np.sqrt(1e4 - 25.0**2)
    t = np.linspace(0, 0.05, 200001)
    x = np.exp(-s * t) * (x1 * np.cos(W * t) + (v1 + s * x1) / W * np.sin(W * t))
    v = np.exp(-s * t) * (v1 * np.cos(W * t) - (s * v1 + (s * s + W * W) * x1) / W * np.sin(W * t))
    free = int(np.argmax(50 * v > -1e4 * x))
    assert samples.series("a.v")[-1] == pytest.approx(v[free], rel=1e-6)


def test_rotations_prescribed_twice_are_called_rotations():
    text = "b2 body (z) m = 1 kg, I = diag(1, 2, 3) kg.m2\nq2 hinge_angle (x, z) q = 1 rad\nq3 hinge_angle (ground, z) q = 2 rad\nq4 hinge_angle (ground, x) q = 1 rad\n"
    with pytest.raises((netsim.InputError, netsim.SimulationError), match="fix the same rotation") as told:
        netsim.load(BODY + text + "run transient(stop = 1 s)\n").samples()
    assert "distance" not in str(told.value)


@pytest.mark.parametrize(
    "name",
    ["orientation", "spin", "hinge_angle", "marker_displacement", "marker_coordinate", "slide_velocity", "planar_marker_displacement", "planar_hinge_angle", "displacement", "rolling_wheel"],
)  # fmt: skip
def test_what_is_prescribed_twice_is_told_by_both_names(name):
    text = netlist(name, run="run transient(stop = 1 us, step = 1 us)")
    line = next(each for each in text.splitlines() if each.startswith("x "))
    with pytest.raises((netsim.InputError, netsim.SimulationError), match=r"'[xz]' and '[xz]'") as told:
        netsim.load(text.replace(line, f"{line}\nz{line[1:]}")).run()
    assert {problem.code for problem in told.value.problems} <= {"E304", "E320", "E502"}
    assert all(problem.hint and problem.span is not None for problem in told.value.problems)


@pytest.mark.parametrize("other", ["revolute (ground, x) at = [0, 0, 0] m", "spatial_weld (ground, x)", "spin (ground, x) w = [0, 0, 0] rad/s"])
def test_a_rotation_that_something_else_fixes_too_is_told(other):
    with pytest.raises(netsim.InputError, match="E320 'o' and 'z' both fix the rotation between 'ground' and 'x'"):
        netsim.load(f"{BODY}o orientation (ground, x) phi = [0, 0, 0]\nz {other}\nrun transient(stop = 1 s)\n").run()
