"""Written starts and guesses as rows of the initial problem: value(z) = start, linearised by order."""

from dataclasses import replace
from typing import Any

import numpy as np

from netsim.equations.batches import Batch, form_of
from netsim.equations.forms.form import Form
from netsim.equations.forms.symbols import Key
from netsim.equations.kernels.kernel import Kernel
from netsim.equations.machine import Machine
from netsim.equations.numbering import across_scalars, suffixes
from netsim.equations.starts.rows import KernelScalar, RotationDeviation, Slot, StartRow, value_kernel
from netsim.equations.system import System
from netsim.library.component import dimension
from netsim.network.network import GROUND, Beginning, Frame
from netsim.network.signals import NodeSignal, find_signal, picked
from netsim.network.values import Values
from netsim.text.columns import counted
from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.expressions.sizes import flatten
from netsim.text.expressions.typed import quantity_of
from netsim.text.syntax import Expr, Name, Part
from netsim.text.units import format_dimension

Array = np.ndarray


def start_rows(system: System, values: Values) -> list[StartRow]:
    """Every written start and guess; raises `InputError` for targets that do not exist or cannot be started."""
    key = "starts", id(system)
    if key not in values.made:
        values.made[key] = system, *_start_rows(system, values)  # what has a number keeps it
    rows: Any = values.made[key][1:]
    return list(rows)


def _start_rows(system: System, values: Values) -> list[StartRow]:
    network = system.network
    nodes, numbers = network.node_numbers, network.instance_numbers
    found: list[StartRow] = []
    problems: list[Problem] = []
    for beginning in network.beginnings:
        try:
            found += _rows(system, values, beginning, nodes, numbers)
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return found


def written_sizes(machine: Machine) -> Array:
    """The sizes that `nominal` statements give positions, velocities and values (2 nk + ny), 0 for the rest.

    What a signal is computed from gets the signal's size over its share in it; the smallest counts. What follows from
    others in the coordinates of this machine (the frames of a tree) has no error test of its own. Raises `InputError`
    for signals that do not exist, that depend on rates alone, and for values that are no sizes."""
    system, network, nk = machine.system, machine.system.network, machine.system.layout.nk
    nodes, numbers = network.node_numbers, network.instance_numbers
    sizes = np.full(nk + system.n, np.inf)
    problems: list[Problem] = []
    for said in network.nominals:
        try:
            for row in _rows(system, machine.values, said, nodes, numbers):
                if not row.target > 0.0:
                    raise InputError(
                        Problem(
                            "E234", f"the nominal size of '{said.path}' is {row.target:g}, but must be > 0", said.span
                        )
                    )
                coefficients = np.abs(row.linearise(machine, machine.g)[1])
                tested = (row.variables < system.n) & (row.orders <= np.where(row.variables < nk, 1, 0))
                if not tested.any():
                    hint = (
                        "name a quantity of a node or an unknown of an element (`netsim show --stage system` lists "
                        "them)"
                    )
                    message = f"'{said.path}' depends on rates only, which the error test does not contain"
                    raise InputError(Problem("E402", message, said.span, hint=hint))
                for u, order, share in zip(row.variables[tested], row.orders[tested], coefficients[tested]):
                    if u >= 0 and share > 0.0:
                        at = u + nk if order == 1 or u >= nk else u
                        sizes[at] = min(sizes[at], row.target / share)
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return np.where(np.isfinite(sizes), sizes, 0.0)


