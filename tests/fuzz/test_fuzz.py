"""Texts changed at random end in a result or in words: three hundred of fixed seeds. `make fuzz` tries as many as one likes."""

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from texts import case
from trial import REFUSED, SUCCEEDED, WRONG

from fuzz import outcomes, tally


@pytest.mark.parametrize("seed", range(101, 106))
def test_mutated_texts_end_in_a_result_or_in_words(seed):
    found = [(number, ran, outcome) for number, ran, outcome in outcomes(seed, 0, float("inf"), 60, 0.03)]
    wrong = [(seed, number, outcome) for number, _, outcome in found if outcome.result in WRONG]
    assert not wrong, tally(Counter(("run" if ran else "check", outcome.result) for _, ran, outcome in found))
    assert {REFUSED, SUCCEEDED} <= {outcome.result for *_, outcome in found}


def test_text_follows_from_its_seed_and_number():
    assert case(1, 7) == case(1, 7)
    assert len({case(1, number).text for number in range(100)}) > 95
