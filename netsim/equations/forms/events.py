"""The events of a component in symbols: zero-crossing functions of its relations, next values of its discretes, the
conditions of its `when` blocks.

A relation `a < b` between continuous quantities is frozen during a step. It enters as the symbol of its value, and
a - b is its zero-crossing function. Every other comparison (of discretes, parameters, counts) is evaluated as it
stands. Here a discrete alone is its new value, and pre(z) is the value before the event. `when c` acts when c becomes
true; a hidden discrete keeps the last value of c. sample(first, period) is the relation time >= first + k*period with a
hidden count k. at_events(c) is c, and no step is searched for the relations in it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from netsim.equations.forms.form import NO_EVENTS, Changes, Events, Form, Relation, Reset, WhenClause
from netsim.equations.forms.hidden_discretes import HiddenDiscretes, unsettled
from netsim.equations.forms.symbols import CONSTANT, UNIFORM
from netsim.equations.kernels.symbolic import ca
from netsim.library.component import SECOND, Component, Symbol, plain_name, resolve_name, scalar_count
from netsim.text.errors import InputError, Problem, Span
from netsim.text.expressions.show import show_expression
from netsim.text.expressions.sizes import flatten, shape, shaped
from netsim.text.expressions.typed import Scope, Typed, evaluate, number_of, quantity_of
from netsim.text.syntax import Action, Binary, Call, Expr, Name, Number, Part, When
from netsim.text.units import NO_DIMENSION

_FROZEN = "truth of"
_OPEN = "open"


def events_of(
    component: Component, discretes: Mapping[str, int], scope: Scope, hidden: HiddenDiscretes
) -> tuple[Events, Changes]:
    """The events of a component whose continuous names mean what `scope` says, and their expressions, with what its
    equations have hidden so far; raises `InputError` for cycles and what cannot jump."""
    d = component.definition
    if not d.discretes and not d.whens and not hidden.starts:
        return NO_EVENTS, Changes()
    return _EventBuilder(component, discretes, scope, hidden).build()


def switching(form: Form) -> list[int]:
    """The discretes on which derivatives of the equations depend: switches and modes, not what is held, counted or
    a size."""
    return form.facts.recall(("switching",), lambda: _switching(form), unpack=list)


def _switching(form: Form) -> list[int]:
    gathered = form.symbols.gathered.items()
    moving = [s for (key, _), s in gathered if key[0] not in CONSTANT]
    equations = [*form.residuals, *form.differentiated]
    if not equations or not moving:  # a clock that only counts
        return []
    derivatives = ca.jacobian(ca.vertcat(*equations), ca.vertcat(*moving))
    sizes = [number for number, _ in form.events.scales]
    return sorted(
        key[1]
        for (key, _), s in gathered
        if key[0] == "discrete" and key[1] not in sizes and ca.depends_on(derivatives, s)
    )


class _EventBuilder:
    def __init__(self, component: Component, discretes: Mapping[str, int], scope: Scope, hidden: HiddenDiscretes):
        self.component, self.table, self.discretes, self.symbols = component, hidden.table, discretes, hidden.symbols
        self.frozen = Scope(scope.resolve, {**scope.special, "pre": self._pre})
        self.scope = Scope(self._resolve, {**scope.special, "pre": self._pre, _FROZEN: self._frozen_relation})
        self.lets = {let.name: let.value for let in component.definition.lets}
        self.hidden = hidden
        self.relations: dict[Any, Relation] = {}
        self.crossings: dict[Any, tuple[Any, Any]] = {}
        self.new: dict[str, Typed | None] = {}
        self.fired: list[Any] = [None] * len(component.definition.whens)
        self.memories = [self.hidden.another(0.0) for _ in component.definition.whens]
        self.acting: int | None = None
        self.at_events = False
        self.known: dict[tuple[int, str], Typed] = {}

    def build(self) -> tuple[Events, Changes]:
        whens = self.component.definition.whens
        names = [f"{name}{i}" for name in self.discretes for i in _numbered(self.table[name])]
        following = [
            ca.SX(s) for name in self.discretes for s in flatten(self._new(name, self.table[name].of.span).value)
        ]
        fired = tuple(self._fired(j) for j in range(len(whens)))
        resets = [
            each
            for j, when in enumerate(whens)
            for action in when.actions
            if action.reinit
            for each in self._resets(j, action)
        ]
        self._require_settled(following)
        starts = [ca.SX(s) for name in self.discretes for s in flatten(self._start(name).value)]
        events = Events(
            (*names, *("" for _ in self.hidden.starts)),
            tuple(self._told_apart(following)),
            tuple(WhenClause(show_expression(when.condition), when.condition.span) for when in whens),
            tuple(Reset(number, *said) for number, (said, _, _) in enumerate(resets)),
            tuple((number, of) for of, number in self.hidden.scales.items()),
        )
        return events, Changes(
            (*starts, *map(ca.SX, self.hidden.starts.values())),
            (*following, *map(self.hidden.following.get, self.hidden.starts)),
            tuple(self.crossings[key][0] for key in self.relations),
            tuple(self.crossings[key][1] for key in self.relations),
            fired,
            tuple(state for _, state, _ in resets),
            tuple(target for _, _, target in resets),
        )

    def _require_settled(self, following: list[Any]) -> None:
        """E217 for an equation of a discrete that changes between events."""
        owners = [name for name in self.discretes for _ in _numbered(self.table[name])]
        equations = [k for k, name in enumerate(owners) if name in self.component.updates]
        hidden = [ca.SX(self.hidden.following[k]) for k in self.hidden.starts]
        crossings = [ca.SX(crossing) for crossing, _ in self.crossings.values()]
        if (k := unsettled(self.symbols, [*following, *hidden], crossings, equations)) is not None:
            span, message = self.component.updates[owners[k]].span, f"discrete '{owners[k]}' changes at events only, "
            hint = f"compare that with something (x > 1), or take it at instants: when CONDITION : {owners[k]} = ..."
            raise InputError(Problem("E217", message + "but its equation follows what is continuous", span, hint=hint))

    def _told_apart(self, following: list[Any]) -> Iterator[Relation]:
        """The relations, each with whether the component is one of signals alone and remembers nothing of it: neither
        pre() nor a condition is in what follows from it."""
        signals = all(self.component.terminals[t].domain == "signal" for t in self.component.terminals)
        known = {s.__hash__(): key for (key, _), s in self.symbols.gathered.items()}
        kept: set[int] = set()
        for expression, hidden in [
            *((s, False) for s in following),
            *((s, True) for s in self.hidden.following.values()),
        ]:
            read = [known[s.__hash__()] for s in ca.symvar(ca.SX(expression)) if s.__hash__() in known]
            if hidden or any(key[0] == "before" for key in read):
                kept.update(key[1] for key in read if key[0] == "relation_value")
        for k, relation in enumerate(self.relations.values()):
            yield replace(relation, combinational=signals and k not in kept)

    def _start(self, name: str) -> Typed:
        symbol = self.table[name]
        if symbol.of.start is None:
            return Typed(shaped([0.0] * scalar_count(symbol.sizes), symbol.sizes), symbol.dimension)
        start = quantity_of(symbol.of.start, self.frozen, symbol.dimension)
        if shape(start.value) != symbol.sizes:
            hint = "without a start its components are 0"
            message = f"the start of '{name}' must have the size {list(symbol.sizes)}"
            raise InputError(Problem("E204", message, symbol.of.span, hint=hint))
        return start

    # ------------------------------------------------------------------------------------------- names

    def _resolve(self, name: Name) -> Typed:
        if name.parts[0].text in self.discretes:
            return resolve_name(
                name, lambda text: self._new(text, name.span) if text in self.discretes else None, self.table
            )
        return self.frozen.resolve(name)

    def _pre(self, call: Call, scope: Scope) -> Typed:
        if len(call.arguments) != 1 or not isinstance(call.arguments[0], Name):
            message = "pre() takes the name of a discrete variable or a state: pre(n)"
            raise InputError(Problem("E207", message, call.span))
        return self._before(call.arguments[0])

    def _before(self, name: Name) -> Typed:
        """A discrete's value before the event; a state's is what it still is, and in an action what it was when the
        condition came true."""
        if name.parts[0].text in self.discretes:
            return resolve_name(name, self._kept, self.table)
        state = self.frozen.resolve(name)
        return state if self.acting is None else self._remembered(self.acting, name, state)

    def _remembered(self, j: int, name: Name, state: Typed) -> Typed:
        """A state where `when` j comes true, also once it is set anew: a hidden discrete takes it there. While
        discretes are followed, the memory of the condition is set already."""
        key = j, show_expression(name)
        if key not in self.known:
            followed, scalars = self.symbols.at(("discrete", self.memories[j]), 0), []
            for now in flatten(state.value):
                k = self.hidden.another(0.0)
                held = self.symbols.at(("discrete", k), 0)
                scalars.append(ca.if_else(followed, held, ca.SX(now)))
                self.hidden.following[k] = ca.if_else(self._fired(j), scalars[-1], held)
            self.known[key] = Typed(shaped(scalars, shape(state.value)), state.dimension)
        return self.known[key]

    def _kept(self, text: str) -> Typed | None:
        if text not in self.discretes:
            return None
        symbol = self.table[text]
        scalars = [self.symbols.at(("before", self.discretes[text] + i), 0) for i in range(scalar_count(symbol.sizes))]
        return Typed(shaped(scalars, symbol.sizes), symbol.dimension)

    def _new(self, name: str, span: Span) -> Typed:
        """The value of a discrete behind the event."""
        if name in self.new:
            found = self.new[name]
            if found is None:
                hint = f"pre({name}) is its value before the event"
                raise InputError(Problem("E215", f"the new value of '{name}' depends on itself", span, hint=hint))
            return found
        self.new[name] = None
        acting, self.acting = self.acting, None
        symbol = self.table[name]
        update = self.component.updates.get(name)
        if update is not None:
            result = quantity_of(self._with_frozen_relations(update.right), self.scope, symbol.dimension)
        else:
            result = self._assigned(name, symbol)
        if shape(result.value) != symbol.sizes:
            raise InputError(Problem("E204", f"the value of '{name}' must have the size {list(symbol.sizes)}", span))
        self.new[name], self.acting = result, acting
        return result

    def _assigned(self, name: str, symbol: Symbol) -> Typed:
        """What the whens make of it, the later one where two happen at once; else it stays."""
        scalars = flatten(self._before(_name(name, symbol.of.span)).value)
        for j, when in enumerate(self.component.definition.whens):
            for action in when.actions:
                if not action.reinit and plain_name(action.target) == name:
                    right = self._with_frozen_relations(action.value)
                    self.acting = j
                    value = quantity_of(right, self.scope, symbol.dimension)
                    self.acting = None
                    scalars = [
                        ca.if_else(self._fired(j), ca.SX(new), ca.SX(old))
                        for new, old in zip(flatten(value.value), scalars, strict=True)
                    ]
        return Typed(shaped(scalars, symbol.sizes), symbol.dimension)

    # --------------------------------------------------------------------------------------- relations

    def _with_frozen_relations(self, expr: Any) -> Any:
        """The expression with the values of relations between continuous quantities in their places."""
        match expr:
            case Binary("<" | "<=" | ">" | ">=" | "==" | "!="):
                return self._relation(expr)
            case Call("sample"):
                return self._sample(expr)
            case Call("at_events", (condition,)):
                outside, self.at_events = self.at_events, True
                frozen = self._with_frozen_relations(condition)
                self.at_events = outside
                return frozen
            case Name(parts=(part,)) if not part.indices and part.text in self.lets:
                return self._with_frozen_relations(self.lets[part.text])
        if isinstance(expr, tuple):
            return tuple(self._with_frozen_relations(item) for item in expr)
        if is_dataclass(expr) and not isinstance(expr, (type, Span)):
            return replace(
                expr,
                **{
                    f.name: self._with_frozen_relations(getattr(expr, f.name)) for f in fields(expr) if f.name != "span"
                },
            )  # type: ignore[type-var]
        return expr

    def _relation(self, expr: Binary) -> Expr:
        less = expr.op in ("<", "<=")
        left, right = (expr.left, expr.right) if less else (expr.right, expr.left)
        difference = evaluate(Binary("-", left, right, span=expr.span), self.frozen)
        crossing, unit = ca.SX(difference.value), str(difference.dimension or NO_DIMENSION)
        moves, timed = self._moves(crossing)
        if not moves and not timed:
            return Binary(
                expr.op, self._with_frozen_relations(expr.left), self._with_frozen_relations(expr.right), span=expr.span
            )
        if expr.op in ("==", "!="):
            hint = "continuous quantities are equal at single instants at most: write < or >"
            message = f"'{expr.op}' cannot compare continuous quantities"
            raise InputError(Problem("E216", message, expr.span, hint=hint))
        scale = sum(ca.fabs(ca.SX(evaluate(side, self.frozen).value)) for side in (left, right))
        relation = Relation(
            show_expression(expr), expr.span, expr.op in ("<", ">"), not moves, False, unit, self.at_events
        )
        return self._listed((expr, self.at_events), relation, crossing, scale)

    def _moves(self, expression: Any) -> tuple[bool, bool]:
        """Whether an expression reads what is continuous, and whether it reads the time."""
        read = {s.__hash__() for s in ca.symvar(expression)}
        moves = any(
            s.__hash__() in read
            for (key, _), s in self.symbols.gathered.items()
            if key[0] not in ("discrete", "before")
        )
        return moves, UNIFORM["time"].__hash__() in read

    def _sample(self, call: Call) -> Expr:
        if len(call.arguments) != 2:
            message = "sample() takes the first instant and the period: sample(0 s, 1 ms)"
            raise InputError(Problem("E207", message, call.span))
        first, period = (number_of(a, self.frozen, SECOND) for a in call.arguments)
        key = Call("sample", call.arguments)
        if key not in self.relations:
            k = self.hidden.another(0.0)
            done = self.symbols.at(("before", k), 0)
            relation_value = self.symbols.at(("relation_value", len(self.relations)), 0)
            relation = Relation(show_expression(call), call.span, False, True, True)
            listed = self._listed(key, relation, first + done * period - UNIFORM["time"], UNIFORM["time"])
            self.hidden.following[k] = done + relation_value
            return listed
        return self._listed(key, self.relations[key], *self.crossings[key])

    def _listed(self, key: Any, relation: Relation, crossing: Any, scale: Any) -> Expr:
        self.relations.setdefault(key, relation)
        self.crossings.setdefault(key, (crossing, scale))
        return Call(_FROZEN, (Number(float(list(self.relations).index(key))),), span=relation.span)

    def _frozen_relation(self, call: Call, scope: Scope) -> Typed:
        k = call.arguments[0]
        assert isinstance(k, Number)
        return Typed(self.symbols.at(("relation_value", int(k.value)), 0), NO_DIMENSION)

    # ------------------------------------------------------------------------------------------- whens

    def _fired(self, j: int) -> Any:
        """1 where the condition of a `when` is true and was not."""
        when: When = self.component.definition.whens[j]
        if self.fired[j] is _OPEN:
            hint = "use pre(...), the value before the event, in the condition"
            message = "the condition depends on a variable that its actions change"
            raise InputError(Problem("E215", message, when.condition.span, hint=hint))
        if self.fired[j] is None:
            self.fired[j] = _OPEN
            acting, self.acting = self.acting, None
            condition = ca.SX(evaluate(self._with_frozen_relations(when.condition), self.scope).value)
            self.acting, k = acting, self.memories[j]
            self.hidden.following[k] = condition
            self.fired[j] = ca.logic_and(condition, ca.logic_not(self.symbols.at(("before", k), 0)))
        return self.fired[j]

    def _resets(self, j: int, action: Action) -> list[tuple[tuple[int, str, Span], Any, Any]]:
        state = evaluate(action.target, self.frozen)
        target = quantity_of(self._with_frozen_relations(action.value), self.scope, state.dimension or NO_DIMENSION)
        if shape(state.value) != shape(target.value):
            raise InputError(Problem("E204", "the two sides have different sizes", action.span))
        text = f"reinit {show_expression(action.target)}"
        pairs = zip(flatten(state.value), flatten(target.value))
        return [((j, text, action.span), ca.SX(s), ca.SX(t)) for s, t in pairs]


def _name(text: str, span: Span) -> Name:
    return Name((Part(text),), span=span)


def _numbered(symbol: Symbol) -> list[str]:
    count = scalar_count(symbol.sizes)
    return [""] if not symbol.sizes else [f"[{i + 1}]" for i in range(count)]
