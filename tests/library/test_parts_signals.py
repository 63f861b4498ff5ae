# ruff: noqa: E501  (netlists in a line read best)
"""Noise, pseudo-random bits and sweeps against their definitions; the search for components by words."""

import numpy as np
import pytest

import netsim
from conftest import sampled
from netsim.library.catalogue import describe, whole_library
from netsim.library.search import other_words, search, suggestion_for_type


def signals(text, *names, **options):
    return sampled(netsim.load("use signal\n" + text + "\n"), names, **options)


def park_miller(seed, count):
    found = [seed]
    for _ in range(count):
        found.append(16807 * found[-1] % 2147483647)
    return found


# ------------------------------------------------------------------------------------------------ noise


def test_random_numbers_are_those_of_park_and_miller():
    """Ten thousand of them from the seed 1 end at 1 043 618 065."""
    assert park_miller(1, 10000)[-1] == 1043618065
    samples = signals("n uniform_noise (y) period = 1 ms, seed = 1\nrun transient(stop = 9.9995 s, sample = 1 s)", "y")
    assert samples.series("y")[-1] * 2147483647 == pytest.approx(1043618065, abs=1e-3)


@pytest.mark.parametrize("low, high, period", [(0.0, 1.0, 1e-6), (-5.0, 3.0, 2.0)])
def test_uniform_noise(low, high, period):
    """Each number is held for a period; the first is the one after the seed."""
    samples = signals(
        f"n uniform_noise (y) period = {period} s, seed = 42, y_min = {low}, y_max = {high}\nrun transient(stop = {50.5 * period} s, sample = {period / 2} s)",
        "y",
    )
    wanted = low + (high - low) * np.array(park_miller(42, 52)) / 2147483647
    x = samples.time / period
    inside = abs(x - np.round(x)) > 0.1
    assert samples.series("y")[inside] == pytest.approx(wanted[np.floor(x[inside]).astype(int) + 1], abs=1e-12)


def test_moments_of_normal_noise():
    """Mean, deviation, kurtosis 3, and no correlation, within four standard errors of 4000 numbers."""
    samples = signals("n normal_noise (y) period = 1 ms, seed = 7, mu = 2, sigma = 3\nrun transient(stop = 4 s, sample = 1 ms)", "y")
    x = samples.time / 1e-3
    _, last = np.unique(np.floor(x + 1e-6)[::-1], return_index=True)
    z = (samples.series("y")[::-1][last] - 2) / 3
    n = len(z)
    assert n >= 4000 and abs(np.mean(z)) < 4 / np.sqrt(n) and abs(np.var(z) - 1) < 4 * np.sqrt(2 / n)
    assert abs(np.mean(z**4) - 3) < 4 * np.sqrt(96 / n) and abs(np.mean(z[1:] * z[:-1])) < 4 / np.sqrt(n)


@pytest.mark.parametrize("period", [1e-3, 4e-3])
def test_power_of_band_limited_noise_does_not_depend_on_its_period(period):
    """The variance is S/period, within four standard errors of 2000 numbers."""
    text = f"n band_limited_noise (u) period = {period} s, seed = 3, power = 1 s\nlet square = integral(u^2)\nrun transient(stop = {2000 * period} s)\nsave square"
    samples = signals(text)
    assert samples.series("square")[-1] / samples.time[-1] == pytest.approx(1 / period, rel=4 * np.sqrt(2 / 2000))


@pytest.mark.parametrize("n, k", [(4, 3), (7, 6), (9, 5)])
@pytest.mark.parametrize("seed", [1, 5])
def test_binary_sequence_of_maximal_length(n, k, seed):
    """It repeats after 2^n - 1 bits, has one 1 more than zeros, and its correlation is -1/(2^n - 1) at every other shift."""
    N = 2**n - 1
    samples = signals(f"b prbs (y) period = 1 us, n = {n}, k = {k}, seed = {seed}, low = -1\nrun transient(stop = {2 * N} us, sample = 0.5 us)", "y")
    x = samples.time / 1e-6
    inside = abs(x - np.floor(x) - 0.5) < 0.1
    bits = samples.series("y")[inside]
    assert len(bits) == 2 * N and bits[:N] == pytest.approx(bits[N:]) and np.sum(bits[:N]) == pytest.approx(1)
    one = bits[:N]
    correlation = [np.mean(one * np.roll(one, shift)) for shift in range(1, N)]
    assert correlation == pytest.approx([-1 / N] * (N - 1), abs=1e-12)


def test_bits_of_the_standard_sequence():
    """x^7 + x^6 + 1 from the register 0000001: the bits that shift in are 0 0 0 0 0 1 1, worked by hand."""
    samples = signals("b prbs (y) period = 1 s\nrun transient(stop = 7 s, sample = 0.5 s)", "y")
    x = samples.time
    bits = samples.series("y")[abs(x - np.floor(x) - 0.5) < 0.1]
    register, wanted = 1, []
    for _ in range(7):
        register = (register << 1 & 127) | (register >> 6 ^ register >> 5) & 1
        wanted.append(register & 1)
    assert bits == pytest.approx(wanted) and wanted == [0, 0, 0, 0, 0, 1, 1]


# ------------------------------------------------------------------------------------------------ sweeps


