"""Digital circuits of MOSFETs (SPICE's level 1) beside ngspice: CPU time of the whole process at equal error, one file
for both, in one run.

Chains and rings of inverters, ripple-carry adders of NAND gates, and counters of edge-triggered flip-flops, in
subcircuits as one writes them. Each program runs at several tolerances in processes of its own, netsim's caches filled
before; CPU seconds are those of the process with its start, reading, building, operating point and output. Errors are
normalised rms differences of the named outputs from a fine run of netsim; how far the finest run of ngspice is from it
is told beside. ngspice's points are joined by straight lines, as it gives no others.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from integrators import Point, cost_at

Array = np.ndarray
SUPPLY = 2.5
COMMON = "gamma=0.4 phi=0.7 tox=10n cgso=0.3n cgdo=0.3n cj=1m cjsw=0.3n mj=0.5"
MODELS = f""".model mn nmos level=1 vto=0.5 kp=120u lambda=0.04 {COMMON}
.model mp pmos level=1 vto=-0.5 kp=40u lambda=0.05 {COMMON}
"""
DRAINS = {"mp": "w=4u l=0.5u ad=4p as=4p pd=10u ps=10u", "mn": "w=2u l=0.5u ad=2p as=2p pd=6u ps=6u"}
RTOLS = {"radau": (1e-2, 1e-3), "trbdf2": (3e-2, 1e-2, 3e-3), "bdf": (1e-2, 3e-3)}
RELTOLS = (1e-3, 1e-4, 1e-5)
LEVELS = (3e-2, 1e-2, 3e-3)
FINEST = 1e-5
"""The tolerance of the run that errors are taken from."""


@dataclass(frozen=True)
class Circuit:
    """A circuit's lines, what it is judged by, and how long it runs."""

    lines: str
    outputs: tuple[str, ...]
    stop: float
    uic: bool = False

    def text(self, options: str = "") -> str:
        """The deck."""
        saved = " ".join(f"v({name})" for name in self.outputs)
        run = f".tran {self.stop / 500:g} {self.stop:g}{' uic' if self.uic else ''}"
        return f"digital\nvdd vdd 0 {SUPPLY}\n{self.lines}{MODELS}{GATES}.save {saved}\n{run}\n{options}.end\n"


def _mosfet(name: str, drain: str, gate: str, source: str, kind: str) -> str:
    bulk = "vdd" if kind == "mp" else "0"
    return f"m{name} {drain} {gate} {source} {bulk} {kind} {DRAINS[kind]}\n"


def _nand(count: int) -> str:
    """A NAND gate: transistors to the supply in parallel, those to ground in series, and the wire."""
    inputs = [f"a{i}" for i in range(count)]
    nodes = ["y", *(f"s{i}" for i in range(1, count)), "0"]
    lines = [_mosfet(f"p{i}", "y", name, "vdd", "mp") for i, name in enumerate(inputs)]
    lines += [_mosfet(f"n{i}", nodes[i], name, nodes[i + 1], "mn") for i, name in enumerate(inputs)]
    return f".subckt nand{count} {' '.join(inputs)} y vdd\n{''.join(lines)}c1 y 0 5f\n.ends\n"


GATES = (
    f".subckt inv a y vdd\n{_mosfet('p', 'y', 'a', 'vdd', 'mp')}{_mosfet('n', 'y', 'a', '0', 'mn')}c1 y 0 5f\n.ends\n"
    + _nand(2) + _nand(3)
    + """.subckt fulladder a b c s cout vdd
x1 a b n1 vdd nand2
x2 a n1 n2 vdd nand2
x3 b n1 n3 vdd nand2
x4 n2 n3 n4 vdd nand2
x5 n4 c n5 vdd nand2
x6 n4 n5 n6 vdd nand2
x7 c n5 n7 vdd nand2
x8 n6 n7 s vdd nand2
x9 n1 n5 cout vdd nand2
.ends
.subckt flipflop d clk clear q qn vdd
x1 n4 n2 n1 vdd nand2
x2 n1 clk clear n2 vdd nand3
x3 n2 clk n4 n3 vdd nand3
x4 n3 d clear n4 vdd nand3
x5 n2 qn q vdd nand2
x6 q n3 clear qn vdd nand3
.ends
"""
)  # fmt: skip


def chain(count: int) -> Circuit:
    """Inverters in a row behind a pulse."""
    lines = "vin n0 0 pulse(0 2.5 0.2n 0.1n 0.1n 4n 10n)\n"
    lines += "".join(f"x{i} n{i - 1} n{i} vdd inv\n" for i in range(1, count + 1))
    return Circuit(lines, (f"n{count // 2}", f"n{count}"), 2e-10 * count)


def ring(count: int) -> Circuit:
    """An odd number of inverters in a ring, started by initial voltages."""
    lines = "".join(f"x{i} n{i} n{(i + 1) % count} vdd inv\n" for i in range(count))
    starts = "".join(f".ic v(n{i})={SUPPLY * (i % 2)}\n" for i in range(count))
    return Circuit(lines + starts, ("n0", f"n{count // 2}"), 6e-10 * count, True)


def adder(bits: int) -> Circuit:
    """A ripple-carry adder: all ones, and one at the first bit that comes and goes."""
    lines = f"vb b0 0 pulse(0 {SUPPLY} 1n 0.1n 0.1n {bits * 1e-9 + 2e-9} 1)\n" + f"vone one 0 {SUPPLY}\n"
    for i in range(bits):
        lines += f"x{i} one {'b0' if i == 0 else '0'} {'0' if i == 0 else f'c{i - 1}'} s{i} c{i} vdd fulladder\n"
    return Circuit(lines, (f"s{bits - 1}", f"c{bits - 1}"), 2e-9 * (bits + 3))


