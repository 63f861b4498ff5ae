"""A text changed at random: by characters, by tokens, by what tokens mean, by lines; and noise that was never a text."""

import random
import re
from collections.abc import Callable

from netsim.text.grammar.words import LINE_WORDS, RESERVED

TOKEN = re.compile(r'"[^"\n]*"|[A-Za-z_]\w*|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\s+|\S')
NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
QUANTITY = re.compile(r"(?<=\d )[A-Za-z]\w*(?:[./]\w+)*")
NODES = re.compile(r"^(\s*[A-Za-z_]\S*\s+\w+\s*)\(([^()\n]*)\)", re.MULTILINE)
BINDING = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(\s*=\s*)([^,=()\[\]\n]+)")
CALL = re.compile(r"\b(?:sin|cos|sqrt|exp|log|abs|sign|max|min|atan2|norm|step|ramp|bell|sine|der|delayed|pre|if|dot|cross)\b")
NUMBERS = [
    "0",
    "-1",
    "1",
    "2",
    "3",
    "0.5",
    "1e-300",
    "1e300",
    "1e-12",
    "1e12",
    "1e400",
    "-0.0",
    "1e9",
    "65536",
    "0.1",
    "nan",
    "inf",
    "9^9^9",
    "(0/0)",
    "(1/0)",
    "pi",
    "time",
]
UNITS = [
    "m",
    "kg",
    "s",
    "A",
    "V",
    "K",
    "N",
    "Pa",
    "Ohm",
    "F",
    "H",
    "Hz",
    "rad",
    "deg",
    "degC",
    "rpm",
    "mm",
    "kOhm",
    "uF",
    "1/s",
    "N/m",
    "N.s/m",
    "kg.m2",
    "m/s2",
    "W.h",
    "1",
    "l",
    "bar",
    "percent",
    "Nm",
    "meter",
]
FUNCTIONS = [
    "sqrt",
    "log",
    "exp",
    "abs",
    "sign",
    "der",
    "atan2",
    "min",
    "max",
    "norm",
    "floor",
    "delayed",
    "pre",
    "asin",
    "tan",
    "step",
    "integral",
    "mean",
    "unknown",
]
SIGNS = [*"+-*/^=<>(),;:.[]{}#\"'&|!?%$@~", "==", "<=", "..", "\\", "\n", "\t", "\0", "°", "µ", "−", "\u00a0", "\r"]
WORDS = sorted(RESERVED.union(*LINE_WORDS.values()))
LINES = (
    "run transient(stop = 1 s)", "run static()", "run modal(modes = 3)", "run inverse(track = [a.x = 1 mm*time], actuators = [s])",
    "run recursion(stop = 1 s)", "end", "model q (a)", "component q (p, n : electrical)", "start a.v = 1", "guess a.x = 1 m",
    "world gravity = [0, 0, 0] m/s2", "use spatial", "use planar", "use electrical", "save *", "plot time", "measure z = final(a.v)",
    'assert a.v < 1 V "low"', "count n = 3", "param p = q", "param q = p", "let u = u", "table t = \"none.csv\"", "nominal a.v = 1 V",
)  # fmt: skip
OPTIONS = (
    ", step = 1 ms", ", method = euler", ", method = bdf", ", method = radau", ", method = generalized_alpha", ", method = trbdf2",
    ", formulation = tree", ", formulation = absolute", ", rtol = 1e-8", ", rtol = 0.5", ", forces = none", ", from = rest", ", every = 3",
    ", sample = 1 us", ", atol = 1e-30", ", max_step = 1 fs",
)  # fmt: skip

Dice = random.Random
Mutation = Callable[[Dice, str], str]


def _replaced(dice: Dice, text: str, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]) -> str:
    """One match of the pattern, drawn at random, is replaced; the text itself where there is none."""
    found = list(pattern.finditer(text))
    if not found:
        return text
    match = dice.choice(found)
    return text[: match.start()] + new(match) + text[match.end() :]


def characters(dice: Dice, text: str) -> str:
    """A character is left out, doubled, or another."""
    at = dice.randrange(len(text) + 1)
    return text[:at] + dice.choice(["", text[at : at + 1] * 2, dice.choice(SIGNS), chr(dice.randrange(1, 0x3000))]) + text[at + 1 :]


