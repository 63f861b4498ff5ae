"""The netlists that are timed: RC ladders of n sections, plain (linear) or with diodes (nonlinear), for netsim and for
ngspice.

10 kOhm and 10 nF in all, driven by a 1 V step that rises within 1 us; the diode ladder has a diode from every node to
ground and a 1 V sine, so that the matrix changes from one Newton iteration to the next.
"""

import numpy as np

RESISTANCE, CAPACITANCE = 1e4, 1e-8
STOP, STEP = 300e-6, 0.3e-6


def ladder(n: int, stop: float = STOP, step: float = STEP, diodes: bool = False) -> str:
    """A netsim netlist of 2n (3n with diodes) flat instance lines and a source."""
    v = (
        "1 V * sin(6.283185307179586*time/100 us)"
        if diodes
        else "1 V * pulse(time, at = 1 us, width = 1 s, rise = 1 us, fall = 1 us)"
    )
    lines = ["use electrical", f"src voltage (n0, ground) v = {v}"]
    for k in range(1, n + 1):
        lines.append(f"r{k} resistor (n{k - 1}, n{k}) R = {RESISTANCE / n!r} Ohm")
        lines.append(f"c{k} capacitor (n{k}, ground) C = {CAPACITANCE / n * 1e12!r} pF")
        if diodes:
            lines.append(
                f"d{k} diode (n{k}, ground) Is = {1e-3 / n!r} pA, Cj = {100 / n!r} pF, tt = 10 ns, Rs = {n} Ohm"
            )
    lines.append(f"run transient(stop = {stop * 1e6!r} us, step = {step * 1e6!r} us, method = euler)")
    lines.append(f"save n{max(n // 2, 1)}.v, n{n}.v, src.i")
    return "\n".join(lines) + "\n"


def spice_ladder(n: int, stop: float = STOP, step: float = STEP, diodes: bool = False) -> str:
    """The same circuit for ngspice, held to steps of at most `step` (with the tolerances at ngspice's own defaults)."""
    source = "SIN(0 1 10k)" if diodes else "PULSE(0 1 1u 1u 1u 1 2)"
    lines = [f"RC ladder of {n} sections", f"Vsrc n0 0 {source}"]
    for k in range(1, n + 1):
        lines.append(f"R{k} n{k - 1} n{k} {RESISTANCE / n!r}")
        lines.append(f"C{k} n{k} 0 {CAPACITANCE / n!r}")
        if diodes:
            lines.append(f"D{k} n{k} 0 dm{n}")
    if diodes:
        lines.append(f".model dm{n} D(Is={1e-15 / n!r} CJO={1e-10 / n!r} TT=10n RS={n})")
    lines += [
        f".tran {step!r} {stop!r} 0 {step!r}",
        f".save v(n{max(n // 2, 1)}) v(n{n})",
        ".options noinit acct",
        ".end",
    ]
    return "\n".join(lines) + "\n"


def ladder_response(n: int, sections: list[int], times: np.ndarray) -> np.ndarray:
    """Exact voltages behind some sections of the plain ladder, (len(times), len(sections)), from its modes sin(j
    theta_k)."""
    theta = (2 * np.arange(1, n + 1) - 1) * np.pi / (2 * n + 1)
    tau, rise = RESISTANCE * CAPACITANCE / n**2, 1e-6
    rate = (2 - 2 * np.cos(theta)) / tau
    total = 0.0
    for start, sign in ((1e-6, 1.0), (1e-6 + rise, -1.0)):
        since = np.maximum(times - start, 0.0)[:, None]
        total = total + sign / rise * (since / rate + np.expm1(-rate * since) / rate**2)
    modes = 4.0 / (2 * n + 1) * np.sin(theta) / tau * total
    return modes @ np.sin(np.outer(theta, sections))
