"""An equilibrium: where everything is at rest under its loads, found on the ladder of `netsim.initial.static.homotopy`;
what is free there, is it stable.

Stability is that of a motion without inertia, D u' = -F(u): masses fall downhill through oil, potentials charge a
capacitor at every node. It is an equilibrium's own property wherever loads have a potential, and what makes one state
of a toggle unstable.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from netsim.core.linear.factors import SingularMatrix, analyse
from netsim.core.linear.symbolic import equilibrate
from netsim.equations.machine import Machine
from netsim.equations.messages import LARGE, describe_row, sentences, span_of, undetermined
from netsim.equations.system import System
from netsim.initial.assembly import Sizes
from netsim.initial.charts import recharted
from netsim.initial.diagnosis.suspects import not_finite
from netsim.initial.static.homotopy import RUNGS, newton, pseudo_transient, run_rungs
from netsim.initial.static.rest import Rest, at_rest, step_matrix
from netsim.initial.static.search import Contradicted, Search, search_of
from netsim.network.network import Instance
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
MOST_JUDGED = 400
"""Unknowns up to which stability is judged: it takes all eigenvalues of a dense matrix."""
FAR = 1e6
"""How many times larger than all else a way along what nothing resists is where loads vanish in its rounding alone."""
STAYING = ("limited Newton", "damped Newton")
GROWS = 1e-7
PUSH = 0.02
RESISTED = "hold it with a spring or a joint, or connect it to ground"
CONDUCTED = "connect it to ground by an element that conducts"
INTEGRATED = "what is integrated is zero at rest: close a loop around the integrator, or begin with from = rest"
LOOPED = "what they have in common cancels in a closed loop, as behind a gain of 1: change a factor in it"
SMALL = 0.3
"""Away from an unstable state an implicit step leads only while it is short against the growth: later it leads back."""


@dataclass(frozen=True, eq=False)
class Equilibrium:
    """The global vector at rest; what was tried, in words; what nothing resists ('' where the state is unique nearby);
    stable, unstable or None (not judged); other equilibria that were seen: states downhill of an unstable one, or the
    unstable one that was left."""

    g: Array
    log: tuple[str, ...]
    iterations: int
    free: str
    stable: bool | None
    others: tuple[Array, ...] = ()


def equilibrium(
    machine: Machine,
    g: Array,
    sizes: Sizes,
    judged: bool = False,
    contradicted: Contradicted | None = None,
    first: float = 1.0,
) -> Equilibrium:
    """The equilibrium nearest to the point in g (positions, values), or downhill from there. Where nothing moves the
    point does not depend on whether it is stable, which is asked only if it is to be `judged`.

    Raises `SimulationError` where none is found: with what nothing resists (E440), else with the equations that stay
    violated (E441); `Switched` at the first point on the way at which the discretes in g are `contradicted`;
    the `first` step of a motion tells which way it goes."""
    rest = at_rest(machine, g, sizes.size)
    search = search_of(rest, g)
    search.contradicted, search.first = contradicted, first
    moves, start, held = machine.system.layout.nk > 0, g.copy(), rest.held.kept()
    failed = None
    if (not moves or not _at_once(search)) and not run_rungs(search, _order(moves)):
        failed = _none_found(search)
        rest.held.back(held)
        if not _stays(search, start):
            raise failed
    search.begins = True
    search.check_from(start)  # a method that follows no motion may have found it
    singular = _null(search)
    if singular and (_is_pushed(search, singular) or _ran_off(search, singular, start)):
        search.g[:] = start
        raise _none_found(search)
    free = _free(search, singular)
    rate, mode = growth(search) if judged or moves else (None, None)
    if failed and moves and (singular is None or (rate is not None and rate > GROWS)):
        raise failed  # what moves has not stayed, or would not
    others: tuple[Array, ...] = ()
    if rate is not None and mode is not None and rate > GROWS:
        others = tuple(_downhill(search, mode, rate))
        if moves and others:  # nothing that moves stays where a touch lets it fall
            others, search.g = (search.g, *others[1:]), others[0]
            search.log.append("left an unstable equilibrium downhill")
            free, rate = _free(search, _null(search)), growth(search)[0]
    return Equilibrium(
        search.g, tuple(search.log), search.iterations, free, None if rate is None else rate <= GROWS, others
    )


def _order(moves: bool) -> tuple[str, ...]:
    limited, *others = RUNGS
    return (*reversed(others),) if moves else (limited, *others)


def _at_once(search: Search) -> bool:
    """Linear problems take two iterations, and need no ladder."""
    start = search.g.copy()
    with np.errstate(all="ignore"):
        if newton(search, most=3) and search.rest.holds_straight(search.g) and not search.contradicts(start):
            search.log.append(f"damped Newton converged ({search.iterations} iterations)")
            return True
    search.g[:] = start
    return False


def _stays(search: Search, start: Array) -> bool:
    """Newton's method where nothing determines some unknowns (what integrates zero), which stay; False where equations
    contradict one another."""
    search.g[:], search.staying = start, True
    if _null(search) is None:
        return False
    return run_rungs(search, STAYING) and search.rest.settled(search.g, search.rest.residual(search.g))


def _free(search: Search, singular: SingularMatrix | None) -> str:
    """What nothing resists at the state found."""
    return (
        "; ".join(
            dict.fromkeys(undetermined(search.rest.machine.system, column) for column in singular.null_columns.T[:3])
        )
        if singular
        else ""
    )


def _is_pushed(search: Search, singular: SingularMatrix) -> bool:
    """Whether nothing resists at what a source has pushed there: where it ended is the search's own choice."""
    pushed, free = search.rest.pushed, np.abs(singular.null_columns)
    return bool(pushed.any() and (free[pushed].max(axis=0) > LARGE * free.max(axis=0)).any())


