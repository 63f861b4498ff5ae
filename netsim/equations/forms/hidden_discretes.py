"""Hidden discretes of a component: what its text remembers without a name.

They count samples, keep the last values of conditions, and hold sizes: `scale(v)` is how large quantities of the kind
of v (its dimension, in the part of the network where v is) have been so far in a run. A run writes that at each of its
events (netsim.simulate.events.magnitudes), so within a step it is a constant.

What a discrete must not do is change within a step (`unsettled`): where no relation changes, its equation z =
f(relations, pre(z), x) must not depend on x, as nothing would see it. `if mode == 1 and pre(mode) != 1 then x else
pre(z)` does not, as pre(mode) is mode there; `floor(x)` does. This is tried at random x and parameters: the discretes
settle, then x moves while relations keep their values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netsim.equations.forms.symbols import CONSTANT, UNIFORM, Symbols
from netsim.equations.kernels.symbolic import ca
from netsim.library.checks import scale_of
from netsim.library.component import Symbol
from netsim.text.expressions.typed import Scope, Typed
from netsim.text.syntax import Call
from netsim.text.units import Dimension

Array = np.ndarray
LEAST = 1e-15
"""What scale(v) is before a run, in units of v: where a run starts, components may divide by a share of it."""
TRIALS, ROUNDS = 64, 16
"""Random points, and how often discretes are evaluated until they settle."""


@dataclass
class HiddenDiscretes:
    """Starts and next values of hidden discretes by their numbers, which go on behind the `named` ones; the numbers of
    sizes by their dimensions."""

    symbols: Symbols
    table: Mapping[str, Symbol]
    named: int
    starts: dict[int, float] = field(default_factory=dict)
    following: dict[int, Any] = field(default_factory=dict)
    scales: dict[Dimension, int] = field(default_factory=dict)

    def another(self, start: float) -> int:
        """The number of another hidden discrete."""
        number = self.named + len(self.starts)
        self.starts[number] = start
        return number

    def scale(self, call: Call, scope: Scope) -> Typed:
        """`scale(v)`; raises `InputError` (E207) where v is no quantity of the network."""
        found = scale_of(self.table, call, scope)
        assert found.dimension is not None
        if found.dimension not in self.scales:
            number = self.scales[found.dimension] = self.another(LEAST)
            self.following[number] = self.symbols.at(("before", number), 0)
        return Typed(self.symbols.at(("discrete", self.scales[found.dimension]), 0), found.dimension)


def unsettled(
    symbols: Symbols, following: Sequence[Any], crossings: Sequence[Any], looked_at: Sequence[int]
) -> int | None:
    """Which of the discretes `looked_at` (numbers in `following`, the next values of all of them) changes with what is
    continuous, or with the time, while relations (true where their `crossings` are negative) stay; None where none
    does."""
    keys = {s.__hash__(): key for (key, _), s in symbols.gathered.items()}
    read = ca.symvar(ca.vertcat(*following, *crossings))
    kinds = [keys.get(s.__hash__(), ("parameter",)) for s in read]
    moving = np.array([_moves(kind, symbol) for kind, symbol in zip(kinds, read)], bool)
    suspects = {s.__hash__() for k in looked_at for s in ca.symvar(ca.SX(following[k]))}
    if not any(moves and s.__hash__() in suspects for moves, s in zip(moving, read)):
        return None
    next_values = ca.Function("next", [ca.vertcat(*read)], [ca.vertcat(*following, *crossings)])
    discretes, relations = _places(kinds, ("discrete", "before")), _places(kinds, ("relation_value",))

    def evaluated(point: Array) -> Array:
        found = np.array(next_values(point)).ravel()
        return np.concatenate([found[: len(following)], found[len(following) :] < 0.0])

    random = np.random.default_rng(1)
    for _ in range(TRIALS):
        point = random.uniform(0.5, 1.5, len(read)) * np.where(moving, random.choice([-1.0, 1.0], len(read)), 1.0)
        point[discretes[0]] = random.integers(-1, 4, len(following)).astype(float)[discretes[1]]
        point[relations[0]] = 0.0
        now = _settle(evaluated, point, discretes, (relations[0], relations[1] + len(following)))
        if now is None:
            continue
        after = evaluated(np.where(moving, random.uniform(-9.0, 9.0, len(read)), point))
        if changed := [k for k in looked_at if now[k] != after[k] and np.isfinite(now[k] - after[k])]:
            return changed[0]
    return None


def _moves(key: tuple[Any, ...], symbol: Any) -> bool:
    return bool(symbol.__hash__() == UNIFORM["time"].__hash__() or key[0] not in (*CONSTANT, "parameter"))


def _places(kinds: Sequence[tuple[Any, ...]], words: tuple[str, ...]) -> tuple[Array, Array]:
    """Where symbols of these kinds stand, and their numbers."""
    found = [(i, int(kind[1])) for i, kind in enumerate(kinds) if kind[0] in words]
    places, numbers = zip(*found) if found else ((), ())
    return np.array(places, np.int64), np.array(numbers, np.int64)


def _settle(evaluated: Any, point: Array, *known: tuple[Array, Array]) -> Array | None:
    """Next values at the point once these symbols have the values of their numbers, in place; None where they go on."""
    for _ in range(ROUNDS):
        now: Array = evaluated(point)
        if all((now[numbers] == point[places]).all() for places, numbers in known):
            return now
        for places, numbers in known:
            point[places] = now[numbers]
    return None
