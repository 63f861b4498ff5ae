# ruff: noqa: E501  (a circuit per line reads best)
"""Circuits of textbooks in both programs: every source, controlled source and device, starts and subcircuits. Needs ngspice."""

import re
import shutil
import subprocess

import numpy as np
import pytest

import netsim
import ngspice_runs
from netsim.formats.spice.numbers import value_of

pytestmark = pytest.mark.skipif(shutil.which("ngspice") is None, reason="ngspice is not installed")

CIRCUITS = {
    "sources": "v1 a 0 exp(0 4 1u 2u 10u 3u); v2 b 0 pwl(0 0 2u 3 5u -1 9u 2); v3 c 0 sffm(0 1 200k 5 20k); i1 0 d sin(1m 2m 100k 2u 50k); v4 e 0 pulse(-1 1 2u 1u 2u 3u 9u); "
        "i2 0 g pwl(0 0 5u 1m 10u 1m 11u 0); r1 a 0 1k; r2 b 0 1k; r3 c 0 1k; r4 d 0 1k; r5 e 0 1k; r7 g 0 1k; .tran 50n 20u; .save v(a) v(b) v(c) v(d) v(e) v(g)",
    "controlled sources": "v1 a 0 sin(0 1 1k); ra a 0 1k; e1 b 0 a 0 10; rb b 0 1k; g1 0 c a 0 2m; rc c 0 1k; vs x 0 sin(0 2 500); rs x 0 1k; f1 0 d vs 3; rd d 0 1k; h1 e 0 vs 500; re e 0 1k; "
        "e2 f 0 poly(2) a 0 c 0 0.1 1 2 0.5; rf f 0 1k; b1 g 0 v=v(a)*v(a)+sin(2*pi*500*time); rg g 0 1k; b2 0 h i=1m*tanh(3*v(a)); rh h 0 1k; .tran 10u 3m; .save v(b) v(c) v(d) v(e) v(f) v(g) v(h)",
    "coils with a start": "l1 a 0 1m ic=10m; c1 a 0 1u ic=2; r1 a 0 200; .tran 1u 1m uic; .save v(a) i(l1)",
    "transformer": "v1 a 0 sin(0 10 1k); rs a b 10; l1 b 0 10m; l2 c 0 40m; k12 l1 l2 0.98; rl c 0 100; .tran 5u 5m; .save v(c) i(v1)",
    "nodes held at the start": "v1 a 0 5; r1 a b 1k; c1 b 0 1u; r2 b c 1k; c2 c 0 1u; .ic v(b)=1 v(c)=2; .tran 20u 10m; .save v(b) v(c)",
    "emitter-coupled gate": "vee vee 0 -5.2; vin a 0 pulse(-1.7 -0.8 2n 1n 1n 8n 20n); vref r 0 -1.25; q1 c1 a e qn; q2 c2 r e qn; rc1 0 c1 220; rc2 0 c2 245; re e vee 780; q3 0 c1 o1 qn; q4 0 c2 o2 qn; "
        "ro1 o1 vee 2k; ro2 o2 vee 2k; .model qn npn(is=1e-16 bf=100 rb=50 rc=10 cje=0.4p cjc=0.3p tf=30p cjs=0.5p); .tran 0.02n 20n; .save v(o1) v(o2)",
    "depletion load and pass gate": "vdd vdd 0 5; vin a 0 pulse(0 5 10n 5n 5n 40n 100n); m1 b a 0 0 ne w=20u l=5u; m2 vdd b b 0 nd w=5u l=10u; m3 c vdd b 0 ne w=5u l=5u; cl c 0 50f; cb b 0 50f; "
        ".model ne nmos(vto=1 kp=30u gamma=0.4 phi=0.6 lambda=0.02 rd=20 rs=20 cgso=0.3n cgdo=0.3n tox=50n); .model nd nmos(vto=-3 kp=30u gamma=0.4 phi=0.6 lambda=0.02); .tran 0.2n 200n; .save v(b) v(c)",
    "field-effect amplifier": "vdd vdd 0 15; vin g 0 sin(0 0.1 10k); rd vdd d 2.2k; rs s 0 470; cs s 0 10u; j1 d g s jn; "
        ".model jn njf(vto=-2.5 beta=1.2m lambda=5m cgs=3p cgd=2p rd=10 rs=10 is=1e-14); .tran 1u 0.4m; .save v(d) v(s)",
    "push-pull stage without capacitance": "vp vp 0 10; vm vm 0 -10; vin in 0 sin(0 5 1k); q1 vp b1 o qn; q2 vm b2 o qp; d1 b1 in dd; d2 in b2 dd; r1 vp b1 1k; r2 b2 vm 1k; rl o 0 50; "
        ".model qn npn(is=1e-14 bf=100); .model qp pnp(is=1e-14 bf=80); .model dd d(is=1e-14); .tran 5u 2m; .save v(o) v(b1)",
    "warm zener clipper": "v1 a 0 sin(0 10 1k); r1 a b 1k; d1 b 0 dz; .model dz d(is=1e-14 bv=4.7 ibv=5m rs=5); .temp 60; .tran 2u 2m; .save v(b)",
}  # fmt: skip


