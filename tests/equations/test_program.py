"""Lowering: what a program holds, its digest, and conditions that select instead of multiply."""

import casadi
import numpy as np
import pytest

from netsim.equations.kernels.lowering import forward_jacobian, lower
from netsim.equations.kernels.program import Instruction, Program, restricted
from netsim.equations.kernels.reference import evaluate

x, y = casadi.SX.sym("x"), casadi.SX.sym("y")


def values(program, *gathered):
    return evaluate(program, np.array([[float(value)] for value in gathered]), np.zeros(0), np.zeros((0, 1)))[:, 0]


def test_inputs_are_numbered_gather_uniform_parameters_constants():
    g, u, p = casadi.SX.sym("g", 2), casadi.SX.sym("u"), casadi.SX.sym("p")
    program = lower(g, u, p, casadi.vertcat(g[1] * p, u + 3))
    assert (program.n_gather, program.n_uniform, program.n_parameters, program.n_outputs) == (2, 1, 1, 2)
    assert program.constants == (3.0,) and program.first_result == 5
    assert {(step.op, frozenset(step.operands)) for step in program.instructions} == {("mul", frozenset({1, 3})), ("add", frozenset({2, 4}))}


def test_shared_subexpressions_appear_once_and_dead_code_not_at_all():
    a, b = casadi.SX.sym("a"), casadi.SX.sym("b")
    program = lower(casadi.vertcat(a, b), [], [], casadi.vertcat(casadi.sin(a + b), casadi.sin(b + a) * 2, casadi.sin(a + b) ** 2))
    assert [step.op for step in program.instructions].count("sin") == 1
    # a product of conditions is one 'and'; the products it replaces leave nothing behind
    assert [step.op for step in lower(a, [], [], (a > 0) * (a < 1)).instructions] == ["lt", "lt", "and"]


def test_outputs_may_be_inputs_constants_sparse_or_none():
    sparse = casadi.SX(3, 1)
    sparse[2] = x
    assert list(values(lower(x, [], [], sparse), 5)) == [0, 0, 5]
    assert list(values(lower(x, [], [], casadi.SX([1.5, -0.0])), 5)) == [1.5, 0]
    assert lower(x, [], [], casadi.SX(0, 1)).n_outputs == 0


def test_digest_depends_on_content_only():
    def build(constant, size=2):
        g = casadi.SX.sym("any", size)
        return lower(g, [], [], g[0] * constant + casadi.sin(g[1]))

    assert build(2.0) == build(2.0) and build(2.0).digest == build(2.0).digest
    assert len({build(2.0).digest, build(3.0).digest, build(2.0, size=3).digest}) == 3
    assert Program(1, 0, 0, (0.0,), (), (1,)).digest != Program(1, 0, 0, (-0.0,), (), (1,)).digest
    assert Program(1, 0, 1, (), (), (0,)).digest != Program(1, 1, 0, (), (), (0,)).digest
    assert Program(2, 0, 0, (), (Instruction("sub", (0, 1)),), (2,)).digest != Program(2, 0, 0, (), (Instruction("sub", (1, 0)),), (2,)).digest
    # the digest is a name on disk: it must not change from run to run or release to release unless _HASH_FORMAT does
    known = Program(1, 0, 0, (2.0,), (Instruction("mul", (0, 1)),), (2,)).digest
    assert known == "dda4aa56965bbd9c463e9b7c1b5fa9af61e234895df4eb0defdb0dcdde0a2e40"


def test_unknown_symbols_and_operations_are_refused():
    with pytest.raises(ValueError, match=r"neither gathered, uniform nor parameters.*y"):
        lower(x, [], [], x * y)
    with pytest.raises(ValueError, match="OP_ERFINV"):
        lower(x, [], [], casadi.erfinv(x))


