"""Cubics through samples are those of SciPy to the last bit."""

import numpy as np
import pytest
from scipy.interpolate import Akima1DInterpolator, CubicSpline

from netsim.results.measuring.splines import akima, rates, spline


def samples(n, seed):
    """Random, smooth, stepped and constant signals at uneven instants, of any size."""
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.exponential(size=n) ** rng.integers(1, 4) + 1e-9)
    y = rng.standard_normal(n).cumsum() * 10.0 ** rng.integers(-12, 12)
    return t, [y, np.sin(t), np.round(y), np.full(n, 3.0)][seed % 4]


@pytest.mark.parametrize("n", [2, 3, 4, 5, 7, 50, 3000])
@pytest.mark.parametrize("seed", range(8))
def test_splines_and_their_derivatives(n, seed):
    t, y = samples(n, seed)
    found, known = spline(t, y), CubicSpline(t, y)
    assert np.array_equal(found, known.c)
    assert all(map(np.array_equal, rates(t, found), (known(t, 1), known(t, 2))))


@pytest.mark.parametrize("n", [4, 5, 7, 50, 3000])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_akimas_cubics(n, seed):
    t, y = samples(n, seed)
    assert np.array_equal(akima(t, y), Akima1DInterpolator(t, y).c, equal_nan=True)


@pytest.mark.parametrize("kind", [spline, akima])
@pytest.mark.parametrize("t, y", [([0, 1, 1, 2, 3], [0.0] * 5), ([0, 1, 2, 3, 4], [0, 1, np.nan, 0, 0]), ([0, 1, 2, 3, np.inf], [0.0] * 5)])
def test_what_has_no_cubics(kind, t, y):
    with pytest.raises(ValueError):
        kind(np.array(t, float), np.array(y, float))
