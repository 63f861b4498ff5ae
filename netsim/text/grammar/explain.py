"""What a statement's first wrong token means, in the words of somebody who writes netlists."""

from collections.abc import Callable

from netsim.text.errors import Problem, Span, nearest
from netsim.text.grammar.grammar import Unexpected
from netsim.text.grammar.words import LINE_WORDS, RESERVED, Token
from netsim.text.spelling import is_unit, nearest_unit

_ENDS_VALUE = frozenset(["NAME", "NUMBER", "UNIT", "RPAR", "RSQB", "TIME", "STRING", "ANYTHING"])
_NEEDS_VALUE = frozenset(
    [
        *["EQUAL", "PLUS", "MINUS", "TIMES", "OVER", "HAT", "LESS", "LESSEQ", "MORE", "MOREEQ", "SAME", "DIFFERENT"],
        *["AND", "OR", "NOT", "IF", "THEN", "ELSE", "DOTDOT"],
    ]
)
_GO_ON = frozenset(["THEN", "ELSE", "AND", "OR", "IN", "FOR"])  # words that go on after a value
_SIGNS = {
    "COLON": ":",
    "EQUAL": "=",
    "ARROW": "->",
    "THEN": "then",
    "ELSE": "else",
    "IN": "in",
    "DOTDOT": "..",
    "LPAR": "(",
}
_COMPARES = frozenset(["LESS", "LESSEQ", "MORE", "MOREEQ", "SAME", "DIFFERENT"])
_SHAPES = {
    "PARAM": 'param NAME : UNIT > BOUND = VALUE "words", such as: param m : kg > 0 = 2 kg',
    "COUNT": "count NAME = VALUE, such as: count n = 3",
    "LET": "let NAME = EXPRESSION",
    "USE": 'use NAME or use "path/file.lib"',
    "INCLUDE": 'include "path/file.net"',
    "TABLE": 'table NAME = "file.csv"',
    "WORLD": "world NAME = VALUE, NAME = VALUE",
    "START": "start NODE.QUANTITY = VALUE, such as: start a.x = 3 mm",
    "GUESS": "guess NODE.QUANTITY = VALUE, such as: guess a.x = 3 mm",
    "NOMINAL": "nominal NODE.QUANTITY = VALUE, such as: nominal a.x = 3 mm",
    "RUN": "run ANALYSIS(OPTION = VALUE, ...), such as: run transient(stop = 5 s), or run NAME = ANALYSIS(...)",
    "SAVE": "save SIGNAL, SIGNAL, such as: save s1.f, a.x, m1.*",
    "PLOT": "plot EXPRESSION, EXPRESSION, such as: plot a.x - b.x, s1.f",
    "MEASURE": 'measure NAME = EXPRESSION "words", such as: measure peak = max(out.v)',
    "FUNCTION": "function NAME(PARAMETER : UNIT, ...) : UNIT = EXPRESSION, such as: function area(r : m) : m2 = pi*r^2",
    "DOMAIN": 'domain NAME "words"',
    "COMPONENT": "component NAME (TERMINAL, TERMINAL : DOMAIN), such as: component spring (p, n : translational)",
    "PARTIAL": "partial component NAME (TERMINAL, TERMINAL : DOMAIN), such as: partial component contact (p, n : "
    "translational)",
    "MODEL": "model NAME (TERMINAL, TERMINAL : DOMAIN)",
    "ACROSS": "across NAME : UNIT, such as: across v : m/s",
    "THROUGH": "through NAME : UNIT, such as: through f : N",
    "INTEGRAL": "integral NAME : UNIT, such as: integral x : m",
    "INPUT": "input NAME : UNIT (1 for a pure number)",
    "VAR": "var NAME : UNIT (1 for a pure number)",
    "OUT": "out NAME : UNIT = EXPRESSION, such as: out power : W = -f*v",
    "BRANCH": "branch TERMINAL -> TERMINAL : NAME, NAME, such as: branch p -> n : v, f",
    "DISCRETE": 'discrete NAME : UNIT = START "words", such as: discrete off : 1 = 0 "does not conduct"',
    "WHEN": "when CONDITION : NAME = EXPRESSION; reinit NAME = EXPRESSION, "
    "such as: when x < 0 : reinit v = -0.7*pre(v)",
    "GIVEN": "given PARAMETER : NAME TYPE (TERMINALS) ..., such as: given friction : dry hinge_friction (a, b) T = "
    "friction",
    "ASSERT": 'assert CONDITION "sentence"',
    "PLACE": "place TERMINAL = POSITION, such as: place a = at",
    "SINGULAR": 'singular "sentence"',
    "FLOATING": 'floating "sentence"',
}
_INSTANCE = "NAME TYPE (NODES) PARAMETER = VALUE, PARAMETER = VALUE, such as: c1 spring (a, ground) c = 200 N/m"


