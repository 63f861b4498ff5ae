"""Circuits in SPICE's language: accuracy, and CPU time at equal accuracy beside ngspice, one file for both, in one run.

The circuits are those of tests/reference/spice. `off the waveform` is the difference of a run at the file's own
tolerances from the published waveform, beside the accuracy that waveform has: root of the mean square over the signal's
range, of the first saved signal. For the times both programs run with several methods and tolerances, and the best of
either counts: Radau IIA (the default), TR-BDF2 and BDF here, the trapezoidal rule with two values of `trtol` and Gear's
formulas there. Errors are taken against a run of netsim at rtol = 1e-8 at the instants of the `.tran` line (ngspice's
points are joined by monotone cubics), and the cost at the wanted error is interpolated between neighbours (log-log).
CPU seconds are of one transient analysis in a process that has done it before: the time loop of netsim, ngspice's
process over some repetitions. What comes before is `first`: start, reading, building and operating point, with netsim's
code compiled before; for ngspice start and reading.
"""

import re
import sys
import time as clock
from pathlib import Path

import numpy as np
from integrators import Point, cost_at
from peers import ngspice_run
from scipy.interpolate import CubicSpline, PchipInterpolator

Array = np.ndarray
Tolerances = dict[str, tuple[float, ...]]

FOLDER = Path(__file__).parents[1] / "tests" / "reference" / "spice"
STATED = {
    "rc_ladder_10": 6e-7, "rc_ladder_100": 6e-7, "rc_ladder_1000": 6e-7, "diode_bridge": 3e-6, "ivp_transamp": 7e-7,
    "transformer_flyback_k": 4e-5,
}  # fmt: skip
"""Relative rms accuracy of the published waveforms."""
OURS = {
    "radau": (1e-1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    "trbdf2": (3e-2, 1e-2, 3e-3, 1e-3),
    "bdf": (1e-2, 1e-3, 1e-4),
}
THEIRS = {
    "": (1e-2, 1e-3, 1e-4, 1e-5, 1e-6),
    "trtol=1": (1e-2, 1e-3, 1e-4, 1e-5),
    "method=gear": (1e-2, 1e-3, 1e-4, 1e-5),
}
"""Tolerances by method, ngspice's by options besides."""
LEVELS = (1e-3, 1e-4, 1e-5)
REPEATS = 5


def error(found: Array, exact: Array) -> float:
    """Root of the mean square over the range of the first column."""
    return float(np.sqrt(np.mean((found[:, 0] - exact[:, 0]) ** 2)) / np.ptp(exact[:, 0]))


def off_the_waveform(name: str, model: object) -> float:
    """The difference of a run at the file's own tolerances from the published waveform."""
    data = np.genfromtxt(FOLDER / f"{name}.csv", delimiter=",", skip_header=1)
    samples = one_run(model, sample=_grid(name) / 40)
    return error(CubicSpline(samples.time, samples.values)(np.minimum(data[:, 0], samples.time[-1])), data[:, 1:])


def one_run(model: object, **options: object) -> object:
    """The samples of the circuit's only analysis."""
    (samples,) = model.samples(options)  # type: ignore[attr-defined]
    return samples


def _grid(name: str) -> float:
    from netsim.formats.spice.numbers import value_of

    return value_of(
        re.search(r"^\.tran\s+(\S+)", (FOLDER / f"{name}.cir").read_text(), re.MULTILINE | re.IGNORECASE)[1]
    )  # type: ignore[index]


def our_points(model: object, exact: Array, ours: Tolerances, repeats: int) -> list[list[Point]]:
    """Error and CPU seconds of the time loop, method by method, at each tolerance where the run reaches its end."""
    found: list[list[Point]] = []
    for method, tolerances in ours.items():
        found.append([])
        for rtol in tolerances:
            runs = [one_run(model, rtol=rtol, method=method) for _ in range(repeats)]
            if runs[0].finished:  # type: ignore[attr-defined]
                seconds = min(run.attributes["loop_cpu_seconds"] for run in runs)  # type: ignore[attr-defined]
                found[-1].append((error(runs[0].values, exact), seconds))  # type: ignore[attr-defined]
    return found


def their_points(name: str, times: Array, exact: Array, theirs: Tolerances) -> tuple[list[list[Point]], float]:
    """The same for ngspice, option by option, and the CPU seconds of its start."""
    found: list[list[Point]] = []
    before = np.nan
    circuit = (FOLDER / f"{name}.cir").read_text()
    signal = re.search(r"^\.save\s+(\S+)", circuit, re.MULTILINE)[1]  # type: ignore[index]
    for option, tolerances in theirs.items():
        found.append([])
        for reltol in tolerances:
            run = ngspice_run(circuit.replace(".end\n", f".options {option}\n.end\n") if option else circuit, reltol)
            if run is not None and len(run.times) > 2:
                keep = np.append(np.diff(run.times) > 0.0, True)
                values = PchipInterpolator(run.times[keep], run.signals[signal][keep], extrapolate=True)(times)
                found[-1].append((error(values[:, None], exact), run.seconds))
                before = run.before
    return found, before


def cheapest(points: list[list[Point]], wanted: float) -> float:
    """CPU seconds at the wanted error by the best method; NaN where none is accurate enough."""
    costs = [cost_at(each, wanted) for each in points if each]
    return float(np.nanmin(costs)) if np.isfinite(costs).any() else np.nan


def compare(name: str, our_settings: Tolerances, their_settings: Tolerances, repeats: int) -> None:
    """One row of the table."""
    import netsim

    began = clock.process_time()
    model = netsim.load(FOLDER / f"{name}.cir")
    samples = one_run(model)
    first = clock.process_time() - began - samples.attributes["loop_cpu_seconds"]  # type: ignore[attr-defined]
    exact = one_run(model, rtol=1e-8)
    ours = our_points(model, exact.values, our_settings, repeats)  # type: ignore[attr-defined]
    theirs, start = their_points(name, exact.time, exact.values, their_settings)  # type: ignore[attr-defined]
    row = f"  {name:22}{off_the_waveform(name, model):9.0e}{STATED[name]:9.0e}"
    for level in (*LEVELS, STATED[name]):
        own, other = cheapest(ours, level), cheapest(theirs, level)
        row += (
            f"  {_milliseconds(own)} {_milliseconds(other)} {'' if np.isnan(own / other) else f'{own / other:.2f}':>5}"
        )
    print(f"{row}  {first:6.2f} {start:5.2f}", flush=True)


def _milliseconds(seconds: float) -> str:
    return "      -" if np.isnan(seconds) else f"{1e3 * seconds:7.2f}"


def report(
    names: tuple[str, ...] = tuple(STATED), ours: Tolerances = OURS, theirs: Tolerances = THEIRS, repeats: int = REPEATS
) -> None:
    """The table."""
    print(
        "Circuits in SPICE's language: CPU ms of netsim and of ngspice at equal error, and their ratio (best of "
        f"{repeats}; - : not that accurate)"
    )
    print(
        f"  {'':22}{'off the':>9}{'stated':>9}"
        + "".join(f"  {f'error {level:.0e}':^21}" for level in LEVELS)
        + f"  {'stated':^21}  first, s"
    )
    print(f"  {'':22}{'waveform':>9}{'':9}" + f"  {'netsim':>7} {'ngspice':>7} {'ratio':>5}" * 4 + "  netsim ngspice")
    for name in names:
        compare(name, ours, theirs, repeats)


if __name__ == "__main__":
    report(tuple(sys.argv[1:]) or tuple(STATED))
