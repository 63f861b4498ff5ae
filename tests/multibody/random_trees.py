"""Random trees and states for the tests of netsim/tree, the same for the same seed."""

import numpy as np
from tree_reference import quaternion_rotation

from netsim.multibody.tree.beam import Beam, Section, flexible_beam
from netsim.multibody.tree.model import ELASTIC, ELASTIC_Q, FREE, JOINT_Q, KIND, SPHERICAL, Body, Inertia, Joint, build_tree
from netsim.text.expressions import shapes

KINDS = ("revolute", "prismatic", "spherical", "free", "fixed")
FAMILIES = tuple(shapes.FAMILIES)


def random_rotation(rng):
    q = rng.normal(size=4)
    return quaternion_rotation(q / np.linalg.norm(q))


def random_inertia(rng):
    spread = rng.normal(size=(3, 3))
    return Inertia(rng.uniform(0.5, 2), 0.3 * rng.normal(size=3), 0.1 * spread @ spread.T + 0.05 * np.eye(3))


def random_beam(rng, foreshortening=False):
    section = Section(2.0, 50.0, 70.0, 20.0, (0.02, 0.01, 0.012))
    family, torsion = FAMILIES[rng.integers(len(FAMILIES))], int(rng.integers(2))
    length, options = rng.uniform(0.5, 1.5), {"foreshortening": foreshortening, "damping": 0.01, "by_elements": bool(rng.integers(2))}
    if rng.random() < 0.2:
        return Beam(length, section, shapes.bending_shapes(family, 2), in_plane=True, **options)
    return flexible_beam(length, section, family, 2, torsion, **options)


def random_tree(seed, n, flexible=0.0, foreshortening=False, kinds=KINDS, friction=True, chain=False):
    """A tree of n bodies; `flexible` of them are beams."""
    rng = np.random.default_rng(seed)
    rubbing = {"coulomb": 0.3, "viscous": 0.1, "width": 0.5} if friction else {}
    bodies = []
    for i in range(n):
        joint = Joint(kinds[rng.integers(len(kinds))], tuple(rng.normal(size=3)), **rubbing)
        inertia = random_beam(rng, foreshortening) if rng.random() < flexible else random_inertia(rng)
        parent = None if i == 0 else f"b{i - 1 if chain else rng.integers(max(0, i - 4), i)}"
        bodies.append(Body(f"b{i}", parent, joint, inertia, 0.5 * rng.normal(size=3), random_rotation(rng), rng.uniform(0.3, 1)))
    return build_tree(bodies, gravity=(1.0, 2.0, -9.0))


def random_state(tree, seed):
    """q, v, a and wrenches; quaternions of length one, deflections a fifth of the rest."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=tree.nq)
    for kind, at, elastic, count in tree.flat.node[:, (KIND, JOINT_Q, ELASTIC_Q, ELASTIC)]:
        if kind in (SPHERICAL, FREE):
            four = slice(at + 3, at + 7) if kind == FREE else slice(at, at + 4)
            q[four] /= np.linalg.norm(q[four])
        if kind <= FREE:
            q[elastic : elastic + count] *= 0.2
    return q, rng.normal(size=tree.nv), rng.normal(size=tree.nv), rng.normal(size=(tree.nodes, 6))


def largest(a):
    return np.max(np.abs(a), initial=0.0)
