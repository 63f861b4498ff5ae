"""The mechanisms of models/ against closed forms, published solutions and oracles that share nothing with the library."""

import re

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk, ellipkinc

import netsim
from conftest import ran
from netsim.library.files import models_folder
from netsim.text.errors import InputError
from virtual_work import Moving, about_z, loads, motion_of

Array = np.ndarray
SECOND = {"method": "generalized_alpha"}


def vector(samples, name: str, sizes: str = "xyz") -> Array:
    return np.stack([samples.series(f"{name}.{c}") for c in sizes], axis=-1)


def rotation(samples, node: str) -> Array:
    return np.stack([samples.series(f"{node}.R[{i},{j}]") for i in (1, 2, 3) for j in (1, 2, 3)], axis=-1).reshape(-1, 3, 3)


def orders(errors: list[float]) -> Array:
    """Observed orders of errors at halved steps."""
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def changed(name: str, *edits: tuple[str, str]) -> netsim.Model:
    """A model with pieces of its text replaced; every piece must be there."""
    text = (models_folder() / "mechanisms" / f"{name}.net").read_text()
    for pattern, replacement in edits:
        text, count = re.subn(pattern, replacement, text)
        assert count, pattern
    return netsim.load(text)


def run(model: netsim.Model, **options: object):
    samples = model.samples(options)[0]
    assert samples.finished, samples.message
    return samples


# ---------------------------------------------------------------------------------------------- open chains and free bodies


def test_pendulum_is_an_elliptic_function():
    """sin(theta/2) = k cd(w0 t, k^2) from the horizontal: k^2 = 1/2, w0^2 = 3 g/(2 L)."""
    errors, period = [], 4 * ellipk(0.5) / np.sqrt(1.5 * 9.81)
    for h in (2e-3, 1e-3, 5e-4):
        samples = ran("mechanisms/pendulum", ("j1.q", "j1.rate", "j1.force"), step=h, stop=2.0, **SECOND)
        _, cn, dn, _ = ellipj(np.sqrt(1.5 * 9.81) * samples.time, 0.5)
        errors.append(np.abs(samples.series("j1.q") - (np.pi / 2 - 2 * np.arcsin(np.sqrt(0.5) * cn / dn))).max())
    assert np.abs(orders(errors) - 2).max() < 0.05 and errors[-1] < 2e-5
    q, rate, force = samples.series("j1.q"), samples.series("j1.rate"), vector(samples, "j1.force")
    along, across = -(rate**2) / 2 - 9.81 * np.sin(q), 9.81 * np.cos(q) / 4  # of the hinge on the rod, Newton's law for its centre
    exact = np.stack([along * np.cos(q) + across * np.sin(q), 0 * q, -along * np.sin(q) + across * np.cos(q)], axis=-1)
    assert np.abs(force - exact).max() < 1e-10 * np.abs(exact).max()
    low = np.flatnonzero(np.diff(np.sign(rate)) < 0)
    t = samples.time[low] - rate[low] * 5e-4 / (rate[low + 1] - rate[low])
    assert t[0] == pytest.approx(period / 2, abs=2e-5)


def test_double_pendulum_against_lagrange():
    def rates(t: float, y: Array) -> Array:
        a, b, u, v = y  # angles of the rods below the horizontal
        c, s = np.cos(a - b), np.sin(a - b)
        forces = np.array([-0.5 * s * v * v + 1.5 * 9.81 * np.cos(a), 0.5 * s * u * u + 0.5 * 9.81 * np.cos(b)])
        return np.concatenate([[u, v], np.linalg.solve([[4 / 3, c / 2], [c / 2, 1 / 3]], forces)])

    times = np.linspace(0, 1, 51)
    exact = solve_ivp(rates, (0, 1), [0.0] * 4, method="DOP853", rtol=1e-12, atol=1e-13, t_eval=times).y
    errors = []
    for h in (1e-3, 5e-4, 2.5e-4):
        samples = ran("mechanisms/double_pendulum", ("j1.q", "j2.q"), step=h, every=round(0.02 / h), **SECOND)
        errors.append(max(np.abs(samples.series("j1.q") - exact[0]).max(), np.abs(samples.series("j2.q") - exact[1] + exact[0]).max()))
    assert np.abs(orders(errors) - 2).max() < 0.1 and errors[-1] < 1e-4


