# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What a simulated platform and its servo drives are made of, for every wire in front of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import radians
from typing import TYPE_CHECKING

from stewart_driver.legs import LegLimits
from stewart_tables.settings import param, positive, require

if TYPE_CHECKING:
    from stewart_kinematics.model.platform import Platform
    from stewart_kinematics.motion import Pose
    from stewart_simulation.rigid_drives import Plant, RigidDrives
    from stewart_simulation.ship import MovingBase, Ship


@dataclass(frozen=True)
class PlantOptions:
    """Platform, differences from its description, and servo drives.

    Raises:
        ConfigurationError: If a value is out of range.
    """

    platform: str = param('vigo', 'platform type: a name, or a path to its YAML file')
    start: str = param(
        'neutral',
        'where the legs stand at first: neutral or retracted',
        choices=('neutral', 'retracted'),
    )
    supported: bool = param(
        default=True,
        description='there on supports, which are taken away when all drives have power',
    )
    force_limit: float = positive(5000.0, 'largest force of a drive [N]')
    rated_force: float = positive(1000.0, 'rated force of a drive; feedback in 1/1000 of it [N]')
    position_gain: float = positive(60.0, 'rigid: gain of the position loop [1/s]')
    rate_loop_bandwidth: float = positive(60.0, 'rigid: corner frequency of the rate loop [Hz]')
    integral_time: float = positive(0.02, 'rigid: integral time of the rate loop [s]')
    current_lag: float = positive(0.001, 'rigid: time constant of the current loop [s]')
    payload_mass: float = param(
        0.0, 'rigid: a sphere that the description does not know [kg]', min=0.0
    )
    payload_position: tuple[float, float, float] = param(
        (0.0, 0.0, 0.0), 'rigid: its centre in platform_link [m]'
    )
    joint_error: float = param(0.0, 'rigid: standard deviation of joint coordinates [m]', min=0.0)
    viscous_friction: float = param(20.0, 'rigid: friction of an actuator [N s/m]', min=0.0)
    coulomb_friction: float = param(2.0, 'rigid: friction of an actuator [N]', min=0.0)
    # Breakaway torque of a servo motor and its ball screw: some 4 % of the rated torque. Their
    # losses without a current: 0.5 mN m s for a motor of 400 W. Both assumed; a rotor's inertia,
    # which makes a fall slower, is left out.
    unpowered_friction: float = param(
        0.04,
        'rigid: dry friction of a leg without power, as a share of the rated force [-]',
        min=0.0,
    )
    unpowered_damping: float = param(
        0.2, 'rigid: damping of a leg without power, in rated forces per rate [s/m]', min=0.0
    )
    brake: bool = param(default=False, description='rigid: motors with brakes')
    brake_release_s: float = param(0.05, 'rigid: time until a brake lets go [s]', min=0.0)
    brake_apply_s: float = param(0.1, 'rigid: time until a brake holds [s]', min=0.0)
    plant_seed: int = param(0, 'rigid: seed of the joint errors', min=0)
    base: str = param(
        'still', 'rigid: what the base stands on: still, or ship', choices=('still', 'ship')
    )
    ship_scale: float = positive(10.0, 'ship: its length over that of the model [-]')
    ship_heading_deg: float = param(
        150.0, 'ship: from the travel of the waves to the bow; 180: head sea [deg]', min=0.0
    )
    sea_height: float = positive(2.0, 'ship: significant height of the sea at full scale [m]')
    sea_period: float = positive(8.0, 'ship: peak period of the sea at full scale [s]')
    sea_seed: int = param(0, 'ship: seed of the sea', min=0)

    def __post_init__(self) -> None:
        require(self)

    def plant(self, platform: Platform, pose: Pose) -> Plant:
        """Return the plant at rest at a pose; raises `MissingMasses` for a bare description."""
        from stewart_simulation.differences import build_plant

        return build_plant(platform, pose, self)

    def ship(self) -> Ship | None:
        """Return what moves the base; None if it stands still."""
        if self.base == 'still':
            return None
        from stewart_kinematics.trajectories.spectrum import Jonswap
        from stewart_simulation.ship import at_scale, Ship

        sea = Jonswap(self.sea_height, self.sea_period)
        heading = radians(self.ship_heading_deg)
        return Ship(sea, self.sea_seed, heading, at_scale(self.ship_scale))

    def drives(
        self,
        plant: Plant,
        limits: LegLimits,
        *,
        hold_after: float,
        base: MovingBase | None = None,
    ) -> RigidDrives:
        """Return servo drives on a plant, without power, with their kernels compiled.

        A drive that hears nothing for `hold_after` [s] stays where it is. `base` is what moves the
        base instead of what the options say.
        """
        # Only here: who simulates without a plant need not load its kernels.
        from stewart_simulation.rigid_drives import RigidDrives

        drives = RigidDrives(plant, self, limits, hold_after=hold_after, ship=base or self.ship())
        drives.warm_up()
        return drives
