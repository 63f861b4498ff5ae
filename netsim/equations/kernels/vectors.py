"""Kernels that compute several instances of a type at once, in vectors: the code of
`netsim.equations.kernels.native` with vectors in the place of numbers.

    for k in 0, LANES .. n-1:   o_m of the instances first .. first + LANES - 1,  first = min(k, n - LANES)
                                out[scatter[m*n + j]] += o_m,j  for j = k .. first + LANES - 1

The last group overlaps the one before, so that nothing is read beyond the arrays; n is LANES at least. Sums are taken
in the order of single instances: results differ from theirs by the last bits of elementary functions alone.
"""

from netsim.equations.kernels import native, vector_functions
from netsim.equations.kernels.program import BOOLEAN_OPERATIONS, Instruction, Program
from netsim.equations.kernels.vector_functions import FUNCTIONS, LANES, NUMBERS, PLACES, TRUTHS, function_text, splat

KIND = "vectors"
MANY, LONG = 16, 3
"""Instances from which on arithmetic alone is worth vectors, and how much more of it there is than what is read and
added."""


def is_vectorised(program: Program, n: int) -> bool:
    """Whether vectors are worth their code: there are enough instances, more is computed than read and added, and some
    of it by functions that have formulas for vectors; or many instances, for which three times as much is computed."""
    moved = program.n_gather + program.n_parameters + program.n_outputs
    if n >= MANY and len(program.instructions) > LONG * moved:
        return True
    return n >= LANES and len(program.instructions) > moved and not program.operations.isdisjoint(FUNCTIONS)


def module_text(program: Program) -> str:
    """The program's LLVM IR."""
    outputs = [(m, value) for m, value in enumerate(program.outputs) if _name(program, value) != splat(0.0)]
    wanted = {i for step in program.instructions for i in step.operands} | set(program.outputs)
    lines = list(_declarations(program.operations))
    lines += [f"define void @{native.symbol(program, KIND)}({native._SIGNATURE}) nounwind {{", "entry:"]
    lines += [f"%room = alloca [{max(len(outputs), 1)} x {NUMBERS}], align 32", f"%last = sub nsw i64 %n, {LANES}"]
    for i in range(program.first_uniform, program.first_parameter):
        lines += _uniform(i, i - program.first_uniform) if i in wanted else []
    lines += [
        "br label %loop", "loop:", "%k = phi i64 [0, %entry], [%next, %close]", "%before = icmp slt i64 %k, %last",
        "%first = select i1 %before, i64 %k, i64 %last",
    ]  # fmt: skip
    for i in range(program.n_gather):
        lines += _gathered(i) if i in wanted else []
    for i in range(program.first_parameter, program.first_constant):
        lines += _parameter(i, i - program.first_parameter) if i in wanted else []
    booleans = frozenset(
        program.first_result + p for p, step in enumerate(program.instructions) if step.op in BOOLEAN_OPERATIONS
    )
    for position, step in enumerate(program.instructions):
        lines += _operation(program, program.first_result + position, step, booleans)
    for place, (_, value) in enumerate(outputs):
        lines += [
            f"%rp{place} = getelementptr inbounds {NUMBERS}, ptr %room, i64 {place}",
            f"store {NUMBERS} {_name(program, value)}, ptr %rp{place}, align 32",
        ]
    lines += [
        f"%end_of_group = add nsw i64 %first, {LANES}", "br label %one", "one:",
        "%j = phi i64 [%k, %loop], [%following, %one]", "%lane = sub nsw i64 %j, %first",
    ]  # fmt: skip
    for place, (m, _) in enumerate(outputs):
        lines += _added(place, m)
    lines += [
        "%following = add nsw i64 %j, 1", "%others = icmp slt i64 %following, %end_of_group",
        "br i1 %others, label %one, label %close", "close:", f"%next = add nsw i64 %k, {LANES}",
        "%more = icmp slt i64 %next, %n", "br i1 %more, label %loop, label %end", "end:", "ret void", "}",
    ]  # fmt: skip
    return "\n".join(lines)


