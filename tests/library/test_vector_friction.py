"""Dry friction of several freedoms at once, against closed forms: it is opposite to the velocity, and holds all of them or none."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import netsim
from conftest import sampled

BLOCK = {
    "space": """
use spatial
world gravity = [{pull}, 0, -9.81] m/s2
b body (a) m = 2 kg, I = diag(1, 1, 1) kg.m2
j planar_joint (ground, a) friction = 10 N
start j.ratex = {vx} m/s
start j.ratey = {vy} m/s
""",
    "plane": """
use planar
world gravity = [{pull}, 0, 0] m/s2
b planar_body (a) m = 2 kg, I = 1 kg.m2
j planar_glide_friction (ground, a) F = 10 N
start a.v = [{vx}, {vy}] m/s
""",
}
PLACE = {"space": ("a.r.x", "a.r.y", "j.dry.mode"), "plane": ("a.r.x", "a.r.y", "j.mode")}


def log(samples):
    return [line.split("\t") for line in samples.attributes["event_log"].splitlines()]


def block(where, pull, vx, vy, run="stop = 3 s"):
    text = BLOCK[where].format(pull=pull, vx=vx, vy=vy)
    return sampled(netsim.load(f"{text}run transient({run})\n"), PLACE[where], rtol=1e-9)


@pytest.mark.parametrize(("where", "run"), [("space", "stop = 3 s"), ("space", "stop = 3 s, formulation = tree"), ("plane", "stop = 3 s")])
def test_a_block_that_slides_comes_to_rest(where, run):
    """Straight on, with F/m against it: t = v m/F, v^2 m/(2 F) from where it began, along its velocity."""
    samples = block(where, 0, 3, -4, run)
    x, y, mode = (samples.series(name) for name in PLACE[where])
    assert [float(e[0]) for e in log(samples)] == pytest.approx([1.0], abs=1e-9)
    assert (x[-1], y[-1]) == pytest.approx((1.5, -2.0), abs=1e-9) and mode[-1] == 0
    assert samples.energy[-1, 2] == pytest.approx(25.0, rel=1e-9)


@pytest.mark.parametrize(("where", "run"), [("space", "stop = 3 s"), ("space", "stop = 3 s, formulation = tree"), ("plane", "stop = 3 s")])
@pytest.mark.parametrize(("vx", "vy"), [(0.0, 2.0), (-1.0, 2.0), (-2.0, 0.1)])
def test_a_block_thrown_across_an_incline(where, run, vx, vy):
    """a |v| + g v_x falls at the rate a^2 - g^2 (a = F/m, g the pull): the instant of rest is known, the place by quadrature over v's direction."""
    a, g, v0 = 5.0, 3.0, math.hypot(vx, vy)
    samples = block(where, g, vx, vy, run)
    x, y, mode = (samples.series(name) for name in PLACE[where])
    stopped = [float(e[0]) for e in log(samples) if "mode = 0" in e[3]]
    assert stopped == pytest.approx([(a * v0 + g * vx) / (a * a - g * g)], abs=1e-6)
    held = samples.time > stopped[0]
    assert np.all(mode[held] == 0) and np.ptp(x[held]) < 1e-9

    def along(angle, state):  # with ln(v) for v: dv/v = (g cos - a) dt/v, dangle = -g sin dt/v, so dx = -v^2 cos/(g sin) dangle
        v = math.exp(state[0])
        rate = -1.0 / (g * math.sin(angle))
        return [rate * (g * math.cos(angle) - a), rate * v * v * math.cos(angle), rate * v * v * math.sin(angle)]

    way = solve_ivp(along, (math.atan2(vy, vx), 1e-7), [math.log(v0), 0, 0], rtol=1e-11, atol=1e-13, method="DOP853").y[:, -1]
    assert (x[-1], y[-1]) == pytest.approx((way[1], way[2]), abs=1e-7)


