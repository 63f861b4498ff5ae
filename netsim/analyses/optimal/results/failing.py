"""Why an optimisation has no solution: what is asked for and cannot be met, where, and by how much.

The same program is solved once more with every limit and every condition at the ends open to be missed, at a cost in
proportion. What is still missed then contradicts the network's equations, whatever the guess was.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from netsim.analyses.inverse.tracking import Actuator
from netsim.analyses.optimal.program.blocks import OBJECTIVE, Block, Formula
from netsim.analyses.optimal.program.points import Point
from netsim.analyses.optimal.program.solve import Solution, solved
from netsim.analyses.optimal.program.transcription import Program
from netsim.initial.initial import Structure
from netsim.text.errors import InputError, Problem, SimulationError, Span
from netsim.text.units import format_dimension

Array = np.ndarray
MISSED = 1e-5
"""What is missed by less than this part of its size holds."""
NAMED = 3


@dataclass(frozen=True, eq=False)
class Wish:
    """Something asked for: its words, where it is written, its places with the instants' numbers, bounds, unit."""

    text: str
    span: Span | None
    places: Array
    instants: Array
    low: float
    high: float
    unit: str


def explained(solution: Solution) -> SimulationError:
    """Why there is no solution: E462 names what cannot be met, E463 how IPOPT ended where everything can be."""
    wishes = list(_wishes(solution.program))
    missed = _missed(solution, wishes) if wishes else []
    if missed:
        worst = [text for text, _, _ in missed[:NAMED]]
        also = tuple((span, "and this") for _, _, span in missed[1:NAMED] if span)
        hint = "allow more time or larger limits, or free more inputs; where inputs of more than 1e4 times their usual "
        hint += "size are needed, write the problem in other units"
        return SimulationError(Problem("E462", f"no motion does this: {'; '.join(worst)}", missed[0][2], also=also,
                                       hint=hint))  # fmt: skip
    message = f"no optimum was found: IPOPT ended with '{solution.status}' after {solution.iterations} iterations"
    hint = "everything that is asked for can be met: limit what may grow, or give guess = RUN, or more intervals"
    return SimulationError(Problem("E463", message, hint=hint))


def refuse_unmet(solution: Solution) -> None:
    """Raises E462 for conditions at an end that the equations alone decide, and decide otherwise."""
    for wish in _wishes(solution.program):
        if wish.low != wish.high:
            continue
        missed = np.abs(solution.x[wish.places] - wish.low)
        if (missed > MISSED * np.maximum(solution.size[wish.places], abs(wish.low))).any():
            unit = "" if wish.unit in ("", "1") else f" {wish.unit}"
            message = f"no motion does this: {wish.text} is missed by {missed.max():.3g}{unit}"
            hint = "no free input moves it: look at what it is connected to"
            raise SimulationError(Problem("E462", message, wish.span, hint=hint))


def _wishes(program: Program) -> Iterator[Wish]:
    """Limits at all points and conditions at the ends."""
    setting, point = program.setting, program.setting.point
    count, size = program.points, program.setting.point.size
    every = np.arange(count)
    wishes = setting.wishes
    units = [format_dimension(d) for d in wishes.dimensions]
    for bound in wishes.limits:
        places = setting.watched[bound.watch] + every * size
        unit = units[bound.watch]
        yield Wish(f"'{bound.text}'", bound.expr.span, places, every, bound.low, bound.high, unit)
    for last, name, bounds in ((0, "begin", wishes.begin), (count - 1, "end", wishes.end)):
        for bound in bounds:
            at = np.array([setting.watched[bound.watch] + last * size])
            text = f"'{bound.text}' at the {name}"
            yield Wish(text, bound.expr.span, at, np.array([last]), bound.low, bound.high, units[bound.watch])
    still = np.setdiff1d(setting.end.places, setting.watched)
    if len(still):
        at = still + (count - 1) * size
        yield Wish("rest at the end", None, at, np.full(len(at), count - 1), 0.0, 0.0, point_unit(point))


def point_unit(point: Point) -> str:
    """The unit in which several velocities together are missed."""
    return "m/s or rad/s" if point.machine.system.layout.nk else ""


def _missed(solution: Solution, wishes: Sequence[Wish]) -> list[tuple[str, float, Span | None]]:
    """What is missed where all wishes are open, the largest part first: words, part of the size, place."""
    program, size = solution.program, solution.size
    low, high = program.low.copy(), program.high.copy()
    blocks = [b for b in program.blocks if not (b.rows == OBJECTIVE).any()]
    rows, variables, sizes = len(program.highest), len(low), [size]
    first: list[int] = []
    for wish in wishes:
        low[wish.places], high[wish.places] = -np.inf, np.inf
        first.append(variables)
        for sign, bound in ((1.0, wish.low), (-1.0, wish.high)):
            count = len(wish.places) if np.isfinite(bound) else 0
            slack = variables + np.arange(count)
            blocks += _open(wish.places[:count], slack, rows + np.arange(count), sign, bound, size[wish.places[:count]])
            rows, variables = rows + count, variables + count
            sizes.append(size[wish.places[:count]])
    added = variables - len(program.low)
    relaxed = replace(
        program,
        blocks=tuple(blocks),
        low=np.append(low, np.zeros(added)),
        high=np.append(high, np.full(added, np.inf)),
        highest=np.append(program.highest, np.full(rows - len(program.highest), np.inf)),
    )
    start = np.append(solution.x, np.zeros(added))
    found = solved(relaxed, np.where(np.isfinite(start), start, 0.0), np.concatenate(sizes), 500)
    if not found.solved:
        return []
    missed = [_words(program, wish, found.x[at:], size, found.stop) for wish, at in zip(wishes, first)]
    return sorted((m for m in missed if m[1] > MISSED), key=lambda m: -m[1])


def _open(places: Array, slack: Array, rows: Array, sign: float, bound: float, size: Array) -> Iterator[Block]:
    """sign*(x - bound) + slack >= 0, and the slack in parts of the size in the objective."""
    if not len(places):
        return
    v, scale = ca.SX.sym("v", 2), ca.SX.sym("scale")
    formula = Formula(v, ca.SX(0, 1), sign * (v[0] - bound) + v[1])
    yield Block(formula, np.stack([places, slack]), np.zeros((0, len(places))), rows[None])
    missed = ca.SX.sym("missed")
    cost = Formula(missed, scale, missed / scale)
    yield Block(cost, slack[None], size[None], np.full((1, len(places)), OBJECTIVE))


def _words(program: Program, wish: Wish, slacks: Array, size: Array, stop: float) -> tuple[str, float, Span | None]:
    count = len(wish.places)
    sides = int(np.isfinite(wish.low)) + int(np.isfinite(wish.high))
    missed = slacks[: count * sides].reshape(sides, count).max(axis=0)
    k = int(missed.argmax())
    time = program.setting.early + program.mesh.fractions[wish.instants[k]] * stop
    unit = "" if wish.unit in ("", "1") else f" {wish.unit}"
    share = float(missed[k] / size[wish.places[k]])
    text = f"{wish.text} is missed by {missed[k]:.3g}{unit} at least" + (f" at t = {time:.3g} s" if count > 1 else "")
    return text, share, wish.span


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
