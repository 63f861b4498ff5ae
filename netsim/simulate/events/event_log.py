"""What happened and when: the log of a run's events, and when events come so fast that nothing else happens any
more."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.forms.form import Happening
from netsim.text.errors import Problem, Span

Array = np.ndarray
CROWD, SHRUNK, SHRINKING = 12, 1e-9, 1e-5
"""So many events of one condition within the smaller share of a run, or ever faster within the larger, are one
another's echo."""


@dataclass(frozen=True)
class Event:
    """What happened: instant (s), element, condition as written, and what discretes became or which states were set."""

    time: float
    element: str
    condition: str
    changes: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Placed:
    """A relation, happening or reinit of an instance, or a discrete of it."""

    batch: Batch
    position: int
    of: Any

    @property
    def key(self) -> tuple[int, int]:
        """The instance."""
        return id(self.batch), self.position


def events_of(
    t: float, discretes: Sequence[Placed], before: Array, after: Array, changed: Sequence[Placed]
) -> Iterator[Event]:
    """One entry per element whose discretes changed or whose `when` happened; `changed` are the relations and whens
    that did."""
    became: dict[tuple[int, int], list[str]] = {}
    for place, old, new in zip(discretes, before, after):
        if place.of and new != old:
            became.setdefault(place.key, []).append(f"{place.of} = {new:g}")
    causes: dict[tuple[int, int], list[Placed]] = {}
    for place in changed:
        causes.setdefault(place.key, []).append(place)
    for key in dict.fromkeys([*causes, *became]):
        places, words = causes.get(key, []), became.get(key, [])
        whens = [p for p in places if isinstance(p.of, Happening)]
        for p in whens:
            words += [r.text for r in p.batch.form.events.resets if p.batch.form.events.whens[r.when] is p.of]
        if words or whens:
            some = next(iter(whens or places), None) or next(p for p in discretes if p.key == key)
            conditions = dict.fromkeys(p.of.text for p in whens or places)
            yield Event(
                t,
                some.batch.labels[some.position],
                ", ".join(conditions),
                ", ".join(dict.fromkeys(words)),
                getattr(some.of, "span", None),
            )


def log_text(log: Sequence[Event]) -> str:
    """The log as text, a line per event: instant, element, condition, changes, between tabs."""
    return "\n".join(f"{e.time!r}\t{e.element}\t{e.condition}\t{e.changes}" for e in log)


def crowded(log: Sequence[Event], recent: dict[tuple[str, str], deque[float]], stop: float) -> Problem | None:
    """E510 for events of one condition at ever shorter distances; `recent` contains the last instants of each
    condition."""
    for event in log:
        times = recent.setdefault((event.element, event.condition), deque(maxlen=CROWD))
        times.append(event.time)
        span = times[-1] - times[0]
        if len(times) < CROWD or span >= SHRINKING * stop:
            continue
        gaps = np.diff(times)
        if span < SHRUNK * stop or np.all(gaps[1:] < gaps[:-1]):
            message = f"'{event.element}' switches without end at t = {event.time:.6g} s: "
            message += f"'{event.condition}' occurs {CROWD} times within {span:.1e} s"
            hint = "separate its thresholds (hysteresis), add a discrete variable for rest at low speed, "
            hint += "or use a sliding mode (sliding_relay)"
            return Problem("E510", message, event.span, hint=hint)
    return None
