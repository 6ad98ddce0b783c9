# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six drives as one: what an operator may ask of them, what trips them, and how they are held."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from stewart_driver.backend import Backend, Measurement
from stewart_driver.control.configuration import CycleConfiguration
from stewart_driver.control.cycle_link import StateChange
from stewart_driver.control.state_machine import AT_REST, Event, Request, State, StateMachine
from stewart_driver.control.supervision import Supervisor
from stewart_driver.errors import (
    DriveFault,
    LegFault,
    StewartError,
    TransitionRefused,
    TransportError,
)
from stewart_driver.legs import Array, LEGS
from stewart_driver.path.interpolation import Interpolator
from stewart_driver.path.motion import LegMotion, NO_MOTION

# Members of an enumeration take their time to look up.
DISABLED, ENABLING, ENABLED = State.DISABLED, State.ENABLING, State.ENABLED
STOPPING, FAULT = State.STOPPING, State.FAULT
FOLLOWING = (ENABLED, STOPPING)
BITS = 1 << np.arange(LEGS)
SLOWEST = 0.01
# A leg that is this far from its command is not held there [m].
NOT_HELD = 1e-3
# Legs that move faster than this share of the rate limit are not switched on: where drives come on
# one after the other, a falling platform is caught tilted.
FASTEST_ENABLED = 0.25


