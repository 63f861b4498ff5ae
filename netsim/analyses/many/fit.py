"""`run fit(to = "measured.csv", signals = [...], parameters = [R = 1 .. 10 Ohm])`: values of parameters and starts with
which a run follows what was measured.

Least squares of (signal - measured)/weight at the measured instants, over all experiments, by SciPy's trust-region
method with bounds. Its Jacobian is exact: the variational equations of the same run (netsim.analyses.sensitivity).

At the solution J'J/s^2 is the information that the data hold, with s^2 the variance of the residuals; its inverse is
the covariance of the values. A combination of parameters that the data do not see has a vanishing singular value of J,
scaled by the ranges: it is named, and the values along it mean nothing. Source: D. Bates, D. Watts, Nonlinear
Regression Analysis and Its Applications, 1988.
"""

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.many.ranges import Range, range_of
from netsim.analyses.option_values import EXPRESSION, NUMBER, WORD, Kind, items_of, whole_numbers
from netsim.analyses.sensitivity.changed_values import task_with_values
from netsim.analyses.sensitivity.forward import method_notes
from netsim.analyses.sensitivity.sensitivity import KINDS as RUN
from netsim.analyses.sensitivity.sensitivity import DifferentiatedRun, differentiate, requested
from netsim.analyses.sensitivity.varied import dimension_of
from netsim.network.given import written_starts
from netsim.network.network import Network
from netsim.results.files import read, writable, write_atomically
from netsim.results.samples import Figure, Samples, Signal
from netsim.simulate.options import TransientOptions, check_options
from netsim.text.columns import counted
from netsim.text.errors import InputError, Problem, SimulationError, Span
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.typed import evaluate, span_of
from netsim.text.syntax import Expr, String
from netsim.text.units import NO_DIMENSION, format_dimension

Array = np.ndarray
KINDS: dict[str, Kind] = {
    **{name: kind for name, kind in RUN.items() if name not in ("of", "to", "sample", "every")},
    **dict.fromkeys(("to", "signals", "parameters", "weights", "write"), EXPRESSION),
    **dict.fromkeys(("starts", "seed", "iterations", "confidence"), NUMBER),
    "loss": WORD,
}
WHOLE = {"starts": 0, "seed": 0, "iterations": 1}
"""Whole numbers with their least values."""
LOSSES = ("linear", "soft_l1", "huber", "cauchy", "arctan")
EXAMPLE = 'fit(to = "measured.csv", signals = [b.v], parameters = [r1.R = 1 .. 10 kOhm])'
UNSEEN = 1e-7
"""A singular value of the scaled Jacobian below this part of the largest: no data tell this combination."""
AMONG = 0.1
"""A parameter with a larger share in such a combination is named."""
TIED = 0.95
"""Correlations beyond this are told."""


@dataclass(frozen=True, eq=False)
class FitOptions:
    """The run; files of experiments; signals and their weights (an error of so much counts 1; none: the range of the
    data); what is fitted, in which ranges; the loss; starting points of a global search; the confidence of intervals;
    the netlist that is written with the values found."""

    run: TransientOptions
    files: tuple[str, ...]
    signals: tuple[Expr, ...]
    weights: tuple[float, ...]
    ranges: tuple[Range, ...]
    spans: Mapping[str, Span | None]
    loss: str = "linear"
    starts: int = 1
    seed: int = 0
    iterations: int = 100
    confidence: float = 0.95
    write: str = ""


@dataclass(frozen=True, eq=False)
class Experiment:
    """Instants and measured values (instants, signals), not a number where nothing was measured."""

    file: str
    time: Array
    values: Array


