"""Power MOSFETs and Zener diodes in PSpice's and LTspice's words: `rg` before the gate and `rds` from drain to source, which ngspice
ignores, beside resistors of their own; what is left out is told."""

import numpy as np
import pytest

import netsim
from ngspice_runs import EQUAL, NGSPICE, loaded, ngspice

IRF540 = (
    "NMOS(Level=3 Gamma=0 Delta=0 Eta=0 Theta=0 Kappa=.2 Vmax=0 Xj=0 Tox=100n Uo=600 Phi=.6 Rs=21.34m Kp=20.71u W=.94 L=2u Vto=3.136 "
    "Rd=22.52m {} Cbd=2.408n Pb=.8 Mj=.5 Fc=.5 Cgso=1.153n Cgdo=445.7p Is=2.859p {})"
)
STAGE = "vdd dd 0 20\nrl dd d 10\nvg in 0 dc 3.5 ac 1\nm1 d {} 0 0 x {}\n.model x " + IRF540
FREQUENCIES = ".ac dec 2 1k 100meg\n.save v(d)"


@NGSPICE
def test_rg_and_rds_are_resistors(tmp_path):
    """Response and curve beside the deck with resistors of its own, in netsim and in ngspice; two devices in parallel have half of each."""
    given = STAGE.format("in", "m=2", "Rds=444.4 Rg=5.557", "")
    own = STAGE.format("gate", "m=2", "", "") + "\nrgate in gate 2.7785\nrshunt d 0 222.2"
    mine, same = (loaded(tmp_path, each, FREQUENCIES).run()["d.v"].values for each in (given, own))
    assert np.abs(mine / same - 1).max() < 1e-9
    curve = loaded(tmp_path, given, f"{EQUAL}\n.dc vg 0 6 0.5\n.save v(d)").run()["d.v"].values
    theirs = ngspice(tmp_path, own, "dc vg 0 6 0.5", "v(d)")[:, 1]
    assert np.abs(curve - theirs).max() < 1e-6 * np.abs(theirs).max()


def test_what_is_left_out_is_told(tmp_path):
    model = loaded(tmp_path, STAGE.format("in", "", "Rds=444.4K Rg=5.557", "N=1 Tt=142n"), ".op")
    assert [note.message for note in model.network.notes] == ["'n', 'tt' of the model 'x' are ignored: the library's mosfet3 has no such effect"]


@pytest.mark.parametrize("level", [1, 2, 3, 6])
def test_every_level_has_them(level, tmp_path):
    text = "vd d 0 5\nvg g 0 0\nm1 d g 0 0 x\n.model x nmos(level={} vto=1 rds=1k rg={})"
    for rg in ("10", "{2*5}"):
        current = loaded(tmp_path, text.format(level, rg), ".op\n.save i(vd)").run()["vd.i"].values[0]
        assert current == pytest.approx(-5e-3, rel=1e-6)


def test_a_vdmos_with_the_bulk_at_its_source(tmp_path):
    """LTspice's symbol has four nodes; a bulk of its own is none of the device."""
    text = "vd d 0 5\nvg g 0 3\nm1 d g 0 {}x\n.model x vdmos(vto=1.6 kp=0.17 rs=1)"
    found = [loaded(tmp_path, text.format(bulk), ".op\n.save i(vd)").run()["vd.i"].values[0] for bulk in ("", "0 ")]
    assert found[0] == found[1] < -1e-3
    with pytest.raises(netsim.InputError, match="has 4 nodes"):
        loaded(tmp_path, text.format("b ") + "\nrb b 0 1", ".op")


def test_temperature_coefficients_of_a_breakdown(tmp_path):
    """At 77 degrees the voltage is BV (1 + tbv1 50 K + tbv2 (50 K)^2)."""
    text = "v1 a 0 -6\nr1 a b 10\nd1 b 0 x\n.model x d(is=1f isr=1n bv={} ibv=1m)"
    found = [
        loaded(tmp_path, text.format(bv), ".op\n.options temp=77\n.save i(v1)").run()["v1.i"].values[0]
        for bv in ("5 tbv1=1m tbv2=10u", repr(5 * (1 + 0.05 + 0.025)))
    ]
    assert found[0] == pytest.approx(found[1], rel=1e-9) and abs(found[0]) > 1e-2
