# ruff: noqa: E501  (netlists in a line read best)
"""Electrical components against closed forms where a data sheet or SPICE says what must come out: gates, limits, breakdown, supplies, corners of parameters."""

import numpy as np
import pytest

import netsim
from conftest import sampled
from netsim.results import claims
from netsim.text.expressions.typed import evaluate

VT = 300.15 * 1.380649e-23 / 1.602176634e-19
"""Thermal voltage at 27 degC."""


def circuit(text, *signals, **options):
    """The samples of a netlist of circuits."""
    return sampled(netsim.load("use electrical\nuse signal\n" + text + "\n"), tuple(signals), **options)


def settled(text, *signals):
    """Signals at the operating point."""
    samples = circuit(text + "\nrun transient(stop = 1 ms, step = 1 ms)", *signals)
    found = [float(samples.series(s)[0]) for s in signals]
    return found[0] if len(found) == 1 else found


# ------------------------------------------------------------------------------------------------ thyristors


@pytest.mark.parametrize(
    "v, current", [(-2.0, -2 / 0.7), (0.0, 0.0), (0.35, 0.5), (0.65, 0.65 / 0.7), (0.65**2 / 0.7 + 0.05, 1.0), (1.0, (1 - 0.65**2 / 0.7) / 0.05)]
)
@pytest.mark.parametrize("scale", [1.0, 1e-6])
def test_gate_is_a_resistance_of_two_slopes(v, current, scale):
    """Igt/Vgt below 0.65 V, Igt/(Vgt - 0.65 V) beyond; it takes power wherever it is."""
    found = settled(f"sg voltage (g, ground) v = {v!r} V\nt thyristor (ground, ground, g) Igt = {5e-3 * scale} A", "t.ig")
    assert found == pytest.approx(5e-3 * scale * current, rel=1e-9, abs=1e-15) and found * v >= 0


@pytest.mark.parametrize("kind, nodes", [("thyristor", "ground, ground, g"), ("triac", "ground, ground, g")])
def test_open_gate_rests(kind, nodes):
    samples = circuit(
        f"t {kind} ({nodes})\nr resistor (g, ground) R = 1 kOhm\nc capacitor (g, ground) C = 1 nF, start v = 0.5 V\nrun transient(stop = 100 us)",
        "g.v",
    )
    assert samples.series("g.v")[0] == pytest.approx(0.5) and abs(samples.series("g.v")[-1]) < 1e-6


@pytest.mark.parametrize("Vtm, Itm", [(1.7, 25.0), (0.6, 1e-3)])
def test_voltage_of_a_conducting_thyristor(Vtm, Itm):
    """Vtm at Itm, as its parameters say."""
    device = f"t thyristor (a, ground, g) Vtm = {Vtm} V, Itm = {Itm} A, Ih = {Itm / 1000} A"
    samples = circuit(
        f"s current (a, ground) I = {Itm} A\n{device}\nsg current (g, ground) I = 10 mA*pulse(time, 1 us, 20 us)\nrun transient(stop = 100 us)", "a.v"
    )
    assert samples.series("a.v")[-1] == pytest.approx(Vtm, rel=1e-6)


@pytest.mark.parametrize("Igt", [50e-6, 5e-3, 0.2])
@pytest.mark.parametrize("share, fires", [(0.9, False), (1.05, True)])
def test_trigger_goes_with_its_gate_current(Igt, share, fires):
    device = f"t thyristor (b, ground, g) Igt = {Igt} A"
    samples = circuit(
        f"v voltage (a, ground) v = 20 V\nr resistor (a, b) R = 10 Ohm\n{device}\nsg current (g, ground) I = {Igt * share} A*step(time, 1 us)\nrun transient(stop = 50 us)",
        "t.i",
    )
    assert samples.series("t.i")[-1] == (pytest.approx(20 / (10 + 1.7 / 25), rel=1e-3) if fires else pytest.approx(0, abs=0.02))


# ------------------------------------------------------------------------------------------------ diodes, transistors, switches


