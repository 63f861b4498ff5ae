"""Circuits nobody here wrote: the files of ngspice's own examples and tests, read by netsim and compared with ngspice.

    apt-get source ngspice        # Debian's source package has examples/ and tests/
    python benchmarks/ngspice_files.py ngspice-39.3/examples ngspice-39.3/tests

    python benchmarks/ngspice_files.py --page LISTING docs/spice_files.md    # what it printed, as a page

A file counts if it asks for a transient analysis, a sweep, a response or an operating point (in the deck, or plainly in
its script; the first of these kinds is compared). Signals are those of all nodes of the circuit; the error is the rms
difference over the range of the signal, or over a thousandth of the largest range where that is more. A
jump counts within one step of ngspice. A transient run that differs is compared once more with ten times shorter steps
of ngspice, and one with TXL lines with LTRA in place of them, whose convolution is not cut short; the page says so.
Files of families of models that are not in the library (BSIM, HICUM, VBIC ...) are listed with that reason.
"""

import json
import re
import subprocess
import sys
import time as clock
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import numpy as np

SUFFIXES = (".cir", ".sp", ".spice", ".ckt", ".net")
LEVEL = 1e-3
SECONDS = 20
"""The longest run of one program."""
_ABSENT = re.compile(
    r"level \d+ .*is not known|it is a Verilog|code model \w+ is not|trnoise|trrandom|temperature are not|"
    r"cannot read '|nhfet"
)
"""What makes a file one of another kind: a family of models, a digital code model, noise, a file that is not there."""
_OUTPUT = (".print", ".plot", ".save", ".probe", ".meas", ".measure", ".four", ".width")
_ASKS = re.compile(r"^\s*\.?(tran|dc|ac|op)\b(.*)$", re.IGNORECASE)
_RANDOM = re.compile(r"\b(a?gauss|a?unif)\s*\(", re.IGNORECASE)
_FOREIGN = re.compile(r"cider|adms|osdi|bsim|hisim|hicum|/digital|tclspice")


def deck(path: Path) -> tuple[list[str], dict[str, str]]:
    """The lines without scripts and output, and the analyses: name -> what stands behind it."""
    lines: list[str] = []
    asked: dict[str, str] = {}
    script = skipping = False
    for number, line in enumerate(path.read_text(errors="replace").splitlines()):
        word = line.strip().lower().split(" ")[0] if line.strip() else ""
        if word in (".control", ".endc"):
            script = word == ".control"
            continue
        if (match := _ASKS.match(line)) and "$&" not in line:
            if number and (script or line.strip().startswith(".")):
                asked.setdefault(match[1].lower(), match[2].split(";")[0].split(" $")[0].strip())
            skipping = not script and line.strip().startswith(".")
            if skipping:
                continue
        if script:
            continue
        if word.startswith("+") and skipping:
            continue
        skipping = word == ".end" or any(word.startswith(each) for each in _OUTPUT)
        if not skipping and word not in (".noise", ".tf", ".pz", ".disto", ".sens", ".sp", ".pss"):
            lines.append(line)
    return lines, asked


_INCLUDE = re.compile(r"^\s*\.inc(?:lude)?\s+[\"']?([^\s\"']+)", re.IGNORECASE)
_ELEMENT = re.compile(r"\s*([a-z]|\.inc|\.lib)", re.IGNORECASE)
_FAMILY = re.compile(r"\blevel\s*=\s*(8|10|14|49|54)\b", re.IGNORECASE)


def _family(path: Path, lines: list[str]) -> str:
    """What is said of models of a family that is not here, in a file that is included; empty without such."""
    for file in (path.parent / match[1] for line in lines if (match := _INCLUDE.match(line))):
        if file.is_file() and (found := _FAMILY.search(file.read_text(errors="replace"))):
            return f"level {found[1]} (BSIM) of a MOSFET is not known ({file.name})"
    return ""


def _number(text: str) -> float:
    from netsim.formats.spice.numbers import value_of

    value = value_of(text)
    if value is None:
        raise ValueError(f"a sweep from '{text}'")
    return value


# ------------------------------------------------------------------------------------------------ the two programs


