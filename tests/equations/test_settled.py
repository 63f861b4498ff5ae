"""Equations of discretes that would change between events, where nothing sees it, are refused."""

import pytest

import netsim

BLOCK = """use signal
component levels (in u, out y : signal) "a discrete of a continuous signal"
  param    s = 1  "a threshold"
  discrete n : 1 = 9
  discrete on : 1 = 0
  on = u > s
  {}
  y = n
end
src signal_source (a) value = sin(time/(1 s))
k   levels        (a, b)
save b
"""


@pytest.mark.parametrize(
    "line",
    [
        "n = floor(10*u)",
        "n = 10*u",
        "n = if u > 0.5 then 10*u else 3",
        "n = if on then u else pre(n)",
        "n = sign(u - 0.5)",
        "n = mod(10*u, 2)",
        "n = min(u, 0.5)",
        "n = s*u",
        "n = 10*pre(u)",
        "n = floor(time/(0.3 s))",
    ],
)
def test_a_discrete_that_would_change_between_events_is_refused(line):
    with pytest.raises(netsim.InputError, match="E217 discrete 'n' changes at events only"):
        netsim.load(BLOCK.format(line)).transient(stop=1)


@pytest.mark.parametrize(
    "line",
    [
        "n = if on then 1 else 2",
        "n = if on and not pre(on) then u else pre(n)",
        "n = if pre(n) > floor(10*u) then pre(n) - 1 else pre(n)",
        "n = if abs(u - pre(n)) > 0.1 then u else pre(n)",
        "n = if s > 0.5 then s else 2",
        "when sample(0 s, 0.1 s) : n = floor(10*u)",
        "when u > 0.5 : n = time/(1 s)",
    ],
)
def test_what_is_taken_at_events_is_not(line):
    netsim.load(BLOCK.format(line)).transient(stop=0.1)