def test_top_precesses_steadily_to_second_order():
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        samples = ran("mechanisms/spinning_top", ("m1.r",), step=h, **SECOND)
        x, y, z = vector(samples, "m1.r").T
        errors.append(np.abs(np.unwrap(np.arctan2(y, x)) - 2.0 * samples.time).max())
    assert orders(errors).min() > 1.85 and errors[-1] < 1e-5  # of third order: the leading term leaves a steady precession alone
    assert np.abs(z - 0.2 * np.cos(np.pi / 6)).max() < 1e-5


def test_top_nutates_as_lagrange_says():
    """Let go without precession: theta'' from the two conserved momenta (H. Goldstein, Classical Mechanics, section 5.7)."""
    spin, I3, It, mgl, th = 150.0, 0.004, 0.018, 0.981, np.pi / 6
    p3 = I3 * spin
    pz = p3 * np.cos(th)

    def rates(t: float, y: Array) -> list[float]:
        c, s = np.cos(y[0]), np.sin(y[0])
        precession = (pz - p3 * c) / (It * s * s)
        return [y[1], (It * precession**2 * s * c - p3 * precession * s + mgl * s) / It, precession]

    times = np.linspace(0, 1, 101)
    exact = solve_ivp(rates, (0, 1), [th, 0.0, 0.0], method="DOP853", rtol=1e-12, atol=1e-13, t_eval=times).y
    errors, drifts = [], []
    for h in (5e-4, 2.5e-4, 1.25e-4):
        model = changed(
            "spinning_top", (r"start top.w = .*", "start top.w = (150 rad/s)*e"), (r"save .*", "save m1.r, b1.angular, b1.kinetic, b1.potential")
        )
        samples = run(model, step=h, every=round(0.01 / h), **SECOND)
        x, y, z = vector(samples, "m1.r").T
        errors.append(max(np.abs(np.arccos(z / 0.2) - exact[0]).max(), np.abs(np.unwrap(np.arctan2(y, x)) - exact[2]).max()))
        energy = samples.series("b1.kinetic") + samples.series("b1.potential")
        drifts.append([np.ptp(energy) / energy[0], np.ptp(samples.series("b1.angular.z")) / pz])
    assert np.ptp(exact[0]) > 0.01 and exact[2, -1] > 1
    assert np.abs(orders(errors) - 2).max() < 0.15 and errors[-1] < 2e-3
    assert orders([d[0] for d in drifts]).min() > 1.85 and max(drifts[-1]) < 1e-6


def test_free_body_follows_jacobi():
    """Euler's equations for I1 < I2 < I3 (Landau and Lifshitz, Mechanics, section 37): w = (A1 cn, A2 sn, A3 dn), and the period of the tumbling."""
    I = np.array([1.0, 2.0, 3.0])  # noqa: E741
    w0 = np.array([0.01, 2.0, 0.01])
    E2, L2 = I @ w0**2, (I * w0) @ (I * w0)
    assert E2 * I[1] < L2
    A = np.sqrt([(E2 * 3 - L2) / (1 * 2), (E2 * 3 - L2) / (2 * 1), (L2 - E2 * 1) / (3 * 2)])
    speed = np.sqrt((3 - 2) * (L2 - E2) / 6)
    m = (2 - 1) * (E2 * 3 - L2) / ((3 - 2) * (L2 - E2))
    errors = []
    for h in (1e-3, 5e-4, 2.5e-4):
        samples = ran("mechanisms/free_body", ("p.w", "p.R", "b1.spin", "b1.kinetic"), step=h, every=round(0.01 / h), **SECOND)
        R = rotation(samples, "p")
        w = np.einsum("tji,tj->ti", R, vector(samples, "p.w"))
        sn, cn, dn, _ = ellipj(ellipkinc(np.arcsin(min(1.0, w0[1] / A[1])), m) + speed * samples.time, m)
        errors.append(np.abs(w - np.stack([A[0] * cn, A[1] * sn, A[2] * dn], axis=-1)).max())
        assert np.abs(vector(samples, "b1.spin") - I * w0).max() < 1e-9  # momentum is a charge: kept whatever the step
        assert np.ptp(samples.series("b1.kinetic")) < 5 * h**2
    assert np.abs(orders(errors) - 2).max() < 0.15 and errors[-1] < 1e-3
    down = np.flatnonzero(np.diff(np.sign(w[:, 1])) < 0)
    assert len(down) == 1  # it turns over once in the run
    turn = (2 * ellipk(m) - ellipkinc(np.arcsin(w0[1] / A[1]), m)) / speed
    assert samples.time[down[0]] <= turn <= samples.time[down[0] + 1]


