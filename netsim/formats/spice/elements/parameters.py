"""Parameters of `.model` lines: what each is called here, its unit, and which have no effect in the library.

Names are those of Antognetti and Massobrio, Semiconductor Device Modeling with SPICE, 1988.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kind:
    """A sort of `.model`: its component, terminals, what its parameters are called here and their units; `polarity` 0
    for none."""

    component: str
    terminals: tuple[str, ...]
    parameters: dict[str, tuple[str, str]]
    polarity: int = 0
    infinite: frozenset[str] = frozenset()
    """Parameters whose 0 means none: they keep the library's default."""
    left_out: frozenset[str] = frozenset()
    """Parameters that have an effect in SPICE and none here."""
    sizes: dict[str, tuple[str, str]] = field(default_factory=lambda: {"area": ("", "1")})
    """What an instance may give: unit and default."""


def _named(text: str) -> dict[str, tuple[str, str]]:
    """'is:Is:A rs:Rs:Ohm' -> parameters by their names in SPICE."""
    return {name: (ours, unit) for name, ours, unit in (entry.split(":") for entry in text.split())}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DIODE = _named("""
    is:Is:A js:Is:A rs:Rs:Ohm n:N: tt:tt:s cjo:Cj:F cj0:Cj:F cj:Cj:F vj:Vj:V pb:Vj:V m:M: mj:M: eg:Eg:V xti:xti:
    fc:fc: bv:BV:V ibv:Ibv:A nbv:Nbv: kf:Kf: af:Af:
""")
_BIPOLAR = _named("""
    is:Is:A bf:Bf: nf:Nf: vaf:Vaf:V va:Vaf:V ikf:Ikf:A ik:Ikf:A ise:Ise:A ne:Ne: br:Br: nr:Nr: var:Var:V vb:Var:V
    ikr:Ikr:A isc:Isc:A nc:Nc: rb:Rb:Ohm
    rbm:Rbm:Ohm rc:Rc:Ohm re:Re:Ohm cje:Cje:F vje:Vje:V pe:Vje:V mje:Mje: me:Mje: cjc:Cjc:F vjc:Vjc:V pc:Vjc:V
    mjc:Mjc: mc:Mjc: xcjc:xcjc:
    cjs:Cjs:F ccs:Cjs:F vjs:Vjs:V ps:Vjs:V mjs:Mjs: ms:Mjs: tf:tf:s xtf:xtf: vtf:Vtf:V itf:Itf:A tr:tr:s fc:fc:
    eg:Eg:V xti:xti: xtb:xtb: kf:Kf: af:Af:
""")
_JUNCTION_FET = _named(
    "vto:Vto:V beta:beta:A/V2 lambda:lambda:V^-1 rd:Rd:Ohm rs:Rs:Ohm is:Is:A cgs:Cgs:F cgd:Cgd:F pb:Pb:V fc:fc: "
    "kf:Kf: af:Af:"
)
_MOSFET = dict.fromkeys(
    _words(
        "vto kp gamma phi lambda rd rs cbd cbs is pb cgso cgdo cgbo rsh cj mj cjsw mjsw js tox nsub nss tpg ld uo u0 "
        "fc w l kf af"
    ),
    ("", ""),
)
_LAYOUT = {"w": ("m", "100u"), "l": ("m", "100u"), "ad": ("m2", "0"), "as": ("m2", "0"), "pd": ("m", "0"), "ps": ("m",
    "0"), "nrd": ("", "1"),
           "nrs": ("", "1"), "m": ("", "1")}  # fmt: skip
_ENDLESS = _words("vaf va ikf ik var vb ikr vtf")
_DIODE_REST = _words("ikf ik ikr isr nr cjsw cjp php vjsw mjsw jsw tlev trs trs1 trs2")
_FET_REST = _words("b tcv bex n isr nr")
_MOS_REST = _words("xj theta eta kappa delta vmax")
KINDS = {
    "d": Kind("diode", ("p", "n"), _DIODE, 0, _words("bv"), _DIODE_REST),
    "npn": Kind("bjt", ("c", "b", "e", "s"), _BIPOLAR, 1, _ENDLESS, _words("irb ptf")),
    "pnp": Kind("bjt", ("c", "b", "e", "s"), _BIPOLAR, -1, _ENDLESS, _words("irb ptf")),
    "njf": Kind("jfet", ("d", "g", "s"), _JUNCTION_FET, 1, left_out=_FET_REST),
    "pjf": Kind("jfet", ("d", "g", "s"), _JUNCTION_FET, -1, left_out=_FET_REST),
    "nmos": Kind("meyer_mosfet", ("d", "g", "s", "b"), _MOSFET, 1, left_out=_MOS_REST, sizes=_LAYOUT),
    "pmos": Kind("meyer_mosfet", ("d", "g", "s", "b"), _MOSFET, -1, left_out=_MOS_REST, sizes=_LAYOUT),
}
SILENT = _words("level mfg type vceo icrating vpk iave version tnom tref t_measured subs lis nk vds ron qg")
"""What changes nothing: remarks of manufacturers."""
