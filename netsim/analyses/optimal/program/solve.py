"""IPOPT on a transcribed program: scaling, the call, how it ended."""

import time as clock
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from netsim.analyses.optimal.program.blocks import Scaled, slopes_of, values_of
from netsim.analyses.optimal.program.transcription import Motion, Program

Array = np.ndarray
TOLERANCE = 1e-9
"""IPOPT's tolerance on the scaled conditions of optimality."""
ACCEPTABLE = 1e-6
"""What three iterations in a row may leave on a finer mesh, where rounding lets it become no smaller."""
QAMD = 6
"""The ordering of MUMPS: minimum degree that looks for dense rows, as that of the span is. Points share few states, so
that nested dissection gains nothing, and it may delay so many pivots that a step takes a hundred times as long."""
PIVOT = 1e-4
"""The least pivot of MUMPS in parts of its column: IPOPT's own 1e-6 gave steps of 1e10 sizes near a solution."""
FARTHER = 10.0
"""So many times the violation of the guess (sum of weighted rows, at least 1) none may exceed on the way: without this,
large steps from a motion that meets every row leave for where linearised rows mean nothing."""
SLIGHT = 1e-2
"""An objective whose weighted derivatives are smaller, or larger than the inverse, is weighed anew."""
SMALL = 1e-8
BESIDE = 1e-3
"""Rows whose derivatives are smaller than this share of those beside the guess, so many sizes away, are noise there."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The variables and multipliers of a program where IPOPT ended, and how it did: its word, iterations, the
    objective, the largest violation of a scaled row, seconds of building and of solving; the sizes of variables, the
    weights of rows and the functions by which it was solved; the error of its mesh, and how often that was refined."""

    program: Program
    x: Array
    multipliers: Array
    status: str
    iterations: int
    objective: float
    violation: float
    building: float
    solving: float
    size: Array
    weight: Array
    scaled: Scaled
    error: float = 0.0
    refinements: int = 0

    @cached_property
    def motion(self) -> Motion:
        return self.program.motion(self.x)

    def at(self, fractions: Array) -> Array:
        """All variables at fractions of the span (variables, fractions)."""
        point = self.program.setting.point
        differentiated = np.zeros(point.size, bool)
        differentiated[point.state_places] = True
        return self.program.mesh.at(self.motion.z, fractions, differentiated)

    @property
    def solved(self) -> bool:
        return self.status in ("Solve_Succeeded", "Solved_To_Acceptable_Level")

    @property
    def told(self) -> dict[str, Any]:
        """How it ended, as attributes of a result."""
        return {
            "unknowns": self.program.setting.point.machine.system.n,
            "ended": self.status,
            "iterations": self.iterations,
            "intervals": self.program.mesh.intervals,
            "points": self.program.mesh.degree,
            "violation": self.violation,
            "optimality": self.optimality,
            "building_seconds": self.building,
            "solving_seconds": self.solving,
            "mesh_error": self.error,
            "refinements": self.refinements,
        }

    @property
    def text(self) -> str:
        """How it ended, in words."""
        mesh, ended = self.program.mesh, self.status.replace("_", " ").lower()
        return (
            f"IPOPT: {ended} after {self.iterations} iterations on {mesh.intervals} intervals of {mesh.degree} points; "
            f"the conditions of optimality hold to {self.optimality:.2g}, "
            f"an interval errs by {self.error:.2g} of the sizes at most"
        )

    @cached_property
    def gradient(self) -> Array:
        """The derivatives of the Lagrangian by all variables, in units of the objective: 0 where a variable is free,
        the price of a bound where it stands at one."""
        slopes = slopes_of(self.program.blocks, self.x, len(self.weight))
        return (self.multipliers * self.weight) @ slopes / self.weight[0]

    @property
    def optimality(self) -> float:
        """By how much the first-order conditions of optimality fail, all variables, rows and the objective measured by
        their sizes: derivatives times the way to the bound towards which they point, at most 1."""
        slopes = self.gradient * self.size * self.weight[0]
        gap = np.where(slopes > 0.0, self.x - self.program.low, self.program.high - self.x) / self.size
        return float((np.abs(slopes) * np.clip(gap, 0.0, 1.0)).max(initial=0.0))

    @property
    def ill_scaled(self) -> bool:
        """Whether the objective's weight is far from what its derivatives at the solution ask for."""
        slopes = abs(slopes_of(self.program.blocks, self.x, len(self.weight))[[0]]) @ self.size
        seen = float(slopes[0] * self.weight[0])
        return 0.0 < seen < SLIGHT or seen > 1.0 / SLIGHT

    @property
    def stop(self) -> float:
        return self.motion.stop