# ------------------------------------------------------------------------------------------------------- driven linkages


def fourbar_bodies(q):
    """Crank, coupler and rocker of fourbar_planar by the crank's angle."""
    tip = ca.vertcat(0.1 * ca.cos(q[0]) - 0.3, 0.1 * ca.sin(q[0]))
    reach = ca.norm_2(tip)
    rocker = ca.atan2(tip[1], tip[0]) - ca.acos((reach**2 + 0.04 - 0.09) / (0.4 * reach))
    B = ca.vertcat(tip[0] + 0.3, tip[1])
    C = ca.vertcat(0.3 + 0.2 * ca.cos(rocker), 0.2 * ca.sin(rocker))
    coupler = ca.atan2(C[1] - B[1], C[0] - B[0])
    middle = [0.5 * B, 0.5 * (B + C), 0.5 * (ca.vertcat(0.3, 0) + C)]
    return [
        Moving(m, np.diag([0, 0, m * length**2 / 12]), ca.vertcat(r, 0), about_z(angle))
        for m, length, r, angle in zip((0.2, 0.6, 0.4), (0.1, 0.3, 0.2), middle, (q[0], coupler, rocker))
    ]


def test_fourbar_torque_by_virtual_work_in_the_plane_and_in_space():
    torque = loads(1, fourbar_bodies, [0, -9.81, 0])
    flat = ran("mechanisms/fourbar_planar", ("motor.T", "pC.force", "pD.q", "motor.power", "motor.work"), forces="recovered")
    deep = ran("mechanisms/fourbar_spatial", ("motor.T", "pC.force", "pD.q"), forces="recovered")
    exact = np.array([torque(6 * t, 6, 0)[0] for t in flat.time])
    peak = np.abs(exact).max()
    assert np.abs(flat.series("motor.T") - exact).max() < 1e-9 * peak
    assert np.abs(deep.series("motor.T") - exact).max() < 1e-9 * peak
    assert np.abs(flat.series("pD.q") - deep.series("pD.q")).max() < 1e-10
    for c in "xy":
        assert np.abs(flat.series(f"pC.force.{c}") - deep.series(f"pC.force.{c}")).max() < 1e-8 * np.abs(flat.series(f"pC.force.{c}")).max()
    assert np.abs(flat.series("motor.power") - 6 * exact).max() < 1e-8 * peak
    assert deep.attributes["redundant"].startswith("3 redundant constraints at p")
    assert flat.attributes["redundant"] == ""


SHAFTS = {
    "angle": "phi = 1.2 rad*(1 - cos(5*time/1 s))",
    "speed": "w = 6 rad/s*sin(5*time/1 s)",
    "angular_acceleration": "a = 30 rad/s2*cos(5*time/1 s)",
}


@pytest.mark.parametrize("kind", SHAFTS)
def test_a_shaft_drives_a_loop_that_repeats_itself(kind):
    """The four-bar in space through its crank's shaft: prescribed angle, speed or acceleration; the torque is that of virtual work."""
    torque = loads(1, fourbar_bodies, [0, -9.81, 0])
    model = driven_fourbar(f"motor {kind} (f, ground) {SHAFTS[kind]}")
    run = model.transient(stop=1.0, sample=0.1, rtol=1e-8, save=["f.phi", "motor.drive"])
    t = np.asarray(run["time"])
    exact = np.array([torque(1.2 * (1 - np.cos(5 * s)), 6 * np.sin(5 * s), 30 * np.cos(5 * s))[0] for s in t])
    assert np.abs(np.asarray(run["f.phi"]) - 1.2 * (1 - np.cos(5 * t))).max() < 1e-8
    assert np.abs(np.asarray(run["motor.drive"]) - exact).max() < 1e-6 * np.abs(exact).max()
    assert run.attrs["redundant"].startswith("3 redundant constraints at p")


@pytest.mark.parametrize("kind, drive", {**SHAFTS, "gear": "ratio = 2"}.items())
def test_a_loop_driven_twice_names_the_second_drive(kind, drive):
    shafts = "(f, f2)" if kind == "gear" else "(f2, ground)"
    with pytest.raises(InputError, match=r"E320 .second. prescribes a quantity that is already prescribed or locked"):
        driven_fourbar(f"motor angle (f, ground) {SHAFTS['angle']}\nsecond {kind} {shafts} {drive}").transient(stop=0.01)


