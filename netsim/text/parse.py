"""Text -> syntax tree. Statements are parsed one by one, so that a mistake in one hides no mistake in another."""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from netsim.text.collecting import collection_paused
from netsim.text.errors import CONTROL, InputError, Problem, Span, remember_source
from netsim.text.grammar import flat
from netsim.text.grammar.explain import explain
from netsim.text.grammar.scan import Scanner, Statement
from netsim.text.grammar.words import Token
from netsim.text.syntax import ComponentDef, ModelDef, Program, Terminal

_BLOCKS = {"DOMAIN": "domain", "COMPONENT": "component", "PARTIAL": "component", "MODEL": "model"}
_NETLIST_ONLY = frozenset(["USE", "INCLUDE", "WORLD", "RUN", "SAVE", "PLOT"])
_RULES = {"netlist": "statement", "model": "statement", "domain": "domain_line", "component": "component_line"}
_MOST_LEVELS = 200
_ONCE = frozenset(["power", "floating", "kinetic", "potential", "stores", "dissipates", "singular"])


@dataclass
class _Block:
    """An open `domain`, `component` or `model`: its headline and what its lines said so far."""

    opener: Token
    name: str
    head: Any  # the definition without its lines; None where the headline is wrong
    items: list[Any] = field(default_factory=list)

    @property
    def mode(self) -> str:
        return _BLOCKS[self.opener.type]


class _Reader:
    """One pass over a text; `statements` and `problems` grow."""

    def __init__(self, text: str, file: str):
        self.scanner = Scanner(text, file)
        self.problems = self.scanner.problems
        self.statements: list[Any] = []
        self.block: _Block | None = None

    def read(self) -> None:
        while not self.scanner.at_end:
            if self.block is None:
                self.statements += flat.take(self.scanner)
            mode = "netlist" if self.block is None else self.block.mode
            statement = self.scanner.next_statement(mode)
            if statement.tokens:
                self.take(statement)
        if self.block is not None:
            self.close_without_end(None)

    def take(self, statement: Statement) -> None:
        first = statement.tokens[0]
        if first.type in _BLOCKS:
            if self.block is not None:
                self.close_without_end(first)
            self.open(statement)
        elif first.type == "END":
            self.end(statement)
        else:
            self.take_line(statement)

    def take_line(self, statement: Statement) -> None:
        first = statement.tokens[0]
        if self.block is not None and first.type in _NETLIST_ONLY:
            self.close_without_end(first)
        rule = "statement" if self.block is None else _RULES[self.block.mode]
        parsed = self.parsed(statement, rule)
        if parsed is not None:
            (self.statements if self.block is None else self.block.items).append(parsed)

    def parsed(self, statement: Statement, rule: str) -> Any:
        """The statement's syntax, None where it is wrong (and reported)."""
        from netsim.text.grammar.grammar import Unexpected, parse_tokens

        if statement.broken:
            return None
        try:
            parsed = parse_tokens(statement.tokens, rule, self.scanner.file)
            if len(statement.tokens) > _MOST_LEVELS and _levels(parsed) > _MOST_LEVELS:
                hint = "give parts of it names with 'let'"
                self.scanner.report(
                    "E120", f"this statement nests more than {_MOST_LEVELS} operations", statement.tokens[0], hint=hint
                )
                return None
            return parsed
        except Unexpected as unexpected:
            name = f"{self.block.mode} '{self.block.name}'" if self.block is not None else ""
            self.problems.append(explain(statement.tokens, unexpected, self.scanner.span, name))
            return None

    # ---------------------------------------------------------------------------------------- blocks

    def open(self, statement: Statement) -> None:
        opener = statement.tokens[0]
        name = next((token.text for token in statement.tokens if token.type == "NAME"), "")
        head = self.parsed(statement, "headline")
        if isinstance(head, ComponentDef | ModelDef):
            head = replace(head, terminals=with_domains(head.terminals))
            for terminal in head.terminals:
                if not terminal.domain:
                    hint = "write its domain behind it, such as (p, n : electrical)"
                    self.problems.append(
                        Problem("E116", f"the terminal '{terminal.name}' has no domain", terminal.span, hint=hint)
                    )
        if isinstance(head, ModelDef):
            for k, terminal in enumerate(head.terminals):
                if terminal.name in (before.name for before in head.terminals[:k]):
                    message = f"'{terminal.name}' is declared twice in model '{name}'"
                    self.problems.append(Problem("E209", message, terminal.span))
        self.block = _Block(opener, name, head)

    def end(self, statement: Statement) -> None:
        first = statement.tokens[0]
        if len(statement.tokens) > 1:
            extra = statement.tokens[1]
            self.scanner.report(
                "E101", f"'{extra.text}' does not belong behind 'end'", extra, hint="'end' stands alone"
            )
        if self.block is None:
            self.scanner.report(
                "E115", "this 'end' closes nothing", first, hint="remove it, or add the headline it belongs to"
            )
        else:
            self.close(first)

    def close_without_end(self, first: Token | None) -> None:
        assert self.block is not None
        place = f"'{first.text}' in line {first.line} cannot stand inside it" if first else "the text ends before it"
        message = f"{self.block.mode} '{self.block.name}' has no 'end'"
        self.scanner.report("E103", message, self.block.opener, "opened here", f"add the missing 'end': {place}")
        # the lines behind it: the same mistake again
        follow = f"a line of a {self.block.mode} '{self.block.name}' is not an instance"
        self.problems[:] = [p for p in self.problems if p.message != follow]
        self.close(first or self.block.opener)

    def close(self, last: Token) -> None:
        block, self.block = self.block, None
        if block is None or block.head is None:
            return
        if isinstance(block.head, ModelDef):
            definition = replace(block.head, body=tuple(block.items))
        else:
            definition = replace(block.head, **self.fields(block))
        self.statements.append(definition)

    def fields(self, block: _Block) -> dict[str, Any]:
        """The definition's fields from its lines, each in the order of the text; single ones must be single."""
        collected: dict[str, Any] = {}
        first_at: dict[str, Span] = {}
        for line in block.items:
            if line.field in _ONCE and line.field in collected:
                also = ((first_at[line.field], "the first one is here"),)
                self.problems.append(Problem("E118", f"'{line.field}' is stated twice", line.span, also=also))
            elif line.field in _ONCE or line.field in ("is_source", "is_relative"):
                collected[line.field] = line.values[0]
            else:
                collected[line.field] = collected.get(line.field, ()) + line.values
            first_at.setdefault(line.field, line.span)
        return collected


