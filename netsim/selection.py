"""Which signals a run saves: names with wildcards resolved to places in g and to readings of instances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from netsim.batches import Batch, form_of
from netsim.component import SECOND, WORLD, dimension, names_in, plain_name
from netsim.errors import InputError, Problem, nearest
from netsim.kernels.kernel import reading_kernel
from netsim.language.expressions import Scope, Typed, evaluate, flatten, shape
from netsim.language.show import show_expression
from netsim.language.syntax import Call, Expr, Let, Name, Part
from netsim.layout import Layout
from netsim.network import GROUND, Frame, name_text
from netsim.numbering import suffixes
from netsim.samples import Signal
from netsim.signals import NodeSignal, Reading, find_signal, node_quantities, picked
from netsim.solvers.machine import Call as KernelCall
from netsim.solvers.machine import Machine, call_table
from netsim.units import NO_DIMENSION, Dimension, format_dimension

Array = np.ndarray


@dataclass(frozen=True)
class Entry:
    """One saved scalar: a place in g, or reading `index` of an instance at a position of a batch."""

    signal: Signal
    slot: int = -1
    batch: Batch | None = None
    position: int = 0
    reading: tuple[str, int] = ("", 0)


@dataclass
class Selection:
    """Saved scalars in order, and expressions computed from them afterwards."""

    entries: dict[str, Entry] = field(default_factory=dict)
    shown: list[str] = field(default_factory=list)
    expressions: dict[str, Expr] = field(default_factory=dict)
    dimensions: dict[str, Dimension] = field(default_factory=dict)

    def add(self, entry: Entry, dimension_: Dimension, show: bool) -> None:
        name = entry.signal.name
        self.entries.setdefault(name, entry)
        self.dimensions[name] = dimension_
        if show and name not in self.shown:
            self.shown.append(name)


class Finder:
    """Finds the scalars behind the names of signals."""

    def __init__(self, machine: Machine):
        self.machine, self.network, self.system = machine, machine.system.network, machine.system
        self.top = self.network.top
        self.nodes = self.network.node_numbers()
        self.instances = {instance.name: i for i, instance in enumerate(self.network.instances)}
        self.home = {instance.name: (b, k) for b in self.system.batches if not b.shapes for k, instance in enumerate(b.instances)}

    def entries(self, name: Name) -> list[tuple[Entry, Dimension]]:
        texts = [p.text for p in name.parts]
        if texts == ["*"]:
            hint = "without any save line all quantities of the top level are saved"
            raise InputError(Problem("E206", "a lone '*' names nothing: it stands behind a node or an element, such as m1.*", name.span, hint=hint))
        if texts[-1] == "*":
            return self.every(Name(name.parts[:-1], span=name.span))
        path = name_text(name, self.top)
        if path in self.nodes and self.network.nodes[self.nodes[path]].domain.name != "signal":
            return self.every(name)
        found = find_signal(name, self.top, self.network, self.nodes, self.instances, form_of)
        if found is None:
            known = [*self.nodes, *self.instances]
            raise InputError(Problem("E206", f"nothing is called '{path}' here", name.span, hint=nearest(texts[0], known)))
        whole = self.node(found) if isinstance(found, NodeSignal) else self.reading(found)
        return [whole[i] for i in picked(found, len(whole))]

    def node(self, signal: NodeSignal) -> list[tuple[Entry, Dimension]]:
        parts = signal.name.parts[: signal.used]
        base = name_text(Name(parts if signal.own == signal.used else (*parts[:-1], Part(parts[-1].text))), self.top)
        layout: Layout = self.system.layout
        found = []
        if signal.turns and signal.role == "integral":
            frame = GROUND if signal.node == GROUND else int(self.system.numbering.frame[signal.node])
            slots = [int(layout.chart(np.array([frame]), k)[0]) for k in range(9)]
            return [(Entry(Signal(base + suffix), slot), signal.dimension) for slot, suffix in zip(slots, suffixes(signal.sizes))]
        for c, suffix in zip(signal.components, suffixes(signal.sizes)):
            unknown = GROUND if signal.node == GROUND else int(self.system.numbering.first[signal.node] + c)
            slot = int(layout.unknown(np.array([unknown]), signal.level)[0])
            found.append((Entry(Signal(base + suffix, _unit(signal.dimension)), slot), signal.dimension))
        return found

    def reading(self, signal: Reading) -> list[tuple[Entry, Dimension]]:
        instance = self.network.instances[signal.instance]
        batch, position = self.home[instance.name]
        typed = batch.form.readings[signal.reading]
        doc = next((o.doc for o in instance.component.definition.outputs if o.name == signal.reading), "")
        dimension_ = typed.dimension or NO_DIMENSION
        return [
            (Entry(Signal(f"{instance.name}.{signal.reading}{suffix}", _unit(dimension_), doc), -1, batch, position, (signal.reading, i)), dimension_)
            for i, suffix in enumerate(suffixes(shape(typed.value)))
        ]

    def every(self, name: Name) -> list[tuple[Entry, Dimension]]:
        """`m1.*`: all quantities of an instance (its own, not those at its terminals) or of a node."""
        path = name_text(name, self.top)
        if path in self.nodes:
            domain = self.network.nodes[self.nodes[path]].domain
            names = [()] if domain.name == "signal" else [(Part(q),) for q in node_quantities(domain)]
        elif path in self.instances:
            readings = self.home[path][0].form.readings
            names = [(Part(r),) for r in readings if "." not in r]
        else:
            inner = [n for n in (*self.nodes, *self.instances) if n.startswith(path + ".") and "." not in n[len(path) + 1 :]]
            if not inner:
                raise InputError(Problem("E206", f"nothing is called '{path}' here", name.span, hint=nearest(path, [*self.nodes, *self.instances])))
            return [e for n in inner for e in self.every(Name(tuple(Part(t) for t in n.split(".")), span=name.span))]
        return [e for extra in names for e in self.entries(Name((*name.parts, *extra), span=name.span))]

    def default(self) -> list[tuple[Entry, Dimension]]:
        """Node quantities and instance outputs of the top level."""
        found: list[tuple[Entry, Dimension]] = []
        for node in self.network.nodes:
            if "." not in node.name:
                found += self.every(Name((Part(node.name),)))
        for instance in self.network.instances:
            if "." not in instance.name:
                for output in instance.component.definition.outputs:
                    found += self.entries(Name((Part(instance.name), Part(output.name))))
        return found


def _unit(dimension_: Dimension) -> str:
    return "" if dimension_ == NO_DIMENSION else format_dimension(dimension_)


def select(machine: Machine, saves: Iterable[Expr], plots: Iterable[Expr] = ()) -> Selection:
    """What to save: the listed signals (all of the top level without any), and silently what plots need."""
    finder, selection = Finder(machine), Selection()
    problems: list[Problem] = []
    saves = list(saves)
    for entry, dimension_ in finder.default() if not saves else ():
        selection.add(entry, dimension_, True)
    for expr, show in [*((e, True) for e in saves), *((e, False) for e in plots)]:
        try:
            _select(expr, show, finder, selection)
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return selection


def _select(expr: Expr, show: bool, finder: Finder, selection: Selection) -> None:
    derived = _derived(expr, finder.top)
    if derived is not None:
        _bases(derived, show, finder, selection)
        selection.expressions[expr.parts[0].text] = derived  # type: ignore[union-attr]
        return
    if isinstance(expr, Name):
        for entry, dimension_ in finder.entries(expr):
            selection.add(entry, dimension_, True)
        return
    if isinstance(expr, Call) and expr.function == "der":
        raise InputError(Problem("E246", "der() cannot be saved", expr.span, hint="an acceleration is a sensor's output"))
    _bases(expr, show, finder, selection)
    if show:
        selection.expressions[show_expression(expr)] = expr


def _derived(expr: Expr, top: Frame) -> Expr | None:
    """The expression behind `let work = integral(A.power)`: a let of the top level that speaks of signals (by other lets too) names a series."""
    definition = top.definitions.get(plain_name(expr) or "") if isinstance(expr, Name) else None
    if definition is None or not isinstance(definition.statement, Let):
        return None
    value = definition.statement.value
    known = ("time", *top.integers, *WORLD)
    speaks = any(
        _derived(name, top) is not None if name.parts[0].text in top.definitions else name.parts[0].text not in known for name in names_in(value)
    )
    return value if speaks else None


def _bases(expr: Expr, show: bool, finder: Finder, selection: Selection) -> None:
    """Sample what an expression reads."""
    for name in names_in(expr):
        if (derived := _derived(name, finder.top)) is not None:
            _bases(derived, show, finder, selection)
        elif name.parts[0].text != "time" and name.parts[0].text not in finder.network.top.definitions:
            for entry, dimension_ in finder.entries(name):
                selection.add(entry, dimension_, not show or entry.signal.name in selection.shown)


REFINED = 8


def refined(time: Array) -> Array:
    """REFINED instants for each interval of a time axis, the old ones among them."""
    return np.interp(np.arange((len(time) - 1) * REFINED + 1) / REFINED, np.arange(len(time)), time)


def _between(time: Array, series: Array, fine: Array) -> Array:
    """The series at finer instants, by cubic splines between events (where two samples are no more than rounding apart)."""
    from scipy.interpolate import CubicSpline

    cuts = [0, *(np.flatnonzero(np.diff(time) <= 1e-15 * np.abs(time[1:])) + 1), len(time)]
    found = np.interp(fine, time, series)
    for first, last in pairwise(cuts):
        if last - first > 3:
            inside = (fine >= time[first]) & (fine <= time[last - 1])
            found[inside] = CubicSpline(time[first:last], series[first:last])(fine[inside])
    return found


def integral(series: Array, time: Array) -> Array:
    """The running integral of a series from the first sample on, by the trapezoidal rule."""
    steps = np.diff(time) * (series[1:] + series[:-1]) / 2
    return np.concatenate([[0.0], np.cumsum(steps)])


def add_unseen(machine: Machine, selection: Selection, signals: Iterable[Name]) -> list[str]:
    """Sample signals without saving them; their scalars' names."""
    finder, found = Finder(machine), []
    for name in signals:
        for entry, dimension_ in finder.entries(name):
            selection.add(entry, dimension_, False)
            found.append(entry.signal.name)
    return found


