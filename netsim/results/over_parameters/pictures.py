"""Pictures of sensitivities, each derivative times the value of its parameter: curves over time of how far a signal
moves when a parameter grows, as a share of it, and bars of how far measures do, as shares of them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from netsim.results.over_frequency.curves import COLOURS, DASHES, STYLE, columns_named, legend_above, scale
from netsim.results.samples import PARAMETER_VALUES, Samples
from netsim.text.syntax import Plot

Array = np.ndarray
MOST_PANELS = 8
MOST_CURVES = 8
"""Parameters with a curve: those by which a signal moves most."""
MOST_BARS = 12


def is_sensitivity(samples: Samples) -> bool:
    """Whether samples have derivatives by parameters."""
    return PARAMETER_VALUES in samples.attributes


def drawn(samples: Samples, plots: Sequence[Plot], title: str = "") -> Any:
    """The figure of a sensitivity: of the signals and measures that are named, of all without any. Raises `InputError`
    (E434) for another name."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    found = _Sensitivity(samples)
    names = columns_named(plots, [*found.curves, *found.shares], "{} has no derivatives here")[:MOST_PANELS]
    heights = [2.6 if name in found.curves else 0.9 + 0.22 * min(MOST_BARS, len(found.parameters)) for name in names]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8.0, 0.6 + sum(heights) if names else 2.0), layout="constrained")
        FigureCanvasAgg(figure)
        rows = figure.subplots(max(1, len(names)), 1, squeeze=False, height_ratios=heights or [1.0])[:, 0]
        for axes, name in zip(rows, names):
            (_curves if name in found.curves else _bars)(axes, found, name)
        if title:
            figure.suptitle(title, fontsize=10, color="#b3261e")
        return figure


class _Sensitivity:
    """Derivatives times the values of parameters: `curves` of signals and `shares` of measures, by parameter."""

    def __init__(self, samples: Samples):
        given = samples.attributes
        values = [float(text) for text in str(given[PARAMETER_VALUES]).split(", ")]
        self.time = samples.time
        self.parameters: dict[str, float] = dict(zip(str(given["parameters"]).split(", "), values))
        self.units = {signal.name: signal.unit or "1" for signal in samples.signals}
        series = {signal.name: samples.values[:, j] for j, signal in enumerate(samples.signals)}
        figures = {figure.name: figure.value for figure in samples.figures}
        if samples.axis == "row":  # derivatives at rest
            series, figures = {}, {name: float(column[0]) for name, column in series.items()}
        self.curves: Mapping[str, dict[str, Array]] = self._of(series)
        whole: Mapping[str, dict[str, Any]] = self._of(figures)
        self.shares = {
            name: {p: float(change) / abs(figures[name]) for p, change in changes.items()}
            for name, changes in whole.items()
            if figures[name]
        }

    def _of(self, known: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Of everything that has derivatives: these, times the values of the parameters, by parameter."""
        found = {
            name: {p: x * known[key] for p, x in self.parameters.items() if (key := f"d({name})/d({p})") in known}
            for name in known
        }
        return {name: each for name, each in found.items() if each}


def _curves(axes: Any, found: _Sensitivity, name: str) -> None:
    """The parameters that count most, in the signal's unit."""
    changes = found.curves[name]
    size = {p: float(np.abs(series[np.isfinite(series)]).max(initial=0.0)) for p, series in changes.items()}
    most = sorted(changes, key=lambda p: -size[p])[:MOST_CURVES]
    factor, unit = scale(found.units[name], max(size.values(), default=0.0))
    per_second, second = scale("s", float(np.abs(found.time).max(initial=0.0)))
    for k, p in enumerate(most):
        look: dict[str, Any] = {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k // len(COLOURS)]}
        axes.plot(found.time * per_second, changes[p] * factor, label=p, linewidth=1.6, **look)
    axes.set_xlabel(f"time [{second}]")
    axes.set_ylabel(f"p d({name})/dp [{unit}]")
    legend_above(axes)


def _bars(axes: Any, found: _Sensitivity, name: str) -> None:
    """The parameters that count most, the largest on top."""
    shares = found.shares[name]
    most = sorted(shares, key=lambda p: abs(shares[p]))[-MOST_BARS:]
    colours = [COLOURS[0] if shares[p] >= 0.0 else COLOURS[1] for p in most]
    axes.barh(np.arange(len(most)), [shares[p] for p in most], 0.7, color=colours)
    axes.set_yticks(np.arange(len(most)), most)
    axes.axvline(0.0, color="#7a828a", linewidth=0.8)
    axes.set_xlabel(f"p/{name} d({name})/dp")
