"""Equilibria with states that nothing determines: integrators of zero, currents around a loop of coils. They stay where
their starts are, as masses do that nothing holds."""

import numpy as np
import pytest

import netsim

CHAIN = """use signal
k constant (z) value = {value!r}
i1 integrator (z, a) k = {rate!r} Hz
i2 integrator (a, b) k = {rate!r} Hz, start y = {start!r}
save a, b
"""


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_integrators_in_series_at_zero_input(scale):
    model = netsim.load(CHAIN.format(value=0.0, rate=1.0 / scale, start=3.0 * scale))
    found = model.static()
    assert (found["a"].item(), found["b"].item()) == (0.0, 3.0 * scale)
    assert found.attrs["stability"] == "neutral" and found.attrs["free"] == "nothing determines the value of 'b'"
    assert np.abs(model.poles()["real"].values).max() == 0.0


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_what_integrates_a_position_that_is_free(scale):
    """The integrator rests where the position is zero, so that nothing but the integral is free."""
    text = f"""use signal
    use translational
    m mass (n) m = {scale!r} kg
    d damper (n, ground) d = {scale!r} N.s/m
    s signal_source (q) value = n.x/({scale!r} m)
    i integrator (q, b)  start y = {scale!r}
    """
    found = netsim.load(text).static()
    assert found["n.x"].item() == 0.0 and found["b"].item() == scale


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_behind_a_nonlinear_circuit(scale):
    circuit = f"""use electrical
    v voltage (a, ground) v = 1 V
    r resistor (a, b) R = {scale!r} Ohm
    d diode (b, ground) Is = 1 pA*{1.0 / scale!r}
    """
    free = f"use signal\nk constant (z) value = 0\ni integrator (z, y) start y = {scale!r}\n"
    found, alone = netsim.load(circuit + free).static(), netsim.load(circuit).static()
    assert found["y"].item() == scale and found["b.v"].item() == pytest.approx(alone["b.v"].item(), rel=1e-12)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_currents_around_a_loop_of_coils(scale):
    text = f"""use electrical
    v voltage (o, ground) v = 1 V
    r resistor (o, p) R = {scale!r} Ohm
    l1 inductor (p, ground) L = {scale!r} H
    l2 inductor (p, ground) L = {scale!r} H
    save p.v, l1.i, l2.i
    """
    found = netsim.load(text).static()
    assert found["l1.i"].item() + found["l2.i"].item() == pytest.approx(1.0 / scale, rel=1e-12)
    assert found.attrs["stability"] == "neutral" and abs(found["p.v"].item()) < 1e-12


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
def test_what_is_integrated_and_is_not_zero_is_told(scale):
    with pytest.raises(netsim.SimulationError, match=r"nothing determines the value of 'b'.*'a'.*contradict one another") as told:
        netsim.load(CHAIN.format(value=scale, rate=1.0, start=0.0)).static()
    assert "close a loop" in str(told.value) and "spring" not in str(told.value)
