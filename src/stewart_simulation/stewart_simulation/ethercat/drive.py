# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""A CiA 402 drive in cyclic synchronous position mode, over the objects of its dictionary."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import inf

from stewart_simulation.ethercat import homing, profile
from stewart_simulation.ethercat.drive_model import AxisCommand
from stewart_simulation.ethercat.homing import Homing, HomingSwitches
from stewart_simulation.ethercat.object_dictionary import Entry, ObjectDictionary
from stewart_simulation.ethercat.profile import next_state, State, Status

# What 6060h may be, beside no mode at all; `Drive.update` acts on it.
MODES = (profile.CYCLIC_SYNCHRONOUS_POSITION,)
KNOWN_MODES = frozenset({profile.NO_MODE, *MODES})
COMMUNICATION_LOST, SYNCHRONISATION_LOST = 0x8130, 0x8700
FOLLOWING_ERROR, UNDERVOLTAGE, TORQUE_OFF = 0x8611, 0x3220, 0xFF30
GENERIC, COMMUNICATION, PROFILE = 0x01, 0x10, 0x20
KINDS = {0x81: COMMUNICATION, 0x87: COMMUNICATION, 0x86: PROFILE}
# Object 6065h with this value supervises nothing.
NO_WINDOW = 0xFFFFFFFF
# 605Ah: from here on a drive stays in QUICK_STOP_ACTIVE, holding, when it has come to rest.
FIRST_THAT_HOLDS = 5
# 605Ah to 605Eh: which ramp they take; the others stop as hard as the drive can.
BY_PROFILE_RAMP, BY_QUICK_STOP_RAMP = frozenset({1, 5}), frozenset({2, 6})
# 6007h: what a drive under power does when the bus is gone.
NO_ACTION, FAULT_SIGNAL, VOLTAGE_OFF, QUICK_STOP = 0, 1, 2, 3
POWERED = frozenset(
    {State.OPERATION_ENABLED, State.QUICK_STOP_ACTIVE, State.FAULT_REACTION_ACTIVE}
)
# Bit of 60FDh that says that the safety circuit has taken the torque; the maker's, an assumption.
TORQUE_OFF_INPUT = 1 << 24


