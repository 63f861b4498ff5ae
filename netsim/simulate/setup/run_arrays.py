"""What a run of the accept/reject loop begins with: arrays of a step, where it goes, room for samples, consistent
points, pivots."""

from typing import Any

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.consistent import Consistent
from netsim.core.contract import (
    ASTRAY,
    COUNTERS,
    CURVED,
    FACTORISATIONS,
    FORMULA,
    RESTARTED,
    RTOL,
    SETTLING,
    UNSOLVED,
    Trial,
)
from netsim.core.history import BEGINS_LOW, CAREFUL, WATCHING
from netsim.core.linear.factors import Factor, analyse
from netsim.core.loop.adaptive import first_size
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
from netsim.core.loop.sampler import Sampler
from netsim.core.loop.turnover import nothing_turned
from netsim.core.method import TRAPEZOID, Method
from netsim.core.newton import CONVERGED, set_time
from netsim.core.problem import ALPHA, KA, KV, KX
from netsim.core.scales import NOTHING, first_kinds, set_origin, set_scales
from netsim.core.states import load, move_charts
from netsim.equations.history import WITHIN
from netsim.equations.machine import Machine, power_room
from netsim.equations.starts.written import written_sizes
from netsim.initial.charts import quaternions
from netsim.initial.diagnosis.diagnosis import table_ends
from netsim.initial.flat_plan import compiled_plan
from netsim.initial.initial import Structure
from netsim.initial.recovery import plan_recovery, recover
from netsim.results.selection import Reader
from netsim.simulate.options import TransientOptions
from netsim.simulate.pivots import pivots_of
from netsim.simulate.setup.features import sampled
from netsim.simulate.setup.instants import first_grid, is_windowed, longest_between, time_events_within
from netsim.simulate.setup.kinds import kinds_of, massless
from netsim.simulate.setup.sizes import set_answers
from netsim.simulate.setup.sums import NO_SUMS, summed_places
from netsim.simulate.setup.weights import differs, exponents, untested_differences
from netsim.structure.of_time.switching import time_texts
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray

FILL = 500
"""Samples at accepted steps are filled up to this many over a run."""
FEATURES = 500
"""What happens within such a part of a run, in time or in state, is seen."""
GROSS, FINE = 100.0, 3.0
"""How many tolerances the defect may move what the error test sees at the ends of steps, and what follows at once and
has no other test. Values that are differentiated may be moved by one: where they are stiff, estimates that the matrix
filters see nothing of them (BDF's is not filtered)."""
ROOM = 4
"""Rows beside those of requested instants: a step that finds no room for its samples is tried again, with other
rounding."""
STEPS = 1000
"""Steps that a trace has room for at first."""
RECTANGLE = (1.0,)
"""The node of the rule that goes with implicit Euler: powers at the end of a step, for all of it."""
GIVEN_STEP = 1e-9
"""The tolerance that Newton's method goes by where steps are given: small beside what any method leaves."""


