"""Coupled inductors: windings that K lines tie together become one element, of inductances L_i and, between two of
them, k_ij sqrt(L_i L_j)."""

from collections.abc import Iterator
from itertools import combinations

from netsim.formats.spice.cards import Card
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem
from netsim.text.parse import parse
from netsim.text.syntax import ComponentDef, Expr, Instance, Name, Number, Unary


def coupled(scope: Scope) -> tuple[list[Instance], set[str]]:
    """Instances of all coupled windings of a block and the names of the inductors in them. Raises `InputError`."""
    cards = {card.word: card for card in scope.block.elements}
    ties = [card for card in scope.block.elements if card.word[0] == "k"]
    groups: list[tuple[list[Card], set[str]]] = []
    problems: list[Problem] = []
    for tie in ties:
        *named, _ = tie.plain if len(tie.plain) > 2 else (*tie.plain, None)
        if len(tie.plain) < 3:
            problems.append(Problem("E131", f"'{tie.word}' is written K1 L1 L2 0.99", tie.span()))
            continue
        for token in named:
            if token is None or token.text not in cards or token.text[0] != "l":
                assert token is not None
                problems.append(
                    Problem(
                        "E133",
                        f"'{tie.word}' couples '{token.text}', which is not an inductor of this circuit",
                        tie.at(token),
                    )
                )
        members = {token.text for token in named if token is not None and token.text in cards}
        touching = [group for group in groups if group[1] & members]
        groups = [group for group in groups if not group[1] & members]
        groups.append(
            ([*(t for group in touching for t in group[0]), tie], members.union(*(group[1] for group in touching)))
        )
    if problems:
        raise InputError(problems)
    if scope.circuit.at_rest:
        wound = {name for _, names in groups for name in names}
        return [_shorted(scope, cards[name]) for name in cards if name in wound], wound
    order = list(cards)
    return [
        _group(scope, group, [cards[name] for name in sorted(names, key=order.index)]) for group, names in groups
    ], {n for g in groups for n in g[1]}


def _shorted(scope: Scope, coil: Card) -> Instance:
    """A winding where no current changes: it has no voltage, whatever its inductance and its couplings are."""
    scope.through[coil.word] = (scope.elements[coil.word], "i")
    return scope.instance(coil, "voltage", scope.connected(coil, coil.plain[:2]), {"v": Number(0.0, "V")})


def _group(scope: Scope, ties: list[Card], coils: list[Card]) -> Instance:
    names = [coil.word for coil in coils]
    nodes = [node for coil in coils for node in scope.connected(coil, coil.plain[:2])]
    bindings: dict[str, Expr] = {}
    starts: dict[str, Expr] = {}
    for k, coil in enumerate(coils, 1):
        bindings[f"L{k}"] = scope.value(coil, coil.given.get("l") or coil.plain[2], "H")
        scope.through[coil.word] = (scope.elements[ties[0].word], f"i{k}")
        if scope.circuit.uic and "ic" in coil.given:
            starts[f"i{k}"] = scope.value(coil, coil.given["ic"], "A")
    couplings: dict[tuple[int, int], Expr] = {}
    for tie in ties:
        *ends, factor = tie.plain
        value = scope.value(tie, factor)
        for first, second in combinations(sorted(names.index(end.text) + 1 for end in ends), 2):
            couplings[first, second] = value
    if all(couplings.get(pair) == Number(1.0) for pair in combinations(range(1, len(coils) + 1), 2)):
        return _without_leakage(scope, ties[0], nodes, bindings)
    _check(ties, couplings, len(coils))
    if len(coils) == 2:
        return scope.instance(ties[0], "coupled_inductors", nodes, {**bindings, "k": couplings[1, 2]}, starts)
    type_ = _windings(scope, len(coils))
    factors = {f"k{i}_{j}": value for (i, j), value in couplings.items()}
    return scope.instance(ties[0], type_, nodes, {**bindings, **factors}, starts)


