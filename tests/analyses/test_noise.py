"""Effective values of noise where paths cancel or fall off steeply, and elements that state none."""

import time as clock

import numpy as np
import pytest

import netsim

K_T = 1.380649e-23 * 293.15
BAND = {"from_": 1.0, "to": 1e6}


def ladder(sections: int) -> str:
    parts = [f"r{k} resistor (n{k}, n{k + 1}) R = 1 Ohm\nc{k} capacitor (n{k + 1}, ground) C = 1 F\n" for k in range(sections)]
    return "use electrical\nsrc voltage (n0, ground) v = 1 V\n" + "".join(parts)


@pytest.mark.parametrize("sections", [10, 60, 400])
def test_parts_that_fall_off_by_hundreds_of_decades_are_finite(sections):
    """The noise of the first resistors does not come through a long ladder: densities fall below 1e-300 there."""
    found = netsim.load(ladder(sections)).noise(output=f"n{sections}.v", from_=1e-8, to=1e3)
    parts = [found.attrs[f"measure.r{k}"] for k in range(sections)]
    assert np.isfinite(parts).all()
    assert np.sqrt(np.sum(np.square(parts))) == pytest.approx(found.attrs["measure.output"], rel=1e-6)
    assert found.attrs["measure.output"] == pytest.approx(np.sqrt(K_T), rel=1e-3)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_a_noise_that_cancels_takes_no_time(size):
    """Of a common resistance nothing is left between two equal paths but rounding, which is no curve to integrate."""
    text = f"""use electrical
    v1 voltage   (a, ground) v = 0 V
    r1 resistor  (a, b)      R = {1e3 * size} Ohm
    r2 resistor  (b, c)      R = {1e3 * size} Ohm
    r3 resistor  (b, d)      R = {1e3 * size} Ohm
    c1 capacitor (c, ground) C = {1e-9 / size} F
    c2 capacitor (d, ground) C = {1e-9 / size} F
    """
    begin = clock.process_time()
    found = netsim.load(text).noise(output="c.v - d.v", **BAND)
    assert clock.process_time() - begin < 10.0  # a part of rounding was halved for three minutes
    assert found.attrs["measure.r1"] < 1e-12 * found.attrs["measure.output"]
    assert found["output"].values[0] == pytest.approx(np.sqrt(8 * K_T * 1e3 * size), rel=1e-9)


@pytest.mark.parametrize("line, told", [("z1 zener_diode (ground, b)", "'z1'"), ("r2 resistor (b, ground) R = 1 kOhm", "")])
def test_elements_with_losses_that_state_no_noise_are_named(line, told):
    text = f"use electrical\nv1 voltage (a, ground) v = 1 V\nr1 resistor (a, b) R = 1 kOhm\n{line}\n"
    notes = netsim.load(text).noise(output="b.v", **BAND).attrs["notes"]
    assert notes == (f"without noise, though they have losses: {told}" if told else "")
