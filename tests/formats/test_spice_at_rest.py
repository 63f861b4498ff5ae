"""`.tf` and `.sens` of SPICE circuits against ngspice, and derivatives against operating points nearby.

ngspice 39 gives 1e20 as the output resistance of any current (it takes the larger of 1e-20 and a negative conductance), a division
by a current here; its sensitivities are differences with a share of 1e-6, and it crashes at transistors. The derivatives of its MOSFETs
of levels 2 and 3 are not those of its own currents: there a difference along its own curve is right.
"""

import re
import subprocess

import numpy as np
import pytest
from test_spice_sweeps import CIRCUITS

import netsim
from ngspice_runs import EQUAL, NGSPICE, OPTIONS, loaded, ngspice

STAGE = (
    "v1 in 0 0\nvcc vcc 0 12\nrb1 vcc b 47k\nrb2 b 0 10k\nib 0 b 1u\nrc vcc c 2.2k\nre e 0 470\nq1 c b e qm\nr1 in b 10k\n"
    ".model qm npn(is=1e-15 bf=150 vaf=80 rb=50 rc=2 re=0.5)"
)
TRANSFERS = {
    "stage": (STAGE, "v(c) v1"),
    "stage by a current": (STAGE, "v(c) ib"),
    "stage between nodes": (STAGE, "v(c,e) v1"),
    "stage, supply": (STAGE, "v(e) vcc"),
    "bridge": (CIRCUITS["bridge"][0], "v(a,b) v1"),
    "controlled": (CIRCUITS["controlled"][0], "v(c) i1"),
    "diode": ("v1 in 0 1\nr1 in a 100\nd1 a 0 dm\n.model dm d(is=1e-14 n=1.1 rs=2)", "v(a) v1"),
    "jfet": (CIRCUITS["jfet"][0].replace("vd d 0 10", "vd dd 0 10\nrd dd d 1k").replace("vg g 0 0", "vg g 0 -1"), "v(d) vg"),
    "mesfet": (CIRCUITS["mesfet"][0].replace("vd d 0 3", "vd dd 0 3\nrd dd d 100"), "v(d) vg"),
    "jfet2": (CIRCUITS["jfet2"][0].replace("vd d 0 3", "vd dd 0 3\nrd dd d 100").replace("vg g 0 0", "vg g 0 -0.4"), "v(d) vg"),
    **{
        name: (CIRCUITS[name][0].replace("vd d 0 5", "vd dd 0 5\nrd dd d 5k"), "v(d) vg")
        for name in ("mos1", "mos2", "mos3", "mos6")
    },
    "vdmos": (CIRCUITS["vdmos"][0].replace("vd d 0 5", "vd dd 0 5\nrd dd d 5"), "v(d) vg"),
    "line": (CIRCUITS["line"][0], "v(c) v1"),
    "switch": (CIRCUITS["switch"][0], "v(b) v1"),
}  # fmt: skip


def printed(folder, circuit, commands):
    """What ngspice prints: name -> value."""
    deck = folder / "deck.cir"
    deck.write_text(f"title\n{circuit}\n{OPTIONS}\n.control\nset numdgt=14\n{commands}\nprint all\n.endc\n.end\n")
    done = subprocess.run(["ngspice", "-b", str(deck)], capture_output=True, timeout=60, check=False, text=True)
    return {name: float(value) for name, value in re.findall(r"^(\S+) = (\S+)$", done.stdout, re.MULTILINE)}


@NGSPICE
@pytest.mark.parametrize("name", TRANSFERS)
def test_transfer(name, tmp_path):
    """Gain, input and output resistance to 1e-6, of levels 2 and 3 the gain of ngspice's own curve; open gates have no resistance."""
    circuit, asked = TRANSFERS[name]
    found = loaded(tmp_path, circuit, f"{EQUAL}\n.tf {asked}").run()
    if name in ("mos2", "mos3"):
        curve = ngspice(tmp_path, circuit, "dc vg 2.999 3.001 0.001", "v(d)")[:, 1]
        assert found["gain"].values[0] == pytest.approx((curve[2] - curve[0]) / 0.002, rel=5e-6)
        return
    theirs = printed(tmp_path, circuit, f"tf {asked}")
    assert found["gain"].values[0] == pytest.approx(theirs["transfer_function"], rel=1e-6)
    for ours, word in (("input_resistance", "input_impedance"), ("output_resistance", "output_impedance")):
        (value,) = (value for key, value in theirs.items() if word in key)
        if value < 1e11:
            assert found[ours].values[0] == pytest.approx(value, rel=1e-6)


def test_the_resistance_at_a_current(tmp_path):
    """Of the current of a source: what the network is for that source."""
    found = loaded(tmp_path, "v1 in 0 1\nr1 in a 1k\nr2 a 0 2k\nv2 a b 0\nr3 b 0 3k", ".tf i(v2) v1").run()
    assert found["output_resistance"].values[0] == pytest.approx(3e3 + 2e3 / 3, rel=1e-12)
    assert found["gain"].values[0] == pytest.approx(1.2e3 / 2.2e3 / 3e3, rel=1e-12)


