"""Every method has the order that theory gives it, at every index where it has one: two-sided, for each kind of variable apart.

The problems have closed solutions. Theory: Hairer and Wanner, Solving Ordinary Differential Equations II, chapters VI and VII (Radau IIA: 5 for
ODEs and index 1, 5 and 3 at index 2, 5, 3 and 2 at index 3).
"""

import dataclasses

import numpy as np
import pytest

import netsim
from netsim.analyses import adaptive, methods

# Index 0 and 1: x'' = -x - x^3 ... forced so that x = sin t; a source resistor's current is algebraic.
OSCILLATOR = """
use translational
m1 mass  (a)  m = 1 kg, start x = 0 m, start v = 1 m/s
f1 force (a)  F = -(1 N/m)*a.x - (1 N/m)*a.x*(a.x/(1 m))^2 + 1 N*sin(time/(1 s))^3
run transient(stop = 1 s)
"""

# Index 1: v across the capacitor obeys v' = (s - v)/tau with v = sin t; the source's current is algebraic.
CIRCUIT = """
use electrical
v1 voltage   (a, ground)  v = 1 V*(sin(time/(1 s)) + cos(time/(1 s)))
r1 resistor  (a, b)       R = 1 Ohm
c1 capacitor (b, ground)  C = 1 F
run transient(stop = 1 s)
"""

# Index 2: a capacitor at a voltage source; its current is C s' and a second loop integrates it.
LOOP = """
use electrical
v1 voltage   (a, ground)  v = 1 V*(2 + sin(time/(1 s)))
c1 capacitor (a, ground)  C = 1 F
c2 capacitor (a, b)       C = 1 F
r2 resistor  (b, ground)  R = 1 Ohm
run transient(stop = 1 s)
"""

# Index 3: a pendulum driven along phi = sin t by a prescribed moment of its own; x, v and the joint's force are known.
PENDULUM = """
use planar
world gravity = [0, 0, 0] m/s2
b1 planar_body     (rod)          m = 1 kg, I = 1 kg.m2, at = [1, 0] m
j1 planar_revolute (ground, rod)  at = [0, 0] m
t1 planar_moment   (rod)          M = -2 N.m*sin(time/(1 s))
start rod.w = 1 rad/s
run transient(stop = 1 s)
"""


def errors(text, method, counts, save, exact, forces="method"):
    """Errors at t = 1 s over numbers of equal steps: a row per number, a column per signal."""
    model, found = netsim.load(text), []
    for n in counts:
        result = model.transient(stop=1.0, step=1.0 / n, method=method, forces=forces, save=list(save))
        found.append([abs(float(result[name][-1]) - value) for name, value in zip(save, exact)])
    return np.array(found)


def orders(found, counts):
    return np.log(found[:-1] / found[1:]) / np.log(np.array(counts[1:]) / np.array(counts[:-1]))[:, None]


def assert_orders(found, counts, wanted):
    seen = orders(found, counts)[-1]
    assert np.all(np.abs(seen - wanted) < 0.15), f"orders {np.round(seen, 2)}, wanted {wanted}; errors {found}"


COARSE, FINE = (10, 20, 40), (160, 320, 640)


@pytest.mark.parametrize(("method", "counts", "order"), [("radau", COARSE, 5), ("trbdf2", FINE, 2), ("rk45", COARSE, 5), ("euler", FINE, 1)])
def test_index_0(method, counts, order):
    found = errors(OSCILLATOR, method, counts, ("a.x", "a.v"), (np.sin(1), np.cos(1)))
    assert_orders(found, counts, (order, order))


@pytest.mark.parametrize(("method", "counts", "order"), [("radau", (4, 8, 16), 5), ("trbdf2", FINE, 2), ("rk45", (8, 16, 32), 5), ("euler", FINE, 1)])
def test_index_1(method, counts, order):
    """The capacitor begins at 1 V: its transient exp(-t) belongs to the solution. r1.i is algebraic."""
    found = errors(CIRCUIT, method, counts, ("b.v", "r1.i"), (np.sin(1) + np.exp(-1), np.cos(1) - np.exp(-1)))
    assert_orders(found, counts, (order, order))


LOOP_END = (np.cos(1) + np.sin(1)) / 2 - np.exp(-1) / 2


@pytest.mark.parametrize(("method", "counts", "order"), [("radau", (5, 10, 20), 5), ("trbdf2", FINE, 2), ("euler", FINE, 1)])
def test_index_2_differential(method, counts, order):
    assert_orders(errors(LOOP, method, counts, ("b.v",), (LOOP_END,)), counts, (order,))


@pytest.fixture
def bare(monkeypatch):
    """Steps as the method gives them: without the projection that ends them in every run of a user."""
    monkeypatch.setattr(adaptive, "_plan", lambda *_: (adaptive.compiled_plan(None), None))


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(("method", "counts", "order"), [("radau", (5, 10, 20), 3), ("euler", FINE, 1)])
def test_index_2_algebraic(method, counts, order):
    assert_orders(errors(LOOP, method, counts, ("c1.i",), (np.cos(1),)), counts, (order,))


PENDULUM_END = (np.cos(np.sin(1)), -np.sin(np.sin(1)) * np.cos(1))
FORCE = np.cos(np.sin(1)) * -(np.cos(1) ** 2) + np.sin(np.sin(1)) * np.sin(1)
"""The acceleration of the centre along x, times 1 kg."""


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(("method", "counts", "wanted"), [("radau", (20, 30, 45), (5, 3, 2)), ("euler", FINE, (1, 1, 1))])
def test_index_3_direct(method, counts, wanted):
    """Positions, velocities and multipliers apart."""
    found = errors(PENDULUM, method, counts, ("rod.r.x", "rod.v.x", "j1.force.x"), (*PENDULUM_END, FORCE))
    assert_orders(found, counts, wanted)


@pytest.mark.parametrize(("method", "counts", "order"), [("radau", (20, 30, 45), 5), ("euler", FINE, 1)])
def test_index_3_projected(method, counts, order):
    """As users run it: velocities are projected after every step and forces recovered, and all three have the method's full order."""
    found = errors(PENDULUM, method, counts, ("rod.r.x", "rod.v.x", "j1.force.x"), (*PENDULUM_END, FORCE), "recovered")
    assert_orders(found[:, :2], counts, (order,) * 2)
    assert np.all(found[:, 2] <= found[:, 1])  # the recovered force is as good as the velocity


@pytest.mark.parametrize("highest", [1, 2, 3])
def test_bdf_of_every_order(highest, monkeypatch):
    """With the order held below 4, equal steps show it (orders 4 and 5 cannot start from exact values: see the tests of tolerances)."""

    def prepare(machine, factor, plan):
        from netsim.integrators import bdf

        return bdf.prepare(machine.system.n, machine.system.layout.nk, machine.system.layout.nq, highest), []

    monkeypatch.setitem(methods.METHODS, "bdf", dataclasses.replace(methods.METHODS["bdf"], prepare=prepare))
    counts = (80, 160, 320)
    found = errors(OSCILLATOR, "bdf", counts, ("a.x", "a.v"), (np.sin(1), np.cos(1)))
    assert_orders(found, counts, (min(highest, 2),) * 2)  # the first steps have order 1: they leave errors of order 2


@pytest.mark.parametrize(("method", "text"), [("rk45", LOOP), ("rk45", PENDULUM), ("trbdf2", PENDULUM)])
def test_refused_where_there_is_no_order(method, text):
    with pytest.raises(netsim.InputError, match="E426"):
        netsim.load(text).transient(stop=1.0, method=method)
