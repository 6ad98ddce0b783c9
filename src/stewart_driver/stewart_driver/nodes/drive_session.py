# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages in and out of the cyclic process, from configuring the driver to cleaning it up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import hypot, inf

import numpy as np
from stewart_driver.backend import Backend
from stewart_driver.control.clock_bridge import ClockBridge
from stewart_driver.control.cycle_link import Answer, CycleLink, StateChange
from stewart_driver.control.effort_join import EffortJoin
from stewart_driver.control.inline_cycle import InlineCycle
from stewart_driver.control.state_machine import AT_REST, Request, State
from stewart_driver.control.supervision import StallDetector
from stewart_driver.errors import CycleError, StewartError
from stewart_driver.legs import Array, LEGS
from stewart_driver.nodes.driver_parameters import DriverParameters
from stewart_driver.nodes.driver_reports import backend_report, CommandReport, CycleReport
from stewart_driver.path.jog import DEAD_MAN
from stewart_driver.path.motion import LegMotion
from stewart_interfaces.msg import DriverState, Jog
from stewart_node_support.codec import Reader
from stewart_node_support.conversions import header_msg, PARKING
from stewart_node_support.diagnostics import Report
from stewart_node_support.errors import MessageError
from stewart_node_support.hot_messages import tracking_error_reader
from stewart_node_support.legs import leg_reader, LegState, LegWriter
from stewart_node_support.stamps import from_seconds, NANOSECONDS, to_seconds

ON_THE_WAY = {State.ENABLED, State.STOPPING}


