# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The EtherCAT state machine of a slave, as strict as a real one (ETG.1000.6, ETG.1020)."""

from __future__ import annotations

from typing import Protocol

from stewart_simulation.ethercat import registers
from stewart_simulation.ethercat.registers import AlCode, AlState, Memory


class Device(Protocol):
    """What the state machine asks the rest of the slave."""

    def check_mailbox(self) -> AlCode:
        """Check what PREOP needs."""

    def check_process_data(self) -> AlCode:
        """Check what SAFEOP needs."""

    def check_operation(self) -> AlCode:
        """Check what OP needs; while it is not there, the transition is pending."""

    def entered(self, old: AlState, new: AlState) -> None:
        """Follow into the new state."""


class ApplicationLayer:
    """AL control, AL status and AL status code of one slave.

    Args:
        memory: Where the registers are.
        device: Whose state it is.
        patience: How long a transition to OP may be pending [ns].

    Attributes:
        state: Current state.
        error: Whether an error waits for its acknowledgement.
        code: Why.
    """

    def __init__(self, memory: Memory, device: Device, patience: int) -> None:
        self._memory, self._device, self._patience = memory, device, patience
        self.state, self.error, self.code = AlState.INIT, False, int(AlCode.NO_ERROR)
        self._deadline: int | None = None
        self._report()

    def request(self, word: int, now: int) -> None:
        """Take a write to AL control.

        While an error is not acknowledged, every request but the one for INIT is ignored.

        Args:
            word: Requested state, and bit 4 that acknowledges an error.
            now: Time [ns].
        """
        asked = word & registers.AL_STATE_BITS
        if self.error and not word & registers.AL_ERROR and asked != AlState.INIT:
            return
        self.error, self.code, self._deadline = False, AlCode.NO_ERROR, None
        if asked not in AlState.__members__.values():
            self._refuse(AlCode.UNKNOWN_STATE)
        elif asked == AlState.BOOT:
            self._refuse(AlCode.BOOTSTRAP_NOT_SUPPORTED)
        elif asked <= self.state:
            self._enter(AlState(asked))
        elif (self.state, asked) == (AlState.INIT, AlState.PREOP):
            self._enter_unless(self._device.check_mailbox(), AlState.PREOP)
        elif (self.state, asked) == (AlState.PREOP, AlState.SAFEOP):
            self._enter_unless(self._device.check_process_data(), AlState.SAFEOP)
        elif (self.state, asked) == (AlState.SAFEOP, AlState.OP):
            self._deadline = now + self._patience
        else:
            self._refuse(AlCode.INVALID_STATE_CHANGE)
        self._report()

    def _enter_unless(self, code: AlCode, asked: AlState) -> None:
        if code is AlCode.NO_ERROR:
            self._enter(asked)
        else:
            self._refuse(code)

    def _enter(self, state: AlState) -> None:
        old, self.state = self.state, state
        if old is not state:
            self._device.entered(old, state)

    def _refuse(self, code: AlCode) -> None:
        self.error, self.code = True, code

    def fall_back(self, state: AlState, code: int) -> None:
        """Leave a state because of an error of its own."""
        self._deadline = None
        self.error, self.code = True, code
        self._enter(min(state, self.state))
        self._report()

    def tick(self, now: int) -> None:
        """Complete a pending transition to OP, or give it up."""
        if self._deadline is None:
            return
        code = self._device.check_operation()
        if code is AlCode.NO_ERROR:
            self._deadline = None
            self._enter(AlState.OP)
        elif now >= self._deadline:
            self._deadline = None
            self._refuse(code)
        self._report()

    def _report(self) -> None:
        flag = registers.AL_ERROR if self.error else 0
        self._memory.set(registers.AL_STATUS, 2, self.state | flag)
        self._memory.set(registers.AL_STATUS_CODE, 2, self.code)
