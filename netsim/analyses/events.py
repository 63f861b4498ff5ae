"""Events: discretes and truths exchanged until they agree with a consistent point, several at one instant, impulses where states are set anew.

A round takes the truths that its point gives, from them the next discretes, applies what `when` says, and solves the point again with positions,
velocities and charges held. It ends where nothing changes any more. Velocities that `reinit` sets are an impulse: of all velocities that obey the
constraints and take the wanted values the one nearest to those before, in the metric of kinetic energy, so that momentum is kept along everything
that is free.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netsim.batches import Batch
from netsim.errors import Problem, SimulationError, Span
from netsim.integrators.crossings import SLACK, Watch, look
from netsim.kernels.bundle import bundled
from netsim.solvers.consistent import Consistent, compiled_plan, make_consistent, nothing_to_recover
from netsim.solvers.initial import Structure
from netsim.solvers.machine import TIME, Call, Machine, call_table
from netsim.solvers.recovery import Recovery, plan_recovery, recover
from netsim.solvers.stages import Stages, solve_stage
from netsim.starts import StartRow, linear_kernel, kernel_row

Array = np.ndarray
ROUNDS = 100
LOOSE = 1e-9
"""Within an instant an indicator this small beside the largest it had keeps its truth."""
CROWD, SHRUNK, SHRINKING = 12, 1e-9, 1e-5
"""So many events of one condition within the smaller share of a run, or ever faster within the larger, are one another's echo."""
BESIDE = 8 * 2.220446049250313e-16


@dataclass(frozen=True)
class Event:
    """What happened: instant (s), element, condition as written, and what discretes became or which states were set."""

    time: float
    element: str
    condition: str
    changes: str
    span: Span | None = field(default=None, compare=False)


@dataclass(frozen=True)
class _Place:
    """A relation, happening or reinit of an instance, or a discrete of it."""

    batch: Batch
    position: int
    of: Any


@dataclass(eq=False)
class Settling:
    """The events of one run: kernels, places, consistent plans by the values of the discretes, and the log."""

    machine: Machine
    structure: Structure
    watch: Watch
    relations: list[_Place]
    discretes: list[_Place]
    whens: list[_Place]
    resets: list[_Place]
    calls: list[Call]
    strict: Array
    plans: dict[bytes, tuple[Recovery, Consistent]] = field(default_factory=dict)
    log: list[Event] = field(default_factory=list)
    recent: dict[tuple[str, str], deque[float]] = field(default_factory=dict)

    @property
    def truths(self) -> slice:
        return slice(self.machine.system.layout.truths, self.machine.system.layout.x)

    @property
    def values(self) -> slice:
        return slice(self.machine.system.layout.discretes, self.machine.system.layout.befores)

    @property
    def befores(self) -> slice:
        return slice(self.machine.system.layout.befores, self.machine.system.layout.truths)


def has_events(machine: Machine) -> bool:
    """Whether anything in it changes at events."""
    return machine.system.layout.nz + machine.system.layout.truth_count > 0


def settling(machine: Machine, structure: Structure, careful: bool = False) -> Settling | None:
    """The events of a machine; None where it has none."""
    system, layout = machine.system, machine.system.layout
    if not has_events(machine):
        return None
    batches = [b for b in system.batches if b.n_discretes or b.n_truths]
    fired = sum(len(b.form.events.whens) * b.n for b in batches)
    targets = sum(len(b.form.events.resets) * b.n for b in batches)
    relations, discretes = _places(batches, layout.truth_count, "relations"), _places(batches, layout.nz, "names")
    whens, resets, calls = [], [], []
    first_fired, first_target = layout.truth_count + layout.nz, layout.truth_count + layout.nz + fired
    for b in batches:
        events, at = b.form.events, np.arange(b.n)
        rows = {"indicator": b.truths, "next": lambda i, b=b: layout.truth_count + b.discretes(i)}
        rows |= {"fired": lambda j, f=first_fired, b=b: f + j * b.n + np.arange(b.n), "target": lambda r, f=first_target, b=b: f + r * b.n + np.arange(b.n)}
        scatter = np.array([rows[kind](k) for kind, k in b.kernels.events.scatter], np.int32).reshape(-1, b.n)
        gather = np.ascontiguousarray(system.gather(b, b.kernels.events).ravel())
        calls.append(Call(b.kernels.events.program, b.n, gather, machine.parameters[id(b)], np.ascontiguousarray(scatter.ravel())))
        whens += [_Place(b, int(k), w) for w in events.whens for k in at]
        resets += [_Place(b, int(k), r) for r in events.resets for k in at]
        first_fired, first_target = first_fired + len(events.whens) * b.n, first_target + len(events.resets) * b.n
    watch = Watch(
        call_table(calls, layout.uniforms), np.zeros(first_target), np.zeros(layout.truth_count), np.array([p.of.timed for p in relations], np.int64),
        np.array([bool(p.of) for p in discretes], np.int64), np.zeros(layout.truth_count),
        np.zeros(3 * layout.nk + layout.ny + 2 * layout.nq + 4 * layout.nr),
        np.array([layout.truth_count, layout.nz, fired, layout.discretes, layout.truths, int(careful)], np.int64),
    )  # fmt: skip
    strict = np.array([p.of.strict for p in relations], bool)
    return Settling(machine, structure, watch, relations, discretes, whens, resets, calls, strict)