def test_base_resistance_of_small_and_large_current_agree_by_default():
    """RBM = RB in SPICE: 5 V over 5 kOhm and a junction."""
    text = "s voltage (p, ground) v = 5 V\nq bjt (p, p, ground, ground) Is = 1e-15 A, Bf = 100, Rb = 5 kOhm"
    base = settled(text, "q.b.i")
    assert base == pytest.approx((5 - VT * np.log(100 * base / 1e-15)) / 5e3, rel=1e-6)
    assert settled(text + ", Rbm = 5 kOhm", "q.b.i") == pytest.approx(base, rel=1e-12)


@pytest.mark.parametrize("current", [1e-6, 1e-3, 5.0, 500.0])
def test_breakdown_is_exponential_up_to_its_limit(current):
    """I = Ibv exp((-v - BV)/Vt) for every current below `limit` (1000 A)."""
    voltage = float(-6 - VT * np.log(current / 1e-3))
    assert settled(f"s voltage (a, ground) v = {voltage!r} V\nd diode (a, ground) BV = 6 V, Gmin = 0 S", "d.i") == pytest.approx(-current, rel=1e-6)


def test_breakdown_is_linear_beyond_its_limit():
    """Straight with the slope limit/Vt."""
    voltage = float(-6 - VT * np.log(2.0 / 1e-3) - 3 * VT)
    found = settled(f"s voltage (a, ground) v = {voltage!r} V\nd diode (a, ground) BV = 6 V, Gmin = 0 S, limit = 2 A", "d.i")
    assert found == pytest.approx(-(2.0 - 1e-3 + 3 * (2.0 - 1e-3)), rel=2e-3)


@pytest.mark.parametrize(
    "kind, words",
    [
        ("voltage_switch (a, ground, a, ground) Von = 0 V", "Von and Voff must differ"),
        ("current_switch (a, ground, b, ground) Ion = 0 A", "Ion and Ioff must differ"),
    ],
)
def test_switches_without_a_transition_are_told(kind, words):
    with pytest.raises(netsim.InputError, match=words):
        settled(f"s voltage (a, ground) v = 1 V\nk {kind}", "s.i")


# ------------------------------------------------------------------------------------------------ saturation


@pytest.mark.parametrize("part", [1 - 1e-9, 0.9, 0.5, 1e-2, 1e-4, 1e-6, 1e-8])
def test_saturating_inductor_has_its_nominal_inductance(part):
    """Flux over current at Inom is Lnom, however near Lnom is to Lzer (part: (Lzer - Lnom)/(Lzer - Linf))."""
    Lnom = 2 - 1.5 * part
    samples = circuit(
        f"s current (a, ground) I = 3 A*time/(1 s)\nk saturating_inductor (a, ground) Inom = 3 A, Lzer = 2 H, Linf = 0.5 H, Lnom = {Lnom!r} H\nrun transient(stop = 1 s)",
        "k.psi",
    )
    assert 2 - samples.series("k.psi")[-1] / 3 == pytest.approx(2 - Lnom, rel=1e-6)


# ------------------------------------------------------------------------------------------------ operational amplifiers


@pytest.mark.parametrize("gain, gbw", [(2e5, 1e6), (1e6, 1e9), (100.0, 10.0)])
def test_detailed_amplifier_recovers_from_overdrive(gain, gbw):
    """A comparator overdriven by 1 V: what stands behind the pole passes the limit by 1 V at most, and comes back with 2 pi gbw per second and volt."""
    stop = 40 / gbw
    samples = circuit(
        f"s voltage (p, ground) v = 1 V - 2 V*step(time, {stop / 4} s)\nk detailed_opamp (p, ground, o) gain = {gain}, gbw = {gbw} Hz\nrun transient(stop = {stop} s)",
        "o.v",
        "k.u",
    )
    t, u, v = samples.time, samples.series("k.u"), samples.series("o.v")
    assert np.abs(u).max() < 16.0 + 1e-6 and np.abs(v).max() < 15.0 + 1e-6 and v[t < 0.99 * stop / 4] == pytest.approx(15.0)
    tau = gain / (2 * np.pi * gbw)
    first = u[t < 0.99 * stop / 4][-1] - 15
    leaves = stop / 4 + tau / (1 + gain) * np.log1p(first / ((gain + 15) / (1 + gain)))  # u - 15 falls to zero, towards -(gain + 15)/(1 + gain)
    arrives = leaves + tau * np.log((gain + 15) / (gain - 15))  # u falls from 15 to -15, towards -gain
    assert np.interp(-14.9, v[t > stop / 4][::-1], t[t > stop / 4][::-1]) == pytest.approx(arrives, abs=0.02 * (arrives - stop / 4))


