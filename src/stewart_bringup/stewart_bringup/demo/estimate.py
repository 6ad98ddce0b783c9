# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the state estimator said while a scenario was played, beside the truth of the rig."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from stewart_bringup.demo.plots import png
from stewart_bringup.demo.recording import Recording
from stewart_estimation.verbs.recorded import estimate_section
from stewart_kinematics.model.platform import Platform

ESTIMATE, TRUTH = 'platform/odometry', 'simulation/truth'


@dataclass(frozen=True)
class Estimate:
    """Estimate against truth.

    Attributes:
        errors: Root mean square and maximum by the name of the row, the differentiator's beside
            ours.
        inside: Share of the errors inside two claimed standard deviations [-].
        pictures: PNG files by caption.
        innovations: Share of the innovations inside two sigma [-] and mean NIS, where the status
            was recorded.
    """

    errors: Mapping[str, tuple[float, float]]
    inside: float
    pictures: Mapping[str, bytes]
    innovations: tuple[float, float] | None = None


def compare_estimate(recording: Recording, bag: Path, platform: str) -> Estimate | None:
    """Hold the live estimate against the truth.

    Args:
        recording: Tells which topics the bag has.
        bag: The bag.
        platform: Name of the platform.

    Returns:
        None where no estimator ran, or no virtual rig that knows the truth.

    Raises:
        stewart_estimation.errors.EstimationError: If estimate and truth have no time in common.
    """
    names = {topic.rpartition('/')[2] for topic, count in recording.counts.items() if count}
    if not {'odometry', 'truth'} <= names:
        return None
    section = estimate_section(
        bag, Platform.from_yaml(platform).geometry, truth=TRUTH, estimate=ESTIMATE
    )
    drawn = {caption: png(figure) for caption, figure in section.pictures().items()}
    fit = None if section.fit is None else section.fit.consistency
    innovations = None if fit is None else (fit.inside, fit.mean_nis)
    return Estimate(section.figures(), section.inside, drawn, innovations)
