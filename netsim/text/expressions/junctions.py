"""Laws of semiconductor junctions and of tables, as functions of the language: what the transistors of the library
share.

Each works on floats, NumPy series and CasADi symbols, as everything in `netsim.text.expressions.functions`.
Sources: Antognetti and Massobrio, Semiconductor Device Modeling with SPICE, 1988, chapters 1 and 2 (currents, charges,
temperature); Sze, Physics of Semiconductor Devices, 1981, section 1.4 (the gap of silicon).
"""

from itertools import pairwise
from typing import Any

from netsim.text.expressions.operations import apply

K_OVER_Q = 1.380649e-23 / 1.602176634e-19
"""Boltzmann's constant over the elementary charge, V/K."""
LOWEST = -100.0
"""An exponential of this is nothing beside 1."""
REFERENCE = 300.15
"""The temperature (K) at which SPICE has its junction potentials and capacitances without correction."""


def junction(v: Any, I: Any, V: Any, limit: Any) -> Any:  # noqa: E741  (the current's letter)
    """I (exp(v/V) - 1), continued linearly with its slope beyond the current `limit`: it never overflows, nor
    underflows, which takes long."""
    turn = V * apply("log", 1.0 + limit / I)
    beyond = apply("max", v - turn, 0.0) / V
    return I * (apply("expm1", apply("max", apply("min", v, turn) / V, LOWEST)) * (1.0 + beyond) + beyond)


def junction_energy(v: Any, I: Any, V: Any, limit: Any) -> Any:  # noqa: E741
    """The integral of v dI(v) of `junction`, from 0: times a transit time, the energy of a diffusion charge."""
    turn = V * apply("log", 1.0 + limit / I)
    low, beyond = apply("min", v, turn), apply("max", v - turn, 0.0)
    more = low + beyond * (v + turn) / (2.0 * V)
    return I * (apply("expm1", apply("max", low / V, LOWEST)) * (more - V) + more)


def depletion(v: Any, C: Any, V: Any, M: Any, fc: Any) -> Any:
    """Charge of a depletion layer of capacitance C (1 - v/V)^-M, the capacitance continued linearly beyond fc V."""
    edge, slope, start = fc * V, C / apply("^", 1.0 - fc, 1.0 + M), 1.0 - fc * (1.0 + M)
    low, beyond = apply("min", v, edge), apply("max", v - edge, 0.0)
    below = C * V / (1.0 - M) * _lost(low / V, 1.0 - M)
    return below + slope * beyond * (start + M * (beyond + 2.0 * edge) / (2.0 * V))


def depletion_energy(v: Any, C: Any, V: Any, M: Any, fc: Any) -> Any:
    """The integral of v dq of `depletion`, from 0."""
    edge, slope, start = fc * V, C / apply("^", 1.0 - fc, 1.0 + M), 1.0 - fc * (1.0 + M)
    low, beyond = apply("min", v, edge), apply("max", v - edge, 0.0)
    x, lost = low / V, _lost(low / V, 1.0 - M)
    below = C * V * V * (lost / (1.0 - M) - (lost + x * (1.0 - lost)) / (2.0 - M))
    return below + slope * beyond * (start * (v + edge) / 2.0 + M * (v * v + v * edge + edge * edge) / (3.0 * V))


def _lost(x: Any, n: Any) -> Any:
    """1 - (1 - x)^n, to all digits of a small x: a charge that is known to a rounding of C V is a current's noise."""
    return -apply("expm1", n * apply("log1p", -x))


def silicon_gap(T: Any) -> Any:
    """Band gap of silicon over the elementary charge: 1.16 V - 7.02e-4 V/K T^2/(T + 1108 K)."""
    return 1.16 - 7.02e-4 * T * T / (T + 1108.0)


def _shift(T: Any) -> Any:
    """What SPICE adds to a junction potential scaled by T/REFERENCE."""
    gap = 1.1150877 / (2.0 * K_OVER_Q * REFERENCE) - silicon_gap(T) / (2.0 * K_OVER_Q * T)
    return -2.0 * K_OVER_Q * T * (1.5 * apply("log", T / REFERENCE) + gap)


def junction_potential(V: Any, T: Any, Tnom: Any) -> Any:
    """The built-in potential at T of a junction that has V at Tnom."""
    return (V - _shift(Tnom)) * T / Tnom + _shift(T)


def junction_capacitance(C: Any, V: Any, M: Any, T: Any, Tnom: Any) -> Any:
    """The depletion capacitance without voltage, at T, of a junction that has C and the potential V at Tnom."""
    reference = junction_potential(V, REFERENCE, Tnom)
    now = junction_potential(V, T, Tnom)
    before = 1.0 + M * (4e-4 * (Tnom - REFERENCE) - (V - reference) / reference)
    return C * (1.0 + M * (4e-4 * (T - REFERENCE) - (now - reference) / reference)) / before


def clamped(x: Any, xs: tuple, ys: tuple) -> Any:
    """The broken line of `interpolate`, continued by its first and last values."""
    return interpolate(apply("min", apply("max", x, xs[0]), xs[-1]), xs, ys)


def shift(x: tuple, u: Any) -> tuple:
    """(x2, ..., xn, u): every component moves down by one place."""
    return (*x[1:], u)


def increasing(xs: tuple) -> Any:
    """1 where every component exceeds the one before it, else 0."""
    found: Any = 1.0
    for before, after in pairwise(xs):
        found = found * apply("select", apply(">", after, before), 1.0, 0.0)
    return found


def interpolate(x: Any, xs: tuple, ys: tuple) -> Any:
    """The broken line through the points (xs, ys), xs increasing, continued straight at both ends; a vector where ys is
    a matrix, a row per x."""
    if len(xs) != len(ys) or len(xs) < 2:
        raise ValueError
    if isinstance(ys[0], tuple):
        return tuple(interpolate(x, xs, column) for column in zip(*ys))
    slopes = [(ys[k + 1] - ys[k]) / (xs[k + 1] - xs[k]) for k in range(len(xs) - 1)]
    total = ys[0] + slopes[0] * (x - xs[0])
    for k in range(1, len(slopes)):
        total = total + (slopes[k] - slopes[k - 1]) * apply("max", x - xs[k], 0.0)
    return total


def interpolate_integral(x: Any, xs: tuple, ys: tuple) -> Any:
    """The integral of `interpolate` from xs[0] to x: y0 u + s0 u^2/2 + sum_k (s_k - s_k-1) max(x - x_k, 0)^2/2, where
    u = x - x0 and s_k is the slope behind x_k. As `junction_energy`, the energy of what a broken line describes."""
    if len(xs) != len(ys) or len(xs) < 2 or isinstance(ys[0], tuple):
        raise ValueError
    slopes = [(ys[k + 1] - ys[k]) / (xs[k + 1] - xs[k]) for k in range(len(xs) - 1)]
    u = x - xs[0]
    total = ys[0] * u + slopes[0] * u * u / 2.0
    for k in range(1, len(slopes)):
        beyond = apply("max", x - xs[k], 0.0)
        total = total + (slopes[k] - slopes[k - 1]) * beyond * beyond / 2.0
    return total
