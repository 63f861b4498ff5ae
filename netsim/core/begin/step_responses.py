"""Sizes of quantities before and during a run in compiled code: `netsim.simulate.setup.sizes`, line by line, for
networks without motion. Its head has the formulas.

Each of a ladder of steps h takes a factor of the step's matrix, on pivots that were chosen once; where these do not
serve, pivots are chosen anew among the entries of a dense matrix.
"""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.compiled.struct import Struct
from netsim.core.contract import RTOL
from netsim.core.linear.elimination import solve_with_new_pivots
from netsim.core.linear.factors import Factor, refactor, solve
from netsim.core.newton import set_time
from netsim.core.problem import ALPHA, DIFFERENTIATED, ENTRIES, HISTORY, KA, KV, KX, NQ, NY, PRESCRIBED, Y
from netsim.core.scales import ROUNDED, SO_FAR, UNKNOWN
from netsim.core.states import load

Array = np.ndarray
SMALL, TIMES, AHEAD, EPS = 1e-3, 20.0, 30.0, 2.220446049250313e-16
"""As in netsim.simulate.setup.sizes, where they are explained."""
GOOD_PIVOTS = 1e-6
"""Pivots of a lower quality are chosen anew."""


class StepResponses(NamedTuple):
    """Steps whose answers are asked for, and the prescribed inputs of each (steps, inputs); signs of rounding (n, 2);
    the column of every entry of the step's matrix; a factor of its own; the largest nominal size of every kind;
    which steps have an answer, and workspace."""

    steps: Array
    levels: Array
    signs: Array
    columns: Array
    factor: Struct
    nominal: Array
    found: Array
    unknown: Array
    solved: Array
    out: Array
    stands: Array
    loaded: Array
    changes: Array
    right: Array
    entries: Array
    matrix: Array
    column: Array


@inner
def set_step_responses(problem, trial, answers):
    """How far the start and the sources move things, into trial.sizes; steps whose matrix is singular say nothing."""
    known, nominal, n = trial.sizes[SO_FAR], answers.nominal, answers.changes.shape[1]
    if not _any_below(known, nominal, 1.0):
        return
    _stand(problem, trial, answers.stands, 0.0)
    for k in range(answers.steps.shape[0]):
        h = answers.steps[k]
        _load(problem, answers, k)
        _matrix(problem, answers, h)
        _held_still(problem, answers, answers.loaded)
        for i in range(n):
            answers.right[i] = answers.out[i]
        answers.solved[k] = 1.0 if _solve(answers, answers.right, answers.changes[k]) else 0.0
        for i in range(n if answers.solved[k] > 0.0 else 0):
            at = trial.kind[i]
            known[at] = max(known[at], min(abs(answers.changes[k, i]), trial.nominal[i]))
    unknown = 0
    for k in range(known.shape[0]):
        answers.unknown[k] = 1.0 if known[k] <= UNKNOWN * nominal[k] else 0.0
        unknown += 1 if answers.unknown[k] > 0.0 else 0
    if unknown:
        for k in range(answers.steps.shape[0]):
            if answers.solved[k] > 0.0:
                _count_products(problem, trial, answers, k)


@inner
def _count_products(problem, trial, answers, k):
    """Let unknown kinds count with what follows from what others have moved by, while that makes further ones known."""
    h, n, known = answers.steps[k], answers.changes.shape[1], trial.sizes[SO_FAR]
    count = -1
    while _count(known) > count:
        count = _count(known)
        _load(problem, answers, k)
        _matrix(problem, answers, h)
        _missed(problem, answers, k)
        for i in range(n):
            answers.right[i] = answers.out[i]
        if not _solve(answers, answers.right, answers.right):
            return
        for i in range(n):
            answers.changes[k, i] += answers.right[i]
            at = trial.kind[i]
            if answers.unknown[at] > 0.0:
                known[at] = max(known[at], min(abs(answers.changes[k, i]), trial.nominal[i]))


@inner
def _count(known):
    """How many kinds have a size."""
    found = 0
    for k in range(known.shape[0]):
        found += 1 if known[k] != 0.0 else 0
    return found


@inner
def _missed(problem, answers, k):
    """F at the end of a step from rest in which the unknowns change by -changes[k], into `out`."""
    g, h = answers.loaded, answers.steps[k]
    _held_still(problem, answers, g)
    g[ALPHA] = 1.0 / h
    for q in range(problem.sizes[NQ]):
        g[problem.sizes[HISTORY] + q] = -answers.out[problem.sizes[DIFFERENTIATED] + q] / h
    for i in range(problem.sizes[NY]):
        g[problem.sizes[Y] + i] -= answers.changes[k, i]
    _clear(answers.out)
    run_table(problem.residual, g, answers.out)


