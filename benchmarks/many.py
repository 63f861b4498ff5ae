"""Many runs and their derivatives: CPU time of a case of a sweep beside that of a single run of the same model, and of
sensitivities by many parameters, in runs."""

import time as clock
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import netsim
from netsim.library.files import models_folder


def filter_text(sections: int) -> str:
    """An RC filter with this many sections."""
    lines = ["use electrical", "param R = 1 kOhm", "v1 voltage (n0, ground) v = 1 V"]
    for k in range(1, sections + 1):
        lines.append(f"r{k} resistor (n{k - 1}, n{k}) R = R")
        lines.append(f"c{k} capacitor (n{k}, ground) C = {1 / sections!r} uF, start v = 0 V")
    return "\n".join([*lines, f"measure rise = when(n{sections}.v > 0.5 V)", "run transient(stop = 6 ms)", ""])


AMPLIFIER = [
    *(f"R{k}.R" for k in range(10)),
    *(f"C{k}.C" for k in range(1, 6)),
    *("Q1.Ie", "Q1.alpha", "Q1.Vt", "Q2.Ie", "Q2.Vt"),
]
"""Twenty parameters of the transistor amplifier."""


def spent(work: Callable[[], Any], repeats: int) -> float:
    """Median seconds of CPU, after a first time."""
    work()
    found = []
    for _ in range(repeats):
        began = clock.process_time()
        work()
        found.append(clock.process_time() - began)
    return median(found)


def swept(sections: int, cases: int, repeats: int) -> tuple[float, float, float]:
    """Milliseconds of CPU of a single run, of its time loop, and of a case of a sweep by one worker."""
    model = netsim.load(filter_text(sections))
    loops = list[float]()

    def single() -> None:
        (samples,) = model.with_params({"R": 1e3 + len(loops)}).samples()
        loops.append(float(samples.attributes["loop_cpu_seconds"]))

    def sweep() -> None:
        model.sweep({"R": ("0.5 kOhm", "2 kOhm")}, of=["rise"], points=cases, workers=1, stop="6 ms")

    one = spent(single, repeats)
    return 1e3 * one, 1e3 * median(loops), 1e3 * spent(sweep, 1) / cases


def differentiated(parameters: int, repeats: int) -> tuple[float, float]:
    """Milliseconds of CPU of a run of the transistor amplifier, and of the run with its derivatives."""
    model = netsim.load("benchmarks/transistor_amplifier")
    names = AMPLIFIER[:parameters]
    run = spent(lambda: model.transient(save=["y8.v"]), repeats)
    return 1e3 * run, 1e3 * spent(lambda: model.sensitivity(to=names, of=["y8.v"]), repeats)


def back(sections: int, repeats: int) -> tuple[float, float]:
    """Milliseconds of CPU of a run of a filter, and of the run with the derivatives of the voltage in the middle by all
    its parameters."""
    model, stop = netsim.load(filter_text(sections)), 1e-3 * sections
    names = [each for k in range(1, sections + 1) for each in (f"r{k}.R", f"c{k}.C")]
    signal = f"n{(sections + 1) // 2}.v"
    run = spent(lambda: model.transient(stop=stop, save=[signal]), repeats)
    work = lambda: model.sensitivity(to=names, of=[signal], stop=stop, derivatives="adjoint")  # noqa: E731
    return 1e3 * run, 1e3 * spent(work, repeats)


def side_by_side(model: Any, over: dict[str, Any], lanes: int, cases: int, **given: Any) -> tuple[float, float]:
    """Milliseconds of CPU of a case of a sweep by itself, and with so many side by side; one worker. What a sweep does
    once is left out: it is the difference to one of a third of the cases."""

    def work(count: int, wide: int) -> float:
        began = clock.process_time()
        model.sweep(over, points=count, workers=1, lanes=wide, **given)
        return clock.process_time() - began

    work(2 * lanes, 1), work(2 * lanes, lanes)  # what is compiled once
    few = cases // 3 // lanes * lanes
    return tuple(1e3 * (work(cases, wide) - work(few, wide)) / (cases - few) for wide in (1, lanes))  # type: ignore[return-value]


def report(
    sections: Sequence[int] = (1, 10), cases: int = 200, parameters: Sequence[int] = (1, 5, 20),
    ladders: Sequence[int] = (50, 500), repeats: int = 5, lanes: tuple[int, int] = (64, 3072),
    steps: tuple[int, int, int] = (16, 96, 3000),
) -> None:  # fmt: skip
    """A line for each size of a filter, and one for each number of parameters; `lanes`: lanes and cases of the filter,
    `steps`: those of the tripod, and how many steps of 1 ms."""
    print("RC filters, ms of CPU")
    print(f"  {'sections':>9}{'single run':>12}{'its loop':>10}{'case of a sweep':>17}{'1e5 cases':>12}")
    for n in sections:
        one, loop, case = swept(n, cases, repeats)
        print(f"  {n:9}{one:12.2f}{loop:10.2f}{case:17.2f}{100 * case:10.0f} s")
    print("Transistor amplifier by its parameters, ms of CPU")
    print(f"  {'parameters':>10}{'run':>8}{'with derivatives':>18}{'in runs':>9}")
    for p in parameters:
        run, whole = differentiated(p, repeats)
        print(f"  {p:10}{run:8.1f}{whole:18.1f}{whole / run:9.2f}")
    print("RC filters by all their parameters, adjoint, ms of CPU")
    print(f"  {'parameters':>10}{'run':>8}{'with derivatives':>18}{'in runs':>9}")
    for n in ladders:
        run, whole = back(n, repeats)
        print(f"  {2 * n:10}{run:8.1f}{whole:18.1f}{whole / run:9.2f}")
    print("Cases one by one and side by side, ms of CPU by one worker")
    print(f"  {'':28}{'lanes':>6}{'one by one':>12}{'side by side':>14}{'ratio':>7}{'1e5 cases':>12}")
    for n, stop in zip(sections, ("2 ms", "10 ms")):
        model, wide, count = netsim.load(filter_text(n)), *lanes
        alone, beside = side_by_side(model, {"R": ("0.5 kOhm", "2 kOhm")}, wide, count, of=["rise"], stop=stop)
        name = f"RC filter, {n} section{'s' * (n > 1)}"
        print(f"  {name:28}{wide:6}{alone:12.2f}{beside:14.2f}{alone / beside:7.1f}{100 * beside:10.0f} s")
    model, wide, count = netsim.load(models_folder() / "tripod" / "stage1.net"), *steps[:2]
    paper = {"of": ["M.x"], "stop": f"{steps[2]} ms", "step": "1 ms", "method": "euler", "forces": "recovered"}
    alone, beside = side_by_side(model, {"m_platform": ("0.5 kg", "1 kg")}, wide, count, **paper)
    print(f"  {f'tripod, {steps[2]} steps':28}{wide:6}{alone:12.2f}{beside:14.2f}{alone / beside:7.1f}")


if __name__ == "__main__":
    report()
