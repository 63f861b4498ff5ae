"""A machine in joint coordinates: the tree is one element, called before and after the kernels of all others."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from netsim.equations.batches import Batch, Indeterminacy, form_of, indeterminacy_of, pins
from netsim.equations.forms.form import Form
from netsim.equations.forms.symbols import Key
from netsim.equations.kernels.kernel import Kernel, known_kernel, make_kernel
from netsim.equations.kernels.symbolic import ca
from netsim.equations.layout import FOLLOWING
from netsim.equations.machine import Machine, build_machine, call_table, custom_call
from netsim.equations.system import Redundant, System
from netsim.multibody.jointspace import calls
from netsim.multibody.jointspace.compiled.plan import Motion, Plan
from netsim.multibody.jointspace.deflections import deflections
from netsim.multibody.jointspace.joints import BENT, PRISMATIC, SPHERICAL, Step
from netsim.multibody.jointspace.numbering import Elements, number
from netsim.multibody.jointspace.partials import Partials, find_partials
from netsim.multibody.jointspace.pattern import Places, find_places
from netsim.multibody.jointspace.spanning import Coordinate, Mechanism, axis_of, mechanism, point, takes_frames
from netsim.network.network import GROUND, Instance, Network
from netsim.network.values import Values
from netsim.structure.orders import absent_rates

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class TreeElement:
    """The tree of a machine: `partials` are its derivatives by order, `observed` is the call that completes a sampled
    point with the joints' forces; the rest is what calls point to."""

    tree: Mechanism
    elements: Elements
    plan: Plan
    motion: Motion
    partials: Partials
    observed: Array
    alive: list[Any] = field(repr=False)

    def without(self, machine: Machine, found: Redundant | None) -> Machine:
        """The machine without these constraints of its loops (None: with all)."""
        return joint_machine(
            machine.system.network, machine.values, machine.earlier, found, indeterminacy_of(machine.system.batches)
        )

    def with_indeterminacy(self, machine: Machine, indeterminacy: Indeterminacy) -> Machine:
        """The machine with these combinations of forces."""
        return joint_machine(
            machine.system.network, machine.values, machine.earlier, machine.system.redundant, indeterminacy
        )


def joint_machine(
    network: Network,
    values: Values,
    earlier: Callable[[Any, str], Any] | None = None,
    redundant: Redundant | None = None,
    indeterminacy: Indeterminacy | None = None,
) -> Machine:
    """A machine whose bodies move with the coordinates of their joints, without the constraints in `redundant`, with
    these combinations of forces; raises as `build_machine` does."""
    tree = mechanism(network, values)
    elements = number(network, values, tree)
    if indeterminacy is not None:
        elements = replace(elements, batches=[*elements.batches, indeterminacy])
    if redundant is not None:
        dropped = frozenset(map(int, redundant.rows))
        kept = [replace(batch, dropped=batch.dropped | dropped) for batch in elements.batches]
        elements = replace(elements, batches=[*kept, pins(redundant.rows, redundant.multipliers)])
    places = find_places(elements, tree)
    batches, prescribed_inputs = tuple(elements.batches), tuple(elements.prescribed_inputs)
    system = System(
        network, elements.numbering, elements.layout, batches, prescribed_inputs, places.pattern, places.positions,
        redundant, places.room,
    )  # fmt: skip
    return with_element(build_machine(system, values, earlier), tree, elements, places)


def with_element(machine: Machine, tree: Mechanism, elements: Elements, places: Places) -> Machine:
    """The machine with the tree's calls around those of all kernels."""
    system = machine.system
    plan = _plan(machine, tree, elements, places)
    motion = _room(plan)
    sides, side_calls = _sides(machine, tree, elements)
    problem, constant = machine.problem, absent_rates(system, machine.values)
    found = [problem.residual, sides, np.zeros(system.out_size), np.zeros(36 * len(plan.joints) + 1)]
    arrays = [*plan, *motion, *found]
    directory = calls.directory(arrays)

    def around(table: Array, before: int, *after: int) -> Array:
        return np.concatenate([calls.row(before, directory), table, *(calls.row(a, directory) for a in after)])

    problem = problem._replace(
        residual=around(problem.residual, calls.BEFORE_RESIDUAL, calls.AFTER_RESIDUAL),
        jacobian=around(problem.jacobian, calls.BEFORE_MATRIX, calls.AFTER_MATRIX),
        energy=around(problem.energy, calls.FRAMES_ONLY),
        reach=_reach(machine, tree, elements, plan),
    )
    partials = find_partials(machine, elements, tree, places, directory, constant)
    element = TreeElement(
        tree, elements, plan, motion, partials, calls.row(calls.OBSERVE, directory), [arrays, directory, side_calls]
    )
    return replace(machine, problem=problem, element=element)