def first_trial(
    machine: Machine, structure: Structure, options: TransientOptions, method: Method, g: Array, ends: Array
) -> tuple[Trial, float]:
    """Arrays of a step from the point in g, and its first size; `ends`: instants at which steps have to end for the
    sake of functions of time."""
    system, layout = machine.system, machine.system.layout
    state = np.concatenate([layout.state(g), quaternions(system, g).ravel()])
    move_charts(machine.struct, state)
    nk, n = layout.nk, system.n
    nominal = np.concatenate([system.position_nominals, system.nominals])
    rtol = GIVEN_STEP if options.step else method.tolerance(options.rtol)
    share = max(50 * 2.2e-16 / rtol, min(0.03, rtol**0.5))
    times, prescribed_inputs = sampled(machine, options.stop, ends)
    kinds = kinds_of(system, np.abs(prescribed_inputs).max(axis=0, initial=0.0), massless(structure, nk))
    tolerances = np.array([rtol, share, method.estimate, 0, 1, float(options.atol > 0.0), 0, 0, method.leaving, 1])
    fixed = written_sizes(machine)
    if options.atol:
        fixed = options.atol / options.rtol * np.where(fixed > 0.0, fixed, nominal)
    counters = np.zeros(COUNTERS, np.int64)
    counters[RESTARTED] = 2
    counters[CURVED] = int(curved(machine))
    counters[SETTLING] = int(method.settles)
    counters[UNSOLVED] = 1 if options.step else 0
    counters[FORMULA] = int(options.formula)
    exponent = exponents(system, structure)
    trial = Trial(
        g, np.zeros(system.out_size), state, state.copy(), state.copy(), np.zeros(3 * nk + layout.nq), np.zeros(n),
        np.zeros((6, n)), np.zeros(nk + n), exponent, nominal, kinds.of, np.zeros(nk + n),
        np.zeros(4 * len(machine.problem.rotations)), fixed, first_kinds(kinds.count, kinds.given), tolerances,
        counters, np.zeros(9, np.int64), np.arange(layout.ny + layout.nq), np.zeros((method.earlier, len(state))),
        np.zeros(method.earlier), *untested_differences(machine, structure, exponent, g),
    )  # fmt: skip
    set_origin(machine.struct, struct_of(trial))
    set_scales(machine.struct, struct_of(trial))
    if not options.formula or any(batch.form.events.scales for batch in system.batches):
        acting = ends if any(map(bool, time_texts(machine))) else ends[:0]
        set_answers(machine, trial, options.stop, times, prescribed_inputs, acting)
        set_scales(machine.struct, struct_of(trial))
    return trial, options.step or first_size(machine.struct, struct_of(trial), options.stop, method.estimate)


def first_control(
    options: TransientOptions,
    method: Method,
    structure: Structure,
    size: float,
    time_events: Array,
    features: Array,
    plan: Consistent,
    machine: Machine,
    looked: tuple[Array, Array, Array],
    recovering: bool,
) -> Control:
    """Where a run goes from t = 0: first size, requested instants, time events and features to end steps at; what
    delays watch; what `looked` (see `defect_limits`) says of the defect; whether samples are other points than the
    method's own (see `netsim.simulate.setup.weights.recovers_samples`)."""
    stop, fixed, buffer = options.stop, options.step, machine.problem.buffer
    buffer.numbers[[WATCHING, CAREFUL, BEGINS_LOW]] = not fixed or method.order > 1, method.straight, method.variable
    grid: Array = np.full(1, np.inf)
    if options.sample:
        grid = first_grid(options)
    elif not fixed:
        grid = np.append(np.arange(1, FILL) * (stop / FILL), [stop, np.inf])
    # a given step of order 1 gains nothing: docs/decisions/0050-implicit-euler-is-kept-to-its-formula.md
    cut = time_events if not fixed or method.order > 1 else np.zeros(0)
    inside = time_events_within(cut, stop)
    numbers = _first_numbers(options, method, machine, size)
    places = _first_places(options, method, structure, plan, machine, looked, recovering)
    return Control(numbers, places, inside, np.append(features, np.inf), grid, *looked)


def _first_numbers(options: TransientOptions, method: Method, machine: Machine, size: float) -> Array:
    """Control.numbers at t = 0."""
    stop, fixed, found = options.stop, options.step, np.zeros(16)
    largest = stop / FEATURES / method.gap if method.explicit and curved(machine) else stop / 4
    shortest_delay = machine.problem.buffer.length.min(initial=np.inf)
    longest = fixed or min(options.max_step or largest, WITHIN * shortest_delay, longest_between(options))
    found[[SIZE, STOP, FIXED, LEAST, LONGEST, REASON]] = size, stop, fixed, 1e-15 * stop, longest, BY_ERROR
    found[[DUE, ARRIVAL, REFUSED_BY]] = np.inf
    # polynomials that hold at an instant of a step hold in all of it
    found[SPACING] = stop / FEATURES if curved(machine) else np.inf
    found[WEIGHT] = GIVEN_STEP / method.tolerance(options.rtol) if fixed and method.judged else 0.0
    return found