class DriveSession:
    """A running cyclic process, seen in messages.

    Attributes:
        clock: Every stamp that enters or leaves is converted here, and only here.
    """

    def __init__(
        self,
        backend: Backend,
        loop: CycleLink,
        chosen: DriverParameters,
        wall: Callable[[], float],
    ) -> None:
        self.clock = ClockBridge(wall, wall if isinstance(loop, InlineCycle) else loop.steady)
        self._backend = backend
        self._client = loop
        self._stall, self._chosen = StallDetector(), chosen
        # Requests that take the drives longer than a cycle, and are not answered yet.
        self._under_way = 0
        self._efforts = EffortJoin()
        self._commands = CommandReport(self._client, self._efforts)
        self._change = StateChange(self._client.steady(), State.DISABLED, False, 'starting')
        self._command_reader, self._effort_reader = leg_reader(), leg_reader()
        self._error_reader, self._writer = tracking_error_reader(), LegWriter()
        park = np.array(chosen.park_strokes)
        rate = chosen.rate_limit or backend.limits.rate
        self._parking = Parking(loop, park, rate) if park.size else None
        self._strokes: Array | None = None
        self._ended = self._buried = self._sets_out = False
        self._trouble = ''
        self.reports: dict[str, Callable[[], Report]] = {
            'backend': self._report,
            'cycle': CycleReport(self._client, self.clock),
            'commands': self._commands,
        }

    def take_command(self, data: bytes) -> None:
        """Give a leg command, strokes [m] and rates [m/s], to the interpolator.

        A JointState without six finite ones is counted; raises `MessageError`.
        """
        legs = self._legs(self._command_reader, data)
        if legs.position is None or legs.velocity is None:
            raise self._malformed('a leg command has both stroke and rate of every leg')
        forces = self._efforts.at(legs.stamp)
        self.clock.look()
        if self._parks:
            return  # silence brings a path to rest
        self._client.offer(
            LegMotion(
                self.clock.to_steady(legs.stamp / NANOSECONDS),
                legs.position,
                legs.velocity,
                np.zeros(LEGS) if forces is None else forces,
            )
        )

    def take_efforts(self, data: bytes) -> None:
        """Keep feed-forward forces [N] for the command of the same stamp; as `take_command`."""
        legs = self._legs(self._effort_reader, data)
        if legs.effort is None:
            raise self._malformed('joint_efforts has a force for every leg')
        self._efforts.add(legs.stamp, legs.effort)

    def take_tracking_error(self, data: bytes) -> None:
        """Give a TrackingError to the supervision; raises MessageError if it is none."""
        error = self._error_reader.read(data)
        self._client.report_tracking_error(
            hypot(*error.position.tolist()), hypot(*error.rotation.tolist())
        )

    def take_jog(self, message: Jog) -> None:
        """Move legs by hand for a moment; raises `MessageError`."""
        stamp = self.clock.to_steady(to_seconds(message.header.stamp))
        age = self._client.steady() - stamp
        if abs(age) > DEAD_MAN:
            raise self._malformed(
                f'a jog request is {age:.3f} s old, allowed are {DEAD_MAN:g} s: stamp it anew'
            )
        rates = np.array(message.rates)
        if not np.isfinite(rates).all():
            raise self._malformed(f'the rates of a jog are finite numbers, got {rates}')
        if self._parks:
            raise self._malformed('the legs are on their way to the park position')
        self._client.jog(rates, stamp)

    def ask(self, request: Request, value: float = 0.0) -> tuple[bool, str]:
        """Return whether a request, with a value where it has one, is carried out, and why."""
        if request is Request.DISABLE:
            return self._disable()
        return self._client.request(request, value)

    def begin(self, request: Request) -> Answer:
        """Ask for what may take the drives seconds; return what gives the answer, once."""
        look = self._client.begin(request)
        self._under_way += 1

        def answer() -> tuple[bool, str] | None:
            if (said := look()) is not None:
                self._under_way -= 1
            return said

        return answer

    def moves(self, request: Request) -> bool:
        """Tell whether a request switches drives on that are off."""
        homes = request is Request.HOME and self._backend.moves_home
        return homes or request is Request.ENABLE

    def _disable(self) -> tuple[bool, str]:
        """Park the legs if that is wanted, then take the voltage; a second call takes it now."""
        if self._parking and not self._parking.active and self._change.state is State.ENABLED:
            self._parking.begin()
            self._sets_out = True
            return True, f'{PARKING}; ask again to switch off here'
        was = self._change.state
        accepted, message = self._client.request(Request.DISABLE)
        if not accepted:
            return accepted, message
        if self._backend.why_live:
            message += f'; the motors stay under voltage: {self._backend.why_live}'
        elif was in ON_THE_WAY and not self._parks:
            message += '; where no brake holds it the platform sinks (park_strokes is not given)'
        if self._parking:
            self._parking.active = False
        return accepted, message

    def quick_stop(self) -> tuple[bool, str]:
        """Return whether the quick stop reaches all drives, and one sentence."""
        return self._client.quick_stop()

    def states(self) -> list[DriverState]:
        """Return the state after every change since the last call, oldest first."""
        self.clock.look()
        # Before the changes: what a process told last comes before its end.
        alive = self._client.alive
        changes = self._client.state_changes()
        if alive:
            changes += self._end_standstill(changes[-1] if changes else self._change)
        elif not self._buried:
            self._buried = True
            state = State.DISABLED if self._ended else State.FAULT
            reason = self._trouble or self._client.exit_reason()
            reason += '' if self._ended else self._rescue()
            changes.append(StateChange(self._client.steady(), state, False, reason))
        if self._sets_out:
            self._sets_out = False
            changes.append(
                (changes[-1] if changes else self._change)._replace(stamp=self._client.steady())
            )
        if changes:
            self._change = changes[-1]
        if self._parks:
            # Sources are to know why nothing that they say is followed.
            changes = [
                change._replace(reason=PARKING) if change.state in ON_THE_WAY else change
                for change in changes
            ]
        return [
            DriverState(
                header=header_msg(from_seconds(self.clock.to_wall(change.stamp)), ''),
                backend=self._backend.name,
                simulated=self._backend.simulated,
                playout_delay=self._chosen.playout_delay,
                **change.told(),
            )
            for change in changes
        ]

    def leg_states(self) -> Iterator[bytes]:
        """Yield the legs measured since the last call as JointStates; no force, no effort."""
        for sample in self._client.samples():
            self._strokes = sample.strokes
            stamp = round(self.clock.to_wall(sample.stamp) * NANOSECONDS)
            yield self._writer.write(stamp, sample.strokes, sample.rates, sample.forces)

    def go_on(self) -> None:
        """Do what takes longer than a request: bring the legs to the park position."""
        if self._parking and self._strokes is not None:
            self._parking.advance(self._change.state, self._strokes)

    def come_to_rest(self) -> Iterator[DriverState]:
        """Disable the drives and yield the states until they are off; raises `CycleError`."""
        if self._parking:
            self._parking.active = False
        self._client.request(Request.DISABLE)
        longest = self._client.longest_stop
        limit = self._client.steady() + longest
        while True:
            # Before the look: who stood still for long looks once more.
            late = self._client.steady() > limit
            yield from self.states()
            if self._change.state in AT_REST:
                return
            if late:
                raise CycleError(f'the drives are {self._change.state.name} after {longest:.2g} s')
            self._client.pause()

    def end(self) -> None:
        """End the cyclic process; where that was not in order, the last of `states` says so."""
        try:
            self._client.end()
        except CycleError as error:
            self._trouble = str(error)
        else:
            self._ended = True

    def _end_standstill(self, present: StateChange) -> list[StateChange]:
        """Kill a process that hangs with the drives on: the outputs of a card stay then."""
        now = self._client.steady()
        if self._under_way:
            # It is done within a cycle, and has its own limit.
            self._stall = StallDetector()
        stood = self._stall.look(self._client.cycles, now)
        # A back end whose legs run on meanwhile allows less.
        allowed = min(self._chosen.stall_timeout, self._backend.stall_limit)
        # In FAULT drives may hold.
        moves = present.state not in AT_REST or (present.state is State.FAULT and present.live)
        if stood <= allowed or not moves or self._buried:
            return []
        self._client.kill()
        self._trouble = (
            f'no cycle has run for {stood:.2f} s while {present.state.name}, allowed are '
            f'{allowed:.3g} s: the cyclic process was killed'
        )
        return [StateChange(now, State.FAULT, False, self._trouble)]

    def _rescue(self) -> str:
        """Make outputs safe that the dead process has left behind; say what came of it."""
        try:
            done = self._backend.rescue()
        except StewartError as error:
            return f'; the outputs are NOT safe: {error}'
        return f'; {done}' if done else ''

    @property
    def _parks(self) -> bool:
        return self._parking is not None and self._parking.active

    def _legs(self, reader: Reader[LegState], data: bytes) -> LegState:
        try:
            return reader.read(data)
        except MessageError as error:
            raise self._malformed(str(error)) from None

    def _malformed(self, why: str) -> MessageError:
        self._commands.malformed += 1
        self._commands.last_malformed = why
        return MessageError(why)

    def _report(self) -> Report:
        return backend_report(self._backend, self._change.state, self._change.reason)


