"""What is varied along the steps of a run, as arrays, and inputs that swing with a parameter."""

from math import cos, pi
from typing import NamedTuple

import numpy as np

from netsim.core.compiled.function import inner
from netsim.core.problem import N_PRESCRIBED, PRESCRIBED_ORDERS

Array = np.ndarray


class Variation(NamedTuple):
    """What is varied along steps. p parameters, the last of which is time, T derivatives of the equations, S steps.

    rows (4 S, size): global vectors at the nodes of every step; spans (S): lengths; at (3, size), values (3, T): the
    stages of a step and the derivatives there, by the calls of `partials`. Entries of the stages' matrix: place, stage,
    derivative, scale, kind. Histories: the same for what a step begins with, by stage, row, variable.
    equations, drives, readings: calls of all parameters one after the other, those of parameter j from first[j] on.
    x, v (p, nk), q (p, nq): changes at the step's beginning; constant, d (p, size): changes of what stays, and of all.
    rhs (3 (n + nq), p - 1): right sides, then solutions; work: as large.
    both: [g | dg]; base: 3 x 3 rotations of the steps' charts.
    swung (p, 2): the place of the prescribed input that swings with a parameter, or 0, and the row whose equation does,
    or -1; wave (p, 3): its rate w and phase phi, and what the row's equation changes by with it. begun (p, nk), inside
    (size), turned: positions at a step's beginning, a point inside the step, and rotations there."""

    rows: Array
    spans: Array
    at: Array
    values: Array
    partials: Array
    place: Array
    derivative: Array
    scale: Array
    kind: Array
    old_place: Array
    old_derivative: Array
    old_variable: Array
    old_scale: Array
    old_kind: Array
    entries: Array
    rhs: Array
    work: Array
    shares: Array
    equations: Array
    first_equation: Array
    drives: Array
    first_drive: Array
    x: Array
    v: Array
    q: Array
    constant: Array
    d: Array
    both: Array
    sums: Array
    base: Array
    swung: Array
    wave: Array
    begun: Array
    inside: Array
    turned: Array


class VariedSignals(NamedTuple):
    """Signals and their changes: calls of readings and of their tangents, places in [g | readings], room for these,
    values (rows, m), changes (rows, p m), and the next row; `stages`: how many stages inside a step have rows, too."""

    readings: Array
    tangents: Array
    first: Array
    places: Array
    found: Array
    values: Array
    changes: Array
    row: Array
    stages: Array


class Recovery(NamedTuple):
    """Tangents of the calls of a plan's stages (netsim.core.consistent), `each` for each parameter, in their order;
    room for the right sides of a stage, steps and work (unknowns, p)."""

    calls: Array
    each: Array
    steps: Array
    work: Array


@inner
def set_waves(problem, run, t):
    """Inputs that swing, at an instant."""
    for j in range(run.swung.shape[0]):
        for order in range(PRESCRIBED_ORDERS if run.swung[j, 0] > 0 else 0):
            run.constant[j, run.swung[j, 0] + order * problem.sizes[N_PRESCRIBED]] = wave_derivative(run, j, t, order)


@inner
def wave_derivative(run, j, t, order):
    """A derivative in time of what parameter j swings by."""
    return run.wave[j, 0] ** order * cos(run.wave[j, 0] * t + run.wave[j, 1] + order * pi / 2.0)
