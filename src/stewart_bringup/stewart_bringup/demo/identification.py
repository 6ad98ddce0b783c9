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
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np
from stewart_bringup.demo.analysis import Check, FAULTS, LOST, Result, STOPPED
from stewart_bringup.demo.report import Chapter, checks_table
from stewart_bringup.demo.scenarios import Scenario, SIMULATED, Wave, WAVES
from stewart_identification.bags_to_parameters import identify_bags
from stewart_identification.identify import identify
from stewart_identification.models.platform import CENTROIDAL_NAMES
from stewart_identification.outcome import Outcome, Parameter
from stewart_identification.recording.from_bag import experiment_from
from stewart_identification.recording.recordings import read_recording
from stewart_kinematics.model.platform import Platform
from stewart_tables.page import table

PLATFORM = 'ex800'
PAYLOAD_MASS, PAYLOAD_POSITION = 2.0, (0.05, -0.03, 0.08)
JOINT_ERROR, FORCE_NOISE = 1e-4, 0.5
# The optimal motion turns at 2 rad/s: what the supervisor allows the waves [rad] it would pass in
# a pause of 25 ms, which an ordinary scheduler makes.
TRACKING_ROTATION = 0.2
# The wave's time is that of its fade-in and a little more than one period of the motion.
EXCITATION, EXCITATION_TIME, WAVE_TIME = 'ex800_identification', 13.5, 6.0

TITLE = 'Identification: a payload that the description does not know'
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


@dataclass(frozen=True)
class LoadedScenario(Scenario):
    """A run of the loaded EX800 on simulated drives.

    Attributes:
        label: Tells it from the others: end of its folder's name.
        motion: What is played, by name.
        description: Platform that the feed-forward believes in, by name or path.
    """

    platform: str = PLATFORM
    wave: Wave = WAVES['eq18']
    duration: float = WAVE_TIME
    seed: int = 0
    backend: str = SIMULATED
    label: str = ''
    motion: str = 'ex800_wave'
    description: str = PLATFORM

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f'{self.rig}_loaded_{self.label}'

    @property
    def title(self) -> str:
        """Return one line for people."""
        return f'{self.platform} with an unknown payload: {self.label}'

    def overrides(self) -> dict[str, dict[str, object]]:
        """Return the parameters that win over the files, by node."""
        return {
            'driver': {
                'tracking_rotation': TRACKING_ROTATION,
                'simulated.payload_mass': PAYLOAD_MASS,
                'simulated.payload_position': list(PAYLOAD_POSITION),
                'simulated.joint_error': JOINT_ERROR,
                'simulated.force_noise': FORCE_NOISE,
            },
            'excitation_trajectory': {'motion': self.motion},
            'feed_forward': {'platform': self.description},
        }


def excitation() -> LoadedScenario:
    """Return the run from which the parameters are found."""
    return LoadedScenario(duration=EXCITATION_TIME, label='excitation', motion=EXCITATION)


def waves(description: str) -> tuple[LoadedScenario, LoadedScenario]:
    """Return the wave with the wrong feed-forward and with that of a description's path."""
    identified = LoadedScenario(label='identified', description=description)
    return LoadedScenario(label='described'), identified


def loaded() -> tuple[LoadedScenario, ...]:
    """Return all runs, as far as they are known before anything was found."""
    return (excitation(), *waves(PLATFORM))


def truth() -> dict[str, float]:
    """Return the ten parameters that the simulated rig has, by name.

    Mass [kg], centre of mass [m], inertia about it [kg m²], in platform_link axes.
    """
    # Late, for it loads the plant's kernels.
    from stewart_simulation.differences import payload_of

    masses = Platform.from_yaml(PLATFORM).masses
    assert masses is not None
    body = masses.platform.joined(payload_of(PAYLOAD_MASS, PAYLOAD_POSITION))
    if masses.payload is not None:
        body = body.joined(masses.payload)
    upper = body.inertia[np.triu_indices(3)]
    values = body.mass, *body.centre_of_mass, *upper
    return dict(zip(CENTROIDAL_NAMES, map(float, values), strict=True))


Player = Callable[[LoadedScenario], Result | None]
Watch = Callable[[str, float], None]


class Followed(NamedTuple):
    """How well the wave was followed.

    Attributes:
        strokes: 95 % of the following errors of the strokes along the path stay below [m].
        forces: Root mean square of delivered minus feed-forward [N]; NaN where there was none.
    """

    strokes: float
    forces: float

    @classmethod
    def of(cls, result: Result) -> Followed:
        """Take the two figures of a run."""
        forces = result.forces.difference[0] if result.forces else float('nan')
        return cls(result.following, forces)


def find(play: Player, output: Path, watch: Watch) -> Chapter | None:
    """Play, identify, play again; None if a request to stop came.

    Args:
        play: Plays a scenario and records it into the folder of its name below `output`; returns
            its figures, or None if a request to stop came.
        output: Folder of the bags, and of what is found.

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
) -> Chapter:
    """Put what the optimal motion and the wave told beside the truth, and judge every run."""
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
    body = [
        f'<p class="notice">The simulated EX800 carries {PAYLOAD_MASS:g} kg at '
        f'({", ".join(f"{1e3 * value:g}" for value in PAYLOAD_POSITION)}) mm, its joints are off '
        f'by {1e3 * JOINT_ERROR:g} mm, its forces are read with {FORCE_NOISE:g} N of noise. '
        'The identification is told nothing of that.</p>',
        checks_table(checks),
        f'<h3>From the optimal motion: {escape(outcome.verdict)}</h3>',
        _parameters(ten, true),
        f"<p>From the wave's own bag: {escape(of_wave.verdict)}.</p>",
        '<h3>The wave, with feed-forward from either set of parameters</h3>',
        table(
            ['', '95 % of following errors below [µm]', 'delivered minus feed-forward, RMS [N]'],
            [
                [name, f'{1e6 * run.strokes:.1f}', f'{run.forces:.2f}']
                for name, run in (('as described', described), ('as identified', identified))
                if run is not None
            ],
        ),
    ]
    return Chapter('identification', TITLE, '\n'.join(body), checks, simulated=True)


def _parameters(ten: Sequence[Parameter], true: Mapping[str, float]) -> str:
    rows = [
        [
            item.name,
            item.unit,
            f'{true[item.name]:.5g}',
            f'{item.value:.5g}' if item.numbered else '—',
            f'{item.low:.5g} … {item.high:.5g}' if item.numbered else '—',
            item.verdict.value,
        ]
        for item in ten
    ]
    return table(['', 'unit', 'truth', 'estimate', '95 % interval', 'verdict'], rows)


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
    off = [(item, abs(item.value - true[item.name]) / item.sigma) for item in ten if item.bounded]
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
            Check.bounded(
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
