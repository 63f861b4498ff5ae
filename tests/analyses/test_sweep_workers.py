"""Workers of a sweep: processes or threads, ended, interrupted; no result is lost and none of them stays."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from netsim.analyses.many import workers
from netsim.analyses.many.one_case import Outcome
from netsim.results.files import read


@pytest.mark.parametrize("threads", [False, True])
def test_workers_are_processes_or_threads(monkeypatch, threads):
    monkeypatch.setattr(workers, "WORTH", 0.0)
    monkeypatch.setattr(workers, "can_fork", lambda: not threads)
    found, told = {}, []

    def work(i):
        return Outcome(message=f"{i} by {os.getpid()} {threading.get_ident()}")

    assert workers.outcomes(work, range(3, 300), 2, lambda *at: told.append(at), found.__setitem__) == ""
    assert sorted(found) == list(range(3, 300)) and all(found[i].message.startswith(f"{i} by ") for i in found)
    mine = [each for each in found.values() if each.message.split()[2] == str(os.getpid())]
    assert len(mine) == (len(found) if threads else workers.ALONE)
    assert told[-1] == (1.0, "297 of 297 cases", 297)


def test_nothing_is_forked_beside_a_thread_that_computes():
    """It could hold a lock that its copy would wait for."""
    go_on = threading.Event()
    other = threading.Thread(target=go_on.wait)
    other.start()
    assert not workers.can_fork()
    go_on.set()
    other.join()


def test_a_worker_that_is_killed_loses_nothing(monkeypatch, tmp_path):
    monkeypatch.setattr(workers, "WORTH", 0.0)
    monkeypatch.setattr(workers, "can_fork", lambda: True)
    here, found = os.getpid(), {}

    def work(i):
        if os.getpid() != here and (i == 300 or (i == 150 and not (tmp_path / "ended").exists())):
            (tmp_path / "ended").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Outcome(message=str(i))

    assert workers.outcomes(work, range(400), 2, None, found.__setitem__) == ""
    assert [i for i in range(400) if found[i].message != str(i)] == [300]
    assert found[300].failed and found[300].message == "E522 the process that computed this case ended by signal 9, twice"


def test_what_a_worker_raises_is_raised(monkeypatch):
    monkeypatch.setattr(workers, "WORTH", 0.0)
    monkeypatch.setattr(workers, "can_fork", lambda: True)

    def work(i):
        return Outcome(message=str(1 / (i - 100)))

    with pytest.raises(ZeroDivisionError):
        workers.outcomes(work, range(400), 2, None, lambda i, each: None)


SLOW = """use electrical
v1 voltage (a, ground) v = sin(1 kHz*2*pi*time)*1 V
r1 resistor (a, b) R = 1 kOhm
c1 capacitor (b, ground) C = 1 uF, start v = 0 V
measure top = max(b.v)
run sweep(stop = 40 ms, step = 2 us, over = [r1.R = 1 .. 2 kOhm], points = 1000, workers = 2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="processes are listed in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_workers_end_with_their_sweep(number, tmp_path):
    """Interrupted or killed: no process stays, and what was done is not done again."""
    (tmp_path / "slow.net").write_text(SLOW)
    command = [sys.executable, "-m", "netsim", "run", "slow.net", "-o", "slow.nc"]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    rows = tmp_path / "slow.nc.part" / "1.rows"
    state = rows.with_suffix(".state")  # written behind the rows that it counts
    wait_for(lambda: state.is_file() or run.poll() is not None)
    crew = forked_by(run.pid)
    assert run.poll() is None and len(crew) == 2
    run.send_signal(number)
    assert run.wait(20) == (130 if number == signal.SIGINT else -number)
    wait_for(lambda: not any(is_alive(each) for each in crew))
    before = rows.stat().st_size
    assert before > 0
    again = subprocess.run([*command, "--resume"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert again.returncode == 0, again.stdout + again.stderr
    found = read(tmp_path / "slow.nc")
    assert not found["failed"].any() and float(found["top"].max()) < 1


def wait_for(condition):
    """At most five minutes: there may be no machine code yet."""
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come")


def forked_by(process):
    with open(f"/proc/{process}/task/{process}/children") as file:
        return [int(text) for text in file.read().split()]


def is_alive(process):
    """Not ended: nobody may have asked for its status yet."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