def ngspice(folder: Path, lines: list[str], analysis: str, tight: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Instants and potentials by node. Raises `ValueError` where ngspice fails."""
    file, raw = folder / "netsim_check.cir", folder / "netsim_check.raw"
    raw.unlink(missing_ok=True)
    file.write_text("\n".join([*lines, analysis, tight, ".end", ""]))
    try:
        subprocess.run(["ngspice", "-b", "-r", raw.name, file.name], cwd=folder, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        raise ValueError(f"ngspice takes more than {SECONDS} s") from None
    if not raw.exists():
        raise ValueError("ngspice fails")
    head, _, body = raw.read_bytes().partition(b"Binary:\n")
    text = head.decode(errors="replace")
    count, rows = (int(re.search(rf"No. {what}: *(\d+)", text)[1]) for what in ("Variables", "Points"))  # type: ignore[index]
    names = re.findall(r"^\t\d+\t(\S+)\t(\S+)", text, re.MULTILINE)
    kind = complex if "Flags: complex" in text else float
    values = np.frombuffer(body, kind)[: count * rows].reshape(-1, count)
    if not len(values):
        raise ValueError("ngspice fails")
    return values[:, 0].real, {
        name[2:-1]: values[:, k] for k, (name, _) in enumerate(names) if name.startswith("v(") and "#" not in name
    }


def _ours(node: str, nodes: Collection[str], word: Callable[[str], str]) -> str:
    """What a node is called here: of `1` and `n1` the second one is `n1_node`."""
    behind = any(other != node and other.isdigit() and word(other) == word(node) for other in nodes)
    return f"{word(node)}_node.v" if behind else f"{word(node)}.v"


def netsim_run(folder: Path, lines: list[str], analysis: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Instants and potentials by node."""
    import netsim
    from netsim.text.errors import InputError

    file = folder / "netsim_check.cir"
    file.write_text("\n".join([*lines, analysis, ".end", ""]))
    model = netsim.load(file)
    found = model.samples()
    if not found:
        raise InputError([])
    table = found[-1]
    if not table.finished:
        raise ValueError(f"netsim: {table.message}")
    names = [signal.name for signal in table.signals]
    return np.asarray(table.time), {name: values for name, values in zip(names, np.asarray(table.values).T)}


def _in_ltra(lines: list[str]) -> list[str]:
    """The same circuit with ngspice's LTRA in place of its TXL: lines of the same figures."""
    found = [re.sub(r"^(\s*)y", r"\1oy", line, flags=re.IGNORECASE) for line in lines]
    model = re.compile(r"^\s*\.model\s+\S+\s+txl\b", re.IGNORECASE)
    return [
        re.sub(r"\blength\b", "len", re.sub(r"\btxl\b", "ltra", line, flags=re.IGNORECASE), flags=re.IGNORECASE)
        if model.match(line)
        else line
        for line in found
    ]


def _worst(theirs: tuple[np.ndarray, dict], ours: tuple[np.ndarray, dict], kind: str) -> float:
    """The largest error of a node. Raises `ValueError` where nothing can be compared."""
    from netsim.formats.spice.circuit import word

    (t, a_of), (s, b_of) = theirs, ours
    pairs = [(a_of[n], b_of[m]) for n in a_of if (m := _ours(n, a_of, word)) in b_of]
    if not pairs:
        raise ValueError("no node in common")
    if kind != "tran" and len(pairs[0][0]) != len(pairs[0][1]):
        raise ValueError(f"{len(pairs[0][1])} points, ngspice has {len(pairs[0][0])}")
    sizes = [float(np.ptp(a)) if kind == "tran" else float(np.abs(a).max()) for a, _ in pairs]
    worst = 0.0
    for (a, b), own in zip(pairs, sizes):
        size = max(own, 1e-3 * max(sizes), 1e-9)
        gaps = np.abs(b - a) if kind != "tran" else _gaps(t, a, s, b, JUMP * size)
        worst = max(worst, float(np.sqrt(np.mean(gaps**2))) / size)
    return worst


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


def _transients(lines: list[str], words: list[str], tail: str) -> Iterator[tuple[list[str], str, str]]:
    """What ngspice is asked for, and what is said of it: steps of a 2000th of the run at most, of a 20000th, and LTRA
    in place of TXL."""
    stop, least = _number(words[1]), _number(words[3]) if len(words) > 3 and words[3].lower() != "uic" else np.inf
    for count in (2000, 20000):
        ask = f".tran {words[0]} {words[1]} 0 {min(least, stop / count)!r}{tail}"
        yield lines, ask, "" if count == 2000 else "with ten times shorter steps of ngspice"
        if count == 2000 and any(re.match(r"\s*\.model\s+\S+\s+txl\b", line, re.IGNORECASE) for line in lines):
            yield _in_ltra(lines), ask, "with ngspice's LTRA in place of its TXL"


def _compared(path: Path, lines: list[str], kind: str, asked: str) -> dict:
    """The errors of one file."""
    tight, found = ".options reltol=1e-5 abstol=1e-13 vntol=1e-8", {}
    asks: Iterator[tuple[list[str], str, str]] = iter([(lines, f".{kind} {asked}", "")])
    ours = f".{kind} {asked}"
    if kind == "tran":
        words, tail = asked.split(), " uic" if "uic" in asked.lower() else ""
        asks, ours = _transients(lines, words, tail), f".tran {words[0]} {words[1]}{tail}"
    mine: tuple[np.ndarray, dict[str, np.ndarray]] | None = None
    for deck_of, ask, said in asks:
        try:
            theirs = ngspice(path.parent, deck_of, ask, tight)
        except ValueError:
            if mine is None:
                raise
            continue
        if mine is None:
            began = clock.process_time()
            mine = netsim_run(path.parent, lines, ours)
            found["seconds"] = clock.process_time() - began
        worst = _worst(theirs, mine, kind)
        if worst <= found.get("error", np.inf):
            found |= {"error": worst, "reason": said}
        if worst <= LEVEL:
            return found | {"status": "agrees"}
    return found | {"status": "differs", "reason": f"by {found['error']:.1e}"}


def compare(path: Path) -> dict:
    """What became of one file."""
    from netsim.formats.spice.netlist import circuit_program

    lines, asked = deck(path)
    kind = next((each for each in ("tran", "dc", "ac", "op") if each in asked), None)
    if kind is None or not any(map(_ELEMENT.match, lines[1:])):
        return {"kind": "", "status": "other", "reason": "asks for no transient, dc, ac or op, or has no elements"}
    result = {"kind": kind, "status": "agrees", "reason": "", "error": 0.0}
    try:
        circuit_program(path)
        result |= _compared(path, lines, kind, asked[kind])
    except Exception as error:  # whatever ends a file is what is counted
        problems = getattr(error, "problems", None)
        every = [p.message for p in problems or ()]
        every = [family] if every and (family := _family(path, lines)) else every
        said = (
            next((m for m in every if _ABSENT.search(m)), every[0])
            if every
            else f"{type(error).__name__}: {error}"
            if str(error)
            else "no analysis"
        )
        status = (
            "outside"
            if _ABSENT.search(said)
            else "ngspice fails"
            if "ngspice" in said or "a sweep" in said
            else "fails"
        )
        result |= {"status": status, "reason": said.split("\n")[0][:120]}
    if result["status"] == "differs" and any(map(_RANDOM.search, lines)):
        result |= {"status": "outside", "reason": "ngspice draws numbers at random"}
    for name in ("netsim_check.cir", "netsim_check.raw"):
        (path.parent / name).unlink(missing_ok=True)
    return result


def report(
    folders: tuple[str, ...] = (str(Path(__file__).parents[1] / "models" / "spice"),), only: str = "", most: int = 0
) -> None:
    """Print the table of all files below the folders."""
    files = sorted(
        p for folder in folders for p in Path(folder).rglob("*")
        if p.suffix in SUFFIXES and not _FOREIGN.search(str(p)) and p.name != "netsim_check.cir" and only in str(p)
    )  # fmt: skip
    counts: Counter[str] = Counter()
    for path in files[: most or None]:
        try:
            run = subprocess.run(
                [sys.executable, __file__, "--one", str(path)], capture_output=True, text=True, timeout=4 * SECONDS
            )
            found = json.loads(run.stdout.splitlines()[-1]) if run.stdout else {
                "kind": "?", "status": "fails", "reason": (run.stderr.splitlines() or ["crash"])[-1][:150]}  # fmt: skip
        except subprocess.TimeoutExpired:
            found = {"kind": "?", "status": "fails", "reason": f"takes more than {4 * SECONDS} s"}
        if found["status"] == "other":
            continue
        counts[found["status"]] += 1
        error = f"{found['error']:.0e}" if found["status"] in ("agrees", "differs") else ""
        seconds = f"{found['seconds']:.2f}" if "seconds" in found else ""
        print(
            f"{found['kind']:5}{found['status']:14}{error:8}{seconds:8}{'/'.join(path.parts[-3:])}  {found['reason']}",
            flush=True,
        )
    print(dict(counts))


_STATES = "agrees|differs|fails|outside|ngspice fails"
_ROW = re.compile(rf"^(\S+) +({_STATES}) +([\d.e+-]+)? +(?:[\d.]+)? *(\S+/\S+)  (.*)$")
MEANING = {
    "agrees": f"to {LEVEL:g} of the range of every node",
    "differs": "by more",
    "fails": "is not loaded, or does not end",
    "ngspice fails": "gives no result to compare with (or takes longer than the survey waits)",
    "outside": "needs what is not in the library: BSIM and other families, digital code models, noise in time",
}


def page(listing: Path) -> str:
    """The printed table of a survey as a page of the documentation."""
    rows = [match.groups(default="") for line in listing.read_text().splitlines() if (match := _ROW.match(line))]
    counts = Counter(status for _, status, *_ in rows)
    inside = sum(n for status, n in counts.items() if status not in ("outside", "ngspice fails"))
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
        f"Of the {inside} files whose parts are in the library and that ngspice runs, {counts['agrees']} agree "
        f"({counts['agrees'] / max(inside, 1):.0%}).",
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
        print(json.dumps(compare(Path(sys.argv[-1]))))
    else:
        report(tuple(sys.argv[1:]) or (".",))
