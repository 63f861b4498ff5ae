"""Accelerations and forces that belong to a sample's positions and velocities, in joint coordinates.

Without loops and without charges there is nothing left to differentiate: positions and velocities given, the equations are solved for
accelerations and forces as in a step with kx = kv = 0, ka = 1. Where constraints remain, the point is completed in the absolute formulation and
read back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from netsim.errors import Problem, SimulationError
from netsim.jointspace.start import homes, in_joint_coordinates, set_charges, shared
from netsim.kernels.call import run_table
from netsim.solvers.linear import Factor, SingularMatrix, analyse
from netsim.solvers.machine import Machine
from netsim.solvers.newton import CONVERGED, TOLERANCE, newton, set_charge_history, set_coefficients, set_time, spread
from netsim.solvers.recovery import Recovery, recover

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Direct:
    """The matrix of accelerations and forces, factorised; `integrals` are the unknowns whose charges they are themselves."""

    machine: Machine
    factor: Factor
    integrals: Array


@dataclass(frozen=True, eq=False)
class Detour:
    """The absolute formulation's recovery, and which slots it shares with the machine in joint coordinates."""

    machine: Machine
    absolute: Recovery
    pairs: tuple[tuple[Array, Array], ...]


Completion = Recovery | Direct | Detour
"""How samples get accelerations, forces and rates that belong to their positions and velocities."""


def direct(machine: Machine, g: Array) -> Direct | None:
    """The direct way for a machine in joint coordinates at a consistent point; None where constraints or charges stand against it."""
    integrals = _integrals(machine)
    if integrals is None:
        return None
    layout, system = machine.system.layout, machine.system
    point, out = g.copy(), np.zeros(system.out_size)
    u, history = _state_of_step(machine, point, np.concatenate([g[layout.x : layout.history], np.zeros(2 * layout.nq)]))
    spread(machine.problem, point, history, u)
    run_table(machine.problem.jacobian, point, out)
    entries = out[layout.entries : layout.entries + system.pattern.nnz]
    try:
        return Direct(machine, analyse(system.n, system.pattern.indptr, system.pattern.indices, entries), integrals)
    except (SingularMatrix, ValueError):
        return None


def _integrals(machine: Machine) -> Array | None:
    """Of every charge the unknown it is, where no equation reads that unknown (`der(work) = power`); None where a charge is anything else."""
    found = np.zeros(machine.system.layout.nq, np.int64)
    for batch in machine.system.batches:
        form = batch.form
        for k, charge in enumerate(form.charges):
            keys = [key for (key, level), s in form.symbols.gathered.items() if key[0] == "own" and level == 0 and ca.is_equal(ca.SX(charge), s)]
            if not keys or ca.depends_on(ca.vertcat(*form.residuals), form.symbols.at(keys[0], 0)):
                return None
            found[batch.charges(k)] = batch.unknowns[keys[0]]
    return found


def _state_of_step(machine: Machine, g: Array, state: Array) -> tuple[Array, Array]:
    """Unknowns and history of a step that keeps x and v; coefficients are set in g. A charge's rate is then its unknown less what it was."""
    layout = machine.system.layout
    nk, ny, nq = layout.nk, layout.ny, layout.nq
    set_coefficients(g, 0.0, 0.0, 1.0, 1.0)
    history = np.zeros(3 * nk + nq)
    history[: 2 * nk] = state[: 2 * nk]
    history[3 * nk :] = -state[3 * nk + ny : 3 * nk + ny + nq]
    set_charge_history(machine.problem, g, history)
    return np.concatenate([state[2 * nk : 3 * nk], state[3 * nk : 3 * nk + ny]]), history


def complete(recovery: Completion, g: Array, state: Array, t: float) -> Array:
    """A global vector consistent at every level near a state at time t (see netsim.solvers.recovery.recover)."""
    if isinstance(recovery, Direct):
        return _solved(recovery, g, state, t)
    if isinstance(recovery, Detour):
        return _around(recovery, g, state, t)
    return recover(recovery, g, state, t)


def _solved(recovery: Direct, g: Array, state: Array, t: float) -> Array:
    machine, layout = recovery.machine, recovery.machine.system.layout
    point, n = g.copy(), machine.system.n
    set_time(machine.problem, point, t)
    u, history = _state_of_step(machine, point, state)
    out, work = np.zeros(machine.system.out_size), np.zeros((6, n))
    status = newton(machine.problem, recovery.factor, False, point, history, out, u, work, TOLERANCE)[0]
    if status != CONVERGED:
        raise SimulationError(
            Problem("E505", f"accelerations and forces are not found at t = {t:g} s", hint="the mechanism may be near a singular position")
        )
    nk, ny, nq = layout.nk, layout.ny, layout.nq
    if nq:
        before = state[3 * nk + ny : 3 * nk + ny + nq]
        point[layout.history : layout.step_size] = u[recovery.integrals] - before
        point[layout.unknown(recovery.integrals, 0)] = before
        point[layout.charge(np.arange(nq), 0)] = before
    return point


def detour(machine: Machine, absolute: Recovery) -> Detour:
    """The way through the absolute formulation."""
    return Detour(machine, absolute, tuple(_pairs(machine, absolute.machine)))


def _pairs(machine: Machine, absolute: Machine) -> Any:
    """Slots of ours and theirs: what both have, and the frames, which follow here."""
    yield from shared(machine, absolute)
    ours, theirs = machine.system, absolute.system
    for i in machine.element.tree.frames:
        numbers, own = ours.numbering.first[i] + np.arange(6), theirs.numbering.first[i] + np.arange(6)
        for level in range(3):
            yield ours.layout.unknown(numbers, level), theirs.layout.unknown(own, level)
        for entry in range(9):
            frames = ours.numbering.frame[i : i + 1], theirs.numbering.frame[i : i + 1]
            yield ours.layout.chart(frames[0], entry), theirs.layout.chart(frames[1], entry)
    home = homes(absolute)
    for batch in ours.batches:
        for k, instance in enumerate(batch.instances if not batch.shapes else ()):
            other, position = home[instance.name]
            for key in [("own", i) for i in range(len(batch.form.own))]:
                if key in batch.drives:
                    slot = ours.layout.drive(batch.drives[key][k : k + 1], 0)
                else:
                    slot = ours.layout.unknown(batch.unknowns[key][k : k + 1], 0)
                yield slot, theirs.layout.unknown(other.unknowns[key][position : position + 1], 0)


def _around(recovery: Detour, g: Array, state: Array, t: float) -> Array:
    machine, absolute = recovery.machine, recovery.absolute.machine
    layout, theirs = machine.system.layout, absolute.system.layout
    point, other, nothing = g.copy(), absolute.g.copy(), np.zeros(1)
    set_time(machine.problem, point, t)
    point[layout.x : layout.history] = state[: 3 * layout.nk + layout.ny]
    run_table(machine.element.observed, point, nothing)
    for ours, slots in recovery.pairs:
        other[slots] = point[ours]
    set_time(absolute.problem, other, t)
    set_charges(absolute, other)
    whole = np.concatenate(
        [other[theirs.x : theirs.history], other[theirs.charge(np.arange(theirs.nq), 0)], other[theirs.history : theirs.step_size]]
    )
    found = recover(recovery.absolute, other, whole, t)
    return in_joint_coordinates(absolute, found, machine)
