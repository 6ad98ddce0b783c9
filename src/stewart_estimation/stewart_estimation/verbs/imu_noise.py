# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart imu-noise``: noise of an IMU from a recording at rest."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import json
from pathlib import Path
import sys
from typing import NamedTuple, TYPE_CHECKING

import numpy as np
from stewart_bags.reading import Bag
from stewart_bags.series import ImuSeries as RecordedImu
from stewart_bags.series import read_series
from stewart_bags.unstamped import stamped, without_unstamped
from stewart_estimation.allan import (
    allan_deviation,
    AllanDeviation,
    AROUND,
    BRIDGED,
    bridged_stretch,
    longest_stretch,
)
from stewart_estimation.rest import AXES, oddities
from stewart_estimation.samples import ImuSeries
from stewart_estimation.verbs.measurements import IMU_TOPIC, read_imu, sample_period
from stewart_kinematics.errors import ConfigurationError
from stewart_tables.numbers import not_negative
from stewart_tables.outputs import add_picture_argument, output_file, save_picture
from stewart_tables.progress import tell
from stewart_tables.whole_files import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HELP = 'find the noise of an IMU from a recording at rest (Allan deviation)'

DETAILS = """
The IMU rests for the whole recording; an hour shows the bias instability, ten minutes the noise
that the filter needs. Single samples that a radio lost are allowed for, up to 20 % where stamps
are even; wide gaps end a stretch, and the longest one is used. Printed are the density of the
white noise, bias instability and random walk of every axis, with standard deviations; --yaml
writes what the node state_estimator takes, the worst axis each. A warning says where the
sensor moved, its bias stepped, it jumped, repeated itself or did not feel gravity.

examples:
  stewart imu-noise rest_1 --plot allan.svg --yaml estimator.yaml
  stewart imu-noise rest.csv --from 60 --until 3600 --json
"""

