"""Closed forms and independent integrations that the tests compare with: none of them uses the code under test."""

from collections.abc import Callable

import numpy as np

Array = np.ndarray
EPS = float(np.finfo(float).eps)


# ------------------------------------------------------------------------------------------- two masses held s(t) apart


class TwoMasses:
    """Fedoruk et al. 2013, fig. 1: masses m1, m2 on dampers d, the first on a spring c, held x1 - x2 = s(t) apart."""

    m1, m2, d, c = 2.0, 1.0, 0.5, 200.0
    height, at, width = 20e-3, 2.0, 0.4

    @classmethod
    def s(cls, t: Array) -> tuple[Array, Array, Array]:
        """The prescribed distance with two derivatives: height*exp(-((t - at)/width)^2)."""
        z = (t - cls.at) / cls.width
        s = cls.height * np.exp(-(z**2))
        return s, -2 * z / cls.width * s, (4 * z**2 - 2) / cls.width**2 * s

    @classmethod
    def recursion(cls, h: float, steps: int, x1: float, x2: float, v1: float, v2: float, spring: float) -> Array:
        """Implicit Euler as the paper writes it, (steps + 1, 6) of V1, V2, Fs, F, x1, x2, from what is known at t = 0:

        m/h (V - Vprev) for the masses, Fs = Fsprev + c h V1, x = xprev + h V, x1 - x2 = s(n h). Dense, refined in extended precision, so that
        its own round-off is far below that of one solution in double precision.
        """
        b1, b2 = cls.m1 / h, cls.m2 / h
        rows = [
            [b1 + cls.d, 0, 1, 1, 0, 0],
            [0, b2 + cls.d, 0, -1, 0, 0],
            [-cls.c * h, 0, 1, 0, 0, 0],
            [-h, 0, 0, 0, 1, 0],
            [0, -h, 0, 0, 0, 1],
            [0, 0, 0, 0, 1, -1],
        ]
        matrix = np.array(rows, dtype=np.longdouble)
        inverse = np.linalg.inv(matrix.astype(float))
        distance = cls.s(np.arange(steps + 1) * h)[0]
        found = np.zeros((steps + 1, 6), dtype=np.longdouble)
        found[0] = v1, v2, spring, 0.0, x1, x2
        for n in range(1, steps + 1):
            z = found[n - 1]
            right = np.array([b1 * z[0], b2 * z[1], z[2], z[4], z[5], distance[n]], dtype=np.longdouble)
            for _ in range(4):
                found[n] += inverse @ (right - matrix @ found[n]).astype(float)
        return found.astype(float)

    @classmethod
    def force(cls, t: Array, x1: Array, v1: Array) -> Array:
        """The tension of the source at (t, x1, v1), the second mass eliminated: f = m2 a2 + d v2."""
        _, ds, dds = cls.s(t)
        a1 = (cls.m2 * dds + cls.d * ds - 2 * cls.d * v1 - cls.c * x1) / (cls.m1 + cls.m2)
        return cls.m2 * (a1 - dds) + cls.d * (v1 - ds)

    @classmethod
    def motion(cls, t: Array, x1: float, v1: float) -> tuple[Array, Array, Array]:
        """x1, v1 and the force at the times t, to about 1e-11."""

        def rate(time: float, z: Array) -> list[float]:
            return [z[1], (cls.m2 * cls.s(time)[2] + cls.d * cls.s(time)[1] - 2 * cls.d * z[1] - cls.c * z[0]) / (cls.m1 + cls.m2)]

        x, v = integrated(rate, t, [x1, v1])
        return x, v, cls.force(t, x, v)


def integrated(
    rate: Callable[[float, Array], object], t: Array, start: object, method: str = "DOP853", rtol: float = 1e-12, atol: float = 1e-15
) -> Array:
    """The solution of z' = rate(t, z) at the times t, by SciPy."""
    from scipy.integrate import solve_ivp

    solution = solve_ivp(rate, (t[0], t[-1]), start, method=method, rtol=rtol, atol=atol, t_eval=t)
    assert solution.success, solution.message
    return solution.y


# ---------------------------------------------------------------------------------------------------------- circuits


def rc_charge(t: Array, supply: float, tau: float) -> Array:
    """A capacitor charged through a resistor: V (1 - exp(-t/tau))."""
    return supply * -np.expm1(-t / tau)


def rc_charge_euler(n: Array, supply: float, ratio: float) -> Array:
    """The same by implicit Euler with h = ratio*tau, in closed form: V (1 - (1 + ratio)^-n)."""
    return supply * -np.expm1(-n * np.log1p(ratio))


def second_order_step(t: Array, w0: float, damping: float) -> Array:
    """Unit step response of w0^2/(s^2 + 2 D w0 s + w0^2), D < 1 (Ogata, Modern Control Engineering, sec. 5-3)."""
    wd = w0 * np.sqrt(1 - damping**2)
    return 1 - np.exp(-damping * w0 * t) * (np.cos(wd * t) + damping * w0 / wd * np.sin(wd * t))


