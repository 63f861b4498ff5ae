"""What becomes of disturbances of an orbit, in words: Floquet multipliers are the eigenvalues of the monodromy
matrix, and a disturbance is multiplied by them in every period.

An error e of a period is such a disturbance, and the periodic state is wrong by (1 - M)^-1 e: where disturbances hardly
decay, by far more than the tolerance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netsim.analyses.periodic.shooting import PeriodMap, bordered_matrix, period_map, solved
from netsim.results.over_frequency.curves import reading
from netsim.results.selection import Selection
from netsim.simulate.judgement import ADDED_UP
from netsim.simulate.options import TransientOptions
from netsim.simulate.repeated import SOME, finer
from netsim.text.columns import counted
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
NEUTRAL = 1e-6
"""A multiplier this near to the unit circle neither decays nor grows."""
MOVED = 1e-6
"""Positions that go on by more than this share of their sizes in a period are told."""
MULTIPLIED = 100.0
"""Errors of a period are measured that the periodic state is wrong by so many times, and more."""
ROUNDING = 32.0 * np.finfo(float).eps
"""Of the largest of what a period is made of: multipliers below what this makes of them are 0."""
SHOWN, NAMED, SHARE = 6, 3, 0.3
"""Multipliers in a line; states that are named for a growing disturbance, and the share of the largest they have."""


@dataclass(frozen=True, eq=False)
class Floquet:
    """Multipliers, largest first, and the states of each, in sizes; without those that are 1 for every network of the
    kind: of a shift in time, where nothing depends on it, and of positions that nothing depends on."""

    multipliers: Array
    shapes: Array


def floquet(lap: PeriodMap, free: bool) -> Floquet:
    """The multipliers of an orbit; those that are nothing but rounding are 0."""
    found, vectors = _eigenvalues(lap.monodromy)
    order = np.argsort(-np.abs(found), kind="stable")
    for _ in range(lap.still.shape[1] + free):
        order = np.delete(order, np.argmin(np.abs(found[order] - 1.0)))
    return Floquet(found[order], lap.along.basis @ vectors[:, order])


def _eigenvalues(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues and their vectors. An error E of the matrix moves a simple eigenvalue by |y'E x|/|y'x|, with its
    vectors y and x of length 1, so that what is not above that for rounding errors of changes of 1 is 0."""
    from scipy.linalg import eig

    found, left, right = eig(matrix, left=True) if len(matrix) else (np.zeros(0), *2 * (matrix,))
    along = np.abs(np.sum(left.conj() * right, axis=0))
    height = ROUNDING * max(1.0, np.linalg.norm(matrix) if len(matrix) else 0.0)
    found[np.abs(found) * along <= height] = 0.0
    return found, right


def error_verdict(lap: PeriodMap, free: bool, options: TransientOptions) -> Problem | None:
    """W525 where the errors of a period are multiplied to more than `ADDED_UP` rtol (in given steps: 1 %) of the sizes
    of states; they are the difference to the same period at a tenth of rtol, or in half of a given step."""
    matrix = bordered_matrix(lap, free)
    sizes = np.linalg.svd(matrix, compute_uv=False)
    if not len(sizes) or sizes[-1] * MULTIPLIED > 1.0:
        return None
    hint = "use a smaller rtol, or give the network the losses that the real system has"
    multiplied = f"a periodic state multiplies errors of a period by {1.0 / sizes[-1]:.2g} here"
    try:
        beside = period_map(lap.start, lap.period, finer(options), Selection(), lap.states, lap.along)
    except SimulationError:
        return Problem("W525", f"{multiplied}, and with a smaller tolerance the period has no end", hint=hint)
    step, change = solved(lap, matrix, beside.miss - lap.miss)
    moved = np.abs(lap.along.basis @ step)
    name, most = lap.states.names(lap.start.machine.system)[int(np.argmax(moved))], float(moved.max())
    if free and abs(change) > most:
        name, most = "the period", abs(change)
    if most <= (SOME if options.step else ADDED_UP * options.rtol):
        return None
    wrong = f"{name if name == 'the period' else repr(name)} may be off by {most:.2g} of its size"
    return Problem("W525", f"{wrong} (rtol = {options.rtol:g}): {multiplied}", hint=hint)


def orbit_attributes(found: Floquet, lap: PeriodMap, count: int, times: int = 1) -> list[str]:
    """The period of an orbit that took `count` periods to find, how many `times` it repeats itself in one, what goes
    on, stability, and the multipliers."""
    period = f"period {reading(lap.period, 's')} ({reading(1.0 / lap.period, 'Hz')})"
    first = f"{period}, found in {counted(count, 'period')}; states return to {lap.distance:.1e} of their sizes"
    own = f"{reading(lap.period / times, 's')} ({reading(times / lap.period, 'Hz')})"
    again = [f"the oscillation repeats itself {times} times in this period: its own is {own}"] if times > 1 else []
    names = lap.states.names(lap.start.machine.system)
    way = lap.ahead + lap.turned
    ways = [f"{names[k]} by {way[k] * lap.states.sizes[k]:.6g}" for k in np.flatnonzero(np.abs(way) > MOVED)]
    return [
        first,
        *again,
        *([f"goes on in every period: {', '.join(ways)}"] if ways else []),
        *_stability(found, names),
    ]


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
