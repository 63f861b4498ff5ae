"""Typical mistakes of a user, each put into a shipped model: the text, the line of the mistake, and a word the message must say.

A mistake is one slip of the hand or of the mind: a letter left out, a unit of something else, a comma forgotten, a node
misspelt. The first message must stand at its line, or name what was misspelt.
"""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from netsim.library.files import models_folder

ELEMENT = re.compile(r"^(\s*)([A-Za-z_]\w*)(\s+)([a-z]\w*)(\s*)\(([^()\[\]\n]+)\)(\s+)(\S.*)$")
"""An element with plain nodes and bindings: indent, name, component, nodes, bindings."""
BINDING = re.compile(r"(?<![\w.])([A-Za-z]\w*)\s*=\s*(-?\d+(?:\.\d+)?(?:e-?\d+)?)( [A-Za-z][\w./]*)?(?=\s*(?:,|$|  ))")
"""A parameter with a plain number."""
WORDS = frozenset(
    ["param", "count", "let", "start", "guess", "run", "save", "plot", "use", "world", "model", "component", "assert", "nominal", "measure"]
)

SLIP = "zz"
"""What a hand adds to the name of a node that it misspells."""


@dataclass(frozen=True)
class Fault:
    """A text with one mistake: where it is (0: nowhere, the message must say `word`)."""

    model: Path
    text: str
    line: int
    word: str


Made = tuple[str, str]
"""The line with its mistake, and the word."""


@cache
def models() -> tuple[Path, ...]:
    """Shipped netlists that say nothing when they are checked, the small ones."""
    found = [*models_folder().glob("*.net"), *(models_folder() / "mechanisms").glob("*.net")]
    return tuple(sorted(p for p in found if p.stem not in ("train", "coaxial_cable", "stewart_platform", "delta_robot")))


def elements(text: str) -> list[tuple[int, re.Match[str]]]:
    """Lines with an element of the network itself, not inside a block or with `for`."""
    found, inside = [], False
    for k, line in enumerate(text.split("\n")):
        if re.match(r"\s*(partial )?(model|component|domain|function)\b", line):
            inside = True
        if line.strip() == "end":
            inside = False
        match = ELEMENT.match(line)
        if match and not inside and match[2] not in WORDS and " for " not in line and "#" not in line:
            found.append((k, match))
    return found


def shortened(dice: random.Random, word: str) -> str:
    """A word with a letter left out, or doubled where it has one alone."""
    if len(word) < 3:
        return word + word[-1]
    at = dice.randrange(1, len(word))
    return word[:at] + word[at + 1 :]


def component(dice: random.Random, line: re.Match[str]) -> Made | None:
    """The component's name is misspelt."""
    wrong = shortened(dice, line[4])
    return _with(line, 4, wrong), wrong


