"""Typical mistakes in shipped models: the first message stands at the line of the mistake, or names what was misspelt."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from faults import LINES, OF_ELEMENTS, SLIP, faults

import netsim
from netsim.library.files import models_folder
from netsim.text import errors
from netsim.text.errors import NetsimError, render

EACH = 12
UNNAMED = {"misspelt_node": 1}
"""Mistakes of a kind that nothing names: a body that stands alone on a misspelt node falls, as one may want."""
KINDS = [*(make.__name__ for make in OF_ELEMENTS), *LINES]


def first_message(fault, folder):
    """What `netsim check` says first of a fault, written beside a copy of the model's folder."""
    path = folder / fault.model.relative_to(models_folder())
    path.write_text(fault.text, encoding="utf-8")
    errors._texts.clear()
    try:
        problems = netsim.load(path).check()
    except NetsimError as error:
        problems = error.problems
    return min(problems, key=lambda p: p.is_note, default=None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Folders like those of the models, with what they read."""
    found = tmp_path_factory.mktemp("models")
    (found / "mechanisms").mkdir()
    for path in models_folder().glob("*.csv"):
        (found / path.name).write_bytes(path.read_bytes())
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_message_names_the_line_of_a_mistake(kind, folder):
    silent = []
    for fault in faults(kind, EACH):
        said = first_message(fault, folder)
        shown = f"{fault.model.stem}, line {fault.line}: {fault.text.splitlines()[fault.line - 1]}\n{render(said) if said else 'nothing was said'}"
        there = said is not None and said.span is not None and said.span.line == fault.line
        if not there and not (said is not None and kind == "misspelt_node" and _names(said, fault)):
            silent.append(shown)
    assert len(silent) <= UNNAMED.get(kind, 0), "\n".join(silent)


def _names(said, fault):
    """Whether a message names the node that is misspelt, or the one that is meant."""
    words = {fault.word, fault.word.removesuffix(SLIP)}
    return bool(words & set(re.findall(r"\w+", f"{said.message} {said.hint}")))


def test_most_of_three_hundred_mistakes_are_named():
    assert EACH * len(KINDS) >= 300 and sum(UNNAMED.values()) <= 5
