"""S, Y and Z parameters of ports against closed forms, Touchstone files read by a reader of the test's own, and `.sp` of SPICE."""

import numpy as np
import pytest

import netsim
from netsim.results.files import read, write
from ngspice_runs import NGSPICE, loaded, ngspice

PORTS = """
use electrical
p1 port (a, ground) Z0 = 50 Ohm, v = 0 V
p2 port (b, ground) Z0 = {second} Ohm, v = 0 V
"""
GRID = dict(from_="1 MHz", to="1 GHz", per_decade=5)


def matrix(found, kind="S", names=("p1", "p2")):
    return np.array([[found[f"{kind}({i},{j})"].values for j in names] for i in names]).transpose(2, 0, 1)


def independent(path):
    """Frequencies (Hz) and matrices of a file by the letter of the specification."""
    n = int(path.suffix[2])
    lines = [line.split("!")[0] for line in path.read_text().splitlines()]
    (head,) = [line.split() for line in lines if line.startswith("#")]
    assert head[:2] == ["#", "Hz"] and head[3:5] == ["RI", "R"]
    words = [float(x) for line in lines if not line.startswith("#") for x in line.split()]
    rows = np.array(words).reshape(-1, 1 + 2 * n * n)
    values = (rows[:, 1::2] + 1j * rows[:, 2::2]).reshape(-1, n, n)
    return rows[:, 0], values.transpose(0, 2, 1) if n == 2 else values, head[2], float(head[5])


def test_an_attenuator(tmp_path):
    """A T pad of 6 dB: matched, S21 = 10^(-6/20); its Z parameters are those of the resistors."""
    k = 10 ** (6 / 20)
    series, shunt = 50 * (k - 1) / (k + 1), 100 * k / (k * k - 1)
    text = (
        PORTS.format(second=50)
        + f"r1 resistor (a, m) R = {series!r} Ohm\nr2 resistor (m, b) R = {series!r} Ohm\nr3 resistor (m, ground) R = {shunt!r} Ohm\n"
    )
    model = netsim.load(text)
    s = matrix(model.ports(**GRID))
    assert np.abs(s - np.array([[0, 1 / k], [1 / k, 0]])).max() < 1e-12
    z = matrix(model.ports(parameters="Z", **GRID), "Z")
    assert np.abs(z - np.array([[series + shunt, shunt], [shunt, series + shunt]])).max() < 1e-9
    file = tmp_path / "pad.s2p"
    write(model.ports(**GRID), file)
    frequency, values, kind, resistance = independent(file)
    assert (kind, resistance) == ("S", 50.0) and np.array_equal(values, s) and len(frequency) == 16
    assert np.array_equal(matrix(read(file)), s)


def test_a_line_between_unequal_ports():
    """A lossless line of 75 Ohm between 50 and 100 Ohm: from its cascade parameters; power is conserved."""
    text = PORTS.format(second=100) + "t1 lossless_line (a, ground, b, ground) Z = 75 Ohm, T = 1.3 ns\n"
    found = netsim.load(text).ports(**GRID)
    s, w = matrix(found), 2 * np.pi * found["frequency"].values
    A, B, C = np.cos(w * 1.3e-9), 75j * np.sin(w * 1.3e-9), 1j * np.sin(w * 1.3e-9) / 75
    below = A * 100 + B + C * 50 * 100 + A * 50
    assert np.abs(s[:, 1, 0] - 2 * np.sqrt(50 * 100) / below).max() < 1e-10
    assert np.abs(s[:, 0, 0] - (A * 100 + B - C * 50 * 100 - A * 50) / below).max() < 1e-10
    assert np.abs(s.conj().transpose(0, 2, 1) @ s - np.eye(2)).max() < 1e-10
    with pytest.raises(netsim.InputError, match="one resistance of reference"):
        write(found, "never.s2p")


def test_one_port_and_three(tmp_path):
    """A series RLC: Y = 1/(R + j w L + 1/(j w C)); three ports at one node: S = 2/3 beside the diagonal, -1/3 on it."""
    text = (
        "use electrical\np1 port (a, ground) v = 0 V\nr1 resistor (a, b) R = 3 Ohm\nl1 inductor (b, c) L = 10 nH\nc1 capacitor (c, ground) C = 5 pF\n"
    )
    found = netsim.load(text).ports(parameters="Y", **GRID)
    s = 2j * np.pi * found["frequency"].values
    assert np.abs(found["Y(p1,p1)"].values * (3 + s * 10e-9 + 1 / (s * 5e-12)) - 1).max() < 1e-9
    write(found, tmp_path / "one.s1p")
    assert np.allclose(independent(tmp_path / "one.s1p")[1][:, 0, 0] / 50, found["Y(p1,p1)"].values, rtol=1e-15)
    assert np.allclose(read(tmp_path / "one.s1p")["Y(p1,p1)"].values, found["Y(p1,p1)"].values, rtol=1e-15)
    text = "use electrical\n" + "".join(f"p{k} port (a, ground) v = 0 V\n" for k in (1, 2, 3))
    found = netsim.load(text).ports(**GRID)
    write(found, tmp_path / "three.s3p")
    names = ("p1", "p2", "p3")
    assert np.abs(independent(tmp_path / "three.s3p")[1] - (2 / 3 - np.eye(3))).max() < 1e-12
    assert np.array_equal(matrix(read(tmp_path / "three.s3p"), names=names), matrix(found, names=names))


