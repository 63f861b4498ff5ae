"""More of what the examples of the Modelica Standard Library need, against closed forms and independent integrations."""

import pytest

import netsim


def last(text):
    (samples,) = netsim.load(text).run()
    assert samples.finished, samples.message
    return lambda name: samples.series(name)[-1]


SWITCHED = """
use electrical
use signal
model switched (a, b : electrical) "a capacitor that carries charge from a to b"
  s1 two_way_switch (p, a, ground, on)
  c  capacitor      (p, n)  C = 0.1 F
  s2 two_way_switch (n, b, ground, on)
  clock boolean_pulse (on)  period = 0.1 s
end
src  voltage    (in_, ground)  v = 1 V*step(time, at = 0.2 s)
r1   switched   (in_, n1)
r3   switched   (n1, o1)
c1   capacitor  (n1, o1)  C = 1 F
op1  opamp      (ground, n1, o1)
c5   capacitor  (o1, n7)  C = 0.5 F
c6   capacitor  (n7, o3)  C = 1 F
op3  opamp      (ground, n7, o3)
run  transient(stop = 0.6 s)
save o1.v, o3.v
"""


def test_switched_capacitors_keep_every_charge():
    """1e5 A flow where a contact of 10 uOhm closes; what integrators hold must not move with them. In every period (1 + 0.1) u' = u + 0.1 V."""
    at, u = last(SWITCHED), 0.0
    for _ in range(4):
        u = (u + 0.1) / 1.1
    assert at("o1.v") == pytest.approx(-u, rel=1e-6) and at("o3.v") == pytest.approx(u / 2, rel=1e-6)
