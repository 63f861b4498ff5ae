"""Periodic orbits by Newton's method on the map of a period (shooting).

With P(z) the states one period T behind z, an orbit is P(z) = z. The monodromy matrix M = dP/dz comes from the
variational equations along the run, events included, so that

    (M - 1) dz = z - P(z),

in coordinates of the changes that constraints allow. Where nothing depends on time T is unknown too, with the phase
condition that dz is at right angles to the orbit (T. Parker, L. Chua, Practical Numerical Algorithms for Chaotic
Systems, 1989).
"""

from dataclasses import dataclass, replace

import numpy as np

from netsim.analyses.periodic.states import Directions, States, directions, names_of_discretes, point_at, sizes_of
from netsim.analyses.sensitivity.forward import Forward, follow, traced_run
from netsim.analyses.sensitivity.varied import direction
from netsim.analyses.signals.points import Point
from netsim.equations.machine import Machine
from netsim.initial.charts import recharted
from netsim.initial.differentiated import plan_differentiated, set_planned_differentiated
from netsim.initial.initial import set_differentiated
from netsim.results.selection import Selection
from netsim.simulate.events.iteration import event_iteration
from netsim.simulate.options import TransientOptions
from netsim.simulate.running import Running
from netsim.structure.time_events import time_events_of
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray
MOST, HALVINGS = 25, 5
"""Newton iterations, and how often a step is halved."""
WORSE = 2.0
"""A step is taken back that lets the difference over a period grow by more."""
LONGER = 0.3
"""The share by which an unknown period changes at most in a step."""
NOISE = 100.0
"""What the error test leaves of the map, in rtol: steps that shrink no more are accepted below it."""
ALONE = 1e-8
"""An orbit is not isolated where M - 1 is singular to this share."""
AT_REST, LITTLE, BRIEF = 1e-7, 1e-3, 0.01
"""An orbit whose states move by less than the first share of their sizes is none, one that is not found and moves by
less than the second comes to rest, and so does one of so short a period, beside the one that was asked for."""
FITS = 10.0
"""Sizes of states are taken anew from a period where they have been so many times too large or too small."""
STEPS = 500
"""Steps of a period at rest: disturbances of it are followed by them."""
AGAIN = 1e-4
"""States, in sizes, are the same two periods later that differ by less: the start of an unstable orbit is not exact."""
PRIMES, REPEATED = (2, 3, 5), 30
"""Parts of a period that a free oscillation may repeat itself after, and how often it may at most."""
TURN, SAME = 2.0 * np.pi, 1e-5
"""A turn in rad; rates are the same that differ by less than this share of the largest."""
NOTHING = np.zeros(0)


@dataclass(frozen=True, eq=False)
class PeriodMap:
    """One period from a point: its end, the basis of changes at the start and what they become (states, freedom), rates
    of states at both ends, in sizes per period; the states, with the sizes that all this is measured by.

    still: changes that nothing depends on (freedom, number); ahead: how far the end is from the start along them (a
    shaft that turns, an integral that grows); turned: whole turns of other angles; miss: how far it is without both."""

    start: Point
    period: float
    found: Forward
    end: Array
    along: Directions
    image: Array
    rates: Array
    still: Array
    ahead: Array
    turned: Array
    miss: Array
    states: States

    @property
    def monodromy(self) -> Array:
        """M in coordinates of the basis."""
        return np.asarray(self.along.basis.T @ self.image)

    @property
    def distance(self) -> float:
        """The largest difference of a state over the period, in sizes."""
        return float(np.abs(self.along.basis @ (self.along.basis.T @ self.miss)).max(initial=0.0))

    @property
    def swing(self) -> float:
        """The largest way of a state during the period, in sizes."""
        rows = self.found.run.traced[:, -1, 1:].copy()
        plan = plan_differentiated(self.start.machine)
        for row in rows:
            set_planned_differentiated(plan, row)
        return float((np.ptp(rows[:, self.states.places], axis=0) / self.states.sizes).max(initial=0.0))


