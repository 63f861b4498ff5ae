"""Machines, hydraulics and hysteresis with closed forms, of any amplitude S and scale of time T."""

import numpy as np
from closed_forms import Form
from scipy.integrate import solve_ivp
from scipy.optimize import brentq


def relay(S, T):
    """A relay that turns a lag between S and -S about at S/2 and -S/2: exponentials of the length T log 3."""
    text = f"use signal\nk1 hysteresis (y, on) low = {-S / 2!r}, high = {S / 2!r}\ncomponent lag (in on, out y : signal)\n"
    text += f"  der(y) = ({S!r}*(1 - 2*on) - y)/({T!r} s)\nend\nk2 lag (on, y)\nstart y = 0\nnominal y = {S / 2!r}\n"

    def exact(t):
        s = t / T - np.log(2)
        n = np.floor(np.maximum(s, 0) / np.log(3))
        swing = (-1) ** n * (1.5 * np.exp(-(s - n * np.log(3))) - 1)
        return S * np.where(s < 0, 1 - np.exp(-t / T), swing)

    return Form(text, 5 * T, {"y": (exact, S)})


def belt(S, T):
    """Two pulleys and a belt whose strands slacken beyond their preload: oscillations of two frequencies."""
    c, ahead = 2 * np.pi**2 / T**2, 0.25  # both strands pull within `ahead` S: frequency 1/T; beyond one of them
    text = f"use couplings\ni1 inertia (shaft) J = 1 kg.m2\nstart shaft.phi = {S!r} rad\nstart shaft.w = 0\n"
    text += "p1 rack_pinion (shaft, top) r = 1 m\np2 rack_pinion (shaft, bottom) r = -1 m\n"
    text += f"r1 rope (top, ground) c = {c!r} N/m, l = {-ahead * S!r} m\nr2 rope (bottom, ground) c = {c!r} N/m, l = {-ahead * S!r} m\n"
    slow, fast = np.sqrt(2) * np.pi, 2 * np.pi
    # beyond `ahead`: x'' = -c (x + ahead); it swings about -ahead from 1 there
    first = np.arccos(2 * ahead / (1 + ahead)) / slow
    speed = (1 + ahead) * slow * np.sin(slow * first)
    inner = np.arctan2(ahead * fast, speed) / fast  # from `ahead` to the middle
    reach = np.hypot(ahead, speed / fast)
    quarter = first + inner

    def exact(t):
        s = np.mod(t / T, 4 * quarter)
        fold = np.where(s < 2 * quarter, s, 4 * quarter - s)  # falls from 1 to -1
        sign, u = np.where(fold < quarter, 1, -1), np.where(fold < quarter, fold, 2 * quarter - fold)
        return S * sign * np.where(u < first, (1 + ahead) * np.cos(slow * u) - ahead, reach * np.sin(fast * (quarter - u)))

    return Form(text, 3 * T, {"shaft.phi": (exact, S)})


def backlash(S, T):
    """A rotor with free play: half oscillations and free flights."""
    c = (2 * np.pi / T) ** 2
    text = f"use rotational\ni1 inertia (a) J = 1 kg.m2\ns1 backlash_shaft (a, ground) c = {c!r} N.m/rad, play = {S!r} rad\n"
    text += f"start a.phi = {S!r} rad\nstart a.w = 0\n"  # half a play beyond its end
    flight = 1 / np.pi  # way S at the speed pi S/T

    def exact(t):
        quarter = 0.25 + flight / 2
        s = np.mod(t / T, 4 * quarter)
        fold = np.where(s < 2 * quarter, s, 4 * quarter - s)
        sign, u = np.where(fold < quarter, 1, -1), np.where(fold < quarter, fold, 2 * quarter - fold)
        return S * sign * np.where(u < 0.25, 0.5 + 0.5 * np.cos(2 * np.pi * u), np.pi * (quarter - u))

    return Form(text, 3 * T, {"a.phi": (exact, S)})


def geared(kind, S, T):
    """Two rotors and a gear with losses under a torque of both signs: power flows either way."""
    w, ratio, eta, J1, J2 = S / T, 3.0, 0.8, 1.0, 5.0
    torque = f"{w / T!r} N.m*cos(2*pi*time/({T!r} s))"
    text = f"use rotational\ni1 inertia (p) J = {J1!r} kg.m2\nt1 torque (p) T = {torque}\ni2 inertia (n) J = {J2!r} kg.m2\n"
    text += f"g1 {kind.format(0.1 * w)}\nstart p.phi = 0\nstart p.w = {w!r} rad/s\n"
    drives, driven = 1 / (J1 + J2 / (ratio**2 * eta)), 1 / (J1 + J2 * eta / ratio**2)

    def exact(t):
        s = t / T
        n, r = np.floor(s), s - np.floor(s)
        ahead = np.where(r < 0.25, np.sin(2 * np.pi * r), np.where(r < 0.75, 1, 2 + np.sin(2 * np.pi * r))) / (2 * np.pi)
        back = np.sin(2 * np.pi * r) / (2 * np.pi) - ahead
        return w * (1 + drives * (ahead + n / np.pi) + driven * (back - n / np.pi))

    return Form(text, 2 * T, {"p.w": (exact, w)})


