"""Whether a network is passive at a point, element by element: then no motion grows there, whatever its eigenvalues.

Equation i belongs to unknown i: the balance of a node to its across, an element's own equation to its own unknown. By
rates s x of what has positions, and with each own equation times a factor of its own (and s), every element adds
A/s + B + s C to the network's matrix. Where A and C are symmetric, and A, C and B + B^T positive semidefinite, a motion
x e^(s t) has x* (A/s + B + s C) x = 0, summed over all elements. Its real part is
Re s (x* A x/|s|^2 + x* C x) + x* (B + B^T) x/2. For Re s > 0 every term is zero, so that (B - B^T) x = 0 at any s: the
equations are singular. (The matrix is positive real: O. Brune, Journal of Mathematics and Physics 10, 1931.)

The elements' own derivatives are looked at, not their sums, whose rounding could hide a negative resistance.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from netsim.analyses.signals.linearised import derivatives
from netsim.equations.machine import Machine
from netsim.structure.orders import all_equation_numbers

Array = np.ndarray
ROUNDED = 1e-14
"""Below this share of its terms, or of the diagonal, a derivative of one element is rounding."""
POWERS = 5
"""s^-1 to s^3 are more than an element has."""


@dataclass(frozen=True, eq=False)
class Elements:
    """Elements of one kind: the numbers of their unknowns (k, n), negative where there is none, which of these have an
    equation, and which one of their own (k,); the matrices (powers, n, k, k), those of s^-1 first."""

    numbers: Array
    equations: Array
    own: Array
    matrices: Array


def passive(machine: Machine, g: Array) -> bool:
    """Whether every element is seen to be passive at the point in g; where one is not, a motion may grow or not."""
    met, kinds = np.zeros((2, machine.system.n + machine.system.layout.nq), np.int64), list[Elements]()
    for each in _kinds(machine, g):
        if each is None:
            return False
        kinds.append(each)
        for count, there in zip(met, (each.numbers >= 0, each.equations)):
            np.add.at(count, each.numbers[there], 1)
    with np.errstate(all="ignore"):
        return all(any(_is_passive(each, order, *met) for order in (1, -1)) for each in kinds)


def _kinds(machine: Machine, g: Array) -> Iterator[Elements | None]:
    """The elements; None where the equation of an unknown is not its own."""
    system, nk = machine.system, machine.system.layout.nk
    entries: dict[int, list] = {}
    for batch, *entry in derivatives(machine, g):
        entries.setdefault(id(batch), [batch]).append(entry)
    for batch, *found in entries.values():
        rows = [*batch.form.rows, *(("differentiated", k) for k in range(batch.n_differentiated))]
        columns = {key: column for _, key, column, _, _ in found if key not in batch.prescribed_inputs}
        keys, equations = list(dict.fromkeys([*rows, *columns])), all_equation_numbers(system, batch)
        numbers = np.array([columns.get(key, equations[min(i, len(rows) - 1)]) for i, key in enumerate(keys)])
        there = np.zeros(numbers.shape, bool)
        there[: len(rows)] = equations >= 0
        if np.any(equations[there[: len(rows)]] != numbers[: len(rows)][there[: len(rows)]]):
            yield None
            return
        at, moving = {key: i for i, key in enumerate(keys)}, (numbers >= 0) & (numbers < nk)
        matrices = np.zeros((POWERS, batch.n, len(keys), len(keys)))
        for row, key, _, order, values in found:
            if key in at:
                column, some = at[key], there[row] & (numbers[at[key]] >= 0)
                power = np.where(moving[column], order, order + 1)
                matrices[power[some], some.nonzero()[0], row, column] += values[some]
        own = np.array([key[0] in ("own", "differentiated") for key in keys]) & ~moving.any(axis=1)
        yield Elements(numbers, there, own, matrices)


def _is_passive(each: Elements, order: int, met: Array, met_equations: Array) -> bool:
    """Whether elements are, their own unknowns being eliminated in this order: that of their equations, or (-1) what is
    differentiated first."""
    matrices = _without_own(each, order, met)
    if matrices is None or not _balanced(matrices, each, met, met_equations) or not np.all(np.isfinite(matrices)):
        return False
    held, resisting, stored, *others = matrices
    if np.any(others) or any(np.any(np.abs(x - x.swapaxes(1, 2)) > ROUNDED * np.abs(x)) for x in (held, stored)):
        return False
    return all(map(_semidefinite, (held, resisting, stored)))


def _without_own(each: Elements, order: int, met: Array) -> Array | None:
    """The matrices without unknowns that no other element meets and that an equation without s gives; None where powers
    are left that no element has."""
    matrices = each.matrices.copy()
    for k, number in list(enumerate(each.numbers))[::order]:
        alone = (number >= 0) & (met[number] == 1) & (matrices[1, :, k, k] != 0.0)
        alone &= ~matrices[[0, *range(2, POWERS)], :, k, k].any(axis=0)
        if not alone.any():
            continue
        pivot = np.where(alone, matrices[1, :, k, k], 1.0)
        row, column = matrices[:, :, k].copy(), matrices[..., k] * (alone / pivot)[:, None]
        column[:, :, k] = 0.0
        for p in np.flatnonzero(column.any(axis=(1, 2))):
            for q in np.flatnonzero(row.any(axis=(1, 2))):
                if not 0 <= p + q - 1 < POWERS:
                    return None
                matrices[p + q - 1] -= column[p][:, :, None] * row[q][:, None]
        matrices[:, alone, k], matrices[:, alone, :, k] = 0.0, 0.0
    return matrices


def _balanced(matrices: Array, each: Elements, met: Array, met_equations: Array) -> bool:
    """With the elements' own equations times what makes them the negative of what their unknowns add to balances (in
    place); False where an unknown adds nothing there, or another element adds to the equation."""
    for k in np.flatnonzero(each.own):
        row, column, number = matrices[:, :, k], matrices[..., k], each.numbers[k]
        if np.all(met_equations[number] == 1) and _only(row * ~each.own, 0) and not row[-1].any():
            row[:] = np.roll(row, 1, axis=0)  # a constraint of positions: its rate
        if (
            np.all(met[number] == 1) and _only(column * ~each.own, 2) and not column[0].any()
        ):  # by its rate instead of a charge
            column[:] = np.roll(column, -1, axis=0)
        row, column = row[1] * ~each.own, column[1] * ~each.own
        there = row.any(axis=1)
        factor = -np.sum(row * column, axis=1) / np.where(there, np.sum(row**2, axis=1), 1.0)
        if np.any(there & ((factor == 0.0) | ~np.isfinite(factor) | (met_equations[number] > 1))):
            return False
        matrices[:, :, k] *= np.where(there, factor, 1.0)[:, None]
    return True


def _only(powers: Array, k: int) -> bool:
    """Whether all is in power k, and anything is."""
    return bool(powers[k].any() and not np.delete(powers, k, axis=0).any())


def _semidefinite(part: Array) -> bool:
    """Whether M + M^T has no negative eigenvalue, for every M (n, k, k), beside its diagonal."""
    total, terms = part + part.swapaxes(1, 2), np.abs(part) + np.abs(part.swapaxes(1, 2))
    total = np.where(np.abs(total) > ROUNDED * terms, total, 0.0)
    size = np.einsum("nii->ni", total)
    if np.any(size < 0.0) or np.any(total[(size == 0.0)[:, :, None] & (total != 0.0)]):
        return False
    size = np.sqrt(np.where(size > 0.0, size, 1.0))
    lowest = np.linalg.eigvalsh(total / size[:, :, None] / size[:, None])
    return bool(np.all(lowest >= -ROUNDED * part.shape[1]))