class Operation:
    """State machine, interpolator, supervision and back end, which agree with each other.

    Args:
        tell: Takes every change of the state at once, also one that lasts less than a cycle.

    Attributes:
        measured: The newest measurement; None before the first.
        commanded: What the drives were told last; None while they do not follow.
        answered: Whether they have taken the command before, as far as they say.
        connected: Whether the transport works.
    """

    def __init__(
        self,
        backend: Backend,
        configuration: CycleConfiguration,
        machine: StateMachine,
        tell: Callable[[StateChange], object],
    ) -> None:
        self._backend, self._settings = backend, configuration
        self._machine, self._tell = machine, tell
        self._told: tuple[State, bool, str, float, bool, int, int, int] | None = None
        limits = configuration.limits
        self.interpolator = Interpolator(
            limits, configuration.interpolation, backend.cycle_time, backend.runs_on
        )
        self.supervisor = Supervisor(limits, configuration.supervision, backend.limits.rate)
        self.now = 0.0
        self.measured: Measurement | None = None
        self.commanded: LegMotion | None = None
        self.answered = self.connected = True
        self._enabling_since = 0.0
        self._override = False
        # While ENABLING: the drives move their legs home, and go off then.
        self._homing = False
        # In FAULT, and on the way back from it: drives hold the command.
        self._holding = False
        self._held_legs = 0
        self._off_wanted = False
        self._fault: LegFault | None = None
        # Why the drives may not have heard that they shall be off.
        self._disobeyed = ''
        self._at_rest_since: float | None = None

    @property
    def state(self) -> State:
        """Present state."""
        return self._machine.state

    def carry_out(self, request: Request, value: float) -> str:
        """Do what an operator asks for; say what, or raise a `DriverError`."""
        if request is Request.ENABLE:
            return self._enable()
        if request is Request.DISABLE:
            self.change(Event.DISABLE, 'disabling asked for')
            return self._come_of_disabling()
        if request is Request.HOME:
            return self._home()
        if request is Request.OVERRIDE:
            return self._switch_override(on=value != 0.0)
        if request is Request.SPEED_SCALING:
            if not SLOWEST <= value <= 1.0:
                expected = f'expected a number from {SLOWEST:g} to 1'
                raise TransitionRefused(f'speed_scaling: {expected}, got {value:g}')
            self.interpolator.clock.scaling = value
            return f'paths are played at {1e2 * value:.3g} % of their speed'
        return self._reset_fault()

    def _come_of_disabling(self) -> str:
        """Say what came of it; raise `TransitionRefused` where the drives may not have heard."""
        if unheard := self.unheard:
            raise TransitionRefused(unheard)
        if self.state is STOPPING:
            return 'coming to rest, then off'
        return 'off; the fault stays until it is reset' if self.state is FAULT else 'off'

    @property
    def unheard(self) -> str:
        """Which drives may not have heard that they shall stop and be off; empty if all have."""
        unheard = self._disobeyed or ('' if self.answered else 'no drive answers')
        # While legs come to rest one frame that is lost says nothing: off is yet to be told.
        if unheard and self.state is not STOPPING:
            return f'{unheard}: legs may still be under power, take the safe torque off'
        if self.measured is None or not self.measured.deaf:
            return ''
        deaf = np.flatnonzero(BITS & self.measured.deaf) + 1
        one = len(deaf) == 1
        which = f'leg {deaf[0]} does' if one else f'legs {", ".join(map(str, deaf))} do'
        held = 'it may hold by itself' if one else 'they may hold by themselves'
        return (
            f'{which} not hear the driver: {held} while the others go off; mend the cable or '
            'what the drive reports, or take the safe torque off'
        )

    def noted(self, sentence: str) -> str:
        """Add what the back end has to say about its start."""
        notes = self._backend.notes
        return f'{sentence}; {notes}' if notes else sentence

    def _enable(self) -> str:
        if self._machine.allows(Event.ENABLE) and not self._backend.homed:
            raise TransitionRefused('the strokes are not known to be absolute: home first')
        if self.measured is None:
            raise TransitionRefused('the drives have not been measured yet')
        self._require_inside(self.measured)
        self._require_slow(self.measured)
        self.change(Event.ENABLE, 'enabling asked for')
        self._switch_on()
        return 'switching the drives on; driver/state tells when they are'

    def _home(self) -> str:
        """Verify home, or let the drives find it: they come on, which is ENABLING, and go off."""
        if self._homing and self.state is ENABLING:
            return self._backend.home()
        if self._backend.homing:
            raise TransitionRefused('home is not possible while a leg still comes to rest')
        if self.state is not DISABLED:
            where = f'while the driver is {self.state.name}: disable first'
            raise TransitionRefused(f'home is not possible {where}')
        said = self._backend.home()
        # What was no stroke before may be one now, and far from it.
        self.supervisor.forget()
        if self._backend.homing:
            self.change(Event.ENABLE, said)
            self._homing = True
        return said

    def _finish_homing(self) -> None:
        """Go off, with home saved or a sentence on why it was not found."""
        try:
            said = self._backend.finish_homing()
        except TransportError as error:
            self.connected = False
            self.change(Event.FAIL, str(error))
            return
        except StewartError as error:
            said = str(error)
        self.supervisor.forget()
        self.change(Event.DISABLE, self.noted(said))

    def _reset_fault(self) -> str:
        if not self._machine.allows(Event.RESET_FAULT):
            self._machine.handle(Event.RESET_FAULT, '')
        measured = self.measured
        if measured is not None and measured.live and self.connected:
            # It would be a fault again in the next cycle.
            self._require_inside(measured)
        held = measured.live if measured is not None and self._holding else 0
        self._backend.reset_fault()
        self.connected = True
        self.supervisor.forget()
        if not held:
            self.change(Event.RESET_FAULT, self.noted('fault reset'))
            return self.noted('fault reset, the drives are off')
        self._held_legs = held
        self.change(Event.REVIVE, self.noted('fault reset'))
        self._switch_on()
        return self.noted('fault reset, all drives come on while those that are on hold')

    def _require_inside(self, measured: Measurement) -> None:
        """Raise `TransitionRefused` if a leg is outside its stroke, and no override is on."""
        outside = self.supervisor.outside(measured.strokes)
        if outside is not None:
            raise TransitionRefused(f'{outside}: switch the override on to get it back')

    def _require_slow(self, measured: Measurement) -> None:
        """Raise `TransitionRefused` if a leg moves too fast to be switched on."""
        leg = int(np.abs(measured.rates).argmax())
        rate, most = measured.rates[leg], FASTEST_ENABLED * self._settings.limits.rate
        if abs(rate) > most:
            raise TransitionRefused(
                f'leg {leg + 1} moves at {rate:.3f} m/s, allowed are {most:.3g} m/s: '
                'wait until the platform rests'
            )

    @property
    def _outside(self) -> bool:
        """Whether any leg is measured outside its stroke."""
        return bool(self._settings.limits.beyond(self._strokes).max() > 0.0)

    @property
    def _strokes(self) -> Array:
        return NO_MOTION if self.measured is None else self.measured.strokes

    def _switch_override(self, *, on: bool) -> str:
        if on and not self._outside:
            raise TransitionRefused('no leg is outside its stroke: there is nothing to override')
        self._override = on
        self.supervisor.widen(self._strokes if on else None)
        if not on:
            return 'legs are kept within their strokes'
        return 'legs outside their strokes may be enabled, and jogged inwards'

    def exchange(self, command: LegMotion) -> None:
        """Give the command to the drives if they follow, else their own strokes; supervise."""
        if not self.connected:
            return
        if self.state not in FOLLOWING and not self._holding:
            targets = LegMotion(self.now, self._backend.held(self._strokes), NO_MOTION)
        else:
            targets = command
        before = self.measured
        try:
            measured = self.measured = self._backend.exchange(targets, self.now)
        except TransportError as error:
            self.connected = self._holding = False
            self.change(Event.FAIL, str(error))
            return
        # Where no frame came back the measurement is an old one, and says nothing of the command.
        came_back = before is None or measured.stamp > before.stamp
        self.answered = came_back and not measured.late
        self._supervise(measured)
        self.commanded = command if self.state in FOLLOWING or self._holding else None

    def _supervise(self, measured: Measurement) -> None:
        supervisor, trouble, state = self.supervisor, None, self._machine.state
        if self._backend.homing:
            # Counts are no strokes yet, and change when home is found.
            supervisor.forget()
        else:
            powered = state is not DISABLED and not self._homing
            # Whatever the state: legs that no motor holds fall, and that is no lie of an encoder.
            powered = powered and (measured.enabled or measured.live != 0)
            trouble = supervisor.measurement(measured, powered=powered)
        if measured.fault:
            trouble = str(measured.fault)
        self._explain(measured.fault)
        if trouble is None and state in FOLLOWING:
            if not measured.enabled:
                trouble = 'the drives have left operation by themselves'
            elif self.commanded is not None and self.answered:
                trouble = supervisor.following(self.commanded, measured.strokes)
        lies = supervisor.lies and not (measured.fault or self._backend.holds_blindly)
        if lies and (self._holding or self.state not in AT_REST):
            # That leg cannot be held: its drive would pull it away from the others.
            self._backend.release()
        if (
            trouble is not None
            and self.state not in AT_REST
            and (lies or (measured.fault and not measured.live))
        ):
            # Legs without voltage cannot be stopped.
            self.change(Event.FAIL, trouble)
        elif trouble is not None and self._machine.after_stop is not FAULT:
            self.change(Event.TRIP, trouble)
        if lies and self._holding:
            self._switch_off()

    def _explain(self, fault: LegFault | None) -> None:
        """Let the reason have the code of a fault that its drive has told a little later."""
        before, self._fault = self._fault, fault
        if (
            fault is not before
            and isinstance(before, DriveFault)
            and isinstance(fault, DriveFault)
            and (fault.leg, 0) == (before.leg, before.code)
            and self._machine.reason == str(before)
        ):
            self._machine.reason = str(fault)

    def settle(self) -> None:
        """Take the transitions that wait for the drives or for rest."""
        state = self._machine.state
        if state is ENABLING and self._homing:
            if not self._backend.homing:
                self._finish_homing()
        elif state is ENABLING:
            if self._backend.starting:
                # A bus gives its drives a time of its own, and names who has not come.
                self._enabling_since = self.now
            waited = self.now - self._enabling_since
            if self.measured is not None and self.measured.enabled:
                self.change(Event.DRIVES_ON, 'all drives are on')
            elif waited > self._settings.supervision.enable_timeout:
                why = self._backend.why_not_on()
                late = f'the drives are not on after {waited:.2f} s'
                self.change(Event.TRIP, f'{late}: {why}' if why else late)
        elif state is STOPPING and self._settled():
            self.change(Event.AT_REST, 'at rest')
        elif self._override and state is ENABLED and not self._outside:
            self._switch_override(on=False)

    def _settled(self) -> bool:
        """Tell whether the command has been at rest for the settling time."""
        if not self.interpolator.at_rest:
            self._at_rest_since = None
            return False
        if self._at_rest_since is None:
            self._at_rest_since = self.now
        return self.now - self._at_rest_since >= self._settings.supervision.settling_time

    def change(self, event: Event, reason: str) -> None:
        """Move the state machine, then make interpolator and drives agree with it."""
        before = self.state
        after = self._machine.handle(event, reason)
        self._homing = self._homing and after is ENABLING
        if event in {Event.DISABLE, Event.QUICK_STOP, Event.ENABLE, Event.REVIVE}:
            self._off_wanted = event in {Event.DISABLE, Event.QUICK_STOP}
        self.tell_state()
        strengths = self._settings.interpolation
        if after is STOPPING:
            if before is not STOPPING:
                self._at_rest_since = None
            mild = event in {Event.STOP, Event.DISABLE}
            self.interpolator.stop(
                strengths.stop_strength if mild else strengths.quick_stop_strength
            )
        elif after is ENABLED and before is ENABLING:
            self._begin_holding()
        elif after is FAULT and event is Event.AT_REST and not self._off_wanted:
            # There may be no brakes: whatever drive can, holds its leg.
            self.interpolator.release()
            self._holding = True
        elif after in {DISABLED, FAULT} and before is not after:
            self.interpolator.release()
            if after is DISABLED or not self._holding:
                self._switch_off()
            else:
                # No motor may come on later by itself.
                self._backend.withdraw()
        elif after is FAULT and event in {Event.DISABLE, Event.QUICK_STOP}:
            self._switch_off()

    def _begin_holding(self) -> None:
        """Take over the legs where they are, and those that were held where they are held."""
        assert self.measured is not None
        measured, rates = self.measured.strokes, self.measured.rates
        strokes = self._backend.held(measured)
        if self._holding:
            # Some may have come to rest by themselves, elsewhere.
            near = np.abs(self.interpolator.held - measured) < NOT_HELD
            held = (BITS & self._held_legs != 0) & near
            strokes = np.where(held, self.interpolator.held, strokes)
            rates = np.where(held, 0.0, rates)
        # Commands from before the fault are void.
        self._holding, self.commanded = False, None
        self.interpolator.hold(strokes, rates)

    def _switch_on(self) -> None:
        self._enabling_since = self.now
        try:
            self._backend.enable()
        except StewartError as error:
            # What is only refused is still there, and goes on being measured.
            self.connected = not isinstance(error, TransportError)
            self.change(Event.FAIL, str(error))
            raise

    def _switch_off(self) -> None:
        self._holding, self._disobeyed = False, ''
        try:
            self._backend.disable()
        except TransportError as error:
            self.connected, self._disobeyed = False, str(error)
            if self.state is not FAULT:
                self.change(Event.FAIL, str(error))

    def tell_state(self) -> None:
        """Tell the state if anything of it has changed."""
        seen = self.measured
        live, braked, sto = (0, 0, 0) if seen is None else (seen.live, seen.braked, seen.sto)
        scaling, override = self.interpolator.clock.scaling, self._override
        homed, reason = self._backend.homed, self._machine.reason
        told = (self.state, homed, reason, scaling, override, live, braked, sto)
        if told != self._told:
            self._told = told
            self._tell(StateChange(self.now, *told))
