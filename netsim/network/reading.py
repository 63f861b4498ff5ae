"""A source -> a network: a netlist, its text, or a file of another format."""

from collections.abc import Mapping
from math import isfinite
from os import PathLike
from pathlib import Path

from netsim.library.files import find_netlist, library_types, shipped_models
from netsim.library.formats import format_of
from netsim.library.places import roots_of
from netsim.network.expansion import build_network
from netsim.network.network import Network
from netsim.text.errors import SAVE_IT, InputError, Problem, nearest, show_lines_of
from netsim.text.expressions.from_python import mapping_given, plain_number, refused
from netsim.text.kept.parsed_texts import parsed_text
from netsim.text.roots import within
from netsim.text.show import show


def read_network(source: str | Path, counts: Mapping[str, int] | None = None) -> Network:
    """The network of a file or a shipped model, or of the text of a netlist (anything with a line break). Raises
    `InputError` with every mistake in it (E100 where a file cannot be read)."""
    if not isinstance(source, str | PathLike):
        raise refused("source", "the name of a file or the text of a netlist", source)
    given = _counts(counts)
    text = source if isinstance(source, str) and "\n" in source else None
    path = find_netlist(str(source)) if text is None else Path("<text>")
    try:
        with within(roots_of(str(path))):
            if text is None:
                network = _network_of(path, given)
            else:
                from netsim.text.parse import parse

                network = build_network(parse(text, "<text>"), given, text)
    except RecursionError:
        message = "something in this text, or in what it includes, is nested too deeply to be read"
        raise InputError(Problem("E261", message)) from None
    _check_known(given, network)
    return network


def _counts(given: Mapping[str, int] | None) -> dict[str, int]:
    """Whole numbers by name; raises `InputError` (E237) for anything else."""
    if given is None:
        return {}
    found = dict[str, int]()
    for name, value in mapping_given("counts", given, "{'n': 3}").items():
        number = plain_number(value)
        if number is None or not isfinite(number) or number != int(number):
            raise refused(name, "a whole number", value)
        found[name] = int(number)
    return found


def _check_known(given: Mapping[str, int], network: Network) -> None:
    """Raises `InputError` (E236) for counts that the network does not have."""
    if given:
        frames = (network.top, *(instance.frame for instance in network.instances))
        known = {frame.prefix + name for frame in frames for name in frame.integers}
        problems = [
            Problem("E236", f"no count is called '{name}'", hint=nearest(name, known))
            for name in given
            if name not in known
        ]
        if problems:
            raise InputError(problems)


def _network_of(path: Path, counts: Mapping[str, int] | None) -> Network:
    found = format_of(path)
    text = "" if found and found.program and path.is_file() else _text_of(path)
    show_lines_of(str(path))
    if found and found.program:
        program = found.program(path, True, library_types)
        return build_network(program, counts, show(program))
    return build_network(parsed_text(text, str(path)), counts, text)


def _text_of(path: Path) -> str:
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise InputError(Problem("E100", f"'{path}' cannot be read: it is a pipe or a device"))
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        beside = [p.name for p in path.parent.glob("*.net")] if path.parent.is_dir() else []
        near = nearest(path.name, beside) or nearest(path.with_suffix("").as_posix(), shipped_models())
        raise InputError(Problem("E100", f"there is no file '{path}'", hint=near)) from None
    except (OSError, ValueError) as wrong:
        hint = SAVE_IT if isinstance(wrong, UnicodeDecodeError) else ""
        raise InputError(Problem("E100", f"'{path}' cannot be read: {_reason(wrong)}", hint=hint)) from None


def _reason(wrong: OSError | ValueError) -> str:
    if isinstance(wrong, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return str(wrong.strerror) if isinstance(wrong, OSError) else "no file can have this name"
