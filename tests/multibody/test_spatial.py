"""Joints, sources and bodies in space: freedoms, workless reactions, powers, and mechanisms against closed forms and independent integrations."""

import itertools

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import netsim
from conftest import ran
from joint_oracle import Point, account, admissible, constraints, form_of, library, moving, reactions
from netsim.library.files import check_library
from netsim.text.errors import InputError

Array = np.ndarray
LIB = library("spatial")
NODES = [("node", t, c) for t in range(2) for c in range(6)]
AT = np.array([0.3, -0.2, 0.5])
AT1 = np.array([-0.1, 0.5, 0.2])
AT2 = np.array([-0.4, 0.1, 0.9])
PLACE = np.array([[0.1, 0.2, 0.3], [-0.3, 0.6, 0.2]])
AXIS = np.array([1.0, 2.0, -2.0]) / 3
AXIS2 = np.array([2.0, 1.0, 2.0]) / 3
"""A direction orthogonal to AXIS."""

JOINTS = {  # name: freedoms left, rotation vectors in order, translation along axes of a
    "spatial_weld": (0, [], []),
    "spherical": (3, [np.array([0.4, -0.7, 0.9])], []),
    "universal": (2, [0.7 * AXIS, -0.5 * AXIS2], []),
    "revolute": (1, [2.1 * AXIS], []),
    "prismatic": (1, [], [0.4 * AXIS]),
    "cylindrical": (2, [2.1 * AXIS], [0.4 * AXIS]),
    "planar_joint": (3, [2.1 * AXIS], [0.4 * AXIS2 - 0.3 * np.cross(AXIS, AXIS2)]),
    "point_on_line": (4, [np.array([0.4, -0.7, 0.9])], [0.4 * AXIS]),
    "rod": (5, [], []),
}
COORDINATES = {
    "universal": {"q1": 0.7, "q2": -0.5}, "revolute": {"q": 2.1 + 4 * np.pi}, "prismatic": {"q": 0.4}, "cylindrical": {"q": 2.1, "s": 0.4},
    "planar_joint": {"q": 2.1, "x": 0.4, "y": -0.3}, "point_on_line": {"s": 0.4},
}  # fmt: skip
ELASTIC = {
    "c": 30.0, "d": 3.0, "friction": 2.0, "q0": 0.1, "ws": 0.3, "vs": 0.2, "cq": 5.0, "dq": 0.6, "frictionq": 0.8,
    "c1": 3.0, "c2": 2.0, "d1": 0.4, "d2": 0.3, "friction1": 0.2, "friction2": 0.7, "q10": 0.2, "q20": -0.3, "s0": 0.05, "x0": 0.04, "y0": -0.02,
}  # fmt: skip


def parameters(name: str, elastic: bool = False) -> dict[str, list[float]]:
    """Values for every parameter of a component of this file."""
    vectors = {
        "at": AT,
        "at1": AT1,
        "at2": AT2,
        "axis": AXIS,
        "axis1": AXIS,
        "axis2": AXIS2,
        "normal": AXIS,
        "along": AXIS2,
        "direction": AXIS,
        "across": AXIS2,
    }
    known = {key: list(value) for key, value in vectors.items()}
    plain = {"ws": 0.1, "vs": 0.1, "l": float(np.linalg.norm(AT2 - AT1))} | (ELASTIC if elastic else {})
    for p in LIB.components[name].definition.params:
        known.setdefault(p.name, [plain.get(p.name, 0.0)])
    return known


