"""From a component to its form: every equation becomes a residual of symbols."""

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import numpy as np

from netsim.equations.forms.events import events_of
from netsim.equations.forms.facts import Facts
from netsim.equations.forms.form import Expressions, Form, Readable, touches_node
from netsim.equations.forms.lagrange import rate_equation
from netsim.equations.forms.name_resolution import NameResolver, numbered
from netsim.equations.forms.symbols import Key, Symbols
from netsim.equations.kernels.symbolic import ca
from netsim.library.component import (
    Component,
    Symbol,
    dimension,
    is_kinematic,
    plain_name,
    resolve_name,
    scalar_count,
)
from netsim.text.expressions.sizes import flatten, shape
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Name, Part


def build_form(
    component: Component,
    counts: Mapping[str, int],
    exact: bool = False,
    signals: Collection[str] = (),
    facts: Facts | None = None,
) -> Form:
    """The form of a component for given counts; raises `InputError` for what only shapes can show.

    With `exact`, the rate of anything that follows from positions and velocities is written with accelerations, momenta
    that turn too, and coordinates y of lagrange(y, ry) are positions, their rates ry the velocities. What stands under
    der() with an input that is one of `signals` (no function of time) is a differentiated quantity.
    """
    return _Builder(component, counts, exact, signals).build(facts or Facts())


def form_with(name: str, rows: tuple[Key, ...], e: Expressions, facts: Facts, **known: Any) -> Form:
    """The form of these expressions: what is read and asked for is looked up in them, the rest is `known`."""
    return Form(
        name,
        rows,
        tuple(e.symbols.gathered),
        {name: len(scalars) for name, scalars in e.symbols.parameters.items()},
        len(e.differentiated),
        {name: Readable(shape(typed.value), typed.dimension) for name, typed in e.readings.items()},
        facts,
        lambda: e,
        **known,
    )


