"""The verification of an optimal motion: a transient run with the inputs that were found, from the start that was
found, with an error test of its own.

The run reads the inputs from the polynomials of the collocation, so no interpolation comes between. Its states
(positions, velocities, what is stored) are compared with those of the optimum at equally spaced instants.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from netsim.analyses.analysis import Prepared
from netsim.analyses.analysis import Task as Asked
from netsim.analyses.inverse.check import State, deviations, states_of
from netsim.analyses.inverse.runs import FOUND, Task
from netsim.analyses.inverse.tracking import Actuator
from netsim.analyses.optimal.program.points import unknowns_of
from netsim.analyses.optimal.program.radau import basis, coefficients
from netsim.analyses.optimal.program.solve import Solution
from netsim.analyses.optimal.results.answer import read, vectors
from netsim.analyses.over_time.run import transient
from netsim.equations.layout import Layout
from netsim.equations.machine import Machine, build_machine
from netsim.equations.system import System
from netsim.network.bindings import TableCall
from netsim.network.tables import DEGREE, OUTSIDE, Polynomials, hermite
from netsim.network.values import Values
from netsim.results.samples import Samples
from netsim.simulate.options import TransientOptions
from netsim.text.errors import NetsimError, Problem
from netsim.text.expressions.show import show_expression
from netsim.text.syntax import Name

Array = np.ndarray
INSTANTS = 200
"""So many equally spaced instants are compared."""
ZERO = np.array([0.0, 1.0]), np.zeros(2), np.zeros(2), np.zeros(2)
FINER = 1e-2
"""The tolerance of the run beside that of the mesh, and the largest and the smallest there are."""
BOUNDS = 1e-10, 1e-6
FAR, LARGE = 10.0, 1e-3
"""A deviation above so many times the mesh's tolerance, and above this share of the range, is warned of."""


@dataclass(frozen=True)
class Verification:
    """The state that deviates most, by how much of the range of its kind, and a sentence."""

    state: str
    deviation: float
    text: str
    failed: bool = False


Subject = Asked | Task


def verified(
    task: Subject, applied: Prepared, solution: Solution, actuators: Sequence[Actuator], rtol: float
) -> Verification:
    """The deviation of a transient run of the network `applied`, with the inputs of the actuators that were found."""
    values, system, structure = applied
    point = solution.program.setting.point
    machine = _machine(task, values, system, solution, actuators)
    names, states = states_of(point.machine, structure)
    stop = solution.stop
    tolerance = float(np.clip(FINER * rtol, *BOUNDS))
    options = TransientOptions(stop, method="radau", forces="recovered", rtol=tolerance, sample=stop / INSTANTS)
    origin = _origin(machine, point.machine.system.layout, vectors(solution, np.zeros(1))[0])
    try:
        run = transient(machine, structure, options, [], [], None, (), names, origin)
    except NetsimError as error:
        return Verification("", float("nan"), f"not verified: {error.problems[0].message}", True)
    if not run.finished:
        return Verification("", float("nan"), f"the transient run with these inputs failed: {run.message}", True)
    return _compared(solution, run, names, states)


def _origin(machine: Machine, own: Layout, g: Array) -> Array:
    """The state of a global vector without discretes as one of a machine that has them, as they start."""
    layout, found = machine.system.layout, machine.g
    parts = found[: layout.one], g[own.one : own.discretes], found[layout.discretes : layout.x], g[own.x :]
    return np.concatenate(parts)


def _compared(solution: Solution, run: Samples, names: list[Name], states: list[State]) -> Verification:
    shares = np.clip(run.time / solution.stop, 0.0, 1.0)
    own = read(solution.program.setting.point.machine, vectors(solution, shares), names)
    each = zip(deviations(states, own, run.unseen).tolist(), (state.name for state in states))
    most, worst = max(each, default=(0.0, ""))
    text = f"in a transient run with these inputs {worst} deviates most: by {most:.2g} of the range of such quantities"
    return Verification(worst, most, text)


