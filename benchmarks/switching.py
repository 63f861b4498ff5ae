"""Networks that switch: CPU time and error of the time loop, in one run.

Buck converter of ideal switches, 100 kHz for 10 ms (models/buck_converter.net), beside ngspice. The reference is the
exact solution: between switchings the circuit is linear, and its state (coil current, output voltage) is carried over
every phase by a matrix exponential; where the current ends within a period (behind the first surge) that instant is
found by bisection. ngspice has a switch with a threshold and a diode of a hundredth of the usual emission coefficient;
both programs' times are those of the transient analysis alone.

Inverter with an induction motor, 20 kHz for 1 s (models/pwm_inverter.net): errors of speed and current against a run
at a finer tolerance. Filter of switched capacitors, 60 s (CauerLowPassSC of the Modelica library, 1 200 instants):
errors against the published results.
"""

from pathlib import Path
from typing import Any

import numpy as np
from peers import ngspice_run

Array = np.ndarray
SUPPLY, L, C, R, RON, GOFF, PERIOD, SHARE, PERIODS = 12.0, 47e-6, 100e-6, 2.5, 10e-3, 1e-6, 10e-6, 0.42, 1000
TOLERANCES = (1e-4, 1e-6, 1e-8)
FILTER = "Electrical_Analog_CauerLowPassSC"


def circuit(periods: int) -> str:
    """The converter for ngspice."""
    return f"""buck converter
v1 supply 0 {SUPPLY}
vg gate 0 pulse(0 1 0 1n 1n {SHARE * PERIOD - 1e-9} {PERIOD})
s1 supply sw gate 0 top
d1 0 sw rectifier
.model top sw(vt=0.5 vh=0 ron={RON} roff={1 / GOFF})
.model rectifier d(is=1e-12 n=0.01 rs={RON})
l1 sw out {L} ic=0
c1 out 0 {C} ic=0
r1 out 0 {R}
.save v(out)
.tran {PERIOD / 10} {periods * PERIOD} 0 {PERIOD / 10} uic
.end
"""


def exact(periods: int) -> Array:
    """The output voltage at the end of every period, by matrix exponentials of the phases: top closed, diode
    conducting, neither."""
    from scipy.linalg import expm
    from scipy.optimize import brentq

    def rates(conductance: float, drive: float) -> Array:
        """d/dt (i, v, 1) where the switched node sees `drive` through a conductance."""
        return np.array(
            [[-1 / (conductance * L), -1 / L, drive / (conductance * L)], [1 / C, -1 / (R * C), 0.0], [0.0, 0.0, 0.0]]
        )

    on, off, none = (
        rates(1 / RON + GOFF, SUPPLY / RON),
        rates(1 / RON + GOFF, SUPPLY * GOFF),
        rates(2 * GOFF, SUPPLY * GOFF),
    )
    rise, fall, rest = expm(on * SHARE * PERIOD), expm(off * (1 - SHARE) * PERIOD), (1 - SHARE) * PERIOD
    state, found = np.array([0.0, 0.0, 1.0]), [0.0]
    for _ in range(periods):
        state = rise @ state
        after = fall @ state
        if after[0] < SUPPLY * GOFF:  # the diode's own current has ended before
            ends = brentq(
                lambda t, state=state: (expm(off * t) @ state)[0] - SUPPLY * GOFF, 0.0, rest, xtol=1e-20, rtol=1e-15
            )
            after = expm(none * (rest - ends)) @ expm(off * ends) @ state
        state = after
        found.append(float(state[1]))
    return np.array(found)


def netsim_run(rtol: float, periods: int) -> tuple[Array, float, dict[str, Any]]:
    """Output voltage at the ends of periods, CPU seconds of the time loop, and the run's attributes."""
    import netsim
    from netsim.library.files import models_folder

    model = netsim.load(models_folder() / "buck_converter.net")
    best = None
    for _ in range(3):
        data = model.transient(save=["out.v"], rtol=rtol, stop=periods * PERIOD, sample=PERIOD)
        if best is None or data.attrs["loop_cpu_seconds"] < best.attrs["loop_cpu_seconds"]:
            best = data
    assert best is not None and best.attrs["finished"], "the run did not finish"
    return best["out.v"].values, float(best.attrs["loop_cpu_seconds"]), best.attrs


def instants_of(about: dict[str, Any]) -> int:
    """At how many instants something happened."""
    return len({line.split("\t")[0] for line in about["event_log"].splitlines()})


