"""Values under other overrides keep what does not depend on these, and are those that a new evaluation finds."""

import pytest

import netsim
from netsim.library.files import models_folder
from netsim.network.network import Network, parameter_names
from netsim.network.values import Values
from netsim.text.errors import InputError
from netsim.text.expressions.sizes import flatten
from netsim.text.syntax import Number

MODELS = ["two_masses", "tripod/stage1", "buck_converter", "mechanisms/delta_robot", "hydraulic_servo", "dc_motor"]


def all_of(values: Values) -> dict[str, list[float]]:
    """Every parameter of every element; what is wrong with it where it has none."""
    found = dict[str, list[float]]()
    for instance in values.network.instances:
        try:
            known = values.parameters(instance)
        except InputError as error:
            found[instance.name] = [error.problems[0].message]  # type: ignore[list-item]
            continue
        for name, typed in known.items():
            found[f"{instance.name}.{name}"] = [float(x) for x in flatten(typed.value)]
    for name, definition in values.network.top.definitions.items():
        try:
            found[name] = [float(x) for x in flatten(values.defined(name, definition).value)]
        except (InputError, TypeError):
            continue
    return found


def scalars(network: Network, values: Values) -> dict[str, float]:
    """Every parameter that is one number."""
    known = all_of(values)
    return {name: known[name][0] for name in parameter_names(network) if len(known.get(name, [])) == 1}


@pytest.mark.parametrize("name", MODELS)
def test_values_under_other_overrides_are_those_evaluated_anew(name: str) -> None:
    network = netsim.load(models_folder() / f"{name}.net").network
    own = Values(network)
    given = scalars(network, own)
    for changed, value in given.items():
        overrides = {changed: Number(1.01 * value + 1e-9)}
        fresh = all_of(Values(network, overrides))
        assert all_of(own.under(overrides)) == fresh, changed
        again = own.under({changed: Number(7.0)}).under(overrides)
        assert all_of(again) == fresh, changed
    assert all_of(own) == all_of(Values(network))


def test_what_depends_on_no_changed_parameter_is_kept() -> None:
    text = "use electrical\nparam R = 1 kOhm\nlet S = 2*R\nv voltage (a, ground) v = 1 V\n"
    text += "r resistor (a, b) R = S\nq resistor (b, ground) R = 5 Ohm\n"
    network = netsim.load(text).network
    own = Values(network)
    all_of(own)
    changed = own.under({"R": Number(10.0)})
    assert set(changed.of_instances) == {"v", "q"}
    assert all_of(changed)["r.R"] == [20.0]
    assert set(own.changed({"q.R": Number(1.0)}).of_instances) == {"v", "r"}
    assert own.under({}) is own


def test_equal_copies_of_a_model_change_apart() -> None:
    text = "use electrical\nmodel part (a, b : electrical)\n  param S = 2 Ohm\n  x resistor (a, b) R = 3*S\nend\n"
    text += "v voltage (n, ground) v = 1 V\np part (n, ground)\nq part (n, ground)\n"
    network = netsim.load(text).network
    own = Values(network)
    all_of(own)
    for changed, left in (("p", "q"), ("q", "p")):
        found = all_of(own.under({f"{changed}.S": Number(5.0)}))
        assert (found[f"{changed}.x.R"], found[f"{left}.x.R"]) == ([15.0], [6.0])


def test_equal_lines_of_one_frame_are_kept_where_one_of_them_changes() -> None:
    text = "use electrical\nparam R = 1 Ohm\nv voltage (n, ground) v = 1 V\n"
    network = netsim.load(text + "".join(f"r{k} resistor (n, ground) R = 2*R\n" for k in range(5))).network
    own = Values(network)
    all_of(own)
    assert set(own.under({"r1.R": Number(5.0)}).of_instances) == {"v", "r0", "r2", "r3", "r4"}
    assert set(own.under({"R": Number(5.0)}).of_instances) == {"v"}
    assert all_of(own.under({"R": Number(5.0)}))["r4.R"] == [10.0]


def test_a_value_that_is_refused_is_refused_each_time_and_others_are_not() -> None:
    network = netsim.load("use electrical\nv voltage (a, ground) v = 1 V\nc capacitor (a, ground) C = 1 uF\n").network
    own = Values(network)
    all_of(own)
    wrong = own.under({"c.C": Number(-1.0)})
    for _ in range(2):
        with pytest.raises(InputError, match="E234"):
            wrong.parameters(network.instances[1])
    assert all_of(wrong.under({"c.C": Number(2.0)}))["c.C"] == [2.0]


def test_runs_of_variants_are_those_of_models_read_anew() -> None:
    model = netsim.load(models_folder() / "two_masses.net")
    name, value = next(iter(scalars(model.network, model.values).items()))
    model.with_params({name: 3.0 * value}).transient(stop=0.01)
    later = model.with_params({name: 1.1 * value}).transient(stop=0.01)
    alone = netsim.load(models_folder() / "two_masses.net").with_params({name: 1.1 * value}).transient(stop=0.01)
    assert later.drop_attrs().equals(alone.drop_attrs())