@pytest.mark.parametrize("name", CIRCUITS)
def test_textbook_circuits_against_ngspice(name, tmp_path):
    cards = CIRCUITS[name].split("; ")
    step, uic, signals = value_of(cards[-2].split()[1]), " uic" if "uic" in cards[-2] else "", re.findall(r"[vi]\(\w+\)", cards[-1])
    path = tmp_path / "c.cir"
    path.write_text("\n".join(["a title", *cards, ".end", ""]))
    fine = [*cards[:-2], f"{' '.join(cards[-2].split()[:3])} 0 {step / 4}{uic}", ".options reltol=1e-5 abstol=1e-13 vntol=1e-8"]
    commands = f".control\nset wr_singlescale\nset numdgt=12\nrun\nwrdata out.txt {' '.join(signals)}\n.endc\n.end\n"
    (tmp_path / "n.cir").write_text("\n".join(["a title", *fine, commands]))
    subprocess.run(["ngspice", "-b", "n.cir"], cwd=tmp_path, capture_output=True, check=False)
    data = np.loadtxt(tmp_path / "out.txt")
    (samples,) = netsim.load(path).samples({"sample": step / 5})
    found = np.column_stack([np.interp(data[:, 0], samples.time, column) for column in samples.values.T])
    wrong = np.sqrt(np.mean((found - data[:, 1:]) ** 2, axis=0)) / np.ptp(data[:, 1:], axis=0)
    assert np.all(wrong < 3e-3), dict(zip(signals, wrong))


def test_windings_without_leakage(tmp_path):
    """Couplings of exactly 1: the limit of ngspice's couplings towards 1, and the ratio of turns to rounding."""
    circuit = "v1 s 0 sin(0 10 1k)\nr1 s a 1\nl1 a 0 1m\nl2 b 0 4m\nl3 c 0 9m\nk1 l1 l2 1\nk2 l1 l3 1\nk3 l2 l3 1\nr2 b 0 100\nr3 c 0 50"
    found = ngspice_runs.loaded(tmp_path, circuit, ".tran 10u 3m\n.save v(a) v(b) v(c)").run()
    assert np.abs(found["c.v"].values - 3 * found["a.v"].values).max() < 1e-9
    near = circuit.replace("l2 1", "l2 0.999999").replace("l3 1", "l3 0.999999")
    theirs = ngspice_runs.ngspice(tmp_path, near, "option reltol=1e-6\ntran 1u 3m 0 1u", "v(a) v(b) v(c)")
    for k, name in enumerate(("a.v", "b.v", "c.v"), 1):
        wanted = np.interp(found["time"].values, theirs[:, 0], theirs[:, k])
        assert np.abs(found[name].values - wanted).max() < 3e-4 * np.ptp(wanted), name
