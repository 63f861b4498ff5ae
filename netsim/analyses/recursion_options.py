"""Options of a recursion: what they are, and what is wrong with given ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.errors import InputError, Problem, nearest

NAMES = ("stop", "step", "method", "rtol", "sample", "every", "beta", "gamma", "matrix", "superelement", "from")
NUMBERS = ("beta", "gamma", "rtol", "every", "superelement")
MATRICES = ("exact", "reduced", "mass")
"""Iteration matrices of Newmark's method (netsim.tree.newmark)."""
METHODS = ("rk45", "rk6", "rk8")
"""Explicit methods with an error test (netsim.recursion.runge_kutta)."""
MOST_STEPS = 20_000_000


@dataclass(frozen=True)
class RecursionOptions:
    """stop [s]; step [s], 0: by the error test of `method` with tolerance rtol; Newmark's beta, gamma and matrix; time between samples, or steps
    between them; bodies in a superelement (netsim.tree.superelements)."""

    stop: float
    step: float = 0.0
    method: str = "rk8"
    rtol: float = 1e-9
    sample: float = 0.0
    every: int = 1
    beta: float = 0.25
    gamma: float = 0.5
    matrix: str = "exact"
    superelement: int = 1
    start: str = ""

    @property
    def name(self) -> str:
        """The method as results name it."""
        if not self.step:
            return self.method
        return "newmark explicit" if self.beta == 0 else f"newmark {self.matrix}"


def recursion_options(options: Mapping[str, Any], spans: Mapping[str, Any]) -> RecursionOptions:
    """Options of a run line or call, checked; raises `InputError` with all that is wrong."""
    wrong = [
        Problem("E421", f"recursion() has no option '{name}'", spans.get(name), hint=nearest(name, NAMES) or f"it has {', '.join(NAMES)}")
        for name in options
        if name not in NAMES
    ]
    if "stop" not in options:
        wrong.append(Problem("E422", "recursion() needs 'stop'", spans.get(""), hint="recursion(stop = 1 s)"))
    wrong += _numbers(options, spans)
    if options.get("matrix", MATRICES[0]) not in MATRICES:
        hint = nearest(str(options["matrix"]), MATRICES)
        wrong.append(Problem("E424", f"matrix is one of {', '.join(MATRICES)}, not '{options['matrix']}'", spans.get("matrix"), hint=hint))
    if options.get("method", METHODS[0]) not in METHODS:
        hint = nearest(str(options["method"]), METHODS)
        wrong.append(Problem("E424", f"method is one of {', '.join(METHODS)}, not '{options['method']}'", spans.get("method"), hint=hint))
    if "method" in options and "step" in options:
        wrong.append(Problem("E423", "'method' is for runs without 'step'", spans.get("method"), hint="with 'step' the method is Newmark's"))
    wrong += _step_divides(options, spans) if not wrong and "step" in options else []
    whole = {name: options[name] for name in ("every", "superelement") if name in options}
    for name, value in whole.items():
        if value != int(value) or value < 1:
            wrong.append(Problem("E423", f"'{name}' is a whole number of {'steps' if name == 'every' else 'bodies'}", spans.get(name)))
    if "rtol" in options and "step" in options:
        wrong.append(
            Problem("E423", "a given step has no error test, so 'step' and 'rtol' exclude each other", spans.get("rtol"), hint="leave 'step' out")
        )
    if "superelement" in options and "step" in options:
        wrong.append(Problem("E423", "'superelement' is for runs without 'step'", spans.get("superelement"), hint="Newmark takes one body at a time"))
    if wrong:
        raise InputError(wrong)
    given = {n: options[n] for n in NAMES if n in options and n != "from"}
    return RecursionOptions(**{**given, **{n: int(v) for n, v in whole.items()}}, start=options.get("from", ""))


def _numbers(options: Mapping[str, Any], spans: Mapping[str, Any]) -> list[Problem]:
    """What is wrong with single numbers."""
    wrong = []
    limits = {"stop": (0, np.inf), "step": (0, np.inf), "sample": (0, np.inf), "rtol": (1e-13, 0.1)}
    for name, (low, high) in limits.items():
        if name in options and not low < options[name] <= high:
            wrong.append(
                Problem("E423", f"'{name}' must be positive" if high == np.inf else "'rtol' is a number between 1e-13 and 0.1", spans.get(name))
            )
    for name, high in (("beta", 0.5), ("gamma", 1.0)):
        if not 0 <= options.get(name, 0.0) <= high:
            wrong.append(Problem("E423", f"'{name}' is a number between 0 and {high:g}", spans.get(name)))
        if name in options and "step" not in options:
            wrong.append(Problem("E423", f"'{name}' is Newmark's, which needs 'step'", spans.get(name), hint="step = 10 ms"))
    return wrong


def _step_divides(options: Mapping[str, Any], spans: Mapping[str, Any]) -> list[Problem]:
    for name in ("stop", "sample"):
        count = options.get(name, options["step"]) / options["step"]
        if abs(count - round(count)) > 1e-9 * max(count, 1) or not 0.5 < count < MOST_STEPS:
            return [Problem("E423", f"'step' does not divide '{name}'", spans.get("step"))]
    return []
