"""The `plot` lines of a netlist -> one figure, a panel per line (and per unit, where a line mixes units), as PNG or
SVG.

Expressions (`a.x - b.x`) are evaluated on the saved series. Axes carry units with readable prefixes. Nothing needs a
display.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from netsim.results.files import writable, write_atomically
from netsim.results.over_cases import pictures as over_cases
from netsim.results.over_frequency.curves import COLOURS, DASHES, STYLE, expression_series, legend_above, scale
from netsim.results.over_frequency.pictures import drawn
from netsim.results.over_frequency.spectra import bars
from netsim.results.over_parameters import characteristics
from netsim.results.over_parameters import pictures as over_parameters
from netsim.results.over_parameters.pictures import is_sensitivity
from netsim.results.samples import PERIOD, Samples
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.from_python import path_given
from netsim.text.expressions.typed import Scope
from netsim.text.syntax import Plot
from netsim.text.units import Dimension, format_dimension, parse_unit

PICTURES = (".png", ".svg")
MOST_POINTS = 8000
MOST_PANELS = 8


@dataclass(frozen=True, eq=False)
class Line:
    """One series in a panel: its name, its run's number and name ('' where there is only one)."""

    name: str
    time: np.ndarray
    values: np.ndarray
    run: int = 0
    run_name: str = ""

    @property
    def label(self) -> str:
        return f"{self.name} ({self.run_name})" if self.run_name else self.name


@dataclass(frozen=True)
class Panel:
    """Lines of one dimension that share their axes."""

    dimension: Dimension
    lines: tuple[Line, ...]


def plot(
    runs: Samples | Sequence[Samples],
    plots: Iterable[Plot],
    path: Path | str,
    parameters: Scope | None = None,
    title: str = "",
) -> Path:
    """Draw the plot lines (the saved signals without any) over all runs into a .png or .svg file and return its path.

    `parameters` resolves the names of params in plotted expressions. Raises `InputError` for an unknown format or
    signal.
    """
    path, runs = check_picture(path), [runs] if isinstance(runs, Samples) else runs
    runs = [replace(run, values=np.clip(run.values, -over_cases.FARTHEST, over_cases.FARTHEST)) for run in runs]
    return write_atomically(path, lambda place: _save(_figure(runs, plots, parameters, title), place))


@dataclass(frozen=True, eq=False)
class Picture:
    """A drawn figure, which a notebook shows: `figure` is matplotlib's, to be changed at will."""

    figure: Any

    def save(self, path: Path | str) -> Path:
        """Write a .png or .svg file and return its path; raises `InputError` where that cannot be done."""
        return write_atomically(check_picture(path), lambda place: _save(self.figure, place))

    def _repr_png_(self) -> bytes:
        file = BytesIO()
        self.figure.savefig(file, format="png", dpi=100)
        return file.getvalue()

    def __repr__(self) -> str:
        return f"<Picture of {', '.join(line.get_label() for axes in self.figure.axes for line in axes.get_lines())}>"


def picture_of(runs: Sequence[Samples], plots: Iterable[Plot], parameters: Scope | None = None) -> Picture:
    """The same as `plot` draws, to be shown or changed."""
    return Picture(_figure(runs, plots, parameters))


def _figure(runs: Sequence[Samples], plots: Iterable[Plot], parameters: Scope | None, title: str = "") -> Any:
    """The first sweep or sensitivity, or else runs over time, or where there are none, operating points, or those over
    frequency."""
    if (study := study_in(runs)) is not None:
        draw = over_cases.drawn if study.axis == "case" else over_parameters.drawn
        return draw(study, list(plots), title or _title([study]))
    over_time = [samples for samples in runs if samples.axis == "time"]
    if not over_time and (curve := next(filter(characteristics.is_characteristic, runs), None)):
        return characteristics.drawn(curve, list(plots), parameters, title or _title([curve]))
    if over_time or not any(samples.axis == "frequency" for samples in runs):
        return _drawn(panels(over_time, plots, parameters), title or _title(over_time), over_time)
    return drawn([samples for samples in runs if samples.axis == "frequency"], plots, parameters, title)


def study_in(runs: Sequence[Samples]) -> Samples | None:
    """The first sweep or sensitivity among runs. Its picture shows all that it found, unless names are given: plot
    lines name signals, which are kept for them."""
    return next((s for s in runs if (s.axis == "case" and s.table is not None) or is_sensitivity(s)), None)


def check_picture(path: Path | str) -> Path:
    """The path, if a picture can be written there; raises `InputError` otherwise."""
    path = path_given("path", path)
    if path.suffix.lower() not in PICTURES:
        raise InputError(Problem("E433", f"'{path}' cannot be drawn", hint=f"the formats are {', '.join(PICTURES)}"))
    return writable(path)


def _title(runs: Sequence[Samples]) -> str:
    return "; ".join(samples.message for samples in runs if not samples.finished)


# --------------------------------------------------------------------------------------------------- panels