def period_map(
    start: Point, period: float, options: TransientOptions, selection: Selection, states: States,
    known: Directions | None = None,
) -> PeriodMap:  # fmt: skip
    """A period with its derivatives, along directions that are `known` or those at the start; raises `SimulationError`
    where it cannot be followed."""
    machine, structure, g = start.machine, start.structure, start.g
    options, events = replace(options, stop=period), time_events_of(machine, period)
    found = event_iteration(machine, structure)
    along = known or directions(machine, structure, g, found.mode(g) if found else b"", states)
    run = traced_run(machine, structure, g.copy(), replace(options, resumed=True), events, selection, NOTHING)
    varied = [direction(machine, g, events, each) for each in along.whole.T]
    forward = follow(run, g, varied, events, selection)
    end = states.clock.begun_again(machine, g, forward.end, period)
    scaled = forward.last[:, states.places] / states.sizes
    basis, image = along.basis, scaled[:-1].T
    still = _still(machine, along, image, states, period)
    miss = states.between(machine, g, end)
    ahead = basis @ still @ (still.T @ (basis.T @ miss))
    turned, angles = np.zeros(len(miss)), states.angles
    turned[angles] = TURN / states.sizes[angles] * np.round((miss - ahead)[angles] * states.sizes[angles] / TURN)
    miss = miss - ahead - turned
    return PeriodMap(start, period, forward, end, along, image, period * scaled[-1], still, ahead, turned, miss, states)


def end_after(start: Point, duration: float, options: TransientOptions, states: States) -> Array:
    """The point so long behind a start, before what happens there, as a period begins with it."""
    machine, g, options = start.machine, start.g, replace(options, stop=duration, resumed=True)
    events = time_events_of(machine, duration)
    run = traced_run(machine, start.structure, g.copy(), options, events, Selection(), NOTHING)
    return states.clock.begun_again(machine, g, last_point(run), duration)


def last_point(run: Running) -> Array:
    """Where the last step of a run has ended, before what happens at this instant."""
    g = run.traced[-1, -1, 1:].copy()
    set_differentiated(run.machine, g)
    recharted(run.machine.system, g, all_of_them=True)
    return g


def _rates(machine: Machine) -> Array:
    """Places in g of the rates of states."""
    layout = machine.system.layout
    return np.r_[layout.v : layout.y, layout.history : layout.step_size]


def _still(machine: Machine, along: Directions, image: Array, states: States, period: float) -> Array:
    """Changes, in coordinates of the basis, that stay as they are over a period and change no rate: nothing depends on
    them."""
    places, basis = _rates(machine), along.basis
    _, size, right = np.linalg.svd(basis.T @ image - np.eye(basis.shape[1]))
    found = right[size <= ALONE * max(1.0, size.max(initial=0.0))].T
    changed = period * (along.whole @ found)[places] / states.sizes[: len(places), None]
    _, size, right = np.linalg.svd(changed) if found.size else (None, np.zeros(0), np.eye(0))
    left = np.append(size, np.zeros(len(right) - len(size))) <= SAME
    return np.asarray(found @ right[left].T)


def moved_start(lap: PeriodMap, step: Array) -> Array:
    """The start, changed by `step` in coordinates of the basis, consistent to first order; conditions as they are at
    the end of the period."""
    layout, g, change = lap.start.machine.system.layout, lap.start.g.copy(), lap.along.whole @ step
    numbers = lap.states.places[2 * layout.nk + layout.nq :]
    held = g[numbers] + change[numbers]
    g[layout.x :] += change[layout.x :]
    g[layout.discretes : layout.x] = lap.end[layout.discretes : layout.x]
    g[numbers] = g[numbers + layout.nz] = held
    return g


def newton_step(lap: PeriodMap, free: bool) -> tuple[Array, float] | None:
    """Newton's step, in coordinates of the basis, and the change of the period; None where some changes neither decay
    nor grow."""
    matrix = bordered_matrix(lap, free)
    sizes = np.linalg.svd(matrix, compute_uv=False)
    if len(sizes) and not sizes[-1] > ALONE * sizes[0]:
        return None
    step, change = solved(lap, matrix, lap.miss)
    return step, lap.period * float(np.clip(change, -LONGER, LONGER)) if free else 0.0


