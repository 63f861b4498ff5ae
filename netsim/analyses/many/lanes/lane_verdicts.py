"""Which lanes may have something to tell (netsim.simulate.judgement), each by its own account of energy and its own
readings.

Steps are shared: their error is that of the worst lane, so that a lane is doubtful here rather than by itself.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from netsim.analyses.many.lanes.copies import in_copy
from netsim.analyses.over_time.named_signals import named_in, places_of
from netsim.analyses.over_time.start import RecordedSignals
from netsim.equations.machine import Machine
from netsim.network.network import Network
from netsim.results.selection import Named, Reader
from netsim.simulate.judgement import ADDED_UP, KEPT, accumulated_errors, missed_of_readings, misses_energy
from netsim.simulate.running import Running

Array = np.ndarray
Asked = tuple[list[Named], list[Named]]
"""What is asked for by name, of samples and of the trace."""


def named_of_case(machine: Machine, one: RecordedSignals) -> Asked:
    """What is asked for of a case, without places."""
    samples, trace = (
        named_in(machine, selection, dict.fromkeys(selection.entries, 0), expressions)
        for selection, expressions in zip((one.selection, one.followed), one.expressions)
    )
    return samples, trace


def named_of_lanes(of: Sequence[Asked], chosen: RecordedSignals, readers: tuple[Reader, Reader]) -> Asked:
    """What is asked for of all lanes, `of` each, lane by lane: places are those of its copy."""
    samples, trace = (
        [each for k, own in enumerate(of) for each in _in_lane(own[i], k, places_of(selection, reader))]
        for i, (selection, reader) in enumerate(zip((chosen.selection, chosen.followed), readers))
    )
    return samples, trace


def _in_lane(named: Sequence[Named], k: int, places: Mapping[str, int]) -> list[Named]:
    return [each._replace(places=tuple(places[in_copy(k, name)] for name, _ in each.signals)) for each in named]


def doubtful_lanes(run: Running, network: Network, judges_energy: bool, asked: Callable[[], Asked]) -> Array:
    """Whether a lane misses energy, adds errors up, or has readings that are off: (lanes,). `network`: of one lane, and
    `asked`: what is asked for of it."""
    options, turnover = run.options, run.sampler.turnover
    found = accumulated_errors(options, turnover, run.free, run.machine.system.layout.nq) > ADDED_UP
    if judges_energy:
        found = found | misses_energy(options, turnover)
    if run.named:
        samples, trace = asked()
        sizes, first = run.trial.readings.sizes, len(found) * len(samples)
        parts = sizes[:, :first].reshape(3, len(found), -1), sizes[:, first:].reshape(3, len(found), -1)
        _, missed = missed_of_readings(network, [*samples, *trace], np.concatenate(parts, axis=2))
        found = found | (missed > KEPT * options.rtol).any(axis=1)
    return np.asarray(found)
