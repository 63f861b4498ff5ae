"""Pictures of results over frequency: Bode (gain and phase), Nyquist, Nichols, and densities of noise.

`plot out.v` draws a Bode diagram, `plot nyquist(out.v)` and `plot nichols(out.v)` the others; `db(x)`, `gain(x)` and
`phase(x)` (rad, continuous) are series of their own in plots and measures.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from netsim.results.measuring.subjects import NOISE, subject_of_expression
from netsim.results.over_frequency.curves import COLOURS, DASHES, STYLE, expression_series, legend_above, pretty
from netsim.results.over_frequency.members import members
from netsim.results.samples import Samples
from netsim.results.series import unit_of
from netsim.text.expressions.typed import Scope
from netsim.text.syntax import Call, Expr, Plot

Array = np.ndarray
KINDS = ("nyquist", "nichols")
MOST_PANELS = 6


@dataclass(frozen=True, eq=False)
class Curve:
    """A series over frequency (Hz): its label, unit, and number of its run."""

    label: str
    unit: str
    frequency: Array
    values: Array
    run: int


def drawn(runs: Sequence[Samples], plots: Iterable[Plot], parameters: Scope | None, title: str = "") -> Any:
    """The figure of plot lines (of all signals without any) over runs over frequency."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    panels = list(_panels(runs, list(plots), parameters))[:MOST_PANELS]
    rows = [2 if kind == "bode" and _turns(curves) else 1 for kind, curves in panels]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8.0, 0.7 + 2.2 * max(1, sum(rows))), layout="constrained")
        FigureCanvasAgg(figure)
        places = figure.subplots(max(1, sum(rows)), 1, squeeze=False)[:, 0]
        at = 0
        for (kind, curves), count in zip(panels, rows):
            _DRAW[kind](places[at : at + count], curves)
            at += count
        if title:
            figure.suptitle(title, fontsize=10, color="#b3261e")
        return figure


def _panels(runs: Sequence[Samples], plots: list[Plot], parameters: Scope | None) -> Iterator[tuple[str, list[Curve]]]:
    noises = any(subject_of_expression(expr) == NOISE for line in plots for expr in line.signals)
    if not plots or (not noises and all(run.attributes["analysis"] == NOISE for run in runs)):
        units = dict.fromkeys(s.unit for run in runs for s in run.signals)
        for unit in units:
            yield (
                "bode",
                [
                    Curve(_label(s.name, k, runs), unit, run.time, run.values[:, j], k)
                    for k, run in enumerate(runs)
                    for j, s in enumerate(run.signals)
                    if s.unit == unit
                ],
            )
    for line in plots:
        groups: dict[tuple[str, str], list[Curve]] = {}
        for expr in line.signals:
            kind, inner = _kind(expr)
            for k, words, member in _members(runs, inner):
                for name, dimension, values in expression_series(inner, member, parameters):
                    unit = unit_of(dimension)
                    curve = Curve(_label(name + words, k, runs), unit, member.time, values, k)
                    groups.setdefault((kind, unit), []).append(curve)
        yield from ((kind, curves) for (kind, _), curves in groups.items())


def _members(runs: Sequence[Samples], expr: Expr) -> Iterator[tuple[int, str, Samples]]:
    """Number, words and signals of what an expression speaks of in each run: the responses to one of several inputs, of
    one member of a family, or noise."""
    noise = subject_of_expression(expr) == NOISE
    for k, run in enumerate(runs):
        if noise == (run.attributes["analysis"] == NOISE):
            for words, columns in members([signal.name for signal in run.signals]).items():
                own = [*columns.values()]
                signals = tuple(replace(run.signals[j], name=name) for name, j in columns.items())
                yield k, words, replace(run, signals=signals, values=run.values[:, own])


def _kind(expr: Expr) -> tuple[str, Expr]:
    if isinstance(expr, Call) and expr.function in KINDS and len(expr.arguments) == 1:
        return expr.function, expr.arguments[0]
    if isinstance(expr, Call) and expr.function in LABELS:
        return expr.function, expr
    return "bode", expr


def _label(name: str, k: int, runs: Sequence[Samples]) -> str:
    return f"{name} ({runs[k].name or f'run{k + 1}'})" if len(runs) > 1 else name


def _turns(curves: Sequence[Curve]) -> bool:
    return any(np.iscomplexobj(curve.values) for curve in curves)


def _bode(places: Any, curves: Sequence[Curve]) -> None:
    from matplotlib.ticker import FuncFormatter

    unit = curves[0].unit
    for k, curve in enumerate(curves):
        size = np.abs(curve.values)
        shown = 20 * np.log10(np.maximum(size, np.finfo(float).tiny)) if unit == "" else size
        places[0].plot(curve.frequency, shown, label=curve.label, **_look(curve, k))
        if _turns(curves):
            places[1].plot(curve.frequency, np.degrees(phase(curve.values)), **_look(curve, k))
    if unit != "" and any((np.abs(curve.values) > 0.0).any() for curve in curves):
        places[0].set_yscale("log")
        places[0].yaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    _axes(places[0], "gain [dB]" if unit == "" else f"[{pretty(unit)}]")
    if _turns(curves):
        _axes(places[1], "phase [°]", legend=False)
    places[-1].set_xlabel("frequency [Hz]")


def _plain(places: Any, curves: Sequence[Curve], label: str = "") -> None:
    for k, curve in enumerate(curves):
        shown = np.degrees(curve.values) if curve.unit == "rad" else curve.values
        places[0].plot(curve.frequency, shown, label=curve.label, **_look(curve, k))
    _axes(places[0], label or f"[{pretty(curves[0].unit) if curves[0].unit else '1'}]")
    places[0].set_xlabel("frequency [Hz]")


def _nyquist(places: Any, curves: Sequence[Curve]) -> None:
    (axes,) = places
    for k, curve in enumerate(curves):
        axes.plot(curve.values.real, curve.values.imag, label=curve.label, **_look(curve, k))
    axes.plot([-1.0], [0.0], "+", color="#b3261e")
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel("real part")
    _axes(axes, "imaginary part", logarithmic=False)


def _nichols(places: Any, curves: Sequence[Curve]) -> None:
    (axes,) = places
    for k, curve in enumerate(curves):
        size = 20 * np.log10(np.maximum(np.abs(curve.values), np.finfo(float).tiny))
        axes.plot(np.degrees(phase(curve.values)), size, label=curve.label, **_look(curve, k))
    axes.plot([-180.0], [0.0], "+", color="#b3261e")
    axes.set_xlabel("phase [°]")
    _axes(axes, "gain [dB]", logarithmic=False)


def _axes(axes: Any, label: str, legend: bool = True, logarithmic: bool = True) -> None:
    from matplotlib.ticker import EngFormatter

    if logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_ylabel(label)
    if legend:
        legend_above(axes)


def _look(curve: Curve, k: int) -> dict[str, Any]:
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[curve.run % len(DASHES)], "linewidth": 1.6}


def phase(values: Array) -> Array:
    """The angle of complex values in rad, continuous along the series, its first value within half a turn of 0."""
    return np.unwrap(np.angle(values), axis=0)


LABELS = {"db": "gain [dB]", "phase": "phase [°]", "real": "", "imag": ""}
"""Series of a response on a plain axis, and its words ('' for the unit)."""
_DRAW: dict[str, Callable[..., None]] = {
    "bode": _bode,
    **{name: partial(_plain, label=label) for name, label in LABELS.items()},
    "nyquist": _nyquist,
    "nichols": _nichols,
}
