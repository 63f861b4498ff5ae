"""Small tables that read well as text and in a notebook: the parameters, signals and elements of a model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from netsim.equations.machine import Machine
from netsim.library.component import Component
from netsim.library.files import shown_path
from netsim.network.network import GROUND, Frame, Network
from netsim.network.values import Values
from netsim.results.selection import Finder
from netsim.text.columns import columns
from netsim.text.expressions.from_python import parse_expression
from netsim.text.expressions.typed import Typed
from netsim.text.show import show_statement
from netsim.text.syntax import Name, Param
from netsim.text.units import format_dimension, parse_unit

MOST_ROWS = 60
"""Rows that are shown; `rows` has all of them."""


@dataclass(frozen=True)
class Listing:
    """Rows by their first cell: `listing["m1.m"]` is a dict of that row, and `listing.rows` are all of them."""

    head: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[str]:
        return (row[0] for row in self.rows)

    def __contains__(self, name: object) -> bool:
        return any(row[0] == name for row in self.rows)

    def __getitem__(self, name: str) -> dict[str, Any]:
        for row in self.rows:
            if row[0] == name:
                return dict(zip(self.head, row))
        raise KeyError(name)

    def to_dataframe(self) -> Any:
        """The same as a pandas.DataFrame whose index is the first column."""
        import pandas

        return pandas.DataFrame.from_records(self.rows, columns=self.head).set_index(self.head[0])

    def __repr__(self) -> str:
        return "\n".join(columns([self.head, *([_cell(x) for x in row] for row in self.rows)], MOST_ROWS + 1))

    def _repr_html_(self) -> str:
        from html import escape

        def line(cells: Sequence[Any], tag: str) -> str:
            return f"<tr>{''.join(f'<{tag}>{escape(_cell(x))}</{tag}>' for x in cells)}</tr>"

        more = [f"... and {len(self) - MOST_ROWS} more"] if len(self) > MOST_ROWS else []
        body = [line(row, "td") for row in self.rows[:MOST_ROWS]] + [line([each], "td") for each in more]
        return f"<table><thead>{line(self.head, 'th')}</thead><tbody>{''.join(body)}</tbody></table>"


def _cell(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_cell, value))}]"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def parameters(network: Network, values: Values) -> Listing:
    """Every parameter: its name as `with_params` takes it, its value and the unit that value is in, its sentence."""
    frames = {frame.prefix: frame for frame in (network.top, *(i.frame for i in network.instances))}
    rows = [row for frame in frames.values() for row in _of_frame(frame, values)]
    for instance in network.instances:
        known = values.parameters(instance)
        declared = instance.component.definition.params
        rows += [_row(f"{instance.name}.{p.name}", known[p.name], p) for p in declared if p.name in known]
    return Listing(("name", "value", "unit", "meaning"), tuple(rows))


def _of_frame(frame: Frame, values: Values) -> Iterator[tuple[Any, ...]]:
    for name, definition in frame.definitions.items():
        if isinstance(definition.statement, Param):
            path = frame.prefix + name
            yield _row(path, values.defined(path, definition), definition.statement)


def _row(name: str, value: Typed, declared: Param) -> tuple[Any, ...]:
    unit = declared.unit or (format_dimension(value.dimension) if value.dimension else "1")
    return name, _in_unit(value.value, unit), unit, declared.doc


def _in_unit(value: Any, unit: str) -> Any:
    if isinstance(value, tuple):
        return tuple(_in_unit(each, unit) for each in value)
    return float(parse_unit(unit).from_si(float(value)))


def signals(machine: Machine) -> Listing:
    """Every signal that can be saved: quantities of nodes, then those of elements, with their SI units."""
    finder, network = Finder(machine), machine.system.network
    found: dict[str, tuple[str, str, str]] = {}
    for owner in (*(node.name for node in network.nodes), *(instance.name for instance in network.instances)):
        for entry, _ in finder.every(cast(Name, parse_expression(owner, "signal"))):
            signal = entry.signal
            found.setdefault(signal.name, (signal.name, signal.unit or "1", signal.doc))
    return Listing(("name", "unit", "meaning"), tuple(found.values()))


def elements(network: Network, values: Values) -> Listing:
    """Every element with its type, its nodes and its parameters."""
    rows = []
    for instance in network.instances:
        nodes = ", ".join("ground" if n == GROUND else network.nodes[n].name for n in instance.nodes)
        bound = _bound(instance.component, values.parameters(instance))
        rows.append((instance.name, instance.component.name, nodes, bound))
    return Listing(("name", "type", "nodes", "parameters"), tuple(rows))


def _bound(component: Component, known: dict[str, Typed]) -> str:
    found = [_row(p.name, known[p.name], p) for p in component.definition.params if p.name in known]
    shown = [(name, _cell(value), "" if unit == "1" else f" {unit}") for name, value, unit, _ in found]
    return ", ".join(f"{name} = {value}{unit}" for name, value, unit in shown)


def about(network: Network, changed: Sequence[str]) -> Listing:
    """A model in a few lines: what it is of, what it asks for, which parameters were changed."""
    rows = [("netlist", shown_path(network.file)), ("elements", len(network.instances)), ("nodes", len(network.nodes))]
    rows += [("run", show_statement(run).removeprefix("run").strip()) for run in network.runs]
    rows += [("changed", ", ".join(changed))] if changed else []
    return Listing(("model", ""), tuple(rows))
