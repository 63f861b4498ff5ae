"""What an integration method is: a record that its file in `netsim/core/methods/` holds. The folder is the registry.

A method has three compiled functions (decorated with `netsim.core.compiled.function.inner`), which the time loop calls
through their addresses, so that the loop is compiled once for all methods:

    step(method, problem, factor, trial, t, h, last)
        Try the step from trial.start at t to t + h and write trial.end. Returns (status, error). The step is refused
        where error > 1. Where status is not CONVERGED, `error` is the share of h to try next. `last` is the instant
        whose inputs the end of the step sees (just before t + h at a time event).
    on_accept(method, problem, trial, h, error)
        The step counts: call `follow`, remember. Returns the factor by which the next step may differ in length.
    dense_output(method, problem, trial, theta, h, state, wanted)
        Values, differentiated quantities and their rates at t + theta h into `state`, at least those whose places
        behind 3 nk are `wanted`. Positions and velocities follow from both ends (quintic) for every method. Rates are
        slopes of the differentiated quantities where trial.counters[JUDGED] is 1; otherwise they may be any that are
        more exact.

`method` is the struct of arrays that `prepare` made; `problem`, `factor` and `trial` are described at
`netsim.core.problem.Tables`, `netsim.core.linear.factors.Factor` and `netsim.core.contract.Trial`.

**What a method remembers** stands in its struct or in the trial, and nowhere else. The loop may repeat a step with
another length, so that `step` leaves what it remembers as it is, and `on_accept` changes it. In the first step after
a time event, an event or another change, trial.counters[RESTARTED] is not 0, and nothing from before may be used. A
rotation is stored in a chart (netsim.core.rotation), which moves to the present rotation after every accepted step:
coordinates of an earlier state are then those of another chart. Hence a method does not copy states. It says how many
it needs (`earlier`), and finds them in trial.earlier in the charts of trial.start. One that keeps other vectors of
motion moves them itself in `on_accept`, with `in_chart` or `angular_acceleration` of `netsim.core.rotation`.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from netsim.core import newton
from netsim.core.compiled import kinds
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.consistent import Consistent
from netsim.core.contract import (
    DENSE_OUTPUT,
    FOUND,
    NEWTON,
    ON_ACCEPT,
    REFACTOR,
    SET_TIME,
    SOLVE,
    STEP,
    TRIED,
    Trial,
)
from netsim.core.linear import factors as linear
from netsim.core.linear.factors import Factor

Array = np.ndarray

TRAPEZOID, SIMPSON = (0.0, 1.0), (0.0, 0.5, 1.0)
"""Nodes of quadratures of order 2 and 4."""
COARSE = 1e-3
"""The rtol at which methods of low order take the tolerance as it is given."""
FINEST = 1e-10
"""The finest tolerance that a method of variable order takes on its own account."""
USUAL_ORDER = 4
"""The order that a method of variable order usually has: as many steps as errors of one sign that add up."""
MEAN = float(np.pi / np.sqrt(8.0))
"""The error of a step of an oscillation, a vector that turns, beside the mean of its largest component."""
FINE = 3e-7
"""The same for a method whose estimate is of lower order than itself: at larger rtol its errors would grow faster than
rtol."""


class Orders(NamedTuple):
    """Orders of convergence in equal steps, by the method alone (0: none).

    positions: of positions, velocities and values of index 0 and 1, and of positions of index 2 and 3; velocities: of
    velocities of index 3, and of values of index 2 that depend on a differentiated constraint; multipliers: of forces
    and accelerations of index 3. With the projection that ends every step of a user's run, all are `positions`."""

    positions: int
    velocities: int
    multipliers: int


@dataclass(frozen=True)
class Setting:
    """What a method makes its arrays for: n = nk + ny unknowns (positions, values), nq differentiated quantities, nnz
    entries of the matrix, so many prescribed inputs, the length of a state; the factor of a step's matrix; consistent
    points, and those that close positions; call tables (netsim.core.compiled.call) that compute differentiated
    quantities alone, and residuals where their rates are known."""

    n: int
    nk: int
    ny: int
    nq: int
    nnz: int
    inputs: int
    length: int
    factor: Factor
    plan: Consistent
    closing: Consistent
    differentiated: Callable[[], Array]
    rates: Callable[[], Array]


class Step(Protocol):
    """See the head of this file."""

    def __call__(
        self, method: Struct, problem: Struct, factor: Struct, trial: Struct, t: float, h: float, last: float
    ) -> tuple[int, float]: ...


class OnAccept(Protocol):
    """See the head of this file."""

    def __call__(self, method: Struct, problem: Struct, trial: Struct, h: float, error: float) -> float: ...


class DenseOutput(Protocol):
    """See the head of this file."""

    def __call__(
        self, method: Struct, problem: Struct, trial: Struct, theta: float, h: float, state: Array, wanted: Array
    ) -> None: ...


@dataclass(frozen=True)
class CoupledStages:
    """Stages of a step found all at once, where the method's own iteration fails: solve(problem, arrays, trial, t, h,
    last, given) tells whether they were, and size_that_failed(arrays, size) the step in which it last failed."""

    solve: Callable[[Struct, Struct, Trial, float, float, float, bool], bool]
    size_that_failed: Callable[[Struct, float], float]


