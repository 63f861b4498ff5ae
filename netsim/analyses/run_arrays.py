"""What a run of the accept/reject loop begins with: arrays of a step, where it goes, room for samples, consistent points, pivots."""

from __future__ import annotations

from typing import Any

import numpy as np

from netsim.analyses.methods import Method
from netsim.analyses.options import TransientOptions
from netsim.analyses.pivots import pivots_of
from netsim.errors import Problem, SimulationError
from netsim.integrators.adaptive import first_size
from netsim.integrators.contract import FACTORISATIONS, RESTARTED, UNSOLVED, Trial, set_scales
from netsim.integrators.control import BY_ERROR, EVERY, RECOVERING, Control
from netsim.integrators.readout import Readout
from netsim.integrators.states import load, move_charts
from netsim.integrators.weights import exponents
from netsim.kernels.bundle import Bundle, bundled
from netsim.kernels.call import run_table
from netsim.selection import Sampler
from netsim.solvers.charts import quaternions
from netsim.solvers.consistent import Consistent, compiled_plan
from netsim.solvers.history import BEGINS_LOW, CAREFUL, WATCHING, WITHIN
from netsim.solvers.initial import Structure
from netsim.solvers.linear import Factor
from netsim.solvers.machine import ALPHA, KA, KV, KX, Machine
from netsim.solvers.newton import set_time
from netsim.solvers.recovery import plan_recovery, recover

Array = np.ndarray

FILL = 500
"""Samples at accepted steps are filled up to this many over a run."""
GIVEN_STEP = 1e-9
"""The tolerance that Newton's method goes by where steps are given: small beside what any method leaves."""


def first_trial(machine: Machine, structure: Structure, options: TransientOptions, method: Method, g: Array) -> tuple[Trial, float]:
    """Arrays of a step from the point in g, and its first size."""
    system, layout = machine.system, machine.system.layout
    state = np.concatenate([layout.state(g), quaternions(system, g).ravel()])
    move_charts(machine.bundle, state)
    nk, n = layout.nk, system.n
    nominal = np.concatenate([system.position_nominals, system.nominals])
    rtol = GIVEN_STEP if options.step else method.tolerance(options.rtol)
    share = max(10 * 2.2e-16 / rtol, min(0.03, rtol**0.5))
    tolerances = np.array([rtol, share, method.estimate, 0.0, 1.0])
    counters = np.zeros(10, np.int64)
    counters[RESTARTED] = 2
    counters[UNSOLVED] = 1 if options.step else 0
    trial = Trial(
        g, np.zeros(system.out_size), state, state.copy(), state.copy(), np.zeros(3 * nk + layout.nq), np.zeros(n), np.zeros((6, n)),
        np.zeros(nk + n), exponents(system, structure), nominal, tolerances, counters, np.zeros(9, np.int64),
        np.arange(layout.ny + layout.nq),
    )  # fmt: skip
    set_scales(machine.bundle, bundled(trial))
    return trial, options.step or first_size(machine.bundle, bundled(trial), options.stop, method.estimate)


