"""Impacts of bodies that turn in space: velocities behind an impulse are nearest in the metric of kinetic energy, with all
moments of inertia, in machines of any size and in both kinds of coordinates."""

import numpy as np
import pytest

import netsim

ARM = """use spatial
use translational
world gravity = [0, 0, 0] m/s2
param s = 1 m
let m = 100 kg/m^3*s^3
component hit (p : translational) "impact at l without loss"
  param l : m
  branch p -> ground : x, v, f
  discrete hits : 1 = 0
  when x > l and v > 0 : reinit v = -pre(v); hits = pre(hits) + 1
  f = 0
end
disc   body              (a)          m = m, I = m*s^2*diag(0.02, 0.03, 0.04), at = s*[0.1, 0, 0]
block  body              (b)          m = 2*m, I = m*s^2*diag(0.03, 0.03, 0.05), at = s*[0, 0.4, 0]
hinge  revolute          (ground, a)  at = s*[0, 0, 0], axis = [0, 0, 1]
slide  prismatic_driven  (a, b, f)    at = s*[0, 0.4, 0], axis = [1, 0, 0]
stop   hit               (f)          l = 0.3*s
start  hinge.rate = HINGE rad/s
start  slide.rate = SLIDE m/s
save   hinge.rate, slide.q, slide.rate, stop.hits
run    transient(stop = TIME s)
"""


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e3])
@pytest.mark.parametrize("formulation", ["absolute", "tree"])
def test_an_impact_keeps_moment_of_momentum_and_energy(size, formulation):
    """A block slides on an arm that turns and is thrown back: the impulse, which does not pass through the hinge, turns
    the arm as its moment of inertia says."""
    text = ARM.replace("HINGE", "0.5").replace("SLIDE", repr(0.8 * size)).replace("TIME", "0.6")
    model = netsim.load(text).with_params(s=size)
    run = model.transient(stop=0.6, sample=0.05, rtol=1e-8, formulation=formulation)
    assert run["stop.hits"].values[-1] == 1
    turn, x, v = (run[name].values for name in ("hinge.rate", "slide.q", "slide.rate"))
    x, v = x / size, v / size
    inertia = 0.04 + 0.1**2 + 0.05 + 2 * (x**2 + 0.4**2)
    moment = inertia * turn - 2 * 0.4 * v
    energy = inertia * turn**2 / 2 + v**2 - 2 * 0.4 * v * turn
    for kept in (moment, energy):
        np.testing.assert_allclose(kept, kept[0], rtol=1e-5)
