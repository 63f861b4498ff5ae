"""How a run comes to consistent points: at samples, projections and events, and at the ends of explicit steps."""

from typing import Any

import numpy as np

from netsim.core.consistent import Consistent
from netsim.core.contract import ASTRAY, RTOL, Trial
from netsim.core.scales import NOTHING
from netsim.equations.machine import Machine
from netsim.initial.flat_plan import compiled_plan
from netsim.initial.initial import Structure
from netsim.initial.recovery import plan_recovery, recover_point
from netsim.simulate.setup.arrays.planned import Planned
from netsim.simulate.setup.weights import curved, differs
from netsim.text.errors import SimulationError

Array = np.ndarray


def consistent_plan(
    planned: Planned, trial: Trial, time_events: Array, t: float, switching: bool
) -> tuple[Consistent, Any]:
    """Consistent points for recovered samples, projections, time events, state events, explicit methods; factors taken
    at t; and what keeps them alive."""
    machine, structure, options, method = planned.machine, planned.structure, planned.options, planned.method
    jumps = options.jumping or switching or len(time_events) > 0 or len(machine.problem.buffer.length) > 0
    # values of a curved network may jump anywhere (netsim.simulate.failed_steps)
    recovered = options.recovers and (curved(machine) or differs(machine, structure, options.formula))
    wanted = recovered or (not options.formula and (method.needs_rates or structure.index > 1 or jumps))
    if not wanted:
        return compiled_plan(None), None
    sizes = None if options.formula else _sizes(machine, structure, trial)
    recovery = plan_recovery(machine, structure, trial.g, sizes=sizes, following=method.explicit)
    try:
        recover_point(recovery, trial.g, trial.start, t)
    except SimulationError:
        trial.counters[ASTRAY] += 1
        return compiled_plan(None), None
    return compiled_plan(recovery), recovery


def _sizes(machine: Machine, structure: Structure, trial: Trial) -> Array:
    """How large velocities and values are: their nominal sizes, but for values of the kinds that differentiated
    quantities are made of the sizes that the run knows.

    Others have no business with differentiated quantities, and may be nothing but rounding yet (a force that is zero by
    symmetry)."""
    nk, n, s = machine.system.layout.nk, machine.system.n, structure.signature
    of_differentiated = s.kept & (s.equation >= n) & (s.variable >= nk) & (s.variable < n) & (s.order == 0)
    kind, nominal, known = trial.kind[nk:], trial.nominal[nk:], trial.scale[nk:] / trial.tolerances[RTOL]
    wanted = np.isin(kind, kind[s.variable[of_differentiated]]) & (known > 1e3 * NOTHING * nominal)
    return np.where(wanted, known, nominal)


def closing_plan(planned: Planned, trial: Trial, t: float) -> tuple[Consistent, Any]:
    """How an explicit method closes positions at the end of a step; factors taken at the point t; and what keeps that
    alive."""
    machine, structure = planned.machine, planned.structure
    if not planned.method.explicit or structure.index < 3:
        return compiled_plan(None), None
    recovery = plan_recovery(machine, structure, trial.g, closing=True, sizes=_sizes(machine, structure, trial))
    recover_point(recovery, trial.g, trial.start, t)
    return compiled_plan(recovery), recovery
