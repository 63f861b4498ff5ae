"""Kernels of a form: which expressions are computed together, what they gather and where their results go."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from netsim.equations.forms.form import (
    UNIFORM,
    UNIFORMS,
    Form,
    Key,
    Symbols,
    differentiated,
    level_jacobian,
    step_jacobian,
    step_residuals,
)
from netsim.equations.kernels.program import Program, lower
from netsim.text.expressions.typed import flatten

Place = tuple[Any, ...]
"""Where an output goes: ('row', key), ('charge', k), ('entry', row key, column key), ('reading', name, i), ('energy',
i), ..."""


@dataclass(frozen=True)
class Kernel:
    """A program with the meaning of its inputs (key, level) and outputs (places)."""

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


def residual_kernel(form: Form) -> Kernel:
    """Row residuals and charges of a step."""
    residuals, charges = step_residuals(form)
    return make_kernel(form.symbols, _step_outputs(form, residuals, charges))


def rates_kernel(form: Form) -> Kernel:
    """Row residuals where the charges' rates are known, in the history's places: without the charges themselves."""
    return make_kernel(form.symbols, [(("row", key), r) for key, r in zip(form.rows, form.residuals)])


def jacobian_kernel(form: Form, kinematic: Mapping[Key, bool], apart: Collection[Key] = ()) -> Kernel:
    """The same, and the entries of the step matrix: ('entry', row key, column key), and a level behind columns that are
    `apart`."""
    residuals, charges = step_residuals(form)
    entries = [
        (("entry", form.rows[r], *column), value)
        for r, column, value in step_jacobian(form, residuals, kinematic, apart)
    ]
    return make_kernel(form.symbols, [*_step_outputs(form, residuals, charges), *entries])


def _step_outputs(form: Form, residuals: list[Any], charges: list[Any]) -> list[tuple[Place, Any]]:
    return [
        *((("row", key), r) for key, r in zip(form.rows, residuals)),
        *((("charge", k), q) for k, q in enumerate(charges)),
    ]


def energy_kernel(form: Form) -> Kernel:
    """Supplied power, dissipated power, stored energy and the kinetic part of it (what vanishes at rest), summed over
    the instances.

    Rates of charges are those in the history's places (alpha = 0), here and in readings: see netsim.core.states."""
    rates = [symbol for (_, level), symbol in form.symbols.gathered.items() if level]
    at_rest = ca.substitute(ca.SX(form.stored), ca.vertcat(*rates), ca.SX.zeros(len(rates))) if rates else form.stored
    account = [form.supplied, form.dissipated, form.stored, form.stored - at_rest]
    return make_kernel(form.symbols, [(("energy", i), e) for i, e in enumerate(account)])


def start_kernel(form: Form) -> Kernel:
    """What discretes start with: ('start', i)."""
    return make_kernel(form.symbols, [(("start", i), value) for i, value in enumerate(form.events.starts)])


def event_kernel(form: Form) -> Kernel:
    """Indicators of relations, next values of discretes, what happens, and targets of states:
    ('indicator', k), ('scale', k), ('next', i), ('fired', j), ('target', r)."""
    e = form.events
    outputs: list[tuple[Place, Any]] = [
        (("indicator", k), relation.indicator) for k, relation in enumerate(e.relations)
    ]
    outputs += [(("scale", k), relation.scale) for k, relation in enumerate(e.relations)]
    outputs += [(("next", i), value) for i, value in enumerate(e.following)]
    outputs += [(("fired", j), when.fired) for j, when in enumerate(e.whens)]
    return make_kernel(form.symbols, [*outputs, *((("target", r), reset.target) for r, reset in enumerate(e.resets))])


def place_kernel(form: Form) -> Kernel:
    """Reference positions of the nodes the component places."""
    return make_kernel(form.symbols, form.places)


def reading_kernel(form: Form, wanted: Iterable[tuple[str, int]]) -> Kernel:
    """Scalars of named quantities: (name, index within a vector)."""
    names = list(wanted)
    values = [flatten(form.readings[name].value)[i] for name, i in names]
    return make_kernel(form.symbols, [(("reading", name, i), value) for (name, i), value in zip(names, values)])


def level_kernel(form: Form) -> Kernel:
    """F and charge definitions with their derivatives by level: ('level', row index, key, level)."""
    entries = [(("level", r, key, level), value) for r, key, level, value in level_jacobian(form)]
    return make_kernel(form.symbols, entries)


def derivative_kernel(form: Form, order: int) -> Kernel:
    """The `order`-th total time derivative of rows and charge definitions: ('derivative', row index)."""
    system = differentiated(form, order)[order]
    return make_kernel(form.symbols, [(("derivative", r), value) for r, value in enumerate(system)])


__all__ = [
    "UNIFORMS",
    "Kernel",
    "derivative_kernel",
    "energy_kernel",
    "jacobian_kernel",
    "level_kernel",
    "make_kernel",
    "rates_kernel",
    "reading_kernel",
    "residual_kernel",
]
