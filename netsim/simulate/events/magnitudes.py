"""How large quantities have been so far, for `scale(v)` in the text of components.

    scale(v) = max(M_k, 1e-12 nominal_k, r_j/1e-6)      k: the kinds that v may be of, j: those of v's dimension that
                                                        the network connects with v
M_k is the largest value of the kind so far, with what the start and the sources will move it by (netsim.core.scales),
r_j what rounding leaves in the shortest step that a run began with, at its start or behind an event. Rounding of one
kind reaches the others where velocities are made to fulfil constraints. The value never falls, and changes at events
alone. Where no unknown has the dimension (in joint coordinates, the velocity of an arm's point) it is 1.
"""

from dataclasses import dataclass, field

import numpy as np

from netsim.core.contract import Trial
from netsim.core.scales import SO_FAR
from netsim.equations.machine import Machine
from netsim.equations.system import System
from netsim.initial.initial import Structure
from netsim.library.component import SECOND
from netsim.simulate.setup.kinds import Key, Kinds, islands_of, kinds_of, massless, parts_of
from netsim.simulate.setup.sizes import rounding_of
from netsim.text.units import Dimension

Array = np.ndarray

MILLIONTH = 1e-6
"""The share of scale(v) by which components tell motion from rest: it has to be more than what rounding leaves."""
LEAST = 1e-12
"""The share of its nominal size that a quantity counts at least, so that nothing moves where all rests."""


@dataclass(frozen=True, eq=False)
class Magnitudes:
    """The numbers of the discretes that hold sizes, and what these are at least; then, each as a pair of arrays (of
    which of them, the kind), the kinds that they are of, and those of the same dimension that are connected with
    them; the shortest step so far."""

    places: Array
    least: Array
    own: tuple[Array, Array]
    connected: tuple[Array, Array]
    shortest: Array = field(default_factory=lambda: np.full(1, np.inf))


def magnitudes_of(system: System, structure: Structure) -> Magnitudes:
    """What the sizes that components ask for are taken of: what has the dimension, in the island where the element
    finds it if there is any such quantity, else in what is connected with it."""
    batches = [batch for batch in system.batches if batch.form.events.scales]
    if not batches:
        return Magnitudes(np.zeros(0, np.int64), np.zeros(0), _pairs([]), _pairs([]))
    found = kinds_of(system, np.zeros(system.layout.nd), massless(structure, system.layout.nk))
    parts = parts_of(system)
    places, own, beside = [], [], []  # type: list[int], list[tuple[int, int]], list[tuple[int, int]]
    for batch in batches:
        for number, unit in batch.form.events.scales:
            kinds = _kinds(found, unit)
            islands = islands_of(system, batch, unit).tolist()
            for place, island in zip(batch.discretes(number).tolist(), islands):
                part = parts[island] if island >= 0 else -1
                near = [kind for kind, at in kinds if at is None or part < 0 or parts[at] == part]
                own += [(len(places), kind) for kind in [k for k, at in kinds if at == island] or near]
                beside += [(len(places), kind) for kind in near]
                places.append(place)
    least = 1.0 - np.isin(np.arange(len(places)), [owner for owner, _ in own])
    return Magnitudes(np.array(places), least, _pairs(own), _pairs(beside))


def _pairs(found: list[tuple[int, int]]) -> tuple[Array, Array]:
    owners, kinds = np.array(found, np.int64).reshape(-1, 2).T
    return owners, kinds


def _kinds(found: Kinds, unit: Dimension) -> list[tuple[int, int | None]]:
    """The kinds of quantities of this dimension, and their islands; None where they are in none."""
    places = {kind: _place(key) for key, kind in found.numbers.items()}
    places |= {kind: places[key[1]] for key, kind in found.numbers.items() if key[0] == "massless"}
    return [(kind, island) for kind, (island, of) in places.items() if of == unit]


def _place(key: Key) -> tuple[int | None, Dimension | None]:
    """The island and the dimension of the quantities of a kind; positions that follow a rate are filed under it."""
    match key:
        case (Dimension() as unit,):
            return None, unit
        case (Dimension() as rate, "position"):
            return None, rate * SECOND
        case (int(island), Dimension() as unit) | (int(island), Dimension() as unit, "position", _):
            return island, unit
        case (int(island), Dimension() as rate, "position"):
            return island, rate * SECOND
    return None, None


def write_magnitudes(found: Magnitudes, machine: Machine, trial: Trial, t: float, h: float = np.inf) -> None:
    """Let the discretes in trial.g that hold scale(v), and their values before the event, be what the run knows at the
    instant t, where it goes on with a step of size h."""
    if not len(found.places):
        return
    g, layout, nk = trial.g, machine.system.layout, machine.system.layout.nk
    present = np.delete(layout.state(g), np.s_[2 * nk : 3 * nk])[: len(trial.kind)]
    known = trial.sizes[SO_FAR].copy()  # counted where steps begin
    np.maximum.at(known, trial.kind, np.maximum(np.abs(present), LEAST * trial.nominal))
    now = np.maximum(g[layout.discretes + found.places], found.least)
    np.maximum.at(now, found.own[0], known[found.own[1]])
    if h < found.shortest[0] / 2:
        found.shortest[0] = h
        rounded = rounding_of(machine, trial, h, t)
        np.maximum.at(now, found.connected[0], rounded[found.connected[1]] / MILLIONTH)
    g[layout.discretes + found.places] = g[layout.befores + found.places] = now
