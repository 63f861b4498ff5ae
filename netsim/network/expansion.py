"""Expanding a program into a network: hierarchy and repetition unrolled, elements named, mistakes collected."""

import itertools
from collections.abc import Mapping
from dataclasses import replace

from netsim.library.component import WORLD, Component
from netsim.library.files import Library, check_library, collect, homes, included
from netsim.library.places import roots_of
from netsim.library.search import suggestion_for_type
from netsim.network.checks import types_used, wrong_names, wrong_paths, wrong_signals
from netsim.network.network import (
    GROUND,
    Beginning,
    Definition,
    Frame,
    Instance,
    Network,
    Node,
    check_count,
    integer,
    name_text,
    spans_of,
)
from netsim.network.repetition import resolve_indices, substituted, unroll
from netsim.text.collecting import collection_paused
from netsim.text.errors import SHOWN, InputError, Problem, Span, nearest, one_per_cause, source_line
from netsim.text.limits import TOO_LARGE, check_limit
from netsim.text.syntax import (
    Assert,
    Binding,
    ComponentDef,
    Count,
    DomainDef,
    FunctionDef,
    Let,
    Measure,
    ModelDef,
    Name,
    Param,
    Plot,
    Program,
    Quantity,
    Repeated,
    Run,
    Save,
    Start,
    Statement,
    Table,
    Use,
    World,
)
from netsim.text.syntax import Instance as InstanceText


@collection_paused()
def build_network(program: Program, counts: Mapping[str, int] | None = None, text: str = "") -> Network:
    """Expand a program; `counts` overrides top-level counts. Raises `InputError` with every mistake found."""
    statements = tuple(included(program))
    library = collect(Program(statements, program.file))
    statements = library.functions.written_out(statements)
    wrong = check_library(library, types_used(statements, library))
    if wrong:
        raise InputError(wrong)
    expander = _Expander(library, dict(counts or {}))
    top = Frame("")
    expander.expand(statements, top)
    network = expander.finish(program.file, top, statements, text)
    return replace(network, notes=(*program.notes, *library.notes), roots=roots_of(program.file))


