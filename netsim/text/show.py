"""Syntax tree -> canonical text, such that parse(show(program)) == program."""

from collections.abc import Iterable, Iterator
from functools import singledispatch
from typing import Any

from netsim.text import syntax
from netsim.text.expressions.show import SUM, braced, listed, quoted, show_expression, show_name, sized


def show(program: syntax.Program) -> str:
    """The program as canonical text, one statement per line, definitions indented."""
    return "".join(f"{show_statement(statement)}\n" for statement in program.statements)


# --------------------------------------------------------------------------------------- statements


def _joined(*pieces: str | None) -> str:
    return " ".join(piece for piece in pieces if piece)


def _doc(text: str) -> str:
    return quoted(text) if text else ""


def _default(value: syntax.Expr | None) -> str:
    return "" if value is None else f"= {show_expression(value)}"


def _declared(word: str, each: Any, value: syntax.Expr | None, bounds: Iterable[syntax.Bound] = ()) -> str:
    """`word name[size] : unit > bound = value "doc"`, as much of it as there is."""
    size, unit = sized(getattr(each, "size", ())), getattr(each, "unit", None)
    limits = " ".join(f"{bound.op} {show_expression(bound.value, SUM)}" for bound in bounds)
    return _joined(word, each.name + size, unit and f": {unit}", limits, _default(value), _doc(each.doc))


def _binding(binding: syntax.Binding) -> str:
    return f"{binding.name} = {show_expression(binding.value)}"


def _terminals(terminals: tuple[syntax.Terminal, ...]) -> str:
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
def _(statement: syntax.Use) -> str:
    return f"use {quoted(statement.target) if statement.is_path else statement.target}"


@show_statement.register
def _(statement: syntax.Include) -> str:
    return f"include {quoted(statement.path)}"


@show_statement.register
def _(statement: syntax.Param) -> str:
    return _declared("param", statement, statement.default, statement.bounds)


@show_statement.register
def _(statement: syntax.Count) -> str:
    return _declared("count", statement, statement.default, statement.bounds)


@show_statement.register
def _(statement: syntax.Let) -> str:
    return f"let {statement.name}{braced(statement.number)} = {show_expression(statement.value)}"


@show_statement.register
def _(statement: syntax.Repeated) -> str:
    return _joined(show_statement(statement.statement), _ranges(statement.ranges))


def _ranges(ranges: tuple[syntax.Range, ...]) -> str:
    each = ", ".join(f"{r.variable} in {show_expression(r.first, SUM)}..{show_expression(r.last, SUM)}" for r in ranges)
    return each and f"for {each}"


@show_statement.register
def _(statement: syntax.Table) -> str:
    return f"table {statement.name} = {quoted(statement.path)}"


@show_statement.register
def _(statement: syntax.World) -> str:
    return "world " + ", ".join(_binding(binding) for binding in statement.bindings)


@show_statement.register
def _(statement: syntax.Start) -> str:
    return f"{statement.word} {show_name(statement.target)} = {show_expression(statement.value)}"


@show_statement.register
def _(statement: syntax.Instance) -> str:
    nodes = ", ".join(show_name(node) for node in statement.nodes)
    items = [_binding(binding) for binding in statement.bindings] + [
        show_statement(start) for start in statement.starts
    ]
    return _joined(show_name(statement.name), statement.type, f"({nodes})", ", ".join(items), _ranges(statement.ranges))


@show_statement.register
def _(statement: syntax.Run) -> str:
    options = ", ".join(_binding(binding) for binding in statement.options)
    return _joined("run", statement.name and f"{statement.name} =", f"{statement.analysis}({options})")


@show_statement.register
def _(statement: syntax.Save) -> str:
    return f"save {listed(statement.signals)}"


@show_statement.register
def _(statement: syntax.Plot) -> str:
    return f"plot {listed(statement.signals)}"


@show_statement.register
def _(statement: syntax.Measure) -> str:
    return _joined(
        "measure", f"{statement.name}{braced(statement.number)} {_default(statement.value)}", _doc(statement.doc)
    )


