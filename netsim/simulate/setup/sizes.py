"""Sizes of quantities that a run does not show yet: what its start and its sources will move, and what rounding leaves
of what stays zero.

Before the first step. A run may begin with zeros, whose size only its way shows. One implicit step from the start,
linearised, with a = 0 and q' = 0 held against what prescribed inputs and the start's own forces ask for,

    J(h) dz = F(x, v, a = 0, y, q' = 0, prescribed inputs),

gives the static answer where h is long, F h^2/m of a free mass, and the velocity x/T of an oscillator where h is near
T. So the largest dz over steps from the whole run down to a thousand-millionth of it says how far things go. A
prescribed input counts with its largest mean over a time h, and so does F of functions of time in texts. Delayed
values stand still, so that no step is longer than the shortest delay. An answer too large does no harm above the
nominal size: no quantity is measured by more than that for the sake of others (netsim.core.scales). A kind that still
stands at zero then may follow from a product of what moves: such kinds are asked for again at the end of those steps.

On the way. The terms of equation i are known to eps T_i, T_i = sum |dF_i/dz_j| |z_j|; J^-1 of that (signs at random,
twice) is what rounding makes of the unknowns, of a pendulum at rest or the current of a balanced bridge. An error test
that asked for less would shorten steps for ever.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netsim.core.compiled.call import run_table
from netsim.core.contract import RTOL, Trial
from netsim.core.linear.columns import Columns, splu
from netsim.core.newton import set_time
from netsim.core.problem import ALPHA, DIFFERENTIATED, KA, KV, KX
from netsim.core.scales import ROUNDED, SO_FAR, UNKNOWN
from netsim.core.states import DISSIPATED, SUPPLIED, TYPES, load
from netsim.equations.machine import Machine, power_buffer

Array = np.ndarray
Solve = Callable[[Array], Array | None]

SMALL = 1e-3
"""The share of its nominal size below which a kind's largest value may be rounding."""
TIMES = 20.0
"""So many times the rounding of the equations' terms passes the error test."""
AHEAD = 30.0
"""Steps grow: what rounding leaves is asked for at this multiple of the present one too."""
LADDER = 10.0 ** -np.arange(10)
"""Steps whose answers are asked for before a run, as shares of it or of the shortest delay."""
INSTANTS = 20
"""About so many instants are looked at for the sake of functions of time in the text of components."""
FORCES = 1000
"""And so many for what these functions do on average."""
DRAWS = 20
"""So many signs and instants are tried for the power that rounding makes."""
EPS = 2.220446049250313e-16


