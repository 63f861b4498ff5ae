"""The parameters of every element of a batch, in the order of its form."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from netsim.equations.batches import Batch, Indeterminacy, form_of
from netsim.equations.forms.form import Form
from netsim.network.bindings import leaf_values
from netsim.network.network import GROUND, Instance
from netsim.network.signals import Reading
from netsim.network.values import Values
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.sizes import flatten
from netsim.text.syntax import Number

Array = np.ndarray


def parameters_of(batch: Batch, values: Values) -> Array:
    """The parameter array (parameters, n) of a batch in the form's order; raises `InputError` with every wrong
    value."""
    if isinstance(batch, Indeterminacy):
        return batch.coefficients
    key = id(batch.form), id(batch.instances)
    if key in values.of_batches:
        return values.of_batches[key][-1].copy()
    columns = columns_of(batch, values)
    result = np.ascontiguousarray(np.array(columns, float).reshape(batch.n, sum(batch.form.parameters.values())).T)
    if not batch.shapes:
        keep_parameters(batch, values, result.copy())
    return result


def keep_parameters(batch: Batch, values: Values, found: Array) -> None:
    """The parameter array of a batch is known from here on."""
    owners = frozenset(instance.name for instance in batch.instances)
    # what has a number is kept
    values.of_batches[id(batch.form), id(batch.instances)] = (batch.form, batch.instances), owners, found


def in_lanes(columns: Sequence[Sequence[Any]], count: int) -> Array:
    """Columns of numbers, or of `count` numbers each, as rows (parameters, n count): those of one column side by
    side."""
    wide = np.array([[np.broadcast_to(x, count) for x in column] for column in columns], float)
    return np.ascontiguousarray(wide.reshape(len(columns), -1, count).transpose(1, 0, 2)).reshape(wide.shape[1], -1)


def columns_of(batch: Batch, values: Values) -> list[list[Any]]:
    """The parameters of every element of a batch, in the form's order: numbers, or arrays where values are such. Raises
    `InputError` with every wrong value."""
    if batch.shapes:
        return _expression_parameters(batch, values)
    problems: list[Problem] = []
    known: dict[tuple[int, ...], list[Any]] = {}
    found: list[list[Any]] = []
    for instance in batch.instances:
        try:
            alike = (id(values.parameters(instance)), *(node == GROUND for node in instance.nodes))
            if alike not in known:
                known[alike] = instance_parameters(batch.form, instance, values)
            found.append(known[alike])
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return found


def instance_parameters(form: Form, instance: Instance, values: Values) -> list[Any]:
    """One instance's parameters in the form's order, `live` flags included."""
    given = values.parameters(instance)
    found: list[Any] = []
    for name in form.parameters:
        if name.startswith("live "):
            found.append(float(instance.nodes[int(name[5:])] != GROUND))
        else:
            found += flatten(given[name].value)
    return found


def moved_parameters(batch: Batch, k: int, values: Values, name: str, numbers: Array) -> Array:
    """The parameters (parameters, count) of the k-th element of a batch while the one called `name` has each of these
    numbers (count) in SI."""
    moved = values.changed({name: Number(numbers)})  # type: ignore[arg-type]
    found = instance_parameters(batch.form, batch.instances[k], moved)
    return np.array([np.broadcast_to(x, len(numbers)) for x in found], float).reshape(len(found), len(numbers))


def _expression_parameters(batch: Batch, values: Values) -> list[list[Any]]:
    """Lifted numbers and the parameters of inlined elements, in the form's order."""
    columns = []
    for shape in batch.shapes:
        numbers = leaf_values(shape, values)
        lent: dict[int, Mapping[str, list[Any]]] = {}
        column: list[Any] = []
        for name in batch.form.parameters:
            if name == "numbers":
                column += numbers
                continue
            j, _, parameter = name.partition(" ")
            signal: Reading = shape.signals[int(j)]
            if int(j) not in lent:
                lent[int(j)] = _lender_parameters(values.network.instances[signal.instance], values)
            column += lent[int(j)][parameter]
        columns.append(column)
    return columns


def _lender_parameters(instance: Instance, values: Values) -> dict[str, list[Any]]:
    form = form_of(instance).form
    flat = iter(instance_parameters(form, instance, values))
    return {name: list(islice(flat, count)) for name, count in form.parameters.items()}
