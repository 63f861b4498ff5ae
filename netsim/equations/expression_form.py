"""Bound expressions that read signals: each shape becomes a form of its own, `input - expression = 0`, in batches like
components."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from netsim.core.rotation import cayley_matrix, cayley_rate
from netsim.equations.batches import Batch, FirstNumbers, FormKernels
from netsim.equations.forms.facts import Facts, facts_of, tuples
from netsim.equations.forms.form import Expressions, Form
from netsim.equations.forms.symbols import CONSTANT, Key, Symbols
from netsim.equations.inputs import Bound, shape_value, texts_of
from netsim.equations.kernels.symbolic import ca
from netsim.equations.numbering import Numbering
from netsim.library.component import is_kinematic, scalar_count
from netsim.network.network import GROUND, Network
from netsim.network.signals import NodeSignal, Reading, component_of
from netsim.text.expressions.sizes import flatten, shape, shaped
from netsim.text.expressions.typed import Typed

Array = np.ndarray


def expression_batches(
    bounds: list[Bound],
    network: Network,
    numbering: Numbering,
    hidden: Mapping,
    home: Mapping,
    begins: FirstNumbers,
) -> Iterator[Batch]:
    """One batch per shape: `hidden` gives the unknowns of the inputs, `home` where each instance stands,
    `begins` where differentiated quantities, discretes and relations begin."""
    groups: dict[tuple, list[Bound]] = {}
    for bound in bounds:
        lenders = tuple(id(home[s.instance][0].kernels) for s in bound.shape.signals if isinstance(s, Reading))
        groups.setdefault((bound.shape.key, bound.quantity.unit, bound.sizes, lenders), []).append(bound)
    for group in groups.values():
        batch = _ExpressionForm(group[0], network, numbering, home).batch(group, numbering, hidden, begins)
        begins = begins.behind(batch)
        yield batch


@dataclass(frozen=True)
class ExpressionData:
    """What an expression reads, as data: (key, order) of its symbols, the sizes of its parameters, how many quantities
    are differentiated; (signal, key) of unknowns and of constants of other elements; which unknowns have position,
    velocity and acceleration, and whose matrix entries are wanted order by order."""

    read: tuple[tuple[Key, int], ...]
    parameters: tuple[tuple[str, int], ...]
    n_differentiated: int
    refs: tuple[tuple[int, Key], ...]
    constants: tuple[tuple[int, Key], ...]
    kinematic: tuple[tuple[Key, bool], ...]
    apart: tuple[Key, ...]


class _ExpressionForm:
    """The form of `input - expression = 0`, and where what it reads of other elements stands."""

    def __init__(self, bound: Bound, network: Network, numbering: Numbering, home: Mapping[int, tuple[Batch, int]]):
        self.network, self.home = network, home

        def build() -> _Expression:
            return _Expression(bound, numbering, home)

        facts = _facts(bound, numbering, home)
        self.lent = facts.recall(
            ("lent",),
            lambda: build().lent,
            lambda lent: [*vars(lent).values()],
            lambda data: ExpressionData(*tuples(data)),
        )
        rows = tuple(("own", i) for i in range(scalar_count(bound.sizes)))
        self.form = Form(
            f"{bound.quantity.name} = ...", rows, self.lent.read, dict(self.lent.parameters),
            self.lent.n_differentiated, {}, facts, lambda: build().expressions, ("",) * len(rows), (None,) * len(rows),
        )  # fmt: skip
        self.kinematic = {**dict(self.lent.kinematic), **dict.fromkeys(rows, False)}

    def batch(self, group: list[Bound], numbering: Numbering, hidden: Mapping, begins: FirstNumbers) -> Batch:
        unknowns: dict[Key, Array] = {}
        prescribed_inputs: dict[Key, Array] = {}
        for r, (j, key) in enumerate(self.lent.refs):
            columns = [self._lent(bound.shape.signals[j], key, numbering) for bound in group]
            target = prescribed_inputs if columns[0][0] == "prescribed" else unknowns
            target["resting" if key[0] == "resting" else "ref", r] = np.array([number for _, number in columns])
        starts = np.array([hidden[b.instance, b.quantity.name] for b in group])
        for i in range(len(self.form.rows)):
            unknowns["own", i] = starts + i
        constants = {
            (key[0], "lent", i): self._lent_constant(j, key, group, numbering)
            for i, (j, key) in enumerate(self.lent.constants)
        }
        labels = [f"{self.network.instances[b.instance].name}.{b.quantity.name}" for b in group]
        instances = tuple(self.network.instances[b.instance] for b in group)
        return Batch(
            FormKernels(self.form, self.kinematic, frozenset(self.lent.apart)),
            labels,
            instances,
            unknowns,
            prescribed_inputs,
            begins,
            tuple(b.shape for b in group),
            constants=constants,
        )

    def _lent_constant(self, j: int, key: Key, group: list[Bound], numbering: Numbering) -> tuple[Array, int]:
        signals = [bound.shape.signals[j] for bound in group]
        if isinstance(signals[0], NodeSignal):
            frames = np.append(numbering.frame, GROUND)
            return np.array([frames[s.node] for s in signals]), key[2]
        found = [self.home[s.instance][0].constants[key][0][self.home[s.instance][1]] for s in signals]
        return np.array(found), self.home[signals[0].instance][0].constants[key][1]

    def _lent(self, signal: Any, key: Key, numbering: Numbering) -> tuple[str, int]:
        if isinstance(signal, NodeSignal):
            return "unknown", GROUND if signal.node == GROUND else int(numbering.first[signal.node] + key[1])
        batch, position = self.home[signal.instance]
        if key in batch.prescribed_inputs:
            return "prescribed", int(batch.prescribed_inputs[key][position])
        return "unknown", int(batch.unknowns[key][position])


def _facts(bound: Bound, numbering: Numbering, home: Mapping[int, tuple[Batch, int]]) -> Facts:
    """The facts about an expression: what follows from it, from what it reads, and from what others lend it."""
    signals: list[tuple[Any, ...]] = []
    for signal in bound.shape.signals:
        if isinstance(signal, NodeSignal):
            signals.append((signal.key, repr(signal.domain), _follows(signal, numbering)))
            continue
        lender = home[signal.instance][0].kernels
        if not lender.form.facts.name:
            return Facts()
        signals.append((lender.form.facts.name, sorted(lender.kinematic.items()), sorted(lender.apart), signal.key[2:]))
    return facts_of(*texts_of(bound.shape, bound.quantity, bound.sizes), repr(signals))


def _follows(signal: NodeSignal, numbering: Numbering) -> bool:
    return signal.node != GROUND and bool(numbering.first[signal.node] < GROUND)


class _Expression:
    """`input - expression = 0` in symbols: readings of other elements are inlined with symbols of their own."""

    def __init__(self, bound: Bound, numbering: Numbering, home: Mapping[int, tuple[Batch, int]]):
        self.bound, self.numbering, self.home = bound, numbering, home
        self.apart: set[Key] = set()
        self.symbols = Symbols()
        self.refs: list[tuple[int, Key]] = []
        self.lent_constants: list[tuple[int, Key]] = []
        self.kinematic: dict[Key, bool] = {}
        self.differentiated: list[Any] = []
        result = shape_value(bound.shape, self.symbols, self._signal, bound.quantity, bound.sizes)
        own = [self.symbols.at(("own", i), 0) for i in range(scalar_count(bound.sizes))]
        residuals = tuple(u - e for u, e in zip(own, map(ca.SX, flatten(result.value))))
        zeros = ca.SX(0), ca.SX(0), ca.SX(0)
        self.expressions = Expressions(self.symbols, residuals, tuple(self.differentiated), {}, *zeros)

    @property
    def lent(self) -> ExpressionData:
        """What it reads, as data."""
        parameters = tuple((name, len(scalars)) for name, scalars in self.symbols.parameters.items())
        return ExpressionData(
            tuple(self.symbols.gathered), parameters, len(self.differentiated), tuple(self.refs),
            tuple(self.lent_constants), tuple(self.kinematic.items()), tuple(sorted(self.apart)),
        )  # fmt: skip

    def _ref(self, j: int, key: Key, order: int, kinematic: bool, apart: bool = False) -> Any:
        if (j, key) not in self.refs:
            self.refs.append((j, key))
        ref = ("resting" if key[0] == "resting" else "ref", self.refs.index((j, key)))
        self.kinematic[ref] = kinematic
        if apart:
            self.apart.add(ref)
        return self.symbols.at(ref, order)

    def _signal(self, j: int) -> Typed:
        signal = self.bound.shape.signals[j]
        if isinstance(signal, NodeSignal) and signal.turns:
            return component_of(Typed(self._turned(j, signal), signal.dimension), signal)
        if isinstance(signal, NodeSignal):
            scalars = [
                self._ref(j, ("node", c), signal.order, is_kinematic(signal.domain), _follows(signal, self.numbering))
                for c in signal.components
            ]
            return component_of(Typed(shaped(scalars, signal.sizes), signal.dimension), signal)
        return self._reading(j, signal)

    def _turned(self, j: int, signal: NodeSignal) -> tuple:
        """A rotation matrix or an angular velocity from the chart's coordinates."""
        psi, rate = (
            [self._ref(j, ("node", c), order, True, _follows(signal, self.numbering)) for c in signal.components]
            for order in (0, 1)
        )
        if signal.role == "across":
            return tuple(cayley_rate(psi, rate))
        chart = [[self._constant(j, ("chart", signal.components[0], 3 * i + k)) for k in range(3)] for i in range(3)]
        return tuple(map(tuple, cayley_matrix(psi, chart)))

    def _constant(self, j: int, key: Key) -> Any:
        """A chart's entry or a reference position of another element."""
        if (j, key) not in self.lent_constants:
            self.lent_constants.append((j, key))
        return self.symbols.at((key[0], "lent", self.lent_constants.index((j, key))), 0)

    def _reading(self, j: int, signal: Reading) -> Typed:
        lender = self.home[signal.instance][0].kernels
        typed = lender.form.readings[signal.reading]
        scalars = ca.vertcat(*map(ca.SX, flatten(typed.value)))
        old, new = [], []
        for name, parameters in lender.form.symbols.parameters.items():
            old += parameters
            new += self.symbols.parameter(f"{j} {name}", len(parameters))
        differentiated = [
            (key, order, s) for (key, order), s in lender.form.symbols.gathered.items() if key[0] == "differentiated"
        ]
        others = [
            (key, order, s) for (key, order), s in lender.form.symbols.gathered.items() if key[0] != "differentiated"
        ]
        needed = {s.__hash__() for s in ca.symvar(ca.vertcat(scalars, *lender.form.differentiated))}
        for key, order, s in others:
            if s.__hash__() in needed:
                old.append(s)
                new.append(
                    self._constant(j, key)
                    if key[0] in CONSTANT
                    else self._ref(j, key, order, lender.kinematic.get(key, False), key in lender.apart)
                )
        for key, _, s in differentiated:
            if ca.depends_on(scalars, s):
                definition = ca.substitute(
                    [lender.form.differentiated[key[1]]], [ca.vertcat(*old)], [ca.vertcat(*new)]
                )[0]
                self.differentiated.append(definition)
                old.append(s)
                new.append(self.symbols.at(("differentiated", len(self.differentiated) - 1), 1))
        result = ca.substitute([scalars], [ca.vertcat(*old)], [ca.vertcat(*new)])[0] if old else scalars
        return component_of(Typed(shaped(ca.vertsplit(result), shape(typed.value)), typed.dimension), signal)
