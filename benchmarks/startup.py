"""CPU seconds of commands in processes of their own, beside the goals: first runs with an empty cache folder, then
commands and runs with a filled one; then milliseconds of runs from Python again (`repeat.py`). Machine code of the core
counts as built (`make core`): where it is not, the first runs compile it, and the head says so.

CPU seconds are those of the process and its children, user and system; of warm commands the least of some. Bytecode of
all modules is there, as where netsim is installed, also where the environment forbids to write it.
"""

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import repeat

from netsim.core.compiled import store

ROOT = Path(__file__).parents[1]
FIRST = ("two_masses", "diode_bridge", "hydraulic_servo", "tripod/stage1", "mechanisms/delta_robot")
"""Shipped models that are run for the first time on a machine, each with a cache folder of its own; the rest of a long
run is left out by `--stop`."""
STOPS = {"tripod/stage1": "0.1", "mechanisms/delta_robot": "0.1"}
FIRST_GOAL, FLAT_GOAL = 2.0, 0.8
WARM: tuple[tuple[str, Sequence[str], float], ...] = (
    ("run two_masses, csv only", ["run", "two_masses", "-o", "result.csv"], 0.4),
    ("run two_masses, with picture", ["run", "two_masses"], 1.0),
    ("check two_masses", ["check", "two_masses"], 0.3),
    ("show two_masses", ["show", "two_masses"], 0.3),
    ("list", ["list"], 0.3),
    ("list spring", ["list", "spring"], 0.3),
)
"""(name, command, goal)"""
IMPORTS = ("numba", "casadi", "pandas", "xarray", "networkx", "matplotlib")
"""Looked for among the modules of the first of the warm commands."""
LINES = 10_000
AGAIN_GOALS = (1.0, 3.0)
"""Milliseconds of a circuit's run, and of a mechanism's beside its time loop."""


def flat(lines: int) -> str:
    """So many elements, a line each: a chain of resistors with a capacitor at every node, and one step."""
    pairs = range(lines // 2)
    found = [f"r{k} resistor (n{k}, n{k + 1}) R = 1 Ohm\nc{k} capacitor (n{k + 1}, ground) C = 1 uF" for k in pairs]
    run = ["run transient(stop = 1 us, step = 1 us)", "save n1.v", ""]
    return "\n".join(["use electrical", "v voltage (n0, ground) v = 1 V", *found, *run])


def spent(arguments: Sequence[str], folder: str, cache: str) -> tuple[float, str]:
    """CPU seconds of `python ...` in a folder, and what it wrote on stderr; raises RuntimeError where it fails."""
    own = {"NETSIM_CACHE": cache, "PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(Path(folder, "bytecode"))}
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | own
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr


def report(repeats: int = 5, first: Sequence[str] = FIRST, lines: int = LINES, cache: str = "") -> None:
    """A line for each first run, each warm command, and the flat lines; then what the first warm command imports. With
    `cache` that folder is used for all, filled or not."""
    built = store.BUILT.is_dir() and any(store.BUILT.iterdir())
    print(f"Commands in fresh processes, CPU seconds; machine code of the core is {'built' if built else 'not built'}")
    print(f"  {'':40}{'':>8}{'goal':>8}")
    with tempfile.TemporaryDirectory() as folder:
        scale = min(spent(["-c", "import numpy"], folder, folder)[0] for _ in range(repeats + 1))
        print(f"  {'import numpy, for scale':40}{scale:8.2f}")
        if first:
            with tempfile.TemporaryDirectory() as other:  # writes the bytecode
                spent(["-m", "netsim", "run", first[0], "--stop", "0.01"], folder, cache or other)
        for name in first:
            options = ["--stop", STOPS[name]] if name in STOPS else []
            with tempfile.TemporaryDirectory() as empty:
                seconds, _ = spent(["-m", "netsim", "run", name, *options], folder, cache or empty)
            _line(f"first run of {name}", seconds, FIRST_GOAL)
        with tempfile.TemporaryDirectory() as filled:
            _warm(repeats, lines, folder, cache or filled)
    for goal, (name, model, parameter, value) in zip(AGAIN_GOALS, repeat.cases()):
        whole, loop = repeat.again(model, parameter, value, repeats)
        beside, what = (whole, "ms again") if goal == AGAIN_GOALS[0] else (whole - loop, "ms beside the loop, again")
        print(f"  {f'{name}, {what}':40}{beside:8.1f}{goal:8.1f}", flush=True)


def _warm(repeats: int, lines: int, folder: str, cache: str) -> None:
    imported = ""
    for name, command, goal in WARM:
        spent(["-m", "netsim", *command], folder, cache)
        _line(name, min(spent(["-m", "netsim", *command], folder, cache)[0] for _ in range(repeats)), goal)
        imported = imported or spent(["-X", "importtime", "-m", "netsim", *command], folder, cache)[1]
    Path(folder, "flat.net").write_text(flat(lines), encoding="utf-8")
    command = ["-m", "netsim", "run", "flat.net", "-o", "flat.csv"]
    spent(command, folder, cache)
    _line(f"{lines:,} flat lines, one step", min(spent(command, folder, cache)[0] for _ in range(repeats)), FLAT_GOAL)
    modules = {line.rpartition("|")[2].strip() for line in imported.splitlines()}
    print(f"  '{WARM[0][0]}' imports {', '.join(m for m in IMPORTS if m in modules) or 'none'} of {', '.join(IMPORTS)}")


def _line(name: str, seconds: float, goal: float) -> None:
    print(f"  {name:40}{seconds:8.2f}{goal:8.1f}", flush=True)


if __name__ == "__main__":
    report()
