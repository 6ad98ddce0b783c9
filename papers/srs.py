# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Reproduce the state estimation of the paper on the SIMONA Research Simulator.

I. Miletovic, D. M. Pool, O. Stroosma, M. M. van Paassen, Q. P. Chu: Improved Stewart platform
state estimation using inertial and actuator position measurements. Control Engineering Practice
62 (2017) 102-115.

``python papers/srs.py`` compares the numbers of ``data/srs.yaml`` with ours, prints the rows,
writes ``build/papers/srs.html`` and one PNG file per figure, and exits with 1 if a row fails. The
measurements on the machine are not published; sections 4 and 5 are both simulated, section 5 with
an IMU that is late.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from reproduction import command_line, entry, publish, published, Report
from srs_comparison import compare_beside, compare_methods, compare_pilots
from srs_figures import (
    draw_biases,
    draw_comparison,
    draw_deviations,
    draw_errors,
    draw_innovations,
    draw_states,
)
from srs_simulated import (
    AT_JOINT_CENTRE,
    PROFILES,
    SensorErrors,
    simulate,
)
from srs_sixteen import DEVIATIONS
from srs_sixteen import run as run_sixteen
from srs_study import (
    converged_after,
    errors_of,
    Filtered,
    filtered,
    final_rms,
    GROUPS,
    mean_band,
    rms_by_group,
    scaled,
    settings_of,
)
from stewart_estimation.consistency import autocorrelation
from stewart_estimation.estimate import Estimate
from stewart_estimation.replay import replay
from stewart_estimation.settings import DelayEstimation
from stewart_kinematics.model.platform import Platform

Runs = dict[str, list[Filtered]]


def main(argv: list[str] | None = None) -> int:
    """Reproduce, print, write; return the exit code."""
    parser = command_line(__doc__)
    parser.add_argument('--seeds', type=int, help='runs of each profile; default as the data file')
    arguments = parser.parse_args(argv)
    return publish(reproduce(arguments.seeds), 'srs', arguments.output)


def reproduce(seeds: int | None = None) -> Report:
    """Compare what the paper states, section by section; `seeds` runs of each profile."""
    said = published('srs')
    study = said['study'] if seeds is None else {**said['study'], 'seeds': seeds}
    report = Report(said['paper'])
    compare_table_1(report, said['table_1'])
    compare_motion(report, said['motion'])
    compare_table_2(report, said['table_2'])
    runs = {
        name: [filtered(name, seed, study['duration_s']) for seed in range(study['seeds'])]
        for name in PROFILES
    }
    compare_bound(report, runs, said, study['settled_s'])
    compare_table_3(report, runs['MP1'], said['table_3'])
    compare_printed_tuning(report, said['printed_tuning'], study)
    compare_far_start(report, said['far_start'], said['close'], study)
    compare_sixteen_states(report, said['sixteen_states'])
    delayed = compare_delayed(report, said['delayed'], study)
    compare_methods(report, runs, delayed, said['comparison'], study['settled_s'])
    compare_pilots(report, said['pilots'], study)
    compare_beside(report, said['beside'], study)
    steps = sum(len(item.series) for items in runs.values() for item in items)
    taken = 1e6 * sum(item.seconds for items in runs.values() for item in items) / steps
    report.add('prediction and correction, per sample', taken, said['timing'], 'on this machine')
    first = {name: items[0] for name, items in runs.items()}
    draw_innovations(report, 'Figure 9', first, 'share inside 2σ, NIS, lag-1 correlation')
    draw_errors(report, 'Figure 10', first, 'RMS errors')
    draw_biases(report, 'Figure 11', first, 'RMS errors of the biases, Table 3')
    draw_innovations(report, 'Figure 12', delayed, 'band and colour at 30 ms, Q × 1000')
    draw_states(report, 'Figure 13', delayed)
    draw_biases(report, 'Figure 14', delayed, estimates=True)
    draw_comparison(report, 'Figure 15', delayed)
    for number, name in ((16, 'MP1'), (17, 'MP2')):
        draw_deviations(report, f'Figure {number}', name, first[name], delayed[name])
    note_misprints(report)
    return report