def placed(name: str, turns: list[Array], slides: list[Array], elastic: bool = False, seed: int = 0) -> Point:
    """The component with a at a random pose and b where the joint's own motion brings it from there."""
    rng = np.random.default_rng(seed)
    form = form_of(LIB, name)
    Ra = Rotation.from_rotvec(rng.normal(size=3))
    relative = Rotation.identity()
    for turn in turns:
        relative = relative * Rotation.from_rotvec(turn)
    Rb = Ra * relative
    ra = rng.normal(size=3)
    shift = sum(slides, np.zeros(3))
    rb = ra + Ra.apply(AT - PLACE[0] + shift) - Rb.apply(AT - PLACE[1])
    values: dict = {}
    for t, (r, R) in enumerate([(ra, Ra), (rb, Rb)]):
        for c in range(3):
            values[("node", t, c), 0] = r[c]
            values[("place", t, c), 0] = PLACE[t, c]
        for k, entry in enumerate(R.as_matrix().ravel()):
            values[("chart", t, k), 0] = entry
    own = {name: i for i, name in enumerate(form.own)}
    for coordinate, value in COORDINATES.get(name, {}).items():
        values[("own", own[coordinate]), 0] = value
    return Point(form, values, parameters(name, elastic))


def own_keys(form) -> list:
    return [("own", i) for i in range(len(form.own))]


def test_library_is_clean():
    assert check_library(LIB) == []
    ours = [c.definition for c in LIB.components.values() if "spatial" in c.definition.span.file.split("library")[-1]]
    assert len(ours) > 40
    for d in ours:
        documented: list = [*d.params, *d.inputs, *d.outputs, *d.variables]
        assert d.doc and all(item.doc for item in documented), d.name


@pytest.mark.parametrize("name", JOINTS)
def test_joint_holds_at_its_own_motion(name: str):
    freedoms, turns, slides = JOINTS[name]
    point = placed(name, turns, slides)
    residuals = point.evaluate([r for key, r in zip(point.form.rows, point.form.residuals) if key[0] == "own"])
    assert np.abs(residuals).max() < 1e-14
    assert len(constraints(point, NODES, own_keys(point.form))) == 6 - freedoms


@pytest.mark.parametrize("name", JOINTS)
def test_reactions_are_workless_and_span_the_constraints(name: str):
    freedoms, turns, slides = JOINTS[name]
    point = placed(name, turns, slides, seed=3)
    P = reactions(point, NODES)
    assert P.shape[1] == np.linalg.matrix_rank(P) == 6 - freedoms
    assert np.abs(admissible(constraints(point, NODES, own_keys(point.form))).T @ P).max() < 1e-13


@pytest.mark.parametrize("name", [n for n in JOINTS if n not in ("spatial_weld", "rod")])
def test_springs_dampers_and_friction_balance_the_energy(name: str):
    _, turns, slides = JOINTS[name]
    still = placed(name, turns, slides, elastic=True, seed=5)
    free = admissible(constraints(still, NODES, own_keys(still.form)))
    velocity = free @ np.random.default_rng(7).normal(size=free.shape[1])
    power, stored, lost = account(moving(still, NODES, velocity), NODES, velocity)
    assert lost > 0 and abs(stored) > 0
    assert power == pytest.approx(stored + lost, rel=1e-12)


SOURCES = {  # a source and a joint it may drive, with its coordinate and what it imposes
    "slide_displacement": ("cylindrical", 0.4), "slide_velocity": ("cylindrical", None), "slide_force": ("cylindrical", None),
    "hinge_angle": ("revolute", 2.1), "hinge_speed": ("universal", None), "hinge_torque": ("universal", None),
    "line_displacement": ("spherical", None), "line_velocity": ("spherical", None), "line_force": ("spherical", None),
    "orientation": ("spherical", None), "spin": ("spherical", None),
}  # fmt: skip


