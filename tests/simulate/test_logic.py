"""Signals of logic gates settle within an instant before what has a memory looks at them: paths of different depth make
no pulses of no length."""

import itertools

import numpy as np
import pytest

import netsim

GATES = {"logic_and": np.logical_and, "logic_or": np.logical_or, "logic_xor": np.logical_xor}
FLIP_FLOP = """
component flip_flop (in d, in clock, out q : signal) "takes d where the clock rises"
  discrete s : 1 = 0
  when clock > 0.5 : s = if d > 0.5 then 1 else 0
  q = s
end
"""
PULSES = ((0.0, 0.2, 0.5), (0.0, 0.4, 0.25), (0.1, 0.4, 0.5))


def random_gates(seed, count):
    """A netlist of random gates behind three pulses with an edge counter at every signal, and the value of every signal
    in every interval between the pulses' changes."""
    rng = np.random.default_rng(seed)
    ends = sorted({round(first + k * period + part, 9) for first, period, share in PULSES for k in range(6) for part in (0.0, share * period)})
    middles = np.array([0.5 * (a + b) for a, b in itertools.pairwise(ends) if b < 1.0])
    lines, values = ["use signal"], []
    for i, (first, period, share) in enumerate(PULSES):
        lines.append(f"p{i} boolean_pulse (s{i}) first = {first} s, period = {period} s, share = {share}")
        values.append((middles >= first) & (np.mod(middles - first, period) < share * period))
    for i in range(len(PULSES), len(PULSES) + count):
        recent, any_of = rng.integers(max(0, i - 3), i), rng.integers(0, i)
        if rng.random() < 0.25:
            lines.append(f"g{i} logic_not (s{recent}, s{i})")
            values.append(~values[recent])
        else:
            kind = rng.choice(list(GATES))
            lines.append(f"g{i} {kind} (s{recent}, s{any_of}, s{i})")
            values.append(GATES[kind](values[recent], values[any_of]))
    lines += [f"k{i} edge_counter (s{i}, n{i})" for i in range(len(values))]
    lines += [f"run transient(stop = {middles[-1]} s)", "save " + ", ".join(f"n{i}" for i in range(len(values)))]
    return "\n".join(lines) + "\n", np.array(values)


@pytest.mark.parametrize("seed", range(12))
def test_random_gates_rise_as_often_as_their_logic(seed):
    text, values = random_gates(seed, 40)
    samples = netsim.load(text).samples()[0]
    assert samples.finished, samples.message
    rises = np.sum(values[:, 1:] & ~values[:, :-1], axis=1)
    counted = samples.values[-1] - samples.values[0]
    assert counted == pytest.approx(rises)


@pytest.mark.parametrize("gate", ["", "gate logic_and (tick, on, clock)\nalways constant (on) value = 1\n"])
def test_a_shift_register_moves_by_one_place_in_every_period(gate):
    """Flip-flops take what stood before their clock, also where the clock comes through a gate, and data through two."""
    count = 5
    text = FLIP_FLOP + "use signal\n" + gate
    text += f"ticks boolean_pulse ({'tick' if gate else 'clock'}) first = 1 s, period = 1 s\ndata pulse_once (d0)\n"
    text += "component pulse_once (out y : signal)\n  discrete s : 1 = 1\n  when time > 1.5 s : s = 0\n  y = s\nend\n"
    for i in range(count):
        text += f"n{i} logic_not (d{i}, m{i})\nb{i} logic_not (m{i}, e{i})\nf{i} flip_flop (e{i}, clock, d{i + 1})\n"
    text += "run transient(stop = 6.2 s)\nsave " + ", ".join(f"d{i + 1}" for i in range(count))
    samples = netsim.load(text).samples()[0]
    assert samples.finished, samples.message
    for i in range(count):
        high = (samples.time > i + 1.0 + 1e-9) & (samples.time < i + 2.0 - 1e-9)
        low = (samples.time < i + 1.0 - 1e-9) | (samples.time > i + 2.0 + 1e-9)
        assert np.all(samples.values[high, i] == 1.0) and np.all(samples.values[low, i] == 0.0)


def test_a_chain_deeper_than_the_rounds_settles():
    """150 inverters behind one another, and what compares the ends."""
    chain = "".join(f"g{i} logic_not (s{i}, s{i + 1})\n" for i in range(150))
    text = f"use signal\np boolean_pulse (s0) period = 1 s\n{chain}x logic_xor (s0, s150, y)\nk edge_counter (y, n)\n"
    text += "run transient(stop = 3 s)\nsave n, s150, y\n"
    samples = netsim.load(text).samples()[0]
    assert samples.finished, samples.message
    assert np.all(samples.series("n") == 0.0) and set(samples.series("s150")) == {0.0, 1.0}


def test_an_inverter_of_itself_is_told():
    """A ring of one inverter, closed at 1 s by what is 0 until then."""
    text = """use signal
closed threshold_of_time (s)
component threshold_of_time (out y : signal)
  discrete on : 1 = 0
  on = time >= 1 s
  y = on
end
x logic_and (s, y, z)
n logic_not (z, y)
run transient(stop = 3 s)
save y
"""
    samples = netsim.load(text).samples()[0]
    assert not samples.finished and samples.time[-1] == pytest.approx(1.0)
    assert "switch each other back and forth" in samples.message and "'n' (u > 0.5)" in samples.message
