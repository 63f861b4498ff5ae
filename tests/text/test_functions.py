"""Functions of a text: written out wherever they are called, checked as the functions of the language."""

import pytest

import netsim
from netsim.library.functions import SPECIAL
from netsim.results.measuring.record import TAKES
from netsim.text.errors import InputError
from netsim.text.expressions.functions import FUNCTIONS

FUNCTION_LINES = """
function twice(x : N) : N = 2*x
function scaled(factor, x : N) : N = factor*x
function pick(x[n] : N) : N = x[2] + x.y
function turned(phi : rad, x[2] : N) : N = [[cos(phi), -sin(phi)], [sin(phi), cos(phi)]]*x
function entry(A[2, 2]) = A[1, 2]
function ball(r : m) : m3 = 4/3*pi*r^3
function power(x, n) = x^n
function later(x : N) : N = twice(scaled(x = x, factor = 3))
"""
FALL = "use translational\nm1 mass (a) m = 1 kg\nrun transient(stop = 1 s, step = 0.5 s)\nsave a.v\n"


def force(value, before=""):
    """The force that an expression gives, by the speed of 1 kg after 1 s."""
    run = netsim.load(f"{FALL}{FUNCTION_LINES}{before}\nf1 force (a) F = {value}\n").samples()[0]
    return run.series("a.v")[-1]


def problems(text):
    with pytest.raises(InputError) as error:
        netsim.load(FALL + FUNCTION_LINES + text).samples()
    return error.value.problems


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("twice(3 N)", 6),
        ("scaled(2, 3 N)", 6),
        ("scaled(x = 3 N, factor = 2)", 6),
        ("twice(twice(1 N) + 1 N)", 6),
        ("later(1 N)", 6),
        ("pick([1, 3, 5] N)", 6),
        ("1 N*entry([[1, 6], [2, 3]])", 6),
        ("dot([0, 1], turned(90 deg, [6, 2] N))", 6),
        ("ball(1 m)*(1 N/m3)*4.5/pi", 6),
        ("1 N*(power(2, 2) + power(4, 1/2))", 6),
        ("(if time < 2 s then twice(3 N) else 0 N)", 6),
        ("twice(6 N*time/(1 s))", 6),
    ],
)
def test_value(value, wanted):
    assert force(value) == pytest.approx(wanted, rel=1e-6)


def test_in_params_lets_and_models():
    text = """
    param p = twice(1 N)
    let l = twice(p)
    model push (q : translational)
      param F : N = 1 N
      f force (q) F = scaled(0.5, twice(F))
    end
    g1 push (a) F = 2 N
    """
    assert force("l", text) == pytest.approx(6, rel=1e-6)


def test_in_saves_and_measures():
    run = netsim.load(FALL + FUNCTION_LINES + "f1 force (a) F = 3 N\nmeasure m = twice(final(f1.F))\nsave scaled(2, f1.F)\n").samples()[0]
    assert run.figures[0].value == pytest.approx(6)


def test_the_constant_of_a_function_is_not_a_name_of_the_caller():
    assert force("ball(1 m)*(pi*1 N/m3)*9/2/3.141592653589793", "param pi = 1") == pytest.approx(6, rel=1e-6)


def test_relations_in_functions_are_events():
    text = """
    use translational
    function sign_of(x : m/s) = if x > 0 then 1 else -1
    component counter (p : translational)
      branch p -> ground : x, v, f
      discrete way : 1 = 0
      way = sign_of(v)
      f = (1 kg)*der(v) + (4 N/m)*x
      out  side : 1 = way
    end
    c1 counter (a) start x = 1 m
    run transient(stop = 3 s)
    save c1.side, a.v
    """
    run = netsim.load(text).samples()[0]
    flips = [time for time, before, after in zip(run.time[1:], run.series("c1.side"), run.series("c1.side")[1:], strict=False) if before != after]
    assert any(abs(time - 1.5707963) < 1e-6 for time in flips)


@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        ("f1 force (a) F = twice(3 m)", "E203", "twice(): 'x' is in m, but N is wanted"),
        ("f1 force (a) F = twice(3)", "E203", "'x' is a number without unit"),
        ("f1 force (a) F = scaled(1 N, 1 N)", "E203", "but a number without unit is wanted"),
        ("f1 force (a) F = twice()", "E207", "twice() lacks x"),
        ("f1 force (a) F = twice(1 N, 2 N)", "E207", "takes 1 argument: x"),
        ("f1 force (a) F = twice(1 N, x = 2 N)", "E207", "given twice"),
        ("f1 force (a) F = twice(y = 2 N)", "E207", "no argument 'y'"),
        ("f1 force (a) F = twice([1, 2] N)", "E204", "does not go with a vector of 2"),
        ("f1 force (a) F = turned(1, [1, 2, 3] N).x", "E101", ""),
        ("f1 force (a) F = pick(1 N)", "E204", "does not go with a number"),
        ("function f(x : m, x : m) : m = x", "E209", "declared twice in function 'f'"),
        ("function f(x : m) : m = x*x", "E203", "is in m2, but m is declared"),
        ("function f(x : m) : m = x + y", "E206", "'y'"),
        ("function f(x : m) : m = g(x)\nfunction g(x : m) : m = f(x)", "E259", "calls itself"),
        ("function der(x : m) : m = x", "E259", "of the language"),
        ("function mean(x : m) : m = x", "E259", "of the language"),
        ("function f(x : m) : m = der(x)", "E206", "no function 'der'"),
        ("function f(x : mm_) : m = x", "E107", ""),
        ("function f x = x", "E1", ""),
        ("component c (p : translational)\n  branch p -> ground : x, v, f\n  f = twice(x)\nend\nc1 c (a)", "E203", "'x' is in m"),
        ("model k (p : translational)\n  function f(x) = x\nend\nk1 k (a)", "E223", "top level"),
    ],
)
def test_message(line, code, words):
    assert any(p.code.startswith(code) and words in p.message and p.span.line > 4 for p in problems(line)), [str(p) for p in problems(line)]


def test_calls_with_a_meaning_of_their_own_are_known():
    assert set(TAKES) <= SPECIAL | set(FUNCTIONS)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
def test_integral_of_a_broken_line(scale):
    """The area under points (-1, -4), (0, 0), (2, 1), straight beyond, from the first of them; its units are those of the product."""
    for x, wanted in [(-2, 6.0), (-1, 0.0), (0, -2.0), (1, -1.75), (2, -1.0), (4, -1.0 + 3.0)]:
        table = f"[{-scale}, 0, {2 * scale}] m, [-4, 0, 1] N"
        assert force(f"interpolate_integral({x * scale} m, {table})/({scale} m)") == pytest.approx(wanted, rel=1e-9, abs=1e-12)
    (problem,) = problems("f1 force (a) F = interpolate_integral(1 m, [0, 1] m, [0, 1] N)\n")
    assert problem.code in ("E202", "E203")
