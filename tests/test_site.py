"""The documentation site: pages made from the library, the models and the sources (docs/site/), their links, their navigation.

`make docs` builds the whole site and checks the links of its pages (mkdocs.yml: strict); here are the parts that need no MkDocs.
"""

import re
from pathlib import Path
from posixpath import dirname, normpath
from xml.etree import ElementTree

import catalogue
import gallery
import highlight
import links
import pytest
import sources
from hosts import LIBRARY, hosted
from mathematics import equation, inline
from pages import Page, nested, sentence, table
from pygments.lexers import get_lexer_by_name
from pygments.token import Error
from shown_netlists import example, shipped

import netsim
from netsim.text.expressions.from_python import parse_expression
from netsim.text.parse import parse

ROOT = Path(__file__).parents[1]
GENERATED = [*catalogue.pages(), *sources.pages(), *sources.decisions(), sources.start()]
BY_PATH = {page.path: page.text for page in GENERATED}


def seen(text):
    """What an expression looks like: the letters of its MathML, a fraction as (a)/(b), what stands below behind _."""

    def shown(node):
        parts = [shown(child) for child in node]
        match node.tag:
            case "mfrac":
                return f"({parts[0]})/({parts[1]})"
            case "msub" | "msup":
                return f"{parts[0]}{'_' if node.tag == 'msub' else '^'}{parts[1]}"
            case "msqrt":
                return f"root({parts[0]})"
            case "mover":
                return f"der({parts[0]})"
        return (node.text or "").replace("\u2062", "*") + "".join(parts)

    return shown(ElementTree.fromstring(inline(parse_expression(text, "test"))))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a - (b - c)", "a−(b−c)"), ("a*(b + c)", "a*(b+c)"), ("(a + b)/c", "(a+b)/(c)"), ("-(a + b)^2", "−(a+b)^2"), ("(-a)^2", "(−a)^2"),
        ("a/b*c", "(a)/(b)*c"), ("(a/b)^2", "((a)/(b))^2"), ("sqrt(a + 1)", "root(a+1)"), ("der(v)", "der(v)"), ("der(a*b)", "(d)/(dt)(a*b)"),
        ("phi", "φ"), ("v1", "v_1"), ("a.phi", "φ_a"), ("a.v.x", "v_a,x"), ("K[1, 2]", "K_1,2"), ("abs(a)", "|a|"), ("pre(n)", "n^−"),
        ("1e-9*a", "10^−9*a"), ("2 kN/m", "2kN/m"), ("dot(a, b + c)", "a⋅(b+c)"), ("not a > 1 and b < 2", "nota>1andb<2"),
        ("-(a*b)", "−a*b"), ("a + -b", "a+(−b)"),
        ("if a > 0 then b else c", "{bifa>0cotherwise"), ("[[1, 2], [3, 4]]", "[1234]"), ("foo", "foo"), ("transpose(A)*b", "A^T*b"),
    ],
)  # fmt: skip
def test_mathematics_says_what_the_text_says(text, expected):
    assert seen(text) == expected


def test_vectors_are_bold():
    (row,) = parse("component a\n  v = w\nend\n").statements[0].equations
    assert equation(row.left, row.right, {"v"}).count("bold") == 1


def test_every_type_has_a_page_with_its_equations_parameters_and_text():
    paths = [page.path for page in GENERATED if page.path.startswith("components/") and not page.path.endswith(("index.md", "functions.md"))]
    assert sorted(Path(path).stem for path in paths) == sorted(LIBRARY.types())
    page = BY_PATH["components/electrical/capacitor.md"]
    assert '<mo form="infix">=</mo><mi>C</mi>' in page and "| `C` | F | > 0 | must be given | capacitance |" in page
    assert "component capacitor (p, n : electrical)" in page and "library/electrical/elements.lib" in page
    functions = BY_PATH["components/functions.md"]
    assert all(f"## {name}\n" in functions for name in LIBRARY.functions.definitions)


def test_formulas_are_well_formed():
    found = [math for page in GENERATED for math in re.findall(r"<math.*?</math>", page.text, re.DOTALL)]
    assert len(found) > 2000
    for math in found:
        ElementTree.fromstring(math.replace("&#x2062;", " "))


def test_only_parts_of_models_have_no_example():
    without = {name for name in LIBRARY.types() if example(name) is None}
    assert without == {*LIBRARY.components} - {*hosted()}
    assert all("Part of [" in BY_PATH[page] for page in BY_PATH if Path(page).stem in without)


