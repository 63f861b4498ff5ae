"""Elements that switch, rounded: equations without events, near those of all their modes.

A condition c < 0 holds in a share of cases, as if c were uncertain by w:

    p = (1 - tanh(c/w))/2,    w = smooth * sqrt(sum_j (dc/dz_j size_j)^2),

and the equations are the mean over all cases o, in which discretes are what follows from the conditions:

    F = sum_o p_o F(o).

Conditions on one quantity (v > 0, v < 0) share its uncertainty: their thresholds cut its line into pieces, each with
the difference of its ends' p, and a piece much narrower than w does not count. So dry friction becomes F tanh(v/w): its
mode of rest vanishes. A discrete that depends on its value before the event is rounded if it starts with a value that
it never takes again (nothing is known yet); all other memory is refused.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import casadi as ca
import numpy as np

from netsim.equations.batches import Batch, FormKernels
from netsim.equations.forms.facts import Facts
from netsim.equations.forms.form import NO_EVENTS, Changes, Expressions
from netsim.equations.forms.symbols import CONSTANT, Key, Symbols
from netsim.equations.kernels.reference import evaluate
from netsim.equations.machine import Machine
from netsim.equations.system import System, build_system
from netsim.network.network import Instance
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.sizes import flatten, shape, shaped
from netsim.text.expressions.typed import Typed

Array = np.ndarray
NARROW = 1e-3
"""A piece between two thresholds that is narrower than this part of the rounding does not count."""
CASES = 64
"""An equation is the mean of so many cases at most."""
POINTS, ALIKE = 3, 1e-6
"""Conditions are on one quantity where they differ by a constant at so many points, to this part of their sizes."""
STEP = 1e-4
"""The step of differences, in parts of sizes."""
MEMORY = ("discrete", "before")
Cases = Callable[[Any], list[tuple[Any, Any]]]


@dataclass(frozen=True, eq=False)
class Line:
    """Conditions on one quantity: the symbols of their values, and for every piece of its line that counts the share of
    the cases and the values."""

    symbols: Sequence[Any]
    pieces: Sequence[tuple[Any, Sequence[float]]]


def rounded_system(machine: Machine, smooth: float, sizes: Array, span: float) -> System:
    """The system of a machine with all that switches rounded by `smooth`; `sizes` of orders 0 and 1 of all unknowns
    (2, unknowns), `span` that of the time (s). Raises `InputError` (E460) for elements that cannot be rounded."""
    known: dict[int, FormKernels] = {}

    def kernels(instance: Instance, signals: tuple[str, ...]) -> FormKernels:
        batch, _ = machine.system.home[instance.name]
        if id(batch) not in known:
            switches = batch.n_relations or batch.n_discretes
            known[id(batch)] = _rounded(machine, batch, smooth, sizes, span) if switches else batch.kernels
        return known[id(batch)]

    return build_system(machine.system.network, machine.values, kernels)


def _rounded(machine: Machine, batch: Batch, smooth: float, sizes: Array, span: float) -> FormKernels:
    """The kernels of a batch's rounded form."""
    e, changes = batch.form.expressions, batch.form.expressions.changes
    symbols, events = e.symbols, batch.form.events
    memory = [(key, s) for (key, _), s in symbols.gathered.items() if key[0] in MEMORY]
    starts = [(s, changes.starts[key[1]]) for key, s in memory]
    following = [_put(x, starts) for x in changes.following]
    now = [(s, following[key[1]]) for key, s in memory if key[0] == "discrete"]
    values = [symbols.at(("relation_value", k), 0) for k in range(batch.n_relations)]
    samples = [(s, 0.0) for s, relation in zip(values, events.relations) if relation.sampled]
    crossings = [_put(x, starts) for x in changes.crossings]
    lines = list(_lines(machine, batch, values, crossings, smooth, sizes, span))

    def cases(x: Any) -> list[tuple[Any, Any]]:
        return _cases(batch, lines, _put(_put(x, now), starts))

    def mean(x: Any) -> Any:
        return _put(sum((share * value for share, value in cases(x)), ca.SX(0)), samples)

    equations = [*map(ca.SX, (*e.residuals, *e.differentiated))]
    _refuse_memory(batch, ca.vertcat(ca.SX(0, 1), *equations), following, cases)
    _refuse_resets(batch, [_put(x, samples) for x in changes.fired], cases)
    _refuse_holding(batch, equations, cases)
    kept = {key: s for key, s in symbols.gathered.items() if key[0][0] not in (*MEMORY, "relation_value")}
    readings = {
        name: Typed(shaped([mean(x) for x in flatten(typed.value)], shape(typed.value)), typed.dimension)
        for name, typed in e.readings.items()
    }
    found = Expressions(
        Symbols(kept, dict(symbols.parameters)), tuple(map(mean, e.residuals)), tuple(map(mean, e.differentiated)),
        readings, mean(e.supplied), mean(e.dissipated), mean(e.stored), e.places, Changes(), e.delays,
    )  # fmt: skip
    form = replace(batch.form, read=tuple(kept), events=NO_EVENTS, facts=Facts(), make=lambda: found)
    return FormKernels(form, batch.kernels.kinematic, batch.kernels.apart)


