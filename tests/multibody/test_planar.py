"""Planar joints and sources: freedoms, workless reactions, powers; mechanisms against closed forms and published solutions."""

import numpy as np
import pytest

import netsim
from conftest import ran
from joint_oracle import Point, account, admissible, constraints, form_of, library, moving, reactions
from netsim.library.files import check_library

Array = np.ndarray
LIB = library("planar")
NODES = [("node", t, c) for t in range(2) for c in range(3)]
AT, AT1, AT2 = np.array([0.3, -0.2]), np.array([-0.1, 0.5]), np.array([-0.4, 0.9])
PLACE = np.array([[0.1, 0.2], [-0.3, 0.6]])
AXIS = np.array([0.6, -0.8])
TURN, SLIDE = 2.1, 0.4

JOINTS = {"planar_weld": 0, "planar_revolute": 1, "planar_prismatic": 1, "planar_pin_in_slot": 2, "planar_rod": 2}
ELASTIC = {"c": 30.0, "d": 3.0, "friction": 2.0, "q0": 0.1, "ws": 0.3, "vs": 0.2, "cphi": 4.0, "phi0": 0.2, "dphi": 0.5, "frictionphi": 0.7}


def parameters(name: str, elastic: bool = False) -> dict[str, list[float]]:
    vectors: dict = {"at": AT, "at1": AT1, "at2": AT2, "axis": AXIS, "direction": AXIS, "l": [np.linalg.norm(AT2 - AT1)], "ws": [0.1], "vs": [0.1]}
    found = {p.name: list(map(float, vectors.get(p.name, [0.0]))) for p in LIB.components[name].definition.params}
    return found | ({key: [value] for key, value in ELASTIC.items() if key in found} if elastic else {})


def matrix(angle: float) -> Array:
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def placed(name: str, elastic: bool = False, seed: int = 0, host: str = "") -> Point:
    """A component with a at a random pose and b where the joint's (or its host's) own motion brings it."""
    rng = np.random.default_rng(seed)
    joint = host or name
    turn = TURN if joint in ("planar_revolute", "planar_pin_in_slot") else 0.0
    slide = SLIDE if joint in ("planar_prismatic", "planar_pin_in_slot") else 0.0
    ra, phi = rng.normal(size=2), rng.normal()
    rb = ra + matrix(phi) @ (AT - PLACE[0] + slide * AXIS) - matrix(phi + turn) @ (AT - PLACE[1])
    values = {}
    for t, pose in enumerate(([*ra, phi], [*rb, phi + turn])):
        values.update({(("node", t, c), 0): value for c, value in enumerate(pose)})
        values.update({(("place", t, c), 0): PLACE[t, c] for c in range(2)})
    return Point(form_of(LIB, name), values, parameters(name, elastic))


def own(point: Point) -> list:
    return [("own", i) for i in range(len(point.form.own))]


def test_library_is_clean():
    assert check_library(LIB) == []
    ours = [c.definition for c in LIB.components.values() if c.name.startswith("planar")]
    assert len(ours) > 30
    for d in ours:
        documented: list = [*d.params, *d.inputs, *d.outputs, *d.variables]
        assert d.doc and all(item.doc for item in documented), d.name


@pytest.mark.parametrize("name", JOINTS)
def test_reactions_are_workless_and_span_the_constraints(name: str):
    point = placed(name, seed=3)
    residuals = point.evaluate([r for key, r in zip(point.form.rows, point.form.residuals) if key[0] == "own"])
    assert np.abs(residuals).max() < 1e-14
    G, P = constraints(point, NODES, own(point)), reactions(point, NODES)
    assert len(G) == P.shape[1] == np.linalg.matrix_rank(P) == 3 - JOINTS[name]
    assert np.abs(admissible(G).T @ P).max() < 1e-13


@pytest.mark.parametrize("name", ["planar_revolute", "planar_prismatic", "planar_pin_in_slot"])
def test_springs_dampers_and_friction_balance_the_energy(name: str):
    still = placed(name, elastic=True, seed=5)
    free = admissible(constraints(still, NODES, own(still)))
    velocity = free @ np.random.default_rng(7).normal(size=free.shape[1])
    power, stored, lost = account(moving(still, NODES, velocity), NODES, velocity)
    assert lost > 0 and abs(stored) > 0
    assert power == pytest.approx(stored + lost, rel=1e-12)


