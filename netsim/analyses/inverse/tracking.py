"""A network in which chosen inputs become unknowns and chosen signals follow motions.

In words of circuits: every actuator's input is the norator of a pair, every followed signal x its nullator. One element
is added per actuator, with the unknown u that the actuator's input reads and one row: `x = motion` where it follows, `u
= value` where it is applied. Both kinds have the same unknowns in the same order, so the point at which one network
starts is a point of the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from netsim.equations.batches import form_of
from netsim.equations.forms.symbols import Symbols
from netsim.equations.inputs import shape_value
from netsim.library.component import Component, dimension, pick, scalar_count, sizes_of
from netsim.network.bindings import lift_numbers
from netsim.network.network import Instance as Element
from netsim.network.network import Network, name_text
from netsim.network.signals import NodeSignal, Reading, find_signal
from netsim.network.values import Values
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.sizes import shape, shaped
from netsim.text.expressions.typed import Typed
from netsim.text.parse import parse
from netsim.text.syntax import Binding, Call, ComponentDef, Expr, Instance, Name, Number, Part, Vector
from netsim.text.units import Dimension, format_dimension

PAIR = """component {kind} "{doc}"
  input x : {tracked}
  input motion : {tracked}
  input value : {driven}
  var u : {driven}
  {row}
end
"""
FOLLOW, APPLIED = "follow", "applied"
ROWS = {
    FOLLOW: ("the signal x follows a motion; u is whatever makes it do so", "x = motion"),
    APPLIED: ("u is given", "u = value"),
}


@dataclass(frozen=True)
class Motion:
    """A signal and the function of time it is to follow, with the signal's dimension."""

    signal: Expr
    motion: Expr
    dimension: Dimension

    @property
    def name(self) -> str:
        return show_expression(self.signal)


@dataclass(frozen=True)
class Actuator:
    """One scalar of an instance's input that becomes an unknown; a vector input has as many as it has components."""

    name: str
    instance: int
    input: str
    component: int
    size: int
    dimension: Dimension
    expr: Name

    def element(self, network: Network) -> str:
        """The name of the element that is added for it, in the subnetwork of its instance."""
        return f"{network.instances[self.instance].name} {self.input}" + (
            f" {self.component + 1}" if self.size > 1 else ""
        )


@lru_cache(maxsize=256)
def _pair(kind: str, tracked: str, driven: str) -> Component:
    doc, row = ROWS[kind]
    program = parse(PAIR.format(kind=kind, doc=doc, row=row, tracked=tracked, driven=driven), "<actuator>")
    definition = program.statements[0]
    assert isinstance(definition, ComponentDef)
    return Component(definition, {})


def rewired(
    network: Network, kinds: Sequence[str], motions: Sequence[Motion], actuators: Sequence[Actuator], source: str
) -> Network:
    """The network with an element per actuator, of the given kinds; the k-th reads the k-th motion while there are any
    (the pairing means nothing).

    An applied element takes its value from the series of the same name in the run `source`.
    """
    instances = list(network.instances)
    for number in dict.fromkeys(a.instance for a in actuators):
        instances[number] = _reading_unknowns(
            network, instances[number], [a for a in actuators if a.instance == number]
        )
    zero = Number(0.0, "")
    for k, (kind, actuator) in enumerate(zip(kinds, actuators)):
        motion = motions[k] if k < len(motions) else None
        component = _pair(
            kind, format_dimension(motion.dimension) if motion else "1", format_dimension(actuator.dimension)
        )
        name = actuator.element(network)
        value = (
            zero
            if kind == FOLLOW
            else Call("table", (_word(source), _word(name, "u")), (("outside", Name((Part("hold"),))),))
        )
        bindings = (
            Binding("x", motion.signal if motion else zero),
            Binding("motion", motion.motion if motion else zero),
            Binding("value", value),
        )
        span = motion.motion.span if motion else actuator.expr.span
        text = Instance(_word(name), kind, (), tuple(replace(b, span=span) for b in bindings), span=span)
        instances.append(Element(name, component, (), (), text, network.top))
    return replace(network, instances=tuple(instances))


def _word(*texts: str) -> Name:
    return Name(tuple(Part(text) for text in texts))


def _reading_unknowns(network: Network, instance: Element, actuators: Sequence[Actuator]) -> Element:
    """The instance with its inputs bound to the unknowns of its actuators."""
    bound: dict[str, Expr] = {}
    for name in dict.fromkeys(a.input for a in actuators):
        unknowns = [_word(a.element(network)[len(instance.frame.prefix) :], "u") for a in actuators if a.input == name]
        bound[name] = Vector(tuple(unknowns)) if actuators[0].size > 1 else unknowns[0]
    bindings = tuple(replace(b, value=bound[b.name]) if b.name in bound else b for b in instance.text.bindings)
    return replace(instance, text=replace(instance.text, bindings=bindings))