def driven_fourbar(drives):
    """The four-bar in space with shafts f and f2 at its hinges to ground, and what is tied to them."""
    lines = (models_folder() / "mechanisms" / "fourbar_spatial.net").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("motor", "run", "save", "plot"))]
    text = (
        "\n".join(kept)
        .replace("revolute    (ground, a)", "revolute_driven (ground, a, f)")
        .replace("revolute    (ground, c)", "revolute_driven (ground, c, f2)")
    )
    return netsim.load(f"use rotational\n{text}\n{drives}\n")


def test_slider_crank_torque_by_virtual_work():
    def bodies(q):
        beta = -ca.asin(ca.sin(q[0]) / 3)
        x = 0.1 * ca.cos(q[0]) + 0.3 * ca.cos(beta)
        crank = ca.vertcat(0.05 * ca.cos(q[0]), 0.05 * ca.sin(q[0]), 0)
        rod = ca.vertcat(0.1 * ca.cos(q[0]) + 0.15 * ca.cos(beta), 0.1 * ca.sin(q[0]) + 0.15 * ca.sin(beta), 0)
        return [
            Moving(0.5, np.diag([1e-4, 1e-3, 1e-3]), crank, about_z(q[0])), Moving(0.3, np.diag([1e-5, 2e-3, 2e-3]), rod, about_z(beta)),
            Moving(0.4, np.diag([1e-4] * 3), ca.vertcat(x, 0, 0), ca.SX.eye(3)),
        ]  # fmt: skip

    torque = loads(1, bodies, [0, 0, -9.81])
    samples = ran("mechanisms/slider_crank", ("motor.T", "pin1.q", "slide.q"), forces="recovered")
    exact = np.array([torque(10 * t, 10, 0)[0] for t in samples.time])
    assert np.abs(samples.series("motor.T") - exact).max() < 1e-9 * np.abs(exact).max()


def test_five_bar_torques_by_virtual_work():
    def bodies(q):
        def link(p, r):
            middle = 0.5 * (p + r)
            d = r - p
            return ca.vertcat(middle, 0), ca.atan2(d[1], d[0]), 0.1 * ca.dot(d, d) / 12

        A, B = ca.DM([-0.1, 0]), ca.DM([0.1, 0])
        C = A + 0.2 * ca.vertcat(-ca.sin(q[0]), ca.cos(q[0]))
        D = B + 0.2 * ca.vertcat(-ca.sin(q[1]), ca.cos(q[1]))
        half = 0.5 * (D - C)
        rise = ca.sqrt(0.05 - ca.dot(half, half))
        E = 0.5 * (C + D) + rise * ca.vertcat(-half[1], half[0]) / ca.norm_2(half)
        found = []
        for p, r in ((A, C), (B, D), (C, E), (D, E)):
            middle, angle, inertia = link(p, r)
            found.append((middle, angle, inertia))
        lengths = (0.04, 0.04, 0.05, 0.05)
        return [Moving(0.1, np.diag([0, 0, 0.1 * l2 / 12]), r, about_z(angle)) for (r, angle, _), l2 in zip(found, lengths)]

    def law(t):
        bell = [ca.exp(-(((t - 1) / w) ** 2)) for w in (0.5, 0.3)]
        return ca.vertcat(np.deg2rad(20) * ca.sin(2 * np.pi * t) * bell[0], np.deg2rad(15) * bell[1])

    torque = loads(2, bodies, [0, -9.81, 0])
    samples = ran("mechanisms/five_bar", ("mA.T", "mB.T"), forces="recovered", every=10)
    exact = np.array([torque(*m) for m in motion_of(law, samples.time)])
    for k, name in enumerate(("mA.T", "mB.T")):
        assert np.abs(samples.series(name) - exact[:, k]).max() < 1e-9 * np.abs(exact).max()


# ------------------------------------------------------------------------------------------------------------ delta robot

BASE, PLATFORM, ARM, ROD, GAP = 0.20, 0.05, 0.25, 0.60, 0.06
DROP = np.sqrt(ROD**2 - (BASE + ARM - PLATFORM) ** 2)


def frame(phi: float) -> tuple[Array, Array, Array]:
    return np.array([np.cos(phi), np.sin(phi), 0]), np.array([-np.sin(phi), np.cos(phi), 0]), np.array([0, 0, 1.0])


