"""exp, expm1, log and log1p of vectors, as LLVM IR: the formulas of the C libraries without their branches.

    exp x = 2^n e^r,  expm1 x = 2^n ((e^r - 1) + (1 - 2^-n)),  x = n log 2 + r
    e^r - 1 = 2 r P(r^2)/(Q(r^2) - r P(r^2))
    log u = k log 2 + log m,  log1p x = log u + (x - (u - 1))/u,  u = 1 + x = 2^k m,  sqrt(1/2) < m < sqrt(2)
    log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)),  s = f/(2 + f)

Errors are below three units in the last place. Sources: S. Moshier, Cephes (exp); Sun Microsystems, fdlibm (log).
"""

import struct
from functools import cache

LANES = 4
"""Doubles of a vector: those of AVX2. Instruction sets with shorter ones take two."""
NUMBERS, WHOLES, PLACES, TRUTHS = f"<{LANES} x double>", f"<{LANES} x i64>", f"<{LANES} x i32>", f"<{LANES} x i1>"
_P = (1.26177193074810590878e-4, 3.02994407707441961300e-2, 9.99999999999999999910e-1)
_Q = (3.00198505138664455042e-6, 2.52448340349684104192e-3, 2.27265548208155028766e-1, 2.00000000000000000009)
_HALVES = (6.93145751953125e-1, 1.42860682030941723212e-6)
"""log 2 in two parts: multiples of the first are exact."""
_LOG2 = (6.93147180369123816490e-1, 1.90821492927058770002e-10)
_R = (
    6.666666666666735130e-1, 3.999999999940941908e-1, 2.857142874366239149e-1, 2.222219843214978396e-1,
    1.818357216161805012e-1, 1.531383769920937332e-1, 1.479819860511658591e-1,
)  # fmt: skip
_ROOT_HALF = 0x3FE6A09E00000000
"""The bits of sqrt(1/2)."""


def splat(value: float) -> str:
    """A constant vector of one value."""
    bits = struct.unpack("<Q", struct.pack("<d", value))[0]
    return f"<{', '.join([f'double 0x{bits:016X}'] * LANES)}>"


def _wholes(value: int, kind: str = "i64") -> str:
    return f"<{', '.join([f'{kind} {value}'] * LANES)}>"


