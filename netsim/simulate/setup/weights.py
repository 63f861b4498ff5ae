"""How often each variable depends on differentiated constraints: what an error test must know of the index.

From the offsets (c, d) of the signature method: the highest derivative of variable j depends on constraints
differentiated

    E_j = max over the equation i matched to j of  c_i  and  E_j' + l + c_i - d_j'  over every z_j'^(l) in it

times; its l-th derivative, l <= d_j, on max(0, E_j + l - d_j). 0 is what an ODE or an index-1 equation determines. The
velocities of constrained masses have 1 and their multipliers 2: an implicit step finds them only with errors 1/h and
1/h^2 times those of positions, so tests weigh them with h and h^2 (Hairer, Wanner, Solving Ordinary Differential
Equations II, sec. VII.7) or leave them out. A value that follows accelerations at once (the force of a prescribed one)
has 1 at least: an implicit step's estimate sees it through the second difference of positions.
A charge of nothing (a junction without capacitance) has no rate that could be wrong: E = 0, whatever c is.
"""

from collections.abc import Sequence

import numpy as np

from netsim.equations.machine import Call, Machine
from netsim.equations.system import System
from netsim.initial.consistent.derivatives import partial_values
from netsim.initial.cut_sets import CANCELS
from netsim.initial.initial import Structure
from netsim.results.selection import Reader
from netsim.structure.orders import blocks, offsets

Array = np.ndarray


def exponents(system: System, structure: Structure) -> Array:
    """Powers of h for positions, velocities and values, one after the other (2 nk + ny); positions that belong to
    states have 0."""
    o, s = structure.dynamic, structure.signature
    highest = np.zeros(s.size + 1, np.int64)
    matched = o.match >= 0
    highest[o.match[matched]] = o.c[matched]
    alone = np.bincount(s.equation[s.kept], minlength=s.size + 1)[: s.size] == 1
    alone[: system.n] = False
    highest[o.match[matched & alone]] = 0
    kept = s.matched(o.match)
    target, source = o.match[s.equation[kept]], s.variable[kept]
    shift = s.order[kept] + o.c[s.equation[kept]] - o.d[source]
    for _ in range(s.size):
        updated = highest.copy()
        np.maximum.at(updated, target, highest[source] + shift)
        if np.array_equal(updated, highest):
            break
        highest = updated
    layout = system.layout
    lowest = highest[: layout.n] - o.d[: layout.n]
    nk = layout.nk
    found = np.maximum(0, np.concatenate([lowest[:nk], lowest[:nk] + 1, lowest[nk:]]))
    if found[:nk].any():
        found[:nk][_with_states(structure)[:nk]] = 0
    found[2 * nk :] = np.maximum(found[2 * nk :], _of_accelerations(structure, nk, layout.n))
    return found


def curved(machine: Machine) -> bool:
    """Whether an equation is anything but a sum of constant multiples, so that what a step does not look at may be
    anything."""
    return machine.element is not None or any(b.kernels.curved for b in machine.system.batches)


def differs(machine: Machine, structure: Structure, formula: bool) -> bool:
    """Whether recovered samples are other points than the method's own: where something moves, where no step's error
    tells how values bend, and where steps are the `formula` alone."""
    moving, memoryless = machine.system.layout.nk > 0 or structure.index > 1, structure.dynamic.freedom == 0
    return moving or memoryless or formula


def recovers_samples(
    machine: Machine, structure: Structure, formula: bool, exponent: Array, watched: Array, rates: bool
) -> bool:
    """Whether they do so in what somebody looks at: values (`watched`, by unknown), or `rates` of differentiated
    quantities.

    Where nothing moves a step ends in every equation, and those that are differentiated say what currents of sources
    beside capacitors are, which no state depends on: where nobody reads these, the method's own point is as good."""
    nk = machine.system.layout.nk
    if nk or rates or formula or structure.index != 2 or structure.dynamic.freedom == 0:
        return differs(machine, structure, formula)
    return bool((exponent[2 * nk :][watched] > 0).any())


