"""Functions of time: inputs whose bound expression reads no signal, gathered by shape, with their derivatives."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from netsim.core.problem import PRESCRIBED_ORDERS
from netsim.equations.forms.facts import facts_of
from netsim.equations.forms.symbols import Key, Symbols
from netsim.equations.inputs import Bound, shape_value, texts_of
from netsim.equations.kernels.kernel import Kernel, known_kernel, make_kernel
from netsim.equations.kernels.symbolic import ca
from netsim.library.component import scalar_count
from netsim.network.bindings import Shape, TableCall, leaf_values, smoothness
from netsim.network.network import Instance, Network
from netsim.network.values import Values
from netsim.text.expressions.sizes import flatten
from netsim.text.expressions.typed import Typed
from netsim.text.syntax import Name, Part, Quantity

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Prescribed:
    """n functions of time of one shape: their numbers among the prescribed inputs, the tables they read, what supplies
    their parameters."""

    kernel: Kernel
    parameters: Mapping[str, int]
    shapes: tuple[Shape, ...]
    numbers: Array
    tables: dict[Key, Array]
    calls: tuple[tuple[int, TableCall], ...]
    stage: int
    owners: tuple[tuple[Instance, str], ...]

    @property
    def n(self) -> int:
        return self.numbers.size

    @property
    def smoothness(self) -> int:
        return smoothness(self.shapes[0])


def prescribed_inputs_of(
    bounds: Iterable[Bound], network: Network
) -> tuple[list[Prescribed], dict[tuple[int, str], int]]:
    """Prescribed inputs of stage 0 give the arguments of tables, those of stage 1 the inputs themselves."""
    groups: dict[tuple, list[Bound]] = {}
    for bound in bounds:
        groups.setdefault((bound.shape.key, bound.quantity.unit, bound.sizes), []).append(bound)
    prescribed_inputs: list[Prescribed] = []
    driven: dict[tuple[int, str], int] = {}
    number = table = 0
    for group in groups.values():
        shapes = tuple(b.shape for b in group)
        n, owners = len(group), tuple((network.instances[b.instance], b.quantity.name) for b in group)
        tables: dict[Key, Array] = {}
        calls: list[tuple[int, TableCall]] = []
        for t in range(len(shapes[0].tables)):
            arguments = [shape.tables[t].argument for shape in shapes]
            tables["table", t] = table + np.arange(n)
            table += n
            calls += [(int(tables["table", t][k]), shape.tables[t]) for k, shape in enumerate(shapes)]
            kernel, parameters = _prescribed_kernel(_time_shape() if arguments[0] is None else arguments[0], None, ())
            argument_shapes = tuple(_time_shape() if a is None else a for a in arguments)
            prescribed_inputs.append(
                Prescribed(
                    kernel,
                    parameters,
                    argument_shapes,
                    (number + np.arange(n))[None, :],
                    {},
                    tuple(calls[-n:]),
                    0,
                    owners,
                )
            )
            number += n
        kernel, parameters = _prescribed_kernel(shapes[0], group[0].quantity, group[0].sizes)
        size = scalar_count(group[0].sizes)
        numbers = number + np.arange(size * n).reshape(n, size).T
        number += size * n
        prescribed_inputs.append(Prescribed(kernel, parameters, shapes, numbers, tables, (), 1, owners))
        driven.update({(b.instance, b.quantity.name): int(numbers[0, k]) for k, b in enumerate(group)})
    return prescribed_inputs, driven


def _time_shape() -> Shape:
    return Shape(Name((Part("time"),)), ())


def _prescribed_kernel(
    shape: Shape, quantity: Quantity | None, sizes: tuple[int, ...]
) -> tuple[Kernel, Mapping[str, int]]:
    """Value and three derivatives of a function of time: outputs ('prescribed', component, order); and its
    parameters."""

    def make() -> Kernel:
        symbols = Symbols()
        result = shape_value(shape, symbols, lambda j: Typed(0.0), quantity, sizes)
        scalars = ca.vertcat(*map(ca.SX, flatten(result.value)))
        outputs = []
        for order in range(PRESCRIBED_ORDERS):
            outputs += [(("prescribed", c, order), s) for c, s in enumerate(ca.vertsplit(scalars))]
            scalars = symbols.rate(scalars) if order + 1 < PRESCRIBED_ORDERS else scalars
        return make_kernel(symbols, outputs)

    total = sum(scalar_count(leaf.sizes) for leaf in shape.leaves)
    facts = facts_of("a function of time", *texts_of(shape, quantity, sizes))
    return known_kernel(facts, ("prescribed",), make), {"numbers": total} if total else {}


def prescribed_parameters(prescribed: Prescribed, values: Values) -> Array:
    """The numbers of every function of the prescribed input: (parameters, n)."""
    rows = [leaf_values(shape, values) for shape in prescribed.shapes]
    return np.ascontiguousarray(np.array(rows, dtype=float).reshape(len(rows), -1).T)


def read_inputs(shape_: Shape, values: Values) -> frozenset[str]:
    """The inputs (`Values.inputs`) that a shape's numbers depend on."""
    known = Values(values.network, values.overrides)
    leaf_values(shape_, known)
    return values.inputs & known.used
