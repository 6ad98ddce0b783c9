# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a bus: its drives ramp down, the voltage goes, and legs without brakes sink."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from stewart_driver.ethercat.cia402.states import State
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.legs import STANDSTILL

if TYPE_CHECKING:
    from stewart_driver.ethercat.active_bus import ActiveBus

OFF_TIMEOUT = 0.2
# Drives that are being switched off have their actual positions as targets: a load draws them down
# meanwhile, slower than this [m/s].
CREEP = 0.01
# A ramp of a drive takes longer than speed over deceleration by this factor at most.
RAMP_MARGIN = 1.5
# Its own deceleration is not known here: while it gets slower by this factor, it is waited for.
SLOWER, LONGEST_RAMP = 0.8, 10.0
# So long is waited for legs that sink, so that the place is saved where they will be found: 0.6 m
# at 50 mm/s take 12 s.
LONGEST_SINKING = 15.0


def longest_ramp(kind: DriveType, speed: float) -> float:
    """Return the time in which drives come from a speed [m/s] to rest, and are off [s]."""
    return RAMP_MARGIN * speed / kind.limits.acceleration + kind.brake_apply + OFF_TIMEOUT


def longest_end(kind: DriveType) -> float:
    """Return how long `end` may take [s]."""
    in_order = longest_ramp(kind, CREEP) if kind.brake_apply else 0.0
    return in_order + 2.0 * (longest_ramp(kind, kind.limits.rate) + LONGEST_RAMP) + LONGEST_SINKING


def end(bus: ActiveBus) -> None:
    """Stop what is live, take the voltage, and wait until the legs lie still."""
    if _held_at_rest(bus):
        # Only from here brakes are applied under power.
        bus.group.disable()
        _until_off(bus)
    if bus.live:
        bus.group.quick_stop()
        _until_off(bus)
    bus.group.disable()
    _until_off(bus)
    _until_still(bus)


def _held_at_rest(bus: ActiveBus) -> bool:
    """Tell whether legs stand that have brakes, with all drives in operation that are live."""
    live = [state for state, on in zip(bus.group.states, bus.live_legs, strict=True) if on]
    operated = bool(live) and all(state is State.OPERATION_ENABLED for state in live)
    slow = _speed(bus) <= (CREEP if bus.group.leaving else STANDSTILL)
    return bus.kind.brake_apply > 0.0 and operated and slow


def _speed(bus: ActiveBus) -> float:
    """Return the speed of the fastest leg whose motor is under voltage [m/s]."""
    return float(np.abs(bus.legs.rates[bus.live_legs]).max(initial=STANDSTILL))


def _until_off(bus: ActiveBus) -> None:
    """Send frames until no motor is under power; wait as long as legs still slow down."""
    slower = _speed(bus)
    ramp = longest_ramp(bus.kind, slower)
    limit = bus.now() + ramp
    for now, came_back in bus.frames(limit + LONGEST_RAMP):
        if came_back:
            _take_voltage(bus)
            if bus.group.off:
                break
        if (speed := _speed(bus)) < SLOWER * slower:
            slower, limit = speed, now + ramp
        if now > limit:
            break


def _take_voltage(bus: ActiveBus) -> None:
    """Take it from legs that have ramped down; from all at once where no brake has them."""
    if not bus.kind.brake_apply and _speed(bus) > STANDSTILL:
        return
    for axis in np.flatnonzero(np.abs(bus.legs.rates) < STANDSTILL):
        if bus.group.states[axis] is State.QUICK_STOP_ACTIVE:
            bus.group.rest(int(axis))


def _until_still(bus: ActiveBus) -> None:
    """Send frames until legs without brakes have sunk to where they will be found."""
    moved = bus.now()
    for now, came_back in bus.frames(moved + LONGEST_SINKING):
        if came_back and np.abs(bus.legs.rates).max() >= STANDSTILL:
            moved = now
        # Also where no frame comes back and the positions stay unknown.
        if now - moved > OFF_TIMEOUT:
            break
