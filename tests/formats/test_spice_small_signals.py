"""`.ac`, `.noise` and `.pz` of SPICE circuits against ngspice, and what the lines become.

Devices agree to some 5e-7 only: ngspice 39 has the constants k and q of 2014, netsim those of 2019.
"""

import numpy as np
import pytest

import netsim
from ngspice_runs import NGSPICE, loaded, ngspice

NPN = ".model qm npn(is=1e-15 bf=150 vaf=80 rb=50 rc=2 re=0.5 cje=10p cjc=4p tf=0.4n tr=10n kf=1e-15 af=1)"

LINEAR = {
    "ladder": "v1 in 0 dc 0 ac 1\nr1 in a 50\nl1 a b 1u\nc1 b 0 1n\nk1 l1 l2 0.6\nl2 c 0 2u\nr3 c out 10\nc2 out 0 3n\nr2 b out 75",
    "controlled": "v1 in 0 ac 2 30\nr1 in a 1k\nc1 a 0 1n\ne1 b 0 a 0 5\nr2 b c 1k\ng1 0 c a b 1m\nr4 c 0 3k\nf1 0 d v1 3\nr5 d 0 1k\n"
    "h1 e 0 v1 50\nr6 e out 1k\nr7 d out 1k\nr8 c out 1k\nc3 out 0 10p",
    "line": "v1 in 0 ac 1\nr1 in a 25\nt1 a 0 out 0 z0=50 td=3n\nr2 out 0 150\nc1 out 0 2p",
    "two sources": "v1 in 0 ac 1\ni1 0 b ac 1m 90\nr1 in b 1k\nr2 b out 2k\nc1 out 0 1n\nr3 out 0 5k",
}
DEVICES = {
    "emitter stage": "v1 in 0 dc 0 ac 1\nvcc vcc 0 12\nrb1 vcc b 47k\nrb2 b 0 10k\ncin in b 1u\nrc vcc c 2.2k\nre e 0 470\nce e 0 47u\n"
    f"q1 c b e qm\n{NPN}\ncl c out 100n\nrl out 0 10k",
    "diode": "v1 in 0 dc 2 ac 1\nr1 in out 1k\nd1 out 0 dm\nc1 out 0 1n\n.model dm d(is=1e-14 rs=5 cjo=5p n=1.1 tt=4n kf=1e-16)",
    "jfet": "v1 in 0 dc 0 ac 1\nvdd dd 0 15\nrg in g 100k\nj1 out g s jm\nrd dd out 3k\nrs s 0 800\ncs s 0 10u\n"
    ".model jm njf(vto=-3 beta=1m lambda=0.01 rd=10 rs=10 cgs=4p cgd=2p kf=1e-17)",
    "mosfet": "v1 in 0 dc 2 ac 1\nvdd dd 0 10\nrg in g 1k\nm1 out g 0 0 mm w=50u l=5u\nrd dd out 20k\ncl out 0 1p\n"
    ".model mm nmos(vto=1 kp=50u gamma=0.5 lambda=0.02 tox=50n cgso=0.2n cgdo=0.2n kf=1e-26)",
}


@NGSPICE
@pytest.mark.parametrize("name", [*LINEAR, *DEVICES])
def test_ac(name, tmp_path):
    """Complex response at `out`: linear circuits to 1e-9, devices to what the constants leave."""
    circuit = {**LINEAR, **DEVICES}[name]
    found = loaded(tmp_path, circuit, ".ac dec 4 100 1g\n.save v(out)").run()
    theirs = ngspice(tmp_path, circuit, "ac dec 4 100 1g", "v(out)")
    y = theirs[:, 1] + 1j * theirs[:, 2]
    (ours,) = (found[v].values[: len(y)] for v in found.data_vars)
    assert np.abs(ours - y).max() < (1e-9 if name in LINEAR else 3e-6) * np.abs(y).max()
    assert np.abs(ours / y - 1).max() < (1e-8 if name in LINEAR else 3e-6)


