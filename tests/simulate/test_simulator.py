"""A run that is stepped from Python: it has the bits of `transient`, states and forks go on with the same bits, inputs act like steps of sources,
and mistakes are told in the user's words."""

import copy
import re

import numpy as np
import pytest

import netsim
from conftest import line_options, loaded
from netsim.analyses.over_time.run import transient
from netsim.library.files import models_folder
from netsim.simulate.options import check_options
from netsim.text.errors import InputError, SimulationError

MOTOR = """
use electrical
use rotational
use couplings
param  u : V = 12 V  "voltage of the supply"
param  load : N.m >= 0 = 0 N.m  "torque against the motion"
src    voltage         (top, ground)         v = VOLTAGE
motor  dc_motor        (top, ground, shaft)  R = 1 Ohm, L = 0.5 mH, k = 0.05 N.m/A, start i = 0 A
rotor  inertia         (shaft)               J = 1e-4 kg.m2
brush  torsion_damper  (shaft, ground)       d = 1e-5 N.m.s/rad
brake  torque          (shaft)               T = TORQUE
save   shaft.w, motor.i
"""
RELAY = """
use translational
use signal
param  F = 0 N
param  g = 5 N
m1     mass             (a)          m = 1 kg, start v = 0 m/s, start x = 0 m
s1     spring           (a, ground)  c = 40 N/m
d1     damper           (a, ground)  d = 0.5 N.s/m
pos    position_sensor  (a, x)
relay  hysteresis       (x, on)      low = -0.02, high = 0.05
push   force            (a)          F = PUSH
kick   force            (a)          F = -(KICK)*relay.y
save   a.x, a.v, relay.y
"""
DELAYED = """
use signal
param  u = 0
s0     signal_source  (r)        value = SIGNAL
c1     difference     (r, y, e)
k1     gain           (e, w)     k = 2
d1     delay          (w, z)     T = 0.31 s
p1     integrator     (z, y)     k = 0.8
save   y, z
"""
ARM = """
use spatial
param  T1 = 0 N.m
param  c  = 0 N.m.s
world  gravity = [0, 0, -9.81] m/s2
b1     body          (p)          m = 1 kg, I = diag(0.1, 0.1, 0.1)*1 kg.m2, at = [0.5, 0, 0] m
j1     revolute      (ground, p)  at = [0, 0, 0] m, axis = [0, 1, 0], start q = 0.3 rad
b2     body          (q)          m = 1 kg, I = diag(0.1, 0.1, 0.1)*1 kg.m2, at = [1.5, 0, 0] m
j2     revolute      (p, q)       at = [1, 0, 0] m, axis = [0, 1, 0]
drive  hinge_torque  (ground, p)  axis = [0, 1, 0], T = TORQUE
save   j1.q, j2.q
"""


def motor(voltage="u", torque="-load"):
    return netsim.load(MOTOR.replace("VOLTAGE", voltage).replace("TORQUE", torque))


def same_bits(simulator, result, rows):
    """Step through a result and count the rows that differ in any bit."""
    names = [name for name in simulator.signals if name in result]
    at, columns, times = [simulator.index(n) for n in names], np.column_stack([result[n].values for n in names]), result.time.values
    differ = 0
    for t in rows:
        simulator.advance(t)
        row = np.searchsorted(times, t)
        assert times[row] == simulator.time == t
        differ += not np.array_equal(columns[row], simulator.values[at], equal_nan=True)
    return differ


# ------------------------------------------------------------------------------------------------ the bits of `transient`

