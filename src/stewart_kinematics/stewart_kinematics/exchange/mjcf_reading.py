# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Read MJCF through MuJoCo itself.

Defaults, includes, meshes, angles in any sequence and bodies that are weighed by their geoms mean
what MuJoCo says they mean.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from stewart_kinematics.errors import ConfigurationError
from stewart_kinematics.exchange.linkage import Joint, Kind, Link, Linkage
from stewart_kinematics.exchange.mjcf import TITLE
from stewart_kinematics.model.platform import RigidBody

OPEN = 1e-3  # a weld that the drawing misses by more is not what is drawn [m], [rad]
DIGITS = 1e-6  # a smaller miss comes from the digits of a file [m], [rad]


def read_mjcf(path: Path) -> Linkage:
    """Read the bodies and joints of a model as MuJoCo draws them first, at ``qpos0``.

    Raises:
        ConfigurationError: If MuJoCo is absent or refuses the file, or a weld is drawn open.
    """
    try:
        import mujoco
    except ImportError as error:
        expected = "the Python package mujoco, which reads MJCF: pip install 'mujoco<4'"
        raise ConfigurationError(str(path), 'MJCF', expected) from error
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        reason = ' '.join(str(error).split())
        raise ConfigurationError(str(path), reason, 'a model that MuJoCo takes') from error
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    name = model.names[: model.names.index(b'\0')].decode() or path.stem
    found = Linkage(name, gravity=model.opt.gravity.copy())
    found.links = [_link(model, data, body) for body in range(model.nbody)]
    kinds: dict[int, Kind] = {
        mujoco.mjtJoint.mjJNT_SLIDE: 'slide',
        mujoco.mjtJoint.mjJNT_HINGE: 'hinge',
        mujoco.mjtJoint.mjJNT_BALL: 'ball',
        mujoco.mjtJoint.mjJNT_FREE: 'free',
    }
    ranges = _servo_ranges(mujoco, model)
    for body in range(1, model.nbody):
        found.joints += _tree_joints(model, data, body, kinds, ranges)
    if ranges:
        names = ', '.join(model.joint(k).name or f'joint {k}' for k in sorted(ranges))
        found.ignored.append(
            f'{names}: without a range, the ctrlrange of a position actuator is it'
        )
    found.joints += _closures(mujoco, model, data)
    found.ignored += _welded(mujoco, model, data, str(path))
    found.imu = _imu(mujoco, model, data)
    found.ignored += _coupled(mujoco, model)
    for k in range(model.nnumeric):
        start = model.numeric_adr[k]
        values = model.numeric_data[start : start + model.numeric_size[k]]
        found.numbers[model.numeric(k).name] = values.tolist()
    for k in range(model.ntext):
        if mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_TEXT, k) == TITLE:
            start = model.text_adr[k]
            found.title = model.text_data[start : start + model.text_size[k] - 1].decode()
    for word, values in (
        ('armature', model.dof_armature),
        ('damping', model.dof_damping),
        ('friction', model.dof_frictionloss),
        ('springs', model.jnt_stiffness),
    ):
        if np.any(values):
            found.ignored.append(f'{word} of joints, up to {np.max(values):.3g}, has no place')
    return found


def _link(model: Any, data: Any, body: int) -> Link:
    rotation = data.xmat[body].reshape(3, 3).copy()
    axes = rotation.T @ data.ximat[body].reshape(3, 3)
    inertia = axes @ np.diag(model.body_inertia[body]) @ axes.T
    mass, centre = float(model.body_mass[body]), model.body_ipos[body].copy()
    own = RigidBody(mass, centre, 0.5 * (inertia + inertia.T))
    return Link(model.body(body).name or f'body {body}', data.xpos[body].copy(), rotation, own)


def _servo_ranges(mujoco: Any, model: Any) -> dict[int, tuple[float, float]]:
    """Return where position actuators may send slides that have no range of their own [m]."""
    ranges = {}
    for k in range(model.nu):
        joint, gain = int(model.actuator_trnid[k, 0]), model.actuator_gainprm[k, 0]
        gear = float(model.actuator_gear[k, 0])
        if (
            model.actuator_trntype[k] == mujoco.mjtTrn.mjTRN_JOINT
            and model.actuator_biastype[k] == mujoco.mjtBias.mjBIAS_AFFINE
            and model.actuator_biasprm[k, 1] == -gain != 0.0
            and model.actuator_ctrllimited[k]
            and gear
            and model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE
            and not model.jnt_limited[joint]
        ):
            ends = sorted(float(end) / gear for end in model.actuator_ctrlrange[k])
            ranges[joint] = ends[0], ends[1]
    return ranges