@pytest.mark.parametrize(
    ("name", "lines", "words"),
    [
        ("spring", 8, {"spring", "spring1", "a"}),  # six elements of one or two terminals, in one of the shipped models
        ("transmission_line", None, {"transmission_line", "a", "b"}),  # its example has too many elements to be told apart
        ("spatial_floating_end", None, {"spatial_floating_end"}),  # part of a model
    ],
)
def test_a_page_has_a_picture_of_a_network(name, lines, words):
    """A line per terminal, and the names of elements, types and nodes; the element of the page has a stronger frame."""
    page = catalogue.with_picture(BY_PATH[next(path for path in BY_PATH if Path(path).stem == name)])
    (svg,) = re.findall(r"<svg class=.network.*?</svg>", page, re.DOTALL)
    tree = ElementTree.fromstring(svg)
    assert words <= {text.text for text in tree.iter("text")}
    assert tree.findall("rect[@stroke-width='3']")
    drawn = len([path for path in tree.iter("path") if path.get("stroke") != "currentColor"])
    terminals = {d.name: len(d.terminals) for d in catalogue.definitions(LIBRARY)}
    assert drawn == (lines or terminals[name])


@pytest.mark.parametrize("name", sorted(LIBRARY.models))
def test_examples_of_models_are_fine(name):
    """Those of components run in library/test_library_starts.py."""
    found = example(name)
    assert re.search(rf"\b{name}\b", found.text)
    assert not [p for p in netsim.load(found.text).check() if not p.is_note]


def test_links_of_generated_pages_lead_to_pages():
    docs = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.*")}
    known = {*BY_PATH, *docs, "gallery/index.md", *(f"gallery/{name}.md" for name in shipped())}
    written = {path.relative_to(ROOT / "docs").as_posix(): path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")}
    lost = [
        (page, link)
        for page, text in (BY_PATH | written).items()
        for _, link, _ in links.LINK.findall(links.FENCE.sub("", links.rewritten(text, page)))
        if link and "://" not in link and normpath(f"{dirname(page)}/{link}".lstrip("/")) not in known
    ]
    assert lost == []


def test_links_out_of_the_documentation_lead_to_pages_of_the_site():
    assert links.target("../models/rc.net", "tutorial.md") == "gallery/rc.md"
    assert links.target("docs/tutorial.md", "index.md") == "tutorial.md"
    assert links.target("../models", "tutorial.md") == "gallery/index.md" and links.target("../library", "events.md") == "components/index.md"
    assert links.target("../CONTRIBUTING.md", "integrators.md") == "source/CONTRIBUTING.md"
    assert links.target("docs/glossary.md", "source/CONTRIBUTING.md") == "../glossary.md"
    assert links.target("glossary.md", "tutorial.md") == "glossary.md" and links.target("https://a.b", "tutorial.md") == "https://a.b"


def test_the_navigation_has_every_page_of_the_documentation_once():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"^ +- [^:\n]+: (\S+\.md)$", text.partition("\nnav:")[2], re.MULTILINE)
    assert sorted(named) == sorted([path.name for path in (ROOT / "docs").glob("*.md")] + ["index.md"])


def test_pages_of_a_folder_stand_under_its_name():
    found = [Page("c/index.md", "", "C"), Page("c/a/index.md", "", "A"), Page("c/a/x.md", "", "x"), Page("c/f.md", "", "F")]
    assert nested(found) == ["c/index.md", {"a": ["c/a/index.md", {"x": "c/a/x.md"}]}, {"F": "c/f.md"}]


def test_every_model_has_a_title():
    titles = {name: gallery.about(name)[0] for name in shipped()}
    assert all(5 < len(title) < 200 for title in titles.values()), titles
    assert {gallery._chapter(name) for name in titles} == set(gallery.CHAPTERS)


def test_colours_know_every_word():
    highlight.register()
    lexer = get_lexer_by_name("component")
    for name in shipped():
        assert Error not in {kind for kind, _ in lexer.get_tokens(gallery.netlist(name))}, name
    kinds = {word: str(kind) for kind, word in lexer.get_tokens("m1 mass (a) m = 2 kg  # big\nrun transient(stop = 1 s)\n")}
    assert (kinds["mass"], kinds["2"], kinds["kg"], kinds["run"]) == (
        "Token.Name.Class",
        "Token.Literal.Number",
        "Token.Name.Constant",
        "Token.Keyword",
    )


def test_words_of_the_library_mean_nothing_to_markdown():
    assert sentence("a*b of x_y") == "a\\*b of x\\_y." and sentence("") == ""
    assert table(("a", "b"), [("x|y", "z")]).splitlines()[-1] == "| x\\|y | z |"
