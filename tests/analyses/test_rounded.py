"""Optimal motions of networks that switch, rounded on request: closed forms of the switching networks, orders, scales, refusals."""

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm
from scipy.optimize import minimize

import netsim
from netsim.analyses.optimal.optimize import roundings
from netsim.analyses.optimal.program.points import nominal_sizes
from netsim.analyses.optimal.program.rounded import rounded_system
from netsim.analyses.optimal.results.verification import Verification, doubtful
from netsim.library.files import models_folder
from netsim.text.errors import InputError

BLOCK = "use translational\nm1 mass (a) m = {m} kg\npush force (a) F = 0 N\n{more}\nsave a.x, a.v, push.F\n"
FRICTION = "dry coulomb_friction (a, ground) F = 3 N"
MOVED = {"stop": 1.0, "minimize": "integral(push.F^2)", "inputs": "push.F", "end": ["rest", "a.x == 1 m"]}


LEAST = 12.0 + 3.0**2
"""The least integral of u^2 for a block of 1 kg with 3 N of friction, by 1 m within 1 s: friction adds its force, u = 3 + 6 - 12 t."""


def optimum(more, smooth, m=1.0, **options):
    return netsim.load(BLOCK.format(m=m, more=more)).optimize(smooth=smooth, **{**MOVED, **options})


def test_dry_friction_of_the_shipped_netlist():
    samples = netsim.load(models_folder() / "optimal" / "dry_friction.net").samples({})[0]
    t, u = samples.time, samples.series("push.F").ravel()
    assert samples.attributes["objective"] == pytest.approx(LEAST, rel=3e-4)
    inside = (t > 0.02) & (t < 0.98)
    np.testing.assert_allclose(u[inside], 9.0 - 12.0 * t[inside], atol=0.02)
    assert samples.attributes["deviation"] < 1e-3 and samples.warnings == ()
    assert "what switches is rounded by 0.001 of sizes" in samples.attributes["notes"]


def test_order_with_dry_friction():
    """The layer in which friction turns is as wide as the rounding: order 1."""
    smooth, options = (3e-2, 1e-2, 3e-3), {"rtol": 1e-5}
    error = [float(optimum(FRICTION, s, **options).attrs["objective"]) - LEAST for s in smooth]
    orders = np.log(np.divide(error[:-1], error[1:])) / np.log(np.divide(smooth[:-1], smooth[1:]))
    assert np.all(abs(orders - 1.0) < 0.1)


def test_friction_beside_a_followed_signal():
    """Two forces follow the same motion, the one at twice the price: a third and two thirds of 9 - 12 t, 2/3 21 = 14."""
    options = {"minimize": "integral(push.F^2 + 2*pull.F^2)", "inputs": ["push.F", "pull.F"], "end": []}
    motion = "1 m*(3*(time/(1 s))^2 - 2*(time/(1 s))^3)"
    found = optimum(FRICTION + "\npull force (a) F = 0 N", 1e-3, track={"a.x": motion}, **options)
    assert found.attrs["objective"] == pytest.approx(14.0, rel=1e-3) and found.attrs["deviation"] < 1e-3


def test_friction_in_least_time():
    """With |u| <= 6 N and 3 N of friction 3 m/s2 forwards and 9 m/s2 backwards: v = sqrt(4.5), v/3 + v/9."""
    options = {"stop": "free(0.5 s, 3 s)", "minimize": "stop", "limits": "abs(push.F) <= 6 N"}
    assert optimum(FRICTION, 1e-3, **options).attrs["objective"] == pytest.approx(np.sqrt(4.5) * 4 / 9, rel=5e-4)


def test_where_nothing_switches_nothing_is_rounded():
    found = optimum("", 1e-3)
    assert found.attrs["objective"] == pytest.approx(12.0, rel=1e-9) and "rounded" not in found.attrs["notes"]


def steered(a, b, start, end, span):
    """The least integral of u^2 that brings x' = a x + b u from start to end."""
    n = len(a)
    e = expm(np.block([[a, np.outer(b, b)], [np.zeros((n, n)), -a.T]]) * span)
    left = end - e[:n, :n] @ start
    return left @ np.linalg.solve(e[:n, n:] @ e[:n, :n].T, left)


