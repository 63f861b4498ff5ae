"""Shape functions of a beam on 0 <= xi = x/L <= 1, by name and number: data of a flexible link.

All have neither value nor slope at xi = 0, where the link's frame is. What they do at the other end decides what the
link can do: `clamped_free` polynomials and `craig_bampton` functions let it bend and turn and converge to the beam
whatever hangs there, `free_modes` converge too, slowly under load; the others hold the end in some way, as their names
say. `hinged_free_modes` and `hinged_hinged_modes` are for links whose first end turns freely: nothing bends them there,
and turned with their frame they are the modes of such a beam, so that few of them are nearly exact.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.polynomial import Legendre, Polynomial

Floats = np.ndarray
FIRST_POWER = 2
"""Rows of coefficients begin with xi^2: such functions are clamped at xi = 0 whatever the numbers are."""


@dataclass(frozen=True)
class ShapeFunctions:
    """`count` functions of xi; `evaluate(xi, order)` gives their derivatives of an order 0..2, (count, len(xi)).

    Between `breaks` they are smooth; Gauss quadrature with `points` nodes in each interval integrates products of four
    of them exactly (of transcendental functions: to round-off).
    """

    name: str
    count: int
    breaks: tuple[float, ...]
    points: int
    evaluate: Callable[[Floats, int], Floats]


def bending_shapes(name: str, count: int) -> ShapeFunctions:
    """Lateral displacement functions of a family in `FAMILIES` ('hermite' finite elements have an even `count`: two per
    element).

    Raises ValueError for another name or a count the family does not have.
    """
    if count < 1:
        raise ValueError(f"a flexible link needs at least one shape function, not {count}")
    if name not in FAMILIES:
        raise ValueError(f"no shape functions called '{name}': there are {', '.join(FAMILIES)}")
    return FAMILIES[name](count)


def torsion_shapes(name: str, count: int) -> ShapeFunctions:
    """Twist functions that go with a bending family: sines of the free or of the held end for its modes
    (`craig_bampton`: xi before them), else polynomials xi P_k(2 xi - 1)."""
    if name in ("free_modes", "hinged_free_modes"):
        return _transcendental(name, [_sine((2 * k + 1) * np.pi / 2) for k in range(count)])
    if name == "clamped_modes":
        return _transcendental(name, [_sine((k + 1) * np.pi) for k in range(count)])
    if name == "craig_bampton":
        return _transcendental(name, [_of(Polynomial([0, 1])), *[_sine((k + 1) * np.pi) for k in range(count)]][:count])
    return polynomials("polynomial", [Polynomial([0, 1]) * p for p in _legendre(count)])


def gauss_rule(breaks: Iterable[float], points: int, end: float = 1.0) -> tuple[Floats, Floats]:
    """Points and weights of Gauss's quadrature on 0 .. end, so many points in each interval between the breaks."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    spans = list(pairwise([*sorted({0.0} | {b for b in breaks if b < end}), end]))
    at = np.concatenate([a + (b - a) * (nodes + 1) / 2 for a, b in spans])
    return at, np.concatenate([(b - a) / 2 * weights for a, b in spans])


def powers(coefficients: Floats) -> ShapeFunctions:
    """Polynomials by rows of coefficients of xi^2, xi^3, ...: (count, any number)."""
    return polynomials("given", [Polynomial([*[0.0] * FIRST_POWER, *row]) for row in np.atleast_2d(coefficients)])


def polynomials(name: str, functions: Sequence[Polynomial]) -> ShapeFunctions:
    """Polynomials of xi as shape functions; they should vanish at xi = 0 with their slopes, where the link is
    clamped."""

    def evaluate(xi: Floats, order: int) -> Floats:
        return np.array([(f.deriv(order) if order else f)(xi) for f in functions]).reshape(len(functions), -1)

    return ShapeFunctions(name, len(functions), (0.0, 1.0), 2 * max(f.degree() for f in functions) + 1, evaluate)


# ------------------------------------------------------------------------------------------------- polynomials


def _legendre(count: int) -> list[Polynomial]:
    """Legendre polynomials of 2 xi - 1: one at the free end, and well conditioned to any number."""
    return [Legendre.basis(k, domain=[0, 1]).convert(kind=Polynomial) for k in range(count)]