def solved(
    program: Program, guess: Array, size: Array, iterations: int, warm: bool = False, like: Solution | None = None
) -> Solution:
    """The solution of a program from a guess; `size` are typical sizes of its variables. A program that differs from
    that of a solution `like` it in constants and bounds alone is solved by the same functions, sizes and weights."""
    began = clock.thread_time()
    if like:
        size, weight, scaled = like.size, like.weight, like.scaled
        scaled.give(program.blocks)
    else:
        weight = _weights(program, guess, size)
        determined = len(program.setting.followed) > 0 and not len(program.setting.free)
        scaled = Scaled(program.blocks, size, weight, _options(iterations, warm, determined))
    high, built = program.highest[1:], clock.thread_time()
    bounds = {"lbx": program.low / size, "ubx": program.high / size, "lbg": np.zeros(len(high)), "ubg": high}
    found, stats = scaled.solved(lambda k: program.setting.progress(k / iterations, 0.0, k), x0=guess / size, **bounds)
    ended, x = clock.thread_time(), np.asarray(found["x"]).ravel() * size
    rows = weight * values_of(program.blocks, x, len(weight))
    beyond = np.maximum(-rows[1:], rows[1:] - high)
    return Solution(
        program, x, np.append(1.0, np.asarray(found["lam_g"]).ravel()), str(stats["return_status"]),
        int(stats["iter_count"]), float(rows[0] / weight[0]), float(beyond.max(initial=0.0)), built - began,
        ended - built, size, weight, scaled,
    )  # fmt: skip


def _options(iterations: int, warm: bool, determined: bool) -> dict[str, Any]:
    """What IPOPT is asked for; `warm`, near a solution on a coarser mesh. Where followed signals have `determined` all
    inputs, rows are nearly dependent on short intervals: with a little of the multipliers in them a step is always
    found, without it roundings decide. Elsewhere that takes MUMPS a hundred times as long, beside dense columns."""
    found: dict[str, Any] = {
        "tol": TOLERANCE,
        "constr_viol_tol": TOLERANCE,
        "max_iter": iterations,
        "nlp_scaling_method": "none",
        "mu_strategy": "monotone",
        "mumps_pivot_order": QAMD,
        "mumps_pivtol": PIVOT,
        "theta_max_fact": FARTHER,
        "honor_original_bounds": "yes",
    }
    if determined:
        found |= {"perturb_always_cd": "yes"}
    if warm:
        found |= {"mu_init": 1e-4, "acceptable_iter": 3, "acceptable_tol": ACCEPTABLE}
        found |= {"acceptable_constr_viol_tol": 10 * TOLERANCE}
    return found


def _weights(program: Program, x: Array, size: Array) -> Array:
    """1 over the change of every row when all variables move by their sizes; the objective's own. A row that does not
    change at x is weighed a little beside it."""
    rows = len(program.highest)
    here, beside = (
        abs(slopes_of(program.blocks, point, rows)) @ size
        for point in (x, x + BESIDE * size * np.cos(np.arange(len(x))))
    )
    known = np.where(np.isfinite(beside) & ~(here > SMALL * beside), beside, here)
    return np.where(known > 0.0, 1.0 / np.where(known > 0.0, known, 1.0), 1.0)
