# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What the demo ends with: parameters from a recording beside the truth, and what they are worth.

The loaded platform plays the optimal motion; from that bag come the ten parameters. Then it plays
the wave twice, with the feed-forward of the description and with that of what was found. The
wave's own bag is identified as well, to be told what it does not determine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from stewart_bringup.demo.analysis import FAULTS, LOST, Result, STOPPED
from stewart_bringup.demo.check import Check
from stewart_bringup.demo.loaded import excitation, LoadedScenario, PLATFORM, truth, waves
from stewart_identification.bags_to_parameters import identify_bags
from stewart_identification.identify import identify
from stewart_identification.outcome import Outcome, Parameter
from stewart_identification.recording.from_bag import experiment_from
from stewart_identification.recording.recordings import read_recording
from stewart_kinematics.model.platform import Platform

FOUND = 'identified'
MASS_SHARE = 1e-3
"""Largest error of the mass that passes."""
USELESS = (
    'feed-forward with the identified parameters shall leave the drives less to do than with '
    'those of the description; compare both tables of the identification in the report'
)
FAR = 3.5
"""Standard deviations from the truth that no parameter may have: one run of two hundred passes it
by chance, for there are ten."""

Player = Callable[[LoadedScenario], Result | None]
Watch = Callable[[str, float], None]


@dataclass(frozen=True)
class Followed:
    """How well the wave was followed.

    Attributes:
        strokes: 95 % of the following errors of the strokes along the path stay below [m].
        forces: Root mean square of delivered minus feed-forward [N]; NaN where there was none.
    """

    strokes: float
    forces: float

    @classmethod
    def of(cls, result: Result) -> Followed:
        """Take the two figures of a run; not the RMS, which one pause of the machine decides."""
        error = float(np.percentile(np.abs(result.tracking.path.strokes), 95))
        return cls(error, result.forces.difference[0] if result.forces else float('nan'))


@dataclass(frozen=True)
class Identification:
    """The last chapter.

    Attributes:
        parameters: The ten.
        truth: What the simulated rig has, by name.
        verdict, wave_verdict: What the optimal motion, and what the wave's bag determines.
        described, identified: The wave with either feed-forward; None where nothing was found to
            feed forward.
        checks: What had to hold.
    """

    parameters: tuple[Parameter, ...]
    truth: Mapping[str, float]
    verdict: str
    wave_verdict: str
    described: Followed
    identified: Followed | None
    checks: tuple[Check, ...]

    @property
    def passed(self) -> bool:
        """Whether every check held."""
        return not any(check.failed for check in self.checks)


def find(play: Player, output: Path, watch: Watch) -> Identification | None:
    """Play, identify, play again.

    Args:
        play: Plays a scenario and records it into the folder of its name below `output`; returns
            its figures, or None if a request to stop came.
        output: Folder of the bags, and of what is found.
        watch: Told the present phase.

    Returns:
        None if a request to stop came.

    Raises:
        StewartError, OSError: If a bag cannot be used or a file not be written.
    """
    motion, true = excitation(), truth()
    excited = play(motion)
    if excited is None:
        return None
    watch('identifying', 0.0)
    written = identify_bags([output / motion.name], PLATFORM, output / FOUND, truth=true)
    played = [excited]
    wrong, right = waves(str(written.parameters))
    for scenario in (wrong, right) if written.parameters else (wrong,):
        result = play(scenario)
        if result is None:
            return None
        played.append(result)
    watch('identifying', 0.0)
    platform = Platform.from_yaml(PLATFORM)
    of_wave = identify([experiment_from(read_recording(output / wrong.name), platform)], platform)
    before, *after = map(Followed.of, played[1:])
    return judge(written.outcome, of_wave, true, before, after[0] if after else None, played)


def judge(
    outcome: Outcome,
    of_wave: Outcome,
    true: Mapping[str, float],
    described: Followed,
    identified: Followed | None,
    played: Sequence[Result],
) -> Identification:
    """Put what was found beside the truth.

    Args:
        outcome, of_wave: From the optimal motion, from the wave.
        true: The ten parameters of the rig.
        described, identified: The wave with either feed-forward.
        played: All runs, for what must hold in each.

    Returns:
        Figures and checks.
    """
    ten = outcome.parameters[:10]
    checks = (
        *_runs(played),
        Check(
            'parameters that are not determined',
            ', '.join(outcome.unknown) or '0',
            '0',
            not outcome.unknown,
            'the optimal motion shall determine all ten; fewer means that forces or motion in its '
            'bag are wrong, see the verdicts in the report',
        ),
        *_distances(ten, true),
        Check(
            "parameters that the wave's bag does not determine",
            ', '.join(of_wave.unknown) or '0',
            'at least 1',
            bool(of_wave.unknown),
            'a wave is too poor a motion for all ten; whoever claims more is too sure of itself',
        ),
        *_gain(described, identified),
    )
    return Identification(
        ten, true, outcome.verdict, of_wave.verdict, described, identified, checks
    )


def _runs(played: Sequence[Result]) -> list[Check]:
    """Judge what had to hold in every run: nothing lost, no fault."""
    lost = sum(item.lost for result in played for item in result.traffic)
    faults = [
        check.found
        for result in played
        for check in result.checks
        if check.name == FAULTS and not check.held
    ]
    return [
        Check('lost messages', str(lost), '0', lost == 0, LOST),
        Check(FAULTS, '; '.join(faults) or '0', '0', not faults, STOPPED),
    ]


def _distances(ten: Sequence[Parameter], true: Mapping[str, float]) -> list[Check]:
    off = [(item, abs(item.value - true[item.name]) / item.sigma) for item in ten if item.known]
    if not off:
        return []
    item, far = max(off, key=lambda pair: pair[1])
    checks = [
        Check(
            'farthest from the truth, in standard deviations',
            f'{item.name}, {far:.1f}',
            f'at most {FAR:g}',
            far <= FAR,
            'the standard deviations that are claimed are too small, or the estimate is biased',
            excess=f'{far - FAR:.1f} too many',
        )
    ]
    mass = ten[0]
    if mass.known:
        share = abs(mass.value / true[mass.name] - 1.0)
        checks.append(
            Check.at_most(
                'error of the mass',
                100 * share,
                100 * MASS_SHARE,
                '%',
                'the payload is found less exactly than forces and geometry of the rig allow',
            )
        )
    return checks


def _gain(described: Followed, identified: Followed | None) -> list[Check]:
    if identified is None:
        return []
    return [
        Check(
            'following error with what was found',
            f'{1e6 * identified.strokes:.1f} µm',
            f'below {1e6 * described.strokes:.1f} µm, with the description',
            identified.strokes < described.strokes,
            USELESS,
        ),
        Check(
            'force that feed-forward leaves with what was found',
            f'{identified.forces:.2f} N',
            f'below {described.forces:.2f} N, with the description',
            identified.forces < described.forces,
            USELESS,
        ),
    ]