def _ran_off(search: Search, singular: SingularMatrix, start: Array) -> bool:
    """Whether the state lies far along what nothing resists, and does not hold without that way: the loads vanished in
    the rounding of large values."""
    rest = search.rest
    free = np.linalg.qr(singular.null_columns / rest.weight[:, None])[0]
    way = rest.weight * (free @ (free.T @ ((search.u - start[rest.places]) / rest.weight)))
    near = Search(rest, search.g.copy(), search.diagonal)
    near.move(-way)
    size = max(np.max(np.abs(near.u) / rest.weight), np.max(np.abs(start[rest.places]) / rest.weight))
    return bool(np.max(np.abs(way) / rest.weight) > FAR * size and not rest.settled(near.g, rest.residual(near.g)))


def _null(search: Search) -> SingularMatrix | None:
    matrix = search.rest.evaluate(search.g)[1]
    try:
        analyse(search.rest.n, matrix.indptr, matrix.indices, matrix.data)
    except SingularMatrix as singular:
        return singular
    except ValueError:
        return None
    return None


def growth(search: Search) -> tuple[float | None, Array | None]:
    """The fastest growth rate of D u' = -F(u) at the state (in units of D) and its direction; None for large networks.

    The eigenvalues of (F' + D)^-1 D are mu = 1/(1 - rate): unknowns without D (multipliers, throughs) give zeros, not
    large numbers."""
    from scipy import linalg
    from scipy.sparse import csc_matrix

    rest = search.rest
    if rest.n > MOST_JUDGED:
        return None, None
    matrix = rest.evaluate(search.g)[1]
    # D of the search may know only how stiff things were where it began
    diagonal = np.diag(np.where(rest.carried, np.maximum(np.abs(matrix.diagonal()), search.diagonal), 0.0))
    shift = 3.0
    shifted = csc_matrix(matrix.toarray() + shift * diagonal)
    if not np.all(np.isfinite(shifted.data)):
        return None, None
    rows, columns = equilibrate(shifted)
    try:
        with warnings.catch_warnings(action="error", category=linalg.LinAlgWarning):
            mu, modes = linalg.eig(
                linalg.solve(rows[:, None] * shifted.toarray() * columns, rows[:, None] * diagonal * columns)
            )
    except (linalg.LinAlgError, linalg.LinAlgWarning):  # chains of amplifiers multiply their gains
        return None, None
    modes = columns[:, None] * modes
    kept = np.abs(mu) > 1e-6
    if not kept.any():
        return -np.inf, None
    rates = np.where(kept, (shift - 1.0 / np.where(kept, mu, 1.0)).real, -np.inf)
    worst = int(np.argmax(rates))
    return float(rates[worst]), modes[:, worst].real


def _downhill(search: Search, mode: Array, rate: float) -> list[Array]:
    """The states to which a small push along either sense of an unstable direction leads."""
    rest, found = search.rest, list[Array]()
    push = np.where(rest.carried, mode, 0.0)
    longest, held = np.max(np.abs(push) / rest.weight, initial=0.0), rest.held.kept()
    for sense in (1.0, -1.0) if longest > 0.0 else ():
        other = Search(rest, search.g.copy(), search.diagonal, contradicted=search.contradicted)
        other.move(sense * PUSH / longest * push)
        with np.errstate(all="ignore"):
            if pseudo_transient(other, min(1.0, SMALL / rate)) and not any(
                _same(rest, other.g, g) for g in (search.g, *found)
            ):
                recharted(rest.machine.system, other.g, all_of_them=True)
                found.append(other.g)
        rest.held.back(held)
        search.iterations += other.iterations
    return found


