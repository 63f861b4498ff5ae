"""Operating points of library components drawn at random: parameters within their bounds, and motions that a component can make.

A motion makes the component's own rows and their first derivatives zero; discretes have the values that their own equations give them there.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from netsim.core.problem import UNIFORMS as MOVING
from netsim.core.rotation import cayley_rate
from netsim.equations.forms.build import build_form
from netsim.equations.forms.symbols import UNIFORM, UNIFORMS
from netsim.library.catalogue import whole_library
from netsim.library.component import WORLD, default_counts, dimension, is_kinematic, is_rotation, plain_name, resolve_name, sizes_of
from netsim.text.errors import InputError
from netsim.text.expressions.sizes import flatten, shaped
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.syntax import Name, Part
from netsim.text.units import NO_DIMENSION

LIBRARY = whole_library()
UNIFORM_VALUES = np.array(
    [*np.linspace(0.3, 1.7, len(MOVING)), *(float(x) for _, _, v in WORLD.values() for x in (v if isinstance(v, tuple) else (v,)))]
)
assert len(UNIFORM_VALUES) == len(UNIFORMS)
RESTS = ("vs", "ws")
"""Speeds below which a friction may take a motion for rest: drawn as large as the speeds, they would make them rest."""


# ---------------------------------------------------------------------------------------------------- parameters


def number_scope(values, component):
    """A scope of numbers: parameters and lets that are known, world values, counts."""
    lets = {let.name: let.value for let in component.definition.lets}
    units = {p.name: dimension(p.unit) for p in component.definition.params}
    known = dict.fromkeys((*values, *lets, *WORLD))

    def whole(text):
        if text in values:
            return Typed(values[text], units.get(text, NO_DIMENSION))
        if text in lets:
            return evaluate(lets[text], scope)
        return Typed(WORLD[text][2], dimension(WORLD[text][0])) if text in WORLD else None

    scope = Scope(lambda name: resolve_name(name, whole, known))
    return scope


def bounds_of(statement, scope):
    """(low, high) of a parameter; an open bound is 1e-3 of its neighbourhood inside."""
    low, high = -np.inf, np.inf
    for bound in statement.bounds:
        value = float(evaluate(bound.value, scope).value)
        if bound.op in (">", ">="):
            low = value + (1e-3 * max(abs(value), 1e-3) if bound.op == ">" else 0.0)
        else:
            high = value - (1e-3 * max(abs(value), 1e-3) if bound.op == "<" else 0.0)
    return low, high


def drawn(statement, size, scope, random):
    """A parameter's value, flat: within a decade of its default or of 1, within its bounds; vectors keep the proportions of their default."""
    low, high = bounds_of(statement, scope)
    count = int(np.prod(size)) if size else 1
    factor = 10.0 ** random.uniform(-1, 1)
    if statement.default is not None:
        usual = np.array(flatten(evaluate(statement.default, scope).value), float)
        if random.uniform() < 0.3 or np.max(np.abs(usual), initial=0.0) > 1e8 or statement.name in RESTS:
            return usual
        found = usual * factor if usual.any() else np.full(count, random.choice([0.0, factor]))
    elif len(size) == 2:
        found = (np.diag([1.0, 1.2, 1.5][: size[0]]) * factor).ravel() if size[0] == size[1] else random.normal(size=count)
    else:
        found = random.normal(size=count) if size else np.full(count, factor)
    if np.isfinite(low) and np.isfinite(high):
        return np.where((found < low) | (found > high), low + (high - low) * random.uniform(0.05, 0.95), found)
    return np.clip(found, low if not np.isfinite(low) else max(low, -np.inf), high)


