"""What may be wrong with a network as a whole: names of nodes, paths into subnetworks, writers of signals."""

from collections.abc import Iterator, Sequence

from netsim.library.component import CONSTANTS
from netsim.library.files import Library
from netsim.network.network import GROUND, Frame, Instance, Node
from netsim.text.errors import Problem, Span, nearest
from netsim.text.spelling import new_name
from netsim.text.syntax import ComponentDef, Statement
from netsim.text.syntax import Instance as InstanceText


def wrong_names(nodes: Sequence[Node], top: Frame) -> Iterator[Problem]:
    """Nodes that are called what something else is; constants become theirs."""
    names = {*top.members, *(node.name for node in nodes)}
    for node in nodes:
        if node.name in top.members:
            also = ((top.members[node.name], "this"),)
            hint = (
                "nodes, instances and params share one name space: call this node "
                f"'{new_name(f'n_{node.name}', '_', names)}' everywhere"
            )
            yield Problem("E222", f"'{node.name}' names a node and something else", node.span, hint=hint, also=also)
        elif node.name in CONSTANTS:
            top.members[node.name] = node.span


def wrong_paths(nodes: Sequence[Node], instances: Sequence[Instance]) -> Iterator[Problem]:
    """A dotted node must lie inside an existing model instance, and something in there must meet it."""
    met: dict[str, set[int]] = {}
    for instance in instances:
        parts = instance.frame.prefix.split(".")[:-1]
        for depth in range(1, len(parts) + 1):
            met.setdefault(".".join(parts[:depth]), set()).update(instance.nodes)
    for number, node in enumerate(nodes):
        head, dot, last = node.name.rpartition(".")
        if not dot or number in met.get(head, ()):
            continue
        if head not in met:
            yield Problem(
                "E232", f"there is no subnetwork '{head}' with a node '{last}'", node.span, hint=nearest(head, met)
            )
        else:
            known = [nodes[n].name for n in met[head] if n >= 0]
            yield Problem(
                "E232",
                f"'{head}' has no node '{last}'",
                node.span,
                hint=nearest(node.name, known) or f"it has {', '.join(sorted(known)[:8])}",
            )


def wrong_signals(nodes: Sequence[Node], instances: Sequence[Instance]) -> Iterator[Problem]:
    """Every signal has one writer. A misspelt one is most like a signal that is written and that nothing reads."""
    writers: dict[int, Span] = {}
    read: set[int] = set()
    for instance in instances:
        for node, terminal in zip(instance.nodes, instance.component.definition.terminals):
            if terminal.direction != "out":
                read.add(node)
                continue
            if node == GROUND:
                yield Problem("E311", f"'{instance.name}' writes its signal '{terminal.name}' to ground", instance.span)
            elif node in writers:
                message = f"signal '{nodes[node].name}' has two writers"
                yield Problem("E310", message, instance.span, also=((writers[node], "the other one"),))
            writers.setdefault(node, instance.span)
    for number, unwritten in enumerate(nodes):
        if unwritten.domain.name == "signal" and number not in writers:
            written = [nodes[n].name for n in writers if n not in read]
            hint = nearest(unwritten.name, written) or "connect a sensor or block whose output is this node"
            yield Problem("E312", f"nothing writes signal '{unwritten.name}'", unwritten.span, hint=hint)


def types_used(statements: tuple[Statement, ...], library: Library) -> list[str]:
    """Component types the program uses (in its models too) or defines itself."""
    every = [*statements, *(line for model in library.models.values() for line in model.body)]
    types = {s.type for s in every if isinstance(s, InstanceText)}
    types |= {
        c.instance.type
        for name in types & library.components.keys()
        for c in library.components[name].definition.company
    }
    types |= {s.name for s in statements if isinstance(s, ComponentDef)}
    return [name for name in library.components if name in types]
