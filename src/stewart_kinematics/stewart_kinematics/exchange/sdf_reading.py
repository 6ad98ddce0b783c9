# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Read SDFormat, whose joints close loops by themselves.

Frames mean what SDFormat 1.7 and later say: a pose is in the frame that it names, else that of a
link in the model's, that of a joint in its child's; an axis is in that of its joint. Up to 1.4 an
axis was in the model's.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConfigurationError
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

KINDS: dict[str, list[Kind]] = {
    'revolute': ['hinge'],
    'continuous': ['hinge'],
    'prismatic': ['slide'],
    'universal': ['hinge', 'hinge'],
    'revolute2': ['hinge', 'hinge'],
    'ball': ['ball'],
    'fixed': ['fixed'],
}
COUPLINGS = ('gearbox', 'screw')
ENDLESS = 1e15  # limits beyond are none: SDFormat writes 1e16, some writers ±inf
AXES_IN_MODEL = ('1.0', '1.2', '1.3', '1.4')
UNSAID = dict(zip(MOMENTS, '100101', strict=True))  # inertia of a link that does not say its own
WORLD, MODEL = 'world', '__model__'

Place = tuple[Array, Array]


def read_sdf(path: Path, root: ET.Element) -> Linkage:
    """Read the bodies and joints of the one model in a file, drawn with all positions 0.

    Raises:
        ConfigurationError: If there is not one model, or something that is needed is missing or is
            no number.
    """
    models = [*root.findall('model'), *root.findall('world/model')]
    models = [model for model in models if model.find('joint') is not None]
    if len(models) != 1:
        names = [model.get('name', '') for model in models]
        raise ConfigurationError('models with joints', names, 'one', str(path))
    reader = _Reader(path, models[0], root.get('version', ''))
    found, gravity = reader.read(), root.find('world/gravity')
    if gravity is not None:
        found.gravity = reader.numbers('gravity', gravity.text or '', 3)
    return found


