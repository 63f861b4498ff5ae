"""Expressions and equations of components -> MathML, which browsers draw without a script."""

import re
from collections.abc import Collection, Iterable
from html import escape

from netsim.text.terms import Binary, Call, Conditional, Expr, Name, Number, Part, String, Unary, Vector

LATIN = """alpha beta gamma delta epsilon zeta eta theta kappa lam lambda mu nu xi rho sigma tau phi chi psi omega pi
Phi Psi Omega Delta"""
GREEK = dict(zip(LATIN.split(), "αβγδεζηθκλλμνξρστφχψωπΦΨΩΔ"))
SIGNS = {"-": "−", "*": "⋅", "<=": "≤", ">=": "≥", "==": "=", "!=": "≠", "and": "and", "or": "or"}
LEVELS = {"=": 0, "or": 1, "and": 2, **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), 4), "+": 5, "-": 5, "*": 6}
LOOSEST, NOT, MINUS, FACTOR, QUOTIENT, POWER = 0, 3, 5, 6, 8, 9
"""How tight an expression binds: a minus sign looser than the product behind it."""
BETWEEN = {"cross": "×", "dot": "⋅"}
AROUND = {"abs": "|", "norm": "‖"}


def equation(left: Expr, right: Expr, vectors: Collection[str] = ()) -> str:
    """`left = right` as one line; names in `vectors` are bold."""
    return line(f"{markup(left, vectors, 5)}{_sign('=')}{markup(right, vectors)}")


def line(*parts: str) -> str:
    """A formula in a line of its own, of parts that are MathML."""
    return f'<math display="block" class="left"><mrow>{"".join(parts)}</mrow></math>'


def inline(expression: Expr, vectors: Collection[str] = ()) -> str:
    """A formula within a sentence."""
    return f"<math><mrow>{markup(expression, vectors)}</mrow></math>"


def symbol(text: str, vectors: Collection[str] = ()) -> str:
    """A name without dots: `phi` is Greek, `v1` and `r0` have subscripts, several letters stand upright."""
    match = re.fullmatch(r"(?P<stem>[A-Za-z]|" + "|".join(GREEK) + r")_?(?P<below>\d*)", text)
    stem, below = (match["stem"], match["below"]) if match else (text, "")
    bold = ' mathvariant="bold" class="vector"' if text in vectors else ""
    shown = f"<mi{bold}>{escape(GREEK.get(stem, stem))}</mi>"
    return f"<msub>{shown}<mn>{below}</mn></msub>" if below else shown


def markup(expression: Expr, vectors: Collection[str] = (), least: int = LOOSEST) -> str:
    """MathML of an expression, in parentheses where it binds less than `least`."""
    shown, level = _written(expression, vectors)
    return _fenced("(", shown, ")") if level < least else shown


def _written(expression: Expr, vectors: Collection[str]) -> tuple[str, int]:
    match expression:
        case Number(value, unit):
            return _number(value) + (f'<mspace width="0.2em"/><mtext>{escape(unit)}</mtext>' if unit else ""), POWER
        case String(text):
            return f"<mtext>{escape(text)}</mtext>", POWER
        case Name():
            return _name(expression, vectors), POWER
        case Unary(op, operand):
            word = (
                '<mtext>not</mtext><mspace width="0.3em"/>' if op == "not" else "" if op == "+" else _sign(op, "prefix")
            )
            level, least = (NOT, NOT) if op == "not" else (MINUS, FACTOR)
            return f"<mrow>{word}{markup(operand, vectors, least)}</mrow>", level
        case Binary():
            return _binary(expression, vectors)
        case Call():
            return _call(expression, vectors)
        case Vector(items, unit):
            behind = f'<mspace width="0.2em"/><mtext>{escape(unit)}</mtext>' if unit else ""
            return _vector(items, vectors) + behind, POWER
        case Conditional():
            return (
                f"<mrow><mo>{{</mo><mtable columnalign='left'>{''.join(_cases(expression, vectors))}</mtable></mrow>",
                LOOSEST,
            )


def _binary(expression: Binary, vectors: Collection[str]) -> tuple[str, int]:
    op, left, right = expression.op, expression.left, expression.right
    if op == "/":
        return f"<mfrac><mrow>{markup(left, vectors)}</mrow><mrow>{markup(right, vectors)}</mrow></mfrac>", QUOTIENT
    if op == "^":
        return (
            f"<msup><mrow>{markup(left, vectors, POWER)}</mrow><mrow>{markup(right, vectors)}</mrow></msup>",
            QUOTIENT,
        )
    level = LEVELS[op]
    if op == "*" and not isinstance(right, Number):
        between = '<mo>&#x2062;</mo><mspace width="0.12em"/>'  # factors beside each other
    elif op in ("and", "or"):
        between = f'<mspace width="0.4em"/><mtext>{op}</mtext><mspace width="0.4em"/>'
    else:
        between = _sign(op)
    return f"{markup(left, vectors, level)}{between}{markup(right, vectors, level + 1)}", level