def _levels(tree: Any) -> int:
    """How deep a tree is, found without recursion: what walks it later recurses."""
    deepest, open_ends = 0, [(tree, 1)]
    while open_ends:
        node, level = open_ends.pop()
        deepest = max(deepest, level)
        if is_dataclass(node):
            open_ends += [(getattr(node, each.name), level + 1) for each in fields(node) if each.name != "span"]
        elif isinstance(node, tuple):
            open_ends += [(part, level) for part in node]
    return deepest


def parse(text: str, file: str = "<text>") -> Program:
    """The syntax tree of a text; raises `InputError` with every syntax mistake found, in the order of the text."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    remember_source(file, text)
    reader = _Reader(text, file)
    reader.problems += _commands(text, file)
    with collection_paused():
        reader.read()
    if reader.problems:
        raise InputError(sorted(reader.problems, key=_place))
    return Program(tuple(reader.statements), file)


def _commands(text: str, file: str) -> Iterator[Problem]:
    """The first character that would command a terminal or turn the direction of a text: it stays in no output."""
    if found := CONTROL.search(text):
        line, column = text.count("\n", 0, found.start()) + 1, found.start() - text.rfind("\n", 0, found.start())
        message = f"the control character U+{ord(found[0]):04X} is allowed in no netlist"
        yield Problem("E128", message, Span(file, line, column, line, column + 1), hint="delete it")


def _place(problem: Problem) -> tuple[int, int]:
    return (problem.span.line, problem.span.column) if problem.span else (0, 0)


def with_domains(terminals: tuple[Terminal, ...]) -> tuple[Terminal, ...]:
    """`(p, n : electrical, a : thermal)`: a domain serves the names before it that have none; '' where none follows."""
    return tuple(reversed(list(_backwards(terminals))))


def _backwards(terminals: tuple[Terminal, ...]) -> Iterator[Terminal]:
    domain = ""
    for terminal in reversed(terminals):
        domain = terminal.domain or domain
        yield terminal if terminal.domain else replace(terminal, domain=domain)