@pytest.mark.parametrize("name", SOURCES)
def test_source_delivers_what_the_network_gets(name: str):
    """power = -(what enters at the terminals times the velocities), and the multiplier's direction is the gradient of what is imposed."""
    joint, imposed = SOURCES[name]
    _, turns, slides = JOINTS[joint]
    host = placed(joint, turns, slides, seed=2)
    free = admissible(constraints(host, NODES, own_keys(host.form)))
    velocity = free @ np.random.default_rng(1).normal(size=free.shape[1])
    form = form_of(LIB, name)
    values: dict = {k: v for k, v in host.values.items() if k[0][0] != "own"}
    values.update({(("own", i), 0): 0.7 + i for i in range(len(form.own))})
    values.update({(("input", i), 0): 0.0 if imposed is None else imposed for i in range(3)})
    if imposed is None and form.name.endswith(("force", "torque")):
        values[("input", 0), 0] = 1.3
    point = moving(Point(form, values, parameters(name)), NODES, velocity)
    power = point.evaluate([form.readings["power"].value])[0]
    assert abs(power) > 0.01
    assert account(point, NODES, velocity)[0] == pytest.approx(-power, rel=1e-12)
    if imposed is not None:
        rows = [r for key, r in zip(form.rows, form.residuals) if key[0] == "own"]
        constraint = rows[-1:]  # behind the rate of the work, which it inherits
        assert abs(point.evaluate(constraint)[0]) < 1e-14
        gradient = point.jacobian(constraint, [(k, 0) for k in NODES])[0]
        assert abs(abs(gradient @ velocity) - abs(point.evaluate([form.readings["rate"].value])[0])) < 1e-12


# ------------------------------------------------------------------------------------------------ bodies


def run(text: str, **options: object):
    (samples,) = netsim.load("use spatial\nworld gravity = [0, 0, 0] m/s2\n" + text).samples(options)
    assert samples.finished, samples.message
    return samples


@pytest.mark.parametrize(
    ("shape", "mass", "moments"),
    [
        ("cylinder_body (p) rho = 2000, r = 0.1, l = 0.4", 2000 * np.pi * 0.01 * 0.4, (0.25 * 0.01 + 0.16 / 12, 0.25 * 0.01 + 0.16 / 12, 0.5 * 0.01)),
        (
            "tube_body (p) rho = 2000, r = 0.1, ri = 0.06, l = 0.4",
            2000 * np.pi * 0.0064 * 0.4,
            (0.0136 / 4 + 0.16 / 12, 0.0136 / 4 + 0.16 / 12, 0.0136 / 2),
        ),
        ("box_body (p) rho = 2000, l = [0.1, 0.2, 0.3] m", 2000 * 0.006, (0.13 / 12, 0.10 / 12, 0.05 / 12)),
        ("ball_body (p) rho = 2000, r = 0.1", 2000 * 4 / 3 * np.pi * 1e-3, (0.004, 0.004, 0.004)),
    ],
)
def test_shapes_have_the_mass_and_inertia_of_the_solid(shape: str, mass: float, moments: tuple[float, ...]):
    samples = run(f"b1 {shape}\nstart p.w = [1, 2, 3] rad/s\nrun transient(stop = 1 ms, step = 1 ms)\nsave b1.mass, b1.spin, b1.kinetic\n")
    assert samples.series("b1.mass")[0] == pytest.approx(mass, rel=1e-12)
    spin = [samples.series(f"b1.spin.{c}")[0] for c in "xyz"]
    assert spin == pytest.approx(mass * np.array(moments) * [1, 2, 3], rel=1e-12)
    assert samples.series("b1.kinetic")[0] == pytest.approx(mass * np.array(moments) @ [1, 4, 9] / 2, rel=1e-12)


@pytest.mark.parametrize(
    "inertia", ["diag(1, 1, 2.1)", "diag(1, 1, -0.1)", "[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]", "[[1.4, 0.9, 0], [0.9, 1.4, 0], [0, 0, 0.4]]"]
)
def test_impossible_inertia_is_refused(inertia: str):
    with pytest.raises(InputError, match="inertia"):
        run(f"b1 body (p) m = 1, I = {inertia} kg.m2\nrun transient(stop = 1 ms, step = 1 ms, method = euler)\n")


