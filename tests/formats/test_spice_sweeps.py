"""`.dc`, `.step` and temperatures of SPICE circuits against ngspice, with every type of device, and what the lines become."""

import re

import numpy as np
import pytest

import netsim
from ngspice_runs import EQUAL, NGSPICE, loaded, ngspice

CIRCUITS = {
    "bridge": (
        "v1 in 0 5\nr1 in a 1k\nr2 in b 2k\nr3 a 0 3k\nr4 b 0 1k tc1=1m tc2=1u\nr5 a b 500",
        "v1 0 10 0.5", "v(a,b) i(v1)",
    ),
    "resistor": (
        "v1 in 0 5\nr1 in a 1k\nr2 a 0 2k tc1=2m\n.options temp=50",
        "r2 1k 3k 100", "v(a)",
    ),
    "controlled": (
        "v1 in 0 1\ni1 0 a 1m\nr1 in a 1k\ne1 b 0 a 0 3\nr2 b c 1k\ng1 c 0 a 0 1m\nr3 c 0 1k\nf1 0 d v1 2\nr4 d 0 1k\n"
        "h1 e 0 v1 100\nr5 e 0 1k",
        "i1 -2m 2m 0.25m", "v(a) v(b) v(c) v(d) v(e)",
    ),
    "behavioural": (
        "v1 in 0 1\nr1 in a 1k\nb1 a 0 i=1m*v(a)*v(a)*v(a)+1u*temper\nb2 c 0 v=sin(v(in))+tanh(v(a))\nr2 c 0 1k",
        "v1 -2 2 0.25", "v(a) v(c)",
    ),
    "diode": (
        "v1 in 0 1\nr1 in a 100\nd1 a 0 dm\n.model dm d(is=1e-14 n=1.1 rs=2 bv=5 ibv=1m)",
        "v1 -7 3 0.25", "v(a) i(v1)",
    ),
    "breakdown of a small current": (
        "v1 in 0 1\nr1 in a 1k\nd1 a 0 dm\n.model dm d(is=0.974p n=1.986 bv=7.1 ibv=0.1n rs=0.1)",
        "v1 -10 1 0.5", "v(a) i(v1)",
    ),
    "detailed diode": (
        "v1 in 0 1\nd1 in 0 dm area=2\n.model dm d(is=1e-14 n=1.1 rs=2 ikf=10m isr=1n nr=2)",
        "v1 -3 1 0.1", "i(v1)",
    ),
    "bipolar": (
        "vc c 0 5\nib 0 b 10u\nq1 c b 0 qm\n"
        ".model qm npn(is=1e-16 bf=100 vaf=50 ikf=20m ise=1e-14 ne=1.8 rb=50 rc=3 re=0.5)",
        "vc 0 5 0.25 ib 10u 50u 10u", "i(vc) v(b)",
    ),
    "pnp": (
        "vc c 0 -5\nib b 0 10u\nq1 c b 0 qm\n.model qm pnp(is=1e-16 bf=80 vaf=30 var=10 br=4 nc=1.5 isc=1e-14)",
        "vc 0 -5 -0.25 ib 10u 30u 10u", "i(vc) v(b)",
    ),
    "jfet": (
        "vd d 0 10\nvg g 0 0\nj1 d g 0 jm\n.model jm njf(vto=-3 beta=1m lambda=0.02 rd=10 rs=5 is=1e-14)",
        "vd 0 10 0.5 vg -3 0 1", "i(vd) i(vg)",
    ),
    "mesfet": (
        "vd d 0 3\nvg g 0 0\nz1 d g 0 zm\n.model zm nmf(vto=-1.3 alpha=2.5 beta=3m lambda=0.03 b=0.3 rd=5 rs=5)",
        "vd 0 3 0.25 vg -1 0 0.5", "i(vd)",
    ),
    "jfet2": (
        "vd d 0 3\nvg g 0 0\nj1 d g 0 jm\n.model jm njf(level=2 vto=-1.4 beta=12m q=2.2 p=2.6 xi=0.3 mxi=0.1 z=0.6 "
        "lambda=0.02 vst=60m mvst=0.15 lfgam=0.04 delta=0.3 rd=5 rs=5)",
        "vd 0 3 0.25 vg -1.5 0 0.5", "i(vd)",
    ),
    "mos1": (
        "vd d 0 5\nvg g 0 3\nm1 d g 0 b mm w=20u l=2u\nvb b 0 -1\n"
        ".model mm nmos(vto=0.7 kp=50u gamma=0.4 phi=0.65 lambda=0.03 rd=20 rs=20)",
        "vd 0 5 0.25 vg 1 5 1", "i(vd)",
    ),
    "mos2": (
        "vd d 0 5\nvg g 0 3\nm1 d g 0 0 mm w=20u l=2u\n"
        ".model mm nmos(level=2 vto=0.7 tox=50n nsub=1e16 uo=600 vmax=5e4 xj=0.5u)",
        "vd 0 5 0.5 vg 1 5 2", "i(vd)",
    ),
    "mos3": (
        "vd d 0 5\nvg g 0 3\nm1 d g 0 0 mm w=20u l=2u\n"
        ".model mm nmos(level=3 vto=0.7 tox=50n nsub=1e16 uo=600 vmax=1e5 theta=0.05 eta=0.02 kappa=0.5)",
        "vd 0 5 0.5 vg 1 5 2", "i(vd)",
    ),
    "mos6": (
        "vd d 0 5\nvg g 0 3\nm1 d g 0 0 mm w=20u l=2u\n"
        ".model mm nmos(level=6 vto=0.7 kv=1.5 nv=0.5 kc=5e-5 nc=1.1 lambda0=0.02)",
        "vd 0 5 0.5 vg 1 5 2", "i(vd)",
    ),
    "vdmos": (
        "vd d 0 5\nvg g 0 3\nm1 d g 0 mm\n.model mm vdmos(vto=2 kp=5 lambda=0.01 rd=0.05 rs=0.02 rg=2 mtriode=0.9)",
        "vd 0.5 5 0.5 vg 2.5 5 0.5", "i(vd)",
    ),
    "line": (
        "v1 in 0 1\nr1 in a 25\nt1 a 0 b 0 z0=50 td=1n\nr2 b 0 75\no1 b 0 c 0 om\nr3 c 0 50\n"
        ".model om ltra(r=2 l=250n c=100p len=1)",
        "v1 0 2 0.5", "v(b) v(c)",
    ),
    "winding": (
        "v1 in 0 1\nr1 in a 25\nl1 a 0 1m\nl2 b 0 1m\nk1 l1 l2 0.9\nr2 b 0 75\nc1 a 0 1u",
        "v1 0 2 0.5", "i(v1)",
    ),
    "switch": (
        "v1 in 0 1\nv2 u 0 0\nr1 in a 1k\ns1 a 0 u 0 sm\nw1 in b v2 wm\nr2 b 0 1k\nr3 u 0 1k\n"
        ".model sm sw(vt=1 vh=0.3 ron=10 roff=1e8)\n.model wm csw(it=-1m ih=0.2m ron=5 roff=1e7)",
        "v2 0 2 0.125", "v(a) v(b)",
    ),
    "temperature": (
        "v1 in 0 5\nr1 in a 10k tc1=1m\nd1 a 0 dm\nq1 in a e qm\nr2 e 0 1k\nb1 f 0 v=temper+1000*vt0\nr3 f 0 1k\n"
        ".param vt0=0\n.model dm d(is=1e-14)\n.model qm npn(is=1e-16 bf=100 xtb=1.5)",
        "temp -25 100 25", "v(a) v(e) v(f)",
    ),
}  # fmt: skip


