"""A frequency in Hz and an angular speed in rad/s differ by 2 pi: one is not taken for the other."""

import pytest

import netsim
from netsim.text.errors import InputError

MOTOR = "use rotational\ns speed (a, ground) w = {}\nj inertia (a) J = 1 kg.m2\nrun transient(stop = 1 s)\n"
FILTER = "use electrical\nparam f : Hz = {}\nv voltage (a, ground) v = 1 V\nr resistor (a, ground) R = f*1 Ohm.s\n"
RESPONSE = "use electrical\nv voltage (a, ground) v = 1 V\nr resistor (a, b) R = 1 Ohm\nc capacitor (b, ground) C = 1 F\n"
RESPONSE += "save b.v\nrun ac(from = {}, to = 100 Hz, per_decade = 3, inputs = [v.v])\n"
ASPECTS = [(FILTER, "3000 rpm", "3000 rpm is 50 Hz"), (FILTER, "-1 rad/s", "1 rad/s is 0.159155 Hz")]
ASPECTS += [(RESPONSE, "1 rad/s", "1 rad/s is 0.159155 Hz"), (MOTOR, "50 Hz", "50 Hz is 314.159 rad/s")]
ASPECTS += [(MOTOR, "2 kHz", "2 kHz is 12566.4 rad/s")]


@pytest.mark.parametrize(("text", "value", "hint"), ASPECTS)
def test_one_is_refused_for_the_other(text: str, value: str, hint: str) -> None:
    found = netsim.load(text.format(value)).check()
    assert [(p.code, p.hint) for p in found if not p.is_note] == [("E202", hint)]


@pytest.mark.parametrize(("text", "value"), [(FILTER, "50 Hz"), (FILTER, "50 s^-1"), (FILTER, "50"), (RESPONSE, "1 mHz")])
def test_frequencies_are_frequencies(text: str, value: str) -> None:
    assert not [p for p in netsim.load(text.format(value)).check() if not p.is_note]


@pytest.mark.parametrize("value", ["3 rad/s", "10 rpm", "3 s^-1", "3", "2*pi*50 Hz"])
def test_angular_speeds_are_angular_speeds(value: str) -> None:
    assert not [p for p in netsim.load(MOTOR.format(value)).check() if not p.is_note]


def test_values_from_python_are_looked_at_too() -> None:
    model = netsim.load(FILTER.format("50 Hz"))
    with pytest.raises(InputError, match="3000 rpm is 50 Hz"):
        model.with_params(f="3000 rpm").transient(stop=1.0)


def test_a_frequency_is_refused_after_a_like_speed_was_taken() -> None:
    """What is known of `w = 3 s^-1` serves every number of the same dimension: the unit as written is none of it."""
    assert not [p for p in netsim.load(MOTOR.format("3 s^-1")).check() if not p.is_note]
    test_one_is_refused_for_the_other(MOTOR, "50 Hz", "50 Hz is 314.159 rad/s")


def test_items_of_a_vector_are_looked_at() -> None:
    text = "use spatial\ns spin (ground, b) w = [0, {}, 0]\n"
    text += "m body (b) m = 1 kg, I = diag(1, 1, 1)*1 kg.m2\nrun transient(stop = 1 s)\n"
    test_one_is_refused_for_the_other(text, "-50 Hz", "50 Hz is 314.159 rad/s")
    assert not [p for p in netsim.load(text.format("3 rad/s")).check() if not p.is_note]
