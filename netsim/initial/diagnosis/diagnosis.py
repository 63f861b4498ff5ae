"""Messages about numerical failure: the equations and their elements, the time, the step, the reason, the remedy."""

from dataclasses import dataclass

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.linear.factors import SingularMatrix, analyse, solve
from netsim.core.newton import MAX_ITERATIONS, OUTSIDE_TABLE, SINGULAR, UNRESOLVED, set_time, spread
from netsim.core.problem import ALPHA, KA, KV, KX
from netsim.equations.machine import Machine
from netsim.equations.messages import describe_row, quoted, sentences, span_of, undetermined
from netsim.initial.diagnosis.suspects import expression_behind, fastest, not_finite
from netsim.network.network import Instance
from netsim.text.errors import Problem, Span

Array = np.ndarray
NAMED = 2
"""Equations or elements a message names: the worst ones."""
BEYOND = 1e9
"""Values so many times their nominal size are named in the hint."""
WIDEST = 160
"""Characters of a message."""
AHEAD = (1e-9, 1e-6, 1e-3)
"""How far beyond the last good point a cause is looked for, as parts of the run or of the time so far."""


def explain_singular(machine: Machine, singular: SingularMatrix, t: float) -> Problem:
    """E502: the undetermined unknowns of a singular matrix, and the equations that depend on one another."""
    system, column = machine.system, singular.null_column
    message = f"the equations are singular at t = {t:g} s: {undetermined(system, column)}"
    dependent = _named(machine, np.abs(singular.null_row), len(singular.null_row))
    hint = f"{' and '.join(dependent)} {'has no effect' if len(dependent) == 1 else 'depend on one another'}"
    return Problem("E502", message, span_of(system, column), hint="; ".join([hint, *sentences(system, column)]))


def worst_rows(machine: Machine, residuals: Array, matrix: Array, u: Array) -> Array:
    """Every row's residual as a part of the largest of its terms |A_ij u_j| (of ordinary sizes of the unknowns at
    least)."""
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
    return [
        describe_row(machine.system, int(i))
        for i in order
        if sizes[i] > 0.0 and (sizes[i] > 0.1 * sizes[order[0]] or not np.isfinite(sizes[i]))
    ]


@dataclass(frozen=True)
class StoppedRun:
    """How a run stopped: status, beginning and size of the last step, the reason for its small size (empty: steps were
    given), and whether shorter steps had larger estimated errors."""

    status: int
    before: float
    size: float
    shortened: str = ""
    rounded: bool = False

    @property
    def when(self) -> str:
        """Where no solution was found, in words."""
        if self.shortened:
            return f"beyond t = {self.before:g} s, however short the step"
        return f"at t = {self.before + self.size:g} s (step {self.size:g} s)"

    @property
    def last(self) -> str:
        """The last accepted time, and the reason for the size of the step."""
        shrunk = f"{self.shortened} reduced the step to {self.size:.2g} s; " if self.shortened else ""
        return f"{shrunk}the last accepted step ends at t = {self.before:g} s"


def table_ends(t: float) -> Problem:
    """E504: a table is read outside its range."""
    hint = "give table(...) the argument outside = hold or outside = linear, or stop earlier"
    return Problem("E504", f"a table is read outside its range at t = {t:g} s", hint=hint)


def explain_failure(
    machine: Machine, stopped: StoppedRun, stands: Array, state: Array, tried: tuple[Array, Array, Array]
) -> Problem:
    """Why a run stopped: where, at which element, what was tried and what to try.

    stands, state: the last good point as a global vector and as a state; tried: (g, out, u) of the step that failed."""
    system, t = machine.system, stopped.before + stopped.size
    g, out, u = tried
    if stopped.status == OUTSIDE_TABLE:
        return table_ends(t)
    if stopped.rounded:
        return _explain_rounding(machine, stopped, state)
    entries, residuals = out[system.layout.entries : system.layout.entries + system.pattern.nnz], out[: system.n]
    found = _singular(machine, entries) if stopped.status == SINGULAR else _singular_ahead(machine, stopped, stands)
    if found is not None:
        problem = explain_singular(machine, found, t)
        return Problem("E502", problem.message, problem.span, hint=f"{problem.hint}; {stopped.last}")
    nowhere = stopped.size < np.spacing(stopped.before)  # a step that leads nowhere has no rates
    if not nowhere and (broken := _without_value(machine, stopped, stands, g)):
        return _explain_not_finite(machine, stopped, broken, residuals, g)
    words, time, place = fastest(machine, state)
    if stopped.status == UNRESOLVED or (nowhere and words):  # what has no rates at all is told by its residuals
        return _explain_runaway(machine, stopped, words, time, place)
    scaled = worst_rows(machine, residuals, entries, u)
    rows, where = _named(machine, scaled), _row_span(machine, int(np.argmax(scaled)))
    if stopped.status == SINGULAR:
        message = f"the equations become singular {stopped.when}; largest residuals: {', '.join(rows)}"
        return Problem("E502", message, where, hint=f"new pivots did not help; {stopped.last}")
    message = f"Newton's method does not converge {stopped.when}; largest residuals: "
    message += ", ".join(rows) if len(message) + len(", ".join(rows)) <= WIDEST else rows[0]
    remedy = f"{MAX_ITERATIONS} damped iterations with new matrices did not help; take a smaller step, or "
    look = "look for a jump or a kink in the equations of these elements, or for a demand that no source can meet"
    hint = f"{_beyond_measure(machine, state)}{'' if stopped.shortened else remedy}{look}; {stopped.last}"
    return Problem("E505", message, where, hint=hint)


