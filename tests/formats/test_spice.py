# ruff: noqa: E501  (a case per line reads best)
"""Circuits in SPICE's language: waveforms against references and ngspice, what the words mean, and what is said of mistakes."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import netsim
from netsim.formats.spice.netlist import circuit_program
from netsim.formats.spice.numbers import value_of
from netsim.initial.consistent import newton
from netsim.library.files import library_types, models_folder
from netsim.text.errors import InputError
from netsim.text.parse import parse
from netsim.text.show import show
from netsim.text.syntax import Measure

REFERENCE = Path(__file__).parents[1] / "reference" / "spice"
CIRCUITS = sorted((models_folder() / "spice").glob("*.cir"))
EVERY = sorted(REFERENCE.glob("*.cir")) + CIRCUITS

# circuit -> relative rms accuracy of its reference, samples per point of the circuit's own grid; of the last one's current it is 5e-4: see below
ACCURACY = {
    "rc_ladder_10": (6e-7, 20), "rc_ladder_100": (6e-7, 20), "rc_ladder_1000": (6e-7, 20), "rc_ladder_10_exact": (3e-7, 20), "rc_ladder_100_exact": (3e-7, 20),
    "rc_ladder_1000_exact": (3e-7, 20), "diode_bridge": (3e-6, 20), "ivp_transamp": (7e-7, 20), "cmos_chain_100": (4e-4, 10), "transformer_flyback_k": ([4e-5, 4e-5, 6e-4], 40),
}  # fmt: skip


def run(path, **options):
    (samples,) = netsim.load(path).samples(options)
    assert samples.finished, samples.message
    return samples


def errors_of(samples, time, columns):
    """Normalised rms difference of each signal from a waveform at other instants, cubic between samples."""
    from scipy.interpolate import CubicSpline

    found = CubicSpline(samples.time, samples.values)(np.minimum(time, samples.time[-1]))
    return np.sqrt(np.mean((found - columns) ** 2, axis=0)) / np.ptp(columns, axis=0)


def grid(path):
    """The step of the `.tran` line."""
    return value_of(re.search(r"^\.tran\s+(\S+)", path.read_text(), re.MULTILINE | re.IGNORECASE)[1])


@pytest.mark.parametrize("name", ACCURACY)
def test_reference_waveforms(name):
    circuit = REFERENCE / f"{name.removesuffix('_exact')}.cir"
    data = np.genfromtxt(REFERENCE / f"{name}.csv", delimiter=",", skip_header=1)
    limit, finer = ACCURACY[name]
    samples = run(circuit, sample=grid(circuit) / finer)
    assert np.all(errors_of(samples, data[:, 0], data[:, 1:]) < np.array(limit))


def test_the_ringing_current_of_the_flyback_is_converged():
    """Its waveform departs from the reference by 4.7e-4 whatever the tolerance, from ngspice with steps of at most 4 ns by 3.3e-4, 1 ns by 1.7e-4,
    while the reference departs from the latter by 4.9e-4: the difference is the reference's."""
    circuit = REFERENCE / "transformer_flyback_k.cir"
    coarse, fine = (run(circuit, stop=1e-4, sample=1e-7, rtol=rtol).values for rtol in (1e-7, 1e-8))
    assert np.all(np.sqrt(np.mean((coarse - fine) ** 2, axis=0)) < 1e-8 * np.ptp(fine, axis=0))


@pytest.mark.parametrize("path", EVERY, ids=lambda path: path.stem)
def test_shown_circuits_read_the_same(path):
    program = circuit_program(path, library_types("electrical"))
    assert parse(show(program)) == program


