"""The scalar symbols of expressions: what equations read by keys and orders, the parameters, the uniforms.

    ("node", t, c)   component c of the across of terminal t            ("own", i)    unknown i of the component itself
    ("input", i)     scalar i of its inputs                             ("differentiated", k) quantity k that stands
    under der() ("ref", r)       something another element owns (bound expressions only)
    ("discrete", i)  scalar i of what changes at events alone     ("before", i)   the same before the event
    ("relation_value", k)   the value of relation k while it is frozen: constants too
    ("delayed", k)   what `delayed(...)` number k remembers, a function of time like an input     ("resting", k)   what
    it is of, where all rests ("chart", t, k)  entry k of terminal t's rotation at the beginning of the step
    ("place", t, c)  its reference position: both constants

each at an order: the number of time derivatives taken. Order 0 of a kinematic node is its position, order 1 the across,
order 2 the acceleration; other nodes have their across at order 0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from netsim.core.problem import UNIFORMS as MOVING
from netsim.equations.kernels.symbolic import ca
from netsim.library.component import WORLD

Key = tuple[Any, ...]
CONSTANT = ("chart", "place", "discrete", "before", "relation_value")
"""Kinds of keys that do not move within a step."""

UNIFORMS = (*MOVING, *(f"{name}[{i}]" for name, (_, s, _v) in WORLD.items() for i in range(s[0] if s else 1)))
"""Scalars every kernel may read: those of a step, and the world values."""


class _Uniforms(Mapping[str, Any]):
    """A symbol for each of the uniforms, made when it is first read."""

    def __init__(self) -> None:
        self.made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.made:
            if name not in UNIFORMS:
                raise KeyError(name)
            self.made.setdefault(name, ca.SX.sym(name))
        return self.made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(UNIFORMS)

    def __len__(self) -> int:
        return len(UNIFORMS)


UNIFORM: Mapping[str, Any] = _Uniforms()


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


def nonzeros(matrix: Any) -> list[tuple[int, int, Any]]:
    """(row, column, value) of every structural entry of an SX matrix."""
    if not matrix.nnz():
        return []
    rows, columns = matrix.sparsity().get_triplet()
    return list(zip(rows, columns, ca.vertsplit(ca.reshape(matrix.nz[:], -1, 1))))
