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
    throw, repeat = netsim.load(TWINS).run()
    assert (throw.name, repeat.name) == ("throw", "repeat")
    assert np.abs(repeat.series("b.x") - throw.series("a.x")).max() < 1e-12
    force, thrown_by = repeat.series("same.push"), throw.series("push.F")
    assert np.abs(force - thrown_by).max() < 1e-9 * np.abs(thrown_by).max(), "the same steps, the same force"
    return throw, repeat


def draw(runs):
    from matplotlib import pyplot

    throw, repeat = runs
    pyplot.plot(throw.time, throw.series("push.F"), label="push.F of run throw")
    pyplot.plot(repeat.time, repeat.series("same.push"), "--", label="same.push of run repeat")
    pyplot.legend()
    pyplot.show()


if __name__ == "__main__":
    draw(compute())
