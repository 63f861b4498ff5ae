"""A system with values and machine code: everything the compiled loops need, as arrays.

`Machine` is cheap to make again with other parameter values: code is shared by type, index arrays by system.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from netsim.core import problem as slots
from netsim.core.compiled.call import ROW_LENGTH, table_row
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.problem import LEAST, Tables
from netsim.equations.batches import Batch
from netsim.equations.forms.symbols import UNIFORMS
from netsim.equations.history import history_of
from netsim.equations.kernels.addresses import addresses
from netsim.equations.kernels.kernel import Kernel, place_kernel, start_kernel
from netsim.equations.kernels.precomputation import ChangingParameters, with_constants
from netsim.equations.kernels.program import Program
from netsim.equations.kernels.reference import evaluate, run_reference
from netsim.equations.parameters import parameters_of
from netsim.equations.prescribed import Prescribed, prescribed_parameters, read_inputs
from netsim.equations.system import System
from netsim.library.component import WORLD, scalar_count
from netsim.network.network import GROUND
from netsim.network.of_time.pulses import wrong_pulses
from netsim.network.placement import two_places
from netsim.network.tables import Polynomials, hermite, interpolate, pack, read_column
from netsim.network.values import Values
from netsim.text.collecting import collection_paused
from netsim.text.errors import InputError, NetsimError, Problem
from netsim.text.expressions.sizes import flatten

Array = np.ndarray

NOTHING_YET = Polynomials(np.array([0.0, 1.0]), np.zeros((6, 1)), 1)
"""What a table over a run shows until that run is done: zero."""
AT_ONE_POINT = 1e-9
"""Two placements of a node agree within this part of the machine's extent."""


@dataclass(frozen=True)
class Call:
    """One kernel on one batch: what both targets need."""

    program: Program
    n: int
    gather: Array
    parameters: Array
    scatter: Array

    @cached_property
    def settled(self) -> tuple[Program, Array]:
        """The program without what depends on parameters alone, and its parameters with that behind them."""
        return with_constants(self.program, self.n, self.parameters)


@dataclass(frozen=True, eq=False)
class Machine:
    """The arrays of a run. `g` is the starting global vector (uniforms set); copy it per run. `element` is the tree of
    a machine in joint coordinates (netsim.multibody.jointspace), `parts` are unknowns to be eliminated first
    (netsim.core.linear.nesting)."""

    system: System
    values: Values
    problem: Tables
    g: Array
    calls: Mapping[str, list[Call]]
    parameters: Mapping[int, Array]
    alive: list[Any] = field(repr=False)
    earlier: Callable[[Any, str], Any] | None = None
    element: Any = None
    parts: tuple[Array, ...] = ()

    @cached_property
    def struct(self) -> Struct:
        """The problem behind one address."""
        return struct_of(self.problem)

    @cached_property
    def beside(self) -> dict[Hashable, tuple[list[Call], Array]]:
        """Calls beside the problem's own and their call tables, by what they compute (see `table_of`)."""
        return {}

    def table_of(self, what: Hashable, make: Callable[[], tuple[list[Call], Array]]) -> Array:
        """The call table of what is asked beside the problem, made once with the calls that it needs."""
        if what not in self.beside:
            self.beside[what] = make()
        return self.beside[what][1]


def call_table(calls: list[Call], uniforms: Array) -> Array:
    """The call table of `netsim.core.compiled.call` for these calls, which must live as long."""
    found = addresses((c.settled[0], c.n) for c in calls)
    rows = [table_row(at, c.n, c.gather, uniforms, c.settled[1], c.scatter) for at, c in zip(found, calls, strict=True)]
    return np.array(rows, dtype=np.int64).reshape(len(rows), ROW_LENGTH)


def run_calls(calls: list[Call], uniforms: Array, g: Array, out: Array) -> None:
    """The same calls by the NumPy target."""
    for c in calls:
        run_reference(c.program, c.n, c.gather, uniforms, c.parameters, c.scatter, g, out)