def buck(periods: int, tolerances: tuple[float, ...]) -> None:
    """The table of the converter, and the ratio of CPU times."""
    wanted = exact(periods)
    print(
        f"Buck converter of ideal switches, {1e-3 / PERIOD:g} kHz for {periods * PERIOD * 1e3:g} ms, against the exact "
        "solution"
    )
    print("                     largest error (V)  CPU (s)   steps   instants of events")
    ours, theirs = [], []
    for rtol in tolerances:
        values, cpu, about = netsim_run(rtol, periods)
        ours.append(cpu)
        print(
            f"  netsim  rtol {rtol:7.0e}  {np.max(np.abs(values - wanted)):15.1e}  {cpu:7.2f}  {about['steps']:6d}   "
            f"{instants_of(about):6d}",
            flush=True,
        )
    for reltol in (1e-3, 1e-5):
        found = ngspice_run(circuit(periods), reltol)
        if found is not None:
            at = np.interp(np.arange(periods + 1) * PERIOD, found.times, found.signals["v(out)"])
            theirs.append(found.seconds)
            print(
                f"  ngspice reltol {reltol:5.0e}  {np.max(np.abs(at - wanted)):15.1e}  {found.seconds:7.2f}  "
                f"{len(found.times):6d}",
                flush=True,
            )
    if theirs:
        print(f"  ratio of CPU times: {min(ours) / min(theirs):.2f}")


def inverter(stop: float, tolerances: tuple[float, ...], finest: float) -> None:
    """The table of the inverter with a motor: errors of speed and phase current over their ranges."""
    import netsim
    from netsim.library.files import models_folder

    model, names = netsim.load(models_folder() / "pwm_inverter.net"), ("shaft.w", "motor.a.i")
    runs = {
        rtol: model.transient(save=list(names), rtol=rtol, stop=stop, sample=5e-5) for rtol in (*tolerances, finest)
    }
    exact, times = runs.pop(finest), np.arange(0.5, stop / 5e-5) * 5e-5
    print(f"Inverter of ideal switches and diodes with an induction motor, 20 kHz for {stop:g} s, against {finest:.0e}")
    print("                     error of speed, current   CPU (s)   steps   instants of events")
    for rtol, data in runs.items():
        wanted = {name: np.interp(times, exact["time"], exact[name]) for name in names}
        errors = [
            np.abs(np.interp(times, data["time"], data[name]) - wanted[name]).max() / np.ptp(wanted[name])
            for name in names
        ]
        print(
            f"  netsim  rtol {rtol:7.0e}  {errors[0]:10.1e}  {errors[1]:10.1e}  {data.attrs['loop_cpu_seconds']:7.2f}  "
            f"{data.attrs['steps']:6d}   {instants_of(data.attrs):6d}",
            flush=True,
        )


def capacitors(stop: float, tolerances: tuple[float, ...]) -> None:
    """The table of the filter of switched capacitors: errors of its capacitors' voltages over their ranges."""
    import netsim
    from netsim.library.files import models_folder

    model = netsim.load(models_folder() / "msl" / f"{FILTER}.net")
    folder = Path(__file__).parents[1] / "tests" / "reference" / "msl"
    published = np.genfromtxt(folder / f"{FILTER}.csv", delimiter=",", names=True, deletechars="", replace_space=" ")
    published = published[published["time"] <= stop]
    print(f"Filter of switched capacitors (CauerLowPassSC), {stop:g} s, against the published results")
    print("                     largest error   CPU (s)   steps   instants of events")
    for rtol in tolerances:
        data = model.transient(rtol=rtol, stop=stop)
        error = max(
            np.abs(np.interp(published["time"], data["time"], data[name.lower()]) - published[name]).max()
            / max(np.ptp(published[name]), 1e-9)
            for name in published.dtype.names
            if name != "time"
        )
        print(
            f"  netsim  rtol {rtol:7.0e}  {error:12.1e}  {data.attrs['loop_cpu_seconds']:7.2f}  "
            f"{data.attrs['steps']:6d}   {instants_of(data.attrs):6d}",
            flush=True,
        )


def report(
    periods: int = PERIODS,
    tolerances: tuple[float, ...] = TOLERANCES,
    inverted: float = 1.0,
    filtered: float = 60.0,
    others: tuple[float, ...] = (1e-4, 1e-6),
    finest: float = 1e-8,
) -> None:
    """Print the tables."""
    buck(periods, tolerances)
    inverter(inverted, others, finest)
    capacitors(filtered, others)


if __name__ == "__main__":
    report()
