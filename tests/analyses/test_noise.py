"""Effective values of noise where paths cancel or fall off steeply, and elements that state none."""

import time as clock

import numpy as np
import pytest

import netsim

K_T = 1.380649e-23 * 293.15
BAND = {"from_": 1.0, "to": 1e6}


def ladder(sections: int) -> str:
    parts = [f"r{k} resistor (n{k}, n{k + 1}) R = 1 Ohm\nc{k} capacitor (n{k + 1}, ground) C = 1 F\n" for k in range(sections)]
    return "use electrical\nsrc voltage (n0, ground) v = 1 V\n" + "".join(parts)


@pytest.mark.parametrize("sections", [10, 60, 400])
def test_parts_that_fall_off_by_hundreds_of_decades_are_finite(sections):
    """The noise of the first resistors does not come through a long ladder: densities fall below 1e-300 there."""
    found = netsim.load(ladder(sections)).noise(output=f"n{sections}.v", from_=1e-8, to=1e3)
    parts = [found.attrs[f"measure.r{k}"] for k in range(sections)]
    assert np.isfinite(parts).all()
    assert np.sqrt(np.sum(np.square(parts))) == pytest.approx(found.attrs["measure.output"], rel=1e-6)
    assert found.attrs["measure.output"] == pytest.approx(np.sqrt(K_T), rel=1e-3)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_a_noise_that_cancels_takes_no_time(size):
    """Of a common resistance nothing is left between two equal paths but rounding, which is no curve to integrate."""
    text = f"""use electrical
    v1 voltage   (a, ground) v = 0 V
    r1 resistor  (a, b)      R = {1e3 * size} Ohm
    r2 resistor  (b, c)      R = {1e3 * size} Ohm
    r3 resistor  (b, d)      R = {1e3 * size} Ohm
    c1 capacitor (c, ground) C = {1e-9 / size} F
    c2 capacitor (d, ground) C = {1e-9 / size} F
    """
    begin = clock.process_time()
    found = netsim.load(text).noise(output="c.v - d.v", **BAND)
    assert clock.process_time() - begin < 10.0  # a part of rounding was halved for three minutes
    assert found.attrs["measure.r1"] < 1e-12 * found.attrs["measure.output"]
    assert found["output"].values[0] == pytest.approx(np.sqrt(8 * K_T * 1e3 * size), rel=1e-9)


@pytest.mark.parametrize(
    "line, told", [("z1 fuse (b, ground) R = 1 kOhm, I0 = 1 A, I2t = 1 A2.s", "'z1'"), ("r2 resistor (b, ground) R = 1 kOhm", "")]
)
def test_elements_with_losses_that_state_no_noise_are_named(line, told):
    text = f"use electrical\nv1 voltage (a, ground) v = 1 V\nr1 resistor (a, b) R = 1 kOhm\n{line}\n"
    notes = netsim.load(text).noise(output="b.v", **BAND).attrs["notes"]
    assert notes == (f"without noise, though they have losses: {told}" if told else "")


LOW_PASS = """use electrical
src voltage   (a, ground) v = 0 V
r1  resistor  (a, b)      R = 1 kOhm
c1  capacitor (b, ground) C = 1 nF
"""
CORNER = 1 / (2 * np.pi * 1e3 * 1e-9)
WHITE = 4 * K_T * 1e3


@pytest.mark.parametrize("grid", ["", ", per_decade = 1"])
def test_measures_of_noise(grid):
    """Densities and effective values of a low-pass, exact whatever frequencies are shown; of the noise that a run is of alone."""
    text = f"""{LOW_PASS}
    run noise(output = b.v, input = src, from = 1 Hz, to = 1 THz{grid})
    run noise(output = a.v - b.v, from = 1 Hz, to = 1 MHz)
    measure total = effective(b.v)
    measure part  = effective(b.v, from = 2 kHz, to = 1 MHz)
    measure low   = density(b.v, 300 kHz)
    measure given = density(src.v, 300 kHz)
    measure half  = when(density(b.v) < level/2)
    measure level = density(src.v, 1 Hz)
    measure other = effective(a.v - b.v)
    assert  density(b.v, 1 kHz) > 5 nV/Hz^0.5 "quiet enough"
    """
    first, second = netsim.load(text).samples()
    found = {figure.name: figure for figure in first.figures}
    exact = lambda f: WHITE * CORNER * np.arctan(f / CORNER)  # noqa: E731
    assert found["total"].value == found["output"].value == pytest.approx(np.sqrt(exact(1e12) - exact(1.0)), rel=1e-6)
    assert found["part"].value == pytest.approx(np.sqrt(exact(1e6) - exact(2e3)), rel=1e-6)
    assert found["low"].value == pytest.approx(np.sqrt(WHITE / (1 + (3e5 / CORNER) ** 2)), rel=1e-9)
    assert found["given"].value == pytest.approx(np.sqrt(WHITE), rel=1e-9)
    assert found["half"].value == pytest.approx(CORNER * np.sqrt(3), rel=1e-6)
    assert (found["low"].unit, found["part"].unit, found["half"].unit) == ("V/Hz^0.5", "V", "Hz")
    assert [problem.message for problem in first.broken] == ["quiet enough"] and not second.broken
    assert {figure.name for figure in second.figures} == {"output", "r1", "other"}
    assert not [p for p in second.warnings if p.code == "W527"]


