import math
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netsim import load
from netsim.text.errors import InputError
from netsim.text.kept.cache import cache_folder, write_atomically
from netsim.text.spelling import nearest_unit
from netsim.text.units import KNOWN_NAMES, NO_DIMENSION, Dimension, UnknownUnit, format_dimension, parse_unit


@pytest.mark.parametrize(
    ("text", "factor", "same_as"),
    [
        ("N.s/m", 1.0, "kg/s"),
        ("kg.m2", 1.0, "kg.m^2"),
        ("m/s2", 1.0, "m/s/s"),
        ("mm3", 1e-9, "m3"),
        ("kOhm", 1e3, "V/A"),
        ("kΩ", 1e3, "Ohm"),
        ("uF", 1e-6, "C/V"),
        ("µm", 1e-6, "m"),
        ("bar", 1e5, "N/m2"),
        ("l/min", 1e-3 / 60, "m3/s"),
        ("rpm", 2 * math.pi / 60, "rad/s"),
        ("deg", math.pi / 180, "1"),
        ("rev/min", 2 * math.pi / 60, "1/s"),
        ("g/cm3", 1e3, "kg/m3"),
        ("cP", 1e-3, "Pa.s"),
        ("t", 1e3, "kg"),
        ("day", 86400.0, "h"),
        ("kW/week", 1e3 / 604800, "W/s"),
        ("year", 365.25 * 86400, "s"),
        ("kW.h", 3.6e6, "J"),
        ("m^-1", 1.0, "1/m"),
        ("V/Hz^0.5", 1.0, "V.s^0.5"),
        ("percent", 0.01, "1"),
        ("mmol", 1e-3, "mol"),
        ("", 1.0, "1"),
    ],
)
def test_factor_and_dimension(text, factor, same_as):
    unit = parse_unit(text)
    assert unit.factor == pytest.approx(factor, rel=1e-15)
    assert unit.dimension == parse_unit(same_as).dimension
    assert hash(unit.dimension) == hash(parse_unit(same_as).dimension)


def test_each_slash_divides_by_the_next_name_only():
    assert parse_unit("J/kg.K").dimension == parse_unit("J.K/kg").dimension
    assert parse_unit("J/kg/K").dimension != parse_unit("J/kg.K").dimension


def test_an_offset_counts_for_a_lone_unit_only():
    assert parse_unit("degC").from_si(293.15) == pytest.approx(20)
    assert parse_unit("degC").from_si(273.15) == 0
    assert parse_unit("W/degC").offset == 0
    assert parse_unit("W/degC").dimension == parse_unit("W/K").dimension


@pytest.mark.parametrize(("text", "name"), [("foo", "foo"), ("N.foo", "foo"), ("kg.", "."), ("m..s", "..s"), ("m^", "^"), ("2", "2"), ("N m", " m")])
def test_what_is_no_unit_is_named(text, name):
    with pytest.raises(UnknownUnit) as caught:
        parse_unit(text)
    assert caught.value.name == name


def test_names_that_could_be_prefixed_ones_keep_their_meaning():
    assert parse_unit("min").factor == 60
    assert parse_unit("cd").dimension == Dimension((0, 0, 0, 0, 0, 0, 1))
    assert parse_unit("Pa").dimension == parse_unit("N/m2").dimension
    assert parse_unit("h").factor == 3600
    assert parse_unit("T").dimension == parse_unit("Wb/m2").dimension


def test_prefixes_are_the_nearest_doubles():
    assert (parse_unit("mg").factor, parse_unit("um").factor, parse_unit("pF").factor, parse_unit("kg").factor) == (1e-6, 1e-6, 1e-12, 1.0)
    assert parse_unit("keV").factor == 1.602176634e-16


@pytest.mark.parametrize(
    "text", ["N", "N.m", "Pa", "W", "V", "Ohm", "m/s", "m/s2", "N.s/m", "N/m", "kg.m2", "F", "H", "W/K", "1", "1/H", "1/V", "1/K"]
)
def test_common_dimensions_have_their_usual_names(text):
    assert format_dimension(parse_unit(text).dimension) == text


@given(st.tuples(*[st.integers(-4, 4)] * 7))
def test_a_dimension_survives_its_text(exponents):
    dimension = Dimension(exponents)
    assert parse_unit(format_dimension(dimension)).dimension == dimension


@given(st.sampled_from(sorted(KNOWN_NAMES)), st.sampled_from(sorted(KNOWN_NAMES)))
def test_dimensions_multiply(first, second):
    a, b = parse_unit(first), parse_unit(second)
    product = parse_unit(f"{first}.{second}")
    assert product.dimension == a.dimension * b.dimension
    assert product.factor == pytest.approx(a.factor * b.factor)
    assert product.dimension / b.dimension == a.dimension
    assert (a.dimension**0.5) ** 2 == a.dimension
    assert a.dimension**0 == NO_DIMENSION


def test_the_cache_folder_follows_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path / "own"))
    assert cache_folder("objects") == tmp_path / "own" / "objects"
    monkeypatch.delenv("NETSIM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "shared"))
    folder = cache_folder("objects")
    assert folder == tmp_path / "shared" / "netsim" / "objects" and folder.is_dir()
    assert write_atomically(folder / "x", b"abc") and (folder / "x").read_bytes() == b"abc"


def test_no_cache_folder_where_none_can_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path / "file"))
    assert cache_folder("objects") is None
    assert not write_atomically(tmp_path / "nowhere" / "x", b"abc")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        *(("rad", "rad"), ("deg", "rad"), ("rad/s", "rad/s"), ("rpm", "rad/s"), ("rev/min", "rad/s"), ("rad/s2", "rad/s2")),
        *(("1/s", "1/s"), ("Hz", "1/s"), ("percent", "1"), ("rad/rad", "1"), ("rad2", "1"), ("N.m/rad", "N.m"), ("m/rad", "m"), ("rad.s", "s.rad")),
    ],
)
def test_angles_are_shown_as_angles(text, shown):
    """They are numbers: only what is printed differs, and it can be typed back."""
    dimension = parse_unit(text).dimension
    assert format_dimension(dimension) == shown and parse_unit(shown).dimension == dimension


def test_an_angle_stays_one_where_it_is_scaled_or_goes_through_time():
    angle, rate, second, metre = (parse_unit(text).dimension for text in ("rad", "rad/s", "s", "m"))
    kept = [NO_DIMENSION * angle, rate * second, angle / second, rate / NO_DIMENSION]
    assert [format_dimension(d) for d in kept] == ["rad", "rad", "rad/s", "rad/s"]
    lost = [angle * angle, rate / rate, rate * metre, rate**2, NO_DIMENSION / angle]
    assert [format_dimension(d) for d in lost] == ["1", "1", "m/s", "1/s2", "1"]
    assert angle == NO_DIMENSION and hash(angle) == hash(NO_DIMENSION) and angle.is_none is False


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("d", "did you mean 'day'? If not, write 1*d for a product"),
        ("years", "did you mean 'year'?"),
    ],
)
def test_units_of_long_times_are_told(word, hint):
    with pytest.raises(InputError) as wrong:
        load(f"use signal\ns1 signal_source (y) value = 1\nrun transient(stop = 1 {word})\n")
    assert wrong.value.problems[0].hint == hint


def test_a_hint_has_no_two_units_that_look_alike():
    words = nearest_unit("daΩΩ").split("'")[1::2]
    assert len({unicodedata.normalize("NFKC", word) for word in words}) == len(words) > 0