MODELS = [
    *("battery_pulse", "bouncing_ball", "buck_converter", "coaxial_cable", "cooling_circuit", "dc_motor", "dead_time_control"),
    *("diode_rectifier", "gas_bottle", "heated_wall", "hydraulic_servo", "induction_motor_start", "lever", "pi_speed_control"),
    *("quarter_car", "rc", "train", "transistor_amplifier"),
]
"""Of all domains, with time events, relations, `when`, delays, tables, and indices up to 3."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", MODELS)
def test_steps_have_the_bits_of_a_run_with_samples_there(name):
    model = loaded(name)
    stop = line_options(model, model.network.runs[0])["stop"]
    dt = stop / 40
    for options in ({}, {"method": "bdf"}, {"step": stop / 1000, "method": "euler"}):
        result = model.transient(stop=stop, sample=dt, **options)
        simulator = model.simulator(stop=stop, **options)
        assert same_bits(simulator, result, [k * dt for k in range(1, 40)]) == 0


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", MODELS)
def test_random_steps_see_the_same_run(name):
    """Steps of any length between: the run's own steps are the same, so that values differ by rounding at most."""
    model, random = loaded(name), np.random.default_rng(5)
    stop = line_options(model, model.network.runs[0])["stop"]
    rtol = 1e-6
    result = model.transient(stop=stop, sample=stop / 20, rtol=rtol)
    simulator = model.simulator(stop=stop, rtol=rtol)
    for k in range(1, 20):
        t = k * (stop / 20)
        for _ in range(random.integers(0, 6)):
            simulator.advance(random.uniform(simulator.time, t))
        while simulator.time + 1e-2 * stop < t:
            simulator.step(stop * 10 ** random.uniform(-5, -2))
        simulator.advance(t)
        for name_ in (n for n in simulator.signals if n in result):
            values = result[name_].values
            assert abs(values[np.searchsorted(result.time.values, t)] - simulator[name_]) <= rtol * np.abs(values).max()


@pytest.mark.parametrize("name", ["diode_bridge", "lever", "two_masses"])
def test_a_run_has_the_same_bits_at_any_speed(name, monkeypatch):
    """Blocks of steps are as long as a computer is fast; at the bridge rounding decides which way a run of BDF goes."""
    from netsim.simulate import adaptive

    found = []
    for seconds in (1e-9, 1e3):
        monkeypatch.setattr(adaptive, "BLOCK_SECONDS", seconds)
        options = check_options("transient", {"stop": 0.02, "method": "bdf"}, {})
        found.append(transient(loaded(name).machine, loaded(name).structure, options))
    assert np.array_equal(found[0].values, found[1].values, equal_nan=True) and found[0].message == found[1].message


def test_given_steps_have_the_bits_of_the_run():
    model = loaded("dc_motor")
    result = model.transient(stop=0.3, step=2e-4, method="euler", sample=10e-3)
    simulator = model.simulator(stop=0.3, step=2e-4, method="euler")
    for k in range(1, 31):
        simulator.step(10e-3)
        assert simulator["shaft.w"] == result["shaft.w"].values[k] and simulator.time == result.time.values[k]


@pytest.mark.parametrize("formulation", ["absolute", "tree"])
def test_a_mechanism_in_both_formulations(formulation):
    model = netsim.load(ARM.replace("TORQUE", "3 N.m*sin(5 rad/s*time)"))
    result = model.transient(stop=0.6, sample=0.02, formulation=formulation)
    simulator = model.simulator(stop=0.6, formulation=formulation)
    assert same_bits(simulator, result, [k * 0.02 for k in range(1, 31)]) == 0


def test_the_run_goes_on_beyond_its_stop():
    """In steps of any kind, with the time events of later: a pulse train beyond the first `stop`."""
    text = "use electrical\nv1 voltage (a, ground) v = 1 V*pulse(time, at = 0 s, width = 0.3 s, period = 1 s)\n"
    text += "r1 resistor (a, b) R = 1 Ohm\nc1 capacitor (b, ground) C = 0.1 F, start v = 0 V\nsave b.v\n"
    model = netsim.load(text)
    for options in ({}, {"step": 1e-3}, {"step": 3e-3}):
        result = model.transient(stop=4.9, sample=0.07, rtol=1e-8, **options)
        simulator = model.simulator(stop=0.5, rtol=1e-8, **options)
        for _ in range(1, 70):
            simulator.step(0.07)
            wanted = result["b.v"].values[np.argmin(abs(result.time.values - simulator.time))]
            assert simulator["b.v"] == pytest.approx(wanted, abs=1e-7)


def test_without_a_stop():
    simulator = motor().simulator(step=3e-3)
    simulator.advance(2.5)
    assert simulator._going.run.steps == pytest.approx(2.5 / 3e-3, abs=2)


