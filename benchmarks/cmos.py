"""A chain of 100 CMOS inverters (SPICE's level 1): CPU time per Newton iteration and at equal accuracy beside
ngspice's, in one run.

The circuit is that of tests/reference/spice. Errors are normalised rms differences of the last inverter's output from
netsim's at rtol 1e-8. netsim's time is that of the time loop alone, ngspice's its own account of the transient
analysis; load and start are told beside it. An iteration of Radau IIA evaluates all devices at three instants and
solves for three points, one of ngspice's trapezoidal rule or of TR-BDF2 for one: `us per point` counts points. At equal
error the best of netsim's methods counts.
"""

import re
import shutil
import subprocess
import tempfile
import time as clock
from pathlib import Path

import numpy as np
from integrators import Point, cost_at

CIRCUIT = Path(__file__).parents[1] / "tests" / "reference" / "spice" / "cmos_chain_100.cir"
TOLERANCES, RELTOLS = {"radau": (1e-2, 1e-3, 1e-4, 1e-5), "trbdf2": (1e-2, 1e-3, 1e-4)}, (1e-3, 1e-4, 1e-5, 1e-6)
POINTS = {"radau": 3, "trbdf2": 1}
LEVELS = (1e-2, 3e-3, 1e-3)
SAMPLE = 4e-11
FINEST = 1e-8
"""The tolerance of the run that errors are taken from."""


def netsim_run(rtol: float, method: str = "radau") -> tuple[np.ndarray, dict]:
    """The last output at the samples, and the run's attributes."""
    import netsim

    began = clock.process_time()
    data = netsim.load(CIRCUIT).transient(save=["n100.v"], stop=2e-8, sample=SAMPLE, rtol=rtol, method=method)
    return data["n100.v"].values, {**data.attrs, "all": clock.process_time() - began}


def ngspice_run(reltol: float) -> tuple[np.ndarray, np.ndarray, float, int]:
    """Instants, the last output, CPU seconds and Newton iterations of the transient analysis."""
    text = CIRCUIT.read_text()
    text = (
        re.sub(r"(?m)^\.(options|save).*\n", "", text)
        .replace(".tran 4e-11 2e-08 0 4e-10", ".tran 4e-11 2e-08")
        .replace(".end\n", "")
    )
    text += f".options reltol={reltol} acct noinit\n.save v(n100)\n.end\n"
    with tempfile.TemporaryDirectory() as folder:
        file, raw = Path(folder, "circuit.cir"), Path(folder, "circuit.raw")
        file.write_text(text)
        said = subprocess.run(
            ["ngspice", "-b", "-r", str(raw), str(file)], capture_output=True, text=True, check=True
        ).stdout
        _, _, body = raw.read_bytes().partition(b"Binary:\n")
    values = np.frombuffer(body, float).reshape(-1, 2)
    seconds, iterations = (
        float(re.search(rf"(?m)^{key} = ([\d.eE+-]+)", said)[1])
        for key in ("Transient analysis time", "Transient iterations")
    )  # type: ignore[index]
    return values[:, 0], values[:, 1], seconds, int(iterations)


def report(
    tolerances: dict[str, tuple[float, ...]] = TOLERANCES, reltols: tuple[float, ...] = RELTOLS, finest: float = FINEST
) -> None:
    """Print the tables."""
    wanted, _ = netsim_run(finest)
    samples = np.minimum(np.arange(len(wanted)) * SAMPLE, 2e-8)
    ours: list[Point] = []
    theirs: list[Point] = []
    print("CMOS chain of 100 inverters, error of the last output")
    print(
        "                     error      CPU (s)    steps  iterations  us per iteration  us per point   with load and "
        "start (s)"
    )
    for method, rtol in ((method, rtol) for method, asked in tolerances.items() for rtol in asked):
        found, about = netsim_run(rtol, method)
        error = float(np.sqrt(np.mean((found - wanted) ** 2)) / np.ptp(wanted))
        cpu, count = about["loop_cpu_seconds"], about["iterations"]
        each = cpu / count * 1e6
        ours.append((error, cpu))
        row = f"  {method:7} {rtol:7.0e}  {error:9.1e}  {cpu:9.2f}  {about['steps']:6d}  {count:9d}  {each:15.0f}"
        print(f"{row}  {each / POINTS[method]:12.0f}  {about['all']:20.1f}", flush=True)
    for reltol in reltols if shutil.which("ngspice") else ():
        times, values, cpu, count = ngspice_run(reltol)
        error = float(np.sqrt(np.mean((np.interp(samples, times, values) - wanted) ** 2)) / np.ptp(wanted))
        theirs.append((error, cpu))
        each = cpu / count * 1e6
        print(
            f"  ngspice {reltol:7.0e}  {error:9.1e}  {cpu:9.2f}  {len(times):6d}  {count:9d}  {each:15.0f}  "
            f"{each:12.0f}",
            flush=True,
        )
    for level in LEVELS if theirs else ():
        own, other = cost_at(ours, level), cost_at(theirs, level)
        print(f"  at an error of {level:.0e}: netsim {own:.2f} s, ngspice {other:.2f} s, ratio {own / other:.2f}")


if __name__ == "__main__":
    report()
