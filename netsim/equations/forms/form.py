"""A component type for given counts, as systems use it: its rows, what it reads, and its expressions.

A form is made once per type and counts, and knows nothing of instances. What a run asks of it is data: names, keys,
sizes, and what was found of its expressions once and is kept on disk (netsim.equations.forms.facts). The expressions
themselves, residuals, differentiated quantities, readings and energies in CasADi's symbols
(netsim.equations.forms.symbols), are built when somebody needs one.

`der(expr)` of a non-kinematic expression is order 1 of a differentiated quantity whose definition is `expr`, so that
every method differentiates the differentiated quantity itself and conserves it; `der` of positions, velocities (linear)
and functions of time is taken exactly.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from netsim.equations.forms.facts import Facts
from netsim.equations.forms.symbols import CONSTANT, UNIFORM, Key, Symbols, nonzeros
from netsim.equations.kernels.lowering import forward_jacobian
from netsim.equations.kernels.symbolic import ca
from netsim.text.errors import Span
from netsim.text.expressions.typed import Typed
from netsim.text.syntax import Quantity
from netsim.text.units import Dimension


@dataclass(frozen=True)
class Relation:
    """`a < b` in a discrete equation or a condition. Its zero-crossing function is a - b. The relation is true where
    that is negative, and where it is zero unless `strict`.

    `timed`: it depends on time and discretes alone; `sampled`: it stands for sample(); `unit`: that of its sides;
    `at_events`: no step is searched for it, since it can only change where something else is an event;
    `combinational`: what follows from it are signals that have no memory of it, as in a logic gate."""

    text: str
    span: Span
    strict: bool
    timed: bool
    sampled: bool = False
    unit: str = "s"
    at_events: bool = False
    combinational: bool = False


@dataclass(frozen=True)
class Reset:
    """`reinit v = target`, a scalar of it, at the instants of a `when`; its number among those of the component."""

    number: int
    when: int
    text: str
    span: Span


@dataclass(frozen=True)
class WhenClause:
    """A `when`: true at the one evaluation at which its condition becomes true."""

    text: str
    span: Span


@dataclass(frozen=True)
class Events:
    """What changes at events: discretes by name (hidden ones, without, count samples, remember conditions and hold
    sizes), the relations that are watched, what happens and what is set anew; the numbers of discretes that hold
    scale(v), with the dimension of v."""

    names: tuple[str, ...] = ()
    relations: tuple[Relation, ...] = ()
    whens: tuple[WhenClause, ...] = ()
    resets: tuple[Reset, ...] = ()
    scales: tuple[tuple[int, Dimension], ...] = ()


NO_EVENTS = Events()


@dataclass(frozen=True)
class Changes:
    """The expressions of `Events`: first and next values of discretes; zero-crossing functions a - b of relations and
    |a| + |b|, the size beside which rounding counts; what `when`s give; states that are set anew, and their values."""

    starts: tuple[Any, ...] = ()
    following: tuple[Any, ...] = ()
    crossings: tuple[Any, ...] = ()
    scales: tuple[Any, ...] = ()
    fired: tuple[Any, ...] = ()
    states: tuple[Any, ...] = ()
    targets: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Delay:
    """`delayed(of, by, before)`: the key of an unknown, for how long (s) it is remembered, what it was before the start
    (None: what it is there)."""

    of: Key
    by: Any
    before: Any | None


@dataclass(frozen=True)
class Expressions:
    """The symbolic part of a form: residuals of its rows, definitions of differentiated quantities, everything that can
    be read, the energy account.

    The account: a component that states energies or `dissipates` loses what it `dissipates`; a source supplies
    that less what flows in, and what it stores is not counted; any other component loses what flows in."""

    symbols: Symbols
    residuals: tuple[Any, ...]
    differentiated: tuple[Any, ...] = ()
    readings: Mapping[str, Typed] = field(default_factory=dict)
    supplied: Any = 0
    dissipated: Any = 0
    stored: Any = 0
    places: tuple[Any, ...] = ()
    changes: Changes = Changes()
    delays: tuple[Delay, ...] = ()


@dataclass(frozen=True)
class Readable:
    """The sizes and the dimension of what an element can be asked for."""

    sizes: tuple[int, ...]
    dimension: Dimension | None


@dataclass(frozen=True, eq=False)
class Form:
    """Keys of its rows; (key, order) of all that its expressions `read` and the sizes of their parameters; how many
    quantities are differentiated; what can be asked for; names, typical sizes and units of its own unknowns.

    `places` are the nodes' coordinates that it places; `standing`: for each of them, whether the equations hold only if
    the node stands there, as a body's do at its centre of mass; not of what counts its points from the node by local(),
    nor of a frame without equations. `relative` are coordinates of its own and their rates, which stay where they are
    when a mechanism is put together; `coordinates` are own unknowns with position, velocity and acceleration: what the
    positions are, and names of the velocities. `delayed` are the keys of what is remembered."""

    name: str
    rows: tuple[Key, ...]
    read: tuple[tuple[Key, int], ...]
    parameters: Mapping[str, int]
    n_differentiated: int
    readable: Mapping[str, Readable]
    facts: Facts
    make: Callable[[], Expressions] = field(repr=False)
    own: tuple[str, ...] = ()
    own_nominal: tuple[float | None, ...] = ()
    own_units: tuple[str, ...] = ()
    terminals: int = 0
    places: tuple[Key, ...] = ()
    standing: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    events: Events = NO_EVENTS
    relative: tuple[int, ...] = ()
    coordinates: Mapping[int, tuple[Quantity, str]] = field(default_factory=dict)
    delayed: tuple[Key, ...] = ()

    @cached_property
    def expressions(self) -> Expressions:
        """The expressions, built now where they were not yet."""
        return self.make()

    @property
    def symbols(self) -> Symbols:
        """The symbols of the expressions."""
        return self.expressions.symbols

    @property
    def residuals(self) -> tuple[Any, ...]:
        """What is zero in each of the rows."""
        return self.expressions.residuals

    @property
    def differentiated(self) -> tuple[Any, ...]:
        """Definitions of the differentiated quantities."""
        return self.expressions.differentiated

    @property
    def readings(self) -> Mapping[str, Typed]:
        """Everything that can be asked for."""
        return self.expressions.readings

    @property
    def supplied(self) -> Any:
        """The power it supplies."""
        return self.expressions.supplied

    @property
    def dissipated(self) -> Any:
        """The power it dissipates."""
        return self.expressions.dissipated

    @property
    def stored(self) -> Any:
        """The energy it stores."""
        return self.expressions.stored

    @property
    def columns(self) -> list[Key]:
        """Unknowns the residual or a differentiated quantity may depend on, each once, in the order of first
        reading."""
        return list(dict.fromkeys(key for key, _ in self.read if key[0] not in ("differentiated", *CONSTANT)))


def touches_node(terminal: int) -> str:
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
