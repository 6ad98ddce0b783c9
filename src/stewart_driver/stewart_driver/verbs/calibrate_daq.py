# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart calibrate-daq``: what the volts of the analogue card mean on this machine."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
import datetime
from pathlib import Path
import sys

from stewart_driver.daq.calibration import CalibrationTable, Fit, fit_table, merged
from stewart_driver.daq.card_type import ORDINARY
from stewart_driver.daq.guided import Guide
from stewart_driver.daq.options import REFERENCES, SensorOptions
from stewart_driver.errors import CalibrationError
from stewart_driver.legs import LEGS
from stewart_driver.rig_file import geometry_digest, MODES, save_rig
from stewart_driver.verbs.rig_platform import add_adopt, adopt, agreed, rig_of
from stewart_tables.numbers import positive, whole_from
from stewart_tables.outputs import add_picture_argument, output_file, save_picture
from stewart_tables.progress import tell

HELP = 'fit the volts of the analogue card to strokes, into its calibration file'
LONGEST_CALL = 1.0
WIDTH, HEIGHT = 8.0, 3.6
DEFAULTS = SensorOptions()

EXAMPLES = """
The points come from a table (--table), or are taken here (--device): bring the legs to strokes
that you measure by other means, type the strokes in mm, one number for all legs or six, and go
on; an empty line ends. Only inputs are read then, no output is touched.

Columns of a table: stroke_1_m to stroke_6_m with input_1_v to input_6_v for the position
sensors, and with output_1_v to output_6_v for amplifiers that take a position; rate_1_mps to
rate_6_mps with output_1_v to output_6_v for those that take a velocity. An empty field is no
point.

examples:
  stewart calibrate-daq --rig-file calibration.yaml --table points.csv --plot residuals.png
  stewart calibrate-daq --rig-file calibration.yaml --device /dev/comedi0 --save-table points.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = EXAMPLES
    add = parser.add_argument
    add('--rig-file', type=Path, required=True, help='file to write into')
    add('--platform', help='of a calibration file that does not exist yet')
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument('--table', metavar='FILE', help='CSV with the points; - is stdin')
    source.add_argument('--device', help='card to take the points from')
    add_adopt(source)
    add('--card', default=DEFAULTS.card, help='kind of card (default: %(default)s)')
    add('--driver', default=DEFAULTS.driver, help='its kernel driver (default: %(default)s)')
    add(
        '--channels',
        type=int,
        nargs=LEGS,
        default=DEFAULTS.input_channels,
        metavar='CHANNEL',
        help='its analogue inputs of legs 1 to 6, as daq.input_channels (default: 0 to 5)',
    )
    add(
        '--range',
        type=float,
        nargs=2,
        default=DEFAULTS.input_range,
        metavar='V',
        help='range of the inputs, as daq.input_range (default: -10 10)',
    )
    add(
        '--reference',
        choices=REFERENCES,
        default=DEFAULTS.reference,
        help='what they are measured against, as daq.reference (default: %(default)s)',
    )
    add(
        '--scans',
        type=whole_from(1),
        default=200,
        help='readings per point (default: %(default)s)',
    )
    add('--save-table', type=output_file, metavar='CSV', help='write the points that were taken')
    takes = f'amplifiers take (default: as before, {MODES[0]} in a new file)'
    add('--mode', choices=MODES, help=takes)
    add('--bound', type=positive, default=0.5, help='residual allowed [mm] (default: %(default)s)')
    rates = 'the same of amplifiers that take a velocity [mm/s] (default: %(default)s)'
    add('--rate-bound', type=positive, default=5.0, help=rates)
    add_picture_argument(parser)
    add('--yes', action='store_true', help='write without asking')


def main(arguments: argparse.Namespace) -> int:
    """Take or read the points, fit, draw, check, and write the file; 1 if told not to."""
    if arguments.adopt:
        return adopt(arguments.rig_file, arguments.adopt, yes=arguments.yes)
    if not arguments.rig_file.exists() and not arguments.platform:
        raise CalibrationError(f'{arguments.rig_file} does not exist: name its --platform')
    rig = rig_of(arguments.rig_file, arguments.platform)
    table = _points(arguments)
    mode = arguments.mode or (rig.daq.mode if rig.daq else MODES[0])
    fits = fit_table(table, mode, 1e-3 * arguments.bound, 1e-3 * arguments.rate_bound)
    if arguments.plot:
        _draw(arguments.plot, fits)
    for item, bound in fits:
        _print(item)
        item.check(bound)
    lines = [item for item, _ in fits]
    new = merged(rig.daq, lines, mode, datetime.date.today())
    guided = arguments.table is None
    if guided and not arguments.yes and not agreed(f'write this to {arguments.rig_file}? [y/N] '):
        tell('nothing was written')
        return 1
    save_rig(arguments.rig_file, replace(rig, geometry=geometry_digest(rig.platform), daq=new))
    tell(f'wrote {arguments.rig_file}')
    return 0


def _points(arguments: argparse.Namespace) -> CalibrationTable:
    if arguments.table:
        return CalibrationTable.read(arguments.table)
    wanted = replace(
        DEFAULTS,
        card=arguments.card,
        device=arguments.device,
        driver=arguments.driver,
        input_channels=tuple(arguments.channels),
        input_range=tuple(arguments.range),
        reference=arguments.reference,
        longest_call=LONGEST_CALL,
    )
    card = ORDINARY.open(wanted, drives=False)
    guide = Guide(card, arguments.scans, tell)
    try:
        return guide.take(sys.stdin)
    finally:
        # Whatever has ended it, what was typed is not to be typed again.
        if arguments.save_table and guide.strokes:
            guide.table.write(arguments.save_table)
            tell(f'{len(guide.strokes)} points are in {arguments.save_table}')
        card.close()


def _print(item: Fit) -> None:
    lines = item.calibration
    print(f'{item.name:6}  {"gain [1/V]":>12}  {"at 0 V":>12}  {"residual":>10}  [{item.unit}]')
    for leg, (gain, offset, residual) in enumerate(
        zip(1e3 * lines.gains, 1e3 * lines.offsets, 1e3 * lines.residuals, strict=True), 1
    ):
        print(f'leg {leg}   {gain:12.5f}  {offset:12.4f}  {residual:10.4f}')
    row, leg = item.worst
    print(f'worst: leg {leg + 1}, point {row + 1}, {1e3 * item.errors[row, leg]:+.4f} {item.unit}')


def _draw(name: str, fits: Sequence[tuple[Fit, float]]) -> None:
    """Draw how far every point is off its line, and the distance that is allowed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, HEIGHT * len(fits)), layout='constrained')
    for axes, (fit, bound) in zip(
        figure.subplots(len(fits), squeeze=False).flat, fits, strict=True
    ):
        for leg in range(LEGS):
            axes.plot(
                fit.volts[:, leg], 1e3 * fit.errors[:, leg], 'o-', ms=3, lw=0.8, label=f'{leg + 1}'
            )
        for end in (-bound, bound):
            axes.axhline(1e3 * end, color='black', lw=0.8, ls='--')
        axes.set_title(f'{fit.name}s: line minus point; dashed: allowed', fontsize='medium')
        axes.set_xlabel('volts [V]')
        axes.set_ylabel(f'residual [{fit.unit}]')
        axes.grid(alpha=0.3)
        axes.legend(title='leg', ncols=LEGS, fontsize='small')
    save_picture(figure, name)
