"""Values of several scalars: a vector is a tuple of scalars, a matrix a tuple of rows."""

from collections.abc import Callable
from typing import Any

import numpy as np


def elementwise(operation: Callable[..., Any], *values: Any) -> Any:
    """Apply to scalars, or component by component to tuples of one shape (scalars are repeated)."""
    shaped = [v for v in values if isinstance(v, tuple)]
    if not shaped:
        return operation(*values)
    size = len(shaped[0])
    if any(len(v) != size for v in shaped):
        raise ValueError("shapes differ")
    return tuple(elementwise(operation, *(v[i] if isinstance(v, tuple) else v for v in values)) for i in range(size))


def shape(value: Any) -> tuple[int, ...]:
    """The sizes of a value: () for a number, (3,) for a vector, (2, 3) for a matrix."""
    return (len(value), *(shape(value[0]) if value else ())) if isinstance(value, tuple) else ()


def flatten(value: Any) -> list[Any]:
    """All scalars of a value, row by row."""
    return [scalar for item in value for scalar in flatten(item)] if isinstance(value, tuple) else [value]


def shaped(scalars: Any, sizes: tuple[int, ...]) -> Any:
    """The inverse of `flatten` for known sizes."""
    if not sizes:
        return scalars[0]
    if not sizes[0]:
        return ()
    step = len(scalars) // sizes[0]
    return tuple(shaped(scalars[i * step : (i + 1) * step], sizes[1:]) for i in range(sizes[0]))


def describe_sizes(sizes: tuple[int, ...]) -> str:
    """The shape of a value in words."""
    if not sizes:
        return "a single number"
    return f"a vector of {sizes[0]}" if len(sizes) == 1 else f"a {' x '.join(map(str, sizes))} matrix"


def describe(value: Any) -> str:
    """The shape of a value in a sentence about several: 'a number', 'a vector of 3'."""
    return describe_sizes(shape(value)).replace("single ", "")


def is_value(value: Any, arguments: Any) -> bool:
    """Whether all scalars of a result are such: an array is one only where an argument had some (series of samples)."""
    series = any(isinstance(each, np.ndarray) for each in flatten(arguments))
    return series or not any(isinstance(each, np.ndarray) for each in flatten(value))
