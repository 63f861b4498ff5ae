"""The state of a run as a tree of numbers and arrays, from which another process continues it to the same bits.

All that a run changes stands in arrays (netsim.simulate.snapshots). Another process begins the same run and writes them
over its own, place by place. What grew on the way is built again first: factors of new pivots, which are arrays alone,
and plans of consistent points by the mode they serve. Call tables contain addresses; they are never stored. They follow
from the machine and from the point for which a plan was made.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.consistent import Consistent
from netsim.core.linear.factors import Factor
from netsim.core.loop.sampler import with_longer_trace, with_more_rows
from netsim.equations.batches import indeterminacy_of
from netsim.initial.flat_plan import with_contents
from netsim.initial.recovery import plan_recovery
from netsim.simulate.events.event_log import CROWD, Event, Line
from netsim.simulate.methods import prepared
from netsim.simulate.retreat import Retreat
from netsim.simulate.running import Pace, Running
from netsim.simulate.snapshots import ROWS, SAME, restore_snapshot, snapshot
from netsim.text.errors import Span

Array = np.ndarray
Tree = dict[str, Any]

ADDRESSES = {"code", "differentiated", "rates", "partials", "calls", "table", "readings", "tracing"}
"""Fields with addresses of this process, unless they hold other arrays or numbers."""
CONTENTS = ("partial_values", "sums", "where", "sizes", "numbers", "reals")
"""Fields of a plan that are numbers."""
FIRST, NONE = -1, -2
"""Places of a plan: the one with which the run began; one that nobody uses any more."""


class NotStorable(Exception):
    """The run is in a state that cannot be stored; an earlier one, from which it gets here again, can."""


class Differs(Exception):
    """What was stored does not fit the run that is to continue it."""


def stored(run: Running, retreat: Retreat) -> Tree:
    """The state of a run between two blocks of steps, and of the copies to which it may go back. Raises
    `NotStorable`."""
    copies = []
    if retreat.kept:
        present = snapshot(run, with_rows=False)
        try:
            for _, _, kept in retreat.kept:
                restore_snapshot(run, kept)
                copies.append(_stored(run))
        finally:
            restore_snapshot(run, present)
    back = {"until": retreat.until, "times": retreat.times, "place": retreat.place, "copies": copies}
    return {**_stored(run), "retreat": back}


def restored(run: Running, tree: Tree) -> Retreat:
    """Give a run that has just begun the state that was stored, but for rows of samples. Raises `Differs`."""
    back = tree["retreat"]
    kept = []
    for each in back["copies"]:
        _restore(run, each)
        kept.append((run.now, run.steps, snapshot(run, with_rows=False)))
    _restore(run, tree)
    return Retreat(tuple(kept), back["until"], back["times"], back["place"])


# ------------------------------------------------------------------------------------------------ one state


def _stored(run: Running) -> Tree:
    if run.first is None:
        raise NotStorable
    first_plan = run.first[0]
    modes = list(run.events.plans.items()) if run.events else []
    plans = {id(first_plan): FIRST} | {id(plan): k for k, (_, (_, plan, _)) in enumerate(modes)}
    if id(run.plan) not in plans:
        raise NotStorable
    triples = [(run.plan, run.factor, run.arrays), *run.served.values()]
    factors = list({id(factor): factor for _, factor, _ in triples}.values())
    factor_at = {id(factor): k for k, factor in enumerate(factors)}
    arrays = {id(struct): (struct, factor_at[id(factor)]) for _, factor, struct in triples}
    bundle_at = {key: k for k, key in enumerate(arrays)}
    served = [
        [mode.hex(), plans.get(id(plan), NONE), factor_at[id(factor)], bundle_at[id(struct)]]
        for mode, (plan, factor, struct) in run.served.items()
    ]
    shares = indeterminacy_of(run.machine.system.batches)
    seen = {id(part) for factor in factors for part in factor}
    seen |= {id(getattr(plan, name)) for _, (_, plan, _) in modes for name in CONTENTS}
    return {
        "factors": [factor._asdict() for factor in factors],
        "plans": [
            {"mode": mode.hex(), "point": recovery.point, **{name: getattr(plan, name) for name in CONTENTS}}
            for mode, (recovery, plan, _) in modes
        ],
        "arrays": [[at, _plan_of(struct, run, modes)] for struct, at in arrays.values()],
        "served": served,
        "present": [plans[id(run.plan)], factor_at[id(run.factor)], bundle_at[id(run.arrays)]],
        "shares": {mode.hex(): each for mode, each in shares.known.items()} if shares else {},
        "events": [_event_row(event) for event in run.events.log] if run.events else [],
        "recent": [[*key, list(times)] for key, times in run.events.recent.items()] if run.events else [],
        "room": [len(run.sampler.times), len(run.sampler.trace)],
        "pace": {**asdict(run.pace), "broken": list(map(list, run.pace.broken.items()))},
        "numbers": {name: getattr(run, name) for name in PLAIN},
        "state": dict(_arrays(run, [struct for struct, _ in arrays.values()], seen)),
    }


PLAIN = ("idle", "last", "tried", "jumps", "passed", "flushed", "requested")
"""Numbers of a run that stand beside its arrays."""


def _restore(run: Running, tree: Tree) -> None:
    assert run.first is not None
    first_plan, first_arrays = run.first
    shares = indeterminacy_of(run.machine.system.batches)
    if shares is not None:
        shares.known.clear()
        shares.known.update({bytes.fromhex(mode): each for mode, each in tree["shares"].items()})
    factors = [Factor(**each) for each in tree["factors"]]
    plans = _plans(run, tree["plans"]) if run.events else []
    plan_at = dict(enumerate(plans)) | {FIRST: first_plan, NONE: first_plan._replace()}
    arrays = []
    for at, plan in tree["arrays"]:
        found = run.method.renewed(first_arrays, factors[at])
        if plan != FIRST:
            found, alive = prepared(run.method, run.machine, factors[at], plan_at[plan], run.closing)
            run.alive.append(alive)
        arrays.append(found)
    run.served.clear()
    for mode, plan, factor, struct in tree["served"]:
        run.served[bytes.fromhex(mode)] = plan_at[plan], factors[factor], arrays[struct]
    plan, factor, struct = tree["present"]
    run.plan, run.factor, run.arrays = plan_at[plan], factors[factor], arrays[struct]
    run.structs.clear()
    if run.events:
        run.events.log[:] = map(_event, tree["events"])
        run.events.recent.clear()
        run.events.recent.update({(a, b): deque(times, maxlen=CROWD) for a, b, times in tree["recent"]})
    run.pace = Pace(**{**tree["pace"], "broken": {int(a): int(b) for a, b in tree["pace"]["broken"]}})
    for name, value in tree["numbers"].items():
        setattr(run, name, list(value) if isinstance(value, list) else value)
    _make_room(run, tree)
    targets = dict(_arrays(run, arrays, {id(part) for each in factors for part in each}))
    for path, values in tree["state"].items():
        if path not in targets or targets[path].shape != values.shape or targets[path].dtype != values.dtype:
            raise Differs(path)
        targets[path][...] = values


def _make_room(run: Running, tree: Tree) -> None:
    """As much room for samples, traces and what delays remember as there was."""
    rows, traced = tree["room"]
    while len(run.sampler.times) < rows:
        run.sampler = with_more_rows(run.sampler)
    while len(run.sampler.trace) < traced:
        run.sampler = with_longer_trace(run.sampler)
    if (len(run.sampler.times), len(run.sampler.trace)) != (rows, traced):
        raise Differs("rows of samples")
    buffer = run.machine.problem.buffer
    if "buffer.spans" in tree["state"] and tree["state"]["buffer.spans"].shape != buffer.spans.shape:
        buffer.exchange(**{name: np.zeros_like(tree["state"][f"buffer.{name}"]) for name in ("spans", "segments")})


def _plans(run: Running, trees: list[Tree]) -> list[Consistent]:
    """Plans of consistent points by mode, with the numbers that were stored, into what the run's events know."""
    s = run.events
    assert s is not None
    s.plans.clear()
    shares, found = indeterminacy_of(s.machine.system.batches), []
    for each in trees:
        mode = bytes.fromhex(each["mode"])
        if shares is not None:
            shares.use(mode)
        recovery = plan_recovery(s.machine, s.structure, each["point"], jumping=False)
        plan = with_contents(recovery, {name: each[name] for name in CONTENTS})
        if plan is None:
            raise Differs("a plan of consistent points")
        s.plans[mode] = recovery, plan, struct_of(plan)
        found.append(plan)
    return found