# ------------------------------------------------------------------------------------------------ states and forks


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("options", [{}, {"method": "bdf"}, {"step": 1e-3}], ids=str)
@pytest.mark.parametrize("name", ["bouncing_ball", "buck_converter", "dead_time_control", "pi_speed_control", "lever"])
def test_restored_and_forked_runs_go_on_with_the_same_bits(name, options):
    model, random = loaded(name), np.random.default_rng(2)
    stop = line_options(model, model.network.runs[0])["stop"]
    options = {"step": stop / 300} if "step" in options else options
    sizes = stop * 10 ** random.uniform(-4, -1.5, 60)
    simulator = model.simulator(stop=stop, **options)
    for dt in sizes[:20]:
        simulator.step(dt)
    state, fork = simulator.state, simulator.fork()
    series = []
    for dt in sizes[20:]:
        simulator.step(dt)
        series.append(simulator.values.copy())
    again = copy.deepcopy(fork)
    simulator.state = state
    for other in (simulator, fork):
        for dt, values in zip(sizes[20:], series):
            other.step(dt)
            assert np.array_equal(other.values, values, equal_nan=True)
    assert again.time == state.clock.time


def test_forks_do_not_touch_one_another():
    one = netsim.load(RELAY.replace("PUSH", "F").replace("KICK", "g")).simulator(inputs=("F", "g"))
    one.advance(0.2)
    others = [one.fork() for _ in range(3)]
    for k, other in enumerate(others):
        other["F"], other["g"] = 3.0 + k, 4.0 + k
    for _ in range(50):  # in turns
        for other in (*others, one):
            other.step(0.01)
    alone = netsim.load(RELAY.replace("PUSH", "F").replace("KICK", "g")).simulator(inputs=("F", "g"))
    alone.advance(0.2)
    alone["F"], alone["g"] = 5.0, 6.0
    for _ in range(50):
        alone.step(0.01)
    assert np.array_equal(alone.values, others[2].values)
    assert len({other["a.x"] for other in (*others, one)}) == 4


def test_a_state_has_the_inputs():
    simulator = motor().simulator(inputs=("u",))
    simulator.advance(0.1)
    simulator["u"] = 5
    state = simulator.state
    simulator.advance(0.2)
    first = simulator["shaft.w"]
    simulator["u"] = 20
    simulator.advance(0.3)
    simulator.state = state
    assert simulator["u"] == 5 and simulator.time == 0.1
    simulator.advance(0.2)
    assert simulator["shaft.w"] == first


# ------------------------------------------------------------------------------------------------ inputs

STEPPED = {
    "motor": (
        MOTOR.replace("VOLTAGE", "u").replace("TORQUE", "-load"),
        MOTOR.replace("VOLTAGE", "12 V - 7 V*step(time - 0.1 s) + 13 V*step(time - 0.1373 s)").replace("TORQUE", "-0.02 N.m*step(time - 0.1373 s)"),
        0.01,
        [(0.1, {"u": 5.0}), (0.1373, {"u": "18 V", "load": 0.02})],
    ),
    "relay": (
        RELAY.replace("PUSH", "F").replace("KICK", "g"),
        RELAY.replace("PUSH", "10 N*step(time - 0.1 s) - 14 N*step(time - 0.7334 s)").replace("KICK", "5 N + 3 N*step(time - 0.7334 s)"),
        0.05,
        [(0.1, {"F": 10.0}), (0.7334, {"F": "-4 N", "g": 8})],
    ),
    "delay": (
        DELAYED.replace("SIGNAL", "u"),
        DELAYED.replace("SIGNAL", "step(time - 0.1 s) - 2.5*step(time - 0.9123 s)"),
        0.05,
        [(0.1, {"u": 1.0}), (0.9123, {"u": -1.5})],
    ),
    "arm": (
        ARM.replace("TORQUE", "T1 - c*j1.rate"),
        ARM.replace("TORQUE", "20 N.m*step(time - 0.1 s) - 25 N.m*step(time - 0.4 s) - 3 N.m.s*step(time - 0.4 s)*j1.rate"),
        0.02,
        [(0.1, {"T1": 20.0}), (0.4, {"T1": -5.0, "c": 3.0})],
    ),
}
"""(with inputs, the same as functions of time, time between looks, what is set when)."""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # W502 of the given steps
@pytest.mark.parametrize(
    ("name", "options"),
    [*((name, options) for name in STEPPED for options in ({}, {"method": "bdf"}, {"step": 5e-4})), ("arm", {"formulation": "tree"})],
    ids=str,
)
def test_an_input_acts_as_a_step_of_the_source(name, options):
    """Set between the run's own steps, too: its instant is the same as that of `step(time - ...)`."""
    text, written, dt, todo = STEPPED[name]
    result = netsim.load(written).transient(stop=30 * dt, sample=dt, rtol=1e-8, **options)
    simulator = netsim.load(text).simulator(stop=30 * dt, inputs=tuple(todo[-1][1]), rtol=1e-8, **options)
    left = list(todo)
    for k in range(1, 31):
        while left and left[0][0] < k * dt * (1 - 1e-12):
            instant, values = left.pop(0)
            if instant > simulator.time:
                simulator.advance(instant)
            for parameter, value in values.items():
                simulator[parameter] = value
        simulator.advance(k * dt)
        row = np.argmin(abs(result.time.values - k * dt))
        for signal in simulator.signals:
            values = result[signal].values
            # 1e-6: rtol = 1e-8 adds up over the run; BDF, whose errors have one sign, restarts with other steps
            assert abs(values[row] - simulator[signal]) <= 1e-6 * np.abs(values).max()


