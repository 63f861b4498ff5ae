"""The two formulations of a mechanism, absolute and in joint coordinates, hold one another to account."""

from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import netsim
from joint_states import JOINTS, difference_at_a_state, random_tree
from netsim.core.compiled.call import run_table
from netsim.core.newton import set_coefficients, set_differentiated_history, spread
from netsim.library.files import models_folder
from netsim.multibody.tree.algorithms.composite import crba
from netsim.multibody.tree.algorithms.forward import mixed
from netsim.multibody.tree.algorithms.inverse import rnea
from netsim.multibody.tree.model import Body, Inertia, Joint, build_tree
from netsim.simulate.setup.choice import formulated
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.text.errors import InputError

MODELS = {name: (models_folder() / "mechanisms" / f"{name}.net").read_text() for name in ("pendulum", "spinning_top", "free_body")}

ARM = """
use spatial
use rotational
world gravity = [0, 0, -9.81] m/s2
b1 body (c1) m = 5 kg, I = diag(0.1, 0.1, 0.2) kg.m2, at = [0, 0, 0.2] m
b2 cylinder_body (c2) rho = 2700 kg/m3, r = 4 cm, l = 0.8 m, at = [0.4, 0, 0.4] m, axis = [1, 0, 0]
b3 body (c3) m = 1.5 kg, I = diag(0.01, 0.05, 0.05) kg.m2, at = [1.1, 0, 0.4] m
b4 body (c4) m = 0.5 kg, I = diag(0.001, 0.002, 0.002) kg.m2, at = [1.5, 0, 0.4] m
pm point_mass (c4) m = 0.1 kg, at = [1.6, 0.05, 0.4] m
j1 revolute (ground, c1) at = [0, 0, 0] m, axis = [0, 0, 1], d = 0.1 N.m.s/rad, friction = 0.2 N.m, ws = 0.1 rad/s
j2 revolute_driven (c1, c2, f2) at = [0, 0, 0.4] m, axis = [0, 1, 0]
j3 prismatic (c2, c3) at = [0.8, 0, 0.4] m, axis = [1, 0, 0], c = 200 N/m, d = 2 N.s/m
j4 universal (c4, c3) at = [1.3, 0, 0.4] m, axis1 = [0, 1, 0], axis2 = [0, 0, 1], c1 = 5 N.m/rad, c2 = 6 N.m/rad
s1 line_spring (ground, c3) at1 = [1, 0.5, 1.5] m, at2 = [1.1, 0, 0.4] m, c = 300 N/m, d = 3 N.s/m
r2 inertia (f2) J = 0.3 kg.m2
d2 torsion_damper (f2, ground) d = 1 N.m.s/rad
p1 world_force (c4) F = [1 N, 2 N*sin(3 rad/s*time), 0 N], at = [1.6, 0, 0.4] m
mk marker (c4) at = [1.6, 0, 0.4] m
rm relative_moment (c1, c3) M = [0.2, 0.1, 0.3] N.m
"""

KINDS = """
use spatial
use translational
world gravity = [0, 0, -9.81] m/s2
b1 body (c1) m = 5 kg, I = diag(0.1, 0.1, 0.2) kg.m2, at = [0, 0.1, 0.2] m
b2 box_body (c2) rho = 800 kg/m3, l = [0.3, 0.1, 0.1] m, at = [0.4, 0, 0.4] m
b3 ball_body (c3) rho = 2000 kg/m3, r = 5 cm, at = [1.1, 0, 0.4] m
b4 tube_body (c4) rho = 2000 kg/m3, r = 5 cm, ri = 4 cm, l = 0.3 m, at = [0.5, 0.4, 0.4] m
b5 body (c5) m = 1 kg, I = diag(0.1, 0.1, 0.1) kg.m2, at = [0.9, 0.4, 0.4] m
b6 body (c6) m = 1 kg, I = diag(0.1, 0.12, 0.1) kg.m2, at = [0.9, 0.9, 0.4] m
b7 body (c7) m = 1 kg, I = diag(0.1, 0.12, 0.15) kg.m2, at = [0.9, 0.9, 0.9] m
j1 cylindrical (ground, c1) at = [0, 0, 0] m, axis = [0, 0.2, 1], c = 500 N/m, cq = 3 N.m/rad
j2 planar_joint (c2, c1) at = [0.1, 0, 0.4] m, normal = [0, 0, 1], along = [1, 1, 0], c = 100 N/m, cq = 2 N.m/rad
j3 point_on_line (c2, c3) at = [0.8, 0, 0.4] m, axis = [1, 0, 0.1], c = 100 N/m, cq = 3 N.m/rad
j4 spatial_weld (c2, c4) at = [0.4, 0.2, 0.4] m
j5 prismatic_driven (c4, c5, f5) at = [0.4, 0.4, 0.4] m, axis = [0, 1, 1]
sp spring (f5, ground) c = 100 N/m
ma mass (f5) m = 0.2 kg
j6 spherical (c6, c5) at = [0.9, 0.6, 0.4] m, d = 0.1 N.m.s/rad, c = 2 N.m/rad
l1 line_spring (c6, c7) at1 = [0.9, 0.9, 0.5] m, at2 = [0.9, 0.9, 0.8] m, c = 50 N/m, d = 1 N.s/m
"""

