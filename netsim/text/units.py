"""Unit texts such as `N.s/m`, `kg.m2`, `mm^3` or `degC`: their factor to SI, their offset and their dimension.

A unit text is a chain of known names joined by `.` (times) and `/` (divided by the next name only). A power follows a
name directly (`m2`, `s2`) or behind `^` (`m^2`, `s^-1`, `Hz^0.5`). `1` stands for no dimension (`1`, `1/s`). Angles
have no dimension: rad = 1, deg = pi/180, rev = 2 pi. They are remembered as angles only to be shown in rad, and angular
velocities in rad/s. An offset (degC) counts only where the name stands alone;
in a chain it is a temperature difference.
"""

import math
import re
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

BASE_NAMES = ("m", "kg", "s", "A", "K", "mol", "cd")

Exponent = int | Fraction


@dataclass(frozen=True)
class Dimension:
    """Exponents of m, kg, s, A, K, mol, cd; whole ones are `int`, others `Fraction`. `is_angle`: an angle or a rate of
    one, which is equal to a number or to a frequency and only shown in another way."""

    exponents: tuple[Exponent, ...] = (0, 0, 0, 0, 0, 0, 0)
    is_angle: bool = field(default=False, compare=False)

    def __mul__(self, other: "Dimension") -> "Dimension":
        found = tuple(_whole(a + b) for a, b in zip(self.exponents, other.exponents))
        return Dimension(found, self.is_angle != other.is_angle and _only_time(found))

    def __truediv__(self, other: "Dimension") -> "Dimension":
        found = tuple(_whole(a - b) for a, b in zip(self.exponents, other.exponents))
        return Dimension(found, self.is_angle and not other.is_angle and _only_time(found))

    def __pow__(self, power: float | Fraction) -> "Dimension":
        exact = Fraction(power).limit_denominator(1000)
        return Dimension(tuple(_whole(a * exact) for a in self.exponents), self.is_angle and exact == 1)

    @property
    def is_none(self) -> bool:
        """True for a pure number, False for an angle."""
        return not any(self.exponents) and not self.is_angle

    def __str__(self) -> str:
        return format_dimension(self)


@dataclass(frozen=True)
class Unit:
    """SI value = factor * written value + offset."""

    factor: float
    offset: float
    dimension: Dimension

    def from_si(self, value: float) -> float:
        return (value - self.offset) / self.factor


class UnknownUnit(ValueError):
    """A text that is no unit; `name` is the part that is not known."""

    def __init__(self, name: str, text: str):
        self.name, self.text = name, text
        super().__init__(f"'{name}' is not a known unit" + (f" (in '{text}')" if name != text else ""))


NO_DIMENSION, ANGLE, HERTZ = Dimension(), Dimension(is_angle=True), Dimension((0, 0, -1, 0, 0, 0, 0))

_PREFIXES = {
    "T": 12,
    "G": 9,
    "M": 6,
    "k": 3,
    "h": 2,
    "da": 1,
    "d": -1,
    "c": -2,
    "m": -3,
    "u": -6,
    "µ": -6,
    "μ": -6,
    "n": -9,
    "p": -12,
    "f": -15,
}
_OHM_NAMES = ("Ohm", "ohm", "Ω", "\u2126")


def _whole(exponent: Exponent) -> Exponent:
    return int(exponent) if exponent == int(exponent) else exponent


def _only_time(exponents: tuple[Exponent, ...]) -> bool:
    return not any(exponents[:2]) and not any(exponents[3:])


def _dimension(m: int = 0, kg: int = 0, s: int = 0, A: int = 0, K: int = 0, mol: int = 0, cd: int = 0) -> Dimension:
    return Dimension((m, kg, s, A, K, mol, cd))


def _prefixable() -> dict[str, tuple[float, Dimension]]:
    energy, volume = _dimension(m=2, kg=1, s=-2), _dimension(m=3)
    names = {
        "m": (1.0, _dimension(m=1)),
        "g": (1e-3, _dimension(kg=1)),
        "s": (1.0, _dimension(s=1)),
        "A": (1.0, _dimension(A=1)),
        "K": (1.0, _dimension(K=1)),
        "mol": (1.0, _dimension(mol=1)),
        "cd": (1.0, _dimension(cd=1)),
        "rad": (1.0, ANGLE),
        "Hz": (1.0, _dimension(s=-1)),
        "N": (1.0, _dimension(m=1, kg=1, s=-2)),
        "Pa": (1.0, _dimension(m=-1, kg=1, s=-2)),
        "J": (1.0, energy),
        "W": (1.0, _dimension(m=2, kg=1, s=-3)),
        "V": (1.0, _dimension(m=2, kg=1, s=-3, A=-1)),
        "C": (1.0, _dimension(s=1, A=1)),
        "F": (1.0, _dimension(m=-2, kg=-1, s=4, A=2)),
        "H": (1.0, _dimension(m=2, kg=1, s=-2, A=-2)),
        "S": (1.0, _dimension(m=-2, kg=-1, s=3, A=2)),
        "Wb": (1.0, _dimension(m=2, kg=1, s=-2, A=-1)),
        "T": (1.0, _dimension(kg=1, s=-2, A=-1)),
        "bar": (1e5, _dimension(m=-1, kg=1, s=-2)),
        "l": (1e-3, volume),
        "L": (1e-3, volume),
        "eV": (1.602176634e-19, energy),
    }
    return names | {name: (1.0, _dimension(m=2, kg=1, s=-3, A=-2)) for name in _OHM_NAMES}