@collection_paused()
def build_machine(system: System, values: Values, earlier: Callable[[Any, str], Any] | None = None) -> Machine:
    """Evaluate all parameters, load tables, compile what a run needs. `earlier(call, wanted)` supplies tables over
    earlier runs.

    Raises `InputError` with every wrong value.
    """
    layout = system.layout
    problems: list[Problem] = []
    parameters: dict[int, Array] = {}
    elements: list[Batch | Prescribed] = [*system.batches, *system.prescribed_inputs]
    for item in elements:
        try:
            found = parameters_of(item, values) if isinstance(item, Batch) else prescribed_parameters(item, values)
            parameters[id(item)] = np.ascontiguousarray(found)
            if values.inputs and any(read_inputs(shape, values) for shape in item.shapes):
                parameters[id(item)] = parameters[id(item)].view(ChangingParameters)
        except InputError as error:
            problems.extend(error.problems)
    problems.extend(values.unknown_overrides())
    problems = problems or [*wrong_pulses([(e.shapes, getattr(e, "instances", ())) for e in elements], values)]
    if problems:
        raise InputError(problems)
    buffer = history_of(system, parameters, np.zeros(len(layout.uniforms)))
    calls = _calls(system, parameters)
    tables = _tables(system, earlier)
    packed = pack(tables)
    uniforms = layout.uniforms
    g = np.zeros(layout.size)
    g[layout.one] = 1.0
    g[layout.charts : layout.places] = np.tile(np.eye(3).ravel(), layout.nr)
    _place_nodes(system, parameters, g)
    _start_discretes(system, parameters, g)
    for name, (_, world_sizes, _) in WORLD.items():
        at = 1 + UNIFORMS.index(f"{name}[0]")
        g[at : at + scalar_count(world_sizes)] = flatten(values.world(name).value)
    table_calls = {name: call_table(c, uniforms) for name, c in calls.items()}
    problem = Tables(
        table_calls["residual"], table_calls["jacobian"], table_calls["arguments"], table_calls["prescribed_inputs"],
        table_calls["energy"], _sizes(system),
        system.pattern.indptr, system.pattern.indices, system.nominals,
        packed["first"], packed["breaks"], packed["coefficients"], packed["outside"], _table_arguments(system),
        system.numbering.rotations, _reach(system), buffer, LEAST * system.nominals,
    )  # fmt: skip
    return Machine(system, values, problem, g, calls, parameters, [uniforms, calls, parameters], earlier)


def _calls(system: System, parameters: Mapping[int, Array]) -> dict[str, list[Call]]:
    batches, prescribed = system.batches, system.prescribed_inputs
    return {
        "residual": [_batch_call(system, b, b.kernels.residual, parameters) for b in batches],
        "jacobian": [_batch_call(system, b, b.kernels.jacobian, parameters) for b in batches],
        "energy": [
            _energy_call(system, k, b, parameters) for k, b in enumerate(batches) if b.kernels.energy.program.n_outputs
        ],
        "arguments": [_prescribed_call(system, d, parameters) for d in prescribed if d.stage == 0],
        "prescribed_inputs": [_prescribed_call(system, d, parameters) for d in prescribed if d.stage == 1],
    }


def _sizes(system: System) -> Array:
    """Problem.sizes: how many unknowns there are of each kind, and where they begin in g and in what kernels return."""
    layout, sizes = system.layout, np.zeros(16, np.int64)
    sizes[[slots.NK, slots.NY, slots.NQ]] = layout.nk, layout.ny, layout.nq
    sizes[[slots.X, slots.V, slots.A, slots.Y, slots.HISTORY]] = layout.x, layout.v, layout.a, layout.y, layout.history
    sizes[[slots.PRESCRIBED, slots.N_PRESCRIBED]] = layout.prescribed_inputs, layout.nd
    sizes[[slots.TABLES, slots.N_TABLES]] = layout.tables, layout.nt
    sizes[[slots.ENTRIES, slots.NNZ]] = layout.entries, system.pattern.nnz
    sizes[[slots.DIFFERENTIATED, slots.CHARTS]] = layout.differentiated_results, layout.charts
    return sizes


def with_system(machine: Machine, system: System) -> Machine:
    """The machine of another system of the same unknowns, with the same values, history, and parts that are eliminated
    first."""
    return replace(
        with_history(build_machine(system, machine.values, machine.earlier), machine.problem.buffer),
        parts=machine.parts,
    )


def with_history(machine: Machine, buffer: Struct | None = None) -> Machine:
    """The machine with this history buffer, which others may share; without one, with an empty buffer of its own."""
    if buffer is None:
        if not len(machine.problem.buffer.length):
            return machine
        buffer = history_of(machine.system, machine.parameters, machine.g[machine.system.layout.uniforms])
    return replace(machine, problem=machine.problem._replace(buffer=buffer))


def with_sizes(machine: Machine) -> Machine:
    """The machine with sizes of unknowns that one run may change as it goes."""
    return replace(machine, problem=machine.problem._replace(least=machine.problem.least.copy()))


def _place_nodes(system: System, parameters: Mapping[int, Array], g: Array) -> None:
    """Reference positions, where mechanisms are drawn and where they start unless told otherwise.

    A node is a frame at one point, and a body's equations hold at its own: E238 where two elements disagree."""
    layout = system.layout
    placed: list[tuple[Batch, Array, Array]] = []
    for batch in system.batches:
        if batch.form.places:
            kernel = place_kernel(batch.form)
            values = evaluate(
                kernel.program, g[system.gather(batch, kernel)], g[layout.uniforms], parameters[id(batch)]
            )
            if not np.isfinite(values).all():
                lost = batch.instances[int(np.argmin(np.isfinite(values).all(axis=0)))]
                raise InputError(Problem("E234", f"the place that '{lost.name}' gives is not finite", lost.span))
            unknowns = np.array([batch.unknowns["node", t, c] for _, t, c in batch.form.places])
            placed.append((batch, unknowns, values))
    for standing in (False, True):
        for batch, unknowns, values in placed:
            here = (unknowns != GROUND) & (batch.form.standing[:, None] == standing)
            g[layout.place(unknowns)[here]] = values[here]
    spread = max((float(np.abs(values).max()) for _, _, values in placed), default=0.0)
    for batch, unknowns, values in placed:
        apart = (unknowns != GROUND) & (np.abs(g[layout.place(unknowns)] - values) > AT_ONE_POINT * spread)
        if (apart := apart & batch.form.standing[:, None]).any():
            i, j = np.argwhere(apart)[0]
            at = [(b, np.where(b.form.standing[:, None], nodes, GROUND) == unknowns[i, j]) for b, nodes, _ in placed]
            raise two_places(
                system.network, batch.instances[j], [b.instances[m] for b, yes in at for m in np.nonzero(yes)[1]]
            )
    g[layout.x : layout.v] = g[layout.places : layout.discretes]


