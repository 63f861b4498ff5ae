"""What is fixed in the static solution of a start: written starts and states with a default, each in the place of one
differentiated quantity that would rest.

A fixed quantity frees the rate of a differentiated quantity behind it: a capacitor whose voltage is written may be
charged by a current from the first instant on.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.machine import Machine
from netsim.equations.numbering import across_scalars
from netsim.equations.starts.rows import StartRow, differentiated_kernel
from netsim.equations.starts.written import dependencies, kernel_row
from netsim.equations.system import System
from netsim.initial.consistent.newton import Inconsistent, solve_stage
from netsim.initial.stages import Stages
from netsim.library.component import is_kinematic
from netsim.structure.orders import Offsets, Signature, StructurallySingular, offsets
from netsim.text.errors import InputError, Problem, SimulationError

Array = np.ndarray
MET = 1e-9
"""A written start that misses what the others give it by no more than this part of it repeats them."""


def fixed_rows(
    machine: Machine, found: Signature, static: Offsets, starts: list[StartRow]
) -> tuple[list[StartRow], list[int]]:
    """Rows of the static problem and the differentiated quantities whose rates they free; signal states are held at
    zero unless written."""
    system = machine.system
    at_zero = {
        int(v): batch
        for batch in system.batches
        if batch.n_differentiated and not _has_static_default(batch)
        for k in range(batch.n_differentiated)
        for v in system.n + batch.differentiated(k)
    }
    taken, readers = dict[int, StartRow](), Readers(found, system.n)
    for row in starts:
        if np.any(row.variables < system.layout.nk) or stage_of(row, static) < 0:
            continue  # a position or what follows from positions: fixed by its own stage
        seen: set[int] = set()
        if not _take(row, taken, lambda each: _differentiated_behind(readers, each, system), seen):
            raise _without_state(row, [taken[c] for c in seen])
    for quantity, batch in at_zero.items():
        if quantity not in taken:
            k, position = divmod(quantity - system.n - batch.first.differentiated, batch.n)
            if not dependencies(system, batch, position, differentiated_kernel(batch.form, k)):
                continue  # a body on the ground, a sensor there: its differentiated quantities are constant
            default = _default_row(machine, quantity)
            if default is not None and stage_of(default, static) == 0:
                taken[quantity] = default
    return list(taken.values()), list(taken)


def _take(row: StartRow, taken: dict[int, StartRow], behind: Callable[[StartRow], list[int]], seen: set[int]) -> bool:
    """Give the row a differentiated quantity of its own, others moving to others of theirs where that makes room (an
    augmenting path; `seen`: differentiated quantities on it)."""
    for quantity in behind(row):
        if quantity not in seen:
            seen.add(quantity)
            if quantity not in taken or _take(taken[quantity], taken, behind, seen):
                taken[quantity] = row
                return True
    return False


def held_offsets(found: Signature, static: Offsets, chosen: Array, rows: list[StartRow], freed: list[int]) -> Offsets:
    """The static offsets where these rows hold and the rates they free are unknown: an equation in which such a rate
    stands (of a controller's integral) says nothing about the motion it reads, and is not differentiated. Where others
    would be more often instead (v = k*w between written voltages), the offsets stay.

    In the joined signature a freed quantity's variable is its rate, and its definition the row."""
    if not freed:
        return static
    quantities = np.array(freed)
    counted = found.kept & chosen
    rates = found.kept & (found.order == 1) & np.isin(found.variable, quantities) & ~np.isin(found.equation, quantities)
    orders = [found.order[counted], 0 * found.order[rates], *(row.orders for row in rows)]
    equations = [found.equation[counted], found.equation[rates], np.repeat(quantities, [len(r.orders) for r in rows])]
    variables = [found.variable[counted], found.variable[rates], *(row.variables for row in rows)]
    equation, variable, order = map(np.concatenate, (equations, variables, orders))
    try:
        solved = offsets(Signature(equation, variable, order, found.size, np.zeros(len(order), bool)), static.d)
    except StructurallySingular:
        return static
    c = np.where(static.match >= 0, solved.c, 0)
    return replace(static, c=c) if np.all(c <= static.c) else static


def free_rates(stages: Stages, g: Array, fixed: list[StartRow], freed: list[int]) -> Array | None:
    """The static solution from g under the written starts; None where it is still to be found.

    Before, differentiated quantities that cannot rest under the written starts (an inductor across which a voltage is
    written) are added to those that are fixed and freed, and written starts that follow from the others left out. What
    is written beats what begins by default: such a differentiated quantity begins as with `from = rest`."""
    machine, s, before = stages.machine, stages.signature, len(fixed)
    for _ in range(machine.system.layout.nq if any(row.word == "start" for row in fixed) else 0):
        try:
            point = g.copy()
            solve_stage(stages, point, 0, fixed, freed)
            return point
        except Inconsistent as wrong:
            rates = s.kept & (s.order == 1) & (s.variable >= machine.system.n) & np.isin(s.equation, wrong.equations)
            quantity = next((int(c) for c in np.unique(s.variable[rates]) if c not in freed), None)
        except SimulationError:
            break
        found = None if quantity is None else _default_row(machine, quantity)
        if quantity is None or found is None:
            break
        fixed.append(found)
        freed.append(quantity)
    _leave_out_implied(stages, g, fixed, freed, before)
    return None


def _leave_out_implied(stages: Stages, g: Array, fixed: list[StartRow], freed: list[int], count: int) -> None:
    """Leave out those of the first `count` rows that hold by themselves where the others do: the pressures of two
    volumes that nothing separates are one, and may be written twice."""
    rows, quantities = fixed[:count], freed[:count]
    kept, point = [i for i, row in enumerate(rows) if row.word != "start"], g
    for i in (i for i, row in enumerate(rows) if row.word == "start"):
        trial, more = g.copy(), [*kept, i]
        with suppress(SimulationError):
            solve_stage(stages, trial, 0, [rows[j] for j in more], [quantities[j] for j in more])
            kept, point = more, trial
    spare = [row for i, row in enumerate(rows) if i not in kept]
    if spare and all(abs(row.linearise(stages.machine, point)[0]) <= MET * abs(row.target) for row in spare):
        fixed[:], freed[:] = [rows[i] for i in kept], [quantities[i] for i in kept]


def _default_row(machine: Machine, quantity: int) -> StartRow | None:
    """The row that holds a differentiated quantity where it begins by default; None where the elements of several calls
    share it."""
    system = machine.system
    for batch in system.batches:
        if (
            batch.instances
            and batch.n_differentiated
            and 0 <= quantity - system.n - batch.first.differentiated < batch.n_differentiated * batch.n
        ):
            k, position = divmod(quantity - system.n - batch.first.differentiated, batch.n)
            return kernel_row(
                system,
                batch,
                position,
                differentiated_kernel(batch.form, k),
                batch.labels[position],
                "default",
                _begins_at(machine, quantity),
                None,
            )
    return None


def _begins_at(machine: Machine, quantity: int) -> float:
    """Where the state behind a differentiated quantity begins unless it is written: at zero, or in the equilibrium the
    machine was given."""
    layout = machine.system.layout
    return float(machine.g[layout.differentiated(np.array([quantity - layout.n]), 0)[0]])


@dataclass(frozen=True)
class Readers:
    """Which differentiated quantities whose rates flow read an unknown (of `n`)."""

    found: Signature
    n: int

    @cached_property
    def _of(self) -> tuple[Array, Array]:
        """The quantities, one unknown behind the other, and where those of each begin."""
        found, flows = self.found, np.zeros(self.found.size + 1, bool)
        flows[found.variable[found.kept & (found.order == 1) & (found.equation < self.n)]] = True
        reads = np.flatnonzero(found.kept & (found.equation >= self.n) & flows[found.equation])
        reads = reads[np.argsort(found.variable[reads], kind="stable")]
        return found.equation[reads], np.searchsorted(found.variable[reads], np.arange(found.size + 2))

    @cached_property
    def count(self) -> Array:
        """How many unknowns each reads, derivatives apart."""
        found = self.found
        return np.bincount(found.equation[found.kept & (found.variable < self.n)], minlength=found.size + 1)

    def of(self, variables: Array) -> Array:
        """Those that read some of these."""
        quantities, first = self._of
        return np.unique(np.concatenate([quantities[first[v] : first[v + 1]] for v in variables]))


def _differentiated_behind(readers: Readers, row: StartRow, system: System) -> list[int]:
    """Differentiated quantities of the row's own instance first (before others of it those whose definitions read the
    row's unknowns), then any whose definition reads them, those first that read little else: what flows into a
    capacitor that joins a node to the ground reaches no other node. Where there is none, they lie behind what elements
    say of the row's unknowns: a gate's charge behind the gate's resistance."""
    own = (
        [int(system.n + row.batch.differentiated(k)[row.position]) for k in range(row.batch.n_differentiated)]
        if row.batch is not None
        else []
    )
    reached = row.variables
    others = readers.of(reached)
    while not own and not len(others):
        further = _tied(readers.found, reached, system)
        if len(further) <= len(np.unique(reached)):
            break
        reached, others = further, readers.of(further)
    own.sort(key=lambda quantity: quantity not in others)
    return [*own, *map(int, others[np.argsort(readers.count[others], kind="stable")])]


def _tied(found: Signature, variables: Array, system: System) -> Array:
    """These unknowns, and what equations of elements join with them; balances of nodes join everything."""
    nodes = [
        np.arange(at, at + len(across_scalars(node.domain)))
        for node, at in system.numbering.with_unknowns(system.network)
    ]
    own = found.kept & (found.order == 0) & (found.equation < system.n)
    own &= ~np.isin(found.equation, np.concatenate(nodes)) & (found.variable < system.n)
    equations = found.equation[own & np.isin(found.variable, variables)]
    return np.union1d(variables, found.variable[own & np.isin(found.equation, equations)])


def _has_static_default(batch: Batch) -> bool:
    """Circuits, heat and fluids rest in their static solution; blocks of signals begin at zero."""
    if batch.shapes:
        return True
    component = batch.instances[0].component
    domains = [component.domain(t) for t in component.terminals]
    return any(d.name != "signal" and not is_kinematic(d) for d in domains)


def stage_of(row: StartRow, o: Offsets) -> int:
    """The stage in which a start is met: that of the highest order it speaks of."""
    return int(np.max(row.orders - o.d[row.variables]))


def _without_state(row: StartRow, others: list[StartRow]) -> InputError:
    """E402: a start of no independent state; `others` are the starts of the same differentiated quantities."""
    if others:
        also = tuple((other.span, "the other start") for other in others[:1] if other.span)
        message = f"'{row.path}' and '{others[0].path}' are starts of the same state"
        hint = "remove one of them: the network determines its value from the other"
        return InputError(Problem("E402", message, row.span, also=also, hint=hint))
    hint = "only a state can have a `start`; write `guess` to tell Newton's method where to begin"
    return InputError(Problem("E402", f"'{row.path}' is not an independent state", row.span, hint=hint))
