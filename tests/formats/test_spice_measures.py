"""`.measure ac` and `.measure dc` and `.four` against ngspice and closed forms.

ngspice goes by straight lines between its points, so that its figures are as good as its grid is fine.
"""

import re
import subprocess

import numpy as np
import pytest

import netsim
from ngspice_runs import EQUAL, NGSPICE, OPTIONS, loaded

FILTER = "v1 in 0 dc 0 ac 1\nr1 in a 100\nl1 a out 10m\nc1 out 0 100n\nr2 out 0 2k"
AC = """
.meas ac low find vdb(out) at=100
.meas ac turned find vp(out) at=5k
.meas ac size find vm(out) at=5k
.meas ac re find vr(out) at=5k
.meas ac im find vi(out) at=5k
.meas ac plain find v(out) at=5k
.meas ac current find im(v1) at=5k
.meas ac f3 when vdb(out)=-9.5 fall=1
.meas ac up when vm(out)=1.2 rise=1
.meas ac down when vm(out)=1.2 fall=last
.meas ac band trig vm(out) val=1.2 rise=1 targ vm(out) val=1.2 fall=1
.meas ac top max vdb(out)
.meas ac where_top max_at vdb(out)
.meas ac least min vm(out) from=1k to=4k
.meas ac swing pp vdb(out) from=1k to=4k
.meas ac mean avg vm(out) from=1k to=4k
.meas ac area integ vm(out) from=1k to=4k
.meas ac twice param='2*size'
"""  # fmt: skip


def measured_by_ngspice(folder, circuit, lines):
    deck = folder / "deck.cir"
    deck.write_text(f"title\n{circuit}\n{OPTIONS} numdgt=12\n{lines}\n.end\n")
    done = subprocess.run(["ngspice", "-b", str(deck)], capture_output=True, timeout=60, check=False, text=True)
    return {name: float(value) for name, value in re.findall(r"^(\w+)\s*=\s*([-+.\deE]+)", done.stdout, re.MULTILINE)}


OF_THE_GRID = ("where_top", "swing", "least", "mean", "area")
"""Places of the top and ends of a range are points of ngspice's grid."""


@NGSPICE
def test_ac(tmp_path):
    """All forms on a filter with 2000 points a decade; ngspice prints six or seven digits."""
    circuit = FILTER.replace("r2 out 0 2k", "r2 out 0 2k\n.print ac v(out) i(v1)")
    lines = AC.replace("im(v1)", "im(v1)").replace(".meas ac current find im(v1) at=5k\n", "")
    found = loaded(tmp_path, circuit, f".ac dec 2000 100 100k\n{lines}").run().attrs
    theirs = measured_by_ngspice(tmp_path, circuit, f".ac dec 2000 100 100k\n{lines}")
    names = re.findall(r"\.meas ac (\w+)", lines)
    assert len(names) == 17
    for name in names:
        ours = found[f"measure.{name}"]
        assert ours == pytest.approx(theirs[name], rel=1e-3 if name in OF_THE_GRID else 2e-5), name
    assert found["measure.f3.units"] == "Hz" and found["measure.turned.units"] == "rad" and found["measure.area.units"] == "V/s"


def test_ac_of_a_lag(tmp_path):
    """Ten points a decade do: the corner, the gain there, and the area under 1/sqrt(1 + (f/fc)^2), fc asinh(f/fc)."""
    circuit = "v1 in 0 ac 1\nr1 in out 1k\nc1 out 0 1u"
    lines = ".meas ac fc when vp(out)=-0.78539816\n.meas ac g find vdb(out) when vp(out)=-0.78539816\n.meas ac a integ vm(out) from=10 to=1k"
    found = loaded(tmp_path, circuit, f".ac dec 10 1 100k\n{lines}").run().attrs
    fc = 1 / (2 * np.pi * 1e-3)
    assert found["measure.fc"] == pytest.approx(fc, rel=1e-6) and found["measure.g"] == pytest.approx(-10 * np.log10(2), rel=1e-5)
    assert found["measure.a"] == pytest.approx(fc * (np.arcsinh(1e3 / fc) - np.arcsinh(10 / fc)), rel=1e-5)


DC = """
.meas dc vt find v(in) when i(v2)=-1m
.meas dc half when v(a)=0.5 rise=1
.meas dc at2 find v(a) at=2
.meas dc most max v(a)
.meas dc least min v(a) from=1 to=2
.meas dc mean avg v(a) from=1 to=2
.meas dc area integ v(a) from=1 to=2
.meas dc swing pp v(a)
.meas dc wide trig v(a) val=0.2 rise=1 targ v(a) val=0.6 rise=1
.meas dc twice param='2*at2'
"""


