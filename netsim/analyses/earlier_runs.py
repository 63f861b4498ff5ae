"""Tables over earlier runs: who reads them, whether there are the runs that they name, and runs of other netlists."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from netsim.analyses.inverse.options import motions_in
from netsim.equations.system import System
from netsim.network.bindings import TableCall, lift_numbers
from netsim.network.network import Network, parameter_names
from netsim.network.values import Values
from netsim.results.progress import present
from netsim.results.samples import Samples
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.roots import within
from netsim.text.syntax import Expr


def table_calls(system: System, values: Values) -> list[TableCall]:
    """Every table that inputs, or motions in run lines, read."""
    network = system.network
    motions = [motion for run in network.runs for motion in motions_in(run)]
    shapes = [lift_numbers(motion, network.top, values, lambda name, frame: None) for motion in motions]
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


def other_run(
    path: str,
    call: Any,
    overrides: Mapping[str, Expr],
    shared: dict[Any, Any],
    network: Network,
    calls: Sequence[TableCall],
    load: Callable[[str], Any],
    checks: bool = False,
) -> Samples | None:
    """The last run of another netlist under the same parameter values, for a table of `network` among `calls`; each is
    done once (in `shared`), and knows which rates are wanted of it. It may read what the first one may. `checks`: it is
    read and not run, None. Raises `InputError` (E247) where it does not finish."""
    key = (path, tuple(sorted((n, repr(v)) for n, v in overrides.items())))
    others = shared.setdefault("others", {})
    if key not in others:
        with within(network.roots):
            other = load(path)
        if checks:
            return None
        known = set(parameter_names(other.network))
        own = {n: v for n, v in overrides.items() if n in known}
        wanted = [c.signal for c in calls if c.run == path]
        other = replace(other, overrides=own, shared={"rated": wanted, "others": others})
        last = other.samples(progress=present())[-1]
        if not last.finished:
            message = f"the run of '{Path(path).name}' did not finish: {last.message}"
            raise InputError(Problem("E247", message, call.call.span))
        others[key] = last
    return others[key]
