"""Entries of the cache are whole, private and replaceable: 20 damages to each kind of file, and whole runs over damaged folders."""

import ast
import logging
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import netsim
from netsim.core.compiled import linking, objects, store
from netsim.core.compiled.function import compiled
from netsim.equations.forms.facts import Facts
from netsim.equations.kernels import addresses, native
from netsim.equations.kernels.program import Instruction, Program
from netsim.text.grammar import grammar
from netsim.text.kept import cache, shipped
from netsim.text.kept.cache import KEPT, LARGEST, cache_folder, read_entry, with_checksum, without_checksum, write_entry
from netsim.text.kept.parsed_texts import parsed
from netsim.text.parse import parse

PACKAGE = Path(netsim.__file__).parent
USUAL = os.environ.get("NETSIM_CACHE")


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(shipped, "BUILT", tmp_path / "nothing is built")
    cache.warn_once.cache_clear()
    return tmp_path / "cache"


# -------------------------------------------------------------------------------------------------- what is damaged


def flipped(place, bit):
    """One bit of the content, at a share of its length."""

    def damage(path):
        content = bytearray(path.read_bytes())
        content[int(place * (len(content) - 1))] ^= 1 << bit
        path.write_bytes(content)

    return damage


def cut(share):
    return lambda path: path.write_bytes(path.read_bytes()[: int(share * path.stat().st_size)])


def replaced(content):
    return lambda path: path.write_bytes(content(path.read_bytes()) if callable(content) else content)


def pipe(path):
    path.unlink()
    os.mkfifo(path)


DAMAGES = {
    **{f"bit {bit} at {place:.0%}": flipped(place, bit) for place, bit in [(0, 0), (0.001, 7), (0.01, 3), (0.1, 1), (0.5, 4), (0.9, 6), (1, 0)]},
    **{f"cut to {share:.0%}": cut(share) for share in (0, 0.002, 0.05, 0.5, 0.999)},
    "garbage": replaced(os.urandom(1000)),
    "text": replaced(b"no entry\n"),
    "zeros, as after a crash": replaced(lambda content: bytes(len(content))),
    "a program of pickle": replaced(b"cos\nsystem\n(S'exit 1'\ntR."),
    "twice": replaced(lambda content: content + content),
    "an older form": replaced(lambda content: content.replace(cache.FORM, b"netsim 0 ", 1)),
    "only its body": replaced(lambda content: content[cache._HEAD :]),
    "others may write": lambda path: path.chmod(0o666),
    "a pipe": pipe,
}


@compiled
def tripled(x):  # type: ignore[no-untyped-def]
    """The function of the core that is kept here."""
    return 3.0 * x


PROGRAM = Program(1, 0, 0, (3.0,), (Instruction("mul", (0, 1)),), (2,))


def of_core(folder):
    objects._loaded.clear()
    tripled._entries.clear()
    return tripled(1.5)


def of_kernels(folder):
    zero, out = np.zeros(1, np.int32), np.zeros(1)
    native.run_native(native.compile({"a": PROGRAM}), "a", 1, zero, zero[:0], np.zeros(0), zero, np.array([0.5]), out)
    return out[0]


def of_trees(folder):
    file = folder / "own.lib"
    lines = ["function half(x : m) : m = x/2", 'component soft (p, n : translational) "s"', "  branch p -> n : x, v, f", "  f = 1e3 N/m*half(x)"]
    file.write_text("\n".join([*lines, "end", ""]))
    return parsed(file)


def of_tables(folder):
    grammar._lark_data.cache_clear()
    return grammar._lark_data()


def of_facts(folder):
    return Facts("facts-here").recall(("kernel", 1), lambda: ((1.5, float("-inf"), ("node", 0, 2)), None))


