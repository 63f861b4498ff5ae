"""Pictures of operating points along a curve: the saved signals over what is swept, a curve for each of a family."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from netsim.results.over_frequency.curves import COLOURS, DASHES, STYLE, expression_series, legend_above, reading, scale
from netsim.results.samples import Samples
from netsim.text.expressions.typed import Scope
from netsim.text.syntax import Plot
from netsim.text.units import format_dimension, parse_unit

Array = np.ndarray
MOST_PANELS = 8
MOST_NAMED = 8
"""Curves with a legend: of more the first and the last one are named."""


def is_characteristic(samples: Samples) -> bool:
    """Whether samples are operating points along a curve."""
    return samples.axis == "point"


def drawn(samples: Samples, plots: Sequence[Plot], parameters: Scope | None = None, title: str = "") -> Any:
    """The figure of plotted expressions, of the saved signals without any. Raises `InputError` for unknown names."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    family = [name for name in str(samples.attributes.get("family", "")).split(", ") if name]
    panels = [each for line in plots for expr in line.signals for each in expression_series(expr, samples, parameters)]
    panels = panels or [
        (s.name, parse_unit(s.unit).dimension, samples.series(s.name)) for s in samples.signals[1 + len(family) :]
    ]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8.0, 0.7 + 2.6 * max(1, len(panels[:MOST_PANELS]))), layout="constrained")
        FigureCanvasAgg(figure)
        rows = figure.subplots(max(1, len(panels[:MOST_PANELS])), 1, squeeze=False)[:, 0]
        for axes, (name, dimension, series) in zip(rows, panels):
            _panel(axes, samples, family, _scaled(series, name, format_dimension(dimension)))
        figure.suptitle(title, fontsize=10)
        return figure


def _panel(axes: Any, samples: Samples, family: Sequence[str], series: tuple[Array, str]) -> None:
    units = {signal.name: signal.unit for signal in samples.signals}
    over, (y, beside) = samples.signals[0], series
    x, below = _scaled(samples.values[:, 0], over.name, over.unit)
    given = samples.values[:, 1 : 1 + len(family)]
    changes = np.flatnonzero(np.any(np.diff(given, axis=0) != 0.0, axis=1)) + 1
    curves = np.split(np.arange(len(x)), changes)
    for k, rows in enumerate(curves):
        named = len(curves) <= MOST_NAMED or k in (0, len(curves) - 1)
        words = ", ".join(f"{n} = {reading(v, units[n])}" for n, v in zip(family, given[rows[0]])) if named else ""
        look: dict[str, Any] = {
            "color": COLOURS[k % len(COLOURS)],
            "linestyle": DASHES[k // len(COLOURS) % len(DASHES)],
        }
        axes.plot(x[rows], y[rows], label=words or None, linewidth=1.6, **look)
    if family:
        legend_above(axes)
    axes.set_xlabel(below)
    axes.set_ylabel(beside)


def _scaled(values: Array, name: str, unit: str) -> tuple[Array, str]:
    known = values[np.isfinite(values)]
    factor, label = scale(unit or "1", float(np.abs(known).max()) if len(known) else 0.0)
    return values * factor, f"{name} [{label}]"
