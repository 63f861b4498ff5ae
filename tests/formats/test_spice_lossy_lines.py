"""Lines with losses, O and Y: one delay with relaxations, against closed forms and against ngspice's LTRA."""

import numpy as np
import pytest
from scipy.special import i1e

from netsim.formats.spice.elements.distributed.relaxations import ERROR, LEAK, Figures, _fitted, relaxations
from ngspice_runs import NGSPICE, loaded, ngspice

LINE = Figures(R=12.45, L=8.972e-9, C=0.468e-12, G=0.0, length=16.0)
LEAKY = Figures(R=5.0, L=250e-9, C=100e-12, G=2e-5, length=2.0)


def card(line, letter="o", length=0.0):
    kind, name = ("ltra", "len") if letter == "o" else ("txl", "length")
    return f"{kind}(r={line.R!r} l={line.L!r} c={line.C!r} g={line.G!r} {name}={length or line.length!r})"


def two_port(line, s):
    """y and h of the telegraph equations, y over sqrt(C/L)."""
    z, y = line.R + s * line.L, line.G + s * line.C
    return np.sqrt(y / z) * line.impedance, np.exp(-line.length * np.sqrt(z * y))


@pytest.mark.parametrize("line", [LINE, LEAKY], ids=["r", "rg"])
def test_relaxations_follow_the_telegraph_equations(line):
    """y and h to `ERROR` of 1 over five decades of frequency, and what is left at rest."""
    found = relaxations(line)
    assert 4 <= len(found.rates) <= 14 and (found.rates > 0).all()
    a = line.R / line.L
    s = 1j * np.geomspace(1e-3 * a, 1e2 * a, 201)
    y, h = two_port(line, s)
    basis = found.rates / (s[:, None] + found.rates)
    ours = 1 + basis @ found.admittance, line.attenuation * np.exp(-s * line.delay) * (1 + basis @ found.transmission)
    worst = max(np.abs(ours[0] - y).max(), np.abs(ours[1] - h).max())
    assert worst < 4 * ERROR
    at_rest = 1 + found.admittance.sum(), line.attenuation * (1 + found.transmission.sum())
    wanted = two_port(line, 0.0) if line.G else (LEAK, 1.0)
    assert at_rest[0] == pytest.approx(wanted[0], rel=1e-9) and at_rest[1] == pytest.approx(wanted[1], abs=1e-4)


@pytest.mark.parametrize("line", [LINE, LEAKY], ids=["r", "rg"])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_a_line_takes_the_fewest_relaxations_that_its_error_allows(line, scale):
    """3e-5 of 1; times and lengths of another size change nothing."""
    line = Figures(line.R, line.L * scale, line.C * scale, line.G, line.length)
    n, slowest = len(relaxations(line).rates), 1e-3 * line.R / line.L
    assert _fitted(line, n, slowest)[1] < 3e-5 < _fitted(line, n - 1, slowest)[1]


def test_a_line_of_large_losses_takes_fourteen_relaxations():
    lossy = Figures(LINE.R, LINE.L, LINE.C, LINE.G, 10 * LINE.length)
    assert len(relaxations(lossy).rates) == 14 and _fitted(lossy, 14, 1e-3 * LINE.R / LINE.L)[1] > 1e-4


@pytest.mark.parametrize("line", [LINE, LEAKY], ids=["r", "rg"])
def test_a_fit_without_a_run_begins_at_a_thousandth_of_its_cut(line):
    found, wanted = relaxations(line), relaxations(line, 1e-3 * line.R / line.L)
    assert found.rates == pytest.approx(wanted.rates, rel=1e-12)


def test_an_open_line_leaks_a_hundred_thousandth_of_its_admittance():
    assert 1 + relaxations(LINE).admittance.sum() == pytest.approx(1e-5, rel=1e-9)


def test_more_losses_of_a_slower_run_take_more_relaxations():
    """A run that ends early sees less of the cut: fewer relaxations do."""
    a = LINE.R / LINE.L
    counts = [len(relaxations(LINE, share * a).rates) for share in (1.0, 1e-1, 1e-2)]
    assert counts[0] < counts[1] < counts[2]
    none = relaxations(Figures(R=2.5, L=250e-9, C=100e-12, G=1e-3, length=1.0))
    assert len(none.rates) == 0, "a line without distortion has none: R/L = G/C"


