"""Numerical failure in the user's words: which equations and what they belong to, time, step, what stopped it, what to try."""

from __future__ import annotations

import numpy as np

from netsim.errors import Problem, Span
from netsim.solvers.linear import SingularMatrix, analyse
from netsim.solvers.machine import Machine
from netsim.solvers.newton import MAX_ITERATIONS, NOT_FINITE, OUTSIDE_TABLE, SINGULAR
from netsim.solvers.words import loose, row_words, sentences, span_of

Array = np.ndarray
NAMED = 2
"""Equations a message names: the worst ones."""


def explain_singular(machine: Machine, singular: SingularMatrix, t: float) -> Problem:
    """What a singular matrix leaves free, or fixes twice, and which equations depend on one another."""
    system, column = machine.system, singular.null_column
    message = f"the equations are singular at t = {t:g} s: {loose(system, column)}"
    dependent = _named(machine, np.abs(singular.null_row), len(singular.null_row))
    hint = f"{', '.join(dependent)} {'has no say of its own' if len(dependent) == 1 else 'depend on one another'}"
    return Problem("E502", message, span_of(system, column), hint="; ".join([hint, *sentences(system, column)]))


def worst_rows(machine: Machine, residuals: Array, matrix: Array, u: Array) -> Array:
    """Every row's residual as a part of the largest of its terms |A_ij u_j| (of ordinary sizes of the unknowns at least)."""
    system = machine.system
    size = np.maximum(np.abs(u), 1e-3 * system.nominals)
    terms = np.zeros(system.n)
    columns = np.repeat(np.arange(system.n), np.diff(system.pattern.indptr))
    np.maximum.at(terms, system.pattern.indices, np.nan_to_num(np.abs(matrix) * size[columns], nan=0.0, posinf=0.0))
    return np.abs(residuals) / np.maximum(terms, 1e-300)


def _named(machine: Machine, sizes: Array, most: int = NAMED) -> list[str]:
    """The largest rows in words, those within a tenth of the largest."""
    sizes = np.where(np.isfinite(sizes), sizes, np.inf)
    order = np.argsort(-sizes, kind="stable")[: min(most, 4)]
    return [row_words(machine.system, int(i)) for i in order if sizes[i] > 0.0 and (sizes[i] > 0.1 * sizes[order[0]] or not np.isfinite(sizes[i]))]


def explain_failure(machine: Machine, status: int, before: float, t: float, g: Array, out: Array, u: Array, history: Array) -> Problem:
    """Why the step from `before` to t failed: what stopped it, where, what was tried and what to try. The state at `before` is the last accepted."""
    if status == OUTSIDE_TABLE:
        return Problem("E504", f"a table does not reach t = {t:g} s", hint="say outside = hold or outside = linear in table(...), or stop earlier")
    system = machine.system
    entries = out[system.layout.entries : system.layout.entries + system.pattern.nnz]
    residuals, when = out[: system.n], f"at t = {t:g} s (step {t - before:g} s)"
    last = f"the state at t = {before:g} s is the last one accepted"
    if status == SINGULAR:
        found = _singular(machine, entries)
        if found is not None:
            problem = explain_singular(machine, found, t)
            return Problem("E502", problem.message, problem.span, hint=f"{problem.hint}; {last}")
    if status == NOT_FINITE or not np.all(np.isfinite(residuals)):
        bad = [int(i) for i in np.flatnonzero(~np.isfinite(residuals))] or [int(i) for i in np.argsort(-np.abs(residuals))[:NAMED]]
        message = f"a value is not finite {when}, in {', '.join(row_words(system, i) for i in bad[:NAMED])}"
        hint = f"a root of a negative number, a division by zero or an overflow; tried: damped Newton steps; try a smaller step; {last}"
        return Problem("E503", message, _row_span(machine, bad[0]), hint=hint)
    scaled = worst_rows(machine, residuals, entries, u)
    rows, where = _named(machine, scaled), _row_span(machine, int(np.argmax(scaled)))
    if status == SINGULAR:
        message = f"the equations become singular {when}; what stays violated most: {', '.join(rows)}"
        return Problem("E502", message, where, hint=f"tried: new pivots; {last}")
    message = f"Newton does not converge {when}; what stays violated most: {', '.join(rows)}"
    tried = f"tried: {MAX_ITERATIONS} damped iterations with new matrices"
    hint = f"{tried}; try a smaller step, or look for a jump or a corner in what these elements do; {last}"
    return Problem("E505", message, where, hint=hint)


def _singular(machine: Machine, entries: Array) -> SingularMatrix | None:
    pattern = machine.system.pattern
    try:
        analyse(machine.system.n, pattern.indptr, pattern.indices, entries)
    except SingularMatrix as singular:
        return singular
    except ValueError:
        return None
    return None


def _row_span(machine: Machine, row: int) -> Span | None:
    unit = np.zeros(machine.system.n)
    unit[row] = 1.0
    return span_of(machine.system, unit)
