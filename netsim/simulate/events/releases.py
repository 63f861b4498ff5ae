"""What gave way on the way to an equilibrium: loads that were larger than what friction, brakes and stops hold."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from netsim.core.loop.crossings import SLACK, evaluate_events
from netsim.results.over_frequency.curves import reading
from netsim.simulate.events.event_log import LoggedPlace
from netsim.simulate.events.events import begin_relations
from netsim.simulate.events.iteration import EventIteration

Array = np.ndarray
MOST_NAMED = 3
EQUAL = 1e-6
"""The share by which a load exceeds what is held at least where both are told."""


@dataclass(frozen=True, eq=False)
class Release:
    """A condition by which modes of an element became others, the larger and the smaller of its sides there, and what
    they became, by their names."""

    place: LoggedPlace
    larger: float
    smaller: float
    became: dict[str, float]

    def __str__(self) -> str:
        name, unit = owner_of(self.place), self.place.of.unit
        more = self.larger - self.smaller > EQUAL * self.larger
        would = f"would have to hold {reading(self.larger, unit)} and holds" if more else "gives way at"
        return f"'{name}' {would} {reading(self.smaller, unit)}"


class Releases:
    """The forces and torques by which elements last gave way, by the elements' names."""

    def __init__(self) -> None:
        self.last: dict[str, Release] = {}

    def note(self, s: EventIteration, before: Array, after: Array) -> None:
        """What lets the modes in the point `before` become those in the point `after`."""
        became = after[s.values]
        for owner in owners_of(s, before[s.values] != became):
            causes = [r for r in _causes(s, before, became, owner) if r.place.of.unit.startswith("N")]
            if causes:
                self.last[owner] = max(causes, key=lambda r: r.larger - r.smaller)

    def sentence(self, s: EventIteration, g: Array) -> str:
        """Which loads are larger than what elements hold that have given way, and have at the point g."""
        now = {(owner_of(p), p.of): value for p, value in zip(s.discretes, g[s.values])}
        given_way = (r for owner, r in self.last.items() if all(now[owner, n] == v for n, v in r.became.items()))
        found = [str(release) for release in given_way]
        return ", ".join(found[:MOST_NAMED]) + (" ..." if len(found) > MOST_NAMED else "")


def owner_of(place: LoggedPlace) -> str:
    """The name of the element."""
    return place.batch.labels[place.position]


def owners_of(s: EventIteration, changed: Array) -> list[str]:
    """The names of the elements of the discretes that are `changed`."""
    return list(dict.fromkeys(owner_of(p) for p, other in zip(s.discretes, changed) if other and p.of))


def _causes(s: EventIteration, before: Array, became: Array, owner: str) -> Iterator[Release]:
    """The conditions of an element that are true at a point, and without which it would keep modes there."""
    point, count = before.copy(), len(s.relations)
    begin_relations(s, point, slack=SLACK)
    evaluate_events(s.looking, point)
    crossings, sides = s.watch.found[:count].copy(), s.watch.found[len(s.watch.found) - count :].copy()
    own = np.array([owner_of(p) == owner and bool(p.of) for p in s.discretes])
    changed = np.flatnonzero(own & (before[s.values] != became))
    if (s.watch.found[count + changed] != became[changed]).any():
        return  # a velocity has changed them
    for k, place in enumerate(s.relations):
        if owner_of(place) == owner and crossings[k] < 0.0:
            other = point.copy()
            other[s.relation_values.start + k] = 0.0
            evaluate_events(s.looking, other)
            if (s.watch.found[count + changed] == before[s.values][changed]).all():
                larger, smaller = (sides[k] - crossings[k]) / 2.0, (sides[k] + crossings[k]) / 2.0
                yield Release(place, larger, smaller, {s.discretes[i].of: float(became[i]) for i in changed})
