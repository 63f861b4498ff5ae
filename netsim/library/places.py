"""Where libraries and models lie: those that are shipped, and libraries of your own in the folders of NETSIM_PATH and
in those that installed packages name; and where a text may read files.

A folder holds libraries as the shipped one does: `NAME.lib`, or a folder NAME of such files. A package names its folder
by an entry point of the group `netsim.libraries`, whose value is a package: that package's folder is searched.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from netsim.text.roots import present_roots, roots_beside

VARIABLE = "NETSIM_PATH"
GROUP = "netsim.libraries"


def library_folder() -> Path:
    """Where the component texts lie: inside an installed package, or beside the package in a checkout."""
    return _shipped("library_files", "library")


def models_folder() -> Path:
    """Where the example netlists lie."""
    return _shipped("model_files", "models")


def _shipped(installed: str, checkout: str) -> Path:
    here = Path(__file__).parents[1]
    return here / installed if (here / installed).is_dir() else here.parent / checkout


def roots_of(file: str) -> tuple[Path, ...]:
    """The folders in which what a text names may lie: those of the netlist that is being loaded, else its own."""
    return present_roots() or own_roots(file)


def own_roots(file: str | Path) -> tuple[Path, ...]:
    """The folders that a netlist may read: its own, those of libraries and of the shipped models, and what the user
    allows."""
    return roots_beside(file, library_folder(), models_folder(), *own_folders())


def own_folders() -> Iterator[Path]:
    """Folders to be searched behind the shipped library, in their order; those that are not there are left out."""
    yield from (folder for _, folder in named_folders())


def named_folders() -> Iterator[tuple[str, Path]]:
    """The same with what names each: `NETSIM_PATH`, or the entry point."""
    for part in os.environ.get(VARIABLE, "").split(os.pathsep):
        if part and (folder := Path(part).expanduser()).is_dir():
            yield VARIABLE, folder
    yield from _folders_of_packages()


def _may_name_folders(place: str) -> bool:
    """Whether a place where packages lie may hold one that names a folder: reading this takes a tenth of what it takes
    to import `importlib.metadata`."""
    if not os.path.isdir(place):  # an archive, or nothing
        return os.path.isfile(place)
    with suppress(OSError), os.scandir(place) as entries:
        for each in entries:
            if each.name.endswith((".dist-info", ".egg-info", ".egg")):
                if each.name.endswith(".egg"):
                    return True
                with suppress(OSError):
                    if GROUP.encode() in Path(each.path, "entry_points.txt").read_bytes():
                        return True
    return False


@cache
def _folders_of_packages() -> tuple[tuple[str, Path], ...]:
    if not any(map(_may_name_folders, dict.fromkeys(place or "." for place in sys.path))):
        return ()
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
