"""What is said about single words, numbers and signs that are not part of the language."""

from netsim.text.errors import Problem, Span, nearest
from netsim.text.units import KNOWN_NAMES, UnknownUnit, parse_unit

_SPICE = {
    "t": ("T", 1e12), "g": ("G", 1e9), "meg": ("M", 1e6), "k": ("k", 1e3), "m": ("m", 1e-3), "u": ("u", 1e-6),
    "n": ("n", 1e-9), "p": ("p", 1e-12),
    "f": ("f", 1e-15),
}  # fmt: skip
_SIGNS = {
    "**": "write ^ for a power",
    "&&": "write 'and'",
    "||": "write 'or'",
    "&": "write 'and'",
    "|": "write 'or'",
    "!": "write 'not', or != for 'differs from'",
    "'": 'texts stand in double quotes: "..."',
    "{": "expressions need no braces; vectors stand in [ ]",
    "}": "expressions need no braces; vectors stand in [ ]",
    "%": "a percentage is a number with this unit: 5 %; comments start with #",
    "°": "write deg for an angle, degC for a temperature",
    "$": "comments start with #",
    "\\": "a statement goes on in the next line while a bracket is open",
    "−": "this is a long dash; write the minus sign of the keyboard, -",
    "–": "this is a long dash; write the minus sign of the keyboard, -",
    "·": "write * for a product, and . between units",
    "×": "write * for a product",
    "“": 'write straight quotes: "..."',
    "”": 'write straight quotes: "..."',
    "\u00a0": "this is a no-break space; write an ordinary one",
}
_OTHER_NAMES = {
    "ohms": "Ohm", "volt": "V", "volts": "V", "amp": "A", "amps": "A", "ampere": "A", "newton": "N", "newtons": "N",
    "meter": "m", "meters": "m",
    "metre": "m", "metres": "m", "sec": "s", "second": "s", "seconds": "s", "kilogram": "kg", "gram": "g", "grams": "g",
    "watt": "W", "watts": "W",
    "joule": "J", "joules": "J", "farad": "F", "henry": "H", "hertz": "Hz", "pascal": "Pa", "kelvin": "K",
    "celsius": "degC", "degree": "deg",
    "degrees": "deg", "radian": "rad", "radians": "rad", "minute": "min", "minutes": "min", "hours": "h", "hr": "h",
    "d": "day", "days": "day", "weeks": "week", "yr": "year", "years": "year",
    "liter": "l", "litre": "l",
    "Nm": "N.m", "Ns": "N.s", "Ws": "W.s", "Vs": "V.s", "As": "A.s", "kgm2": "kg.m2", "kWh": "kW.h", "Ah": "A.h",
    "Nms": "N.m.s", "psi": "kPa",
}  # fmt: skip
_ALIKE = "\u2126μ"
"""Signs of units that look like others which are proposed."""
_LOOKALIKES = str.maketrans("АВЕКМНОРСТХасеорхуіµμΔ", "ABEKMHOPCTXaceopxyiuuD")


def strange(kind: str, text: str, span: Span) -> Problem:
    """A sign or word that no statement contains: kind 'foreign' (letters), 'open_string', else a sign."""
    if kind == "open_string":
        return Problem(
            "E113", "this text has no closing quote", span, "opened here", 'a text ends in its own line with "'
        )
    if kind == "foreign":
        latin = text.translate(_LOOKALIKES)
        hint = f"some letters only look Latin: write {latin}" if latin.isascii() else ""
        return Problem("E117", f"'{text}' is no name: names have the letters A-Z, a-z, digits and _", span, hint=hint)
    return Problem("E112", f"unexpected sign '{text}'", span, hint=_SIGNS.get(text, ""))


def half_number(text: str, span: Span, following: str) -> Problem:
    """`.5` and `5.`: the range `1..3` needs digits on both sides of the dot of a number."""
    before, _, after = text.partition(".")
    whole = f"{before or '0'}.{after if after[:1].isdigit() else '0' + after}"
    if text.endswith(".") and (following.isalpha() or following == "_"):
        return Problem(
            "E111",
            f"the number {text} stands before a name",
            span,
            hint=f"write {before}.. for a range, {before}* for a product",
        )
    return Problem("E111", f"the number {text} needs a digit on both sides of its dot", span, hint=f"write {whole}")


def suffix(number: str, word: str, span: Span) -> Problem:
    """`10k`, `1M`, `4.7k`, `1u`: the prefixes of other simulators; or any word glued to a number."""
    known = _SPICE.get(word) or _SPICE.get(word.lower())
    if known is None:
        return unknown_unit(word, word, span, f"write {number}*{word} for a product" if word.isidentifier() else "")
    letter, factor = ("M", 1e6) if word == "M" else known
    exponent = f"{factor:.0e}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e").removeprefix("1")
    plain = number + exponent if "e" not in number.lower() else f"{float(number) * factor:g}"
    quantity = "uF" if letter == "u" else letter + "Ohm"
    return Problem(
        "E106",
        f"'{number}{word}' has a prefix but no unit",
        span,
        hint=f"write {number} {quantity} (the unit in full) or {plain}",
    )


def unknown_unit(name: str, text: str, span: Span, otherwise: str = "") -> Problem:
    """A unit that does not exist, with the nearest that does."""
    inside = f" in '{text}'" if text != name else ""
    return Problem("E107", f"'{name}' is not a known unit{inside}", span, hint=nearest_unit(name) or otherwise)


def nearest_unit(name: str) -> str:
    """'did you mean ...?' for a unit: other spellings and cases first, then similar letters; '' for none."""
    if better := _OTHER_NAMES.get(name) or _OTHER_NAMES.get(name.lower()):
        return f"did you mean '{better}'?"
    same_letters = [unit for unit in KNOWN_NAMES if unit.lower() == name.lower()]
    if same_letters:
        return "did you mean " + " or ".join(f"'{unit}'" for unit in same_letters[:2]) + "?"
    return nearest(name, [unit for unit in KNOWN_NAMES if not set(unit) & set(_ALIKE)]) if len(name) > 1 else ""


def is_unit(text: str) -> bool:
    """Whether a text is a unit."""
    try:
        parse_unit(text)
    except UnknownUnit:
        return False
    return True


def new_name(name: str, suffix: str, taken: set[str]) -> str:
    """The name, with the suffix as often as it takes until nothing has it; it is taken from now on."""
    while name in taken:
        name += suffix
    taken.add(name)
    return name
