"""Every component of the library, swept by machine: exact Jacobians, equal targets, a closed power account, documentation.

Parameters are generic values within their bounds, states are random multiples of the domains' nominals; nothing here names a component.
"""

import casadi as ca
import numpy as np
import pytest

from netsim.equations.batches import FormKernels
from netsim.equations.forms.build import build_form
from netsim.equations.forms.symbols import CONSTANT, UNIFORM, UNIFORMS
from netsim.equations.kernels.kernel import derivative_kernel, energy_kernel, reading_kernel
from netsim.equations.kernels.native import compile, run_native
from netsim.equations.kernels.reference import OPERATIONS, run_reference
from netsim.equations.kernels.reference import evaluate as run_program
from netsim.library.component import default_counts, dimension, is_kinematic
from netsim.library.files import check_library, collect, library_names
from netsim.text.expressions.sizes import flatten
from netsim.text.expressions.typed import Scope, Typed, evaluate
from netsim.text.parse import parse
from netsim.text.units import NO_DIMENSION

VECTOR_DOMAINS = ("planar", "spatial")
"""Their components have batteries of their own (test_planar.py, test_spatial.py)."""

LIBRARY = collect(parse("\n".join(f"use {name}" for name in library_names() if name not in VECTOR_DOMAINS), "<all>"))
COMPONENTS = sorted(LIBRARY.components)
POINTS = 8
TINY = 1e-40
FUNCTIONS = {"pow", "exp", "log", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"}
FUNCTIONS |= {"erf", "atan2", "hypot"}
"""Operations that no standard rounds; all others are the same in both targets, to the last bit."""
each = pytest.mark.parametrize("name", COMPONENTS)


# ---------------------------------------------------------------------------------------------------- generic values


def kernels_of(name):
    component = LIBRARY.components[name]
    form = build_form(component, default_counts(component.definition))
    terminals = list(component.terminals)
    return FormKernels(form, {key: key[0] == "node" and is_kinematic(component.domain(terminals[key[1]])) for key in form.columns})


def number(expr):
    return float(evaluate(expr, Scope(lambda name: Typed(1.0))).value)


def anything(units):
    """What a default may read: one for every parameter and world value, a vector for gravity."""
    return lambda name: Typed((1.0, 2.0, -9.0)) if name.parts[0].text == "gravity" else Typed(1.0, units.get(name.parts[0].text, NO_DIMENSION))


def parameter(statement, units):
    """A value that hides nothing: ten per cent off the default, or well within the bounds where there is none or it is zero."""
    low = [number(b.value) for b in statement.bounds if b.op in (">", ">=")]
    high = [number(b.value) for b in statement.bounds if b.op in ("<", "<=")]
    if statement.default is not None:
        default = np.array(flatten(evaluate(statement.default, Scope(anything(units))).value), float)
        if np.any(default):
            return (0.9 if high and np.any(1.1 * default > high[0]) else 1.1) * default
    if low and high:
        return low[0] + 0.37 * (high[0] - low[0])
    return low[0] + 0.7 if low else 0.7


def parameters(name, form):
    """(n_parameters, POINTS), the terminals alive."""
    params = LIBRARY.components[name].definition.params
    units = {p.name: dimension(p.unit) for p in params}
    values = {p.name: parameter(p, units) for p in params}
    rows = [np.broadcast_to(values.get(given, 1.0), len(scalars)) for given, scalars in form.symbols.parameters.items()]
    return np.concatenate([np.zeros(0), *rows]).reshape(-1, 1) * np.ones(POINTS)


def nominal(name, form, key):
    component = LIBRARY.components[name]
    if key[0] == "node":
        quantity = component.domain(list(component.terminals)[key[1]]).across[0]
        return number(quantity.nominal) if quantity.nominal is not None else 1.0
    if key[0] == "own":
        return form.own_nominal[key[1]] or 1.0
    return 1.0


def states(name, form, gather, seed=1):
    """(len(gather), POINTS) random values: signed, but inputs positive (a resistance is one of them), and temperatures those of a room or a fire."""
    random, terminals = np.random.default_rng(seed), list(LIBRARY.components[name].terminals)
    found = np.array([random.normal(size=POINTS) * nominal(name, form, key) for key, _ in gather]).reshape(len(gather), POINTS)
    positive = np.array([key[0] == "input" and order == 0 for key, order in gather], bool)
    found[positive] = 0.1 + np.abs(found[positive])
    warm = np.array([k[0] == "node" and n == 0 and LIBRARY.components[name].domain(terminals[k[1]]).name == "thermal" for k, n in gather], bool)
    found[warm] = 350.0 + 100.0 * np.abs(random.normal(size=found[warm].shape))
    return found


UNIFORM_VALUES = np.array([0.3, 0.011, 1.7, 130.0, 90.0, *np.linspace(1.0, 2.0, len(UNIFORMS) - 6), 293.0])


def run(kernel, gathered, form, name, time=0.0):
    uniforms = UNIFORM_VALUES.astype(type(time)) + np.eye(len(UNIFORMS))[0] * time
    return run_program(kernel.program, gathered, uniforms, parameters(name, form))


def along(kernel, gathered, direction, form, name, time=0.0):
    """The derivative of all outputs in a direction of the gathered values (and of the time), by a complex step: no differences, no cancellation."""
    return np.imag(run(kernel, gathered + 1j * TINY * direction, form, name, complex(0.0, TINY * time))) / TINY


CANCELS = {"mesfet": 1e-10, "jfet2": 1e-10, "mosfet3": 1e-6}
"""Components whose derivatives are differences of equal numbers here: the charge of a gate less the part of its drain; a channel of
negative length, which `assert` refuses."""


def same(found, wanted, scale, tolerance):
    assert np.all(np.isfinite(wanted)) and np.all(np.isfinite(found))
    assert np.max(np.abs(found - wanted) / np.maximum(scale, 1e-300), initial=0.0) < tolerance


# ---------------------------------------------------------------------------------------------------------- Jacobians


@each
def test_step_jacobian(name):
    """d residual / d unknown with x, v, a moving together by kx, kv, ka; what has no entry is zero."""
    kernels = kernels_of(name)
    form, kernel, residual = kernels.form, kernels.jacobian, kernels.residual
    gathered = states(name, form, kernel.gather)
    slots = dict(zip(kernel.gather, gathered))
    here = np.array([slots[slot] for slot in residual.gather]).reshape(-1, POINTS)
    values = run(kernel, gathered, form, name)
    entries = {(place[1], place[2]): value for place, value in zip(kernel.scatter, values) if place[0] == "entry"}
    size = {row: max(np.max(np.abs(v)) for (r, _), v in entries.items() if r == row) for row, _ in entries}
    for key in form.columns:
        factors = [UNIFORM_VALUES[1 + order] if kernels.kinematic[key] else float(order == 0) for order in range(5)]
        direction = np.array([[factors[order] if k == key else 0.0] * POINTS for k, order in residual.gather]).reshape(-1, POINTS)
        wanted = along(residual, here, direction, form, name)
        for place, column in zip(residual.scatter, wanted):
            if place[0] == "row":
                found = entries.get((place[1], key), np.zeros(POINTS))
                same(found, column, np.abs(column) + 1e-9 * size.get(place[1], 0.0), CANCELS.get(name, 1e-11))


@each
def test_partial_derivatives_and_time_derivative(name):
    """Derivatives by every order, and F' along a motion, against complex steps of F."""
    kernels = kernels_of(name)
    form, partials = kernels.form, kernels.partials
    system, rate = derivative_kernel(form, 0), derivative_kernel(form, 1)
    slots = list(dict.fromkeys([*rate.gather, *system.gather, *partials.gather]))
    values = dict(zip(slots, states(name, form, slots)))

    def at(kernel):
        return np.array([values[slot] for slot in kernel.gather]).reshape(-1, POINTS)

    found = {place[1:]: v for place, v in zip(partials.scatter, run(partials, at(partials), form, name))}
    size = {r: max(np.max(np.abs(v)) for place, v in found.items() if place[0] == r) for r, _, _ in found}
    for i, (key, order) in enumerate(system.gather):
        if key[0] in CONSTANT:  # charts, places and discretes have no rates: no matrix asks for their columns
            continue
        direction = np.zeros((len(system.gather), POINTS))
        direction[i] = 1.0
        wanted = along(system, at(system), direction, form, name)
        for r, column in enumerate(wanted):
            same(found.get((r, key, order), np.zeros(POINTS)), column, np.abs(column) + 1e-9 * size.get(r, 0.0), CANCELS.get(name, 1e-11))
    motion = np.array([values.get((key, order + 1), np.zeros(POINTS)) for key, order in system.gather]).reshape(-1, POINTS)
    wanted = along(system, at(system), motion, form, name, time=1.0)
    terms = [along(system, at(system), np.where(np.arange(len(motion))[:, None] == i, motion, 0), form, name) for i in range(len(motion))]
    same(run(rate, at(rate), form, name), wanted, sum(map(np.abs, terms), np.abs(wanted)), 1e-11)


# ------------------------------------------------------------------------------------------------------------ targets


def rounding(program, gathered, given):
    """(n_outputs, POINTS): what errors of 4 units in the last place of every elementary function (as large as those of NumPy's vector
    instructions), handed on by all operations that follow, may make of the outputs.

    A difference of almost equal terms has the errors of its terms, so the size of a result alone bounds nothing.
    """
    values = [*gathered.reshape(-1, POINTS), *UNIFORM_VALUES, *given.reshape(-1, POINTS), *map(np.float64, program.constants)]
    errors = [np.float64(0.0)] * len(values)
    with np.errstate(all="ignore"):
        for step in program.instructions:
            operation, known = OPERATIONS[step.op], [values[i] for i in step.operands]
            found = operation(*known)
            error = 4 * np.finfo(float).eps * np.abs(found) if step.op in FUNCTIONS else 0.0
            for i, number in enumerate(step.operands):
                moved = [np.abs(operation(*known[:i], known[i] + e, *known[i + 1 :]) - found) for e in (errors[number], -errors[number])]
                error = error + np.maximum(*map(np.nan_to_num, moved))
            values.append(found)
            errors.append(np.nan_to_num(error))
    return np.array([np.broadcast_to(errors[i], POINTS) for i in program.outputs]).reshape(-1, POINTS)


@each
def test_both_targets_agree(name):
    """Machine code and NumPy give the same numbers, in the same places."""
    kernels = kernels_of(name)
    form = kernels.form
    every = {
        "residual": kernels.residual,
        "jacobian": kernels.jacobian,
        "energy": kernels.energy,
        "partials": kernels.partials,
        "rate": derivative_kernel(form, 1),
    }
    native = compile({word: kernel.program for word, kernel in every.items()})
    for word, kernel in every.items():
        g = np.concatenate([states(name, form, kernel.gather).ravel(), UNIFORM_VALUES])
        gather = np.arange(len(kernel.gather) * POINTS, dtype=np.int32)
        uniform = np.arange(gather.size, g.size, dtype=np.int32)
        scatter = np.arange(kernel.program.n_outputs * POINTS, dtype=np.int32)
        given = np.ascontiguousarray(parameters(name, form).ravel())
        machine, numpy = np.zeros(scatter.size), np.zeros(scatter.size)
        run_native(native, word, POINTS, gather, uniform, given, scatter, g, machine)
        run_reference(kernel.program, POINTS, gather, uniform, given, scatter, g, numpy)
        assert np.all(np.isfinite(machine)) and np.all(np.isfinite(numpy))
        assert np.all(np.abs(machine - numpy) <= rounding(kernel.program, g[: len(gather)], given).ravel() + np.finfo(float).tiny)


# ------------------------------------------------------------------------------------------------------------- energy


def consistent(name, form, extra):
    """A casadi function of all symbols, and POINTS rows of their values on which the component's own rows, their first derivatives and the
    definitions of its charges hold: a motion the component can make."""
    symbols = form.symbols
    rows = ca.vertcat(0, *(r for key, r in zip(form.rows, form.residuals) if key[0] == "own" or is_signal_row(name, key)))
    definitions = [symbols.at(("differentiated", k), 1) - symbols.rate(q) for k, q in enumerate(form.differentiated)]
    once = symbols.rate(rows)
    twice = [symbols.at(("differentiated", k), 2) - symbols.rate(symbols.rate(q)) for k, q in enumerate(form.differentiated)]
    outputs = [ca.SX(e) for e in extra()]
    slots = list(symbols.gathered)
    z = ca.vertcat(*(symbols.gathered[slot] for slot in slots)) if slots else ca.SX(0, 1)
    p = ca.vertcat(*(s for scalars in symbols.parameters.values() for s in scalars))
    u = ca.vertcat(*UNIFORM.values())
    constraint = ca.vertcat(rows, once, *definitions, *twice)
    solve = ca.Function("c", [z, p, u], [constraint, ca.jacobian(constraint, z)])
    values = states(name, form, slots).T
    given = parameters(name, form)[:, 0]
    size = np.array([nominal(name, form, key) for key, _ in slots])
    for k in range(POINTS):
        values[k] = project(solve, values[k], size, given)
    return ca.Function("e", [z, p, u], [ca.vertcat(*outputs)]), values, given


def is_signal_row(name, key):
    component = LIBRARY.components[name]
    return component.is_signal(list(component.terminals)[key[1]])


def project(solve, z, size, given):
    """The nearest root, by Gauss-Newton steps of least length in nominal units: short ones at first, longer ones later (rates in MV/s)."""
    for k in range(80):
        c, jacobian = (np.array(item) for item in solve(z, given, UNIFORM_VALUES))
        scale = np.maximum(np.max(np.abs(jacobian * size), axis=1, initial=0.0), 1e-300)
        step = size * (np.linalg.pinv(jacobian * size / scale[:, None], rcond=1e-11) @ (c.ravel() / scale))
        z = z - step * min(1.0, 0.5 * 2.0 ** max(k - 40, 0) / np.max(np.abs(step / size), initial=1e-300))
        if np.max(np.abs(step / size), initial=0.0) < 1e-14:
            break
    assert np.max(np.abs(step / size), initial=0.0) < 1e-9, "no motion found that the component can make"
    return z


def power_terms(name, form):
    """The power into each terminal, from the domain's own expression, the across symbol and the through reading."""
    component = LIBRARY.components[name]
    for t, terminal in enumerate(component.terminals):
        domain = component.domain(terminal)
        if component.is_signal(terminal) or domain.power is None:
            continue
        order = 1 if is_kinematic(domain) else 0

        def value(quantity, t=t, terminal=terminal, domain=domain, order=order):
            word = quantity.parts[0].text
            if word == domain.across[0].name:
                return Typed(form.symbols.at(("node", t, 0), order))
            return Typed(form.readings[f"{terminal}.{word}"].value)

        def rate(call, scope):
            return Typed(form.symbols.rate(evaluate(call.arguments[0], scope).value), None)

        yield evaluate(domain.power, Scope(value, {"der": rate})).value


@each
def test_power_account(name):
    """What enters is stored, dissipated or (in a source, negatively) supplied. That nothing is dissipated negatively is
    shown in test_library_passivity.py, for values that the component permits."""
    component = LIBRARY.components[name]
    form = build_form(component, default_counts(component.definition))
    terms = list(power_terms(name, form))
    rate = form.symbols.rate(form.stored)
    delivered = form.readings.get("power")
    watts = [] if delivered is None else [delivered.value]
    account, values, given = consistent(name, form, lambda: [*terms, rate, form.supplied, form.dissipated, *watts])
    for z in values:
        found = np.array(account(z, given, UNIFORM_VALUES)).ravel()
        *into, stored, supplied, dissipated = found[: len(terms) + 3]
        size = sum(map(abs, into)) + abs(stored) + abs(dissipated) + 1e-12
        balance = sum(into) + supplied - dissipated - stored
        assert abs(balance) < 1e-8 * size, (balance, size, found)
        assert component.is_source or supplied == 0.0
        if len(watts) and component.is_source:
            assert abs(found[-1] - supplied) < 1e-8 * size


# ------------------------------------------------------------------------------------------------------ documentation


def test_library_has_no_mistakes():
    assert [p.message for p in check_library(LIBRARY)] == []
    assert len(COMPONENTS) > 70


@each
def test_documented(name):
    definition = LIBRARY.components[name].definition
    assert definition.doc, "a component says what it is"
    for item in (*definition.params, *definition.inputs, *definition.outputs):
        assert item.doc, f"'{item.name}' says what it is"


@each
def test_readings_are_finite(name):
    """Everything an instance can be asked for has a value."""
    form = kernels_of(name).form
    wanted = [(word, i, 0) for word, typed in form.readings.items() for i in range(len(flatten(typed.value)))]
    kernel = reading_kernel(form, wanted)
    assert np.all(np.isfinite(run(kernel, states(name, form, kernel.gather), form, name)))
    assert energy_kernel(form).program.n_outputs == 4
