"""Parameters of `.model` lines: what each is called here, its unit, and which have no effect in the library.

Names are those of Antognetti and Massobrio, Semiconductor Device Modeling with SPICE, 1988.
"""

from dataclasses import dataclass, field, replace

from netsim.formats.spice.elements.models import Model
from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.syntax import Binary, Expr, Name, Part


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
    sizes: dict[str, tuple[str, str]] = field(default_factory=lambda: {"area": ("", "1"), "m": ("", "1")})
    """What an instance may give: unit and default."""
    celsius: frozenset[str] = frozenset()
    """Parameters that are temperatures: in degrees Celsius in SPICE, in kelvin in the library."""
    ends: tuple[str, ...] = ()
    """What an instance may give as temperatures of its ends; they must be the same."""
    layout: bool = False
    """Whether the component is given sizes of a layout (`transistors`)."""

    def shared(self, span: Span) -> dict[str, Expr]:
        """What the component takes from the sizes of the instance."""
        if "area" not in self.sizes:
            return {name: Name((Part(name),), span=span) for name in self.sizes}
        area: Expr = Name((Part("area"),), span=span)
        found: dict[str, Expr] = {"area": Binary("*", area, Name((Part("m"),), span=span), span=span)}
        if "pj" in self.sizes:
            found["pj"] = Binary("*", Name((Part("pj"),), span=span), Name((Part("m"),), span=span), span=span)
        return found


