"""A network's equations linearised at a generic point: the matrix A(s) of F(x, s x, s^2 x, y, s q(y)) and the columns
of its inputs.

Parameters and states are drawn at random within their bounds, so what A(s) says about rank holds for almost every
value: it is a property of the structure, cancellations such as the potential of a floating island included (which
counting unknowns cannot see).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from netsim.core.linear.columns import Columns, columns_of
from netsim.equations.batches import Batch, FormKernels
from netsim.equations.forms.facts import tuples
from netsim.equations.forms.form import Form, step_residuals
from netsim.equations.forms.symbols import UNIFORM, UNIFORMS, Key
from netsim.equations.kernels.lowering import forward_jacobian, lower
from netsim.equations.kernels.program import Program, packed, unpacked
from netsim.equations.kernels.reference import evaluate as evaluate_program
from netsim.equations.kernels.symbolic import ca
from netsim.equations.system import System
from netsim.text.errors import InputError
from netsim.text.expressions.sizes import flatten
from netsim.text.expressions.typed import Scope, evaluate
from netsim.text.syntax import Param

Array = np.ndarray
TRIES = 24
FAINT, DIM, BRIGHT, GLARING = 1e-10, 1e-6, 1e4, 1e8
SPREAD = 0.4
ALPHA, PAST = UNIFORMS.index("alpha"), UNIFORMS.index("past")


@dataclass(frozen=True, eq=False)
class Linearisation:
    """A form's derivatives: entries (row, key, order), which of them contain alpha, and a program of all symbols for
    their values."""

    entries: tuple[tuple[int, Key, int], ...]
    rates: Array
    program: Program
    signed: int
    parameters: tuple[tuple[str, int], ...]


@lru_cache(maxsize=512)
def linearisation(kernels: FormKernels) -> Linearisation:
    """Derivatives of a form's rows by everything it gathers; differentiated quantities enter as alpha*q."""
    form = kernels.form
    entries, rates, program = form.facts.recall(
        ("linearisation",),
        lambda: _linearised(form),
        lambda found: (*found[:2], packed(found[2])),
        lambda data: (tuples(data[0]), data[1], unpacked(data[2])),
    )
    return Linearisation(entries, np.array(rates, bool), program, program.n_gather, tuple(form.parameters.items()))


def _linearised(form: Form) -> tuple[tuple[tuple[int, Key, int], ...], list[bool], Program]:
    residuals = ca.vertcat(*step_residuals(form)[0])
    gathered = dict(form.symbols.gathered)
    keys = [key for key in gathered if key[0][0] != "differentiated"]
    jacobian = forward_jacobian(residuals, ca.vertcat(*(gathered[k] for k in keys)))
    rows, columns = jacobian.sparsity().get_triplet()
    parameters = [s for scalars in form.symbols.parameters.values() for s in scalars]
    entries = tuple((r, *keys[c]) for r, c in zip(rows, columns))
    values = ca.reshape(jacobian.nz[:], -1, 1) if entries else ca.SX(0, 1)
    rates = [bool(ca.depends_on(value, UNIFORM["alpha"])) for value in ca.vertsplit(values)] if entries else []
    columns_of = ca.vertcat(*gathered.values()), ca.vertcat(*UNIFORM.values()), ca.vertcat(*parameters)
    return entries, rates, lower(*columns_of, values)


@dataclass(frozen=True, eq=False)
class Places:
    """Rows and columns (entries, instances) of a batch's entries, the power of s of each, and whether it is by a
    function of time: its columns are then those of prescribed inputs."""

    rows: Array
    columns: Array
    orders: list[int]
    driven: Array


