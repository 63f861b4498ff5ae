"""Which words are keywords, and where: the reserved words everywhere, `branch`, `out`, `across`, ... only at the start
of a line of a component or domain, and there only before what must follow them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_EVERYWHERE = (
    "use include param count let table world model component domain start guess run save plot function for in if then "
    "else when end ground time and or not"
)
_NETLIST = "measure assert nominal"
_DOMAIN = "across through integral power floating relative assert"
_COMPONENT = (
    "input var branch out assert place kinetic potential stores dissipates source singular discrete given noise flicker"
)
RESERVED = frozenset(_EVERYWHERE.split())
LINE_WORDS = {
    "netlist": frozenset(_NETLIST.split()),
    "model": frozenset(_NETLIST.split()),
    "domain": frozenset(_DOMAIN.split()),
    "component": frozenset(_COMPONENT.split()),
}
_BEFORE_NAME, _BEFORE_VALUE, _ALONE = (
    re.compile(r"[ \t]+[A-Za-z_]"),
    re.compile(r"(?!\[)[ \t]*(?![ \t=.*/^])"),
    re.compile(r"[ \t]*(?:[;#\n]|$)"),
)
_FOLLOWS = dict.fromkeys(LINE_WORDS["domain"] | LINE_WORDS["component"], _BEFORE_NAME) | {
    **dict.fromkeys(
        ("assert", "kinetic", "potential", "stores", "dissipates", "power", "floating", "singular"), _BEFORE_VALUE
    ),
    **dict.fromkeys(("source", "relative"), _ALONE),
    "measure": re.compile(r"[ \t]+[A-Za-z_]\w*[ \t]*(?:=(?!=)|\{)"),
    "nominal": re.compile(r"[ \t]+[A-Za-z_](?:[^=()\n]*=(?!=)|[\w.\[\]]*[ \t]*(?:[\d;#\n]|$))"),
}
_PARTIAL = re.compile(r"[ \t]+component\b")
_QUANTITIES = ["PARAM", "ACROSS", "THROUGH", "INTEGRAL", "INPUT", "VAR", "OUT", "DISCRETE"]
DECLARES_UNIT = frozenset([*_QUANTITIES, "NOISE", "FLICKER"])
_ANOTHER_WORD = re.compile(r"[ \t]+\w")


@dataclass(slots=True)
class Token:
    """One word, number, unit, string or sign; a string's text is without its quotes. No token spans lines."""

    type: str
    text: str
    line: int
    column: int
    end_column: int


def word_type(word: str, tokens: Sequence[Token], in_bracket: bool, mode: str, text: str, rest: int) -> str:
    """The type of a word behind the tokens of its statement: that of a keyword, or NAME; `text` goes on at `rest`."""
    first, last = (tokens[0].type, tokens[-1].type) if tokens else ("", "")
    if word == "when" and first in ("MEASURE", "ASSERT") and text[rest : rest + 1] == "(":
        return "NAME"  # the instant at which something comes true
    if word in RESERVED and not (word == "start" and last == "DOT"):  # m1.x.start has a value
        return word.upper()
    if not tokens:
        return word.upper() if _begins_line(word, mode, text, rest) else "NAME"
    heads = first in ("COMPONENT", "PARTIAL", "MODEL")
    if (
        (word == "reinit" and first == "WHEN" and last in ("COLON", "SEMICOLON"))
        or (word == "nominal" and last == "UNIT" and first in DECLARES_UNIT)
        or (word == "extends" and heads and last in ("NAME", "RPAR") and not in_bracket)
        or (word == "out" and heads and _ANOTHER_WORD.match(text, rest))
    ):
        return word.upper()
    return "NAME"


def _begins_line(word: str, mode: str, text: str, rest: int) -> bool:
    """Whether the first word of a line is a keyword: `out = 3` is an equation about something called out."""
    if word == "partial":
        return _PARTIAL.match(text, rest) is not None
    return word in LINE_WORDS.get(mode, ()) and _FOLLOWS[word].match(text, rest) is not None
