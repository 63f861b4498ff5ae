"""`component A extends B, C`: one definition from the lines of the bases and its own.

The lines of the bases come first. A line of the component replaces the inherited line of the same key: a declaration
that of the same name, an equation that of the same left side (not of a number), an output, a place, a `when` or a
`given` that of the same name, terminal, condition or element; a sentence or an energy that of the same word. Every
other line is added.

What a component `dissipates` is an output of it, `loss`, so that a heat flow can be bound to it. A component that uses
the name for something else keeps that; one that extends another and dissipates 0 W keeps the loss of its base, because
it passes that on to a terminal.

`model M extends B` has the params, counts and lets of B, which may declare nothing else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from netsim.text.errors import Problem, nearest
from netsim.text.syntax import ComponentDef, Count, Let, ModelDef, Name, Number, Output, Param

_DECLARED = ("params", "counts", "inputs", "lets", "variables", "discretes")
_KEYS: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys((*_DECLARED, "outputs"), lambda item: item.name),
    "terminals": id,
    "branches": id,
    "asserts": id,
    "equations": lambda equation: id(equation) if isinstance(equation.left, Number) else equation.left,
    "noises": lambda noise: (noise.name, noise.flicker),
    "places": lambda place: place.terminal,
    "whens": lambda when: when.condition,
    "company": lambda company: company.instance.name,
}
"""What an own line must share with an inherited one to replace it."""
_SINGLE = ("kinetic", "potential", "stores", "dissipates", "singular")
_OF_MODELS = ("name", "params", "counts", "lets", "doc", "bases", "is_partial", "span")
"""What there may be in a component that a model extends."""
LOSS = "loss"


def _kept(own: ComponentDef, bases: Sequence[ComponentDef], problems: list[Problem]) -> ComponentDef:
    """What `_merged` makes of these, made once where it is without mistakes: libraries are collected for every program
    anew."""
    before, merged = vars(own).get("merged", (None, own))
    if before is not None and len(before) == len(bases) and all(a is b for a, b in zip(before, bases)):
        return merged
    mistakes = len(problems)
    merged = _with_loss(_merged(own, bases, problems) if bases else own)
    if len(problems) == mistakes:
        vars(own)["merged"] = tuple(bases), merged
    return merged


def extended(
    definitions: Mapping[str, ComponentDef],
    problems: list[Problem],
    models: Mapping[str, Any],
    homes: Callable[[str], str],
) -> dict[str, ComponentDef]:
    """Every component with the lines of its bases in it; mistakes go to `problems`; `homes` gives a hint at the library
    of a name."""
    done: dict[str, ComponentDef] = {}
    open_ones: list[str] = []

    def whole(name: str) -> ComponentDef:
        if name not in done:
            open_ones.append(name)
            own = definitions[name]
            bases = [whole(base.parts[0].text) for base in own.bases if known(base, own)]
            done[name] = _kept(own, bases, problems)
            open_ones.pop()
        return done[name]

    def known(base: Name, own: ComponentDef) -> bool:
        name = base.parts[0].text
        if problem := _no_component(base, definitions, models, homes):
            problems.append(problem)
        elif name in open_ones:
            around = " extends ".join([*open_ones[open_ones.index(name) :], name])
            problems.append(
                Problem(
                    "E256", f"component '{own.name}' extends itself", base.span, hint=f"{around}: remove one of them"
                )
            )
        else:
            return True
        return False

    return {name: whole(name) for name in definitions}


def _no_component(
    base: Name, definitions: Mapping[str, Any], models: Mapping[str, Any], homes: Callable[[str], str]
) -> Problem | None:
    """What is wrong with the name of a base that is no component's."""
    name = base.parts[0].text
    if name in models:
        hint = "a model takes part as an element: NAME TYPE (NODES)"
        return Problem("E255", f"'{name}' is a model, and only components can be extended", base.span, hint=hint)
    if name not in definitions:
        hint = homes(name) or nearest(name, definitions) or "is a `use` line missing?"
        return Problem("E255", f"no component is called '{name}'", base.span, hint=hint)
    return None


def extended_models(
    models: Mapping[str, ModelDef],
    components: Mapping[str, ComponentDef],
    problems: list[Problem],
    homes: Callable[[str], str],
) -> dict[str, ModelDef]:
    """Every model with the params, counts and lets of its bases before its own lines, which replace those of their
    names; mistakes go to `problems`."""

    def whole(model: ModelDef) -> ModelDef:
        mine = {line.name for line in model.body if isinstance(line, Param | Count | Let)}
        inherited: dict[str, Param | Count | Let] = {}
        for base in model.bases:
            if problem := _no_component(base, components, models, homes):
                problems.append(problem)
                continue
            found = components[base.parts[0].text]
            if any(getattr(found, each.name) != each.default for each in fields(found) if each.name not in _OF_MODELS):
                message = f"a model extends what declares params, counts and lets alone, and '{found.name}' has more"
                hint = "let an element of the model be of this type"
                problems.append(Problem("E255", message, base.span, hint=hint))
                continue
            lines: tuple[Param | Count | Let, ...] = (*found.counts, *found.params, *found.lets)
            inherited |= {line.name: line for line in lines}
        kept = (line for name, line in inherited.items() if name not in mine)
        return replace(model, body=(*kept, *model.body), bases=())

    return {name: whole(model) if model.bases else model for name, model in models.items()}


def _merged(own: ComponentDef, bases: Sequence[ComponentDef], problems: list[Problem]) -> ComponentDef:
    mine = {item.name for field in _DECLARED for item in getattr(own, field)}
    found: dict[str, Any] = {}
    for field, key in _KEYS.items():
        # what comes along two ways counts once
        inherited = {id(item): item for base in bases for item in getattr(base, field)}
        replacing = {key(item): item for item in getattr(own, field)}
        lines = [
            replacing.pop(key(item), item)
            for item in inherited.values()
            if key(item) in replacing or field not in _DECLARED or item.name not in mine
        ]
        found[field] = (*lines, *replacing.values())
    for field in _SINGLE:
        values = {id(value): base for base in bases if (value := getattr(base, field))}
        if not getattr(own, field) and values:
            first, *others = values.values()
            found[field] = getattr(first, field)
            if others:
                message = f"component '{own.name}' gets '{field}' from '{first.name}' and from '{others[0].name}'"
                problems.append(Problem("E209", message, own.span, hint=f"write a line '{field} ...' of its own"))
    if own.dissipates is not None and not _nothing(own):
        found["outputs"] = tuple(o for o in found["outputs"] if not any(_tells(base, o) for base in bases))
    doc = own.doc or next((base.doc for base in bases if not base.is_partial), "")
    return replace(own, **found, doc=doc, is_source=own.is_source or any(base.is_source for base in bases))


def _with_loss(whole: ComponentDef) -> ComponentDef:
    """The component with what it dissipates as an output."""
    taken = {item.name for field in (*_DECLARED, "outputs", "terminals") for item in getattr(whole, field)}
    taken.update(name for branch in whole.branches for name in branch.names)
    if whole.dissipates is None or _nothing(whole) or LOSS in taken:
        return whole
    return replace(whole, outputs=(*whole.outputs, Output(LOSS, "W", whole.dissipates, doc="lost power, mostly heat")))


def _nothing(component: ComponentDef) -> bool:
    """Whether a component says that it dissipates 0 W."""
    return isinstance(component.dissipates, Number) and component.dissipates.value == 0


def _tells(component: ComponentDef, output: Output) -> bool:
    """Whether an output is what the component dissipates."""
    return output.name == LOSS and output.value == component.dissipates
