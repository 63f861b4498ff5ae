"""What happened and when: the log of a run's events, and when events come so fast that nothing else happens any
more."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.forms.form import WhenClause
from netsim.text.errors import Problem, Span

Array = np.ndarray
CROWD, SHRUNK, SHRINKING = 12, 1e-9, 1e-5
"""So many events of one condition within the smaller share of a run, or ever faster within the larger, are one
another's echo."""


@dataclass(frozen=True)
class Line:
    """What entries of an element have in common where the same conditions changed the same things: conditions as
    written, discretes that became others (name, and which of those of the instant), and what was set anew."""

    element: str
    condition: str
    became: tuple[tuple[str, int], ...] = ()
    resets: tuple[str, ...] = ()
    span: Span | None = None


class Event(NamedTuple):
    """What happened: instant (s), the line for it, and the values of the discretes that became others at this instant.
    The texts are made where somebody reads them: a converter has a hundred thousand of these in a second."""

    time: float
    line: Line
    values: Array

    @property
    def element(self) -> str:
        """The element's name."""
        return self.line.element

    @property
    def condition(self) -> str:
        """The condition as written."""
        return self.line.condition

    @property
    def changes(self) -> str:
        """What discretes became, or which states were set."""
        return ", ".join([*(f"{name} = {self.values[k]:g}" for name, k in self.line.became), *self.line.resets])

    @property
    def span(self) -> Span | None:
        """Where the condition stands."""
        return self.line.span


@dataclass(frozen=True)
class LoggedPlace:
    """A relation, happening or reinit of an instance, or a discrete of it."""

    batch: Batch
    position: int
    of: Any

    @property
    def key(self) -> tuple[int, int]:
        """The instance."""
        return id(self.batch), self.position


def lines_of(became: Sequence[tuple[LoggedPlace, int]], changed: Sequence[LoggedPlace]) -> list[Line]:
    """One line per element whose discretes (with their places) `became` others or whose `when` happened; `changed` are
    the relations and whens that did."""
    discretes: dict[tuple[int, int], list[tuple[LoggedPlace, int]]] = {}
    for place, number in became:
        discretes.setdefault(place.key, []).append((place, number))
    causes: dict[tuple[int, int], list[LoggedPlace]] = {}
    for place in changed:
        causes.setdefault(place.key, []).append(place)
    found = []
    for key in dict.fromkeys([*causes, *discretes]):
        places, others = causes.get(key, []), discretes.get(key, [])
        whens = [p for p in places if isinstance(p.of, WhenClause)]
        resets = [
            r.text for p in whens for r in p.batch.form.events.resets if p.batch.form.events.whens[r.when] is p.of
        ]
        if others or whens:
            some = next(iter(whens or places), None) or others[0][0]
            conditions = ", ".join(dict.fromkeys(p.of.text for p in whens or places))
            names = tuple((place.of, number) for place, number in others)
            label, span = some.batch.labels[some.position], getattr(some.of, "span", None)
            found.append(Line(label, conditions, names, tuple(dict.fromkeys(resets)), span))
    return found


def log_text(log: Sequence[Event]) -> str:
    """The log as text, a line per event: instant, element, condition, changes, between tabs."""
    return "\n".join(f"{e.time!r}\t{e.element}\t{e.condition}\t{e.changes}" for e in log)


def accumulating_events(
    log: Sequence[Event], recent: dict[tuple[str, str], deque[float]], stop: float
) -> Problem | None:
    """E510 for events of one condition at ever shorter distances; `recent` contains the last instants of each
    condition."""
    for event in log:
        key = event.line.element, event.line.condition
        times = recent.get(key) or recent.setdefault(key, deque(maxlen=CROWD))
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