def _named(text: str) -> dict[str, tuple[str, str]]:
    """'is:Is:A rs:Rs:Ohm' -> parameters by their names in SPICE."""
    return {name: (ours, unit) for name, ours, unit in (entry.split(":") for entry in text.split())}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DIODE = _named("""
    is:Is:A js:Is:A rs:Rs:Ohm n:N: tt:tt:s cjo:Cj:F cj0:Cj:F cj:Cj:F vj:Vj:V pb:Vj:V m:M: mj:M: eg:Eg:V xti:xti:
    fc:fc: bv:BV:V vb:BV:V vrb:BV:V ibv:Ibv:A ib:Ibv:A nbv:Nbv: nz:Nbv: kf:Kf: af:Af:
""")
_DETAILED = _named("""
    ikf:Ikf:A ik:Ikf:A ikr:Ikr:A isr:Isr:A nr:Nr: jsw:Isw:A/m isw:Isw:A/m ns:Nsw: cjsw:Csw:F/m cjp:Csw:F/m php:Vsw:V
    vjsw:Vsw:V mjsw:Msw: fcs:fcsw: trs1:trs1:1/K trs:trs1:1/K trs2:trs2:K^-2 ttt1:ttt1:1/K ttt2:ttt2:K^-2
    tcv:tcv:V/K tbv1:tbv1:1/K tbv2:tbv2:K^-2
""")
_VDMOS = _named("""
    kf:Kf: af:Af:
    vto:Vto:V vth0:Vto:V kp:Kp:A/V2 lambda:lambda:V^-1 theta:theta:V^-1 ksubthres:ksub:V subshift:shift:V
    mtriode:mtriode: rd:Rd:Ohm rs:Rs:Ohm rg:Rg:Ohm rds:Rds:Ohm rq:Rq:Ohm vq:Vq:V cgdmin:Cgdmin:F cgdmax:Cgdmax:F
    a:a:V^-1 cgs:Cgs:F is:Is:A n:N: rb:Rb:Ohm cjo:Cj:F vj:Vj:V m:M: fc:fc: tt:tt:s bv:BV:V ibv:Ibv:A nbv:Nbv: eg:Eg:V
    xti:xti: mu:mu: bex:mu: tcvth:tcvth:V/K vtotc:tcvth:V/K trd1:trd1:1/K trd2:trd2:K^-2 texp0:texp0: texp1:texp1:
""")
_MESFET = _named("""
    vto:Vto:V vt0:Vto:V alpha:alpha:V^-1 beta:beta:A/V2 lambda:lambda:V^-1 b:b:V^-1 rd:Rd:Ohm rs:Rs:Ohm cgs:Cgs:F
    cgd:Cgd:F
    pb:Pb:V vbi:Pb:V is:Is:A fc:fc: kf:Kf: af:Af:
""")
_CONTACTS = _named("""
    vto:Vto:V vt0:Vto:V tvto:tvto:V/K alphat:tvto:V/K ks:ks: vsg:vsg:V sigma0:sigma0: vsigmat:vsigmat:V vsigma:vsigma:V
    lambda:lambda:V^-1 tlambda:tlambda:K m:M: mc:Mc: delta:delta: eta:eta: teta0:teta0:K teta1:teta1:K mu:mu:m2/V/s
    mu1:mu1:m2/V/s mu2:mu2:m2/V/s tmu:tmu:K xtm0:xtm0: xtm1:xtm1: xtm2:xtm2: rd:Rd:Ohm rs:Rs:Ohm rg:Rg:Ohm ri:Ri:Ohm
    rf:Rf:Ohm rdi:Rdi:Ohm rsi:Rsi:Ohm rtc1:rtc1:1/K rtc2:rtc2:K^-2 phib:phib:V phib1:phib1:V/K tphib:phib1:V/K
    astar:astar:A/m2/K2 n:N: ggr:ggr:S/m2 del:del: xchi:xchi:1/K tggr:xchi:1/K ag:ag:
""")
_BIPOLAR = _named("""
    is:Is:A bf:Bf: nf:Nf: vaf:Vaf:V va:Vaf:V ikf:Ikf:A ik:Ikf:A ise:Ise:A ne:Ne: br:Br: nr:Nr: var:Var:V vb:Var:V
    ikr:Ikr:A isc:Isc:A nc:Nc: rb:Rb:Ohm
    rbm:Rbm:Ohm rc:Rc:Ohm re:Re:Ohm cje:Cje:F vje:Vje:V pe:Vje:V mje:Mje: me:Mje: cjc:Cjc:F vjc:Vjc:V pc:Vjc:V
    mjc:Mjc: mc:Mjc: xcjc:xcjc:
    subs:subs: cjs:Cjs:F ccs:Cjs:F vjs:Vjs:V ps:Vjs:V mjs:Mjs: ms:Mjs:
    tf:tf:s xtf:xtf: vtf:Vtf:V itf:Itf:A tr:tr:s fc:fc: eg:Eg:V xti:xti: xtb:xtb: kf:Kf: af:Af:
""")
_JUNCTION_FET = _named(
    "vto:Vto:V beta:beta:A/V2 lambda:lambda:V^-1 rd:Rd:Ohm rs:Rs:Ohm is:Is:A cgs:Cgs:F cgd:Cgd:F pb:Pb:V fc:fc: "
    "kf:Kf: af:Af: vt0:Vto:V b:B: m:M: n:N: isr:Isr:A nr:Nr: eg:Eg:V xti:xti: vtotc:vtotc:V/K tcv:tcv:V/K bex:bex: "
    "betatce:betatce:1/K nlev:nlev: gdsnoi:gdsnoi:"
)
_PARKER_SKELLERN = _named("""
    vto:Vto:V vt0:Vto:V beta:beta:A/V2 q:Q: p:P: xi:xi: mxi:mxi: z:Z: lambda:lambda:V^-1 vst:Vst:V mvst:mvst:V^-1
    lfgam:lfgam: lfg1:lfg1:V^-1 lfg2:lfg2:V^-1 hfgam:hfgam: hfg1:hfg1:V^-1 hfg2:hfg2:V^-1 hfeta:hfeta: hfe1:hfe1:V^-1
    hfe2:hfe2:V^-1 taug:taug:s delta:delta:1/W taud:taud:s rd:Rd:Ohm rs:Rs:Ohm is:Is:A n:N: ibd:Ibd:A vbd:Vbd:V
    cgs:Cgs:F cgd:Cgd:F cds:Cds:F xc:xc: acgam:acgam: vbi:Pb:V pb:Pb:V fc:fc: kf:Kf: af:Af:
""")
_MOSFET = dict.fromkeys(
    _words(
        "vto vt0 kp gamma phi lambda rd rs cbd cbs is pb cgso cgdo cgbo rsh cj mj cjsw mjsw js tox nsub nss tpg ld uo "
        "u0 fc w l kf af rg rds"
    ),
    ("", ""),
)
_LAYOUT = {"w": ("m", "100u"), "l": ("m", "100u"), "ad": ("m2", "0"), "as": ("m2", "0"), "pd": ("m", "0"), "ps": ("m",
    "0"), "nrd": ("", "1"),
           "nrs": ("", "1"), "m": ("", "1")}  # fmt: skip