def test_detailed_amplifier_is_linear_to_its_limits():
    samples = circuit(
        "s voltage (p, ground) v = 40 V*time/(1 s) - 20 V\nk detailed_opamp (p, o, o) upper = 12 V, lower = -10 V, Rout = 0 Ohm\nrun transient(stop = 1 s)",
        "o.v",
        "p.v",
    )
    assert samples.series("o.v") == pytest.approx(np.clip(samples.series("p.v"), -10, 12), abs=2e-4)


def test_follower_by_its_data_sheet_does_not_ring():
    """The stage that limits the rate is no pole near the frequency of unit gain (1 MHz): a small step overshoots by the second pole's part alone."""
    step = "src voltage (a, ground) v = 10 mV*step(time, 1 us)\nsp voltage (vp, ground) v = 15 V\nsn voltage (vn, ground) v = -15 V\n"
    samples = circuit(
        step + "op data_sheet_opamp (a, o, o, vp, vn) Vos = 0 V, Ib = 0 A, Ios = 0 A, Cin = 0 F\nrun transient(stop = 6 us)", "o.v", rtol=1e-8
    )
    t, v = samples.time, samples.series("o.v")
    k = 10 ** (106 / 20)
    w1, w2, w3, w4, wz = 2 * np.pi * np.array([5.0, 2e6, 20e6, 100e6, 5e6])
    # closed loop: numerator and denominator of k (1 + s/wz)/(...), by their partial fractions
    up = k * np.array([1 / wz, 1.0])
    down = np.polymul(np.polymul(np.polymul([1 / w1, 1], [1 / w2, 1]), np.polymul([1 / w3, 1], [1 / w4, 1])), [10e-9, 1])
    poles = np.roots(np.polyadd(down, up))
    slope = np.polyder(np.polyadd(down, up))
    s = np.maximum(t - 1e-6, 0)
    wanted = 10e-3 * np.polyval(up, 0) / np.polyval(np.polyadd(down, up), 0) + 10e-3 * np.real(
        sum(np.polyval(up, p) / np.polyval(slope, p) / p * np.exp(p * s) for p in poles)
    )
    assert v == pytest.approx(np.where(t > 1e-6, wanted, v), abs=2e-5)
    assert v.max() < 1.1 * 10e-3


@pytest.mark.parametrize("kind", ["supplied_opamp", "data_sheet_opamp"])
@pytest.mark.parametrize("volts", [5.0, -5.0])
def test_output_current_comes_out_of_the_supplies(kind, volts):
    """A follower that delivers 5 mA takes 5 mA from vp, one that takes 5 mA gives them to vn; the other supply has none."""
    text = f"s voltage (a, ground) v = {volts} V\nsp voltage (vp, ground) v = 15 V\nsn voltage (vn, ground) v = -15 V\nop {kind} (a, o, o, vp, vn)\nr resistor (o, ground) R = 1 kOhm"
    out, upper, lower, loss = settled(text, "r.i", "op.iu", "op.il", "op.loss")
    assert out == pytest.approx(volts / 1000, rel=2e-3)
    assert [upper, lower] == pytest.approx([max(out, 0), min(out, 0)], abs=1e-7) and loss == pytest.approx(15 * abs(out) - 1000 * out**2, rel=1e-4)


