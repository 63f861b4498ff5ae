"""A component as the compiler sees it: names resolved to kinds, equations sorted into substituted and solved ones.

Rules (the language reference tells them to users): a through variable that stands alone on a left side, with a right
side that does not contain it, is substituted into the node balances; every other branch through is an unknown and
brings a row. Equations must number branches + vars + signal outputs + the free throughs of terminals that are assigned
(netsim.library.checks).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache, cached_property
from math import isfinite, pi, prod
from types import MappingProxyType
from typing import Any, TypeVar

from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions import filters
from netsim.text.expressions.beams import NAMES
from netsim.text.expressions.sizes import describe
from netsim.text.expressions.typed import Scope, Typed, evaluate, span_of
from netsim.text.limits import check_limit
from netsim.text.syntax import Assert, Branch, ComponentDef, DomainDef, Equation, Expr, Name, Quantity, Terminal
from netsim.text.terms import Noise
from netsim.text.units import KNOWN_NAMES, NO_DIMENSION, Dimension, parse_unit

PLANAR = "planar"
"""The domain of frames in the plane of x and y."""
SECOND = parse_unit("s").dimension
JOULE = parse_unit("J").dimension
Term = TypeVar("Term")
CONSTANTS = {"pi": pi, **{name: float(i) for names in (NAMES, filters.FAMILIES) for i, name in enumerate(names)}}
"""What these names mean where nothing else is called so: pi, and families of shape functions and of filters by
number."""
WORLD = {
    "gravity": ("m/s2", (3,), (0.0, 0.0, -9.80665)),
    "ambient": ("K", (), 293.15),
    "oil_density": ("kg/m3", (), 860.0),
    "oil_viscosity": ("m2/s", (), 46e-6),
    "oil_bulk_modulus": ("Pa", (), 1.6e9),
}
"""Unit, size and default of what every component may read: a `world` line changes it."""
SIGNAL = DomainDef(
    "signal", across=(Quantity("y", "1", doc="value"),), doc="a causal value: one writer, many readers, no through"
)


@dataclass(frozen=True, eq=False)
class Component:
    """A checked component. `explicit` maps a through ('f', 'a.f') to its right side; `rows` are the other equations."""

    definition: ComponentDef
    domains: Mapping[str, DomainDef] = field(repr=False)

    @property
    def name(self) -> str:
        return self.definition.name

    @cached_property
    def terminals(self) -> dict[str, Terminal]:
        return {t.name: t for t in self.definition.terminals}

    def domain(self, terminal: str) -> DomainDef:
        return self.domains[self.terminals[terminal].domain]

    @cached_property
    def explicit(self) -> dict[str, Equation]:
        throughs = set(self.branch_throughs) | set(self.terminal_throughs)
        found: dict[str, Equation] = {}
        for equation in self.definition.equations:
            name = plain_name(equation.left)
            if name in throughs and name not in found and not mentions(equation.right, name):
                found[name] = equation
        return found

    @cached_property
    def rows(self) -> tuple[Equation, ...]:
        substituted = {id(e) for e in self.explicit.values()}
        substituted |= {id(e) for e in self.updates.values()}
        return tuple(e for e in self.definition.equations if id(e) not in substituted)

    @cached_property
    def updates(self) -> dict[str, Equation]:
        """Discrete equations by the discrete they give: `off = s < 0`."""
        known = {d.name for d in self.definition.discretes}
        return {
            name: e for e in self.definition.equations if (name := plain_name(e.left)) in known and name is not None
        }

    @cached_property
    def branch_throughs(self) -> dict[str, Branch]:
        return {b.names[-1]: b for b in self.definition.branches}

    @cached_property
    def terminal_throughs(self) -> dict[str, tuple[str, Quantity]]:
        """'a.f' -> (terminal, quantity) of every conserving terminal."""
        return {
            f"{t}.{q.name}": (t, q) for t in self.terminals if not self.is_signal(t) for q in self.domain(t).through
        }

    @cached_property
    def unknown_throughs(self) -> tuple[str, ...]:
        return tuple(name for name in self.branch_throughs if name not in self.explicit)

    def is_signal(self, terminal: str) -> bool:
        return self.terminals[terminal].domain == "signal"

    @cached_property
    def signal_outputs(self) -> tuple[str, ...]:
        return tuple(name for name, t in self.terminals.items() if t.direction == "out")

    @cached_property
    def claims(self) -> tuple[Assert, ...]:
        """The asserts that read quantities: judged on a run (netsim.results.claims), the others on parameters
        (netsim.network.values)."""
        return tuple(claim for claim in self.definition.asserts if self.quantities_in(claim.condition))

    def quantities_in(self, expr: Expr) -> list[Name]:
        """The names in an expression that are no parameters, counts or world values; lets are followed."""
        d, found = self.definition, list[Name]()
        lets = {let.name: let.value for let in d.lets}
        fixed = {*(p.name for p in d.params), *(c.name for c in d.counts), *WORLD, *CONSTANTS}
        for name in names_in(expr):
            word = name.parts[0].text
            found += self.quantities_in(lets[word]) if word in lets else [name] if word not in fixed else []
        return found

    @property
    def is_lagrangian(self) -> bool:
        """Whether forces follow from energies (netsim.equations.forms.lagrange)."""
        return self.definition.kinetic is not None or self.definition.potential is not None

    @property
    def is_source(self) -> bool:
        """Whether it supplies what does not flow in: it says `source`, or it has inputs and does not say what it
        `dissipates`."""
        return self.definition.is_source or (bool(self.definition.inputs) and self.definition.dissipates is None)


def is_kinematic(domain: DomainDef) -> bool:
    """Domains with an integral know position, velocity and acceleration at every node."""
    return bool(domain.integral)


def is_rotation(domain: DomainDef, position: int) -> bool:
    """An across of three components whose integral is a matrix: an angular velocity and its rotation (see
    netsim.core.rotation)."""
    return bool(domain.integral) and len(domain.integral[position].size) == 2


def turns(domain: DomainDef) -> bool:
    """Whether nodes of a domain have a rotation matrix."""
    return any(is_rotation(domain, i) for i in range(len(domain.across)))


def is_body(domain: DomainDef) -> bool:
    """Whether nodes of a domain are frames, in space or in the plane."""
    return domain.name == PLANAR or turns(domain)


def plain_name(expr: Expr) -> str | None:
    """'f' or 'a.f' for a name without indices, None for anything else."""
    return (
        ".".join(p.text for p in expr.parts)
        if isinstance(expr, Name) and not any(p.indices for p in expr.parts)
        else None
    )


def names_in(expr: Any) -> Iterator[Name]:
    """Every name in an expression, in order."""
    return terms_in(expr, Name)


def terms_in(expr: Any, kind: type[Term]) -> Iterator[Term]:
    """Every term of a kind in an expression, in order."""
    if isinstance(expr, kind):
        yield expr
    if names := _parts_of(type(expr)):  # type: ignore[arg-type]
        for name in names:
            yield from terms_in(getattr(expr, name), kind)
    elif isinstance(expr, tuple):
        for item in expr:
            yield from terms_in(item, kind)


@cache
def _parts_of(kind: type) -> tuple[str, ...]:
    """The fields of a kind of expression."""
    return tuple(f.name for f in fields(kind) if f.name != "span") if is_dataclass(kind) else ()


def mentions(expr: Expr, name: str) -> bool:
    """Whether an expression reads a name, or anything behind its dot."""
    parts = name.split(".")
    return any([p.text for p in found.parts[: len(parts)]] == parts for found in names_in(expr))


def sizes_of(size: tuple[Expr, ...], counts: Mapping[str, int]) -> tuple[int, ...]:
    """The sizes `[n + 1]` of a declaration for given counts; whatever has a size of 0 is an empty vector."""
    found = tuple(_whole(s, counts) for s in size)
    if wrong := [s for s, n in zip(size, found) if n < 0]:
        raise InputError(Problem("E208", f"a size is not negative, this is {min(found)}", span_of(wrong[0])))
    return found if all(found) else (0,)


def _whole(expr: Expr, counts: Mapping[str, int]) -> int:
    """A whole number of counts; raises `InputError` (E208, E260) for any other and for one larger than any network."""
    value = evaluate(expr, Scope(lambda name: _count(name, counts))).value
    if isinstance(value, tuple) or not isfinite(value) or abs(value - round(value)) > 1e-9:
        said = f"{value:g}" if isinstance(value, float) else describe(value)
        raise InputError(Problem("E208", f"a whole number is wanted, this is {said}", span_of(expr)))
    check_limit("elements", value, f"this number is {value:.6g}", span_of(expr))
    return round(value)


def _count(name: Name, counts: Mapping[str, int]) -> Typed:
    text = plain_name(name)
    known = {**CONSTANTS, **counts}
    if text is None or text not in known:
        raise InputError(Problem("E208", f"'{text}' is not a count", name.span, hint=nearest(str(text), known)))
    return Typed(float(known[text]))


def default_counts(definition: ComponentDef) -> dict[str, int]:
    """Every count at its default, 2 where it has none."""
    counts: dict[str, int] = {}
    for c in definition.counts:
        counts[c.name] = _whole(c.default, counts) if c.default is not None else 2
    return counts


def scalar_count(sizes: tuple[int, ...]) -> int:
    """How many scalars a value of these sizes has: 1 for a number, 3 for a vector of three, 9 for its matrix."""
    return prod(sizes)


def dimension(unit: str | None) -> Dimension:
    """The dimension of a unit's text; none means a pure number."""
    return parse_unit(unit).dimension if unit else NO_DIMENSION