def tokens(dice: Dice, text: str) -> str:
    """A token is left out, doubled, exchanged with another, or replaced."""
    parts = TOKEN.findall(text)
    solid = [k for k, part in enumerate(parts) if part.strip()]
    if not solid:
        return text
    i, j = dice.choice(solid), dice.choice(solid)
    pool = dice.choice([SIGNS, NUMBERS, WORDS, UNITS, FUNCTIONS, parts])
    change = dice.randrange(5)
    if change == 0:
        parts[i] = ""
    elif change == 1:
        parts[i] += f" {parts[i]}"
    elif change == 2:
        parts[i], parts[j] = parts[j], parts[i]
    elif change == 3:
        parts[i] = dice.choice(pool)
    else:
        parts.insert(i, f" {dice.choice(pool)} ")
    return "".join(parts)


def numbers(dice: Dice, text: str) -> str:
    """A number is extreme, or larger, or smaller, or of the other sign."""

    def new(match: re.Match[str]) -> str:
        factor = dice.choice([-1.0, 0.0, 0.5, 2.0, 1e-6, 1e3, 1e6, 1e-3, 1.000001])
        return dice.choice([dice.choice(NUMBERS), f"{float(match[0]) * factor:.9g}".removesuffix("inf")])

    return _replaced(dice, text, NUMBER, new)


def units(dice: Dice, text: str) -> str:
    """A unit is another one, or none."""
    return _replaced(dice, text, QUANTITY, lambda match: dice.choice([*UNITS, ""]))


def names(dice: Dice, text: str) -> str:
    """A name is misspelt, or that of something else in the text."""
    known = NAME.findall(text)

    def new(match: re.Match[str]) -> str:
        name, at = match[0], dice.randrange(len(match[0]))
        return dice.choice([name[:at] + name[at + 1 :] or "x", name + "x", dice.choice(known), name.swapcase(), f"{dice.choice(known)}.{name}"])

    return _replaced(dice, text, NAME, new)


def connections(dice: Dice, text: str) -> str:
    """The nodes of an element: one is another, all are turned round, one is too many or too few."""
    known = [node.strip() for found in NODES.finditer(text) for node in found[2].split(",")]

    def new(match: re.Match[str]) -> str:
        nodes = [node.strip() for node in match[2].split(",")]
        at, change = dice.randrange(len(nodes)), dice.randrange(6)
        if change < 3:
            nodes[at] = dice.choice(["ground", "nowhere", *known])
        elif change == 3:
            nodes.reverse()
        elif change == 4:
            nodes.insert(at, dice.choice(known))
        else:
            del nodes[at]
        return f"{match[1]}({', '.join(nodes)})"

    return _replaced(dice, text, NODES, new)


def bindings(dice: Dice, text: str) -> str:
    """The value of a parameter is that of another, or wrapped into an expression; the parameter is left out or doubled."""
    values = [found[3].strip() for found in BINDING.finditer(text)] or ["0"]

    def new(match: re.Match[str]) -> str:
        value, other = match[3].strip(), dice.choice(values)
        wrapped = [other, f"-({value})", f"({value}) + {other}", f"({value})*time", f"{dice.choice(FUNCTIONS)}({value})", f"[{value}, {other}]", ""]
        wrapped += [f"{value}, {match[1]} = {other}", f"if time > 1 s then {value} else {other}", f"({value})/0", f"({value})*(1 + 1e-12*time/(1 s))"]
        return f"{match[1]}{match[2]}{dice.choice(wrapped)}"

    return _replaced(dice, text, BINDING, new)


def functions(dice: Dice, text: str) -> str:
    """A function is another one, or a name is wrapped into one."""
    if dice.random() < 0.5:
        return _replaced(dice, text, CALL, lambda match: dice.choice(FUNCTIONS))
    return _replaced(dice, text, NAME, lambda match: f"{dice.choice(FUNCTIONS)}({match[0]})")


def lines(dice: Dice, text: str) -> str:
    """A line is left out, doubled, moved, cut, joined to the next, or a stranger stands among them."""
    rows = text.split("\n")
    i, j, change = dice.randrange(len(rows)), dice.randrange(len(rows)), dice.randrange(7)
    if change == 0:
        del rows[i]
    elif change == 1:
        rows.insert(j, rows[i])
    elif change == 2:
        rows.insert(j, re.sub(r"^(\s*\w+)", r"\1_2", rows[i]))
    elif change == 3:
        rows[i], rows[j] = rows[j], rows[i]
    elif change == 4:
        rows[i] = rows[i][: dice.randrange(len(rows[i]) + 1)]
    elif change == 5:
        rows[i] += rows.pop(i + 1) if i + 1 < len(rows) else ";"
    else:
        rows.insert(i, dice.choice(LINES))
    return "\n".join(rows)


