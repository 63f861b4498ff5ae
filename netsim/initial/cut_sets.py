"""Cut sets whose flows no potential determines: their balances are summed before orders of differentiation are sought.

Between a current source and an inductor lies a resistor. The balances of its two ends, i(t) = (a - b)/R and (a - b)/R =
j, hold a and b by their difference only. Differentiated for a', b' and j' they contradict one another or say nothing
about a, which the signature method cannot see: it knows which variables are in an equation, not that they cancel. The
sum of both, i(t) = j, is what constrains j. So where nodes are joined by elements whose flows follow from potentials,
and no such element leads from them to ground, one of their balances becomes the sum of all (a cut set of inductors and
current sources in a circuit: C. Tischendorf, Topological index calculation of DAEs in circuit simulation, Surveys Math.
Ind. 8, 1999; the linear-combination method for any DAE: G. Tan, N. Nedialkov, J. Pryce, Conversion methods for
improving structural analysis of DAEs, BIT 57, 2017). Solutions are the same; a step's matrix does not know of it.
"""

from __future__ import annotations

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

    def cancel(self, rows: Array) -> bool:
        """Whether these rows' derivatives sum to zero."""
        values = self.values[rows]
        return bool(np.all(np.abs(values.sum(axis=0)) <= CANCELS * np.abs(values).max(axis=0)))


def summed_offsets(system: System, found: Signature, least: Array) -> tuple[Signature, Offsets]:
    """The signature of a run and its offsets, with sums over cut sets where they leave fewer degrees of freedom than
    the plain one, which then counts what cancels. Raises `StructurallySingular` without a transversal."""
    plain, summed = offsets(found, least), with_cut_sets(system, found)
    if summed is not found:
        try:
            better = offsets(summed, least)
        except StructurallySingular:  # elements say what is wrong there
            return found, plain
        if better.freedom < plain.freedom:
            return summed, better
    return found, plain


def with_cut_sets(system: System, found: Signature) -> Signature:
    """The signature with one balance of every such cut set replaced by the sum of all of its balances."""
    terms = list(_terms(system))
    label = _joined(system, terms)
    count = np.bincount(label)
    within = (count[label] > 1) & (label != label[-1])
    if not within.any():
        return found
    first = np.full(len(count), -1)
    first[label[::-1]] = np.arange(len(label))[::-1]
    parts = np.flatnonzero(within & (first[label] != np.arange(len(label))))
    equation = found.equation.copy()
    added: list[int] = []
    sources: list[int] = []
    for each in terms:
        inside = (each.equations >= 0) & within[each.equations] & (found.equation[each.triples] >= 0)
        for instance in np.flatnonzero(inside.any(axis=0) & (each.variable >= 0)):
            of = label[each.equations[:, instance]]
            for cut in np.unique(of[inside[:, instance]]):
                rows = np.flatnonzero(inside[:, instance] & (of == cut))
                triples, own = each.triples[rows, instance], each.equations[rows, instance] == first[cut]
                if each.cancel(rows):
                    equation[triples[own]] = -1
                else:
                    sources.extend(triples[~own])
                    added.extend([first[cut]] * int(np.sum(~own)))
    copied = np.array(sources, np.int64)
    return replace(
        found,
        equation=np.append(equation, np.array(added, np.int64)),
        variable=np.append(found.variable, found.variable[copied]),
        order=np.append(found.order, found.order[copied]),
        resting=np.append(found.resting, found.resting[copied]),
        source=np.append(np.arange(len(equation)), copied),
        sums=np.stack([first[label[parts]], parts]),
    )


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
        for (key, _), places in groups.items():
            yield Terms(
                first + np.array(places)[:, None] * batch.n + np.arange(batch.n),
                np.stack([equation_numbers(system, batch, scatter[place][1]) for place in places]),
                variables_of(system, batch, key),
                values[places],
                key[0] in ("node", "differentiated"),
            )
        first += len(scatter) * batch.n


def _anywhere(batch: Batch) -> Array:
    """Derivatives of an element type at two random points, with random parameters (outputs, points)."""
    program, draw = batch.kernels.partials.program, np.random.default_rng(0)
    inputs, uniforms, parameters = (
        draw.uniform(0.5, 1.5, shape) for shape in ((program.n_gather, 2), program.n_uniform, (program.n_parameters, 2))
    )
    return np.asarray(evaluate(program, inputs, uniforms, parameters))


def _joined(system: System, terms: list[Terms]) -> Array:
    """A label for every node's balance, and ground's at the end: the same where flows that follow from potentials, or
    are stored, join them. What does not flow from one into the other flows to ground."""
    ground = system.n
    pairs = [np.zeros((2, 0), np.int64)]
    for each in terms:
        if not each.joins:
            continue
        ends = np.where(each.equations >= 0, each.equations, ground)[:, each.variable >= 0]
        if not each.cancel(np.arange(len(ends))):
            ends = np.vstack([ends, np.full(ends.shape[1], ground)])
        pairs += [np.stack([ends[0], end]) for end in ends[1:]]
    a, b = np.hstack(pairs)
    return connected(ground + 1, a, b)