@pytest.mark.skipif(shutil.which("ngspice") is None, reason="ngspice is not installed")
@pytest.mark.parametrize("path", CIRCUITS, ids=lambda path: path.stem)
def test_typical_circuits_against_ngspice(path, tmp_path):
    step = grid(path)
    signals = re.findall(r"[vi]\([^)]*\)", re.search(r"^\.(?:save|print tran) (.*)", path.read_text(), re.MULTILINE)[1], re.IGNORECASE)
    text = re.sub(r"(?m)^(\.tran\s+\S+\s+\S+)", rf"\1 0 {step / 4}", path.read_text()).replace(".end\n", "")
    text = re.sub(r"(?m)^\.(save|print|meas\w*) .*\n", "", text)
    commands = f".control\nset wr_singlescale\nset numdgt=12\nrun\nwrdata out.txt {' '.join(signals)}\n.endc\n.end\n"
    (tmp_path / "c.cir").write_text(text + commands)
    subprocess.run(["ngspice", "-b", "c.cir"], cwd=tmp_path, capture_output=True, check=False)
    data = np.loadtxt(tmp_path / "out.txt")
    keep = np.concatenate([[True], np.diff(data[:, 0]) > 0])
    wrong = errors_of(run(path, sample=step / 5), data[keep, 0], data[keep, 1:])
    assert np.all(wrong < 2e-3), dict(zip(signals, wrong))


def circuit(tmp_path, *lines):
    path = tmp_path / "c.cir"
    path.write_text("\n".join(["a title", *lines, ".end", ""]))
    return path


def shown(tmp_path, *lines):
    return show(circuit_program(circuit(tmp_path, *lines), library_types("electrical")))


def last(tmp_path, *lines):
    samples = run(circuit(tmp_path, *lines))
    return dict(zip((s.name for s in samples.signals), samples.values[-1]))


@pytest.mark.parametrize(
    ("text", "value"),
    [("4.7k", 4700.0), ("10uF", 1e-5), ("2meg", 2e6), ("2Megohm", 2e6), ("1e-9", 1e-9), (".5m", 5e-4), ("-3", -3.0), ("1mil", 25.4e-6), ("5f", 5e-15), ("1e3k", 1e6),
     ("10volts", 10.0), ("3t", 3e12), ("x", None), ("1.2.3", None)],
)  # fmt: skip
def test_numbers(text, value):
    assert value_of(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [("2+3*4", 14), ("-2^2", -4), ("2**3**2", 512), ("(1>2)+3", 3), ("1>2 ? 5 : 2<3 ? 6 : 7", 6), ("if(1 && !0, 4, 5)", 4), ("limit(7, 0, 5)", 5), ("pow(2, 3)", 8),
     ("pwr(-2, 3)", -8), ("sgn(-3)*abs(-2)", -2), ("ln(exp(2))", 2), ("u(1)+uramp(-1)", 1), ("half(6)+k", 1003), ("min(3, 2)/4u", 5e5), ("hypot(3,4)", 5), ("pi*0+1k-1", 999)],
)  # fmt: skip
def test_expressions(text, value, tmp_path):
    lines = (".func half(x) {x/2}", ".param k=1k", f"B1 a 0 v={text}", "R1 a 0 1", ".tran 1 10", ".save v(a)")
    assert last(tmp_path, *lines)["a.v"] == pytest.approx(value, rel=1e-12)


def test_name_spaces(tmp_path):
    """Nodes, elements and parameters with one name, nodes with signs and numbers, the language's own words."""
    found = last(tmp_path, ".param r1=2", "V1 r1 0 6", "R1 r1 in+ {r1}", "R2 in+ 3 1", "R3 3 0 3", ".tran 1 1", ".save v(in+) v(3) v(r1,3)")
    assert list(found.values()) == pytest.approx([4.0, 3.0, 3.0])


def test_subcircuits_see_parameters_and_global_nodes_outside(tmp_path):
    lines = (
        ".global vdd", ".param ohms=1k", "V1 vdd 0 10", "X1 a outer gain=3", "RA a 0 {ohms}", ".subckt outer out gain=1", ".param twice={2*gain}",
        ".subckt inner p", "RI vdd p {ohms*twice}", ".ends", "X1 out inner", ".ends", ".tran 1 1", ".save v(a)",
    )  # fmt: skip
    assert last(tmp_path, *lines)["a.v"] == pytest.approx(10 / 7)


