"""G22's manipulator as a netlist: against an independent Lagrange code at a relative tolerance of 1e-12, by two formulations, by Newmark's method."""

import re
import sys
from functools import cache

import numpy as np
import pytest

import netsim
from manipulator_figures import BEAM_PEAKS, PEAKS, TABLE
from netsim.api import Model
from netsim.library.files import models_folder
from netsim.multibody.recursion.bodies import network_tree
from netsim.multibody.tree.algorithms.composite import crba
from netsim.output.show import show_stage
from netsim.text.errors import InputError
from netsim.text.parse import parse

FOLDER = models_folder() / "manipulators"
NETLIST = FOLDER / "gevorkian2022.net"
SIGNALS = ["dX", "dY", "dZ", "G1", "G2", "G3", "G4"]


@cache
def samples(line="recursion(stop = T, rtol = 1e-11, sample = 0.05 s)", **counts):
    """Columns of the netlist's signals under another run line."""
    text = NETLIST.read_text()
    first = text.index("\nrun ")
    text = text[:first] + f"\nrun {line}" + text[text.index("\n", first + 1) :]
    found = netsim.load(text, counts=counts).samples()[0]
    return found, np.column_stack([found.series(n) for n in SIGNALS])


def test_one_function_is_the_papers():
    found, values = samples()
    for t, row in TABLE.items():
        at = int(np.argmin(abs(found.time - t)))
        assert found.time[at] == pytest.approx(t)
        assert np.abs(values[at] - row) / PEAKS == pytest.approx(np.zeros(7), abs=1e-7)
    assert np.abs(values).max(0) == pytest.approx(PEAKS, rel=1e-7)


def test_three_free_functions_are_the_beam():
    _, values = samples(shapes=2, functions=3)
    assert np.abs(values).max(0) == pytest.approx(BEAM_PEAKS, rel=2e-3)


def test_the_network_s_own_equations_agree():
    """The same netlist in absolute coordinates, by the component's text: 88 unknowns and Radau IIA."""
    _, tree = samples("recursion(stop = 3 s, rtol = 1e-11, sample = 0.1 s)", shapes=2, functions=2)
    _, network = samples("transient(stop = 3 s, rtol = 1e-7, sample = 0.1 s)", shapes=2, functions=2)
    assert np.abs(tree - network).max(0) / np.abs(tree).max(0) == pytest.approx(np.zeros(7), abs=2e-5)


@pytest.mark.parametrize("functions", (1, 2))
def test_joint_coordinates_are_the_recursion_s(functions):
    """Joint and elastic coordinates alone, whose ends are the next bodies' beginnings: 12 and 16 unknowns, torques and their works among them."""
    _, expected = samples("recursion(stop = 1 s, rtol = 1e-11, sample = 0.1 s)", functions=functions)
    found, values = samples("transient(stop = 1 s, rtol = 1e-9, sample = 0.1 s, formulation = tree)", functions=functions)
    assert found.attributes["formulation"] == "tree" and found.attributes["unknowns"] == 8 + 4 * functions
    assert np.abs(values - expected).max(0) / np.abs(expected).max(0) == pytest.approx(np.zeros(7), abs=1e-7)


def test_newmark_by_options():
    """The largest error of dX over all 25 s at h = 0.01 s: 0.42 % of its peak; explicit with gamma = 1/2: 0.21 %."""
    _, exact = samples()
    for options, error in (("", 0.0042), (", beta = 0, gamma = 0.5", 0.0021)):
        _, values = samples(f"recursion(stop = T, step = 0.01 s, sample = 0.05 s{options})")
        assert np.abs(values[:, 0] - exact[:, 0]).max() / PEAKS[0] == pytest.approx(error, rel=0.06)


def test_the_papers_explicit_member_is_told_to_diverge():
    found, _ = samples("recursion(stop = T, step = 0.1 s, beta = 0, gamma = 0)")
    assert not found.finished and "diverges" in found.message