def test_where_friction_is_the_pull_half_the_speed_is_left():
    """a = g: |v| + v_x stays, so that what was thrown across slides down with half its speed in the end."""
    samples = sampled(netsim.load(BLOCK["plane"].format(pull=5, vx=0, vy=2) + "run transient(stop = 4 s)\n"), ("a.v.x", "a.v.y"), rtol=1e-9)
    x, y = samples.series("a.v.x"), samples.series("a.v.y")
    assert np.hypot(x, y) + x == pytest.approx(np.full(len(x), 2.0), abs=1e-7)
    assert x[-1] == pytest.approx(1.0, abs=1e-3) and abs(y[-1]) < 0.01


@pytest.mark.parametrize("formulation", ["absolute", "tree"])
def test_the_spin_of_a_ball_joint_stops(formulation):
    """I w' = -T w/|w|: rest at I |w|/T after a turn of I w^2/(2 T) about the axis of the spin."""
    text = (
        "use spatial\nworld gravity = [0, 0, 0] m/s2\nb body (a) m = 2 kg, I = diag(2, 2, 2) kg.m2\n"
        "j spherical (ground, a) at = [0, 0, 0] m, friction = 1.5 N.m\n"
        f"start a.w = [1, 2, 2] rad/s\nrun transient(stop = 5 s, formulation = {formulation})\n"
    )
    samples = sampled(netsim.load(text), ("a.R", "j.dry.mode"), rtol=1e-9)
    assert [float(e[0]) for e in log(samples)] == pytest.approx([4.0], abs=1e-7)
    found = np.array([samples.series(f"a.R[{i},{j}]")[-1] for i in (1, 2, 3) for j in (1, 2, 3)]).reshape(3, 3)
    axis, angle = np.array([1, 2, 2]) / 3, 2 * 9 / (2 * 1.5)
    across = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    assert found == pytest.approx(np.eye(3) + math.sin(angle) * across + (1 - math.cos(angle)) * across @ across, abs=1e-6)


PULLED = """
use spatial
world gravity = [0, 0, -9.81] m/s2
b body (a) m = 1 kg, I = diag(1, 1, 1) kg.m2
j planar_joint (ground, a)
f glide_friction (ground, a) F = {force}, peak = 1.5
p world_force (a) F = [10 N/m*(0.06 m/s*time - a.r.x), 10 N/m*(0.08 m/s*time - a.r.y), 0 N]
run transient(stop = 7 s, formulation = {formulation})
"""


@pytest.mark.parametrize(("force", "formulation"), [("1 N", "absolute"), ("1 N", "tree"), ("(1/9.81)*j.force.z", "absolute")])
def test_oblique_stick_slip_has_its_exact_period(force, formulation):
    """Pulled at an angle to both axes it breaks loose along the pull; by a given force, or as a share of the normal force."""
    c, v, peak = 10.0, 0.1, 1.5
    w = math.sqrt(c)
    slip, stick = (math.pi + 2 * math.atan2(v / w, (peak - 1) / c)) / w, (2 * peak - 2) / c / v
    samples = sampled(netsim.load(PULLED.format(force=force, formulation=formulation)), ("f.force", "f.mode", "f.rate"), rtol=1e-8)
    starts = np.array([float(t) for t, _, _, what in log(samples) if "mode = 2" in what])
    assert starts[0] == pytest.approx(peak / c / v, rel=1e-8)
    assert np.diff(starts) == pytest.approx(np.full(2, slip + stick), rel=1e-7)
    held, moving = samples.series("f.mode") == 0, samples.series("f.rate") > 1e-6
    x, y = samples.series("f.force.x"), samples.series("f.force.y")
    pull = np.hypot(x, y)
    assert pull[held].max() <= peak * (1 + 1e-9) and pull[moving] == pytest.approx(np.ones(moving.sum()), rel=1e-9)
    assert y[held | moving] == pytest.approx(4 / 3 * x[held | moving], abs=1e-5)
