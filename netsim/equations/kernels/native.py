"""Programs as machine code: Program -> LLVM IR (text) -> object code -> function address.

A kernel is a loop over the n instances of one component type:

    void kernel(int64 n, const int32 *gather, const int32 *uniform, const double *parameters, const int32 *scatter,
    const double *g, double *out)

    for k in 0 .. n-1:   out[scatter[m*n + k]] += o_m(g[gather[i*n + k]], g[uniform[l]], parameters[j*n + k])

`g` and `out` must not overlap. No fast-math, no contraction to fused multiply-add: results are those of the same
operations in NumPy up to the last bits of the elementary functions. Object code lies in the package or in the user's
cache (netsim.core.compiled.store), one file per program and instruction set. The package has that of the processor that
built it: another one makes its own, which takes llvmlite some milliseconds a program and no numba.
"""

import ctypes
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from netsim.core.compiled import store
from netsim.core.compiled.digests import digest_of_parts, text_of
from netsim.core.compiled.linking import level_of_host, load_objects, target_description, target_machine
from netsim.equations.kernels.program import BOOLEAN_OPERATIONS, Instruction, Program

# Passes at level 2; the code generator at level 1 gives equally fast code (0.26 us per instance at 1 000 operations)
# for 40 ms less.
PASSES_LEVEL = 2
CODE_LEVEL = 1

_INSTRUCTIONS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_INTRINSICS = {
    "sqrt": "sqrt",
    "floor": "floor",
    "ceil": "ceil",
    "fabs": "fabs",
    "copysign": "copysign",
    "fmin": "minnum",
    "fmax": "maxnum",
}
_FUNCTIONS = {
    "exp",
    "log",
    "log1p",
    "expm1",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "erf",
}
_FUNCTIONS |= {"pow", "fmod", "remainder", "atan2", "hypot"}
_COMPARISONS = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
_SIGNATURE = (
    "i64 %n, ptr noalias readonly %gather, ptr noalias readonly %uniform, ptr noalias readonly %parameters, "
    "ptr noalias readonly %scatter"
)
_SIGNATURE += ", ptr noalias readonly %g, ptr noalias %out"
_PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 6)


@dataclass(frozen=True)
class NativeKernels:
    """Compiled kernels: name -> function address. The code lives as long as this object does.

    `compiled` names the programs that LLVM had to compile; the others came from the object cache.
    """

    addresses: Mapping[str, int]
    compiled: tuple[str, ...]
    _engine: Any = field(repr=False, compare=False)


@dataclass(frozen=True)
class Generator:
    """What writes code for programs: `kind` begins the names of functions and files, `text` gives the LLVM IR of a
    program, the files `sources` are what that depends on."""

    kind: str
    text: Callable[[Program], str]
    sources: tuple[str, ...]


SINGLE = Generator("kernel", lambda program: module_text(program), (__file__,))
"""One instance after the other."""


def compile(programs: Mapping[str, Program], by: Generator = SINGLE) -> NativeKernels:
    """Machine code for several programs, from files where it is there.

    Raises ValueError where a program holds an operation that has no machine code, RuntimeError when LLVM refuses (a
    defect of this module).
    """
    compiled: list[str] = []
    codes: dict[str, bytes] = {}
    for name, program in programs.items():
        if program.digest not in codes:
            file = file_of(program, level_of_host(), by)
            found = store.read_code(file)
            codes[program.digest] = found[1] if found else object_code(program, by, level_of_host())
            if not found:
                store.write_code(file, {}, codes[program.digest])
                compiled.append(name)
    engine = load_objects(codes.values())
    addresses = {name: engine.get_function_address(symbol(program, by.kind)) for name, program in programs.items()}
    return NativeKernels(addresses, tuple(compiled), engine)


def run_native(
    kernels: NativeKernels,
    name: str,
    n: int,
    gather: Any,
    uniform: Any,
    parameters: Any,
    scatter: Any,
    g: Any,
    out: Any,
) -> None:
    """One kernel called from Python with the arguments of `reference.run_reference`; arrays contiguous, int32 or
    float64 as stated there."""
    wanted = (np.int32, np.int32, np.float64, np.int32, np.float64, np.float64)
    arrays = (gather, uniform, parameters, scatter, g, out)
    for array, kind in zip(arrays, wanted, strict=True):
        if array.dtype != kind or not array.flags.c_contiguous:
            raise TypeError(f"kernel arguments are contiguous arrays of {kind.__name__}, got {array.dtype}")
    _PROTOTYPE(kernels.addresses[name])(n, *(array.ctypes.data for array in arrays))


