"""An XML text as elements that know their line and column, so that what is wrong in it can be shown."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from netsim.text.errors import CONTROL, InputError, Problem, Span

FAULT = "E250"
"""The code of a text that is no XML, or an element without what it needs."""


@dataclass(frozen=True)
class Element:
    """`<tag attribute="text" ...>` with its children and place."""

    tag: str
    attributes: dict[str, str]
    span: Span
    children: "list[Element]" = field(default_factory=list)

    def each(self, tag: str) -> "Iterator[Element]":
        """The children of that tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> "Element | None":
        """The first child of that tag."""
        return next(self.each(tag), None)

    def text(self, name: str) -> str:
        """An attribute that must be there; E250 where it is not."""
        value = self.attributes.get(name, "").strip()
        if not value:
            raise InputError(Problem(FAULT, f'<{self.tag}> needs {name}="..."', self.span))
        return value

    def numbers(self, name: str, size: int, default: tuple[float, ...]) -> tuple[float, ...]:
        """`size` numbers of an attribute, or `default`; E250 where they are something else."""
        text = self.attributes.get(name)
        if text is None:
            return default
        try:
            values = tuple(float(word) for word in text.split())
        except ValueError:
            values = ()
        if len(values) != size or not all(map(math.isfinite, values)):
            wanted = "a number" if size == 1 else f"{size} numbers with blanks between"
            raise InputError(Problem(FAULT, f'{name}="{text}" of <{self.tag}> is not {wanted}', self.span))
        return values

    def number(self, name: str, default: float | None = None) -> float:
        """One number of an attribute; without `default` it must be there."""
        if default is None:
            self.text(name)
        return self.numbers(name, 1, (default or 0.0,))[0]


def read_elements(path: Path) -> Element:
    """The outermost element of a file. Raises `InputError` (E250) where it is no XML."""
    parser = expat.ParserCreate()
    open_: list[Element] = []
    outermost: list[Element] = []

    def here(length: int) -> Span:
        line, column = parser.CurrentLineNumber, parser.CurrentColumnNumber + 1
        return Span(str(path), line, column, line, column + length)

    def start(tag: str, attributes: dict[str, str]) -> None:
        texts = {name: CONTROL.sub(" ", value) for name, value in attributes.items()}
        element = Element(tag, texts, here(len(tag) + 1))
        (open_[-1].children if open_ else outermost).append(element)
        open_.append(element)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: open_.pop() and None
    try:
        parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as wrong:
        line, column = wrong.lineno, wrong.offset + 1
        unclosed = f"<{open_[-1].tag}> of line {open_[-1].span.line} is open here" if open_ else ""
        message = f"no proper XML: {expat.errors.messages[wrong.code]}"
        raise InputError(
            Problem(FAULT, message, Span(str(path), line, column, line, column + 1), hint=unclosed)
        ) from None
    except OSError as wrong:
        raise InputError(Problem("E220", f"cannot read '{path}': {wrong.strerror}")) from None
    return outermost[0]
