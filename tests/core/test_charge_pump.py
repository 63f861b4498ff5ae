"""A charge pump whose switches close in ramps of half a microsecond: node voltages inside the ramps, against an independent integration.

Every capacitor has a resistance in series, so that the node voltages follow the conductances of the switches at once. The reference integrates
the three capacitor voltages alone, from time event to time event, and solves for the nodes at each sample."""

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from netsim import load

PERIOD, RAMP, WIDTH, STOP = 10e-6, 0.5e-6, 4e-6, 200e-6
SUPPLY, ESR, LOAD, CAPACITY = 12.0, 0.5, 1e3, 1e-6
FLANKS = "width = 4 us, rise = 0.5 us, fall = 0.5 us, period = 10 us"
TEXT = f"""use electrical
supply voltage (a, ground) v = 12 V
s1 switch (a, b) closed = pulse(time, {FLANKS}), Ron = 1 Ohm
c1 capacitor (b, b1) C = 1 uF, start v = 0 V
r1 resistor (b1, d) R = 0.5 Ohm
k1 voltage (d, ground) v = 12 V*pulse(time, at = 5 us, {FLANKS})
s2 switch (b, e) closed = pulse(time, at = 5 us, {FLANKS}), Ron = 1 Ohm
c2 capacitor (e, e1) C = 1 uF, start v = 0 V
r2 resistor (e1, h) R = 0.5 Ohm
k2 voltage (h, ground) v = 12 V*pulse(time, {FLANKS})
s3 switch (e, f) closed = pulse(time, {FLANKS}), Ron = 1 Ohm
r3 resistor (f, g) R = 0.5 Ohm
c3 capacitor (g, ground) C = 1 uF, start v = 0 V
load resistor (f, ground) R = 1 kOhm
run transient(stop = 200 us, sample = 0.05 us)
save b.v, e.v, f.v, c1.v, c2.v, c3.v
"""


def pulse(t, at):
    """The clock of the netlist: 1 for `WIDTH` after a flank of `RAMP`."""
    since = np.mod(t - at, PERIOD) if t >= at else -1.0
    return np.clip(min(since / RAMP, (2 * RAMP + WIDTH - since) / RAMP), 0.0, 1.0)


def nodes(t, u):
    """Node voltages b, e, f, and the currents into the three capacitors that hold the voltages u."""
    p, q = pulse(t, 0.0), pulse(t, PERIOD / 2)
    g1, g2, g3 = (1.0 / (1e7 * 1e-7**closed) for closed in (p, q, p))
    g, behind = 1 / ESR, u + SUPPLY * np.array([q, p, 0.0])
    matrix = [[g1 + g2 + g, -g2, 0.0], [-g2, g2 + g3 + g, -g3], [0.0, -g3, g3 + g + 1 / LOAD]]
    v = np.linalg.solve(matrix, g * behind + [SUPPLY * g1, 0.0, 0.0])
    return v, g * (v - behind)


@cache
def reference():
    """Samples of b, e, f and the capacitors every 0.05 us."""
    times, u = np.linspace(0.0, STOP, 4001), np.zeros(3)
    cycle = [0.0, RAMP, RAMP + WIDTH, PERIOD / 2, PERIOD / 2 + RAMP, PERIOD - RAMP]
    time_events = np.append((np.arange(0.0, STOP / PERIOD - 0.5)[:, None] * PERIOD + cycle).ravel(), STOP)
    rows = np.zeros((len(times), 6))
    for begin, end in pairwise(time_events):
        inside = np.flatnonzero((times > begin - 1e-12) & (times < end + 1e-12))
        at = np.clip(times[inside], begin, end)
        solved = solve_ivp(lambda t, x: nodes(t, x)[1] / CAPACITY, (begin, end), u, "DOP853", rtol=1e-12, atol=1e-13, dense_output=True)
        rows[inside] = [[*nodes(t, solved.sol(t))[0], *solved.sol(t)] for t in at]
        u = solved.y[:, -1]
    return times, rows


CASES = [(m, r) for m in ("radau", "bdf", "trbdf2") for r in (1e-3, 1e-4, 1e-6, 1e-8) if (m, r) != ("trbdf2", 1e-8)]  # a million steps


@pytest.mark.parametrize(("method", "rtol"), CASES)
def test_node_voltages_inside_the_ramps_of_switches(method, rtol):
    (samples,) = load(TEXT).samples({"method": method, "rtol": rtol})
    assert samples.finished and not samples.broken
    times, rows = reference()
    assert samples.time == pytest.approx(times, abs=1e-12)
    assert rows[:, :3].max() > 23.0  # of the 36 V that an unloaded one would reach
    off = np.abs(samples.values - rows).max(axis=0) / np.ptp(rows, axis=0)
    assert off.max() < 10 * rtol, dict(zip(("b", "e", "f", "c1", "c2", "c3"), off))
