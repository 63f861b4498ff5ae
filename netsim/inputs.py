"""What is bound to inputs: the bindings of every instance taken apart, and the value of a shape in symbols."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from netsim.batches import form_of
from netsim.bindings import Shape, TableCall, lift, symbolic_scope
from netsim.component import SECOND, WORLD, dimension, scalar_count, sizes_of
from netsim.errors import InputError, Problem
from netsim.kernels.form import UNIFORM, Symbols
from netsim.language.expressions import Scope, Typed, evaluate, flatten, is_bare, quantity_of, shaped
from netsim.language.syntax import Expr, Name, Quantity, Unary, Vector
from netsim.network import Frame, Network
from netsim.signals import NodeSignal, Reading, find_signal
from netsim.tables import read_column
from netsim.units import NO_DIMENSION, Dimension, format_dimension
from netsim.values import Values


@dataclass(frozen=True)
class Bound:
    """One input of one instance: what is bound to it."""

    instance: int
    quantity: Quantity
    sizes: tuple[int, ...]
    shape: Shape

    @property
    def reads_signals(self) -> bool:
        return bool(self.shape.signals)


def bounds_of(network: Network, values: Values) -> list[Bound]:
    """Every bound input in the order of the text; raises `InputError` with all that is wrong in their expressions."""
    found: list[Bound] = []
    problems: list[Problem] = []
    numbers = {instance.name: i for i, instance in enumerate(network.instances)}
    nodes = network.node_numbers()

    def signal(name: Name, frame: Frame) -> NodeSignal | Reading | None:
        return find_signal(name, frame, network, nodes, numbers, form_of)

    for i, instance in enumerate(network.instances):
        inputs = {q.name: q for q in instance.component.definition.inputs}
        for binding in instance.text.bindings if inputs else ():
            if binding.name in inputs:
                quantity = inputs[binding.name]
                try:
                    shape = lift(binding.value, instance.frame, values, signal)
                    found.append(Bound(i, quantity, sizes_of(quantity.size, dict(instance.counts)), shape))
                except InputError as error:
                    problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return found


def shape_value(shape: Shape, symbols_: Symbols, signal: Callable[[int], Typed], quantity: Quantity | None, sizes: tuple[int, ...]) -> Typed:
    """A shape's value in CasADi symbols: lifted numbers as parameters, `signal(j)` for its signals, tables and the time from the global vector.

    With a quantity the value must have its dimension and its sizes; raises `InputError` where it has not.
    """
    total = sum(scalar_count(leaf.sizes) for leaf in shape.leaves)
    numbers = symbols_.parameter("numbers", total) if total else []

    def table(t: int) -> Typed:
        return Typed(symbols_.at(("table", t), 0), _table_dimension(shape.tables[t], quantity))

    def world(word: str) -> Typed:
        unit, world_sizes, _ = WORLD[word]
        return Typed(shaped([UNIFORM[f"{word}[{i}]"] for i in range(scalar_count(world_sizes))], world_sizes), dimension(unit))

    scope = symbolic_scope(shape, lambda first, size: numbers[first : first + size], signal, table, Typed(UNIFORM["time"], SECOND), world)
    if quantity is None:
        return evaluate(shape.expr, scope)
    result = _bare_or_typed(shape, scope, quantity)
    if len(flatten(result.value)) != scalar_count(sizes):
        raise InputError(Problem("E204", f"'{quantity.name}' is {'a vector of ' + str(sizes[0]) if sizes else 'a single number'}", shape.expr.span))
    return result


def _bare_or_typed(shape: Shape, scope: Scope, quantity: Quantity) -> Typed:
    """A lifted literal is no longer bare to `quantity_of`: look at what was lifted."""
    wanted = dimension(quantity.unit)
    if shape.leaves and not shape.signals and not shape.tables and all(is_bare(leaf.expr) for leaf in shape.leaves) and _only_leaves(shape.expr):
        return Typed(evaluate(shape.expr, scope).value, wanted)
    return quantity_of(shape.expr, scope, wanted)


def _only_leaves(expr: Expr) -> bool:
    match expr:
        case Name():
            return expr.parts[0].text.startswith("$number")
        case Unary(op="-" | "+"):
            return _only_leaves(expr.operand)
        case Vector(unit=""):
            return all(_only_leaves(item) for item in expr.items)
    return False


def _table_dimension(call: TableCall, quantity: Quantity | None) -> Dimension:
    """The dimension a table's column has; of an earlier run's signal, what the input wants. Raises `InputError` for a table over something else."""
    if call.run:
        return dimension(quantity.unit) if quantity else dimension(None)
    column = read_column(Path(call.file), call.column, call.call.span)
    asked = SECOND if call.argument is None else shape_value(call.argument, Symbols(), lambda j: Typed(0.0), None, ()).dimension
    if asked is not None and column.argument_dimension not in (asked, NO_DIMENSION):
        given, wanted = format_dimension(column.argument_dimension), format_dimension(asked)
        hint = "table(file, argument, column): the argument is what the file's first column holds"
        wrong = f"'{Path(call.file).name}' is a table over {given}, but its argument here is in {wanted}"
        raise InputError(Problem("E248", wrong, call.call.span, hint=hint))
    return column.dimension
