# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures 7, 10, 11, 12 of the Vigo paper, drawn again and checked where the text has numbers."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure
import numpy as np
from reproduction import entry, Report
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array, Motion, Pose
from stewart_kinematics.plotting import LEGS, plot_lines
from stewart_kinematics.solvers.inverse import inverse
from stewart_kinematics.spatial import rpy_from_quaternion
from stewart_kinematics.trajectories import AiryWave, Cycloidal, OrbitalWave, Trajectory
from stewart_kinematics.trajectories.cycloidal import shortest_duration

AXES = ('x', 'y', 'z', 'alpha', 'beta', 'gamma')
ANGLES = ('α (about z)', 'β (about y)', 'γ (about x)')
MM = 1000.0


def pose_of(platform: Platform, printed: list[float]) -> Pose:
    """Return the pose of the paper's x, y, z [mm], α, β, γ [deg], z counted from the zero pose."""
    zero = platform.geometry.zero_pose.position
    alpha, beta, gamma = np.radians(printed[3:])
    return Pose.from_rpy(zero + np.asarray(printed[:3]) / MM, (gamma, beta, alpha))


def draw_figure_7(report: Report, platform: Platform, said: dict[str, Any]) -> None:
    """Draw one cycloidal move and compare its duration and peaks."""
    way, speed = said['way_mm'] / MM, said['velocity']['value'] / MM
    duration = shortest_duration([way], speed, np.inf, np.inf)
    start = pose_of(platform, [0, 0, 0, 0, 0, 0])
    target = pose_of(platform, [said['way_mm'], 0, 0, 0, 0, 0])
    time, motion = _run(Cycloidal(start, target, duration))
    report.add('Fig. 7 duration of 30 mm at 20 mm/s', duration, said['duration'])
    report.add('Fig. 7 peak velocity', MM * motion.linear_velocity[:, 0].max(), said['velocity'])
    acceleration = MM * motion.linear_acceleration[:, 0]
    report.add('Fig. 7 peak acceleration', acceleration.max(), said['acceleration'])
    jerk = np.abs(np.gradient(acceleration, time, edge_order=2)).max()
    report.add('Fig. 7 peak jerk', jerk, said['jerk'])
    drawing = Figure(figsize=(7, 3.5), layout='constrained')
    axes = drawing.add_subplot()
    way_axis = MM * (motion.position[:, :1] - start.position[0])
    plot_lines(axes, time, way_axis, ['displacement'], 'displacement [mm]')
    other = axes.twinx()
    other.plot(time, MM * motion.linear_velocity[:, 0], color='tab:red')
    other.set_ylabel('velocity [mm/s]', color='tab:red')
    report.draw(
        'Figure 7', 'A span of 30 mm in 3 s.', drawing, 'duration, velocity, acceleration, jerk'
    )