def test_thin_rod_in_any_axes_is_a_body():
    run("b1 body (p) m = 1, I = [[0.5, -0.5, 0], [-0.5, 0.5, 0], [0, 0, 1]] kg.m2\nb2 body (p2) m = 1, I = diag(0, 1, 1) kg.m2\n"
        "w1 spatial_weld (ground, p)\nw2 spatial_weld (ground, p2)\nrun transient(stop = 2 ms, step = 1 ms, method = euler)\n")  # fmt: skip


def test_point_mass_makes_the_body_it_should():
    """Two point masses on a light body against one body with the parallel-axis inertia: same motion under the same force."""
    common = (
        "f1 world_force (p) F = [1, 2, 3] N, at = [0.2, 0, 0.1] m\nk marker (p) at = [0.3, 0.1, 0] m\n"
        "run transient(stop = 0.1, step = 1 ms, method = euler)\nsave p.r, p.w, k.r\n"
    )
    apart = run(
        "b1 body (p) m = 1, I = diag(1, 1, 1) kg.m2\n"
        "x point_mass (p) m = 2, at = [0.3, 0, 0] m\ny point_mass (p) m = 2, at = [-0.3, 0, 0] m\n" + common
    )
    whole = run("b1 body (p) m = 5, I = diag(1, 1.36, 1.36) kg.m2\n" + common)
    assert np.abs(apart.values[-1] - whole.values[-1]).max() < 1e-9  # Newton's 1e-10 a step


# -------------------------------------------------------------------------------------------- mechanisms


def last(name: str, h: float, signal: str, stop: float) -> float:
    return float(ran(f"mechanisms/{name}", (signal,), step=h, stop=stop, method="euler").series(signal)[-1])


def test_free_body_keeps_its_momentum_and_a_proper_rotation():
    samples = ran("mechanisms/free_body")
    R = np.stack([samples.series(f"p.R[{i},{j}]") for i in (1, 2, 3) for j in (1, 2, 3)], axis=-1).reshape(-1, 3, 3)
    assert np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() < 1e-12
    for signal, start in (("b1.spin", (0.01, 4.0, 0.03)), ("b1.momentum", (0.0, 0.0, 0.1))):
        drift = np.stack([samples.series(f"{signal}.{c}") for c in "xyz"], axis=-1) - start
        assert np.abs(drift).max() < 1e-7
    w = np.stack([samples.series(f"p.w.{c}") for c in "xyz"], axis=-1)
    assert (np.einsum("tji,tj->ti", R, w)[:, 1]).min() < -1.5  # it has turned over


def test_free_body_against_euler_equations():
    moments = np.array([1.0, 2.0, 3.0])
    solution = solve_ivp(lambda t, w: np.cross(moments * w, w) / moments, (0, 4), [0.01, 2, 0.01], rtol=1e-11, atol=1e-12).y[:, -1]
    errors, losses = [], []
    for h in (2e-3, 1e-3, 5e-4):
        samples = ran("mechanisms/free_body", ("p.w", "p.R", "b1.kinetic"), step=h, stop=4.0, method="euler")
        R = np.array([samples.series(f"p.R[{i},{j}]")[-1] for i in (1, 2, 3) for j in (1, 2, 3)]).reshape(3, 3)
        w = np.array([samples.series(f"p.w.{c}")[-1] for c in "xyz"])
        errors.append(np.linalg.norm(R.T @ w - solution))
        losses.append(4.0052 - samples.series("b1.kinetic")[-1])
    assert all(1.8 < a / b < 2.2 for a, b in itertools.pairwise(errors))
    assert all(1.8 < a / b < 2.2 for a, b in itertools.pairwise(losses)) and losses[-1] > 0


def test_top_precesses_steadily():
    errors = []
    for h in (1e-3, 5e-4):
        samples = ran("mechanisms/spinning_top", ("m1.r",), step=h, method="euler")
        x, y, z = (samples.series(f"m1.r.{c}") for c in "xyz")
        errors.append(np.abs(np.unwrap(np.arctan2(y, x)) - 2.0 * samples.time).max())
        assert np.abs(x**2 + y**2 + z**2 - 0.04).max() < 1e-10
    assert errors[1] < 0.02 and 1.7 < errors[0] / errors[1] < 2.3


