"""Discretes at the end of a period as the start of the next one has them, whose time begins at 0 again.

What counts the samples of sample(FIRST, PERIOD) goes back by those of the time that has passed, so that the next one
comes as it would have; what holds an instant (`begun = time`) holds one that is a period earlier, and counts that
nothing reads do not matter. Everything else stays.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.problem import TIME
from netsim.equations.forms.form import Form
from netsim.equations.forms.symbols import UNIFORM
from netsim.equations.kernels.symbolic import ca
from netsim.equations.machine import Machine
from netsim.simulate.events.iteration import EventIteration

Array = np.ndarray
TRIES = 24
"""Random values of all that an expression reads, at which its slope over time is asked for."""


@dataclass(frozen=True, eq=False)
class Clock:
    """Numbers of discretes that count samples, with their elements, the next instant and the time between two of them
    (s); of those that count what nothing reads; of those that hold instants, with how much they grow in a second."""

    samples: Array
    owners: list[str]
    coming: Array
    every: Array
    counts: Array
    instants: Array
    rates: Array

    def begun_again(self, machine: Machine, start: Array, end: Array, period: float) -> Array:
        """The point at the end with its discretes as a period later begins with them."""
        layout, g = machine.system.layout, end.copy()
        for first in (layout.discretes, layout.befores):
            g[first + self.counts] = start[first + self.counts]
            g[first + self.samples] -= np.where(self.waiting(machine, start, end), 0.0, np.round(period / self.every))
            g[first + self.instants] -= self.rates * period
        return g

    def waiting(self, machine: Machine, start: Array, end: Array) -> Array:
        """Which samples have not begun between two points."""
        places = machine.system.layout.befores + self.samples
        return np.asarray(start[places] == end[places])


def clock_of(machine: Machine, events: EventIteration | None, g: Array) -> Clock:
    """The discretes of a machine that time moves on, with the numbers of the point g."""
    nothing, owners = np.zeros(0, np.int64), list[str]()
    samples, counts, instants = [nothing], [nothing], [nothing]
    rates = [np.zeros(0)]
    for batch in machine.system.batches:
        hidden = [i for i in _counts(batch.form) if not batch.form.events.names[i]]
        samples += [batch.discretes(i) for i in hidden]
        owners += len(hidden) * batch.labels
        counts += [batch.discretes(i) for i in _counts(batch.form) if i not in hidden]
        for i, rate in _instants(batch.form):
            instants.append(batch.discretes(i))
            rates.append(np.full(batch.n, rate))
    numbers = np.concatenate(samples)
    coming, every = _of_samples(machine, events, g, numbers) if events and len(numbers) else np.zeros((2, 0))
    held = np.concatenate(instants), np.concatenate(rates)
    return Clock(numbers, owners, coming, every, np.concatenate(counts), *held)


def _of_samples(machine: Machine, events: EventIteration, g: Array, counts: Array) -> tuple[Array, Array]:
    """The next instants of samples, and the times between two of them: what one sample more is later by."""
    counted, found = g.copy(), []
    counted[machine.system.layout.befores + counts] += 1.0
    for point in (g, counted):
        values = np.zeros_like(events.watch.found)
        run_table(events.watch.table, point, values)
        found.append(values)
    sampled = [
        batch.relation_values(k)
        for batch in machine.system.batches
        for k, relation in enumerate(batch.form.events.relations)
        if relation.sampled
    ]
    numbers = np.concatenate(sampled)
    return found[0][numbers] + g[TIME], (found[1] - found[0])[numbers]


def _counts(form: Form) -> Iterator[int]:
    """Hidden counts of samples, and discretes that only they themselves read."""
    changes = form.expressions.changes
    for i, (name, following) in enumerate(zip(form.events.names, changes.following)):
        before = _symbols(form, "before", i)
        if not name:
            if any(ca.depends_on(following, s) for s in before):
                yield i
            continue
        others = [*changes.following[:i], *changes.following[i + 1 :]]
        others += [*changes.crossings, *changes.fired, *changes.states, *changes.targets]
        read = ca.vertcat(ca.SX(0, 1), *form.residuals, *form.differentiated, *map(ca.SX, others))
        if not any(ca.depends_on(read, s) for s in (*before, *_symbols(form, "discrete", i))):
            yield i


def _instants(form: Form) -> Iterator[tuple[int, float]]:
    """Discretes that hold instants, with their rates: those of what is linear in time alone."""
    time, rng = UNIFORM["time"], np.random.default_rng(3)
    for i, following in enumerate(form.expressions.changes.following):
        if form.events.names[i] and ca.depends_on(following, time):
            slope = ca.jacobian(ca.SX(following), time)
            read = ca.symvar(slope)
            values = ca.Function("slope", read, [slope]).expand()
            found = {float(values(*rng.integers(-2, 3, len(read)))) for _ in range(TRIES)} if read else {float(slope)}
            moving = {each for each in found if each and np.isfinite(each)}
            if len(moving) == 1:
                yield i, moving.pop()


def _symbols(form: Form, kind: str, i: int) -> list[Any]:
    return [s for (key, _), s in form.symbols.gathered.items() if key[0] == kind and key[1] == i]
