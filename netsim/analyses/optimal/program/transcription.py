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
class Rows:
    """Blocks with so many rows of their own, which are zero or, `open`, not negative."""

    blocks: Sequence[Block]
    count: int
    open: bool = False


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
    added = _objective(setting, mesh, offsets, first, rows)
    added += _ends(setting, offsets, rows + sum(each.count for each in added))
    highest = np.concatenate([np.zeros(rows), *(np.full(e.count, INFINITE if e.open else 0.0) for e in added)])
    blocks += [block for each in added for block in each.blocks]
    return Program(setting, mesh, tuple(blocks), highest, low, high, first, numbers, ways)


def _row_numbers(setting: Setting, count: int) -> tuple[Array, int]:
    """The number of every row of every point (rows, points) and how many there are with the objective's. The begin has
    no relations, and where it is given no constraints of states either."""
    point = setting.point
    used = np.zeros((point.rows, count), bool)
    used[:, 1:] = True
    used[: point.equations[-1], 0] = True
    if setting.begin.fixed:
        used[: point.equations[-1], 0] = False
        used[point.top_rows, 0] = True
    numbers = np.full(used.shape, NOWHERE)
    numbers.T[used.T] = 1 + np.arange(used.sum())
    return numbers, 1 + int(used.sum())


def _bound(setting: Setting, low: Array, high: Array) -> None:
    """Limits at all times, what holds at both ends; low and high are (points, variables)."""
    for limit in setting.wishes.limits:
        place = setting.wishes.places[limit.watch]
        low[:, place], high[:, place] = np.maximum(low[:, place], limit.low), np.minimum(high[:, place], limit.high)
    for k, end in ((0, setting.begin), (-1, setting.end)):
        for limit in end.bounds:
            place = setting.wishes.places[limit.watch]
            low[k, place], high[k, place] = max(low[k, place], limit.low), min(high[k, place], limit.high)
        low[k, end.places] = high[k, end.places] = end.values


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


def _objective(setting: Setting, mesh: Mesh, offsets: Array, span: int, rows: int) -> list[Rows]:
    """The objective in row 0, and the rows of its integrals and extremes."""
    wishes, found, reads = setting.wishes, list[Rows](), list[int]()
    for own, term in enumerate(wishes.terms, span + 1):
        at = wishes.places[list(term.watches)][:, None] + offsets[1:]
        row = rows + sum(each.count for each in found)
        reads.append(int(at[0, mesh.point_at(term.share) - 1]) if term.kind == FINAL else own)
        if term.kind == INTEGRAL:
            total = weighted([np.array([own])], [1.0], np.array([row]))
            found.append(Rows([_integral(mesh, at, -np.ones(1), 1, span, row), total], 1))
        elif term.kind == LARGEST:
            signs = np.repeat(term.signs, len(offsets) - 1)
            beyond = weighted([np.full(at.size, own), at.ravel()], [1.0, -signs], row + np.arange(at.size))
            found.append(Rows([beyond], at.size, True))
    if setting.still.size:
        at = setting.still[0].astype(np.int64)[:, None] + offsets[1:]
        found.append(Rows([_integral(mesh, at, setting.still[1], 2, span, OBJECTIVE)], 0))
    if wishes.objective is None:
        return found
    terms, stop = ca.SX.sym("terms", len(reads)), ca.SX.sym("stop")
    formula = Formula(ca.vertcat(terms, stop), ca.SX(0, 1), wishes.objective(terms, stop))
    places = np.array([*reads, span], np.int64)[:, None]
    found.append(Rows([Block(formula, places, np.zeros((0, 1)), np.array([[OBJECTIVE]]))], 0))
    return found


def _integral(mesh: Mesh, at: Array, factors: Array, power: int, span: int, row: int) -> Block:
    """The integral of sum_k factors_k value_k^power, with the places `at` (series, points) of the values, in a row."""
    v, weight = ca.SX.sym("v", 2), ca.SX.sym("weight")
    weights = (factors[:, None] * mesh.quadrature).reshape(1, -1)
    places = np.stack([at.ravel(), np.full(at.size, span)])
    return Block(Formula(v, weight, weight * v[1] * v[0] ** power), places, weights, np.full((1, at.size), row))


def _ends(setting: Setting, offsets: Array, rows: int) -> list[Rows]:
    """What is at the end as at the begin; inputs at the begin as at the first point."""
    tops, periodic = setting.point.top_places[setting.free], setting.end.periodic
    one, other = (
        np.append(tops + offsets[0], periodic + offsets[-1]),
        np.append(tops + offsets[1], periodic + offsets[0]),
    )
    if not len(one):
        return []
    return [Rows([weighted([one, other], [1.0, -1.0], rows + np.arange(len(one)))], len(one))]


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
