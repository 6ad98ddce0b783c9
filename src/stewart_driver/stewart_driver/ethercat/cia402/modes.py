# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Modes of operation 6060h and the bits of 6502h that say which a drive has."""

from __future__ import annotations

from enum import IntEnum


class Mode(IntEnum):
    """Modes of operation, objects 6060h and 6061h."""

    NONE = 0
    PROFILE_POSITION = 1
    VELOCITY = 2
    PROFILE_VELOCITY = 3
    PROFILE_TORQUE = 4
    HOMING = 6
    INTERPOLATED_POSITION = 7
    CYCLIC_SYNCHRONOUS_POSITION = 8
    CYCLIC_SYNCHRONOUS_VELOCITY = 9
    CYCLIC_SYNCHRONOUS_TORQUE = 10


def supported_modes(word: int) -> tuple[Mode, ...]:
    """Read object 6502h: bit n − 1 stands for mode n."""
    return tuple(mode for mode in Mode if mode and word >> (mode - 1) & 1)
