"""Runs that are done again with a smaller tolerance, and compared."""

import numpy as np
import pytest

import netsim
from netsim import cli
from netsim.library.files import models_folder

PENDULUM = """
component pendulum ()
  var  x : 1
  var  u : 1
  der(x)*(1 s) = u
  der(u)*(1 s) = -sin(x)
end
swing  pendulum  ()  start x = 3.1405926535897932, start u = 0
run  transient(stop = 60 s, verify = yes)
save swing.x
"""


def told(samples):
    return [problem.code for problem in (*samples.warnings, *samples.broken)]


@pytest.mark.parametrize(("rtol", "codes"), [(1e-6, ["W505"]), (1e-4, ["E523"]), (1e-9, ["W505"])])
def test_a_motion_that_multiplies_errors_is_told(rtol, codes):
    """Near its upper rest a pendulum multiplies errors by about a million: no step knows."""
    (verified,) = netsim.load(PENDULUM).samples({"rtol": rtol})
    assert told(verified) == codes
    (exact,) = netsim.load(PENDULUM).samples({"rtol": 1e-13, "verify": "no", "sample": 60.0})
    missed = abs(verified.series("swing.x")[-1] - exact.series("swing.x")[-1])
    assert verified.attributes["difference"] > 0.01 * missed / np.pi


@pytest.mark.parametrize("method", ["radau", "bdf", "rk45"])
@pytest.mark.parametrize("name", ["two_masses", "bouncing_ball", "dead_time_control"])
def test_shipped_models_are_verified(name, method):
    """With and without events and requested instants; the run itself is the same."""
    model = netsim.load(models_folder() / f"{name}.net")
    for options in ({}, {"sample": 0.01}):
        (alone,) = model.samples({"method": method, **options})
        (verified,) = model.samples({"method": method, "verify": "yes", **options})
        assert told(verified) == told(alone)
        assert verified.attributes["difference"] < 1e-4
        assert np.array_equal(verified.values, alone.values)
        assert "verified: the same run at rtol = 1e-07" in verified.attributes["notes"]


def test_given_steps_are_halved():
    text = "use translational\nm1 mass (a) m = 1 kg, start x = 1 m\nc1 spring (a, ground) c = 100 N/m\n"
    model = netsim.load(text + "run transient(stop = 2 s, step = 10 ms, method = euler, verify = yes)\nsave a.x\n")
    (coarse,) = model.samples()
    assert "in steps of 0.005 s" in coarse.attributes["notes"]
    assert 0.05 < coarse.attributes["difference"] < 0.5
    assert "W505" in told(coarse)
    (fine,) = model.samples({"method": "radau"})
    assert fine.attributes["difference"] < 1e-6


def test_the_command_line(tmp_path, capsys):
    (tmp_path / "swing.net").write_text(PENDULUM.replace(", verify = yes", ""))
    target = str(tmp_path / "a.csv")
    assert cli.main(["run", str(tmp_path / "swing.net"), "-o", target, "--verify", "--rtol", "1e-4"]) == 1
    assert "E523 'swing.x' differs by" in capsys.readouterr().err
    assert cli.main(["run", str(tmp_path / "swing.net"), "-o", target]) == 0
    assert "verified" not in capsys.readouterr().out


def test_other_analyses_refuse_it():
    text = "use electrical\nv1 voltage (a, ground) v = 1 V\nr1 resistor (a, ground) R = 1 kOhm\nsave a.v\n"
    for run in (
        "sweep(stop = 1 s, over = [r1.R = [1 kOhm, 2 kOhm]], verify = yes)",
        "sensitivity(stop = 1 s, of = [a.v], to = [r1.R], verify = yes)",
    ):
        (problem,) = netsim.load(f"{text}run {run}\n").check()
        assert "'verify'" in problem.message
