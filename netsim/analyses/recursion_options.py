"""Options of a recursion, and the problems of given ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from netsim.analyses.option_values import NUMBER, SECOND, WORD, Kind
from netsim.simulate.options import wrong_times
from netsim.text.errors import InputError, Problem, nearest

NAMES: dict[str, Kind] = {
    **dict.fromkeys(("stop", "step", "sample", "max_step"), SECOND),
    **dict.fromkeys(("beta", "gamma", "rtol", "every", "superelement"), NUMBER),
    **dict.fromkeys(("method", "matrix", "equations", "from"), WORD),
}
MATRICES = ("exact", "reduced", "mass")
"""Iteration matrices of Newmark's method (netsim.multibody.tree.algorithms.newmark)."""
TRUNCATED = "truncated"
EQUATIONS = ("full", TRUNCATED)
"""Of motion; truncated ones are M(q) v' + dV/dq = tau, without the terms that are quadratic in velocities (K94 leaves
them out for two links)."""
METHODS = ("rk45", "rk6", "rk8")
"""Explicit methods with an error test (netsim.multibody.recursion.runge_kutta)."""
MOST_STEPS = 20_000_000


@dataclass(frozen=True)
class RecursionOptions:
    """stop [s]; step [s], 0: by the error test of `method` with tolerance rtol; Newmark's beta, gamma and matrix; time
    between samples, or steps between them; bodies in a superelement (netsim.multibody.tree.algorithms.superelements);
    which equations of motion; max_step [s], 0: what the error test allows."""

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
    equations: str = EQUATIONS[0]
    start: str = ""
    max_step: float = 0.0

    @property
    def name(self) -> str:
        """The method as results name it."""
        if not self.step:
            return self.method
        return "newmark explicit" if self.beta == 0 else f"newmark {self.matrix}"


def recursion_options(options: Mapping[str, Any], spans: Mapping[str, Any]) -> RecursionOptions:
    """Options of a run line or call, checked; raises `InputError` with all that is wrong."""
    wrong = [*wrong_times("recursion", options, spans), *_numbers(options, spans)]
    for name, words in (("matrix", MATRICES), ("equations", EQUATIONS), ("method", METHODS)):
        if options.get(name, words[0]) not in words:
            hint = nearest(str(options[name]), words)
            message = f"{name} must be one of {', '.join(words)}, not '{options[name]}'"
            wrong.append(Problem("E424", message, spans.get(name), hint=hint))
    if "step" in options:
        wrong += _beside_step(options, spans)
    wrong += _step_divides(options, spans) if not wrong and "step" in options else []
    whole = {name: options[name] for name in ("every", "superelement") if name in options}
    for name, value in whole.items():
        if value != int(value) or value < 1:
            counts = "steps" if name == "every" else "bodies"
            wrong.append(Problem("E423", f"'{name}' must be a whole number of {counts}, at least 1", spans.get(name)))
    if wrong:
        raise InputError(wrong)
    given = {n: options[n] for n in NAMES if n in options and n != "from"}
    return RecursionOptions(**{**given, **{n: int(v) for n, v in whole.items()}}, start=options.get("from", ""))


def _numbers(options: Mapping[str, Any], spans: Mapping[str, Any]) -> list[Problem]:
    """The problems of single numbers."""
    wrong = []
    if not 1e-13 <= options.get("rtol", 1e-6) <= 0.1:
        wrong.append(Problem("E423", "'rtol' must be between 1e-13 and 0.1", spans.get("rtol")))
    for name, high in (("beta", 0.5), ("gamma", 1.0)):
        if not 0 <= options.get(name, 0.0) <= high:
            wrong.append(Problem("E423", f"'{name}' must be between 0 and {high:g}", spans.get(name)))
        if name in options and "step" not in options:
            message = f"'{name}' belongs to Newmark's method, which needs 'step'"
            wrong.append(Problem("E423", message, spans.get(name), hint="step = 10 ms"))
    return wrong


def _beside_step(options: Mapping[str, Any], spans: Mapping[str, Any]) -> list[Problem]:
    """The problems of options that exclude `step`, which selects Newmark's method."""
    refused = {
        "rtol": (
            "'step' and 'rtol' exclude each other",
            "omit 'rtol', or omit 'step', so that the error test selects the steps",
        ),
        "max_step": ("'step' and 'max_step' exclude each other", "omit one of them"),
        "method": ("'step' and 'method' exclude each other", "'step' selects Newmark's method: omit one of them"),
        "superelement": (
            "'step' and 'superelement' exclude each other",
            "'step' selects Newmark's method: omit one of them",
        ),
        "equations": (
            "'step' and truncated equations exclude each other",
            "omit 'step': rk8, rk6 and rk45 integrate them",
        ),
    }
    given = {name for name in refused if name in options} - (
        {"equations"} if options.get("equations") != TRUNCATED else set()
    )
    return [
        Problem("E423", message, spans.get(name), hint=hint)
        for name, (message, hint) in refused.items()
        if name in given
    ]


def _step_divides(options: Mapping[str, Any], spans: Mapping[str, Any]) -> list[Problem]:
    for name in ("stop", "sample"):
        count = options.get(name, options["step"]) / options["step"]
        if abs(count - round(count)) > 1e-9 * max(count, 1) or not 0.5 < count < MOST_STEPS:
            return [Problem("E423", f"'step' does not divide '{name}'", spans.get("step"))]
    return []
