"""Every element of a system: components in batches, drives, and bound expressions that read signals."""

from __future__ import annotations

from netsim.batches import Batch, First, component_batch
from netsim.component import scalar_count
from netsim.drives import Drive, drives_of
from netsim.expression_form import expression_batches
from netsim.inputs import bounds_of
from netsim.network import Network
from netsim.numbering import Numbering
from netsim.values import Values


def batches_of(network: Network, numbering: Numbering, values: Values) -> tuple[list[Batch], list[Drive], Numbering]:
    """Every element of the system; raises `InputError` with all that is wrong in bound expressions."""
    bounds = bounds_of(network, values)
    hidden: dict[tuple[int, str], int] = {}
    for bound in bounds:
        if bound.reads_signals:
            hidden[bound.instance, bound.quantity.name], numbering = numbering.grown(scalar_count(bound.sizes))
    drives, driven = drives_of([b for b in bounds if not b.reads_signals], network)
    groups: dict[tuple, list[int]] = {}
    for i, instance in enumerate(network.instances):
        states = tuple(q.name for q in instance.component.definition.inputs if (i, q.name) in hidden)
        groups.setdefault((id(instance.component.definition), instance.counts, states), []).append(i)
    batches: list[Batch] = []
    home: dict[int, tuple[Batch, int]] = {}
    begins = First()
    for members in groups.values():
        batch, numbering = component_batch(network, members, numbering, hidden, driven, begins)
        begins = begins.behind(batch)
        batches.append(batch)
        home.update({i: (batch, position) for position, i in enumerate(members)})
    for batch in expression_batches([b for b in bounds if b.reads_signals], network, numbering, hidden, home, begins):
        begins = begins.behind(batch)
        batches.append(batch)
    return batches, drives, numbering