def test_order_with_a_spring_on_one_side():
    """A mass in a bumper of 10 N/m, compressed by 0.5 m, is brought to 1 m behind it. Known: two linear pieces joined at the best instant and
    speed. The force of the bumper is continuous: order 2."""
    pressed, open_, b = np.array([[0, 1], [-10, 0.0]]), np.array([[0, 1], [0, 0.0]]), np.array([0, 1.0])

    def cost(p):
        leaves = np.array([0.0, p[1]])
        return steered(pressed, b, np.array([-0.5, 0]), leaves, p[0]) + steered(open_, b, leaves, np.array([1.0, 0]), 1 - p[0])

    known = minimize(cost, [0.3, 2.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-13}).fun
    more, smooth = "stop bumper (a, ground) c = 10 N/m\nstart a.x = -0.5 m", (3e-2, 1e-2, 3e-3)
    error = [float(optimum(more, s, rtol=1e-6).attrs["objective"]) - known for s in smooth]
    orders = np.log(np.divide(error[:-1], error[1:])) / np.log(np.divide(smooth[:-1], smooth[1:]))
    assert np.all(abs(orders - 2.0) < 0.3)


@pytest.mark.parametrize("more", ["dry linear_brake (a, ground) N = 6 N", "dry coulomb_friction (ground, a) F = 2 N, Fs = 1 N"])
def test_other_elements_with_the_same_friction(more):
    assert optimum(more, 1e-3).attrs["objective"] == pytest.approx(LEAST, rel=3e-4)


BEARING = "use rotational\nj inertia (a) J = 1 kg.m2\nmotor torque (a) T = 0 N.m\ndry dry_bearing (a, ground) T = 3 N.m\n"
JOINT = """use planar
bob    planar_body          (b)          m = 1 kg, I = 1 kg.m2, at = [0, 0] m
hinge  planar_revolute      (ground, b)  at = [0, 0] m, friction = 3 N.m
motor  planar_hinge_torque  (ground, b)  T = 0 N.m
"""


@pytest.mark.parametrize(("text", "angle"), [(BEARING, "a.phi"), (JOINT, "hinge.q")])
def test_friction_of_a_bearing_and_of_a_joint(text, angle):
    options = {"stop": 1, "minimize": "integral(motor.T^2)", "inputs": "motor.T", "end": ["rest", f"{angle} == 1 rad"], "smooth": 1e-3}
    found = netsim.load(f"{text}save {angle}, motor.T\n").optimize(**options)
    assert found.attrs["objective"] == pytest.approx(LEAST, rel=3e-4) and found.attrs["deviation"] < 1e-3


@pytest.mark.parametrize(("m", "length", "time"), [(1e-9, 1, 1), (1e6, 1, 1), (1, 1e-9, 1), (1, 1e6, 1), (1, 1, 1e-9), (1, 1, 1e6), (1e6, 1e6, 1e6)])
def test_scales(m, length, time):
    """The same motion of other masses, lengths and durations, rounded in their own units."""
    friction = 3.0 * m * length / time**2
    found = optimum(f"dry coulomb_friction (a, ground) F = {friction:.9e} N", 1e-3, m, stop=time, end=["rest", f"a.x == {length:.9f} m"])
    assert float(found.attrs["objective"]) / (m * length) ** 2 * time**3 == pytest.approx(LEAST, rel=5e-4)
    assert found.attrs["deviation"] < 2e-3


@pytest.mark.parametrize("c", [1e-9, 1.0])
def test_a_capacitor_charged_through_an_ideal_diode(c):
    """The least integral of v^2 that charges it to 1 V within RC is 2/(1 - exp(-2)) V2 RC; the diode conducts throughout."""
    text = f"""use electrical
u1 voltage     (a, ground)  v = 0 V
r1 resistor    (a, b)       R = {1 / c} Ohm
d1 ideal_diode (b, c)       Ron = {1e-5 / c} Ohm, Goff = {1e-9 * c} S
c1 capacitor   (c, ground)  C = {c} F
start c1.v = 0 V
save c.v, d1.i
"""
    found = netsim.load(text).optimize(stop=1, minimize="integral(u1.v^2)", inputs="u1.v", end=["c.v == 1 V"], smooth=1e-3)
    assert float(found.attrs["objective"]) == pytest.approx(2.0 / (1.0 - np.exp(-2.0)), rel=1e-4)
    assert found.attrs["deviation"] < 1e-4