MIXED = """
use spatial
world gravity = [0, 0, -9.81] m/s2
b1 body (c1) m = 5 kg, I = diag(0.1, 0.1, 0.2) kg.m2, at = [0, 0, 0.2] m
b2 body (c2) m = 3 kg, I = diag(0.01, 0.1, 0.1) kg.m2, at = [0.4, 0, 0.4] m
b3 body (c3) m = 1.5 kg, I = diag(0.01, 0.05, 0.05) kg.m2, at = [1.1, 0, 0.4] m
j1 revolute (ground, c1) at = [0, 0, 0] m, axis = [0, 0, 1], d = 0.1 N.m.s/rad
j2 revolute (c1, c2) at = [0, 0, 0.4] m, axis = [0, 1, 0]
j3 prismatic (c2, c3) at = [0.8, 0, 0.4] m, axis = [1, 0, 0], d = 2 N.s/m
m1 hinge_angle (ground, c1) axis = [0, 0, 1], q = 0.3 rad*(1 - cos(2 rad/s*time))
m2 hinge_torque (c1, c2) axis = [0, 1, 0], T = -40 N.m
m3 slide_displacement (c2, c3) at = [0.8, 0, 0.4] m, axis = [1, 0, 0], s = 0.1 m*(1 - cos(3 rad/s*time))
"""

LOOP = """
use spatial
world gravity = [0, 0, -9.81] m/s2
b1 body (c1) m = 1 kg, I = diag(0.01, 0.02, 0.02) kg.m2, at = [0.1, 0, 0.2] m
b2 body (c2) m = 2 kg, I = diag(0.01, 0.1, 0.1) kg.m2, at = [0.5, 0, 0.4] m
b3 body (c3) m = 1 kg, I = diag(0.01, 0.02, 0.02) kg.m2, at = [1.0, 0, 0.2] m
j1 revolute (ground, c1) at = [0, 0, 0] m, axis = [0, 1, 0], d = 0.1 N.m.s/rad
j2 universal (c1, c2) at = [0.2, 0, 0.4] m, axis1 = [0, 1, 0], axis2 = [0, 0, 1]
j3 spherical (c2, c3) at = [1.1, 0, 0.4] m
j4 revolute (ground, c3) at = [0.9, 0, 0] m, axis = [0, 1, 0]
m2 hinge_torque (ground, c1) axis = [0, 1, 0], T = -4 N.m
"""

CONTROL = """
use spatial
use rotational
use electrical
use couplings
world gravity = [0, 0, -9.81] m/s2
b1 body (c1) m = 1 kg, I = diag(0.01, 0.02, 0.02) kg.m2, at = [0.2, 0, 0] m
b2 body (c2) m = 1 kg, I = diag(0.01, 0.02, 0.02) kg.m2, at = [0.6, 0, 0] m
j1 revolute (ground, c1) at = [0, 0, 0] m, axis = [0, 1, 0]
j2 revolute_driven (c1, c2, f2) at = [0.4, 0, 0] m, axis = [0, 1, 0]
t1 hinge_torque (ground, c1) axis = [0, 1, 0], T = -30 N.m/rad*(j1.q - 0.2 rad) - 2 N.m.s/rad*j1.rate + 1 N*c2.r.x
ro inertia (fm) J = 1e-3 kg.m2
g1 gear (fm, f2) ratio = 20
mo emf (p, ground, fm) k = 0.1 N.m/A
re resistor (s, p2) R = 1 ohm
li inductor (p2, p) L = 1 mH
vs voltage (s, ground) v = 10 V - 20 V/rad*f2.phi - 2 V/m*c2.r.z
"""

