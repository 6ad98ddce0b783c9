# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""
One cycle after the other: commands in, drives, measurements out, and the state between.

The cycle reads no clock and starts nothing, so it runs in a test as it runs in its process.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from stewart_driver.backend import Backend, Explaining, Measurement, Noting, Targets
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.punctuality import Punctuality
from stewart_driver.control.shared_block import encode, SharedBlock
from stewart_driver.control.state_machine import Event, State, StateMachine
from stewart_driver.control.supervision import Supervisor
from stewart_driver.control.wire_statistics import Wired
from stewart_driver.errors import DriverError, TransitionRefused, TransportError
from stewart_driver.legs import Array, LEGS, read_only
from stewart_driver.path.command import Command
from stewart_driver.path.interpolation import Interpolator
from stewart_driver.path.playout import LONGEST_STEP
from stewart_driver.path.setpoint import Setpoint, Verdict

FOLLOWING = (State.ENABLED, State.STOPPING)
ZERO = read_only(np.zeros(LEGS))
UNKNOWN = read_only(np.full(LEGS, np.nan))


class Request(IntEnum):
    """What the node can ask for."""

    ENABLE = 1
    DISABLE = 2
    HOME = 3
    RESET_FAULT = 4


class Cycle:
    """
    State machine, interpolator, supervision and back end, joined.

    Parameters
    ----------
    backend : Backend
        Opened before the first step, closed by the caller after the last.
    configuration : CycleConfiguration
        Limits and settings.
    block : SharedBlock
        Where commands come from and measurements go.

    """

    def __init__(
        self, backend: Backend, configuration: CycleConfiguration, block: SharedBlock
    ) -> None:
        """Start disabled."""
        self._backend, self._block = backend, block
        self._settings = configuration
        self._machine = StateMachine()
        self._machine.reason = self._noted('started')
        self._interpolator = Interpolator(
            configuration.limits, configuration.interpolation, backend.cycle_time
        )
        self._supervisor = Supervisor(configuration.limits, configuration.supervision)
        self._wire = backend.wire if isinstance(backend, Wired) else None
        self._punctuality = Punctuality(backend.cycle_time)
        self._measured: Measurement | None = None
        self._commanded: Command | None = None
        self._measured_at = -np.inf
        self._lags = False
        self._last_accepted = -np.inf
        self._enabling_since = 0.0
        self._connected = True
        self._told: tuple[State, bool, str] | None = None
        self._steps = 0
        self._now = 0.0
        self._at_rest_since: float | None = None

    @property
    def state(self) -> State:
        """Present state."""
        return self._machine.state

    def step(self, now: float) -> None:
        """
        Run one cycle.

        Parameters
        ----------
        now : float
            Instant of the cycle on the steady clock [s].

        """
        self._now = now
        self.serve()
        self._take_tracking()
        self._take_setpoints(now)
        command = self._command(now)
        self._exchange(command, now)
        self._settle(now)
        self._tell(command)

    def serve(self) -> None:
        """Take quick stops and requests as of the last cycle's instant."""
        self._take_quick_stop()
        self._take_requests(self._now)

    def quick_stop(self, reason: str) -> None:
        """Bring all legs to rest as hard as allowed and switch the drives off."""
        self._change(Event.QUICK_STOP, reason)

    def disable(self, reason: str) -> None:
        """Bring all legs to rest and switch the drives off, if they are on."""
        if self._machine.allows(Event.DISABLE):
            self._change(Event.DISABLE, reason)

    def _take_quick_stop(self) -> None:
        words = self._block.words
        asked = int(words['quick_stops'])
        if asked != int(words['quick_stops_seen']):
            self.quick_stop('quick stop asked for')
            words['quick_stops_seen'] = asked

    def _take_requests(self, now: float) -> None:
        for record in self._block.requests.pop_all():
            number = int(record['number'])
            try:
                message = self._carry_out(Request(int(record['code'])), now)
            except DriverError as error:
                self._reply(number, str(error), accepted=False)
            else:
                self._reply(number, message, accepted=True)

    def _reply(self, number: int, message: str, *, accepted: bool) -> None:
        self._block.replies.push(request=number, accepted=accepted, message=encode(message))

    def _carry_out(self, request: Request, now: float) -> str:
        if request is Request.ENABLE:
            return self._enable(now)
        if request is Request.DISABLE:
            self._change(Event.DISABLE, 'disabling asked for')
            return 'coming to rest, then off' if self.state is State.STOPPING else 'off'
        if request is Request.HOME:
            return self._home()
        if not self._machine.allows(Event.RESET_FAULT):
            self._machine.handle(Event.RESET_FAULT, '')
        self._backend.reset_fault()
        self._connected = True
        self._supervisor.forget()
        self._change(Event.RESET_FAULT, self._noted('fault reset'))
        return self._noted('fault reset, the drives are off')

    def _noted(self, sentence: str) -> str:
        """Add what the back end has to say about its start."""
        notes = self._backend.notes if isinstance(self._backend, Noting) else ''
        return f'{sentence}; {notes}' if notes else sentence

    def _enable(self, now: float) -> str:
        if self._machine.allows(Event.ENABLE) and not self._backend.homed:
            raise TransitionRefused('the strokes are not known to be absolute: home first')
        if self._measured is None:
            raise TransitionRefused('the drives have not been measured yet')
        self._change(Event.ENABLE, 'enabling asked for')
        self._enabling_since = now
        self._lags = False
        self._backend.enable()
        return 'switching the drives on; driver/state tells when they are'

    def _home(self) -> str:
        if self.state is not State.DISABLED:
            raise TransitionRefused(
                f'home is not possible while the driver is {self.state.name}: disable first'
            )
        return self._backend.home()

    def _take_tracking(self) -> None:
        records = self._block.tracking.pop_all()
        # A path that late cycles have thrown behind its schedule is followed as well as any, but
        # this error is that to the schedule. Each leg is compared with the path itself as ever.
        if self._interpolator.slipped > LONGEST_STEP * self._backend.cycle_time:
            return
        for record in records:
            trouble = self._supervisor.tracking(
                float(record['position']), float(record['rotation'])
            )
            # Where no path is played, setpoints are not followed, and far from them is no error.
            if trouble and self.state is State.ENABLED and not self._interpolator.at_rest:
                self._change(Event.TRIP, trouble)

    def _take_setpoints(self, now: float) -> None:
        for record in self._block.setpoints.pop_all():
            setpoint = Setpoint(
                float(record['stamp']), record['strokes'], record['rates'], record['forces']
            )
            if self.state is State.STOPPING:
                # Also once the legs are at rest: until they have settled nothing begins anew.
                verdict = self._interpolator.refuse(
                    Verdict.NOT_FOLLOWING, 'the legs are being stopped'
                )
            else:
                verdict = self._interpolator.offer(setpoint, now)
            if verdict is Verdict.ACCEPTED:
                self._last_accepted = now
            else:
                self._block.refusals.push(text=encode(self._interpolator.last_refusal))

    def _command(self, now: float) -> Command:
        command = self._interpolator.command(now)
        silence = self._settings.interpolation
        if command.starved:
            wait = 1e3 * (silence.playout_delay + silence.extrapolation_time)
            # The interpolator has begun to stop already.
            self._machine.handle(
                Event.STOP, f'no command in time while moving ({wait:g} ms waited)'
            )
            self._tell_state()
        elif command.moving and self.state is State.ENABLED:
            trouble = self._supervisor.silence(self._last_accepted, now)
            if trouble:
                self._change(Event.STOP, trouble)
        self._judge_punctuality(now)
        return command

    def _judge_punctuality(self, now: float) -> None:
        """Stop a path that too many missed cycles make coarse and late."""
        if self._interpolator.at_rest:
            self._punctuality.forget()
            return
        trouble = self._supervisor.punctuality(self._punctuality.missed(now))
        if trouble and self.state is State.ENABLED:
            self._change(Event.TRIP, trouble)

    def _exchange(self, command: Command, now: float) -> None:
        """Give the command to the drives if they follow, else their own strokes."""
        if not self._connected:
            return
        if self.state in FOLLOWING:
            targets = Targets(command.strokes, command.rates, command.forces)
        else:
            targets = Targets(self._strokes_now(), ZERO, ZERO)
        try:
            self._measured = self._backend.exchange(targets, now)
        except TransportError as error:
            self._connected = False
            self._change(Event.FAIL, str(error))
            return
        self._supervise(self._measured)
        self._commanded = command if self.state in FOLLOWING else None

    def _strokes_now(self) -> Array:
        return ZERO if self._measured is None else self._measured.strokes

    def _supervise(self, measured: Measurement) -> None:
        # Where no frame came back the measurement is an old one, and says nothing of the command.
        fresh, self._measured_at = measured.stamp > self._measured_at, measured.stamp
        trouble = str(measured.fault) if measured.fault else self._supervisor.measurement(measured)
        if trouble is None and self.state in FOLLOWING:
            if not measured.enabled:
                trouble = 'the drives have left operation by themselves'
            elif self._commanded is not None and fresh:
                trouble = self._supervisor.following(
                    self._commanded.strokes, self._commanded.rates, measured.strokes
                )
                self._lags = self._lags or trouble is not None
        if trouble is not None and self._machine.after_stop is not State.FAULT:
            self._change(Event.TRIP, trouble)

    def _settle(self, now: float) -> None:
        """Take the transitions that wait for the drives or for rest."""
        if self.state is State.ENABLING:
            waited = now - self._enabling_since
            if self._measured is not None and self._measured.enabled:
                self._change(Event.DRIVES_ON, 'all drives are on')
            elif waited > self._settings.supervision.enable_timeout:
                why = self._backend.why_not_on() if isinstance(self._backend, Explaining) else ''
                late = f'the drives are not on after {waited:.2f} s'
                self._change(Event.TRIP, f'{late}: {why}' if why else late)
        elif self.state is State.STOPPING and self._settled(now):
            self._change(Event.AT_REST, 'at rest')

    def _settled(self, now: float) -> bool:
        """
        Tell whether the command has been at rest for the settling time.

        Where a leg does not follow, nobody waits: it may be falling, and its brake has to hold it.

        """
        if not self._interpolator.at_rest:
            self._at_rest_since = None
            return False
        if self._at_rest_since is None:
            self._at_rest_since = now
        wait = 0.0 if self._lags else self._settings.supervision.settling_time
        return now - self._at_rest_since >= wait

    def _change(self, event: Event, reason: str) -> None:
        """Move the state machine, then make interpolator and drives agree with it."""
        before = self.state
        after = self._machine.handle(event, reason)
        self._tell_state()
        strengths = self._settings.interpolation
        if after is State.STOPPING:
            mild = event in {Event.STOP, Event.DISABLE}
            self._interpolator.stop(
                strengths.stop_strength if mild else strengths.quick_stop_strength
            )
        elif after is State.ENABLED and before is State.ENABLING:
            self._interpolator.hold(self._strokes_now())
        elif after in {State.DISABLED, State.FAULT} and before is not after:
            self._interpolator.release()
            self._switch_off()

    def _switch_off(self) -> None:
        try:
            self._backend.disable()
        except TransportError as error:
            self._connected = False
            if self.state is not State.FAULT:
                self._change(Event.FAIL, str(error))

    def _tell_state(self) -> None:
        """Tell every change, also those that last less than a cycle."""
        told = (self.state, self._backend.homed, self._machine.reason)
        if told == self._told:
            return
        self._told = told
        state, homed, reason = told
        self._block.events.push(stamp=self._now, state=state, homed=homed, reason=encode(reason))

    def _tell(self, command: Command) -> None:
        """Write to the block what the node shall know."""
        self._tell_state()
        words = self._block.words
        words['lost_setpoints'] = self._block.setpoints.lost
        words['slipped'] = self._interpolator.slipped
        words['largest_following_error'] = self._supervisor.largest_error
        for verdict, count in self._interpolator.counts.items():
            words['verdicts'][verdict] = count
        if self._wire is not None:
            self._wire.write_to(words)
        self._steps += 1
        measured = self._measured
        if measured is None or not self._connected or self._steps % self._settings.publish_every:
            return
        # The state may have changed since the exchange.
        follows = self._commanded is not None
        self._block.samples.push(
            stamp=measured.stamp,
            strokes=measured.strokes,
            rates=measured.rates,
            forces=UNKNOWN if measured.forces is None else measured.forces,
            commanded_strokes=command.strokes if follows else UNKNOWN,
            commanded_rates=command.rates if follows else UNKNOWN,
            true_strokes=UNKNOWN if measured.true_strokes is None else measured.true_strokes,
        )
