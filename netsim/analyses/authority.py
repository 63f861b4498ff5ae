"""Whether actuators can make signals follow motions: the transfer matrix from inputs to signals at the start of a run.

G(s) = dx/du for fast motions, from the step matrix with d/dt replaced by s. Its rank says whether the motions can be chosen independently, pivots which
actuators are needed, and the growth of its inverse with s how often a motion is differentiated on the way to the inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netsim.analyses.options import TransientOptions
from netsim.analyses.transient import ready
from netsim.errors import InputError, Problem
from netsim.kernels.call import run_table
from netsim.layout import DRIVE_LEVELS
from netsim.solvers.initial import Structure
from netsim.solvers.linear import SingularMatrix, analyse, solve
from netsim.solvers.machine import Machine, build_machine
from netsim.solvers.newton import set_coefficients
from netsim.system import System
from netsim.tracking import Actuator, Motion
from netsim.values import Values

Array = np.ndarray
RANK_RATE, GROWTH_RATES = 1e2, (1e5, 1e6)
"""Rates s in 1/s: rank is judged where position responses are not yet lost in rounding, growth where no pole of a machine interferes."""

RANK_TOLERANCE, ROUNDING = 1e-7, 1e-14


@dataclass(frozen=True)
class Authority:
    """Positions of the actuators that are needed and of the spare ones, and how often each motion is differentiated."""

    base: tuple[int, ...]
    spare: tuple[int, ...]
    derivatives: tuple[int, ...]


def authority(
    prepared: tuple[Values, System, Structure], motions: Sequence[Motion], actuators: Sequence[Actuator], options: TransientOptions
) -> Authority:
    """What the actuators can do, from the network in which their inputs are applied; raises `InputError` where it is not enough."""
    if len(actuators) < len(motions):
        listed = ", ".join(a.name for a in actuators)
        more = f"{len(motions)} signals are to be followed, but there {'is' if len(actuators) == 1 else 'are'} only {len(actuators)}: {listed}"
        raise InputError(Problem("E432", f"too few actuators: {more}", actuators[-1].expr.span, hint="name one more for each, or follow less"))
    values, system, structure = prepared
    machine, _, g, _ = ready(build_machine(system, values), structure, options)
    network = system.network
    elements = [a.element(network) for a in actuators]
    signals = [f"{e}.x" for e in elements[: len(motions)]]
    responses = (transfer(machine, g, [f"{e}.u" for e in elements], signals, s) for s in (RANK_RATE, *GROWTH_RATES))
    scaled, base = _pivots(next(responses))
    _check_rank(scaled, motions, actuators)
    slow, fast = responses
    chosen = base[: len(motions)]
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = np.log10(np.abs(np.linalg.inv(fast[:, chosen]) / np.linalg.inv(slow[:, chosen])))
    derivatives = tuple(int(np.rint(k)) for k in np.max(np.where(np.isfinite(growth), growth, 0.0), axis=0))
    for motion, n in zip(motions, derivatives):
        if n >= DRIVE_LEVELS:
            message = f"the motion of {motion.name} would have to be differentiated {n} times on the way to the actuators; {DRIVE_LEVELS - 1} is the most"
            raise InputError(Problem("E434", message, motion.motion.span, hint="leave out an elasticity or inductance between them"))
    return Authority(tuple(chosen), tuple(sorted(base[len(motions) :])), derivatives)


def transfer(machine: Machine, g: Array, inputs: Sequence[str], signals: Sequence[str], s: float) -> Array:
    """G(s): derivatives of the named unknowns by the right sides of the named unknowns' own rows, linearised at g with d/dt = s."""
    system, names = machine.system, machine.system.names
    h, out = g.copy(), np.zeros(system.out_size)
    set_coefficients(h, 1.0 / s, 1.0, s, s)
    run_table(machine.problem.jacobian, h, out)
    layout, pattern = system.layout, system.pattern
    try:
        factor = analyse(system.n, pattern.indptr, pattern.indices, out[layout.entries : layout.entries + pattern.nnz])
    except SingularMatrix:
        raise InputError(Problem("E435", "the network has no unique motion under given inputs: look at it with `netsim check`")) from None
    wanted = [names.index(n) for n in signals]
    columns = []
    for name in inputs:
        right, x = np.zeros(system.n), np.zeros(system.n)
        right[names.index(name)] = 1.0
        solve(factor, right, x)
        visible = np.abs(x) / system.nominals > ROUNDING * np.max(np.abs(x) / system.nominals)
        columns.append(np.where(visible, x, 0.0)[wanted])
    return np.array(columns).T


def _pivots(g: Array) -> tuple[Array, list[int]]:
    """G with rows and columns scaled to 1 (zero ones stay), and its columns in the order of pivots."""
    from scipy.linalg import qr

    scaled = g / np.maximum(np.abs(g).max(axis=1, keepdims=True), 1e-300)
    order = [int(k) for k in qr(scaled, mode="r", pivoting=True)[1]]
    return scaled / np.maximum(np.abs(scaled).max(axis=0), 1e-300), order


def _check_rank(scaled: Array, motions: Sequence[Motion], actuators: Sequence[Actuator]) -> None:
    left, sizes, _ = np.linalg.svd(scaled)
    rank = int((sizes > RANK_TOLERANCE * max(1.0, sizes.max(initial=0.0))).sum())
    if rank == len(motions):
        return
    listed = ", ".join(a.name for a in actuators)
    still = [m for m, row in zip(motions, scaled) if not row.any()]
    if still:
        hint = "is it fixed, or prescribed by something else? or do they act on another part of the network?"
        message = f"no actuator moves {', '.join(m.name for m in still)}: {listed} cannot change it"
        raise InputError(Problem("E432", message, still[0].signal.span, hint=hint))
    bound = [m for m, weight in zip(motions, np.abs(left[:, rank:]).max(axis=1)) if weight > 1e-3]
    message = f"the actuators {listed} cannot move {' and '.join(m.name for m in bound)} independently of one another"
    raise InputError(Problem("E432", message, bound[0].signal.span, hint="follow fewer of them, or name other actuators"))
