"""Circuits nobody here wrote: the files of ngspice's own examples and tests, read by netsim and compared with ngspice.

    apt-get source ngspice        # Debian's source package has examples/ and tests/
    python benchmarks/ngspice_files.py ngspice-39.3/examples ngspice-39.3/tests

    python benchmarks/ngspice_files.py --page LISTING docs/spice_files.md    # what it printed, as a page

A file counts if it asks for a transient analysis, a sweep, a response or an operating point (in the deck, or plainly in
its script; the first of these kinds is compared). Both programs work in a folder beside it. Signals are those of all
nodes of the circuit; the error is the rms difference over the range of the signal, or over a thousandth of the largest
range where that is more. A jump counts within one step of ngspice. A transient run that differs is compared once more
with ten times shorter steps of ngspice, and one with TXL lines with LTRA in place of them, whose convolution is not cut
short; the page says so. If it differs still, both programs are compared with themselves at a higher accuracy: where
ngspice differs from itself by more than `LEVEL` and by half of what it differs from netsim, it gives no reference. Nor
does it where netsim stays at the operating point and ngspice, whose operating point is the same, begins elsewhere.
Files of families of models that are not in the library (BSIM, HICUM, VBIC ...) are listed with that reason.
"""

import json
import re
import subprocess
import sys
import time as clock
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from ngspice_decks import SECONDS, Deck, Waves, beside, deck, family, in_ltra, netsim_run, ngspice, pairs

SUFFIXES = (".cir", ".sp", ".spice", ".ckt", ".net")
LEVEL = 1e-3
TIGHTER = 100.0
"""The share of netsim's tolerance with which it is compared with itself."""
_ABSENT = re.compile(
    r"level \d+ .*is not known|it is a Verilog|code model \w+ is not|trnoise|trrandom|temperature are not|"
    r"cannot read '|nhfet"
)
"""What makes a file one of another kind: a family of models, a digital code model, noise, a file that is not there."""
_ELEMENT = re.compile(r"\s*([a-z]|\.inc|\.lib)", re.IGNORECASE)
_RANDOM = re.compile(r"\b(a?gauss|a?unif)\s*\(", re.IGNORECASE)
_FOREIGN = re.compile(r"cider|adms|osdi|bsim|hisim|hicum|/digital|tclspice")


def _number(text: str) -> float:
    from netsim.formats.spice.numbers import value_of

    value = value_of(text)
    if value is None:
        raise ValueError(f"a sweep from '{text}'")
    return value


def _errors(theirs: Waves, ours: Waves, kind: str) -> dict[str, float]:
    """The error of every node. Raises `ValueError` where nothing can be compared."""
    return _differences(theirs[0], ours[0], pairs(theirs, ours), kind)


def _differences(
    t: np.ndarray, s: np.ndarray, both: dict[str, tuple[np.ndarray, np.ndarray]], kind: str
) -> dict[str, float]:
    """The rms difference of two courses over the range of the first one, by node."""
    first, second = next(iter(both.values()))
    if kind != "tran" and len(first) != len(second):
        raise ValueError(f"{len(second)} points, ngspice has {len(first)}")
    sizes = {n: float(np.ptp(a)) if kind == "tran" else float(np.abs(a).max()) for n, (a, _) in both.items()}
    found = {}
    for node, (a, b) in both.items():
        size = max(sizes[node], 1e-3 * max(sizes.values()), 1e-9)
        gaps = np.abs(b - a) if kind != "tran" else _gaps(t, a, s, b, JUMP * size)
        found[node] = float(np.sqrt(np.mean(gaps**2))) / size
    return found


USUAL = 100.0
"""So many times larger is the tolerance that ngspice has of its own."""
JUMP = 0.1
"""A change of a signal in one step of ngspice, over its range, beyond which it is a jump within that step."""


def _gaps(t: np.ndarray, a: np.ndarray, s: np.ndarray, b: np.ndarray, jump: float) -> np.ndarray:
    """The distances of b at the instants s from ngspice's a at t; within a step of one in which a jumps from all values
    about it: ngspice knows a jump to one step."""
    _, first = np.unique(t, return_index=True)
    t, a = t[first], a[first]
    at = np.clip(np.searchsorted(t, s, side="right") - 1, 0, max(len(t) - 2, 0))
    gaps = np.abs(b - np.interp(s, t, a))
    about = a[np.clip(at[:, None] + np.arange(-1, 3), 0, len(a) - 1)]
    jumps = np.abs(np.diff(about, axis=1)).max(axis=1) > jump
    outside = np.maximum(np.maximum(about.min(axis=1) - b, b - about.max(axis=1)), 0.0)
    return np.where(jumps, outside, gaps)


