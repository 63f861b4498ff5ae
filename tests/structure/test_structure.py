"""The structural diagnosis against independent oracles: graph theory for circuits, dense ranks for matrices, mechanics for smoothness."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from netsim.core.linear.columns import columns_of
from netsim.equations.batches import form_of
from netsim.equations.messages import quoted
from netsim.equations.system import System, build_system
from netsim.library.files import models_folder, read_program
from netsim.network.expansion import build_network
from netsim.structure.causes import Picture
from netsim.structure.findings import findings
from netsim.structure.nullspace import null_basis, supports
from netsim.structure.of_time.smoothness import needed_smoothness
from netsim.structure.roles import CONDUCTS, FEEDS, OPEN, STORES, links
from netsim.text.errors import Problem
from netsim.text.parse import parse


def system_of(text: str) -> System:
    return build_system(build_network(parse(text, "test.net")))


def found(text: str) -> list[Problem]:
    return findings(system_of(text))


def codes(text: str) -> list[str]:
    return [problem.code for problem in found(text) if not problem.is_note]


# ----------------------------------------------------------------------------------------- null spaces


@pytest.mark.parametrize(("n", "rank"), [(6, 6), (6, 5), (9, 4), (30, 27), (5, 0)])
def test_null_basis_has_the_dimension_of_the_dense_null_space(n: int, rank: int) -> None:
    rng = np.random.default_rng(n + rank)
    dense = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, n)) * 10.0 ** rng.integers(-4, 4, n)[:, None]
    basis, scale = null_basis(columns_of(dense.ravel(), *np.indices(dense.shape).reshape(2, -1), dense.shape).nonzero)
    assert basis.shape[1] == n - rank
    residual = (dense / np.maximum(abs(dense).max(axis=1, keepdims=True), 1e-300)) @ (scale[:, None] * basis)
    assert np.abs(residual).max(initial=0.0) < 1e-9


def test_independent_causes_fall_into_separate_supports() -> None:
    island = np.array([[1.0, -1.0], [-1.0, 1.0]])
    whole = sp.coo_array(sp.block_diag([island, np.eye(2), 3 * island, np.zeros((1, 1))]))
    basis, _ = null_basis(columns_of(whole.data, whole.row, whole.col, whole.shape))
    assert supports(basis) == [frozenset({0, 1}), frozenset({4, 5}), frozenset({6})]


# --------------------------------------------------------------------------------------------- circuits

BRANCHES = st.lists(st.tuples(st.sampled_from("RVIC"), st.integers(0, 4), st.integers(0, 4)).filter(lambda b: b[1] != b[2]), min_size=1, max_size=8)
LINE = {"R": "resistor ({}, {}) R = 1 Ohm", "V": "voltage ({}, {}) v = 1 V", "I": "current ({}, {}) I = 1 A", "C": "capacitor ({}, {}) C = 1 F"}


def connected(branches: list[tuple[str, int, int]], kinds: str, used: set[int]) -> bool:
    graph = nx.Graph([(p, n) for kind, p, n in branches if kind in kinds])
    graph.add_nodes_from(used | {0})
    return nx.is_connected(graph)


@settings(max_examples=150)
@given(BRANCHES)
def test_circuits_are_judged_as_graph_theory_does(branches: list[tuple[str, int, int]]) -> None:
    """Resistors, capacitors and sources have a unique solution unless voltage sources close a loop or a node reaches ground through
    current sources only; their static solution unless a node reaches ground through capacitors only (any textbook of network theory)."""
    lines = [f"e{i} " + LINE[kind].format(*("ground" if n == 0 else f"n{n}" for n in (p, q))) for i, (kind, p, q) in enumerate(branches)]
    used = {n for _, p, q in branches for n in (p, q)}
    loops = nx.MultiGraph([(p, q) for kind, p, q in branches if kind == "V"])
    errors = set(codes("use electrical\n" + "\n".join(lines) + "\n"))
    assert ("E303" in errors) == bool(nx.cycle_basis(nx.Graph(loops)) or loops.number_of_edges() > nx.Graph(loops).number_of_edges())
    afloat = not connected(branches, "RVC", used)
    assert bool(errors & {"E301", "E305"}) == afloat
    if not afloat:
        assert ("E302" in errors) == (not connected(branches, "RV", used))
    assert errors <= {"E301", "E302", "E303", "E305"}


@pytest.mark.parametrize("path", sorted(models_folder().glob("*.net")), ids=lambda path: path.stem)
def test_healthy_models_give_no_finding(path) -> None:
    assert findings(build_system(build_network(read_program(path)))) == []


EVERYTHING = "".join(f"use {name}\n" for name in ("electrical", "translational", "rotational", "thermal", "signal", "couplings"))

HEALTHY = {
    "resistor chain": """
    count n = 800
    v voltage (t[1], ground) v = 1 V
    r[k] resistor (t[k], t[k+1]) R = 1 Ohm for k in 1..n
    l resistor (t[n+1], ground) R = 1 Ohm
    """,
    "diodes in series": """
    count n = 60
    v voltage (t[1], ground) v = 1 V
    d[k] diode (t[k], t[k+1]) for k in 1..n
    l resistor (t[n+1], ground) R = 1 Ohm
    """,
    "massless ropes": """
    count n = 200
    F force (t[1]) F = 1 N
    r[k] rope (t[k], t[k+1]) c = 1 N/m for k in 1..n
    m mass (t[n+1]) m = 1 kg
    """,
    "gears in series": """
    count n = 100
    F torque (t[1]) T = 1 N.m
    g[k] gear (t[k], t[k+1]) ratio = 2 for k in 1..n
    j inertia (t[n+1]) J = 1 kg.m2
    """,
    "amplifiers in series": """
    count n = 100
    v voltage (t[1], ground) v = 1 V
    a[k] vcvs (t[k+1], ground, t[k], ground) gain = 2 for k in 1..n
    l resistor (t[n+1], ground) R = 1 Ohm
    """,
    "gyrated capacitor": """
    v voltage (a, ground) v = 1 V
    g gyrator (a, ground, b, ground)
    c capacitor (b, ground) C = 1 F
    """,
    "current into inductor": """
    i current (a, ground) I = 1 A
    l inductor (a, ground) L = 1 H
    """,
    "inductor on a source": """
    v voltage (a, ground) v = 1 V
    l inductor (a, ground) L = 1 H
    """,
    "capacitor on a source": """
    v voltage (a, ground) v = 1 V
    c capacitor (a, ground) C = 1 F
    """,
    "free mass": """
    m mass (a) m = 1 kg
    """,
    "free pair": """
    m mass (a) m = 1 kg
    n mass (b) m = 1 kg
    c spring (a, b) c = 1 N/m
    """,
    "driven motor": """
    v voltage (a, ground) v = 1 V * step(time)
    m dc_motor (a, ground, w) R = 1 Ohm, L = 1 H, k = 1 N.m/A
    j inertia (w) J = 1 kg.m2
    """,
    "amplifier with feedback": """
    v voltage (a, ground) v = 1 V
    u opamp (a, o, o)
    r resistor (o, ground) R = 1 Ohm
    """,
}


@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_networks_pass(name: str) -> None:
    assert codes(EVERYTHING + HEALTHY[name]) == []


# ------------------------------------------------------------------------------------- causes and names


def test_one_island_is_one_problem_and_names_its_nodes() -> None:
    text = "use electrical\nv voltage (a, ground) v = 1 V\nr resistor (a, ground) R = 1 Ohm\nx[k] resistor (i[k], i[k+1]) R = 1 Ohm for k in 1..4\n"
    (problem,) = found(text)
    assert problem.code == "E301"
    assert all(f"'i[{k}]'" in problem.message for k in range(1, 6))
    assert problem.mark.startswith("nothing fixes the potential of") and "{" not in problem.mark + problem.hint
    assert problem.span is not None and problem.span.line == 4


def test_a_follower_of_a_floating_node_is_not_blamed() -> None:
    text = "use electrical\nr resistor (o, ground) R = 1 Ohm\ng vcvs (o, ground, a, b) gain = 2\ns resistor (a, b) R = 1 Ohm\n"
    (problem,) = found(text)
    assert problem.code == "E301" and "'a' and 'b'" in problem.message and "'o'" not in problem.message


def test_diagnosis_knows_equations_not_names() -> None:
    text = """
