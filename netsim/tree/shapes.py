"""Shape functions of a beam on 0 <= xi = x/L <= 1, by name and number: data of a flexible link.

All are clamped at xi = 0. `cantilever` polynomials and `modes` are free at the other end and converge to the beam; `guided` are the two
functions of G22 (9), (11) with zero slope at both ends, which keep the end from turning whatever acts on it. `hermite` are cubic finite elements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import Legendre, Polynomial

Floats = np.ndarray


@dataclass(frozen=True)
class ShapeFunctions:
    """`count` functions of xi; `evaluate(xi, order)` gives their derivatives of an order 0..2, (count, len(xi)).

    Between `breaks` they are smooth; Gauss quadrature with `points` nodes in each interval integrates products of four of them
    exactly (of transcendental functions: to round-off).
    """

    name: str
    count: int
    breaks: tuple[float, ...]
    points: int
    evaluate: Callable[[Floats, int], Floats]


def bending_shapes(name: str, count: int) -> ShapeFunctions:
    """Lateral displacement functions: 'guided' (at most two), 'cantilever', 'modes' or 'hermite' (`count` even: two per element).

    Raises ValueError for another name or a count the family does not have.
    """
    if count < 1:
        raise ValueError(f"a flexible link needs at least one shape function, not {count}")
    if name == "guided":
        return _guided(count)
    if name == "cantilever":
        square = Polynomial([0, 0, 1])
        return polynomials(name, [square * p for p in _legendre(count)])
    if name == "modes":
        return _modes(name, [_cantilever_mode(k) for k in range(count)])
    if name == "hermite":
        return _hermite(count)
    raise ValueError(f"no shape functions called '{name}': there are guided, cantilever, modes and hermite")


def torsion_shapes(name: str, count: int) -> ShapeFunctions:
    """Twist functions, clamped-free: 'modes' sin((2k-1) pi xi/2), or polynomials xi P_k(2 xi - 1) for any other family's name."""
    if name == "modes":
        return _modes(name, [_sine((2 * k + 1) * np.pi / 2) for k in range(count)])
    return polynomials("polynomial", [Polynomial([0, 1]) * p for p in _legendre(count)])


def polynomials(name: str, functions: list[Polynomial]) -> ShapeFunctions:
    """Polynomials of xi as shape functions; they should vanish at xi = 0 with their slopes, where the link is clamped."""

    def evaluate(xi: Floats, order: int) -> Floats:
        return np.array([(f.deriv(order) if order else f)(xi) for f in functions]).reshape(len(functions), -1)

    return ShapeFunctions(name, len(functions), (0.0, 1.0), 2 * max(f.degree() for f in functions) + 1, evaluate)


def _legendre(count: int) -> list[Polynomial]:
    """Legendre polynomials of 2 xi - 1: one at the free end, and well conditioned to any number."""
    return [Legendre.basis(k, domain=[0, 1]).convert(kind=Polynomial) for k in range(count)]


def _guided(count: int) -> ShapeFunctions:
    """G22 (9) and (11): 3 xi^2 - 2 xi^3 and -8 xi^4 + 14 xi^3 - 5 xi^2; value 1 and slope 0 at the end, the second zero in the middle."""
    if count > 2:
        raise ValueError("there are two guided shape functions: more need 'cantilever' or 'modes'")
    return polynomials("guided", [Polynomial([0, 0, 3, -2]), Polynomial([0, 0, -5, 14, -8])][:count])


def _modes(name: str, functions: list[Callable[[Floats, int], Floats]]) -> ShapeFunctions:
    def evaluate(xi: Floats, order: int) -> Floats:
        return np.array([f(xi, order) for f in functions])

    return ShapeFunctions(name, len(functions), (0.0, 1.0), 32 + 8 * len(functions), evaluate)


def clamped_free_number(k: int) -> float:
    """The k-th root (from 0) of cos b cosh b = -1: the k-th frequency of a clamped-free beam is b^2 sqrt(EI/(m L^4))."""
    from scipy.optimize import brentq

    return float(brentq(lambda b: np.cos(b) + 1 / np.cosh(b), max(k * np.pi, 1e-3), (k + 1) * np.pi, xtol=1e-15, rtol=1e-15))


def _cantilever_mode(k: int) -> Callable[[Floats, int], Floats]:
    """cosh b xi - cos b xi - s (sinh b xi - sin b xi), one at the end; the growing exponentials are written so that they do not cancel."""
    b = clamped_free_number(k)
    s = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
    # cosh - s sinh = ((1 - s) e^{b xi} + (1 + s) e^{-b xi})/2 with (1 - s) e^b kept as one number
    grown = (np.sin(b) - np.cos(b) - np.exp(-b)) / (1 - np.exp(-2 * b) + 2 * np.exp(-b) * np.sin(b)) * 2

    def evaluate(xi: Floats, order: int) -> Floats:
        sign = (-1) ** order
        waves = (grown * np.exp(b * (xi - 1)) + sign * (1 + s) * np.exp(-b * xi)) / 2
        turn = order * np.pi / 2
        return b**order * (waves - np.cos(b * xi + turn) + s * np.sin(b * xi + turn))

    end = evaluate(np.ones(1), 0)[0]
    return lambda xi, order: evaluate(xi, order) / end


def _sine(number: float) -> Callable[[Floats, int], Floats]:
    end = np.sin(number)
    return lambda xi, order: number**order * np.sin(number * xi + order * np.pi / 2) / end


def _hermite(count: int) -> ShapeFunctions:
    """Cubic finite elements of equal length: deflection and slope (with respect to xi) at the end of each, in this order."""
    if count % 2:
        raise ValueError(f"hermite functions come in pairs (deflection and slope of a node), not {count}")
    elements = count // 2
    size = 1.0 / elements
    left = [Polynomial([1, 0, -3, 2]), Polynomial([0, 1, -2, 1]) * size]
    right = [Polynomial([0, 0, 3, -2]), Polynomial([0, 0, -1, 1]) * size]

    def evaluate(xi: Floats, order: int) -> Floats:
        xi = np.asarray(xi, float)
        element = np.clip((xi * elements).astype(int), 0, elements - 1)
        local = xi * elements - element
        values = np.zeros((count, len(xi)))
        for node in range(1, elements + 1):
            for kind in (0, 1):
                for functions, at in ((right, node - 1), (left, node)):
                    inside = element == at
                    f = functions[kind]
                    values[2 * node - 2 + kind, inside] = (f.deriv(order) if order else f)(local[inside]) * elements**order
        return values

    return ShapeFunctions("hermite", count, tuple(np.linspace(0, 1, elements + 1)), 7, evaluate)