def _plan(machine: Machine, tree: Mechanism, elements: Elements, places: Places) -> Plan:
    layout, system = elements.layout, machine.system
    entries = layout.entries
    rows = entries + places.pattern.nnz + 1
    sizes = np.array([
        len(tree.links), len(tree.coordinates), layout.nf, layout.following, layout.following + 18 * layout.nf, rows,
        layout.multipliers, layout.nm,
        entries, rows + 6 * layout.nf, places.room, layout.size, system.out_size,
    ])  # fmt: skip
    links, geometry = np.zeros((len(tree.links), 8), np.int64), np.zeros((len(tree.links), 9))
    rotations = {int(u): f for f, u in enumerate(elements.numbering.rotations)}
    spot: dict[int, Array] = {0: np.zeros(3)}
    for i, link in enumerate(tree.links):
        chart = layout.charts + 9 * rotations[int(elements.unknown[link.first])] if link.kind == SPHERICAL else -1
        body = tree.frames.get(link.body, -1)
        sign = link.sign if link.kind == BENT else 1
        links[i] = max(link.parent, 0), link.kind, link.first, link.freedom, body, chart, body in tree.flat, sign
        if i:
            geometry[i] = _geometry(machine, tree, i, spot)
    coordinates = np.array([_coordinate(elements, tree, k) for k in range(len(tree.coordinates))], np.int64).reshape(
        -1, 5
    )
    joints = np.array([_joint(elements, tree, number_, k) for k, number_ in enumerate(tree.joints)], np.int64).reshape(
        -1, 5
    )
    lists = {name: np.ascontiguousarray(array, np.int64) for name, array in places.lists.items()}
    flexible_first, lean, foreshortening = _flexible_joints(machine, tree)
    return Plan(
        sizes=sizes,
        links=links,
        coordinates=coordinates,
        joints=joints,
        geometry=geometry,
        flexible_first=flexible_first,
        lean=lean,
        foreshortening=foreshortening,
        **lists,
    )


def _flexible_joints(machine: Machine, tree: Mechanism) -> tuple[Array, Array, Array]:
    """Of joints with several coordinates: where each coordinate's rows begin, what it does at first order, and what
    pairs do at second order."""
    counts = [tree.links[c.link].freedom if tree.links[c.link].freedom > 1 else 0 for c in tree.coordinates]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    lean, foreshortening = np.zeros((len(counts), 6)), np.zeros((first[-1], 3))
    for link in tree.links:
        own = slice(link.first, link.first + link.freedom)
        if link.kind == SPHERICAL:
            lean[own, 3:] = np.eye(3)
        elif link.kind == BENT:
            instance, form = (
                machine.system.network.instances[link.joint],
                form_of(machine.system.network.instances[link.joint], True).form,
            )
            keys = [_key(instance, form, c, link.step) for c in tree.coordinates[own]]
            held = [k for k in range(len(form.own)) if ("own", k) not in keys]
            lean[own], second = deflections(instance, keys, held, machine.values)
            foreshortening[first[link.first] : first[link.first] + link.freedom**2] = second.reshape(-1, 3)
    return first, lean, foreshortening


def _key(instance: Instance, form: Form, coordinate: Coordinate, step: Step) -> Key:
    """The key of a bent link's coordinate in its form: its own, or that of its flange."""
    if coordinate.flange is None:
        return "own", form.own.index(coordinate.own)
    return "node", list(instance.component.terminals).index(step.coordinate), coordinate.part


def _geometry(machine: Machine, tree: Mechanism, i: int, spot: dict[int, Array]) -> Array:
    """Axis, way from the link before to the joint, from the joint to the link's point; `spot` has the points in the
    reference placement."""
    link = tree.links[i]
    if link.joint < 0:
        spot[i] = np.zeros(3) if link.body < 0 else _drawn(machine, tree, link.body)
        return np.concatenate([np.eye(3)[link.direction], np.zeros(6)])
    instance, values = machine.system.network.instances[link.joint], machine.values
    at = point(instance, link.step.at, values)
    axis = link.sign * axis_of(instance, link.step, values) if link.freedom == 1 and link.kind != BENT else np.zeros(3)
    spot[i] = at if link.body < 0 else _drawn(machine, tree, link.body)
    return np.concatenate([axis, at - spot[link.parent], spot[i] - at])


def _drawn(machine: Machine, tree: Mechanism, body: int) -> Array:
    """The reference position of a body (in the plane the third component is an angle, 0 there)."""
    return machine.g[machine.system.layout.place(FOLLOWING + 6 * tree.frames[body] + np.arange(3))].copy()


