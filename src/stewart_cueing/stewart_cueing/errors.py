# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of motion cueing and heave compensation."""

from __future__ import annotations

from stewart_kinematics.errors import StewartError


class VehicleInputError(StewartError, ValueError):
    """What came from a vehicle cannot be used."""


class OtherVersion(VehicleInputError):
    """A simulator is not the version that it was said to be."""


class BaseInputError(StewartError, ValueError):
    """What came from an IMU on the base cannot be used."""
