"""Numbers that Python hands over are the expressions that their texts are, with the same places."""

import pytest

from netsim.text.expressions.from_python import expression_given, parse_expression
from netsim.text.syntax import Unary


@pytest.mark.parametrize("value", [3.0, -2.5e-7, 0.0, -0.0, 1e300, 1e22, 5e-324, -1e-9, 1e6])
def test_a_number_is_the_expression_of_its_text(value):
    found, wanted = expression_given("x", value), parse_expression(repr(value), "x")
    assert (found, found.span, repr(found)) == (wanted, wanted.span, repr(wanted))
    if isinstance(wanted, Unary):
        assert found.operand.span == wanted.operand.span
