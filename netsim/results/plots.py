"""The `plot` lines of a netlist -> one figure, a panel per line (and per unit, where a line mixes units), as PNG or
SVG.

Expressions (`a.x - b.x`) are evaluated on the saved series. Axes carry units with readable prefixes. Nothing needs a
display.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from netsim.equations.numbering import suffixes
from netsim.library.component import SECOND, plain_name
from netsim.network.network import Frame, name_text
from netsim.results.files import writable, written
from netsim.results.samples import Samples
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.sizes import flatten, shape
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Expr, Name, Part, Plot
from netsim.text.units import NO_DIMENSION, Dimension, format_dimension, parse_unit

PICTURES = (".png", ".svg")
MOST_POINTS = 8000
MOST_PANELS = 8

_PREFIXES = {-12: "p", -9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G"}
_TAKES_PREFIX = frozenset(["m", "s", "A", "V", "N", "Pa", "W", "J", "Ohm", "F", "H", "C", "Hz", "T", "S", "Wb"])
_RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_COLOURS = ("#1f5fa8", "#d1495b", "#2e8b57", "#e08e0b", "#6c4ab6", "#5b6770", "#0f8b8d", "#a44a3f")
_DASHES = ("-", "--", "-.", ":")
_STYLE: Any = {
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#7a828a", "axes.labelcolor": "#2b3138",
    "axes.axisbelow": True,
    "axes.xmargin": 0.01,
    "axes.grid": True, "grid.color": "#e3e6ea", "grid.linewidth": 0.8, "xtick.color": "#4a525a",
    "ytick.color": "#4a525a", "font.size": 10,
    "axes.labelsize": 10, "legend.frameon": False, "legend.fontsize": 9, "lines.solid_capstyle": "round",
    "text.parse_math": False, "svg.fonttype": "none", "svg.hashsalt": "netsim",
}  # fmt: skip


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
    path = check_picture(path)
    runs = [samples for samples in ([runs] if isinstance(runs, Samples) else runs) if samples.axis == "time"]
    return written(path, lambda place: _save(_drawn(panels(runs, plots, parameters), title or _title(runs)), place))


@dataclass(frozen=True, eq=False)
class Picture:
    """A drawn figure, which a notebook shows: `figure` is matplotlib's, to be changed at will."""

    figure: Any

    def save(self, path: Path | str) -> Path:
        """Write a .png or .svg file and return its path; raises `InputError` where that cannot be done."""
        return written(check_picture(path), lambda place: _save(self.figure, place))

    def _repr_png_(self) -> bytes:
        file = BytesIO()
        self.figure.savefig(file, format="png", dpi=100)
        return file.getvalue()

    def __repr__(self) -> str:
        return f"<Picture of {', '.join(line.get_label() for axes in self.figure.axes for line in axes.get_lines())}>"


def pictured(runs: Sequence[Samples], plots: Iterable[Plot], parameters: Scope | None = None) -> Picture:
    """The same as `plot` draws, to be shown or changed."""
    runs = [samples for samples in runs if samples.axis == "time"]
    return Picture(_drawn(panels(runs, plots, parameters), _title(runs)))


def check_picture(path: Path | str) -> Path:
    """The path, if a picture can be written there; raises `InputError` otherwise."""
    path = Path(path)
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


def expression_series(
    expr: Expr, samples: Samples, parameters: Scope | None = None
) -> list[tuple[str, Dimension, np.ndarray]]:
    """The scalars of a plotted expression as (name, dimension, series (nt,)); a node's name or `m1.*` gives every saved
    signal below it."""
    if isinstance(expr, Name) and (below := _below(expr, samples)):
        return [(s.name, parse_unit(s.unit).dimension, samples.series(s.name)) for s in below]
    with np.errstate(divide="ignore", invalid="ignore"):  # a gap in the curve says it
        typed: Any = evaluate(expr, _scope(samples, parameters))
    name, dimension = show_expression(expr), typed.dimension or NO_DIMENSION
    scalars = zip(suffixes(shape(typed.value)), flatten(typed.value))
    return [
        (name + suffix, dimension, np.broadcast_to(np.asarray(series, float), samples.time.shape))
        for suffix, series in scalars
    ]


def _below(name: Name, samples: Samples) -> list[Any]:
    """Signals of an instance, node or subnetwork (`m1.*`, `m1`): those saved whose names continue the given one."""
    parts = name.parts[:-1] if name.parts[-1].text == "*" else name.parts
    path = name_text(Name(parts), Frame("")) if all(_is_fixed(p) for p in parts) else ""
    if not path or any(s.name == path for s in samples.signals) or path == "time":
        return []
    return [s for s in samples.signals if s.name.startswith(path + ".") and "(" not in s.name and " " not in s.name]


def _is_fixed(part: Part) -> bool:
    return all(type(i).__name__ == "Number" for i in part.indices)


