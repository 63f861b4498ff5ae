"""Transient analysis: its options, and what it changes to begin. The run itself is in netsim.analyses.over_time.run."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from netsim.analyses.analysis import Analysis, OptionSource, Task
from netsim.analyses.option_values import NAMES as PARTS
from netsim.analyses.option_values import NUMBER, SECOND, WORD, Kind, plain_option
from netsim.initial.reactions.axes import locked_chains
from netsim.multibody.superelements import check_names
from netsim.results.samples import Samples
from netsim.simulate.options import NAMES, TIMES, WORDS, TransientOptions, check_options
from netsim.text.errors import InputError, Problem
from netsim.text.syntax import Run

SCALE = 1.0
"""The `stop` (s) of a run that is stepped from Python where nothing says it: its steps are scaled by it."""

OPTIONS: dict[str, Kind] = {
    **dict.fromkeys(NAMES, NUMBER),
    **dict.fromkeys(TIMES, SECOND),
    **dict.fromkeys(WORDS, WORD),
    "superelements": PARTS,
}


def transient_options(options: Mapping[str, Any], line: OptionSource, name: str = "transient") -> TransientOptions:
    """Options of a run line or call, checked; raises `InputError`."""
    found = check_options(name, options, line.spans)
    check_names(line.network, found.superelements, line.spans)
    return found


def stepped_options(line: Run, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of a run that is stepped from Python: those beside a transient line, with a `stop` where nothing says it.

    Raises `InputError` for `every` and `sample`."""
    for name in ("every", "sample"):
        if name in options:
            hint = "samples are where `step` and `advance` end"
            raise InputError(Problem("E421", f"simulator() has no option '{name}'", hint=hint))
    given = {name.rstrip("_"): value for name, value in options.items()}
    if line.options or "stop" in given:
        return given
    step = float(plain_option("step", given.get("step", 0.0), SECOND))
    return {**given, "stop": step * max(1000, np.ceil(SCALE / step)) if step > 0.0 else SCALE}


def _notes(task: Task, options: TransientOptions) -> list[Problem]:
    """What the run moves to begin; raises what makes it impossible."""
    from netsim.simulate.setup.start_of_run import changes_in_words, start_of_run

    machine, _, g, changes = start_of_run(task.machine, task.structure, options.start)
    moved = changes_in_words([c for c in changes if c.kind not in ("velocity", "far")])
    notes = [Problem("N401", f"the start was changed to meet the constraints: {moved}")] if moved else []
    notes += [Problem("N402", c.text) for c in changes if c.kind == "far"]
    return [*notes, *locked_chains(machine, g)]


def _run(task: Task, options: TransientOptions) -> Samples:
    from netsim.analyses.over_time.run import run

    return run(task, options)


ANALYSIS = Analysis("transient", OPTIONS, transient_options, _run, notes=_notes)
