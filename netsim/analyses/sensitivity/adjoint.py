"""The derivative of one figure, the last value of a signal, by any number of parameters and starts: a run, and one pass
back along its steps (netsim.core.variational.adjoint)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Task
from netsim.analyses.sensitivity.elements import all_varied
from netsim.analyses.sensitivity.forward import by_radau, traced_run
from netsim.analyses.sensitivity.gradients import gradient_call
from netsim.analyses.sensitivity.kinks import split_at_kinks
from netsim.analyses.sensitivity.variations import Plan, Variations, centred, new_factor, undetermined, variations
from netsim.analyses.sensitivity.varied import VariedQuantity, parameter_changes
from netsim.core.compiled.struct import Struct, struct_of
from netsim.core.problem import TIME
from netsim.core.variational.adjoint import ENDED, Adjoint, figure_back, point_back, steps_back
from netsim.equations.machine import Call, Machine, call_table
from netsim.initial.consistent.derivatives import equations_of
from netsim.results.selection import Selection, add_unseen, reader_of, select
from netsim.simulate.options import TransientOptions
from netsim.simulate.running import Running
from netsim.simulate.setup.start_of_run import start_of_run
from netsim.structure.time_events import time_events_of
from netsim.text.errors import InputError, Problem, Span
from netsim.text.expressions.show import show_expression
from netsim.text.syntax import Expr

Array = np.ndarray


def refuse_adjoint(machine: Machine, run: Running | None, span: Span | None) -> None:
    """Raises E472 for networks that the backward pass does not take: with motion, events, tables."""
    reason = (
        "moves" if machine.system.layout.nk
        else "has tables" if machine.calls["arguments"]
        else "has events" if run is not None and (run.events or len(run.control.time_events) > 1)
        else ""
    )  # fmt: skip
    if reason:
        hint = "leave out `derivatives = adjoint`: forward derivatives serve every network"
        raise InputError(
            Problem("E472", f"adjoint derivatives of a network that {reason} are not computed", span, hint=hint)
        )


@dataclass(frozen=True, eq=False)
class AdjointRun:
    """A run with what passes back found: its signals, sampled, some of them unseen; derivatives of the last values of
    the others, by name."""

    run: Running
    of: Sequence[VariedQuantity]
    selection: Selection
    unseen: Sequence[str]
    derivatives: Mapping[str, Array]

    def column(self, name: str) -> Array:
        """The samples of a signal."""
        return self.run.sampled[1][:, list(self.selection.entries).index(name)]


def run_adjoint(
    task: Task, options: TransientOptions, to: Sequence[str], spans: Mapping[str, Span | None], saves: Sequence[Expr]
) -> AdjointRun:
    """The run of a task, and a pass back for each signal. Raises `InputError` for what cannot be varied and E472 for
    networks and figures that a pass does not take, `SimulationError` where the run or its derivatives end early."""
    options = replace(by_radau(options), sample=0.0, every=1, formulation="absolute")
    span = spans.get("derivatives")
    refuse_adjoint(task.machine, None, span)
    machine, structure, g, _ = start_of_run(task.machine, task.structure, options.start)
    of = all_varied(task, to, options, spans.get("to"), g)
    selection = select(machine, saves)
    if selection.expressions or not selection.entries:
        told = ", ".join(map(show_expression, saves))
        hint = "adjoint derivatives are those of last values of signals: of = [out.v]"
        raise InputError(Problem("E472", f"'{told}' is no list of signals", span, hint=hint))
    unseen = add_unseen(machine, selection, task.beside, named=False)
    events = time_events_of(machine, options.stop)
    run = traced_run(machine, structure, g, options, events, selection, np.zeros(0), task.progress)
    refuse_adjoint(machine, run, span)
    names, found = list(selection.entries), dict[str, Array]()
    for name in selection.shown:
        weights = np.eye(len(names))[names.index(name)]
        found[name] = adjoint_pass(run, selection, weights).by(machine, of)
    return AdjointRun(run, of, selection, unseen, found)


@dataclass(frozen=True, eq=False)
class AdjointPass:
    """What one pass found: derivatives by the parameters of all elements (by the machine's keys), by what stays of the
    global vector, by the differentiated quantities at the start."""

    parameters: Mapping[int, Array]
    constants: Array
    quantities: Array

    def by(self, machine: Machine, of: Sequence[VariedQuantity]) -> Array:
        """Derivatives by everything in `of`, (p,)."""
        return np.array([self._by(machine, each) for each in of])

    def _by(self, machine: Machine, each: VariedQuantity) -> float:
        layout, own = machine.system.layout, each.local
        if own:
            slope = float(self.parameters[own.key][:, own.position] @ own.parameters)
            return slope + float(own.quantities @ self.quantities)
        start = each.change(lambda p: p.start)
        found = float(start[layout.differentiated(np.arange(layout.nq), 0)] @ self.quantities)
        start[layout.prescribed_inputs : layout.one] = start[layout.x :] = 0.0
        found += float(start @ self.constants)
        return found + sum(
            float(np.vdot(self.parameters[key], change)) for key, change in parameter_changes(machine, each).items()
        )


def adjoint_pass(run: Running, selection: Selection, weights: Array) -> AdjointPass:
    """One pass for the figure whose derivatives by the entries of the selection at the end are `weights`. Raises
    `SimulationError` where it is not determined."""
    machine, layout = run.machine, run.machine.system.layout
    nodes = split_at_kinks(run.machine, run.traced)
    rows, spans = np.ascontiguousarray(nodes[:, :, 1:]).reshape(-1, layout.size), nodes[:, 3, 0] - nodes[:, 0, 0]
    v = variations(
        machine, run.structure, [], np.zeros((0, layout.size)), selection, rows, np.ascontiguousarray(spans)
    )  # fmt: skip
    pass_ = _Pass(v, selection, weights)
    pass_.through(rows)
    found = pass_.adjoint.found
    parameters = {key: found[slots.astype(np.int64)] for key, slots in pass_.slots.items()}
    return AdjointPass(parameters, pass_.adjoint.kept, pass_.adjoint.q)


class _Pass:
    """The arrays of a pass, and its way back."""

    def __init__(self, v: Variations, selection: Selection, weights: Array):
        machine = v.machine
        self.v, self.layout, self.alive = v, machine.system.layout, list[Any]()
        self.slots, count = dict[int, Array](), 0
        for key, values in machine.parameters.items():
            self.slots[key] = count + np.arange(float(np.size(values))).reshape(np.shape(values))
            count += np.size(values)
        self.keys = {id(value): key for key, value in machine.parameters.items()}
        size, reader = self.layout.size, reader_of(machine, selection)
        slotted = reader_of(replace(machine, parameters=self.slots), selection)
        readings = [self._call(c, d.parameters) for c, d in zip(reader.calls, slotted.calls)]
        nothing = v.plan(centred(v, v.run.rows[0]), b"")
        room = size + max(size, len(v.run.sums), len(nothing.alive[1].sums), reader.size) + 1
        self.plans = dict[int, Array]()
        self.adjoint = Adjoint(
            self._table([self._own(c) for c in equations_of(machine, np.arange(machine.system.n + self.layout.nq), 0)]),
            self._table([self._own(c) for c in machine.calls["prescribed_inputs"]]),
            self._table(readings), self._stages(nothing), np.zeros(room), np.zeros(size + count),
            np.zeros(self.layout.nq), np.zeros(size), reader.places.astype(np.int64), np.array(weights, float),
            np.zeros(count), np.zeros(size), np.zeros(len(v.run.rhs)),
        )  # fmt: skip
        self.alive += [reader, slotted]

    def _call(self, call: Call, slots: Array) -> Call:
        return gradient_call(call, self.layout.uniforms, self.layout.size, slots)

    def _own(self, call: Call) -> Call:
        return self._call(call, self.slots[self.keys[id(call.parameters)]])

    def _table(self, calls: list[Call]) -> Array:
        nothing = np.zeros(0, np.int32)
        self.alive += [calls, nothing]
        return call_table(calls, nothing)

    def _stages(self, plan: Plan) -> Array:
        """Gradients of the calls of a plan's stages."""
        made = plan.alive[0]
        return self._table([self._own(c) for stage in made.alive[:-1] for c in stage])

    def _planned(self, g: Array, renewed: bool) -> tuple[Struct, Struct]:
        """The plan of consistent points, laid out at g where it is to be renewed, and the pass that goes with it."""
        plan = self.v.plan(g, b"", renewed)
        if renewed:
            self.adjoint = self.adjoint._replace(stages=self._stages(plan))
        return plan.plan, struct_of(self.adjoint)

    def _at(self, back: Any, g: Array, t: float) -> None:
        """What a pass does at one point, with pivots taken anew where they do not serve."""
        weights, found, kept = self.adjoint.q.copy(), self.adjoint.found.copy(), self.adjoint.kept.copy()
        for renewed in (False, True):
            plan, adjoint = self._planned(g, renewed)
            self.adjoint.mu[:] = 0.0
            self.adjoint.q[:], self.adjoint.found[:], self.adjoint.kept[:] = weights, found, kept
            if back(self.v.machine.struct, plan, struct_of(self.v.run), adjoint, g.copy()):
                return
        raise undetermined(self.v, t)

    def through(self, rows: Array) -> None:
        """From the end of the run to its start."""
        v, last = self.v, len(self.v.run.spans)
        run, problem = struct_of(v.run), v.machine.struct
        self._at(figure_back, rows[-1], float(rows[-1, TIME]))
        factor, renewed = new_factor(v, run, last - 1), -1
        while last > 0:
            plan, adjoint = self._planned(rows[4 * last - 1], False)
            step = int(steps_back(problem, plan, factor, run, adjoint, 0, last))
            if step == ENDED:
                break
            if step < 0:
                last = -step
                self._at(point_back, rows[4 * last - 1], float(rows[4 * last - 1, TIME]))
            else:
                if renewed == step:
                    raise undetermined(v, float(rows[4 * step, TIME]))
                last, renewed, factor = step + 1, step, new_factor(v, run, step)
        self._at(point_back, centred(v, rows[0]), float(rows[0, TIME]))