@NGSPICE
@pytest.mark.parametrize("sweep", ["v1 0 3 1m", "v1 3 0 -1m"])
def test_dc(sweep, tmp_path):
    """All forms on a diode's curve, swept up and (those that say no direction) down."""
    circuit = "v1 in 0 1\nr1 in a 1k\nd1 a b dm\nv2 b 0 0\n.model dm d(is=1e-14 n=1.1 rs=5)"
    lines = DC if sweep.startswith("v1 0") else "\n".join(line for line in DC.splitlines() if re.search("most|swing|at2", line))
    lines = lines.replace("i(v2)=-1m", "i(v2)=1m")
    found = loaded(tmp_path, circuit, f"{EQUAL}\n.dc {sweep}\n{lines}").run().attrs
    theirs = measured_by_ngspice(tmp_path, circuit, f".dc {sweep}\n{lines}")
    for name in re.findall(r"\.meas dc (\w+)", lines):
        assert found[f"measure.{name}"] == pytest.approx(theirs[name], rel=2e-5), name
    assert found["measure.at2.units"] == "V"


def test_what_is_not_measured(tmp_path):
    circuit = "v1 in 0 1 ac 1\nr1 in a 1k\nr2 a 0 1k"
    model = loaded(tmp_path, circuit, ".op\n.meas dc x max v(a)\n.meas noise y integ onoise\n.meas tran z max v(a)")
    assert [note.message for note in model.network.notes if "is of an analysis" in note.message] and not model.network.measures
    (samples,) = loaded(tmp_path, circuit, ".dc v1 0 1 0.1 r2 1k 2k 1k\n.meas dc x max v(a)").samples()
    assert [(f.name, round(f.value, 9)) for f in samples.figures] == [("x at r2_value = 1000", 0.5), ("x at r2_value = 2000", 0.666666667)]
    with pytest.raises(netsim.InputError, match="AT=instant"):
        loaded(tmp_path, circuit, ".ac dec 1 1 10\n.meas ac x find vdb(a)").run()


def test_measures_of_noise(tmp_path):
    """Of a low-pass: sqrt(k T/C) as a whole, densities at the output and at the input, in the spellings of ngspice and LTspice."""
    circuit = ".param r=1k\nv1 in 0 dc 0 ac 1\nr1 in a {r}\nc1 a 0 1n"
    lines = """.noise v(a) v1 dec 5 1m 1T
.print noise onoise inoise_spectrum
.meas noise total integ v(onoise)
.meas noise part integ onoise_spectrum from 20 to=20k
.meas noise low find v(onoise) at 1k
.meas noise given find inoise_spectrum at=1k
.meas noise micro param='onoise_total*1e6'
.meas noise half when v(onoise)=2.0356e-9
.options temp=27
"""
    k_t = 1.380649e-23 * 300.15
    model = loaded(tmp_path, circuit, lines)
    found = {name.removeprefix("measure."): value for name, value in model.run().attrs.items() if name.startswith("measure.")}
    corner = 1 / (2 * np.pi * 1e3 * 1e-9)
    assert found["total"] == found["micro"] / 1e6 == pytest.approx(np.sqrt(k_t / 1e-9), rel=1e-5)
    band = 4 * k_t * 1e3 * corner * (np.arctan(20e3 / corner) - np.arctan(20 / corner))
    assert found["part"] == pytest.approx(np.sqrt(band), rel=1e-6)
    assert found["given"] == pytest.approx(np.sqrt(4 * k_t * 1e3), rel=1e-9) and found["given.units"] == "V/Hz^0.5"
    assert found["low"] == pytest.approx(np.sqrt(4 * k_t * 1e3 / (1 + (1e3 / corner) ** 2)), rel=1e-9)
    assert found["half"] == pytest.approx(corner * np.sqrt(4 * k_t * 1e3 / 2.0356e-9**2 - 1), rel=1e-6)
    assert [axes.get_ylabel() for axes in model.plot().figure.axes] == ["[V/√Hz]"] * 2
    (samples,) = loaded(tmp_path, circuit, f"{lines}.step param r list 1k 2k\n").samples()
    low = {f.name: f.value for f in samples.figures if f.name.startswith("low")}
    assert low == pytest.approx({f"low at r = {r:g}": np.sqrt(4 * k_t * r / (1 + 4 * np.pi**2 * (r * 1e-6) ** 2)) for r in (1e3, 2e3)})


