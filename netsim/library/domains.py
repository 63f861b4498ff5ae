"""What a domain asserts of its nodes: conditions on single numbers among its across and integral quantities."""

from __future__ import annotations

from netsim.library.component import dimension, names_in, plain_name, resolve_name
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import DomainDef, Expr, Name


def check_domain(domain: DomainDef) -> list[Problem]:
    """Unknown names, vectors, and sides of different dimension in the asserts of a domain."""
    units = {q.name: dimension(q.unit) for q in (*domain.across, *domain.integral) if not q.size}

    def value(text: str) -> Typed | None:
        return Typed(0.7, units[text]) if text in units else None

    scope = Scope(lambda name: resolve_name(name, value, units))
    problems: list[Problem] = []
    for claim in domain.asserts:
        try:
            evaluate(claim.condition, scope)
        except InputError as error:
            problems += error.problems
    return problems


def read_in(condition: Expr) -> list[Name]:
    """The quantities of a node that an assert of its domain reads."""
    return list({str(plain_name(name)): name for name in names_in(condition)}.values())