def bordered_matrix(lap: PeriodMap, free: bool) -> Array:
    """M - 1 with what fixes changes that nothing depends on, and of a free oscillation the phase and the period."""
    basis, border = lap.along.basis, lap.still
    if free:
        border = np.column_stack([border, basis.T @ lap.rates])
    none = np.zeros((border.shape[1], border.shape[1]))
    return np.block([[lap.monodromy - np.eye(basis.shape[1]), border], [border.T, none]])


def solved(lap: PeriodMap, matrix: Array, miss: Array) -> tuple[Array, float]:
    """The change of the start, in coordinates of the basis, and the one of the period, as a share, that make up for
    states (in sizes) by which the end misses the start."""
    count = lap.along.basis.shape[1]
    right = np.append(-lap.along.basis.T @ miss, np.zeros(len(matrix) - count))
    step = np.linalg.solve(matrix, right)
    return step[:count], float(step[-1]) if len(step) else 0.0


def orbit(
    start: Point, period: float, free: bool, options: TransientOptions, selection: Selection, states: States
) -> tuple[PeriodMap, int]:
    """The periodic orbit near a point, and how many periods were run; raises `SimulationError` (E447, E449)."""
    if free and not len(states.places):
        message = "the network has no states: nothing oscillates by itself"
        raise SimulationError(Problem("E449", message, hint="run transient() shows what follows from its inputs"))
    here, count, before = period_map(start, period, options, selection, states), 1, np.inf
    if not len(states.places):
        return here, count
    found: tuple[Array, float] | None = None
    for _ in range(MOST):
        if free and (here.swing < AT_REST or here.period < BRIEF * period):
            break
        found = newton_step(here, free)
        if found is None:  # a limit may act: the period goes on to the next one
            if here.distance <= NOISE * options.rtol:
                break
            after = replace(start, g=point_at(start.machine, start.structure, here.end))
            here, count = period_map(after, here.period, options, selection, here.states), count + 1
            continue
        step, change = found
        size = max(float(np.abs(here.along.basis @ step).max(initial=0.0)), abs(change) / here.period)
        if not len(_unsettled(here)) and (
            size <= options.rtol or (size > 0.5 * before and max(size, here.distance) <= NOISE * options.rtol)
        ):
            _check_turns(here)
            if not options.step and here.swing < AT_REST:  # the error test sees nothing move
                fine = replace(options, max_step=here.period / STEPS)
                here, count = period_map(here.start, here.period, fine, selection, here.states), count + 1
            return here, count
        here, tried = _improved(here, step, change, options, selection)
        count, before = count + tried, size
        if fitting := fitting_states(here, free):
            here, count, before = period_map(here.start, here.period, options, selection, fitting), count + 1, np.inf
    raise _not_found(here, free, here.period < BRIEF * period, found is None, count)


def _not_found(here: PeriodMap, free: bool, brief: bool, alone: bool, count: int) -> SimulationError:
    """Why there is no orbit (E447, E449)."""
    if free and (here.swing < LITTLE or brief):
        message = "the search comes to a state of rest: no oscillation was found near this start"
        hint = (
            "give a `period` nearer to its own, start it elsewhere (`start`), or let it swing up for longer (`warm_up`)"
        )
        return SimulationError(Problem("E449", message, hint=hint))
    if alone:
        message = "the periodic state is not isolated: some disturbances neither decay nor grow over a period"
        hint = "what stores energy without a loss, or moves along freely, needs a damper or a resistance"
        return SimulationError(Problem("E449", message, hint=hint))
    system = here.start.machine.system
    if len(changed := _unsettled(here)) and not here.distance > AT_REST:
        name, k = names_of_discretes(system)[int(changed[0])], system.layout.discretes + changed[0]
        message = f"no periodic state was found in {count} periods: '{name}' is {here.start.g[k]:.6g} at the beginning "
        message += f"of a period and {here.end[k]:.6g} at its end"
        hint = "leave out what counts on, or look for a multiple of the period (subharmonics)"
        return SimulationError(Problem("E447", message, hint=hint))
    names = here.states.names(system)
    worst = int(np.argmax(np.abs(here.miss)))
    message = f"no periodic state was found in {count} periods: '{names[worst]}' changes most over a period of "
    message += f"{here.period:.6g} s, by {abs(here.miss[worst]) * here.states.sizes[worst]:.3g} in SI units"
    hint = "begin nearer to it (`warm_up`, `start`), or look for a multiple of the period (subharmonics)"
    return SimulationError(Problem("E447", message, hint=hint))


