"""Work shared with a forked process, and functions that two processes translate."""

import multiprocessing
import os
import signal
import time

import numba
import numpy as np
import pytest

from netsim.core.compiled import kinds, objects, processes, translation
from netsim.core.compiled.function import compiled, prepare


@compiled
def smooth(x):
    result = np.zeros(len(x))
    for k in range(1, len(x)):
        result[k] = 0.5 * (x[k] + x[k - 1])
    return result


@compiled
def smoother(x):
    return smooth(smooth(x))


@compiled
def rough(x):
    total = 0.0
    for k in range(1, len(x)):
        total += abs(x[k] - x[k - 1])
    return total + smooth(x)[1] + smoother(x)[2]


@pytest.fixture
def two(monkeypatch):
    """As on a computer with two processors."""
    monkeypatch.setattr(processes, "processors", lambda: 2)
    yield
    assert multiprocessing.active_children() == []


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path))
    monkeypatch.setattr(objects, "_loaded", {})
    for each in (smooth, smoother, rough):
        monkeypatch.setattr(each, "_entries", {})
    return tmp_path / "code"


def codes(folder):
    return {each.name: each.read_bytes() for each in folder.iterdir() if not each.name.startswith("functions-")}


def by_whom(i):
    time.sleep(0.05)
    return i, os.getpid()


def test_two_processes_take_pieces_as_they_are_free(two):
    found = processes.shared_between_processes(by_whom, range(20))
    assert [i for i, _ in found] == [*range(20)] and len({who for _, who in found}) == 2


def test_one_processor_does_all_pieces_itself(two, monkeypatch):
    monkeypatch.setattr(processes, "processors", lambda: 1)
    assert {who for _, who in processes.shared_between_processes(by_whom, range(5))} == {os.getpid()}


def test_what_is_found_may_be_longer_than_a_pipe(two):
    found = processes.shared_between_processes(lambda i: by_whom(i) and bytes([i]) * 1_000_000, range(6))
    assert [(each[0], len(each)) for each in found] == [(i, 1_000_000) for i in range(6)]


def test_pieces_of_a_process_that_is_stuck_are_done_here(two, monkeypatch):
    monkeypatch.setattr(processes, "PATIENCE", 0.2)
    here, began = os.getpid(), time.monotonic()
    found = processes.shared_between_processes(lambda i: i if os.getpid() == here else time.sleep(600), range(4))
    assert found == [0, 1, 2, 3] and time.monotonic() - began < 60.0


@pytest.mark.parametrize("end", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: os._exit(1), lambda: 1 / 0])
def test_pieces_of_a_process_that_ends_early_are_done_here(two, end):
    here = os.getpid()

    def work(i):
        if os.getpid() != here:
            end()
        return by_whom(i)

    assert processes.shared_between_processes(work, range(6)) == [(i, here) for i in range(6)]


@pytest.mark.parametrize("raised", [KeyboardInterrupt, ValueError])
def test_what_interrupts_the_work_ends_the_other_process(two, raised):
    here, began = os.getpid(), time.monotonic()

    def work(i):
        if os.getpid() == here:
            time.sleep(0.2)
            raise raised
        time.sleep(60.0)

    with pytest.raises(raised):
        processes.shared_between_processes(work, range(4))
    assert time.monotonic() - began < 30.0


def test_the_other_process_takes_nothing_more_when_the_first_one_is_killed(two, tmp_path):
    """`kill -9` leaves no time to end anything."""

    def work(i):
        (tmp_path / f"{i} {os.getpid()}").touch()
        time.sleep(0.5)

    first = multiprocessing.get_context("fork").Process(target=lambda: processes._by_two(work, range(50)))
    first.start()
    until = time.monotonic() + 30.0
    while len([*tmp_path.iterdir()]) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    first.kill()
    first.join()
    time.sleep(1.5)
    assert 2 <= len([*tmp_path.iterdir()]) <= 4


def test_machine_code_is_the_same_whoever_translates_it(two, folder, tmp_path, monkeypatch):
    x, told = np.array([1.0, 4.0, 9.0]), []
    monkeypatch.setattr(objects, "translating", [told.append])
    calls = [(smooth, x), (smoother, x), (rough, x)]
    prepare(calls, [])
    assert told == ["smooth", "smoother", "rough"]
    values = [f(each) for f, each in calls]
    assert np.array_equal(values[0], [0.0, 2.5, 6.5]) and np.array_equal(values[1], [0.0, 1.25, 4.5])
    assert values[2] == 8.0 + 2.5 + 4.5 and len(told) == 3
    shared = codes(folder)
    monkeypatch.setattr(processes, "processors", lambda: 1)
    monkeypatch.setattr(objects, "_loaded", {})
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path / "alone"))
    for each in (smooth, smoother, rough):
        monkeypatch.setattr(each, "_entries", {})
    prepare(reversed(calls), [])
    assert len(shared) == 3 and codes(tmp_path / "alone" / "code") == shared


def test_two_processes_translate_where_nothing_can_be_kept(two, folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("a file where the folder should be")
    monkeypatch.setenv("NETSIM_CACHE", str(tmp_path / "file"))
    x = np.array([1.0, 4.0, 9.0])
    prepare([(smooth, x), (rough, x)], [])
    assert len(objects._loaded) == 2 and rough(x) == 15.0 and not folder.exists()


def test_what_python_runs_is_passed_over(folder):
    prepare([(lambda x: x, 1.0)], [])
    assert objects._loaded == {}


def test_a_function_is_optimised_once_with_all_that_it_calls(folder, monkeypatch):
    """Not once more for each function that calls it, as numba does."""
    optimised = []
    monkeypatch.setattr(translation, "optimise", lambda module, name: optimised.append(name) or ordinary(module, name))
    assert rough(np.array([1.0, 4.0, 9.0])) == 15.0 and len(optimised) == 1


ordinary = translation.optimise


def test_a_program_may_use_numba_itself():
    """Its functions call some of numba's own that are translated for this package already."""

    @numba.njit(nogil=True, error_model="numpy")
    def doubled(x):
        result = np.zeros(len(x))
        for k in range(len(x)):
            result[k] = 2.0 * x[k]
        return np.maximum(result, 3.0)

    assert smooth(np.array([1.0, 4.0]))[1] == 2.5
    translation.translate(smooth, (kinds.VECTOR,))
    assert np.array_equal(doubled(np.array([1.0, 4.0])), [3.0, 8.0])
