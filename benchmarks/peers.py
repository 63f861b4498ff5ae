"""The same problems for other programs: CasADi's IDAS, scikit-sundae's IDA, scipy's Radau, ngspice.

Each function of a tolerance builds and returns what is timed, a call without arguments that gives values: samples of
all states, or those at the end. Andrews' equations are those of Hairer and Wanner (Solving Ordinary Differential
Equations II, sec. VII.7), with the constraints of the positions differentiated twice: index 1, as IDAS needs it.
"""

import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from netlists import CAPACITANCE, RESISTANCE

Array = np.ndarray
Integrate = Callable[[], Array]

ANDREWS = {
    "m1": 0.04325, "m2": 0.00365, "m3": 0.02373, "m4": 0.00706, "m5": 0.0705, "m6": 0.00706, "m7": 0.05498,
    "I1": 2.194e-6, "I2": 4.41e-7, "I3": 5.255e-6, "I4": 5.667e-7, "I5": 1.169e-5, "I6": 5.667e-7, "I7": 1.912e-5,
    "xa": -0.06934, "ya": -0.00227, "xb": -0.03635, "yb": 0.03273, "xc": 0.014, "yc": 0.072, "c0": 4530.0,
    "l0": 0.07785, "mom": 0.033,
    "d": 0.028, "da": 0.0115, "e": 0.02, "ea": 0.01421, "rr": 0.007, "ra": 0.00092, "ss": 0.035, "sa": 0.01874,
    "sb": 0.01043, "sc": 0.018,
    "sd": 0.02, "ta": 0.02308, "tb": 0.00916, "u": 0.04, "ua": 0.01228, "ub": 0.00449, "zf": 0.02, "zt": 0.04,
    "fa": 0.01421,
}  # fmt: skip
ANDREWS_START = [
    -0.06171389001427645,
    0.0,
    0.45527981916307037,
    0.22266839016588588,
    0.48736497954384256,
    -0.22266839016588588,
    1.2305474445498212,
]
ANDREWS_RATES = [
    14222.443919954114,
    -10666.832939965585,
    0.0,
    0.0,
    0.0,
    0.0,
    0.0,
    98.56687039624109,
    -6.122688344255662,
    0.0,
    0.0,
    0.0,
    0.0,
]
"""Accelerations and multipliers at the start."""


def ladder_by_casadi(n: int, times: Array) -> Callable[[float], Integrate]:
    """The ladder's n capacitor voltages by IDAS at the given times, (len(times), n)."""
    import casadi as ca

    v, t = ca.SX.sym("v", n), ca.SX.sym("t")
    source = ca.fmin(ca.fmax((t - 1e-6) / 1e-6, 0), 1)
    current = (ca.vertcat(source, v[:-1]) - v) / (RESISTANCE / n)
    rates = (current - ca.vertcat(current[1:], 0)) / (CAPACITANCE / n)

    def build(rtol: float) -> Integrate:
        solver = ca.integrator(
            "ladder", "idas", {"x": v, "t": t, "ode": rates}, 0.0, list(times), {"reltol": rtol, "abstol": rtol}
        )
        return lambda: np.array(solver(x0=np.zeros(n))["xf"]).T

    return build


def ladder_by_sundae(n: int, times: Array) -> Callable[[float], Integrate]:
    """The same by IDA with a banded matrix, residuals in NumPy."""
    from sksundae import ida

    tau = RESISTANCE * CAPACITANCE / n**2

    def residual(t: float, v: Array, rates: Array, out: Array) -> None:
        out[:] = -tau * rates
        out[1:] += v[:-1] - v[1:]
        out[:-1] += v[1:] - v[:-1]
        out[0] += min(max((t - 1e-6) / 1e-6, 0.0), 1.0) - v[0]

    def build(rtol: float) -> Integrate:
        solver = ida.IDA(residual, rtol=rtol, atol=rtol, linsolver="band", lband=1, uband=1)
        return lambda: solver.solve(np.concatenate([[0.0], times]), np.zeros(n), np.zeros(n)).y[1:]

    return build


