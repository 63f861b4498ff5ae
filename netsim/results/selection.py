"""Which signals a run saves: names with wildcards resolved to places in g and to readings of instances."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from netsim.equations.batches import Batch, form_of
from netsim.equations.forms.form import Readable
from netsim.equations.kernels.kernel import reading_kernel
from netsim.equations.layout import Layout
from netsim.equations.machine import Call as KernelCall
from netsim.equations.machine import Machine, call_table
from netsim.equations.numbering import suffixes
from netsim.equations.system import System
from netsim.network.lets import derived_from, signals_in
from netsim.network.network import GROUND, Frame, Network, name_text
from netsim.network.signals import NodeSignal, Reading, find_signal, node_quantities, picked
from netsim.results.samples import Signal, Trace
from netsim.results.series import computed, series_scope, unit_of
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.typed import Scope
from netsim.text.syntax import Call, Expr, Name, Part
from netsim.text.units import NO_DIMENSION, Dimension

Array = np.ndarray


@dataclass(frozen=True)
class Entry:
    """One saved scalar: a place in g, or a scalar of a reading of an instance at a position of a batch: name, index
    and order of the rate."""

    signal: Signal
    slot: int = -1
    batch: Batch | None = None
    position: int = 0
    reading: tuple[str, int, int] = ("", 0, 0)


@dataclass
class Selection:
    """Saved scalars in order, and expressions computed from them afterwards; `named`: those that somebody has asked
    for by name."""

    entries: dict[str, Entry] = field(default_factory=dict)
    shown: dict[str, None] = field(default_factory=dict)
    named: dict[str, None] = field(default_factory=dict)
    expressions: dict[str, Expr] = field(default_factory=dict)
    dimensions: dict[str, Dimension] = field(default_factory=dict)

    def add(self, entry: Entry, dimension_: Dimension, show: bool, named: bool = True) -> None:
        name = entry.signal.name
        self.entries.setdefault(name, entry)
        self.dimensions[name] = dimension_
        if show:
            self.shown[name] = None
        if named:
            self.named[name] = None

    def signals(
        self, values: Mapping[str, Array], time: Array, parameters: Scope, top: Frame, trace: Trace | None = None
    ) -> dict[str, tuple[Array, Signal]]:
        """What is saved, by name: sampled signals, then expressions of them; integrals follow the trace, where there is
        one."""
        sampled = {name: (values[name], self.entries[name].signal) for name in self.shown}
        scope = series_scope(self.dimensions, values, time, parameters, top, trace)
        return sampled | computed(self.expressions, time, scope)

    def table(
        self, machine: Machine, columns: Mapping[str, Array], time: Array, trace: Trace | None = None
    ) -> tuple[tuple[Signal, ...], Array]:
        """What is saved as signals and their values (nt, signals)."""
        top = machine.system.network.top
        saved = self.signals(columns, time, machine.values.scope(top), top, trace).values()
        values = np.column_stack([series for series, _ in saved]) if saved else np.zeros((len(time), 0))
        return tuple(signal for _, signal in saved), values


class Finder:
    """Finds the scalars behind the names of signals."""

    def __init__(self, machine: Machine):
        self.machine, self.network, self.system = machine, machine.system.network, machine.system
        self.top = self.network.top
        self.nodes = self.network.node_numbers
        self.instances = self.network.instance_numbers

    def entries(self, name: Name) -> list[tuple[Entry, Dimension]]:
        texts = [p.text for p in name.parts]
        if texts == ["*"]:
            hint = "write the name of a node or an element before it, such as m1.*; "
            hint += "without a save line all quantities of the top level are saved"
            raise InputError(Problem("E206", "a lone '*' names no quantity", name.span, hint=hint))
        if texts[-1] == "*":
            return self.every(Name(name.parts[:-1], span=name.span))
        path = name_text(name, self.top)
        if path in self.nodes and self.network.nodes[self.nodes[path]].domain.name != "signal":
            return self.every(name)
        found = find_signal(name, self.top, self.network, self.nodes, self.instances, form_of)
        if found is None:
            known = [*self.nodes, *self.instances]
            hint = nearest(path, known) or nearest(texts[0], known)
            raise InputError(Problem("E206", f"nothing is called '{path}' here", name.span, hint=hint))
        whole = self.node(found) if isinstance(found, NodeSignal) else self.reading(found)
        sizes = found.sizes if isinstance(found, NodeSignal) else self._reads(found).sizes
        return [whole[i] for i in picked(found, sizes)]

    def node(self, signal: NodeSignal) -> list[tuple[Entry, Dimension]]:
        parts = signal.name.parts[: signal.used]
        base = name_text(Name(parts if signal.own == signal.used else (*parts[:-1], Part(parts[-1].text))), self.top)
        layout: Layout = self.system.layout
        found = []
        if signal.turns and signal.role == "integral":
            frame = GROUND if signal.node == GROUND else int(self.system.numbering.frame[signal.node])
            slots = [int(layout.chart(np.array([frame]), k)[0]) for k in range(9)]
            return [
                (Entry(Signal(base + suffix), slot), signal.dimension)
                for slot, suffix in zip(slots, suffixes(signal.sizes))
            ]
        for c, suffix in zip(signal.components, suffixes(signal.sizes)):
            unknown = GROUND if signal.node == GROUND else int(self.system.numbering.first[signal.node] + c)
            slot = int(layout.unknown(np.array([unknown]), signal.order)[0])
            found.append((Entry(Signal(base + suffix, unit_of(signal.dimension)), slot), signal.dimension))
        return found

    def _reads(self, signal: Reading) -> Readable:
        instance = self.network.instances[signal.instance]
        return self.system.home[instance.name][0].form.readable[signal.reading]

    def reading(self, signal: Reading) -> list[tuple[Entry, Dimension]]:
        instance = self.network.instances[signal.instance]
        batch, position = self.system.home[instance.name]
        asked = self._reads(signal)
        doc = next((o.doc for o in instance.component.definition.outputs if o.name == signal.reading), "")
        dimension_ = asked.dimension or NO_DIMENSION
        names = [f"{instance.name}.{signal.reading}{suffix}" for suffix in suffixes(asked.sizes)]
        unit, own = unit_of(dimension_), signal.reading
        return [
            (Entry(Signal(name, unit, doc), -1, batch, position, (own, i, 0)), dimension_)
            for i, name in enumerate(names)
        ]

    def every(self, name: Name) -> list[tuple[Entry, Dimension]]:
        """`m1.*`: all quantities of an instance (its own, not those at its terminals) or of a node."""
        path = name_text(name, self.top)
        if path in self.nodes:
            domain = self.network.nodes[self.nodes[path]].domain
            names = [()] if domain.name == "signal" else [(Part(q),) for q in node_quantities(domain)]
        elif path in self.instances:
            readings = self.system.home[path][0].form.readable
            names = [(Part(r),) for r in readings if "." not in r and " " not in r]  # nor rates that tables asked for
        else:
            inner = [
                n for n in (*self.nodes, *self.instances) if n.startswith(path + ".") and "." not in n[len(path) + 1 :]
            ]
            if not inner:
                raise InputError(
                    Problem(
                        "E206",
                        f"nothing is called '{path}' here",
                        name.span,
                        hint=nearest(path, [*self.nodes, *self.instances]),
                    )
                )
            return [e for n in inner for e in self.every(Name(tuple(Part(t) for t in n.split(".")), span=name.span))]
        return [e for extra in names for e in self.entries(Name((*name.parts, *extra), span=name.span))]

    def default(self) -> list[tuple[Entry, Dimension]]:
        """Node quantities and instance outputs of the top level, and the unknown force or moment of an element that
        gives none as an output (a source that prescribes a motion)."""
        found: list[tuple[Entry, Dimension]] = []
        for node in self.network.nodes:
            if "." not in node.name:
                found += self.every(Name((Part(node.name),)))
        for instance in self.network.instances:
            if "." not in instance.name:
                definition = instance.component.definition
                given = {output.unit for output in definition.outputs}
                unknown = [v.name for v in definition.variables if v.unit in ("N", "N.m") and v.unit not in given]
                for name in [*(output.name for output in definition.outputs), *unknown]:
                    found += self.entries(Name((Part(instance.name), Part(name))))
        return found


def select(machine: Machine, saves: Iterable[Expr], plots: Iterable[Expr] = ()) -> Selection:
    """What to save: the listed signals (all of the top level without any), and silently what plots need."""
    finder, selection = Finder(machine), Selection()
    problems: list[Problem] = []
    saves = list(saves)
    for entry, dimension_ in finder.default() if not saves else ():
        selection.add(entry, dimension_, True, named=False)
    for expr, show in [*((e, True) for e in saves), *((e, False) for e in plots)]:
        try:
            _select(expr, show, finder, selection)
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return selection


def readable(machine: Machine, selection: Selection) -> None:
    """Raises `InputError` for a saved or plotted expression that has no value: it is evaluated once, at numbers that no
    run gave."""
    top, time = machine.system.network.top, np.array([0.0, 1.0])
    columns = {name: np.ones(len(time)) for name in selection.entries}
    with np.errstate(all="ignore"):
        selection.signals(columns, time, machine.values.scope(top), top)


def _select(expr: Expr, show: bool, finder: Finder, selection: Selection) -> None:
    derived = derived_from(expr, finder.top)
    if derived is not None:
        _bases(derived, show, finder, selection)
        selection.expressions[expr.parts[0].text] = derived  # type: ignore[union-attr]
        return
    if isinstance(expr, Name):
        for entry, dimension_ in finder.entries(expr):
            selection.add(entry, dimension_, True)
        return
    if isinstance(expr, Call) and expr.function == "der":
        raise InputError(
            Problem(
                "E246",
                "der() cannot be saved",
                expr.span,
                hint="save the output of a sensor instead, such as an acceleration sensor",
            )
        )
    _bases(expr, show, finder, selection)
    if show:
        selection.expressions[show_expression(expr)] = expr


def _bases(expr: Expr, show: bool, finder: Finder, selection: Selection) -> None:
    """Sample what an expression reads."""
    for name in signals_in(expr, finder.top):
        for entry, dimension_ in finder.entries(name):
            selection.add(entry, dimension_, not show or entry.signal.name in selection.shown)


def add_unseen(machine: Machine, selection: Selection, signals: Iterable[Name], named: bool = True) -> list[str]:
    """Sample signals without saving them, `named` where somebody has asked for them; their scalars' names."""
    finder, found = Finder(machine), []
    for name in signals:
        for entry, dimension_ in finder.entries(name):
            selection.add(entry, dimension_, False, named)
            found.append(entry.signal.name)
    return found


