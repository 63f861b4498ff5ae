"""Machine code against the NumPy target: every operation, random programs, shared outputs."""

import math

import casadi
import numpy as np
import pytest

from netsim.equations.kernels.lowering import forward_jacobian, lower
from netsim.equations.kernels.native import compile, module_text, run_native
from netsim.equations.kernels.program import BINARY, UNARY, Instruction, Program
from netsim.equations.kernels.reference import evaluate, run_reference

EXACT = [
    "add",
    "sub",
    "mul",
    "div",
    "neg",
    "sqrt",
    "fabs",
    "floor",
    "ceil",
    "fmod",
    "remainder",
    "lt",
    "le",
    "eq",
    "ne",
    "not",
    "and",
    "or",
    "select",
]
"""Operations that IEEE arithmetic rounds in one way only: programs of them must agree to the bit."""


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path))


def native_values(programs, gathered, uniforms=()):
    """The outputs (n_outputs, n) of each program for the given gathered inputs (n_gather, n) and uniforms."""
    kernels = compile(programs)
    return {name: native_value(kernels, name, program, gathered, uniforms) for name, program in programs.items()}


def native_value(kernels, name, program, gathered, uniforms):
    n = gathered.shape[1]
    g = np.concatenate([gathered.ravel(), uniforms])
    out = np.zeros(program.n_outputs * n)
    uniform = np.arange(gathered.size, g.size, dtype=np.int32)
    scatter = np.arange(out.size, dtype=np.int32)
    run_native(kernels, name, n, np.arange(gathered.size, dtype=np.int32), uniform, np.zeros(0), scatter, g, out)
    return out.reshape(program.n_outputs, n)


def single(op):
    count = 1 if op in UNARY else 2
    return Program(2, 0, 0, (), (Instruction(op, (0, 1)[:count]),), (2,))


def test_every_operation_on_ordinary_and_awkward_numbers():
    ordinary = np.random.default_rng(1).normal(scale=2, size=(2, 400))
    special = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-310, 1e308, math.inf, -math.inf, math.nan])
    points = np.concatenate([ordinary, np.stack(np.meshgrid(special, special)).reshape(2, -1)], axis=1)
    programs = {op: single(op) for op in sorted(UNARY | BINARY)}
    for op, found in native_values(programs, points).items():
        expected = evaluate(programs[op], points, np.zeros(0), np.zeros((0, points.shape[1])))
        np.testing.assert_allclose(found, expected, rtol=0 if op in EXACT else 2e-15, atol=0, err_msg=op)


def test_casadi_operations_all_lower():
    x, y = casadi.SX.sym("x"), casadi.SX.sym("y")
    unary = "sqrt fabs sign floor ceil exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf log1p expm1 logic_not"
    binary = "fmod remainder copysign fmin fmax atan2 hypot logic_and logic_or lt le eq ne"
    expressions = [getattr(casadi, name)(0.3 + x / 9) for name in unary.split()] + [getattr(casadi, name)(x, y) for name in binary.split()]
    expressions += [
        x + y,
        x - y,
        x * y,
        x / y,
        -x,
        x**y,
        x**2.5,
        x**-3,
        1 / x,
        2 * x,
        casadi.if_else(x > y, x, y),
        casadi.if_else(x - 1, x, y),
        x * x * x,
    ]
    outputs = casadi.vertcat(*expressions)
    program = lower(casadi.vertcat(x, y), [], [], casadi.vertcat(outputs, casadi.vec(forward_jacobian(outputs, casadi.vertcat(x, y)))))
    points = np.random.default_rng(2).uniform(0.1, 5, size=(2, 60))
    found = native_values({"all": program}, points)["all"]
    np.testing.assert_allclose(found, evaluate(program, points, np.zeros(0), np.zeros((0, 60))), rtol=1e-13, atol=1e-15)
    function = casadi.Function("peer", [x, y], [outputs])
    peer = np.array([np.array(function(*point)).ravel() for point in points.T]).T
    np.testing.assert_allclose(found[: len(expressions)], peer, rtol=1e-13, atol=1e-15)


