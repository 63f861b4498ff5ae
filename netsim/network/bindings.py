"""Bound expressions: what an input is given, split into its shape (compiled once) and its numbers (parameters of that
shape).

`F = 10 N * step(time - 1 s)` and `F = 3 N * step(time - 2 s)` have one shape: every literal, param and count is lifted
out. Names of signals (node quantities, instance quantities, signal nodes) become slots too; an expression without them
depends on time alone. `table(...)` calls become slots filled from data.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from netsim.library.component import CONSTANTS, WORLD, names_in, pick, plain_name, scalar_count
from netsim.network.lets import derived_from
from netsim.network.network import Frame, name_text
from netsim.network.tables import KINDS, OUTSIDE, SMOOTHNESS, readable
from netsim.network.values import Values
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.functions import FUNCTIONS
from netsim.text.expressions.literals import has_offset, refuse_sum_of_temperatures
from netsim.text.expressions.sizes import flatten, shape, shaped
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Binary, Call, Conditional, Expr, Name, Number, Part, String, Unary, Vector
from netsim.text.units import Dimension


@dataclass(frozen=True)
class TableCall:
    """`table("file.csv", argument, "column", kind = cubic, outside = error)` or `table(run, signal)` (file '' and run
    set; `dimension` is then that of the signal, None where it is not known yet)."""

    call: Call
    file: str = ""
    column: str | int | None = None
    run: str = ""
    signal: Name | None = None
    kind: str = "cubic"
    outside: str = "error"
    argument: "Shape | None" = None
    dimension: Dimension | None = None


@dataclass(frozen=True)
class LiftedNumber:
    """A lifted number: a literal or a name with a value, and where to evaluate it."""

    expr: Expr
    frame: Frame
    dimension: Dimension | None
    sizes: tuple[int, ...]


@dataclass(frozen=True)
class Shape:
    """An expression with its numbers, signals and tables taken out; equal shapes share one kernel."""

    expr: Expr
    leaves: tuple[LiftedNumber, ...]
    signals: tuple[Any, ...] = ()
    tables: tuple[TableCall, ...] = ()

    @property
    def key(self) -> tuple:
        inner = tuple((t.argument.key if t.argument else None) for t in self.tables)
        return (
            self.expr,
            tuple((leaf.dimension, leaf.sizes) for leaf in self.leaves),
            tuple(s.key for s in self.signals),
            inner,
        )


@dataclass
class _Lift:
    values: Values
    frame: Frame
    find_signal: Callable[[Name, Frame], Any]
    leaves: list[LiftedNumber] = field(default_factory=list)
    signals: list[Any] = field(default_factory=list)
    tables: list[TableCall] = field(default_factory=list)


def lift_numbers(expr: Expr, frame: Frame, values: Values, find_signal: Callable[[Name, Frame], Any]) -> Shape:
    """Take an expression apart. `find_signal(name, frame)` gives what a signal's name refers to (with a hashable
    `.key`) or None."""
    refuse_sum_of_temperatures(expr)
    state = _Lift(values, frame, find_signal)
    body = _lifted(expr, state)
    return Shape(body, tuple(state.leaves), tuple(state.signals), tuple(state.tables))


def _lifted(expr: Expr, state: _Lift) -> Expr:
    if isinstance(expr, Number) or (isinstance(expr, Unary) and has_offset(expr.operand)):
        return _leaf(expr, state)
    match expr:
        case Name():
            return _name(expr, state)
        case Unary():
            return replace(expr, operand=_lifted(expr.operand, state))
        case Binary():
            return _binary(expr, state)
        case Call(function="table"):
            state.tables.append(table_call(expr, state))
            return Name((Part(f"$table {len(state.tables) - 1}"),), span=expr.span)
        case Call():
            kept = [v for v in _orders(expr) if isinstance(v, Number)]  # how smooth a function is belongs to the shape
            keywords = tuple((k, v if v in kept else _lifted(v, state)) for k, v in expr.keywords)
            return replace(
                expr, arguments=tuple(a if a in kept else _lifted(a, state) for a in expr.arguments), keywords=keywords
            )
        case Vector():
            return replace(expr, items=tuple(_lifted(i, state) for i in expr.items))
        case Conditional():
            condition, then, otherwise = (_lifted(e, state) for e in (expr.condition, expr.then, expr.otherwise))
            return replace(expr, condition=condition, then=then, otherwise=otherwise)
    raise InputError(Problem("E201", "a text cannot stand in a calculation", expr.span))


def _binary(expr: Binary, state: _Lift) -> Expr:
    """The exponent of a power belongs to the shape where it is a number: dimensions depend on it."""
    literal = _is_literal(expr.right)
    if expr.op == "/" and literal:
        evaluate(replace(expr, left=expr.right), state.values.scope(state.frame))  # told where it divides by 0
    left = _lifted(expr.left, state)
    return replace(expr, left=left, right=expr.right if expr.op == "^" and literal else _lifted(expr.right, state))


def _orders(call: Call) -> list[Expr]:
    """The `order` of a smooth_step."""
    if call.function != "smooth_step":
        return []
    return [*call.arguments[1:2], *(v for k, v in call.keywords if k == "order")]


def _is_literal(expr: Expr) -> bool:
    match expr:
        case Number():
            return True
        case Unary(operand=inner):
            return _is_literal(inner)
        case Binary(left=a, right=b):
            return _is_literal(a) and _is_literal(b)
    return False


def _leaf(expr: Expr, state: _Lift) -> Expr:
    typed = evaluate(expr, state.values.scope(state.frame))
    dimension = typed.dimension
    state.leaves.append(LiftedNumber(expr, state.frame, dimension, shape(typed.value)))
    return Name((Part(f"$number {len(state.leaves) - 1}"),), span=expr.span)  # type: ignore[attr-defined]


def _name(name: Name, state: _Lift) -> Expr:
    head = name.parts[0].text
    if plain_name(name) == "time":
        return name
    if (moving := derived_from(name, state.frame)) is not None:
        return _inlined(name, moving, state)
    if head in state.frame.definitions or head in state.frame.integers:
        return _leaf(name, state)
    if head in WORLD and name_text(name, state.frame) not in state.frame.members:
        return name
    signal = state.find_signal(name, state.frame)
    if signal is None and plain_name(name) in CONSTANTS:
        return _leaf(name, state)
    if signal is None:
        known = [*state.frame.definitions, *state.frame.integers, *state.frame.members]
        raise InputError(
            Problem(
                "E206", f"nothing is called '{plain_name(name) or head}' here", name.span, hint=nearest(head, known)
            )
        )
    state.signals.append(signal)
    return Name((Part(f"$signal {len(state.signals) - 1}"),), span=name.span)


def _inlined(name: Name, value: Expr, state: _Lift) -> Expr:
    """What a let says that reads the time or signals, taken apart in its own frame."""
    frame = state.frame
    state.frame = frame.definitions[name.parts[0].text].frame
    body = _lifted(value, state)
    state.frame = frame
    return body


def table_call(call: Call, state: _Lift) -> TableCall:
    """The parts of a `table(...)` call, checked."""
    options = {name: value for name, value in call.keywords}
    kind, outside = (
        _word(options.pop(word, None), default, known, word)
        for word, default, known in (("kind", "cubic", KINDS), ("outside", "error", OUTSIDE))
    )
    column = options.pop("column", None)
    if options:
        name, value = next(iter(options.items()))
        raise InputError(
            Problem(
                "E207",
                f"table() has no argument '{name}'",
                value.span,
                hint=nearest(name, ["kind", "outside", "column"]),
            )
        )
    arguments = list(call.arguments)
    if not arguments:
        raise InputError(
            Problem("E207", 'table() needs a file and an argument: table("file.csv", time, "column")', call.span)
        )
    first = arguments[0]
    file = _file(first, state)
    if file is None and isinstance(first, Name) and len(arguments) == 2 and isinstance(arguments[1], Name):
        return TableCall(call, run=plain_name(first) or "", signal=arguments[1], kind="quintic", outside=outside)
    if file is not None and file.endswith(".net"):
        if len(arguments) != 2 or not isinstance(arguments[1], Name):
            hint = 'table("stage1.net", M.x)'
            raise InputError(
                Problem("E207", "of another netlist, table() takes the name of a signal", call.span, hint=hint)
            )
        return TableCall(call, run=file, signal=arguments[1], kind="quintic", outside=outside)
    if file is None or not 2 <= len(arguments) <= 3:
        raise InputError(
            Problem(
                "E207",
                "table() takes a file (or an earlier run), an argument and a column",
                call.span,
                hint='table("file.csv", time, "column")',
            )
        )
    column = arguments[2] if len(arguments) == 3 else column
    argument = lift_numbers(arguments[1], state.frame, state.values, state.find_signal)
    if argument.signals:
        hint = "bind a function of time"
        raise InputError(
            Problem(
                "E243", "a table's argument must be a function of time and parameters", arguments[1].span, hint=hint
            )
        )
    return TableCall(call, file=file, column=_column(column), kind=kind, outside=outside, argument=argument)


def _file(expr: Expr, state: _Lift) -> str | None:
    if isinstance(expr, String):
        return readable(expr.text, expr.span, state.values.network.roots)
    name = plain_name(expr)
    table = state.frame.tables.get(name) if name else None
    return readable(table.path, table.span, state.values.network.roots) if table else None


def _word(expr: Expr | None, default: str, known: tuple[str, ...], what: str) -> str:
    if expr is None:
        return default
    word = plain_name(expr)
    if word not in known:
        raise InputError(Problem("E207", f"{what} is one of {', '.join(known)}", expr.span))
    return word  # type: ignore[return-value]


def _column(expr: Expr | None) -> str | int | None:
    match expr:
        case None:
            return None
        case String():
            return expr.text
        case Number(unit="") if expr.value == int(expr.value):
            return int(expr.value)
        case Name() if plain_name(expr):
            return plain_name(expr)
    raise InputError(Problem("E242", "a column is a text or a whole number", expr.span))


def leaf_values(shape_: Shape, values: Values) -> list[Any]:
    """The current numbers of a shape's leaves, flat; arrays where values are such."""
    found: list[Any] = []
    for leaf in shape_.leaves:
        found += flatten(evaluate(leaf.expr, values.scope(leaf.frame)).value)
    return found


