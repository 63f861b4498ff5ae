"""A kernel's arithmetic as a flat list of instructions: what every target (NumPy, LLVM) reads.

A program computes `outputs = f(gather, uniform, parameters)` for one instance. Its values carry consecutive numbers
(single assignment): first the gathered inputs, then the uniforms, the parameters, the constants, and then one value per
instruction.
"""

import hashlib
import struct
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

COMPARISONS = {"lt", "le", "eq", "ne"}
LOGIC = {"not", "and", "or"}
BOOLEAN_OPERATIONS = COMPARISONS | LOGIC
"""Operations whose result is a boolean: exactly 0.0 or 1.0."""

UNARY = {"neg", "sqrt", "fabs", "sign", "floor", "ceil", "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan"}
UNARY |= {"sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "log1p", "expm1", "not"}
BINARY = {"add", "sub", "mul", "div", "pow", "fmod", "remainder", "copysign", "fmin", "fmax", "atan2", "hypot"}
BINARY |= {"lt", "le", "eq", "ne", "and", "or", "select"}
"""`select(c, x)` is x where c is not 0, else 0.0 -- also where x is infinite or undefined."""

_HASH_FORMAT = b"netsim program 1"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One operation (a name in UNARY or BINARY) on the numbered values `operands`."""

    op: str
    operands: tuple[int, ...]


@dataclass(frozen=True)
class Program:
    """outputs = f(gather, uniform, parameters), flattened.

    Value i is: gathered input i, uniform i - n_gather, parameter i - n_gather - n_uniform, then constants, then the
    result of an instruction. `outputs[m]` is the number of the value that output m shows (it may be an input or a
    constant).
    """

    n_gather: int
    n_uniform: int
    n_parameters: int
    constants: tuple[float, ...]
    instructions: tuple[Instruction, ...]
    outputs: tuple[int, ...]

    @cached_property
    def operations(self) -> frozenset[str]:
        """What its instructions do."""
        return frozenset(step.op for step in self.instructions)

    @property
    def n_outputs(self) -> int:
        return len(self.outputs)

    @property
    def first_uniform(self) -> int:
        return self.n_gather

    @property
    def first_parameter(self) -> int:
        return self.n_gather + self.n_uniform

    @property
    def first_constant(self) -> int:
        return self.first_parameter + self.n_parameters

    @property
    def first_result(self) -> int:
        """The number of the first instruction's value."""
        return self.first_constant + len(self.constants)

    @cached_property
    def digest(self) -> str:
        """sha256 (hex) of a canonical byte string: equal programs, and only they, share it, on every machine and in
        every process."""
        sizes = (
            self.n_gather,
            self.n_uniform,
            self.n_parameters,
            len(self.constants),
            len(self.instructions),
            self.n_outputs,
        )
        text = ";".join(f"{step.op} {' '.join(map(str, step.operands))}" for step in self.instructions)
        parts = [_HASH_FORMAT, struct.pack("<6q", *sizes), struct.pack(f"<{len(self.constants)}d", *self.constants)]
        parts += [text.encode(), struct.pack(f"<{self.n_outputs}q", *self.outputs)]
        return hashlib.sha256(b"\0".join(parts)).hexdigest()


def packed(program: Program) -> tuple[Any, ...]:
    """A program as numbers and texts: its sizes, constants, operations, operands one after the other, outputs."""
    steps = program.instructions
    return (
        (program.n_gather, program.n_uniform, program.n_parameters),
        program.constants,
        " ".join(step.op for step in steps),
        [operand for step in steps for operand in step.operands],
        program.outputs,
    )


def unpacked(data: Sequence[Any]) -> Program:
    """The program that `packed` took apart."""
    sizes, constants, operations, operands, outputs = data
    following = iter(operands)
    steps = tuple(
        Instruction(op, (next(following),) if op in UNARY else (next(following), next(following)))
        for op in operations.split()
    )
    gathered, uniforms, parameters = sizes
    return Program(gathered, uniforms, parameters, tuple(constants), steps, tuple(outputs))


def restricted(program: Program, outputs: Sequence[int]) -> Program:
    """The same program with these of its outputs alone, and without what only the others needed; what it reads stays in
    its places. Made once for the same outputs."""
    kept = vars(program).setdefault("restricted", {})
    wanted = tuple(outputs)
    if wanted not in kept:
        kept[wanted] = _restricted(program, wanted)
    return kept[wanted]


def _restricted(program: Program, outputs: Sequence[int]) -> Program:
    results, first = [program.outputs[m] for m in outputs], program.first_result
    needed = set(results)
    for position in reversed(range(len(program.instructions))):
        if first + position in needed:
            needed.update(program.instructions[position].operands)
    kept = [position for position in range(len(program.instructions)) if first + position in needed]
    number = {i: i for i in range(first)} | {first + position: first + i for i, position in enumerate(kept)}
    steps = (program.instructions[position] for position in kept)
    return replace(
        program,
        instructions=tuple(Instruction(step.op, tuple(number[i] for i in step.operands)) for step in steps),
        outputs=tuple(number[i] for i in results),
    )


CONSTANT, AFFINE, CURVED = range(3)
"""How a value depends on inputs that move."""


def is_affine(program: Program, still: Collection[int]) -> bool:
    """Whether every output is a constant plus constant multiples of inputs that move.

    `still` are the numbers of inputs that do not move; parameters never do."""
    kinds = [CONSTANT if i in still or i >= program.first_parameter else AFFINE for i in range(program.first_result)]
    for step in program.instructions:
        of = [kinds[i] for i in step.operands]
        match step.op:
            case "add" | "sub" | "neg":
                straight = True
            case "mul":
                straight = CONSTANT in of
            case "select":
                straight = of[0] == CONSTANT
            case "div":
                straight = of[1] == CONSTANT
            case _:
                straight = max(of) == CONSTANT
        kinds.append(max(of) if straight else CURVED)
    return all(kinds[i] < CURVED for i in program.outputs)