def hinge_angle_of(p, phi: float):
    """The arm's angle (downward) that puts its elbow a rod's length from the platform's joint: A cos q + B sin q = C."""
    r, t, z = frame(phi)
    s = p + PLATFORM * r - BASE * r  # from the hinge to the rods' lower end
    x, y, d = ca.dot(r, s), ca.dot(t, s), -ca.dot(z, s)
    reach = (x**2 + y**2 + d**2 + ARM**2 - ROD**2) / (2 * ARM)
    return ca.atan2(d, x) - ca.acos(reach / ca.sqrt(x**2 + d**2))


def delta_bodies(p):
    """All bodies of the delta robot by the platform's place: arms, rods with their cardan joints at the elbows, platform."""
    found = [Moving(0.5, np.diag([4e-4, 4e-4, 7e-4]), p, ca.SX.eye(3))]
    for phi in np.deg2rad([0, 120, 240]):
        r, t, z = frame(phi)
        q = hinge_angle_of(p, phi)
        along, up = ca.cos(q) * r - ca.sin(q) * z, ca.sin(q) * r + ca.cos(q) * z
        arm = ca.horzcat(along, t, up) @ np.array([r, t, z])
        link = np.array([r, t, z])
        found.append(Moving(0.4, link.T @ np.diag([2e-4, 2.2e-3, 2.2e-3]) @ link, BASE * r + 0.5 * ARM * along, arm))
        elbow, wrist = BASE * r + ARM * along, p + PLATFORM * r
        u = (wrist - elbow) / ROD
        u0 = ((PLATFORM - BASE - ARM) * r - DROP * z) / ROD
        n = ca.cross(t, u) / ca.norm_2(ca.cross(t, u))  # the cardan joint's second axis: of the rod, and orthogonal to the hinge's
        drawn = np.array([u0, np.cross(t, u0), np.cross(u0, np.cross(t, u0))])
        R = ca.horzcat(u, n, ca.cross(u, n)) @ drawn
        axes = np.array([u0, t, np.cross(t, u0)])
        for side in (1, -1):
            found.append(Moving(0.1, axes.T @ np.diag([5e-6, 3e-3, 3e-3]) @ axes, 0.5 * (elbow + wrist) + side * GAP * t, R))
    return found


def delta_law(t):
    bell = [ca.exp(-(((t - at) / w) ** 2)) for at, w in ((0.5, 0.15), (0.5, 0.1), (0.55, 0.12))]
    return ca.vertcat(np.deg2rad(25) * ca.sin(4 * np.pi * t) * bell[0], np.deg2rad(20) * bell[1], -np.deg2rad(15) * bell[2])


def test_delta_robot_torques_by_virtual_work():
    """Motion from the platform's inverse kinematics, solved for the given hinge angles; torques = loads of the platform through the Jacobian."""
    samples = ran("mechanisms/delta_robot", ("tool.r", "motorA.T", "motorB.T", "motorC.T", "plate.R"), every=10)
    p, v = ca.SX.sym("p", 3), ca.SX.sym("v", 3)
    angles = ca.vertcat(*(hinge_angle_of(p, phi) for phi in np.deg2rad([0, 120, 240])))
    J = ca.jacobian(angles, p)
    kinematics = ca.Function("kinematics", [p, v], [angles, J, ca.jtimes(J @ v, p, v)])
    force = loads(3, delta_bodies, [0, 0, -9.81])
    place, exact, path = np.array([0, 0, -DROP]), [], []
    for q, qd, qdd in motion_of(delta_law, samples.time):
        for _ in range(20):
            found, jacobian, _ = (np.array(x) for x in kinematics(place, [0, 0, 0]))
            place = place - np.linalg.solve(jacobian, found.ravel() - q)
        velocity = np.linalg.solve(jacobian, qd)
        bias = np.array(kinematics(place, velocity)[2]).ravel()
        exact.append(np.linalg.solve(jacobian.T, force(place, velocity, np.linalg.solve(jacobian, qdd - bias))))
        path.append(place)
    exact, torques = np.array(exact), np.stack([samples.series(f"motor{k}.T") for k in "ABC"], axis=-1)
    assert np.ptp(np.array(path), axis=0).min() > 0.03
    assert np.abs(vector(samples, "tool.r") - np.array(path) + np.array([0, 0, 0.05])).max() < 1e-11
    assert np.abs(torques - exact).max() < 1e-8 * np.abs(exact).max()
    assert np.abs(rotation(samples, "plate") - np.eye(3)).max() < 1e-11