KINDS = {
    "core": (of_core, "code"),
    "facts": (of_facts, "code"),
    "kernels": (of_kernels, "code"),
    "trees": (of_trees, "parsed"),
    "tables": (of_tables, "grammar"),
}
TABLES = grammar._compile((PACKAGE / "text/grammar/netsim.lark").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_entry_of_any_kind_is_replaced(kind, root, tmp_path, monkeypatch):
    """The same result after each of twenty damages, and the entry is as before; what is read again is not made again."""
    assert len(DAMAGES) == 20
    monkeypatch.setattr(grammar, "_compile", lambda text: TABLES)  # 0.3 s each time
    make, folder = KINDS[kind]
    expected = make(tmp_path)
    entries = sorted((root / folder).iterdir())
    (entry,) = (each for each in entries if not each.name.startswith("functions-"))  # digests of a file's functions
    whole = entry.read_bytes()
    assert without_checksum(whole) is not None and entry.stat().st_mode & 0o777 == 0o600
    for name, damage in DAMAGES.items():
        damage(entry)
        assert read_entry(entry) is None, name
        assert make(tmp_path) == expected, name
        assert entry.read_bytes() == whole and entry.stat().st_mode & 0o777 == 0o600, name
    assert sorted((root / folder).iterdir()) == entries
    monkeypatch.setattr(cache, "write_atomically", lambda *_: pytest.fail("made again"))
    assert make(tmp_path) == expected


OWN = """use translational
component damaged_spring (p, n : translational) "spring of this test"
  param c : N/m > 0 "stiffness"
  branch p -> n : x, v, f
  f = c*x + 7.25 N/m^3*x^3
end
s damaged_spring (a, ground) c = 100 N/m
m mass (a) m = 1 kg
start a.v = 1 m/s
run transient(stop = 0.1 s, step = 1 ms, method = euler)
"""


def test_whole_runs_over_folders_full_of_damage(root, monkeypatch):
    """Every file of the cache damaged, each in another way; then every file in the same way."""
    with monkeypatch.context() as usual:  # the core's machine code from the usual place
        usual.setenv("NETSIM_CACHE", USUAL) if USUAL else usual.delenv("NETSIM_CACHE")
        netsim.load(OWN.replace("7.25", "7.5")).samples()

    def values():
        monkeypatch.setattr(addresses, "_native", {})
        grammar._lark_data.cache_clear()
        grammar._PARSERS.lark = None
        netsim.library.files._read.cache_clear()
        netsim.library.files._libraries.clear()
        return netsim.load(OWN).samples()[0].values

    expected = values()
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    assert {path.parent.name for path in files} == {"code", "parsed", "grammar"}
    for k, damage in enumerate([None, *DAMAGES.values()][:: len(DAMAGES) // 3]):
        for i, path in enumerate(files):
            (damage or list(DAMAGES.values())[(i + k) % len(DAMAGES)])(path)
        assert np.array_equal(values(), expected)
        assert {path for path in root.rglob("*") if path.is_file()} == set(files)
        assert all(without_checksum(path.read_bytes()) is not None for path in files)


# ----------------------------------------------------------------------------------------------------- who may write


def test_folders_and_entries_are_the_users_own(root):
    """Also where they were made more open before: what others could only read is taken from them."""
    root.mkdir(mode=0o755)
    folder = cache_folder("code")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert write_entry(folder / "a", b"body") and (folder / "a").stat().st_mode & 0o777 == 0o600
    folder.chmod(0o755)
    (folder / "a").chmod(0o644)
    assert read_entry(cache_folder("code") / "a") == b"body"
    assert folder.stat().st_mode & 0o777 == 0o700 and (folder / "a").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(("inside", "mode"), [("code", 0o770), ("code", 0o707), ("", 0o777)])
def test_a_folder_that_others_may_write_is_not_used(root, caplog, inside, mode):
    """A note says so, once, and runs go on."""
    write_entry(cache_folder("code") / "a", b"body")
    (root / inside).chmod(mode)
    for _ in range(3):
        assert cache_folder("code") is None
        assert store.write_code("name", {}, b"code") is False
        assert of_kernels(root) == 1.5
    assert [("others may write there" in r.message and str(root / inside) in r.message) for r in caplog.records] == [True]
    (root / inside).chmod(0o1777 if inside == "" else 0o700)  # as /tmp is
    assert read_entry(cache_folder("code") / "a") == b"body"


def test_what_belongs_to_somebody_else_is_not_used(root, caplog, monkeypatch):
    folder = cache_folder("code")
    write_entry(folder / "a", b"body")
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
    assert read_entry(folder / "a") is None
    root.chmod(0o1777)
    if own:  # a folder of the system's own, as /tmp, is good enough to lie in
        os.chmod(root, 0o700)
    assert cache_folder("code") is None
    assert all("another user" in r.message or "others may" in r.message for r in caplog.records) and caplog.records


def test_a_note_goes_to_the_log_or_to_stderr(caplog, capsys):
    with caplog.at_level(logging.WARNING, "netsim"):
        cache.warn_once("100 % of it")
        cache.warn_once("100 % of it")
    assert [record.message for record in caplog.records] == ["100 % of it"]


def test_an_entry_that_is_not_whole_is_none():
    assert without_checksum(with_checksum(b"")) == b"" and without_checksum(with_checksum(b"body\n")) == b"body\n"
    assert without_checksum(b"") is without_checksum(cache.FORM) is without_checksum(with_checksum(b"body")[:-1]) is None


# -------------------------------------------------------------------------------------------------- what goes wrong


def test_a_full_disk_is_no_hindrance(root, monkeypatch):
    """Writing to /dev/full fails as it does on a full disk, when the buffer is written out."""
    folder = cache_folder("code")

    def full(handle, mode):
        os.close(handle)
        return open("/dev/full", mode)

    monkeypatch.setattr(os, "fdopen", full)
    assert write_entry(folder / "a", b"body") is False
    assert of_kernels(root) == 1.5 and parsed(PACKAGE.parent / "library/electrical/elements.lib").statements
    assert not list(folder.iterdir())
    monkeypatch.undo()


def test_a_home_that_cannot_be_written_is_no_hindrance(tmp_path, monkeypatch):
    monkeypatch.delenv("NETSIM_CACHE")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    monkeypatch.setenv("HOME", str(home))
    access, mkdir = os.access, Path.mkdir

    def refused(path, *arguments, **named):
        if path.is_relative_to(home):
            raise PermissionError(13, "Permission denied", str(path))
        mkdir(path, *arguments, **named)

    monkeypatch.setattr(Path, "mkdir", refused)  # the superuser may write anywhere
    monkeypatch.setattr(os, "access", lambda path, mode: not Path(path).is_relative_to(home) and access(path, mode))
    assert cache_folder("code") is None
    assert of_kernels(tmp_path) == 1.5 and of_trees(tmp_path) == parse((tmp_path / "own.lib").read_text(), str(tmp_path / "own.lib"))
    assert not list(home.iterdir())


def test_two_processes_that_compile_at_once_have_one_result(root):
    """Both begin with an empty cache: tables, trees and kernels; neither finds half an entry of the other's."""
    code = "from pathlib import Path; from netsim.text.kept import shipped; shipped.BUILT = Path('nothing is built');"
    code += f"import netsim; print(netsim.load({OWN!r}).machine.g.tobytes().hex(), *range(40))"
    both = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    (first, said), (second, said_too) = (each.communicate() for each in both)
    assert first == second and len(first) > 100 and said == said_too == ""
    files = [path for path in root.rglob("*") if path.is_file()]
    assert {path.parent.name for path in files} == {"code", "parsed", "grammar", "sources"}
    assert all(without_checksum(path.read_bytes()) is not None for path in files)


def test_threads_that_write_one_entry_leave_a_whole_one(root):
    folder = cache_folder("code")
    bodies = [bytes([k]) * 100_000 for k in range(8)]
    found = []

    def work(body):
        for _ in range(20):
            assert write_entry(folder / "a", body)
            found.append(read_entry(folder / "a"))

    threads = [threading.Thread(target=work, args=(body,)) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 160 and set(found) <= set(bodies) and len(list(folder.iterdir())) == 1


def test_machine_code_of_another_processor_is_another_entry(monkeypatch):
    """By the instruction set; and where no set is known (not x86-64), by the processor's name and features."""
    names = {native.file_of(PROGRAM, level) for level in linking.LEVELS}
    assert len(names) == len(linking.LEVELS)
    told = set()
    for processor in [("apple-m1", "+neon"), ("apple-m1", "+neon,+sme"), ("apple-m4", "+neon")]:
        monkeypatch.setattr(linking, "_processor", lambda level, processor=processor: processor)
        told.add(linking.target_description.__wrapped__("host"))
    assert len(told) == 3


def test_machine_code_that_is_damaged_in_the_package_is_told_and_made_again(root, tmp_path, monkeypatch, caplog):
    with store.building(tmp_path):
        assert native.compile({"a": PROGRAM}).compiled == ("a",)
    monkeypatch.setattr(store, "BUILT", tmp_path)
    assert native.compile({"a": PROGRAM}).compiled == ()
    entry = tmp_path / native.file_of(PROGRAM, linking.level_of_host())
    entry.chmod(0o666)  # a package belongs to whoever installed it
    assert native.compile({"a": PROGRAM}).compiled == ()
    for damage in (DAMAGES["bit 4 at 50%"], DAMAGES["cut to 0%"]):
        damage(entry)
        assert of_kernels(root) == 1.5
    assert native.compile({"a": PROGRAM}).compiled == ()  # the user's cache has it now
    (record,) = caplog.records
    assert "is damaged: what is in it is compiled again" in record.message and str(entry) in record.message
    with store.building(tmp_path):  # and `make core` mends it
        assert native.compile({"a": PROGRAM}).compiled == ("a",)
    assert without_checksum(entry.read_bytes()) is not None


def test_a_folder_that_grew_too_large_forgets_the_longest_unused(tmp_path, monkeypatch):
    assert LARGEST == 2 * KEPT == 2**30
    monkeypatch.setattr(cache, "LARGEST", 50)
    monkeypatch.setattr(cache, "KEPT", 30)
    for k in range(6):
        (tmp_path / f"code-{k}").write_bytes(b"0123456789")
        os.utime(tmp_path / f"code-{k}", (1000 + k, 1000 + k))
    cache._cut(tmp_path)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["code-3", "code-4", "code-5"]


# ------------------------------------------------------------------------------------------------------ nothing runs


def test_nothing_that_is_read_can_be_a_program():
    """No module that makes objects out of bytes by running them; the one `exec` writes a function's head from kinds of arguments. What goes
    to the workers of a cluster is pickled, as everything is that dask sends there."""
    found = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [node.func.id] if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else []
            found |= {(file.name, name) for name in names if name.split(".")[0] in PROGRAMS}
            for keyword in node.keywords if isinstance(node, ast.Call) else []:
                found |= {(file.name, keyword.arg)} if keyword.arg in ("allow_pickle", "cache") else set()
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("lambdify", "parse_expr", "sympify", "system")
            ):
                found.add((file.name, node.func.attr))
    assert found == {("entries.py", "exec"), ("pieces.py", "pickle")}


PROGRAMS = {"pickle", "marshal", "shelve", "dill", "joblib", "subprocess", "eval", "exec", "compile", "__import__", "runpy", "sympy"}