def random_program(random, length):
    """A program of exact operations on 4 gathered inputs, 2 uniforms and 2 constants; every value is an output of some program."""
    constants = (float(random.normal()), 0.0)
    first = 4 + 2 + len(constants)
    steps = []
    for i in range(length):
        op = str(random.choice(EXACT))
        steps.append(Instruction(op, tuple(int(k) for k in random.integers(0, first + i, 1 if op in UNARY else 2))))
    return Program(4, 2, 0, constants, tuple(steps), tuple(range(first, first + length)))


def test_random_programs_of_exact_operations_agree_to_the_bit():
    random = np.random.default_rng(7)
    programs = {f"p{i}": random_program(random, 40) for i in range(25)}
    points, uniforms = random.normal(size=(4, 30)), random.normal(size=2)
    finite = 0
    for name, found in native_values(programs, points, uniforms).items():
        expected = evaluate(programs[name], points, uniforms, np.zeros((0, 30)))
        assert np.array_equal(found, expected, equal_nan=True), name
        finite += np.isfinite(expected).sum()
    assert finite > 0.5 * 25 * 40 * 30  # the programs must not all have died in NaN


def test_no_contraction_to_fused_multiply_add():
    # a*b + c with a*b inexact: fused gives the rounding error of the product, separate operations give 0
    program = Program(3, 0, 0, (), (Instruction("mul", (0, 1)), Instruction("add", (3, 2))), (4,))
    a = 1 + 2.0**-30
    assert native_values({"p": program}, np.array([[a], [a], [-(a * a)]]))["p"][0, 0] == 0.0


def test_layout_uniforms_parameters_and_outputs_that_meet():
    g, u, p = casadi.SX.sym("g", 3), casadi.SX.sym("u", 2), casadi.SX.sym("p", 2)
    outputs = casadi.vertcat(p[0] * (g[0] - g[1]) * u[1], casadi.sin(g[2]) - p[1], g[0] * g[2] + u[0], 0)
    program = lower(g, u, p, outputs)
    kernels = compile({"k": program})
    random = np.random.default_rng(5)
    n, values = 37, random.normal(size=20)
    uniform = np.array([11, 3], np.int32)
    for _ in range(3):  # other gathers and parameters run on the same code
        gather, scatter = random.integers(0, 20, 3 * n).astype(np.int32), random.integers(0, 6, 4 * n).astype(np.int32)
        parameters, start = random.normal(size=2 * n), random.normal(size=6)
        found, expected = start.copy(), start.copy()
        run_native(kernels, "k", n, gather, uniform, parameters, scatter, values, found)
        run_reference(program, n, gather, uniform, parameters, scatter, values, expected)
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)
        assert abs(found - start).min() > 0
    untouched = np.ones(6)
    run_native(kernels, "k", 0, gather[:0], uniform, parameters[:0], scatter[:0], values, untouched)
    assert list(untouched) == [1] * 6


def test_the_branch_not_taken_never_shows_in_machine_code():
    x = casadi.SX.sym("x")
    expression = casadi.vertcat(casadi.if_else(x > 0, casadi.sqrt(x), -x), (x > 0) * casadi.log(x), casadi.if_else(x != 0, 1 / x, 3))
    program = lower(x, [], [], casadi.vertcat(expression, casadi.densify(forward_jacobian(expression, x))))
    assert native_values({"p": program}, np.zeros((1, 1)))["p"].ravel().tolist() == [0, 0, 3, -1, 0, 0]


def test_wrong_arrays_and_unknown_operations_are_refused():
    kernels = compile({"p": single("add")})
    index, values = np.zeros(2, np.int32), np.zeros(2)
    with pytest.raises(TypeError, match="int32"):
        run_native(kernels, "p", 1, index.astype(np.int64), index, values, index, values, values)
    with pytest.raises(ValueError, match="'erfinv'"):
        module_text(Program(1, 0, 0, (), (Instruction("erfinv", (0,)),), (1,)))