def symbol(program: Program, kind: str) -> str:
    """The name of the program's function in object code."""
    return f"{kind}_{program.digest[:40]}"


def file_of(program: Program, level: str, by: Generator = SINGLE) -> str:
    """The name of the file with the program's code for an instruction set: all that the code is made of."""
    return f"{by.kind}-{digest_of_parts(program.digest.encode(), _environment(level, by.sources)).hex()[:40]}"


@cache
def _environment(level: str, sources: tuple[str, ...]) -> bytes:
    """What the code depends on besides the program; a changed generator does not find old code."""
    return digest_of_parts(*(text_of(Path(source)) for source in sources), target_description(level).encode())


def object_code(program: Program, by: Generator, level: str) -> bytes:
    """The program compiled for an instruction set (an object file), without looking at files."""
    machine = target_machine(level, CODE_LEVEL, "default")
    module = llvm.parse_assembly(by.text(program))
    tuning = llvm.create_pipeline_tuning_options(speed_level=PASSES_LEVEL)
    tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = (
        False  # gathers and shared outputs gain nothing from them
    )
    passes = llvm.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)


def module_text(program: Program) -> str:
    """The program's LLVM IR."""
    booleans = _boolean_values(program)
    lines = list(_declarations({step.op for step in program.instructions}))
    lines += [f"define void @{symbol(program, SINGLE.kind)}({_SIGNATURE}) nounwind {{", "entry:"]
    wanted = _wanted_inputs(program)
    for i in range(program.first_uniform, program.first_parameter):
        if i in wanted:
            lines += _load_indexed(i, "uniform", str(i - program.first_uniform))
    lines += [
        "%any = icmp sgt i64 %n, 0",
        "br i1 %any, label %loop, label %end",
        "loop:",
        "%k = phi i64 [0, %entry], [%next, %loop]",
    ]
    lines += _load_instance(program, wanted)
    names = _Names(program, booleans)
    for position, step in enumerate(program.instructions):
        lines += _operation(program.first_result + position, step, names)
    lines += _stores(program, names)
    lines += [
        "%next = add nuw nsw i64 %k, 1",
        "%more = icmp slt i64 %next, %n",
        "br i1 %more, label %loop, label %end",
        "end:",
        "ret void",
        "}",
    ]
    return "\n".join(lines)


@dataclass(frozen=True)
class _Names:
    """How values are written in IR: `%v7` a double, `%t7` the same boolean as an i1, constants by their bits."""

    program: Program
    booleans: frozenset[int]

    def number(self, i: int) -> str:
        position = i - self.program.first_constant
        if 0 <= position < len(self.program.constants):
            return _literal(self.program.constants[position])
        return f"%v{i}"


def _boolean_values(program: Program) -> frozenset[int]:
    return frozenset(
        program.first_result + p for p, step in enumerate(program.instructions) if step.op in BOOLEAN_OPERATIONS
    )


def _wanted_inputs(program: Program) -> set[int]:
    return {i for step in program.instructions for i in step.operands} | set(program.outputs)


def _literal(value: float) -> str:
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _declarations(used: set[str]) -> Iterator[str]:
    for op in sorted(used):
        arguments = (
            "double, double"
            if op in {"pow", "fmod", "remainder", "atan2", "hypot", "copysign", "fmin", "fmax"}
            else "double"
        )
        if op in _INTRINSICS:
            yield f"declare double @llvm.{_INTRINSICS[op]}.f64({arguments})"
        elif op in _FUNCTIONS:
            yield f"declare double @{op}({arguments}) nounwind willreturn memory(none)"


def _load_indexed(i: int, table: str, place: str) -> list[str]:
    """Value i = g[table[place]]."""
    return [
        f"%p{i} = getelementptr inbounds i32, ptr %{table}, i64 {place}",
        f"%i{i} = load i32, ptr %p{i}, align 4",
        f"%x{i} = sext i32 %i{i} to i64",
        f"%q{i} = getelementptr inbounds double, ptr %g, i64 %x{i}",
        f"%v{i} = load double, ptr %q{i}, align 8",
    ]


