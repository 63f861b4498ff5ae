"""What a component's text must satisfy: known names, branches within one domain, as many equations as unknowns,
dimensions that agree."""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from netsim.library.component import (
    JOULE,
    SECOND,
    SIGNAL,
    Component,
    Symbol,
    default_counts,
    dimension,
    is_kinematic,
    plain_name,
    resolve_name,
    scalar_count,
    sizes_of,
    symbols,
)
from netsim.library.domains import check_company, check_noises, check_places
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.sizes import flatten, shape, shaped
from netsim.text.expressions.typed import Scope, Typed, evaluate, number_of, quantity_of, span_of
from netsim.text.syntax import Call, Count, Discrete, Equation, Expr, Let, Name, Number, Param, Quantity, Terminal
from netsim.text.units import NO_DIMENSION, Dimension

SIGNALS_ONLY = "'in' or 'out' belongs to signal terminals, and only to them"
SIGNALS_FIRST = "a domain holds for the names before it: (in u, out y : signal, p : rotational)"


def check(component: Component) -> list[Problem]:
    """Everything wrong with a component's text: names, branches, count rule, dimensions."""
    problems = _check_branches(component) or _check_names(component)
    if problems:
        return problems
    counts = default_counts(component.definition)
    problems = _check_dimensions(component, counts)
    return problems or _check_equation_count(component, counts)


def _check_names(component: Component) -> list[Problem]:
    seen: dict[str, Any] = {}
    problems = []
    d = component.definition
    declared: list[Terminal | Param | Count | Quantity | Discrete | Let] = [
        *d.terminals, *d.params, *d.counts, *d.inputs, *d.variables, *d.discretes, *d.lets,
    ]  # fmt: skip
    for name, span in [(item.name, item.span) for item in declared] + [
        (n, b.span) for b in d.branches for n in b.names
    ]:
        if name in seen:  # an own line clashes with an inherited one, not the other way round
            first, second = sorted((seen[name], span), key=lambda s: (s.file == d.span.file, s.line))
            message, also = f"'{name}' is declared twice in component '{d.name}'", ((first, "the first one"),)
            problems.append(Problem("E209", message, second, also=also))
        seen.setdefault(name, span)
    return problems


def _check_branches(component: Component) -> list[Problem]:
    d, problems = component.definition, []
    for t in d.terminals:
        if t.domain not in component.domains:
            problems.append(
                Problem(
                    "E210",
                    f"no domain '{t.domain}'",
                    t.span,
                    hint=nearest(t.domain, component.domains) or f"use {t.domain}?",
                )
            )
        elif (t.domain == "signal") != bool(t.direction):
            problems.append(Problem("E211", f"terminal '{t.name}': {SIGNALS_ONLY}", t.span, hint=SIGNALS_FIRST))
    if problems:
        return problems
    for b in d.branches:
        ends = [end for end in (b.start, b.end) if end != "ground"]
        unknown = [end for end in ends if end not in component.terminals]
        if unknown:
            problems.append(
                Problem("E212", f"'{unknown[0]}' is no terminal", b.span, hint=nearest(unknown[0], component.terminals))
            )
            continue
        kinds = {component.terminals[end].domain for end in ends}
        domain = component.domain(ends[0]) if ends else SIGNAL
        if len(kinds) != 1 or len(domain.across) != 1 or domain.across[0].size:
            problems.append(
                Problem("E212", "a branch joins two terminals of one domain with a single across quantity", b.span)
            )
        elif len(b.names) not in ((2, 3) if is_kinematic(domain) else (2,)):
            problems.append(
                Problem(
                    "E212",
                    "a branch names its across and its through"
                    + (", or integral, across, through" if is_kinematic(domain) else ""),
                    b.span,
                )
            )
    return problems


def _check_equation_count(component: Component, counts: Mapping[str, int]) -> list[Problem]:
    d = component.definition
    table = symbols(component, counts)
    scope = dimension_scope(component, table)
    updates = {id(e) for e in component.updates.values()}
    equations = sum(len(flatten(evaluate(e.left, scope).value)) for e in d.equations if id(e) not in updates)
    wanted = len(d.branches) + len(component.signal_outputs)
    wanted += sum(scalar_count(table[v.name].sizes) for v in d.variables)
    wanted += sum(scalar_count(table[name].sizes) for name in component.terminal_throughs if name in component.explicit)
    if equations == wanted:
        return []
    parts = f"{len(d.branches)} branches, {len(d.variables)} vars, {len(component.signal_outputs)} signal outputs"
    return [Problem("E213", f"component '{d.name}' has {equations} equations for {wanted} unknowns ({parts})", d.span)]