def test_whole_numbers_are_asked_for():
    for text in (
        "n uniform_noise (y) period = 1 ms, seed = 1.5",
        "n prbs (y) period = 1 ms, n = 7.5",
        "n normal_noise (y) period = 1 ms, seed = 2.000001",
    ):
        with pytest.raises(netsim.InputError, match=r"E235.*whole number"):
            signals(text + "\nrun transient(stop = 10 ms)", "y")


@pytest.mark.parametrize("f1, f2", [(0.0, 5.0), (5.0, 0.0), (0.0, 0.0)])
def test_chirp_from_and_to_zero(f1, f2):
    samples = signals(f"c chirp (y) f1 = {f1} Hz, f2 = {f2} Hz, duration = 1 s\nrun transient(stop = 2 s)", "y")
    t = np.minimum(samples.time, 1)
    cycles = f1 * t + (f2 - f1) * t**2 / 2 + f2 * np.maximum(samples.time - 1, 0)
    assert samples.series("y") == pytest.approx(np.sin(2 * np.pi * cycles), abs=1e-9)


@pytest.mark.parametrize("f1, f2, duration", [(1.0, 20.0, 2.0), (1e6, 1e5, 1e-4)])
def test_chirps_are_sines_of_the_integral_of_their_frequency(f1, f2, duration):
    at = 0.1 * duration
    law = f"f1 = {f1} Hz, f2 = {f2} Hz, duration = {duration} s, at = {at} s, amplitude = 2, offset = 0.5"
    samples = signals(f"c chirp (y) {law}\nl log_chirp (z) {law}\nrun transient(stop = {1.3 * duration} s, sample = {duration / 400} s)", "y", "z")
    t = samples.time
    x = np.linspace(0, t[-1], 400001)
    s = np.clip((x - at) / duration, 0, 1)
    for name, f in (("y", f1 + (f2 - f1) * s), ("z", f1 * (f2 / f1) ** s)):
        phase = 2 * np.pi * np.concatenate([[0], np.cumsum((f[1:] + f[:-1]) / 2 * np.diff(x))])
        wanted = 0.5 + 2 * np.sin(np.interp(t, x, phase) - 2 * np.pi * f1 * at)
        assert samples.series(name) == pytest.approx(wanted, abs=1e-4)


# ------------------------------------------------------------------------------------------------ search


@pytest.fixture(scope="module")
def library():
    return whole_library()


@pytest.mark.parametrize(
    "words, wanted",
    [
        ("rms", "effective"), ("RMS", "effective"), ("abs", "magnitude"), ("divide", "quotient"), ("comparator", "threshold"), ("comparators", "above"),
        ("coil", "inductor"), ("inductor", "inductor"), ("thermistor", "ntc"), ("pt100", "platinum_resistor"), ("heat exchanger", "heat_exchanger"),
        ("PMSM", "synchronous_machine"), ("lookup table", "curve"), ("random", "normal_noise"), ("shock absorber", "damper"), ("moody", "rough_pipe"),
    ],
)  # fmt: skip
def test_components_are_found_by_words(library, words, wanted):
    assert wanted in [d.name for d in search(words, library)][:8]


@pytest.mark.parametrize(
    "kind, wanted",
    [
        ("voltage_source", "'voltage' or 'three_phase_voltage'"), ("current_source", "'current'"), ("force_source", "'force'"),
        ("thermal_mass", "'heat_capacity'"), ("shock_absorber", "'damper'"), ("mas", "'mass'"), ("op_amp", "'opamp'"), ("resistr", "'resistor'"),
        ("sprng", "'spring'"), ("capacitance", "'capacitor'"), ("coil", "'inductor' or 'winding'"),
    ],
)  # fmt: skip
def test_a_type_that_is_not_there_is_meant_by_letters_or_by_the_words_of_the_field(library, kind, wanted):
    assert suggestion_for_type(kind, library).startswith(f"did you mean {wanted}")


@pytest.mark.parametrize("kind", ["fixed", "Wall", "gnd"])
def test_what_stands_still_is_a_node(library, kind):
    assert suggestion_for_type(kind, library).startswith("the node 'ground' is that")


def test_a_type_that_nothing_is_like_has_no_hint(library):
    assert suggestion_for_type("zzzzqq", library) == ""


def test_words_name_components_that_exist(library):
    assert [name for name in other_words() if name not in library.types()] == []


def test_list_shows_what_words_find(library):
    shown = describe(library, "rms")
    assert shown.splitlines()[0].endswith("for 'rms'") and "effective" in shown and "root of the mean" in shown
    assert describe(library, "inductor").startswith("inductor: linear inductor") and "see also" in describe(library, "inductor")
    with pytest.raises(netsim.InputError, match="elektrical"):
        describe(library, "elektrical")


@pytest.mark.parametrize("method", ["radau", "trbdf2"])
def test_a_mean_is_as_right_in_the_last_period_as_in_the_first(method):
    """Of sin^2 over 300 periods; the integrals begin anew in each."""
    text = "s signal_source (u) value = sin(2*pi*time/(1 s))^2\nm mean (u, y) f = 1 Hz\ne effective (u, r) f = 1 Hz\nh harmonic (u, a, p) f = 1 Hz, k = 2"
    samples = signals(text + "\nrun transient(stop = 300.5 s, sample = 0.5 s)", "y", "r", "a", method=method, rtol=1e-4)
    for name, wanted in (("y", 0.5), ("r", np.sqrt(0.375)), ("a", 0.5)):
        assert np.abs(samples.series(name)[4:] / wanted - 1).max() < 5e-4, name
