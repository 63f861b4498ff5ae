"""One text checked or run, in a process of its own: what it came to, told in a line."""

import re
import time as clock
import traceback
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from texts import Case

import netsim
from netsim.results.files import samples_of
from netsim.results.plots import plot
from netsim.results.samples import Samples
from netsim.text import errors
from netsim.text.errors import NetsimError, Problem, render

REFUSED, SUCCEEDED, FAILED, CUT, INTERNAL, HANG, MEMORY, NOT_FINITE, WORDLESS = (
    "refused", "succeeded", "failed with a message", "cut after 5 s", "internal error", "hang above 10 s", "memory above 2 GiB",
    "not finite", "bad message",
)  # fmt: skip
WRONG = (INTERNAL, HANG, MEMORY, NOT_FINITE, WORDLESS)
PATIENCE, PATIENCE_WITH_OTHERS = 5.0, 30.0
"""Seconds of work, and by the clock (a sweep lets other processes work), after which a run that makes progress is ended."""
BOUNDS = {"elements": 20_000, "values": 1e7}
"""Bounds on what a text may ask for: what is just below those of every day may take longer than a hang, or 2 GiB."""
BAD = re.compile(r"did you mean ''|\bNone\b|Traceback|<[a-z_.]+ object|array\(|np\.float|Name\(|Span\(")


@dataclass(frozen=True)
class Outcome:
    """What a text came to; `kind` groups those that are alike (where an exception was raised)."""

    result: str
    kind: str = ""
    words: str = ""


def tried(case: Case, folder: Path) -> Outcome:
    """The text written beside what it includes, loaded, and checked or run."""
    path = folder / case.origin.parent / f"mutant{case.origin.suffix}"
    if case.result:
        path.write_bytes(case.result)
    else:
        path.write_text(case.text, encoding="utf-8", errors="surrogatepass")
    if case.table is not None:
        path.with_name("mutant.csv").write_text(case.table, encoding="utf-8", errors="surrogatepass", newline="")
    errors._texts.clear()
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            with netsim.limits(**BOUNDS):
                outcome = _drawn(path) if case.result else _result(path, case.runs)
    except MemoryError:
        return Outcome(MEMORY)
    except Exception as error:  # every other exception is what is looked for
        frames = traceback.extract_tb(error.__traceback__)
        kind = f"{type(error).__name__} at {Path(frames[-1].filename).name}:{frames[-1].name}"
        own = [f for f in frames if "/netsim/" in f.filename]
        return Outcome(INTERNAL, f"{kind} < {Path(own[-1].filename).name}:{own[-1].name}" if own else kind, traceback.format_exc())
    odd = [w for w in warned if issubclass(w.category, RuntimeWarning)]
    if odd:
        return Outcome(WORDLESS, f"warning of Python: {odd[0].message} at {Path(odd[0].filename).name}", str(odd[0]))
    return outcome


def _result(path: Path, runs: bool) -> Outcome:
    try:
        model = netsim.load(path)
        if runs and model.network.runs:
            return _run(model)
        found = model.check()
        return _told(REFUSED if any(not p.is_note for p in found) else SUCCEEDED, found)
    except NetsimError as error:
        return _told(REFUSED if error.exit_status == 2 or not runs else FAILED, error.problems)


def _drawn(path: Path) -> Outcome:
    """A result is read and drawn."""
    try:
        plot(samples_of(path), (), path.with_suffix(".png"))
    except NetsimError as error:
        return _told(REFUSED, error.problems)
    return Outcome(SUCCEEDED)


def _run(model: netsim.Model) -> Outcome:
    began, until = clock.process_time(), clock.perf_counter() + PATIENCE_WITH_OTHERS

    def impatient(*_: object) -> None:
        if clock.process_time() - began > PATIENCE or clock.perf_counter() > until:
            raise KeyboardInterrupt

    try:
        runs = model.samples({}, impatient)
    except KeyboardInterrupt:  # an optimisation has nothing to keep
        return Outcome(CUT)
    for samples in runs:
        said = any(problem.code == "W504" for problem in samples.warnings)
        values = samples.values[_reached(samples)]
        if samples.finished and not said and not np.isfinite(values).all():
            names = [s.name for s, column in zip(samples.signals, values.T) if not np.isfinite(column).all()]
            return Outcome(NOT_FINITE, "a finished run with values that are not finite", ", ".join(names))
    problems = [p for s in runs for p in (*s.warnings, *s.broken, *([s.attributes["failure"]] if "failure" in s.attributes else []))]
    last = runs[-1]
    return _told(SUCCEEDED if last.finished else FAILED if "failure" in last.attributes else CUT, problems)


def _reached(samples: Samples) -> np.ndarray:
    """The rows that have values: of a sweep those of the cases that did not fail, each of which says why."""
    if samples.axis == "case" and samples.table is not None and "failed" in samples.table.data_vars:
        return ~np.ravel(samples.table.data_vars["failed"].values).astype(bool)
    return np.ones(len(samples.values), bool)


def _told(result: str, problems: list[Problem] | tuple[Problem, ...]) -> Outcome:
    """The outcome, unless a message is none."""
    for problem in problems:
        words = render(problem)
        said = f"{problem.code} {problem.message} {problem.hint} {problem.mark}"
        if not problem.message.strip() or BAD.search(said):
            return Outcome(WORDLESS, f"{problem.code} in bad words", words)
    if result in (REFUSED, FAILED) and not problems:
        return Outcome(WORDLESS, "no message", "")
    return Outcome(result, problems[0].code if problems else "")