HOSTS = {
    "planar_slide_displacement": "planar_pin_in_slot", "planar_slide_velocity": "planar_pin_in_slot", "planar_slide_force": "planar_prismatic",
    "planar_hinge_angle": "planar_revolute", "planar_hinge_speed": "planar_revolute", "planar_hinge_torque": "planar_revolute",
    "planar_line_displacement": "planar_revolute", "planar_line_velocity": "planar_revolute", "planar_line_force": "planar_prismatic",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTS)
def test_source_delivers_what_the_network_gets(name: str):
    host = HOSTS[name]
    joint = placed(host, seed=2)
    free = admissible(constraints(joint, NODES, own(joint)))
    velocity = free @ np.random.default_rng(1).normal(size=free.shape[1])
    point = placed(name, seed=2, host=host)
    point.values.update({(key, 0): 0.7 + i for i, key in enumerate(own(point))})
    point.values[("input", 0), 0] = 1.3
    point = moving(point, NODES, velocity)
    power = point.evaluate([point.form.readings["power"].value])[0]
    assert abs(power) > 0.01
    assert account(point, NODES, velocity)[0] == pytest.approx(-power, rel=1e-12)


# -------------------------------------------------------------------------------------------- mechanisms


def test_fourbar_moves_as_its_geometry_says():
    samples = ran("mechanisms/fourbar_planar")
    q = 6 * samples.time
    tip = np.stack([0.1 * np.cos(q) - 0.3, 0.1 * np.sin(q)])  # crank pin seen from the rocker's bearing
    reach = np.hypot(*tip)
    angle = np.unwrap(np.arctan2(tip[1], tip[0])) - np.arccos((reach**2 + 0.04 - 0.09) / (0.4 * reach))  # law of cosines, open branch
    assert np.abs(samples.series("pD.q") - (angle - angle[0])).max() < 1e-9
    assert np.abs(samples.series("pA.q") - q).max() < 1e-10


def test_five_bar_motors_bring_the_energy():
    losses = []
    for h in (1e-3, 5e-4):
        samples = ran("mechanisms/five_bar", ("mA.work", "mB.work"), step=h, stop=1.2, method="euler")
        work = samples.series("mA.work") + samples.series("mB.work")
        assert np.abs(work - samples.energy[:, 1]).max() < 1e-10
        losses.append(abs(samples.energy[-1, 0] - samples.energy[0, 0] - work[-1]))
    assert 1.8 < losses[0] / losses[1] < 2.2


def test_squeezing_mechanism_against_the_published_solution():
    """Test Set for IVP Solvers 2.4, Andrews' squeezer: the seven angles at 0.03 s."""
    start = np.array(
        [-0.06171389001427645, 0.0, 0.45527981916307037, 0.22266839016588588, 0.48736497954384256, -0.22266839016588588, 1.2305474445498212]
    )
    end = np.array(
        [15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805303, 0.5347301163226948, 1.048080741042263]
    )
    change = end - start
    exact = np.array([change[0], change[0] + change[1], change[2], change[3] + change[4], change[4], change[5] + change[6], change[6]])
    steps = (2e-5, 1e-5, 5e-6)
    found = [ran("benchmarks/andrews", tuple(f"b{i}.phi" for i in range(1, 8)), step=h, method="euler").values[-1] - exact for h in steps]
    assert 1.8 < found[0][0] / found[1][0] < 2.0 and 1.9 < found[1][0] / found[2][0] < 2.1
    assert np.abs((found[0] - 6 * found[1] + 8 * found[2]) / 3).max() < 0.03  # the errors' h and h^2 taken out: of 15.9 rad


def test_driven_planar_joints_carry_their_flange():
    """Constant torque and force on flanges: implicit Euler gives a*h^2*n*(n + 1)/2."""
    model = netsim.load(
        "use planar\nuse rotational\nuse translational\nb1 planar_body (p) m = 1, I = 2\nb2 planar_body (s) m = 3, I = 1\n"
        "j1 planar_revolute_driven (ground, p, r) at = [0, 0] m\nJ1 inertia (r) J = 0.5\nT1 torque (r) T = 5 N.m\n"
        "j2 planar_prismatic_driven (ground, s, x) axis = [3, 4]\nm1 mass (x) m = 1\nF1 force (x) F = 8 N\n"
        "run transient(stop = 3, step = 1 ms, method = euler)\nsave p.phi, s.r\n"
    )
    samples = model.samples()[0]
    n = np.arange(3001)
    square = 1e-6 * n * (n + 1) / 2
    assert np.abs(samples.series("p.phi") - 2 * square).max() < 1e-9
    assert np.abs(samples.values[:, 1:] - np.outer(2 * square, [0.6, 0.8])).max() < 1e-9