def _places(batch: Batch) -> Places:
    entries = linearisation(batch.kernels).entries
    given = [batch.prescribed_inputs.get(key) for _, key, _ in entries]
    rows = [batch.unknowns[batch.form.rows[row]] for row, _, _ in entries]
    columns = [batch.columns(key) if own is None else own for own, (_, key, _) in zip(given, entries)]
    shape, driven = (len(entries), batch.n), np.array([own is not None for own in given], bool)
    orders = [order for *_, order in entries]
    return Places(np.array(rows, int).reshape(shape), np.array(columns, int).reshape(shape), orders, driven)


@dataclass(frozen=True, eq=False)
class Point:
    """One generic point of a system: for every batch the arguments of its linearisation, one column per instance.

    `stand_ins` are what takes the place of entries that vanish or overflow wherever we looked: they are not zero by
    structure (NaN elsewhere). `known` are derivatives that no rate changes."""

    system: System
    arguments: tuple[Array, ...]
    stand_ins: tuple[Array, ...]
    known: dict[tuple[int, float], Array] = field(default_factory=dict)

    @cached_property
    def places(self) -> list[Places]:
        """Where the entries of every batch stand."""
        return [_places(batch) for batch in self.system.batches]

    def derivatives(self, number: int, alpha: float, past: float) -> Array:
        """What the linearisation of a batch gives, differentiated quantities as alpha q, delayed ones as `past` q."""
        form = linearisation(self.system.batches[number].kernels)
        if form.rates.any():
            return self._derivatives(form, number, alpha, past)
        if (number, past) not in self.known:
            self.known[number, past] = self._derivatives(form, number, alpha, past)
        return self.known[number, past]

    def _derivatives(self, form: Linearisation, number: int, alpha: float, past: float) -> Array:
        arguments, stand_ins = self.arguments[number].copy(), self.stand_ins[number]
        uniforms = arguments[len(arguments) - len(UNIFORMS) :]
        uniforms[ALPHA], uniforms[PAST] = alpha, past
        resting = form.rates[:, None] & (uniforms[ALPHA] == 0)
        values = np.where(np.isnan(stand_ins), _values(form, arguments), np.where(resting, 0.0, stand_ins))
        return _moderate(values, form.rates)


def generic_point(system: System, seed: int) -> Point:
    """Random states and parameters for every element, avoiding flat spots (a slack rope) where another draw does."""
    rng = np.random.default_rng(seed)
    arguments = tuple(_best_draw(batch, rng) for batch in system.batches)
    stand_ins = []
    for batch, columns in zip(system.batches, arguments):
        form = linearisation(batch.kernels)
        usable = _usable(_values(form, columns))
        stand_ins.append(np.where(usable, np.nan, _scatter(rng, usable.shape)))
    return Point(system, arguments, tuple(stand_ins))


def _best_draw(batch: Batch, rng: np.random.Generator) -> Array:
    """A draw for every instance, drawn anew where entries vanish or overflow, while there are any such instances."""
    form, left = linearisation(batch.kernels), np.arange(batch.n)
    best, score = np.zeros((0, 0)), np.full(batch.n, -1)
    for attempt in range(TRIES):
        trial = _draw(batch, form, rng, len(left), scaled=attempt % 2 == 1)
        found = _usable(_values(form, trial)).sum(axis=0)
        best = best if attempt else trial.copy()
        better = found > score[left]
        best[:, left[better]], score[left[better]] = trial[:, better], found[better]
        left = np.flatnonzero(score < len(form.entries))
        if not len(left):
            break
    return best


def _usable(values: Array) -> Array:
    size = np.abs(np.where(np.isfinite(values), values, 0.0))
    return (size > FAINT) & (size < GLARING)