def _without_leakage(scope: Scope, tie: Card, nodes: list[Name], inductances: dict[str, Expr]) -> Instance:
    """Windings whose couplings are all 1: v_k = sqrt(L_k/L_1) v_1, and the currents, each times its root, add up to
    that which magnetises the first winding."""
    count, circuit = len(inductances), scope.circuit
    doc = f"{count} windings on one core without leakage"
    known = [d.name for d in circuit.definitions if isinstance(d, ComponentDef) and d.doc == doc]
    if not known:
        known = [circuit.type_name(f"windings_{count}_without_leakage")]
        (definition,) = parse("\n".join(_text_without_leakage(known[0], doc, count)), "<coupled inductors>").statements
        circuit.definitions.append(definition)
    return scope.instance(tie, known[0], nodes, inductances)


def _text_without_leakage(name: str, doc: str, n: int) -> Iterator[str]:
    numbers = range(1, n + 1)
    yield f'component {name} ({", ".join(f"p{i}, n{i}" for i in numbers)} : electrical) "{doc}"'
    yield from (f"  param L{i} : H > 0" for i in numbers)
    yield from (f"  branch p{i} -> n{i} : v{i}, i{i}" for i in numbers)
    yield "  var magnetising : A"
    yield f"  magnetising = i1 + {' + '.join(f'sqrt(L{i}/L1)*i{i}' for i in numbers[1:])}"
    yield "  v1 = L1*der(magnetising)"
    yield from (f"  v{i} = sqrt(L{i}/L1)*v1" for i in numbers[1:])
    yield "  stores L1*magnetising^2/2"
    yield "end"


def _check(ties: list[Card], couplings: dict[tuple[int, int], Expr], n: int) -> None:
    """Windings store energy: the matrix of couplings must be positive definite. Raises `InputError`."""
    import numpy as np

    matrix = np.eye(n)
    for (i, j), value in couplings.items():
        number = (
            -value.operand.value
            if isinstance(value, Unary) and isinstance(value.operand, Number)
            else getattr(value, "value", 0.0)
        )
        if not isinstance(number, float | int):
            return
        matrix[i - 1, j - 1] = matrix[j - 1, i - 1] = number
    if np.linalg.eigvalsh(matrix)[0] <= 0:
        message = f"the couplings of {' and '.join(tie.word for tie in ties)} give zero or negative energy"
        hint = (
            "a coupling is between -1 and 1, such as 0.999; if two of three couplings are close to 1, the third "
            "must be, too"
        )
        raise InputError(Problem("E234", message, ties[-1].span(), hint=hint))


def _windings(scope: Scope, n: int) -> str:
    """The component of n windings, defined where it is wanted first."""
    circuit, key = scope.circuit, f"windings_{n}"
    for definition in circuit.definitions:
        if isinstance(definition, ComponentDef) and definition.doc == _doc(n):
            return definition.name
    name = circuit.type_name(key)
    (definition,) = parse("\n".join(_text(name, n)), "<coupled inductors>").statements
    circuit.definitions.append(definition)
    return name


def _doc(n: int) -> str:
    return f"{n} windings on one core"


def _text(name: str, n: int) -> Iterator[str]:
    numbers, pairs = range(1, n + 1), list(combinations(range(1, n + 1), 2))
    mutual = {
        **{pair: f"M{pair[0]}_{pair[1]}" for pair in pairs},
        **{(j, i): f"M{i}_{j}" for i, j in pairs},
        **{(i, i): f"L{i}" for i in numbers},
    }
    yield f'component {name} ({", ".join(f"p{i}, n{i}" for i in numbers)} : electrical) "{_doc(n)}"'
    yield from (f"  param L{i} : H > 0" for i in numbers)
    yield from (f"  param k{i}_{j} > -1 < 1 = 0" for i, j in pairs)
    yield from (f"  let M{i}_{j} = k{i}_{j}*sqrt(L{i}*L{j})" for i, j in pairs)
    yield from (f"  branch p{i} -> n{i} : v{i}, i{i}" for i in numbers)
    yield from (f"  v{i} = {' + '.join(f'{mutual[i, j]}*der(i{j})' for j in numbers)}" for i in numbers)
    yield "  stores " + " + ".join([*(f"L{i}*i{i}^2/2" for i in numbers), *(f"M{i}_{j}*i{i}*i{j}" for i, j in pairs)])
    yield "end"
