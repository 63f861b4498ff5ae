"""Where libraries of your own lie: in the folders of NETSIM_PATH, and in those that installed packages name.

A folder holds libraries as the shipped one does: `NAME.lib`, or a folder NAME of such files. A package names its folder
by an entry point of the group `netsim.libraries`, whose value is a package: that package's folder is searched.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

VARIABLE = "NETSIM_PATH"
GROUP = "netsim.libraries"


def own_folders() -> Iterator[Path]:
    """Folders to be searched behind the shipped library, in their order; those that are not there are left out."""
    yield from (folder for _, folder in named_folders())


def named_folders() -> Iterator[tuple[str, Path]]:
    """The same with what names each: `NETSIM_PATH`, or the entry point."""
    for part in os.environ.get(VARIABLE, "").split(os.pathsep):
        if part and (folder := Path(part).expanduser()).is_dir():
            yield VARIABLE, folder
    yield from _folders_of_packages()


@cache
def _folders_of_packages() -> tuple[tuple[str, Path], ...]:
    from importlib.metadata import entry_points

    found: list[tuple[str, Path]] = []
    for point in entry_points(group=GROUP):
        try:
            spec = find_spec(point.value)
        except ImportError:  # an entry point may outlive its package
            continue
        found += [
            (f"entry point {point.name}", Path(place)) for place in (spec and spec.submodule_search_locations) or ()
        ]
    return tuple(found)


def texts_in(folder: Path, name: str) -> list[Path]:
    """The files of the library `name` in a folder; none where it is not there."""
    single = folder / f"{name}.lib"
    return [single] if single.is_file() else sorted((folder / name).glob("*.lib"))


def names_in(folder: Path) -> set[str]:
    """The libraries in a folder."""
    files = {path.stem for path in folder.glob("*.lib")}
    return files | {path.parent.name for path in folder.glob("*/*.lib")}


def exists(path: Path) -> bool:
    """Whether there is something of that name; False also for a name that nothing can have."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def is_file(path: Path) -> bool:
    """Whether there is an ordinary file: False also for a pipe, a device, and a name that no file can have."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
