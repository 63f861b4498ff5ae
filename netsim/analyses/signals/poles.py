"""`run poles()`: every s of motions e^(s t) about a point, slowest first, one of each conjugate pair; with an `input`
also the zeros from there to the `output`, or to the first saved signal; `over = r1.R, values = [...]`: a root locus.

Small networks give all poles, those of any index too, by the reduction to states; large ones the slowest `modes` by
Arnoldi's method around a shift, on the sparse matrices.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.modal import modes_of
from netsim.analyses.option_values import EXPRESSION, NAMES, NUMBER, Kind
from netsim.analyses.signals.inputs import inputs_of, parameter
from netsim.analyses.signals.linear import entry_name, state_names, zeros_of
from netsim.analyses.signals.linearised import Linearised
from netsim.analyses.signals.options import WHERE, PointOptions, numbers, point_options
from netsim.analyses.signals.points import Point, linearised_at
from netsim.analyses.signals.states.passivity import passive
from netsim.analyses.signals.states.reduction import poles_of
from netsim.equations.history import refuse_delays
from netsim.network.network import parameter_names
from netsim.network.values import Values
from netsim.results.over_frequency.curves import reading
from netsim.results.samples import Samples, Signal
from netsim.text.errors import InputError, Problem, SimulationError, nearest
from netsim.text.expressions.from_python import expression_given
from netsim.text.syntax import Expr
from netsim.text.units import parse_unit

Array = np.ndarray
OPTIONS: dict[str, Kind] = {**WHERE, "modes": NUMBER, "over": NAMES, "values": EXPRESSION, "output": EXPRESSION}
DENSE = 700
"""Unknowns and differentiated quantities up to which all poles are found."""
PAIRED = 1e-9
"""Growth and decay below this share of a pole's size are told as neutral."""
INFINITE = "with it a network has infinitely many poles"
MOST_VALUES = 6
"""Of a parameter, that are told to be alike."""
NAMED, SHARE = 3, 0.2
"""States that are named for an unstable pole, and the participation that the least of them has."""
COLUMNS = (
    Signal("real", "1/s", "rate of growth"),
    Signal("imaginary", "1/s", "angular frequency"),
    Signal("frequency", "Hz", "of the undamped motion"),
    Signal("damping", "", "share of critical damping"),
    Signal("time_constant", "s", "of the decay"),
    Signal("zero", "", "1: a zero, 0: a pole"),
)


@dataclass(frozen=True, eq=False)
class PolesOptions:
    """where: the point and the input of zeros; modes: how many of a large network; over, values: a parameter's;
    output: that of zeros."""

    where: PointOptions
    modes: int
    over: str
    values: tuple[float, ...]
    output: Expr | None = None


def check(options: Mapping[str, Any], line: OptionSource) -> PolesOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    place, modes = point_options(options, line), float(options.get("modes", 20))
    if len(place.at) > 1 or len(place.inputs) > 1 or modes < 1 or modes % 1:
        message = "poles() takes one instant, one input, and a whole number of modes"
        raise InputError(Problem("E423", message, line.spans.get("")))
    over, values = "".join(options.get("over", ())), options.get("values")
    if bool(over) != (values is not None):
        hint = "over = r1.R, values = [1 kOhm, 10 kOhm]"
        raise InputError(Problem("E422", "'over' and 'values' go together", line.spans.get("over"), hint=hint))
    found: tuple[float, ...] = ()
    if values is not None:
        if over not in parameter_names(line.network):
            hint = nearest(over, parameter_names(line.network))
            raise InputError(Problem("E429", f"no parameter is called '{over}'", line.spans.get("over"), hint=hint))
        unit = parse_unit(parameter(Values(line.network), over)[0].unit).dimension
        found = tuple(numbers(values, line, unit))
    output = None if (given := options.get("output")) is None else expression_given("output", given)
    return PolesOptions(place, int(modes), over, found, output)