def compare_table_1(report: Report, said: dict[str, Any]) -> None:
    """Compare the platform's description with Table 1."""
    platform = Platform.from_yaml('srs')
    geometry, limits = platform.geometry, platform.limits
    home = geometry.neutral_pose
    legs = np.linalg.norm(home.position + geometry.platform_joints - geometry.base_joints, axis=1)
    report.add('neutral length, leg furthest from it', legs[0], said['neutral_length'])
    shortest = geometry.retracted_length[0] + limits.stroke[0, 0]
    report.add('l_min', shortest, said['shortest'])
    report.add('l_max', geometry.retracted_length[0] + limits.stroke[0, 1], said['longest'])
    for name, joints in (
        ('upper', geometry.platform_joints),
        ('lower', geometry.base_joints),
    ):
        gaps = np.linalg.norm(joints - np.roll(joints, 1, axis=0), axis=1)
        report.add(f'least distance of {name} joints', gaps.min(), said[f'spacing_{name}'])


def compare_motion(report: Report, said: dict[str, Any]) -> None:
    """Compare how far and fast the two profiles go."""
    neutral = said['MP1_travel']['value']
    for name in PROFILES:
        run = simulate(name, 0, duration=60.0, errors=SensorErrors.none())
        lengths = run.legs.lengths
        neutral = lengths[0]
        travel = np.abs(lengths - neutral).max()
        report.add(f'{name}: legs furthest from neutral', travel, said[f'{name}_travel'])
        rate = np.degrees(np.abs(run.truth.angular_velocity[:, :2]).max())
        report.add(f'{name}: greatest roll or pitch rate', rate, said[f'{name}_rate'])
    report.notes.append(
        'MP2 was recorded from a human pilot and is not published: known are its greatest rate, '
        'about 7 deg/s, its travel, in the order of 10 cm, and that roll and pitch move together '
        'and fast. Its spectrum, phases and accelerations are not known. Ours is a sum of sines '
        'in roll, pitch, surge and heave with that rate and travel.'
    )


def compare_table_2(report: Report, said: dict[str, Any]) -> None:
    """Compare the simulated noise at rest with Table 2."""
    rest = simulate('MP1', 0, duration=40.0)
    clean = simulate('MP1', 0, duration=40.0, errors=SensorErrors.none())
    noise = np.hstack(
        [
            rest.imu.specific_forces - clean.imu.specific_forces,
            rest.imu.angular_velocities - clean.imu.angular_velocities,
            rest.legs.lengths - clean.legs.lengths,
        ]
    ).std(axis=0, ddof=1)
    for row, ours in zip(said['rows'], noise, strict=True):
        tolerance = said['relative_tolerance'] * row['value']
        report.add(
            row['name'],
            ours,
            entry(row['value'], tolerance, row['unit'], said['source']),
            row.get('note', ''),
        )
    report.notes.append('Tables 2 and 3: rows four to six are p, q, r; printed are p, p, q.')


def compare_bound(report: Report, runs: Runs, said: dict[str, Any], settled: float) -> None:
    """Compare errors and innovations with the paper's claims and the bound of the sensors."""
    for name, items in runs.items():
        whole = rms_by_group(items, settled)
        last = final_rms(items)
        found = {**whole, **{key: last[key] for key in GROUPS[3:]}}
        count = f'{len(items)} seeds, from {settled:g} s on; biases at the end'
        for key in GROUPS:
            label = f'{name}: RMS of the {key.replace("_", " ")}'
            if name == 'MP1':
                report.add(f'{label}, claim', found[key], said['claims'][key], count)
            report.add(label, found[key], said['bound'][key], count)
        inside, nis, lag = _innovations(items)
        report.add(f'{name}: share inside 2σ', inside, said['bound']['inside'])
        report.add(f'{name}: mean NIS', nis, said['bound']['nis'])
        report.add(f'{name}: lag-1 correlation, worst leg', lag, said['bound']['lag_1'])
        band = mean_band(15, len(items))
        nees = float(np.mean([item.final_nees() for item in items]))
        report.add(
            f'{name}: mean NEES at the end',
            nees,
            entry(15.0, 0.5 * (band[1] - band[0]), '-', 'derived: χ² with 15 degrees, 95 % band'),
        )
        after = converged_after(items, **said['close'])
        report.add(f'{name}: converged after', after, said['bound']['convergence'])


