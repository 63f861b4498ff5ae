"""The arrays of a step at the start of a run, its first size, and the first factors of its matrix."""

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.compiled.struct import struct_of
from netsim.core.contract import COUNTERS, CURVED, FACTORISATIONS, FORMULA, RESTARTED, SETTLING, UNSOLVED, Trial
from netsim.core.linear.factors import Factor, analyse
from netsim.core.loop.adaptive import first_size
from netsim.core.newton import CONVERGED, set_time
from netsim.core.problem import ALPHA, KA, KV, KX
from netsim.core.scales import first_kinds, set_origin, set_scales
from netsim.core.states import load, move_charts
from netsim.equations.machine import Machine
from netsim.equations.starts.written import written_sizes
from netsim.initial.charts import quaternions
from netsim.initial.diagnosis.diagnosis import table_ends
from netsim.simulate.pivots import pivots_of
from netsim.simulate.setup.arrays.planned import Planned
from netsim.simulate.setup.arrays.readings import no_readings
from netsim.simulate.setup.features import sampled
from netsim.simulate.setup.kinds import kinds_of, massless
from netsim.simulate.setup.sizes import size_by_responses
from netsim.simulate.setup.weights import curved, exponents, untested_differences
from netsim.structure.of_time.switching import time_texts
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray

GIVEN_STEP = 1e-9
"""The tolerance that Newton's method goes by where steps are given: small beside what any method leaves."""


def first_trial(planned: Planned, g: Array, ends: Array) -> tuple[Trial, float]:
    """Arrays of a step from the point in g, and its first size; `ends`: instants at which steps have to end for the
    sake of functions of time."""
    machine, options = planned.machine, planned.options
    times, prescribed_inputs = sampled(machine, options.stop, ends)
    trial = _unmeasured(planned, g, np.abs(prescribed_inputs).max(axis=0, initial=0.0))
    set_origin(machine.struct, struct_of(trial))
    set_scales(machine.struct, struct_of(trial))
    if not options.formula or any(batch.form.events.scales for batch in machine.system.batches):
        acting = ends if any(map(bool, time_texts(machine))) else None
        size_by_responses(machine, trial, options.stop, times, prescribed_inputs, acting)
        set_scales(machine.struct, struct_of(trial))
    return trial, options.step or first_size(machine.struct, struct_of(trial), options.stop, planned.method.estimate)


def _unmeasured(planned: Planned, g: Array, amplitudes: Array) -> Trial:
    """Arrays of a step from the point in g that know no sizes but those written; `amplitudes`: the largest value of
    every prescribed input."""
    machine, structure = planned.machine, planned.structure
    system, layout, earlier = machine.system, machine.system.layout, planned.method.earlier
    nk, n, exponent = layout.nk, system.n, exponents(system, structure)
    if planned.method.explicit:  # solves for accelerations and projects: velocities are as right as positions
        exponent[nk : 2 * nk] = 0
    state = np.concatenate([layout.state(g), quaternions(system, g).ravel()])
    move_charts(machine.struct, state)
    kinds = kinds_of(system, amplitudes, massless(structure, nk))
    nominal = np.concatenate([system.position_nominals, system.nominals])
    first, value, weight = untested_differences(machine, structure, exponent, g)
    return Trial(
        g=g,
        out=np.zeros(system.out_size),
        start=state,
        end=state.copy(),
        middle=state.copy(),
        history=np.zeros(3 * nk + layout.nq),
        u=np.zeros(n),
        work=np.zeros((6, n)),
        scale=np.zeros(nk + n),
        exponent=exponent,
        nominal=nominal,
        kind=kinds.of,
        largest=np.zeros(nk + n),
        origin=np.zeros(4 * len(machine.problem.rotations)),
        fixed=_written(planned, nominal),
        sizes=first_kinds(kinds.count, kinds.given),
        tolerances=_tolerances(planned),
        counters=_counters(planned),
        code=np.zeros(9, np.int64),
        whole=np.arange(layout.ny + layout.nq),
        earlier=np.zeros((earlier, len(state))),
        spans=np.zeros(earlier),
        first=first,
        value=value,
        weight=weight,
        readings=no_readings(),
    )


def _written(planned: Planned, nominal: Array) -> Array:
    """The sizes that somebody has written, else 0; with `atol` all are, so that rtol times a size is atol in parts of
    it."""
    found, options = written_sizes(planned.machine), planned.options
    return options.atol / options.rtol * np.where(found > 0.0, found, nominal) if options.atol else found


def _tolerances(planned: Planned) -> Array:
    """Trial.tolerances at the start."""
    options, method = planned.options, planned.method
    rtol = GIVEN_STEP if options.step else method.tolerance(options.rtol)
    newton = max(50 * 2.2e-16 / rtol, min(0.03, rtol**0.5))
    return np.array([rtol, newton, method.estimate, 0, 1, float(options.atol > 0.0), 0, 0, method.leaving, 1])


def _counters(planned: Planned) -> Array:
    """Trial.counters at the start."""
    found = np.zeros(COUNTERS, np.int64)
    found[RESTARTED] = 2
    found[CURVED] = int(curved(planned.machine))
    found[SETTLING] = int(planned.method.settles)
    found[UNSOLVED] = 1 if planned.options.step else 0
    found[FORMULA] = int(planned.options.formula)
    return found


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