@dataclass(frozen=True, eq=False)
class Reader:
    """The compiled side of a selection: a call table of readings, places in [g | readings], and what keeps them
    alive; `lent`: parameters that were copied from those of a batch, (array, batch, positions)."""

    table: Array
    places: Array
    size: int
    calls: list[KernelCall]
    lent: list[tuple[Array, int, Array]] = field(default_factory=list)

    def reads(self, first: int, end: int) -> Array:
        """The places in g from `first` to `end` that are read (in no order, some repeatedly)."""
        found = np.concatenate([self.places, *(call.gather for call in self.calls)]).astype(np.int64)
        return found[(found >= first) & (found < end)]

    def rates(self, layout: Layout) -> bool:
        """Whether rates are read: of differentiated quantities (the current of a capacitor), or of higher order."""
        return len(self.reads(layout.history, layout.size)) > 0


class Named(NamedTuple):
    """constant + sum of weights[k] [g | readings][places[k]], by the name and in the unit that somebody asked for it;
    the signals that it is a sum of, with their units."""

    name: str
    unit: str
    signals: tuple[tuple[str, str], ...]
    places: tuple[int, ...]
    weights: tuple[float, ...] = (1.0,)
    constant: float = 0.0


def reader_of(machine: Machine, selection: Selection) -> Reader:
    """Group wanted readings by batch and by set of readings, one kernel call each, on the wanted instances only."""
    system = machine.system
    wanted: dict[int, dict[int, list[tuple[str, int, int]]]] = {}
    batches: dict[int, Batch] = {}
    for entry in selection.entries.values():
        if entry.batch is not None:
            batches[id(entry.batch)] = entry.batch
            wanted.setdefault(id(entry.batch), {}).setdefault(entry.position, []).append(entry.reading)
    calls: list[KernelCall] = []
    lent: list[tuple[Array, int, Array]] = []
    place: dict[tuple[int, int, tuple[str, int, int]], int] = {}
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
        lent.append((parameters, key, members))
        calls.append(KernelCall(kernel.program, n, gather, parameters, scatter.ravel().astype(np.int32)))
    g_size = system.layout.size
    places = [
        e.slot if e.batch is None else g_size + place[id(e.batch), e.position, e.reading]
        for e in selection.entries.values()
    ]
    return Reader(call_table(calls, system.layout.uniforms), np.array(places, np.int64), size, calls, lent)


def signals_measured(network: Network) -> list[Name]:
    """The signals that measures and assertions read."""
    figures = {m.name for m in network.measures}
    asked = [*(m.value for m in network.measures), *(a.condition for a in network.asserts)]
    return [name for expr in asked for name in signals_in(expr, network.top, figures)]


_dimensions: "WeakKeyDictionary[System, dict[str, Dimension]]" = WeakKeyDictionary()


def dimensions_measured(machine: Machine, network: Network) -> dict[str, Dimension]:
    """The signals that measures and assertions of a network read, by name: the same for all values of parameters."""
    own = machine.system.network is network
    if own and machine.system in _dimensions:
        return _dimensions[machine.system]
    finder = Finder(machine)
    pairs = [pair for name in signals_measured(network) for pair in finder.entries(name)]
    found = {entry.signal.name: dimension for entry, dimension in pairs}
    if own:
        _dimensions[machine.system] = found
    return found
