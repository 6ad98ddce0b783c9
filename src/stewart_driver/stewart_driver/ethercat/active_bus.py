# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Six drives in OP, cycle by cycle, from one start of the bus to its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from math import ceil

import numpy as np
from stewart_driver.backend import Measurement, never
from stewart_driver.errors import DriveFault, DriverError, LegFault, TransportError
from stewart_driver.ethercat.bus_monitor import BusMonitor
from stewart_driver.ethercat.drive_group import (
    bits,
    DriveGroup,
    FRAMES_OF_AN_EDGE,
    TIME_OF_AN_EDGE,
)
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.ending import end, longest_ramp
from stewart_driver.ethercat.errors import AL_STATE, OP, SAFEOP
from stewart_driver.ethercat.fault_codes import FaultCodes
from stewart_driver.ethercat.hand_over import HandOver
from stewart_driver.ethercat.homing import HomingMotion, IN_PLACE
from stewart_driver.ethercat.leg_motion import MeasuredLegs, StuckLegs, Targets
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.phase_lock import PhaseLock
from stewart_driver.ethercat.process_data import CYCLIC_POSITION, Inputs
from stewart_driver.ethercat.starting import leave_op, pace, Resumption, StartedBus
from stewart_driver.ethercat.wires import Wire
from stewart_driver.legs import LEGS
from stewart_driver.path.motion import LegMotion

# Power stages take their time to come back [s].
RESET_TIMEOUT = 2.0
# A fault that has not come back within this time after its reset is gone.
RESET_PROOF = 0.1
# So long is waited for the code of a fault, which an operator is told then [s].
LONGEST_ANSWER = 0.5
# A lost drive misses a few frames, or as many as it is known to bear, and ramps down, before it
# takes its voltage away; one that has pulled its leg by a wrong encoder rests meanwhile [s].
LOST_RAMP = 0.02
INTERRUPTED = 'a quick stop was asked for before the fault was reset'
# A frame is sent with this share of the time to SYNC0 gone at most: it has a way to go.
IN_TIME = 0.8