_ENDLESS = _words("vaf va ikf ik var vb ikr vtf")
_DIODE_REST = _words("ibvl nbvl tlev tlevc tm1 tm2 cta ctc ctp tpb tphp jtun jtunsw ntun xtitun keg ikp")
_DIODE_SIZES = {"area": ("", "1"), "m": ("", "1"), "pj": ("m", "0")}
_FET_REST = _words("alpha vk")
_MOS_REST = _words("n tt rb jssw pbsw xj theta eta kappa delta vmax uexp ucrit neff nfs utra xqc")


def _mosfet(component: str, more: str, rest: str = "") -> Kind:
    parameters = {**_MOSFET, **dict.fromkeys(_words(more), ("", ""))}
    left_out = frozenset((_MOS_REST | _words(rest)) - parameters.keys())
    return Kind(component, ("d", "g", "s", "b"), parameters, 1, left_out=left_out, sizes=_LAYOUT, layout=True)


_BJT = Kind(
    "bjt",
    ("c", "b", "e", "s"),
    _BIPOLAR,
    1,
    _ENDLESS,
    _words("irb ptf tre1 tre2 trb1 trb2 trc1 trc2 trm1 trm2 iss ns nk tvaf1"),
)
_JFET = Kind("jfet", ("d", "g", "s"), _JUNCTION_FET, 1, left_out=_FET_REST)
_PARKER = Kind("jfet2", ("d", "g", "s"), _PARKER_SKELLERN, 1, left_out=_words("rg lg ls ld cdss afac nfing"))
_LEVELS = {
    "1": _mosfet("meyer_mosfet", ""),
    "2": _mosfet("mosfet2", "nfs xj vmax delta uexp ucrit neff", "utra"),
    "3": _mosfet("mosfet3", "nfs xj vmax delta theta eta kappa"),
    "6": _mosfet("mosfet6", "kv nv kc nc gamma1 sigma lambda0 lambda1", "nvth ps"),
}
_GATES = {"l": ("m", "1u"), "w": ("m", "20u"), "m": ("", "1")}
_CHANNELS = _words("d nd vs zeta theta tc alpha beta du ndu th ndelta epsi nmax gamma cas cbs lambdahf tf flo delfo")


def _mesfet(component: str, more: str) -> Kind:
    parameters = {**_CONTACTS, **_named(more)}
    return Kind(component, ("d", "g", "s"), parameters, left_out=_CHANNELS - parameters.keys(), sizes=_GATES,
        celsius=_words("tlambda teta0 teta1 tmu"), ends=("ts", "td"))  # fmt: skip


_MESFETS = {
    "2": _mesfet(
        "mesfet2", "d:depth:m nd:nd:m^-3 vs:vs:m/s zeta:zeta: theta:theta:m2/V2/s tc:tc:V^-1 alpha:alpha:V^-1"
    ),
    "3": _mesfet("mesfet3", "beta:beta:A/V2 du:du:m ndu:ndu:m^-3 th:th:m ndelta:ndelta:m^-3 tc:tc:V^-1"),
    "4": _mesfet("mesfet4", "d:depth:m epsi:epsi:F/m vs:vs:m/s nmax:nmax:m^-2 gamma:gamma: cas:cas: cbs:cbs:"),
}
_POWER = Kind("vdmos", ("d", "g", "s"), _VDMOS, 1, _words("rds bv"), _words("phi trg1 trg2 trs1 trs2 trb1 trb2 rthjc "
    "rthca cthj tksubthres1 tksubthres2"), {"m": ("", "1")})  # fmt: skip
