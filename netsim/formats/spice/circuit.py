"""What all blocks of a circuit share: names of types, definitions, options; and how a name of SPICE becomes one of the
language."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from netsim.formats.spice.cards import Report
from netsim.text.grammar.words import RESERVED
from netsim.text.spelling import new_name
from netsim.text.syntax import Expr, Statement

GROUNDS = frozenset(["0", "gnd", "gnd!"])
KELVIN = 273.15
BOLTZMANN = 1.380649e-23 / 1.602176634e-19
"""k/q in V/K."""


def word(name: str) -> str:
    """Letters, digits and _, beginning with no digit, and no word of the language."""
    plain = re.sub(r"\W", "_", name.replace("+", "p").replace("-", "n"), flags=re.ASCII)
    plain = f"n{plain}" if plain[0].isdigit() else plain
    return f"{plain}_" if plain in RESERVED else plain


@dataclass
class Circuit:
    """What all blocks share: the names of types that are taken, definitions found so far, options and the report."""

    report: Report
    types: set[str]
    options: dict[str, float] = field(default_factory=dict)
    times: tuple[float, float] = (0.0, 0.0)
    definitions: list[Statement] = field(default_factory=list)
    uic: bool = False
    signals: bool = False
    potentials: dict[str, Expr] = field(default_factory=dict)
    analyses: frozenset[str] = frozenset()
    """The lines that ask for analyses, such as `.tran`."""
    warms: bool = False
    """Whether the temperature varies: it is then the parameter `temper`."""
    values: dict[str, str] = field(default_factory=dict)
    """Parameters that values of elements have become, because they vary."""

    @property
    def at_rest(self) -> bool:
        """Whether every analysis is one at rest, where no current changes."""
        return bool(self.analyses) and self.analyses <= {".op", ".dc", ".tf", ".sens"}

    @property
    def celsius(self) -> float:
        """The circuit's temperature."""
        return self.options.get("temp", 27.0)

    def type_name(self, name: str) -> str:
        """A name for a definition that no type of the library has."""
        return new_name(word(name), "_", self.types)


VALUES: dict[str, Callable[[Circuit], float]] = {
    "temper": lambda circuit: circuit.celsius,
    "temp": lambda circuit: circuit.celsius,
    "vt": lambda circuit: (circuit.celsius + KELVIN) * BOLTZMANN,
    "gmin": lambda circuit: circuit.options.get("gmin", 1e-12),
}
"""Words that mean a value of the circuit where no parameter is called so."""
