"""A generated page, and the pieces of Markdown that such pages are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Page:
    """Its path within the site, its text in Markdown, and the title that the navigation shows."""

    path: str
    text: str
    title: str


def sentence(doc: str) -> str:
    """A doc string as a sentence; one that begins with a formula keeps its first letter."""
    capital = doc[:1].upper() + doc[1:] if doc[:2].isalpha() or doc[:2] == "a " else doc
    return f"{plain(capital)}." if doc else ""


def plain(text: str) -> str:
    """Text in which no letter means anything to Markdown."""
    for letter in "\\`*_[":
        text = text.replace(letter, f"\\{letter}")
    return text.replace("<", "&lt;")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; its cells are Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines)


def code(text: str, language: str, options: str = "") -> str:
    """A block of code."""
    return f"```{language}{options}\n{text.rstrip()}\n```"


def nested(found: Sequence[Page]) -> list[Any]:
    """The navigation as MkDocs takes it: pages below a folder stand under its name."""
    depth = min(page.path.count("/") for page in found)
    lists: dict[str, list[Any]] = {}
    entries: list[Any] = []
    for page in found:
        folder = "/".join(page.path.split("/")[: depth + 1]) if page.path.count("/") > depth else ""
        if folder and folder not in lists:
            lists[folder] = []
            entries.append({folder.rpartition("/")[2]: lists[folder]})
        is_index = page.path.endswith(("index.md", "README.md"))
        (lists[folder] if folder else entries).append(page.path if is_index else {page.title: page.path})
    return entries
