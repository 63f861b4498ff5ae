"""Dry friction of joints that truly holds: stick and slip against closed forms, in space and in the plane, turning and sliding."""

import itertools
import math
from functools import cache

import numpy as np
import pytest

import netsim
from conftest import sampled
from netsim.text.errors import InputError

SPATIAL = (
    "use spatial\nworld gravity = [0, 0, 0] m/s2\nuse couplings\nuse translational\nuse rotational\nb body (a) m = 1 kg, I = diag(1, 1, 1) kg.m2\n"
)
PLANAR = "use planar\nuse couplings\nuse translational\nuse rotational\nb planar_body (a) m = 1 kg, I = 1 kg.m2\n"
SLIDE = "F = 1 N, peak = 1.5\ns spring (y, x) c = 10 N/m\nd velocity (y, ground) v = 0.1 m/s\n"
TURN = "T = 1 N.m, peak = 1.5\ns torsion_spring (y, x) c = 10 N.m/rad\nd speed (y, ground) w = 0.1 rad/s\n"
PULLED = {
    "hinge": f"{SPATIAL}j revolute_driven (ground, a, x) at = [0, 0, 0] m, axis = [1, 2, 2]\nf hinge_friction (ground, a) axis = [1, 2, 2], {TURN}",
    "slider": f"{SPATIAL}j prismatic_driven (ground, a, x) axis = [2, -1, 2]\nf slide_friction (ground, a) axis = [2, -1, 2], {SLIDE}",
    "pin": f"{PLANAR}j planar_revolute_driven (ground, a, x) at = [0, 0] m\nf planar_hinge_friction (ground, a) {TURN}",
    "planar slider": f"{PLANAR}j planar_prismatic_driven (ground, a, x) axis = [3, 4]\nf planar_slide_friction (ground, a) axis = [3, 4], {SLIDE}",
}


@cache
def loaded(text):
    return netsim.load(text)


def log(samples):
    """Instant, element, conditions and changes; without the instants at which only `moved` changes."""
    lines = [line.split("\t") for line in samples.attributes["event_log"].splitlines()]
    return [line for line in lines if line[3] not in ("moved = 0", "moved = 1")]


@pytest.mark.parametrize("joint", PULLED)
def test_stick_slip_has_its_exact_period(joint):
    """q'' = c (V t - q) - F from rest with the spring at peak F, inertia 1: as for the mass in test_events.py."""
    c, v, force, peak = 10.0, 0.1, 1.0, 1.5
    w = math.sqrt(c)
    slip = (math.pi + 2 * math.atan2(v / w, (peak - 1) * force / c)) / w
    stick = ((peak - (2 - peak)) * force / c) / v
    samples = sampled(netsim.load(f"{PULLED[joint]}run transient(stop = 7 s)\n"), ("f.mode", "f.loss"), rtol=1e-8)
    starts = np.array([float(t) for t, name, _, what in log(samples) if name == "f" and "mode = 1" in what])
    assert starts[0] == pytest.approx(peak * force / c / v, rel=1e-8)
    assert np.diff(starts) == pytest.approx(np.full(2, slip + stick), rel=1e-6)
    stored, supplied, dissipated = samples.energy.T
    assert stored + dissipated - supplied == pytest.approx(np.full(len(stored), stored[0]), abs=1e-6 * np.ptp(stored))


PENDULUM = """
use planar
world gravity = [0, -9.81, 0] m/s2
b planar_body (a) m = 1 kg, I = 0.5 kg.m2, at = [1, 0] m
j planar_revolute (ground, a) at = [0, 0] m
f planar_hinge_friction (ground, a) T = 2 N.m
run transient(stop = 20 s)
"""


def test_a_pendulum_comes_to_rest_within_its_friction():
    """It loses T times the angle it turns, and rests where its weight no longer overcomes the friction."""
    samples = sampled(netsim.load(PENDULUM), ("a.phi", "a.w", "f.mode"), rtol=1e-8)
    phi, mode = samples.series("a.phi"), samples.series("f.mode")
    assert mode[-1] == 0 and np.all(samples.series("a.w")[-5:] == pytest.approx(0, abs=1e-9))
    assert abs(9.81 * math.cos(phi[-1])) < 2
    turned = np.sum(np.abs(np.diff(phi)))
    assert 2 * turned == pytest.approx(9.81 * -math.sin(phi[-1]), rel=1e-6)


