# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One cycle after the other: commands in, drives, measurements out, and the state between.

The loop reads no clock and starts nothing, so it runs in a test as it runs in its process.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import numpy as np
from stewart_driver.backend import Backend
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle_link import StateChange
from stewart_driver.control.operation import Operation
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import Event, Request, State, StateMachine
from stewart_driver.control.supervision import OverrunRate
from stewart_driver.errors import StewartError, TransitionRefused
from stewart_driver.legs import Array, LEGS, read_only
from stewart_driver.path.jog import DEAD_MAN
from stewart_driver.path.motion import LegMotion, Verdict
from stewart_tables.errors import counted

# A path that is so many cycles behind its schedule is not judged by the schedule.
FAR_BEHIND = 3
# Members of an enumeration take their time to look up.
ENABLED, STOPPING, ACCEPTED = State.ENABLED, State.STOPPING, Verdict.ACCEPTED
QUICK_STOP = 'quick stop: all legs come to rest, then the drives go off; `live` tells when'
UNKNOWN = read_only(np.full(LEGS, np.nan))


class ControlLoop:
    """One cycle after the other: what came through the block, the exchange, what goes back.

    Args:
        backend: Opened before the first step, closed by the caller after the last.
        block: Where commands come from and measurements go.
        notes: What the process that runs the loop was not permitted.
    """

    def __init__(
        self,
        backend: Backend,
        configuration: CycleConfiguration,
        block: SharedBlock,
        notes: Sequence[str] = (),
    ) -> None:
        self._backend, self._block = backend, block
        self._machine = StateMachine()
        self._operation = Operation(backend, configuration, self._machine, self._tell_state)
        self._machine.reason = '; '.join((self._operation.noted('started'), *notes))
        for note in notes:
            block.notes.push(text=note)
        self._overruns = OverrunRate(backend.cycle_time)
        self._last_accepted = self._pressed_before = -np.inf
        self._lost_setpoints = 0
        self._verdicts = block.words['verdicts']
        self._quick_stops, self._quick_stops_seen = block.cells['quick_stops'], 0
        # What takes the back end seconds it does within a cycle.
        backend.interrupted = lambda: self._quick_stops[0] != self._quick_stops_seen
        self._publish_every, self._steps = configuration.publish_every, 0
        self._error = self._slipped = 0.0

    @property
    def state(self) -> State:
        """Present state."""
        return self._machine.state

    def step(self, now: float) -> None:
        """Run one cycle."""
        operation = self._operation
        operation.now = now
        self.serve()
        self._take_tracking()
        self._take_jogs()
        self._take_setpoints(now)
        command = self._command(now)
        operation.exchange(command)
        operation.settle()
        operation.tell_state()
        self._tell_counters()
        self._steps += 1
        if self._steps % self._publish_every == 0 and operation.connected:
            # The state may have changed since the exchange.
            self._tell_sample(command if operation.commanded is not None else None)

    def serve(self) -> None:
        """Take quick stops and requests as of the last cycle's instant."""
        if (asked := self._quick_stops[0]) != self._quick_stops_seen:
            self.quick_stop('quick stop asked for')
            self._quick_stops_seen = asked
            unheard = self._operation.unheard
            message = unheard or QUICK_STOP
            self._block.stops.push(quick_stops=asked, accepted=not unheard, message=message)
        for record in self._block.requests.pop_all():
            accepted, request = True, Request(record['code'])
            try:
                if request is not Request.DISABLE:
                    self._require_wanted(record)
                message = self._operation.carry_out(request, record['value'])
            except StewartError as error:
                accepted, message = False, str(error)
            self._block.replies.push(request=record['number'], accepted=accepted, message=message)

    def _require_wanted(self, record: Mapping[str, Any]) -> None:
        """Raise `TransitionRefused` for a request that a long cycle has made an old one."""
        if record['quick_stops'] < self._quick_stops[0]:
            raise TransitionRefused('a quick stop was asked for after it: ask again')
        late = self._operation.now - (record['deadline'] or inf)
        if late > 0.0:
            raise TransitionRefused(f'it came {late:.3f} s too late to be carried out: ask again')

    def quick_stop(self, reason: str) -> None:
        """Bring all legs to rest as hard as allowed and switch the drives off."""
        self._operation.change(Event.QUICK_STOP, reason)

    def disable(self, reason: str) -> None:
        """Bring all legs to rest and switch the drives off, if they are on."""
        if self._machine.allows(Event.DISABLE):
            self._operation.change(Event.DISABLE, reason)

    @property
    def _plays(self) -> bool:
        """Whether the legs follow a path that is not being stopped."""
        return self._operation.interpolator.playing and self._machine.state is ENABLED

    def _take_tracking(self) -> None:
        if not (errors := [*self._block.tracking.pop_values()]):
            return
        # A path that is late or slow is followed as well as any, but this error is that to the
        # schedule. Each leg is compared with the path itself as ever.
        slipped = self._operation.interpolator.clock.slipped
        if slipped > FAR_BEHIND * self._backend.cycle_time:
            return
        for position, rotation in errors:
            trouble = self._operation.supervisor.tracking(position, rotation)
            # Where no path is played, setpoints are not followed, and far from them is no error.
            if trouble and self._plays:
                self._operation.change(Event.TRIP, trouble)

    def _take_jogs(self) -> None:
        for stamp, rates in self._block.jogs.pop_values():
            why = self._why_not_jogged(stamp, rates)
            if not why:
                why = self._operation.interpolator.jog(rates, stamp)
            elif np.any(rates):
                self._pressed_before = stamp
            if why:
                self._block.refusals.push(text=why)

    def _why_not_jogged(self, stamp: float, rates: Array) -> str:
        if self.state is not ENABLED:
            return f'legs are not jogged while the driver is {self.state.name}'
        if np.any(rates) and stamp - self._pressed_before <= DEAD_MAN:
            return 'the key of a jog was pressed before the drives were on: let it go first'
        return ''

    def _take_setpoints(self, now: float) -> None:
        ring, interpolator = self._block.setpoints, self._operation.interpolator
        for values in ring.pop_values():
            setpoint = LegMotion(*values)
            if self._machine.state is STOPPING:
                # Also once the legs are at rest: until they have settled nothing begins anew.
                verdict = interpolator.refuse(Verdict.NOT_FOLLOWING, 'the legs are being stopped')
            else:
                verdict = interpolator.offer(setpoint, now)
            self._verdicts[verdict] = interpolator.counts[verdict]
            if verdict is ACCEPTED:
                self._last_accepted = now
            else:
                self._block.refusals.push(text=interpolator.last_refusal)
        if ring.lost != self._lost_setpoints:
            lost = ring.lost - self._lost_setpoints
            self._block.words['lost_setpoints'] = self._lost_setpoints = ring.lost
            if self._plays:
                why = f'{counted(lost, "setpoint")} lost: the loop came too late'
                self._operation.change(Event.STOP, why)
        if interpolator.contradiction and self._plays:
            self._operation.change(Event.TRIP, interpolator.contradiction)

    def _command(self, now: float) -> LegMotion:
        operation, interpolator = self._operation, self._operation.interpolator
        command = interpolator.command(now, answered=operation.answered)
        if interpolator.trouble:
            # The interpolator has begun to stop already.
            operation.change(Event.STOP, interpolator.trouble)
        elif self._plays:
            # What is played late was commanded in time.
            on_time = now - max(interpolator.clock.slipped, 0.0)
            trouble = operation.supervisor.silence(self._last_accepted, on_time)
            if trouble and interpolator.moving and not interpolator.ends_at_rest:
                operation.change(Event.STOP, trouble)
            # A path that too many missed cycles make late.
            trouble = operation.supervisor.overruns(self._overruns.missed(now))
            if trouble:
                operation.change(Event.TRIP, trouble)
        else:
            self._overruns.forget()
        return command

    def _tell_state(self, change: StateChange) -> None:
        self._block.events.push(**change._asdict())

    def _tell_counters(self) -> None:
        """Write the numbers that have changed."""
        words, operation = self._block.words, self._operation
        slipped, error = operation.interpolator.clock.slipped, operation.supervisor.largest_error
        if abs(slipped - self._slipped) > 1e-9:
            words['slipped'] = self._slipped = slipped
        if error != self._error:
            words['largest_following_error'] = self._error = error
        if (wire := self._backend.wire) is not None:
            wire.write_to(words)

    def _tell_sample(self, command: LegMotion | None) -> None:
        """Write the newest measurement, and the command where drives follow one."""
        measured = self._operation.measured
        if measured is None:
            return
        self._block.samples.push(
            stamp=measured.stamp,
            strokes=measured.strokes,
            rates=measured.rates,
            forces=UNKNOWN if measured.forces is None else measured.forces,
            commanded_strokes=UNKNOWN if command is None else command.strokes,
        )
