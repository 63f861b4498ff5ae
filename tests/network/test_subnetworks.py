"""Subnetworks as superelements: the same numbers, an order of elimination that is a Schur complement, what is drawn, and wrong names."""

import numpy as np
import pytest
from scipy import sparse

import netsim
from netsim.core.linear.factors import analyse, solve
from netsim.core.linear.nesting import nested_order
from netsim.initial.static.rest import step_matrix
from netsim.library.files import models_folder
from netsim.multibody.superelements import parts_of
from netsim.output.show import show_stage
from netsim.results.plots import panels
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.text.errors import InputError

CIRCUIT = """
use electrical
model cell (p, n : electrical)
  r resistor  (p, m) R = 1 kohm
  c capacitor (m, n) C = 1 uF
  l resistor  (m, n) R = 50 kohm
end
model pair (p, n : electrical)
  one cell     (p, mid)
  two cell     (mid, n)
  d   diode    (mid, n) Is = 1e-12 A
end
count n = 3
source     voltage (n[0], ground) v = 5 V*sin(300*time / 1 s)
stage[k]   pair    (n[k-1], n[k]) for k in 1..n
load       resistor (n[3], ground) R = 10 kohm
run  transient(stop = 5 ms, step = 0.1 ms, superelements = [stage, stage[2].one], method = euler)
save n[3].v, source.i, stage[2].mid.v
"""


def difference(one, other):
    """The largest difference, of each signal's largest component or 1."""
    worst = 0.0
    for name in one.data_vars:
        group = [n for n in one.data_vars if n.rpartition(".")[0] == name.rpartition(".")[0]]
        size = max(1.0, *(float(np.abs(one[n]).max()) for n in group))
        worst = max(worst, float(np.abs(one[name] - other[name]).max()) / size)
    return worst


CASES = {
    "legs": (models_folder() / "mechanisms/stewart_platform.net", ["legA", "legB", "legC", "legD", "legE", "legF"], {"stop": 0.05, "step": 1e-3}),
    "adaptive": (models_folder() / "mechanisms/stewart_platform.net", ["legA", "legD"], {"stop": 0.05, "sample": 0.01, "rtol": 1e-8}),
    "robot": (models_folder() / "robots/puma.net", ["arm"], {"stop": 0.05, "step": 1e-3, "method": "generalized_alpha"}),
    "tree": (models_folder() / "robots/puma.net", ["arm"], {"stop": 0.05, "step": 1e-3, "formulation": "tree"}),
    "circuit": (CIRCUIT, ["stage", "stage[2].one"], {"stop": 0.005, "step": 1e-4}),
}


@pytest.mark.parametrize("name", CASES)
def test_superelements_change_no_numbers(name):
    source, parts, options = CASES[name]
    model = netsim.load(source)
    plain, condensed = model.transient(**options), model.transient(**options, superelements=parts)
    assert difference(plain, condensed) < 1e-12


@pytest.mark.parametrize("name", ["legs", "circuit"])
def test_what_is_left_is_the_schur_complement(name):
    """Pivots part by part; the triangles of the rest multiply to A_RR - A_RB A_BB^-1 A_BR; other parts' unknowns never meet."""
    source, wanted, _ = CASES[name]
    model = netsim.load(source)
    machine, _, g, _ = start_of_run(model.machine, model.structure)
    system, parts = machine.system, parts_of(machine.system, wanted)
    entries, pattern, n = step_matrix(machine, g, 1e-6, 1e-3, 1e3, 1.0)[1], machine.system.pattern, machine.system.n
    factor = analyse(n, pattern.indptr, pattern.indices, entries, parts=[part.own for part in parts])
    at = 0
    home = np.full(n, len(parts))
    for k, part in enumerate(parts):
        here = factor.column_order[at : at + len(part.own)]
        assert set(here) == set(part.own) == set(factor.row_order[at : at + len(part.own)])
        home[at : at + len(part.own)] = k
        at += len(part.own)
    columns = np.repeat(np.arange(n), np.diff(factor.l_start))
    lower = sparse.csc_matrix((factor.l_value, factor.l_row, factor.l_start), shape=(n, n))
    upper = sparse.csc_matrix((factor.u_value, factor.u_row, factor.u_start), shape=(n, n))
    for k, part in enumerate(parts):  # rows below a part's columns are its own, or of what it is inside of, or of the rest
        below = set(home[factor.l_row[home[columns] == k]])
        outer = {j for j in range(len(parts)) if part.name.startswith(f"{parts[j].name}.")}
        assert below <= {k, len(parts)} | outer
    whole = sparse.csc_matrix((entries, pattern.indices, pattern.indptr), shape=(n, n)).toarray()
    scaled = (factor.row_scale[:, None] * whole * factor.column_scale)[np.ix_(factor.row_order, factor.column_order)]
    complement = scaled[at:, at:] - scaled[at:, :at] @ np.linalg.solve(scaled[:at, :at], scaled[:at, at:])
    rest = (lower.toarray() + np.eye(n))[at:, at:] @ (upper.toarray() + np.diag(1 / factor.pivot_inverse))[at:, at:]
    assert np.abs(rest - complement).max() < 1e-11 * np.abs(complement).max()
    rhs = np.random.default_rng(1).normal(size=n)
    x, y = np.zeros(n), np.zeros(n)
    solve(factor, rhs, x)
    solve(analyse(n, pattern.indptr, pattern.indices, entries), rhs, y)
    assert np.abs(x - y).max() < 1e-10 * np.abs(y).max()
    assert system.n == n