def _name(program: Program, i: int) -> str:
    position = i - program.first_constant
    return splat(program.constants[position]) if 0 <= position < len(program.constants) else f"%v{i}"


def _declarations(used: frozenset[str]) -> list[str]:
    """The functions that operations call: of vectors, or of one number each."""
    vector = {native._INTRINSICS[op] for op in used if op in native._INTRINSICS}
    own = [name for name in vector_functions.FUNCTIONS if name in used]
    vector |= set(vector_functions.INTRINSICS) if own else set()
    two = {"maxnum", "minnum", "copysign"}
    lines = [
        f"declare {NUMBERS} @llvm.{name}.v{LANES}f64({', '.join([NUMBERS] * (1 + (name in two)))})"
        for name in sorted(vector)
    ]
    pairs = {"pow", "fmod", "remainder", "atan2", "hypot"}
    lines += [
        f"declare double @{op}({', '.join(['double'] * (1 + (op in pairs)))}) nounwind willreturn memory(none)"
        for op in sorted(used & native._FUNCTIONS - set(own))
    ]
    return lines + [function_text(name) for name in own]


def _uniform(i: int, place: int) -> list[str]:
    return [
        *native._load_indexed(i, "uniform", str(place))[:-1], f"%u{i} = load double, ptr %q{i}, align 8",
        f"%s{i} = insertelement {NUMBERS} poison, double %u{i}, i32 0",
        f"%v{i} = shufflevector {NUMBERS} %s{i}, {NUMBERS} poison, {PLACES} zeroinitializer",
    ]  # fmt: skip


def _gathered(i: int) -> list[str]:
    """Value i of the group's instances: g[gather[i*n + first + lane]]."""
    lines = [
        f"%r{i} = mul nsw i64 %n, {i}", f"%o{i} = add nsw i64 %r{i}, %first",
        f"%p{i} = getelementptr inbounds i32, ptr %gather, i64 %o{i}", f"%i{i} = load {PLACES}, ptr %p{i}, align 4",
    ]  # fmt: skip
    for lane in range(LANES):
        at, before = f"{i}_{lane}", "poison" if lane == 0 else f"%g{i}_{lane - 1}"
        lines += [
            f"%e{at} = extractelement {PLACES} %i{i}, i32 {lane}", f"%x{at} = sext i32 %e{at} to i64",
            f"%q{at} = getelementptr inbounds double, ptr %g, i64 %x{at}", f"%d{at} = load double, ptr %q{at}, align 8",
            f"{f'%v{i}' if lane == LANES - 1 else f'%g{at}'} = insertelement {NUMBERS} {before}, double %d{at}, "
            f"i32 {lane}",
        ]  # fmt: skip
    return lines


def _parameter(i: int, row: int) -> list[str]:
    return [
        f"%r{i} = mul nsw i64 %n, {row}", f"%o{i} = add nsw i64 %r{i}, %first",
        f"%q{i} = getelementptr inbounds double, ptr %parameters, i64 %o{i}",
        f"%v{i} = load {NUMBERS}, ptr %q{i}, align 8",
    ]  # fmt: skip


def _added(place: int, m: int) -> list[str]:
    """out[scatter[m*n + j]] += output m of instance j."""
    return [
        f"%vp{place} = getelementptr inbounds double, ptr %rp{place}, i64 %lane",
        f"%vv{place} = load double, ptr %vp{place}, align 8",
        f"%sr{m} = mul nsw i64 %n, {m}", f"%so{m} = add nsw i64 %sr{m}, %j",
        f"%sp{m} = getelementptr inbounds i32, ptr %scatter, i64 %so{m}", f"%si{m} = load i32, ptr %sp{m}, align 4",
        f"%sx{m} = sext i32 %si{m} to i64", f"%sq{m} = getelementptr inbounds double, ptr %out, i64 %sx{m}",
        f"%sa{m} = load double, ptr %sq{m}, align 8", f"%ss{m} = fadd double %sa{m}, %vv{place}",
        f"store double %ss{m}, ptr %sq{m}, align 8",
    ]  # fmt: skip


