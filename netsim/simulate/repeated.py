"""W505 and E523: what a run says beside the same run with a tenth of its tolerance (`verify = yes`).

An error test bounds the error of each step. What becomes of it later, no step knows: a pendulum that passes near its
upper rest, a chaotic circuit or a contact that is met by a hair multiply small errors by millions. So the run is done
again with a tenth of rtol, or half of a given step, and the two are compared at the instants of the first:

    difference = integral of |x - y| over time / (duration max |x|)

with the smaller one of |x - y| at the two ends of each interval between samples: an event that comes a little later in
one of the runs is no difference.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from netsim.results.samples import Samples
from netsim.simulate.options import TransientOptions
from netsim.text.errors import Problem

FINEST = 1e-13
"""The least rtol of a run."""
FAR, SOME, MUCH = 100.0, 0.01, 0.1
"""Differences above so many rtol (in given steps: above the second number) are warned of; above the third a run
fails."""
NEGLIGIBLE = 1e-6
"""Signals that are smaller than this part of the largest of their unit are not compared."""


def finer(options: TransientOptions) -> TransientOptions:
    """The options of the run beside: a tenth of rtol, or two steps for one."""
    if options.step:
        return replace(options, verify=False, step=0.5 * options.step, every=2 * options.every)
    return replace(options, verify=False, rtol=max(0.1 * options.rtol, FINEST))


def verified(samples: Samples, beside: Samples, options: TransientOptions) -> Samples:
    """The samples with what the run `beside` says of them: attributes `difference` and `notes`, and a warning (W505) or
    a failure (E523)."""
    other = finer(options)
    how = f"in steps of {other.step:g} s" if options.step else f"at rtol = {other.rtol:g}"
    if not beside.finished:
        hint = f"the run {how}: {beside.message}"
        told = Problem(
            "W505", "the run is not verified: with a smaller tolerance it does not come to its end", hint=hint
        )
        return replace(samples, warnings=(*samples.warnings, told))
    difference, name = max(differences(samples, beside), default=(0.0, ""))
    note = f"verified: the same run {how} differs by {difference:.2g} of the size of '{name}' on the average"
    attributes = {**samples.attributes, "difference": difference, "notes": note}
    samples = replace(samples, attributes=attributes)
    if difference <= (SOME if options.step else FAR * options.rtol):
        return samples
    message = f"'{name}' differs by {difference:.2g} of its size, on the average over time, from the same run {how}"
    hint = f"use a {'shorter step' if options.step else 'smaller rtol'}; a motion that multiplies small errors (chaos, "
    hint += "a passage near an unstable rest) has no result beyond some time"
    if difference > MUCH:
        return replace(samples, broken=(*samples.broken, Problem("E523", message, hint=hint)))
    return replace(samples, warnings=(*samples.warnings, Problem("W505", message, hint=hint)))


def differences(samples: Samples, beside: Samples) -> Iterator[tuple[float, str]]:
    """Of each shown signal, if not negligible beside those of its unit: how far the runs are apart, and its name."""
    times = samples.time
    edges, spans = 4.0 * np.finfo(float).eps * times[-1], np.diff(times)
    behind = np.searchsorted(beside.time, times + edges, side="right") - 1
    before = np.minimum(np.searchsorted(beside.time, times - edges), behind)
    at = np.where(np.append(spans <= edges, False), before, behind)  # of two samples at a jump the first is before it
    sizes = np.abs(np.nan_to_num(samples.values)).max(axis=0, initial=0.0)
    largest: dict[str, float] = {}
    for signal, size in zip(samples.signals, sizes):
        largest[signal.unit] = max(largest.get(signal.unit, 0.0), float(size))
    for j, signal in enumerate(samples.signals):
        if sizes[j] > NEGLIGIBLE * largest[signal.unit]:
            apart = np.nan_to_num(np.abs(samples.values[:, j] - beside.values[at, j]))
            mean = spans @ np.minimum(apart[:-1], apart[1:]) / (times[-1] - times[0])
            yield float(mean / sizes[j]), signal.name