def test_include_and_library_sections(tmp_path):
    (tmp_path / "parts.lib").write_text(".lib typical\n.param ohms=3k\n.endl\n.lib slow\n.param ohms=9k\n.endl\n")
    (tmp_path / "load.inc").write_text("RL a 0 {ohms}\n")
    assert last(tmp_path, "V1 b 0 4", "R1 b a 1k", '.include "load.inc"', ".lib parts.lib typical", ".tran 1 1")["a.v"] == pytest.approx(3.0)


def test_a_section_of_a_library_loads_another_one(tmp_path):
    """A section names one of its own file; one that names itself is told."""
    library = tmp_path / "parts.lib"
    library.write_text(
        ".lib big\n.subckt pair a b\n.lib 'parts.lib' small\nX1 a m half\nX2 m b half\n.ends\n.endl\n.lib small\n.subckt half a b\nR1 a b 1k\n.ends\n.endl\n"
    )
    assert last(tmp_path, "V1 b 0 4", "X1 b a pair", "R1 a 0 2k", ".lib parts.lib big", ".tran 1 1")["a.v"] == pytest.approx(2.0)
    library.write_text(".lib big\n.lib parts.lib big\n.endl\n")
    with pytest.raises(netsim.InputError, match=r"'parts\.lib' includes itself"):
        last(tmp_path, "V1 b 0 4", ".lib parts.lib big", ".tran 1 1")


def test_initial_conditions(tmp_path):
    """`.ic` holds a node until the run begins; with `uic` capacitors and coils begin as told, and the rest from zero."""
    lines = ("V1 b 0 10", "R1 b a 1k", "C1 a 0 1u ic=4", "R2 a 0 1meg")
    held = run(circuit(tmp_path, *lines, ".ic v(a)=2", ".tran 1u 1m"))
    assert held.series("a.v")[0] == pytest.approx(2.0)
    told = run(circuit(tmp_path, *lines, ".tran 1u 1m uic"))
    assert told.series("a.v")[0] == pytest.approx(4.0)
    assert run(circuit(tmp_path, *lines, ".tran 1u 1m")).series("a.v")[0] == pytest.approx(10 / 1.001)


def test_operating_point(tmp_path):
    samples = run(circuit(tmp_path, "V1 a 0 5", "R1 a b 1k", "D1 b 0 dm", ".model dm d(is=1e-14)", ".op"))
    v = float(samples.series("b.v")[0])
    assert (5 - v) / 1e3 == pytest.approx(1e-14 * np.expm1(v / 0.025864926), rel=1e-4)


@pytest.mark.parametrize("k", [0.5, -0.98])
def test_two_windings_are_the_library_s(tmp_path, k):
    assert "k1 coupled_inductors (a, ground, b, ground)" in shown(
        tmp_path, "V1 a 0 1", "L1 a 0 1m", "L2 b 0 4m", f"K1 L1 L2 {k}", "R1 b 0 1", ".tran 1 1"
    )


