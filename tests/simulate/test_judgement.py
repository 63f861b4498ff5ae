"""What a run says of itself: energy accounts that do not close, given steps that are too long, steps that passed without a full test."""

from pathlib import Path

import numpy as np
import pytest

import netsim
from netsim import cli
from netsim.core.loop.turnover import FLOWS, IN, MISSED, OUT
from netsim.results.files import dataset, read, write
from netsim.simulate.judgement import energy_verdict
from netsim.simulate.options import TransientOptions
from netsim.text.errors import SimulationError

SCALES = [1e-9, 1.0, 1e6]
W = 2 * np.pi


def oscillator(scale):
    """One mass on a spring, period 1 s, let go at x = scale."""
    return netsim.load(f"""
use translational
m1  mass    (a)          m = 1 kg, start x = {scale!r} m
c1  spring  (a, ground)  c = {W**2!r} N/m
run transient(stop = 10 s)
""")


def circuit(scale):
    """A lossless resonant circuit, period 1 s, with the capacitor at `scale` volts."""
    return netsim.load(f"""
use electrical
c1  capacitor  (a, ground)  C = 1 F, start v = {scale!r} V
l1  inductor   (a, ground)  L = {1 / W**2!r} H
run transient(stop = 10 s)
""")


def codes(samples):
    return [problem.code for problem in samples.warnings], [problem.code for problem in samples.broken]


# ----------------------------------------------------------------------------------------------------- the energy account


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("build", [oscillator, circuit])
def test_what_implicit_euler_dissipates_is_told(build, scale):
    """Amplitude (1 + (w h)^2)^(-n/2): after 1000 steps of T/100 0.14, 98 % of the energy are gone, and nothing else is turned over."""
    (samples,) = build(scale).samples({"step": 0.01, "method": "euler"})
    assert codes(samples) == (["W501"], [])
    assert "implicit Euler in steps of 0.01 s dissipated 100 %" in samples.warnings[0].message and "method = radau" in samples.warnings[0].hint
    missed = samples.energy[0, 0] - samples.energy[-1, 0]
    assert missed == pytest.approx(samples.energy[0, 0] * (1 - (1 + (W * 0.01) ** 2) ** -1000), rel=1e-6)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("build", [oscillator, circuit])
def test_a_given_step_takes_radau_and_keeps_the_amplitude(build, scale):
    model = build(scale)
    signal = "a.x" if build is oscillator else "a.v"
    result = model.transient(stop=10.0, step=0.01, save=[signal])
    assert result.attrs["method"] == "radau" and "W501" not in result.attrs["warnings"]
    assert np.abs(result[signal].values - scale * np.cos(W * result["time"].values)).max() < 1e-6 * scale


@pytest.mark.parametrize("scale", SCALES)
def test_energy_turned_over_is_that_of_the_oscillation_once(scale):
    for build, energy in ((oscillator, W**2 * scale**2 / 2), (circuit, scale**2 / 2)):
        assert build(scale).transient(stop=10.0, step=0.002).attrs["turned_over"] == pytest.approx(energy, rel=1e-3)


def test_too_much_missing_under_an_error_test_fails_and_keeps_the_result(tmp_path, capsys):
    model = oscillator(1.0)
    with pytest.raises(SimulationError, match="E515 the energy balance of implicit Euler misses") as failed:
        model.transient(stop=10.0, method="euler", rtol=0.01)
    samples = failed.value.samples
    assert samples.finished and samples.time[-1] == 10.0 and len(samples.values) == len(samples.time)
    net, out = tmp_path / "swing.net", tmp_path / "swing.csv"
    net.write_text(model.network.text.replace("stop = 10 s", "stop = 10 s, method = euler, rtol = 0.01"), encoding="utf-8")
    assert cli.main(["run", str(net), "-o", str(out)]) == 1
    told = capsys.readouterr()
    assert "E515" in told.err and "unaccounted" in told.out and read(out)["time"].values[-1] == 10.0


