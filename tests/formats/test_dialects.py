# ruff: noqa: E501  (a circuit per line reads best)
"""Lines as the dialects of SPICE write them: what each is worth at the operating point, or over time by its closed form."""

import math

import numpy as np
import pytest

import netsim
import netsim.text.show
from netsim.formats.spice.netlist import circuit_program
from netsim.text.errors import InputError


def written(tmp_path, *lines):
    path = tmp_path / "c.cir"
    path.write_text("\n".join(["a title", *lines, ".end", ""]))
    return path


def point(tmp_path, node, *lines):
    (found,) = netsim.load(written(tmp_path, *lines, ".op")).samples()
    names = [signal.name for signal in found.signals]
    return float(found.values[0][names.index(f"{node}.v")])


VALUES = {
    "asinh(0.7)": math.asinh(0.7), "acosh(1.7)": math.acosh(1.7), "atanh(0.3)": math.atanh(0.3), "ceil(1.2)": 2.0, "nint(1.6)": 2.0, "int(-1.7)": -1.0,
    "u(-1)": 0.0, "u(2)": 1.0, "u2(0.3)": 0.3, "u2(7)": 1.0, "uramp(-2)": 0.0, "eq0(0)": 1.0, "ne0(0)": 0.0, "gt0(1)": 1.0, "lt0(1)": 0.0, "ge0(0)": 1.0,
    "le0(1)": 0.0, "limit(5, 1, 3)": 3.0, "limit(5, 3, 1)": 3.0, "table(1.5, 1, 10, 2, 20)": 15.0, "pwl(0, 1, 10, 2, 20)": 0.0, "pow(2, 3)": 8.0,
    "pwr(-2, 2)": -4.0, "pwrs(-3, 1)": -3.0, "sgn(-2)": -1.0, "cbrt(-8)": -2.0, "hypot(3, 4)": 5.0, "if(2 > 1, 4, 5)": 4.0, "fmod(7, 3)": 1.0,
    "agauss(3, 1, 3)": 3.0, "temper": 27.0, "{2*{1 + 1}}": 4.0, "buf(0.7)": 1.0, "inv(0.7)": 0.0, "min(3)": 3.0, "stp(1)": 1.0,
}  # fmt: skip


@pytest.mark.parametrize("text", VALUES)
def test_functions(text, tmp_path):
    assert point(tmp_path, "a", f"B1 a 0 V={{{text}}}", "R1 a 0 1k") == pytest.approx(VALUES[text], rel=1e-12, abs=1e-12)


