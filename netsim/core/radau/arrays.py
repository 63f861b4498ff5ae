"""What Radau IIA of order 5 (netsim.core.methods.radau) is made of: nodes, W = A^-1 and its eigenvalues, and the arrays
of one run."""

from functools import cache
from typing import NamedTuple

import numpy as np

from netsim.core.compiled import kinds
from netsim.core.compiled.call import ROW_LENGTH
from netsim.core.compiled.function import address_of
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.linear.factors import Factor, refactor, solve
from netsim.core.method import Setting

Array = np.ndarray

_s6 = np.sqrt(6.0)
EPS = 2.220446049250313e-16

C = np.array([(4.0 - _s6) / 10.0, (4.0 + _s6) / 10.0, 1.0])
FIRST_SLOPE = np.array([np.prod(np.delete(C, i) / (np.delete(C, i) - C[i])) / C[i] for i in range(3)])
"""The slopes at a step's beginning of the cubics that are 1 at a stage, 0 at the others and at the beginning."""
A_MATRIX = np.array([
    [(88 - 7 * _s6) / 360, (296 - 169 * _s6) / 1800, (-2 + 3 * _s6) / 225],
    [(296 + 169 * _s6) / 1800, (88 + 7 * _s6) / 360, (-2 - 3 * _s6) / 225],
    [(16 - _s6) / 36, (16 + _s6) / 36, 1 / 9],
])  # fmt: skip

HAVE, FACTOR_H, THETA, FAINT, LAST_ERROR, LAST_H, COUNT, SHRINK, SOLVED, STAYED = range(10)
"""Positions in the memory: derivatives at hand, step size of the factors, contraction, Newton's eta, error and size of
the last step, iterations, the share of the step to try next after a failure, the size of the step whose stages are
already solved, whether Newton's method ended with small corrections that stay."""


REFACTOR_PAIR, SOLVE_PAIR = range(2)
"""Positions in the code: functions of the complex factor, by address."""


class Radau(NamedTuple):
    """Coefficients, and the memory and work arrays of one run: stages z (3, n), residuals, the last corrections in
    their scales, differentiated quantities, prescribed inputs at the stages, matrix coefficients, shares of the stages
    inside the step."""

    w: Array
    transform: Array
    inverse: Array
    eigenvalues: Array
    slope: Array
    memory: Array
    z: Array
    previous: Array
    residual: Array
    moved: Array
    v: Array
    q: Array
    rate: Array
    prescribed_inputs: Array
    powers: Array
    entries: Array
    rhs: Array
    error: Array
    pair: Struct
    differentiated: Array
    rates: Array
    code: Array
    share: Array
    share_rate: Array


@cache
def coefficients() -> tuple[Array, Array, Array, Array, Array]:
    """W = A^-1, T and T^-1 with T^-1 W T = diag(g, [[a, b], [-b, a]]), the eigenvalues (g, a, b), and p'(0) of the
    cubic through 0 and the stages."""
    w = np.linalg.inv(A_MATRIX)
    values, vectors = np.linalg.eig(w)
    real = int(np.argmin(np.abs(values.imag)))
    pair = int(np.argmax(values.imag))
    first = vectors[:, real].real
    transform = np.column_stack([first / first[2], vectors[:, pair].real, vectors[:, pair].imag])
    nodes = np.array([0.0, *C])
    slope = np.array([np.polynomial.polynomial.polyfit(nodes, np.eye(4)[k], 3)[1] for k in range(1, 4)])
    eigenvalues = np.array([values[real].real, values[pair].real, values[pair].imag])
    return w, transform, np.linalg.inv(transform), eigenvalues, slope


def complex_factor(factor: Factor) -> Factor:
    """Room for the complex matrix on the ordering, pivots and scales of the real one."""
    fields = ("l_value", "u_value", "pivot_inverse", "work")
    return factor._replace(**{name: np.zeros(len(getattr(factor, name)), complex) for name in fields})


def prepare(setting: Setting) -> Struct:
    """The arrays of one run."""
    n, nk, nq, nnz, differentiated = setting.n, setting.nk, setting.nq, setting.nnz, setting.differentiated()
    w, transform, inverse, eigenvalues, slope = coefficients()
    memory = np.zeros(STAYED + 1)
    memory[FAINT] = 1.0
    pair, differentiated = (
        struct_of(complex_factor(setting.factor)),
        np.ascontiguousarray(differentiated.reshape(-1, ROW_LENGTH)),
    )
    method = Radau(
        w, transform, inverse, eigenvalues, slope, memory, np.zeros((3, n)), np.zeros((3, n - nk)), np.zeros((3, n)),
        np.zeros((3, n)), np.zeros((3, nk)), np.zeros((4, nq)), np.zeros((3, nq)), np.zeros((3, setting.inputs + 1)),
        np.zeros((3, nnz)), np.zeros(nnz, complex), np.zeros(n, complex), np.zeros((3, n)), pair, differentiated,
        setting.rates(), np.zeros(2, np.int64), np.zeros(3), np.zeros(3),
    )  # fmt: skip
    kind, vector = method.pair.kind, kinds.array("complex128", 1)
    method.code[REFACTOR_PAIR] = address_of(refactor, kinds.REAL, kind, vector)
    method.code[SOLVE_PAIR] = address_of(solve, kinds.NOTHING, kind, vector, vector)
    return struct_of(method)


def renewed(method: Struct, factor: Factor) -> Struct:
    """The method after new pivots: complex factors on them, to be computed."""
    method.memory[FACTOR_H] = 0.0
    return method.changed(pair=struct_of(complex_factor(factor)))
