"""Costates and the first-order conditions of optimality, against Pontryagin's equations solved by other means."""

import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.linalg import expm

import netsim
from netsim.library.files import models_folder
from netsim.text.errors import InputError

CART = "use translational\nm1 mass (a) m = 1 kg, start x = 1 m\npush force (a) F = 0 N\nsave a.x, a.v, push.F\n"
SPRING = "c1 spring (a, ground) c = 1 N/m\nd1 damper (a, ground) d = 0.5 N.s/m\n"
SWING = """
use planar
world gravity = [0, -9.81, 0] m/s2
rod planar_bar (a) m = 1 kg, at1 = [0, 0], at2 = [1, 0] m
pin planar_revolute (ground, a) at = [0, 0]
drive planar_hinge_torque (ground, a) T = 0 N.m
save a.phi, a.w, drive.T
"""


def series(found, *names):
    return tuple(found[name].values for name in names)


def test_a_mass_moved_with_least_force():
    """H = u^2 + p v + r u: p = -24, r = -12 (1 - 2 t), u = -r/2. In least time p = -1, and r = t - 1 vanishes where the force jumps: between which
    points that is, is all that a mesh knows of it."""
    end = ["rest", "a.x == 2 m"]
    found = netsim.load(CART).optimize(stop=1.0, minimize="integral(push.F^2)", inputs="push.F", end=end, costates="yes", sample=0.01)
    t, p, r, u = found.time.values, *series(found, "costate.a.x", "costate.a.v", "push.F")
    assert np.abs(p + 24).max() < 1e-6 and np.abs(r + 12 - 24 * t).max() < 1e-6 and np.abs(2 * u + r).max() < 1e-6
    assert found["costate.a.x"].attrs["units"] == "m.kg2/s3"
    fast = {"stop": "free(0.5 s, 9 s)", "minimize": "stop", "inputs": "push.F", "limits": "abs(push.F) <= 1 N", "end": end}
    found = netsim.load(CART).optimize(**fast, intervals=10, costates="yes")
    t, p, r, u = found.time.values, *series(found, "costate.a.x", "costate.a.v", "push.F")
    assert np.abs(p + 1).max() < 1e-6 and np.ptp(r - t) < 1e-6
    assert np.abs(u + np.sign(r))[1:].max() < 1e-4


@pytest.mark.parametrize("sample", [0.0, 0.013])
def test_a_linear_system_with_a_quadratic_price(sample):
    """The exponential of the Hamiltonian matrix; the costates' error falls with the fourth power of the intervals, q + 1."""
    stop, b = 4.0, np.array([[0.0], [1.0]])
    a, q = np.array([[0.0, 1.0], [-1.0, -0.5]]), np.diag([1.0, 0.0])
    matrix = np.block([[a, -b @ b.T / 2], [-2 * q, -a.T]])
    whole = expm(matrix * stop)
    start = np.append([1.0, 0.0], -np.linalg.solve(whole[2:, 2:], whole[2:, :2] @ [1.0, 0.0]))
    model, errors = netsim.load(CART + SPRING), []
    for intervals in (20, 40):
        price = "integral((a.x/(1 m))^2 + (push.F/(1 N))^2)"
        found = model.optimize(stop=stop, minimize=price, inputs="push.F", intervals=intervals, refinements=0, costates="yes", sample=sample)
        exact = np.array([expm(matrix * t) @ start for t in found.time.values])
        errors.append(np.abs(np.column_stack(series(found, "costate.a.x", "costate.a.v")) - exact[:, 2:]).max())
    assert errors[1] < 1e-6 and abs(np.log2(errors[0] / errors[1]) - 4) < 0.15


