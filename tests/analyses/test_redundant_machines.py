"""Redundant machines: what is chosen over a whole movement beside the share at every instant, against polynomials of one variable of time."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import netsim
from netsim.library.files import models_folder

MODELS = models_folder() / "optimal"


def objective(samples):
    return samples.attributes["objective"]


def angles(inner, x, y, outer=0.5):
    """Angles of links of 0.5 m from an elbow at the end of a first one at the angle `inner` to the hand, elbow up."""
    px, py = x - 0.5 * ca.cos(inner), y - 0.5 * ca.sin(inner)
    half, way = ca.acos(ca.sqrt(px**2 + py**2) / (2 * outer)), ca.atan2(py, px)
    return ca.vertcat(inner, way + half, way - half)


def torques(q, dq, ddq):
    """Joint torques of three bars of 0.5 m and 1 kg at angles q to the ground, by Lagrange's equations."""
    angle, rate = ca.SX.sym("q", 3), ca.SX.sym("dq", 3)
    at, energy = ca.SX(2, 1), 0
    for k in range(3):
        e = ca.vertcat(ca.cos(angle[k]), ca.sin(angle[k]))
        v = ca.jtimes(at + 0.25 * e, angle, rate)
        energy += 0.5 * ca.dot(v, v) + 0.5 * 0.25 / 12 * rate[k] ** 2
        at += 0.5 * e
    momentum, both = ca.gradient(energy, rate), ca.vertcat(angle, rate)
    force = ca.jtimes(momentum, both, ca.vertcat(dq, ddq)) - ca.gradient(energy, angle)
    force = ca.substitute(force, both, ca.vertcat(q, dq))
    return ca.vertcat(ca.sum1(force), force[1] + force[2], force[2])


def polynomial(t, count):
    """Legendre's polynomials on 0 .. 1."""
    found = [ca.SX(1), 2 * t - 1]
    for k in range(2, count):
        found.append(((2 * k - 1) * (2 * t - 1) * found[-1] - (k - 1) * found[-2]) / k)
    return ca.vertcat(*found[:count])


def least(integrand, t, free, start, points):
    """The least integral over 0 .. 1 of an expression of t and of coefficients, by Gauss's quadrature and IPOPT."""
    at, weight = np.polynomial.legendre.leggauss(points)
    f, c = ca.Function("f", [t, free], [integrand]), ca.MX.sym("c", free.numel())
    cost = f.map(points)(ca.DM(0.5 + 0.5 * at).T, ca.repmat(c, 1, points)) @ ca.DM(0.5 * weight)
    quiet = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-10}}
    solver = ca.nlpsol("least", "ipopt", {"x": c, "f": cost}, quiet)
    found = solver(x0=start)
    assert solver.stats()["success"]
    return float(found["f"])


def test_a_plate_on_four_driven_legs():
    """The least peak is below that of the least norm at every instant, which is the inverse run's. With one collocation point both are at the same
    instants, and the least integral of squares is the least norm to 1e-9."""
    model, inputs = netsim.load(MODELS / "rrr_platform.net"), [f"leg{leg}.drive.T" for leg in "ABCD"]
    track = {"p.r.x": "x", "p.r.y": "y", "p.phi": "phi"}
    shared = model.inverse(track, inputs, stop=1.0, rtol=1e-9, sample=0.05)
    squares = " + ".join(f"{name}^2" for name in inputs)
    options = {"track": track, "inputs": inputs, "stop": 1.0, "intervals": 20, "points": 1, "refinements": 0}
    found = model.optimize(minimize=f"integral({squares})", **options)
    for name in inputs:
        assert np.abs(found[name].values[1:] - shared[name].values[1:]).max() < 1e-9 * np.abs(shared[name].values).max()
    assert abs(found.attrs["pointwise"] / found.attrs["objective"] - 1.0) < 1e-9
    peak = model.optimize(minimize="max(" + ", ".join(f"abs({name})" for name in inputs) + ")", **options)
    worst = max(np.abs(shared[name].values[1:]).max() for name in inputs)
    assert peak.attrs["objective"] < 0.999 * worst and abs(peak.attrs["pointwise"] / worst - 1.0) < 1e-6


def test_free_elbows():
    """Movement is left beside the line. The least norm at every instant is an ordinary differential equation of the first angle; the optimum over
    the whole movement comes from polynomials of that angle; its costs fall from 6.74 to 4.497 N2.m2.s."""
    samples = netsim.load(MODELS / "free_elbow.net").samples()[0]
    assert samples.attributes["optimality"] < 1e-6 and samples.attributes["deviation"] < 1e-4
    t, angle, rate, push = (ca.SX.sym(name) for name in ("t", "angle", "rate", "push"))
    s, begin = t**3 * (10 - 15 * t + 6 * t**2), np.arctan2(0.4, 0.3)
    x, y = 1.1 - 0.4 * s, 0.5 * s
    q, state = angles(angle, x, y), ca.vertcat(t, angle, rate)
    dq = ca.jtimes(q, state, ca.vertcat(1, rate, push))
    torque = torques(q, dq, ca.jtimes(dq, state, ca.vertcat(1, rate, push)))
    slope = ca.jacobian(torque, push)
    share = -ca.dot(slope, ca.substitute(torque, push, 0)) / ca.dot(slope, slope)
    price = ca.substitute(ca.dot(torque, torque), push, share)
    f = ca.Function("f", [t, angle, rate], [rate, share, price])
    at = np.linspace(0.0, 1.0, 300)
    alone = solve_ivp(lambda t, z: np.array(f(t, *z[:2]), float).ravel(), (0, 1), [begin, 0, 0], "LSODA", at, rtol=1e-8, atol=1e-9)
    assert samples.attributes["pointwise"] == pytest.approx(alone.y[2, -1], rel=4e-3)
    c, count = ca.SX.sym("c", 45), 45
    first = begin + t**2 * ca.dot(c, polynomial(t, count))
    q = angles(first, x, y)
    dq = ca.jacobian(q, t)
    torque = torques(q, dq, ca.jacobian(dq, t))
    basis = at[:, None] ** 2 * np.polynomial.legendre.legvander(2 * at - 1, count - 1)
    wanted = least(ca.dot(torque, torque), t, c, np.linalg.lstsq(basis, alone.y[0] - begin)[0], 120)
    assert wanted * (1 - 2e-4) < objective(samples) < wanted * (1 + 1e-6)


