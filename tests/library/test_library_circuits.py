# ruff: noqa: E501  (netlists in a line read best)
"""Transistors of the library against their equations in NumPy, against ngspice where it is installed, and what their charges conserve."""

import shutil
import subprocess

import numpy as np
import pytest

import netsim
from conftest import ran, sampled

VT = 300.15 * 1.380649e-23 / 1.602176634e-19
spice = pytest.mark.skipif(shutil.which("ngspice") is None, reason="ngspice is not installed")


def held(device, signals, **voltages):
    """Signals of a device whose nodes are held at voltages, at the operating point."""
    sources = [f"src_{node} voltage ({node}, ground) v = {value} V" for node, value in voltages.items()]
    model = netsim.load("\n".join(["use electrical", *sources, device, "run transient(stop = 1 ms, step = 1 ms, method = euler)", ""]))
    samples = sampled(model, tuple(signals))
    return [float(samples.series(signal)[0]) for signal in signals]


def gummel_poon(vbe, vbc, Is, Bf, Br, Vaf, Var, Ikf, Ikr, Ise, Ne, Isc, Nc, gmin=1e-12):
    """Collector and base current (Antognetti and Massobrio 1988, eqs. 2-54 ff.)."""
    forward, reverse = Is * np.expm1(vbe / VT), Is * np.expm1(vbc / VT)
    q1 = 1 / (1 - vbc / Vaf - vbe / Var)
    qb = q1 / 2 * (1 + np.sqrt(1 + 4 * (forward / Ikf + reverse / Ikr)))
    leak_e, leak_c = Ise * np.expm1(vbe / (Ne * VT)) + gmin * vbe, Isc * np.expm1(vbc / (Nc * VT)) + gmin * vbc
    return (forward - reverse) / qb - reverse / Br - leak_c, forward / Bf + leak_e + reverse / Br + leak_c


@pytest.mark.parametrize("vb, vc", [(0.65, 5.0), (0.75, 0.1), (0.85, 3.0), (0.3, -0.4), (-1.0, 2.0)])
@pytest.mark.parametrize("polarity", [1, -1])
def test_bipolar_transistor(vb, vc, polarity):
    values = dict(Is=1e-15, Bf=120, Br=2, Vaf=60, Var=20, Ikf=0.02, Ikr=0.01, Ise=1e-13, Ne=1.8, Isc=2e-13, Nc=1.9)
    units = dict(Is="A", Vaf="V", Var="V", Ikf="A", Ikr="A", Ise="A", Isc="A")
    given = ", ".join(f"{k} = {v} {units.get(k, '')}" for k, v in values.items())
    found = held(f"q bjt (c, b, ground, ground) {given}, polarity = {polarity}", ["q.c.i", "q.b.i"], b=polarity * vb, c=polarity * vc)
    substrate = [1e-12 * vc, 0.0] if polarity == 1 else [0.0, 1e-12 * vb]  # gmin beside its junction: at the collector, or at the base
    wanted = np.add(gummel_poon(vb, vb - vc, **values), substrate)
    assert polarity * np.array(found) == pytest.approx(wanted, rel=1e-9, abs=1e-18)


@pytest.mark.parametrize("vd, vg, vb", [(2.0, 1.5, 0.0), (0.1, 1.5, -1.0), (-0.5, 1.2, -2.0), (1.0, 0.3, 0.0)])
def test_channel_and_charges(vd, vg, vb):
    """Shichman and Hodges' current by cases, and 2/3 of the oxide's charge in saturation; charges sum to zero by construction."""
    kp, gamma, phi, lam, cox = 1e-4, 0.5, 0.7, 0.05, 2e-3
    (current,) = held(
        f"q mosfet (d, g, ground, b) Kp = {kp} A/V2, gamma = {gamma}, phi = {phi} V, lambda = {lam} V^-1, Vto = 0.6 V, W = 10 um, L = 2 um, Cox = {cox} F/m2, Gmin = 0 S",
        ["q.ids"], d=vd, g=vg, b=vb,
    )  # fmt: skip
    low, high = min(vd, 0), max(vd, 0)
    over = vg - low - (0.6 + gamma * (np.sqrt(phi + low - vb) - np.sqrt(phi)))
    vds = high - low
    wanted = 0.0 if over <= 0 else kp * 5 * (1 + lam * vds) * (over**2 / 2 if over < vds else vds * (over - vds / 2))
    assert current == pytest.approx(np.sign(vd) * wanted, rel=1e-9, abs=1e-18)