def _operation(program: Program, i: int, step: Instruction, booleans: frozenset[int]) -> list[str]:  # noqa: C901
    """The IR of value i; booleans exist twice, as %t and as %v (0.0 or 1.0)."""
    names, op = [_name(program, each) for each in step.operands], step.op
    x, y, zero, one = names[0], names[-1], splat(0.0), splat(1.0)
    if op in native._COMPARISONS:
        lines = [f"%t{i} = fcmp {native._COMPARISONS[op]} {NUMBERS} {x}, {y}"]
    elif op in BOOLEAN_OPERATIONS:
        lines, truths = [], []
        for place, operand in enumerate(step.operands):
            truths.append(f"%t{operand}" if operand in booleans else f"%t{i}n{place}")
            if operand not in booleans:
                lines.append(f"%t{i}n{place} = fcmp une {NUMBERS} {names[place]}, {zero}")
        ones = f"<{', '.join(['i1 true'] * LANES)}>"
        if op != "not":
            lines.append(f"%t{i} = {op} {TRUTHS} {truths[0]}, {truths[1]}")
        elif lines:  # of a number: x == 0, which is false for NaN as it is in C
            lines = [f"%t{i} = fcmp oeq {NUMBERS} {x}, {zero}"]
        else:
            lines = [f"%t{i} = xor {TRUTHS} {truths[0]}, {ones}"]
    if op in BOOLEAN_OPERATIONS:
        return [*lines, f"%v{i} = uitofp {TRUTHS} %t{i} to {NUMBERS}"]
    if op in native._INSTRUCTIONS:
        return [f"%v{i} = {native._INSTRUCTIONS[op]} {NUMBERS} {x}, {y}"]
    if op == "neg":
        return [f"%v{i} = fneg {NUMBERS} {x}"]
    if op == "select":
        known = step.operands[0] in booleans
        condition = f"%t{step.operands[0]}" if known else f"%t{i}c"
        lines = [] if known else [f"%t{i}c = fcmp une {NUMBERS} {x}, {zero}"]
        return [*lines, f"%v{i} = select {TRUTHS} {condition}, {NUMBERS} {y}, {NUMBERS} {zero}"]
    if op == "sign":  # 1, -1, and x itself where it is 0 or NaN
        return [
            f"%a{i} = fcmp ogt {NUMBERS} {x}, {zero}", f"%b{i} = select {TRUTHS} %a{i}, {NUMBERS} {one}, {NUMBERS} {x}",
            f"%c{i} = fcmp olt {NUMBERS} {x}, {zero}",
            f"%v{i} = select {TRUTHS} %c{i}, {NUMBERS} {splat(-1.0)}, {NUMBERS} %b{i}",
        ]  # fmt: skip
    arguments = ", ".join(f"{NUMBERS} {name}" for name in names)
    if op in native._INTRINSICS:
        return [f"%v{i} = call {NUMBERS} @llvm.{native._INTRINSICS[op]}.v{LANES}f64({arguments})"]
    if op in vector_functions.FUNCTIONS:
        return [f"%v{i} = call {NUMBERS} @{op}_of_vectors({arguments})"]
    if op in native._FUNCTIONS:
        return _one_by_one(i, op, names)
    raise ValueError(f"no machine code for the operation '{op}'")


def _one_by_one(i: int, op: str, names: list[str]) -> list[str]:
    """A function of the C library, lane by lane."""
    lines, before = [], "poison"
    for lane in range(LANES):
        for place, name in enumerate(names):
            lines.append(f"%l{i}_{lane}_{place} = extractelement {NUMBERS} {name}, i32 {lane}")
        arguments = ", ".join(f"double %l{i}_{lane}_{place}" for place in range(len(names)))
        lines.append(f"%f{i}_{lane} = call double @{op}({arguments})")
        after = f"%v{i}" if lane == LANES - 1 else f"%h{i}_{lane}"
        lines.append(f"{after} = insertelement {NUMBERS} {before}, double %f{i}_{lane}, i32 {lane}")
        before = after
    return lines


VECTORS = native.Generator(KIND, module_text, (__file__, vector_functions.__file__, native.__file__))
"""LANES instances at once."""