class _Builder(NameResolver):
    """The parts of a form."""

    def build(self, facts: Facts) -> Form:
        rows: list[Key] = []
        residuals: list[Any] = []
        for t, terminal in enumerate(self.terminals):
            if not self.component.is_signal(terminal):
                for c, through in enumerate(self._throughs(terminal)):
                    if not (isinstance(through, float) and through == 0.0):
                        rows.append(("node", t, c))
                        residuals.append(through)
        rows += self._row_keys()
        residuals += self._row_residuals()
        stored, supplied, dissipated = self._energy()
        readings = self._readings()
        events, changes = events_of(self.component, self.flat["discrete"], self.scope, self.hidden)
        places, delays = self._places(), tuple(self.delays.found.values())
        expressions = Expressions(
            self.symbols, tuple(map(ca.SX, residuals)), tuple(self.differentiated), readings,
            ca.SX(supplied), ca.SX(dissipated), ca.SX(stored), tuple(place for _, place in places), changes, delays,
        )  # fmt: skip
        nominal, units = self._own_sizes()
        return form_with(
            self.component.definition.name, tuple(rows), expressions, facts,
            own=self._own_names(), own_nominal=nominal, own_units=units, terminals=len(self.terminals),
            places=tuple(key for key, _ in places), standing=_standing(self.symbols, bool(rows), places),
            events=events, relative=tuple(self.relative), coordinates=self.moving,
            delayed=tuple(delay.of for delay in delays),
        )  # fmt: skip

    def _places(self) -> tuple[tuple[Key, Any], ...]:
        """Reference positions this component gives its nodes, component by component."""
        texts = self.component.definition.places
        places = [(self.terminals.index(p.terminal), flatten(evaluate(p.value, self.scope).value)) for p in texts]
        return tuple((("place", of, i), ca.SX(scalar)) for of, found in places for i, scalar in enumerate(found))

    def _throughs(self, terminal: str) -> list[Any]:
        found = [self._whole(f"{terminal}.{q.name}") for q in self.component.domain(terminal).through]
        return [scalar for each in found if each is not None for scalar in flatten(each.value)]

    def _row_keys(self) -> list[Key]:
        outputs: list[Key] = [("node", self.terminals.index(name), 0) for name in self.component.signal_outputs]
        return [*(("own", i) for i in range(sum(scalar_count(self.table[name].sizes) for name in self.own))), *outputs]

    def _row_residuals(self) -> list[Any]:
        """left - right of every row; a row `y = ...` of a signal output is kept for that signal's unknown."""
        ordered: list[Any] = []
        last: dict[str, Any] = {}
        for equation in (e for e in self.component.rows if rate_equation(e)[1] not in self.rates):
            name = plain_name(equation.left)
            left, right = (flatten(evaluate(side, self.scope).value) for side in (equation.left, equation.right))
            difference = [a - b for a, b in zip(left, right, strict=True)]
            if name in self.component.signal_outputs and name not in last:
                last[name] = difference[0]
            else:
                ordered += difference
        signals = [last[name] for name in self.component.signal_outputs if name in last]
        free = len(self.component.signal_outputs) - len(signals)
        if free:  # an implicit row (der(y) = u) determines the signal: hand it the last rows
            spare = iter(ordered[len(ordered) - free :])
            ordered = ordered[: len(ordered) - free]
            signals = [last[name] if name in last else next(spare) for name in self.component.signal_outputs]
        return [*ordered, *signals]

    def _own_names(self) -> tuple[str, ...]:
        return tuple(
            numbered(name, i, self.table[name])
            for name in self.own
            for i in range(scalar_count(self.table[name].sizes))
        )

    def _own_sizes(self) -> tuple[tuple[float | None, ...], tuple[str, ...]]:
        """Typical sizes and units of own unknowns; of coordinates that have velocities those of these."""
        found: list[tuple[float | None, str]] = []
        for name in self.own:
            symbol = self.table[{y: ry for ry, y in self.rates.items()}.get(name, name)]
            quantity = symbol.of if symbol.kind == "var" else self._branch_domain(symbol.of).through[0]
            value = (
                None
                if quantity.nominal is None
                else float(evaluate(quantity.nominal, Scope(lambda n: Typed(1.0))).value)
            )
            found += [(value, quantity.unit or "")] * scalar_count(symbol.sizes)
        return tuple(zip(*found)) or ((), ())  # type: ignore[return-value]

    def _readings(self) -> dict[str, Typed]:
        """Everything an instance can be asked for: inputs, vars, branch quantities, outputs, terminal throughs."""
        kinds = ("input", "var", "signal", "discrete", "terminal through")
        found = {
            name: self._whole(name) for name, s in self.table.items() if s.kind in kinds or s.kind.startswith("branch")
        }
        found.update(self._unnamed_integrals(found))
        for output in self.component.definition.outputs:
            found[output.name] = Typed(evaluate(output.value, self.scope).value, dimension(output.unit))
        return found  # type: ignore[return-value]

    def _unnamed_integrals(self, named: Mapping[str, Any]) -> dict[str, Typed]:
        """The integral of a component's only branch by the domain's name for it (`m1.x` of a mass), where it has not
        been given one."""
        branches = self.component.definition.branches
        if len(branches) != 1 or len(branches[0].names) != 2:
            return {}
        domain = self._branch_domain(branches[0])
        if not is_kinematic(domain) or domain.integral[0].name in (*self.table, *named):
            return {}
        quantity = domain.integral[0]
        return {quantity.name: self._difference(Symbol("branch integral", dimension(quantity.unit), (), branches[0]))}

    def _energy(self) -> tuple[Any, Any, Any]:
        d = self.component.definition
        energies = [e for e in (d.kinetic, d.potential, d.stores) if e is not None]
        stored = sum((evaluate(e, self.scope).value for e in energies), 0.0)
        lost = 0.0 if d.dissipates is None else evaluate(d.dissipates, self.scope).value
        if not self.component.is_source and (energies or d.dissipates is not None):
            return stored, 0.0, lost
        power = sum((self._power(t, name) for t, name in enumerate(self.terminals)), 0.0)
        return (0.0, lost - power, lost) if self.component.is_source else (0.0, 0.0, power)

    def _power(self, t: int, terminal: str) -> Any:
        domain = self.component.domain(terminal)
        if self.component.is_signal(terminal) or domain.power is None:
            return 0.0

        def resolve(name: Name) -> Typed:
            return resolve_name(Name((Part(terminal), *name.parts), span=name.span), self._whole, self.table)

        return (
            self.symbols.parameter(touches_node(t), 1)[0]
            * evaluate(domain.power, Scope(resolve, {"der": partial(self._der, of=terminal)})).value
        )


def _standing(symbols: Symbols, has_rows: bool, places: Collection[tuple[Key, Any]]) -> np.ndarray:
    """For each of the places, whether the equations hold only if the node stands there."""
    counted = {key[1] for key, _ in symbols.gathered if key[0] == "place"}
    return np.array([has_rows and key[1] not in counted for key, _ in places], bool)