def test_warnings_are_told_on_the_command_line_in_files_and_aloud(tmp_path, capsys):
    model = oscillator(1.0)
    net, out = tmp_path / "swing.net", tmp_path / "swing.csv"
    net.write_text(model.network.text.replace("stop = 10 s", "stop = 10 s, method = euler, step = 10 ms"), encoding="utf-8")
    assert cli.main(["run", str(net), "-o", str(out)]) == 0
    assert f"{net}:5:1: W501 implicit Euler" in capsys.readouterr().err
    assert read(out).attrs["warnings"].startswith("W501 implicit Euler") and read(out).attrs["finished"]
    with pytest.warns(RuntimeWarning, match="W501 implicit Euler") as seen:
        result = model.transient(stop=10.0, step=0.01, method="euler")
    assert result.attrs["warnings"].startswith("W501") and seen[0].filename == __file__
    (path,) = write(result, tmp_path / "swing.nc")
    assert read(path).attrs["warnings"] == result.attrs["warnings"]


QUIET = {
    "at rest in a strained spring": "use translational\nm1 mass (a) m = 1 kg\nc1 spring (a, ground) c = 1 MN/m\nf1 force (a) F = 1 kN\n"
    "run transient(stop = 1 s, from = static)",
    "nothing at all": "use electrical\nr resistor (a, ground) R = 1 Ohm\nc capacitor (a, ground) C = 1 F\nrun transient(stop = 1 s)",
    "a source and a resistor": "use electrical\nv voltage (a, ground) v = 1 V\nr resistor (a, ground) R = 1 Ohm\nrun transient(stop = 1 s)",
    "heat": "use thermal\nc heat_capacity (a) C = 1 kJ/K, start T = 300 K\nw thermal_conductor (a, b) G = 1 W/K\nt temperature (b) T = 280 K\n"
    "run transient(stop = 1 h)",
    "a velocity that jumps": "use translational\nd1 damper (a, b) d = 2 N.s/m\nc1 spring (b, ground) c = 100 N/m\n"
    "v1 velocity (a, ground) v = 1 m/s*step(time, at = 0.5 s)\nrun transient(stop = 2 s, from = rest)",
    "a component that says nothing of energies": "use translational\ncomponent heavy (p : translational) \"m a\"\n  branch p -> ground : v, f\n"
    "  f = 2 kg*der(v)\nend\nm1 heavy (a)\nc1 spring (a, ground) c = 79 N/m\nf force (a) F = 1 N\nrun transient(stop = 3 s, from = rest)",
}  # fmt: skip


@pytest.mark.parametrize("what", QUIET)
def test_no_alarm(what):
    (samples,) = netsim.load(QUIET[what] + "\n").samples()
    assert codes(samples) == ([], [])


FORGETFUL = """
use translational
component sticky_mass (p : translational) "its drag is in no account"
  branch p -> ground : v, f
  f = 1 kg*der(v) + 1 N.s/m*v
  stores 1 kg*v^2/2
end
m1 sticky_mass (a)
c1 spring (a, ground) c = 40 N/m
start a.x = 1 m
run transient(stop = 5 s)
"""


def test_statements_of_one_s_own_are_named_and_do_not_fail():
    (samples,) = netsim.load(FORGETFUL).samples()
    assert codes(samples) == (["W501"], []) and "`stores` and `dissipates` of 'sticky_mass'" in samples.warnings[0].hint


def test_energies_of_a_domain_without_power_are_not_judged():
    text = FORGETFUL.replace("use translational", 'domain way "a"\n  across v : m/s "v"\n  through f : N "f"\nend').replace(
        ": translational", ": way"
    )
    text = text.replace("c1 spring (a, ground) c = 40 N/m\nstart a.x = 1 m", "start a.v = 1 m/s")
    (samples,) = netsim.load(text).samples()
    assert codes(samples) == ([], []) and samples.energy[-1, 0] < 0.1 * samples.energy[0, 0]


