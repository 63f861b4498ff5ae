"""Pulses whose parts do not fit are refused with every value that parameters have; circuits of SPICE mean them."""

import numpy as np
import pytest

import netsim
from netsim.text.errors import InputError

SOURCE = """use electrical
param w = 1 ms
param T = 2 ms
function train(t : s, T : s) : 1 = pulse(t, width = T/2, period = T, fall = 0.6*T)
src voltage  (a, ground) v = 1 V*{}
r1  resistor (a, ground) R = 1 Ohm
run transient(stop = 5 ms)
"""
OWN = """use electrical
component puls (p, n : electrical)
  param  w : s = 3 ms
  branch p -> n : v, i
  let    u = pulse(time, width = w, period = 2 ms)
  v = 1 V*u
end
p1 puls (a, ground)
p2 puls (b, ground) w = 1 ms
run transient(stop = 5 ms)
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SOURCE.format("pulse(time, width = -1 ms, period = T)"), "5:54: E235 'width' of a pulse is -0.001 s"),
        (SOURCE.format("pulse(time, width = w, rise = -w)"), "E235 'rise' of a pulse is -0.001 s"),
        (SOURCE.format("pulse(time, 0 s, 1 ms, 1 ms, 1 ms, T)"), "E235 a pulse rises, stays and falls in 0.003 s, and its period is 0.002 s"),
        (SOURCE.format("train(time, T)"), "falls in 0.0022 s, and its period"),
        (SOURCE.format("pulse(time/w, width = 3, period = T/w)"), "falls in 3, and its period is 2\n"),
        (OWN, "5:14: E235 a pulse of 'p1' rises, stays and falls in 0.003 s"),
    ],
)
def test_what_does_not_fit_into_a_period_is_refused(text, words):
    with pytest.raises(InputError) as raised:
        netsim.load(text).transient()
    assert words in str(raised.value)


def test_every_value_is_asked():
    model = netsim.load(SOURCE.format("pulse(time, width = w, rise = 0.2 ms, fall = 0.3 ms, period = T)"))
    model.transient()
    for values in ({"w": 1.6e-3}, {"T": 1.4e-3}):
        with pytest.raises(InputError, match="E235"):
            model.with_params(values).transient()
    model.with_params(w=1.5e-3).transient()  # as long as the period, but for rounding
    netsim.load(OWN).with_params({"p1.w": "2 ms"}).transient()


def test_lengths_that_move_are_not_judged():
    text = SOURCE.format("pulse(time, width = w*(1 + 4*r1.v/(1 V)), period = T)").replace("src voltage ", "src current")
    netsim.load(text.replace("v = 1 V*", "I = 1 A*")).check()


def test_circuits_of_spice_cut_them_off(tmp_path):
    """As ngspice does: 1 from 0.5 ms of every period of 1 ms on."""
    path = tmp_path / "a.cir"
    path.write_text("title\nv1 a 0 pulse(0 1 0 0.5m 0.2m 3m 1m)\nv2 b 0 pulse(0 1 1m 1u)\nr1 a 0 1\nr2 b 0 1\n.tran 10u 3m\n.end\n")
    data = netsim.load(path).transient()
    share = np.mod(data["time"], 1e-3) / 1e-3
    inside = (share > 0.01) & (share < 0.99)
    assert np.abs(data["a.v"] - np.minimum(1, 2 * share))[inside].max() < 1e-9
    assert float(data["b.v"][-1]) == 1.0