@NGSPICE
@pytest.mark.parametrize("circuit, out", [
    (CIRCUITS["bridge"][0], "v(a,b)"),
    (CIRCUITS["controlled"][0], "v(c)"),
    ("v1 in 0 5\nr1 in c 1k\nd1 c 0 dm\n.model dm d(is=1e-14 n=1.2 rs=3)", "v(c)"),
    ("v1 in 0 1\ni1 0 a 1m\nr1 in a 1k\nr2 a 0 2k", "i(v1)"),
])  # fmt: skip
def test_sensitivities(circuit, out, tmp_path):
    """By sources, resistors and parameters of diodes, to what ngspice's differences leave."""
    found = loaded(tmp_path, circuit, f"{EQUAL}\n.sens {out}").run()
    theirs = printed(tmp_path, circuit, f"sens {out}")
    signal = next(iter(found.data_vars))
    names = {f"d({signal})/d({key}.{letter})": key for key in theirs for letter in ("R", "v", "I") if re.fullmatch(r"[rvi]\w*", key)}
    names |= {f"d({signal})/d(d1.device.{ours})": f"d1:{key}" for ours, key in (("Is", "is"), ("N", "n"))}
    compared = [name for name in names if name in found and names[name] in theirs]
    assert len(compared) >= 4
    for name in compared:
        assert found[name].values[0] == pytest.approx(theirs[names[name]], rel=3e-5, abs=1e-9 * abs(found[signal].values[0])), name


@pytest.mark.parametrize("name", ["stage", "jfet", "mesfet", "jfet2", "mos1", "mos2", "mos3", "mos6", "vdmos"])
def test_sensitivities_are_those_of_operating_points(name, tmp_path):
    """Every parameter of every device: a difference of operating points on either side says the same."""
    circuit, out = TRANSFERS[name][0], TRANSFERS[name][1].split()[0]
    model = loaded(tmp_path, circuit, f".sens {out}")
    found = model.run()
    signal = next(iter(found.data_vars))
    values = [float(text) for text in str(found.attrs["parameter_values"]).split(", ")]
    size = abs(found[signal].values[0])
    checked = 0
    for parameter, value in zip(str(found.attrs["parameters"]).split(", "), values):
        if value == 0.0 or parameter.endswith((".polarity", ".v", ".I")) or parameter not in model.parameters:
            continue
        step = 1e-4 * value
        try:
            ends = [model.with_overrides({parameter: value + s * step}).static([signal])[signal].values[0] for s in (1, -1)]
        except netsim.InputError:
            continue
        difference = (ends[0] - ends[1]) / (2 * step)
        assert found[f"d({signal})/d({parameter})"].values[0] == pytest.approx(difference, rel=1e-5, abs=2e-7 * size / abs(value)), parameter
        checked += 1
    assert checked >= 8


def test_what_is_wrong_or_left_out(tmp_path):
    for line, words in (
        (".tf v(c)", r"'\.tf' is written"),
        (".tf c v1", r"'\.tf' is written"),
        (".tf v(c) r1", "'r1' is no source"),
        (".sens c", r"'\.sens' is written"),
    ):
        with pytest.raises(netsim.InputError, match=words):
            loaded(tmp_path, STAGE, line)
    model = loaded(tmp_path, STAGE, ".sens v(c) ac dec 1 1 10\n.op")
    assert any("'.sens' is ignored: no source has an ac value" in note.message for note in model.network.notes)
    assert np.isfinite(model.run()["c.v"].values).all()


@NGSPICE
def test_sensitivities_over_frequency(tmp_path):
    """By every part of a resonant circuit whose source has a size and a phase: closed forms, and what ngspice's differences leave of
    those by L and C; its derivatives by resistors are 0 behind the first frequency."""
    circuit = "v1 in 0 dc 1 ac 2 30\nr1 in a 1k\nl1 a b 1m\nc1 b 0 1u\nr2 b 0 5k"
    found = loaded(tmp_path, circuit, ".sens v(b) ac dec 4 10 100k").run()
    s = 2j * np.pi * found["frequency"].values
    Y, Z = s * 1e-6 + 1 / 5e3, 1e3 + s * 1e-3
    H2 = 2 * np.exp(1j * np.pi / 6) / (1 + Y * Z) ** 2
    exact = {"r1.R": -H2 * Y, "l1.L": -H2 * Y * s, "c1.C": -H2 * Z * s, "r2.R": H2 * Z / 5e3**2}
    theirs = ngspice(tmp_path, circuit, "sens v(b) ac dec 4 10 100k", "l1 c1")
    for name, wanted in exact.items():
        assert np.abs(found[f"d(b.v)/d({name})"].values - wanted).max() < 1e-8 * np.abs(wanted).max(), name  # rounding over a step of 1e-4
    for k, name in enumerate(("l1.L", "c1.C")):
        their = theirs[:, 1 + 2 * k] + 1j * theirs[:, 2 + 2 * k]
        assert np.abs(exact[name] - their).max() < 1e-4 * np.abs(their).max(), name


def test_a_picture_of_sensitivities(tmp_path):
    """Bars of p/y dy/dp, the largest on top."""
    model = loaded(tmp_path, "v1 in 0 5\nr1 in c 1k\nr2 c 0 2k", ".sens v(c)")
    (axes,) = model.plot().figure.axes
    assert [text.get_text() for text in axes.get_yticklabels()][-1] == "v1.v"
    assert [bar.get_width() for bar in axes.patches] == pytest.approx([-1 / 3, 1 / 3, 1.0])
