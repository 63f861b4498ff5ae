"""Charges of SPICE's devices are functions of their voltages: round a closed loop of all terminal voltages every terminal gets back what it gave.

Currents that conduct are made negligible by their parameters; what is left is the accuracy of the integral of a current over its steps.
Three models conserve less, in ngspice as here: Statz's MESFET and the JFET of level 2 the charge of their gate alone, Meyer's capacitances
(MOSFETs of levels 1, 2, 3 and 6, MESFETs of levels 2 to 4) the sum of all terminals alone (docs/decisions/0185).
"""

import pytest

from ngspice_runs import loaded

MOS = "vto=0.7 kp=1e-22 gamma=0.5 phi=0.6 tox=40n cgso=0.3n cgdo=0.2n cgbo=0.1n cj=1e-4 cjsw=1e-10 is=1e-40"
DEVICES = {
    "diode": ("d1 a b dm", "d(is=1e-40 cjo=2p vj=0.6 m=0.4 tt=0)"),
    "detailed diode": ("d1 a b dm area=2 pj=1u", "d(is=1e-40 cjo=2p vj=0.6 m=0.4 jsw=1e-40 cjsw=1n ikf=1)"),
    "bipolar": ("q1 a b c d dm", "npn(is=1e-40 cje=2p cjc=1p cjs=3p xcjc=0.6 mje=0.3 mjc=0.4 mjs=0.5 tf=0 tr=0)"),
    "jfet": ("j1 a b c dm", "njf(beta=1e-30 cgs=3p cgd=1p pb=0.8 is=1e-40)"),
    "mesfet": ("z1 a b c dm", "nmf(vto=-1.3 beta=1e-30 alpha=2 cgs=3p cgd=1p pb=0.8 is=1e-40)"),
    "jfet2": ("j1 a b c dm", "njf(level=2 vto=-1.3 beta=1e-30 xi=0.5 cgs=3p cgd=1p cds=2p xc=0.2 acgam=0.05 pb=0.8 is=1e-40)"),
    "mes2": ("z1 a b c dm", "nmf(level=2 vto=-1.3 mu=1e-30 astar=0 ggr=0)"),
    "mes4": ("z1 a b c dm w=200u", "nmf(level=4 vto=-1.3 mu=1e-30 astar=0 ggr=0)"),
    "mos1": ("m1 a b c d dm w=20u l=2u ad=50p as=50p pd=30u ps=30u", f"nmos({MOS})"),
    "mos2": ("m1 a b c d dm w=20u l=2u ad=50p as=50p", f"nmos(level=2 {MOS})"),
    "mos3": ("m1 a b c d dm w=20u l=2u ad=50p as=50p", f"nmos(level=3 {MOS})"),
    "mos6": ("m1 a b c d dm w=20u l=2u ad=50p as=50p", "nmos(level=6 vto=0.7 kc=1e-22 tox=40n cgso=0.3n cgdo=0.2n cj=1e-4 is=1e-40)"),
    "vdmos": ("m1 a b c dm", "vdmos(vto=1 kp=1e-22 cgs=3p cgdmin=1p cgdmax=4p a=1 cjo=2p is=1e-40 rds=1e30)"),
}  # fmt: skip
LOOP = "va a 0 sin(-0.6 0.6 1meg 0 0 0)\nvb b 0 sin(-0.1 0.8 1meg 0 0 110)\nvc c 0 sin(-0.5 0.4 2meg 0 0 60)\nvd d 0 dc -1.5"
"""A closed curve in the space of the voltages, run through twice in 2 us: the measures look at the second turn."""


@pytest.mark.parametrize("name", DEVICES)
def test_a_closed_loop_returns_every_charge(name, tmp_path):
    """The integral of each terminal's current over a turn beside that of its size."""
    line, model = DEVICES[name]
    measures = "\n".join(f".meas tran back{t} integ i(v{t}) from=1u to=2u\n.meas tran swing{t} integ {{abs(i(v{t}))}} from=1u to=2u" for t in "abcd")
    options = ".options reltol=1e-9 gmin=1e-30"
    found = loaded(tmp_path, f"{LOOP}\n{line}\n.model dm {model}", f"{options}\n.tran 10n 2u\n{measures}").run().attrs
    swings = [found[f"measure.swing{t}"] for t in "abcd"]
    assert max(swings) > 1e-13
    back = {t: found[f"measure.back{t}"] for t in "abcd"}
    if name.startswith(("mos", "mes2", "mes4")):
        assert max(map(abs, back.values())) > 1e-3 * max(swings)
        back = {"all": sum(back.values())}
    elif name in ("mesfet", "jfet2"):
        assert abs(back["a"]) > 1e-3 * max(swings)
        back = {"gate": back["b"], "others": back["a"] + back["c"]}
    for t, charge in back.items():
        assert abs(charge) < (2e-7 if name == "mesfet" else 1e-8) * max(swings), t  # its gate conducts a little
