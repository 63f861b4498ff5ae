"""The MOSFETs of SPICE (levels 1, 2, 3 and 6) from a `.model` line: what is per area or per length of the layout, and
what follows from oxide and doping.

Sources: Antognetti and Massobrio, Semiconductor Device Modeling with SPICE, 1988, chapter 4; ngspice 39, level 1.
"""

import math

from netsim.formats.spice.cards import Token
from netsim.formats.spice.circuit import KELVIN
from netsim.formats.spice.elements.models import Model
from netsim.formats.spice.elements.semiconducting.parameters import Kind
from netsim.formats.spice.numbers import literal
from netsim.formats.spice.scopes import Scope
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

_PLAIN = {
    "vto": ("Vto", "V"), "vt0": ("Vto", "V"), "kp": ("Kp", "A/V2"), "gamma": ("gamma", ""), "phi": ("phi", "V"),
    "lambda": ("lambda", "V^-1"), "pb": ("Pb", "V"), "cgso": ("Cgso", "F/m"), "cgdo": ("Cgdo", "F/m"),
    "ld": ("Ld", "m"), "mj": ("Mj", ""), "mjsw": ("Mjsw", ""), "fc": ("fc", ""),
    "kf": ("Kf", ""), "af": ("Af", ""),
}  # fmt: skip


_PROCESS = {"nfs": ("Nfs", "cm^-2"), "xj": ("Xj", "m"), "vmax": ("Vmax", "m/s"), "delta": ("delta", "")}
_EXTRA = {
    "mosfet2": {**_PROCESS, "ucrit": ("Ucrit", "V/cm"), "uexp": ("Uexp", ""), "neff": ("neff", "")},
    "mosfet3": {**_PROCESS, "theta": ("theta", "V^-1"), "eta": ("eta", ""), "kappa": ("kappa", "")},
    "mosfet6": {"kv": ("kv", ""), "nv": ("nv", ""), "kc": ("kc", ""), "nc": ("nc", ""), "gamma1": ("gamma1", ""),
        "sigma": ("sigma", ""), "lambda0": ("lambda0", "V^-1"), "lambda1": ("lambda1", "V^-2")},
}  # fmt: skip
"""What the levels have beside level 1."""


def mosfet_bindings(model: Model, given: dict[str, Token], kind: Kind, scope: Scope) -> dict[str, Expr]:
    """Parameters of a MOSFET of the library; `w`, `l`, `ad`, `as`, `pd`, `ps`, `nrd`, `nrs`, `m` are the instance's.
    Raises `InputError`."""
    span = model.card.span()
    plain = {**_PLAIN, **_EXTRA.get(kind.component, {})}
    found = {ours: model.value(name, scope, unit) for name, (ours, unit) in plain.items() if name in given}
    for name, value in _from_process(model, given, kind, scope).items():
        found.setdefault(name, value)
    found |= {"W": _product(_size("m"), _size("w")), "L": _size("l")}
    if kind.component in ("mosfet2", "mosfet3"):
        found["parallel"] = _size("m")
    if "cgbo" in given:
        found["Cgbo"] = _product(_size("m"), model.value("cgbo", scope, "F/m"))
    for side in "ds":
        found |= _side(model, given, side, scope)
    if kind.component in ("meyer_mosfet", "mosfet6") and "cjsw" in given:
        found.setdefault("Mjsw", Number(0.5))  # ngspice's default; that of levels 2 and 3 is the library's
    if "js" in given:
        found["Is"] = Binary(
            "+",
            _product(_size("m"), _size("ad"), model.value("js", scope, "A/m2")),
            Number(1e-30, "A"),
            span=span,
        )
    elif "is" in given:
        found["Is"] = _product(_size("m"), model.value("is", scope, "A"))
    return found


def _size(name: str) -> Expr:
    return Name((Part(name),))


def _product(*factors: Expr) -> Expr:
    value = factors[0]
    for factor in factors[1:]:
        value = Binary("*", value, factor)
    return value