def relative_rows(system: System, g: Array, written: list[StartRow]) -> list[StartRow]:
    """Positions and velocities of nodes whose domain is `relative`, and coordinates of elements' own (`lagrange(y,
    ry)`) with their rates, held where g has them; none of those that written starts speak of."""
    layout, spoken = (
        system.layout,
        {(int(v), int(order)) for row in written for v, order in zip(row.variables, row.orders)},
    )
    found: list[StartRow] = []
    for number, node in enumerate(system.network.nodes):
        if not node.domain.is_relative:
            continue
        first, path = int(system.numbering.first[number]), node.name
        for u in range(first, first + len(across_scalars(node.domain))):
            for order in (order for order in (0, 1) if (u, order) not in spoken):
                slot = int(layout.unknown(np.array([u]), order)[0])
                found.append(
                    StartRow(
                        path, "default", float(g[slot]), None, np.array([u]), np.array([order]), Slot(slot), "", number
                    )
                )
    for batch in system.batches:
        for own, k in ((own, k) for own in batch.form.relative for k in range(batch.n)):
            u = int(batch.unknowns["own", own][k])
            if (u, 0) not in spoken:
                slot, path = int(layout.unknown(np.array([u]), 0)[0]), f"{batch.labels[k]}.{batch.form.own[own]}"
                found.append(StartRow(path, "default", float(g[slot]), None, np.array([u]), np.array([0]), Slot(slot)))
    return found


def _rows(system: System, values: Values, beginning: Beginning, nodes: Any, numbers: Any) -> list[StartRow]:
    name = Name(tuple(Part(text) for text in beginning.path.split(".")), span=beginning.span)
    signal = find_signal(name, Frame(""), system.network, nodes, numbers, form_of)
    if signal is None:
        raise InputError(
            Problem(
                "E401",
                f"nothing is called '{beginning.path}'",
                beginning.span,
                hint=nearest(beginning.path, [*nodes, *numbers]),
            )
        )
    scope = values.scope(beginning.frame)
    if isinstance(signal, NodeSignal):
        if signal.turns and signal.order == 0:
            return _turn_rows(system, signal, beginning, scope)
        chosen = picked(signal, signal.sizes)
        targets = _targets(beginning.value, scope, signal.dimension, len(chosen), beginning)
        unknowns = [int(system.numbering.first[signal.node] + signal.components[c]) for c in chosen]
        unit = getattr(signal.domain, signal.role)[signal.position].unit or ""
        return [
            StartRow(
                path, beginning.word, target, beginning.span, np.array([u]), np.array([signal.order]),
                Slot(int(system.layout.unknown(np.array([u]), signal.order)[0])), unit, signal.node,
            )
            for u, target, path in zip(unknowns, targets, _paths(beginning.path,
            signal.sizes if len(chosen) > 1 else ()))
        ]  # fmt: skip
    batch, position = system.home[system.network.instances[signal.instance].name]
    if _is_discrete(batch.form, signal.reading):
        return []
    asked = batch.form.readable[signal.reading]
    chosen = picked(signal, asked.sizes)
    targets = _targets(beginning.value, scope, asked.dimension or dimension(None), len(chosen), beginning)
    paths = _paths(beginning.path, (len(chosen),) if len(chosen) > 1 else ())
    return [
        reading_row(system, batch, position, signal.reading, i, path, target, beginning.word, beginning.span)
        for i, target, path in zip(chosen, targets, paths)
    ]


def _is_discrete(form: Form, reading: str) -> bool:
    return any(name == reading or name.startswith(f"{reading}[") for name in form.events.names)


def with_written_discretes(machine: Machine) -> Machine:
    """The machine whose discretes begin with what is written for them; raises `InputError` for values that do not
    fit."""
    system, network, g = machine.system, machine.system.network, machine.g.copy()
    nodes, numbers = network.node_numbers, network.instance_numbers
    for beginning in network.beginnings:
        signal = find_signal(
            Name(tuple(Part(t) for t in beginning.path.split(".")), span=beginning.span),
            Frame(""),
            network,
            nodes,
            numbers,
            form_of,
        )
        if signal is None or isinstance(signal, NodeSignal):
            continue
        instance = network.instances[signal.instance]
        batch, position = system.home[instance.name]
        if _is_discrete(batch.form, signal.reading):
            numbers_of = [
                i
                for i, name in enumerate(batch.form.events.names)
                if name == signal.reading or name.startswith(f"{signal.reading}[")
            ]
            values = _targets(
                beginning.value,
                machine.values.scope(beginning.frame),
                batch.form.readable[signal.reading].dimension or dimension(None),
                len(numbers_of),
                beginning,
            )
            for i, value in zip(numbers_of, values):
                at = batch.discretes(i)[position]
                g[system.layout.discretes + at] = g[system.layout.befores + at] = value
    return replace(machine, g=g)


