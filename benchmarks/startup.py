"""Time to the first step of models/two_masses.net in a fresh process: with an empty cache folder (cold), and with a
filled one (warm)."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

MODEL = Path(__file__).parents[1] / "models" / "two_masses.net"
WARM_REPEATS = 3
CHILD = """
import sys, time
began = time.perf_counter()
import netsim
imported = time.perf_counter()
model = netsim.load(sys.argv[1])
model.machine
loaded = time.perf_counter()
model.transient(stop=1e-3, step=1e-3)
print(imported - began, loaded - imported, time.perf_counter() - loaded)
"""


def first_step(cache: str) -> list[float]:
    """Seconds of import, load, and start with one step, in a process of its own."""
    environment = {**os.environ, "NETSIM_CACHE": cache, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(MODEL)], env=environment, capture_output=True, text=True, check=True
    )
    return [float(word) for word in done.stdout.split()]


def report(repeats: int = WARM_REPEATS, cache: str = "") -> None:
    """One line for cold, one for warm (the best of some); with `cache` that folder is used, cold or not."""
    print("Time to the first step of two_masses.net, wall seconds")
    print(f"  {'':6}{'import':>8}{'load':>8}{'start and step':>16}{'in all':>8}")
    with tempfile.TemporaryDirectory() as empty:
        cold = first_step(cache or empty)
        warm = min((first_step(cache or empty) for _ in range(repeats)), key=sum)
    for name, seconds in (("cold", cold), ("warm", warm)):
        print(f"  {name:6}{seconds[0]:8.2f}{seconds[1]:8.2f}{seconds[2]:16.2f}{sum(seconds):8.2f}")


if __name__ == "__main__":
    report()
