"""Instances gathered into batches of one form."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np

from netsim.equations.forms.facts import facts_of
from netsim.equations.forms.form import Expressions, Form
from netsim.equations.forms.record import known_form
from netsim.equations.forms.symbols import CONSTANT, UNIFORMS, Key, Symbols
from netsim.equations.kernels.kernel import (
    Kernel,
    energy_kernel,
    event_kernel,
    jacobian_kernel,
    partials_kernel,
    residual_kernel,
)
from netsim.equations.kernels.program import is_affine
from netsim.equations.numbering import Numbering
from netsim.library.component import is_kinematic, scalar_count, sizes_of
from netsim.network.bindings import Shape
from netsim.network.network import GROUND, Instance, Network

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FormKernels:
    """A form with its kernels, each lowered when first wanted and kept for every system that uses the type.

    `kinematic` says which columns have position, velocity and acceleration, `apart` whose matrix entries are wanted
    order by order."""

    form: Form
    kinematic: Mapping[Key, bool]
    apart: frozenset[Key] = frozenset()

    @cached_property
    def residual(self) -> Kernel:
        return residual_kernel(self.form)

    @cached_property
    def jacobian(self) -> Kernel:
        return jacobian_kernel(self.form, self.kinematic, self.apart)

    @cached_property
    def energy(self) -> Kernel:
        return energy_kernel(self.form)

    @cached_property
    def events(self) -> Kernel:
        return event_kernel(self.form)

    @cached_property
    def partials(self) -> Kernel:
        return partials_kernel(self.form)

    @cached_property
    def curved(self) -> bool:
        """Whether a residual or differentiated quantity is no linear combination of unknowns, inputs and the time."""
        kernel = self.residual
        still = {i for i, (key, _) in enumerate(kernel.gather) if key[0] in CONSTANT}
        still |= {kernel.program.first_uniform + i for i, name in enumerate(UNIFORMS) if name != "time"}
        return not is_affine(kernel.program, still)


@dataclass(frozen=True)
class FirstNumbers:
    """Where a batch's differentiated quantities, discretes, relations and delays (prescribed inputs) begin."""

    differentiated: int = 0
    discrete: int = 0
    relation: int = 0
    delay: int = 0

    def behind(self, batch: "Batch") -> "FirstNumbers":
        """Where those of the next batch begin."""
        begins = self.differentiated, self.discrete, self.relation, self.delay
        sizes = batch.n_differentiated, batch.n_discretes, batch.n_relations, len(batch.form.delayed)
        return FirstNumbers(*(at + size * batch.n for at, size in zip(begins, sizes)))


