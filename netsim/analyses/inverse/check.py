"""The verification of an inverse run: a run forward in time under the inputs that were found, by Radau's method with an
error test.

Its states (positions, velocities, what is stored) are compared with those of the inverse run at every sample. Inputs
are read from samples by quintic splines between time events, so close to one another that reading them costs less than
the tolerance. Where more than the tolerance is left, a second run at a tenth of it tells whose error that is: the
check's own, or that of the inputs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from netsim.analyses.inverse.runs import FOUND, Array, Prepared, Task, run, signal_name, spline, with_even_samples
from netsim.equations.machine import Machine
from netsim.equations.messages import node_of, owner_of
from netsim.initial.initial import Structure
from netsim.library.component import is_kinematic
from netsim.results.samples import Samples
from netsim.results.selection import Finder
from netsim.simulate.options import DEFAULT_METHOD
from netsim.structure.time_events import time_events_of
from netsim.text.columns import counted
from netsim.text.expressions.from_python import parse_expression
from netsim.text.syntax import Name, Part
from netsim.text.units import format_dimension

FAR = 0.1
"""A deviation larger than this share of the range is named in a note."""
NEAR = 20.0
"""Deviations up to this many times rtol are those of an ordinary run."""
OWN = 0.5
"""The share of a deviation that a tenfold finer check must change for it to be the check's own."""
FINEST, CLOSEST, FEWEST = 1e-12, 20_000, 12
"""The smallest rtol of a check, the most samples, and the fewest between time events by which reading them is
judged."""


@dataclass(frozen=True)
class State:
    """A scalar state: the name of its samples, and a word for quantities of its kind."""

    name: str
    kind: str


def states_of(machine: Machine, structure: Structure) -> tuple[list[Name], list[State]]:
    """Names of all states of a network, and the scalars behind them: positions and velocities of nodes, and what is
    differentiated elsewhere."""
    system, network = machine.system, machine.system.network
    names: list[tuple[Name, str]] = []
    for node in network.nodes:
        if is_kinematic(node.domain):
            for kind, quantities in (("position", node.domain.integral), ("velocity", node.domain.across)):
                names += [(_within(node.name, q.name), kind) for q in quantities]
    stored = structure.signature.variable[structure.signature.kept & (structure.signature.equation >= system.n)]
    for unknown in sorted({int(u) for u in stored if system.layout.nk <= u < system.n}):
        place, owner = node_of(system, unknown), owner_of(system, unknown)
        if place is not None:
            node = network.nodes[place[0]]
            names.append(
                (
                    _within(node.name)
                    if node.domain.name == "signal"
                    else _within(node.name, node.domain.across[0].name),
                    "store",
                )
            )
        elif owner is not None:
            own = parse_expression(owner[1], "state")
            assert isinstance(own, Name)
            names.append((Name((*signal_name(owner[0].name).parts, *own.parts)), "store"))
    finder, found = Finder(machine), []
    for name, kind in names:
        found += [State(entry.signal.name, f"{kind} {entry.signal.unit}") for entry, _ in finder.entries(name)]
    return [name for name, _ in names], list({state.name: state for state in found}.values())


def _within(node: str, *quantity: str) -> Name:
    return Name((*signal_name(node).parts, *(Part(q) for q in quantity)))


# ------------------------------------------------------------------------------------------------------- the inputs


@dataclass(frozen=True, eq=False)
class Reference:
    """Samples of the inverse run close enough for its inputs to be read, the instants where these may jump, and what
    reading them costs."""

    samples: Samples
    time_events: Array
    misread: float


def reference(
    task: Task, imposed: Prepared, machine: Machine, series: Mapping[str, Any], samples: Samples, beside: list[Name]
) -> Reference:
    """`samples` themselves, or those of another run with more of them."""
    given = task.options.transient
    wanted = given.rtol
    time_events = np.union1d(time_events_of(machine, given.stop), _events(samples))
    found, even = samples, with_even_samples(task)
    apart = np.diff(samples.time)
    if not (given.sample or given.step) or np.ptp(apart) > 1e-6 * apart.max():
        found = run(even, imposed, series, beside[:1], beside=beside)
    error = _misread(task, found, time_events)
    while error > wanted and len(found.time) < CLOSEST and found.finished:
        finer = float(np.clip(np.ceil((error / wanted) ** (1.0 / 6.0) * 1.2), 2, 8))
        even = even.stepping(sample=even.options.transient.sample / finer)
        found = run(even, imposed, series, beside[:1], beside=beside)
        before, error = error, _misread(task, found, time_events)
        if error > 0.5 * before:  # no smooth function: closer samples tell no more
            break
    return Reference(found, time_events, error)


def _events(samples: Samples) -> Array:
    """The instants at which something happened."""
    return np.array([float(line.split("\t")[0]) for line in samples.attributes.get("event_log", "").splitlines()])


