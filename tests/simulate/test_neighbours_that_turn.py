"""What dry friction holds while a neighbour turns round, and while rounding adds up to a speed."""

import itertools

import numpy as np
import pytest

import netsim
from netsim.library.files import models_folder

PAIRS = {
    "friction": ("translational", "mass", "m = {} kg", "m/s", "N", "coulomb_friction ({ends}) F = {F} N, peak = {peak}"),
    "brake": ("translational", "mass", "m = {} kg", "m/s", "N", "linear_brake ({ends}) N = {F} N, mu = 1, peak = {peak}"),
    "bearing": ("rotational", "inertia", "J = {} kg.m2", "rad/s", "N.m", "dry_bearing ({ends}) T = {F} N.m, peak = {peak}"),
    "clutch": ("rotational", "inertia", "J = {} kg.m2", "rad/s", "N.m", "clutch ({ends}) N = {F} N, mu = 1, peak = {peak}"),
}
LOADS = {"N": ("force", "F"), "N.m": ("torque", "T")}
LETTERS = {"translational": "v", "rotational": "w"}


def stack(kind, heavy=1.0, fast=1.0, sign=1.0, load=8.0, second=1.0):
    """A block on a block that slides on the floor, both at `fast`, and a load on the upper one against that: below, 2
    are held; between the two 5, and 7 at rest. Sizes are in units of `heavy` and `fast`, times in `second`."""
    domain, body, size, speed, unit, friction = PAIRS[kind]
    force, (source, name) = heavy * fast / second, LOADS[unit]
    return f"""
use {domain}
upper {body} (a) {size.format(heavy)}, start {LETTERS[domain]} = {sign * fast} {speed}
lower {body} (b) {size.format(3 * heavy)}, start {LETTERS[domain]} = {sign * fast} {speed}
between {friction.format(ends="a, b", F=5 * force, peak=1.4)}
below {friction.format(ends="b, ground", F=2 * force, peak=1)}
push {source} (a) {name} = {-sign * load * force} {unit}
run transient(stop = {second} s)
"""


def speeds(text, kind, **options):
    samples = netsim.load(text).samples(options)[0]
    assert samples.finished, samples.message
    return [samples.series(f"{node}.{LETTERS[PAIRS[kind][0]]}")[-1] for node in "ab"]


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "rk45"])
@pytest.mark.parametrize("kind", PAIRS)
def test_two_blocks_turn_as_one(kind, method):
    """Forwards (8 + 2)/4 slow them, backwards (8 - 2)/4 drive them, and (8*3 + 2)/4 = 6.5 of 7 hold between them. In
    the round in which the lower one stands all 8 load that, and it slid on: -1.8 and -0.6."""
    assert speeds(stack(kind), kind, method=method) == pytest.approx([-0.9, -0.9], rel=1e-5)


HINGES = """
use planar
lower   planar_body (b) m = 1 kg, I = 3 kg.m2
upper   planar_body (a) m = 1 kg, I = 1 kg.m2
floor   planar_revolute (ground, b) at = [0, 0] m
middle  planar_revolute (b, a) at = [0, 0] m
below   planar_hinge_friction (ground, b) T = 2 N.m
between planar_hinge_friction (b, a) T = 5 N.m, peak = 1.4
push    planar_moment (a) M = -8 N.m
start   b.w = 1 rad/s
start   a.w = 1 rad/s
run     transient(stop = 1 s)
save    a.w, b.w
"""
SPACE = """
use spatial
lower   body (b) m = 1 kg, I = [[3, 0, 0], [0, 3, 0], [0, 0, 3]] kg.m2
upper   body (a) m = 1 kg, I = [[1, 0, 0], [0, 1, 0], [0, 0, 1]] kg.m2
floor   revolute (ground, b) at = [0, 0, 0] m
middle  revolute (b, a) at = [0, 0, 0] m
below   hinge_friction (ground, b) T = 2 N.m
between hinge_friction (b, a) T = 5 N.m, peak = 1.4
push    world_moment (a) M = [0, 0, -8] N.m
start   floor.rate = 1 rad/s
start   middle.rate = 0 rad/s
run     transient(stop = 1 s)
save    a.w.z, b.w.z
"""
GLIDES = """
use planar
lower   planar_body (b) m = 3 kg, I = 3 kg.m2
upper   planar_body (a) m = 1 kg, I = 1 kg.m2
below   planar_glide_friction (ground, b) F = 2 N
between planar_glide_friction (b, a) F = 5 N, peak = 1.4
push    planar_force (a) F = [-8, 0] N
start   b.v = [1, 0] m/s
start   a.v = [1, 0] m/s
run     transient(stop = 1 s)
save    a.v.x, b.v.x
"""
FREEWHEEL = """
use rotational
lower   inertia (b) J = 3 kg.m2, start w = 1 rad/s
upper   inertia (a) J = 1 kg.m2, start w = 1 rad/s
between braked_freewheel (a, b) N = 5 N, mu = 1, peak = 1.4
below   dry_bearing (b, ground) T = 2 N.m
first   torque (a) T = if time < 0.1 s then 6 N.m else -8 N.m
run     transient(stop = 1.2 s)
"""


