"""The command line: netsim run | inverse | optimize | sweep | check | show | plot | new | list | info | completion.

Exit status: 0 all well, 1 the simulation failed, 2 a mistake in what the user wrote, 130 interrupted (Ctrl-C),
143 ended (SIGTERM). Nothing heavy is
imported before it is needed, so that `netsim --help` answers at once.
"""

import argparse
import gc
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from netsim import __version__
from netsim.commands.analysis_commands import inverse_command, optimize_command, run_command, sweep_command
from netsim.commands.completion import candidates
from netsim.commands.creation import SHELLS, completion_command, new_command, plot_command
from netsim.commands.inspection import STAGES, check_command, info_command, list_command, show_command
from netsim.commands.interruption import interrupted_status, interruptible, interruption, is_interrupted
from netsim.commands.messages import FAILED, FINE, MISTAKE, complain, say
from netsim.text.collecting import collection_paused
from netsim.text.errors import NetsimError, nearest
from netsim.text.limits import LIMITS, limits, raised_limits
from netsim.text.roots import allow


def command() -> int:
    """The program `netsim`: a process that ends with its command collects no garbage at its end either."""
    gc.disable()
    return main()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status; everything that is not the result goes to stderr."""
    try:
        with collection_paused():
            chosen = _parser().parse_args(arguments)
        given = limits(**raised_limits(getattr(chosen, "limit", []))), allow(*getattr(chosen, "allow", []))
        with interruptible(), collection_paused(), given[0], given[1]:
            status = chosen.command(chosen)
        sys.stdout.flush()
        if status == FINE and is_interrupted():  # swallowed on the way
            say(interruption())
            return interrupted_status()
        return status
    except NetsimError as error:
        complain(error.problems)
        return error.exit_status
    except KeyboardInterrupt:
        say(interruption())
        return interrupted_status()
    except BrokenPipeError:  # `netsim list | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FINE
    except MemoryError:
        say("out of memory: save fewer signals or only every n-th step (`every = n` in the run line)")
        return FAILED
    except Exception as wrong:
        if is_interrupted():
            say(interruption())
            return interrupted_status()
        if os.environ.get("NETSIM_DEBUG") == "1":
            raise
        say(
            f"internal error: {type(wrong).__name__}: {wrong}\nThis is an error in netsim, not in the netlist: please "
            "report it with the netlist."
        )
        say("With NETSIM_DEBUG=1 the traceback is shown.")
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
    _add_resuming(run)

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

    optimize = _command(commands, "optimize", optimize_command, "find inputs that make an objective least")
    _add_file(optimize)
    _add_output(optimize)
    for name, metavar, text in (
        ("minimize", "EXPR", "such as 'integral(A.F^2)', 'stop', 'final(tank.m)'"),
        ("maximize", "EXPR", "what is made largest"),
        ("inputs", "INPUT,...", "the free inputs: A.F,B.F"),
        ("parameters", "RANGE,...", "free parameters: 'c1.c = 10 .. 200 N/m'"),
        ("limits", "CONDITION,...", "what holds at all times: 'abs(A.F) <= 8 N'"),
        ("begin", "CONDITION,...", "what holds at the begin: rest, 'a.x == 0 m'"),
        ("end", "CONDITION,...", "what holds at the end: rest, begin, 'a.x == 1 m'"),
        ("intervals", "N", "intervals of the first mesh (20)"),
    ):
        optimize.add_argument(f"--{name}", metavar=metavar, help=text)

    sweep = _command(commands, "sweep", sweep_command, "run a netlist under many values of parameters and starts")
    _add_file(sweep)
    _add_output(sweep)
    sweep.add_argument(
        "--over",
        action="append",
        default=[],
        metavar="NAME=VALUES",
        help="'r1.R = 1 .. 10 kOhm', '[1 kOhm, 2 kOhm]', '1 kOhm +- 5 %%', 'normal(1 kOhm, 50 Ohm)'; or a CSV file",
    )
    for name, metavar, text in (
        ("of", "SIGNAL,...", "signals and measures that are kept (the measures and saved signals)"),
        ("sampling", "HOW", "grid, random, latin, sobol, saltelli or corners"),
        ("points", "N", "values of each range in a grid (11)"),
        ("cases", "N", "how many random, latin or sobol cases (100)"),
        ("seed", "N", "of random cases (0)"),
        ("workers", "N", "processes side by side (one for each processor)"),
        ("lanes", "N", "cases side by side in one run, in equal steps (1)"),
        ("on", "dask://HOST:PORT", "the scheduler of a dask cluster that computes the cases"),
    ):
        sweep.add_argument(f"--{name}", metavar=metavar, help=text)
    _add_resuming(sweep)

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
    listing.add_argument("--use", action="append", default=[], metavar="FILE", help="a library of your own, too")

    _command(commands, "info", info_command, "print versions, machine code, caches and folders of libraries")
    shells = _command(commands, "completion", completion_command, "print what makes a shell complete words")
    shells.add_argument("shell", metavar="SHELL", choices=tuple(SHELLS), help=", ".join(SHELLS))
    complete = commands.add_parser("complete")  # asked by shells: it stands in no help
    complete.add_argument("words", nargs="*")
    complete.set_defaults(command=complete_command)
    return parser


def _command(commands: Any, name: str, action: Any, about: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=about, description=about[0].upper() + about[1:] + ".", allow_abbrev=False)
    parser.set_defaults(command=action)
    return parser


def _seconds(text: str) -> float:
    """A number of seconds above zero; raises `argparse.ArgumentTypeError`."""
    try:
        if 0.0 < (found := float(text)) < float("inf"):
            return found
    except ValueError:
        pass
    raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds, such as 60")


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a netlist; the name of a shipped model works too; -: from stdin")
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help=f"raise a bound on what is built: {', '.join(LIMITS)}",
    )
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="DIR",
        help="a folder outside of the netlist's own whose files the netlist may read, with all below",
    )
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
        "--verify", action="store_const", const="yes", help="run again with a tenth of rtol, and compare"
    )
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


def _add_resuming(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on from where a run with the same options was killed or interrupted (see RESULT.part)",
    )
    parser.add_argument(
        "--checkpoint", metavar="SECONDS", type=_seconds, help="how often a long run is written to RESULT.part (3)"
    )


def complete_command(chosen: argparse.Namespace) -> int:
    """`netsim complete -- WORD ...`: the candidates for the last word, one a line."""
    print("".join(f"{each}\n" for each in candidates(_parser(), chosen.words)), end="")
    return FINE


if __name__ == "__main__":
    sys.exit(command())
