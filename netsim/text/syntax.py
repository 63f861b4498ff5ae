"""The syntax tree of netlists and component definitions: frozen dataclasses, each with the span it came from.

Spans are excluded from equality, so that `parse(show(tree)) == tree` can be asserted.
"""

from dataclasses import dataclass, field

from netsim.text.errors import Problem
from netsim.text.terms import NOWHERE as NOWHERE
from netsim.text.terms import Argument as Argument
from netsim.text.terms import Binary as Binary
from netsim.text.terms import Call as Call
from netsim.text.terms import Conditional as Conditional
from netsim.text.terms import Expr as Expr
from netsim.text.terms import Name as Name
from netsim.text.terms import Noise as Noise
from netsim.text.terms import Number as Number
from netsim.text.terms import Part as Part
from netsim.text.terms import Spanned as Spanned
from netsim.text.terms import String as String
from netsim.text.terms import Unary as Unary
from netsim.text.terms import Vector as Vector

# ------------------------------------------------------------------------------------ statements of a netlist


@dataclass(frozen=True)
class Binding(Spanned):
    """`name = value`, as in an instance's list, in `run` options and in `world`."""

    name: str
    value: Expr


@dataclass(frozen=True)
class Start(Spanned):
    """`start x = 3 mm` on an instance (target `x`), `start a.x = 3 mm` as a statement; `guess` likewise, `nominal` as a
    statement."""

    word: str  # 'start', 'guess' or 'nominal'
    target: Name
    value: Expr


@dataclass(frozen=True)
class Use(Spanned):
    """`use translational`, `use "parts/leg.lib"`."""

    target: str
    is_path: bool


@dataclass(frozen=True)
class Include(Spanned):
    """`include "file"`: the statements of another file."""

    path: str


@dataclass(frozen=True)
class Bound:
    """`> 0`, `>= 0`, `< 1`, `<= 1` after a parameter's unit."""

    op: str
    value: Expr


@dataclass(frozen=True)
class Param(Spanned):
    """`param m : kg > 0 = 2 kg "mass"`; in netlists often just `param stiffness = 200 N/m`. `size` is for `at[3]`."""

    name: str
    unit: str | None = None
    bounds: tuple[Bound, ...] = ()
    default: Expr | None = None
    size: tuple[Expr, ...] = ()
    doc: str = ""


@dataclass(frozen=True)
class Count(Spanned):
    """`count n = 3`, `count n >= 1 = 3`: a structural integer."""

    name: str
    default: Expr | None = None
    doc: str = ""
    bounds: tuple[Bound, ...] = ()


@dataclass(frozen=True)
class Let(Spanned):
    """`let e = [0, cos(phi), sin(phi)]`: a named constant expression; `let u{k} = ... for k in 1..n` has a number in
    its name."""

    name: str
    value: Expr
    number: Expr | None = None


@dataclass(frozen=True)
class Table(Spanned):
    """`table name = "file.csv"`: a named table file for `table(name, time, ...)`."""

    name: str
    path: str


@dataclass(frozen=True)
class World(Spanned):
    """`world name = value, ...`: values that every component may read."""

    bindings: tuple[Binding, ...]


@dataclass(frozen=True)
class Range(Spanned):
    """`for k in 1..3` (inclusive)."""

    variable: str
    first: Expr
    last: Expr


@dataclass(frozen=True)
class Instance(Spanned):
    """`m1 mass (a) m = 2 kg, start x = 3 mm`, perhaps `leg[k] ... for k in 1..3`."""

    name: Name
    type: str
    nodes: tuple[Name, ...]
    bindings: tuple[Binding, ...] = ()
    starts: tuple[Start, ...] = ()
    ranges: tuple[Range, ...] = ()


@dataclass(frozen=True)
class Run(Spanned):
    """`run fall = transient(stop = 5 s)`."""

    analysis: str
    options: tuple[Binding, ...] = ()
    name: str = ""


@dataclass(frozen=True)
class Save(Spanned):
    """`save signal, ...`"""

    signals: tuple[Expr, ...]


@dataclass(frozen=True)
class Plot(Spanned):
    """`plot signal, ...`: curves of one diagram."""

    signals: tuple[Expr, ...]


@dataclass(frozen=True)
class Measure(Spanned):
    """`measure rise = when(out.v > 0.9 V) - when(out.v > 0.1 V) "words"`: a figure of a run's result; `measure u{k} =
    ...` as of `let`."""

    name: str
    value: Expr
    doc: str = ""
    number: Expr | None = None


@dataclass(frozen=True)
class Assert(Spanned):
    """`assert c > 0 "sentence"`: in a component checked on parameter values, in a netlist on the result of a run."""

    condition: Expr
    sentence: str


@dataclass(frozen=True)
class Repeated(Spanned):
    """A `let`, `save`, `plot`, `measure` or `assert` with `for k in 1..n` behind it."""

    statement: Let | Save | Plot | Measure | Assert
    ranges: tuple[Range, ...]


# ------------------------------------------------------------------------- domains, components, subnetworks


@dataclass(frozen=True)
class Quantity(Spanned):
    """`v : m/s "velocity"`, `r[3] : m`: one across, through or integral quantity of a domain, or a `var`/`input`."""

    name: str
    unit: str
    size: tuple[Expr, ...] = ()
    doc: str = ""
    nominal: Expr | None = None


