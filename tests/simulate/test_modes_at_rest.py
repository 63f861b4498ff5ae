"""Equilibria of what sticks, stops and locks, against closed forms: where friction holds the written start is one; what it cannot
hold moves downhill until it is held, or is told with figures."""

import math

import numpy as np
import pytest

import netsim
from netsim.initial.charts import recharted, way_between
from netsim.initial.static import held, homotopy
from netsim.simulate.events import modes_at_rest
from netsim.text.errors import SimulationError

SCALES = [1e-9, 1.0, 1e6]
BLOCK = """
use translational
m1 mass (a) m = {m} kg
w force (a) F = {load} N
k1 coulomb_friction (a, ground) F = {grip} N
start a.x = 0.7 m
"""
SPRING = "c1 spring (a, ground) c = {c} N/m\n"


def rest(text, *names, **options):
    found = netsim.load(text).static(save=list(names), **options)
    return [float(found[name].values.ravel()[0]) for name in names]


def block(load, grip, scale=1.0, more=""):
    text = BLOCK.format(m=2 * scale, load=repr(load * scale), grip=repr(grip * scale)) + more
    return rest(text, "a.x", "k1.f", "k1.mode")


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("load", [0.0, 3.0, -3.0, 5.0, -5.0])
def test_friction_holds_the_written_start(scale, load):
    """Up to the load that is just its limit."""
    assert block(load, 5.0, scale) == pytest.approx([0.7, load * scale, 0.0], rel=1e-12, abs=1e-12 * scale)


@pytest.mark.parametrize("scale", SCALES)
def test_what_friction_cannot_hold_is_told_with_figures(scale):
    """The load over the limit, in the unit's prefix."""
    with pytest.raises(SimulationError) as caught:
        block(8.0, 5.0, scale)
    prefix = {1e-9: "nN", 1.0: "N", 1e6: "MN"}[scale]
    assert caught.value.problems[0].code == "E440"
    assert f"'k1' would have to hold 8 {prefix} and holds 5 {prefix}: there is no equilibrium" in caught.value.problems[0].message


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("load", "x", "force"), [(13.0, 0.8, 5.0), (-13.0, -0.8, -5.0), (3.0, 0.7, -4.0), (1.0, 0.6, -5.0), (12.0, 0.7, 5.0)])
@pytest.mark.parametrize("peak", [1, 1.5])
def test_beside_a_spring_a_block_moves_until_it_is_held(scale, load, x, force, peak):
    """From 0.7 m, where the spring pulls with 7: beyond `peak` times 5 it slides until the rest of it is 5; then it holds."""
    more = SPRING.format(c=10 * scale)
    if abs(load - 7.0) <= 5.0 * peak:
        x, force = 0.7, load - 7.0
    text = BLOCK.format(m=2 * scale, load=repr(load * scale), grip=repr(5 * scale)).replace("N\nstart", f"N, peak = {peak}\nstart")
    assert rest(text + more, "a.x", "k1.f", "k1.mode") == pytest.approx([x, force * scale, 0.0], rel=1e-11)


def test_a_run_begins_and_stays_at_rest():
    """from = static: at the written start, which holds; without one at the equilibrium behind a slide."""
    held = netsim.load(BLOCK.format(m=2, load=3, grip=5) + "run transient(stop = 1 s, from = static)\nsave a.x, k1.f\n").run()
    assert held["a.x"].values == pytest.approx(0.7, abs=1e-12) and held["k1.f"].values == pytest.approx(3.0, rel=1e-12)
    text = BLOCK.format(m=2, load=13, grip=5).replace("start a.x = 0.7 m\n", SPRING.format(c=10))
    slid = netsim.load(f"{text}run transient(stop = 1 s, from = static)\nsave a.x, k1.f\n").run()
    assert slid["a.x"].values == pytest.approx(0.8, rel=1e-11) and slid["k1.f"].values == pytest.approx(5.0, rel=1e-11)


def test_chains_of_blocks_come_to_rest_and_stay():
    """Each of five blocks in a row of springs of 10 N/m holds 1 N; 3.5 N pull at the last one."""
    text = "use translational\nw force (n5) F = 3.5 N\n"
    for i in range(1, 6):
        text += f"m{i} mass (n{i}) m = 1 kg\nk{i} coulomb_friction (n{i}, ground) F = 1 N\n"
        text += f"c{i} spring (n{i}, n{i - 1}) c = 10 N/m\n" if i > 1 else ""
    assert rest(text, *(f"n{i}.x" for i in range(1, 6))) == pytest.approx([0.0, 0.0, 0.05, 0.2, 0.45], abs=1e-12)


