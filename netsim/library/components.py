"""The components that one program sees: made when they are asked for, and shared with other programs."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from netsim.library.component import Component
from netsim.library.functions import Functions
from netsim.text.syntax import ComponentDef, DomainDef


class Components(Mapping[str, Component]):
    """Components by name, each with its functions written out when it is asked for."""

    def __init__(self, definitions: Mapping[str, ComponentDef], functions: Functions, domains: Mapping[str, DomainDef]):
        self._definitions, self._functions, self._domains = definitions, functions, domains
        self._made: dict[str, Component] = {}

    def __getitem__(self, name: str) -> Component:
        if name not in self._made:
            self._made[name] = _component(self._definitions[name], self._functions, self._domains)
        return self._made[name]

    def texts(self) -> list[ComponentDef]:
        """The definitions with the lines of their bases, calls of functions as they are written."""
        return [replace(d, bases=()) if d.bases else d for d in self._definitions.values()]

    def __contains__(self, name: object) -> bool:
        return name in self._definitions

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)


def _component(definition: ComponentDef, functions: Functions, domains: Mapping[str, DomainDef]) -> Component:
    """The component of a definition. Programs with definitions of their own collect their libraries anew: what these
    define is the same component for all of them, with its checks, forms and kernels, where functions and domains are
    the same."""
    before = vars(definition).get("component")
    if before is not None:
        known, made = before
        if _same(known.definitions, functions.definitions) and _same(made.domains, domains):
            return made
    made = Component(functions.written_out(definition), domains)
    vars(definition)["component"] = functions, made
    return made


def _same(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Whether both have the same objects under the same names."""
    return len(one) == len(other) and all(other.get(name) is value for name, value in one.items())
