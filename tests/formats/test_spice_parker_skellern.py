"""The JFET of level 2 (Parker and Skellern): its memory of gate voltages and of power beside an independent form of the law, its symmetry,
transients beside ngspice, and what a user is told.

Curves, small signals, noise and charges are compared with the other devices (test_device_curves.py, test_spice_beside_ngspice.py,
test_spice_charges.py).
"""

import subprocess
from math import copysign, exp, log1p, sqrt

import numpy as np
import pytest

import netsim
from ngspice_runs import EQUAL, NGSPICE, loaded

LAW = (
    "level=2 beta=12m vto=-1.4 q=2.2 p=2.6 xi=0.3 mxi=0.1 z=0.6 lambda=0.02 vst=60m mvst=0.15 lfgam=0.04 lfg1=5m lfg2=3m "
    "hfgam=0.1 hfg1=0.02 hfg2=0.01 hfeta=0.05 hfe1=0.01 hfe2=0.02 vbi=0.8"
)
MODEL = f"{LAW} taug=1u delta=0.3 taud=5u cgs=0.6p cgd=0.2p cds=0.1p acgam=0.03 xc=0.1 rd=3 rs=2"
PULSE = "vg g 0 pulse(-1 -0.2 1u 100n 100n 3u 8u)\nvdd dd 0 5\nrd dd d 150\nj1 d g 0 jm"
FAST = "vg gg 0 sin(-0.6 0.5 100meg)\nrg gg g 50\nvdd dd 0 5\nrd dd d 150\nj1 d g 0 jm"
CHARGED = "vg g 0 -0.5\nvdd dd 0 5\nrd dd d 150\ncl d 0 1n ic=2\nj1 d g 0 jm"


def drain_current(gs, gd, slow_s, slow_d):
    """The drain's current of LAW without heating, at 27 degrees, by the formulas of the paper."""
    near, far = max(gs, gd), min(gs, gd)
    a, b = (slow_s, slow_d) if gs > gd else (slow_d, slow_s)
    ds, wide = near - far, 0.8 + 1.4
    over = near + 1.4 - (0.04 - 5e-3 * a + 3e-3 * b) * b
    over += (0.05 - 0.01 * b + 0.02 * a) * (a - near) + (0.1 - 0.02 * a + 0.01 * b) * (b - far)
    soft = 60e-3 * (1 + 0.15 * ds)
    vgt = soft * log1p(exp(over / soft))
    vdp = ds * 2.6 / 2.2 * (vgt / wide) ** (2.6 - 2.2)
    vsat = vgt / (1 + vgt / (0.1 * vgt + 0.3 * wide))
    za, zb = sqrt(1.6) / 2 * vdp, 0.6 * vsat**2 / 4
    vdt = sqrt((za + vsat / 2) ** 2 + zb) - sqrt((za - vsat / 2) ** 2 + zb)
    return copysign(12e-3 * (1 + 0.02 * ds) * (vgt**2.2 - (vgt - vdt) ** 2.2), gs - gd)


def test_each_end_remembers_its_own_voltage(tmp_path):
    """Behind a step of the drain, also to the other sign, the threshold follows both gate voltages exponentially."""
    for low, high in ((2.0, 3.0), (2.0, -0.5), (-0.6, 1.5)):
        circuit = f"vg g 0 -0.3\nvd d 0 pulse({low} {high} 1u 1p 1p 9u 20u)\nj1 d g 0 jm\n.model jm njf({LAW} taug=1u)"
        (found,) = loaded(tmp_path, circuit, ".tran 50n 6u\n.save i(vd)").samples({"rtol": 1e-8})
        for t, i in zip(found.time, -found.series("vd.i")):
            left = exp(-(t - 1e-6) / 1e-6) if t > 1e-6 else 1.0
            v = high if t > 1.0001e-6 else low
            known = drain_current(-0.3, -0.3 - v, -0.3, -0.3 - v + left * (v - low))
            assert i == pytest.approx(known, rel=2e-6, abs=1e-11), (low, high, t)


def test_heating_follows_the_power(tmp_path):
    """I = I0/(1 + h), taud dh/dt = delta V I0 - h, behind a step of the gate."""
    circuit = f"vg g 0 pulse(-1 -0.2 1u 1p 1p 9u 20u)\nvd d 0 3\nj1 d g 0 jm area=2\n.model jm njf({LAW} delta=0.3 taud=2u)"
    (found,) = loaded(tmp_path, circuit, ".tran 50n 6u\n.save i(vd)").samples({"rtol": 1e-8})
    cold = [2 * drain_current(g, g - 3, g, g - 3) for g in (-1.0, -0.2)]
    heats = [0.3 / 2 * 3 * i for i in cold]
    for t, i in zip(found.time, -found.series("vd.i")):
        later = t > 1.0001e-6
        heat = heats[1] + (heats[0] - heats[1]) * exp(-(t - 1e-6) / 2e-6) if later else heats[0]
        assert i == pytest.approx(cold[int(later)] / (1 + heat), rel=2e-6), t


def test_both_ends_of_the_channel_are_alike(tmp_path):
    """A device with exchanged ends has the same small signals. ngspice's gds falls to a third of that at 1 MHz, and it exchanges the memories
    of both ends where the drain's voltage changes its sign."""
    found = []
    for ends in ("d g 0", "0 g d"):
        circuit = f"vg g 0 -0.3\nvd d 0 2.5 ac 1\nj1 {ends} jm\n.model jm njf({LAW} taug=1u delta=0.3 taud=1m cgs=0.6p cgd=0.2p xc=0.1)"
        found.append(loaded(tmp_path, circuit, ".ac dec 2 1 1g\n.save i(vd)").run()["vd.i"].values)
    assert np.abs(found[0] / found[1] - 1).max() < 1e-12


