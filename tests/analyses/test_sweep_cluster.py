"""Sweeps on a dask cluster: the results of this machine, also where workers are lost; what cannot be done is told."""

import os
import signal
import sys

import numpy as np
import pytest

import netsim
from netsim.analyses.many import workers
from netsim.analyses.many.cluster.connection import connected
from netsim.cli import main
from netsim.results.files import read
from netsim.text.errors import InputError

distributed = pytest.importorskip("distributed", reason="dask is not installed: pip install 'netsim-acausal[dask]'")
pieces = pytest.importorskip("netsim.analyses.many.cluster.pieces")

OWN = """use electrical
component leaky (p, n : electrical) "capacitor beside a resistor"
  param  C : F > 0
  param  G : S >= 0 = 1 uS
  branch p -> n : v, i
  i = C*der(v) + G*v
  stores C*v^2/2
  dissipates G*v^2
end
"""
LAG = """use "leaky.lib"
use electrical
v1 voltage (a, ground) v = 5 V
r1 resistor (a, b) R = 1 kOhm
c1 leaky (b, ground) C = 1 uF, start v = 0 V
measure rise = when(b.v > 4 V)
run sweep(stop = 6 ms, over = [r1.R = 1 kOhm +- 5 %, c1.v.start = uniform(0 V, 0.4 V)], cases = 400, of = [rise, b.v])
"""
ALONE = LAG.replace('use "leaky.lib"\n', "").replace("leaky", "capacitor")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as found:
        yield found


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as found:
        yield found


@pytest.fixture
def file(tmp_path):
    (tmp_path / "leaky.lib").write_text(OWN)
    (tmp_path / "lag.net").write_text(LAG)
    return tmp_path / "lag.net"


def same(one, other):
    """Whether two sweeps have the same bits."""
    names = [name for name in one.data_vars if one[name].dtype.kind in "fb"]
    return len(names) > 2 and all(one[name].values.tobytes() == other[name].values.tobytes() for name in names)


OVER = {"r1.R": "1 kOhm +- 5 %", "c1.v.start": "uniform(0 V, 0.4 V)"}


def swept(model, client, monkeypatch, progress=None, cases=600):
    """A sweep on the cluster, in pieces of some ten cases."""
    monkeypatch.setattr(pieces, "PIECE", 0.02)
    return model.sweep(OVER, of=["rise", "b.v"], cases=cases, stop="6 ms", client=client, progress=progress)


def test_the_cluster_gives_the_bits_of_this_machine(file, client, monkeypatch):
    """The network has a library of its own, which travels with it: its file is gone."""
    model = netsim.load(str(file)).with_params({"c1.G": "2 uS"})
    here = model.sweep(OVER, of=["rise", "b.v"], cases=600, stop="6 ms", workers=1)
    (file.parent / "leaky.lib").unlink()
    monkeypatch.setattr(workers, "_by_threads", None)
    there = swept(model, client, monkeypatch)
    assert same(here, there) and not there["failed"].any()
    assert there.attrs["cpu_seconds"] > 0.0
    assert set(client.run(lambda: len(pieces._works)).values()) == {0}  # nothing stays


def test_each_worker_makes_the_work_once(file, client, monkeypatch):
    made = client.run(_count_making)
    assert set(made.values()) == {0}
    swept(netsim.load(str(file)), client, monkeypatch)
    made = client.run(_made)
    assert len(made) == 2 and set(made.values()) == {1}


def _count_making():
    loads = pieces.pickle.loads

    class Counting:
        dumps, count = staticmethod(pieces.pickle.dumps), 0

        @staticmethod
        def loads(content):
            Counting.count += 1
            return loads(content)

    pieces.pickle = Counting
    return Counting.count


def _made():
    return pieces.pickle.count


@pytest.mark.skipif(sys.platform == "win32", reason="processes are ended by a signal of POSIX")
def test_a_worker_that_ends_loses_no_results(file, client, monkeypatch):
    model, ended = netsim.load(str(file)), []

    def end_one(part, *_):
        if part > 0.2 and not ended:
            ended.append(min(client.run(os.getpid).values()))
            os.kill(ended[0], signal.SIGKILL)

    here = model.sweep(OVER, of=["rise", "b.v"], cases=800, stop="6 ms", workers=1)
    there = swept(model, client, monkeypatch, end_one, 800)
    assert ended and same(here, there) and not there["failed"].any()


def test_pieces_follow_measured_time_and_the_last_ones_are_even():
    going = pieces._Going(None, "", pieces.deque(range(1000)), spent=[0.05, 10.0], threads=2)
    assert len(going.next()) == round(pieces.PIECE / 0.005)
    going.spent = [10.0, 10.0]
    assert len(going.next()) == 1
    going.spent = [1e-6, 10.0]
    sizes = [len(going.next()) for _ in range(3)]
    assert sizes[0] == -(-899 // 2) and sizes[1] == -(-(899 - sizes[0]) // 2)


class Killed:
    """A piece at which workers were lost."""

    def result(self):
        raise distributed.KilledWorker("piece", None, 3)


def test_cases_of_a_piece_that_is_lost_are_done_one_by_one():
    piece, alone = Killed(), Killed()
    going = pieces._Going(None, "", pieces.deque(), out={piece: [3, 4], alone: [7]})
    assert going.done(piece) == [] and list(going.suspects) == [3, 4]
    ((number, outcome),) = going.done(alone)
    assert number == 7 and outcome.failed and outcome.message.startswith("E522 the workers")


def test_a_cluster_without_workers_is_told(file):
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as empty,
        distributed.Client(empty, set_as_default=False) as client,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(pieces, "PATIENCE", 0.5)
        found = netsim.load(str(file)).sweep(OVER, of=["rise"], cases=10, stop="6 ms", client=client)
    assert int(np.isfinite(found["rise"]).sum()) == workers.ALONE
    assert found.attrs["message"] == "the cluster had no worker for 0.5 s, after 2 of 10 cases"


def test_the_command_takes_an_address(file, cluster, monkeypatch, capsys):
    monkeypatch.chdir(file.parent)
    address = cluster.scheduler_address.replace("tcp://", "dask://")
    assert main(["sweep", "lag.net", "--on", address, "-o", "there.nc", "--quiet"]) == 0
    assert main(["sweep", "lag.net", "--workers", "1", "-o", "here.nc", "--quiet"]) == 0
    assert same(read(file.parent / "here.nc"), read(file.parent / "there.nc"))
    assert main(["sweep", "lag.net", "--on", "there:8786"]) == 2
    assert "E524" in capsys.readouterr().err


def test_what_cannot_be_done_is_told(client, monkeypatch):
    model = netsim.load(ALONE)
    tabled = "v2 voltage (d, ground) v = table(first, b.v)\nrun first = transient(stop = 1 ms)\nrun second = transient(stop = 1 ms)\n"
    with pytest.raises(InputError, match="a table over another run"):
        netsim.load(ALONE + tabled).sweep(OVER, client=client, stop="6 ms")
    with pytest.raises(InputError, match="client"):
        model.sweep(OVER, client="dask://127.0.0.1:8786", stop="6 ms")
    monkeypatch.setattr("netsim.analyses.many.cluster.connection.PATIENCE", 1)
    with pytest.raises(InputError, match="no scheduler answers"), connected("dask://127.0.0.1:9"):
        pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"dask\.distributed") as told, connected("dask://127.0.0.1:9"):
        pass
    assert "netsim-acausal[dask]" in told.value.problems[0].hint