def panels(runs: Sequence[Samples], plots: Iterable[Plot], parameters: Scope | None = None) -> list[Panel]:
    """What there is to draw: a panel per plot line and dimension, the runs together."""
    lines = list(plots)
    if not lines:
        return _grouped(_saved(runs))[:MOST_PANELS]
    return [panel for line in lines for panel in _grouped(_series(line, runs, parameters))]


def _saved(runs: Sequence[Samples]) -> Iterator[tuple[Dimension, Line]]:
    for k, samples in enumerate(runs):
        for j, signal in enumerate(samples.signals):
            yield (
                parse_unit(signal.unit).dimension,
                Line(signal.name, samples.time, samples.values[:, j], k, _run_name(k, runs)),
            )


def _series(line: Plot, runs: Sequence[Samples], parameters: Scope | None) -> Iterator[tuple[Dimension, Line]]:
    for k, samples in enumerate(runs):
        for expr in line.signals:
            for name, dimension, values in expression_series(expr, samples, parameters):
                yield dimension, Line(name, samples.time, values, k, _run_name(k, runs))


def _run_name(k: int, runs: Sequence[Samples]) -> str:
    return (runs[k].name or f"run{k + 1}") if len(runs) > 1 else ""


def _grouped(series: Iterable[tuple[Dimension, Line]]) -> list[Panel]:
    groups: dict[Dimension, list[Line]] = {}
    for dimension, line in series:
        groups.setdefault(dimension, []).append(line)
    return [Panel(dimension, tuple(lines)) for dimension, lines in groups.items()]


# --------------------------------------------------------------------------------------------------- drawing


def _drawn(panels_: Sequence[Panel], title: str, runs: Sequence[Samples] = ()) -> Any:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    spectra = any(PERIOD in samples.attributes for samples in runs)
    with matplotlib.rc_context(STYLE):
        count = max(1, len(panels_))
        figure = Figure(figsize=(8.0, 0.7 + 2.3 * count), layout="constrained")
        FigureCanvasAgg(figure)
        rows = figure.subplots(count, 1 + spectra, sharex="col", squeeze=False)
        axes = rows[:, 0]
        times = [line.time for panel in panels_ for line in panel.lines]
        factor, unit = scale("s", max((float(t[-1]) for t in times if len(t)), default=1.0))
        for row, panel in zip(rows, panels_):
            scaled = _panel(row[0], panel, factor)
            if spectra:
                found = [runs[line.run].beside.get(f"amplitude({line.name})") for line in panel.lines]
                bars(row[1], panel.lines, found, *scaled)
        axes[-1].set_xlabel(f"time [{unit}]")
        if spectra:
            rows[-1, 1].set_xlabel("harmonic")
        figure.align_ylabels(axes)
        if title:
            figure.suptitle(title, fontsize=10, color="#b3261e")
        return figure


def _save(figure: Any, path: Path) -> None:
    import matplotlib

    stamp: dict[str, Any] = {"metadata": {"Date": None}} if path.suffix.lower() == ".svg" else {"dpi": 150}
    with matplotlib.rc_context(STYLE):
        figure.savefig(path, **stamp)


def _panel(axes: Any, panel: Panel, time_factor: float) -> tuple[float, str]:
    """The curves of a panel; factor and unit of its values."""
    values = np.concatenate([line.values for line in panel.lines])
    values = values[np.isfinite(values)]
    largest = float(np.abs(values).max()) if len(values) else 0.0
    factor, unit = scale(format_dimension(panel.dimension), largest)
    names = list(dict.fromkeys(line.name for line in panel.lines))
    for i, line in enumerate(panel.lines):
        time, series = thinned(line.time, line.values)
        # a curve under another one stays visible
        width = 2.8 - 1.3 * i / (len(panel.lines) - 1) if len(panel.lines) > 1 else 1.6
        look = {
            "color": COLOURS[names.index(line.name) % len(COLOURS)],
            "linestyle": DASHES[line.run % len(DASHES)],
            "linewidth": width,
        }
        axes.plot(time * time_factor, series * factor, label=line.label, **look)
    if len(values) and np.ptp(values) <= 1e-9 * largest:  # a constant: show it as one, not its last digits
        axes.set_ylim(*sorted((0.9 * values[0] * factor, 1.1 * values[0] * factor)) if largest else (-1.0, 1.0))
    axes.ticklabel_format(axis="y", useOffset=False)
    if len(panel.lines) == 1 and len(panel.lines[0].label) <= 24:
        axes.set_ylabel(f"{panel.lines[0].label} [{unit}]")
        return factor, unit
    axes.set_ylabel(f"[{unit}]")
    legend_above(axes)
    return factor, unit


def thinned(time: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At most `MOST_POINTS` points that draw the same curve: the least and the greatest value of each stretch, and both
    ends."""
    if len(values) <= MOST_POINTS:
        return time, values
    size = -(-len(values) // (MOST_POINTS // 2 - 1))
    whole = len(values) // size * size
    blocks = values[:whole].reshape(-1, size)
    first = np.arange(len(blocks)) * size
    chosen = np.unique(
        np.concatenate([[0, len(values) - 1], first + blocks.argmin(axis=1), first + blocks.argmax(axis=1)])
    )
    return time[chosen], values[chosen]
