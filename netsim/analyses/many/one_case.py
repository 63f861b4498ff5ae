"""One case of a sweep: the run under its values, and what is kept of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from netsim.analyses.analysis import OVERFLOWS, Task, carried_out
from netsim.analyses.sensitivity.moved import moved
from netsim.analyses.sensitivity.sensitivity import requested
from netsim.analyses.transient import ANALYSIS as TRANSIENT
from netsim.results.claims import judged
from netsim.results.measures import BROKEN
from netsim.results.measuring.record import MISSING
from netsim.results.samples import Figure, Samples, Signal
from netsim.simulate.options import TransientOptions
from netsim.text.errors import NetsimError
from netsim.text.syntax import Expr

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of each case: the run, signals (none: measures alone), and the instants of their samples."""

    options: TransientOptions
    saves: Sequence[Expr]
    instants: Array
    shows: bool


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a case gave: measures, signals at the instants (instants, signals); whether all assertions hold; why it
    failed or which assertion does not hold, '' where all is well."""

    figures: tuple[Figure, ...] = ()
    signals: tuple[Signal, ...] = ()
    series: Array | None = None
    failed: bool = False
    holds: bool = True
    message: str = ""


@OVERFLOWS
def outcome(task: Task, asked: Asked, values: Mapping[str, float]) -> Outcome:
    """The case with these values of parameters and starts (SI). What goes wrong is told in the outcome."""
    try:
        other = moved(task, values)
        samples = judged(other.machine, carried_out(TRANSIENT, other, asked.options), True)
    except NetsimError as error:
        return Outcome(failed=True, holds=False, message=_told(error))
    if not samples.finished:
        return Outcome(failed=True, holds=False, message=samples.message)
    return _kept(samples, asked)


def _kept(samples: Samples, asked: Asked) -> Outcome:
    """Figures and sampled signals; a broken assertion is no failure, an account of energy that does not close is."""
    broken = samples.broken
    wrong = [problem for problem in broken if problem.code not in (BROKEN, MISSING)]
    message = (wrong or broken)[0].message if broken else ""
    series = None
    if asked.shows:
        kept = requested(samples.time, asked.instants[1:])
        series = samples.values[kept]
    signals = samples.signals if asked.shows else ()
    return Outcome(samples.figures, signals, series, bool(wrong), not broken, message)


def _told(error: NetsimError) -> str:
    first = error.problems[0]
    return f"{first.code} {first.message}"