def root_of(noise: Noise) -> Dimension:
    """The dimension of the quantity that a noise is added to: the root of its density over 1 Hz."""
    return (dimension(noise.unit) if noise.flicker else dimension(noise.unit) / SECOND) ** 0.5


# --------------------------------------------------------------------------------------------------- names


@dataclass(frozen=True)
class Symbol:
    """What a name inside a component stands for: kind (param, count, let, input, var, branch quantity ...), dimension,
    sizes."""

    kind: str
    dimension: Dimension
    sizes: tuple[int, ...] = ()
    of: Any = None


def symbols(component: Component, counts: Mapping[str, int]) -> dict[str, Symbol]:
    """Every name usable in the component's equations, 'p.v' for terminal quantities (also the derived ones)."""
    d = component.definition
    table: dict[str, Symbol] = {"time": Symbol("time", SECOND)}
    for name, (unit, sizes, _) in WORLD.items():
        table[name] = Symbol("world", dimension(unit), sizes)
    for p in d.params:
        table[p.name] = Symbol("param", dimension(p.unit), sizes_of(p.size, counts), p)
    for c in d.counts:
        table[c.name] = Symbol("count", NO_DIMENSION, (), float(counts[c.name]))
    for kind, quantities in (("input", d.inputs), ("var", d.variables)):
        for q in quantities:
            table[q.name] = Symbol(kind, dimension(q.unit), sizes_of(q.size, counts), q)
    for z in d.discretes:
        table[z.name] = Symbol("discrete", dimension(z.unit), sizes_of(z.size, counts), z)
    for t in component.terminals:
        table.update(_terminal_symbols(component, t, counts))
    for branch in d.branches:
        table.update(_branch_symbols(component, branch))
    for let in d.lets:
        table[let.name] = Symbol("let", NO_DIMENSION, (), let)
    return table