def _tree_joints(
    model: Any,
    data: Any,
    body: int,
    kinds: dict[int, Kind],
    ranges: dict[int, tuple[float, float]],
) -> list[Joint]:
    """Return what carries a body; without a joint it is fixed."""
    parent, first = int(model.body_parentid[body]), model.body_jntadr[body]
    if not model.body_jntnum[body]:
        place = data.xpos[body].copy()
        return [Joint('fixed', '', parent, body, place, place, np.zeros(3))]
    result = []
    for k in range(first, first + model.body_jntnum[body]):
        kind, centre = kinds[int(model.jnt_type[k])], data.xanchor[k].copy()
        limits, position = ranges.get(k), 0.0
        if kind in ('slide', 'hinge'):
            position = float(model.qpos0[model.jnt_qposadr[k]])
            if model.jnt_limited[k]:
                limits = float(model.jnt_range[k, 0]), float(model.jnt_range[k, 1])
        name, axis = model.joint(k).name or f'joint {k}', data.xaxis[k].copy()
        result.append(Joint(kind, name, parent, body, centre, centre, axis, position, limits))
    return result


def _equalities(model: Any, *kinds: int) -> Iterator[tuple[int, str, tuple[int, int]]]:
    """Yield number, name and ends of the active constraints of some kinds."""
    for k in range(model.neq):
        if int(model.eq_type[k]) in kinds and model.eq_active0[k]:
            ends = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
            yield k, model.equality(k).name or f'equality {k}', ends


def _closures(mujoco: Any, model: Any, data: Any) -> list[Joint]:
    """Return connect and weld constraints as joints between bodies."""
    result = []
    kinds: dict[int, Kind] = {mujoco.mjtEq.mjEQ_CONNECT: 'ball', mujoco.mjtEq.mjEQ_WELD: 'fixed'}
    for k, name, ends in _equalities(model, *kinds):
        kind, bodies = kinds[int(model.eq_type[k])], ends
        if model.eq_objtype[k] == mujoco.mjtObj.mjOBJ_SITE:
            points = [data.site_xpos[site].copy() for site in ends]
            bodies = int(model.site_bodyid[ends[0]]), int(model.site_bodyid[ends[1]])
        else:
            # A connect holds both anchors; those of a weld are in `_welded`.
            pairs = zip(ends, model.eq_data[k, :6].reshape(2, 3), strict=True)
            points = [data.xpos[b] + data.xmat[b].reshape(3, 3) @ anchor for b, anchor in pairs]
        result.append(Joint(kind, name, *bodies, points[0], points[1], np.zeros(3)))
    return result


def _welded(mujoco: Any, model: Any, data: Any, file: str) -> list[str]:
    """Return a sentence for every weld that the drawing misses a little; refuse one drawn open.

    The bodies of a weld become one as they are drawn, not as its ``relpose`` says.
    """
    result = []
    for k, name, ends in _equalities(model, mujoco.mjtEq.mjEQ_WELD):
        if model.eq_objtype[k] == mujoco.mjtObj.mjOBJ_SITE:
            one, other = ((data.site_xpos[s], data.site_xmat[s].reshape(3, 3)) for s in ends)
            relative, anchor = Rotation.identity(), np.zeros((2, 3))
        else:
            one, other = ((data.xpos[b], data.xmat[b].reshape(3, 3)) for b in ends)
            relative = Rotation.from_quat(np.roll(model.eq_data[k, 6:10], -1))
            # The anchor of the second body comes first.
            anchor = model.eq_data[k, :6].reshape(2, 3)[::-1]
        points = [
            place + turn @ own for (place, turn), own in zip((one, other), anchor, strict=True)
        ]
        off = round(float(np.linalg.norm(points[1] - points[0])), 6)
        turn = Rotation.from_matrix(one[1].T @ other[1]) * relative.inv()
        turned = round(float(turn.magnitude()), 6)
        if max(off, turned) > OPEN:
            key, expected = f'{name}: off [m], [rad]', 'a weld drawn closed, as its relpose says'
            raise ConfigurationError(key, [off, turned], expected, file)
        if max(off, turned) > DIGITS:
            result.append(f'{name}: welded as drawn, {off:g} m and {turned:g} rad off')
    return result


def _coupled(mujoco: Any, model: Any) -> list[str]:
    """Return a sentence for every equality that couples joints, which no platform file has."""
    result = []
    for _, _, ends in _equalities(model, mujoco.mjtEq.mjEQ_JOINT):
        names = [model.joint(end).name or f'joint {end}' for end in ends if end >= 0]
        result.append(f'{" and ".join(names)}: their equality has no place')
    return result


def _imu(mujoco: Any, model: Any, data: Any) -> tuple[int, Any, Any] | None:
    """Return body and place of the first accelerometer or gyro."""
    sensors = mujoco.mjtSensor
    inertial = int(sensors.mjSENS_ACCELEROMETER), int(sensors.mjSENS_GYRO)
    for kind, site in zip(model.sensor_type, model.sensor_objid, strict=True):
        if kind in inertial:
            rotation = data.site_xmat[site].reshape(3, 3).copy()
            return int(model.site_bodyid[site]), data.site_xpos[site].copy(), rotation
    return None
