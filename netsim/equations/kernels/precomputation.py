"""What of a program depends on its parameters alone, computed once for a run.

A diode's saturation current at its temperature, a body's tensor of inertia: values between the parameters and what
changes in a run. `split_precomputation` cuts a program at their last ones; they come from NumPy, and the machine code
reads them as parameters behind the others. The code of a junction diode then takes a third of its time.
"""

from dataclasses import replace

import numpy as np

from netsim.equations.kernels.program import Instruction, Program
from netsim.equations.kernels.reference import evaluate

Array = np.ndarray

CHEAP = {"add", "sub", "mul", "neg", "fabs", "select", "fmin", "fmax"}
"""Where the parameters meet in nothing but these, reading a value costs what computing it does."""

_known: dict[str, tuple[Program | None, Program]] = {}


class ChangingParameters(np.ndarray):
    """Parameters that change while a run goes on (netsim.simulate.stepped): nothing is computed of them beforehand."""


def split_precomputation(program: Program) -> tuple[Program | None, Program]:
    """(before, rest): `before` computes further parameters from the parameters, `rest` is the program that reads them;
    (None, program) where nothing is worth it."""
    if program.digest not in _known:
        _known[program.digest] = _separate(program)
    return _known[program.digest]


def with_constants(program: Program, n: int, parameters: Array) -> tuple[Program, Array]:
    """The program that computes per step, and its parameters (n_parameters*n): those given, and what follows from
    them."""
    before, rest = split_precomputation(program)
    if before is None or isinstance(parameters, ChangingParameters):
        return program, parameters
    given = np.reshape(parameters, (program.n_parameters, n))
    found = evaluate(before, np.zeros((0, n)), np.zeros(0), given)
    return rest, np.ascontiguousarray(np.concatenate([given, found])).ravel()


def _separate(program: Program) -> tuple[Program | None, Program]:
    first, settled = program.first_result, set(range(program.first_parameter, program.first_result))
    if not program.n_parameters:
        return None, program
    worth = False
    for i, step in enumerate(program.instructions, start=first):
        if settled.issuperset(step.operands):
            settled.add(i)
            worth = worth or step.op not in CHEAP
    if not worth:
        return None, program
    left = [i for i in range(first, first + len(program.instructions)) if i not in settled]
    read = {operand for i in left for operand in program.instructions[i - first].operands} | set(program.outputs)
    further = sorted(i for i in read if i >= first and i in settled)
    return _before(program, settled, further), _rest(program, left, further)


def _before(program: Program, settled: set[int], further: list[int]) -> Program:
    """Nothing is gathered, and no uniform read: parameters and constants move to the front."""
    shift, first = program.first_parameter, program.first_result
    kept = [i for i in range(first, first + len(program.instructions)) if i in settled]
    number = {i: i - shift for i in range(shift, first)} | {i: first - shift + k for k, i in enumerate(kept)}
    steps = tuple(_renumbered(program.instructions[i - first], number) for i in kept)
    return replace(program, n_gather=0, n_uniform=0, instructions=steps, outputs=tuple(number[i] for i in further))


def _rest(program: Program, left: list[int], further: list[int]) -> Program:
    more, constant, first = len(further), program.first_constant, program.first_result
    number = {i: i if i < constant else i + more for i in range(first)} | {
        i: constant + k for k, i in enumerate(further)
    }
    number |= {i: first + more + k for k, i in enumerate(left)}
    steps = tuple(_renumbered(program.instructions[i - first], number) for i in left)
    outputs = tuple(number[i] for i in program.outputs)
    return replace(program, n_parameters=program.n_parameters + more, instructions=steps, outputs=outputs)


def _renumbered(step: Instruction, number: dict[int, int]) -> Instruction:
    return Instruction(step.op, tuple(number[i] for i in step.operands))
