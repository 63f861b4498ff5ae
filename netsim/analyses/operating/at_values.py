"""Operating points at given values of an input or a parameter, each found from the one before: what a slow sweep shows.

Where the branch ends at a fold the next point lies on another one, as a Schmitt trigger switches; discrete variables
(a switch with hysteresis) keep their values until the point says otherwise.
"""

from collections.abc import Iterator

import numpy as np

from netsim.analyses.operating.curve import Curve
from netsim.equations.machine import Machine
from netsim.initial.assembly import sizes_of_machine
from netsim.initial.charts import recharted
from netsim.initial.initial import Structure
from netsim.initial.static.equilibrium import equilibrium
from netsim.initial.static.homotopy import newton, search_of
from netsim.simulate.events.events import ROUNDS, starts_otherwise
from netsim.simulate.events.iteration import event_iteration, has_events
from netsim.text.errors import Problem, SimulationError

Array = np.ndarray


def at_values(curve: Curve, structure: Structure, values: Array) -> Iterator[float]:
    """The values in their order; the curve then stands at the operating point of each.

    Raises `SimulationError`: E441 where there is none, E509 where conditions switch each other back and forth."""
    for value in values.tolist():
        curve.set(value)
        _settle(curve)
        machine = curve.rest.machine
        events = event_iteration(machine, structure) if has_events(machine) else None
        for _ in range(ROUNDS):
            if events is None or not starts_otherwise(events, curve.g):
                break
            _settle(curve)
        else:
            message = f"at {value:.6g} conditions switch each other back and forth"
            raise SimulationError(Problem("E509", message, hint="separate the thresholds (hysteresis)"))
        yield value


def _settle(curve: Curve) -> None:
    """The operating point from where the curve stands: by Newton's method, else by homotopy."""
    machine: Machine = curve.rest.machine
    start, search = curve.g.copy(), search_of(curve.rest, curve.g)
    with np.errstate(all="ignore"):
        found = newton(search)
    curve.g[:] = search.g if found else equilibrium(machine, start, sizes_of_machine(machine)).g
    recharted(machine.system, curve.g, all_of_them=True)