def test_the_summary_shows_rounding_as_nothing(tmp_path, capsys):
    net = tmp_path / "still.net"
    net.write_text(
        "use electrical\nv voltage (a, ground) v = 10 kV\nr resistor (a, b) R = 1 Ohm\nc capacitor (b, ground) C = 1 mF\nrun transient(stop = 1 s)\n"
    )
    assert cli.main(["run", str(net), "-o", str(tmp_path / "still.csv")]) == 0
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("energy:"))
    assert line.endswith("unaccounted 0 J")


# ------------------------------------------------------------------------------------------------------- steps let pass


def test_a_given_step_that_is_too_long_is_told():
    model = oscillator(1.0)
    (long,), (fine,) = model.samples({"step": 0.1}), model.samples({"step": 0.1, "rtol": 1e-2})
    assert codes(long) == (["W502"], []) and "in 100 of 100 steps" in long.warnings[0].message
    assert long.attributes["rough_steps"] == 100 and codes(fine) == ([], [])


SIDES = """
use translational
component push (p, q : translational) "pushes q by the side of p"
  branch p -> ground : vp, fp
  branch q -> ground : vq, fq
  fp = 0
  fq = 5 N*sign(p.x)
end
m1 mass (a) m = 1 kg
h1 push (a, b)
d1 damper (b, ground) d = 1 N.s/m
c1 spring (b, ground) c = 3 N/m
start a.x = -1 m
start a.v = 3 m/s
run transient(stop = 1 s)
"""


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_a_law_that_jumps_is_crossed_and_told(method):
    """A force of 5 N changes its side at 1/3 s: x = 5/3 m ((2 - 1/e) exp(-3 (t - 1/3 s)) - 1). BDF crosses it untested."""
    (samples,) = netsim.load(SIDES).samples({"method": method})
    assert samples.series("b.x")[-1] == pytest.approx(5 / 3 * ((2 - np.exp(-1)) * np.exp(-2) - 1), rel=1e-4)
    crossed = samples.attributes["untested_steps"]
    assert (crossed > 0) == (method == "bdf") and codes(samples) == (["W503"] if crossed else [], [])
    assert not crossed or f"{crossed} steps of the shortest possible length failed the error test" in samples.warnings[0].message


def test_every_count_is_an_attribute():
    result = dataset(oscillator(1.0).samples()[0])
    for name in ("rough_steps", "untested_steps", "jumps", "inconsistent_points"):
        assert result.attrs[name] == 0


@pytest.mark.parametrize(("missed", "code"), [(0.5e-3, "E515"), (0.05e-3, "W501"), (0.005e-3, None), (-0.5e-3, "E515")])
def test_types_that_netsim_makes_are_no_own_statements(missed, code):
    """Coupled inductors are a type that netsim makes: where the account of their network misses much, the run has failed."""
    model = netsim.load(Path(__file__).parents[1] / "reference" / "spice" / "transformer_flyback_k.cir")
    (fine,) = model.samples({"method": "radau", "rtol": 1e-4})
    assert fine.finished and not fine.broken
    turnover = np.zeros((9, 8))
    turnover[FLOWS, [IN, OUT, MISSED]] = 1e-3, 1e-3, missed
    found = energy_verdict(TransientOptions(stop=1e-3, method="radau", rtol=1e-4), model.network, turnover)
    assert (found and found.code) == code


@pytest.mark.parametrize("stop", [1.75, 2.0])
@pytest.mark.parametrize("method", ["radau", "bdf"])
@pytest.mark.parametrize(("size", "span"), [(1.0, 1.0), (1e-6, 1.0), (1e3, 1e-6)])
def test_sources_that_feed_one_another_turn_nothing_over(stop, method, size, span):
    """A core with hysteresis counts as a source, and a source magnetises it: their powers are each other's, and what is left of them is rounding."""
    text = "use magnetic\nk1 hysteresis_core (p, ground) l = 1 m, A = 1 cm2, alpha = 0"
    text += f", Ms = {1.6e6 * size} A/m, a = {1100 * size} A/m, k = {400 * size} A/m\n"
    text += f"s1 magnetomotive_force (p, ground) theta = {3e3 * size} A*sin(2*pi*time/({span} s))\nstart k1.Mirr = 0 A/m\n"
    (samples,) = netsim.load(f"{text}run transient(stop = {stop * span} s, method = {method}, rtol = 1e-7)\n").samples()
    assert codes(samples) == ([], []) and max(abs(samples.energy[:, 1])) > 0.0


