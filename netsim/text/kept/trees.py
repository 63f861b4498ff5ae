"""Syntax trees as data, for files: dataclasses of known classes, tuples, numbers, texts, truth values and None.

The file is JSON: names of classes, single values, and nodes. A node is the numbers of its parts, which are single
values or nodes before it, and behind them the number of its class; the last node is the whole. Behind them stands the
number of a text that is left out, and that the reader gives, as the path of what was parsed; -1 where there is none.
Reading makes nothing but instances of the classes that the reader names, whatever the file says.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import Any

SINGLE = str, int, float, NoneType
TUPLE = -1
"""The number that tuples have in place of a class."""


def packed(tree: Any, without: str | None = None) -> bytes:
    """A tree as JSON, a text of it left out. Raises TypeError for what it cannot hold."""
    classes: dict[type, tuple[int, list[str]]] = {}
    singles: dict[tuple[type, str], tuple[int, Any]] = {}
    nodes: list[list[int]] = []
    _put(tree, classes, singles, nodes)
    count = len(singles)  # until all of them are known, ~k stands for node k
    behind = [[*[p if p >= 0 else ~p + count for p in parts], kind] for *parts, kind in nodes]
    names, values = [each.__name__ for each in classes], [value for _, value in singles.values()]
    left_out = singles.get((str, without), (-1,))[0] if without else -1
    if left_out >= 0:
        values[left_out] = None
    return json.dumps([names, values, behind, left_out], separators=(",", ":")).encode()


def _put(
    value: Any, classes: dict[type, tuple[int, list[str]]], singles: dict[tuple[type, str], tuple[int, Any]],
    nodes: list[list[int]],
) -> int:  # fmt: skip
    """The number of a value, which is put behind what is there; classes have a number and names of fields."""
    own = type(value)
    if own is tuple:
        kind, parts = TUPLE, value
    elif isinstance(value, SINGLE):
        known = own, str(value)  # 1, 1.0 and True are three values
        return singles.setdefault(known, (len(singles), value))[0]
    else:
        if own not in classes:
            if not is_dataclass(value):
                raise TypeError(f"{value!r} is no part of a tree")
            classes[own] = len(classes), [field.name for field in fields(value)]
        kind, names = classes[own]
        parts = [getattr(value, name) for name in names]
    nodes.append([*[_put(part, classes, singles, nodes) for part in parts], kind])
    return ~(len(nodes) - 1)


def unpacked(body: bytes, classes: Mapping[str, type], text: str = "") -> Any:
    """The tree that `packed` wrote of instances of `classes`, with a text in place of what was left out. Raises
    ValueError where the body holds none."""
    try:
        names, made, nodes, left_out = json.loads(body)
        if left_out >= 0:
            made[left_out] = text
        known = [(classes[name], [field.name for field in fields(classes[name])]) for name in names]
        _build(made, nodes, known)
        return made[-1]
    except (ValueError, TypeError, LookupError, RecursionError) as wrong:
        raise ValueError(f"no tree: {wrong}") from None


def _build(made: list[Any], nodes: list[list[int]], classes: list[tuple[type, list[str]]]) -> None:
    """The nodes as values, put behind the single ones. A third of the time that constructors would take."""
    at, new = made.__getitem__, object.__new__
    for node in nodes:
        kind = node.pop()
        if kind == TUPLE:
            made.append(tuple(map(at, node)))
            continue
        made_of, names = classes[kind]
        value: Any = new(made_of)
        content = value.__dict__
        for name, part in zip(names, node):
            content[name] = made[part]
        made.append(value)
