"""Typical mistakes in shipped models: the first message stands at the line of the mistake, or names what was misspelt."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from faults import faults
from named import EACH, KINDS, beside_models, first_message, names_slip

from netsim.text.errors import render

UNNAMED = {"misspelt_node": 5}
"""Mistakes of a kind that nothing names: two bodies, an inertia, a heat capacity and a motor's shaft alone on misspelt nodes, as one may want."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return beside_models(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("kind", KINDS)
def test_message_names_the_line_of_a_mistake(kind, folder):
    silent = []
    for slip in faults(kind, EACH):
        said = first_message(slip.text, slip.model, folder, False)
        if not names_slip(said, slip, kind):
            line = slip.text.splitlines()[slip.line - 1]
            silent.append(f"{slip.model.stem}, line {slip.line}: {line}\n{render(said) if said else 'nothing was said'}")
    assert len(silent) <= UNNAMED.get(kind, 0), "\n".join(silent)


def test_most_of_three_hundred_mistakes_are_named():
    assert EACH * len(KINDS) >= 300 and sum(UNNAMED.values()) <= 5