SWING = {
    "space": """
use spatial
world gravity = [0, 0, -9.81] m/s2
b body (a) m = 2 kg, I = diag(0.1, 0.1, 0.1) kg.m2, at = [0, 0, -0.5] m
j revolute (ground, a) at = [0, 0, 0] m, axis = [0, 1, 0], friction = 0.05 N.m
start j.q = 0.2 rad
""",
    "plane": """
use planar
world gravity = [0, -9.81, 0] m/s2
b planar_body (a) m = 2 kg, I = 0.1 kg.m2, at = [0, -0.5] m
j planar_revolute (ground, a) at = [0, 0] m, friction = 0.05 N.m
start j.q = 0.2 rad
""",
}


@pytest.mark.parametrize("where", SWING)
def test_each_half_swing_loses_what_friction_takes(where):
    """Between two turning points m g l (cos q' - cos q) = T |q' - q|, q' - q the turn; for small swings the amplitude falls by 2 T/(m g l) each."""
    samples = sampled(netsim.load(SWING[where] + "run transient(stop = 40 s)\n"), ("j.q", "j.rate", "j.dry.mode"), rtol=1e-9)
    weight, friction = 2 * 9.81 * 0.5, 0.05
    turns = [float(t) for t, name, _, _ in log(samples) if name == "j.dry" and float(t) > 0]
    at = np.searchsorted(samples.time, np.array(turns) * (1 - 1e-14))
    peaks = np.concatenate([[0.2], samples.series("j.q")[np.minimum(at, len(samples.time) - 1)]])
    lost = weight * (np.cos(peaks[1:]) - np.cos(peaks[:-1]))
    assert len(peaks) > 15 and lost == pytest.approx(friction * np.abs(np.diff(peaks)), rel=1e-6)
    falls = -np.diff(np.abs(peaks))[:-1]
    assert falls == pytest.approx(np.full(len(falls), 2 * friction / weight), rel=0.01)
    assert samples.series("j.dry.mode")[-1] == 0 and weight * math.sin(abs(peaks[-1])) < friction
    assert np.ptp(samples.series("j.q")[samples.time > turns[-1]]) < 1e-9


INCLINE = """
use spatial
world gravity = [0, 0, -9.81] m/s2
b body (a) m = 3 kg, I = diag(1, 1, 1) kg.m2
s prismatic (ground, a) axis = [0.8, 0, 0.6], friction = 15 N
start s.rate = 2 m/s
run transient(stop = 4 s)
"""


def test_a_block_runs_up_an_incline_and_slides_back():
    """Deceleration g sin + F/m, acceleration back g sin - F/m: m g sin = 17.66 N is more than F."""
    samples = sampled(netsim.load(INCLINE), ("s.q", "s.rate"), rtol=1e-9)
    rise, fall = 9.81 * 0.6 + 5, 9.81 * 0.6 - 5
    t, top = samples.time, 2 / rise
    q = np.where(t < top, 2 * t - rise * t**2 / 2, 2 / rise - fall * (t - top) ** 2 / 2)
    assert samples.series("s.q") == pytest.approx(q, abs=1e-8)


def test_a_block_stays_on_an_incline_that_its_friction_holds():
    samples = sampled(netsim.load(INCLINE.replace("15 N", "20 N")), ("s.q", "s.dry.mode", "s.dry.force"), rtol=1e-9)
    assert samples.series("s.q")[-1] == pytest.approx(2 / (9.81 * 0.6 + 20 / 3), abs=1e-9)
    assert samples.series("s.dry.mode")[-1] == 0 and samples.series("s.dry.force")[-1] == pytest.approx(3 * 9.81 * 0.6, rel=1e-9)


FOURBAR = """
use spatial
world gravity = [0, 0, -9.81] m/s2
crank  body (c) m = 1 kg, I = diag(0.1, 0.1, 0.1) kg.m2, at = [0, 0, 0.1] m
coupl  body (k) m = 2 kg, I = diag(0.1, 0.2, 0.2) kg.m2, at = [0.3, 0, 0.25] m
rock   body (r) m = 1 kg, I = diag(0.1, 0.1, 0.1) kg.m2, at = [0.6, 0, 0.15] m
j1 revolute (ground, c) at = [0, 0, 0] m, axis = [0, 1, 0], friction = 0.6 N.m{round}
j2 revolute (c, k) at = [0, 0, 0.2] m, axis = [0, 1, 0], friction = 0.3 N.m{round}
j3 revolute (k, r) at = [0.6, 0, 0.3] m, axis = [0, 1, 0], friction = 0.3 N.m{round}
j4 revolute (ground, r) at = [0.6, 0, 0] m, axis = [0, 1, 0], friction = 0.3 N.m{round}
push   hinge_torque (ground, c) axis = [0, 1, 0], T = 3 N.m*sin(2*time/(1 s))
run transient(stop = 2.6 s, sample = 10 ms)
"""


SHARED = ("j1.dry.torque", "j2.dry.torque", "j4.dry.torque", "j4.force.x")


