"""The network on a mesh of time as a nonlinear program: variables, rows, bounds.

Variables are those of point 0 (the begin), of every collocation point, then the span and the objective's integrals and
extremes. Every point has the network's rows. With h = span * (share of the interval), collocation asks of all
differentiated z and their rates z' for

    T' (sum_m D_lm z_m - h z'_l) = 0,    l = 1 .. q,

along the ways T that the constraints leave open (`ways`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from netsim.analyses.optimal.parameters import Tuned
from netsim.analyses.optimal.program.blocks import NOWHERE, OBJECTIVE, Block, Formula, weighted
from netsim.analyses.optimal.program.points import Others, Point
from netsim.analyses.optimal.program.radau import Mesh
from netsim.analyses.optimal.program.ways import Ways, ways_of
from netsim.analyses.optimal.wishes import FINAL, INTEGRAL, LARGEST, Bounded, Wishes
from netsim.core.newton import OUTSIDE_TABLE, set_time
from netsim.equations.machine import Machine
from netsim.text.errors import InputError, Problem

Array = np.ndarray
INFINITE = float("inf")


def silent(fraction: float, time: float, iteration: int) -> None:
    """Tells nobody how far IPOPT is."""


@dataclass(frozen=True, eq=False)
class Setting:
    """What does not depend on the mesh: the point, wishes, bounds of the span, variables whose highest order is free,
    what holds at both ends; when the span begins (`early`, s); places whose squares, times weights, are to have a least
    integral (`still`); who is told of IPOPT's iterations; inputs that followed signals determine."""

    point: Point
    wishes: Wishes
    stop: tuple[float, float]
    free: Array
    begin: "Ends"
    end: "Ends"
    early: float = 0.0
    still: Array = field(default_factory=lambda: np.zeros((2, 0)))
    tuned: Tuned = field(default_factory=Tuned)
    progress: Callable[[float, float, int], object] = silent
    followed: Array = field(default_factory=lambda: np.zeros(0, np.int64))

    def known(self, fractions: Array, stop: float) -> Array:
        """Global vectors (slots, instants) with all functions of time at fractions of the span."""
        return known_at(self.point.machine, self.early + fractions * stop, self.point.g)

    def others(self, fractions: Array, stop: float) -> Others:
        """The same under a step of each free parameter, with the machine and the step."""
        tuned, times, found = self.tuned, self.early + fractions * stop, list[tuple[Machine, Array, float]]()
        for machine, step in zip(tuned.machines[1:], tuned.steps):
            g = np.where(machine.g != self.point.machine.g, machine.g, self.point.g)
            found.append((machine, known_at(machine, times, g), float(step)))
        return found


@dataclass(frozen=True, eq=False)
class Motion:
    """Variables at all points of a mesh (variables, points), the span (s), and by how much free parameters differ from
    their first values."""

    mesh: Mesh
    z: Array
    stop: float
    tuned: Array = field(default_factory=lambda: np.zeros(0))


@dataclass(frozen=True, eq=False)
class Ends:
    """What holds at one end: places of a point with their values; or, `periodic`, places that are as at the begin; and
    bounds."""

    places: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    values: Array = field(default_factory=lambda: np.zeros(0))
    bounds: Sequence[Bounded] = ()
    periodic: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    fixed: bool = False


@dataclass(frozen=True, eq=False)
class Program:
    """A nonlinear program: blocks, the largest value of every row (the least is 0, row 0 is the objective), bounds of
    variables, where the variables behind those of the points begin, the number of every row of every point, the ways
    along which it is collocated."""

    setting: Setting
    mesh: Mesh
    blocks: tuple[Block, ...]
    highest: Array
    low: Array
    high: Array
    globals: int
    row_of: Array
    ways: Ways

    @property
    def points(self) -> int:
        return len(self.mesh.fractions)

    @property
    def span(self) -> int:
        """The place of the span."""
        return self.globals

    def motion(self, x: Array) -> Motion:
        """The motion that its variables are."""
        tuned = x[len(x) - len(self.setting.tuned.names) :]
        return Motion(self.mesh, x[: self.globals].reshape(self.points, -1).T, float(x[self.globals]), tuned)


def transcribed(setting: Setting, guess: Motion, like: Program | None = None) -> Program:
    """The program on the mesh of a guess, near which it is looked what is open. The ways of a program `like` it are
    taken where they serve."""
    mesh = guess.mesh
    g, others = setting.known(mesh.fractions, guess.stop), setting.others(mesh.fractions, guess.stop)
    point, count = setting.point, len(mesh.fractions)
    offsets = np.arange(count) * point.size
    first = count * point.size
    terms = setting.wishes.terms
    parameters = first + 1 + len(terms) + np.arange(len(others))
    size = first + 1 + len(terms) + len(others)
    numbers, rows = _row_numbers(setting, count)
    blocks = list(point.blocks(g, offsets, numbers, others, parameters))
    ways = ways_of(point, mesh, g, guess.z, like.ways if like else None)
    if point.ways:
        blocks.append(_collocation(point, mesh, ways, offsets, numbers, first))
    low, high = np.full(size, -INFINITE), np.full(size, INFINITE)
    low[first], high[first] = setting.stop
    tuned = setting.tuned
    low[parameters], high[parameters] = tuned.low - tuned.first, tuned.high - tuned.first
    bounded = low[:first].reshape(count, -1), high[:first].reshape(count, -1)
    _bound(setting, *bounded)
    added, highest = _objective(setting, mesh, offsets, first, np.zeros(rows))
    blocks += added
    tops, periodic = point.top_places[setting.free], setting.end.periodic
    if alike := len(tops) + len(periodic):  # inputs at the begin as at the first point, the end as the begin
        one = np.append(tops + offsets[0], periodic + offsets[-1])
        other = np.append(tops + offsets[1], periodic + offsets[0])
        blocks.append(weighted([one, other], [1.0, -1.0], len(highest) + np.arange(alike)))
    highest = np.append(highest, np.zeros(alike))
    return Program(setting, mesh, tuple(blocks), highest, low, high, first, numbers, ways)