def draw_figure_10(report: Report, platform: Platform, said: dict[str, Any]) -> None:
    """Draw the six point-to-point moves and compare their peak rates."""
    drawing = Figure(figsize=(10, 15), layout='constrained')
    panels = drawing.subplots(6, 2)
    lowest, highest = np.inf, -np.inf
    for (left, right), move in zip(panels, said['moves'], strict=True):
        index = AXES.index(move['axis'])
        start, target = list(said['start']), list(said['start'])
        target[index] = move['target']
        way, rate = abs(target[index] - start[index]), move['rate']
        duration = shortest_duration([way], rate['value'], np.inf, np.inf)
        time, motion = _run(
            Cycloidal(pose_of(platform, start), pose_of(platform, target), duration)
        )
        twist = np.concatenate(
            [MM * motion.linear_velocity, np.degrees(motion.angular_velocity[:, ::-1])], axis=1
        )
        report.add(
            f'Fig. 10 peak rate of {move["axis"]} (to {move["target"]:g} in {duration:g} s)',
            np.abs(twist[:, index]).max(),
            rate,
        )
        stroke = MM * inverse(platform.geometry, motion).stroke
        lowest, highest = min(lowest, stroke.min()), max(highest, stroke.max())
        unit = 'mm' if index < 3 else 'deg'
        values = printed_axes(platform, motion)[:, index, None]
        plot_lines(left, time, values, [move['axis']], f'{move["axis"]} [{unit}]')
        plot_lines(right, time, stroke, LEGS, 'stroke [mm]')
    for name, value, relation, bound in (
        ('lowest', lowest, '>=', MM * platform.limits.stroke[0, 0]),
        ('highest', highest, '<=', MM * platform.limits.stroke[0, 1]),
    ):
        said_bound = entry(bound, 0.0, 'mm', 'section 2: 600 mm of stroke are used')
        said_bound['relation'] = relation
        report.add(f'Fig. 10 {name} stroke of all moves', value, said_bound)
    report.draw(
        'Figure 10',
        'Six moves from (0, 0, 150 mm, 0, 0, 0): left the moved coordinate, right the strokes.',
        drawing,
        'peak rates, range of the strokes',
    )
    report.notes.append(
        'Fig. 10: "100 mm absolute" is read as the target coordinate, so z goes down by 50 mm; '
        '"at 20 mm/s" as the peak rate, as in Fig. 7, which gives 10, 10, 5, 6, 6 and 10 s.'
    )


def draw_figure_11(report: Report, platform: Platform, said: dict[str, Any]) -> None:
    """Draw the single wave and compare amplitude, period and phase."""
    wave = wave_of(platform, said['wave'])
    period = said['period']['value']
    time = np.arange(0.0, 3.0 * period, 0.01)
    heave = MM * (wave.sample(time).position[:, 2] - wave.centre.position[2])
    upward = np.flatnonzero((heave[:-1] < 0.0) & (heave[1:] >= 0.0))
    crossings = time[upward] - heave[upward] * 0.01 / (heave[upward + 1] - heave[upward])
    report.add('Fig. 11 half of the heave', 0.5 * np.ptp(heave), said['amplitude'])
    report.add('Fig. 11 time between crossings', np.diff(crossings).mean(), said['period'])
    phase = np.degrees(np.arccos(wave.elevation(0.0) / (said['amplitude']['value'] / MM)))
    report.add('Fig. 11 phase at the start', phase, said['phase'])
    drawing = _draw_wave(report, 'Fig. 11', platform, wave, 40.0)
    report.draw(
        'Figure 11',
        'Single wave: positioning, then the wave.',
        drawing,
        'amplitude, period, phase',
    )


def draw_figure_12(report: Report, platform: Platform, said: dict[str, Any]) -> None:
    """Draw the random wave and recover its lines from the sampled surface."""
    columns = said['wave']
    wave = wave_of(platform, columns)
    time = np.arange(0.0, 210.0, 0.05)
    periods = sorted(set(columns['period']), reverse=True)
    basis = [f(2.0 * np.pi * time / period) for period in periods for f in (np.cos, np.sin)]
    fitted = np.linalg.lstsq(np.transpose(basis), MM * wave.elevation(time), rcond=None)[0]
    amplitude, phase = np.asarray(columns['amplitude']), np.radians(columns['phase'])
    for index, period in enumerate(periods):
        alike = np.asarray(columns['period']) == period
        printed = abs(np.sum(amplitude[alike] * np.exp(1j * phase[alike])))
        report.add(
            f'Fig. 12 line of {period:g} s',
            float(np.hypot(*fitted[2 * index : 2 * index + 2])),
            entry(printed, said['amplitude_tolerance_mm'], 'mm', said['source']),
            f'{alike.sum()} waves of this period add up' if alike.sum() > 1 else '',
        )
    drawing = _draw_wave(report, 'Fig. 12', platform, wave, 60.0)
    caption = 'Random wave of five components: positioning, then the wave.'
    report.draw('Figure 12', caption, drawing, 'amplitudes of the lines')
    steep = np.sum(2.0 * np.pi * amplitude / np.asarray(columns['length']))
    gentle = steep / MM
    report.notes.append(
        f'Eq. 37 prints the lengths in mm. Then the slopes would add up to '
        f'{np.degrees(np.arctan(steep)):.0f}°; in m, as taken here and as in Fig. 11, to '
        f'{np.degrees(np.arctan(gentle)):.2f}°. Either way period and length do not obey '
        f"deep-water dispersion (3 s is 14 m); the paper's numbers are kept for the paper."
    )
    report.notes += [
        "Eqs. 31, 32 are read with the component's own elevation in the exponent and with a minus "
        'before the horizontal part: a crest that travels forward carries the particle forward. '
        'The printed sign, as far as the text shows it, mirrors x and y of Figs. 11 and 12.',
        'Eq. 33 tilts about the angles α and β, but α is the rotation about z (Eq. 5). What is '
        'meant, and drawn, is the tilt that makes the normal of the platform that of the surface.',
        'Phases of Eq. 37 are taken as positive; the text may have lost minus signs.',
    ]


