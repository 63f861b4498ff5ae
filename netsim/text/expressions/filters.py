"""Functions of the language about analog filters: low passes of four families as state matrices, in units of the
cut-off frequency.

A family and an order are plain numbers; the ripple of Chebyshev's filters may be a symbol. Every filter has the static
gain 1 and the amplitude
-3 dB at the frequency 1 (of Butterworth's, 1/sqrt(2)): Tietze, Schenk: Halbleiter-Schaltungstechnik, ch. 13.
"""

from functools import lru_cache
from math import cos, factorial, pi, sin, sqrt
from typing import Any

import numpy as np

from netsim.text.expressions.operations import apply

FAMILIES = ("butterworth", "bessel", "chebyshev", "critical")
"""Families by number."""
MOST = 12
"""The highest order."""
DAMPED = 10**0.3
"""The square of 3 dB."""
Section = tuple[Any, Any]
"""(a, b) of 1/(1 + b s + a s^2); a is None in 1/(1 + b s)."""


def filter_matrix(family: float, n: float, ripple: Any) -> tuple:
    """A of x' = A x + b u: sections in a row, the last of them first, y = x[1]. Where nothing changes every state is
    u."""
    return _states(family, n, ripple)[0]


def filter_input(family: float, n: float, ripple: Any) -> tuple:
    """b of x' = A x + b u."""
    return _states(family, n, ripple)[1]


def _states(family: float, n: float, ripple: Any) -> tuple[tuple, tuple]:
    """A section y'' a + y' b + y = v has the states y and y + y' sqrt(a)."""
    if n != int(n) or not 1 <= n <= MOST or family != int(family) or not 0 <= family < len(FAMILIES):
        raise ValueError
    size = int(n)
    rows: list[list[Any]] = [[0.0] * size for _ in range(size)]
    entry: list[Any] = [0.0] * size
    at = size
    for a, b in _sections(FAMILIES[int(family)], size, ripple):
        above = at  # where the section before writes; beyond the last state, the input
        if a is None:
            at -= 1
            rows[at][at], drive = -1.0 / b, (at, 1.0 / b)
        else:
            at -= 2
            w = 1.0 / apply("sqrt", a)
            rows[at][at], rows[at][at + 1] = -w, w
            rows[at + 1][at], rows[at + 1][at + 1] = b / a - 2.0 * w, w - b / a
            drive = (at + 1, w)
        if above < size:
            rows[drive[0]][above] = drive[1]
        else:
            entry[drive[0]] = drive[1]
    return tuple(tuple(row) for row in rows), tuple(entry)


def _sections(family: str, n: int, ripple: Any) -> list[Section]:
    if family == "critical":
        lag = sqrt(DAMPED ** (1 / n) - 1)
        return [(None, lag)] * n
    if family == "bessel":
        return list(_bessel(n))
    return _elliptic(n, ripple) if family == "chebyshev" else _circle(n)


def _circle(n: int) -> list[Section]:
    """Butterworth: poles on the unit circle."""
    pairs: list[Section] = [(1.0, 2.0 * sin(pi * (2 * k - 1) / (2 * n))) for k in range(1, n // 2 + 1)]
    return [(None, 1.0)] * (n % 2) + pairs


def _elliptic(n: int, ripple: Any) -> list[Section]:
    """Chebyshev, first kind: poles on an ellipse; the frequency of -3 dB follows from T(w) = cosh(n acosh(w))."""
    square = 10.0 ** (ripple / 10.0) - 1.0
    height = apply("sqrt", ((DAMPED if n % 2 else DAMPED * (1.0 + square)) - 1.0) / square)
    grows, power = height + apply("sqrt", height * height - 1.0), 1.0 / n
    cut = (grows**power + grows**-power) / 2.0
    wide = (apply("sqrt", 1.0 / square) + apply("sqrt", 1.0 / square + 1.0)) ** power
    s, c = (wide - 1.0 / wide) / 2.0, (wide + 1.0 / wide) / 2.0
    found: list[Section] = [(None, cut / s)] * (n % 2)
    for k in range(1, n // 2 + 1):
        angle = pi * (2 * k - 1) / (2 * n)
        modulus = s * s * sin(angle) ** 2 + c * c * cos(angle) ** 2
        found.append((cut * cut / modulus, 2.0 * cut * s * sin(angle) / modulus))
    return found


@lru_cache(maxsize=MOST)
def _bessel(n: int) -> tuple[Section, ...]:
    """Bessel: the roots of sum (2n - k)!/(2^(n-k) k! (n-k)!) s^k, brought to -3 dB at 1 by bisection."""
    coefficients = [factorial(2 * n - k) / (2 ** (n - k) * factorial(k) * factorial(n - k)) for k in range(n, -1, -1)]
    poles = np.roots(coefficients)
    low, high = 0.0, 2.0 * n
    for _ in range(200):
        w = (low + high) / 2
        low, high = (w, high) if np.prod(np.abs(1 - 1j * w / poles) ** 2) < DAMPED else (low, w)
    poles = poles / w
    single = [(None, float(-1 / p.real)) for p in poles if abs(p.imag) < 1e-9]
    pairs = [(float(1 / abs(p) ** 2), float(-2 * p.real / abs(p) ** 2)) for p in poles if p.imag > 1e-9]
    return (*single, *sorted(pairs))
