"""Options that are given for all run lines: which of them take it, and that none drops it in silence."""

import pytest

import netsim
from netsim.text.errors import InputError

LAG = """
use electrical
src voltage   (a, ground) v = 5 V*sin(2*pi*time/(1 s))
r1  resistor  (a, b)      R = 1 kOhm
c1  capacitor (b, ground) C = 1 mF
save b.v
"""
AC = "run ac(from = 1 Hz, to = 10 Hz, input = src)\n"


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("method", "bdf", lambda data: data.attrs["method"]),
        ("rtol", 1e-5, lambda data: data.attrs["rtol"]),
        ("harmonics", 3, lambda data: data.sizes["harmonic"] - 1),
        ("period", 2.0, lambda data: data.attrs["period"]),
    ],
)
def test_a_periodic_line_takes_them(name, value, read):
    assert read(netsim.load(LAG + "run periodic()\n").run(**{name: value})) == value


def test_the_only_line_takes_its_own_and_refuses_others():
    model = netsim.load(LAG + AC)
    assert model.run(points=4)["frequency"].values.tolist() == [1.0, 4.0, 7.0, 10.0]
    with pytest.raises(InputError, match=r"E421 ac\(\) has no option 'stop'"):
        model.run(stop=1.0)


def test_beside_a_run_over_time_others_take_options_of_steps_alone():
    """`from` is another thing for `ac` than for `transient`."""
    done = netsim.load(LAG + "run t = transient(stop = 1 s)\nrun p = periodic()\n" + AC).run(rtol=1e-5, stop=2.0, from_="rest")
    assert done["t"].attrs["stop"] == 2.0
    assert done["t"].attrs["rtol"] == done["p"].attrs["rtol"] == 1e-5
    assert done["p"].attrs["period"] == 1.0


def test_an_option_that_a_line_gives_twice_is_refused():
    model = netsim.load(LAG + "run transient(stop = 1 s, stop = 2 s)\n")
    with pytest.raises(InputError, match="E228 'stop' is given twice"):
        model.run()
    assert model.run(stop=0.5)["time"].values[-1] == 0.5