def _places(batches: list[Batch], count: int, kind: str) -> list[_Place]:
    """What stands behind every relation or discrete, by its number."""
    found: list[Any] = [None] * count
    for b in batches:
        for i, of in enumerate(getattr(b.form.events, kind)):
            for k, number in enumerate(b.truths(i) if kind == "relations" else b.discretes(i)):
                found[number] = _Place(b, k, of)
    return found


# ------------------------------------------------------------------------------------------------ at the start


def starts_otherwise(s: Settling, g: Array) -> bool:
    """Whether the discretes at a start do not agree with its point; g then holds their next values."""
    begin_truths(s, g)
    look(bundled(s.machine.problem), bundled(s.watch), g)
    following = s.watch.found[len(s.relations) : len(s.relations) + len(s.discretes)]
    named = s.watch.named > 0
    if np.array_equal(following[named], g[s.values][named]):
        return False
    g[s.values] = g[s.befores] = np.where(named, following, g[s.values])
    return True


def begin_truths(s: Settling, g: Array) -> None:
    """Truths as the point gives them, and what conditions hold, without making anything happen; samples are still to come."""
    look(bundled(s.machine.problem), bundled(s.watch), g)
    sampled = np.array([p.of.sampled for p in s.relations], bool)
    indicators = s.watch.found[: len(s.relations)]
    s.watch.peak[:] = np.maximum(s.watch.peak, np.abs(indicators))
    g[s.truths] = ~sampled & ((indicators < 0.0) | ((indicators == 0.0) & ~s.strict))
    before = g[s.values].copy()
    for _ in range(ROUNDS):
        look(bundled(s.machine.problem), bundled(s.watch), g)
        following = s.watch.found[len(s.relations) : len(s.relations) + len(s.discretes)]
        hidden = np.array([not p.of for p in s.discretes])
        if np.array_equal(g[s.values][hidden], following[hidden]):
            break
        g[s.values] = g[s.befores] = np.where(hidden, following, before)


# ------------------------------------------------------------------------------------------------ at an instant


def settle(s: Settling, g: Array, t: float) -> bool:
    """Exchange truths and discretes at what g holds (consistent, time included) until nothing changes; False where nothing did.

    Raises `SimulationError` where they never agree or no consistent point follows."""
    before = g[s.values].copy()
    changed: list[tuple[_Place, str]] = []
    for round_ in range(ROUNDS):
        flips = _exchange_truths(s, g, SLACK if round_ == 0 else LOOSE)
        look(bundled(s.machine.problem), bundled(s.watch), g)
        found, n, m = s.watch.found, len(s.relations), len(s.relations) + len(s.discretes)
        following, fired = found[n:m].copy(), np.flatnonzero(found[m : m + len(s.whens)] > 0.5)
        if not len(fired) and np.array_equal(following, g[s.values]):
            if round_:
                _log(s, g, before, changed, t)
            return bool(changed)
        changed += [(s.whens[j], "") for j in fired] + [(s.relations[k], "") for k in flips]
        targets = found[m + len(s.whens) :].copy()
        set_anew = [(r, targets[i]) for i, r in enumerate(s.resets) if _happens(s, r, fired)]
        if set_anew:
            _set_states(s, g, set_anew)
        _follow(s, g, following, t)
    names = sorted({f"'{place.batch.labels[place.position]}' ({place.of.text})" for place, _ in changed[-6:]})
    hint = "two of these conditions may exclude one another: a gap between their thresholds (hysteresis) ends it"
    raise SimulationError(Problem("E509", f"at t = {t:.9g} s conditions keep switching one another: {', '.join(names)}", changed[-1][0].of.span, hint=hint))


def _follow(s: Settling, g: Array, following: Array, t: float) -> None:
    """Discretes and a consistent point that agree, what happens happening all the while: a sampler behind a sampler takes the new value."""
    n, m = len(s.relations), len(s.relations) + len(s.discretes)
    for _ in range(ROUNDS):
        g[s.values] = following
        make_whole(s, g, t)
        look(bundled(s.machine.problem), bundled(s.watch), g)
        again = s.watch.found[n:m]
        if np.array_equal(again, following):
            break
        following = again.copy()
    else:
        raise SimulationError(Problem("E509", f"at t = {t:.9g} s discretes and the point that follows from them never agree", hint="pre() breaks such a loop"))
    g[s.befores] = g[s.values]