def test_an_arm_with_motors_and_gears():
    """Least electrical energy against polynomials of degree 31 of both shafts, whose currents follow from the equations of motion."""
    samples = netsim.load(MODELS / "motor_arm.net").samples()[0]
    assert samples.attributes["deviation"] < 1e-4 and samples.attributes["optimality"] < 1e-6
    assert abs(objective(samples) / samples.energy[-1][1] - 1.0) < 1e-5
    m1, m2, load, l1, l2, g = 2.0, 1.0, 1.0, 0.5, 0.4, 9.81
    ratio, res, k, rotor, d = np.array([80, 50]), ca.DM([1, 1.5]), np.array([0.05, 0.04]), np.array([2e-5, 1e-5]), 0.2
    t, c, count = ca.SX.sym("t"), ca.SX.sym("c", 56), 28
    q = ca.vertcat(1.2, -0.8) * t**2 * (3 - 2 * t) + (t * (1 - t)) ** 2 * ca.mtimes(ca.reshape(c, 2, count), polynomial(t, count))
    w = ca.jacobian(q, t)
    a = m1 * l1**2 / 3 + m2 * (l1**2 + l2**2 / 3) + load * (l1**2 + l2**2) + rotor[0] * ratio[0] ** 2
    b, e, j = (m2 / 2 + load) * l1 * l2, (m2 / 3 + load) * l2**2, rotor[1] * ratio[1] ** 2
    # q[1] is the shaft of the second motor: the fore arm turns by both
    fold, cross = ca.cos(q[1]), e + b * ca.cos(q[1])
    mass = ca.vertcat(ca.horzcat(a + 2 * b * fold, cross), ca.horzcat(cross, e + j))
    coriolis = b * ca.sin(q[1]) * ca.vertcat(-(2 * w[0] * w[1] + w[1] ** 2), w[0] ** 2)
    down = g * (m2 / 2 + load) * l2 * ca.cos(q[0] + q[1])
    weight = ca.vertcat(g * (m1 / 2 + m2 + load) * l1 * ca.cos(q[0]) + down, down)
    current = (mass @ ca.jacobian(w, t) + coriolis + weight + d * w) / (ratio * k)
    voltage = res * current + ratio * k * w
    wanted = least(ca.dot(voltage, current), t, c, 0, 60)
    assert abs(objective(samples) / wanted - 1.0) < 2e-6


def test_the_tripod_with_a_fourth_rod():
    """One freedom of the four forces moves nothing: along it (from the rods' lengths by geometry) the energy taken is stationary."""
    (found,) = netsim.load(MODELS.parent / "tripod" / "four_rods.net").samples({"intervals": 6, "refinements": 0})
    assert objective(found) < 0.97 * found.attributes["pointwise"] and found.attributes["optimality"] < 1e-6
    tip, out = 0.17, np.array([[0, np.cos(a), np.sin(a)] for a in np.arange(4) * np.pi / 2])
    feet, heads = 0.151 * out, 0.095 * out

    def lengths(pose):
        x, a, b = pose
        about_y = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
        turn = about_y @ np.array([[np.cos(b), -np.sin(b), 0], [np.sin(b), np.cos(b), 0], [0, 0, 1]])
        return np.linalg.norm([x, 0, 0] + heads @ turn.T - feet, axis=1)

    heat, e, steps = 1e-3, 0.3, 1e-6 * np.eye(3)
    left, size = [], []
    for i in range(1, len(found.time)):
        force, rate = (np.array([found.series(f"drive{k}.{name}")[i] for k in range(1, 5)]) for name in ("F", "rate"))
        x, y, z = (found.series(f"M.{axis}")[i] for axis in "xyz")
        b = np.arcsin(y / tip)
        a = -np.arcsin(z / (tip * np.cos(b)))
        pose = np.array([x - tip * np.cos(b) * np.cos(a), a, b])
        slopes = np.array([lengths(pose + step) - lengths(pose - step) for step in steps]) / 2e-6
        inner = np.linalg.svd(slopes)[2][-1]
        assert abs(inner @ rate) < 1e-6 * np.abs(rate).max() + 1e-8
        power = force * rate
        price = rate * (0.5 + power / (2 * np.hypot(power, e))) + 2 * heat * force
        left.append(abs(inner @ price))
        size.append(np.abs(inner * price).max())
    assert max(left) < 1e-6 * max(size)
