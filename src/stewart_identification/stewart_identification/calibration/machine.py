# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The machine as the calibration knows it, and what of it is unknown.

``base_link`` and ``platform_link`` are fixed to the joints themselves: the deviations of the six
base joints from the description contain no motion of a rigid body, nor do those of the platform.
So the frames of the tracker and of its target have six coordinates each of their own, and nothing
that is estimated can be shifted into something else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import block_diag, null_space
from scipy.spatial.transform import Rotation
from stewart_identification.calibration.observations import Observations
from stewart_identification.errors import FitError
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.spatial import skew

# Where the unknowns lie in a step: joints [m], lengths [m], frames [m] and [rad], IMU; biases
# [m/s²], [rad/s].
BASE, PLATFORM, LENGTH = slice(0, 18), slice(18, 36), slice(36, 42)
TRACKER, TARGET = slice(42, 48), slice(48, 54)
MOUNTING, TILT, FORCE_SCALE, RATE_SCALE = slice(54, 57), slice(57, 59), 59, 60
FORCE_BIAS, RATE_BIAS = slice(61, 64), slice(64, 67)
SIZE = 67
STEPS, CLOSED = 30, 1e-12


@dataclass(frozen=True, eq=False)
class Machine:
    """Joints, lengths, and where tracker, target and IMU sit.

    Attributes:
        base (6, 3), platform (6, 3): Joint centres in ``base_link`` and ``platform_link`` [m].
        length (6,): Joint-to-joint lengths at stroke zero [m].
        tracker (4, 4): From ``base_link`` to the tracker's coordinates.
        target (4, 4): From the target's coordinates to ``platform_link``.
        mounting (3, 3): From sensor axes to ``platform_link``.
        gravity (3,): In base axes [m/s²]; its size is given, its direction is estimated.
        scales (2,): What the IMU makes of specific force and angular velocity, over the truth.
        biases (6,): What the IMU adds to them, in sensor axes [m/s²], [rad/s].
        neutral: Pose in the middle of the workspace, where every search for a pose begins.
    """

    base: Array
    platform: Array
    length: Array
    tracker: Array
    target: Array
    mounting: Array
    gravity: Array
    scales: Array
    biases: Array
    neutral: Pose

    @classmethod
    def described(cls, platform: Platform) -> Machine:
        """Return the machine of a platform file, tracker and target in the links' origins."""
        geometry = platform.geometry
        mounting = np.eye(3) if platform.imu is None else platform.imu.rotation
        return cls(
            np.array(geometry.base_joints),
            np.array(geometry.platform_joints),
            np.array(geometry.retracted_length),
            np.eye(4),
            np.eye(4),
            mounting,
            np.array(platform.gravity),
            np.ones(2),
            np.zeros(6),
            geometry.neutral_pose,
        )

    def moved(self, step: Array) -> Machine:
        """Return the machine after a step of all unknowns, shape (67,)."""
        tilt = np.append(step[TILT], 0.0)
        return replace(
            self,
            base=self.base + step[BASE].reshape(6, 3),
            platform=self.platform + step[PLATFORM].reshape(6, 3),
            length=self.length + step[LENGTH],
            tracker=_displaced(self.tracker, step[TRACKER]),
            target=_displaced(self.target, step[TARGET]),
            mounting=Rotation.from_rotvec(step[MOUNTING]).as_matrix() @ self.mounting,
            gravity=Rotation.from_rotvec(tilt).as_matrix() @ self.gravity,
            scales=self.scales + step[[FORCE_SCALE, RATE_SCALE]],
            biases=self.biases + step[FORCE_BIAS.start : RATE_BIAS.stop],
        )

    def poses(
        self, seen: Observations, start: tuple[Array, Array] | None = None
    ) -> tuple[Array, Array]:
        """Return where ``platform_link`` is for n strokes.

        Args:
            seen: They, and where they come from.
            start (n, 3), (n, 3, 3): Positions [m] and rotations nearby; default: `neutral`.

        Returns:
            (n, 3), (n, 3, 3): In ``base_link``.

        Raises:
            FitError: If a pose is not found.
        """
        count = len(seen)
        position, rotation = start or (
            np.tile(self.neutral.position, (count, 1)),
            np.tile(self.neutral.rotation, (count, 1, 1)),
        )
        wanted = seen.strokes + self.length
        for _ in range(STEPS):
            jacobian, length = self.jacobian(position, rotation)
            missing = wanted - length
            if np.abs(missing).max() < CLOSED:
                return position, rotation
            try:
                step = np.linalg.solve(jacobian, missing[..., None])[..., 0]
            except np.linalg.LinAlgError:
                break
            position = position + step[:, :3]
            rotation = Rotation.from_rotvec(step[:, 3:]).as_matrix() @ rotation
        worst = seen.source[np.abs(missing).max(axis=1).argmax()]
        raise FitError(
            f'no pose of the machine has the strokes of {worst}: check the order of the legs, '
            'and that strokes count from the retracted leg'
        )

    def distances(self, seen: Observations) -> tuple[Array, Array]:
        """Return how far tracked poses, k, are from where this machine has the target at them.

        Returns:
            (k,), (k,): Distances [m] and angles [rad].
        """
        seen = seen[np.flatnonzero(seen.tracked)]
        position, rotation = self.poses(seen)
        world = self.tracker
        place = (position + rotation @ self.target[:3, 3]) @ world[:3, :3].T + world[:3, 3]
        attitude = world[:3, :3] @ rotation @ self.target[:3, :3]
        turn = Rotation.from_matrix(attitude @ seen.rotation.swapaxes(1, 2))
        return np.linalg.norm(place - seen.position, axis=1), turn.magnitude()

    def jacobian(self, position: Array, rotation: Array) -> tuple[Array, Array]:
        """Return how lengths follow a pose, shape (n, 6, 6), and the lengths, shape (n, 6) [m]."""
        arms, units, length = self._legs(position, rotation)
        return np.concatenate([units, np.cross(arms, units)], axis=-1), length

    def _legs(self, position: Array, rotation: Array) -> tuple[Array, Array, Array]:
        arms = np.einsum('nij,lj->nli', rotation, self.platform)
        legs = position[:, None] + arms - self.base
        length = np.linalg.norm(legs, axis=-1)
        return arms, legs / length[..., None], length

    def sensitivity(self, position: Array, rotation: Array) -> Array:
        """Return how poses at given strokes follow the unknowns and the strokes.

        Args:
            position (n, 3), rotation (n, 3, 3): Poses.

        Returns:
            (n, 6, 73): Displacement and turn of the platform in base axes per unknown, then per
                stroke.
        """
        _, units, _ = self._legs(position, rotation)
        jacobian, _ = self.jacobian(position, rotation)
        per_leg = np.zeros((len(position), 6, SIZE + 6))
        inside = np.einsum('nji,nlj->nli', rotation, units)
        for leg in range(6):
            per_leg[:, leg, 3 * leg : 3 * leg + 3] = units[:, leg]
            per_leg[:, leg, 18 + 3 * leg : 21 + 3 * leg] = -inside[:, leg]
            per_leg[:, leg, 36 + leg] = per_leg[:, leg, SIZE + leg] = 1.0
        return np.asarray(np.linalg.solve(jacobian, per_leg))

    def twists(self, position: Array, rotation: Array, rates: Array) -> Array:
        """Return twists for leg rates, shape (n, 6) [m/s], [rad/s]."""
        jacobian, _ = self.jacobian(position, rotation)
        return np.asarray(np.linalg.solve(jacobian, rates[..., None])[..., 0])

    def twist_sensitivity(
        self, position: Array, rotation: Array, twist: Array, sensitivity: Array
    ) -> Array:
        """Return how twists at given rates follow the unknowns and strokes, shape (n, 6, 73)."""
        arms, units, length = self._legs(position, rotation)
        jacobian, _ = self.jacobian(position, rotation)
        velocity, omega = twist[:, :3], twist[:, 3:]
        moved, turned = sensitivity[:, :3], sensitivity[:, 3:]
        change = np.zeros((len(position), 6, SIZE + 6))
        for leg in range(6):
            arm, unit = arms[:, leg], units[:, leg]
            # Of the arm in base axes, then of the vector from joint to joint.
            arm_change = -np.einsum('nij,njk->nik', skew(arm), turned)
            arm_change[:, :, 18 + 3 * leg : 21 + 3 * leg] += rotation
            leg_change = moved + arm_change
            leg_change[:, :, 3 * leg : 3 * leg + 3] -= np.eye(3)
            across = np.eye(3) - unit[:, :, None] * unit[:, None, :]
            unit_change = across @ leg_change / length[:, leg, None, None]
            speed = velocity + np.cross(omega, arm)
            change[:, leg] = np.einsum('ni,nik->nk', speed, unit_change)
            change[:, leg] += np.einsum('ni,nij,njk->nk', unit, skew(omega), arm_change)
        return -np.asarray(np.linalg.solve(jacobian, change))


def _displaced(frame: Array, step: Array) -> Array:
    """Turn and shift a frame in the coordinates that it leads to, its origin staying for turns."""
    result = np.array(frame)
    result[:3, :3] = Rotation.from_rotvec(step[3:]).as_matrix() @ frame[:3, :3]
    result[:3, 3] += step[:3]
    return result


def free_directions(machine: Machine, *, tracked: bool, felt: bool) -> Array:
    """Return what may change, as columns, shape (67, k).

    Args:
        tracked, felt: Whether there are poses of a tracker, and samples of an IMU.
    """
    blocks = [_without_motion(machine.base), _without_motion(machine.platform), np.eye(6)]
    blocks += [np.eye(12) if tracked else np.empty((12, 0))]
    blocks += [np.eye(13) if felt else np.empty((13, 0))]
    return np.asarray(block_diag(*blocks))


def _without_motion(joints: Array) -> Array:
    """Return the deviations of joints that contain no motion of a rigid body, (18, 12)."""
    about = joints - joints.mean(axis=0)
    shifts, turns = np.tile(np.eye(3), (1, 6)), np.hstack(list(skew(about)))
    return np.asarray(null_space(np.vstack([shifts, turns])))
