"""A component from outside: a text beside the netlist that uses it."""

from pathlib import Path

import numpy as np
import pytest

import netsim

TEXT = f"""
use "{Path(__file__).with_name("zinc_oxide.lib")}"
i1 current  (a, ground)  I = {{current}}
z1 zinc_oxide (a, ground)  V0 = 100 V, alpha = 5
run static()
save a.v, z1.loss
"""


@pytest.mark.parametrize("current", [1e-3, -1e-3, 2e-3, 1.0])
def test_its_law(current):
    """|i| = I0 (|v|/V0)^alpha."""
    (found,) = netsim.load(TEXT.format(current=f"{current} A")).samples()
    v = np.sign(current) * 100 * (abs(current) / 1e-3) ** 0.2
    assert found.series("a.v")[0] == pytest.approx(v, rel=1e-9) and found.series("z1.loss")[0] == pytest.approx(v * current, rel=1e-9)


def test_its_bounds():
    with pytest.raises(netsim.InputError, match=r"V0"):
        netsim.load(TEXT.format(current="1 A").replace("V0 = 100 V", "V0 = -1 V")).samples()