def _first_places(
    options: TransientOptions,
    method: Method,
    structure: Structure,
    plan: Consistent,
    machine: Machine,
    looked: tuple[Array, Array, Array],
    recovering: bool,
) -> Array:
    """Control.places at t = 0."""
    nk, (limits, _, light), found = machine.system.layout.nk, looked, np.zeros(18, np.int64)
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


def curved(machine: Machine) -> bool:
    """Whether an equation is anything but a sum of constant multiples, so that what a step does not look at may be
    anything."""
    return machine.element is not None or any(b.kernels.curved for b in machine.system.batches)


def defect_limits(
    machine: Machine, structure: Structure, options: TransientOptions, method: Method, trial: Trial, watched: Array
) -> tuple[Array, Array, Array]:
    """How many tolerances the defect may move each position and value by; none where steps are given or the method has
    no matrix. Where every equation is a sum of constant multiples, polynomials that hold at some instants hold between
    them, but for what follows a prescribed input stiffly. Then 0 for equations that determine motion and multipliers, 1
    for all others (n), and what `Control.light` is."""
    system, nk = machine.system, machine.system.layout.nk
    match, n = structure.dynamic.match[: system.n], system.n
    balances = np.isin(match, massless(structure, nk)) & (structure.dynamic.d[match] - structure.dynamic.c[:n] == 1)
    moving = structure.dynamic.d[:n] > 0
    at_once = ~moving & np.isin(np.arange(n), watched)
    light = np.array([balances, np.isin(np.arange(n), match[balances]), at_once], float)
    resting = ((match >= nk) & (np.append(trial.exponent[nk:], 0)[np.minimum(match, n)] == 0)).astype(float)
    if options.step or method.explicit:
        return np.zeros(0), resting, light
    share = options.rtol / method.tolerance(
        options.rtol
    )  # what is off between the ends does not add up: it counts against what was asked for
    limits = (
        np.where(moving, GROSS, np.where(at_once, FINE * share, np.inf))
        if curved(machine)
        else np.full(system.n, np.inf)
    )
    limits[nk:][moving[nk:]] = GROSS if method.variable else share
    limits[nk:][trial.exponent[2 * nk :] > 0] = np.inf
    return limits if np.isfinite(limits).any() else np.zeros(0), resting, light


def first_sampler(
    machine: Machine,
    reader: Reader,
    tracer: Reader,
    shares: Struct,
    method: Method,
    control: Control,
    options: TransientOptions,
) -> Sampler:
    """Room for samples, and the quadrature of work: the method's, or the rule that goes with its formula. Where nothing
    moves samples are polynomials: only what is read is evaluated then."""
    layout, rows = machine.system.layout, len(control.grid) - 1 + (1000 if control.places[EVERY] else ROOM)
    rows = options.window if is_windowed(options) else rows
    whole = np.arange(layout.ny + layout.nq)
    work = method.work if not options.formula else TRAPEZOID if options.recovers or method.order > 1 else RECTANGLE
    rough = len(work) < min(method.order, 4)  # stored energy through the nodes would be less exact than the values
    read = np.intersect1d(reader.reads(layout.y, layout.y + len(whole)) - layout.y, whole)
    if layout.nk or control.places[RECOVERING] or control.places[SOLVING] or rough:
        read = whole
    nodes = np.array(work)
    integrals = quadrature(nodes)
    summed = summed_places(machine, tracer) if control.places[RECOVERING] else NO_SUMS
    kept = summed.shape[1]
    return Sampler(
        reader.table, reader.places, np.zeros(max(reader.size, tracer.size)), np.zeros((rows, len(reader.places))),
        np.zeros((rows, 4)),
        np.zeros(rows), np.zeros((2, 2 + kept)), power_room(machine.system), nodes, np.zeros((len(nodes), 3 + kept)),
        integrals, summed, shares, read,
        tracer.table, tracer.places, np.zeros((max(rows, STEPS) * len(nodes), 1 + len(tracer.places))),
        nothing_turned(power_room(machine.system)),
    )  # fmt: skip


