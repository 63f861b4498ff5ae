"""Runs that are killed, and runs whose disk fills: what they leave is readable, and what continues has the same bits.

Runs of `NETLISTS` are killed (SIGKILL) at random moments, from the first import to the last byte of the result, or may
write files of a random size only. What lies in RESULT.part is then read and held against the whole run, the run is
resumed (begun anew where it had written nothing yet), and its file compared byte by byte.
"""

import random
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from netsim.results.files import read
from netsim.results.partial.recording import part_of

NETLISTS = {
    "rectifier": """use electrical
v1 voltage (a, ground) v = 10 V*sin(2*pi*50/(1 s)*time)
d1 diode (a, b)
r1 resistor (b, ground) R = 100 Ohm
c1 capacitor (b, ground) C = 10 uF
run transient(stop = 8 s, sample = 1 ms)
""",
    "balls": """use translational
component ball (p : translational) "a ball above a floor at x = 0 that loses nothing"
  param  a : m/s2 > 0 = 9.81 m/s2  "fall"
  branch p -> ground : x, v, f
  discrete n : 1 = 0  "bounces so far"
  when x < 0 : reinit v = -pre(v); n = pre(n) + 1
  f = 1 kg*der(v) + 1 kg*a
  stores 1 kg*v^2/2 + 1 kg*a*x
  out    bounces : 1 = n  "bounces so far"
end
b1 ball (p) start x = 1 m
b2 ball (q) start x = 2 m
run transient(stop = 900 s, method = bdf, sample = 0.05 s)
""",
    "steps": """use electrical
v1 voltage (a, ground) v = 10 V*sin(2*pi*50/(1 s)*time)
r1 resistor (a, b) R = 100 Ohm
c1 capacitor (b, ground) C = 10 uF
run transient(stop = 20 s, step = 50 us, method = generalized_alpha)
""",
}
CHILD = """
import sys
from functools import partialmethod
from netsim.analyses.over_time import long_runs
from netsim.results.partial import recording
recording.Recording.__init__ = partialmethod(recording.Recording.__init__, first=0.1, every=0.1)
long_runs.IN_MEMORY = 4e4
from netsim.cli import main
sys.exit(main(sys.argv[1:]))
"""
"""The command line, with blocks every tenth of a second and rows in memory for a part of the run."""


def report(
    kills: int = 50, full: int = 20, seed: int = 1, netlists: Sequence[str] = tuple(NETLISTS), share: float = 1.0
) -> None:
    """Tally of runs until so many were killed, and so many found their disk full; of a `share` of their lengths."""
    rng, chosen = random.Random(seed), list(netlists)
    with TemporaryDirectory() as folder:
        wholes = {name: _whole(Path(folder), name, share) for name in chosen}
        for title, count, end in (("killed", kills, _killed), ("disk full", full, _full)):
            found = Counter[str]()
            while found["survived"] < count:  # what is lost raises an error
                name = rng.choice(chosen)
                found[_trial(Path(folder), name, *wholes[name], rng, end, share)] += 1
            print(f"{title}: {found['survived']} runs, all survived; {found['ended before']} ended before", flush=True)


def _arguments(folder: Path, name: str, target: Path, share: float) -> list[str]:
    netlist = folder / f"{name}.net"
    text = re.sub(r"stop = (\d+) s", lambda found: f"stop = {share * float(found[1])} s", NETLISTS[name])
    netlist.write_text(text, encoding="utf-8")
    return [sys.executable, "-c", CHILD, "run", str(netlist), "-o", str(target), "--quiet"]


def _whole(folder: Path, name: str, share: float) -> tuple[Path, float]:
    """The result of a run that nothing ends, and its seconds (of a second one: all code is compiled then)."""
    target = folder / f"{name}-whole.csv"
    for _ in range(2):
        begun = time.perf_counter()
        subprocess.run(_arguments(folder, name, target, share), check=True)
    return target, time.perf_counter() - begun


def _killed(arguments: list[str], seconds: float, whole: Path, rng: random.Random) -> int:
    """The exit status of a run that is killed at a random moment."""
    process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
    try:
        return process.wait(rng.uniform(0.0, seconds))
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _full(arguments: list[str], seconds: float, whole: Path, rng: random.Random) -> int:
    """The exit status of a run that cannot write files beyond a random size."""
    most = rng.randrange(1000, whole.stat().st_size)

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    done = subprocess.run(arguments, preexec_fn=bound, capture_output=True, text=True)
    assert done.returncode in (0, 1, 2) and "internal error" not in done.stderr, done
    assert done.returncode == 0 or "cannot be written" in done.stderr, done
    return done.returncode


def _trial(
    folder: Path, name: str, whole: Path, seconds: float, rng: random.Random, end: Callable[..., int], share: float
) -> str:
    """What became of one run: it ended before, or survived; raises `AssertionError` where it did not."""
    target = folder / f"{name}.csv"
    target.unlink(missing_ok=True)
    arguments = _arguments(folder, name, target, share)
    if end(arguments, seconds, whole, rng) == 0:
        return "ended before"
    state = part_of(target) / "1.state"
    if state.is_file():
        left, there = read(part_of(target)), read(whole)
        n = left.sizes["time"]
        assert np.array_equal(left["time"].values, there["time"].values[:n])
        assert all(np.array_equal(left[key].values, there[key].values[:n]) for key in there.data_vars)
    subprocess.run([*arguments, *(["--resume"] if state.is_file() else [])], check=True)
    assert target.read_bytes() == whole.read_bytes() and not part_of(target).exists()
    return "survived"


if __name__ == "__main__":
    report()