FAINT = 1e-5
"""Inputs below this part of their sizes are resolved to four digits at most."""


def doubtful(found: Verification, rtol: float, smooth: float = 0.0) -> list[Problem]:
    """A warning where the transient run goes elsewhere, farther than what is `smooth` in the optimum explains."""
    if found.failed:
        return [Problem("W511", found.text)]
    if not found.deviation > max(FAR * rtol, LARGE, smooth):
        return []
    name, value = ("smooth", smooth) if smooth >= max(FAR * rtol, LARGE) else ("rtol", rtol)
    hint = f"the motion may be unstable under given inputs; or take more intervals, or a smaller {name}"
    return [Problem("W511", f"{found.text}, more than {name} = {value:g} lets expect", hint=hint)]


def unresolved(solution: Solution, free: Mapping[str, int]) -> list[Problem]:
    """A warning where all free inputs (names with their unknowns) are so small beside the sizes by which IPOPT measures
    them that its tolerance decides about them."""
    point = solution.program.setting.point
    places = point.first[list(free.values())]
    shares = np.abs(solution.motion.z[places]).max(axis=1) / solution.size[places]
    if not len(places) or shares.max() >= FAINT:
        return []
    message = f"{', '.join(free)} stay{'s' * (len(free) == 1)} below {FAINT:g} of the usual size of such quantities, "
    hint = "write the problem in other units: masses, lengths and times that make inputs, states and the stop of size 1"
    return [Problem("W512", f"{message}where the optimum is lost in tolerances", hint=hint)]


def _machine(
    task: Subject, values: Values, system: System, solution: Solution, actuators: Sequence[Actuator]
) -> Machine:
    """The machine whose inputs are the polynomials of the solution, which may jump from one interval to the next."""
    point, z = solution.program.setting.point, solution.motion.z
    numbers = unknowns_of(point.machine, actuators, task.network)
    unknown = {a.element(task.network): number for a, number in zip(actuators, numbers)}

    def earlier(call: TableCall, run: str) -> Any:
        if run != FOUND or not call.signal:
            return task.earlier(call, run)
        variable = unknown[show_expression(call.signal).removesuffix(".u")]
        orders = point.first[variable] + np.arange(min(int(point.d[variable]), 2) + 1)
        return polynomials(solution, z[orders])

    def jumping(call: TableCall) -> TableCall:
        return replace(call, kind="linear") if call.run == FOUND else call

    cut = [replace(p, calls=tuple((t, jumping(c)) for t, c in p.calls)) for p in system.prescribed_inputs]
    return build_machine(replace(system, prescribed_inputs=tuple(cut)), values, earlier)


def polynomials(solution: Solution, series: Array) -> Polynomials:
    """A variable given at all points (orders, points) as polynomials in every interval: without rates the one through
    its points, with one rate the one through its beginning too, which collocation integrates; with two the quintic
    that has them at both ends, so that nothing jumps but the last of them."""
    mesh, stop = solution.program.mesh, solution.stop
    spans, ends = mesh.spans * stop, mesh.ends * stop
    found = np.zeros((DEGREE + 1, mesh.intervals))
    if len(series) < 3:
        nodes, first = (mesh.nodes, 1) if len(series) == 1 else (np.append(0.0, mesh.nodes), 0)
        powers = coefficients(nodes) @ series[0][mesh.numbers[:, first:]].T
        found[: len(nodes)] = powers / spans ** np.arange(len(nodes))[:, None]
        return Polynomials(ends, found, OUTSIDE.index("hold"))
    begin = basis(mesh.nodes, np.zeros(1))[0]
    for i, numbers in enumerate(mesh.numbers):
        x, v = series[0, numbers[[0, -1]]], series[1, numbers[[0, -1]]]
        a = np.array([begin @ series[2, numbers[1:]], series[2, numbers[-1]]])
        found[:, i] = hermite(np.array([0.0, spans[i]]), x, v, a, "hold").coefficients[:, 0]
    return Polynomials(ends, found, OUTSIDE.index("hold"))
