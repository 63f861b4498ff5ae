"""Random networks as netlist text: islands of several domains, each with a spanning structure to its ground, joined by couplings and signals.

Every island has a level U of its across quantity; through quantities have I = P/U, since couplings hand over power of one size P. All happens
in times around T. So a resistance is about U/I, a capacitance I*T/U: `<...>` in the texts below is such an expression, times a random factor.
A line's `{p}` and `{n}` are nodes, `{s}` is a new node, `{wave}` a smooth function of time or a signal.
"""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st


@dataclass(frozen=True)
class Domain:
    """What an island is made of: `tree` determines p by n, `stores` and `sources` act on p, `links` lie between any two nodes."""

    across: tuple[str, ...]
    nominal: tuple[float, ...]
    unit: str
    decades: tuple[int, int]
    tree: tuple[str, ...]
    stores: tuple[str, ...]
    links: tuple[str, ...]
    sources: tuple[str, ...]
    root: str = ""


DOMAINS = {
    "electrical": Domain(
        ("v",), (1.0,), "V", (-3, 3),
        ("resistor ({p}, {n}) R = <U/I> Ohm", "series_rl ({p}, {n}) R = <U/I> Ohm, L = <U*T/I> H", "conductor ({p}, {n}) G = <I/U> S"),
        ("capacitor ({p}, ground) C = <I*T/U> F", "leaky_capacitor ({p}, ground) C = <I*T/U> F, G = <0.1*I/U> S"),
        ("capacitor ({p}, {n}) C = <I*T/U> F", "series_rl ({p}, {n}) R = <0.1*U/I> Ohm, L = <U*T/I> H",
         "exponential_diode ({p}, {n}) Is = <1e-4*I> A, Vt = <U/20> V, R = <1e6*U/I> Ohm",
         "diode ({p}, {n}) Is = <1e-6*I> A, N = <1 + 10*U>, Rs = <0.01*U/I> Ohm, Cj = <0.1*I*T/U> F",
         "vccs ({p}, ground, {n}, ground) g = <0.1*I/U> S", "resistor ({p}, {n}) R = <U/I> Ohm"),
        ("current ({p}, ground) I = <I> A*{wave}", "voltage ({s}, ground) v = <U> V*{wave}; resistor ({s}, {p}) R = <U/I> Ohm"),
    ),
    "translational": Domain(
        ("x", "v"), (1.0, 1.0), "m/s", (-3, 2),
        ("spring_damper ({p}, {n}) c = <I/U/T> N/m, d = <I/U> N.s/m", "spring_damper ({p}, {n}) c = <I/U/T> N/m, d = <0.1*I/U> N.s/m"),
        ("mass ({p}) m = <I*T/U> kg",),
        ("spring ({p}, {n}) c = <I/U/T> N/m", "cubic_spring ({p}, {n}) c = <I/U/T> N/m, c3 = <I/(U*T)**3> N/m3",
         "drag ({p}, {n}) b = <I/U**2> N.s2/m2",
         "friction ({p}, {n}) F = <0.1*I> N, vs = <U/10> m/s", "rope ({p}, {n}) c = <I/U/T> N/m"),
        ("force ({p}) F = <I> N*{wave}", "relative_force ({p}, {n}) F = <I> N*{wave}",
         "displacement ({s}, ground) s = <U*T> m*{wave}; spring_damper ({s}, {p}) c = <I/U/T> N/m, d = <0.1*I/U> N.s/m"),
    ),
    "rotational": Domain(
        ("phi", "w"), (1.0, 1.0), "rad/s", (-1, 3),
        ("torsion_spring_damper ({p}, {n}) c = <I/U/T> N.m/rad, d = <0.3*I/U> N.m.s/rad",),
        ("inertia ({p}) J = <I*T/U> kg.m2",),
        ("torsion_spring ({p}, {n}) c = <I/U/T> N.m/rad", "torsion_damper ({p}, {n}) d = <I/U> N.m.s/rad", "fan ({p}, {n}) b = <I/U**2> N.m.s2/rad2",
         "bearing_friction ({p}, {n}) T = <0.1*I> N.m, ws = <U/10> rad/s", "backlash_shaft ({p}, {n}) c = <I/U/T> N.m/rad, play = <0.1*U*T> rad"),
        ("torque ({p}) T = <I> N.m*{wave}", "speed ({s}, ground) w = <U> rad/s*{wave}; torsion_damper ({s}, {p}) d = <I/U> N.m.s/rad"),
    ),
    "thermal": Domain(
        ("T",), (1.0,), "K", (-2, 2),
        ("thermal_conductor ({p}, {n}) G = <I/U> W/K", "thermal_resistor ({p}, {n}) R = <U/I> K/W"),
        ("heat_capacity ({p}) C = <I*T/U> J/K",),
        ("thermal_conductor ({p}, {n}) G = <I/U> W/K", "thermal_radiation ({p}, {n}) A = <0.2*I/U> m2"),
        ("heat_flow ({p}) Q = <I> W*{wave}", "temperature ({s}) T = 293.15 K + <U> K*{wave}; thermal_conductor ({s}, {p}) G = <I/U> W/K"),
        "temperature ({s}) T = 293.15 K",
    ),
    "hydraulic": Domain(
        ("p",), (1e5,), "Pa", (3, 7),
        ("pipe ({p}, {n}) R = <U/I> Pa.s/m3, k = <U/I**2> Pa.s2/m6", "pipe_section ({p}, {n}) R = <U/I> Pa.s/m3, L = <U*T/I> kg/m4",
         "pipe ({p}, {n}) R = <U/I> Pa.s/m3"),
        ("volume ({p}) V = <I*T/U*1e9> m3, K = 1 GPa",),
        ("orifice ({p}, {n}) A = <I*(870/U)**0.5> m2, dpt = <U/100> Pa", "check_valve ({p}, {n}) G = <I/U> m3/s/Pa, soft = <U/10> Pa",
         "pipe ({p}, {n}) R = <U/I> Pa.s/m3", "pipe_section ({p}, {n}) R = <0.1*U/I> Pa.s/m3, L = <U*T/I> kg/m4"),
        ("flow ({p}, ground) Q = <I> m3/s*{wave}", "pressure ({s}, ground) p = <U> Pa*{wave}; pipe ({s}, {p}) R = <U/I> Pa.s/m3"),
    ),
    "magnetic": Domain(
        ("V",), (1e3,), "A", (1, 4),
        ("reluctance ({p}, {n}) R = <U/I/T> H^-1", "permeance ({p}, {n}) G = <I*T/U> H",
         "saturating_core ({p}, {n}) l = <1.5e-3*U> m, A = <0.6*I*T> m2"),
        ("eddy_current ({p}, ground) G = <U/I> S",),
        ("eddy_current ({p}, {n}) G = <U/I> S", "reluctance ({p}, {n}) R = <U/I/T> H^-1",
         "saturating_core ({p}, {n}) l = <1.5e-3*U> m, A = <0.6*I*T> m2"),
        ("magnetomotive_force ({s}, ground) theta = <U> A*{wave}; reluctance ({s}, {p}) R = <U/I/T> H^-1",
         "prescribed_flux ({p}, ground) flux = <I*T> Wb*{wave}"),
    ),
}  # fmt: skip
"""In magnetic circuits through times across is energy: their flux is I*T."""