@pytest.mark.parametrize(("exchanged", "code"), [(0.0, "E515"), (0.09, "E515"), (0.11, None)])
def test_what_is_left_of_powers_that_cancel_is_not_judged(exchanged, code):
    model = netsim.load(Path(__file__).parents[1] / "reference" / "spice" / "transformer_flyback_k.cir")
    turnover = np.zeros((9, 8))
    turnover[FLOWS, [IN, MISSED]] = 1e-12, 5e-13
    options = TransientOptions(stop=1e-3, method="radau", rtol=1e-4)
    found = energy_verdict(options, model.network, turnover, exchanged=lambda: exchanged)
    assert (found and found.code) == code


@pytest.mark.parametrize("formulation", ["absolute", "tree"])
@pytest.mark.parametrize("rtol", [1e-9, 1e-10])
def test_what_merely_spins_is_not_judged_by_what_it_turns_over(formulation, rtol):
    """A heavy symmetrical top in steady precession p, I1 cos(th) p^2 - I3 w p + m g l = 0: it holds 32 J and turns nothing over."""
    m, distance, across, along, tilt, w = 1.0, 0.2, 0.05, 0.01, 0.5, 80.0
    a, b, c = across * np.cos(tilt), along * w, m * 9.81 * distance
    p = (b - np.sqrt(b**2 - 4 * a * c)) / (2 * a)
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    spin, own = (w - p * np.cos(tilt)) * axis + [0, 0, p], across - m * distance**2
    inertia = own * np.eye(3) + (along - own) * np.outer(axis, axis)
    rows = ", ".join(f"[{', '.join(map(repr, map(float, row)))}]" for row in inertia)
    at = f"[{float(distance * axis[0])!r}, 0, {float(distance * axis[2])!r}] m"
    model = netsim.load(
        f"use spatial\nworld gravity = [0, 0, -9.81] m/s2\nb body (a) m = {m} kg, I = [{rows}]*1 kg.m2, at = {at}\n"
        f"j spherical (ground, a) at = [0, 0, 0] m\nk marker (a) at = {at}\nstart a.w = [{', '.join(map(repr, map(float, spin)))}] rad/s\n"
        f"run transient(stop = 1 s, rtol = {rtol}, formulation = {formulation})\nsave k.r\n"
    )
    (samples,) = model.samples()
    assert codes(samples) == ([], [])
    reach = distance * np.sin(tilt)
    assert samples.series("k.r.x") == pytest.approx(reach * np.cos(p * samples.time), abs=1e-8 * reach)
    assert samples.series("k.r.y") == pytest.approx(reach * np.sin(p * samples.time), abs=1e-8 * reach)


def test_expressions_without_a_value_are_told():
    """The run is right; what is divided by zero everywhere, and a logarithm that begins at 0, are named."""
    lines = "let bad = a.v/(0*a.x)\nlet near = log(a.x/(1 m))\nsave a.x, bad, near\nrun transient(stop = 1 s)\n"
    (samples,) = netsim.load("use translational\nm mass (a) m = 1 kg, start v = 1 m/s\n" + lines).samples()
    told = [problem.message for problem in samples.warnings]
    assert [problem.code for problem in samples.warnings] == ["W504", "W504"] and "further" not in told[1]
    assert told[0].startswith("'bad' has no finite value at t = 0 s and at") and told[1] == "'near' has no finite value at t = 0 s"


