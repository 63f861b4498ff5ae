"""Bars of the harmonics of a periodic state, beside the curves over its period."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from netsim.results.over_frequency.curves import COLOURS
from netsim.results.over_frequency.harmonics import SHOWN, harmonics
from netsim.results.series import refined, refined_series
from netsim.results.trajectories import Trajectory

Array = np.ndarray
LEAST = 1e-6
"""Bars below this share of the largest are left out."""


def bars(axes: Any, lines: Sequence[Any], known: Sequence[Any], factor: float, unit: str) -> None:
    """Amplitudes of harmonics from 0 (the mean) on, on a logarithmic scale: those that are `known`, or of lines with
    `time` and `values`."""
    from matplotlib.ticker import FuncFormatter

    found = [factor * (_amplitudes(line) if each is None else each.values) for line, each in zip(lines, known)]
    largest = max((float(np.max(each)) for each in found), default=0.0)
    width = 0.8 / max(1, len(found))
    for k, each in enumerate(found):
        numbers = np.arange(len(each))
        shown = np.where(each > LEAST * largest, each, np.nan)
        axes.bar(numbers + (k - (len(found) - 1) / 2) * width, shown, width, color=COLOURS[k % len(COLOURS)])
    if largest > 0.0:
        axes.set_yscale("log")
        axes.set_ylim(LEAST * largest, 2.0 * largest)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    last = max(map(len, found), default=1) - 1
    axes.set_xticks(np.arange(0, last + 1, max(1, last // 10)))
    axes.set_xlim(-0.6, last + 0.6)
    axes.set_ylabel(f"amplitude [{unit}]")


def _amplitudes(line: Any) -> Array:
    trajectory = Trajectory(refined(line.time), refined_series(line.time, line.values))
    return np.asarray(np.abs(harmonics(trajectory, np.arange(SHOWN + 1))))