GATE = """use electrical
gate  voltage (g, ground)  v = 2.5 V*(1 - cos(6.283185307179586*time/(1 us)))/2
drain voltage (d, ground)  v = 1 V + 0.8 V*sin(6.283185307179586*time/(1 us))
q     {kind}  (d, g, ground, ground) Vto = 0.5 V, Kp = 1e-4 A/V2, W = 10 um, L = 1 um, Cox = 4e-3 F/m2, gamma = 0.4, Cgso = 1e-10 F/m, Cgdo = 1e-10 F/m
let   charge = integral(q.igd)
save  charge, q.igd
run   transient(stop = 1 us, step = 1 ns, method = euler)
"""


def test_charge_of_the_drain_returns_over_a_cycle():
    """The charge that has gone from gate to drain after a whole cycle: none, but for Meyer's capacitances, of which only the gate's sum is a charge."""
    kept, meyer = (netsim.load(GATE.replace("{kind}", kind)).samples()[0].series("charge") for kind in ("mosfet", "meyer_mosfet"))
    swing = np.max(np.abs(kept))
    assert abs(kept[-1]) < 2e-4 * swing
    assert abs(meyer[-1]) > 5e-3 * swing


def test_line_delays_and_divides():
    samples = ran("coaxial_cable", ("a.v", "b.v"))
    t, a, b = samples.time, samples.series("a.v"), samples.series("b.v")
    assert a[t > 60e-9] == pytest.approx(1.0, abs=0.02) and np.max(np.abs(a)) < 1.02
    assert np.interp(0.5, b[t < 100e-9], t[t < 100e-9]) == pytest.approx(15e-9 + 50e-9, abs=1e-9)
    assert b[-1] == pytest.approx(1.0, abs=2e-3)


def test_transistor_amplifier():
    samples = ran("transistor_amplifier", ("base.v", "collector.v", "emitter.v"))
    base, collector, emitter = (samples.series(s) for s in ("base.v", "collector.v", "emitter.v"))
    ic, ib = gummel_poon(base[0] - emitter[0], base[0] - collector[0], 1e-15, 200, 1, 100, 1e12, 1e12, 1e12, 0, 1.5, 0, 2)
    assert (12 - collector[0]) / 4700 == pytest.approx(ic, rel=1e-6) and emitter[0] / 1000 == pytest.approx(ic + ib, rel=1e-6)
    last = samples.time > 200e-6
    assert np.ptp(collector[last]) / np.ptp(base[last]) == pytest.approx(4.7, rel=0.05)


# ------------------------------------------------------------------------------------------------------------ ngspice

DEVICES = {
    "npn": ("q1 c b 0 0 m\n.model m npn(is=1e-15 bf=120 br=2 vaf=60 ikf=20m ise=1e-13 ne=1.8 rb=200 rbm=50 rc=20 re=2 xtb=1.5 xti=3 eg=1.11)",
            "q bjt (c, b, ground, ground) Is = 1e-15 A, Bf = 120, Br = 2, Vaf = 60 V, Ikf = 20 mA, Ise = 1e-13 A, Ne = 1.8, Rb = 200 Ohm, Rbm = 50 Ohm, Rc = 20 Ohm, Re = 2 Ohm, xtb = 1.5",
            {"c": 2.0, "b": 0.85}, {"c": "q.c.i", "b": "q.b.i"}),
    "pnp": ("q1 c b 0 0 m\n.model m pnp(is=1e-15 bf=80 vaf=60 rb=100 rc=20)",
            "q bjt (c, b, ground, ground) polarity = -1, Is = 1e-15 A, Bf = 80, Vaf = 60 V, Rb = 100 Ohm, Rbm = 100 Ohm, Rc = 20 Ohm",
            {"c": -2.0, "b": -0.75}, {"c": "q.c.i", "b": "q.b.i"}),
    "nmos": ("m1 c b 0 e m w=10u l=2u\n.model m nmos(level=1 vto=0.6 kp=1e-4 gamma=0.5 phi=0.7 lambda=0.05 rd=100 rs=50 is=1e-15)",
             "q mosfet (c, b, ground, e) Vto = 0.6 V, Kp = 1e-4 A/V2, gamma = 0.5, phi = 0.7 V, lambda = 0.05 V^-1, Rd = 100 Ohm, Rs = 50 Ohm, Is = 1e-15 A, W = 10 um, L = 2 um",
             {"c": 2.0, "b": 1.9, "e": -1.0}, {"c": "q.d.i"}),
    "pmos": ("m1 c b 0 e m w=10u l=2u\n.model m pmos(level=1 vto=-0.6 kp=4e-5 gamma=0.5 phi=0.7 lambda=0.05)",
             "q meyer_mosfet (c, b, ground, e) polarity = -1, Vto = -0.6 V, Kp = 4e-5 A/V2, gamma = 0.5, phi = 0.7 V, lambda = 0.05 V^-1, W = 10 um, L = 2 um",
             {"c": -0.4, "b": -1.9, "e": 1.0}, {"c": "q.d.i"}),
    "jfet": ("j1 c b 0 m\n.model m njf(vto=-2 beta=1e-3 lambda=0.02 rd=20 rs=30)",
             "q jfet (c, b, ground) Vto = -2 V, beta = 1e-3 A/V2, lambda = 0.02 V^-1, Rd = 20 Ohm, Rs = 30 Ohm",
             {"c": 5.0, "b": -0.5}, {"c": "q.d.i"}),
    "diode": ("d1 c 0 m\n.model m d(is=1e-14 n=1.2 rs=3 eg=1.11 xti=3 bv=6 ibv=1m)",
              "q diode (c, ground) Is = 1e-14 A, N = 1.2, Rs = 3 Ohm, BV = 6 V, Ibv = 1 mA",
              {"c": 0.8}, {"c": "q.i"}),
    "breakdown": ("d1 c 0 m\n.model m d(is=1e-14 rs=3 bv=6 ibv=1m)",
                  "q diode (c, ground) Is = 1e-14 A, Rs = 3 Ohm, BV = 6 V, Ibv = 1 mA",
                  {"c": -6.1}, {"c": "q.i"}),
}  # fmt: skip


