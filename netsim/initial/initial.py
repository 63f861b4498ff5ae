"""Consistent starts: positions, velocities, accelerations, forces, rates at t = 0.

Mechanics starts at the reference position at rest, other domains in the static solution (or from zero with `from =
rest`), signal states at zero; written starts are equations, defaults give way to constraints by the smallest weighted
change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from netsim.core.history import PAST, begin_history
from netsim.core.newton import OUTSIDE_TABLE, set_time
from netsim.equations.machine import Machine
from netsim.equations.messages import advice, describe_row, fixed_twice, start_advice, unmet
from netsim.equations.starts.rows import StartRow
from netsim.equations.starts.written import relative_rows, start_rows
from netsim.equations.system import System
from netsim.initial.assembly import (
    Sizes,
    close_stage,
    length,
    lift,
    near_guesses,
    open_joint,
    sizes_of_machine,
    speaks_of_positions,
    turn_to_starts,
)
from netsim.initial.conflicts import minimal_conflict
from netsim.initial.consistent.newton import Inconsistent, solve_stage
from netsim.initial.cut_sets import summed_offsets
from netsim.initial.diagnosis.changes import Change, changes
from netsim.initial.diagnosis.operating_point import far_from_rest
from netsim.initial.fixed import fixed_rows, free_rates, held_offsets, stage_of
from netsim.initial.stages import Stages, slots
from netsim.network.network import Instance
from netsim.structure.orders import (
    Offsets,
    Signature,
    StructurallySingular,
    least_offsets,
    offsets,
    signature,
    structural_index,
)
from netsim.text.errors import InputError, Problem, SimulationError

Array = np.ndarray
NO_SIZES = Sizes(np.zeros(0, np.int64), np.zeros(0, np.int64), 1.0)


@dataclass(frozen=True, eq=False)
class Structure:
    """Differentiation orders of a system: of its dynamics, and of its static solution, whose signature is `at_rest`."""

    signature: Signature
    dynamic: Offsets
    static: Offsets
    static_triples: Array
    index: int
    at_rest: Signature


def structure_of(system: System, constant: Array | None = None, found: Signature | None = None) -> Structure:
    """The differentiation orders of a system with a signature (`found`, or that of its elements); raises
    `StructurallySingular` where equations and variables do not match. `constant` marks triples whose derivative
    vanishes at the present parameters (a diode's charge without capacitance): they do not count."""
    still, given = found or signature(system), found is not None
    if constant is not None and constant.any():
        still = replace(still, equation=np.where(constant, -1, still.equation))
    plain = still.moving
    least, momentum = least_offsets(system, plain), _is_momentum(system, plain)
    summed, dynamic = (still, offsets(plain, least)) if given else summed_offsets(system, still, least)
    standing = (np.arange(plain.size + 1) < system.n) | momentum
    static_triples = still.kept & standing[still.variable] & standing[still.equation]
    moving = np.zeros(plain.size, np.int64)
    moving[plain.variable[plain.kept & momentum[plain.equation]]] = 2
    try:
        static = offsets(still, np.minimum(least, moving), static_triples)
    except StructurallySingular:  # no static solution by structure: least changes on the dynamic orders decide
        still, static, static_triples = summed, dynamic, np.ones(len(summed.equation), bool)
    index = structural_index(system, summed.moving, dynamic)
    return Structure(summed.moving, dynamic, static, static_triples, index, still)


def _is_momentum(system: System, found: Signature) -> Array:
    """Differentiated quantities of velocities: what moves is not in equilibrium where it starts, so these keep their
    rates, and with them what else moves in the same component (the elastic coordinates of a link)."""
    marks = of_velocities(found, system.n, system.layout.nk)
    for batch in system.batches:
        places = [batch.differentiated(k) for k in range(batch.n_differentiated)]
        own = system.n + np.concatenate([np.zeros(0, np.int64), *places])
        marks[own] |= marks[own].any()
    return marks


def of_velocities(found: Signature, n: int, nk: int) -> Array:
    """Which equations define differentiated quantities of velocities (the last entry is for what is grounded)."""
    marks = np.zeros(found.size + 1, bool)
    marks[found.equation[found.kept & (found.equation >= n) & (found.variable < nk) & (found.order > 0)]] = True
    return marks


def explain_structure(system: System, singular: StructurallySingular) -> Problem:
    """E320: elements that prescribe the same, or the undetermined unknowns and the equations that are too many."""
    remedy = "remove one of the elements that prescribe or lock this quantity, or make one of them elastic"
    if twice := fixed_twice(system, np.append(singular.equations, singular.variables)):
        return Problem("E320", twice[0], twice[1], hint=remedy)
    undetermined = [system.names[v] for v in singular.variables if v < system.n][:6]
    superfluous = [system.names[e] for e in singular.equations if e < system.n][:6]
    if (not undetermined or system.redundant is not None) and (owner := _owner(system, singular.equations)):
        mark, hint = advice(owner.component.definition.singular or "", remedy)
        message = f"'{owner.name}' prescribes a quantity that is already prescribed or locked"
        return Problem("E320", message, owner.span, mark, hint)
    what = f"nothing determines {', '.join(undetermined)}" if undetermined else "the equations contradict one another"
    hint = f"there are too many equations: {', '.join(superfluous)}" if superfluous else ""
    return Problem("E320", f"the network is structurally singular: {what}", hint=hint)


def _owner(system: System, equations: Array) -> Instance | None:
    """The element that owns one of these equations, sources first."""
    found = [
        batch.instances[int(np.flatnonzero(np.isin(unknowns, equations))[0])]
        for batch in system.batches
        if batch.instances
        for key, unknowns in batch.unknowns.items()
        if key[0] == "own" and np.isin(unknowns, equations).any()
    ]
    return min(found, key=lambda instance: not instance.component.is_source, default=None)


def consistent_start(
    machine: Machine,
    structure: Structure,
    t: float = 0.0,
    at_rest: bool = False,
    drawn: Array | None = None,
    unplaced: Array | None = None,
) -> tuple[Array, list[Change]]:
    """A global vector g consistent at time t, and what moved off its default (and off where it is `drawn`, if that
    differs) or its written start. `unplaced` are the defaults where the machine's bodies stand elsewhere already.

    Raises `InputError` for conflicting written starts and `SimulationError` where no consistent point is found.
    """
    system, g = machine.system, machine.g.copy()
    if set_time(machine.struct, g, t) == OUTSIDE_TABLE:
        raise _outside_table(t)
    rows, defaults = start_rows(system, machine.values), g.copy() if unplaced is None else unplaced
    guesses = [row for row in rows if row.word == "guess"]
    _guess(machine, g, guesses)
    written = [row for row in rows if row.word == "start"]
    turn_to_starts(machine, g, written)
    sizes = sizes_of_machine(machine)
    weights = 1.0 / np.concatenate([system.nominals, np.ones(system.layout.nq)])
    weights[sizes.lengths] /= sizes.size
    spoken = [row.variables[(row.variables >= system.layout.nk) | (row.orders == 0)] for row in rows]
    structure = with_coordinates(system, structure, np.concatenate([np.zeros(0, np.int64), *spoken]))
    everything = np.ones(len(structure.signature.equation), bool)
    stages = Stages(machine, structure.signature, structure.dynamic, everything, weights, sizes.angles)
    starts = [*written, *_relative(stages, g, written)]
    if len(sizes.lengths):
        near_guesses(stages, g, starts, guesses)
    # a mechanism is put together before anything rests in it
    if len(sizes.lengths) and any(map(speaks_of_positions, starts)):
        starts = _through(stages, g, starts, -1, sizes)
    far: list[Change] = []
    if not at_rest:
        starts, far = _static(machine, structure, g, starts, weights, sizes)
    begin_history(machine.problem.buffer, g, at_rest)
    set_time(machine.struct, g, t)
    starts = _through(stages, g, starts, 0, sizes)
    set_differentiated(machine, g)  # of a channel that only its sources open: it counts as constant in the structure
    return g, [*changes(machine, defaults, g, written, starts, sizes, drawn), *far]


def search_start(machine: Machine, structure: Structure, t: float) -> Array:
    """Where the search for an equilibrium at time t begins: mechanisms put together, written starts and guesses taken
    as guesses."""
    g = machine.g.copy()
    if set_time(machine.struct, g, t) == OUTSIDE_TABLE:
        raise _outside_table(t)
    _guess(machine, g, start_rows(machine.system, machine.values))
    ways = (False, True) if machine.system.layout.nz else (True,)  # what holds may depend on what conducts
    for at_rest in ways if machine.system.layout.nk else ():
        try:
            g = consistent_start(machine, structure, t, at_rest)[0]
        except SimulationError:
            continue
        g[PAST] = 0.0
        break
    return g


def _relative(stages: Stages, g: Array, written: list[StartRow]) -> list[StartRow]:
    """Relative coordinates and their rates stay where they are, unless the written starts say otherwise together; then
    what a domain's nodes keep is left out where it contradicts (shortenings follow from deflections)."""
    network = stages.machine.system.network
    rows, trial = relative_rows(stages.machine.system, g, written), g.copy()
    kept: list[StartRow] = []
    for k in range(-int(stages.offsets.d.max(initial=0)), 0) if rows else ():
        here = [row for row in rows if stage_of(row, stages.offsets) == k]
        known = [row for row in written if stage_of(row, stages.offsets) == k]
        found = _solved(stages, trial, k, [*known, *here])
        chosen, domains = here, dict[int, str]()
        if found is None:
            found, chosen = _solved(stages, trial, k, known), []
            domains = {row.placed: network.nodes[row.placed].domain.name if row.placed >= 0 else "" for row in here}
        for name in dict.fromkeys(domains.values()):
            more = [*chosen, *(row for row in here if domains[row.placed] == name)]
            found, chosen = (
                (again, more) if (again := _solved(stages, trial, k, [*known, *more])) is not None else (found, chosen)
            )
        if found is None:
            break
        trial, kept = found, [*kept, *chosen]
    return kept


def _solved(stages: Stages, g: Array, k: int, rows: list[StartRow], freed: Sequence[int] = ()) -> Array | None:
    """The point after stage k with these rows, None where they contradict one another or the network."""
    trial = g.copy()
    try:
        solve_stage(stages, trial, k, rows, freed)
    except SimulationError:
        return None
    return trial


def _through(stages: Stages, g: Array, starts: list[StartRow], last: int, sizes: Sizes) -> list[StartRow]:
    """The stages up to `last` with the starts that belong to each; the starts, those that were closed with the values
    they got. Differentiated quantities have no default of their own: they follow what the stages before have found."""
    for k in range(-int(stages.offsets.d.max(initial=0)), last + 1):
        set_differentiated(stages.machine, g)
        starts = _solve(
            stages, g, k, starts, [row for row in starts if stage_of(row, stages.offsets) == k], sizes=sizes
        )
    return starts


def with_coordinates(system: System, structure: Structure, variables: Array) -> Structure:
    """The structure in which those of `variables` that follow from positions (a joint's angle) are solved, with their
    rates, where these are."""
    found, everything = structure.signature, np.ones(len(structure.signature.equation), bool)
    dynamic = lift(found, structure.dynamic, everything, variables, system)
    chosen = everything if structure.static is structure.dynamic else structure.static_triples
    return replace(
        structure, dynamic=dynamic, static=lift(structure.at_rest, structure.static, chosen, variables, system)
    )


def resumed_start(machine: Machine, structure: Structure, origin: Array, t: float = 0.0) -> Array:
    """The point `origin` of a network with the same unknowns, at the time t, with what this network's equations say of
    accelerations, forces and rates.

    The two may have other functions of time: everything behind these in g is the same."""
    system, g = machine.system, machine.g.copy()
    g[system.layout.one :] = origin[len(origin) - len(g) + system.layout.one :]
    g[PAST] = 1.0
    if set_time(machine.struct, g, t) == OUTSIDE_TABLE:
        raise _outside_table(t)
    weights, sizes = 1.0 / np.concatenate([system.nominals, np.ones(system.layout.nq)]), sizes_of_machine(machine)
    everything = np.ones(len(structure.signature.equation), bool)
    stages = Stages(machine, structure.signature, structure.dynamic, everything, weights, sizes.angles)
    for k in range(-int(structure.dynamic.d.max(initial=0)), 1):
        _solve(stages, g, k, [], [], sizes=sizes)
    return g


def _outside_table(t: float) -> InputError:
    hint = "give table(...) the argument outside = hold or outside = linear"
    return InputError(Problem("E245", f"a table is read outside its range at t = {t:g} s", hint=hint))


def _guess(machine: Machine, g: Array, guesses: Sequence[StartRow]) -> None:
    for row in guesses:
        miss, coefficients = row.linearise(machine, g)
        g[slots(machine, row.variables, row.orders)] -= (
            miss * coefficients / max(float(coefficients @ coefficients), 1e-300)
        )


def _static(
    machine: Machine, structure: Structure, g: Array, starts: list[StartRow], weights: Array, sizes: Sizes
) -> tuple[list[StartRow], list[Change]]:
    """The static solution with written starts fixed: each frees the rate of one differentiated quantity behind it.

    The starts come back, those that were closed with the values they got, and what begins far from where nothing is
    held."""
    o, before = structure.static, g.copy()
    fixed, freed = fixed_rows(machine, structure.at_rest, o, starts)
    o = held_offsets(structure.at_rest, o, structure.static_triples, fixed, freed)
    stages = Stages(machine, structure.at_rest, o, structure.static_triples, weights, sizes.angles)
    for k in range(-int(o.d.max(initial=0)), 1):
        if k == 0 and (solved := free_rates(stages, g, fixed, freed)) is not None:
            g[:] = solved
            continue
        rows = [row for row in starts if row not in fixed and stage_of(row, o) == k] if k < 0 else []
        try:
            starts = _solve(stages, g, k, starts, [*rows, *(fixed if k == 0 else [])], freed if k == 0 else [], sizes)
        except SimulationError as wrong:
            more = "`from = rest` starts without the static solution"
            raise SimulationError(
                [replace(p, hint=f"{p.hint}; {more}") if p.code == "E501" else p for p in wrong.problems]
            ) from None

    def free(rows: list[StartRow], differentiated: list[int]) -> Array:
        other = before.copy()
        solve_stage(stages, other, 0, rows, differentiated)
        return other

    return starts, far_from_rest(stages, g, fixed, freed, free)


def set_differentiated(machine: Machine, g: Array) -> None:
    """Differentiated quantities from their definitions: q - expr = 0 is linear in q."""
    from netsim.initial.consistent.derivatives import derivative

    system = machine.system
    every = np.arange(system.layout.nq)
    if not len(every):
        return
    size = system.n + system.layout.nq
    places = system.layout.differentiated(every, 0)
    g[places] -= derivative(machine, g, 0, size, np.zeros(size, np.int64))[system.n :]


def _solve(
    stages: Stages,
    g: Array,
    k: int,
    starts: list[StartRow],
    rows: list[StartRow],
    freed: Sequence[int] = (),
    sizes: Sizes = NO_SIZES,
) -> list[StartRow]:
    """Stage k with `rows` held, in place; the starts, among them those of `rows` that had to be closed with the values
    they got."""
    before = g.copy()
    try:
        solve_stage(stages, g, k, rows, freed)
    except Inconsistent as wrong:
        g[:] = before
        if not rows or k == 0 or not len(sizes.lengths) or not all(map(speaks_of_positions, rows)):
            raise _explained(stages, wrong, rows, g, sizes, freed) from None
        taken = dict(zip(map(id, rows), close_stage(stages, g, k, rows, sizes)))
        return [taken.get(id(row), row) for row in starts]
    return starts


def _explained(
    stages: Stages, wrong: Inconsistent, rows: list[StartRow], g: Array, sizes: Sizes, freed: Sequence[int] = ()
) -> Exception:
    names = stages.machine.system.names
    where = [names[e] for e in wrong.equations if e < stages.machine.system.n][:5]
    written = [row for row in rows if row.word == "start"]
    if written:
        written = [
            row
            for row in minimal_conflict(rows, lambda some: _solved(stages, g, wrong.stage, some, freed) is not None)
            if row.word == "start"
        ]
    if written:  # without any the network contradicts itself
        first, *others = written
        also = tuple((row.span, "and this") for row in others[:5] if row.span)
        if not others or all(row.span and row.span == first.span for row in others):
            own = [int(e) for e in wrong.equations if e < stages.machine.system.n]
            violated = list(dict.fromkeys(describe_row(stages.machine.system, e) for e in own))[:4]
            hint = f"it violates {', '.join(violated)}" if violated else "remove it"
            path = first.path if not others else first.path.rpartition("." if "." in first.path else "[")[0]
            return InputError(
                Problem("E410", f"the written start of {path} contradicts the network", first.span, hint=hint)
            )
        hint = "remove one of them" + (f"; violated equations: {', '.join(where)}" if where else "")
        message = f"the written starts contradict one another or the network: {', '.join(r.path for r in written[:6])}"
        return InputError(Problem("E410", message, first.span, also=also, hint=hint))
    joint = open_joint(stages, g, wrong.stage, (), sizes) if wrong.stage < -1 else None
    if joint is not None:
        message = f"the mechanism cannot be assembled: the points of '{joint.name}' stay {length(joint.distance)} apart"
        hint = (
            f"check lengths, units and prescribed positions at t = 0; the size of the mechanism is {length(sizes.size)}"
        )
        return InputError(Problem("E412", message, joint.span, hint=hint))
    if twice := fixed_twice(stages.machine.system, wrong.equations):
        sentence, span = twice
        hint = "give both the same value, or remove one of them"
        return InputError(Problem("E414", f"{sentence}, to different values", span, hint=hint))
    hint = start_advice(stages.machine.system, wrong.equations)
    message = f"no consistent start: {unmet(stages.machine.system, wrong.stage, wrong.equations)}"
    return SimulationError(Problem("E501", message, hint=hint))