def watched_values(machine: Machine, reader: Reader, conditions: Sequence[Call]) -> Array:
    """The values (by unknown) that somebody looks at: samples, conditions, delays."""
    layout, buffer = machine.system.layout, machine.problem.buffer
    looked = [call.gather for call in conditions]
    places = np.concatenate(
        [reader.reads(layout.y, layout.history), *looked, layout.y + buffer.place[buffer.place >= 0]]
    ).astype(np.int64)
    return np.unique(places[(places >= layout.y) & (places < layout.y + layout.ny)]) - layout.y + layout.nk


def untested_differences(
    machine: Machine, structure: Structure, exponent: Array, g: Array
) -> tuple[Array, Array, Array]:
    """What differentiated quantities are made of that no tested value knows of: rows of value numbers and their
    weights, at most 1 (first entries, numbers, weights).

    The potentials of a network that hangs from an inductor follow the rate of its current, all together, and no test
    weighs them. Their differences are states: the charge between them errs by C (e_a - e_b). What does not stay where
    all values move alike is none of these (the momentum of a link's constrained rates)."""
    s, nk, n = structure.signature, machine.system.layout.nk, machine.system.layout.n
    untested = np.append(exponent[2 * nk :] > 0, False)
    of = np.flatnonzero(s.kept & (s.order == 0) & (s.equation >= n) & (s.variable >= nk) & (s.variable < n))
    tested = np.zeros(s.size, bool)
    tested[s.equation[of[~untested[s.variable[of] - nk]]]] = True
    of = of[~tested[s.equation[of]]]
    if not len(of):
        return np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0)
    states = np.zeros(s.size, bool)
    states[s.equation[of[_with_states(structure)[s.variable[of]]]]] = True
    of = of[states[s.equation[of]]]
    weight = s.of(partial_values(machine, g))[of]
    largest = np.zeros(s.size)
    np.maximum.at(largest, s.equation[of], np.abs(weight))
    common = np.abs(np.bincount(s.equation[of], weight, s.size)) > CANCELS * largest
    of, weight = of[counted := (weight != 0.0) & ~common[s.equation[of]]], weight[counted]
    order = np.argsort(s.equation[of], kind="stable")
    _, counts = np.unique(s.equation[of], return_counts=True)
    return np.append(0, np.cumsum(counts)), s.variable[of][order] - nk, (weight / largest[s.equation[of]])[order]


def _of_accelerations(structure: Structure, nk: int, n: int) -> Array:
    """Which values (of nk .. n) follow accelerations at once, directly or through other values."""
    o, s = structure.dynamic, structure.signature
    kept = s.matched(o.match)
    target, source, order = o.match[s.equation[kept]], s.variable[kept], s.order[kept]
    follows = np.zeros(s.size + 1, bool)
    follows[target[(source < nk) & (order == 2)]] = True
    follows[:nk] = follows[n:] = False
    between = (target >= nk) & (target < n) & (source >= nk) & (source < n)
    while not follows[reached := target[between & follows[source]]].all():
        follows[reached] = True
    return follows[nk:n]


def _with_states(structure: Structure) -> Array:
    """Which variables belong to a block that has states of its own: to equations that must be solved together and leave
    sum d - sum c > 0 free. What relaxes (behind a damper whose end is prescribed) is a state, although it follows
    derivatives of constraints."""
    s = structure.signature
    o = offsets(s, np.zeros(s.size, np.int64), match=structure.dynamic.match)
    block = blocks(s, o, s.matched(structure.dynamic.match))
    free = np.bincount(block, weights=o.d, minlength=s.size)
    matched = np.flatnonzero(o.match >= 0)
    free -= np.bincount(block[o.match[matched]], weights=o.c[matched], minlength=len(free))
    return free[block] > 0
