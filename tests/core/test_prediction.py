"""First guesses of TR-BDF2: polynomials through the last points, which leave Newton's method two corrections a stage."""

import numpy as np
import pytest

import netsim
from netsim.core.methods.prediction import weights

INVERTERS = """inverters
vdd vdd 0 2.5
vin n0 0 pulse(0 2.5 0.2n 0.1n 0.1n 1n 3n)
{gates}.model mn nmos level=1 vto=0.5 kp=120u lambda=0.04
.model mp pmos level=1 vto=-0.5 kp=40u lambda=0.05
.save v(n{last})
.tran 0.02n 3n
.end
"""
GATE = """mp{k} n{k} n{before} vdd vdd mp w=4u l=0.5u
mn{k} n{k} n{before} 0 0 mn w=2u l=0.5u
c{k} n{k} 0 5f
"""


@pytest.mark.parametrize("count", [2, 3, 4])
def test_the_polynomial_through_points_is_exact_to_its_degree(count):
    instants, found = np.array([0.6, 0.0, -0.3, -0.7]), np.zeros(4)
    weights(instants, count, 1.0, found)
    for degree in range(count):
        assert found[:count] @ instants[:count] ** degree == pytest.approx(1.0, abs=1e-12)
    assert found[:count] @ instants[:count] ** count != pytest.approx(1.0, abs=1e-3)


def test_gates_take_little_more_than_two_corrections_a_stage(tmp_path):
    file, last = tmp_path / "inverters.cir", 12
    gates = "".join(GATE.format(k=k, before=k - 1) for k in range(1, last + 1))
    file.write_text(INVERTERS.format(gates=gates, last=last))
    about = netsim.load(file).transient(stop=3e-9, method="trbdf2", rtol=1e-3, save=[f"n{last}.v"]).attrs
    tried = about["steps"] + about["rejected"] + about["failed"]
    assert about["iterations"] < 2 * 2.6 * tried  # two stages; without predictions 3.0 a stage
