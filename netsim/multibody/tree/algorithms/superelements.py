"""Superelements: parts of a tree condensed into one element each (G17 secs 2, 4, 6), between the articulated recursion
and the whole mass matrix.

A superelement is a connected part of the tree. It hands motion outward (V, V' of what it hangs on to all it carries)
and forces inward: seen from what it hangs on, it needs the wrench F = K V' + p. With x'' the accelerations of all its
coordinates, D their mass matrix with what the part carries as loads, u (6 each) their wrenches at its root and c their
forces at x'' = 0, V' = 0,

    D x'' + u V' + c = tau,     K = K_c - u^T D^-1 u,     p = p_c + u^T D^-1 (tau - c)

the Schur complement of the part: dense inside, six numbers wide outside. Where forces are known (chi = 0) it is the
kinetostatic element of the second kind, where motions are (chi = 1) nothing of D and u is eliminated and it is that of
the first kind; coordinates may be mixed. With one body in each it is the articulated recursion, O(n), which G17 finds
optimal; with the whole tree in one it is the mass matrix and its factorisation, O(n^3).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import compiled
from netsim.core.linear.elimination import solve_dense
from netsim.multibody.tree import model
from netsim.multibody.tree.algorithms.articulated import add_to_parent, inertia_times, subtract_outer
from netsim.multibody.tree.algorithms.composite import elastic_entries, joint_entries
from netsim.multibody.tree.algorithms.forward import joint_block, make_articulated, point_inward, velocities
from netsim.multibody.tree.algorithms.inverse import friction, no_wrenches
from netsim.multibody.tree.flexible import set_coordinates
from netsim.multibody.tree.kinematics import make_motion, point_columns
from netsim.multibody.tree.model import Array, Tree
from netsim.multibody.tree.spatial import add, dot, plus, put, row, scaled, twist_to_child, wrench_to_parent


@dataclass(frozen=True, eq=False)
class Superelement:
    """A part of a tree: its bodies (the first is its root), the superelement it hangs on (a number, None for the
    ground) and its coordinates."""

    bodies: tuple[str, ...]
    parent: int | None
    coordinates: Array


class Cut(NamedTuple):
    """The root node of every node's part, head (nodes,); the coordinates of the part of root i are order[start[i] :
    start[i + 1]]; and the most bodies that a part has: with one, `forward.mixed_into` does the same with less."""

    head: Array
    start: Array
    order: Array
    most: int


def superelements(tree: Tree, size: int) -> tuple[Cut, list[Superelement]]:
    """The tree cut into parts of at most `size` bodies, from the ground on, as arrays and as parts.

    Raises ValueError for a size below one.
    """
    if size < 1:
        raise ValueError(f"a superelement has at least one body, not {size}")
    names = {node: name for name, node in tree.node.items()}
    head, count = np.zeros(tree.nodes, np.int64), np.zeros(tree.nodes, np.int64)
    for i in range(1, tree.nodes):
        above = int(head[tree.flat.node[i, model.PARENT]])
        joins = i not in names or (above > 0 and count[above] < size)  # a point belongs to its body
        head[i] = above if joins else i
        count[head[i]] += i in names
    nodes: dict[int, list[int]] = {}
    for i in names:
        nodes.setdefault(int(head[i]), []).append(i)
    number = {root: k for k, root in enumerate(nodes)}
    start, parts = np.zeros(tree.nodes + 1, np.int64), []
    for root, members in nodes.items():
        ranges = [
            np.arange(a, a + n + e)
            for a, n, e in tree.flat.node[members][:, (model.JOINT_V, model.DOFS, model.ELASTIC)]
        ]
        above = int(head[tree.flat.node[root, model.PARENT]])
        parts.append(
            Superelement(tuple(names[i] for i in members), number[above] if above else None, np.concatenate(ranges))
        )
        start[root + 1] = len(parts[-1].coordinates)
    order = np.concatenate([np.zeros(0, np.int64), *(part.coordinates for part in parts)])
    return Cut(head, np.cumsum(start), order, max((len(part.bodies) for part in parts), default=0)), parts


def mixed_by_superelements(
    tree: Tree,
    q: Array,
    v: Array,
    known: Array,
    motion: Sequence[bool] | Array,
    size: int,
    wrenches: Array | None = None,
) -> tuple[Array, Array]:
    """Accelerations and forces (nv,) as `forward.mixed` finds them, with superelements of at most `size` bodies.

    Raises LinAlgError where a part has no inertia to accelerate."""
    values = [np.asarray(x, float) for x in (q, v, known)]
    given = no_wrenches(tree) if wrenches is None else wrenches
    a, tau, solved = _mixed(tree.flat, *values, np.asarray(motion, np.bool_), given, superelements(tree, size)[0])
    if not solved:
        raise np.linalg.LinAlgError("a coordinate without inertia has a known force: its acceleration is undetermined")
    return a, tau


@compiled
def _mixed(t, q, v, known, motion, wrenches, cut):
    a, tau = np.empty(len(v)), np.empty(len(v))
    solved = condensed_into(t, q, v, known, motion, wrenches, cut, make_motion(t), make_articulated(t), a, tau)
    return a, tau, solved


@compiled
def condensed_into(t, q, v, known, motion, wrenches, cut, m, w, a, tau):
    """mixed_into by superelements: false where a part has no inertia to accelerate."""
    nv = len(v)
    matrix = np.empty((nv, nv))
    tau[:] = 0.0
    w.force[:] = 0.0
    friction(t, v, 1.0, tau)
    velocities(t, q, v, wrenches, m, w)
    _begin(t, cut, m, w, matrix)
    for i in range(len(t.node) - 1, 0, -1):
        if t.node[i, model.KIND] == model.POINT:
            point_inward(t, i, q, m, w)
        else:
            _columns(t, i, q, cut.head[i], m, w, matrix)
            if cut.head[i] == i and not _condense(
                i, cut.order[cut.start[i] : cut.start[i + 1]], known, motion, tau, w, matrix
            ):
                return False
        parent = t.node[i, model.PARENT]
        add(
            w.bias,
            parent,
            wrench_to_parent(m.frame, i, plus(row(w.bias, i), inertia_times(w.inertia, i, row(w.drift, i)))),
        )
        if parent > 0:
            add_to_parent(w.inertia, i, parent, m.frame)
    _outward(t, q, known, motion, cut, m, w, matrix, a, tau)
    return True


@compiled
def _begin(t, cut, m, w, matrix):
    """Rates inside parts whose roots have none (all x'' = 0), and zeros between the branches of a part."""
    for i in range(1, len(t.node)):
        if cut.head[i] != i:
            put(m.rate, i, plus(twist_to_child(m.frame, i, row(m.rate, t.node[i, model.PARENT])), row(w.drift, i)))
            continue
        part = cut.order[cut.start[i] : cut.start[i + 1]]
        for k in part:
            for j in part:
                matrix[k, j] = 0.0


@compiled
def _outward(t, q, known, motion, cut, m, w, matrix, a, tau):
    """Accelerations part by part, and what they make of the nodes' rates."""
    for i in range(1, len(t.node)):
        rate = plus(twist_to_child(m.frame, i, row(m.rate, t.node[i, model.PARENT])), row(w.drift, i))
        if cut.head[i] == i:
            _accelerate(cut.order[cut.start[i] : cut.start[i + 1]], rate, known, motion, w, matrix, a, tau)
        if t.node[i, model.KIND] == model.POINT:
            set_coordinates(t.beams, t.node[i, model.FLEXIBLE], q, t.node[i, model.ELASTIC_Q], m.modal)
            point_columns(t, i, q, m)
            for k in range(t.node[i, model.ELASTIC]):
                rate = plus(rate, scaled(row(m.columns, k), a[t.node[i, model.ELASTIC_V] + k]))
        else:
            for k in range(t.node[i, model.JOINT_V], t.node[i, model.JOINT_V] + t.node[i, model.DOFS]):
                rate = plus(rate, scaled(row(t.coordinate, k), a[k]))
        put(m.rate, i, rate)