PLANE = """
use planar
use rotational
use translational
world gravity = [0, -9.81, 0] m/s2
b1 planar_body (c1) m = 5 kg, I = 0.2 kg.m2, at = [0.2, 0.1] m
b2 planar_body (c2) m = 2 kg, I = 0.1 kg.m2, at = [0.6, 0.3] m
b3 planar_body (c3) m = 1.5 kg, I = 0.05 kg.m2, at = [1.1, 0.1] m
b4 planar_body (c4) m = 0.5 kg, I = 0.02 kg.m2, at = [1.5, 0.4] m
b5 planar_body (c5) m = 0.5 kg, I = 0.02 kg.m2, at = [1.9, 0.4] m
b6 planar_body (c6) m = 0.7 kg, I = 0.02 kg.m2, at = [0.4, 0.9] m
b7 planar_body (c7) m = 0.6 kg, I = 0.03 kg.m2, at = [0.4, 1.3] m
b8 planar_body (c8) m = 0.4 kg, I = 0.01 kg.m2, at = [2.4, 0.4] m
j1 planar_revolute (c1, ground) at = [0, 0] m, c = 30 N.m/rad, d = 0.1 N.m.s/rad
j2 planar_prismatic (c1, c2) at = [0.4, 0.2] m, axis = [1, 1], c = 200 N/m, d = 2 N.s/m
j3 planar_pin_in_slot (c3, c2) at = [0.8, 0.2] m, axis = [2, 1], c = 150 N/m, cphi = 10 N.m/rad
j4 planar_revolute_driven (c3, c4, f4) at = [1.3, 0.2] m
j5 planar_prismatic_driven (c5, c4, f5) at = [1.7, 0.4] m, axis = [0, 1]
j6 planar_weld (c2, c6) at = [0.5, 0.6] m
j8 planar_revolute (c5, c8) at = [2.1, 0.4] m
m8 planar_hinge_angle (c5, c8) q = 0.4 rad*sin(3 rad/s*time)
r4 inertia (f4) J = 0.1 kg.m2
t4 torque (f4) T = 0.5 N.m*cos(time*2 rad/s)
s5 spring (f5, ground) c = 100 N/m
l7 planar_line_spring (c6, c7) at1 = [0.4, 0.9] m, at2 = [0.4, 1.25] m, c = 50 N/m
"""

FUNCTIONS = "n = 2, torsion = 1, foreshortening = 1, rho = 2700 kg/m3, E = 7e9 Pa"
BENT = """
use spatial
world gravity = [0, 0, -9.81] m/s2
b1 body (c1) m = 3 kg, I = diag(0.1, 0.1, 0.2) kg.m2, at = [0, 0, 0.2] m
l1 flexible_link (c1, e1) OPTIONS, at1 = [0.1, 0, 0.4] m, at2 = [1.0, 0.3, 0.6] m, r = 15 mm, rotary = [1e-3, 1e-3] kg.m, damping = 1 ms
l2 flexible_link (e2, c2) OPTIONS, at1 = [1.9, 0.3, 0.6] m, at2 = [1.0, 0.3, 0.6] m, width = 20 mm, height = 30 mm, mass_damping = 0.1 Hz
l3 flexible_link (c1, e3) OPTIONS, at1 = [0, 0.1, 0.2] m, at2 = [0, 0.9, 0.2] m, r = 10 mm
b2 body (c2) m = 0.5 kg, I = diag(0.01, 0.02, 0.02) kg.m2, at = [1.0, 0.3, 0.7] m
b3 body (c3) m = 0.4 kg, I = diag(0.01, 0.01, 0.02) kg.m2, at = [2.2, 0.4, 0.6] m
j1 revolute (ground, c1) at = [0, 0, 0] m, axis = [0, 0, 1], d = 0.1 N.m.s/rad
j2 universal (e1, c2) at = [1.0, 0.3, 0.6] m, axis1 = [0, 1, 0], axis2 = [0, 0, 1], c1 = 500 N.m/rad, c2 = 200 N.m/rad
j3 spherical (c3, e2) at = [2.0, 0.3, 0.6] m, c = 5 N.m/rad
s1 line_spring (e3, c3) at1 = [0, 0.9, 0.2] m, at2 = [2.2, 0.4, 0.6] m, c = 10 N/m
a1 hinge_angle (ground, c1) axis = [0, 0, 1], q = 0.1 rad*(1 - cos(3 rad/s*time))
""".replace("OPTIONS", FUNCTIONS)
"""Links that bend: carried by their clamped ends and by their tips, twisting and drawing back."""

