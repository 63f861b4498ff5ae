"""Several copies of a network in one: the runs of its variants, side by side.

Copy k of the netlist is what `model` would make of it: its nodes, elements, parameters and lets have the names of the
netlist behind `copy[k].`, and nothing joins two copies but ground and the world's values. Equal nodes, and equal
elements, of the copies follow one another: element i of the netlist is element `i count + k` of the whole.
"""

from collections.abc import Mapping
from dataclasses import replace

from netsim.network.network import GROUND, Beginning, Definition, Frame, Instance, Network


def in_copy(k: int, name: str) -> str:
    """The name in copy k."""
    return f"copy[{k}].{name}"


def copies(network: Network, count: int) -> Network:
    """The network of `count` copies, numbered from 0. What is asked of the netlist (runs, saves, measures) is that of
    the netlist, and speaks of none of them."""
    frames = [_frames(network, k, count) for k in range(count)]
    nodes = tuple(replace(node, name=in_copy(k, node.name)) for node in network.nodes for k in range(count))
    instances = tuple(_instance(each, k, count, frames[k]) for each in network.instances for k in range(count))
    starts, sizes = (
        tuple(_beginning(each, k, frames[k]) for k in range(count) for each in kind)
        for kind in (network.beginnings, network.nominals)
    )
    return replace(network, nodes=nodes, instances=instances, beginnings=starts, nominals=sizes)


def _node(number: int, k: int, count: int) -> int:
    return number if number == GROUND else number * count + k


def _frames(network: Network, k: int, count: int) -> Mapping[int, Frame]:
    """The frames of copy k by the identity of the netlist's own."""
    found: dict[int, Frame] = {}
    waiting = [each.frame for each in network.instances]
    waiting += [each.frame for each in (*network.beginnings, *network.nominals)]
    while waiting:
        frame = waiting.pop()
        if id(frame) not in found:
            nodes = {name: _node(number, k, count) for name, number in frame.nodes.items()}
            found[id(frame)] = replace(frame, prefix=in_copy(k, frame.prefix), definitions={}, nodes=nodes)
            found[id(frame)].definitions.update(frame.definitions)
            waiting += [each.frame for each in frame.definitions.values()]
    for frame in found.values():
        for name, each in frame.definitions.items():
            frame.definitions[name] = Definition(each.statement, each.value, found[id(each.frame)])
    return found


def _instance(instance: Instance, k: int, count: int, frames: Mapping[int, Frame]) -> Instance:
    nodes = tuple(_node(number, k, count) for number in instance.nodes)
    return replace(instance, name=in_copy(k, instance.name), nodes=nodes, frame=frames[id(instance.frame)])


def _beginning(beginning: Beginning, k: int, frames: Mapping[int, Frame]) -> Beginning:
    return replace(beginning, path=in_copy(k, beginning.path), frame=frames[id(beginning.frame)])
