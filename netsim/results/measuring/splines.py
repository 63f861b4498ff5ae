"""Cubics through samples: splines without knots at the second sample and at the last but one (C. de Boor, A Practical
Guide to Splines, 1978), and Akima's (J. ACM 17, 1970).

To the last bit they are those of `scipy.interpolate`, whose import takes longer than most runs: the tridiagonal system
is solved by the same function of LAPACK.
"""

import numpy as np

from netsim.core.linear.columns import lapack

Array = np.ndarray
FLAT = 1e-9
"""The share of the largest change of slopes below which Akima's weights tell nothing."""


def spline(t: Array, y: Array) -> Array:
    """The cubic behind each sample but the last (4, samples - 1), highest power of the time since then first.

    Raises ValueError where instants do not grow or values are not finite."""
    if len(t) < 4:
        from scipy.interpolate import CubicSpline

        return np.asarray(CubicSpline(t, y).c)
    h = _gaps(t, y)
    rise = np.diff(y) / h
    diagonal, upper, lower, right = np.empty(len(t)), np.empty(len(t) - 1), np.empty(len(t) - 1), np.empty(len(t))
    diagonal[1:-1], upper[1:], lower[:-1] = 2 * (h[:-1] + h[1:]), h[:-1], h[1:]
    right[1:-1] = 3 * (h[1:] * rise[:-1] + h[:-1] * rise[1:])
    first, last = t[2] - t[0], t[-1] - t[-3]
    diagonal[0], upper[0], diagonal[-1], lower[-1] = h[1], first, h[-2], last
    right[0] = ((h[0] + 2 * first) * h[1] * rise[0] + h[0] ** 2 * rise[1]) / first
    right[-1] = (h[-1] ** 2 * rise[-2] + (2 * last + h[-1]) * h[-2] * rise[-1]) / last
    *_, slopes, info = lapack().dgtsv(lower, diagonal, upper, right)
    assert info == 0, "instants that grow have a spline"
    return _hermite(h, y, rise, slopes.ravel())


def akima(t: Array, y: Array) -> Array:
    """The same of Akima's cubics, of three samples or more; they ring nowhere."""
    h = _gaps(t, y)
    rise = np.diff(y) / h
    m = np.empty(len(t) + 3)
    m[2:-2] = rise
    m[1] = 2.0 * m[2] - m[3]
    m[0] = 2.0 * m[1] - m[2]
    m[-2] = 2.0 * m[-3] - m[-4]
    m[-1] = 2.0 * m[-2] - m[-3]
    slopes, change = 0.5 * (m[3:] + m[:-3]), np.abs(np.diff(m))
    both = change[2:] + change[:-2]
    told = np.flatnonzero(both > FLAT * np.max(both))
    slopes[told] = m[told + 1] + (change[told] / both[told]) * (m[told + 2] - m[told + 1])
    return _hermite(h, y, rise, slopes)


def rates(t: Array, cubics: Array) -> tuple[Array, Array]:
    """First and second derivatives of cubics at all samples."""
    k = np.minimum(np.arange(len(t)), len(t) - 2)
    s, c = t - t[k], cubics[:, k]
    return c[2] + c[1] * s * 2.0 + c[0] * (s * s) * 3.0, c[1] * 2.0 + c[0] * s * 6.0


def _gaps(t: Array, y: Array) -> Array:
    h = np.diff(t)
    if not (np.all(h > 0.0) and np.all(np.isfinite(t)) and np.all(np.isfinite(y))):
        raise ValueError("samples must be finite, and their instants must grow")
    return h


def _hermite(h: Array, y: Array, rise: Array, slopes: Array) -> Array:
    bend = (slopes[:-1] + slopes[1:] - 2 * rise) / h
    return np.array([bend / h, (rise - slopes[:-1]) / h - bend, slopes[:-1], y[:-1]])