def _same(rest: Rest, a: Array, b: Array) -> bool:
    """Whether two points agree, in rotations too."""
    layout, at = rest.machine.system.layout, rest.places[rest.carried & ~rest.turning]
    miss = np.abs(a[at] - b[at]) / np.maximum(np.abs(b[at]), rest.weight[rest.carried & ~rest.turning])
    charts = np.abs(a[layout.charts : layout.places] - b[layout.charts : layout.places])
    return bool(np.max(miss, initial=0.0) < 1e-4 and np.max(charts, initial=0.0) < 1e-4)


def _without_value_ahead(search: Search) -> list[Instance]:
    """Elements that have no value where Newton's full step leads, from where the search ended or a little beside it."""
    for beside in (0.0, 1e-3, 1.0):
        point = Search(search.rest, search.g.copy(), search.diagonal)
        point.g[search.rest.places] += beside * search.rest.weight
        with np.errstate(all="ignore"):
            r, matrix = search.rest.evaluate(point.g)
            step = point.solve(matrix, r)
            if step is not None:
                point.move(-step)
        if broken := not_finite(search.rest.machine, point.g):
            return broken
    return []


def _contradicting(system: System, rows: Array) -> str:
    """The equations in a combination of which nothing but a number is left."""
    return " and ".join(dict.fromkeys(describe_row(system, int(i)) for i in np.argsort(-np.abs(rows))[:2]))


def _integrated(rest: Rest, g: Array, rows: Array) -> bool:
    """Whether rates of differentiated quantities, which are zero at rest, stand in equations of a combination."""
    without, entries = (step_matrix(rest.machine, g.copy(), 1.0, 0.0, alpha)[1] for alpha in (0.0, 1.0))
    with_rates = rest.machine.system.pattern.indices[entries != without]
    return bool((np.abs(rows[with_rates]) > LARGE * np.abs(rows).max()).any())


def _none_found(search: Search) -> SimulationError:
    system = search.rest.machine.system
    tried = f"tried: {'; '.join(search.log)}"
    singular = _null(search)
    residual = search.rest.residual(search.g)
    if singular is not None:
        pushed = max(singular.null_rows.T, key=lambda row: abs(row @ residual))
        free = max(singular.null_columns.T, key=lambda column: abs(column @ pushed))
        large = np.flatnonzero(np.abs(free) > LARGE * np.abs(free).max())
        held, moves = search.rest.carried[large].any(), large[0] < system.layout.nk
        known = sentences(system, free)
        remedies = [] if held or known else [INTEGRATED if _integrated(search.rest, search.g, pushed) else LOOPED]
        remedies += [RESISTED if moves else CONDUCTED] if held else []
        hint = "; ".join([*known, *remedies, tried])
        why = "it is loaded" if held else f"{_contradicting(system, pushed)} contradict one another at rest"
        message = f"{undetermined(system, free)}, and {why}: there is no equilibrium"
        return SimulationError(Problem("E440", message, span_of(system, free), hint=hint))
    if broken := _without_value_ahead(search):
        names = ", ".join(f"'{instance.name}'" for instance in broken[:2])
        message = (
            f"no equilibrium was found: {names} {'gives' if len(broken) == 1 else 'give'} no finite value where the "
        )
        hint = (
            "the cause is the root or the logarithm of a negative number, or a division by zero; write a `guess`, or "
        )
        hint += f"keep the expression defined; {tried}"
        return SimulationError(Problem("E441", f"{message}others balance", broken[0].span, hint=hint))
    matrix = search.rest.evaluate(search.g)[1]
    scaled = np.abs(residual) / np.maximum(abs(matrix) @ search.rest.weight, 1e-300)
    scaled = np.where(np.isfinite(scaled), scaled, np.inf)
    worst = [int(i) for i in np.argsort(-scaled)[:2] if scaled[i] > 0.0]
    message = (
        f"no equilibrium was found; largest residuals: {', '.join(describe_row(system, i) for i in worst) or 'unknown'}"
    )
    unit = np.zeros(search.rest.n)
    unit[worst] = 1.0
    hint = f"write a `guess` near the equilibrium, or start with from = rest and let the transient decay; {tried}"
    return SimulationError(Problem("E441", message, span_of(system, unit) if worst else None, hint=hint))
