"""The equations of a network at one instant, with every derivative that collocation needs.

By the offsets c_i, d_j of the signature method (netsim.structure.orders) a point has z_j, z_j', ..., z_j^(d_j) as
variables and F_i = F_i' = ... = F_i^(c_i) = 0 as equations, so that constraints of every level hold exactly at every
point, whatever the index. Collocation adds z_j^(k)' = z_j^(k + 1), k < d_j, along the sum d_j - sum c_i ways that the
constraints leave open (`ways`).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from netsim.analyses.inverse.tracking import Actuator
from netsim.analyses.optimal.program.blocks import NOWHERE, Block, Formula, slopes_of
from netsim.equations.batches import Batch
from netsim.equations.forms.form import Form, differentiated
from netsim.equations.forms.symbols import CONSTANT, UNIFORM, UNIFORMS
from netsim.equations.kernels.reference import zeros
from netsim.equations.machine import Machine
from netsim.equations.starts.written import written_sizes
from netsim.equations.system import System
from netsim.initial.initial import Structure, structure_of
from netsim.network.network import Network
from netsim.structure.orders import StructurallySingular, all_equation_numbers

Array = np.ndarray
NO_PLACES = np.zeros(0, np.int64)
Others = Sequence[tuple[Machine, Array, float]]


@dataclass(frozen=True, eq=False)
class Group:
    """Elements of one type with the same orders: their formula, places of its variables in a point (inputs, n), slots
    of its constants in g (slots, n) behind which come the parameters of these `members` of a batch, the `owner`; rows
    of a point that it adds to (outputs, n)."""

    formula: Formula
    places: Array
    slots: Array
    owner: int
    members: Array
    rows: Array

    def given(self, machine: Machine, g: Array) -> Array:
        """Its constants (constants, points, n) from global vectors g (slots, points) and a machine's parameters."""
        own = machine.parameters[self.owner][:, self.members]
        return np.concatenate([g[self.slots].transpose(0, 2, 1), np.repeat(own[:, None], g.shape[1], axis=1)])

    def tuned(self, varying: Array, count: int) -> Formula:
        """The formula in which the constants that vary are affine in `count` more variables, with their slopes as more
        constants."""
        key = (varying.tobytes(), count)
        kept = vars(self.formula).setdefault("tuned", {})
        if key not in kept:
            free, slopes = ca.SX.sym("p", count), ca.SX.sym("slope", len(varying), count)
            old = self.formula.constants[varying.tolist()]
            results = ca.substitute([self.formula.results], [old], [old + ca.mtimes(slopes, free)])[0]
            variables, constants = self.formula.variables, self.formula.constants
            kept[key] = Formula(ca.vertcat(variables, free), ca.vertcat(constants, ca.vec(slopes.T)), results)
        return kept[key]