def test_pendulum_against_its_equation():
    exact = solve_ivp(lambda t, y: [y[1], 1.5 * 9.81 * np.cos(y[0])], (0, 2), [0, 0], rtol=1e-11, atol=1e-12).y[0, -1]
    errors = [last("pendulum", h, "j1.q", 2.0) - exact for h in (1e-3, 5e-4, 2.5e-4)]
    assert all(1.8 < a / b < 2.2 for a, b in itertools.pairwise(errors))
    assert abs(2 * errors[2] - errors[1]) < 1e-3


def test_double_pendulum_against_lagrange():
    def rate(t: float, y: Array) -> Array:
        a, b, u, v = y  # angles of the rods below the horizontal
        c, s = np.cos(a - b), np.sin(a - b)
        matrix = np.array([[4 / 3, c / 2], [c / 2, 1 / 3]])
        forces = np.array([-0.5 * s * v * v + 1.5 * 9.81 * np.cos(a), 0.5 * s * u * u + 0.5 * 9.81 * np.cos(b)])
        return np.concatenate([[u, v], np.linalg.solve(matrix, forces)])

    y = solve_ivp(rate, (0, 0.8), [0.0] * 4, rtol=1e-11, atol=1e-12).y[:, -1]
    for signal, exact in (("j1.q", y[0]), ("j2.q", y[1] - y[0])):
        errors = [last("double_pendulum", h, signal, 0.8) - exact for h in (1e-3, 5e-4, 2.5e-4)]
        assert all(1.7 < a / b < 2.3 for a, b in itertools.pairwise(errors))
        assert abs(2 * errors[2] - errors[1]) < 2e-3


def test_slider_crank_moves_as_its_geometry_says():
    samples = ran("mechanisms/slider_crank")
    q = 10 * samples.time
    assert np.abs(samples.series("pin1.q") - q).max() < 1e-10  # more than one turn, counted
    assert np.abs(samples.series("slide.q") - (0.1 * np.cos(q) + np.sqrt(0.09 - 0.01 * np.sin(q) ** 2) - 0.4)).max() < 1e-10


def test_work_of_a_motor_is_the_energy_it_brings():
    losses = []
    for h in (1e-3, 5e-4):
        samples = ran("mechanisms/slider_crank", ("motor.work",), step=h, method="euler")
        assert np.abs(samples.series("motor.work") - samples.energy[:, 1]).max() < 1e-10
        losses.append(samples.energy[-1, 0] - samples.energy[0, 0] - samples.energy[-1, 1])
    assert 1.8 < losses[0] / losses[1] < 2.2


def test_driven_joints_carry_their_flange():
    """Torque and force on flanges with inertia: q = a t^2/2; with implicit Euler a*h^2*n*(n + 1)/2."""
    samples = run(
        "use rotational\nuse translational\nb1 body (p) m = 1, I = diag(1, 1, 2) kg.m2\nb2 body (s) m = 3, I = diag(1, 1, 1) kg.m2\n"
        "j1 revolute_driven (ground, p, r) at = [0, 0, 0] m\nJ1 inertia (r) J = 0.5\nT1 torque (r) T = 5 N.m\n"
        "j2 prismatic_driven (ground, s, x) axis = [0, 3, 4]\nm1 mass (x) m = 1\nF1 force (x) F = 8 N\n"
        "run transient(stop = 3, step = 1 ms, method = euler)\nsave r.phi, x.x, s.r, j1.q\n"
    )
    n = np.arange(3001)
    square = 1e-6 * n * (n + 1) / 2
    assert np.abs(samples.series("r.phi") - 2 * square).max() < 5e-5  # the chart turns by 2 atan(h w/2), the flange by h w
    assert np.abs(samples.series("s.r.z") - 0.8 * 2 * square).max() < 1e-9
    assert samples.series("j1.q")[-1] > 2 * np.pi


