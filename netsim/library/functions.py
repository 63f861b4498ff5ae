"""Functions that a text defines: checked once, then written out at every call, so that nothing behind them knows of
functions."""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from netsim.library.component import CONSTANTS, dimension, resolve_name
from netsim.text.columns import counted
from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.expressions.functions import FUNCTIONS
from netsim.text.expressions.sizes import shaped
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.limits import limit
from netsim.text.syntax import Argument, Call, Expr, FunctionDef, Name, Number, Quantity
from netsim.text.units import NO_DIMENSION, Dimension, format_dimension

Tree = TypeVar("Tree")
OF_RUNS = frozenset(
    [
        "max",
        "min",
        "pp",
        "argmax",
        "argmin",
        "mean",
        "rms",
        "integral",
        "final",
        "at",
        "slope",
        "when",
        "period",
        "frequency",
        "harmonic",
        "harmonic_phase",
        "distortion",
    ]
)
OF_COMPONENTS = [
    *("der", "delayed", "pre", "reinit", "local", "lagrange"),
    *("sample", "at_events", "scale", "table", "on", "along"),
]
SPECIAL = frozenset(OF_COMPONENTS) | OF_RUNS
"""Calls that mean something in components, placements or measures."""
_ANY = 3  # components of a parameter whose size is open, where the definition is checked


class Functions:
    """The functions of a library by name; a call becomes the function's expression with the arguments in the places of
    the parameters."""

    def __init__(self, definitions: Mapping[str, FunctionDef]):
        self.definitions = definitions
        self._bodies: dict[str, Expr] = {}

    def body(self, name: str, of: tuple[str, ...] = ()) -> Expr:
        """The expression of a function with the functions that it calls written out. Raises `InputError` (E259) where
        it calls itself."""
        if name in of:
            again = self.definitions[of[-1]]
            raise InputError(
                Problem(
                    "E259",
                    f"function '{name}' calls itself",
                    _call_of(again.value, name),
                    hint="a function is written out, so it must end",
                )
            )
        if name not in self._bodies:
            self._bodies[name] = self._written(self.definitions[name].value, (*of, name))
        return self._bodies[name]

    def written_out(self, tree: Tree) -> Tree:
        """A syntax tree without calls of these functions. Raises `InputError` (E207) for arguments that do not fit."""
        return self._written(tree, ()) if self.definitions else tree

    def _written(self, tree: Any, of: tuple[str, ...]) -> Any:
        if isinstance(tree, tuple):
            items = tuple(self._written(item, of) for item in tree)
            return tree if all(new is old for new, old in zip(items, tree)) else items
        names = _names(type(tree))
        if not names or isinstance(tree, FunctionDef):
            return tree
        changed = {name: new for name in names if (new := self._written(old := getattr(tree, name), of)) is not old}
        tree = replace(tree, **changed) if changed else tree
        return self._call(tree, of) if isinstance(tree, Call) and tree.function in self.definitions else tree

    def _call(self, call: Call, of: tuple[str, ...]) -> Expr:
        body = self.body(call.function, of)
        given = _given(call, self.definitions[call.function])
        return replace(_substituted(body, given, call.function), span=call.span)


_fields: dict[type, tuple[str, ...]] = {}


def _names(kind: type) -> tuple[str, ...]:
    """The fields of a kind of node that may hold nodes, found once."""
    if kind not in _fields:
        is_node = is_dataclass(kind) and kind not in (Span, Dimension)
        _fields[kind] = tuple(f.name for f in fields(kind) if f.name != "span") if is_node else ()
    return _fields[kind]


def _call_of(tree: Any, name: str) -> Span:
    """Where an expression calls a function."""
    if isinstance(tree, Call) and tree.function == name:
        return tree.span
    parts = tree if isinstance(tree, tuple) else [getattr(tree, field) for field in _names(type(tree))]
    return next((span for part in parts if (span := _call_of(part, name)).line), Span("", 0, 0, 0, 0))


def _given(call: Call, function: FunctionDef) -> dict[str, tuple[Quantity, Expr]]:
    """The arguments of a call by the names of the parameters."""
    parameters = {p.name: p for p in function.parameters}
    if len(call.arguments) > len(parameters):
        raise InputError(
            Problem(
                "E207",
                f"{call.function}() takes {counted(len(parameters), 'argument')}: {', '.join(parameters)}",
                call.span,
            )
        )
    given = dict(zip(parameters, call.arguments))
    for name, value in call.keywords:
        if name not in parameters:
            hint = nearest(name, parameters) or f"it takes {', '.join(parameters)}"
            raise InputError(Problem("E207", f"{call.function}() has no argument '{name}'", value.span, hint=hint))
        if name in given:
            raise InputError(Problem("E207", f"argument '{name}' of {call.function}() is given twice", value.span))
        given[name] = value
    if missing := [name for name in parameters if name not in given]:
        raise InputError(
            Problem(
                "E207",
                f"{call.function}() lacks {', '.join(missing)}",
                call.span,
                hint=f"{call.function}({', '.join(parameters)})",
            )
        )
    return {name: (parameters[name], value) for name, value in given.items()}


