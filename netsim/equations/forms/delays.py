"""Delays of a component in symbols: `delayed(w, T)` is what w was a time T ago.

In a run that is a function of time, known before a step begins, since no step is longer than T: the symbol ("delayed",
k). Where all rests, w has always been what it is, and the operating point of a line or a loop follows from that at
once: the symbol ("resting", k), w itself. Between them stands the uniform `past`, 1 in a run and 0 at rest.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from netsim.equations.forms.form import Delay
from netsim.equations.forms.symbols import UNIFORM, Key, Symbols
from netsim.equations.kernels.symbolic import ca
from netsim.library.checks import delayed_of
from netsim.library.component import SECOND, plain_name
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.sizes import flatten, shape, shaped
from netsim.text.expressions.typed import Scope, Typed, quantity_of
from netsim.text.syntax import Call
from netsim.text.units import NO_DIMENSION


@dataclass
class Delays:
    """The delays of one form in the making; `moves` tells unknowns with a position from others."""

    symbols: Symbols
    moves: Callable[[Key], bool]
    found: dict[Any, Delay] = field(default_factory=dict)

    def value(self, call: Call, scope: Scope) -> Typed:
        """`delayed(...)` in symbols; raises `InputError` for what cannot be remembered, or not for so long."""
        whole = delayed_of(call, scope)
        of, by, *before = call.arguments
        time = ca.SX(quantity_of(by, scope, SECOND).value)
        given = (
            flatten(quantity_of(before[0], scope, whole.dimension or NO_DIMENSION).value)
            if before
            else [None] * len(flatten(whole.value))
        )
        known = {p.__hash__() for scalars in self.symbols.parameters.values() for p in scalars}
        for each, text in ((time, by), *((ca.SX(b), before[0]) for b in given if b is not None)):
            if any(symbol.__hash__() not in known for symbol in ca.symvar(each)):
                what = "the length of a delay" if text is by else "the value of a delay before the start"
                raise InputError(Problem("E218", f"{what} must depend on parameters only", text.span))
        scalars = [
            self._one(call, i, self._key(of, s), time, b) for i, (s, b) in enumerate(zip(flatten(whole.value), given))
        ]
        return Typed(shaped(scalars, shape(whole.value)), whole.dimension)

    def _one(self, call: Call, index: int, key: Key, by: Any, before: Any) -> Any:
        if (call, index) not in self.found:
            self.found[call, index] = Delay(key, by, None if before is None else ca.SX(before))
        k, past = list(self.found).index((call, index)), UNIFORM["past"]
        return past * self.symbols.at(("delayed", k), 0) + (1 - past) * self.symbols.at(("resting", k), 0)

    def _key(self, of: Any, scalar: Any) -> Key:
        """The unknown that is remembered."""
        for (key, order), symbol in self.symbols.gathered.items():
            if key[0] in ("own", "node") and order == 0 and ca.is_equal(ca.SX(scalar), symbol) and not self.moves(key):
                return key
        name = f"'{plain_name(of)}'" if plain_name(of) else "this"
        hint = "give the expression a name: `var w : ...` with `w = ...`, then delayed(w, T)"
        message = f"a delay takes a signal, an across quantity or a var, and {name} is none of these"
        raise InputError(Problem("E218", message, of.span, hint=hint))
