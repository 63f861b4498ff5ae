"""Every code block of README.md and docs/*.md is carried out, in a folder and a name space of its page's own.

    ```netlist     parsed, checked (no error), and run if it has a `run` line
    ```component   domains, components or models: checked as a library
    ```python      executed; an ```output block right behind it is what it prints
    ```console     `$ netsim ...` runs, the lines below it are what it prints; `$ make ...` and `$ source ...` are for the reader

A first line `# file: NAME` also writes the block to NAME in the page's folder, for the blocks below it. In shown output `...` stands for
anything: within a line, or alone on a line for any number of lines. A command that shows an error code ` E123 ` must end with status 2,
every other one with 0. A netlist or component block that shows such a code in its info line (```netlist E226) must be refused with it.
Blocks in other languages (text) are not read.
"""

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

import netsim
from netsim.cli import main
from netsim.library import files
from netsim.library.files import check_library, collect
from netsim.text.errors import InputError, render
from netsim.text.expressions.functions import FUNCTIONS
from netsim.text.grammar.words import LINE_WORDS, RESERVED
from netsim.text.parse import parse
from netsim.text.units import KNOWN_NAMES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass
class Block:
    language: str
    code: str
    text: str
    line: int
    output: str | None = None


def blocks(page):
    """The blocks of a page; an `output` block is kept with the one before it."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        language, _, code = match[1].partition(" ")
        block = Block(language, code.strip(), match[2], text[: match.start()].count("\n") + 1)
        if language == "output":
            found[-1].output = match[2]
        else:
            found.append(block)
    return found


def alike(shown, printed):
    """Whether the output is what is shown, `...` standing for anything."""
    pattern = r"\s*\n".join(re.escape(line.rstrip()).replace(r"\.\.\.", ".*?") for line in shown.strip("\n").split("\n"))
    return re.fullmatch(pattern, printed.strip("\n").rstrip(), re.DOTALL) is not None


def write_named(block):
    """The block under its `# file:` name, if it has one."""
    name = re.match(r"# file: (\S+)\n", block.text)
    if name:
        Path(name[1]).write_text(block.text[name.end() :], encoding="utf-8")
    return name[1] if name else ""


def netlist(block, space):
    name = write_named(block)
    source = Path(name) if name else block.text
    if block.code:
        with pytest.raises(InputError) as caught:
            model = netsim.load(source)
            raise InputError([p for p in model.check() if not p.is_note])
        assert [p.code for p in caught.value.problems] == block.code.split(), str(caught.value)
        return
    model = netsim.load(source)
    assert not [render(p) for p in model.check() if not p.is_note]
    for samples in model.samples() if model.network.runs else ():
        assert samples.finished, samples.message


def component(block, space):
    name = write_named(block)
    library = collect(parse(block.text, name or "<block>"))
    problems = check_library(library)
    assert [p.code for p in problems] == block.code.split(), "\n".join(map(render, problems))
    assert library.components


def python(block, space):
    write_named(block)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.text, f"block at line {block.line}", "exec"), space)
    if block.output is not None:
        assert alike(block.output, printed.getvalue()), printed.getvalue()


def console(block, space):
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        program, *arguments = shlex.split(command, comments=True)
        if program in ("make", "source"):
            continue
        assert program == "netsim", f"line {block.line}: only netsim, make and source are shown"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            status = main(arguments)
        assert status == (2 if re.search(r"\bE\d{3} ", shown) else 0), printed.getvalue()
        assert not shown.strip() or alike(shown, printed.getvalue()), printed.getvalue()


CARRY_OUT = {"netlist": netlist, "component": component, "python": python, "console": console}


def carry_out(page):
    """All blocks of a page in the present folder; raises AssertionError at the first one that is wrong."""
    space = {"__name__": "page"}
    for block in blocks(page):
        assert block.language in (*CARRY_OUT, "text"), f"{page.name}:{block.line}: no such kind of block: '{block.language}'"
        if block.language != "text":
            try:
                CARRY_OUT[block.language](block, space)
            except (Exception, SystemExit) as wrong:
                raise AssertionError(f"{page.name}:{block.line}: {wrong}") from wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "given", {})  # what a page defines is for that page
    carry_out(page)


def test_shown_output_is_compared():
    assert alike("a ... c\n...\nd", "a b c\nx\ny\nd\n")
    assert not alike("a ... c", "a b d") and not alike("a", "a\nb")


def test_the_first_netlist_is_the_shipped_one():
    shown = next(b for b in blocks(ROOT / "README.md") if b.language == "netlist")
    assert shown.text.split("\n", 1)[1] == (ROOT / "models/two_masses.net").read_text(encoding="utf-8").split("\n", 1)[1]


def section(title):
    """The text of the language reference from a headline to the next one."""
    text = (ROOT / "docs/language.md").read_text(encoding="utf-8")
    rest = re.search(rf"^#+ {re.escape(title)}\n(.*)", text, re.MULTILINE | re.DOTALL)[1]
    return re.split(r"^#+ ", rest, flags=re.MULTILINE)[0]


def rows(title):
    """First cells of a section's table, their words in back quotes."""
    lines = [line for line in section(title).splitlines() if line.startswith("| `")]
    return [re.findall(r"`([^`]+)`", line.split("|")[1]) for line in lines]


