"""`netsim check`, `show`, `list` and `info`: what a netlist, the libraries and this installation are."""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

from netsim.commands.analysis_commands import load_model, load_network
from netsim.commands.interruption import note_files
from netsim.commands.messages import FINE, MISTAKE, complain
from netsim.text.errors import InputError, Problem

STAGES = ("syntax", "network", "structure", "kernels", "system", "pattern")
PACKAGES = ("numpy", "scipy", "casadi", "llvmlite", "numba", "lark", "xarray", "h5netcdf", "matplotlib", "pin")


def check_command(chosen: argparse.Namespace) -> int:
    """`netsim check`: problems on stderr; one line on stdout where all is well."""
    from netsim.library.files import find_netlist, shown_path
    from netsim.text.columns import counted

    file = find_netlist(chosen.file)
    model = load_model(file, chosen.values)
    problems = model.check()
    complain(problems)
    if any(not p.is_note for p in problems):
        return MISTAKE
    sizes = zip(
        (len(model.network.instances), len(model.network.nodes), model.system.n), ("element", "node", "unknown")
    )
    if chosen.start:
        from netsim.output.starts_shown import table

        print(table(model), end="")
    print(f"{shown_path(file)}: fine ({', '.join(counted(*size) for size in sizes)}, index {model.structure.index})")
    return FINE


def show_command(chosen: argparse.Namespace) -> int:
    """`netsim show`."""
    from netsim.library.files import find_netlist

    file = find_netlist(chosen.file)
    if not chosen.output and chosen.stage in ("syntax", "network"):
        print(_of_network(file, chosen.values, chosen.stage), end="")
        return FINE
    from netsim.output.show import show_stage

    model = load_model(file, chosen.values)
    if chosen.output:
        from netsim.output.diagram import draw_network

        if chosen.stage != "network":
            message = f"only the network can be drawn, not the stage '{chosen.stage}'"
            raise InputError(Problem("E423", message, hint="omit --stage, or omit -o"))
        note_files()
        print(f"wrote {draw_network(model, chosen.output)}")
        return FINE
    print(show_stage(model, chosen.stage), end="")
    return FINE


def _of_network(file: Path, given: list[str], stage: str) -> str:
    """A stage for which nothing beyond the network is made, nor imported."""
    from netsim.network.values import Values
    from netsim.output.network_shown import show_network, show_syntax

    network, overrides = load_network(file, given)
    text = show_syntax(network) if stage == "syntax" else show_network(network, Values(network, overrides))
    return text.rstrip("\n") + "\n"


def list_command(chosen: argparse.Namespace) -> int:
    """`netsim list`."""
    from netsim.commands.kept_listing import listed

    words = " ".join(chosen.name)

    def described() -> str:
        from netsim.library.catalogue import describe, whole_library

        return describe(whole_library(chosen.use), words)

    print(described() if chosen.use else listed(words, described), end="")
    return FINE


def info_command(chosen: argparse.Namespace) -> int:
    """`netsim info`."""
    from netsim.text.columns import columns

    for title, rows in installation():
        print("\n".join([title, *columns(rows)]))
    return FINE


def installation() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """What a report of an error should say of this installation: (title, rows)."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    import netsim
    from netsim.core.compiled.linking import level_of_host
    from netsim.core.compiled.store import BUILT
    from netsim.library.files import library_folder
    from netsim.library.places import named_folders
    from netsim.text.kept.cache import cache_folder

    def told(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "not installed"

    python = f"{platform.python_version()}, {platform.platform()}"
    own = [("netsim", f"{netsim.__version__} in {Path(netsim.__file__).parent}"), ("python", python)]
    yield "versions", [*own, *((package, told(package)) for package in PACKAGES)]
    built = _size(BUILT) if BUILT.is_dir() else "none in the package: made when first needed, and kept in the cache"
    cores = f"{os.cpu_count()}"
    yield "machine code", [("instruction set", level_of_host()), ("built in", built), ("cores", cores)]
    root = cache_folder("")
    folders = sorted(f for f in root.iterdir() if f.is_dir()) if root else []
    yield f"cache: {root or 'no folder can be written'}", [(f.name, _size(f)) for f in folders]
    yield f"libraries: {library_folder()}", [(name, str(folder)) for name, folder in named_folders()]


def _size(folder: Path) -> str:
    sizes = [file.stat().st_size for file in folder.iterdir() if file.is_file()]
    return f"{len(sizes)} files, {sum(sizes) / 1e6:.1f} MB"