def test_mistakes_are_told_together_with_their_places(tmp_path):
    lines = (
        "R1 a b 1k", "R2 a b {rr}", "Q1 a b c nonsense", "M1 a b c d nm w=1u", ".model nm nmos(level=8)", "D1 a b dm", ".model dm d(iss=1e-14)", "V1 a 0 PULSE(1)",
        "T1 a b c d", "X1 a b missing", "K1 L1 L2 0.9", ".foo", ".tran 1u", "E1 a b v={fun(1)}", "V2 a 0 PWL(0 0 1m 1 1m 2)", ".print tran v(zz)", "+ v(yy)",
    )  # fmt: skip
    with pytest.raises(InputError) as caught:
        circuit_program(circuit(tmp_path, *lines))
    told = [(p.span.line - 1, p.code) for p in caught.value.problems]
    assert sorted(set(line for line, _ in told)) == [2, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
    words = str(caught.value)
    for sentence in ("nothing is called 'rr'", "no .model 'nonsense'", "level 8 (BSIM3 or HICUM) of a MOSFET", "no parameter 'iss'", "PULSE needs", "T1 node node node node z0=50 td=10n", "no subcircuit 'missing'",
                     "couples 'l1'", "no line '.foo'", ".tran step stop", "times of PWL", "node 'zz'"):  # fmt: skip
        assert sentence in words, words


def test_what_waits_is_noted(tmp_path):
    model = netsim.load(circuit(tmp_path, "V1 a 0 1", "R1 a 0 1", ".ac dec 10 1 1k", ".op"))
    (note,) = model.network.notes
    assert note.is_note and note.span.line == 4 and "'.ac'" in note.message
    assert note in model.check()


def test_impossible_couplings(tmp_path):
    with pytest.raises(InputError, match="negative energy"):
        circuit_program(circuit(tmp_path, "L1 a 0 1", "L2 b 0 1", "L3 c 0 1", "K1 L1 L2 0.9", "K2 L2 L3 0.9", "K3 L1 L3 -0.9"))


def test_a_netlist_uses_subcircuits_of_a_file(tmp_path):
    circuit(tmp_path, ".subckt divider in out r=1k", "R1 in out {r}", "R2 out 0 {r}", ".ends")
    net = tmp_path / "n.net"
    net.write_text('use electrical\nuse "c.cir"\nv1 voltage (a, ground) v = 8 V\nd1 divider (a, b)\nrun static()\nsave b.v\n')
    assert run(net).series("b.v") == pytest.approx([4.0])


@pytest.mark.skipif(shutil.which("ngspice") is None, reason="ngspice is not installed")
def test_measures_against_ngspice(tmp_path):
    path = models_folder() / "spice" / "measured.cir"
    (tmp_path / "c.cir").write_text(path.read_text().replace(".tran 1u 1m", ".tran 1u 1m 0 0.05u"))
    said = subprocess.run(["ngspice", "-b", "c.cir"], cwd=tmp_path, capture_output=True, check=False, text=True).stdout
    theirs = dict(re.findall(r"(?m)^([a-z]\w*) +=  *(\S+)", said.partition("Measurements")[2]))
    ours = {figure.name: figure.value for figure in run(path).figures}
    assert set(ours) == set(theirs) and len(ours) == 13
    for name, value in ours.items():
        assert value == pytest.approx(float(theirs[name]), rel=1e-3), name


@pytest.mark.parametrize(
    ("line", "means"),
    [
        (".meas tran x TRIG v(a) VAL=0.1 RISE=1 TARG v(b) VAL=1k FALL=LAST TD=1m", "when(b.v < 1 kV, n = -1, from = 1 ms) - when(a.v > 0.1 V)"),
        (".measure tran x TRIG AT=1u TARG i(r1) VAL=2m CROSS=3", "when(r1.i == 2 mA, n = 3) - 1 us"),
        (".meas tran x FIND v(a,b) AT=1m", "at(a.v - b.v, 1 ms)"),
        (".meas tran x FIND par('2*v(a)') WHEN v(a)=v(b) RISE=2", "at(2*(a.v/1 V), when(a.v > b.v, n = 2))"),
        (".meas tran x DERIV v(a) AT=1m", "slope(a.v, 1 ms)"),
        (".meas tran x INTEG i(r1) FROM=1u TO={2*k}", "integral(r1.i, from = 1 us, to = 2*k*1 s)"),
        (".meas tran x max_at v(a)", "argmax(a.v)"),
        (".meas tran y AVG v(a)\n.meas tran x PARAM='2*y+k'", "2*(y/1 V) + k"),
        (".meas tran x WHEN v(a)='k/2' CROSS=2", "when(a.v == k/2*1 V, n = 2)"),
    ],
)
def test_measure_lines_mean_what_they_say(tmp_path, line, means):
    (tmp_path / "c.cir").write_text(f"title\nv1 a 0 1\nr1 a b 1\nr2 b 0 1\n.param k=1\n{line}\n.tran 1u 1m\n")
    program = circuit_program(tmp_path / "c.cir", library_types("electrical"))
    assert [s for s in program.statements if isinstance(s, Measure)][-1] == parse(f"measure x = {means}").statements[0]


@pytest.mark.parametrize(
    ("line", "message"),
    [(".meas tran x FOO v(a)", "'FOO' is not a measurement"), (".meas tran x TRIG v(a) VAL=1 RISE=1", "ends too early"), (".meas tran x FIND v(a)", "AT=instant or WHEN signal=level is expected here"),
     (".meas tran x MAX v(zz)", "nothing is connected"), (".meas foo x MAX v(a)", "this is not a '.measure' line")],
)  # fmt: skip
def test_wrong_measure_lines_are_told(tmp_path, line, message):
    (tmp_path / "c.cir").write_text(f"title\nv1 a 0 1\nr1 a 0 1\n{line}\n.tran 1u 1m\n")
    with pytest.raises(InputError, match=message):
        circuit_program(tmp_path / "c.cir", library_types("electrical"))


def switched(path):
    """Instants and what happened, of one run."""
    return [(float(t), what) for t, _, _, what in (line.split("\t") for line in run(path).attributes["event_log"].splitlines())]


def test_switch_with_hysteresis_makes_an_oscillator_of_exact_period(tmp_path):
    """Between 3 V and 7 V, charged through 10 k (and 1 meg of the open switch), discharged through 100 Ohm: exponentials both ways."""
    lines = ["v1 in 0 10", "r1 in c 10k", "c1 c 0 1u ic=0", "s1 c 0 c 0 relax", ".model relax sw(vt=5 vh=2 ron=100 roff=1meg)"]
    found = switched(circuit(tmp_path, *lines, ".tran 100u 40m uic", ".save v(c)", ".options reltol=1e-6"))

    def time(resistance, first, last):
        joint = 1 / (1 / 10e3 + 1 / resistance)
        rest = 10 * joint / 10e3
        return joint * 1e-6 * np.log((rest - first) / (rest - last))

    up, down = time(1e6, 3, 7), time(100, 7, 3)
    wanted = time(1e6, 0, 7) + np.array([0, down, up + down, up + 2 * down, 2 * (up + down)])
    assert [t for t, _ in found][:5] == pytest.approx(wanted, rel=1e-7)
    assert [what for _, what in found][:3] == ["on = 1", "on = 0", "on = 1"]


def test_a_transistor_that_conducts_starts_while_its_gate_moves_fast(tmp_path):
    """The rate of its channel current is a difference of rates of 10^8 V/s, and only known so far."""
    found = last(
        tmp_path, "VDD vdd 0 24", "M3 r g 0 0 nm w=1 l=1", "M4 r ghr vdd vdd pm w=1 l=1", "Vg g 0 PULSE(10 0 0 50n 50n 20u 50u)", "Vghr ghr 0 24",
        ".model nm nmos level=1 vto=2 kp=2", ".model pm pmos level=1 vto=-2 kp=2", ".tran 10n 20n", ".save v(r) v(g)",
    )  # fmt: skip
    assert found["g.v"] == pytest.approx(6.0) and abs(found["r.v"]) < 1e-10


def test_elements_may_read_what_comes_later(tmp_path):
    found = last(
        tmp_path,
        "B1 out 0 V=2*v(late)+v(x1.mid)", "S1 late s g 0 m1", "Rs s 0 1k", "R1 out 0 1k", "X1 late 0 div", "V1 late 0 1", "Vg g 0 1",
        ".subckt div a b", "Ra a mid 1k", "Rb mid b 1k", ".ends", ".model m1 sw(vt=0.5 ron=1k)", ".tran 1m 1m", ".save v(out) v(s)",
    )  # fmt: skip
    assert found["out.v"] == pytest.approx(2.5, rel=1e-9) and found["s.v"] == pytest.approx(0.5, rel=1e-9)
    lines = ("S1 late 0 gate 0 m1", "V1 late 0 1", "Vg gat 0 1", ".model m1 sw(vt=0.5)", ".tran 1m 1m")
    with pytest.raises(InputError, match=r"E133 nothing is connected to a node 'gate'(.|\n)*did you mean 'gat'"):
        shown(tmp_path, *lines)


def test_switch_by_a_current(tmp_path):
    """Closed from 5 mA on, open from -1 mA on; `on` is the state in between at the start."""
    lines = [
        "i1 0 a sin(0 10m 1k)",
        "va a b 0",
        "r1 b 0 1k",
        "v2 in 0 5",
        "w1 in out va m1",
        "rl out 0 1k",
        ".model m1 csw(it=2m ih=3m ron=10 roff=10meg)",
    ]
    closes, opens = np.arcsin(0.5) / (2e3 * np.pi), 0.5e-3 + np.arcsin(0.1) / (2e3 * np.pi)
    found = switched(circuit(tmp_path, *lines, ".tran 1u 1.5m", ".save v(out)"))
    assert [t for t, _ in found] == pytest.approx([closes, opens, closes + 1e-3], rel=1e-9)
    lines[4] = "w1 in out va m1 on"
    assert switched(circuit(tmp_path, *lines, ".tran 1u 0.4m", ".save v(out)")) == []


def test_start_of_a_singular_stage_ends_at_rounding(monkeypatch, tmp_path):
    """Gates without resistance leave rates undetermined: of all solutions the least is taken, and Newton's method ends where only rounding is left."""
    gates = re.compile(r"(?:MP|MN|CW)(\d+) ")
    lines = (REFERENCE / "cmos_chain_100.cir").read_text().splitlines()
    kept = [line for line in lines if not ((found := gates.match(line)) and int(found[1]) > 4) and not line.startswith((".tran", ".save"))]
    circuit = tmp_path / "chain.cir"
    circuit.write_text("\n".join([*kept[:-1], ".tran 1p 10p", ".save v(n4)", ".end\n"]))
    rounds, solved = [], newton.least_change
    monkeypatch.setattr(newton, "least_change", lambda jacobian, *given: rounds.append(jacobian.shape) or solved(jacobian, *given))
    assert run(circuit).values[0, 0] == pytest.approx(0.0, abs=1e-6)
    assert 0 < rounds.count(max(rounds)) < 20


@pytest.mark.parametrize("method", ["radau", "bdf"])
def test_circuits_without_any_capacitance_keep_their_error_test(method, tmp_path):
    """A junction of capacitance 0 has a charge of nothing: its rate is no reason to leave voltages out of the error test. The clipper's samples solve
    (sin - v)/R = Is (exp(v/Vt) - 1)."""
    from scipy.optimize import brentq

    lines = ("V1 a 0 SIN(0 10 1k)", "R1 a b 1k", "D1 b 0 dz", ".model dz d(is=1e-14)", ".tran 5u 1m", ".save v(b)")
    (samples,) = netsim.load(circuit(tmp_path, *lines)).samples({"method": method, "rtol": 1e-5})
    thermal = 300.15 * 1.380649e-23 / 1.602176634e-19
    volts = 10 * np.sin(2e3 * np.pi * samples.time)
    wanted = [brentq(lambda v, s=s: (s - v) / 1e3 - 1e-14 * np.expm1(v / thermal) - 1e-12 * v, -11, 1) for s in volts]
    assert np.max(np.abs(samples.values[:, 0] - wanted)) < 1e-8  # between steps too: samples are solved for where no state remembers anything


BRIDGE = (
    "vdd vdd 0 12", "mp1 x a vdd vdd pm w=1m l=1u", "mn1 x a 0 0 nm w=0.5m l=1u", "mp2 y b vdd vdd pm w=1m l=1u", "mn2 y b 0 0 nm w=0.5m l=1u",
    ".model nm nmos(vto=1 kp=100u)", ".model pm pmos(vto=-1 kp=50u)", "va a 0 pulse(0 12 0 1u 1u 48u 100u)", "vb b 0 pulse(12 0 0 1u 1u 48u 100u)",
    ".tran 1u 150u", ".save i(l1)",
)  # fmt: skip


@pytest.mark.parametrize("coil", [("l1 x y 1m",), ("l1 x z 1m", "r1 z y 1m")])
def test_bridges_without_capacitance_jump(coil, tmp_path):
    """A transistor that can no longer carry the coil's current lets its node jump; methods that pass the instant differently agree behind it."""
    path = circuit(tmp_path, *coil, *BRIDGE)
    found = [netsim.load(path).samples({"method": method})[0] for method in ("radau", "trbdf2", "bdf")]
    assert all(samples.finished for samples in found)
    assert found[0].attributes["jumps"] >= 4
    for samples in found:  # TR-BDF2 finds its way across most of them, or all
        jumps = samples.attributes["jumps"]
        assert not jumps or f"{jumps} jump{'s' * (jumps > 1)} in a circuit had to be passed over" in samples.warnings[0].message
        assert not jumps or "at t = " in samples.warnings[0].message  # the instant of the first one
    current = np.array([samples.values[:, 0] for samples in found])
    assert np.ptp(current[0]) > 0.1
    assert np.allclose(current, current[0], atol=1e-4)


@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize(("time", "ohms"), [(1e-9, 1e3), (1e-3, 1.0), (1e-9, 1e6)])
@pytest.mark.parametrize("method", ["radau", "trbdf2", "bdf", "generalized_alpha"])
def test_a_diode_without_depletion_capacitance_recovers_at_once(method, time, ohms, rtol, tmp_path):
    """When its charge is used up its voltage falls within 1e-20 s. The charge obeys q' = (u - v(q))/R - q/tt, by LSODA."""
    from scipy.integrate import solve_ivp
    from scipy.optimize import brentq

    source = f"v1 1 0 pulse(4 -4 {10 * time!r} {time!r} {time!r} {40 * time!r} {100 * time!r})"
    lines = (source, f"r1 1 2 {ohms}", "d1 2 0 dm", f".model dm d(is=1e-14 tt={5 * time!r})", f".tran {time / 10!r} {40 * time!r}", ".save v(2)")
    (samples,) = netsim.load(circuit(tmp_path, *lines)).samples({"method": method, "rtol": rtol})
    assert samples.finished
    thermal, kept = 300.15 * 1.380649e-23 / 1.602176634e-19, 5e-14

    def rate(t, q):
        u = 4 - 8 * np.clip(t - 10, 0, 1)
        return (u - thermal * np.log1p(np.maximum(q / kept, -0.5))) / ohms - q / 5

    empty = lambda t, q: q[0]  # noqa: E731
    empty.terminal = True
    v0 = brentq(lambda v: (4 - v) / ohms - 1e-14 * np.expm1(v / thermal), 0, 1)
    found = solve_ivp(rate, (10, 40), [kept * np.expm1(v0 / thermal)], "LSODA", events=empty, rtol=1e-11, atol=1e-16, dense_output=True)
    end, t, v = found.t_events[0][0], samples.time / time, samples.series("n2.v")
    before, behind = (t > 10) & (t < end - 0.2), t > end + 0.2
    assert before.sum() > 10 and behind.sum() > 100
    assert np.abs(v[before] - thermal * np.log1p(found.sol(t[before])[0] / kept)).max() < 20 * rtol * 4
    assert np.abs(v[behind] + 4).max() < 1e-6 * max(1.0, ohms / 1e3)


@pytest.mark.parametrize("method", ["radau", "bdf", "trbdf2", "generalized_alpha"])
def test_points_of_an_amplifier_are_consistent(method, tmp_path):
    """The transistor that is off hangs on 1e-12 S beside the 0.5 A of the other: what rounding leaves of its balance moves it to and fro by 1e-6 V."""
    lines = (
        "vcc p 0 15", "vee n 0 -15", "vin in 0 sin(0 5 1k)", "rb1 p b1 2.2k", "d1 b1 in dd", "d2 in b2 dd", "rb2 b2 n 2.2k",
        "q1 p b1 e1 nn", "q2 n b2 e2 pp", "re1 e1 out 0.47", "re2 e2 out 0.47", "rl out 0 8", ".model dd d(is=1e-14 cjo=2p tt=5n)",
        ".model nn npn(is=1e-13 bf=100 cje=50p cjc=30p tf=5n vaf=80 ikf=2)", ".model pp pnp(is=1e-13 bf=80 cje=50p cjc=30p tf=8n vaf=60 ikf=2)",
        ".tran 5u 2m", ".save v(out) i(vcc)",
    )  # fmt: skip
    model = netsim.load(circuit(tmp_path, *lines))
    (samples,) = model.samples({"method": method})
    assert samples.attributes["inconsistent_points"] == 0 and not samples.warnings
    (fine,) = model.samples({"method": "radau", "rtol": 1e-9})
    assert np.abs(samples.values - fine.values).max(0) == pytest.approx(0.0, abs=20e-6 * np.abs(fine.values).max())


@pytest.mark.parametrize(
    ("line", "area"), [("qn", 1), ("qn 2", 2), ("qn 2 off", 2), ("qn ic=0.6 5.0", 1), ("qn ic=0.6, 5.0", 1), ("qn 2 ic=0.6, 5.0", 2)]
)
def test_a_number_behind_the_model_is_the_area(line, area, tmp_path):
    """The last number was, also one of `ic=`."""
    path = circuit(tmp_path, "v1 c 0 5", "v2 b 0 0.65", f"q1 c b 0 {line}", ".model qn npn(is=1e-14 bf=100)", ".tran 1u 2u", ".save i(v1)")
    current = 1e-14 * np.expm1(0.65 * 1.602176634e-19 / (300.15 * 1.380649e-23))
    assert -netsim.load(path).samples({})[0].values[-1, 0] == pytest.approx(area * current, rel=1e-6)


@pytest.mark.parametrize(
    ("line", "word"), [("q1 c b 0 mod 2 3", "3"), ("q1 c b 0 mod warm", "warm"), ("m1 c b 0 0 mod 2u", "2u"), ("d1 b 0 mod 1 x", "x")]
)
def test_what_else_stands_behind_the_model_is_told(line, word, tmp_path):
    kind = {"q": "npn", "m": "nmos", "d": "d"}[line[0]]
    with pytest.raises(InputError) as caught:
        netsim.load(circuit(tmp_path, "v1 c 0 5", "v2 b 0 0.65", line, f".model mod {kind}", ".tran 1u 2u"))
    assert caught.value.problems[0].code == "E227" and f"'{word}'" in caught.value.problems[0].message


@pytest.mark.parametrize(
    ("line", "word"),
    [("r1 a b 1k 5%", "5%"), ("r1 a b r=2k 3", "3"), ("c1 a b 1n x", "x"), ("l1 a b 1m 3", "3"), ("t1 a 0 b 0 z0=50 td=1n x", "x"),
     ("e1 b 0 a 0 2 3", "3"), ("f1 b 0 v1 2 3", "3"), ("r1 a b 1k tc=0.1 0.2", ""), ("c1 a b 1n ic=0 1", ""), ("s1 a b a 0 sm on", "")],
)  # fmt: skip
def test_words_behind_an_element_that_mean_nothing_are_told(line, word, tmp_path):
    model = netsim.load(circuit(tmp_path, "v1 a 0 1", "r0 a 0 1k", "r9 b 0 1k", line, ".model sm sw(vt=0.5)", ".tran 1u 2u"))
    told = [each.message for each in model.network.notes if "means nothing" in each.message]
    assert told == ([f"'{word}' means nothing behind '{line[:2]}' and is ignored"] if word else [])
