"""Gradients of programs: what a weighted sum of a kernel's outputs changes by with all that it reads.

Of outputs = f(gather, uniform, parameters) with weights w it is w f_g, w f_u, w f_p: the derivatives in forward mode
(so that no branch that is not taken leaks into them), transposed. One vector [g | w] holds points and weights, so that
a gradient call is an ordinary call; it adds to [places of g | parameters].
"""

import casadi
import numpy as np

from netsim.analyses.sensitivity.tangents import column, symbols_of
from netsim.equations.kernels.lowering import forward_jacobian, lower, symbolic_outputs
from netsim.equations.kernels.program import Program
from netsim.equations.machine import Call

Array = np.ndarray

_known: dict[str, tuple[Program, tuple[int, ...]]] = {}


def gradient(program: Program) -> tuple[Program, tuple[int, ...]]:
    """The program of w f', and which uniforms it reads: gather = [g, u, w], outputs = [g, u, p]; made once."""
    if program.digest not in _known:
        _known[program.digest] = _gradient(program)
    return _known[program.digest]


def _gradient(program: Program) -> tuple[Program, tuple[int, ...]]:
    first, end = program.first_parameter, program.first_constant
    inputs, uniforms, moving = symbols_of(program)
    weights = [casadi.SX.sym(f"w{i}") for i in range(program.n_outputs)]
    jacobian = forward_jacobian(symbolic_outputs(program, inputs), column(inputs))
    found = casadi.densify(casadi.mtimes(jacobian.T, column(weights)))
    outputs = column([found[i] for i in (*moving, *range(first, end))])
    gather = column([*(inputs[i] for i in moving), *weights])
    return lower(gather, casadi.SX(0, 1), column(inputs[first:end]), outputs), uniforms


def gradient_call(call: Call, uniforms: Array, size: int, slots: Array) -> Call:
    """The call of a gradient on [g | weights], g of `size`, where weights stand at the places that the call writes; it
    adds to places of g, and behind these (from `size` on) to `slots` of its parameters."""
    program, read = gradient(call.program)
    places = np.concatenate([call.gather.reshape(-1), np.repeat(uniforms[list(read)], call.n)])
    gather = np.concatenate([places, size + call.scatter.reshape(-1)])
    scatter = np.concatenate([places, size + np.ravel(slots)])
    gathered, scattered = (np.ascontiguousarray(each.astype(np.int32)) for each in (gather, scatter))
    return Call(program, call.n, gathered, np.ascontiguousarray(np.ravel(call.parameters)), scattered)
