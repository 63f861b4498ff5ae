"""`netsim run`, `netsim inverse`, `netsim optimize` and `netsim sweep`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from netsim.commands.interruption import interrupted_status, interruptible_report, is_interrupted, note_files
from netsim.commands.messages import FAILED, FINE, complain, say
from netsim.text.collecting import collection_resumed
from netsim.text.errors import InputError, NetsimError, Problem

if TYPE_CHECKING:
    from netsim.api import Model
    from netsim.network.network import Network
    from netsim.results.partial.recording import Recording
    from netsim.results.samples import Samples
    from netsim.text.syntax import Expr, Run

STDIN = "-"
SHORT = ("stop", "step", "max_step", "method", "rtol", "atol", "verify")
"""Options of runs over time that have an option of the same name here."""
PICTURE_WORDS = ("png", "svg")


def load_network(file: Path, values: Sequence[str]) -> "tuple[Network, dict[str, Expr]]":
    """The network with `-p name=value` applied: a name that is a top-level count shapes it, the others are parameters,
    handed back with their values."""
    from netsim.network.reading import read_network

    source = f"{sys.stdin.read()}\n" if str(file) == STDIN else file
    if not values:
        return read_network(source), {}
    from netsim.network.given import counts_and_values

    counts, overrides = counts_and_values(source, values)
    return read_network(source, counts), overrides


def load_model(file: Path, values: Sequence[str]) -> "Model":
    """The model of the network with `-p name=value` applied."""
    from netsim.api import Model

    return Model(*load_network(file, values))


def run_command(
    chosen: argparse.Namespace, lines_of: "Callable[[Sequence[Run]], Sequence[Run]]" = lambda runs: runs
) -> int:
    """`netsim run`: everything that can be refused is refused before the time loop. `lines_of`: the run lines that take
    the place of the netlist's."""
    from netsim.analyses.analysis import with_options
    from netsim.api import ANALYSES
    from netsim.library.files import find_netlist
    from netsim.results.files import check_target

    file = find_netlist(chosen.file)
    name = "stdin" if chosen.file == STDIN else file.stem or "netlist"
    target = check_target(Path(chosen.output) if chosen.output else Path("results") / f"{name}.csv")
    model = load_model(file, chosen.values)
    complain([] if chosen.quiet else model.network.notes)
    lines = with_options(lines_of(model.network.runs), _given(chosen), ANALYSES)
    model = replace(model, network=replace(model.network, runs=lines))
    picture = _picture(chosen.plot, target, draws=chosen.output is None and bool(model.network.plots))
    beside = list[Any]()
    if chosen.animate:
        from netsim.output.scenes import moving_signals

        beside = moving_signals(model)
    with _recording(chosen, target, whole=bool(beside) or picture is not None) as recording:
        return _carried_out(chosen, model, beside, recording, target, picture)


def _carried_out(
    chosen: argparse.Namespace, model: "Model", beside: list[Any], recording: "Recording", target: Path,
    picture: Path | None,
) -> int:  # fmt: skip
    """Run, write, draw and tell; the exit status."""
    from netsim.output.summary import summary, summary_json
    from netsim.results.files import write
    from netsim.results.progress import progress_on

    shows = nullcontext() if chosen.quiet else progress_on(sys.stderr)
    with collection_resumed(), _cluster(chosen) as client, shows as progress:
        runs = model.samples({}, interruptible_report(progress), beside, recording, client)
    note_files()
    try:
        files = write(runs, target)
    except NetsimError as full:
        complain(full.problems)
        _verdict(runs, written=False)
        if recording.kept:
            _say_kept(recording)
        return full.exit_status
    except KeyboardInterrupt:
        if recording.kept:
            _say_kept(recording)
        raise
    kept = _ended_from_outside(runs[-1]) and recording.kept
    if not kept:
        recording.finish()
    if chosen.animate:
        from netsim.output.mode_shapes import page_of_run

        files.append(page_of_run(model, runs[-1], Path(chosen.animate)))
    files += _draw(model, runs, picture) if picture else []
    if not chosen.quiet:
        print((summary_json if chosen.json else summary)(model, runs, files), end="")
    status = _verdict(runs)
    if kept:
        _say_kept(recording)
    return status


def _cluster(chosen: argparse.Namespace) -> AbstractContextManager[Any]:
    """The client of the cluster that is to compute, or None."""
    if getattr(chosen, "on", None) is None:
        return nullcontext()
    from netsim.analyses.many.cluster.connection import connected

    return connected(chosen.on)


