"""Loops against python-control: margins and crossovers that `measure` finds, poles, zeros and the state space that `to_control` gives.

python-control finds margins from the roots of polynomials, netsim on the response itself: the two have nothing in common but the network.
"""

import control
import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

import netsim
from netsim.analyses.signals import ac
from netsim.analyses.signals.linear import identifiers

LOOPS = {
    "three lags": (
        """
use signal
w   signal_source  (e)     value = 0
p1  first_order    (e, a)  k = 4, T = 1 s
p2  first_order    (a, b)  k = 1.5, T = 0.1 s
p3  first_order    (b, y)  k = 2, T = 0.5 s
""",
        "w.value", "y", "from = 1 mHz, to = 100 Hz",
    ),
    "controller of a motor": (
        """
use signal
use electrical
use rotational
use couplings
w      signal_source  (e)               value = 0
c      pi             (e, u)            k = 2, Ti = 0.05 s
lag    first_order    (u, uv)           k = 1, T = 2 ms
src    voltage        (top, ground)     v = lag.y*(1 V)
motor  dc_motor       (top, ground, s)  R = 2 Ohm, L = 3 mH, k = 0.1 N.m/A
rotor  inertia        (s)               J = 1e-4 kg.m2
brush  torsion_damper (s, ground)       d = 1e-4 N.m.s
""",
        "w.value", "s.w", "at = 0 s, from = 0.1 Hz, to = 10 kHz",
    ),
    "two masses with a lead": (
        """
use signal
use translational
w   signal_source  (e)     value = 0
c   lead_lag       (e, u)  k = 30, T1 = 0.5 s, T2 = 0.01 s
f1  force    (a)            F = c.y*(1 N)
m1  mass     (a)            m = 2 kg
s1  spring   (a, ground)    c = 20 N/m
d1  damper   (a, ground)    d = 8 N.s/m
k1  spring   (a, b)         c = 900 N/m
d2  damper   (a, b)         d = 2 N.s/m
m2  mass     (b)            m = 0.5 kg
""",
        "w.value", "a.x", "from = 10 mHz, to = 1 kHz",
    ),
    "zero on the right": (
        """
use signal
w   signal_source      (e)     value = 0
p1  transfer_function  (e, y)  n = 3, a = [6, 11, 6], b = [5, -1, 0]
""",
        "w.value", "y", "from = 1 mHz, to = 100 Hz",
    ),
    "twin tee": (
        """
use electrical
src  voltage    (a, ground)  v = 0 V
r1   resistor   (a, b)       R = 10 kOhm
r2   resistor   (b, y)       R = 10 kOhm
c3   capacitor  (b, ground)  C = 20 nF
c1   capacitor  (a, c)       C = 10 nF
c2   capacitor  (c, y)       C = 10 nF
r3   resistor   (c, ground)  R = 5.5 kOhm
r4   resistor   (y, ground)  R = 1 MOhm
""",
        "src.v", "20*y.v", "from = 1 Hz, to = 1 MHz",
    ),
    "pendulum on a cart": (
        """
use planar
use signal
world gravity = [0, -9.81, 0] m/s2
w     signal_source    (e)          value = 0
c     lead_lag         (e, u)       k = -60, T1 = 0.2 s, T2 = 0.005 s
rail  planar_prismatic (ground, b)  at = [0, 0] m
cart  planar_body      (b)          m = 1 kg, I = 1 kg.m2, at = [0, 0] m
pin   planar_revolute  (b, rod)     at = [0, 0] m
bob   planar_body      (rod)        m = 0.3 kg, I = 1e-2 kg.m2, at = [0, 0.5] m
drag  planar_slide_force (ground, b) at = [0, 0] m, F = c.y*(1 N)
""",
        "w.value", "pin.q", "at = 0 s, from = 10 mHz, to = 1 kHz",
    ),
}  # fmt: skip


def looked_at(name):
    """The measures of a loop, by name, and its state space."""
    text, source, loop, grid = LOOPS[name]
    measures = "".join(f"measure {each} = {each}({loop})\n" for each in ("gain_margin", "phase_margin", "crossover"))
    plain = loop.removeprefix("20*")
    model = netsim.load(f"{text}run ac(input = {source}, {grid})\nsave {plain}\n{measures}")
    (samples,) = model.samples()
    at = {"at": 0.0} if "at = 0 s" in grid else {}
    return {f.name: f.value for f in samples.figures}, model.linearise(inputs=[source], save=[plain], **at), 20.0 if plain != loop else 1.0


