"""What `measure` and `assert` speak of: a run over time (or a characteristic), responses over frequency, or noise."""

from collections.abc import Iterator
from typing import Any

from netsim.library.component import names_in, plain_name
from netsim.network.network import Network
from netsim.results.over_frequency import densities, figures
from netsim.text.expressions.show import show_expression
from netsim.text.syntax import Call, Measure
from netsim.text.terms import Spanned

TIME, RESPONSES, NOISE = "time", "responses", "noise"
SUBJECTS = {**dict.fromkeys(figures.NAMES, RESPONSES), **dict.fromkeys(densities.NAMES, NOISE)}
"""Of functions of one kind of results alone."""
WANTED = {TIME: "run transient(...)", RESPONSES: "run ac(...)", NOISE: "run noise(...)"}
"""A line that asks for each."""


def calls_in(expr: Any) -> Iterator[Call]:
    """The calls in an expression that tell of what it speaks."""
    if isinstance(expr, Call) and expr.function in SUBJECTS:
        yield expr
    if isinstance(expr, Spanned):
        for value in vars(expr).values():
            for each in value if isinstance(value, tuple) else (value,):
                yield from calls_in(each[1] if isinstance(each, tuple) and len(each) == 2 else each)


def subject_of_expression(expr: Any) -> str:
    """Of what an expression speaks itself."""
    return next((SUBJECTS[call.function] for call in calls_in(expr)), TIME)


def subject_of(statement: Any, network: Network) -> str:
    """Of what a statement speaks, itself or by other figures."""
    return next((SUBJECTS[call.function] for call in _calls(statement, network)), TIME)


def noises_of(statement: Any, network: Network) -> dict[str, Call]:
    """The signals of whose noise a statement speaks, itself or by other figures, as they are written."""
    calls = (call for call in _calls(statement, network) if SUBJECTS[call.function] == NOISE and call.arguments)
    return {show_expression(call.arguments[0]): call for call in calls}


def _calls(statement: Any, network: Network) -> tuple[Call, ...]:
    known = vars(network).setdefault("subjects", {})  # the same for all values of parameters
    kept, found = known.get(id(statement), (None, ()))
    if kept is not statement:
        found = tuple(_calls_by(statement, network, []))
        known[id(statement)] = statement, found
    return found  # type: ignore[no-any-return]


def _calls_by(statement: Any, network: Network, by: list[Any]) -> Iterator[Call]:
    expr = statement.value if isinstance(statement, Measure) else statement.condition
    yield from calls_in(expr)
    read, by = {plain_name(name) for name in names_in(expr)}, [*by, statement]
    for other in network.measures:
        if other.name in read and not any(other is each for each in by):
            yield from _calls_by(other, network, by)
