"""The same netlists by this checkout and by another one: CPU time of the time loop and of the whole run, and steps.

    python benchmarks/beside.py OTHER [NETLIST ...]

OTHER is a folder with another state of the project (`git worktree add ../other COMMIT`). Without netlists it takes all
of OTHER's models. A netlist is read from OTHER and runs in a fresh process of each checkout, one after the other; the
first run compiles, of the others the fastest counts. A run that names no method takes there the one that it takes here:
what is compared is the loop and not what a method costs.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import geometric_mean, median
from typing import NamedTuple

HERE = Path(__file__).resolve().parent.parent
REPEATS = 3
LIMIT = 600.0
"""Seconds that a process may take; a netlist that needs more in either checkout is told as such."""
SHORT = 2e-3
"""Seconds of a loop below which a ratio says nothing."""
WORSE = 1.15
RUN = re.compile(r"^(run .*?\b(?:transient|inverse)\((?!.*\bmethod *=))", re.MULTILINE)
"""A run that names no method, up to its first option."""

CHILD = """
import json, sys, netsim
model = netsim.load(sys.argv[1])
runs = {}
for _ in range(1 + int(sys.argv[2])):
    for number, samples in enumerate(model.samples() if hasattr(model, "samples") else model.run()):
        told = samples.attributes
        if "loop_cpu_seconds" in told:
            spent = told["loop_cpu_seconds"], told["cpu_seconds"]
            runs.setdefault(number, []).append((*spent, told.get("steps", 0), samples.finished, told["method"]))
best = lambda found, k: min(run[k] for run in found[1:])
print(json.dumps([[best(found, 0), best(found, 1), *found[0][2:]] for found in runs.values()]))
"""


class Effort(NamedTuple):
    """CPU seconds of a transient run's loop and of all of it, its steps, whether it came to its end, and its method."""

    loop: float
    whole: float
    steps: int
    finished: bool
    method: str


def efforts(checkout: Path, netlist: Path, repeats: int) -> list[Effort] | str:
    """The transient runs of a netlist in a fresh process of a checkout, or what ended the process."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    command = [sys.executable, "-P", "-c", CHILD, str(netlist), str(repeats)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"over {LIMIT:g} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["ended"])[-1][:90]
    return [Effort(*run) for run in json.loads(done.stdout.splitlines()[-1])]


@contextmanager
def by_method(netlist: Path, found: list[Effort] | str) -> Iterator[Path]:
    """The netlist with the method of the runs found, where they have one in common, in each run that names none: a
    file beside it, which may read the same other files."""
    methods = {run.method for run in found} if not isinstance(found, str) else set()
    if len(methods) != 1:
        yield netlist
        return
    named = netlist.with_name(f"beside_{os.getpid()}_{netlist.name}")
    named.write_text(RUN.sub(rf"\1method = {methods.pop()}, ", netlist.read_text(encoding="utf-8")), encoding="utf-8")
    try:
        yield named
    finally:
        named.unlink()


def compared(other: Path, netlists: Sequence[Path], repeats: int) -> Iterator[tuple[float, float]]:
    """Print a line for each transient run; yields the ratios (loop, whole run) of those that can be timed."""
    print(f"{'':52s}{'loop, ms':>20s}{'':8s}{'in all':>8s}{'steps':>16s}")
    print(f"{'':52s}{'other':>10s}{'here':>10s}{'ratio':>8s}{'ratio':>8s}{'other':>8s}{'here':>8s}")
    for netlist in netlists:
        name = str(netlist.relative_to(other / "models") if netlist.is_relative_to(other / "models") else netlist.name)
        now = efforts(HERE, netlist, repeats)
        with by_method(netlist, now) as named:
            before = efforts(other, named, repeats)
        if isinstance(before, str) or isinstance(now, str):
            print(f"{name:52s} {before} | {now}" if before != now else f"{name:52s} {now}", flush=True)
            continue
        for number, (old, new) in enumerate(zip(before, now)):
            label = f"{name} {number + 1}" if len(now) > 1 else name
            loop, whole = new.loop / old.loop, new.whole / old.whole
            where = [word for word, run in (("other", old), ("here", new)) if not run.finished]
            print(f"{label:52s}{1e3 * old.loop:10.2f}{1e3 * new.loop:10.2f}{loop:8.2f}{whole:8.2f}", end="")
            print(f"{old.steps:8d}{new.steps:8d}  {'stopped: ' + ', '.join(where) if where else ''}", flush=True)
            if not where and max(old.loop, new.loop) > SHORT:
                yield loop, whole


def report(other: Path, netlists: Sequence[Path], repeats: int = REPEATS) -> None:
    """The table, and the mean ratios."""
    ratios = list(compared(other, netlists, repeats))
    if ratios:
        loops, wholes = zip(*ratios)
        print(
            f"{len(ratios)} loops above {1e3 * SHORT:g} ms, here over other: geometric mean {geometric_mean(loops):.2f}"
        )
        print(f"median {median(loops):.2f}, {sum(ratio > WORSE for ratio in loops)} above {WORSE}; ", end="")
        print(f"whole runs: geometric mean {geometric_mean(wholes):.2f}")


def shipped(other: Path) -> list[Path]:
    """Its models, without those that are to be refused."""
    return sorted(path for path in (other / "models").rglob("*.net") if "broken" not in path.parts)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path)
    parser.add_argument("netlists", nargs="*", type=Path)
    parser.add_argument("--repeats", type=int, default=REPEATS)
    given = parser.parse_args()
    folder = given.other.resolve()
    report(folder, [path.resolve() for path in given.netlists] or shipped(folder), given.repeats)
