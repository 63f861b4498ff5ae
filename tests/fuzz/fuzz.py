"""Mutated texts by the thousand: `python tests/fuzz/fuzz.py --seconds 600 --seed 1` prints a tally and keeps texts that went wrong.

Each is checked (a share of them run) in a worker process whose memory is limited; a worker that says nothing for 10 s is
ended and counts as a hang. A text follows from its seed and number alone: `--only 1234` repeats one and prints all of it.
"""

import argparse
import multiprocessing
import os
import resource
import shutil
import sys
import tempfile
import time as clock
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

from texts import Case, case, sources
from trial import HANG, INTERNAL, MEMORY, SUCCEEDED, WRONG, Outcome, tried

from netsim.core.compiled.objects import translating
from netsim.library.files import models_folder

HANGS, ASLEEP, COMPILING, STORAGE, LIFE = 10.0, 120.0, 200.0, 2 * 2**30, 2_000
"""Seconds of work without an answer, and by the clock; also of one that translates the core's functions (once on a computer); bytes of a worker
beyond those it begins with; texts after which it is replaced."""


def work(pipe: Connection, seed: int, share: float, folder: Path) -> None:
    """Answers numbers with outcomes until the pipe ends."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if Path("/proc/self/statm").exists() else 2**30
    resource.setrlimit(resource.RLIMIT_AS, (used + STORAGE, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    translating.append(lambda function: pipe.send(COMPILING))
    while True:
        try:
            number = pipe.recv()
        except EOFError:
            return
        pipe.send(tried(case(seed, number, share), folder))


class Worker:
    """A process that tries texts, replaced where it hangs or dies."""

    def __init__(self, seed: int, share: float, folder: Path):
        self.given = seed, share, folder
        self.process: multiprocessing.process.BaseProcess | None = None

    def ask(self, number: int) -> Outcome:
        if self.process is None:
            self._begin()
        self.pipe.send(number)
        self.asked += 1
        try:
            outcome = self._answer(HANGS)
        except (EOFError, ConnectionResetError):
            self.process.join()
            code = self.process.exitcode
            outcome = Outcome(MEMORY) if code == -9 else Outcome(INTERNAL, f"the process ended with {code}")
        if outcome.result in (HANG, MEMORY) or not self.process.is_alive() or self.asked == LIFE:
            self.end()
        return outcome

    def _answer(self, patience: float) -> Outcome:
        """What the worker says: a hang where it worked longer, or does nothing (others may use the processor)."""
        began, until = self._worked(), clock.perf_counter() + max(ASLEEP, patience)
        while not self.pipe.poll(0.5):
            if self._worked() - began > patience or clock.perf_counter() > until:
                return Outcome(HANG)
        answer = self.pipe.recv()
        return self._answer(answer) if isinstance(answer, float) else answer

    def _worked(self) -> float:
        """CPU time (s) of the worker."""
        times = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")

    def _begin(self) -> None:
        fork = multiprocessing.get_context("fork")
        self.pipe, theirs = fork.Pipe()
        self.process = fork.Process(target=work, args=(theirs, *self.given), daemon=True)
        self.process.start()
        theirs.close()
        self.asked = 0

    def end(self) -> None:
        if self.process is not None:
            self.pipe.close()
            self.process.kill()
            self.process.join()
            self.process = None


def copied(folder: Path) -> Path:
    """The models in a folder of their own, where mutants may stand beside what they include."""
    shutil.copytree(models_folder(), folder / "models", dirs_exist_ok=True)
    for path in sources()[:3]:
        tried(
            Case(0, path.relative_to(models_folder().parent), path.read_text(encoding="utf-8"), False), folder
        )  # what every text needs is loaded before workers are made
    return folder


def outcomes(seed: int, first: int, seconds: float, most: int, share: float) -> Iterator[tuple[int, bool, Outcome]]:
    """Outcomes of the texts from number `first` on, until the seconds are over or `most` were tried."""
    with tempfile.TemporaryDirectory() as name:
        worker = Worker(seed, share, copied(Path(name)))
        until = clock.perf_counter() + seconds
        try:
            for number in range(first, first + most):
                if clock.perf_counter() > until:
                    return
                yield number, case(seed, number, share).runs, worker.ask(number)
        finally:
            worker.end()


def tally(found: Counter[tuple[str, str]]) -> str:
    """How often each outcome was met, by checks and runs."""
    results = sorted({result for _, result in found} | set(WRONG), key=lambda r: (r in WRONG, r))
    rows = [f"{'':24s} {'checks':>8s} {'runs':>8s}"]
    rows += [f"{result:24s} {found['check', result]:8d} {found['run', result]:8d}" for result in results]
    sums = [sum(count for (kind, _), count in found.items() if kind == which) for which in ("check", "run")]
    return "\n".join([*rows, f"{'all':24s} {sums[0]:8d} {sums[1]:8d}"])


def main() -> int:
    """The command; its exit status is 1 where anything went wrong."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=600.0)
    options.add_argument("--most", type=int, default=sys.maxsize, help="texts that are tried at most")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--first", type=int, default=0, help="the number of the first text")
    options.add_argument("--share", type=float, default=0.06, help="the share of texts that are run")
    options.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="where texts that went wrong are kept")
    options.add_argument("--only", type=int, help="one text, printed with what it came to")
    chosen = options.parse_args()
    if chosen.only is not None:
        one = case(chosen.seed, chosen.only, chosen.share)
        print(one.origin, one.text, sep="\n")
        with tempfile.TemporaryDirectory() as name:
            outcome = tried(one, copied(Path(name)))
        print(outcome.result, outcome.kind, outcome.words, sep="\n")
        return int(outcome.result in WRONG)
    found: Counter[tuple[str, str]] = Counter()
    kinds: Counter[tuple[str, str]] = Counter()
    for number, ran, outcome in outcomes(chosen.seed, chosen.first, chosen.seconds, chosen.most, chosen.share):
        found["run" if ran else "check", outcome.result] += 1
        if outcome.result in WRONG:
            kinds[outcome.result, outcome.kind] += 1
            if kinds[outcome.result, outcome.kind] <= 3:
                chosen.keep.mkdir(parents=True, exist_ok=True)
                kept = case(chosen.seed, number, chosen.share)
                content = kept.result or kept.text.encode(errors="surrogatepass")
                (chosen.keep / f"{chosen.seed}_{number}{kept.origin.suffix}").write_bytes(content)
                (chosen.keep / f"{chosen.seed}_{number}.txt").write_text(f"{kept.origin}\n{outcome.result}\n{outcome.kind}\n{outcome.words}\n")
                print(f"{number}: {outcome.result} ({kept.origin.name}) {outcome.kind}", flush=True)
    print(f"seed {chosen.seed}, texts from {chosen.first}")
    print(tally(found))
    for (result, kind), count in kinds.most_common():
        print(f"{count:6d} {result}: {kind}")
    return int(any(result in WRONG for _, result in found))


if __name__ == "__main__":
    assert SUCCEEDED not in WRONG
    sys.exit(main())