def _scatter(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Positive numbers around one, as often above as below it, so that long chains of gears and amplifiers neither grow
    nor fade."""
    return np.exp(rng.uniform(-SPREAD, SPREAD, shape))


def _draw(batch: Batch, form: Linearisation, rng: np.random.Generator, n: int, scaled: bool) -> Array:
    """States, parameters and uniforms of n instances, one column each."""
    states = rng.uniform(0.3, 3, (form.signed, n)) * rng.choice([-1, 1], (form.signed, n))
    declared = {p.name: p for p in batch.instances[0].component.definition.params} if not batch.shapes else {}
    blocks = [states]
    for name, size in form.parameters:
        blocks.append(
            np.ones((size, n)) if name.startswith("live ") else _parameter(declared.get(name), (size, n), rng, scaled)
        )
    uniforms = np.insert(_scatter(rng, (len(UNIFORMS) - 1, n)), ALPHA, 1.0, axis=0)
    return np.vstack([*blocks, uniforms])


def _parameter(declared: Param | None, size: tuple[int, int], rng: np.random.Generator, scaled: bool) -> Array:
    """Within literal bounds; `scaled` draws stay near the default, for laws that overflow away from it."""
    default = _constant(declared.default) if declared and scaled else None
    if default:
        return default * _scatter(rng, size)
    limits = [(bound.op[0], _constant(bound.value)) for bound in declared.bounds] if declared else []
    low, high = (next((x for op, x in limits if op == side and x is not None), None) for side in "><")
    if low is not None and high is not None:
        return low + (high - low) * rng.uniform(0.3, 0.7, size)
    scale = _scatter(rng, size)
    return low + scale if low else high - scale if high is not None else scale


def _constant(expr: Any) -> float | None:
    try:
        values = flatten(evaluate(expr, Scope(_no_name)).value) if expr is not None else []
    except InputError:
        return None
    return float(values[0]) if len(values) == 1 else None


def _no_name(name: Any) -> Any:
    raise InputError(())


def _values(form: Linearisation, arguments: Array) -> Array:
    gathered, parameters, uniforms = np.split(arguments, [form.signed, len(arguments) - len(UNIFORMS)])
    return evaluate_program(form.program, gathered, uniforms, parameters)


# -------------------------------------------------------------------------------------------- the matrices


def matrices(point: Point, s: float, alpha: Callable[[Batch], float] | None = None) -> tuple[Columns, Columns]:
    """(A, B): derivatives of all rows by the unknowns (n, n) and by the functions of time (n, prescribed inputs), d/dt
    replaced by s.

    `alpha` gives what stands for d/dt of a batch's differentiated quantities (s unless told): zero there is the static
    solution."""
    system = point.system
    own: list[tuple[Array, Array, Array]] = []
    driven: list[tuple[Array, Array, Array]] = []
    for number, batch in enumerate(system.batches):
        values = point.derivatives(number, s if alpha is None else alpha(batch), 1.0 if alpha is None else 0.0)
        at = point.places[number]
        values = values * np.array([s**order for order in at.orders]).reshape(-1, 1)
        for found, which in ((own, ~at.driven), (driven, at.driven)):
            found.append((at.rows[which].ravel(), at.columns[which].ravel(), values[which].ravel()))
    return _assembled(own, (system.n, system.n)), _assembled(driven, (system.n, max(system.layout.nd, 1)))


def _moderate(values: Array, rates: Array) -> Array:
    """Entries that are faint where the differentiated quantities rest (a blocking diode's conductance) or bright (the
    polynomial of a measured curve), brought to size one, an element's by one factor: what cancels goes on
    cancelling."""
    size = np.abs(values)
    for odd in ((size < DIM) & (size > 0.0), (size > BRIGHT) & ~rates[:, None]):
        largest = np.max(np.where(odd, size, 0.0), axis=0, initial=0.0)
        values = np.where(odd, values / np.where(largest > 0.0, largest, 1.0), values)
    return values


def _assembled(parts: list[tuple[Array, Array, Array]], shape: tuple[int, int]) -> Columns:
    nothing = np.zeros(0, np.int64)
    rows, columns, values = (np.concatenate(p) for p in zip((nothing, nothing, np.zeros(0)), *parts))
    kept = (rows >= 0) & (columns >= 0)
    return columns_of(values[kept], rows[kept], columns[kept], shape)