class _Reader(XmlReader):
    def __init__(self, path: Path, model: ET.Element, version: str) -> None:
        super().__init__(path, model.get('name'))
        self.model, self.axes_in_model = model, version in AXES_IN_MODEL
        self.places: dict[str, Place] = {MODEL: self._pose(model.find('pose'))}
        self.frames = {
            item.get('name', ''): item
            for tag in ('link', 'joint', 'frame')
            for item in model.findall(tag)
        }

    def read(self) -> Linkage:
        """Read links, then joints from the world on; those that close a loop come last."""
        links, ignored = self.found.links, self.found.ignored
        links.append(Link(WORLD, np.zeros(3), np.eye(3), NO_BODY))
        for element in self.model.findall('link'):
            name = element.get('name', '')
            links.append(Link(name, *self._place(name, ()), self._body(name, element)))
            self._look_for_imu(element, len(links) - 1)
        for element in (*self.model.findall('model'), *self.model.findall('include')):
            what = element.get('name') or element.findtext('uri', '')
            ignored.append(f'{element.tag} {what}: nested models are not read')
        index = {link.name: k for k, link in enumerate(links)}
        joints = [self._joint(joint, index) for joint in self.model.findall('joint')]
        self.found.joints = _from_the_root([row for rows in joints for row in rows])
        return self.found

    def _place(self, name: str, asking: tuple[str, ...]) -> Place:
        """Return origin and axes of a frame in the drawing."""
        if name in asking:
            raise self.refused('frames', ' -> '.join((*asking, name)), 'poses without a circle')
        if name not in self.places:
            element = self.known('frame', name, self.frames)
            default = {'joint': element.findtext('child'), 'frame': element.get('attached_to')}
            pose = element.find('pose')
            origin = '' if pose is None else pose.get('relative_to', '')
            origin = origin or (default.get(element.tag) or MODEL).strip()
            place, turn = self._place(origin, (*asking, name)) if origin != WORLD else _STILL
            offset, rotation = self._pose(pose)
            self.places[name] = place + turn @ offset, turn @ rotation
        return self.places[name]

    def _joint(self, joint: ET.Element, index: dict[str, int]) -> list[Joint]:
        name, kind = joint.get('name', ''), joint.get('type', '')
        if kind in COUPLINGS:
            self.found.ignored.append(f'{name}: a {kind} has no place')
            return []
        kinds = self.known(f'type of joint {name}', kind, KINDS)
        ends = ((joint.findtext(tag) or '').strip() for tag in ('parent', 'child'))
        parent, child = (self.known(f'link of joint {name}', end, index) for end in ends)
        place, _ = self._place(name, ())
        rows = []
        for one, tag in zip(kinds, ('axis', 'axis2'), strict=False):
            axis, limits, rate = np.zeros(3), None, None
            element = joint.find(tag)
            if one in {'hinge', 'slide'}:
                axis, limits, rate = self._axis(name, element)
            rows.append(Joint(one, name, parent, child, place, place, axis, 0.0, limits, rate))
        return rows

    def _axis(
        self, name: str, axis: ET.Element | None
    ) -> tuple[Array, tuple[float, float] | None, float | None]:
        """Return an axis in the drawing, its limits and its greatest rate."""
        given = None if axis is None else axis.find('xyz')
        text = '0 0 1' if given is None else given.text
        along = self.direction(name, self._numbers(f'axis of {name}', text, 3))
        frame = name if given is None else given.get('expressed_in') or name
        old = '' if axis is None else axis.findtext('use_parent_model_frame', '')
        if self.axes_in_model or old.strip() in {'1', 'true'}:
            frame = MODEL
        turn = np.eye(3) if frame == WORLD else self._place(frame, ())[1]
        lower, upper, rate = (
            float(self._numbers(f'{key} of {name}', text, 1)[0])
            if axis is not None and (text := axis.findtext(f'limit/{key}')) is not None
            else default
            for key, default in (('lower', -np.inf), ('upper', np.inf), ('velocity', -1.0))
        )
        limited = lower < upper and lower > -ENDLESS and upper < ENDLESS
        limits = (lower, upper) if limited else None
        return turn @ along, limits, rate if 0.0 < rate < ENDLESS else None

    def _body(self, name: str, link: ET.Element) -> RigidBody:
        inertial = link.find('inertial')
        if inertial is None:
            return NO_BODY
        if inertial.get('auto') == 'true':
            self.found.ignored.append(f'{name}: its mass follows from shapes, which are not read')
            return NO_BODY
        mass = self._numbers(f'mass of {name}', inertial.findtext('mass', '1'), 1)[0]
        centre, axes = self._pose(inertial.find('pose'))
        texts = (inertial.findtext(f'inertia/{key}', UNSAID[key]) for key in MOMENTS)
        inertia = inertia_of([self._numbers(f'inertia of {name}', text, 1)[0] for text in texts])
        return RigidBody(float(mass), centre, axes @ inertia @ axes.T)

    def _look_for_imu(self, link: ET.Element, index: int) -> None:
        sensor = link.find("sensor[@type='imu']")
        if sensor is not None and self.found.imu is None:
            offset, rotation = self._pose(sensor.find('pose'))
            here = self.found.links[index]
            place = here.position + here.rotation @ offset
            self.found.imu = index, place, here.rotation @ rotation

    def _pose(self, pose: ET.Element | None) -> Place:
        """Return a pose in the frame in which it is written."""
        if pose is None or not (pose.text or '').strip():
            return _STILL
        if pose.get('rotation_format') == 'quat_xyzw':
            values = self._numbers('pose', pose.text, 7)
            return values[:3], Rotation.from_quat(values[3:]).as_matrix()
        values = self._numbers('pose', pose.text, 6)
        degrees = pose.get('degrees') in {'1', 'true'}
        return values[:3], Rotation.from_euler('xyz', values[3:], degrees).as_matrix()

    def _numbers(self, what: str, text: str | None, size: int) -> Array:
        # Limits may be infinite.
        return self.numbers(what, text or '', size, finite=size > 1)


_STILL: Place = (np.zeros(3), np.eye(3))


def _from_the_root(joints: list[Joint]) -> list[Joint]:
    """Sort joints as a tree has them, from what no joint carries on; the rest closes loops."""
    children = {joint.child for joint in joints}
    waiting = deque(sorted({joint.parent for joint in joints} - children) or [0])
    seen, tree = set(waiting), []
    while waiting:
        link = waiting.popleft()
        below = {joint.child for joint in joints if joint.parent == link} - seen
        tree += [joint for joint in joints if joint.parent == link and joint.child in below]
        seen |= below
        waiting.extend(sorted(below))
    return tree + [joint for joint in joints if not any(joint is other for other in tree)]