def test_random_chains_stay_where_they_are_found():
    """At scales of 1e-6 to 1e6, with static friction over the sliding one: no block moves in a run, no force is over its limit."""
    rng = np.random.default_rng(1)
    for _ in range(12):
        n, scale = int(rng.integers(1, 4)), 10.0 ** int(rng.integers(-6, 7))
        grip, peak, text = rng.uniform(0.1, 2, n).tolist(), rng.choice([1.0, 1.5], n).tolist(), "use translational\n"
        for i in range(n):
            text += f"m{i} mass (n{i}) m = {rng.uniform(0.1, 3) * scale!r} kg\n"
            text += f"k{i} coulomb_friction (n{i}, ground) F = {grip[i] * scale!r} N, peak = {peak[i]}\n"
            text += f"c{i} spring (n{i}, {f'n{i - 1}' if i else 'ground'}) c = {rng.uniform(1, 20) * scale!r} N/m\n"
        text += f"w force (n{n - 1}) F = {rng.uniform(-8, 8) * scale!r} N\nrun transient(stop = 0.1 s, from = static)\n"
        text += f"save {', '.join(f'n{i}.x, k{i}.f' for i in range(n))}\n"
        found = netsim.load(text).run()
        for i in range(n):
            x, f = found[f"n{i}.x"].values, found[f"k{i}.f"].values
            assert np.ptp(x) <= 1e-12 + 1e-10 * abs(x[0]) and np.abs(f).max() <= grip[i] * peak[i] * scale * (1 + 1e-9)


def test_elements_that_hold_the_same_share_with_least_norm():
    """5 N on two that hold 5 N each; 1 N and 4 N where the first holds no more; both are told where they hold too little."""
    two = BLOCK + "k2 coulomb_friction (a, ground) F = {other} N\n"
    names = ("a.x", "k1.f", "k2.f")
    assert rest(two.format(m=2, load=5, grip=5, other=5), *names) == pytest.approx([0.7, 2.5, 2.5], rel=1e-12)
    assert rest(two.format(m=2, load=5, grip=1, other=5), *names) == pytest.approx([0.7, 1.0, 4.0], rel=1e-12)
    shaft = "use rotational\nj inertia (a) J = 2 kg.m2\nw torque (a) T = {T} N.m\nb1 clutch (a, ground) N = 10 N\n"
    shaft += "b2 clutch (a, ground) N = 6 N\nb3 dry_bearing (a, ground) T = 3 N.m\n"
    for load, shares in ((9, [3, 3, 3]), (11, [5, 3, 3])):
        assert rest(shaft.format(T=load), "a.phi", "b1.t", "b2.t", "b3.t") == pytest.approx([0, *shares], abs=1e-12)
    with pytest.raises(SimulationError, match=r"'b1' would have to hold 5.1 N·m and holds 5 N·m"):
        rest(shaft.format(T=11.1), "a.phi")


@pytest.mark.parametrize("lower", [1e-9, 1.0, 1e6])
def test_stops_are_reached_however_far(lower):
    """A hard stop takes the load where it stands, a soft one is pressed in by it: 20 N/(1000 N/m)."""
    hard = f"use translational\nm1 stopped_mass (a) m = 2 kg, lower = {-lower!r} m\nw force (a) F = -20 N\n"
    assert rest(hard, "a.x", "m1.r", "m1.mode") == pytest.approx([-lower, -20.0, 0.0], rel=1e-11)
    for soft in ("bumper", "elasto_gap"):
        text = f"use translational\nm1 mass (a) m = 2 kg\nw force (a) F = -20 N\nb1 {soft} (a, ground) c = 1000 N/m, l = {-lower!r} m\n"
        assert rest(text, "a.x", "b1.f") == pytest.approx([-lower - 0.02, -20.0], rel=1e-9)


def test_a_stop_is_not_passed_on_the_way_to_a_point_behind_it():
    """The spring alone would hold at -2 m; at -1 m the stop takes half of the load."""
    text = "use translational\nm1 stopped_mass (a) m = 2 kg\nc1 spring (a, ground) c = 10 N/m\nw force (a) F = -20 N\n"
    assert rest(text, "a.x", "m1.r") == pytest.approx([-1.0, -10.0], rel=1e-10)


