# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Find the hexapod in a mechanism by its structure, whatever its parts are called.

Links that are fixed to each other are one body. Two bodies bear six chains or more: base and
platform. A chain with one slide between the two, on a joint at either end, is a leg; what else
joins platform and base (a free joint, virtual axes) only says that the platform moves.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile

import numpy as np
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.exchange.linkage import Joint, Linkage
from stewart_kinematics.exchange.neutral_legs import LEAST_MASS, leg_axes
from stewart_kinematics.model.platform import LEAST_LEAN, NO_BODY, RigidBody
from stewart_kinematics.motion import Array

OFF_LINE = 0.01
"""A slide may miss the line between its leg's joints by this part of the leg's length."""

PAYLOAD = ('payload', 'payload_link')
"""A link of this name on the platform is the payload of the platform file."""

OTHER_LEGS = (
    'the import reads linear legs only; for cranks or carriages on rails, copy the platform file '
    'sg90_rotary or hexaglide_3d_mec and change its numbers'
)
TOO_MANY_LEGS = (
    'six between base and platform; take what is no leg out of the model, such as a passive strut'
)

CROSSING = 1e-6  # axes of a joint that miss each other by more are worth a note [m]


@dataclass(frozen=True, eq=False)
class Leg:
    """One leg as measured; coordinates are those of the drawing.

    Attributes:
        name: Of its slide.
        base, socket (3,): Base joint, as the base has it, and platform joint, as the platform has
            it [m].
        zero_length: Joint to joint where the slide's position is 0 [m].
        limits: Lower and upper position, counted so that more is longer [m].
        rate: [m/s].
        axis (3,): The base joint's axis that is fixed in the base, if it has one.
        along (3,): Unit vector along the leg in the drawing, from the base.
        hinges: Of the base joint, from the base on; about their axes the leg turns.
        cylinder, rod: In leg axes, from the base joint and from the platform joint.
    """

    name: str
    base: Array
    socket: Array
    zero_length: float
    limits: tuple[float, float] | None
    rate: float | None
    axis: Array | None
    along: Array
    hinges: list[Joint]
    cylinder: RigidBody
    rod: RigidBody


@dataclass(frozen=True, eq=False)
class Hexapod:
    """The parts: indices of the links that are base and platform, six legs, and doubts.

    The first link of the base is the one that carries the legs, that of the platform the one that
    moves freely, or else the heaviest.
    """

    base: list[int]
    platform: list[int]
    legs: list[Leg]
    notes: list[str]


@dataclass(frozen=True)
class _Step:
    """The joints from one body to the next; `forward` if the next is their child."""

    joints: tuple[Joint, ...]
    forward: bool
    body: int


def find_hexapod(linkage: Linkage, file: str) -> Hexapod:
    """Find base, platform and legs, in the order of their slides; `file` is for messages.

    Raises:
        ConfigurationError: If there are not six legs, or one is of another kind.
    """
    of = _bodies(linkage)
    steps: dict[int, list[_Step]] = {body: [] for body in of}
    groups: dict[tuple[int, int], list[Joint]] = {}
    for joint in linkage.joints:
        if joint.kind not in ('fixed', 'free') and of[joint.parent] != of[joint.child]:
            groups.setdefault((joint.parent, joint.child), []).append(joint)
    for (parent, child), joints in groups.items():
        steps[of[parent]].append(_Step(tuple(joints), True, of[child]))
        steps[of[child]].append(_Step(tuple(joints), False, of[parent]))
    hubs = [body for body, around in steps.items() if len(around) >= 6]
    if len(hubs) != 2:
        names = [linkage.links[body].name for body in hubs]
        expected = (
            'two, base and platform; loops of a URDF are closed by <gazebo><joint> or '
            '<drake:ball_constraint>, those of MJCF by <equality>'
        )
        raise ConfigurationError('bodies that bear six chains of joints', names, expected, file)
    base, platform = hubs
    paths = _chains(base, platform, steps)
    _demand_six(paths, file)
    members = {body: [link for link in of if of[link] == body] for body in of}
    if _carried(hubs, paths, linkage, members) == base:
        base, platform = platform, base
        paths = _chains(base, platform, steps)
    order = {id(joint): k for k, joint in enumerate(linkage.joints)}
    paths.sort(key=lambda path: order[id(_slide(path))])
    carrier = _carrier(paths, members[base], _tree(linkage))
    plate = _plate(linkage, members[platform])
    names = [linkage.links[link].name for link in (carrier, plate)]
    notes = [f'base_link is {names[0]}, platform_link is {names[1]}']
    legs = [_leg(linkage, path, members, notes, file) for path in paths]
    bases, plates = (
        [first, *(link for link in members[body] if link != first)]
        for body, first in ((base, carrier), (platform, plate))
    )
    return Hexapod(bases, plates, legs, notes)


