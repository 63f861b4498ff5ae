"""Lines of ngspice, LTspice and PSpice that ask netsim for nothing: no effect, omitted with a note, or refused.

A line that changes no waveform is passed over; one whose results are not made is noted; one that would change what the
others mean ends the reading."""

from collections.abc import Collection

from netsim.formats.spice.cards import INCLUDES, Card, Report
from netsim.text.errors import nearest

SILENT = (
    *(".title", ".width", ".end", ".backanno", ".prot", ".unprot", ".protect", ".unprotect", ".text"),
    *(".machine", ".endmachine", ".watch", ".vector", ".endc", ".endalias"),
)
"""What changes no waveform: titles, widths of paper, marks of who may read what."""
OMITTED = {
    ".disto": ("distortion", ".four gives it for any amplitude"),
    ".control": ("commands of ngspice", "its plain analyses are read where the deck has none"),
    ".savebias": ("a file of potentials", ".save v(a), and netsim run -o"),
    ".wave": ("a file of sound", "netsim run -o writes samples"),
    ".pss": ("the periodic steady state of ngspice", "netsim has run periodic(...)"),
    ".net": ("parameters of two-ports", ".sp does it for sources with portnum"),
    ".mc": ("cases drawn at random", "netsim has run sweep(...)"),
    ".wcase": ("cases drawn at random", "netsim has run sweep(...)"),
}
"""What is not made: its name, and what does it."""
REFUSED = {
    ".alter": "write a file for each circuit, or .step",
    ".data": "write .step or .dc with a list",
    ".loadbias": "write .ic or .nodeset",
    ".stimulus": "write the source's wave on its line",
    ".distribution": "write a nominal value",
    ".alias": "name the element itself",
    ".connect": "write one node",
    ".hdl": "code models in Verilog-A are not read",
    ".cmodel": "code models in C are not read",
    ".hb": "netsim has run periodic(...)",
    ".ferret": "take the file out of the address and write .include",
}
"""What would change the meaning of the circuit, and what can be written instead."""


def other_line(card: Card, report: Report, lines: Collection[str]) -> None:
    """A dotted line that is none of `lines`: nothing, a note, or a mistake."""
    word, span = card.word, card.at(card.tokens[0])
    if word in OMITTED:
        what, hint = OMITTED[word]
        report.note(f"'{word}' is ignored: {what}", span, hint=hint)
    elif word in REFUSED:
        report.wrong("E130", f"'{word}' is not supported", span, hint=REFUSED[word])
    elif word in INCLUDES:
        report.wrong("E131", f"'{word}' needs the name of a file", span)
    elif word not in (*lines, *SILENT):
        known = (*lines, *OMITTED, ".param", ".model", ".subckt", ".include")
        report.wrong("E130", f"there is no line '{word}'", span, hint=nearest(word, known))
