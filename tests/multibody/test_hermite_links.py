"""Links of finite elements in the recursive tree: chains of elements and Hermite's cubics as shape functions, beside the general network and an
independent Lagrange code."""

import re

import numpy as np
import pytest

import netsim
from beam_oracle import Chain
from netsim.analyses.recursion import TreeStart, _complete
from netsim.initial.differentiated import plan_differentiated
from netsim.initial.recovery import plan_recovery
from netsim.library.files import models_folder
from netsim.multibody.recursion.bodies import network_tree
from netsim.multibody.recursion.states import coordinates, translation
from netsim.multibody.tree.algorithms.forward import mixed
from netsim.multibody.tree.algorithms.observers import placements, twists
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.text.errors import InputError

PLANE = """
use planar
world gravity = [1, -9.81, 0] m/s2
j1 planar_revolute (ground, a) at = [0, 0] m, d = 0.1 N.m.s
l1 {kind} (a, b) at1 = [0, 0] m, at2 = [0.8, 0.6] m, line = 5 kg/m, EI = 100 N.m2, elements = 2, damping = 2 ms
j2 planar_revolute (b, c) at = [0.8, 0.6] m
l2 {kind} (c, d) at1 = [0.8, 0.6] m, at2 = [1.6, 0.2] m, line = 3 kg/m, EI = 60 N.m2, elements = 3
load planar_body (d) m = 0.7 kg, I = 0.02 kg.m2, at = [1.7, 0.1] m
j3 planar_prismatic (a, s) at = [0.3, 0.1] m, axis = [1, 2]
slider planar_body (s) m = 0.5 kg, I = 0.01 kg.m2, at = [0.3, 0.1] m
free planar_body (f) m = 2 kg, I = 0.3 kg.m2, at = [3, 1] m
l3 {kind} (f, g) at1 = [3.2, 1] m, at2 = [4, 1] m, line = 1 kg/m, EI = 30 N.m2, elements = 1
start l1.q[2].u = 20 mm
start l1.q[2].s = 0.05
start l1.q[1].v = 1 m/s
start l2.q[3].s = -0.06
start l2.q[2].v = 0.7 m/s
start j1.q = 0.4
start j1.rate = 3 rad/s
start j2.rate = -4 rad/s
start j3.q = 0.1 m
start j3.rate = 0.5 m/s
start f.w = 2 rad/s
start f.phi = 7 rad
start f.v = [0.3, 0.2] m/s
start l3.q[1].u = 10 mm
{run}
"""
SPACE = """
use spatial
world gravity = [1, -9.81, 2] m/s2
j1 universal (ground, a) at = [0, 0, 0] m, axis1 = [0, 0, 1], axis2 = [0, 1, 0]
l1 {kind} (a, b) at1 = [0, 0, 0] m, at2 = [0.8, 0.6, 0.2] m, side = [0, 1, 0.3], line = 5 kg/m, EIy = 100 N.m2, EIz = 70 N.m2, {parts2} damping = 2 ms
j2 spherical (b, c) at = [0.8, 0.6, 0.2] m
hub body (c) m = 0.4 kg, I = diag(0.01, 0.02, 0.03) kg.m2, at = [0.8, 0.6, 0.2] m
l2 {kind} (c, d) at1 = [0.8, 0.6, 0.2] m, at2 = [1.6, 0.2, 0.1] m, line = 3 kg/m, EIy = 60 N.m2, {parts3}
load body (d) m = 0.7 kg, I = diag(0.01, 0.02, 0.03) kg.m2, at = [1.7, 0.1, 0.1] m
{start}
start j1.q1 = 0.4
start a.w.z = 3 rad/s
start c.w = [1, -3, 2] rad/s
{run}
"""
CHAIN = {"parts2": "elements = 2,", "parts3": "elements = 3"}
SHAPES = {"parts2": "shapes = hermite, n = 4,", "parts3": "shapes = hermite, n = 6"}
BENT = "start l1.q[2].u = [20, -10] mm\nstart l1.q[2].s = [0.05, 0.04]\nstart l1.q[1].v = [1, -1] m/s\nstart l2.q[3].s = [-0.06, 0.07]"
NETWORKS = {
    "plane": PLANE.format(kind="planar_flexible_link", run="{run}"),
    "plane, drawing back": PLANE.format(kind="planar_shortened_link", run="{run}"),
    "space": SPACE.format(kind="spatial_flexible_link", start=BENT, run="{run}", **CHAIN),
    "space, drawing back": SPACE.format(kind="spatial_shortened_link", start=BENT, run="{run}", **CHAIN),
    "space, shape functions": SPACE.format(
        kind="flexible_link", start="start l1.y = [5, 10, 20, 40] mm\nstart l1.rz = [1, -1, 0.5, 2] m/s", run="{run}", **SHAPES
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_the_tree_has_the_network_s_accelerations(name):
    """At the same state: of every frame and every deflection, to 1e-10 of the largest; and the state goes there and back."""
    model = netsim.load(NETWORKS[name].format(run="run recursion(stop = 1 ms, from = rest)"))
    found = network_tree(model.machine)
    machine, structure, g, _ = start_of_run(model.machine, model.structure, "rest")
    moved = translation(machine, found)
    q, v = coordinates(machine, moved, g)
    a, _ = mixed(found.tree, q, v, np.zeros(found.tree.nv), found.motion)
    plans = plan_recovery(machine, structure, g), plan_differentiated(machine)
    point = _complete(TreeStart(machine, moved, g, q, v, [], *plans), 0.0, q, v)
    layout = machine.system.layout
    state = slice(layout.x, layout.a)
    assert np.abs(point[state] - g[state]).max() < 1e-12 * np.abs(g[state]).max()
    nodes = moved.nodes
    (twist, rate), turned = twists(found.tree, q, v, a), placements(found.tree, q)[nodes][:, :, :3]
    w, alpha, o = twist[nodes, 3:], rate[nodes, 3:], moved.offsets
    linear = rate[nodes, :3] + np.cross(w, twist[nodes, :3]) + np.cross(alpha, o) + np.cross(w, np.cross(w, o))
    linear, turning = np.einsum("nij,nj->ni", turned, linear), np.einsum("nij,nj->ni", turned, alpha)
    step = layout.a - layout.v
    space, plane = moved.space, moved.plane
    size = np.abs(a).max()
    assert np.abs(v).max() > 0.5
    assert np.abs(np.hstack([linear, turning])[space.which] - point[space.velocity + step]).max(initial=0.0) < 1e-10 * size
    assert np.abs(np.column_stack([linear[:, :2], turning[:, 2]])[plane.which] - point[plane.velocity + step]).max(initial=0.0) < 1e-10 * size
    for slots, here in found.rates:
        if layout.v <= slots[0] < layout.a:  # own variables of `flexible_link` are their rates alone
            assert np.abs(point[slots + step] - a[here]).max() < 1e-10 * size


# -------------------------------------------------------------------------------------------------- trajectories

IN_SPACE = """
use spatial
world gravity = [0, -9.81, 0] m/s2
j1 revolute (ground, a1) at = [0, 0, 0] m, axis = [0, 0, 1]
l1 spatial_flexible_link (a1, b1) at1 = [0, 0, 0] m, at2 = [1, 0, 0] m, line = 5 kg/m, EIy = 1000 N.m2, elements = 2
{second}
start j1.q = {start} deg
let theta1 = j1.q
RUN
save theta1, l1.q[1].u[1], l1.q[2].s[1]
"""
SECOND = """
j2 revolute (b1, a2) at = [1, 0, 0] m, axis = [0, 0, 1]
l2 spatial_flexible_link (a2, b2) at1 = [1, 0, 0] m, at2 = [2, 0, 0] m, line = 5 kg/m, EIy = 1000 N.m2, elements = 2
start j2.q = 5 deg
"""
RUN = "run recursion(stop = 0.1 s, rtol = 1e-10, from = rest, sample = 25 ms)"


@pytest.mark.parametrize("links, starts", [(1, [-80.0]), (2, [-90.0, 5.0])])
def test_kozlowski_s_pendulums(links, starts):
    """In the plane and in space, to 1e-6 of every coordinate's range."""
    times = np.linspace(0, 0.1, 5)
    expected, _ = Chain(links).motion(np.deg2rad(starts), times, rtol=1e-9)
    text = (models_folder() / "manipulators" / f"flexible_pendulum_{links}.net").read_text()
    plane = netsim.load(re.sub("run .*", RUN, text)).samples()[0]
    names = ["theta1", "u3", "u4", "u5", "u6", "theta2", "w3", "w4", "w5", "w6"][: 5 * links]
    for k, name in enumerate(names):
        assert np.abs(plane.series(name) - expected[:, k]).max() < 1e-6 * np.ptp(expected[:, k]), name
    second = SECOND if links == 2 else ""
    space = netsim.load(IN_SPACE.format(second=second, start=starts[0]).replace("RUN", RUN)).samples()[0]
    for k, name in ((0, "theta1"), (1, "l1.q[1].u.x"), (4, "l1.q[2].s.x")):
        assert np.abs(space.series(name) - expected[:, k]).max() < 1e-6 * np.ptp(expected[:, k]), name


def test_elements_that_draw_back_as_shape_functions():
    """The pendulum with foreshortening at every point: Hermite's cubics in `flexible_link` are the independent code's elements."""
    text = """
use spatial
world gravity = [0, -9.81, 0] m/s2
j1 revolute (ground, a1) at = [0, 0, 0] m, axis = [0, 0, 1]
l1 flexible_link (a1, b1) at1 = [0, 0, 0] m, at2 = [1, 0, 0] m, line = 5 kg/m, EIy = 50 N.m2, shapes = hermite, n = 4, foreshortening = 1
start j1.q = -1 rad
run recursion(stop = 0.1 s, rtol = 1e-10, from = rest, sample = 25 ms)
save j1.q, l1.y
"""
    found = netsim.load(text).samples()[0]
    expected, _ = Chain(1, EI=50.0, shortened=True).motion([-1.0], np.linspace(0, 0.1, 5), rtol=1e-9)
    # slopes with respect to x = 0 .. 1 are those with respect to metres, the link being 1 m long
    for k, name in enumerate(["j1.q", *(s.name for s in found.signals if s.name.startswith("l1.y"))]):
        assert np.abs(found.series(name) - expected[:, k]).max() < 1e-6 * np.ptp(expected[:, k]), name


@pytest.mark.parametrize("links", [1, 2])
def test_energy_of_kozlowski_s_pendulums(links):
    """From the paper's start; in 5 s, at the same tolerance, 7e-13 and 5e-12 J are lost."""
    text = (models_folder() / "manipulators" / f"flexible_pendulum_{links}.net").read_text()
    model = netsim.load(re.sub("run .*", "run recursion(stop = 0.5 s, from = rest, sample = 10 ms)", text))
    stored = {rtol: model.samples({"rtol": rtol})[0].energy[:, 0] for rtol in (1e-8, 1e-10)}
    rough, tight = (np.abs(each - each[0]).max() for each in stored.values())
    assert tight < 1e-11 and tight < rough / 5


@pytest.mark.parametrize("links, starts", [(1, [-0.5]), (2, [-1.2, 1.0])])
def test_truncated_equations(links, starts):
    """M q'' + dV/dq = 0 in the paper's coordinates, for one and two links: the independent code's, and far from what the full ones give."""
    times = np.linspace(0, 0.1, 3)
    text = (models_folder() / "manipulators" / f"flexible_pendulum_{links}.net").read_text()
    for k, start in enumerate(starts, 1):
        text = re.sub(f"param start{k} = .*", f"param start{k} = {start} rad", text)
    motions = {t: Chain(links, EI=300.0, truncated=t).motion(starts, times, rtol=1e-9)[0] for t in (True, False)}
    apart = np.ptp(motions[True] - motions[False], axis=0)[0]
    run = "run recursion(stop = 0.1 s, rtol = 1e-11, from = rest, sample = 50 ms, equations = truncated)"
    model = netsim.load(re.sub("run .*", run, text)).with_params(EI=300.0)
    for method in ("rk8", "rk6"):
        found = model.samples({"method": method})[0]
        for k, name in enumerate(["theta1", "u3", "u4", "u5", "u6", "theta2", "w3", "w4", "w5", "w6"][: 5 * links]):
            assert np.abs(found.series(name) - motions[True][:, k]).max() < 1e-6 * np.ptp(motions[True][:, k]), name
    assert apart > (1e-4 if links == 2 else 1e-6)


# ------------------------------------------------------------------------------------------------------ mistakes

OWN = """
use planar
world gravity = [0, -9.81, 0] m/s2
j1 planar_revolute (ground, a) at = [0, 0] m
e1 planar_floating_element (a, ground, p) from = 0 m, l = 0.5 m, line = 1 kg/m, EI = 10 N.m2
e2 planar_floating_element (a, p, n) from = {begin}, l = 0.3 m, line = 1 kg/m, EI = {EI}{load}
{end}
run recursion(stop = 0.1 s, from = rest)
save j1.q
"""


def test_a_chain_may_have_elements_of_different_length_and_no_end():
    text = OWN.format(begin="0.5 m", EI="10 N.m2", load="", end="")
    tree = netsim.load(text).samples()[0].series("j1.q")
    network = netsim.load(re.sub("run .*", "run transient(stop = 0.1 s, rtol = 1e-9, from = rest)", text)).samples()[0]
    assert np.abs(tree[-1] - network.series("j1.q")[-1]) < 1e-8 * np.abs(tree[-1])


@pytest.mark.parametrize(
    "change, words",
    [
        ({"EI": "20 N.m2"}, "another EI"),
        ({"begin": "0.6 m"}, "does not begin at the end"),
        ({"load": ", load = [1, 0] N/m"}, "another load"),
        ({"end": "end_ planar_floating_end (a, n, tip) at = [0.9, 0] m"}, "not placed at the end of the last element"),
        ({"end": "s damper (n, ground) d = 1 N.s/m"}, ""),
    ],
)
def test_what_is_no_link_of_a_tree_is_told(change, words):
    given = {"begin": "0.5 m", "EI": "10 N.m2", "load": "", "end": ""} | change
    with pytest.raises(InputError) as caught:
        netsim.load(OWN.format(**given)).samples()
    if words:
        assert caught.value.problems[0].code == "E450" and words in caught.value.problems[0].message
