# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Reproduce the dynamics of the paper on the DeltaLab EX800.

M. M. Elshami, H. El-Hussieny, H. Ishii, A. Nada: Multibody Based Parameter Estimation of Stewart
Platform Using Particles Swarm Optimization. Machines 2026, 14, 218.

``python papers/ex800.py`` compares the numbers of ``data/ex800.yaml`` with ours, prints the rows,
writes ``build/papers/ex800.html`` and one PNG file per figure, and exits with 1 if a row fails.
``--variant printed``, ``--turn before`` and ``--exchange-angles`` choose other readings of the
paper for the figures; rows that concern a certain reading are always computed for that one.
"""

from __future__ import annotations

from typing import Any

from ex800_figures import (
    draw_figure_4,
    draw_figure_7,
    draw_figure_8,
    draw_figure_9,
    draw_figure_11,
)
from ex800_identification import compare_identification
from ex800_variants import (
    change,
    home_condition,
    joints,
    leg_forces,
    masses_of,
    radial_axes,
    Variant,
    with_centres_moved,
    with_joints,
    without_legs,
    without_spin,
)
import numpy as np
from reproduction import command_line, publish, published, Report
from stewart_dynamics.multibody import MultibodyModel
from stewart_dynamics.multibody.coordinates import Coordinates
from stewart_kinematics.errors import ConvergenceError, GeometryError
from stewart_kinematics.motion import Array, Motion
from stewart_kinematics.solvers.inverse import inverse, leg_lengths

CORRECTED, PRINTED = Variant('corrected'), Variant('printed')

TIME = np.linspace(0.0, 5.0, 501)
"""Where rows without a figure look at Eqs. 17 and 18 [s]."""

MOTIONS = {
    'Eq. 17': CORRECTED.circle(TIME),
    'Eq. 18 corrected': CORRECTED.wave(TIME),
    'Eq. 18 as printed': PRINTED.wave(TIME),
}


def main(argv: list[str] | None = None) -> int:
    """Reproduce, print, write; return the exit code."""
    parser = command_line(__doc__)
    parser.add_argument(
        '--variant',
        choices=('corrected', 'printed'),
        default='corrected',
        help="Eq. 18's last amplitude and the cylinder's inertia in the figures",
    )
    parser.add_argument(
        '--turn',
        choices=('after', 'before'),
        default='after',
        help='R_z(60°) stands after the ZXY rotation (R_zxy R_z) or before it, in the figures',
    )
    parser.add_argument(
        '--exchange-angles',
        action='store_true',
        help="let Eq. 18's last angle be the first rotation, in the figures",
    )
    arguments = parser.parse_args(argv)
    variant = Variant(arguments.variant, arguments.turn, arguments.exchange_angles)
    return publish(reproduce(variant), 'ex800', arguments.output)


def reproduce(variant: Variant = CORRECTED) -> Report:
    """Compare what the paper states of its multibody model, and what its silence costs."""
    said = published('ex800')
    report = Report(said['paper'])
    compare_geometry(report, said['geometry'])
    compare_models(report, said)
    compare_singularity(report, said['singularity'], said['peers'])
    compare_strokes(report, said['stroke'])
    compare_effects(report, said['effects'])
    draw_figure_4(report, variant, said['figure_4'])
    draw_figure_7(report, variant, said['figure_7'])
    draw_figure_8(report, variant, said['figure_8'])
    draw_figure_9(report, variant, said['figure_9'])
    draw_figure_11(report, variant, said['figure_11'])
    compare_identification(report, variant, said['identification'])
    note_misprints(report)
    return report


def compare_geometry(report: Report, said: dict[str, Any]) -> None:
    """Compare home, and show that the printed pairing of the joints is refused."""
    platform = CORRECTED.platform
    home = platform.geometry.neutral_pose
    lengths = leg_lengths(platform.geometry, home.position, home.quaternion_xyzw)
    worst = lengths[np.argmax(np.abs(lengths - said['leg']['value']))]
    report.add('home: leg furthest from', worst, said['leg'])
    geometry = platform.geometry
    ours = home_condition(platform, geometry.base_joints, geometry.platform_joints)
    report.add('home: condition number', ours, said['condition'])
    printed = joints(platform, *said['alpha_beta'], shift=0)
    report.add(
        'home, B_i to P_i as printed: condition number',
        home_condition(platform, *printed),
        said['printed_condition'],
    )
    equal = [
        joints(platform, angle, angle, turn=turn, shift=0)
        for angle in said['equal']
        for turn in (60.0, -60.0)
    ]
    least = min(home_condition(platform, *pair) for pair in equal)
    report.add('the same, α = β: least condition number', least, said['equal_condition'])
    refusals = [_refusal(pair) for pair in (printed, *equal)]
    share = np.mean([bool(refusal) for refusal in refusals])
    report.add('both: share that is refused', share, said['refused'])
    report.notes.append(
        'Eqs. 9, 10 with φ_0 = 60° join leg i to B_i and P_i: architecturally singular where '
        'α = β, all but singular elsewhere. It is refused: '
        f'"{refusals[0]}". Leg i has to join B_i and P_(i-1), counted in a ring.'
    )


def _refusal(pair: tuple[Array, Array]) -> str:
    """Return what the geometry says against a pair of rings; nothing if it takes them."""
    try:
        with_joints(CORRECTED.platform, *pair)
    except GeometryError as error:
        return str(error)
    return ''


def compare_models(report: Report, said: dict[str, Any]) -> None:
    """Compare Newton-Euler with the 78 coordinates."""
    for variant in (CORRECTED, PRINTED):
        axes = radial_axes(variant.platform)
        model = MultibodyModel.from_platform(variant.platform, universal_axes=axes)
        for name, motion in MOTIONS.items():
            forces = leg_forces(variant.platform, motion)
            report.add(
                f'{name}, cylinder {variant.name}: 78 coordinates against Newton–Euler',
                change(model.solve(motion).actuator_forces, forces),
                said['peers'],
                f'leg forces {forces.min():.2f} to {forces.max():.2f} N',
            )


def compare_singularity(report: Report, said: dict[str, Any], peers: dict[str, Any]) -> None:
    """Show where the paper's own coordinates fail and where they do not."""
    platform = CORRECTED.platform
    model = MultibodyModel.from_platform(platform, Coordinates.PAPER, radial_axes(platform))
    circle = MOTIONS['Eq. 17']
    refused = np.mean([_is_singular(model, circle[n]) for n in range(circle.shape[0])])
    report.add("Eq. 17, paper's ZXZ: share of samples refused", refused, said['refused'])
    crossings = np.arange(6) * np.pi / 3.75
    for variant in (CORRECTED, PRINTED):
        wave = variant.wave(crossings)
        refused = np.mean([_is_singular(model, wave[n]) for n in range(wave.shape[0])])
        report.add(
            f"Eq. 18 {variant.name}, paper's ZXZ: refused where sin ωt = 0",
            refused,
            said['refused'],
        )
        away = TIME[np.abs(np.sin(3.75 * TIME)) > np.sin(3.75 * said['away_s'])]
        motion = variant.wave(away)
        report.add(
            f"Eq. 18 {variant.name}, paper's ZXZ elsewhere, against Newton–Euler",
            change(model.solve(motion).actuator_forces, leg_forces(platform, motion)),
            peers,
            f'{1e3 * said["away_s"]:g} ms and more from the crossings',
        )
    near = CORRECTED.wave(crossings[1:2] + 1e-8)
    lost = change(model.solve(near).actuator_forces, leg_forces(platform, near))
    report.notes.append(
        "Section 2's ZXZ angles are singular at θ = 0: at home, during the whole of Eq. 17, twice "
        'a period in Eq. 18. The 78-coordinate mass matrix loses rank there and the leg forces '
        'cannot be had from it; 10 ns from a crossing of Eq. 18 they are off by '
        f'{lost:.0e} of the largest force. Rows and figures that do not say "paper\'s ZXZ" '
        'use the ZXZ angles of axes turned by 90° in the bodies: same forces, regular at home.'
    )