def _tree(linkage: Linkage) -> dict[int, int]:
    """Return the parent of each link but the first; closures of loops come last and are none."""
    tree: dict[int, int] = {}
    for joint in linkage.joints:
        if joint.child:
            tree.setdefault(joint.child, joint.parent)
    return tree


def _chains(base: int, platform: int, steps: dict[int, list[_Step]]) -> list[list[_Step]]:
    """Return the chains with one slide from the base to the platform."""
    return [
        path
        for step in steps[base]
        if (path := _path(step, base, platform, steps)) is not None
        and sum(joint.kind == 'slide' for step in path for joint in step.joints) == 1
    ]


def _demand_six(paths: list[list[_Step]], file: str) -> None:
    """Refuse fewer or more chains than a hexapod has legs."""
    key, slides = 'chains with one slide', [_slide(path).name for path in paths]
    if len(slides) < 6:
        expected = f'six between base and platform; {OTHER_LEGS}'
        raise ConfigurationError(key, len(slides), expected, file)
    if len(slides) > 6:
        raise ConfigurationError(key, slides, TOO_MANY_LEGS, file)


def _slide(path: list[_Step]) -> Joint:
    return next(joint for step in path for joint in step.joints if joint.kind == 'slide')


def _carried(
    hubs: list[int], paths: list[list[_Step]], linkage: Linkage, members: dict[int, list[int]]
) -> int:
    """Return which of two bodies is the platform.

    What stands still is the base, and so is what carries the other. Else the one that moves freely
    is the platform, or the one that bears fewer legs. The chains lead from the first body to the
    second; where both bear as many, slides move what is nearer to the platform.
    """
    first, second = hubs
    for hub, other in (hubs, hubs[::-1]):
        if 0 in members[other]:
            return hub
    of = {link: body for body, links in members.items() for link in links}
    tree = _tree(linkage)
    for hub, other in (hubs, hubs[::-1]):
        if all(other in {of[k] for k in _carriers(link, tree)} for link in members[hub]):
            return hub
    free = [hub for hub in hubs if _free(linkage, members[hub])]
    if len(free) == 1:
        return free[0]
    legs = {step.body for path in paths for step in path[:-1]}
    below = [of[tree[body]] if body in tree else -1 for body in legs]
    lead = below.count(first) - below.count(second)
    if not lead:
        slides = [step.forward for path in paths for step in path if _slide(path) in step.joints]
        lead = 2 * sum(slides) - len(slides)
    return first if lead < 0 else second


def _carriers(link: int, tree: dict[int, int]) -> list[int]:
    """Return what carries a link, from the nearest on."""
    line: list[int] = []
    # Joints of an SDF may go round in a circle.
    while (link := tree.get(link, -1)) not in (-1, *line):
        line.append(link)
    return line


def _free(linkage: Linkage, members: list[int]) -> list[int]:
    """Return the links of a body that a free joint lets go anywhere."""
    return [
        joint.child for joint in linkage.joints if joint.kind == 'free' and joint.child in members
    ]


def _plate(linkage: Linkage, members: list[int]) -> int:
    """Return the link of the platform in whose frame the platform file has it."""
    own = [link for link in members if linkage.links[link].name not in PAYLOAD] or members
    free = [link for link in _free(linkage, members) if link in own]
    return free[0] if free else max(own, key=lambda link: linkage.links[link].body.mass)


def _carrier(paths: list[list[_Step]], members: list[int], tree: dict[int, int]) -> int:
    """Return the link of the base that all legs are joined to, or that carries those."""
    joined = (
        path[0].joints[0].parent if path[0].forward else path[0].joints[0].child for path in paths
    )
    lines = [[k, *takewhile(members.__contains__, _carriers(k, tree))] for k in joined]
    return next((link for link in lines[0] if all(link in line for line in lines)), members[0])


def _bodies(linkage: Linkage) -> dict[int, int]:
    """Return for each link the first link of its rigid body."""
    of = {link: link for link in range(len(linkage.links))}
    for joint in linkage.joints:
        if joint.kind == 'fixed':
            one, other = sorted((of[joint.parent], of[joint.child]))
            of = {link: one if body == other else body for link, body in of.items()}
    return of


def _path(
    step: _Step, base: int, platform: int, steps: dict[int, list[_Step]]
) -> list[_Step] | None:
    """Follow a chain from the base; None if it branches or ends before the platform."""
    path = [step]
    while path[-1].body != platform:
        last = path[-1]
        onwards = [s for s in steps[last.body] if s.joints != last.joints]
        if last.body == base or len(onwards) != 1 or len(path) > len(steps):
            return None
        path.append(onwards[0])
    return path