# Of the rate limit: a little below the tenth that a jog may have [-].
SHARE = 0.099
# Slower towards the end: speed per distance [1/s].
GAIN = 2.0
# A leg this close has arrived [m].
TOLERANCE = 5e-4
# Legs that come no closer for so long will not arrive [s].
ARRIVAL_TIMEOUT = 3.0


class Parking:
    """A straight way in the strokes, driven as jog requests; legs that do not arrive end it, too.

    Args:
        strokes (6,): Where the legs shall be when the voltage is taken [m].
    """

    def __init__(self, link: CycleLink, strokes: Array, rate: float) -> None:
        self._link, self._strokes, self._fastest = link, strokes, SHARE * rate
        self.active = False

    def begin(self) -> None:
        """Set out."""
        self.active = True
        self._closest, self._closest_at = inf, self._link.steady()

    def advance(self, state: State, strokes: Array) -> None:
        """Ask for the next piece of the way from where the legs are, shape (6,) [m], or its end.

        What ends in another way than this one is left alone.
        """
        if not self.active:
            return
        now = self._link.steady()
        if state is State.STOPPING:
            self._closest_at = now
            return
        if state is not State.ENABLED:
            self.active = False
            return
        way = self._strokes - strokes
        distance = float(np.abs(way).max())
        if distance < self._closest - TOLERANCE:
            self._closest, self._closest_at = distance, now
        if distance <= TOLERANCE or now - self._closest_at > ARRIVAL_TIMEOUT:
            self.active = False
            self._link.request(Request.DISABLE)
            return
        self._link.jog(way * (min(self._fastest, GAIN * distance) / distance), now)
