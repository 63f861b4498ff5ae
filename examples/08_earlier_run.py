"""Two runs in one netlist: the first finds a motion, the second prescribes it, with its velocity and acceleration, and
finds the force.

A force throws a mass on a spring; the motion is kept as the run `throw`. A twin of the machine is then moved along it
by a displacement source, whose force must be the one that threw the first.
"""

import numpy as np

import netsim

TWINS = """
use translational

m1    mass    (a)          m = 2 kg
c1    spring  (a, ground)  c = 200 N/m
push  force   (a)          F = 5 N * bell(time, at = 1 s, width = 0.2 s)

m2    mass          (b)          m = 2 kg
c2    spring        (b, ground)  c = 200 N/m
same  displacement  (b, ground)  s = table(throw, a.x)

run throw  = transient(stop = 1.5 s, step = 1 ms, method = euler)
run repeat = transient(stop = 1.5 s, step = 1 ms, method = euler)
save a.x, b.x, same.push, push.F
"""


def compute():
    runs = netsim.load(TWINS).run()  # two run lines: a data set for each, by its name
    throw, repeat = runs["throw"], runs["repeat"]
    assert np.abs(repeat["b.x"] - throw["a.x"]).max() < 1e-12
    force, thrown_by = repeat["same.push"], throw["push.F"]
    assert np.abs(force - thrown_by).max() < 1e-9 * np.abs(thrown_by).max(), "the same steps, the same force"
    return throw, repeat


def draw(runs):
    from matplotlib import pyplot

    throw, repeat = runs
    pyplot.plot(throw["time"], throw["push.F"], label="push.F of run throw")
    pyplot.plot(repeat["time"], repeat["same.push"], "--", label="same.push of run repeat")
    pyplot.legend()
    pyplot.show()


if __name__ == "__main__":
    draw(compute())
