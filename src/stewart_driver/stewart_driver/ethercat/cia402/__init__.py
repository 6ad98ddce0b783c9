# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The drive profile CiA 402 as tables: states, transitions, objects, modes and error codes."""

from stewart_driver.ethercat.cia402.error_codes import error_text
from stewart_driver.ethercat.cia402.modes import Mode, supported_modes
from stewart_driver.ethercat.cia402.states import decode_state, State, Status, StatuswordError
from stewart_driver.ethercat.cia402.transitions import (
    command_for,
    Control,
    GoalError,
    next_transition,
    Transition,
    TRANSITIONS,
)

__all__ = [
    'State',
    'Status',
    'StatuswordError',
    'decode_state',
    'Control',
    'Transition',
    'TRANSITIONS',
    'GoalError',
    'command_for',
    'next_transition',
    'Mode',
    'supported_modes',
    'error_text',
]
