"""Periodic states by shooting beside the ends of transient runs: CPU time of both, and how far they are apart.

The transient runs until a disturbance by the slowest multiplier has become 1e-9 of what it was.
"""

import time as clock
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import netsim

DUFFING = """
use translational
m1 mass   (a)         m = 1 kg
s1 spring (a, ground) c = 1 N/m
d1 damper (a, ground) d = 0.1 N.s/m
f1 force  (a)         F = 1 N*cos(1.4*time/(1 s)) - 0.04 N/m^3*a.x^3
save a.x, a.v
"""
RECTIFIER = """
use electrical
src voltage   (ac, ground) v = sine(time, amplitude = 10 V, frequency = 50 Hz)
rs  resistor  (ac, anode)  R = 0.5 Ohm
d1  diode     (anode, dc)  Is = 1e-12 A, N = 1.05, Rs = 0.05 Ohm, Cj = 30 pF, tt = 1 us
c1  capacitor (dc, ground) C = 4.7 mF
rl  resistor  (dc, ground) R = 2.2 kOhm
save dc.v
"""
BUCK = """
use electrical
use signal
supply    voltage        (source, ground)      v = 12 V
top       closing_switch (source, sw, g)       Ron = 10 mOhm, Goff = 1 uS
bottom    ideal_diode    (ground, sw)          Ron = 10 mOhm, Goff = 1 uS
coil      inductor       (sw, out)             L = 47 uH, start i = 0 A
store     capacitor      (out, ground)         C = 100 uF, start v = 0 V
load      resistor       (out, ground)         R = 2.5 Ohm
meter     voltage_sensor (out, ground, seen)
save out.v, coil.i
"""
PI = """
aim       signal_source  (wanted)              value = 5
compare   difference     (wanted, seen, error)
control   limited_pi     (error, command)      k = 0.02, Ti = 0.2 ms, lower = 0.05, upper = 0.9
modulator pulse_width    (command, g)          period = 10 us
"""
CONVERTER = BUCK + PI
NETLISTS = {
    "Duffing's oscillator": DUFFING,
    "with a fiftieth of its damping": DUFFING.replace("d = 0.1", "d = 0.002"),
    "rectifier": RECTIFIER,
    "behind 100 Ohm": RECTIFIER.replace("R = 0.5 Ohm", "R = 100 Ohm"),
    "converter with PI control": CONVERTER,
    "with 20 times the capacitance": CONVERTER.replace("C = 100 uF", "C = 2 mF").replace("0.2 ms", "4 ms"),
}
RTOL, LEFT = 1e-9, 1e-9
"""Tolerance of both, and what is left of a disturbance at the end of the transient."""


def spent(work: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of CPU of the second time, and what it gave."""
    work()
    began = clock.process_time()
    found = work()
    return clock.process_time() - began, found


def report(netlists: Mapping[str, str] = NETLISTS, left: float = LEFT) -> None:
    """Print the table."""
    print(f"{'':32s} periods  transient (s)  shooting (s)   ratio   apart, of the largest value")
    for name, text in netlists.items():
        model = netsim.load(text)
        shooting, state = spent(lambda model=model: model.periodic(rtol=RTOL))
        slowest = np.abs(state["multipliers.real"].values + 1j * state["multipliers.imaginary"].values).max()
        periods = int(np.ceil(np.log(left) / np.log(slowest)))
        stop = periods * state.attrs["period"]
        whole, run = spent(lambda model=model, stop=stop: model.transient(stop=stop, rtol=RTOL, sample=stop))
        shown = [str(each) for each in run.data_vars if not str(each).startswith("energy")]
        apart = max(abs(float(run[n][-1] - state[n][-1])) / float(np.abs(state[n]).max()) for n in shown)
        ratio = whole / shooting
        print(f"  {name:30s} {periods:7d}  {whole:13.3f}  {shooting:12.3f}  {ratio:6.1f}  {apart:28.1e}", flush=True)


if __name__ == "__main__":
    report()
