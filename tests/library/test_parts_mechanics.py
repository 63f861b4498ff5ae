# ruff: noqa: E501  (netlists in a line read best)
"""Springs by table, inerters, screws, cams, gears and converters along one line or axis against closed forms."""

import numpy as np
import pytest

import netsim
from conftest import sampled


def machine(text, *signals, **options):
    return sampled(netsim.load("use couplings\n" + text + "\n"), tuple(signals), **options)


# ------------------------------------------------------------------------------------------------ tables


@pytest.mark.parametrize("kind, scale", [("line", 1e-6), ("line", 1.0), ("line", 1e6), ("axis", 1e-6), ("axis", 1.0)])
def test_spring_by_table_keeps_its_energy(scale, kind):
    """A mass on a table of three slopes: the speed at each elongation follows from the area under the table."""
    xs, fs = scale * np.array([-1.0, 0.0, 1.0, 2.0]), np.array([-20.0, 0.0, 10.0, 50.0])
    top = 3 * scale
    if kind == "line":
        text = f"k table_spring (a, ground) k = 4, xs = {xs.tolist()} m, fs = {fs.tolist()} N\nm mass (a) m = {1 / scale} kg\nstart a.x = {top} m\n"
    else:
        text = f"k table_torsion_spring (a, ground) k = 4, phis = {xs.tolist()} rad, torques = {fs.tolist()} N.m\nm inertia (a) J = {1 / scale} kg.m2\nstart a.phi = {top} rad\n"
    x_, v_, f_ = ("a.x", "a.v", "k.f") if kind == "line" else ("a.phi", "a.w", "k.t")
    samples = machine(text + "run transient(stop = 2 s, rtol = 1e-9)", x_, v_, f_)
    x, v = samples.series(x_), samples.series(v_)
    u = x / scale
    line = np.where(u < 0, 20 * u, np.where(u < 1, 10 * u, 10 + 40 * (u - 1)))
    area = np.where(u < 0, 10 * u**2, np.where(u < 1, 5 * u**2, 5 + 10 * (u - 1) + 20 * (u - 1) ** 2)) * scale
    energy = area[0] - area
    assert v**2 / (2 * scale) == pytest.approx(energy, abs=2e-6 * max(energy)) and min(x) < -scale
    assert samples.series(f_) == pytest.approx(line, abs=1e-5) and np.ptp(samples.energy[:, 0]) < 2e-6 * max(energy)


@pytest.mark.parametrize("v, f", [(-2.0, -900.0), (-0.5, -300.0), (0.0, 0.0), (0.25, 250.0), (1.0, 1100.0), (2.0, 2200.0)])
def test_shock_absorber_by_table(v, f):
    """Points of the table, between them and beyond: rebound and compression differ."""
    text = f"s velocity (a, ground) v = {v} m/s\nd table_damper (a, ground) k = 5, us = [-2, -0.5, 0, 0.5, 1] m/s, fs = [-900, -300, 0, 500, 1100] N\nw speed (b, ground) w = {v} rad/s\ne table_torsion_damper (b, ground) k = 5, speeds = [-2, -0.5, 0, 0.5, 1] rad/s, torques = [-900, -300, 0, 500, 1100] N.m\nrun transient(stop = 1 ms)"
    wanted = f if v < 2 else 1100 + 1200
    samples = machine(text, "d.f", "e.t", "d.loss")
    assert [samples.series(s)[0] for s in ("d.f", "e.t", "d.loss")] == pytest.approx([wanted, wanted, wanted * v])


def test_a_table_that_drives_is_told():
    model = netsim.load(
        "use translational\ns velocity (a, ground) v = 1 m/s\nd table_damper (a, ground) us = [0, 1] m/s, fs = [0, -5] N\nrun transient(stop = 1 ms)\nsave d.f\n"
    )
    (samples,) = model.samples()
    assert any("drives" in str(broken) for broken in samples.broken) or "drives" in str(samples.attributes)


@pytest.mark.parametrize("m, b", [(1.0, 3.0), (1e-6, 1e-5), (1e6, 1e3)])
def test_inerter_adds_its_inertance(m, b):
    """Between a mass and ground it is more mass; between two masses it conserves momentum: (m + b) and m b/... by hand."""
    text = f"k mass (a) m = {m} kg\ni inerter (a, c) b = {b} kg\nl mass (c) m = {m} kg\nf force (a) F = {m} N\nj inertia (p) J = {m} kg.m2\nr torsional_inerter (p, ground) J = {b} kg.m2\nt torque (p) T = {m} N.m\nrun transient(stop = 1 s)"
    samples = machine(text, "a.v", "c.v", "p.w")
    first, second = np.linalg.solve([[m + b, -b], [-b, m + b]], [m, 0])
    assert [samples.series(s)[-1] for s in ("a.v", "c.v", "p.w")] == pytest.approx([first, second, m / (m + b)], rel=1e-6)