def test_parameters_are_the_user_s():
    """Joint 4 about the link's own axis: its torque is that of a turned cylinder and the payload, a point, on that axis."""
    model = netsim.load(NETLIST)
    found = model.with_params(axis4="[1, 0, 0]", T="2 s").samples()[0]
    assert np.abs(found.series("G4")).max() < 1e-2
    assert np.abs(found.series("dY")).max() > 1e-3
    assert model.with_params(payload="0 kg", T="0.2 s").samples()[0].finished
    heavier = model.with_params(payload="400 kg", T="2 s").samples()[0]
    lighter = model.with_params(T="2 s").samples()[0]
    assert np.abs(heavier.series("G1")).max() > 1.5 * np.abs(lighter.series("G1")).max()


MIXED = """
use spatial
world gravity = [0, 0, -9.81] m/s2
b_base   box_body   (base)          rho = 500 kg/m3, l = [0.4, 0.3, 0.2] m, at = [0, 0, 1] m
ball   spherical  (base, mast)    at = [0, 0, 1.1] m
b_mast   body       (mast)          m = 2 kg, I = diag(0.1, 0.2, 0.15) kg.m2, at = [0.1, 0, 1.4] m
extra  point_mass (mast)          m = 0.5 kg, at = [0.3, 0.1, 1.5] m
card   universal  (mast, wrist)   at = [0.1, 0, 1.8] m, axis1 = [1, 0, 0], axis2 = [0, 1, 0]
b_wrist  body       (wrist)         m = 1 kg, I = diag(0.02, 0.03, 0.04) kg.m2, at = [0.1, 0, 2] m
slide  prismatic  (slider, wrist) at = [0.1, 0, 2.1] m, axis = [0, 0, 1], d = 3 N.s/m, friction = 0.5 N, vs = 0.1 m/s
b_slider body       (slider)        m = 0.4 kg, I = diag(0.01, 0.01, 0.01) kg.m2, at = [0.1, 0.1, 2.2] m
push   slide_force (slider, wrist) axis = [0, 0, -1], at = [0.1, 0, 2.1] m, F = 2 N*sin(5*time/(1 s))
rod    flexible_link (base, tip)  {link}at1 = [0.2, 0, 1] m, at2 = [1.2, 0, 1.2] m, line = 0.5 kg/m, EIy = 30, EIz = 50, damping = 1 ms
disc   body       (tip)           m = 0.3 kg, I = diag(0.001, 0.001, 0.002) kg.m2, at = [1.2, 0, 1.2] m
start  base.v = [0.3, 0.1, 2] m/s
start  base.w = [0.4, -0.3, 1] rad/s
start  mast.w = [0.4, -0.3, 1] rad/s
start  wrist.w = [0.4, -0.3, 1] rad/s
start  slider.v = [-0.16, -0.28, 2.07] m/s
start  tip.v = [0.24, 1.22, 2.36] m/s
start  tip.w = [0.4, -0.3, 1] rad/s
run {line}
save base.r, base.w, tip.r, slider.r, slide.q, card.q1, push.work, rod.tip, slide.force
"""


GIVEN = "n = 2, shapes = given, shape = [[1, 0, 0, 0, 0, 0], [-1, 2, 0, 0, 0, 0]]"
WHOLE = "n = 3, shapes = craig_bampton, torsion = 2, foreshortening = 1, spin = 0.01 kg.m, rotary = [0.1, 0.2] g.m, mass_damping = 1 Hz"


@pytest.mark.parametrize(("link", "formulation"), [(GIVEN, "tree"), (WHOLE, "absolute")])
def test_any_tree_agrees_with_the_network(link, formulation):
    """A free body with a ball joint, a universal joint, a slide from its far side with friction and a force, and a flexible mast with a disc."""

    def found(line):
        return netsim.load(MIXED.replace("{line}", line).replace("{link}", f"{link}, ")).samples()[0]

    network = found(f"transient(stop = 0.3 s, rtol = 1e-9, sample = 1 ms, formulation = {formulation})")
    tree = found("recursion(stop = 0.3 s, rtol = 1e-11, sample = 1 ms)")
    assert tree.finished and network.finished
    for j, signal in enumerate(tree.signals):
        scale = np.abs(network.values[:, j]).max()
        tolerance = 1e-4 if signal.name == "push.work" else 2e-5  # the work is summed over the samples
        assert np.abs(tree.values[:, j] - network.values[:, j]).max() < tolerance * scale, signal.name
    assert np.abs(tree.energy[-1] - network.energy[-1]).max() < 1e-4 * np.abs(tree.energy).max()