@dataclass(frozen=True, eq=False)
class Sampler:
    """The compiled side of a selection: a call table of readings, places in [g | readings], and what keeps them alive."""

    table: Array
    places: Array
    size: int
    calls: list[KernelCall]


def sampler(machine: Machine, selection: Selection) -> Sampler:
    """Group wanted readings by batch and by set of readings, one kernel call each, on the wanted instances only."""
    system = machine.system
    wanted: dict[int, dict[int, list[tuple[str, int]]]] = {}
    batches: dict[int, Batch] = {}
    for entry in selection.entries.values():
        if entry.batch is not None:
            batches[id(entry.batch)] = entry.batch
            wanted.setdefault(id(entry.batch), {}).setdefault(entry.position, []).append(entry.reading)
    calls: list[KernelCall] = []
    place: dict[tuple[int, int, tuple[str, int]], int] = {}
    size = 0
    for key, positions in wanted.items():
        batch = batches[key]
        readings = list(dict.fromkeys(r for rs in positions.values() for r in rs))
        kernel = reading_kernel(batch.form, readings)
        members = np.array(sorted(positions))
        n = len(members)
        scatter = size + np.arange(len(readings) * n).reshape(len(readings), n)
        for i, r in enumerate(readings):
            place.update({(key, int(m), r): int(scatter[i, k]) for k, m in enumerate(members)})
        size += scatter.size
        gather = np.ascontiguousarray(system.gather(batch, kernel)[:, members].ravel())
        parameters = np.ascontiguousarray(machine.parameters[key][:, members])
        calls.append(KernelCall(kernel.program, n, gather, parameters, scatter.ravel().astype(np.int32)))
    g_size = system.layout.size
    places = [e.slot if e.batch is None else g_size + place[id(e.batch), e.position, e.reading] for e in selection.entries.values()]
    return Sampler(call_table(calls, system.layout.uniforms), np.array(places, np.int64), size, calls)