def test_marker_and_orientation_sources_hold_what_they_prescribe():
    """A body led along x on a marker and turned by three angles: forces and moments against Newton and Euler."""
    samples = run(
        "b1 body (p) m = 2, I = diag(1, 2, 3) kg.m2, at = [0.1, 0, 0] m\n"
        "x marker_displacement (p) at = [0.3, 0, 0] m, s = [1, 2, 3] mm * sine(time, frequency = 1 Hz)\n"
        "o orientation (ground, p) phi = [0, 0, 1] * (time/(1 s))^2\n"
        "run transient(stop = 0.5, step = 0.1 ms, method = euler)\nsave x.F, o.M, p.w, p.r, p.R\nk marker (p) at = [0.3, 0, 0] m\nsave k.r\n"
    )
    t = samples.time
    for c, height in zip("xyz", (1e-3, 2e-3, 3e-3)):
        lead = height * np.sin(2 * np.pi * t)
        assert np.abs(samples.series(f"k.r.{c}") - lead - (0.3 if c == "x" else 0)).max() < 1e-10
    assert np.abs(samples.series("p.R[2,1]") - np.sin(t**2)).max() < 1e-10
    angle, w, dw = t**2, 2 * t, 2.0  # the centre: the marker less an arm of 0.2 m that turns
    ax = -1e-3 * (2 * np.pi) ** 2 * np.sin(2 * np.pi * t) + 0.2 * (dw * np.sin(angle) + w**2 * np.cos(angle))
    ay = -2e-3 * (2 * np.pi) ** 2 * np.sin(2 * np.pi * t) - 0.2 * (dw * np.cos(angle) - w**2 * np.sin(angle))
    assert np.abs(samples.series("x.F.x") - 2 * ax)[2:].max() < 5e-3
    assert np.abs(samples.series("x.F.y") - 2 * ay)[2:].max() < 5e-3
    arm = 0.2 * np.stack([np.cos(angle), np.sin(angle)])
    moment = 3 * dw - (arm[0] * 2 * ay - arm[1] * 2 * ax)
    assert np.abs(samples.series("o.M.z") - moment)[2:].max() < 5e-3


def test_sensors_show_what_the_mechanism_does():
    samples = run(
        "b1 body (p) m = 1, I = diag(1, 1, 1) kg.m2\nj1 revolute (ground, p) at = [0, 0, 0] m\nm1 hinge_speed (ground, p) w = 3 rad/s\n"
        "s1 marker_sensor (p, x, y, z) at = [2, 0, 0] m\ns2 hinge_sensor (ground, p, q)\ns3 hinge_speed_sensor (ground, p, w)\n"
        "s4 line_sensor (ground, p, l) at1 = [5, 0, 0] m, at2 = [2, 0, 0] m\ns5 line_length (ground, p) at1 = [5, 0, 0] m, at2 = [2, 0, 0] m\n"
        "s6 relative_marker (p, ground) at = [2, 0, 0] m\nrun transient(stop = 3, step = 1 ms, method = euler)\n"
        "save x, y, z, q, w, l, s5.l, s5.rate, s6.r, s6.w, p.R\n"
    )
    c, s = samples.series("p.R[1,1]"), samples.series("p.R[2,1]")
    q = np.unwrap(np.arctan2(s, c))
    shown = {
        "x": 2 * c, "y": 2 * s, "z": 0 * q, "q": q, "w": 3 + 0 * q, "l": np.sqrt(29 - 20 * c), "s5.l": np.sqrt(29 - 20 * c),
        "s5.rate": 30 * s / np.sqrt(29 - 20 * c), "s6.r.x": 2 * c - 2, "s6.r.y": -2 * s, "s6.w.z": -3 + 0 * q,
    }  # fmt: skip
    assert q[-1] == pytest.approx(9.0, abs=1e-3)
    for name, exact in shown.items():
        assert np.abs(samples.series(name) - exact)[1:].max() < 1e-6, name