def _call(call: Call, vectors: Collection[str]) -> tuple[str, int]:
    given = [markup(argument, vectors) for argument in call.arguments]
    match call.function, given:
        case "sqrt", [inside]:
            return f"<msqrt><mrow>{inside}</mrow></msqrt>", POWER
        case "exp", [inside]:
            return f"<msup><mi>e</mi><mrow>{inside}</mrow></msup>", QUOTIENT
        case "expm1", [inside]:
            return f"<msup><mi>e</mi><mrow>{inside}</mrow></msup>{_sign('-')}<mn>1</mn>", LEVELS["-"]
        case ("abs" | "norm") as function, [inside]:
            return _fenced(AROUND[function], inside, AROUND[function]), POWER
        case ("cross" | "dot") as function, [_, _]:
            left, right = (markup(argument, vectors, FACTOR + 1) for argument in call.arguments)
            return f"{left}{_sign(BETWEEN[function])}{right}", FACTOR
        case "transpose", [_]:
            return (
                f"<msup><mrow>{markup(call.arguments[0], vectors, POWER)}</mrow><mi mathvariant='normal'>T</mi></msup>",
                POWER,
            )
        case "pre", [_]:
            return f"<msup><mrow>{markup(call.arguments[0], vectors, POWER)}</mrow><mo>−</mo></msup>", POWER
        case "der", [inside] if isinstance(call.arguments[0], Name) and inside.count("<mi") == 1:
            return f"<mover><mrow>{inside}</mrow><mo>˙</mo></mover>", POWER
        case "der", [_]:
            d = "<mi mathvariant='normal'>d</mi>"
            over = f"<mfrac>{d}<mrow>{d}<mi>t</mi></mrow></mfrac>"
            return f"{over}{markup(call.arguments[0], vectors, POWER)}", FACTOR
    given += [f"{symbol(name)}{_sign('=')}{markup(value, vectors)}" for name, value in call.keywords]
    return f"<mi mathvariant='normal'>{escape(call.function)}</mi>{_fenced('(', _listed(given), ')')}", POWER


def _cases(expression: Conditional, vectors: Collection[str]) -> Iterable[str]:
    def row(value: Expr, words: str) -> str:
        return f"<mtr><mtd>{markup(value, vectors)}</mtd><mtd><mspace width='1em'/>{words}</mtd></mtr>"

    rest: Expr = expression
    while isinstance(rest, Conditional):
        yield row(rest.then, f"<mtext>if</mtext><mspace width='0.4em'/>{markup(rest.condition, vectors)}")
        rest = rest.otherwise
    yield row(rest, "<mtext>otherwise</mtext>")


def _name(name: Name, vectors: Collection[str]) -> str:
    """`a.phi` is phi with the subscript a; indices stand below too."""
    *owners, last = name.parts
    below = [*(escape(part.text) for part in owners), *_indices(last)]
    axis = last.text in ("x", "y", "z") and len(owners) > 1  # a.v.x: a component of v of a
    if axis:
        *first, middle = owners
        below, last = [*(escape(part.text) for part in first), last.text], middle
    whole = not last.indices and not axis and ".".join([*(part.text for part in owners), last.text]) in vectors
    shown = symbol(last.text, (last.text,) if whole else ())
    if not below:
        return shown
    lower = "<mo>,</mo>".join(f"<mi mathvariant='normal'>{text}</mi>" for text in below)
    if shown.startswith("<msub>"):
        return f"<msub><mrow>{shown}</mrow><mrow>{lower}</mrow></msub>"
    return f"<msub>{shown}<mrow>{lower}</mrow></msub>"


def _indices(part: Part) -> list[str]:
    from netsim.text.expressions.show import show_expression

    return [escape(show_expression(index)) for index in part.indices]


def _vector(items: tuple[Expr, ...], vectors: Collection[str]) -> str:
    if items and all(isinstance(item, Vector) for item in items):
        cells = ((markup(cell, vectors) for cell in row.items) for row in items if isinstance(row, Vector))
        rows = "".join(f"<mtr>{''.join(f'<mtd>{cell}</mtd>' for cell in row)}</mtr>" for row in cells)
        return _fenced("[", f"<mtable>{rows}</mtable>", "]")
    return _fenced("[", _listed([markup(item, vectors) for item in items]), "]")


def _number(value: float) -> str:
    text = f"{value:.12g}"
    mantissa, _, exponent = text.partition("e")
    if not exponent:
        return f"<mn>{text}</mn>"
    power = f"<msup><mn>10</mn><mn>{int(exponent)}</mn></msup>".replace("-", "−")
    return power if mantissa == "1" else f"<mrow><mn>{mantissa}</mn><mo>⋅</mo>{power}</mrow>"


def _listed(parts: Iterable[str]) -> str:
    return '<mo separator="true">,</mo><mspace width="0.2em"/>'.join(parts)


def _fenced(before: str, inside: str, behind: str) -> str:
    """Fences grow with fractions and matrices only."""
    still = "" if "<mfrac" in inside or "<mtable" in inside else ' stretchy="false"'
    left, right = (f'<mo fence="true" form="{f}"{still}>{s}</mo>' for f, s in (("prefix", before), ("postfix", behind)))
    return f"<mrow>{left}{inside}{right}</mrow>"


def _sign(op: str, form: str = "infix") -> str:
    return f'<mo form="{form}">{escape(SIGNS.get(op, op))}</mo>'