# ------------------------------------------------------------------------------------------------ squeezing mechanism

ANDREWS_START = np.array(
    [-0.06171389001427645, 0.0, 0.45527981916307037, 0.22266839016588588, 0.48736497954384256, -0.22266839016588588, 1.2305474445498212]
)
ANDREWS_END = np.array(
    [15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805303, 0.5347301163226948, 1.048080741042263]
)


def test_squeezing_mechanism_to_second_order_and_at_tiny_steps():
    """Against the published angles at 0.03 s (Test Set for IVP Solvers 2.4, problem II-10); at the smallest step Newton meets rounding."""
    c = ANDREWS_END - ANDREWS_START
    exact = np.array([c[0], c[0] + c[1], c[2], c[3] + c[4], c[4], c[5] + c[6], c[6]])
    signals = tuple(f"b{i}.phi" for i in range(1, 8))
    errors = [
        np.abs(ran("benchmarks/andrews", signals, step=h, every=round(3e-2 / h), forces="method", **SECOND).values[-1] - exact).max()
        for h in (2e-5, 1e-5, 5e-6, 1e-6)
    ]
    assert np.abs(orders(errors[:3]) - 2).max() < 0.05
    assert errors[-1] < 1.2e-6  # of 15.9 rad
    euler = [ran("benchmarks/andrews", signals, step=h, every=round(3e-2 / h), method="euler").values[-1] - exact for h in (2e-6, 1e-6)]
    assert np.abs(2 * euler[1] - euler[0]).max() < 3e-3 and 1.95 < euler[0][0] / euler[1][0] < 2.05


# ---------------------------------------------------------------------------------------------- redundant constraints

PARALLELOGRAM = """
use spatial
world gravity = [0.5, -9.81, 3] m/s2
a1     body         (a)          m = 0.3 kg, I = diag(1e-3, 2e-3, 2e-3) kg.m2, at = [0.05, 0.1, 0] m
b1     body         (b)          m = 0.8 kg, I = diag(1e-3, 5e-3, 5e-3) kg.m2, at = [0.25, 0.2, 0.02] m
c1     body         (c)          m = 0.3 kg, I = diag(1e-3, 2e-3, 2e-3) kg.m2, at = [0.45, 0.1, 0] m
pA     revolute     (ground, a)  at = [0, 0, 0] m
pB     revolute     (a, b)       at = [0.1, 0.2, 0] m
pC     revolute     (b, c)       at = [0.5, 0.2, 0.05] m
pD     revolute     (ground, c)  at = [0.4, 0, 0.05] m
motor  hinge_angle  (ground, a)  q = 0.4 rad*sine(time, frequency = 1 Hz)
push   world_force  (b)          F = [0, 0, 7] N, at = [0.2, 0.25, 0] m
run    transient(stop = 1 s, step = 1 ms, every = 50, method = euler, forces = recovered)
save   pA.force, pA.moment, pB.force, pB.moment, pC.force, pC.moment, pD.force, pD.moment, motor.T
save   a.r, a.R, b.r, b.R, c.r, c.R
"""
PINS = {"pA": (None, "a", [0, 0, 0]), "pB": ("a", "b", [0.1, 0.2, 0]), "pC": ("b", "c", [0.5, 0.2, 0.05]), "pD": (None, "c", [0.4, 0, 0.05])}
CENTRES = {"a": [0.05, 0.1, 0], "b": [0.25, 0.2, 0.02], "c": [0.45, 0.1, 0]}