def leave(s: Settling, g: Array, stop: float) -> None:
    """Truths of indicators at zero by the way they go from here, as far as that is known and changes nothing else: a ball that leaves the floor is
    above it, however short the hop, and what stands still is neither above nor below."""
    layout, problem, watch = s.machine.system.layout, bundled(s.machine.problem), bundled(s.watch)
    n, m, dt = len(s.relations), len(s.relations) + len(s.discretes), 1e-9 * stop
    look(problem, watch, g)
    now = s.watch.found[:n].copy()
    x, v, a, y = layout.x, layout.v, layout.a, layout.y
    ahead = g.copy()
    ahead[x:v] += dt * g[v:a] + 0.5 * dt * dt * g[a:y]
    ahead[v:a] += dt * g[a:y]
    look(problem, watch, ahead)
    rise = s.watch.found[:n] - now
    near = (np.abs(now) <= LOOSE * s.watch.peak) & (s.watch.timed == 0)
    before = g.copy()
    g[s.truths] = np.where(near, (rise < 0.0) | ((rise == 0.0) & ~s.strict), g[s.truths])
    look(problem, watch, g)
    named = s.watch.named > 0
    following = s.watch.found[n:m]
    if np.any(s.watch.found[m : m + len(s.whens)] > 0.5) or not np.array_equal(following[named], g[s.values][named]):
        g[:] = before
    else:
        g[s.values] = g[s.befores] = following


def _exchange_truths(s: Settling, g: Array, slack: float) -> list[int]:
    """Truths that the indicators contradict are exchanged; which ones."""
    look(bundled(s.machine.problem), bundled(s.watch), g)
    indicators = s.watch.found[: len(s.relations)]
    s.watch.peak[:] = np.maximum(s.watch.peak, np.abs(indicators))
    bound = np.where(s.watch.timed, 0.0, slack * s.watch.peak)
    now = g[s.truths] > 0.5
    true = (indicators < -bound) | ((s.watch.timed > 0) & (indicators == 0.0) & ~s.strict)
    false = (indicators > bound) | ((s.watch.timed > 0) & (indicators == 0.0) & s.strict)
    flips = np.where(now, false, true)
    g[s.truths] = np.where(flips, ~now, now)
    return [int(k) for k in np.flatnonzero(flips)]


def _happens(s: Settling, reset: _Place, fired: Array) -> bool:
    return any(s.whens[j].batch is reset.batch and s.whens[j].position == reset.position and reset.batch.form.events.whens[reset.of.when] is s.whens[j].of for j in fired)


def _set_states(s: Settling, g: Array, wanted: list[tuple[_Place, float]]) -> None:
    """The impulse (or the new charges) that gives states the values wanted, everything else as near to before as the equations allow."""
    machine, o = s.machine, s.structure.dynamic
    rows: dict[int, list[StartRow]] = {}
    for place, target in wanted:
        reset, label = place.of, place.batch.labels[place.position]
        row = kernel_row(machine.system, place.batch, place.position, linear_kernel(place.batch.form, reset.state), f"{label}: {reset.text}", "value", target, reset.span)
        stage = int(np.max(row.levels - o.d[row.variables]))
        if stage >= 0:
            hint = "reinit sets velocities and what stands under der()"
            raise SimulationError(Problem("E511", f"'{label}' cannot set anew what is no state: {reset.text}", reset.span, hint=hint))
        rows.setdefault(stage, []).append(row)
    for stage in sorted(rows):
        solve_stage(_stages(s), g, stage, rows[stage], mass_metric=machine.system.layout.nk > 0)


def _stages(s: Settling) -> Stages:
    system = s.machine.system
    weights = 1.0 / np.concatenate([system.nominals, np.ones(system.layout.nq)])
    return Stages(s.machine, s.structure.signature, s.structure.dynamic, np.ones(len(s.structure.signature.equation), bool), weights)


def make_whole(s: Settling, g: Array, t: float) -> None:
    """Accelerations, forces, rates and values for the discretes in g; positions, velocities and charges stay (time is in g)."""
    plan = plan_for(s, g, t)
    before = g.copy()
    if len(plan.sizes) and make_consistent(bundled(plan), g):
        return
    g[:] = before
    s.plans.pop(g[s.values].tobytes(), None)
    plan = plan_for(s, g, t)
    if len(plan.sizes) and make_consistent(bundled(plan), g):
        return
    g[:] = before
    lowest = -int(s.structure.dynamic.d.max(initial=0))
    for k in range(lowest + 1, 1):
        solve_stage(_stages(s), g, k, mass_metric=s.machine.system.layout.nk > 0)


