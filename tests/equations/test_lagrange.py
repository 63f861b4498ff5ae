"""Components from their energies against components from their forces."""

import numpy as np
import pytest

import netsim

SPACE = """
use spatial
component lagrangian_body (a : spatial) "body from its energies"
  param m : kg > 0
  param I[3, 3] : kg.m2
  place a = [0, 0, 0] m
  kinetic   m*dot(a.v, a.v)/2 + dot(a.w, a.R*(I*(transpose(a.R)*a.w)))/2
  potential -m*dot(gravity, a.r)
end
component lagrangian_spring (a, b : spatial) "spring from its energy"
  param c : N/m > 0
  param l : m
  param at1[3] : m
  param at2[3] : m
  potential c*(norm(b.r + b.R*local(b, at2) - a.r - a.R*local(a, at1)) - l)^2/2
end
A   lagrangian_body    (a)          m = 2 kg, I = diag(0.1, 0.2, 0.25) kg.m2
B   body               (b)          m = 2 kg, I = diag(0.1, 0.2, 0.25) kg.m2
sa  lagrangian_spring  (ground, a)  c = 100 N/m, l = 0.5 m, at1 = [0, 0, 1] m, at2 = [0.1, 0.2, 0.3] m
sb  line_spring        (ground, b)  c = 100 N/m, l0 = 0.5 m, at1 = [0, 0, 1] m, at2 = [0.1, 0.2, 0.3] m
start a.w = [1, 2, 3] rad/s
start b.w = [1, 2, 3] rad/s
run transient(stop = 2 s)
save a, b
"""


def test_body_and_spring_in_space():
    """Rotations too: moments from energies that depend on R and w."""
    result = netsim.load(SPACE).transient(stop=1.0, rtol=1e-8)
    for name in ("r.x", "r.y", "r.z", "w.x", "w.y", "w.z", "R[1,1]", "R[2,3]"):
        assert np.allclose(result[f"a.{name}"], result[f"b.{name}"], rtol=0, atol=1e-10)
    energy = (result["energy.stored"] + result["energy.dissipated"] - result["energy.supplied"]).values
    assert np.abs(energy - energy[0]).max() < 1e-6


PLANE = """
use planar
world gravity = [0, -9.81, 0] m/s2
component whirl (a : planar) "bead on a turning arm whose length it changes with the angle: T and V know position, angle and rates"
  param m : kg > 0
  param k : m
  place a = [0, 0] m
  let   reach = k*(1 + 0.3*sin(a.phi))
  kinetic   m*dot(a.v, a.v)/2 + m*reach^2*a.w^2/2
  potential -m*dot([gravity.x, gravity.y], a.r) + 3*m*k*norm(gravity)*cos(a.phi)
end
W whirl (a) m = 2 kg, k = 0.5 m
start a.phi = 0.3 rad
start a.w = 2 rad/s
run transient(stop = 1 s)
save a
"""


def test_lagranges_equation_of_one_coordinate():
    """J(phi) phi'' + J'(phi) phi'^2/2 + V'(phi) = 0 by an independent integration."""
    from scipy.integrate import solve_ivp

    def rate(t, z):
        phi, w = z
        reach, slope = 0.5 * (1 + 0.3 * np.sin(phi)), 0.15 * np.cos(phi)
        j, dj = 2 * reach**2, 4 * reach * slope
        return [w, (-0.5 * dj * w**2 + 3 * 2 * 0.5 * 9.81 * np.sin(phi)) / j]

    result = netsim.load(PLANE).transient(stop=1.0, rtol=1e-9)
    wanted = solve_ivp(rate, (0, 1), [0.3, 2.0], rtol=1e-11, atol=1e-12, t_eval=[1.0]).y[:, -1]
    assert np.allclose([result["a.phi"].values[-1], result["a.w"].values[-1]], wanted, rtol=1e-7)
    assert abs(result["a.r.y"].values[-1] + 9.81 / 2) < 1e-9


def test_momentum_of_a_charge_is_conserved_in_large_steps():
    """Euler's method keeps the angular momentum of a free body to what Newton leaves: its rate is a charge."""
    text = SPACE.replace("sa ", "# sa").replace("sb ", "# sb").replace("use spatial", "use spatial\nworld gravity = [0, 0, 0] m/s2")
    text = text.replace("place a = [0, 0, 0] m\n", "place a = [0, 0, 0] m\n  out H[3] : kg.m2/s = a.R*(I*(transpose(a.R)*a.w))\n")
    result = netsim.load(text + "save A.H\n").transient(stop=2.0, step=0.02, method="euler")
    spin = np.array([result[f"A.H.{c}"].values for c in "xyz"])
    assert np.ptp(spin, axis=1).max() < 1e-9 * np.abs(spin).max()


def test_energy_in_watts_is_refused():
    text = PLANE.replace("kinetic   m*dot(a.v, a.v)/2", "kinetic   m*dot(a.v, a.v)/2/(1 s)")
    with pytest.raises(netsim.InputError, match="E20"):
        netsim.load(text).check()
