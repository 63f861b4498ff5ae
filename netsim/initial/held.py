"""What the static solution of a start holds: written starts and states with a default, each in the place of one charge
that would rest.

A held quantity frees the rate of a charge behind it: a capacitor whose voltage is written may be charged by a current
from the first instant on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.machine import Machine
from netsim.equations.starts import StartRow, charge_kernel, kernel_row
from netsim.equations.system import System
from netsim.initial.stages import Inconsistent, Stages, solve_stage
from netsim.library.component import is_kinematic
from netsim.network.network import GROUND
from netsim.structure.levels import Offsets, Signature
from netsim.text.errors import InputError, Problem, SimulationError

Array = np.ndarray


def held_rows(
    machine: Machine, found: Signature, static: Offsets, starts: list[StartRow]
) -> tuple[list[StartRow], list[int]]:
    """Rows of the static problem and the charges whose rates they free; signal states are held at zero unless
    written."""
    system = machine.system
    free_at = {
        int(v): batch for batch in system.batches for k in range(batch.n_charges) for v in system.n + batch.charges(k)
    }
    taken: dict[int, StartRow] = {}
    for row in starts:
        if np.any(row.variables < system.layout.nk) or stage_of(row, static) < 0:
            continue  # a position or what follows from positions: held by its own stage
        seen: set[int] = set()
        if not _take(row, taken, lambda each: _charges_behind(found, each, system), seen):
            raise _without_state(row, [taken[c] for c in seen])
    for charge, batch in free_at.items():
        if charge not in taken and not _has_static_default(batch):
            position = (charge - system.n - batch.first.charge) % batch.n
            if set(batch.instances[position].nodes) == {GROUND}:
                continue  # a body on the ground: its charges are constant
            default = _default_row(machine, charge)
            if default is not None and stage_of(default, static) == 0:
                taken[charge] = default
    return list(taken.values()), list(taken)


def _take(row: StartRow, taken: dict[int, StartRow], behind: Callable[[StartRow], list[int]], seen: set[int]) -> bool:
    """Give the row a charge of its own, others moving to others of theirs where that makes room (an augmenting path;
    `seen`: charges on it)."""
    for charge in behind(row):
        if charge not in seen:
            seen.add(charge)
            if charge not in taken or _take(taken[charge], taken, behind, seen):
                taken[charge] = row
                return True
    return False


def let_go(stages: Stages, g: Array, held: list[StartRow], freed: list[int]) -> None:
    """Add charges that cannot rest under the written starts (an inductor across which a voltage is written) to those
    that are held and freed.

    What is written beats what begins by default: such a charge begins as with `from = rest`."""
    machine, s = stages.machine, stages.signature
    for _ in range(machine.system.layout.nq if any(row.word == "start" for row in held) else 0):
        try:
            solve_stage(stages, g.copy(), 0, held, freed)
            return
        except Inconsistent as wrong:
            rates = s.kept & (s.level == 1) & (s.variable >= machine.system.n) & np.isin(s.equation, wrong.equations)
            charge = next((int(c) for c in np.unique(s.variable[rates]) if c not in freed), None)
        except SimulationError:
            return
        found = None if charge is None else _default_row(machine, charge)
        if charge is None or found is None:
            return
        held.append(found)
        freed.append(charge)


def _default_row(machine: Machine, charge: int) -> StartRow | None:
    """The row that holds a charge where it begins by default; None where the elements of several calls share it."""
    system = machine.system
    for batch in system.batches:
        if (
            batch.instances
            and batch.n_charges
            and 0 <= charge - system.n - batch.first.charge < batch.n_charges * batch.n
        ):
            k, position = divmod(charge - system.n - batch.first.charge, batch.n)
            return kernel_row(
                system,
                batch,
                position,
                charge_kernel(batch.form, k),
                batch.labels[position],
                "default",
                _begins_at(machine, charge),
                None,
            )
    return None


def _begins_at(machine: Machine, charge: int) -> float:
    """Where the state behind a charge begins unless it is written: at zero, or in the equilibrium the machine was
    given."""
    layout = machine.system.layout
    return float(machine.g[layout.charge(np.array([charge - layout.n]), 0)[0]])


def _charges_behind(found: Signature, row: StartRow, system: System) -> list[int]:
    """Charges of the row's own instance first, then any whose definition reads the row's unknowns, those first that
    read little else: what flows into a capacitor that joins a node to the ground reaches no other node."""
    own = (
        [int(system.n + row.batch.charges(k)[row.position]) for k in range(row.batch.n_charges)]
        if row.batch is not None
        else []
    )
    reads = found.kept & (found.equation >= system.n) & np.isin(found.variable, row.variables)
    flows = found.variable[found.kept & (found.level == 1) & (found.equation >= 0) & (found.equation < system.n)]
    others = np.intersect1d(found.equation[reads], flows)
    read = np.bincount(found.equation[found.kept & (found.variable < system.n)], minlength=found.size + 1)
    return [*own, *map(int, others[np.argsort(read[others], kind="stable")])]


def _has_static_default(batch: Batch) -> bool:
    """Circuits, heat and fluids rest in their static solution; blocks of signals begin at zero."""
    if batch.shapes:
        return True
    component = batch.instances[0].component
    domains = [component.domain(t) for t in component.terminals]
    return any(d.name != "signal" and not is_kinematic(d) for d in domains)


def stage_of(row: StartRow, o: Offsets) -> int:
    """The stage in which a start is met: that of the highest level it speaks of."""
    return int(np.max(row.levels - o.d[row.variables]))


def _without_state(row: StartRow, others: list[StartRow]) -> InputError:
    """E402: a start of no independent state; `others` are the starts of the same differentiated quantities."""
    if others:
        also = tuple((other.span, "the other start") for other in others[:1] if other.span)
        message = f"'{row.path}' and '{others[0].path}' are starts of the same state"
        hint = "remove one of them: the network determines its value from the other"
        return InputError(Problem("E402", message, row.span, also=also, hint=hint))
    hint = "only a state can have a `start`; write `guess` to tell Newton's method where to begin"
    return InputError(Problem("E402", f"'{row.path}' is not an independent state", row.span, hint=hint))