def columns(found, vectors):
    """Our columns by ngspice's names: v(a) is a.v, v(a,b) is a.v - b.v, i(v1) is v1.i."""
    names = [re.sub(r"v\(([^,]*),(.*)\)", r"\1.v - \2.v", word) for word in vectors.lower().split()]
    return [np.asarray(found[re.sub(r"(\w)\((.*)\)", r"\2.\1", name)].values) for name in names]


@NGSPICE
@pytest.mark.parametrize("name", CIRCUITS)
def test_dc(name, tmp_path):
    """Every point of every curve, to 1e-6 of the largest value (over temperature to what the constants leave)."""
    circuit, sweep, vectors = CIRCUITS[name]
    equal = "" if name in ("resistor", "temperature") else EQUAL
    found = loaded(tmp_path, circuit, f"{equal}\n.dc {sweep}\n.save {vectors}").run()
    theirs = ngspice(tmp_path, circuit, f"dc {sweep}", vectors)
    ours = columns(found, vectors)
    assert len(found["point"]) == len(theirs)
    for j, series in enumerate(ours):
        assert np.abs(series - theirs[:, j + 1]).max() < (2e-6 if name == "temperature" else 1e-6) * np.abs(theirs[:, j + 1]).max(), vectors.split()[
            j
        ]


RC = "v1 in 0 dc 2 ac 1\nr1 in out {r}\nc1 out 0 1u\nr2 out 0 3k\n.param r=1k"


