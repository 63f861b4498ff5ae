"""Problems with closed forms in many domains, of any amplitude S and scale of time T: texts with their solutions."""

from collections.abc import Callable
from math import factorial
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj

SIGMA = 5.670374419e-8


class Form(NamedTuple):
    """A netlist, the length of its run, and of each saved signal the solution as a function of time and its
    amplitude."""

    text: str
    stop: float
    exact: dict[str, tuple[Callable[[np.ndarray], np.ndarray], float]]


def tank(S, T):
    """An open tank that empties through an orifice: sqrt(p) falls in proportion to time, and is nothing after 1.25 T."""
    p0, rho, g, Cd, A = 1e5 * S, 800.0, 10.0, 0.6, 1.0
    tau = 1.25 * T
    hole = float(2 * A / (rho * g) * np.sqrt(p0) / (tau * Cd * np.sqrt(2 / rho)))
    text = f"use hydraulic\nk1 open_tank (a) A = {A!r} m2, rho = {rho!r} kg/m3, g = {g!r} m/s2\n"
    text += f"o1 orifice (a, ground) A = {hole!r} m2, Cd = {Cd!r}, rho = {rho!r} kg/m3, dpt = {1e-12 * p0!r} Pa\n"
    return Form(text + f"start a.p = {p0!r} Pa\n", T, {"a.p": (lambda t: p0 * (1 - t / tau) ** 2, p0)})


def pipe(S, T):
    """A column of liquid that a pressure sets in motion against turbulent losses: L q' = p - k q^2, so q is a tanh."""
    p, q = 1e5 * S, 1e-3 * S
    text = f"use hydraulic\ns1 pressure (a, ground) p = {p!r} Pa\nl1 inertance (a, b) L = {p * T / q!r} kg/m4\n"
    text += f"k1 pipe (b, ground) R = {1e-9 * p / q!r} Pa.s/m3, k = {p / q**2!r} Pa.s2/m6\nstart l1.q = 0 m3/s\n"
    return Form(text, 3 * T, {"l1.q": (lambda t: q * np.tanh(t / T), q)})


def radiation(S, T):
    """A body that radiates into empty space: T^-3 grows in proportion to time."""
    hot = 300.0 * S
    text = "use thermal\nworld ambient = 0 K\nc1 heat_capacity (a) C = 1 J/K\n"
    text += f"k1 radiation_to_ambient (a) A = {1 / (SIGMA * hot**3 * T)!r} m2\nstart a.T = {hot!r} K\n"
    return Form(text, 10 * T, {"a.T": (lambda t: hot * (1 + 3 * t / T) ** (-1 / 3), hot)})


def melting(S, T):
    """A body heated with constant power through both of its changes: straight lines between kinks."""
    text = f"use thermal\nk1 phase_change_store (a) m = {S!r} kg, cs = 1 J/kg/K, cl = 2 J/kg/K, L = 100 J/kg, Ts = 300 K, dT = 1 K\n"
    text += f"f1 heat_flow (a) Q = {250 * S / T!r} W\nstart a.T = 250 K\n"
    points = [0, 50, 150, 350], [250, 300, 301, 401]
    return Form(text, T, {"a.T": (lambda t: np.interp(250 * t / T, *points), 350.0)})


def delayed(S, T):
    """y' = -y(t - T)/T from y = S before: polynomials by the method of steps."""
    text = f"component late (out y : signal)\n  der(y) = -delayed(y, {T!r} s, {S!r})/({T!r} s)\nend\nk1 late (y)\nstart y = {S!r}\n"

    def exact(t):
        x = t / T
        return S * sum((-1) ** k * np.maximum(x - (k - 1), 0) ** k / factorial(k) for k in range(13))

    return Form(text, 10 * T, {"y": (exact, S)})


def ball(S, T):
    """A ball let go at the height S, whose speed falls to 0.8 at the floor."""
    a, e = 2 * S / T**2, 0.8
    text = "use translational\ncomponent ball (p : translational)\n  branch p -> ground : x, v, f\n"
    text += f"  when x < 0 : reinit v = -{e}*pre(v)\n  f = (1 kg)*(der(v) + {a!r} m/s2)\nend\nb ball (p) start x = {S!r} m\n"

    def exact(t):
        x, begins = t / T, 1.0
        found = S * (1 - x**2)
        for n in range(1, 12):
            speed, s = 2 * e**n, x - begins
            found = np.where(s >= 0, S * (speed * s - s**2), found)
            begins += speed
        return found

    return Form(text, 5 * T, {"p.x": (exact, S)})


def contact(S, T):
    """A mass that meets a spring stop and leaves it: half an oscillation between two straight lines."""
    w = np.pi / T
    text = "use translational\ncomponent stop (p : translational)\n  branch p -> ground : x, v, f\n"
    text += f"  f = {w**2!r} N/m*min(x, 0 m)\n  stores {w**2 / 2!r} N/m*min(x, 0 m)^2\nend\n"
    text += f"k stop (p)\nm1 mass (p) m = 1 kg, start x = {S!r} m, start v = {-S / T!r} m/s\n"

    def exact(t):
        x = t / T
        return S * np.where(x < 1, 1 - x, np.where(x < 2, -np.sin(np.pi * (x - 1)) / np.pi, x - 2))

    return Form(text, 3 * T, {"p.x": (exact, S)})