WORTH = {
    "conditions": (2.0, ".param k=2 j=1", ".if (k == 1)", "V1 a 0 1", ".elseif (k == 2)", ".if (j = 1)", "V1 a 0 2", ".else", "V1 a 0 3", ".endif", ".else",
                   "V1 a 0 4", ".endif", "R1 a 0 1"),
    "a .param inside of what an instance gives": (0.2, "V1 b 0 1", "X1 b a s value=4k", "R2 a 0 1k", ".subckt s p q", "R1 p q {half*2}", ".param value=9 half={value/2}", ".ends"),
    "a .param inside and on the line": (0.2, "V1 b 0 1", "X1 b a s value=4k", "R2 a 0 1k", ".subckt s p q value=7", "R1 p q {value}", ".param value=9", ".ends"),
    "a resistor narrowed to nothing": (1.0, "V1 a 0 1", "R1 b a 1k", "R2 b 0 rs l=12u w=2u", ".model rs r(rsh=200 narrow=1u)"),
    "model of a resistor": (0.75, "V1 b 0 1", "R1 b a rs l=12u w=2.2u", "R2 a 0 3k", ".model rs r(rsh=200 narrow=0.1u short=1u)"),
    "warm resistor": (0.5, "V1 b 0 1", "R1 b a 1k tc=1m,1u", "R2 a 0 1.11k", ".options temp=127"),
    "PSpice multiplies": (0.5, "V1 b 0 1", "R1 b a rm 1k", "R2 a 0 2k", ".model rm res(r=2)"),
    "parallel parts": (0.75, "V1 b 0 1", "R1 b a 1k m=3", "R2 a 0 1k"),
    "ako": (-0.5, "V1 b 0 -1", "R1 b a rn", "R2 a 0 1k", ".model rb r(r=3k tc1=0)", ".model rn ako:rb r(r=1k)"),
    "4k7": (0.5, "V1 b 0 1", "R1 b a 4k7", "R2 a 0 4.7kOhm"),
    "series resistance of a source": (0.5, "V1 a 0 1 Rser=50", "R2 a 0 50"),
    "function of a parameter line": (6.0, ".param twice(x)={2*x} y={twice(3)}", "V1 a 0 {y}", "R1 a 0 1"),
    "source in braces": (3.0, "V1 c 0 1", "E1 a 0 {3*v(c)}", "R1 a 0 1", "R2 c 0 1"),
    "B with a temperature": (1.1, "V1 c 0 1", "B1 a 0 V=v(c) tc1=1m", "R1 a 0 1", "R2 c 0 1", ".options temp=127"),
    "B in parallel": (-3.0, "B1 a 0 I=1 m=3", "R1 a 0 1"),
    "vswitch": (1 / (1 + math.sqrt(1e3)), "V1 b 0 1", "Vc c 0 1.5", "S1 b a c 0 sv", "R1 a 0 1", ".model sv vswitch(ron=1 roff=1k von=3 voff=0)"),
    "vswitch of a short transition": (0.5, "V1 b 0 1", "Vc c 0 1.8", "S1 b a c 0 sv", "R1 a 0 1", ".model sv vswitch(ron=1 roff=1meg vt=1.5 vh=0.2)"),
    "vswitch of a short transition, open": (1e-6, "V1 b 0 1", "Vc c 0 1.2", "S1 b a c 0 sv", "R1 a 0 1", ".model sv vswitch(ron=1 roff=1meg vt=1.5 vh=0.2)"),
    "resistances of controlled sources": (2.0 - 0.5 + 3.0, "V1 c 0 1", "E1 e 0 c 0 2 Rser=1", "R1 e 0 1g", "G1 0 g VALUE={1m*v(c)} Rpar=3k", "I1 i 0 1m Rpar=500", "B1 a 0 v={v(e) + v(g) + v(i)}"),
    "a root at zero": (2.0, "V1 c 0 0", "R2 c 0 1", "E1 a 0 VALUE={sqrt(abs(v(c))) + pwr(v(c), 0.5) + abs(v(c))**0.25 + hypot(v(c), v(c)) + sqrt(4)}", "R1 a 0 1"),
    "iswitch": (0.5, "V1 b 0 1", "I1 0 c 2m", "Vm c 0 0", "W1 b a vm si", "R1 a 0 1", ".model si iswitch(ron=1 roff=1meg ion=1m ioff=0)"),
    "table": (7.5, "V1 c 0 1.5", "E1 a 0 TABLE {v(c)} = (1, 5) (2, 10)", "R1 a 0 1", "R2 c 0 1"),
    "transfer at rest": (4.0, "V1 c 0 2", "E1 a 0 LAPLACE {v(c)} = {2/(1 + s*1u)}", "R1 a 0 1", "R2 c 0 1"),
    "a source with inputs of distortion": (2.0, "V1 a 0 DC 2 AC 1 SIN(0 1 1k) DISTOF1 1 0 DISTOF2 0.1", "R1 a 0 1"),
    "a constant beside a wave, at rest": (2.0, "V1 a 0 DC 2 AC 1 SIN(0 1 1k)", "R1 a 0 1"),
    "a parameter by a call without braces": (3.0, ".param k=max(1, 3)", "V1 a 0 {k}", "R1 a 0 1"),
    "a current of a source that comes later": (-2.0, "E1 a 0 VALUE={1k*i(E2)}", "E2 b 0 VALUE={v(c)}", "R2 0 b 1k", "V1 c 0 2", "R1 a 0 1"),
    "library of another machine": (2.0, '.lib "C:\\models\\parts.lib"', "V1 b 0 4", "X1 b a 0 half", "R1 a 0 1g"),
}  # fmt: skip


@pytest.mark.parametrize("name", WORTH)
def test_lines(name, tmp_path):
    (tmp_path / "parts.lib").write_text(".subckt half in out g\nR1 in out 1k\nR2 out g 1k\n.ends\n")
    worth, *lines = WORTH[name]
    assert point(tmp_path, "a", *lines) == pytest.approx(worth, rel=1e-6)


def waveform(tmp_path, node, *lines):
    (found,) = netsim.load(written(tmp_path, *lines)).samples()
    names = [signal.name for signal in found.signals]
    return np.asarray(found.time), np.asarray(found.values)[:, names.index(f"{node}.v")]


def test_transfer_functions_follow_their_closed_form(tmp_path):
    """A pair of poles at 1e7 rad/s with a zero, behind a dead time, as a source of current."""
    t, v = waveform(tmp_path, "a", "V1 c 0 PULSE(0 1 10n 1p 1p 1 2)", "G1 0 a LAPLACE {v(c)} = {exp(-20n*s)*(1 + 50n*s)/(1 + 120n*s + 10f*s^2)}", "R1 a 0 1",
                    "R2 c 0 1", ".tran 5n 1u")  # fmt: skip
    since = np.maximum(t - 30e-9, 0)
    p = np.roots([1e-14, 1.2e-7, 1.0])
    residues = [(1 + 5e-8 * s) / (s * (1.2e-7 + 2e-14 * s)) for s in p]
    exact = 1 + sum(r * np.exp(s * since) for r, s in zip(residues, p)).real
    assert v == pytest.approx(np.where(t > 30e-9, exact, 0.0), abs=2e-4)


