"""States that start far from any operating point because of written starts of others (N402); they are not changed.

A coil before a capacitor with a written voltage starts with the current at which its own voltage is zero, which may be
millions of amperes. It is compared with the static solution without written starts. Both are defaults.
"""

from collections.abc import Callable, Sequence

import numpy as np

from netsim.equations.starts.rows import StartRow
from netsim.equations.system import System
from netsim.initial.diagnosis.changes import Change
from netsim.initial.stages import Stages, slots
from netsim.structure.orders import Signature
from netsim.text.errors import InputError, SimulationError

Array = np.ndarray
LARGE, RATIO = 1e6, 100.0
"""What is looked at: quantities of so many times their nominal value (1 kA of a coil), so many times what they are with
nothing fixed."""


def far_from_rest(
    stages: Stages,
    g: Array,
    fixed: Sequence[StartRow],
    freed: Sequence[int],
    free: Callable[[list[StartRow], list[int]], Array],
) -> list[Change]:
    """A change for each quantity behind a differentiated quantity that rests at g and would rest elsewhere without the
    written starts.

    `free(rows, differentiated quantities)` is the static solution with these alone fixed."""
    system, found = stages.machine.system, stages.signature
    written = [row for row in fixed if row.word == "start"]
    variables = behind(system, found, freed) if written else np.zeros(0, np.int64)
    values = g[slots(stages.machine, variables, np.zeros(len(variables), np.int64))]
    variables = variables[np.abs(values) > LARGE * system.nominals[variables]]
    if not len(variables):
        return []
    kept = [(row, quantity) for row, quantity in zip(fixed, freed) if row.word != "start"]
    try:
        other = free([row for row, _ in kept], [quantity for _, quantity in kept])
    except (SimulationError, InputError):
        return []
    places = slots(stages.machine, variables, np.zeros(len(variables), np.int64))
    holding = ", ".join(row.path for row in written[:3]) + (", ..." if len(written) > 3 else "")
    return [
        Change(
            f"{system.names[v]} starts at {g[p]:.4g} because of the written start of {holding} (otherwise at "
            f"{other[p]:.4g}): "
            f"write a start for {system.names[v]}",
            abs(g[p]),
            "far",
        )
        for v, p in zip(variables, places)
        if abs(g[p]) > RATIO * abs(other[p])
    ]


def behind(system: System, found: Signature, freed: Sequence[int]) -> Array:
    """Unknowns of elements themselves that differentiated quantities which are not freed are defined by."""
    resting = (
        found.kept
        & (found.equation >= system.n)
        & (found.variable < system.n)
        & ~np.isin(found.equation, np.array(freed, np.int64))
    )
    own = np.unique(
        np.concatenate(
            [
                np.zeros(0, np.int64),
                *(u for batch in system.batches for key, u in batch.unknowns.items() if key[0] == "own"),
            ]
        )
    )
    return np.intersect1d(found.variable[resting], own)
