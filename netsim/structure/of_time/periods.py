"""Periods of functions of time, from their texts."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from netsim.library.component import plain_name
from netsim.structure.of_time.switching import NO_FUNCTION_OF_TIME, Series, Text, inside, switching_of
from netsim.text.syntax import Call

STRAIGHT = 1e-7
"""A function of time is a straight line that differs from one by less than this share of its change."""


def periods_of(expr: Any, text: Text) -> Iterator[float]:
    """Periods of sines, and of what passes whole numbers."""
    for switching, whole in switching_of(expr, text):
        if whole and (slope := _slope(switching)):
            yield 1.0 / slope
    yield from waves_of(expr, text)


def waves_of(expr: Any, text: Text) -> Iterator[float]:
    """Periods of sines of a straight function of the time."""
    for call, within in _calls(expr, text):
        argument = call.arguments[0] if call.arguments else None
        if argument is None or call.function not in ("sin", "cos", "tan", "sine"):
            continue
        slope = _slope(within.series(argument))
        if call.function == "sine" and slope:
            given = dict(call.keywords)
            frequency = given.get("frequency", call.arguments[2] if len(call.arguments) > 2 else None)
            slope *= 2.0 * np.pi * within.series(frequency)(0.0) if frequency is not None else 0.0
        if slope:
            yield 2.0 * np.pi / abs(slope)


def _calls(expr: Any, text: Text) -> Iterator[tuple[Call, Text]]:
    """Every call in an expression, also behind lets."""
    if isinstance(expr, Call):
        yield expr, text
    inner = text.lets.get(plain_name(expr) or "")
    for part in inside(expr) if inner is None else (inner,):
        yield from _calls(part, text)


def _slope(series: Series) -> float:
    """The slope of a function of time that is a straight line; 0 for any other."""
    try:
        first, middle, last = (float(series(t)) for t in (0.0, 1.0, 2.0))
    except NO_FUNCTION_OF_TIME:
        return 0.0
    straight = abs(last - 2.0 * middle + first) <= STRAIGHT * abs(last - first)
    return abs(last - first) / 2.0 if straight else 0.0