def _clamped_free(count: int) -> ShapeFunctions:
    """xi^2 P_k(2 xi - 1): one at the free end; three are nearly exact."""
    return polynomials("clamped_free", [Polynomial([0, 0, 1]) * p for p in _legendre(count)])


def _guided(count: int) -> ShapeFunctions:
    """G22 (9) and (11): 3 xi^2 - 2 xi^3 and -8 xi^4 + 14 xi^3 - 5 xi^2, value 1 and slope 0 at the end; beyond these
    two xi^2 (1 - xi)^2 P_k(2 xi - 1) from k = 1 (with k = 0 it is an eighth of the difference of the two)."""
    further = [Polynomial([0, 0, 1, -2, 1]) * p for p in _legendre(count)[1:]]
    return polynomials("guided", [Polynomial([0, 0, 3, -2]), Polynomial([0, 0, -5, 14, -8]), *further][:count])


# ------------------------------------------------------------------------------------------------------- modes


def _transcendental(name: str, functions: list[Callable[[Floats, int], Floats]]) -> ShapeFunctions:
    def evaluate(xi: Floats, order: int) -> Floats:
        return np.array([f(np.asarray(xi, float), order) for f in functions])

    return ShapeFunctions(name, len(functions), (0.0, 1.0), 32 + 8 * len(functions), evaluate)


def _of(polynomial: Polynomial) -> Callable[[Floats, int], Floats]:
    return lambda xi, order: (polynomial.deriv(order) if order else polynomial)(xi) + 0 * xi


def _sine(number: float) -> Callable[[Floats, int], Floats]:
    return lambda xi, order: number**order * np.sin(number * xi + order * np.pi / 2)


ENDS = {
    "free": (lambda b: np.cos(b) + 1 / np.cosh(b), 0.5),
    "clamped": (lambda b: np.cos(b) - 1 / np.cosh(b), 1.5),
    "pinned": (lambda b: np.sin(b) - np.cos(b) * np.tanh(b), 1.25),
    "guided": (lambda b: np.sin(b) + np.cos(b) * np.tanh(b), 0.75),
}
"""How a beam that is clamped at xi = 0 is held at xi = 1: the function whose positive roots b are its wave numbers, and
the first one over pi, about. The others follow in steps of pi."""


def wave_number(end: str, k: int) -> float:
    """The k-th wave number (from 0) of a clamped beam by its other end: its frequency is b^2 sqrt(EI/(m L^4))."""
    from scipy.optimize import brentq

    condition, first = ENDS[end]
    middle = (first + k) * np.pi
    return float(brentq(condition, middle - 0.9, middle + 0.9, xtol=1e-15, rtol=1e-15))


def _modes(end: str, count: int) -> ShapeFunctions:
    return _transcendental(f"{end}_modes", [_mode(end, k) for k in range(count)])


def _mode(end: str, k: int) -> Callable[[Floats, int], Floats]:
    """cosh b xi - cos b xi - s (sinh b xi - sin b xi), its largest value about one; the growing exponentials are
    written so that they do not cancel.

    s = (cosh b + cos b)/(sinh b + sin b) at a free end, (cosh b - cos b)/(sinh b - sin b) at a clamped or pinned one,
    (sinh b + sin b)/(cosh b - cos b) at a guided one. cosh - s sinh = ((1 - s) e^{b xi} + (1 + s) e^{-b xi})/2, with (1
    - s) e^b kept as one number.
    """
    b = wave_number(end, k)
    c, o, small = np.cos(b), np.sin(b), np.exp(-b)
    if end == "free":
        s, grown = (np.cosh(b) + c) / (np.sinh(b) + o), 2 * (o - c - small) / (1 - small**2 + 2 * small * o)
    elif end == "guided":
        s, grown = (np.sinh(b) + o) / (np.cosh(b) - c), 2 * (small - c - o) / (1 + small**2 - 2 * small * c)
    else:
        s, grown = (np.cosh(b) - c) / (np.sinh(b) - o), 2 * (c - o - small) / (1 - small**2 - 2 * small * o)
    size = 2.0 if end in ("free", "guided") else 1.6

    def evaluate(xi: Floats, order: int) -> Floats:
        waves = (grown * np.exp(b * (xi - 1)) + (-1) ** order * (1 + s) * np.exp(-b * xi)) / 2
        turn = order * np.pi / 2
        return b**order * (waves - np.cos(b * xi + turn) + s * np.sin(b * xi + turn)) / size

    return evaluate