def test_particle_swings_on_a_rod():
    samples = run(
        "f1 world_force (p) F = [0, 0, -9.81] N, at = [1, 0, 0] m\nx particle (p) m = 1, at = [1, 0, 0] m\n"
        "r1 rod (ground, p) at1 = [0, 0, 0] m, at2 = [1, 0, 0] m\nrun transient(stop = 0.5, step = 0.25 ms, method = euler)\n"
        "save p.r, p.w, r1.tension\n"
    )
    exact = solve_ivp(lambda t, y: [y[1], 9.81 * np.cos(y[0])], (0, 0.5), [0, 0], rtol=1e-10, atol=1e-12).y[:, -1]
    r = np.stack([samples.series(f"p.r.{c}") for c in "xyz"])
    assert np.abs(np.linalg.norm(r, axis=0) - 1).max() < 1e-10
    assert -np.arctan2(r[2], r[0])[-1] == pytest.approx(exact[0], abs=2e-3)
    assert samples.series("r1.tension")[-1] == pytest.approx(exact[1] ** 2 + 9.81 * np.sin(exact[0]), abs=0.05)
    assert np.abs([samples.series(f"p.w.{c}") for c in "xyz"]).max() < 1e-9


def test_particle_may_be_welded_to_what_turns():
    """A particle on a turning arm and a point mass of the arm itself: one motion, one reaction of the hinge."""
    common = (
        "world gravity = [0, 0, -9.81] m/s2\nb1 body (arm) m = 1, I = diag(0.1, 0.2, 0.2) kg.m2, at = [0.3, 0, 0] m\n"
        "j1 revolute (ground, arm) at = [0, 0, 0] m, axis = [0, 1, 0]\nrun transient(stop = 0.4, step = 0.25 ms, method = generalized_alpha)\n"
        "save j1.q, j1.force, j1.moment\n"
    )
    ours = [
        netsim.load("use spatial\n" + kind + common).samples()[0].values
        for kind in (
            "x particle (p) m = 2, at = [0.7, 0.1, 0] m\nw1 spatial_weld (arm, p) at = [0.7, 0.1, 0] m\n",
            "x point_mass (arm) m = 2, at = [0.7, 0.1, 0] m\n",
        )
    ]
    assert ours[0][-1, 0] > 0.5
    assert np.abs(ours[0] - ours[1]).max() < 1e-5 * np.abs(ours[1]).max()


def universal_text(drive: str) -> str:
    return (
        "b1 body (p) m = 1, I = diag(1, 2, 2.5) kg.m2\nu1 universal (ground, p) at = [0, 0, 0] m, axis1 = [1, 2, -2], axis2 = [2, 1, 2]\n"
        f"{drive}\nrun transient(stop = 1, step = 1 ms, method = euler)\nsave u1.q1, u1.q2, s1.q\n"
    )


def test_each_angle_of_a_universal_joint_can_be_driven_and_read():
    q1, q2 = "0.9*sin(3*time/(1 s))", "0.7*sin(4*time/(1 s))"
    samples = run(
        universal_text(
            f"m1 hinge_angle (ground, p) axis = [1, 2, -2], across = [2, 1, 2], q = {q1}\n"
            f"m2 hinge_angle (p, ground) axis = [2, 1, 2], across = [1, 2, -2], q = -{q2}\n"
            "s1 hinge_spring (ground, p) axis = [1, 2, -2], across = [2, 1, 2], c = 1 N.m/rad"
        )
    )
    t = samples.time
    for signal, exact in (("u1.q1", 0.9 * np.sin(3 * t)), ("u1.q2", 0.7 * np.sin(4 * t)), ("s1.q", 0.9 * np.sin(3 * t))):
        assert np.abs(samples.series(signal) - exact).max() < 1e-12
    with pytest.raises(InputError, match="across"):
        run(universal_text("s1 hinge_spring (ground, p) axis = [1, 2, -2], across = [1, 1, 2], c = 1 N.m/rad"))