def check_next(lap: PeriodMap, options: TransientOptions) -> None:
    """Raises `SimulationError` (E448) where the period behind an orbit is another one."""
    machine, g, states = lap.start.machine, lap.start.g, lap.states
    end = end_after(lap.start, 2.0 * lap.period, options, states)
    miss = states.between(machine, g, end) - 2.0 * (lap.ahead + lap.turned)
    if np.abs(miss).max(initial=0.0) > AGAIN:
        name = states.names(machine.system)[int(np.argmax(np.abs(miss)))]
        message = f"sources do not repeat after {lap.period:.6g} s: '{name}' differs in the period behind it"
        hint = "give a `period` after which all sources repeat; what has ended or begun once has none"
        raise SimulationError(Problem("E448", message, hint=hint))


def repetitions(lap: PeriodMap, options: TransientOptions) -> int:
    """How often a free oscillation repeats itself in the period that was found: where the search began far from its own
    period that may be a multiple of it."""
    count = 1
    for prime in PRIMES:
        while count * prime <= REPEATED and _repeats(lap, count * prime, options):
            count *= prime
    return count


def _repeats(lap: PeriodMap, count: int, options: TransientOptions) -> bool:
    end = end_after(lap.start, lap.period / count, options, lap.states)
    miss = lap.states.between(lap.start.machine, lap.start.g, end) - (lap.ahead + lap.turned) / count
    return bool(np.abs(miss).max(initial=0.0) < AGAIN * min(1.0, lap.swing))


def _check_turns(lap: PeriodMap) -> None:
    """Raises `SimulationError` (E449) where angles have advanced by turns that are not the same to the network."""
    places = _rates(lap.start.machine)
    begins, ends = (g[places] / lap.states.sizes[: len(places)] for g in (lap.start.g, lap.end))
    size = np.abs([begins, ends]).max(initial=0.0)
    if lap.turned.any() and (np.abs(begins - ends) > SAME * size).any():
        message = f"after {lap.period:.6g} s angles have advanced by whole turns, but forces are not what they were"
        raise SimulationError(Problem("E449", message, hint="what winds up (a spring) has no periodic state"))


def fitting_states(lap: PeriodMap, free: bool) -> States | None:
    """The states with sizes as they are on this period, where those that were known are far from them.

    Those of a free oscillation only grow, for it comes to rest where they shrink, and those of held numbers, which may
    be 0 for a period."""
    states, layout = lap.states, lap.start.machine.system.layout
    run = lap.found.run
    sizes = sizes_of(run, run.traced[:, :, 1:].reshape(-1, layout.size), states.places)
    grow = slice(0 if free else 2 * layout.nk + layout.nq, None)
    sizes[grow] = np.maximum(sizes, states.sizes)[grow]
    apart = (sizes > FITS * states.sizes) | (states.sizes > FITS * sizes)
    return replace(states, sizes=sizes) if apart.any() else None


def _unsettled(lap: PeriodMap) -> Array:
    """Conditions and counts, by number, that are not at the end what they are at the start."""
    layout = lap.start.machine.system.layout
    held = slice(layout.discretes, layout.befores)
    here, there = lap.start.g[held], lap.end[held]
    return np.flatnonzero((here != there) & (here == np.round(here)) & (there == np.round(there)))


def _improved(
    here: PeriodMap, step: Array, change: float, options: TransientOptions, selection: Selection
) -> tuple[PeriodMap, int]:
    """The period from where Newton's step leads, or a part of it that makes nothing worse; and how many were tried."""
    found: PeriodMap | None = None
    for k in range(HALVINGS):
        try:
            start = here.start
            g = point_at(start.machine, start.structure, moved_start(here, step * 0.5**k))
            known = here.along if here.along.free else None
            found = period_map(
                replace(start, g=g), here.period + change * 0.5**k, options, selection, here.states, known
            )
        except SimulationError:
            if k == HALVINGS - 1 and found is None:
                raise
            continue
        if found.distance <= WORSE * here.distance or found.distance < NOISE * options.rtol:
            return found, k + 1
    assert found is not None
    return found, HALVINGS