@pytest.mark.parametrize("method", ["radau", "bdf"])
@pytest.mark.parametrize("text", [HINGES, SPACE, GLIDES], ids=["pins", "hinges", "glides"])
def test_joints_turn_as_one(text, method):
    samples = netsim.load(text).samples({"method": method})[0]
    assert samples.finished, samples.message
    assert samples.values[-1, :2] == pytest.approx([-0.9, -0.9], rel=1e-5)


STEPPED = {
    "pins": """
use planar
lower   planar_body (b) m = {m} kg, I = {m} kg.m2
upper   planar_body (a) m = {m} kg, I = {m} kg.m2
floor   planar_revolute (ground, b) at = [0, 0] m
middle  planar_revolute (b, a) at = [0, 0] m
below   planar_hinge_friction (ground, b) T = {two} N.m
between planar_hinge_friction (b, a) T = {one} N.m
push    planar_moment (a) M = {eight} N.m*step(time, 1 s)
run     transient(stop = 2 s)
save    a.w, b.w
""",
    "glides": """
use planar
lower   planar_body (b) m = {m} kg, I = {m} kg.m2
upper   planar_body (a) m = {m} kg, I = {m} kg.m2
below   planar_glide_friction (ground, b) F = {two} N
between planar_glide_friction (b, a) F = {one} N
push    planar_force (a) F = [0.6, 0.8]*{eight} N*step(time, 1 s)
run     transient(stop = 2 s)
save    a.v, b.v
""",
}


@pytest.mark.parametrize(("method", "size"), [("radau", 1e-9), ("radau", 1.0), ("radau", 1e6), ("bdf", 1.0)])
@pytest.mark.parametrize("rub", STEPPED)
def test_a_load_that_steps_moves_only_what_it_can(rub, method, size):
    """Both joints hold, and nothing has moved that `rest` could be measured by. 8 is more than either of them holds; the
    upper body slides at 8 - 1, which leaves 1 of 2 for the lower one."""
    text = STEPPED[rub].format(m=1.0, one=size, two=2.0 * size, eight=8.0 * size)
    samples = netsim.load(text).samples({"method": method})[0]
    assert samples.finished, samples.message
    upper, lower = np.split(samples.values[-1], 2)
    assert np.linalg.norm(upper) == pytest.approx(7.0 * size, rel=1e-6)
    assert lower == pytest.approx(0.0, abs=1e-9 * size)
    assert len(samples.attributes["event_log"].splitlines()) < 8


def test_a_braked_freewheel_turns_as_one():
    """0.1 s of (6 - 2)/4 drive both up to 1.1 before the load turns; then 8 as above."""
    assert speeds(FREEWHEEL, "clutch") == pytest.approx([-1.5 * (1.1 - 0.44)] * 2, rel=1e-5)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("heavy", "fast", "second"), [(1e-9, 1.0, 1.0), (1.0, 1e-9, 1.0), (1.0, 1.0, 1e-9), (1e6, 1e6, 1e6)])
def test_scales(heavy, fast, second, sign):
    found = speeds(stack("friction", heavy, fast, sign, second=second), "friction")
    assert np.array(found) / (sign * fast) == pytest.approx(np.array([-0.9, -0.9]), rel=1e-5)


@pytest.mark.parametrize("kind", PAIRS)
def test_what_truly_breaks_loose_does(kind):
    """With 9.5 the lower one would need 7.6 of 7: behind the turn the upper one slides at 9.5 - 5 and the lower one at
    (5 - 2)/3; before, (9.5 + 2)/4 slow both, and 6.6 hold."""
    stop = 1.0 - 4.0 / 11.5
    assert speeds(stack(kind, load=9.5), kind) == pytest.approx([-4.5 * stop, -stop], rel=1e-5)


