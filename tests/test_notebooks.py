"""The notebooks of examples/ run from their first cell to their last, and their own assertions hold."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))


def outputs(notebook):
    """Pictures and values that each cell shows; their number, since pictures differ by version.
    The line that tells how far a run is leaves nothing."""
    return [
        sum(o.output_type != "stream" and o.get("data", {}).get("text/html") != "" for o in cell.outputs)
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    shown = outputs(notebook)
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    assert outputs(notebook) == shown, "run it again and keep what it shows"
    assert any("assert " in cell.source for cell in notebook.cells), "it checks a number"


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 2
