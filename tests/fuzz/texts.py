"""The texts that are mutated: every shipped model and circuit, and the components of the library."""

import random
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from mutations import ANY, OF_COMPONENTS, OF_NUMBERS, damages, noise, tables

import netsim
from netsim.library.files import models_folder
from netsim.results.files import write

LARGE = frozenset(["stage2", "stage3", "stage4", "inverse", "gevorkian2022", "ring", "nfourbar", "rc_ladder", "train", "coaxial_cable"])
"""Models of which one in ten is taken that was drawn: their checks take up to seconds."""
WAITING = frozenset(f"{kind}_stage{k}" for kind in ("elastic", "bending") for k in (2, 3, 4))
"""Models that are checked alone: an optimal motion is prepared in their runs, or before, for longer than a hang."""
BLOCK = re.compile(r"^(?:partial )?component (\w+).*?^end$", re.MULTILINE | re.DOTALL)
USED = re.compile(r"^use (\w+)", re.MULTILINE)
STOP = re.compile(r"stop = ([\d.]+(?:e[-+]?\d+)?)")
TABLE = re.compile(r'"([\w./]+\.csv)"')
RC = """use electrical
v1 voltage (a, ground) v = 1 V
r1 resistor (a, b) R = 1 Ohm
c1 capacitor (b, ground) C = 1 mF
measure last = final(b.v)
save b.v
run transient(stop = 1 ms)
"""
TRAN = re.compile(r"^\.tran +(\S+) +(\d+(?:\.\d+)?)", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Case:
    """A mutated text, the file it came from, and whether it is to be run (else checked)."""

    number: int
    origin: Path  # from the folder that holds `models`
    text: str
    runs: bool
    table: str | None = None
    """What stands in `mutant.csv`, which the text reads as its table."""
    result: bytes = b""
    """A result that is read, instead of a text."""


@cache
def sources() -> tuple[Path, ...]:
    """Files of models and circuits, the broken ones among them."""
    found = [p for p in models_folder().rglob("*") if p.suffix in (".net", ".cir", ".urdf")]
    return tuple(sorted(found))


@cache
def with_tables() -> tuple[Path, ...]:
    """The models that read a table."""
    tables = {p: TABLE.search(p.read_text(encoding="utf-8")) for p in sources() if p.suffix == ".net"}
    return tuple(
        p for p, found in tables.items() if found and (p.parent / found[1]).is_relative_to(models_folder()) and (p.parent / found[1]).exists()
    )


@cache
def components(library: str) -> tuple[str, ...]:
    """The components of a shipped library as text."""
    folder = models_folder().parent / "library"
    files = sorted((folder / library).glob("*.lib")) or [folder / f"{library}.lib"]
    return tuple(match[0] for file in files if file.exists() for match in BLOCK.finditer(file.read_text(encoding="utf-8")))


def case(seed: int, number: int, share: float = 0.06) -> Case:
    """The text number `number` of a seed; `share` of them are to be run, for a fiftieth of their time."""
    dice = random.Random(f"{seed} {number}")
    runs = dice.random() < share
    of = dice.random()
    if of < 0.03:
        return _with_a_table(dice, number, dice.random() < 0.2)
    if of > 0.99:
        return _result(dice, number)
    path = dice.choice(sources())
    while (path.stem in LARGE and dice.random() < 0.9) or (runs and path.parent.name == "broken" and dice.random() < 0.8):
        path = dice.choice(sources())
    runs = runs and path.stem not in WAITING
    text = path.read_text(encoding="utf-8")
    kind = dice.random()
    if runs:
        text = TRAN.sub(lambda m: f".tran {m[1]} {float(m[2]) / 20:g}", STOP.sub(lambda m: f"stop = {float(m[1]) / 50:.6g}", text))
        mutations = OF_NUMBERS if kind < 0.6 else ANY
    elif kind < 0.04:
        return Case(number, path.relative_to(models_folder().parent), noise(dice, text), False)
    else:
        mutations = ANY
    if path.suffix == ".net" and dice.random() < 0.3 and (own := _component(dice, text)):
        return Case(number, path.relative_to(models_folder().parent), f"{text}\n{own}\n", runs)
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        text = dice.choice(mutations)(dice, text)
    return Case(number, path.relative_to(models_folder().parent), text, runs)


def _with_a_table(dice: random.Random, number: int, runs: bool) -> Case:
    """A model whose table is mutated."""
    path = dice.choice(with_tables())
    text = path.read_text(encoding="utf-8")
    table = (path.parent / TABLE.search(text)[1]).read_text(encoding="utf-8")
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        table = tables(dice, table) or "\n"
    return Case(number, path.relative_to(models_folder().parent), TABLE.sub('"mutant.csv"', text), runs, table)


@cache
def results() -> dict[str, bytes]:
    """Results by their extension: of a run, of several, of a sweep."""
    model = netsim.load(RC)
    run, many = model.transient(stop=1e-3, sample=1e-5), model.sweep(over={"r1.R": (1, 2)}, points=3, stop=1e-3)
    found = dict[str, bytes]()
    with TemporaryDirectory() as name:
        for kind, each in {"one.csv": run, "one.nc": run, "two.nc": [run, run], "cases.csv": many, "cases.nc": many}.items():
            (file,) = write(each, Path(name) / kind)
            found[kind] = file.read_bytes()
    return found


def _result(dice: random.Random, number: int) -> Case:
    """A result whose bytes are others, or whose numbers as text."""
    kind = dice.choice(sorted(results()))
    content = results()[kind]
    for _ in range(dice.choice([1, 1, 2, 3])):
        if kind.endswith(".csv") and dice.random() < 0.7:
            content = (tables(dice, content.decode(errors="replace")) or "\n").encode(errors="replace")
        else:
            content = damages(dice, content or b"\n") or b"\n"
    return Case(number, Path("models") / kind, "", False, result=content)


def _component(dice: random.Random, text: str) -> str:
    """A component that the text uses, mutated, to stand beside it; empty where it uses none."""
    owned = [block for library in USED.findall(text) for block in components(library)]
    wanted = [block for block in owned if block.partition("component ")[2].split()[0] in text.split()] or owned
    if not wanted:
        return ""
    block = dice.choice(wanted)
    for _ in range(dice.choice([1, 1, 2])):
        block = dice.choice(OF_COMPONENTS)(dice, block)
    return block