def lossy_gear(S, T):
    return geared("lossy_gear (p, n) ratio = 3, eta1 = 0.8", S, T)


def rigid_gearbox(S, T):
    return geared("rigid_gearbox (p, n) ratio = 3, J = 1e-12 kg.m2, eta = 0.8, ws = {0:.3e} rad/s", S, T)


def clutch(S, T):
    """Two rotors that a slipping clutch brings together: a ramp of their difference, then a decay that rounds it off."""
    w, soft = S / T, 0.01
    text = f"use rotational\ni1 inertia (a) J = 1 kg.m2\ni2 inertia (b) J = 1 kg.m2\nstart a.w = {2 * w!r} rad/s\nstart b.w = 0\n"
    text += f"k1 slipping_clutch (a, b) N = {w / T!r} N, mu = 1, ws = {2 * soft * w!r} rad/s\n"

    def exact(t):  # half of the difference of speeds over w: it falls from 1 at the rate 1, from `soft` on as x' = -(3 x - x^3)/2
        s = t / T - (1 - soft)
        return np.where(s < 0, 1 - t / T, soft / np.sqrt(1 / 3 + 2 / 3 * np.exp(3 * np.maximum(s, 0) / soft)))

    return Form(text, 2 * T, {"a.w": (lambda t: w * (1 + exact(t)), 2 * w), "b.w": (lambda t: w * (1 - exact(t)), w)})


def rubbing(S, T):
    """A mass on a spring with dry friction: half oscillations about either side, then rest."""
    c, F = (2 * np.pi / T) ** 2, 0.1
    text = f"use translational\nm1 mass (a) m = 1 kg, start x = {S!r} m, start v = 0\ns1 spring (a, ground) c = {c!r} N/m\n"
    text += f"f1 coulomb_friction (a, ground) F = {F * c * S!r} N\n"

    def exact(t):
        n = np.minimum(np.floor(2 * t / T), 5)  # 1, -0.8, 0.6, -0.4, 0.2, 0 rests: |x| below F
        u = 2 * t / T - n
        swing = (-1) ** n * ((1 - F - 2 * F * n) * np.cos(np.pi * u) + F)
        return S * np.where(n == 5, 0.0, swing)

    return Form(text, 4 * T, {"a.x": (exact, S)})


def accumulator(S, T):
    """An accumulator that a flow fills from no pressure and empties again: its shell, then its gas."""
    p0, V0, K, n, pa = 1e5 * S, 1e-3, 1e6 * S, 1.4, 101325.0 * S
    q = 0.5 * V0 / T
    text = f"use hydraulic\na1 accumulator (a) V0 = {V0!r} m3, p0 = {p0!r} Pa, n = {n!r}, pa = {pa!r} Pa, K = {K!r} Pa\n"
    text += f"f1 flow (a, ground) Q = {q!r} m3/s*sin(2*pi*time/({T!r} s))*pi\nstart a.p = 0\n"

    def exact(t):
        held = 0.25 * (1 - np.cos(2 * np.pi * t / T))  # over V0
        p = np.minimum(held * K, p0)
        r = np.where(held * K < p0, 1.0, (1 - np.minimum(held, 0.9)) ** -n)
        for _ in range(50):
            f = 1 - r ** (-1 / n) + (r * (p0 + pa) - pa) / K - held
            r = np.where(held * K < p0, 1.0, r - f / (r ** (-1 / n - 1) / n + (p0 + pa) / K))
        return np.where(held * K < p0, p, r * (p0 + pa) - pa)

    return Form(text, 2 * T, {"a.p": (exact, 2e5 * S)})


def emptying(S, T):
    """An isothermal accumulator that empties through a laminar pipe: 1/P^2 grows in proportion to time."""
    P, V0 = 1e6 * S, 1e-3
    P0, R = 1e5 * S, 1e6 * S * T / 1e-3  # R V0 = P T
    text = f"use hydraulic\na1 accumulator (a) V0 = {V0!r} m3, p0 = {P0!r} Pa, n = 1, pa = {1e-9 * P!r} Pa, K = {1e12 * P!r} Pa\n"
    text += f"k1 pipe (a, ground) R = {R!r} Pa.s/m3\nstart a.p = {P!r} Pa\n"
    return Form(text, 4 * T, {"a.p": (lambda t: (1 / P**2 + 2 * t / (R * V0 * P0)) ** -0.5, P)})


