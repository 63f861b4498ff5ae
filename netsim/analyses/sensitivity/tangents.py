"""Directional derivatives of programs: what a kernel's outputs change by, along changes of all that it reads.

The tangent of outputs = f(gather, uniform, parameters) is df = f_g dg + f_u du + f_p dp, by forward differentiation of
the instructions, exact to rounding. One vector [g | dg] of twice the size holds points and changes, so that a tangent
call is an ordinary call: it gathers what the kernel gathers, the uniforms it reads, and the changes of both.
"""

import casadi
import numpy as np

from netsim.equations.kernels.lowering import jacobian_product, lower, symbolic_outputs
from netsim.equations.kernels.program import Program
from netsim.equations.machine import Call

Array = np.ndarray

_known: dict[str, tuple[Program, tuple[int, ...]]] = {}


def tangent(program: Program) -> tuple[Program, tuple[int, ...]]:
    """The program of df, and which uniforms it gathers: gather = [g, u, dg, du], parameters = [p, dp]; made once."""
    if program.digest not in _known:
        _known[program.digest] = _tangent(program)
    return _known[program.digest]


def symbols_of(program: Program) -> tuple[list[casadi.SX], tuple[int, ...], list[int]]:
    """Symbols of all inputs of a program [gather, uniforms, parameters], which uniforms it reads, and the places of
    what it reads at a point [g, u]."""
    n, first = program.n_gather, program.first_parameter
    inputs = [casadi.SX.sym(f"x{i}") for i in range(program.first_constant)]
    read = {operand for step in program.instructions for operand in step.operands} | set(program.outputs)
    uniforms = tuple(i - n for i in range(n, first) if i in read)
    return inputs, uniforms, [*range(n), *(n + i for i in uniforms)]


def _tangent(program: Program) -> tuple[Program, tuple[int, ...]]:
    n, first, end = program.n_gather, program.first_parameter, program.first_constant
    inputs, uniforms, moving = symbols_of(program)
    changes = [casadi.SX.sym(f"dx{i}") for i in range(end)]
    change = jacobian_product(symbolic_outputs(program, inputs), inputs, changes)
    gather = [*(inputs[i] for i in moving), *(changes[i] for i in moving)]
    parameters = [*inputs[first:end], *changes[first:end]]
    unread = {inputs[i].__hash__() for i in range(n, first) if i not in moving}
    assert not any(s.__hash__() in unread for s in casadi.symvar(change))
    return lower(column(gather), casadi.SX(0, 1), column(parameters), change), uniforms


def column(symbols: list[casadi.SX]) -> casadi.SX:
    """Symbols one below another."""
    return casadi.vertcat(casadi.SX(0, 1), *symbols)


def tangent_call(call: Call, uniforms: Array, size: int, change: Array, shift: int = 0) -> Call:
    """The call of a tangent on [g | dg], g of `size`, along `change` of the call's parameters; outputs go to the same
    places, `shift` further on."""
    program, read = tangent(call.program)
    places = np.concatenate([call.gather.reshape(-1), np.repeat(uniforms[list(read)], call.n)]).astype(np.int32)
    gather = np.ascontiguousarray(np.concatenate([places, places + size]).astype(np.int32))
    parameters = np.ascontiguousarray(np.concatenate([np.ravel(call.parameters), np.ravel(change)]))
    return Call(program, call.n, gather, parameters, np.ascontiguousarray((call.scatter + shift).astype(np.int32)))


def changing(call: Call, uniforms: Array, change: Array, moving: Array) -> tuple[Call, Array]:
    """The instances of a call whose outputs can change, and the changes of their parameters: a parameter of theirs
    changes, or something that they read and that is `moving`."""
    _, read = tangent(call.program)
    gather, parameters, scatter = (np.reshape(a, (-1, call.n)) for a in (call.gather, change, call.scatter))
    kept = (parameters != 0.0).any(axis=0) | moving[gather].any(axis=0) | moving[uniforms[list(read)]].any()
    own = np.reshape(call.parameters, (-1, call.n))[:, kept]
    parts = (np.ascontiguousarray(each) for each in (gather[:, kept], own, scatter[:, kept]))
    return Call(call.program, int(kept.sum()), *parts), parameters[:, kept]