@NGSPICE
@pytest.mark.parametrize(
    ("circuit", "line", "most"), [(PULSE, "10n 8u 0 1n", 1e-4), (FAST, "0.1n 50n 0 20p", 3e-5), (CHARGED, "10n 4u 0 1n uic", 1e-4)]
)
def test_transients_are_those_of_ngspice(circuit, line, most, tmp_path):
    """Of the swing; ngspice's memories are of the first order in its steps."""
    deck, out = tmp_path / "theirs.cir", tmp_path / "out.txt"
    options = ".options reltol=1e-6 vntol=1e-9 abstol=1e-12 chgtol=1e-18"
    commands = f"set numdgt=12\nset wr_singlescale\ntran {line}\nwrdata {out} v(d)"
    deck.write_text(f"title\n{circuit}\n.model jm njf({MODEL})\n{options}\n.control\n{commands}\n.endc\n.end\n")
    subprocess.run(["ngspice", "-b", str(deck)], capture_output=True, timeout=100, check=False)
    theirs = np.loadtxt(out)
    step, stop, *_ = line.split()
    model = loaded(tmp_path, f"{circuit}\n.model jm njf({MODEL})", f"{EQUAL}\n.tran {step} {stop} {'uic' if 'uic' in line else ''}\n.save v(d)")
    for method in ("radau", "bdf", "trbdf2"):
        (found,) = model.samples({"method": method, "rtol": 1e-6})
        wave = np.interp(found.time, theirs[:, 0], theirs[:, 1])
        assert np.abs(found.series("d.v") - wave)[1:].max() < most * np.ptp(wave), method


@pytest.mark.parametrize("area", [1e-9, 1.0, 1e6])
def test_an_area_multiplies_currents(area, tmp_path):
    """Of nW and of MW: response and transient of an amplifier over the area are the same."""
    load = 150 / area
    circuit = f"vg g 0 dc -0.4 ac 1 sin(-0.4 0.3 10meg)\nvdd dd 0 5\nrl dd d {load!r}\nj1 d g 0 jm area={area!r}\n.model jm njf({MODEL})"
    (ac,) = loaded(tmp_path, circuit, f".options gmin={1e-12 * area!r}\n.ac dec 1 1 1g\n.save v(d)").samples()
    (run,) = loaded(tmp_path, circuit, f".options gmin={1e-12 * area!r}\n.tran 5n 200n\n.save v(d)").samples({"rtol": 1e-8})
    unit = circuit.replace(f"{load!r}", "150.0").replace(f"area={area!r}", "area=1")
    (plain,) = loaded(tmp_path, unit, ".ac dec 1 1 1g\n.save v(d)").samples()
    (wave,) = loaded(tmp_path, unit, ".tran 5n 200n\n.save v(d)").samples({"rtol": 1e-8})
    assert np.abs(ac.series("d.v") / plain.series("d.v") - 1).max() < 1e-9
    assert np.abs(run.series("d.v") - wave.series("d.v")).max() < 1e-5


@pytest.mark.parametrize("z, vst, xi", [(0.0, 0.0, 1000.0), (0.0, 0.05, 0.3), (1.0, 0.0, 1e-3)])
def test_sharp_laws_have_operating_points(z, vst, xi, tmp_path):
    """Corners of saturation and threshold, at and beside them: finite currents that grow with both voltages."""
    circuit = f"vd d 0 0\nvg g 0 0\nj1 d g 0 jm\n.model jm njf(level=2 beta=1m z={z} vst={vst} xi={xi})"
    (found,) = loaded(tmp_path, circuit, ".dc vd -0.5 4 0.25 vg -4 0 0.5\n.save i(vd)").samples()
    currents = -found.series("vd.i").reshape(9, 19)
    assert np.isfinite(currents).all() and (np.diff(currents, axis=0)[:, 3:] > -1e-10).all() and (np.diff(currents, axis=1)[:, 3:] > -1e-10).all()
    assert currents[-1, -1] > 1e-6 and abs(currents[0, -1]) < 1e-11 and np.abs(currents[:, 2]).max() < 1e-11


def test_what_is_wrong_is_told_with_its_line(tmp_path):
    circuit = "vd d 0 1\nvg g 0 0\nj1 d g 0 jm\n.model jm {}"
    for given, code, words in (
        ("njf(level=3)", "E130", "there is level 1, 2"),
        ("njf(level=2 lfgamm=0.1)", "E227", "did you mean 'lfgam'"),
        ("njf(level=2 q=0.5)", "E234", "must be >= 1"),
        ("njf(level=2 vto=2)", "E235", "must be below the potential Pb"),
    ):
        with pytest.raises(netsim.InputError, match=words) as raised:
            loaded(tmp_path, circuit.format(given), ".op").run()
        (problem,) = raised.value.problems
        assert problem.code == code and problem.span.line in (4, 5)
    model = loaded(tmp_path, circuit.format("njf(level=2 lg=1n ver=1)"), ".op")
    assert ["'lg' of the model" in note.message for note in model.network.notes] == [True]
