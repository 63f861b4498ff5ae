"""Analytic derivatives against the complex step of the reference recursion: exact to round-off, every term of every joint and beam."""

import numpy as np
import pytest
import tree_reference as reference
from random_trees import FAMILIES, largest, random_inertia, random_rotation, random_state, random_tree

from netsim.multibody.tree.algorithms.composite import crba
from netsim.multibody.tree.algorithms.derivatives import rnea_derivatives
from netsim.multibody.tree.algorithms.observers import move, placements
from netsim.multibody.tree.beam import Section, flexible_beam
from netsim.multibody.tree.charts import turn_columns
from netsim.multibody.tree.model import (
    ELASTIC,
    ELASTIC_Q,
    ELASTIC_V,
    FREE,
    JOINT_Q,
    JOINT_V,
    KIND,
    POINT,
    SPHERICAL,
    Body,
    Joint,
    build_tree,
    neutral,
)

STEP = 1e-30


def tangent_step(tree, q, k):
    """q + i STEP (coordinate k of v), to first order, in complex numbers."""
    moved = q.astype(complex)
    for kind, at, first, dofs, elastic_q, elastic_v, count in tree.flat.node[1:, (KIND, JOINT_Q, JOINT_V, 4, ELASTIC_Q, ELASTIC_V, ELASTIC)]:
        if kind == POINT:
            continue
        if elastic_v <= k < elastic_v + count:
            moved[elastic_q + k - elastic_v] += 1j * STEP
        if not first <= k < first + dofs:
            continue
        if kind not in (SPHERICAL, FREE):
            moved[at] += 1j * STEP
            continue
        quaternion = at + 3 if kind == FREE else at
        axis = np.eye(6)[k - first + (3 if kind == SPHERICAL else 0)]
        x = q[quaternion : quaternion + 4]
        if kind == FREE:
            moved[at : at + 3] += 1j * STEP * (reference.quaternion_rotation(x) @ axis[:3])
        turn = np.concatenate([x[3] * axis[3:] + np.cross(x[:3], axis[3:]), [-x[:3] @ axis[3:]]])
        moved[quaternion : quaternion + 4] += 0.5j * STEP * turn
    return moved


@pytest.mark.parametrize(
    "seed, n, flexible, foreshortening",
    [(0, 12, 0.0, False), (1, 6, 1.0, False), (2, 5, 1.0, True), (3, 10, 0.4, False), (4, 8, 0.6, True)],
)
def test_against_the_complex_step(seed, n, flexible, foreshortening):
    check_derivatives(random_tree(seed, n, flexible, foreshortening), seed)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "functions, torsion, foreshortening, mass_damping", [(1, 0, True, 0.0), (2, 3, False, 0.2), (3, 0, True, 0.1), (4, 2, True, 0.0)]
)
def test_beams_against_the_complex_step(family, functions, torsion, foreshortening, mass_damping):
    """Chains and branches of beams of every family: elastic coordinates of bending and torsion, alone and with those of joints and other beams."""
    rng = np.random.default_rng(functions)
    section = Section(2.0, 50.0, 70.0, 20.0, (0.02, 0.01, 0.012))
    count = functions + functions % 2 if family == "hermite" else functions
    beam = flexible_beam(0.8, section, family, count, torsion, foreshortening=foreshortening, damping=0.01, mass_damping=mass_damping)
    joints = Joint("free"), Joint("revolute", (0.3, 1, 0.2)), Joint("spherical"), Joint("prismatic", (1, 0.2, 0))
    parents = None, "b0", "b1", "b1"
    carried = beam, beam, random_inertia(rng), beam
    bodies = [Body(f"b{i}", *each, 0.3 * rng.normal(size=3), random_rotation(rng), 0.9) for i, each in enumerate(zip(parents, joints, carried))]
    check_derivatives(build_tree(bodies, gravity=(1.0, 2.0, -9.0)), functions)


def check_derivatives(tree, seed):
    q, v, a, wrenches = random_state(tree, seed)
    units = np.eye(tree.nv)
    by_q = np.array([reference.rnea(tree, tangent_step(tree, q, k), v, a, wrenches).imag / STEP for k in range(tree.nv)]).T
    by_v = np.array([reference.rnea(tree, q, v + 1j * STEP * unit, a, wrenches).imag / STEP for unit in units]).T
    found_q, found_v, found_a = rnea_derivatives(tree, q, v, a, wrenches)
    assert largest(found_q - by_q) <= 1e-12 * largest(by_q)
    assert largest(found_v - by_v) <= 1e-12 * largest(by_v)
    assert largest(found_a - crba(tree, q)) <= 1e-13 * largest(found_a)


def test_the_slope_of_a_step():
    """turn_columns: the change of the place after a step, in body axes, against differences of `move`."""
    tree = build_tree([Body("ball", None, Joint("free"))])
    start, step, h = neutral(tree), np.array([0.3, -0.5, 0.2, 0.7, -0.4, 0.9]), 1e-6
    slope = np.eye(6)
    turn_columns(tree.flat, step, slope)
    here = np.vstack([placements(tree, move(tree, start, step))[1], [0, 0, 0, 1]])
    for k in range(6):
        ahead, behind = (placements(tree, move(tree, start, step + s * h * np.eye(6)[k]))[1] for s in (1, -1))
        change = np.linalg.inv(here) @ np.vstack([(ahead - behind) / (2 * h), np.zeros(4)])
        twist = [*change[:3, 3], change[2, 1], change[0, 2], change[1, 0]]
        assert twist == pytest.approx(slope[:, k], abs=1e-8)
