"""Small signals about periodic states: `ac` where nothing varies, Hill's determinant, averaged converters, and runs with
a small sine at the input."""

import sys
from pathlib import Path

import numpy as np
import pytest

import netsim
from netsim.analyses.periodic import forced
from netsim.text.errors import InputError, SimulationError

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from periodic import BUCK, PI
from test_periodic import SAMPLED_PI

FILTER = """
use electrical
src voltage   (a, ground) v = {s} V*sin(2*pi*1 kHz*time)
r1  resistor  (a, b)      R = {z}*1 kOhm
l1  inductor  (b, c)      L = {z}*10 mH
c1  capacitor (c, ground) C = 20 nF/{z}
r2  resistor  (c, ground) R = {z}*5 kOhm
c2  capacitor (a, ground) C = 1 nF/{z}
c3  capacitor (b, d)      C = 5 nF/{z}
r3  resistor  (d, ground) R = {z}*1 kOhm
save c.v, l1.i, b.v, src.i, 2*c.v - b.v
"""
DRIVEN = """
use translational
p1 displacement (a, ground) s = 0.1 m*sin(4*time/(1 s))
s1 spring  (a, b)        c = 90 N/m
d1 damper  (a, b)        d = 2 N.s/m
m1 mass    (b)           m = 2 kg
f1 force   (b)           F = -1 N.s/m*b.v
save b.x, b.v, p1.f
"""
MATHIEU = """
use translational
m1 mass   (a)         m = {m} kg
s1 spring (a, ground) c = {m}*1.3 N/m
d1 damper (a, ground) d = {m}*0.2 N.s/m
f1 force  (a)         F = {m}*(0.3 N*sin(2*time/(1 s)) - 0.5 N/m*cos(2*time/(1 s))*a.x)
save a.x, a.v
"""
OPEN = f"""{BUCK}
param eps = 0
param beat = 20
aim       signal_source (command)    value = 0.42 + eps*cos(2*pi*time/(beat*10 us))
modulator pulse_width   (command, g) period = 10 us
save sw.v
"""
CLOSED = f"""{BUCK}
{PI.replace("value = 5", "value = 5 + eps*cos(2*pi*time/(beat*10 us))")}
param eps = 0
param beat = 20
save sw.v
"""
RECTIFIER = """
use electrical
param eps = 0
param beat = 3
src voltage   (ac, ground) v = 10 V*sin(2*pi*50 Hz*time) + eps*cos(2*pi*50 Hz*time/beat)*1 V
rs  resistor  (ac, anode)  R = 0.5 Ohm
d1  ideal_diode (anode, dc) Ron = 10 mOhm, Goff = 1 uS
c1  capacitor (dc, ground) C = 2 mF
rl  resistor  (dc, ground) R = 22 Ohm
save dc.v, d1.i
"""
SAMPLED = f"""{BUCK}
param eps = 0
param beat = 20
{SAMPLED_PI.replace("value = 5", "value = 5 + eps*cos(2*pi*time/(beat*20 us))")}
"""


def side(name, k=0):
    return f"{name} at f {'+' if k > 0 else '-'} {abs(k)}/T" if k else name


def injected(text, output, eps, beat, harmonic, period, **options):
    """The Fourier component of an output per amplitude, by periodic states of `beat` periods with a small cosine of
    both signs."""
    model, found = netsim.load(text), []
    for sign in (1.0, -1.0):
        data = model.with_params(eps=sign * eps, beat=beat).periodic(period=beat * period, harmonics=max(harmonic, 2), save=[output], **options)
        found.append(data[f"amplitude({output})"].values[harmonic] * np.exp(1j * data[f"phase({output})"].values[harmonic]))
    return (found[0] - found[1]) / (2.0 * eps)


# -------------------------------------------------------------------------------------------- nothing varies


@pytest.mark.parametrize("z", [1.0, 1e-9, 1e6])
def test_a_linear_circuit_responds_as_ac_says(z):
    """A capacitor beside the source is no free state, and its current has the derivative of the input."""
    model = netsim.load(FILTER.format(s=z, z=z))
    frequencies = [0.0, 100.0, 3e3, 11254.0, 5e4]
    wanted = model.ac(input="src", frequencies=frequencies)
    found = model.periodic_ac(input="src", frequencies=frequencies, sidebands=1)
    for name in wanted.data_vars:
        size = np.abs(wanted[name].values).max()
        np.testing.assert_allclose(found[name].values, wanted[name].values, rtol=1e-8, atol=1e-9 * size)
        assert np.abs(found[side(name, 1)].values).max() < 1e-9 * size
        assert found[name].attrs["units"] == wanted[name].attrs["units"]


