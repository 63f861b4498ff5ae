# ruff: noqa: E501  (netlists in a line read best)
"""Turns are counted alike by all that speak of one angle: hinges, sensors, springs, prescribed angles."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import netsim
from conftest import sampled

BODY = "use spatial\nworld gravity = [0, 0, 0] m/s2\nb body (x) m = 1 kg, I = diag(1, 2, 3) kg.m2\n"
ELEMENTS = "y1 hinge_sensor (ground, x, y)\nk1 hinge_spring (ground, x) c = 1e-9 N.m/rad\n"
HINGES = {
    "revolute": "h revolute (ground, x) at = [1, 0, 0] m",
    "cylindrical": "h cylindrical (ground, x) at = [1, 0, 0] m",
    "planar_joint": "h planar_joint (ground, x)",
}


@pytest.mark.parametrize(
    ("hinge", "degrees"), [*(("revolute", degrees) for degrees in (720, 170, -400, 3590)), ("cylindrical", -400), ("planar_joint", 720)]
)
def test_sensor_and_spring_count_the_turns_of_a_written_start(hinge, degrees):
    text = f"{BODY}{HINGES[hinge]}\n{ELEMENTS}start h.q = {degrees} deg\nrun transient(stop = 1 us, step = 1 us)\n"
    samples = sampled(netsim.load(text), ("h.q", "y", "k1.q"))
    assert samples.values[0] == pytest.approx(np.full(3, np.radians(degrees)), abs=1e-9)


@pytest.mark.parametrize(("q", "formulation"), [(3.0, "absolute"), (-10.0, "absolute"), (4 * np.pi, "tree"), (4.0, "tree")])
def test_prescribed_angle_is_the_hinges(q, formulation):
    text = f"{BODY}{HINGES['revolute']}\no hinge_angle (ground, x) q = {q!r} rad + 1 rad*time^2/(1 s2)\n{ELEMENTS}run transient(stop = 1 s)\n"
    samples = sampled(netsim.load(text), ("h.q", "y", "k1.q"), formulation=formulation)
    for column in samples.values.T:
        assert column == pytest.approx(q + samples.time**2, abs=1e-6)


def test_spring_of_a_prescribed_angle_pulls_by_all_its_turns():
    """c (q - q0) at 4 pi, where a spring that forgot the turns would rest."""
    text = f"{BODY}h revolute (ground, x) at = [0, 0, 0] m, c = 2 N.m/rad\no hinge_angle (ground, x) q = 4*pi\nrun transient(stop = 1 s)\n"
    assert sampled(netsim.load(text), ("o.T",)).series("o.T") == pytest.approx(8 * np.pi, rel=1e-6)


def test_axis_and_direction_decide():
    """About the opposite axis and from b to a the angle is the opposite one and the same; of a universal joint each axis has its own."""
    opposite = "s2 hinge_sensor (ground, x, y2) axis = [0, 0, -1]\ns3 hinge_sensor (x, ground, y3) axis = [0, 0, -1]\n"
    text = f"{BODY}{HINGES['revolute']}\n{opposite}start h.q = 720 deg\nrun transient(stop = 1 s)\n"
    assert sampled(netsim.load(text), ("y2", "y3")).values[0] == pytest.approx([-4 * np.pi, 4 * np.pi])
    cardan = "h universal (ground, x) at = [0, 0, 0] m\ns1 hinge_sensor (ground, x, y1) axis = [1, 0, 0], across = [0, 1, 0]\ns2 hinge_sensor (x, ground, y2) axis = [0, 1, 0], across = [1, 0, 0]\n"
    text = f"{BODY}{cardan}start h.q1 = 720 deg\nrun transient(stop = 1 s)\n"
    assert sampled(netsim.load(text), ("h.q1", "h.q2", "y1", "y2")).values[0] == pytest.approx([4 * np.pi, 0, 4 * np.pi, 0], abs=1e-9)


def test_sensor_beside_a_driven_hinge_counts_the_turns_of_its_flange():
    text = f"{BODY}h revolute_driven (ground, x, f) at = [0, 0, 0] m\n{ELEMENTS}start f.phi = 720 deg\nrun transient(stop = 1 s)\n"
    assert sampled(netsim.load("use rotational\n" + text), ("f.phi", "y")).values[0] == pytest.approx([4 * np.pi, 4 * np.pi])


@pytest.mark.parametrize("slider, along", [("prismatic", "q"), ("cylindrical", "s")])
def test_closed_loop_stands_alike_a_turn_on(slider, along):
    """A hinge written at -10 deg, 350 deg or 710 deg leaves the slider of its loop at one place."""
    places = {"a": [0.5, 0, 0], "b": [1.5, 0, 0], "c": [2, 0.5, 0], "d": [1.5, 1, 0]}
    bodies = "".join(f"b{n} body ({n}) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = {at} m\n" for n, at in places.items())
    joints = (
        f"h1 revolute (ground, a) at = [0, 0, 0] m\ns1 {slider} (a, b) axis = [1, 0, 0], at = [1, 0, 0] m\nh2 spherical (b, c) at = [2, 0, 0] m\n"
        "h3 spherical (d, c) at = [2, 1, 0] m\nh4 revolute (ground, d) at = [1, 1, 0] m\n"
    )
    text = f"use spatial\n{bodies}{joints}start h1.q = {{}} deg\nrun transient(stop = 1 us, step = 1 us)\n"
    found = {q: sampled(netsim.load(text.format(q)), (f"s1.{along}", "h4.q", "b.r")).values[0] for q in (-10, 350, 710)}
    assert found[350] == pytest.approx(found[-10], abs=1e-9) and found[710] == pytest.approx(found[-10], abs=1e-9)
    assert found[-10][0] == pytest.approx(0.0, abs=1e-9)  # the loop closes without the slider


PLANAR_LOOP = "use planar\nuse rotational\n" + "".join(
    f"b{n} planar_body ({n}) m = 1 kg, I = 1 kg.m2, at = {at} m\n" for n, at in {"a": [0.5, 0], "b": [1.5, 0], "c": [2, 0.5], "d": [1.5, 1]}.items()
) + "h2 planar_revolute (b, c) at = [2, 0] m\nh3 planar_revolute (d, c) at = [2, 1] m\nh4 planar_revolute (ground, d) at = [1, 1] m\n"  # fmt: skip
HINGE, DRIVEN = "h1 planar_revolute (ground, a) at = [0, 0] m\n", "h1 planar_revolute_driven (ground, a, f) at = [0, 0] m\n"
SLIDER = "s1 planar_prismatic (a, b) axis = [1, 0], at = [1, 0] m\n"


@pytest.mark.parametrize(
    ("lines", "turned"),
    [
        (HINGE + SLIDER + "start h1.q = {} deg", "h1.q"),
        (HINGE + SLIDER + "start h2.q = {} deg", "h2.q"),
        (HINGE + SLIDER + "start h4.q = {} deg", "h4.q"),
        (HINGE + SLIDER + "start a.phi = {} deg", "h1.q"),
        (HINGE + SLIDER + "o planar_hinge_angle (ground, a) q = {} deg", "h1.q"),
        (DRIVEN + SLIDER + "g gear (f, n) ratio = 3\ni inertia (n) J = 1 kg.m2\nstart f.phi = {} deg", "f.phi"),
        (HINGE + "s1 planar_pin_in_slot (a, b) axis = [1, 0], at = [1, 0] m\nstart h1.q = {} deg", "h1.q"),
    ],
)
def test_planar_loop_stands_alike_a_turn_on(lines, turned):
    """The pose at -10 deg is that at 350 deg, 710 deg and -370 deg, and the slider that nobody wrote about stays; the turns are those written."""
    text = PLANAR_LOOP + lines + "\nrun transient(stop = 1 us, step = 1 us)\n"
    found = {q: sampled(netsim.load(text.format(q)), ("s1.q", "b.r", "d.r", "b.phi", turned)).values[0] for q in (-10, 350, 710, -370)}
    for q, pose in found.items():
        assert pose[:5] == pytest.approx(found[-10][:5], abs=1e-8) and pose[0] == pytest.approx(0.0, abs=1e-8)
        assert np.cos(pose[5] - found[-10][5]) == pytest.approx(1.0) and pose[6] == pytest.approx(np.radians(q), abs=1e-9)


def test_a_loop_beside_a_circuit_whose_balances_are_summed():
    """A current source, a resistor and an inductor change the signature of the network, which turns do not read."""
    circuit = "use electrical\ni current (ground, n) I = 3 A*sin(14 rad/s*time)\nr resistor (n, k) R = 2 Ohm\nl inductor (k, ground) L = 2 H\n"
    text = PLANAR_LOOP + HINGE + SLIDER + circuit + "start h1.q = 350 deg\nrun transient(stop = 10 ms)\n"
    assert sampled(netsim.load(text), ("h1.q", "k.v")).values[0] == pytest.approx([np.radians(350), -84.0])


@pytest.mark.parametrize(("near", "far"), [(170, -190), (-170, 190), (180, -180), (180, 540)])
def test_half_turns_go_one_way(near, far):
    """Angles that differ by a turn close the loop on one branch, however far from where it is drawn."""
    text = PLANAR_LOOP + HINGE + SLIDER + "start h2.q = {} deg\nrun transient(stop = 1 us, step = 1 us)\n"
    poses = [sampled(netsim.load(text.format(q)), ("s1.q", "b.r", "d.r")).values[0] for q in (near, far)]
    assert poses[0] == pytest.approx(poses[1], abs=1e-8)


def test_slider_that_a_loop_needs_moves():
    """A crank of 0.2 m at 60 deg and a rod of 0.5 m: the slider stands where they reach, on the branch that is drawn."""
    text = (
        "use planar\nc planar_body (a) m = 1 kg, I = 1 kg.m2, at = [0.1, 0] m\nr planar_body (b) m = 1 kg, I = 1 kg.m2, at = [0.4, 0] m\n"
        "p planar_body (x) m = 1 kg, I = 1 kg.m2, at = [0.7, 0] m\nh1 planar_revolute (ground, a) at = [0, 0] m\nh2 planar_revolute (a, b) at = [0.2, 0] m\n"
        "h3 planar_revolute (b, x) at = [0.7, 0] m\ns planar_prismatic (ground, x) axis = [1, 0]\nstart h1.q = {} deg\nrun transient(stop = 1 us, step = 1 us)\n"
    )
    wanted = 0.2 * np.cos(np.pi / 3) + np.sqrt(0.5**2 - (0.2 * np.sin(np.pi / 3)) ** 2) - 0.7
    for q in (60, -300, 420):
        assert sampled(netsim.load(text.format(q)), ("s.q",)).values[0, 0] == pytest.approx(wanted, abs=1e-9)


SHAFT = """use rotational
motor inertia (a) J = 0.1 kg.m2
shaft torsion_spring (a, b) c = 10 N.m/rad
train gear (b, c) ratio = 3
fan inertia (c) J = 0.9 kg.m2
rest torsion_spring (c, ground) c = 5 N.m/rad
start a.phi = {turn} rad
run transient(stop = 1 s)
save a.phi, c.phi
"""


@pytest.mark.parametrize("turn", [1e-6, 1.0, 100.0, 1e6])
def test_a_shaft_starts_at_any_angle(turn):
    """Everything is linear: at ten million times the angle all is ten million times as large."""
    (samples,) = netsim.load(SHAFT.format(turn=turn)).samples()
    (unit,) = netsim.load(SHAFT.format(turn=1.0)).samples({"rtol": 1e-10, "sample": 0.1})
    for name in ("a.phi", "c.phi"):
        at = np.interp(unit.time, samples.time, samples.series(name))
        assert samples.series(name)[0] == pytest.approx(turn * unit.series(name)[0], rel=1e-9)
        assert at[-1] == pytest.approx(turn * unit.series(name)[-1], abs=1e-4 * turn)


GEARED = """use spatial
use rotational
world gravity = [0, -9.81, 0] m/s2
r1 revolute_driven (ground, b1, f1) at = [0, 0, 0] m, axis = [0, 1, 0]
r2 revolute_driven (b1, b2, f2) at = [0, 0.5, 0] m, axis = [1, 0, 0]
r3 revolute_driven (b2, b3, f3) at = [0, 1, 0] m, axis = [1, 0, 0]
l1 body (b1) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [0, 0.35, 0] m
l2 body (b2) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [0, 0.75, 0] m
l3 body (b3) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [0, 1.3, 0] m
g2 gear (s2, f2) ratio = {ratio}
j2 inertia (s2) J = 1e-3 kg.m2
g3 gear (s3, f3) ratio = -{ratio}
j3 inertia (s3) J = 1e-3 kg.m2
start f1.phi = -60 deg
start f2.phi = 90 deg
start f3.phi = -110 deg
run transient(stop = 1 ms)
save f1.phi, f2.phi, f3.phi, s2.phi, s3.phi, b3.r
"""


@pytest.mark.parametrize("ratio", [1, 100, 1e4])
def test_an_arm_drawn_upright_starts_bent_with_gears_on_its_hinges(ratio):
    """A step turns no body by more than half a radian; the shafts behind its gears turn by any angle."""
    (samples,) = netsim.load(GEARED.format(ratio=ratio)).samples()
    first = {name: samples.series(name)[0] for name in (signal.name for signal in samples.signals)}
    turns = np.radians([-60.0, 90.0, -110.0])
    assert [first[f"f{i}.phi"] for i in (1, 2, 3)] == pytest.approx(turns, rel=1e-12)
    assert [first["s2.phi"], first["s3.phi"]] == pytest.approx([ratio * turns[1], -ratio * turns[2]], rel=1e-12)
    upper, fore = Rotation.from_euler("YX", turns[:2]), Rotation.from_euler("YX", [turns[0], turns[1] + turns[2]])
    hand = np.array([0, 0.5, 0]) + upper.apply([0, 0.5, 0]) + fore.apply([0, 0.3, 0])
    assert [first[f"b3.r.{x}"] for x in "xyz"] == pytest.approx(hand, abs=1e-12)
