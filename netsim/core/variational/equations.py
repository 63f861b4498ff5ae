"""Forward sensitivities: the variational equations of a network along a run's steps, compiled.

Of F(t, x, v, a, y, q, q', p) = 0 with definitions q = Q, a change dp of a parameter changes the run by

    F_x dx + F_v dv + F_a da + F_y dy + F_q dq + F_q' dq' + F_p dp = 0,

which is linear. Radau IIA (three stages, order 5) solves it on the steps of the run, with u = (dv, dy, dq) at the
stages as unknowns, W = A^-1 and all derivatives taken at the stages themselves:

    dx_i = dx_0 + h sum_j A_ij dv_j,   da_i = sum_j W_ij (dv_j - dv_0)/h,   dq'_i = sum_j W_ij (dq_j - dq_0)/h.

One matrix of 3 (n + nq) rows a step serves all parameters (staggered: Feehery, Tolsma, Barton, Appl. Numer. Math. 25,
1997). At the step's end, as in the run itself (netsim.core.consistent), dv goes onto the differentiated constraints and
accelerations, forces and rates follow from the equations differentiated in time: their changes are as exact as those of
positions. Right sides are tangents of kernels on [g | dg].

An input may swing by cos(w t + phi), with all its derivatives in time: a prescribed one, or one whose equation u = ...
an expression gives.
"""

from netsim.core.compiled.call import run_table
from netsim.core.compiled.function import inner
from netsim.core.consistent import fill_stage, make_consistent, stage_factor
from netsim.core.contract import parts
from netsim.core.linear.factors import refactor
from netsim.core.linear.triangles import solve_columns
from netsim.core.problem import CHARTS, DIFFERENTIATED, HISTORY, NK, NQ, NY, TIME, A, V, X
from netsim.core.states import MOTION, VALUES, copy
from netsim.core.variational.charts import change_charts, into_chart, turn_base
from netsim.core.variational.variation import set_waves, wave_derivative

PIVOT_QUALITY = 1e-6
OWN, POSITION, RATE = range(3)
"""What an entry of the stages' matrix goes with: an unknown itself, a position (h A), a rate (W/h)."""


@inner
def vary(problem, plan, recovery, factor, run, shown, first, last):
    """Changes along the steps from `first` to before `last`; the step whose pivots do not serve, -1 - s where those of
    the end of step s do not, last + 1 + s where those inside it do not, or `last`."""
    p, nk, nq, ny = run.x.shape[0], problem.sizes[NK], problem.sizes[NQ], problem.sizes[NY]
    n = nk + ny
    size = n + nq
    for s in range(first, last):
        h = run.spans[s]
        fill_matrix(problem, run, s)
        if not refactor(parts(factor), run.entries) > PIVOT_QUALITY:
            return s
        _right_sides(problem, run, p - 1, h, size)
        solve_columns(parts(factor), run.rhs, run.work)
        if not _inside(problem, plan, recovery, run, shown, s, size):
            return last + 1 + s
        for j in range(p - 1):
            for i in range(nk):
                for m in range(3):
                    run.x[j, i] += h * run.shares[2, m] * run.rhs[m * size + i, j]
                run.v[j, i] = run.rhs[2 * size + i, j]
            for i in range(nq):
                run.q[j, i] = run.rhs[2 * size + n + i, j]
            change_charts(problem, run.at[2], run.x[j], run.v[j])
        turn_base(problem, run.at[2], run.base)
        into_chart(problem, run.base, run.rows[4 * s + 3], run.at[2])
        if not complete(problem, plan, recovery, run, run.at[2]):
            return -1 - s
        show(problem, run, shown, run.at[2])
    return last


@inner
def _inside(problem, plan, recovery, run, shown, s, size):
    """Rows of signals at stages inside a step, which leave its beginning as it is; False where pivots do not serve."""
    p, nk, nq, first = run.x.shape[0], problem.sizes[NK], problem.sizes[NQ], shown.row[0]
    good = True
    for i in range(shown.stages[0]):
        for j in range(p - 1):
            copy(run.x[j], 0, run.begun[j], 0, nk)
            for k in range(nk):
                for m in range(3):
                    run.x[j, k] += run.spans[s] * run.shares[i, m] * run.rhs[m * size + k, j]
                run.v[j, k] = run.rhs[i * size + k, j]
            for k in range(nq):
                run.q[j, k] = run.rhs[i * size + size - nq + k, j]
            change_charts(problem, run.at[i], run.x[j], run.v[j])
        copy(run.base, 0, run.turned, 0, run.base.shape[0])
        turn_base(problem, run.at[i], run.turned)
        into_chart(problem, run.turned, run.rows[4 * s + 1 + i], run.inside)
        good = good and complete(problem, plan, recovery, run, run.inside)
        if good:
            show(problem, run, shown, run.inside)
        for j in range(p - 1):
            copy(run.begun[j], 0, run.x[j], 0, nk)
    if not good:
        shown.row[0] = first
    return good


