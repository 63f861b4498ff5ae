"""Charges, currents and energies of junctions keep all digits at voltages far below the junction's own."""

import numpy as np
import pytest

from netsim.text.expressions.junctions import depletion, depletion_energy, junction, junction_energy


@pytest.mark.parametrize("v", [1e-12, -1e-9, 1e-6, -1e-4])
def test_small_voltages_lose_no_digits(v):
    """Taylor series to v^4: a charge known to a rounding of C V is the noise of a current in short steps."""
    C, V, M = 0.4, 0.9, 0.33
    x = v / V
    charge = C * v * (1 + M * x / 2 + M * (M + 1) * x**2 / 6 + M * (M + 1) * (M + 2) * x**3 / 24)
    energy = C * v**2 * (1 / 2 + M * x / 3 + M * (M + 1) * x**2 / 8)
    assert depletion(v, C, V, M, 0.5) == pytest.approx(charge, rel=4e-15)
    assert depletion_energy(v, C, V, M, 0.5) == pytest.approx(energy, rel=1e-12 + 1e-15 / abs(x))
    current = 3e-8 * (x + x**2 / 2 + x**3 / 6 + x**4 / 24)
    work = 3e-8 * V * (x**2 / 2 + x**3 / 3 + x**4 / 8)
    assert junction(v, 3e-8, V, 1.0) == pytest.approx(current, rel=4e-15)
    assert junction_energy(v, 3e-8, V, 1.0) == pytest.approx(work, rel=1e-12 + 1e-15 / abs(x))


@pytest.mark.parametrize("v", [-30.0, -0.6, 0.3, 0.449, 0.46, 0.8, 2.0])
def test_energies_are_integrals_of_voltage_over_charge(v):
    """Also behind the voltages from which capacitance and current go on along straight lines (0.45 V, 0.69 V)."""
    u, w = np.polynomial.legendre.leggauss(60)
    corners = ((depletion, depletion_energy, (0.4, 0.9, 0.33, 0.5), 0.45), (junction, junction_energy, (1e-6, 0.05, 1.0), 0.05 * np.log1p(1e6)))
    for q, energy, constants, corner in corners:
        total = 0.0
        for a, b in ((0.0, min(v, corner)), (min(v, corner), v)):  # by parts: v q less the integral of q dv
            values = np.array([q((a + b) / 2 + (b - a) / 2 * at, *constants) for at in u])
            total += b * q(b, *constants) - a * q(a, *constants) - (b - a) / 2 * w @ values
        assert energy(v, *constants) == pytest.approx(total, rel=1e-9)