def test_what_a_block_leaves_open_stays_with_the_rest():
    """The first unknown has no pivot inside its part, the third and fourth have one for both: rank decides, and the whole is still solved."""
    matrix = sparse.csc_matrix(np.array([[0.0, 1, 0, 0, 2], [1, 0, 0, 0, 1], [0, 0, 1, 1, 1], [0, 0, 1, 1, 3], [2, 1, 1, 4, 1]]))
    rows, columns = nested_order(matrix, [np.array([0]), np.array([2, 3])])
    assert sorted(rows) == sorted(columns) == [0, 1, 2, 3, 4]
    assert rows[0] in (2, 3) and columns[0] in (2, 3)
    start = matrix.indptr, matrix.indices, matrix.data
    factor, x = analyse(5, *start, parts=[np.array([0]), np.array([2, 3])]), np.zeros(5)
    solve(factor, matrix @ np.arange(1.0, 6.0), x)
    assert x == pytest.approx(np.arange(1.0, 6.0), abs=1e-13)


def test_the_decomposition_is_drawn():
    shown = show_stage(netsim.load(CIRCUIT), "system")
    drawn = [line.split() for line in shown[shown.index("4 superelements") :].splitlines()]
    assert drawn[1] == ["element", "inside", "meets", "of"]
    assert [row[0] for row in drawn[2:]] == ["stage[1]", "stage[2]", "stage[2].one", "stage[3]", "the"]
    model = netsim.load(CIRCUIT)
    parts = {part.name: part for part in parts_of(model.system, ["stage", "stage[2].one"])}
    names = model.system.names
    assert {names[i] for i in parts["stage[2].one"].meets} >= {"n[1].v", "stage[2].mid.v"}
    assert "stage[2].mid.v" in {names[i] for i in parts["stage[2]"].own}
    assert not set(parts["stage[2]"].own) & set(parts["stage[2].one"].own)
    assert parts["stage[2].one"].within == [part.name for part in parts_of(model.system, ["stage", "stage[2].one"])].index("stage[2]")


def test_what_is_no_subnetwork_is_refused():
    with pytest.raises(InputError) as caught:
        netsim.load(CIRCUIT.replace("[stage, stage[2].one]", "[stage, lod]")).samples()
    (problem,) = caught.value.problems
    assert problem.code == "E424" and "lod" in problem.message and problem.span.line == CIRCUIT[: CIRCUIT.index("run ")].count("\n") + 1
    with pytest.raises(InputError, match="E424"):
        netsim.load(CIRCUIT).transient(stop=1e-3, superelements="load")


def test_lets_of_time_and_signals_are_bound_in_their_own_frame():
    """Each cart's push is its own let, of its own param; the follower's is one of the first cart's speed: v' = F - v with F = big sin(t)."""
    samples = netsim.load(
        """
use translational
model cart (a : translational)
  param big : N = 2 N
  let   push = big*sin(time/(1 s))
  m1    mass    (a)          m = 1 kg
  p     force   (a)          F = push
  d     damper  (a, ground)  d = 1 N.s/m
end
c1   cart    (x)          big = 3 N
c2   cart    (y)
let  twice = 2 N.s/m*lead
let  lead  = x.v
m2   mass    (z)          m = 1 kg
pull force   (z)          F = twice
let  wave  = 1 V*cos(time/(1 s))
run  transient(stop = 2 s, sample = 0.1 s, rtol = 1e-9)
save x.v, y.v, z.v, x.x, wave
"""
    ).samples()[0]
    t = samples.time
    wanted = (np.sin(t) - np.cos(t) + np.exp(-t)) / 2
    assert np.abs(samples.series("x.v") - 3 * wanted).max() < 1e-7
    assert np.abs(samples.series("y.v") - 2 * wanted).max() < 1e-7
    assert np.abs(samples.series("z.v") - 2 * samples.series("x.x")).max() < 1e-7
    assert np.abs(samples.series("wave") - np.cos(t)).max() < 1e-12


def test_an_index_of_a_parameter_may_be_a_loop_variable():
    """Resistances of a ladder by the elements of a vector, at the top level and inside a model whose size is a count."""
    text = """
use electrical
model shunts (p : electrical)
  count n = 3
  param R[n] : Ohm > 0
  r[k]  resistor  (p, ground)  R = R[n + 1 - k]  for k in 1..n
end
param V[2] : V = [5, 7] V
s[k]  voltage  (a[k], ground)  v = V[k]  for k in 1..2
x[k]  shunts   (a[k])          n = k + 1, R = 2*R2[k]*[1, 2, 4]  for k in 2..2
param R2[2] : Ohm = [1, 10] Ohm
run  static()
save x[2].r[1].i, x[2].r[3].i, a[1].v
"""
    assert netsim.load(text).samples()[0].values[0] == pytest.approx([7 / 80, 7 / 20, 5.0])


def test_names_of_results_and_legends_have_numbers_for_counts():
    """`tap[n + 1].v` is shown as `tap[4].v`, alone and inside of an expression; a parameter beside it keeps its name."""
    text = """use electrical
count n = 3
param k = 2
s voltage (tap[1], ground) v = 1 V
r[i] resistor (tap[i], tap[i+1]) R = 1 Ohm for i in 1..n
e resistor (tap[n+1], ground) R = 1 Ohm
run static()
save tap[n+1].v, k*tap[n].v - tap[n + 1].v
plot tap[n+1].v, k*tap[n].v
"""
    model = netsim.load(text)
    (samples,) = model.samples()
    assert [s.name for s in samples.signals] == ["tap[4].v", "tap[3].v", "k*tap[3].v - tap[4].v"]
    (panel,) = panels([samples], model.network.plots, model.values.scope(model.network.top))
    assert [(line.label, line.values[0]) for line in panel.lines] == [("tap[4].v", 0.25), ("k*tap[3].v", 1.0)]
    (wider,) = netsim.load(text, counts={"n": 5}).samples()
    assert wider.series("tap[6].v")[0] == pytest.approx(1 / 6)
