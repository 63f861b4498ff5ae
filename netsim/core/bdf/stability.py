"""Whether BDF of order 3 to 5 makes an oscillation grow that does not grow in truth.

Beside the imaginary axis these orders are unstable: a light vibration gains in every step until the error test sees it,
and then keeps the steps as short as its own period. What is left of it in the highest difference w = D^(k+1) z follows
the formula's own recurrence, so three of them in a row, at steps of one size and order, tell its root:

    w_n = a w_(n-1) + b w_(n-2)  (least squares in the norm of the error test),    r^2 = a r + b,    h l = sum_{j=1..k}
    (1 - 1/r)^j / j

h l is the eigenvalue that such a root stands for (the formula, read backwards): log |r| is the growth in the run, Re h
l that in truth. Sources: A. Hindmarsh, Avoiding BDF stability barriers in the MOL solution of advection-dominated
problems, Appl. Numer. Math. 17, 1995 (roots from the history; CVODE); Hairer, Wanner, Solving Ordinary Differential
Equations II, 1996, sec. V.1.
"""

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.problem import NK, NY

FITS = 0.05
"""One pair of roots explains the differences where it leaves less than this share of their square."""
DISTINCT = 1e-8
"""Two differences in a row are parallel below this: nothing oscillates."""

STABLE = 2
"""The highest order that is stable for every undamped oscillation."""
GROWTH, WORTH = 0.02, 0.05
"""An oscillation that the formula makes grow by more than this in a step sends the order to STABLE, where errors of
that order without it are below this share of the tolerance: steps then grow. What is resolved grows by less, and its
error is tested."""
BARRED, WORTHWHILE, USELESS = 100, 1.2, 5000.0
"""Steps for which higher orders are then barred, and again as long as steps grow by this factor meanwhile; if not, none
for so many."""


@inner
def oscillation(problem, trial, newest, change, older, order):
    """Of the oscillation in w = `newest`, w - `change` and `older`: the formula's own growth in a step, and the share
    of a difference that the next one is; (0, 1) where there is none."""
    count = 2 * problem.sizes[NK] + problem.sizes[NY]
    s00, s01, s02, s11, s12, s22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        if trial.exponent[i] == 0:
            scale = trial.scale[i]
            w0, w1, w2 = newest[i] / scale, (newest[i] - change[i]) / scale, older[i] / scale
            s00, s01, s02 = s00 + w0 * w0, s01 + w0 * w1, s02 + w0 * w2
            s11, s12, s22 = s11 + w1 * w1, s12 + w1 * w2, s22 + w2 * w2
    det = s11 * s22 - s12 * s12
    if not det > DISTINCT * s11 * s22:
        return 0.0, 1.0
    a, b = (s01 * s22 - s02 * s12) / det, (s02 * s11 - s01 * s12) / det
    if not (a * a + 4.0 * b < 0.0 and s00 - a * s01 - b * s02 < FITS * s00):
        return 0.0, 1.0
    inverse = 1.0 / complex(0.5 * a, np.sqrt(-b - 0.25 * a * a))
    eigenvalue, power = 0.0j, 1.0 + 0.0j
    for j in range(1, order + 1):
        power *= 1.0 - inverse
        eigenvalue += power / j
    return 0.5 * np.log(-b) - eigenvalue.real, abs(1.0 - inverse)
