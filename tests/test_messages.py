"""Every netlist in models/broken gives exactly the problems its first lines announce, at the marked lines; healthy models give none."""

import re
from pathlib import Path

import pytest

from netsim.api import load
from netsim.library.files import models_folder
from netsim.text.errors import NetsimError, Problem, render

BROKEN = sorted((models_folder() / "broken").glob("*.net"))
HEALTHY = sorted(models_folder().glob("*.net"))
EXPECT = re.compile(r"# expect: ([EN]\d{3})(?: (.*))?$")
MARKER = re.compile(r"# <-\s*$")


def problems_of(path: Path) -> list[Problem]:
    """What `netsim check` would say, and, where that is silent, what a run says."""
    try:
        model = load(path)
        problems = model.check()
        if not errors(problems) and model.network.runs:
            runs = model.samples()
            problems += [s.attributes["failure"] for s in runs if "failure" in s.attributes] + [p for s in runs for p in s.broken]
        return problems
    except NetsimError as error:
        return list(error.problems)


def errors(problems: list[Problem]) -> list[Problem]:
    return [p for p in problems if not p.is_note]


def expectations(text: str) -> list[tuple[str, str]]:
    found = [EXPECT.match(line) for line in text.splitlines()]
    return [(match[1], match[2] or "") for match in found if match]


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_broken_netlist_gives_its_message(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    wanted, found = expectations(text), errors(problems_of(path))
    shown = "\n".join(map(render, found)) or "no problem was reported"
    assert wanted, "the first line must say what to expect"
    for code, fragment in wanted:
        assert any(p.code == code and fragment in p.message for p in found), shown
    for problem in found:
        assert any(problem.code == code and fragment in problem.message for code, fragment in wanted), shown
    marked = [i for i, line in enumerate(text.splitlines(), 1) if MARKER.search(line)]
    assert sorted({p.span.line for p in found if p.span and p.span.file == str(path)}) == marked, shown
    assert all(p.span is not None for p in found), shown


@pytest.mark.parametrize("path", BROKEN, ids=lambda path: path.stem)
def test_message_points_at_text_and_is_short(path: Path) -> None:
    for problem in problems_of(path):
        lines = render(problem).splitlines()
        assert len(problem.message) <= 160
        assert "None" not in problem.message and "<" not in problem.message.replace("<=", "").replace(" < ", "")
        if problem.span is not None:
            assert any("^" in line for line in lines), "\n".join(lines)


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.stem)
def test_healthy_model_has_no_problem(path: Path) -> None:
    problems = load(path).check()
    assert not errors(problems), "\n".join(map(render, problems))


def test_sweep_covers_the_kinds_of_mistakes() -> None:
    codes = {code for path in BROKEN for code, _ in expectations(path.read_text(encoding="utf-8"))}
    assert len(BROKEN) >= 32
    assert {"E301", "E302", "E303", "E304", "E305", "E306", "E309", "E310", "E312"} <= codes
    assert {code[:2] for code in codes} >= {"E1", "E2", "E3", "E4"}
