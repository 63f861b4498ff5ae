"""What the time loop asks of a method, and what it lends to it.

A method is a bundle (netsim.kernels.bundle: arrays of coefficients and of what it remembers of one run; nothing is kept elsewhere) and three
compiled functions, found by its word, so that a run compiles its own method and no other:

    attempt(method, problem, factor, trial, t, h, last)   try the step from trial.start at t to t + h: (status, error); writes trial.end.
                            error <= 1 passes the test; after a failure it is the share of h to try next;
                            `last` is the instant used for the step's end (just before it at a corner of a drive)
    accepted(method, problem, trial, h, error)            remember what the step taught; the factor by which the next step may differ in length
    between(method, problem, trial, theta, h, state)      the values y and the charges with their rates at t + theta h

Positions and velocities between the ends follow from both ends' x, v, a (quintic) for every method.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload

from netsim.kernels.call import lean
from netsim.solvers.machine import NK, NQ, NY

Array = np.ndarray

REJECTED_ALWAYS = 1e30
ITERATIONS, FACTORISATIONS, FRESH, ACCEPTED, REJECTED, FAILED, EVENTS, RESTARTED = range(8)
"""Positions in the integer counters of a run. RESTARTED: 1 or 2: nothing of before the present instant may be
used; 2: the state there is consistent."""

RTOL, NEWTON_SHARE, POWER, FACTOR_ALPHA = range(4)
"""Positions in the tolerances of a run: FACTOR_ALPHA: dq'/dq where the present factor was taken."""

LEAN: Any = {"_nrt": False}


class Trial(NamedTuple):
    """The variable part of a step. States are [x | v | a | y | q | q' | quaternions]; `end` is in the charts of `start`.

    scale: what an error of x, v and y may be, each (rtol (|value| + nominal)); exponent: of the same, see
    netsim.integrators.weights;
    tolerances: rtol, Newton's share of it, power of the step that errors go with, alpha of the factor; work: (6, n).
    """

    g: Array
    out: Array
    start: Array
    end: Array
    middle: Array
    history: Array
    u: Array
    work: Array
    scale: Array
    exponent: Array
    nominal: Array
    tolerances: Array
    counters: Array


_functions: dict[tuple[str, str], Callable[..., Any]] = {}


def of_method(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: this function is the method's `attempt`, `accepted` or `between`, by its own name."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        _functions[name, function.__name__] = function
        return function

    return register


def _found(function: str, method: Any) -> Callable[..., Any]:
    return _functions[method.word, function]


def attempt(method, problem, factor, trial, t, h, last):
    """Try one step; see the head of this file."""
    raise NotImplementedError


def accepted(method, problem, trial, h, error):
    """Remember an accepted step; see the head of this file."""
    raise NotImplementedError


def between(method, problem, trial, theta, h, state):
    """Values within the last step; see the head of this file."""
    raise NotImplementedError


@overload(attempt, jit_options=LEAN)
def _attempt(method, problem, factor, trial, t, h, last):
    return _found("attempt", method)


@overload(accepted, jit_options=LEAN)
def _accepted(method, problem, trial, h, error):
    return _found("accepted", method)


@overload(between, jit_options=LEAN)
def _between(method, problem, trial, theta, h, state):
    return _found("between", method)


@lean
def set_scales(problem, trial):
    """What errors are allowed in this step, from the state where it begins."""
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    rtol = trial.tolerances[RTOL]
    for i in range(2 * nk):
        trial.scale[i] = rtol * (abs(trial.start[i]) + trial.nominal[i])
    for i in range(ny):
        trial.scale[2 * nk + i] = rtol * (abs(trial.start[3 * nk + i]) + trial.nominal[2 * nk + i])


@lean
def error_norm(problem, trial, dx, dv, dy, h):
    """max |error|/scale; velocities of index 2 count as the change of position they make in the step, multipliers not at all.

    Empty dx and dv leave motion out."""
    nk, ny = problem.sizes[NK], problem.sizes[NY]
    norm = 0.0
    for i in range(min(nk, dx.shape[0])):
        size = max(abs(dx[i]) / trial.scale[i], abs(dv[i]) / trial.scale[nk + i] if trial.exponent[nk + i] == 0 else abs(h * dv[i]) / trial.scale[i])
        if not np.isfinite(size):
            return REJECTED_ALWAYS
        norm = max(norm, size)
    for i in range(ny):
        if trial.exponent[2 * nk + i] == 0:
            size = abs(dy[i]) / trial.scale[2 * nk + i]
            if not np.isfinite(size):
                return REJECTED_ALWAYS
            norm = max(norm, size)
    return norm


@lean
def proposed(error, order):
    """The elementary step-size rule: 0.9 error^(-1/order) within [0.2, 6]."""
    return min(6.0, max(0.2, 0.9 * max(error, 1e-10) ** (-1.0 / order)))


@lean
def straight(problem, trial, theta, h, state):
    """Values, charges and rates on the line between the step's ends: for methods of order 1 and 2."""
    nk, ny, nq = problem.sizes[NK], problem.sizes[NY], problem.sizes[NQ]
    for i in range(3 * nk, 3 * nk + ny + 2 * nq):
        state[i] = (1.0 - theta) * trial.start[i] + theta * trial.end[i]


@lean
def cubic_charges(problem, trial, theta, h, state):
    """Charges by the cubic through q and q' of both ends, and its rate."""
    nq, at = problem.sizes[NQ], 3 * problem.sizes[NK] + problem.sizes[NY]
    s, r = theta, 1.0 - theta
    for k in range(at, at + nq):
        q0, q1, d0, d1 = trial.start[k], trial.end[k], h * trial.start[k + nq], h * trial.end[k + nq]
        state[k] = q0 * r * r * (1.0 + 2.0 * s) + q1 * s * s * (3.0 - 2.0 * s) + s * r * (d0 * r - d1 * s)
        state[k + nq] = (6.0 * s * r * (q1 - q0) + d0 * r * (1.0 - 3.0 * s) - d1 * s * (2.0 - 3.0 * s)) / h