def series_scope(selection: Selection, values: Mapping[str, Array], time: Array, parameters: Scope, top: Frame) -> Scope:
    """Names of saved signals as series, `time`, and the netlist's parameters."""

    def resolve(name: Name) -> Typed:
        path = name_text(name, top)
        if path in values:
            return Typed(values[path], selection.dimensions.get(path))
        vector = [values[path + s] for s in (".x", ".y", ".z") if path + s in values]
        if vector:
            return Typed(tuple(vector), selection.dimensions.get(path + ".x"))
        if (derived := _derived(name, top)) is not None:
            return evaluate(derived, scope)
        return Typed(time, SECOND) if plain_name(name) == "time" else parameters.resolve(name)

    def running(call: Call, scope: Scope) -> Typed:
        if len(call.arguments) != 1 or call.keywords:
            raise InputError(Problem("E207", "integral() takes one argument", call.span))
        fine = refined(time)  # signals as cubic splines between samples: the kinks of abs() and max() fall where they belong
        inner = series_scope(selection, {n: _between(time, v, fine) for n, v in values.items()}, fine, parameters, top)
        operand = evaluate(call.arguments[0], inner)
        dimension_ = None if operand.dimension is None else operand.dimension * SECOND
        return Typed(integral(np.broadcast_to(np.asarray(operand.value, float), fine.shape), fine)[::REFINED], dimension_)

    scope = Scope(resolve, {"integral": running})
    return scope


def computed(selection: Selection, values: Mapping[str, Array], time: Array, parameters: Scope, top: Frame) -> dict[str, tuple[Array, Signal]]:
    """Saved expressions as series of their own."""
    found: dict[str, tuple[Array, Signal]] = {}
    for text, expr in selection.expressions.items():
        typed: Any = evaluate(expr, series_scope(selection, values, time, parameters, top))
        scalars = flatten(typed.value)
        for suffix, series in zip(suffixes(shape(typed.value)), scalars):
            series = np.broadcast_to(np.asarray(series, float), time.shape)
            found[text + suffix] = (series, Signal(text + suffix, _unit(typed.dimension or dimension(None))))
    return found
