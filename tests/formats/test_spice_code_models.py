"""XSPICE's analogue code models against ngspice, and closed forms where ngspice is coarse."""

import numpy as np
import pytest

import netsim
from ngspice_runs import NGSPICE, loaded, ngspice

SOURCES = "v1 1 0 sin(0.2 1 1k)\nv2 2 0 dc 2 pulse(2 -1.5 0.3m 0.2m 0.2m 0.4m 2m)\n"
MODELS = {
    "gain": ("a1 1 o m", "gain(in_offset=0.1 gain=2.5 out_offset=-0.3)"),
    "summer": ("a1 [1 2] o m", "summer(in_offset=[0.1 0.2] in_gain=[1 -2] out_gain=0.5 out_offset=1)"),
    "mult": ("a1 [1 2 %vd(1 2)] o m", "mult(in_offset=[0 0.5 0] in_gain=[1 2 1] out_gain=0.1 out_offset=0.2)"),
    "divide": ("a1 1 2 o m", "divide(num_gain=2 den_offset=3 out_gain=3 den_lower_limit=0.1)"),
    "limit": ("a1 %vd(1 2) o m", "limit(gain=2 out_lower_limit=-1 out_upper_limit=1.5 limit_range=1e-9)"),
    "climit": ("a1 1 2 3 o m\nv3 3 0 -3", "climit(gain=3 upper_delta=0 lower_delta=0 limit_range=1e-9)"),
    "pwl": ("a1 1 o m", "pwl(x_array=[-1 0 1] y_array=[-2 0 1] input_domain=1e-6)"),
    "int": ("a1 1 o m", "int(gain=1000 in_offset=0.1 out_ic=0.5 out_lower_limit=-10 out_upper_limit=10)"),
    "d_dt": ("a1 1 o m", "d_dt(gain=1e-4 out_offset=0.1 out_lower_limit=-10 out_upper_limit=10)"),
    "s_xfer": ("a1 1 o m", "s_xfer(gain=2 num_coeff=[1 0.5] den_coeff=[1 1.1 1.2] int_ic=[0 0] denormalized_freq=5000)"),
    "slew": ("a1 2 o m", "slew(rise_slope=5e3 fall_slope=8e3)"),
    "hyst": ("a1 1 o m", "hyst(in_low=-0.2 in_high=0.4 hyst=0.15 out_lower_limit=-1 out_upper_limit=2 input_domain=1e-4)"),
    "hyst, falling": ("a1 2 o m", "hyst(in_low=0 in_high=1 hyst=0.3 out_lower_limit=3 out_upper_limit=-1 "
                      "input_domain=1e-4 fraction=FALSE)"),
    "sine": ("a1 1 o m", "sine(cntl_array=[-1 0 1.3] freq_array=[500 1000 3000] out_low=-0.5 out_high=1.5)"),
    "current output": ("a1 1 %id(o 0) m", "gain(gain=1e-3)"),
    "aswitch": ("a1 1 %gd(o p) m\nv9 p 0 1", "aswitch(cntl_off=-0.5 cntl_on=1 r_off=1e5 r_on=10 log=TRUE)"),
    "aswitch, linear": ("a1 1 %gd(o p) m\nv9 p 0 1", "aswitch(cntl_off=-0.5 cntl_on=1 r_off=1e4 r_on=10 log=FALSE)"),
}  # fmt: skip


@NGSPICE
@pytest.mark.parametrize("name", MODELS)
def test_over_time(name, tmp_path):
    """rms difference below 1e-3 of the range; ngspice's integrals and transfer functions have its steps' errors."""
    line, model = MODELS[name]
    circuit = f"{SOURCES}{line}\nro o 0 1k\nr1 1 0 1k\nr2 2 0 1k\n.model m {model}"
    found = loaded(tmp_path, circuit, ".options reltol=1e-4\n.tran 10u 3m\n.save v(o)").run()
    theirs = ngspice(tmp_path, circuit, "tran 1u 3m 0 0.5u", "v(o)")
    ours, t = found["o.v"].values, found["time"].values
    wanted = np.interp(t, theirs[:, 0], theirs[:, 1])
    if name == "d_dt":  # ngspice's first values are 0
        ours, wanted = ours[t > 5e-5], wanted[t > 5e-5]
    assert np.sqrt(np.mean((ours - wanted) ** 2)) < (5e-3 if name == "sine" else 1e-3) * np.ptp(wanted)


