"""Hidden discretes of a component: what its text remembers without a name.

They count samples, keep the last values of conditions, and hold sizes: `scale(v)` is how large quantities of the kind
of v (its dimension, in the part of the network where v is) have been so far in a run. A run writes that at each of its
events (netsim.simulate.events.magnitudes), so within a step it is a constant.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netsim.equations.forms.symbols import Symbols
from netsim.library.checks import scale_of
from netsim.library.component import Symbol
from netsim.text.expressions.typed import Scope, Typed
from netsim.text.syntax import Call
from netsim.text.units import Dimension

LEAST = 1e-15
"""What scale(v) is before a run, in units of v: where a run starts, components may divide by a share of it."""


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
