"""Kernels of a form: which expressions are computed together, what they gather and where their results go."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from netsim.equations.forms.form import (
    CONSTANT,
    UNIFORM,
    UNIFORMS,
    Form,
    Key,
    Symbols,
    differentiated,
    nonzeros,
    partial_derivatives,
    step_jacobian,
    step_residuals,
)
from netsim.equations.kernels.program import Program, forward_jacobian, lower
from netsim.text.expressions.sizes import flatten

Place = tuple[Any, ...]
"""Where an output goes: ('row', key), ('differentiated', k), ('entry', row key, column key), ('reading', name, i),
('energy', i), ..."""


@dataclass(frozen=True)
class Kernel:
    """A program with the meaning of its inputs (key, order) and outputs (places)."""

    program: Program
    gather: tuple[tuple[Key, int], ...]
    scatter: tuple[Place, ...]


def make_kernel(symbols: Symbols, outputs: Iterable[tuple[Place, Any]]) -> Kernel:
    """Lower (place, expression) pairs; only symbols that are read are gathered, parameters keep the form's order."""
    outputs = [(place, ca.SX(value)) for place, value in outputs]
    column = ca.vertcat(ca.SX(0, 1), *(value for _, value in outputs))
    read = {symbol.__hash__() for symbol in ca.symvar(column)}
    gather = [(key, symbol) for key, symbol in symbols.gathered.items() if symbol.__hash__() in read]
    parameters = [p for scalars in symbols.parameters.values() for p in scalars]
    program = lower(ca.vertcat(*(s for _, s in gather)), ca.vertcat(*UNIFORM.values()), ca.vertcat(*parameters), column)
    return Kernel(program, tuple(key for key, _ in gather), tuple(place for place, _ in outputs))


def _once(form: Form, what: Place, make: Callable[[], Kernel]) -> Kernel:
    """A kernel that runs ask for, lowered for the first of them."""
    kept = vars(form).setdefault("of_runs", {})
    if what not in kept:
        kept[what] = make()
    return kept[what]


def residual_kernel(form: Form) -> Kernel:
    """Row residuals and differentiated quantities of a step."""
    residuals, differentiated = step_residuals(form)
    return make_kernel(form.symbols, _step_outputs(form, residuals, differentiated))


def rates_kernel(form: Form) -> Kernel:
    """Row residuals where their rates are known, in the history's places: without the differentiated quantities
    themselves."""
    outputs = [(("row", key), r) for key, r in zip(form.rows, form.residuals)]
    return _once(form, ("rates",), lambda: make_kernel(form.symbols, outputs))


def differentiated_kernel(form: Form) -> Kernel:
    """Differentiated quantities alone: ('differentiated', k)."""
    outputs = [(("differentiated", k), q) for k, q in enumerate(form.differentiated)]
    return _once(form, ("differentiated",), lambda: make_kernel(form.symbols, outputs))


def jacobian_kernel(form: Form, kinematic: Mapping[Key, bool], apart: Collection[Key] = ()) -> Kernel:
    """The same, and the entries of the step matrix: ('entry', row key, column key), and an order behind columns that
    are `apart`."""
    residuals, differentiated = step_residuals(form)
    entries = [
        (("entry", form.rows[r], *column), value)
        for r, column, value in step_jacobian(form, residuals, kinematic, apart)
    ]
    return make_kernel(form.symbols, [*_step_outputs(form, residuals, differentiated), *entries])


def _step_outputs(form: Form, residuals: list[Any], differentiated: list[Any]) -> list[tuple[Place, Any]]:
    return [
        *((("row", key), r) for key, r in zip(form.rows, residuals)),
        *((("differentiated", k), q) for k, q in enumerate(differentiated)),
    ]


