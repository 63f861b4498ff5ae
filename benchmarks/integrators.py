"""CPU time at equal accuracy: netsim's adaptive loop beside the codes one would pick otherwise, same problem, same run.

Every program runs at several tolerances; its cost at the wanted error is interpolated between the neighbours (log-log).
What is timed is the integration alone, in CPU seconds, the best of some runs: netsim's time loop, the call of IDAS, IDA
or scipy's Radau once everything is built, ngspice's transient analysis. All give as many samples. Problems: an RC
ladder (closed form), Andrews' squeezing mechanism and the transistor amplifier (Test Set for IVP Solvers 2.4: published
ends). Circuits in SPICE's language: benchmarks/spice.py. Peers are left out where they are not installed: casadi comes
with netsim, `pip install scikit-sundae`, Debian's package ngspice.
"""

import importlib.util
import json
import math
import time as clock
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from netlists import ladder, ladder_response, spice_ladder
from peers import amplifier_by_scipy, andrews_by_casadi, ladder_by_casadi, ladder_by_sundae, ngspice_run
from scipy.interpolate import PchipInterpolator

Array = np.ndarray
Point = tuple[float, float]
"""Error and CPU seconds of one run."""
REPEATS = 3
SAMPLES = 100
LADDER_STOP = 300e-6


def netsim_points(
    model: str, error: Callable[..., float], rtols: Sequence[float], repeats: int, **options: object
) -> list[Point]:
    """Errors and costs of a model's time loop over tolerances."""
    import netsim

    loaded, found = netsim.load(model), []
    for rtol in rtols:
        runs = [loaded.transient(rtol=rtol, **options) for _ in range(repeats)]
        found.append((error(runs[0]), min(run.attrs["loop_cpu_seconds"] for run in runs)))
    return found


def peer_points(
    run: Callable[[float], Callable[[], object]], error: Callable[..., float], rtols: Sequence[float], repeats: int
) -> list[Point]:
    """The same for a peer: `run(rtol)` builds, what it returns integrates."""
    found = []
    for rtol in rtols:
        integrate, costs = run(rtol), []
        for _ in range(repeats):
            began = clock.process_time()
            result = integrate()
            costs.append(clock.process_time() - began)
        found.append((error(result), min(costs)))
    return found


def cost_at(points: Sequence[Point], wanted: float) -> float:
    """CPU seconds at the wanted error, on the straight line between the neighbours in logarithms.

    Where every run was more accurate the cheapest counts; NaN where none was accurate enough."""
    if max(error for error, _ in points) <= wanted:
        return min(cost for _, cost in points)
    ordered = sorted((math.log(max(error, 1e-300)), math.log(max(cost, 1e-6))) for error, cost in points)
    for (e0, c0), (e1, c1) in pairwise(ordered):
        if e0 <= math.log(wanted) <= e1:
            return math.exp(c0 + (c1 - c0) * (math.log(wanted) - e0) / max(e1 - e0, 1e-12))
    return math.nan


def table(title: str, wanted: float, found: dict[str, list[Point]]) -> None:
    """A row for each program: cost at the wanted error, and how many times the first row's."""
    print(f" {title}, at an error of {wanted:.0e}")
    print(f"  {'':28}{'CPU, ms':>10}{'times ours':>12}")
    first = math.nan
    for name, points in found.items():
        cost = cost_at(points, wanted)
        first = cost if math.isnan(first) and name.startswith("netsim") else first
        reached = (
            f"{1e3 * cost:10.2f}{cost / first:12.2f}"
            if not math.isnan(cost)
            else f"   errors {min(p[0] for p in points):.0e} .. {max(p[0] for p in points):.0e}"
        )
        print(f"  {name:28}{reached}", flush=True)


def published(name: str) -> tuple[list[str], Array]:
    """Signals and their values at the end, from the published solution."""
    reference = json.loads((Path(__file__).parent / "published" / f"{name}.json").read_text(encoding="utf-8"))[
        "reference"
    ]
    return list(reference), np.array(list(reference.values()))


def relative_rms(found: Array, exact: Array) -> float:
    """The largest over the columns of rms(found - exact)/rms(exact)."""
    return float(np.max(np.sqrt(np.mean((found - exact) ** 2, axis=0) / np.mean(exact**2, axis=0))))


def _some(rtols: tuple[float, ...], few: bool) -> tuple[float, ...]:
    return rtols[:1] if few else rtols