def size_by_responses(
    machine: Machine, trial: Trial, stop: float, times: Array, prescribed_inputs: Array, ends: Array | None
) -> None:
    """How far the start and the sources move things, into trial.sizes, where that is not known; `prescribed_inputs`:
    sampled over the run (times, prescribed inputs); `ends`: instants at which functions of time in the text of
    components do something, None where there are none."""
    nominal = _nominal(trial)
    if not (trial.sizes[SO_FAR] < nominal).any():
        return
    layout, n, g = machine.system.layout, machine.system.n, _stands(machine, trial, 0.0)
    sums, answers = integrals(times, prescribed_inputs), list[StepSolver]()
    acting = [] if ends is None else [_stands(machine, trial, t) for t in ends[:: max(1, len(ends) // INSTANTS)]]
    seen = times[:1] if ends is None else times[:: 1 + len(times) // FORCES]
    forces = np.array([_held_still(machine, _stands(machine, trial, t))[:n] for t in seen])
    forces[~np.isfinite(forces)] = 0.0
    acted = integrals(seen, forces)
    # a delayed value stands still in a linearised step, which is so for no longer than its delay
    for h in LADDER * min(stop, machine.problem.buffer.length.min(initial=np.inf)):
        loaded = g.copy()
        inputs = slice(layout.prescribed_inputs, layout.prescribed_inputs + layout.nd)
        loaded[inputs] = prescribed_inputs[0] + largest_means(times, sums, h)
        right = _held_still(machine, loaded)[:n] if ends is None else forces[0] + largest_means(seen, acted, h)
        solve = _solver(machine, _entries(machine, g.copy(), 1.0, 1.0 / h, 1.0 / h**2, 1.0 / h))
        change = solve(right[:, None]) if solve else None
        if solve is not None and change is not None:
            answers.append(StepSolver(h, [loaded, *acting], solve))
            _count(trial, h, change, np.ones(len(nominal), bool))
    unknown = trial.sizes[SO_FAR] <= UNKNOWN * nominal
    for answer in answers if unknown.any() else ():
        _count_products(machine, trial, unknown, answer)


@dataclass(frozen=True)
class StepSolver:
    """What solves with the matrix of a linearised step of size h, and global vectors that it may be `loaded` by."""

    h: float
    loaded: list[Array]
    solve: Solve


def _count(trial: Trial, h: float, change: Array, kinds: Array) -> None:
    """Let changes of the unknowns in a step of size h count for these kinds."""
    found = np.minimum(_largest(change, len(trial.nominal) - len(change), h), trial.nominal)
    np.maximum.at(trial.sizes[SO_FAR], trial.kind, np.where(kinds[trial.kind], found, 0.0))


def _largest(change: Array, nk: int, h: float) -> Array:
    """The largest of the changes (n, columns) in a step of size h: of positions, velocities and values (2 nk + ny)."""
    most = np.abs(change).max(axis=1)
    return np.concatenate([most[:nk], most[:nk] / h, most[nk:]])


def _count_products(machine: Machine, trial: Trial, unknown: Array, answer: StepSolver) -> None:
    """Let `unknown` kinds count with what follows from what others have moved by, while that makes further ones known:
    corrections of the implicit step by the same matrix."""
    n, known = machine.system.n, -1
    change = answer.solve(np.column_stack([_held_still(machine, each)[:n] for each in answer.loaded]))
    while change is not None and np.count_nonzero(trial.sizes[SO_FAR]) > known:
        known = int(np.count_nonzero(trial.sizes[SO_FAR]))
        missed = [_missed(machine, g, dz, answer.h) for g, dz in zip(answer.loaded, change.T)]
        more = answer.solve(np.column_stack(missed))
        if more is None:
            return
        change = change + more
        _count(trial, answer.h, change, unknown)


def _missed(machine: Machine, stands: Array, change: Array, h: float) -> Array:
    """F at the end of a step of size h from rest in which the unknowns change by -`change`."""
    layout, g = machine.system.layout, stands.copy()
    nk, q, out = layout.nk, machine.problem.sizes[DIFFERENTIATED], _held_still(machine, g)
    g[ALPHA] = 1.0 / h
    g[layout.history : layout.step_size] = -out[q : q + layout.nq] / h
    for first, rate in ((layout.x, 1.0), (layout.v, 1.0 / h), (layout.a, 1.0 / h**2)):
        g[first : first + nk] -= rate * change[:nk]
    g[layout.y : layout.y + layout.ny] -= change[nk:]
    out[:] = 0.0
    run_table(machine.problem.residual, g, out)
    return out[: machine.system.n]


def _held_still(machine: Machine, g: Array) -> Array:
    """F, then the rest of what the residual's kernels write, at the start held still (in g), with the time and the
    prescribed inputs of g."""
    layout, out = machine.system.layout, np.zeros(machine.system.out_size)
    g[layout.a : layout.a + layout.nk] = 0.0
    g[layout.history : layout.step_size] = 0.0
    g[ALPHA] = 0.0
    run_table(machine.problem.residual, g, out)
    return out


def integrals(times: Array, values: Array) -> Array:
    """The integral of values - values[0] (instants, any) up to each of these times."""
    moved = values - values[:1]
    areas = np.diff(times)[:, None] * (moved[1:] + moved[:-1]) / 2
    return np.concatenate([np.zeros_like(moved[:1]), np.cumsum(areas, axis=0)])


def largest_means(times: Array, sums: Array, h: float) -> Array:
    """Of each column the mean of largest magnitude over a window of size h, from its integral up to each of these
    times."""
    begins = np.union1d(times[times <= times[-1] - h], np.maximum(times - h, 0.0))
    found = np.zeros(sums.shape[1])
    for i in np.flatnonzero(sums.any(axis=0)):
        means = (np.interp(begins + h, times, sums[:, i]) - np.interp(begins, times, sums[:, i])) / h
        found[i] = means[np.abs(means).argmax()]
    return found


def set_rounding(machine: Machine, trial: Trial, h: float, t: float) -> None:
    """What rounding leaves of every kind that is small, into trial.sizes; nothing where the step's matrix is
    singular."""
    nominal = _nominal(trial)
    small = trial.sizes[SO_FAR] < SMALL * nominal
    if not small.any() or not h > 0.0:
        return
    found = np.maximum(rounding_of(machine, trial, h, t), rounding_of(machine, trial, AHEAD * h, t))
    trial.sizes[ROUNDED] = np.where(small, found, 0.0)


def rounding_of(machine: Machine, trial: Trial, h: float, t: float) -> Array:
    """What rounding may leave of every kind in a step of size h from where the run stands, at most what errors of its
    nominal size may be; 0 where the step's matrix is singular."""
    found = np.zeros(trial.sizes.shape[1])
    left = _left(machine, trial, h, t, _present(trial.start, machine))
    if left is not None:
        np.maximum.at(found, trial.kind, TIMES * left)
    return np.minimum(found, trial.tolerances[RTOL] * _nominal(trial))


def energy_of_rounding(machine: Machine, trial: Trial, h: float, t: float, most: float) -> float:
    """The energy in J that rounding makes out of nothing in a run of steps of size h up to t: t times what it changes
    supplied and dissipated power by, and its change of what is stored, where velocities and values are as large as they
    ever were (signs at random, inputs of several instants).

    A draw with an energy above `most` is no state of this run (a diode with the largest voltage that blocks it) and
    says nothing."""
    layout, sizes = machine.system.layout, np.maximum(trial.largest, _present(trial.start, machine))
    left, nk = _left(machine, trial, h, t, sizes), layout.nk
    if left is None:
        return 0.0
    draw, found, state = np.random.default_rng(0), 0.0, trial.start.copy()
    for instant in np.linspace(0.0, t, DRAWS):
        signs = draw.choice([-1.0, 1.0], (2, len(sizes)))
        change, energies = TIMES * left * signs[1], []
        for moved in (np.zeros(len(sizes)), change):
            whole = sizes * signs[0] + moved
            state[:nk] = trial.start[:nk] + moved[:nk]
            state[nk : 2 * nk], state[3 * nk : 3 * nk + layout.ny] = whole[nk : 2 * nk], whole[2 * nk :]
            energies.append(_energies(machine, trial, state, instant, machine.problem.energy) * [t, t, 1.0])
        differences = np.where(np.abs(energies[0]) <= most, np.abs(energies[1] - energies[0]), 0.0)
        found = max(found, float(differences.sum()))
    return found if np.isfinite(found) else 0.0


def energy_exchanged(machine: Machine, trial: Trial, t: float) -> float:
    """The energy in J that sources may have handed to one another up to t: t times the largest sum of |power| over
    types of sources, in states with velocities and values as large as they ever were, and rates |q'| or |q|/t,
    whichever is more (signs at random, inputs of several instants)."""
    layout, sizes = machine.system.layout, np.maximum(trial.largest, _present(trial.start, machine))
    draw, state, nk, table = np.random.default_rng(0), trial.start.copy(), layout.nk, machine.problem.energy
    first, nq, powers = 3 * nk + layout.ny, layout.nq, [0.0]
    differentiated, rates = np.abs(state[first : first + 2 * nq]).reshape(2, nq)
    state[first + nq : first + 2 * nq] = np.maximum(rates, differentiated / t)
    for instant in np.linspace(0.0, t, DRAWS):
        whole = sizes * draw.choice([-1.0, 1.0], len(sizes))
        state[nk : 2 * nk], state[3 * nk : 3 * nk + layout.ny] = whole[nk : 2 * nk], whole[2 * nk :]
        each = (_energies(machine, trial, state, instant, table[k : k + 1])[0] for k in range(len(table)))
        powers.append(float(sum(map(abs, each))))
    return t * max(power for power in powers if np.isfinite(power))


def _energies(machine: Machine, trial: Trial, state: Array, t: float, table: Array) -> Array:
    """Supplied power, dissipated power and stored energy of a state at time t, of the types in a call table."""
    g, power = trial.g.copy(), power_buffer(machine.system)
    load(machine.struct, g, state)
    set_time(machine.struct, g, t)
    run_table(table, g, power)
    return np.array([power[:, SUPPLIED].sum(), power[:, DISSIPATED].sum(), power[:, TYPES::2].sum()])


def _present(state: Array, machine: Machine) -> Array:
    """|x|, |v| and |y| of a state, of rotations at least what they reach."""
    layout, nk = machine.system.layout, machine.system.layout.nk
    x = np.maximum(np.abs(state[:nk]), machine.problem.reach)
    return np.concatenate([x, np.abs(state[nk : 2 * nk]), np.abs(state[3 * nk : 3 * nk + layout.ny])])


def _nominal(trial: Trial) -> Array:
    """The largest nominal size of every kind."""
    found = np.zeros(trial.sizes.shape[1])
    np.maximum.at(found, trial.kind, trial.nominal)
    return found


def _left(machine: Machine, trial: Trial, h: float, t: float, sizes: Array) -> Array | None:
    """What the rounding of the equations' terms makes of positions, velocities and values (2 nk + ny) in a step of size
    h, where these have such sizes."""
    system, layout = machine.system, machine.system.layout
    nk, n = layout.nk, system.n
    orders, values = [sizes[:nk], sizes[nk : 2 * nk], np.abs(trial.start[2 * nk : 3 * nk])], sizes[2 * nk :]
    terms, stands, pattern = np.zeros(n), _stands(machine, trial, t), system.pattern
    columns = np.repeat(np.arange(n), np.diff(pattern.indptr))
    for order in range(3 if nk else 1):
        beside = np.concatenate([orders[order], values if order == 0 else np.zeros(layout.ny)])
        kx, kv, ka = np.eye(3)[order]
        np.add.at(terms, pattern.indices, np.abs(_entries(machine, stands, kx, kv, ka, 1.0 / h)) * beside[columns])
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (n, 2))
    solve = _solver(machine, _entries(machine, stands, 1.0, 1.0 / h, 1.0 / h**2, 1.0 / h))
    change = solve(EPS * terms[:, None] * signs) if solve else None
    return None if change is None else _largest(change, nk, h)


def _stands(machine: Machine, trial: Trial, t: float) -> Array:
    """A global vector at the beginning of a step."""
    g = trial.g.copy()
    load(machine.struct, g, trial.start)
    set_time(machine.struct, g, t)
    return g


def _entries(machine: Machine, g: Array, kx: float, kv: float, ka: float, alpha: float) -> Array:
    """Entries of the step's matrix at g with these coefficients."""
    system = machine.system
    g[[KX, KV, KA, ALPHA]] = kx, kv, ka, alpha
    out = np.zeros(system.out_size)
    run_table(machine.problem.jacobian, g, out)
    return out[system.layout.entries : system.layout.entries + system.pattern.nnz]


def _solver(machine: Machine, entries: Array) -> Solve | None:
    """matrix^-1 of right sides (n, columns), equilibrated, which is None where they or the answer are not finite; None
    where the matrix is not finite or singular."""
    if not np.isfinite(entries).all():
        return None
    pattern, n, size = machine.system.pattern, machine.system.n, np.abs(entries)
    columns, rows = np.repeat(np.arange(n), np.diff(pattern.indptr)), np.full(n, 1e-300)
    np.maximum.at(rows, pattern.indices, size)
    each = np.full(n, 1e-300)
    np.maximum.at(each, columns, size / rows[pattern.indices])
    scaled = Columns((n, n), pattern.indptr, pattern.indices, entries / rows[pattern.indices] / each[columns])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            factors = splu(scaled)
    except RuntimeError:
        return None

    def solve(right: Array) -> Array | None:
        if not np.isfinite(right).all():
            return None
        change = factors.solve(right / rows[:, None]) / each[:, None]
        return change if np.isfinite(change).all() else None

    return solve
