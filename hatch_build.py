"""Machine code of the core and syntax trees of the libraries, made once and kept in the package.

    python hatch_build.py [FOLDER]    runs models and keeps what they need in netsim/core/compiled/built (`make core`
                                      and `make wheel` do it): functions for every instruction set of the processor's
                                      family, kernels for that of this processor, trees, the parser's tables; it needs
                                      numba, which a user does not

hatchling asks `CustomBuildHook` when it packs a wheel: with machine code inside, the wheel is one for this platform and
every version of Python. The models are packed too, but for those of the tests (`models/broken`).
"""

import contextlib
import io
import re
import sys
import sysconfig
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
BUILT = ROOT / "netsim/core/compiled/built"
FIRST = str(ROOT / "models/two_masses.net")
"""The model whose machine code nearly all others need too: it runs before the others begin."""
LONGEST = 2.0
"""Seconds that a run of a model lasts at most, once it steps."""
METHODS = ["radau", "bdf", "trbdf2", "euler", "generalized_alpha", "rk45", "rk6", "rk8"]
CIRCUIT = """use electrical
v voltage (a, ground) v = 1 V*sin(100 rad/s*time)
r resistor (a, b) R = 1 kOhm
c capacitor (b, ground) C = 1 uF
d diode (b, ground)
run transient(stop = 10 ms)
"""
EVENTS = """use translational
m mass (a) m = 1 kg
f force (a) F = 5 N*sin(5 rad/s*time)
d coulomb_friction (a, ground) F = 0.5 N
start a.v = -1 m/s
run transient(stop = 1 s)
"""


Job = tuple[str, Callable[..., None], tuple[Any, ...]]
"""A name, and a function with its arguments that needs machine code."""


def work() -> Iterator[Job]:
    """What is run."""
    for method in METHODS:
        yield f"two masses by {method}", run, (FIRST, {"method": method, "stop": 0.05})
        yield f"two masses in steps by {method}", run, (FIRST, {"method": method, "stop": 0.05, "step": 1e-3})
    for method in METHODS[:3]:
        yield f"a circuit by {method}", run, (CIRCUIT, {"method": method})
        yield f"friction by {method}", run, (EVENTS, {"method": method})
        yield f"a simulator by {method}", step, (method,)
    yield "two masses in steps, forces recovered", run, (FIRST, {"stop": 0.05, "step": 1e-3, "forces": "recovered"})
    yield "starts that are hard to find", look, ()
    yield "trees", read, (str(ROOT / "docs/recursion.md"),)
    for path in models():
        if path.suffix == ".net":
            yield path.relative_to(ROOT).as_posix(), run, (str(path), {})


def models() -> list[Path]:
    """The files of the models that a user is given, with the tables and texts they include."""
    files = (path for path in sorted((ROOT / "models").rglob("*")) if path.is_file())
    return [path for path in files if "broken" not in path.relative_to(ROOT).parts]


def build(folder: Path = BUILT, workers: int = 2) -> None:
    """Fill a folder with the machine code that `work` needs. A line a minute says how far it is."""
    folder.mkdir(parents=True, exist_ok=True)
    jobs, begun, clock = list(work()), time.monotonic(), time.time() - 1.0
    made = done(jobs[0], folder)
    print(f"{jobs[0][0]}: {made} functions compiled, {time.monotonic() - begun:.0f} s", flush=True)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        for job, count in zip(jobs[1:], pool.map(done, jobs[1:], [folder] * (len(jobs) - 1))):
            if count:
                print(f"{job[0]}: {count} functions compiled, {time.monotonic() - begun:.0f} s", flush=True)
    for each in folder.iterdir():
        if each.stat().st_mtime < clock:  # of functions that have changed since
            each.unlink()
    size = sum(each.stat().st_size for each in folder.iterdir())
    print(f"{len(list(folder.iterdir()))} objects, {size / 1e6:.1f} MB, {time.monotonic() - begun:.0f} s")


class Enough(Exception):
    """A run has lasted long enough to have called everything."""


def done(job: Job, folder: Path) -> int:
    """Do one job under `building`; how many functions were translated. One that ends early, as some do on purpose, has
    called what it needs as well."""
    from netsim.core.compiled import objects, store
    from netsim.text.errors import NetsimError

    told: list[str] = []
    objects.translating.append(told.append)
    with warnings.catch_warnings(action="ignore"), store.building(folder), contextlib.suppress(NetsimError, Enough):
        job[1](*job[2])
    objects.translating.remove(told.append)
    return len(told)


def run(source: str, options: dict[str, Any]) -> None:
    """Each line of a model, for a while, beside other lines that end early."""
    import netsim
    from netsim.text.errors import NetsimError

    model = netsim.load(source)
    for line in model.network.runs:
        alone = replace(model, network=replace(model.network, runs=(line,)))
        with contextlib.suppress(NetsimError, Enough):
            alone.samples(options, watch())


def step(method: str) -> None:
    """Models stepped from Python, gone back and forked."""
    import netsim

    for source in (FIRST, CIRCUIT, EVENTS):
        sim = netsim.load(source).simulator(method=method)
        kept = sim.state
        sim.step(1e-4)
        sim.state = kept
        sim.fork().advance(1e-3)


def look() -> None:
    """Points without a run."""
    import netsim

    for source in (FIRST, CIRCUIT, EVENTS, str(ROOT / "models/diode_bridge.net")):
        netsim.load(source).static()
        netsim.load(source).modal()


def read(page: str) -> None:
    """The blocks of Python in a page."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(tempfile.mkdtemp()):
        space: dict[str, Any] = {"__name__": "page"}
        for block in re.findall(r"^```python\n(.*?)^```$", Path(page).read_text(encoding="utf-8"), re.M | re.S):
            exec(block, space)


def watch() -> Callable[[float, float, int], None]:
    """What a run calls now and then: raises `Enough` where it was first called `LONGEST` ago."""
    called: list[float] = []

    def look(t: float, stop: float, steps: int) -> None:
        called.append(time.monotonic())
        if called[-1] - called[0] > LONGEST:
            raise Enough

    return look


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # the script, where nothing is packed
    BuildHookInterface = object


class CustomBuildHook(BuildHookInterface):  # type: ignore[misc, type-arg]
    """Tags a wheel that holds machine code, and adds the models. What has none needs a compiler."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """See hatchling."""
        if version == "standard":
            placed = {str(path): f"netsim/model_files/{path.relative_to(ROOT / 'models')}" for path in models()}
            build_data["force_include"] |= placed
        if version == "standard" and BUILT.is_dir() and any(BUILT.iterdir()):
            build_data["pure_python"], build_data["tag"] = False, f"py3-none-{platform()}"
        else:
            build_data["dependencies"] += self.metadata.core.optional_dependencies["compile"]


def platform() -> str:
    """The platform of a wheel. Machine code calls the C library by plain names, so any glibc serves on Linux."""
    found = re.sub(r"[^\w]", "_", sysconfig.get_platform())
    return found.replace("linux", "manylinux_2_17", 1) if found.startswith("linux") else found


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    build(*(Path(each) for each in sys.argv[1:2]))
