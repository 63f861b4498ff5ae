"""What each branch does to its nodes, read from its equations: conduct, store, feed or stay open; and the islands this
makes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.core.linear.graphs import connected, members
from netsim.equations.batches import FormKernels, form_of
from netsim.equations.forms.form import Form
from netsim.equations.forms.symbols import Key
from netsim.equations.kernels.symbolic import ca
from netsim.equations.system import System
from netsim.library.component import Component, is_kinematic
from netsim.network.network import GROUND, Network
from netsim.text.syntax import DomainDef

# its through answers to its own across (resistor, spring, mass, ideal voltage source: whatever ties its ends)
CONDUCTS = "conducts"
# the same, but only through the rate of a differentiated quantity: nothing flows in the static solution (capacitor,
# heat capacity)
STORES = "stores"
FEEDS = "feeds"  # its through does not care for its own across (current source, controlled current)
OPEN = "open"  # no through at all (a meter)


@dataclass(frozen=True)
class Link:
    """A connection an element makes between two of its terminals (None: ground)."""

    start: str | None
    end: str | None
    role: str


def reads(form: Form, expression: Any, rates: bool = True) -> set[tuple[Key, int]]:
    """The (key, order) pairs an expression depends on, differentiated quantities replaced by what they are made of
    (left out without `rates`)."""
    symbols = {s.__hash__() for s in ca.symvar(ca.SX(expression))}
    found: set[tuple[Key, int]] = set()
    for key, symbol in form.symbols.gathered.items():
        if symbol.__hash__() in symbols:
            if key[0][0] != "differentiated":
                found.add(key)
            elif rates:
                found |= reads(form, form.differentiated[key[0][1]])
    return found


_links: dict[FormKernels, tuple[Link, ...]] = {}


def links(kernels: FormKernels, component: Component) -> tuple[Link, ...]:
    """The links of a component type: one per branch, and all terminals of a domain together where it has throughs
    without branches."""
    if kernels not in _links:
        form = kernels.form
        found = form.facts.recall(("branches",), lambda: _branches(form, component))
        _links[kernels] = (*(Link(*each) for each in found), *_terminal_links(component))
    return _links[kernels]


def _branches(form: Form, component: Component) -> list[tuple[str | None, str | None, str]]:
    everything = {key for residual in form.residuals for key, _ in reads(form, residual)}
    found = [_branch_link(form, component, name, everything) for name in component.branch_throughs]
    return [(link.start, link.end, link.role) for link in found]


def _branch_link(form: Form, component: Component, through: str, everything: set[Key]) -> Link:
    branch = component.branch_throughs[through]
    start, end = (None if e == "ground" else e for e in (branch.start, branch.end))
    value = ca.SX(form.readings[through].value)
    terminals = list(component.terminals)
    ends = {("node", terminals.index(t), 0) for t in (start, end) if t is not None}
    if value.is_zero():
        return Link(start, end, OPEN)
    unknowns = {key for key, _ in reads(form, value) if key[0] in ("node", "own")}
    if not unknowns or (through in component.explicit and not ends & everything):
        return Link(start, end, FEEDS)
    still = {key for key, _ in reads(form, value, rates=False) if key[0] in ("node", "own")}
    kinematic = is_kinematic(component.domain(start or end or terminals[0]))
    return Link(start, end, CONDUCTS if still or kinematic else STORES)


def _terminal_links(component: Component) -> Iterator[Link]:
    assigned = list(
        dict.fromkeys(
            component.terminal_throughs[name][0] for name in component.explicit if name in component.terminal_throughs
        )
    )
    for terminal in assigned:
        same = [t for t in assigned if component.domain(t).name == component.domain(terminal).name]
        yield Link(terminal, None if len(same) == 1 else same[0], CONDUCTS)


@dataclass(frozen=True)
class Edge:
    """A link in the network: instance number, node numbers (GROUND for ground)."""

    instance: int
    start: int
    end: int
    role: str


def edges(network: Network) -> list[Edge]:
    """Every link of every instance between nodes."""
    found = []
    for i, instance in enumerate(network.instances):
        at = dict(zip(instance.component.terminals, instance.nodes))
        for link in links(form_of(instance), instance.component):
            start, end = (GROUND if t is None else at[t] for t in (link.start, link.end))
            found.append(Edge(i, start, end, link.role))
    return found


def islands(system: System, found: list[Edge], roles: tuple[str, ...] = (CONDUCTS, STORES)) -> list[frozenset[int]]:
    """Sets of nodes tied to one another by links of the given roles, but not to ground."""
    ground = len(system.network.nodes)
    ends = [(e.start, e.end) for e in found if e.role in roles]
    a, b = np.array(ends, np.int64).reshape(-1, 2).T % (ground + 1)  # GROUND is -1
    conserving = {i for i, node in enumerate(system.network.nodes) if node.domain.through}
    parts = members(connected(ground + 1, a, b))
    return [part & conserving for part in parts if ground not in part and part & conserving]


def domain_of_own(component: Component, own: int) -> DomainDef | None:
    """The domain of the branch whose through is unknown `own` of a component; None for internal variables."""
    if own >= len(component.unknown_throughs):
        return None
    branch = component.branch_throughs[component.unknown_throughs[own]]
    return component.domain(branch.start if branch.start != "ground" else branch.end)
