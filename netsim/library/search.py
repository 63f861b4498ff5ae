"""Components by words: what `netsim list WORD` finds where WORD is no name. Words are those of names and sentences, and
the field's other words in `library/words.txt`."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from netsim.library.files import library_folder


@lru_cache(maxsize=1)
def other_words() -> Mapping[str, str]:
    """Component -> the other words of the field for it, from `library/words.txt`."""
    found: dict[str, list[str]] = {}
    for line in (library_folder() / "words.txt").read_text(encoding="utf-8").splitlines():
        words, colon, names = line.partition("#")[0].partition(":")
        for name in names.split(",") if colon else ():
            found.setdefault(name.strip(), []).append(words.strip())
    return {name: " ".join(words) for name, words in found.items()}


def search(words: str, described: Iterable[tuple[str, str]]) -> list[str]:
    """Names among (name, sentence) in which every word begins some word; first those that have it in the name or among
    the other words, then those that have it in the sentence."""
    wanted = _words(words)
    near, far = [], []
    for name, sentence in described if wanted else ():
        close = _words(f"{name} {other_words().get(name, '')}")
        if _begins(wanted, close):
            near.append(name)
        elif _begins(wanted, close | _words(sentence)):
            far.append(name)
    return near + far


def _words(text: str) -> set[str]:
    """Lower-case words; a plural counts as its singular."""
    return {w[:-1] if len(w) > 3 and w.endswith("s") else w for w in re.findall(r"[^\W_]+", text.lower())}


def _begins(wanted: set[str], words: set[str]) -> bool:
    return all(any(w == has or (len(w) > 2 and has.startswith(w)) for has in words) for w in wanted)
