"""What a text has read lies in the netlist's folder, in those of libraries, or where the user allows it; what is no netlist is not shown."""

import io
import os
from pathlib import Path

import pytest

import netsim
from netsim.cli import main
from netsim.library.files import included, models_folder, read_program
from netsim.library.places import roots_of
from netsim.text.errors import InputError, Problem, Span, render
from netsim.text.parse import parse

HEAD = "use electrical\nr resistor (a, ground) R = 1 Ohm\n"
RUN = "run transient(stop = 1 s, sample = 0.5 s)\n"
MODEL = 'component secret (p, n : electrical) "s"\n  branch p -> n : v, i\n  v = 2 Ohm*i\nend\n'
CIRCUIT = "title\nV1 a 0 1\nR1 a 0 1k\n.op\n"
ROBOT = '<robot name="arm"><link name="tool"/></robot>'
OTHER = HEAD + "v voltage (a, ground) v = 1 V\n" + RUN
FILES = {"x.net": "param q = 1\n", "x.lib": MODEL, "x.csv": "time [s],v [V]\n0,1\n2,3\n", "x.cir": CIRCUIT, "x.urdf": ROBOT, "other.net": OTHER}
FILES |= {"x.inc": "V1 a 0 1\nR1 a 0 1k\n.op\n", "parts.lib": "* parts\n.lib part\nV1 a 0 1\nR1 a 0 1k\n.op\n.endl\n"}
NAMING = {
    "include": ("x.net", '{head}include "{name}"\n'),
    "use": ("x.lib", '{head}use "{name}"\n'),
    "table": ("x.csv", '{head}v voltage (a, ground) v = table("{name}", time, "v")\n{run}'),
    "named table": ("x.csv", '{head}table drive = "{name}"\nv voltage (a, ground) v = table(drive, time, "v")\n{run}'),
    "use of SPICE": ("x.cir", '{head}use "{name}"\n'),
    "use of a robot": ("x.urdf", '{head}use "{name}"\n'),
    "another netlist": ("other.net", '{head}v voltage (a, ground) v = table("{name}", a.v)\n{run}'),
    "include of SPICE": ("x.inc", "title\nR2 a 0 2k\n.include {name}\n"),
    "library of SPICE": ("parts.lib", 'title\nR2 a 0 2k\n.lib "{name}" part\n'),
}


@pytest.fixture
def folder(tmp_path):
    """`netlists` beside `data`, which has a file of every kind; a link leads there."""
    for place in ("netlists", "netlists/below", "data"):
        (tmp_path / place).mkdir()
    for name, text in FILES.items():
        for place in ("netlists", "netlists/below", "data"):
            (tmp_path / place / name).write_text(text)
        (tmp_path / "netlists" / f"link.{name}").symlink_to(tmp_path / "data" / name)
    (tmp_path / "netlists" / "away").symlink_to(tmp_path / "data")
    return tmp_path


def written(folder, kind, name):
    text = NAMING[kind][1].format(head=HEAD, run=RUN, name=name)
    file = folder / "netlists" / ("main.cir" if "SPICE" in kind and "use" not in kind else "main.net")
    file.write_text(text)
    return file


def opened(file):
    model = netsim.load(file)
    return model.samples() if model.network.runs else model


@pytest.mark.parametrize("kind", NAMING)
def test_files_lie_beside_the_netlist_or_below(folder, kind):
    name = NAMING[kind][0]
    for inside in (name, f"below/{name}", f"below/../{name}", f"./{name}", f"../netlists/{name}", str(folder / "netlists" / name)):
        assert opened(written(folder, kind, inside))


@pytest.mark.parametrize("kind", NAMING)
def test_files_elsewhere_are_refused_and_can_be_allowed(folder, kind, capsys):
    """By `..`, by a full path, by a link to the file and by a link to its folder; whether there is such a file is not told."""
    name = NAMING[kind][0]
    for outside in (f"../data/{name}", str(folder / "data" / name), f"link.{name}", f"away/{name}", f"../data/missing.{name}"):
        file = written(folder, kind, outside)
        with pytest.raises(InputError) as raised:
            opened(file)
        (problem,) = raised.value.problems
        assert problem.code == "E262" and problem.message == f"'{outside}' lies in {folder / 'data'}, which this text may not read"
        line = file.read_text().splitlines()[problem.span.line - 1]
        assert outside in line[problem.span.column - 1 : problem.span.end_column - 1]
        assert f"--allow {folder / 'data'}" in problem.hint
        assert main(["check", str(file)]) == 2 and "E262" in capsys.readouterr().err
        if "missing" not in outside:
            with netsim.allow(folder / "data"):
                assert opened(file)
            assert main(["check", str(file), "--allow", str(folder / "data")]) == 0
            capsys.readouterr()


