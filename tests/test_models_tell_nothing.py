"""Every netlist of models/ with its own run: exit status 0 and not a word on stderr, where no warning is true."""

from pathlib import Path

import pytest

from netsim import cli
from netsim.library.files import models_folder

TRUE = {
    "two_masses_integrators": ("W501", "implicit Euler in its given steps damps a vibration: 1.2 % of the energy turned over"),
}
"""Models with a warning that is true: its code, and what is so."""

LONG = {
    "manipulators/flexible_pendulum_2",
    "optimal/quarter_car",
    "optimal/seven_axes",
    "tripod/bending_stage2",
    "tripod/bending_stage3",
    "tripod/bending_stage4",
    "tripod/elastic_stage2",
    "tripod/elastic_stage3",
    "tripod/elastic_stage4",
    "tripod/four_rods",
}
"""Models that take more than 10 s: none of them warned where all were run, and nothing here holds them to it."""

NAMES = [str(path.relative_to(models_folder()).with_suffix("")) for path in sorted(models_folder().rglob("*.net"))]
NAMES = [name for name in NAMES if not name.startswith("broken/")]


def test_what_is_named_here_is_there():
    assert {*TRUE, *LONG} <= set(NAMES)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in LONG])
def test_a_model_warns_where_that_is_true_alone(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    status = cli.main(["run", str(models_folder() / f"{name}.net"), "-o", str(Path("result.csv"))])
    told = capsys.readouterr().err
    assert status == 0
    assert (TRUE[name][0] in told and told.count(": W") == 1) if name in TRUE else told == ""
