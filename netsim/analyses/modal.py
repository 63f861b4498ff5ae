"""Modal analysis: what a network does by itself near a state: frequencies, damping and shapes of its motions.

Around a state at rest F(x, v, a, y, q') = 0 becomes P(s) u = (K + s D + s^2 M) u = 0 for motions u e^(s t), the
rates of differentiated quantities being in D. The matrices come from three evaluations of the step's kernels; singular
M, multipliers and constraints of any index are welcome: only 1/(s - shift) is computed, which is zero where s is
infinite. How many finite ones there are is known: sum d - sum c of the orders (J. Pryce, A simple structural analysis
method for DAEs, BIT 41, 2001). Integrals over time that no equation reads (`work`) are no motions.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, Task
from netsim.analyses.option_values import NUMBER, SECOND, WORD, Kind, whole_numbers
from netsim.analyses.signals.linearised import linearised
from netsim.analyses.signals.points import Point
from netsim.analyses.signals.states.leading import in_own_units
from netsim.analyses.signals.states.reduction import around_shift, slow_ones_anew, time_of
from netsim.core.linear.symbolic import equilibrate
from netsim.core.states import sample
from netsim.equations.history import refuse_delays
from netsim.equations.machine import Machine
from netsim.initial.charts import recharted
from netsim.initial.initial import Structure
from netsim.initial.static.rest import step_matrix
from netsim.multibody.recursion.integrals import integrated
from netsim.results.claims import AT_REST
from netsim.results.samples import Samples, Signal
from netsim.results.selection import Reader, Selection, add_unseen, reader_of, select
from netsim.simulate.setup.start_of_run import equilibrium_of_run, start_of_run
from netsim.text.errors import InputError

Array = np.ndarray
NAMES: dict[str, Kind] = {"modes": NUMBER, "at": SECOND, "from": WORD}
DENSE = 600
"""Unknowns up to which all modes are computed at once; beyond, the wanted ones by Arnoldi's method around the shift."""
PROBE = 1e-6
UNRESISTED, UNDAMPED, REAL = 1e-13, 1e-12, 1e-9
"""Forces of a shape below this part of their terms, and real and imaginary parts of a rate below these parts of it, are
rounding."""
ALIKE = 1e-5
"""Shapes of modes at rate 0 are the same where they differ by less: a double root's differ by the square root of
rounding."""
INFINITE = "with it a network has infinitely many modes"
RATES = 2.0 ** np.arange(60.0, -61.0, -10.0)
"""Rates (1/s) at which the matrix of a step is looked at, the largest first."""
EPS = np.finfo(float).eps
NEARER = 8
"""How often the shift is divided by ten."""


@dataclass(frozen=True)
class ModalOptions:
    """modes: how many, slowest first; at: the time (s) at which functions of time are taken; start: "static" or "" (as
    drawn and started)."""

    modes: int = 10
    at: float = 0.0
    start: str = "static"


@dataclass(frozen=True, eq=False)
class Modes:
    """s (1/s) of motions u e^(s t), one of each conjugate pair, slowest first, and their u = [x | y] in columns, the
    largest entry 1; how many finite s there are, and how many independent speeds and states of first order."""

    rates: Array
    shapes: Array
    states: int
    speeds: int


def modal_options(options: Mapping[str, Any], spans: Mapping[str, Any]) -> ModalOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    if wrong := list(whole_numbers(options, {"modes": 1}, spans)):
        raise InputError(wrong)
    return ModalOptions(
        int(options.get("modes", 10)),
        float(options.get("at", 0.0)),
        "static" if options.get("from", "static") == "static" else "rest",
    )


