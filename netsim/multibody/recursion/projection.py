"""What a source between two bodies does to the coordinates of the joint between them.

A source pushes along an axis n that travels with its first body, or turns about it. Its power is its effort times n . v
of the second body relative to the first. With the joint's freedoms in the order of the source's ends, R the turns
before freedom k and e its axis,

    turns (couples)     w_k = n . R e       of a turn,  0 of a slide
    slides (forces)     w_k = n . R e       of a slide, n . (R e x r) of a turn, r from the turn's axis to the source's
    point on the second body

is the rate that the source sees per unit of the coordinate's rate, and its generalised force per unit of effort. Where
no w_k depends on the configuration, the source belongs to coordinates; else a force acts on both bodies
(netsim.multibody.recursion.pushes), and a motion is no coordinate.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netsim.multibody.jointspace.joints import PRISMATIC, REVOLUTE, SPHERICAL, Step
from netsim.multibody.jointspace.spanning import axis_of, point
from netsim.network.network import Instance
from netsim.network.values import Values

Array = np.ndarray
TOGETHER = 1e-12
"""Sines and cosines below are rounding, as are lengths below this part of the coordinates that they are differences
of."""


@dataclass(frozen=True)
class Freedom:
    """A freedom of a joint as a source sees it: its kind, its axis in the reference placement, and the body of the tree
    that ends in it."""

    kind: int
    axis: Array
    body: str


@dataclass(frozen=True)
class SourceAxis:
    """A source between two bodies: whether it turns or pushes, its axis, in the reference placement, and its point on
    the second body."""

    kind: int
    axis: Array
    at: Array


def chain(source: Instance, joint: Instance, named: Sequence[tuple[Step, str]], values: Values) -> list[Freedom]:
    """The freedoms of a joint from the source's first end to its second, empty where the two have other ends.

    Written from b to a, a joint's freedoms come in the other order, about the opposite axes."""
    if source.nodes[:2] not in (joint.nodes[:2], joint.nodes[1::-1]):
        return []
    sign = 1 if source.nodes[:2] == joint.nodes[:2] else -1
    return [Freedom(step.kind, sign * axis_of(joint, step, values), body) for step, body in named[::sign]]


def weights(freedoms: Sequence[Freedom], centre: Array, acting: SourceAxis) -> Array | None:
    """w_k of all freedoms, None where one depends on the configuration."""
    found = np.zeros(len(freedoms))
    for k, freedom in enumerate(freedoms):
        before, after = freedoms[:k], freedoms[k + 1 :]
        if freedom.kind not in (REVOLUTE, PRISMATIC, SPHERICAL) or (
            acting.kind == REVOLUTE and freedom.kind == PRISMATIC
        ):
            continue
        if acting.kind != freedom.kind:
            if not _passes_through(freedom, before, after, centre, acting):
                return None
            continue
        if not (
            all(_parallel(turn, acting.axis) for turn in before)
            or all(_parallel(turn, freedom.axis) for turn in before)
        ):
            return None
        found[k] = acting.axis @ freedom.axis
    return np.where(np.abs(found) > TOGETHER, found, 0.0)


def measures_angle(freedoms: Sequence[Freedom], found: Array, across: Array) -> bool:
    """Whether a source that prescribes the turn of the direction `across` about its axis prescribes one coordinate:
    that of the only turn, or of the first of two whose second is about `across`."""
    turns = [k for k, freedom in enumerate(freedoms) if freedom.kind in (REVOLUTE, SPHERICAL)]
    if abs(np.abs(found).max(initial=0.0) - 1) > TOGETHER:
        return False
    return len(turns) == 1 or (len(turns) == 2 and found[turns[0]] != 0.0 and _parallel(freedoms[turns[1]], across))


def _parallel(freedom: Freedom, axis: Array) -> bool:
    """Whether a direction stays what it is when a freedom moves."""
    if freedom.kind not in (REVOLUTE, SPHERICAL):
        return True
    return freedom.kind == REVOLUTE and bool(
        np.linalg.norm(np.cross(freedom.axis, axis)) <= TOGETHER * np.linalg.norm(axis)
    )


def _passes_through(
    freedom: Freedom, before: Sequence[Freedom], after: Sequence[Freedom], centre: Array, acting: SourceAxis
) -> bool:
    """Whether a force never has a moment about a turn: it goes along the axis, or through it. A couple always has one
    about a ball joint."""
    if acting.kind == REVOLUTE:
        return False
    if freedom.kind == REVOLUTE and all(_parallel(turn, acting.axis) for turn in (*before, freedom)):
        return True
    arm = acting.at - centre
    size = TOGETHER * max(float(np.abs([acting.at, centre]).max()), 1e-300)
    off = np.cross(freedom.axis, arm) if freedom.kind == REVOLUTE else arm
    if np.linalg.norm(off) > size or any(step.kind == PRISMATIC for step in after):
        return False
    return bool(np.linalg.norm(arm) <= size) or all(_parallel(turn, arm) for turn in after)


def source_axis(source: Instance, kind: int, values: Values) -> SourceAxis:
    """The axis and the point of a source between two bodies."""
    given = values.parameters(source)
    axis = axis_of(source, Step(kind, ("axis",) if "axis" in given else ()), values)
    return SourceAxis(kind, axis, point(source, "at", values) if "at" in given else np.zeros(3))