@pytest.mark.parametrize(("element", "load", "want"), [
    ("one_way_clutch (a, ground)", 2.0, 2.0),
    ("braked_freewheel (a, ground) N = 10 N", -2.0, -2.0),
    ("clutch (a, ground) N = 10 N", 4.0, 4.0),
    ("dry_bearing (a, ground) T = 3 N.m, Ts = 2 N.m", -4.0, -4.0),
])  # fmt: skip
def test_what_locks_holds_the_load(element, load, want):
    """Also a freewheel, which is open where nothing has moved yet: the motion that the load asks for locks it."""
    text = f"use rotational\nj inertia (a) J = 2 kg.m2\nw torque (a) T = {load} N.m\nb {element}\n"
    assert rest(text, "a.phi", "b.t") == pytest.approx([0.0, want], abs=1e-12)
    assert rest(text + "c torsion_spring (a, ground) c = 4 N.m/rad\n", "a.phi")[0] == pytest.approx(0.0, abs=1e-12)


def test_a_freewheel_overruns_until_a_spring_holds():
    """Backwards it is open."""
    text = "use rotational\nj inertia (a) J = 2 kg.m2\nw torque (a) T = -2 N.m\nb one_way_clutch (a, ground)\n"
    assert rest(text + "c torsion_spring (a, ground) c = 4 N.m/rad\n", "a.phi", "b.t") == pytest.approx([-0.5, 0.0], abs=1e-12)
    with pytest.raises(SimulationError, match="E440 nothing resists rotation of 'a', and it is loaded: there"):
        rest(text, "a.phi")


def test_screws_gears_and_play():
    """A screw of efficiency 0.3 locks itself; one of 0.8 would have to hold 100 N*5 mm/2 pi and holds a quarter of it. A gear of
    efficiency 0.8 with 1 N.m of friction passes on (2 - 1)*0.8 - behind it a spring."""
    screw = "use rotational\nuse translational\nuse couplings\nj inertia (a) J = 2 kg.m2\nm mass (n) m = 1 kg\n"
    screw += "w force (n) F = -100 N\ng locking_screw (a, n) lead = 5 mm, eta1 = {}\n"
    assert rest(screw.format(0.3), "a.phi", "n.x", "g.t") == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)
    with pytest.raises(SimulationError, match=r"'g' would have to hold 79.577 mN·m and holds 19.894 mN·m"):
        rest(screw.format(0.8), "a.phi")
    gear = "use rotational\nj inertia (a) J = 2 kg.m2\nw torque (a) T = 2 N.m\n{}\ns torsion_spring (b, ground) c = 10 N.m/rad\n"
    assert rest(gear.format("g lossy_gear (a, b) ratio = 3, eta1 = 0.8, T1 = 1 N.m"), "a.phi", "g.r") == pytest.approx([0.72, 1.2])
    play = gear.format("g damped_backlash (a, b) c = 10 N.m/rad, play = 0.1 rad")
    assert rest(play, "a.phi", "b.phi") == pytest.approx([0.45, 0.2], rel=1e-10)


def test_a_brake_holds_by_the_current_of_its_coil():
    """5 A through the coil at rest: 50 N of normal force hold 25 N."""
    text = "use electrical\nuse translational\nv1 voltage (p, ground) v = 10 V\nr1 resistor (p, q) R = 2 Ohm\n"
    text += "l1 inductor (q, ground) L = 0.1 H\nm1 mass (a) m = 2 kg\nw force (a) F = {} N\nb1 linear_brake (a, ground) N = 10 N/(1 A)*l1.i\n"
    assert rest(text.format(20), "a.x", "b1.f") == pytest.approx([0.0, 20.0], abs=1e-10)
    with pytest.raises(SimulationError, match="'b1' would have to hold 30 N and holds 25 N"):
        rest(text.format(30), "a.x")


PENDULUM = """
use spatial
world gravity = [0, 0, -9.81] m/s2
b body (a) m = 2 kg, I = diag(1, 1, 1) kg.m2, at = [1, 0, 0] m
j {joint} (ground, a) at = [0, 0, 0] m, {more}
"""


