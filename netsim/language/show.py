"""Syntax tree -> canonical text, such that parse(show(program)) == program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import singledispatch
from typing import Any

from netsim.language.syntax import (
    Binary,
    Binding,
    Bound,
    Call,
    ComponentDef,
    Conditional,
    Count,
    Discrete,
    DomainDef,
    Expr,
    Include,
    Instance,
    Let,
    ModelDef,
    Name,
    Number,
    Output,
    Param,
    Part,
    Plot,
    Program,
    Quantity,
    Range,
    Repeated,
    Run,
    Save,
    Start,
    String,
    Table,
    Terminal,
    Unary,
    Use,
    Vector,
    When,
    World,
)

_LOWEST, _NOT, _SUM, _SIGNED, _ATOM = 0, 3, 5, 7, 9
# operator: its own level, the least level of its left side, of its right side
_LEVELS = {
    "=": (0, 5, 0),
    "or": (1, 1, 2),
    "and": (2, 2, 3),
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), (4, 5, 5)),
    **dict.fromkeys("+-", (5, 5, 6)),
    **dict.fromkeys("*/", (6, 6, 7)),
    "^": (8, 9, 7),
}
_TIGHT = frozenset("*/^")


def show(program: Program) -> str:
    """The program as canonical text, one statement per line, definitions indented."""
    return "".join(f"{show_statement(statement)}\n" for statement in program.statements)


# ---------------------------------------------------------------------------------------------- expressions


def show_expression(expression: Expr, least: int = _LOWEST) -> str:
    """The text of an expression, in parentheses where it binds less than `least` (0 conditional ... 9 atom)."""
    text, level = _written(expression)
    return f"({text})" if level < least else text


def _written(expression: Expr) -> tuple[str, int]:
    match expression:
        case Number(value, unit):
            return _with_unit(_number(value), unit), _ATOM
        case String(text):
            return _quoted(text), _ATOM
        case Name():
            return show_name(expression), _ATOM
        case Unary("not", operand):
            return f"not {show_expression(operand, _NOT)}", _NOT
        case Unary(op, operand):
            return f"{op}{show_expression(operand, _SIGNED)}", _SIGNED
        case Binary():
            return _binary(expression)
        case Call(function, arguments, keywords):
            given = [show_expression(argument) for argument in arguments] + [f"{name} = {show_expression(value)}" for name, value in keywords]
            return f"{function}({', '.join(given)})", _ATOM
        case Vector(items, unit):
            return _with_unit(f"[{_listed(items)}]", unit), _ATOM
        case Conditional(condition, then, otherwise):
            return f"if {show_expression(condition)} then {show_expression(then)} else {show_expression(otherwise)}", _LOWEST


def _binary(expression: Binary) -> tuple[str, int]:
    if _is_scaled(expression):
        return f"{show_expression(expression.left)} {expression.right.unit}", _ATOM  # type: ignore[union-attr]
    level, least_left, least_right = _LEVELS[expression.op]
    left, right = show_expression(expression.left, least_left), show_expression(expression.right, least_right)
    if expression.op in "/^=" and _ends_with_unit(expression.left) and not left.endswith(")"):
        left = f"({left})"  # the sign would go on with the unit: 10 N/m is one number, (10 N)/m a quotient; a word before `=` is no unit
    sign = expression.op if expression.op in _TIGHT else f" {expression.op} "
    return f"{left}{sign}{right}", level


def _is_scaled(expression: Binary) -> bool:
    """Whether it is what `diag(1, 2, 3) kg.m2` means."""
    match expression:
        case Binary("*", Call("diag"), Number(1.0, unit)):
            return bool(unit)
    return False


def _ends_with_unit(expression: Expr) -> bool:
    match expression:
        case Number(_, unit) | Vector(_, unit):
            return bool(unit)
        case Unary(_, last) | Binary(_, _, last):
            return _ends_with_unit(last)
    return False


def _number(value: float) -> str:
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _with_unit(text: str, unit: str) -> str:
    return f"{text} {unit}" if unit else text


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _listed(expressions: Iterable[Expr]) -> str:
    return ", ".join(show_expression(expression) for expression in expressions)


def show_name(name: Name) -> str:
    """`leg[k].slide.q`"""
    return ".".join(_part(part) for part in name.parts)


def _part(part: Part) -> str:
    return part.text + _size(part.indices) + _braced(part.number)


def _braced(number: Expr | None) -> str:
    return "" if number is None else f"{{{show_expression(number)}}}"


def _size(size: tuple[Expr, ...]) -> str:
    return f"[{_listed(size)}]" if size else ""


# --------------------------------------------------------------------------------------- statements


def _joined(*pieces: str) -> str:
    return " ".join(piece for piece in pieces if piece)


def _doc(text: str) -> str:
    return _quoted(text) if text else ""


def _bound(bound: Bound) -> str:
    return f"{bound.op} {show_expression(bound.value, _SUM)}"


def _default(value: Expr | None) -> str:
    return "" if value is None else f"= {show_expression(value)}"


def _binding(binding: Binding) -> str:
    return f"{binding.name} = {show_expression(binding.value)}"


def _terminals(terminals: tuple[Terminal, ...]) -> str:
    if not terminals:
        return ""
    shown = []
    for terminal, following in zip(terminals, (*terminals[1:], None)):
        domain = "" if following is not None and following.domain == terminal.domain else f": {terminal.domain}"
        shown.append(_joined(terminal.direction, terminal.name, domain))
    return f"({', '.join(shown)})"


@singledispatch
def show_statement(statement: Any) -> str:
    """The text of one statement, without the newline at its end."""
    raise TypeError(f"{type(statement).__name__} is no statement")


@show_statement.register
def _(statement: Use) -> str:
    return f"use {_quoted(statement.target) if statement.is_path else statement.target}"


@show_statement.register
def _(statement: Include) -> str:
    return f"include {_quoted(statement.path)}"


@show_statement.register
def _(statement: Param) -> str:
    unit = "" if statement.unit is None else f": {statement.unit}"
    bounds = " ".join(_bound(bound) for bound in statement.bounds)
    return _joined("param", statement.name + _size(statement.size), unit, bounds, _default(statement.default), _doc(statement.doc))


@show_statement.register
def _(statement: Count) -> str:
    bounds = " ".join(_bound(bound) for bound in statement.bounds)
    return _joined("count", statement.name, bounds, _default(statement.default), _doc(statement.doc))


@show_statement.register
def _(statement: Let) -> str:
    return f"let {statement.name}{_braced(statement.number)} = {show_expression(statement.value)}"


@show_statement.register
def _(statement: Repeated) -> str:
    return _joined(show_statement(statement.statement), _ranges(statement.ranges))


def _ranges(ranges: tuple[Range, ...]) -> str:
    each = ", ".join(f"{r.variable} in {show_expression(r.first, _SUM)}..{show_expression(r.last, _SUM)}" for r in ranges)
    return each and f"for {each}"


@show_statement.register
def _(statement: Table) -> str:
    return f"table {statement.name} = {_quoted(statement.path)}"


@show_statement.register
def _(statement: World) -> str:
    return "world " + ", ".join(_binding(binding) for binding in statement.bindings)


@show_statement.register
def _(statement: Start) -> str:
    return f"{statement.word} {show_name(statement.target)} = {show_expression(statement.value)}"


@show_statement.register
def _(statement: Instance) -> str:
    nodes = ", ".join(show_name(node) for node in statement.nodes)
    items = [_binding(binding) for binding in statement.bindings] + [show_statement(start) for start in statement.starts]
    return _joined(show_name(statement.name), statement.type, f"({nodes})", ", ".join(items), _ranges(statement.ranges))


@show_statement.register
def _(statement: Run) -> str:
    options = ", ".join(_binding(binding) for binding in statement.options)
    return _joined("run", statement.name and f"{statement.name} =", f"{statement.analysis}({options})")


@show_statement.register
def _(statement: Save) -> str:
    return f"save {_listed(statement.signals)}"


@show_statement.register
def _(statement: Plot) -> str:
    return f"plot {_listed(statement.signals)}"


# ------------------------------------------------------------------------------------------ definitions


def _block(headline: str, lines: Iterable[str]) -> str:
    return "\n".join([headline, *(f"  {line}" for line in lines), "end"])


def _quantity(word: str, quantity: Quantity) -> str:
    nominal = "" if quantity.nominal is None else f"nominal {show_expression(quantity.nominal)}"
    return _joined(word, quantity.name + _size(quantity.size), f": {quantity.unit}", nominal, _doc(quantity.doc))


def _discrete(discrete: Discrete) -> str:
    return _joined("discrete", discrete.name + _size(discrete.size), f": {discrete.unit}", _default(discrete.start), _doc(discrete.doc))


def _when(when: When) -> str:
    actions = (f"{'reinit ' * a.reinit}{show_expression(a.target, _SUM)} = {show_expression(a.value)}" for a in when.actions)
    return f"when {show_expression(when.condition)} : {'; '.join(actions)}"


def _output(output: Output) -> str:
    return _joined("out", output.name + _size(output.size), f": {output.unit}", _default(output.value), _doc(output.doc))


@show_statement.register
def _(statement: ModelDef) -> str:
    headline = _joined("model", statement.name, _terminals(statement.terminals), _doc(statement.doc))
    return _block(headline, (show_statement(inner) for inner in statement.body))


@show_statement.register
def _(statement: DomainDef) -> str:
    return _block(_joined("domain", statement.name, _doc(statement.doc)), _domain_lines(statement))


def _domain_lines(domain: DomainDef) -> Iterator[str]:
    for word in ("across", "through", "integral"):
        yield from (_quantity(word, quantity) for quantity in getattr(domain, word))
    if domain.power is not None:
        yield f"power {show_expression(domain.power)}"
    if domain.floating:
        yield f"floating {_quoted(domain.floating)}"
    if domain.is_relative:
        yield "relative"


@show_statement.register
def _(statement: ComponentDef) -> str:
    headline = _joined("component", statement.name, _terminals(statement.terminals), _doc(statement.doc))
    return _block(headline, _component_lines(statement))


def _component_lines(component: ComponentDef) -> Iterator[str]:
    yield from (show_statement(statement) for statement in (*component.params, *component.counts))
    yield from (_quantity("input", quantity) for quantity in component.inputs)
    yield from (show_statement(statement) for statement in component.lets)
    yield from (_quantity("var", quantity) for quantity in component.variables)
    yield from (f"branch {branch.start} -> {branch.end} : {', '.join(branch.names)}" for branch in component.branches)
    yield from (f"{show_expression(row.left, _SUM)} = {show_expression(row.right)}" for row in component.equations)
    yield from (_discrete(discrete) for discrete in component.discretes)
    yield from (_when(when) for when in component.whens)
    yield from (_output(output) for output in component.outputs)
    yield from (f"assert {show_expression(each.condition)} {_quoted(each.sentence)}" for each in component.asserts)
    yield from (f"place {each.terminal} = {show_expression(each.value)}" for each in component.places)
    for word in ("kinetic", "potential", "stores", "dissipates"):
        if (energy := getattr(component, word)) is not None:
            yield f"{word} {show_expression(energy)}"
    if component.is_source:
        yield "source"
    if component.singular:
        yield f"singular {_quoted(component.singular)}"
