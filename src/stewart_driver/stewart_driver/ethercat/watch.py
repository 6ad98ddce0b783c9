# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Who is missing, who is in a fault, and what they say of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from stewart_driver.control.cycle_statistics import WireStatistics
from stewart_driver.errors import DriveFault, TransportError
from stewart_driver.ethercat.cia402 import error_text, Status
from stewart_driver.ethercat.drive_group import DriveGroup
from stewart_driver.ethercat.drive_monitor import DriveMonitor
from stewart_driver.ethercat.errors import BusFault, LegFault
from stewart_driver.ethercat.fault_text import (
    AL_OPERATIONAL,
    AlStatus,
    Emergency,
    fault_text,
)
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.process_map import Inputs
from stewart_driver.ethercat.starting import Wire
from stewart_driver.legs import LEGS

# A frame that some slaves have not answered may be a flicker; two are not.
INCOMPLETE = 2
# A look at states or at one mailbox costs a frame.
LOOK_PERIOD = 0.05
# It comes with the fault or a little later, and the frame that fetches it may get lost.
LOOKS_FOR_EMERGENCY = 3
# So many of a drive are kept: warnings may have come for days before the fault that they explain.
LATEST_EMERGENCIES = 3


class Watch:
    """Supervision of the bus and its drives.

    Args:
        wire: The bus.
        interface: Its name, for sentences.
        options: Patience.
        statistics: Where frames are counted.

    Attributes:
        missing: Legs that have left the bus since the last `forget`.
    """

    def __init__(
        self, wire: Wire, interface: str, options: EthercatOptions, statistics: WireStatistics
    ) -> None:
        """Find all well."""
        self._wire, self._interface, self._options = wire, interface, options
        self._statistics = statistics
        self._emergencies = [deque[Emergency](maxlen=LATEST_EMERGENCIES) for _ in range(LEGS)]
        self._fault: DriveFault | None = None
        self._incomplete, self._silent = 0, False
        self._counter, self._counted_at = 0, 0.0
        self._gone_silent = False
        self._heard_at: float | None = None
        self._complete_at = 0.0
        self._looked_at, self._looks = 0.0, 0
        self._drives = DriveMonitor(options.cycle_time)
        self.missing: set[int] = set()

    @property
    def lost(self) -> bool:
        """Whether a leg has left the bus since the last `forget`."""
        return bool(self.missing)

    def answers(self, leg: int) -> bool:
        """Tell whether a leg has answered lately."""
        return not self._gone_silent and leg not in self.missing

    def forget(self) -> None:
        """Forget fault and emergencies, after a reset."""
        self._fault, self.missing = None, set()
        self._heard_at = None
        for leg in range(1, LEGS + 1):
            self._wire.emergencies(leg)
            self._emergencies[leg - 1].clear()

    def count(self, counter: int, round_trip: float, now: float) -> None:
        """Take note of a frame.

        Args:
            counter: Its working counter, negative if it did not come back.
            round_trip: How long it took [s].
            now: Present instant [s].

        Raises:
            TransportError: If none has come back for longer than the patience.
        """
        self._silent = counter < 0
        if self._heard_at is None:
            self._heard_at = self._complete_at = now
        if counter == self._wire.expected:
            self._incomplete, self._complete_at = 0, now
        elif not self._silent:
            self._statistics.bad_working_counters += 1
            self._incomplete += 1
        self._counter, self._counted_at = counter, now
        if not self._silent:
            self._statistics.count(round_trip)
            self._heard_at, self._gone_silent = now, False
            return
        self._statistics.lost_frames += 1
        silence = now - self._heard_at
        if silence > self._options.patience:
            self._gone_silent = True
            raise TransportError(
                f'no frame has come back on {self._interface} for {1e3 * silence:.0f} ms'
            )

    def look(self, now: float, inputs: Sequence[Inputs], group: DriveGroup) -> DriveFault | None:
        """Look for lost legs and for faults of drives.

        Args:
            now: Present instant [s].
            inputs: What the drives report, legs 1 to 6.
            group: Their states.

        Returns:
            The first fault since the last `forget`, with all that was known of it then.
        """
        if self._fault is not None:
            return self._fault
        if self._incomplete >= INCOMPLETE:
            self._find_lost(self._wire.statuses())
            self._fault = self._fault or self._find_incomplete()
        elif group.faulty:
            self._fault = self.drive_fault(group.faulty[0], inputs)
        elif group.left:
            self._find_lost(self._wire.statuses())
            self._fault = self._fault or self._left(group.left[0], inputs)
        elif fault := self._drives.look(inputs, group):
            self._fault = fault
        elif not self._silent and now - self._looked_at >= LOOK_PERIOD:
            self._looked_at = now
            self._looks += 1
            if self._looks % 2:
                self._find_lost(self._wire.statuses())
            else:
                self._collect(self._looks // 2 % LEGS + 1)
        return self._fault

    def drive_fault(self, leg: int, inputs: Sequence[Inputs]) -> DriveFault:
        """Return the fault that a drive reports, with its emergencies and EtherCAT state."""
        emergencies = self._emergencies[leg - 1]
        for _ in range(LOOKS_FOR_EMERGENCY):
            self._collect(leg)
            if emergencies:
                break
        newest = emergencies[-1].code if emergencies else 0
        code = inputs[leg - 1].error_code or newest
        status = self._wire.statuses()[leg - 1]
        return DriveFault(leg, code, fault_text(code, emergencies, status))

    def _collect(self, leg: int) -> None:
        # Code 0 says that an error is over.
        arrived = [item for item in self._wire.emergencies(leg) if item.code]
        self._statistics.emergencies += len(arrived)
        self._emergencies[leg - 1].extend(arrived)

    def _left(self, leg: int, inputs: Sequence[Inputs]) -> LegFault:
        """Say as what a drive has left operation that reports no fault."""
        word = inputs[leg - 1].statusword
        said = f'its drive has left operation by itself, statusword 0x{word:04X}'
        if not word & Status.VOLTAGE_ENABLED:
            said += ': its motor is without voltage, by safe torque off or the supply'
        self._collect(leg)
        texts = [error_text(item.code) for item in self._emergencies[leg - 1]]
        return LegFault(leg, '; '.join([said, *texts]))

    def _find_incomplete(self) -> BusFault | None:
        """Blame the bus if all say that they take part, and yet some frame after frame do not."""
        since = self._counted_at - self._complete_at
        if since <= self._options.patience:
            return None
        return BusFault(
            f'for {1e3 * since:.0f} ms not every drive on {self._interface} has taken part in a '
            f'frame: working counter {self._counter} instead of {self._wire.expected}'
        )

    def _find_lost(self, statuses: Sequence[AlStatus]) -> None:
        """Blame the first leg that does not take part any more."""
        missing = [leg for leg, item in enumerate(statuses, 1) if item.state != AL_OPERATIONAL]
        # If not one answers, the frame that asked was lost: `count` waits for how long.
        if not missing or not any(item.state for item in statuses):
            return
        self.missing.update(missing)
        names = ', '.join(str(leg) for leg in missing)
        which = f'; legs {names} are lost' if len(missing) > 1 else ''
        first = missing[0]
        self._fault = LegFault(first, f'its drive is lost, EtherCAT: {statuses[first - 1]}{which}')
