"""The variable part of one run of the loop of given steps."""

from dataclasses import dataclass, field

import numpy as np

from netsim.core.compiled.struct import Struct
from netsim.core.consistent import Consistent
from netsim.core.linear.factors import Factor
from netsim.core.loop.fixed import instants, step_count
from netsim.equations.machine import Call, Machine
from netsim.initial.reactions.reactions import Reactions
from netsim.initial.recovery import Recovery
from netsim.simulate.methods import METHODS
from netsim.simulate.options import TransientOptions

Array = np.ndarray


@dataclass(eq=False)
class Stepping:
    """The variable part of one run: nothing of it is kept on system, machine or method. Instants and samples in memory
    are those from step `origin` on; `broken`: how often pivots were chosen anew at a step."""

    machine: Machine
    options: TransientOptions
    times: Array
    g: Array
    out: Array
    state: Array
    history: Array
    u: Array
    work: Array
    counters: Array
    values: Array
    account: Array
    power: Array
    found: Array
    extra: Array
    recovery: Recovery | None
    power_before: Array
    reactions: Reactions | None
    minimum_norm: tuple[Struct, list[list[Call]]]
    plan: Consistent
    point: Array
    spare: Array
    turnover: Array
    summed: Array
    sums: Array
    factor: Factor | None = None
    done: int = 0
    closed: bool = False
    origin: int = 0
    broken: dict[int, int] = field(default_factory=dict)

    @property
    def method(self) -> Array:
        """What the compiled loop is told of the method."""
        return np.array(METHODS[self.options.method].plain)

    @property
    def now(self) -> float:
        return self.instant(self.done)

    @property
    def count(self) -> int:
        """The number of steps in all."""
        return step_count(self.options.stop, self.options.step)

    @property
    def row(self) -> int:
        """The row in memory of the present sample, or of the next one between samples."""
        return -(-(self.done - self.origin) // self.options.every)

    @property
    def flushed(self) -> int:
        """Rows of samples that are on the disk alone."""
        return self.origin // self.options.every

    @property
    def is_full(self) -> bool:
        """Whether there is no room for the next sample."""
        return self.last_in_memory == self.done < self.count

    @property
    def last_in_memory(self) -> int:
        """The last step whose sample has room; the loop takes the last instant that it sees for the end."""
        window = self.options.window * self.options.every
        return self.count if self.origin + len(self.times) - 1 == self.count else self.origin + window

    def instant(self, step: int) -> float:
        """The time at the end of a step in memory."""
        return float(self.times[step - self.origin])

    def move_window(self) -> None:
        """Forget samples but the last one, which becomes the first in memory."""
        for array in (self.values, self.account):
            array[0] = array[self.row]
        self.put_window(self.done)

    def put_window(self, origin: int) -> None:
        """Instants from a step on."""
        times = instants(self.options.stop, self.options.step, origin, len_of(self.options, origin))
        self.origin, self.times = origin, times

    @property
    def steps(self) -> int:
        return self.done

    @property
    def sampled(self) -> tuple[Array, Array, Array]:
        """Instants, values and energy account of the samples so far: every so many steps, and at the last one."""
        every, done = self.options.every, self.done - self.origin
        rows = done // every + 1 + int((self.closed or self.done == self.count) and done % every != 0)
        return self.times[np.minimum(np.arange(rows) * every, done)], self.values[:rows], self.account[:rows]


def len_of(options: TransientOptions, origin: int) -> int:
    """How many instants are in memory: all from step `origin` on, or those of a window and one more."""
    left, window = step_count(options.stop, options.step) - origin, options.window * options.every
    return left + 1 if not window or left <= window + 1 else window + 2
