"""Circuits of index 2 at random: loops of capacitors and voltage sources, cut-sets of inductors and current sources.

Compared with a dense solution of their own: the equations E x' + A x = b e^{iwt} of nodal analysis have the solution x = Re(X e^{iwt}) with
(iw E + A) X = b. A run that begins on it stays there: every voltage and current is known, also those of index 2 (currents of sources in such loops,
voltages of sources in such cut-sets).
"""

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


def with_island(seed: int) -> list[tuple[str, int, int, float]]:
    """The circuit with three more nodes that resistors join, two of them in parallel, between a current source and two inductors."""
    rng = np.random.default_rng(100 + seed)
    more = [("i", 6, 0), ("r", 6, 7), ("r", 6, 7), ("r", 7, 8), ("r", 6, 8), ("l", 8, 3), ("l", 7, 0)]
    return [*circuit(seed), *((kind, a, b, float(rng.uniform(0.5, 2.0))) for kind, a, b in more)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "rk45", "rk8"])
def test_resistors_within_a_cut_set(seed, method):
    """The potentials of their ends appear as differences only, in every balance: no first sample, no explicit method and no time event knew the
    sum of the balances that constrains the inductors."""
    edges = with_island(seed)
    assert netsim.load(netlist(edges)).structure.index == 2
    assert error(edges, rtol=1e-6, method=method) < 20e-6


SERIES = {
    "circuit": """use electrical
s current (ground, a) I = 3 A*{wave}
r resistor (a, b) R = 2 Ohm
l inductor (b, ground) L = 2 H
save b.v, a.v
""",
    "two diodes": """use electrical
s current (ground, a) I = 3 A*{wave}
d1 exponential_diode (a, b) Is = 1 pA, Vt = 0.03 V, R = 1 MOhm
d2 exponential_diode (c, a) Is = 1 pA, Vt = 0.03 V, R = 1 MOhm
r resistor (b, c) R = 2 Ohm
l inductor (b, ground) L = 2 H
save b.v
""",
    "pump and pipe": """use hydraulic
s flow (ground, a) Q = 3 m3/s*{wave}
r pipe (a, b) R = 2 Pa.s/m3, k = 1 Pa.s2/m6
l inertance (b, ground) L = 2 kg/m4
save b.p
""",
    "magnetic circuit": """use magnetic
s prescribed_flux (a, ground) flux = 3 Wb*{wave}
r permeance (a, b) G = 1.7e-4 H
l eddy_current (b, ground) G = 2 S
save b.V
""",
}


@pytest.mark.parametrize("name", SERIES)
@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "rk45", "generalized_alpha"])
def test_what_an_inductor_sees_behind_a_resistor(name, method):
    """v = L I' at every sample, from the first on, and behind each corner of I too."""
    wave = "(sin(14.8 rad/s*time + 2.75) + 5*(ramp(time, 0.1 s) - ramp(time, 0.3 s))/(1 s))"
    model = netsim.load(SERIES[name].format(wave=wave) + "run transient(stop = 0.5 s, sample = 7 ms)\n")
    (samples,) = model.samples({"method": method, "rtol": 1e-6} if method != "generalized_alpha" else {"method": method})
    t = samples.time
    right = 6.0 * (14.8 * np.cos(14.8 * t + 2.75) + np.where((t > 0.1) & (t < 0.3), 5.0, 0.0))
    found = samples.values[:, 0] * np.sign(np.dot(samples.values[:, 0], right))
    assert samples.finished, samples.message
    assert np.abs(found - right).max() <= 2e-4 * np.abs(right).max()