COUPLINGS = {
    ("electrical", "rotational"): ("dc_motor ({p}, ground, {n}) R = <U/I> Ohm, L = <U*T/I> H, k = <U/W> N.m/A",
                                   "resistor ({p}, {s}) R = <U/I> Ohm; emf ({s}, ground, {n}) k = <U/W> N.m/A"),
    ("electrical", "translational"): ("resistor ({p}, {s}) R = <U/I> Ohm; voice_coil ({s}, ground, {n}) k = <U/W> N/A",),
    ("electrical", "magnetic"): ("resistor ({p}, {s}) R = <U/I> Ohm; winding ({s}, ground, {n}, ground) N = <U/J>",),
    ("electrical", "thermal"): ("heated_resistor ({p}, ground, {n}) R = <U/I> Ohm",),
    ("hydraulic", "rotational"): ("pump ({p}, ground, {n}) D = <I/W> m3/rad",
                                "lossy_pump ({p}, ground, {n}) D = <I/W> m3/rad, leak = <0.1*I/U> m3/s/Pa, d = <0.1*J/W> N.m.s/rad"),
    ("hydraulic", "translational"): ("piston ({p}, {n}, ground) A = <I/W> m2",),
    ("rotational", "translational"): ("rack_pinion ({p}, {s2}) r = <W/U> m; spring_damper ({s2}, {n}) c = <J/W/T> N/m, d = <0.1*J/W> N.s/m",),
    ("translational", "thermal"): ("heated_damper ({p}, ground, {n}) d = <I/U> N.s/m",),
    ("rotational", "thermal"): ("heated_torsion_damper ({p}, ground, {n}) d = <I/U> N.m.s/rad",),
}  # fmt: skip
"""Between node p of the first (U, I) and node n of the second island (W, J)."""

BLOCKS = ("first_order ({u}, {y}) T = <T> s", "sine_of ({u}, {y})", "saturation ({u}, {y}) limit = <1>", "product ({u}, {v}, {y})",
          "sum ({u}, {v}, {y}) k1 = <0.5>, k2 = -<0.5>", "gain ({u}, {y}) k = <0.5>", "critical_damping ({u}, {y}) f = <1/T> Hz")  # fmt: skip


@dataclass(frozen=True)
class Network:
    """A netlist without its run line, the length of its run in s, its saved signals with (kind, nominal size) of each."""

    text: str
    stop: float
    saved: dict[str, tuple[str, float]]