@pytest.mark.parametrize("rtol", [1e-5, 3e-6, 1e-6])
def test_rounding_of_speeds_breaks_nothing_loose(rtol):
    """Axes of a robot break loose one by one. The motors' shafts stand at 150 rad, and what steps of 0.1 ns leave of
    their speeds let axes 4 to 6, which hold, break loose and come to rest again up to seven times."""
    model = netsim.load(models_folder() / "msl" / "Mechanics_MultiBody_Systems_RobotR3_FullRobot.net")
    samples = model.samples({"rtol": rtol, "stop": 0.01})[0]
    assert samples.finished, samples.message
    modes = np.array([samples.series(f"axis{i}.bearing.mode") for i in range(1, 7)]).T[samples.time <= 0.004]
    changes = [tuple(np.flatnonzero(a != b) + 1) for a, b in itertools.pairwise(modes) if (a != b).any()]
    assert changes == [(2,), (1,), (3,), (5,)]


def impact(size, vs, kick):
    """A block that friction holds is hit at 0.5 s."""
    return f"""
use translational
component hammer (p : translational)
  param v0 : m/s
  branch p -> ground : v, f
  when time > 0.5 s : reinit v = v0
  f = 0 N
end
passing mass (b) m = {size} kg, start v = {size} m/s
block mass (a) m = {size} kg
dry coulomb_friction (a, ground) F = {2 * size * size} N, peak = 3, vs = {vs * size} m/s
soft spring (a, b) c = {1e-9 * size} N/m
hit hammer (a) v0 = {kick * size} m/s
run transient(stop = 1 s)
"""


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize(("vs", "kick"), [(0.1, 0.11), (0.0, 1e-5)])
def test_an_impact_breaks_loose_what_holds(size, vs, kick):
    """What is beyond `vs`, or 8e-6 of the speeds so far, slides v^2/(2 a) far."""
    samples = netsim.load(impact(size, vs, kick)).samples()[0]
    assert samples.finished, samples.message
    assert samples.series("a.v")[-1] == pytest.approx(0.0, abs=1e-9 * size * kick)
    assert samples.series("a.x")[-1] == pytest.approx(kick**2 / 4.0 * size, rel=1e-4)


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("kick", [0.09, 1e-3, 1e-5])
def test_an_impact_that_breaks_nothing_loose_leaves_no_speed(size, kick):
    samples = netsim.load(impact(size, 0.1, kick)).samples()[0]
    assert samples.finished, samples.message
    assert samples.series("a.x") == pytest.approx(0.0, abs=1e-9 * size)


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "rk45"])
@pytest.mark.parametrize("phase", [0.0, 3.0])
@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
def test_a_belt_turns_below_what_the_floor_holds(method, phase, size):
    """Where the belt stands both hold the block, and cannot while it accelerates: the block stays on the floor."""
    text = f"""
use translational
block mass (a) m = {size} kg
drive velocity (belt, ground) v = {size} m/s*sin(time*2 s^-1 + {phase})
below coulomb_friction (belt, a) F = {size * size} N
beside coulomb_friction (ground, a) F = {2 * size * size} N
run transient(stop = 5 s)
save a.v, below.f
"""
    samples = netsim.load(text).samples({"method": method})[0]
    assert samples.finished, samples.message
    assert samples.series("a.v") == pytest.approx(0.0, abs=2e-6 * size)
    belt = np.sin(2.0 * samples.time + phase)
    away = np.abs(belt) > 1e-4
    assert samples.series("below.f")[away] == pytest.approx(np.sign(belt[away]) * size * size, rel=1e-9)


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "rk45"])
@pytest.mark.parametrize("kind", PAIRS)
def test_a_jolt_slides_the_upper_block_alone(kind, method):
    """Nothing has moved when 8 pull at once: both would slide, and 1 of 2 that the floor holds is all it has to."""
    domain, body, size, _, unit, friction = PAIRS[kind]
    source, name = LOADS[unit]
    text = f"""
use {domain}
upper {body} (a) {size.format(1)}
lower {body} (b) {size.format(3)}
between {friction.format(ends="a, b", F=1, peak=1)}
below {friction.format(ends="b, ground", F=2, peak=1)}
push {source} (a) {name} = 8 {unit}*step(time, 1 s)
run transient(stop = 2 s)
"""
    assert speeds(text, kind, method=method) == pytest.approx([7.0, 0.0], rel=1e-6, abs=1e-9)
