# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Who drives the back end ``ethercat`` on a segment in this process, in simulated time."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stewart_driver.control.configuration import CycleConfiguration, SupervisionSettings
from stewart_driver.control.cycle_link import Sample, StateChange
from stewart_driver.control.inline_cycle import InlineCycle
from stewart_driver.control.state_machine import Request, State
from stewart_driver.ethercat.backend import EthercatBackend
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.legs import Array, LegLimits
from stewart_driver.path.motion import LegMotion
from stewart_simulation.rig.inline_rig import InlineRig
from stewart_simulation.rig.settings import RigSettings

BEGIN = 1_000_000_000
STEP = 2_000_000
CYCLE = 0.004
AMPLITUDES = np.array([0.02, 0.015, -0.02, 0.01, 0.018, -0.015])
OMEGA = np.pi
# Silence may be long: the setpoints of these tests never are.
SUPERVISION = SupervisionSettings(command_timeout=0.8)
NEITHER_OFF_NOR_FAULTY = {'OPERATION_ENABLED', 'QUICK_STOP_ACTIVE', 'FAULT_REACTION_ACTIVE'}


class User:
    """A node and its rig: it starts the loop, asks, sends a wave at 250 Hz, and listens."""

    def __init__(self, rig: dict[str, Any] | None = None, **options: Any) -> None:
        self.now = BEGIN
        settings = RigSettings(platform='vigo', card=False, imu=False, **(rig or {}))
        self.rig = InlineRig(settings, lambda: self.now)
        self._options = {'interface': self.rig.interface, 'rig_file': str(self.rig.rig_file)}
        self._options |= {'cycle_time': CYCLE, **options}
        self.changes: list[StateChange] = []
        self.samples: list[Sample] = []
        self._waving_since: float | None = None
        self._start, self._amplitudes = np.zeros(6), AMPLITUDES

    def backend(self, **options: Any) -> EthercatBackend:
        return EthercatBackend(EthercatOptions(**{**self._options, **options}))

    def begin(self, limits: LegLimits | None = None) -> User:
        backend = self.backend()
        configuration = CycleConfiguration(
            limits or backend.limits, supervision=SUPERVISION, publish_every=1
        )
        self.loop = InlineCycle(backend, configuration, self.now)
        self._hear()
        return self

    def let_pass(self, duration: float) -> None:
        end = self.now + round(1e9 * duration)
        while self.now < end:
            self.now += STEP
            if self._waving_since is not None and self.now % (2 * STEP) == 0:
                self._send(self._waving_since)
            self.loop.advance(self.now)
            self.rig.advance()
            self._hear()

    def _hear(self) -> None:
        self.samples += self.loop.samples()
        self.changes += self.loop.state_changes()

    def until(self, reached: Callable[[], Any], patience: float = 5.0) -> None:
        end = self.now + round(1e9 * patience)
        while not reached():
            assert self.now < end, self.changes[-1:]
            self.let_pass(1e-9 * STEP)

    @property
    def state(self) -> State:
        return self.changes[-1].state

    @property
    def reason(self) -> str:
        return self.changes[-1].reason

    @property
    def strokes(self) -> Array:
        """Where the legs really are."""
        return self.rig.mechanics.drives.strokes.copy()

    def seen(self, what: str) -> Any:
        """Return what one sees when standing beside the machine."""
        return self.rig.faults.observe()['ethercat'][what]

    def enable(self) -> None:
        assert self.loop.request(Request.ENABLE)[0]
        self.until(lambda: self.state is State.ENABLED)

    def wave(self, amplitudes: Array = AMPLITUDES) -> None:
        self._start, self._amplitudes = self.samples[-1].strokes, amplitudes
        self._waving_since = self.now / 1e9

    def silence(self) -> None:
        self._waving_since = None

    def move(self) -> None:
        """Wave until the legs really move."""
        self.enable()
        before = self.strokes
        self.wave()
        self.until(lambda: np.ptp(self.strokes - before) > 0.01)

    def record_power(self) -> list[NDArray[np.bool_]]:
        """Return a list to which every step of the plant adds which motors have power."""
        drives, seen = self.rig.mechanics.drives, []
        advance = drives.advance

        def look_and_advance(duration: float) -> None:
            seen.append(drives.powered.copy())
            advance(duration)

        drives.advance = look_and_advance
        return seen

    def _send(self, begin: float) -> None:
        stamp = self.now / 1e9
        phase = OMEGA * (stamp - begin)
        self.loop.offer(
            LegMotion(
                stamp,
                self._start + self._amplitudes * (1.0 - np.cos(phase)),
                self._amplitudes * OMEGA * np.sin(phase),
                np.zeros(6),
            )
        )

    def close(self) -> None:
        self.rig.end()


def drive_states(user: User, legs: set[int]) -> list[str]:
    states = user.seen('drive_states')
    return [states[leg - 1] for leg in sorted(legs)]


def powered(user: User, lost: set[int]) -> bool:
    """Require that every drive that is not lost holds its leg under power."""
    healthy = {1, 2, 3, 4, 5, 6} - lost
    assert set(drive_states(user, healthy)) <= {'OPERATION_ENABLED'}, user.changes[-1]
    return True


def states_since(user: User, number: int) -> list[State]:
    """Return the states since a change, each once where it is told again with news."""
    return [state for state, _ in groupby(item.state for item in user.changes[number:])]


def let_down(user: User, lost: set[int]) -> None:
    """Find that a drive without its settings cannot come back while others hold; disable."""
    accepted, said = user.loop.request(Request.RESET_FAULT)
    assert not accepted
    assert said.startswith('a drive is lost while others hold their legs: mend that and reset')
    end = user.now + 50 * STEP
    user.until(lambda: powered(user, lost) and user.now >= end)
    assert user.loop.request(Request.DISABLE)[0]
    user.until(lambda: not NEITHER_OFF_NOR_FAULTY & set(user.seen('drive_states')))
    # The driver hears of it a cycle later.
    user.until(lambda: user.changes[-1].live == 0, patience=0.01)
    assert user.state is State.FAULT


def reset_while_others_hold(user: User, lost: set[int]) -> None:
    before = len(user.changes)
    seen = user.record_power()
    accepted, said = user.loop.request(Request.RESET_FAULT)
    assert accepted, said
    assert said == 'fault reset, all drives come on while those that are on hold'
    # All this takes place within the request.
    healthy = [leg - 1 for leg in range(1, 7) if leg not in lost]
    assert len(seen) * CYCLE > 0.1
    assert np.array(seen)[:, healthy].all()
    user.until(lambda: powered(user, lost) and user.state is State.ENABLED)
    assert states_since(user, before) == [State.ENABLING, State.ENABLED]


def reset_with_the_drives_off(user: User) -> None:
    accepted, said = user.loop.request(Request.RESET_FAULT)
    assert accepted, said
    assert said.startswith('fault reset, the drives are off')
    user.let_pass(0.5)
    assert user.state is State.DISABLED
    assert 'OPERATION_ENABLED' not in user.seen('drive_states')
    user.enable()
