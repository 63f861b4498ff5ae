"""The command line: netsim run | inverse | check | show | plot | new | list.

Exit status: 0 all well, 1 the simulation failed, 2 a mistake in what the user wrote, 130 interrupted. Nothing heavy is
imported before it is needed, so that `netsim --help` answers at once.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

from netsim import __version__
from netsim.text.errors import InputError, NetsimError, Problem, coloured, nearest, render

if TYPE_CHECKING:
    from netsim.api import Model
    from netsim.results.samples import Samples
    from netsim.text.syntax import Plot, Run

FINE, FAILED, MISTAKE, INTERRUPTED = 0, 1, 2, 130
STDIN = "-"
SHORT = ("stop", "step", "max_step", "method", "rtol", "atol")
"""Options of runs over time that have an option of the same name here."""
STAGES = ("syntax", "network", "structure", "kernels", "system", "pattern")
PICTURE_WORDS = ("png", "svg")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; everything that is not the result goes to stderr."""
    try:
        chosen = _parser().parse_args(arguments)
        status = chosen.command(chosen)
        sys.stdout.flush()
        return status
    except NetsimError as error:
        _complain(error.problems)
        return error.exit_status
    except KeyboardInterrupt:
        _say("interrupted: nothing was written")
        return INTERRUPTED
    except BrokenPipeError:  # `netsim list | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except MemoryError:
        _say("out of memory: save fewer signals or only every n-th step (`every = n` in the run line)")
        return FAILED
    except Exception as wrong:
        if os.environ.get("NETSIM_DEBUG") == "1":
            raise
        _say(
            f"internal error: {type(wrong).__name__}: {wrong}\nThis is an error in netsim, not in the netlist: please "
            "report it with the netlist."
        )
        _say("With NETSIM_DEBUG=1 the traceback is shown.")
        return FAILED


# ------------------------------------------------------------------------------------------------- arguments


class _Parser(argparse.ArgumentParser):
    """Says which option was probably meant."""

    def error(self, message: str) -> NoReturn:
        match = re.match(r"unrecognized arguments: (-\S+)", message)
        known = [o for action in self._all_actions() for o in action.option_strings]
        hint = nearest(match[1].partition("=")[0], known) if match else ""
        self.exit(
            MISTAKE, f"{self.format_usage()}{self.prog}: {message}\n" + (f"      = hint: {hint}\n" if hint else "")
        )

    def _all_actions(self) -> list[argparse.Action]:
        below = [p for a in self._actions if isinstance(a, argparse._SubParsersAction) for p in a.choices.values()]
        return [*self._actions, *(action for parser in below for action in parser._actions)]


def _parser() -> _Parser:
    parser = _Parser(prog="netsim", description="Simulate physical systems written as text.", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"netsim {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True, parser_class=_Parser)

    run = _command(commands, "run", run_command, "run a netlist's analyses and write the result")
    _add_file(run)
    _add_output(run)

    inverse = _command(commands, "inverse", inverse_command, "find the inputs that make signals follow motions")
    _add_file(inverse)
    _add_output(inverse)
    inverse.add_argument(
        "--track",
        action="append",
        required=True,
        metavar="SIGNAL=MOTION",
        help="a signal and its motion: 'M.x = 1 mm*bell(time, ...)'",
    )
    inverse.add_argument("--actuators", required=True, metavar="INPUT,...", help="the inputs to be computed: A.F,B.F")
    inverse.add_argument(
        "--passes", metavar="1|2", help="1: one pass; 2: a first pass computes the actuators' coordinates"
    )
    inverse.add_argument(
        "--weights", metavar="W,...", help="weights of the inputs if there are more actuators than motions"
    )

    check = _command(commands, "check", check_command, "check text, units and structure; no time stepping")
    _add_file(check)
    check.add_argument(
        "--start", action="store_true", help="print the start of every state: written, default, computed"
    )
    show = _command(commands, "show", show_command, "print a stage of the pipeline")
    _add_file(show)
    show.add_argument("--stage", choices=STAGES, default="network", help="default: network")
    show.add_argument("-o", "--output", metavar="PNG|SVG", help="draw the network into this file instead")

    plotting = _command(commands, "plot", plot_command, "draw signals of a written result")
    plotting.add_argument("result", metavar="RESULT", help="a .csv or .nc file that netsim wrote")
    plotting.add_argument("signal", nargs="*", metavar="SIGNAL", help="signals or expressions of them; default: all")
    plotting.add_argument("-o", "--output", metavar="PNG|SVG", help="default: the result's name with .png")

    new = _command(commands, "new", new_command, "write a first netlist to begin from")
    new.add_argument("name", metavar="NAME", help="NAME.net is written into this folder")

    listing = _command(commands, "list", list_command, "list domains and components, describe or find some")
    listing.add_argument("name", nargs="*", default=[], metavar="DOMAIN|COMPONENT|WORD")
    listing.add_argument("--markdown", action="store_true", help="the whole component reference as Markdown")
    return parser


def _command(commands: Any, name: str, action: Any, about: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".", allow_abbrev=False)
    parser.set_defaults(command=action)
    return parser


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a netlist; the name of a shipped model works too; -: from stdin")
    parser.add_argument(
        "-p",
        dest="values",
        action="append",
        default=[],
        metavar="name=value",
        help="a parameter or count: -p 'stiffness=3 kN/m' -p n=5",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-o",
        "--output",
        metavar="RESULT",
        help="where to write: .csv or .nc (default: results/NAME.csv, and a picture of the plot lines)",
    )
    parser.add_argument("--stop", metavar="T", help="stop time in s, or with a unit: '50 ms'")
    parser.add_argument("--step", metavar="H", help="time step, as --stop")
    parser.add_argument("--max-step", metavar="H", help="the longest step that the error test may take, as --stop")
    parser.add_argument("--method", metavar="M", help="integration method")
    parser.add_argument("--rtol", metavar="R", help="relative tolerance of the error test")
    parser.add_argument("--atol", metavar="A", help="its absolute part, as a share of nominal sizes")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="run.OPTION=VALUE",
        help="any option of the run lines, or of one by its name: --set run.sample='1 ms' --set fall.forces=recovered",
    )
    talk = parser.add_mutually_exclusive_group()
    talk.add_argument("--quiet", action="store_true", help="no summary, notes and progress; warnings and errors only")
    talk.add_argument("--json", action="store_true", help="the summary as JSON")
    parser.add_argument("--animate", metavar="HTML", help="write a moving picture: one page for any browser")
    parser.add_argument(
        "--plot",
        nargs="?",
        const="png",
        metavar="PNG|SVG",
        help="draw the plot lines: 'png' or 'svg' beside the result, or a path",
    )


