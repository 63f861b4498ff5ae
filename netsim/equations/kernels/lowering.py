"""Programs of CasADi's expressions: `lower`, and derivatives in the form that `lower` protects.

Conditions select, they never multiply. CasADi writes `if c then a else b` as `(c ? a : 0) + (!c ? b : 0)`, and some of
its rules give `c*a` or `c/a` with c in {0, 1}; as arithmetic, an infinite or undefined `a` of the branch *not* taken
would turn the sum into NaN. `lower` therefore turns every product or quotient with a boolean into a select, in
values and in derivatives alike.
"""

import operator
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from netsim.equations.kernels.program import BINARY, BOOLEAN_OPERATIONS, LOGIC, UNARY, Instruction, Program
from netsim.equations.kernels.symbolic import ca as casadi

_PYTHON_OPERATORS = {"add", "sub", "mul", "div", "neg", "pow", "lt", "le", "eq", "ne"}
_COMMUTATIVE = {"add", "mul", "eq", "ne", "and", "or"}


def lower(gather: Any, uniform: Any, parameters: Any, outputs: Any) -> Program:
    """The program that computes the casadi.SX column `outputs` from three columns of SX symbols.

    A sparse or matrix-shaped `outputs` counts densely, column by column (hand over `J.nz[:]` to keep only its entries).
    Equal subexpressions are shared and dead code is dropped, so programs that differ only in how they were written get
    one digest more often.

    Raises ValueError when `outputs` reads a symbol that is in none of the three columns, or uses an operation that has
    no machine code.
    """
    columns = [casadi.SX(column) for column in (gather, uniform, parameters)]
    recorder, results = _record(columns, casadi.densify(casadi.vec(casadi.SX(outputs))))
    return _compact([column.numel() for column in columns], recorder, results)


def forward_jacobian(outputs: Any, inputs: Any) -> Any:
    """d(outputs)/d(inputs) as a sparse casadi.SX (n_outputs, n_inputs), structural zeros dropped.

    Forward mode: every chain rule ends in `c ? dx : 0`, which `lower` protects. Reverse mode would begin with the
    condition, multiply it by the local derivatives on its way down and so leak `0*inf` of the branch not taken.
    Products and quotients with a boolean become selects before they are differentiated: the quotient rule would
    otherwise multiply and divide the protected value again.
    """
    inputs = casadi.vec(casadi.SX(inputs))
    outputs = _with_selects(casadi.vec(casadi.densify(casadi.SX(outputs))))
    if inputs.numel() == 0 or outputs.numel() == 0:
        return casadi.SX(outputs.numel(), inputs.numel())
    return casadi.sparsify(casadi.jtimes(outputs, inputs, casadi.SX.eye(inputs.numel())))


def jacobian_product(outputs: Any, inputs: Sequence[Any], changes: Sequence[Any]) -> Any:
    """d(outputs)/d(inputs) times `changes`, an SX column, in forward mode with its guards."""
    outputs = _with_selects(casadi.densify(outputs))
    if not inputs or outputs.numel() == 0:
        return casadi.SX(outputs.numel(), 1)
    return casadi.densify(casadi.jtimes(outputs, casadi.vertcat(*inputs), casadi.vertcat(*changes)))


def symbolic_outputs(program: Program, inputs: Sequence[Any]) -> Any:
    """The outputs of a program as an SX column of symbols for its gathered inputs, uniforms and parameters."""
    values = [*inputs, *map(casadi.SX, program.constants)]
    for step in program.instructions:
        of = [values[i] for i in step.operands]
        values.append(_power(*of) if step.op == "pow" else _symbolic(step.op, *of))
    return casadi.vertcat(casadi.SX(0, 1), *(values[i] for i in program.outputs))


def _power(base: Any, exponent: Any) -> Any:
    """A power whose derivative by an exponent of 1 or more, base^exponent log(base), is 0 at the base 0, where it would
    be `0*inf`."""
    if casadi.SX(exponent).is_constant():
        return base**exponent
    nothing = casadi.logic_and(base == 0, exponent >= 1)
    return casadi.if_else(nothing, casadi.if_else(exponent == 1, base, 0), base**exponent)


def _with_selects(outputs: Any) -> Any:
    """The same SX column with every `c*a` and `c/a` of a boolean c written as `c ? a : 0`; itself where it has
    none."""
    symbols = casadi.symvar(outputs)
    recorder, results = _record([casadi.vertcat(casadi.SX(0, 1), *symbols)], outputs)
    if not recorder.boolean_products:
        return outputs
    values: dict[int, Any] = dict(enumerate(symbols))
    values.update({-1 - i: casadi.SX(value) for i, value in enumerate(recorder.constants)})
    for i, step in enumerate(recorder.instructions, start=len(symbols)):
        values[i] = _symbolic(step.op, *(values[k] for k in step.operands))
    return casadi.vertcat(*(values[i] for i in results))


def _symbolic(op: str, x: Any, y: Any = None) -> Any:
    """`op` on casadi.SX scalars."""
    if op == "select":
        return casadi.if_else(x, y, 0)
    if op in LOGIC:
        op = f"logic_{op}"
    function = getattr(operator, "truediv" if op == "div" else op) if op in _PYTHON_OPERATORS else getattr(casadi, op)
    return function(x) if y is None else function(x, y)


