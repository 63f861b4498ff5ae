"""Unconnected terminals: a node with a single terminal, through which nothing can flow (N301)."""

from netsim.equations.batches import form_of
from netsim.structure.causes import Picture
from netsim.structure.roles import CONDUCTS, links
from netsim.text.errors import Problem, nearest

HINTED = 20
"""So many notes compare the node's name with those of all others: more unconnected terminals are no slips of spelling,
and the comparison grows with the square of their number."""


def unconnected_terminals(picture: Picture, explained: frozenset[int]) -> list[Problem]:
    """A note for every element with a branch to an unconnected terminal, the only one at its node."""
    network = picture.system.network
    uses = [0] * len(network.nodes)
    for instance in network.instances:
        for node in instance.nodes:
            if node >= 0:
                uses[node] += 1
    found: list[Problem] = []
    for instance in network.instances:
        through = [
            link
            for link in links(form_of(instance), instance.component)
            if link.role == CONDUCTS and link.start and link.end
        ]
        passing = {end for link in through for end in (link.start, link.end)}
        for terminal, node in zip(instance.component.terminals, instance.nodes):
            if (
                terminal in passing
                and node >= 0
                and uses[node] == 1
                and int(picture.system.numbering.first[node]) not in explained
            ):
                where = network.nodes[node]
                hinted = len(found) < HINTED
                others = (
                    [n.name for n in network.nodes if n is not where and n.domain is where.domain] if hinted else []
                )
                what = where.domain.through[0].doc or where.domain.through[0].name
                found.append(
                    Problem(
                        "N301",
                        f"unconnected terminal: only '{instance.name}' is connected to node '{where.name}', so no "
                        f"{what} can pass",
                        where.span,
                        hint=nearest(where.name, others),
                    )
                )
    return found