def first_control(
    options: TransientOptions, method: Method, structure: Structure, size: float, corners: Array, peaks: Array, plan: Consistent, machine: Machine
) -> Control:
    """Where a run goes from t = 0: first size, requested instants, corners and peaks to end steps at; what delays watch."""
    stop, fixed, kinematic, past = options.stop, options.step, machine.system.layout.nk > 0, machine.problem.past
    past.numbers[[WATCHING, CAREFUL, BEGINS_LOW]] = not fixed or method.order > 1, method.explicit, method.variable
    longest = fixed if fixed else min(stop / 4, WITHIN * past.length.min(initial=np.inf))
    numbers = np.array([0.0, size, stop, fixed, 1e-15 * stop, longest, BY_ERROR, 0.0, np.inf, np.inf])
    kinematic_constraints = structure.index > 1 and len(plan.sizes) > 0 and not method.explicit  # whose steps end in one of themselves
    grid: Array = np.zeros(0)
    if options.sample:
        count = int(np.floor(options.stop / options.sample * (1 + 1e-12)))
        grid = np.arange(1, count + 1) * options.sample
        grid = np.append(grid[grid < stop * (1 - 1e-12)], stop)
    elif not fixed:
        grid = np.append(np.arange(1, FILL) * (stop / FILL), stop)
    every = 0 if options.sample else options.every
    memoryless = structure.dynamic.c.sum() == structure.dynamic.d.sum()  # no step's error tells how its values bend
    recovering = int(len(plan.sizes) > 0 and (method.explicit or (options.recovers and (kinematic or structure.index > 1 or memoryless))))
    cut = corners if not fixed or method.order > 1 else np.zeros(0)  # a given step of order 1 gains nothing: see docs/decisions.md
    inside = np.append(cut[(cut > 0) & (cut < stop * (1 - 1e-12))], np.inf)
    places = np.array([0, 0, 0, 0, every, int(kinematic_constraints), recovering, int(len(plan.sizes) > 0), 0, 0, 0])
    return Control(numbers, places, inside, np.append(peaks, np.inf), np.append(grid, np.inf))


def first_readout(machine: Machine, reader: Sampler, shares: Bundle, method: Method, control: Control) -> Readout:
    """Room for samples, and the method's quadrature of work. Where nothing moves samples are polynomials: only what is read is evaluated then."""
    layout, rows = machine.system.layout, len(control.grid) - 1 + (1000 if control.places[EVERY] else 2)
    whole = np.arange(layout.ny + layout.nq)
    rough = len(method.work) < min(method.order, 4)  # stored energy through the nodes would be less exact than the values
    read = np.intersect1d(reader.reads(layout.y, layout.y + len(whole)) - layout.y, whole)
    if layout.nk or control.places[RECOVERING] or rough:
        read = whole
    nodes = np.array(method.work)
    basis = np.linalg.inv(np.vander(nodes, increasing=True))
    integrals = np.ascontiguousarray(basis.T / np.arange(1, len(nodes) + 1))
    return Readout(
        reader.table, reader.places, np.zeros(reader.size), np.zeros((rows, len(reader.places))), np.zeros((rows, 4)), np.zeros(rows),
        np.zeros((2, 2)), np.zeros(4), nodes, np.zeros((len(nodes), 3)), integrals, shares, read,
    )  # fmt: skip


def consistent_plan(
    machine: Machine, structure: Structure, options: TransientOptions, method: Method, trial: Trial, corners: Array, t: float, switching: bool
) -> tuple[Consistent, Any]:
    """Consistent points for recovered samples, projections, corners, events, explicit methods; factors taken at t; and what keeps them alive."""
    delayed = len(machine.problem.past.length) > 0
    if not (options.recovers or method.needs_rates or len(corners) or structure.index > 1 or switching or delayed):
        return compiled_plan(None), None
    recovery = plan_recovery(machine, structure, trial.g)
    try:
        recover(recovery, trial.g, trial.start, t)
    except SimulationError:
        return compiled_plan(None), None
    return compiled_plan(recovery), recovery


def closing_plan(machine: Machine, structure: Structure, method: Method, trial: Trial, t: float) -> tuple[Consistent, Any]:
    """How an explicit method closes positions at the end of a step; factors taken at the point t; and what keeps that alive."""
    if not method.explicit or structure.index < 3:
        return compiled_plan(None), None
    recovery = plan_recovery(machine, structure, trial.g, closing=True)
    recover(recovery, trial.g, trial.start, t)
    return compiled_plan(recovery), recovery


def first_factor(machine: Machine, trial: Trial, h: float, t: float) -> Factor:
    """Ordering and pivots for the matrix of a step of size h from t; raises `SimulationError` where it is singular."""
    layout, problem, g = machine.system.layout, machine.problem, trial.g
    load(bundled(problem), g, trial.start)
    set_time(bundled(problem), g, t)
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