class Drive:
    """State machine, target, supervision and faults of one drive.

    Args:
        dictionary: Through its objects everything goes in and out.
        emergency: Called with error code and error register on every fault and on its reset.
        controlword_delay: How many targets later than 607Ah this drive obeys 6040h; negative:
            earlier.
        sto_is_fault: Whether a torque that is taken under power is a fault; else the drive is only
            off.
        enable_delay: How long it takes from SWITCHED_ON to OPERATION_ENABLED [s].
        switches: What its motor finds on its way home; None: it has no mode 6.

    Attributes:
        state: Of the state machine.
        command: What the motor shall do.
        sto, mains, local: Whether the safety circuit has taken the torque, whether the main
            circuit is supplied, and whether it listens to its own panel and not to 6040h.
        cycle: Of SYNC0, for drives without 60C2h; 0 without clocks [s].
    """

    def __init__(
        self,
        dictionary: ObjectDictionary,
        emergency: Callable[[int, int], None],
        *,
        controlword_delay: int = 0,
        sto_is_fault: bool = False,
        enable_delay: float = 0.0,
        switches: HomingSwitches | None = None,
    ) -> None:
        self._emergency, self._sto_is_fault = emergency, sto_is_fault
        self._enable_delay, self._waited = enable_delay, 0.0
        self._homing = None if switches is None else Homing(dictionary, switches)
        self.state = State.NOT_READY_TO_SWITCH_ON
        self.command = AxisCommand()
        self.sto, self.mains, self.local, self.cycle = False, True, False, 0.0
        self._words: deque[int] = deque(maxlen=max(controlword_delay, 0) + 1)
        self._targets: deque[int] = deque(maxlen=max(-controlword_delay, 0) + 1)
        # None while nobody asks for anything.
        self._word: int | None = None
        self._before = self._goal = 0
        self._demand = self._rate = self._exceeded = 0.0
        self._limited = self._fresh = False
        # Where it goes when its ramp has ended; None while it does not ramp.
        self._after: State | None = None
        self._option = 0

        def at(index: int, subindex: int = 0, absent: int = 0) -> Entry:
            return dictionary.objects.get(index, {}).get(subindex) or Entry('i', absent)

        self._at = at
        self._controlword, self._statusword = at(profile.CONTROLWORD), at(profile.STATUSWORD)
        self._mode, self._mode_display = at(profile.MODE), at(profile.MODE_DISPLAY)
        self._target, self._offset = at(profile.TARGET_POSITION), at(profile.POSITION_OFFSET)
        self._torque_offset = at(profile.TORQUE_OFFSET)
        self._position, self._velocity = at(profile.POSITION_ACTUAL), at(profile.VELOCITY_ACTUAL)
        self._torque, self._error = at(profile.TORQUE_ACTUAL), at(profile.FOLLOWING_ERROR_ACTUAL)
        self._window = at(profile.FOLLOWING_ERROR_WINDOW, absent=NO_WINDOW)
        self._timeout = at(profile.FOLLOWING_ERROR_TIMEOUT)
        self._lower = at(profile.SOFTWARE_POSITION_LIMIT, 1)
        self._upper = at(profile.SOFTWARE_POSITION_LIMIT, 2)
        self._error_code, self._register = at(profile.ERROR_CODE), at(profile.ERROR_REGISTER)
        self._inputs = at(profile.DIGITAL_INPUTS)
        self._interpolation = at(profile.INTERPOLATION_TIME, 1), at(profile.INTERPOLATION_TIME, 2)
        self._torque_limits = tuple(
            at(index, absent=0xFFFF)
            for index in (
                profile.MAX_TORQUE,
                profile.POSITIVE_TORQUE_LIMIT,
                profile.NEGATIVE_TORQUE_LIMIT,
            )
        )

    @property
    def error_code(self) -> int:
        """Fault that is reported, 0 if none."""
        return self._error_code.number

    def fault(self, code: int) -> None:
        """Stop because of a fault (transition 13); a drive in a fault keeps the first one."""
        if self.state in {State.FAULT, State.FAULT_REACTION_ACTIVE}:
            return
        kind = GENERIC | KINDS.get(code >> 8, 0)
        self._error_code.value, self._register.value = code, kind
        under_power = self.state in POWERED
        self.state = State.FAULT_REACTION_ACTIVE
        self._ramp(State.FAULT, profile.FAULT_OPTION, 2)
        if not under_power or not self._option:
            self._option, self._rate = 0, 0.0
        self._emergency(code, kind)

    def communication_lost(self, code: int = COMMUNICATION_LOST) -> None:
        """Take note that the process data have stopped: under power 6007h tells what to do."""
        self._words.clear()
        self._targets.clear()
        self._word, self._controlword.value = None, 0
        if self.state not in {State.OPERATION_ENABLED, State.QUICK_STOP_ACTIVE}:
            if self.state in {State.READY_TO_SWITCH_ON, State.SWITCHED_ON}:
                self.state = State.SWITCH_ON_DISABLED
            return
        option = self._option_of(profile.ABORT_CONNECTION_OPTION, FAULT_SIGNAL)
        if option == FAULT_SIGNAL:
            self.fault(code)
        elif option == VOLTAGE_OFF:
            self._enter(State.SWITCH_ON_DISABLED)
        elif option == QUICK_STOP and self.state is State.OPERATION_ENABLED:
            self._enter(State.QUICK_STOP_ACTIVE)

    def outputs_arrived(self) -> None:
        """Take what the master has sent: what acts later waits its turn."""
        self._words.append(self._controlword.number)
        self._targets.append(self._target.number)
        full = len(self._words) == self._words.maxlen
        # A drive that has heard nothing yet is asked for nothing.
        self._word = self._words[0] if full else None
        self._goal, self._fresh = self._targets[0], True

    def measure(self, position: float, velocity: float, torque: float) -> None:
        """Take what encoder [count], [count/s] and current sensor [0.1 %] say."""
        self._position.value = (round(position - self._origin) + 2**31) % 2**32 - 2**31
        self._velocity.value = min(max(round(velocity), -(2**31)), 2**31 - 1)
        self._torque.value = min(max(round(torque), -(2**15)), 2**15 - 1)

    def update(self, elapsed: float) -> None:
        """Make one step of the drive's own cycle: at most one transition, then the target."""
        self._lose_power()
        self._step(elapsed)
        mode = self._mode.value
        if mode in KNOWN_MODES or (self._homing and mode == homing.MODE):
            self._mode_display.value = mode
        homes = self.state is State.OPERATION_ENABLED and self._mode_display.value == homing.MODE
        if self._homing is not None and not homes:
            self._homing.stand(self._position.number + self._origin)
        if self._after is not None:
            self._slow_down(elapsed)
        elif self._homing is not None and homes:
            before = self._origin
            self._homing.step(self._word or 0, elapsed)
            self._position.value = round(self._position.number - (self._origin - before))
            self._demand = self._homing.demand - self._origin
            self._rate = self._homing.rate
        elif self.state is State.OPERATION_ENABLED and self._synchronous:
            self._follow()
        elif self.state not in POWERED or self.state is State.OPERATION_ENABLED:
            self._demand, self._rate, self._limited = float(self._position.number), 0.0, False
        self._supervise(elapsed)
        self.command = self._wanted()
        self._report()

    @property
    def _origin(self) -> float:
        """Motor count at which this drive counts 0."""
        return 0.0 if self._homing is None else self._homing.origin

    def _wanted(self) -> AxisCommand:
        """Return what the motor shall do, within the torque that is allowed."""
        torque, interpolation = 0.0, 0.0
        if self.state is State.OPERATION_ENABLED and self._after is None:
            torque, interpolation = self._torque_offset.number, self._interpolation_time
        largest, push, pull = (float(entry.number) for entry in self._torque_limits)
        return AxisCommand(
            self.state in POWERED and not (self._after is State.FAULT and not self._option),
            self._demand + self._origin,
            self._rate,
            torque,
            interpolation,
            min(largest, push),
            min(largest, pull),
        )

    @property
    def _synchronous(self) -> bool:
        return self._mode_display.value == profile.CYCLIC_SYNCHRONOUS_POSITION

    @property
    def _interpolation_time(self) -> float:
        units, exponent = self._interpolation
        return float(units.number * 10.0**exponent.number) or self.cycle or 1e-3

    def _option_of(self, index: int, absent: int) -> int:
        return self._at(index, absent=absent).number

    def _lose_power(self) -> None:
        """Look whether the main circuit or the safety circuit has taken the voltage."""
        if self.state in POWERED and self._dead:
            if not self.mains or self._sto_is_fault:
                self.fault(TORQUE_OFF if self.mains else UNDERVOLTAGE)
            self.state = State.FAULT if self.error_code else State.SWITCH_ON_DISABLED
            self._after = None
        elif self._dead and self.state in {State.READY_TO_SWITCH_ON, State.SWITCHED_ON}:
            self.state = State.SWITCH_ON_DISABLED

    def _step(self, elapsed: float) -> None:
        word = 0 if self.local else self._word
        wanted = self.state
        if word is not None:
            wanted = next_state(self.state, word, self._before)
            self._before = word
        if self.state is State.NOT_READY_TO_SWITCH_ON:
            self.state = State.SWITCH_ON_DISABLED
        elif wanted is self._after or self._still_switching_on(wanted, elapsed):
            return
        elif wanted is not self.state and (self.state is State.FAULT or not self._dead):
            if self.state is State.FAULT:
                self._error_code.value = self._register.value = 0
                self._emergency(0, 0)
            self._enter(wanted)

    def _still_switching_on(self, wanted: State, elapsed: float) -> bool:
        if wanted is not State.OPERATION_ENABLED or self.state is not State.SWITCHED_ON:
            self._waited = 0.0
            return False
        self._waited += elapsed
        return self._waited < self._enable_delay

    @property
    def _dead(self) -> bool:
        return self.sto or not self.mains

    def _enter(self, state: State) -> None:
        """Change the state as the option codes say."""
        before, self._after = self.state, None
        if before is State.OPERATION_ENABLED and state is State.QUICK_STOP_ACTIVE:
            option = self._option_of(profile.QUICK_STOP_OPTION, 2)
            self.state = state if option else State.SWITCH_ON_DISABLED
            if option:
                off = State.SWITCH_ON_DISABLED
                after = state if option >= FIRST_THAT_HOLDS else off
                self._ramp(after, profile.QUICK_STOP_OPTION, 2)
            return
        index = {
            State.SWITCHED_ON: profile.DISABLE_OPTION,
            State.READY_TO_SWITCH_ON: profile.SHUTDOWN_OPTION,
        }.get(state)
        if before is State.OPERATION_ENABLED and index and self._option_of(index, 0):
            # It stays in operation until it has come to rest.
            self._ramp(state, index, 0)
            return
        self.state = state

    def _ramp(self, after: State, index: int, absent: int) -> None:
        """Begin to slow down, from the motion as it is and not from the target's."""
        self._after, self._option = after, self._option_of(index, absent)
        self._demand, self._rate = float(self._position.number), float(self._velocity.number)

    def _slow_down(self, elapsed: float) -> None:
        deceleration = inf
        if self._option in BY_PROFILE_RAMP:
            deceleration = self._option_of(profile.PROFILE_DECELERATION, 0) or inf
        elif self._option in BY_QUICK_STOP_RAMP:
            deceleration = self._option_of(profile.QUICK_STOP_DECELERATION, 0) or inf
        slower = max(abs(self._rate) - deceleration * elapsed, 0.0) if elapsed else abs(self._rate)
        mean = 0.5 * (abs(self._rate) + slower)
        sign = 1.0 if self._rate > 0.0 else -1.0
        self._demand += sign * mean * elapsed
        self._rate = sign * slower
        if slower == 0.0 and self._after is not None:
            self.state, self._after = self._after, None

    def _follow(self) -> None:
        wanted = self._goal + self._offset.number
        lower, upper = self._lower.number, self._upper.number
        inside = min(max(wanted, lower), upper) if lower < upper else wanted
        self._limited = inside != wanted
        if self._fresh:
            self._rate = (inside - self._demand) / self._interpolation_time
            self._fresh = False
        self._demand = float(inside)

    def _supervise(self, elapsed: float) -> None:
        error = round(self._demand) - self._position.number
        self._error.value = min(max(error, -(2**31)), 2**31 - 1)
        window = self._window.number
        inside = abs(error) <= window or window == NO_WINDOW
        if self.state is not State.OPERATION_ENABLED or inside:
            self._exceeded = 0.0
            return
        self._exceeded += elapsed
        if self._exceeded >= 1e-3 * self._timeout.number:
            self.fault(FOLLOWING_ERROR)

    def _report(self) -> None:
        word: int = self.state
        word |= 0 if self._dead else Status.VOLTAGE_ENABLED
        word |= 0 if self.local else Status.REMOTE
        following = self.state is State.OPERATION_ENABLED and self._after is None
        if following and self._synchronous:
            word |= Status.TARGET_FOLLOWED
            if self._exceeded:
                word |= Status.FOLLOWING_ERROR
        elif following and self._homing is not None and not self._synchronous:
            word |= self._homing.bits
        if self.state is State.QUICK_STOP_ACTIVE and self._after is None:
            word |= Status.AT_REST
        torque, command = self._torque.number, self.command
        if self._limited or (command.enabled and not -command.pull < torque < command.push):
            word |= Status.INTERNAL_LIMIT
        self._statusword.value = int(word)
        inputs = self._inputs.number & ~TORQUE_OFF_INPUT
        self._inputs.value = inputs | (TORQUE_OFF_INPUT if self.sto else 0)
