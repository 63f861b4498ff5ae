"""A plan for consistent points as the flat arrays that compiled loops read (netsim.core.consistent)."""

from collections.abc import Mapping

import numpy as np

from netsim.core.consistent import DENSE, ROUNDING, Consistent, nothing_to_recover
from netsim.initial.consistent.plan import StagePlan
from netsim.initial.recovery import Recovery

Array = np.ndarray


def is_ready(recovery: Recovery) -> bool:
    """Whether every stage of a plan has its factor: a point has been recovered with it, without help of the careful
    solver."""
    return all(plan.factor is not None for _, plan in recovery.stages if plan.m)


def compiled_plan(recovery: Recovery | None) -> Consistent:
    """The stages of a plan, which must be ready; without a plan, nothing to do."""
    stages = [plan for _, plan in recovery.stages if plan.m] if recovery and is_ready(recovery) else []
    if recovery is None or not stages:
        return nothing_to_recover()
    where: list[Array] = []
    numbers: list[Array] = []
    reals: list[Array] = []
    calls: list[Array] = []
    counted = [0, 0, 0]
    for plan in stages:
        whole, real, table = _parts(plan)
        first_number = counted[0] + np.cumsum([0, *map(len, whole)])
        first_real = counted[1] + np.cumsum([0, *map(len, real)])
        where.append(np.array([*first_number, *first_real, counted[2]]))
        counted = [int(first_number[-1]), int(first_real[-1]), counted[2] + len(table)]
        numbers, reals, calls = numbers + whole, reals + real, [*calls, table]
    sizes = np.array([[plan.m, plan.n, len(plan.indptr) - 1] for plan in stages])
    flat = np.ascontiguousarray(np.concatenate(numbers).astype(np.int32))
    return Consistent(
        recovery.partials,
        recovery.partial_values,
        recovery.sums,
        np.array(where, np.int64),
        sizes,
        flat,
        np.concatenate(reals),
        np.concatenate(calls),
        *_workspace(sizes),
    )


def with_contents(recovery: Recovery, contents: Mapping[str, Array]) -> Consistent | None:
    """A plan of the stages of `recovery` with numbers that another process has found (all fields but call tables); None
    where these are of other stages."""
    stages = [plan for _, plan in recovery.stages if plan.m]
    if not len(contents["sizes"]):
        return nothing_to_recover()
    sizes = np.array([[plan.m, plan.n, len(plan.indptr) - 1] for plan in stages])
    fits = len(recovery.partial_values) == len(contents["partial_values"]) and len(recovery.sums) == len(
        contents["sums"]
    )
    if not fits or not np.array_equal(sizes, contents["sizes"]):
        return None
    tables = [table for plan in stages for table, _, _ in plan.tables]
    dense, right = _workspace(sizes)
    return Consistent(partials=recovery.partials, calls=np.concatenate(tables), dense=dense, right=right, **contents)


def _workspace(sizes: Array) -> tuple[Array, Array]:
    """Arrays for the largest stage that may be solved with pivots of its own."""
    n = max((int(size) for size in sizes[:, 2] if size <= DENSE), default=0)
    return np.zeros((n, n)), np.zeros((n, 1))


def _parts(plan: StagePlan) -> tuple[list[Array], list[Array], Array]:
    """Integer parts, real parts and call table of a stage: the factor's own first, in its order."""
    f = plan.factor
    assert f is not None
    calls = np.concatenate([table for table, _, _ in plan.tables])
    first_call = np.cumsum([0, *(len(table) for table, _, _ in plan.tables)])
    first_row = np.cumsum([0, *(len(at) for _, at, _ in plan.tables)])
    at, equations = (np.concatenate([entry[k] for entry in plan.tables]) for k in (1, 2))
    whole = [f.row_order, f.column_order, f.start, f.source, f.row, f.l_start, f.l_row, f.u_start, f.u_row]
    whole += [
        first_call,
        first_row,
        at,
        equations,
        plan.places,
        np.concatenate([plan.picks, plan.targets]),
        plan.pairs.ravel(),
    ]
    size = len(plan.indptr) - 1
    real = [f.row_scale, f.column_scale, f.scale, f.l_value, f.u_value, f.pivot_inverse, f.work]
    real += [
        plan.base,
        plan.scales,
        plan.row_scale,
        np.zeros(len(plan.base)),
        np.zeros(size + plan.m),
        np.array([max(ROUNDING, plan.rounding)]),
    ]
    real += [plan.row_size, plan.sizes]
    return whole, real, calls
