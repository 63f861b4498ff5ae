"""The variable part of a run, kept and restored bit for bit, and copied.

All that a run changes stands in arrays that its parts hold: what a step left, matrices and their factors, histories of
delays, plans of consistent points. `snapshot` copies these arrays and remembers which parts there are;
`restore_snapshot` writes them back. `duplicate` makes another run with arrays of its own: call tables and directories
contain addresses of arrays, and those of copied arrays are exchanged.
"""

from collections import deque
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import numpy as np

from netsim.core.compiled.struct import Struct
from netsim.core.consistent import Consistent
from netsim.core.linear.factors import Factor
from netsim.core.loop.sampler import Sampler
from netsim.equations.batches import indeterminacy_of
from netsim.equations.kernels.precomputation import ChangingParameters
from netsim.equations.machine import Call, Machine
from netsim.initial.consistent.plan import StagePlan
from netsim.initial.recovery import Recovery
from netsim.network.values import Values
from netsim.simulate.events.iteration import EventIteration
from netsim.simulate.running import Pace, Running

Array = np.ndarray

SAME = {
    Factor: {"row_order", "column_order", "start", "source", "row", "l_start", "l_row", "u_start", "u_row"},
    Consistent: {"partials", "where", "sizes", "numbers", "calls"},
    Sampler: {"readings", "selection", "nodes", "integrals", "summed", "minimum_norm", "read", "tracing", "traces"},
}
"""Fields that a run leaves as they are."""
PARTS = ("trial", "control", "sampler", "plan", "closing", "factor", "arrays", "served")
ROWS = ("times", "values", "account", "trace")
"""Of a sampler, what grows by a row with every sample or step."""


@dataclass(frozen=True, eq=False)
class RunSnapshot:
    """A run at an instant: its parts, what its lists and dictionaries held, its arrays and copies of them."""

    parts: dict[str, Any]
    held: list[tuple[Any, Any]]
    histories: dict[str, Array]
    arrays: list[tuple[Array, Array]]


def snapshot(run: Running, with_rows: bool = True) -> RunSnapshot:
    """The run as it is now; without the rows of samples, which stay as they are where it only goes on."""
    parts = {field.name: getattr(run, field.name) for field in fields(run) if field.name != "structs"}
    parts["pace"] = run.pace.copied()
    changing: list[Any] = [run.alive, run.served, run.tried, run.jumps]
    if run.events:
        changing += [run.events.plans, run.events.log]
        changing += [run.events.recent, *run.events.recent.values()]
    buffer = run.machine.problem.buffer
    found: dict[int, Array] = {}
    for part in (*(getattr(run, name) for name in PARTS), buffer, run.machine.problem.least):
        _arrays(part, found)
    if run.events:
        _arrays(run.events.watch, found)
        for _, plan, _ in run.events.plans.values():
            _arrays(plan, found)
    shares = indeterminacy_of(run.machine.system.batches)
    if shares is not None:
        _arrays(shares.coefficients, found)
    if not with_rows:
        for name in ROWS:
            found.pop(id(getattr(run.sampler, name)), None)
    histories = {"spans": buffer.spans, "segments": buffer.segments}
    return RunSnapshot(parts, [(c, copy(c)) for c in changing], histories, [(a, a.copy()) for a in found.values()])


def restore_snapshot(run: Running, kept: RunSnapshot) -> None:
    """The run as it was when it was kept."""
    for name, value in kept.parts.items():
        setattr(run, name, value)
    run.pace = run.pace.copied()
    for present, former in kept.held:
        present.clear()
        (present.update if isinstance(present, dict) else present.extend)(former)
    buffer = run.machine.problem.buffer
    if buffer.spans is not kept.histories["spans"]:
        buffer.exchange(**kept.histories)
    for array, values in kept.arrays:
        array[...] = values


def _arrays(part: Any, found: dict[int, Array]) -> None:
    """The arrays of a part that may change."""
    if isinstance(part, np.ndarray):
        if part.size and part.flags.writeable:
            found[id(part)] = part
    elif isinstance(part, Struct):
        for value in part._fields.values():
            _arrays(value, found)
    elif isinstance(part, dict):
        for value in part.values():
            _arrays(value, found)
    elif isinstance(part, tuple):
        same = SAME.get(type(part), set())
        for name, value in zip(getattr(part, "_fields", range(len(part))), part):
            if name not in same:
                _arrays(value, found)


# ------------------------------------------------------------------------------------------------ copies


@cache
def _copied_records() -> tuple[type, ...]:
    """Records that hold arrays of a run; what else is no array, struct or container is shared."""
    from netsim.multibody.jointspace.element import TreeElement
    from netsim.multibody.jointspace.partials import Partials

    return Running, EventIteration, Machine, Recovery, StagePlan, TreeElement, Partials, RunSnapshot


def duplicate(root: Any, values: Values) -> Any:
    """Another one of whatever holds parts of runs, with arrays of its own, and parameters that have these values."""
    known: dict[int, Any] = {}
    pairs: list[tuple[Array, Array]] = []
    found = _copied(root, known, pairs, values)
    _exchange_addresses(pairs)
    return found


def _copied(part: Any, known: dict[int, Any], pairs: list[tuple[Array, Array]], values: Values) -> Any:  # noqa: C901
    def again(other: Any) -> Any:
        return _copied(other, known, pairs, values)

    if id(part) in known:
        return known[id(part)]
    found: Any = part
    match part:
        case np.ndarray():
            found = part.copy()
            pairs.append((part, found))
        case Struct():
            found = Struct(part.word, **{name: again(value) for name, value in part._fields.items()})
        case Pace():
            found = part.copied()
        case list() | deque() | dict():
            found = known[id(part)] = type(part)() if not isinstance(part, deque) else deque(maxlen=part.maxlen)
            if isinstance(part, dict):
                found.update({name: again(value) for name, value in part.items()})
            else:
                found.extend(map(again, part))
        case tuple():
            inside = map(again, part)
            found = type(part)(*inside) if hasattr(part, "_fields") else tuple(inside)
        case Values():
            found = values
        case Call():
            live = isinstance(part.parameters, ChangingParameters)
            found = replace(part, parameters=again(part.parameters)) if live else part
        case Machine():
            own = {
                key: again(array) if isinstance(array, ChangingParameters) else array
                for key, array in part.parameters.items()
            }
            rest = {name: again(getattr(part, name)) for name in ("problem", "g", "calls", "element")}
            found = replace(part, values=values, parameters=own, alive=[*part.alive, part], **rest)
        case _ if type(part) in _copied_records():
            found = replace(part, **{f.name: again(getattr(part, f.name)) for f in fields(part) if f.name != "structs"})
            if isinstance(found, Running):
                found.structs = {}  # by identity of what was copied
    known[id(part)] = found
    return found


def _exchange_addresses(pairs: list[tuple[Array, Array]]) -> None:
    """Addresses of arrays in tables that were copied, where the arrays were, too."""
    moved = {old.ctypes.data: new.ctypes.data for old, new in pairs if old.size}
    olds = np.array(sorted(moved), np.int64)
    news = np.array([moved[int(old)] for old in olds], np.int64)
    for _, table in pairs:
        if table.dtype == np.int64 and table.size and len(olds):
            at = np.minimum(np.searchsorted(olds, table), len(olds) - 1)
            table[...] = np.where(olds[at] == table, news[at], table)
