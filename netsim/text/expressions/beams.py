"""Functions of the language about beams: Gauss quadrature, and families of shape functions at points of a beam 0 .. 1
(netsim.text.expressions.shapes).

Family, numbers and points are plain numbers, so all of it is known when a component's equations are formed.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from netsim.text.expressions.shapes import FAMILIES, ShapeFunctions, bending_shapes, gauss_rule, powers, torsion_shapes

COLUMNS = 6
"""How many coefficients (of x^2 ... x^7) functions given by rows have."""
GIVEN = "given"
NAMES = (GIVEN, *FAMILIES)
"""Families by number: 0 are functions given by rows."""


def family_of(number: float) -> str:
    """The name of a family by its number, of given ones (where torsion is concerned) that of polynomials; raises
    `IndexError` where there is none."""
    if number != int(number) or not 0 <= number < len(NAMES):
        raise IndexError
    return NAMES[int(number)]


def gauss_points(n: float, parts: float) -> tuple:
    """The points of Gauss's quadrature on 0 .. 1, n on each of so many equal parts."""
    points, count = (np.polynomial.legendre.leggauss(_whole(n))[0] + 1) / 2, _whole(parts)
    return tuple(float(x) for x in np.add.outer(np.arange(count), points).ravel() / count)


def gauss_weights(n: float, parts: float) -> tuple:
    """Their weights: they sum to one, and polynomials of degree 2 n - 1 (on each part) are integrated exactly."""
    weights, count = np.polynomial.legendre.leggauss(_whole(n))[1] / 2, _whole(parts)
    return tuple(float(x) for x in np.tile(weights, count) / count)


def quadrature(f: tuple, g: tuple, weights: tuple) -> tuple:
    """The integrals of f_k g_l over 0 .. 1, of functions by rows of values at Gauss's points (or one function, a
    vector) with these weights."""
    if not f or not g:
        return ()
    if not isinstance(g[0], tuple):
        return tuple(row[0] for row in quadrature(f, (g,), weights))
    if isinstance(f[0][0], float) and isinstance(g[0][0], float):
        return _matrix(np.array(f) * weights @ np.array(g).T)
    weighted = [[w * v for w, v in zip(weights, row)] for row in g]
    return tuple(tuple(sum((u * v for u, v in zip(row, other)), 0.0) for other in weighted) for row in f)


def shape_functions(shapes: float, n: float, order: float, x: tuple, rows: tuple) -> tuple:
    """Derivatives of an order 0 .. 2 of n shape functions of a family at points x, a row for each; of family 0
    (`given`) the polynomials with these rows of coefficients of x^2 ... x^7."""
    return _combined(rows, _matrix(_functions(float(shapes), _whole(n)).evaluate(np.array(x), _order(order))), shapes)


def shortening(shapes: float, n: float, x: tuple, rows: tuple) -> tuple:
    """The integrals of f_k' f_l' from 0 to x, of the same functions: a row for each of the n n pairs (k, l), perhaps
    none."""
    if not n:
        return ()
    functions = _functions(float(shapes), _whole(n))
    found = []
    for end in x:
        points, weights = gauss_rule(functions.breaks, functions.points, end)
        slopes = functions.evaluate(points, 1)
        found.append(np.einsum("kp,lp,p->kl", slopes, slopes, weights).ravel())
    return _combined(products(rows, rows), _matrix(np.array(found).T), shapes)


def twist_functions(shapes: float, n: float, order: float, x: tuple) -> tuple:
    """The like of n functions of torsion that go with a family, perhaps none."""
    return _matrix(torsion_shapes(family_of(shapes), int(n)).evaluate(np.array(x), _order(order))) if n else ()


def _combined(rows: tuple, values: tuple, shapes: float) -> tuple:
    """rows * values where functions are given by rows."""
    if shapes:
        return values
    if len(rows[0]) != len(values):
        raise ValueError
    columns = list(zip(*values))
    return tuple(tuple(sum((c * v for c, v in zip(row, column)), 0.0) for column in columns) for row in rows)


def products(a: tuple, b: tuple) -> tuple:
    """a1 b1, a1 b2, ... of vectors; of matrices Kronecker's product."""
    if not a or not b:
        return ()
    if isinstance(a[0], tuple):
        return tuple(tuple(s * t for s in row for t in other) for row in a for other in b)
    return tuple(s * t for s in a for t in b)


def zeros(n: float, m: float) -> tuple:
    """A matrix of n rows and m columns of zeros; without rows, an empty vector."""
    return ((0.0,) * int(m),) * int(n)


@lru_cache(maxsize=64)
def _functions(shapes: float, n: int) -> ShapeFunctions:
    return bending_shapes(family_of(shapes), n) if shapes else powers(np.eye(COLUMNS))


def _matrix(values: Any) -> tuple:
    return tuple(tuple(float(v) for v in row) for row in values)


def _whole(n: float) -> int:
    if n != int(n) or n < 1:
        raise ValueError
    return int(n)


def _order(order: float) -> int:
    if order not in (0, 1, 2):
        raise ValueError
    return int(order)
