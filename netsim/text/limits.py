"""Bounds on what a text may ask for, asked before any of it is built.

Three lines can ask for 10^12 elements, and 40 lets for an expression of 10^12 terms. Each bound is generous beside what
a machine of today holds in its memory, and can be raised: `netsim run --limit elements=1e6`, or `with
netsim.limits(elements=1e6):` around what loads and runs a model.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from numbers import Real

from netsim.text.errors import InputError, Problem, Span, nearest

LIMITS: Mapping[str, tuple[float, str]] = {
    "elements": (300_000, "elements of a network, those of models and loops included; also the largest count"),
    "terms": (50_000, "terms of an expression in which lets of signals are written out"),
    "depth": (100, "lets of signals that stand on one another"),
    "values": (3e8, "numbers in a result: samples times signals, and what is kept of steps"),
    "steps": (1e10, "steps that a run takes at least: its stop over `step` or `max_step`"),
    "cases": (1e6, "cases of a sweep"),
    "files": (1_000, "files that include one another"),
}
"""The bounds by name, with what they bound."""

TOO_LARGE = "E260"
"""The code of a problem that ends what is under way at once."""

_raised: ContextVar[Mapping[str, float]] = ContextVar("limits", default={})  # noqa: B039  (never changed in place)


@contextmanager
def limits(**bounds: float) -> Iterator[None]:
    """Other bounds for what is loaded and run inside; raises `InputError` (E260) for a name that `LIMITS` has not."""
    for name, bound in bounds.items():
        if isinstance(bound, bool) or not isinstance(bound, Real) or bound != bound:
            message = f"the limit '{name}' must be a number, not {type(bound).__name__}"
            raise InputError(Problem(TOO_LARGE, message, hint=f"limits({name}=1e6)"))
        if name not in LIMITS:
            hint = nearest(name, LIMITS) or f"the limits are {', '.join(LIMITS)}"
            raise InputError(Problem(TOO_LARGE, f"there is no limit '{name}'", hint=hint))
    token = _raised.set({**_raised.get(), **bounds})
    try:
        yield
    finally:
        _raised.reset(token)


def raised_limits(texts: Iterable[str]) -> dict[str, float]:
    """Bounds from texts like 'elements=1e6'; raises `InputError` (E237) for one that has another form."""
    found = {}
    for text in texts:
        name, _, number = (part.strip() for part in text.partition("="))
        try:
            found[name] = float(number)
        except ValueError:
            message = f"'--limit {text}' does not have the form name=number"
            raise InputError(Problem("E237", message, hint="for example: --limit elements=1e6")) from None
    return found


def limit(name: str) -> float:
    """The present bound."""
    return _raised.get().get(name, LIMITS[name][0])


def check_limit(name: str, wanted: float, what: str, span: Span | None = None, hint: str = "") -> None:
    """Raises `InputError` (E260) where more is wanted than the bound; `what` says it: '1e9 elements'."""
    if found := list(above_limit(name, wanted, what, span, hint)):
        raise InputError(found)


def above_limit(name: str, wanted: float, what: str, span: Span | None = None, hint: str = "") -> Iterator[Problem]:
    """The problem that `check_limit` raises."""
    if not wanted <= limit(name):
        hint = f"{hint}{'; ' if hint else ''}where that is meant: --limit {name}={wanted:.6g}"
        yield Problem(TOO_LARGE, f"{what}: at most {limit(name):.6g} are allowed", span, hint=hint)