def test_what_measures_of_noise_refuse():
    run = "run noise(output = b.v, from = 1 Hz, to = 1 MHz)\n"
    (samples,) = netsim.load(f"{LOW_PASS}{run}measure x = effective(b.v, to = 1 GHz)\nmeasure y = density(c1.i, 1 kHz)\n").samples()
    assert "1e+09 Hz is outside the run" in samples.broken[0].message and np.isnan(samples.figures[-1].value)
    (unseen,) = [p for p in samples.warnings if p.code == "W527"]
    assert "run noise(output = c1.i, ...)" in unseen.hint
    for wrong, told in (
        ("effective(b.v, n = 2)", "effective\\(\\) takes a signal, and from and to"),
        ("density()", "density\\(\\) takes a signal"),
        ("density(b.v)", "whole trajectory"),
        ("effective(b.v, from = 2 Hz, to = 1 Hz)", "the band from 2 Hz to 1 Hz is empty"),
        ("effective(nobody.v)", "nobody"),
        ("density(b.v, 1 s)", "1 s"),
    ):
        with pytest.raises(netsim.InputError, match=told):
            netsim.load(f"{LOW_PASS}{run}measure x = {wrong}\n").run()


def test_noise_of_a_family():
    """Of every resistance the spectrum of its own, and its figures: k T/C of each."""
    run = "run noise(output = b.v, input = src, from = 1 mHz, to = 1 THz, family = [r1.R = [1 kOhm, 4 kOhm]])\n"
    (samples,) = netsim.load(f'{LOW_PASS}{run}measure low = density(b.v, 1 Hz)\nassert effective(b.v) < 2 uV "loud"\n').samples()
    found = {figure.name: figure.value for figure in samples.figures}
    for r in (1e3, 4e3):
        words = f" at r1.R = {r:g} Ohm"
        assert found[f"output{words}"] == pytest.approx(np.sqrt(K_T / 1e-9), rel=1e-6)
        assert found[f"low{words}"] == pytest.approx(np.sqrt(4 * K_T * r), rel=1e-9)
        assert samples.series(f"input{words}")[0] == pytest.approx(np.sqrt(4 * K_T * r), rel=1e-9)
    assert [p.message for p in samples.broken] == [f"loud at r1.R = {r:g} Ohm" for r in (1000.0, 4000.0)]


def test_pictures_of_noise_beside_responses():
    """Plot lines of responses and of noise each draw their own runs, of each member of a family."""
    family = ", family = [r1.R = [1 kOhm, 4 kOhm]])\n"
    runs = f"run noise(output = b.v, input = src, from = 1 Hz, to = 1 GHz{family}run ac(from = 1 Hz, to = 1 GHz{family}"
    members = [f"at r1.R = {r} Ohm" for r in (1000, 4000)]
    model = netsim.load(f"{LOW_PASS}{runs}plot b.v\nplot density(b.v), density(src.v)\n")
    gain, phase, noise = model.plot().figure.axes
    labels = [text.get_text() for text in noise.get_legend().get_texts()]
    assert labels == [f"density({s}) {m} (run1)" for s in ("b.v", "src.v") for m in members] and noise.get_ylabel() == "[V/√Hz]"
    assert [text.get_text() for text in gain.get_legend().get_texts()] == [f"b.v {m} (run2)" for m in members]
    assert phase.get_ylabel() == "phase [°]"
    (alone,) = netsim.load(f"{LOW_PASS}run noise(output = b.v, from = 1 Hz, to = 1 GHz)\nplot b.v\n").plot().figure.axes
    assert [line.get_label() for line in alone.get_lines()] == ["output", "r1"]
    with pytest.raises(netsim.InputError, match=r"this run has no noise of 'c1\.i'"):
        netsim.load(f"{LOW_PASS}run noise(output = b.v, from = 1 Hz, to = 1 GHz)\nplot density(c1.i)\n").plot()