def check(options: Mapping[str, Any], line: OptionSource) -> FitOptions:
    """The options of a run line or call; raises `InputError` with all that is wrong."""
    spans = line.spans
    wrong = list[Problem]()
    for name in ("to", "signals", "parameters"):
        if name not in options:
            wrong.append(Problem("E422", f"fit() needs '{name}'", spans.get(""), hint=EXAMPLE))
        elif not items_of(options[name]):
            wrong.append(Problem("E422", f"'{name}' of fit() lists nothing", spans.get(name), hint=EXAMPLE))
    wrong += whole_numbers(options, WHOLE, spans)
    if (loss := options.get("loss", "linear")) not in LOSSES:
        wrong.append(Problem("E424", f"loss must be one of {', '.join(LOSSES)}, not '{loss}'", spans.get("loss")))
    if wrong:
        raise InputError(wrong)
    files = tuple(_file(each) for each in items_of(options["to"]))
    signals = items_of(options["signals"])
    ranges = tuple(range_of(each, line.network, line.scope) for each in items_of(options["parameters"]))
    weights = _weights(options.get("weights"), signals, line)
    given = {n: options[n] for n in options if n in RUN and n not in ("of", "to")}
    last = max(float(_data(file)["time"][-1]) for file in files)
    run = check_options("fit", {"stop": last, **given}, spans)
    whole = {n: int(options[n]) for n in WHOLE if n in options}
    confidence = float(options.get("confidence", 0.95))
    write = _text(options.get("write"))
    return FitOptions(
        run, files, signals, weights, ranges, spans, loss, confidence=confidence, write=write, **whole
    )  # fmt: skip


def _text(given: Any) -> str:
    return given.text if isinstance(given, String) else ""


def _weights(given: Any, signals: Sequence[Expr], line: OptionSource) -> tuple[float, ...]:
    """An error of each signal that counts 1 (SI); none where the ranges of the data do."""
    if given is None:
        return ()
    found = tuple(float(evaluate(each, line.scope).value) for each in items_of(given))
    if len(found) != len(signals) or min(found) <= 0.0:
        message = f"'weights' lists one positive error for each of the {counted(len(signals), 'signal')}"
        raise InputError(Problem("E423", message, line.spans.get("weights"), hint="weights = [10 mV, 1 mA]"))
    return found


def _file(expr: Expr) -> str:
    if isinstance(expr, String):
        return expr.text
    hint = 'a CSV file with a column `time [s]` and one for each signal: to = "measured.csv"'
    raise InputError(Problem("E424", "'to' names files of measurements", expr.span, hint=hint))


def _data(file: str) -> Any:
    found = read(Path(file))
    if isinstance(found, dict) or "time" not in found.coords:
        raise InputError(Problem("E432", f"'{file}' has no column 'time [s]'"))
    return found


def _experiments(options: FitOptions) -> list[Experiment]:
    """What was measured; raises `InputError` (E473) for a signal without a column."""
    found, names = [], [show_expression(each) for each in options.signals]
    for file in options.files:
        data = _data(file)
        for name, expr in zip(names, options.signals):
            if name not in data:
                hint = f"its columns are {', '.join(map(str, data.data_vars))}"
                raise InputError(Problem("E473", f"'{file}' has no column '{name}'", expr.span, hint=hint))
        values = np.column_stack([np.asarray(data[name], float) for name in names])
        time = np.asarray(data["time"], float)
        used = (time > 0.0) & (time <= options.run.stop * (1.0 + 1e-12))
        found.append(Experiment(file, time[used], values[used]))
    return found


@dataclass(eq=False)
class Residuals:
    """Residuals and their Jacobian at the last values asked for: one run gives both, that which was `done` last."""

    task: Task
    options: FitOptions
    experiments: Sequence[Experiment]
    weights: Array
    runs: int = 0
    at: bytes = b""
    found: tuple[Array, Array] = (np.zeros(0), np.zeros((0, 0)))
    done: DifferentiatedRun | None = None

    def evaluate(self, values: Array) -> tuple[Array, Array]:
        """(residuals, Jacobian); a run that fails counts as far away."""
        if values.tobytes() != self.at:
            self.at = values.tobytes()
            shown = self.signals(values)
            residuals, jacobian = [], []
            for (signals, slopes), each in zip(shown, self.experiments):
                known = np.isfinite(each.values)
                residuals.append(((signals - each.values) / self.weights)[known])
                jacobian.append((slopes / self.weights)[:, known].T)
            self.found = np.concatenate(residuals), np.concatenate(jacobian)
        return self.found

    def signals(self, values: Array) -> list[tuple[Array, Array]]:
        """Signals (instants, m) and their derivatives (p, instants, m) at the instants of every experiment."""
        o, names = self.options, [each.name for each in self.options.ranges]
        task = task_with_values(self.task, dict(zip(names, values)))
        every = np.unique(np.concatenate([each.time for each in self.experiments]))
        self.done = done = differentiate(task, replace(o.run, stop=float(every[-1])), names, o.spans, o.signals, every)
        self.runs += 1
        rows = np.flatnonzero(requested(done.found.time, every))[-len(every) :]
        plain = np.column_stack([series for series, _ in done.shown().values()])[rows]
        slopes = np.array([np.column_stack(list(done.changes(j).values()))[rows] for j in range(len(names))])
        return [(plain[k], slopes[:, k]) for k in (np.searchsorted(every, e.time) for e in self.experiments)]


