# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A CiA 402 drive in cyclic synchronous position mode, over the objects of its dictionary."""

from __future__ import annotations

from collections.abc import Callable

from stewart_driver.ethercat.cia402 import Mode, next_transition, objects, State, Status
from stewart_simulation.ethercat.drive_model import AxisCommand
from stewart_simulation.ethercat.object_dictionary import Entry, ObjectDictionary

COMMUNICATION_LOST = 0x8130
FOLLOWING_ERROR = 0x8611
GENERIC, COMMUNICATION, PROFILE = 0x01, 0x10, 0x20
# Quick stop options above 4 stay in QUICK_STOP_ACTIVE when the motor has come to rest.
LAST_OPTION_THAT_SWITCHES_OFF = 4
POWERED = frozenset(
    {State.OPERATION_ENABLED, State.QUICK_STOP_ACTIVE, State.FAULT_REACTION_ACTIVE}
)
STOPPING = frozenset({State.QUICK_STOP_ACTIVE, State.FAULT_REACTION_ACTIVE})


class Drive:
    """
    State machine, target, supervision and faults of one drive.

    Parameters
    ----------
    dictionary : ObjectDictionary
        Through its objects everything goes in and out.
    emergency : callable
        Called with error code and error register on every fault and on its reset.

    Attributes
    ----------
    state : State
        Of the state machine.
    command : AxisCommand
        What the motor shall do.

    """

    def __init__(
        self, dictionary: ObjectDictionary, emergency: Callable[[int, int], None]
    ) -> None:
        """Switch on."""
        self._emergency = emergency
        self.state = State.NOT_READY_TO_SWITCH_ON
        self.command = AxisCommand()
        self._previous_word, self._demand, self._rate = 0, 0.0, 0.0
        self._exceeded = 0.0
        self._limited = self._fresh = False

        def at(index: int, subindex: int = 0) -> Entry:
            return dictionary.objects[index][subindex]

        self._controlword, self._statusword = at(objects.CONTROLWORD), at(objects.STATUSWORD)
        self._mode, self._mode_display = at(objects.MODE), at(objects.MODE_DISPLAY)
        self._target, self._offset = at(objects.TARGET_POSITION), at(objects.POSITION_OFFSET)
        self._torque_offset = at(objects.TORQUE_OFFSET)
        self._position, self._velocity = at(objects.POSITION_ACTUAL), at(objects.VELOCITY_ACTUAL)
        self._torque, self._error = at(objects.TORQUE_ACTUAL), at(objects.FOLLOWING_ERROR_ACTUAL)
        self._window = at(objects.FOLLOWING_ERROR_WINDOW)
        self._timeout = at(objects.FOLLOWING_ERROR_TIMEOUT)
        self._lower = at(objects.SOFTWARE_POSITION_LIMIT, 1)
        self._upper = at(objects.SOFTWARE_POSITION_LIMIT, 2)
        self._deceleration = at(objects.QUICK_STOP_DECELERATION)
        self._quick_stop_option = at(objects.QUICK_STOP_OPTION)
        self._error_code, self._register = at(objects.ERROR_CODE), at(objects.ERROR_REGISTER)
        self._interpolation = at(objects.INTERPOLATION_TIME, 1), at(objects.INTERPOLATION_TIME, 2)

    @property
    def error_code(self) -> int:
        """Fault that is reported, 0 if none."""
        return self._error_code.number

    def fault(self, code: int) -> None:
        """Stop because of a fault (transition 13); a drive in a fault keeps the first one."""
        if self.state in {State.FAULT, State.FAULT_REACTION_ACTIVE}:
            return
        kind = {0x81: COMMUNICATION, 0x86: PROFILE}.get(code >> 8, 0)
        self._error_code.value, self._register.value = code, GENERIC | kind
        self._enter(State.FAULT_REACTION_ACTIVE)
        self._emergency(code, GENERIC | kind)

    def communication_lost(self) -> None:
        """Take note that the process data have stopped: a fault if the motor is under power."""
        if self.state in POWERED:
            self.fault(COMMUNICATION_LOST)
        self._controlword.value = 0

    def outputs_arrived(self) -> None:
        """Take note that the master has sent a new target."""
        self._fresh = True

    def measure(self, position: float, velocity: float, torque: float) -> None:
        """Take what encoder [count], [count/s] and current sensor [0.1 %] say."""
        self._position.value = (round(position) + 2**31) % 2**32 - 2**31
        self._velocity.value = min(max(round(velocity), -(2**31)), 2**31 - 1)
        self._torque.value = min(max(round(torque), -(2**15)), 2**15 - 1)

    def update(self, elapsed: float) -> None:
        """
        Make one step of the drive's own cycle: at most one transition, then the target.

        Parameters
        ----------
        elapsed : float
            Time since the step before [s].

        """
        self._step()
        if self._mode.value in {Mode.NONE, Mode.CYCLIC_SYNCHRONOUS_POSITION}:
            self._mode_display.value = self._mode.value
        if self.state in STOPPING:
            self._brake(elapsed)
        elif self.state is State.OPERATION_ENABLED and self._synchronous:
            self._follow()
        else:
            self._demand, self._rate, self._limited = float(self._position.number), 0.0, False
        self._supervise(elapsed)
        torque, interpolation = 0.0, 0.0
        if self.state is State.OPERATION_ENABLED:
            torque, interpolation = self._torque_offset.number, self._interpolation_time
        self.command = AxisCommand(
            self.state in POWERED, self._demand, self._rate, torque, interpolation
        )
        self._report()

    @property
    def _synchronous(self) -> bool:
        return self._mode_display.value == Mode.CYCLIC_SYNCHRONOUS_POSITION

    @property
    def _interpolation_time(self) -> float:
        units, exponent = self._interpolation
        return float(units.number * 10.0**exponent.number)

    def _step(self) -> None:
        word = self._controlword.number
        arrow = next_transition(self.state, word, self._previous_word)
        self._previous_word = word
        if self.state is State.NOT_READY_TO_SWITCH_ON:
            self.state = State.SWITCH_ON_DISABLED
        elif arrow is not None:
            if arrow.source is State.FAULT:
                self._error_code.value = self._register.value = 0
                self._emergency(0, 0)
            self._enter(arrow.target)

    def _enter(self, state: State) -> None:
        """Change the state; a stop begins with the motion as it is, not with the target's."""
        if state in STOPPING:
            self._demand, self._rate = float(self._position.number), float(self._velocity.number)
        self.state = state

    def _follow(self) -> None:
        wanted = self._target.number + self._offset.number
        lower, upper = self._lower.number, self._upper.number
        inside = min(max(wanted, lower), upper) if lower < upper else wanted
        self._limited = inside != wanted
        if self._fresh:
            self._rate = (inside - self._demand) / self._interpolation_time
            self._fresh = False
        self._demand = float(inside)

    def _brake(self, elapsed: float) -> None:
        """Ramp down; at rest a fault becomes final and a quick stop may switch off."""
        change = self._deceleration.number * elapsed
        slower = max(abs(self._rate) - change, 0.0)
        mean = 0.5 * (abs(self._rate) + slower)
        sign = 1.0 if self._rate > 0.0 else -1.0
        self._demand += sign * mean * elapsed
        self._rate = sign * slower
        if slower == 0.0:
            if self.state is State.FAULT_REACTION_ACTIVE:
                self.state = State.FAULT
            elif self._quick_stop_option.number <= LAST_OPTION_THAT_SWITCHES_OFF:
                self.state = State.SWITCH_ON_DISABLED

    def _supervise(self, elapsed: float) -> None:
        error = round(self._demand) - self._position.number
        self._error.value = min(max(error, -(2**31)), 2**31 - 1)
        if self.state is not State.OPERATION_ENABLED or abs(error) <= self._window.number:
            self._exceeded = 0.0
            return
        self._exceeded += elapsed
        if self._exceeded >= 1e-3 * self._timeout.number:
            self.fault(FOLLOWING_ERROR)

    def _report(self) -> None:
        word = self.state | Status.VOLTAGE_ENABLED | Status.REMOTE
        if self.state is State.OPERATION_ENABLED and self._synchronous:
            word |= Status.TARGET_FOLLOWED
            if self._exceeded:
                word |= Status.FOLLOWING_ERROR
        if self._limited:
            word |= Status.INTERNAL_LIMIT
        self._statusword.value = int(word)