def _plan_of(arrays: Struct, run: Running, modes: list[Any]) -> int:
    """Which plan a method's arrays were made for, where the method is explicit and events have made one."""
    if not run.method.explicit:
        return FIRST
    for k, (_, (_, plan, _)) in enumerate(modes):
        if arrays.plan.reals is plan.reals:
            return k
    assert run.first is not None
    if arrays.plan.reals is not run.first[0].reals:
        raise NotStorable
    return FIRST


# ------------------------------------------------------------------------------------------------ its arrays


def _arrays(run: Running, arrays: list[Struct], seen: set[int]) -> Iterator[tuple[str, Array]]:
    """The arrays that a run changes, each once, with the names of their places; none of those already `seen`."""
    assert run.first is not None
    seen = set(seen)
    parts: list[tuple[str, Any]] = [(name, getattr(run, name)) for name in ("trial", "control", "sampler", "closing")]
    parts += [("first", run.first[0]), *((f"arrays{k}", each) for k, each in enumerate(arrays))]
    parts += [("buffer", run.machine.problem.buffer), ("least", run.machine.problem.least)]
    parts += [("watch", run.events.watch)] if run.events else []
    shares = indeterminacy_of(run.machine.system.batches)
    parts += [("shares", shares.coefficients)] if shares is not None else []
    for name, part in parts:
        yield from _places(name, part, seen)


def _places(path: str, part: Any, seen: set[int]) -> Iterator[tuple[str, Array]]:
    if isinstance(part, np.ndarray):
        if part.size and id(part) not in seen:
            seen.add(id(part))
            yield path, part
        return
    fields = part._fields if isinstance(part, Struct) else part._asdict()
    same = ADDRESSES | (set(ROWS) if path == "sampler" else set())
    same |= set() if isinstance(part, Consistent) else SAME.get(type(part), set())
    for name, value in fields.items():
        held = isinstance(value, Struct) or getattr(value, "dtype", None) == np.float64
        if name not in same or (name in ADDRESSES and held):
            yield from _places(f"{path}.{name}", value, seen)


def _event_row(event: Event) -> list[Any]:
    span = event.span
    place = [span.file, span.line, span.column, span.end_line, span.end_column] if span else None
    return [event.time, event.element, event.condition, event.changes, place]


def _event(row: list[Any]) -> Event:
    time, element, condition, changes, place = row
    line = Line(element, condition, resets=(changes,), span=Span(*place) if place else None)
    return Event(time, line, np.zeros(0))
