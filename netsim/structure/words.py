"""Sentences of the structural findings: lists of names, and the domain's or component's own words cut at their colon."""

from __future__ import annotations

from collections.abc import Iterable

from netsim.language.syntax import DomainDef

SHOWN = 5


def listed(names: Iterable[str]) -> str:
    """'a'; 'a' and 'b'; 'a', 'b' and 'c'; the first five and how many more."""
    quoted = [f"'{name}'" for name in names]
    if len(quoted) > SHOWN + 1:
        quoted = [*quoted[:SHOWN], f"{len(quoted) - SHOWN} more"]
    return quoted[0] if len(quoted) == 1 else ", ".join(quoted[:-1]) + " and " + quoted[-1]


def nodes_word(names: list[str]) -> str:
    """Nodes with their word: node 'a', nodes 'a' and 'b'."""
    return f"{'node' if len(names) == 1 else 'nodes'} {listed(names)}"


def advice(sentence: str, hint: str) -> tuple[str, str]:
    """An author's 'what is wrong: what to do' as (mark, hint); `hint` where the author gives none."""
    wrong, colon, remedy = sentence.partition(": ")
    return wrong, remedy if colon else hint


def floating(domain: DomainDef, names: list[str]) -> tuple[str, str]:
    """The domain's `floating` sentence as (mark, hint)."""
    sentence = domain.floating or "nothing determines {nodes}: tie one of them to ground"
    return advice(sentence.replace("{nodes}", listed(names)), "tie one of them to ground")


def quantity(domain: DomainDef) -> str:
    """What the across of a domain is called: potential, temperature, velocity."""
    return domain.across[0].doc.partition(" ")[0] or domain.across[0].name
