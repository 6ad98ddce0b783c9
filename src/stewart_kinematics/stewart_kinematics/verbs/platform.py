# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""``stewart platform``: describe a platform of your own, or import it, check it, look at it."""

from __future__ import annotations

import argparse
from dataclasses import asdict
import json
from pathlib import Path
import sys
from typing import Any

import numpy as np
from stewart_kinematics.errors import ConfigurationError, MotionRefused
from stewart_kinematics.exchange.importing import import_platform
from stewart_kinematics.limits.design import design_metrics, resting_forces, warnings
from stewart_kinematics.limits.workspace import AXES, display_unit
from stewart_kinematics.model.leg_kinds import LINEAR, ROTARY
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.model.ring_dimensions import (
    document,
    MEASURES,
    refuse_measure,
    RingDimensions,
)
from stewart_kinematics.model.schema import Section
from stewart_kinematics.verbs.arguments import add_examples, add_output, note, write_text
from stewart_tables.csv_tables import STANDARD_STREAM
from stewart_tables.outputs import add_force, add_picture_argument, save_picture, spare_file
from stewart_tables.progress import show_part, tell
import yaml

HELP = 'describe a platform of your own, or import it, check it, look at it'

EXAMPLES = """
Without its measures `new` asks for them. What it writes is a start: replace the limits and add
masses; every number has its source below `sources`. `import` finds the six legs of an MJCF,
SDF or URDF hexapod by its structure and says what the model leaves open.

examples:
  stewart platform new my_platform -o my_platform.yaml
  stewart platform new small --base-radius 0.2 --platform-radius 0.15 -o small.yaml
  stewart platform import hexapod.xml -o hexapod.yaml
  stewart platform check my_platform.yaml
  stewart platform rig my_platform.yaml -o my_rig.yaml
  stewart platform show vigo --plot vigo.png
"""
RIG = """\
# Made by `stewart platform rig`: {title} with simulated drives, for `stewart run`.
# For metal see "On metal" in docs/tutorials/own_platform.md.

/**:
  ros__parameters:
    platform: {platform}
    # Nobody else configures and activates the lifecycle nodes.
    autostart: true

/**/driver:
  ros__parameters:
    # Commands are executed this long after their stamp, and may stay away for this long besides.
    playout_delay: 0.05
    extrapolation_time: 0.05
    backend: simulated
{origin}\
    simulated: {drives}
"""
# What a drive has per newton that its leg bears at rest [-], the last one [s/m]. Three times for
# tilts, accelerations and loads on one side, four times that for moments, as servo motors have;
# friction as of the drives of 1000 N that the back end has by default.
DRIVES = {
    'rated_force': 3.0,
    'force_limit': 12.0,
    'coulomb_friction': 0.006,
    'viscous_friction': 0.06,
}
ORIGIN = """\
    # No data of a drive: a leg at rest at the neutral pose bears up to {force:.3g} N
    # by the weights of the platform file. Its drive is made for {rated:g} times that, and for
    # {peak:g} times for moments. Replace forces [N] and frictions [N, N s/m] by what the
    # plates of your drives say.
"""
NO_WEIGHT = """\
    # No data of a drive: without weights in the platform file nothing tells the force that a leg
    # bears, and the drives keep the defaults, 1000 N rated. Make this file again with masses.
"""
NO_MASSES = """
# Nothing is known of its masses: its drives move no plant, and no forces are fed forward.
/**/feed_forward:
  ros__parameters:
    enabled: false
"""
HEADER = '# Made by `stewart platform {}`. Lengths in m, angles in deg, see docs/conventions.md.\n'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the sub-commands of the verb."""
    add_examples(parser, EXAMPLES)
    kinds = parser.add_subparsers(dest='action', required=True)
    new = kinds.add_parser('new', help='write the YAML file of a platform')
    new.add_argument('name', help='letters, digits and _')
    for name, question in MEASURES.items():
        known = getattr(RingDimensions, name, None)
        text = question if known is None else f'{question} (default: {known:g})'
        number: dict[str, Any] = {'type': float, 'default': known, 'metavar': 'NUMBER'}
        new.add_argument(f'--{name.replace("_", "-")}', help=text, **number)
    read = kinds.add_parser(
        'import', help='read joints and inertias of an MJCF, SDF or URDF hexapod'
    )
    read.add_argument('model', type=Path, help='file of the model')
    rig = kinds.add_parser('rig', help='write the YAML file of a rig with simulated drives')
    rig.add_argument('platform', help='name or YAML file')
    for writing in (new, read, rig):
        add_output(writing, 'file to write')
        add_force(writing)
    check = kinds.add_parser('check', help='say what a design can do, and what is doubtful')
    check.add_argument('platform', help='name or YAML file')
    check.add_argument('--json', action='store_true', help='print it as JSON')
    show = kinds.add_parser('show', help='draw joints, workspace and condition number')
    show.add_argument('platform', help='name or YAML file')
    add_picture_argument(show)


def main(arguments: argparse.Namespace) -> int:
    """Do what the sub-command says; return 1 if a checked design may not rest at neutral."""
    actions = {'new': _new, 'import': _import, 'rig': _rig, 'check': _check, 'show': _show}
    if 'output' in arguments:
        spare_file(arguments.output, force=arguments.force)  # before anything is asked
    return actions[arguments.action](arguments)


def _new(arguments: argparse.Namespace) -> int:
    values = {key: getattr(arguments, key) for key in MEASURES}
    values |= {key: _asked(key) for key, value in values.items() if value is None}
    _save(arguments, document(RingDimensions(arguments.name, **values)))
    return 0


def _import(arguments: argparse.Namespace) -> int:
    content, notes = import_platform(arguments.model)
    _save(arguments, content)
    note(notes)
    return 0


def _rig(arguments: argparse.Namespace) -> int:
    platform, name = Platform.from_yaml(arguments.platform), arguments.platform
    if platform.kind is not LINEAR:
        expected = 'linear legs; for cranks and carriages copy config/rig_sg90_rotary.yaml'
        raise ConfigurationError(name, platform.kind.name, expected)
    if Path(name).is_file():
        name = str(Path(name).resolve())
    weighed, force = platform.masses is not None, float(np.abs(resting_forces(platform)).max())
    drives: dict[str, Any] = {'platform': name}
    origin = NO_WEIGHT
    if force > 0.0:
        drives |= {key: float(f'{share * force:.2g}') for key, share in DRIVES.items()}
        rated, peak = DRIVES['rated_force'], DRIVES['force_limit']
        origin = ORIGIN.format(force=force, rated=rated, peak=peak)
    if not weighed:
        drives |= {'model': 'lagging'}
    flow = yaml.safe_dump(drives, default_flow_style=True, sort_keys=False, width=10_000).strip()
    names = {'title': platform.title, 'platform': json.dumps(name)}
    text = RIG.format(**names, origin=origin, drives=flow)
    write_text(arguments.output, text if weighed else text + NO_MASSES)
    return 0


def _save(arguments: argparse.Namespace, content: dict[str, Any]) -> None:
    """Write a platform file, and say what is doubtful about the design."""
    platform = Platform.from_section(Section(content, ''))  # raises before anything is written
    text = HEADER.format(arguments.action)
    form: dict[str, Any] = {'sort_keys': False, 'allow_unicode': True, 'width': 200}
    # Numbers side by side, but a line for each sentence.
    numbers = {key: value for key, value in content.items() if key != 'sources'}
    text += yaml.safe_dump(numbers, default_flow_style=None, **form)
    text += yaml.safe_dump({'sources': content['sources']}, default_flow_style=False, **form)
    write_text(arguments.output, text)
    if arguments.output != STANDARD_STREAM:
        tell(f'{arguments.output}: {platform.title}')
    note(warnings(platform))


def _asked(key: str) -> float:
    """Ask a person for a measure until it is one that a platform may have."""
    option = f'--{key.replace("_", "-")}'
    if not sys.stdin.isatty():
        raise ConfigurationError(option, None, f'the {MEASURES[key]}')
    while True:
        print(f'{MEASURES[key]}: ', end='', file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
        if not answer:
            raise ConfigurationError(option, None, f'the {MEASURES[key]}')
        try:
            value = float(answer)
            refuse_measure(key, value)
        except ConfigurationError as refusal:
            tell(refusal)
        except ValueError:
            tell(f'a number is needed, not {answer.strip()!r}')
        else:
            return value


def _check(arguments: argparse.Namespace) -> int:
    platform = Platform.from_yaml(arguments.platform)
    doubts = warnings(platform)
    try:
        found = design_metrics(platform)
    except MotionRefused:
        found = None
    if arguments.json:
        numbers = None if found is None else asdict(found)
        json.dump({'merits': numbers, 'warnings': doubts}, sys.stdout, indent=2)
        print()
        return int(found is None)
    height = 1e3 * float(platform.geometry.neutral_pose.position[2])
    print(f'{platform.title} ({platform.name}), about its neutral pose, z {height:.1f} mm')
    if found is not None:
        for axis in AXES:
            scale, unit = display_unit(axis)
            print(f'  {axis:<6} ±{scale * getattr(found, axis):8.1f} {unit}')
        length = f'(moments divided by {platform.geometry.length_scale:.3g} m)'
        print(f'  positions reached with this attitude: {found.volume:.4g} m3')
        print(f'  condition number {found.condition_number:.3g} {length}')
        unit, effort = f'{platform.kind.unit}/s', platform.kind.effort_unit
        print(
            f'  fastest leg for 1 m/s up {found.leg_rate_up:.3g} {unit}, '
            f'sideways {found.leg_rate_sideways:.3g} {unit}, '
            f'for 1 rad/s {found.leg_rate_turning:.3g} {unit}'
        )
        word = 'torque' if platform.kind is ROTARY else 'force'
        print(
            f'  largest leg {word} for 1 N {found.leg_force:.3g} {effort}, '
            f'for 1 N m {found.leg_force_turning:.3g} {effort}'
        )
    note(doubts)
    return int(found is None)


def _show(arguments: argparse.Namespace) -> int:
    from stewart_kinematics.plotting import design_figure

    platform = Platform.from_yaml(arguments.platform)
    name = arguments.plot or f'{platform.name}.png'
    with show_part('workspace') as progress:
        figure = design_figure(platform, progress)
    save_picture(figure, name)
    tell(name)
    return 0
