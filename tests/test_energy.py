"""The energy account of every model: what implicit Euler loses between initial + supplied and stored + dissipated is its own damping.

That loss is never negative, falls in proportion to the step, and is small against the energy that is moved.
"""

import numpy as np
import pytest
from conftest import ran

import netsim
from netsim.library import models_folder

NAMES = sorted(path.stem for path in models_folder().glob("*.net"))
ROUND_OFF = 1e-10
LOSSLESS = {"heated_resistor", "heated_wall", "gas_bottle", "cooling_circuit", "transistor_amplifier"}
"""Their stored energy is linear in the unknowns, or hardly moves: implicit Euler keeps it to round-off."""
SECOND_ORDER = {"motor_angle", "coaxial_cable"}
"""Run by generalized-alpha: the account is off by an amount of second order, of either sign."""
SHORT = {"coupled_coils": 10e-6, "coupled_oscillators": 1.0, "lever": 0.3}
"""Oscillations that go on for many periods are followed for a few."""


def missing(name, divisor):
    """(missing energy over time, largest energy that is moved)."""
    usual = ran(name).attributes
    samples = ran(name, step=usual["step"] / divisor, stop=SHORT.get(name, usual["stop"]))
    stored, supplied, dissipated = samples.energy.T
    scale = max(np.ptp(stored), np.max(np.abs(supplied)), np.max(dissipated), 0.0 if name in LOSSLESS else stored[0])
    return stored[0] + supplied - dissipated - stored, scale


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_created_and_little_is_lost(name):
    lost, scale = missing(name, 2)
    assert np.min(lost) > -(1e-5 if name in SECOND_ORDER else ROUND_OFF) * scale
    assert np.max(lost) < (ROUND_OFF if name in LOSSLESS else 0.05) * scale


@pytest.mark.parametrize("name", sorted(set(NAMES) - LOSSLESS))
def test_the_loss_is_of_the_method_s_order(name):
    coarse, fine = (np.max(missing(name, divisor)[0]) for divisor in (4, 8))
    assert np.log2(coarse / fine) == pytest.approx(2.0 if name in SECOND_ORDER else 1.0, abs=0.05)


def test_dissipation_is_found_where_it_happens():
    """A quarter car turns nearly all that the road supplies into heat in its dampers: the final energy is that of the road's work."""
    samples = ran("quarter_car", step=0.05e-3)
    stored, supplied, dissipated = samples.energy[-1]
    assert stored < 1e-3 * supplied
    assert dissipated == pytest.approx(supplied, rel=3e-3)


def test_power_saved_is_power_supplied():
    """The integral of the saved source power is the supplied energy of the account."""
    for name, signals in (("rc", ("src.power",)), ("dc_motor", ("src.power", "brake.power")), ("linear_actuator", ("src.power",))):
        samples = ran(name, signals)
        work = sum(np.sum(samples.series(s)[1:]) * samples.attributes["step"] for s in signals)
        assert work == pytest.approx(samples.energy[-1, 1], rel=1e-12)


def test_inputs_that_only_dissipate_are_no_sources():
    """A commanded resistor takes power from the capacitor, it supplies none."""

    text = "use electrical\nc1 capacitor (a, ground) C = 1 mF, start v = 10 V\nr1 variable_resistor (a, ground) R = 100 Ohm * (1 + time/(1 s))\n"
    (samples,) = netsim.load(text + "run transient(stop = 1 s, step = 0.1 ms)\n").run()
    stored, supplied, dissipated = samples.energy[-1]
    assert supplied == 0.0
    assert dissipated == pytest.approx(samples.energy[0, 0] - stored, rel=2e-3)
