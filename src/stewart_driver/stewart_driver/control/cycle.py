# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""One cycle after the other: commands in, drives, measurements out, and the state between.

The loop reads no clock and starts nothing, so it runs in a test as it runs in its process.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from stewart_driver.backend import Backend, Measurement, Targets
from stewart_driver.control.block_writer import BlockWriter
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.request import Request
from stewart_driver.control.shared_block import SharedBlock
from stewart_driver.control.state_machine import Event, State, StateMachine
from stewart_driver.control.supervision import OverrunRate, Supervisor
from stewart_driver.errors import DriverError, TransitionRefused, TransportError
from stewart_driver.legs import Array, LEGS
from stewart_driver.path.interpolation import Interpolator
from stewart_driver.path.motion import LegMotion, NO_MOTION, Verdict

FOLLOWING = (State.ENABLED, State.STOPPING)
BITS = 1 << np.arange(LEGS)
# A path that is so many cycles behind its schedule is not judged by the schedule.
FAR_BEHIND = 3
SLOWEST = 0.01


class ControlLoop:
    """State machine, interpolator, supervision and back end, joined.

    Args:
        backend: Opened before the first step, closed by the caller after the last.
        configuration: Limits and settings.
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
        """Start disabled."""
        self._backend, self._block = backend, block
        self._settings = configuration
        self._machine = StateMachine()
        self._machine.reason = '; '.join((self._noted('started'), *notes))
        self._writer = BlockWriter(block, backend, self._machine, configuration.publish_every)
        for note in notes:
            self._writer.note(note)
        self._interpolator = Interpolator(
            configuration.limits, configuration.interpolation, backend.cycle_time
        )
        self._supervisor = Supervisor(configuration.limits, configuration.supervision)
        self._overruns = OverrunRate(backend.cycle_time)
        self._measured: Measurement | None = None
        self._commanded: LegMotion | None = None
        self._answered = True
        self._last_accepted = -np.inf
        self._enabling_since = 0.0
        self._connected = True
        self._override = False
        # While ENABLING: the drives move their legs home, and go off then.
        self._homing = False
        # In FAULT, and on the way back from it: drives hold the command.
        self._holding = False
        self._held_legs = 0
        self._off_wanted = False
        self._lost_setpoints = 0
        self._verdicts = block.words['verdicts']
        self._now = 0.0
        self._at_rest_since: float | None = None

    @property
    def state(self) -> State:
        """Present state."""
        return self._machine.state

    def step(self, now: float) -> None:
        """Run one cycle.

        Args:
            now: Instant of the cycle on the steady clock [s].
        """
        self._now = now
        self.serve()
        self._take_tracking()
        self._take_jogs()
        self._take_setpoints(now)
        command = self._command(now)
        self._exchange(command, now)
        self._settle(now)
        self._tell(command)

    def serve(self) -> None:
        """Take quick stops and requests as of the last cycle's instant."""
        words = self._block.words
        if (asked := words['quick_stops']) != words['quick_stops_seen']:
            self.quick_stop('quick stop asked for')
            words['quick_stops_seen'] = asked
        self._take_requests(self._now)

    def quick_stop(self, reason: str) -> None:
        """Bring all legs to rest as hard as allowed and switch the drives off."""
        self._change(Event.QUICK_STOP, reason)

    def disable(self, reason: str) -> None:
        """Bring all legs to rest and switch the drives off, if they are on."""
        if self._machine.allows(Event.DISABLE):
            self._change(Event.DISABLE, reason)

    def _take_requests(self, now: float) -> None:
        for record in self._block.requests.pop_all():
            number = record['number']
            try:
                request = Request(record['code'])
                message = self._carry_out(request, record['value'], now)
            except DriverError as error:
                self._writer.reply(number, str(error), accepted=False)
            else:
                self._writer.reply(number, message, accepted=True)

    def _carry_out(self, request: Request, value: float, now: float) -> str:
        if request is Request.ENABLE:
            return self._enable(now)
        if request is Request.DISABLE:
            self._change(Event.DISABLE, 'disabling asked for')
            if self.state is State.FAULT:
                return 'off; the fault stays until it is reset'
            return 'coming to rest, then off' if self.state is State.STOPPING else 'off'
        if request is Request.HOME:
            return self._home()
        if request is Request.OVERRIDE:
            return self._switch_override(on=value != 0.0)
        if request is Request.SPEED_SCALING:
            return self._scale_speed(value)
        return self._reset_fault(now)

    def _noted(self, sentence: str) -> str:
        """Add what the back end has to say about its start."""
        notes = self._backend.notes
        return f'{sentence}; {notes}' if notes else sentence

    def _enable(self, now: float) -> str:
        if self._machine.allows(Event.ENABLE) and not self._backend.homed:
            raise TransitionRefused('the strokes are not known to be absolute: home first')
        if self._measured is None:
            raise TransitionRefused('the drives have not been measured yet')
        self._require_inside(self._measured)
        self._change(Event.ENABLE, 'enabling asked for')
        self._enabling_since = now
        self._backend.enable()
        return 'switching the drives on; driver/state tells when they are'

    def _home(self) -> str:
        """Verify home, or let the drives find it: they come on, which is ENABLING, and go off."""
        if self._homing and self.state is State.ENABLING:
            return self._backend.home()
        if self._backend.homing:
            raise TransitionRefused('home is not possible while a leg still comes to rest')
        if self.state is not State.DISABLED:
            where = f'while the driver is {self.state.name}: disable first'
            raise TransitionRefused(f'home is not possible {where}')
        said = self._backend.home()
        # What was no stroke before may be one now, and far from it.
        self._supervisor.forget()
        if self._backend.homing:
            self._change(Event.ENABLE, said)
            self._homing = True
        return said

    def _finish_homing(self) -> None:
        """Go off, with home saved or a sentence on why it was not found."""
        try:
            said = self._backend.finish_homing()
        except TransportError as error:
            self._connected = False
            self._change(Event.FAIL, str(error))
            return
        except DriverError as error:
            said = str(error)
        self._supervisor.forget()
        self._change(Event.DISABLE, self._noted(said))

    def _reset_fault(self, now: float) -> str:
        if not self._machine.allows(Event.RESET_FAULT):
            self._machine.handle(Event.RESET_FAULT, '')
        measured = self._measured
        if measured is not None and measured.live and self._connected:
            # It would be a fault again in the next cycle.
            self._require_inside(measured)
        held = measured.live if measured is not None and self._holding else 0
        self._backend.reset_fault()
        self._connected = True
        self._supervisor.forget()
        if not held:
            self._change(Event.RESET_FAULT, self._noted('fault reset'))
            return self._noted('fault reset, the drives are off')
        self._held_legs = held
        self._change(Event.REVIVE, self._noted('fault reset'))
        self._enabling_since = now
        self._backend.enable()
        return self._noted('fault reset, all drives come on while those that are on hold')

    def _require_inside(self, measured: Measurement) -> None:
        """Raise `TransitionRefused` if a leg is outside its stroke, and no override is on."""
        outside = self._supervisor.outside(measured.strokes)
        if outside is not None:
            raise TransitionRefused(f'{outside}: switch the override on to get it back')

    @property
    def _outside(self) -> bool:
        """Whether any leg is measured outside its stroke."""
        return bool(self._settings.limits.beyond(self._strokes_now()).max() > 0.0)

    def _switch_override(self, *, on: bool) -> str:
        strokes = self._strokes_now()
        if on and not self._outside:
            raise TransitionRefused('no leg is outside its stroke: there is nothing to override')
        self._override = on
        self._supervisor.widen(strokes if on else None)
        if not on:
            return 'legs are kept within their strokes'
        return 'legs outside their strokes may be enabled, and jogged inwards'

    def _scale_speed(self, scaling: float) -> str:
        if not SLOWEST <= scaling <= 1.0:
            raise TransitionRefused(f'paths are played at {SLOWEST:g} to 1 times their speed')
        self._interpolator.scaling = scaling
        return f'paths are played at {1e2 * scaling:.3g} % of their speed'

    def _take_tracking(self) -> None:
        records = self._block.tracking.pop_all()
        # A path that is late or slow is followed as well as any, but this error is that to the
        # schedule. Each leg is compared with the path itself as ever.
        if self._interpolator.slipped > FAR_BEHIND * self._backend.cycle_time:
            return
        for record in records:
            trouble = self._supervisor.tracking(record['position'], record['rotation'])
            # Where no path is played, setpoints are not followed, and far from them is no error.
            if trouble and self.state is State.ENABLED and self._interpolator.playing:
                self._change(Event.TRIP, trouble)

    def _take_jogs(self) -> None:
        for record in self._block.jogs.pop_all():
            why = f'legs are not jogged while the driver is {self.state.name}'
            if self.state is State.ENABLED:
                why = self._interpolator.jog(record['rates'], record['stamp'])
            if why:
                self._writer.refuse(why)

    def _take_setpoints(self, now: float) -> None:
        ring, interpolator = self._block.setpoints, self._interpolator
        for record in ring.pop_all():
            forces = record['forces']
            forces = forces if any(forces.tolist()) else NO_MOTION
            setpoint = LegMotion(record['stamp'], record['strokes'], record['rates'], forces)
            if self.state is State.STOPPING:
                # Also once the legs are at rest: until they have settled nothing begins anew.
                verdict = interpolator.refuse(Verdict.NOT_FOLLOWING, 'the legs are being stopped')
            else:
                verdict = interpolator.offer(setpoint, now)
            self._verdicts[verdict] = interpolator.counts[verdict]
            if verdict is Verdict.ACCEPTED:
                self._last_accepted = now
            else:
                self._writer.refuse(interpolator.last_refusal)
        if ring.lost != self._lost_setpoints:
            lost = ring.lost - self._lost_setpoints
            self._block.words['lost_setpoints'] = self._lost_setpoints = ring.lost
            if interpolator.playing and self.state is State.ENABLED:
                self._change(Event.STOP, f'{lost} setpoints were lost: the loop came too late')
        if interpolator.contradiction and self.state is State.ENABLED and interpolator.playing:
            self._change(Event.TRIP, interpolator.contradiction)

    def _command(self, now: float) -> LegMotion:
        interpolator = self._interpolator
        command = interpolator.command(now, answered=self._answered)
        if interpolator.trouble:
            # The interpolator has begun to stop already.
            self._change(Event.STOP, interpolator.trouble)
        elif interpolator.playing and self.state is State.ENABLED:
            # What is played late was commanded in time.
            on_time = now - max(interpolator.slipped, 0.0)
            trouble = self._supervisor.silence(self._last_accepted, on_time)
            if trouble and interpolator.moving:
                self._change(Event.STOP, trouble)
            # A path that too many missed cycles make late.
            trouble = self._supervisor.overruns(self._overruns.missed(now))
            if trouble:
                self._change(Event.TRIP, trouble)
        else:
            self._overruns.forget()
        return command

    def _exchange(self, command: LegMotion, now: float) -> None:
        """Give the command to the drives if they follow, else their own strokes."""
        if not self._connected:
            return
        follows = self.state in FOLLOWING
        if follows or self._holding:
            targets = Targets(command.strokes, command.rates, command.forces)
        else:
            targets = Targets(self._strokes_now(), NO_MOTION, NO_MOTION)
        before = self._measured
        try:
            measured = self._measured = self._backend.exchange(targets, now)
        except TransportError as error:
            self._connected = self._holding = False
            self._change(Event.FAIL, str(error))
            return
        # Where no frame came back the measurement is an old one, and says nothing of the command.
        self._answered = before is None or measured.stamp > before.stamp
        self._supervise(measured)
        self._commanded = command if self.state in FOLLOWING or self._holding else None

    def _strokes_now(self) -> Array:
        return NO_MOTION if self._measured is None else self._measured.strokes

    def _supervise(self, measured: Measurement) -> None:
        trouble = None
        if self._backend.homing:
            # Counts are no strokes yet, and change when home is found.
            self._supervisor.forget()
        else:
            powered = self.state is not State.DISABLED and not self._homing
            trouble = self._supervisor.measurement(measured, powered=powered)
        if measured.fault:
            trouble = str(measured.fault)
        if trouble is None and self.state in FOLLOWING:
            if not measured.enabled:
                trouble = 'the drives have left operation by themselves'
            elif self._commanded is not None and self._answered:
                trouble = self._supervisor.following(self._commanded, measured.strokes)
        if trouble is not None and self._machine.after_stop is not State.FAULT:
            self._change(Event.TRIP, trouble)
        if self._supervisor.lies and not measured.fault:
            # A leg whose encoder lies can't be held, and its back end does not know of it: the
            # voltage goes once the others are at rest.
            self._off_wanted = True
            if self.state is State.FAULT and self._holding:
                self._switch_off()

    def _settle(self, now: float) -> None:
        """Take the transitions that wait for the drives or for rest."""
        if self.state is State.ENABLING and self._homing:
            if not self._backend.homing:
                self._finish_homing()
        elif self.state is State.ENABLING:
            waited = now - self._enabling_since
            if self._measured is not None and self._measured.enabled:
                self._change(Event.DRIVES_ON, 'all drives are on')
            elif waited > self._settings.supervision.enable_timeout:
                why = self._backend.why_not_on()
                late = f'the drives are not on after {waited:.2f} s'
                self._change(Event.TRIP, f'{late}: {why}' if why else late)
        elif self.state is State.STOPPING and self._settled(now):
            self._change(Event.AT_REST, 'at rest')
        elif self._override and self.state is State.ENABLED and not self._outside:
            self._switch_override(on=False)

    def _settled(self, now: float) -> bool:
        """Tell whether the command has been at rest for the settling time."""
        if not self._interpolator.at_rest:
            self._at_rest_since = None
            return False
        if self._at_rest_since is None:
            self._at_rest_since = now
        return now - self._at_rest_since >= self._settings.supervision.settling_time

    def _change(self, event: Event, reason: str) -> None:
        """Move the state machine, then make interpolator and drives agree with it."""
        before = self.state
        after = self._machine.handle(event, reason)
        self._homing = self._homing and after is State.ENABLING
        if event in {Event.DISABLE, Event.QUICK_STOP, Event.ENABLE, Event.REVIVE}:
            self._off_wanted = event in {Event.DISABLE, Event.QUICK_STOP}
        self._tell_state()
        strengths = self._settings.interpolation
        if after is State.STOPPING:
            if before is not State.STOPPING:
                self._at_rest_since = None
            mild = event in {Event.STOP, Event.DISABLE}
            self._interpolator.stop(
                strengths.stop_strength if mild else strengths.quick_stop_strength
            )
        elif after is State.ENABLED and before is State.ENABLING:
            self._begin_holding()
        elif after is State.FAULT and event is Event.AT_REST and not self._off_wanted:
            # There may be no brakes: whatever drive can, holds its leg.
            self._interpolator.release()
            self._holding = True
        elif after in {State.DISABLED, State.FAULT} and before is not after:
            self._interpolator.release()
            if after is State.DISABLED or not self._holding:
                self._switch_off()
        elif after is State.FAULT and event is Event.DISABLE:
            self._switch_off()

    def _begin_holding(self) -> None:
        """Take over the legs where they are, and those that were held where they are held."""
        assert self._measured is not None
        strokes, rates = self._measured.strokes, self._measured.rates
        if self._holding:
            held = BITS & self._held_legs != 0
            strokes = np.where(held, self._interpolator.held, strokes)
            rates = np.where(held, 0.0, rates)
        # What a leg was told before it fell is no command any more.
        self._holding, self._commanded = False, None
        self._interpolator.hold(strokes, rates)

    def _switch_off(self) -> None:
        self._holding = False
        try:
            self._backend.disable()
        except TransportError as error:
            self._connected = False
            if self.state is not State.FAULT:
                self._change(Event.FAIL, str(error))

    def _tell_state(self) -> None:
        scaling = self._interpolator.scaling
        self._writer.state(self._now, self._measured, scaling, override=self._override)

    def _tell(self, command: LegMotion) -> None:
        """Write to the block what the node shall know."""
        self._tell_state()
        self._writer.counters(self._interpolator.slipped, self._supervisor.largest_error)
        if self._measured is not None and self._connected:
            # The state may have changed since the exchange.
            follows = self._commanded is not None
            self._writer.sample(self._measured, command if follows else None)
