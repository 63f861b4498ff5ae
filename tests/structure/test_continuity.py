"""How many continuous derivatives functions of time have; smooth_step against its polynomials; runs that follow them."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial

import netsim
from netsim.library.files import models_folder
from netsim.network.bindings import lift_numbers
from netsim.structure.causes import Picture
from netsim.structure.of_time.continuity import continuity
from netsim.structure.pencil import generic_point
from netsim.text.errors import InputError
from netsim.text.expressions.from_python import parse_expression

U = "min(max((time - {at})/T, 0), 1)"
FUNCTIONS = [
    (U, 0),
    (f"3*{U}^2 - 2*{U}^3", 1),
    (f"10*{U}^3 - 15*{U}^4 + 6*{U}^5", 2),
    (f"9.99*{U}^3 - 15*{U}^4 + 6*{U}^5", 0),
    (f"k*{U}^3 - 15*{U}^4 + 6*{U}^5", 2),
    (f"35*{U}^4 - 84*{U}^5 + 70*{U}^6 - 20*{U}^7", 3),
    ("(if time < {at} then 0 else ((time - {at})/T)^3)", 2),
    ("max((time - {at})/T, 0)^2", 1),
    ("step(time - {at})", -1),
    ("(time - {at})/T*step(time - {at})", 0),
    ("cycloid(time, T, at = {at})", 2),
    ("smooth_step((time - {at})/T, k - 7)", 3),
    *((f"smooth_step((time - {{at}})/T, {n})", n) for n in (1, 2, 3, 4)),
]


def model(end):
    return netsim.load(f"use translational\nparam T = {end} s\nparam k = 10\nm1 mass (a) m = 1 kg\n")


def shape(of, text):
    return lift_numbers(parse_expression(text, "test"), of.network.top, of.values, lambda name, frame: None)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("known", [True, False], ids=["stop", "no stop"])
@pytest.mark.parametrize(("text", "wanted"), FUNCTIONS)
def test_as_many_as_the_formula_has(text, wanted, scale, known):
    """At any time scale and amplitude, whether the end of the run is known or not; a literal's rounding is no jump, a part in a thousand is."""
    of = model(2 * scale)
    for factor in ("", "1e-9*", "1e6*"):
        found = continuity(shape(of, f"{factor}({text.format(at=f'{scale} s')})"), of.values, 10 * scale if known else 0.0)
        assert found == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("abs(sin(time/(1 s)))", 0),
        ("abs(sin(time/(1 s)))^3", 2),
        ("max(sin(time/(1 s)), 0)^4", 3),
        ("sine(time, frequency = 1 Hz, phase = 90 deg, at = 1 s)", 1),
        ("smooth_step(mod(time, 1 s)/(1 s), 2)*(1 - smooth_step(mod(time, 1 s)/(1 s), 2))", 2),
        ("mod(time, 1 s)/(1 s)", -1),
        ("pulse(time, at = 1 s, width = 1 s, rise = 0.1 s, fall = 0.1 s, period = 4 s)", 0),
    ],
)
def test_time_events_that_come_again(text, wanted):
    of = model(1)
    assert continuity(shape(of, text), of.values, 20.0) == wanted


def test_time_events_behind_the_end_do_not_count():
    of = model(1)
    late = shape(of, "ramp(time/(1 s), at = 7)")
    assert continuity(late, of.values, 5.0) >= 4
    assert continuity(late, of.values, 8.0) == continuity(late, of.values) == 0


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_smooth_step_is_its_polynomial(order):
    """Value and derivatives: those of order 1 .. n vanish at both ends, and it is the one polynomial of degree 2 n + 1 that does so."""
    from netsim.text.expressions.functions import FUNCTIONS as KNOWN

    u = np.linspace(-0.5, 1.5, 401)
    found = KNOWN["smooth_step"].compute(u, float(order))
    slope = Polynomial([0, 1]) ** order * Polynomial([1, -1]) ** order
    rising = slope.integ()
    wanted = np.where(u <= 0, 0.0, np.where(u >= 1, 1.0, rising(u) / rising(1.0)))
    assert np.abs(found - wanted).max() < 1e-13


MOVED = """
use translational
s1  displacement  (a, ground)  s = {motion}
m1  mass          (a)          m = {m}
run transient(stop = {stop} s, rtol = {rtol}, sample = {sample} s)
save a.x, s1.f
"""


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize(("size", "time", "mass"), [(1.0, 1.0, 2.0), (1e-3, 1e-3, 1e-9), (1e3, 1e3, 2e6)])
@pytest.mark.parametrize("text", ["smooth_step(time/T, 2)", "10*U^3 - 15*U^4 + 6*U^5"])
def test_the_force_that_a_mass_needs(text, size, time, mass, rtol):
    """f = m s'' = m (60 u - 180 u^2 + 120 u^3) S/T^2, at every sample."""
    motion = f"{size} m*({text.replace('U', f'min(max(time/({time} s), 0), 1)').replace('T', f'({time} s)')})"
    data = netsim.load(MOVED.format(motion=motion, m=f"{mass} kg", stop=2 * time, sample=time / 50, rtol=rtol)).samples()[0]
    u = np.clip(data.time / time, 0.0, 1.0)
    wanted = mass * size / time**2 * (60 * u - 180 * u**2 + 120 * u**3)
    assert np.abs(np.abs(data.series("s1.f")) - np.abs(wanted)).max() < 20 * rtol * np.abs(wanted).max()


def test_what_is_rough_by_its_numbers_is_refused_and_again_when_they_change():
    """Smoothness goes with the values: a parameter that spoils a polynomial is found in the same model."""
    text = MOVED.replace("save", "param k = 10\nsave").format(
        motion="0.1 m*(k*min(max(time/(1 s), 0), 1)^3 - 15*min(max(time/(1 s), 0), 1)^4 + 6*min(max(time/(1 s), 0), 1)^5)",
        m="1 kg", stop=2, rtol=1e-6, sample=0.1,
    )  # fmt: skip
    fine = netsim.load(text)
    assert [p.code for p in fine.check() if not p.is_note] == []
    assert [p.code for p in fine.with_params(k=11).check() if not p.is_note] == ["E306"]
    assert [p.code for p in fine.with_params(k=10).check() if not p.is_note] == []
    with pytest.raises(InputError, match="not smooth enough"):
        fine.with_params(k=11).samples()


@pytest.mark.parametrize("order", ["0", "5", "2.5"])
def test_the_order_of_a_smooth_step_is_one_to_four(order):
    with pytest.raises(InputError) as wrong:
        netsim.load(MOVED.format(motion=f"1 m*smooth_step(time/(1 s), {order})", m="1 kg", stop=2, rtol=1e-6, sample=0.1)).samples()
    assert "order is a whole number from 1 to 4" in wrong.value.problems[0].hint


@pytest.mark.parametrize("seed", range(2, 42, 3))
def test_a_driven_hinge_needs_a_function_without_jumps_at_any_random_point(seed, monkeypatch):
    """At every fourth one its angle is 1e-12 of the moments, which grow with the square of the rate."""
    monkeypatch.setattr(Picture, "point", lambda picture, _: generic_point(picture.system, seed))
    model = netsim.load(models_folder() / "broken" / "step_of_a_hinge.net")
    assert [problem.code for problem in model.check()] == ["E306"]
