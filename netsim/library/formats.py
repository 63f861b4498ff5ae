"""The file formats by name and by suffix."""

from pathlib import Path

from netsim import formats
from netsim.formats.format import Format
from netsim.text.registry import Registry

FORMATS = Registry(formats, Format)
OWN = (".net", ".lib")
"""Suffixes of this language."""


def format_of(path: Path) -> Format | None:
    """The format with a file's suffix; None for netlists and libraries of this language, and for other files."""
    suffix = path.suffix.lower()
    if suffix in OWN:
        return None
    return FORMATS.first(lambda each: suffix in each.suffixes)


def result_suffixes() -> list[str]:
    """The suffixes of files that results can be written to."""
    return [suffix for each in FORMATS.values() if each.write for suffix in each.suffixes]
