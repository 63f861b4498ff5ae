"""What is known of expressions, as data: found once, kept on disk beside the machine code.

A kernel, the sparsity of derivatives, what depends on what: each is a fact with a name, asked for by `recall`. It is
found where it is asked for first, then kept as JSON in one file for a type, whose name is a digest of all that the
expressions are made of: the component's text, its domains, the counts, and the modules that build and read expressions.
"""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, TypeVar

from netsim.core.compiled import store
from netsim.core.compiled.digests import digest_of_parts
from netsim.text.kept.sources import digest_of

Found = TypeVar("Found")
_PACKAGE = Path(__file__).parents[2]
MADE_BY = (
    *("text", "library", "equations", "structure", "multibody", "initial/reactions", "simulate/setup"),
    *("results", "network/bindings.py", "network/signals.py", "network/tables.py", "core/rotation.py"),
    "core/problem.py",
)
"""Where expressions are built, and facts found of them."""
_writing = threading.Lock()


def tuples(value: Any) -> Any:
    """What JSON holds, with tuples for lists."""
    return tuple(map(tuples, value)) if type(value) is list else value


@dataclass(eq=False)
class Facts:
    """The facts about one form: in this process, and on disk under a name; without a name none are kept there."""

    name: str = ""
    found: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def texts(self) -> dict[str, str]:
        """What is on disk: facts as JSON by their names."""
        known: dict[str, str] = {}
        for about in store.code_descriptions(self.name) if self.name else ():
            known.update(about)
        return known

    def recall(
        self,
        what: tuple[Any, ...],
        find: Callable[[], Found],
        pack: Callable[[Found], Any] = lambda fact: fact,
        unpack: Callable[[Any], Found] = tuples,
    ) -> Found:
        """The fact called `what`, by `find` where it is not known. `pack` makes it tuples, numbers and texts; `unpack`
        takes lists for the tuples."""
        if what not in self.found:
            name = repr(what)
            text = self.texts.get(name)
            if text is None:
                self.found[what] = find()
                if self.name:
                    self._keep(name, json.dumps(pack(self.found[what]), separators=(",", ":")))
            else:
                self.found[what] = unpack(json.loads(text))
        return self.found[what]

    def _keep(self, name: str, text: str) -> None:
        """Write a fact beside those that are there by now."""
        with _writing:
            for about in store.code_descriptions(self.name):
                self.texts.update(about)
            self.texts[name] = text
            store.write_code(self.name, self.texts, b"")


def facts_of(*made_of: str) -> Facts:
    """The facts about what is made of these texts."""
    return Facts(f"facts-{digest_of_parts(_sources().encode(), *(each.encode() for each in made_of)).hex()[:40]}")


@cache
def _sources() -> str:
    return digest_of(_PACKAGE / each for each in MADE_BY)