def test_a_step_behind_a_line_follows_the_bessel_function(tmp_path):
    """Into a second line from which nothing returns: the step response of h,

    exp(-a T/2) + a T/2 * integral of exp(-a t/2) I1(a/2 sqrt(t^2 - T^2))/sqrt(t^2 - T^2) from T to t.
    """
    circuit = f"v1 s 0 pulse(0 1 0 1f 1f 1 2)\no1 s 0 a 0 m1\no2 a 0 b 0 m2\nr1 b 0 100\n.model m1 {card(LINE)}\n"
    circuit += f".model m2 {card(LINE, length=400.0)}"
    found = loaded(tmp_path, circuit, ".options reltol=1e-5\n.tran 20p 12n\n.save v(a)").run()
    t, v = found["time"].values, found["a.v"].values
    a, delay = LINE.R / LINE.L, LINE.delay
    fine = delay + np.concatenate([[0.0], np.geomspace(1e-16, 12e-9 - delay, 20001)])
    root = np.sqrt(fine**2 - delay**2)
    x = 0.5 * a * root
    kernel = np.where(root > 0, np.exp(x - 0.5 * a * fine) * i1e(x) / np.maximum(root, 1e-30), 0.25 * a * np.exp(-0.5 * a * fine))
    answer = np.exp(-0.5 * a * delay) + 0.5 * a * delay * np.concatenate([[0.0], np.cumsum(np.diff(fine) * 0.5 * (kernel[1:] + kernel[:-1]))])
    behind, before = t > delay + 1e-14, t < delay - 1e-14
    assert before.sum() > 40 and np.abs(v[before]).max() < 1e-9
    assert np.abs(v[behind] - np.interp(t[behind], fine, answer)).max() < 2e-4


def test_at_rest_a_line_is_its_resistance(tmp_path):
    """R l in series, to LEAK squared; with G the two-port of the telegraph equations."""
    found = loaded(tmp_path, f"v1 s 0 1\no1 s 0 a 0 m1\nr1 a 0 50\n.model m1 {card(LINE)}", ".op").run()
    assert float(found["a.v"][0]) == pytest.approx(50 / (50 + LINE.R * LINE.length), rel=1e-8)
    found = loaded(tmp_path, f"v1 s 0 1\ny1 s 0 a 0 m1\nr1 a 0 50\n.model m1 {card(LEAKY, 'y')}", ".op").run()
    gamma, z = LEAKY.length * np.sqrt(LEAKY.R * LEAKY.G), np.sqrt(LEAKY.R / LEAKY.G)
    assert float(found["a.v"][0]) == pytest.approx(1 / (np.cosh(gamma) + z / 50 * np.sinh(gamma)), rel=1e-8)


def test_over_frequency_a_line_follows_the_telegraph_equations(tmp_path):
    """The transfer into a resistance, four decades."""
    found = loaded(tmp_path, f"v1 s 0 ac 1\no1 s 0 a 0 m1\nr1 a 0 70\n.model m1 {card(LINE)}", ".ac dec 10 1meg 10g\n.save v(a)").run()
    s = 2j * np.pi * found["frequency"].values
    z, y = LINE.R + s * LINE.L, LINE.G + s * LINE.C
    gamma, z0 = LINE.length * np.sqrt(z * y), np.sqrt(z / y)
    wanted = 1 / (np.cosh(gamma) + z0 / 70 * np.sinh(gamma))
    assert np.abs(found["a.v"].values - wanted).max() < 3e-4


@NGSPICE
def test_mismatched_lines_agree_with_ngspice(tmp_path):
    """A pulse into a line that is mismatched at both ends: rms 1e-3 of the range, with steps of ngspice of 10 ps."""
    circuit = f"v1 s 0 pulse(0 5 1n 0.2n 0.2n 5n 100n)\nr1 s a 20\no1 a 0 b 0 m1\nr2 b 0 400\nc2 b 0 0.05p\n.model m1 {card(LINE)}"
    found = loaded(tmp_path, circuit, ".tran 0.02n 20n\n.save v(a) v(b)").run()
    theirs = ngspice(tmp_path, circuit, "option reltol=1e-4\ntran 0.02n 20n 0 10p", "v(a) v(b)")
    for k, name in enumerate(("a.v", "b.v"), 1):
        wanted = np.interp(found["time"].values, theirs[:, 0], theirs[:, k])
        assert np.sqrt(np.mean((found[name].values - wanted) ** 2)) < 1e-3 * np.ptp(wanted), name
