"""A component of one's own is text: the physics once, no derivative by hand and no sign puzzle. Here air drag that
grows with v^2.

A falling body reaches v = -sqrt(m g/b), and the way there is -sqrt(m g/b) tanh(t sqrt(g b/m)).
"""

import numpy as np

import netsim

FALL = """
use translational

component air_drag (p : translational) "drag of a body in air at rest"
  param  b : N.s2/m2 > 0  "force at unit velocity"
  branch p -> ground : v, f
  f = b*v*abs(v)
  out    loss : W = v*f   "turned into heat"
end

body   mass      (a)  m = 80 kg
air    air_drag  (a)  b = 0.25 N.s2/m2
weight force     (a)  F = -80 kg * 9.80665 m/s2

run   transient(stop = 20 s, step = 1 ms)
save  a.v, air.loss
"""


def compute():
    result = netsim.load(FALL).transient(stop=20, step=1e-3)
    last, rate = np.sqrt(80 * 9.80665 / 0.25), np.sqrt(9.80665 * 0.25 / 80)
    exact = -last * np.tanh(rate * result["time"].values)
    assert np.abs(result["a.v"].values - exact).max() < 1e-3 * last
    assert result["air.loss"].attrs["units"] == "W"
    return result


def draw(result):
    from matplotlib import pyplot

    result["a.v"].plot()
    pyplot.show()


if __name__ == "__main__":
    draw(compute())