@dataclass(frozen=True, eq=False)
class _Trial:
    """Evaluations of a component's expressions for the sake of their dimensions and shapes; what is wrong piles up."""

    scope: Scope
    problems: list[Problem] = field(default_factory=list)

    def value(self, expr: Expr, wanted: Dimension | None = None, sizes: tuple[int, ...] | None = None) -> Typed | None:
        """The value, None where it is wrong; `wanted` and `sizes` are the dimension and the sizes it must have."""
        try:
            result = evaluate(expr, self.scope) if wanted is None else quantity_of(expr, self.scope, wanted)
            if sizes is not None and shape(result.value) != sizes:
                raise InputError(Problem("E204", f"a value of size {list(sizes)} is wanted here", span_of(expr)))
            return result
        except InputError as error:
            self.problems.extend(error.problems)
            return None


def _check_dimensions(component: Component, counts: Mapping[str, int]) -> list[Problem]:
    d = component.definition
    trial = _Trial(dimension_scope(component, symbols(component, counts)))
    for p in d.params:
        _check_param(p, counts, trial)
    for let in d.lets:
        trial.value(let.value)
    if trial.problems:  # equations that use a wrong let would only repeat it
        return trial.problems
    for equation in d.equations:
        _check_equation(equation, trial)
    problems = _check_events(component, trial)
    for output in (o for o in d.outputs if o.value is not d.dissipates):  # an implied loss is looked at below
        trial.value(output.value, dimension(output.unit), sizes_of(output.size, counts))
    for energy, unit in ((d.kinetic, "J"), (d.potential, "J"), (d.stores, "J"), (d.dissipates, "W")):
        if energy is not None:
            trial.value(energy, dimension(unit), ())
    check_noises(component, trial)
    _check_sizes(component, counts, trial)
    return [*trial.problems, *problems, *check_company(component), *check_places(component)]


def _check_sizes(component: Component, counts: Mapping[str, int], trial: _Trial) -> None:
    """Claims are single conditions, and places have as many components as their terminal moves in."""
    for claim in component.definition.asserts:
        trial.value(claim.condition, None, ())
    for place in component.definition.places:
        if place.terminal in component.terminals:
            trial.value(place.value, None, sizes_of(component.domain(place.terminal).across[0].size, counts))


def _check_events(component: Component, trial: _Trial) -> list[Problem]:  # noqa: C901  (one case per mistake)
    """Discretes are given once: by an equation or by whens; actions give discretes, or reinit states."""
    d, known, problems = component.definition, {z.name for z in component.definition.discretes}, []
    given = set(component.updates)
    for z in d.discretes:
        if z.start is not None:
            trial.value(z.start, dimension(z.unit))
    for equation in d.equations:
        if plain_name(equation.left) in known and component.updates[str(plain_name(equation.left))] is not equation:
            problems.append(Problem("E217", f"discrete '{plain_name(equation.left)}' is given twice", equation.span))
    for when in d.whens:
        trial.value(when.condition, None, ())
        for action in when.actions:
            name = plain_name(action.target)
            if not action.reinit and name not in known:
                shown = name or show_expression(action.target)
                hint = f"a state jumps by reinit {name} = ..." if name else "discrete NAME : UNIT declares one"
                message = f"a when gives discretes, and '{shown}' is none"
                problems.append(Problem("E217", message, action.span, hint=hint))
            elif action.reinit and name in known:
                problems.append(
                    Problem("E217", f"'{name}' is a discrete: reinit is for states", action.span, hint=f"{name} = ...")
                )
            elif not action.reinit and name in component.updates:
                also = ((component.updates[str(name)].span, "the equation"),)
                problems.append(Problem("E217", f"discrete '{name}' has an equation already", action.span, also=also))
            given.add(str(name))
            _check_equation(Equation(action.target, action.value, span=action.span), trial)
    for z in d.discretes:
        if z.name not in given:
            problems.append(
                Problem(
                    "E217",
                    f"nothing ever changes discrete '{z.name}'",
                    z.span,
                    hint=f"{z.name} = ..., or when ... : {z.name} = ...",
                )
            )
    return problems


def _check_param(param: Param, counts: Mapping[str, int], trial: _Trial) -> None:
    for bound in param.bounds:
        trial.value(bound.value, dimension(param.unit))
    if param.default is not None:
        trial.value(param.default, dimension(param.unit), sizes_of(param.size, counts))


def _check_equation(equation: Equation, trial: _Trial) -> None:
    left, right = trial.value(equation.left), trial.value(equation.right)
    if left is None or right is None:
        return
    if None not in (left.dimension, right.dimension) and left.dimension != right.dimension and not _bare_zero(equation):
        message = f"the left side is in {left.dimension}, the right side in {right.dimension}"
        trial.problems.append(Problem("E203", message, span_of(equation)))
    elif shape(left.value) != shape(right.value):
        trial.problems.append(Problem("E204", "the two sides differ in shape", span_of(equation)))


def _bare_zero(equation: Equation) -> bool:
    return isinstance(equation.right, Number) and equation.right.value == 0


