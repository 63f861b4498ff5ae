"""Bent beams of a scene: the curve of every element, and the straight line it is bent from.

Elements in a floating frame know their deflections and slopes, those for large displacements the frames at their ends:
Hermite's cubics for both. Flexible links are bent by their shape functions.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from netsim.api import Model
from netsim.multibody.recursion.links import LINKS, link_of
from netsim.network.network import GROUND, Instance
from netsim.output.scene import Curve
from netsim.results.samples import Samples

Array = np.ndarray
FLOATING = (
    "planar_floating_element",
    "planar_shortened_element",
    "spatial_floating_element",
    "spatial_shortened_element",
)
CHORDED = ("planar_beam_element", "spatial_beam_element")
PARTS = np.linspace(0.0, 1.0, 9)
CUBICS = np.array(
    [1 - 3 * PARTS**2 + 2 * PARTS**3, PARTS - 2 * PARTS**2 + PARTS**3, 3 * PARTS**2 - 2 * PARTS**3, PARTS**3 - PARTS**2]
)


def curves_of(
    model: Model, motions: Mapping[int, Any], given: Mapping[str, dict[str, Array]], samples: Samples
) -> Iterator[Curve]:
    """The curves of all elements of beams; `motions` of nodes have `point` and `turned` (netsim.output.scenes)."""
    for instance in model.network.instances:
        if instance.component.name in FLOATING:
            yield _floating(model, instance, motions, given[instance.name], samples)
        elif instance.component.name in CHORDED:
            yield _chorded(instance, motions, given[instance.name])
        elif instance.component.name in LINKS:
            yield _by_shape_functions(model, instance, motions, samples)


def coordinates_of_links(model: Model) -> Iterator[tuple[Instance, str]]:
    """Flexible links with the vars that are their elastic coordinates: what a run must sample for their curves."""
    for instance in model.network.instances:
        if instance.component.name in LINKS:
            yield from ((instance, name) for name, _, _ in link_of(instance, model.values).variables)


def _floating(
    model: Model, instance: Instance, motions: Mapping[int, Any], given: Mapping[str, Array], samples: Samples
) -> Curve:
    frame, length = motions[instance.nodes[0]], float(given["l"][0])
    along = _unit(_space(given["axis"]))
    if "side" in given:
        across = _unit(np.cross(along, given["side"]))
        sides = [np.cross(across, along), across]
    else:
        sides = [np.cross([0.0, 0.0, 1.0], along)]
    root = _space(given["at1" if "at1" in given else "at"])
    places = [root + (float(given["from"][0]) + part * length) * along for part in PARTS]
    straight = np.stack([frame.point(place) for place in places], axis=1)
    bent = straight.copy()
    for k, side in enumerate(sides):
        ends = [_deflections(model, node, k if len(sides) > 1 else None, samples) for node in instance.nodes[1:3]]
        shape = [ends[0][0], length * ends[0][1], ends[1][0], length * ends[1][1]]
        bent += np.einsum("ct,cp,ti->tpi", np.array(shape), CUBICS, frame.turned(side))
    if len(instance.nodes) > 3:  # points draw back, linearly between the ends
        first, last = (
            0.0 if node == GROUND else samples.unseen[f"{model.network.nodes[node].name}.x"]
            for node in instance.nodes[3:5]
        )
        back = np.multiply.outer(first, 1 - PARTS) + np.multiply.outer(last, PARTS)
        bent -= back[..., None] * frame.turned(along)[:, None]
    return Curve(instance.name, straight, bent)


def _deflections(model: Model, node: int, plane: int | None, samples: Samples) -> tuple[Array, Array]:
    """Deflection and slope (nt,) of a node in one plane; zero at the clamped end."""
    if node == GROUND:
        return np.zeros(len(samples.time)), np.zeros(len(samples.time))
    name, index = model.network.nodes[node].name, "" if plane is None else f".{'xy'[plane]}"
    u, s = (samples.unseen[f"{name}.{q}{index}"] for q in "us")
    return u, s


def _by_shape_functions(model: Model, instance: Instance, motions: Mapping[int, Any], samples: Samples) -> Curve:
    link, frame = link_of(instance, model.values), motions[instance.nodes[0]]
    paths = [f"{instance.name}.{name}" for name, _, _ in link.variables]
    q = np.array(
        [
            v
            for path in paths
            for key, v in samples.unseen.items()
            if key == path or key.startswith((f"{path}.", f"{path}["))
        ]
    )
    z = np.concatenate([q, *(q[None, k] * q[None, m] for k, m in link.beam.pairs)])
    away = np.einsum("kt,kpi,ji->tpj", z, link.beam.displacement(PARTS * link.beam.length), link.axes)
    straight = np.stack([frame.point(link.start + part * (link.end - link.start)) for part in PARTS], axis=1)
    return Curve(instance.name, straight, straight + np.einsum("tij,tpj->tpi", frame.rotation, away))


def _chorded(instance: Instance, motions: Mapping[int, Any], given: Mapping[str, Array]) -> Curve:
    a, b = (motions[node] for node in instance.nodes)
    at1, at2 = _space(given["at1"]), _space(given["at2"])
    first, last = a.point(at1), b.point(at2)
    bent = np.einsum("cti,cp->tpi", np.array([first, a.turned(at2 - at1), last, b.turned(at2 - at1)]), CUBICS)
    return Curve(instance.name, first[:, None] + PARTS[:, None] * (last - first)[:, None], bent)


def _space(values: Array) -> Array:
    return np.append(values, 0.0)[:3]


def _unit(vector: Array) -> Array:
    return vector / np.linalg.norm(vector)