BENT_LOOP = """
use spatial
world gravity = [0, 0, -9.81] m/s2
l1 flexible_link (c1, e1) OPTIONS, at1 = [0, 0, 0] m, at2 = [1, 0, 0.5] m, r = 15 mm
l2 flexible_link (c2, e2) OPTIONS, at1 = [2, 0, 0] m, at2 = [1, 0, 0.5] m, r = 20 mm
b1 body (c2) m = 0.4 kg, I = diag(0.01, 0.01, 0.02) kg.m2, at = [2, 0, 0.1] m
j1 revolute (ground, c1) at = [0, 0, 0] m, axis = [0, 1, 0]
j2 prismatic (ground, c2) at = [2, 0, 0] m, axis = [1, 0, 0], c = 100 N/m
j3 spherical (e1, e2) at = [1, 0, 0.5] m
""".replace("OPTIONS", FUNCTIONS)
"""The tips of two bent links hold one another."""

FLOATING = """
use spatial
world gravity = [0, 0, -9.81] m/s2
b0 body (c1) m = 0.4 kg, I = diag(0.01, 0.01, 0.02) kg.m2, at = [0, 0, 0.1] m
l1 spatial_flexible_link (c1, e1) elements = 2, at1 = [0, 0, 0] m, at2 = [1, 0.2, 0] m, rho = 2700 kg/m3, E = 7e9 Pa, r = 15 mm
l2 spatial_flexible_link (c2, e2) elements = 1, at1 = [2, 0, 0] m, at2 = [1, 0.3, 0] m, rho = 2700 kg/m3, E = 7e9 Pa, r = 15 mm
b1 body (c2) m = 0.4 kg, I = diag(0.01, 0.01, 0.02) kg.m2, at = [2, 0, 0.1] m
j1 revolute (ground, c1) at = [0, 0, 0] m, axis = [0, 1, 0]
j2 revolute (e1, e2) at = [1, 0.2, 0] m, axis = [1, 1, 0]
"""

FLOATING_PLANE = """
use planar
world gravity = [0, -9.81, 0] m/s2
b0 planar_body (c1) m = 0.4 kg, I = 0.02 kg.m2, at = [0, 0.1] m
l1 planar_flexible_link (c1, e1) elements = 2, at1 = [0, 0] m, at2 = [1, 0.2] m, line = 2 kg/m, EI = 100 N.m2
l2 planar_shortened_link (c2, e2) elements = 2, at1 = [1, 0.2] m, at2 = [1.5, 1] m, line = 2 kg/m, EI = 100 N.m2
l3 planar_shortened_link (c4, e4) elements = 1, at1 = [2.5, 1] m, at2 = [1.5, 1] m, line = 2 kg/m, EI = 100 N.m2
b4 planar_body (c4) m = 0.4 kg, I = 0.02 kg.m2, at = [2.5, 1.1] m
j1 planar_revolute (ground, c1) at = [0, 0] m
j2 planar_revolute (e1, c2) at = [1, 0.2] m
j3 planar_revolute (e2, e4) at = [1.5, 1] m
"""

BEAMS = {"bent": BENT, "bent loop": BENT_LOOP, "floating": FLOATING, "floating plane": FLOATING_PLANE}
EVERY = {**MODELS, "arm": ARM, "kinds": KINDS, "mixed": MIXED, "loop": LOOP, "plane": PLANE, "control": CONTROL, **BEAMS}
TEXTS = {name: text for name, text in EVERY.items() if name not in MODELS}
MECHANISMS = {
    "loops in the plane": "benchmarks/andrews.net",
    "a loop that repeats constraints": "benchmarks/bricard.net",
    "particles and rods": "benchmarks/car_axis.net",
    "chains of elements": "manipulators/flexible_pendulum_2.net",
    "loops in space": "mechanisms/delta_robot.net",
    "an inverse problem": "mechanisms/five_bar_inverse.net",
    "a loop with a slide": "mechanisms/slider_crank.net",
    "no joint": "mechanisms/free_body.net",
    "more drives than freedoms": "mechanisms/redundant_platform.net",
    "gravity of a point": "msl/Mechanics_MultiBody_Elementary_PointGravity.net",
    "a force and a moment": "msl/Mechanics_MultiBody_Elementary_ForceAndTorque.net",
    "rolling": "msl/Mechanics_MultiBody_Elementary_RollingWheel.net",
    "a rotor on a body": "msl/Mechanics_MultiBody_Rotational3DEffects_GyroscopicEffects.net",
    "a robot with stops": "robots/gripper.net",
    "a robot with drives": "robots/puma.net",
}
"""A model of each kind: the others of the models folder have the same joints, loops and forces."""
RANDOM = (0, 5)
"""Random trees that have joints of every kind between them."""


