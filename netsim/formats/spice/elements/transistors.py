"""The level-1 MOSFET of SPICE from its `.model` line: what is per area or per length of the layout, and what follows
from oxide and doping.

Sources: Antognetti and Massobrio, Semiconductor Device Modeling with SPICE, 1988, chapter 4; ngspice 39, level 1.
"""

import math

from netsim.formats.spice.cards import Card, Token
from netsim.formats.spice.numbers import literal
from netsim.formats.spice.scopes import KELVIN, Scope
from netsim.text.syntax import Binary, Call, Expr, Name, Number, Part

OXIDE = 3.9 * 8.854214871e-12
"""Permittivity of silicon dioxide, F/m."""
SILICON = 11.7 * 8.854214871e-12
CHARGE = 1.602176634e-19
BOLTZMANN = 1.380649e-23
INTRINSIC = 1.45e16
"""Carriers per m3 in pure silicon, as SPICE has them."""
WIRE = 1e-3
"""Ohm: the least resistance of an end of a channel whose sheet has one."""

_PLAIN = {"vto": ("Vto", "V"), "kp": ("Kp", "A/V2"), "gamma": ("gamma", ""), "phi": ("phi", "V"), "lambda": ("lambda",
    "V^-1"), "pb": ("Pb", "V"),
          "cgso": ("Cgso", "F/m"), "cgdo": ("Cgdo", "F/m"), "ld": ("Ld", "m"), "mj": ("Mj", ""), "mjsw": ("Mjsw", ""),
          "fc": ("fc", ""), "kf": ("Kf", ""), "af": ("Af", "")}  # fmt: skip


def mosfet_bindings(model: Card, given: dict[str, Token], polarity: int, scope: Scope) -> dict[str, Expr]:
    """Parameters of the library's meyer_mosfet; `w`, `l`, `ad`, `as`, `pd`, `ps`, `nrd`, `nrs`, `m` are the instance's.
    Raises `InputError`."""
    span = model.span()
    found = {ours: scope.value(model, given[name], unit) for name, (ours, unit) in _PLAIN.items() if name in given}
    for name, value in _from_process(model, given, polarity, scope).items():
        found.setdefault(name, value)
    found |= {"W": _product(_size("m"), _size("w")), "L": _size("l")}
    if "cgbo" in given:
        found["Cgbo"] = _product(_size("m"), scope.value(model, given["cgbo"], "F/m"))
    for side in "ds":
        found |= _side(model, given, side, scope)
    if "js" in given:
        found["Is"] = Binary(
            "+",
            _product(_size("m"), _size("ad"), scope.value(model, given["js"], "A/m2")),
            Number(1e-30, "A"),
            span=span,
        )
    elif "is" in given:
        found["Is"] = _product(_size("m"), scope.value(model, given["is"], "A"))
    return found


def _size(name: str) -> Expr:
    return Name((Part(name),))


def _product(*factors: Expr) -> Expr:
    value = factors[0]
    for factor in factors[1:]:
        value = Binary("*", value, factor)
    return value


def _side(model: Card, given: dict[str, Token], side: str, scope: Scope) -> dict[str, Expr]:
    """Capacitances of drain (d) or source (s)."""
    found: dict[str, Expr] = {}
    area, edge = _size(f"a{side}"), _size(f"p{side}")
    if f"cb{side}" in given:
        found[f"Cb{side}"] = _product(_size("m"), scope.value(model, given[f"cb{side}"], "F"))
    elif "cj" in given:
        found[f"Cb{side}"] = _product(_size("m"), area, scope.value(model, given["cj"], "F/m2"))
    if "cjsw" in given:
        found[f"Cw{side}"] = _product(_size("m"), edge, scope.value(model, given["cjsw"], "F/m"))
    return found


def mosfet_resistances(model: Card, given: dict[str, Token], scope: Scope) -> dict[str, Expr]:
    """What stands before drain (d) and source (s): `rd` and `rs`, or so many squares of `rsh`; what is not a number now
    is at least WIRE."""
    span, found = model.span(), dict[str, Expr]()
    for side in "ds":
        name = f"r{side}" if f"r{side}" in given else "rsh"
        value = scope.value(model, given[name], "Ohm") if name in given else Number(0.0, "Ohm")
        if isinstance(value, Number) and value.value == 0:
            continue
        if name == "rsh" or not isinstance(value, Number):
            value = Call(
                "max",
                (_product(_size(f"nr{side}"), value) if name == "rsh" else value, Number(WIRE, "Ohm", span=span)),
                span=span,
            )
        found[side] = Binary("/", value, _size("m"), span=span)
    return found


def _from_process(model: Card, given: dict[str, Token], polarity: int, scope: Scope) -> dict[str, Expr]:
    """What follows from the oxide's thickness (tox), the doping (nsub), surface states (nss), the gate (tpg) and the
    mobility (uo)."""
    numbers = {
        name: scope.number(model, given[name]) for name in ("tox", "nsub", "nss", "tpg", "uo", "u0") if name in given
    }
    if "tox" not in numbers or numbers["tox"] <= 0:
        return {}
    span, oxide = model.span(), OXIDE / numbers["tox"]
    found: dict[str, Expr] = {"Cox": Number(oxide, "F/m2", span=span)}
    found["Kp"] = Number(numbers.get("uo", numbers.get("u0", 600.0)) * 1e-4 * oxide, "A/V2", span=span)
    if "nsub" not in numbers:
        return found
    doping, T = numbers["nsub"] * 1e6, scope.circuit.options.get("tnom", 27.0) + KELVIN
    thermal = BOLTZMANN * T / CHARGE
    phi = scope.number(model, given["phi"]) if "phi" in given else max(0.1, 2 * thermal * math.log(doping / INTRINSIC))
    gamma = (
        scope.number(model, given["gamma"]) if "gamma" in given else math.sqrt(2 * SILICON * CHARGE * doping) / oxide
    )
    gap = 1.16 - 7.02e-4 * T * T / (T + 1108.0)
    gate = numbers.get("tpg", 1.0)
    work = 3.25 + gap / 2 - polarity * gate * gap / 2 if gate else 3.2
    flat = work - (3.25 + gap / 2 + polarity * phi / 2) - numbers.get("nss", 0.0) * 1e4 * CHARGE / oxide
    found |= {"phi": Number(phi, "V", span=span), "gamma": Number(gamma, span=span)}
    return found | {"Vto": literal(flat + polarity * (gamma * math.sqrt(phi) + phi), span, "V")}