def dimension_scope(component: Component, table: Mapping[str, Symbol]) -> Scope:
    """A scope in which every name has a fixed, generic number of its shape: evaluation then checks dimensions and
    shapes."""
    lets: dict[str, Typed] = {}

    def resolve(name: Name) -> Typed:
        def whole(text: str) -> Typed | None:
            symbol = table.get(text)
            if symbol is None:
                return None
            if symbol.kind == "let":
                if text not in lets:
                    lets[text] = Typed(0.0, None)  # found by a let that needs itself, which is reported when formed
                    lets[text] = evaluate(symbol.of.value, scope)
                return lets[text]
            if symbol.kind == "count":
                return Typed(symbol.of)
            count = scalar_count(symbol.sizes)
            return Typed(shaped([_generic(text, i) for i in range(count)], symbol.sizes), symbol.dimension)

        return resolve_name(name, whole, table)

    calls: dict[str, Callable[[Call, Scope], Typed]] = {
        "der": _derivative,
        "local": partial(_local, component),
        "lagrange": partial(_lagrange, table),
        "pre": _before,
        "sample": _sampled,
        "at_events": _at_events,
        "delayed": delayed_of,
        "scale": partial(scale_of, table),
    }
    scope = Scope(resolve, calls)
    return scope


def _arguments(call: Call, count: int, takes: str) -> tuple[Expr, ...]:
    if len(call.arguments) != count or call.keywords:
        raise InputError(Problem("E207", f"{call.function}() takes {takes}", call.span))
    return call.arguments


def _derivative(call: Call, scope: Scope) -> Typed:
    operand = evaluate(_arguments(call, 1, "one argument")[0], scope)
    return Typed(operand.value, None if operand.dimension is None else operand.dimension / SECOND)


def _local(component: Component, call: Call, scope: Scope) -> Typed:
    if len(call.arguments) != 2 or plain_name(call.arguments[0]) not in component.terminals:
        raise InputError(Problem("E207", "local() takes a terminal and a point: local(a, at)", call.span))
    return evaluate(call.arguments[1], scope)


def _lagrange(table: Mapping[str, Symbol], call: Call, scope: Scope) -> Typed:
    given = [table.get(str(plain_name(argument))) for argument in call.arguments]
    if [symbol.kind if symbol else "" for symbol in given] != ["var", "var"] or call.keywords:
        message = "lagrange() takes two vars, coordinates and their rates: lagrange(y, ry)"
        raise InputError(Problem("E207", message, call.span))
    coordinates, rates = (evaluate(argument, scope) for argument in call.arguments)
    if shape(coordinates.value) != shape(rates.value):
        raise InputError(Problem("E204", "coordinates and rates differ in size", call.span))
    return Typed(coordinates.value, JOULE / (coordinates.dimension or NO_DIMENSION))


def _before(call: Call, scope: Scope) -> Typed:
    if len(call.arguments) != 1 or not isinstance(call.arguments[0], Name):
        raise InputError(Problem("E207", "pre() takes the name of a discrete or a state: pre(n)", call.span))
    return evaluate(call.arguments[0], scope)


def _sampled(call: Call, scope: Scope) -> Typed:
    for argument in _arguments(call, 2, "the first instant and the period: sample(0 s, 1 ms)"):
        number_of(argument, scope, SECOND)
    return Typed(1.0)


def _at_events(call: Call, scope: Scope) -> Typed:
    return evaluate(_arguments(call, 1, "one condition: at_events(v > 1 m/s)")[0], scope)


def delayed_of(call: Call, scope: Scope) -> Typed:
    """The shape and the dimension of `delayed(w, T)` or `delayed(w, T, before)`; raises `InputError` where its
    arguments do not fit."""
    if not 2 <= len(call.arguments) <= 3 or call.keywords:
        hint = "delayed(w, 10 ms), perhaps with what w was before the start as the third"
        raise InputError(Problem("E207", "delayed() takes a name and a time", call.span, hint=hint))
    of, by, *before = call.arguments
    found = evaluate(of, scope)
    if shape(quantity_of(by, scope, SECOND).value):
        raise InputError(Problem("E204", "a delay is a single time", span_of(by)))
    if before and shape(quantity_of(before[0], scope, found.dimension or NO_DIMENSION).value) != shape(found.value):
        raise InputError(Problem("E204", "what was before the start differs in size", span_of(before[0])))
    return found


def scale_of(table: Mapping[str, Symbol], call: Call, scope: Scope) -> Typed:
    """The dimension of `scale(v)`; raises `InputError` (E207) where v is no across or through quantity and no var."""
    symbol = table.get(str(plain_name(call.arguments[0]))) if len(call.arguments) == 1 else None
    if symbol is None or call.keywords or symbol.kind.partition(" ")[0] not in ("branch", "terminal", "var"):
        raise InputError(Problem("E207", "scale() takes an across or through quantity or a var: scale(v)", call.span))
    return Typed(1.0, symbol.dimension or NO_DIMENSION)


def _generic(text: str, index: int) -> float:
    return 1.0 + zlib.crc32(f"{text}{index}".encode()) / 2**33