# ------------------------------------------------------------------------------------------------ what was asked for


def motions_of(network: Network, values: Values, pairs: Sequence[tuple[Expr, Expr]]) -> list[Motion]:
    """The motions with the dimensions of their signals; raises `InputError` for what is no scalar signal."""
    found: list[Motion] = []
    problems: list[Problem] = []
    for signal, motion in pairs:
        try:
            typed, reads = typed_signal(network, values, signal)
            if not reads:
                message = f"'{show_expression(signal)}' contains no signal of the network"
                raise InputError(Problem("E430", message, signal.span))
            if shape(typed.value):
                hint = "follow its components one by one, such as M.r.x"
                raise InputError(Problem("E430", f"'{show_expression(signal)}' is a vector", signal.span, hint=hint))
            found.append(Motion(signal, motion, typed.dimension or dimension(None)))
        except InputError as error:
            problems.extend(error.problems)
    names = [m.name for m in found]
    twice = [m for i, m in enumerate(found) if m.name in names[:i]]
    problems += [
        Problem("E430", f"'{m.name}' has two motions", m.signal.span, hint="remove one of them") for m in twice
    ]
    if problems:
        raise InputError(problems)
    return found


def typed_signal(network: Network, values: Values, signal: Expr) -> tuple[Typed, bool]:
    """Value (in symbols) and dimension of an expression of signals, and whether it reads any."""
    nodes, numbers = network.node_numbers, network.instance_numbers
    lifted = lift_numbers(
        signal, network.top, values, lambda name, frame: find_signal(name, frame, network, nodes, numbers, form_of)
    )

    def value(j: int) -> Typed:
        found: NodeSignal | Reading = lifted.signals[j]
        if isinstance(found, Reading):
            typed = form_of(network.instances[found.instance]).form.readings[found.reading]
        else:
            typed = Typed(shaped([1.0] * scalar_count(found.sizes), found.sizes), found.dimension)
        return pick(typed, found.name, found.used)

    return shape_value(lifted, Symbols(), value, None, ()), bool(lifted.signals)


def actuators_of(network: Network, names: Sequence[Expr]) -> list[Actuator]:
    """The inputs that are named; raises `InputError` for what is none, with what could be meant."""
    numbers = network.instance_numbers
    found: list[Actuator] = []
    problems: list[Problem] = []
    for expr in names:
        try:
            found += _actuator(network, numbers, expr)
        except InputError as error:
            problems.extend(error.problems)
    taken = [a.name for a in found]
    problems += [
        Problem("E431", f"actuator '{a.name}' is named twice", a.expr.span)
        for i, a in enumerate(found)
        if a.name in taken[:i]
    ]
    if problems:
        raise InputError(problems)
    return found


def _actuator(network: Network, numbers: Mapping[str, int], expr: Expr) -> list[Actuator]:
    shown = show_expression(expr)
    if not isinstance(expr, Name) or len(expr.parts) < 2:
        message = f"'{shown}' is not an actuator: an actuator is an input of an element"
        raise InputError(Problem("E431", message, expr.span, hint=_inputs_hint(network)))
    path = name_text(Name(expr.parts[:-1]), network.top)
    if path not in numbers:
        near = nearest(path, numbers)
        raise InputError(
            Problem("E431", f"there is no element '{path}'", expr.span, hint=near or _inputs_hint(network))
        )
    instance = network.instances[numbers[path]]
    inputs = {q.name: q for q in instance.component.definition.inputs}
    word = expr.parts[-1].text
    if word not in inputs:
        hint = (
            f"its inputs are {', '.join(inputs)}"
            if inputs
            else f"{instance.component.name} has no input; {_inputs_hint(network)}"
        )
        message = f"'{shown}' is not an input: an actuator is the input of a source of force, torque, voltage ..."
        raise InputError(Problem("E431", message, expr.span, hint=hint))
    sizes, unit = sizes_of(inputs[word].size, dict(instance.counts)), dimension(inputs[word].unit)
    size = scalar_count(sizes)
    labels = [""] if size == 1 else [f".{'xyz'[k]}" if size <= 3 else f"[{k + 1}]" for k in range(size)]
    return [Actuator(shown + label, numbers[path], word, k, size, unit, expr) for k, label in enumerate(labels)]


def _inputs_hint(network: Network) -> str:
    """Inputs whose names are worth suggesting: those of elements that can only push."""
    known = [f"{i.name}.{q.name}" for i in network.instances for q in i.component.definition.inputs]
    return f"inputs are {', '.join(known[:8])}" if known else "the netlist has no source"