def balance(samples, k: int) -> Array:
    """Forces and moments on a, b, c (18 rows) by the hinges' reactions: 3 forces and 2 moments (x, y) each, all axes along z."""
    B = np.zeros((18, 20))
    for j, (first, second, at) in enumerate(PINS.values()):
        for body, sign in ((first, -1.0), (second, 1.0)):
            if body is not None:
                row = 6 * "abc".index(body)
                arm = rotation(samples, body)[k] @ (np.array(at) - CENTRES[body])
                B[row : row + 3, 5 * j : 5 * j + 3] = sign * np.eye(3)
                B[row + 3 : row + 6, 5 * j : 5 * j + 3] = sign * np.array([[0, -arm[2], arm[1]], [arm[2], 0, -arm[0]], [-arm[1], arm[0], 0]])
                B[row + 3 : row + 5, 5 * j + 3 : 5 * j + 5] = sign * np.eye(2)
    return B


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"forces": "method"},
        SECOND,
        {"method": "generalized_alpha", "forces": "method"},
        {"adaptive": "radau"},
        {"adaptive": "bdf"},
    ],
)
def test_redundant_reactions_are_those_of_least_norm(options: dict):
    text = PARALLELOGRAM
    if "adaptive" in options:
        text = text.replace("step = 1 ms, every = 50, method = euler, forces = recovered", f"sample = 50 ms, method = {options['adaptive']}")
        options = {}
    samples = netsim.load(text).samples(options)[0]
    length = samples.attributes["characteristic_length"]
    B0 = balance(samples, 0)
    forces = np.concatenate([np.arange(5 * j, 5 * j + 3) for j in range(4)])
    turning = np.concatenate([np.arange(6 * i + 3, 6 * i + 6) for i in range(3)])
    pushing = np.setdiff1d(np.arange(18), turning)
    assert length == pytest.approx(np.sqrt((B0[np.ix_(turning, forces)] ** 2).sum() / (B0[np.ix_(pushing, forces)] ** 2).sum()), rel=1e-12)
    assert samples.attributes["redundant"].startswith("3 redundant constraints at p")
    weights = np.tile([1, 1, 1, 1 / length, 1 / length], 4)
    for k in range(len(samples.time)):
        B = balance(samples, k)
        found = np.concatenate([[samples.series(f"{p}.{q}.{c}")[k] for q, cs in (("force", "xyz"), ("moment", "xy")) for c in cs] for p in PINS])
        assert np.linalg.matrix_rank(B) == 17
        least = np.linalg.pinv(B / weights, rcond=1e-9) @ (B @ found) / weights
        assert np.abs(found - least).max() < 1e-9 * np.abs(found).max()
        assert np.abs(found[2::5]).max() > 0.1  # the load across the plane is borne


def test_redundant_reactions_balance_the_loads():
    """At rest under weight and push: equilibrium of every body, and the motor's torque by virtual work."""
    still = re.sub(r"q = .*", "q = 0.5 rad", PARALLELOGRAM)
    for text in (still, still.replace("forces = recovered", "forces = method")):
        samples = netsim.load(text).samples()[0]
        k = len(samples.time) - 1
        g = np.array([0.5, -9.81, 3])
        B = balance(samples, k)
        found = np.concatenate([[samples.series(f"{p}.{q}.{c}")[k] for q, cs in (("force", "xyz"), ("moment", "xy")) for c in cs] for p in PINS])
        F, arm = np.array([0, 0, 7.0]), rotation(samples, "b")[k] @ (np.array([0.2, 0.25, 0]) - CENTRES["b"])
        loads_ = np.concatenate([0.3 * g, [0, 0, samples.series("motor.T")[k]], 0.8 * g + F, np.cross(arm, F), 0.3 * g, np.zeros(3)])
        assert np.abs(B @ found + loads_).max() < 1e-9
        torque = -sum(m * g @ np.cross([0, 0, 1], r) for m, r in ((0.3, vector(samples, "a.r")[k]), (0.3, vector(samples, "a.r")[k])))
        pin = rotation(samples, "a")[k] @ [0.1, 0.2, 0]  # b only translates, along a circle as the pin
        torque -= (0.8 * g + F) @ np.cross([0, 0, 1], pin)
        assert samples.series("motor.T")[k] == pytest.approx(torque, rel=1e-9)


THREE_CRANKS = """
use planar
crank    planar_body  (a)  m = 1 kg, I = 0.01 kg.m2, at = [0, 0.1] m
coupler  planar_body  (b)  m = 1 kg, I = 0.02 kg.m2, at = [0.2, 0.2] m
rocker   planar_body  (c)  m = 1 kg, I = 0.02 kg.m2, at = [0.4, 0.1] m
middle   planar_body  (d)  m = 1 kg, I = 0.02 kg.m2, at = [0.2, 0.1] m
pA  planar_revolute   (ground, a)  at = [0, 0] m
pB  planar_revolute   (a, b)       at = [0, 0.2] m
pC  planar_revolute   (b, c)       at = [0.4, 0.2] m
pD  planar_revolute   (ground, c)  at = [0.4, 0] m
pE  planar_revolute   (ground, d)  at = [0.2, 0] m
pF  planar_revolute   (b, d)       at = [0.2, 0.2] m
run transient(stop = 0.1 s)
"""


