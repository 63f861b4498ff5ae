"""Pictures of a sweep: how signals fan out over the cases, how measures are distributed (histograms, with the cases
whose assertions do not hold in another colour), how they depend on what varies (curves and heat maps of a grid), and
whose share of the variance is how large (bars of Sobol indices)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from netsim.results.over_frequency.curves import COLOURS, STYLE, columns_named, legend_above, reading, scale
from netsim.results.samples import Samples
from netsim.text.syntax import Plot

Array = np.ndarray
MOST_PANELS = 8
MOST_CURVES = 10
"""Cases that are drawn one by one: more are a fan."""
FARTHEST = 1e300
"""Values beyond are drawn there: axes cannot be longer than the largest float."""
BINS = 40
"""Bars of a histogram at most."""
BANDS = ((0.0, 1.0, 0.15), (0.05, 0.95, 0.3), (0.25, 0.75, 0.5))
"""Shares of the cases between which a fan has a band, and how dark it is."""
FAILS = "#d1495b"
STATES = ("failed", "holds", "message", "doubtful", "warnings")


def drawn(samples: Samples, plots: Sequence[Plot], title: str = "") -> Any:
    """The figure of a sweep: of the signals and measures that are named, of all without any. Raises `InputError` (E434)
    for another name."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sweep = _Sweep(samples)
    names = columns_named(plots, list(sweep.columns), "the sweep has no {}")[:MOST_PANELS]
    with matplotlib.rc_context({**STYLE, "axes.xmargin": 0.02}):
        count = max(1, len(names))
        figure = Figure(figsize=(8.0, 0.7 + 2.6 * count), layout="constrained")
        FigureCanvasAgg(figure)
        for axes, name in zip(figure.subplots(count, 1, squeeze=False)[:, 0], names):
            _kind(sweep, name)(axes, sweep, name)
        figure.suptitle(title or _title(sweep), fontsize=10)
        return figure


class _Sweep:
    """The table of a sweep with what pictures ask it: `grid` names the parameters that have a dimension each."""

    def __init__(self, samples: Samples):
        self.table = samples.table
        self.figures = {each.name: each for each in samples.figures}
        self.grid = tuple(dim for dim in self.table.dims if dim not in ("case", "time"))
        self.finished = ~np.asarray(self.table["failed"].values, bool)
        self.holds = np.asarray(self.table["holds"].values, bool)
        self.doubtful = int(self.table["doubtful"].values.sum()) if "doubtful" in self.table.data_vars else 0
        self.time: Array = np.asarray(self.table["time"].values) if "time" in self.table.coords else np.zeros(0)

    @property
    def columns(self) -> Mapping[str, Any]:
        """Measures, then signals."""
        found = {str(name): self.table[name] for name in self.table.data_vars if name not in STATES}
        return {**{n: v for n, v in found.items() if "time" not in v.dims}, **found}

    def values(self, name: str) -> Array:
        """The values of a column or parameter that axes can hold."""
        return np.clip(np.asarray(self.table[name].values), -FARTHEST, FARTHEST)

    def unit(self, name: str) -> str:
        """The SI unit of a column, '1' for a pure number."""
        return str(self.table[name].attrs.get("units", "1"))

    def axis(self, name: str) -> tuple[Array, str]:
        """Values of a parameter in a readable unit, and the words for its axis."""
        values = self.values(name)
        factor, unit = _scaled(self.unit(name), values)
        return values * factor, f"{name} [{unit}]"

    def indices(self, name: str) -> dict[str, dict[str, Any]]:
        """S1 and ST of a measure by parameter."""
        given = [str(each) for each in self.table.coords if each not in ("case", "time")]
        found = {
            word: {p: self.figures[key] for p in given if (key := f"{word}({name}, {p})") in self.figures}
            for word in ("S1", "ST")
        }
        return {word: each for word, each in found.items() if each}


def _title(sweep: _Sweep) -> str:
    count, failed = sweep.finished.size, int((~sweep.finished).sum())
    words = [f"{count} cases"] + ([f"{failed} failed"] if failed else [])
    words += [f"{sweep.doubtful} doubtful"] if sweep.doubtful else []
    if (share := sweep.figures.get("yield")) is not None:
        words.append(f"yield {share.value:.1%}")
    return ", ".join(words)


def _kind(sweep: _Sweep, name: str) -> Callable[[Any, _Sweep, str], None]:
    if "time" in sweep.columns[name].dims:
        few = sweep.finished.sum() <= MOST_CURVES and len(sweep.grid) == 1
        return _curves if few else _fan
    if sweep.indices(name):
        return _bars
    return {0: _histogram, 1: _curve}.get(len(sweep.grid), _heat_map)


def _scaled(unit: str, values: Array) -> tuple[float, str]:
    known = values[np.isfinite(values)]
    return scale(unit, float(np.abs(known).max()) if len(known) else 0.0)


def _series(sweep: _Sweep, name: str) -> tuple[Array, Array, str, str]:
    """Times, (cases, times) of those that finished, and the words for both axes."""
    values = sweep.values(name).reshape(-1, len(sweep.time))[sweep.finished.ravel()]
    factor, unit = _scaled(sweep.unit(name), values)
    per_second, second = _scaled("s", sweep.time)
    return sweep.time * per_second, values * factor, f"time [{second}]", f"{name} [{unit}]"


