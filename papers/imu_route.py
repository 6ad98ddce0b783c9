# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The EX800 paper's way without force sensors: an IMU in place of a force, and what it is worth.

``python papers/imu_route.py LEGS`` takes the recording of the legs (actuator_states) and of the
IMU (imu/data, or ``--imu-bag`` if it was recorded apart), writes ``report.html`` and shows whether
the platform accelerates as commanded: gain, delay and mounting of the sensor. The measured
acceleration then goes through the inverse multibody model as a "measured" force, which a Kalman
filter blends with the model's, and the paper's fit returns the mass that was assumed.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from html import escape
import json
from pathlib import Path
from typing import Any

from imu_forces import generalised_forces
from imu_fusion import settled_gain, STATEMENT
from imu_motion import measured_motion, MeasuredMotion, read_imu
import numpy as np
from stewart_identification.recording.from_bag import experiment_from, Extraction
from stewart_identification.recording.recordings import read_recording
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion
from stewart_tables.whole_files import whole_file

EXTRACTION = Extraction()
FACTOR = 1.3
"""By which the assumed mass is changed to see what the fit returns."""


def main(argv: list[str] | None = None) -> int:
    """Assess a recording, print, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('legs', help='recording of the legs')
    parser.add_argument('--imu-bag', help='the IMU was recorded apart, on another clock')
    parser.add_argument('--platform', default='ex800', help='name or YAML file')
    parser.add_argument('--passband', type=float, default=EXTRACTION.passband, help='[Hz]')
    parser.add_argument('--rate', type=float, default=EXTRACTION.rate, help='[Hz]')
    parser.add_argument('-o', '--out', type=Path, default=Path('build/papers/imu_route'))
    parser.add_argument('--json', action='store_true', help='print everything as JSON')
    given = parser.parse_args(argv)
    extraction = Extraction(given.passband, given.rate)
    found = assess_bag(given.legs, given.platform, given.out, extraction, given.imu_bag)
    if given.json:
        print(json.dumps(found.as_dict(), indent=2, ensure_ascii=False))
    else:
        print('\n'.join([*found.lines(), found.verdict]))
    return 0


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
    extracted = experiment_from(read_recording(bag), described, extraction, forces=False)
    measured = measured_motion(
        extracted,
        read_imu(imu_bag or bag),
        described,
        extraction,
        other_recorder=imu_bag is not None,
    )
    expected = extracted.experiment.inputs[measured.rows]
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
    from imu_plots import forces_and_accelerations

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


if __name__ == '__main__':
    raise SystemExit(main())