def test_methods_agree_inside_their_steps():
    """Samples lie inside steps: every millisecond by three methods, whose steps differ, against one of a small tolerance."""
    runs = {}
    for options in ("rtol = 1e-11", "method = rk8, rtol = 1e-8", "method = rk6, rtol = 1e-8", "method = rk45, rtol = 1e-8"):
        line = f"recursion(stop = 0.1 s, {options}, sample = 1 ms)"
        runs[options] = netsim.load(MIXED.replace("{line}", line).replace("{link}", f"{GIVEN}, ")).samples()[0]
    exact, *others = runs.values()
    assert [found.attributes["method"] for found in others] == ["rk8", "rk6", "rk45"] and others[0].attributes["steps"] < 100
    for found in others:
        for j, signal in enumerate(exact.signals):
            assert np.abs(found.values[:, j] - exact.values[:, j]).max() < 1e-6 * np.abs(exact.values[:, j]).max(), signal.name


@pytest.mark.parametrize(
    "line, words",
    [
        ("s  line_spring (a, ground) at1 = [0, 0, 1] m, at2 = [0, 0, 2] m, c = 10 N/m", "'s' (line_spring) is not allowed in a tree"),
        ("k  spherical (a, ground) at = [0, 0, 1] m", "'k' closes a loop"),
    ],
)
def test_what_is_no_tree_is_refused(line, words):
    text = f"""
use spatial
b  body (a) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [0, 0, 1] m
j  revolute (ground, a) at = [0, 0, 0] m, axis = [1, 0, 0]
{line}
run recursion(stop = 1 s)
"""
    with pytest.raises(InputError) as caught:
        netsim.load(text).samples()
    assert words in caught.value.problems[0].message and caught.value.problems[0].code == "E450"


@pytest.mark.parametrize("line", ["step = 10 ms", "rtol = 1e-6"])
def test_what_no_mass_follows_is_named(line):
    text = """
use spatial
b  body (hand) m = 1 kg, I = diag(1, 1, 1) kg.m2, at = [0, 0, 1] m
j  revolute (base, arm) at = [0, 0, 0] m, axis = [1, 0, 0]
k  revolute (arm, hand) at = [0, 0, 1] m, axis = [1, 0, 0]
world gravity = [0, 0, -9.81] m/s2
run recursion(stop = 0.1 s, {line}, from = rest)
save hand.r
"""
    samples = netsim.load(text.replace("{line}", line)).samples()[0]
    assert not samples.finished
    problem = samples.attributes["failure"]
    assert problem.code == "E502" and problem.message == "no mass resists a motion of 'k' and 'j'"


def test_options_are_checked():
    base = "use spatial\nb  body (a) m = 1 kg, I = diag(1, 1, 1) kg.m2\n"
    for line, code in (
        ("recursion()", "E422"),
        ("recursion(stop = 1 s, beta = 0.25)", "E423"),
        ("recursion(stop = 1 s, step = 0.3 s)", "E423"),
        ("recursion(stop = 1 s, step = 0.1 s, matrix = full)", "E424"),
        ("recursion(stop = 1 s, methods = 2)", "E421"),
        ("recursion(stop = 1 s, method = rk7)", "E424"),
        ("recursion(stop = 1 s, method = rk45, step = 0.1 s)", "E423"),
    ):
        with pytest.raises(InputError) as caught:
            Model(netsim.load(f"{base}run {line}\n").network).samples()
        assert caught.value.problems[0].code == code
    assert parse(f"{base}run recursion(stop = 1 s)\n", "<text>")


