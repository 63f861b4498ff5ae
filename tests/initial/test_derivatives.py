"""Derivatives by order from machine code are those of the kernels evaluated by NumPy."""

import numpy as np
import pytest

import netsim
from netsim.equations.kernels.reference import evaluate
from netsim.equations.machine import build_machine
from netsim.initial.consistent.derivatives import derivative, derivative_of, partial_values
from netsim.structure.orders import all_equation_numbers

CIRCUIT = """
use electrical
v1 voltage (a, ground) v = 2 V
r1 resistor (a, b) R = 1 kOhm
d1 diode (b, ground) Is = 1e-12 A, N = 1.05
c1 capacitor (b, ground) C = 1 uF
l1 inductor (b, c) L = 1 mH
r2 resistor (c, ground) R = 50 Ohm
run transient(stop = 1 ms)
"""
MECHANISM = """
use spatial
a body (n1) m = 1 kg, I = [[0.1, 0, 0], [0, 0.2, 0], [0, 0, 0.3]] kg.m2
b body (n2) m = 2 kg, I = [[0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.1]] kg.m2
j revolute (n1, n2) at = [0.1, 0, 0] m, axis = [0, 0, 1]
run transient(stop = 1 s)
"""


def by_numpy(machine, batch, kernel, g):
    return evaluate(kernel.program, g[machine.system.gather(batch, kernel)], g[machine.system.layout.uniforms], machine.parameters[id(batch)])


def point(machine):
    g, layout = machine.g.copy(), machine.system.layout
    g[layout.x :] = np.random.default_rng(1).uniform(-0.5, 0.5, len(g) - layout.x)
    return g


@pytest.mark.parametrize("text", [CIRCUIT, MECHANISM], ids=["circuit", "mechanism"])
def test_machine_code_gives_what_numpy_does(text):
    machine = netsim.load(text).machine
    system, g = machine.system, point(machine)
    wanted = [by_numpy(machine, batch, batch.kernels.partials, g).ravel() for batch in system.batches]
    np.testing.assert_allclose(partial_values(machine, g), np.concatenate(wanted), rtol=1e-13, atol=1e-300)
    size = system.n + system.layout.nq
    for order in (0, 1, 2):
        found, total = derivative(machine, g, order, size, np.full(size, order)), np.zeros(size + 1)
        for batch in system.batches:
            numbers = all_equation_numbers(system, batch)
            np.add.at(total, np.where(numbers < 0, size, numbers), by_numpy(machine, batch, derivative_of(batch, order), g))
        np.testing.assert_allclose(found, total[:size], rtol=1e-12, atol=1e-12 * np.abs(total[:size]).max())
        assert np.abs(found).max() > 1e-3


def test_elements_of_which_nothing_is_wanted_are_not_evaluated():
    machine = netsim.load(CIRCUIT).machine
    size = machine.system.n + machine.system.layout.nq
    highest = np.full(size, -1)
    numbers = all_equation_numbers(machine.system, machine.system.batches[-1])
    highest[numbers[numbers >= 0]] = 0
    derivative(machine, point(machine), 0, size, highest)
    ((order, among),) = machine.beside
    assert order == 0 and 0 < len(among) < len(machine.system.batches)


def test_threads_and_parameters_share_no_numbers():
    """The tables belong to one machine: with other values there are others; what they give is nobody else's array."""
    model = netsim.load(CIRCUIT)
    machine, g = model.machine, point(model.machine)
    first = partial_values(machine, g)
    other = build_machine(machine.system, model.with_params({"r1.R": 2e3}).values)
    assert not np.array_equal(partial_values(other, g), first) and np.array_equal(partial_values(machine, g), first)