def _misread(task: Task, samples: Samples, time_events: Array) -> float:
    """What reading the inputs between samples costs, in parts of their peaks: by what every other sample says of the
    others, of sixth order."""
    worst, end = 0.0, float(samples.time[-1])
    edges = [0.0, *(c for c in time_events if 0.0 < c < end), end]
    for name in task.inputs:
        x = samples.unseen[name]
        peak = np.abs(x).max()
        for low, high in pairwise(edges):
            inside = np.flatnonzero((samples.time > low) & (samples.time < high))
            if peak > 0.0 and len(inside) >= FEWEST:
                t = samples.time[inside]
                from scipy.interpolate import make_interp_spline

                coarse = make_interp_spline(t[::2], x[inside][::2], k=5)
                known = t[1::2][t[1::2] < t[::2][-1]]
                worst = max(worst, float(np.abs(coarse(known) - x[inside][1::2][: len(known)]).max()) / peak / 64.0)
    return worst


# ------------------------------------------------------------------------------------------------------- the check


def verified(task: Task, states: list[State], names: list[Name], of: Reference) -> list[str]:
    """Notes on the deviation of a forward simulation with the found inputs from the inverse run, and on its cause."""
    samples = of.samples
    if not samples.finished:
        return [f"not verified: a run with closer samples did not finish ({samples.message})"]
    rtol = task.options.transient.rtol
    first = _forward(task, names, of, rtol)
    if not first.finished:
        return [f"the forward simulation with these inputs failed: {first.message}"]
    found, far = _motions(task, first), False
    for _, share in found:
        far |= share > FAR
    notes = [text for text, _ in found]
    if not states:
        return notes
    worst, share = _farthest(states, samples, first)
    notes.append(
        f"of {counted(len(states), 'state')} {worst.name} deviates most: by {share:.2g} of the range of such quantities"
    )
    if share > NEAR * rtol:
        notes.append(_whose(task, states, names, of, first))
    if far or share > FAR:
        notes.append("the motion under given inputs is unstable, or the inverse run is not accurate enough")
    return notes


def _forward(task: Task, names: list[Name], of: Reference, rtol: float) -> Samples:
    """The free run under the inputs of the reference, sampled where that is."""
    samples = of.samples
    read = {FOUND: lambda name: spline(samples.time, samples.unseen[name], of.time_events)}
    between = float(samples.time[1] - samples.time[0])
    checking = task.stepping(method=DEFAULT_METHOD, step=0.0, rtol=rtol, sample=between, every=1)
    pairs = [signal_name(n) for pair in _pairs(task) for n in pair]
    return run(checking, task.wired(applied=True), read, pairs, beside=names)


def _pairs(task: Task) -> list[tuple[str, str]]:
    """Followed signals and their motions, as the elements call them that were added."""
    return [
        (f"{a.element(task.network)}.x", f"{a.element(task.network)}.motion")
        for a in task.actuators[: len(task.motions)]
    ]


def _motions(task: Task, first: Samples) -> list[tuple[str, float]]:
    """For every followed signal a note on its deviation, and the deviation as a share of its range."""
    found = []
    for motion, (x, wanted) in zip(task.motions, _pairs(task)):
        off, size = np.abs(first.series(x) - first.series(wanted)).max(), np.ptp(first.series(wanted))
        unit = "" if motion.dimension.is_none else f"{format_dimension(motion.dimension)} "
        share = f" ({off / size:.2g} of its range)" if size > 0 else ""
        note = f"in a forward simulation {motion.name} deviates by {off:.3g} {unit}at most{share}"
        found.append((note, float(off / size) if size > 0 else 0.0))
    return found


def deviations(states: list[State], one: Mapping[str, Array], other: Mapping[str, Array]) -> Array:
    """The largest difference of every state in parts of the largest range of its kind, as far as both series go."""
    ranges: dict[str, float] = {}
    for state in states:
        ranges[state.kind] = max(ranges.get(state.kind, 0.0), float(np.ptp(one[state.name])))
    both = [(one[s.name], other[s.name]) for s in states]
    off = [np.abs(x[: len(y)] - y[: len(x)]).max() for x, y in both]
    return np.array([x / ranges[s.kind] if ranges[s.kind] > 0.0 else 0.0 for s, x in zip(states, off)])


def _farthest(states: list[State], one: Samples, other: Samples) -> tuple[State, float]:
    found = deviations(states, one.unseen, other.unseen)
    worst = int(np.argmax(found))
    return states[worst], float(found[worst])


def _whose(task: Task, states: list[State], names: list[Name], of: Reference, first: Samples) -> str:
    """A note on the cause of a deviation: a forward simulation at a tenth of the tolerance changes its own error
    only."""
    rtol = max(0.1 * task.options.transient.rtol, FINEST)
    finer = _forward(task, names, of, rtol)
    if not finer.finished:
        return f"at rtol = {rtol:g} the forward simulation fails: {finer.message}"
    before, after = (deviations(states, of.samples.unseen, each.unseen).max() for each in (first, finer))
    changed = deviations(states, first.unseen, finer.unseen).max()
    if changed > OWN * before:
        return f"this is the error of the forward simulation: at rtol = {rtol:g} the deviation is {after:.2g}"
    if of.misread > task.options.transient.rtol:
        misread = f"{of.misread:.2g} of their peaks"
        return f"this is the error of interpolating the inputs between {len(of.samples.time)} samples ({misread})"
    given = task.options.transient
    by = f"its steps of {given.step:g} s have no error test" if given.step else f"rtol = {given.rtol:g}"
    return f"this is the error of the inverse run ({by})"
