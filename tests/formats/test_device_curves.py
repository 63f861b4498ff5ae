"""Currents of every device and level of SPICE beside ngspice's, over regions and temperatures, in one operating point for each
temperature: every bias has a copy of the device with sources of its own."""

import itertools
import re
import shutil
import subprocess

import numpy as np
import pytest

import netsim

MOS = "vto=0.7 kp=110u gamma=0.45 phi=0.65 lambda=0.04 tox=20n"
SHORT = "vto=0.8 gamma=0.6 phi=0.72 nsub=2e16 tox=25n uo=550 xj=0.3u ld=0.1u"
PARKER = "level=2 beta=12m vto=-1.4 q=2.2 p=2.6 xi=0.3 mxi=0.1 z=0.6 lambda=0.02 vst=60m mvst=0.15 lfgam=0.04 lfg1=5m lfg2=3m delta=0.2 vbi=0.8"
MODELS = {
    "diode": ("d", "is=1e-14 n=1.1 rs=2 bv=6 ibv=1m"),
    "diode knees": ("d", "is=1e-14 n=1.1 rs=0.5 ikf=10m isr=1e-10 nr=2 bv=8 tcv=1m trs1=1m"),
    "diode sidewall": ("d", "is=1e-14 rs=1 jsw=1e-9 ns=1.3 ikf=5m"),
    "npn": ("npn", "is=1e-16 bf=120 vaf=80 ikf=20m ise=1e-14 ne=1.6 br=3 var=20 isc=1e-13 rb=50 rc=5 re=1 xtb=1.5"),
    "pnp": ("pnp", "is=2e-16 bf=60 vaf=50 ikf=10m br=2 rb=20 rc=3"),
    "njf": ("njf", "vto=-2 beta=1m lambda=0.02 rd=10 rs=10 is=1e-14"),
    "pjf": ("pjf", "vto=-2 beta=1m lambda=0.02"),
    "njf tail": ("njf", "vto=-2 beta=1m lambda=0.02 b=0.6 pb=0.8 tcv=-1m bex=-1.2 eg=1.2"),
    "pjf tail": ("pjf", "vto=-1.5 beta=1m b=1.3 vtotc=-2.5m betatce=-0.5 xti=3 rs=10"),
    "njf 2": ("njf", "level=2 is=1e-14"),
    "njf 2 full": ("njf", f"{PARKER} rd=3 rs=2 is=1e-13 n=1.2 ibd=1u vbd=0.7"),
    "njf 2 rates": ("njf", f"{PARKER} hfgam=0.1 hfg1=0.02 hfg2=0.01 hfeta=0.05 hfe1=0.01 hfe2=0.02 taug=1u taud=1m"),
    "njf 2 exponents": ("njf", "level=2 beta=1m vto=-2 q=1.7 p=1.2 xi=2 z=2 vst=0.2"),
    "pjf 2": ("pjf", f"{PARKER} rd=3 rs=2"),
    "nmf": ("nmf", "vto=-1.3 beta=2m alpha=2 b=0.3 lambda=0.05 rd=5 rs=5"),
    "nmos 1": ("nmos", f"level=1 {MOS} rd=5 rs=5"),
    "pmos 1": ("pmos", "level=1 vto=-0.7 kp=40u gamma=0.5 phi=0.65 lambda=0.05 tox=20n"),
    "nmos 2": ("nmos", f"level=2 {SHORT}"),
    "nmos 2 field": ("nmos", f"level=2 {SHORT} ucrit=1e5 uexp=0.15 delta=0.5 lambda=0.02"),
    "nmos 2 states": ("nmos", f"level=2 {SHORT} nfs=3e11"),
    "nmos 2 velocity": ("nmos", f"level=2 {SHORT} vmax=5e4 neff=3"),
    "nmos 3": ("nmos", f"level=3 {SHORT} theta=0.06 eta=0.4 kappa=0.5 delta=0.3"),
    "nmos 3 velocity": ("nmos", f"level=3 {SHORT} theta=0.06 eta=0.4 kappa=0.5 vmax=1.2e5"),
    "nmos 3 states": ("nmos", f"level=3 {SHORT} theta=0.06 nfs=2e11 vmax=1e5"),
    "pmos 3": ("pmos", "level=3 vto=-0.8 gamma=0.6 phi=0.72 nsub=2e16 tox=25n uo=200 xj=0.3u ld=0.1u theta=0.06 eta=0.4 vmax=1e5"),
    "nmos 6": ("nmos", "level=6 vto=0.7 kv=0.9 nv=0.6 kc=60u nc=1.4 gamma=0.4 phi=0.65 lambda0=0.03 lambda1=0.005 sigma=0.02"),
    "vdmos": ("vdmos", "vto=3 kp=2 lambda=0.01 theta=0.05 ksubthres=0.12 mtriode=0.8 rd=0.05 rs=0.02 rg=3 rb=0.05 is=1e-11 n=1.1"),
    "p vdmos": ("vdmos", "pchan vto=-3 kp=2 lambda=0.01 rd=0.05 rs=0.02 rb=0.05 is=1e-11 tcvth=0.1m mu=-1.2"),
}  # fmt: skip
FORWARD = (-0.3, 0.0, 0.05, 0.4, 0.9, 2.0, 5.0)
PLACES = {
    "d": [(v,) for v in (-5.0, -3.0, -1.0, -0.1, 0.0, 0.2, 0.4, 0.55, 0.65, 0.75, 0.9, 1.2)],
    "q": [*itertools.product((-0.5, 0.05, 0.2, 1.0, 5.0), (0.3, 0.55, 0.65, 0.75, 0.85))],
    "j": [*itertools.product(FORWARD, (-3.0, -1.7, -1.0, 0.0, 0.3)), (-2.0, -3.0), (-2.0, -2.5), (-3.0, -4.0), (-5.0, -5.0)],
    "m": list(itertools.product(FORWARD, (-0.5, 0.4, 0.75, 0.9, 1.3, 2.5, 5.0), (0.0, -1.5, 0.2))),
    "vdmos": list(itertools.product((-0.9, *FORWARD[1:]), (0.0, 2.5, 3.2, 4.0, 8.0))),
}
NODES = {"d": "p", "q": "c b", "j": "d g", "m": "d g b"}
TEMPERATURES = (27.0, -40.0, 125.0)
SAME = (1.380649e-23 / 1.602176634e-19) / (1.38064852e-23 / 1.6021766208e-19)
"""k/q of the SI of 2019 over that of ngspice 39: it runs at temperatures of the same thermal voltage."""


