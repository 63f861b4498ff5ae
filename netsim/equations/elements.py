"""Every element of a system: components in batches, prescribed inputs, and bound expressions that read signals."""

from collections.abc import Callable, Mapping

from netsim.equations.batches import (
    NOTHING_KNOWN,
    Batch,
    FirstNumbers,
    FormKernels,
    KnownUnknowns,
    component_batch,
    form_of,
)
from netsim.equations.expression_form import expression_batches
from netsim.equations.inputs import bounds_of
from netsim.equations.numbering import Numbering
from netsim.equations.prescribed import Prescribed, prescribed_inputs_of
from netsim.library.component import scalar_count
from netsim.network.network import Instance, Network
from netsim.network.values import Values

KernelsOf = Callable[[Instance, tuple[str, ...]], FormKernels]


def plain_kernels(instance: Instance, signals: tuple[str, ...]) -> FormKernels:
    """The kernels of an instance's own text, given which inputs are signals."""
    return form_of(instance, signals=signals)


def batches_of(
    network: Network,
    numbering: Numbering,
    values: Values,
    kernels_of: KernelsOf = plain_kernels,
    known: Mapping[int, KnownUnknowns] | None = None,
) -> tuple[list[Batch], list[Prescribed], Numbering]:
    """Every element of the system; raises `InputError` with all that is wrong in bound expressions.

    `known` has what instances (by number) need not own, `kernels_of` their forms, given which inputs are signals."""
    known = known or {}
    bounds = bounds_of(network, values)
    hidden: dict[tuple[int, str], int] = {}
    for bound in bounds:
        if bound.reads_signals:
            hidden[bound.instance, bound.quantity.name], numbering = numbering.grown(scalar_count(bound.sizes))
    prescribed_inputs, driven = prescribed_inputs_of([b for b in bounds if not b.reads_signals], network)
    groups: dict[tuple, list[int]] = {}
    for i, instance in enumerate(network.instances):
        states = tuple(q.name for q in instance.component.definition.inputs if (i, q.name) in hidden)
        shape = known.get(i, NOTHING_KNOWN).shape
        groups.setdefault((id(instance.component.definition), instance.counts, states, shape), []).append(i)
    batches: list[Batch] = []
    home: dict[int, tuple[Batch, int]] = {}
    begins = FirstNumbers(delay=sum(d.n for d in prescribed_inputs))
    for (_, _, states, _), members in groups.items():
        kernels, aliases = (
            kernels_of(network.instances[members[0]], states),
            [known.get(i, NOTHING_KNOWN) for i in members],
        )
        batch, numbering = component_batch(network, members, numbering, hidden, driven, begins, kernels, aliases)
        begins = begins.behind(batch)
        batches.append(batch)
        home.update({i: (batch, position) for position, i in enumerate(members)})
    for batch in expression_batches([b for b in bounds if b.reads_signals], network, numbering, hidden, home, begins):
        begins = begins.behind(batch)
        batches.append(batch)
    return batches, prescribed_inputs, numbering
