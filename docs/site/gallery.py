"""A page for every shipped model: its netlist, the numbers of its run, its picture, and where bodies move a scene."""

import contextlib
import io
import os
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from html import escape
from multiprocessing import get_context
from pathlib import Path

from filmed import still
from pages import Page, code, plain
from shown_netlists import shipped

from netsim.library.files import models_folder

RESULTS = Path(__file__).parents[2] / "build" / "gallery"
"""Where the results of the runs are kept until a netlist changes."""
CHAPTERS = {
    "": "Circuits, drives, machines", "mechanisms": "Mechanisms", "robots": "Robots", "tripod": "The tripod",
    "manipulators": "Flexible manipulators", "benchmarks": "Published problems", "optimal": "Optimal motion",
    "many": "Sensitivities and fits",
    "msl": "Examples of the Modelica Standard Library",
}  # fmt: skip
LONGEST_TITLE = 150
"""Letters of a title; of a longer one the source stands below."""
ABBREVIATED = re.compile(r"(?<=[ (])([A-Z]|et al|figs?|no|secs?|ch|Proc)\. ")
"""Behind these a full stop ends no sentence."""


def pages() -> Iterator[Page]:
    """The overview, then a page per model in its folder."""
    yield Page("gallery/index.md", overview(), "Gallery")
    for name in names():
        yield Page(f"gallery/{name}.md", model_page(name), Path(name).name)


def files() -> Iterator[tuple[str, Path]]:
    """Pictures and scenes by their path within the site."""
    for name in names():
        for suffix in (".svg", ".png", ".scene.html"):
            if (file := RESULTS / f"{name}{suffix}").is_file():
                yield f"gallery/{name}{suffix}", file


@cache
def names() -> tuple[str, ...]:
    """Shipped models by chapter; those that have not been run since their netlist changed are run."""
    found = sorted(shipped(), key=lambda name: (list(CHAPTERS).index(_chapter(name)), name))
    old = [name for name in found if not is_run(name)]
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for name, said in zip(old, pool.map(run, old)):
            print(f"gallery: {name}{said}", flush=True)
    return tuple(found)


def _chapter(name: str) -> str:
    return name.rpartition("/")[0]


def netlist(name: str) -> str:
    """The text of a shipped model."""
    return (models_folder() / f"{name}.net").read_text(encoding="utf-8")


def is_run(name: str) -> bool:
    """Whether there are results, and none of the files of the model is newer."""
    told = RESULTS / f"{name}.txt"
    beside = (
        (models_folder() / f"{name}.net").parent.glob("*.*") if _chapter(name) else [models_folder() / f"{name}.net"]
    )
    return told.is_file() and all(file.stat().st_mtime < told.stat().st_mtime for file in beside)


def run(name: str) -> str:
    """Run a model and keep its summary, its picture and its scene; the words of a failure."""
    from netsim.cli import main

    place = RESULTS / name
    place.parent.mkdir(parents=True, exist_ok=True)
    options = ["-o", str(place.with_name(f"{place.name}.csv"))]
    plots = re.search(r"^plot ", netlist(name), re.MULTILINE)
    options += ["--plot", f"{place}.svg"] if plots else []
    scene = place.with_name(f"{place.name}.scene.html")
    options += ["--animate", str(scene)] if has_scene(name) else []
    printed, warned = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(warned):
        status = main(["run", f"models/{name}.net", *options])
        if not plots and not scene.is_file():  # what it saves
            main(["plot", f"{place}.csv", "-o", f"{place}.svg"])
    if scene.is_file():
        still(scene, place.with_name(f"{place.name}.png"))
    kept = [line for line in printed.getvalue().splitlines() if not line.startswith("wrote ")]
    place.with_name(f"{place.name}.csv").unlink(missing_ok=True)
    place.with_name(f"{place.name}.txt").write_text("\n".join(kept), encoding="utf-8")
    return f": status {status}: {warned.getvalue()}" if status else ""


def has_scene(name: str) -> bool:
    """Whether bodies move in space or in the plane."""
    import netsim

    return any(
        node.domain.name in ("planar", "spatial") for node in netsim.load(models_folder() / f"{name}.net").network.nodes
    )


# ------------------------------------------------------------------------------------------------------- pages


def model_page(name: str) -> str:
    """Sentences, picture, numbers and text of a model."""
    title, words = about(name)
    parts = [f"# {title}"]
    parts += [plain(words)] if words else []
    if (RESULTS / f"{name}.scene.html").is_file():
        parts.append(
            f'<iframe class="scene" loading="lazy" title="moving picture" src="{Path(name).name}.scene.html"></iframe>'
        )
    if (RESULTS / f"{name}.svg").is_file():
        parts.append(f"![plots of {name}]({Path(name).name}.svg)")
    numbers = (RESULTS / f"{name}.txt").read_text(encoding="utf-8")
    parts += ["## Numbers", f"`netsim run {name}` prints", code(numbers, "text")]
    parts += [f"## models/{name}.net", code(netlist(name), "netlist")]
    return "\n\n".join(parts)


def about(name: str) -> tuple[str, str]:
    """The first sentence of the comment that a netlist begins with, and the others."""
    lines = []
    for line in netlist(name).splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.removeprefix("#").strip())
    words = re.sub(r"^(models/\S+ -- |Modelica\.[\w.]+: )", "", " ".join(lines))
    first, _, rest = ABBREVIATED.sub("\\1.\N{NO-BREAK SPACE}", words).partition(". ")
    title, _, more = first.partition(": ")
    if len(title) > LONGEST_TITLE and " (" in title:
        title, _, source = title.partition(" (")
        more = f"({source}. {more}".rstrip(". ")
    return title[:1].upper() + title[1:].rstrip("."), ". ".join(part for part in (more, rest) if part)


def overview() -> str:
    """A card for every model."""
    parts = [
        "# Gallery",
        "Every model that netsim ships with: picture, numbers of its run, netlist. `netsim run NAME` runs it.",
    ]
    for chapter, words in CHAPTERS.items():
        cards = [_card(name) for name in names() if _chapter(name) == chapter]
        parts += [f"## {words}", f'<div class="models">{"".join(cards)}</div>']
    return "\n\n".join(parts)


def _card(name: str) -> str:
    pictures = [f"{name}{suffix}" for suffix in (".png", ".svg") if (RESULTS / f"{name}{suffix}").is_file()]
    shown = f'<img loading="lazy" alt="" src="{pictures[0]}">' if pictures else ""
    title, _ = about(name)
    return f'<a href="{name}.html">{shown}<b>{escape(name)}</b><span>{escape(title)}</span></a>'