def _transients(found: Deck, words: list[str], tail: str) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """What ngspice is asked for, and what is said of it: steps of a 2000th of the run at most, of a 20000th, and LTRA
    in place of TXL."""
    stop, least = _number(words[1]), _number(words[3]) if len(words) > 3 and words[3].lower() != "uic" else np.inf
    for count in (2000, 20000):
        ask = f".tran {words[0]} {words[1]} 0 {min(least, stop / count)!r}{tail}"
        yield found.lines, ask, "" if count == 2000 else "with ten times shorter steps of ngspice"
        if count == 2000 and found.has_txl:
            yield in_ltra(found.lines), ask, "with ngspice's LTRA in place of its TXL"


def _compared(found: Deck, folder: Path, kind: str) -> dict:
    """What became of one deck in a folder: status, reason, error, CPU time of netsim."""
    asked = found.asked[kind]
    asks: Iterator[tuple[tuple[str, ...], str, str]] = iter([(found.lines, f".{kind} {asked}", "")])
    ours = f".{kind} {asked}"
    if kind == "tran":
        words, tail = asked.split(), " uic" if "uic" in asked.lower() else ""
        asks, ours = _transients(found, words, tail), f".tran {words[0]} {words[1]}{tail}"
    result: dict = {"error": np.inf}
    runs: list[Waves] = []
    mine: Waves | None = None
    for lines, ask, said in asks:
        try:
            theirs = ngspice(folder, lines, ask, found.mode)
        except ValueError:
            if mine is None:
                raise
            continue
        if lines is found.lines:
            runs.append(theirs)
        if mine is None:
            began = clock.process_time()
            mine = netsim_run(folder, found.lines, ours)
            result["seconds"] = clock.process_time() - began
        errors = _errors(theirs, mine, kind)
        worst = max(errors, key=lambda node: errors[node])
        if errors[worst] <= result["error"]:
            result |= {"error": errors[worst], "reason": said, "node": worst}
        if errors[worst] <= LEVEL:
            return result | {"status": "agrees"}
    assert mine is not None
    if kind != "tran":
        return result | {"status": "differs", "reason": f"node {result['node']}"}
    return result | _judged(
        result, runs, lambda: netsim_run(folder, found.lines, ours, TIGHTER), mine,
        lambda: _begins_elsewhere(folder, found, runs[0]),
    )  # fmt: skip


def _begins_elsewhere(folder: Path, found: Deck, waves: Waves) -> bool:
    """Whether a run of ngspice begins elsewhere than at the operating point that ngspice has at its usual tolerance."""
    rest = ngspice(folder, found.lines, ".op", found.mode, USUAL)[1]
    gaps = {node: abs(float(values[0] - rest[node][0])) for node, values in waves[1].items() if node in rest}
    return any(gap > LEVEL * float(np.ptp(waves[1][node])) for node, gap in gaps.items())


def _judged(
    result: dict, runs: list[Waves], again: Callable[[], Waves], mine: Waves, elsewhere: Callable[[], bool]
) -> dict:
    """Why a transient run differs: what both programs say of their own accuracy."""
    reason = f"node {result['node']}"
    beside = False
    if all(np.ptp(values) <= LEVEL * np.abs(values).max() for values in mine[1].values()):
        reason += "; netsim stays at the operating point, from which nothing pushes it"
        if beside := elsewhere():
            reason += ", and ngspice begins beside its own"
    own = 0.0
    if len(runs) > 1:
        coarse, fine = runs[0], runs[-1]
        both = {node: (fine[1][node], coarse[1][node]) for node in fine[1]}
        own = max(_differences(fine[0], coarse[0], both, "tran").values())
        reason += f"; ngspice with ten times shorter steps differs from itself by {own:.0e}"
    try:
        sharper = again()
        both = {node: (sharper[1][node], values) for node, values in mine[1].items() if node.endswith(".v")}
        moves = max(_differences(sharper[0], mine[0], both, "tran").values())
        reason += f"; netsim with a hundredth of its tolerance by {moves:.0e}"
    except Exception as error:  # a run that fails is a reason, too
        reason += f"; netsim with a hundredth of its tolerance: {str(error)[:60]}"
    vague = beside or own > max(LEVEL, result["error"] / 2)
    return {"status": "no reference" if vague else "differs", "reason": reason}


def compare(path: Path, root: Path) -> dict:
    """What became of one file."""
    from netsim.formats.spice.netlist import circuit_program

    found = deck(path)
    kind = next((each for each in ("tran", "dc", "ac", "op") if each in found.asked), None)
    if kind is None or not any(map(_ELEMENT.match, found.lines[1:])):
        return {"kind": "", "status": "other", "reason": "asks for no transient, dc, ac or op, or has no elements"}
    result = {"kind": kind, "status": "agrees", "reason": "", "error": 0.0}
    try:
        circuit_program(path)
        with beside(path, root) as folder:
            result |= _compared(found, folder, kind)
    except Exception as error:  # whatever ends a file is what is counted
        said = _said(error, found)
        status = (
            "outside" if _ABSENT.search(said) else "no reference" if "ngspice" in said or "a sweep" in said else "fails"
        )
        result |= {"status": status, "reason": said.split("\n")[0].replace(f"{path.parent}/", "")[:200]}
    if result["status"] in ("differs", "no reference") and any(map(_RANDOM.search, found.lines)):
        result |= {"status": "outside", "reason": "ngspice draws numbers at random"}
    return result