def explain(tokens: list[Token], unexpected: Unexpected, span: Callable[..., Span], block: str) -> Problem:
    """The problem of a statement that goes wrong at token `unexpected.index`; `block` names the open definition."""
    index, expected = unexpected.index, unexpected.expected
    if index >= len(tokens):
        return _too_short(tokens, expected, span, block)
    found = _instance_in_definition(tokens, index, expected, block)
    found = found or _first_word(tokens, index, expected, block)
    found = found or next((finding for rule in _RULES if (finding := rule(tokens, index, expected))), None)
    code, message, hint = found or _other(tokens, index, block)
    return Problem(code, message, span(tokens[index]), hint=hint)


def _other(tokens: list[Token], index: int, block: str) -> "Finding":
    place = f"behind '{_shown(tokens[index - 1])}'" if index else "at the start of a statement"
    return "E101", f"'{_shown(tokens[index])}' does not fit {place}", _shape(tokens, block)


def _first_word(tokens: list[Token], index: int, expected: frozenset[str], block: str) -> "Finding | None":
    """The first word is no keyword, but near to one, or one of another place."""
    first = tokens[0].text
    if tokens[0].type != "NAME" or index not in (1, 2):
        return None
    places = [kind for kind, words in LINE_WORDS.items() if first in words and first not in LINE_WORDS["netlist"]]
    if places and not block:
        return (
            "E115",
            f"'{first}' stands only inside a {places[0]}",
            f"the headline of the {places[0]} is missing above",
        )
    if guess := nearest(first, _first_words(block) - {first}):
        return "E101", f"no statement begins with '{first} {_shown(tokens[1])}'", guess
    if not block and tokens[1].type == "EQUAL":
        return "E101", f"what '{first}' is must be said first", f"write param {first} = ... or let {first} = ..."
    return None


def _first_words(block: str) -> set[str]:
    """The words a statement may begin with in the open block, or in the netlist."""
    if block.startswith(("component", "domain")):
        return {"param", "count", "let"} | LINE_WORDS[block.split()[0]]
    return {word.lower() for word in _SHAPES if word.lower() in RESERVED | LINE_WORDS["netlist"]}


def _instance_in_definition(tokens: list[Token], index: int, expected: frozenset[str], block: str) -> "Finding | None":
    """`r1 resistor (a, b)` in a component: most likely its `end` is missing."""
    if (
        not block
        or block.startswith("model")
        or [token.type for token in tokens[:3]] != ["NAME", "NAME", "LPAR"]
        or index > 1
    ):
        return None
    return (
        "E101",
        f"a line of a {block} is not an instance",
        f"the 'end' of {block} is missing above, or an equation was meant: left = right",
    )


Finding = tuple[str, str, str]  # code, message, hint