def _scope(samples: Samples, parameters: Scope | None) -> Scope:
    saved = {s.name: Typed(samples.values[:, j], parse_unit(s.unit).dimension) for j, s in enumerate(samples.signals)}
    counts = Frame("", integers=_Integers(parameters))

    def resolve(name: Name) -> Typed:
        path = name_text(name, counts)
        if path in saved:
            return saved[path]
        vector = [saved[path + suffix] for suffix in (".x", ".y", ".z") if path + suffix in saved]
        if vector:
            return Typed(tuple(v.value for v in vector), vector[0].dimension)
        if plain_name(name) == "time":
            return Typed(samples.time, SECOND)
        if parameters is not None and len(name.parts) == 1:
            return parameters.resolve(name)
        raise InputError(
            Problem("E434", f"'{path}' was not saved", name.span, hint=nearest(path, saved) or "add it to a save line")
        )

    return Scope(resolve)


class _Integers(dict):
    """Counts used in indices (`tap[n+1].v`), looked up among the parameters when first needed."""

    def __init__(self, parameters: Scope | None):
        super().__init__()
        self.parameters = parameters

    def __contains__(self, name: object) -> bool:
        return self.parameters is not None

    def __getitem__(self, name: str) -> Any:
        assert self.parameters is not None
        return self.parameters.resolve(Name((Part(name),))).value


# --------------------------------------------------------------------------------------------------- drawing


def _drawn(panels_: Sequence[Panel], title: str) -> Any:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        count = max(1, len(panels_))
        figure = Figure(figsize=(8.0, 0.7 + 2.3 * count), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
        times = [line.time for panel in panels_ for line in panel.lines]
        factor, unit = scale("s", max((float(t[-1]) for t in times if len(t)), default=1.0))
        for place, panel in zip(axes, panels_):
            _panel(place, panel, factor)
        axes[-1].set_xlabel(f"time [{unit}]")
        figure.align_ylabels(axes)
        if title:
            figure.suptitle(title, fontsize=10, color="#b3261e")
        return figure


def _save(figure: Any, path: Path) -> None:
    import matplotlib

    stamp: dict[str, Any] = {"metadata": {"Date": None}} if path.suffix.lower() == ".svg" else {"dpi": 150}
    with matplotlib.rc_context(_STYLE):
        figure.savefig(path, **stamp)


def _panel(axes: Any, panel: Panel, time_factor: float) -> None:
    values = np.concatenate([line.values for line in panel.lines])
    values = values[np.isfinite(values)]
    largest = float(np.abs(values).max()) if len(values) else 0.0
    factor, unit = scale(format_dimension(panel.dimension), largest)
    names = list(dict.fromkeys(line.name for line in panel.lines))
    for i, line in enumerate(panel.lines):
        time, series = thinned(line.time, line.values)
        width = (
            2.8 - 1.3 * i / (len(panel.lines) - 1) if len(panel.lines) > 1 else 1.6
        )  # a curve under another one stays visible
        look = {
            "color": _COLOURS[names.index(line.name) % len(_COLOURS)],
            "linestyle": _DASHES[line.run % len(_DASHES)],
            "linewidth": width,
        }
        axes.plot(time * time_factor, series * factor, label=line.label, **look)
    if len(values) and np.ptp(values) <= 1e-9 * largest:  # a constant: show it as one, not its last digits
        axes.set_ylim(*sorted((0.9 * values[0] * factor, 1.1 * values[0] * factor)) if largest else (-1.0, 1.0))
    axes.ticklabel_format(axis="y", useOffset=False)
    if len(panel.lines) == 1 and len(panel.lines[0].label) <= 24:
        axes.set_ylabel(f"{panel.lines[0].label} [{unit}]")
        return
    axes.set_ylabel(f"[{unit}]")
    axes.legend(
        loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=4, borderaxespad=0.2, handlelength=1.6
    )  # above the panel, never over a curve


def scale(unit: str, largest: float) -> tuple[float, str]:
    """Factor and label that make values up to `largest` (in SI `unit`) readable: ('m', 0.02) -> (1000, 'mm').

    Prefixes go where the unit's first name takes one and stands in its first power; numbers between 0.1 and 1000 stay.
    """
    first = unit.replace("/", ".").split(".")[0]
    power = 0
    if first in _TAKES_PREFIX and 1e-14 < largest < 1e13 and not 0.1 <= largest < 1000:
        power = min(9, max(-12, 3 * math.floor(math.log10(largest * (1 + 1e-12)) / 3)))
    return 10.0**-power, _PREFIXES[power] + pretty(unit)


def pretty(unit: str) -> str:
    """`N.s/m2` -> 'N·s/m²'; the pure number is '1'."""
    shown, digits = "", False
    for i, letter in enumerate(unit):
        raised = (
            (letter.isdigit() or letter == "-") and i > 0 and (digits or unit[i - 1].isalpha() or unit[i - 1] == "^")
        )
        shown += letter.translate(_RAISED) if raised else letter
        digits = raised
    return shown.replace("^", "").replace(".", "·").replace("Ohm", "Ω")


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
