"""Discretes at the end of a period as the start of the next one has them, whose time begins at 0 again.

What counts samples begins anew, what holds an instant (`begun = time`) holds one that is a period earlier, and counts
that nothing reads do not matter. Everything else stays.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.equations.forms.form import Form
from netsim.equations.forms.symbols import UNIFORM
from netsim.equations.kernels.symbolic import ca
from netsim.equations.machine import Machine

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Clock:
    """Numbers of discretes that count on, and of those that hold instants."""

    counts: Array
    instants: Array

    def begun_again(self, machine: Machine, start: Array, end: Array, period: float) -> Array:
        """The point at the end with its discretes as a period later begins with them."""
        layout, g = machine.system.layout, end.copy()
        for first in (layout.discretes, layout.befores):
            g[first + self.counts] = start[first + self.counts]
            g[first + self.instants] -= period
        return g


def clock_of(machine: Machine) -> Clock:
    """The discretes of a machine that time moves on."""
    counts, instants = list[Array](), list[Array]()
    for batch in machine.system.batches:
        for found, kept in ((_counts(batch.form), counts), (_instants(batch.form), instants)):
            kept += [batch.discretes(i) for i in found]
    nothing = np.zeros(0, np.int64)
    return Clock(np.concatenate([nothing, *counts]), np.concatenate([nothing, *instants]))


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


def _instants(form: Form) -> Iterator[int]:
    for i, following in enumerate(form.expressions.changes.following):
        if form.events.names[i] and ca.depends_on(following, UNIFORM["time"]):
            yield i


def _symbols(form: Form, kind: str, i: int) -> list[Any]:
    return [s for (key, _), s in form.symbols.gathered.items() if key[0] == kind and key[1] == i]