def test_files_of_others(tmp_path):
    """Decibels, magnitudes, GHz and the defaults of the specification."""
    file = tmp_path / "x.s2p"
    for head, line in (("# MHz S DB R 75", "100 -6 90 -3 0 -20 45 -6 -90"), ("#", "0.1 0.5011872 90 0.7079458 0 0.1 45 0.5011872 -90")):
        file.write_text(f"! a remark\n{head}\n{line} ! another\n")
        found = read(file)
        assert found["frequency"].values.tolist() == [1e8]
        assert found["S(p1,p1)"].values[0] == pytest.approx(1j * 10 ** (-6 / 20), rel=1e-6)
        assert found["S(p2,p1)"].values[0] == pytest.approx(10 ** (-3 / 20), rel=1e-6)
    file.write_text("# Hz S RI R 50\n1 2 3\n")
    with pytest.raises(netsim.InputError, match="not those of 2 ports"):
        read(file)


@NGSPICE
def test_sp_of_a_filter(tmp_path):
    """ngspice's own example: two ports, a pi filter."""
    circuit = "v1 in 0 dc 0 ac 1 portnum 1 z0 50\nc1 in 0 318.3n\nl1 in out 1.592m\nc2 out 0 318.3n\nv2 out 0 dc 0 ac 0 portnum 2 z0 50"
    found = loaded(tmp_path, circuit, ".sp dec 10 1 1e6").run()
    theirs = ngspice(tmp_path, circuit, "sp dec 10 1 1e6", "s_1_1 s_1_2 s_2_1 s_2_2")
    for k, name in enumerate(("S(v1,v1)", "S(v1,v2)", "S(v2,v1)", "S(v2,v2)")):
        wanted = theirs[:, 1 + 2 * k] + 1j * theirs[:, 2 + 2 * k]
        assert np.abs(found[name].values - wanted).max() < 1e-6, name


def test_mistakes(tmp_path):
    model = netsim.load(PORTS.format(second=50) + "r1 resistor (a, b) R = 1 Ohm\n")
    for options, words in (
        ({"ports": "p3"}, "no port is called 'p3'"),
        ({"parameters": "T"}, "must be one of S, Y, Z"),
        ({"at": [0.0, 1.0]}, "takes one instant"),
    ):
        with pytest.raises(netsim.InputError, match=words):
            model.ports(**GRID, **options)
    with pytest.raises(netsim.InputError, match="has no port"):
        netsim.load("use electrical\nv1 voltage (a, ground) v = 1 V\nr1 resistor (a, ground) R = 1 Ohm\n").ports(**GRID)
    with pytest.raises(netsim.InputError, match="2 ports go into"):
        write(model.ports(**GRID), tmp_path / "x.s3p")
    with pytest.raises(netsim.InputError, match="run ports"):
        write(model.ac(input="p1.v", frequencies=[1.0]), tmp_path / "x.s2p")
    assert any("no port" in n.message for n in loaded(tmp_path, "v1 a 0 1\nr1 a 0 1", ".op\n.sp dec 1 1 10").network.notes)


@pytest.mark.parametrize(
    ("joined", "kind", "exists"),
    [
        ("r1 resistor (a, b) R = 50 Ohm", "Z", False),
        ("r1 resistor (a, b) R = 50 Ohm", "Y", True),
        ("r1 resistor (a, b) R = 50 Ohm\nr2 resistor (b, ground) R = 50 Ohm", "Z", True),
        ("r1 resistor (a, ground) R = 50 Ohm\nt1 transformer (a, ground, b, ground) ratio = 2", "Y", False),
    ],
)
def test_parameters_that_do_not_exist_are_told(joined, kind, exists):
    """A resistance between two ports has no Z, two ports of a transformer have no Y: a voltage at one gives that of the other."""
    ((samples),) = netsim.load(PORTS.format(second=50) + f"{joined}\nrun ports(from = 1 Hz, to = 3 Hz, points = 3, parameters = {kind})\n").samples()
    assert np.isfinite(samples.values).all() == exists
    told = [p.message for p in samples.warnings]
    assert told == ([] if exists else [f"the network has no {kind} parameters at 3 of 3 frequencies, the first 1 Hz"])
