"""What depends on time in a network: whether anything does, the period of it all, and whether it repeats."""

from collections.abc import Iterator
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from netsim.analyses.periodic.clock import Clock
from netsim.core.newton import CONVERGED, set_time
from netsim.equations.machine import Machine
from netsim.initial.initial import Structure
from netsim.network.network import Instance
from netsim.simulate.events.iteration import event_iteration
from netsim.simulate.setup.features import each_of
from netsim.structure.of_time.periods import periods_of
from netsim.structure.of_time.switching import (
    NO_FUNCTION_OF_TIME,
    Series,
    Text,
    component_texts,
    of_time,
    switching_of,
    text_of_shape,
)
from netsim.structure.time_events import table_breaks
from netsim.text.errors import InputError, Problem, Span
from netsim.text.expressions.typed import span_of
from netsim.text.syntax import Expr

Array = np.ndarray
LOOKS = 41
"""Instants of a period at which functions of time are compared with those one period later."""
SHARES = (np.arange(LOOKS) + 0.31) / LOOKS
"""Where they lie in a period."""
MOST_CHANGES = 100
"""Instants at which functions of time may change once that are looked at."""
EXPRESSION = "expression "
REPEATS = "give a `period` after which all sources repeat; what has ended or begun once has none"
SAME = 1e-7
"""Values are the same that differ by less than this share of the largest."""
MOST_RATIO = 1000
"""Periods of sources that are to each other as whole numbers up to this one have a common one."""


def is_free(machine: Machine, structure: Structure, g: Array, period: float) -> bool:
    """Whether nothing depends on time."""
    events = event_iteration(machine, structure)
    if events and any(place.of.timed for place in events.relations):
        return False
    looks = 3.7 * period * SHARES
    return all(np.ptp(values) <= SAME * np.abs(values).max() for _, values in _values(machine, g, looks))


def check_repeats(machine: Machine, g: Array, period: float) -> bool:
    """Raises `InputError` (E448) for an input that is not after a period what it was before. False where something else
    reads the time and may not repeat (`time - since` does, where `since` is an instant that is held)."""
    looks = period * SHARES
    for name, values, later in _changed(machine, g, looks, looks + period):
        if name not in (inputs := _inputs(machine)):
            return False
        k = int(np.argmax(np.abs(later - values)))
        message = f"'{name}' does not repeat after {period:.6g} s: it is {values[k]:.5g} at t = {looks[k]:.5g} s "
        message += f"and {later[k]:.5g} a period later"
        raise InputError(Problem("E448", message, inputs[name][1], hint=REPEATS))
    return True


def _changed(machine: Machine, g: Array, looks: Array, later: Array) -> Iterator[tuple[str, Array, Array]]:
    """Functions of time that are not at later instants what they are at others, with their values at both."""
    beside, inputs = dict(_values(machine, g, later)), _inputs(machine)
    for name, values in _values(machine, g, looks):
        if len(values) != len(beside[name]):  # a table has ended
            continue
        change = beside[name] - values
        if inputs.get(name, ("",))[0] == "rad":  # a crank that turns
            change = change - 2.0 * np.pi * np.round(change / (2.0 * np.pi))
        wrong = np.abs(change) > SAME * np.abs(values).max()
        if np.count_nonzero(wrong) > 1:  # one may stand on an edge
            yield name.partition("[")[0], values, np.where(wrong, beside[name], values)


def _inputs(machine: Machine) -> dict[str, tuple[str, Span]]:
    """Unit and place of every input that is a function of time."""
    return {
        f"{instance.name}.{name}": (_unit(instance, name), span_of(shape.expr))
        for each in machine.system.prescribed_inputs
        for (instance, name), shape in zip(each.owners, each.shapes)
    }


def later_change(machine: Machine, g: Array, end: Array, clock: Clock, period: float) -> Problem | None:
    """W528 for what changes once, behind the periods that `check_repeats` compares: the first of it. `g` and `end`:
    points at the start and behind some periods."""
    found = [(float(clock.coming[k]), clock.owners[k]) for k in np.flatnonzero(clock.waiting(machine, g, end))]
    for t in sorted({t for t in _single_instants(machine, period) if t > 2.0 * period})[:MOST_CHANGES]:
        found += [(t, name) for name, *_ in _changed(machine, g, t + period * (SHARES - 1.0), t + period * SHARES)][:1]
    if not found:
        return None
    t, name = min(found)
    what = "what reads the time" if name.startswith(EXPRESSION) else f"'{name}'"
    message = f"{what} changes at t = {t:.6g} s, and the periodic state is that without this change"
    hint = "write it as it is later for the state behind it"
    return Problem("W528", message, _inputs(machine).get(name, ("", None))[1], hint=hint)


