"""Examples of Modelica.Magnetic.FluxTubes, written down from what they are, against independent integrations of flux linkage and motion."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import netsim

MU0 = 1.25663706212e-6
MAGNETIC = "use electrical\nuse magnetic\nuse translational\nuse couplings\nparam mu0 = 1.25663706212e-6 H/m\n"


def run(text):
    (samples,) = netsim.load(MAGNETIC + text).samples()
    assert samples.finished, samples.message
    return samples


def field_strength(b, initial, most, ca, cb, n):
    """Of a soft magnetic material by Roschke's permeability."""
    share = abs(b) / most
    return b / (MU0 * (1 + (initial - 1 + ca * share) / (1 + cb * share + share**n)))


def close(found, wanted, share):
    return np.abs(found - wanted).max() < share * np.ptp(wanted)


def test_saturated_inductor():
    """A closed core with a small gap and leakage beside both, at 230 V."""
    samples = run("""
let   A     = (25 mm)^2
src   voltage     (e1, ground)         v = 325.269119 V*cos(2*pi*50 Hz*time)
r     resistor    (e1, e2)             R = 7.5 Ohm
coil  winding     (e2, ground, top, ground)  N = 600, start i = 0 A
leak  reluctance  (top, ground)        R = 1.2e6 H^-1
gap   flux_bar    (top, iron)          l = 0.1 mm, A = A
core  core        (iron, ground)       l = 260 mm, A = A, mu_i = 1210, Bm = 1.16 T, ca = 24630, cb = 2.44, m = 14
run   transient(stop = 40 ms, sample = 0.5 ms)
save  coil.i, core.B
""")
    area = 0.025**2

    def current(b):
        return (field_strength(b, 1210, 1.16, 24630, 2.44, 14) * 0.26 + b / MU0 * 1e-4) / 600

    def core(psi):
        return brentq(lambda b: 600 * (b * area + 600 * current(b) / 1.2e6) - psi, -5, 5, xtol=1e-14)

    def rates(t, s):
        return [325.269119 * np.cos(100 * np.pi * t) - 7.5 * current(core(s[0]))]

    psi = solve_ivp(rates, (0, 0.04), [0.0], t_eval=samples.time, rtol=1e-8, atol=1e-10, method="LSODA").y[0]
    b = np.array([core(p) for p in psi])
    assert close(samples.series("core.B"), b, 1e-3) and close(samples.series("coil.i"), np.array([current(x) for x in b]), 3e-3)


IRON = "mu_i = 400, Bm = 1.488 T, ca = 1200, cb = 3, m = 12.5"


