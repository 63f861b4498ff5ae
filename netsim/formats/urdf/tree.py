"""Links and joints of a URDF file as a tree: what makes them none, and their order."""

from pathlib import Path

from netsim.formats.urdf.elements import Element
from netsim.formats.urdf.robot import DRIVEN, Joint, Link, Robot
from netsim.text.errors import Problem, nearest

UNKNOWN, STRUCTURE = "E251", "E253"
"""Names that nothing has; links and joints that make no tree."""


def unknown_names(links: dict[str, Link], joints: dict[str, Joint]) -> list[Problem]:
    """Names of links and joints that nothing has."""
    problems = []
    for joint in joints.values():
        for word, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in links:
                problems.append(
                    Problem(
                        UNKNOWN,
                        f"the {word} of joint '{joint.name}' is '{link}', and no link is called so",
                        joint.span,
                        hint=nearest(link, links),
                    )
                )
        if joint.mimic is None:
            continue
        if joint.mimic.joint not in joints:
            problems.append(
                Problem(
                    UNKNOWN,
                    f"joint '{joint.name}' mimics '{joint.mimic.joint}', and no joint is called so",
                    joint.mimic.span,
                    hint=nearest(joint.mimic.joint, joints),
                )
            )
        elif joints[joint.mimic.joint].kind not in DRIVEN:
            problems.append(
                Problem(
                    STRUCTURE,
                    f"joint '{joint.name}' mimics '{joint.mimic.joint}', which has no coordinate",
                    joint.mimic.span,
                )
            )
    return problems


def no_tree(root: Element, links: dict[str, Link], joints: dict[str, Joint]) -> list[Problem]:
    """Why links and joints make no tree."""
    if not links:
        return [Problem(STRUCTURE, "the robot has no link", root.span)]
    problems: list[Problem] = []
    carried: dict[str, Joint] = {}
    for joint in joints.values():
        if joint.child in carried:
            message = f"link '{joint.child}' is the child of two joints: a URDF is a tree, close loops in the netlist"
            problems.append(
                Problem(STRUCTURE, message, joint.span, also=((carried[joint.child].span, "the first one"),))
            )
        carried.setdefault(joint.child, joint)
    roots = [link for link in links.values() if link.name not in carried]
    if len(roots) > 1:
        message = f"the robot has {len(roots)} roots: {', '.join(repr(r.name) for r in roots[:4])} are no joint's child"
        problems.append(Problem(STRUCTURE, message, roots[1].span, also=((roots[0].span, "the first one"),)))
    problems += _circles({name: joint.parent for name, joint in carried.items()}, links, "link '{}' carries itself: {}")
    followed = {j.name: j.mimic.joint for j in joints.values() if j.mimic}
    return problems + _circles(followed, joints, "joint '{}' mimics itself: {}")


def _circles(above: dict[str, str], items: dict, sentence: str) -> list[Problem]:
    """A problem for each circle of names of which each has one above it."""
    problems: list[Problem] = []
    seen: set[str] = set()
    for name in above:
        path = [name]
        while path[-1] in above and above[path[-1]] not in path:
            path.append(above[path[-1]])
        if above.get(path[-1]) == name and not seen & set(path):
            seen |= set(path)
            problems.append(
                Problem(STRUCTURE, sentence.format(name, " -> ".join([*reversed(path), path[-1]])), items[name].span)
            )
    return problems


def ordered(root: Element, path: Path, links: dict[str, Link], joints: dict[str, Joint]) -> Robot:
    """The robot of links and joints that make a tree: depth first, in the order of the file."""
    below: dict[str, list[Joint]] = {name: [] for name in links}
    for joint in joints.values():
        below[joint.parent].append(joint)
    first = next(name for name in links if all(j.child != name for j in joints.values()))
    order: list[Joint] = []
    waiting = below[first][::-1]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += below[joint.child][::-1]
    names = [first, *(joint.child for joint in order)]
    return Robot(
        root.attributes.get("name", "").strip() or path.stem,
        str(path),
        tuple(links[n] for n in names),
        tuple(order),
        root.span,
    )
