"""Names that a netlist may use and that a module of netsim provides: methods, analyses, file formats.

A provider is a record with a `name`, and a module of a folder provides it by holding it under a name of its own. A
registry is the records by name: those of a folder, and further ones that `add` takes.
"""

from collections.abc import Callable, Iterable, Iterator, MutableMapping
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Protocol, TypeVar


class Named(Protocol):
    """What a registry holds."""

    @property
    def name(self) -> str: ...


Record = TypeVar("Record", bound=Named)


class Registry(MutableMapping[str, Record]):
    """Records by name. A module is imported when a name is asked for that is its own, all of them when something else
    is asked for."""

    def __init__(self, folder: ModuleType, kind: type[Record]):
        """Records of this kind that modules of the folder, or of folders in it, hold."""
        self._waiting = list(_modules(folder.__path__, folder.__name__))
        self._kind = kind
        self._shipped: dict[str, Record] = {}
        self._added: dict[str, Record] = {}

    def __getitem__(self, name: str) -> Record:
        if name in self._added:
            return self._added[name]
        if name not in self._shipped:
            self._load([each for each in self._waiting if each.rpartition(".")[2] == name])
        return self._shipped[name] if name in self._shipped else self._all()[name]

    def __setitem__(self, name: str, record: Record) -> None:
        self._added[name] = record

    def __delitem__(self, name: str) -> None:
        del self._added[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._all(), **self._added})

    def __len__(self) -> int:
        return len(self._all()) + len(self._added)

    def add(self, record: Record) -> None:
        """A record from outside the folder, in place of an earlier one of this name from there.

        Raises `ValueError` where netsim itself provides the name."""
        if record.name in self._all():
            raise ValueError(f"netsim itself provides '{record.name}': choose another name")
        self._added[record.name] = record

    def first(self, wanted: Callable[[Record], bool]) -> Record | None:
        """The first record that is wanted; modules behind the one that holds it are not imported."""
        for module in ([], *([each] for each in self._waiting)):
            self._load(module)
            found = next(filter(wanted, self._shipped.values()), None)
            if found:
                return found
        return next(filter(wanted, self._added.values()), None)

    def _all(self) -> dict[str, Record]:
        """The records of the folder. Raises `ValueError` where two have one name."""
        self._load(list(self._waiting))
        return self._shipped

    def _load(self, modules: list[str]) -> None:
        for module in modules:
            self._waiting.remove(module)
            for value in vars(import_module(module)).values():
                if isinstance(value, self._kind) and self._shipped.setdefault(value.name, value) is not value:
                    raise ValueError(f"two modules provide '{value.name}', one of them is {module}")


def _modules(paths: Iterable[str], package: str) -> Iterator[str]:
    """The modules of a package and of those in it, none of them imported."""
    for each in iter_modules(paths):
        name = f"{package}.{each.name}"
        yield name
        if each.ispkg:
            yield from _modules([str(Path(path, each.name)) for path in paths], name)