def _innovations(items: list[Filtered], rows: Any = slice(1, None)) -> tuple[float, float, float]:
    """Return share inside two sigma, mean NIS and the worst leg's lag-1 correlation."""
    normalised = [(s.innovations / s.sigmas)[rows] for s in (item.series for item in items)]
    inside = float(np.mean([np.abs(z) < 2.0 for z in normalised]))
    nis = float(np.mean([item.series.nis[rows] for item in items]))
    lags = np.mean([autocorrelation(z, 1)[0] for z in normalised], axis=0)
    return inside, nis, float(lags[np.argmax(np.abs(lags))])


def compare_table_3(report: Report, items: list[Filtered], said: dict[str, Any]) -> None:
    """Compare the biases that the filter finds on MP1 with Table 3."""
    found = np.mean(
        [
            np.hstack([s.accelerometer_bias[-1], s.gyroscope_bias[-1]])
            for s in (item.series for item in items)
        ],
        axis=0,
    )
    for row, ours, tolerance in zip(said['rows'], found, said['tolerances'], strict=True):
        report.add(
            f'{row["name"]} as found on MP1',
            ours,
            entry(row['value'], tolerance, row['unit'], said['source']),
            row.get('note', ''),
        )


def compare_printed_tuning(report: Report, said: dict[str, Any], study: dict[str, Any]) -> None:
    """Filter MP1 with the paper's own Q and R."""
    seeds = range(study['far_seeds'])
    items = [filtered('MP1', seed, study['duration_s'], factor=1.1) for seed in seeds]
    inside, nis, _ = _innovations(items)
    report.add('Q, R × 1.1: share inside 2σ', inside, said['inside'])
    report.add('Q, R × 1.1: mean NIS', nis, said['nis'], '6 / 1.1 by construction')
    velocity = rms_by_group(items, study['settled_s'])['velocity']
    report.add('Q, R × 1.1: RMS of the velocity, MP1', velocity, said['velocity'])


def compare_far_start(
    report: Report, said: dict[str, Any], close: dict[str, float], study: dict[str, Any]
) -> None:
    """Start MP1 from the paper's x_0, one metre above the base."""
    items = []
    for seed in range(study['far_seeds']):
        run = simulate('MP1', seed, duration=study['duration_s'], mounting=AT_JOINT_CENTRE)
        geometry, settings = run.platform.geometry, scaled(settings_of(run), 1.1, 1.1)
        # 0.1 in a quaternion is 0.2 rad.
        variances = np.concatenate([DEVIATIONS[:6], 2.0 * DEVIATIONS[7:10], DEVIATIONS[10:]]) ** 2
        start = Estimate(
            stamp=0.0,
            position=np.array([0.0, 0.0, 1.0]),
            quaternion_xyzw=np.array([0.0, 0.0, 0.0, 1.0]),
            covariance=np.diag(variances),
        )
        series = replay(geometry, settings, run.imu, run.legs, start)
        items.append(Filtered(run, series, errors_of(run, series), 0.0))
    after = converged_after(items, **close)
    report.add('from x_0 of Eq. 20: converged after', after, said['convergence'])
    report.notes.append(
        'Eq. 20 prints fifteen values for sixteen states: one zero is missing. P_0 of a metre and '
        'of 0.1 per quaternion component is taken as 0.2 rad for the attitude.'
    )