def andrews_by_casadi(states_only: bool) -> Callable[[float], Integrate]:
    """The seven angles and their rates at 0.03 s by IDAS; `states_only`: accelerations and multipliers are left out of
    its error test."""
    import casadi as ca

    q, v, a, force = ca.SX.sym("q", 7), ca.SX.sym("v", 7), ca.SX.sym("a", 7), ca.SX.sym("l", 6)
    mass, load, gap = _andrews_equations(ca, q, v)
    slope = ca.jacobian(gap, q)
    bend = ca.jtimes(ca.jtimes(gap, q, v), q, v)
    dae = {
        "x": ca.vertcat(q, v),
        "z": ca.vertcat(a, force),
        "ode": ca.vertcat(v, a),
        "alg": ca.vertcat(mass @ a - load + slope.T @ force, slope @ a + bend),
    }

    def build(rtol: float) -> Integrate:
        options = {"reltol": rtol, "abstol": rtol, "suppress_algebraic": states_only, "max_num_steps": 100_000}
        solver = ca.integrator("andrews", "idas", dae, 0.0, 0.03, options)
        return lambda: np.array(solver(x0=ANDREWS_START + [0.0] * 7, z0=ANDREWS_RATES)["xf"]).ravel()

    return build


def _andrews_equations(ca: Any, q: Any, v: Any) -> tuple[Any, Any, Any]:
    """Mass matrix, loads and constraints of the squeezing mechanism."""
    p: Any = type("Parameters", (), ANDREWS)
    s, c = ca.sin, ca.cos
    be, th, ga, ph, de, om, ep = ca.vertsplit(q)
    bep, thp, _, php, dep, omp, epp = ca.vertsplit(v)
    ee, ff = p.e - p.ea, p.zf - p.fa
    mass = ca.SX.zeros(7, 7)
    mass[0, 0] = p.m1 * p.ra**2 + p.m2 * (p.rr**2 - 2 * p.da * p.rr * c(th) + p.da**2) + p.I1 + p.I2
    mass[1, 0] = mass[0, 1] = p.m2 * (p.da**2 - p.da * p.rr * c(th)) + p.I2
    mass[1, 1] = p.m2 * p.da**2 + p.I2
    mass[2, 2] = p.m3 * (p.sa**2 + p.sb**2) + p.I3
    mass[3, 3] = p.m4 * ee**2 + p.I4
    mass[4, 3] = mass[3, 4] = p.m4 * (ee**2 + p.zt * ee * s(ph)) + p.I4
    mass[4, 4] = p.m4 * (p.zt**2 + 2 * p.zt * ee * s(ph) + ee**2) + p.m5 * (p.ta**2 + p.tb**2) + p.I4 + p.I5
    mass[5, 5] = p.m6 * ff**2 + p.I6
    mass[6, 5] = mass[5, 6] = p.m6 * (ff**2 - p.u * ff * s(om)) + p.I6
    mass[6, 6] = p.m6 * (ff**2 - 2 * p.u * ff * s(om) + p.u**2) + p.m7 * (p.ua**2 + p.ub**2) + p.I6 + p.I7
    x, y = p.sd * c(ga) + p.sc * s(ga) + p.xb - p.xc, p.sd * s(ga) - p.sc * c(ga) + p.yb - p.yc
    length = ca.sqrt(x**2 + y**2)
    pull = -p.c0 * (length - p.l0) / length
    load = ca.vertcat(
        p.mom - p.m2 * p.da * p.rr * thp * (thp + 2 * bep) * s(th), p.m2 * p.da * p.rr * bep**2 * s(th),
        pull * (x * (p.sc * c(ga) - p.sd * s(ga)) + y * (p.sd * c(ga) + p.sc * s(ga))),
        p.m4 * p.zt * ee * dep**2 * c(ph), -p.m4 * p.zt * ee * php * (php + 2 * dep) * c(ph),
        -p.m6 * p.u * ff * epp**2 * c(om), p.m6 * p.u * ff * omp * (omp + 2 * epp) * c(om),
    )  # fmt: skip
    px, py = p.rr * c(be) - p.d * c(be + th), p.rr * s(be) - p.d * s(be + th)
    gap = ca.vertcat(
        px - p.ss * s(ga) - p.xb, py + p.ss * c(ga) - p.yb,
        px - p.e * s(ph + de) - p.zt * c(de) - p.xa, py + p.e * c(ph + de) - p.zt * s(de) - p.ya,
        px - p.zf * c(om + ep) - p.u * s(ep) - p.xa, py - p.zf * s(om + ep) + p.u * c(ep) - p.ya,
    )  # fmt: skip
    return mass, load, gap


