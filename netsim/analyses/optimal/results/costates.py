"""Costates: what a little more of a state at an instant is worth, the derivative of the objective by it.

The multipliers L_l of the relations sum_m D_lm z_m - h z'_l = 0 of an interval define the polynomial P of degree q - 1
with P(c_l) = -L_l/w_l. At the interval's begin it has the costate with order 2 q - 1; at its end it jumps, as a
discontinuous Galerkin method does that goes backward in time. With Legendre's polynomials on the interval,

    P + (P_next(0) - P(1)) R,    R = (L_(q-1) + L_q)/2,    R(0) = 0, R(1) = 1,

is continuous and errs by order q + 1 (C. Makridakis and R. Nochetto, A posteriori error analysis for higher order
dissipative methods for evolution problems, Numerische Mathematik 104, 2006). The last interval takes the jump of the
one before, by the ratio of their spans to the power q.

Only ways that a mechanism can go have a price: costates are known but for what is along the gradients of its
constraints H = 0. The relations give T l along their ways T; what is told are those, T l + H'^T n, that have no part
along the gradients of any level, E (T l + H'^T n) = 0, with E the entries of H' by the highest order of every variable
in it. The polynomial P is that through P(0) and P(c_l) so made.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.polynomial.legendre import legval

from netsim.analyses.optimal.program.radau import basis
from netsim.analyses.optimal.program.solve import Solution
from netsim.results.samples import Samples, Signal
from netsim.results.series import unit_of
from netsim.text.units import parse_unit

Array = np.ndarray


def with_costates(samples: Samples, solution: Solution, states: Mapping[Signal, int], sign: float) -> Samples:
    """Samples with a signal `costate.NAME` for every state (with its place in a point) that a relation differentiates;
    `sign` is -1 where the objective is made largest."""
    setting = solution.program.setting
    found = sign * costates(solution, np.clip((samples.time - setting.early) / solution.stop, 0.0, 1.0))
    row = {int(place): k for k, place in enumerate(setting.point.state_places)}
    signals, series = list(samples.signals), [samples.values]
    for state, place in states.items():
        if place in row:
            unit = unit_of(parse_unit(setting.wishes.unit).dimension / parse_unit(state.unit).dimension)
            signals.append(Signal(f"costate.{state.name}", unit, f"objective by {state.name}"))
            series.append(found[row[place], :, None])
    return replace(samples, signals=tuple(signals), values=np.hstack(series))


def costates(solution: Solution, fractions: Array) -> Array:
    """Costates of all `state_places` of a point at fractions of the span (states, fractions), with g as `sampled`."""
    program, mesh, point = solution.program, solution.program.mesh, solution.program.setting.point
    first, count = point.equations[-1], point.ways
    rows = program.row_of[first : first + count, 1:]
    multipliers = (solution.multipliers * solution.weight)[rows] / solution.weight[0]
    inner = -multipliers.reshape(count, mesh.intervals, mesh.degree) / mesh.weights
    begin = inner @ basis(mesh.nodes, np.zeros(1))[0]
    every = np.zeros((len(point.state_places), mesh.intervals, 1 + mesh.degree))
    for k in range(mesh.intervals):
        every[:, k] = program.ways.matrix(point, k) @ np.column_stack([begin[:, k], inner[:, k]])
    every = tangential(solution, mesh.numbers.ravel(), every.reshape(len(every), -1)).reshape(every.shape)
    jump = np.zeros(every.shape[:2])
    jump[:, :-1] = every[:, 1:, 0] - every[:, :-1, -1]
    if mesh.intervals > 1:
        jump[:, -1] = jump[:, -2] * (mesh.spans[-1] / mesh.spans[-2]) ** mesh.degree
    interval, theta = mesh.within(fractions, "right")
    halves = np.append(np.zeros(mesh.degree - 1), [0.5, 0.5])
    smooth = np.einsum("stl,tl->st", every[:, interval], basis(np.append(0.0, mesh.nodes), theta))
    return smooth + jump[:, interval] * legval(2.0 * theta - 1.0, halves)


def tangential(solution: Solution, points: Array, prices: Array) -> Array:
    """Prices of all states (states, points) at points of the mesh without their parts along constraints' gradients."""
    setting, point = solution.program.setting, solution.program.setting.point
    equation, order = point.hidden
    if not len(equation):
        return prices
    which, of = np.unique(points, return_inverse=True)
    known = setting.known(solution.program.mesh.fractions[which], solution.stop)
    slopes = point.slopes(known, solution.motion.z[:, which])
    variable, level = point.states
    leading = (point.c[equation] - order)[:, None] == point.d[variable] - level
    found = prices.copy()
    for k in range(len(which)):
        rows = k * point.rows + point.equations[equation] + order
        gradients = slopes[rows][:, k * point.size + point.state_places].toarray()
        own = np.where(leading, gradients, 0.0)
        part = np.linalg.lstsq(own @ gradients.T, own @ prices[:, of == k], rcond=None)[0]
        found[:, of == k] -= gradients.T @ part
    return found
