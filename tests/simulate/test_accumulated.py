"""Errors of steps that add up over an oscillation: what a run says of them is what a closed form says."""

from typing import NamedTuple

import numpy as np
import pytest

import netsim
from netsim.core.compiled.struct import struct_of
from netsim.core.contract import LEAVING
from netsim.core.loop.accumulated import (
    ERRORS,
    KEPT,
    LEAST,
    MOST,
    NET,
    PATH,
    PEAK,
    accumulate,
    add_dissipation,
    add_to_swing,
    begin_swing,
    swing_energy,
)
from netsim.library.files import models_folder
from netsim.simulate.judgement import ADDED_UP

W = 2 * np.pi
METHODS = ["radau", "trbdf2", "generalized_alpha", "bdf", "rk45", "rk6", "rk8"]


def spring(size=1.0, period=1.0, decay=0.0):
    """Let go at x = size; decays as exp(-decay t/period)."""
    signs = f"c = {(W / period) ** 2!r} N/m\nd1 damper (a, ground) d = {2 * decay / period!r} N.s/m"
    return f"use translational\nm1 mass (a) m = 1 kg, start x = {size!r} m\nc1 spring (a, ground) {signs}\n", "a.x"


def resonance(size=1.0, period=1.0):
    """A capacitor at v = size beside a coil."""
    coil = f"l1 inductor (a, ground) L = {period / W**2!r} H"
    return f"use electrical\nc1 capacitor (a, ground) C = {period!r} F, start v = {size!r} V\n{coil}\n", "a.v"


def ran(text, stop, **options):
    (samples,) = netsim.load(f"{text}run transient(stop = {stop!r} s)\n").samples(options)
    return samples, [problem.code for problem in (*samples.warnings, *samples.broken)]


def error(samples, signal, size, period=1.0, decay=0.0):
    """The largest error beside the first amplitude, in units of rtol."""
    t, w = samples.time / period, np.sqrt(W**2 - decay**2)
    exact = size * np.exp(-decay * t) * (np.cos(w * t) + decay / w * np.sin(w * t))
    return np.abs(samples.series(signal) - exact).max() / size / samples.attributes["rtol"]


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("build", [spring, resonance])
def test_errors_of_an_oscillation_without_losses_are_known(build, method, rtol):
    """Every method's own constant: within a factor of 2 of the closed form over 30 periods."""
    text, signal = build()
    samples, codes = ran(text, 30.0, method=method, rtol=rtol)
    known, true = samples.attributes["added_up"], error(samples, signal, 1.0)
    assert 0.5 * true < known < 2.0 * true
    assert ("W506" in codes) == (known > ADDED_UP)


@pytest.mark.parametrize(("size", "period"), [(1e-9, 1.0), (1e6, 1.0), (1.0, 1e-9), (1.0, 1e6), (1e6, 1e-9)])
@pytest.mark.parametrize("build", [spring, resonance])
def test_they_grow_with_the_periods_at_every_scale(build, size, period):
    found = []
    for periods in (10, 100):
        text, signal = build(size, period)
        samples, codes = ran(text, periods * period, method="trbdf2", rtol=1e-4)
        known, true = samples.attributes["added_up"], error(samples, signal, size, period)
        assert 0.5 * true < known < 2.0 * true
        assert codes == (["W506"] if periods == 100 else [])
        found.append(known)
    assert 8.0 < found[1] / found[0] < 12.0


@pytest.mark.parametrize("quality", [10, 100])
def test_a_damped_oscillation_forgets_them(quality):
    """They grow until about as many periods as its quality are over."""
    decay = W / (2 * quality)
    text, signal = spring(decay=decay)
    samples, codes = ran(text, 300.0, method="trbdf2", rtol=1e-4)
    true = error(samples, signal, 1.0, decay=decay)
    assert 0.5 * true < samples.attributes["added_up"] < 6.0 * true
    (longer, _) = ran(text, 600.0, method="trbdf2", rtol=1e-4)
    assert longer.attributes["added_up"] == pytest.approx(samples.attributes["added_up"], rel=0.1)
    assert codes == (["W506"] if quality == 100 else [])