SWITCHES = {
    "sqrt": (casadi.if_else(x > 0, casadi.sqrt(x), 0), 0.0, 0.0),
    "log": (casadi.if_else(x > 0, casadi.log(x), -x), 0.0, -1.0),
    "division": (casadi.if_else(x != 0, casadi.sin(x) / x, 1), 0.0, 0.0),
    "power": (casadi.if_else(x > 0, x**0.25, 2 * x), 0.0, 2.0),
    "square root of a negative number": (casadi.if_else(x > 0, casadi.sqrt(x), x**2), -3.0, -6.0),
    "nested": (casadi.if_else(x > 0, casadi.if_else(x > 1, casadi.log(x - 1), casadi.sqrt(x)), 3 * x), 0.0, 3.0),
    "nested, inner switch": (casadi.if_else(x > 0, casadi.if_else(x > 1, casadi.log(x - 1), x**2), 0), 1.0, 2.0),
    "inside a function": (casadi.exp(casadi.if_else(x > 0, casadi.log(x), x)), 0.0, 1.0),
    "both conditions": (casadi.if_else(casadi.logic_and(x > 0, x < 2), x * casadi.log(x), 5 * x), 0.0, 5.0),
    "product": ((x > 0) * casadi.log(x), 0.0, 0.0),
    "product with an inverse": ((x > 0) * (1 / x), 0.0, 0.0),
    "sum of products": ((x > 0) * casadi.sqrt(x) + (x <= 0) * 4 * x, 0.0, 4.0),
    "twice the product": (2 * ((x > 0) * casadi.sqrt(x)), 0.0, 0.0),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_the_branch_not_taken_never_shows(name):
    expression, at, slope = SWITCHES[name]
    jacobian = forward_jacobian(expression, x)
    second = forward_jacobian(jacobian, x)
    value, first, curvature = values(lower(x, [], [], casadi.vertcat(expression, jacobian, second)), at)
    assert np.isfinite([value, curvature]).all() and first == pytest.approx(slope, abs=1e-15)


def test_the_protection_is_needed():
    naive = casadi.Function("naive", [x], [SWITCHES["product"][0], casadi.jacobian((x > 0) / x, x)])
    assert all(np.isnan(float(value)) for value in naive(0.0))


def test_jacobian_keeps_structural_zeros_out_and_shape():
    expressions = casadi.vertcat(x * y, casadi.sin(x), casadi.if_else(y > 0, y**2, 0), 7)
    jacobian = forward_jacobian(expressions, casadi.vertcat(x, y))
    assert jacobian.shape == (4, 2) and jacobian.nnz() == 4
    assert forward_jacobian(expressions, casadi.SX(0, 1)).shape == (4, 0)
    assert forward_jacobian(casadi.SX(0, 1), casadi.vertcat(x, y)).shape == (0, 2)
    reverse = casadi.Function("difference", [x, y], [jacobian - casadi.jacobian(expressions, casadi.vertcat(x, y))])
    assert abs(np.array(reverse(0.3, 0.7))).max() < 1e-15


def test_jacobian_agrees_with_the_complex_step():
    # log(-x) < 0 and x*y > 0.5 take both branches over the samples
    expressions = casadi.vertcat(
        casadi.if_else(x * y > 0.5, casadi.sin(x) * casadi.exp(y), casadi.atan(x / (1 + y**2))),
        (x > y) * casadi.sqrt(1 + x**2) + (x <= y) / (2 + y),
        casadi.if_else(x > 0, casadi.if_else(y > 0, x**2.5, y**3), casadi.tanh(x - y)),
    )
    program = lower(casadi.vertcat(x, y), [], [], expressions)
    exact = lower(casadi.vertcat(x, y), [], [], casadi.densify(forward_jacobian(expressions, casadi.vertcat(x, y))))
    points = np.random.default_rng(3).normal(size=(2, 50))
    columns = [np.imag(evaluate(program, points + 1e-30j * np.eye(2)[:, [i]], np.zeros(0), np.zeros((0, 50)))) / 1e-30 for i in range(2)]
    np.testing.assert_allclose(evaluate(exact, points, np.zeros(0), np.zeros((0, 50))), np.concatenate(columns), rtol=1e-12, atol=1e-14)


def test_a_restricted_program_gives_the_same_outputs_with_less_work():
    x, u, p = casadi.SX.sym("x", 2), casadi.SX.sym("u", 1), casadi.SX.sym("p", 1)
    whole = lower(x, u, p, casadi.vertcat(casadi.sin(x[0]) * p, casadi.exp(x[1]) + casadi.sin(x[0]), u * x[1], 2.5))
    points = np.array([[0.3, -1.2], [0.7, 0.1]]), np.array([1.7]), np.array([[2.0, 3.0]])
    every = evaluate(whole, *points)
    for kept in ([1], [3, 0], [2], []):
        part = restricted(whole, kept)
        assert np.array_equal(evaluate(part, *points), every[kept])
        assert len(part.instructions) < len(whole.instructions)
