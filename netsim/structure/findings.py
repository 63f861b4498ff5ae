"""The diagnosis before any number is computed: what the structure of a network leaves undetermined, prescribes twice or
cannot follow."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from netsim.equations.system import System
from netsim.library.component import is_kinematic
from netsim.network.values import Values
from netsim.structure.causes import Picture, singular
from netsim.structure.of_time.smoothness import FunctionInUse, functions_in_use, too_rough_inputs
from netsim.structure.rest import begins_static, resting, unsettled
from netsim.structure.unconnected import unconnected_terminals
from netsim.text.collecting import collection_paused
from netsim.text.errors import Problem


def findings(system: System, values: Values | None = None, known: dict[str, Any] | None = None) -> list[Problem]:
    """Errors E301 .. E309 and notes N301, N306, one per cause; empty for a healthy network.

    Ranks are those at generic parameters and states, so a finding holds for (almost) every value the parameters may
    take, and no network that can be solved is refused. They are kept in `known`; how smooth functions of time are
    depends on the values."""
    known = {} if known is None else known
    if "structure" not in known:
        known["structure"] = _of_structure(system)
    problems, suspects = known["structure"]
    return sorted([*problems, *_once(too_rough_inputs(suspects, values or Values(system.network)))], key=_place)


@collection_paused()
def _of_structure(system: System) -> tuple[list[Problem], list[FunctionInUse]]:
    """What no parameter value changes, and functions of time that may be too rough.

    The later questions make sense only once the first has no answer."""
    if not system.n:
        return [], []
    picture = Picture(system)
    broken = [(problem, unknowns) for problem, unknowns in singular(picture) if not _only_reactions(system, unknowns)]
    explained = frozenset(u for _, unknowns in broken for u in unknowns)
    problems = (
        [problem for problem, _ in broken] + resting(picture, explained) + unconnected_terminals(picture, explained)
    )
    return list(_once(problems)), [] if broken else functions_in_use(picture)


@collection_paused()
def at_rest(system: System, for_static: bool) -> list[Problem]:
    """What the static solution leaves undetermined (E302) where no run line asked; `for_static` is an analysis of it
    alone."""
    asked = system.network.runs and begins_static(system.network) and not for_static
    return [] if asked or not system.n else list(_once(unsettled(Picture(system), frozenset(), for_static)))


def _once(problems: list[Problem]) -> Iterator[Problem]:
    """The problems without repetitions: a line repeated by `for`, or a model used often, gives one message."""
    groups: dict[tuple, list[Problem]] = {}
    for problem in problems:
        groups.setdefault((problem.code, problem.span or problem), []).append(problem)
    for first, *others in groups.values():
        more = f", and the same {len(others)} more {'time' if len(others) == 1 else 'times'}" if others else ""
        yield replace(first, message=first.message + more)


def _only_reactions(system: System, unknowns: frozenset[int]) -> bool:
    """Whether reactions of joints in space or in the plane are undetermined, alone or with what drives them: their
    constraints may repeat one another where the mechanism is drawn, and the solver, which sees that, copes."""
    joints: set[int] = set()
    driven: set[int] = set()
    for batch in system.batches:
        domains = (
            [batch.instances[0].component.domain(t) for t in batch.instances[0].component.terminals]
            if batch.instances
            else []
        )
        own = {int(u) for key, numbers in batch.unknowns.items() if key[0] == "own" for u in numbers}
        if any(is_kinematic(d) and any(q.size for q in d.across) for d in domains):
            joints |= own
        elif all(map(is_kinematic, domains)):
            driven |= own
    return bool(unknowns & joints) and unknowns <= joints | driven


def _place(problem: Problem) -> tuple[bool, str, int, int]:
    span = problem.span
    return (problem.is_note, span.file if span else "", span.line if span else 0, span.column if span else 0)
