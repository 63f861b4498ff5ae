"""Inputs of a run: parameters that sources read, whose values Python sets while the run goes on.

What is bound to a source is a kernel with numbers of its own (netsim.network.bindings), and a parameter among these is
one entry of an array that machine code reads. Setting it changes this entry; nothing is compiled or analysed again. A
parameter that equations of a component read is refused: the structure of the network, and what is computed beforehand,
may depend on its value.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np

from netsim.equations.batches import Batch
from netsim.equations.machine import Machine
from netsim.equations.parameters import parameters_of
from netsim.equations.prescribed import Prescribed, prescribed_parameters, read_inputs
from netsim.equations.system import System
from netsim.library.component import WORLD, plain_name, scalar_count
from netsim.network.bindings import Shape
from netsim.network.network import Definition, Frame, Network, parameter_names
from netsim.network.values import Values, check_bounds
from netsim.structure.causes import Picture
from netsim.structure.of_time.smoothness import needed_smoothness
from netsim.structure.of_time.switching import bending
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.from_python import number_given, parse_expression
from netsim.text.expressions.typed import Typed, number_of
from netsim.text.syntax import Expr, Name, Number, Param

Array = np.ndarray
BOUND = "an input is a parameter that a source reads: param F = 0 N and push force (a) F = F"


@dataclass
class Inputs:
    """The inputs of one run: names, definitions, present values, and the machine whose numbers they are.

    places: for each input, (array, place in it) of its entries; computed: what has numbers that are computed from
    inputs; bends: whether an instant at which a function of time bends may depend on an input."""

    names: tuple[str, ...]
    definitions: tuple[Definition, ...]
    values: Values
    present: Array
    machine: Machine | None = None
    places: list[list[tuple[Array, int]]] = field(default_factory=list)
    computed: list[tuple[Batch | Prescribed, Array]] = field(default_factory=list)
    bends: bool = False

    @cached_property
    def bounded(self) -> bool:
        """Whether any of them has bounds."""
        return any(_param(definition).bounds for definition in self.definitions)

    def bind(self, machine: Machine) -> None:
        """From now on these are inputs of this machine, which has the same network, at their present values."""
        self.machine, self.places, self.computed, self.bends = machine, [[] for _ in self.names], [], False
        for item in _items(machine.system):
            array, reading = machine.parameters[id(item)], [s for s in item.shapes if read_inputs(s, self.values)]
            self.bends |= any(_bends(item, shape, self.values) for shape in reading)
            found = list(self._places(item, array)) if reading else []
            if None in found:
                self.computed.append((item, array))
            for number, place in (each for each in found if each is not None):
                self.places[number].append((array.reshape(-1), place))
        self.set(self.present)

    def _places(self, item: Batch | Prescribed, array: Array) -> Iterator[tuple[int, int] | None]:
        """(input, place in the flat array) of numbers that are inputs; None for one that is computed from inputs."""
        first = _first_number(item)
        for k, shape in enumerate(item.shapes):
            row = first
            for leaf in shape.leaves:
                alone = Shape(leaf.expr, (leaf,))
                path = _named(leaf.expr, leaf.frame, self.values)
                if path in self.names:
                    yield self.names.index(path), row * array.shape[1] + k
                elif read_inputs(alone, self.values):
                    yield None
                row += scalar_count(leaf.sizes)

    def set(self, values: Array) -> None:
        """The inputs have these values from now on."""
        self.present = values.copy()
        assert isinstance(self.values.overrides, dict)
        self.values.forget()
        for name, places, value in zip(self.names, self.places, values.tolist()):
            self.values.overrides[name] = Number(value)
            for array, place in places:
                array[place] = value
        for item, array in self.computed:
            array[...] = (
                parameters_of(item, self.values)
                if isinstance(item, Batch)
                else prescribed_parameters(item, self.values)
            )

    def copied(self) -> "Inputs":
        """The same with values of its own, bound to no machine."""
        values = Values(self.values.network, dict(self.values.overrides), inputs=self.values.inputs)
        return Inputs(self.names, self.definitions, values, self.present.copy())

    def check(self, values: Array) -> None:
        """Raises `InputError` for values that an input must not have."""
        if not self.bounded and np.isfinite(values).all():
            return
        for name, definition, old, new in zip(self.names, self.definitions, self.present, values):
            if new != old:
                scope = self.values.scope(definition.frame)
                known = self.values.defined(name, definition)
                check_bounds(
                    name, Typed(float(new), known.dimension), _param(definition), scope, definition.statement.span
                )

    def number(self, name: str, value: float | str | Expr) -> float:
        """A value for an input in SI, from a number or a text with a unit; raises `InputError`."""
        if isinstance(value, str):
            definition = self.definitions[self.names.index(name)]
            dimension = self.values.defined(name, definition).dimension
            assert dimension is not None
            expr = parse_expression(value, name)
            return float(number_of(expr, self.values.scope(self.values.network.top), dimension))
        return number_given(name, value)


def inputs_of(system: System, values: Values, names: Sequence[str]) -> Inputs:
    """The inputs of these names, with the values that their parameters have; raises `InputError` for what cannot be an
    input."""
    network, known = system.network, _definitions(system.network)
    problems = [_unknown(name, network) for name in names if name not in known]
    if problems:
        raise InputError(problems)
    definitions = tuple(known[name] for name in names)
    typed = [values.defined(name, definition) for name, definition in zip(names, definitions)]
    if wrong := [n for n, t in zip(names, typed) if not isinstance(t.value, float)]:
        raise InputError([Problem("E429", f"'{n}' is not a single number: {BOUND}") for n in wrong])
    given = {name: Number(float(t.value)) for name, t in zip(names, typed)}
    own = Values(network, {**values.overrides, **given}, inputs=frozenset(names))
    problems = list(_refused(system, own, names))
    if problems:
        raise InputError(problems)
    return Inputs(tuple(names), definitions, own, np.array([float(t.value) for t in typed]))


def _definitions(network: Network) -> dict[str, Definition]:
    """Parameters of the top level and of subnetworks, by full name."""
    frames = {id(frame): frame for frame in (network.top, *(i.frame for i in network.instances))}.values()
    return {
        frame.prefix + name: definition
        for frame in frames
        for name, definition in frame.definitions.items()
        if isinstance(definition.statement, Param)
    }


def _unknown(name: str, network: Network) -> Problem:
    if name in parameter_names(network):
        message = f"'{name}' cannot be an input: it is a parameter of an element, which its equations read"
        return Problem("E429", message, hint=BOUND)
    hint = nearest(name, _definitions(network)) or BOUND
    return Problem("E429", f"no parameter is called '{name}', so it cannot be an input", hint=hint)


def _refused(system: System, values: Values, names: Sequence[str]) -> Iterator[Problem]:
    """What reads an input and must not, inputs that nothing reads, and those that must not jump."""
    read: set[str] = set()
    for item in _items(system):
        for shape in item.shapes:
            read |= read_inputs(shape, values)
    elements = [i for batch in system.batches if not batch.shapes for i in batch.instances]
    for instance in elements:
        for name in _read(values, partial(Values.parameters, instance=instance)):
            read.add(name)
            message = f"'{name}' cannot be an input: equations of '{instance.name}' read it as a parameter"
            yield Problem("E429", message, instance.span, hint=BOUND)
    for word in WORLD:
        for name in _read(values, partial(Values.world, name=word)):
            read.add(name)
            yield Problem("E429", f"'{name}' cannot be an input: {word} of the world depends on it", hint=BOUND)
    for name in names:
        if name not in read:
            yield Problem("E429", f"'{name}' cannot be an input: no source reads it", hint=BOUND)
    yield from _jumps(system, values)


def _items(system: System) -> list[Batch | Prescribed]:
    return [*system.batches, *system.prescribed_inputs]


def _read(values: Values, look: Callable[[Values], object]) -> list[str]:
    """The inputs that a look at values depends on."""
    alone = Values(values.network, values.overrides)
    look(alone)
    return sorted(alone.used & values.inputs)


def _jumps(system: System, values: Values) -> Iterator[Problem]:
    """Inputs of sources whose function of time must not jump, as a motion of masses or the voltage of a capacitor."""
    asked = [
        (int(p.numbers[0, k]), owner, min(found))
        for p in system.prescribed_inputs
        for k, (shape, owner) in enumerate(zip(p.shapes, p.owners))
        if (found := read_inputs(shape, values))
    ]
    if not asked:
        return
    needed = needed_smoothness(Picture(system), [column for column, *_ in asked])
    for (_, (instance, name), parameter), need in zip(asked, needed):
        if need.smoothness >= 0:
            message = f"'{parameter}' cannot be an input: '{name}' of '{instance.name}' must not jump"
            hint = "let a lag smooth it (first_order of the library `signal`), or prescribe the force"
            yield Problem("E429", message, instance.span, hint=hint if need.mechanical else hint.partition(",")[0])


def _first_number(item: Batch | Prescribed) -> int:
    """The row at which the lifted numbers of a shape begin among its parameters."""
    parameters = item.form.parameters if isinstance(item, Batch) else item.parameters
    before = 0
    for name, count in parameters.items():
        if name == "numbers":
            return before
        before += count
    return before


def _named(expr: Expr, frame: Frame, values: Values) -> str:
    """The full name of the parameter that an expression is, through parameters that are bound to nothing but it; empty
    where it is computed."""
    name = plain_name(expr) if isinstance(expr, Name) else None
    definition = frame.definitions.get(name or "")
    if definition is None:
        return ""
    path = frame.prefix + str(name)
    if path in values.inputs or path in values.overrides or definition.value is None:
        return path
    return _named(definition.value, definition.frame, values)


def _bends(item: Batch | Prescribed, shape: Shape, values: Values) -> bool:
    """Whether instants at which a function of time bends, or passes samples of a table, may depend on an input."""
    if isinstance(item, Prescribed) and item.stage == 0:
        return True
    return any(True for _ in bending(shape, values))


def _param(definition: Definition) -> Param:
    assert isinstance(definition.statement, Param)
    return definition.statement
