# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart jog``: move one leg or one axis of the platform slowly by hand."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING

from stewart_bags.verbs.graph import add_namespace_argument
from stewart_bringup.errors import BringupError
from stewart_bringup.verbs.graph import on_the_graph
from stewart_tables.numbers import not_zero, positive_up_to

if TYPE_CHECKING:
    from stewart_bringup.nodes.jog_operator import JogOperator

HELP = 'move one leg or one axis of the platform slowly by hand'

DETAILS = """
The drives must be enabled (stewart drive enable), and nothing else may move the platform. No leg
becomes faster than a tenth of its limit. The driver moves only while it is asked to: 0.1 s after
this program is gone all legs come to rest, and Ctrl-C stops them at once.

A leg outside its stroke is brought back so: stewart drive override on; stewart drive reset-fault;
stewart drive enable; then jog it towards the inside.

examples:
  stewart jog leg 3 --rate 5 --for 2
  stewart jog leg 3 --rate -5
  stewart jog z --rate 10 --for 1
  stewart jog yaw --rate -1 --namespace hexapod
"""

AXES = ('x', 'y', 'z', 'roll', 'pitch', 'yaw')
LINEAR = 3
LONGEST = 60.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add('what', choices=['leg', *AXES], help='a leg, or an axis of base_link', metavar='WHAT')
    add('leg', type=int, nargs='?', choices=range(1, 7), help='which leg', metavar='1..6')
    add(
        '--rate',
        type=not_zero,
        required=True,
        metavar='R',
        help='of a leg, x, y, z [mm/s], positive lengthens; of a crank, roll, pitch, yaw [deg/s]',
    )
    add(
        '--for',
        dest='duration',
        type=positive_up_to(LONGEST),
        default=1.0,
        metavar='S',
        help=f'how long, up to {LONGEST:g} [s] (default: %(default)s)',
    )
    add_namespace_argument(parser)


def main(arguments: argparse.Namespace) -> int:
    """Jog, and tell how far the legs went."""
    if (arguments.what == 'leg') != (arguments.leg is not None):
        raise BringupError('name a leg as in `leg 3`, or an axis such as `z`')

    async def work(operator: JogOperator) -> str:
        from stewart_kinematics.model.leg_kinds import ROTARY

        turns = await operator.kind() is ROTARY
        if arguments.leg:
            rate = _in_si(arguments.rate, turns=turns)
            moved = await operator.jog(arguments.duration, leg=arguments.leg, rate=rate)
        else:
            axis = AXES.index(arguments.what)
            twist = [0.0] * len(AXES)
            twist[axis] = _in_si(arguments.rate, turns=axis >= LINEAR)
            moved = await operator.jog(arguments.duration, twist=twist)
        shown = [math.degrees(value) if turns else 1e3 * value for value in moved]
        unit = 'deg' if turns else 'mm'
        return f'legs moved [{unit}]: ' + ', '.join(f'{value:+.2f}' for value in shown)

    print(on_the_graph('jog_operator:JogOperator', work, arguments.namespace))
    return 0


def _in_si(rate: float, *, turns: bool) -> float:
    """Return a rate as typed, [deg/s] or [mm/s], in [rad/s] or [m/s]."""
    return math.radians(rate) if turns else 1e-3 * rate
