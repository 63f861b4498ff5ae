"""How large quantities have been so far, for `scale(v)` in the text of components.

    scale(v) = max over the kinds k that v may be of (M_k, r_k/1e-6, 1e-12 nominal_k)

M_k is the largest value of the kind so far, with what the start and the sources will move it by, and r_k what rounding
leaves of it (netsim.core.scales). It never falls, and changes at events alone. Where no unknown has the dimension (in
joint coordinates, the velocity of an arm's point) it is 1.
"""

from dataclasses import dataclass

import numpy as np

from netsim.core.contract import Trial
from netsim.core.scales import ROUNDED, SO_FAR
from netsim.equations.batches import Batch
from netsim.equations.layout import Layout
from netsim.equations.system import System
from netsim.initial.initial import Structure
from netsim.library.component import SECOND
from netsim.simulate.setup.kinds import Key, Kinds, islands_of, kinds_of, massless
from netsim.text.units import Dimension

Array = np.ndarray

MILLIONTH = 1e-6
"""The share of scale(v) by which components tell motion from rest: it has to be more than what rounding leaves."""
LEAST = 1e-12
"""The share of its nominal size that a quantity counts at least, so that nothing is motion where all rests."""


@dataclass(frozen=True, eq=False)
class Magnitudes:
    """The numbers of the discretes that hold sizes, and what these are at least; then for each kind of quantity that
    counts, which of them it counts for."""

    places: Array
    least: Array
    owners: Array
    kinds: Array


def magnitudes_of(system: System, structure: Structure) -> Magnitudes:
    """What the sizes that components ask for are taken of: what has the dimension, in the island where the element
    finds it if there is any such quantity, else anywhere."""
    batches = [batch for batch in system.batches if batch.form.events.scales]
    if not batches:
        return Magnitudes(*np.zeros((4, 0), np.int64))
    found = kinds_of(system, np.zeros(system.layout.nd), massless(structure, system.layout.nk))
    places, pairs = [], []  # type: list[int], list[tuple[int, int]]
    for batch in batches:
        for number, unit in batch.form.events.scales:
            for place, kinds in zip(batch.discretes(number), _kinds(system, found, batch, unit)):
                pairs += [(len(places), kind) for kind in kinds]
                places.append(int(place))
    owners, of = np.array(pairs, np.int64).reshape(-1, 2).T
    return Magnitudes(np.array(places), 1.0 - np.isin(np.arange(len(places)), owners), owners, of)


def _kinds(system: System, found: Kinds, batch: Batch, unit: Dimension) -> list[list[int]]:
    """For each element of a batch, the kinds of quantities of this dimension beside it."""
    places = {kind: _place(key) for key, kind in found.numbers.items()}
    places |= {kind: places[key[1]] for key, kind in found.numbers.items() if key[0] == "massless"}
    anywhere = [kind for kind, (_, of) in places.items() if of == unit]
    beside: dict[int | None, list[int]] = {}
    for kind in anywhere:
        beside.setdefault(places[kind][0], []).append(kind)
    return [beside.get(island, anywhere) for island in islands_of(system, batch, unit).tolist()]


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


def write_magnitudes(found: Magnitudes, trial: Trial, layout: Layout) -> None:
    """Let the discretes in trial.g that hold scale(v), and their values before the event, be what the run knows now."""
    if not len(found.places):
        return
    g, nk = trial.g, layout.nk
    nominal, known = np.zeros((2, trial.sizes.shape[1]))
    np.maximum.at(nominal, trial.kind, trial.nominal)
    present = np.delete(layout.state(g), np.s_[2 * nk : 3 * nk])[: len(trial.kind)]
    np.maximum.at(known, trial.kind, np.abs(present))  # sizes are counted where steps begin
    for each in (trial.sizes[SO_FAR], trial.sizes[ROUNDED] / MILLIONTH, LEAST * nominal):
        np.maximum(known, each, out=known)
    now = np.maximum(g[layout.discretes + found.places], found.least)
    np.maximum.at(now, found.owners, known[found.kinds])
    g[layout.discretes + found.places] = g[layout.befores + found.places] = now