def run(task: Task, options: FitOptions) -> Samples:
    """The fit: of the first experiment, signals with what was measured and what is left; values as figures."""
    from scipy.optimize import least_squares

    began, cpu = clock.perf_counter(), clock.thread_time()
    if options.write:
        writable(Path(options.write))
    experiments = _experiments(options)
    ranges = options.ranges
    low, high = np.array([r.low for r in ranges]), np.array([r.high for r in ranges])
    sizes = np.nanmax([np.ptp(e.values, axis=0) for e in experiments], axis=0)
    weights = np.array(options.weights or np.where(sizes > 0.0, sizes, 1.0))
    work = Residuals(task, options, experiments, weights)
    best: Any = None
    failures: list[SimulationError] = []
    for first in _starting_points(task, options, low, high):
        try:
            found = least_squares(
                lambda x: work.evaluate(x)[0], first, lambda x: work.evaluate(x)[1], (low, high), x_scale=high - low,
                loss=options.loss, max_nfev=options.iterations, xtol=1e-10, ftol=1e-12, gtol=1e-12,
            )  # fmt: skip
        except SimulationError as error:
            failures.append(error)
            continue
        best = found if best is None or found.cost < best.cost else best
    if best is None:
        raise failures[0]
    residuals, jacobian = work.evaluate(best.x)
    figures, notes, doubts = _judged(task, options, best.x, residuals, jacobian)
    if options.write:
        text = fitted_text(task.network, dict(zip((r.name for r in ranges), best.x.tolist())))
        write_atomically(Path(options.write), lambda place: place.write_text(text, encoding="utf-8"))
    first = experiments[0]
    shown = work.signals(best.x)[0][0]
    warnings, broken = work.done.told() if work.done else ((), ())
    notes += method_notes(options.run, work.done.found.run.options) if work.done else []
    names = [show_expression(each) for each in options.signals]
    columns = np.hstack([shown, first.values, shown - first.values])
    heads = [*names, *(f"measured({n})" for n in names), *(f"residual({n})" for n in names)]
    data = _data(first.file)
    units = [str(data[n].attrs.get("units", "1")).replace("1", "") for n in names] * 3
    attributes = {
        "analysis": "fit",
        "method": options.loss,
        "iterations": int(best.nfev),
        "runs": work.runs,
        "cost": float(best.cost),
        "ended": str(best.message),
        "experiments": ", ".join(options.files),
        "values": "; ".join(f"{r.name} = {x!r}" for r, x in zip(ranges, best.x.tolist())),
        "notes": "; ".join(notes),
        "wall_seconds": clock.perf_counter() - began,
        "cpu_seconds": clock.thread_time() - cpu,
        "netlist": task.network.text,
    }
    signals = tuple(Signal(n, u) for n, u in zip(heads, units))
    return Samples(
        "", first.time, signals, columns, np.zeros((0, 3)), attributes, figures=figures,
        warnings=(*warnings, *doubts), broken=broken, unseen={},
    )  # fmt: skip


def _starting_points(task: Task, options: FitOptions, low: Array, high: Array) -> Array:
    """The present values, moved into the ranges, then points of a Latin hypercube."""
    from scipy.stats import qmc

    present = np.array([np.clip(r.present(task.values), r.low, r.high) for r in options.ranges])
    if options.starts < 2:
        return present[None]
    points = qmc.LatinHypercube(len(low), seed=options.seed).random(options.starts - 1)
    return np.vstack([present, low + points * (high - low)])