# ------------------------------------------------------------------------------------------------ screws


@pytest.mark.parametrize("lead, angle, friction", [(5e-3, 0.05, 0.1), (20e-3, 0.3, 0.1), (1.0, 0.7, 0.3), (1e-6, 0.05, 0.1)])
@pytest.mark.parametrize("load", [1000.0, -1000.0])
def test_screw_by_its_friction_angle(lead, angle, friction, load):
    """Lifting needs F lead/2pi tan(angle + friction)/tan(angle), lowering F lead/2pi tan(angle - friction)/tan(angle) (Decker, Maschinenelemente)."""
    eta1 = np.tan(angle) / np.tan(angle + friction)
    eta2 = np.tan(angle - friction) / np.tan(angle)
    for speed in (1.0, -1.0):
        text = f"s speed (a, ground) w = {speed} rad/s\nk locking_screw (a, n) lead = {lead} m, eta1 = {eta1}, eta2 = {eta2}\nf force (n) F = {-load} N\nrun transient(stop = 1 ms)"
        samples = machine(text, "s.drive", "k.loss", "n.v")
        lifts = speed * load > 0
        wanted = load * lead / (2 * np.pi) * (1 / eta1 if lifts else eta2)
        assert samples.series("s.drive")[-1] == pytest.approx(wanted, rel=1e-6)
        assert samples.series("k.loss")[-1] == pytest.approx(speed * (wanted - load * lead / (2 * np.pi)), rel=1e-6)


@pytest.mark.parametrize("eta2, moves", [(-0.2, False), (0.0, False), (0.3, True)])
def test_screw_locks_itself(eta2, moves):
    """A load on the nut moves the shaft where eta2 > 0 alone: then with the torque eta2 F lead/2pi on its inertia."""
    text = f"k locking_screw (a, n) lead = 10 mm, eta1 = 0.4, eta2 = {eta2}\nj inertia (a) J = 1e-3 kg.m2\nm mass (n) m = 1 kg\nf force (n) F = 500 N\nrun transient(stop = 0.1 s, rtol = 1e-8)"
    samples = machine(text, "a.w", "k.mode")
    r = 10e-3 / (2 * np.pi)
    wanted = eta2 * 500 * r / (1e-3 + eta2 * r * r) * 0.1 if moves else 0.0
    assert samples.series("a.w")[-1] == pytest.approx(wanted, rel=1e-5, abs=1e-9) and samples.series("k.mode")[-1] == (1 if moves else 0)


def test_worm_gear_holds_and_turns():
    """Ratio 40: the worm needs T/(40 eta1) to lift, T (-eta2)/40 to lower; without it nothing moves."""
    base = "k worm_gear (a, b) ratio = 40, eta1 = 0.5, eta2 = -0.1\nt torque (b) T = -80 N.m\n"
    for speed, wanted in ((10.0, 80 / 40 / 0.5), (-10.0, -0.1 * 80 / 40)):
        samples = machine(base + f"s speed (a, ground) w = {speed} rad/s\nrun transient(stop = 1 ms)", "s.drive", "b.w")
        assert samples.series("s.drive")[-1] == pytest.approx(wanted, rel=1e-6) and samples.series("b.w")[-1] == pytest.approx(speed / 40)
    held = machine(base + "j inertia (a) J = 1e-4 kg.m2\nrun transient(stop = 1 s)", "b.phi")
    assert abs(held.series("b.phi")[-1]) < 1e-9


def test_screw_brought_to_rest_by_its_load_stays():
    """Thrown forwards against the load it stops after J w^2/(2 (load torque/eta1)) and does not come back."""
    text = "k locking_screw (a, n) lead = 10 mm, eta1 = 0.4, eta2 = -0.2\nj inertia (a) J = 0.01 kg.m2\nf force (n) F = -500 N\nstart a.w = 20 rad/s\nrun transient(stop = 3 s, rtol = 1e-8)"
    samples = machine(text, "a.phi", "a.w")
    torque = 500 * 10e-3 / (2 * np.pi) / 0.4
    assert samples.series("a.phi")[-1] == pytest.approx(0.01 * 400 / (2 * torque), rel=1e-5) and abs(samples.series("a.w")[-1]) < 1e-9