def reading_row(
    system: System,
    batch: Batch,
    position: int,
    name: str,
    index: int,
    path: str,
    target: float,
    word: str = "start",
    span: Span | None = None,
) -> StartRow:
    """A row for a scalar of a reading of an element."""
    unit = _declared(batch, name) or format_dimension(batch.form.readable[name].dimension or dimension(None))
    return kernel_row(system, batch, position, value_kernel(batch.form, name, index), path, word, target, span, unit)


def _declared(batch: Batch, reading: str) -> str:
    """The unit an element's text gives a quantity: it knows angles from numbers."""
    definition = batch.instances[0].component.definition
    units = {q.name: q.unit for q in definition.variables} | {q.name: q.unit or "" for q in definition.outputs}
    return units.get(reading, "")


def _paths(path: str, sizes: tuple[int, ...]) -> list[str]:
    return [path + suffix for suffix in suffixes(sizes)]


def _turn_rows(system: System, signal: NodeSignal, beginning: Beginning, scope: Any) -> list[StartRow]:
    """Three rows for a rotation written as a matrix."""
    matrix = np.array(_targets(beginning.value, scope, signal.dimension, 9, beginning)).reshape(3, 3)
    if np.max(np.abs(matrix @ matrix.T - np.eye(3))) > 1e-6 or np.linalg.det(matrix) < 0:
        hint = "its columns are the axes of the body: orthogonal, of length 1, right-handed"
        message = f"the matrix given for '{beginning.path}' is not a rotation"
        raise InputError(Problem("E413", message, beginning.span, hint=hint))
    frame = int(system.numbering.frame[signal.node])
    u, _, v = np.linalg.svd(matrix)
    unknowns = int(system.numbering.rotations[frame]) + np.arange(3)
    return [
        StartRow(
            beginning.path,
            beginning.word,
            0.0,
            beginning.span,
            unknowns,
            np.zeros(3, np.int64),
            RotationDeviation(frame, u @ v, c),
            "",
            signal.node,
        )
        for c in range(3)
    ]


def dependencies(system: System, batch: Batch, position: int, kernel: Kernel) -> list[tuple[int, int, int]]:
    """(place among the kernel's derivatives, unknown, order) of all but the ground that its value depends on."""
    partials = [p for p in kernel.scatter if p[0] == "partial"]
    found = [(e, _variable(system, batch, key, position), order) for e, (_, key, order, *_) in enumerate(partials)]
    return [each for each in found if each[1] >= 0]


def kernel_row(
    system: System,
    batch: Batch,
    position: int,
    kernel: Kernel,
    path: str,
    word: str,
    target: float,
    span: Span | None,
    unit: str = "",
) -> StartRow:
    """A row whose value and derivatives come from a kernel of an instance's form."""
    entries = dependencies(system, batch, position, kernel)
    if not entries:
        raise InputError(Problem("E402", f"'{path}' depends on no state: it cannot have a `{word}`", span))
    live, variables, orders = zip(*entries)
    known = np.array(variables), np.array(orders), KernelScalar(kernel, batch, position, np.array(live))
    return StartRow(path, word, target, span, *known, unit, GROUND, batch, position)


def _variable(system: System, batch: Batch, key: Key, position: int) -> int:
    if key[0] == "differentiated":
        return int(system.n + batch.differentiated(key[1])[position])
    return int(batch.columns(key)[position])


def _targets(value: Expr, scope: Any, wanted: Any, size: int, beginning: Beginning) -> list[float]:
    scalars = [float(x) for x in flatten(quantity_of(value, scope, wanted).value)]
    if len(scalars) == size and np.isfinite(scalars).all():
        return scalars
    told = f"has {counted(size, 'component')}, not {len(scalars)}" if len(scalars) != size else "is not finite here"
    raise InputError(Problem("E204", f"'{beginning.path}' {told}", beginning.span))
