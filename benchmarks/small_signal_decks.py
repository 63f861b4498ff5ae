"""SPICE circuits for `small_signals.py`, that together have every device that netsim reads, with their `.dc` and `.pz`
lines; and what of ngspice's small signals is no measure."""

import numpy as np

Array = np.ndarray

TEXT = """
* ladder
v1 in 0 dc 1 ac 1
r1 in a 50
l1 a b 1u
c1 b 0 1n
k1 l1 l2 0.6
l2 c 0 2u
r3 c out 10
c2 out 0 3n
r2 b out 75
.dc v1 0 1 0.25
.pz in 0 out 0 vol pz
* controlled
v1 in 0 dc 1 ac 2 30
i1 0 a 1m
r1 in a 1k
c1 a 0 1n
e1 b 0 a 0 5
r2 b c 1k
g1 0 c a b 1m
r4 c 0 3k
f1 0 d v1 3
r5 d 0 1k
h1 e 0 v1 50
r6 e out 1k
r7 d out 1k
r8 c out 1k
c3 out 0 10p
.dc i1 -1m 1m 0.5m
.pz in 0 out 0 vol pz
* behavioural
v1 in 0 dc 1 ac 1
r1 in a 1k
b1 a 0 i=1m*v(a)^3
b2 c 0 v=sin(v(in))+tanh(v(a))
r2 c out 1k
c1 out 0 1n
c2 a 0 2n
r3 a out 5k
.dc v1 0.5 2 0.25
.pz in 0 out 0 vol pz
* diode
v1 in 0 dc 2 ac 1
r1 in out 1k
d1 out 0 dm
c1 out 0 1n
.model dm d(is=1e-14 rs=5 cjo=5p vj=0.7 m=0.4 n=1.1 tt=4n kf=1e-16)
.dc v1 -5 2 0.5
.pz in 0 out 0 vol pz
* stage of an npn
v1 in 0 dc 0 ac 1
vcc vcc 0 12
rb1 vcc b 47k
rb2 b 0 10k
cin in b 1u
rc vcc c 2.2k
re e 0 470
ce e 0 47u
q1 c b e 0 qn
cl c out 100n
rl out 0 10k
.model qn npn(is=1e-15 bf=150 vaf=80 ikf=50m ise=1e-14 ne=1.7 rb=50 rc=2 re=0.5 cje=10p cjc=4p cjs=2p tf=0.4n
+ tr=10n kf=1e-15)
.dc vcc 3 12 1
.pz in 0 out 0 vol pz
* pair of npn and pnp
v1 in 0 dc 1 ac 1
vcc vcc 0 10
r1 in b 1k
q1 c b e qn
re e 0 1k
r2 vcc b 100k
rc vcc c 3k
q2 out c f qp
rf vcc f 500
ro out 0 4k
cf out b 5p
.model qn npn(is=1e-15 bf=150 vaf=80 ikf=50m ise=1e-14 ne=1.7 rb=50 rc=2 re=0.5 cje=10p cjc=4p cjs=2p tf=0.4n
+ tr=10n kf=1e-15)
.model qp pnp(is=2e-15 bf=80 vaf=50 rb=80 cje=12p cjc=6p tf=1n kf=1e-15)
.dc v1 0 0.5 0.1
.pz in 0 out 0 vol pz
* jfet
v1 in 0 dc 0 ac 1
vdd dd 0 15
rg in g 100k
j1 out g s jm
rd dd out 3k
rs s 0 800
cs s 0 10u
.model jm njf(vto=-3 beta=1m lambda=0.01 rd=10 rs=10 cgs=4p cgd=2p kf=1e-17)
.dc v1 -2 0 0.25
.pz in 0 out 0 vol pz
* jfet, level 2
v1 in 0 dc -0.4 ac 1
vdd dd 0 5
rg in g 1k
j1 out g s jm
rd dd out 150
rs s 0 20
cs s 0 10u
cl out 0 1p
.model jm njf(level=2 beta=12m vto=-1.4 q=2.2 p=2.6 xi=0.3 mxi=0.1 z=0.6 lambda=0.02 vst=60m mvst=0.15 lfgam=0.04
+ lfg1=5m lfg2=3m hfgam=0.1 hfg1=0.02 hfg2=0.01 hfeta=0.05 hfe1=0.01 hfe2=0.02 taug=1u delta=0.3 taud=1m vbi=0.8
+ rd=3 rs=2 cgs=0.6p cgd=0.2p cds=0.1p xc=0.1 acgam=0.03 kf=1e-14)
.dc v1 -1.4 0.2 0.2
* mesfet
v1 in 0 dc -0.5 ac 1
vdd dd 0 4
rg in g 50
z1 out g 0 zm
rd dd out 100
cl out 0 1p
.model zm nmf(vto=-1.3 alpha=2.5 beta=3m lambda=0.03 b=0.3 rd=5 rs=5 cgs=0.5p cgd=0.1p kf=1e-16)
.dc v1 -1 0 0.25
.pz in 0 out 0 vol pz
* mesfet, level 2
v1 in 0 dc -0.5 ac 1
vdd dd 0 4
rg in g 50
z1 out g 0 zm w=100u
rd dd out 100
cl out 0 1p
.model zm nmf(level=2 rd=20 rs=20 rg=10 ri=5 rf=5 rsi=2 rdi=3 theta=0.03 tc=0.2)
.dc v1 -1.5 0 0.25
.pz in 0 out 0 vol pz
* mesfet, level 3
v1 in 0 dc -0.5 ac 1
vdd dd 0 4
rg in g 50
z1 out g 0 zm w=100u
rd dd out 100
cl out 0 1p
.model zm nmf(level=3 vto=-2.04 mu=0.2 m=2.2 eta=1.5 rdi=2.7 rsi=2.7 tc=1m sigma0=0.02)
.dc v1 -1.5 0 0.25
.pz in 0 out 0 vol pz
* mesfet, level 4
v1 in 0 dc -0.5 ac 1
vdd dd 0 4
rg in g 50
z1 out g 0 zm w=100u
rd dd out 100
cl out 0 1p
.model zm nmf(level=4 vto=-1 rd=20 rs=20 rsi=3 nmax=1e16)
.dc v1 -1.5 0 0.25
.pz in 0 out 0 vol pz
* cmos, level 1
v1 in 0 dc 2.4 ac 1
vdd dd 0 5
rg in g 1k
m1 out g 0 0 mn w=10u l=2u ad=40p as=40p pd=28u ps=28u
m2 out g dd dd mp w=20u l=2u ad=80p as=80p pd=48u ps=48u
rl out 0 100k
cl out 0 0.1p
.model mn nmos(vto=0.8 kp=50u gamma=0.5 lambda=0.02 tox=50n cgso=0.2n cgdo=0.2n cj=0.3m cjsw=0.2n kf=1e-26)
.model mp pmos(vto=-0.8 kp=20u gamma=0.5 lambda=0.03 tox=50n cgso=0.2n cgdo=0.2n cj=0.3m cjsw=0.2n kf=1e-26)
.dc v1 1 4 0.5
.pz in 0 out 0 vol pz
* mosfet, level 2
v1 in 0 dc 1.2 ac 1
vdd dd 0 10
rg in g 1k
m1 out g 0 0 mm w=50u l=5u
rd dd out 20k
cl out 0 1p
.model mm nmos(level=2 vto=0.7 nsub=1e16 uo=600 vmax=5e4 xj=0.5u tox=50n cgso=0.2n cgdo=0.2n)
.dc v1 1 4 0.5
.pz in 0 out 0 vol pz
* mosfet, level 3
v1 in 0 dc 1.2 ac 1
vdd dd 0 10
rg in g 1k
m1 out g 0 0 mm w=50u l=5u
rd dd out 20k
cl out 0 1p
.model mm nmos(level=3 vto=0.7 nsub=1e16 uo=600 vmax=1e5 theta=0.05 eta=0.02 kappa=0.5 tox=50n cgso=0.2n
+ cgdo=0.2n)
.dc v1 1 4 0.5
.pz in 0 out 0 vol pz
* mosfet, level 6
v1 in 0 dc 1.1 ac 1
vdd dd 0 10
rg in g 1k
m1 out g 0 0 mm w=50u l=5u
rd dd out 20k
cl out 0 1p
.model mm nmos(level=6 vto=0.7 kv=1.5 nv=0.5 kc=5e-5 nc=1.1 lambda0=0.02 tox=50n cgso=0.2n cgdo=0.2n)
.dc v1 1 4 0.5
* vdmos
v1 in 0 dc 2.3 ac 1
vdd dd 0 20
rg in g 50
m1 out g 0 mm
rd dd out 10
.model mm vdmos(vto=2 kp=5 lambda=0.01 rd=0.05 rs=0.02 mtriode=0.9 theta=0.02 cgdmax=1n cgdmin=0.1n cgs=0.8n
+ cjo=0.5n kf=1e-16)
.dc v1 2 3 0.25
* switches
v1 in 0 dc 1 ac 1
v2 u 0 2
r3 u 0 1k
r1 in a 1k
s1 a 0 u 0 sm
w1 a out v2 wm
r2 out 0 1k
c1 out 0 1n
s2 out a 0 u sm
.model sm sw(vt=1 vh=0.3 ron=100 roff=1e7)
.model wm csw(it=-1m ih=0.2m ron=5 roff=1e6)
.dc v2 0 3 0.25
.pz in 0 out 0 vol pz
* lossless line
v1 in 0 dc 1 ac 1
r1 in a 25
t1 a 0 out 0 z0=50 td=3n
r2 out 0 150
c1 out 0 2p
.dc v1 0 1 0.5
* line with losses (O)
v1 in 0 dc 1 ac 1
r1 in a 50
o1 a 0 out 0 om
r2 out 0 75
.model om ltra(r=2 l=250n c=100p len=1)
.dc v1 0 1 0.5
* line with losses (Y)
v1 in 0 dc 1 ac 1
r1 in a 50
y1 a 0 out 0 ym len=1
r2 out 0 75
.model ym txl(r=5 l=200n c=80p g=0 length=1)
.dc v1 0 1 0.5
* distributed RC (U)
v1 in 0 dc 1 ac 1
r1 in a 50
u1 a out 0 um l=50u
r6 out 0 10k
.model um urc(k=2 fmax=1g rperl=20k cperl=1n)
.dc v1 0 1 0.5
* subcircuits
.param r=1k
.subckt cell i o c=1n
r1 i m {r}
c1 m 0 {c}
x1 m o half k=2
.ends
.subckt half i o k=1
r1 i o {r*k}
c1 o 0 100p
.ends
v1 in 0 dc 1 ac 1
x1 in a cell
x2 a out cell c=2n
r1 out 0 10k
.dc v1 0 1 0.5
.pz in 0 out 0 vol pz
"""


