"""Masses and inertias of a network's bodies, from the energy that their components store.

A component of one frame is a rigid body if its energy is T(v, w) - m g . c: the inertia is then the Hessian of the
energy by the frame's velocity, [[m, -m [c]x], [m [c]x, J]] about the node's point; in the plane its rows and columns of
v.x, v.y and w. No shape is described twice, and a user's own body serves as well.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.forms.form import Form
from netsim.equations.kernels.kernel import Kernel, known_kernel, make_kernel
from netsim.equations.kernels.symbolic import ca
from netsim.equations.machine import Machine, custom_call, run_calls
from netsim.library.component import PLANAR, is_body

Array = np.ndarray
ROUNDING = 1e-9
IN_PLANE = [0, 1, 5]
"""Components of a twist that a frame in the plane has."""


@dataclass(frozen=True)
class RigidBody:
    """What hangs on a node: mass [kg], centre of mass from the node's point [m] and inertia about the node's point [kg
    m2], along the world's axes of the reference placement. Masses of several add up."""

    mass: float
    moment: Array
    inertia: Array

    def __add__(self, other: "RigidBody") -> "RigidBody":
        return RigidBody(self.mass + other.mass, self.moment + other.moment, self.inertia + other.inertia)


NOTHING = RigidBody(0.0, np.zeros(3), np.zeros((3, 3)))


def rigid_bodies(machine: Machine) -> tuple[dict[int, RigidBody], set[str]]:
    """The rigid body on each node, and the names of the instances that are part of one. The machine's g is the
    reference placement."""
    found: dict[int, RigidBody] = {}
    named: set[str] = set()
    gravity = np.array(machine.values.world("gravity").value, float)
    for batch in machine.system.batches:
        if batch.shapes or not batch.instances or not _may_be_a_body(batch):
            continue
        numbers, parts = _evaluated(machine, batch), _parts(batch)
        for instance, column in zip(batch.instances, numbers.T):
            body = _body(column, gravity, parts)
            if body is not None:
                found[instance.nodes[0]] = found.get(instance.nodes[0], NOTHING) + body
                named.add(instance.name)
    return found, named


def is_silent(batch: Batch) -> bool:
    """Whether components exert nothing and own nothing: markers, frames without mass, sensors."""
    form = batch.form
    return not form.own and form.facts.recall(("zero",), lambda: all(ca.SX(r).is_zero() for r in form.residuals))


def _may_be_a_body(batch: Batch) -> bool:
    """One frame, nothing of its own, no inputs, a stored energy of its motion."""
    component = batch.instances[0].component
    domains = [component.domain(t) for t in component.terminals]
    if (
        len(domains) != 1
        or not is_body(domains[0])
        or batch.form.own
        or component.definition.inputs
        or component.definition.stores is None
    ):
        return False
    return batch.form.facts.recall(("stores motion",), lambda: _stores_motion(batch.form))


def _stores_motion(form: Form) -> bool:
    moving = [s for (key, order), s in form.symbols.gathered.items() if key[0] == "node" and order == 1]
    return any(ca.depends_on(ca.SX(form.stored), s) for s in moving)


def _parts(batch: Batch) -> list[int]:
    """The components of a twist that the batch's frames have."""
    component = batch.instances[0].component
    return IN_PLANE if component.domain(next(iter(component.terminals))).name == PLANAR else list(range(6))


def _evaluated(machine: Machine, batch: Batch) -> Array:
    """36 entries of the Hessian, 6 slopes by the position, the lost power: (43, instances)."""
    kernel = _kernel(batch)
    rows = len(kernel.scatter)
    scatter = np.arange(rows * batch.n).reshape(rows, batch.n)
    out = np.zeros(rows * batch.n)
    run_calls(
        [custom_call(machine.system, batch, kernel, machine.parameters, scatter)],
        machine.system.layout.uniforms,
        machine.g,
        out,
    )
    return out.reshape(rows, batch.n)


def _kernel(batch: Batch) -> Kernel:
    form, parts = batch.form, _parts(batch)
    return known_kernel(form.facts, ("body", *parts), lambda: _body_kernel(form, parts))


def _body_kernel(form: Form, parts: list[int]) -> Kernel:
    energy = ca.SX(form.stored)

    def symbols(order: int) -> Any:
        found: list[Any] = [None] * 6
        for c, part in enumerate(parts):
            found[part] = form.symbols.gathered.get((("node", 0, c), order))
        return ca.vertcat(*(ca.SX.sym("unread") if s is None else s for s in found))

    hessian = ca.densify(ca.hessian(energy, symbols(1))[0])
    slope = ca.densify(ca.gradient(energy, symbols(0)))
    values = [*ca.vertsplit(ca.vec(hessian)), *ca.vertsplit(slope), ca.SX(form.dissipated)]
    return make_kernel(form.symbols, [(("body", i), value) for i, value in enumerate(values)])


def _body(column: Array, gravity: Array, parts: list[int]) -> RigidBody | None:
    """The body behind an evaluated energy, None where it is none (a spring, something that loses power)."""
    hessian, slope, lost = column[:36].reshape(6, 6), column[36:42], column[42]
    mass, cross = hessian[0, 0], hessian[3:, :3]
    moment = np.array([cross[2, 1], -cross[2, 0], cross[1, 0]])
    size = np.abs(hessian).max()
    rigid = np.block([[mass * np.eye(3), cross.T], [skew(moment), hessian[3:, 3:]]])
    falls = -np.concatenate([mass * gravity, np.cross(moment, gravity)])
    if not size and not slope.any() and not lost:
        return NOTHING
    apart, shape = np.abs(slope - falls)[parts].max(), np.abs(hessian - rigid)[np.ix_(parts, parts)].max()
    if not size or lost or shape > ROUNDING * size or apart > ROUNDING * (size + np.abs(falls).max()):
        return None
    return RigidBody(float(mass), moment, hessian[3:, 3:])


def skew(a: Array) -> Array:
    """[a]x"""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
