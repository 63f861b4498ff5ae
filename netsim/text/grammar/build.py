"""Grammar rules -> syntax nodes: one method per rule of netsim.lark, called by the parser from the leaves upwards.

A method gets its rule's parts in the order of the text, all tokens included; absent optional parts are None. Lines of
components and domains come out as `Lines`, a field of their definition and what it gains.
"""

from dataclasses import dataclass, replace
from typing import Any

from netsim.text.errors import Span
from netsim.text.grammar.words import Token
from netsim.text.syntax import (
    Action,
    Assert,
    Binary,
    Binding,
    Bound,
    Branch,
    Call,
    Company,
    ComponentDef,
    Conditional,
    Count,
    Discrete,
    DomainDef,
    Equation,
    FunctionDef,
    Include,
    Instance,
    Let,
    Measure,
    ModelDef,
    Name,
    Number,
    Output,
    Param,
    Part,
    Place,
    Plot,
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
from netsim.text.terms import Noise

Parts = list[Any]


@dataclass(frozen=True)
class Line:
    """One line of a domain or component: the field it belongs to and its values there."""

    field: str
    values: tuple[Any, ...]
    span: Span


@dataclass(frozen=True)
class Keyword:
    """`at = 2 s` among the arguments of a call."""

    name: str
    value: Any


_SIGNS = frozenset(("COMMA", "LPAR", "RPAR", "LSQB", "RSQB", "LBRACE", "RBRACE", "FOR"))


def _listed(parts: Parts) -> list[Any]:
    """The values of a list, without its separators and brackets."""
    return [part for part in parts if part is not None and not (isinstance(part, Token) and part.type in _SIGNS)]


class Builder:
    """The rules' methods for one file at a time, whose name is in the spans."""

    def __init__(self, file: str):
        self.file = file

    def over(self, first: Any, last: Any) -> Span:
        """The span from one token or node to another."""
        start_line, start_column = (
            (first.line, first.column) if isinstance(first, Token) else (first.span.line, first.span.column)
        )
        end_line, end_column = (
            (last.line, last.end_column) if isinstance(last, Token) else (last.span.end_line, last.span.end_column)
        )
        return Span(self.file, start_line, start_column, end_line, end_column)

    def whole(self, parts: Parts) -> Span:
        there = [part for part in parts if isinstance(part, Token) or hasattr(part, "span")]
        return self.over(there[0], there[-1])

    # ------------------------------------------------------------------------------------ expressions

    def number(self, parts: Parts) -> Number:
        value, unit = parts
        return Number(float(value.text), "" if unit is None else unit.text, span=self.over(value, unit or value))

    def string(self, parts: Parts) -> String:
        return String(parts[0].text, span=self.over(parts[0], parts[0]))

    def part(self, parts: Parts) -> tuple[Part, Token, Token]:
        last = parts[0] if parts[-1] is None else parts[-1]
        return Part(parts[0].text, tuple(_listed(parts[1:]))), parts[0], last

    def numbered_part(self, parts: Parts) -> tuple[Part, Token, Token]:
        return Part(parts[0].text, number=parts[2]), parts[0], parts[3]

    def word(self, parts: Parts) -> Name:
        """`ground` or `time`."""
        return Name((Part(parts[0].text),), span=self.over(parts[0], parts[0]))

    def dotted(self, parts: Parts) -> Name:
        pieces = [piece for piece in parts if not isinstance(piece, Token)]
        return Name(tuple(piece[0] for piece in pieces), span=self.over(pieces[0][1], pieces[-1][2]))

    def group(self, parts: Parts) -> Any:
        return replace(parts[1], span=self.over(parts[0], parts[2]))

    def unary(self, parts: Parts) -> Unary:
        return Unary(parts[0].text, parts[1], span=self.over(parts[0], parts[1]))

    def binary(self, parts: Parts) -> Binary:
        return Binary(parts[1].text, parts[0], parts[2], span=self.over(parts[0], parts[2]))

    def conditional(self, parts: Parts) -> Conditional:
        return Conditional(parts[1], parts[3], parts[5], span=self.over(parts[0], parts[5]))

    def vector(self, parts: Parts) -> Vector:
        *inside, unit = parts
        return Vector(
            tuple(_listed(inside)), "" if unit is None else unit.text, span=self.over(parts[0], unit or inside[-1])
        )

    def scaled(self, parts: Parts) -> Binary:
        """`diag(1, 2, 3) kg.m2` is diag(1, 2, 3) times one kg.m2."""
        call, unit = parts
        return Binary("*", call, Number(1.0, unit.text, span=self.over(unit, unit)), span=self.over(call, unit))

    def keyword(self, parts: Parts) -> Keyword:
        value = parts[2]
        return Keyword(parts[0].text, self.string([value]) if isinstance(value, Token) else value)

    def call(self, parts: Parts) -> Call:
        given = _listed(parts[1:])
        arguments = tuple(part for part in given if not isinstance(part, Keyword))
        keywords = tuple((part.name, part.value) for part in given if isinstance(part, Keyword))
        return Call(parts[0].text, arguments, keywords, span=self.over(parts[0], parts[-1]))

    # ------------------------------------------------------------------------------------ small parts

    def values(self, parts: Parts) -> tuple[Any, ...]:
        return tuple(_listed(parts))

    size = nodes = items = ranges = bounds = terminals = formals = values

    def default(self, parts: Parts) -> Any:
        return parts[-1]

    nominal = default

    def declared(self, parts: Parts) -> str | None:
        return None if parts[-1] is None else parts[-1].text

    def doc(self, parts: Parts) -> str:
        return "" if parts[0] is None else parts[0].text

    def bound(self, parts: Parts) -> Bound:
        return Bound(parts[0].text, parts[1])

    def binding(self, parts: Parts) -> Binding:
        return Binding(parts[0].text, parts[2], span=self.over(parts[0], parts[2]))

    def range(self, parts: Parts) -> Range:
        return Range(parts[0].text, parts[2], parts[4], span=self.over(parts[0], parts[4]))

    # ------------------------------------------------------------------------- statements of a netlist

    def use(self, parts: Parts) -> Use:
        return Use(parts[1].text, parts[1].type == "STRING", span=self.whole(parts))

    def include(self, parts: Parts) -> Include:
        return Include(parts[1].text, span=self.whole(parts))

    def param(self, parts: Parts) -> Param:
        _, name, size, unit, bounds, default, doc = parts
        return Param(name.text, unit, bounds, default, size, doc, span=self.over(name, name))

    def count(self, parts: Parts) -> Count:
        _, name, bounds, default, doc = parts
        return Count(name.text, default, doc, bounds, span=self.over(name, name))

    def let(self, parts: Parts) -> Let:
        return Let(parts[1].text, parts[3], span=self.whole(parts[1:]))

    def numbered_let(self, parts: Parts) -> Repeated | Let:
        let = Let(parts[1].text, parts[6], parts[3], span=self.whole(parts[1:7]))
        return Repeated(let, parts[7], span=let.span)

    def table(self, parts: Parts) -> Table:
        return Table(parts[1].text, parts[3].text, span=self.whole(parts[1:]))

    def world(self, parts: Parts) -> World:
        return World(tuple(_listed(parts[1:])), span=self.whole(parts))

    def start(self, parts: Parts) -> Start:
        return Start(parts[0].text, parts[1], parts[3], span=self.whole(parts))

    def run(self, parts: Parts) -> Run:
        named = parts[2].type == "EQUAL"
        options = tuple(part for part in parts if isinstance(part, Binding))
        return Run(
            parts[3].text if named else parts[1].text, options, parts[1].text if named else "", span=self.whole(parts)
        )

    def followed(self, parts: Parts) -> Binary:
        return Binary("=", parts[0], parts[2], span=self.over(parts[0], parts[2]))

    def motions(self, parts: Parts) -> Binding:
        value = Vector(tuple(_listed(parts[3:-1])), span=self.over(parts[2], parts[-1]))
        return Binding(parts[0].text, value, span=self.over(parts[0], parts[-1]))

    def save(self, parts: Parts) -> Save:
        return Save(tuple(_listed(parts[1:])), span=self.whole(parts))

    def plot(self, parts: Parts) -> Plot:
        return Plot(tuple(_listed(parts[1:])), span=self.whole(parts))

    def measure(self, parts: Parts) -> Measure:
        return Measure(parts[1].text, parts[3], parts[4], span=self.whole(parts[1:4]))

    def numbered_measure(self, parts: Parts) -> Repeated:
        figure = Measure(parts[1].text, parts[6], parts[7], parts[3], span=self.whole(parts[1:7]))
        return Repeated(figure, parts[8], span=figure.span)

    def claim(self, parts: Parts) -> Assert | Repeated:
        claim = Assert(parts[1], parts[2], span=parts[1].span)
        return Repeated(claim, parts[3], span=claim.span) if parts[3] else claim

    def repeated_save(self, parts: Parts) -> Repeated:
        return self._repeated(Save, parts)

    def repeated_plot(self, parts: Parts) -> Repeated:
        return self._repeated(Plot, parts)

    def _repeated(self, kind: type[Save] | type[Plot], parts: Parts) -> Repeated:
        given = _listed(parts[1:])
        ranges = tuple(part for part in given if isinstance(part, Range))
        span = self.whole(parts)
        return Repeated(
            kind(tuple(part for part in given if not isinstance(part, Range)), span=span), ranges, span=span
        )

    def function(self, parts: Parts) -> FunctionDef:
        _, name, _, formals, _, unit, _, value, doc = parts
        return FunctionDef(name.text, formals, unit or "1", value, doc, span=self.over(parts[0], name))

    def formal(self, parts: Parts) -> Quantity:
        name, size, unit = parts
        return Quantity(name.text, unit or "1", size, span=self.over(name, name))

    def instance(self, parts: Parts) -> Instance:
        name, kind, _, nodes, closing, items, ranges = parts
        bindings = tuple(item for item in items if isinstance(item, Binding))
        starts = tuple(item for item in items if isinstance(item, Start))
        last = ranges[-1] if ranges else items[-1] if items else closing
        return Instance(name, kind.text, nodes, bindings, starts, ranges, span=self.over(name, last))

    # ------------------------------------------------------------------- domains, components, subnetworks

    def domain_head(self, parts: Parts) -> DomainDef:
        return DomainDef(parts[1].text, doc=parts[2], span=self.over(parts[0], parts[1]))

    def component_head(self, parts: Parts) -> ComponentDef:
        partial, word, name, terminals, bases, doc = parts
        return ComponentDef(
            name.text,
            terminals,
            doc=doc,
            bases=bases,
            is_partial=partial is not None,
            span=self.over(partial or word, name),
        )

    def bases(self, parts: Parts) -> tuple[Name, ...]:
        return tuple(self.word([part]) for part in parts if part is not None and part.type == "NAME")

    def model_head(self, parts: Parts) -> ModelDef:
        word, name, terminals, bases, doc = parts
        return ModelDef(name.text, terminals, doc=doc, bases=bases, span=self.over(word, name))

    def terminal(self, parts: Parts) -> Terminal:
        direction, name, _, domain = parts
        return Terminal(
            name.text, domain.text if domain else "", direction.text if direction else "", span=self.over(name, name)
        )

    def quantities(self, parts: Parts) -> Line:
        fields = {"INPUT": "inputs", "VAR": "variables"}
        return Line(fields.get(parts[0].type, parts[0].text), tuple(_listed(parts[1:])), self.whole(parts))

    def quantity(self, parts: Parts) -> Quantity:
        name, size, _, unit, nominal, doc = parts
        return Quantity(name.text, unit.text, size, doc, nominal, span=self.over(name, name))

    def one_value(self, parts: Parts) -> Line:
        value = parts[1]
        return Line(parts[0].text, (value.text if isinstance(value, Token) else value,), self.whole(parts))

    power = floating = stores = singular = one_value

    def marked(self, parts: Parts) -> Line:
        return Line(f"is_{parts[0].text}", (True,), self.whole(parts))

    source = relative = marked

    def param_line(self, parts: Parts) -> Line:
        kind = {Param: "params", Count: "counts", Let: "lets"}[type(parts[0])]
        return Line(kind, (parts[0],), parts[0].span)

    def branch(self, parts: Parts) -> Line:
        names = tuple(part.text for part in _listed(parts[5:]))
        span = self.whole(parts)
        return Line("branches", (Branch(parts[1].text, parts[3].text, names, span=span),), span)

    def output(self, parts: Parts) -> Line:
        _, name, size, _, unit, _, value, doc = parts
        output = Output(name.text, unit.text, value, size, doc, span=self.over(name, name))
        return Line("outputs", (output,), self.over(parts[0], value))

    def noise(self, parts: Parts) -> Line:
        word, name, _, unit, _, value, doc = parts
        noise = Noise(name.text, unit.text, value, word.text == "flicker", doc, span=self.over(name, name))
        return Line("noises", (noise,), self.over(word, value))

    def assertion(self, parts: Parts) -> Line:
        return Line("asserts", (Assert(parts[1], parts[2].text, span=self.whole(parts)),), self.whole(parts))

    def place(self, parts: Parts) -> Line:
        span = self.whole(parts)
        return Line("places", (Place(parts[1].text, parts[3], span=span),), span)

    def company(self, parts: Parts) -> Line:
        given, *missing = (part.text for part in parts[1:-1] if part.type == "NAME")
        return Line(
            "company", (Company(given, tuple(missing), parts[-1], span=(span := self.over(parts[0], parts[-1]))),), span
        )

    def equation(self, parts: Parts) -> Line:
        span = self.whole(parts)
        return Line("equations", (Equation(parts[0], parts[2], span=span),), span)

    def discrete(self, parts: Parts) -> Line:
        _, name, size, _, unit, start, doc = parts
        return Line(
            "discretes",
            (Discrete(name.text, unit.text, start, size, doc, span=self.over(name, name)),),
            self.over(parts[0], name),
        )

    def action(self, parts: Parts) -> Action:
        reinit, target, _, value = parts
        return Action(target, value, reinit is not None, span=self.over(reinit or target, value))

    def when(self, parts: Parts) -> Line:
        actions = tuple(part for part in parts if isinstance(part, Action))
        span = self.over(parts[0], actions[-1])
        return Line("whens", (When(parts[1], actions, span=span),), span)