def vessel(S, T):
    """A vessel of gas without heat exchange that empties into vacuum through a choked hole: T = T0 (1 + t/T)^-2."""
    R, cp, hot, p0, C, rho0 = 287.05, 1004.7, 300.0, 1e5, 1e-8 * S, 1.185
    k = cp / (cp - R)
    flow = float(C * rho0 * np.sqrt(293.15 / hot) * R * hot)
    text = f"use gas\nk1 gas_volume (a) V = {flow * (k - 1) / 2 * T!r} m3\no1 gas_orifice (a, b) C = {C!r} m4.s/kg\n"
    text += f"r1 gas_reservoir (b) p = 1 Pa, T = 300 K\nstart a.p = {p0!r} Pa\nstart a.T = {hot!r} K\n"
    exact = {"a.T": (lambda t: hot * (1 + t / T) ** -2, hot), "a.p": (lambda t: p0 * (1 + t / T) ** (-2 * k / (k - 1)), p0)}
    return Form(text, T, exact)


def top(S, T):
    """A free body of three moments of inertia: Jacobi's functions (Landau and Lifshitz, Mechanics, sec. 37)."""
    I1, I2, I3 = 1.0, 2.0, 3.0
    w1, w3 = 0.5 / T, 1.0 / T
    E2, M2 = I1 * w1**2 + I3 * w3**2, (I1 * w1) ** 2 + (I3 * w3) ** 2
    rate = np.sqrt((I3 - I2) * (M2 - E2 * I1) / (I1 * I2 * I3))
    m = (I2 - I1) * (E2 * I3 - M2) / ((I3 - I2) * (M2 - E2 * I1))
    text = f"use spatial\nworld gravity = [0, 0, 0] m/s2\nb1 body (p) m = {S!r} kg, I = diag({S!r}, {2 * S!r}, {3 * S!r}) kg.m2\n"
    text += f"start p.w = [{w1!r}, 0, {w3!r}] rad/s\n"
    first, last = ("+".join(f"p.R[{i}, {j}]*p.w[{i}]" for i in (1, 2, 3)) for j in (1, 3))
    exact = {first: (lambda t: w1 * ellipj(rate * t, m)[1], w3), last: (lambda t: w3 * ellipj(rate * t, m)[2], w3)}
    return Form(text, 20 * T, exact)


def two_pendulums(S, T):
    """Two rods in a line, let go from the horizontal, against a run of SciPy at 1e-13."""
    a, g = S, 10 * S / T**2

    def rates(t, z):
        p, q, u, w = z  # angles of the rods from below, and their rates in units of 1/T
        c, s = np.cos(p - q), np.sin(p - q)
        mass = np.array([[4 / 3, c / 2], [c / 2, 1 / 3]])
        force = np.array([-w * w * s / 2 - 15 * np.sin(p), u * u * s / 2 - 5 * np.sin(q)])
        return [u, w, *np.linalg.solve(mass, force)]

    known = solve_ivp(rates, (0, 2.0), [np.pi / 2, np.pi / 2, 0, 0], "DOP853", rtol=1e-13, atol=1e-13, dense_output=True).sol
    inertia = f"{a * a / 12!r} kg.m2"
    text = f"use planar\nworld gravity = [0, {-g!r}, 0] m/s2\nb1 planar_body (u) m = 1 kg, I = {inertia}, at = [{a / 2!r}, 0] m\n"
    text += f"b2 planar_body (w) m = 1 kg, I = {inertia}, at = [{1.5 * a!r}, 0] m\nj1 planar_revolute (ground, u) at = [0, 0] m\n"
    text += f"j2 planar_revolute (u, w) at = [{a!r}, 0] m\n"
    exact = {"j1.q": (lambda t: known(np.minimum(t / T, 2.0))[0] - np.pi / 2, np.pi)}
    return Form(text, 2 * T, exact)


def sampled(S, T):
    """A sampled PI controller and a lag: the z-transform's recursion, and exponentials between the samples."""
    h, k, ki = 0.25 * T, 2.0, 0.5
    text = "use signal\ncomponent law (in e, out u : signal)\n  discrete sum : 1 = 0\n  discrete held : 1 = 0\n"
    text += f"  when sample(0 s, {h!r} s) : sum = pre(sum) + e; held = {k}*e + {ki}*(pre(sum) + e)\n  u = held\nend\n"
    text += f"r1 signal_source (r) value = {S!r}\nd1 difference (r, y, e)\nk1 law (e, u)\np1 first_order (u, y) T = {T!r} s\nstart y = 0\n"

    def exact(t):
        y, total, found = 0.0, 0.0, np.zeros_like(t)
        for n in range(41):
            total += S - y
            u = k * (S - y) + ki * total
            s = t - n * h
            inside = s > 1e-9 * T if n else s >= 0
            found = np.where(inside, u + (y - u) * np.exp(-np.maximum(s, 0) / T), found)
            y = u + (y - u) * np.exp(-h / T)
        return found

    return Form(text, 10 * T, {"y": (exact, S)})


FORMS = [tank, pipe, radiation, melting, delayed, ball, contact, vessel, top, two_pendulums, sampled]
