# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The back end ``ethercat``: six CiA 402 drives in cyclic synchronous position mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
import datetime
from math import inf
import os
from pathlib import Path
from typing import ClassVar

from stewart_driver.backend import Backend, Measurement
from stewart_driver.control.cycle_statistics import WireStatistics
from stewart_driver.errors import ConfigurationError, DriverError, HomingError, TransportError
from stewart_driver.ethercat import home, namespace, wires
from stewart_driver.ethercat.active_bus import ActiveBus
from stewart_driver.ethercat.bus_monitor import BusMonitor
from stewart_driver.ethercat.drive_type import DriveType
from stewart_driver.ethercat.ending import longest_end
from stewart_driver.ethercat.home import Known
from stewart_driver.ethercat.homing import HOMING_DEAD_MAN
from stewart_driver.ethercat.options import EthercatOptions
from stewart_driver.ethercat.phase_lock import PhaseLock
from stewart_driver.ethercat.starting import start
from stewart_driver.legs import Array, END_MARGIN, LegLimits, LEGS
from stewart_driver.path.motion import LegMotion
from stewart_driver.rig_file import DriveCalibration, interface_of, load_rig, Rig


class EthercatBackend(Backend):
    """Six drives behind an EtherCAT master.

    One leg that is lost or in a fault is told as a fault of the measurement: the cycle then stops
    all six on their common path, and the lost drive stops by itself; the others hold until they
    are disabled. Silence of the whole bus is a `TransportError`. Only `reset_fault`, with all
    motors off, brings a bus up again, and then from the beginning: identity, settings, maps and
    clocks, as after the first start.

    Attributes:
        simulated: True in a network namespace or on a wire in this process: only a virtual rig is
            there.
        notes: Of the last start: what is otherwise than planned, and where the platform stands.

    Raises:
        ConfigurationError: If drive type, calibration file and options do not fit together, or a
            stroke overflows 32 bits.
    """

    name: ClassVar[str] = 'ethercat'
    options_type: ClassVar[type] = EthercatOptions
    wire: WireStatistics

    def __init__(self, options: EthercatOptions) -> None:
        self._options, self.rig_file = options, options.rig_file
        self._kind = DriveType.from_yaml(options.drive)
        self.cycle_time, self.limits = options.cycle_time, self._kind.limits
        # Drives that hold behind a lost bus are brought to OP before.
        self.longest_closing = options.start_timeout + longest_end(self._kind)
        rig = load_rig(options.rig_file) if options.rig_file else Rig('')
        self._interface = interface_of(options.interface, rig)
        inside = wires.OFFERS.find(self._interface) is not None
        if not inside:
            # Here and not in the cyclic process: the node names a missing package, and how to
            # get it.
            import pysoem  # noqa: F401
        self.simulated = inside or bool(options.namespace)
        self._calibration = rig.drives
        if rig.drives is not None:
            offsets = rig.drives.zero_offsets_counts
            self._kind.gear.check(offsets, self._kind.limits, END_MARGIN)
        self.moves_home = options.homing_method != 0
        if self.moves_home:
            self._check_homing()
        # When drives moved home last: a request soon after that may have missed its end.
        self._homing_at = -inf
        self._not_homed = 'the drives were not identified yet'
        self._phase = PhaseLock(options.cycle_time)
        self._bus: wires.Wire | None = None
        self._active: ActiveBus | None = None
        self._seen: tuple[int, ...] | None = None
        self._remembered = False
        self._kept_within = self._kind.limits
        self._ends: Sequence[tuple[int, int] | None] = (None,) * LEGS
        self.wire = WireStatistics()
        self.notes = ''

    @property
    def details(self) -> Mapping[str, str]:
        """What an operator wants to know beside the name of the back end."""
        calibration = self._calibration
        return {
            'interface': self._interface,
            'drives': self._kind.title,
            'calibrated': calibration.calibrated.isoformat() if calibration else 'never',
        }

    @property
    def homed(self) -> bool:
        """Whether there are zero offsets for just these drives; known after `open`."""
        return not self._not_homed

    @property
    def shift(self) -> float:
        """How much later than a period the next cycle shall begin, for the drives' clock [s]."""
        return self._phase.shift if self._kind.clocks else 0.0

    @property
    def now(self) -> float:
        """Instant of the wire, at which the last call was over [s]."""
        return -inf if self._bus is None else self._bus.now()

    @property
    def measures_forces(self) -> bool:
        """Whether all drives report a torque; known after `open`."""
        return self._active is not None and self._active.measures_forces

    def _check_homing(self) -> None:
        """Refuse a homing method that this drive type does not have, or nowhere to save home."""
        method, plan = self._options.homing_method, self._kind.homing
        if plan is None:
            raise ConfigurationError(
                'homing_method', method, f'0, for {self._options.drive} has no homing methods'
            )
        plan.require(method)
        if not self._options.rig_file:
            raise ConfigurationError('homing_method', method, '0 without a rig_file to save home')
        home_counts = -plan.stroke * self._kind.gear.counts_per_metre
        self._kind.gear.check([round(home_counts)] * LEGS, self._kind.limits, END_MARGIN)

    def require_callers_time(self) -> None:
        """Refuse a wire that lives in real time; raises `ConfigurationError`."""
        wires.OFFERS.require('interface', self._interface)

    def keep_within(self, limits: LegLimits) -> None:
        """Let the drives, too, stop at the ends of these strokes (607Dh)."""
        self._kept_within = limits

    def open(self, now: float) -> None:
        """Bring all drives to OP, motors off; raises `TransportError`."""
        if self._options.namespace:
            namespace.enter(self._options.namespace)
        self._bring_up()

    def close(self) -> None:
        """Take the voltage off, bring the bus to INIT and close it; harmless when not open."""
        active, self._active = self._active, None
        if active is None:
            return
        try:
            active.close()
        finally:
            self._seen = active.legs.counts
            if self.homed:
                self._park()

    def _park(self) -> None:
        """Save where the legs were left; where that cannot be written, the start has said so."""
        with suppress(ConfigurationError):
            home.park(self._options.rig_file, self._seen or ())

    def enable(self) -> None:
        """Begin to switch all drives on; raises `DriverError` if one would pull its leg inside."""
        if reason := self._why_pulled():
            raise DriverError(reason)
        self._opened.enable()

    def _why_pulled(self) -> str:
        calibration, active = self._calibration, self._opened
        if calibration is None or self._not_homed:
            return ''
        counts, live = active.legs.counts, active.group.live
        return home.why_pulled(calibration, counts, self._kind.gear, self._ends, live)

    def disable(self) -> None:
        """Begin to switch all drives off: first they ramp down, then the voltage goes."""
        if self._active is not None:
            self._active.disable()

    def release(self) -> None:
        """Let go of all legs together where no brakes have them, else as `disable` does."""
        if self._active is not None:
            self._active.release()

    def withdraw(self) -> None:
        """Switch no drive on any more; see `ActiveBus.withdraw`."""
        if self._active is not None:
            self._active.withdraw()

    @property
    def starting(self) -> bool:
        """Whether drives are still on their way to OP."""
        return self._active is not None and self._active.resuming

    def why_not_on(self) -> str:
        """Name the legs whose drives all others wait for, and their states."""
        if self._active is None:
            return ''
        active = self._active
        waiting = [
            f'leg {leg} {reason}'
            for leg, item in enumerate(active.legs.inputs, 1)
            if (reason := self._kind.why_not_following(item))
        ]
        return active.group.why_not_on() or ', '.join(waiting)

    def home(self) -> str:
        """Compare the strokes with those at home, or let the drives find it; raises `HomingError`.

        Where they do, this begins a motion of all legs, one after the other, and has to be asked
        for again all the time: see `HomingMotion`.
        """
        calibration, active = self._calibration, self._opened
        if active.is_homing and active.homing is not None:
            active.homing.ask(self.now)
            return f'homing goes on: {active.homing.said}'
        if self.now - self._homing_at < HOMING_DEAD_MAN:
            if self._not_homed:
                raise HomingError('homing has just ended: ask again in a second to begin anew')
            return 'all legs have homed'
        wrong = home.why_not(calibration, active.identities, self._options.rig_file)
        if self.moves_home and (calibration is None or not wrong):
            active.home()
            self._not_homed = 'the legs are not home yet'
            return (
                'homing begins, legs 1 to 6 one after the other; it halts unless it is asked for '
                f'again within {HOMING_DEAD_MAN:g} s'
            )
        if calibration is None or wrong:
            raise HomingError(wrong)
        strokes = active.legs.strokes
        said = home.resting(strokes, self._kind.limits.stroke_lower) or home.check(
            calibration, strokes, self._options.home_tolerance
        )
        if self._not_homed or self._why_pulled():
            # Proven from here on. Drives take their software limits in PREOP.
            self.close()
            self._park()
            self._bring_up()
            if self._not_homed:
                raise HomingError(self._not_homed)
        return said

    @property
    def homing(self) -> bool:
        """Whether drives move their legs home by themselves."""
        return self._active is not None and self._active.is_homing

    def finish_homing(self) -> str:
        """Save where home is, once the drives have found it, and start them with their limits.

        The zero offsets of a calibration stay; without one they are those of the drive type.
        Raises `HomingError` if the drives have not found it.
        """
        active = self._opened
        motion, plan = active.homing, self._kind.homing
        if motion is None or plan is None or not motion.homed:
            raise HomingError(motion.said if motion else 'homing has been ended')
        if self._calibration is not None:
            home.check_homed(self._calibration, active.legs.counts, self._kind)
        self._not_homed = 'the legs have homed and are switched off'
        self.close()
        seen, calibration = self._seen or (), self._calibration
        if calibration is None:
            zero = round(-plan.stroke * self._kind.gear.counts_per_metre)
            calibration = DriveCalibration(
                (zero,) * LEGS,
                datetime.date.today(),
                'all legs at home',
                (plan.stroke,) * LEGS,
                active.identities,
                counts_per_metre=self._kind.gear.counts_per_metre,
            )
        self._calibration = replace(calibration, parked_counts=seen)
        try:
            home.save(self._options.rig_file, self._calibration)
        finally:
            self._bring_up(just_homed=True)
            self._homing_at = self.now
        return f'{motion.said}, by method {self._options.homing_method}; home is saved'

    def reset_fault(self) -> None:
        """Acknowledge the faults of all drives; bring the bus up again if it has come down.

        Drives that hold their legs go on to; `enable` switches the others on beside them.

        Raises:
            TransportError: If the bus does not come up, or does not answer while drives may hold.
            DriverError: If a drive stays in its fault, or is lost while others hold.
        """
        active = self._active
        held = active is not None and active.held
        if active is None or not (active.intact or (held and active.recoverable)):
            if held and active is not None:
                if active.silent:
                    raise TransportError(f'no slave answers on {self._interface}')
                raise DriverError(
                    'a drive is lost while others hold their legs: mend that and reset, or '
                    'disable first, which lets the platform down'
                )
            with suppress(TransportError):
                self.close()
            self._bring_up()
            self.wire.bus_restarts += 1
        else:
            self.notes = active.legs.note
        self._opened.reset(self.interrupted)

    def exchange(self, targets: LegMotion, now: float) -> Measurement:
        """Send the targets, read the drives, and look for what is wrong."""
        if self.homing:
            self._homing_at = now
        return self._opened.exchange(targets, now)

    @property
    def _opened(self) -> ActiveBus:
        if self._active is None:
            raise TransportError(f'the bus on {self._interface} is down')
        return self._active

    def _bring_up(self, *, just_homed: bool = False) -> None:
        """Open the interface and start the drives."""
        self._phase = PhaseLock(self.cycle_time)
        bus = self._bus = wires.open_wire(self._interface, self._options.frame_timeout)
        try:
            known = Known(
                self._calibration,
                self._options.rig_file,
                self._seen,
                self.moves_home,
                just_homed,
                self._remembered,
                limits=self._kept_within,
            )
            started = start(bus, self._kind, self._options, self._phase, known)
        except BaseException:
            bus.close()
            raise
        self._not_homed, self._remembered = started.not_homed, started.remembered
        self._ends = started.ends
        monitor = BusMonitor(
            bus,
            self._interface,
            self._options,
            self.wire,
            tells_following=self._kind.tells_following,
        )
        self._active = ActiveBus(bus, started, self._kind, self._options, monitor, self._phase)
        notes = (self._standing(self._active.legs.strokes), self._unwritable(), *started.notes)
        self.notes = '; '.join(filter(None, notes))

    def _unwritable(self) -> str:
        """Say if the park position cannot be saved for the next start."""
        path = Path(self._options.rig_file or '.').resolve()
        if self._calibration is None or os.access(path.parent, os.W_OK):
            return ''
        return f'{path} cannot be written, so that every start has to be at home'

    def _standing(self, strokes: Array) -> str:
        if self._calibration is None or self._not_homed:
            return self._not_homed
        return home.standing(self._calibration, strokes, self._options.home_tolerance)
