"""Options of a transient run: what they are, and what is wrong with given ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.errors import InputError, Problem, nearest
from netsim.integrators import generalized_alpha
from netsim.integrators.loop import EULER, GENERALIZED_ALPHA

METHODS = {"euler": np.array([EULER, 0.0, 0.0, 0.0, 0.0]), "generalized_alpha": np.array([GENERALIZED_ALPHA, *generalized_alpha.coefficients()])}
"""What the time loop is told of each method: its number and its coefficients."""

NAMES = ("stop", "step", "method", "forces", "every", "from", "formulation")
WORDS = {"method": tuple(METHODS), "forces": ("method", "recovered"), "from": ("static", "rest"), "formulation": ("absolute", "tree", "auto")}


@dataclass(frozen=True)
class TransientOptions:
    """stop and step in s; forces 'method' (as the integrator gives them) or 'recovered'; every = steps between samples."""

    stop: float
    step: float
    method: str = "euler"
    forces: str = "method"
    every: int = 1
    start: str = ""
    formulation: str = "absolute"

    @property
    def recovers(self) -> bool:
        return self.forces == "recovered"


def check_options(name: str, options: Mapping[str, Any], spans: Mapping[str, Any]) -> TransientOptions:
    """Options of a run line or call, checked; raises `InputError` with all that is wrong. `spans` tells where each was written."""
    problems = [*_unknown(name, options, spans), *_times(name, options, spans), *_words(options, spans)]
    every = options.get("every", 1)
    if every != int(every) or every < 1:
        problems.append(Problem("E423", "'every' is a whole number of steps", spans.get("every")))
    if not problems and options["step"] > options["stop"]:
        problems.append(Problem("E423", "'step' is longer than 'stop'", spans.get("step")))
    if problems:
        raise InputError(problems)
    method = options.get("method", "euler")
    forces = options.get("forces", "method" if method == "euler" else "recovered")
    return TransientOptions(
        float(options["stop"]), float(options["step"]), method, forces, int(every), options.get("from", ""), options.get("formulation", "absolute")
    )


def _unknown(name: str, options: Mapping[str, Any], spans: Mapping[str, Any]) -> Iterator[Problem]:
    for option in options:
        if option not in NAMES:
            hint = nearest(option, NAMES) or f"it has {', '.join(NAMES)}"
            yield Problem("E421", f"{name}() has no option '{option}'", spans.get(option), hint=hint)


def _times(name: str, options: Mapping[str, Any], spans: Mapping[str, Any]) -> Iterator[Problem]:
    for option in ("stop", "step"):
        if option not in options:
            yield Problem("E422", f"{name}() needs '{option}'", spans.get(""), hint=f"{name}(stop = 1 s, step = 1 ms)")
        elif not options[option] > 0:
            yield Problem("E423", f"'{option}' must be positive", spans.get(option))


def _words(options: Mapping[str, Any], spans: Mapping[str, Any]) -> Iterator[Problem]:
    for option, allowed in WORDS.items():
        word = options.get(option)
        if word is not None and word not in allowed:
            yield Problem("E424", f"{option} is one of {', '.join(allowed)}, not '{word}'", spans.get(option), hint=nearest(str(word), allowed))