@cache
def fourbar(formulation):
    return sampled(loaded(FOURBAR.format(round="")), ("j1.q", "j4.q", *SHARED), rtol=1e-8, formulation=formulation)


def test_a_fourbar_with_friction_in_all_joints():
    """All four hold at rest (three more than there is freedom), break loose, and pass singular configurations; rounded friction tends to it."""
    samples = fourbar("absolute")
    rounded = sampled(netsim.load(FOURBAR.format(round=", ws = 1e-4 rad/s")), ("j1.q", "j4.q"), rtol=1e-6)
    assert samples.finished and len({name for _, name, _, _ in log(samples)}) == 4
    for name in ("j1.q", "j4.q"):
        there = np.interp(rounded.time, samples.time, samples.series(name))
        assert there == pytest.approx(rounded.series(name), abs=3e-3)
    stored, supplied, dissipated = samples.energy.T
    assert stored + dissipated - supplied == pytest.approx(np.full(len(stored), stored[0]), abs=1e-6 * np.ptp(stored))


CRANK = """
use spatial
world gravity = [0, -9.81, 0] m/s2
cyl    prismatic (ground, p) at = [0, 0.3, 0] m, axis = [0, 1, 0], friction = 20 N
piston body (p) m = 0.5 kg, I = diag(1e-3, 1e-3, 1e-3) kg.m2, at = [0, 0.3, 0] m
rod    body (r) m = 0.6 kg, I = diag(5e-3, 1e-4, 5e-3) kg.m2, at = [0, 0.2, 0] m
crank  body (c) m = 2 kg, I = diag(0.1, 0.1, 0.1) kg.m2
b1 revolute (ground, c) at = [0, 0, 0] m
b2 revolute (c, r) at = [0, 0.1, 0] m
b3 revolute (r, p) at = [0, 0.3, 0] m
start b1.rate = -20 rad/s
start b1.q = 0.3 rad
run transient(stop = 1.5 s)
"""


def test_a_slider_crank_runs_through_its_dead_points():
    """Friction of the piston is F times its way: it neither stops the crank where it cannot, nor lets it pass without loss."""
    samples = sampled(netsim.load(CRANK), ("b1.q", "b1.rate", "cyl.q", "cyl.dry.mode"), rtol=1e-7)
    turned, way = samples.series("b1.q"), np.sum(np.abs(np.diff(samples.series("cyl.q"))))
    assert turned[0] - turned[-1] > 2.5 * math.pi
    assert samples.energy[-1, 2] == pytest.approx(20 * way, rel=2e-3)
    stored, supplied, dissipated = samples.energy.T
    assert stored + dissipated - supplied == pytest.approx(np.full(len(stored), stored[0]), abs=2e-6 * np.ptp(stored))


ALIKE = {
    "hinge": (SWING["space"] + "run transient(stop = 4 s, sample = 10 ms)\n", ("j.dry.torque", "j.force.z"), 4),
    "slider that is pulled": (PULLED["slider"] + "run transient(stop = 4 s, sample = 10 ms)\n", ("f.force", "f.loss"), 3),
    "incline": (INCLINE.replace("4 s", "4 s, sample = 10 ms"), ("s.dry.force", "s.force.z"), 1),
    "pin": (SWING["plane"] + "run transient(stop = 4 s, sample = 10 ms)\n", ("j.dry.torque", "j.q"), 4),
    "four-bar, all joints": (FOURBAR, SHARED, 10),
}


@pytest.mark.parametrize("where", ALIKE)
def test_joint_coordinates_stick_and_slip_at_the_same_instants(where):
    """Instants, what happens there, and the forces: also where more joints hold than there are freedoms, so that they share the load."""
    text, names, events = ALIKE[where]
    bodies, joints = (fourbar(f) if text == FOURBAR else sampled(loaded(text), names, rtol=1e-8, formulation=f) for f in ("absolute", "tree"))
    assert joints.attributes["formulation"] == "tree" and joints.attributes["unknowns"] < bodies.attributes["unknowns"]
    assert len(log(bodies)) >= events and [e[1::2] for e in log(bodies)] == [e[1::2] for e in log(joints)]
    assert [float(e[0]) for e in log(joints)] == pytest.approx([float(e[0]) for e in log(bodies)], abs=1e-8)
    for name in names:
        assert joints.series(name) == pytest.approx(bodies.series(name), rel=1e-5, abs=1e-5)


def test_what_friction_that_holds_needs():
    """Recursions know no modes: they say so, at the joint, with what helps."""
    text = SWING["space"]
    with pytest.raises(InputError) as caught:
        netsim.load(f"{text}run recursion(stop = 1 s)\nsave j.q\n").samples()
    assert caught.value.problems[0].code == "E450" and "`ws`" in caught.value.problems[0].hint
    assert caught.value.problems[0].span.line == 5
    netsim.load(f"{text.replace('0.05 N.m', '0.05 N.m, ws = 0.1 rad/s')}run recursion(stop = 1 s)\nsave j.q\n").samples()