def test_forces_and_moments_count_their_work():
    """Every source that pushes a free body: work = integral of power = energy the body gained."""
    samples = run(
        "b1 body (p) m = 2, I = diag(1, 2, 2.5) kg.m2\nb2 body (s) m = 1, I = diag(1, 1, 1) kg.m2\n"
        "f1 world_force (p) F = [1, 2, 3] N, at = [0.2, 0, 0.1] m\nf2 body_force (p) F = [-1, 0, 2] N, at = [0, 0.3, 0] m\n"
        "f3 world_moment (p) M = [1, 0, 0] N.m\nf4 body_moment (p) M = [0, 1, 2] N.m\nf5 relative_moment (p, s) M = [0, 2, 0] N.m\n"
        "run transient(stop = 1, step = 1 ms, method = generalized_alpha)\n"
        "save b1.kinetic, b2.kinetic, f1.work, f2.work, f3.work, f4.work, f5.work, f1.power, f2.power, f3.power, f4.power, f5.power\n"
    )
    works = np.array([samples.series(f"f{k}.work") for k in range(1, 6)])
    powers = np.array([samples.series(f"f{k}.power") for k in range(1, 6)])
    gained = samples.series("b1.kinetic") + samples.series("b2.kinetic")
    assert gained[-1] > 1 and np.abs(works[:, -1]).min() > 0.01
    assert np.abs(works.sum(axis=0) - gained).max() < 1e-5 * gained[-1]
    trapezoid = np.cumsum((powers[:, 1:] + powers[:, :-1]) / 2, axis=1) * 1e-3
    assert np.abs(works[:, 1:] - trapezoid).max() < 1e-4 * gained[-1]


def test_bodies_tell_energy_and_angular_momentum():
    """A free flight about the origin's field: kinetic + potential stays, r x m v + spin turns with the moment of the weight."""
    samples = netsim.load(
        "use spatial\nworld gravity = [0, 0, -9.81] m/s2\nb1 body (p) m = 2, I = diag(1, 2, 2.5) kg.m2, at = [0.5, 1, 0] m\n"
        "x point_mass (p) m = 1, at = [0.5, 1.3, 0.2] m\nstart p.v = [1, 0, 3] m/s\nstart p.w = [1, 2, 0.3] rad/s\n"
        "run transient(stop = 0.5, step = 0.5 ms, method = generalized_alpha)\n"
        "save b1.kinetic, b1.potential, x.kinetic, x.potential, b1.angular, x.angular, p.r\n"
        "k marker (p) at = [0.5, 1.3, 0.2] m\nsave b1.momentum, x.momentum, k.r\n"
    ).samples()[0]
    total = sum(samples.series(f"{b}.{e}") for b in ("b1", "x") for e in ("kinetic", "potential"))
    assert np.abs(total - total[0]).max() < 1e-5 * abs(total[0])
    t = samples.time
    linear = np.array([samples.series(f"b1.momentum.{c}") + samples.series(f"x.momentum.{c}") for c in "xyz"])
    assert np.abs(linear - linear[:, :1] - np.array([[0], [0], [-3 * 9.81]]) * t).max() < 1e-8
    angular = np.array([samples.series(f"b1.angular.{c}") + samples.series(f"x.angular.{c}") for c in "xyz"])
    moment = -9.81 * sum(m * np.array([samples.series(f"{r}.y"), -samples.series(f"{r}.x"), 0 * t]) for m, r in ((2, "p.r"), (1, "k.r")))
    grown = np.cumsum((moment[:, 1:] + moment[:, :-1]) / 2, axis=1) * 5e-4
    assert np.abs(angular[:, 1:] - angular[:, :1] - grown).max() < 1e-4