@pytest.mark.parametrize("load", ["sin(6.283185307179586*time/(1 s))", "pulse(time, at = 0.1 s, width = 0.5 s, period = 1 s)"])
def test_a_driven_relaxation_has_nothing_to_tell(load):
    """Its steps would add up to more than 100 rtol."""
    text = f"use electrical\nv1 voltage (b, ground) v = 1 V*{load}\nr1 resistor (b, a) R = 1 Ohm\n"
    samples, codes = ran(text + "c1 capacitor (a, ground) C = 0.3 F, start v = 0 V\n", 100.0, method="trbdf2", rtol=1e-4)
    assert samples.attributes["added_up"] < 5.0 and codes == []


@pytest.mark.parametrize("method", ["trbdf2", "bdf"])
@pytest.mark.parametrize("device", ["level=1", "level=3"])
def test_what_transistors_turn_into_heat_forgets_errors(device, method, tmp_path):
    """A chain of inverters, whose gates have capacitances without energies: their currents were taken for a source, so that
    nothing dissipated."""
    lines = "".join(f"p{k} n{k + 1} n{k} d d pm w=4u l=1u\nn{k} n{k + 1} n{k} 0 0 nm w=2u l=1u\n" for k in range(6))
    lines = "".join(f"m{line}\n" for line in lines.splitlines()) + "".join(f"c{k} n{k} 0 20f\n" for k in range(1, 7))
    models = "".join(f".model {n}m {n}mos {device} vto={v} kp=50u tox=20n\n" for n, v in (("n", 0.6), ("p", -0.6)))
    text = f"chain\nvd d 0 3\nvi n0 0 pulse(0 3 1n 0.1n 0.1n 9n 20n)\n{lines}{models}.save v(n6)\n.tran 1n 200n\n.end\n"
    (tmp_path / "chain.cir").write_text(text)
    (samples,) = netsim.load(tmp_path / "chain.cir").samples({"method": method, "rtol": 1e-3})
    assert samples.attributes["steps"] > 500 and samples.attributes["added_up"] < 10.0 and not samples.warnings


def test_a_driven_oscillation_without_losses_keeps_its_own_errors():
    """x'' = sin(o t) - w^2 x from rest: the source gives and takes, and forgets nothing."""
    o, text = 1.7, spring()[0].replace("start x = 1.0 m", "start x = 0 m, start v = 0 m/s")
    samples, codes = ran(text + "f1 force (a) F = 1 N*sin(1.7*time/(1 s))\n", 60.0, method="trbdf2", rtol=1e-4)
    exact = (np.sin(o * samples.time) - o / W * np.sin(W * samples.time)) / (W**2 - o**2)
    true = np.abs(samples.series("a.x") - exact).max() / np.abs(exact).max() / 1e-4
    assert 0.5 * true < samples.attributes["added_up"] < 3.0 * true and codes == ["W506"]


@pytest.mark.parametrize("method", ["bdf", "rk45", "rk8"])
def test_where_all_motion_is_prescribed_nothing_adds_up(method):
    """No step begins with what the last one left: 100 t sin t rad about an oblique axis."""
    text = "use spatial\nworld gravity = [0, 0, 0] m/s2\nb body (a) m = 1 kg, I = diag(1, 2, 3) kg.m2, at = [1, 0, 0] m\n"
    text += "j revolute (ground, a) at = [0, 0, 0] m, axis = [0.6, 0, 0.8]\n"
    text += "d hinge_angle (ground, a) axis = [0.6, 0, 0.8], q = 100*sin(time/(1 s))*time/(1 s)\n"
    samples, codes = ran(text, 20.0, method=method, rtol=1e-5)
    assert samples.attributes["added_up"] == 0.0 and "W506" not in codes


def test_verified_runs_and_given_steps_tell_what_they_know():
    text, _ = resonance()
    assert ran(text, 100.0, method="trbdf2", rtol=1e-4, verify="yes")[1] == ["W505"]
    samples, codes = ran(text, 10.0, method="trbdf2", step=1e-3)
    assert samples.attributes["added_up"] == 0.0 and "W506" not in codes


# ---------------------------------------------------------------------------------------------- bounds of stability