def _row_numbers(setting: Setting, count: int) -> tuple[Array, int]:
    """The number of every row of every point (rows, points) and how many there are with the objective's. The begin has
    no relations, and where it is given no constraints of states either."""
    point = setting.point
    used, row = np.ones((point.rows, count), bool), np.arange(point.rows)
    used[:, 0] = np.isin(row, point.top_rows) if setting.begin.fixed else row < point.equations[-1]
    numbers = np.full(used.shape, NOWHERE)
    numbers.T[used.T] = 1 + np.arange(used.sum())
    return numbers, 1 + int(used.sum())


def _bound(setting: Setting, low: Array, high: Array) -> None:
    """Limits at all times, what holds at both ends; low and high are (points, variables)."""
    begin, end, every = setting.begin, setting.end, slice(None)
    for at, bounds in ((every, setting.wishes.limits), (slice(1), begin.bounds), (slice(-1, None), end.bounds)):
        for b in bounds:
            here = at, setting.wishes.places[b.watch]
            low[here], high[here] = np.maximum(low[here], b.low), np.minimum(high[here], b.high)
    low[0, begin.places] = high[0, begin.places] = begin.values
    low[-1, end.places] = high[-1, end.places] = end.values


def _collocation(point: Point, mesh: Mesh, ways: Ways, offsets: Array, numbers: Array, span: int) -> Block:
    """The relations along the ways in all intervals: one copy for every entry of T."""
    q = mesh.degree
    z, rate, given, stop = ca.SX.sym("z", q + 1), ca.SX.sym("rate", q), ca.SX.sym("given", 2), ca.SX.sym("stop")
    results = given[0] * (ca.mtimes(ca.DM(mesh.differences), z) - given[1] * stop * rate)
    at = mesh.numbers[ways.interval].T  # (1 + q, entries)
    states = point.state_places[ways.state] + offsets[at]
    places = np.vstack([states, states[1:] + 1, np.full((1, at.shape[1]), span)])
    rows = numbers[point.equations[-1] + ways.way, at[1:]]
    given_ = np.stack([ways.value, mesh.spans[ways.interval]])
    return Block(Formula(ca.vertcat(z, rate, stop), given, results), places, given_, rows)


def _objective(setting: Setting, mesh: Mesh, offsets: Array, span: int, highest: Array) -> tuple[list[Block], Array]:
    """The objective in row 0, and its integrals and extremes in rows behind those with the `highest` values, which it
    adds to."""
    wishes, found, reads = setting.wishes, list[Block](), list[int]()
    for own, term in enumerate(wishes.terms, span + 1):
        at, row = wishes.places[list(term.watches)][:, None] + offsets[1:], len(highest)
        reads.append(int(at[0, mesh.point_at(term.share) - 1]) if term.kind == FINAL else own)
        if term.kind == INTEGRAL:
            found.append(_integral(mesh, at, -np.ones(1), 1, span, row))
            found.append(weighted([np.array([own])], [1.0], np.array([row])))
            highest = np.append(highest, 0.0)
        elif term.kind == LARGEST:
            signs = np.repeat(term.signs, len(offsets) - 1)
            found.append(weighted([np.full(at.size, own), at.ravel()], [1.0, -signs], row + np.arange(at.size)))
            highest = np.append(highest, np.full(at.size, INFINITE))
    if setting.still.size:
        at = setting.still[0].astype(np.int64)[:, None] + offsets[1:]
        found.append(_integral(mesh, at, setting.still[1], 2, span, OBJECTIVE))
    if wishes.objective is not None:
        terms, stop = ca.SX.sym("terms", len(reads)), ca.SX.sym("stop")
        formula = Formula(ca.vertcat(terms, stop), ca.SX(0, 1), wishes.objective(terms, stop))
        places = np.array([*reads, span], np.int64)[:, None]
        found.append(Block(formula, places, np.zeros((0, 1)), np.array([[OBJECTIVE]])))
    return found, highest


def _integral(mesh: Mesh, at: Array, factors: Array, power: int, span: int, row: int) -> Block:
    """The integral of sum_k factors_k value_k^power, with the places `at` (series, points) of the values, in a row."""
    v, weight = ca.SX.sym("v", 2), ca.SX.sym("weight")
    weights = (factors[:, None] * mesh.quadrature).reshape(1, -1)
    places = np.stack([at.ravel(), np.full(at.size, span)])
    return Block(Formula(v, weight, weight * v[1] * v[0] ** power), places, weights, np.full((1, at.size), row))


def rates_of(point: Point) -> Array:
    """The rates of everything that is differentiated, with the squares of their inverse sizes as weights."""
    moving = np.flatnonzero(point.d > 0)
    return np.stack([point.first[moving] + 1, point.size_of[1, moving] ** -2.0])


def known_at(machine: Machine, times: Array, g: Array) -> Array:
    """Global vectors (slots, times) with all functions of time at these instants; raises `InputError` (E245) outside of
    a table."""
    found = np.empty((len(g), len(times)))
    for k, t in enumerate(times):
        row = g.copy()
        if set_time(machine.struct, row, t) == OUTSIDE_TABLE:
            hint = "give table(...) the argument outside = hold or outside = linear"
            raise InputError(Problem("E245", f"a table is read outside its range at t = {t:g} s", hint=hint))
        found[:, k] = row
    return found
