"""The consistent start of a network without motion as arrays and machine code (netsim.core.begin.stages).

`netsim.initial.initial.consistent_start` says which stages there are, what is held and what is free: all of that
follows from the structure and from which starts are written. Pivots are those of the network's own values where each
stage begins, that of the static solution at what the machine holds and those of the run at the start that is known, so
that what a variant finds depends on the netlist and on the variant's values alone.
"""

from dataclasses import dataclass

import numpy as np

from netsim.core.begin.stages import Start, StartStage, solve_stage
from netsim.core.compiled import kinds
from netsim.core.compiled.call import ROW_LENGTH
from netsim.core.compiled.function import address_of
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.consistent import DENSE
from netsim.core.linear.factors import Factor, SingularMatrix, analyse
from netsim.core.newton import CONVERGED, set_time
from netsim.equations.machine import Call, Machine, call_table
from netsim.equations.starts.rows import Slot, StartRow, by_kernel
from netsim.equations.starts.written import start_rows
from netsim.initial.consistent.derivatives import equations_of, partials_table
from netsim.initial.consistent.newton import StageUnknowns, unknowns_of
from netsim.initial.consistent.plan import residual_tables
from netsim.initial.diagnosis.operating_point import LARGE, behind
from netsim.initial.fixed import fixed_rows, held_offsets, stage_of
from netsim.initial.initial import Structure, with_coordinates
from netsim.initial.stages import Stages, slots, stage_triples

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class CompiledStart:
    """A start as arrays: what compiled code reads, how many stages are static, where targets of written starts stand
    (array, positions, rows), what may start far from its operating point and beyond which size; columns of parameters
    that were copied (array, batch, positions), calls, and what else must live as long."""

    start: Struct
    resting: int
    goals: list[tuple[Array, Array, Array]]
    far: Array
    far_from: Array
    lent: list[tuple[Array, int, Array]]
    calls: list[list[Call]]
    alive: list[object]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Calls of written starts that elements compute, columns of parameters copied for them, and where the value of each
    row stands among what they write, and its derivatives by its variables."""

    calls: list[Call]
    lent: list[tuple[Array, int, Array]]
    at: dict[int, tuple[int, Array]]

    def of(self, row: StartRow) -> tuple[int, Array]:
        """-1 for a place in g, whose derivative is 1."""
        return self.at.get(id(row), (-1, np.full(1, -1)))


def compiled_start(machine: Machine, structure: Structure, at_rest: bool, known: Array) -> CompiledStart | None:
    """The start of a network without motion, delays and events, which is `known` at the machine's own values; None
    where it needs `consistent_start` (guesses, singular stages)."""
    system, g = machine.system, machine.g.copy()
    rows = start_rows(system, machine.values)
    if not system.n or any(row.word != "start" for row in rows) or set_time(machine.struct, g, 0.0) != CONVERGED:
        return None
    weights = 1.0 / np.concatenate([system.nominals, np.ones(system.layout.nq)])
    spoken = [row.variables for row in rows]
    structure = with_coordinates(system, structure, np.concatenate([np.zeros(0, np.int64), *spoken]))
    wanted: list[StageUnknowns] = []
    far = np.zeros(0, np.int64)
    if not at_rest:
        static = structure.static
        fixed, freed = fixed_rows(machine, structure.at_rest, static, rows)
        offsets = held_offsets(structure.at_rest, static, structure.static_triples, fixed, freed)
        if offsets.d.max(initial=0) > 0:
            return None
        stages = Stages(machine, structure.at_rest, offsets, structure.static_triples, weights)
        wanted.append(unknowns_of(stages, 0, fixed, freed))
        far = behind(system, structure.at_rest, freed) if rows else far
    resting = len(wanted)
    o = structure.dynamic
    everything = np.ones(len(structure.signature.equation), bool)
    stages = Stages(machine, structure.signature, o, everything, weights)
    for k in range(-int(o.d.max(initial=0)), 1):
        wanted.append(unknowns_of(stages, k, [row for row in rows if stage_of(row, o) == k], ()))
    factors = _pivots(wanted, resting, g, known)
    return None if factors is None else _laid_out(machine, wanted, resting, rows, factors, far)


def _pivots(wanted: list[StageUnknowns], resting: int, g: Array, known: Array) -> list[Factor] | None:
    """The pivots of every stage, that of the static solution at g and the others at the `known` start; None where one
    has none."""
    found = []
    for number, stage in enumerate(wanted):
        factor = analyse(0, [0], [], [])
        if len(stage.places) == len(stage.equations) + len(stage.rows) > 0:
            matrix = stage.derivatives(g if number < resting else known)[1]
            try:
                factor = analyse(matrix.shape[0], matrix.indptr, matrix.indices, matrix.data, explain=False)
            except (SingularMatrix, ValueError):
                return None
        found.append(factor)
    return found


def _laid_out(
    machine: Machine, wanted: list[StageUnknowns], resting: int, rows: list[StartRow], factors: list[Factor], far: Array
) -> CompiledStart:
    system, layout = machine.system, machine.system.layout
    computed, alive, goals = _computed(machine, wanted), list[list[Call]](), list[tuple[Array, Array, Array]]()
    used = np.zeros(sum(b.kernels.partials.program.n_outputs * b.n for b in system.batches), bool)
    parts: list[StartStage] = []
    numbers = {id(row): number for number, row in enumerate(rows)}
    for stage, factor in zip(wanted, factors):
        part = _stage(stage, factor, computed, alive)
        goal_of = np.array([numbers.get(id(row), -1) for row in stage.rows], np.int64)
        goals.append((part.goal, np.flatnonzero(goal_of >= 0), goal_of[goal_of >= 0]))
        used[part.pick] = used[part.term] = True
        parts.append(part)
    every = np.arange(system.n, system.n + layout.nq)
    definitions = equations_of(machine, every, 0)
    alive += [definitions, computed.calls]
    written = sum(len(call.scatter) for call in computed.calls)
    n = max((len(part.places) for part in parts if len(part.places) <= DENSE), default=0)
    partials = partials_table(machine, used, alive)
    structs = [struct_of(part) for part in parts]
    code = np.zeros(1, np.int64)
    start = struct_of(
        Start(
            np.array([each.address for each in structs], np.int64), code, partials, np.zeros(len(used)),
            np.zeros(system.out_size), call_table(computed.calls, layout.uniforms), np.zeros(written),
            call_table(definitions, layout.uniforms), layout.differentiated(np.arange(layout.nq), 0).astype(np.int64),
            layout.equation(every).astype(np.int64), np.zeros((n, n)), np.zeros((n, 1)),
        )
    )  # fmt: skip
    code[0] = address_of(solve_stage, kinds.BOOLEAN, start.kind, structs[0].kind, kinds.VECTOR)
    places = slots(machine, far, np.zeros(len(far), np.int64))
    return CompiledStart(
        start, resting, goals, places, LARGE * system.nominals[far], computed.lent, alive, [parts, structs]
    )


def _stage(stage: StageUnknowns, factor: Factor, computed: _Rows, alive: list[list[Call]]) -> StartStage:
    stages, k, count = stage.stages, stage.k, len(stage.equations)
    o, s = stages.offsets, stages.signature
    m, n = count + len(stage.rows), len(stage.places)
    i, j, triples = stage_triples(stages, k, stage.equations, stage.variables, stage.freed)
    column_of = np.full(s.size + 1, -1)
    column_of[stage.variables] = np.arange(len(stage.variables))
    at, of, reads = [i], [j], [np.zeros(0, np.int64)]
    for r, row in enumerate(stage.rows):
        known = np.flatnonzero((column_of[row.variables] >= 0) & (row.orders == o.d[row.variables] + k))
        at.append(np.full(len(known), count + r))
        of.append(column_of[row.variables[known]])
        reads.append(computed.of(row)[1][known])
    codes = np.concatenate(of) * max(m, 1) + np.concatenate(at)
    unique, position = np.unique(codes, return_inverse=True)
    tables = residual_tables(stages, k, stage.equations, alive) if count else []
    calls = [np.zeros((0, ROW_LENGTH), np.int64), *(table for table, _, _ in tables)]
    first_row = np.cumsum([0, *(len(rows) for _, rows, _ in tables)])
    term, place, of_equation = _terms(stage)
    slots_ = [row.source.slot if isinstance(row.source, Slot) else -1 for row in stage.rows]
    linear = k < 0 and not np.any(o.c + k == 0) and not stage.rows
    whole = np.int64
    return StartStage(
        np.array([linear], whole), np.concatenate(calls), np.cumsum([0, *map(len, calls[1:])]), first_row,
        np.concatenate([np.zeros(0, whole), *(rows for _, rows, _ in tables)]).astype(whole),
        np.concatenate([np.zeros(0, whole), *(places for _, _, places in tables)]).astype(whole),
        np.array(slots_, whole), np.array([computed.of(row)[0] for row in stage.rows], whole),
        np.array([row.target for row in stage.rows], float), stage.places.astype(whole), stage.size,
        np.searchsorted(unique, np.arange(n + 1) * max(m, 1)).astype(whole), (unique % max(m, 1)).astype(whole),
        position[: len(triples)], s.raw(triples).astype(whole), position[len(triples) :],
        np.concatenate(reads).astype(whole), term, place, of_equation, np.zeros(len(unique)), np.zeros(m), np.zeros(m),
        np.zeros(n), np.zeros(n), np.zeros((3, m)), struct_of(factor),
    )  # fmt: skip


def _terms(stage: StageUnknowns) -> tuple[Array, Array, Array]:
    """Derivatives (among the elements' own), places in g and equations of the terms of residuals, as the equations
    stand and differentiated as the stage takes them."""
    stages, k = stage.stages, stage.k
    s, o = stages.signature, stages.offsets
    row_of = np.full(s.size + 1, -1)
    row_of[stage.equations] = np.arange(len(stage.equations))
    kept = np.flatnonzero(s.kept & (row_of[s.equation] >= 0))
    found: list[tuple[Array, Array]] = []
    for order in (np.zeros(len(kept), np.int64), np.maximum(o.c[s.equation[kept]] + k, 0)):
        there = s.order[kept] + order <= o.d[s.variable[kept]] + max(k, 0)
        found.append((kept[there], slots(stages.machine, s.variable[kept[there]], (s.order[kept] + order)[there])))
    triples, places = (np.concatenate([each[i] for each in found]).astype(np.int64) for i in (0, 1))
    return s.raw(triples).astype(np.int64), places, row_of[s.equation[triples]]


def _computed(machine: Machine, stages: list[StageUnknowns]) -> _Rows:
    """A call for all rows of one kernel."""
    found, size = _Rows([], [], {}), 0
    for group in by_kernel(row for stage in stages for row in stage.rows):
        one, positions = group[0][1], np.array([source.position for _, source in group])
        at = size + np.arange(len(one.kernel.scatter) * len(group)).reshape(-1, len(group))
        parameters = np.ascontiguousarray(machine.parameters[id(one.batch)][:, positions])
        gather = np.ascontiguousarray(machine.system.gather(one.batch, one.kernel)[:, positions].ravel())
        found.calls.append(Call(one.kernel.program, len(group), gather, parameters, at.ravel().astype(np.int32)))
        found.lent.append((parameters, id(one.batch), positions))
        partial = np.array([place[0] == "partial" for place in one.kernel.scatter])
        for (row, source), value, derivatives in zip(group, at[0].tolist(), at[partial].T):
            found.at[id(row)] = value, derivatives[source.live]
        size += at.size
    return found