def test_inputs_by_index_and_no_compilation(monkeypatch):
    from netsim.equations.kernels import native

    simulator = motor().simulator(inputs=("u",))
    u, w = simulator.index("u"), simulator.index("shaft.w")
    values, compiled = simulator.values, []
    monkeypatch.setattr(native, "compile", lambda programs: compiled.append(programs))
    for k in range(20):
        values[u] = 12.0 + k % 3
        simulator.step(1e-3)
    assert compiled == [] and values[w] == simulator["shaft.w"] > 0.0
    assert simulator.inputs == ("u",) and simulator.signals[:2] == ("shaft.w", "motor.i")


def test_an_instant_that_depends_on_an_input_moves():
    text = "use electrical\nparam at = 0.5 s\nv1 voltage (a, ground) v = 1 V*step(time - at)\nr1 resistor (a, b) R = 1 Ohm\n"
    text += "c1 capacitor (b, ground) C = 0.1 F, start v = 0 V\nsave b.v\n"
    simulator = netsim.load(text).simulator(inputs=("at",), rtol=1e-8)
    simulator.advance(0.2)
    simulator["at"] = 0.3
    simulator.advance(0.8)
    assert simulator["b.v"] == pytest.approx(1 - np.exp(-5.0), abs=1e-7)


def test_energy_of_what_follows_at_once():
    """Behind a jump of the voltage the current of a resistor jumps with it, and rates are those of the new voltage."""
    text = "use electrical\nparam u = 0 V\nv1 voltage (a, ground) v = u\nr1 resistor (a, b) R = 2 Ohm\n"
    text += "coil inductor (b, ground) L = 1 H, start i = 0 A\n"
    simulator = netsim.load(text + "r2 resistor (a, ground) R = 1 Ohm\nsave coil.i, r2.i\n").simulator(inputs=("u",), rtol=1e-9)
    simulator.step(0.1)
    simulator["u"] = 6
    simulator.step(1e-9)
    assert simulator["r2.i"] == pytest.approx(6.0) and simulator["coil.i"] == pytest.approx(6e-9, rel=1e-6)


# ------------------------------------------------------------------------------------------------ events, tripod


def test_events_of_a_step():
    simulator = loaded("bouncing_ball").simulator()
    result = loaded("bouncing_ball").run()
    instants = [float(line.split("\t")[0]) for line in result.attrs["event_log"].splitlines()]
    found = []
    while simulator.time < instants[2]:
        before = simulator.time
        simulator.step(0.01)
        assert all(before < event.time <= simulator.time for event in simulator.events)
        found += simulator.events
    assert [event.time for event in found] == pytest.approx(instants[: len(found)], rel=1e-6) and len(found) >= 3
    assert found[0].element and found[0].condition


def test_the_tripod_pushed_from_python():
    """Stage 4, whose forces come from Python every 10 ms as stage 3 found them: the marker comes where a run with these forces takes it."""
    folder = models_folder() / "tripod"
    text = (folder / "stage4.net").read_text(encoding="utf-8").replace('include "', f'include "{folder}/')
    for rod in "ABC":
        text = text.replace(f'F = table("stage3.net", {rod}.F)', f"F = F{rod}")
    text = re.sub(r"^(k1|M1|k2|let|save|plot|run) .*$", "", text, flags=re.MULTILINE)
    model = netsim.load(text + "".join(f"param F{rod} = 0 N\n" for rod in "ABC") + "save M.x, A.k, A.F\n")
    force = netsim.load(folder / "stage3.net").transient(save=["A.F", "B.F", "C.F"], stop=2.0, step=0.01, method="euler")
    simulator = model.simulator(inputs=("FA", "FB", "FC"), step=1e-3, method="euler")
    again = model.simulator(inputs=("FA", "FB", "FC"), rtol=1e-8, formulation="tree")
    for k in range(1, 101):
        for each in (simulator, again):
            for rod in "ABC":
                each[f"F{rod}"] = 1e3 * force[f"{rod}.F"].values[k]
            each.step(0.01)
    assert simulator["A.k"] == pytest.approx(again["A.k"], rel=0.02) and abs(again["A.k"]) > 1e-5  # Euler's method is of order 1
    assert again["A.F"] == pytest.approx(1e3 * force["A.F"].values[100])