def _first_sign(tokens: list[Token], index: int, expected: frozenset[str]) -> Finding | None:
    """The statement begins with what no statement begins with."""
    token = tokens[0]
    if index > 0:
        return None
    if token.type == "DOT":
        return (
            "E101",
            "a statement does not start with a dot",
            "runs are statements like the others, such as: run transient(stop = 5 s)",
        )
    if token.type in ("OVER", "TIMES"):
        return "E101", f"a statement does not start with '{token.text}'", "comments start with #"
    if token.type == token.text.upper() and token.type != "WHEN":
        hint = "a line is repeated by 'for' at its end, such as: r[i] resistor (n[i], n[i+1]) R = 1 Ohm for i in 1..10"
        return "E101", f"a statement does not start with '{token.text}' here", hint if token.text == "for" else ""
    return None


def _reserved(tokens: list[Token], index: int, expected: frozenset[str]) -> Finding | None:
    token = tokens[index]
    if token.type == "WHEN":
        return (
            "E119",
            "'when' stands at the start of a line of a component",
            "in an expression: if ... then ... else ...",
        )
    if token.text not in RESERVED or token.type == "STRING" or "NAME" not in expected:
        return None
    before = tokens[index - 1].type if index else ""
    if token.type == "IF" and before in _NEEDS_VALUE:
        return "E101", "an 'if' inside an expression needs parentheses", "write (if CONDITION then VALUE else VALUE)"
    if token.type in _GO_ON and (before in _NEEDS_VALUE or before in _ENDS_VALUE):
        return None
    return (
        "E108",
        f"'{token.text}' is a reserved word and cannot be a name here",
        f"choose another name, such as {token.text}1 or {token.text}_",
    )


def _comparison(tokens: list[Token], index: int, expected: frozenset[str]) -> Finding | None:
    token = tokens[index]
    before = tokens[index - 1].type if index else ""
    if token.type == "SAME" and "EQUAL" in expected:
        return "E109", "'==' compares; a value is given with one '='", "write ="
    if (
        token.type == "EQUAL"
        and before in _ENDS_VALUE
        and tokens[0].type == "RUN"
        and "LSQB" not in [part.type for part in tokens[:index]]
    ):
        return "E109", "motions that are to be followed stand in brackets", "write track = [SIGNAL = MOTION, ...]"
    if token.type == "EQUAL" and expected & (_COMPARES | {"THEN", "RPAR", "RSQB"}) and before in _ENDS_VALUE:
        return "E109", "'=' gives a value; here only a comparison can stand", "write == to compare"
    if token.type in _COMPARES and before in _ENDS_VALUE and any(part.type in _COMPARES for part in tokens[:index]):
        return "E101", "comparisons cannot be chained", "write a < b and b < c"
    return None


def _units(tokens: list[Token], index: int, expected: frozenset[str]) -> Finding | None:
    token, before = tokens[index], tokens[index - 1]
    if before.type == "NUMBER" and token.type == "NAME" and not _is_assigned(tokens, index):
        return _not_a_unit(before, token)
    if before.type == "NAME" and token.type == "NUMBER" and is_unit(before.text):
        return "E110", f"the unit '{before.text}' stands before its number", f"write {token.text} {before.text}"
    if before.type == "UNIT" and token.type == "DOT" and index + 1 < len(tokens):
        wrong = tokens[index + 1].text
        return "E107", f"'{before.text}.{wrong}' is not a known unit", nearest_unit(wrong)
    if token.type == "TIMES" and before.type == "DOT":
        return "E101", "'*' as a part of a name stands only in 'save' and 'plot'", "write a*b for a product"
    return None


def _lists(tokens: list[Token], index: int, expected: frozenset[str]) -> Finding | None:
    token, before = tokens[index], tokens[index - 1]
    if token.type == "COMMA" and before.type in ("LPAR", "LSQB", "COMMA"):
        return (
            "E101",
            f"something is missing between '{before.text}' and ','",
            "remove the comma, or write what belongs before it",
        )
    if token.type == "DOT" or (before.type == "DOT" and token.type != "NAME"):
        side = "before" if token.type == "DOT" else "behind"
        return "E101", f"a name is missing {side} the dot", "names are dotted without blanks: leg.slide.q"
    if token.type in ("RPAR", "RSQB") and before.type == "COMMA":
        return "E101", f"the list ends with a comma before '{token.text}'", "remove the comma"
    if token.type == "RSQB" and before.type == "LSQB":
        return "E101", "these brackets are empty", "write an index or the components of a vector"
    return None