class ActiveBus:
    """The drives of a started bus, cycle by cycle.

    A drive that does not follow has its actual position as its target, in every frame, but for the
    first frames of a quick stop. Drives that have come on follow once it is certain that they act
    on their targets: first to rest, from where their legs are and as fast as these move, then
    whatever the cycle commands.

    Args:
        wire: In SAFEOP, and in OP before.

    Attributes:
        group: States and controlwords.
        legs: What the drives have measured.
        kind: What they are.
        identities: Who the drives are, legs 1 to 6.
        homing: The last homing motion.
    """

    def __init__(
        self,
        wire: Wire,
        started: StartedBus,
        kind: DriveType,
        options: EthercatOptions,
        monitor: BusMonitor,
        phase: PhaseLock,
    ) -> None:
        self._wire, self._layouts, self.kind = wire, started.layouts, kind
        self._options, self._monitor, self._phase = options, monitor, phase
        self._drives, self.identities = started.drives, started.identities
        self._codes = FaultCodes(wire, started.drives)
        self._holds_alone, self._silences = started.holds_alone, started.silences
        monitor.codes = list(started.codes)
        self.homing: HomingMotion | None = None
        # Holding, but for the leg that homes; then whether all go off when it is at rest.
        self._held = self._off_wanted = False
        limits, cycle = kind.limits, options.cycle_time
        ramp_frames = ceil(longest_ramp(kind, limits.rate) / cycle)
        edge_frames = max(FRAMES_OF_AN_EDGE, ceil(TIME_OF_AN_EDGE / cycle))
        self.group = DriveGroup(LEGS, ramp_frames, ceil(kind.brake_apply / cycle), edge_frames)
        self._stuck = StuckLegs()
        self._leg_fault: LegFault | None = None
        self._last = wire.now()
        # Strokes that are not absolute begin where the legs stand.
        self.legs = MeasuredLegs(
            kind.gear, started.zeros, options.rate_bandwidth, self._read(), self._last
        )
        self._targets, self._torques = Targets(self.legs.strokes, limits, cycle), [0] * LEGS
        self._hand_over, self._lost_frames = HandOver(kind, cycle), 0
        # Whether the cycle commands; else those that follow hold, or come to rest.
        self._commanded = False
        # None once the drives are in OP at the pace of the cycle.
        self._resumption: Resumption | None = Resumption(wire, kind, phase)
        self._resumed_in = 0

    @property
    def recoverable(self) -> bool:
        """Whether no drive has lost its settings; costs a frame."""
        return all(item.state & AL_STATE in {SAFEOP, OP} for item in self._wire.statuses())

    @property
    def silent(self) -> bool:
        """Whether no drive answers; costs a frame."""
        return not any(item.state for item in self._wire.statuses())

    @property
    def intact(self) -> bool:
        """Whether all drives still take part; costs a frame."""
        # A drive that has failed to home may be in another mode still.
        lost = self._monitor.missing or self.is_homing or (self.homing and self.homing.fault)
        if lost or self._operational:
            return not lost
        # Still on its way to OP, which may take a drive seconds.
        return self._resumption is not None and self.recoverable

    @property
    def resuming(self) -> bool:
        """Whether the drives are on their way to OP at the pace of the cycle."""
        return self._resumption is not None

    @property
    def is_homing(self) -> bool:
        """Whether drives move their legs home by themselves, or are about to."""
        return self.homing is not None and not self.homing.over

    @property
    def _operational(self) -> bool:
        return all(item.state == OP for item in self._wire.statuses())

    @property
    def live(self) -> bool:
        """Whether any motor is under voltage."""
        return any(self.live_legs)

    @property
    def held(self) -> bool:
        """Whether any drive that answers has its motor under voltage."""
        return any(on and self._monitor.answers(leg) for leg, on in enumerate(self.group.live, 1))

    @property
    def live_legs(self) -> list[bool]:
        """Whether each motor is under voltage, as those that hold alone behind a pulled cable."""
        gone = self._monitor.restarted | (set() if self._holds_alone else self._monitor.mute)
        return [live and leg not in gone for leg, live in enumerate(self.group.live, 1)]

    def enable(self) -> None:
        """Begin to switch on all drives that do not follow; those that do hold."""
        self._hold()
        self.group.enable()

    def withdraw(self) -> None:
        """Switch no drive on any more: those that follow, or can hold their legs alone, hold.

        A leg that has no voltage then takes it from all others that have no brakes.
        """
        self._hold()
        self.group.withdraw()

    def disable(self) -> None:
        """Begin to switch all drives off; a leg that homes comes to rest before."""
        if self.homing is not None:
            self.homing.halt('the drives are switched off')
        if self.is_homing and self.group.complete:
            self._off_wanted = True
            return
        self._hold()
        self.group.disable()

    def release(self) -> None:
        """Switch all drives off; without brakes in the same frame, whatever their ramps take."""
        self.disable()
        if not self.kind.brake_apply:
            self.group.release(ceil(LOST_RAMP / self._options.cycle_time))

    def home(self) -> HomingMotion:
        """Begin to home all legs as the drives were told at the start; they are off."""
        kind, plan, limits = self.kind, self.kind.homing, self.kind.limits
        assert plan is not None
        self.homing = HomingMotion(
            plan,
            self._drives,
            [layout.outputs.takes_mode for layout in self._layouts],
            kind.gear,
            float((limits.stroke_upper - limits.stroke_lower).max()),
            self._options.cycle_time,
            self._wire.now(),
            self._wire.beside,
            in_place=self._options.homing_method in IN_PLACE,
        )
        return self.homing

    def _hold(self) -> None:
        """Let drives that follow hold; end commanding and homing."""
        self._commanded = self._held = self._off_wanted = False
        self._hand_over.restart()

    def exchange(self, targets: LegMotion, now: float) -> Measurement:
        """Send the targets, read the drives, and look for what is wrong."""
        if (early := now - self._wire.now()) > 0.0:
            # In stepped time the cycle may lie ahead of the wire.
            self._wire.sleep(early)
        elapsed, self._last = now - self._last, now
        fault: LegFault | None = None
        cycle = self._options.cycle_time
        # Such a frame shares its SYNC0 with the next one: it repeats what the drives have.
        late = self.kind.clocks and self._phase.misses(
            self._wire.now() - now, IN_TIME * self._options.sync_shift * cycle
        )
        if self._commanded:
            fault = self._targets.take(targets.strokes, elapsed, late=late)
            if not late:
                self._torques = self.kind.gear.torques(targets.forces)
        elif not late and (strokes := self._hand_over.targets()) is not None:
            self._targets.strokes = strokes
        if self._frame(now):
            if self._commanded:
                self._look_for_stuck()
            elif not self._held:
                self._take_over()
            self._go_home(now)
        if self._resumption is None:
            found = self._monitor.look(now, self.legs.inputs, self.group)
            if found and (code := self._codes.of(found)):
                found = self._monitor.explain(found.leg, code, self.legs.inputs)
            fault = found or self._leg_fault or fault
        else:
            self._resume(self._resumption)
        for leg in self._monitor.missing:
            self.group.lose(leg - 1)
        live = self.live_legs
        self._let_go(live)
        return Measurement(
            stamp=self.legs.stamp,
            strokes=self.legs.strokes,
            rates=self.legs.rates,
            forces=self.legs.forces,
            enabled=self._commanded and self.group.complete,
            fault=fault,
            live=bits(live),
            braked=bits(self.kind.brake_release > 0.0 and not on for on in live),
            sto=bits(self.kind.torque_off(item) for item in self.legs.inputs),
            late=late,
            deaf=bits(on and not self._monitor.hears(leg) for leg, on in enumerate(live, 1)),
        )

    def _let_go(self, live: list[bool]) -> None:
        """Take the voltage from all legs if one gives way: the others would tilt the platform."""
        missing = self._monitor.missing
        self._lost_frames = self._lost_frames + 1 if missing else 0
        if self.kind.brake_apply:
            return
        since = self._lost_frames * self._options.cycle_time
        if self.group.lacks(
            on or (leg in missing and since < self._holds_for(leg))
            for leg, on in enumerate(live, 1)
        ):
            self._drop(0)

    def _holds_for(self, leg: int) -> float:
        """Return for how long a lost drive goes on holding its leg [s]."""
        silent = self._silences[leg - 1] if leg in self._monitor.mute else 0.0
        return max(LOST_RAMP, silent)

    def _drop(self, axis: int) -> None:
        """Take the voltage from drive 0 to 5; from all where no brake has its leg then."""
        for each in (axis,) if self.kind.brake_apply else range(LEGS):
            self.group.drop(each)

    def _go_home(self, now: float) -> None:
        """Give the homing motion this frame, and take over the legs that it has left."""
        homing, group, legs = self.homing, self.group, self.legs
        if homing is None or homing.over:
            return
        powered = homing.powered
        homing.advance(now, legs.inputs, legs.rates, holding=self._held and group.complete)
        if homing.powered and not (powered or homing.over):
            self.enable()
        if group.homing is not None and homing.axis != group.homing:
            self._adopt(group.homing)
        group.homing, group.homing_bits = homing.axis, int(homing.bits)
        if homing.over:
            group.homing = None
            self._leg_fault = self._leg_fault or homing.fault
            if self._off_wanted or homing.fault:
                self._hold()
                group.disable()

    def _adopt(self, axis: int) -> None:
        """Let a leg that has homed have its target where it is.

        Home is another count than the same place was before.
        """
        moved = np.arange(LEGS) == axis
        self._targets.strokes = np.where(moved, self.legs.strokes, self._targets.strokes)

    def _resume(self, resumption: Resumption) -> None:
        """Bring the drives to OP; the monitor finds those that are not there in time."""
        self._resumed_in += 1
        late = self._resumed_in * self._options.cycle_time > self._options.start_timeout
        if resumption.reached(self._resumed_in) or late:
            self._resumption = None
            self._monitor.forget()
            if late and resumption.refusals and not self._operational:
                leg, refusal = next(iter(resumption.refusals.items()))
                self._leg_fault = LegFault(leg, f'its drive does not reach OP: {refusal}')

    def reset(self, interrupted: Callable[[], bool] = never) -> None:
        """Acknowledge the faults of all drives; those that follow hold meanwhile.

        Args:
            interrupted: Tells whether that shall end at once.

        Raises:
            DriverError: If a drive stays in its fault, or is soon in one again, or it was
                interrupted.
        """
        self._hold()
        self._monitor.forget()
        self._leg_fault, self.homing = None, None
        self._recover(interrupted)
        self.group.reset()
        try:
            self._prove_reset(interrupted)
        except DriverError:
            # Else acknowledging would go on, and a fault would end that nobody has looked at.
            if self.live:
                self.withdraw()
            else:
                self.group.disable()
            raise
        if not self.live:
            self.group.disable()

    def _prove_reset(self, interrupted: Callable[[], bool]) -> None:
        """Go on acknowledging until no fault has come back for a while; raises `DriverError`.

        A drive that held its leg and fails meanwhile ends it at once: it may not come on again.
        Every slave has to take part again, terminals beside the drives as well.
        """
        group = self.group
        held = {leg for leg, on in enumerate(group.live, 1) if on}.difference(group.faulty)
        gone_at: float | None = None
        last = 1
        limit = self._wire.now() + RESET_TIMEOUT + RESET_PROOF
        for _ in pace(self._wire, self._options.cycle_time, limit, self._phase):
            now = self._wire.now()
            self._frame(now)
            self._last = now
            self._let_go(self.live_legs)
            if interrupted():
                raise DriverError(INTERRUPTED)
            last = (group.faulty or [last])[0]
            if not held.isdisjoint(group.faulty):
                break
            if group.faulty:
                gone_at = None
            elif gone_at is None:
                gone_at = now
                self._monitor.forget()
            elif fault := self._monitor.look(now, self.legs.inputs, group):
                raise DriverError(f'the fault cannot be reset: {fault}')
            elif now - gone_at >= RESET_PROOF and self._monitor.complete:
                return
        fault = self._monitor.drive_fault(last, self.legs.inputs)
        if gone_at is not None and not self._monitor.complete:
            fault = self._monitor.incompleteness
        elif isinstance(fault, DriveFault) and not fault.code and held.isdisjoint(group.faulty):
            self._monitor.codes[last - 1] = self._ask_code(last, interrupted)
            fault = self._monitor.drive_fault(last, self.legs.inputs)
        raise DriverError(f'the fault cannot be reset: {fault}')

    def _ask_code(self, leg: int, interrupted: Callable[[], bool]) -> int:
        """Return a drive's 603Fh, while the frames go on; 0 if it does not tell it in time."""
        asked = self._codes.ask(leg)
        limit = self._wire.now() + LONGEST_ANSWER
        for _ in pace(self._wire, self._options.cycle_time, limit, self._phase):
            self._last = self._wire.now()
            self._frame(self._last)
            self._let_go(self.live_legs)
            if interrupted():
                break
            try:
                next(asked)
            except StopIteration as answer:
                return int(answer.value)
        return 0

    def _recover(self, interrupted: Callable[[], bool] = never) -> None:
        """Bring drives to OP again that have left it, while the others go on."""
        self._resumption = None
        states = enumerate(self._wire.statuses(), 1)
        lost = [leg for leg, item in states if item.state != OP]
        if not lost:
            return
        # Where none is in OP the frames have to be brought to their place in the cycle first.
        beside_others = len(lost) < LEGS
        for leg in lost if beside_others else ():
            self._wire.recover(leg)
        # A clock that has run free for seconds takes its time to lock: those are asked again.
        op = Resumption(self._wire, self.kind, self._phase, asked=beside_others)
        patience = RESET_TIMEOUT if beside_others else self._options.start_timeout
        limit = self._wire.now() + patience
        for count in pace(self._wire, self._options.cycle_time, limit, self._phase):
            self._frame(self._wire.now())
            self._let_go(self.live_legs)
            if interrupted():
                raise DriverError(INTERRUPTED)
            if op.reached(count):
                break
        op.check()
        self._monitor.forget()

    def close(self) -> None:
        """Let the drives ramp down, take the voltage off all motors and end the bus."""
        self._hold()
        if self.group.homing is not None:
            self._adopt(self.group.homing)
            self.group.homing = None
        if self.live and self.recoverable and not self._operational:
            # Only in OP a drive lets go of what it holds by itself.
            with suppress(TransportError):
                self._recover()
        try:
            end(self)
            cycle, now = self._options.cycle_time, self.now
            leave_op(self._wire, cycle, self._phase, lambda: self._frame(now(), counted=False))
        finally:
            self._wire.close()

    def now(self) -> float:
        """Return the present instant of the wire [s]."""
        return self._wire.now()

    def frames(self, limit: float) -> Iterator[tuple[float, bool]]:
        """Exchange one frame per cycle until an instant [s]; yield when, and if it came back."""
        for _ in pace(self._wire, self._options.cycle_time, limit, self._phase):
            now = self.now()
            yield now, self._frame(now, counted=False)

    def _take_over(self) -> None:
        """Let the cycle command, or the leg that homes move, once all are handed over."""
        self._hand_over.look(self.group, self.legs, self._targets.strokes)
        if self._hand_over.done:
            self._held = self.is_homing
            self._targets.restart()
            self._commanded = not self._held
            self._stuck.forget()

    def _look_for_stuck(self) -> None:
        """Take the power from a leg that stands while its target moves: it may run away."""
        if self._monitor.short:
            # What a drive has not told again is not stuck.
            self._stuck.forget()
            return
        follows = np.array([self.group.follows(axis) for axis in range(LEGS)])
        faults = self._stuck.faults(self.legs.strokes, self._targets.strokes, follows)
        # Out of OP a drive takes no targets, and may repeat what it has measured before.
        for fault in faults if faults and self._operational else ():
            self._drop(fault.leg - 1)
            self._leg_fault = self._leg_fault or fault

    def _frame(self, now: float, *, counted: bool = True) -> bool:
        """Exchange one frame; tell whether it came back with what all drives measure."""
        group, legs = self.group, self.legs
        wanted = legs.targets(self._targets.strokes)
        outputs, live = [], group.live
        for axis, word in enumerate(group.words()):
            # The load stays on the motor while a drive ramps down and applies its brake.
            torque = self._torques[axis] = self._torques[axis] if live[axis] else 0
            homes = axis == group.homing
            told = group.has_target(axis) and not homes
            target = wanted[axis] if told else legs.inputs[axis].position
            mode = self.homing.mode if homes and self.homing else CYCLIC_POSITION
            outputs.append(self._layouts[axis].outputs.pack(word, target, torque, mode))
        sent = self._wire.now()
        counter = self._wire.exchange(outputs)
        back = self._wire.now()
        if counted:
            self._monitor.count(counter, back - sent, back)
        if counter <= 0:
            return False
        # Some drive has neither told what it measures nor heard its target: as with a frame that
        # is lost, the strokes are old ones, and the path has to wait.
        whole = not (counted and self._monitor.flickers())
        inputs = self._read()
        if whole:
            # What a lost drive has measured last stays where it was.
            legs.take(inputs, now)
        else:
            legs.inputs = inputs
        self._phase.update(self._wire.clock)
        group.take([item.statusword for item in inputs])
        return whole

    def _read(self) -> list[Inputs]:
        return [
            item.inputs.unpack(data)
            for item, data in zip(self._layouts, self._wire.inputs(), strict=True)
        ]

    @property
    def measures_forces(self) -> bool:
        """Whether all drives report a torque."""
        return all(item.inputs.measures_torque for item in self._layouts)