def parameter(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A parameter's name is misspelt."""
    if not (found := list(BINDING.finditer(line[8]))):
        return None
    chosen = dice.choice(found)
    wrong = chosen[1] + dice.choice(["x", "_0", "1"])
    return _with(line, 8, line[8][: chosen.start(1)] + wrong + line[8][chosen.end(1) :]), wrong


def case(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A parameter's name has a letter of the other case."""
    if not (found := list(BINDING.finditer(line[8]))):
        return None
    chosen = dice.choice(found)
    return _with(line, 8, line[8][: chosen.start(1)] + chosen[1].swapcase() + line[8][chosen.end(1) :]), chosen[1].swapcase()


def other_unit(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A unit is one of another kind."""
    return _unit(dice, line, lambda unit: dice.choice([u for u in ("mol", "cd", "kg2", "m.K3") if u != unit]))


def misspelt_unit(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A unit that does not exist."""
    return _unit(dice, line, lambda unit: unit + "zz")


def unit_without_number(dice: random.Random, line: re.Match[str]) -> Made | None:
    """The number before a unit is forgotten."""
    found = [b for b in BINDING.finditer(line[8]) if b[3]]
    if not found:
        return None
    chosen = dice.choice(found)
    return _with(line, 8, line[8][: chosen.start(2)] + line[8][chosen.end(2) + 1 :]), ""


def decimal_comma(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A comma stands where a decimal point belongs."""
    found = [b for b in BINDING.finditer(line[8]) if "." in b[2]]
    if not found:
        return None
    chosen = dice.choice(found)
    return _with(line, 8, line[8][: chosen.start(2)] + chosen[2].replace(".", ",") + line[8][chosen.end(2) :]), ""


def parameters_together(dice: random.Random, line: re.Match[str]) -> Made | None:
    """The comma between two parameters is forgotten."""
    if not re.search(r"\w, [A-Za-z]\w* = ", line[8]):
        return None
    return _with(line, 8, re.sub(r"(\w), ([A-Za-z]\w* = )", r"\1 \2", line[8], count=1)), ""


def bracket(dice: random.Random, line: re.Match[str]) -> Made | None:
    """The bracket behind the nodes is forgotten."""
    return line.string[: line.end(6)] + " " + line.string[line.end(6) + 1 :], ""


def equals_sign(dice: random.Random, line: re.Match[str]) -> Made | None:
    """The sign between a parameter and its value is forgotten, or another."""
    return (_with(line, 8, line[8].replace("=", dice.choice(["", ":", "=="]), 1)), "") if "=" in line[8] else None


def too_few_nodes(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A node is forgotten."""
    nodes = line[6].split(",")
    return (_with(line, 6, ",".join(nodes[:-1])), "") if len(nodes) > 1 else None


def too_many_nodes(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A node too many."""
    return _with(line, 6, f"{line[6]}, ground, ground, ground"), ""


def misspelt_node(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A node's name is misspelt: a new node, which nothing else knows. Named by the message, or by its line."""
    nodes = [node.strip() for node in line[6].split(",")]
    known = [k for k, node in enumerate(nodes) if node != "ground" and re.fullmatch(r"[A-Za-z]\w*", node)]
    if not known:
        return None
    at = dice.choice(known)
    nodes[at] += SLIP
    return _with(line, 6, ", ".join(nodes)), nodes[at]


def twice(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A line was copied, and the name of its element was not changed. The second is at fault."""
    return f"{line.string}\n{line.string}", line[2]


def given_twice(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A parameter is given twice."""
    found = BINDING.search(line[8])
    return (_with(line, 8, f"{found[0].strip()}, {line[8]}"), found[1]) if found else None


def unknown_param(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A value is the name of nothing."""
    if not (found := list(BINDING.finditer(line[8]))):
        return None
    chosen = dice.choice(found)
    return _with(line, 8, line[8][: chosen.start(2)] + "amuont" + line[8][chosen.end() :]), "amuont"


def division_by_zero(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A value is divided by what is zero."""
    if not (found := list(BINDING.finditer(line[8]))):
        return None
    chosen = dice.choice(found)
    return _with(line, 8, f"{line[8][: chosen.end()]}/(2 - 2){line[8][chosen.end() :]}"), ""


def unknown_start(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A start of a quantity that the element has not."""
    return f"{line.string.rstrip()}, start qq = 1", "qq"


def semicolon(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A value ends in a letter of another alphabet, or a sign of another language."""
    return line.string.rstrip() + dice.choice([" @", " ?", " $", " !", " }"]), ""


def not_a_number(dice: random.Random, line: re.Match[str]) -> Made | None:
    """A number has two points, or a letter in it."""
    if not (found := list(BINDING.finditer(line[8]))):
        return None
    chosen = dice.choice(found)
    return _with(line, 8, line[8][: chosen.start(2)] + dice.choice(["1.2.3", "3O", "1e", "0x1F"]) + line[8][chosen.end(2) :]), ""


OF_ELEMENTS: tuple[Callable[[random.Random, re.Match[str]], Made | None], ...] = (
    component, parameter, case, other_unit, misspelt_unit, unit_without_number, decimal_comma, parameters_together, bracket, equals_sign,
    too_few_nodes, too_many_nodes, misspelt_node, twice, given_twice, unknown_param, division_by_zero, unknown_start, semicolon, not_a_number,
)  # fmt: skip

LINES = {
    "library": (r"use (\w+)", r"use \1x"),
    "option": (r"run\s+(\w+)\((\w+)", r"run \1(\2x"),
    "analysis": (r"run\s+(\w+)\(", r"run \1x("),
    "time with another unit": (r"(run\s+transient\(stop = [\d.e-]+) \w+", r"\1 m"),
    "saved node": (r"save\s+(\w+)\.", r"save \1zz."),
    "plotted node": (r"plot\s+(\w+)\.", r"plot \1zz."),
}
"""Mistakes in other lines: what is replaced, by what."""


def faults(kind: str, count: int, seed: int = 1) -> Iterator[Fault]:
    """Mistakes of a kind in models drawn at random, as many."""
    dice = random.Random(f"{kind} {seed}")
    made: set[str] = set()
    while len(made) < count:
        path = dice.choice(models())
        fault = _fault(dice, kind, path)
        if fault is not None and fault.text not in made:
            made.add(fault.text)
            yield fault


def _fault(dice: random.Random, kind: str, path: Path) -> Fault | None:
    text = path.read_text(encoding="utf-8")
    rows = text.split("\n")
    if kind in LINES:
        pattern, new = LINES[kind]
        places = [k for k, row in enumerate(rows) if re.match(pattern, row)]
        if not places:
            return None
        at = dice.choice(places)
        rows[at] = re.sub(pattern, new, rows[at], count=1)
        return Fault(path, "\n".join(rows), at + 1, "")
    found = elements(text)
    make = next(each for each in OF_ELEMENTS if each.__name__ == kind)
    if not found:
        return None
    at, line = dice.choice(found)
    made = make(dice, line)
    if made is None or made[0] == rows[at]:
        return None
    rows[at] = made[0]
    return Fault(path, "\n".join(rows), at + 1 + (kind == "twice"), made[1])


def _with(line: re.Match[str], group: int, new: str) -> str:
    return line.string[: line.start(group)] + new + line.string[line.end(group) :]


def _unit(dice: random.Random, line: re.Match[str], new: Callable[[str], str]) -> Made | None:
    found = [b for b in BINDING.finditer(line[8]) if b[3]]
    if not found:
        return None
    chosen = dice.choice(found)
    wrong = new(chosen[3].strip())
    return _with(line, 8, line[8][: chosen.start(3) + 1] + wrong + line[8][chosen.end(3) :]), ""
