# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Figures 4, 7, 8, 9, 11 of the EX800 paper, drawn again and checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
import warnings

from ex800_variants import masses_of, radial_axes, Variant, with_masses
from matplotlib.figure import Figure
import numpy as np
from reproduction import Report
from scipy.spatial.transform import Rotation
from stewart_dynamics.inertia import InertialModel
from stewart_dynamics.multibody import MultibodyModel
from stewart_dynamics.newton_euler import reactions
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.motion import Array
from stewart_kinematics.plotting import plot_lines

PLATFORM = slice(0, 3)
"""The platform's centre of mass among the 78 coordinates."""


def draw_figure_4(report: Report, variant: Variant, said: dict[str, Any]) -> None:
    """Draw the driven circle and compare radius and constraint violation."""
    time = np.linspace(0.0, variant.said['circle']['duration_s'], 501)
    motion = variant.circle(time)
    solution = _model(variant.platform).solve(motion)
    report.add(
        'Fig. 4 largest constraint violation',
        solution.position_violation.max(),
        said['violation'],
        f'its rate reaches {solution.velocity_violation.max():.1e} m/s',
    )
    home = variant.platform.geometry.neutral_pose.position
    away = solution.coordinates[:, PLATFORM] - home
    radius = np.hypot(away[:, 0], away[:, 1])
    worst = int(np.argmax(np.abs(radius - said['radius']['value'])))
    report.add('Fig. 4 radius, worst sample', radius[worst], said['radius'])
    drawing = Figure(figsize=(11, 4.5))
    view = drawing.add_axes((0.0, 0.05, 0.5, 0.9), projection='3d')
    _draw_mechanism(view, variant.platform, solution.coordinates[0])
    view.plot(*solution.coordinates[:, PLATFORM].T, color='tab:red', linewidth=1.5)
    axes = drawing.add_axes((0.6, 0.13, 0.38, 0.82))
    axes.plot(time, 1e15 * solution.position_violation, linewidth=0.8)
    axes.axhline(1e15 * said['violation']['value'], color='tab:red', linestyle='--')
    axes.set(xlabel='time [s]', ylabel='largest constraint violation [1e-15 m]', ylim=(0.0, None))
    axes.grid(alpha=0.3)
    report.draw(
        'Figure 4',
        'The driven circle: bodies at the start and path of the platform; violation of the 72 '
        "joint constraints, and the paper's bound (dashed).",
        drawing,
        'largest constraint violation, radius',
    )


def _draw_mechanism(axes: Any, platform: Platform, coordinates: Array) -> None:
    """Draw base, platform, cylinders and rods from the 78 coordinates of one sample."""
    geometry, masses = platform.geometry, masses_of(platform)
    bodies = coordinates.reshape(13, 6)
    upper = bodies[0, :3] + geometry.platform_joints
    for points, colour in ((geometry.base_joints, 'black'), (upper, 'tab:red')):
        closed = np.vstack([points, points[:1]])
        axes.plot(*closed.T, color=colour, linewidth=1.0)
    for leg in range(6):
        along = upper[leg] - geometry.base_joints[leg]
        along = along / np.linalg.norm(along)
        top = bodies[1 + leg, :3] + masses.cylinder.centre_of_mass[2] * along
        axes.plot(*np.stack([geometry.base_joints[leg], top]).T, color='tab:blue', linewidth=3.0)
        foot = bodies[7 + leg, :3] + masses.rod.centre_of_mass[2] * along
        axes.plot(*np.stack([foot, upper[leg]]).T, color='tab:orange', linewidth=1.5)
    axes.set(xlabel='x [m]', ylabel='y [m]', zlabel='z [m]')
    axes.set_aspect('equal')


def draw_figure_7(report: Report, variant: Variant, said: dict[str, Any]) -> None:
    """Draw the platform's accelerations and compare their amplitudes and their integral."""
    time = _wave_time(variant)
    solution = _model(variant.platform).solve(variant.wave(time))
    acceleration = solution.accelerations[:, PLATFORM]
    for axis, amplitude in zip('xyz', _sines(variant, time, acceleration)[1], strict=True):
        report.add(f'Fig. 7 amplitude of the sine fitted to {axis}', amplitude, said[axis])
    step = 1e-4
    inner = time[1:-1:10]
    model = _model(variant.platform)
    before, centre, after = (model.solve(variant.wave(inner + k * step)) for k in (-1, 0, 1))
    second = (after.coordinates - 2.0 * centre.coordinates + before.coordinates) / step**2
    difference = np.abs(second - centre.accelerations)[:, PLATFORM].max()
    report.add('Fig. 7 accelerations against second differences', difference, said['difference'])
    drawing = Figure(figsize=(8, 3.5), layout='constrained')
    labels = [f'{axis}, theory' for axis in 'xyz']
    axes = drawing.add_subplot()
    _underlay(axes, plot_lines(axes, time, acceleration, labels, 'acceleration [m/s²]')[0])
    report.draw(
        'Figure 7',
        f'Accelerations of the platform on Eq. 18, {variant.name}; the measured ones are not '
        'in the text.',
        drawing,
        'amplitudes, second differences of the positions',
    )


