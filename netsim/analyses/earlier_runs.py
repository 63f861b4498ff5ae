"""Tables over earlier runs: who reads them, and whether there are the runs that they name."""

from __future__ import annotations

from netsim.analyses.inverse.options import motions_in
from netsim.equations.system import System
from netsim.network.bindings import TableCall, lift
from netsim.network.values import Values
from netsim.text.errors import InputError, Problem, nearest


def table_calls(system: System, values: Values) -> list[TableCall]:
    """Every table that inputs, or motions in run lines, read."""
    network = system.network
    motions = [motion for run in network.runs for motion in motions_in(run)]
    shapes = [lift(motion, network.top, values, lambda name, frame: None) for motion in motions]
    inputs = [call for p in system.prescribed_inputs for _, call in p.calls]
    return inputs + [call for shape in shapes for call in shape.tables]


def refuse_unknown_runs(system: System, values: Values) -> None:
    """Raises `InputError` (E244) for tables over runs that no line names (until a run is done they show zero)."""
    names = [run.name for run in system.network.runs if run.name]
    calls = [call for call in table_calls(system, values) if call.run and not call.run.endswith(".net")]
    hint = "name the earlier run: run first = transient(...)"
    wrong = [
        Problem("E244", f"there is no run '{call.run}'", call.call.span, hint=nearest(call.run, names) or hint)
        for call in calls
        if call.run not in names
    ]
    if wrong:
        raise InputError(wrong)