def parameters_of(component, counts, random, tries=60):
    """Values of all parameters that break no assert of the component; raises `AssertionError` where none was found."""
    claims = [a for a in component.definition.asserts if not component.quantities_in(a.condition)]
    for _ in range(tries):
        values: dict[str, Any] = {name: float(count) for name, count in counts.items()}
        waiting = list(component.definition.params)
        while waiting:
            statement = waiting.pop(0)
            size = sizes_of(statement.size, counts)
            try:
                values[statement.name] = shaped(list(drawn(statement, size, number_scope(values, component), random)), size)
            except InputError:  # its default reads a parameter further down
                waiting.append(statement)
        if all(bool(evaluate(claim.condition, number_scope(values, component)).value) for claim in claims):
            return values
    raise AssertionError(f"no parameters of {component.name} meet its asserts: {[c.sentence for c in claims]}")


# ---------------------------------------------------------------------------------------------------- motions


@dataclass(eq=False)
class Element:
    """A component with its symbols, rows and account."""

    name: str

    @cached_property
    def component(self):
        return LIBRARY.components[self.name]

    @cached_property
    def counts(self):
        return default_counts(self.component.definition)

    @cached_property
    def form(self):
        return build_form(self.component, self.counts)

    @property
    def terminals(self):
        return list(self.component.terminals)

    def domain(self, key):
        return self.component.domain(self.terminals[key[1]])

    @cached_property
    def powers(self):
        """The power into each terminal."""
        found = []
        for t, terminal in enumerate(self.terminals):
            domain = self.component.domain(terminal)
            if not self.component.is_signal(terminal) and domain.power is not None:
                found.append(evaluate(domain.power, self._scope(t, terminal, domain)).value)
        return found

    def _scope(self, t, terminal, domain):
        order, first, across = (1 if is_kinematic(domain) else 0), 0, {}
        for position, quantity in enumerate(domain.across):
            size = sizes_of(quantity.size, {})
            count = int(np.prod(size)) if size else 1
            at = [[self.form.symbols.at(("node", t, first + c), n) for c in range(count)] for n in (0, order)]
            across[quantity.name] = shaped(list(cayley_rate(*at)) if is_rotation(domain, position) else at[1], size)
            first += count

        def value(name):
            word = plain_name(name)
            return Typed(across[word] if word in across else self.form.readings[f"{terminal}.{word}"].value, None)

        def rate(call, scope):
            return Typed(self.form.symbols.rate(evaluate(call.arguments[0], scope).value), None)

        return Scope(value, {"der": rate})

    @cached_property
    def functions(self):
        """(slots, constraint and Jacobian, account) as functions of symbols, parameters and uniforms."""
        form, symbols = self.form, self.form.symbols
        own = [r for key, r in zip(form.rows, form.residuals) if key[0] == "own" or self.component.is_signal(self.terminals[key[1]])]
        rows, terms = ca.vertcat(0, *own), self.powers
        stored = symbols.rate(ca.SX(form.stored))
        definitions = [symbols.at(("differentiated", k), 1) - symbols.rate(q) for k, q in enumerate(form.differentiated)]
        twice = [symbols.at(("differentiated", k), 2) - symbols.rate(symbols.rate(q)) for k, q in enumerate(form.differentiated)]
        constraint = ca.vertcat(rows, symbols.rate(rows), *definitions, *twice)
        changes = form.expressions.changes
        outputs = [ca.SX(x) for x in (stored, form.supplied, form.dissipated, *terms)]
        logic = [ca.SX(x) for x in (*changes.crossings, *changes.following)]
        slots = list(symbols.gathered)
        z = ca.vertcat(*(symbols.gathered[slot] for slot in slots)) if slots else ca.SX(0, 1)
        p = ca.vertcat(*(s for scalars in symbols.parameters.values() for s in scalars))
        u = ca.vertcat(*UNIFORM.values())
        free = [i for i, (key, _) in enumerate(slots) if key[0] not in ("chart", "place", "discrete", "before", "truth", "input")]
        jacobian = ca.jacobian(constraint, z)[:, free] if free else ca.SX(constraint.shape[0], 0)
        solve = ca.Function("c", [z, p, u], [constraint, jacobian])
        account = ca.Function("e", [z, p, u], [ca.vertcat(*outputs), ca.vertcat(0, *logic)])
        return slots, np.array(free, int), solve, account

    @cached_property
    def claims(self):
        """Whether a point is one that the component's asserts allow, as a function of symbols, parameters and uniforms."""
        form, slots = self.form, self.functions[0]
        lets = {let.name: let.value for let in self.component.definition.lets}
        sizes = {p.name: sizes_of(p.size, self.counts) for p in self.component.definition.params}
        units = {p.name: dimension(p.unit) for p in self.component.definition.params}
        across = {f"{name}.{q.name}": (t, name) for t, name in enumerate(self.terminals) for q in self.component.domain(name).across}
        known = dict.fromkeys((*form.readings, *across, *lets, *sizes, *self.counts, *WORLD))

        def whole(text):
            if text in across:
                t, terminal = across[text]
                return self._scope(t, terminal, self.component.domain(terminal)).resolve(Name((Part(text.partition(".")[2]),)))
            if text in form.readings:
                return form.readings[text]
            if text in lets:
                return evaluate(lets[text], scope)
            if text in self.counts:
                return Typed(float(self.counts[text]))
            if text in WORLD:
                return Typed(WORLD[text][2], dimension(WORLD[text][0]))
            if text in sizes:
                return Typed(shaped(list(form.symbols.parameters[text]), sizes[text]), units[text])
            return None

        scope = Scope(lambda name: resolve_name(name, whole, known))
        found = [evaluate(claim.condition, scope).value for claim in self.component.claims]
        z = ca.vertcat(*(form.symbols.gathered[slot] for slot in slots)) if slots else ca.SX(0, 1)
        p = ca.vertcat(*(s for scalars in form.symbols.parameters.values() for s in scalars))
        return ca.Function("a", [z, p, ca.vertcat(*UNIFORM.values())], [ca.vertcat(1, *found)])

    def allows(self, given, z):
        """Whether no assert of the component speaks at a point."""
        return bool(np.array(self.claims(z, given, UNIFORM_VALUES)).all())

    def given(self, values):
        """Parameters as the form's functions want them, all terminals alive."""
        rows = [np.ravel(flatten(values[name])) if name in values else np.ones(len(s)) for name, s in self.form.symbols.parameters.items()]
        return np.concatenate([np.zeros(0), *rows]).astype(float)

    def nominal(self, key):
        if key[0] == "node":
            quantity = self.domain(key).across[0]
            return float(evaluate(quantity.nominal, Scope(lambda n: Typed(1.0))).value) if quantity.nominal is not None else 1.0
        return (self.form.own_nominal[key[1]] or 1.0) if key[0] == "own" else 1.0

    def state(self, slots, random):
        """Random values of all symbols: signed, inputs mostly positive, temperatures those of a room or a fire, charts rotations."""
        size = np.array([self.nominal(key) for key, _ in slots])
        found = random.normal(size=len(slots)) * size
        charts = {}
        for i, (key, order) in enumerate(slots):
            if key[0] == "input" and order == 0:
                found[i] = 0.1 + abs(found[i])
            elif (
                key[0] == "node"
                and order == 0
                and (self.domain(key).name == "thermal" or (self.domain(key).name in ("gas", "coolant") and key[2] == 1))
            ):
                found[i] = 350.0 + 100.0 * abs(random.normal())
            elif key[0] == "node" and order == 0 and self.domain(key).name == "gas":
                found[i] = abs(found[i]) + 0.3 * size[i]
            elif key[0] == "node" and order == 0 and is_kinematic(self.domain(key)) and is_rotation(self.domain(key), 1 if key[2] >= 3 else 0):
                found[i] *= 0.0 if self.component.is_lagrangian else 0.2
            elif key[0] == "node" and self.domain(key).is_relative:
                found[i] *= 0.1
            elif key[0] == "chart":
                rotation = charts.setdefault("all", np.linalg.qr(random.normal(size=(3, 3)))[0])
                found[i] = (rotation * np.sign(np.linalg.det(rotation))).ravel()[key[2]]
        return found, size

    def motion(self, random, rounds=8):
        """(parameters, symbols) at which the component moves as it can, its discretes settled; None where none was found or an assert speaks."""
        slots, free, solve, account = self.functions
        given = self.given(parameters_of(self.component, self.counts, random))
        z, size = self.state(slots, random)
        places = {kind: {key[1]: i for i, (key, _) in enumerate(slots) if key[0] == kind} for kind in ("discrete", "before", "relation_value")}
        for i in places["discrete"].values():
            z[i] = random.choice((-1.0, 0.0, 1.0))
        for k, _ in self.form.events.scales:
            z[places["discrete"][k]] = 1.0  # speeds of 1 have been
        for k, i in places["before"].items():
            z[i] = z[places["discrete"].get(k, i)]
        for _ in range(rounds):
            found = self.solved(solve, z, size, free, given)
            if found is None:
                return None
            z = found
            if not self.settle(account, z, given, places):
                return (given, z) if self.allows(given, z) else None
        return None

    def settle(self, account, z, given, places):
        """The discretes that follow from the relations at a point, in place; whether they changed."""
        events = self.form.events
        if not events.names:
            return False
        before = z.copy()
        logic = np.array(account(z, given, UNIFORM_VALUES)[1]).ravel()[1:]
        for k, (relation, value) in enumerate(zip(events.relations, logic)):
            if k in places["relation_value"]:
                z[places["relation_value"][k]] = float(value < 0.0 or (value == 0.0 and not relation.strict))
        following = np.array(account(z, given, UNIFORM_VALUES)[1]).ravel()[1 + len(events.relations) :]
        for k, value in enumerate(following):
            for kind in ("discrete", "before"):
                if k in places[kind]:
                    z[places[kind][k]] = value
        settled = [*places["discrete"].values()]
        return bool(np.any(before[settled] != z[settled]))

    @staticmethod
    def solved(solve, z, size, free, given):
        """The nearest root by Gauss-Newton steps of least length in nominal units, or None."""
        z, own = z.copy(), size[free]
        for k in range(80):
            c, jacobian = (np.array(item) for item in solve(z, given, UNIFORM_VALUES))
            if not (np.isfinite(c).all() and np.isfinite(jacobian).all()):
                return None
            scale = np.maximum(np.max(np.abs(jacobian * own), axis=1, initial=0.0), 1e-300)
            if not len(free):
                return z
            step = own * (np.linalg.pinv(jacobian * own / scale[:, None], rcond=1e-11) @ (c.ravel() / scale))
            far = np.max(np.abs(step / own), initial=0.0)
            z[free] -= step * min(1.0, 0.5 * 2.0 ** max(k - 40, 0) / max(far, 1e-300))
            if far < 1e-13:
                return z
        return z if far < 1e-9 else None

    def account(self, given, z):
        """(stored rate, supplied, dissipated, power into every terminal) at a point."""
        stored, supplied, dissipated, *powers = np.array(self.functions[3](z, given, UNIFORM_VALUES)[0]).ravel()
        return stored, supplied, dissipated, np.array(powers)


class Usual:
    """Draws what is usual: defaults, 1 where there is none, the lower third between two bounds; vectors in any direction."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def uniform(self, low=0.0, high=1.0):
        return 0.37 if low > 0.0 else 0.0

    def normal(self, size=None):
        return self.random.normal(size=size)

    def choice(self, values):
        return values[0]


def usual_parameters(component, counts):
    """Parameters at their defaults or near 1 that break no assert, or else within a decade of them."""
    try:
        return parameters_of(component, counts, Usual(1), tries=5)
    except AssertionError:
        return parameters_of(component, counts, np.random.default_rng(1), tries=500)