def compare_ladder(repeats: int, few: bool, n: int = 1_000) -> None:
    """RC ladder of n sections after a step of its source."""
    times = np.arange(1, SAMPLES + 1) * (LADDER_STOP / SAMPLES)
    exact = ladder_response(n, [n // 2, n], times)
    names = [f"n{n // 2}.v", f"n{n}.v"]

    def netsim_error(run: object) -> float:
        return relative_rms(np.column_stack([run[name].values[1:] for name in names]), exact)  # type: ignore[index]

    rtols, found = _some((3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5), few), {}
    for method in ("radau", "bdf"):
        options = {"stop": LADDER_STOP, "sample": LADDER_STOP / SAMPLES, "method": method, "save": names}
        label = f"netsim, {method}{' (default)' if method == 'radau' else ''}"
        found[label] = netsim_points(ladder(n, LADDER_STOP, LADDER_STOP / 100), netsim_error, rtols, repeats, **options)
    columns = [n // 2 - 1, n - 1]
    found["CasADi, IDAS"] = peer_points(
        ladder_by_casadi(n, times), lambda x: relative_rms(x[:, columns], exact), rtols, repeats
    )
    if importlib.util.find_spec("sksundae") is not None:
        found["scikit-sundae, IDA"] = peer_points(
            ladder_by_sundae(n, times), lambda x: relative_rms(x[:, columns], exact), rtols, repeats
        )
    spice = []
    for reltol in _some((1e-3, 1e-4, 1e-5, 1e-6), few):
        answer = ngspice_run(spice_ladder(n, LADDER_STOP, LADDER_STOP / SAMPLES), reltol)
        if answer is not None:
            values = [PchipInterpolator(answer.times, answer.signals[f"v(n{k})"])(times) for k in (n // 2, n)]
            spice.append((relative_rms(np.column_stack(values), exact), answer.seconds))
    table(f"RC ladder, {n:,} sections", 5e-5, found | ({"ngspice": spice} if spice else {}))


def compare_andrews(repeats: int, few: bool) -> None:
    """Andrews' squeezing mechanism: five digits of the seven angles at 0.03 s."""
    from netsim.library.files import models_folder

    names, end = published("andrews")

    def netsim_error(run: object) -> float:
        return float(np.max(np.abs(np.array([float(run[name][-1]) for name in names]) / end - 1.0)))  # type: ignore[index]

    model = str(models_folder() / "benchmarks" / "andrews.net")
    rtols = _some((1e-4, 3e-5, 1e-5, 3e-6), few)
    found = {
        "netsim, radau (default)": netsim_points(
            model, netsim_error, rtols, repeats, stop=0.03, sample=0.003, save=names
        )
    }
    error = lambda q: float(np.max(np.abs(q[:7] / end - 1.0)))  # noqa: E731
    for fine, label in ((False, "CasADi, IDAS"), (True, "CasADi, IDAS, y tested only")):
        found[label] = peer_points(andrews_by_casadi(fine), error, _some((1e-5, 1e-6, 1e-7, 1e-8, 1e-9), few), repeats)
    table("Andrews' squeezing mechanism", 1e-5, found)


def compare_amplifier(repeats: int, few: bool) -> None:
    """Two-stage transistor amplifier: eight digits of the eight voltages at 0.2 s."""
    from netsim.library.files import models_folder

    model = models_folder() / "benchmarks" / "transistor_amplifier.net"
    names, end = published("transistor_amplifier")

    def netsim_error(run: object) -> float:
        return float(np.max(np.abs(np.array([float(run[name][-1]) for name in names]) / end - 1.0)))  # type: ignore[index]

    options = {"stop": 0.2, "sample": 0.2 / SAMPLES, "save": names}
    found = {
        "netsim, radau (default)": netsim_points(
            str(model), netsim_error, _some((1e-4, 1e-5, 1e-6, 1e-7), few), repeats, **options
        )
    }
    error = lambda y: float(np.max(np.abs(y / end - 1.0)))  # noqa: E731
    found["scipy, Radau"] = peer_points(amplifier_by_scipy, error, _some((1e-7, 1e-8, 1e-9, 1e-10), few), repeats)
    table("Transistor amplifier", 1e-8, found)


def report(sections: int = 1_000, repeats: int = REPEATS, few: bool = False) -> None:
    """All tables; `few` leaves out all tolerances but the first of each program."""
    print(f"Integrators at equal accuracy, CPU time of the integration (best of {repeats})")
    compare_ladder(repeats, few, sections)
    compare_andrews(repeats, few)
    compare_amplifier(repeats, few)


if __name__ == "__main__":
    report()