def amplifier_by_scipy(rtol: float) -> Integrate:
    """The eight voltages at 0.2 s by scipy's Radau on the five capacitor voltages: y2 and y5 follow from them by
    Wright's omega function."""
    from scipy.integrate import solve_ivp
    from scipy.special import wrightomega

    vt, beta, alpha, r0, r, bias = 0.026, 1e-6, 0.99, 1e3, 9e3, 6.0
    g = (1 / r0 + 2 / r, 3 / r)
    late = [np.log((1 - alpha) * beta / (gk * vt)) for gk in g]

    def voltages(t: float, u: Array) -> tuple[Array, Array, Array]:
        """Nodes, and both transistors' currents: G y + (1 - alpha) beta exp((y - emitter)/vt) = c solved for y at
        either base."""
        base, control, before = [], [], 0.0
        feed = ((u[0] + 0.1 * np.sin(200 * np.pi * t)) / r0 + bias / r, u[2] / r + 2 * bias / r)
        for k, emitter in enumerate((u[1], u[3])):
            c = feed[k] + (1 - alpha) * beta - alpha * before
            d = (c - g[k] * emitter) / (g[k] * vt)
            x = d - wrightomega(d + late[k]).real
            before = beta * np.expm1(x)
            base.append(emitter + vt * x)
            control.append(before)
        y8 = (u[4] + bias - alpha * r * before) / 2  # (y7 - bias)/r + alpha i + y8/r = 0, y7 = y8 - u5
        nodes = np.array([base[0] - u[0], base[0], u[1], base[1] - u[2], base[1], u[3], y8 - u[4], y8])
        return nodes, control[0], control[1]

    def rates(t: float, u: Array) -> Array:
        y, i1, i2 = voltages(t, u)
        source = 0.1 * np.sin(200 * np.pi * t)
        return np.array([
            (y[0] - source) / r0 / 1e-6, (i1 - y[2] / r) / 2e-6, ((y[3] - bias) / r + alpha * i1) / 3e-6,
            (i2 - y[5] / r) / 4e-6, -y[7] / r / 5e-6,
        ])  # fmt: skip

    start = np.array([3.0, 3.0, -3.0, 3.0, -6.0])  # y2 - y1, y3, y5 - y4, y6, y8 - y7

    def integrate() -> Array:
        found = solve_ivp(rates, (0.0, 0.2), start, method="Radau", rtol=rtol, atol=rtol)
        return voltages(0.2, found.y[:, -1])[0]

    return integrate


class Spice(NamedTuple):
    """A transient analysis by ngspice: instants, signals by their names, CPU seconds of one analysis and of what comes
    before it (start, reading), Newton iterations and accepted points."""

    times: Array
    signals: dict[str, Array]
    seconds: float
    before: float
    iterations: float
    points: float


def ngspice_run(circuit: str, reltol: float | None = None) -> Spice | None:
    """The circuit's `.tran` line, run often enough in one process to be timed; None where there is no ngspice.

    CPU time is the process' own, less that of a process that only reads the circuit: what ngspice calls its analysis
    time is time on the clock."""
    if shutil.which("ngspice") is None:
        return None
    text = re.sub(
        r"\breltol=\S+", "", re.sub(r"^\.end\s*$", "", circuit, flags=re.MULTILINE | re.IGNORECASE), flags=re.IGNORECASE
    )
    text += f".options acct noinit{'' if reltol is None else f' reltol={reltol}'}\n"
    with tempfile.TemporaryDirectory() as folder:
        before = min(cpu_of_runs(text, folder, 0)[0] for _ in range(3))
        count, spent, said = 1, 0.0, ""
        while spent < 0.2 and count < 1000:
            spent, said = cpu_of_runs(text, folder, count)
            spent, runs, count = spent - before, count, 4 * count
        seconds = min(spent, *(cpu_of_runs(text, folder, runs)[0] - before for _ in range(2))) / runs
        head, _, body = Path(folder, "circuit.raw").read_bytes().partition(b"Binary:\n")
    names = re.findall(r"^\t\d+\t(\S+)", head.decode(), re.MULTILINE)
    values = np.frombuffer(body, float).reshape(-1, len(names))
    iterations, points = (
        float(re.findall(rf"^{name} = ([\d.eE+-]+)", said, re.MULTILINE)[-1]) / runs for name in ACCOUNT
    )
    return Spice(values[:, 0], dict(zip(names[1:], values.T[1:])), seconds, before, iterations, points)


ACCOUNT = ("Transient iterations", "Accepted timepoints")


def cpu_of_runs(text: str, folder: str, runs: int) -> tuple[float, str]:
    """CPU seconds of a process that runs the analysis so often, and what it said."""
    file = Path(folder, "circuit.cir")
    orders = f"repeat {runs}\nrun\nend\nrusage everything\nwrite {Path(folder, 'circuit.raw')}\n" if runs else ""
    file.write_text(f"{text}.control\nset noaskquit\n{orders}quit\n.endc\n.end\n")
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(["ngspice", "-b", str(file)], capture_output=True, text=True).stdout
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime, said
