"""Every line of ngspice, LTspice and PSpice: what the documentation says becomes of it is what the reader does."""

import re
import string
from pathlib import Path

import pytest

from netsim.formats.spice import blocks, cards, conditions
from netsim.formats.spice.analyses import control, other_lines
from netsim.formats.spice.elements import switches
from netsim.formats.spice.elements.devices import DEVICES
from netsim.formats.spice.elements.semiconducting.parameters import LETTERS
from netsim.formats.spice.netlist import UNKNOWN, circuit_program
from netsim.text.errors import InputError

PAGE = Path(__file__).parents[2] / "docs" / "spice.md"
NGSPICE = """.ac .backanno .cmodel .control .csparam .dc .disto .distribution .else .elseif .end .endc .endif .endl .ends .eom
.four .fourier .func .global .hb .ic .if .inc .include .lib .macro .meas .measure .model .nodeset .noise .op .opt .option
.options .para .param .plot .print .probe .prot .pss .pz .save .sens .sp .subckt .temp .tf .title .tran .unprot .width"""
"""What the sources of ngspice 39 compare lines with (inp2dot.c, inp.c, inpcom.c)."""
LTSPICE = """.ac .backanno .dc .end .ends .ferret .four .func .global .ic .include .lib .loadbias .machine .endmachine .measure
.model .net .nodeset .noise .op .options .param .save .savebias .step .subckt .temp .text .tf .tran .wave"""
PSPICE = """.ac .alias .endalias .dc .distribution .end .ends .four .func .ic .inc .lib .loadbias .mc .model .nodeset .noise .op
.options .param .plot .print .probe .save .savebias .sens .step .stimulus .subckt .temp .text .tf .tran .vector .watch .wcase .width"""
CIRCUIT = "v1 a 0 dc 1 ac 1 portnum 1 z0 50\nr1 a 0 1k"
READ = """.ac dec 1 1 10;.csparam x=1;.dc v1 0 1 1;.four 1k v(a)\n.tran 1u 1m;.func f(x) {x};.global a;.ic v(a)=1\nc1 a 0 1\n;
.if (1)\nr2 a 0 1\n.elseif (1)\nr2 a 0 2\n.else\nr2 a 0 3\n.endif;.include 'part.inc';.inc 'part.inc';.incl 'part.inc';
.lib 'part.lib' one;.tran 1u 1m\n.meas tran m max v(a);.tran 1u 1m\n.measure tran m max v(a);.model d d(is=1f);
.nodeset v(a)=1;.noise v(a) v1 dec 1 1 10;.op;.opt reltol=1m;.option reltol=1m;.options reltol=1m;.param x=1;.plot v(a);
.print v(a);.probe v(a);.pz a 0 a 0 vol pz;.save v(a);.sens v(a);.sp dec 1 1 10;.step param r 1 2 1\n.param r=1;
.subckt s a\nr1 a 0 1\n.ends;.temp 30;.tf v(a) v1;.tran 1u 1m"""
SAME = """.macro s a\nr1 a 0 1\n.eom;.four 1k v(a)\n.tran 1u 1m;.fourier 1k v(a)\n.tran 1u 1m;.para x=1;.params x=1"""


def table():
    """What becomes of lines -> their words, as the page says."""
    text = PAGE.read_text(encoding="utf-8")
    rows = text[text.index("| what becomes of it |") :].split("\n\n")[0].splitlines()[2:]
    return {row.split("|")[1].strip(): re.findall(r"`([^`]+)`", row.split("|")[2]) for row in rows}


def read(folder, text):
    """Notes and mistakes of a circuit with these lines."""
    (folder / "part.inc").write_text("r9 a 0 1\n")
    (folder / "part.lib").write_text(".lib one\nr9 a 0 1\n.endl\n")
    (folder / "c.cir").write_text(f"title\n{CIRCUIT}\n{text}\n.end\n")
    try:
        return [note.message for note in circuit_program(folder / "c.cir").notes], []
    except InputError as error:
        return [], [(p.message, p.hint) for p in error.problems]


def test_the_page_has_the_readers_own_tables():
    page = {what: set(words) for what, words in table().items()}
    ends = {".endl"}  # the end of a section, which is read with its beginning
    assert page["read or mapped"] == {*control.LINES, *blocks.LINES, *conditions.WORDS, *cards.INCLUDES, *ends}
    assert page["read as another one"] == set(cards.SAME)
    assert page["without effect"] == set(other_lines.SILENT)
    assert page["omitted with a note"] == set(other_lines.OMITTED)
    assert page["refused, with what to write instead"] == set(other_lines.REFUSED)
    letters = {*DEVICES, *LETTERS, *switches.KINDS, "k", "x"}
    assert page["elements that are mapped"] == {letter.upper() for letter in letters}
    assert page["elements that are refused"] == {letter.upper() for letter in UNKNOWN}
    assert letters | set(UNKNOWN) == set(string.ascii_lowercase)
    assert all(words == sorted(words) for words in table().values())


@pytest.mark.parametrize("known", [NGSPICE, LTSPICE, PSPICE], ids=["ngspice", "LTspice", "PSpice"])
def test_the_page_has_every_line_of_a_program(known):
    assert set(known.split()) <= {word for words in table().values() for word in words}


@pytest.mark.parametrize("lines", [each.strip() for each in [*READ.split(";"), *SAME.split(";")]])
def test_what_is_read_leaves_no_note(tmp_path, lines):
    assert read(tmp_path, lines) == ([], [])


def test_a_line_of_every_word_was_tried():
    tried = {word for line in f"{READ}\n{SAME}".replace(";", "\n").splitlines() for word in line.split()[:1] if word[0] == "."}
    assert tried | {".endl"} == {*table()["read or mapped"], *table()["read as another one"]}


@pytest.mark.parametrize("word", other_lines.SILENT)
def test_lines_without_effect_leave_no_note(tmp_path, word):
    assert read(tmp_path, f"{word} 1") == ([], [])


@pytest.mark.parametrize("word", other_lines.OMITTED)
def test_what_is_omitted_is_noted(tmp_path, word):
    notes, problems = read(tmp_path, f"{word} 1" + ("\n.endc" if word == ".control" else ""))
    assert not problems and [note.split("'")[1] for note in notes] == [word]


@pytest.mark.parametrize("word", other_lines.REFUSED)
def test_what_is_refused_says_what_to_write_instead(tmp_path, word):
    _, problems = read(tmp_path, f"{word} 1")
    assert problems == [(f"'{word}' is not supported", other_lines.REFUSED[word])]


@pytest.mark.parametrize("word", [".verilog", ".trann"])
def test_any_other_line_is_unknown(tmp_path, word):
    _, problems = read(tmp_path, f"{word} 1")
    assert [message for message, _ in problems] == [f"there is no line '{word}'"]


def test_an_include_without_a_file_is_a_mistake(tmp_path):
    assert read(tmp_path, ".inc") == ([], [("'.inc' needs the name of a file", "")])