def compare_sixteen_states(report: Report, said: dict[str, Any]) -> None:
    """Filter MP1 as the paper does: sixteen additive states, forward Euler, filterpy."""
    run = simulate('MP1', 0, duration=said['duration_s'], mounting=AT_JOINT_CENTRE)
    rows = run.legs.stamps >= said['first_s']
    for name, midpoint in (('forward Euler', False), ('midpoint rule', True)):
        found = run_sixteen(run, midpoint=midpoint)
        error = (found.linear_velocity - run.truth.linear_velocity)[rows]
        velocity = float(np.sqrt(np.mean(error**2)))
        inside = float(np.mean(np.abs(found.innovations / found.sigmas)[rows] < 2.0))
        label = f'16 states, {name}'
        if midpoint:
            report.add(f'{label}: RMS of the velocity', velocity, said['velocity_midpoint'])
            continue
        report.add(f'{label}: RMS of the velocity, claim', velocity, said['velocity'])
        report.add(f'{label}: share inside 2σ, claim', inside, said['inside'])
        report.add(f'{label}: RMS of the velocity', velocity, said['velocity_found'])
        report.add(f'{label}: share inside 2σ', inside, said['inside_found'])
    report.notes.append(
        'Section 4.5 explains the periodic errors of MP1 by the unscented transform. They are '
        "those of forward Euler: with the midpoint rule and the IMU's samples joined by straight "
        'lines the same sixteen states have none. Where the truth itself is made by forward '
        'Euler, as the paper hints (section 4), the two errors cancel in part.'
    )


def compare_delayed(
    report: Report, said: dict[str, Any], study: dict[str, Any]
) -> dict[str, Filtered]:
    """Filter both profiles with a late IMU; return the runs with the paper's Q × 1000."""
    late, duration = study['delay_s'], study['duration_s']
    options: dict[str, Any] = {'beside': True, 'imu_delay': late}
    tuned = {
        name: filtered(name, 0, duration, factor=1.0, imu_factor=1000.0, **options)
        for name in PROFILES
    }
    settled = slice(int(study['settled_s'] / 0.01), None)
    label = f'IMU {1e3 * late:g} ms late'
    untuned = filtered('MP1', 0, duration, **options)
    inside = _innovations([untuned], settled)[0]
    report.add(f'{label}, MP1: share inside 2σ', inside, said['untuned_inside'])
    for name, item in tuned.items():
        inside, _, lag = _innovations([item], settled)
        report.add(f'{label}, Q × 1000, {name}: share inside 2σ', inside, said['inside'])
        if name == 'MP1':
            band = 2.0 * float(np.median(item.series.sigmas[settled]))
            report.add(f'{label}, Q × 1000: band 2σ', band, said['band'])
            report.add(f'{label}, Q × 1000: lag-1 correlation', abs(lag), said['colour'])
    # At the upper gimbal point, so that the velocity has no noise of the gyroscope in it.
    found = filtered('MP1', 0, duration, imu_delay=late, delay=DelayEstimation())
    report.add(f'{label}, MP1: delay found', found.series.delay[-1], said['delay'])
    # Until the last IMU sample: nothing tells what comes after it.
    velocity = rms_by_group([found], 12.0, duration - 2.0 * late)['velocity']
    report.add(f'{label}, MP1: RMS of the velocity, delay found', velocity, said['velocity'])
    return tuned


def note_misprints(report: Report) -> None:
    """List misprints and readings."""
    report.notes += [
        'Eq. 22 and Eq. 27 have the sign of a skew matrix wrong: '
        'f_imu − f_ugp = (Ω̇ + Ω²) c_imu and V_ugp = V − (Ω − Λ) c_imu; the platform is turned '
        'about the upper gimbal point, not about the IMU. Rows with the IMU beside it use these.',
        'Sections 4 and 5 differ in where the IMU is: in the upper gimbal point up to section '
        "5.2, 0.305 m beside it on the machine. There the gyroscope's noise of one sample, times "
        'the lever arm, is in the velocity of the upper gimbal point, whatever the filter: the '
        'rows "IMU beside" have the bound that follows from the noises.',
        'Eq. 21 makes Q and R ten percent larger than the noises, so the mean NIS is 5.45 and '
        '96.4 % lie inside 2σ: consistency is judged with Q, R = diag σ². Q enters as dt² G Q Gᵀ, '
        'noise per sample; dt G Q Gᵀ would be a hundred times more.',
        'Axes of the paper point down; the platform is stored with z up, turned once by R_x(π), '
        'and its IMU keeps the axes of the paper.',
        'A constant error of an actuator sensor (section 5.2: a few tenths of a millimetre) does '
        'not show in the innovations: it moves the pose. No row can test for it.',
    ]


if __name__ == '__main__':
    raise SystemExit(main())