def symbolic_scope(
    shape_: Shape,
    numbers: Callable[[int, int], list[Any]],
    signal: Callable[[int], Typed],
    table: Callable[[int], Typed],
    time: Typed,
    world: Any,
) -> Scope:
    """A scope in which lifted slots resolve to symbols: `numbers(first, size)` gives parameter symbols."""
    first = [0]
    for leaf in shape_.leaves:
        first.append(first[-1] + scalar_count(leaf.sizes))

    def resolve(name: Name) -> Typed:
        word, _, number = name.parts[0].text.partition(" ")
        if word == "$number":
            i = int(number)
            return Typed(
                shaped(numbers(first[i], first[i + 1] - first[i]), shape_.leaves[i].sizes), shape_.leaves[i].dimension
            )
        if word == "$signal":
            return signal(int(number))
        if word == "$table":
            return table(int(number))
        return pick(time if word == "time" else world(word), name, 1)

    return Scope(resolve, written={f"$number {k}": leaf.expr for k, leaf in enumerate(shape_.leaves)})


def smoothness(shape_: Shape) -> int:
    """How often a function of time can be differentiated with a continuous result (99 for ever): -1 jumps, 0 is
    continuous."""
    return _smooth(shape_.expr, shape_)


FOREVER = 99


def _smooth(expr: Expr, shape_: Shape) -> int:
    match expr:
        case Name(parts=(Part(text=text), *_)) if text.startswith("$table"):
            table = shape_.tables[int(text.split()[1])]
            return min(SMOOTHNESS[table.kind], smoothness(table.argument) if table.argument else FOREVER)
        case Unary():
            return _smooth(expr.operand, shape_)
        case Binary(op="<" | "<=" | ">" | ">=" | "==" | "!=" | "and" | "or"):
            return -1 if _moves(expr) else FOREVER
        case Binary():
            return min(_smooth(expr.left, shape_), _smooth(expr.right, shape_))
        case Vector():
            return min(_smooth(i, shape_) for i in expr.items)
        case Conditional():
            return -1 if _moves(expr) else FOREVER
        case Call():
            inner = [*expr.arguments, *(v for _, v in expr.keywords)]
            found = min((_smooth(e, shape_) for e in inner), default=FOREVER)
            own = FUNCTIONS[expr.function].smoothness if expr.function in FUNCTIONS else None
            own = next((int(v.value) for v in _orders(expr) if isinstance(v, Number)), own)
            if expr.function == "sine" and any(k == "at" for k, _ in expr.keywords):
                own = 0
            if expr.function == "pulse" and {"rise", "fall"} <= {k for k, _ in expr.keywords}:
                own = 0
            return min(found, own) if own is not None and _moves(expr) else found
    return FOREVER


def _moves(expr: Any) -> bool:
    """Whether an expression (part) contains the time or a table."""
    return any(n.parts[0].text == "time" or n.parts[0].text.startswith("$table") for n in names_in(expr))