@dataclass(frozen=True, eq=False)
class Point:
    """All variables and equations of an instant. `c` is -1 for equations that are left out; variables at orders 0 .. d;
    rows F at orders 0 .. c, then relations along the ways. `g` is the global vector at the start. `scale` are the sizes
    of positions and of unknowns (2, unknowns) in the problem's own units, where those are not the usual ones."""

    machine: Machine
    c: Array
    d: Array
    groups: tuple[Group, ...] = ()
    g: Array = field(default_factory=lambda: np.zeros(0))
    scale: Array | None = None

    @cached_property
    def first(self) -> Array:
        """The place of every variable's order 0."""
        return np.concatenate([[0], np.cumsum(self.d + 1)]).astype(np.int64)

    @cached_property
    def equations(self) -> Array:
        """The row of every equation's order 0."""
        return np.concatenate([[0], np.cumsum(self.c + 1)]).astype(np.int64)

    @property
    def size(self) -> int:
        return int(self.first[-1])

    @property
    def ways(self) -> int:
        """How many states the equations leave open."""
        return len(self.state_places) - len(self.hidden[0])

    @property
    def rows(self) -> int:
        return int(self.equations[-1]) + self.ways

    @cached_property
    def states(self) -> tuple[Array, Array]:
        """(variable, order) of everything that is differentiated."""
        return _counted(self.d)

    @cached_property
    def hidden(self) -> tuple[Array, Array]:
        """(equation, order) of everything that says something of what is differentiated: F_i^(m), m < c_i."""
        return _counted(np.maximum(self.c, 0))

    @cached_property
    def state_places(self) -> Array:
        variable, order = self.states
        return self.first[variable] + order

    @cached_property
    def top_places(self) -> Array:
        """The place of every variable's highest order."""
        return self.first[1:] - 1

    @cached_property
    def top_rows(self) -> Array:
        """Rows of the highest order of every equation that counts."""
        return (self.equations[1:] - 1)[self.c >= 0]

    @cached_property
    def size_of(self) -> Array:
        """Nominal sizes of orders 0 and 1 of all variables (2, variables): those of their domains, or written ones;
        what is differentiated (charges, momenta) is as large as what it is made of, by slopes at the start and so far
        beside it."""
        system, nk = self.machine.system, self.machine.system.layout.nk
        found = np.ones((2, len(self.d)))
        found[:, : system.n] = nominal_sizes(self.machine, self.scale)
        size, made = np.zeros(self.size), system.n + np.flatnonzero(self.c[system.n :] >= 0)
        size[self.first[:nk] + np.minimum(self.d[:nk], 1)] = found[1, :nk]
        size[self.first[: system.n]] = found[0, : system.n]
        for z in (self.start, self.start + size) if len(made) else ():
            of = abs(self.slopes(self.g[:, None], z[:, None]))[self.equations[made]] @ size
            found[0, made] = np.where(np.isfinite(of) & (of > 0.0), of, found[0, made])
        return found

    @cached_property
    def start(self) -> Array:
        """The variables at the start, 0 for those that the global vector has no room for."""
        found = np.zeros(self.size)
        places, slots = self.slots()
        found[places] = self.g[slots]
        return found

    def slots(self) -> tuple[Array, Array]:
        """(places, slots in g) of all variables that g has room for."""
        layout, places, slots = self.machine.system.layout, list[Array](), list[Array]()
        for order in range(3):
            unknown = np.flatnonzero(self.d[: layout.nk if order else layout.n] >= order)
            of = np.flatnonzero(self.d[layout.n :] >= order) if order < 2 else NO_PLACES
            places += [self.first[unknown] + order, self.first[layout.n + of] + order]
            slots += [layout.unknown(unknown, order), layout.differentiated(of, order)]
        return np.concatenate(places).astype(np.int64), np.concatenate(slots).astype(np.int64)

    def one_by_one(self, g: Array) -> list[Block]:
        """The blocks of points with g (slots, points), one behind the other, with all their rows."""
        count = np.arange(g.shape[1])
        return list(self.blocks(g, count * self.size, np.arange(self.rows)[:, None] + count * self.rows))

    def slopes(self, g: Array, z: Array) -> Any:
        """The Jacobian of the rows of points, one behind the other, at z (variables, points), without relations."""
        return slopes_of(self.one_by_one(g), z.T.ravel(), z.shape[1] * self.rows)

    def blocks(
        self, g: Array, offsets: Array, rows: Array, others: Others = (), free: Array = NO_PLACES
    ) -> Iterator[Block]:
        """The blocks of points: g (slots, points), where the variables of each begin, and the row of every row of each
        (rows, points), NOWHERE for those that are left out. `others` are (machine, g, step) under a step of each free
        parameter, whose places are `free`."""
        count = len(offsets)
        for group in self.groups:
            flat = count * group.places.shape[1]
            place = np.where(group.places[:, None] < 0, NOWHERE, group.places[:, None] + offsets[:, None])
            row = np.where(group.rows[:, None] < 0, NOWHERE, np.swapaxes(rows[np.maximum(group.rows, 0)], 1, 2))
            given = group.given(self.machine, g).reshape(-1, flat)
            place, formula = place.reshape(-1, flat), group.formula
            slopes = [(group.given(m, k).reshape(-1, flat) - given) / step for m, k, step in others]
            varying = np.flatnonzero(np.any([s.any(axis=1) for s in slopes], axis=0)) if slopes else NO_PLACES
            if len(varying):
                formula = group.tuned(varying, len(slopes))
                place = np.vstack([place, np.repeat(free[:, None], flat, axis=1)])
                given = np.vstack([given, np.stack([s[varying] for s in slopes], axis=1).reshape(-1, flat)])
            yield Block(formula, place, given, row.reshape(-1, flat).astype(np.int64))


def nominal_sizes(machine: Machine, scale: Array | None) -> Array:
    """Sizes of orders 0 and 1 of all unknowns (2, unknowns): those of their domains times `scale`, or written ones."""
    system, nk = machine.system, machine.system.layout.nk
    found = np.tile(system.nominals, (2, 1))
    found[0, :nk] = system.position_nominals
    if scale is not None:
        found *= scale
    written = written_sizes(machine)
    own = np.stack([np.append(written[:nk], written[2 * nk :]), np.append(written[nk : 2 * nk], 0.0 * found[1, nk:])])
    return np.where(own > 0.0, own, found)


def _counted(counts: Array) -> tuple[Array, Array]:
    """Numbers k, each so often as counts[k] says, and 0 .. counts[k] - 1 beside them."""
    number = np.repeat(np.arange(len(counts)), counts)
    return number, np.arange(len(number)) - np.repeat(np.cumsum(counts) - counts, counts)


def unknown_of(system: System, element: str) -> int:
    """The unknown of an element that was added to a network and has one."""
    batch, position = system.home[element]
    return int(batch.columns(("own", 0))[position])


def unknowns_of(machine: Machine, inputs: Sequence[Actuator], network: Network) -> list[int]:
    """The unknowns of a rewired network that stand for inputs of the network."""
    return [unknown_of(machine.system, actuator.element(network)) for actuator in inputs]


def present(machine: Machine, structure: Structure) -> Structure:
    """The orders of a machine's network where coefficients that its parameters make zero do not count: of a matrix of a
    state space they decide what depends on an input, and how directly."""
    absent = [np.zeros(0, bool)]
    for batch in machine.system.batches:
        program = batch.kernels.partials.program
        absent.append(zeros(program, machine.parameters[id(batch)]).ravel() if program.n_outputs else absent[0])
    try:
        return structure_of(machine.system, np.concatenate(absent))
    except StructurallySingular:
        return structure


