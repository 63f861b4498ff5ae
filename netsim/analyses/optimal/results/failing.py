"""Why an optimisation has no solution: what is asked for and cannot be met, where, and by how much.

The same program is solved once more with every limit and every condition at the ends open to be missed, at a cost in
proportion. Where all rows with a price are linear, what is still missed then contradicts the network's equations,
whatever the guess was; elsewhere it is the best near the guess, and another one may do it all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from netsim.analyses.inverse.tracking import Actuator
from netsim.analyses.optimal.program.blocks import OBJECTIVE, weighted
from netsim.analyses.optimal.program.solve import Solution, solved
from netsim.analyses.optimal.program.transcription import Program
from netsim.initial.initial import Structure
from netsim.results.series import unit_of
from netsim.text.errors import InputError, Problem, SimulationError, Span

Array = np.ndarray
MISSED = 1e-5
"""What is missed by less than this part of its size holds."""
FLAT = 1e-6
"""Curvature of the Lagrangian, all variables in parts of their sizes, that is none."""
NAMED, ITERATIONS = 3, 500
NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Wish:
    """Something asked for: its words, where it is written, its places in a program, bounds, unit."""

    text: str
    span: Span | None
    places: Array
    low: float
    high: float
    unit: str


def explained(solution: Solution) -> SimulationError:
    """Why there is no solution: E462 names what cannot be met, E463 how IPOPT ended where everything can be."""
    opened = _opened(solution)
    missed = sorted(_missed(opened, solution.size) if opened.solved else [], key=lambda m: -m[0])[:NAMED]
    if missed:
        spans = [wish.span for _, wish, _ in missed]
        found = "no motion does this" if _is_linear(opened) else "no motion was found that does this"
        message = f"{found}: {'; '.join(text for _, _, text in missed)}"
        hint = "allow more time or larger limits, free more inputs, or give guess = RUN"
        return SimulationError(
            Problem("E462", message, spans[0], also=tuple((s, "and this") for s in spans[1:] if s), hint=hint)
        )
    message = f"no optimum was found: IPOPT ended with '{solution.status}' after {solution.iterations} iterations"
    hint = "everything that is asked for can be met: limit what may grow, or give guess = RUN, or more intervals"
    return SimulationError(Problem("E463", message, hint=hint))


def refuse_unmet(solution: Solution) -> None:
    """Raises E462 for conditions at an end that the equations alone decide, and decide otherwise."""
    for _, wish, text in _missed(solution, solution.size):
        if wish.low == wish.high:
            hint = "no free input moves it: look at what it is connected to"
            raise SimulationError(Problem("E462", f"no motion does this: {text}", wish.span, hint=hint))


def _is_linear(solution: Solution) -> bool:
    """Whether all rows with a price are linear at the solution, but for rates times a span that is given."""
    setting, scaled = solution.program.setting, solution.scaled
    row, column = map(np.array, scaled.hessian.pattern.get_triplet())
    bent = np.abs(scaled.hessian.summed(scaled.curvature(solution.x, solution.multipliers * solution.weight)))
    own = (row != solution.program.span) & (column != solution.program.span)
    return bool(setting.stop[0] == setting.stop[1] and (bent[own] < FLAT).all())


def _wishes(program: Program) -> Iterator[Wish]:
    """Limits at all points and conditions at the ends."""
    setting, point = program.setting, program.setting.point
    wishes, every = setting.wishes, np.arange(program.points) * point.size
    for bounds, at, where in (
        (wishes.limits, every, ""),
        (wishes.begin, every[:1], " at the begin"),
        (wishes.end, every[-1:], " at the end"),
    ):
        for b in bounds:
            places = setting.wishes.places[b.watch] + at
            yield Wish(f"'{b.text}'{where}", b.expr.span, places, b.low, b.high, unit_of(wishes.dimensions[b.watch]))
    still = np.setdiff1d(setting.end.places, setting.wishes.places)
    if len(still):
        unit = "m/s or rad/s" if point.machine.system.layout.nk else ""
        yield Wish("rest at the end", None, still + every[-1], 0.0, 0.0, unit)


def _missed(solution: Solution, size: Array) -> Iterator[tuple[float, Wish, str]]:
    """The wishes that do not hold, by which part of their sizes, and in words; `size` are those of the variables."""
    x, program = solution.x, solution.program
    times = program.setting.early + program.mesh.fractions * solution.stop
    for wish in _wishes(program):
        off = np.maximum(wish.low - x[wish.places], x[wish.places] - wish.high)
        part = off / np.maximum(size[wish.places], min(abs(wish.low), abs(wish.high)))
        worst = int(part.argmax())
        if part[worst] > MISSED:
            time = times[wish.places[worst] // program.setting.point.size]
            text = f"{wish.text} is missed by {off[worst]:.3g} {wish.unit}".rstrip()
            yield float(part[worst]), wish, text + (f" at t = {time:.3g} s" if len(off) > 1 else "")


def _opened(solution: Solution) -> Solution:
    """The program in which all wishes may be missed, at a cost in parts of sizes."""
    program, size = solution.program, solution.size
    count, rows = len(program.low), len(program.highest)
    asked = np.isin(np.arange(count), np.concatenate([NOTHING, *(wish.places for wish in _wishes(program))]))
    below, above = (np.flatnonzero(asked & np.isfinite(bound)) for bound in (program.low, program.high))
    places = np.append(below, above)
    sign = np.repeat([1.0, -1.0], [len(below), len(above)])
    bounds = np.append(program.low[below], program.high[above])
    slack = count + np.arange(len(places))
    blocks = [block for block in program.blocks if not (block.rows == OBJECTIVE).any()]
    blocks.append(weighted([places, slack], [sign, 1.0 + 0.0 * sign], rows + np.arange(len(places)), -sign * bounds))
    blocks.append(weighted([slack], [1.0 / size[places]], np.full(len(places), OBJECTIVE)))
    opened = replace(
        program,
        blocks=tuple(blocks),
        low=np.append(np.where(asked, -np.inf, program.low), 0.0 * sign),
        high=np.append(np.where(asked, np.inf, program.high), np.inf + 0.0 * sign),
        highest=np.append(program.highest, np.inf + 0.0 * sign),
    )
    start = np.append(np.where(np.isfinite(solution.x), solution.x, 0.0), 0.0 * sign)
    return solved(opened, start, np.append(size, size[places]), ITERATIONS) if len(places) else solution


def refuse_idle(structure: Structure, inputs: Sequence[Actuator], free: Sequence[int], wanted: Array) -> None:
    """Raises `InputError` (E464) for inputs that no variable in `wanted` depends on."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order

    found, match = structure.signature, structure.dynamic.match
    kept = found.matched(match)
    edges = found.variable[kept], match[found.equation[kept]]
    graph = csr_array((np.ones(len(edges[0])), edges), shape=(found.size, found.size))
    idle = [a for a, u in zip(inputs, free) if not np.isin(breadth_first_order(graph, u)[0], wanted).any()]
    if idle:
        names = ", ".join(f"'{a.name}'" for a in idle)
        message = f"nothing that is asked for depends on {names}: any value would do"
        raise InputError(Problem("E464", message, idle[0].expr.span, hint="remove it from `inputs`"))