@dataclass
class _Recorder:
    """Instructions in the making. Inputs are 0 <= i < n_inputs, constants -1, -2, ..., results n_inputs + position."""

    n_inputs: int
    instructions: list[Instruction] = field(default_factory=list)
    constants: list[float] = field(default_factory=list)
    known: dict[Any, int] = field(default_factory=dict)
    booleans: set[int] = field(default_factory=set)
    boolean_products: bool = False

    def constant(self, value: float) -> int:
        key = struct.pack("<d", value)  # by bits: -0.0 is not 0.0, and NaN is itself
        if key not in self.known:
            self.constants.append(value)
            self.known[key] = -len(self.constants)
        return self.known[key]

    def emit(self, op: str, *operands: int) -> int:
        """The number of the value `op(operands)`, an earlier one where it was computed before."""
        key = (op, *(sorted(operands) if op in _COMMUTATIVE else operands))
        if key not in self.known:
            self.instructions.append(Instruction(op, operands))
            self.known[key] = self.n_inputs + len(self.instructions) - 1
            if op in BOOLEAN_OPERATIONS:
                self.booleans.add(self.known[key])
        return self.known[key]

    def apply(self, op: str, x: int, y: int | None = None) -> int:
        """`op` of CasADi in our smaller set of operations, with booleans kept out of products."""
        if y is None:
            return self._apply_unary(op, x)
        if op == "if_else_zero":
            return self._select(x, y)
        if op == "mul" and (x in self.booleans or y in self.booleans):
            self.boolean_products = True
            return self._select(x, y) if x in self.booleans else self._select(y, x)
        if op == "div" and x in self.booleans:
            self.boolean_products = True
            return self._select(x, self.emit("div", self.constant(1.0), y))
        return self.emit("pow" if op == "constpow" else op, x, y)

    def _apply_unary(self, op: str, x: int) -> int:
        if op in {"assign", "lift"} or (op in {"sq", "fabs", "sign", "sqrt"} and x in self.booleans):
            return x
        if op == "sq":
            return self.emit("mul", x, x)
        if op == "twice":
            return self.emit("add", x, x)
        if op == "inv":
            return self.emit("div", self.constant(1.0), x)
        return self.emit(op, x)

    def _select(self, condition: int, x: int) -> int:
        both = condition in self.booleans and x in self.booleans
        return self.emit("and" if both else "select", condition, x)


@cache
def _operations() -> Mapping[int, str]:
    """CasADi's operation number -> our name, for the operations of SX that a program can hold."""
    names = (UNARY | BINARY | {"assign", "sq", "twice", "inv", "constpow", "if_else_zero", "lift"}) - {"select"}
    return {getattr(casadi, f"OP_{name.upper()}"): name for name in names if hasattr(casadi, f"OP_{name.upper()}")}


def _record(columns: list[Any], outputs: Any) -> tuple[_Recorder, list[int]]:
    """Walk the instructions that compute a dense SX column (they reuse work slots) and record them in single-assignment
    form."""
    function = casadi.Function("kernel", columns, [outputs], {"allow_free": True})
    if function.get_free():
        raise ValueError(
            "the outputs read symbols that are neither gathered, uniform nor parameters: "
            f"{', '.join(map(str, function.get_free()))}"
        )
    first = [sum(column.numel() for column in columns[:i]) for i in range(len(columns) + 1)]
    recorder = _Recorder(first[-1])
    operations = _operations()
    slots: dict[int, int] = {}
    results = [0] * function.numel_out(0)
    for position in range(function.n_instructions()):
        number = function.instruction_id(position)
        read, written = function.instruction_input(position), function.instruction_output(position)
        if number == casadi.OP_INPUT:
            slots[written[0]] = first[read[0]] + read[1]
        elif number == casadi.OP_OUTPUT:
            results[written[1]] = slots[read[0]]
        elif number == casadi.OP_CONST:
            slots[written[0]] = recorder.constant(function.instruction_constant(position))
        elif number in operations:
            op = operations[number]
            operands = read[:1] if op == "lift" else read  # lift(value, guess) is the value
            slots[written[0]] = recorder.apply(op, *(slots[i] for i in operands))
        else:
            raise ValueError(f"no machine code for CasADi's operation {_operation_name(number)}")
    return recorder, results


def _operation_name(number: int) -> str:
    return next(
        (name for name in dir(casadi) if name.startswith("OP_") and getattr(casadi, name) == number), f"number {number}"
    )


def _compact(sizes: list[int], recorder: _Recorder, results: list[int]) -> Program:
    """Drop what no output needs and number the rest in the order the Program promises."""
    n_inputs = recorder.n_inputs
    needed = set(results)
    for position in reversed(range(len(recorder.instructions))):
        if n_inputs + position in needed:
            needed.update(recorder.instructions[position].operands)
    number = {i: i for i in range(n_inputs)}
    constants = [-1 - i for i in range(len(recorder.constants)) if -1 - i in needed]
    number.update({old: n_inputs + i for i, old in enumerate(constants)})
    kept = [position for position in range(len(recorder.instructions)) if n_inputs + position in needed]
    number.update({n_inputs + position: n_inputs + len(constants) + i for i, position in enumerate(kept)})
    steps = (recorder.instructions[position] for position in kept)
    return Program(
        n_gather=sizes[0],
        n_uniform=sizes[1],
        n_parameters=sizes[2],
        constants=tuple(recorder.constants[-1 - old] for old in constants),
        instructions=tuple(Instruction(step.op, tuple(number[i] for i in step.operands)) for step in steps),
        outputs=tuple(number[i] for i in results),
    )