class _Expander:
    """Collects nodes and instances while walking statements; problems pile up and are raised together."""

    def __init__(self, library: Library, counts: dict[str, int]):
        self.library, self.counts = library, counts
        self.bindable: dict[str, tuple[frozenset[str], tuple[str, ...]]] = {}
        self.paths: dict[str, int] = {}
        self.names: list[str] = []
        self.touched: list[tuple[DomainDef, Span] | None] = []
        self.merged: dict[int, int] = {}
        self.instances: list[Instance] = []
        self.beginnings: list[Beginning] = []
        self.nominals: list[Beginning] = []
        self.readings: list[Statement] = []
        self.problems: list[Problem] = []
        self.depth = self.built = 0

    # ------------------------------------------------------------------------------------------- frames

    def expand(self, statements: tuple[Statement, ...], frame: Frame) -> None:
        """Declarations first, then subnetworks, then components: the order of lines does not matter."""
        instances: list[InstanceText] = []
        for statement in (s for s in statements if not isinstance(s, Repeated)):
            if isinstance(statement, InstanceText):
                instances.append(statement)
            elif frame.prefix and isinstance(statement, (Run, Save, Plot, Measure, Assert, World, Use)):
                self.problems.append(
                    Problem("E223", "this belongs to the top level, not inside a model", statement.span)
                )
            elif frame.prefix and isinstance(statement, (ComponentDef, DomainDef, FunctionDef, ModelDef)):
                self.problems.append(Problem("E223", "definitions belong to the top level", statement.span))
            else:
                self._declaration(statement, frame)
        for repeated in (s for s in statements if isinstance(s, Repeated)):
            self._attempt(self._repeated, repeated, frame)
        for statement in sorted(instances, key=lambda text: text.type not in self.library.models):
            self._attempt(self._instances, statement, frame)

    def _repeated(self, statement: Repeated, frame: Frame) -> None:
        for each in unroll(statement, frame):
            if frame.prefix and not isinstance(each, Let):
                raise InputError(Problem("E223", "this belongs to the top level, not inside a model", statement.span))
            self._declaration(each, frame)
            self.readings.append(each)

    def _declaration(self, statement: Statement, frame: Frame) -> None:
        match statement:
            case Param() | Let():
                self._declare(statement.name, statement.span, frame)
                if statement.name not in frame.definitions:
                    value = statement.default if isinstance(statement, Param) else statement.value
                    frame.definitions[statement.name] = Definition(statement, value, frame)
            case Count():
                self._declare(statement.name, statement.span, frame)
                self._attempt(self._count, statement, frame)
            case Measure():
                self._declare(statement.name, statement.span, frame)
            case Table():
                frame.tables[statement.name] = statement
            case Start():
                self._attempt(self._begin, statement, frame)

    def _attempt(self, action, statement, frame: Frame) -> None:
        try:
            action(statement, frame)
        except InputError as error:
            if error.problems[0].code == TOO_LARGE:
                raise
            self.problems.extend(error.problems)

    def _declare(self, name: str, span: Span, frame: Frame) -> None:
        if name in frame.members:
            hint = "instances, params, counts and lets share one name space: give this one another name"
            self.problems.append(
                Problem(
                    "E222", f"the name '{name}' is taken", span, hint=hint, also=((frame.members[name], "by this"),)
                )
            )
            return
        frame.members[name] = span

    def _count(self, count: Count, frame: Frame) -> None:
        given = self.counts.get(frame.prefix + count.name, frame.integers.get(count.name))
        frame.integers[count.name] = 1  # what uses it is looked at even where its value is wrong
        if given is None and count.default is None:
            raise InputError(Problem("E208", f"count '{count.name}' has no value", count.span))
        value = given if given is not None else integer(count.default, frame)  # type: ignore[arg-type]
        check_count(count, value, frame, count.span)
        frame.integers[count.name] = value

    def _begin(self, start: Start, frame: Frame) -> None:
        found = self.nominals if start.word == "nominal" else self.beginnings
        found.append(
            Beginning(start.word, frame.prefix + name_text(start.target, frame), start.value, frame, start.span)
        )

    # ---------------------------------------------------------------------------------------- instances

    def _instances(self, text: InstanceText, frame: Frame) -> None:
        if not text.ranges:
            return self._instance(text, frame)
        spans = spans_of(text.ranges, frame, self.built, text.span)
        for values in itertools.product(*spans):
            self._instance(text, frame.with_integers({r.variable: v for r, v in zip(text.ranges, values)}))

    def _instance(self, text: InstanceText, frame: Frame) -> None:
        self.built += 1
        check_limit("elements", self.built, f"this is element {self.built}", text.span)
        local = name_text(text.name, frame)
        self._declare(local, text.name.span, frame)
        component = self.library.components.get(text.type)
        model = None if component else self.library.models.get(text.type)
        if component is None and model is None:
            self._unknown_type(text)
        definition = component.definition if component else model
        if len(text.nodes) != len(definition.terminals):  # type: ignore[union-attr]
            listed = [t.name for t in definition.terminals]  # type: ignore[union-attr]
            has = f"{len(listed)} terminal{'s' * (len(listed) != 1)}" + (f" ({', '.join(listed)})" if listed else "")
            given = f"{len(text.nodes)} node{'s are' if len(text.nodes) != 1 else ' is'} given"
            message = f"{text.type} has {has}, {given}"
            raise InputError(Problem("E225", message, text.span))
        nodes = tuple(self._node(name, frame) for name in text.nodes)
        if component:
            for node, name, terminal in zip(nodes, text.nodes, definition.terminals):  # type: ignore[union-attr]
                self._touch(node, component.domains.get(terminal.domain), name, frame)
            self._component(component, frame.prefix + local, nodes, text, frame)
        else:
            self._model(model, frame.prefix + local, nodes, text, frame)  # type: ignore[arg-type]

    def _unknown_type(self, text: InstanceText) -> None:
        span, kind = self._type_span(text), text.type
        if kind in self.library.partials:
            whole = self.library.components.values()
            found = [c.name for c in whole if any(b.parts[0].text == kind for b in c.definition.bases)]
            hint = f"{', '.join(found)} extend{'s' * (len(found) == 1)} it" if found else ""
            message = f"'{kind}' is a partial component: it can only be extended"
            raise InputError(Problem("E258", message, span, hint=hint or f"component NAME extends {kind} ... end"))
        hint = ""
        if len(self.problems) < SHOWN:  # what is not shown needs no hint, and all of the library is searched for one
            hint = homes(kind) or suggestion_for_type(kind, self.library) or "is a `use` line missing?"
        raise InputError(Problem("E226", f"no component or model is called '{kind}'", span, hint=hint))

    def _type_span(self, text: InstanceText) -> Span:
        """Where the type stands: behind the name, before the nodes."""
        name = text.name.span
        line = source_line(name.file, name.line) or ""
        at = line.find(text.type, name.end_column - 1)
        return text.span if at < 0 else Span(name.file, name.line, at + 1, name.line, at + 1 + len(text.type))

    def _bindable(self, component: Component) -> tuple[frozenset[str], tuple[str, ...]]:
        """Names a line of this type may bind and those it must (inputs first), found once per type."""
        if component.name not in self.bindable:
            d = component.definition
            declared: tuple[Param | Count | Quantity, ...] = (*d.params, *d.counts, *d.inputs)
            known = frozenset(item.name for item in declared)
            self.bindable[component.name] = (
                known,
                (*(i.name for i in d.inputs), *(p.name for p in d.params if p.default is None)),
            )
        return self.bindable[component.name]

    def _component(
        self, component: Component, name: str, nodes: tuple[int, ...], text: InstanceText, frame: Frame
    ) -> None:
        d = component.definition
        known, wanted = self._bindable(component)
        given = {b.name: b for b in text.bindings}
        if len(given) < len(text.bindings):
            twice = next(b for i, b in enumerate(text.bindings) if b.name in {a.name for a in text.bindings[:i]})
            self.problems.append(Problem("E228", f"'{twice.name}' is given twice", twice.span))
        hints = ""
        for binding in text.bindings:
            if binding.name not in known:
                listed = f"it has {', '.join(sorted(known))}" if known else "it has none"
                hint = nearest(binding.name, known) or listed
                message = f"{d.name} has no parameter or input '{binding.name}'"
                self.problems.append(Problem("E227", message, binding.span, hint=hint))
                hints += hint
        missing = [name for name in wanted if name not in given and f"'{name}'" not in hints]
        if missing:
            what = "input" if missing[0] in {i.name for i in d.inputs} else "parameter"
            also = f"neither {' nor '.join(missing[1:])}" if missing[1:] else ""
            message = f"{what} '{missing[0]}' of {d.name} '{name}' is not given"
            self.problems.append(Problem("E229", message, text.span, hint=also))
        counts: dict[str, int] = {}
        for c in d.counts:
            source = given[c.name].value if c.name in given else c.default
            if source is None:
                raise InputError(Problem("E229", f"count '{c.name}' of {d.name} '{name}' is not given", text.span))
            counts[c.name] = integer(source, frame if c.name in given else Frame("", integers=counts))
            check_count(
                c, counts[c.name], Frame("", integers=counts), given[c.name].span if c.name in given else text.span
            )
        self.instances.append(Instance(name, component, tuple(counts.items()), nodes, text, frame))
        if d.company:
            self._company(self.instances[-1], given)
        for s in text.starts:
            self.beginnings.append(Beginning(s.word, f"{name}.{name_text(s.target, frame)}", s.value, frame, s.span))

    def _company(self, instance: Instance, given: Mapping[str, Binding]) -> None:
        """The elements beside one, as in a model of its parameters."""
        d, inner = instance.component.definition, Frame(instance.name + ".", integers=dict(instance.counts))
        for p in d.params:
            bound = given.get(p.name)
            inner.definitions[p.name] = Definition(
                p, bound.value if bound else p.default, instance.frame if bound else inner
            )
        inner.nodes.update(zip((t.name for t in d.terminals), instance.nodes))
        for each in d.company:
            if each.given in given and not any(name in given for name in each.missing):
                self._instance(replace(each.instance, span=instance.span), inner)

    def _model(self, model: ModelDef, name: str, nodes: tuple[int, ...], text: InstanceText, frame: Frame) -> None:
        if self.depth > 40:
            raise InputError(Problem("E230", f"model '{model.name}' contains itself", text.span))
        inner = Frame(name + ".", place=text.span)
        for terminal, node, where in zip(model.terminals, nodes, text.nodes):
            domain = self.library.domains.get(terminal.domain)
            if domain is None:
                near = nearest(terminal.domain, self.library.domains)
                self.problems.append(Problem("E210", f"no domain '{terminal.domain}'", terminal.span, hint=near))
            self._touch(node, domain, where, frame)
            inner.nodes[terminal.name] = node
            inner.members[terminal.name] = terminal.span
            known = self.paths.setdefault(inner.prefix + terminal.name, node)
            if known != node:
                self.merged[known] = node
        declared = {s.name: s for s in model.body if isinstance(s, Param | Count)}
        for binding in text.bindings:
            target = declared.get(binding.name)
            if target is None:
                hint = nearest(binding.name, declared) or f"it has {', '.join(declared) or 'none'}"
                self.problems.append(
                    Problem("E227", f"model {model.name} has no parameter '{binding.name}'", binding.span, hint=hint)
                )
            elif isinstance(target, Count):
                inner.integers[binding.name] = check_count(target, integer(binding.value, frame), inner, binding.span)
            else:
                inner.definitions[binding.name] = Definition(target, binding.value, frame)
        for s in text.starts:
            self.beginnings.append(Beginning(s.word, f"{name}.{name_text(s.target, frame)}", s.value, frame, s.span))
        self.depth += 1
        self.expand(model.body, inner)
        self.depth -= 1

    # -------------------------------------------------------------------------------------------- nodes

    def _node(self, name: Name, frame: Frame) -> int:
        text = name_text(name, frame)
        if text == "ground":
            return GROUND
        if text in frame.nodes:
            return frame.nodes[text]
        number = self.paths.get(frame.prefix + text)
        if number is None:
            number = self.paths[frame.prefix + text] = len(self.names)
            self.names.append(frame.prefix + text)
            self.touched.append(None)
        return number

    def _touch(self, node: int, domain: DomainDef | None, name: Name, frame: Frame) -> None:
        if node == GROUND or domain is None:
            return
        before = self.touched[node]
        if before is None:
            self.touched[node] = (domain, name.span)
        elif before[0].name != domain.name:
            message = f"node '{name_text(name, frame)}' is {domain.name} here but {before[0].name} elsewhere"
            self.problems.append(Problem("E231", message, name.span, also=((before[1], f"{before[0].name} here"),)))

    # ------------------------------------------------------------------------------------------- finish

    def finish(self, file: str, top: Frame, statements: tuple[Statement, ...], text: str) -> Network:
        number = self._compact()
        touched = ((self.names[old], self.touched[old]) for old in number)
        nodes = tuple(Node(name, *first) for name, first in touched if first)
        instances = tuple(self.instances)
        if self.merged or len(number) < len(self.names):
            instances = tuple(
                Instance(
                    i.name,
                    i.component,
                    i.counts,
                    tuple(number[self._root(n)] if n >= 0 else n for n in i.nodes),
                    i.text,
                    i.frame,
                )
                for i in instances
            )
        for binding in (b for s in statements if isinstance(s, World) for b in s.bindings if b.name not in WORLD):
            hint = nearest(binding.name, WORLD) or f"the world has {' and '.join(WORLD)}"
            self.problems.append(Problem("E206", f"there is no world value '{binding.name}'", binding.span, hint=hint))
        self.problems += [*wrong_names(nodes, top), *wrong_signals(nodes, instances)]
        if not self.problems:
            self.problems += wrong_paths(nodes, instances)
        if self.problems:
            raise InputError(one_per_cause(self.problems))

        def of(kind: type) -> tuple:
            found = (substituted(s, {}, top) for s in (*statements, *self.readings) if isinstance(s, kind))
            return tuple(resolve_indices(s, top) for s in found)

        asked = (of(World), of(Run), of(Save), of(Plot), of(Measure), of(Assert))
        return Network(
            file,
            nodes,
            instances,
            tuple(self.beginnings),
            top,
            self.library,
            *asked,
            text,
            nominals=tuple(self.nominals),
        )

    def _root(self, node: int) -> int:
        while node in self.merged:
            node = self.merged[node]
        return node

    def _compact(self) -> dict[int, int]:
        """Old node number -> new one, dropping merged nodes and those nobody touches (terminals of empty models)."""
        for old, new in self.merged.items():
            root = self._root(new)
            self.touched[root] = self.touched[root] or self.touched[old]
        kept = [i for i in range(len(self.names)) if i not in self.merged and self.touched[i]]
        return {old: new for new, old in enumerate(kept)}