@pytest.mark.parametrize(("size", "period"), [(1.0, 1.0), (1e-9, 1e6), (1e6, 1e-9)])
@pytest.mark.parametrize(("method", "lag"), [("rk45", 0.02), ("rk45", 0.03), ("rk8", 0.06)])
def test_explicit_methods_at_their_bound_of_stability_tell_what_persists(method, lag, size, period):
    """Beside what decays within `lag` of a period, estimates are of that alone: 400 to 1000 rtol in 100 periods. A part
    of 5 rtol is left of it; above the nominal 1 V the small voltage is measured by itself, and steps are shorter."""
    text, signal = resonance(size, period)
    text += f"v9 voltage (b, ground) v = {size / 1e3!r} V*sin(time/({period!r} s))\nr9 resistor (b, d) R = 1 Ohm\n"
    samples, codes = ran(f"{text}c9 capacitor (d, ground) C = {lag * period!r} F\n", 100.0 * period, method=method, rtol=1e-4)
    true = error(samples, signal, size, period)
    assert 0.8 * true < samples.attributes["added_up"] < 1.3 * true + 5.0 and codes == []
    assert true > (4.0 if size <= 1.0 else 0.1)


@pytest.mark.parametrize(("method", "lag"), [("rk45", 0.02), ("rk45", 0.03), ("rk8", 0.02)])
def test_a_damped_mass_beside_an_oscillation_hides_nothing(method, lag):
    text, signal = spring()
    text += f"m9 mass (z) m = 1 kg, start v = 1 m/s, start x = 0 m\nd9 damper (z, ground) d = {1 / lag!r} N.s/m\n"
    samples, _ = ran(text, 100.0, method=method, rtol=1e-4)
    true = error(samples, signal, 1.0)
    assert 0.8 * true < samples.attributes["added_up"] < 1.3 * true and true > 4.0


@pytest.mark.parametrize("method", ["rk45", "rk6", "rk8"])
def test_a_coil_that_is_switched_off_has_nothing_to_tell(method):
    """A buck converter whose coil runs empty through 1 MOhm: 1e4 steps at the bound of stability."""
    (samples,) = netsim.load(models_folder() / "buck_converter.net").samples({"method": method, "rtol": 1e-4, "stop": 6e-4})
    assert samples.attributes["steps"] > 5000 and samples.attributes["added_up"] < 1.0 and not samples.warnings


# ------------------------------------------------------------------------------------------------------ what swings


class Trial(NamedTuple):
    """What a step's error goes by."""

    tolerances: np.ndarray


SQUARED = struct_of(Trial(np.array([0.0] * LEAVING + [2.0, 1.0])))


def met(energies):
    turnover = np.zeros((ERRORS + 1, 4))
    begin_swing(turnover, 0, energies[0])
    for energy in energies[1:]:
        add_to_swing(turnover, 0, energy)
    return turnover


def test_a_store_that_only_fills_does_not_swing():
    turnover = met(np.linspace(0.0, 1e6, 1000))
    assert swing_energy(turnover) == 0.0 and turnover[PATH, 0] == turnover[NET, 0]
    accumulate(SQUARED, turnover, 1.0)
    add_dissipation(turnover, 1.0)
    accumulate(SQUARED, turnover, 1.0)
    assert turnover[ERRORS, KEPT] == 1.0


def test_what_swings_is_what_it_lately_was():
    t = np.linspace(0.0, 100.0, 20001)
    for mean, size in ((0.0, 1.0), (1e3, 1e-3)):
        turnover = met(mean + size * np.cos(W * t))
        assert 0.7 < (turnover[MOST, 0] - turnover[LEAST, 0]) / (2.0 * size) < 1.0
        assert 0.7 < swing_energy(turnover) / size < 1.0
    turnover = met(np.exp(-0.05 * t) * np.cos(W * t))
    assert swing_energy(turnover) < 2.0 * np.exp(-5.0)


def test_an_amplitude_decays_half_as_fast_as_its_energy():
    turnover = met(np.cos(W * np.linspace(0.0, 10.0, 2001)))
    energy = swing_energy(turnover)
    accumulate(SQUARED, turnover, 0.5)
    add_dissipation(turnover, 0.2 * energy)
    accumulate(SQUARED, turnover, 7.0)  # an estimate above 1 is told elsewhere
    assert turnover[ERRORS, KEPT] == pytest.approx(0.25 * np.exp(-0.1) + 1.0)
    add_dissipation(turnover, 100.0 * energy)
    accumulate(SQUARED, turnover, 0.0)
    assert turnover[ERRORS, KEPT] < 1e-9 and turnover[ERRORS, PEAK] == pytest.approx(0.25 * np.exp(-0.1) + 1.0)
