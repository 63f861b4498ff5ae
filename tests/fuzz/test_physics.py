"""Mistakes of physics in shipped models: the first message names what is at fault, or stands at its line."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from named import beside_models, first_message, names_fault, names_marked
from physical import faults

from netsim.library.files import models_folder
from netsim.text.errors import render

FAULTS = list(faults())
UNNAMED = {"guide across the motion"}
"""What nothing names: several axes of the slider-crank could be the wrong one."""
BROKEN = sorted((models_folder() / "broken").glob("*.net"))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.kind} ({fault.model.stem})")
def test_message_names_what_is_at_fault(fault, tmp_path):
    said = first_message(fault.text, fault.model, beside_models(tmp_path), True)
    assert names_fault(said, fault) == (fault.kind not in UNNAMED), render(said) if said else "nothing was said"


def test_first_message_of_a_broken_text_stands_at_its_mark():
    assert [path.stem for path in BROKEN if not names_marked(path)] == []


def test_nearly_all_are_named():
    assert len(FAULTS) + len(BROKEN) >= 300 and len(UNNAMED) <= 0.02 * len(FAULTS)