def _substituted(tree: Any, given: Mapping[str, tuple[Quantity, Expr]], function: str) -> Any:
    if isinstance(tree, Name):
        return _argument(tree, given, function)
    if isinstance(tree, tuple):
        return tuple(_substituted(item, given, function) for item in tree)
    changed = {name: _substituted(getattr(tree, name), given, function) for name in _names(type(tree))}
    return replace(tree, **changed) if changed else tree


def _argument(name: Name, given: Mapping[str, tuple[Quantity, Expr]], function: str) -> Expr:
    """What a name in a function's expression stands for: an argument, a component of one, or a constant."""
    word = name.parts[0].text
    if word not in given:
        return Number(CONSTANTS[word], span=name.span) if word in CONSTANTS else name
    quantity, value = given[word]
    if (
        isinstance(value, Number)
        and value.unit == ""
        and dimension(quantity.unit) == NO_DIMENSION
        and not quantity.size
    ):
        return value  # so that it may be an exponent
    picks = [i for part in name.parts for i in part.indices] if len(name.parts) == 1 else []
    if len(name.parts) > 1:
        picks = [*name.parts[0].indices, *(Number(float("xyz".index(part.text) + 1)) for part in name.parts[1:])]
    indices = tuple(_index(i) for i in picks)
    return Argument("+", value, function, word, dimension(quantity.unit), _sizes(quantity), indices, span=value.span)


def _index(expr: Expr) -> int:
    value = evaluate(expr, Scope(_constant)).value
    if not isinstance(value, float) or not value.is_integer():
        raise InputError(Problem("E208", "an index in a function is a whole number", expr.span))
    return int(value)


def _constant(name: Name) -> Typed:
    raise InputError(Problem("E208", "an index in a function is a number", name.span))


def _sizes(quantity: Quantity) -> tuple[int | None, ...]:
    return tuple(round(size.value) if isinstance(size, Number) else None for size in quantity.size)


# --------------------------------------------------------------------------------------------------- checks


def check_functions(functions: Functions) -> list[Problem]:
    """What is wrong with the definitions: names, recursion, dimensions and shapes."""
    problems: list[Problem] = []
    for function in functions.definitions.values():
        if function.name in FUNCTIONS or function.name in SPECIAL:
            hint = "give this one another name"
            problems.append(
                Problem("E259", f"'{function.name}' is a function of the language", function.span, hint=hint)
            )
            continue
        try:
            problems += _check(function, functions)
        except InputError as error:
            problems += error.problems
    return problems


def _check(function: FunctionDef, functions: Functions) -> list[Problem]:
    seen: dict[str, Quantity] = {}
    for p in function.parameters:
        if p.name in seen:
            also = ((seen[p.name].span, "the first one"),)
            return [Problem("E209", f"'{p.name}' is declared twice in function '{function.name}'", p.span, also=also)]
        seen[p.name] = p
        for size in p.size:
            if isinstance(size, Number) and not (size.value.is_integer() and 1 <= size.value <= limit("elements")):
                return [Problem("E208", f"a size is a whole number from 1 on, this is {size.value:g}", size.span)]
    found = evaluate(functions.body(function.name), Scope(_generic(seen)))
    if found.dimension not in (None, dimension(function.unit)):
        message = (
            f"the value of '{function.name}' is in {format_dimension(found.dimension)}, but {function.unit} is declared"
        )
        return [
            Problem(
                "E203",
                message,
                function.value.span,
                hint=f"write the unit of the value behind the colon: ... : {format_dimension(found.dimension)} =",
            )
        ]
    return []


def _generic(parameters: Mapping[str, Quantity]) -> Callable[[Name], Typed]:
    def whole(name: str) -> Typed | None:
        if name not in parameters:
            return None
        sizes = tuple(_ANY if size is None else size for size in _sizes(parameters[name]))
        total = 1
        for size in sizes:
            total *= size
        return Typed(shaped([1.25 + 0.5**k for k in range(total)], sizes), dimension(parameters[name].unit))

    return lambda name: resolve_name(name, whole, parameters)