@cache
def model_of(name):
    """A text of this file, loaded once."""
    return netsim.load(EVERY[name])


def difference(one, other):
    """The largest difference of two runs' signals, relative to each signal's vector (at least 1)."""
    assert set(one.data_vars) == set(other.data_vars)
    worst = 0.0
    for name in one.data_vars:
        if not name.startswith("energy"):
            size = max(float(np.abs(one[n]).max()) for n in one.data_vars if n.rpartition(".")[0] == name.rpartition(".")[0])
            worst = max(worst, float(np.abs(one[name] - other[name]).max()) / max(size, 1.0))
    return worst


def test_random_trees_have_joints_of_every_kind():
    assert all(any(f" {joint} (" in random_tree(seed) for seed in RANDOM) for joint in JOINTS)


@pytest.mark.parametrize("name", [*TEXTS, *map(str, RANDOM), *MECHANISMS.values()])
def test_both_formulations_agree_at_the_same_state(name):
    """Accelerations, reactions and actuator forces of every tree at random velocities: from the tree, and from the absolute equations."""
    model = model_of(name) if name in TEXTS else netsim.load(random_tree(int(name)) if name.isdigit() else models_folder() / name)
    assert max(difference_at_a_state(model).values()) < 1e-10


BY_METHOD = {"radau": ("loop", "kinds", "plane"), "bdf": ("arm", "control"), "trbdf2": ("arm",), "rk45": ("arm",)}


@cache
def followed(name, **options):
    return model_of(name).transient(stop=0.1, sample=0.02, rtol=1e-7, save=[], **options)


@pytest.mark.parametrize(("name", "method"), [(name, method) for method, names in BY_METHOD.items() for name in names])
def test_methods_that_choose_their_steps_agree_to_tolerance(name, method):
    tree = followed(name, method=method, formulation="tree")
    assert tree.attrs["formulation"] == "tree" and tree.attrs["finished"]
    assert difference(followed(name), tree) < 1e-4


@pytest.mark.parametrize("name", EVERY)
def test_trajectories_approach_one_another_with_the_order_of_the_method(name):
    model = model_of(name)
    apart = []
    for step in (1e-3, 5e-4):
        options = {"stop": 0.1, "step": step, "every": round(0.01 / step), "method": "generalized_alpha"}
        absolute, tree = (model.transient(**options, formulation=f, save=[]) for f in ("absolute", "tree"))
        assert tree.attrs["unknowns"] <= absolute.attrs["unknowns"]
        apart.append(difference(absolute, tree))
    assert apart[1] < 1e-9 or 2.5 < apart[0] / apart[1] < 8
    assert apart[1] < 5e-3


@pytest.mark.parametrize("name", EVERY)
def test_the_step_matrix_is_the_derivative_of_the_residual(name):
    model = model_of(name)
    absolute, structure, start, _ = start_of_run(model.machine, model.structure)
    machine, _, g, _ = formulated(absolute, structure, start, "tree")
    layout, n, nk = machine.system.layout, machine.system.n, machine.system.layout.nk
    rng = np.random.default_rng(0)
    history = np.concatenate([g[layout.x : layout.a] + 0.5 * rng.normal(size=2 * nk), rng.normal(size=nk), g[layout.history : layout.step_size]])
    set_coefficients(g, 0.3, 0.7, 1.3, 0.9)
    set_differentiated_history(machine.problem, g, history)

    def residual(u, table):
        spread(machine.problem, g, history, u)
        out = np.zeros(machine.system.out_size)
        run_table(table, g, out)
        return out

    u, pattern = 0.3 * rng.normal(size=n), machine.system.pattern
    out = residual(u, machine.problem.jacobian)
    assert np.array_equal(out[:n], residual(u, machine.problem.residual)[:n])
    matrix = np.zeros((n, n))
    matrix[pattern.indices, np.repeat(np.arange(n), np.diff(pattern.indptr))] = out[layout.entries : layout.entries + pattern.nnz]
    steps = 1e-6 * np.eye(n)
    found = [(residual(u + d, machine.problem.residual) - residual(u - d, machine.problem.residual))[:n] / 2e-6 for d in steps]
    assert np.abs(np.transpose(found) - matrix).max() < 1e-7 * np.abs(matrix).max()


