"""Commands that get SIGINT or SIGTERM at random moments, from the first import to the last byte.

Each of `COMMANDS` begins in a folder and with a cache of its own: what it imports, reads, compiles and writes is all
interrupted. It must end soon, with the status of the signal and no traceback, and leave whole files alone; the next one
on the same folder and cache must say and write what an undisturbed one does.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

NETLIST = """use electrical
component own (p, n : electrical)
  param R : Ohm = 2 Ohm
  branch p -> n : v, i
  v = R*i
end
v1 voltage (a, ground) v = 1 V
r own (a, b)
c capacitor (b, ground) C = 1 F
save b.v
"""
FILES = {
    "run.net": NETLIST + "run transient(stop = 5 s)\nplot b.v\n",
    "fit.net": NETLIST.replace("own (a, b)", "resistor (a, b) R = 2 Ohm")
    + 'run fit(to = "data.csv", signals = [b.v], parameters = [r.R = 1 .. 4 Ohm], write = "new.net")\n',
    "sweep.net": NETLIST.replace("own (a, b)", "resistor (a, b) R = 2 Ohm")
    + "run sweep(over = [r.R = 1 .. 4 Ohm], points = 40, stop = 5 s)\n",
    "data.csv": "time [s],b.v [V]\n0.5,0.18\n1,0.33\n2,0.55\n4,0.8\n",
}
COMMANDS = {
    "run": ["run", "run.net", "-o", "run.csv"],
    "run and plot": ["run", "run.net", "-o", "run.csv", "--plot", "svg"],
    "check": ["check", "run.net"],
    "fit": ["run", "fit.net", "-o", "fit.csv"],
    "sweep": ["run", "sweep.net", "-o", "sweep.csv"],
    "plot": ["plot", "before.csv", "-o", "plot.png"],
    "list": ["list", "electrical"],
}
WARM = "cache of wholes"
LONGEST = 20.0
"""Seconds from a signal to the end of a command, on a machine that is busy."""
MADE = {"run": "run.csv", "run and plot": "run.csv", "fit": "fit.csv", "sweep": "sweep.csv", "plot": "plot.png"}


def report(count: int = 100, seed: int = 1, commands: Sequence[str] = tuple(COMMANDS)) -> None:
    """Tally of so many commands that were ended by a signal."""
    rng, found = random.Random(seed), Counter[str]()
    with TemporaryDirectory() as folder:
        top = Path(folder)
        wholes = {name: _whole(top, name) for name in commands}
        while sum(n for what, n in found.items() if what != "ended before") < count:
            name = rng.choice(commands)
            what = _trial(top, name, *wholes[name], rng)
            found[what] += 1
            print(what, flush=True)
    print("\n".join(["", *(f"{what:30}{number:5}" for what, number in sorted(found.items()))]))


def _begun(folder: Path, cache: Path, name: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "NETSIM_CACHE": str(cache)}
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "netsim", *COMMANDS[name]]
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True, preexec_fn=_heed
    )  # fmt: skip


def _heed() -> None:
    """What a shell starts in the background ignores SIGINT, and so do its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _folder(top: Path) -> Path:
    folder = top / "work"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    rows = "".join(f"{k / 100},{k * k}\n" for k in range(1000))
    (folder / "before.csv").write_text(f"time [s],x [m]\n{rows}", encoding="utf-8")
    return folder


def _whole(top: Path, name: str) -> tuple[bytes, float, float]:
    """What an undisturbed command writes, and its seconds without and with a cache."""
    folder, cache = _folder(top), top / WARM
    cache.mkdir(exist_ok=True)
    seconds = []
    for _ in range(2):
        begun = time.perf_counter()
        process = _begun(folder, cache, name)
        _, told = process.communicate()
        assert process.returncode == 0, told
        seconds.append(time.perf_counter() - begun)
    return _made(folder, name), seconds[0], seconds[1]


def _made(folder: Path, name: str) -> bytes:
    file = MADE.get(name)
    return (folder / file).read_bytes() if file else b""


def _trial(top: Path, name: str, whole: bytes, cold: float, warm: float, rng: random.Random) -> str:
    """What became of one command; raises `AssertionError` where it did not do what it should."""
    folder, cache = _folder(top), top / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    is_cold = rng.random() < 0.5
    cache.mkdir() if is_cold else shutil.copytree(top / WARM, cache)
    number = rng.choice([signal.SIGINT, signal.SIGTERM])
    process = _begun(folder, cache, name)
    moment = rng.uniform(0.0, cold if is_cold else warm)
    try:
        process.wait(moment)
        return "ended before"
    except subprocess.TimeoutExpired:
        process.send_signal(number)
    _, told = process.communicate(timeout=LONGEST)
    where = f"{name}, {'cold' if is_cold else 'warm'}, {number.name} after {moment:.3f} s: {process.returncode}, {told}"
    early = process.returncode == -number or "init_import_site" in told  # before the first line of the program
    late = process.returncode == 0  # the command had ended
    assert early or late or process.returncode == 128 + number, where
    assert "internal error" not in told and ("Traceback" not in told or early), where
    assert early or late or "interrupted" in told, where
    hidden = [path.name for path in folder.iterdir() if path.name.startswith(".")]
    assert not hidden, f"{where}: {hidden}"
    again = _begun(folder, cache, name)
    _, told = again.communicate()
    assert again.returncode == 0 and _made(folder, name) == whole, f"{where}; then: {told}"
    return f"{name}: ended by {number.name}" if not early and not late else "at the first or last moment"


if __name__ == "__main__":
    report(*map(int, sys.argv[1:]))
