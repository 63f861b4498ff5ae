"""The system of a network in joint coordinates: bodies follow, joints own no equations, what else there is stays as it
was."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from netsim.equations.batches import Batch, FormKernels, KnownUnknowns, changing, delays_of, form_of
from netsim.equations.elements import batches_of
from netsim.equations.layout import FOLLOWING, Layout
from netsim.equations.numbering import Numbering, OwnCoordinate, across_scalars, nominal
from netsim.equations.prescribed import Prescribed
from netsim.library.component import is_kinematic
from netsim.multibody.jointspace.joints import MOTIONS, PRISMATIC, SPHERICAL
from netsim.multibody.jointspace.spanning import Mechanism, takes_frames
from netsim.network.network import GROUND, Instance, Network
from netsim.network.values import Values

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Elements:
    """Batches, prescribed inputs, layout and numbering of a network in joint coordinates. Of every coordinate its
    `unknown` (negative: none), the number of its `prescribed` input (-1: none) and its `row`, where forces along it are
    balanced; of every joint of the tree its `multipliers`."""

    batches: list[Batch]
    prescribed_inputs: list[Prescribed]
    layout: Layout
    numbering: Numbering
    unknown: Array
    prescribed: Array
    row: Array
    multipliers: dict[int, Array]


def number(network: Network, values: Values, tree: Mechanism) -> Elements:
    """Unknowns for a network whose bodies are a tree: 1-D nodes, joint coordinates, the other nodes, what components
    own."""
    numbering, coordinates, elastic = _numbered(network, tree)
    unknown = np.array(coordinates, np.int64)
    multipliers = _multipliers(network, tree)
    known = {i: KnownUnknowns(own) for i, own in elastic.items()} | {
        i: _known(network, tree, i, unknown, multipliers[i]) for i in tree.joints
    }
    batches, prescribed_inputs, grown = batches_of(network, numbering, values, _kernels(network, known), known)
    home = {
        instance.name: (b, k)
        for b, batch in enumerate(batches)
        if not batch.shapes
        for k, instance in enumerate(batch.instances)
    }
    row, prescribed = unknown.copy(), np.full(len(unknown), -1)
    dropped: dict[int, set[int]] = {}
    for k, coordinate in enumerate(tree.coordinates):
        if coordinate.motion is not None:
            source = network.instances[coordinate.motion]
            _, name, force = MOTIONS[source.component.name]
            b, position = home[source.name]
            row[k] = batches[b].unknowns["own", batches[b].form.own.index(force)][position]
            prescribed[k] = _prescribed(prescribed_inputs, source, name)
            dropped.setdefault(b, set()).add(int(row[k]))
    balanced = {u for own in elastic.values() for u in own.values()}
    for i in tree.joints:
        dropped.setdefault(home[network.instances[i].name][0], set()).update(
            int(u) for u in unknown if u >= 0 and u not in balanced
        )
    batches = [replace(batch, dropped=frozenset(dropped.get(b, ()))) for b, batch in enumerate(batches)]
    nq, nd = sum(b.n_differentiated * b.n for b in batches), sum(d.n for d in prescribed_inputs) + delays_of(batches)
    nt = sum(a.size for d in prescribed_inputs for a in d.tables.values())
    nm = sum(len(m) for m in multipliers.values())
    layout = Layout(
        grown.nk, grown.n - grown.nk, nq, nd, nt, len(grown.rotations), len(tree.frames), nm, *changing(batches)
    )
    return Elements(batches, prescribed_inputs, layout, grown, unknown, prescribed, row, multipliers)


def _numbered(  # noqa: C901  (passes over one count)
    network: Network, tree: Mechanism
) -> tuple[Numbering, list[int], dict[int, dict[int, int]]]:
    """Kinematic 1-D nodes, then elastic and joint coordinates, then the other nodes; the unknowns of joint coordinates,
    and of elastic ones by instance and own unknown."""
    first = np.full(len(network.nodes), GROUND)
    at = 0
    for i, node in enumerate(network.nodes):
        if is_kinematic(node.domain) and i not in tree.frames:
            first[i] = at
            at += len(across_scalars(node.domain))
    coordinates: list[int] = []
    elastic: dict[int, dict[int, int]] = {}
    names: dict[int, OwnCoordinate] = {}
    rotations: list[int] = []
    for i, instance in enumerate(network.instances):
        form = form_of(instance, True).form
        for k, (quantity, _) in form.coordinates.items():
            elastic.setdefault(i, {})[k] = at
            names[at] = OwnCoordinate(
                f"{instance.name}.{form.own[k]}", f"{quantity.unit}/s", nominal(quantity), form.own_nominal[k] or 1.0
            )
            at += 1
    for coordinate in tree.coordinates:
        link = tree.links[coordinate.link]
        if coordinate.flange is not None:
            coordinates.append(
                GROUND if coordinate.flange == GROUND else int(first[coordinate.flange]) + coordinate.part
            )
        elif coordinate.motion is not None:
            coordinates.append(GROUND)
        elif link.joint in elastic:
            coordinates.append(
                elastic[link.joint][form_of(network.instances[link.joint], True).form.own.index(coordinate.own)]
            )
        else:
            coordinates.append(at)
            names[at] = OwnCoordinate(coordinate.name, "m/s" if link.kind == PRISMATIC else "rad/s")
            at += 1
    for link in tree.links:
        if link.kind == SPHERICAL:
            rotations.append(coordinates[link.first])
    nk = at
    for i, node in enumerate(network.nodes):
        if not is_kinematic(node.domain):
            first[i] = at
            at += len(across_scalars(node.domain))
    frame = np.full(len(network.nodes), GROUND)
    for i, f in tree.frames.items():
        first[i], frame[i] = FOLLOWING + 6 * f, len(rotations) + f
    return Numbering(first, nk, at, frame, np.array(rotations, np.int64), names), coordinates, elastic


def _multipliers(network: Network, tree: Mechanism) -> dict[int, Array]:
    """Numbers of the own unknowns of tree joints that are no coordinates, as multipliers that follow."""
    at = FOLLOWING + 6 * len(tree.frames)
    found = {}
    for i in tree.joints:
        instance = network.instances[i]
        coordinates = {tree.coordinates[k].own for k in tree.own[i]}
        count = sum(own not in coordinates for own in form_of(instance, True).form.own)
        found[i] = at + np.arange(count)
        at += count
    return found


def _known(network: Network, tree: Mechanism, number: int, unknown: Array, multipliers: Array) -> KnownUnknowns:
    """What a joint of the tree need not own: coordinates under their numbers or the input that prescribes them,
    multipliers that follow."""
    instance = network.instances[number]
    own = form_of(instance, True).form.own
    unknowns: dict[int, int] = {}
    inputs: dict[int, tuple[int, str]] = {}
    for k in tree.own[number]:
        coordinate = tree.coordinates[k]
        if coordinate.own in own:
            if coordinate.motion is None:
                unknowns[own.index(coordinate.own)] = int(unknown[k])
            else:
                inputs[own.index(coordinate.own)] = (
                    coordinate.motion,
                    MOTIONS[network.instances[coordinate.motion].component.name][1],
                )
    rest = [i for i in range(len(own)) if i not in unknowns and i not in inputs]
    return KnownUnknowns(unknowns | dict(zip(rest, map(int, multipliers))), inputs)


def _kernels(network: Network, known: dict[int, KnownUnknowns]) -> Callable[[Instance, tuple[str, ...]], FormKernels]:
    """Forms with exact rates, whose matrix entries by frames come order by order; coordinates of the tree's joints are
    kinematic."""
    coordinates = {
        network.instances[i].name: tuple(k for k, u in item.unknowns.items() if u >= 0) for i, item in known.items()
    }

    def kernels(instance: Instance, signals: tuple[str, ...]) -> FormKernels:
        own = coordinates.get(instance.name, ())
        plain = form_of(instance, True, signals)
        key = (id(plain), own)
        if key not in _variants:
            terminals = list(instance.component.terminals)
            apart = frozenset(k for k in plain.kinematic if k[0] == "node" and takes_frames(instance, terminals[k[1]]))
            kinematic = {**plain.kinematic, **{("own", k): True for k in own}}
            _variants[key] = plain, FormKernels(plain.form, kinematic, apart)
        return _variants[key][1]

    return kernels


_variants: dict[tuple[int, tuple[int, ...]], tuple[FormKernels, FormKernels]] = {}


def _prescribed(prescribed_inputs: list[Prescribed], source: Instance, name: str) -> int:
    """The prescribed input that gives an input."""
    for prescribed in prescribed_inputs:
        for k, owner in enumerate(prescribed.owners):
            if prescribed.stage == 1 and owner[0] is source and owner[1] == name:
                return int(prescribed.numbers[0, k])
    raise KeyError(name)