@pytest.mark.parametrize("name", ["p1", "f1"])
def test_prescribed_motion_and_bound_forces_are_inputs(name):
    """The position of the first node is no free state, and its velocity and acceleration swing with it."""
    model = netsim.load(DRIVEN)
    frequencies = [0.01, 1.0, 1.1, 20.0]
    wanted = model.ac(input=name, frequencies=frequencies)
    found = model.periodic_ac(input=name, frequencies=frequencies)
    for signal in wanted.data_vars:
        np.testing.assert_allclose(found[signal].values, wanted[signal].values, rtol=1e-8, atol=1e-12)


# ---------------------------------------------------------------------------------------------- what varies


@pytest.mark.parametrize("m", [1.0, 1e-9, 1e6])
def test_mathieus_equation_by_harmonic_balance(m):
    """x'' + 0.2 x' + (1.3 + 0.5 cos 2t) x = w: Hill's infinite matrix, cut at 30 harmonics."""
    frequencies, k = [0.05, 0.2, 0.7], np.arange(-30, 31)
    found = netsim.load(MATHIEU.format(m=m)).periodic_ac(input="f1", frequencies=frequencies, sidebands=2, rtol=1e-11)
    for i, f in enumerate(frequencies):
        s = 1j * (2 * np.pi * f + 2 * k)
        hill = np.diag(s**2 + 0.2 * s + 1.3) + 0.25 * (np.eye(61, k=1) + np.eye(61, k=-1))
        wanted = np.linalg.solve(m * hill, (k == 0).astype(complex))[28:33]
        got = [found[side("a.x", j)].values[i] for j in range(-2, 3)]
        np.testing.assert_allclose(got, wanted, atol=1e-11 * np.abs(wanted).max())
        np.testing.assert_allclose([found[side("a.v", j)].values[i] for j in range(-2, 3)], wanted * s[28:33], atol=1e-10 / m)


def test_an_averaged_converter_at_low_frequencies():
    """dv/dd of the averaged model, E behind Ron, L and C, and the edge that moves: it comes d T = 4.2 us into a period."""
    found = netsim.load(OPEN).periodic_ac(input="aim", frequencies=[1.0, 10.0, 100.0, 1000.0], period=10e-6)
    s = 2j * np.pi * found["frequency"].values
    load = 1.0 / (1.0 / 2.5 + s * 100e-6)
    wanted = 12.0 * load / (load + 0.01 + s * 47e-6) * np.exp(-s * 4.2e-6)
    off = np.abs(found["out.v"].values / wanted - 1.0)
    assert (off < [1e-6, 1e-6, 1e-5, 1e-3]).all()


def test_the_supply_of_an_averaged_converter_with_control():
    """At rest the integral holds the mean of the output, whatever the supply."""
    found = netsim.load(CLOSED).periodic_ac(input="supply", frequencies=[0.01, 0.1, 1.0], period=10e-6)
    gains = np.abs(found["out.v"].values)
    assert gains[0] < 1e-4
    np.testing.assert_allclose(gains[1:] / gains[:-1], 10.0, rtol=1e-3)


@pytest.mark.parametrize("text", [OPEN, CLOSED])
@pytest.mark.parametrize(("output", "rtol"), [("out.v", 1e-5), ("coil.i", 1e-5), ("sw.v", 1e-4)])
def test_a_converter_answers_as_with_a_small_sine_at_its_input(text, output, rtol):
    """5 kHz, a twentieth of the switching frequency, and its sidebands; edges of sw.v move."""
    found = netsim.load(text).periodic_ac(input="aim", frequencies=[5e3], sidebands=1, save=[output], period=10e-6)
    wanted = injected(text, output, 1e-4, 20, 1, 10e-6)
    assert abs(found[output].item() / wanted - 1.0) < rtol
    above = injected(text, output, 1e-4, 20, 21, 10e-6)
    assert abs(found[side(output, 1)].item() - above) < rtol * max(abs(above), abs(wanted))
    below = injected(text, output, 1e-4, 20, 19, 10e-6)
    assert abs(found[side(output, -1)].item() - np.conj(below)) < rtol * max(abs(below), abs(wanted))