# ------------------------------------------------------------------------------------------------ cams


@pytest.mark.parametrize("e, rod", [(1.0, 2.0), (5e-6, 40e-6), (10.0, 11.0)])
def test_eccentric_cam_is_a_slider_crank(e, rod):
    """Position, and the torque that lifts a constant force by virtual work: -F dx/dphi."""
    text = f"s angle (a, ground) phi = 3 rad/s*time\nk eccentric_cam (a, n) e = {e} m, l = {rod} m\nf force (n) F = -100 N\nrun transient(stop = 4 s, sample = 0.05 s, rtol = 1e-8)"
    samples = machine(text, "n.x", "s.drive")
    phi = 3 * samples.time
    root = np.sqrt(rod**2 - (e * np.sin(phi)) ** 2)
    assert samples.series("n.x") == pytest.approx(e * np.cos(phi) + root, rel=1e-5)
    assert samples.series("s.drive") == pytest.approx(-100 * e * np.sin(phi) * (1 + e * np.cos(phi) / root), abs=1e-4 * e * 100)


@pytest.mark.parametrize("lift", [1e-6, 0.2, -0.05])
def test_cycloidal_cam_over_two_turns(lift):
    """Rise from 60 to 150 deg, dwell to 180, return to 270 deg, again every turn; the follower's mass needs lift a2 w^2."""
    text = f"s angle (a, ground) phi = 2 rad/s*time\nk cam (a, n) lift = {lift} m\nm mass (n) m = 2 kg\nrun transient(stop = 6.2 s, sample = 0.02 s)"
    samples = machine(text, "n.x", "n.v", "s.power")
    deg = np.degrees(2 * samples.time) % 360
    up, down = np.clip((deg - 60) / 90, 0, 1), np.clip((deg - 180) / 90, 0, 1)
    wanted = lift * (up - np.sin(2 * np.pi * up) / (2 * np.pi) - down + np.sin(2 * np.pi * down) / (2 * np.pi))
    slope = lift * ((1 - np.cos(2 * np.pi * up)) - (1 - np.cos(2 * np.pi * down))) / np.radians(90) * 2
    curve = lift * 2 * np.pi * (np.sin(2 * np.pi * up) - np.sin(2 * np.pi * down)) / np.radians(90) ** 2 * 4
    assert samples.series("n.x") == pytest.approx(wanted, abs=1e-7 * abs(lift)) and samples.series("n.v") == pytest.approx(
        slope, abs=1e-6 * abs(lift)
    )
    assert samples.series("s.power") == pytest.approx(2 * slope * curve, abs=1e-4 * max(abs(slope * curve)))


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("method", ["radau", "bdf", "rk45", "rk8"])
@pytest.mark.parametrize("w", [1.0, 100.0])
def test_every_method_drives_a_cam_from_its_dwell(w, method, rtol):
    """Nothing has moved where the rise begins: how far the first micrometres are off is measured by themselves."""
    text = f"s angle (a, ground) phi = {w} rad/s*time\nk cam (a, n) lift = 10 mm\nm mass (n) m = 2 kg\nc spring (n, ground) c = 500 N/m\n"
    samples = machine(f"{text}run transient(stop = {3 / w} s, sample = {0.01 / w} s)", "n.x", method=method, rtol=rtol)
    up = np.clip((np.degrees(w * samples.time) - 60) / 90, 0, 1)
    assert samples.series("n.x") == pytest.approx(0.01 * (up - np.sin(2 * np.pi * up) / (2 * np.pi)), abs=2e-2 * rtol)


@pytest.mark.parametrize("w, start", [(3.0, 0.0), (-3.0, 0.0), (-3.0, 0.2), (3.0, 7.0)])
def test_cam_on_a_flywheel_turns_either_way(w, start):
    """A flywheel a thousand times heavier keeps its speed but for the follower's energy; the follower is where the angle says, turns counted."""
    text = f"k cam (a, n) lift = 10 mm\nm mass (n) m = 1 kg\nj inertia (a) J = 1 kg.m2\nstart a.w = {w} rad/s\nstart a.phi = {start} rad\nrun transient(stop = 5 s)"
    samples = machine(text, "a.phi", "a.w", "n.x", "n.v")
    deg = np.degrees(samples.series("a.phi")) % 360
    up, down = np.clip((deg - 60) / 90, 0, 1), np.clip((deg - 180) / 90, 0, 1)
    assert samples.series("n.x") == pytest.approx(
        0.01 * (up - np.sin(2 * np.pi * up) / (2 * np.pi) - down + np.sin(2 * np.pi * down) / (2 * np.pi)), abs=1e-7
    )
    energy = samples.series("a.w") ** 2 + samples.series("n.v") ** 2
    assert energy == pytest.approx(w**2, rel=1e-4) and abs(samples.series("a.phi")[-1] - start) > 14