def modal(task: Task, options: ModalOptions) -> Samples:
    """One row per mode: frequency (Hz), damping ratio, decay (1/s), and of each saved signal its part in the motion
    (and a quarter turn later). What is sampled `beside` them, unseen, is a signal's value at rest, then its part in
    every mode (complex): (1 + modes,).

    About the equilibrium, or with `from = rest` about the starting positions with everything at rest there.
    Raises what `static` raises where no equilibrium is found."""
    refuse_delays(task.machine.system, "modal()", INFINITE)
    point = _at_rest(task, options)
    machine, g = point.machine, point.g
    modes = modes_of(machine, point.structure, g, options.modes)
    selection = select(machine, task.saves, task.plots)
    saved = list(selection.entries)
    unseen = add_unseen(machine, selection, task.beside)
    reader = reader_of(machine, selection)
    still = _sampled(machine, reader, g)
    read = [_read(machine, reader, g, s, u) for s, u in zip(modes.rates, modes.shapes.T)]
    parts = np.array(read).reshape(len(read), len(still))
    columns_of = {name: j for j, name in enumerate(selection.entries)}
    signals, columns = _figures(modes.rates)
    for name in saved:
        part, signal = parts[:, columns_of[name]], selection.entries[name].signal
        columns += [part.real, part.imag]
        signals += [signal, Signal(f"{signal.name} (quadrature)", signal.unit, signal.doc)]
    attributes = {
        "unknowns": machine.system.n,
        "degrees_of_freedom": modes.speeds,
        "states": modes.states,
    }
    return Samples(
        "",
        np.arange(1.0, len(modes.rates) + 1),
        tuple(signals),
        np.column_stack(columns),
        attributes=attributes,
        unseen={name: np.append(still[columns_of[name]], parts[:, columns_of[name]]) for name in unseen},
        origin=g,
        axis="mode",
        about=(point.about(),),
    )


def _at_rest(task: Task, options: ModalOptions) -> Point:
    """The point around which the network moves."""
    if options.start == "static":
        machine, structure, found = equilibrium_of_run(task.machine, task.structure, options.at)
        return Point(machine, structure, found.g, options.at, AT_REST)
    machine, structure, g, _ = start_of_run(task.machine, task.structure)
    layout = machine.system.layout
    g[layout.v : layout.y] = 0.0
    g[layout.history : layout.step_size] = 0.0
    return Point(machine, structure, g, options.at, "the start")


def _figures(rates: Array) -> tuple[list[Signal], list[Array]]:
    """Frequency, damping ratio and decay of the modes."""
    size = np.abs(rates)
    columns = [size / (2 * np.pi), -rates.real / np.where(size > 0, size, 1.0) + 0.0, -rates.real + 0.0]  # no -0
    signals = [
        Signal("frequency", "Hz", "of the undamped motion"),
        Signal("damping", "", "share of critical damping"),
        Signal("decay", "1/s", "rate of decay"),
    ]
    return signals, columns


def freedom(machine: Machine, structure: Structure, g: Array) -> tuple[int, int]:
    """How many finite s there are, sum d - sum c of the signature method, and how many independent speeds (by which
    positions are counted) and states of first order: of the linearised equations, whose leading coefficients may be
    singular where the structure shows nothing of it, or of the structure where they are too many."""
    unread = len(integrated(machine)[0])
    found = None
    if machine.system.n + machine.system.layout.nq <= DENSE:
        parts = linearised(machine, g, Selection()).dense
        found = in_own_units(parts, time_of(parts))
    orders = found.orders if found else structure.dynamic
    return orders.freedom - unread, int((orders.d >= 1).sum() - (orders.c >= 1).sum()) - unread