def test_a_rectifier_with_an_ideal_diode():
    """A third of the mains frequency: instants of commutation move. (At 1/(2T) the sideband at f - 1/T is that of -f.)"""
    found = netsim.load(RECTIFIER).periodic_ac(input="src", frequencies=[50.0 / 3.0], sidebands=1, period=0.02)
    for output in ("dc.v", "d1.i"):
        for k, harmonic in ((0, 1), (1, 4)):
            wanted = injected(RECTIFIER, output, 1e-4, 3, harmonic, 0.02)
            assert abs(found[side(output, k)].item() / wanted - 1.0) < 1e-5


def test_a_sampled_controller():
    """What samples hold changes with the input at their instants."""
    found = netsim.load(SAMPLED).periodic_ac(input="aim", frequencies=[2.5e3], period=20e-6, save=["out.v"])
    wanted = injected(SAMPLED, "out.v", 1e-4, 20, 1, 20e-6)
    assert abs(found["out.v"].item() / wanted - 1.0) < 1e-5


def test_a_transient_with_a_small_sine_comes_to_the_same():
    """An ordinary run of 1 500 periods, sampled over the last 20 of them."""
    model, t, found = netsim.load(OPEN).with_params(beat=20), np.arange(4000) * 0.05e-6, []
    for sign in (1.0, -1.0):
        run = model.with_params(eps=sign * 1e-3).transient(stop=15.2e-3, sample=0.05e-6, rtol=1e-8, save=["out.v"])
        found.append(np.interp(15e-3 + t, run["time"].values, run["out.v"].values))
    wanted = np.mean((found[0] - found[1]) / 2e-3 * np.exp(-2j * np.pi * 5e3 * t)) * 2.0
    got = netsim.load(OPEN).periodic_ac(input="aim", frequencies=[5e3], period=10e-6, save=["out.v"])
    assert abs(got["out.v"].item() / wanted - 1.0) < 1e-4


# ------------------------------------------------------------------------------------------ options and refusals


def test_several_inputs_and_signals():
    model = netsim.load(OPEN)
    both = model.periodic_ac(inputs=["aim", "supply"], frequencies=[1e3, 2e3], period=10e-6, save=["out.v"])
    for name in ("aim", "supply"):
        alone = model.periodic_ac(input=name, frequencies=[1e3, 2e3], period=10e-6, save=["out.v"])["out.v"]
        full = {"aim": "aim.value", "supply": "supply.v"}[name]
        np.testing.assert_allclose(both[f"out.v per {full}"].values, alone.values, rtol=1e-9)


def test_what_is_followed_together_changes_nothing(monkeypatch):
    model = netsim.load(MATHIEU.format(m=1))
    given = {"input": "f1", "frequencies": [0.1, 0.2, 0.3], "rtol": 1e-11}
    whole = model.periodic_ac(**given)["a.x"].values
    monkeypatch.setattr(forced, "AT_ONCE", 1)
    np.testing.assert_allclose(model.periodic_ac(**given)["a.x"].values, whole, rtol=1e-9)


def test_enough_steps_in_a_cycle(monkeypatch):
    monkeypatch.setattr(forced, "PER_CYCLE", 20)
    with pytest.raises(AssertionError):
        test_a_linear_circuit_responds_as_ac_says(1.0)


def test_a_frequency_at_which_nothing_decays():
    text = MATHIEU.format(m=1).replace("d = 1*0.2 N.s/m", "d = 0 N.s/m").replace("0.5 N/m", "0 N/m")
    with pytest.raises(SimulationError, match="E443"):
        netsim.load(text).periodic_ac(input="f1", frequencies=[np.sqrt(1.3) / (2 * np.pi)])


def test_a_parameter_is_no_input():
    with pytest.raises(InputError, match="E429"):
        netsim.load(OPEN).periodic_ac(input="load.R", frequencies=[1e3])


def test_measures_speak_of_its_curves():
    text = OPEN + "run periodic_ac(from = 100 Hz, to = 10 kHz, input = aim, period = 10 us)\n"
    (samples,) = netsim.load(text + "measure low = gain(out.v, 100 Hz)\nassert low < 1 V\n").samples()
    assert samples.figures[0].value == pytest.approx(11.9734, rel=1e-4)
    assert len(samples.broken) == 1
