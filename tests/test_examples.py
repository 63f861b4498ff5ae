"""Every numbered example computes, and its own assertions hold; none of them draws when imported."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(FOLDER.glob("[0-9][0-9]_*.py"))


def test_examples_are_numbered_without_gaps():
    assert [int(path.name[:2]) for path in SCRIPTS] == list(range(1, len(SCRIPTS) + 1))
    assert {path.name for path in FOLDER.glob("*.py")} == {path.name for path in SCRIPTS}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_example(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.__doc__ and "assert " in path.read_text(encoding="utf-8"), "an example says what it shows, and checks it"
    assert module.compute() is not None
