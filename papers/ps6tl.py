# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Reproduce the paper on the dynamics of the PS-6TL-1500, and test its sentences.

S.-E. Nichifor, I. Stroe: Dynamic Modeling of a 6-DOF Parallel Manipulator.

``python papers/ps6tl.py`` compares the numbers of ``data/ps6tl.yaml`` with ours, prints the rows,
writes ``build/papers/ps6tl.html`` and one PNG file per figure, and exits with 1 if a row fails. A
row marked "contradicted" stands for something that the paper says or prints and that is wrong; it
fails if that should change.
"""

from __future__ import annotations

from typing import Any

from lagrangian import LagrangianModel
import numpy as np
from ps6tl_cases import Case, case, newton_forces, plate_forces, without_leg_inertia
from ps6tl_figures import draw_case, draw_sensitivity, first_extreme
from ps6tl_formulas import compare_formulas
import ps6tl_printed as printed
from reproduction import command_line, publish, published, Report
from stewart_kinematics.model.geometry import ring_points
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Pose
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.solvers.jacobian import jacobian


def main(argv: list[str] | None = None) -> int:
    """Reproduce, print, write; return the exit code."""
    arguments = command_line(__doc__).parse_args(argv)
    return publish(reproduce(), 'ps6tl', arguments.output)


def reproduce() -> Report:
    """Compare joints, cases, formulas, sentences and angle limits."""
    said = published('ps6tl')
    platform = Platform.from_yaml('ps6tl_1500')
    report = Report(said['paper'])
    compare_joints(report, platform, said['joints'])
    compare_cases(report, platform, said['cases'])
    plate = LagrangianModel.from_platform(platform)
    compare_formulas(report, plate, case(platform, said['cases'], 'case_2'), said['formulas'])
    compare_sentences(report, platform, said['cases'], said['sentences'])
    compare_angle_limits(report, platform, said['angle_limits'], said['joints'])
    note_misprints(report)
    return report


def compare_joints(report: Report, platform: Platform, said: dict[str, Any]) -> None:
    """Compare the joint rings with the printed lists."""
    geometry = platform.geometry
    home = platform.geometry.zero_pose.position
    upper, lower = np.array(said['platform']), np.array(said['base'])
    ours = geometry.platform_joints + home
    report.add('P_1 to P_5, worst coordinate', np.abs(ours - upper)[:5].max(), said['match'])
    report.add('P_6 as printed', np.abs(ours - upper)[5].max(), said['sixth'])
    mirrored = np.abs(ours[5] - upper[5] * [1.0, -1.0, 1.0]).max()
    report.add('P_6 with its sign put back', mirrored, said['sixth_mirrored'])
    report.add(
        'B_1 to B_6, worst coordinate', np.abs(geometry.base_joints - lower).max(), said['match']
    )
    base, other = _rings(platform, *said['section_2_angles_deg'])
    difference = min(np.abs(other + home - upper)[:5].max(), np.abs(base - lower).max())
    report.add('joints with the angles of section 2', difference, said['section_2'])


def _rings(platform: Platform, platform_angle: float, base_angle: float) -> tuple[Array, Array]:
    """Return base and platform joints for other angles between the joints of a pair [deg]."""
    geometry = platform.geometry
    radii = [np.hypot(*p[0, :2]) for p in (geometry.base_joints, geometry.platform_joints)]
    base, upper = (
        ring_points(float(radius), np.radians(angle), 0.0, 0.0)
        for radius, angle in zip(radii, (base_angle, platform_angle), strict=True)
    )
    return base, upper


def compare_cases(report: Report, platform: Platform, said: dict[str, Any]) -> None:
    """Compare lengths and forces of both cases, and draw them."""
    geometry, bare = platform.geometry, without_leg_inertia(platform)
    shares = []
    for number in (1, 2):
        run = case(platform, said, f'case_{number}')
        lengths = inverse(geometry, run.motion).length
        sixth = printed.leg_lengths(
            geometry.base_joints, geometry.platform_joints, run.coordinates
        )
        report.add(f'case {number}: Eq. 6', np.abs(lengths - sixth).max(), said['lengths'])
        report.add(f'case {number}: shortest actuator', lengths.min(), said['shortest'])
        report.add(f'case {number}: longest actuator', lengths.max(), said['longest'])
        forces, peer = plate_forces(platform, run), newton_forces(bare, run)
        largest = np.abs(forces).max()
        span = f'forces {forces.min():.2f} to {forces.max():.2f} N'
        report.add(
            f'case {number}: closed form against Newton–Euler',
            np.abs(forces - peer).max() / largest,
            said['forces'],
            span,
        )
        report.add(f'case {number}: balance', _imbalance(platform, run, forces), said['balance'])
        whole = newton_forces(platform, run)
        shares.append(float(np.abs(whole - peer).max() / largest))
        draw_case(report, number, run.time, lengths, forces)
    report.add(
        'I_b and I_t: largest change of a force, of the largest force',
        max(shares),
        said['inertias'],
        f'case 1 {shares[0]:.2%}, case 2 {shares[1]:.2%}',
    )


def _imbalance(platform: Platform, run: Case, forces: Array) -> float:
    """Return by how much the legs' forces and moments miss those that move the plate [N, N m]."""
    assert platform.masses is not None
    motion = run.motion
    matrix = jacobian(platform.geometry, motion.position, motion.quaternion_xyzw)
    wrench = np.einsum('nij,ni->nj', matrix, forces)
    wrench[:, :3] -= platform.masses.platform.mass * (
        motion.linear_acceleration - platform.masses.gravity
    )
    return float(np.abs(wrench).max())