def energy_kernel(form: Form) -> Kernel:
    """Supplied power, dissipated power, stored energy and the kinetic part of it (what vanishes at rest), summed over
    the instances.

    Rates of differentiated quantities are those in the history's places (alpha = 0), here and in readings: see
    netsim.core.states."""
    rates = [symbol for (_, order), symbol in form.symbols.gathered.items() if order]
    at_rest = ca.substitute(ca.SX(form.stored), ca.vertcat(*rates), ca.SX.zeros(len(rates))) if rates else form.stored
    account = [form.supplied, form.dissipated, form.stored, form.stored - at_rest]
    return make_kernel(form.symbols, [(("energy", i), e) for i, e in enumerate(account)])


def start_kernel(form: Form) -> Kernel:
    """What discretes start with: ('start', i)."""
    return make_kernel(form.symbols, [(("start", i), value) for i, value in enumerate(form.events.starts)])


def event_kernel(form: Form) -> Kernel:
    """Zero-crossing functions of relations, next values of discretes, what happens, and targets of states:
    ('zero-crossing function', k), ('scale', k), ('next', i), ('fired', j), ('target', r)."""
    e = form.events
    outputs: list[tuple[Place, Any]] = [(("crossing", k), relation.crossing) for k, relation in enumerate(e.relations)]
    outputs += [(("scale", k), relation.scale) for k, relation in enumerate(e.relations)]
    outputs += [(("next", i), value) for i, value in enumerate(e.following)]
    outputs += [(("fired", j), when.fired) for j, when in enumerate(e.whens)]
    return make_kernel(form.symbols, [*outputs, *((("target", r), reset.target) for r, reset in enumerate(e.resets))])


def place_kernel(form: Form) -> Kernel:
    """Reference positions of the nodes the component places."""
    return make_kernel(form.symbols, form.places)


def reading_kernel(form: Form, wanted: Iterable[tuple[str, int, int]]) -> Kernel:
    """Scalars of named quantities and total time derivatives of them: (name, index within a vector, order)."""
    names = list(wanted)

    def make() -> Kernel:
        return make_kernel(form.symbols, [(("reading", *each), _reading(form, *each)) for each in names])

    return _once(form, ("readings", *names), make)


def _reading(form: Form, name: str, index: int, order: int) -> Any:
    found = ca.SX(flatten(form.readings[name].value)[index])
    for _ in range(order):
        found = form.symbols.rate(found)
    return found


def reading_partials_kernel(form: Form, wanted: Iterable[tuple[str, int, int]]) -> Kernel:
    """Derivatives of readings by what they read, order by order: ('partial', number of the reading, key, order)."""
    names = list(wanted)

    def make() -> Kernel:
        column = ca.vertcat(*(_reading(form, *each) for each in names))
        keys = [key for key in form.symbols.gathered if key[0][0] not in CONSTANT]
        jacobian = forward_jacobian(column, ca.vertcat(*(form.symbols.gathered[key] for key in keys)))
        entries = [(("partial", r, *keys[c]), value) for r, c, value in nonzeros(jacobian)]
        return make_kernel(form.symbols, entries)

    return _once(form, ("reading partials", *names), make)


def partials_kernel(form: Form) -> Kernel:
    """F and definitions of differentiated quantities with their derivatives by order: ('partial', row index, key,
    order)."""
    entries = [(("partial", r, key, order), value) for r, key, order, value in partial_derivatives(form)]
    return make_kernel(form.symbols, entries)


def derivative_kernel(form: Form, order: int) -> Kernel:
    """The `order`-th total time derivative of rows and definitions of differentiated quantities: ('derivative', row
    index)."""
    system = differentiated(form, order)[order]
    return make_kernel(form.symbols, [(("derivative", r), value) for r, value in enumerate(system)])


__all__ = [
    "UNIFORMS",
    "Kernel",
    "derivative_kernel",
    "differentiated_kernel",
    "energy_kernel",
    "jacobian_kernel",
    "make_kernel",
    "partials_kernel",
    "rates_kernel",
    "reading_kernel",
    "reading_partials_kernel",
    "residual_kernel",
]
