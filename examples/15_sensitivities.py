"""Which parts of a filter matter: derivatives of one voltage by all resistors and capacitors of a ladder, in one pass
back along the run.

Only products R C and the time enter: a filter with all resistors (or all capacitors) larger by a share is slower by
that share, so that sum R dv/dR = sum C dv/dC = -t dv/dt at every instant.
"""

import numpy as np

import netsim

N, T = 40, 20e-3
LADDER = f"""
use electrical
v1 voltage (n[0], ground) v = 1 V
r[k] resistor  (n[k-1], n[k])  R = 1 kOhm               for k in 1..{N}
c[k] capacitor (n[k], ground)  C = 25 nF, start v = 0 V for k in 1..{N}
save n[{N // 2}].v, c[{N // 2}].i
"""


def compute():
    model = netsim.load(LADDER)
    parts = {f"r[{k}].R": 1e3 for k in range(1, N + 1)} | {f"c[{k}].C": 25e-9 for k in range(1, N + 1)}
    signal = f"n[{N // 2}].v"
    found = model.sensitivity(to=list(parts), of=[signal], stop=T, rtol=1e-8, derivatives="adjoint")
    moved = np.array([value * found.attrs[f"measure.d(final({signal}))/d({name})"] for name, value in parts.items()])
    run = model.transient(stop=T, rtol=1e-8)
    slower = -T * float(run[f"c[{N // 2}].i"][-1]) / 25e-9
    assert np.allclose([moved[:N].sum(), moved[N:].sum()], slower, rtol=1e-6)
    return parts, moved


def draw(parts, moved):
    for j in np.argsort(-np.abs(moved))[:5]:
        print(f"{list(parts)[j]}: 1 % more makes {moved[j] * 10:+.3f} mV")


if __name__ == "__main__":
    draw(*compute())