@compiled
def _columns(t, i, q, root, m, w, matrix):
    """The coordinates of node i in the mass matrix of its part, and their wrenches at its root into w.coupling."""
    _block_columns(t, i, t.node[i, model.ELASTIC_V], t.node[i, model.ELASTIC], q, root, True, m, w, matrix)
    joint_block(t, i, w)
    _block_columns(t, i, t.node[i, model.JOINT_V], t.node[i, model.DOFS], q, root, False, m, w, matrix)


@compiled
def _block_columns(t, i, at, count, q, root, own, m, w, matrix):
    """The same for `count` coordinates from `at` on, the elastic ones or those of the joint."""
    for k in range(at, at + count):
        for j in range(count):
            matrix[k, at + j] = w.block[k, j]
        w.force[k] += dot(row(w.coupling, k), row(m.rate, i))
        _climb(t, i, k, q, root, own, m, w, matrix)


@compiled
def _climb(t, i, column, q, root, own, m, w, matrix):
    """The wrench of a column, in w.coupling, through the joints (of i too, if `own`) of the nodes from i to the root of
    its part."""
    wrench = row(w.coupling, column)
    while True:
        if t.node[i, model.KIND] == model.POINT:
            elastic_entries(t, i, column, wrench, q, m, matrix)
        elif own:
            joint_entries(t, i, column, wrench, matrix)
        if i == root:
            put(w.coupling, column, wrench)
            return
        wrench = wrench_to_parent(m.frame, i, wrench)
        i, own = t.node[i, model.PARENT], True