# -------------------------------------------------------------------------------------------------- commands


def run_command(chosen: argparse.Namespace, line: Run | None = None) -> int:
    """`netsim run`: everything that can be refused is refused before the time loop."""
    from netsim.analyses.analysis import with_options
    from netsim.api import ANALYSES
    from netsim.library.files import find_netlist
    from netsim.output.summary import summary, summary_json
    from netsim.results.files import check_target, write
    from netsim.results.progress import progress_on

    file = find_netlist(chosen.file)
    name = "stdin" if chosen.file == STDIN else file.stem
    target = check_target(Path(chosen.output) if chosen.output else Path("results") / f"{name}.csv")
    model = load_model(file, chosen.values)
    _complain([] if chosen.quiet else model.network.notes)
    lines = with_options((line,) if line else model.network.runs, _given(chosen), ANALYSES)
    model = replace(model, network=replace(model.network, runs=lines))
    picture = _picture(chosen.plot, target, draws=chosen.output is None and bool(model.network.plots))
    beside = list[Any]()
    if chosen.animate:
        from netsim.output.scenes import moving_signals

        beside = moving_signals(model)
    with nullcontext() if chosen.quiet else progress_on(sys.stderr) as progress:
        runs = model.run({}, progress, beside)
    files = write(runs, target)
    if chosen.animate:
        from netsim.output.mode_shapes import page_of_run

        files.append(page_of_run(model, runs[-1], Path(chosen.animate)))
    files += _draw(model, runs, picture) if picture else []
    if not chosen.quiet:
        print((summary_json if chosen.json else summary)(model, runs, files), end="")
    return _verdict(runs)


def inverse_command(chosen: argparse.Namespace) -> int:
    """`netsim inverse`: as `run`, with the run line that the options make."""
    from netsim.text.parse import parse

    parts = [f"track = [{', '.join(chosen.track)}]", f"actuators = [{chosen.actuators}]"]
    parts += [f"passes = {chosen.passes}"] if chosen.passes else []
    parts += [f"weights = [{chosen.weights}]"] if chosen.weights else []
    (line,) = parse(f"run inverse({', '.join(parts)})", "<options>").statements
    return run_command(chosen, cast("Run", line))


def _given(chosen: argparse.Namespace) -> list[tuple[str, str, str]]:
    """Options of run lines as they are given here: (where, NAME.option, value as text)."""
    short = [(f"--{name.replace('_', '-')}", f"run.{name}", getattr(chosen, name)) for name in SHORT]
    found = [each for each in short if each[2] is not None]
    for text in chosen.set:
        path, _, value = (part.strip() for part in text.partition("="))
        if not value:
            hint = "for example: --set run.rtol=1e-8"
            raise InputError(Problem("E237", f"'--set {text}' does not have the form run.option=value", hint=hint))
        found.append((f"--set {path}", path, value))
    return found


def _picture(wanted: str | None, target: Path, draws: bool) -> Path | None:
    if wanted is None and not draws:
        return None
    from netsim.output.plots import check_picture

    suffix = (wanted or "png").lower()
    picture = target.with_suffix(f".{suffix}") if suffix in PICTURE_WORDS else Path(wanted or "")
    check_picture(picture)
    return picture