def plan_for(s: Settling, g: Array, t: float) -> Consistent:
    """The plan of consistent points for the discretes in g, laid out with pivots at g where it is new."""
    key = g[s.values].tobytes()
    if key not in s.plans:
        layout = s.machine.system.layout
        recovery = plan_recovery(s.machine, s.structure, g)
        charges = g[layout.charge(np.arange(layout.nq), 0)]
        try:
            recover(recovery, g, np.concatenate([g[layout.x : layout.history], charges, g[layout.history : layout.step_size]]), float(g[TIME]))
            s.plans[key] = recovery, compiled_plan(recovery)
        except SimulationError:
            s.plans[key] = recovery, nothing_to_recover()
    return s.plans[key][1]


# ------------------------------------------------------------------------------------------------ known instants


def due(s: Settling, g: Array, t: float, stop: float) -> float:
    """The next instant at which a relation of time alone changes; infinity without one. What is not linear in time is watched like any other."""
    if not s.watch.timed.any():
        return np.inf
    at, problem, watch, found = g[TIME], bundled(s.machine.problem), bundled(s.watch), []
    for instant in (t, t + 0.5 * stop, t + stop):
        g[TIME] = instant
        look(problem, watch, g)
        found.append(s.watch.found[: len(s.relations)].copy())
    g[TIME] = at
    first, middle, last = found
    straight = np.abs(first + last - 2 * middle) <= 1e-12 * (np.abs(first) + np.abs(last))
    s.watch.timed[:] &= straight
    slope = (last - first) / stop
    with np.errstate(all="ignore"):
        instants = t - first / slope
    later = (s.watch.timed > 0) & np.isfinite(instants) & (instants > t + 2 * BESIDE * max(abs(t), 1e-9 * stop))
    return float(np.min(instants[later], initial=np.inf))


# ------------------------------------------------------------------------------------------------------- the log


def _log(s: Settling, g: Array, before: Array, changed: list[tuple[_Place, str]], t: float) -> None:
    """One entry per element whose discretes changed or whose `when` happened."""
    for label, condition, span, words in _entries(s, g, before, changed):
        s.log.append(Event(t, label, condition, words, span))


def _entries(s: Settling, g: Array, before: Array, changed: list[tuple[_Place, str]]) -> Iterator[tuple[str, str, Span, str]]:
    became: dict[tuple[int, int], list[str]] = {}
    for i, place in enumerate(s.discretes):
        value = g[s.values][i]
        if place.of and value != before[i]:
            became.setdefault((id(place.batch), place.position), []).append(f"{place.of} = {value:g}")
    causes: dict[tuple[int, int], list[_Place]] = {}
    for place, _ in changed:
        causes.setdefault((id(place.batch), place.position), []).append(place)
    for key in dict.fromkeys([*causes, *became]):
        places = causes.get(key, [])
        happened = [p for p in places if hasattr(p.of, "fired")] or places
        words = became.get(key, [])
        for p in happened:
            numbers = [j for j, w in enumerate(p.batch.form.events.whens) if w is p.of]
            words += [r.text for r in p.batch.form.events.resets if r.when in numbers]
        if not words and not any(hasattr(p.of, "fired") for p in places):
            continue
        some = happened[0] if happened else next(p for p in s.discretes if (id(p.batch), p.position) == key)
        yield some.batch.labels[some.position], ", ".join(dict.fromkeys(p.of.text for p in happened)), getattr(some.of, "span", None), ", ".join(dict.fromkeys(words))


def log_text(s: Settling) -> str:
    """The log as text, a line per event: instant, element, condition, changes, between tabs."""
    return "\n".join(f"{e.time!r}\t{e.element}\t{e.condition}\t{e.changes}" for e in s.log)


def crowded(s: Settling, since: int, stop: float) -> Problem | None:
    """The problem of events of one condition (those of the log from `since` on) that come ever faster and lead nowhere."""
    for event in s.log[since:]:
        times = s.recent.setdefault((event.element, event.condition), deque(maxlen=CROWD))
        times.append(event.time)
        gaps = np.diff(times)
        near = SHRINKING if np.all(gaps[1:] < gaps[:-1]) else SHRUNK
        if len(times) == CROWD and times[-1] - times[0] < near * stop:
            message = f"'{event.element}' switches without end at t = {event.time:.6g} s: {CROWD} times '{event.condition}' within {times[-1] - times[0]:.1e} s"
            hint = "let it come to rest (a discrete that holds below a smallest speed), or keep its thresholds apart (hysteresis)"
            return Problem("E510", message, event.span, hint=hint)
    return None

