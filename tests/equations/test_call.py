"""Kernels called through a table from compiled loops, and the cache folder of machine code."""

import os
import subprocess
import sys
from pathlib import Path

import casadi
import numpy as np
import pytest

from netsim.core.compiled.call import run_table, table_row
from netsim.core.compiled.function import compiled
from netsim.equations.kernels.lowering import lower
from netsim.equations.kernels.native import compile
from netsim.equations.kernels.reference import run_reference


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path))


@compiled
def three_times(table, g, out):
    for _ in range(3):
        run_table(table, g, out)


def resistor_and_source():
    g, u, p = casadi.SX.sym("g", 2), casadi.SX.sym("u"), casadi.SX.sym("p")
    current = (g[0] - g[1]) / p
    return {"resistor": lower(g, [], p, casadi.vertcat(current, -current)), "source": lower([], u, p, -p * casadi.sin(u))}


def batches(n=5):
    chain = np.arange(n, dtype=np.int32)
    ends = np.concatenate([chain, chain + 1])
    none = np.zeros(0, np.int32)
    time = np.array([n + 1], np.int32)
    return {"resistor": (n, ends, none, np.linspace(1, 2, n), ends), "source": (1, none, time, np.array([4.0]), np.array([2], np.int32))}


def test_a_table_runs_every_kernel_and_sees_changed_parameters():
    programs, data = resistor_and_source(), batches()
    kernels = compile(programs)
    table = np.stack([table_row(kernels.addresses[name], *data[name]) for name in programs])
    g = np.random.default_rng(4).normal(size=7)
    for factor in (1.0, 0.5):
        data["resistor"][3][:] *= factor  # in place: no new table, no new code
        found, expected = np.zeros(6), np.zeros(6)
        three_times(table, g, found)
        for name, program in programs.items():
            run_reference(program, *data[name], g, expected)
        np.testing.assert_allclose(found, 3 * expected, rtol=1e-13, atol=1e-13)
    empty = np.ones(6)
    run_table(table[:0], g, empty)
    assert empty.tolist() == [1.0] * 6


@pytest.mark.parametrize(
    ("place", "wrong", "error"),
    [
        (1, np.zeros(10, np.int64), TypeError),
        (3, np.zeros(5, np.float32), TypeError),
        (1, np.zeros((10, 2), np.int32)[:, 0], TypeError),
        (4, [0, 1], TypeError),
        (3, np.zeros(7), ValueError),
        (0, -1, ValueError),
    ],
)
def test_arrays_that_a_kernel_would_misread_are_refused(place, wrong, error):
    arguments = list(batches()["resistor"])
    arguments[place] = wrong
    with pytest.raises(error):
        table_row(0, *arguments)


def test_machine_code_is_kept_in_the_users_folder_or_not_at_all(tmp_path):
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": root}
    script = """
import sys
import numpy as np
from pathlib import Path
from netsim.core.compiled import objects, store
from netsim.core.compiled.call import run_table
store.BUILT = Path("nothing is built")
told = []
objects.translating.append(told.append)
run_table(np.zeros((0, 7), np.int64), np.zeros(1), np.zeros(1))
print(len(told), "numba" in sys.modules)
"""

    def translated(folder):
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment | {"NETSIM_CACHE": str(folder)}, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert (translated(tmp_path / "new"), translated(tmp_path / "new")) == ("1 True", "0 False")
    assert list((tmp_path / "new" / "code").iterdir())
    (tmp_path / "file").write_text("no folder")
    assert (translated(tmp_path / "file"), translated(tmp_path / "file")) == ("1 True", "1 True")
