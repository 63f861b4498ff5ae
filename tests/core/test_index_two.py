"""Circuits of index 2 at random: loops of capacitors and voltage sources, cut-sets of inductors and current sources.

Compared with a dense solution of their own: the equations E x' + A x = b e^{iwt} of nodal analysis have the solution x = Re(X e^{iwt}) with
(iw E + A) X = b. A run that begins on it stays there: every voltage and current is known, also those of index 2 (currents of sources in such loops,
voltages of sources in such cut-sets).
"""

from __future__ import annotations

import numpy as np
import pytest

import netsim

OMEGA = 2.0
STOP = 3.0
KINDS = {"v": "voltage", "c": "capacitor", "r": "resistor", "l": "inductor", "i": "current"}
VALUES = {"v": "v", "i": "I", "c": "C", "l": "L", "r": "R"}
UNITS = {"v": "V", "i": "A", "c": "F", "l": "H", "r": "Ohm"}


def circuit(seed: int) -> list[tuple[str, int, int, float]]:
    """(kind, node, node, value), node 0 being ground: resistors from everywhere, a loop of three capacitors over a voltage source, a node that only
    inductors and a current source reach, and some more elements between random nodes."""
    rng = np.random.default_rng(seed)

    def value() -> float:
        return float(rng.uniform(0.5, 2.0))

    edges = [("v", 1, 0, value()), ("c", 1, 2, value()), ("c", 2, 0, value()), ("c", 1, 0, value())]
    edges += [("l", 3, 4, value()), ("l", 4, 2, value()), ("i", 4, 0, value()), ("r", 3, 0, value()), ("r", 5, 2, value()), ("r", 5, 3, value())]
    for kind in rng.choice(["c", "l", "r"], 4):
        a, b = rng.choice([0, 1, 2, 3, 5], 2, replace=False)
        edges.append((str(kind), int(a), int(b), value()))
    return edges


def exact(edges) -> tuple[np.ndarray, np.ndarray]:
    """Phasors of node voltages (ground among them) and of branch currents from the first to the second node."""
    nodes = 1 + max(max(a, b) for _, a, b, _ in edges)
    size = nodes + len(edges)
    matrix, right = np.zeros((size, size), complex), np.zeros(size, complex)
    matrix[0, 0] = 1.0  # ground
    for k, (kind, a, b, value) in enumerate(edges):
        row, current = nodes + k, nodes + k
        for node, sign in ((a, 1.0), (b, -1.0)):
            if node:
                matrix[node, current] += sign
        voltage = {"v": 1.0, "r": 1.0, "l": 1.0, "c": 1j * OMEGA * value, "i": 0.0}[kind]
        matrix[row, a] += voltage
        matrix[row, b] -= voltage
        matrix[row, current] = {"v": 0.0, "r": -value, "l": -1j * OMEGA * value, "c": -1.0, "i": 1.0}[kind]
        right[row] = value if kind in "vi" else 0.0
    found = np.linalg.solve(matrix, right)
    return found[:nodes], found[nodes:]


def states(edges) -> list[int]:
    """Elements whose voltage or current is a state: capacitors of a proper tree (sources, capacitors, ..., inductors) and inductors outside."""
    parent = list(range(1 + max(max(a, b) for _, a, b, _ in edges)))

    def root(n: int) -> int:
        return n if parent[n] == n else root(parent[n])

    found = []
    for kind in "vcrli":
        for k, (each, a, b, _) in enumerate(edges):
            if each == kind:
                joins = root(a) != root(b)
                parent[root(a)] = root(b)
                if (kind == "c" and joins) or (kind == "l" and not joins):
                    found.append(k)
    return found


def netlist(edges) -> str:
    def name(n: int) -> str:
        return "ground" if n == 0 else f"n{n}"

    voltages, currents = exact(edges)
    lines = ["use electrical"]
    for k, (kind, a, b, value) in enumerate(edges):
        driven = f"*cos({OMEGA}*time/(1 s))" if kind in "vi" else ""
        ends = (b, a) if kind == "i" else (a, b)  # a current source delivers at its first node
        lines.append(f"{kind}{k} {KINDS[kind]} ({name(ends[0])}, {name(ends[1])}) {VALUES[kind]} = {value!r} {UNITS[kind]}{driven}")
    for k in states(edges):
        kind, a, b, _ = edges[k]
        start = f"v = {float((voltages[a] - voltages[b]).real)!r} V" if kind == "c" else f"i = {float(currents[k].real)!r} A"
        lines.append(f"start {kind}{k}.{start}")
    return "\n".join(lines)


def error(edges, **options) -> float:
    """The largest error of any voltage or current over the run, as a part of the largest of all."""
    voltages, currents = exact(edges)
    saves = [f"n{n}.v" for n in range(1, len(voltages))] + [f"{kind}{k}.i" for k, (kind, *_) in enumerate(edges)]
    result = netsim.load(netlist(edges)).transient(stop=STOP, sample=0.25, save=saves, **options)
    phasors = np.concatenate([voltages[1:], currents])
    turned = (phasors[:, None] * np.exp(1j * OMEGA * result.time.values)).real
    found = np.array([result[name].values for name in saves])
    return float(np.abs(found - turned).max() / np.abs(phasors).max())


@pytest.mark.parametrize("seed", range(6))
def test_every_voltage_and_current_of_a_circuit_of_index_two(seed):
    edges = circuit(seed)
    assert netsim.load(netlist(edges)).structure.index == 2
    assert error(edges, rtol=1e-8) < 1e-6


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "generalized_alpha"])
def test_methods_honour_the_tolerance_at_index_two(method):
    """A hundredth of rtol leaves less than a twentieth of the error, and neither leaves more than fifty times rtol."""
    edges = circuit(0)
    coarse, fine = (error(edges, rtol=rtol, method=method) for rtol in (1e-4, 1e-6))
    assert fine < coarse / 20
    assert coarse < 50e-4
    assert fine < 50e-6
