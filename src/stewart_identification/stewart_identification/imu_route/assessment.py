# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What an IMU says of a motion, the paper's fit to it, and what that fit is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from stewart_identification.imu_route import STATEMENT
from stewart_identification.imu_route.fusion import settled_gain
from stewart_identification.imu_route.generalised_forces import generalised_forces
from stewart_identification.imu_route.measured_motion import measured_motion, MeasuredMotion
from stewart_identification.recording.from_bag import experiment_from, Extraction
from stewart_identification.recording.recordings import IMU, read_recording
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_tables.whole_files import whole_file

FACTOR = 1.3
"""By which the assumed mass is changed to see what the fit returns."""


@dataclass(frozen=True, eq=False)
class Assessment:
    """Outcome of the IMU route.

    Attributes:
        gain (3,): Measured over expected linear acceleration, by least squares, per axis; 1 at
            best.
        residual (3,): Root mean square of what is left of it [m/s²].
        masses: Mass that the paper's fit to the fused force returns, by the mass assumed [kg].
        measured: What the sensor saw.
        remarks: What was odd.
        report: The page.
    """

    gain: Array
    residual: Array
    masses: dict[str, float]
    measured: MeasuredMotion
    remarks: tuple[str, ...]
    report: Path

    @property
    def verdict(self) -> str:
        """The whole in one sentence."""
        returned = ' and '.join(
            f'{value:.3f} kg where {name} were assumed' for name, value in self.masses.items()
        )
        return f'nothing of an inertia is identified; the fit returns {returned}'

    def lines(self) -> list[str]:
        """Return what is to be printed."""
        axes = [
            f'acceleration {axis}: measured / expected = {gain:.4f}, {rest:.4f} m/s² left'
            for axis, gain, rest in zip('xyz', self.gain, self.residual, strict=True)
        ]
        return [*self.remarks, *axes, STATEMENT]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            'verdict': self.verdict,
            'statement': STATEMENT,
            'acceleration_gain': self.gain.tolist(),
            'acceleration_residual_mps2': self.residual.tolist(),
            'clock_offset_s': self.measured.clock.offset,
            'mounting_rpy_deg': np.degrees(self.measured.mounting.rpy).tolist(),
            'mass_returned_kg': self.masses,
            'settled_gain': settled_gain(),
            'remarks': list(self.remarks),
            'report': str(self.report),
        }


def assess_bag(
    bag: str | Path,
    platform: str | Path,
    output: Path,
    extraction: Extraction,
    imu_bag: str | Path | None = None,
) -> Assessment:
    """Take the paper's way and show where it leads.

    Args:
        bag: With actuator states, and with the IMU unless `imu_bag` has it.
        platform: Description with masses.
        output: Folder of ``report.html``.
        extraction: Bands.
        imu_bag: The IMU's recording on its own clock.

    Returns:
        What the sensor shows, and what the fit returns for two assumed masses.

    Raises:
        BagError, StewartError: If a recording cannot be used.
    """
    described = Platform.from_yaml(platform)
    required = ('actuator_states',) if imu_bag else ('actuator_states', IMU)
    legs = read_recording(bag, required=required)
    other = read_recording(imu_bag, required=(IMU,)) if imu_bag else legs
    extracted = experiment_from(legs, described, extraction, forces=False)
    measured = measured_motion(
        extracted, other, described, extraction, other_recorder=imu_bag is not None
    )
    expected = extracted.experiment.inputs
    assert isinstance(expected, Motion)
    expected = expected[measured.rows]
    gain, residual = _compared(expected, measured.motion)
    remarks = tuple(str(item) for item in (*extracted.remarks, *measured.remarks))
    output.mkdir(parents=True, exist_ok=True)
    assessment = Assessment(
        gain,
        residual,
        returned_masses(described, expected, measured.motion),
        measured,
        remarks,
        output / 'report.html',
    )
    _write(assessment, described, expected, extracted.experiment.stamps[measured.rows])
    return assessment


def returned_masses(
    platform: Platform, expected: Motion, measured: Motion, factor: float = FACTOR
) -> dict[str, float]:
    """Fit a mass to the fused force, as the paper does, for two masses assumed.

    Args:
        platform: With masses.
        expected, measured: The same samples by the legs or the setpoint, and by the IMU.
        factor: Between the two masses.

    Returns:
        What comes out, by what went in.
    """
    found = {}
    masses = platform.masses
    assert masses is not None
    for share in (1.0, factor):
        body = replace(masses.platform, mass=share * masses.platform.mass)
        changed = replace(platform, masses=replace(masses, platform=body, payload=None))
        forces = generalised_forces(changed, expected, measured)
        # The force is linear in the mass: least squares need no search.
        per_kilogram = masses.gravity - _acceleration_of_centre(body.centre_of_mass, expected)
        mass = np.sum(per_kilogram * forces.forces.fused) / np.sum(per_kilogram**2)
        found[f'{body.mass:.4f} kg'] = float(mass)
    return found


def _acceleration_of_centre(centre: Array, motion: Motion) -> Array:
    from scipy.spatial.transform import Rotation

    arm = Rotation.from_quat(motion.quaternion_xyzw).as_matrix() @ centre
    w = motion.angular_velocity
    turning = np.cross(motion.angular_acceleration, arm) + np.cross(w, np.cross(w, arm))
    return np.asarray(motion.linear_acceleration + turning)


def _compared(expected: Motion, measured: Motion) -> tuple[Array, Array]:
    """Regress measured on expected accelerations, axis by axis."""
    ours = expected.linear_acceleration - expected.linear_acceleration.mean(axis=0)
    theirs = measured.linear_acceleration - measured.linear_acceleration.mean(axis=0)
    gain = np.sum(ours * theirs, axis=0) / np.maximum(np.sum(ours**2, axis=0), 1e-300)
    return gain, np.sqrt(np.mean((theirs - gain * ours) ** 2, axis=0))


def _write(assessment: Assessment, platform: Platform, expected: Motion, stamps: Array) -> None:
    from stewart_identification.imu_route.plots import forces_and_accelerations

    forces = generalised_forces(platform, expected, assessment.measured.motion)
    picture = forces_and_accelerations(stamps - stamps[0], expected, assessment, forces)
    rows = ''.join(f'<li>{escape(line)}</li>' for line in assessment.lines()[:-1])
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<title>IMU route: {escape(platform.title)}</title>'
        '<style>body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;'
        'padding:0 1rem}img{max-width:100%}.bad{color:#b00020;font-weight:bold}</style>'
        f'<h1>IMU route: {escape(platform.title)}</h1>'
        f'<p class="bad">{escape(assessment.verdict)}.</p><p>{escape(STATEMENT)}</p>'
        f'<ul>{rows}</ul><img alt="accelerations and generalised forces" '
        f'src="data:image/png;base64,{picture}"></html>\n'
    )
    with whole_file(assessment.report) as stream:
        stream.write(page)