@pytest.mark.parametrize("line", ["d diode (b, ground)", "d bjt (a, b, ground, ground)", "d jfet (a, b, ground)", "d mosfet (a, b, ground, ground)"])
def test_junctions_too_cold_for_their_law_are_told(line):
    """At 5 K the saturation current of silicon is below 1e-290 A: told at the element; at 30 K it runs."""
    text = "sa voltage (a, ground) v = 5 V\nr resistor (a, b) R = 1 kOhm\n{} T = {} K"
    assert np.isfinite(settled(text.format(line, 30), "b.v"))
    with pytest.raises(netsim.InputError, match="so cold that the saturation current") as told:
        settled(text.format(line, 5), "b.v")
    assert all(problem.code == "E235" and problem.span is not None for problem in told.value.problems)


def test_integrator_behind_a_sliding_relay_begins_at_zero():
    """Without a start it rests where the relay slides; with one it goes there at the relay's rate and stays."""
    loop = "r sliding_relay (y, u)\nc constant (w) value = 0.25\nd difference (w, u, e)\ni integrator (e, y)\n{}run transient(stop = 2 s)"
    rest = circuit(loop.format(""), "y", "u")
    assert np.abs(rest.series("y")).max() == 0.0 and rest.series("u") == pytest.approx(0.25)
    driven = circuit(loop.format("start y = 0.6\n"), "y")
    assert driven.series("y") == pytest.approx(np.maximum(0.6 - 0.75 * driven.time, 0), abs=1e-9)


def test_an_assert_within_a_part_of_the_library_is_told_at_the_line_of_the_user():
    """A triac is two thyristors: the line of the triac comes first, then where the thyristor stands in it."""
    text = "use electrical\nv voltage (a, ground) v = 10 V\nx triac (a, b, g) Vgt = 0.6 V\nr resistor (b, ground) R = 10 Ohm\nq resistor (g, ground) R = 1 Ohm\nrun static()\n"
    with pytest.raises(netsim.InputError) as told:
        netsim.load(text).run()
    problem = told.value.problems[0]
    assert (problem.code, problem.span.line) == ("E235", 3) and "x.back" in problem.message
    assert [words for _, words in problem.also] == ["this element of it"]


JUNCTION = VT * float(np.log(1e3 / 1e-14))
"""Where the current of a junction with the usual saturation current comes to the usual limit."""


@pytest.mark.parametrize(
    ("element", "kind", "most"),
    [
        ("d[k] diode (a[k], ground)", "diode", JUNCTION),
        ("d[k] diode (ground, a[k]) BV = 1 V", "diode", 1 + VT * float(np.log(1e3 / 1e-3))),
        ("d[k] detailed_diode (a[k], ground)", "detailed_diode", JUNCTION),
        ("d[k] detailed_diode (a[k], ground) Isr = 1 A", "detailed_diode", 2 * VT * float(np.log(1001))),
        ("r[k] resistor (c[k], ground) R = 1 Ohm for k in 1..3\nd[k] bjt (c[k], a[k], ground, ground)", "bjt", VT * float(np.log(1e3 / 1e-16))),
        ("d[k] simple_bjt (ground, a[k], ground)", "simple_bjt", 40 * 25.85e-3),
        ("d[k] forward_bjt (ground, a[k], ground)", "forward_bjt", 25.85e-3 * float(np.log(1e9))),
        ("d[k] jfet (ground, a[k], ground)", "jfet", JUNCTION),
        ("d[k] mesfet (ground, a[k], ground)", "mesfet", JUNCTION),
        ("d[k] jfet2 (ground, a[k], ground)", "jfet2", JUNCTION),
        ("d[k] mesfet2 (ground, a[k], ground)", "mesfet2", VT * float(np.log(1e3 / (1e-11 * 4e4 * 300.15**2 * np.exp(-0.5 / VT))))),
        ("d[k] mosfet (ground, ground, ground, a[k])", "mosfet", JUNCTION),
        ("d[k] mosfet3 (ground, ground, ground, a[k])", "mosfet3", JUNCTION),
        ("d[k] vdmos (ground, a[k], a[k])", "vdmos", VT * float(np.log(1e5 / 1e-14))),
    ],
)
def test_a_junction_beyond_its_limit_is_told(element, kind, most):
    """Voltages that rise by 1, 2 and 3 V/s: the last two exceed the limit within the run, at known instants."""
    text = f"use electrical\n{element} for k in 1..3\nv[k] voltage (a[k], ground) v = k*time*1 V/s for k in 1..3\nrun transient(stop = {0.7 * most!r} s)\n"
    (samples,) = netsim.load(text).samples({"sample": 2e-4})
    told = samples.attributes["notes"]
    assert "d[1]" not in told and told.count("exceeds `limit`") == 2
    for k in (2, 3):
        at = float(told.split(f"{kind} 'd[{k}]' at t = ")[1].split(" s")[0])
        assert at == pytest.approx(most / k, rel=2e-3)