def fitted_text(network: Network, values: Mapping[str, float]) -> str:
    """The netlist with these values (SI) where it writes others; what it leaves to defaults stands in a remark."""
    places, left = list[tuple[Span, str]](), list[str]()
    for name, value in values.items():
        span = _place(network, name)
        if span is not None and span.file == network.file:
            places.append((span, repr(value)))
        else:
            left.append(f"# fitted, and not written in this file: {name} = {value!r} (SI)")
    lines = network.text.split("\n")
    for span, text in sorted(places, key=lambda each: (-each[0].line, -each[0].column)):
        line = lines[span.line - 1]
        lines[span.line - 1] = line[: span.column - 1] + text + line[span.end_column - 1 :]
    return "\n".join([*left, *lines])


def _place(network: Network, name: str) -> Span | None:
    """Where the value of a parameter or a start is written."""
    start = written_starts(network).get(name)
    if start is not None:
        return span_of(start.value)
    head, _, last = name.rpartition(".")
    instance = next((i for i in network.instances if i.name == head), None)
    if instance is not None:
        given = next((b.value for b in instance.text.bindings if b.name == last), None)
    else:
        definition = network.top.definitions.get(name)
        given = definition.value if definition else None
    return span_of(given) if given is not None else None


def _judged(
    task: Task, options: FitOptions, values: Array, residuals: Array, jacobian: Array
) -> tuple[tuple[Figure, ...], list[str], list[Problem]]:
    """Values with their confidence intervals; what is tied, and what the data do not tell."""
    from scipy.stats import t as student

    names = [r.name for r in options.ranges]
    size = np.array([r.high - r.low for r in options.ranges])
    left, free = jacobian * size, max(1, len(residuals) - len(values))
    _, singular, vectors = np.linalg.svd(left, full_matrices=False)
    seen = singular > UNSEEN * singular.max(initial=1e-300)
    inverse = (vectors[seen].T / singular[seen] ** 2) @ vectors[seen]
    covariance = inverse * np.outer(size, size) * float(residuals @ residuals) / free
    sigma = np.sqrt(np.diag(covariance))
    width = student.ppf(0.5 + options.confidence / 2, free) * sigma
    figures, notes, doubts = list[Figure](), list[str](), list[Problem]()
    unseen = [vectors[k] for k in np.flatnonzero(~seen)]
    for direction in unseen:
        part = np.abs(direction) > AMONG
        among, sigma[part], width[part] = [n for n, yes in zip(names, part) if yes], np.inf, np.inf
        hint = "fix one of them, or measure another signal"
        word_ = "a combination of " if len(among) > 1 else ""
        doubts.append(
            Problem(
                "W517", f"the data do not tell {word_}{', '.join(among)}", options.spans.get("parameters"), hint=hint
            )
        )
    for r, x, s, w in zip(options.ranges, values, sigma, width):
        dimension = dimension_of(task, r.name)
        unit = "" if dimension in (None, NO_DIMENSION) else format_dimension(dimension)
        figures += [Figure(r.name, float(x), unit), Figure(f"sd({r.name})", float(s), unit)]
        figures += [Figure(f"low({r.name})", float(x - w), unit), Figure(f"high({r.name})", float(x + w), unit)]
        if min(x - r.low, r.high - x) <= 1e-6 * (r.high - r.low):
            notes.append(f"{r.name} ends at a bound of its range")
    with np.errstate(all="ignore"):
        ties = covariance / np.outer(sigma, sigma)
    for i, j in zip(*np.triu_indices(len(names), 1)):
        if abs(ties[i, j]) > TIED and not unseen:
            notes.append(f"{names[i]} and {names[j]} are tied: correlation {ties[i, j]:.4f}")
    notes.append(f"{counted(len(residuals), 'residual')}, {counted(len(values), 'value')}")
    return tuple(figures), notes, doubts


ANALYSIS = Analysis("fit", KINDS, check, run)
