"""A network for each component of the library, generated from the catalogue: every terminal at a node of its own, with
what makes it well-posed. The pages of the site show it, and tests run it."""

from collections.abc import Mapping
from pathlib import Path

from netsim.library.catalogue import whole_library
from netsim.library.component import default_counts, sizes_of
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import ComponentDef, Count, Expr, ModelDef, Param, Quantity

LIBRARY = whole_library()
HOSTS = {
    "electrical": (
        "resistor ({n}, ground) R = {k} Ohm|capacitor ({n}, ground) C = {k} mF"
        "|current (ground, {n}) I = {k} mA*cos(200 rad/s*time)"
    ),
    "translational": (
        "mass ({n}) m = {k} kg|spring_damper ({n}, ground) c = 20 N/m, d = 3 N.s/m"
        "|force ({n}) F = {k} N*cos(200 rad/s*time)"
    ),
    "rotational": (
        "inertia ({n}) J = {k} kg.m2|torsion_spring_damper ({n}, ground) c = 20 N.m/rad, d = 3 N.m.s/rad"
        "|torque ({n}) T = {k} N.m*cos(200 rad/s*time)"
    ),
    "thermal": (
        "heat_capacity ({n}) C = {k} kJ/K|thermal_resistor ({n}, w{n}) R = {k} K/W"
        "|temperature (w{n}) T = {warm} K + 20 K*sin(200 rad/s*time)"
    ),
    "hydraulic": (
        "volume ({n}) V = {k} L|pipe ({n}, ground) R = 1e9 Pa.s/m3|flow ({n}, ground) Q = {k} cm3/s*cos(200 rad/s*time)"
    ),
    "magnetic": "reluctance ({n}, ground) R = {k}e6 H^-1",
    "gas": "gas_volume ({n}) V = {k} L|start {n}.p = 1.{k} bar|start {n}.T = {warm} K",
    "coolant": "coolant_pipe ({n}, w{n}) R = {k}e6 Pa.s/m3|coolant_reservoir (w{n}) p = 0.1 bar, T = {warm} K",
    "planar": "planar_body ({n}) m = {k} kg, I = {k} kg.m2, at = [{k}, 0.5] m",
    "spatial": "body ({n}) m = {k} kg, I = diag(1.{k}, 1.2, 1.5) kg.m2, at = [{k}, 0.5, 0.2] m",
}
"""What makes a node of each domain well-posed."""
STANDS = {"planar": "[1, 0.5] m", "spatial": "[1, 0.5, 0.2] m"}
"""Where the host of a first terminal stands: a component that says where its node is stands there too."""
USUAL = {"kg": 1.0, "K": 300.0, "Pa": 1e5}
"""Values that a parameter without a default takes here, by unit; 1 of the others."""
ALONE = ("gas_reservoir", "rate_of", "gas_pressure_source")
"""Components that prescribe what a host would store: they stand without hosts."""
BETWEEN = {
    "opamp": ["r1 resistor (n2, n3) R = 1 kOhm"],
}
"""Lines that a component needs beside its hosts."""
VALUES = {
    "at2": 3.0,
    "upper": 3.0,
    "ri": 0.5,
    "hi": 2.0,
    "e": 0.3,
    "light": 0.2,
}
"""Values of parameters without a default that have to differ from the others."""
ROUND = {"E": "200 GPa", "rho": "7800 kg/m3", "r": "10 mm"}
SECTIONS = {
    name: ROUND
    for name in (
        "planar_shortened_link",
        "planar_beam",
        "spatial_flexible_link",
        "spatial_shortened_link",
        "spatial_beam",
    )
} | {"planar_bar": {"at1": "[0, 0.5] m", "at2": "[2, 0.5] m"}}
"""What beams need that may be given in several ways: their section; a bar whose middle is at its host."""
COUNT = 2
"""What a count without a default is here."""
NONE = ("bending", "foreshortening", "deflection", "shortening")
"""Domains inside beams, whose components stand between others of a model only (test_beams.py)."""