def compare_sentences(
    report: Report, platform: Platform, cases: dict[str, Any], said: dict[str, Any]
) -> None:
    """Test what the text says about Figs. 9 to 14."""
    run = case(platform, cases, 'case_2')
    reference = plate_forces(platform, run)
    by_pitch, by_roll = (
        {
            angle: plate_forces(platform, case(platform, cases, 'case_2', **{axis: angle}))
            for angle in said['sweep_deg']
        }
        for axis in ('pitch', 'roll')
    )
    note = f'pitch changed by up to ±{max(said["sweep_deg"])}°'
    for leg in (1, 6):
        pitch, roll = (
            np.array([np.abs(f - reference)[:, leg - 1].max() for f in sweep.values()])
            for sweep in (by_pitch, by_roll)
        )
        report.add(f'F{leg} by pitch: largest change', pitch.max(), said[f'pitch_{leg}'], note)
        swing = np.ptp(reference[:, leg - 1])
        swings = [abs(np.ptp(f[:, leg - 1]) - swing) for f in by_pitch.values()]
        name = f'F{leg} by pitch: largest change of the swing'
        report.add(name, max(swings), said[f'swing_{leg}'], note)
        name = f'F{leg}: change by pitch over change by roll, least'
        report.add(name, (pitch / roll).min(), said[f'ratio_{leg}'])
    for leg in (2, 3):
        lowest = min(forces[:, leg - 1].min() for forces in by_roll.values())
        report.add(f'F{leg} by roll: lowest', lowest, said[f'roll_{leg}'])
    peaks = np.abs(reference).max(axis=0)[[1, 2]]
    reduced = [np.all(np.abs(f).max(axis=0)[[1, 2]] < peaks) for f in by_roll.values()]
    report.add('roll changes that reduce both |F2| and |F3|', sum(reduced), said['reduced'])
    everything = [reference, *by_pitch.values(), *by_roll.values()]
    for leg, highest in ((4, True), (5, False)):
        times = [first_extreme(run.time, f[:, leg - 1], highest=highest) for f in everything]
        worst = max(times, key=lambda moment: abs(moment - said[f'time_{leg}']['value']))
        word = 'highest' if highest else 'lowest'
        name = f'F{leg}: time of its {word}, worst of {len(times)} runs'
        report.add(name, worst, said[f'time_{leg}'])
    draw_sensitivity(report, run.time, reference, by_pitch, by_roll)
    _note_sentences(report, reference, by_pitch, by_roll)


def _note_sentences(
    report: Report, reference: Array, by_pitch: dict[float, Array], by_roll: dict[float, Array]
) -> None:
    """Say what is true instead of the sentences that are contradicted."""
    most = {angle: np.abs(forces - reference).max(axis=0) for angle, forces in by_pitch.items()}
    angle = max(most, key=lambda key: float(most[key].max()))
    leg = int(np.argmax(most[angle]))
    lowest, at = min((forces[:, 1].min(), key) for key, forces in by_pitch.items())
    third = min(forces[:, 2].min() for forces in (*by_pitch.values(), *by_roll.values()))
    report.notes += [
        'Figs. 9, 14: with the printed plate of 3 kg, pitch within ±20° (the printed limits are '
        '−20.2° and 20.7°) changes F1 by at most '
        f'{max(v[0] for v in most.values()):.1f} N and F6 by at most '
        f'{max(v[5] for v in most.values()):.1f} N, not by 10 and 15 N. It changes '
        f'F{leg + 1} the most, by {most[angle][leg]:.1f} N at {angle:+g}°. True is that pitch '
        'changes F1 and F6 more than roll does.',
        f'Figs. 10, 11: F2 comes down to {lowest:.1f} N with pitch {at:+g}°, not with any roll; '
        f'F3 stays above {third:.1f} N throughout. No roll lowers the peaks of both.',
        'Figs. 12, 13: F4 is highest and F5 lowest at 3π/2ω = 1.57 s, at the lowest point of the '
        'path, whatever the attitude; "after 1.5 seconds" fits.',
    ]