@NGSPICE
@pytest.mark.parametrize("name", [*DEVICES, "two sources"])
def test_noise(name, tmp_path):
    """Root densities at the output and at the input, with flicker noise, to 1e-4 as a matter of models (3e-6 in fact)."""
    circuit = {**LINEAR, **DEVICES}[name]
    found = loaded(tmp_path, circuit, ".noise v(out) v1 dec 4 10 100meg").run()
    theirs = ngspice(tmp_path, circuit, "noise v(out) v1 dec 4 10 100meg\nsetplot noise1", "onoise_spectrum inoise_spectrum")
    for column, ours in ((1, "output"), (2, "input")):
        assert np.abs(found[ours].values[: len(theirs)] / theirs[:, column] - 1).max() < 3e-6


def test_poles_and_zeros(tmp_path):
    """A series RLC with the output over R and C: the zero -1/(R C); and a note where no source feeds the input."""
    circuit = "v1 1 0 0\nl1 1 2 2m\nr1 2 3 10\nc1 3 0 3u"
    found = loaded(tmp_path, circuit, ".pz 1 0 2 0 vol pz\n.save v(1)").run()
    s = found["real"].values + 1j * found["imaginary"].values
    exact = np.roots([2e-3 * 3e-6, 10 * 3e-6, 1])
    assert s[0] == pytest.approx(exact[exact.imag > 0][0], rel=1e-10)
    assert s[1] == pytest.approx(-1 / (10 * 3e-6), rel=1e-10) and found["zero"].values.tolist() == [0, 1]
    model = loaded(tmp_path, circuit, ".pz 2 0 3 0 cur pz\n.op")
    assert any("no source feeds" in note.message for note in model.network.notes)


def test_printed_responses_are_plotted(tmp_path):
    model = loaded(tmp_path, LINEAR["two sources"], ".ac lin 3 1k 3k\n.print ac vdb(out) vp(out) vm(in,out)")
    assert [plot.signals[0].function for plot in model.network.plots] == ["db", "phase", "gain"]
    assert model.plot() is not None


def test_mistakes(tmp_path):
    for lines, words in ((".ac dec 10 1", r"\.ac dec 10 1 1meg"), (".noise out v1 dec 1 1 2", "is written")):
        with pytest.raises(netsim.InputError, match=words):
            loaded(tmp_path, LINEAR["line"], lines)
    model = loaded(tmp_path, "v1 1 0 1\nr1 1 0 1", ".ac dec 10 1 10")
    assert any("no source has an ac value" in note.message for note in model.network.notes)


@NGSPICE
def test_sources_in_subcircuits_drive_responses(tmp_path):
    """`ac` of a source inside a subcircuit, and `ac=1`."""
    circuit = ".subckt drive o\nv1 i 0 dc 0 ac 2\nr1 i o 1k\n.ends\nxd a drive\nv2 b 0 ac=1\nr2 a b 1k\nc1 a 0 1n"
    found = loaded(tmp_path, circuit, ".ac dec 5 1k 1meg\n.save v(a)").run()
    theirs = ngspice(tmp_path, circuit, "ac dec 5 1k 1meg", "v(a)")
    ours = found["a.v"].values
    assert np.abs(ours - (theirs[:, 1] + 1j * theirs[:, 2])).max() < 1e-9 and abs(ours[0]) == pytest.approx(1.5, rel=1e-3)


def test_a_size_of_a_source_in_a_subcircuit_is_a_number(tmp_path):
    """An expression of the subcircuit's parameters means nothing outside of it."""
    circuit = ".subckt drive o k=2\nv1 o 0 dc 0 ac {k}\n.ends\nxd a drive\nr2 a 0 1k"
    with pytest.raises(netsim.InputError, match="the ac value of 'v1' is no number"):
        loaded(tmp_path, circuit, ".ac dec 5 1k 1meg")
