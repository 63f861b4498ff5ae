"""File formats from outside: one file, registered by a call. A network is loaded from it, results are written to it and read from it."""

import numpy as np
import pytest
import toml_netlist

import netsim
from netsim.library.formats import FORMATS
from netsim.results.files import read, write

DIVIDER = """
use = ["electrical"]
run = "static()"
[elements.v1]
type = "voltage"
nodes = ["a", "ground"]
v = "6 V"
[elements.r1]
type = "resistor"
nodes = ["a", "b"]
R = "1 kOhm"
[elements.r2]
type = "resistor"
nodes = ["b", "ground"]
R = "2 kOhm"
"""


@pytest.fixture(autouse=True)
def registered():
    """The formats are there for one test."""
    netsim.register(toml_netlist.NETLIST, toml_netlist.TABLE)
    yield
    del FORMATS["toml"], FORMATS["dat"]


def test_a_network_is_loaded(tmp_path):
    path = tmp_path / "divider.toml"
    path.write_text(DIVIDER)
    (found,) = netsim.load(path).samples()
    assert found.series("b.v")[0] == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("old", "new", "message"), [('nodes = ["a", "b"]', "", "'r1' has no 'nodes'"), ("[elements.v1]", "[elements", "is not TOML")]
)
def test_mistakes_are_messages(tmp_path, old, new, message):
    path = tmp_path / "divider.toml"
    path.write_text(DIVIDER.replace(old, new))
    with pytest.raises(netsim.InputError, match=message):
        netsim.load(path)


def test_results_are_written_and_read(tmp_path):
    result = netsim.load("use translational\nm1 mass (a) m = 1 kg, start v = 2 m/s\nrun transient(stop = 1 s)\n").transient(stop=1.0, step=0.1)
    (path,) = write(result, tmp_path / "free.dat")
    found = read(path)
    assert list(found.data_vars) == list(result.data_vars) and found["a.v"].attrs["units"] == "m/s"
    assert np.array_equal(found["a.x"].values, result["a.x"].values)


def test_an_unknown_suffix_names_it(tmp_path):
    with pytest.raises(netsim.InputError, match=r"E430 .*\.xyz.*is unknown") as refused:
        write([], tmp_path / "free.xyz")
    assert ".dat" in refused.value.problems[0].hint