def test_what_repeats_wherever_it_moves_is_no_singular_configuration():
    """A coupler on three parallel cranks keeps its freedom; the same machine with its cranks lying flat is drawn where more depends than repeats."""
    from netsim.simulate.setup.start_of_run import start_of_run
    from netsim.text.errors import InputError

    model = netsim.load(THREE_CRANKS)
    machine, *_ = start_of_run(model.machine, model.structure)
    assert len(machine.system.redundant.rows) == 1
    flat = re.sub(r"\[([\d.]+), 0\.([12])\] m", lambda at: f"[{float(at[1]) + 0.1 * int(at[2]):g}, 0] m", THREE_CRANKS)
    model = netsim.load(flat)
    with pytest.raises(InputError) as told:
        start_of_run(model.machine, model.structure)
    assert [p.code for p in told.value.problems] == ["E415"]


def test_springs_in_a_redundant_loop_do_not_hide_it():
    soft = changed("fourbar_spatial", (r"\(a, b\)       at", "(a, b) c = 2 N.m/rad, d = 0.1, friction = 0.05 N.m, at"))
    flat = changed("fourbar_planar", (r"\(a, b\)       at", "(a, b) c = 2 N.m/rad, d = 0.1, friction = 0.05 N.m, at"))
    ours = [run(model, forces="recovered", stop=0.3) for model in (soft, flat)]
    assert ours[0].attributes["redundant"].startswith("3 redundant")
    assert np.abs(ours[0].series("motor.T") - ours[1].series("motor.T")).max() < 1e-8 * np.abs(ours[1].series("motor.T")).max()


def test_redundancy_is_sought_in_loops_only():
    """A chain of 300 hinges has none; two separate parallelograms at its end are found, each by itself."""
    from netsim.initial.reactions.redundancy import dependent_constraints

    links = [
        f"l{k} body (p{k}) m = 1, I = diag(0.01, 0.1, 0.1) kg.m2, at = [{k + 0.5}, 0, 0] m\n"
        f"h{k} revolute ({f'p{k - 1}' if k else 'ground'}, p{k}) at = [{k}, 0, 0] m, axis = [0, 1, 0]"
        for k in range(300)
    ]
    text = "use spatial\n" + "\n".join(links) + "\nrun transient(stop = 1 ms, step = 1 ms, method = euler)\n"
    chain = netsim.load(text).machine
    assert dependent_constraints(chain, chain.g) is None
    loop = PARALLELOGRAM.split("push")[0].split("m/s2\n")[1].replace("q = 0.4 rad*sine(time, frequency = 1 Hz)", "q = 0 rad")
    other = re.sub(r"^(\w+)", r"\1x", loop, flags=re.M).replace("(a)", "(ax)").replace("(b)", "(bx)").replace("(c)", "(cx)")
    other = other.replace("ground, a", "p2, ax").replace("ground, c", "p2, cx").replace("a, b)", "ax, bx)").replace("b, c)", "bx, cx)")
    short = "use spatial\n" + "\n".join(links[:3]) + "\nrun transient(stop = 1 ms, step = 1 ms, method = euler)\n"
    found = run(netsim.load(short.replace("run ", loop + other + "run ")))
    assert found.attributes["redundant"].startswith("6 redundant")


# ------------------------------------------------------------------------------------------------------------- a long time


def test_a_million_steps_leave_constraints_and_rotations_at_round_off():
    """A pendulum for 1000 s (610 swings) in steps of 1 ms: no drift off the hinge, none of the rotation, none of the energy that grows with time."""
    model = changed("pendulum", (r"save .*", "save j1.q, j1.rate, rod.R, rod.r"), (r"plot .*", ""))
    samples = run(model, stop=1000, step=1e-3, every=5000, forces="method", **SECOND)
    R, r = rotation(samples, "rod"), vector(samples, "rod.r")
    assert np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() < 1e-12
    assert np.abs(r - 0.5 * R[:, :, 0]).max() < 1e-14 and np.abs(R[:, 1] - [0, 1, 0]).max() < 1e-14
    energy = samples.series("j1.rate") ** 2 / 6 + 9.81 * r[:, 2]
    half = len(energy) // 2
    assert np.abs(energy).max() < 5e-5 * 9.81 and np.abs(energy[half:]).max() < 2 * np.abs(energy[:half]).max() + 1e-6
