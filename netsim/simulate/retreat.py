"""Steps that led to where no step leads on are taken back.

Beside a configuration in which a mechanism is singular (all links in one line) the constraints hardly determine the
accelerations. A step that passes it is found with ease; one that begins there has no stages that Newton's method
finds, however short it is. Where a run stops so, it goes back to a copy of itself, repeats its steps up to some before
the last, and goes on with shorter ones, which end elsewhere.
"""

from dataclasses import dataclass
from math import inf

from netsim.core.loop.control import SIZE
from netsim.simulate.running import Running
from netsim.simulate.snapshots import RunSnapshot, restore_snapshot, snapshot
from netsim.text.errors import Problem

SHORTER = 0.7
"""The share of its size that the repeated step has."""
MOST, PLACE = 8, 1e-3
"""So often a run goes back within this part of it, by one step more each time."""
STOPPED = ("E505", "E507")
"""Codes of runs that find no next step."""


@dataclass(eq=False)
class Retreat:
    """Copies of a run from before with their instants, the last one at the end; the instant behind which the next step
    becomes shorter (inf: no more); how often the run went back from about `place`."""

    kept: tuple[tuple[float, int, RunSnapshot], ...] = ()
    until: float = inf
    times: int = 0
    place: float = 0.0

    def remember(self, run: Running) -> None:
        """Keep the run as it is now, unless it is going back."""
        if self.until == inf and may_retreat(run):
            self.kept = (*self.kept[-1:], (run.now, run.steps, snapshot(run, with_rows=False)))

    def begin(self, run: Running, problem: Problem) -> bool:
        """Whether the run that stopped with this problem has gone back, so that it can go on."""
        if run.now > self.place + PLACE * run.options.stop:
            self.times, self.place = 0, run.now
        if not self.kept or problem.code not in STOPPED or self.times >= MOST:
            return False
        self.times += 1
        first, taken, _ = self.kept[0]
        until = run.now - self.times * (run.now - first) / max(1, run.steps - taken)
        self.kept = tuple(each for each in self.kept if each[0] <= until) or self.kept[:1]
        restore_snapshot(run, self.kept[-1][2])
        self.until = until
        return True

    def on_the_way(self, run: Running) -> bool:
        """Whether the run repeats its steps one by one; it does no more once the present one becomes shorter."""
        if self.until < inf and run.now >= self.until:
            run.control.numbers[SIZE] *= SHORTER
            self.until = inf
            self.remember(run)
        return self.until < inf


def may_retreat(run: Running) -> bool:
    """Whether other steps may end elsewhere, and whether constraints of positions may be singular; explicit methods
    stop for their stability."""
    return run.options.step == 0.0 and run.structure.index > 2 and not run.method.explicit
