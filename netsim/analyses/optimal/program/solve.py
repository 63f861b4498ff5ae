"""IPOPT on a transcribed program: scaling, the call, how it ended."""

import time as clock
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

import casadi as ca
import numpy as np

from netsim.analyses.optimal.program.blocks import Scaled, slopes_of, values_of
from netsim.analyses.optimal.program.transcription import Program
from netsim.analyses.optimal.program.watching import Watching

Array = np.ndarray
TOLERANCE = 1e-9
"""IPOPT's tolerance on the scaled conditions of optimality."""
ACCEPTABLE = 1e-6
"""What three iterations in a row may leave on a finer mesh, where rounding lets it become no smaller."""
SLIGHT = 1e-2
"""An objective whose weighted derivatives are smaller, or larger than the inverse, is weighed anew."""
SMALL = 1e-8
"""Rows whose derivatives are smaller than this share of the largest possible keep their weight."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The variables and multipliers of a program where IPOPT ended, and how it did: its word, iterations, the
    objective, the largest violation of a scaled row and of the conditions of optimality, seconds of building and of
    solving."""

    program: Program
    x: Array
    multipliers: Array
    status: str
    iterations: int
    objective: float
    violation: float
    optimality: float
    building: float
    solving: float
    size: Array
    weight: Array

    @property
    def solved(self) -> bool:
        return self.status in ("Solve_Succeeded", "Solved_To_Acceptable_Level")

    @property
    def told(self) -> dict[str, Any]:
        """How it ended, as attributes of a result."""
        return {
            "ended": self.status,
            "iterations": self.iterations,
            "intervals": self.program.mesh.intervals,
            "points": self.program.mesh.degree,
            "violation": self.violation,
            "optimality": self.optimality,
            "building_seconds": self.building,
            "solving_seconds": self.solving,
        }

    @property
    def tuned(self) -> Array:
        """By how much the free parameters differ from their first values."""
        return self.x[len(self.x) - len(self.program.setting.tuned.names) :]

    @property
    def ill_scaled(self) -> bool:
        """Whether the objective's weight is far from what its derivatives at the solution ask for."""
        slopes = abs(slopes_of(self.program.blocks, self.x, len(self.weight))[[0]]) @ self.size
        seen = float(slopes[0] * self.weight[0])
        return 0.0 < seen < SLIGHT or seen > 1.0 / SLIGHT

    @property
    def stop(self) -> float:
        return float(self.x[self.program.span])


def solved(program: Program, guess: Array, size: Array, iterations: int, warm: bool = False) -> Solution:
    """The solution of a program from a guess; `size` are typical sizes of its variables."""
    began = clock.thread_time()
    weight = _weights(program, guess, size)
    nlp, derivatives = Scaled(program.blocks, size, weight).functions()
    options: dict[str, Any] = {
        "ipopt.print_level": 0,
        "print_time": False,
        "ipopt.sb": "yes",
        "ipopt.tol": TOLERANCE,
        "ipopt.constr_viol_tol": TOLERANCE,
        "ipopt.max_iter": iterations,
        "ipopt.nlp_scaling_method": "none",
        "ipopt.mu_strategy": "monotone",
        "ipopt.honor_original_bounds": "yes",
        "show_eval_warnings": False,
        "error_on_fail": False,
        **derivatives,
    }
    if warm:
        near = {"acceptable_tol": ACCEPTABLE, "acceptable_constr_viol_tol": 10 * TOLERANCE, "acceptable_iter": 3}
        options |= {"ipopt.mu_init": 1e-4, **{f"ipopt.{name}": value for name, value in near.items()}}
    high = program.highest[1:]
    bounds = {"lbx": program.low / size, "ubx": program.high / size, "lbg": np.zeros(len(high)), "ubg": high}
    # that a program has too many rows is said in words of the netlist
    watching = Watching(len(size), len(high), lambda k: program.setting.progress(k / iterations, 0.0, k))
    options["iteration_callback"] = watching
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        solver = ca.nlpsol("optimum", "ipopt", nlp, options)
        built = clock.thread_time()
        found = solver(x0=guess / size, **bounds)
    if watching.raised is not None:
        raise watching.raised
    ended = clock.thread_time()
    stats = solver.stats()
    x = np.asarray(found["x"]).ravel() * size
    rows = weight * values_of(program.blocks, x, len(weight))
    beyond = np.maximum(-rows[1:], rows[1:] - high)
    trace = stats.get("iterations", {})
    return Solution(
        program, x, np.append(1.0, np.asarray(found["lam_g"]).ravel()), str(stats["return_status"]),
        int(stats["iter_count"]), float(rows[0] / weight[0]), float(beyond.max(initial=0.0)),
        float(trace["inf_du"][-1]) if trace.get("inf_du") else float("nan"), built - began, ended - built, size, weight,
    )  # fmt: skip


def _weights(program: Program, x: Array, size: Array) -> Array:
    """1 over the change of every row when all variables move by their sizes; the objective's own."""
    slopes = abs(slopes_of(program.blocks, x, len(program.highest))) @ size
    large = slopes.max(initial=1.0)
    return np.where(slopes > SMALL * large, 1.0 / np.where(slopes > 0.0, slopes, 1.0), 1.0)
