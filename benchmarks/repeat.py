"""A model run again with other parameter values: milliseconds of CPU in all and in the time loop, and variants by two
threads beside the same variants one after the other."""

import time as clock
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from statistics import median

import numpy as np

import netsim
from netsim.library.files import models_folder

CIRCUIT = """use electrical
param R = 1 kOhm
v voltage   (a, ground) v = 1 V
r resistor  (a, b)      R = R
c capacitor (b, ground) C = 1 uF
run transient(stop = 6 ms, step = 0.1 ms)
"""
THREADS = 2


def cases() -> list[tuple[str, netsim.Model, str, float]]:
    """(name, model, the parameter that is varied, its value)."""
    tripod = netsim.load(models_folder() / "tripod" / "stage1.net")
    return [("RC circuit, 60 steps", netsim.load(CIRCUIT), "R", 1e3), ("tripod, stage 1", tripod, "m_platform", 4.9)]


def variant(model: netsim.Model, name: str, value: float, number: int) -> netsim.Model:
    """A model with its parameter changed by a thousandth for each number."""
    return model.with_params({name: value * (1 + number / 1000)})


def again(model: netsim.Model, name: str, value: float, repeats: int) -> tuple[float, float]:
    """Median milliseconds of CPU of a run with another value, and of its time loop; compiled and prepared before."""
    spent = []
    for number in range(repeats + 1):
        began = clock.process_time()
        (samples,) = variant(model, name, value, number).samples()
        spent.append((clock.process_time() - began, float(samples.attributes["loop_cpu_seconds"])))
    whole, loop = zip(*spent[1:])
    return 1e3 * median(whole), 1e3 * median(loop)


def threaded(run: Callable[[int], np.ndarray], count: int) -> tuple[float, bool]:
    """Wall time of `count` variants by two threads as a share of the serial one, and whether results are bit-equal."""
    run(0)
    began = clock.perf_counter()
    serial: Sequence[np.ndarray] = [run(number) for number in range(count)]
    middle = clock.perf_counter()
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(run, range(count)))
    share = (clock.perf_counter() - middle) / (middle - began)
    return share, all(np.array_equal(a, b) for a, b in zip(serial, found))


def report(repeats: int = 10, count: int = 200, stops: Sequence[float] = (6e-3, 3.0)) -> None:
    """A line a model; then the circuit by threads over a short and a long time: in the first Python prepares, in the
    second the loop runs."""
    print("The same model again, median ms of CPU")
    print(f"  {'':24}{'in all':>8}{'loop':>8}")
    for title, model, name, value in cases():
        whole, loop = again(model, name, value, repeats)
        print(f"  {title:24}{whole:8.1f}{loop:8.1f}")
    print(f"{count} variants of the circuit by {THREADS} threads: wall time over that of one thread")
    model = netsim.load(CIRCUIT)
    for stop in stops:

        def run(number: int, stop: float = stop) -> np.ndarray:
            return variant(model, "R", 1e3, number).samples({"stop": stop, "sample": stop / 10})[0].values

        share, same = threaded(run, count)
        print(f"  {stop / 1e-4:9,.0f} steps {share:8.2f}  {'bit-equal' if same else 'results differ'}")


if __name__ == "__main__":
    report()
