"""Points and directions given in the frame of a body: `on(rod, [0.1, 0, 0] m)`, `along(rod, [0, 0, 1])`, in the
reference placement.

A body's frame has its origin where the body is placed (its centre of mass) and the directions of its parameter `axes`,
the world's where it has none.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from netsim.library.component import scalar_count, sizes_of
from netsim.network.network import Frame, Instance, Network, name_text
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.sizes import flatten
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Call, Name, Part

InstanceScope = Callable[[Instance], Scope]
WORDS = {"on": "on(NODE, POINT)", "along": "along(NODE, DIRECTION)"}


def placed(network: Network, frame: Frame, scope_of: InstanceScope) -> dict[str, Callable[[Call, Scope], Typed]]:
    """The functions `on` and `along` for expressions written in `frame`; `scope_of` gives the inside of an instance:
    its parameters and lets."""

    def point(call: Call, scope: Scope) -> Typed:
        origin, axes, given = _parts(call, scope, network, frame, scope_of)
        return Typed(tuple(origin + axes @ np.array(flatten(given.value))), given.dimension)

    def direction(call: Call, scope: Scope) -> Typed:
        _, axes, given = _parts(call, scope, network, frame, scope_of)
        return Typed(tuple(axes @ np.array(flatten(given.value))), given.dimension)

    return {"on": point, "along": direction}


def _parts(call: Call, scope: Scope, network: Network, frame: Frame, scope_of: InstanceScope) -> tuple[Any, Any, Typed]:
    """Origin and axes of the node's frame, and the second argument."""
    usage = WORDS[call.function]
    if len(call.arguments) != 2 or call.keywords or not isinstance(call.arguments[0], Name):
        raise InputError(Problem("E207", f"{call.function}() takes a node and a vector", call.span, hint=usage))
    name, given = call.arguments[0], evaluate(call.arguments[1], scope)
    size = len(flatten(given.value))
    path = name_text(name, frame)
    names = network.node_numbers
    node = frame.nodes.get(path, names.get(frame.prefix + path))
    if node is None:
        raise InputError(Problem("E206", f"there is no node '{path}'", name.span, hint=nearest(path, names) or usage))
    if node not in network.placements:
        raise InputError(
            Problem(
                "E206", f"no body says where '{path}' is", name.span, hint="on() and along() speak of nodes with a body"
            )
        )
    instance, place = network.placements[node]
    inside = scope_of(instance)
    origin = np.array(flatten(evaluate(place.value, inside).value), dtype=float)
    if len(origin) != size:
        raise InputError(
            Problem(
                "E204",
                f"'{path}' is a frame in {len(origin)} dimensions, the vector has {size}",
                call.arguments[1].span,
            )
        )
    return origin, _axes(instance, inside, size), given


def two_places(network: Network, instance: Instance, others: Sequence[Instance]) -> InputError:
    """E238: an element places a node at another point than one of `others` does."""
    other = next(each for each in others if each is not instance)
    first, second = sorted((instance, other), key=network.instances.index)
    node = next(network.nodes[n].name for n in instance.nodes if n in other.nodes)
    message = f"'{first.name}' and '{second.name}' are one frame '{node}', but do not stand at the same point of it"
    hint = "give one of them a node of its own and weld the two (spatial_weld, planar_weld); for a mass at any point of"
    hint += " a body take point_mass or planar_point_mass"
    return InputError(Problem("E238", message, second.span, also=((first.span, "placed here"),), hint=hint))


def _axes(instance: Instance, inside: Scope, size: int) -> Any:
    for p in instance.component.definition.params:
        if p.name == "axes" and scalar_count(sizes_of(p.size, dict(instance.counts))) == size * size:
            return np.array(flatten(inside.resolve(Name((Part("axes"),))).value), dtype=float).reshape(size, size)
    return np.eye(size)
