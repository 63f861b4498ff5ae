"""Sobol indices: which share of the variance of a measure each parameter has.

With rows A and B of independent cases and AB_j, which is A with parameter j of B,

    first order  S_j  = mean(f(B) (f(AB_j) - f(A))) / var(f)
    total order  ST_j = mean((f(A) - f(AB_j))^2) / (2 var(f))

S_j is the share that goes when parameter j is known, ST_j the one that is left when all others are known: what j does
together with others counts in ST_j alone. Source: A. Saltelli et al., Variance based sensitivity analysis of model
output, Comput. Phys. Commun. 181 (2010), table 2 (b) and (f).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from netsim.results.samples import Figure

Array = np.ndarray
REDRAWN = 200
"""Draws of the rows, with repetition, from which the errors of indices are found."""
CONFIDENT = 1.96
"""Half of a 95 % interval, in standard deviations."""


def design(shares: Array) -> Array:
    """The cases of (rows, 2 parameters) shares of the unit cube: those of A, of B, then of AB_j for each parameter j,
    ((2 + parameters) rows, parameters)."""
    d = shares.shape[1] // 2
    first, second = shares[:, :d], shares[:, d:]
    mixed = np.repeat(first[None], d, axis=0)
    mixed[np.arange(d), :, np.arange(d)] = second.T
    return np.concatenate([first, second, *mixed])


def sobol_indices(found: Array, parameters: int) -> tuple[Array, Array, Array, Array]:
    """First order, total order, and the standard deviations of both, (parameters,) each, of what the cases of a
    `design` gave. Rows with a case that has no number are left out; without variance there are none (not a number)."""
    table = found.reshape(parameters + 2, -1)
    table = table[:, np.isfinite(table).all(axis=0)]
    rows = table.shape[1]
    if rows < 2:
        none = np.full(parameters, np.nan)
        return none, none, none, none
    draws = np.random.default_rng(0).integers(0, rows, (REDRAWN, rows))
    drawn = np.array([_both(table[:, each]) for each in draws])
    first, total = _both(table)
    return first, total, *drawn.std(axis=0)


def _both(table: Array) -> Array:
    """(2, parameters) indices of a table (parameters + 2, rows)."""
    a, b, *mixed = table - table[:2].mean()
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.concatenate([a, b]).var()
        return np.array([[np.mean(b * (m - a)) for m in mixed], [np.mean((a - m) ** 2) / 2 for m in mixed]]) / variance


def index_figures(name: str, found: Array, parameters: Sequence[str]) -> Iterator[Figure]:
    """`S1(rise, r1.R)` and `ST(rise, r1.R)` of a measure for each parameter, with their 95 % intervals as words."""
    *indices, first_error, total_error = sobol_indices(found, len(parameters))
    kinds = zip(("S1", "ST"), ("first", "total"), indices, (first_error, total_error))
    for word, order, values, errors in kinds:
        for parameter, value, error in zip(parameters, values.tolist(), errors.tolist()):
            doc = f"+- {CONFIDENT * error:.2g}, {order}-order Sobol index"
            yield Figure(f"{word}({name}, {parameter})", value, "", doc)