def _fan(axes: Any, sweep: _Sweep, name: str) -> None:
    time, values, below, beside = _series(sweep, name)
    if len(values):
        for low, high, shade in BANDS:
            ends = np.quantile(values, (low, high), axis=0)
            label = "all" if high == 1.0 else f"{high - low:.0%}"
            axes.fill_between(time, *ends, color=COLOURS[0], alpha=shade, linewidth=0, label=label)
        axes.plot(time, np.median(values, axis=0), color=COLOURS[0], linewidth=1.6, label="median")
        legend_above(axes)
    axes.set_xlabel(below)
    axes.set_ylabel(beside)


def _curves(axes: Any, sweep: _Sweep, name: str) -> None:
    time, values, below, beside = _series(sweep, name)
    (parameter,) = sweep.grid
    given = sweep.values(parameter)[sweep.finished.ravel()]
    for k, (x, series) in enumerate(zip(given.tolist(), values)):
        label = f"{parameter} = {reading(x, '' if sweep.unit(parameter) == '1' else sweep.unit(parameter))}"
        axes.plot(time, series, color=_shade(k, len(given)), linewidth=1.6, label=label)
    legend_above(axes)
    axes.set_xlabel(below)
    axes.set_ylabel(beside)


def _shade(k: int, count: int) -> Any:
    import matplotlib

    return matplotlib.colormaps["viridis"](0.9 * k / max(1, count - 1))


def _histogram(axes: Any, sweep: _Sweep, name: str) -> None:
    values = sweep.values(name)
    known = np.isfinite(values)
    factor, unit = _scaled(sweep.unit(name), values)
    if known.any():
        edges = np.histogram_bin_edges(values[known] * factor, "auto")
        if not 2 <= len(edges) <= BINS + 1:
            edges = np.histogram_bin_edges(values[known] * factor, BINS)
        kinds = [(sweep.holds & known, "holds", COLOURS[0]), (~sweep.holds & known, "does not hold", FAILS)]
        parts, labels, colours = zip(*[each for each in kinds if each[0].any()])
        axes.hist([values[p] * factor for p in parts], edges, stacked=True, color=colours, label=labels, rwidth=0.94)
        if len(parts) > 1 or labels[0] != "holds":
            legend_above(axes)
    axes.set_xlabel(f"{name} [{unit}]")
    axes.set_ylabel("cases")


def _curve(axes: Any, sweep: _Sweep, name: str) -> None:
    (parameter,) = sweep.grid
    x, below = sweep.axis(parameter)
    values = sweep.values(name)
    factor, unit = _scaled(sweep.unit(name), values)
    axes.plot(x, values * factor, "o-", color=COLOURS[0], linewidth=1.6, markersize=4)
    if (broken := sweep.finished & ~sweep.holds).any():
        axes.plot(x[broken], values[broken] * factor, "o", color=FAILS, markersize=6, label="does not hold")
        legend_above(axes)
    axes.set_xlabel(below)
    axes.set_ylabel(f"{name} [{unit}]")


def _heat_map(axes: Any, sweep: _Sweep, name: str) -> None:
    """Over the first two parameters, the others at the middle of their values."""
    others = sweep.grid[2:]
    middle = tuple(len(sweep.values(p)) // 2 for p in others)
    at: Any = (slice(None), slice(None), *middle)
    values, holds = sweep.values(name)[at], sweep.holds[at]
    finished = sweep.finished[at]
    factor, unit = _scaled(sweep.unit(name), values)
    (x, below), (y, beside) = map(sweep.axis, sweep.grid[:2])
    picture = axes.pcolormesh(x, y, np.ma.masked_invalid(values.T * factor), cmap="viridis", shading="nearest")
    if (finished & ~holds).any():
        i, j = np.nonzero(finished & ~holds)
        axes.plot(x[i], y[j], "x", color=FAILS, markersize=5, label="does not hold")
        legend_above(axes)
    axes.grid(False)
    axes.figure.colorbar(picture, ax=axes, label=f"{name} [{unit}]")
    axes.set_xlabel(below)
    axes.set_ylabel(beside)
    if others:
        fixed = ", ".join(f"{p} = {reading(float(sweep.values(p)[k]), sweep.unit(p))}" for p, k in zip(others, middle))
        axes.set_title(f"at {fixed}", fontsize=9, loc="right")


def _bars(axes: Any, sweep: _Sweep, name: str) -> None:
    """First and total order by parameter, the largest on top."""
    indices = sweep.indices(name)
    order = sorted(indices["ST"], key=lambda p: indices["ST"][p].value)
    places = np.arange(len(order))
    for word, shift, colour, label in (("ST", 0.2, COLOURS[3], "total"), ("S1", -0.2, COLOURS[0], "first order")):
        values = [indices[word][p].value for p in order]
        axes.barh(places + shift, values, 0.38, color=colour, label=label)
    axes.set_yticks(places, order)
    axes.set_xlabel(f"share of the variance of {name}")
    legend_above(axes)