def _load_instance(program: Program, wanted: set[int]) -> list[str]:
    lines: list[str] = []
    for i in range(program.n_gather):
        if i in wanted:
            lines += [
                f"%r{i} = mul nsw i64 %n, {i}",
                f"%o{i} = add nsw i64 %r{i}, %k",
                *_load_indexed(i, "gather", f"%o{i}"),
            ]
    for i in range(program.first_parameter, program.first_constant):
        if i in wanted:
            lines += [f"%r{i} = mul nsw i64 %n, {i - program.first_parameter}", f"%o{i} = add nsw i64 %r{i}, %k"]
            lines += [
                f"%q{i} = getelementptr inbounds double, ptr %parameters, i64 %o{i}",
                f"%v{i} = load double, ptr %q{i}, align 8",
            ]
    return lines


def _stores(program: Program, names: _Names) -> list[str]:
    """out[scatter[m*n + k]] += output m, one after the other: several may meet in one place. Outputs that are the
    constant 0 are left out."""
    lines: list[str] = []
    zero = _literal(0.0)
    for m, value in enumerate(program.outputs):
        if names.number(value) == zero:
            continue
        lines += [
            f"%sr{m} = mul nsw i64 %n, {m}",
            f"%so{m} = add nsw i64 %sr{m}, %k",
            f"%sp{m} = getelementptr inbounds i32, ptr %scatter, i64 %so{m}",
            f"%si{m} = load i32, ptr %sp{m}, align 4",
            f"%sx{m} = sext i32 %si{m} to i64",
            f"%sq{m} = getelementptr inbounds double, ptr %out, i64 %sx{m}",
            f"%sa{m} = load double, ptr %sq{m}, align 8",
            f"%ss{m} = fadd double %sa{m}, {names.number(value)}",
            f"store double %ss{m}, ptr %sq{m}, align 8",
        ]
    return lines


def _operation(i: int, step: Instruction, names: _Names) -> list[str]:
    """The IR of value i; booleans exist twice, as %t (i1) and as %v (0.0 or 1.0): LLVM drops the one nobody
    reads."""
    x = names.number(step.operands[0])
    y = names.number(step.operands[-1])
    op = step.op
    if op in BOOLEAN_OPERATIONS:
        return [*_boolean(i, step, names), f"%v{i} = uitofp i1 %t{i} to double"]
    if op in _INSTRUCTIONS:
        return [f"%v{i} = {_INSTRUCTIONS[op]} double {x}, {y}"]
    if op == "neg":
        return [f"%v{i} = fneg double {x}"]
    if op == "select":
        lines, condition = _condition(step.operands[0], f"{i}c", names)
        return [*lines, f"%v{i} = select i1 {condition}, double {y}, double {_literal(0.0)}"]
    if op == "sign":  # 1, -1, and x itself where it is 0 or NaN
        lines = [f"%a{i} = fcmp ogt double {x}, 0.0", f"%b{i} = select i1 %a{i}, double 1.0, double {x}"]
        return [*lines, f"%c{i} = fcmp olt double {x}, 0.0", f"%v{i} = select i1 %c{i}, double -1.0, double %b{i}"]
    if op in _INTRINSICS or op in _FUNCTIONS:
        function = f"llvm.{_INTRINSICS[op]}.f64" if op in _INTRINSICS else op
        return [
            f"%v{i} = call double "
            f"@{function}({', '.join(f'double {names.number(operand)}' for operand in step.operands)})"
        ]
    raise ValueError(f"no machine code for the operation '{op}'")


def _boolean(i: int, step: Instruction, names: _Names) -> list[str]:
    if step.op in _COMPARISONS:
        return [
            f"%t{i} = fcmp {_COMPARISONS[step.op]} double {names.number(step.operands[0])}, "
            f"{names.number(step.operands[1])}"
        ]
    before, x = _condition(step.operands[0], f"{i}a", names)
    if step.op == "not":
        # of a number: x == 0, which is false for NaN as it is in C
        return [
            f"%t{i} = xor i1 {x}, true"
            if not before
            else f"%t{i} = fcmp oeq double {names.number(step.operands[0])}, 0.0"
        ]
    after, y = _condition(step.operands[1], f"{i}b", names)
    return [*before, *after, f"%t{i} = {step.op} i1 {x}, {y}"]


def _condition(i: int, new: str, names: _Names) -> tuple[list[str], str]:
    """Value i as an i1: itself where it is a boolean, else `value != 0`."""
    if i in names.booleans:
        return [], f"%t{i}"
    return [f"%t{new} = fcmp une double {names.number(i)}, 0.0"], f"%t{new}"