@spice
@pytest.mark.parametrize(("name", "celsius"), [(name, celsius) for name in DEVICES for celsius in ([27] if name == "breakdown" else [27, 85])])
def test_operating_points_against_ngspice(name, celsius, tmp_path):
    """ngspice adapts the knee of a breakdown to the saturation current, which matters once that is warm: it is compared at 27 degrees alone."""
    cards, device, voltages, wanted = DEVICES[name]
    sources = [f"v{node} {node} 0 {value}" for node, value in voltages.items()]
    prints = [f"print i(v{node})" for node in wanted]
    lines = ["operating point", *sources, cards, f".options temp={celsius} tnom=27 reltol=1e-9 abstol=1e-16 vntol=1e-10"]
    (tmp_path / "op.cir").write_text("\n".join([*lines, ".control", "set numdgt=12", "op", *prints, "quit", ".endc", ".end", ""]))
    out = subprocess.run(["ngspice", "-b", "op.cir"], cwd=tmp_path, capture_output=True, check=False, text=True).stdout
    other = [-float(line.split("=")[1]) for line in out.splitlines() if line.startswith("i(v")]
    join = ", " if "=" in device else " "
    found = held(f"{device}{join}T = {celsius + 273.15} K", list(wanted.values()), **voltages)
    assert found == pytest.approx(other, rel=2e-5)


def test_multivibrator_and_schmitt_trigger_of_an_opamp_with_a_lag():
    """Positive feedback takes the output from one side to the other: period 2 RC ln((1 + b)/(1 - b)) for b = 1/2, thresholds at b times the limit."""
    divider = "use electrical\nr1 resistor (o, p) R = 1 kOhm\nop lagging_opamp (p, n, o)\n"
    rc = "r2 resistor (p, ground) R = 1 kOhm\nr resistor (o, n) R = 10 kOhm\nc capacitor (n, ground) C = 1 uF, start v = 0.1 V\nrun transient(stop = 0.1 s)\n"
    samples = sampled(netsim.load(divider + rc), ("o.v",), rtol=1e-7)
    up = np.flatnonzero(np.diff(np.sign(samples.series("o.v"))) > 0)
    assert np.diff(samples.time[up]) == pytest.approx(np.full(len(up) - 1, 2 * 10e-3 * np.log(3)), rel=5e-4) and len(up) >= 3
    trigger = "r2 resistor (p, a) R = 500 Ohm\nv voltage (a, ground) v = sine(time, 10 V, 10 Hz)\ng voltage (n, ground) v = 0 V\nrun transient(stop = 0.2 s)\n"
    samples = sampled(netsim.load(divider + trigger), ("o.v", "a.v"), rtol=1e-7)
    flips = np.flatnonzero(np.diff(np.sign(samples.series("o.v"))))
    assert np.abs(samples.series("a.v")[flips[-2:]]) == pytest.approx([7.5, 7.5], abs=0.02)