REFUSED = {
    "s stopped_mass (a) m = 1 kg": "'s' sets a state anew (reinit v)",
    "h hysteresis (q, w) low = 0.1, high = 0.2": "'h' remembers 'on'",
    "h sampler (q, w) first = 0 s, period = 0.1 s": "'h' samples 'held'",
    "h pulse_width (q, w) period = 0.1 s": "'h' remembers 'begun'",
    "h flip (q, w)": "'h' remembers 'on'",
    "h stays (q, w)": "'h' holds in one of its modes",
    "h seven (q, w)": "'h' has more than 64 modes",
}
OWN = """use translational\nuse signal
component flip (in u, out y : signal) "its threshold depends on what it was"
  discrete on : 1 = 0
  on = u > (if pre(on) == 1 then 0.1 else 0.2)
  y = on
end
component stays (in u, out y : signal) "its output rests where the input is negative"
  discrete off : 1 = 0
  off = u < 0
  0 = if off then der(y)*1 s else y - u
end
component six (in u, out y : signal) "six conditions on six quantities"
  discrete n : 1 = 0
  n = (u > 1) + (u^2 > 1) + (u^3 > 1) + (u^4 > 1) + (u^5 > 1) + (u^6 > 1)
  y = n
end
component seven (in u, out y : signal) "seven conditions on seven quantities"
  discrete n : 1 = 0
  n = (u > 1) + (u^2 > 1) + (u^3 > 1) + (u^4 > 1) + (u^5 > 1) + (u^6 > 1) + (u^7 > 1)
  y = n
end
pos position_sensor (a, q)
"""


@pytest.mark.parametrize("line", REFUSED)
def test_what_remembers_is_refused(line):
    """At its place, and before anything is solved."""
    with pytest.raises(InputError) as caught:
        optimum(OWN + line, 1e-3)
    problem = caught.value.problems[0]
    assert problem.code == "E460" and problem.message == f"{REFUSED[line]}, and cannot be rounded"
    assert problem.span.line == (BLOCK.format(m=1, more=OWN + line)).splitlines().index(line) + 1 and problem.span.column == 1


def test_a_rounding_that_is_too_wide_is_told():
    (problem,) = doubtful(Verification("a.x", 0.06, "a.x deviates"), 1e-4, 0.05)
    assert problem.code == "W511" and problem.message == "a.x deviates, more than smooth = 0.05 lets expect" and "smaller smooth" in problem.hint
    assert doubtful(Verification("a.x", 0.04, "a.x deviates"), 1e-4, 0.05) == []


def rounded(component, smooth, values):
    """The output of a component `h` (q, w) with the rounding, for values of its input."""
    machine = netsim.load(BLOCK.format(m=1, more=OWN + component)).machine
    system = rounded_system(machine, smooth, nominal_sizes(machine, None), 1.0)
    form = system.home["h"][0].form
    (residual,) = form.residuals
    (u,) = (s for (key, _), s in form.symbols.gathered.items() if key[:2] == ("node", 0))
    (y,) = (s for (key, _), s in form.symbols.gathered.items() if key[:2] == ("node", 1))
    parameters = ca.vertcat(*(p for scalars in form.symbols.parameters.values() for p in scalars))
    f = ca.Function("output", [u, y, parameters], [residual])
    given = machine.parameters[id(machine.system.home["h"][0])][:, 0]
    return np.array([-float(f(value, 0.0, given)) for value in values])


def test_one_condition_becomes_a_step():
    """(1 + tanh((u - 0.5)/w))/2 with w = smooth times the size of u."""
    u = np.linspace(0.4, 0.6, 9)
    np.testing.assert_allclose(rounded("h threshold (q, w) level = 0.5", 0.03, u), 0.5 * (1 + np.tanh((u - 0.5) / 0.03)), atol=1e-12)


@pytest.mark.parametrize(("gap", "kept"), [(0.5e-3, False), (2e-3, True)])
def test_narrow_pieces_do_not_count(gap, kept):
    """Between 0 and the gap, in parts of the rounding, the output is 5; beside it 0."""
    own = f"component bump (in u, out y : signal)\n  discrete n : 1 = 0\n  n = u > 0 and u < {gap * 0.1:.9f}\n  y = 5*n\nend\nh bump (q, w)"
    (height,) = rounded(own, 0.1, [0.0])
    assert height == pytest.approx(2.5 * gap if kept else 0.0, rel=1e-3, abs=1e-12)


def test_six_conditions_are_64_modes():
    assert rounded("h six (q, w)", 1e-3, [2.0]) == pytest.approx([6.0])


def test_roundings_lead_to_the_one_asked_for():
    assert roundings(0.0) == [0.0] and roundings(1.0) == [1.0]
    np.testing.assert_allclose(roundings(2e-3), [1.0, 0.1, 0.01, 2e-3])
