"""What is packed into a wheel, and that its user can do what the pages for beginners say."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import netsim
from netsim.core.compiled import store

ROOT = Path(netsim.__file__).parents[1]
FOLLOWED = """
import sys
from pathlib import Path
import netsim, test_docs
assert netsim.__file__.startswith(sys.argv[1]), netsim.__file__
test_docs.carry_out(Path(sys.argv[2]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built by the build backend, from this checkout."""
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(ROOT))
    sys.path.insert(0, str(ROOT))
    (found,) = builder.build(directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"])
    sys.path.remove(str(ROOT))
    sys.modules.pop("hatch_build", None)
    return zipfile.ZipFile(found)


def test_a_wheel_serves_every_python_of_its_platform(wheel):
    """Machine code is named by statements: no version of Python is in a name. numba is asked for where none is packed."""
    (about,) = (name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL"))
    tag = re.search(r"^Tag: (.*)$", wheel.read(about).decode(), re.MULTILINE)[1]
    built = store.BUILT.is_dir() and any(store.BUILT.iterdir())
    assert tag.startswith("py3-none-") and (tag != "py3-none-any") == built
    (about,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    asked = re.search(r"^Requires-Dist: numba[^;]*$", wheel.read(about).decode(), re.MULTILINE)
    assert bool(asked) != built


def test_machine_code_of_a_wheel_is_small(wheel):
    """And so are the facts beside it, which spare a first run the building of expressions, and the syntax trees of
    libraries and models, which spare it the parser. Kernels, packed for one instruction set, are nearly half of the
    code."""
    files = [each for each in wheel.infolist() if "/compiled/built/" in each.filename]
    facts, trees = (sum(f.compress_size for f in files if f"/{kind}-" in f.filename) for kind in ("facts", "tree"))
    assert sum(each.compress_size for each in files) - facts - trees <= 5e6 and facts <= 3e6 and trees <= 2e6


def test_a_wheel_has_the_models_and_libraries_but_not_the_netlists_of_tests(wheel):
    packed = {name.removeprefix("netsim/") for name in wheel.namelist() if name.startswith("netsim/")}
    models = {path.relative_to(ROOT / "models").as_posix() for path in (ROOT / "models").rglob("*") if path.is_file()}
    assert {name.removeprefix("model_files/") for name in packed if name.startswith("model_files/")} == {
        name for name in models if not name.startswith("broken/")
    }
    assert {"api.py", "library_files/words.txt", "library_files/electrical/elements.lib"} <= packed
    assert "model_files/tripod/stage4.net" in packed and any(name.startswith("broken/") for name in models)


@pytest.mark.parametrize("page", ["README.md", "docs/tutorial.md"])
def test_a_wheel_does_what_its_pages_say(wheel, page, tmp_path):
    """Unpacked, in an empty folder: every command and block, with what it prints."""
    site, folder = tmp_path / "site", tmp_path / "empty"
    wheel.extractall(site)
    folder.mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT / "tests")])}
    command = [sys.executable, "-c", FOLLOWED, str(site), str(ROOT / page)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
