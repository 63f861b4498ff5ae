"""The parameters of every element of a batch, in the order of its form."""

from collections.abc import Mapping
from itertools import islice

import numpy as np

from netsim.equations.batches import Batch, Indeterminacy, form_of
from netsim.equations.forms.form import Form
from netsim.network.bindings import leaf_values
from netsim.network.network import GROUND, Instance
from netsim.network.signals import Reading
from netsim.network.values import Values
from netsim.text.errors import InputError, Problem
from netsim.text.expressions.sizes import flatten

Array = np.ndarray


def parameters_of(batch: Batch, values: Values) -> Array:
    """The parameter array (parameters, n) of a batch in the form's order; raises `InputError` with every wrong
    value."""
    if isinstance(batch, Indeterminacy):
        return batch.coefficients
    key = id(batch.form), id(batch.instances)
    if key in values.of_batches:
        return np.array(values.of_batches[key][-1])
    result = np.zeros((sum(batch.form.parameters.values()), batch.n))
    problems: list[Problem] = []
    columns: dict[tuple[int, ...], list[float]] = {}
    for k, instance in enumerate(batch.instances if not batch.shapes else ()):
        try:
            alike = (id(values.parameters(instance)), *(node == GROUND for node in instance.nodes))
            if alike not in columns:
                columns[alike] = instance_parameters(batch.form, instance, values)
            result[:, k] = columns[alike]
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    if batch.shapes:
        return _expression_parameters(batch, values)
    values.of_batches[key] = batch.form, batch.instances, result.copy()  # what has a number is kept
    return result


def instance_parameters(form: Form, instance: Instance, values: Values) -> list[float]:
    """One instance's parameters in the form's order, `live` flags included."""
    given = values.parameters(instance)
    found: list[float] = []
    for name in form.parameters:
        if name.startswith("live "):
            found.append(float(instance.nodes[int(name[5:])] != GROUND))
        else:
            found += [float(x) for x in flatten(given[name].value)]
    return found


def _expression_parameters(batch: Batch, values: Values) -> Array:
    """Lifted numbers and the parameters of inlined elements, in the form's order."""
    columns = []
    for shape in batch.shapes:
        numbers = leaf_values(shape, values)
        lent: dict[int, Mapping[str, list[float]]] = {}
        column: list[float] = []
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
    return np.ascontiguousarray(np.array(columns, dtype=float).reshape(len(columns), -1).T)


def _lender_parameters(instance: Instance, values: Values) -> dict[str, list[float]]:
    form = form_of(instance).form
    flat = iter(instance_parameters(form, instance, values))
    return {name: list(islice(flat, count)) for name, count in form.parameters.items()}