def _is_singular(model: MultibodyModel, sample: Motion) -> bool:
    """Tell whether the model refuses a sample for its coordinates."""
    try:
        model.solve(sample)
    except ConvergenceError:
        return True
    return False


def compare_strokes(report: Report, said: dict[str, Any]) -> None:
    """Compare how far Eq. 18 moves the legs from home in its two readings."""
    geometry = CORRECTED.platform.geometry
    home = geometry.neutral_pose
    middle = leg_lengths(geometry, home.position, home.quaternion_xyzw)
    for variant in (CORRECTED, PRINTED):
        lengths = inverse(geometry, MOTIONS[_wave_name(variant)]).length
        report.add(
            f'{_wave_name(variant)}: legs furthest from home',
            1000.0 * np.abs(lengths - middle).max(),
            said[variant.name],
        )


def _wave_name(variant: Variant) -> str:
    """Return the name of a variant's Eq. 18 among the motions."""
    return 'Eq. 18 as printed' if variant.name == 'printed' else 'Eq. 18 corrected'


def compare_effects(report: Report, said: dict[str, Any]) -> None:
    """Compare what each silence or ambiguity of the paper changes in the leg forces."""
    platform = CORRECTED.platform
    forces = {name: leg_forces(platform, motion) for name, motion in MOTIONS.items()}
    spin = {
        name: change(leg_forces(without_spin(platform), MOTIONS[name]), forces[name])
        for name in MOTIONS
    }
    report.add('Eq. 17 without leg spin', spin.pop('Eq. 17'), said['spin_circle'])
    report.add('Eq. 18 without leg spin, the worse reading', max(spin.values()), said['spin_wave'])

    others = [with_joints(platform, *joints(platform, *angles)) for angles in said['alpha_beta']]
    rings = [
        change(leg_forces(other, motion), forces[name])
        for other in others
        for name, motion in MOTIONS.items()
    ]
    span = f'{len(others)} pairs of α and β, three motions'
    report.add('other α, β: least change', min(rings), said['alpha_beta_least'], span)
    report.add('other α, β: greatest change', max(rings), said['alpha_beta_greatest'], span)

    moved = [
        change(leg_forces(with_centres_moved(platform, way), motion), forces[name])
        for way in (-said['offset_m'], said['offset_m'])
        for name, motion in MOTIONS.items()
    ]
    span = f'cylinder and rod moved by ±{1000 * said["offset_m"]:g} mm, three motions'
    report.add('other centres of mass: least change', min(moved), said['offset_least'], span)
    report.add('other centres of mass: greatest change', max(moved), said['offset_greatest'], span)

    legless = [
        change(leg_forces(without_legs(variant.platform), motion), whole)
        for variant in (CORRECTED, PRINTED)
        for motion in MOTIONS.values()
        for whole in [leg_forces(variant.platform, motion)]
    ]
    span = 'three motions, both cylinders of Table A1'
    report.add('massless legs: least change', min(legless), said['massless_least'], span)
    report.add('massless legs: greatest change', max(legless), said['massless_greatest'], span)

    for variant in (PRINTED, CORRECTED):
        before = Variant(variant.name, 'before').wave(TIME)
        report.add(
            f'{_wave_name(variant)}: R_z(60°) before instead of after the ZXY rotation',
            change(leg_forces(platform, before), forces[_wave_name(variant)]),
            said[f'turn_{variant.name}'],
        )


