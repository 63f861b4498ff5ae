"""The symbolic form of a component type: its residual rows, differentiated quantities, outputs and energy in CasADi
symbols.

A form is built once per type and counts, and knows nothing of instances. Its scalar symbols are addressed by keys:

    ("node", t, c)   component c of the across of terminal t            ("own", i)    unknown i of the component itself
    ("input", i)     scalar i of its inputs                             ("differentiated", k) quantity k that stands
    under der() ("ref", r)       something another element owns (bound expressions only)
    ("discrete", i)  scalar i of what changes at events alone     ("before", i)   the same before the event
    ("relation_value", k)   the value of relation k while it is frozen: constants too
    ("delayed", k)   what `delayed(...)` number k remembers, a function of time like an input     ("resting", k)   what
    it is of, where all rests ("chart", t, k)  entry k of terminal t's rotation at the beginning of the step
    ("place", t, c)  its reference position: both constants

each at an order: the number of time derivatives taken. Order 0 of a kinematic node is its position, order 1 the across,
order 2 the acceleration; other nodes have their across at order 0. `der(expr)` of a non-kinematic expression is order 1
of a differentiated quantity whose definition is `expr`, so that every method differentiates the differentiated quantity
itself and conserves it; `der` of positions, velocities (linear) and functions of time is taken exactly.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from netsim.core.problem import UNIFORMS as MOVING
from netsim.equations.kernels.program import forward_jacobian
from netsim.library.component import WORLD
from netsim.text.errors import Span
from netsim.text.expressions.typed import Typed
from netsim.text.syntax import Quantity

Key = tuple[Any, ...]
CONSTANT = ("chart", "place", "discrete", "before", "relation_value")
"""Kinds of keys that do not move within a step."""

UNIFORMS = (*MOVING, *(f"{name}[{i}]" for name, (_, s, _v) in WORLD.items() for i in range(s[0] if s else 1)))
"""Scalars every kernel may read: those of a step, and the world values."""

UNIFORM = {name: ca.SX.sym(name) for name in UNIFORMS}


@dataclass
class Symbols:
    """The scalar symbols of one form in the making, created as they are first read."""

    gathered: dict[tuple[Key, int], Any] = field(default_factory=dict)
    parameters: dict[str, list[Any]] = field(default_factory=dict)

    def at(self, key: Key, order: int) -> Any:
        if (key, order) not in self.gathered:
            self.gathered[key, order] = ca.SX.sym("_".join(map(str, (*key, order))))
        return self.gathered[key, order]

    def parameter(self, name: str, size: int) -> list[Any]:
        if name not in self.parameters:
            self.parameters[name] = [ca.SX.sym(f"{name}[{i}]") for i in range(size)]
        return self.parameters[name]

    def rate(self, expression: Any) -> Any:
        """The total time derivative: every symbol's derivative times the symbol one order higher, plus the explicit
        time."""
        read = [(k, s) for k, s in self.gathered.items() if k[0][0] not in CONSTANT]
        inputs = ca.vertcat(UNIFORM["time"], *(s for _, s in read))
        seeds = ca.vertcat(1, *(self._seed(key, order, expression, symbol) for (key, order), symbol in read))
        return ca.jtimes(expression, inputs, seeds)

    def _seed(self, key: Key, order: int, expression: Any, symbol: Any) -> Any:
        return self.at(key, order + 1) if ca.depends_on(expression, symbol) else 0


@dataclass(frozen=True)
class Relation:
    """`a < b` in a discrete equation or a condition. Its zero-crossing function `crossing` is a - b. The relation is
    true where that is negative, and where it is zero unless `strict`.

    scale: |a| + |b|, the size beside which rounding counts; `timed`: it depends on time and discretes alone; `sampled`:
    it stands for sample()."""

    text: str
    span: Span
    crossing: Any
    scale: Any
    strict: bool
    timed: bool
    sampled: bool = False


@dataclass(frozen=True)
class Reset:
    """`reinit v = target`, a scalar of it, at the instants of a `when`."""

    when: int
    text: str
    span: Span
    state: Any
    target: Any


@dataclass(frozen=True)
class Happening:
    """A `when`: true at the one evaluation at which its condition becomes true."""

    text: str
    span: Span
    fired: Any


@dataclass(frozen=True)
class Events:
    """What changes at events: discretes (`hidden` ones count samples and remember conditions) with their starts and
    their next values."""

    names: tuple[str, ...]
    hidden: int
    starts: tuple[Any, ...]
    following: tuple[Any, ...]
    relations: tuple[Relation, ...]
    whens: tuple[Happening, ...]
    resets: tuple[Reset, ...]


NO_EVENTS = Events((), 0, (), (), (), (), ())


@dataclass(frozen=True)
class Delay:
    """`delayed(of, by, before)`: the key of an unknown, for how long (s) it is remembered, what it was before the start
    (None: what it is there)."""

    of: Key
    by: Any
    before: Any | None


@dataclass(frozen=True, eq=False)
class Form:
    """Rows (keys) with their residuals, definitions of differentiated quantities, readable quantities, and the energy
    account.

    The account: a component that states `dissipates` loses that; a source supplies minus its power; one that stores
    loses nothing; any other loses its power. `relative` are coordinates of its own and their rates, which stay where
    they are when a mechanism is put together; `coordinates` are own unknowns with position, velocity and acceleration:
    what the positions are, and names of the velocities."""

    name: str
    symbols: Symbols
    rows: tuple[Key, ...]
    residuals: tuple[Any, ...]
    differentiated: tuple[Any, ...]
    readings: Mapping[str, Typed]
    supplied: Any = 0
    dissipated: Any = 0
    stored: Any = 0
    own: tuple[str, ...] = ()
    own_nominal: tuple[float | None, ...] = ()
    terminals: int = 0
    places: tuple[tuple[Key, Any], ...] = ()
    events: Events = NO_EVENTS
    relative: tuple[int, ...] = ()
    coordinates: Mapping[int, tuple[Quantity, str]] = field(default_factory=dict)
    delays: tuple[Delay, ...] = ()
    own_units: tuple[str, ...] = ()

    @cached_property
    def standing(self) -> np.ndarray:
        """For each of `places`, whether the equations hold only if the node stands there, as a body's do at its centre
        of mass; not of what counts its points from the node by local(), nor of a frame without equations."""
        counted = {key[1] for key, _ in self.symbols.gathered if key[0] == "place"}
        return np.array([bool(self.rows) and key[1] not in counted for key, _ in self.places], bool)

    @property
    def columns(self) -> list[Key]:
        """Unknowns the residual or a differentiated quantity may depend on, each once, in the order of first
        reading."""
        return list(
            dict.fromkeys(key for key, _ in self.symbols.gathered if key[0] not in ("differentiated", *CONSTANT))
        )


def live(terminal: int) -> str:
    """The hidden parameter that is 1 where the terminal touches a node and 0 where it touches ground (see
    `Form.power`)."""
    return f"live {terminal}"


def step_residuals(form: Form) -> tuple[list[Any], list[Any]]:
    """Residuals and differentiated quantities of a step, q' = alpha*q + history: the order-1 differentiated quantity
    symbols then hold the history."""
    if not form.differentiated:
        return list(form.residuals), []
    rates = [form.symbols.at(("differentiated", k), 1) for k in range(len(form.differentiated))]
    stepped = [UNIFORM["alpha"] * q + rate for q, rate in zip(form.differentiated, rates)]
    replaced = ca.substitute([ca.vertcat(*form.residuals)], [ca.vertcat(*rates)], [ca.vertcat(*stepped)])[0]
    return ca.vertsplit(replaced), list(form.differentiated)


def step_jacobian(
    form: Form, residuals: list[Any], kinematic: Mapping[Key, bool], apart: Collection[Key] = ()
) -> list[tuple[int, tuple[Any, ...], Any]]:
    """(row, (column,), d residual / d unknown) of a step: x, v, a of a kinematic unknown move together by kx, kv, ka.

    Keys `apart` come as (column, order) instead, with the derivative by that order alone.
    """
    keys = [(key, order) for key, order in form.symbols.gathered if key[0] not in ("differentiated", *CONSTANT)]
    jacobian = forward_jacobian(ca.vertcat(*residuals), ca.vertcat(*(form.symbols.gathered[k] for k in keys)))
    factors = (UNIFORM["kx"], UNIFORM["kv"], UNIFORM["ka"])
    entries: dict[tuple[int, tuple[Any, ...]], Any] = {}
    for r, c, value in nonzeros(jacobian):
        key, order = keys[c]
        if not kinematic[key] and order > 0:
            continue  # the rate of a prescribed input: no unknown
        column = (key, order) if key in apart else (key,)
        term = value * factors[order] if kinematic[key] and key not in apart else value
        entries[r, column] = entries[r, column] + term if (r, column) in entries else term
    return [(r, column, value) for (r, column), value in entries.items()]


def partial_derivatives(form: Form) -> list[tuple[int, Key, int, Any]]:
    """(row, key, order, derivative) with rows, then definitions of differentiated quantities q - expr: the matrices K,
    D, M, G, C apart."""
    system = differentiated(form, 0)[0]
    keys = [key for key in form.symbols.gathered if key[0][0] not in CONSTANT]
    jacobian = forward_jacobian(ca.vertcat(*system), ca.vertcat(*(form.symbols.gathered[k] for k in keys)))
    return [(r, *keys[c], value) for r, c, value in nonzeros(jacobian)]


def nonzeros(matrix: Any) -> list[tuple[int, int, Any]]:
    """(row, column, value) of every structural entry of an SX matrix."""
    if not matrix.nnz():
        return []
    rows, columns = matrix.sparsity().get_triplet()
    return list(zip(rows, columns, ca.vertsplit(ca.reshape(matrix.nz[:], -1, 1))))


def differentiated(form: Form, order: int) -> list[list[Any]]:
    """[F, F', ..., F^(order)] of residuals and definitions of differentiated quantities along any motion (symbols of
    higher orders appear)."""
    definitions = [form.symbols.at(("differentiated", k), 0) - q for k, q in enumerate(form.differentiated)]
    current = [ca.SX(r) for r in (*form.residuals, *definitions)]
    found = [current]
    for _ in range(order):
        current = ca.vertsplit(form.symbols.rate(ca.vertcat(*current))) if current else []
        found.append(current)
    return found
