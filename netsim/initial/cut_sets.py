"""Cut sets whose flows no potential determines: their balances are summed before orders of differentiation are sought.

Between a current source and an inductor lies a resistor. The balances of its two ends, i(t) = (a - b)/R and (a - b)/R =
j, hold a and b by their difference only. Differentiated for a', b' and j' they contradict one another or say nothing
about a, which the signature method cannot see: it knows which variables are in an equation, not that they cancel. The
sum of both, i(t) = j, is what constrains j. So where nodes are joined by elements whose flows follow from potentials or
are stored, and no such element leads from them to ground, one of their balances becomes the sum of all. The same holds
for nodes joined by what stores alone: of a resistor's node and one behind a capacitor, which nothing else reaches, the
sum is Ohm's law and has no rate of a charge (a cut set of inductors and current sources in a circuit: C. Tischendorf,
Topological index calculation of DAEs in circuit simulation, Surveys Math. Ind. 8, 1999; the linear-combination method
for any DAE: G. Tan, N. Nedialkov, J. Pryce, Conversion methods for improving structural analysis of DAEs, BIT 57,
2017). Solutions are the same; a step's matrix does not know of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from netsim.core.linear.graphs import connected
from netsim.equations.batches import Batch
from netsim.equations.kernels.reference import evaluate
from netsim.equations.system import System
from netsim.structure.orders import (
    Offsets,
    Signature,
    StructurallySingular,
    equation_numbers,
    offsets,
    variables_of,
)

Array = np.ndarray
CANCELS = 1e-9
"""Derivatives of an element's balances whose sum is below this share of the largest cancel."""


@dataclass(frozen=True, eq=False)
class Terms:
    """The derivatives of an element type's balances for one variable: their triples (rows, instances), equations, the
    variable of each instance, values at two random points (rows, points); whether the flows follow from a potential or
    are the rate of what is stored."""

    triples: Array
    equations: Array
    variable: Array
    values: Array
    joins: bool
    stores: bool

    def cancel(self, rows: Array) -> bool:
        """Whether these rows' derivatives sum to zero. They are known not to where one overflows."""
        values = self.values[rows]
        return bool(np.isfinite(values).all()) and bool(
            np.all(np.abs(values.sum(axis=0)) <= CANCELS * np.abs(values).max(axis=0))
        )


def summed_offsets(system: System, found: Signature, least: Array) -> tuple[Signature, Offsets]:
    """The signature and its offsets in a run, with sums over cut sets unless they leave more degrees of freedom than
    the plain one, which may count what cancels. Raises `StructurallySingular` without a transversal."""
    terms, best = list(_terms(system)), (found, offsets(found.moving, least))
    joined = _islands(system, [each for each in terms if each.joins])
    stored = _islands(system, [each for each in terms if each.stores])
    several = [[stored], [joined], [_beside(stored, joined), joined]]
    for islands in [[joined]] if np.array_equal(stored, joined) else several:
        if not all(each.any() for each in islands):
            continue
        summed = with_cut_sets(found, terms, islands)
        try:
            better = offsets(summed.moving, least)
        except StructurallySingular:  # elements say what is wrong there
            continue
        if better.freedom <= best[1].freedom:
            best = summed, better
    return best


def _beside(stored: Array, joined: Array) -> Array:
    """The islands of what is stored, without those at a balance of which a `joined` island around them has its sum."""
    places = _places(joined, stored > 0)[1:]
    return np.where(np.isin(stored, stored[places]), 0, stored)