def wave_of(platform: Platform, columns: dict[str, list[float]]) -> OrbitalWave:
    """Return a wave of the paper about the zero pose raised by 150 mm, where Fig. 10 begins."""
    rows = zip(
        [value / MM for value in columns['amplitude']],
        columns['period'],
        columns['length'],
        np.radians(columns['phase']).tolist(),
        strict=True,
    )
    components = tuple(AiryWave(*row) for row in rows)
    return OrbitalWave(components, pose_of(platform, [0, 0, 150, 0, 0, 0]))


def printed_axes(platform: Platform, motion: Motion) -> Array:
    """Return x, y, z [mm] from the zero pose and α, β, γ [deg], shape (n, 6)."""
    away = MM * (motion.position - platform.geometry.zero_pose.position)
    angles = np.degrees(rpy_from_quaternion(motion.quaternion_xyzw))[:, ::-1]
    return np.concatenate([away, angles], axis=1)


def _draw_wave(
    report: Report, figure: str, platform: Platform, wave: OrbitalWave, length: float
) -> Figure:
    """Draw positioning and wave as the paper does, and note the jump it makes."""
    first = wave.sample(0.0)
    move = Cycloidal(wave.centre, first.pose, 3.0)
    time_move, positioning = _run(move)
    time_wave = np.arange(0.0, length, 0.02)
    waving = wave.sample(time_wave)
    time = np.concatenate([time_move, move.duration + time_wave])
    axes = np.concatenate([printed_axes(platform, motion) for motion in (positioning, waving)])
    stroke = np.concatenate(
        [inverse(platform.geometry, motion).stroke for motion in (positioning, waving)]
    )
    drawing = Figure(figsize=(10, 8), layout='constrained')
    panels = drawing.subplots(3, 1)
    centre = MM * (wave.centre.position - platform.geometry.zero_pose.position)
    plot_lines(panels[0], time, axes[:, :3] - centre, 'xyz', 'displacement [mm]')
    plot_lines(panels[1], time, axes[:, 3:], ANGLES, 'attitude [deg]')
    plot_lines(panels[2], time, MM * stroke, LEGS, 'stroke [mm]')
    jump = MM * float(np.linalg.norm(first.linear_velocity))
    report.notes.append(
        f'{figure}: a wave that starts where the positioning ended, as in the paper, starts with '
        f'a jump of the velocity of {jump:.2f} mm/s. The nodes fade the wave in instead: neither '
        f'velocity nor acceleration jumps.'
    )
    return drawing


def _run(trajectory: Trajectory) -> tuple[Array, Motion]:
    """Return times at which a move is drawn and judged [s], and its motion."""
    time = np.linspace(0.0, trajectory.duration, 3001)
    return time, trajectory.sample(time)
