"""The error of an explicit Runge-Kutta step over a kink of its rates, without another evaluation.

Rates whose slope jumps by J at the share theta of a step are k_i + h J max(c_i - theta, 0). The formula of the step
errs there by h^2 J (sum_i b_i max(c_i - theta, 0) - (1 - theta)^2/2). The embedded formula errs nearly alike, since
both are exact for smooth rates: their difference is 7 % of the error (5(4) of Dormand and Prince, mean over theta; 5 %
of 6(5)). Other weights w of the stages see it all:

    sum_i w_i max(c_i - theta, 0) ~ sin(2 pi theta)   (least squares)
    w.1 = w.c = w.c^2 = w.A c = w.A^2 c = 0

The conditions are those of all trees up to order 3 (J. Butcher) and of a linear oscillation up to order 4: where rates
are smooth, w.k = h^3 F + O(h^4). F differs by O(h) from one step to the next, so that d = w.k_n - r^3 w.k_(n-1), with
the ratio r of their lengths, is O(h^4) as the embedded difference of 5(4) is. It is as large for an oscillation, and
460 times as large for a forced motion. So d counts only where it is suddenly many times what it lately was.
"""

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.contract import RESTARTED
from netsim.core.methods.tableaux import Tableau
from netsim.core.problem import NK, NQ

Array = np.ndarray

SEEN = 3.0
"""What is seen of a kink beside the error that it makes, both as means over theta: where sin(2 pi theta) is small the
error is not."""
SUDDEN = 100.0
"""d counts where it is more than so many times what it lately was: five steps a radian leave some 1e-4 of what a kink
does, and a narrow pulse leaves tens of times what was before it."""
FADES, LEARNS, GROWS = 0.5, 10.0, 2.0
"""What d lately was falls to this part at most in a step, and grows to so many times that at most. It goes with the
fourth power of the step, of this growth at most: the first steps of a run are so short that d is but rounding."""
MET = 0.1
"""A step with a larger error over a kink is not what the next one is held against."""

NOW, BEFORE, DIFFERENCE, LATELY = range(4)
"""Rows of Explicit.combined, of x, v and q: w.k of the step and of the step before, |d| of the step and lately."""
SPAN, KNOWN, KINK, COUNT = range(4)
"""Positions in Explicit.met: the length of the last step, whether the next one may be held against it, the error of a
step over a kink, steps taken since a restart (from the third on it is known what d lately was)."""


def kink_weights(tableau: Tableau) -> Array:
    """w of the stages up to the step's end."""
    count = tableau.end + 1
    A, c = tableau.weights[:count, :count], tableau.nodes[:count]
    _, sizes, ways = np.linalg.svd(np.array([np.ones(count), c, c**2, A @ c, A @ (A @ c)]))
    free = ways[np.sum(sizes > 1e-9 * sizes[0]) :].T
    theta = (np.arange(400) + 0.5) / 400
    seen = np.maximum(c - theta[:, None], 0.0)
    w = free @ np.linalg.lstsq(seen @ free, np.sin(2.0 * np.pi * theta), rcond=1e-6)[0]
    wrong = seen @ tableau.weights[tableau.end, :count] - (1.0 - theta) ** 2 / 2.0
    return SEEN * w * np.abs(wrong).mean() / np.abs(seen @ w).mean()


@inner
def combine(method, problem, trial, h):
    """Compare w.k with that of the step before: h d into method.sudden, 0 where it is not sudden. 0 where nothing is, 1
    where motion is, 2 where differentiated quantities are."""
    w, met, rows, found = method.kinks, method.met, method.combined, 0
    motion = 2 * problem.sizes[NK]
    known = met[KNOWN] > 0.0 and trial.counters[RESTARTED] == 0
    ratio = h / met[SPAN] if known else 0.0
    for i in range(motion + problem.sizes[NQ]):
        total = 0.0
        for j in range(w.shape[0]):
            total += w[j] * method.rates[j, i]
        d = total - ratio**3 * rows[BEFORE, i] if known else 0.0
        sudden = met[COUNT] > 1.0 and abs(d) > SUDDEN * min(GROWS, ratio) ** 4 * rows[LATELY, i]
        rows[NOW, i], rows[DIFFERENCE, i] = total, abs(d)
        method.sudden[i] = h * d if sudden else 0.0
        if sudden:
            found = max(found, 1 if i < motion else 2)
    return found


@inner
def remember(method, trial, h):
    """Of an accepted step."""
    rows, met, share = method.combined, method.met, 0.0
    met[COUNT] += 1.0
    if trial.counters[RESTARTED]:
        met[COUNT] = 1.0
    else:
        share = min(GROWS, h / met[SPAN]) ** 4
    for i in range(rows.shape[1]):
        d, lately = rows[DIFFERENCE, i], share * rows[LATELY, i]
        rows[LATELY, i] = max(FADES * lately, min(d, LEARNS * lately) if lately > 0.0 else d)
        rows[BEFORE, i] = rows[NOW, i]
    met[SPAN], met[KNOWN] = h, 0.0 if met[KINK] > MET else 1.0
