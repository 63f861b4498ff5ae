"""What somebody asks of a run by name that is no unknown: readings of elements, and sums of signals in expressions.

The twist in `save abs(a.phi - b.phi)` is such a sum: the largest parts of an expression that are f(z) = f(0) + w . z in
the signals z, with two weights or more.
"""

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from netsim.equations.machine import Machine
from netsim.network.lets import derived_from, signals_in
from netsim.results.selection import Finder, Named, Reader, Selection
from netsim.results.series import computed, integrals_in, series_scope, unit_of
from netsim.structure.of_time.switching import inside
from netsim.text.errors import InputError
from netsim.text.expressions.show import show_expression
from netsim.text.syntax import Expr, Name

Array = np.ndarray
Sum = tuple[str, str, dict[str, float], float]
"""Text, unit, weights by signal, constant."""
ALIKE = 1e-9
"""Relative difference between an affine expression and the sum of its signals."""
TRIED = np.array([1e-3, 1.0, 1.0, 1e3])
"""Sizes of the random signals at which an expression is held against such a sum."""


def places_of(selection: Selection, reader: Reader) -> dict[str, int]:
    """Where the scalars of a selection stand in [g | readings]."""
    return dict(zip(selection.entries, map(int, reader.places)))


def named_in(
    machine: Machine, selection: Selection, places: Mapping[str, int], expressions: Iterable[Expr]
) -> list[Named]:
    """The readings of a selection, and the sums in these expressions of its signals; `places` in [g | readings]."""
    units = {name: unit_of(each) for name, each in selection.dimensions.items()}
    readings = [
        Named(name, units[name], ((name, units[name]),), (places[name],))
        for name, entry in selection.entries.items()
        if entry.batch is not None and name in selection.named
    ]
    finder = Finder(machine)
    found = (each for expr in expressions for each in _sums(expr, machine, selection, finder))
    for text, unit, weights, constant in found:
        signals, at = tuple((name, units[name]) for name in weights), tuple(places[name] for name in weights)
        readings.append(Named(text, unit, signals, at, tuple(weights.values()), constant))
    return readings


def _sums(expr: Expr, machine: Machine, selection: Selection, finder: Finder) -> Iterator[Sum]:
    """The largest parts of an expression that are sums."""
    top = machine.system.network.top
    derived = derived_from(expr, top)
    if derived is None and isinstance(expr, Name):
        return
    figures = {each.name for each in machine.system.network.measures}
    names = [entry.signal.name for name in signals_in(expr, top, figures) for entry, _ in finder.entries(name)]
    names = [name for name in dict.fromkeys(names) if name in selection.entries]
    if len(names) < 2:
        return
    found = None if any(integrals_in(expr, top)) else _affine(expr, names, machine, selection)
    if found is not None:
        yield from found
        return
    for inner in inside(derived or expr):
        yield from _sums(inner, machine, selection, finder)


def _affine(expr: Expr, names: list[str], machine: Machine, selection: Selection) -> list[Sum] | None:
    """The components of an expression with two weights or more; None where one is no sum."""
    top, count = machine.system.network.top, len(names)
    tried = np.random.default_rng(0).normal(size=(len(TRIED), count)) * TRIED[:, None]
    signals = np.vstack([np.zeros(count), np.eye(count), tried])
    time, found = np.ones(len(signals)), []
    scope = series_scope(selection.dimensions, dict(zip(names, signals.T.copy())), time, machine.values.scope(top), top)
    try:
        with np.errstate(all="ignore"):
            components = computed({show_expression(expr): expr}, time, scope)
    except InputError:  # functions of a whole signal, such as those of measures, and figures
        return None
    for name, (series, signal) in components.items():
        weights, terms = series[1 : count + 1] - series[0], tried * (series[1 : count + 1] - series[0])
        apart = np.abs(series[0] + terms.sum(axis=1) - series[count + 1 :])
        if not np.all(apart <= ALIKE * (np.abs(series[0]) + np.abs(terms).sum(axis=1))):
            return None
        heard = {n: float(w) for n, w in zip(names, weights) if w != 0.0}
        found += [(name, signal.unit, heard, float(series[0]))] if len(heard) > 1 else []
    return found
