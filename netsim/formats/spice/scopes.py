"""What names mean in a block: nodes, elements, parameters and models, and what they are called in the netlist.

In SPICE nodes, elements and parameters have name spaces of their own and a subcircuit sees the parameters outside of
it; here one name is one thing and a model knows what it is given. So a node that is called like an element gets `_node`
behind it, and what a subcircuit takes from outside becomes a parameter (a global node: a terminal) of its model, handed
on by every instance.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from netsim.formats.spice.blocks import Block, Function, ParameterText
from netsim.formats.spice.cards import Card, Token
from netsim.formats.spice.circuit import BOLTZMANN, GROUNDS, KELVIN, VALUES, Circuit, word
from netsim.formats.spice.expressions import expression
from netsim.formats.spice.numbers import in_unit, literal, value_of, written
from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.spelling import new_name
from netsim.text.syntax import NOWHERE, Binary, Binding, Expr, Instance, Name, Number, Param, Part, Start, Terminal


@dataclass
class ScopedDefinition:
    """A definition that instances refer to: its name and what it takes from outside, to be bound and connected by every
    instance."""

    name: str
    captured: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    scope: "Scope | None" = None

    @property
    def ports(self) -> tuple[str, ...]:
        """Terminals as the subcircuit names them."""
        return self.scope.block.ports if self.scope else ()


class Scope:
    """The names of one block; `captured` and `reached` grow by what is taken from outside."""

    def __init__(self, block: Block, circuit: Circuit, above: "Scope | None"):
        self.block, self.circuit, self.above = block, circuit, above
        self.taken: set[str] = set()
        self.parameters = {name: new_name(word(name), "_", self.taken) for name in block.given}
        self.elements: dict[str, str] = {}
        for card in block.elements:
            if card.word in self.elements:
                circuit.report.wrong("E222", f"the element '{card.word}' is defined twice", card.at(card.tokens[0]))
            else:
                self.elements[card.word] = new_name(word(card.word), "_", self.taken)
        self.nodes: dict[str, str] = {}
        self.awaited: dict[str, Span] = {}
        self.complete = False
        self.captured: dict[str, str] = {}
        self.reached: dict[str, str] = {}
        self.functions: Mapping[str, Function] = block.all_functions()
        self.through: dict[str, tuple[str, str]] = {}
        self.made: dict[str, ScopedDefinition] = {}
        self.touched: dict[str, list[str]] = {}
        self.ends: dict[str, tuple[str, ...]] = {}
        self.beside: list[Instance] = []

    def of_block(self, block: Block) -> "Scope":
        """The scope of a block around this one, or this one."""
        scope: Scope | None = self
        while scope is not None and scope.block is not block:
            scope = scope.above
        assert scope is not None
        return scope

    # ------------------------------------------------------------------------------------------- names

    def node(self, name: str, span: Span) -> Name:
        """A node by its name in SPICE."""
        if name in GROUNDS:
            return _name("ground", span)
        if name not in self.nodes:
            self.nodes[name] = new_name(word(name), "_node", self.taken)
            if self.above and name in self._globals():
                self.reached[name] = self.nodes[name]
        return _name(self.nodes[name], span)

    def _globals(self) -> set[str]:
        return self.block.globals if self.above is None else self.above._globals()

    def connected(self, card: Card, tokens: Iterable[Token]) -> tuple[Name, ...]:
        """The nodes of an element."""
        tokens = tuple(tokens)
        self.ends[card.word] = tuple(token.text for token in tokens)
        for token in tokens:
            self.touched.setdefault(token.text, []).append(card.word[0])
        return tuple(self.node(token.text, card.at(token)) for token in tokens)

    def potential(self, node: str, span: Span) -> Expr:
        """The potential of a node, also of one in a subcircuit: `x1.out`."""
        if node in GROUNDS:
            return Number(0.0, span=span)
        head, dot, rest = node.partition(".")
        if dot and node not in self.nodes and head in self.made:
            ports = self.made[head].ports
            return (
                self.potential(self.ends[head][ports.index(rest)], span)
                if rest in ports
                else self._inside(head, span, lambda s: s.potential(rest, span))
            )
        if node not in self.nodes:
            if self.complete:
                raise InputError(self._unconnected(node, span))
            self.awaited.setdefault(node, span)
        return _name(f"{self.node(node, span).parts[0].text}.v", span)

    def close(self) -> None:
        """All elements are there; raises `InputError` where one of them reads a node that none is connected to."""
        self.complete = True
        for node, span in self.awaited.items():
            if node not in self.touched:
                del self.nodes[node]
                self.circuit.report.problems.append(self._unconnected(node, span))

    def _unconnected(self, node: str, span: Span) -> Problem:
        return Problem("E133", f"nothing is connected to a node '{node}'", span, hint=nearest(node, self.nodes))

    def current(self, element: str, span: Span) -> Expr:
        """The current through an element, from its first node to its second."""
        head, dot, rest = element.partition(".")
        if dot and head in self.made:
            return self._inside(head, span, lambda inner: inner.current(rest, span))
        if element not in self.through and element in self.elements and element[0] in "vehrcl":
            return _name(f"{self.elements[element]}.i", span)  # an element that is made later
        if element not in self.through:
            known = [e for e in self.elements if e[0] in "vlehrcdb"]
            hint = (
                nearest(element, known)
                or "currents of voltage sources, R, C, L and diodes are available: put a source of 0 V in series"
            )
            raise InputError(Problem("E133", f"there is no current 'i({element})'", span, hint=hint))
        name, quantity = self.through[element]
        return _name(f"{name}.{quantity}", span)

    def _inside(self, element: str, span: Span, look: "Callable[[Scope], Expr]") -> Expr:
        inner = self.made[element].scope
        assert inner is not None
        found = look(inner)
        if not isinstance(found, Name) or len(found.parts) < 2:
            return found
        return Name((Part(self.elements[element]), *found.parts), span=span)

    # ------------------------------------------------------------------------------------------ values

    def parameter(self, name: str, span: Span) -> Expr:
        """A parameter of this block or of one around it."""
        if name in self.parameters:
            return _name(self.parameters[name], span)
        if not self._known(name):
            if self.circuit.warms and name in ("temp", "vt"):
                celsius = self.celsius(span)
                return (
                    celsius if name == "temp" else Binary("*", Binary("+", celsius, Number(KELVIN)), Number(BOLTZMANN))
                )
            if name in VALUES:
                return literal(VALUES[name](self.circuit), span)
            names = [*self.parameters, *(self.above.parameters if self.above else ())]
            raise InputError(
                Problem(
                    "E206",
                    f"nothing is called '{name}'",
                    span,
                    hint=nearest(name, names) or f"define it: .param {name}=1",
                )
            )
        if name not in self.captured:
            self.captured[name] = new_name(word(name), "_", self.taken)
        return _name(self.captured[name], span)

    def celsius(self, span: Span) -> Expr:
        """The circuit's temperature."""
        return self.parameter("temper", span) if self.circuit.warms else literal(self.circuit.celsius, span)

    def _known(self, name: str) -> bool:
        return name in self.parameters or (self.above is not None and self.above._known(name))

    def knows(self, name: str) -> bool:
        """Whether a parameter here or around is called so."""
        return self._known(name)

    def value(self, card: Card, token: Token, unit: str = "") -> Expr:
        """A number, a parameter's name or an expression, in a unit. Raises `InputError`."""
        plain = None if token.kind in ("expression", "text") else written(token.text, unit, card.at(token))
        if plain is not None:
            return plain
        return in_unit(expression(card, token.text, token.start, self), unit)

    def expression(self, card: Card, token: Token, arguments: Mapping[str, Expr]) -> Expr:
        """A token as an expression of further names. Raises `InputError`."""
        return expression(card, token.text, token.start, self, arguments)

    def number(self, card: Card, token: Token) -> float:
        """A plain number: what shapes the netlist cannot be an expression. Raises `InputError`."""
        value = value_of(token.text)
        if value is None:
            raise InputError(
                Problem(
                    "E132",
                    f"'{token.text}' is no number",
                    card.at(token),
                    hint="this value must be a plain number such as 10u",
                )
            )
        return value

    def given(self, given: ParameterText) -> Expr:
        """The value of a parameter of this block."""
        value = value_of(given.text)
        span = given.card.span(given.start, given.start + len(given.text))
        return literal(value, span) if value is not None else expression(given.card, given.text, given.start, self)

    def declared(self, outside: bool) -> list[Param]:
        """The block's own parameters."""
        found = []
        for name, given in self.block.given.items():
            if given.outside == outside:
                found.append(
                    Param(
                        self.parameters[name],
                        default=self.given(given),
                        span=given.card.span(given.start, given.start + len(given.text)),
                    )
                )
        return found

    # --------------------------------------------------------------------------------------- instances

    def instance(
        self,
        card: Card,
        type_: str,
        nodes: Iterable[Name],
        bindings: dict[str, Expr],
        starts: dict[str, Expr] | None = None,
    ) -> Instance:
        """An element as an instance of a type of the library."""
        span = card.span()
        given = tuple(with_spans(Binding(name, value), span) for name, value in bindings.items())
        begun = tuple(
            with_spans(Start("start", _name(name, span), value), span) for name, value in (starts or {}).items()
        )
        return Instance(
            _name(self.elements[card.word], card.at(card.tokens[0])), type_, tuple(nodes), given, begun, span=span
        )

    def of(self, card: Card, made: ScopedDefinition, nodes: Iterable[Name], bindings: dict[str, Expr]) -> Instance:
        """An instance of a definition of this circuit, with what that takes from outside."""
        span = card.span()
        outer = {
            made_name: self.parameter(name, span) for name, made_name in zip(made.captured, captured_parameters(made))
        }
        return self.instance(
            card, made.name, (*nodes, *(self.node(name, span) for name in made.nodes)), {**bindings, **outer}
        )

    def part(
        self,
        name: str,
        type_: str,
        nodes: Iterable[Name],
        bindings: Mapping[str, Expr],
        span: Span,
        starts: Mapping[str, Expr] | None = None,
    ) -> None:
        """One more instance of the library beside the element at hand (a resistance in series, a block of an
        expression)."""
        ours = new_name(word(name), "_", self.taken)
        given = tuple(with_spans(Binding(key, value), span) for key, value in bindings.items())
        begun = tuple(
            with_spans(Start("start", _name(key, span), value), span) for key, value in (starts or {}).items()
        )
        self.beside.append(Instance(_name(ours, span), type_, tuple(nodes), given, begun, span=span))

    def inner_node(self, name: str, span: Span) -> Name:
        """A new node inside an element."""
        return _name(new_name(word(name), "_", self.taken), span)

    def block_output(self, type_: str, reads: Expr, bindings: Mapping[str, Expr], starts: Mapping[str, Expr]) -> Expr:
        """The number that a block of the signal library writes, which reads the value of an expression."""
        span, self.circuit.signals = reads.span, True
        source = self.inner_node(f"{type_}_reads", span)
        self.part(f"{type_}_in", "signal_source", (source,), {"value": reads}, span)
        result = self.inner_node(f"{type_}_writes", span)
        self.part(type_, type_, (source, result), bindings, span, starts)
        return result

    def drawn(self, name: str, span: Span) -> None:
        """A random function is its nominal value."""
        self.circuit.report.note(f"'{name}' is its nominal value: nothing is drawn at random", span)

    def finish(self, name: str) -> ScopedDefinition:
        """What an instance of this block's model has to hand on."""
        return ScopedDefinition(name, tuple(self.captured), tuple(self.reached), self)

    def taken_from_outside(self) -> tuple[list[Param], list[Terminal]]:
        """Declarations of what is captured."""
        return [Param(name) for name in self.captured.values()], [
            Terminal(name, "electrical") for name in self.reached.values()
        ]


def captured_parameters(made: ScopedDefinition) -> tuple[str, ...]:
    """The names in the definition of the parameters that it takes from outside."""
    return tuple(made.scope.captured.values()) if made.scope else ()


def with_spans(tree: Any, span: Span) -> Any:
    """The same syntax with a place where it had none."""
    if isinstance(tree, tuple):
        return tuple(with_spans(item, span) for item in tree)
    if not is_dataclass(tree):
        return tree
    changed = {f.name: with_spans(getattr(tree, f.name), span) for f in fields(tree) if f.name != "span"}
    if getattr(tree, "span", None) == NOWHERE:
        changed["span"] = span
    return replace(tree, **changed)  # type: ignore[type-var]


def _name(text: str, span: Span) -> Name:
    return Name(tuple(Part(part) for part in text.split(".")), span=span)
