"""The fast path for long netlists and for values: plain instance lines, names and numbers by regular expression,
without the grammar.

A plain line is `name type (n1, n2) a = 1 kOhm, start b = -2  # comment`: plain names, plain numbers with known units.
It gives the same `Instance`, spans included, as the grammar would; every other line is left to it. 20 000 lines take
half a second.
"""

import re

from netsim.text.errors import Span
from netsim.text.grammar.scan import CHAIN_TEXT, Scanner, known_chains
from netsim.text.grammar.words import LINE_WORDS, RESERVED
from netsim.text.syntax import Binding, Instance, Name, Number, Part, Start, Unary

_BLANK = r"[ \t]*"
_WORD = r"[A-Za-z_][A-Za-z_0-9]*(?!\w)"
_NUMBER = r"\d++(?:\.\d++)?+(?:[eE][+-]?\d++)?+(?!\.)"
_PAIR = rf"(?:(?:start|guess)[ \t]+)?{_WORD}{_BLANK}={_BLANK}-?{_BLANK}{_NUMBER}{_BLANK}(?:{CHAIN_TEXT})?{_BLANK}"
_LINE = re.compile(
    rf"{_BLANK}({_WORD})[ "
    rf"\t]+({_WORD}){_BLANK}\({_BLANK}((?:{_WORD}{_BLANK}(?:,{_BLANK}{_WORD}{_BLANK})*)?)(\)){_BLANK}"
    rf"((?:{_PAIR}(?:,{_BLANK}{_PAIR})*)?)(?:#[^\n]*)?(?:\n|$)"
)
_EMPTY = re.compile(rf"{_BLANK}(?:#[^\n]*)?\n")
_WORDS = re.compile(_WORD)
_PAIRS = re.compile(
    rf"(?:(start|guess)[ \t]+)?({_WORD}){_BLANK}={_BLANK}(-)?{_BLANK}({_NUMBER})(?:{_BLANK}({CHAIN_TEXT}))?"
)
_VALUE = re.compile(rf"({_WORD})|(-)?{_BLANK}({_NUMBER})(?:{_BLANK}({CHAIN_TEXT}))?")
_NOT_A_NODE = RESERVED - {"ground"}


def take(scanner: Scanner) -> list[Instance]:
    """The plain instance lines from the scanner's place on, up to the first other statement; the scanner moves on."""
    instances: list[Instance] = []
    text = scanner.text
    while scanner.place == scanner.line_start and scanner.place < len(text):
        match = _EMPTY.match(text, scanner.place)
        if match is None:
            match = _LINE.match(text, scanner.place)
            instance = None if match is None else _instance(match, scanner)
            if match is None or instance is None:
                break
            instances.append(instance)
        scanner.place = scanner.line_start = match.end()
        scanner.line += 1
    return instances


def plain_value(line: str, column: int, file: str) -> Name | Number | Unary | None:
    """A plain name or number from a column of a line to its end; None for all else, which is left to the grammar."""
    match = _VALUE.fullmatch(line, column - 1)
    if match is None or match[1] in RESERVED:
        return None
    if match[1]:
        return _name(match[1], _span(file, 1, column, len(line) + 1))
    return _number(match, 2, file, 1, -1)


def _instance(match: re.Match[str], scanner: Scanner) -> Instance | None:
    """The instance of a line; None where a word is reserved or a unit unknown, which the grammar then explains."""
    name, kind, nodes, _, pairs = match.groups()
    if name in RESERVED or kind in RESERVED or name in LINE_WORDS["netlist"]:
        return None
    file, line, before = scanner.file, scanner.line, scanner.line_start - 1
    named = []
    if nodes:
        for word in _WORDS.finditer(scanner.text, *match.span(3)):
            if word[0] in _NOT_A_NODE:
                return None
            named.append(_name(word[0], _span(file, line, word.start() - before, word.end() - before)))
    items, end = list[Binding | Start](), match.end(4) - before
    if pairs:
        for pair in _PAIRS.finditer(scanner.text, *match.span(5)):
            item = _item(pair, file, line, before)
            if item is None:
                return None
            items.append(item)
            end = item.span.end_column
    start = match.start(1) - before
    own = _name(name, _span(file, line, start, match.end(1) - before))
    bindings = tuple(item for item in items if isinstance(item, Binding))
    starts = tuple(item for item in items if isinstance(item, Start))
    return Instance(own, kind, tuple(named), bindings, starts, span=_span(file, line, start, end))


def _item(pair: re.Match[str], file: str, line: int, before: int) -> Binding | Start | None:
    begun, word, *_ = pair.groups()
    value = None if word in RESERVED else _number(pair, 3, file, line, before)
    if value is None:
        return None
    end = pair.end() - before
    if begun:
        target = _name(word, _span(file, line, pair.start(2) - before, pair.end(2) - before))
        return Start(begun, target, value, span=_span(file, line, pair.start(1) - before, end))
    return Binding(word, value, span=_span(file, line, pair.start(2) - before, end))


def _number(match: re.Match[str], minus: int, file: str, line: int, before: int) -> Number | Unary | None:
    """The number with its unit in the groups behind that of its sign."""
    number, unit = match[minus + 1], match[minus + 2]
    size, end = float(number), match.end() - before
    if size == float("inf") or (unit is not None and known_chains(unit)[:1] != (len(unit),)):
        return None
    value = Number(size, unit or "", span=_span(file, line, match.start(minus + 1) - before, end))
    if match[minus]:
        return Unary("-", value, span=_span(file, line, match.start(minus) - before, end))
    return value


def _name(word: str, span: Span) -> Name:
    return Name((Part(word),), span=span)


def _span(file: str, line: int, column: int, end_column: int) -> Span:
    return Span(file, line, column, line, end_column)
