"""Kernels of a form: which expressions are computed together, what they gather and where their results go."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from netsim.equations.forms.facts import Facts, tuples
from netsim.equations.forms.form import Form, differentiated, partial_derivatives, step_jacobian, step_residuals
from netsim.equations.forms.symbols import CONSTANT, UNIFORM, Key, Symbols, nonzeros
from netsim.equations.kernels.lowering import forward_jacobian, lower
from netsim.equations.kernels.program import Program, packed, unpacked
from netsim.equations.kernels.symbolic import ca
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


def known_kernel(facts: Facts, what: tuple[Any, ...], make: Callable[[], Kernel]) -> Kernel:
    """The kernel called `what`, lowered where it is not known."""
    return facts.recall(what, make, _packed, _unpacked)


def _packed(kernel: Kernel) -> tuple[Any, ...]:
    return kernel.gather, kernel.scatter, packed(kernel.program)


def _unpacked(data: Any) -> Kernel:
    gather, scatter, program = data
    return Kernel(unpacked(program), tuples(gather), tuples(scatter))


def _of(form: Form, what: tuple[Any, ...], outputs: Callable[[], Iterable[tuple[Place, Any]]]) -> Kernel:
    """The kernel of these outputs of a form."""
    return known_kernel(form.facts, what, lambda: make_kernel(form.symbols, outputs()))


def residual_kernel(form: Form) -> Kernel:
    """Row residuals and differentiated quantities of a step."""
    return _of(form, ("residual",), lambda: _step_outputs(form, *step_residuals(form)))


def rates_kernel(form: Form) -> Kernel:
    """Row residuals where their rates are known, in the history's places: without the differentiated quantities
    themselves."""
    return _of(form, ("rates",), lambda: [(("row", key), r) for key, r in zip(form.rows, form.residuals)])


def differentiated_kernel(form: Form) -> Kernel:
    """Differentiated quantities alone: ('differentiated', k)."""
    return _of(
        form, ("differentiated",), lambda: [(("differentiated", k), q) for k, q in enumerate(form.differentiated)]
    )


def jacobian_kernel(form: Form, kinematic: Mapping[Key, bool], apart: Collection[Key] = ()) -> Kernel:
    """The same, and the entries of the step matrix: ('entry', row key, column key), and an order behind columns that
    are `apart`."""

    def outputs() -> list[tuple[Place, Any]]:
        residuals, differentiated = step_residuals(form)
        entries = [
            (("entry", form.rows[r], *column), value)
            for r, column, value in step_jacobian(form, residuals, kinematic, apart)
        ]
        return [*_step_outputs(form, residuals, differentiated), *entries]

    moving = tuple(key for key, moves in kinematic.items() if moves)
    return _of(form, ("jacobian", moving, tuple(sorted(apart))), outputs)


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

    def outputs() -> list[tuple[Place, Any]]:
        e = form.expressions
        rates = [symbol for (_, order), symbol in e.symbols.gathered.items() if order]
        at_rest = ca.substitute(ca.SX(e.stored), ca.vertcat(*rates), ca.SX.zeros(len(rates))) if rates else e.stored
        account = [e.supplied, e.dissipated, e.stored, e.stored - at_rest]
        return [(("energy", i), value) for i, value in enumerate(account)]

    return _of(form, ("energy",), outputs)


def start_kernel(form: Form) -> Kernel:
    """What discretes start with: ('start', i)."""
    return _of(form, ("start",), lambda: _listed("start", form.expressions.changes.starts))


def event_kernel(form: Form) -> Kernel:
    """Zero-crossing functions of relations, next values of discretes, what happens, and targets of states:
    ('zero-crossing function', k), ('scale', k), ('next', i), ('fired', j), ('target', r)."""

    def outputs() -> list[tuple[Place, Any]]:
        c = form.expressions.changes
        kinds = {"crossing": c.crossings, "scale": c.scales, "next": c.following, "fired": c.fired, "target": c.targets}
        return [each for kind, values in kinds.items() for each in _listed(kind, values)]

    return _of(form, ("events",), outputs)


def place_kernel(form: Form) -> Kernel:
    """Reference positions of the nodes the component places."""
    return _of(form, ("places",), lambda: list(zip(form.places, form.expressions.places)))


def delay_kernel(form: Form, k: int) -> Kernel:
    """How long delay k is, in s, and, where that is given, what stands before the start: ('length',), ('before',)."""

    def outputs() -> list[tuple[Place, Any]]:
        delay = form.expressions.delays[k]
        return [(("length",), delay.by), *([] if delay.before is None else [(("before",), delay.before)])]

    return _of(form, ("delay", k), outputs)


def _listed(kind: str, values: Iterable[Any]) -> list[tuple[Place, Any]]:
    return [((kind, k), value) for k, value in enumerate(values)]


def reading_kernel(form: Form, wanted: Iterable[tuple[str, int, int]]) -> Kernel:
    """Scalars of named quantities and total time derivatives of them: (name, index within a vector, order)."""
    names = list(wanted)
    return _of(form, ("readings", *names), lambda: [(("reading", *each), _reading(form, *each)) for each in names])


def _reading(form: Form, name: str, index: int, order: int) -> Any:
    found = ca.SX(flatten(form.readings[name].value)[index])
    for _ in range(order):
        found = form.symbols.rate(found)
    return found


def reading_partials_kernel(form: Form, wanted: Iterable[tuple[str, int, int]]) -> Kernel:
    """Derivatives of readings by what they read, order by order: ('partial', number of the reading, key, order)."""
    names = list(wanted)

    def outputs() -> list[tuple[Place, Any]]:
        column = ca.vertcat(*(_reading(form, *each) for each in names))
        keys = [key for key in form.symbols.gathered if key[0][0] not in CONSTANT]
        jacobian = forward_jacobian(column, ca.vertcat(*(form.symbols.gathered[key] for key in keys)))
        return [(("partial", r, *keys[c]), value) for r, c, value in nonzeros(jacobian)]

    return _of(form, ("reading partials", *names), outputs)


def partials_kernel(form: Form) -> Kernel:
    """F and definitions of differentiated quantities with their derivatives by order: ('partial', row index, key,
    order)."""
    return _of(
        form,
        ("partials",),
        lambda: [(("partial", r, key, order), value) for r, key, order, value in partial_derivatives(form)],
    )


def derivative_kernel(form: Form, order: int) -> Kernel:
    """The `order`-th total time derivative of rows and definitions of differentiated quantities: ('derivative', row
    index)."""
    return _of(form, ("derivative", order), lambda: _listed("derivative", differentiated(form, order)[order]))


def linear_kernel(form: Form, what: tuple[Any, ...], scalar: Callable[[], Any]) -> Kernel:
    """A scalar of a form and its derivatives by (key, order), under a name: ('value',), ('partial', key, order)."""

    def outputs() -> list[tuple[Place, Any]]:
        value = scalar()
        keys = [key for key in form.symbols.gathered if key[0][0] not in CONSTANT]
        jacobian = forward_jacobian(value, ca.vertcat(*(form.symbols.gathered[k] for k in keys)))
        return [(("value",), value), *((("partial", *keys[c]), entry) for _, c, entry in nonzeros(jacobian))]

    return _of(form, ("linear", *what), outputs)