def point_of(machine: Machine, structure: Structure, dropped: Collection[int], g: Array) -> Point:
    """The point of a machine's network without the equations in `dropped`, whose variables are free."""
    o = structure.dynamic
    c = np.where(o.match >= 0, o.c, -1)
    c[list(dropped)] = -1
    point = Point(machine, c, o.d, g=g)
    sums = structure.signature.sums
    groups = [group for batch in machine.system.batches for group in _groups(point, batch, sums)]
    return replace(point, groups=tuple(groups))


def _groups(point: Point, batch: Batch, sums: Array) -> Iterator[Group]:
    """The elements of a batch, those together whose equations and variables have the same orders."""
    form, system = batch.form, point.machine.system
    source, equation = _rows(system, batch, sums)
    if not len(source):
        return
    c = np.where(equation >= 0, point.c[equation], -1)
    highest = int(c.max(initial=-1))
    if highest < 0:
        return
    levels = _derivatives(form, highest)
    keys = [key for key in dict.fromkeys(key for key, _ in form.symbols.gathered) if _varies(batch, key)]
    variable = np.array([_variables(system, batch, key) for key in keys]).reshape(len(keys), batch.n).astype(np.int64)
    d = np.where(variable >= 0, point.d[variable], -1)
    kinds, of = np.unique(np.concatenate([c, d]), axis=1, return_inverse=True)
    for number in range(kinds.shape[1]):
        members = np.flatnonzero(of.ravel() == number)
        own_c, own_d = kinds[: len(c), number], kinds[len(c) :, number]
        outputs, rows = [], []
        for row, own, highest in zip(source, equation[:, members], own_c):
            outputs += [ca.SX(levels[m][row]) for m in range(highest + 1)]
            rows += [np.where(own >= 0, point.equations[own] + m, NOWHERE) for m in range(highest + 1)]
        if outputs:  # not on the ground
            reads = {key: (highest, which) for key, highest, which in zip(keys, own_d, variable[:, members])}
            yield _group(point, batch, members, (ca.cse(ca.vertcat(*outputs)), rows), reads)


def _rows(system: System, batch: Batch, sums: Array) -> tuple[Array, Array]:
    """The rows of a batch's form and the equations (rows, n) they add to; a balance that is part of a sum adds to that
    too."""
    numbers = all_equation_numbers(system, batch)
    source, equation = list(range(len(numbers))), list(numbers)
    for r, own in enumerate(numbers):
        for whole in np.unique(sums[0][np.isin(sums[1], own)]) if sums.size else ():
            parts = sums[1][sums[0] == whole]
            source.append(r)
            equation.append(np.where(np.isin(own, parts), whole, -1))
    return np.array(source, np.int64), np.array(equation, np.int64).reshape(len(equation), batch.n)


def _derivatives(form: Form, order: int) -> list[list[Any]]:
    """[F, F', ...] of a form's rows up to an order at least, found once."""
    kept = vars(form).setdefault("derivatives of rows", [])
    if len(kept) <= order:
        kept[:] = differentiated(form, order)
    return kept


def _varies(batch: Batch, key: Any) -> bool:
    """Whether a key stands for variables, not for what is known."""
    return key[0] == "differentiated" or (
        key[0] not in CONSTANT and key not in batch.prescribed_inputs and key not in batch.tables
    )


def _variables(system: System, batch: Batch, key: Any) -> Array:
    return system.n + batch.differentiated(key[1]) if key[0] == "differentiated" else batch.columns(key)


def _group(
    point: Point, batch: Batch, members: Array, adds: tuple[Any, list[Array]], reads: Mapping[Any, tuple[int, Array]]
) -> Group:
    """Members of a batch that add a column to rows of a point; what they read, with the highest order of each."""
    (column, rows), symbols = adds, batch.form.symbols
    read = {symbol.__hash__() for symbol in ca.symvar(column)}
    places, slots, inputs, constants = list[Array](), list[Array](), list[Any](), list[Any]()
    for (key, order), symbol in symbols.gathered.items():
        if symbol.__hash__() not in read:
            continue
        if key in reads:
            highest, which = reads[key]
            inputs.append(symbol)
            places.append(point.first[which] + order if 0 <= order <= highest else np.full(len(members), NOWHERE))
        else:
            constants.append(symbol)
            slots.append(point.machine.system._slots(batch, key, order)[members])
    for number, name in enumerate(UNIFORMS):
        constants.append(UNIFORM[name])
        slots.append(np.full(len(members), 1 + number))
    constants += [p for scalars in symbols.parameters.values() for p in scalars]
    n = len(members)
    formula = Formula(ca.vertcat(ca.SX(0, 1), *inputs), ca.vertcat(*constants), column)
    return Group(
        formula, np.array(places, np.int64).reshape(-1, n), np.array(slots, np.int64).reshape(-1, n),
        id(batch), members, np.array(rows, np.int64).reshape(-1, n),
    )  # fmt: skip
