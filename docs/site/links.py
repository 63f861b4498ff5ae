"""Links of the repository as links of the site."""

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

ROOT = Path(__file__).parents[2]
SPECIAL = {"README.md": "index.md", "models": "gallery/index.md", "library": "components/index.md"}
LINK = re.compile(r"(\]\()([^)#\s]*)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def rewritten(markdown: str, page: str) -> str:
    """The text with links as the site needs them, outside of code; `page` is its path within the site."""
    parts, last = [], 0
    for fence in FENCE.finditer(markdown):
        parts += [_outside(markdown[last : fence.start()], page), fence[0]]
        last = fence.end()
    return "".join([*parts, _outside(markdown[last:], page)])


def _outside(text: str, page: str) -> str:
    return LINK.sub(lambda match: match[1] + target(match[2], page) + match[3], text)


def target(link: str, page: str) -> str:
    """Where a link of a page leads: out of docs/, it is a path of the repository, else as it is."""
    if not link or "://" in link or not page_in_repository(page):
        return link
    path = normpath(str(PurePosixPath(page_in_repository(page)).parent / link))
    return relpath(place(path), str(PurePosixPath(page).parent))


def page_in_repository(page: str) -> str:
    """The file that a page is made of as it stands; '' for pages made of several."""
    if page == "index.md":
        return "README.md"
    if page.startswith("source/"):
        return page.removeprefix("source/") if (ROOT / page.removeprefix("source/")).is_file() else ""
    return f"docs/{page}" if (ROOT / "docs" / page).is_file() else ""


def place(path: str) -> str:
    """The page of a file or folder of the repository."""
    if path in SPECIAL:
        return SPECIAL[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("models/") and path.endswith(".net"):
        return f"gallery/{path.removeprefix('models/').removesuffix('.net')}.md"
    if path.startswith("models/") and (ROOT / path).is_dir():
        return "gallery/index.md"
    if (ROOT / path).is_dir():
        return f"source/{path}/index.md"
    return f"source/{path}" if path.endswith(".md") else f"source/{path}.md"