SPEEDS = """
use spatial
world gravity = [0, 0, -9.81] m/s2
base  body (turret) m = 3 kg, I = diag(0.1, 0.2, 0.3) kg.m2, at = [0.1, 0, 0] m
arm   body (boom)   m = 2 kg, I = diag(0.1, 0.1, 0.2) kg.m2, at = [0.5, 0, 0.2] m
mass  body (load)   m = 1 kg, I = diag(0.02, 0.03, 0.01) kg.m2, at = [1, 0, -0.3] m
turn  revolute  (ground, turret) at = [0, 0, 0] m, axis = [0, 0, 1]
reach prismatic (turret, boom)   at = [0.2, 0, 0.2] m, axis = [1, 0, 0]
hang  revolute  (boom, load)     at = [1, 0, 0.2] m, axis = [0, 1, 0]
w     hinge_speed    (ground, turret) axis = [0, 0, 1], w = 2 rad/s * sin(3*time / 1 s)
v     slide_velocity (turret, boom)   axis = [1, 0, 0], v = 0.4 m/s * cos(2*time / 1 s)
start turn.q = 0.3 rad
run {line}
save turn.q, reach.q, hang.q, w.T, v.F, hang.force
"""


def test_sources_of_speed_make_the_motion_known():
    """chi = 1 by a prescribed speed: the position is the integral, the force what it takes; the network's own equations agree."""
    runs = [
        netsim.load(SPEEDS.replace("{line}", line)).samples()[0]
        for line in (
            "recursion(stop = 1 s, rtol = 1e-11, sample = 10 ms)",
            "transient(stop = 1 s, rtol = 1e-9, sample = 10 ms)",
            "transient(stop = 1 s, rtol = 1e-9, sample = 10 ms, formulation = tree)",
            "recursion(stop = 1 s, step = 1 ms, sample = 10 ms)",
        )
    ]
    t = runs[0].time
    turned, reached = 0.3 + 2 / 3 * (1 - np.cos(3 * t)), 0.2 * np.sin(2 * t)
    for run, tolerance in zip(runs, (1e-9, 1e-6, 1e-6, 2e-5)):
        assert (
            run.finished
            and np.abs(run.values[:, 0] - turned).max() < tolerance
            and np.abs(run.values[:, 1] - run.values[0, 1] - reached).max() < tolerance
        )
        assert (np.abs(run.values - runs[0].values).max(0) < 5 * tolerance * np.abs(runs[0].values).max(0)).all()
    assert runs[0].attributes["unknowns"] == 1


def test_superelements_change_no_numbers():
    """Condensed by two or all together, the same run: every signal to rounding, as far as the error test lets it."""
    text = (FOLDER / "gevorkyan2017.net").read_text()
    runs = [netsim.load(text.replace("rtol = 1e-9", f"rtol = 1e-12, superelement = {size}")).samples()[0] for size in (1, 2, 50)]
    for run in runs[1:]:
        assert run.finished and np.abs(run.values - runs[0].values).max() < 1e-9


def test_the_cut_is_drawn():
    text = (FOLDER / "gevorkyan2017.net").read_text()
    shown = show_stage(netsim.load(text.replace("rtol = 1e-9", "superelement = 2")), "system")
    drawn = shown[shown.index("2 superelements") :].splitlines()
    assert "joint[1] 0, joint[2] 0" in drawn[2] and "first kind" in drawn[2]
    assert drawn[3].split()[:2] == ["E2", "E1"] and "second kind" in drawn[3]


def test_the_arm_of_the_benchmark_is_the_netlist():
    sys.path.insert(0, str(FOLDER.parents[1] / "benchmarks"))
    from superelements import arm

    model = netsim.load(FOLDER / "gevorkyan2017.net")
    found = network_tree(model.machine)
    q = np.random.default_rng(1).normal(size=4)
    assert np.abs(crba(found.tree, q) - crba(arm(4), q)).max() < 1e-12
    assert list(found.motion) == [True, True, False, False]


def test_a_diverging_recursion_tells_the_instant_up_to_which_its_samples_stand():
    text = (models_folder() / "manipulators/flexible_pendulum_2.net").read_text(encoding="utf-8")
    text = re.sub(r"(?m)^run .*$", "run recursion(stop = 5 s, step = 0.02 s, beta = 0)", text)
    (samples,) = netsim.load(text).samples()
    assert not samples.finished
    assert samples.message == f"Newmark's method diverges: coordinates or speeds are beyond 1e+06 after t = {samples.time[-1]:g} s"
    assert np.isfinite(samples.values).all()
