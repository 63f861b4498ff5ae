"""Where a run goes from its start: first size, requested instants, time events and features, limits of the defect."""

import numpy as np

from netsim.core.consistent import Consistent
from netsim.core.contract import Trial
from netsim.core.history import BEGINS_LOW, CAREFUL, WATCHING
from netsim.core.loop.control import (
    ARRIVAL,
    AT_ONCE,
    BY_ERROR,
    DUE,
    EVERY,
    FIXED,
    LEAST,
    LIGHT,
    LONGEST,
    PROJECTING,
    REASON,
    RECOVERING,
    REFUSED_BY,
    RESTARTS,
    SIZE,
    SOLVING,
    SPACING,
    STOP,
    WEIGHT,
    Control,
)
from netsim.core.loop.control import WITHIN as WITHIN_STEPS
from netsim.equations.history import WITHIN
from netsim.simulate.setup.arrays.planned import Planned
from netsim.simulate.setup.arrays.trial import GIVEN_STEP
from netsim.simulate.setup.features import longest_in_waves
from netsim.simulate.setup.instants import first_grid, longest_between, time_events_within
from netsim.simulate.setup.kinds import massless
from netsim.simulate.setup.weights import curved

Array = np.ndarray

FILL = 500
"""Samples at accepted steps are filled up to this many over a run."""
FEATURES = 500
"""What happens within such a part of a run, in time or in state, is seen."""
GROSS, FINE = 100.0, 3.0
"""How many tolerances the defect may move what the error test sees at the ends of steps, and what follows at once and
has no other test. Values that are differentiated may be moved by one: where they are stiff, estimates that the matrix
filters see nothing of them (BDF's is not filtered)."""


def first_control(
    planned: Planned,
    size: float,
    time_events: Array,
    features: Array,
    plan: Consistent,
    looked: tuple[Array, Array, Array],
    recovering: bool,
) -> Control:
    """Where a run goes from t = 0: first size, requested instants, time events and features to end steps at; what
    delays watch; what `looked` (see `defect_limits`) says of the defect; whether samples are other points than the
    method's own (see `netsim.simulate.setup.weights.recovers_samples`)."""
    options, method = planned.options, planned.method
    stop, fixed, buffer = options.stop, options.step, planned.machine.problem.buffer
    buffer.numbers[[WATCHING, CAREFUL, BEGINS_LOW]] = not fixed or method.order > 1, method.straight, method.variable
    grid: Array = np.full(1, np.inf)
    if options.sample:
        grid = first_grid(options)
    elif not fixed:
        grid = np.append(np.arange(1, FILL) * (stop / FILL), [stop, np.inf])
    # a given step of order 1 gains nothing: docs/decisions/0050-implicit-euler-is-kept-to-its-formula.md
    cut = time_events if not fixed or method.order > 1 else np.zeros(0)
    inside = time_events_within(cut, stop)
    numbers = _first_numbers(planned, size)
    places = _first_places(planned, plan, looked, recovering)
    return Control(numbers, places, inside, np.append(features, np.inf), grid, *looked)


def _first_numbers(planned: Planned, size: float) -> Array:
    """Control.numbers at t = 0."""
    machine, options, method = planned.machine, planned.options, planned.method
    stop, fixed, found = options.stop, options.step, np.zeros(17)
    largest = stop / FEATURES / method.gap if method.explicit and curved(machine) else stop / 4
    shortest_delay = machine.problem.buffer.length.min(initial=np.inf)
    waves = stop if fixed else longest_in_waves(machine, stop, method.work, options.rtol)
    longest = fixed or min(options.max_step or largest, waves, WITHIN * shortest_delay, longest_between(options))
    found[[SIZE, STOP, FIXED, LEAST, LONGEST, REASON]] = size, stop, fixed, 1e-15 * stop, longest, BY_ERROR
    found[[DUE, ARRIVAL, REFUSED_BY]] = np.inf
    # polynomials that hold at an instant of a step hold in all of it
    found[SPACING] = stop / FEATURES if curved(machine) else np.inf
    found[WEIGHT] = GIVEN_STEP / method.tolerance(options.rtol) if fixed and method.judged else 0.0
    return found


def _first_places(planned: Planned, plan: Consistent, looked: tuple[Array, Array, Array], recovering: bool) -> Array:
    """Control.places at t = 0."""
    structure, options, method = planned.structure, planned.options, planned.method
    nk, (limits, _, light), found = planned.machine.system.layout.nk, looked, np.zeros(18, np.int64)
    has_plan, follows = len(plan.sizes) > 0, not method.explicit and not options.formula
    recovered = method.explicit or (options.recovers and recovering)
    found[EVERY] = 0 if options.sample else options.every
    found[PROJECTING] = structure.index > 1 and has_plan and follows and recovering  # in one of the constraints' own
    found[RECOVERING] = has_plan and recovered
    found[RESTARTS] = has_plan
    found[AT_ONCE] = np.any(np.isfinite(limits[structure.dynamic.d[: len(limits)] == 0]))
    found[WITHIN_STEPS] = np.any(np.isfinite(limits[nk:]))
    found[SOLVING] = found[AT_ONCE] and not found[RECOVERING]
    found[LIGHT] = light[:2].any() and follows
    return found


def defect_limits(planned: Planned, trial: Trial, watched: Array) -> tuple[Array, Array, Array]:
    """How many tolerances the defect may move each position and value by; none where steps are given or the method has
    no matrix. Where every equation is a sum of constant multiples, polynomials that hold at some instants hold between
    them, but for what follows a prescribed input stiffly. Then 0 for equations that determine motion and multipliers, 1
    for all others (n), and what `Control.light` is."""
    machine, structure, options, method = planned.machine, planned.structure, planned.options, planned.method
    system, nk = machine.system, machine.system.layout.nk
    match, n = structure.dynamic.match[: system.n], system.n
    balances = np.isin(match, massless(structure, nk)) & (structure.dynamic.d[match] - structure.dynamic.c[:n] == 1)
    moving = structure.dynamic.d[:n] > 0
    at_once = ~moving & np.isin(np.arange(n), watched)
    light = np.array([balances, np.isin(np.arange(n), match[balances]), at_once], float)
    resting = ((match >= nk) & (np.append(trial.exponent[nk:], 0)[np.minimum(match, n)] == 0)).astype(float)
    if options.step or method.explicit:
        return np.zeros(0), resting, light
    # what is off between the ends does not add up: it counts against what was asked for
    share = options.rtol / method.tolerance(options.rtol)
    limits = (
        np.where(moving, GROSS, np.where(at_once, FINE * share, np.inf))
        if curved(machine)
        else np.full(system.n, np.inf)
    )
    limits[nk:][moving[nk:]] = GROSS if method.variable else share
    limits[nk:][trial.exponent[2 * nk :] > 0] = np.inf
    return limits if np.isfinite(limits).any() else np.zeros(0), resting, light
