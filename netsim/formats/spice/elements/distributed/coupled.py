"""Coupled lines P (CPL): n conductors over a return, with matrices R, L, C, G per length.

Without losses the voltages v = M w and the currents i = M^-T j of the conductors are those of n lines that do not see
one another. M comes from the eigenvectors of L^(1/2) C L^(1/2) (C. Paul, Analysis of Multiconductor Transmission
Lines, 2008, chapter 7): line k has the inductance 1/s^2 and the capacitance s^2 times its eigenvalue, with s^2 the
inverse of the mean self-inductance. At the ends of each piece an element without losses joins conductors and lines;
resistance and conductance are lumped between pieces, as in `line_with_losses`.
"""

import math
import re
from itertools import product

import numpy as np

from netsim.formats.spice.cards import Card
from netsim.formats.spice.elements.models import Model, found_model
from netsim.formats.spice.elements.words_of_cards import require_words
from netsim.formats.spice.numbers import literal, value_of
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem
from netsim.text.parse import parse
from netsim.text.syntax import Expr, Instance, Name, Part

Array = np.ndarray
PIECES, SHARE = 8, 0.02
"""Pieces of a lossy line at most, and the resistance of one as a share of the least impedance: the waves of two modes
meet at all sums of their delays, which are many in many pieces."""
_MATRIX = re.compile(r"\b([rlcg])\s*=\s*((?:[^=\s()]+\s*)+?)(?=\s*(?:\w+\s*=|\)?\s*$))", re.IGNORECASE)


def coupled_lines(card: Card, scope: Scope) -> Instance:
    """`P1 a1 .. an reference b1 .. bn reference model [length=1]`. Raises `InputError`."""
    tokens = require_words(card, 5, "P1 node ... reference node ... reference model")
    model = found_model(card, scope, tokens[-1], ("cpl",))
    n = (len(tokens) - 3) // 2
    if len(tokens) % 2 == 0 or n < 1:
        message = f"'{card.word}' has not as many nodes on one side as on the other"
        raise InputError(Problem("E131", message, card.span(), hint="each side ends with its reference"))
    nodes = scope.connected(card, tokens[:-1])
    near, far = (nodes[:n], nodes[n]), (nodes[n + 1 : 2 * n + 1], nodes[-1])
    matrices = _matrices(model, n)
    length = _length(card, scope, model)
    inductance, capacitance = matrices["l"], matrices["c"]
    roots, vectors = np.linalg.eigh(inductance)
    root = vectors @ np.diag(np.sqrt(roots)) @ vectors.T if (roots > 0).all() else None
    squares, turned = np.linalg.eigh(root @ capacitance @ root) if root is not None else (np.zeros(n), vectors)
    if root is None or not (squares > 0).all():
        message = "the matrices L and C of coupled lines are those of no line: they must be positive definite"
        raise InputError(Problem("E131", message, model.card.span()))
    scale = float(np.trace(inductance)) / n
    modes = root @ turned / np.sqrt(scale)
    lines = scale / np.sqrt(squares), np.sqrt(squares) * length
    return _pieces(card, scope, near, far, modes, lines, {k: matrices[k] * length for k in "rg"})


def _matrices(model: Model, n: int) -> dict[str, Array]:
    """R, L, C, G from their upper triangles; what is not given is zero."""
    found = {name: np.zeros((n, n)) for name in "rlcg"}
    for match in _MATRIX.finditer(model.card.text):
        values = [value_of(text) for text in match[2].split()]
        if len(values) != n * (n + 1) // 2 or None in values:
            count = f"{n * (n + 1) // 2} numbers, its upper triangle"
            message = f"the matrix {match[1].upper()} of {n} lines has {count}"
            raise InputError(Problem("E131", message, model.card.span(match.start(), match.end())))
        rows, columns = np.triu_indices(n)
        found[match[1].lower()][rows, columns] = values
        found[match[1].lower()][columns, rows] = values
    return found


def _length(card: Card, scope: Scope, model: Model) -> float:
    token = next((card.given[name] for name in ("len", "length") if name in card.given), None)
    if token is not None:
        return scope.number(card, token)
    return next((model.number(name, 1.0) for name in ("length", "len") if name in model.given), 1.0)


