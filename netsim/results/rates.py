"""Velocity and acceleration of saved positions, exact wherever they can be: what a later run reads as a table should
lose nothing."""

from collections.abc import Container, Iterable

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.forms.form import Form
from netsim.equations.forms.symbols import CONSTANT, Key
from netsim.equations.kernels.symbolic import ca
from netsim.equations.machine import Machine
from netsim.results.samples import Signal
from netsim.results.selection import Entry, Finder, Selection
from netsim.text.expressions.sizes import flatten
from netsim.text.syntax import Name


def own_unknowns(machine: Machine, signals: Iterable[Name]) -> list[int]:
    """The unknowns among these signals that are variables of elements (a joint's coordinate)."""
    finder = Finder(machine)
    found = (_own_unknown(entry) for name in signals for entry, _ in finder.entries(name))
    return [u for u in found if u is not None]


def _own_unknown(entry: Entry) -> int | None:
    if entry.batch is None:
        return None
    form, (name, index, _) = entry.batch.form, entry.reading
    key = form.facts.recall(("unknown", name, index), lambda: _unknown(form, name, index))
    return int(entry.batch.columns(key)[entry.position]) if key else None


def _unknown(form: Form, name: str, index: int) -> Key:
    """The own unknown that a scalar of a reading is; empty where it is none."""
    scalar = ca.SX(flatten(form.readings[name].value)[index])
    gathered = form.symbols.gathered.items()
    keys = [key for (key, order), symbol in gathered if key[0] == "own" and order == 0 and ca.is_equal(scalar, symbol)]
    return keys[0] if keys else ()


def add_rates(
    machine: Machine, selection: Selection, signals: Iterable[Name], solved: Container[int] = ()
) -> dict[str, tuple[str, str]]:
    """Sample velocity and acceleration beside each of these signals: name -> names of the two hidden signals.

    Positions of nodes have them in g, and so have unknowns that are `solved` with their rates; readings that depend on
    positions alone are differentiated exactly. What else there is, is left to a spline.
    """
    finder, found = Finder(machine), {}
    for name in signals:
        for entry, dimension_ in finder.entries(name):
            selection.add(entry, dimension_, False)
            hidden = _rate_entries(machine, entry, solved)
            for rate in hidden:
                selection.add(rate, dimension_, False)
            if hidden:
                found[entry.signal.name] = (hidden[0].signal.name, hidden[1].signal.name)
    return found


def _rate_entries(machine: Machine, entry: Entry, solved: Container[int]) -> list[Entry]:
    """Entries of the first and second rate of a sampled scalar; none where they are not exact."""
    layout, names = machine.system.layout, [f"{entry.signal.name} rate {k}" for k in (1, 2)]
    if layout.x <= entry.slot < layout.v:
        return [Entry(Signal(name), entry.slot + (k + 1) * layout.nk) for k, name in enumerate(names)]
    unknown = _own_unknown(entry)
    if unknown is not None and unknown in solved:
        return [Entry(Signal(name), int(layout.unknown(np.array([unknown]), k + 1)[0])) for k, name in enumerate(names)]
    if entry.batch is None or not _has_exact_rates(entry.batch, entry.reading[0]):
        return []
    reading, index, _ = entry.reading
    return [
        Entry(Signal(name), -1, entry.batch, entry.position, (reading, index, k)) for k, name in enumerate(names, 1)
    ]


def _has_exact_rates(batch: Batch, reading: str) -> bool:
    """Whether the reading depends on positions, parameters and time alone."""
    form = batch.form
    read = form.facts.recall(("reads", reading), lambda: _reads(form, reading))
    return all(key[0] in CONSTANT or (batch.kernels.kinematic.get(key, False) and order == 0) for key, order in read)


def _reads(form: Form, reading: str) -> tuple[tuple[Key, int], ...]:
    """(key, order) of the symbols that a reading depends on."""
    scalars = [ca.SX(s) for s in flatten(form.readings[reading].value)]
    gathered = form.symbols.gathered.items()
    return tuple(at for at, symbol in gathered if any(ca.depends_on(s, symbol) for s in scalars))