@show_statement.register
def _(statement: syntax.Assert) -> str:
    return _joined("assert", show_expression(statement.condition), _doc(statement.sentence))


# ------------------------------------------------------------------------------------------ definitions


def _block(headline: str, lines: Iterable[str]) -> str:
    return "\n".join([headline, *(f"  {line}" for line in lines), "end"])


def _quantity(word: str, quantity: syntax.Quantity) -> str:
    nominal = "" if quantity.nominal is None else f"nominal {show_expression(quantity.nominal)}"
    return _joined(word, quantity.name + sized(quantity.size), f": {quantity.unit}", nominal, _doc(quantity.doc))


def _when(when: syntax.When) -> str:
    actions = (
        f"{'reinit ' * a.reinit}{show_expression(a.target, SUM)} = {show_expression(a.value)}" for a in when.actions
    )
    return f"when {show_expression(when.condition)} : {'; '.join(actions)}"


@show_statement.register
def _(statement: syntax.ModelDef) -> str:
    return _block(_headline("model", statement), (show_statement(inner) for inner in statement.body))


@show_statement.register
def _(statement: syntax.DomainDef) -> str:
    return _block(_joined("domain", statement.name, _doc(statement.doc)), _domain_lines(statement))


def _domain_lines(domain: syntax.DomainDef) -> Iterator[str]:
    for word in ("across", "through", "integral"):
        yield from (_quantity(word, quantity) for quantity in getattr(domain, word))
    if domain.power is not None:
        yield f"power {show_expression(domain.power)}"
    if domain.floating:
        yield f"floating {quoted(domain.floating)}"
    if domain.is_relative:
        yield "relative"
    yield from (f"assert {show_expression(each.condition)} {quoted(each.sentence)}" for each in domain.asserts)


@show_statement.register
def _(statement: syntax.ComponentDef) -> str:
    word = "partial component" if statement.is_partial else "component"
    return _block(_headline(word, statement), _component_lines(statement))


def _headline(word: str, type_: syntax.ComponentDef | syntax.ModelDef) -> str:
    bases = ", ".join(show_name(base) for base in type_.bases)
    return _joined(word, type_.name, _terminals(type_.terminals), bases and f"extends {bases}", _doc(type_.doc))


@show_statement.register
def _(statement: syntax.FunctionDef) -> str:
    formals = ", ".join(f"{p.name}{sized(p.size)} : {p.unit}" for p in statement.parameters)
    return _joined(
        f"function {statement.name}({formals}) : {statement.unit} {_default(statement.value)}", _doc(statement.doc)
    )


def _component_lines(component: syntax.ComponentDef) -> Iterator[str]:
    yield from (show_statement(statement) for statement in (*component.params, *component.counts))
    yield from (_quantity("input", quantity) for quantity in component.inputs)
    yield from (show_statement(statement) for statement in component.lets)
    yield from (_quantity("var", quantity) for quantity in component.variables)
    yield from (f"branch {branch.start} -> {branch.end} : {', '.join(branch.names)}" for branch in component.branches)
    yield from (f"{show_expression(row.left, SUM)} = {show_expression(row.right)}" for row in component.equations)
    yield from (_declared("discrete", discrete, discrete.start) for discrete in component.discretes)
    yield from (_when(when) for when in component.whens)
    for each in component.company:
        yield f"given {' and not '.join((each.given, *each.missing))} : {show_statement(each.instance)}"
    yield from (_declared("out", output, output.value) for output in component.outputs)
    for noise in component.noises:
        yield _declared("flicker" if noise.flicker else "noise", noise, noise.value)
    yield from (f"assert {show_expression(each.condition)} {quoted(each.sentence)}" for each in component.asserts)
    yield from (f"place {each.terminal} = {show_expression(each.value)}" for each in component.places)
    for word in ("kinetic", "potential", "stores", "dissipates"):
        if (energy := getattr(component, word)) is not None:
            yield f"{word} {show_expression(energy)}"
    if component.is_source:
        yield "source"
    if component.singular:
        yield f"singular {quoted(component.singular)}"