class _Body:
    """The lines of a function, one operation after the other."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def new(self, text: str) -> str:
        name = f"%b{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def add(self, x: str, y: str) -> str:
        return self.new(f"fadd {NUMBERS} {x}, {y}")

    def sub(self, x: str, y: str) -> str:
        return self.new(f"fsub {NUMBERS} {x}, {y}")

    def mul(self, x: str, y: str) -> str:
        return self.new(f"fmul {NUMBERS} {x}, {y}")

    def div(self, x: str, y: str) -> str:
        return self.new(f"fdiv {NUMBERS} {x}, {y}")

    def polynomial(self, x: str, coefficients: tuple[float, ...]) -> str:
        """Horner's rule, highest power first."""
        value = splat(coefficients[0])
        for each in coefficients[1:]:
            value = self.add(self.mul(value, x), splat(each))
        return value

    def where(self, comparison: str, x: str, y: str, yes: str, no: str) -> str:
        truth = self.new(f"fcmp {comparison} {NUMBERS} {x}, {y}")
        return self.new(f"select {TRUTHS} {truth}, {NUMBERS} {yes}, {NUMBERS} {no}")

    def power(self, n: str) -> str:
        """2^n of whole numbers (i32) that are exponents of doubles."""
        wide = self.new(f"sext {PLACES} {n} to {WHOLES}")
        shifted = self.new(f"shl {WHOLES} {self.new(f'add {WHOLES} {wide}, {_wholes(1023)}')}, {_wholes(52)}")
        return self.new(f"bitcast {WHOLES} {shifted} to {NUMBERS}")

    def reduced(self, x: str) -> tuple[str, str, str, str]:
        """e^r - 1, and 2^n in two factors with the reciprocal of the second: 2^n itself may be no double."""
        low = self.new(f"call {NUMBERS} @llvm.maxnum.v{LANES}f64({NUMBERS} {x}, {NUMBERS} {splat(-746.0)})")
        inside = self.new(f"call {NUMBERS} @llvm.minnum.v{LANES}f64({NUMBERS} {low}, {NUMBERS} {splat(710.0)})")
        n = self.new(f"call {NUMBERS} @llvm.rint.v{LANES}f64({NUMBERS} {self.mul(inside, splat(1.4426950408889634))})")
        r = self.sub(self.sub(inside, self.mul(n, splat(_HALVES[0]))), self.mul(n, splat(_HALVES[1])))
        square = self.mul(r, r)
        p = self.mul(r, self.polynomial(square, _P))
        quotient = self.div(p, self.sub(self.polynomial(square, _Q), p))
        whole = self.new(f"fptosi {NUMBERS} {n} to {PLACES}")
        half = self.new(f"ashr {PLACES} {whole}, {_wholes(1, 'i32')}")
        rest = self.new(f"sub {PLACES} {whole}, {half}")
        back = self.new(f"sub {PLACES} {_wholes(0, 'i32')}, {rest}")
        return self.add(quotient, quotient), self.power(half), self.power(rest), self.power(back)

    def logarithm(self, u: str, beside: str) -> str:
        """log u + beside of u > 0 that is not subnormal; beside is small."""
        bits = self.new(f"bitcast {NUMBERS} {u} to {WHOLES}")
        above = self.new(f"sub {WHOLES} {bits}, {_wholes(_ROOT_HALF)}")
        k = self.new(f"ashr {WHOLES} {above}, {_wholes(52)}")
        mantissa = self.new(f"sub {WHOLES} {bits}, {self.new(f'shl {WHOLES} {k}, {_wholes(52)}')}")
        f = self.sub(self.new(f"bitcast {WHOLES} {mantissa} to {NUMBERS}"), splat(1.0))
        exponent = self.new(f"sitofp {PLACES} {self.new(f'trunc {WHOLES} {k} to {PLACES}')} to {NUMBERS}")
        s = self.div(f, self.add(splat(2.0), f))
        z = self.mul(s, s)
        half = self.mul(self.mul(splat(0.5), f), f)
        r = self.mul(z, self.polynomial(z, _R[::-1]))
        low = self.add(self.mul(exponent, splat(_LOG2[1])), beside)
        small = self.sub(self.add(self.mul(s, self.add(half, r)), low), half)
        return self.add(self.add(small, f), self.mul(exponent, splat(_LOG2[0])))

    def log_of(self, u: str, regular: str, given: str) -> str:
        """What a logarithm is where u is 0, negative, infinite or no number."""
        value = self.where("oeq", u, splat(0.0), splat(float("-inf")), regular)
        value = self.where("olt", u, splat(0.0), splat(float("nan")), value)
        value = self.where("oeq", u, splat(float("inf")), splat(float("inf")), value)
        return self.where("uno", given, given, given, value)


def _exp(body: _Body) -> str:
    change, first, second, _ = body.reduced("%x")
    value = body.mul(body.mul(body.add(splat(1.0), change), first), second)
    return body.where("uno", "%x", "%x", "%x", value)


def _expm1(body: _Body) -> str:
    change, first, second, back = body.reduced("%x")
    value = body.mul(body.add(body.mul(change, first), body.sub(first, back)), second)
    value = body.where("olt", "%x", splat(-50.0), splat(-1.0), value)
    value = body.where("oeq", "%x", splat(0.0), "%x", value)
    return body.where("uno", "%x", "%x", "%x", value)


def _log(body: _Body) -> str:
    tiny = splat(2.2250738585072014e-308)
    scaled = body.where("olt", "%x", tiny, body.mul("%x", splat(2.0**54)), "%x")
    beside = body.where("olt", "%x", tiny, splat(-54.0 * 0.6931471805599453), splat(0.0))
    return body.log_of("%x", body.logarithm(scaled, beside), "%x")


def _log1p(body: _Body) -> str:
    u = body.add(splat(1.0), "%x")
    late, early = body.sub(splat(1.0), body.sub(u, "%x")), body.sub("%x", body.sub(u, splat(1.0)))
    beside = body.div(body.where("oge", u, splat(2.0), late, early), u)
    value = body.log_of(u, body.logarithm(u, beside), "%x")
    return body.where("oeq", "%x", splat(0.0), "%x", value)


FUNCTIONS = {"exp": _exp, "expm1": _expm1, "log": _log, "log1p": _log1p}


@cache
def function_text(name: str) -> str:
    """The function's IR: `@name_of_vectors`."""
    body = _Body()
    found = FUNCTIONS[name](body)
    lines = "\n".join(body.lines)
    return f"define internal {NUMBERS} @{name}_of_vectors({NUMBERS} %x) nounwind {{\n{lines}\nret {NUMBERS} {found}\n}}"


INTRINSICS = ("maxnum", "minnum", "rint")
"""What these functions call."""
