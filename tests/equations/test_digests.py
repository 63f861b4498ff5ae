"""What names the machine code of a function: its statements and what they name, and nothing else; what is said where there is no
machine code and no compiler."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from netsim.core.compiled import digests, store
from netsim.core.compiled.function import compiled

ROOT = Path(__file__).parents[2]
PLAIN = """from netsim.core.compiled.function import compiled
SHARE = 0.5

@compiled
def mean(values):
    total = 0.0
    for value in values:
        total += SHARE * value
    return total
"""
SAME = '''"""A head."""
from netsim.core.compiled.function import compiled
SHARE = 0.5


@compiled
def mean(values: object) -> float:
    """The mean."""
    total = 0.0  # so far
    for value in values:
        total += (SHARE
                  * value)
    return total
'''
WITHOUT_NUMBA = """
import sys
from pathlib import Path
sys.modules["numba"] = None
import numpy as np
from netsim.core.compiled import store
from netsim.core.linear.factors import _all_finite
from netsim.text.errors import SimulationError
store.BUILT = Path("nothing is built")
try:
    _all_finite(np.zeros(1))
except SimulationError as wrong:
    print(wrong)
"""


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """The digest of `mean` in a module with this text, read from a file that is older than the process."""
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path / "cache"))

    def of(text, age=1e6):
        file = tmp_path / f"m{len(list(tmp_path.iterdir()))}.py"
        file.write_text(text)
        os.utime(file, (digests._BEGUN - age,) * 2)
        spec = importlib.util.spec_from_file_location(file.stem, file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.mean.digest

    return of


def test_comments_docstrings_annotations_and_line_breaks_make_no_other_code(digest):
    assert digest(PLAIN) == digest(SAME)


@pytest.mark.parametrize(("old", "new"), [("SHARE = 0.5", "SHARE = 0.25"), ("0.0", "1.0"), ("+=", "-="), ("@compiled", "@compiled(fastmath=True)")])
def test_other_statements_constants_and_options_do(digest, old, new):
    assert digest(PLAIN) != digest(PLAIN.replace(old, new))


def test_every_version_of_python_finds_the_same_name(digest):
    """A wheel is built by one of them."""
    assert digest(PLAIN).hex()[:16] == "ea666754f7f37265"


def test_a_file_that_has_changed_since_the_process_began_is_not_believed(digest):
    assert digest(PLAIN, age=-1e6) != digest(PLAIN)


def test_a_file_is_parsed_once(digest, tmp_path, monkeypatch):
    first = digest(PLAIN)
    assert [each.name for each in (tmp_path / "cache/code").iterdir() if each.name.startswith("functions-")]
    monkeypatch.setattr(digests.ast, "parse", None)
    assert digest(PLAIN) == first


def test_what_lacks_machine_code_and_a_compiler_says_so(tmp_path):
    environment = {**os.environ, "NETSIM_CACHE": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", WITHOUT_NUMBA], env=environment, capture_output=True, text=True, check=True)
    assert "E490" in done.stdout and "'_all_finite'" in done.stdout and "hint: pip install numba" in done.stdout


@compiled
def solution(matrix, right):
    return np.linalg.solve(matrix, right)


def test_what_is_built_for_users_must_not_need_numba(tmp_path):
    with store.building(tmp_path), pytest.raises(TypeError, match="'solution' calls numba's library"):
        solution(np.eye(2), np.ones(2))