def test_a_model_that_was_loaded_under_allow_runs_later(folder):
    """Tables are read when the network is built into a system: what was allowed for a model stays with it."""
    with netsim.allow(folder / "data"):
        model = netsim.load(written(folder, "table", "../data/x.csv"))
    assert model.samples()[0].finished and model.with_params({"r.R": "2 Ohm"}).samples()[0].finished
    with pytest.raises(InputError, match="E262"):
        opened(written(folder, "table", "../data/x.csv"))
    with pytest.raises(InputError, match="there is no folder"), netsim.allow(folder / "nowhere"):
        pass


def test_what_is_included_reads_no_more_and_no_less(folder):
    """A file below names one above it in the same root; one that is allowed reads the netlist's folder too, and nothing else."""
    (folder / "netlists/below/in.net").write_text('include "../x.net"\n')
    assert opened(written(folder, "include", "below/in.net"))
    (folder / "data/in.net").write_text('include "../netlists/x.net"\n')
    (folder / "data/out.net").write_text('include "../further.net"\n')
    (folder / "further.net").write_text("param w = 1\n")
    with netsim.allow(folder / "data"):
        assert opened(written(folder, "include", "../data/in.net"))
        with pytest.raises(InputError, match=r"out.net:1:1: E262 '../further.net'"):
            opened(written(folder, "include", "../data/out.net"))


def test_another_netlist_may_read_what_the_first_one_may(folder):
    """Its own folder does not count: a netlist in an allowed folder's neighbour stays outside."""
    text = HEAD + 'v voltage (a, ground) v = table("{}", time, "v")\n' + RUN
    (folder / "netlists/below/second.net").write_text(text.format("../x.csv"))
    assert opened(written(folder, "another netlist", "below/second.net"))
    (folder / "netlists/below/second.net").write_text(text.format("../../data/x.csv"))
    with pytest.raises(InputError, match="E262"):
        opened(written(folder, "another netlist", "below/second.net"))


def test_a_text_reads_the_working_directory(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder / "netlists")
    for name in ("x.net", "below/x.net"):
        assert netsim.load(f'{HEAD}include "{name}"\n')
    with pytest.raises(InputError, match="E262"):
        netsim.load(f'{HEAD}include "../data/x.net"\n')
    for name, status in (("x.net", 0), ("../data/x.net", 2)):
        monkeypatch.setattr("sys.stdin", io.StringIO(f'{HEAD}include "{name}"\n'))
        assert main(["check", "-"]) == status
    model = netsim.load(OTHER).with_overrides({})
    assert model.transient(stop=1, save=["a.v"]) is not None
    monkeypatch.chdir(folder)
    file = written(folder, "table", "x.csv")
    assert opened(file) and opened(file.relative_to(folder))
    capsys.readouterr()


def test_expressions_from_python_read_the_working_directory_too(folder, monkeypatch):
    monkeypatch.chdir(folder / "data")
    file = folder / "netlists/main.net"
    file.write_text("use translational\nm mass (a) m = 2 kg\nf force (a) F = 0 N\n")
    times = [0.1 * k for k in range(11)]
    (folder / "data/path.csv").write_text("time [s],x [m]\n" + "".join(f"{t},{t**3}\n" for t in times))
    motion = {"a.x": 'table("path.csv", time, "x")'}
    found = netsim.load(file).inverse(motion, ["f.F"], stop=1.0, step=0.1, save=["f.F"])
    assert float(found["f.F"][-1]) == pytest.approx(12.0, rel=1e-9)  # m*6*t
    with pytest.raises(InputError, match="E262"):
        netsim.load(file).inverse({"a.x": 'table("../path.csv", time, "x")'}, ["f.F"], stop=1.0, step=0.1)


def test_libraries_and_shipped_models_are_always_readable(folder, monkeypatch):
    """A library of NETSIM_PATH may name files of its own folder."""
    own = folder / "own"
    own.mkdir()
    (own / "mine.lib").write_text('use "parts.inc"\nuse electrical\n')
    (own / "parts.inc").write_text(MODEL)
    monkeypatch.setenv("NETSIM_PATH", str(own))
    file = folder / "netlists/main.net"
    file.write_text(f"use mine\n{HEAD}s secret (a, ground)\n")
    assert len(netsim.load(file).network.instances) == 2
    file.write_text(f'include "{models_folder() / "rc.net"}"\n')
    assert netsim.load(file).network.runs
    (own / "mine.lib").write_text('use "../data/x.lib"\n')
    file.write_text("use mine\n" + HEAD)
    with pytest.raises(InputError, match=r"mine.lib:1:1: E262"):
        netsim.load(file)


