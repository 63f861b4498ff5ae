"""`netsim plot`, `new` and `completion`: what is written without a run."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, cast

from netsim.commands.interruption import note_files
from netsim.commands.messages import FINE, say
from netsim.text.errors import InputError, Problem

if TYPE_CHECKING:
    from netsim.text.syntax import Plot

SHELLS = {
    "bash": """_netsim() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    [[ $word == "${COMP_WORDS[COMP_CWORD]}"* ]] && COMPREPLY+=("$word")
  done < <(netsim complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _netsim netsim
""",
    "zsh": """#compdef netsim
_netsim() {
  local -a found
  found=("${(@f)$(netsim complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -- "${(@)found:#*=}"
  compadd -S '' -- "${(@M)found:#*=}"
  _files
}
compdef _netsim netsim
""",
    "fish": """complete -c netsim -a '(netsim complete -- (commandline -opc)[2..-1] (commandline -ct))'
""",
}
"""What a shell reads once; it asks `netsim complete` for words, and adds files itself."""


def plot_command(chosen: argparse.Namespace) -> int:
    """`netsim plot`: each signal that is named is a curve of one diagram."""
    from netsim.results.files import samples_of
    from netsim.results.plots import plot
    from netsim.text.parse import parse

    note_files()
    runs = samples_of(chosen.result)
    for each in (run for run in runs if not run.finished):
        say(f"'{chosen.result}' is a partial result: {each.message or 'its run did not finish'}")
    lines = parse(f"plot {', '.join(chosen.signal)}", "SIGNAL").statements if chosen.signal else ()
    picture = chosen.output or Path(chosen.result).with_suffix(".png")
    print(f"wrote {plot(runs, cast('tuple[Plot, ...]', lines), picture)}")
    return FINE


def new_command(chosen: argparse.Namespace) -> int:
    """`netsim new`: the netlist that the README begins with."""
    from netsim.library.files import models_folder
    from netsim.results.files import write_atomically

    if not Path(chosen.name).name:
        raise InputError(Problem("E431", f"'{chosen.name}' is no name of a file", hint="netsim new first.net"))
    path = Path(chosen.name).with_suffix(".net")
    if path.exists():
        raise InputError(Problem("E431", f"'{path}' is there already", hint="choose another name"))
    text = (models_folder() / "two_masses.net").read_text(encoding="utf-8")
    text = text.replace("models/two_masses.net", str(path), 1)
    write_atomically(path, lambda place: place.write_text(text, encoding="utf-8"))
    print(f"wrote {path}: run it with netsim run {path}")
    return FINE


def completion_command(chosen: argparse.Namespace) -> int:
    """`netsim completion SHELL`."""
    print(SHELLS[chosen.shell], end="")
    return FINE
