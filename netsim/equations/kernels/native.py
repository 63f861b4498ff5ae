"""Programs as machine code: Program -> LLVM IR (text) -> object code -> function address.

A kernel is a loop over the n instances of one component type:

    void kernel(int64 n, const int32 *gather, const int32 *uniform, const double *parameters, const int32 *scatter,
    const double *g, double *out)

    for k in 0 .. n-1:   out[scatter[m*n + k]] += o_m(g[gather[i*n + k]], g[uniform[l]], parameters[j*n + k])

`g` and `out` must not overlap. No fast-math, no contraction to fused multiply-add: results are those of the same
operations in NumPy up to the last bits of the elementary functions. Object code is kept in the user's cache
(netsim.equations.kernels.objects), one file per program.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import struct
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from netsim.equations.kernels.objects import load_object, object_key, store_object
from netsim.equations.kernels.program import TRUTH_OPERATIONS, Instruction, Program

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
_INTRODUCED_BY_LLVM = {"sincos", "exp2", "exp10", "ldexp", "fmin", "fmax", "floor", "ceil"}
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


def compile(programs: Mapping[str, Program]) -> NativeKernels:
    """Machine code for several programs, from the object cache where it is there.

    Raises ValueError where a program holds an operation that has no machine code, RuntimeError when LLVM refuses (a
    defect of this module).
    """
    _prepare()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_machine())
    compiled: list[str] = []
    loaded: set[str] = set()
    for name, program in programs.items():
        if program.digest in loaded:
            continue
        key = object_key(program)
        code = load_object(key)
        if code is None:
            code = object_code(program)
            store_object(key, code)
            compiled.append(name)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        loaded.add(program.digest)
    engine.finalize_object()
    addresses = {name: engine.get_function_address(symbol(program)) for name, program in programs.items()}
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


def symbol(program: Program) -> str:
    """The name of the program's function in object code."""
    return f"kernel_{program.digest[:40]}"


def object_code(program: Program) -> bytes:
    """The program compiled for this machine (an object file), without looking at the cache."""
    module = llvm.parse_assembly(module_text(program))
    machine = _shared_machine()
    tuning = llvm.create_pipeline_tuning_options(speed_level=PASSES_LEVEL)
    tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_unrolling = (
        False  # gathers and shared outputs gain nothing from them
    )
    passes = llvm.create_pass_builder(machine, tuning)
    passes.getModulePassManager().run(module, passes)
    return machine.emit_object(module)


def module_text(program: Program) -> str:
    """The program's LLVM IR."""
    truths = _truth_values(program)
    lines = list(_declarations({step.op for step in program.instructions}))
    lines += [f"define void @{symbol(program)}({_SIGNATURE}) nounwind {{", "entry:"]
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
    names = _Names(program, truths)
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
    """How values are written in IR: `%v7` a double, `%t7` the same truth value as an i1, constants by their bits."""

    program: Program
    truths: frozenset[int]

    def number(self, i: int) -> str:
        position = i - self.program.first_constant
        if 0 <= position < len(self.program.constants):
            return _literal(self.program.constants[position])
        return f"%v{i}"


def _truth_values(program: Program) -> frozenset[int]:
    return frozenset(
        program.first_result + p for p, step in enumerate(program.instructions) if step.op in TRUTH_OPERATIONS
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
    """The IR of value i; truth values exist twice, as %t (i1) and as %v (0.0 or 1.0): LLVM drops the one nobody
    reads."""
    x = names.number(step.operands[0])
    y = names.number(step.operands[-1])
    op = step.op
    if op in TRUTH_OPERATIONS:
        return [*_truth(i, step, names), f"%v{i} = uitofp i1 %t{i} to double"]
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


def _truth(i: int, step: Instruction, names: _Names) -> list[str]:
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
    """Value i as an i1: itself where it is a truth value, else `value != 0`."""
    if i in names.truths:
        return [], f"%t{i}"
    return [f"%t{new} = fcmp une double {names.number(i)}, 0.0"], f"%t{new}"


@cache
def _prepare() -> None:
    """Initialise LLVM once and make sure that machine code finds the C library's functions, however Python was
    linked."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    missing = [name for name in sorted(_FUNCTIONS | _INTRODUCED_BY_LLVM) if llvm.address_of_symbol(name) is None]
    if missing:
        library = _c_maths()
        for name in missing:
            function: Any = getattr(library, name, None)
            if function is not None:
                llvm.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)


def _c_maths() -> ctypes.CDLL:
    return ctypes.CDLL(
        "ucrtbase" if sys.platform == "win32" else ctypes.util.find_library("m") or ctypes.util.find_library("c")
    )


@cache
def _shared_machine() -> Any:
    """The target machine that compiles; engines own theirs, so each gets a new one."""
    return _new_machine()


def _new_machine() -> Any:
    target = llvm.Target.from_default_triple()
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(
        cpu=cpu, features=features, opt=CODE_LEVEL, reloc="default", codemodel="jitdefault", jit=True
    )
