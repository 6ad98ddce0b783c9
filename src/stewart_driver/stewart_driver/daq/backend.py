# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The back end ``daq``: six legs on an analogue card."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import inf
from typing import ClassVar

import numpy as np
from stewart_driver.backend import Backend, Measurement
from stewart_driver.control.supervision import StuckDetector
from stewart_driver.daq.amplifiers import PositionAmplifiers, VelocityAmplifiers
from stewart_driver.daq.calibration import Calibration
from stewart_driver.daq.card import AnalogCard
from stewart_driver.daq.card_type import CardAccess, find_card_type, ORDINARY, require_callers_time
from stewart_driver.daq.options import DaqOptions
from stewart_driver.daq.sensors import Scan, SensorScanner
from stewart_driver.errors import (
    CardError,
    ConfigurationError,
    DriverError,
    HomingError,
    SensorFault,
)
from stewart_driver.legs import ALL_LEGS, Array, LEGS, require_rest
from stewart_driver.path.motion import LegMotion

# Also a call that took too long counts as failed, although the card may have obeyed.
NOT_SAFE = 'the outputs may not be safe'


class DaqBackend(Backend):
    """Position sensors on six analogue inputs, amplifiers on six analogue outputs.

    While the legs do not follow, the outputs stand at their safe volts: those of the stroke at
    which following ended in position mode, those of rate zero in velocity mode. They are set on
    `open`, `disable` and `close`, and when a call of the card fails. No watchdog of the card sets
    them: if this process hangs or is killed they stay, until `rescue` is called from another one.

    Raises:
        ConfigurationError: If the card type is unknown, or the calibration is missing, for another
            mode, or worse than allowed.
    """

    name: ClassVar[str] = 'daq'
    # Without a calibration, which makes the strokes absolute, nothing is made.
    homed = True
    options_type: ClassVar[type] = DaqOptions

    def __init__(self, options: DaqOptions, access: CardAccess = ORDINARY) -> None:
        self._options, self._access = options, access
        self.rig_file = options.rig_file
        self.cycle_time, self.limits = options.cycle_time, options.limits()
        self._card_type = find_card_type(options.card)
        self.simulated = self._card_type.simulated
        found = options.calibration()
        if found.mode != options.mode or not found.outputs:
            what = f'outputs calibrated for {found.mode} mode' if found.outputs else 'no outputs'
            raise ConfigurationError(
                'mode', options.mode, f'the mode of {options.rig_file}, which has {what}'
            )
        self._calibrated = found.calibrated
        self._inputs, self._outputs = map(Calibration.of, (found.inputs, found.outputs))
        leg, worst = int(self._inputs.residuals.argmax()), float(self._inputs.residuals.max())
        if worst > options.worst_residual:
            raise ConfigurationError(
                f'residual_m of leg {leg + 1} in {options.rig_file}',
                worst,
                f'at most {options.worst_residual:g} m',
            )
        # Amplifiers that take strokes have sensors of their own.
        self.holds_blindly = options.mode == 'position'
        self.runs_on = options.lead if self.holds_blindly else inf
        if options.enable_channel < 0:
            self.why_live = (
                f'no output of this card switches the amplifiers: off means {self._off}'
            )
            self.notes = self.why_live
        self._card: AnalogCard | None = None
        self._on_at: float | None = None
        self._on = self._lost = False
        self._fault: SensorFault | None = None
        self._trusted = np.ones(LEGS, dtype=np.bool_)
        # What the outputs were last set to, unless the amplifiers are known to be off [V].
        self._told: Array | None = None

    @property
    def details(self) -> Mapping[str, str]:
        """What an operator wants to know beside the name of the back end."""
        options = self._options
        return {
            'card': self._card_type.label,
            'device': options.device,
            'amplifiers take': options.mode,
            'off means': self._off,
            'calibrated': self._calibrated.isoformat(),
        }

    @property
    def stall_limit(self) -> float:
        """Time without a cycle after which `rescue` has to be called [s]."""
        return self._options.stall_limit

    @property
    def _off(self) -> str:
        if self._options.enable_channel >= 0:
            return f'digital output {self._options.enable_channel} is low'
        if self._options.mode == 'position':
            return 'live amplifiers that hold the last strokes'
        within = 1e3 * self._outputs.residuals.max()
        return f'live amplifiers at rate zero, calibrated within {within:.2g} mm/s'

    def require_callers_time(self) -> None:
        """Refuse a card that lives in real time; raises `ConfigurationError`."""
        require_callers_time(self._options)

    def open(self, now: float) -> None:
        """Open the card, make its outputs safe, amplifiers off; raises `CardError`."""
        options = self._options
        self._card = self._access.open(options, drives=True)
        try:
            kind = PositionAmplifiers if options.mode == 'position' else VelocityAmplifiers
            self._amplifiers = kind(self._outputs, options, self._card.outputs)
            self._sensors = SensorScanner(self._card, self._inputs, options)
            self._stuck = StuckDetector(
                options.stuck_band, options.stuck_travel, options.stuck_cycles
            )
            self._now = now
            self._begin()
        except BaseException:
            self._card.close()
            self._card = None
            raise

    def close(self) -> None:
        """Make the outputs safe, as far as the card still obeys, and close it."""
        card, self._card = self._card, None
        if card is None:
            return
        try:
            self._give_up(card)
        finally:
            card.close()

    def enable(self) -> None:
        """Hold the present strokes, then switch the amplifiers on.

        Amplifiers that take strokes and are on already go on holding what they hold.

        Raises:
            CardError: If the card fails.
            DriverError: If a sensor is saturated, or contradicts what its amplifier holds.
        """
        card = self._opened()
        self._require_sound()
        self._amplifiers.reset()
        self._stuck.forget()
        self._hold = self._place()
        self._write(card, self._amplifiers.safe(self._hold))
        card.switch(on=True)
        self._on_at = self._now + self._options.enable_delay

    def disable(self) -> None:
        """Make the outputs safe and switch the amplifiers off; raises `CardError`."""
        self._make_safe(self._opened())

    def held(self, measured: Array) -> Array:
        """Return what amplifiers that take strokes were told: they are off by a static error."""
        return measured if self._told is None or not self.holds_blindly else self._place()

    def home(self) -> str:
        """Verify that the strokes can be absolute: at rest, inside the range, no fault."""
        scan = self._scan
        if fault := self._fault or scan.fault:
            raise HomingError(str(fault))
        require_rest(scan.strokes, scan.rates, self.limits)
        return (
            f'calibrated {self._calibrated}, points within '
            f'{1e3 * self._inputs.residuals.max():.3f} mm; '
            'all legs stand still inside their strokes'
        )

    def reset_fault(self) -> None:
        """Trust all sensors again; open the card anew, if it was lost.

        Raises:
            CardError: If the card fails.
            DriverError: If a sensor is still saturated, or says another stroke than the one that
                its amplifier holds: trusted again, it would move the leg.
        """
        if self._lost:
            self.close()
            self.open(self._now)
        else:
            self._scan = self._sensors.scan()
        self._require_sound()
        self._forget_faults()

    def rescue(self) -> str:
        """Make the outputs safe after the process that drove was killed; raises `CardError`."""
        self.open(self._access.clock())
        self.close()
        held = 'at the present strokes' if self._options.mode == 'position' else 'at rate zero'
        switched = self._options.enable_channel >= 0
        off = ', the amplifiers are off' if switched else ''
        return f'the outputs of {self._options.device} now stand {held}{off}'

    def exchange(self, targets: LegMotion, now: float) -> Measurement:
        """Read the sensors, then set the outputs; stamped in the middle of the conversions.

        Forces are not used. Where the card fails (`CardError`) the outputs are safe, as far as it
        still obeys.
        """
        self._now = now
        card = self._opened()
        card.come_to(now)
        try:
            return self._exchange(card, targets, now)
        except CardError as error:
            self._lost = True
            left = '' if self._give_up(card) else f'; {NOT_SAFE}'
            raise CardError(error.device, error.reason + left) from error
        except BaseException:
            self._give_up(card)
            raise

    def _exchange(self, card: AnalogCard, targets: LegMotion, now: float) -> Measurement:
        scan = self._scan = self._sensors.scan()
        self._on = self._on_at is not None and now >= self._on_at
        self._judge(scan, targets)
        if self._on:
            # A leg that stands is held by what its amplifier was told, from which it is off by a
            # static error: held where it is measured, it would sag by that again and again.
            stands = (targets.rates == 0.0) & (
                np.abs(targets.strokes - scan.strokes) < self._options.stuck_travel
            )
            measured = self._trusted & ~stands
            self._hold = np.where(measured, scan.strokes, targets.strokes)
            volts = self._amplifiers.follow(targets, scan, self._trusted)
        else:
            volts = self._amplifiers.safe(self._hold)
        self._write(card, volts)
        return Measurement(
            stamp=scan.stamp,
            strokes=scan.strokes,
            rates=scan.rates,
            enabled=self._on,
            fault=self._fault,
            live=ALL_LEGS if card.live else 0,
        )

    def _judge(self, scan: Scan, targets: LegMotion) -> None:
        """Note the first fault of a sensor, and from then on whom not to trust."""
        self._trusted = self._trusted & ~scan.saturated
        fault = scan.fault
        if self._on:
            stuck = self._stuck.look(scan.strokes, targets.strokes) & ~scan.saturated
            self._trusted = self._trusted & ~stuck
            if fault is None and stuck.any():
                fault = self._stuck_fault(int(np.flatnonzero(stuck)[0]), scan)
        self._fault = self._fault or fault

    def _stuck_fault(self, leg: int, scan: Scan) -> SensorFault:
        options = self._options
        return SensorFault(
            leg + 1,
            f'{scan.volts[leg]:+.4f} V stays within {1e3 * options.stuck_band:g} mm for '
            f'{options.stuck_cycles} cycles while the command moves by more than '
            f'{1e3 * options.stuck_travel:g} mm',
        )

    def _begin(self) -> None:
        """Look where the legs are and hold them there."""
        self._forget_faults()
        card = self._opened()
        self._scan = self._sensors.scan()
        if self.holds_blindly:
            try:
                self._require_sound()
            except DriverError as error:
                # To hold a leg at a stroke that it does not have is to move it.
                card.switch(on=False)
                raise CardError(
                    self._options.device, f'{error}; the outputs were left as they are'
                ) from error
        self._hold = self._scan.strokes
        self._make_safe(card)

    def _place(self) -> Array:
        """Return the strokes (6,) [m] that live amplifiers hold, or else where the legs are."""
        if self._told is None or not self.holds_blindly:
            return self._scan.strokes
        return self._outputs.values(self._told)

    def _require_sound(self) -> None:
        """Refuse saturated inputs, and strokes that are not those which the amplifiers hold."""
        scan = self._scan
        if scan.fault:
            raise DriverError(f'{scan.fault}; mend it first')
        held = self._place()
        leg = int(np.abs(scan.strokes - held).argmax())
        if abs(scan.strokes[leg] - held[leg]) > self._options.stuck_travel:
            believed = 'disable first' if self._options.enable_channel >= 0 else 'configure anew'
            raise DriverError(
                f'the sensor of leg {leg + 1} says {1e3 * scan.strokes[leg]:.1f} mm, and its '
                f'amplifier holds {1e3 * held[leg]:.1f} mm: mend whichever is wrong; to believe '
                f'the sensor, {believed}'
            )

    def _forget_faults(self) -> None:
        self._lost, self._fault = False, None
        self._trusted = np.ones(LEGS, dtype=np.bool_)
        self._stuck.forget()

    def _make_safe(self, card: AnalogCard) -> None:
        """Set safe volts and switch off, each also where the other fails; tell what has failed."""
        self._on, self._on_at = False, None
        failed: list[str] = []
        try:
            with _told(failed):
                self._write(card, self._amplifiers.safe(self._hold))
        finally:
            with _told(failed):
                card.switch(on=False)
        if not card.live:
            self._told = None
        if failed:
            raise CardError(self._options.device, f'{NOT_SAFE}: {"; ".join(failed)}')

    def _give_up(self, card: AnalogCard) -> bool:
        """Make safe what still obeys; tell whether that was all."""
        try:
            self._make_safe(card)
        except CardError:
            return False
        return True

    def _write(self, card: AnalogCard, volts: Array) -> None:
        clipped = card.outputs.clipped(volts)
        card.write(card.outputs.codes(clipped))
        self._told = clipped if card.live else None

    def _opened(self) -> AnalogCard:
        if self._card is None:
            raise CardError(self._options.device, 'it is closed')
        return self._card


@contextmanager
def _told(failed: list[str]) -> Iterator[None]:
    """Take a call that the card refuses into the list, and go on."""
    try:
        yield
    except CardError as error:
        failed.append(error.reason)