@pytest.mark.parametrize("formulation", ["absolute", "tree"])
def test_a_pendulum_with_dry_joints(formulation):
    """It begins level with 19.62 N.m: held by more, it falls until 19.62 cos q is what friction holds; a ball joint alike."""
    hinge, names = {"joint": "revolute", "more": "axis = [0, 1, 0], friction = {} N.m"}, ("j.q", "j.dry.torque", "j.dry.mode")
    for grip, q in ((25, 0.0), (10, math.acos(10 / 19.62))):
        text = PENDULUM.format(**hinge).format(grip)
        assert rest(text, *names, formulation=formulation) == pytest.approx([q, -min(grip, 19.62), 0.0], rel=1e-10, abs=1e-12)
    ball = PENDULUM.format(joint="spherical", more="friction = 10 N.m")
    found = rest(ball, "a.r.x", "a.r.z", "j.dry.mode", formulation=formulation)
    assert found == pytest.approx([10 / 19.62, -math.sqrt(1 - (10 / 19.62) ** 2), 0.0], rel=1e-9)
    stop = PENDULUM.format(joint="limited_revolute", more="axis = [0, 1, 0], lower = -0.5 rad, upper = 0.5 rad, cs = 1000 N.m/rad")
    (q,) = rest(stop, "j.q", formulation=formulation)
    assert 1000 * (q - 0.5) == pytest.approx(19.62 * math.cos(q), rel=1e-10)


@pytest.mark.parametrize("formulation", ["absolute", "tree"])
@pytest.mark.parametrize("joint", ["prismatic", "revolute"])
def test_a_joint_that_holds_stays_while_the_arm_falls(formulation, joint):
    """The arm turns by about 96 degrees, in steps of up to 29: the coordinate that friction holds stays 0 to rounding."""
    axis = {"prismatic": "axis = [1, 0, 0.3], friction = 30 N", "revolute": "axis = [1, 0.5, 0.3], friction = 30 N.m"}[joint]
    text = f"""use spatial
    world gravity = [0, 0, -9.81] m/s2
    arm body (b1) m = 1 kg, I = diag(0.01, 0.02, 0.02) kg.m2, at = [0.5, 0, 0] m
    s body (b2) m = 0.5 kg, I = diag(0.01, 0.01, 0.01) kg.m2, at = [0.8, 0.1, 0.2] m
    h revolute (ground, b1) at = [0, 0, 0] m, axis = [0.1, 1, 0]
    p {joint} (b1, b2) at = [0.8, 0, 0.1] m, {axis}
    """
    q, kept = rest(text, "h.q", "p.q", formulation=formulation)
    assert (q, kept) == pytest.approx((1.6826170, 0.0), abs=1e-7) and abs(kept) < 1e-12


def test_a_wheel_rolls_by_its_angle():
    """By 1 m on a rim of 0.1 m, until a spring of 5 N/m holds 5 N: it turns by 10 rad, more than once."""
    text = """use spatial
    world gravity = [0, 0, -9.81] m/s2
    w body (a) m = 2 kg, I = diag(0.01, 0.02, 0.01) kg.m2, at = [0, 0, 0.1] m
    roll rolling_wheel (a) r = 0.1 m
    f world_force (a) F = [5, 0, 0] N, at = [0, 0, 0.1] m
    s line_spring (ground, a) at1 = [-1, 0, 0.1] m, at2 = [0, 0, 0.1] m, c = 5 N/m
    """
    assert rest(text, "a.r.x", "a.R[1,1]", "a.R[3,1]") == pytest.approx([1.0, math.cos(10), -math.sin(10)], abs=1e-10)


@pytest.mark.parametrize("formulation", ["absolute", "tree"])
def test_a_slider_that_holds_in_the_plane(formulation):
    """The centre of mass of arm and slider hangs below the pin."""
    text = """use planar
    world gravity = [0, -9.81, 0] m/s2
    arm planar_body (b1) m = 1 kg, I = 0.01 kg.m2, at = [0.5, 0] m
    s planar_body (b2) m = 0.5 kg, I = 0.01 kg.m2, at = [0.8, 0.2] m
    h planar_revolute (ground, b1) at = [0, 0] m
    p planar_prismatic (b1, b2) at = [0.8, 0.2] m, axis = [1, 0], friction = 30 N
    """
    want = [-math.pi / 2 - math.atan2(0.1, 0.9), 0.0, 0.0]
    assert rest(text, "h.q", "p.q", "p.dry.mode", formulation=formulation) == pytest.approx(want, abs=1e-11)


