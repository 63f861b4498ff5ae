"""What is bound to inputs: the bindings of every instance taken apart, and the value of a shape in symbols."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from netsim.equations.batches import form_of
from netsim.equations.forms.symbols import UNIFORM, Symbols
from netsim.library.component import SECOND, WORLD, dimension, scalar_count, sizes_of
from netsim.network.bindings import Shape, TableCall, lift_numbers, symbolic_scope
from netsim.network.expansion import build_network
from netsim.network.network import Frame, Network
from netsim.network.signals import NodeSignal, Reading, find_signal
from netsim.network.tables import read_column
from netsim.network.values import Values
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.literals import is_bare, refuse_other_turns
from netsim.text.expressions.sizes import flatten, shaped
from netsim.text.expressions.typed import Scope, Typed, evaluate, quantity_of
from netsim.text.roots import within
from netsim.text.syntax import Expr, Name, Quantity, Unary, Vector
from netsim.text.units import NO_DIMENSION, Dimension, format_dimension


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
    numbers = network.instance_numbers
    nodes = network.node_numbers

    def signal(name: Name, frame: Frame) -> NodeSignal | Reading | None:
        return find_signal(name, frame, network, nodes, numbers, form_of)

    for i, instance in enumerate(network.instances):
        inputs = {q.name: q for q in instance.component.definition.inputs}
        for binding in instance.text.bindings if inputs else ():
            if binding.name in inputs:
                quantity = inputs[binding.name]
                try:
                    refuse_other_turns(binding.value, dimension(quantity.unit))
                    shape = with_dimensions(lift_numbers(binding.value, instance.frame, values, signal), network)
                    found.append(Bound(i, quantity, sizes_of(quantity.size, dict(instance.counts)), shape))
                except InputError as error:
                    problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return found


def with_dimensions(shape: Shape, network: Network) -> Shape:
    """The shape whose tables over runs know the dimensions of the signals they read."""
    if not any(table.run for table in shape.tables):
        return shape
    return replace(
        shape, tables=tuple(replace(t, dimension=_signal_dimension(t, network)) if t.run else t for t in shape.tables)
    )


def _signal_dimension(call: TableCall, network: Network) -> Dimension | None:
    """The dimension of the signal that a table over a run reads, of this netlist or of another; None where there is
    none (told when it is run)."""
    assert call.signal is not None
    try:
        other = network
        if call.run.endswith(".net"):
            with within(network.roots):
                other = _other_network(call.run, Path(call.run).stat().st_mtime)
        numbers = other.instance_numbers
        found = find_signal(call.signal, other.top, other, other.node_numbers, numbers, form_of)
    except (InputError, OSError):
        return None
    if isinstance(found, NodeSignal):
        return found.dimension
    return form_of(other.instances[found.instance]).form.readable[found.reading].dimension if found else None


@lru_cache(maxsize=32)
def _other_network(path: str, changed: float) -> Network:
    """The network of another netlist, as it is in its file since `changed`."""
    from netsim.text.parse import parse

    text = Path(path).read_text(encoding="utf-8")
    return build_network(parse(text, path), None, text)


def texts_of(shape: Shape, quantity: Quantity | None, sizes: tuple[int, ...]) -> tuple[str, ...]:
    """All that a shape's value in symbols follows from besides its signals, as texts; raises `InputError` for tables
    that cannot be read."""
    leaves = [(leaf.dimension, leaf.sizes, is_bare(leaf.expr)) for leaf in shape.leaves]
    inner = [texts_of(t.argument, None, ()) if t.argument else None for t in shape.tables]
    tables = [(t.run and t.dimension, None if t.run else _columns(t)) for t in shape.tables]
    wanted = quantity and dimension(quantity.unit), sizes
    return repr(shape.expr), repr(leaves), repr(inner), repr(tables), repr(wanted)


def _columns(call: TableCall) -> tuple[Dimension, Dimension]:
    """The dimensions of a table's columns."""
    column = read_column(Path(call.file), call.column, call.call.span)
    return column.dimension, column.argument_dimension


def shape_value(
    shape: Shape, symbols_: Symbols, signal: Callable[[int], Typed], quantity: Quantity | None, sizes: tuple[int, ...]
) -> Typed:
    """A shape's value in CasADi symbols: lifted numbers as parameters, `signal(j)` for its signals, tables and the time
    from the global vector.

    With a quantity the value must have its dimension and its sizes; raises `InputError` where it has not.
    """
    total = sum(scalar_count(leaf.sizes) for leaf in shape.leaves)
    numbers = symbols_.parameter("numbers", total) if total else []

    def table(t: int) -> Typed:
        return Typed(symbols_.at(("table", t), 0), _table_dimension(shape.tables[t], quantity))

    def world(word: str) -> Typed:
        unit, world_sizes, _ = WORLD[word]
        return Typed(
            shaped([UNIFORM[f"{word}[{i}]"] for i in range(scalar_count(world_sizes))], world_sizes), dimension(unit)
        )

    scope = symbolic_scope(
        shape, lambda first, size: numbers[first : first + size], signal, table, Typed(UNIFORM["time"], SECOND), world
    )
    if quantity is None:
        return evaluate(shape.expr, scope)
    result = _bare_or_typed(shape, scope, quantity)
    if len(flatten(result.value)) != scalar_count(sizes):
        wanted = f"a vector of {sizes[0]}" if sizes else "a single number"
        raise InputError(Problem("E204", f"'{quantity.name}' is {wanted}", shape.expr.span))
    return result


def _bare_or_typed(shape: Shape, scope: Scope, quantity: Quantity) -> Typed:
    """A lifted literal is no longer bare to `quantity_of`: look at what was lifted."""
    wanted = dimension(quantity.unit)
    is_number = shape.leaves and not shape.signals and not shape.tables and _only_leaves(shape.expr)
    if is_number and all(is_bare(leaf.expr) for leaf in shape.leaves):
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
    """The dimension of a table's column, or of an earlier run's signal (where that is not known, what the input wants).

    Raises `InputError` for a table over something else."""
    if call.run and call.dimension is not None:
        return call.dimension
    if call.run:
        return dimension(quantity.unit) if quantity else dimension(None)
    column = read_column(Path(call.file), call.column, call.call.span)
    asked = (
        SECOND
        if call.argument is None
        else shape_value(call.argument, Symbols(), lambda j: Typed(0.0), None, ()).dimension
    )
    if asked is not None and column.argument_dimension not in (asked, NO_DIMENSION):
        given, wanted = format_dimension(column.argument_dimension), format_dimension(asked)
        hint = "in table(file, argument, column) the argument must have the dimension of the file's first column"
        wrong = f"'{Path(call.file).name}' is a table over {given}, but its argument here is in {wanted}"
        raise InputError(Problem("E248", wrong, call.call.span, hint=hint))
    return column.dimension
