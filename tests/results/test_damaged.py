"""Results that are damaged are told, and nothing else is said."""

import numpy as np
import pytest

import netsim
from netsim.results.files import read, write
from netsim.text.errors import InputError

RC = """use electrical
v1 voltage (a, ground) v = 1 V
r1 resistor (a, b) R = 1 Ohm
c1 capacitor (b, ground) C = 1 mF
save b.v
run transient(stop = 1 ms)
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    file = tmp_path_factory.mktemp("stored") / "a.nc"
    write(netsim.load(RC).transient(), file)
    return file.read_bytes()


@pytest.mark.parametrize("seed", range(100))
def test_a_damaged_netcdf_file_is_read_or_told(stored, tmp_path, seed, capsys):
    dice = np.random.default_rng(seed)
    content = bytearray(stored)
    for at in dice.integers(0, len(content), 1 + seed % 4):
        content[at] ^= 1 << int(dice.integers(8))
    (tmp_path / "a.nc").write_bytes(bytes(content)[: None if seed % 5 else int(dice.integers(len(content)))])
    try:
        read(tmp_path / "a.nc")
    except InputError as error:
        assert "is not a result file: it is damaged, or no NetCDF file" in error.problems[0].message
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "it is empty"),
        ("\n\n", "its first column is not 'time [s]'"),
        ("time,b.v\n0,1\n", "its first column is not 'time [s]'"),
        ("time [s],b.v [V]\n0,1\n1\n", "row 2 below its head has 1 cell, the head has 2"),
        ("time [s],b.v [V]\n0,1\n1,2,3\n", "row 2 below its head has 3 cells, the head has 2"),
        ("time [s],b.v [V]\n0,1\n1,x\n", "'x' in row 2 below its head, column 2, is no number"),
        ('time [s],b.v [V]\n0,""\n', "'' in row 1 below its head, column 2, is no number"),
    ],
)
def test_a_table_that_is_no_result_is_told(tmp_path, text, told):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError) as error:
        read(tmp_path / "a.csv")
    assert error.value.problems[0].message == f"'{tmp_path / 'a.csv'}' is not a result file: {told}"