def starts(dice: Dice, text: str) -> str:
    """A start or guess more: of what is saved, of a node, or beside the bindings of an element."""
    word, value = dice.choice(["start", "start", "guess"]), dice.choice(["", "1", "0", "1 mm", "1 V", "-1e3", "1e9", "1 rad/s", "0.1 A"])
    value = f" = {value}" if value else ""
    owners = [owner for found in NODES.finditer(text) for owner in (found[1].split()[0], *re.split(r"\s*,\s*", found[2]))]
    if not owners:
        return text
    quantity = dice.choice(["x", "v", "f", "q", "rate", "i", "phi", "w", "t", "r", "T", "p", "e", "axes", "a"])
    if dice.random() < 0.4:
        return _replaced(dice, text, BINDING, lambda match: f"{match[0].rstrip()}, {word} {quantity}{value}")
    return f"{text}\n{word} {dice.choice(owners)}.{quantity}{value}\n"


def options(dice: Dice, text: str) -> str:
    """A run has an option more."""
    return _replaced(dice, text, re.compile(r"(run\s+\w+\([^\n]*)\)"), lambda match: f"{match[1]}{dice.choice(OPTIONS)})")


CELLS = ("", " ", "nan", "inf", "-inf", "1e400", "1e-320", "x", "1,5", "1_000", "0x10", '"3"', '"', "1 m", "--1", "\0", "é", "9" * 400)
SEPARATORS = (";", "\t", " ", ", ", "|", ",,")


def tables(dice: Dice, text: str) -> str:
    """A table: a cell is no number, or none; a row is too short, too long, twice there, out of order; another separator, other ends of lines, no
    head, nothing but the head, nothing."""
    rows = [line.split(",") for line in text.splitlines()]
    i, j, change = dice.randrange(len(rows)), dice.randrange(len(rows)), dice.randrange(10)
    if change < 3:
        rows[i][dice.randrange(len(rows[i]))] = dice.choice(CELLS)
    elif change == 3:
        rows[i] = rows[i][:-1] if dice.random() < 0.5 else [*rows[i], dice.choice(CELLS)]
    elif change == 4:
        rows[i], rows[j] = rows[j], rows[i]
    elif change == 5:
        rows.insert(i, list(rows[j]) if dice.random() < 0.7 else [])
    elif change == 6:
        return text.replace(",", dice.choice(SEPARATORS))
    elif change == 7:
        return dice.choice(
            ["", "\n", text.split("\n")[0], text.partition("\n")[2], "\ufeff" + text, text.replace("\n", "\r\n"), text.replace("\n", "\r")]
        )
    elif change == 8:
        rows = rows[:1] + dice.choice([rows[1:][::-1], rows[1:2] * 3, rows[1:2], rows[1:] * 2])
    else:
        return characters(dice, text)
    return "\n".join(map(",".join, rows)) + "\n"


def damages(dice: Dice, content: bytes) -> bytes:
    """A file of bytes: a bit is turned, bytes are others, zero, doubled, left out or in another place, or the end is missing."""
    at, change = dice.randrange(len(content)), dice.randrange(7)
    size = min(dice.choice([1, 1, 2, 4, 8, 64, 512]), len(content) - at)
    before, there, behind = content[:at], content[at : at + size], content[at + size :]
    if change == 0:
        return before + bytes([there[0] ^ 1 << dice.randrange(8)]) + there[1:] + behind
    if change == 1:
        return before + dice.randbytes(size) + behind
    if change == 2:
        return before + dice.choice([b"\0", b"\xff"]) * size + behind
    if change == 3:
        return before + there * 2 + behind
    if change == 4:
        return before + behind
    if change == 5:
        return behind + there + before
    return before


def noise(dice: Dice, text: str) -> str:
    """No text at all: letters, tokens of a text in another order, or brackets without end."""
    size = dice.randrange(1, 400)
    kind = dice.randrange(4)
    if kind == 0:
        return "".join(chr(dice.randrange(0x20, 0x250)) for _ in range(size)) + "\n"
    if kind == 1:
        parts = TOKEN.findall(text)
        return "".join(dice.choice(parts) for _ in range(size)) + "\n"
    if kind == 2:
        return f"use electrical\nparam x = {dice.choice(['(', '[', '-', 'sin(', 'if ', '1 +', 'not ']) * size * 5}1\n"
    return " ".join(dice.choice([*SIGNS, *WORDS, *NUMBERS, *UNITS, "a", "b"]) for _ in range(size)) + "\n"


ANY: tuple[Mutation, ...] = (
    characters,
    tokens,
    numbers,
    numbers,
    units,
    names,
    names,
    connections,
    connections,
    bindings,
    functions,
    lines,
    starts,
    options,
)
OF_COMPONENTS: tuple[Mutation, ...] = (characters, tokens, tokens, numbers, names, functions, functions, bindings, lines)
OF_NUMBERS: tuple[Mutation, ...] = (numbers, numbers, numbers, connections, options, starts)