_GAAS = Kind("mesfet", ("d", "g", "s"), _MESFET, 1)
KINDS: dict[tuple[str, str], Kind] = {
    ("d", "1"): Kind("diode", ("p", "n"), _DIODE, 0, _words("bv"), _DIODE_REST),
    ("npn", "1"): _BJT,
    ("pnp", "1"): replace(_BJT, polarity=-1),
    ("njf", "1"): _JFET,
    ("pjf", "1"): replace(_JFET, polarity=-1),
    ("njf", "2"): _PARKER,
    ("pjf", "2"): replace(_PARKER, polarity=-1),
    **{("nmos", level): kind for level, kind in _LEVELS.items()},
    **{("pmos", level): replace(kind, polarity=-1) for level, kind in _LEVELS.items()},
    ("vdmos", "1"): _POWER,
    ("nmf", "1"): _GAAS,
    ("pmf", "1"): replace(_GAAS, polarity=-1),
    **{("nmf", level): kind for level, kind in _MESFETS.items()},
}
"""By type and level."""
_DETAILED_DIODE = Kind(
    "detailed_diode", ("p", "n"), {**_DIODE, **_DETAILED}, 0, _words("bv ikf ik ikr"), _DIODE_REST, _DIODE_SIZES
)
LETTERS = {"d": ("d",), "q": ("npn", "pnp"), "j": ("njf", "pjf"), "m": ("nmos", "pmos", "vdmos"), "z": ("nmf", "pmf")}
"""The types of models that an element takes, by its first letter."""
_NAMES = {
    "d": "a diode", "npn": "a bipolar transistor", "pnp": "a bipolar transistor", "njf": "a JFET", "pjf": "a JFET",
    "nmos": "a MOSFET", "pmos": "a MOSFET", "vdmos": "a VDMOS", "nmf": "a MESFET", "pmf": "a MESFET",
}  # fmt: skip
_FOREIGN = {
    "4": "BSIM1 or VBIC", "5": "BSIM2", "8": "BSIM3 or HICUM", "9": "MOS9 or VBIC", "10": "BSIMSOI", "14": "BSIM4",
    "49": "BSIM3", "54": "BSIM4", "53": "BSIM3", "44": "EKV", "60": "BSIM6", "68": "HiSIM2", "73": "HiSIM_HV",
}  # fmt: skip


_HETERO = {"5": "HFET1", "6": "HFET2"}


def kind_of(model: Model) -> Kind:
    """What a `.model` line describes, by its type and level. Raises `InputError`."""
    if not any(model.type == type_ for type_, _ in KINDS):
        types = sorted({type_ for type_, _ in KINDS})
        hint = nearest(model.type, types) or f"there are {', '.join(types)}, r, c, l, sw and csw"
        message = f"models of the type '{model.type}' are not known"
        raise InputError(Problem("E130", message, model.card.at(model.card.plain[1]), hint=hint))
    level = model.given["level"][1].text if "level" in model.given else "1"
    level = level.removesuffix(".0").removesuffix(".")
    level = "1" if model.type == "d" and level == "3" else level
    kind = KINDS.get((model.type, level))
    if kind is None:
        card, token = model.given["level"]
        known = ", ".join(sorted(each for type_, each in KINDS if type_ == model.type))
        families = _HETERO if model.type in LETTERS["z"] else _FOREIGN
        foreign = f" ({families[level]})" if level in families else ""
        message = f"level {level}{foreign} of {_NAMES[model.type]} is not known"
        raise InputError(Problem("E130", message, card.at(token), hint=f"there is level {known}"))
    detailed = model.type == "d" and any(name in _DETAILED for name in model.given)
    return _DETAILED_DIODE if detailed else kind


SILENT = _words(
    "kf af ef gdsnoi nlev level mfg type vceo icrating vpk iave version tnom tref t_measured t_abs t_rel_global "
    "lis nk vds ron qg fv_max bv_max id_max te_max pd_max rth0 cth0 ibv_max nfk vbr vgs_max vgd_max vds_max vbs_max "
    "vbd_max vgsr_max vgdr_max idr_max rth_ext derating cmetal cpoly lm lp wm wp xom xoi xm xp icmax vcemax ibmax "
    "vbemax ver"
)
"""What changes no waveform: noise, and remarks of manufacturers."""