def _commas(tokens: list[Token], index: int, expected: frozenset[str]) -> Finding | None:
    token, before = tokens[index], tokens[index - 1]
    if "COMMA" not in expected or before.type not in _ENDS_VALUE:
        return None
    if token.type in ("NAME", "START", "GUESS") and _is_assigned(tokens, index):
        return "E102", f"a comma is missing before '{token.text}'", "parameters are separated by commas: a = 1, b = 2"
    if token.type in ("NAME", "NUMBER", "GROUND", "STRING", "TIME", "TABLE"):
        return "E102", f"a comma or an operator is missing before '{_shown(token)}'", ""
    return None


def _values(tokens: list[Token], index: int, expected: frozenset[str]) -> Finding | None:
    token, before = tokens[index], tokens[index - 1]
    plain = expected - {"LBRACE"}  # a number in a name is never what is missing
    if len(plain) == 1 and (sign := _SIGNS.get(*plain)):
        return "E114", f"'{sign}' is missing before '{_shown(token)}'", ""
    if before.type in _NEEDS_VALUE:
        return "E114", f"a value is missing between '{before.text}' and '{_shown(token)}'", ""
    return None


# the first that knows the mistake speaks
_RULES = (
    _first_sign,
    _reserved,
    _comparison,
    _units,
    _lists,
    _commas,
    _values,
)


def _is_assigned(tokens: list[Token], index: int) -> bool:
    """Whether `name = ` or `start name = ` begins here."""
    following = [token.type for token in tokens[index + 1 : index + 7]]
    return "EQUAL" in following[:1] or (tokens[index].type in ("START", "GUESS") and "EQUAL" in following)


def _not_a_unit(number: Token, word: Token) -> Finding:
    guess = nearest_unit(word.text)
    if word.text.lower() in ("k", "m", "u", "n", "p", "f", "g", "meg"):
        letter = "u" if word.text in "uU" else word.text
        return (
            "E106",
            f"'{number.text} {word.text}' has a prefix but no unit",
            f"write the unit in full, such as {number.text} {letter}Ohm",
        )
    product = f"write {number.text}*{word.text} for a product"
    hint = (f"{guess} If not, {product}" if len(word.text) == 1 else guess) if guess else product
    return "E107", f"'{word.text}' behind the number {number.text} is not a known unit", hint


def _too_short(tokens: list[Token], expected: frozenset[str], span: Callable[..., Span], block: str) -> Problem:
    last = tokens[-1]
    if last.type == "COMMA":
        return Problem(
            "E114",
            "the list ends with a comma",
            span(last),
            "",
            "remove it, or go on in the next line",
        )
    if "ELSE" in expected and any(token.type == "IF" for token in tokens):
        return Problem(
            "E114",
            "this 'if' has no 'else'",
            span(_last_if(tokens)),
            "",
            "write if CONDITION then VALUE else VALUE, all in one line or in brackets",
        )
    missing = "a value is missing" if last.type in _NEEDS_VALUE else "the statement is not complete"
    return Problem("E114", f"{missing} behind '{_shown(last)}'", span(last), "", _shape(tokens, block))


def _last_if(tokens: list[Token]) -> Token:
    return next(token for token in reversed(tokens) if token.type == "IF")


def _shape(tokens: list[Token], block: str) -> str:
    """How such a statement looks."""
    shape = _SHAPES.get(tokens[0].type)
    if shape is None and tokens[0].type == "NAME":
        shape = "left = right" if block.startswith("component") else _INSTANCE
    return f"the statement is {shape}" if shape else ""


def _shown(token: Token) -> str:
    return f'"{token.text}"' if token.type == "STRING" else token.text