def test_mixed_problem_against_the_recursion_of_the_paper():
    """Two joints with known motion and one with a known torque, as a netlist: the forces are those of the mixed recursion."""
    run = netsim.load(MIXED).transient(stop=1.0, step=0.01, method="generalized_alpha", formulation="tree", save=["m1.T", "m3.F", "j2.q", "j2.rate"])
    tree = build_tree(
        [
            Body("c1", None, Joint("revolute", (0, 0, 1), viscous=0.1), Inertia(5.0, (0, 0, 0.2), np.diag([0.1, 0.1, 0.2]))),
            Body("c2", "c1", Joint("revolute", (0, 1, 0)), Inertia(3.0, (0.4, 0, 0), np.diag([0.01, 0.1, 0.1])), (0, 0, 0.4)),
            Body("c3", "c2", Joint("prismatic", (1, 0, 0), viscous=2.0), Inertia(1.5, (0.3, 0, 0), np.diag([0.01, 0.05, 0.05])), (0.8, 0, 0)),
        ]
    )
    chi = np.array([True, False, True])
    worst = 0.0
    for t, T, F, q, rate in zip(*(np.asarray(run[n]) for n in ("time", "m1.T", "m3.F", "j2.q", "j2.rate"))):
        place = [0.3 * (1 - np.cos(2 * t)), q, 0.1 * (1 - np.cos(3 * t))]
        speed = [0.6 * np.sin(2 * t), rate, 0.3 * np.sin(3 * t)]
        _, forces = mixed(tree, np.array(place), np.array(speed), np.array([1.2 * np.cos(2 * t), -40.0, 0.9 * np.cos(3 * t)]), chi)
        worst = max(worst, abs(forces[0] - T), abs(forces[2] - F))
    assert worst < 1e-9 * float(np.abs(run["m1.T"]).max())
    assert run.attrs["unknowns"] == 6  # one coordinate, two forces, three works


REPEATING = {
    "mechanisms/fourbar_spatial.net": {"stop": 0.3, "step": 1e-3, "method": "generalized_alpha"},
    "benchmarks/bricard.net": {"stop": 2.0, "rtol": 1e-7, "sample": 0.05},
}


@pytest.mark.parametrize("name", REPEATING)
def test_loops_that_repeat_constraints_share_their_reactions_alike(name):
    """Fewer constraints are left out than in absolute coordinates, or others: the samples' reactions are those of least norm all the same."""
    model, options = netsim.load(models_folder() / name), REPEATING[name]
    absolute, tree = (model.transient(**options, formulation=f, save=[]) for f in ("absolute", "tree"))
    assert absolute.attrs["redundant"] and tree.attrs["redundant"] and tree.attrs["finished"]
    assert tree.attrs["characteristic_length"] == pytest.approx(absolute.attrs["characteristic_length"], rel=1e-12)
    assert difference(absolute, tree) < (1e-9 if "step" in options else 1e-4)


STATIC = [*TEXTS, "mechanisms/fourbar_spatial.net", "mechanisms/delta_robot.net", "mechanisms/slider_crank.net", "benchmarks/nfourbar.net"]


@pytest.mark.parametrize("name", [name for name in STATIC if name not in ("kinds", "mixed")])
def test_equilibria_are_the_same_in_both_formulations(name):
    """Positions, reactions and stability; of trees, loops, prescribed motions and controllers."""
    model = model_of(name) if name in EVERY else netsim.load(models_folder() / name)
    absolute, tree = (model.static(save=[], formulation=f) for f in ("absolute", "tree"))
    assert (absolute.attrs["formulation"], tree.attrs["formulation"]) == ("absolute", "tree")
    assert tree.attrs["unknowns"] < absolute.attrs["unknowns"]
    assert absolute.attrs["stability"] == tree.attrs["stability"]
    assert difference(absolute, tree) < 1e-10


FREE = {
    "at its centre": """
b body (c) m = 2 kg, I = diag(0.1, 0.2, 0.3) kg.m2, at = [0, 0, -1] m
s line_spring (ground, c) at1 = [0, 0, 0] m, at2 = [0, 0, -1] m, c = 200 N/m
p line_spring (ground, c) at1 = [3, 0, -1] m, at2 = [0, 0, -1] m, c = 200 N/m
k line_spring (ground, c) at1 = [0, 3, -1] m, at2 = [0, 0, -1] m, c = 200 N/m
""",
    "at the end of an arm": """
b1 body (c1) m = 1 kg, I = diag(0.01, 0.02, 0.03) kg.m2, at = [0.3, 0.2, -1] m
b2 body (c2) m = 1 kg, I = diag(0.01, 0.02, 0.03) kg.m2, at = [0.7, 0.1, -2] m
j1 revolute (ground, c1) at = [0.1, 0.2, -0.3] m, axis = [0, 1, 0], c = 20 N.m/rad
j2 spherical (c1, c2) at = [0.7, 0.1, -2] m
""",
}