def test_pull_in_of_a_solenoid():
    """SimpleSolenoid with a load, until just before it touches: all flux passes the gap with its leakage, iron in five pieces, a parasitic gap."""
    samples = run(f"""
let   arm  = 5 mm
let   yoke = 13.5 mm
let   bore = 5.65 mm
src   voltage           (e1, ground)          v = 12 V
r     resistor          (e1, e2)              R = 10 Ohm
coil  winding           (e2, ground, x, y)    N = 957, start i = 0 A
gap   air_gap           (x, z, a, ground)     A = pi*arm^2, rest = 1e-9 mm
side  pole_leakage      (x, z, a, ground)     w = 2*pi*(arm + 1.5 mm), r = 3 mm
pole  core              (z, w)                l = 6.5 mm, A = pi*arm^2, {IRON}
base  core              (w, u)                l = log(yoke/arm)*(yoke + arm)/2, A = pi*3.5 mm*(yoke + arm), {IRON}
shell core              (u, s)                l = 31.5 mm, A = pi*((15 mm)^2 - yoke^2), {IRON}
end_  core              (s, q)                l = log(yoke/bore)*(yoke + bore)/2, A = pi*3.5 mm*(yoke + bore), {IRON}
guide flux_tube_radial  (q, ground)           l = 3.5 mm, ro = bore, ri = arm
lk1   permeance         (q, ground)           G = mu0*0.52*2*pi*(arm + 0.325 mm)
lk2   permeance         (q, ground)           G = 4*mu0*arm*log(9)
iron  core              (ground, y)           l = 22.375 mm, A = pi*arm^2, {IRON}
load  mass              (a)                   m = 26.04 g
start a.x = 5 mm
run   transient(stop = 12 ms, sample = 0.2 ms)
save  a.x, coil.i, gap.f
""")
    ra, yi, si, steel = 5e-3, 13.5e-3, 5.65e-3, (400, 1.488, 1200, 3, 12.5)
    pieces = [(6.5e-3, np.pi * ra**2), (22.375e-3, np.pi * ra**2), (31.5e-3, np.pi * (15e-3**2 - yi**2))]
    pieces += [(np.log(yi / r) * (yi + r) / 2, np.pi * 3.5e-3 * (yi + r)) for r in (ra, si)]
    parasitic = MU0 * (2 * np.pi * 3.5e-3 / np.log(si / ra) + 0.52 * 2 * np.pi * (ra + 0.325e-3) + 4 * ra * np.log(9))
    edge = MU0 * 2 * np.pi * (ra + 1.5e-3)

    def rates(t, s):
        phi, x, v = s[0] / 957, s[1], s[2]
        across = phi / (MU0 * np.pi * ra**2 / x + edge / np.pi * np.log(1 + np.pi * 3e-3 / x))
        theta = across + phi / parasitic + sum(length * field_strength(phi / area, *steel) for length, area in pieces)
        pull = across**2 / 2 * (MU0 * np.pi * ra**2 / x**2 + edge * 3e-3 / (x * (x + np.pi * 3e-3)))
        return [12 - 10 * theta / 957, v, -pull / 0.02604]

    _, x, _ = solve_ivp(rates, (0, 0.012), [0, 5e-3, 0], t_eval=samples.time, rtol=1e-9, atol=1e-12).y
    assert close(samples.series("a.x"), x, 1e-4) and x[-1] < 2.5e-3 and samples.series("gap.f")[-1] > 3


def test_moving_coil():
    """ArmatureStroke: the force is the magnet's part c i and i^2/2 dL/dx; the back-emf c v and i dL/dx v."""
    samples = run("""
let   core = 12.5 mm
let   ring = 2*pi*mu0*1.05/log((core + 6.5 mm)/core)
src   voltage              (e1, ground)             v = 4.29 V
r     resistor             (e1, e2)                 R = 2.86 Ohm
coil  winding              (e2, ground, t, ground)  N = 140, start i = 0 A
pm    magnetomotive_force  (ground, q)              theta = 1400 A
ga    sliding_gap          (q, t, arm, ground)      G = ring, rest = 10 mm
gb    sliding_gap          (q, ground, ground, arm) G = ring, rest = 10 mm
leak  permeance            (ground, t)              G = 0.2 uH
load  mass                 (arm)                    m = 62 g
start arm.x = -4 mm
run   transient(stop = 15 ms, sample = 0.5 ms)
save  arm.x, coil.i
""")
    g, turns, magnet = 2 * np.pi * MU0 * 1.05 / np.log(19 / 12.5), 140, 1400.0

    def rates(t, s):
        i, x, v = s
        c, slope, L = turns * g * magnet, turns**2 * g, turns**2 * (g * (0.01 + x) + 0.2e-6)
        return [(4.29 - 2.86 * i - (c + slope * i) * v) / L, v, (c * i + slope * i**2 / 2) / 0.062]

    i, x, _ = solve_ivp(rates, (0, 0.015), [0, -4e-3, 0], t_eval=samples.time, rtol=1e-9, atol=1e-12).y
    assert close(samples.series("arm.x"), x, 1e-4) and close(samples.series("coil.i"), i, 1e-3) and x[-1] > 0


def test_gap_whose_force_is_not_linear():
    """An exponent of 2: the largest depth takes all kinetic energy, m v^2/2 = c d^3/3."""
    text = "m mass (a) m = 2 kg, start v = -3 m/s\ng elasto_gap (a, ground) c = 1e7 N/m, e = 2\n"
    samples = run(text + "run transient(stop = 20 ms, sample = 10 us)\nsave a.x, a.v\n")
    assert samples.series("a.x").min() == pytest.approx(-((3 * 9 / 1e7) ** (1 / 3)), rel=1e-4) and samples.series("a.v")[-1] == pytest.approx(
        3, rel=1e-4
    )