def compare_angle_limits(
    report: Report, platform: Platform, said: dict[str, Any], joints: dict[str, Any]
) -> None:
    """Compare the stored limits, and ask whether two stops of the actuators can explain them."""
    stored = [np.degrees(getattr(platform.limits, axis)) for axis in ('roll', 'pitch', 'yaw')]
    printed_limits = [said[f'{axis}_deg'] for axis in ('roll', 'pitch', 'yaw')]
    report.add(
        'angle limits as stored', np.abs(np.subtract(stored, printed_limits)).max(), said['stored']
    )
    poses = [
        np.radians(np.eye(3)[axis] * angle)
        for axis, limits in enumerate(printed_limits)
        for angle in limits
    ]
    readings = {
        'section 4': (platform.geometry.base_joints, platform.geometry.platform_joints),
        'section 2': _rings(platform, *joints['section_2_angles_deg']),
    }
    for name, rings in readings.items():
        misfits = [
            (_stop_misfit(*rings, poses, height), height) for height in np.arange(0.2, 4.0, 0.005)
        ]
        least, height = min(misfits)
        report.add(
            f'angle limits by two stops of the stroke, joints of {name}: least misfit',
            1000.0 * least,
            said['stops'],
            f'best at a height of {height:.2f} m',
        )
    report.notes.append(
        'Section 2: the angle limits are said to follow from "the physical limitations"; no '
        'stroke and no joint angle is printed. Were they where the first actuator of a platform '
        'turned in place comes to its upper or lower stop, every limit pose would have an '
        'actuator at one of two lengths. At no height is that so for all six: some limit stays '
        'more than a centimetre away from both stops. They cannot be recomputed, and are stored '
        'as printed.'
    )


def _stop_misfit(base: Array, upper: Array, poses: list[Array], height: float) -> float:
    """Return how far the limit pose that fits least is from both stops [m].

    The stops are the longest and the shortest actuator of all limit poses, for no limit pose may
    be beyond a stop.
    """
    lengths = []
    for rpy in poses:
        pose = Pose.from_rpy([0.0, 0.0, height], rpy)
        legs = pose.position + upper @ pose.rotation.T - base
        lengths.append(np.linalg.norm(legs, axis=1))
    table = np.array(lengths)
    to_longest = table.max() - table.max(axis=1)
    to_shortest = table.min(axis=1) - table.min()
    return float(np.minimum(to_longest, to_shortest).max())


def note_misprints(report: Report) -> None:
    """List misprints and readings."""
    report.notes += [
        'Section 4: P_6 is printed with y = +0.1632, where P_1 is; it is −0.1632.',
        'Section 2 gives θ_p = 90° and θ_B = 30°; simulated, and listed as points, are 100° and '
        '31°. P_i are listed at the home height of 1.6 m, and the z of both cases counts from it.',
        'Three conventions are mixed: Eq. 3 is R_z(ψ) R_y(θ) R_x(φ), Eqs. 11 to 15 belong to '
        'R_y R_x R_z, Eqs. 17 to 24 to R_x(α) R_y(β) R_z(γ). The package derives all from Eq. 3.',
        'Eq. 12: the axis of ψ is R_y R_x Z; printed is R_x R_z Z. Eqs. 13 to 15 inherit it.',
        'Eq. 16: M is called diagonal; Eq. 17 is not.',
        'Eq. 17 is right for R_x R_y R_z and wrong for Eq. 3.',
        'Eq. 24: C_3 should be sin β cos γ sin γ (I_x − I_y); printed is cos γ sin² γ (I_x − '
        'I_y). The terms ½ I_z cos β, which M_46 makes, are missing from Eq. 23 altogether: even '
        'with the printed I_p of three equal moments Ṁ − 2C is not skew, as section 3 claims.',
        'Eq. 25: J(i,4) is not printed, it is P_iy (r_13 x̄ + r_23 ȳ + r_33 z) / l_i; J(i,5) has '
        'r_23 sin ψ for r_32 sin ψ, J(i,6) has +P_iy r_22 for −P_iy r_22. As printed J is '
        'singular wherever roll and pitch are zero, as in both cases.',
        'Eq. 20 should read l̇ = J Ẋ; Eq. 21 should have J^-T M J^-1, J^-T (C − M J^-1 J̇) J^-1 and '
        'J^-T G.',
        'Section 4 promises the inertial effect of the actuators and prints I_b and I_t, but Eqs. '
        '8 to 18 are the plate alone. Newton and Euler with both (the legs have no printed mass) '
        'change the forces by the quarter of a per cent in the row above.',
        'Gravity is taken as 9.80665 m/s²; the paper prints no value.',
    ]


if __name__ == '__main__':
    raise SystemExit(main())
