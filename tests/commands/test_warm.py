"""What a command imports when it is given again: no compiler, no symbolic expressions, no tables of data, no packages of
SciPy (but for cubic tables), and for a listing none of the stages behind the network."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

MODELS = Path(__file__).parents[2] / "models"
REFUSING = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name in sys.argv[1].split():
            raise AssertionError(f"a warm command imports {name}")

sys.meta_path.insert(0, Refused())
from netsim.cli import main
sys.exit(main(sys.argv[2:]))
"""
RUNS = {
    "translational": ["run", "two_masses"],
    "circuit": ["run", "diode_bridge"],
    "signals": ["run", "pi_speed_control"],
    "events": ["run", "bouncing_ball"],
    "delay": ["run", "coaxial_cable", "--stop", "20 ns"],
    "table": ["run", "cam_follower"],
    "loop": ["run", "mechanisms/fourbar_planar", "--stop", "0.05"],
    "tree": ["run", "tripod/stage1", "--stop", "20 ms"],
    "rotations": ["run", "mechanisms/spinning_top", "--stop", "0.05"],
    "check": ["check", "two_masses"],
    "show": ["show", "two_masses"],
    "list": ["list", "spring"],
}
SPLINES = ("table",)
SCIPY = " scipy.sparse scipy.linalg scipy.interpolate"


@pytest.mark.parametrize("kind", RUNS)
def test_a_warm_command_imports_neither_compiler_nor_expressions_nor_tables(kind, tmp_path):
    command, *rest = RUNS[kind]
    writes = ["-o", "result.csv"] if command == "run" else []
    environment = os.environ | {"NETSIM_DEBUG": "1", "NETSIM_PATH": "", "PYTHONPATH": str(MODELS.parent)}

    def done(*begin):
        return subprocess.run([sys.executable, *begin, command, *rest, *writes], cwd=tmp_path, env=environment, capture_output=True, text=True)

    first = done("-m", "netsim")
    assert first.returncode == 0, first.stderr
    again = done("-c", REFUSING, "casadi numba pandas" + SCIPY * (kind not in SPLINES) + " llvmlite netsim.api" * (kind in ("show", "list")))
    assert again.returncode == 0, again.stderr