def test_definitions_from_python_read_the_working_directory(folder, monkeypatch):
    monkeypatch.chdir(folder / "data")
    before = dict(netsim.library.files.given)
    try:
        assert netsim.component(
            'use electrical\nuse "x.lib"\ncomponent twice (p, n : electrical) "t"\n  branch p -> n : v, i\n  v = 4 Ohm*i\nend\n'
        ) == ["twice"]
        file = folder / "netlists/main.net"
        file.write_text(HEAD + "s secret (a, ground)\nt twice (a, ground)\n")
        assert len(netsim.load(file).network.instances) == 3
        with pytest.raises(InputError, match="E262"):
            netsim.component(
                'use "../netlists/x.lib"\nuse electrical\ncomponent thrice (p, n : electrical) "t"\n  branch p -> n : v, i\n  v = 4 Ohm*i\nend\n'
            )
    finally:
        netsim.library.files.given.clear()
        netsim.library.files.given.update(before)


def test_commands_that_only_look_stay_inside_too(folder, capsys):
    """Counts given by `-p`, completion of words, and `netsim list --use`, whose file the user names."""
    file = written(folder, "include", "../data/x.net")
    assert main(["check", str(file), "-p", "q=2"]) == 2
    assert main(["complete", "--", "run", str(file), "-p", ""]) == 0
    assert "q=" not in capsys.readouterr().out
    assert main(["list", "--use", str(folder / "data/x.lib"), "secret"]) == 0
    (folder / "data/two.lib").write_text('use "../netlists/x.lib"\n')
    assert main(["list", "--use", str(folder / "data/two.lib"), "secret"]) == 2
    with pytest.raises(InputError, match="E262"):
        list(included(read_program(file)))
    assert folder / "netlists" in roots_of(str(file))


# ------------------------------------------------------------------------------------------------------ what is shown

SECRETS = "hunter2:x:0:0:\nswordfish = hunter2\nhunter2 (a) b = 1\n"


@pytest.mark.parametrize("name", ["shadow", "notes.txt", "id.pem", "link.net"])
@pytest.mark.parametrize("line", ['include "{}"', 'use "{}"', 'r table("{}", time, "v")', 'r table("{}", time)'])
def test_what_is_no_netlist_is_not_shown(folder, name, line):
    """Nor in messages from Python, nor by the number or places of its mistakes; a link is judged by what it leads to."""
    name = name.replace("net", "csv") if "table" in line else name
    secret = folder / "netlists" / name
    if "link" in name:
        (folder / "netlists/hidden").write_text(SECRETS)
        secret.symlink_to(folder / "netlists/hidden")
    else:
        secret.write_text(SECRETS)
    text = line.format(name)
    lines = f"v voltage (a, ground) v = {text[2:]}\n{RUN}" if text.startswith("r ") else f"{text}\n"
    (folder / "netlists/main.net").write_text(HEAD + lines)
    with pytest.raises(InputError) as raised:
        opened(folder / "netlists/main.net")
    (problem,) = raised.value.problems
    said = f"{raised.value} {problem}"
    assert not any(word in said for word in ("hunter2", "swordfish", "x:0"))
    assert "E24" in problem.code if "table" in line else problem.span.column == 1


def test_circuits_show_nothing_of_other_files_either(folder):
    (folder / "netlists/secrets").write_text(SECRETS)
    (folder / "netlists/main.cir").write_text("title\n.include secrets\n.op\n")
    with pytest.raises(InputError) as raised:
        netsim.load(folder / "netlists/main.cir")
    assert len(raised.value.problems) == 1 and "hunter2" not in f"{raised.value} {raised.value.problems}"


@pytest.mark.parametrize("name", ["part.net", "part.inc", "part.lib"])
def test_mistakes_in_netlists_are_shown(folder, name):
    (folder / "netlists" / name).write_text("param q = = 1\n")
    with pytest.raises(InputError, match=r"param q = = 1\n"):
        opened(written(folder, "include", name))


def test_the_file_that_the_user_names_is_shown_whatever_its_name(folder):
    (folder / "netlists/model").write_text("param q = = 1\n")
    with pytest.raises(InputError, match=r"param q = = 1\n"):
        netsim.load(folder / "netlists/model")
    with pytest.raises(InputError, match=r"param q = = 1\n"):
        netsim.load("param q = = 1\n")


