"""Grammar rules -> syntax nodes: one method per rule of netsim.lark, called by the parser from the leaves upwards.

A method gets its rule's parts in the order of the text, all tokens included; absent optional parts are None. Lines of
components and domains come out as `Lines`, a field of their definition and what it gains.
"""

from dataclasses import dataclass
from typing import Any

from netsim.text.errors import Span
from netsim.text.grammar.build_expressions import Expressions, Parts, listed
from netsim.text.grammar.words import Token
from netsim.text.syntax import (
    Action,
    Assert,
    Binary,
    Binding,
    Branch,
    Company,
    ComponentDef,
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
    Output,
    Param,
    Place,
    Plot,
    Quantity,
    Range,
    Repeated,
    Run,
    Save,
    Start,
    Table,
    Terminal,
    Use,
    Vector,
    When,
    World,
)
from netsim.text.terms import Noise


@dataclass(frozen=True)
class Line:
    """One line of a domain or component: the field it belongs to and its values there."""

    field: str
    values: tuple[Any, ...]
    span: Span


def _one(field: str, node: Any, span: Span | None = None) -> Line:
    """A line with one node."""
    return Line(field, (node,), span or node.span)


class Builder(Expressions):
    """The methods of all rules."""

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
        return World(tuple(listed(parts[1:])), span=self.whole(parts))

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
        value = Vector(tuple(listed(parts[3:-1])), span=self.over(parts[2], parts[-1]))
        return Binding(parts[0].text, value, span=self.over(parts[0], parts[-1]))

    def save(self, parts: Parts) -> Save:
        return Save(tuple(listed(parts[1:])), span=self.whole(parts))

    def plot(self, parts: Parts) -> Plot:
        return Plot(tuple(listed(parts[1:])), span=self.whole(parts))

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
        given = listed(parts[1:])
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
        return Line(fields.get(parts[0].type, parts[0].text), tuple(listed(parts[1:])), self.whole(parts))

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
        return _one(kind, parts[0])

    def branch(self, parts: Parts) -> Line:
        names = tuple(part.text for part in listed(parts[5:]))
        return _one("branches", Branch(parts[1].text, parts[3].text, names, span=self.whole(parts)))

    def output(self, parts: Parts) -> Line:
        _, name, size, _, unit, _, value, doc = parts
        output = Output(name.text, unit.text, value, size, doc, span=self.over(name, name))
        return _one("outputs", output, self.over(parts[0], value))

    def noise(self, parts: Parts) -> Line:
        word, name, _, unit, _, value, doc = parts
        noise = Noise(name.text, unit.text, value, word.text == "flicker", doc, span=self.over(name, name))
        return _one("noises", noise, self.over(word, value))

    def assertion(self, parts: Parts) -> Line:
        return _one("asserts", Assert(parts[1], parts[2].text, span=self.whole(parts)))

    def place(self, parts: Parts) -> Line:
        return _one("places", Place(parts[1].text, parts[3], span=self.whole(parts)))

    def company(self, parts: Parts) -> Line:
        given, *missing = (part.text for part in parts[1:-1] if part.type == "NAME")
        return _one("company", Company(given, tuple(missing), parts[-1], span=self.over(parts[0], parts[-1])))

    def equation(self, parts: Parts) -> Line:
        return _one("equations", Equation(parts[0], parts[2], span=self.whole(parts)))

    def discrete(self, parts: Parts) -> Line:
        _, name, size, _, unit, start, doc = parts
        discrete = Discrete(name.text, unit.text, start, size, doc, span=self.over(name, name))
        return _one("discretes", discrete, self.over(parts[0], name))

    def action(self, parts: Parts) -> Action:
        reinit, target, _, value = parts
        return Action(target, value, reinit is not None, span=self.over(reinit or target, value))

    def when(self, parts: Parts) -> Line:
        actions = tuple(part for part in parts if isinstance(part, Action))
        return _one("whens", When(parts[1], actions, span=self.over(parts[0], actions[-1])))
