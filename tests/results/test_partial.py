"""What a long run leaves while it goes on: whole or refused, whatever ends the writing."""

import errno
import os

import numpy as np
import pytest

from netsim.results.files import read
from netsim.results.partial import container
from netsim.results.partial.container import packed, read_tree, unpacked, write_tree
from netsim.results.partial.recording import Recording
from netsim.results.partial.rows import Rows
from netsim.results.samples import Signal
from netsim.text.errors import InputError, SimulationError

TREE = {
    "t": 0.1, "n": 3, "none": None, "name": "größe", "list": [1, [2.5]], "empty": np.zeros((0, 3)),
    "x": np.array([[0.1, np.nan], [np.inf, -0.0]]), "k": np.arange(3, dtype=np.int32), "z": np.array([1j]), "b": [True],
}  # fmt: skip
SIGNALS = [Signal("a.v", "V", "voltage")]


def test_what_is_packed_is_what_is_unpacked():
    found = unpacked(packed(TREE))
    assert found.keys() == TREE.keys()
    for name, value in TREE.items():
        if isinstance(value, np.ndarray):
            assert found[name].dtype == value.dtype and found[name].shape == value.shape
            assert found[name].tobytes() == value.tobytes()
        else:
            assert found[name] == value and type(found[name]) is type(value)


def test_a_flipped_bit_and_a_missing_end_are_told():
    whole = packed(TREE)
    for k in range(len(container.HEAD), len(whole), 7):
        with pytest.raises(ValueError, match="checksum"):
            unpacked(whole[:k] + bytes([whole[k] ^ 4]) + whole[k + 1 :])
    for k in range(0, len(whole), 5):
        with pytest.raises(ValueError, match=r"damaged|no state"):
            unpacked(whole[:k])


def test_objects_are_refused():
    with pytest.raises(TypeError):
        packed({"x": np.array([object()])})
    with pytest.raises(TypeError):
        packed({"x": object()})


def test_a_state_that_cannot_be_written_leaves_the_former(tmp_path, monkeypatch):
    path = tmp_path / "1.state"
    write_tree(path, {"n": 1})

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(container.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_tree(path, {"n": 2})
    assert read_tree(path) == {"n": 1}
    assert os.listdir(tmp_path) == ["1.state"]


def test_a_row_that_is_cut_does_not_count(tmp_path):
    rows = Rows(tmp_path / "1.rows", 3)
    rows.append(np.arange(12.0).reshape(4, 3))
    with rows.path.open("ab") as stream:
        stream.write(b"12345")
    again = Rows(rows.path, 3)
    assert again.count == 4
    again.append(np.ones((2, 3)))
    assert np.array_equal(Rows(rows.path, 3).read(3, 6), [[9, 10, 11], [1, 1, 1], [1, 1, 1]])
    again.shorten(1)
    assert np.array_equal(np.vstack(list(again.chunks())), [[0, 1, 2]])


def log_of(folder, version="1", **options):
    return Recording(folder, **options).log({"version": version}, SIGNALS, 1, 0)


def test_a_folder_of_a_run_that_was_killed_is_read_as_partial(tmp_path):
    folder = tmp_path / "a.csv.part"
    log = log_of(folder)
    log.add(np.array([[0.0, 5.0, 1, 2, 3, 4], [0.5, 6.0, 1, 2, 3, 4]]))
    data = read(folder)
    assert data.attrs == {"finished": False, "message": "written up to t = 0.5 s", "netsim": "1"}
    assert data["a.v"].values.tolist() == [5.0, 6.0] and data["a.v"].attrs == {"units": "V", "long_name": "voltage"}


def test_a_state_of_another_run_or_damaged_is_refused(tmp_path):
    folder = tmp_path / "a.csv.part"
    with pytest.raises(InputError, match="no run to resume"):
        Recording(folder, resume=True)
    log = log_of(folder)
    log.add(np.zeros((2, 6)))
    log.save({"n": 7})
    assert log_of(folder, resume=True).tree == {"n": 7}
    with pytest.raises(InputError, match="of version 1, and this is version 2"):
        log_of(folder, version="2", resume=True)
    rows = folder / "1.rows"
    os.truncate(rows, rows.stat().st_size - 1)
    with pytest.raises(InputError, match="shorter than its state says"):
        log_of(folder, resume=True)
    os.truncate(folder / "1.state", 50)
    with pytest.raises(InputError, match="damaged"):
        log_of(folder, resume=True)


def test_a_full_disk_is_told_with_the_last_good_instant(tmp_path, monkeypatch):
    log = log_of(tmp_path / "a.csv.part")
    log.add(np.array([[0.25, 0, 0, 0, 0, 0]]))

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("netsim.results.partial.rows.os.fsync", full)
    with pytest.raises(SimulationError, match=r"No space left on device; the last good block ends at t = 0\.25 s"):
        log.add(np.ones((1, 6)))
    assert read(tmp_path / "a.csv.part")["time"].values.tolist() == [0.25]
