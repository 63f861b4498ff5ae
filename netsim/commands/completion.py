"""`netsim complete`: the words that may stand at the end of a command line, for shells to choose from."""

import argparse
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from netsim.text.errors import NetsimError


def candidates(parser: argparse.ArgumentParser, words: Sequence[str]) -> list[str]:
    """What can stand in place of the last word (which may be empty); nothing where only files can."""
    commands = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    *before, word = words or [""]
    if not before:
        found: Iterable[str] = [*commands.choices, *_options(parser)] if word.startswith("-") else _named(commands)
    elif before[0] not in commands.choices:
        found = []
    else:
        found = _of_command(commands.choices[before[0]], before[1:], word)
    return sorted(each for each in found if each.startswith(word))


def _named(commands: argparse._SubParsersAction) -> list[str]:
    """The commands that `--help` names."""
    return [action.dest for action in commands._choices_actions]


def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [option for action in parser._actions for option in action.option_strings]


def _of_command(parser: argparse.ArgumentParser, before: Sequence[str], word: str) -> Iterable[str]:
    last = before[-1] if before else ""
    taking = next((a for a in parser._actions if last in a.option_strings and a.nargs != 0), None)
    if taking is None and word.startswith("-"):
        return _options(parser)
    asked = taking or next((a for a in parser._actions if not a.option_strings), None)
    if asked is None:
        return []
    return asked.choices or _values(asked.dest, before)


def _values(what: str, before: Sequence[str]) -> Iterable[str]:
    """The values of an argument, by its name."""
    match what:
        case "file":
            from netsim.library.files import shipped_models

            return shipped_models()
        case "name":
            return _defined()
        case "method":
            from netsim.simulate.methods import METHODS

            return METHODS
        case "values":
            return [f"{name}=" for name in _parameters(before)]
        case "set":
            from netsim.analyses.transient import OPTIONS

            return [f"run.{name}=" for name in OPTIONS]
    return []


def _defined() -> list[str]:
    """Domains and components of all libraries, read from the texts without looking at what they say."""
    from netsim.library.files import library_files, library_names
    from netsim.text.syntax import Use

    definition = re.compile(r"^(?:component|model|domain)\s+(\w+)", re.MULTILINE)
    files = {file for name in library_names() for file in library_files(Use(name, False))}
    return sorted({name for file in files for name in definition.findall(file.read_text(encoding="utf-8"))})


def _parameters(before: Sequence[str]) -> list[str]:
    """The parameters and counts of the netlist that the line names."""
    from netsim.library.files import find_netlist, included, read_program
    from netsim.text.syntax import Count, Param

    for file in (find_netlist(word) for word in before if not word.startswith("-")):
        if file.suffix == ".net" and Path(file).is_file():
            with suppress(NetsimError, OSError):
                return [s.name for s in included(read_program(file)) if isinstance(s, Param | Count)]
    return []
