"""Harmonics of a signal over one period: x(t) = mean + sum_k a_k cos(k w t + phi_k)."""

import numpy as np

from netsim.results.series import accumulated
from netsim.results.trajectories import Trajectory

Array = np.ndarray
SHOWN = 10
"""Harmonics of a periodic state, unless more are asked for."""


def harmonics(trajectory: Trajectory, numbers: Array) -> Array:
    """a_k e^(i phi_k) of a refined trajectory that is one period long; of number 0 the mean."""
    period = trajectory.length
    angle = 2.0 * np.pi * (trajectory.time - trajectory.time[0]) / period
    found = [
        complex(accumulated(trajectory.series * np.cos(k * angle), trajectory.time)[-1],
                -accumulated(trajectory.series * np.sin(k * angle), trajectory.time)[-1])
        for k in numbers
    ]  # fmt: skip
    return np.asarray(found) * np.where(np.asarray(numbers) > 0, 2.0, 1.0) / period


def distortion(trajectory: Trajectory) -> float:
    """The effective value of all harmonics above the first, as a share of that of the first."""
    mean, first = harmonics(trajectory, np.array([0, 1]))
    square = accumulated(trajectory.series**2, trajectory.time)[-1] / trajectory.length
    above = max(square - mean.real**2 - abs(first) ** 2 / 2, 0.0)
    return float(np.sqrt(2.0 * above) / abs(first)) if abs(first) > 0.0 else float("nan")