def test_a_square_and_a_triangle_of_constant_frequency(tmp_path):
    for kind in ("square", "triangle"):
        circuit = f"v1 1 0 0.5\na1 1 o m\nro o 0 1k\n.model m {kind}(cntl_array=[0 1] freq_array=[0 2000] out_low=-1 out_high=3 duty_cycle=0.25)"
        found = loaded(tmp_path, circuit, ".tran 10u 3.3m\n.save v(o)").run()
        t, y = found["time"].values * 1e3 % 1.0, found["o.v"].values
        inside = (np.abs(t - 0.25) > 1e-3) & (np.minimum(t, 1 - t) > 1e-3)
        exact = np.where(t < 0.25, 3.0, -1.0) if kind == "square" else np.interp(t, [0, 0.25, 1], [-1, 3, -1])
        assert np.abs(y - exact)[inside].max() < 1e-6


@pytest.mark.parametrize("stop", [1e-9, 1e-3, 1e6])
def test_a_slew_limiter_lags_by_a_share_of_the_run(tmp_path, stop):
    """Behind a ramp of 1 V in the run, which is not too fast: 1e-5 V."""
    circuit = f"v1 1 0 pwl(0 0 {stop!r} 1)\na1 1 o m\nro o 0 1k\n.model m slew(rise_slope={3 / stop!r} fall_slope={3 / stop!r})"
    found = loaded(tmp_path, circuit, f".options reltol=1e-6\n.tran {stop / 10!r} {stop!r}\n.save v(1) v(o)").run()
    behind = found["n1.v"].values - found["o.v"].values
    assert behind[1:] == pytest.approx(1e-5, rel=1e-3)


def test_a_delay(tmp_path):
    found = loaded(tmp_path, "v1 1 0 sin(0 1 1k)\na1 1 o m\nro o 0 1k\n.model m delay(delay=0.2m)", ".tran 10u 2m\n.save v(o)").run()
    t = found["time"].values
    assert np.abs(found["o.v"].values - np.where(t > 2e-4, np.sin(2e3 * np.pi * (t - 2e-4)), 0.0)).max() < 1e-5


def test_a_delay_beside_an_input_that_controls_nothing(tmp_path):
    """The output stands before the control; the delay is an expression of parameters."""
    circuit = ".param f=1k\nv1 1 0 sin(0 1 {f})\nvc c 0 0.3\na1 1 o c m\nro o 0 1k\n.model m delay(delay='1/f/2')"
    found = loaded(tmp_path, circuit, ".tran 10u 2m\n.save v(o)").run()
    t = found["time"].values
    assert np.abs(found["o.v"].values - np.where(t > 5e-4, np.sin(2e3 * np.pi * (t - 5e-4)), 0.0)).max() < 1e-5


@NGSPICE
@pytest.mark.parametrize("logarithmic", ["true", "false"])
def test_switches_between_ports_of_conductance(tmp_path, logarithmic):
    """`%gd` of an input and an output are pairs of nodes; without `log` the resistance changes in proportion."""
    circuit = f"v1 b 0 3\nv2 c 0 0\na1 %gd c 0 %gd b o m\nr1 o 0 1k\n.model m pswitch(log={logarithmic} cntl_on=2.5 cntl_off=1.5 r_on=1k r_off=2meg)"
    found = loaded(tmp_path, circuit, ".dc v2 0 4 0.25\n.save v(o)").run()
    theirs = ngspice(tmp_path, circuit, "dc v2 0 4 0.25", "v(o)")
    assert np.abs(found["o.v"].values.ravel() - theirs[:, 1]).max() < 1e-6


def test_starts_in_a_subcircuit(tmp_path):
    """`.ic` of a subcircuit holds in each of its instances."""
    circuit = "x1 a cell\nx2 b cell\n.subckt cell p\nr1 q 0 1k\nc1 q 0 1u\ne1 p 0 q 0 1\n.ic v(q)=2 v(p)=5\n.ends"
    found = loaded(tmp_path, circuit, ".tran 0.1m 1m\n.save v(a) v(b)").run()
    for name in ("a.v", "b.v"):
        assert np.abs(found[name].values - 2 * np.exp(-found["time"].values / 1e-3)).max() < 1e-5


def test_what_is_refused(tmp_path):
    for lines, words in (
        ("a1 1 o m\n.model m oneshot(clk_trig=1)", "code model oneshot is not supported"),
        ("a1 1 m\n.model m gain(gain=1)", "is written A1 in out model"),
        ("a1 %i 1 o m\n.model m gain(gain=1)", "kind %i, which is not supported"),
        ("a1 1 o c m\n.model m delay(has_delay_cnt=TRUE)", "a delay that an input controls"),
        ("a1 1 o m", "there is no .model 'm'"),
    ):
        with pytest.raises(netsim.InputError, match=words):
            loaded(tmp_path, f"{SOURCES}{lines}\nro o 0 1k", ".op")