def test_harmonics_of_a_square_wave(tmp_path):
    """Amplitudes 4/(pi n) of odd n, phases 0, the distortion of the harmonics to the ninth; of a sine its own phase."""
    circuit = "v1 a 0 pulse(-1 1 0 1p 1p 0.5m 1m)\nr1 a 0 1k\nv2 b 0 sin(0.25 2 1k 0 0 40)\nr2 b 0 1k"
    found = loaded(tmp_path, circuit, ".tran 1u 3m\n.four 1k v(a) v(b)").run().attrs
    for n in range(1, 10):
        assert found[f"measure.v_a_{n}"] == pytest.approx(4 / (np.pi * n) if n % 2 else 0.0, abs=2e-6)
        if n % 2:
            assert found[f"measure.v_a_phase{n}"] == pytest.approx(0.0, abs=1e-5)
    assert found["measure.v_a_thd"] == pytest.approx(np.sqrt(sum(1 / n**2 for n in (3, 5, 7, 9))), rel=1e-5)
    assert found["measure.v_b_0"] == pytest.approx(0.25, abs=1e-7) and found["measure.v_b_1"] == pytest.approx(2.0, abs=1e-6)
    assert found["measure.v_b_phase1"] == pytest.approx(np.radians(40), abs=1e-6)


@NGSPICE
def test_harmonics_of_a_clipped_sine(tmp_path):
    """Against ngspice's table with 2000 points in the period."""
    circuit = "v1 in 0 sin(0.3 1 1k 0 0 30)\nr1 in a 1k\nd1 a 0 dm\n.model dm d(is=1e-14)\nc1 a 0 1n"
    found = loaded(tmp_path, circuit, f"{EQUAL}\n.options reltol=1e-5\n.tran 1u 5m\n.four 1k v(a)").run().attrs
    deck = tmp_path / "deck.cir"
    script = ".control\nset fourgridsize=2000\nset polydegree=2\nset numdgt=10\ntran 0.5u 5m 0 0.5u\nfourier 1k v(a)\n.endc"
    deck.write_text(f"title\n{circuit}\n.options reltol=1e-6\n{script}\n.end\n")
    done = subprocess.run(["ngspice", "-b", str(deck)], capture_output=True, timeout=60, check=False, text=True).stdout
    rows = re.findall(r"^ (\d)\s+(\S+)\s+(\S+)\s+(\S+)", done, re.MULTILINE)
    assert len(rows) == 10
    for n, _, size, phase in rows:
        assert found[f"measure.v_a_{n}"] == pytest.approx(float(size), abs=2e-5)
        if 0 < int(n) < 6:
            assert np.degrees(found[f"measure.v_a_phase{n}"]) == pytest.approx(float(phase), abs=0.1)


def test_mistakes_of_four(tmp_path):
    circuit = "v1 in 0 sin(0 1 1k)\nr1 in 0 1k"
    with pytest.raises(netsim.InputError, match=r"'\.four' is written"):
        loaded(tmp_path, circuit, ".tran 1u 1m\n.four v")
    assert any("there is no .tran" in note.message for note in loaded(tmp_path, circuit, ".op\n.four 1k v(in)").network.notes)
    (samples,) = loaded(tmp_path, circuit, ".tran 1u 0.5m\n.four 1k v(in)").samples()
    assert "no whole period of 1000 Hz" in samples.broken[0].message


def test_a_measure_of_every_step(tmp_path):
    """A lag of 1 kOhm to 3 kOhm with 1 uF: one corner for each, and the other analyses of the deck see nothing of the measure."""
    circuit = ".param r=1k\nv1 in 0 dc 1 ac 1\nr1 in a {r}\nc1 a 0 1u"
    lines = ".ac dec 40 1 10k\n.noise v(a) v1 dec 5 1 10k\n.dc v1 0 1 0.5\n.meas ac f3 when vdb(a)=-3.010299957\n.meas dc m find v(a) at=0.25"
    for steps, names in ((".step param r list 1k 3k", ("r = 1000", "r = 3000")), (".temp 27 50", ("temper = 27", "temper = 50"))):
        ac, noise, dc = loaded(tmp_path, circuit, f"{lines}\n{steps}").samples()
        corner = [1 / (2 * np.pi * r * 1e-6) for r in ((1e3, 3e3) if "param" in steps else (1e3, 1e3))]
        assert {f.name: f.value for f in ac.figures} == pytest.approx(dict(zip([f"f3 at {n}" for n in names], corner)), rel=1e-5)
        assert {f.name: f.value for f in dc.figures} == pytest.approx({f"m at {n}": 0.25 for n in names})
        assert [s.name for s in noise.signals if "output" in s.name] == [f"output at {n}" for n in names] and noise.finished
