"""Text -> statements of tokens: words, numbers with their units, strings, brackets; mistakes of spelling are noted.

A statement ends at the line's end or at `;` unless a bracket is open, the line ends with a comma, or the next line
begins with a string, which is joined to one that ends the line before. netsim.text.grammar.words says which words are
keywords. A unit is the longest chain of known names right behind a number or the closing bracket of a vector (or of
`diag(...)`).
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

from netsim.text import spelling
from netsim.text.errors import Problem, Span
from netsim.text.grammar.words import DECLARES_UNIT, RESERVED, Token, word_type
from netsim.text.units import KNOWN_NAMES, UnknownUnit, parse_unit

_SYMBOLS = {
    "->": "ARROW", "..": "DOTDOT", "==": "SAME", "!=": "DIFFERENT", "<=": "LESSEQ", ">=": "MOREEQ", "<": "LESS",
    ">": "MORE", "=": "EQUAL",
    "+": "PLUS", "-": "MINUS", "*": "TIMES", "/": "OVER", "^": "HAT", "(": "LPAR", ")": "RPAR", "[": "LSQB",
    "]": "RSQB",
    "{": "LBRACE", "}": "RBRACE",
    ",": "COMMA", ":": "COLON", ".": "DOT",
}  # fmt: skip
_TOKEN = re.compile(
    r"(?P<blank>[ \t]+|\#[^\n]*)|(?P<newline>\n)|(?P<stop>;)"
    r"|(?P<half>\d+\.(?![.\d])(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)|(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
    r"|(?P<word>[A-Za-z_][A-Za-z_0-9]*(?!\w))|(?P<foreign>[^\W\d]\w*)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<open_string>"[^\n]*)'
    r"|(?P<odd>\*\*|&&|\|\|)|(?P<symbol>->|\.\.|[=!<>]=|[-+*/^<>=()\[\]{},:.])|(?P<other>.)"
)
_LINK_TEXT = r"(?:%|[A-Za-zµμΩ\u2126][\w\u2126]*)(?:\^[+-]?\d+(?:\.\d+)?)?"
_LINK = re.compile(rf"[./]?{_LINK_TEXT}")
CHAIN_TEXT = rf"(?:(?<=[ \t])1/)?{_LINK_TEXT}(?:[./]{_LINK_TEXT})*"
_CHAIN = re.compile(rf"[ \t]*({CHAIN_TEXT})")
_DECLARED = re.compile(r"[ \t]*([^\s=<>,\"#;()\[\]]+)")
_GLUED = re.compile(r"[\wΩ\u2126]+")
# a line that cannot be the inside of a bracket: a statement's first word, or two words in a row as in an instance
_GOES_ON = r"(?!(?:if|then|else|and|or|not|for|in|out)\b)"
_NEW_STATEMENT = re.compile(
    r"[ "
    r"\t]*(?:(?:use|include|param|count|let|world|model|component|function|domain|start|run|save|plot|measure|assert)\b"
    r"|(?:guess|end)\b(?![ \t]*=)|table\b(?![ \t]*\()"
    rf"|{_GOES_ON}[A-Za-z_]\w*(?:\[[^\]\n]*\])?[ \t]+{_GOES_ON}[A-Za-z_])"
)
_STRING_FIRST = re.compile(r'[ \t]*"')


@dataclass
class Statement:
    """The tokens of one statement; `broken` where the scanner already reported what makes parsing pointless."""

    tokens: list[Token] = field(default_factory=list)
    broken: bool = False


@dataclass
class Scanner:
    """A place in the text, moved on by `next_statement`; `problems` collects what it finds on its way."""

    text: str
    file: str
    place: int = 0
    line: int = 1
    line_start: int = 0
    problems: list[Problem] = field(default_factory=list)
    _brackets: list[tuple[Token, str]] = field(default_factory=list)  # each open bracket and the name before it

    @property
    def at_end(self) -> bool:
        return self.place >= len(self.text)

    def next_statement(self, mode: str) -> Statement:
        """The next statement in a `netlist`, `model`, `domain` or `component`; empty where only blanks follow."""
        statement = Statement()
        self._brackets.clear()
        while self.place < len(self.text):
            match = _TOKEN.match(self.text, self.place)
            assert match is not None and match.lastgroup is not None
            kind = match.lastgroup
            if kind == "newline" and self._ends_line(statement):
                break
            if kind == "stop" and self._goes_on(statement):
                statement.tokens.append(self._token("SEMICOLON", ";"))
                continue
            if kind == "stop" and self._ends_at_semicolon(statement):
                break
            if kind not in ("blank", "newline", "stop"):
                self._take(kind, match[0], statement, mode)
            elif kind == "blank":
                self.place = match.end()
        if self._brackets:
            self._report_open_brackets(statement)
        return statement

    def span(self, first: Token, last: Token | None = None) -> Span:
        last = last or first
        return Span(self.file, first.line, first.column, last.line, last.end_column)

    def report(self, code: str, message: str, token: Token, mark: str = "", hint: str = "") -> None:
        self.problems.append(Problem(code, message, self.span(token), mark, hint))

    # ------------------------------------------------------------------------------------------ ends

    def _ends_line(self, statement: Statement) -> bool:
        """Move behind the newline; True if the statement is over there."""
        self.place += 1
        self.line += 1
        self.line_start = self.place
        if not self._brackets:
            return not self._continues(statement)
        if self._begins():
            self._report_open_brackets(statement)
            return True
        return False

    def _goes_on(self, statement: Statement) -> bool:
        """Whether this is a `when`, whose actions stand between semicolons, also on lines of their own."""
        return bool(statement.tokens) and statement.tokens[0].type == "WHEN" and not self._brackets

    def _continues(self, statement: Statement) -> bool:
        """Whether the line that begins here belongs to the statement before it, which no bracket holds open."""
        if not statement.tokens:
            return False
        last = statement.tokens[-1].type
        if _STRING_FIRST.match(self.text, self.place) or (last == "COMMA" and not self._begins()):
            return True
        return self._goes_on(statement) and last in ("COLON", "SEMICOLON")

    def _begins(self) -> bool:
        """Whether the line that begins here is clearly a statement of its own."""
        return _NEW_STATEMENT.match(self.text, self.place) is not None

    def _ends_at_semicolon(self, statement: Statement) -> bool:
        self.place += 1
        if self._brackets:
            self._report_open_brackets(statement)
        return True

    def _report_open_brackets(self, statement: Statement) -> None:
        opener, _ = self._brackets[0]
        closer = {"LPAR": ")", "LSQB": "]"}.get(opener.type, "}")
        self.report(
            "E104", f"this '{opener.text}' is never closed", opener, "opened here", f"add the missing '{closer}'"
        )
        self._brackets.clear()
        statement.broken = True

    # ---------------------------------------------------------------------------------------- tokens

    def _token(self, kind: str, text: str) -> Token:
        column = self.place - self.line_start + 1
        self.place += len(text)
        return Token(kind, text, self.line, column, column + len(text))

    def _take(self, kind: str, text: str, statement: Statement, mode: str) -> None:
        tokens = statement.tokens
        if kind in ("number", "half"):
            self._take_number(kind, text, statement, mode)
        elif kind == "word":
            rest = self.place + len(text)
            tokens.append(self._token(word_type(text, tokens, bool(self._brackets), mode, self.text, rest), text))
        elif kind == "symbol":
            self._take_symbol(text, statement, mode)
        elif kind == "string":
            token = self._token("STRING", text)
            token.text = re.sub(r'\\(["\\])', r"\1", text[1:-1])
            if tokens and tokens[-1].type == "STRING" and tokens[-1].line < self.line and not self._brackets:
                tokens[-1].text += f" {token.text}"
            else:
                tokens.append(token)
        else:
            token = self._token("NAME" if kind == "foreign" else "STRANGE", text)
            self.problems.append(spelling.strange(kind, text, self.span(token)))
            tokens.append(token)
            statement.broken = True

    def _take_symbol(self, text: str, statement: Statement, mode: str) -> None:
        tokens = statement.tokens
        if text == "*" and self._is_anything(tokens):
            tokens.append(self._token("ANYTHING", text))
            return
        before = tokens[-1] if tokens else None
        token = self._token(_SYMBOLS[text], text)
        tokens.append(token)
        if text in "([{":
            self._brackets.append((token, before.text if before is not None and before.type == "NAME" else ""))
        elif text in ")]}":
            if self._close(token, statement) == ("diag" if text == ")" else ""):
                self._take_unit(statement, mode)
        elif text == ":" and (tokens[0].type == "FUNCTION" or (tokens[0].type in DECLARES_UNIT and not self._brackets)):
            self._take_declared_unit(tokens)

    def _is_anything(self, tokens: list[Token]) -> bool:
        """Whether a `*` is a name's part (`m1.*`, `*.f`, `save *`) rather than a product."""
        if not tokens or tokens[0].type not in ("SAVE", "PLOT"):
            return False
        return tokens[-1].type == "DOT" or len(tokens) == 1 or (tokens[-1].type == "COMMA" and not self._brackets)

    def _close(self, token: Token, statement: Statement) -> str | None:
        """The name before the opening bracket ('' for none), None where there is no opening bracket."""
        if not self._brackets:
            self.report(
                "E105", f"this '{token.text}' closes nothing", token, hint="remove it, or add the opening bracket"
            )
            statement.broken = True
            return None
        opener, word = self._brackets.pop()
        if (opener.type, token.type) not in (("LPAR", "RPAR"), ("LSQB", "RSQB"), ("LBRACE", "RBRACE")):
            problem = Problem(
                "E105",
                f"'{token.text}' closes a '{opener.text}'",
                self.span(token),
                also=((self.span(opener), f"this '{opener.text}' is open"),),
            )
            self.problems.append(problem)
            statement.broken = True
        return word

    # --------------------------------------------------------------------------------- numbers and units

    def _take_number(self, kind: str, text: str, statement: Statement, mode: str) -> None:
        token = self._token("NUMBER", text)
        statement.tokens.append(token)
        if kind == "half":
            self.problems.append(spelling.half_number(text, self.span(token), self.text[self.place : self.place + 1]))
            statement.broken = True
            return
        elif float(text) == float("inf"):
            self.report("E111", f"the number {text} is too large", token)
        if not self._take_unit(statement, mode) and (glued := _GLUED.match(self.text, self.place)):
            suffix = self._token("UNIT", glued[0])
            statement.tokens.append(suffix)
            self.problems.append(spelling.suffix(text, suffix.text, self.span(token, suffix)))

    def _take_unit(self, statement: Statement, mode: str) -> bool:
        match = _CHAIN.match(self.text, self.place)
        if match is None:
            return False
        expects_equal = not self._brackets and bool(statement.tokens) and _may_have_equal(statement.tokens[0], mode)
        for length in known_chains(match[1]):
            if not _followed_badly(self.text, match.start(1) + length, expects_equal):
                self.place = match.start(1)
                statement.tokens.append(self._token("UNIT", match[1][:length]))
                return True
        return False

    def _take_declared_unit(self, tokens: list[Token]) -> None:
        match = _DECLARED.match(self.text, self.place)
        if match is None:
            return
        self.place = match.start(1)
        token = self._token("UNIT", match[1])
        tokens.append(token)
        try:
            parse_unit(token.text)
        except UnknownUnit as unknown:
            self.problems.append(spelling.unknown_unit(unknown.name, token.text, self.span(token)))


@lru_cache(maxsize=4096)
def known_chains(text: str) -> tuple[int, ...]:
    """The lengths of the beginnings of a chain that are units, longest first."""
    lengths = []
    for link in _LINK.finditer(text):
        try:
            parse_unit(text[: link.end()])
        except UnknownUnit:
            break
        lengths.append(link.end())
    return tuple(reversed(lengths))


def _may_have_equal(first: Token, mode: str) -> bool:
    """Whether an `=` may follow a number with unit: a bound before its default, the left side of an equation."""
    return first.type == "PARAM" or first.type == "COUNT" or mode == "component"


def _followed_badly(text: str, place: int, expects_equal: bool) -> bool:
    rest = text[place : place + 40].lstrip(" \t")
    return rest.startswith("(") or (rest.startswith("=") and not rest.startswith("==") and not expects_equal)


assert KNOWN_NAMES.keys().isdisjoint(RESERVED)
