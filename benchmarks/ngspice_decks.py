"""Decks of ngspice's examples in a folder of their own, and what both programs make of them (for ngspice_files.py)."""

import re
import shutil
import subprocess
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

SECONDS = 20
"""The longest run of ngspice."""
Waves = tuple[np.ndarray, dict[str, np.ndarray]]
"""Instants (or points), and the values of signals by name."""
_OUTPUT = (".print", ".plot", ".save", ".probe", ".meas", ".measure", ".four", ".width")
_OTHER = (".noise", ".tf", ".pz", ".disto", ".sens", ".sp", ".pss")
_ASKS = re.compile(r"^\s*\.?(tran|dc|ac|op)\b(.*)$", re.IGNORECASE)
_INCLUDE = re.compile(r"^\s*\.inc(?:lude)?\s+[\"']?([^\s\"']+)", re.IGNORECASE)
_FAMILY = re.compile(r"\blevel\s*=\s*(8|10|14|49|54)\b", re.IGNORECASE)
_MODE = re.compile(r"'(set ngbehavior=\w+)'\s+required", re.IGNORECASE)
_TXL = re.compile(r"\s*\.model\s+\S+\s+txl\b", re.IGNORECASE)


@dataclass(frozen=True)
class Deck:
    """A circuit without scripts and output, and the analyses it asks for: name -> what stands behind it."""

    path: Path
    lines: tuple[str, ...]
    asked: dict[str, str]

    @property
    def has_txl(self) -> bool:
        """Whether a line is one of ngspice's TXL."""
        return any(map(_TXL.match, self.lines))

    @property
    def mode(self) -> str:
        """The command that the deck says must stand in `.spiceinit`; empty without such."""
        return next((match[1] for line in self.lines if (match := _MODE.search(line))), "")


def deck(path: Path) -> Deck:
    """A file as a deck. The analyses of its script count where they stand plainly."""
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
        if not skipping and word not in _OTHER:
            lines.append(line)
    return Deck(path, tuple(lines), asked)


def family(found: Deck) -> str:
    """What is said of models of a family that is not here, in a file that is included; empty without such."""
    for file in (found.path.parent / match[1] for line in found.lines if (match := _INCLUDE.match(line))):
        if file.is_file() and (level := _FAMILY.search(file.read_text(errors="replace"))):
            return f"level {level[1]} (BSIM) of a MOSFET is not known ({file.name})"
    return ""


def in_ltra(lines: Collection[str]) -> tuple[str, ...]:
    """The same circuit with ngspice's LTRA in place of its TXL: lines of the same figures."""
    found = [re.sub(r"^(\s*)y", r"\1oy", line, flags=re.IGNORECASE) for line in lines]
    return tuple(
        re.sub(r"\blength\b", "len", re.sub(r"\btxl\b", "ltra", line, flags=re.IGNORECASE), flags=re.IGNORECASE)
        if _TXL.match(line)
        else line
        for line in found
    )


@contextmanager
def beside(path: Path, root: Path) -> Iterator[Path]:
    """A copy of a file's folder, in which the paths that the file names lead where they do beside it: the folders from
    `root` down have links to what else stands in them. Nothing is written into the file's own folder."""
    with TemporaryDirectory() as scratch:
        here = Path(scratch, *path.parent.relative_to(root).parts)
        shutil.copytree(path.parent, here, dirs_exist_ok=True)
        original, copy = path.parent, here
        while original != root:
            original, copy = original.parent, copy.parent
            for each in original.iterdir():
                if not (copy / each.name).exists():
                    (copy / each.name).symlink_to(each.absolute())
        yield here


def ngspice(folder: Path, lines: Collection[str], analysis: str, mode: str = "", looser: float = 1.0) -> Waves:
    """Instants and potentials by node, with tight tolerances or so many times larger ones. Raises `ValueError` where
    ngspice fails."""
    file, raw = folder / "netsim_check.cir", folder / "netsim_check.raw"
    raw.unlink(missing_ok=True)
    tolerances = f".options reltol={1e-5 * looser!r} abstol={1e-13 * looser!r} vntol={1e-8 * looser!r}"
    file.write_text("\n".join([*lines, analysis, tolerances, ".end", ""]))
    if mode:
        (folder / ".spiceinit").write_text(f"{mode}\n")
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


def netsim_run(folder: Path, lines: Collection[str], analysis: str, tighter: float = 1.0) -> Waves:
    """Instants and potentials by the nodes' names in netsim, with a tolerance that is so many times smaller than the
    default. Raises `ValueError` where the run ends early."""
    import netsim
    from netsim.text.errors import InputError

    file = folder / "netsim_check.cir"
    options = [f".options reltol={1e-4 / tighter!r}"] if tighter != 1.0 else []
    file.write_text("\n".join([*lines, analysis, *options, ".end", ""]))
    found = netsim.load(file).samples()
    if not found:
        raise InputError([])
    table = found[-1]
    if not table.finished:
        raise ValueError(f"netsim: {table.message}")
    names = [signal.name for signal in table.signals]
    return np.asarray(table.time), {name: values for name, values in zip(names, np.asarray(table.values).T)}


def pairs(theirs: Waves, ours: Waves) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """The values of ngspice and of netsim by node. Raises `ValueError` where no node is in both."""
    from netsim.formats.spice.circuit import word

    a_of, b_of = theirs[1], ours[1]
    found = {node: (a_of[node], b_of[name]) for node in a_of if (name := _ours(node, a_of, word)) in b_of}
    if not found:
        raise ValueError("no node in common")
    return found


def _ours(node: str, nodes: Collection[str], word: Callable[[str], str]) -> str:
    """What a node is called here: of `1` and `n1` the second one is `n1_node`."""
    behind = any(other != node and other.isdigit() and word(other) == word(node) for other in nodes)
    return f"{word(node)}_node.v" if behind else f"{word(node)}.v"