@dataclass
class Sketch:
    """A network while it is drawn: its elements, its saved signals, the signals that sources may follow."""

    draw: st.DrawFn
    spread: float
    span: float
    power: float
    lines: list[str] = field(default_factory=list)
    saved: dict[str, tuple[str, float]] = field(default_factory=dict)
    waves: list[str] = field(default_factory=list)

    def one(self, choices: Sequence[str]) -> str:
        return self.draw(st.sampled_from(choices))

    def decimal(self, low: int, high: int) -> float:
        return self.draw(st.integers(low, high)) / 100

    def wave(self) -> str:
        """A smooth function of time, of size 1."""
        pace, phase = 10 ** self.decimal(-50, 50) / self.span, self.decimal(0, 600)
        sine = f"sin({pace:.3g} rad/s*time + {phase:.3g})"
        return self.one([sine, sine, f"{sine}*exp(-time/({5 * self.span:.3g} s))", f"(1 - exp(-time/({self.span:.3g} s)))", *self.waves])

    def add(self, template: str, level: dict[str, float], **nodes: str) -> None:
        """The elements of a template, with their values drawn."""
        for text in template.split("; "):
            line = f"x{len(self.lines)} " + text.format(wave=self.wave() if "{wave}" in text else "", **nodes)
            self.lines.append(re.sub(r"<(.*?)>", lambda m: f"{eval(m[1], {}, level) * 10 ** (self.spread * self.decimal(-50, 50)):.3g}", line))


def signals(sketch: Sketch) -> None:
    """A few blocks, each fed by those before it."""
    for k in range(sketch.draw(st.integers(0, 4))):
        y, before = f"y{k}", list(sketch.waves)
        template = sketch.one(BLOCKS) if before else "signal_source ({y}) value = {wave}"
        sketch.add(template, {"T": sketch.span}, y=y, **({"u": sketch.one(before), "v": sketch.one(before)} if before else {}))
        sketch.waves.append(y)
        sketch.saved[y] = ("signal", 1.0)


def island(sketch: Sketch, name: str, count: int) -> tuple[str, dict[str, float], list[str]]:
    """`count` nodes of one domain: its name, its level, its nodes."""
    domain, letters = DOMAINS[name], name[:3]
    level = {"U": 10.0 ** sketch.draw(st.integers(*domain.decades)), "T": sketch.span}
    level["I"] = sketch.power / level["U"]
    root = f"{letters}_root" if domain.root else "ground"
    if domain.root:
        sketch.add(domain.root, level, s=root)
    nodes: list[str] = []
    for k in range(count):
        node, parent = f"{letters}{k}", sketch.one([root, *nodes])
        nodes.append(node)
        sketch.add(sketch.one(domain.tree), level, p=node, n=parent)
        if sketch.draw(st.integers(0, 9)) < (7 if sketch.spread > 1 else 10):
            sketch.add(sketch.one(domain.stores), level, p=node)
        for across, nominal in zip(domain.across, domain.nominal, strict=True):
            sketch.saved[f"{node}.{across}"] = (f"{name} {across}", nominal)
    for _ in range(sketch.draw(st.integers(count // 2, count))):
        p, n = sketch.draw(st.permutations([root, *nodes]))[:2]
        sketch.add(sketch.one(domain.links), level, p=p, n=n)
    for _ in range(sketch.draw(st.integers(1, 2))):
        sketch.add(sketch.one(domain.sources), level, p=sketch.one(nodes), n=root, s=f"{letters}_{len(sketch.lines)}")
    return name, level, nodes


@st.composite
def networks(draw: st.DrawFn, spread: float) -> Network:
    """Networks of 10 to 60 elements whose values lie within `spread` decades around the middle; up to one decade every node stores energy."""
    sketch = Sketch(draw, spread, 10.0 ** draw(st.integers(-5, 3)), 10.0 ** draw(st.integers(-4, 4)))
    names = draw(st.lists(st.sampled_from(sorted(DOMAINS)), min_size=1, max_size=3, unique=True))
    signals(sketch)
    count = draw(st.integers(4, 16 // len(names)))
    islands = [island(sketch, name, count) for name in names]
    for (a, level, some), (b, other, others) in itertools.permutations(islands, 2):
        if (a, b) in COUPLINGS:
            k = len(sketch.lines)
            ends = {"p": sketch.one(some), "n": sketch.one(others), "s": f"{a[:3]}_{k}", "s2": f"{b[:3]}_{k}"}
            sketch.add(sketch.one(COUPLINGS[a, b]), {**level, "W": other["U"], "J": other["I"]}, **ends)
    libraries = [*sorted({*names, *(["signal"] if sketch.waves else [])}), *(["couplings"] if len(names) > 1 else [])]
    text = "\n".join([*(f"use {name}" for name in libraries), *sketch.lines])
    return Network(text, sketch.span * 10.0 ** sketch.decimal(50, 150), sketch.saved)
