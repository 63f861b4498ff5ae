"""What a run turns over, and what its energy account misses.

    missed(t) = stored(0) + supplied(t) - dissipated(t) - stored(t)
    turned over = integral |supplied power| + integral |dissipated power| + 1/2 sum (highest - lowest)      [J]

The sum is over the kinetic and the remaining stored energy of each component type: what swings between a mass and a
spring, or between a capacitor and an inductor, counts once. It is a range and no path: a run that goes on for longer
turns no more over, so that a small loss in each of many periods is seen. Both are taken at the ends of steps.

A network has one account, and one that consists of copies of another (netsim.analyses.many.lanes) one for each copy.
"""

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.loop.accumulated import ROWS, add_dissipation, add_to_swing, begin_swing
from netsim.core.states import STORED, TYPES

Array = np.ndarray

FLOWS, LOW, HIGH = range(3)
"""Rows of a turnover (9, m): flows, then the lowest and the highest energies, then what netsim.core.loop.accumulated
keeps."""
IN, OUT, MISSED, FIRST = range(4)
"""Flows: what came in and went out, what the account missed at most (with its sign), what was stored at the start less
what impulses took there."""
BEFORE = 3
"""Behind the errors: what was stored before an event."""


def no_turnover(power: Array) -> Array:
    """The turnovers (accounts, 9, m) of a run that begins with these energies."""
    found = np.zeros((len(power), ROWS, max(4, power.shape[1] - TYPES)))
    for turnover, own in zip(found, power):
        begin_turnover(turnover, own)
    return found


@inner
def begin_turnover(turnover, power):
    """Nothing turned over yet, in a run that begins with these energies."""
    for j in range(turnover.shape[0]):
        for k in range(turnover.shape[1]):
            turnover[j, k] = np.inf if j == LOW else -np.inf if j == HIGH else 0.0
    turnover[FLOWS, FIRST] = power[STORED]
    for k in range((power.shape[0] - TYPES) // 2):
        kinetic = power[TYPES + 2 * k + 1]
        begin_swing(turnover, 2 * k, power[TYPES + 2 * k] - kinetic)
        begin_swing(turnover, 2 * k + 1, kinetic)
    update_extremes(turnover, power)


@inner
def update_extremes(turnover, power):
    """Energies at the end of a step: lowest and highest ones of each type, kinetic and the rest."""
    for k in range((power.shape[0] - TYPES) // 2):
        kinetic = power[TYPES + 2 * k + 1]
        rest = power[TYPES + 2 * k] - kinetic
        add_to_swing(turnover, 2 * k, rest)
        add_to_swing(turnover, 2 * k + 1, kinetic)
        turnover[LOW, 2 * k], turnover[HIGH, 2 * k] = min(turnover[LOW, 2 * k], rest), max(turnover[HIGH, 2 * k], rest)
        turnover[LOW, 2 * k + 1], turnover[HIGH, 2 * k + 1] = (
            min(turnover[LOW, 2 * k + 1], kinetic),
            max(turnover[HIGH, 2 * k + 1], kinetic),
        )


@inner
def add_work(turnover, supplied, dissipated):
    """Work of one step, or of an impulse."""
    turnover[FLOWS, IN] += abs(supplied)
    turnover[FLOWS, OUT] += abs(dissipated)
    add_dissipation(turnover, dissipated)


@inner
def update_imbalance(turnover, stored, supplied, dissipated):
    """What the account misses at the end of a step, since the start."""
    missed = turnover[FLOWS, FIRST] + supplied - dissipated - stored
    if not abs(missed) <= abs(turnover[FLOWS, MISSED]):
        turnover[FLOWS, MISSED] = missed


def turned_over(turnover: Array) -> Array:
    """The energy that was turned over so far, in J: of one account, or of several (..., 9, m)."""
    flows = turnover[..., FLOWS, :]
    return np.asarray(flows[..., IN] + flows[..., OUT] + 0.5 * _ranges(turnover).sum(axis=-1))


def energy_level(turnover: Array) -> Array:
    """The sum of the largest magnitudes of the energies, in J: what rounding and tolerances are relative to."""
    low, high = np.abs(turnover[..., LOW, :]), np.abs(turnover[..., HIGH, :])
    return np.asarray(np.where(np.isfinite(low), np.maximum(low, high), 0.0).sum(axis=-1))


def _ranges(turnover: Array) -> Array:
    low, high = turnover[..., LOW, :], turnover[..., HIGH, :]
    with np.errstate(invalid="ignore"):
        return np.where(np.isfinite(low), high - low, 0.0)
