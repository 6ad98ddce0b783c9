# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What stops the motion besides the operator: limits, each crossing told with its numbers."""

from __future__ import annotations

import numpy as np
from stewart_driver.backend import Measurement
from stewart_driver.control.configuration import SupervisionSettings
from stewart_driver.legs import Array, LegLimits

# Below this a measured change is never a jump, however short the cycle was.
JUMP_FLOOR = 1e-4


class Supervisor:
    """
    Compare what the drives report with what they may do.

    Every check returns None, or one sentence with the leg, the value and its limit.

    Parameters
    ----------
    limits : LegLimits
        What the legs may do.
    settings : SupervisionSettings
        How far reality may be off.

    Attributes
    ----------
    largest_error : float
        Largest distance of any leg from its command so far [m].

    """

    def __init__(self, limits: LegLimits, settings: SupervisionSettings) -> None:
        """Start without a previous measurement."""
        self._limits, self._settings = limits, settings
        self._previous: Measurement | None = None
        self.largest_error = 0.0

    def forget(self) -> None:
        """Forget the previous measurement, after which none is a jump."""
        self._previous = None

    def silence(self, since: float, now: float) -> str | None:
        """
        Check that commands keep coming; to be asked only while the legs move.

        Parameters
        ----------
        since : float
            Instant of the last accepted command on the steady clock [s].
        now : float
            Present instant [s].

        Returns
        -------
        str or None
            What is wrong.

        """
        silent, allowed = now - since, self._settings.command_timeout
        if silent <= allowed:
            return None
        return f'no command for {silent:.3f} s while moving, allowed are {allowed:g} s'

    def measurement(self, measurement: Measurement) -> str | None:
        """
        Check that a measurement can be true, and remember it.

        Parameters
        ----------
        measurement : Measurement
            The newest one.

        Returns
        -------
        str or None
            What is wrong.

        """
        for name, values in (('stroke', measurement.strokes), ('rate', measurement.rates)):
            if not np.isfinite(values).all():
                leg = int(np.flatnonzero(~np.isfinite(values))[0])
                return f'the measured {name} of leg {leg + 1} is {values[leg]}'
        previous, self._previous = self._previous, measurement
        return self._range(measurement.strokes) or self._jump(previous, measurement)

    def following(self, commanded: Array, rates: Array, measured: Array) -> str | None:
        """
        Check that the legs are where they shall be.

        A drive lags in proportion to its rate, and so does a leg whose cycle came late; a leg that
        has lost its force is found the sooner, the less is allowed to one that hardly moves.

        Parameters
        ----------
        commanded, measured : ndarray, shape (6,)
            Strokes [m].
        rates : ndarray, shape (6,)
            Commanded [m/s].

        Returns
        -------
        str or None
            What is wrong.

        """
        settings = self._settings
        errors = np.abs(commanded - measured)
        self.largest_error = max(self.largest_error, float(errors.max()))
        allowed = settings.following_error + settings.following_lag * np.abs(rates)
        leg = int((errors - allowed).argmax())
        if errors[leg] <= allowed[leg]:
            return None
        return (
            f'leg {leg + 1} is {1e3 * errors[leg]:.2f} mm from its command, '
            f'allowed are {1e3 * allowed[leg]:.3g} mm'
        )

    def punctuality(self, missed: float) -> str | None:
        """
        Check that enough of the cycles run; to be asked only while a path is played.

        Parameters
        ----------
        missed : float
            Share of the last second's cycles that did not run [-].

        Returns
        -------
        str or None
            What is wrong.

        """
        allowed = self._settings.overrun_share
        if missed <= allowed:
            return None
        return (
            f'{1e2 * missed:.1f} % of the cycles of the last second were missed while moving, '
            f'allowed are {1e2 * allowed:g} %'
        )

    def tracking(self, position: float, rotation: float) -> str | None:
        """
        Check the Cartesian tracking error.

        Parameters
        ----------
        position : float
            Distance of the platform's origin from where it shall be [m].
        rotation : float
            Angle between commanded and achieved attitude [rad].

        Returns
        -------
        str or None
            What is wrong.

        """
        settings = self._settings
        if not position <= settings.tracking_position:
            return (
                f'the platform is {1e3 * position:.2f} mm from its setpoint, '
                f'allowed are {1e3 * settings.tracking_position:g} mm'
            )
        if not rotation <= settings.tracking_rotation:
            return (
                f'the platform is turned {np.degrees(rotation):.3f} deg from its setpoint, '
                f'allowed are {np.degrees(settings.tracking_rotation):.3g} deg'
            )
        return None

    def _range(self, strokes: Array) -> str | None:
        limits, margin = self._limits, self._settings.stroke_margin
        outside = limits.beyond(strokes)
        leg = int(outside.argmax())
        if outside[leg] <= margin:
            return None
        return (
            f'the measured stroke of leg {leg + 1} is {strokes[leg]:.5f} m, its range is '
            f'{limits.stroke_lower[leg]:g} to {limits.stroke_upper[leg]:g} m'
        )

    def _jump(self, previous: Measurement | None, measurement: Measurement) -> str | None:
        if previous is None:
            return None
        changes = np.abs(measurement.strokes - previous.strokes)
        elapsed = measurement.stamp - previous.stamp
        allowed = self._settings.measured_rate_margin * self._limits.rate * elapsed + JUMP_FLOOR
        leg = int(changes.argmax())
        if changes[leg] <= allowed:
            return None
        return (
            f'the measured stroke of leg {leg + 1} jumped by {1e3 * changes[leg]:.3f} mm in '
            f'{1e3 * elapsed:.2f} ms, possible are {1e3 * allowed:.3f} mm'
        )