def run(task: Task, options: PolesOptions) -> Samples:
    """A row per pole, and per zero: where it lies, and how much every state takes part (of poles)."""
    rows, states, told, origin, about = list[Array](), dict[str, None](), dict[str, list[str]](), None, list[Any]()
    parts = list[Mapping[str, Array]]()
    unit = parameter(task.values, options.over)[0].unit if options.over else ""
    for value in options.values or (None,):
        here = task if value is None else task.under({options.over: value})
        here = here if options.output is None else replace(here, saves=[options.output], plots=[])
        refuse_delays(here.machine.system, "poles()", INFINITE)
        ((lin, selection, point),) = linearised_at(here, options.where.at)
        s, shares = poles_at(lin, point, options.modes)
        zeros = np.zeros(0, complex)
        if options.where.inputs:
            if not lin.signals:
                raise InputError(
                    Problem("E422", "zeros are those of an output, or of a saved signal", hint="output = out.v")
                )
            zeros = zeros_of(lin, inputs_of(lin, here, selection, options.where.inputs), 0, 0)
            zeros = zeros[np.argsort(np.abs(zeros), kind="stable")]
            zeros = zeros[zeros.imag >= 0.0]
        words, origin = "" if value is None else reading(value, unit), point.g
        told.setdefault(_stability(s, shares) + _unseen(lin, point, s), []).append(words)
        about.append(point.about(f" at {options.over} = {words}" if words else ""))
        for each in (s, zeros):
            rows.append(_rows(each, float(each is zeros), value))
        parts.append({name: np.append(share, np.full(len(zeros), np.nan)) for name, share in shares.items()})
        states |= dict.fromkeys(shares)
    columns = [np.concatenate(rows)]
    over = (Signal(options.over, unit),) if options.over else ()
    sizes = [len(a) + len(b) for a, b in zip(rows[::2], rows[1::2])]
    columns += [
        np.concatenate([part.get(name, np.full(n, np.nan)) for part, n in zip(parts, sizes)])[:, None]
        for name in states
    ]
    values = np.concatenate(columns, axis=1)
    signals = (*COLUMNS, *over, *(Signal(f"participation {name}") for name in states))
    attributes = {
        "stability_of_poles": _of_each(told, options.over),
        "unknowns": task.machine.system.n,
    }
    count = np.arange(1.0, len(values) + 1)
    return Samples("", count, signals, values, attributes=attributes, origin=origin, axis="pole", about=tuple(about))


def _of_each(told: Mapping[str, list[str]], over: str) -> str:
    """What is told, and of which values where it is not the same of all."""
    if len(told) == 1:
        return next(iter(told))
    at = {words: ", ".join(m[:MOST_VALUES]) + " ..." * (len(m) > MOST_VALUES) for words, m in told.items()}
    return "; ".join(f"{words} at {over} = {members}" for words, members in at.items())


def poles_at(lin: Linearised, point: Point, modes: int) -> tuple[Array, dict[str, Array]]:
    """Poles with Im s >= 0, slowest first, and the participation |v_i w_i| of every state; raises `SimulationError`
    (E444)."""
    if lin.size > DENSE:
        return modes_of(point.machine, point.structure, lin.g, modes).rates, {}
    found = poles_of(lin.dense)
    if found is None:
        message = "the linearised equations are singular at this point: they have no poles"
        raise SimulationError(Problem("E444", message, hint="netsim check says what nothing determines"))
    rates = found.rates
    order = np.argsort(np.abs(rates), kind="stable")
    order = order[rates[order].imag >= 0.0]
    if not len(order):
        return rates, {}
    of, names = found.states, state_names(lin.machine.system)
    vectors = found.shapes[of[:, 0]] * rates ** of[:, 1:]
    shares = np.abs(vectors * np.linalg.pinv(vectors).T)
    shares = shares / np.maximum(shares.sum(axis=0), np.finfo(float).tiny)
    return rates[order], {entry_name(lin, names, *each): share[order] for each, share in zip(of, shares)}


def _rows(s: Array, zero: float, value: float | None) -> Array:
    size = np.abs(s)
    with np.errstate(divide="ignore"):
        constant = np.where(s.real != 0.0, -1.0 / s.real, np.inf)
    columns = [s.real, s.imag, size / (2 * np.pi), np.where(size > 0.0, -s.real / np.where(size > 0.0, size, 1.0), 0.0)]
    columns += [constant, np.full(len(s), zero), *([] if value is None else [np.full(len(s), value)])]
    return np.column_stack(columns) + 0.0


def _stability(s: Array, shares: Mapping[str, Array]) -> str:
    """In words: what grows, and how fast."""
    if not len(s) or s.real.max() <= PAIRED * np.abs(s).max():
        still = np.count_nonzero(s.real >= 0.0)
        slow = np.count_nonzero(s.real >= -PAIRED * np.abs(s)) - still
        words = [f"{still} of the poles {'does' if still == 1 else 'do'} not decay"] if still else []
        words += [f"{slow} of the poles hardly {'decays' if slow == 1 else 'decay'}"] if slow else []
        return f"neutral: {', '.join(words)}" if words else "stable"
    k = int(np.argmax(s.real))
    parts = sorted(shares, key=lambda name: -round(float(shares[name][k]), 6))[:NAMED]  # equal ones in their own order
    names = ", ".join(name for name in parts if shares[name][k] > SHARE)
    grown = f"{names or 'a motion'} grow{'s' if ',' not in names else ''} as e^(t/{1 / s[k].real:.3g} s)"
    swings = f", swinging at {abs(s[k].imag) / (2 * np.pi):.4g} Hz" if s[k].imag else ""
    return f"unstable: {grown}{swings}"


def _unseen(lin: Linearised, point: Point, s: Array) -> str:
    """What the slowest poles of a large network leave open where none of them grows."""
    if lin.size <= DENSE or (len(s) and s.real.max() > PAIRED * np.abs(s).max()) or passive(point.machine, lin.g):
        return ""
    return f" as far as the slowest {len(s)} poles tell; whether faster motions grow was not looked at"


ANALYSIS = Analysis(
    "poles",
    OPTIONS,
    check,
    run,
    refuse=lambda task, options: refuse_delays(task.machine.system, "poles()", INFINITE),
)
