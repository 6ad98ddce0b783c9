# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Read URDF, and the two ways in which others close its loops.

URDF itself knows trees only. Gazebo takes the joints of a loop as ``<gazebo><joint>``, Drake as
``<drake:ball_constraint>``; both are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.exchange.linkage import (
    inertia_of,
    Joint,
    Kind,
    Link,
    Linkage,
    MOMENTS,
    XmlReader,
)
from stewart_kinematics.model.platform import NO_BODY, RigidBody
from stewart_kinematics.motion import Array

KINDS: dict[str, Kind] = {
    'revolute': 'hinge',
    'continuous': 'hinge',
    'prismatic': 'slide',
    'fixed': 'fixed',
    'floating': 'free',
}
CLOSURES: dict[str, list[Kind]] = {
    'ball': ['ball'],
    'fixed': ['fixed'],
    'revolute': ['hinge'],
    'universal': ['hinge', 'hinge'],
}
DRAKE = '{http://drake.mit.edu}ball_constraint'


def read_urdf(path: Path, robot: ET.Element) -> Linkage:
    """Read the bodies and joints of a model from its root, drawn with all positions 0.

    Raises:
        ConfigurationError: If something that is needed is missing or is no number.
    """
    return _Reader(path, robot).read()


class _Reader(XmlReader):
    def __init__(self, path: Path, robot: ET.Element) -> None:
        super().__init__(path, robot.get('name'))
        self.robot = robot
        self.index: dict[str, int] = {}

    def read(self) -> Linkage:
        """Walk the tree from its root, then the closures."""
        joints = self.robot.findall('joint')
        elements = {self._name(link): link for link in self.robot.findall('link')}
        below: dict[str, list[ET.Element]] = {name: [] for name in elements}
        for joint in joints:
            self.known('link', self._end(joint, 'parent'), below).append(joint)
        roots = [n for n in elements if n not in {self._end(j, 'child') for j in joints}]
        if len(roots) != 1:
            raise self.refused('links without a parent', roots, 'one root')
        self._add(elements, roots[0], np.zeros(3), np.eye(3))
        waiting = [roots[0]]
        while waiting:
            name = waiting.pop(0)
            waiting += [self._joint(joint, elements) for joint in below[name]]
        for joint in self.robot.findall('gazebo/joint'):
            self._gazebo(joint)
        for closure in self.robot.findall(DRAKE):
            self._drake(closure)
        return self.found

    def _add(
        self, elements: dict[str, ET.Element], name: str, position: Array, rotation: Array
    ) -> None:
        element = self.known('link', name, elements)
        if name in self.index:
            raise self.refused('parents of link', name, 'one: a URDF is a tree')
        self.index[name] = len(self.found.links)
        body = self._body(element.find('inertial'))
        self.found.links.append(Link(name, position, rotation, body))

    def _body(self, inertial: ET.Element | None) -> RigidBody:
        if inertial is None:
            return NO_BODY
        centre, axes = self._origin(inertial)
        inertia = inertia_of([self._numbers(inertial, 'inertia', key, 1)[0] for key in MOMENTS])
        mass = self._numbers(inertial, 'mass', 'value', 1)[0]
        return RigidBody(mass, centre, axes @ inertia @ axes.T)

    def _joint(self, joint: ET.Element, elements: dict[str, ET.Element]) -> str:
        """Add a joint and its child; return the child's name."""
        parent, child = self._end(joint, 'parent'), self._end(joint, 'child')
        name = joint.get('name', '')
        kind = self.known(f'type of joint {name}', joint.get('type', ''), KINDS)
        carrier = self.found.links[self.index[parent]]
        offset, turn = self._origin(joint)
        place, rotation = carrier.position + carrier.rotation @ offset, carrier.rotation @ turn
        self._add(elements, child, place, rotation)
        axis = self._numbers(joint, 'axis', 'xyz', 3, (1.0, 0.0, 0.0))
        limits, rate = None, None
        if kind == 'slide' or joint.get('type') == 'revolute':
            lower, upper, rate = (
                self._numbers(joint, 'limit', key, 1, (0.0,))[0]
                for key in ('lower', 'upper', 'velocity')
            )
            limits = (lower, upper) if lower < upper else None
        leader = joint.find('mimic')
        if leader is not None:
            whose = leader.get('joint', 'another joint')
            self.found.ignored.append(f'{name}: it mimics {whose}, which has no place')
        # A joint that has no axis may write one of length 0.
        if kind in {'hinge', 'slide'}:
            axis = rotation @ self.direction(name, axis)
        ends = self.index[parent], self.index[child]
        self.found.joints.append(
            Joint(kind, name, *ends, place, place, axis, 0.0, limits, rate or None)
        )
        return child

    def _gazebo(self, joint: ET.Element) -> None:
        """Add a loop's joint as Gazebo takes it: its pose and axes are in its child's frame."""
        name = joint.get('name', '')
        kinds = self.known(f'type of closure {name}', joint.get('type', ''), CLOSURES)
        ends = (joint.findtext(tag, '').strip() for tag in ('parent', 'child'))
        parent, child = (self.known('link', end, self.index) for end in ends)
        link = self.found.links[child]
        pose = self.numbers(f'pose of {name}', joint.findtext('pose') or '0 0 0 0 0 0', 6)
        place = link.position + link.rotation @ pose[:3]
        turn = link.rotation @ Rotation.from_euler('xyz', pose[3:]).as_matrix()
        for kind, tag in zip(kinds, ('axis', 'axis2'), strict=False):
            axis = self.numbers(f'{tag} of {name}', joint.findtext(f'{tag}/xyz') or '0 0 1', 3)
            if kind == 'hinge':
                axis = turn @ self.direction(name, axis)
            self.found.joints.append(Joint(kind, name, parent, child, place, place, axis))

    def _drake(self, closure: ET.Element) -> None:
        """Add a loop's ball joint as Drake takes it: a point of each body."""
        ends, points = [], []
        for body, point in (('A', 'AP'), ('B', 'BQ')):
            name = self._attribute(closure, f'{DRAKE}_body_{body}', 'name')
            ends.append(self.known('link', name, self.index))
            link = self.found.links[ends[-1]]
            own = self._numbers(closure, f'{DRAKE}_p_{point}', 'value', 3)
            points.append(link.position + link.rotation @ own)
        name = f'ball_constraint {self.found.links[ends[1]].name}'
        (one, other), (p, q) = ends, points
        self.found.joints.append(Joint('ball', name, one, other, p, q, np.zeros(3)))

    def _origin(self, element: ET.Element) -> tuple[Array, Array]:
        turn = self._numbers(element, 'origin', 'rpy', 3, (0.0, 0.0, 0.0))
        place = self._numbers(element, 'origin', 'xyz', 3, (0.0, 0.0, 0.0))
        return place, Rotation.from_euler('xyz', turn).as_matrix()

    def _numbers(
        self, element: ET.Element, tag: str, key: str, size: int, default: Sequence[float] = ()
    ) -> Array:
        there = element.find(tag)
        if default and (there is None or there.get(key) is None):
            return np.array(default)
        return self.numbers(f'{tag} {key}', self._attribute(element, tag, key), size)

    def _attribute(self, element: ET.Element, tag: str, key: str) -> str:
        there = element.find(tag)
        value = None if there is None else there.get(key)
        if value is None:
            what = f'{element.get("name", element.tag)}: {tag} {key}'
            raise self.refused(what, None, 'a value')
        return value

    def _end(self, joint: ET.Element, which: str) -> str:
        return self._attribute(joint, which, 'link')

    def _name(self, link: ET.Element) -> str:
        name = link.get('name')
        if name is None:
            raise self.refused('link', None, 'a name')
        return name
