# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
r"""Ocean waves after Airy, and the motion of something small that floats on them.

Elevation at :math:`\tilde x` along the direction of travel (Vigo, Eqs. 29, 30):

.. math:: \eta = \sum_i A_i \cos\psi_i, \qquad \psi_i = k_i \tilde x - \omega_i t + \phi_i

Orbit of a particle at the surface, with the attack angle θ from x to y (Vigo, Eqs. 31, 32):

.. math::

   x = -\cos\theta \sum_i A_i e^{k_i\eta_i} \sin\psi_i, \quad
   y = -\sin\theta \sum_i A_i e^{k_i\eta_i} \sin\psi_i, \quad
   z = \sum_i A_i e^{k_i\eta_i} \cos\psi_i

Two things differ from what can be read in the paper. In the exponent stands the component's own
elevation :math:`\eta_i = A_i\cos\psi_i`; the paper does not say which is meant. The horizontal
part is negative: under a crest that travels towards :math:`+\tilde x` water moves forward, which
is what the velocity potential :math:`(A\omega/k)\, e^{kz}\sin\psi` gives.

Attitude (Vigo, Eq. 33 corrected, which tilts about z): the normal of the platform is the normal
:math:`(-s_x, -s_y, 1)` of the surface with the slopes
:math:`s_x = \eta'\cos\theta, s_y = \eta'\sin\theta`. Without yaw means that the yaw of
:math:`R_z(yaw) R_y(pitch) R_x(roll)` is 0, which leaves the x axis in the vertical plane of the
base's x axis:

.. math::

   R = R_y(-\arctan s_x)\, R_x(\arctan(s_y / a)) =
   \begin{pmatrix} 1/a & -s_x s_y/(a n) & -s_x/n \\ 0 & a/n & -s_y/n \\
   s_x/a & s_y/(a n) & 1/n \end{pmatrix},
   \quad a^2 = 1 + s_x^2, \quad n^2 = 1 + s_x^2 + s_y^2
"""

from __future__ import annotations

from dataclasses import dataclass, field
import math

import numpy as np
from numpy.typing import ArrayLike
from stewart_kinematics.errors import TrajectoryError
from stewart_kinematics.kernels import waves as wave_kernels
from stewart_kinematics.motion import Array, Motion, Pose, read_only
from stewart_kinematics.trajectories.trajectory import (
    check_duration,
    clamp,
    finite,
    motion_from_rows,
    motion_rows,
    not_negative,
    positive,
)

GRAVITY = 9.80665  # standard gravity [m/s²]
STEEPEST = 1.0 / 7.0  # height over length at which a deep-water wave breaks (Michell) [-]


@dataclass(frozen=True)
class AiryWave:
    """One linear wave.

    Attributes:
        amplitude: Half the height from trough to crest [m].
        period: Time between two crests at one place [s].
        length: Distance between two crests at one time [m].
        phase: Phase of the cosine [rad].

    Raises:
        TrajectoryError: If a value is out of range, or the wave is steeper than breaking waves
            are.
    """

    amplitude: float
    period: float
    length: float
    phase: float = 0.0

    def __post_init__(self) -> None:
        not_negative('amplitude', self.amplitude, 'm')
        positive('period', self.period, 's')
        positive('length', self.length, 'm')
        finite('phase', self.phase, 'rad')
        steepness = 2.0 * self.amplitude / self.length
        if steepness > STEEPEST:
            raise TrajectoryError(
                f'a wave of {2.0 * self.amplitude:.4g} m height and {self.length:.4g} m length '
                f'breaks: steepness {steepness:.3g}, allowed are 0 to {STEEPEST:.3g}'
            )

    @classmethod
    def deep_water(cls, amplitude: float, period: float, phase: float = 0.0) -> AiryWave:
        r"""Make a wave whose length follows from its period, :math:`L = g T^2 / 2\pi`."""
        positive('period', period, 's')
        return cls(amplitude, period, GRAVITY * period**2 / (2.0 * np.pi), phase)

    @property
    def wave_number(self) -> float:
        """Wave number k [rad/m]."""
        return 2.0 * np.pi / self.length

    @property
    def angular_frequency(self) -> float:
        """Angular frequency ω [rad/s]."""
        return 2.0 * np.pi / self.period


@dataclass(frozen=True, eq=False)
class OrbitalWave:
    """Motion of something small that floats on a sum of waves, about a centre.

    Attributes:
        components: One for a regular wave, many for a random one.
        centre: Pose on still water; the surface tilts it about the base axes.
        attack_angle: Direction of travel from x to y [rad].
        position: Place along the direction of travel, the paper's x̃ [m].
        duration: Duration [s]; infinite by default.

    Raises:
        TrajectoryError: If there is no component, none has an amplitude, or a value cannot be
            used.

    Note:
        A particle that is carried e^{kη} times its amplitude stands A²k/2 above the centre on
        average. The slope is taken at `position`, not at the place to which the particle has
        moved.
    """

    components: tuple[AiryWave, ...]
    centre: Pose
    attack_angle: float = 0.0
    position: float = 0.0
    duration: float = np.inf
    _table: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, 'components', tuple(self.components))
        if not self.components:
            raise TrajectoryError('a wave needs at least 1 component, got 0')
        if not any(wave.amplitude for wave in self.components):
            raise TrajectoryError(
                'a wave needs an amplitude above 0 m, got 0 m in every component'
            )
        finite('attack_angle', self.attack_angle, 'rad')
        finite('position', self.position, 'm')
        object.__setattr__(self, 'duration', check_duration(self.duration))
        table = [
            (w.amplitude, k := w.wave_number, w.angular_frequency, k * self.position + w.phase)
            for w in self.components
        ]
        object.__setattr__(self, '_table', read_only(table))

    @property
    def shortest_period(self) -> float:
        """Period of the fastest component [s]."""
        return min(component.period for component in self.components)

    def elevation(self, time: ArrayLike) -> Array:
        """Return the height (...) of the surface at `position` [m] at times (...) [s]."""
        amplitude, _, frequency, phase = self._table.T
        moment = clamp(time, self.duration)[..., None]
        return np.asarray((amplitude * np.cos(phase - frequency * moment)).sum(axis=-1))

    def sample(self, time: ArrayLike) -> Motion:
        """Return the motion at `time` [s]; see `Trajectory`."""
        moment = clamp(time, self.duration)
        rows, centre = motion_rows(moment.size), self.centre
        wave_kernels.wave_motion(
            self._table,
            moment.reshape(-1),
            math.cos(self.attack_angle),
            math.sin(self.attack_angle),
            centre.position,
            centre.quaternion_xyzw,
            *rows,
        )
        return motion_from_rows(rows, moment.shape)