def modes_of(machine: Machine, structure: Structure, g: Array, wanted: int) -> Modes:
    """The slowest modes at a point at rest."""
    whole = matrices(machine, g)
    rows, columns = _moving(machine, whole[1])
    stiffness, damping, mass = (matrix[rows][:, columns] for matrix in whole)
    finite, speeds = freedom(machine, structure, g)
    shift = _shift(stiffness, damping, mass)
    dense = machine.system.n <= DENSE
    if dense:
        mu, shapes = around_shift(stiffness, damping, mass, shift)
    else:
        mu, shapes, shift = _some(stiffness, damping, mass, shift, min(2 * wanted + 4, finite))
    order = np.argsort(-np.abs(mu))[:finite]
    rates = shift + 1.0 / mu[order]
    if dense:
        shapes = shapes.astype(complex)
        parts = [matrix.toarray() for matrix in (stiffness, damping, mass)]
        rates, shapes[:, order] = slow_ones_anew(parts, rates, shapes[:, order])
    rates = _without_rounding(rates, shapes[:, order], stiffness)
    once = (rates.imag >= 0.0) & _apart(rates, shapes[:, order])
    kept, rates = order[once], rates[once]
    slowest = np.argsort(np.abs(rates), kind="stable")[:wanted]
    chosen = np.zeros((machine.system.n, len(slowest)), complex)
    if not slowest.size:  # nothing can move
        return Modes(rates[slowest], chosen, finite, speeds)
    chosen[columns] = shapes[:, kept[slowest]]
    largest = chosen[np.argmax(np.abs(chosen), axis=0), np.arange(chosen.shape[1])]
    return Modes(rates[slowest], chosen / largest, finite, speeds)


def _moving(machine: Machine, damping: Any) -> tuple[Array, Array]:
    """Equations and unknowns without integrals that no equation reads, and what defines these."""
    unread, _ = integrated(machine)
    own = abs(damping.tocsc()[:, unread])
    rows = np.asarray(own.argmax(axis=0)).ravel() if len(unread) else unread
    everything = np.arange(machine.system.n)
    return np.setdiff1d(everything, rows), np.setdiff1d(everything, unread)


def _apart(rates: Array, shapes: Array) -> Array:
    """Which modes to list: of those at rate 0, whose positions and speeds are two roots with one shape, each shape
    once."""
    from scipy.linalg import qr

    listed, still = np.ones(len(rates), bool), np.flatnonzero(rates == 0.0)
    if len(still) > 1:
        sized = shapes[:, still] / np.linalg.norm(shapes[:, still], axis=0)
        _, r, order = qr(sized, mode="economic", pivoting=True)
        found = np.abs(np.diag(r))
        listed[still[order[: len(found)][found <= ALIKE]]] = False
        listed[still[order[len(found) :]]] = False
    return listed


def _without_rounding(rates: Array, shapes: Array, stiffness: Any) -> Array:
    """Rates whose real or imaginary part is rounding without it; those of shapes that meet no stiffness are 0 (a double
    one comes apart by more)."""
    met, terms = np.abs(stiffness @ shapes), abs(stiffness) @ np.abs(shapes)
    unresisted = np.all(met <= UNRESISTED * np.maximum(terms, np.finfo(float).tiny), axis=0)
    rates = np.where(unresisted, 0.0, rates)
    real = np.where(np.abs(rates.real) < UNDAMPED * np.abs(rates), 0.0, rates.real)
    return real + 1j * np.where(np.abs(rates.imag) < REAL * np.abs(rates), 0.0, rates.imag)


def matrices(machine: Machine, g: Array) -> tuple[Any, Any, Any]:
    """K, D, M (sparse) of P(s) = K + s D + s^2 M at the point in g, from P at values of s.

    M is what is left of P(s) + P(-s) at a large s. In the difference of the two K and s^2 M leave their rounding, of
    the size K/s + s M: every entry of D is taken at the s where that is least, so that the smallest capacitance beside
    a conductance keeps its digits."""
    from scipy.sparse import csc_matrix

    pattern, n = machine.system.pattern, machine.system.n
    k = step_matrix(machine, g, 1.0, 0.0, 0.0, 0.0)[1]
    d, m, least = np.zeros((3, len(k)))
    for s in RATES:  # the largest first
        up, down = (step_matrix(machine, g, 1.0, r, r, r * r)[1] for r in (s, -s))
        if s == RATES[0]:
            left = (up + down) / 2 - k
            m = np.where(np.abs(left) > 4 * EPS * (np.abs(up) + np.abs(down) + np.abs(k)), left, 0.0) / s**2
        rounding = np.abs(k) / s + s * np.abs(m)
        d, least = np.where((rounding < least) | (s == RATES[0]), [(up - down) / (2 * s), rounding], [d, least])
    stiffness, damping, mass = (csc_matrix((e, pattern.indices, pattern.indptr), shape=(n, n)) for e in (k, d, m))
    return stiffness, damping, mass


