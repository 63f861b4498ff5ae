"""Where the energy goes: every result carries what is stored, what was supplied and what was dissipated since the
start.

Charging a capacitor from a constant voltage loses half of what the source delivers, whatever the resistance: C V^2/2
each. Implicit Euler damps a little on its own; what it takes shows as the balance's remainder and shrinks with the
step.
"""

import numpy as np

import netsim
from netsim.library.files import models_folder

C, V = 1e-6, 5.0


def compute():
    model = netsim.load(models_folder() / "rc.net")
    remainders = []
    for step in (10e-6, 5e-6):
        result = model.transient(stop=20e-3, step=step, method="euler")
        stored, supplied, dissipated = (
            float(result[f"energy.{word}"][-1]) for word in ("stored", "supplied", "dissipated")
        )
        assert np.isclose(stored, C * V**2 / 2, rtol=1e-6)
        assert np.isclose(supplied, C * V**2, rtol=2e-2) and np.isclose(dissipated, C * V**2 / 2, rtol=2e-2)
        remainders.append(result.attrs["energy_balance"])
    assert abs(remainders[0] / remainders[1] - 2) < 0.05, "the remainder is of first order in the step"
    return result


def draw(result):
    from matplotlib import pyplot

    for word in ("stored", "supplied", "dissipated"):
        result[f"energy.{word}"].plot(label=word)
    pyplot.legend()
    pyplot.show()


if __name__ == "__main__":
    draw(compute())