def values_of(definition: ComponentDef | ModelDef) -> dict[str, str]:
    """Values for what must be given."""
    if isinstance(definition, ModelDef):
        sizes = {
            c.name: COUNT if c.default is None else round(number(c.default))
            for c in definition.body
            if isinstance(c, Count)
        }
        given = {c.name: str(COUNT) for c in definition.body if isinstance(c, Count) and c.default is None}
        return given | {
            p.name: value_of(p, sizes) for p in definition.body if isinstance(p, Param) and p.default is None
        }
    counts = default_counts(definition)
    needed = [*(p for p in definition.params if p.default is None), *definition.inputs]
    return {each.name: value_of(each, counts) for each in needed}


def value_of(statement: Param | Quantity, counts: dict[str, int]) -> str:
    """A value for a parameter or an input without a default, within its bounds, as text."""
    bounds = statement.bounds if isinstance(statement, Param) else ()
    low = [number(b.value) for b in bounds if b.op in (">", ">=")]
    high = [number(b.value) for b in bounds if b.op in ("<", "<=")]
    unit = statement.unit or ""
    usual = USUAL.get(unit, 1.0) if not high else (low[0] if low else 0.0) + 0.37 * (high[0] - (low[0] if low else 0.0))
    usual = VALUES.get(statement.name, max(usual, 2 * low[0] if low else usual))
    return written(usual, statement.size, unit, counts)


def number(expr: Expr) -> float:
    """The value of a bound; names in it are 1."""
    return float(evaluate(expr, Scope(lambda name: Typed(1.0, None))).value)


def written(value: float, size: tuple[Expr, ...], unit: str, known: dict[str, int]) -> str:
    """A value, or a vector or matrix of such values, as text."""
    counts = sizes_of(size, known) if size else ()
    unit = "H^-1" if unit == "1/H" else "V^-1" if unit == "1/V" else unit
    unit = f" {unit}" if unit and unit != "1" else ""
    if len(counts) == 2:
        rows = [[value * (1.0 + 0.2 * i if i == j else 0.0) for j in range(counts[1])] for i in range(counts[0])]
        return f"[{', '.join(map(str, rows))}]{unit}"
    if counts:
        return f"{[round(value * (1.0 + 0.3 * i), 6) for i in range(counts[0])]}{unit}"
    return f"{value:g}{unit}"


def netlist(
    name: str, given: Mapping[str, str] | None = None, run: str = "run transient(stop = 1 ms)", started: bool = True
) -> str:
    """The netlist of a component between its hosts; `given`: texts of parameters that are not as usual; `started`: with
    the starts of the hosts."""
    definition = LIBRARY.models[name] if name in LIBRARY.models else LIBRARY.components[name].definition
    lines: list[str] = []
    nodes: list[str] = []
    for k, terminal in enumerate(definition.terminals, 1):
        node = f"n{k}"
        nodes.append(node)
        if terminal.domain == "signal":
            lines += [f"s{k} constant ({node}) value = 0.{k}"] if terminal.direction == "in" else []
            continue
        for i, host in enumerate([] if name in ALONE else HOSTS[terminal.domain].split("|")):
            said = host.format(n=node, k=k, warm=300 + 10 * k)
            if started or not said.startswith("start"):
                lines.append(said if said.startswith("start") else f"h{k}{i} {said}")
    bindings = standing(definition) | values_of(definition) | SECTIONS.get(name, {}) | dict(given or {})
    lines += BETWEEN.get(name, [])
    lines.append(f"x {name} ({', '.join(nodes)}) " + ", ".join(f"{key} = {text}" for key, text in bindings.items()))
    libraries = {Path(definition.span.file).parent.name, *(t.domain for t in definition.terminals)}
    return "\n".join([*(f"use {library}" for library in sorted(libraries)), *lines, run, ""])


def standing(definition: ComponentDef | ModelDef) -> dict[str, str]:
    """The place of a component that gives its node one by a parameter `at` with a default."""
    if isinstance(definition, ModelDef) or not definition.places:
        return {}
    if not any(p.name == "at" and p.default is not None for p in definition.params):
        return {}
    return {"at": STANDS[definition.terminals[0].domain]}


def hosted() -> list[str]:
    """Names of the components that stand between hosts."""
    known = sorted(LIBRARY.components.items())
    return [n for n, c in known if not any(t.domain in NONE for t in c.definition.terminals)]
