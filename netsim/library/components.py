"""The components that one program sees: made when they are asked for, and shared with other programs.

What `junction(v, I, V, limit)` conducts beyond `limit` lies on a straight line. A component with such calls asserts
I*(exp(v/V) - 1) <= limit of each.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import reduce

from netsim.library.component import Component, names_in, plain_name, terms_in
from netsim.library.functions import OF_COMPONENTS, Functions
from netsim.text.expressions.functions import FUNCTIONS
from netsim.text.expressions.show import show_expression
from netsim.text.syntax import Assert, Binary, Call, ComponentDef, DomainDef, Expr, Unary

LAW = "junction"


class Components(Mapping[str, Component]):
    """Components by name, each with its functions written out when it is asked for."""

    def __init__(self, definitions: Mapping[str, ComponentDef], functions: Functions, domains: Mapping[str, DomainDef]):
        self._definitions, self._functions, self._domains = definitions, functions, domains
        self._made: dict[str, Component] = {}

    def __getitem__(self, name: str) -> Component:
        if name not in self._made:
            self._made[name] = _component(self._definitions[name], self._functions, self._domains)
        return self._made[name]

    def texts(self) -> list[ComponentDef]:
        """The definitions with the lines of their bases, calls of functions as they are written."""
        return [replace(d, bases=()) if d.bases else d for d in self._definitions.values()]

    def __contains__(self, name: object) -> bool:
        return name in self._definitions

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)


def _component(definition: ComponentDef, functions: Functions, domains: Mapping[str, DomainDef]) -> Component:
    """The component of a definition. Programs with definitions of their own collect their libraries anew: what these
    define is the same component for all of them, with its checks, forms and kernels, where functions and domains are
    the same."""
    before = vars(definition).get("component")
    if before is not None:
        known, made = before
        if _same(known.definitions, functions.definitions) and _same(made.domains, domains):
            return made
    made = _with_limits(Component(functions.written_out(definition), domains))
    vars(definition)["component"] = functions, made
    return made


def _same(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Whether both have the same objects under the same names."""
    return len(one) == len(other) and all(other.get(name) is value for name, value in one.items())


def _with_limits(component: Component) -> Component:
    """The component with one assert for all junctions of its lets and equations that the samples of a run can tell."""
    definition = component.definition
    calls = dict.fromkeys(terms_in((definition.lets, definition.equations), Call))
    given = [_arguments(call) for call in calls if call.function == LAW and _can_be_judged(component, call)]
    if not given:
        return component
    limits = dict.fromkeys(f"`{show_expression(each['limit'])}`" for each in given)
    sentence = f"the current of a junction exceeds {' or '.join(limits)}, from where on its law is a straight line"
    claim = Assert(reduce(_both, map(_within, given)), sentence, span=definition.span)
    return replace(component, definition=replace(definition, asserts=(*definition.asserts, claim)))


def _arguments(call: Call) -> dict[str, Expr]:
    return {**dict(zip(FUNCTIONS[LAW].parameters, call.arguments)), **dict(call.keywords)}


def _within(given: dict[str, Expr]) -> Expr:
    """not I*expm1(v/V) > limit: an infinite exponential is above the limit, and nothing is divided by I."""
    grown = Call("expm1", (Binary("/", given["v"], given["V"]),))
    return Unary("not", Binary(">", Binary("*", given["I"], grown), given["limit"]))


def _both(one: Expr, other: Expr) -> Expr:
    return Binary("and", one, other)


def _can_be_judged(component: Component, call: Call) -> bool:
    """Whether a call reads quantities by plain names, and neither a rate nor the past of one."""
    read = component.quantities_in(call)
    inside = (each.function for expr in _followed(component, call) for each in terms_in(expr, Call))
    return bool(read) and all(map(plain_name, read)) and not any(name in OF_COMPONENTS for name in inside)


def _followed(component: Component, expr: Expr) -> Iterator[Expr]:
    """An expression, and the lets that it stands on."""
    lets, waiting, seen = {let.name: let.value for let in component.definition.lets}, [expr], set[str]()
    while waiting:
        yield (one := waiting.pop())
        new = {name.parts[0].text for name in names_in(one)} & (lets.keys() - seen)
        waiting += [lets[name] for name in sorted(new)]
        seen |= new
