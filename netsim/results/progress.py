"""How far a run is, on a terminal or in a notebook, with speed and time left, and what it took. In a pipe there is
nothing to see."""

import sys
import time as clock
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TextIO

from netsim.text.expressions.from_python import function_given

Report = Callable[[float, float | str, int], None]
"""(how far, 0 to 1; the time in s, or what is counted; steps, or how many of these)"""
EVERY = 0.2
"""Seconds between two looks at a line in a notebook."""
_present: ContextVar[Report | None] = ContextVar("present", default=None)


def present() -> Report | None:
    """Who is told inside the innermost `watched` or `progress_on`: runs that another run waits for tell it too."""
    return _present.get()


@contextmanager
def _told(report: Report | None) -> Iterator[Report | None]:
    token = _present.set(report)
    try:
        yield report
    finally:
        _present.reset(token)


@dataclass(frozen=True)
class Stopwatch:
    """What an analysis takes, in seconds since it was made: on the wall, and of this thread's CPU time."""

    wall: float = field(default_factory=clock.perf_counter)
    cpu: float = field(default_factory=clock.thread_time)

    @property
    def read(self) -> dict[str, float]:
        """The seconds up to now, as attributes of samples."""
        return {"wall_seconds": clock.perf_counter() - self.wall, "cpu_seconds": clock.thread_time() - self.cpu}


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
            with _told(_reporter(bar, first)) as report:
                yield report
        finally:
            translating.remove(tell)


def _reporter(bar: Any, first: Any) -> Report:
    """Draws into one task per run: a fraction that falls back means that the next run has begun."""
    last: dict[str, Any] = {"fraction": 2.0, "task": first}

    def report(fraction: float, time: float | str, steps: int) -> None:
        if fraction < last["fraction"]:
            bar.remove_task(last["task"])
            last["task"] = bar.add_task("", total=1.0, at="t = 0 s", speed="")
        last["fraction"] = fraction
        elapsed = next(t.elapsed for t in bar.tasks if t.id == last["task"])
        bar.update(
            last["task"],
            completed=fraction,
            at=_at(time),
            speed=_speed(steps / elapsed, time) if elapsed else "",
        )

    return report


@contextmanager
def watched(progress: Report | None) -> Iterator[Report | None]:
    """The callback that was given; in a notebook, where none was, one that shows a line with the time left while the
    block lasts."""
    function_given("progress", progress)
    shell = sys.modules["IPython"].get_ipython() if progress is None and "IPython" in sys.modules else None
    if not hasattr(shell, "kernel"):
        with _told(progress):
            yield progress
        return
    from IPython.display import HTML, display

    def shown(text: str) -> Any:
        return HTML(f"<div style='color: #5b6770'>{text}</div>")

    line = display(shown(""), display_id=True)
    try:
        with _told(_teller(lambda text: line.update(shown(text)))) as report:
            yield report
    finally:
        line.update(HTML(""))


def _teller(show: Callable[[str], None]) -> Report:
    """Shows, now and then, how far a run is and how long it will last."""
    begun = last = clock.monotonic()

    def report(fraction: float, time: float | str, steps: int) -> None:
        nonlocal begun, last
        now = clock.monotonic()
        if steps <= 1 or fraction <= 0.0:
            begun = now  # the next run
        elif now - last > EVERY:
            last, spent = now, now - begun
            left = spent * (1.0 - fraction) / fraction
            speed = f", {_speed(steps / spent, time)}" if spent > 0.0 else ""
            show(f"{fraction:.0%} &middot; {_at(time)}{speed} &middot; {_duration(left)} left")

    return report


def _at(time: float | str) -> str:
    return time if isinstance(time, str) else f"t = {time:.4g} s"


def _speed(speed: float, time: float | str) -> str:
    """Steps in a second, or the last word of what is counted."""
    return f"{speed:,.0f} {time.split()[-1] if isinstance(time, str) else 'steps'}/s"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