THROWN = (
    "use spatial\nworld gravity = [0, 0, -9.81] m/s2\nb body (a) m = 1 kg, I = diag(0.1, 0.2, 0.3) kg.m2, at = [0.3, 0.1, -0.2] m\n"
    "run transient(stop = 1.5 s, sample = 10 ms)\n"
)
THROWN_FLAT = (
    "use planar\nworld gravity = [0, -9.81, 0] m/s2\nb planar_body (a) m = 1 kg, I = 0.1 kg.m2, at = [0.3, 0.1] m\n"
    "run transient(stop = 1.5 s, sample = 10 ms)\n"
)
RUBBING = {
    "universal": (
        THROWN,
        "j universal (ground, a) at = [0, 0, 0] m, friction1 = 0.5 N.m, friction2 = 0.7 N.m{ws}\nstart j.v1 = 2 rad/s\nstart j.v2 = 0.1 rad/s",
        ("j.q1", "j.q2"),
    ),
    "cylindrical": (
        THROWN,
        "j cylindrical (ground, a) at = [0, 0, 0] m, axis = [1, 0, 1], friction = 3 N, frictionq = 0.1 N.m{vs}{ws}",
        ("j.s", "j.q"),
    ),
    "plane": (THROWN, "j planar_joint (ground, a) normal = [0, 1, 0], c = 50 N/m, frictionq = 0.2 N.m{ws}\nstart a.w.y = 3 rad/s", ("j.x", "j.q")),
    "line": (THROWN, "j point_on_line (ground, a) at = [0, 0, 0] m, axis = [1, 1, -1], friction = 3 N{vs}", ("j.s",)),
    "ball": (THROWN, "j spherical (ground, a) at = [0, 0, 0] m, friction = 0.4 N.m{ws}\nstart a.w = [1, -1, 3] rad/s", ("j.rate.x", "j.rate.z")),
    "glide": (
        THROWN,
        "j planar_joint (ground, a) normal = [0, 1, 0], c = 50 N/m, friction = 2 N{vs}\n"
        "start j.ratex = 1 m/s\nstart j.ratey = 0.2 m/s\nstart j.rateq = 0.5 rad/s",
        ("j.x", "j.y"),
    ),
    "ball on a line": (THROWN, "j point_on_line (ground, a) at = [0, 0, 0] m, axis = [1, 1, -1], frictionq = 0.3 N.m{ws}", ("j.s", "j.rateq.x")),
    "slide": (THROWN_FLAT, "j planar_prismatic (ground, a) axis = [1, 2], friction = 6 N{vs}\nstart j.rate = 3 m/s", ("j.q",)),
    "slot": (THROWN_FLAT, "j planar_pin_in_slot (ground, a) axis = [2, -1], friction = 2 N, frictionphi = 0.5 N.m{vs}{ws}", ("j.q", "j.phi")),
}


@pytest.mark.parametrize("joint", RUBBING)
def test_friction_of_every_joint_is_the_limit_of_the_rounded_one(joint):
    text, line, names = RUBBING[joint]
    exact = sampled(netsim.load(text + line.format(ws="", vs="") + "\n"), names, rtol=1e-7)
    rounded = sampled(netsim.load(text + line.format(ws=", ws = 1e-4 rad/s", vs=", vs = 1e-4 m/s") + "\n"), names, rtol=1e-7)
    for name in names:
        there = np.interp(rounded.time, exact.time, exact.series(name))
        assert there == pytest.approx(rounded.series(name), abs=2e-3 * max(1e-2, np.ptp(rounded.series(name))))
    stored, supplied, dissipated = exact.energy.T
    assert dissipated[-1] > 0.05 and stored + dissipated - supplied == pytest.approx(np.full(len(stored), stored[0]), abs=2e-6)


@pytest.mark.parametrize("rtol", [1e-3, 1e-4, 1e-5])
def test_what_steps_leave_of_a_speed_moves_nothing(rtol):
    """It swings from a horizontal start to one side and back, and stays: Newton's iteration leaves 1e-2 rtol of the
    speeds, which broke it loose again at 1e-4 where a step was searched for that."""
    samples = sampled(netsim.load(PENDULUM), ("a.w", "f.mode"), rtol=rtol)
    modes = samples.series("f.mode")
    assert [mode for mode, _ in itertools.groupby(modes)] == [-1.0, 1.0, -1.0, 0.0]
    assert samples.attributes["steps"] < 200