def filling(S, T):
    """A vessel filled through an orifice, full after T: sqrt(ps - p) falls in proportion to time."""
    ps, rho, A, K = 1e5 * S, 800.0, 1e-6, 1e9
    V = float(0.6 * A * np.sqrt(2 * ps / rho) * T * K / ps / 2)
    text = f"use hydraulic\ns1 pressure (s, ground) p = {ps!r} Pa\n"
    text += f"o1 orifice (s, a) A = {A!r} m2, Cd = 0.6, rho = {rho!r} kg/m3, dpt = {1e-10 * ps!r} Pa\n"
    text += f"v1 volume (a) V = {V!r} m3, K = {K!r} Pa\nstart a.p = 0\n"
    return Form(text, 2 * T, {"a.p": (lambda t: ps * (1 - np.maximum(1 - t / T, 0) ** 2), ps)})


def relief(S, T):
    """A pump into a vessel with a check valve to the tank that opens at 1e5 S: a ramp, then a relaxation."""
    p, V = 1e5 * S, 1e-3
    K, q = 1e9 * S, 1e-3 * 1e5 / 1e9 / T  # q = p V/(K T)
    text = f"use hydraulic\nv1 volume (a) V = {V!r} m3, K = {K!r} Pa\nf1 flow (a, ground) Q = {q!r} m3/s\n"
    text += f"c1 check_valve (a, ground) G = {q / p!r} m3/s/Pa, crack = {p!r} Pa, soft = {1e-9 * p!r} Pa, leak = 0 m3/s/Pa\nstart a.p = 0\n"
    return Form(text, 4 * T, {"a.p": (lambda t: p * np.where(t < T, t / T, 2 - np.exp(-(t / T - 1))), 2 * p)})


def ram(S, T):
    """A mass on a column of oil, set in motion by a pressure: an oscillation."""
    p, A, K = 1e5 * S, 1e-3, 1e9
    V = 1e-3
    m = float(K * A**2 / V * T**2 / (4 * np.pi**2))
    text = f"use couplings\nv1 volume (a) V = {V!r} m3, K = {K!r} Pa\nc1 piston (a, rod, ground) A = {A!r} m2\nm1 mass (rod) m = {m!r} kg\n"
    text += f"start a.p = {p!r} Pa\nstart rod.x = 0\nstart rod.v = 0\n"
    x = p * A / (m * 4 * np.pi**2 / T**2)
    return Form(text, 2 * T, {"a.p": (lambda t: p * np.cos(2 * np.pi * t / T), p), "rod.x": (lambda t: x * (1 - np.cos(2 * np.pi * t / T)), x)})


def langevin(x):
    small = np.abs(x) < 1e-2
    safe = np.where(small, 1.0, x)
    return np.where(small, x / 3 - x**3 / 45, 1 / np.tanh(safe) - 1 / safe)


def core(S, T):
    """Iron with hysteresis (Jiles and Atherton, no coupling) under a sinusoidal field: M lags behind Man."""
    Ms, a, k, c, peak = 1.6e6 * S, 1100.0 * S, 400.0 * S, 0.2, 3000.0 * S
    text = f"use magnetic\nk1 hysteresis_core (p, ground) l = 1 m, A = 1e-4 m2, Ms = {Ms!r} A/m, a = {a!r} A/m, alpha = 0, k = {k!r} A/m, c = {c!r}\n"
    text += f"s1 magnetomotive_force (p, ground) theta = {peak!r} A*sin(2*pi*time/({T!r} s))\nstart k1.Mirr = 0 A/m\n"

    def field(s):
        return peak * np.sin(2 * np.pi * s)

    def rate(s, y):
        dH = peak * 2 * np.pi * np.cos(2 * np.pi * s)
        gap = Ms * langevin(field(s) / a) - y
        return (np.maximum(gap, 0) * max(dH, 0) - np.maximum(-gap, 0) * max(-dH, 0)) / k

    def meets(s, y):
        return Ms * float(langevin(field(s) / a)) - y[0]

    pieces, y, begin = [], 0.0, 0.0
    for end in (0.25, 0.75, 1.25, 1.75, 2.0):
        waits = begin > 0
        if waits:  # the irreversible part waits until the curve without hysteresis passes it
            at = brentq(lambda s, y=y: meets(s, [y]), begin, end)
            pieces.append((begin, at, lambda s, y=y: np.full_like(s, y)))
            begin = at
        known = solve_ivp(rate, (begin, end), [y], "DOP853", rtol=1e-13, atol=1e-12 * Ms, dense_output=True, max_step=0.01).sol
        pieces.append((begin, end, lambda s, known=known: known(s)[0]))
        y, begin = float(known(end)[0]), end

    def exact(t):
        s = np.minimum(t / T, 2.0)
        M = np.zeros_like(s)
        for begin, end, piece in pieces:
            inside = (s >= begin) & (s <= end)
            M[inside] = piece(s[inside])
        return M

    return Form(text, 2 * T, {"k1.Mirr": (exact, Ms / 2)})


MACHINES = [relay, belt, backlash, lossy_gear, rigid_gearbox, clutch, rubbing, accumulator, emptying, filling, relief, ram, core]
