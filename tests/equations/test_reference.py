"""The NumPy target against the C library and against closed forms."""

import math

import numpy as np
import pytest

from netsim.equations.kernels.program import BINARY, UNARY, Instruction, Program
from netsim.equations.kernels.reference import evaluate, run_reference, zeros

AWKWARD = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.5, -7.25, 1e-300, 1e308, -1e308, math.inf, -math.inf, math.nan]


def apply(op, *operands):
    program = Program(len(operands), 0, 0, (), (Instruction(op, tuple(range(len(operands)))),), (len(operands),))
    return evaluate(program, np.array([[value] for value in operands]), np.zeros(0), np.zeros((0, 1)))[0, 0]


def c_library(function, *operands):
    try:
        return function(*operands)
    except ValueError:  # Python raises where C returns NaN
        return math.nan


@pytest.mark.parametrize("op", ["fmod", "remainder", "copysign"])
def test_exact_functions_agree_with_the_c_library(op):
    for a in AWKWARD:
        for b in AWKWARD:
            expected = c_library(getattr(math, op), a, b)
            assert apply(op, a, b) == expected or (math.isnan(expected) and math.isnan(apply(op, a, b))), (a, b)


def test_remainder_breaks_ties_to_even():
    assert [apply("remainder", a, 2.0) for a in (1.0, 3.0, -1.0, 5.0, 7.0, 4.1)] == [math.remainder(a, 2.0) for a in (1.0, 3.0, -1.0, 5.0, 7.0, 4.1)]


def test_conditions_follow_c_for_undefined_numbers():
    nan = math.nan
    assert [apply(op, nan, 1.0) for op in ("lt", "le", "eq", "ne", "and", "or")] == [0, 0, 0, 1, 1, 1]
    assert apply("not", nan) == 0 and apply("not", 0.0) == 1
    assert apply("select", 0.0, nan) == 0 and apply("select", 2.0, 7.0) == 7
    assert apply("fmin", nan, 3.0) == 3 and apply("fmin", 3.0, nan) == 3 and apply("fmax", nan, 3.0) == 3 and apply("fmax", 3.0, nan) == 3
    assert math.isnan(apply("fmin", nan, nan)) and [apply("sign", a) for a in (-2.0, 0.0, 5.0)] == [-1, 0, 1]


ANALYTIC = sorted(
    (UNARY | BINARY) - {"erf", "atan2", "hypot", "fmod", "remainder", "floor", "ceil", "sign", "lt", "le", "eq", "ne", "not", "and", "or"}
)


@pytest.mark.parametrize("op", ANALYTIC)
def test_complex_step_gives_the_derivative(op):
    point = [1.7] if op == "acosh" else [0.4]
    if op in BINARY:
        point.append(1.3)
    for i in range(len(point)):
        step, h = np.array(point, dtype=complex), 1e-6
        step[i] += 1e-30j
        up, down = point.copy(), point.copy()
        up[i] += h
        down[i] -= h
        difference = (apply(op, *up) - apply(op, *down)) / (2 * h)
        assert np.imag(apply(op, *step)) / 1e-30 == pytest.approx(difference, rel=1e-7, abs=1e-9)


@pytest.mark.parametrize("op", ["erf", "atan2", "hypot", "fmod", "remainder"])
def test_complex_numbers_are_refused_where_there_is_no_continuation(op):
    with pytest.raises(TypeError):
        apply(op, *([0.5 + 0.1j] if op in UNARY else [0.5 + 0.1j, 1.0]))


def test_outputs_that_meet_add_up():
    program = Program(1, 1, 1, (), (Instruction("mul", (0, 2)), Instruction("add", (3, 1))), (3, 4))
    g, out = np.array([1.0, 2.0, 10.0]), np.array([100.0, 0.0])
    index = np.array([0, 1], np.int32)
    run_reference(program, 2, index, np.array([2], np.int32), np.array([3.0, 4.0]), np.array([0, 0, 1, 0], np.int32), g, out)
    assert list(out) == [100 + 3 + 8 + (8 + 10), 3 + 10]


def test_nothing_gathered_takes_the_number_of_instances_from_the_parameters():
    program = Program(0, 1, 1, (), (Instruction("mul", (0, 1)),), (2,))
    assert evaluate(program, np.zeros((0, 3)), np.array([2.0]), np.array([[1.0, 2.0, 3.0]])).tolist() == [[2.0, 4.0, 6.0]]


def test_what_is_zero_whatever_is_gathered():
    """A factor 0 hides what is not known, in products, quotients and selections; nothing else does."""
    # registers: 0 gathered, 1 and 2 parameters, then the instructions
    steps = (
        Instruction("mul", (1, 0)),
        Instruction("add", (3, 1)),
        Instruction("div", (1, 0)),
        Instruction("select", (0, 1)),
        Instruction("sub", (0, 0)),
    )
    program = Program(1, 0, 2, (), (*steps, Instruction("mul", (2, 0)), Instruction("fmin", (1, 0))), (3, 4, 5, 6, 7, 8, 9))
    found = zeros(program, np.array([[0.0, 1.0], [2.0, 0.0]]))
    assert found.T.tolist() == [[True, True, True, True, False, False, False], [False, False, False, False, False, True, False]]