def apart(found, wanted):
    """The largest distance of two sets of roots of equal number, root by root, beside the largest root of the two."""
    assert len(found) == len(wanted)
    if not len(found):
        return 0.0
    distances = np.abs(np.asarray(found)[:, None] - np.asarray(wanted))
    return distances[linear_sum_assignment(distances)].max() / np.abs(wanted).max()


@pytest.mark.filterwarnings("ignore:invalid value encountered")
@pytest.mark.parametrize("name", LOOPS)
def test_margins(name):
    """The least margins and the last crossover to 1e-9; where netsim says that there is none, python-control has none below 1e9."""
    found, linear, gain = looked_at(name)
    gains, phases, _, _, crossings, _ = control.stability_margins(gain * linear.to_control(), returnall=True)
    gains, phases = gains[(gains > 1e-9) & (gains < 1e9)], np.radians(phases)
    for ours, theirs, size in (
        ("gain_margin", gains, np.abs(np.log(gains))),
        ("phase_margin", phases, np.abs(phases)),
        ("crossover", crossings / (2 * np.pi), -crossings),
    ):
        if np.isnan(found[ours]):
            assert not len(theirs)
        else:
            assert found[ours] == pytest.approx(theirs[np.argmin(size)], rel=1e-9)


@pytest.mark.parametrize("name", LOOPS)
def test_poles_zeros_and_responses(name):
    _, linear, _ = looked_at(name)
    system = linear.to_control()
    assert isinstance(system, control.StateSpace) and system.dt == 0
    assert apart(linear.zeros(), system.zeros()) < 1e-9
    assert apart(linear.poles, system.poles()) < 1e-9
    f = np.logspace(-1, 3, 9)
    assert np.abs(system(2j * np.pi * f) / linear.frequency_response(f)[:, 0, 0] - 1).max() < 1e-9


def test_a_state_space_keeps_its_matrices_and_names():
    """Two inputs and two outputs; python-control refuses dots in the names of these."""
    text = LOOPS["two masses with a lead"][0].replace("F = c.y*(1 N)", "F = 0 N")
    linear = netsim.load(text).linearise(inputs=["f1.F", "w.value"], save=["a.x", "b.v", "u"])
    system = linear.to_control()
    assert (system.input_labels, system.output_labels) == (["f1_F", "w_value"], ["a_x", "b_v", "u"])
    assert system.state_labels == list(linear.states)
    for theirs, ours in zip((system.A, system.B, system.C, system.D), (linear.a, linear.b, linear.c, linear.d)):
        assert np.array_equal(theirs, ours)
    assert identifiers(["a.b.c", "a.b_c", "a_b_c", "y"]) == ["a_b_c", "a_b_c_", "a_b_c__", "y"]


def test_a_measure_adds_the_frequencies_that_it_looks_at():
    """Of a curve that measures read there is a frequency within 1e-9 of each number; the numbers of other curves add none."""
    assert (ac.LOOKS, ac.SAME) == (6, 1e-9)
    text, source, _, grid = LOOPS["three lags"]
    plain = netsim.load(f"{text}run ac(input = {source}, {grid})\nsave y, a\n")
    read = netsim.load(f"{text}run ac(input = {source}, {grid})\nsave y, a\nmeasure m = crossover(-y)\nmeasure g = gain(a, 3 Hz)\n")
    f, g = (model.samples()[0].time for model in (plain, read))
    more = np.setdiff1d(g, f)
    assert set(f) < set(g) and len(more) <= 5
    assert np.abs(more - 0.7029061138944038).min() < 1e-9 and np.abs(more - 3.0).min() < 1e-12
    given = netsim.load(f"{text}run ac(input = {source}, frequencies = [0.5 Hz, 1 Hz, 2 Hz])\nsave y\nmeasure m = crossover(y)\n")
    assert given.samples()[0].time.tolist() == [0.5, 1.0, 2.0]
