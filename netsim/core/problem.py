"""What compiled loops know of a network: call tables, sizes, and where everything stands in a global vector."""

from typing import NamedTuple

import numpy as np

from netsim.core.compiled.struct import Struct

Array = np.ndarray

UNIFORMS = ("time", "kx", "kv", "ka", "alpha", "past")
"""Scalars that every kernel may read: the time, d(x, v, a)/d(unknown) of a kinematic unknown, d(q')/dq, whether there
is a past (1; 0 where all rests)."""
TIME, KX, KV, KA, ALPHA, PAST = range(1, 7)
"""Their places in a global vector."""

PRESCRIBED_ORDERS, KINEMATIC_ORDERS, VALUE_ORDERS = 5, 7, 6
"""How many derivatives of prescribed inputs, of positions and of values have places in a global vector, the quantity
itself counted."""

LEAST = 1e-3
"""The share of its size below which Newton's method does not look at an unknown."""


class Tables(NamedTuple):
    """What compiled loops read: call tables, sizes and offsets of g and out, the pattern, tables over time,
    what delays remember (netsim.core.history); `reach` (nk): the least size of a position when rounding is weighed, 1
    rad for rotations; `least` (n): the size below which Newton's method does not look at an unknown, of its own in a
    run with an error test (`with_sizes`)."""

    residual: Array
    jacobian: Array
    arguments: Array
    prescribed_inputs: Array
    energy: Array
    sizes: Array
    indptr: Array
    indices: Array
    nominal: Array
    table_first: Array
    table_breaks: Array
    table_coefficients: Array
    table_outside: Array
    table_argument: Array
    rotations: Array
    reach: Array
    buffer: Struct
    least: Array


NK, NY, NQ, X, V, A, Y, HISTORY, PRESCRIBED, N_PRESCRIBED, TABLES, N_TABLES, ENTRIES, NNZ, DIFFERENTIATED, CHARTS = (
    range(16)
)
"""Positions in Tables.sizes."""
