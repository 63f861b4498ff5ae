"""The double pendulum of flexible links: figures 3.1 to 3.6 of K. Kozlowski (Zeszyty Naukowe Politechniki Slaskiej,
Automatyka 115, 1994).

The first joint's angle and rate, deflection u3 at the middle of the first link and its rate, slope w4 at the middle of
the second link and its rate. All terms of the equations of motion are there, which the paper had to leave out for two
links, and the samples lie close enough (2 ms) to show the vibration, which its 0.1 s do not.
"""

import numpy as np

import netsim
from netsim.library.files import models_folder

MODEL = models_folder() / "manipulators" / "flexible_pendulum_2.net"
PANELS = (
    ("theta1", "3.1  angle of joint 1, rad"), ("joint1.rate", "3.2  its rate, rad/s"),
    ("u3", "3.3  deflection in the middle of link 1, m"), ("link1.q[1].v", "3.4  its rate, m/s"),
    ("w4", "3.5  slope in the middle of link 2, rad"), ("link2.q[1].w", "3.6  its rate, rad/s"),
)  # fmt: skip


def compute(stop=0.5):
    result = netsim.load(MODEL).transient(
        stop=stop, rtol=1e-7, sample=2e-3, method="rk8", save=[name for name, _ in PANELS]
    )
    assert np.ptp(result["energy.stored"].values) < 1e-6, "the energy stays"
    assert 2e-5 < np.abs(result["u3"].values).max() < 2.5e-4, (
        "deflections are some hundredths of a millimetre, as in the paper"
    )
    return result


def draw(result, picture="flexible_pendulum.png"):
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(3, 2, figsize=(11, 8), sharex=True)
    for axes, (name, title) in zip(panels.ravel(), PANELS):
        axes.plot(result.time, result[name], lw=0.7)
        axes.set_title(title, fontsize=9)
        axes.grid(alpha=0.3)
    for axes in panels[-1]:
        axes.set_xlabel("time, s")
    figure.tight_layout()
    figure.savefig(picture, dpi=110)
    print(f"wrote {picture}")


if __name__ == "__main__":
    draw(compute(5.0))