def _terminal_symbols(component: Component, terminal: str, counts: Mapping[str, int]) -> dict[str, Symbol]:
    """A signal terminal by its bare name, the quantities of any other behind its dot."""
    if component.is_signal(terminal):
        return {terminal: Symbol("signal", NO_DIMENSION, (), terminal)}
    found: dict[str, Symbol] = {}
    for role in ("integral", "across", "through"):
        for i, q in enumerate(getattr(component.domain(terminal), role)):
            found[f"{terminal}.{q.name}"] = Symbol(
                f"terminal {role}", dimension(q.unit), sizes_of(q.size, counts), (terminal, i)
            )
    return found


def _branch_symbols(component: Component, branch: Branch) -> dict[str, Symbol]:
    """The names of a branch by position: across, through, or integral, across, through."""
    domain = component.domain(branch.start if branch.start != "ground" else branch.end)
    roles = ("across", "through") if len(branch.names) == 2 else ("integral", "across", "through")
    return {
        name: Symbol(f"branch {role}", dimension(getattr(domain, role)[0].unit), (), branch)
        for role, name in zip(roles, branch.names)
    }


def resolve_name(name: Name, whole: Any, known: Mapping[str, Any], counts: Mapping[str, int] | None = None) -> Typed:
    """A dotted, indexed name through `whole('p.v')`: longest prefix that is known, the rest picks components; `counts`
    are the counts and loop variables that an index may name."""
    texts = [p.text for p in name.parts]
    for used in (2, 1):
        if len(texts) >= used and (found := whole(".".join(texts[:used]))) is not None:
            return pick(found, name, used, counts or {})
    if len(texts) == 1 and texts[0] in CONSTANTS:
        return Typed(CONSTANTS[texts[0]])
    hint = nearest(".".join(texts), known) or nearest(texts[0], known)
    if len(texts) == 1 and texts[0] in KNOWN_NAMES:
        hint = f"'{texts[0]}' is a unit: it stands behind a number, such as 1 {texts[0]}"
    raise InputError(Problem("E206", f"nothing is called '{'.'.join(texts)}' here", name.span, hint=hint))


def pick(value: Typed, name: Name, used: int, counts: Mapping[str, int] = MappingProxyType({})) -> Typed:
    """`e[2]`, `e.y`, `R[1, k]`: a component of a vector or matrix."""
    picks: list[Any] = [i for p in name.parts[:used] for i in p.indices]
    for part in name.parts[used:]:
        if part.text not in ("x", "y", "z"):
            raise InputError(
                Problem(
                    "E206", f"'.{part.text}' is no component of a vector", name.span, hint="components are .x .y .z"
                )
            )
        picks += ["xyz".index(part.text) + 1, *part.indices]
    result = value.value
    for wanted in picks:
        index = wanted if isinstance(wanted, int) else _whole(wanted, counts)
        if not isinstance(result, tuple):
            behind = "".join(f".{part.text}" for part in name.parts[used:]) or "the index"
            raise InputError(
                Problem("E204", "a single number has no components", name.span, hint=f"leave out {behind}")
            )
        if not 1 <= index <= len(result):
            raise InputError(
                Problem("E204", f"no component {index}: it has {len(result)} components, counted from 1", name.span)
            )
        result = result[index - 1]
    return Typed(result, value.dimension)