def _without_value(machine: Machine, stopped: StoppedRun, stands: Array, g: Array) -> list[Instance]:
    """Elements that give no finite value: where Newton's method was, or, where no step led on, a little further on in
    time, before and behind one correction."""
    found = not_finite(machine, g)
    for ahead in AHEAD if stopped.shortened and not found else ():
        later, point, corrected = stopped.before * (1.0 + ahead) + ahead * stopped.size, stands.copy(), g.copy()
        if OUTSIDE_TABLE in (set_time(machine.problem, point, later), set_time(machine.problem, corrected, later)):
            break
        found = found or not_finite(machine, point) or not_finite(machine, _corrected(machine, corrected))
    return found


def _corrected(machine: Machine, g: Array) -> Array:
    """The point that one correction of Newton's method leads to; g itself where the matrix has no inverse."""
    system, layout, pattern = machine.system, machine.system.layout, machine.system.pattern
    out, u = np.zeros(system.out_size), np.zeros(system.n)
    run_table(machine.problem.jacobian, g, out)
    try:
        entries = out[layout.entries : layout.entries + pattern.nnz]
        solve(analyse(system.n, pattern.indptr, pattern.indices, entries), -out[: system.n], u)
    except (SingularMatrix, ValueError):
        return g
    u[layout.nk :] += g[layout.y : layout.history]
    spread(machine.struct, g, g[layout.x : layout.y].copy(), u)
    return g


def _explain_not_finite(
    machine: Machine, stopped: StoppedRun, broken: list[Instance], residuals: Array, g: Array
) -> Problem:
    bad = [int(i) for i in np.flatnonzero(~np.isfinite(residuals))]
    rows = f", in {', '.join(describe_row(machine.system, i) for i in bad[:NAMED])}" if bad else ""
    more = f" and {len(broken) - NAMED} more" if len(broken) > NAMED else ""
    message = (
        f"{quoted([i.name for i in broken[:NAMED]])}{more} {'gives' if len(broken) == 1 else 'give'} no finite "
        f"value {stopped.when}{rows}"
    )
    behind, _ = expression_behind(machine, g, broken)
    kept = f"keep {behind} defined" if behind else "keep the expression defined"
    cause = "the cause is the root of a negative number, a division by zero or an overflow"
    hint = f"{cause}: {kept}, or end the run earlier; {stopped.last}"
    return Problem("E503", message, broken[0].span, hint=hint)


def explain_chatter(machine: Machine, t: float, failed: int, state: Array) -> Problem:
    """E508: too many steps fail, usually because a law with a jump is approached from both sides; `state` is the last
    one."""
    words, _, place = fastest(machine, state)
    where = f", where {words} changes fastest" if words else ""
    message = f"the run hardly advances at t = {t:g} s{where}: {failed} steps failed within 0.1 % of it"
    hint = "either a law with a jump (sign, if ... then) is approached from both sides: write tanh(v/v0) in place of "
    hint += (
        "sign(v), or give the jump a finite slope; or the tolerance asks for more than rounding leaves: try a larger "
    )
    hint += "rtol, or another method"
    return Problem("E508", message, span_of(machine.system, place), hint=hint)