def test_rates_integrals_and_delays_of_expressions(tmp_path):
    lines = ("V1 c 0 SIN(0 1 1k)", "B1 a 0 V=ddt(v(c))*1u + idt(v(c))*1k + delay(v(c), 0.1m)", "R1 a 0 1", "R2 c 0 1", ".tran 10u 1m")
    t, v = waveform(tmp_path, "a", *lines)
    w = 2e3 * np.pi
    late = np.where(t > 1e-4, np.sin(w * (t - 1e-4)), 0.0)
    assert v == pytest.approx(w * 1e-6 * np.cos(w * t) + 1e3 * (1 - np.cos(w * t)) / w + late, abs=2e-4)


def test_parts_of_ltspice(tmp_path):
    """A coil with the resistance of its wire and a capacitance beside it rings as its elements do."""
    short, long = (
        waveform(tmp_path, "a", "V1 b 0 PULSE(0 1 0 1n 1n 1 2)", "R1 b a 100", *parts, ".tran 1u 100u")[1]
        for parts in (["L1 a 0 1m Rser=2 Cpar=100n"], ["Rs a m 2", "L1 m 0 1m", "C1 a 0 100n"])
    )
    assert short == pytest.approx(long, abs=1e-6)


def test_a_capacitance_by_its_charge(tmp_path):
    t, v = waveform(tmp_path, "a", "I1 0 a PULSE(0 1m 0 1n 1n 1 2)", "C1 a 0 q={1u*x + 1u*x^3}", "R1 a 0 1meg", ".tran 10u 2m uic")
    assert v[-1] + v[-1] ** 3 == pytest.approx(t[-1] * 1e3, rel=2e-3)


def test_a_script_asks_for_its_analyses(tmp_path):
    lines = ("V1 a 0 1", "R1 a 0 1", ".control", "set color=1", "tran 1u 10u", "plot v(a)", "repeat 3", "tran 1u 99u", "end", ".endc")
    (found,) = netsim.load(written(tmp_path, *lines)).samples()
    assert found.time[-1] == pytest.approx(1e-5)


def test_what_is_not_supported_is_one_per_kind_with_all_lines(tmp_path):
    lines = ("M1 a b 0 0 nb", "M2 b a 0 0 nb", "N1 a b gg", "R1 a 0 {rr}", "N2 b a gg", "N3 b a gg", ".model nb nmos(level=54)", ".op")
    with pytest.raises(InputError) as caught:
        circuit_program(written(tmp_path, *lines))
    told = [problem.message for problem in caught.value.problems]
    assert len(told) == 3, told
    assert any("level 54 (BSIM4)" in each for each in told) and any("(also lines 6, 7)" in each for each in told)
    assert "nothing is called 'rr'" in told


def test_devices_have_temperatures_of_their_own(tmp_path):
    """A junction at 87 degC beside one at 27: -2 mV/K."""
    lines = ("I1 0 a 1m", "D1 a 0 dm temp=87", "I2 0 b 1m", "D2 b 0 dm", ".model dm d(is=1e-14)")
    warm, cold = (point(tmp_path, node, *lines) for node in "ab")
    assert (warm - cold) / 60 == pytest.approx(-1.75e-3, rel=0.15)


def test_lines_with_losses_by_parameters_have_sixteen_pieces(tmp_path):
    """Where a figure is an expression. At rest their resistance is that of the whole line; a front arrives after the delay of the
    line, weaker by exp(-R/(2 Z)) up to the half piece of resistance before it."""
    line = (".param k=10", "O1 c 0 a 0 lo", ".model lo ltra(r={k} l=250n c=100p len=2)", "R1 a 0 50")
    text = written(tmp_path, "V1 c 0 1", *line, ".op")
    assert "pieces = 16" in netsim.text.show.show(circuit_program(text))
    assert point(tmp_path, "a", "V1 c 0 1", *line) == pytest.approx(50 / 70, rel=1e-9)
    t, v = waveform(tmp_path, "a", "V1 c 0 PULSE(0 1 1n 1p 1p 1 2)", *line, ".tran 0.1n 14n")
    assert np.max(np.abs(v[t < 10.9e-9])) < 1e-6
    assert v[np.searchsorted(t, 11.3e-9)] == pytest.approx(math.exp(-20 / 100), rel=6e-3)


def test_nint_goes_to_the_even_number(tmp_path):
    """Of two nearest numbers ngspice takes the even one."""
    for x, wanted in ((2.5, 2), (0.5, 0), (-1.5, -2), (1.5, 2), (2.4, 2), (-0.6, -1), (3.5, 4)):
        assert point(tmp_path, "a", f"V1 a 0 {{nint({x})}}", "R1 a 0 1") == pytest.approx(wanted, abs=1e-12)
