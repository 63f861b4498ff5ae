"""`.model` lines: their type and parameters, with those of another model where one says `ako:`."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from netsim.formats.spice.blocks import Block, ParameterText
from netsim.formats.spice.cards import Card, Token
from netsim.formats.spice.conditions import NumericParameters
from netsim.formats.spice.numbers import value_of
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.syntax import Expr, Number


@dataclass(frozen=True)
class Model:
    """A `.model` line: name, type, parameters with the cards they stand on, words that are flags, and its block."""

    name: str
    type: str
    card: Card
    block: Block
    given: dict[str, tuple[Card, Token]] = field(default_factory=dict)
    flags: tuple[str, ...] = ()

    def value(self, name: str, scope: Scope, unit: str = "", default: float = 0.0) -> Expr:
        """A parameter as an expression in a unit."""
        if name not in self.given:
            return Number(default, unit)
        return scope.value(*self.given[name], unit)

    def number(self, name: str, default: float) -> float:
        """A parameter that must be a plain number. Raises `InputError`."""
        if name not in self.given:
            return default
        card, token = self.given[name]
        if (found := value_of(token.text)) is None:
            return NumericParameters(self._parameters()).number(card, token.text, token.start)
        return found

    def _parameters(self) -> dict[str, ParameterText]:
        """Those of the model's block and of the blocks around it: what shapes the netlist keeps their values."""
        found: dict[str, ParameterText] = {}
        block: Block | None = self.block
        while block is not None:
            found = {**block.given, **found}
            block = block.parent
        return found


def found_model(card: Card, scope: Scope, named: Token, types: Iterable[str]) -> Model:
    """The model that an element names, of one of these types. Raises `InputError`."""
    types = tuple(types)
    model = model_of(scope.block, named.text)
    if model is None:
        hint = (
            nearest(named.text, scope.block.visible_models()) or f"a line such as: .model {named.text} {types[0]}(...)"
        )
        raise InputError(Problem("E226", f"there is no .model '{named.text}'", card.at(named), hint=hint))
    if model.type not in types:
        message = f"'{card.word}' needs a model of the type {' or '.join(types)}, '{named.text}' is a {model.type}"
        raise InputError(Problem("E226", message, card.at(named)))
    return model


def model_of(block: Block, name: str, above: tuple[str, ...] = ()) -> Model | None:
    """The model of that name, from a block outwards, with what it takes from others (`ako:`). Raises `InputError`."""
    found = block.model(name)
    if found is None:
        return None
    card, where = found
    type_, *rest = [token.text for token in card.plain[1:]]
    given = {key: (card, token) for key, token in card.given.items()}
    base_name = type_.removeprefix("ako:") if type_.startswith("ako:") else ""
    if not base_name:
        return Model(name, type_, card, where, given, tuple(rest))
    base = None if base_name in above else model_of(where, base_name, (*above, name))
    if base is None:
        raise InputError(Problem("E226", f"there is no .model '{base_name}'", card.at(card.plain[1])))
    kind = next((word for word in rest if word == base.type), base.type)
    flags = tuple(word for word in rest if word != kind)
    return Model(name, kind, card, where, {**base.given, **given}, (*base.flags, *flags))
