# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a recording can be of the platform that was named, or assumed where nobody named one."""

from __future__ import annotations

import argparse
from typing import Any

from stewart_estimation.errors import EstimationError
from stewart_estimation.verbs.measurements import Measurements
from stewart_kinematics.model.platform import Platform
from stewart_kinematics.solvers.recognition import (
    disagreeing,
    LEAST,
    outside_limits,
    stroke_difference,
)
from stewart_tables.progress import tell

ASSUMED = 'ex800'


class WrongPlatform(EstimationError):
    """A recording is not of the platform."""


class _Named(argparse.Action):
    """Keep the platform, and that somebody named it."""

    def __call__(self, _: Any, namespace: argparse.Namespace, value: Any, __: Any = None) -> None:
        namespace.platform, namespace.platform_named = value, True


def add_platform(parser: argparse.ArgumentParser) -> None:
    """Add ``--platform``; `platform_named` tells whether it was given."""
    text = 'name or YAML file (default: %(default)s)'
    parser.add_argument('--platform', action=_Named, default=ASSUMED, help=text)
    parser.set_defaults(platform_named=False)


def check_platform(source: str, found: Measurements, platform: Platform, *, named: bool) -> None:
    """Refuse a platform that a recording is not of; warn where it was named and may be right.

    Args:
        source: What was recorded, for the sentence.
        found: In it.
        platform: That its strokes were read for.
        named: Whether somebody named it: then it counts while the legs are within its limits.

    Raises:
        WrongPlatform: If the legs are outside its limits, or nobody named it and they are those of
            another one by the poses in the recording.
    """
    legs, retracted = found.legs.ordered(), platform.geometry.retracted_length
    outside = outside_limits(
        legs.lengths if found.lengths else legs.lengths - retracted,
        platform,
        lengths=found.lengths,
    )
    text = outside.text if outside else ''
    if found.posed is not None:
        told = *found.posed, legs.stamps, legs.lengths - retracted
        differing = disagreeing(
            lambda geometry: stroke_difference(geometry, *told), platform.geometry, platform.name
        )
        text = differing or text
    if not text:
        return
    said = f'--platform {platform.name}'
    if not named:
        said = f'{platform.name}, assumed for no --platform was given,'
    said = f'{source}: {said} does not fit: {text}'
    if not named or (outside is not None and outside.share < LEAST):
        raise WrongPlatform(said)
    tell(f'warning: {said}')