# ------------------------------------------------------------------------------------------------ gears


@pytest.mark.parametrize("J", [1e-6, 1.0, 1e6])
def test_variable_gear_conserves_energy_while_it_shifts(J):
    """Two flywheels geared by ratio(t): w1 = ratio w2, and ratio J1 w1 + J2 w2 changes by what its rate says: w2' = -ratio ratio' J1 w2/(J1 ratio^2 + J2)."""
    text = f"j1 inertia (a) J = {J} kg.m2\nj2 inertia (b) J = {2 * J} kg.m2\nk variable_gear (a, b) ratio = 1 + time/(1 s)\nstart b.w = 10 rad/s\nrun transient(stop = 2 s, rtol = 1e-9)"
    samples = machine(text, "a.w", "b.w")
    ratio = 1 + samples.time
    assert samples.series("b.w") == pytest.approx(10 * np.sqrt((1 + 2) / (ratio**2 + 2)), rel=1e-6)
    assert samples.series("a.w") == pytest.approx(ratio * samples.series("b.w"), rel=1e-9)


CONVERTER = "k = 4, nus = [0, 0.5, 0.85, 1], capacities = [4e-3, 3.6e-3, 2e-3, 0] N.m.s2/rad2, ratios = [2.2, 1.6, 1, 0.98]"


@pytest.mark.parametrize("nu, capacity, ratio", [(0.0, 4e-3, 2.2), (0.5, 3.6e-3, 1.6), (0.25, 3.8e-3, 1.9), (0.85, 2e-3, 1.0)])
@pytest.mark.parametrize("w", [100.0, 5e6])
def test_torque_converter_by_its_points(nu, capacity, ratio, w):
    """Stall, half, coupling point: torques and the loss (1 - ratio nu) of the power."""
    text = f"s speed (a, ground) w = {w} rad/s\nt speed (b, ground) w = {nu * w} rad/s\nk torque_converter (a, b) {CONVERTER}\nrun transient(stop = 1 ms)"
    samples = machine(text, "s.drive", "t.drive", "k.loss", "k.eta")
    torque = capacity * w**2
    found = [samples.series(s)[0] for s in ("s.drive", "t.drive", "k.loss", "k.eta")]
    assert found == pytest.approx([torque, -ratio * torque, torque * w * (1 - ratio * nu), ratio * nu], rel=1e-9)


@pytest.mark.parametrize("w1, w2", [(0.0, 100.0), (100.0, 150.0), (-100.0, -50.0), (1.0, 2000.0)])
def test_torque_converter_without_torque_is_no_mistake(w1, w2):
    """Overrun, or turned backwards, where the capacity of the table is zero: no torques, and no note about the table."""
    text = (
        f"s speed (a, ground) w = {w1} rad/s\nt speed (b, ground) w = {w2} rad/s\nk torque_converter (a, b) {CONVERTER}\nrun transient(stop = 1 ms)"
    )
    samples = machine(text, "s.drive", "t.drive", "k.eta")
    assert samples.series("s.drive")[0] == samples.series("t.drive")[0] == 0 and 0 <= samples.series("k.eta")[0] <= 1
    assert "drives" not in samples.attributes["notes"] and "power" not in samples.attributes["notes"]


@pytest.mark.parametrize("w1, w2, capacity", [(100.0, 90.0, 2e-3), (100.0, 300.0, 2e-3)])
def test_torque_converter_never_gives_power(w1, w2, capacity):
    """A table that ends before the turbine overruns keeps its capacity there: the turbine's torque is held where the loss is zero."""
    text = f"s speed (a, ground) w = {w1} rad/s\nt speed (b, ground) w = {w2} rad/s\nk torque_converter (a, b) k = 2, nus = [0, 0.85], capacities = [4e-3, 2e-3] N.m.s2/rad2, ratios = [2.2, 1]\nrun transient(stop = 1 ms)"
    samples = machine(text, "s.drive", "t.drive", "k.loss", "k.eta")
    torque, ratio = capacity * w1**2, min(1.0, w1 / w2)
    found = [samples.series(s)[0] for s in ("s.drive", "t.drive", "k.loss", "k.eta")]
    assert found == pytest.approx([torque, -ratio * torque, torque * (w1 - ratio * w2), ratio * w2 / w1], abs=1e-9)