ROCKET = """
use translational
component rocket (p : translational) "loses 1 kg/s of its mass at 1000 m/s, and says nothing of energies"
  branch p -> ground : x, v, f
  var m : kg
  der(m) = -1 kg/s
  f = m*der(v) - 1 kg/s*1000 m/s
end
k rocket (a) start m = 10 kg
run transient(stop = 9 s)
"""


def test_what_components_of_a_user_do_not_say_is_no_failure():
    """Nothing but rounding flows into the rocket: v = 1000 log(10/(10 - t)) is right, and no energy is known."""
    (samples,) = netsim.load(ROCKET).samples()
    assert samples.series("a.v")[-1] == pytest.approx(1000 * np.log(10), rel=1e-5)
    assert not samples.broken and all("'rocket'" in problem.hint for problem in samples.warnings)


FLOATING = """
use electrical
v1 voltage  (a, ground) v = 10 V*sin(2*pi*50 Hz*time)
r1 resistor (a, b)      R = 1 kOhm
l1 inductor (b, c)      L = 1 mH
r2 resistor (b, c)      R = 1 Ohm
"""
TURNING = """
use rotational
m1 speed          (a, ground) w = 100 rad/s
s1 torsion_spring (a, b)      c = 1e6 N.m/rad
d1 torsion_damper (a, b)      d = 10 N.m.s/rad
j1 inertia        (b)         J = 1e-4 kg.m2, start w = 100 rad/s
"""
"""16 000 turns: the angles of both ends of the shaft are known to 1e-11 rad, its torque to 1e-5 N.m, its power to 1 mW."""


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2"])
@pytest.mark.parametrize(
    "network",
    [FLOATING + "run transient(stop = 1 s)\n", TURNING + "run transient(stop = 1000 s, max_step = 5 s)\n"],
    ids=["coil", "shaft"],
)
def test_what_is_nothing_but_rounding_is_not_judged(network, method):
    """No current flows into the floating coil and no torque through the shaft: the source supplies what rounding leaves."""
    (samples,) = netsim.load(network).samples({"method": method})
    assert codes(samples) == ([], [])


def test_rounding_hides_no_loss_of_a_circuit_as_small():
    """A swing of 5e-18 J beside a source of 10 V is no rounding: what implicit Euler makes of it is told."""
    text = FLOATING + "l2 inductor (p, ground) L = 1 nH, start i = 0.1 mA\nc2 capacitor (p, ground) C = 1 nF\n"
    (samples,) = netsim.load(text + "run transient(stop = 1 us)\n").samples({"step": 1e-10, "method": "euler"})
    assert codes(samples)[0] == ["W501"]


BRIDGE = Path(netsim.__file__).parent.parent / "models" / "diode_bridge.net"


def test_a_given_step_without_a_solution_is_taken_in_parts():
    """Where diodes take over Newton's method finds no step of 0.1 ms: parts of it lead there, its end is where it was asked for."""
    text = BRIDGE.read_text(encoding="utf-8")
    (samples,) = netsim.load(BRIDGE).samples({"step": 1e-4, "stop": 5e-3, "method": "radau"})
    free = netsim.load(text.replace("stop = 100 ms, step = 20 us, method = euler", "stop = 5 ms, sample = 0.1 ms"))
    assert samples.finished, samples.message
    assert samples.time == pytest.approx(np.arange(51) * 1e-4, abs=1e-15)
    assert samples.series("dc.v") == pytest.approx(free.samples()[0].series("dc.v"), abs=0.02)
    parted = samples.attributes["parted_steps"]
    assert 0 < parted < 10 and codes(samples) == (["W502", "W503"], [])
    assert f"{parted} given steps had to be taken in parts" in samples.warnings[1].message


def test_the_formula_of_implicit_euler_is_not_taken_in_parts():
    """Its given steps are the papers': one that Newton's method does not find ends the run."""
    (samples,) = netsim.load(BRIDGE.parent / "benchmarks" / "flyback.net").samples({"step": 1e-5, "method": "euler"})
    assert not samples.finished and samples.attributes["parted_steps"] == 0
