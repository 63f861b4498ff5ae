"""Files of the repository as pages: the start from README.md, decisions, library, examples and what describes them."""

from collections.abc import Iterator
from pathlib import Path

from pages import Page, code

ROOT = Path(__file__).parents[2]
TEXTS = ("CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")
LANGUAGES = {".py": "python", ".lib": "component", ".inc": "netlist", ".net": "netlist"}
SHOWN = ("library/**/*.lib", "examples/*.py", "models/**/*.lib", "models/**/*.inc")


def start() -> Page:
    """The first page: README.md."""
    return Page("index.md", _read("README.md"), "netsim")


def decisions() -> Iterator[Page]:
    """The index of the decision records, then the records: pages of docs/ as they are."""
    yield Page("decisions/README.md", _read("docs/decisions/README.md"), "Decisions")
    for path in sorted((ROOT / "docs/decisions").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if path.name != "README.md":
            yield Page(f"decisions/{path.name}", text, _headline(text))


def pages() -> Iterator[Page]:
    """Texts as they are, programs with numbered lines, an index for every folder."""
    files = sorted({path.relative_to(ROOT) for pattern in SHOWN for path in ROOT.glob(pattern)})
    yield Page("source/index.md", _index("", files), "Sources")
    for name in TEXTS:
        yield Page(f"source/{name}", _read(name), _headline(_read(name)))
    for folder in sorted({parent for file in files for parent in file.parents if parent.name}):
        yield Page(f"source/{folder.as_posix()}/index.md", _index(folder.as_posix(), files), folder.name)
        yield from (_program(file) for file in files if file.parent == folder)


def _program(file: Path) -> Page:
    text = code(_read(file.as_posix()), LANGUAGES[file.suffix], ' linenums="1"')
    return Page(f"source/{file.as_posix()}.md", f"# {file.as_posix()}\n\n{text}", file.name)


def _index(folder: str, files: list[Path]) -> str:
    below = [file.relative_to(folder) for file in files if Path(folder) in file.parents]
    texts = [] if folder else [f"- [{name}]({name})" for name in TEXTS]
    lines = [f"- [{file.as_posix()}]({file.as_posix()}.md) {_about(Path(folder) / file)}" for file in below]
    return "\n".join([f"# {folder or 'Sources'}", "", *texts, *lines])


def _about(file: Path) -> str:
    """The first sentence of a file."""
    first = _read(file.as_posix()).split("\n", 1)[0].strip('#" ')
    return first.partition(". ")[0].rstrip(".")


def _headline(text: str) -> str:
    return next(line.removeprefix("# ") for line in text.splitlines() if line.startswith("# "))


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")
