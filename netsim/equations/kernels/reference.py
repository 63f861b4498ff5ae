"""Programs run by NumPy: the readable meaning of a kernel, against which the machine code is tested.

Complex arrays pass through wherever the operation is analytic (complex-step derivatives: Im f(x + i h)/h); comparisons,
floor and their like look at the real part. Accuracy: each operation as NumPy rounds it.
"""

import math
from collections.abc import Callable, Iterable
from functools import reduce
from typing import Any

import numpy as np

from netsim.equations.kernels.program import Program

Array = np.ndarray


def run_reference(
    program: Program, n: int, gather: Array, uniform: Array, parameters: Array, scatter: Array, g: Array, out: Array
) -> None:
    """`out[scatter[m*n + k]] += o_m(k)` for every instance k < n and output m: what the compiled kernel does, in the
    same memory layout.

    gather (n_gather*n) and scatter (n_outputs*n) are int32, instance fastest; uniform (n_uniform) int32; parameters
    (n_parameters*n) float64; g and out are global vectors. Several outputs may meet in one place: they add up.
    """
    gathered = g[np.reshape(gather, (program.n_gather, n))]
    values = evaluate(
        program, gathered, g[np.reshape(uniform, program.n_uniform)], np.reshape(parameters, (program.n_parameters, n))
    )
    np.add.at(out, np.reshape(scatter, (program.n_outputs, n)), values)


def evaluate(program: Program, gathered: Array, uniforms: Array, parameters: Array) -> Array:
    """The outputs (n_outputs, n) from gathered inputs (n_gather, n), uniforms (n_uniform,) and parameters
    (n_parameters, n), real or complex.

    n is taken from `gathered` or, where nothing is gathered, from `parameters`. Raises TypeError for a complex argument
    of an operation that has no analytic continuation here (erf, hypot, atan2 and the remainders).
    """
    n = gathered.shape[1] if program.n_gather else parameters.shape[1]
    values = intermediates(program, gathered, uniforms, parameters)
    found = np.empty((program.n_outputs, n), np.result_type(gathered, uniforms, parameters, np.float64))
    for row, i in zip(found, program.outputs):
        row[:] = values[i]
    return found


def intermediates(
    program: Program, gathered: Iterable[Any], uniforms: Iterable[Any], parameters: Iterable[Any]
) -> list[Any]:
    """All values of a program: inputs, uniforms, parameters (each of any shapes that go together), constants, and what
    each instruction makes of them."""
    values: list[Any] = [*gathered, *uniforms, *parameters, *map(np.float64, program.constants)]
    with np.errstate(all="ignore"):
        for operation, operands in _steps(program):
            if len(operands) == 2:
                values.append(operation(values[operands[0]], values[operands[1]]))
            else:
                values.append(operation(values[operands[0]]))
    return values


def _steps(program: Program) -> list[tuple[Callable[..., Any], tuple[int, ...]]]:
    """The instructions with the functions that carry them out, looked up once."""
    kept = vars(program)
    if "steps" not in kept:
        kept["steps"] = [(OPERATIONS[step.op], step.operands) for step in program.instructions]
    return kept["steps"]


_HIDES = {"mul": 2, "div": 1, "select": 2}
"""How many of an operation's first operands make it 0 by being 0."""


def zeros(program: Program, parameters: Array) -> Array:
    """Which outputs (n_outputs, n) are 0 at these parameters (n_parameters, n) whatever is gathered: a factor 0 hides
    what is not known (None, or nan where it is known of other instances)."""
    n = parameters.shape[1]
    values: list[Any] = [None] * (program.n_gather + program.n_uniform)
    values += [*parameters, *map(np.float64, program.constants)]
    with np.errstate(all="ignore"):
        for step in program.instructions:
            known = [values[i] for i in step.operands]
            blind = any(x is None for x in known)
            hiding = [x == 0.0 for x in known[: _HIDES.get(step.op, 0)] if x is not None]
            if blind and not any(map(np.any, hiding)):
                values.append(None)
                continue
            hidden: Any = reduce(np.logical_or, hiding, False)
            found: Any = np.nan
            if not blind:
                unsure: Any = reduce(np.logical_or, map(np.isnan, known))
                found = np.where(unsure, np.nan, OPERATIONS[step.op](*known))
            values.append(np.where(hidden, 0.0, found))
    return np.array([np.broadcast_to(values[i] == 0.0, (n,)) for i in program.outputs])


def _boolean(condition: Any) -> Any:
    return np.where(condition, 1.0, 0.0)


def _copysign(x: Any, y: Any) -> Any:
    return np.where(np.signbit(np.real(x)) == np.signbit(np.real(y)), x, -x)


def _sign(x: Any) -> Any:
    return np.sign(np.real(x))


def _fmin(x: Any, y: Any) -> Any:
    return np.where((np.real(x) <= np.real(y)) | np.isnan(y), x, y)


def _fmax(x: Any, y: Any) -> Any:
    return np.where((np.real(x) >= np.real(y)) | np.isnan(y), x, y)


def _remainder(x: Any, y: Any) -> Any:
    """IEEE remainder x - y*round(x/y), ties to even; exact, as C's remainder()."""
    size = np.abs(y)
    rest = np.where(
        2 * size < np.inf, np.fmod(np.abs(x), 2 * size), np.abs(x)
    )  # where 2y overflows, |x| < 2|y| already
    once = rest - size
    # "rest > size/2" without a division that underflows or a doubling that overflows
    rest = np.where(rest > size - rest, np.where(once >= size - once, once - size, once), rest)
    result = np.where(np.isinf(y), x, np.where(np.signbit(x), -rest, rest))
    return np.where(np.isfinite(x) & ~np.isnan(y), result, np.nan)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "pow": np.power,
    "sqrt": np.sqrt,
    "fabs": lambda x: np.where(np.signbit(np.real(x)), -x, x),
    "sign": _sign,
    "floor": lambda x: np.floor(np.real(x)),
    "ceil": lambda x: np.ceil(np.real(x)),
    "exp": np.exp,
    "log": np.log,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": np.vectorize(math.erf, otypes=[float]),
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "fmod": np.fmod,
    "remainder": _remainder,
    "copysign": _copysign,
    "fmin": _fmin,
    "fmax": _fmax,
    "lt": lambda x, y: _boolean(np.real(x) < np.real(y)),
    "le": lambda x, y: _boolean(np.real(x) <= np.real(y)),
    "eq": lambda x, y: _boolean(np.real(x) == np.real(y)),
    "ne": lambda x, y: _boolean(np.real(x) != np.real(y)),
    "not": lambda x: _boolean(np.real(x) == 0),
    "and": lambda x, y: _boolean((np.real(x) != 0) & (np.real(y) != 0)),
    "or": lambda x, y: _boolean((np.real(x) != 0) | (np.real(y) != 0)),
    "select": lambda c, x: np.where(np.real(c) != 0, x, 0.0),
}