domain electrical
  across  v : V "potential"
  through i : A "current"
  power   v*i
end

component resistor_in_name_only (p, n : electrical)
  param  u : V
  branch p -> n : v, i
  v = u
  singular "two of these meet: take one away"
end

a resistor_in_name_only (x, ground) u = 1 V
b resistor_in_name_only (x, ground) u = 1 V
"""
    (problem,) = found(text)
    assert (problem.code, problem.mark, problem.hint) == ("E303", "two of these meet", "take one away")


@pytest.mark.parametrize(
    ("start", "runs", "expected"),
    [
        ("", "", ["E302"]),
        ("start mid.v = 0 V", "", []),
        ("start c1.v = 0 V", "", []),
        ("guess mid.v = 0 V", "", ["E302"]),
        ("start a.v = 1 V", "", ["E302"]),
        ("", "run transient(stop = 1 s, step = 1 ms, from = rest, method = euler)", []),
        ("", "run transient(stop = 1 s, step = 1 ms, method = euler)", ["E302"]),
        ("start mid.v = 0 V", "run transient(stop = 1 s, step = 1 ms, method = euler)", []),
        ("start mid.v = 0 V", "run static()", ["E302"]),
    ],
)
def test_a_capacitive_node_needs_a_start(start: str, runs: str, expected: list[str]) -> None:
    divider = "use electrical\nv1 voltage (a, ground) v = 1 V\nc1 capacitor (a, mid) C = 1 uF\nc2 capacitor (mid, ground) C = 1 uF\n"
    assert codes(f"{divider}{start}\n{runs}\n") == expected


def test_a_repeated_mistake_is_one_per_kind() -> None:
    (problem,) = found("use electrical\nr[k] resistor (a[k], b[k]) R = 1 Ohm for k in 1..4\n")
    assert problem.code == "E301" and "'a[1]' and 'b[1]'" in problem.message and problem.message.endswith("3 more times")


@pytest.mark.parametrize("text", ["param a = 1\n", "use electrical\nr resistor (ground, ground) R = 1 Ohm\n"])
def test_a_network_without_unknowns_has_no_finding(text: str) -> None:
    assert found(text) == []


def test_an_unconnected_terminal_is_a_note() -> None:
    (problem,) = found("use electrical\nv1 voltage (a, ground) v = 1 V\nr1 resistor (a, b) R = 1 Ohm\n")
    assert problem.code == "N301" and problem.is_note and "only 'r1' is connected to node 'b'" in problem.message


# ------------------------------------------------------------------------------------------------ roles


@pytest.mark.parametrize(
    ("line", "roles"),
    [
        ("e resistor (a, b) R = 1 Ohm", [CONDUCTS]),
        ("e capacitor (a, b) C = 1 F", [STORES]),
        ("e inductor (a, b) L = 1 H", [CONDUCTS]),
        ("e voltage (a, b) v = 1 V", [CONDUCTS]),
        ("e current (a, b) I = 1 A", [FEEDS]),
        ("e transformer (a, b, c, d)", [CONDUCTS, CONDUCTS]),
        ("e vcvs (a, b, c, d) gain = 2", [CONDUCTS, OPEN]),
        ("e vccs (a, b, c, d) g = 2 S", [FEEDS, OPEN]),
        ("e cccs (a, b, c, d) gain = 2", [FEEDS, CONDUCTS]),
        ("e gyrator (a, b, c, d)", [CONDUCTS, CONDUCTS]),
        ("e opamp (a, b, c)", [OPEN, CONDUCTS]),
        ("e diode (a, b)", [CONDUCTS]),
        ("e emf (a, b, w) k = 1 N.m/A", [CONDUCTS, CONDUCTS]),
        ("e mass (x) m = 1 kg", [CONDUCTS]),
        ("e force (x) F = 1 N", [FEEDS]),
        ("e heated_resistor (a, b, h) R = 1 Ohm", [CONDUCTS, CONDUCTS]),
        ("e heated_damper (x, y, h) d = 1 N.s/m", [CONDUCTS, FEEDS]),
    ],
)
def test_roles_of_branches(line: str, roles: list[str]) -> None:
    network = build_network(parse(f"use electrical\nuse translational\nuse thermal\nuse couplings\n{line}\n", "test.net"))
    instance = network.instances[0]
    assert [link.role for link in links(form_of(instance), instance.component)] == roles


# ------------------------------------------------------------------------------------------- smoothness

SMOOTHNESS = {
    "displacement on a mass": (2, ["s displacement (a, ground) s = 1 m*step(time)", "m mass (a) m = 1 kg"]),
    "displacement on a mass behind a weld": (2, ["s displacement (a, ground) s = 1 m*step(time)", "w weld (a, b)", "m mass (b) m = 1 kg"]),
    "displacement on a mass behind a lever": (2, ["s displacement (a, ground) s = 1 m*step(time)", "l lever (a, b)", "m mass (b) m = 1 kg"]),
    "displacement on a mass behind a spring": (
        0,
        ["s displacement (a, ground) s = 1 m*step(time)", "c spring (a, b) c = 1 N/m", "m mass (b) m = 1 kg"],
    ),
    "displacement on a damper": (0, ["s displacement (a, ground) s = 1 m*step(time)", "d damper (a, ground) d = 1 N.s/m"]),
    "velocity on a mass": (1, ["s velocity (a, ground) v = 1 m/s*step(time)", "m mass (a) m = 1 kg"]),
    "velocity on a damper": (-1, ["s velocity (a, ground) v = 1 m/s*step(time)", "d damper (a, ground) d = 1 N.s/m"]),
    "force on a mass": (-1, ["F force (a) F = 1 N*step(time)", "m mass (a) m = 1 kg"]),
    "force on a massless spring": (-1, ["F force (a) F = 1 N*step(time)", "c spring (a, ground) c = 1 N/m"]),
    "voltage on a resistor": (-1, ["v voltage (a, ground) v = 1 V*step(time)", "r resistor (a, ground) R = 1 Ohm"]),
    "voltage on a capacitor": (1, ["v voltage (a, ground) v = 1 V*step(time)", "c capacitor (a, ground) C = 1 F"]),
    "voltage on an inductor": (-1, ["v voltage (a, ground) v = 1 V*step(time)", "l inductor (a, ground) L = 1 H"]),
    "current into an inductor": (0, ["i current (a, ground) I = 1 A*step(time)", "l inductor (a, ground) L = 1 H"]),
    "rack on a mass": (2, ["s angle (w, ground) phi = 1 rad*step(time)", "r rack_pinion (w, x) r = 1 m", "m mass (x) m = 1 kg"]),
    "signal as a displacement": (2, ["b signal_source (y) value = step(time)", "s displacement (a, ground) s = 1 m*b.y", "m mass (a) m = 1 kg"]),
}


@pytest.mark.parametrize("name", SMOOTHNESS)
def test_smoothness_follows_from_the_structure(name: str) -> None:
    expected, lines = SMOOTHNESS[name]
    text = EVERYTHING + "\n".join(lines) + "\n"
    system = system_of(text)
    (prescribed,) = [d for d in system.prescribed_inputs if d.stage == 1]
    (need,) = needed_smoothness(Picture(system), [int(prescribed.numbers[0, 0])])
    assert max(need.smoothness, -1) == expected
    assert (codes(text) == ["E306"]) == (expected > -1)


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        ("bell(time, at = 1 s, width = 1 s)", []),
        ("sin(time/(1 s))", []),
        ("step(time)", ["E306"]),
        ("ramp(time)/(1 s)", ["E306"]),
        ("(if time < 1 s then 0 else 1)", ["E306"]),
        ("abs(sin(time/(1 s)))", ["E306"]),
    ],
)
def test_rough_laws_on_masses_are_refused(law: str, expected: list[str]) -> None:
    assert codes(f"use translational\ns displacement (a, ground) s = 1 mm*{law}\nm mass (a) m = 1 kg\n") == expected


def test_a_kink_in_a_voltage_on_a_capacitor_is_a_note() -> None:
    text = "use electrical\nv voltage (a, ground) v = 1 V*pulse(time, width = 1 s, rise = 1 s, fall = 1 s)\nc capacitor (a, ground) C = 1 F\n"
    assert [problem.code for problem in found(text)] == ["N306"]


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "'1'"), (2, "'1' and '2'"), (3, "'1', '2' and '3'"), (5, "'1', '2', '3', '4' and '5'"), (9, "'1', '2', '3', '4' and 5 more")],
)
def test_lists_read_like_sentences(count: int, text: str) -> None:
    assert quoted(str(i) for i in range(1, count + 1)) == text


SUPPLY = "s voltage (a, ground) v = 1 V"


@pytest.mark.parametrize(
    "lines, message, marked",
    [
        (f"{SUPPLY}\nc cccs (x, ground, a, ground) gain = 2", "'s' and 'c' prescribe the same", "c cccs"),
        (f"{SUPPLY}\nc ccvs (x, ground, a, ground) r = 2 Ohm", "'s' and 'c' prescribe the same", "c ccvs"),
        (f"{SUPPLY}\nc cccs (a, ground, x, x) gain = 2", "'c' prescribes the potential between a node and itself", "c cccs"),
        (
            "s current (ground, a) I = 1 A\nc cccs (x, ground, a, ground) gain = 2\nd cccs (x, ground, a, ground) gain = 2",
            "'c' and 'd' prescribe",
            "d cccs",
        ),
    ],
)  # fmt: skip
def test_only_elements_of_a_loop_are_named(lines, message, marked):
    """Currents that follow the loop's, and nodes that these leave open, are no part of it."""
    text = f"use electrical\n{lines}\nr resistor (x, ground) R = 1 Ohm\nq resistor (a, ground) R = 1 Ohm\nrun transient(stop = 1 ms)\n"
    (problem,) = found(text)
    assert problem.code == "E303" and message in problem.message
    assert text.splitlines()[problem.span.line - 1].startswith(marked)
