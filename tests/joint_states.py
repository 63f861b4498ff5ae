"""One state of a network in both formulations, and networks for it: what tests of `formulation = tree` compare."""

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.minimum_norm import least_reactions
from netsim.initial.initial import set_differentiated
from netsim.initial.reactions.minimum_norm import plan_minimum_norm
from netsim.initial.reactions.reactions import find_reactions
from netsim.initial.recovery import plan_recovery, recover_point
from netsim.multibody.jointspace.spanning import is_planar
from netsim.multibody.jointspace.start import matching_unknowns, shared_slots
from netsim.simulate.setup.choice import formulated
from netsim.simulate.setup.start_of_run import start_of_run

JOINTS = {
    "revolute": "axis = {u}, d = 0.2 N.m.s/rad",
    "prismatic": "axis = {u}, c = 80 N/m",
    "spherical": "d = 0.1 N.m.s/rad",
    "universal": "axis1 = {u}, axis2 = {v}",
    "cylindrical": "axis = {u}, cq = 2 N.m/rad",
    "planar_joint": "normal = {u}, along = {v}",
    "point_on_line": "axis = {u}",
    "spatial_weld": "",
}


def random_tree(seed: int, bodies: int = 6) -> str:
    """A netlist of bodies hung on the ground and on one another by joints of every kind, either way round, pulled at and driven."""
    rng = np.random.default_rng(seed)

    def vector(v):
        return f"[{', '.join(f'{float(c)!r}' for c in v)}]"

    lines, places = ["use spatial", "use rotational", "world gravity = [0, 0, -9.81] m/s2"], [np.zeros(3)]
    for i in range(bodies):
        parent = int(rng.integers(0, i + 1))
        at = places[parent] + rng.normal(size=3)
        places.append(at)
        names = [f"c{parent}" if parent else "ground", f"c{i + 1}"]
        a, b = names if rng.random() < 0.6 else names[::-1]
        u, v = np.linalg.qr(rng.normal(size=(3, 3)))[0][:2]
        kind = str(rng.choice(list(JOINTS)))
        given = JOINTS[kind].format(u=vector(u), v=vector(v))
        pivot = vector((at + places[parent]) / 2 + 0.2 * rng.normal(size=3))
        body = f"m = {rng.uniform(0.5, 3):.4f} kg, I = diag({vector(rng.uniform(0.1, 0.2, 3))[1:-1]}) kg.m2"
        lines.append(f"b{i} body (c{i + 1}) {body}, at = {vector(at)} m")
        lines.append(f"j{i} {kind} ({a}, {b}) at = {pivot} m{', ' + given if given else ''}")
        if kind == "revolute" and rng.random() < 0.5:
            lines.append(f"m{i} hinge_angle ({a}, {b}) axis = {vector(u)}, q = 0.3 rad*sin(2 rad/s*time)")
        elif kind == "revolute":
            lines.append(f"m{i} hinge_torque ({a}, {b}) axis = {vector(u)}, T = {rng.normal():.4f} N.m")
    tip = f"(c{bodies}) at = {vector(places[-1] + 0.1)} m"
    return "\n".join([*lines, f"f world_force {tip}, F = [1 N, 2 N, 3 N*cos(time*1 rad/s)]"]) + "\n"


def counterparts(machine, absolute):
    """(what, slots of the machine in joint coordinates, slots of the absolute one) of all that both know."""
    for ours, theirs in shared_slots(machine, absolute):
        yield "shared", ours, theirs
    ours, theirs = machine.system, absolute.system
    for i in machine.element.tree.frames:
        flat = is_planar(ours.network, i)
        size = np.arange(3 if flat else 6)
        for order in range(3):
            yield (
                f"frames {order}",
                ours.layout.unknown(ours.numbering.first[i] + size, order),
                theirs.layout.unknown(theirs.numbering.first[i] + size, order),
            )
        for entry in range(0 if flat else 9):
            frames = ours.numbering.frame[i : i + 1], theirs.numbering.frame[i : i + 1]
            yield "charts", ours.layout.chart(frames[0], entry), theirs.layout.chart(frames[1], entry)
    for batch in ours.batches:
        for k, instance in enumerate(batch.instances if not batch.shapes else ()):
            other, position = absolute.system.home[instance.name]
            for key in [("own", i) for i in range(len(batch.form.own))]:
                if key not in batch.prescribed_inputs:
                    unknown = batch.unknowns[key][k : k + 1]
                    what = "coordinates" if 0 <= unknown[0] < ours.layout.nk else "forces"
                    yield (
                        what,
                        ours.layout.unknown(unknown, 0),
                        theirs.layout.unknown(matching_unknowns(batch, other, key)[position : position + 1], 0),
                    )


def difference_at_a_state(model, seed: int = 0) -> dict[str, float]:
    """How far accelerations and forces of both formulations are apart at a state with random velocities (and positions, where nothing constrains
    them), each relative to the largest of its kind; by kind."""
    rng = np.random.default_rng(seed)
    absolute, structure, start, _ = start_of_run(model.machine, model.structure)
    machine, own, g, _ = formulated(absolute, structure, start, "tree")
    layout, theirs = machine.system.layout, absolute.system.layout
    state = layout.state(g)
    free = not own.dynamic.c[: layout.n].any()
    state[: layout.nk] += 0.4 * rng.normal(size=layout.nk) * free
    state[layout.nk : 2 * layout.nk] += 0.7 * rng.normal(size=layout.nk)
    point = recover_point(plan_recovery(machine, own, g), g, state, 0.0)
    run_table(machine.element.observed, point, np.zeros(1))
    pairs = list(counterparts(machine, absolute))
    other = absolute.g.copy()
    for what, mine, slots in pairs:
        other[slots] = 0.0 if what in ("frames 2", "forces") else point[mine]
    set_differentiated(absolute, other)
    found = recover_point(plan_recovery(absolute, structure, start), other, theirs.state(other), 0.0)
    for each, at in ((machine, point), (absolute, found)):  # of reactions without a unique value, those of least norm
        plan, _alive = plan_minimum_norm(each, find_reactions(each))
        least_reactions(plan, at)
    worst = {}
    for kind in ("frames 1", "frames 2", "forces"):
        mine, slots = (np.concatenate([np.zeros(0, int), *(pair[k] for pair in pairs if pair[0] == kind)]) for k in (1, 2))
        worst[kind] = float(np.abs(point[mine] - found[slots]).max(initial=0.0) / np.abs(found[slots]).max(initial=1.0))
    return worst
