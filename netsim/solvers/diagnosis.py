"""Numerical failure in the user's words: worst rows and unknowns by name, time, step, what was tried."""

from __future__ import annotations

import numpy as np

from netsim.errors import Problem
from netsim.network import GROUND
from netsim.solvers.linear import SingularMatrix
from netsim.solvers.machine import Machine
from netsim.solvers.newton import MAX_ITERATIONS, NOT_FINITE, OUTSIDE_TABLE, SINGULAR

Array = np.ndarray
NAMED = 4


def explain_singular(machine: Machine, singular: SingularMatrix, t: float) -> Problem:
    """Which unknowns a singular matrix leaves undetermined, and which rows contradict or repeat one another."""
    unknowns = worst(machine, np.abs(singular.null_column))
    rows = worst(machine, np.abs(singular.null_row))
    sentences = author_sentences(machine, np.abs(singular.null_column))
    message = f"the equations are singular at t = {t:g} s: {', '.join(unknowns)} {'is' if len(unknowns) == 1 else 'are'} not determined"
    hint = f"the balances of {', '.join(rows)} depend on one another" + ("; " + "; ".join(sentences) if sentences else "")
    return Problem("E502", message, _span(machine, singular.null_column), hint=hint)


def worst(machine: Machine, sizes: Array) -> list[str]:
    """Names of the largest entries of a vector over the unknowns."""
    sizes = np.asarray(sizes)
    order = np.argsort(-sizes)[:NAMED]
    return [machine.system.names[i] for i in order if sizes[i] > 0.1 * sizes[order[0]]]


def author_sentences(machine: Machine, sizes: Array) -> list[str]:
    """What the authors of the components involved say of a singular network."""
    involved = set(np.flatnonzero(np.asarray(sizes) > 0.1 * np.max(sizes, initial=0.0)))
    found = []
    for batch in machine.system.batches:
        sentence = batch.instances[0].component.definition.singular if batch.instances else ""
        if sentence and any(involved & set(u[u != GROUND]) for u in batch.unknowns.values()):
            found.append(sentence)
    return found


def _span(machine: Machine, null: Array):
    """The line of the node or instance behind the largest entry."""
    largest = int(np.argmax(np.abs(null)))
    for node, first in zip(machine.system.network.nodes, machine.system.numbering.first):
        if first == largest:
            return node.span
    for batch in machine.system.batches:
        for key, unknowns in batch.unknowns.items():
            if key[0] == "own" and largest in unknowns and batch.instances:
                return batch.instances[int(np.flatnonzero(unknowns == largest)[0])].span
    return None


def explain_failure(machine: Machine, status: int, before: float, t: float, g: Array, out: Array, u: Array, history: Array) -> Problem:
    """Why the step from `before` to t failed."""
    if status == OUTSIDE_TABLE:
        return Problem("E504", f"a table does not reach t = {t:g} s", hint="say outside = hold or outside = linear in table(...), or stop earlier")
    n = machine.system.n
    residuals = np.abs(out[:n])
    rows = worst(machine, np.where(np.isfinite(residuals), residuals, np.inf))
    step = t - before
    if status == SINGULAR:
        return Problem(
            "E502", f"the equations become singular at t = {t:g} s (step {step:g} s); worst balances: {', '.join(rows)}", hint="tried: new pivots"
        )
    if status == NOT_FINITE:
        bad = [machine.system.names[i] for i in np.flatnonzero(~np.isfinite(residuals))[:NAMED]]
        return Problem(
            "E503",
            f"a value is not finite at t = {t:g} s (step {step:g} s), at {', '.join(bad or rows)}",
            hint="tried: damped Newton steps; a smaller step may help",
        )
    message = f"Newton does not converge at t = {t:g} s (step {step:g} s); worst balances: {', '.join(rows)}"
    return Problem("E505", message, hint=f"tried: {MAX_ITERATIONS} damped iterations with new matrices; a smaller step may help")