def check_samples(clock: Clock, period: float) -> None:
    """Raises `InputError` (E448) for samples that do not repeat after a period."""
    for name, each in zip(clock.owners, clock.every):
        count = np.round(period / each)
        if not count or abs(period / (count * each) - 1.0) > SAME:
            message = f"'{name}' samples every {each:.6g} s, which does not repeat after {period:.6g} s"
            raise InputError(Problem("E448", message, hint=REPEATS))


def _single_instants(machine: Machine, period: float) -> Iterator[float]:
    """Where functions of time pass zero that are linear in time, and tables begin and end their pieces."""
    for text, expr in [*_bound(machine), *_read(machine)]:
        for switching, _ in switching_of(expr, text):
            yield from _passed(switching, np.zeros(1), period)
    for prescribed in machine.system.prescribed_inputs:
        for (table, _), shape in zip(prescribed.calls, prescribed.shapes):
            argument = text_of_shape(shape, machine.values).series(shape.expr)
            yield from _passed(argument, table_breaks(machine, table), period)


def _passed(series: Series, levels: Array, period: float) -> list[float]:
    """Where a straight line passes levels; nowhere for any other function."""
    try:
        first, middle, last = (float(series(share * period)) for share in (0.0, 0.7, 1.9))
    except NO_FUNCTION_OF_TIME:
        return []
    slope = (last - first) / (1.9 * period)
    straight = abs(first + 0.7 * period * slope - middle) <= SAME * abs(last - first)
    return ((levels - first) / slope).tolist() if slope and straight else []


def _unit(instance: Instance, name: str) -> str:
    return next((q.unit for q in instance.component.definition.inputs if q.name == name), "")


def _values(machine: Machine, g: Array, looks: Array) -> Iterator[tuple[str, Array]]:
    """Functions of time by name, at instants: inputs, then what components and bound expressions read of the time."""
    system, point, found = machine.system, g.copy(), list[Array]()
    for t in looks:
        if set_time(machine.struct, point, float(t)) == CONVERGED:
            found.append(point[system.layout.prescribed(np.arange(system.layout.nd), 0)])
    for each in system.prescribed_inputs:
        for (instance, name), numbers in zip(each.owners, each.numbers.T):
            for k, number in enumerate(numbers if each.stage == 1 else ()):
                yield f"{instance.name}.{name}{f'[{k + 1}]' if k else ''}", np.array(found)[:, number]
    parts = [series for text, expr in _read(machine) for series in of_time(expr, text)]
    for k, series in enumerate(parts):
        yield f"{EXPRESSION}{k + 1}", each_of(series, looks)


def _bound(machine: Machine) -> Iterator[tuple[Text, Expr]]:
    """Functions of time that are bound to inputs, with what their names mean."""
    shapes = [shape for each in machine.system.prescribed_inputs if each.stage == 1 for shape in each.shapes]
    yield from ((text_of_shape(shape, machine.values), shape.expr) for shape in shapes)


def _read(machine: Machine) -> Iterator[tuple[Text, Expr]]:
    """Expressions that may read the time beside signals, with what their names mean."""
    for batch in machine.system.batches:
        yield from ((text_of_shape(shape, machine.values), shape.expr) for shape in batch.shapes)
    for text, expressions in component_texts(machine, bends=False, whens=True):
        yield from ((text, expr) for expr in expressions)


def common_period(machine: Machine, clock: Clock) -> float | None:
    """The shortest period of everything periodic that reads the time, samples of its clock among it; None where nothing
    does, or there is no common one."""
    read = [*_bound(machine), *_read(machine)]
    found = [period for text, expr in read for period in periods_of(expr, text)] + [float(t) for t in clock.every]
    if not found:
        return None
    ratios = [Fraction(each / found[0]).limit_denominator(MOST_RATIO) for each in found]
    if any(abs(float(ratio) * found[0] / each - 1.0) > SAME for ratio, each in zip(ratios, found)):
        return None
    return found[0] * lcm(*(r.numerator for r in ratios)) / gcd(*(r.denominator for r in ratios))
