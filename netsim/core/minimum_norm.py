"""How a closed loop shares its loads: of all reactions that balance the same forces, those of least norm, inside
compiled loops.

With weights w (1 for forces, 1/L for moments; `netsim.initial.reactions.reactions`), A = B/w, z = w lam and z0 as the
step found it,

    minimise |z|^2  subject to  A z = A z0:    z = A' y,  A A' y = A z0.

A A' is singular along balances that repeat one another, where A z0 has no part: a faint diagonal makes it definite, and
pivots on the diagonal serve at every position. What this leaves of A z0 is taken up in further rounds. Motion and
sources stay as they are.
"""

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.linear.factors import refactor, solve

FAINT = 1e-12
"""What is added to the diagonal, whose entries are 1 as the mechanism is drawn."""
ROUNDS = 4


@inner
def least_reactions(plan, g):
    """Replace the loops' reactions in g, at what g holds, by the balancing ones of least norm."""
    places, entries, z, y, rest = plan.places, plan.entries, plan.z, plan.y, plan.rest
    if places.shape[0] == 0:
        return
    run_table(plan.completed, g, rest)
    _balances(plan, g)
    if refactor(plan.factor, plan.matrix) == 0.0:
        return
    for j in range(z.shape[0]):
        plan.before[j] = plan.weights[j] * g[places[j]]
        z[j] = 0.0
    for _ in range(ROUNDS):
        for i in range(rest.shape[0]):
            rest[i] = 0.0
        for e in range(entries.shape[0]):
            j = plan.columns[e]
            rest[plan.rows[e]] += entries[e] * (plan.before[j] - z[j])
        solve(plan.factor, rest, y)
        for e in range(entries.shape[0]):
            z[plan.columns[e]] += entries[e] * y[plan.rows[e]]
    for j in range(z.shape[0]):
        g[places[j]] = z[j] / plan.weights[j]


@inner
def _balances(plan, g):
    """A and A A' at what g holds."""
    values, entries, matrix = plan.partial_values, plan.entries, plan.matrix
    for i in range(values.shape[0]):
        values[i] = 0.0
    run_table(plan.partials, g, values)
    for e in range(entries.shape[0]):
        entries[e] = values[plan.picks[e]] * plan.scales[e]
    for p in range(matrix.shape[0]):
        matrix[p] = 0.0
    for i in range(plan.diagonal.shape[0]):
        matrix[plan.diagonal[i]] = FAINT
    for p in range(plan.first.shape[0]):
        matrix[plan.target[p]] += entries[plan.first[p]] * entries[plan.second[p]]