def _draw(model: Model, runs: list[Samples], picture: Path) -> list[Path]:
    from netsim.output.plots import plot

    over_time = any(r.axis == "time" for r in runs)
    return [plot(runs, model.network.plots, picture, model.values.scope(model.network.top))] if over_time else []


def _verdict(runs: Sequence[Samples]) -> int:
    """The exit status: fine, failed or interrupted; prints warnings, broken assertions and the failure of the last
    run."""
    last = runs[-1]
    _complain([problem for run in runs for problem in (*run.warnings, *run.broken)])
    if last.finished:
        return FAILED if any(run.broken for run in runs) else FINE
    failure = last.attributes.get("failure")
    if failure is not None:
        _complain([failure])
    _say(("" if failure else f"{last.message}: ") + "the result files contain the samples up to this time")
    return FAILED if failure else INTERRUPTED


def check_command(chosen: argparse.Namespace) -> int:
    """`netsim check`: problems on stderr; one line on stdout where all is well."""
    from netsim.library.files import find_netlist
    from netsim.text.columns import counted

    file = find_netlist(chosen.file)
    model = load_model(file, chosen.values)
    problems = model.check()
    _complain(problems)
    if any(not p.is_note for p in problems):
        return MISTAKE
    sizes = zip(
        (len(model.network.instances), len(model.network.nodes), model.system.n), ("element", "node", "unknown")
    )
    if chosen.start:
        from netsim.output.starts_shown import table

        print(table(model), end="")
    print(f"{file}: fine ({', '.join(counted(*size) for size in sizes)}, index {model.structure.index})")
    return FINE


def show_command(chosen: argparse.Namespace) -> int:
    """`netsim show`."""
    from netsim.library.files import find_netlist
    from netsim.output.show import show_stage

    model = load_model(find_netlist(chosen.file), chosen.values)
    if chosen.output:
        from netsim.output.diagram import draw_network

        if chosen.stage != "network":
            message = f"only the network can be drawn, not the stage '{chosen.stage}'"
            raise InputError(Problem("E423", message, hint="omit --stage, or omit -o"))
        print(f"wrote {draw_network(model, chosen.output)}")
        return FINE
    print(show_stage(model, chosen.stage), end="")
    return FINE


def plot_command(chosen: argparse.Namespace) -> int:
    """`netsim plot`: each signal that is named is a curve of one diagram."""
    from netsim.output.plots import plot
    from netsim.results.files import samples_of
    from netsim.text.parse import parse

    runs = samples_of(chosen.result)
    lines = parse(f"plot {', '.join(chosen.signal)}", "SIGNAL").statements if chosen.signal else ()
    picture = chosen.output or Path(chosen.result).with_suffix(".png")
    print(f"wrote {plot(runs, cast('tuple[Plot, ...]', lines), picture)}")
    return FINE


def new_command(chosen: argparse.Namespace) -> int:
    """`netsim new`: the netlist that the README begins with."""
    from netsim.library.files import models_folder

    path = Path(chosen.name).with_suffix(".net")
    if path.exists():
        raise InputError(Problem("E431", f"'{path}' is there already", hint="choose another name"))
    text = (models_folder() / "two_masses.net").read_text(encoding="utf-8")
    try:
        path.write_text(text.replace("models/two_masses.net", str(path), 1), encoding="utf-8")
    except OSError as wrong:
        raise InputError(Problem("E431", f"'{path}' cannot be written: {wrong.strerror}")) from None
    print(f"wrote {path}: run it with netsim run {path}")
    return FINE


def list_command(chosen: argparse.Namespace) -> int:
    """`netsim list`."""
    from netsim.library.catalogue import describe, markdown, whole_library

    print(markdown(whole_library()) if chosen.markdown else describe(whole_library(), " ".join(chosen.name)), end="")
    return FINE


# --------------------------------------------------------------------------------------------------- netlists


def load_model(file: Path, values: Sequence[str]) -> Model:
    """The model with `-p name=value` applied: a name that is a top-level count shapes the network, the others are
    parameters."""
    from netsim.api import load
    from netsim.network.given import counts_and_values

    source = f"{sys.stdin.read()}\n" if str(file) == STDIN else file
    if not values:
        return load(source)
    counts, overrides = counts_and_values(source, values)
    return load(source, counts).with_overrides(overrides)


# ------------------------------------------------------------------------------------------------------ words


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _complain(problems: Sequence[Problem]) -> None:
    for problem in map(_on_command_line, problems):
        _say(coloured(render(problem)) if sys.stderr.isatty() and "NO_COLOR" not in os.environ else render(problem))


def _on_command_line(problem: Problem) -> Problem:
    """A mistake in an option is shown with the option, not with a line of a file that does not exist."""
    if problem.span is None or not problem.span.file.startswith("-"):
        return problem
    return replace(problem, message=f"{problem.message} (in '{problem.span.file}')", span=None)


if __name__ == "__main__":
    sys.exit(main())
