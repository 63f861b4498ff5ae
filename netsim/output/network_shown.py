"""A network as text: its netlist in canonical form, and its nodes and elements with the values of their parameters."""

from netsim.network.network import GROUND, Instance, Network
from netsim.network.values import Values
from netsim.text.columns import columns, counted
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.sizes import flatten
from netsim.text.expressions.typed import Typed
from netsim.text.parse import parse
from netsim.text.show import show, show_statement
from netsim.text.units import format_dimension, parse_unit


def show_syntax(network: Network) -> str:
    """The netlist in canonical form."""
    return show(parse(network.text, network.file))


def show_network(network: Network, values: Values) -> str:
    """Nodes with what touches them, instances with the values of their parameters, and what the netlist asks for."""
    touching: dict[int, list[str]] = {}
    for instance in network.instances:
        for node, terminal in zip(instance.nodes, instance.component.definition.terminals):
            touching.setdefault(node, []).append(f"{instance.name}.{terminal.name}")
    nodes = [(n.name, n.domain.name, ", ".join(touching.get(i, ()))) for i, n in enumerate(network.nodes)]
    nodes += [("ground", "", ", ".join(touching[GROUND]))] if GROUND in touching else []
    instances = [_instance(network, values, instance) for instance in network.instances]
    asked = [show_statement(s) for s in (*network.runs, *network.saves, *network.plots)]
    begins, sizes = (
        [f"{b.word} {b.path} = {show_expression(b.value)}" for b in said]
        for said in (network.beginnings, network.nominals)
    )
    return "\n".join(
        [
            counted(len(network.nodes), "node"),
            *columns(nodes),
            "",
            counted(len(instances), "element"),
            *columns(instances),
        ]
        + (["", "starts and guesses", *(f"  {line}" for line in begins)] if begins else [])
        + (["", "sizes of signals", *(f"  {line}" for line in sizes)] if sizes else [])
        + (["", "to do", *(f"  {line}" for line in asked)] if asked else [])
    )


def _instance(network: Network, values: Values, instance: Instance) -> tuple[str, str, str, str]:
    names = ["ground" if n == GROUND else network.nodes[n].name for n in instance.nodes]
    inputs = {q.name for q in instance.component.definition.inputs}
    units = {p.name: p.unit for p in instance.component.definition.params}
    given = [f"{name} = {quantity(value, units[name])}" for name, value in values.parameters(instance).items()]
    given += [f"{name} = {count}" for name, count in instance.counts]
    given += [f"{b.name} = {show_expression(b.value)}" for b in instance.text.bindings if b.name in inputs]
    return instance.name, instance.component.name, f"({', '.join(names)})", ", ".join(given)


def quantity(value: Typed, unit: str | None) -> str:
    """`200 N/m`, `[0, 0.15, 0] m`: a value in its declared unit."""
    declared = parse_unit(unit or "")
    scalars = [f"{declared.from_si(float(x)):.6g}" for x in flatten(value.value)]
    text = f"[{', '.join(scalars)}]" if isinstance(value.value, tuple) else scalars[0]
    unit = (
        unit
        if unit is not None or value.dimension is None or value.dimension.is_none
        else format_dimension(value.dimension)
    )
    return text if unit in (None, "", "1") else f"{text} {unit}"