@dataclass(frozen=True)
class Method:
    """A method for the time loop; raises `ValueError` where its functions do not take what the loop passes.

    estimate: the power of the step that its error estimate shrinks with; 0: it has none, and runs in given steps
    only; earlier: how many accepted states the loop keeps for it; work: nodes of its quadrature in a step;
    highest_index: of networks where it has an order, and `reason` why not above; needs_rates: it reads
    accelerations and rates where a step begins; explicit: it has no matrix; settles: what decays or swings within a
    fraction of a step is at its end near where it will be (L-stable methods, no explicit ones); single: it solves
    its stages one by one, by Newton's method; variable: the order is the highest, and the estimate that of the
    first step; caution: the part of the tolerance that its estimate may use up, since errors of steps of one sign
    add up over a run; gap: the longest part of a step in which it evaluates nothing; leaves: the error of a step of an
    oscillation, in units of (estimate tolerance)^leaving; motion: how many times its estimate counts errors of motion;
    title: in messages; formula: given steps are its formula and nothing beside it, so that they compare with published
    ones digit by digit;
    renewed: its arrays after new pivots; forget: matrices that it keeps serve no more."""

    name: str
    orders: Orders
    prepare: Callable[[Setting], Struct]
    step: Step
    on_accept: OnAccept
    dense_output: DenseOutput
    estimate: int = 0
    earlier: int = 0
    work: tuple[float, ...] = SIMPSON
    highest_index: int = 3
    reason: str = ""
    needs_rates: bool = True
    explicit: bool = False
    settles: bool = True
    single: bool = True
    variable: bool = False
    caution: float = 1.0
    gap: float = 1.0
    leaves: float = MEAN
    motion: float = 1.0
    title: str = ""
    formula: bool = False
    renewed: Callable[[Struct, Factor], Struct] = lambda arrays, factor: arrays
    forget: Callable[[Struct], None] = lambda arrays: None
    together: CoupledStages | None = None

    def __post_init__(self) -> None:
        for name, kind in (("step", Step), ("on_accept", OnAccept), ("dense_output", DenseOutput)):
            function = getattr(self, name)
            wanted = list(inspect.signature(kind.__call__).parameters)[1:]
            given = list(inspect.signature(getattr(function, "py_func", function)).parameters)
            if given != wanted:
                raise ValueError(f"{name} of {self.name} must take ({', '.join(wanted)}), not ({', '.join(given)})")

    @property
    def order(self) -> int:
        """Of positions and differentiated quantities."""
        return self.orders.positions

    @property
    def straight(self) -> bool:
        """Whether its values inside a step may lie on straight lines: always, or behind a restart."""
        return self.variable or not self.settles

    @property
    def judged(self) -> bool:
        """Whether its estimate judges given steps (W502)."""
        return self.estimate > 0 and not self.formula

    @property
    def leaving(self) -> float:
        """The power of an estimate that goes with the error of the method itself."""
        return 1.0 if self.variable or not self.estimate else (self.order + 1) / self.estimate

    def left(self, rtol: float) -> float:
        """What a step of an oscillation whose estimate is 1 is off by, in units of rtol."""
        return float(self.leaves * self.tolerance(rtol) ** self.leaving / rtol)

    def refused(self, index: int) -> str:
        """Why the method has no order at this index; empty where it has one."""
        if index <= self.highest_index:
            return ""
        why = self.reason and f": {self.reason}"
        return f"{self.name} needs an index of at most {self.highest_index}, this network has {index}{why}"

    def tolerance(self, rtol: float) -> float:
        """What the error test of a step goes by, so that the error of the run follows rtol: steps grow with its
        1/estimate-th power, errors with step^order. Never more than `caution` times rtol; for a variable order not
        below `FINEST`, where rounding is near, unless rtol is."""
        part = min(1.0, rtol / COARSE)
        if self.variable:
            return max(self.caution * rtol * part ** (1.0 / USUAL_ORDER), min(rtol, FINEST))
        power = self.estimate / self.order - 1.0
        return self.caution * rtol * (part**power if power > 0.0 else min(1.0, FINE / rtol) ** -power)


def called_by_address(method: Method, arrays: Struct, problem: Struct, factor: Factor, trial: Struct) -> dict[int, Any]:
    """What a run calls by address: by its place in trial.code what `address_of` is asked for."""
    real, vector = kinds.REAL, kinds.VECTOR
    run = (arrays.kind, problem.kind, struct_of(factor).kind, trial.kind)
    found: dict[int, Any] = {
        STEP: (method.step, TRIED, *run, real, real, real),
        ON_ACCEPT: (method.on_accept, real, arrays.kind, problem.kind, trial.kind, real, real),
        DENSE_OUTPUT: (
            method.dense_output, kinds.NOTHING, arrays.kind, problem.kind, trial.kind, real, real, vector, kinds.WHOLES
        ),
        SET_TIME: (newton.set_time, kinds.WHOLE, problem.kind, vector, real),
        REFACTOR: (linear.refactor, real, run[2], vector),
        SOLVE: (linear.solve, kinds.NOTHING, run[2], vector, vector),
    }  # fmt: skip
    if method.single:
        room = kinds.MATRIX
        given = (problem.kind, run[2], kinds.BOOLEAN, vector, vector, vector, vector, room, real)
        found[NEWTON] = (newton.newton, FOUND, *given)
    return found
