"""Whether a motion e^(s t) with Re s > 0 exists at a point: then a response or a noise there is no steady state.

Passive networks have none. Others tell it by their eigenvalues. With delays these are infinitely many: the past of
every delayed quantity is a polynomial through Chebyshev points then (D. Breda, S. Maset, R. Vermiglio, SIAM Journal on
Scientific Computing 27, 2005), and what grows with it is sought again in the network's own equations, by Newton's
method on P(s) x = 0 (A. Ruhe, SIAM Journal on Numerical Analysis 10, 1973).
"""

from collections.abc import Sequence

import numpy as np

from netsim.analyses.signals.linearised import Linearised
from netsim.analyses.signals.states.passivity import passive
from netsim.analyses.signals.states.reduction import may_grow, poles_of, reduced
from netsim.results.over_frequency.curves import reading

Array = np.ndarray
MOST = 700
"""Unknowns, those of the past included, up to which eigenvalues are asked for."""
GROWS = 1e-9
"""The share of the fastest rate by which a motion grows at least where it is told."""
CERTAIN = 1e-3
"""Below this part of that the eigenvalues as they come say that nothing grows."""
PIECES, FEWEST = 24, 8
"""Points of the past of a delayed quantity, and how many it has at least."""
SOUGHT, ITERATIONS, SAME = 10, 30, 1e-10
"""Rates that are sought again, the fastest growing ones, and the relative change that ends Newton's method."""


def growth_note(lin: Linearised, what: str, words: str = "") -> str:
    """A sentence where a motion grows at the point (`words`: which one), so that there is no steady state that `what`
    could be of, and where that was not looked at."""
    late = int(np.count_nonzero(lin.of >= 0))
    if not late and passive(lin.machine, lin.g):
        return ""
    pieces = min(PIECES, (MOST - lin.size) // late) if late else 0
    if lin.size > MOST or (late and pieces < FEWEST):
        many = "so many delays" if late and lin.size <= MOST else f"more than {MOST} unknowns"
        return f"it was not looked at whether the operating point{words} is stable, of a network with {many}"
    fastest = _growing_with_delays(lin, pieces) if late else _growing(lin)
    if not fastest > 0.0:
        return ""
    return f"the operating point{words} is unstable (a motion grows as e^(t/{reading(1.0 / fastest, 's')})): {what}"


def _growing(lin: Linearised) -> float:
    """The largest Re s (1/s), 0 where nothing grows."""
    found = poles_of(lin.dense) if may_grow(lin.dense, CERTAIN * GROWS) else None
    rates = np.zeros(0) if found is None else found.rates
    return float(rates.real.max()) if len(rates) and rates.real.max() > GROWS * np.abs(rates).max() else 0.0


def _growing_with_delays(lin: Linearised, pieces: int) -> float:
    """The same by rates that `with_the_past` suggests."""
    found = reduced(with_the_past(lin, pieces))
    if found is None or not found.states:
        return 0.0
    s = np.linalg.eigvals(found.dynamics) / found.time
    least = GROWS * np.abs(s).max()
    sought = s[(s.real > least) & (s.imag >= 0.0)]
    sought = sought[np.argsort(-sought.real, kind="stable")][:SOUGHT]
    rates = [exact for rate in sought if (exact := _exact(lin, complex(rate))) is not None]
    return max((rate.real for rate in rates if rate.real > least), default=0.0)


def with_the_past(lin: Linearised, pieces: int) -> Sequence[Array]:
    """P by powers of s with so many further unknowns for each delay: x_j' = 2/T sum_l D_jl x_l, with x_0 the quantity
    itself and x_m what is delayed by T."""
    late, size = np.flatnonzero(lin.of >= 0), lin.size
    whole, slopes = size + pieces * len(late), _differences(pieces)
    parts = [np.zeros((whole, whole)) for _ in range(max(len(lin.equations), 2))]
    for part, power in zip(parts, lin.equations):
        part[:size, :size] = power[:, :size].toarray()
        part[:size, size + pieces - 1 :: pieces] = power[:, lin.delayed[late]].toarray()
    for k, (number, length) in enumerate(zip(lin.of[late], lin.length[late])):
        own = size + pieces * k + np.arange(pieces)
        parts[0][np.ix_(own, own)] = -2.0 / length * slopes[1:, 1:]
        parts[0][own, number] = -2.0 / length * slopes[1:, 0]
        parts[1][own, own] = 1.0
    return parts


def _differences(count: int) -> Array:
    """Derivatives of a polynomial at the points cos(pi j/count), by its values there (L. N. Trefethen, Spectral Methods
    in MATLAB, 2000)."""
    j = np.arange(count + 1)
    x, c = np.cos(np.pi * j / count), np.where((j == 0) | (j == count), 2.0, 1.0) * (-1.0) ** j
    found = np.outer(c, 1.0 / c) / (x[:, None] - x + np.eye(count + 1))
    return np.asarray(found - np.diag(found.sum(axis=1)))


def _exact(lin: Linearised, s: complex) -> complex | None:
    """The s near this one at which P(s) is singular, delays included; None where there is none."""
    x = np.random.default_rng(0).normal(size=lin.size).astype(complex)
    for _ in range(ITERATIONS):
        value, slope = _at(lin, s)
        try:
            y = np.linalg.solve(value, slope @ x)
        except np.linalg.LinAlgError:
            return s
        step = (x.conj() @ x) / (x.conj() @ y)
        s, x = s - step, y / np.linalg.norm(y)
        if abs(step) <= SAME * abs(s):
            return s
        if not np.isfinite(s):
            return None
    return None


def _at(lin: Linearised, s: complex) -> tuple[Array, Array]:
    """P(s) and dP/ds, dense, with rows and columns as they are."""
    value, slope = np.zeros((2, lin.size, lin.size), complex)
    for k, power in enumerate(lin.equations):
        raised = k * s ** max(k - 1, 0)
        own = power[:, : lin.size].toarray()
        value, slope = value + s**k * own, slope + raised * own
        for length, of, column in zip(lin.length, lin.of, lin.delayed):
            if of >= 0:
                delayed, late = power[:, [column]].toarray()[:, 0], np.exp(-s * length)
                value[:, of] += s**k * late * delayed
                slope[:, of] += (raised - length * s**k) * late * delayed
    return value, slope
