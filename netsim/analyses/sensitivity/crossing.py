"""What changes become at an event: the jump of the instant (saltation).

An event at the instant te(p), where an indicator r(g, p) passes zero, moves by dte = -(r_g dg + r_p)/(r_g g'). Along
with it everything moves by D = d + g' dte. What was before the event gives what is behind it, in total changes; behind
it the changes at a fixed instant are D - g' dte with the rates there. Positions, velocities and differentiated
quantities keep their total changes, where nothing resets them and no impulse acts; time events move as the functions of
time say. Resets and impulses are differentiated as they are carried out, along the total changes.
Source: S. Galan, W. Feehery, P. Barton, Parametric sensitivity functions for hybrid discrete/continuous systems, Appl.
Numer. Math. 31, 1999.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netsim.analyses.sensitivity.tangents import tangent_call
from netsim.analyses.sensitivity.variations import Variations, begin_variations, centred
from netsim.analyses.sensitivity.varied import VariedQuantity, event_changes
from netsim.core.compiled.call import run_table
from netsim.core.newton import set_time
from netsim.core.problem import TIME
from netsim.equations.machine import call_table
from netsim.simulate.events.events import set_states, settle
from netsim.simulate.events.iteration import EventIteration, event_iteration, same_when
from netsim.simulate.events.plans import make_whole
from netsim.simulate.running import Running
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
NEAR = 1e-9
"""An indicator this small beside the largest it had is zero at an event."""
HIT = 1e-9
"""Velocities that jump by more than this share of their size are those of an impulse."""
GRAZING = 1e-9
"""An indicator that changes by less than this share of its largest value over the run only touches zero."""
WIDE = 1e4
"""How much more of rounding an indicator is allowed that stands at zero with its truth exchanged."""
TOGETHER = 1e-12
"""Instants closer than this share of the run are one."""


@dataclass(eq=False)
class Crossing:
    """A run that is followed: its events, their tangents, the same events under changed values."""

    run: Running
    v: Variations
    of: Sequence[VariedQuantity]
    time_events: Array
    moves: Array = field(init=False)
    tangents: list[Array] = field(init=False)
    alive: list[Any] = field(default_factory=list)
    others: dict[int, list[EventIteration]] = field(default_factory=dict)
    doubts: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        layout, keys = self.v.machine.system.layout, {id(a): k for k, a in self.v.machine.parameters.items()}
        self.moves = event_changes(self.of, len(self.time_events))
        calls = self.run.events.calls if self.run.events else []
        none, self.tangents = np.zeros(0, np.int32), []
        for each in self.v.changes:
            made = [tangent_call(c, layout.uniforms, layout.size, each[keys[id(c.parameters)]]) for c in calls]
            self.alive.append((made, none))
            self.tangents.append(call_table(made, none))

    def mode(self, g: Array) -> bytes:
        """What tells apart the plans of consistent points."""
        return self.run.events.mode(g) if self.run.events else b""

    def look(self, g: Array) -> Array:
        """Indicators, next discretes, what happens, targets, scales at g."""
        found = np.zeros_like(self.run.events.watch.found)  # type: ignore[union-attr]
        run_table(self.run.events.watch.table, g, found)  # type: ignore[union-attr]
        return found

    def change(self, j: int, g: Array, d: Array) -> Array:
        """The change of all that by change j along d."""
        found = np.zeros_like(self.run.events.watch.found)  # type: ignore[union-attr]
        run_table(self.tangents[j], np.concatenate([g, d]), found)
        return found


def pass_instant(c: Crossing, before: Array, behind: Array) -> Array:
    """Take the changes over what happens between two points of one instant; how much it moves with each of them.

    Several conditions that come true together are taken one after the other, each with an instant of its own."""
    here, moves = before.copy(), np.zeros(c.v.count)
    at = np.flatnonzero(np.abs(c.time_events - behind[TIME]) <= TOGETHER * c.run.options.stop)
    causes = _causes(c, here, behind)
    d = _all_changes(c, here)
    if len(at):  # what a function of time that jumps brings with it has no instant of its own
        causes = [k for k in causes if _moves(c, k, here, d, at_once=True) is not None]
    while True:
        cause, others = (causes[0], causes[1:]) if causes else (-1, [])
        if cause >= 0:
            found = _moves(c, cause, here, d)
            assert found is not None
            moves = found
        elif len(at):
            moves = c.moves[:, at[0]]
        flipped, looked = _flipped(c, here, cause, behind)
        there = _partly(c, flipped, cause, others) if others else None
        if there is None:
            others, there = [], behind.copy()
        _take_over(c, (here, flipped, there), d[:-1] + moves[:, None] * d[-1], moves, looked)
        if not others:
            return moves
        here, causes = there, others
        d = _all_changes(c, here)


def _all_changes(c: Crossing, g: Array) -> Array:
    """Changes of all at a point, and behind them its rates in time; the point is made consistent, in charts of its
    own."""
    g[:] = centred(c.v, g)
    begin_variations(c.v, c.mode(g), g, -1)
    return c.v.run.d.copy()


def _causes(c: Crossing, before: Array, behind: Array) -> list[int]:
    """The relations that come true or cease at an instant and change something."""
    s = c.run.events
    if s is None:
        return []
    found, truths = c.look(before)[: len(s.relations)], before[s.relation_values] > 0.5
    beyond = np.where(truths, found, -found)
    timed = np.array([p.of.timed for p in s.relations], bool)
    size = np.where(s.watch.peak > 0.0, s.watch.peak, 1.0)
    near = np.abs(found) <= NEAR * size
    asked = np.where(timed, near, (beyond > 0.0) | (near & ((behind[s.relation_values] > 0.5) != truths)))
    return [int(k) for k in np.flatnonzero(asked) if _matters(c, before, int(k))]


def _matters(c: Crossing, g: Array, relation: int) -> bool:
    s = c.run.events
    assert s is not None
    found = _flipped(c, g, relation)[1]
    n, m = len(s.relations), len(s.relations) + len(s.discretes)
    other = (found[n:m] != g[s.values]) & (s.watch.named > 0)
    return bool(other.any() or (found[m : m + len(s.whens)] > 0.5).any())


def _flipped(c: Crossing, g: Array, relation: int, behind: Array | None = None) -> tuple[Array, Array]:
    """The point with the truth of a relation exchanged (-1: with functions of time and truths of the point `behind`),
    and what its events find there."""
    s, g = c.run.events, g.copy()
    if s is None:
        return g, np.zeros(0)
    if relation >= 0:
        g[s.relation_values.start + relation] = 1.0 - g[s.relation_values.start + relation]
    elif behind is not None:
        set_time(c.v.machine.struct, g, float(behind[TIME]))
        g[s.relation_values] = behind[s.relation_values]
    return g, c.look(g)


def _moves(c: Crossing, relation: int, g: Array, d: Array, at_once: bool = False) -> Array | None:
    """How much the instant moves at which a relation's indicator passes zero; where it only touches zero, None if it
    may jump there `at_once`, else it raises E517."""
    s = c.run.events
    assert s is not None
    rate = c.change(-1, g, d[-1])[relation]
    found = np.array([c.change(j, g, d[j])[relation] for j in range(c.v.count)])
    size = max(s.watch.peak[relation], np.finfo(float).tiny) / c.run.options.stop
    if abs(rate) <= GRAZING * size:
        if at_once:
            return None
        place = s.relations[relation]
        message = f"at t = {g[TIME]:.9g} s '{place.batch.labels[place.position]}' only touches '{place.of.text}'"
        hint = "there the derivative does not exist: change the parameters a little"
        raise SimulationError(Problem("E517", message, place.of.span, hint=hint))
    return -found / rate


def _fired(s: EventIteration, found: Array) -> list[int]:
    """The resets that happen."""
    m = len(s.relations) + len(s.discretes)
    now = [when for when, fired in zip(s.whens, found[m : m + len(s.whens)] > 0.5) if fired]
    return [i for i, reset in enumerate(s.resets) if any(same_when(when, reset) for when in now)]


def _partly(c: Crossing, g: Array, cause: int, others: list[int]) -> Array | None:
    """The point behind one of several conditions, whose truth is exchanged: `others` are not looked at. None, and a
    doubt, where there is no such point."""
    s = c.run.events
    assert s is not None
    g, peak, known = g.copy(), s.watch.peak.copy(), len(s.log)
    s.watch.peak[others] = np.inf
    s.watch.peak[cause] *= WIDE
    try:
        settle(s, g, float(g[TIME]))
    except SimulationError:
        places = [s.relations[k] for k in (cause, *others)]
        names = ", ".join(f"'{p.batch.labels[p.position]}' ({p.of.text})" for p in places)
        message = f"at t = {g[TIME]:.9g} s several conditions hold together: {names}; derivatives take them as one"
        c.doubts.append(Problem("W516", message, places[0].of.span))
        return None
    finally:
        s.watch.peak[:] = peak
        del s.log[known:]
    return g


def _take_over(c: Crossing, points: tuple[Array, Array, Array], total: Array, moves: Array, found: Array) -> None:
    """The changes behind an event from total changes before it; `points`: before, with truths exchanged, and behind."""
    v, s, layout = c.v, c.run.events, c.v.machine.system.layout
    here, flipped, there = points
    contents = layout.differentiated(np.arange(layout.nq), 0)
    x, rate, q = (total[:, each].copy() for each in (slice(layout.x, layout.v), slice(layout.v, layout.a), contents))
    if s is not None:
        _discretes(c, flipped, there, total, found)
        jump = np.abs(there[layout.v : layout.a] - here[layout.v : layout.a])
        fired = _fired(s, found)
        if fired or (jump > HIT * (1e-300 + np.abs(here[layout.v : layout.a]).max(initial=0.0))).any():
            x, rate, q = _struck(c, flipped, there, total, moves, fired)
    v.run.x[:-1] = x - moves[:, None] * there[layout.v : layout.a]
    v.run.v[:-1] = rate - moves[:, None] * there[layout.a : layout.y]
    v.run.q[:-1] = q - moves[:, None] * there[layout.history : layout.step_size]


def _discretes(c: Crossing, flipped: Array, there: Array, total: Array, found: Array) -> None:
    """What discrete variables change by behind the event: what they take over changes with it."""
    s, v = c.run.events, c.v
    assert s is not None
    n, m = len(s.relations), len(s.relations) + len(s.discretes)
    taken = np.abs(found[n:m] - there[s.values]) <= NEAR * np.abs(there[s.values])
    for j in range(v.count) if taken.any() else ():
        change = c.change(j, flipped, total[j])[n:m]
        here = np.where(taken, change, v.run.constant[j, s.values])
        v.run.constant[j, s.values] = v.run.constant[j, s.befores] = here


def _struck(
    c: Crossing, flipped: Array, there: Array, total: Array, moves: Array, fired: list[int]
) -> tuple[Array, Array, Array]:
    """Total changes of positions, velocities and differentiated quantities behind resets and impulses, by differences
    of what these do under changed values along the total changes."""
    s, v, layout = c.run.events, c.v, c.v.machine.system.layout
    assert s is not None
    contents, t = layout.differentiated(np.arange(layout.nq), 0), float(there[TIME])
    behind, swings = np.zeros((v.count, 2 * layout.nk + layout.nq)), slice(layout.prescribed_inputs, layout.tables)
    for j, each in enumerate(c.of):
        if j not in c.others:
            made = [event_iteration(point.machine, c.run.structure) for point in each.points]
            c.others[j] = [other for other in made if other is not None]
        for other, point, weight, share in zip(c.others[j], each.points, each.weights, each.shares):
            g = flipped + share * total[j]
            set_time(point.machine.struct, g, t + share * moves[j])
            g[swings] += share * v.run.constant[j, swings]
            g[layout.places : layout.discretes] = point.machine.g[layout.places : layout.discretes]
            g[s.relation_values] = flipped[s.relation_values]
            found = np.zeros_like(other.watch.found)
            run_table(other.watch.table, g, found)
            targets = found[len(s.relations) + len(s.discretes) + len(s.whens) :]
            set_states(other, g, [(other.resets[i], float(targets[i])) for i in fired])
            g[s.relation_values] = there[s.relation_values]
            g[s.values] = g[s.befores] = there[s.values] + share * v.run.constant[j, s.values]
            make_whole(other, g, t + share * moves[j])
            behind[j] += weight * np.concatenate([g[layout.x : layout.a], g[contents]])
    nk = layout.nk
    return behind[:, :nk], behind[:, nk : 2 * nk], behind[:, 2 * nk :]