def explain_endless(machine: Machine, t: float, span: float, steps: int, stop: float, state: Array) -> Problem:
    """E508: steps are so short that the run up to `stop` has no end; `span`: what the last `steps` have advanced it by;
    `state` is the last one."""
    words, time, place = fastest(machine, state)
    known = bool(words) and time < stop
    message = f"the run makes no progress at t = {t:.9g} s: {steps} steps advanced it by {span:.2g} s"
    if known:
        message += f"; {words} changes fastest (by its own size within {time:.2g} s)"
    many = f"such a run up to {stop:g} s takes {stop / span * steps:.0e} steps" if span else "such a run has no end"
    hint = f"{many}: end it earlier, leave out what is so fast (a resistance or conductance far beyond the others), "
    hint += "or, where nothing is, try a larger rtol, since the tolerance may ask for more than rounding leaves"
    return Problem("E508", message, span_of(machine.system, place) if known else None, hint=hint)


@dataclass(frozen=True)
class UnstableRun:
    """An explicit method that has taken so many steps up to t of a run, and why it takes no more."""

    method: str
    t: float
    steps: int
    stop: float
    why: str


def explain_unstable(machine: Machine, bound: UnstableRun, state: Array) -> Problem:
    """E505: an explicit method stops, as a time constant is short beside the run; `state` is the last one."""
    t, steps = bound.t, bound.steps
    words, time, place = fastest(machine, state)
    what = f"{words} changes by its own size within {time:.1g} s" if words else "a time constant is very short"
    message = f"{bound.method} stops at t = {t:.4g} s: {what}, and {bound.why}"
    many = f"{float(f'{bound.stop * steps / t:.1g}'):,.0f}"
    hint = (
        f"stability limits the steps of an explicit method, here to {t / steps:.1g} s (about {many} for the whole "
        "run): "
    )
    hint += "use an implicit method, radau or bdf"
    return Problem("E505", message, span_of(machine.system, place), hint=hint)


def _explain_runaway(machine: Machine, stopped: StoppedRun, words: str, time: float, place: Array) -> Problem:
    what = f": {words} changes by its own size within {time:.2g} s" if words else ""
    message = f"no step is short enough beyond t = {stopped.before:g} s{what}"
    apart = float(np.spacing(stopped.before))
    lost = f"rounded to double precision, times are {apart:.1g} s apart there: let the fast process happen earlier; "
    begin = lost if stopped.size < 4.0 * apart else ""
    hint = (
        f"{begin}a value grows without bound, or jumps: limit it in this element, or end the run earlier; "
        f"{stopped.last}"
    )
    return Problem("E507", message, span_of(machine.system, place), hint=hint)


def _explain_rounding(machine: Machine, stopped: StoppedRun, state: Array) -> Problem:
    words, _, place = fastest(machine, state)
    beside = f"; {words} changes fastest" if words else ""
    message = f"no step beyond t = {stopped.before:g} s meets the tolerance: rounding increases the estimated error of "
    message += f"shorter steps{beside}"
    hint = "derivatives of prescribed motions are differences divided by the step, and so are their rounding errors; "
    hint += stopped.last
    return Problem("E507", message, span_of(machine.system, place), hint=hint)


def _beyond_measure(machine: Machine, state: Array) -> str:
    """A clause that names the quantity farthest beyond its nominal size; empty where all are of ordinary size."""
    system, nk, ny = machine.system, machine.system.layout.nk, machine.system.layout.ny
    values = np.concatenate([state[nk : 2 * nk], state[3 * nk : 3 * nk + ny]])
    k = int(np.argmax(np.abs(values) / system.nominals)) if len(values) else 0
    return (
        f"'{system.names[k]}' has reached {values[k]:.2g}; "
        if len(values) and abs(values[k]) > BEYOND * system.nominals[k]
        else ""
    )


def _singular(machine: Machine, entries: Array) -> SingularMatrix | None:
    pattern = machine.system.pattern
    try:
        analyse(machine.system.n, pattern.indptr, pattern.indices, entries)
    except SingularMatrix as singular:
        return singular
    except ValueError:
        return None
    return None


def _singular_ahead(machine: Machine, stopped: StoppedRun, stands: Array) -> SingularMatrix | None:
    """The finding where the equations are singular just beyond the last good point, which no short step tells by
    itself."""
    if not stopped.shortened:
        return None
    system, layout, h = machine.system, machine.system.layout, AHEAD[0] * stopped.before + stopped.size
    point, out = stands.copy(), np.zeros(machine.system.out_size)
    if set_time(machine.problem, point, stopped.before + h) == OUTSIDE_TABLE:
        return None
    point[[KX, KV, KA, ALPHA]] = 1.0, 1.0 / h, 1.0 / h**2, 1.0 / h
    run_table(machine.problem.jacobian, point, out)
    return _singular(machine, out[layout.entries : layout.entries + system.pattern.nnz])


def _row_span(machine: Machine, row: int) -> Span | None:
    unit = np.zeros(machine.system.n)
    unit[row] = 1.0
    return span_of(machine.system, unit)