def _start_discretes(system: System, parameters: Mapping[int, Array], g: Array) -> None:
    """What changes at events alone begins with what its text says."""
    for batch in system.batches:
        if batch.n_discretes:
            kernel = start_kernel(batch.form)
            values = evaluate(
                kernel.program, g[system.gather(batch, kernel)], g[system.layout.uniforms], parameters[id(batch)]
            )
            for i, row in enumerate(values):
                g[system.layout.discretes + batch.discretes(i)] = g[system.layout.befores + batch.discretes(i)] = row


def _batch_call(system: System, batch: Batch, kernel: Kernel, parameters: Mapping[int, Array]) -> Call:
    return custom_call(system, batch, kernel, parameters, system.scatter(batch, kernel))


def power_buffer(system: System) -> Array:
    """Room for powers and energies, a row for each account: supplied, dissipated, stored, kinetic; then stored and
    kinetic of each component type."""
    return np.zeros((system.accounts, 4 + 2 * len(system.batches)))


def _energy_call(system: System, number: int, batch: Batch, parameters: Mapping[int, Array]) -> Call:
    kernel = batch.kernels.energy
    places = {0: 0, 1: 1, 2: 4 + 2 * number, 3: 5 + 2 * number}
    own = np.array([places[place[1]] for place in kernel.scatter], np.int32)
    account = np.arange(batch.n, dtype=np.int32) % system.accounts
    return custom_call(system, batch, kernel, parameters, own[:, None] + account * power_buffer(system).shape[1])


def custom_call(system: System, batch: Batch, kernel: Kernel, parameters: Mapping[int, Array], scatter: Array) -> Call:
    """A call with its own places in its own out vector (readings, partial derivatives, time derivatives)."""
    return Call(
        kernel.program, batch.n, np.ascontiguousarray(system.gather(batch, kernel).ravel()), parameters[id(batch)],
        np.ascontiguousarray(scatter.ravel().astype(np.int32)),
    )  # fmt: skip


def _prescribed_call(system: System, prescribed: Prescribed, parameters: Mapping[int, Array]) -> Call:
    n = prescribed.numbers.shape[1]
    gather = [system.layout.table(prescribed.tables[key], order) for key, order in prescribed.kernel.gather]
    scatter = [system.layout.prescribed(prescribed.numbers[c], order) for _, c, order in prescribed.kernel.scatter]
    return Call(
        prescribed.kernel.program, n, np.ascontiguousarray(np.array(gather, np.int32).reshape(len(gather), n).ravel()),
        parameters[id(prescribed)], np.ascontiguousarray(np.array(scatter, np.int32).ravel()),
    )  # fmt: skip


def _reach(system: System) -> Array:
    """1 rad for the coordinates of charts: rotations move what is far however small they are."""
    found = np.zeros(system.layout.nk)
    for i in system.numbering.rotations:
        found[i : i + 3] = 1.0
    return found


def _table_arguments(system: System) -> Array:
    """The prescribed input that gives each table's argument."""
    found = np.zeros(system.layout.nt, np.int64)
    for prescribed in system.prescribed_inputs:
        for k, (table, _) in enumerate(prescribed.calls):
            found[table] = prescribed.numbers[0, k]
    return found


def _tables(system: System, earlier: Callable[[Any, str], Any] | None) -> list[Polynomials]:
    found: list[Polynomials | None] = [None] * system.layout.nt
    problems: list[Problem] = []
    for prescribed in system.prescribed_inputs:
        for table, call in prescribed.calls:
            try:
                found[table] = _table(call, earlier)
            except NetsimError as error:
                problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return found  # type: ignore[return-value]


def _table(call: Any, earlier: Callable[[Any, str], Any] | None) -> Polynomials:
    if not call.run:
        return interpolate(read_column(Path(call.file), call.column, call.call.span), call.kind, call.outside)
    series = earlier(call, call.run) if earlier else None
    if series is None:
        return NOTHING_YET
    if isinstance(series, Polynomials):
        return series
    time, x, v, a = series
    return hermite(time, x, v, a, call.outside)