def draw_figure_8(report: Report, variant: Variant, said: dict[str, Any]) -> None:
    """Draw local ZXY and converted ZXZ angles and compare the matrices of both."""
    time = _wave_time(variant)
    motion = variant.wave(time)
    attitude = variant.paper_attitude(motion)
    angles = _zxz_angles(attitude)
    report.add(
        'Fig. 8 matrix of the ZXZ angles against that of the ZXY angles',
        np.abs(_zxz_matrix(angles) - _zxy_matrix(variant, time)).max(),
        said['matrix'],
    )
    first, _, last = variant.angle_amplitudes
    report.add('Fig. 8 greatest θ', angles[:, 1].max(), {**said['tilt'], 'value': last})
    crossing = np.pi / variant.said['wave']['angular_frequency_radps'] + np.array([-1e-6, 1e-6])
    sides = variant.paper_attitude(variant.wave(crossing))
    phi = _zxz_angles(sides)[:, 0]
    jump = np.degrees(abs(np.diff(phi)[0]))
    report.add('Fig. 8 jump of φ where θ touches 0', jump, said['jump'])
    sine = np.sin(variant.said['wave']['angular_frequency_radps'] * time)
    drawing = Figure(figsize=(8, 7), layout='constrained')
    panels = drawing.subplots(3, 1, sharex=True)
    local = np.stack([first * sine, 0.0 * sine, last * sine], axis=1)
    labels = ('first, Z', 'second, X', 'third, Y')
    lines = plot_lines(panels[0], time, np.degrees(local), labels, 'local ZXY angles [deg]')
    _underlay(panels[0], lines[0])
    # Where theta is 0 only the sum of the others is known.
    known = np.where(angles[:, 1:2] > 1e-9, np.degrees(angles[:, [0, 2]]), np.nan)
    plot_lines(panels[1], time, known, ('φ', 'ψ'), 'ZXZ angles [deg]')
    plot_lines(panels[2], time, np.degrees(angles[:, 1:2]), ('θ',), 'ZXZ angle θ [deg]')
    report.draw(
        'Figure 8',
        f'Attitude of the platform on Eq. 18, {variant.name}: the angles of the controller and '
        'the ZXZ angles of the model, φ_0 included. φ and ψ jump by 180° whenever θ touches 0.',
        drawing,
        'matrices, greatest θ, jump of φ',
    )


def _zxy_matrix(variant: Variant, time: Array) -> Array:
    """Return the paper's attitude, built from the amplitudes alone, shape (n, 3, 3)."""
    sine = np.sin(variant.said['wave']['angular_frequency_radps'] * time)
    first, second, third = (a * sine for a in variant.angle_amplitudes)
    local = _about(2, first) @ _about(0, second) @ _about(1, third)
    turn = _about(2, np.array(np.radians(variant.said['turn_deg'])))
    return np.asarray(local @ turn if variant.turn == 'after' else turn @ local)


def _zxz_angles(attitude: Array) -> Array:
    """Return the ZXZ angles (n, 3) of matrices (n, 3, 3); ψ is 0 where θ is."""
    with warnings.catch_warnings():
        warnings.filterwarnings('ignore', message='Gimbal lock', category=UserWarning)
        return np.asarray(Rotation.from_matrix(attitude).as_euler('ZXZ'))


def _zxz_matrix(angles: Array) -> Array:
    """Return R_z(phi) R_x(theta) R_z(psi), shape (n, 3, 3)."""
    return np.asarray(_about(2, angles[:, 0]) @ _about(0, angles[:, 1]) @ _about(2, angles[:, 2]))


def _about(axis: int, angle: Array) -> Array:
    """Return rotations about a coordinate axis, entry by entry."""
    j, k = (axis + 1) % 3, (axis + 2) % 3
    matrix = np.zeros((*angle.shape, 3, 3))
    matrix[..., axis, axis] = 1.0
    matrix[..., j, j] = matrix[..., k, k] = np.cos(angle)
    matrix[..., k, j], matrix[..., j, k] = np.sin(angle), -np.sin(angle)
    return matrix


