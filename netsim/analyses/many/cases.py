"""The cases of a sweep: which values each run has, and along which dimensions the runs lie.

A grid has a dimension for every parameter. Random cases, corners, Latin hypercubes, Sobol points and the rows of a file
lie along one dimension `case`. All of it follows from the run line and its seed alone, so that a case has the same
values wherever and whenever it is run.
"""

import csv
import itertools
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from netsim.analyses.many.indices import design
from netsim.analyses.many.ranges import present_value
from netsim.analyses.many.spreads import RANDOM, Spread
from netsim.network.given import refuse_unknown
from netsim.network.network import Network
from netsim.network.values import Values
from netsim.text.errors import InputError, Problem, Span
from netsim.text.units import NO_DIMENSION, UnknownUnit, format_dimension, parse_unit

Array = np.ndarray
SAMPLINGS = ("grid", "random", "latin", "sobol", "saltelli", "corners")


@dataclass(frozen=True, eq=False)
class Cases:
    """Names of what is varied; values[i] of case i (SI); the dimensions of all cases by their sizes, in C order. The
    dimensions of a grid are `names`."""

    names: tuple[str, ...]
    values: Array
    sizes: Mapping[str, int]

    @property
    def is_grid(self) -> bool:
        """Whether each parameter has a dimension of its own."""
        return "case" not in self.sizes

    def __len__(self) -> int:
        return len(self.values)

    def case(self, i: int) -> dict[str, float]:
        """Values of case i by name."""
        return dict(zip(self.names, self.values[i].tolist()))


def sampling_of(spreads: Sequence[Spread]) -> str:
    """What is done unless something else is asked for: a grid, or random cases where there are distributions."""
    return "random" if any(each.kind in RANDOM for each in spreads) else "grid"


def cases_of(spreads: Sequence[Spread], sampling: str, points: int, count: int, seed: int) -> Cases:
    """All cases: `points` values of each range in a grid, else `count` cases, for Sobol indices so many for each
    parameter and twice besides; corners are the ends of all ranges."""
    names = tuple(each.name for each in spreads)
    if sampling == "grid":
        axes = [each.grid(points) for each in spreads]
        grid = np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)
        return Cases(names, grid, {each.name: len(axis) for each, axis in zip(spreads, axes)})
    if sampling == "corners":
        values = np.array(list(itertools.product(*(each.ends for each in spreads))))
    else:
        if sampling == "saltelli":
            shares = design(shares_of("sobol", count, 2 * len(spreads), seed))
        else:
            shares = shares_of(sampling, count, len(spreads), seed)
        values = np.stack([each.quantile(shares[:, j]) for j, each in enumerate(spreads)], axis=1)
    return Cases(names, values, {"case": len(values)})


def shares_of(sampling: str, count: int, dimensions: int, seed: int) -> Array:
    """Points of the unit cube, (count, dimensions). Source of the two designs: A. B. Owen, SciPy's stats.qmc."""
    if sampling == "random":
        return np.random.default_rng(seed).random((count, dimensions))
    from scipy.stats import qmc

    engine = (qmc.Sobol if sampling == "sobol" else qmc.LatinHypercube)(dimensions, rng=np.random.default_rng(seed))
    with warnings.catch_warnings():  # balance of Sobol points that are no power of two is the caller's choice
        warnings.simplefilter("ignore", UserWarning)
        return np.asarray(engine.random(count))


def cases_in(file: str, network: Network, span: Span | None) -> Cases:
    """The rows of a CSV file headed `r1.R [kOhm],c1.v.start [V]`; raises `InputError` for what cannot be read."""
    try:
        with Path(file).open(encoding="utf-8", newline="") as stream:
            rows = [row for row in csv.reader(stream) if row and not row[0].startswith("#")]
        numbers = np.array([[float(text) for text in row] for row in rows[1:]])
    except (OSError, ValueError) as wrong:
        raise InputError(Problem("E432", f"'{file}' cannot be read as a table of numbers: {wrong}", span)) from None
    if len(rows) < 2 or numbers.ndim != 2 or numbers.shape[1] != len(rows[0]):
        hint = "the first line has names, such as r1.R [kOhm],c1.C [uF], and each line below it the values of a case"
        raise InputError(Problem("E432", f"'{file}' is no table of cases", span, hint=hint))
    names = []
    for j, heading in enumerate(rows[0]):
        match = re.fullmatch(r"(.*?)(?:\s*\[([^\[\]]*)\])?", heading.strip())
        assert match is not None
        name, unit = match[1], match[2] or ""
        refuse_unknown(network, name, span)
        names.append(name)
        numbers[:, j] = _in_si(numbers[:, j], unit, name, network, span)
    return Cases(tuple(names), numbers, {"case": len(numbers)})


def _in_si(values: Array, unit: str, name: str, network: Network, span: Span | None) -> Array:
    wanted = present_value(Values(network), name).dimension or NO_DIMENSION
    try:
        known = parse_unit(unit)
    except UnknownUnit as unknown:
        raise InputError(Problem("E202", f"the column '{name}': {unknown}", span)) from None
    if unit and known.dimension != wanted:
        message = f"the column '{name}' is in {unit}, but {format_dimension(wanted)} is wanted"
        raise InputError(Problem("E202", message, span))
    return values * known.factor + known.offset
