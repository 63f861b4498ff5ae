"""Signals of an earlier run as tables of a later one."""

from typing import Any

from netsim.results.measuring.splines import rates, spline
from netsim.results.samples import Samples
from netsim.text.errors import InputError, Problem, nearest


def series_of_run(call: Any, samples: Samples | None) -> Any:
    """Time, value and two rates of a run's signal; rates by a cubic spline where they were not sampled."""
    from netsim.text.expressions.show import show_expression

    if samples is None:
        return None
    signal = show_expression(call.signal)
    try:
        x = samples.series(signal)
    except KeyError:
        hint = nearest(signal, [s.name for s in samples.signals]) or "add it to a save line"
        raise InputError(
            Problem("E244", f"the earlier run did not save '{signal}'", call.call.span, hint=hint)
        ) from None
    if signal in samples.rates:
        return samples.time, x, *samples.rates[signal]
    return samples.time, x, *rates(samples.time, spline(samples.time, x))