@compiled
def _condense(root, part, known, motion, friction_force, w, matrix):
    """y = D^-1 (tau - c) and G = D^-1 u over the free coordinates of a part, whose Schur complement enters K and p of
    its root."""
    free, count = np.empty(len(part), np.int64), 0
    for k in part:
        w.offset[k] = known[k]
        for c in range(6):
            w.gain[k, c] = 0.0
        if not motion[k]:
            free[count] = k
            count += 1
    small, right = _free_part(free[:count], part, known, motion, friction_force, w, matrix)
    for r in range(count):
        if not small[r, r] > 0.0:
            return False
    if not solve_dense(small, right):
        return False
    for r in range(count):
        w.offset[free[r]] = right[r, 0]
        for c in range(6):
            w.gain[free[r], c] = right[r, 1 + c]
    for k in part:
        u = row(w.coupling, k)
        subtract_outer(w.inertia, root, u, row(w.gain, k))
        add(w.bias, root, scaled(u, w.offset[k]))
    return True


@compiled
def _free_part(free, part, known, motion, friction_force, w, matrix):
    """D of the free coordinates of a part, and the right sides tau - c (less what known accelerations take) and u."""
    small, right = np.empty((len(free), len(free))), np.empty((len(free), 7))
    for r in range(len(free)):
        k = free[r]
        right[r, 0] = known[k] - friction_force[k] - w.force[k]
        for j in part:
            if motion[j]:
                right[r, 0] -= matrix[k, j] * known[j]
        for c in range(6):
            right[r, 1 + c] = w.coupling[k, c]
        for c in range(len(free)):
            small[r, c] = matrix[k, free[c]]
    return small, right


@compiled
def _accelerate(part, rate, known, motion, w, matrix, a, tau):
    """x'' = y - G V' of a part; the force of a coordinate with known acceleration is D x'' + u V' + c + friction."""
    for k in part:
        a[k] = known[k] if motion[k] else w.offset[k] - dot(row(w.gain, k), rate)
    for k in part:
        if motion[k]:
            tau[k] += dot(row(w.coupling, k), rate) + w.force[k]
            for j in part:
                tau[k] += matrix[k, j] * a[j]
        else:
            tau[k] = known[k]