def with_cut_sets(found: Signature, terms: list[Terms], islands: list[Array]) -> Signature:
    """The signature with one balance of every island (labels of balances from 1, 0 for none) replaced by the sum of all
    of its balances. An island that contains others has its sum at a balance of none of them."""
    equation, taken = found.equation.copy(), np.zeros(len(islands[0]), bool)
    added, sources, sums = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros((2, 0), np.int64)]
    for label in islands:
        first = _places(label, taken)
        taken |= label > 0
        parts = np.flatnonzero((label > 0) & (first[label] != np.arange(len(label))))
        sums.append(np.stack([first[label[parts]], parts]))
        for each in terms:
            of = np.where(each.equations >= 0, label[each.equations], 0)
            of[(found.equation[each.triples] < 0) | (each.variable < 0)] = 0
            for instance in np.flatnonzero(of.any(axis=0)):
                for island in np.unique(of[of[:, instance] > 0, instance]):
                    rows = np.flatnonzero(of[:, instance] == island)
                    triples, own = each.triples[rows, instance], each.equations[rows, instance] == first[island]
                    if each.cancel(rows):
                        equation[triples[own]] = -1
                    else:
                        sources.append(triples[~own])
                        added.append(np.full(np.sum(~own), first[island]))
    copied = np.concatenate(sources)
    return replace(
        found,
        equation=np.append(equation, np.concatenate(added)),
        variable=np.append(found.variable, found.variable[copied]),
        order=np.append(found.order, found.order[copied]),
        resting=np.append(found.resting, found.resting[copied]),
        source=np.append(np.arange(len(equation)), copied),
        sums=np.hstack(sums),
    )


def _places(label: Array, taken: Array) -> Array:
    """The balance of every island that becomes its sum: the first that is not taken, or else the first."""
    places = np.full(label.max(initial=0) + 1, -1)
    for balances in (np.arange(len(label)), np.flatnonzero(~taken)):
        places[label[balances[::-1]]] = balances[::-1]
    return places


def _terms(system: System) -> Iterator[Terms]:
    """The terms of all element types, in the order of the signature's triples."""
    first = 0
    for batch in system.batches:
        scatter = batch.kernels.partials.scatter
        groups: dict[tuple, list[int]] = {}
        for place, (_, row, key, order) in enumerate(scatter):
            if row < len(batch.form.rows) and batch.form.rows[row][0] == "node" and key[0] != "resting":
                groups.setdefault((key, order), []).append(place)
        values = _anywhere(batch) if groups else np.zeros((0, 2))
        for (key, order), places in groups.items():
            yield Terms(
                first + np.array(places)[:, None] * batch.n + np.arange(batch.n),
                np.stack([equation_numbers(system, batch, scatter[place][1]) for place in places]),
                variables_of(system, batch, key),
                values[places],
                key[0] in ("node", "differentiated"),
                key[0] == "differentiated" or order == 2,
            )
        first += len(scatter) * batch.n


def _anywhere(batch: Batch) -> Array:
    """Derivatives of an element type at two random points, with random parameters (outputs, points)."""
    program, draw = batch.kernels.partials.program, np.random.default_rng(0)
    inputs, uniforms, parameters = (
        draw.uniform(0.5, 1.5, shape) for shape in ((program.n_gather, 2), program.n_uniform, (program.n_parameters, 2))
    )
    return np.asarray(evaluate(program, inputs, uniforms, parameters))


def _islands(system: System, terms: list[Terms]) -> Array:
    """A label for every balance, from 1: the same where these terms join nodes, 0 where they join none, or lead from
    them to ground. What does not flow from one node into the other flows to ground."""
    ground = system.n
    pairs = [np.zeros((2, 0), np.int64)]
    for each in terms:
        ends = np.where(each.equations >= 0, each.equations, ground)[:, each.variable >= 0]
        if not each.cancel(np.arange(len(ends))):
            ends = np.vstack([ends, np.full(ends.shape[1], ground)])
        pairs += [np.stack([ends[0], end]) for end in ends[1:]]
    a, b = np.hstack(pairs)
    label = connected(ground + 1, a, b)
    apart = (np.bincount(label)[label] > 1) & (label != label[-1])
    return np.unique(np.append(0, np.where(apart, label + 1, 0)[:-1]), return_inverse=True)[1][1:]