def _recording(chosen: argparse.Namespace, target: Path, whole: bool) -> "Recording":
    """Where long runs write themselves down; says what lies there from before, if it is not gone on from."""
    from netsim.results.partial.recording import Recording, part_of

    folder, resume = part_of(target), getattr(chosen, "resume", False)
    if not resume and not chosen.quiet and any(folder.glob("*.state")):
        say(f"'{folder}' is of a run that did not end: --resume goes on from it, this run begins anew and replaces it")
    if (seconds := getattr(chosen, "checkpoint", None)) is None:
        return Recording(folder, resume, whole, is_interrupted)
    return Recording(folder, resume, whole, is_interrupted, seconds, seconds)


def inverse_command(chosen: argparse.Namespace) -> int:
    """`netsim inverse`: as `run`, with the run line that the options make."""
    from netsim.text.parse import parse

    parts = [f"track = [{', '.join(chosen.track)}]", f"actuators = [{chosen.actuators}]"]
    parts += [f"passes = {chosen.passes}"] if chosen.passes else []
    parts += [f"weights = [{chosen.weights}]"] if chosen.weights else []
    (line,) = parse(f"run inverse({', '.join(parts)})", "<options>").statements
    return run_command(chosen, lambda runs: (cast("Run", line),))


def optimize_command(chosen: argparse.Namespace) -> int:
    """`netsim optimize`: as `run`, with the run line that the options make."""
    from netsim.text.parse import parse

    given = {name: getattr(chosen, name) for name in ("minimize", "maximize", "intervals")}
    lists = {name: getattr(chosen, name) for name in ("inputs", "parameters", "limits", "begin", "end")}
    parts = [f"{name} = {text}" for name, text in given.items() if text]
    parts += [f"{name} = [{text}]" for name, text in lists.items() if text]
    (line,) = parse(f"run optimize({', '.join(parts)})", "<options>").statements
    return run_command(chosen, lambda runs: (cast("Run", line),))


def sweep_command(chosen: argparse.Namespace) -> int:
    """`netsim sweep`: as `run`, with the netlist's first sweep line, or its first transient line under many values."""
    from netsim.text.parse import parse

    parts = [f"{n} = {getattr(chosen, n)}" for n in ("sampling", "points", "cases", "seed", "workers", "lanes")]
    parts = [part for part in parts if not part.endswith(" = None")]
    parts += [f"of = [{chosen.of}]"] if chosen.of else []
    if len(chosen.over) == 1 and "=" not in chosen.over[0]:
        parts.append(f'over = "{chosen.over[0]}"')
    elif chosen.over:
        parts.append(f"over = [{', '.join(chosen.over)}]")
    line = cast("Run", parse(f"run sweep({', '.join(parts)})", "<options>").statements[0])
    named = {each.name for each in line.options}

    def lines(runs: "Sequence[Run]") -> "Sequence[Run]":
        base = next((r for word in ("sweep", "transient") for r in runs if r.analysis == word), None)
        kept = tuple(each for each in base.options if each.name not in named) if base else ()
        return (replace(base or line, analysis="sweep", options=(*kept, *line.options)),)

    return run_command(chosen, lines)


def _ended_from_outside(last: "Samples") -> bool:
    """Whether the run was interrupted or had no room: one that failed would only fail again."""
    from netsim.results.partial.recording import DISK

    failure = last.attributes.get("failure")
    return not last.finished and (failure is None or failure.code == DISK)


def _say_kept(recording: "Recording") -> None:
    say(f"the same command with --resume goes on from '{recording.folder}'")


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
    from netsim.results.plots import check_picture

    suffix = (wanted or "png").lower()
    picture = target.with_suffix(f".{suffix}") if suffix in PICTURE_WORDS else Path(wanted or "")
    check_picture(picture)
    return picture


def _draw(model: "Model", runs: "list[Samples]", picture: Path) -> list[Path]:
    from netsim.results.plots import plot, study_in

    lines = () if study_in(runs) else model.network.plots
    shown = any(r.axis in ("time", "frequency", "case", "point") for r in runs)
    return [plot(runs, lines, picture, model.values.scope(model.network.top))] if shown else []


def _verdict(runs: "Sequence[Samples]", written: bool = True) -> int:
    """The exit status: fine, failed (a run, or a case of a sweep) or interrupted; prints warnings, broken assertions
    and the failure of the last run."""
    last = runs[-1]
    complain([problem for run in runs for problem in (*run.warnings, *run.broken)])
    if last.finished:
        return FAILED if any(run.broken or run.attributes.get("failures") for run in runs) else FINE
    failure = last.attributes.get("failure")
    if failure is not None:
        complain([failure])
    if written:
        what = "the cases that are done" if last.axis == "case" else "the samples up to this time"
        say(("" if failure else f"{last.message}: ") + f"the result files contain {what}")
    return FAILED if failure else interrupted_status()