def test_every_function_is_in_the_reference():
    shown = {re.match(r"\w+", call)[0] for cell in rows("Functions") for call in cell}
    assert shown == {*FUNCTIONS, "der", "delayed", "scale", "table"}


def test_arguments_of_functions_of_time_are_those_of_the_reference():
    shown = {call[: call.index("(")]: re.findall(r"\w+", call[call.index("(") :]) for cell in rows("Functions") for call in cell}
    for name in ("step", "ramp", "pulse", "sine", "bell", "atan2", "mod", "cross", "dot"):
        assert shown[name] == list(FUNCTIONS[name].parameters), name


def test_every_unit_is_in_the_reference():
    shown = {unit for cell in rows("Units") for unit in cell}
    assert shown <= set(KNOWN_NAMES)
    prefixes = {prefix for cell in rows("Prefixes") for prefix in cell}
    prefixed = [line.split("|")[1] for line in section("Units").splitlines() if line.endswith("| yes |")]
    takes_prefix = {unit for cell in prefixed for unit in re.findall(r"`([^`]+)`", cell)}
    assert set(KNOWN_NAMES) - {p + u for p in prefixes for u in takes_prefix} <= shown


def test_reserved_words_are_those_of_the_reference():
    shown = [line for line in section("Words").splitlines() if line.startswith("    ")]
    assert set(" ".join(shown).split()) == RESERVED
    text = section("Words")
    for word in LINE_WORDS["domain"] | LINE_WORDS["component"] | LINE_WORDS["netlist"]:
        assert f"`{word}`" in text, word


def test_links_lead_somewhere():
    pages = [*PAGES, *(ROOT / "docs/decisions").glob("*.md")]
    for page, target in [(p, t) for p in pages for t in re.findall(r"\]\(([^)#]+)[^)]*\)", p.read_text(encoding="utf-8"))]:
        assert target.startswith("http") or (page.parent / target).exists(), f"{page.name}: {target}"


def test_decision_records_are_short_and_listed():
    folder = ROOT / "docs/decisions"
    index, records = (folder / "README.md").read_text(encoding="utf-8"), sorted(folder.glob("0*.md"))
    assert len({record.name[:4] for record in records}) == len(records), "two records have one number"
    for record in records:
        lines = record.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 40 and max(map(len, lines)) <= 120, record.name
        assert f"({record.name}) {lines[0].removeprefix('# ')}\n" in index, f"{record.name} is not in the index under its title"
        for part in ("Context", "Decision", "Measured", "Consequences"):
            assert sum(line.startswith(f"**{part}.** ") for line in lines) == 1, f"{record.name}: {part}"


def test_sections_are_numbered_in_order():
    for name in ("tutorial.md",):
        numbers = [int(n) for n in re.findall(r"^## (\d+)\. ", (ROOT / "docs" / name).read_text(encoding="utf-8"), re.MULTILINE)]
        assert numbers and all(b - a == 1 for a, b in pairwise(numbers))
