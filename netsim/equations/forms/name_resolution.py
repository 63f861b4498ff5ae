"""What the names of a component mean: symbols, or expressions of symbols."""

from collections.abc import Collection, Mapping
from functools import cached_property
from itertools import accumulate
from typing import Any

from netsim.core.rotation import cayley_matrix, cayley_rate
from netsim.equations.forms.delays import Delays
from netsim.equations.forms.hidden_discretes import HiddenDiscretes
from netsim.equations.forms.lagrange import momenta, own_forces, rates_of, restoring_forces
from netsim.equations.forms.symbols import CONSTANT, UNIFORM, Key, Symbols
from netsim.equations.kernels.symbolic import ca
from netsim.library.component import (
    JOULE,
    SECOND,
    Component,
    Symbol,
    is_kinematic,
    is_rotation,
    plain_name,
    resolve_name,
    scalar_count,
    symbols,
)
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.sizes import elementwise, flatten, shape, shaped
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Branch, Call, DomainDef, Name
from netsim.text.units import NO_DIMENSION, Dimension


class NameResolver:
    """Resolves the component's names to symbols; everything else is `evaluate`."""

    def __init__(
        self, component: Component, counts: Mapping[str, int], exact: bool = False, signals: Collection[str] = ()
    ):
        self.component, self.counts, self.exact = component, counts, exact
        self.table = symbols(component, counts)
        self.symbols = Symbols()
        self.differentiated: list[Any] = []
        self.slots: dict[Any, tuple[Any, Dimension | None]] = {}
        self.known: dict[str, Typed] = {}
        self.relative: list[int] = []
        self.terminals = list(component.terminals)
        self.rates = rates_of(component) if exact else {}
        self.own = self._first(
            *component.unknown_throughs, *(v.name for v in component.definition.variables if v.name not in self.rates)
        )
        pairs = [(y, ry, i) for ry, y in self.rates.items() for i in range(scalar_count(self.table[y].sizes))]
        self.moving = {self.own[y] + i: (self.table[y].of, numbered(ry, i, self.table[ry])) for y, ry, i in pairs}
        self.flat = {
            kind: self._first(*(name for name, s in self.table.items() if s.kind == kind))
            for kind in ("input", "discrete")
        }
        self.unknown = {
            at + i
            for name, at in self.flat["input"].items()
            if name in signals
            for i in range(scalar_count(self.table[name].sizes))
        }
        self.delays = Delays(self.symbols, self._is_kinematic)
        named = sum(scalar_count(self.table[name].sizes) for name in self.flat["discrete"])
        self.hidden = HiddenDiscretes(self.symbols, self.table, named)
        self.scope = Scope(
            self._resolve,
            {
                "der": self._der,
                "local": self._local,
                "lagrange": self._lagrange,
                "delayed": self.delays.value,
                "scale": self.hidden.scale,
            },
        )

    def _first(self, *names: str) -> dict[str, int]:
        """Names with the numbers of their first scalars, counted one after the other."""
        sizes = [scalar_count(self.table[name].sizes) for name in names]
        return dict(zip(names, accumulate([0, *sizes])))

    # ---------------------------------------------------------------------------------------- names

    def _resolve(self, name: Name) -> Typed:
        return resolve_name(name, self._whole, self.table)

    def _whole(self, text: str) -> Typed | None:
        if text not in self.table:
            return None
        if text not in self.known:
            self.known[text] = Typed(float("nan"), None)  # found again only by a definition that needs itself
            self.known[text] = self._meaning(text, self.table[text])
        return self.known[text]

    def _meaning(self, text: str, symbol: Symbol) -> Typed:
        kind, place = symbol.kind.partition(" ")[::2]
        match kind:
            case "branch":
                return self._branch(text, symbol)
            case "terminal":
                return self._through_at(symbol) if place == "through" else self._terminal(symbol)
            case "let":
                return evaluate(symbol.of.value, self.scope)
            case "var":
                return self._own(text, symbol)
        return Typed(shaped(self._scalars(text, symbol), symbol.sizes), symbol.dimension)

    def _scalars(self, text: str, symbol: Symbol) -> list[Any]:
        """The scalar symbols (or numbers) of what needs no evaluation."""
        size = scalar_count(symbol.sizes)
        match symbol.kind:
            case "time":
                return [UNIFORM["time"]]
            case "world":
                return [UNIFORM[f"{text}[{i}]"] for i in range(size)]
            case "param":
                return self.symbols.parameter(text, size)
            case "count":
                return [float(self.counts[text])]
            case "input" | "discrete" as kind:
                return [self.symbols.at((kind, self.flat[kind][text] + i), 0) for i in range(size)]
            case "signal":
                return [self.symbols.at(("node", self.terminals.index(text), 0), 0)]
        raise TypeError(symbol)

    def _branch(self, text: str, symbol: Symbol) -> Typed:
        if symbol.kind != "branch through":
            return self._difference(symbol)
        if text in self.component.explicit:
            return Typed(evaluate(self.component.explicit[text].right, self.scope).value, symbol.dimension)
        return self._own(text, symbol)

    def _own(self, text: str, symbol: Symbol) -> Typed:
        first, order = self.own[self.rates.get(text, text)], int(text in self.rates)
        return Typed(
            shaped(
                [self.symbols.at(("own", first + i), order) for i in range(scalar_count(symbol.sizes))], symbol.sizes
            ),
            symbol.dimension,
        )

    def _difference(self, symbol: Symbol) -> Typed:
        branch: Branch = symbol.of
        role = "across" if symbol.kind == "branch across" else "integral"
        ends = [self._end(end, role) for end in (branch.start, branch.end)]
        return Typed(ends[0] - ends[1], symbol.dimension)

    def _end(self, end: str, role: str) -> Any:
        if end == "ground":
            return 0.0
        quantity = getattr(self.component.domain(end), role)[0]
        return self._whole(f"{end}.{quantity.name}").value  # type: ignore[union-attr]

    def _terminal(self, symbol: Symbol) -> Typed:
        terminal, position = symbol.of
        domain = self.component.domain(terminal)
        if is_rotation(domain, position):
            return self._rotation(terminal, position, symbol)
        order = 1 if is_kinematic(domain) and symbol.kind == "terminal across" else 0
        scalars = [self.symbols.at(key, order) for key in self._keys(terminal, position)]
        return Typed(shaped(scalars, symbol.sizes), symbol.dimension)

    def _keys(self, terminal: str, position: int) -> list[Key]:
        """A terminal's unknowns of its across quantity at a position, one for each component."""
        counts = [
            scalar_count(self.table[f"{terminal}.{q.name}"].sizes)
            for q in self.component.domain(terminal).across[: position + 1]
        ]
        return [("node", self.terminals.index(terminal), i) for i in range(sum(counts[:-1]), sum(counts))]

    def _rotation(self, terminal: str, position: int, symbol: Symbol) -> Typed:
        """The rotation matrix cay(psi) R_c of a terminal, or its angular velocity."""
        t, keys = self.terminals.index(terminal), self._keys(terminal, position)
        psi = [self.symbols.at(key, 0) for key in keys]
        if symbol.kind == "terminal across":
            return Typed(tuple(cayley_rate(psi, [self.symbols.at(key, 1) for key in keys])), symbol.dimension)
        chart = [[self.symbols.at(("chart", t, 3 * i + j), 0) for j in range(3)] for i in range(3)]
        return Typed(tuple(map(tuple, cayley_matrix(psi, chart))), symbol.dimension)

    def _local(self, call: Call, scope: Scope) -> Typed:
        """`local(a, at)`: a point given in the reference placement, as seen from the node there (axes are parallel
        there)."""
        if len(call.arguments) != 2 or call.keywords or plain_name(call.arguments[0]) not in self.terminals:
            raise InputError(Problem("E207", "local() takes a terminal and a point: local(a, at)", call.span))
        terminal = str(plain_name(call.arguments[0]))
        point = evaluate(call.arguments[1], scope)
        t = self.terminals.index(terminal)
        scalars = [p - self.symbols.at(("place", t, i), 0) for i, p in enumerate(flatten(point.value))]
        return Typed(shaped(scalars, shape(point.value)), point.dimension)

    def _through_at(self, symbol: Symbol) -> Typed:
        """What enters the component at a terminal: its branches and its own assigned through."""
        terminal, position = symbol.of
        total: Any = elementwise(lambda _: 0.0, shaped([0.0] * scalar_count(symbol.sizes), symbol.sizes))
        if position == 0:
            for name, branch in self.component.branch_throughs.items():
                sign = (branch.start == terminal) - (branch.end == terminal)
                if sign:
                    total = total + sign * self._whole(name).value  # type: ignore[union-attr]
        name = f"{terminal}.{self.component.domain(terminal).through[position].name}"
        if name in self.component.explicit:
            value = evaluate(self.component.explicit[name].right, self.scope).value
            total = elementwise(lambda a, b: a + b, total, value)
        if self.component.is_lagrangian and is_kinematic(self.component.domain(terminal)):
            total = elementwise(lambda a, b: a + b, total, shaped(self._inertial(terminal, position), symbol.sizes))
        return Typed(total, symbol.dimension)

    @cached_property
    def _energies(self) -> tuple[Any, Any]:
        """Kinetic and potential energy of a component whose forces follow from them."""
        d = self.component.definition
        kinetic, potential = (0.0 if e is None else evaluate(e, self.scope).value for e in (d.kinetic, d.potential))
        return kinetic, potential

    def _inertial(self, terminal: str, position: int) -> list[Any]:
        """The forces that follow from `kinetic` and `potential` at one quantity of a terminal."""
        d, domain = self.component.definition, self.component.domain(terminal)
        kinetic, potential = self._energies
        keys, rotating = self._keys(terminal, position), is_rotation(domain, position)
        mass = Call("der", (d.kinetic or d.potential,), span=d.span)  # type: ignore[arg-type]
        of = domain.across[position].name + terminal
        rates = [
            0.0 if p.is_zero() else self._rate(mass, i, p, of)
            for i, p in enumerate(momenta(self.symbols, keys, rotating, kinetic))
        ]
        return [
            rate + force
            for rate, force in zip(rates, restoring_forces(self.symbols, keys, rotating, kinetic, potential))
        ]

    def _lagrange(self, call: Call, scope: Scope) -> Typed:
        """`lagrange(y, ry)`: what the energies ask for at the component's own coordinates y with rates ry."""
        coordinates, rates = (evaluate(argument, scope) for argument in call.arguments)
        for name in {self.rates.get(str(n), str(n)): None for n in map(plain_name, call.arguments)}:
            self.relative += range(self.own[name], self.own[name] + scalar_count(self.table[name].sizes))
        forces = own_forces(flatten(coordinates.value), flatten(rates.value), self._energies)
        found = [(0.0 if p.is_zero() else self._rate(call, i, p)) + force for i, (p, force) in enumerate(forces)]
        return Typed(shaped(found, shape(coordinates.value)), JOULE / (coordinates.dimension or NO_DIMENSION))

    # ---------------------------------------------------------------------------------------------- der

    def _der(self, call: Call, scope: Scope, of: str = "") -> Typed:
        """The time derivative; `of` tells apart what one expression means at several terminals."""
        operand = evaluate(call.arguments[0], scope)
        dimension = None if operand.dimension is None else operand.dimension / SECOND
        scalars = [self._rate(call, i, scalar, of) for i, scalar in enumerate(flatten(operand.value))]
        return Typed(shaped(scalars, shape(operand.value)), dimension)

    def _rate(self, call: Call, index: int, scalar: Any, of: str = "") -> Any:
        expression = ca.SX(scalar)
        read = [at for at, symbol in self.symbols.gathered.items() if ca.depends_on(expression, symbol)]
        if any(key[0] == "differentiated" or order > 1 for key, order in read):
            hint = "give the inner derivative a name: `var w : ...` with `w = der(...)`, then der(w)"
            raise InputError(Problem("E214", "der() cannot contain a derivative", call.span, hint=hint))
        velocities = [self.symbols.at(key, order) for key, order in read if order == 1 and key[0] == "node"]
        exact = all(
            self._is_kinematic(key) or key[0] in CONSTANT or (key[0] == "input" and key[1] not in self.unknown)
            for key, _ in read
        )
        moving = [self.symbols.at(key, order) for key, order in read if key[0] not in CONSTANT]
        # otherwise a momentum that turns: differences conserve it
        if exact and (self.exact or not velocities or ca.is_linear(expression, ca.vertcat(*moving))):
            return self.symbols.rate(expression)
        if (slot := (call, index, of)) not in self.slots:
            self.slots[slot] = (self.symbols.at(("differentiated", len(self.differentiated)), 1), None)
            self.differentiated.append(expression)
        return self.slots[slot][0]

    def _is_kinematic(self, key: Key) -> bool:
        return (
            key[1] in self.moving
            if key[0] == "own"
            else key[0] == "node" and is_kinematic(self.component.domain(self.terminals[key[1]]))
        )

    def _branch_domain(self, branch: Branch) -> DomainDef:
        return self.component.domain(branch.start if branch.start != "ground" else branch.end)


def numbered(name: str, index: int, symbol: Symbol) -> str:
    """The name of a scalar of a vector or matrix."""
    if not symbol.sizes:
        return name
    return f"{name}.{'xyz'[index]}" if symbol.sizes == (3,) else f"{name}[{index + 1}]"