def quadrature(nodes: Array) -> Array:
    """The share of the power at node k in the work up to theta is sum_m integrals[k, m] theta^(m + 1)."""
    basis = np.linalg.inv(np.vander(nodes, increasing=True))
    return np.ascontiguousarray(basis.T / np.arange(1, len(nodes) + 1))


def consistent_plan(
    machine: Machine,
    structure: Structure,
    options: TransientOptions,
    method: Method,
    trial: Trial,
    time_events: Array,
    t: float,
    switching: bool,
) -> tuple[Consistent, Any]:
    """Consistent points for recovered samples, projections, time events, state events, explicit methods; factors taken
    at t; and what keeps them alive."""
    jumps = options.jumping or switching or len(time_events) > 0 or len(machine.problem.buffer.length) > 0
    # values of a curved network may jump anywhere (netsim.simulate.failing)
    recovered = options.recovers and (curved(machine) or differs(machine, structure, options.formula))
    wanted = recovered or (not options.formula and (method.needs_rates or structure.index > 1 or jumps))
    if not wanted:
        return compiled_plan(None), None
    sizes = None if options.formula else _sizes(machine, structure, trial)
    recovery = plan_recovery(machine, structure, trial.g, sizes=sizes, following=method.explicit)
    try:
        recover(recovery, trial.g, trial.start, t)
    except SimulationError:
        trial.counters[ASTRAY] += 1
        return compiled_plan(None), None
    return compiled_plan(recovery), recovery


def _sizes(machine: Machine, structure: Structure, trial: Trial) -> Array:
    """How large velocities and values are: their nominal sizes, but for values of the kinds that differentiated
    quantities are made of the sizes that the run knows.

    Others have no business with differentiated quantities, and may be nothing but rounding yet (a force that is zero by
    symmetry)."""
    nk, n, s = machine.system.layout.nk, machine.system.n, structure.signature
    of_differentiated = s.kept & (s.equation >= n) & (s.variable >= nk) & (s.variable < n) & (s.order == 0)
    kind, nominal, known = trial.kind[nk:], trial.nominal[nk:], trial.scale[nk:] / trial.tolerances[RTOL]
    wanted = np.isin(kind, kind[s.variable[of_differentiated]]) & (known > 1e3 * NOTHING * nominal)
    return np.where(wanted, known, nominal)


def closing_plan(
    machine: Machine, structure: Structure, method: Method, trial: Trial, t: float
) -> tuple[Consistent, Any]:
    """How an explicit method closes positions at the end of a step; factors taken at the point t; and what keeps that
    alive."""
    if not method.explicit or structure.index < 3:
        return compiled_plan(None), None
    recovery = plan_recovery(machine, structure, trial.g, closing=True, sizes=_sizes(machine, structure, trial))
    recover(recovery, trial.g, trial.start, t)
    return compiled_plan(recovery), recovery


def first_factor(machine: Machine, trial: Trial, h: float, t: float) -> Factor:
    """Ordering and pivots for the matrix of a step of size h from t; raises `SimulationError` where it is singular."""
    layout, problem, g = machine.system.layout, machine.problem, trial.g
    if trial.counters[FORMULA]:
        return analyse(0, [0], [], [])  # the first step itself asks for them (netsim.core.methods.single)
    load(struct_of(problem), g, trial.start)
    if set_time(struct_of(problem), g, t) != CONVERGED:
        raise SimulationError(table_ends(t))
    g[[KX, KV, KA, ALPHA]] = 1.0, 1.0 / h, 1.0 / h**2, 1.0 / h
    at, nq = 3 * layout.nk + layout.ny, layout.nq
    g[layout.history : layout.step_size] = trial.start[at + nq : at + 2 * nq] - trial.start[at : at + nq] / h
    trial.out[:] = 0.0
    run_table(problem.jacobian, g, trial.out)
    found = pivots_of(machine, trial.out, t)
    if isinstance(found, Problem):
        raise SimulationError(found)
    trial.counters[FACTORISATIONS] += 1
    return found
