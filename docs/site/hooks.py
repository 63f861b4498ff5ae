"""What the site adds to the pages of docs/: pages made from the library, the models and the sources, and links to them.

MkDocs calls the functions whose names begin with `on_` (https://www.mkdocs.org/user-guide/configuration/#hooks).
Nothing generated is kept in the repository.
"""

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PLACES = [str(ROOT), str(Path(__file__).parent)]
sys.path[:0] = PLACES

import catalogue  # noqa: E402
import gallery  # noqa: E402
import highlight  # noqa: E402
import sources  # noqa: E402
from links import rewritten  # noqa: E402
from pages import Page, nested  # noqa: E402

PARTS = {
    "components": catalogue.pages, "gallery": gallery.pages, "decisions": sources.decisions, "source": sources.pages,
}  # fmt: skip
"""What stands for `GENERATED name` in the navigation of mkdocs.yml."""


@cache
def made(part: str) -> tuple[Page, ...]:
    """The pages of a part."""
    return tuple(PARTS[part]())


def on_config(config: Any) -> Any:
    """Puts the generated pages into the navigation."""
    sys.path[:0] = PLACES  # MkDocs forgets the ones above; the gallery's processes find their modules by them
    highlight.register()
    config["nav"] = [_filled(item) for item in config["nav"]]
    return config


def _filled(item: Any) -> Any:
    if isinstance(item, dict):
        ((title, inside),) = item.items()
        if isinstance(inside, str) and inside.startswith("GENERATED "):
            return {title: nested(made(inside.removeprefix("GENERATED ")))}
        return {title: [_filled(each) for each in inside]} if isinstance(inside, list) else item
    return item


def on_files(files: Files, config: Any) -> Files:
    """Adds the generated pages and the files that they show."""
    pages = [sources.start(), *(page for part in PARTS for page in made(part))]
    for page in pages:
        if not files.get_file_from_path(page.path):
            files.append(File.generated(config, page.path, content=page.text))
    for path, file in gallery.files():
        files.append(File.generated(config, path, abs_src_path=str(file)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Leads links out of docs/ to the pages of the site, and drops what a block's first line says to its test. Pictures
    of networks are put in."""
    markdown = re.sub(r"^```(netlist|component) [A-Z0-9 ]+$", r"```\1", markdown, flags=re.MULTILINE)
    markdown = re.sub(r"^```output$", "```text", markdown, flags=re.MULTILINE)
    return catalogue.with_picture(rewritten(markdown, page.file.src_uri))


def on_post_build(config: Any) -> None:
    """Says what the site holds."""
    print("; ".join(f"{part}: {len(made(part))} pages" for part in PARTS))
