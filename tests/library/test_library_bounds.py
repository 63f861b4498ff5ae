"""Parameters at their bounds and at 1e-9 and 1e6 of their usual values: the equations have finite values or an assert refuses them, and a run ends,
or a message says at which element it cannot."""

import warnings

import numpy as np
import pytest
from hosts import LIBRARY, hosted, netlist

import netsim
from netsim.text.expressions.typed import evaluate
from operating_points import UNIFORM_VALUES, Element, number_scope, usual_parameters

SCALES = (1e-9, 1e6)
POWER = "an exponent: a power of a million overflows in any law; a run says so at its start (E503)"
COLD = "the law of the junction overflows where the reference temperature or the emission is a billionth; a run says so at its start (E503)"
SINGULAR = {
    "heated_bjt.xti": POWER, "heated_bjt.Eg": POWER, "heated_bjt.Tnom": COLD, "heated_diode.xti": POWER, "heated_diode.Eg": POWER,
    "heated_diode.Tnom": COLD, "heated_diode.N": COLD, "natural_convection.m": POWER, "power.e": POWER,
    "led.T0": COLD, "ntc.B": POWER, "ntc.T0": COLD, "solar_cell.N": COLD, "solar_cell.T": COLD, "solar_cell.ns": COLD, "solar_cell.Voc": POWER,
}  # fmt: skip
"""Parameters (component.parameter) at which equations have no finite value though nothing refuses them, and why."""


def admitted(statement, value, scope):
    """Whether a parameter's bounds admit a value."""
    limits = [(b.op, float(evaluate(b.value, scope).value)) for b in statement.bounds]
    holds = {">": value.__gt__, ">=": value.__ge__, "<": value.__lt__, "<=": value.__le__}
    return all(holds[op](limit) for op, limit in limits)


def ends(statement, value, scope):
    """The extreme values of a scalar parameter that its bounds admit: closed bounds, and the usual value scaled."""
    closed = [float(evaluate(b.value, scope).value) for b in statement.bounds if b.op in (">=", "<=")]
    return [float(v) for v in dict.fromkeys([*closed, *(scale * value for scale in SCALES)]) if admitted(statement, float(v), scope)]


def extremes(element, values):
    """(parameter, values of all parameters) with one of them at an end, where the component's asserts admit it."""
    component = element.component
    claims = [a for a in component.definition.asserts if not component.quantities_in(a.condition)]
    for p in component.definition.params:
        if p.size or not isinstance(values[p.name], float):
            continue
        for value in ends(p, values[p.name], number_scope(values, component)):
            changed = {**values, p.name: value}
            with np.errstate(all="ignore"):
                if all(bool(evaluate(claim.condition, number_scope(changed, component)).value) for claim in claims):
                    yield p, changed


@pytest.mark.parametrize("name", sorted(LIBRARY.components))
def test_equations_are_finite_at_the_ends_of_parameters(name):
    element = Element(name)
    values = usual_parameters(element.component, element.counts)
    slots, _, solve, account = element.functions
    z, _ = element.state(slots, np.random.default_rng(len(name)))

    def finite(chosen):
        given = element.given(chosen)
        return all(np.isfinite(np.array(item)).all() for item in (*solve(z, given, UNIFORM_VALUES), account(z, given, UNIFORM_VALUES)[0]))

    assert finite(values)
    broken = {p.name: chosen[p.name] for p, chosen in extremes(element, values) if not finite(chosen)}
    assert {p: v for p, v in broken.items() if f"{name}.{p}" not in SINGULAR} == {}


def run_of_extremes(name, scale):
    """The netlist of a component all of whose scalar parameters are at an end, where each is admitted alone."""
    element = Element(name)
    values = usual_parameters(element.component, element.counts)
    texts = {}
    for p, chosen in extremes(element, values):
        if chosen[p.name] == scale * values[p.name]:
            unit = {"1/H": "H^-1", "1/V": "V^-1", "1": "", None: ""}.get(p.unit, p.unit)
            texts[p.name] = f"{chosen[p.name]!r} {unit}".strip()
    return netlist(name, texts, run="run transient(stop = 2 us, step = 1 us)") if texts else ""


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", hosted())
def test_extreme_parameters_run_or_are_told(name, scale):
    """All parameters at 1e-9 or all at 1e6 of their usual values."""
    if not (text := run_of_extremes(name, scale)):  # no scalar parameters
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            (samples,) = netsim.load(text).samples()
    except (netsim.InputError, netsim.SimulationError) as told:
        assert all(p.code and (p.span is not None or "'" in p.message or "(x" in p.message or ", x)" in p.message) for p in told.problems), str(told)
    else:
        assert samples.finished or samples.message