def beat(t: Array, x0: float, w1: float, w2: float) -> tuple[Array, Array]:
    """Two equal oscillators, the first released at x0: common mode w1, opposite mode w2."""
    return x0 / 2 * (np.cos(w1 * t) + np.cos(w2 * t)), x0 / 2 * (np.cos(w1 * t) - np.cos(w2 * t))


def released(t: Array, x: float, rate: float, w0: float, decay: float = 0.0) -> Array:
    """x'' + 2 decay x' + w0^2 x = 0 from x(0) = x, x'(0) = rate, for decay < w0."""
    w = np.sqrt(w0**2 - decay**2)
    return np.exp(-decay * t) * (x * np.cos(w * t) + (rate + decay * x) / w * np.sin(w * t))


# ----------------------------------------------------------------------------------------------------- implicit Euler


def newton(residual: Callable[[Array], Array], z: Array, longest: float = 0.05) -> Array:
    """The root of a small dense system by damped Newton (components move by at most `longest` at once) with a complex-step Jacobian."""
    for _ in range(300):
        r = residual(z)
        jacobian = np.array([np.imag(residual(z + 1e-30j * e)) / 1e-30 for e in np.eye(len(z))]).T
        step = np.linalg.solve(jacobian, r)
        z = z - step * min(1.0, longest / np.max(np.abs(step)))
        if np.max(np.abs(step)) < 1e-13:
            return z
    raise AssertionError("the oracle's Newton iteration does not converge")


class Junction:
    """A SPICE diode (Antognetti and Massobrio 1988, ch. 1) at 300.15 K: conduction and charge as functions of the junction voltage."""

    Is, N, Rs, Cj, Vj, M, tt, gmin, fc = 1e-12, 1.05, 0.05, 30e-12, 0.75, 0.4, 1e-6, 1e-12, 0.5
    vt = N * 1.380649e-23 * 300.15 / 1.602176634e-19

    @classmethod
    def current(cls, u: Array) -> Array:
        return cls.gmin * u + cls.Is * (np.exp(u / cls.vt) - 1)

    @classmethod
    def charge(cls, u: Array) -> Array:
        """tt I plus the integral of Cj (1 - u/Vj)^-M, continued beyond fc Vj by SPICE's formula with F1, F2, F3."""
        edge = cls.fc * cls.Vj
        below = cls.Cj * cls.Vj / (1 - cls.M) * (1 - (1 - np.where(np.real(u) < edge, u, edge) / cls.Vj) ** (1 - cls.M))
        f2, f3 = (1 - cls.fc) ** (1 + cls.M), 1 - cls.fc * (1 + cls.M)
        above = np.where(np.real(u) < edge, 0, cls.Cj / f2 * (f3 * (u - edge) + cls.M / (2 * cls.Vj) * (u**2 - edge**2)))
        return cls.tt * cls.Is * (np.exp(u / cls.vt) - 1) + below + above


def rectifier_euler(h: float, steps: int) -> Array:
    """(steps + 1, 2) of output voltage and diode current: 10 V, 50 Hz, 0.5 Ohm, diode, 470 uF beside 220 Ohm, from rest, by implicit Euler."""
    J, C, load = Junction, 470e-6, 220.0
    found, z, q = np.zeros((steps + 1, 2)), np.zeros(2), 0.0
    for n in range(1, steps + 1):
        supply, before = 10 * np.sin(2 * np.pi * 50 * n * h), found[n - 1, 0]

        def residual(z: Array, supply: float = supply, before: float = before, q: float = q) -> Array:
            u, v = z
            i = J.current(u) + (J.charge(u) - q) / h
            return np.array([supply - (0.5 + J.Rs) * i - u - v, (C / h * (v - before) + v / load - i) / (C / h)])

        z = newton(residual, z)
        found[n] = z[1], (supply - z[0] - z[1]) / (0.5 + J.Rs)
        q = J.charge(z[0])
    return found


def bridge_euler(h: float, steps: int) -> Array:
    """(steps + 1,) output voltage of four diodes fed by a floating 20 V, 50 Hz source behind 0.5 Ohm, one side on 1 MOhm, by implicit Euler."""
    J, C, load = Junction, 470e-6, 220.0
    found, z, q = np.zeros(steps + 1), np.zeros(7), np.zeros(4)
    for n in range(1, steps + 1):
        supply, before = 20 * np.sin(2 * np.pi * 50 * n * h), found[n - 1]

        def residual(z: Array, supply: float = supply, before: float = before, q: Array = q) -> Array:
            u, (feed, b, dc) = z[:4], z[4:]
            i = J.current(u) + (J.charge(u) - q) / h
            drive = (b + supply - feed) / 0.5
            ends = np.array([feed - dc, b - dc, -feed, -b])
            nodes = [i[0] - i[2] - drive, drive + b / 1e6 + i[1] - i[3], (C * (dc - before) / h + dc / load - i[0] - i[1]) * h / C]
            return np.array([*(u + J.Rs * i - ends), *nodes])

        z = newton(residual, z)
        found[n], q = z[6], J.charge(z[:4])
    return found
