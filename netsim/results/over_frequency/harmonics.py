"""Harmonics of a signal over one period: x(t) = mean + sum_k a_k cos(k w t + phi_k)."""

import numpy as np

from netsim.results.measuring.quadrature import accumulated
from netsim.results.trajectories import Trajectory

Array = np.ndarray
SHOWN = 10
"""Harmonics of a periodic state, unless more are asked for."""
LEAST = 1e-9
"""A first harmonic below this share of a signal is none to compare with."""


def harmonics(trajectory: Trajectory, numbers: Array) -> Array:
    """a_k e^(i phi_k) of a refined trajectory that is one period long; of number 0 the mean. Of several series (m,
    instants) they are (m, numbers).

    Parabolas through pairs of intervals are integrated with e^(-i k w t) exactly (L. Filon, Proc. Roy. Soc. Edinburgh
    49, 1928): with h the half of a pair, int_-1^1 P_n(s) e^(-i k w h s) ds = 2 (-i)^n j_n(k w h)."""
    from scipy.special import spherical_jn

    series = trajectory.series
    left, middle, right = series[..., :-2:2], series[..., 1:-1:2], series[..., 2::2]
    centre, half = trajectory.time[1::2], (trajectory.time[2::2] - trajectory.time[:-2:2]) / 2.0
    bend = (left - 2.0 * middle + right) / 2.0
    parts = (middle + bend / 3.0, (right - left) / 2.0, 2.0 * bend / 3.0)
    found = np.zeros((*series.shape[:-1], len(numbers)), complex)
    for i, k in enumerate(numbers):
        w = 2.0 * np.pi * k / trajectory.length
        moments = (2.0 * (-1j) ** n * spherical_jn(n, w * half) * part for n, part in enumerate(parts))
        found[..., i] = sum(moments) @ (half * np.exp(-1j * w * (centre - trajectory.time[0])))
    return found * np.where(np.asarray(numbers) > 0, 2.0, 1.0) / trajectory.length


def distortion(trajectory: Trajectory) -> float:
    """The effective value of all harmonics above the first, as a share of that of the first; not a number where there
    is no first one.

    What is left of a signal without its mean and its first harmonic is squared, so that harmonics of any smallness keep
    their digits: a difference of squares would lose those below 1e-8."""
    mean, first = harmonics(trajectory, np.array([0, 1]))
    if not abs(first) > LEAST * np.sqrt(_mean_square(trajectory, trajectory.series)):
        return float("nan")
    angle = 2.0 * np.pi * (trajectory.time - trajectory.time[0]) / trajectory.length
    above = trajectory.series - mean.real - (first * np.exp(1j * angle)).real
    return float(np.sqrt(2.0 * _mean_square(trajectory, above)) / abs(first))


def _mean_square(trajectory: Trajectory, series: Array) -> float:
    return float(accumulated(series**2, trajectory.time)[-1]) / trajectory.length
