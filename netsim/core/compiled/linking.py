"""LLVM modules -> object code -> addresses, by llvmlite alone.

Code is made for an instruction set of `LEVELS`, not for the processor at hand, so that it serves every processor that
has the set.
"""

import ctypes
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any

import llvmlite.binding as llvm

EFFORT = 2
"""LLVM's level of code generation."""
LEVELS = {"x86-64-v3": "avx2 bmi bmi2 f16c fma lzcnt movbe", "x86-64": ""}
"""Instruction sets, and what a processor must have for them: every PC since 2015, and any. Other families of processors
have the level "host"."""
SYMBOLS = (
    "sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 expm1 log log2 log10 log1p pow sqrt "
    "cbrt hypot fmod ceil floor trunc round rint nearbyint fma fmin fmax copysign ldexp frexp erf erfc tgamma lgamma "
    "sincos exp10 remainder memcpy memmove memset memcmp malloc free calloc realloc abort"
)
"""Functions of the C library that code may call: LLVM ends the process where it misses one."""
_engines: list[Any] = []


@cache
def level_of_host() -> str:
    """The most modern level that this processor has."""
    if not llvm.get_default_triple().startswith("x86_64"):
        return "host"
    features = llvm.get_host_cpu_features()
    return next(level for level, needed in LEVELS.items() if all(features.get(each, False) for each in needed.split()))


@cache
def target_description(level: str) -> str:
    """What code of a level depends on, beside the code itself. The version of LLVM that made it is of no account: all
    load it."""
    return f"{llvm.get_default_triple()} {' '.join(_processor(level))} {EFFORT}"


def optimise(module: Any, *public: str) -> None:
    """Optimise a module in which these functions are public: each function once, those that are called before their
    callers. Loops stay as they are written: with vector instructions ours are no faster."""
    _hide(module, *public)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = False
    builder = llvm.create_pass_builder(target_machine(level_of_host()), options)
    passes = builder.getModulePassManager()
    passes.add_refprune_pass()
    passes.run(module, builder)


def object_code(module: Any, public: str, level: str) -> bytes:
    """The object code of a module in which one function is public."""
    machine, module = target_machine(level), module.clone()
    _hide(module, public)
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=1)))
    return machine.emit_object(module)


def _hide(module: Any, *public: str) -> None:
    """Keep all but these functions to the module itself."""
    for each in [*module.functions, *module.global_variables]:
        if not each.is_declaration and each.name not in public:
            each.linkage = "private"


def external_functions(module: Any) -> set[str]:
    """The functions that a module calls and that neither it, the C library, nor Python has: numba's own."""
    outside = {each.name for each in module.functions if each.is_declaration} - {*SYMBOLS.split()}
    return {name for name in outside if not name.startswith(("llvm.", "Py"))}


def link(code: bytes, symbol: str) -> int:
    """The address of an object's function, loaded by an engine of its own: an engine takes no second object once the
    first is in use."""
    engine = load_objects([code])
    _engines.append(engine)  # the code lives as long as its engine
    return int(engine.get_function_address(symbol))


def load_objects(codes: Iterable[bytes]) -> Any:
    """An engine with these objects, ready to give the addresses of their functions."""
    _start()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _new_machine(level_of_host()))
    for code in codes:
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


@cache
def _start() -> None:
    """Initialise LLVM, and let machine code find the C library's functions however Python was linked."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    for name in SYMBOLS.split():
        if llvm.address_of_symbol(name) is None and (found := getattr(_library(), name, None)) is not None:
            llvm.add_symbol(name, ctypes.cast(found, ctypes.c_void_p).value)


@cache
def _library() -> Any:
    from ctypes.util import find_library

    return ctypes.CDLL("ucrtbase" if sys.platform == "win32" else find_library("m") or find_library("c"))


@cache
def target_machine(level: str, effort: int = EFFORT, reloc: str = "pic") -> Any:
    """The target machine that makes code of a level; engines own theirs, so each gets a new one. An engine loads
    several objects only where they are not position-independent: constants of the second are not found else."""
    _start()
    return _new_machine(level, effort, reloc)


def _new_machine(level: str, effort: int = EFFORT, reloc: str = "pic") -> Any:
    cpu, features = _processor(level)
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=effort, reloc=reloc, codemodel="jitdefault", jit=True
    )


def _processor(level: str) -> tuple[str, str]:
    return (llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()) if level == "host" else (level, "")
