"""Options of a transient run: what they are, and what is wrong with given ones."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.simulate.methods import METHODS
from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.limits import above_limit

NAMES = (
    "stop",
    "step",
    "method",
    "rtol",
    "atol",
    "forces",
    "every",
    "sample",
    "from",
    "formulation",
    "superelements",
    "max_step",
    "verify",
)
TIMES = ("stop", "step", "sample", "max_step")
WORDS: dict[str, Collection[str]] = {
    "method": METHODS,
    "forces": ("method", "recovered"),
    "from": ("static", "rest"),
    "formulation": ("absolute", "tree", "auto"),
    "verify": ("no", "yes"),
}


SHORTEST, LONGEST = 1e-60, 1e60
"""Bounds of every time, in s: their squares and inverses are numbers."""
RESOLVED = 1e-15
"""The shortest time beside `stop` that the clock of a run can tell."""
DEFAULT_RTOL = 1e-6
DEFAULT_METHOD = "radau"


@dataclass(frozen=True)
class TransientOptions:
    """stop and step in s, step 0: chosen by the error test with tolerance rtol, by which the estimates of given steps
    are judged too; atol: the absolute part of that test beside nominal sizes, 0: rtol times the sizes that the run
    finds; forces 'method' (as the integrator gives them) or 'recovered'; every = steps between samples; sample = time
    between samples, 0: at steps; subnetworks whose unknowns are eliminated first; max_step in s, 0: what the features
    of the run allow; `jumping`: inputs may jump at any instant (netsim.simulate.stepped);
    `verify`: the run is done again with a tenth of rtol and compared (netsim.simulate.repeated);
    `window`: rows of samples in memory, older ones being on the disk, 0: all; `formula`: given steps are the
    method's formula and nothing beside it; `resumed`: conditions at the start are as they were just before it."""

    stop: float
    step: float = 0.0
    method: str = "euler"
    forces: str = "method"
    every: int = 1
    start: str = ""
    rtol: float = DEFAULT_RTOL
    sample: float = 0.0
    formulation: str = "absolute"
    superelements: tuple[str, ...] = ()
    max_step: float = 0.0
    atol: float = 0.0
    jumping: bool = False
    window: int = 0
    formula: bool = False
    resumed: bool = False
    verify: bool = False

    @property
    def recovers(self) -> bool:
        return self.forces == "recovered"

    @property
    def plain(self) -> bool:
        """Whether steps are given to a method that is kept to its formula, and samples are at steps."""
        return self.step > 0.0 and METHODS[self.method].formula and not self.sample


def check_options(name: str, options: Mapping[str, Any], spans: Mapping[str, Any]) -> TransientOptions:
    """Options of a run line or call, checked; raises `InputError` with all that is wrong. `spans` tells where each was
    written."""
    problems = [
        *wrong_times(name, options, spans),
        *unknown_values(options, spans),
        *_together(options, spans),
    ]
    every = options.get("every", 1)
    if not 1 <= every < np.inf or every != int(every):
        problems.append(Problem("E423", "'every' must be a whole number of steps, at least 1", spans.get("every")))
    if not 1e-13 <= options.get("rtol", DEFAULT_RTOL) <= 0.1:
        problems.append(Problem("E423", "'rtol' must be between 1e-13 and 0.1", spans.get("rtol"), hint="rtol = 1e-6"))
    if not 0.0 < options.get("atol", 1.0) < np.inf:
        problems.append(Problem("E423", "'atol' must be positive and finite", spans.get("atol"), hint="atol = 1e-9"))
    if name != "transient" and "verify" in options:
        hint = "verify a transient run, then leave it out"
        problems.append(Problem("E423", "'verify' belongs to transient()", spans.get("verify"), hint=hint))
    if not problems and options.get("step", 0.0) > options["stop"]:
        problems.append(Problem("E423", "'step' is longer than 'stop'", spans.get("step")))
    if problems:
        raise InputError(problems)
    step = float(options.get("step", 0.0))
    method = options.get("method", DEFAULT_METHOD)
    forces = options.get("forces", "method" if method in METHODS and METHODS[method].order == 1 else "recovered")
    rtol, sample = float(options.get("rtol", DEFAULT_RTOL)), float(options.get("sample", 0.0))
    where, parts = options.get("formulation", "absolute"), options.get("superelements", ())
    atol, longest = float(options.get("atol", 0.0)), float(options.get("max_step", 0.0))
    begin = options.get("from", "")
    return TransientOptions(
        float(options["stop"]), step, method, forces, int(every), begin, rtol, sample, where, parts, longest, atol,
        verify=options.get("verify") == "yes",
    )  # fmt: skip


def _together(options: Mapping[str, Any], spans: Mapping[str, Any]) -> Iterator[Problem]:
    method = METHODS.get(options.get("method", DEFAULT_METHOD))
    if method and not method.estimate and "step" not in options:
        message = f"{method.name} has no error estimate, so that nothing selects its steps"
        yield Problem("E422", message, spans.get("method"), hint="add a step: step = 1 ms")
    for option in (o for o in ("atol", "max_step") if "step" in options and o in options):
        hint = f"omit '{option}', or omit 'step', so that the error test selects the steps"
        yield Problem("E423", f"'step' and '{option}' exclude each other", spans.get(option), hint=hint)
    if "every" in options and "sample" in options:
        hint = "omit one: 'every' is the number of steps between samples, 'sample' the time between them"
        yield Problem("E423", "'every' and 'sample' exclude each other", spans.get("sample"), hint=hint)


def unknown_options(
    name: str, known: Collection[str], options: Mapping[str, Any], spans: Mapping[str, Any]
) -> Iterator[Problem]:
    """Options that an analysis does not have (E421)."""
    for option in options:
        if option not in known:
            hint = nearest(option, known) or f"the options are {', '.join(known)}"
            yield Problem("E421", f"{name}() has no option '{option}'", spans.get(option), hint=hint)


def wrong_time(option: str, value: float, span: Span | None) -> Iterator[Problem]:
    """What makes a number of seconds none that a run can take (E423)."""
    if not value > 0:
        yield Problem("E423", f"'{option}' must be positive", span)
    elif not SHORTEST <= value <= LONGEST:
        yield Problem("E423", f"'{option}' must be between {SHORTEST:g} s and {LONGEST:g} s", span)


def wrong_times(name: str, options: Mapping[str, Any], spans: Mapping[str, Any]) -> Iterator[Problem]:
    """Times of a run that are missing, not positive, too long or short beside one another (E422, E423, E260)."""
    if "stop" not in options:
        yield Problem("E422", f"{name}() needs 'stop'", spans.get(""), hint=f"{name}(stop = 1 s)")
    for option in TIMES:
        if option not in options:
            continue
        value, stop = options[option], options.get("stop", 0.0)
        if found := list(wrong_time(option, value, spans.get(option))):
            yield from found
        elif value < RESOLVED * stop <= RESOLVED * LONGEST:
            yield Problem("E423", f"'{option}' is lost in the rounding of 'stop'", spans.get(option))
        elif option in ("step", "max_step"):
            yield from above_limit("steps", stop / value, f"these are {stop / value:.3g} steps", spans.get(option))


def unknown_values(options: Mapping[str, Any], spans: Mapping[str, Any]) -> Iterator[Problem]:
    """Options with a word that is not allowed (E424)."""
    for option, allowed in WORDS.items():
        word = options.get(option)
        if word is not None and word not in allowed:
            message = f"{option} must be one of {', '.join(allowed)}, not '{word}'"
            yield Problem("E424", message, spans.get(option), hint=nearest(str(word), allowed))