OWN = """use electrical
function law(v : V) : A = junction(v, 1 nA, 50 mV, 2 A)
component own (p, n : electrical) "a junction within a function, and one whose voltage is a rate"
  branch p -> n : v, i
  let    rate = der(v)*1 s
  i = law(v) + junction(rate, 1 nA, 50 mV, 2 A)
end
d own (a, ground)
v voltage (a, ground) v = {volts!r} V
"""


@pytest.mark.parametrize(("excess", "told"), [(-1e-9, 0), (1e-9, 1)])
def test_own_components_tell_their_limit(excess, told):
    """A current of 2 A at 50 mV*log(1 + 2e9); what reads a rate is not judged."""
    volts = 0.05 * float(np.log1p(2e9)) + excess
    notes = netsim.load(OWN.format(volts=volts)).static().attrs.get("notes", "")
    assert notes.count("own 'd' at t = 0 s: the current of a junction exceeds `2 A`") == told


def _warm_current(temperature, volts):
    """The current of a diode at a temperature, with its default parameters."""
    vt = VT * temperature / 300.15
    return 1e-14 * (temperature / 300.15) ** 3 * np.exp((temperature / 300.15 - 1) * 1.11 / vt) * np.expm1(volts / vt)


def test_equilibria_tell_a_junction_beyond_its_limit():
    circuit = "use electrical\nd[k] diode (a, ground) for k in 1..2\nv voltage (a, ground) v = 1 V\n"
    assert "notes" not in netsim.load(circuit).static().attrs
    (found,) = netsim.load(circuit.replace("1 V", "2 V") + "run static()\n").samples()
    assert "'d[1]' at t = 0 s: the current" in found.attributes["notes"]
    (found,) = netsim.load(circuit + "run sweep_static(over = v.v, values = [0.9 V, 1 V, 1.1 V])\n").samples()
    assert found.attributes["notes"].count("at v.v = 1.1 V: the current of a junction") == 2


def test_equilibria_over_a_parameter_are_judged_with_its_values():
    """Only the diode that becomes warm exceeds its limit, from a temperature on that its law gives."""
    circuit = "use electrical\nd[k] diode (a, ground) for k in 1..2\nv voltage (a, ground) v = 1 V\n"
    kelvins = [290.0 + 5 * k for k in range(12)]
    first = next(t for t in kelvins if _warm_current(t, 1.0) > 1000)
    assert kelvins[0] < first < kelvins[-1]
    values = ", ".join(f"{t} K" for t in kelvins)
    (found,) = netsim.load(circuit + f"run sweep_static(over = d[2].T, values = [{values}])\n").samples()
    told = found.attributes["notes"]
    assert f"diode 'd[2]' at d[2].T = {first:g} K: the current of a junction" in told and "'d[1]'" not in told


@pytest.mark.parametrize("count", [2, 20])
def test_alike_elements_are_judged_at_once(count, monkeypatch):
    """The expressions of an assert are evaluated once for all elements that are alike."""
    calls = []
    monkeypatch.setattr(claims, "evaluate", lambda *given: calls.append(given) or evaluate(*given))
    circuit = f"use electrical\nd[k] diode (a, ground) for k in 1..{count}\nv voltage (a, ground) v = 2 V\nrun transient(stop = 1 s)\n"
    (samples,) = netsim.load(circuit).samples()
    assert samples.attributes["notes"].count("exceeds `limit`") == min(count, 6)
    assert len(calls) == 5  # the condition, and the four lets behind it: I0, Vt of it, Vt of both junctions
