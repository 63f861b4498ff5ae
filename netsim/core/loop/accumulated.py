"""How errors of steps add up over a run: without end in an oscillation without losses, whose phase nothing corrects.

    e+ = e exp(-lost/(2 E)) + (s min(estimate, 1))^r

lost: the energy dissipated in the step; E: the energy that swings; estimate: of the step's error, in tolerances; s: the
share of it that is not of what decays at once, which explicit methods know (at their bound of stability estimates are
of nothing else); r = (p + 1)/q for a method of order p whose estimate goes with h^q. An amplitude decays half as fast
as its energy. The power r makes of an estimate of lower order the error that the method itself leaves in a smooth
motion.

E is half the sum, over kinetic and other energies of every component type, of what each of them lately went back and
forth: min(highest - lowest, path - |net change|). What is lately is counted by the way that an energy went, not by
time: a share w = |change|/(SWINGS (highest - lowest)) of all four is forgotten with every step. A store that only fills
(a battery, a wall that warms up) does not swing, and if nothing swings errors are taken to decay at once.
"""

import math

from netsim.core.compiled.function import inner
from netsim.core.contract import LEAVING, PERSISTING

LATEST, LEAST, MOST, PATH, NET, ERRORS = range(3, 9)
"""Rows of a turnover (netsim.core.loop.turnover) behind its own: of every energy the last one, the least and the most
lately, the way that it went and its change; then what errors add up to."""
ROWS = ERRORS + 1
"""Rows of a turnover."""
KEPT, PEAK, LOST = range(3)
"""Errors: the present sum, the largest one so far, and the energy dissipated since the last step."""
SWINGS = 8.0
"""Energies are remembered for about half as many swings there and back."""


@inner
def begin_swing(turnover, k, energy):
    """Begin with this energy."""
    turnover[LATEST, k] = turnover[LEAST, k] = turnover[MOST, k] = energy


@inner
def add_to_swing(turnover, k, energy):
    """An energy at the end of a step."""
    change = energy - turnover[LATEST, k]
    if change == 0.0:
        return
    least, most = min(turnover[LEAST, k], energy), max(turnover[MOST, k], energy)
    forgotten = min(1.0, abs(change) / (SWINGS * (most - least))) if most > least else 0.0
    turnover[LATEST, k] = energy
    turnover[LEAST, k] = least + forgotten * (energy - least)
    turnover[MOST, k] = most + forgotten * (energy - most)
    turnover[PATH, k] = (1.0 - forgotten) * turnover[PATH, k] + abs(change)
    turnover[NET, k] = (1.0 - forgotten) * turnover[NET, k] + change


@inner
def swing_energy(turnover):
    """The energy E that goes back and forth, in J."""
    found = 0.0
    for k in range(turnover.shape[1]):
        if turnover[PATH, k] > 0.0:
            back = turnover[PATH, k] - abs(turnover[NET, k])
            found += 0.5 * max(0.0, min(turnover[MOST, k] - turnover[LEAST, k], back))
    return found


@inner
def add_dissipation(turnover, dissipated):
    """An energy that is dissipated in a step, or at an impact."""
    turnover[ERRORS, LOST] += abs(dissipated)


@inner
def accumulate(trial, turnover, estimate):
    """Add the error of a step."""
    power = trial.tolerances[LEAVING]
    energy, lost, kept = swing_energy(turnover), turnover[ERRORS, LOST], turnover[ERRORS, KEPT]
    if lost > 0.0 and energy > 0.0:
        kept *= math.exp(-0.5 * lost / energy)
    elif not energy > 0.0:
        kept = 0.0
    least = min(estimate, 1.0) * trial.tolerances[PERSISTING]
    kept += least if power == 1.0 else least**power
    turnover[ERRORS, LOST], turnover[ERRORS, KEPT] = 0.0, kept
    turnover[ERRORS, PEAK] = max(turnover[ERRORS, PEAK], kept)