def _put(x: Any, pairs: Sequence[tuple[Any, Any]]) -> Any:
    """An expression with other ones in the places of symbols."""
    if not pairs:
        return ca.SX(x)
    return ca.substitute(ca.SX(x), ca.vertcat(*(s for s, _ in pairs)), ca.vertcat(*(y for _, y in pairs)))


def _cases(batch: Batch, lines: Sequence[Line], x: Any) -> list[tuple[Any, Any]]:
    """The shares of all cases that matter to an expression, and what it is in them; raises E460 for too many."""
    choices = []
    for line in lines:
        read = [k for k, symbol in enumerate(line.symbols) if ca.depends_on(x, symbol)]
        shares: dict[tuple[float, ...], Any] = {}
        for share, values in line.pieces:
            own = tuple(values[k] for k in read)
            shares[own] = shares.get(own, 0.0) + share
        if read:
            choices.append([([line.symbols[k] for k in read], own, share) for own, share in shares.items()])
    if prod(map(len, choices)) > CASES:
        raise _refused(batch, f"has more than {CASES} modes")
    found = []
    for case in product(*choices):
        pairs = [pair for symbols, values, _ in case for pair in zip(symbols, values)]
        found.append((prod((share for _, _, share in case), start=ca.SX(1)), _put(x, pairs)))
    return found


# ------------------------------------------------------------------------------------------------ conditions


def _lines(
    machine: Machine, batch: Batch, values: Sequence[Any], crossings: Sequence[Any], smooth: float, *of: Any
) -> Iterator[Line]:
    """The lines of all conditions but samples."""
    points = list(_probed(machine, batch, *of))
    left = [k for k, relation in enumerate(batch.form.events.relations) if not relation.sampled]
    while left:
        signs = {k: _sign([c / size for c, size in points], left[0], k) for k in left}
        own = {k: sign for k, sign in signs.items() if sign}
        left = [k for k in left if k not in own]
        yield _line(batch, values, crossings, own, smooth, *points[0])


def _probed(machine: Machine, batch: Batch, sizes: Array, span: float) -> Iterator[tuple[Array, Array]]:
    """Zero-crossing functions of a batch and their sizes (relations, n) at points beside the usual ones."""
    kernel, random = batch.kernels.events, np.random.default_rng(0)
    g, count, own = machine.g, batch.n_relations, machine.parameters[id(batch)]
    read, uniforms = g[machine.system.gather(batch, kernel)], g[machine.system.layout.uniforms]
    moving = [k for k, (key, _) in enumerate(kernel.gather) if key[0] not in CONSTANT]
    size = [_size(batch, *kernel.gather[k], sizes, span) for k in moving]
    for _ in range(POINTS):
        z, u, slopes = read.copy(), uniforms.copy(), []
        u[0] = span * random.uniform(0.5, 1.5)
        for k, each in zip(moving, size):
            z[k] = each * random.uniform(0.5, 1.5)
        steps: list[tuple[Array, int, Any]] = [*((z, k, each) for k, each in zip(moving, size)), (u, 0, span)]
        for array, k, step in steps:
            here, ends = np.copy(array[k]), []
            for side in (1.0, -1.0):
                array[k] = here + side * STEP * step
                ends.append(evaluate(kernel.program, z, u, own)[:count])
            array[k] = here
            slopes.append((ends[0] - ends[1]) / (2.0 * STEP))
        length = np.linalg.norm(slopes, axis=0)
        yield evaluate(kernel.program, z, u, own)[:count], np.where(length > 0.0, length, 1.0)


def _size(batch: Batch, key: Key, order: int, sizes: Array, span: float) -> Array:
    """The size of something that moves in all elements of a batch (n); of functions of time it is 1, of ground 0."""
    if key not in batch.unknowns:
        return np.ones(batch.n)
    unknowns = batch.unknowns[key]
    return np.where(unknowns < 0, 0.0, sizes[min(order, 1), unknowns]) / span ** max(order - 1, 0)


