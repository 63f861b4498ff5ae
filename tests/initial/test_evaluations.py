"""A search for a start evaluates kernels by NumPy at first, then by machine code: the same values."""

import numpy as np

import netsim
from netsim.initial.stages import FEW, Stages, derivative, partials_in

TEXT = """
use electrical
v1 voltage (a, ground) v = 2 V
r1 resistor (a, b) R = 1 kOhm
d1 diode (b, ground) Is = 1e-12 A, N = 1.05
c1 capacitor (b, ground) C = 1 uF
l1 inductor (b, c) L = 1 mH
r2 resistor (c, ground) R = 50 Ohm
run transient(stop = 1 ms)
"""


def test_machine_code_takes_over_with_the_same_values():
    model = netsim.load(TEXT)
    machine, structure = model.machine, model.structure
    size = len(structure.signature.equation)
    stages = Stages(machine, structure.signature, structure.dynamic, np.ones(size, bool), 1.0 / machine.system.nominals)
    g = machine.g.copy()
    layout = machine.system.layout
    g[layout.y : layout.history] = np.random.default_rng(1).uniform(-0.5, 0.5, layout.history - layout.y)
    wanted = np.zeros(machine.system.n + layout.nq, np.int64)
    found = [(partials_in(stages, g), derivative(machine, g, 0, len(wanted), wanted, stages.evaluations)) for _ in range(FEW + 3)]
    assert stages.evaluations.calls and all(count == FEW + 1 for count in stages.evaluations.counts.values())
    for values, residuals in found[1:]:
        np.testing.assert_allclose(values, found[0][0], rtol=1e-13)
        np.testing.assert_allclose(residuals, found[0][1], rtol=1e-12, atol=1e-15)
    assert np.abs(found[0][1]).max() > 0.1