def test_a_picture_of_no_noise_at_all():
    """Without an element that makes noise there is nothing to draw on a logarithmic axis."""
    text = "use electrical\nv1 voltage (a, ground) v = 1 V\nc1 capacitor (a, ground) C = 1 F\n"
    model = netsim.load(f"{text}run noise(output = a.v, from = 1 Hz, to = 1 kHz)\n")
    assert model.run().attrs["measure.output"] == 0.0
    assert model.plot().figure.axes[0].get_yscale() == "linear"


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_curves_of_rounding_are_not_refined(size):
    """Two equal paths leave nothing of a response but rounding, and an input that does not act has no noise: neither is a curve
    to put frequencies on, which took all memory."""
    paths = f"""{LOW_PASS}
    r2 resistor  (b, c)      R = {1e3 * size} Ohm
    r3 resistor  (b, d)      R = {3e3 * size} Ohm
    c2 capacitor (c, ground) C = {3e-9 / size} F
    c3 capacitor (d, ground) C = {1e-9 / size} F
    let z = c.v - d.v
    save z
    """
    model = netsim.load(paths)
    found = model.ac(from_=1.0, to=1e9, inputs=["src"])
    assert len(found["z"]) < 2000 and np.abs(found["z"].values).max() < 1e-12
    idle = netsim.load(f"{LOW_PASS}r2 resistor (b, e) R = 1 kOhm\n").noise(output="b.v - e.v", input="src", from_=1.0, to=1e6)
    assert np.isnan(idle.attrs["measure.input"]) and np.isnan(idle["input"].values).all()
    assert "'src.v' does not act on the output, but for rounding" in idle.attrs["notes"]
    assert idle.attrs["measure.output"] == pytest.approx(np.sqrt(WHITE * (1e6 - 1)), rel=1e-9)


def test_a_sharp_resonance_is_no_rounding():
    """A quality of 1e7 keeps its frequencies: the top is found to 1e-6 of its height."""
    text = """use electrical
    src voltage   (a, ground) v = 0 V
    r1  resistor  (a, b)      R = 1e-4 Ohm
    l1  inductor  (b, c)      L = 1 mH
    c1  capacitor (c, ground) C = 1 nF
    """
    found = netsim.load(f"{text}measure top = peak(c.v)\nrun ac(from = 1 kHz, to = 10 MHz)\n").run()
    assert found.attrs["measure.top"] == pytest.approx(1e3 / 1e-4, rel=1e-6)


@pytest.mark.parametrize(
    "line, density, conductance",
    [
        ("lossy_end (b, ground) R = 1 kOhm", 2 * WHITE / 2, 1e-3),
        ("ideal_diode (ground, b) Goff = 1e-3 S", WHITE, 1e-3),
        ("voltage_switch (b, ground, a, ground) Ron = 1 kOhm", WHITE, 1e-3),
    ],
)
def test_resistances_of_switches_and_lines_are_warm(line, density, conductance):
    """Beside a resistor as large, each makes half of the noise of both in parallel."""
    model = netsim.load(f"use electrical\nv1 voltage (a, ground) v = 8 V\nr1 resistor (a, b) R = 1 kOhm\nz1 {line}\n")
    found = model.noise(output="b.v", frequencies=[1.0])
    assert found.attrs["notes"] == ""
    assert found["output"].values[0] == pytest.approx(np.sqrt(4 * K_T * 500), rel=1e-9)


def test_shot_noise_of_a_zener_diode():
    """In its breakdown it has the shot noise of its current into its own slope and the resistor."""
    text = "use electrical\nv1 voltage (a, ground) v = 8 V\nr1 resistor (a, b) R = 1 kOhm\nz1 zener_diode (ground, b) Is = 1e-18 A\n"
    model = netsim.load(text)
    i = (8.0 - float(model.static()["b.v"].values[0])) / 1e3
    slope = i / (0.74 * 0.04)
    expected = np.sqrt(2 * 1.602176634e-19 * i) / (slope + 1e-3)
    assert model.noise(output="b.v", frequencies=[1.0])["z1"].values[0] == pytest.approx(expected, rel=1e-4)