def note_misprints(report: Report) -> None:
    """List misprints and readings."""
    bars = {
        variant.name: np.sqrt(12.0 * cylinder.inertia[0, 0] / cylinder.mass)
        for variant in (CORRECTED, PRINTED)
        for cylinder in [masses_of(variant.platform).cylinder]
    }
    longest = CORRECTED.platform.geometry.retracted_length[0]
    longest += CORRECTED.platform.limits.stroke[0, 1]
    report.notes += [
        "Table A1: the cylinder's transverse inertia is printed 21.1302e-3 kg m². A uniform bar "
        f'of its mass would be {bars["printed"]:.2f} m long, and the whole leg is {longest:.3f} m '
        f'at most; 2.11302e-3, taken here, is a bar of {bars["corrected"]:.2f} m.',
        'Eq. 18: the last amplitude is printed 0.29 rad; 0.029 is taken. The data file is called '
        '"range45", and the rows above say what either does to the legs.',
        'Eq. 18 prints two angles as φ_p. The one printed first is taken as the first of the '
        'three local rotations Z, X, Y, the one printed last as the third; --exchange-angles '
        'takes them the other way round.',
        'Section 3 turns the platform by φ_0 = 60° about z and does not say whether before or '
        'after the rotation of Eq. 18: R = R_zxy R_z(60°) is taken; --turn before is the other.',
        'Eq. 9 prints "i = 2, 4, 5" twice; meant is i = 2, 4, 6.',
        'Eq. 16: X_cly is a cross product and has to be normalised.',
        'Eq. 17: the zeros of z and of the rotation count from home; 1.2566 rad/s is 2π/5 cut.',
        "Half-angles α, β and the legs' centres of mass are not printed. Assumed are 12°, 8° and "
        '0.12 m from either joint; the rows above say what other values would change.',
        'The accelerations and angles that the paper measured are not in its text but in a '
        'supplementary file, which is not used here: Figs. 7, 8 and 9 show theory only.',
    ]


if __name__ == '__main__':
    raise SystemExit(main())
