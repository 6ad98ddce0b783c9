# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The control loop in the caller's thread, stepped along simulated time."""

from __future__ import annotations

from math import ceil
import os

from stewart_driver.backend import Backend
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle import ControlLoop
from stewart_driver.control.cycle_link import Answer, CycleLink
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import AT_REST, Request
from stewart_driver.errors import ConfigurationError, CycleError

NANOSECONDS = 1_000_000_000
# Time that jumps further than this was set, it did not pass [ns].
LONGEST_GAP = NANOSECONDS


class InlineCycle(CycleLink):
    """A control loop whose clock is the caller's.

    The same loop that runs in a process of its own on a rig, without threads, sleeps or clocks:
    same commands at same instants, same bits. Requests are answered at once, between two cycles.

    Args:
        backend: Simulated; opened here.
        configuration: Limits and settings; a real-time priority means nothing here.
        now_ns: Instant of the first cycle [ns].

    Raises:
        DriverError: If the back end cannot be opened, moves metal, or its machine has a clock of
            its own: neither follows simulated time.
    """

    def __init__(self, backend: Backend, configuration: CycleConfiguration, now_ns: int) -> None:
        if not backend.simulated:
            expected = 'a simulated back end, for metal follows no simulated time'
            raise ConfigurationError('backend', backend.name, expected)
        backend.require_callers_time()
        descriptor = SharedBlock.allocate()
        try:
            super().__init__(SharedBlock(descriptor), configuration.longest_stop)
        finally:
            os.close(descriptor)
        self._backend = backend
        self._period = round(backend.cycle_time * NANOSECONDS)
        self._next = now_ns
        backend.keep_within(configuration.limits)
        backend.open(now_ns / NANOSECONDS)
        self._next += ceil(self._late / self._period) * self._period
        self._loop = ControlLoop(backend, configuration, self._block)
        # Simulated cycles are never late and take no time: all are in the first bins.
        bins = [self._block.words[name].data for name in ('lateness', 'busy')]
        self._counts = [self._block.cells['cycles'], *bins]
        self._alive = True
        if self._next > now_ns:
            # As in a process of its own, the drives are measured before the loop is handed out.
            self.pause()

    @property
    def alive(self) -> bool:
        """Whether it was not ended yet."""
        return self._alive

    def exit_reason(self) -> str:
        """Return one sentence on why it is gone; empty while it is alive."""
        return '' if self._alive else 'the control loop was ended'

    def kill(self) -> None:
        """Run no further cycle."""
        self._alive = False

    def steady(self) -> float:
        """Return the instant of the coming cycle [s]."""
        return self._next / NANOSECONDS

    def pause(self) -> None:
        """Run one cycle."""
        self.advance(self._next)

    def advance(self, now_ns: int) -> None:
        """Run every cycle that is due at `now_ns`; a jump by more than a second moves the grid."""
        if now_ns - self._next > LONGEST_GAP:
            self._block.words['overruns'] += (now_ns - self._next) // self._period
            self._next = now_ns
        self._leave_out()
        cycles = 0
        while self._alive and self._next <= now_ns:
            self._loop.step(self._next / NANOSECONDS)
            self._next += self._period
            self._leave_out()
            cycles += 1
        if cycles:
            for counts in self._counts:
                counts[0] += cycles

    def _leave_out(self) -> None:
        """Leave out the cycles during which the back end had to wait for something."""
        if (late := self._late) and (missed := late // self._period):
            self._block.words['overruns'] += missed
            self._next += missed * self._period

    @property
    def _late(self) -> int:
        """How far the back end is beyond the coming cycle [ns]."""
        beyond = self._backend.now * NANOSECONDS - self._next
        return round(beyond) if beyond > 0.0 else 0

    def request(self, request: Request, value: float = 0.0) -> tuple[bool, str]:
        """Carry a request out; return whether it is accepted, and one sentence."""
        if not self._alive:
            return False, self.exit_reason()
        number = self._push(request, value)
        self._loop.serve()
        reply = self._reply_to(number)
        assert reply is not None  # `serve` has answered
        return reply

    def begin(self, request: Request) -> Answer:
        """Carry a request out; return what gives the answer."""
        said = self.request(request)
        return lambda: said

    def quick_stop(self) -> tuple[bool, str]:
        """Bring all legs to rest as hard as allowed and switch the drives off."""
        if not self._alive:
            return False, self.exit_reason()
        self._block.words['quick_stops'] += 1
        self._loop.serve()
        reply = self._stopped()
        assert reply is not None  # `serve` has answered
        return reply

    def end(self) -> None:
        """Bring the legs to rest, switch the drives off and close; raises `CycleError`."""
        if not self._alive:
            return
        limit = self._next + round(self.longest_stop * NANOSECONDS)
        self._loop.disable('the driver is being cleaned up')
        while self._loop.state not in AT_REST and self._next < limit:
            self.pause()
        rest = self._loop.state in AT_REST
        self._alive = False
        if rest:
            self._backend.disable()
        self._backend.close()
        if not rest:
            raise CycleError(f'the legs did not come to rest within {self.longest_stop:.2g} s')