def merged(linkage: Linkage, links: list[int], axes: Array, origin: Array) -> RigidBody:
    """Return links as one body, in axes (3, 3) of the drawing, from an origin [m].

    No links give a massless body; masses up to `LEAST_MASS` count as none.
    """
    whole = NO_BODY
    for k in links:
        link = linkage.links[k]
        turn = axes.T @ link.rotation
        centre = axes.T @ (link.position - origin) + turn @ link.body.centre_of_mass
        mass = link.body.mass if link.body.mass > LEAST_MASS * (1.0 + 1e-9) else 0.0
        own = RigidBody(mass, centre, turn @ link.body.inertia @ turn.T)
        whole = own if k == links[0] else whole.joined(own)
    return whole


def _leg(
    linkage: Linkage, path: list[_Step], members: dict[int, list[int]], notes: list[str], file: str
) -> Leg:
    """Measure a leg along its chain, which leads from the base to the platform."""
    chain = [
        (joint, step.forward)
        for step in path
        for joint in (step.joints if step.forward else reversed(step.joints))
    ]
    at = next(k for k, (joint, _) in enumerate(chain) if joint.kind == 'slide')
    slide, forward = chain[at]
    lower, upper = chain[:at], chain[at + 1 :]
    base, foot = _centre(lower, slide.name, 'base', notes, file)
    tip, socket = _centre(upper, slide.name, 'platform', notes, file)
    grows = slide.axis if forward else -slide.axis
    reach = float((tip - foot) @ grows)
    sign = -1.0 if reach < -CROSSING else 1.0
    along = sign * grows
    beside = float(np.linalg.norm(tip - foot - reach * grows))
    ends = [abs(reach + x - slide.position) for x in slide.limits or ()]
    longest = max([abs(reach), *ends])
    if beside > OFF_LINE * max(longest, float(np.linalg.norm(socket - base))):
        expected = "its slide on the line between the leg's joints"
        raise ConfigurationError(f'{slide.name}: distance [m]', round(beside, 6), expected, file)
    limits = None
    if slide.limits is not None:
        limits = slide.limits if sign > 0.0 else (-slide.limits[1], -slide.limits[0])
    # A ball joint of three hinges is no universal joint: its first axis is anyone's choice.
    axis = lower[0][0].axis if [j.kind for j, _ in lower] == ['hinge', 'hinge'] else None
    if axis is not None and np.linalg.norm(np.cross(axis, along)) < np.sin(LEAST_LEAN):
        axis = None
    axes = leg_axes(along, [1.0, 0.0, 0.0] if axis is None else axis)
    hinges = [
        replace(j, axis=j.axis if forward else -j.axis)
        for j, forward in lower
        if j.kind == 'hinge'
    ]
    # The slide's step ends in the rod; a slide that shares its step with hinges moves the child.
    cut = next(k for k, step in enumerate(path) if slide in step.joints)
    bodies = [members[step.body] for step in path[:-1]]
    below = [link for links in bodies[:cut] for link in links]
    above = [link for links in bodies[cut:] for link in links]
    return Leg(
        slide.name,
        base,
        socket,
        abs(reach) - sign * slide.position,
        limits,
        slide.rate,
        axis,
        along,
        hinges,
        merged(linkage, below, axes, foot),
        merged(linkage, above, axes, tip),
    )


def _centre(
    joints: list[tuple[Joint, bool]], name: str, where: str, notes: list[str], file: str
) -> tuple[Array, Array]:
    """Return the point about which one end of a leg turns, as both sides of it have it."""
    for joint, forward in joints:
        if joint.kind == 'ball':
            points = joint.at_parent, joint.at_child
            return points if forward else points[::-1]
    if len(joints) < 2:
        kinds = [joint.kind for joint, _ in joints]
        expected = 'a ball joint or two hinges that cross, at either end of its slide'
        if where == 'base' and not joints:
            expected = f'{expected}; {OTHER_LEGS}'
        raise ConfigurationError(f'{name}: joints at the {where}', kinds, expected, file)
    across = [np.eye(3) - np.outer(joint.axis, joint.axis) for joint, _ in joints]
    points_on = [joint.at_parent for joint, _ in joints]
    load = sum(a @ p for a, p in zip(across, points_on, strict=True))
    point: Array = np.asarray(np.linalg.lstsq(sum(across), load, rcond=None)[0], dtype=float)
    pairs = zip(across, points_on, strict=True)
    missed = max(float(np.linalg.norm(a @ (point - p))) for a, p in pairs)
    if missed > CROSSING:
        notes.append(f'{name}: axes at the {where} miss each other by {2.0 * missed:.3g} m')
    return point, point
