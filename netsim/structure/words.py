"""Sentences of the structural findings: nodes with their word, and the domain's own words."""

from __future__ import annotations

from netsim.language.syntax import DomainDef
from netsim.solvers.words import advice, quoted


def nodes_word(names: list[str]) -> str:
    """Nodes with their word: node 'a', nodes 'a' and 'b'."""
    return f"{'node' if len(names) == 1 else 'nodes'} {quoted(names)}"


def floating(domain: DomainDef, names: list[str]) -> tuple[str, str]:
    """The domain's `floating` sentence as (mark, hint)."""
    sentence = domain.floating or "nothing determines {nodes}: tie one of them to ground"
    return advice(sentence.replace("{nodes}", quoted(names)), "tie one of them to ground")


def quantity(domain: DomainDef) -> str:
    """What the across of a domain is called: potential, temperature, velocity."""
    return domain.across[0].doc.partition(" ")[0] or domain.across[0].name
