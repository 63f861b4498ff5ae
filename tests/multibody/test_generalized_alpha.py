"""Generalized-alpha is of second order in positions, velocities and forces, on closed loops in space and in the plane, and does not drift."""

import numpy as np
import pytest
from test_mechanisms import changed, orders, run

import netsim

SECOND = {"method": "generalized_alpha"}
CASES = {
    "slider_crank in space, free under a torque": (
        "slider_crank",
        (
            (r"motor  hinge_angle .*", "motor hinge_torque (ground, crank) T = 0.2 N.m"), (r"\[0, 0, -9.81\]", "[0, -9.81, -2]"), (r"plot .*", ""),
            (r"save .*", "save pin1.q, slide.q, pin1.rate, slide.rate, crank.w, pin1.force, pin2.force, slide.force, motor.work"),
        ),
        (4e-3, 2e-3, 1e-3, 1.25e-4), 0.64, 0.02,
        ("pin1.q", "slide.q", "pin1.rate", "slide.rate", "crank.w.z", "pin1.force.x", "pin1.force.y", "pin2.force.x", "slide.force.y", "motor.work"),
    ),
    "fourbar in the plane, free": (
        "fourbar_planar",
        (
            (r"motor    planar_hinge_angle .*", "start pA.rate = 5 rad/s"), (r"plot .*", ""),
            (r"save .*", "save pA.q, pD.q, pA.rate, pD.rate, pA.force, pC.force"),
        ),
        (1e-3, 5e-4, 2.5e-4, 3.125e-5), 0.4, 0.02,
        ("pA.q", "pD.q", "pA.rate", "pD.rate", "pA.force.x", "pA.force.y", "pC.force.x", "pC.force.y"),
    ),
    "fourbar in space, free and redundant": (
        "fourbar_spatial",
        (
            (r"motor    hinge_angle .*", "start pA.rate = 5 rad/s"), (r"plot .*", ""),
            (r"save .*", "save pA.q, pD.q, pA.rate, pD.rate, pA.force, pC.force"),
        ),
        (1e-3, 5e-4, 2.5e-4, 3.125e-5), 0.4, 0.02,
        ("pA.q", "pD.q", "pA.rate", "pD.rate", "pA.force.x", "pC.force.x", "pC.force.y"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("forces", ["method", "recovered"])
@pytest.mark.parametrize("case", CASES)
def test_order_two_in_positions_velocities_and_forces(case: str, forces: str):
    name, edits, steps, stop, between, signals = CASES[case]
    model = changed(name, *edits)
    samples = [run(model, step=h, every=round(between / h), stop=stop, forces=forces, **SECOND) for h in steps]
    for signal in signals:
        fine = samples[-1].series(signal)
        errors = [np.abs(s.series(signal) - fine).max() for s in samples[:-1]]
        assert np.abs(orders(errors) - 2).max() < 0.15, (signal, errors, orders(errors))
        assert errors[-1] < 0.02 * np.abs(fine).max()


def test_a_closed_loop_keeps_its_energy_and_its_constraints():
    """A four-bar let go for 20000 steps: the energy stays where it was, and the pins stay together."""
    model = changed(
        "fourbar_planar",
        (r"motor    planar_hinge_angle .*", "start pA.rate = 5 rad/s"),
        (r"plot .*", ""),
        (r"save .*", "save a.r, a.phi, b.r, b.phi, c.r, c.phi"),
    )
    samples = run(model, step=5e-4, stop=10, every=20, forces="method", **SECOND)
    stored = samples.energy[:, 0]
    scale = np.ptp(samples.series("b.r.y")) * 0.6 * 9.81
    assert np.abs(stored - stored[0]).max() < 1e-3 * scale
    middle = len(stored) // 2
    assert np.abs(stored[middle:] - stored[0]).max() < 1.5 * np.abs(stored[:middle] - stored[0]).max() + 1e-6 * scale
    C = np.array([0.325, np.sqrt(0.039375)])
    ends = []
    for body, drawn in (("b", 0.5 * (C + np.array([0.1, 0]))), ("c", 0.5 * (C + np.array([0.3, 0])))):
        c, s = np.cos(samples.series(f"{body}.phi")), np.sin(samples.series(f"{body}.phi"))
        x, y = C - drawn
        ends.append(np.stack([samples.series(f"{body}.r.x") + c * x - s * y, samples.series(f"{body}.r.y") + s * x + c * y]))
    assert np.abs(ends[0] - ends[1]).max() < 1e-13


def test_a_flange_and_the_hinge_it_turns_agree_to_second_order():
    """A rotor on the flange of a spinning hinge: phi = a t^2/2. The body turns in a rational chart, the flange on a straight line; they meet at the
    positions, so that the rates differ by h^2 w^3/6, which does not build up."""
    text = (
        "use spatial\nuse rotational\nworld gravity = [0, 0, 0] m/s2\nb1 body (p) m = 1, I = diag(1, 1, 2) kg.m2\n"
        "j1 revolute_driven (ground, p, r) at = [0, 0, 0] m\nJ1 inertia (r) J = 0.5\nT1 torque (r) T = 5 N.m\n"
        "run transient(stop = 5, step = 1 ms, method = euler)\nsave r.phi, r.w, j1.rate, j1.moment.z, p.R\n"
    )
    errors, apart = [], []
    for h in (8e-3, 4e-3, 2e-3):
        samples = run(netsim.load(text), step=h, every=round(0.2 / h), forces="method", **SECOND)
        turned = np.unwrap(np.arctan2(samples.series("p.R[2,1]"), samples.series("p.R[1,1]")))
        assert np.abs(np.angle(np.exp(1j * (turned - samples.series("r.phi"))))).max() < 1e-10
        errors.append(np.abs(samples.series("r.phi") - samples.time**2).max())
        apart.append(np.abs(samples.series("r.w") - samples.series("j1.rate")).max())
    assert np.abs(orders(errors) - 2).max() < 0.15 and np.abs(orders(apart) - 2).max() < 0.15
    assert apart[-1] < 2 * (2e-3) ** 2 * 10**3 / 6
    exact = run(netsim.load(text), step=2e-3, every=100, forces="recovered", **SECOND)
    assert np.abs(exact.series("j1.moment.z") - 4).max() < 1e-9