@pytest.mark.parametrize("formulation", ["absolute", "tree"])
def test_the_dry_joints_of_a_four_bar(formulation):
    """Four joints of 2 N.m hold 8 N at the height of 1 m, a quarter each; beyond, 100 cos q + 2 g sin q falls to 8."""
    text = """use planar
    world gravity = [0, -9.81, 0] m/s2
    l1 planar_body (b1) m = 1 kg, I = 0.01 kg.m2, at = [0, 0.5] m
    l2 planar_body (b2) m = 1 kg, I = 0.01 kg.m2, at = [0.5, 1] m
    l3 planar_body (b3) m = 1 kg, I = 0.01 kg.m2, at = [1, 0.5] m
    h1 planar_revolute (ground, b1) at = [0, 0] m, friction = 2 N.m
    h2 planar_revolute (b1, b2) at = [0, 1] m, friction = 2 N.m
    h3 planar_revolute (b2, b3) at = [1, 1] m, friction = 2 N.m
    h4 planar_revolute (ground, b3) at = [1, 0] m, friction = 2 N.m
    w planar_force (b2) F = [{}, 0] N, at = [0.5, 1] m
    """
    found = rest(text.format(7.9), "h1.q", *(f"h{i}.dry.torque" for i in range(1, 5)), formulation=formulation)
    assert found == pytest.approx([0.0, 1.975, -1.975, 1.975, 1.975], abs=1e-10)
    (q,) = rest(text.format(100), "h1.q", formulation=formulation)
    assert 100 * math.cos(q) - 2 * 9.81 * math.sin(q) == pytest.approx(8.0, rel=1e-9)


@pytest.mark.parametrize("where", ["space", "plane"])
def test_a_block_on_an_incline_is_held_in_any_direction(where):
    """10 N hold 6 and 6, not 8 and 8."""
    text = {
        "space": "use spatial\nworld gravity = [{0}, -{0}, -9.81] m/s2\nb body (a) m = 2 kg, I = diag(1, 1, 1) kg.m2\n"
        "j planar_joint (ground, a) friction = 10 N, frictionq = 1 N.m\n",
        "plane": "use planar\nworld gravity = [{0}, -{0}, 0] m/s2\nb planar_body (a) m = 2 kg, I = 1 kg.m2\n"
        "j planar_glide_friction (ground, a) F = 10 N\n",
    }[where]
    force = {"space": "j.dry.force", "plane": "j.force"}[where]
    found = netsim.load(text.format(3)).static(save=["a.r.x", "a.r.y", force])
    assert [float(found[f"a.r.{k}"].values[0]) for k in "xy"] == pytest.approx([0, 0], abs=1e-12)
    assert [float(found[f"{force}.{k}"].values[0]) for k in "xy"] == pytest.approx([-6, 6], rel=1e-11)
    with pytest.raises(SimulationError, match=r"would have to hold 11.314 N and holds 10 N"):
        netsim.load(text.format(4)).static()


def test_an_acceleration_that_is_prescribed_is_no_rest():
    text = "use translational\nm1 mass (a) m = 1 kg\ns1 acceleration (a, ground) a = {} m/s2\n"
    assert rest(text.format(0), "a.x") == [0.0]
    with pytest.raises(SimulationError, match="E442 there is no state of rest: 's1' prescribes an acceleration"):
        rest(text.format(1), "a.x")


def test_a_sweep_of_the_load_has_the_hysteresis_of_friction():
    """0, 12, 4, 0, -12 N in turn beside a spring of 10 N/m: x stays within 5 N of the load."""
    text = BLOCK.format(m=2, load=0, grip=5).replace("start a.x = 0.7 m\n", SPRING.format(c=10)) + "save a.x, k1.f\n"
    found = netsim.load(text).sweep_static(over="w.F", values=[0.0, 12.0, 4.0, 0.0, -12.0])
    assert found["a.x"].values == pytest.approx([0.0, 0.7, 0.7, 0.5, -0.7], abs=1e-11)
    assert found["k1.f"].values == pytest.approx([0.0, 5.0, -3.0, -5.0, -5.0], abs=1e-11)
    followed = netsim.load(text).sweep_static(over="w.F", from_=-12.0, to=12.0, points=7)
    load, x = followed["w.F"].values, followed["a.x"].values
    assert x == pytest.approx(np.maximum(-0.7, (load - 5) / 10), abs=1e-9)


def test_a_sweep_ends_where_friction_gives_way():
    with pytest.raises(SimulationError, match="'k1' gives way at 5 N: there is no equilibrium"):
        netsim.load(BLOCK.format(m=2, load=0, grip=5)).sweep_static(over="w.F", from_=0.0, to=12.0, points=3)