def counter(bits: int) -> Circuit:
    """Flip-flops that halve the clock, each clocked by the one before."""
    lines = f"vclk clk 0 pulse(0 {SUPPLY} 3n 0.1n 0.1n 2.9n 6n)\nvclear clear 0 pulse(0 {SUPPLY} 1n 0.1n 0.1n 1 2)\n"
    for i in range(bits):
        lines += f"x{i} qn{i} {'clk' if i == 0 else f'qn{i - 1}'} clear q{i} qn{i} vdd flipflop\n"
    return Circuit(lines, (f"q{bits - 2}", f"q{bits - 1}"), 6e-9 * (2**bits + 1))


CIRCUITS = {
    "chain 100": lambda: chain(100),
    "ring 51": lambda: ring(51),
    "adder 4": lambda: adder(4),
    "adder 16": lambda: adder(16),
    "adder 64": lambda: adder(64),
    "counter 4": lambda: counter(4),
}


def _process(command: list[str], folder: str) -> tuple[float, str]:
    """CPU seconds of a process with its children, and what it printed."""
    before, own = resource.getrusage(resource.RUSAGE_CHILDREN), {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    own.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed program has its bytecode
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=own)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def netsim_run(circuit: Circuit, rtol: float, method: str = "") -> tuple[Array, Array, float, dict]:
    """Instants, outputs, CPU seconds of the process, and what the run counted."""
    import xarray

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "circuit.cir").write_text(circuit.text())
        chosen = ["--method", method] if method else []
        command = [sys.executable, "-m", "netsim", "run", "circuit.cir", "-o", "r.nc", "--quiet", "--rtol", str(rtol)]
        seconds, _ = _process(command + chosen, folder)
        with xarray.open_dataset(Path(folder, "r.nc")) as data:
            values = np.array([data[f"{name}.v"].values for name in circuit.outputs]).T
            return data["time"].values, values, seconds, dict(data.attrs)


def ngspice_run(circuit: Circuit, reltol: float) -> tuple[Array, Array, float, dict]:
    """The same of ngspice."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "circuit.cir").write_text(circuit.text(f".options reltol={reltol} acct noinit\n"))
        seconds, said = _process(["ngspice", "-b", "-r", "r.raw", "circuit.cir"], folder)
        head, _, body = Path(folder, "r.raw").read_bytes().partition(b"Binary:\n")
    names = re.findall(r"^\t\d+\t(\S+)", head.decode(), re.MULTILINE)
    values = np.frombuffer(body, float).reshape(-1, len(names))
    found = {key: float(value) for key, value in re.findall(r"^([A-Z][\w /-]+?) = ([\d.eE+-]+)", said, re.MULTILINE)}
    return values[:, 0], values[:, [names.index(f"v({name})") for name in circuit.outputs]], seconds, found


def error(found: tuple[Array, Array], exact: tuple[Array, Array]) -> float:
    """Root of the mean square of the differences at the instants of the fine run, over the supply."""
    times, values = exact
    moved = np.array([np.interp(times, found[0], column) for column in found[1].T]).T
    return float(np.sqrt(np.mean((moved - values) ** 2)) / SUPPLY)


def report(
    names: tuple[str, ...] = tuple(CIRCUITS), rtols: dict[str, tuple[float, ...]] = RTOLS,
    reltols: tuple[float, ...] = RELTOLS, finest: float = FINEST, levels: tuple[float, ...] = LEVELS,
) -> None:  # fmt: skip
    """Print the tables."""
    print("Digital circuits: error, and CPU seconds of whole processes (netsim: of which the time loop)")
    for name in names:
        circuit = CIRCUITS[name]()
        times, values, _, _ = netsim_run(circuit, finest)
        ours: dict[str, list[Point]] = {method: [] for method in rtols}
        theirs: list[Point] = []
        print(f" {name}: {circuit.text().count(chr(10))} lines")
        for method, rtol in ((method, rtol) for method, asked in rtols.items() for rtol in asked):
            instants, found, cpu, about = netsim_run(circuit, rtol, method)
            missed = error((instants, found), (times, values))
            ours[method].append((missed, cpu))
            loop, steps, iterations = about["loop_cpu_seconds"], about["steps"], about["iterations"]
            print(
                f"  netsim {method:8}{rtol:7.0e}  error {missed:7.1e}  CPU {cpu:7.2f} ({loop:6.2f})"
                f"  {steps:6d} steps  {iterations:7d} iterations",
                flush=True,
            )
        for reltol in reltols if shutil.which("ngspice") else ():
            instants, found, cpu, about = ngspice_run(circuit, reltol)
            theirs.append((error((instants, found), (times, values)), cpu))
            print(
                f"  ngspice        {reltol:7.0e}  error {theirs[-1][0]:7.1e}  CPU {cpu:7.2f}         "
                f"  {len(instants):6d} steps  {int(about['Transient iterations']):7d} iterations",
                flush=True,
            )
        for level in levels if theirs else ():
            costs = [cost_at(points, level) for points in ours.values()]
            own = float(np.nanmin(costs)) if np.isfinite(costs).any() else np.nan
            other = cost_at(theirs, level)
            print(f"  at an error of {level:.0e}: netsim {own:.2f} s, ngspice {other:.2f} s, ratio {own / other:.2f}")


if __name__ == "__main__":
    report(tuple(sys.argv[1:]) or tuple(CIRCUITS))