@pytest.mark.parametrize("formulation", ["absolute", "tree"])
def test_driven_planar_joints_begin_and_are_read_by_their_coordinates(formulation):
    """As undriven ones do: q and rate of a pendulum and of a block on a slope."""
    text = """use planar
use rotational
use translational
world gravity = [0, -9.81, 0] m/s2
b planar_body (a) m = 1 kg, I = 0.02 kg.m2, at = [0, -0.5] m
j {pin} at = [0, 0] m
c planar_body (s) m = 3 kg, I = 1 kg.m2
k {slider} axis = [3, 4]
start j.q = 0.4 rad
start j.rate = 2 rad/s
start k.q = 0.3 m
start k.rate = 1 m/s
run transient(stop = 2 s, sample = 0.1 s)
save j.q, j.rate, k.q, k.rate
"""
    plain = text.format(pin="planar_revolute (ground, a)", slider="planar_prismatic (ground, s)")
    driven = text.format(pin="planar_revolute_driven (ground, a, f)", slider="planar_prismatic_driven (ground, s, x)")
    found = [netsim.load(each).samples({"formulation": formulation, "rtol": 1e-9})[0].values for each in (plain, driven)]
    assert found[0][0] == pytest.approx([0.4, 2.0, 0.3, 1.0], rel=1e-12)
    assert found[1] == pytest.approx(found[0], abs=1e-6)


def test_planar_particle_may_be_welded_to_what_turns():
    common = (
        "world gravity = [0, -9.81, 0] m/s2\nb1 planar_bar (arm) m = 1, at1 = [0, 0] m, at2 = [1, 0] m\n"
        "j1 planar_revolute (ground, arm) at = [0, 0] m\n"
        "run transient(stop = 0.4, step = 0.25 ms, method = generalized_alpha)\nsave j1.q, j1.force\n"
    )
    ours = [
        netsim.load("use planar\n" + kind + common).samples()[0].values
        for kind in (
            "x planar_particle (p) m = 2, at = [0.7, 0.1] m\nw1 planar_weld (arm, p)\n",
            "x planar_point_mass (arm) m = 2, at = [0.7, 0.1] m\n",
        )
    ]
    assert ours[0][-1, 0] < -0.5
    assert np.abs(ours[0] - ours[1]).max() < 1e-5 * np.abs(ours[1]).max()


def test_planar_marker_speed_and_the_sensors_that_see_it():
    """A ball on two marker speeds goes round a circle; the sensors write where it is and how fast."""
    samples = netsim.load(
        "use planar\nb1 planar_disc (p) m = 2, radius = 0.1, at = [1, 0] m\no1 planar_hinge_speed (ground, p) w = 2 rad/s\n"
        "m1 planar_marker_speed (p) at = [1, 0] m, u = -3 m/s*sin(3*time/(1 s))\n"
        "m2 planar_marker_speed (p) at = [1, 0] m, direction = [0, 2], u = 3 m/s*cos(3*time/(1 s))\n"
        "s1 planar_marker_sensor (p, x, y) at = [1, 0] m\ns2 planar_marker_velocity_sensor (p, vx, vy) at = [1, 0] m\n"
        "s3 planar_line_sensor (ground, p, l) at1 = [0, 2] m, at2 = [1, 0] m\ns4 planar_hinge_speed_sensor (ground, p, w)\n"
        "run transient(stop = 1, step = 0.5 ms, method = generalized_alpha)\nsave x, y, vx, vy, l, w, m1.F, m2.F, m1.power, m1.work\n"
    ).samples()[0]
    c, s = np.cos(3 * samples.time), np.sin(3 * samples.time)
    exact = {
        "x": c,
        "y": s,
        "vx": -3 * s,
        "vy": 3 * c,
        "l": np.sqrt(5 - 4 * s),
        "w": 2 + 0 * s,
        "m1.F": -18 * c,
        "m1.power": 54 * c * s,
        "m1.work": 9 * s**2,
    }
    for name, value in exact.items():
        assert np.abs(samples.series(name) - value).max() < 2e-5 * np.abs(value).max(), name
