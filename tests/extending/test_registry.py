"""A folder is a registry: a file that is put into it is found, and nothing else has to name it."""

import shutil
import sys
from pathlib import Path

import pytest

from netsim import analyses, formats
from netsim.analyses.analysis import Analysis
from netsim.core import methods
from netsim.core.method import Method
from netsim.formats.format import Format
from netsim.text.registry import Registry

HERE = Path(__file__).parent
CASES = [
    (methods, Method, "bdf2.py", {"bdf2"}),
    (analyses, Analysis, "differences.py", {"differences"}),
    (formats, Format, "toml_netlist.py", {"toml", "dat"}),
]


@pytest.mark.parametrize(("folder", "kind", "file", "names"), CASES, ids=lambda value: value if isinstance(value, str) else "")
def test_a_file_in_the_folder_is_enough(tmp_path, monkeypatch, folder, kind, file, names):
    before = Registry(folder, kind)
    shutil.copy(HERE / file, tmp_path)
    monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
    try:
        assert set(Registry(folder, kind)) - set(before) == names
    finally:
        del sys.modules[f"{folder.__name__}.{file.removesuffix('.py')}"]
        delattr(folder, file.removesuffix(".py"))


def test_modules_of_one_name_are_all_found():
    """`netlist.py` is in the folder of SPICE and in that of robots."""
    found = Registry(formats, Format)
    assert {"csv", "netcdf", "spice", "urdf"} <= set(found)
    assert "no format" not in found and len(found) == len(set(found))


def test_two_records_of_one_name_are_refused(tmp_path, monkeypatch):
    text = "from netsim.formats.format import Format\nFORMAT = Format('csv', ('.tab',))\n"
    (tmp_path / "second.py").write_text(text)
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    try:
        with pytest.raises(ValueError, match=r"two modules provide 'csv', one of them is netsim\.formats\.second"):
            list(Registry(formats, Format))
    finally:
        del sys.modules["netsim.formats.second"], formats.second