@inner
def _held_still(problem, answers, g):
    """F at the start held still (in g), into `out`."""
    for q in range(problem.sizes[NQ]):
        g[problem.sizes[HISTORY] + q] = 0.0
    g[ALPHA] = 0.0
    _clear(answers.out)
    run_table(problem.residual, g, answers.out)


@inner
def set_rounding(problem, trial, answers, h, t):
    """What rounding leaves of every kind that is small, into trial.sizes; nothing where the step's matrix is
    singular."""
    nominal = answers.nominal
    if not _any_below(trial.sizes[SO_FAR], nominal, SMALL) or not h > 0.0:
        return
    for k in range(nominal.shape[0]):
        answers.found[k] = 0.0
    _stand(problem, trial, answers.stands, t)
    _count_rounding(problem, trial, answers, h)
    _count_rounding(problem, trial, answers, AHEAD * h)
    for k in range(nominal.shape[0]):
        small = trial.sizes[SO_FAR, k] < SMALL * nominal[k]
        most = min(TIMES * answers.found[k], trial.tolerances[RTOL] * nominal[k])
        trial.sizes[ROUNDED, k] = most if small else 0.0


@inner
def _count_rounding(problem, trial, answers, h):
    """Let what the rounding of the equations' terms makes of the unknowns in a step of size h count for their kinds."""
    n = answers.changes.shape[1]
    _matrix(problem, answers, h)
    for i in range(n):
        answers.right[i] = 0.0
    for p in range(answers.entries.shape[0]):
        answers.right[problem.indices[p]] += abs(answers.entries[p]) * abs(trial.start[answers.columns[p]])
    for j in range(2):
        for i in range(n):
            answers.changes[j, i] = EPS * answers.right[i] * answers.signs[i, j]
        if not _solve(answers, answers.changes[j], answers.changes[j]):
            return
    for i in range(n):
        at = trial.kind[i]
        most = max(abs(answers.changes[0, i]), abs(answers.changes[1, i]))
        answers.found[at] = max(answers.found[at], most)


@inner
def _any_below(sizes, nominal, share):
    """Whether a kind is smaller than this share of its nominal size."""
    for k in range(nominal.shape[0]):
        if sizes[k] < share * nominal[k]:
            return True
    return False


@inner
def _stand(problem, trial, g, t):
    """The global vector at the beginning of a step."""
    for i in range(g.shape[0]):
        g[i] = trial.g[i]
    load(problem, g, trial.start)
    set_time(problem, g, t)


@inner
def _load(problem, answers, k):
    """The same under the prescribed inputs of step k."""
    for i in range(answers.loaded.shape[0]):
        answers.loaded[i] = answers.stands[i]
    for i in range(answers.levels.shape[1]):
        answers.loaded[problem.sizes[PRESCRIBED] + i] = answers.levels[k, i]


@inner
def _matrix(problem, answers, h):
    """Entries of the matrix of a step of size h where the run stands."""
    g = answers.stands
    g[KX], g[KV], g[KA], g[ALPHA] = 1.0, 1.0 / h, 1.0 / h**2, 1.0 / h
    _clear(answers.out)
    run_table(problem.jacobian, g, answers.out)
    for p in range(answers.entries.shape[0]):
        answers.entries[p] = answers.out[problem.sizes[ENTRIES] + p]


@inner
def _solve(answers, right, x):
    """x = matrix^-1 right, which may be the same; False where that is not finite."""
    f, n = answers.factor, x.shape[0]
    factor = Factor(
        f.row_order, f.column_order, f.row_scale, f.column_scale, f.start, f.source, f.row, f.scale,
        f.l_start, f.l_row, f.l_value, f.u_start, f.u_row, f.u_value, f.pivot_inverse, f.work,
    )  # fmt: skip
    if refactor(factor, answers.entries) > GOOD_PIVOTS:
        solve(factor, right, x)
    else:
        for i in range(n):
            f.work[i] = 0.0
        if n > answers.matrix.shape[0] or not solve_with_new_pivots(
            factor, answers.entries, right, x, answers.matrix, answers.column
        ):
            return False
    for i in range(n):
        if not abs(x[i]) < np.inf:
            return False
    return True


@inner
def _clear(out):
    for i in range(out.shape[0]):
        out[i] = 0.0