@inner
def fill_matrix(problem, run, s):
    """The stages of step s, the derivatives there, and the matrix that they make."""
    h, count = run.spans[s], run.values.shape[1]
    for i in range(3):
        into_chart(problem, run.base, run.rows[4 * s + 1 + i], run.at[i])
        for k in range(count):
            run.values[i, k] = 0.0
        run_table(run.partials, run.at[i], run.values[i])
    for k in range(run.entries.shape[0]):
        run.entries[k] = 0.0
    for k in range(run.place.shape[0]):
        d = run.derivative[k]
        part = h if run.kind[k] == POSITION else (1.0 / h if run.kind[k] == RATE else 1.0)
        run.entries[run.place[k]] += run.scale[k] * part * run.values[d // count, d % count]


@inner
def _right_sides(problem, run, count, h, size):
    """What each parameter and the step's beginning add to the equations of the stages."""
    nk, n = problem.sizes[NK], problem.sizes[NK] + problem.sizes[NY]
    g_size = run.at.shape[1]
    for i in range(3):
        copy(run.at[i], 0, run.both, 0, g_size)
        set_waves(problem, run, run.at[i, TIME])
        for j in range(count):
            copy(run.constant[j], 0, run.both, g_size, g_size)
            run_table(run.drives[run.first_drive[j] : run.first_drive[j + 1]], run.both, run.both)
            for k in range(size + 1):
                run.sums[k] = 0.0
            run_table(run.equations[run.first_equation[j] : run.first_equation[j + 1]], run.both, run.sums)
            if run.swung[j, 1] >= 0:
                run.sums[run.swung[j, 1]] += run.wave[j, 2] * wave_derivative(run, j, run.at[i, TIME], 0)
            for e in range(size):
                run.rhs[i * size + e, j] = -run.sums[e if e < n else e + 1]
    _add_histories(run, count, h, nk, n)


@inner
def _add_histories(run, count, h, nk, n):
    """What the step's beginning adds to them."""
    derivatives = run.values.shape[1]
    for k in range(run.old_place.shape[0]):
        d, u, place = run.old_derivative[k], run.old_variable[k], run.old_place[k]
        value = run.old_scale[k] * run.values[d // derivatives, d % derivatives]
        if run.old_kind[k] == POSITION:
            for j in range(count):
                run.rhs[place, j] -= value * run.x[j, u]
        elif u < nk:
            for j in range(count):
                run.rhs[place, j] += value / h * run.v[j, u]
        else:
            for j in range(count):
                run.rhs[place, j] += value / h * run.q[j, u - n]


@inner
def complete(problem, plan, recovery, run, g):
    """Changes of velocities onto their constraints, changes of all else from those of positions, velocities and
    differentiated quantities, and rates of all in time, at the point g in a chart of its own, which is made consistent;
    False where pivots do not serve."""
    nk, nq, size = problem.sizes[NK], problem.sizes[NQ], g.shape[0]
    set_contents(problem, run, g)
    copy(g, 0, run.both, 0, size)
    if not make_consistent(plan, g):  # as in the run, it stays where the method left it
        copy(run.both, 0, g, 0, size)
    time = run.x.shape[0] - 1
    copy(g, problem.sizes[V], run.x[time], 0, nk)
    copy(g, problem.sizes[A], run.v[time], 0, nk)
    copy(g, problem.sizes[HISTORY], run.q[time], 0, nq)
    copy(g, 0, run.both, 0, size)
    set_waves(problem, run, g[TIME])
    for j in range(time + 1):
        d = run.d[j]
        copy(run.constant[j], 0, d, 0, size)
        copy(d, 0, run.both, size, size)
        run_table(run.drives[run.first_drive[j] : run.first_drive[j + 1]], run.both, run.both)
        copy(run.both, size, d, 0, size)
        copy(run.x[j], 0, d, problem.sizes[X], nk)
        copy(run.v[j], 0, d, problem.sizes[V], nk)
        copy(run.q[j], 0, d, contents_at(problem), nq)
    for i in range(plan.partial_values.shape[0]):
        plan.partial_values[i] = 0.0
    run_table(plan.partials, g, plan.partial_values)
    for k in range(plan.sizes.shape[0]):
        if not _vary_stage(plan, plan.where[k], plan.sizes[k], recovery, run, g):
            return False
    for j in range(run.x.shape[0]):
        copy(run.d[j], problem.sizes[X], run.x[j], 0, nk)
        copy(run.d[j], problem.sizes[V], run.v[j], 0, nk)
        copy(run.d[j], contents_at(problem), run.q[j], 0, nq)
    return True


@inner
def set_contents(problem, run, g):
    """The differentiated quantities at a row, which has none: what it holds gives them."""
    for i in range(run.sums.shape[0]):
        run.sums[i] = 0.0
    run_table(problem.residual, g, run.sums)
    copy(run.sums, problem.sizes[DIFFERENTIATED], g, contents_at(problem), problem.sizes[NQ])


@inner
def contents_at(problem):
    """Where differentiated quantities themselves stand in g."""
    return problem.sizes[HISTORY] + problem.sizes[NQ] + MOTION * problem.sizes[NK] + VALUES * problem.sizes[NY]


@inner
def _vary_stage(plan, where, sizes, recovery, run, g):
    """Changes of a stage's unknowns for all parameters: its matrix at g against the tangents of its equations; False
    where its pivots do not serve."""
    n, w, r, f = sizes[1], plan.numbers, plan.reals, where[17:]
    places, entries, scale = w[where[13] : where[14]], r[f[10] : f[11]], r[f[14] : f[15]]
    factor = stage_factor(plan, where)
    fill_stage(plan, where, entries)
    if not refactor(factor, entries) > PIVOT_QUALITY:
        return False
    _stage_tangents(plan, where, sizes, recovery, run, g)
    solve_columns(factor, recovery.steps, recovery.work)
    for j in range(run.x.shape[0]):
        for i in range(n):
            run.d[j, places[i]] -= scale[i] * recovery.steps[i, j]
    return True


@inner
def _stage_tangents(plan, where, sizes, recovery, run, g):
    """The right sides of a stage for all parameters."""
    m, n, total, size = sizes[0], sizes[1], sizes[2], g.shape[0]
    w, r, f = plan.numbers, plan.reals, where[17:]
    first_call, first_row = w[where[9] : where[10]], w[where[10] : where[11]]
    at, equations, row_scale = w[where[11] : where[12]], w[where[12] : where[13]], r[f[9] : f[10]]
    residual, shift = r[f[11] + total : f[12]], n if total > n else 0
    copy(g, 0, run.both, 0, size)
    for j in range(run.x.shape[0]):
        calls = where[33] + j * recovery.each[0]
        copy(run.d[j], 0, run.both, size, size)
        for i in range(m):
            residual[i] = 0.0
        for order in range(first_call.shape[0] - 1):
            for i in range(plan.sums.shape[0]):
                plan.sums[i] = 0.0
            run_table(recovery.calls[calls + first_call[order] : calls + first_call[order + 1]], run.both, plan.sums)
            if run.swung[j, 1] >= 0:
                plan.sums[run.swung[j, 1]] += run.wave[j, 2] * wave_derivative(run, j, g[TIME], order)
            for i in range(first_row[order], first_row[order + 1]):
                residual[at[i]] += plan.sums[equations[i]]
        for i in range(total):
            recovery.steps[i, j] = 0.0
        for i in range(total - shift):
            recovery.steps[shift + i, j] = residual[i] * (row_scale[i] if shift else 1.0)


@inner
def show(problem, run, shown, g):
    """A row of signals and of their changes at the point g, whose changes are in run.d."""
    size, row, m = g.shape[0], shown.row[0], shown.places.shape[0]
    for i in range(shown.found.shape[0]):
        shown.found[i] = 0.0
    run_table(shown.readings, g, shown.found)
    for i in range(m):
        place = shown.places[i]
        shown.values[row, i] = g[place] if place < size else shown.found[place - size]
    copy(g, 0, run.both, 0, size)
    for j in range(run.x.shape[0]):
        copy(run.d[j], 0, run.both, size, size)
        for i in range(shown.found.shape[0]):
            shown.found[i] = 0.0
        run_table(shown.tangents[shown.first[j] : shown.first[j + 1]], run.both, shown.found)
        for i in range(m):
            place = shown.places[i]
            if place < size:
                shown.changes[row, j * m + i] = run.d[j, place] + _of_chart(problem, run.d[j], g, place)
            else:
                shown.changes[row, j * m + i] = shown.found[place - size]
    shown.row[0] += 1


@inner
def _of_chart(problem, d, g, place):
    """The change of an entry of a rotation matrix, [dpsi]x R; 0 for any other place."""
    k = place - problem.sizes[CHARTS]
    if k < 0 or k >= 9 * problem.rotations.shape[0]:
        return 0.0
    x, column, chart = problem.sizes[X] + problem.rotations[k // 9], k % 3, place - k % 9
    one, two = ((k % 9) // 3 + 1) % 3, ((k % 9) // 3 + 2) % 3
    return d[x + one] * g[chart + 3 * two + column] - d[x + two] * g[chart + 3 * one + column]
