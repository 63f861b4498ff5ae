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

from netsim.analyses.periodic.states import Directions, States, directions
from netsim.analyses.sensitivity.forward import Forward, follow, traced
from netsim.analyses.sensitivity.varied import direction
from netsim.analyses.signals.points import Point, end_of
from netsim.initial.initial import resumed_start
from netsim.results.selection import Selection
from netsim.simulate.events.events import event_iteration
from netsim.simulate.options import TransientOptions
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
ALONE = 1e-10
"""An orbit is not isolated where M - 1 is singular to this share."""
AT_REST = 1e-7
"""An orbit whose states move by less than this share of their sizes is none."""
NOTHING = np.zeros(0)


@dataclass(frozen=True, eq=False)
class Lap:
    """One period from a point: how far its end is from its start (states, in sizes), the basis of changes at the start
    and what they become (states, freedom), rates of states at the end, in sizes per period."""

    start: Point
    period: float
    found: Forward
    end: Array
    along: Directions
    miss: Array
    image: Array
    rates: Array

    @property
    def monodromy(self) -> Array:
        """M in coordinates of the basis."""
        return np.asarray(self.along.basis.T @ self.image)

    @property
    def distance(self) -> float:
        """The largest difference of a state over the period, in sizes."""
        return float(np.abs(self.miss).max(initial=0.0))

    def swing(self, states: States) -> float:
        """The largest way of a state during the period, in sizes."""
        rows = self.found.run.traced[:, :, 1:][:, :, states.places]
        ways = np.ptp(rows.reshape(-1, len(states.places)), axis=0) / states.sizes
        return float(ways.max(initial=0.0))


def lap(start: Point, period: float, options: TransientOptions, selection: Selection, states: States) -> Lap:
    """A period with its derivatives; raises `SimulationError` where it cannot be followed."""
    machine, structure, g = start.machine, start.structure, start.g
    options, events = replace(options, stop=period), time_events_of(machine, period)
    found = event_iteration(machine, structure)
    along = directions(machine, structure, g, found.mode(g) if found else b"", states)
    run = traced(machine, structure, g.copy(), replace(options, resumed=True), events, selection, NOTHING)
    varied = [direction(machine, g, events, each) for each in along.whole.T]
    forward = follow(run, g, varied, events, selection)
    end = states.clock.begun_again(machine, g, end_of(run, 0.0), period)
    scaled = forward.last[:, states.places] / states.sizes
    miss = states.between(machine, g, end)
    return Lap(start, period, forward, end, along, miss, scaled[:-1].T, period * scaled[-1])


def moved(lap: Lap, states: States, step: Array) -> Point:
    """The start, changed by `step` in coordinates of the basis; conditions as they are at the end of the period."""
    machine, structure, layout = lap.start.machine, lap.start.structure, lap.start.machine.system.layout
    g, change = lap.start.g.copy(), lap.along.whole @ step
    numbers = states.places[2 * layout.nk + layout.nq :]
    held = g[numbers] + change[numbers]
    g[layout.x :] += change[layout.x :]
    g[layout.discretes : layout.x] = lap.end[layout.discretes : layout.x]
    for places in (numbers, numbers + layout.nz):
        g[places] = held
    return Point(machine, structure, resumed_start(machine, structure, g), 0.0)


def step_of(lap: Lap, free: bool) -> tuple[Array, float]:
    """Newton's step, in coordinates of the basis, and the change of the period; raises `SimulationError` (E449) where
    no single orbit is near."""
    basis, matrix = lap.along.basis, lap.monodromy - np.eye(lap.along.basis.shape[1])
    right = -basis.T @ lap.miss
    if free:
        flow = basis.T @ lap.rates
        matrix = np.block([[matrix, flow[:, None]], [flow[None], np.zeros((1, 1))]])
        right = np.append(right, 0.0)
    sizes = np.linalg.svd(matrix, compute_uv=False)
    if len(sizes) and not sizes[-1] > ALONE * sizes[0]:
        message = "the periodic state is not isolated: some disturbances neither decay nor grow over a period"
        hint = "what stores energy without a loss, or moves along freely, needs a damper or a resistance"
        raise SimulationError(Problem("E449", message, hint=hint))
    step = np.linalg.solve(matrix, right)
    if not free:
        return step, 0.0
    change = lap.period * float(np.clip(step[-1], -LONGER, LONGER))
    return step[:-1], change


def orbit(
    start: Point, period: float, free: bool, options: TransientOptions, selection: Selection, states: States
) -> tuple[Lap, int]:
    """The periodic orbit near a point, and how many periods were run; raises `SimulationError` (E447, E449)."""
    here, count, before = lap(start, period, options, selection, states), 1, np.inf
    for _ in range(MOST):
        if free and here.swing(states) < AT_REST:
            message = "the network comes to rest: nothing oscillates near this start"
            hint = "start it elsewhere (`start`), or let it swing up for longer (`warm_up`)"
            raise SimulationError(Problem("E449", message, hint=hint))
        step, change = step_of(here, free)
        size = max(float(np.abs(here.along.basis @ step).max(initial=0.0)), abs(change) / here.period)
        if _settled(here) and (
            size <= options.rtol or (size > 0.5 * before and max(size, here.distance) <= NOISE * options.rtol)
        ):
            return here, count
        here, tried = _improved(here, step, change, options, selection, states)
        count, before = count + tried, size
    names = states.names(here.start.machine.system)
    worst = int(np.argmax(np.abs(here.miss)))
    message = f"no periodic state was found in {count} periods: '{names[worst]}' changes most over a period of "
    message += f"{here.period:.6g} s, by {abs(here.miss[worst]) * states.sizes[worst]:.3g} in SI units"
    hint = "begin nearer to it (`warm_up`, `start`), or look for a multiple of the period (subharmonics)"
    raise SimulationError(Problem("E447", message, hint=hint))


def _settled(lap: Lap) -> bool:
    """Whether conditions and counts are at the end what they are at the start."""
    layout = lap.start.machine.system.layout
    held = slice(layout.discretes, layout.befores)
    here, there = lap.start.g[held], lap.end[held]
    return bool(((here == there) | (here != np.round(here)) | (there != np.round(there))).all())


def _improved(
    here: Lap, step: Array, change: float, options: TransientOptions, selection: Selection, states: States
) -> tuple[Lap, int]:
    """The period from where Newton's step leads, or a part of it that makes nothing worse; and how many were tried."""
    found: Lap | None = None
    for k in range(HALVINGS):
        try:
            point = moved(here, states, step * 0.5**k)
            found = lap(point, here.period + change * 0.5**k, options, selection, states)
        except SimulationError:
            if k == HALVINGS - 1 and found is None:
                raise
            continue
        if found.distance <= WORSE * here.distance or found.distance < NOISE * options.rtol:
            return found, k + 1
    assert found is not None
    return found, HALVINGS
