"""Mistakes of physics in shipped models: the first message names what is at fault, or stands at its line."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from physical import faults

import netsim
from netsim.library.files import models_folder
from netsim.text import errors
from netsim.text.errors import NetsimError, render

FAULTS = list(faults())
UNNAMED = {"guide across the motion"}
"""What nothing names: several axes of the slider-crank could be the wrong one."""
SPELLING = ("E206", "E226", "E227", "E421")
"""What is told of names: no mistake of physics is told so."""


def first_message(fault, folder):
    """What check and run say first."""
    path = folder / fault.model.relative_to(models_folder())
    path.parent.mkdir(exist_ok=True)
    path.write_text(fault.text, encoding="utf-8")
    errors._texts.clear()
    try:
        model = netsim.load(path)
        found = [p for p in model.check() if not p.is_note]
        runs = [] if found else model.samples()
    except NetsimError as error:
        return error.problems[0]
    told = [p for s in runs for p in (s.attributes.get("failure"), *s.broken, *s.warnings) if p]
    return min([*found, *told, *([] if found else model.check())], key=lambda p: p.is_note, default=None)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.kind} ({fault.model.stem})")
def test_message_names_what_is_at_fault(fault, tmp_path):
    for path in models_folder().glob("*.csv"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    said = first_message(fault, tmp_path)
    assert said is not None, "nothing was said"
    words = set(re.findall(r"\w+", f"{said.message} {said.hint}"))
    there = said.span is not None and said.span.line in fault.lines
    assert said.code not in SPELLING, render(said)
    assert (there or bool(words & fault.names)) == (fault.kind not in UNNAMED), render(said)


def test_nearly_all_are_named():
    assert len(FAULTS) >= 80 and len(UNNAMED) <= 0.02 * len(FAULTS)
