"""Parameters, starts and counts by their names: what `name=value` beside a netlist says, what a name stands for."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from netsim.library.files import included, read_program
from netsim.library.places import own_roots
from netsim.network.network import Beginning, Frame, Network, integer, parameter_names
from netsim.network.values import Values
from netsim.text.errors import InputError, Problem, Span, nearest
from netsim.text.expressions.from_python import parse_expression
from netsim.text.expressions.typed import Typed
from netsim.text.parse import parse
from netsim.text.roots import within
from netsim.text.syntax import Count, Expr


def counts_and_values(source: str | Path, pairs: Sequence[str]) -> tuple[dict[str, int], dict[str, Expr]]:
    """Names that are top-level counts of a netlist (a file or a text), with their numbers, and all others, with their
    values.

    Raises `InputError` for pairs that do not have the form name=value (E237) and for counts that are no whole numbers
    (E208)."""
    values = _values(pairs)
    counts = {name: integer(values[name], Frame("")) for name in _counts(source) & set(values)}
    return counts, {name: value for name, value in values.items() if name not in counts}


def _values(pairs: Sequence[str]) -> dict[str, Expr]:
    problems: list[Problem] = []
    found: dict[str, Expr] = {}
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        try:
            if not equals or not name or not value:
                raise InputError(Problem("E237", f"'-p {pair}' does not have the form name=value"))
            found[name] = parse_expression(value, f"-p {name}")
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError(problems)
    return found


def _counts(source: str | Path) -> set[str]:
    """The top-level counts of a netlist and of what it includes; no file, no counts (loading it will complain)."""
    if isinstance(source, Path) and not source.is_file():
        return set()
    program = parse(source, "<text>") if isinstance(source, str) else read_program(source)
    with within(own_roots("<text>" if isinstance(source, str) else source)):
        return {s.name for s in included(program) if isinstance(s, Count)}


def value_of(values: Values, name: str) -> Typed:
    """The present value of a parameter or let by its full dotted name, with its dimension."""
    network, (head, _, last) = values.network, name.rpartition(".")
    if head in network.instance_numbers:
        return values.parameters(network.instances[network.instance_numbers[head]])[last]
    frames = (network.top, *(i.frame for i in network.instances))
    frame = next(f for f in frames if name.startswith(f.prefix) and name[len(f.prefix) :] in f.definitions)
    return values.defined(name, frame.definitions[name[len(frame.prefix) :]])


def written_starts(network: Network) -> Mapping[str, Beginning]:
    """The written starts by the names that may be varied: `m1.x.start`. Found once."""
    kept = vars(network)
    if "starts" not in kept:
        kept["starts"] = {f"{b.path}.start": b for b in network.beginnings if b.word == "start"}
    return kept["starts"]  # type: ignore[no-any-return]


def _names(network: Network) -> dict[str, None]:
    """Everything that may be varied, found once."""
    kept = vars(network)
    if "varied" not in kept:
        kept["varied"] = dict.fromkeys([*parameter_names(network), *written_starts(network)])
    return kept["varied"]  # type: ignore[no-any-return]


def refuse_unknown(network: Network, name: str, span: Span | None) -> None:
    """Raises `InputError` (E236) for a name that is neither a parameter nor a written start."""
    known = _names(network)
    if name not in known:
        hint = nearest(name, known) or "`netsim show` lists parameters"
        raise InputError(Problem("E236", f"no parameter or written start is called '{name}'", span, hint=hint))