@pytest.mark.parametrize("name", FREE)
def test_what_turns_freely_is_free_in_both_formulations(name):
    """A body held at its centre of mass: what rounding leaves of the moments there resists nothing."""
    model = netsim.load("use spatial\nworld gravity = [0, 0, -9.81] m/s2" + FREE[name])
    for formulation in ("absolute", "tree"):
        found = model.static(save=[], formulation=formulation)
        assert found.attrs["stability"] == "neutral"
        assert found.attrs["free"].count("nothing") == 3, found.attrs["free"]


@pytest.mark.parametrize(("name", "body"), [("arm", "c4"), ("bent loop", "c2"), ("floating plane", "c4")])
def test_a_run_in_joint_coordinates_begins_in_equilibrium(name, body):
    """Bodies stay where they hang, on rigid links and on links bent by their weight."""
    model = netsim.load(EVERY[name].replace("2 N*sin(3 rad/s*time)", "2 N"))
    run = model.transient(stop=0.5, sample=0.1, formulation="tree", save=[f"{body}.r", f"{body}.v"], **{"from": "static"})
    assert run.attrs["formulation"] == "tree"
    assert max(np.ptp(run[name].values) for name in run.data_vars if name.startswith(f"{body}.r")) < 1e-7
    assert max(np.abs(run[name].values).max() for name in run.data_vars if name.startswith(f"{body}.v")) < 1e-6


def test_wrong_formulations_of_static_are_refused():
    with pytest.raises(InputError, match="E424"):
        netsim.load(MODELS["pendulum"]).static(formulation="trees")
    with pytest.raises(InputError, match="E439"):
        netsim.load(models_folder() / "rc.net").static(formulation="tree")


STORES = """
component drag_memory (a : spatial) "remembers how fast a body was, by a filter of its momentum"
  param m : kg
  var p[3] : kg.m/s
  der(p + m*a.v) = -p*(1 Hz)
end
use spatial
b body (c) m = 1 kg, I = diag(1, 1, 1) kg.m2
d drag_memory (c) m = 1 kg
"""


def test_charges_that_read_frames_stay_absolute():
    model = netsim.load(STORES)
    with pytest.raises(InputError, match="E439"):
        model.transient(stop=0.01, step=1e-3, formulation="tree", method="euler")
    run = model.transient(stop=0.01, step=1e-3, formulation="auto", method="euler")
    assert run.attrs["formulation"] == "absolute" and "depends on the motion of bodies" in run.attrs["coordinates"]
    assert netsim.load(MODELS["pendulum"]).transient(stop=0.01, step=1e-3, formulation="auto", method="euler").attrs["formulation"] == "tree"


DRIVEN = """
use spatial
use rotational
world gravity = [0, 0, -9.81] m/s2
upper body (u) m = 2 kg, I = diag(0.1, 0.2, 0.2) kg.m2, at = [0.5, 0, 0] m
lower body (l) m = 1 kg, I = diag(0.05, 0.1, 0.1) kg.m2, at = [1.3, 0, 0] m
j1    revolute_driven (ground, u, f1) at = [0, 0, 0] m, axis = [0, 1, 0]
j2    revolute_driven (u, l, f2)      at = [1, 0, 0] m, axis = [0, 1, 0]
wheel inertia (f1) J = 0.3 kg.m2
push  torque (f2) T = 3 N.m * sin(2*time / 1 s)
"""
SOURCES = {
    "motion": "d angle (f1, ground) phi = 0.3 rad * (1 - cos(2*time / 1 s))",
    "velocity": "d speed (f1, ground) w = 0.6 rad/s * sin(2*time / 1 s)",
    "acceleration": "d angular_acceleration (f1, ground) a = 1.2 rad/s2 * cos(2*time / 1 s)",
    "force": "d torque (f1) T = -20 N.m",
}