@pytest.mark.parametrize(
    ("rows", "argument", "words"),
    [
        ("time [s],v [V]\n0,hunter2\n1,2\n", '"v"', "what stands in column 2 of line 2 of table 'x.txt' is no number"),
        ("time [s],v [hunter2]\n0,1\n1,2\n", '"v"', "column  of 'x.txt': unknown unit"),
        ("time [s],hunter2 [V]\n0,1\n1,2\n", '"v"', "'x.txt' has no column 'v'"),
        ("time [s],hunter2 [V],b\n0,1,2\n1,2,3\n", "", "'x.txt' has several columns: name one"),
    ],
)
def test_a_table_is_shown_where_its_name_says_that_it_is_one(folder, rows, argument, words):
    for name in ("x.txt", "x.csv"):
        (folder / "netlists" / name).write_text(rows)
        call = f'table("{name}", time{", " * bool(argument)}{argument})'
        (folder / "netlists/main.net").write_text(f"{HEAD}v voltage (a, ground) v = {call}\n{RUN}")
        with pytest.raises(InputError) as raised:
            opened(folder / "netlists/main.net")
        assert ("hunter2" in str(raised.value)) == (name == "x.csv")
        assert name == "x.csv" or words in str(raised.value)


def test_pipes_and_folders_are_no_circuits(folder):
    os.mkfifo(folder / "netlists/pipe.cir")
    for name in ("pipe.cir", "below"):
        (folder / "netlists/main.cir").write_text(f"title\n.include {name}\n")
        with pytest.raises(InputError, match="E220 cannot read"):
            netsim.load(folder / "netlists/main.cir")


def test_entities_of_xml_read_no_files(folder):
    (folder / "netlists/hidden").write_text("hunter2")
    text = '<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY s SYSTEM "hidden">]><robot name="arm"><link name="tool">&s;</link></robot>'
    (folder / "netlists/x.urdf").write_text(text)
    assert "hunter2" not in netsim.load(folder / "netlists/x.urdf").network.text
    bomb = "".join(f'<!ENTITY e{k + 1} "{f"&e{k};" * 10}">' for k in range(9))
    (folder / "netlists/x.urdf").write_text(f'<!DOCTYPE robot [<!ENTITY e0 "ha">{bomb}]><robot name="&e9;"><link name="tool"/></robot>')
    with pytest.raises(InputError, match="E250 no proper XML"):
        netsim.load(folder / "netlists/x.urdf")


# ------------------------------------------------------------------------------------------------ what terminals obey


@pytest.mark.parametrize("sign", ["\x1b[2J", "\x00", "\x07", "\x9b", "\u202e", "\u2028", "\x7f"])
def test_control_characters_reach_no_terminal(sign, folder, capsys):
    for text in (f'{HEAD}param q = 1 "quiet{sign}"\n', f"{HEAD}# {sign}\n", f"{HEAD}x{sign} = 1\n"):
        with pytest.raises(InputError, match=f"E128 the control character U\\+{ord(sign[0]):04X}") as raised:
            netsim.load(text)
        assert sign[0] not in str(raised.value)
    assert parse('# µ “quoted” 漢字\tתרגום\nparam q = 1 "é"\n').statements
    (folder / "netlists/main.cir").write_text(f"title\nR1 a 0 1k\nR2 a 0 what{sign}\n")
    with pytest.raises(InputError) as caught:
        netsim.load(folder / "netlists/main.cir")
    assert sign[0] not in f"{caught.value}" and "what" in f"{caught.value}"
    robot = ROBOT.replace("arm", f"arm{sign}") if sign[0] > "\x1f" else ROBOT  # XML has none of the others
    (folder / "netlists/x.urdf").write_text(robot)
    assert main(["show", str(folder / "netlists/x.urdf")]) == 0 and sign[0] not in capsys.readouterr().out
    assert sign[0] not in netsim.load(folder / "netlists/x.urdf").network.text
    assert render(Problem("E999", f"a{sign}b", Span("<text>", 1, 1, 1, 2), hint=sign)).count(sign[0]) == 0
    capsys.readouterr()


def test_roots_are_folders_without_links(folder):
    """The netlist's folder may be reached by a link."""
    (folder / "linked").symlink_to(folder / "netlists")
    file = written(folder, "include", "x.net")
    assert opened(folder / "linked" / file.name)
    with netsim.allow(folder / "linked"):
        (folder / "data/main.net").write_text(f'{HEAD}include "../netlists/x.net"\n')
        assert opened(folder / "data/main.net")
    assert Path(os.path.realpath(folder / "linked")) == folder / "netlists"
