"""What is packed into a wheel."""

import sys
import zipfile
from pathlib import Path

import pytest

import netsim

ROOT = Path(netsim.__file__).parents[1]


def test_a_wheel_has_the_models_and_libraries_but_not_the_netlists_of_tests(tmp_path, monkeypatch):
    """Built by the build backend, from this checkout."""
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder(str(ROOT))
    monkeypatch.syspath_prepend(str(ROOT))
    (wheel,) = builder.build(directory=str(tmp_path), versions=["standard"])
    packed = {name.removeprefix("netsim/") for name in zipfile.ZipFile(wheel).namelist() if name.startswith("netsim/")}
    models = {path.relative_to(ROOT / "models").as_posix() for path in (ROOT / "models").rglob("*") if path.is_file()}
    assert {name.removeprefix("model_files/") for name in packed if name.startswith("model_files/")} == {
        name for name in models if not name.startswith("broken/")
    }
    assert {"api.py", "library_files/words.txt", "library_files/electrical/elements.lib"} <= packed
    assert "model_files/tripod/stage4.net" in packed and any(name.startswith("broken/") for name in models)
    sys.modules.pop("hatch_build", None)