def driven_arm():
    at_y = Joint("revolute", (0, 1, 0))
    return build_tree(
        [
            Body("u", None, at_y, Inertia(2.0, (0.5, 0, 0), np.diag([0.1, 0.2, 0.2]))),
            Body("l", "u", at_y, Inertia(1.0, (0.3, 0, 0), np.diag([0.05, 0.1, 0.1])), (1.0, 0, 0)),
        ]
    )


@pytest.mark.parametrize("formulation", ("tree", "absolute"))
@pytest.mark.parametrize("kind", ("motion", "velocity", "acceleration"))
def test_sources_of_motion_make_chi_one(kind, formulation):
    """A source of angle, speed or acceleration on a flange: the motion is known, its torque is that of the mixed recursion at the same state."""
    save = ["f1.phi", "f2.phi", "f1.w", "f2.w", "d.drive"]
    run = netsim.load(DRIVEN + SOURCES[kind]).transient(stop=1.0, sample=0.1, rtol=1e-9, formulation=formulation, save=save)
    for t, q1, q2, w1, w2, drive in zip(np.asarray(run["time"]), *(np.asarray(run[name]) for name in save)):
        assert abs(q1 - 0.3 * (1 - np.cos(2 * t))) < 1e-6 and abs(w1 - 0.6 * np.sin(2 * t)) < 1e-5
        known = np.array([1.2 * np.cos(2 * t), 3 * np.sin(2 * t)])
        a, tau = mixed(driven_arm(), np.array([q1, q2]), np.array([w1, w2]), known, np.array([True, False]))
        assert abs(tau[0] + 0.3 * a[0] - drive) < 1e-5


@pytest.mark.parametrize("method", ("radau", "bdf"))
@pytest.mark.parametrize("formulation", ("tree", "absolute"))
def test_a_prescribed_acceleration_is_as_accurate_as_asked(formulation, method):
    """Its speed and angle are known by integration alone: projecting velocities onto the constraints leaves them, and few steps do."""
    model, rtol = netsim.load(DRIVEN + SOURCES["acceleration"]), 1e-6
    run = model.transient(stop=1.0, sample=0.1, rtol=rtol, method=method, formulation=formulation, save=["f1.phi", "f1.w"])
    t = np.asarray(run["time"])
    assert np.abs(np.asarray(run["f1.phi"]) - 0.3 * (1 - np.cos(2 * t))).max() < rtol
    assert np.abs(np.asarray(run["f1.w"]) - 0.6 * np.sin(2 * t)).max() < rtol
    assert run.attrs["steps"] < 1000 and run.attrs["failed"] < 10


@pytest.mark.parametrize("formulation", ("tree", "absolute"))
def test_a_torque_leaves_chi_zero(formulation):
    """The arm moves as forward dynamics of the recursions say, the wheel on its flange added to the mass matrix."""
    tree, wheel = driven_arm(), np.diag([0.3, 0.0])

    def rate(t, y):
        forces = np.array([-20.0, 3 * np.sin(2 * t)]) - rnea(tree, y[:2], y[2:], np.zeros(2))
        return np.concatenate([y[2:], np.linalg.solve(crba(tree, y[:2]) + wheel, forces)])

    run = netsim.load(DRIVEN + SOURCES["force"]).transient(
        stop=1.0, rtol=1e-9, sample=0.1, formulation=formulation, save=["f1.phi", "f2.phi", "f1.w", "f2.w"]
    )
    expected = solve_ivp(rate, (0, 1), np.zeros(4), rtol=1e-11, atol=1e-12, t_eval=np.asarray(run["time"])).y
    for name, column in zip(("f1.phi", "f2.phi", "f1.w", "f2.w"), expected):
        assert np.abs(np.asarray(run[name]) - column).max() < 1e-6 * np.abs(column).max(), name


def test_inverse_analysis_in_joint_coordinates():
    """The torques that move an arm as wished, in either formulation."""
    found = {}
    for formulation in ("absolute", "tree"):
        run = netsim.load(DRIVEN + SOURCES["force"]).inverse(
            {"f1.phi": "0.3 rad*bell(time, at = 0.5 s, width = 0.4 s)", "f2.phi": "0.2 rad*bell(time, at = 0.5 s, width = 0.4 s)"},
            ["d.T", "push.T"], save=["d.T", "push.T"], stop=1.0, step=5e-3, formulation=formulation,
        )  # fmt: skip
        found[formulation] = np.column_stack([run["d.T"], run["push.T"]])
    assert np.abs(found["tree"] - found["absolute"]).max() < 1e-6 * np.abs(found["absolute"]).max()
