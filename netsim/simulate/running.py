"""The variable part of one run of the accept/reject loop."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.consistent import Consistent
from netsim.core.contract import (
    ACCEPTED,
    ASTRAY,
    EVENTS,
    FAILED,
    PARTS,
    REINITIALISED,
    REJECTED,
    ROUGH,
    UNTESTED,
    Trial,
)
from netsim.core.linear.factors import Factor
from netsim.core.loop.control import NOW, ROW, TRACED, Control
from netsim.core.loop.sampler import Sampler
from netsim.core.method import Method
from netsim.equations.machine import Machine
from netsim.initial.initial import Structure
from netsim.initial.reactions.reactions import Reactions
from netsim.results.selection import Named
from netsim.simulate.events.iteration import EventIteration
from netsim.simulate.options import TransientOptions
from netsim.simulate.setup.arrays.planned import Planned
from netsim.text.errors import Problem
from netsim.text.limits import TOO_LARGE, limit

Array = np.ndarray

EFFORT = (
    *(("rejected", REJECTED), ("failed", FAILED), ("time_events", EVENTS)),
    *(("rough_steps", ROUGH), ("untested_steps", UNTESTED), ("jumps", REINITIALISED), ("inconsistent_points", ASTRAY)),
    ("parted_steps", PARTS),
)
"""Attributes of a result, and the counters that they show."""

FORMER = {"corners": "time_events"}
"""Former names of attributes, which a result still has for one version."""

MANY = 100.0
"""A larger limit is proposed to runs that take up to so many times the numbers that they have."""


@dataclass
class Pace:
    """What the caller of the loop remembers: at how many attempts it looks again, and behind how many it did last, the
    last advance with the failures up to it and the same with steps of any kind, how often pivots were chosen anew at a
    step, failures at the last look at constraints, and the unknown of the first joint that did not hold, with the
    instant."""

    due: int = 16
    span: int = 16
    mark: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0, 0.0])
    broken: dict[int, int] = field(default_factory=dict)
    failed: int = 0
    parted: list[float] = field(default_factory=list)

    def copied(self) -> "Pace":
        """The same, to be kept."""
        return Pace(self.due, self.span, list(self.mark), dict(self.broken), self.failed, list(self.parted))


@dataclass(eq=False)
class Running:
    """The variable part of one run: nothing of it is kept on system, machine or method. `whole`: the machine of all
    constraints, where some are left out; `watched`: values that somebody looks at; `tried`, `jumps`: see
    netsim.simulate.failed_steps; `passed`: the instant of the first jump that was passed over; `pace`: see
    netsim.simulate.adaptive.
    `first`: plan and arrays with which the run began, None where it has moved to another machine; `flushed`,
    `requested`: so many rows of samples are on the disk alone, so many instants were asked for before the control's;
    `answers`, `reused`: workspace for the sizes that rounding leaves, and whether arrays serve other runs afterwards
    (netsim.simulate.run_template); `named`: those of trial.readings."""

    machine: Machine
    structure: Structure
    options: TransientOptions
    method: Method
    trial: Trial
    control: Control
    sampler: Sampler
    plan: Consistent
    closing: Consistent
    factor: Factor
    arrays: Struct
    reactions: Reactions | None
    watch: Struct
    alive: list[Any] = field(default_factory=list)
    events: EventIteration | None = None
    watched: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    served: dict[bytes, tuple[Consistent, Factor, Struct]] = field(default_factory=dict)
    idle: int = 0
    last: float = -1.0
    structs: dict[int, tuple[Any, Struct]] = field(default_factory=dict)
    whole: Machine | None = None
    tried: list[float] = field(default_factory=lambda: [0, 0.0])
    jumps: list[float] = field(default_factory=lambda: [0, 0.0])
    passed: list[float] = field(default_factory=list)
    pace: Pace = field(default_factory=Pace)
    first: tuple[Consistent, Struct] | None = None
    flushed: int = 0
    requested: int = 0
    answers: Struct | None = None
    reused: bool = False
    named: list[Named] = field(default_factory=list)

    def struct(self, name: str) -> Struct:
        """One of its parts behind one address; parts that events exchange are kept."""
        values = getattr(self, name)
        key = id(values)
        if key not in self.structs:
            self.structs[key] = values, struct_of(values)
        return self.structs[key][1]

    @property
    def planned(self) -> Planned:
        """What it integrates, and how."""
        return Planned(self.machine, self.structure, self.options, self.method)

    @property
    def now(self) -> float:
        return float(self.control.numbers[NOW])

    @property
    def steps(self) -> int:
        return int(self.trial.counters[ACCEPTED])

    @property
    def free(self) -> int:
        """How many numbers a step takes from the one before, without integrals that no equation reads."""
        return self.structure.dynamic.freedom - self.sampler.summed.shape[1]

    @property
    def counters(self) -> Array:
        return self.trial.counters

    @property
    def effort(self) -> dict[str, int]:
        """What the loop did besides accepted steps."""
        found = {name: int(self.counters[k]) for name, k in EFFORT}
        found |= {old: found[new] for old, new in FORMER.items()}
        return found | ({"events": len(self.events.log)} if self.events else {})

    @property
    def turnover(self) -> Array:
        """What the run turned over (netsim.core.loop.turnover), in its first account."""
        return self.sampler.turnover[0]

    @property
    def sampled(self) -> tuple[Array, Array, Array]:
        """Instants, values and energy account of the samples so far."""
        rows, sampler = int(self.control.places[ROW]), self.sampler
        found = sampler.times[:rows], sampler.values[:rows], sampler.account[:rows]
        return tuple(each.copy() for each in found) if self.reused else found  # type: ignore[return-value]

    @property
    def traced(self) -> Array:
        """Instant and traced signals at the nodes of every step: (steps, nodes, 1 + signals)."""
        rows = self.sampler.trace[: int(self.control.places[TRACED])]
        rows = rows.copy() if self.reused else rows
        return rows.reshape(-1, len(self.sampler.nodes), rows.shape[1])


def too_large(run: Running) -> Problem | None:
    """E260 where samples and traces of the steps so far would fill the memory."""
    places, sampler = run.control.places, run.sampler
    row = 1 + sampler.values.shape[1] + sampler.account.shape[1]
    count = int(places[ROW]) * row + int(places[TRACED]) * sampler.trace.shape[1]
    if count <= limit("values"):
        return None
    message = f"{run.steps} steps, up to t = {run.now:.5g} s of {run.options.stop:.5g} s, leave {count:.3g} numbers: "
    message += f"at most {limit('values'):.6g} are allowed"
    hint = "a larger `rtol`, or a method of higher order, takes fewer steps"
    if (wanted := count * run.options.stop / max(run.now, 1e-300)) < MANY * count:
        hint += f"; where that is meant: --limit values={wanted:.1g}"
    return Problem(TOO_LARGE, message, hint=hint)
