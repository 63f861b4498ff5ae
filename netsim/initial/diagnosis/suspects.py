"""Which element is behind a failure that is numerical: one that gives no finite value, one whose values run away."""

from typing import Any

import numpy as np

from netsim.core.problem import PRESCRIBED_ORDERS, TIME
from netsim.equations.machine import Machine, run_calls
from netsim.equations.messages import node_of, owner_of
from netsim.equations.numbering import across_scalars
from netsim.library.component import is_kinematic
from netsim.network.network import Instance
from netsim.text.errors import Problem, SimulationError, Span
from netsim.text.show import show_expression

Array = np.ndarray
FEW = 3
"""Equations of an element that a message can show."""
RATES = ("", "the rate of ", "the second derivative of ", "the third derivative of ")


def not_finite(machine: Machine, g: Array) -> list[Instance]:
    """Elements whose own equations are not finite at what g holds, in the order of the text."""
    found: list[Instance] = []
    for batch, call in zip(machine.system.batches, machine.calls["residual"]):
        if not batch.instances or not len(call.scatter):
            continue
        out = np.zeros(len(call.scatter))
        apart = type(call)(call.program, call.n, call.gather, call.parameters, np.arange(len(out), dtype=np.int32))
        with np.errstate(all="ignore"):
            run_calls([apart], machine.system.layout.uniforms, g, out)
        broken = ~np.isfinite(out.reshape(-1, batch.n)).all(axis=0)
        found += [batch.instances[i] for i in np.flatnonzero(broken)]
    return sorted(found, key=lambda i: (i.span.line, i.span.column))


def expression_behind(machine: Machine, g: Array, broken: list[Instance]) -> tuple[str, Span | None]:
    """What has no finite value at what g holds, as it is written, and where: a function of time, or the equations of
    the first broken element if they are few.

    Empty where it cannot be told."""
    layout = machine.system.layout
    for prescribed in machine.system.prescribed_inputs if layout.nd else ():
        for order in range(PRESCRIBED_ORDERS if prescribed.stage else 0):
            values = g[layout.prescribed(prescribed.numbers, order)]
            for k in np.flatnonzero(~np.isfinite(values).all(axis=0)):
                instance, quantity = prescribed.owners[int(k)]
                binding = next((b for b in instance.text.bindings if b.name == quantity), None)
                written = show_expression(binding.value) if binding else quantity
                return f"{RATES[order]}{instance.name}.{quantity} = {written}", (binding or instance).span
    equations = broken[0].component.definition.equations if broken else ()
    shown = equations if len(equations) <= FEW else ()
    written = "; ".join(f"{show_expression(e.left)} = {show_expression(e.right)}" for e in shown)
    return written, broken[0].span if broken else None


def without_value(machine: Machine, g: Array) -> Problem | None:
    """The problem of a point at which equations have no finite value; None where all have one."""
    broken = not_finite(machine, g)
    expression, span = expression_behind(machine, g, broken)
    if not broken and not expression:
        return None
    who = f"'{broken[0].name}' gives" if broken else "an input has"
    message = f"{who} no finite value at t = {g[TIME]:g} s" + (f": {expression}" if expression else "")
    hint = "the cause is the root of a negative number, a division by zero or an overflow at the start: "
    hint += "another `start` or `guess` may keep the value defined"
    return Problem("E503", message, broken[0].span if broken else span, hint=hint)


def refuse_infinite(machine: Machine, g: Array, residual: Array, entries: Array) -> None:
    """Raise `SimulationError` (E503) where an element is the reason why a residual or an entry is not finite; only
    equations that are solved now count, since others may not be where they will be."""
    if np.isfinite(residual).all() and np.isfinite(entries).all():
        return
    if problem := without_value(machine, g):
        raise SimulationError(problem)


def without_derivative(matrix: Any) -> Array:
    """Unknowns with respect to which an equation has no finite derivative, as of sqrt(u) and 1/u at 0: Newton's method
    begins a nominal size beside them."""
    found = np.zeros(matrix.shape[1], bool)
    found[np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))[~np.isfinite(matrix.data)]] = True
    return found


def fastest(machine: Machine, state: Array) -> tuple[str, float, Array]:
    """The fastest quantity as far as rates are known: its name, the time in which it changes by its own size, its unit
    vector.

    `state` is [x | v | a | y | q | q' | ...]."""
    system, layout = machine.system, machine.system.layout
    nk, ny, nq = layout.nk, layout.ny, layout.nq
    x, v, a = state[:nk], state[nk : 2 * nk], state[2 * nk : 3 * nk]
    q, rate = state[3 * nk + ny : 3 * nk + ny + nq], state[3 * nk + ny + nq : 3 * nk + ny + 2 * nq]
    nominal = system.nominals[:nk]
    with np.errstate(over="ignore"):  # the rate of a differentiated quantity that is nothing
        charged = np.abs(rate) / np.maximum(np.abs(q), 1e-300)
    speeds = np.concatenate([np.abs(v) / (np.abs(x) + nominal), np.abs(a) / (np.abs(v) + nominal), charged])
    speeds[~np.isfinite(speeds)] = 0.0
    unit = np.zeros(system.n)
    if not len(speeds):
        return "", np.inf, unit
    k = int(np.argmax(speeds))
    if k >= 2 * nk:
        words = _describe_differentiated(machine, k - 2 * nk, unit)
    else:
        unit[k % nk] = 1.0
        words = _motion_words(machine, k % nk, k >= nk)
    return words, float(1.0 / max(speeds[k], 1e-300)), unit


def _describe_differentiated(machine: Machine, quantity: int, unit: Array) -> str:
    for batch in machine.system.batches:
        for k in range(batch.n_differentiated):
            at = np.flatnonzero(batch.differentiated(k) == quantity)
            if len(at) and batch.instances:
                instance = batch.instances[int(at[0])]
                for key, unknowns in batch.unknowns.items():
                    if key[0] in ("own", "node") and unknowns[int(at[0])] >= 0:
                        unit[unknowns[int(at[0])]] = 1.0
                        break
                return f"the differentiated quantity of '{instance.name}'"
    return ""


def _motion_words(machine: Machine, unknown: int, of_speed: bool) -> str:
    place = node_of(machine.system, unknown)
    if place is not None:
        node = machine.system.network.nodes[place[0]]
        quantity, _ = across_scalars(node.domain)[place[1]]
        turning = is_kinematic(node.domain) and quantity.unit == "rad/s"
        what = ("angular velocity" if of_speed else "angle") if turning else ("velocity" if of_speed else "position")
        return f"the {what} of '{node.name}'"
    owner = owner_of(machine.system, unknown)
    return f"'{owner[0].name}.{owner[1]}'" if owner else ""
