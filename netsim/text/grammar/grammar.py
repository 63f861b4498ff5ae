"""The parser's tables, built from netsim.lark once and kept in the package or in the user's cache folder, and how
tokens go through them."""

import hashlib
import json
import threading
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netsim.text.grammar.build import Builder
from netsim.text.grammar.words import Token
from netsim.text.kept.shipped import keep, read_kept

if TYPE_CHECKING:
    from lark import Lark

_STARTS = ["statement", "headline", "domain_line", "component_line"]


class Unexpected(Exception):
    """Token number `index` (behind the last one: the statement ends too early) is none of the `expected` types."""

    def __init__(self, index: int, expected: frozenset[str]):
        self.index, self.expected = index, expected
        super().__init__(index, expected)


def parse_tokens(tokens: list[Token], rule: str, file: str) -> Any:
    """The syntax of one statement; raises `Unexpected`."""
    from lark.exceptions import UnexpectedToken

    interactive = _parser(file).parse_interactive(start=rule)
    taken, last = 0, tokens[-1]
    try:
        for token in tokens:
            interactive.feed_token(token)  # type: ignore[arg-type]
            taken += 1
        end = Token("$END", "", last.line, last.end_column, last.end_column + 1)
        return interactive.feed_token(end)  # type: ignore[arg-type]
    except UnexpectedToken as unexpected:
        raise Unexpected(taken, frozenset(unexpected.expected)) from None


@cache
def _lark_data() -> dict[str, Any]:
    """What Lark needs to set a parser up without reading the grammar: kept, for this grammar and this version of
    Lark."""
    from importlib.metadata import version

    grammar = Path(__file__).with_name("netsim.lark").read_bytes()
    made_of = b"\0".join([grammar, version("lark").encode(), b"json"])
    name = f"grammar-{hashlib.sha256(made_of).hexdigest()[:20]}"
    body = read_kept("grammar", name)
    if body is None:
        body = _compile(grammar.decode("utf-8"))
        keep("grammar", name, body)
    return json.loads(body, object_hook=_numbered)


def _compile(grammar: str) -> bytes:
    """The tables as Lark saves them, but as JSON and not pickled."""
    from lark import Lark
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    lark = Lark(grammar, parser="lalr", lexer="basic", start=_STARTS, keep_all_tokens=True, maybe_placeholders=True)
    data, memo = lark.memo_serialize([TerminalDef, Rule])
    return json.dumps({"data": data, "memo": memo}, separators=(",", ":")).encode()


def _numbered(table: dict[str, Any]) -> dict[Any, Any]:
    """A dict of JSON with its numbers as keys again: no name of Lark's is one."""
    return {int(key): value for key, value in table.items()} if all(map(str.isdigit, table)) else table


class _Parsers(threading.local):
    """One parser a thread, since its builder knows one file at a time."""

    lark: "Lark | None" = None
    builder: Builder


_PARSERS = _Parsers()


def _parser(file: str) -> "Lark":
    """The thread's parser, for the statements of a file."""
    from lark import Lark

    if _PARSERS.lark is None:
        lark: Lark = Lark.__new__(Lark)
        _PARSERS.builder = Builder(file)
        _PARSERS.lark = lark._load(_lark_data(), transformer=_PARSERS.builder)
    _PARSERS.builder.file = file
    return _PARSERS.lark
