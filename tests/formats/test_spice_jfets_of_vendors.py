"""JFETs as manufacturers describe them: parameters of PSpice that ngspice ignores, beside closed forms. What ngspice has is in
test_device_curves.py."""

from math import exp, log

import numpy as np
import pytest

from ngspice_runs import NGSPICE, loaded, ngspice

LINES = {
    "J2N3819": "NJF(Beta=1.304m Betatce=-.5 Rd=1 Rs=1 Lambda=2.25m Vto=-3 Vtotc=-2.5m Is=33.57f Isr=322.4f N=1 Nr=2 Xti=3 Alpha=311.7u "
    "Vk=243.6 Cgd=1.6p M=.3622 Pb=1 Fc=.5 Cgs=2.414p Kf=9.882E-18 Af=1)",
    "J2N5460": "PJF(Beta=577.1u Betatce=-.5 Rd=1 Rs=1 Lambda=20.2m Vto=-2.6 Vtotc=-2.5m Is=112.8f Isr=1.081p N=1 Nr=2 Xti=3 Alpha=10u Vk=100 "
    "Cgd=6.3p M=.4 Pb=1 Fc=.5 Cgs=5.1p Kf=.1492E-18 Af=1)",
}
VT = 1.380649e-23 / 1.602176634e-19


def gate_current(v, celsius, Is=33.57e-15, Isr=322.4e-15, M=0.3622, pb=1.0):
    """Of the junctions to drain and source at one voltage, with Gmin (1e-12 S)."""
    T, Tn = celsius + 273.15, 300.15
    i, j = (
        saturation * (T / Tn) ** (3 / n) * exp((T / Tn - 1) * 1.11 / (n * VT * T)) * (exp(v / (n * VT * T)) - 1)
        for saturation, n in ((Is, 1), (Isr, 2))
    )
    gap = 1.16 - 7.02e-4 * T * T / (T + 1108)
    shift = -2 * VT * T * (1.5 * log(T / Tn) + 1.1150877 / (2 * VT * Tn) - gap / (2 * VT * T))
    wide = ((1 - v / (pb * T / Tn + shift)) ** 2 + 0.005) ** (M / 2)
    return 2 * (i + j * wide + 1e-12 * v)


@pytest.mark.parametrize("celsius", [27.0, 85.0])
def test_gates_leak_and_conduct(celsius, tmp_path):
    circuit = f"vg g 0 0\nvd d 0 0\nj1 d g 0 J2N3819\n.model J2N3819 {LINES['J2N3819'].replace('Rd=1 Rs=1', '')}"
    (found,) = loaded(tmp_path, circuit, f".options temp={celsius}\n.dc vg -20 0.6 0.2\n.save i(vg)").samples()
    for v, i in zip(np.arange(-20, 0.61, 0.2), -found.series("vg.i")):
        assert i == pytest.approx(gate_current(v, celsius), rel=1e-7, abs=1e-17), v


def test_capacitances_have_their_grading(tmp_path):
    for v in (-5.0, -1.0, 0.3):
        circuit = f"vg g 0 dc {v} ac 1\nvd d 0 0\nj1 d g 0 J2N3819\n.model J2N3819 {LINES['J2N3819'].replace('Rd=1 Rs=1', '')}"
        current = loaded(tmp_path, circuit, ".ac lin 1 1meg 1meg\n.save i(vg)").run()["vg.i"].values[0]
        assert -current.imag / (2 * np.pi * 1e6) == pytest.approx(4.014e-12 * (1 - v) ** -0.3622, rel=1e-9)


@NGSPICE
@pytest.mark.parametrize("name", LINES)
@pytest.mark.parametrize("celsius", [27.0, 85.0])
def test_drain_currents_are_those_of_ngspice(name, celsius, tmp_path):
    """At 85 degrees to what the constants leave: ngspice 39 has those of 2014."""
    sign = -1 if LINES[name].startswith("P") else 1
    circuit = f"vd d 0 0\nvg g 0 0\nj1 d g 0 {name}\n.model {name} {LINES[name]}\n.options temp={celsius}"
    sweep = f"vd 0 {10 * sign} {0.5 * sign} vg 0 {-3 * sign} {-0.5 * sign}"
    theirs = ngspice(tmp_path, circuit, f"dc {sweep}", "i(vd)")[:, 1]
    model = loaded(tmp_path, circuit, f".dc {sweep}\n.save i(vd)")
    assert np.abs(model.run()["vd.i"].values - theirs).max() < 1e-6 * np.abs(theirs).max()
    assert [note.message.split(" are ")[0] for note in model.network.notes] == [f"'alpha', 'vk' of the model '{name.lower()}'"]


@NGSPICE
@pytest.mark.parametrize("supply", [10, 0.5, 0])
def test_noise_of_level_3(supply, tmp_path):
    """Noise of the channel in saturation, in the linear region and without a drain voltage (4 k T times its conductance)."""
    circuit = f"vg g 0 dc -1 ac 1\nvdd dd 0 {supply}\nr1 dd d 100\nj1 d g 0 jm\n.model jm njf(vto=-3 beta=1m nlev=3 gdsnoi=1.2)"
    (found,) = loaded(tmp_path, circuit, ".noise v(d) vg dec 1 1 10").samples()
    theirs = ngspice(tmp_path, circuit, "noise v(d) vg dec 1 1 10\nsetplot noise1", "onoise_spectrum")[:, 1]
    assert found.series("output")[: len(theirs)] == pytest.approx(theirs, rel=1e-6)
    if supply == 0:
        g = 2e-3 * 2
        assert found.series("output")[0] ** 2 == pytest.approx(4 * 1.380649e-23 * 300.15 * (1.2 * g + 1e-2) / (g + 1e-2) ** 2, rel=1e-9)