def circuit(name):
    """The deck, and the sources whose currents are compared."""
    kind, parameters = MODELS[name]
    letter = {"d": "d", "npn": "q", "pnp": "q", "njf": "j", "pjf": "j", "nmf": "z", "nmos": "m", "pmos": "m", "vdmos": "m"}[kind]
    family = "vdmos" if kind == "vdmos" else "j" if letter == "z" else letter
    places = PLACES[family]
    if name == "nmf":  # its gate conducts at 300.15 K whatever the temperature, with ngspice's k/q
        places = [bias for bias in places if max(bias[1], bias[1] - bias[0]) <= 0.3]
    if "velocity" in name and "2" in name:  # below the threshold ngspice takes a wrong root of Baum's equation: currents flow backwards
        places = [bias for bias in places if bias[1] - min(bias[0], 0.0) >= 1.3]
    sign = -1.0 if kind[0] == "p" or "pchan" in parameters else 1.0
    names = "d g" if kind == "vdmos" else NODES["j" if letter == "z" else letter]
    lines, sources = ["curves", f".model x {kind}({parameters})", ".options gmin=1e-12"], []
    for k, bias in enumerate(places):
        nodes = [f"{name}{k}" for name in names.split()]
        for node, volts in zip(nodes, bias):
            lines.append(f"v{node} {node} 0 {sign * volts!r}")
            sources.append(f"v{node}")
        ends = [*nodes, "0"]
        if letter == "m" and kind != "vdmos":
            ends = [*nodes[:2], "0", nodes[2]]
        sizes = " w=12u l=1.5u" if letter == "m" and "level" in parameters else " pj=40u" if "jsw" in parameters else ""
        lines.append(f"{letter}{k} {' '.join(ends)} x{sizes}")
    return lines, sources


def of_ngspice(folder, lines, sources, celsius):
    file = folder / "n.cir"
    tight = f".options reltol=1e-9 abstol=1e-16 vntol=1e-12 itl1=500 temp={(celsius + 273.15) * SAME - 273.15!r} tnom={300.15 * SAME - 273.15!r}"
    file.write_text("\n".join([*lines, tight, ".control", "set numdgt=14", "op", *(f"print i({s})" for s in sources), ".endc", ".end", ""]))
    said = subprocess.run(["ngspice", "-b", "n.cir"], cwd=folder, capture_output=True, text=True, check=False).stdout
    found = dict(re.findall(r"^i\((\w+)\) = (\S+)", said, re.MULTILINE))
    return np.array([float(found[s]) for s in sources])


def of_netsim(folder, lines, sources, celsius):
    file = folder / "c.cir"
    file.write_text("\n".join([*lines, f".options temp={celsius}", ".op", f".save {' '.join(f'i({s})' for s in sources)}", ".end", ""]))
    (found,) = netsim.load(file).samples()
    return np.asarray(found.values[0])


@pytest.mark.skipif(shutil.which("ngspice") is None, reason="ngspice is not installed")
@pytest.mark.parametrize("name", MODELS)
def test_currents_are_those_of_ngspice(name, tmp_path):
    """To 1e-6, or 5e-12 A (gmin at 5 V): ngspice continues reverse currents by a power instead of the exponential, within the saturation current."""
    lines, sources = circuit(name)
    for celsius in TEMPERATURES:
        theirs, mine = (run(tmp_path, lines, sources, celsius) for run in (of_ngspice, of_netsim))
        floor = 5e-12 if celsius < 100 else 3e-9
        assert len(sources) > 10
        assert mine == pytest.approx(theirs, rel=1e-6, abs=floor), f"{celsius}"