def draw_figure_9(report: Report, variant: Variant, said: dict[str, Any]) -> None:
    """Draw the platform's generalised forces and compare them in four ways."""
    time = _wave_time(variant)
    motion = variant.wave(time)
    platform, masses = variant.platform, masses_of(variant.platform)
    solution = _model(platform).solve(motion)
    force = solution.generalised_forces[:, 0, :3]
    newton = masses.platform.mass * (masses.gravity - motion.linear_acceleration)
    report.add('Fig. 9 Q_c against m (g − a)', np.abs(force - newton).max(), said['newton'])
    spherical = solution.multipliers[:, :72].reshape(-1, 6, 12)[..., 9:].sum(axis=1)
    joined = spherical + solution.multipliers[:, 72:75]
    report.add('Fig. 9 Q_c against C_qᵀλ', np.abs(force - joined).max(), said['multipliers'])
    model = InertialModel.from_platform(platform, radial_axes(platform))
    wrench = reactions(model, motion).platform_wrench[:, :3]
    report.add('Fig. 9 Q_c against the legs', np.abs(force + wrench).max(), said['wrench'])
    mean, amplitudes = _sines(variant, time, force)
    report.add('Fig. 9 mean of Q_cz', mean[2], said['weight'])
    for axis, amplitude in zip('xyz', amplitudes, strict=True):
        report.add(f'Fig. 9 amplitude of Q_c{axis}', amplitude, said[axis])
    drawing = Figure(figsize=(8, 5.5), layout='constrained')
    across, upright = drawing.subplots(2, 1, sharex=True)
    labels = ('Q_cx', 'Q_cy')
    _underlay(across, plot_lines(across, time, force[:, :2], labels, 'generalised force [N]')[0])
    plot_lines(upright, time, force[:, 2:], ('Q_cz',), 'generalised force [N]')
    report.draw(
        'Figure 9',
        'Generalised forces of the platform on Eq. 18; the measured ones are not in the text.',
        drawing,
        'Newton, multipliers, wrench of the legs, mean and amplitudes',
    )
    report.notes.append(
        'Eq. 8: with Eq. 6 as printed, Q_c = Q_e − M q″, so Q_c is minus the force that the legs '
        'exert on the platform and Q_cz is about −67 N. Where a plot of the paper has it '
        'positive, its sign is the opposite. The frame is at the centre of mass, so neither the '
        'angles of Eq. 18 nor any inertia has an effect on the three forces.'
    )


def draw_figure_11(report: Report, variant: Variant, said: dict[str, Any]) -> None:
    """Draw Q_cz with three masses and its sensitivity, and compare with the derivative."""
    time = _wave_time(variant)
    motion = variant.wave(time)
    body = masses_of(variant.platform).platform
    step = said['change'] * body.mass
    masses = (body.mass - step, body.mass, body.mass + step)
    forces = [
        _model(with_masses(variant.platform, platform=replace(body, mass=mass)))
        .solve(motion)
        .generalised_forces[:, 0, 2]
        for mass in masses
    ]
    sensitivity = (forces[2] - forces[0]) / (2.0 * step)
    analytic = masses_of(variant.platform).gravity[2] - motion.linear_acceleration[:, 2]
    difference = np.abs(sensitivity - analytic).max()
    report.add('Fig. 11 central difference against the derivative', difference, said['analytic'])
    mean, amplitude = _sines(variant, time, sensitivity[:, None])
    report.add('Fig. 11 mean sensitivity', mean[0], said['mean'])
    report.add('Fig. 11 amplitude of the sensitivity', amplitude[0], said['amplitude'])
    drawing = Figure(figsize=(8, 5.5), layout='constrained')
    above, below = drawing.subplots(2, 1, sharex=True)
    labels = [f'm_p = {mass:.3f} kg' for mass in masses]
    above.margins(y=0.25)
    plot_lines(above, time, np.stack(forces, axis=1), labels, 'Q_cz [N]')
    plot_lines(below, time, sensitivity[:, None], ('∂Q_cz/∂m_p',), 'sensitivity [N/kg]')
    report.draw(
        'Figure 11',
        'Q_cz with the mass of the platform ±10 %, and its sensitivity by central differences.',
        drawing,
        'derivative −(g + z″), mean, amplitude',
    )


def _underlay(axes: Any, line: Any) -> None:
    """Make a line broad and pale: x and y, first and third angle may be the same."""
    line.set(linewidth=4.0, alpha=0.4)
    axes.legend(fontsize='small', ncols=3, loc='lower left')


def _model(platform: Platform) -> MultibodyModel:
    """Return the 78 coordinates with the paper's axes."""
    return MultibodyModel.from_platform(platform, universal_axes=radial_axes(platform))


def _wave_time(variant: Variant) -> Array:
    """Return the times at which Eq. 18 is drawn [s]."""
    return np.linspace(0.0, variant.said['wave']['duration_s'], 1001)


def _sines(variant: Variant, time: Array, values: Array) -> tuple[Array, Array]:
    """Fit mean and one sine of Eq. 18's frequency to columns; return means and amplitudes."""
    angle = variant.said['wave']['angular_frequency_radps'] * time
    basis = np.stack([np.ones_like(angle), np.cos(angle), np.sin(angle)], axis=1)
    mean, cosine, sine = np.linalg.lstsq(basis, values, rcond=None)[0]
    return mean, np.hypot(cosine, sine)