def _shift(stiffness: Any, damping: Any, mass: Any) -> float:
    """A point beside the slow rates: real, positive, of the size of the slowest ones that the entries suggest."""
    k, d, m = (
        float(np.median(np.abs(x.data[x.data != 0.0]))) if np.any(x.data) else 0.0 for x in (stiffness, damping, mass)
    )
    return (k / m) ** 0.5 if k and m else k / d if k and d else 1.0


def _some(stiffness: Any, damping: Any, mass: Any, shift: float, count: int) -> tuple[Array, Array, float]:
    """The `count` of them with the largest 1/(s - shift), shapes, and the shift: small beside the rates next to it, so
    that these stand apart."""
    from scipy.sparse.linalg import LinearOperator, eigs

    for _ in range(NEARER):
        apply, columns = _inverse(stiffness, damping, mass, shift)
        z = np.random.default_rng(0).normal(size=2 * len(columns))
        for _ in range(8):
            z = apply(z / np.linalg.norm(z))
        if np.linalg.norm(z) * shift < 0.5:
            break
        shift *= 0.1
    n = len(columns)
    operator = LinearOperator((2 * n, 2 * n), matvec=apply, dtype=float)
    mu, vectors = eigs(operator, k=min(count, 2 * n - 2), which="LM", v0=np.ones(2 * n))
    return mu, columns[:, None] * vectors[:n], shift


def _inverse(stiffness: Any, damping: Any, mass: Any, shift: float) -> tuple[Any, Array]:
    """[t u, u] -> [u, u/t] of P(shift + t) u = 0 as a function, rows and columns scaled; the columns' scales."""
    from scipy.sparse import csc_matrix, diags_array
    from scipy.sparse.linalg import splu

    p, d, m = stiffness + shift * damping + shift**2 * mass, damping + 2 * shift * mass, mass
    rows, columns = equilibrate(csc_matrix(p))
    left, right = diags_array(rows), diags_array(columns)
    n, lu = p.shape[0], splu(csc_matrix(left @ p @ right))
    d, m = left @ d @ right, left @ m @ right

    def apply(z: Array) -> Array:
        u, w = z[:n], z[n:]
        return np.concatenate([-lu.solve(d @ u + m @ w), u])

    return apply, columns


def _read(machine: Machine, reader: Reader, g: Array, s: complex, u: Array) -> Array:
    """The signals' parts in a mode: their derivatives along [x, v, a, y] = [u, s u, s^2 u, u]."""
    layout = machine.system.layout
    nk, found = layout.nk, np.zeros((2, len(reader.places)))
    for i, direction in enumerate((u, u / 1j)):
        step = np.zeros(len(g))
        for k, factor in enumerate((1.0, s, s * s)):
            step[layout.x + k * nk : layout.x + (k + 1) * nk] = (factor * direction[:nk]).real
        step[layout.y : layout.history] = direction[nk:].real
        size = PROBE / max(np.abs(step).max(), 1e-300)
        ends = []
        for sign in (1.0, -1.0):
            ends.append(_sampled(machine, reader, g + sign * size * step))
        found[i] = (ends[0] - ends[1]) / (2 * size)
    return found[0] + 1j * found[1]


def _sampled(machine: Machine, reader: Reader, g: Array) -> Array:
    """The signals at a point, whose charts are moved to the rotations that it has."""
    point, row = g.copy(), np.zeros(len(reader.places))
    recharted(machine.system, point, all_of_them=True)
    sample(reader.table, reader.places, point, np.zeros(reader.size), row)
    return row


ANALYSIS = Analysis(
    "modal",
    NAMES,
    check=lambda options, line: modal_options(options, line.spans),
    run=modal,
    refuse=lambda task, options: refuse_delays(task.machine.system, "modal()", INFINITE),
)