def test_steps_of_a_parameter(tmp_path):
    """`.step` with each analysis: V R2/(r + R2) at rest, the divider's corner over frequency, exp(-t/T) over time."""
    r = np.array([1e3, 2e3, 3e3])
    rest = 2 * 3e3 / (r + 3e3)
    steps = ".step param r 1k 3k 1k\n.save v(out)"
    found = loaded(tmp_path, RC, f".op\n{steps}").run()
    assert found["r"].values.tolist() == r.tolist() and np.abs(found["out.v"].values - rest).max() < 1e-12
    found = loaded(tmp_path, RC, f".dc v1 0 2 1\n{steps}").run()
    assert np.abs(found["out.v"].values.reshape(3, 3)[:, 2] - rest).max() < 1e-12
    found = loaded(tmp_path, RC, f".ac lin 2 100 1k\n{steps}").run()
    for value in r:
        y = found[f"out.v at r = {value:g}"].values
        s = 2j * np.pi * found["frequency"].values
        assert np.abs(y - 1 / (1 + value / 3e3 + s * value * 1e-6)).max() < 1e-12
    found = loaded(tmp_path, RC.replace("dc 2", "pulse(2 0 0 1n 1n 1 2)"), f".tran 1m 5m\n{steps}").run()
    rate = (1 / r + 1 / 3e3) / 1e-6
    t = found["time"].values
    assert np.abs(found["out.v"].transpose("r", "time").values - rest[:, None] * np.exp(-rate[:, None] * t)).max() < 1e-4


def test_steps_of_sources_resistors_and_temperatures(tmp_path):
    """A stepped source and resistor are parameters; lists, decades and octaves; nested; `.temp` with several values."""
    circuit = "v1 in 0 5\nr1 in out 1k tc1=1m\nr2 out 0 1k"
    found = loaded(tmp_path, circuit, ".op\n.step v1 list 1 2 10\n.step dec r2 100 10k 1\n.save v(out)").run()
    v, r = found["v1_value"].values, found["r2_value"].values
    assert v.tolist() == [1, 2, 10] * 3 and r.tolist() == [100] * 3 + [1000] * 3 + [10000] * 3
    assert np.abs(found["out.v"].values - v * r / (1e3 + r)).max() < 1e-12
    found = loaded(tmp_path, circuit, ".op\n.temp -23 27 77\n.save v(out)").run()
    assert np.abs(found["out.v"].values - 5 / (2 + 1e-3 * (found["temper"].values - 27))).max() < 1e-12
    found = loaded(tmp_path, "v1 in 0 5\nt1 in 0 a 0 z0=50 td=1n\nr1 a b 1k\nr2 b 0 1k", ".dc r1 1k 3k 1k r2 1k 2k 1k\n.save v(b)").run()
    r1, r2 = found["r1_value"].values, found["r2_value"].values
    assert len(r1) == 6 and np.abs(found["b.v"].values - 5 * r2 / (r1 + r2)).max() < 1e-12


def test_mistakes(tmp_path):
    circuit = "v1 in 0 sin(0 1 1k)\nr1 in 0 1k\n.model rm res"
    for lines, words in (
        (".dc v1 0 1", r"'\.dc' is written"),
        (".dc v1 0 1 1e-9", r"'\.dc' is written"),
        (".dc q1 0 1 0.1", "'q1' cannot be varied"),
        (".op\n.step v1 0 1 0.1", "cannot be stepped"),
        (".op\n.step param x 1 2 1", "'x' cannot be varied"),
        (".op\n.step dec param x 0 2 1", r"'\.step' is written"),
    ):
        with pytest.raises(netsim.InputError, match=words):
            loaded(tmp_path, circuit, lines)
    model = loaded(tmp_path, RC, ".sens v(out)\n.step param r 1k 2k 1k")
    assert any("is done once" in note.message for note in model.network.notes)


def test_curves_of_a_family_are_drawn(tmp_path):
    """A panel for each signal, a named curve for each value of the outer source."""
    circuit, sweep, vectors = CIRCUITS["bipolar"]
    model = loaded(tmp_path, circuit, f".dc {sweep}\n.save {vectors}")
    axes = model.plot().figure.axes
    assert [each.get_ylabel() for each in axes] == ["vc.i [mA]", "b.v [V]"]
    assert [text.get_text() for text in axes[0].get_legend().get_texts()] == [f"ib.I = {k} µA" for k in (10, 20, 30, 40, 50)]
    assert [len(line.get_xdata()) for line in axes[1].get_lines()] == [21] * 5
    assert axes[0].get_xlabel() == "vc.v [V]"