def _circuits() -> dict[str, str]:
    """Name -> lines."""
    parts = [part.partition("\n") for part in TEXT.strip().removeprefix("* ").split("\n* ")]
    return {name: f"{lines.rstrip()}\n" for name, _, lines in parts}


CIRCUITS = _circuits()
INSTEAD = {
    "switches": {
        "s1 a 0 u 0 sm": "rs1 a 0 100",
        "w1 a out v2 wm": "rw1 a out 1meg",
        "s2 out a 0 u sm": "rs2 out a 10meg",
    },
    "line with losses (Y)": {
        "y1 a 0 out 0 ym len=1": "o1 a 0 out 0 om",
        ".model ym txl(r=5 l=200n c=80p g=0 length=1)": ".model om ltra(r=5 l=200n c=80p len=1)",
    },
}
"""What ngspice reads in small signals in place of lines of a circuit: there it takes closed switches for open ones (at
10 Hz its `.ac` is not its own `.tf`), and a line `Y` for a resistance."""

KELVIN = "1e-4 K moves the potentials of junctions by 1e-7"
OWN_GAIN = "ngspice's gains differ from its own .dc, those of netsim do not"
NO_SIGNALS = "ngspice has no small signals of level 6"
GATES = "ngspice's gains differ from its own .dc; no gain of level 4, no noise, a wrong conductance of gates"
RELAXED = "losses are relaxations (decision 0207)"
EXCEPT = {
    "stage of an npn": ({".ac": 5e-9}, KELVIN),
    "pair of npn and pnp": ({".ac": 2e-8}, KELVIN),
    "mesfet, level 2": ({".ac": 1e-1, ".noise": np.inf, ".tf": np.inf, ".pz": 5e-3}, GATES),
    "mesfet, level 3": ({".ac": 1e-2, ".noise": np.inf, ".tf": np.inf, ".pz": 1e-3}, GATES),
    "mesfet, level 4": ({".ac": np.inf, ".noise": np.inf, ".tf": np.inf, ".pz": np.inf}, GATES),
    "mosfet, level 2": ({".ac": 1e-3, ".noise": 5e-3, ".tf": 1e-3, ".pz": 1e-3}, OWN_GAIN),
    "mosfet, level 3": ({".ac": 5e-2, ".noise": 2e-1, ".tf": 5e-2, ".pz": 5e-2}, OWN_GAIN),
    "mosfet, level 6": ({".ac": np.inf, ".noise": np.inf}, NO_SIGNALS),
    "line with losses (O)": ({".ac": 5e-4, ".noise": 5e-4}, RELAXED),
    "line with losses (Y)": ({".ac": 1e-3, ".noise": 1e-3}, RELAXED),
}
"""Bounds that are not those of `small_signals.BOUNDS`, with the reasons."""