def _hinged_free(count: int) -> ShapeFunctions:
    """x - w/w'(0) of the modes w of a beam with a hinge at xi = 0 and a free end: w = sin b xi/sin b + sinh b xi/sinh
    b, tan b = tanh b."""
    return _transcendental("hinged_free_modes", [_hinged_free_mode(wave_number("pinned", k)) for k in range(count)])


def _hinged_free_mode(b: float) -> Callable[[Floats, int], Floats]:
    slope = b * (1 / np.sin(b) + 1 / np.sinh(b))

    def evaluate(xi: Floats, order: int) -> Floats:
        hyperbolic = (np.exp(b * (xi - 1)) - (-1) ** order * np.exp(-b * (xi + 1))) / (1 - np.exp(-2 * b))
        wave = b**order * (np.sin(b * xi + order * np.pi / 2) / np.sin(b) + hyperbolic)
        return (xi if order == 0 else float(order == 1)) - wave / slope

    return evaluate


def _hinged_hinged(count: int) -> ShapeFunctions:
    """x - sin(b x)/b, b = pi, 2 pi ..: the modes of a beam between two hinges, seen from its tangent at the first."""

    def function(b: float) -> Callable[[Floats, int], Floats]:
        return lambda xi, order: (
            (xi if order == 0 else float(order == 1)) - b ** (order - 1) * np.sin(b * xi + order * np.pi / 2)
        )

    return _transcendental("hinged_hinged_modes", [function((k + 1) * np.pi) for k in range(count)])


def _craig_bampton(count: int) -> ShapeFunctions:
    """Hermite's two cubics, unit deflection and unit slope of the end, then modes of the beam that is clamped at both
    ends (R. R. Craig, M. C. C. Bampton, AIAA J. 6, 1968)."""
    cubics = [_of(Polynomial([0, 0, 3, -2])), _of(Polynomial([0, 0, -1, 1]))]
    return _transcendental("craig_bampton", [*cubics, *[_mode("clamped", k) for k in range(count - 2)]][:count])


# --------------------------------------------------------------------------------------------- finite elements


def hermite(ends: Sequence[float]) -> ShapeFunctions:
    """Cubic finite elements between 0 and `ends`, the last of which is 1: deflection and slope (with respect to xi) at
    the end of each."""
    breaks = np.array([0.0, *ends])
    elements, lengths = len(breaks) - 1, np.diff(breaks)
    left = Polynomial([1, 0, -3, 2]), Polynomial([0, 1, -2, 1])
    right = Polynomial([0, 0, 3, -2]), Polynomial([0, 0, -1, 1])

    def evaluate(xi: Floats, order: int) -> Floats:
        xi = np.asarray(xi, float)
        element = np.clip(np.searchsorted(breaks, xi, side="right") - 1, 0, elements - 1)
        local = (xi - breaks[element]) / lengths[element]
        values = np.zeros((2 * elements, len(xi)))
        for k, length in enumerate(lengths):
            for functions, node in ((left, k - 1), (right, k)):
                for kind, f in enumerate(functions if node >= 0 else ()):
                    inside = element == k
                    values[2 * node + kind, inside] = f.deriv(order)(local[inside]) * length ** (kind - order)
        return values

    return ShapeFunctions("hermite", 2 * elements, tuple(breaks), 7, evaluate)


def scaled(functions: ShapeFunctions, factors: Floats) -> ShapeFunctions:
    """The functions, each times a number: coordinates of another unit."""
    return replace(functions, evaluate=lambda xi, order: factors[:, None] * functions.evaluate(xi, order))


def _hermite(count: int) -> ShapeFunctions:
    if count % 2:
        raise ValueError(f"hermite functions come in pairs (deflection and slope of a node), not {count}")
    return hermite(np.linspace(0, 1, count // 2 + 1)[1:].tolist())


FAMILIES: dict[str, Callable[[int], ShapeFunctions]] = {
    "guided": _guided,
    "clamped_free": _clamped_free,
    "craig_bampton": _craig_bampton,
    **{f"{end}_modes": partial(_modes, end) for end in ENDS},
    "hermite": _hermite,
    "hinged_free_modes": _hinged_free,
    "hinged_hinged_modes": _hinged_hinged,
}
"""Families of functions by name."""
