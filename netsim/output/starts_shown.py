"""The start of every state: `netsim check --start` prints written value, default, computed value, and the reason of a
change."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.forms.form import Form
from netsim.equations.forms.symbols import CONSTANT
from netsim.equations.kernels.symbolic import ca
from netsim.equations.machine import Machine
from netsim.equations.numbering import across_scalars
from netsim.equations.starts.rows import RotationDeviation, StartRow
from netsim.equations.starts.written import reading_row, start_rows
from netsim.initial.charts import turn_between
from netsim.library.component import is_kinematic
from netsim.results.over_frequency.curves import reading
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.text.columns import columns
from netsim.text.errors import InputError
from netsim.text.expressions.sizes import flatten

if TYPE_CHECKING:
    from netsim.api import Model

Array = np.ndarray
MOVED = 1e-9


class State(NamedTuple):
    """One scalar state: values in SI `unit`, `written` and `default` None where there is none."""

    name: str
    unit: str
    written: float | None
    default: float | None
    computed: float

    @property
    def changed(self) -> bool:
        """Whether the computed value differs from the written one, or from the default where none is written."""
        wanted = self.default if self.written is None else self.written
        return wanted is not None and abs(self.computed - wanted) > MOVED * max(1.0, abs(wanted))


def table(model: "Model") -> str:
    """The states of the first run as an aligned table."""
    rows: list[tuple[str, ...]] = [("state", "written", "default", "computed", "")]
    for state in states(model):
        shown = ["" if x is None else reading(x, state.unit) for x in (state.written, state.default, state.computed)]
        rows.append((state.name, *shown, "changed by constraints" if state.changed else ""))
    return "\n".join(columns(rows, most=2000)) + "\n"


def states(model: "Model") -> list[State]:
    """Positions and velocities of nodes, differentiated quantities, other written starts (joint coordinates, voltages
    of nodes).

    Raises the errors of the start of the first run."""
    start = next((getattr(option, "start", "") for option in model.run_options()), "")
    machine, _, g, _ = start_of_run(model.machine, model.structure, start)
    written = [row for row in start_rows(machine.system, machine.values) if row.word == "start"]
    of_slots = {
        (int(row.variables[0]), int(row.orders[0])): row
        for row in written
        if row.placed >= 0 and not isinstance(row.source, RotationDeviation)
    }
    of_elements = {row.path: row for row in written if row.placed < 0}
    found = [
        *_nodes(machine, g, of_slots, written),
        *_differentiated(machine, g, of_elements, 0.0 if start == "rest" else None),
    ]
    shown = {state.name for state in found}
    return found + [
        _written(machine, row, g)
        for row in written
        if row.path not in shown and not isinstance(row.source, RotationDeviation)
    ]


def _written(machine: Machine, row: StartRow, g: Array) -> State:
    return State(row.path, row.unit, row.target, None, row.target + row.linearise(machine, g)[0])


def _nodes(
    machine: Machine, g: Array, written: dict[tuple[int, int], StartRow], rows: list[StartRow]
) -> Iterator[State]:
    system, layout = machine.system, machine.system.layout
    for i, (node, first) in enumerate(zip(system.network.nodes, system.numbering.first)):
        if not is_kinematic(node.domain):
            continue
        frame = int(system.numbering.frame[i])
        for order, quantities in ((0, node.domain.integral), (1, node.domain.across)):
            names = [q.name for q in quantities for _ in range(len(across_scalars(node.domain)))]
            for c, (across, suffix) in enumerate(across_scalars(node.domain)):
                if order == 0 and frame >= 0 and across.unit == "rad/s":
                    continue
                unknown = int(first) + c
                slot = int(layout.unknown(np.array([unknown]), order)[0])
                quantity = (
                    quantities[list(node.domain.across).index(across)]
                    if len(quantities) == len(node.domain.across)
                    else None
                )
                name = f"{node.name}.{quantity.name if quantity else names[0]}{suffix}"
                row = written.get((unknown, order))
                default = float(machine.g[slot])
                yield State(
                    name,
                    (quantity.unit if quantity else "") or "",
                    row.target if row else None,
                    default,
                    float(g[slot]),
                )
            if order == 0 and frame >= 0:
                yield _turn(machine, node.name, frame, g, rows)


def _turn(machine: Machine, name: str, frame: int, g: Array, rows: list[StartRow]) -> State:
    """A rotation by the angle by which it is turned from where it is drawn."""
    first = machine.system.layout.charts + 9 * frame
    drawn, now = (point[first : first + 9].reshape(3, 3) for point in (machine.g, g))
    wanted = next(
        (row.source.wanted for row in rows if isinstance(row.source, RotationDeviation) and row.source.frame == frame),
        None,
    )
    return State(
        f"{name}.R (turned by)",
        "rad",
        None if wanted is None else turn_between(wanted, drawn),
        0.0,
        turn_between(now, drawn),
    )


def _differentiated(machine: Machine, g: Array, written: dict[str, StartRow], default: float | None) -> Iterator[State]:
    """What stands under der(), as what it is a function of: a capacitor's voltage, an inductor's current, a gate's
    three voltages."""
    for batch in machine.system.batches:
        found = [name for k in range(batch.n_differentiated if batch.instances else 0) for name in behind(batch, k)]
        for quantity in () if found and _kinematic(batch) else dict.fromkeys(found):
            for position, label in enumerate(batch.labels):
                try:
                    row = reading_row(machine.system, batch, position, quantity, 0, f"{label}.{quantity}", 0.0)
                except InputError:  # both ends at ground
                    continue
                start = written.get(row.path)
                value = row.linearise(machine, g)[0]
                yield State(row.path, row.unit, start.target if start else None, _default(batch, default), value)


def behind(batch: Batch, k: int) -> list[str]:
    """The scalar reading of a form that differentiated quantity k is a function of; else the voltages and own unknowns
    that it depends on."""
    form = batch.form
    wanted = _symbols(form, form.differentiated[k])
    scalars = {
        n: flatten(typed.value)[0]
        for n, typed in form.readings.items()
        if "." not in n and len(flatten(typed.value)) == 1
    }
    whole = [
        n
        for n, value in scalars.items()
        if wanted and _symbols(form, value) == wanted and _function_of(form, form.differentiated[k], value)
    ]
    if whole or not wanted:
        return whole[:1]
    definition = batch.instances[0].component.definition
    own = {branch.names[0] for branch in definition.branches} | {v.name for v in definition.variables}
    return [n for n, value in scalars.items() if n in own and _symbols(form, value) and _symbols(form, value) <= wanted]


def _function_of(form: Form, quantity: Any, reading: Any) -> bool:
    """Whether a differentiated quantity changes where a reading does and only there: their gradients are parallel
    wherever one looks."""
    both = ca.vertcat(ca.SX(quantity), ca.SX(reading))
    moving = [symbol for key, symbol in form.symbols.gathered.items() if key[0][0] not in CONSTANT]
    every = ca.symvar(both)
    gradients = ca.Function("gradients", every, [ca.jacobian(both, ca.vertcat(*moving))])
    rng, seen = np.random.default_rng(3), False
    for _ in range(3):
        a, b = np.array(gradients(*rng.uniform(0.3, 0.9, len(every))))
        lengths = np.linalg.norm(a) * np.linalg.norm(b)
        if not abs(a @ b) >= (1 - 1e-9) * lengths or (lengths == 0.0 and a.any()):
            return False
        seen = seen or bool(lengths > 0.0)
    return seen


def _symbols(form: Form, expression: Any) -> set[object]:
    own = {s.__hash__() for s in ca.symvar(ca.SX(expression))}
    return {
        key for key, symbol in form.symbols.gathered.items() if key[0][0] not in CONSTANT and symbol.__hash__() in own
    }


def _kinematic(batch: Batch) -> bool:
    component = batch.instances[0].component
    return all(is_kinematic(component.domain(t)) for t in component.terminals)


def _default(batch: Batch, default: float | None) -> float | None:
    """Zero for states of signals; None (the static solution) elsewhere unless the run starts from rest."""
    component = batch.instances[0].component
    return 0.0 if all(component.is_signal(t) for t in component.terminals) else default
