"""The instants at which samples are asked for: all of them, or a window where a run has more than memory takes."""

import numpy as np

from netsim.simulate.options import TransientOptions

Array = np.ndarray
END = 1e-12
"""An instant this near to the end, as a share of the run, is the end."""
SHARE = 0.25
"""The part of the room for rows that one step may fill."""


def time_events_within(time_events: Array, stop: float) -> Array:
    """Time events within (0, stop], then infinity. One at the end counts: the last step sees what is before a jump."""
    inside = time_events[(time_events > 0) & (time_events < stop * (1 - END))]
    at_end = (np.abs(time_events - stop) <= END * stop).any()
    return np.concatenate([inside, [stop] if at_end else [], [np.inf]])


def requested(options: TransientOptions, first: int = 0, most: int | None = None) -> Array:
    """The instants k sample with k = first + 1, first + 2 ..., then the end; at most so many."""
    stop, sample = options.stop, options.sample
    last = int(np.floor(stop / sample * (1 + END)))
    end = last if most is None else min(last, first + most)
    grid = np.arange(first + 1, end + 1) * sample
    inside = grid[grid < stop * (1 - END)]
    complete = len(inside) < len(grid) or end == last
    return np.append(inside, stop)[:most] if complete else inside


def is_windowed(options: TransientOptions) -> bool:
    """Whether not all instants are in memory at once."""
    wanted = bool(options.window) and options.sample > 0.0 and options.stop / options.sample > 2 * options.window
    return wanted and options.step < SHARE * options.window * options.sample


def first_grid(options: TransientOptions) -> Array:
    """The instants of a run at its start, infinity behind them."""
    if not is_windowed(options):
        return np.append(requested(options), np.inf)
    grid = np.empty(2 * options.window + 1)
    fill_window(options, grid, 0)
    return grid


def fill_window(options: TransientOptions, grid: Array, first: int) -> None:
    """The instants behind the first so many into a window, infinity behind the last."""
    found = requested(options, first, len(grid) - 1)
    grid[: len(found)], grid[len(found) :] = found, np.inf


def longest_between(options: TransientOptions) -> float:
    """The longest step whose samples have room in memory."""
    return SHARE * options.window * options.sample if is_windowed(options) else np.inf
