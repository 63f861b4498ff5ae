"""A network of any size from three lines: n is a `count`. The time constant of a uniform RC line does not depend on how
finely it is cut.

The last node follows 1 - (4/pi) exp(-pi^2 t/(4 RC)) + ...; at t = RC/2 that is 0.6291 (Carslaw and Jaeger, Conduction
of Heat in Solids).
"""

import numpy as np

import netsim
from netsim.library.files import models_folder

RC = 10e3 * 10e-9
SECTIONS = 2000


def line_end(t):
    """The step response of an ideal line's open end."""
    odd = 2 * np.arange(20) + 1
    return 1 - 4 / np.pi * np.sum((-1.0) ** np.arange(20) / odd * np.exp(-((odd * np.pi / 2) ** 2) * t / RC))


def compute(sections=SECTIONS):
    model = netsim.load(models_folder() / "rc_ladder.net", counts={"n": sections})
    assert len(model.network.instances) == 2 * sections + 1
    end = f"tap[{sections + 1}].v"
    result = model.transient(stop=51.5e-6, step=0.25e-6, method="euler", save=[end])
    wanted = line_end(0.5 * RC)  # the drive rises from 1 us to 2 us: half of it is past at 1.5 us
    assert abs(float(result[end][-1]) - wanted) < 2e-3
    return result


def draw(result):
    print(
        f"{result.attrs['unknowns']} unknowns, {result.attrs['steps']} steps, {result.attrs['wall_seconds']:.2f} s in "
        "the time loop"
    )


if __name__ == "__main__":
    draw(compute())
