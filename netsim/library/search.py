"""Components by words: what `netsim list WORD` finds where WORD is no name, and what somebody may have meant by a type
that is not there. Words are those of names and sentences, and the field's other words in `library/words.txt`."""

import re
from collections.abc import Mapping
from functools import lru_cache

from netsim.library.files import Library, library_folder
from netsim.text.errors import did_you_mean, nearest
from netsim.text.syntax import ComponentDef, ModelDef

Definition = ComponentDef | ModelDef


@lru_cache(maxsize=1)
def other_words() -> Mapping[str, str]:
    """Component -> the other words of the field for it, from `library/words.txt`."""
    found: dict[str, list[str]] = {}
    for line in (library_folder() / "words.txt").read_text(encoding="utf-8").splitlines():
        words, colon, names = line.partition("#")[0].partition(":")
        for name in names.split(",") if colon else ():
            found.setdefault(name.strip(), []).append(words.strip())
    return {name: " ".join(words) for name, words in found.items()}


def definitions(library: Library) -> list[Definition]:
    """Components and the models made of them."""
    return [*library.components.texts(), *library.models.values()]


def search(words: str, library: Library) -> list[Definition]:
    """Components and models in which every word begins some word; first those that have it in the name or among the
    other words, then those that have it in the sentence; of each first those whose name has least beside the words, as
    `voltage` before `three_phase_voltage` for "voltage source"."""
    near, far = _found(words, library)
    return near + far


GROUND = frozenset(["anchor", "clamp", "earth", "fixed", "frame", "gnd", "ground", "support", "wall"])
"""What other programs call the element that holds a node at rest, or at 0 V."""


def suggestion_for_type(kind: str, library: Library) -> str:
    """The hint for a type that is not there: "did you mean 'voltage'?" for `voltage_source`. What the
    field calls so goes first, then a name of nearly the same letters; '' where there is none."""
    if kind.lower() in GROUND:
        return "the node 'ground' is that, without an element: s1 spring (a, ground) ..."
    near, far = _found(kind, library)
    return did_you_mean([each.name for each in near[:2] or far[:1]]) or nearest(kind, library.types())


def _found(words: str, library: Library) -> tuple[list[Definition], list[Definition]]:
    """What has all words in its name or the other words for it, and what has them in its sentence."""
    wanted = _words(words)
    near, far = [], []
    for each in definitions(library) if wanted else ():
        close = _words(f"{each.name} {other_words().get(each.name, '')}")
        if _begins(wanted, close):
            near.append(each)
        elif _begins(wanted, close | _words(each.doc)):
            far.append(each)

    def beside(each: Definition) -> int:
        return sum(not any(word.startswith(begin) for begin in wanted) for word in _words(each.name))

    return sorted(near, key=beside), sorted(far, key=beside)


def _words(text: str) -> set[str]:
    """Lower-case words; a plural counts as its singular."""
    return {w[:-1] if len(w) > 3 and w.endswith("s") else w for w in re.findall(r"[^\W_]+", text.lower())}


def _begins(wanted: set[str], words: set[str]) -> bool:
    return all(any(w == has or (len(w) > 2 and has.startswith(w)) for has in words) for w in wanted)