def _pieces(
    card: Card, scope: Scope, near: tuple[tuple[Name, ...], Name], far: tuple[tuple[Name, ...], Name],
    modes: Array, lines: tuple[Array, Array], losses: dict[str, Array],
) -> Instance:  # fmt: skip
    """Pieces from end to end, resistances between them; the last element is the end at the far side."""
    span, n = card.span(), len(modes)
    lossy = losses["r"].any() or losses["g"].any()
    for name in "rg" if lossy else "":
        if np.abs(losses[name] - np.diag(np.diag(losses[name]))).any():
            scope.circuit.report.note(f"'{name}' beside the diagonal is ignored in coupled lines", span)
    loss = float(np.diag(losses["r"]).max() / lines[0].min() + np.diag(losses["g"]).max() * lines[0].max())
    count = min(PIECES, max(1, math.ceil(loss / SHARE)))
    end = _end(scope, n)
    bindings = {f"M{i + 1}{k + 1}": literal(float(modes[i, k]), span) for i, k in product(range(n), range(n))}
    ends, at = [], near[0]
    for piece in range(count):
        share = 0.5 if piece == 0 else 1.0
        first = _lumped(card, scope, f"{piece}", at, losses["r"], share / count) if lossy else at
        last = far[0] if not lossy else tuple(scope.inner_node(f"{card.word}_b{piece}_{i}", span) for i in range(n))
        sides = []
        for side, (terminals, reference) in enumerate(((first, near[1] if piece == 0 else far[1]), (last, far[1]))):
            inner = tuple(scope.inner_node(f"{card.word}_m{piece}_{side}_{k}", span) for k in range(n))
            sides.append(inner)
            ends.append((f"{card.word}_end{piece}_{side}", (*terminals, reference, *inner)))
        for k in range(n):
            given: dict[str, Expr] = {"Z": literal(float(lines[0][k]), span, "Ohm")}
            given["T"] = literal(float(lines[1][k]) / count, span, "s")
            ground = Name((Part("ground"),), span=span)
            scope.part(
                f"{card.word}_line{piece}_{k}", "lossless_line", (sides[0][k], ground, sides[1][k], ground), given, span
            )
        for i in range(n) if losses["g"].any() else ():
            leak: dict[str, Expr] = {"G": literal(float(losses["g"][i, i]) / count, span, "S")}
            scope.part(f"{card.word}_g{piece}_{i}", "conductor", (last[i], far[1]), leak, span)
        at = last
    for i in range(n) if lossy else ():
        value: dict[str, Expr] = {"R": literal(float(losses["r"][i, i]) * 0.5 / count, span, "Ohm")}
        scope.part(f"{card.word}_r{count}_{i}", "lossy_end", (at[i], far[0][i]), value, span)
    for name, connected in ends[:-1]:
        scope.part(name, end, connected, bindings, span)
    return scope.instance(card, end, ends[-1][1], dict(bindings))


def _lumped(card: Card, scope: Scope, name: str, at: tuple[Name, ...], r: Array, share: float) -> tuple[Name, ...]:
    """The nodes behind a resistance of each conductor."""
    span = card.span()
    behind = tuple(scope.inner_node(f"{card.word}_a{name}_{i}", span) for i in range(len(at)))
    for i, (first, second) in enumerate(zip(at, behind)):
        value: dict[str, Expr] = {"R": literal(float(r[i, i]) * share, span, "Ohm")}
        scope.part(f"{card.word}_r{name}_{i}", "lossy_end", (first, second), value, span)
    return behind


def _end(scope: Scope, n: int) -> str:
    """The component that joins n conductors and n lines without losses, defined once: v = M w, j = -M^T i."""
    key = f":coupled_end_{n}"
    top = scope
    while top.above is not None:
        top = top.above
    if key not in top.ends:
        name = scope.circuit.type_name(f"coupled_end_{n}")
        index = range(1, n + 1)
        nodes = ", ".join([*(f"t{i}" for i in index), "r", *(f"m{k}" for k in index)])
        text = [f'component {name} ({nodes} : electrical) "joins {n} conductors and their lines without losses"']
        text += [f"  param M{i}{k}" for i in index for k in index]
        text += [f"  branch t{i} -> r : v{i}, i{i}" for i in index]
        text += [f"  branch m{k} -> ground : w{k}, j{k}" for k in index]
        text += [f"  v{i} = {' + '.join(f'M{i}{k}*w{k}' for k in index)}" for i in index]
        text += [f"  j{k} = -({' + '.join(f'M{i}{k}*i{i}' for i in index)})" for k in index]
        scope.circuit.definitions.append(parse("\n".join([*text, "end", ""]), "coupled lines").statements[0])
        top.ends[key] = (name,)
    return top.ends[key][0]