MOST_LOST = 0.9
"""A stretch with less than this share of the samples is worth a word."""
LEAST_SHARE = 0.1
"""The filter's noise is not taken from a stretch with less than this."""
JITTER = 0.05
"""Standard deviation of a stamp that is worth a word, in periods."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add = parser.add_argument
    add('recording', metavar='BAG', help='bag, or .csv with time_s, fx_mps2 ..., p_radps ...')
    add(
        '--imu-topic', default=IMU_TOPIC, metavar='TOPIC', help='in the bag (default: %(default)s)'
    )
    add(
        '--from',
        dest='begin',
        type=not_negative,
        default=0.0,
        metavar='S',
        help='leave out what is before',
    )
    add('--until', type=float, default=np.inf, metavar='S', help='leave out what is after')
    add('--yaml', type=output_file, metavar='FILE', help='write parameters of the state estimator')
    add('--json', action='store_true', help='print everything as JSON')
    add_picture_argument(parser)


class Rest(NamedTuple):
    """A stretch of samples without a wide gap, how many it has lost, and their period [s]."""

    imu: ImuSeries
    lost: int
    period: float


def main(arguments: argparse.Namespace) -> int:
    """Find the noise, print it, draw it."""
    rest = _rest(arguments)
    imu, lost, period = rest
    columns = imu.values.T
    for (axis, _), column in zip(AXES, columns, strict=True):
        if np.ptp(column) == 0.0:
            raise ConfigurationError(f'{axis} at rest', float(column[0]), 'values that change')
    share = lost / (len(imu) + lost)
    found = [allan_deviation(column, period, lost=share) for column in columns]
    begin = max(item.white_from for item in found)
    if begin > found[0].tau[0]:
        sys.stderr.write(
            f'samples are correlated, by a low pass for instance: the density is that of averages '
            f'of {begin:.2g} s and more, a single sample tells another\n'
        )
    if arguments.json:
        keys = ('density', 'density_error', 'instability', 'instability_tau', 'reached', 'walk')
        told = {
            axis: {key: getattr(item, key) for key in keys}
            for (axis, _), item in zip(AXES, found, strict=True)
        }
        counts = {'samples': len(imu), 'samples_lost': lost, 'period_s': period}
        print(json.dumps({**counts, **told}, indent=2))
    else:
        _print(found, rest)
    if arguments.plot:
        save_picture(draw(found), arguments.plot)
    if arguments.yaml or not arguments.json:
        lines = parameters(found, period)
        if not arguments.json:
            sys.stdout.write(lines)
        if arguments.yaml:
            with whole_file(Path(arguments.yaml)) as stream:
                stream.write(lines)
    return 0


def _rest(arguments: argparse.Namespace) -> Rest:
    """Read and choose the samples, and say what is odd about them."""
    if not arguments.until > arguments.begin:
        expected = f'more than --from, {arguments.begin:g} s'
        raise ConfigurationError('--until', arguments.until, expected)
    imu = _read(arguments)
    if not len(imu):
        raise ConfigurationError('samples of the IMU', 0, 'some that are complete')
    time = imu.stamps - imu.stamps[0]
    imu = imu[(time >= arguments.begin) & (time <= arguments.until)]
    if len(imu) < 2:
        raise ConfigurationError('samples at rest', len(imu), 'two or more')
    count = len(imu)
    sample_period('IMU', imu.stamps)
    stretch, lost = bridged_stretch(imu.stamps) or (longest_stretch(imu.stamps), 0)
    imu = imu[stretch]
    if arguments.yaml and len(imu) < LEAST_SHARE * count:
        expected = f'{LEAST_SHARE * count:.0f} or more; --from and --until choose a part'
        raise ConfigurationError(f'samples without a gap of {count}', len(imu), expected)
    rest = Rest(imu, lost, float(np.ptp(imu.stamps)) / max(len(imu) + lost - 1, 1))
    for text in _uneven(rest, count):
        sys.stderr.write(f'{text}\n')
    for text in oddities(imu, rest.period):
        sys.stderr.write(f'warning: {text}\n')
    return rest


def _uneven(rest: Rest, count: int) -> Iterator[str]:
    """Say what is odd about the stamps; of so many samples the stretch is a part."""
    imu, lost, period = rest
    steps = np.diff(imu.stamps)
    if lost:
        steps -= period * np.maximum(np.round(steps / period), 1.0)
        yield (
            f'{lost} of {len(imu) + lost} samples were lost: averages are those of the others, '
            'and the noise that this adds is taken off'
        )
    jitter = float(np.std(steps)) / np.sqrt(2.0) if steps.size else 0.0
    if jitter > JITTER * period:
        yield (
            f'stamps jitter by {1e3 * jitter:.2g} ms: samples are taken for evenly spaced, '
            f'{1e3 * period:.4g} ms apart'
        )
    if len(imu) < MOST_LOST * count:
        yield (
            f'warning: gaps leave {len(imu)} of {count} samples in one stretch; allowed for are '
            f'{100.0 * BRIDGED:.0f} % of lost samples, in gaps of up to {2 * AROUND} periods and '
            'with even stamps'
        )


def _read(arguments: argparse.Namespace) -> ImuSeries:
    """Return complete samples by stamp."""
    if Path(arguments.recording).suffix.lower() == '.csv':
        return read_imu(arguments.recording, gaps=True).ordered()
    with Bag(arguments.recording) as bag:
        recorded = read_series(bag, arguments.imu_topic, RecordedImu)
        # A second of receipt lasts as long as one of the sensor, and jitter is no noise here.
        imu = without_unstamped(stamped(recorded, tell))
        seconds = imu.seconds(bag.start_ns)
    if len(imu) > 1 and not np.ptp(imu.stamp_ns):
        stamp = float(imu.stamp_ns[0]) / 1e9
        raise ConfigurationError(f'{arguments.imu_topic}: stamps', stamp, 'stamps that increase')
    return ImuSeries(seconds, imu.specific_force, imu.angular_velocity).ordered()


def parameters(found: list[AllanDeviation], period: float) -> str:
    """Return the YAML lines of the state estimator: the worst axis of each sensor.

    Raises:
        ConfigurationError: If no density is known of a sensor; a filter told 0 believes it alone.
    """
    sensors = found[:3], found[3:]
    worst = [max(axes, key=lambda item: item.density) for axes in sensors]
    for what, item in zip(('specific force', 'angular velocity'), worst, strict=True):
        if item.density <= item.density_error:
            expected = 'more than its error; a longer rest, without vibration, shows it'
            raise ConfigurationError(f'{what}: density of its noise', item.density, expected)
    sigmas = [item.density / np.sqrt(period) for item in worst]
    # Where no walk shows the bias may still have walked by what hides below the instability.
    walks = [
        max(item.walk or item.instability / np.sqrt(item.instability_tau) for item in axes)
        for axes in sensors
    ]
    return (
        # In any namespace, as in the files of a rig.
        '/**/state_estimator:\n  ros__parameters:\n'
        f'    imu_period: {period:.6g}\n'
        f'    specific_force_sigma: {sigmas[0]:.4g}\n    angular_velocity_sigma: {sigmas[1]:.4g}\n'
        f'    accelerometer_walk: {walks[0]:.3g}\n    gyroscope_walk: {walks[1]:.3g}\n'
    )


def _print(found: list[AllanDeviation], rest: Rest) -> None:
    """Print a line an axis."""
    count, period = len(rest.imu), rest.period
    seconds = (count + rest.lost) * period
    sys.stdout.write(f'{count} samples, {period:.6g} s apart, {seconds:.0f} s\n')
    for (axis, unit), item in zip(AXES, found, strict=True):
        least = '' if item.reached else 'at most '
        sys.stdout.write(
            f'{axis}: density {item.density:.4g} ± {item.density_error:.2g} {unit}/√Hz, bias '
            f'instability {least}{item.instability:.3g} {unit} at {item.instability_tau:.3g} s, '
            f'random walk {item.walk:.3g} {unit}/√s\n'
        )


def draw(found: list[AllanDeviation]) -> Figure:
    """Draw the deviations with their intervals, and the white part of each."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 8.0), layout='constrained')
    for panel, first in zip(figure.subplots(2, 1), (0, 3), strict=True):
        for place in range(first, first + 3):
            item, (axis, unit) = found[place], AXES[place]
            (line,) = panel.loglog(item.tau, item.deviation, label=axis)
            panel.fill_between(item.tau, item.lower, item.upper, alpha=0.2, color=line.get_color())
            panel.loglog(item.tau, item.curve(), ':', color=line.get_color(), linewidth=0.8)
        panel.set_xlabel('averaging time [s]')
        panel.set_ylabel(f'Allan deviation [{unit}]')
        panel.grid(visible=True, which='both', alpha=0.3)
        panel.legend()
    return figure
