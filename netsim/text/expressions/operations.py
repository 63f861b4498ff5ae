"""One scalar operation by name, on floats, NumPy series and CasADi symbols alike."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

_NUMPY: dict[str, Callable[..., Any]] = {
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "abs": np.abs, "min": np.minimum,
    "max": np.maximum,
    "mod": np.mod, "select": np.where, "not": np.logical_not, "and": np.logical_and, "or": np.logical_or, "^": np.power,
    "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal, "!=": np.not_equal,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
"""Those of two plain numbers, which bounds of parameters are."""
_CASADI = {
    "abs": "fabs", "min": "fmin", "max": "fmax", "mod": "fmod", "select": "if_else", "not": "logic_not",
    "and": "logic_and", "or": "logic_or",
    "^": "power", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne",
}  # fmt: skip


def apply(name: str, *scalars: Any) -> Any:
    """One scalar operation on whatever the scalars are. Raises `ValueError` for a vector."""
    if name in _COMPARISONS and type(scalars[0]) is float and type(scalars[1]) is float:
        return float(_COMPARISONS[name](*scalars))
    if any(type(s) is tuple for s in scalars):
        raise ValueError
    if any(type(s).__module__.startswith("casadi") for s in scalars):
        import casadi

        if name == "mod":  # as NumPy and Modelica: the sign of the divisor
            return scalars[0] - scalars[1] * casadi.floor(scalars[0] / scalars[1])
        return getattr(casadi, _CASADI.get(name, name))(*scalars)
    with np.errstate(all="ignore"):
        result = _NUMPY[name](*scalars) if name in _NUMPY else getattr(np, name)(*scalars)
    return result if isinstance(result, np.ndarray) and result.ndim else float(result)