def _side(model: Model, given: dict[str, Token], side: str, scope: Scope) -> dict[str, Expr]:
    """Capacitances of drain (d) or source (s)."""
    found: dict[str, Expr] = {}
    area, edge = _size(f"a{side}"), _size(f"p{side}")
    if f"cb{side}" in given:
        found[f"Cb{side}"] = _product(_size("m"), model.value(f"cb{side}", scope, "F"))
    elif "cj" in given:
        found[f"Cb{side}"] = _product(_size("m"), area, model.value("cj", scope, "F/m2"))
    if "cjsw" in given:
        found[f"Cw{side}"] = _product(_size("m"), edge, model.value("cjsw", scope, "F/m"))
    return found


def mosfet_resistances(model: Model, given: dict[str, Token], scope: Scope) -> dict[str, Expr]:
    """What stands before drain (d) and source (s): `rd` and `rs`, or so many squares of `rsh`; before the gate (g)
    `rg`. What is not a number now is at least WIRE."""
    span, found = model.card.span(), dict[str, Expr]()
    for side in "dsg":
        name = f"r{side}" if side == "g" or f"r{side}" in given else "rsh"
        value = model.value(name, scope, "Ohm") if name in given else Number(0.0, "Ohm")
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


def _from_process(model: Model, given: dict[str, Token], kind: Kind, scope: Scope) -> dict[str, Expr]:
    """What follows from the oxide's thickness (tox), the doping (nsub), surface states (nss), the gate (tpg) and the
    mobility (uo). Levels 2 and 3 always have an oxide, of 100 nm unless said."""
    names = ("tox", "nsub", "nss", "tpg", "uo", "u0")
    numbers = {name: model.number(name, 0.0) for name in names if name in given}
    if kind.component in ("mosfet2", "mosfet3"):
        numbers.setdefault("tox", 1e-7)
    if numbers.get("tox", 0.0) <= 0:
        return {}
    span, oxide = model.card.span(), OXIDE / numbers["tox"]
    mobility = numbers.get("uo", numbers.get("u0", 600.0)) * 1e-4
    found: dict[str, Expr] = {"Cox": Number(oxide, "F/m2", span=span)}
    if kind.component == "mosfet6":
        found["kc"] = Number(0.5 * mobility * oxide, span=span)
    else:
        found["Kp"] = Number(mobility * oxide, "A/V2", span=span)
    if kind.component in ("mosfet2", "mosfet3"):
        found["U0"] = Number(mobility, "m2/V/s", span=span)
    if "nsub" not in numbers:
        return found
    doping, T = numbers["nsub"] * 1e6, model.number("tnom", scope.circuit.options.get("tnom", 27.0)) + KELVIN
    if kind.component in ("mosfet2", "mosfet3"):
        found["alpha"] = Number(2 * SILICON / (CHARGE * doping), "m2/V", span=span)
    gap = 1.16 - 7.02e-4 * T * T / (T + 1108.0)
    thermal = BOLTZMANN * T / CHARGE
    pure = INTRINSIC
    if kind.component == "mosfet3":
        pure *= (T / 300.0) ** 1.5 * math.exp(0.5 * gap * (1 / 300.0 - 1 / T) / (BOLTZMANN / CHARGE))
    phi = model.number("phi", max(0.1, 2 * thermal * math.log(doping / pure)))
    gamma = model.number("gamma", math.sqrt(2 * SILICON * CHARGE * doping) / oxide)
    gate = numbers.get("tpg", 1.0)
    work = 3.25 + gap / 2 - kind.polarity * gate * gap / 2 if gate else 3.2
    flat = work - (3.25 + gap / 2 + kind.polarity * phi / 2) - numbers.get("nss", 0.0) * 1e4 * CHARGE / oxide
    found |= {"phi": Number(phi, "V", span=span), "gamma": Number(gamma, span=span)}
    return found | {"Vto": literal(flat + kind.polarity * (gamma * math.sqrt(phi) + phi), span, "V")}
