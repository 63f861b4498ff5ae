"""Subnetworks of a network as superelements: what each keeps to itself, and what of the rest it meets
(netsim.core.linear.nesting)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.equations.system import System
from netsim.network.network import Network
from netsim.text.errors import InputError, Problem, nearest

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Part:
    """A subnetwork: its name, the superelement it is inside of (its place in the list, None: none), the unknowns it
    keeps to itself, those of inner superelements left out, and the unknowns outside that its equations, or those of
    others with its unknowns, speak of."""

    name: str
    within: int | None
    own: Array
    meets: Array


def subnetworks(network: Network) -> list[str]:
    """The names of all instances of models, in order."""
    found: dict[str, None] = {}
    for instance in network.instances:
        pieces = instance.name.split(".")
        found.update(dict.fromkeys(".".join(pieces[:k]) for k in range(1, len(pieces))))
    return list(found)


def check_names(network: Network, wanted: Sequence[str], spans: Mapping[str, Any]) -> None:
    """Raises `InputError` (E424) where a name is that of no subnetwork and of no array of them."""
    known = subnetworks(network)
    wrong = [name for name in wanted if not _chosen(known, name)]
    if wrong:
        listed = f"the subnetworks are {', '.join(known[:6])}" if known else "this network has no instances of models"
        message = f"superelements must be subnetworks, and '{wrong[0]}' is not one"
        raise InputError(Problem("E424", message, spans.get("superelements"), hint=nearest(wrong[0], known) or listed))


def parts_of(system: System, wanted: Sequence[str]) -> list[Part]:
    """The superelements of these names (of an array: each of its elements), inner ones before those they are inside of.

    Raises `InputError` as `check_names` does."""
    check_names(system.network, wanted, {})
    known = subnetworks(system.network)
    chosen = sorted(
        {name for each in wanted for name in _chosen(known, each)},
        key=lambda name: (-name.count("."), known.index(name)),
    )
    names, pattern = system.names, system.pattern
    rows, columns = pattern.indices, np.repeat(np.arange(system.n), np.diff(pattern.indptr))
    taken = np.zeros(system.n, bool)
    found = []
    for name in chosen:
        inside = np.array([text.startswith(f"{name}.") for text in names], bool)
        across = inside[rows] != inside[columns]
        meets = np.unique(np.concatenate([rows[across], columns[across]]))
        within = next(
            (chosen.index(_outer(name, k)) for k in range(name.count("."), 0, -1) if _outer(name, k) in chosen), None
        )
        found.append(Part(name, within, np.flatnonzero(inside & ~taken), meets[~inside[meets]]))
        taken |= inside
    return found


def _outer(name: str, pieces: int) -> str:
    return ".".join(name.split(".")[:pieces])


def _chosen(known: Sequence[str], name: str) -> list[str]:
    """A subnetwork, or every one of an array."""
    return [
        other for other in known if other == name or (other.startswith(f"{name}[") and "." not in other[len(name) :])
    ]
