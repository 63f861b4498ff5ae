"""What hangs on nodes: the asserts of their domain (conditions on single numbers among its across and integral
quantities), elements that a component puts beside itself, and the reference positions that it states."""

from typing import Any

from netsim.library.component import (
    CONSTANTS,
    WORLD,
    Component,
    dimension,
    names_in,
    plain_name,
    resolve_name,
    root_of,
)
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import DomainDef, Expr, Name, Part


def check_domain(domain: DomainDef) -> list[Problem]:
    """Unknown names, vectors, and sides of different dimension in the asserts of a domain."""
    if len(domain.through) != len(domain.across):
        counts = f"{len(domain.across)} across and {len(domain.through)} through"
        hint = "they correspond in order: what flows, and what drives it"
        return [Problem("E264", f"domain '{domain.name}' has {counts} quantities", domain.span, hint=hint)]
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


def check_company(component: Component) -> list[Problem]:
    """Elements beside others hang on parameters, between terminals."""
    params, problems = {p.name for p in component.definition.params}, []
    for each in component.definition.company:
        for name in (each.given, *each.missing):
            if name not in params:
                problems.append(Problem("E206", f"'{name}' is no parameter", each.span, hint=nearest(name, params)))
        for node in each.instance.nodes:
            if plain_name(node) not in {*component.terminals, "ground"}:
                problems.append(
                    Problem(
                        "E212",
                        f"'{plain_name(node)}' is no terminal",
                        node.span,
                        hint=nearest(str(plain_name(node)), component.terminals),
                    )
                )
    return problems


def check_places(component: Component) -> list[Problem]:
    """Places belong to terminals, and consist of what does not change: parameters, counts and lets of these."""
    problems, definition = [], component.definition
    lets = {let.name: let for let in definition.lets}
    still = {*CONSTANTS, *WORLD, *lets, *(p.name for p in definition.params), *(c.name for c in definition.counts)}
    for place in definition.places:
        if place.terminal not in component.terminals:
            hint = nearest(place.terminal, component.terminals)
            problems.append(Problem("E212", f"'{place.terminal}' is no terminal", place.span, hint=hint))
            continue
        names, seen = list(names_in(place.value)), set[str]()
        while names:
            word = str(plain_name(name)) if plain_name(name := names.pop()) else name.parts[0].text
            if word not in still:
                hint = nearest(word, still) or "a place consists of parameters, counts and lets of these"
                problems.append(Problem("E206", f"'{word}' is no parameter", name.span, hint=hint))
            elif word in lets and word not in seen:
                seen.add(word)
                names += names_in(lets[word].value)
    return problems


def read_in(condition: Expr) -> list[Name]:
    """The quantities of a node that an assert of its domain reads."""
    return list({str(plain_name(name)): name for name in names_in(condition)}.values())


def check_noises(component: Component, trial: Any) -> None:
    """Noise belongs to one number that an equation or a let gives, in its unit squared and per Hz; flicker without."""
    d = component.definition
    for noise in d.noises:
        trial.value(noise.value, dimension(noise.unit), ())
        known = {*(str(plain_name(e.left)) for e in d.equations), *(let.name for let in d.lets)}
        if noise.name not in known:
            message = f"no equation gives '{noise.name}', so that noise could be added to it"
            hint = nearest(noise.name, known) or "write the equation as name = ..., or a let"
            trial.problems.append(Problem("E206", message, noise.span, hint=hint))
        else:
            trial.value(Name((Part(noise.name),), span=noise.span), root_of(noise), ())
