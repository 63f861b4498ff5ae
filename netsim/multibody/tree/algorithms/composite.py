"""The mass matrix by composite bodies (Walker and Orin 1982, Featherstone), with flexible links: an oracle and a user's
tool, not a step of mixed."""

import numpy as np

from netsim.core.compiled.function import compiled, inner
from netsim.multibody.tree import model
from netsim.multibody.tree.algorithms.articulated import add_to_parent
from netsim.multibody.tree.algorithms.forward import joint_block, make_articulated, point_inward, velocities
from netsim.multibody.tree.flexible import set_coordinates
from netsim.multibody.tree.kinematics import make_motion, point_columns
from netsim.multibody.tree.model import Array, Tree
from netsim.multibody.tree.spatial import dot, row, wrench_to_parent


def crba(tree: Tree, q: Array) -> Array:
    """The mass matrix M (nv, nv) at positions q, whole and symmetric: rnea(q, v, a) = M a + rnea(q, v, 0);
    pinocchio.crba(model, data, q)."""
    return _crba(tree.flat, np.asarray(q, float))


@compiled
def _crba(t, q):
    nv = len(t.coordinate)
    matrix = np.zeros((nv, nv))
    m, w = make_motion(t), make_articulated(t)
    wrenches = np.zeros((len(t.node), 6))
    velocities(t, q, w.zero, wrenches, m, w)
    mass_matrix_into(t, q, m, w, matrix)
    return matrix


@inner
def mass_matrix_into(t, q, m, w, matrix):
    """The mass matrix from the bodies' own inertias in w (set by `velocities`), which become those of composite
    bodies."""
    for i in range(len(t.node) - 1, 0, -1):
        if t.node[i, model.KIND] == model.POINT:
            point_inward(t, i, q, m, w)
        else:
            own = t.node[i, model.ELASTIC]
            at = t.node[i, model.ELASTIC_V]
            for k in range(own):
                for j in range(own):
                    matrix[at + k, at + j] = w.block[at + k, j]
                joint_entries(t, i, at + k, row(w.coupling, at + k), matrix)
                climb(t, i, at + k, row(w.coupling, at + k), q, m, matrix)
            joint_block(t, i, w)
            for k in range(t.node[i, model.JOINT_V], t.node[i, model.JOINT_V] + t.node[i, model.DOFS]):
                joint_entries(t, i, k, row(w.coupling, k), matrix)
                climb(t, i, k, row(w.coupling, k), q, m, matrix)
        if t.node[i, model.PARENT] > 0:
            add_to_parent(w.inertia, i, t.node[i, model.PARENT], m.frame)


@inner
def joint_entries(t, i, column, wrench, matrix):
    """The entries of a column, whose wrench is given, in the rows of node i's joint."""
    for k in range(t.node[i, model.JOINT_V], t.node[i, model.JOINT_V] + t.node[i, model.DOFS]):
        matrix[k, column] = dot(row(t.coordinate, k), wrench)
        matrix[column, k] = matrix[k, column]


@inner
def elastic_entries(t, i, column, wrench, q, m, matrix):
    """The same in the rows of the elastic coordinates that move point i."""
    set_coordinates(t.beams, t.node[i, model.FLEXIBLE], q, t.node[i, model.ELASTIC_Q], m.modal)
    point_columns(t, i, q, m)
    for k in range(t.node[i, model.ELASTIC]):
        matrix[t.node[i, model.ELASTIC_V] + k, column] = dot(row(m.columns, k), wrench)
        matrix[column, t.node[i, model.ELASTIC_V] + k] = matrix[t.node[i, model.ELASTIC_V] + k, column]


@inner
def climb(t, i, column, wrench, q, m, matrix):
    """The entries of a column in the rows of all ancestors of node i: the wrench it needs goes down to the ground."""
    while i > 0:
        if t.node[i, model.KIND] == model.POINT:
            elastic_entries(t, i, column, wrench, q, m, matrix)
        wrench = wrench_to_parent(m.frame, i, wrench)
        i = t.node[i, model.PARENT]
        if t.node[i, model.KIND] != model.POINT:
            joint_entries(t, i, column, wrench, matrix)
