"""What an analysis hands over: sampled signals with their units, the energy account, and how it went."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netsim.text.errors import Problem

MOST_NAMED = 6
"""Signals that a result is shown with."""


PARAMETER_VALUES = "parameter_values"
"""The attribute of a sensitivity that has the values of its parameters."""
PERIOD = "period"
"""The attribute of a periodic state that has its period (s)."""


@dataclass(frozen=True)
class Signal:
    """A saved quantity: its name as in the netlist, its SI unit ('' for a number), a sentence."""

    name: str
    unit: str = ""
    doc: str = ""


@dataclass(frozen=True)
class Figure:
    """What a `measure` line found, in SI; not a number where the result has no such thing."""

    name: str
    value: float
    unit: str = ""
    doc: str = ""


@dataclass(frozen=True, eq=False)
class Trace:
    """Signals at the nodes of every step, (steps, nodes): integrals and extremes of the polynomials through these are
    those of the run itself."""

    time: np.ndarray
    values: Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Samples:
    """values[i, j] is signal j at time[i], in SI; energy[i] is stored, supplied since the start, dissipated since the
    start (J).

    What `axis` calls "mode" counts modes from 1 instead of seconds, and has no energy."""

    name: str
    time: np.ndarray
    signals: tuple[Signal, ...]
    values: np.ndarray
    energy: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    attributes: Mapping[str, Any] = field(default_factory=dict)
    finished: bool = True
    message: str = ""
    rates: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    """Velocity and acceleration of positions that a later run reads as tables."""
    unseen: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Signals that were sampled beside the saved ones, by name (for a moving picture)."""
    trace: Trace | None = None
    """What measures and integrals read, where steps were adaptive."""
    origin: np.ndarray | None = None
    """The global vector at the start, from which a network with the same unknowns can begin."""
    kinetic: np.ndarray | None = None
    """The kinetic part of the stored energy at each instant, in J; None where nothing moves."""

    axis: str = "time"
    pieces: "Callable[[], Iterator[Samples]] | None" = None
    """All samples, some at a time, of a result that memory does not take: `time`, `values` and `energy` are then those
    of the first and the last sample alone."""
    count: int = 0
    """How many samples there are in the pieces."""
    table: Any = None
    """The whole as a `Table` of several axes, of which these samples are rows (the cases of a sweep)."""
    about: "tuple[tuple[Any, Samples], ...]" = ()
    """Points at rest and periods that a result in other axes is about, each with its machine: what components assert is
    judged there. The attribute `place` of a point says where it lies."""
    beside: Mapping[str, Any] = field(default_factory=dict)
    """Each a `Variable` over another axis than these samples, with these axes (harmonics of a periodic state)."""
    figures: tuple[Figure, ...] = ()
    """What `measure` lines found."""
    broken: tuple[Problem, ...] = ()
    """Measures that are not to be found in the result, assertions that do not hold, an energy account that does not
    close."""
    warnings: tuple[Problem, ...] = ()
    """Why the result may be less right than the run was asked for (netsim.simulate.judgement)."""

    def __repr__(self) -> str:
        ended = "" if self.finished else f", {self.message}"
        names = ", ".join(signal.name for signal in self.signals[:MOST_NAMED])
        more = f" and {len(self.signals) - MOST_NAMED} more" if len(self.signals) > MOST_NAMED else ""
        count = self.count or len(self.time)
        about = f"{self.name or self.attributes.get('analysis', 'run')}: {count} samples of {names}{more}"
        return f"<Samples {about}{ended}>"

    def series(self, name: str) -> np.ndarray:
        """One signal over time; KeyError where it was not saved."""
        for j, signal in enumerate(self.signals):
            if signal.name == name:
                return self.values[:, j]
        raise KeyError(name)
