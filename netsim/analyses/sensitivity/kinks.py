"""Kinks inside the steps of a run: where an operand of max, min, abs or a comparison of the equations passes another
one without an event (a rope that tightens, a valve that saturates).

A run bears them, but the matrices of the variational equations jump there: in a step across a kink changes would have
an error of first order in the step. So for them such a step is two, of which the first ends just before the kink. What
lies between the nodes of the run is on the cubic polynomials through them, which are those of the method for all
states; so is the difference of the operands, whose root is the kink.
"""

from collections.abc import Iterator

import numpy as np

from netsim.core.radau.arrays import C
from netsim.equations.kernels.program import Program
from netsim.equations.kernels.reference import intermediates
from netsim.equations.machine import Machine
from netsim.equations.parameters import parameters_of
from netsim.initial.consistent.derivatives import derivative_of

Array = np.ndarray
NODES = np.append(0.0, C)
TO_CUBIC = np.linalg.inv(np.vander(NODES))
"""From values at the nodes to the coefficients of a polynomial, the highest power first."""
PAIRS, ALONE = frozenset({"fmin", "fmax", "lt", "le"}), frozenset({"fabs", "sign"})
"""Operations that decide by the difference of their operands, or by the sign of their only one."""
AHEAD = 1e-8
"""Share of a step by which a part of it ends before a kink, whose other side the last node of the part must not see."""
RESTS = 1e-9
"""Differences below this share of the largest over the run are those of operands that stay alike."""
REAL = 1e-6
"""Imaginary parts of roots that are rounding."""
AT_ONCE = 4_000_000
"""So many numbers are looked at together."""


def split_at_kinks(machine: Machine, nodes: Array) -> Array:
    """All unknowns at the nodes of the steps of a run (steps, 4, 1 + size); steps across kinks are in parts."""
    cuts = dict[int, list[float]]()
    for differences in _differences(machine, nodes[:, :, 1:].reshape(-1, nodes.shape[2] - 1)):
        for step, share in _passed(differences.reshape(len(differences), -1, len(NODES))):
            if share - AHEAD > AHEAD:
                cuts.setdefault(step, []).append(share - AHEAD)
    if not cuts:
        return nodes
    parts, first = list[Array](), 0
    for step in sorted(cuts):
        parts += [nodes[first:step], _parts(nodes[step], np.unique(cuts[step]))]
        first = step + 1
    return np.concatenate([*parts, nodes[first:]])


def _parts(step: Array, cuts: Array) -> Array:
    """A step (4, 1 + size) in parts between its begin, shares of it, and its end."""
    ends = np.concatenate([[0.0], cuts[np.diff(cuts, prepend=0.0) > AHEAD], [1.0]])
    at = ends[:-1, None] + np.diff(ends)[:, None] * NODES
    found = np.vander(at.ravel(), len(NODES)) @ (TO_CUBIC @ step)
    found = np.where((step == step[0]).all(axis=0), step[0], found).reshape(len(at), *step.shape)
    found[0, 0], found[-1, -1] = step[0], step[-1]
    found[1:, 0] = found[:-1, -1]
    return found


def _differences(machine: Machine, rows: Array) -> Iterator[Array]:
    """What decides in the equations of every batch, (decisions of all instances, rows)."""
    system = machine.system
    for batch in system.batches:
        program = derivative_of(batch, 0).program
        if program.operations & (PAIRS | ALONE):
            places, uniforms = system.gather(batch, derivative_of(batch, 0)), system.layout.uniforms
            parameters = parameters_of(batch, machine.values)
            most = max(1, AT_ONCE // (batch.n * len(program.instructions)))
            pieces = [
                _decisions(program, rows[first : first + most], places, uniforms, parameters)
                for first in range(0, len(rows), most)
            ]
            yield np.concatenate(pieces, axis=1)


def _decisions(program: Program, rows: Array, places: Array, uniforms: Array, parameters: Array) -> Array:
    gathered, common = [rows[:, each].T for each in places], [rows[None, :, each] for each in uniforms]
    values = intermediates(program, gathered, common, [each[:, None] for each in parameters])
    shape, found = (places.shape[1], len(rows)), list[Array]()
    with np.errstate(all="ignore"):
        for step in program.instructions:
            if step.op in PAIRS or step.op in ALONE:
                first, *other = (values[i] for i in step.operands)
                found.append(np.broadcast_to(first - other[0] if step.op in PAIRS else first, shape))
    return np.concatenate(found)


def _passed(differences: Array) -> Iterator[tuple[int, float]]:
    """Steps, and shares of them, at which differences (any, steps, 4) pass zero."""
    finite = np.isfinite(differences).all(axis=2)
    size = np.abs(differences).max(axis=2, initial=0.0, where=finite[:, :, None])
    positive = differences > 0.0
    other = finite & positive.any(axis=2) & ~positive.all(axis=2)
    moving = size > RESTS * size.max(axis=1, initial=0.0)[:, None]
    for which, step in np.argwhere(other & moving):
        roots = np.roots(TO_CUBIC @ differences[which, step])
        real = (np.abs(roots.imag) < REAL) & (roots.real > 0.0) & (roots.real <= 1.0)
        yield from ((int(step), float(share)) for share in roots.real[real])
