"""Colours of netlists and components in the pages: a lexer for Pygments, known to it as `netlist` and `component`."""

from pygments.lexer import RegexLexer, bygroups, words
from pygments.lexers import LEXERS
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text, Whitespace

from netsim.text.expressions.functions import FUNCTIONS
from netsim.text.grammar.words import LINE_WORDS, RESERVED

__all__ = ["NetlistLexer"]  # Pygments asks for it
ALIASES = ("netlist", "component")


class NetlistLexer(RegexLexer):
    """Words of the language, names of types, numbers with their units, comments."""

    name = "netsim"
    aliases = ALIASES
    tokens = {  # noqa: RUF012
        "root": [
            (r"#.*$", Comment.Single),
            (r'"(\\.|[^"\\])*"', String),
            (
                words(
                    [*RESERVED, *LINE_WORDS["domain"], *LINE_WORDS["component"], *LINE_WORDS["netlist"]],
                    r"^(\s*)",
                    r"\b",
                ),
                Keyword,
            ),
            (
                r"^(\s*)([\w\[\]{}.]+)(\s+)(\w+)(\s*)(?=\()",
                bygroups(Whitespace, Name, Whitespace, Name.Class, Whitespace),
            ),
            (words(sorted(RESERVED), r"\b", r"\b"), Keyword),
            (words([*FUNCTIONS, "der", "pre", "delayed", "table"], r"\b", r"(?=\()"), Name.Builtin),
            (r"(\d+\.?\d*(?:[eE][-+]?\d+)?)(\s+)([A-Za-z%][\w./^-]*)?", bygroups(Number, Whitespace, Name.Constant)),
            (r"\d+\.?\d*(?:[eE][-+]?\d+)?", Number),
            (r"[-+*/^=<>!:;,()\[\]{}]", Operator),
            (r"[A-Za-z_]\w*", Name),
            (r"\s+", Whitespace),
            (r".", Text),
        ]
    }


def register() -> None:
    """Make the lexer known to Pygments for this process."""
    LEXERS[NetlistLexer.__name__] = (__name__, NetlistLexer.name, ALIASES, (), ())
