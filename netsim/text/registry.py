"""Names that a netlist may use and that a module of netsim provides: methods, analyses, file formats.

A provider is a record with a `name`, and a module of a folder provides it by holding it under a name of its own. A
registry is the records by name. It begins with those of a folder; `add` takes further ones.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Protocol, TypeVar


class Named(Protocol):
    """What a registry holds."""

    @property
    def name(self) -> str: ...


Record = TypeVar("Record", bound=Named)


class Registry(dict[str, Record]):
    """Records by name; those of netsim itself are not replaced."""

    def __init__(self, folder: ModuleType, kind: type[Record]):
        """Every record of this kind that a module of the folder, or of a folder in it, holds.

        Raises `ValueError` where two have one name."""
        super().__init__()
        self.shipped: frozenset[str] = frozenset()
        for module in walk_packages(folder.__path__, f"{folder.__name__}."):
            for value in vars(import_module(module.name)).values():
                if isinstance(value, kind) and self.setdefault(value.name, value) is not value:
                    raise ValueError(f"two modules provide '{value.name}', one of them is {module.name}")
        self.shipped = frozenset(self)

    def add(self, record: Record) -> None:
        """A record from outside the folder, in place of an earlier one of this name from there.

        Raises `ValueError` where netsim itself provides the name."""
        if record.name in self.shipped:
            raise ValueError(f"netsim itself provides '{record.name}': choose another name")
        self[record.name] = record