# ------------------------------------------------------------------------------------------------ mistakes


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s["shaft.q"], "no signal or input 'shaft.q'.*did you mean 'shaft.w'"),
        (lambda s: s.index("lod"), "did you mean 'load'"),
        (lambda s: s.__setitem__("shaft.w", 1.0), "is a signal, and only inputs can be set.*the inputs are u, load"),
        (lambda s: s.__setitem__("u", "3 A"), "E202"),
        (lambda s: s.step(0.0), "a step must be positive and finite, not 0 s"),
        (lambda s: s.step(-1.0), "not -1 s"),
        (lambda s: s.step(float("nan")), "not nan s"),
        (lambda s: s.step(1e-30), "lost in the rounding"),
        (lambda s: s.advance(0.05), "is at 0.1 s and cannot go back to 0.05 s"),
        (lambda s: setattr(s, "state", motor().simulator().state), "no state of this simulator"),
    ],
)
def test_mistakes_of_a_call(call, words):
    simulator = motor().simulator(inputs=("u", "load"))
    simulator.advance(0.1)
    values = simulator.values.copy()
    with pytest.raises(InputError) as caught:
        call(simulator)
    assert re.search(words, str(caught.value).replace("\n", " "))
    assert simulator.time == 0.1 and np.array_equal(simulator.values, values)
    simulator.step(0.1)


def test_bounds_of_an_input():
    simulator = motor().simulator(inputs=("load",))
    for value in (-1.0, float("inf")):
        simulator["load"] = value
        with pytest.raises(InputError, match="E234"):
            simulator.step(0.1)
        assert simulator["load"] == 0.0 and simulator.time == 0.0
    simulator.step(0.1)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (("v",), "no parameter is called 'v'"),
        (("lood",), "did you mean 'load'"),
        (("motor.R",), "a parameter of an element"),
        (("R",), "equations of 'r1' read it"),
        (("idle",), "no source reads it"),
        (("x",), "'s' of 'd1' must not jump"),
    ],
)
def test_what_cannot_be_an_input(names, words):
    text = MOTOR.replace("VOLTAGE", "u").replace("TORQUE", "-load")
    text += "param R = 1 Ohm\nparam idle = 1 V\nparam x = 0 m\nr1 resistor (top, ground) R = R\n"
    text += "use translational\nd1 displacement (m, ground) s = x\n"
    with pytest.raises(InputError, match=words):
        netsim.load(text + "m1 mass (m) m = 1 kg\n").simulator(inputs=names)


def test_options_that_make_no_sense():
    with pytest.raises(InputError, match="no option 'sample'"):
        motor().simulator(sample=0.1)
    with pytest.raises(InputError, match="E421"):
        motor().simulator(steps=0.1)


def test_a_failed_step_leaves_the_simulator_at_the_last_good_instant():
    """A brake of constant power stops a mass: m v^2/2 = 0.5 J - P t ends at 0.2 s. Without it the mass goes on from there."""
    text = "use translational\nparam P = 0 W\nbrake force (a) F = -P/a.v\nm1 mass (a) m = 1 kg, start v = 1 m/s\nsave a.v\n"
    simulator = netsim.load(text).simulator(inputs=("P",))
    simulator.step(0.1)
    simulator["P"] = 5
    with pytest.raises(SimulationError):
        for _ in range(20):
            simulator.step(0.03)
    stands = simulator.time
    assert 0.19 <= stands <= 0.2 + 1e-6 and simulator["a.v"] == pytest.approx(np.sqrt(max(0.0, 1 - 10 * (stands - 0.1))), abs=1e-2)
    with pytest.raises(SimulationError):
        simulator.step(0.03)
    assert simulator.time == pytest.approx(stands, abs=1e-6)
    speed, simulator["P"] = simulator["a.v"], 0.0
    simulator.step(0.1)
    assert simulator["a.v"] == pytest.approx(speed) and simulator.time == pytest.approx(stands + 0.1)
