"""How far a run is, on a terminal: a bar with speed and time left. In a pipe there is nothing to see."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

Report = Callable[[float, float, int], None]


@contextmanager
def progress_on(stream: TextIO) -> Iterator[Report | None]:
    """A callback (fraction, time in s, steps) that draws on a terminal while the block lasts; None where `stream` is no
    terminal."""
    if not stream.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    from netsim.core.compiled.objects import translating

    shown = (
        TextColumn("{task.fields[at]}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*shown, console=Console(file=stream), transient=True) as bar:
        first = bar.add_task("", total=None, at="preparing", speed="")

        def tell(function: str) -> None:
            """Says why nothing seems to happen."""
            if first in bar.task_ids:
                bar.update(first, at="compiling machine code, once on this computer")

        translating.append(tell)
        try:
            yield _reporter(bar, first)
        finally:
            translating.remove(tell)


def _reporter(bar: Any, first: Any) -> Report:
    """Draws into one task per run: a fraction that falls back means that the next run has begun."""
    last: dict[str, Any] = {"fraction": 2.0, "task": first}

    def report(fraction: float, time: float, steps: int) -> None:
        if fraction < last["fraction"]:
            bar.remove_task(last["task"])
            last["task"] = bar.add_task("", total=1.0, at="t = 0 s", speed="")
        last["fraction"] = fraction
        elapsed = next(t.elapsed for t in bar.tasks if t.id == last["task"])
        bar.update(
            last["task"],
            completed=fraction,
            at=f"t = {time:.4g} s",
            speed=f"{steps / elapsed:,.0f} steps/s" if elapsed else "",
        )

    return report
