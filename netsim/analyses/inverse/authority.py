"""Whether actuators can make signals follow motions: the transfer matrix from inputs to signals at the start of a run.

G(s) = dx/du for fast motions, from the step matrix with d/dt replaced by s. Its rank says whether the motions can be
chosen independently, its pivots which actuators are needed. How often a motion is differentiated on the way to the
inputs is the structure's to say.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from netsim.analyses.inverse.tracking import Actuator, Motion
from netsim.core.compiled.call import run_table
from netsim.core.linear.columns import Columns
from netsim.core.linear.factors import Factor, SingularMatrix, solve, solve_transpose
from netsim.core.linear.symbolic import pivots
from netsim.core.newton import set_coefficients
from netsim.core.problem import PRESCRIBED_ORDERS
from netsim.equations.machine import Machine, build_machine
from netsim.equations.system import System
from netsim.initial.initial import Change, Structure
from netsim.network.bindings import lift_numbers
from netsim.network.values import Values
from netsim.simulate.options import TransientOptions
from netsim.simulate.pivots import scaled_factor
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.structure.of_time.smoothness import too_rough
from netsim.structure.orders import offsets
from netsim.text.errors import InputError, Problem

Array = np.ndarray
Started = tuple[Machine, Structure, Array, list[Change]]
RATE = 1e2
"""s per second, and where the motions seem to depend at that rate s per run: fast for a machine, and position responses
are not yet lost in rounding."""

RANK_TOLERANCE, ROUNDING = 1e-7, 1e-14
AWAY = 0.1
"""Part of their sizes by which values are moved where the actuators have no effect at the start."""


def authority(
    prepared: tuple[Values, System, Structure],
    motions: Sequence[Motion],
    actuators: Sequence[Actuator],
    options: TransientOptions,
) -> tuple[list[int], Started]:
    """The actuators by position in the order of need: as many as there are motions, then the spare ones; and where the
    network `prepared`, in which their inputs are applied, begins.

    Raises `InputError` where the actuators are too few or cannot move the signals independently."""
    if len(actuators) < len(motions):
        listed = ", ".join(a.name for a in actuators)
        message = f"there are too few actuators: {len(actuators)} ({listed}) for {len(motions)} motions"
        hint = "name as many actuators as there are motions, or follow fewer signals"
        raise InputError(Problem("E432", message, actuators[-1].expr.span, hint=hint))
    values, system, structure = prepared
    started = start_of_run(build_machine(system, values), structure, options.start)
    machine, _, g, _ = started
    network = system.network
    elements = [a.element(network) for a in actuators]
    signals = [f"{e}.x" for e in elements[: len(motions)]]
    inputs = [f"{e}.u" for e in elements]
    away = _elsewhere(machine, g)  # at rest a valve without pressure drop moves nothing
    tried = ((point, s) for point in (g, away) for s in (RATE, RATE / options.stop))
    seen = (_pivots(transfer(machine, point, inputs, signals, s)) for point, s in tried)
    first = next(seen)
    scaled, base = next((each for each in chain([first], seen) if _rank(each[0]) == len(motions)), first)
    _check_rank(scaled, motions, actuators)
    return [*base[: len(motions)], *sorted(base[len(motions) :])], started


def _elsewhere(machine: Machine, g: Array) -> Array:
    """A point of the same positions at which no value (pressure, current) is special."""
    layout, point = machine.system.layout, g.copy()
    values, size = point[layout.y : layout.history], machine.system.nominals[layout.nk :]
    changes = np.random.default_rng(3).uniform(0.5, 1.0, layout.ny) * AWAY
    values[: layout.ny] += changes * np.maximum(np.abs(values[: layout.ny]), size)
    return point


def transfer(machine: Machine, g: Array, inputs: Sequence[str], signals: Sequence[str], s: float) -> Array:
    """G(s): derivatives of the unknowns `signals` by the right sides of the own rows of the unknowns `inputs`,
    linearised at g with d/dt = s.

    What rounding may have left is 0: with J x = b and J' w = e_i, x_i is known to a share of |w| |J| |x|, whatever
    units equations and unknowns have (R. Skeel, Scaling for numerical stability in Gaussian elimination, 1979)."""
    system, names = machine.system, machine.system.names
    h, out = g.copy(), np.zeros(system.out_size)
    set_coefficients(h, 1.0 / s, 1.0, s, s)
    run_table(machine.problem.jacobian, h, out)
    layout, pattern = system.layout, system.pattern
    entries = out[layout.entries : layout.entries + pattern.nnz]
    try:
        factor = scaled_factor(machine, entries)
    except SingularMatrix:
        raise InputError(
            Problem("E435", "the network has no unique motion for given inputs", hint="run `netsim check`")
        ) from None
    magnitudes = Columns((system.n, system.n), pattern.indptr, pattern.indices, np.abs(entries))
    wanted = [names.index(n) for n in signals]
    weights = np.abs([_solved(solve_transpose, factor, i, system.n) for i in wanted])
    columns = []
    for name in inputs:
        x = _solved(solve, factor, names.index(name), system.n)
        known = ROUNDING * (weights @ (magnitudes @ np.abs(x)))
        columns.append(np.where(np.abs(x[wanted]) > known, x[wanted], 0.0))
    return np.array(columns).T


def _solved(solving: Callable[..., None], factor: Factor, i: int, n: int) -> Array:
    """The solution for the right side e_i."""
    right, x = np.zeros(n), np.zeros(n)
    right[i] = 1.0
    solving(factor, right, x)
    return x


def _pivots(g: Array) -> tuple[Array, list[int]]:
    """G with rows and columns scaled to 1 (zero ones stay), and its columns in the order of pivots."""
    scaled = g / np.maximum(np.abs(g).max(axis=1, keepdims=True), 1e-300)
    order = pivots(scaled.T)[1].tolist()
    return scaled / np.maximum(np.abs(scaled).max(axis=0), 1e-300), order


def _rank(scaled: Array) -> int:
    sizes = np.linalg.svd(scaled, compute_uv=False)
    return int((sizes > RANK_TOLERANCE * max(1.0, sizes.max(initial=0.0))).sum())


def _check_rank(scaled: Array, motions: Sequence[Motion], actuators: Sequence[Actuator]) -> None:
    rank = _rank(scaled)
    if rank == len(motions):
        return
    left = np.linalg.svd(scaled)[0]
    listed = ", ".join(a.name for a in actuators)
    still = [m for m, row in zip(motions, scaled) if not row.any()]
    if still:
        hint = "the signal may be fixed, prescribed by another element, held by dry friction where it begins (take one "
        hint += "that is rounded below a speed), or in a part of the network without actuators"
        message = f"no actuator moves {', '.join(m.name for m in still)}: {listed} cannot change it"
        raise InputError(Problem("E432", message, still[0].signal.span, hint=hint))
    bound = [m for m, weight in zip(motions, np.abs(left[:, rank:]).max(axis=1)) if weight > 1e-3]
    message = f"the actuators {listed} cannot move {' and '.join(m.name for m in bound)} independently"
    raise InputError(
        Problem("E432", message, bound[0].signal.span, hint="follow fewer of these signals, or name other actuators")
    )


def derivatives(
    prepared: tuple[Values, System, Structure], motions: Sequence[Motion], actuators: Sequence[Actuator], stop: float
) -> list[int]:
    """How often each motion is differentiated on the way to the inputs: the differentiation order of its row (signature
    method).

    Raises `InputError` where that is more than functions of time can give, or more than the motion's own smoothness
    allows."""
    values, system, structure = prepared
    natural = offsets(structure.signature, np.zeros(structure.signature.size, np.int64), match=structure.dynamic.match)
    found = [int(natural.c[system.names.index(f"{a.element(system.network)}.u")]) for a in actuators[: len(motions)]]
    problems = []
    for motion, n in zip(motions, found):
        if n >= PRESCRIBED_ORDERS:
            message = (
                f"the inputs would contain the {n}th derivative of {motion.name}, at most the "
                f"{PRESCRIBED_ORDERS - 1}th is possible"
            )
            hint = "remove an elasticity or inductance between the actuators and the signal"
            problems.append(Problem("E434", message, motion.motion.span, hint=hint))
            continue
        shape = lift_numbers(motion.motion, system.network.top, values, lambda name, frame: None)
        rough = too_rough(motion.motion, shape, n, values, stop)
        problems += [replace(rough, message=f"the motion of {motion.name} {rough.message}")] if rough else []
    if problems:
        raise InputError(problems)
    return found