@pytest.mark.parametrize(("most", "points", "error"), [(1e3, 3, 1e-6), (0.75, 3, 1e-3), (0.75, 4, 2e-5)])
def test_an_oscillator_whose_force_may_be_limited(most, points, error):
    """Van der Pol's: dH/du = 2 u + p is 0, or negative where the force is at its bound. A bend of the force inside an interval costs digits."""
    text = (models_folder() / "optimal" / "van_der_pol.net").read_text(encoding="utf-8")
    text = text.replace("0.75 N", f"{most:g} N").replace("rtol = 1e-5", f"rtol = 1e-6, refinements = 8, costates = yes, points = {points}")
    found = netsim.load(text).samples()[0]
    t, p, r, v, x, u = found.time, *(found.series(n) for n in ("costate.a.v", "costate.a.x", "a.v", "a.x", "push.F"))

    def rates(t, z):
        x1, x2, p1, p2 = z
        push = np.minimum(-p1 / 2.0, most)
        first, second = -2 * x1 - p1 * (1 - x2**2) - p2, -2 * x2 + p1 * (1 + 2 * x1 * x2)
        return np.array([(1 - x2**2) * x1 - x2 + push, x1, first, second])

    wanted = solve_bvp(rates, lambda a, b: np.array([a[0], a[1] - 1.0, b[2], b[3]]), t, np.array([v, x, p, r]), tol=1e-8, max_nodes=100_000)
    assert wanted.success
    size, exact = np.abs(wanted.y[2:]).max(), wanted.sol(t)
    assert np.abs(p - exact[2]).max() < error * size and np.abs(r - exact[3]).max() < error * size
    bound = u > most - 1e-6
    assert (2 * u + p)[bound].max(initial=0.0) < 1e-5 and (most > 1 or bound.sum() > 5)


def test_a_pendulum_of_index_three():
    """Costates of positions and velocities of a body on a pin, along the ways that the pin leaves, are those of its angle and its rate."""
    options = {"stop": 1.0, "minimize": "integral(drive.T^2)", "inputs": "drive.T", "end": ["rest", "pin.q == 2"]}
    found = netsim.load(SWING).optimize(**options, intervals=40, points=4, refinements=0, costates="yes")
    assert found.attrs["optimality"] < 1e-6
    t, phi, w, u = found.time.values, *series(found, "a.phi", "a.w", "drive.T")
    price = {name: found[f"costate.a.{name}"].values for name in ("r.x", "r.y", "phi", "v.x", "v.y", "w")}
    across, along = 0.5 * np.array([-np.sin(phi), np.cos(phi)]), 0.5 * np.array([-np.cos(phi), -np.sin(phi)])
    push = price["w"] + across[0] * price["v.x"] + across[1] * price["v.y"]
    turn = price["phi"] + across[0] * price["r.x"] + across[1] * price["r.y"] + w * (along[0] * price["v.x"] + along[1] * price["v.y"])
    weight, inertia = 9.81 / 2, 1 / 3

    def rates(t, z):
        q, w, p, r = z
        torque = -r / (2 * inertia)
        return np.array([w, (torque - weight * np.cos(q)) / inertia, -r * weight * np.sin(q) / inertia, -p])

    wanted = solve_bvp(rates, lambda a, b: np.array([a[0], a[1], b[0] - 2, b[1]]), t, np.array([phi, w, turn, push]), tol=1e-9, max_nodes=100_000)
    assert wanted.success
    exact = wanted.sol(t)
    assert np.abs(turn / np.abs(exact[2]).max() - exact[2] / np.abs(exact[2]).max()).max() < 1e-6
    assert np.abs(push - exact[3]).max() < 1e-6 * np.abs(exact[3]).max()
    total = u**2 + turn * w + push * (u - weight * np.cos(phi)) / inertia
    assert np.ptp(total[1:]) < 1e-6 * np.abs(turn * w).max()


def test_a_word_that_is_neither_yes_nor_no():
    with pytest.raises(InputError) as caught:
        netsim.load(CART).optimize(stop=1.0, minimize="integral(push.F^2)", inputs="push.F", end="a.x == 1 m", costates="all")
    assert caught.value.problems[0].code == "E424"