def _coordinate(elements: Elements, tree: Mechanism, k: int) -> tuple[int, ...]:
    """Slots of x, v, a, the row and the link of a coordinate."""
    layout, row = elements.layout, int(elements.row[k])
    if elements.prescribed[k] >= 0:
        slots = [int(layout.prescribed(elements.prescribed[k], order)) for order in range(3)]
    else:
        slots = [int(layout.unknown(elements.unknown[k], order)) for order in range(3)]
    return (*slots, row if row >= 0 else layout.n, tree.coordinates[k].link)


def _joint(elements: Elements, tree: Mechanism, instance: int, k: int) -> tuple[int, ...]:
    """Link, body, slot of the first multiplier, how many there are, where its columns begin."""
    link, own = tree.joints[instance], elements.multipliers[instance]
    first = int(elements.layout.unknown(own[:1], 0)[0]) if len(own) else 0
    return link, tree.frames.get(tree.links[link].body, -1), first, len(own), 36 * k


def _reach(machine: Machine, tree: Mechanism, elements: Elements, plan: Plan) -> Array:
    """Joint coordinates move what is far however small they are: 1 rad, and the mechanism's size for slides."""
    found = machine.problem.reach.copy()
    size = float(np.abs(plan.geometry[:, 3:]).max(initial=0.0))
    for coordinate, unknown in zip(tree.coordinates, elements.unknown):
        if unknown >= 0 and tree.links[coordinate.link].kind != BENT:
            slides = tree.links[coordinate.link].kind == PRISMATIC
            found[unknown] = max(found[unknown], size if slides else 1.0)
    return found


def _room(plan: Plan) -> Motion:
    links, coordinates = len(plan.links), len(plan.coordinates)

    def zeros(*shape: int) -> Array:
        return np.zeros(shape)

    motion = Motion(
        zeros(links, 3), zeros(links, 9), zeros(links, 6), zeros(links, 6), zeros(links, 6), zeros(links, 1),
        zeros(coordinates, 6),
        zeros(coordinates, 6), zeros(coordinates, 6), zeros(coordinates, 6), zeros(len(plan.foreshortening), 6),
        zeros(len(plan.path), 18),
        zeros(len(plan.columns), 6), zeros(coordinates, 18), zeros(coordinates, 6), zeros(links, 108),
        zeros(len(plan.pulls), 6),
    )  # fmt: skip
    motion.R[0, [0, 4, 8]] = 1.0
    return motion


def _sides(machine: Machine, tree: Mechanism, elements: Elements) -> tuple[Array, list]:
    """The call table that gives, for every joint of the tree, the wrench (6 by multipliers) on the body it carries per
    unit of its multipliers."""
    numbers = machine.system.network.instance_numbers
    order = {i: k for k, i in enumerate(tree.joints)}
    found = []
    for batch in machine.system.batches:
        joints = [numbers[instance.name] for instance in batch.instances] if not batch.shapes else []
        if joints and joints[0] in tree.joints and len(elements.multipliers[joints[0]]):
            kernel = _side_kernel(batch)
            scatter = np.full((len(kernel.scatter), batch.n), 36 * len(order))
            for e, (_, terminal, row, column) in enumerate(kernel.scatter):
                for k, i in enumerate(joints):
                    if batch.instances[k].nodes[terminal] == tree.links[tree.joints[i]].body:
                        frame = tree.frames.get(tree.links[tree.joints[i]].body, -1)
                        scatter[e, k] = 36 * order[i] + 6 * tree.component(frame, row) + column
            found.append(custom_call(machine.system, batch, kernel, machine.parameters, scatter))
    return call_table(found, machine.system.layout.uniforms), found


def _side_kernel(batch: Batch) -> Kernel:
    """('side', terminal, row, multiplier): the derivatives of the wrenches on both bodies by the multipliers."""
    form, terminals = batch.form, batch.instances[0].component.terminals
    own = [i for i in range(len(form.own)) if np.all(batch.columns(("own", i)) < GROUND)]
    framed = [takes_frames(batch.instances[0], terminal) for terminal in terminals]

    def make() -> Kernel:
        symbols = ca.vertcat(*(form.symbols.at(("own", i), 0) for i in own))
        rows = [(key, r) for key, r in zip(form.rows, form.residuals) if key[0] == "node" and framed[key[1]]]
        sides = [
            (("side", key[1], key[2], j), value)
            for key, r in rows
            for j, value in enumerate(ca.horzsplit(ca.jacobian(r, symbols)))
        ]
        return make_kernel(form.symbols, sides)

    return known_kernel(form.facts, ("sides", *own, *framed), make)
