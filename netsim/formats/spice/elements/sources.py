"""Independent sources: a constant or a function of time (PULSE, SIN, EXP, PWL, SFFM, AM), as ngspice 39 has them
(manual, chapter 4.1)."""

from itertools import pairwise

from netsim.formats.spice.cards import Card, Token
from netsim.formats.spice.numbers import value_of
from netsim.formats.spice.scopes import Scope
from netsim.text.errors import InputError, Problem, nearest
from netsim.text.syntax import Binary, Call, Conditional, Expr, Name, Number, Part, Unary, Vector
from netsim.text.terms import CutPulse

WAVES = ("pulse", "sin", "sine", "exp", "pwl", "sffm", "am")
_PORTS = ("portnum", "z0", "pwr", "freq", "phase")
_WORDS = (*WAVES, "dc", "ac", "distof1", "distof2", "external", "trnoise", "trrandom", *_PORTS)
_NOISES = ("trnoise", "trrandom")
TIME = Name((Part("time"),))
_TURN = Binary("*", Number(2.0), Number(3.141592653589793))


def source_value(card: Card, scope: Scope, unit: str) -> Expr:
    """What an independent source delivers, in `unit`: its wave if it has one, else its constant, else 0. Where nothing
    runs over time, a constant beside the wave is what counts. Raises `InputError`."""
    constant, wave = _constant_and_wave(card)
    if wave is not None and not (constant and not scope.circuit.times[1]):
        return _wave(card, scope, *wave, unit)
    return scope.value(card, constant, unit) if constant else Number(0.0, unit)


def _constant_and_wave(card: Card) -> tuple[Token | None, tuple[Token, tuple[Token, ...]] | None]:
    """The constant of a source, and its wave with its figures; None for what is not there. Raises `InputError`."""
    tokens, i = card.plain[2:], 0
    constant: Token | None = None
    wave: tuple[Token, tuple[Token, ...]] | None = None
    while i < len(tokens):
        token = tokens[i]
        i += 1
        if token.text in WAVES:
            wave = token, _until_word(tokens[i:])
            i += len(wave[1])
        elif token.text in ("ac", "distof1", "distof2"):
            i += len(_until_word(tokens[i:])[:2])
        elif token.text == "dc":
            if i == len(tokens):
                raise InputError(Problem("E131", "a value is missing behind 'dc'", card.at(token)))
        elif token.text in _PORTS:
            i += 1
        elif token.text in _WORDS or (token.kind == "word" and token.text.isalpha() and i > 1):
            raise _unknown_kind(card, token)
        else:
            constant = token
    return card.given.get("dc", constant), wave


def _unknown_kind(card: Card, token: Token) -> InputError:
    """A word that says no value and no wave."""
    if token.text in _NOISES:
        hint = "`.noise` has the densities; normal_noise and band_limited_noise of the library draw numbers"
        message = f"sources of noise in time ('{token.text}') are not supported: adaptive steps would not repeat it"
        return InputError(Problem("E130", message, card.at(token), hint=hint))
    hint = f"the kinds are {', '.join(WAVES)}" if token.text in _WORDS else nearest(token.text, WAVES)
    message = f"sources of the kind '{token.text}' are not known"
    return InputError(Problem("E130", message, card.at(token), hint=hint))


def port_of(card: Card) -> int | None:
    """The number behind `portnum`, None for a source that is no port."""
    given = card.given.get("portnum", next((t for a, t in pairwise(card.plain) if a.text == "portnum"), None))
    number = value_of(given.text) if given else None
    return None if number is None else int(number)