@dataclass(frozen=True)
class DomainDef(Spanned):
    """A domain: across, through and integral quantities in one order, the power, what `floating` says, whether
    coordinates are relative, and what is asserted of every node."""

    name: str
    across: tuple[Quantity, ...] = ()
    through: tuple[Quantity, ...] = ()
    integral: tuple[Quantity, ...] = ()
    power: Expr | None = None
    floating: str = ""
    doc: str = ""
    is_relative: bool = False
    asserts: tuple[Assert, ...] = ()


@dataclass(frozen=True)
class Terminal(Spanned):
    """`p : translational`; signal terminals say their direction: `in u : signal`, `out y : signal`."""

    name: str
    domain: str
    direction: str = ""  # '', 'in' or 'out'


@dataclass(frozen=True)
class Branch(Spanned):
    """`branch p -> n : x, v, f` (to is 'ground' for an element between a node and the reference)."""

    start: str
    end: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Equation(Spanned):
    """`left = right` in a component."""

    left: Expr
    right: Expr


@dataclass(frozen=True)
class Output(Spanned):
    """`out power : W = -f*v "delivered by the source"`."""

    name: str
    unit: str
    value: Expr
    size: tuple[Expr, ...] = ()
    doc: str = ""


@dataclass(frozen=True)
class Place(Spanned):
    """`place a = at`: the reference position of a terminal's node, where the mechanism is drawn."""

    terminal: str
    value: Expr


@dataclass(frozen=True)
class Company(Spanned):
    """`given friction and not ws : dry hinge_friction (a, b) T = friction`: an element that stands beside one whose
    line gives a parameter (and not the others)."""

    given: str
    missing: tuple[str, ...]
    instance: Instance


@dataclass(frozen=True)
class Discrete(Spanned):
    """`discrete off : 1 = 0 "does not conduct"`: a value that changes at events alone, with what it starts with (0
    where None)."""

    name: str
    unit: str
    start: Expr | None = None
    size: tuple[Expr, ...] = ()
    doc: str = ""


@dataclass(frozen=True)
class Action(Spanned):
    """What happens when: `n = pre(n) + 1` (a discrete's new value) or `reinit v = -e*pre(v)` (a state's)."""

    target: Expr
    value: Expr
    reinit: bool = False


@dataclass(frozen=True)
class When(Spanned):
    """`when x < 0 : reinit v = -e*pre(v); n = pre(n) + 1`: actions at the instants at which the condition becomes
    true."""

    condition: Expr
    actions: tuple[Action, ...]


@dataclass(frozen=True)
class ComponentDef(Spanned):
    """A component: terminals, declarations and equations, in the order of the text within each kind.

    Forces follow from `kinetic` and `potential`; `stores` is stored energy, `dissipates` lost power (for what both
    stores and loses); `is_source` marks what supplies energy; `singular` is the sentence for a singular network. It
    extends its `bases`; a partial one is only a base."""

    name: str
    terminals: tuple[Terminal, ...] = ()
    params: tuple[Param, ...] = ()
    counts: tuple[Count, ...] = ()
    inputs: tuple[Quantity, ...] = ()
    lets: tuple[Let, ...] = ()
    variables: tuple[Quantity, ...] = ()
    branches: tuple[Branch, ...] = ()
    equations: tuple[Equation, ...] = ()
    outputs: tuple[Output, ...] = ()
    asserts: tuple[Assert, ...] = ()
    places: tuple[Place, ...] = ()
    kinetic: Expr | None = None
    potential: Expr | None = None
    stores: Expr | None = None
    dissipates: Expr | None = None
    is_source: bool = False
    singular: str = ""
    discretes: tuple[Discrete, ...] = ()
    whens: tuple[When, ...] = ()
    company: tuple[Company, ...] = ()
    noises: tuple[Noise, ...] = ()
    doc: str = ""
    bases: tuple[Name, ...] = ()
    is_partial: bool = False


@dataclass(frozen=True)
class ModelDef(Spanned):
    """`model leg (base, plate : spatial) ... end`: a subnetwork with typed terminals and its own params, and with those
    of its `bases`."""

    name: str
    terminals: tuple[Terminal, ...] = ()
    body: "tuple[Statement, ...]" = ()
    doc: str = ""
    bases: tuple[Name, ...] = ()


@dataclass(frozen=True)
class FunctionDef(Spanned):
    """`function area(r : m) : m2 = pi*r^2 "of a circle"`; a name for a size leaves it open; `unit` is the value's."""

    name: str
    parameters: tuple[Quantity, ...]
    unit: str
    value: Expr
    doc: str = ""


Statement = (
    Use | Include | Param | Count | Let | Table | World | Instance | Start | Run | Save | Plot | Measure | Assert
) | (Repeated | DomainDef | ComponentDef | ModelDef | FunctionDef)


@dataclass(frozen=True)
class Program:
    """A whole text: its statements in order; `file` names it in messages; `notes` tell what was left out of a text in
    another language."""

    statements: tuple[Statement, ...]
    file: str = field(default="", compare=False)
    notes: tuple[Problem, ...] = field(default=(), compare=False)