def _plain() -> dict[str, Unit]:
    time = _dimension(s=1)
    return {
        "deg": Unit(math.pi / 180, 0.0, ANGLE),
        "rev": Unit(2 * math.pi, 0.0, ANGLE),
        "rpm": Unit(2 * math.pi / 60, 0.0, ANGLE / _dimension(s=1)),
        "percent": Unit(0.01, 0.0, NO_DIMENSION),
        "%": Unit(0.01, 0.0, NO_DIMENSION),
        "min": Unit(60.0, 0.0, time),
        "h": Unit(3600.0, 0.0, time),
        "hour": Unit(3600.0, 0.0, time),
        "day": Unit(86400.0, 0.0, time),
        "week": Unit(604800.0, 0.0, time),
        "year": Unit(31557600.0, 0.0, time),
        "degC": Unit(1.0, 273.15, _dimension(K=1)),
        "t": Unit(1e3, 0.0, _dimension(kg=1)),
        "P": Unit(0.1, 0.0, _dimension(m=-1, kg=1, s=-1)),
        "cP": Unit(1e-3, 0.0, _dimension(m=-1, kg=1, s=-1)),
    }


def _scaled(factor: float, power: int) -> float:
    # 1e3 * 1e-6 is not the double nearest to 1e-3; a decimal text read once is
    return (
        float(f"{factor!r}e{power}")
        if "e" not in repr(factor)
        else float(Fraction(repr(factor)) * Fraction(10) ** power)
    )


def _known() -> dict[str, Unit]:
    names = {}
    for name, (factor, dimension) in _prefixable().items():
        names[name] = Unit(factor, 0.0, dimension)
        for prefix, power in _PREFIXES.items():
            names[prefix + name] = Unit(_scaled(factor, power), 0.0, dimension)
    return names | _plain()  # a plain name wins: min, cd, cP, ...


KNOWN_NAMES: dict[str, Unit] = _known()

NAME_PATTERN = r"(?:[A-Za-zµμΩ\u2126]+|%)"
POWER_PATTERN = r"(?:\^[+-]?\d+(?:\.\d+)?|\d+)"
_LINK = re.compile(rf"([./])?(1(?!\d)|{NAME_PATTERN})({POWER_PATTERN})?")


@lru_cache(maxsize=4096)
def parse_unit(text: str) -> Unit:
    """The unit of a text; '' and '1' are the pure number. Raises `UnknownUnit` naming the part that is not known."""
    links = _links(text)
    if len(links) == 1 and not links[0][0] and links[0][2] == 1:
        return KNOWN_NAMES[links[0][1]]
    factor, dimension = 1.0, NO_DIMENSION
    for divides, name, power in links:
        unit = KNOWN_NAMES[name]
        scale = unit.factor ** (int(power) if power == int(power) else float(power))
        factor = factor / scale if divides else factor * scale
        dimension = dimension / unit.dimension**power if divides else dimension * unit.dimension**power
    return Unit(factor, 0.0, dimension)


def _links(text: str) -> list[tuple[bool, str, Fraction]]:
    """The chain's parts as (divides, name, power), without the ones; raises `UnknownUnit`."""
    links, place = [], 0
    while place < len(text):
        match = _LINK.match(text, place)
        if match is None or (match[1] is None) != (place == 0):
            raise UnknownUnit(text[place:], text)
        if match[2] != "1":
            if match[2] not in KNOWN_NAMES:
                raise UnknownUnit(match[2], text)
            links.append((match[1] == "/", match[2], Fraction((match[3] or "1").lstrip("^"))))
        elif place or match[3]:
            raise UnknownUnit(match[0], text)
        place = match.end()
    return links


_COMMON = (
    "m", "kg", "s", "A", "K", "mol", "cd", "m/s", "m/s2", "m2", "m3", "m3/s", "1/s", "1/s2", "N", "N/m", "N.s/m", "N.m",
    "N.m.s", "N.s",
    "Pa", "Pa.s", "Pa.s/m3", "Pa/s", "W", "W/K", "W/m2", "W/m/K", "J/K", "J/kg", "J/kg/K", "K/W", "K/s", "V", "V.s",
    "V/m", "V/s", "A/m", "A/s",
    "Ohm", "S", "F", "H", "C", "T", "kg.m2", "kg/m3", "kg.m/s2", "m2/s", "mol/s", "mol/m3",
)  # fmt: skip


@lru_cache(maxsize=1)
def _common_names() -> dict[Dimension, str]:
    names: dict[Dimension, str] = {}
    for text in (*_COMMON, *(f"1/{text}" for text in _COMMON if text.isalpha())):
        names.setdefault(parse_unit(text).dimension, text)
    return names


def format_dimension(dimension: Dimension) -> str:
    """A unit text of that dimension in SI: a common name (`N.s/m`, `Pa`, `V`, `1/V`), `rad`, `rad/s` ... for angles and
    their rates, `V/Hz^0.5` for root densities, or a chain of base units; '1' for none."""
    if dimension.is_angle:
        return _chain((*dimension.exponents, 1), (*BASE_NAMES, "rad"))
    if dimension.is_none:
        return "1"
    if (common := _common_names().get(dimension)) is not None:
        return common
    if (common := _common_names().get(dimension * HERTZ**0.5)) is not None:
        return f"{common}/Hz^0.5"
    return _chain(dimension.exponents, BASE_NAMES)


def _chain(exponents: tuple[Exponent, ...], names: tuple[str, ...]) -> str:
    above = [_powered(name, power) for name, power in zip(names, exponents) if power > 0]
    below = [_powered(name, -power) for name, power in zip(names, exponents) if power < 0]
    return "/".join([".".join(above) or "1", *below])


def _powered(name: str, power: Exponent) -> str:
    if power == 1:
        return name
    return f"{name}{power}" if isinstance(power, int) else f"{name}^{float(power):.6g}"