def closed_roots(name: str) -> tuple[Array, Array] | None:
    """Poles and zeros where ngspice's `.pz` is wrong: it loses the zero of `controlled`, and leaves the gains of B
    sources out."""
    from scipy.optimize import fsolve

    if name == "controlled":
        return np.array([-1e6, -(3 - 0.5 - 3 / 7) / 1e-8]), np.array([3 / 7 / 1.55e-6])
    if name != "behavioural":
        return None
    R, R3, C1, C2 = 1e3, 5e3, 1e-9, 2e-9

    def rest(x: Array) -> list[float]:
        a, out = x
        balance = (np.sin(1) + np.tanh(a) - out) / R + (a - out) / R3
        return [((1 - a) / R - 1e-3 * a**3 - (a - out) / R3) * R, balance * R]

    a, _ = fsolve(rest, [0.7, 1.2], xtol=1e-14)
    g, k = 3e-3 * a**2, 1 / np.cosh(a) ** 2
    matrix = np.array([[-(1 / R + g + 1 / R3) / C2, 1 / R3 / C2], [(k / R + 1 / R3) / C1, -(1 / R + 1 / R3) / C1]])
    return np.linalg.eigvals(matrix), np.array([-((k + R / R3) / np.cos(1) / R + 1 / R + g + 1 / R3) / C2])