def _sign(points: Sequence[Array], one: int, other: int) -> int:
    """1 or -1 where the other condition is the one, times that, but for a constant; else 0."""
    for sign in (1, -1):
        apart = [c[other] - sign * c[one] for c in points]
        large = max(np.abs(c[[one, other]]).max() for c in points)
        if one == other or (np.ptp(apart, axis=0) <= ALIKE * large).all():
            return sign
    return 0


def _line(
    batch: Batch, values: Sequence[Any], crossings: Sequence[Any], signs: Mapping[int, int], smooth: float,
    c: Array, size: Array,
) -> Line:  # fmt: skip
    """The line of conditions on one quantity, which hold below their thresholds (sign 1) or above."""
    first = next(iter(signs))
    threshold = {k: c[first] / size[first] - sign * c[k] / size[k] for k, sign in signs.items()}
    order = sorted(signs, key=lambda k: float(threshold[k].mean()))
    below, pieces = ca.SX(0), []
    for m in range(len(order) + 1):
        gap = threshold[order[m]] - threshold[order[m - 1]] if 0 < m < len(order) else np.full(1, np.inf)
        if (gap < -NARROW * smooth).any():
            raise _refused(batch, "has thresholds in another order than others of its type")
        if (gap <= NARROW * smooth).all():
            continue
        k = order[m] if m < len(order) else None
        width = None if k is None else smooth * float(size[k].max())
        above = ca.SX(1) if k is None else 0.5 * (1 - signs[k] * ca.tanh(crossings[k] / width))
        holds = [float(m <= p if signs[j] > 0 else m > p) for p, j in enumerate(order)]
        pieces.append((above - below, holds))
        below = above
    return Line([values[k] for k in order], pieces)


# ------------------------------------------------------------------------------------------------ refusals


def _refuse_memory(batch: Batch, equations: Any, following: Sequence[Any], cases: Cases) -> None:
    """Raises E460 where equations depend on discretes that sample or remember: that they follow from what was before
    the event, themselves or in a condition, and that this is no more than that nothing was known."""
    changes, events = batch.form.expressions.changes, batch.form.events
    sizes = {number for number, _ in events.scales}
    gathered = [(key, s) for (key, _), s in batch.form.symbols.gathered.items()]
    memory = [(key[1], s) for key, s in gathered if key[0] in MEMORY and key[1] not in sizes]
    relations = [(key[1], s) for key, s in gathered if key[0] == "relation_value"]
    for i in {key[1] for key, s in gathered if key[0] == "discrete" and ca.depends_on(equations, s)} - sizes:
        asked = [k for k, s in relations if ca.depends_on(following[i], s)]
        if any(events.relations[k].sampled for k in asked):
            raise _refused(batch, f"samples '{events.names[i]}'")
        reads = ca.vertcat(changes.following[i], *(changes.crossings[k] for k in asked))
        for k in dict.fromkeys(k for k, s in memory if ca.depends_on(reads, s)):
            start, reached = ca.SX(changes.starts[k]), [value for _, value in cases(following[k])]
            known = start.is_constant() and all(value.is_constant() for value in reached)
            if not known or any(float(value) == float(start) for value in reached):
                raise _refused(batch, f"remembers '{events.names[k] or events.names[i]}'")


def _refuse_resets(batch: Batch, fired: Sequence[Any], cases: Cases) -> None:
    """Raises E460 for states that are set anew in a case."""
    for reset in batch.form.events.resets:
        if any(not value.is_zero() for _, value in cases(fired[reset.when])):
            raise _refused(batch, f"sets a state anew ({reset.text})")


def _refuse_holding(batch: Batch, equations: Sequence[Any], cases: Cases) -> None:
    """Raises E460 for equations that determine a rate in some cases only: their mean would be one of another order."""
    gathered = batch.form.symbols.gathered.items()
    rates = [s for (key, order), s in gathered if order == (1 if key[0] == "differentiated" else 2)]
    for equation in equations:
        read = [[ca.depends_on(value, rate) for rate in rates] for _, value in cases(equation)]
        if any(each != read[0] for each in read):
            raise _refused(batch, "holds in one of its modes")


def _refused(batch: Batch, what: str) -> InputError:
    message = f"'{batch.instances[0].name}' {what}, and cannot be rounded"
    hint = "take an element without memory, or one that is rounded where this one switches"
    return InputError(Problem("E460", message, batch.instances[0].span, hint=hint))