@dataclass(frozen=True)
class KnownUnknowns:
    """Unknowns of an instance that are known under other numbers: own unknown -> number, and own unknown -> (instance,
    input) that prescribes it."""

    unknowns: Mapping[int, int] = field(default_factory=dict)
    inputs: Mapping[int, tuple[int, str]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple:
        """What instances of one batch have in common."""
        return tuple(self.unknowns), tuple(self.inputs)


NOTHING_KNOWN = KnownUnknowns()


@dataclass(frozen=True, eq=False)
class Batch:
    """n elements of one form: unknowns, inputs and differentiated quantities of each, by the form's keys."""

    kernels: FormKernels
    labels: list[str]
    instances: tuple[Instance, ...]
    unknowns: dict[Key, Array]
    prescribed_inputs: dict[Key, Array]
    first: FirstNumbers = FirstNumbers()
    shapes: tuple[Shape, ...] = ()
    tables: dict[Key, Array] = field(default_factory=dict)
    constants: dict[Key, tuple[Array, int]] = field(default_factory=dict)
    dropped: frozenset[int] = frozenset()

    @property
    def form(self) -> Form:
        return self.kernels.form

    @property
    def n(self) -> int:
        return len(self.labels)

    @property
    def n_differentiated(self) -> int:
        return self.form.n_differentiated

    @property
    def n_discretes(self) -> int:
        return len(self.form.events.names)

    @property
    def n_relations(self) -> int:
        return len(self.form.events.relations)

    @property
    def jacobian(self) -> Kernel:
        return self.kernels.jacobian

    def differentiated(self, k: int) -> Array:
        return self.first.differentiated + k * self.n + np.arange(self.n)

    def discretes(self, i: int) -> Array:
        return self.first.discrete + i * self.n + np.arange(self.n)

    def relation_values(self, k: int) -> Array:
        return self.first.relation + k * self.n + np.arange(self.n)

    def row(self, key: Key) -> Array:
        """Rows of a key; -1 for ground and where the row is redundant and dropped."""
        rows = self.columns(key)
        return np.where(np.isin(rows, list(self.dropped)), GROUND, rows) if self.dropped else rows

    def columns(self, key: Key) -> Array:
        """Unknowns of a key; -1 where it is prescribed or ground."""
        found = self.unknowns.get(key)
        return np.full(self.n, GROUND) if found is None else found


_forms: dict[tuple[int, tuple, bool, tuple[str, ...]], tuple[Any, FormKernels]] = {}


def form_of(instance: Instance, exact: bool = False, signals: tuple[str, ...] = ()) -> FormKernels:
    """The form of an instance's type, built once per type, counts and kind of its inputs; `exact` and `signals` as for
    `build_form`."""
    if signals:
        rated = _rated_inputs(form_of(instance, exact).form, instance)
        signals = tuple(name for name in signals if name in rated)
    key = (id(instance.component.definition), instance.counts, exact, signals)
    if key not in _forms:
        form = known_form(instance.component, dict(instance.counts), exact, signals)
        terminals = list(instance.component.terminals)
        nodes = {k: k[0] == "node" and is_kinematic(instance.component.domain(terminals[k[1]])) for k in form.columns}
        kinematic = {**nodes, **{("own", k): True for k in form.coordinates}}
        _forms[key] = (instance.component.definition, FormKernels(form, kinematic))
    return _forms[key][1]


def _rated_inputs(form: Form, instance: Instance) -> set[str]:
    """The inputs whose rates a form reads."""
    rated = {key[1] for key, order in form.read if key[0] == "input" and order > 0}
    sizes = [
        (q.name, scalar_count(sizes_of(q.size, dict(instance.counts)))) for q in instance.component.definition.inputs
    ]
    owners = [name for name, count in sizes for _ in range(count)]
    return {owners[i] for i in rated}


def component_batch(
    network: Network,
    members: list[int],
    numbering: Numbering,
    hidden: Mapping,
    driven: Mapping,
    begins: FirstNumbers,
    kernels: FormKernels,
    known: list[KnownUnknowns],
) -> tuple[Batch, Numbering]:
    """The batch of instances of one form, with the numbering grown by what they own and is not `known` (one for each
    member, all of one shape).

    `hidden` gives the unknowns and `driven` the prescribed inputs (instance, name), `begins` where the
    batch's differentiated quantities, discretes and relations begin.
    """
    instances = tuple(network.instances[i] for i in members)
    n, component = len(members), instances[0].component
    nodes = np.array([i.nodes for i in instances], dtype=np.int64).reshape(n, -1)
    first = np.append(numbering.first, GROUND)[nodes]
    unknowns: dict[Key, Array] = {}
    prescribed: dict[Key, Array] = {}
    for key in (key for key in dict.fromkeys([*kernels.form.columns, *kernels.form.rows]) if key[0] == "node"):
        unknowns[key] = np.where(first[:, key[1]] == GROUND, GROUND, first[:, key[1]] + key[2])
    for k in range(len(kernels.form.own)):
        if k in known[0].unknowns:
            unknowns["own", k] = np.array([each.unknowns[k] for each in known])
        elif k in known[0].inputs:
            prescribed["own", k] = np.array([driven[each.inputs[k]] for each in known])
    fresh = [k for k in range(len(kernels.form.own)) if ("own", k) not in unknowns and ("own", k) not in prescribed]
    start, numbering = numbering.grown(len(fresh) * n)
    for position, k in enumerate(fresh):
        unknowns["own", k] = start + position * n + np.arange(n)
    at = 0
    for quantity in component.definition.inputs:
        for c in range(scalar_count(sizes_of(quantity.size, dict(instances[0].counts)))):
            key = ("input", at)
            at += 1
            if (members[0], quantity.name) in hidden:
                unknowns[key] = np.array([hidden[i, quantity.name] + c for i in members])
            else:
                prescribed[key] = np.array([driven[i, quantity.name] + c for i in members])
    for k, of in enumerate(kernels.form.delayed):
        prescribed["delayed", k], unknowns["resting", k] = begins.delay + k * n + np.arange(n), unknowns[of]
    batch = Batch(kernels, [i.name for i in instances], instances, unknowns, prescribed, begins)
    batch.constants.update(_constants(kernels.form, nodes, first, numbering))
    batch.constants.update({("discrete", i): (batch.discretes(i), 0) for i in range(batch.n_discretes)})
    batch.constants.update({("before", i): (batch.discretes(i), 0) for i in range(batch.n_discretes)})
    batch.constants.update({("relation_value", k): (batch.relation_values(k), 0) for k in range(batch.n_relations)})
    return batch, numbering


def _constants(form: Form, nodes: Array, first: Array, numbering: Numbering) -> dict[Key, tuple[Array, int]]:
    """Frames (with the chart's entry) and unknowns (for reference positions) behind the form's constant keys."""
    frames = np.append(numbering.frame, GROUND)[nodes]
    found: dict[Key, tuple[Array, int]] = {}
    for key in dict.fromkeys(key for key, _ in form.read):
        if key[0] == "chart":
            found[key] = (frames[:, key[1]], key[2])
        elif key[0] == "place":
            found[key] = (np.where(first[:, key[1]] == GROUND, GROUND, first[:, key[1]] + key[2]), 0)
    return found


def changing(batches: Sequence[Batch]) -> tuple[int, int]:
    """How many discretes and relations these have."""
    return sum(b.n_discretes * b.n for b in batches), sum(b.n_relations * b.n for b in batches)


def delays_of(batches: Sequence[Batch]) -> int:
    """How many delays these have."""
    return sum(len(b.form.delayed) * b.n for b in batches)


@cache
def _alone(name: str, factor: str = "") -> FormKernels:
    """A row of nothing but an unknown, times a parameter where one is named."""

    def make() -> Expressions:
        symbols = Symbols()
        unknown = symbols.at(("ref", 0), 0)
        return Expressions(symbols, (symbols.parameter(factor, 1)[0] * unknown if factor else unknown,))

    parameters = {factor: 1} if factor else {}
    form = Form(name, (("own", 0),), ((("ref", 0), 0),), parameters, 0, {}, facts_of(name, factor), make)
    return FormKernels(form, {("ref", 0): False, ("own", 0): False})


def pins(rows: Array, unknowns: Array) -> Batch:
    """Rows that hold unknowns at zero."""
    places = {("own", 0): np.asarray(rows), ("ref", 0): np.asarray(unknowns)}
    return Batch(_alone("held at zero"), [""] * len(rows), (), places, {})


@dataclass(frozen=True, eq=False)
class Indeterminacy(Batch):
    """Combinations of forces that are added to rows, coefficient*force each: they belong to a mode of what switches,
    and are zero in all others (netsim.initial.reactions.indeterminacy)."""

    coefficients: Array = field(default_factory=lambda: np.zeros((1, 0)))
    known: dict[bytes, Array] = field(default_factory=dict)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(row, unknown) of every coefficient."""
        return list(zip(self.unknowns["own", 0].tolist(), self.unknowns["ref", 0].tolist()))

    def use(self, mode: bytes) -> None:
        """The coefficients of a mode, in place."""
        self.coefficients[0] = self.known.get(mode, 0.0)


def indeterminacy_for(batches: Sequence[Batch], pairs: Collection[tuple[int, int]]) -> Indeterminacy:
    """Room for combinations of these unknowns in these rows beside what the elements have, all coefficients being
    zero."""
    present = indeterminacy_of(batches)
    rows, unknowns = np.array(sorted({*pairs, *(present.pairs if present else ())}), np.int64).reshape(-1, 2).T
    return Indeterminacy(
        _alone("shared load", "share"),
        [""] * len(rows),
        (),
        {("own", 0): rows, ("ref", 0): unknowns},
        {},
        coefficients=np.zeros((1, len(rows))),
    )


def indeterminacy_of(batches: Sequence[Batch]) -> Indeterminacy | None:
    """The combinations among the elements, if there are any."""
    return next((b for b in batches if isinstance(b, Indeterminacy)), None)