def _said(error: Exception, found: Deck) -> str:
    """The message that says most of why a file fails."""
    every = [p.message for p in getattr(error, "problems", None) or ()]
    if not every:
        return f"{error}" if str(error) else "no analysis"
    return family(found) or next((m for m in every if _ABSENT.search(m)), every[0])


def report(
    folders: tuple[str, ...] = (str(Path(__file__).parents[1] / "models" / "spice"),), only: str = "", most: int = 0
) -> None:
    """Print the table of all files below the folders."""
    files = sorted(
        (p, Path(folder)) for folder in folders for p in Path(folder).rglob("*")
        if p.suffix in SUFFIXES and not _FOREIGN.search(str(p)) and any(each in str(p) for each in only.split(","))
    )  # fmt: skip
    counts: Counter[str] = Counter()
    for path, root in files[: most or None]:
        command = [sys.executable, __file__, "--one", str(path), str(root)]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=10 * SECONDS)
            found = json.loads(run.stdout.splitlines()[-1]) if run.stdout else {
                "kind": "?", "status": "fails", "reason": (run.stderr.splitlines() or ["crash"])[-1][:150]}  # fmt: skip
        except subprocess.TimeoutExpired:
            found = {"kind": "?", "status": "fails", "reason": f"takes more than {10 * SECONDS} s"}
        if found["status"] == "other":
            continue
        counts[found["status"]] += 1
        error = f"{found['error']:.0e}" if found.get("error", np.inf) < np.inf and found["status"] in _WITH else ""
        seconds = f"{found['seconds']:.2f}" if "seconds" in found else ""
        print(
            f"{found['kind']:5}{found['status']:14}{error:8}{seconds:8}{'/'.join(path.parts[-3:])}  {found['reason']}",
            flush=True,
        )
    print(dict(counts))


_WITH = ("agrees", "differs", "no reference")
MEANING = {
    "agrees": f"to {LEVEL:g} of the range of every node",
    "differs": "by more",
    "fails": "is not loaded, or does not end",
    "no reference": "ngspice fails, takes longer than the survey waits, begins beside its operating point, or differs "
    "from itself, with ten times shorter steps, by more than 0.001 and more than half of what netsim differs from it",
    "outside": "needs what is not in the library: BSIM and other families, digital code models, noise in time",
}
_ROW = re.compile(rf"^(\S+) +({'|'.join(MEANING)}) +([\d.e+-]+)? +(?:[\d.]+)? *(\S+/\S+)  (.*)$")


def page(listing: Path) -> str:
    """The printed table of a survey as a page of the documentation."""
    rows = [match.groups(default="") for line in listing.read_text().splitlines() if (match := _ROW.match(line))]
    counts = Counter(status for _, status, *_ in rows)
    inside = sum(n for status, n in counts.items() if status not in ("outside", "no reference"))
    lines = [
        "# Files of ngspice",
        "",
        "Circuits nobody here wrote: `examples/` and `tests/` of ngspice 39's source package, without the folders of",
        "compiled models, of CIDER and of digital circuits. Of each file that asks for a transient run, a sweep, a",
        "response or an operating point the first of these is run by both programs.",
        "`benchmarks/ngspice_files.py` writes this page.",
        "The error is the rms difference over the range, of the worst node; a jump counts within one step of ngspice.",
        "Where ngspice comes nearer with shorter steps, or with its LTRA in place of its TXL, which stops at three",
        "Pade terms, that is compared and said.",
        "",
        "| result | files | |",
        "|---|---|---|",
        *(f"| {status} | {counts[status]} | {words} |" for status, words in MEANING.items()),
        "",
        f"Of the {inside} files whose parts are in the library and for which ngspice is a reference, "
        f"{counts['agrees']} agree ({counts['agrees'] / max(inside, 1):.0%}).",
    ]
    for status in MEANING:
        lines += ["", f"## {status.capitalize()}", "", "| file | | error | reason |", "|---|---|---|---|"]
        lines += [
            f"| {file} | {kind} | {error} | {_cell(why)} |" for kind, each, error, file, why in rows if each == status
        ]
    return "\n".join([*lines, ""])


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("<", "&lt;").replace("_", "\\_").replace("*", "\\*")


if __name__ == "__main__":
    if "--page" in sys.argv:
        Path(sys.argv[-1]).write_text(page(Path(sys.argv[-2])))
    elif "--one" in sys.argv:
        print(json.dumps(compare(*map(Path, sys.argv[-2:]))))
    else:
        only = next((each.removeprefix("--only=") for each in sys.argv if each.startswith("--only=")), "")
        report(tuple(each for each in sys.argv[1:] if not each.startswith("--")) or (".",), only)