def _until_word(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    stop = next((i for i, token in enumerate(tokens) if token.text in _WORDS), len(tokens))
    return tokens[:stop]


def _wave(card: Card, scope: Scope, kind: Token, tokens: tuple[Token, ...], unit: str) -> Expr:
    least = {"pulse": 2, "sin": 2, "sine": 2, "exp": 2, "pwl": 2, "sffm": 2, "am": 4}[kind.text]
    if len(tokens) < least:
        raise InputError(Problem("E131", f"{kind.text.upper()} needs at least {least} values", card.at(kind)))
    step, stop = scope.circuit.times

    def read(i: int, units: str, default: float = 0.0) -> Expr:
        if i >= len(tokens):
            return Number(default, units)
        return scope.value(card, tokens[i], units)

    def duration(i: int, default: float) -> Expr:
        """A time, where 0 stands for the default too."""
        value = read(i, "s", default)
        return Number(default, "s") if _is_zero(value) else value

    match kind.text:
        case "pulse":
            low, at, period = read(0, unit), read(2, "s"), read(6, "s")
            wave = _pulse(low, read(1, unit), at, duration(3, step), duration(4, step), duration(5, stop), period)
            return _counted(wave, low, plus(at, times(read(7, ""), period)), len(tokens) > 7)
        case "sin" | "sine":
            return _sin(
                read(0, unit),
                read(1, unit),
                read(2, "Hz", 1 / stop if stop else 1.0),
                read(3, "s"),
                read(4, "Hz"),
                read(5, "deg"),
            )
        case "exp":
            start = read(2, "s")
            return _exp(
                read(0, unit),
                read(1, unit),
                start,
                duration(3, step),
                read(4, "s") if len(tokens) > 4 else plus(start, Number(step, "s")),
                duration(5, step),
            )
        case "pwl":
            return _pwl(card, scope, tokens, unit)
        case "sffm":
            carrier, signal = read(2, "Hz", 1 / stop if stop else 1.0), read(4, "Hz", 1 / stop if stop else 1.0)
            inner = times(read(3, ""), _sine_of(signal, TIME))
            return plus(read(0, unit), times(read(1, unit), Call("sin", (plus(times(_TURN, carrier, TIME), inner),))))
        case _:
            since = minus(TIME, read(4, "s"))
            wave = times(plus(read(1, ""), _sine_of(read(2, "Hz"), since)), _sine_of(read(3, "Hz"), since))
            return times(read(0, unit), wave, Call("step", (TIME,), (("at", read(4, "s")),)))


def _counted(wave: Expr, low: Expr, end: Expr, counted: bool) -> Expr:
    """A pulse of so many periods (LTspice's last figure)."""
    return Conditional(Binary("<", TIME, end), wave, low) if counted else wave


def _is_zero(value: Expr) -> bool:
    return isinstance(value, Number) and value.value == 0


def times(first: Expr, *others: Expr) -> Expr:
    """The product, shorter where a factor is 1."""
    for other in others:
        if other != Number(1.0):
            first = Binary("*", first, other) if first != Number(1.0) else other
    return first


def plus(first: Expr, second: Expr) -> Expr:
    """The sum, shorter where a term is 0."""
    if _is_zero(second) or _is_zero(first):
        return first if _is_zero(second) else second
    return Binary("+", first, second)


def minus(first: Expr, second: Expr) -> Expr:
    """The difference, shorter where one is 0."""
    if isinstance(second, Unary) and second.op == "-":
        return plus(first, second.operand)
    if _is_zero(second):
        return first
    return Unary("-", second) if _is_zero(first) else Binary("-", first, second)


def _sine_of(frequency: Expr, time: Expr) -> Expr:
    return Call("sin", (times(_TURN, frequency, time),))


def _pulse(low: Expr, high: Expr, at: Expr, rise: Expr, fall: Expr, width: Expr, period: Expr) -> Expr:
    named = [
        ("at", at),
        ("width", width),
        ("rise", rise),
        ("fall", fall),
        *(() if _is_zero(period) else (("period", period),)),
    ]
    given = tuple((n, v) for n, v in named if n == "width" or not _is_zero(v))
    return plus(low, times(minus(high, low), CutPulse("pulse", (TIME,), given)))


def _sin(offset: Expr, amplitude: Expr, frequency: Expr, at: Expr, damping: Expr, phase: Expr) -> Expr:
    named = [("frequency", frequency), *((n, v) for n, v in (("phase", phase), ("at", at)) if not _is_zero(v))]
    if _is_zero(damping):
        named = [("amplitude", amplitude), *named, *(() if _is_zero(offset) else (("offset", offset),))]
        return Call("sine", (TIME,), tuple(named))
    decay = Call("exp", (Unary("-", times(damping, _since(at))),))
    return plus(offset, times(amplitude, decay, Call("sine", (TIME,), tuple(named))))


def _since(at: Expr) -> Expr:
    return Call("ramp", (TIME,), () if _is_zero(at) else (("at", at),))


def _exp(low: Expr, high: Expr, rise_at: Expr, rise: Expr, fall_at: Expr, fall: Expr) -> Expr:
    def grown(at: Expr, constant: Expr) -> Expr:
        return Binary("-", Number(1.0), Call("exp", (Unary("-", Binary("/", _since(at), constant)),)))

    height = minus(high, low)
    return Binary("-", plus(low, times(height, grown(rise_at, rise))), times(height, grown(fall_at, fall)))


def _pwl(card: Card, scope: Scope, tokens: tuple[Token, ...], unit: str) -> Expr:
    """Held before the first and behind the last point; repeated from the time `r` on; `td` later."""
    if len(tokens) % 2:
        raise InputError(
            Problem("E131", "PWL needs pairs of a time and a value", card.at(tokens[-1]), hint="one of them is missing")
        )
    times_ = _instants(card, scope, tokens[::2])
    values = [scope.value(card, t, unit) for t in tokens[1::2]]
    instants = [value_of(token.text) for token in tokens[::2]]
    if len(instants) == 1:
        return values[0]
    at: Expr = minus(TIME, scope.value(card, card.given["td"], "s")) if "td" in card.given else TIME
    if "r" in card.given and scope.number(card, card.given["r"]) >= 0:
        again = scope.number(card, card.given["r"])
        turns = Call("mod", (minus(at, Number(again, "s")), minus(times_[-1], Number(again, "s"))))
        at = Conditional(Binary("<", at, Number(again, "s")), at, plus(Number(again, "s"), turns))
    held = Call("min", (Call("max", (at, times_[0])), times_[-1]))
    return Call("interpolate", (held, Vector(tuple(times_)), Vector(tuple(values))))


def _instants(card: Card, scope: Scope, tokens: tuple[Token, ...]) -> list[Expr]:
    """The times of PWL; one with a + in front (LTspice) counts from the one before it. Raises `InputError` where plain
    numbers do not increase."""
    found: list[Expr] = []
    for token in tokens:
        value = scope.value(card, token, "s")
        found.append(plus(found[-1], value) if token.text.startswith("+") and found else value)
    if any(token.text.startswith("+") for token in tokens):
        return found
    for (_, before), (token, after) in pairwise((token, value_of(token.text)) for token in tokens):
        if before is not None and after is not None and after <= before:
            raise InputError(Problem("E131", "the times of PWL must increase", card.at(token)))
    return found