def test_small_signals_of_what_is_held():
    """Beside a block that is held a mass swings on its spring; where sliding ended at the limit there is a corner."""
    held = "use translational\nm1 mass (a) m = 2 kg\nm2 mass (b) m = 1 kg\nc2 spring (a, b) c = 5 N/m\nw force (a) F = 3 N\n"
    poles = netsim.load(held + "k1 coulomb_friction (a, ground) F = 5 N\n").poles()
    assert poles["imaginary"].values.max() == pytest.approx(math.sqrt(5), rel=1e-12)
    slid = BLOCK.format(m=2, load=13, grip=5).replace("start a.x = 0.7 m\n", SPRING.format(c=10))
    found = netsim.load(slid).sensitivity_static(of=["a.x", "k1.f"], to=["w.F", "c1.c"])
    want = {"d(a.x)/d(w.F)": 0.0, "d(k1.f)/d(w.F)": 1.0, "d(a.x)/d(c1.c)": 0.0, "d(k1.f)/d(c1.c)": -0.8}
    assert {name: float(found[name].values[0]) for name in want} == pytest.approx(want, abs=1e-10)
    gain = netsim.load(f"{slid}run transfer(input = w.F, output = a.x)\n").run()["gain"]
    assert float(gain.values[0]) == pytest.approx(0.0, abs=1e-15)
    assert "'k1' at a corner" in netsim.load(slid).poles().attrs["notes"]


def test_ways_between_points_are_those_of_charts():
    """2 tan(angle/2) times the axis, from any rotation to any other."""
    model = netsim.load(PENDULUM.format(joint="spherical", more="friction = 1 N.m"))
    system, rng = model.machine.system, np.random.default_rng(5)
    before = model.machine.g.copy()
    before[system.layout.x + 3 : system.layout.x + 6] = rng.uniform(-1, 1, 3)
    recharted(system, before, all_of_them=True)
    after, psi = before.copy(), rng.uniform(-3, 3, 3)
    after[system.layout.x + 3 : system.layout.x + 6] = psi
    assert way_between(system, before, after)[3:6] == pytest.approx(psi, rel=1e-12)
    recharted(system, after, all_of_them=True)
    assert way_between(system, before, after)[3:6] == pytest.approx(psi, rel=1e-12)


def test_links_that_fall_with_dry_joints_agree():
    """Two pins and a slider: over a long first step the second pin would hold too little and turn back where it slides."""
    text = """use planar
    world gravity = [0, -9.81, 0] m/s2
    l0 planar_body (b0) m = 0.127 kg, I = 1e-4 kg.m2, at = [4.4, -49.8] mm
    h0 planar_revolute (ground, b0) at = [0, 0] m, friction = 0.1164 N.m
    l1 planar_body (b1) m = 0.112 kg, I = 1e-4 kg.m2, at = [-40.9, -104.8] mm
    h1 planar_revolute (b0, b1) at = [8.85, -99.6] mm, friction = 0.1985 N.m
    l2 planar_body (b2) m = 0.162 kg, I = 1e-4 kg.m2, at = [-62.9, -68.3] mm
    h2 planar_prismatic (b1, b2) at = [-62.9, -68.3] mm, axis = [55.4, 83.2], friction = 0.3647 N, c = 15.86 N/m
    """
    for formulation in ("absolute", "tree"):
        names = ("h0.dry.torque", "h1.dry.torque", "h2.dry.force")
        found = rest(text, *names, formulation=formulation)
        assert np.all(np.abs(found) <= np.array([0.1164, 0.1985, 0.3647]) * (1 + 1e-10))


CONSTANTS = {
    (modes_at_rest, "FAST"): 1e6, (modes_at_rest, "STILL"): 1e-9, (modes_at_rest, "ROUNDED"): 64 * np.finfo(float).eps,
    (modes_at_rest, "NOTHING"): 1e-25, (modes_at_rest, "RESTING"): 10, (modes_at_rest, "SAME"): 1e-9, (modes_at_rest, "MOST"): 1000,
    (modes_at_rest, "PATIENT"): 3, (modes_at_rest, "SHORTER"): 0.1,
    (homotopy, "RUNNING"): 20, (homotopy, "MOST_CLOSING"): 8, (homotopy, "CLOSED"): 1e-11, (held, "STRAIGHT"): 1e-9, (held, "CONSTANT"): 1e-12,
}  # fmt: skip


def test_constants_of_the_way():
    """Their reasons are in docs/decisions/heuristics.md."""
    assert {(module, name): getattr(module, name) for module, name in CONSTANTS} == CONSTANTS
