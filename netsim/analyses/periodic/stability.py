"""What becomes of disturbances of an orbit, in words: Floquet multipliers are the eigenvalues of the monodromy
matrix, and a disturbance is multiplied by them in every period."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netsim.analyses.periodic.shooting import PeriodMap
from netsim.results.over_frequency.curves import reading
from netsim.text.columns import counted

Array = np.ndarray
NEUTRAL = 1e-6
"""A multiplier this near to the unit circle neither decays nor grows."""
MOVED = 1e-6
"""Positions that go on by more than this share of their sizes in a period are told."""
SHOWN, NAMED, SHARE = 6, 3, 0.3
"""Multipliers in a line; states that are named for a growing disturbance, and the share of the largest they have."""


@dataclass(frozen=True, eq=False)
class Floquet:
    """Multipliers, largest first, and the states of each, in sizes; without those that are 1 for every network of the
    kind: of a shift in time, where nothing depends on it, and of positions that nothing depends on."""

    multipliers: Array
    shapes: Array


def floquet(lap: PeriodMap, free: bool) -> Floquet:
    """The multipliers of an orbit."""
    found, vectors = np.linalg.eig(lap.monodromy)
    order = np.argsort(-np.abs(found), kind="stable")
    for _ in range(lap.still.shape[1] + free):
        order = np.delete(order, np.argmin(np.abs(found[order] - 1.0)))
    return Floquet(found[order], lap.along.basis @ vectors[:, order])


def orbit_attributes(found: Floquet, lap: PeriodMap, count: int) -> list[str]:
    """The period of an orbit that took `count` periods to find, what goes on, stability, and the multipliers."""
    period = f"period {reading(lap.period, 's')} ({reading(1.0 / lap.period, 'Hz')})"
    first = f"{period}, found in {counted(count, 'period')}; states return to {lap.distance:.1e} of their sizes"
    names = lap.states.names(lap.start.machine.system)
    way = lap.ahead + lap.turned
    ways = [f"{names[k]} by {way[k] * lap.states.sizes[k]:.6g}" for k in np.flatnonzero(np.abs(way) > MOVED)]
    return [first, *([f"goes on in every period: {', '.join(ways)}"] if ways else []), *_stability(found, names)]


def _stability(found: Floquet, names: Sequence[str]) -> list[str]:
    if not len(found.multipliers):
        return ["stable: nothing remembers a disturbance"]
    size = abs(found.multipliers[0])
    if size > 1.0 + NEUTRAL:
        parts = np.abs(found.shapes[:, 0])
        largest = [k for k in np.argsort(-parts, kind="stable")[:NAMED] if parts[k] > SHARE * parts.max()]
        what = ", ".join(dict.fromkeys(names[k] for k in largest))
        words = f"unstable: a disturbance of {what} grows by {size:.4g} in a period{_way(found.multipliers[0])}"
    elif size >= 1.0 - NEUTRAL:
        words = "neutral: a disturbance neither decays nor grows"
    elif size > 0.0:
        words = f"stable: disturbances shrink to {size:.3g} in a period{_way(found.multipliers[0])}"
    else:
        words = "stable: disturbances are gone after a period"
    shown = [_number(each) for each in found.multipliers[:SHOWN] if each.imag >= 0.0]
    more = len(found.multipliers) - SHOWN
    return [words, f"multipliers: {', '.join(shown)}{f' and {more} more' if more > 0 else ''}"]


def _way(multiplier: complex) -> str:
    if multiplier.imag:
        turns = abs(np.angle(multiplier)) / (2 * np.pi)
        return f", turning by {turns:.3g} of a turn"
    return ", changing its sign" if multiplier.real < 0.0 else ""


def _number(value: complex) -> str:
    return f"{value.real:.4g} +- {value.imag:.4g}j" if value.imag else f"{value.real:.4g}"
